//! Entries of a ledger for tests.

use super::Slice;
use crate::delta::{Edge, LedgerEntry, Method, Valued};
use crate::model::ids::{NeuronId, RunId};
use crate::model::{Link, Stamp};

pub(crate) fn judged(number: u32) -> RunId {
    RunId::parse(&format!("20260126t1431{:02}123z-abcd2345-decision", number % 60)).unwrap()
}

pub(crate) fn entry(number: u32, prediction: f64, outcome: f64) -> LedgerEntry {
    let id = |name: &str| NeuronId::parse(name).unwrap();
    LedgerEntry {
        run: RunId::parse(&format!("20260126t1432{:02}123z-abcd2345-evaluator", number % 60)).unwrap(),
        judged: judged(number),
        agent: judged(number).agent(),
        at: Stamp::from_unix(1000 + i64::from(number)),
        prediction: Valued { text: Some(format!("attempt {number}")), value: prediction },
        outcome: Valued { text: None, value: outcome },
        error: outcome - prediction,
        method: Method::Number,
        chosen: None,
        pathway: vec![Edge { from: id("a"), to: id(&format!("way-{number}")), link: Link::FeedsInto }],
    }
}

pub(crate) fn slice(entries: &[LedgerEntry]) -> Slice<'_> {
    let run = RunId::parse("20260126t230000000z-abcd2345-sleep").unwrap();
    Slice { run, at: Stamp::from_unix(5000), entries, previous: None, goals: &[], ledger: None }
}
