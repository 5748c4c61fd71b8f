//! Replay: the day's ledger once more, interleaved.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Neurons;
use super::record::Why;
use super::strengthen::touch;
use crate::delta::{Edge, LedgerEntry, weight_change};
use crate::model::ids::RunId;

/// The order of replay: turn by turn one entry of each pathway instead of one pathway after another, so that what was learnt last
/// does not write over what was learnt first. Source: McClelland, McNaughton and O'Reilly, 1995 (interleaved learning).
pub fn interleaved(entries: &[LedgerEntry]) -> Vec<&LedgerEntry> {
    let mut lanes: BTreeMap<Option<&Edge>, Vec<&LedgerEntry>> = BTreeMap::new();
    for entry in entries {
        lanes.entry(entry.pathway.first()).or_default().push(entry);
    }
    let longest = lanes.values().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|turn| lanes.values().filter_map(move |lane| lane.get(turn).copied())).collect()
}

/// Applies each entry's prediction error to its pathway again, by dopamine's rule at the weights as they are. Connections that are
/// gone are passed over.
pub fn replay<'a>(
    neurons: &mut Neurons,
    entries: impl IntoIterator<Item = &'a LedgerEntry>,
    rate: u32,
    run: &RunId,
) -> Vec<Why> {
    let mut why = Vec::new();
    for entry in entries {
        for edge in &entry.pathway {
            let Some(neuron) = neurons.get_mut(&edge.from) else { continue };
            let Some(weight) = neuron.connection(&edge.to, edge.link).map(|c| c.weight) else { continue };
            let wanted = i64::from(weight) + weight_change(entry.error, rate, weight);
            let new = wanted.clamp(0, i64::from(u16::MAX)) as u16;
            if new != weight {
                let neuron = Arc::make_mut(neuron);
                neuron.set_weight(&edge.to, edge.link, new);
                touch(neuron, run);
                why.push(Why::connection(&edge.from, &edge.to, edge.link, "replayed from the ledger"));
            }
        }
    }
    why
}

#[cfg(test)]
mod tests {
    use super::super::strengthen::tests::{id, network, run, weight};
    use super::*;
    use crate::delta::{Method, Valued};
    use crate::model::{Link, Stamp};

    fn entry(from: &str, to: &str, error: f64) -> LedgerEntry {
        let valued = |value| Valued { text: None, value };
        LedgerEntry {
            run: run(),
            judged: run(),
            agent: run().agent(),
            at: Stamp::from_unix(0),
            prediction: valued(0.5),
            outcome: valued(0.5 + error),
            error,
            method: Method::Number,
            chosen: None,
            pathway: vec![Edge { from: id(from), to: id(to), link: Link::FeedsInto }],
        }
    }

    #[test]
    fn pathways_take_turns() {
        let day = [entry("a", "b", 0.1), entry("a", "b", 0.2), entry("c", "d", 0.3), entry("a", "b", 0.4)];
        let errors: Vec<f64> = interleaved(&day).iter().map(|e| e.error).collect();
        assert_eq!(errors, [0.1, 0.3, 0.2, 0.4]);
    }

    #[test]
    fn errors_move_weights_as_they_did_by_day() {
        let mut neurons = network(&[("a", "b", 50000)]);
        let why = replay(&mut neurons, &[entry("a", "b", -0.3), entry("x", "y", 1.0)], 26214, &run());
        assert_eq!((weight(&neurons, "a", "b"), why.len()), (44000, 1));
    }
}
