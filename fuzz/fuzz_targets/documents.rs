//! The other files of a brain, each by the first byte: what is read is written so that it reads the same.

#![no_main]

use git_brain::chemistry::serotonin::Chapter;
use git_brain::consolidation::SleepRecord;
use git_brain::delta::{LedgerEntry, RunRecord};
use git_brain::limits::DOCUMENT_BYTES;
use git_brain::model::document::Goal;
use git_brain::model::json::{self, JsonError};
use git_brain::model::layout::Place;
use git_brain::model::{Acknowledgement, Flag, Metadata, RunId, Signal, Stamp, Stimulus};
use libfuzzer_sys::fuzz_target;

fn again<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    decode: impl Fn(&[u8], &str) -> Result<T, JsonError>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    let Ok(document) = decode(bytes, "file") else { return };
    let written = encode(&document);
    let read = decode(&written, "written").unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&written)));
    assert_eq!(read, document);
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 11 {
        0 => again(rest, RunRecord::decode, RunRecord::encode),
        1 => again(rest, Stimulus::decode, Stimulus::encode),
        2 => again(rest, Goal::decode, Goal::encode),
        3 => again(rest, LedgerEntry::decode, json::pretty),
        4 => again(rest, Chapter::decode, Chapter::encode),
        5 => drop(SleepRecord::decode(rest, "file")),
        6 => again(rest, |b, w| json::strict::<Signal>(b, w, DOCUMENT_BYTES), json::pretty),
        7 => again(rest, |b, w| json::strict::<Acknowledgement>(b, w, DOCUMENT_BYTES), json::pretty),
        8 => again(rest, |b, w| json::strict::<Flag>(b, w, DOCUMENT_BYTES), json::pretty),
        9 => again(rest, |b, w| json::strict::<Metadata>(b, w, DOCUMENT_BYTES), json::pretty),
        _ => {
            // Names: of files, of runs, of moments.
            let Ok(text) = std::str::from_utf8(rest) else { return };
            let _ = Place::of(text);
            if let Ok(run) = RunId::parse(text) {
                let _ = (run.unix_ms(), run.agent());
            }
            if let Ok(stamp) = text.parse::<Stamp>() {
                assert_eq!(stamp.to_string().parse::<Stamp>().expect("its own form"), stamp);
            }
        }
    }
});
