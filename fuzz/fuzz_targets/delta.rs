//! A delta document, which an agent's program prints: it is read, or refused with a line that it has.

#![no_main]

use git_brain::delta::{Document, DocumentError};
use git_brain::limits;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Document::parse(bytes, "delta") {
        Ok(document) => {
            assert!(document.ops.len() <= limits::DELTA_OPS);
            assert_eq!(Document::lines(bytes).len(), document.ops.len());
        }
        Err(DocumentError::Json(error)) => assert!(error.line >= 1 && error.line <= lines(bytes), "{error}"),
        Err(DocumentError::Limit(_)) => {}
    }
});

fn lines(bytes: &[u8]) -> usize {
    1 + bytes.iter().filter(|b| **b == b'\n').count()
}
