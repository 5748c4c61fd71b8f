//! A network as one document: cut into its neurons alike however its bytes come in; each is read or refused.

#![no_main]

use git_brain::model::cutter::{Cutter, Piece};
use git_brain::model::portable::PortableNeuron;
use libfuzzer_sys::fuzz_target;

/// The pieces, or the line of what is wrong.
fn cut(bytes: &[u8], step: usize) -> Result<Vec<Piece>, usize> {
    let mut cutter = Cutter::new("document");
    let mut pieces = Vec::new();
    for part in bytes.chunks(step) {
        cutter.feed(part, &mut pieces).map_err(|e| e.line)?;
    }
    cutter.finish().map_err(|e| e.line)?;
    Ok(pieces)
}

fuzz_target!(|bytes: &[u8]| {
    let whole = cut(bytes, bytes.len().max(1));
    assert_eq!(whole, cut(bytes, 1));
    for piece in whole.into_iter().flatten().filter(|piece| piece.field.is_none()) {
        let part = &bytes[piece.offset as usize..(piece.offset + piece.length) as usize];
        if let Ok(neuron) = PortableNeuron::decode(part, "document") {
            let _ = (neuron.latest_stamp(), neuron.is_archived());
        }
    }
});
