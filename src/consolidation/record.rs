//! The log of a sleep: every change, one line each, and their totals. `network/sleep/<yyyy>/<mm>/<dd>/ab/<run>.json`, and further
//! parts `<run>.2.json` … where one file would be too long.
//!
//! In format 2 the file has only the lines that nobody can read off the trees which it names ([`SleepRecord::is_implied`]); format 1 has all.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::delta::Effect;
use crate::limits;
use crate::model::ids::{NeuronId, RunId};
use crate::model::json::{self as text, JsonError};
use crate::model::{Link, Neuron, Stamp};

/// One change: what, from what to what, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// `neuron ID`, `ID FIELD`, `ID connections.TARGET.TYPE`, or a path of the tree.
    pub what: String,
    /// The value before; null: there was none.
    pub old: Value,
    /// The value after; null: there is none.
    pub new: Value,
    /// The run that did it, or the rule of sleep.
    pub why: String,
}

/// Why something changed in sleep: the `what` of a [`Line`], and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// See [`Line::what`].
    pub what: String,
    /// In words.
    pub reason: Cow<'static, str>,
}

impl Why {
    /// Of a whole neuron, made or removed.
    pub fn neuron(id: &NeuronId, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { what: format!("neuron {id}"), reason: reason.into() }
    }

    /// Of one connection.
    pub fn connection(from: &NeuronId, to: &NeuronId, link: Link, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { what: connection(from, to, link), reason: reason.into() }
    }
}

/// The [`Line::what`] of a connection.
pub fn connection(from: &NeuronId, to: &NeuronId, link: Link) -> String {
    format!("{from}{CONNECTIONS}{to}.{link}")
}

/// Between the source and the target of a connection in [`Line::what`].
pub(super) const CONNECTIONS: &str = " connections.";

/// How much changed between two states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Neurons that came.
    pub neurons_made: usize,
    /// Neurons that were there and differ.
    pub neurons_changed: usize,
    /// Neurons that went.
    pub neurons_removed: usize,
    /// Connections that came, those of new neurons included.
    pub connections_made: usize,
    /// Connections that went, those of removed neurons included.
    pub connections_removed: usize,
    /// Connections that were there and are stronger.
    pub strengthened: usize,
    /// Connections that were there and are weaker.
    pub weakened: usize,
    /// Weight that came, of new and of stronger connections, weight units.
    pub weight_gained: u64,
    /// Weight that went, of removed and of weaker connections, weight units.
    pub weight_lost: u64,
}

impl Totals {
    /// Counts what one neuron became; `None`: it was not there, or is not there any more.
    pub fn count(&mut self, before: Option<&Neuron>, after: Option<&Neuron>) {
        match (before, after) {
            (None, Some(_)) => self.neurons_made += 1,
            (Some(_), None) => self.neurons_removed += 1,
            (Some(before), Some(after)) if before != after => self.neurons_changed += 1,
            _ => return,
        }
        for (_, _, old, new) in weights(before, after) {
            match (old, new) {
                (None, Some(_)) => self.connections_made += 1,
                (Some(_), None) => self.connections_removed += 1,
                (Some(old), Some(new)) if new > old => self.strengthened += 1,
                _ => self.weakened += 1,
            }
            let (old, new) = (u64::from(old.unwrap_or(0)), u64::from(new.unwrap_or(0)));
            self.weight_gained += new.saturating_sub(old);
            self.weight_lost += old.saturating_sub(new);
        }
    }

    /// Whether no neuron differs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// In a line, such as `2 neurons made, 12 connections stronger (+39324)`; `nothing` if there is nothing.
    pub fn words(&self) -> String {
        let counted = |n: usize, what: &str, how: &str| match n {
            0 => None,
            1 => Some(format!("1 {what} {how}")),
            n => Some(format!("{n} {what}s {how}")),
        };
        let weight = |sign: char, n: u64| (n > 0).then(|| format!("{sign}{n} weight"));
        let parts: Vec<String> = [
            counted(self.neurons_made, "neuron", "made"),
            counted(self.neurons_changed, "neuron", "changed"),
            counted(self.neurons_removed, "neuron", "removed"),
            counted(self.connections_made, "connection", "made"),
            counted(self.connections_removed, "connection", "removed"),
            counted(self.strengthened, "connection", "stronger"),
            counted(self.weakened, "connection", "weaker"),
            weight('+', self.weight_gained),
            weight('-', self.weight_lost),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }
}

/// What a sleep learnt and consolidated. Both lists together are all that differs between S's parent and S, but for runs,
/// signals, stimuli and this record itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepRecord {
    /// Of the record: 1 has every line, 2 those that the trees do not say.
    #[serde(default = "every_line")]
    #[schemars(range(min = 1, max = 2))]
    pub format: u32,
    /// The sleep.
    pub run: RunId,
    /// Its clock.
    pub at: Stamp,
    /// S's parent: main before it.
    pub base: String,
    /// The commit of wake that was consolidated.
    pub snapshot: String,
    /// Neurons that stayed in wake, because their origin is not approved.
    #[serde(default)]
    pub left_out: usize,
    /// From S's parent to the snapshot.
    pub learnt_totals: Totals,
    /// From the snapshot to S.
    pub consolidated_totals: Totals,
    /// From S's parent to S.
    pub totals: Totals,
    /// Of format 2: the reason of each weight that this sleep changed and `consolidated` does not list.
    #[serde(default)]
    pub usual: Option<String>,
    /// Further files of this record, `<run>.2.json` and so on.
    #[serde(default)]
    pub further: usize,
    /// What runs did since the last sleep; not in a file of format 2.
    #[serde(default)]
    pub learnt: Vec<Line>,
    /// What this sleep did.
    #[serde(default)]
    pub consolidated: Vec<Line>,
}

/// The format of records without one.
fn every_line() -> u32 {
    EVERY_LINE
}

/// Every change has its line.
pub const EVERY_LINE: u32 = 1;
/// What the trees say has none.
pub const BY_REFERENCE: u32 = 2;

/// A further part of a long record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepPart {
    /// The sleep.
    pub run: RunId,
    /// Which part, from 2.
    pub part: usize,
    /// As in the record.
    #[serde(default)]
    pub learnt: Vec<Line>,
    /// As in the record.
    pub consolidated: Vec<Line>,
}

impl SleepRecord {
    /// The record's files in order: one, or several where the lines are many.
    pub fn encode(&self) -> Vec<Vec<u8>> {
        let lists = [&self.learnt, &self.consolidated];
        let mut parts: Vec<[Vec<String>; 2]> = vec![Default::default()];
        let mut size = 0;
        for (index, list) in lists.into_iter().enumerate() {
            for line in list {
                let line = text::inline(line);
                size += line.len();
                if size > limits::SLEEP_RECORD_BYTES {
                    parts.push(Default::default());
                    size = line.len();
                }
                parts.last_mut().expect("invariant: never empty")[index].push(line);
            }
        }
        let further = parts.len() - 1;
        let encoded = parts.into_iter().enumerate().map(|(index, [learnt, consolidated])| {
            let mut fields = match index {
                0 => self.header(further),
                _ => vec![("run", text::inline(&self.run)), ("part", (index + 1).to_string())],
            };
            let brief = self.format == BY_REFERENCE;
            let lists = [("learnt", learnt), ("consolidated", consolidated)];
            fields.extend(lists.iter().filter(|(_, l)| !brief || !l.is_empty()).map(|(name, l)| (*name, list(l))));
            let lines: Vec<String> = fields.into_iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
            format!("{{\n{}\n}}\n", lines.join(",\n")).into_bytes()
        });
        encoded.collect()
    }

    fn header(&self, further: usize) -> Vec<(&'static str, String)> {
        let brief = self.format == BY_REFERENCE;
        let mut fields = Vec::new();
        if brief {
            fields.push(("format", self.format.to_string()));
        }
        fields.extend([
            ("run", text::inline(&self.run)),
            ("at", text::inline(&self.at)),
            ("base", text::inline(&self.base)),
            ("snapshot", text::inline(&self.snapshot)),
        ]);
        if !brief || self.left_out > 0 {
            fields.push(("left_out", self.left_out.to_string()));
        }
        fields.extend([
            ("learnt_totals", text::inline(&self.learnt_totals)),
            ("consolidated_totals", text::inline(&self.consolidated_totals)),
            ("totals", text::inline(&self.totals)),
        ]);
        fields.extend(self.usual.iter().map(|usual| ("usual", text::inline(usual))));
        if !brief || further > 0 {
            fields.push(("further", further.to_string()));
        }
        fields
    }

    /// Reads the first file of a record; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let record: Self = text::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        let wrong = match record.format {
            EVERY_LINE if record.usual.is_some() => ("usual", "has a place in format 2 alone".to_owned()),
            BY_REFERENCE if !record.learnt.is_empty() => ("learnt", "is what the trees say in format 2".to_owned()),
            EVERY_LINE | BY_REFERENCE => return Ok(record),
            newer => {
                ("format", format!("is {newer}; this program knows records of sleeps from 1 up to {BY_REFERENCE}"))
            }
        };
        Err(JsonError::at(what, text::line_of_key(bytes, wrong.0), wrong.0, wrong.1))
    }

    /// Appends what a further file has.
    pub fn append(&mut self, bytes: &[u8], what: &str) -> Result<(), JsonError> {
        let part: SleepPart = text::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        if part.run != self.run {
            return Err(JsonError::at(what, 2, "run", format!("is {}, not {}", part.run, self.run)));
        }
        self.learnt.extend(part.learnt);
        self.consolidated.extend(part.consolidated);
        Ok(())
    }

    /// The reason of a line of `consolidated` that a record of format 2 leaves out; `None`: it has such a line. It leaves out weights that
    /// were and are there, and marks of the sleep.
    pub fn implied(&self, line: &Line) -> Option<&str> {
        match line.what.split_once(' ') {
            _ if self.format != BY_REFERENCE => None,
            Some((_, "run" | "version")) => Some(MARKS),
            Some((_, field)) if field.starts_with(CONNECTIONS.trim_start()) => {
                let is_there = line.old.is_u64() && line.new.is_u64();
                self.usual.as_deref().filter(|_| is_there)
            }
            _ => None,
        }
    }

    /// True for a line that a record of format 2 leaves out.
    pub fn is_implied(&self, line: &Line) -> bool {
        self.implied(line).is_some_and(|reason| reason == line.why)
    }
}

/// Why a neuron that a sleep changed has its marks.
pub const MARKS: &str = "this sleep";

fn list(lines: &[String]) -> String {
    if lines.is_empty() { "[]".to_owned() } else { format!("[\n    {}\n  ]", lines.join(",\n    ")) }
}

/// A neuron's file in a state of the network.
#[derive(Clone, Copy)]
pub struct FileOf<'a> {
    /// The neuron.
    pub neuron: &'a Neuron,
    /// Its blob: with it the whole file can be read from git.
    pub blob: &'a dyn std::fmt::Display,
}

/// The lines of one neuron, from before to after; `None`: no such file. `why` gives the reason for a [`Line::what`].
pub fn lines(before: Option<FileOf<'_>>, after: Option<FileOf<'_>>, why: &dyn Fn(&str) -> String) -> Vec<Line> {
    let whole = |file: FileOf<'_>| {
        let connections: Vec<Value> =
            file.neuron.connections.iter().map(|c| json!([c.target, c.link, c.weight])).collect();
        json!({"file": file.blob.to_string(), "concept": crate::delta::render::clip(&file.neuron.concept), "connections": connections})
    };
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before.neuron, after.neuron),
        (before, after) => {
            let Some(id) = before.or(after).map(|file| &file.neuron.id) else { return Vec::new() };
            let what = format!("neuron {id}");
            let value = |file: Option<FileOf<'_>>| file.map_or(Value::Null, whole);
            return vec![Line { old: value(before), new: value(after), why: why(&what), what }];
        }
    };
    let mut lines = Vec::new();
    let id = &after.id;
    let mut push = |field: &str, old: Value, new: Value| {
        let what = format!("{id} {field}");
        lines.push(Line { why: why(&what), what, old, new });
    };
    // Everything but connections, bookkeeping and the id is in the effect, under the name that it has in records.
    let effect =
        serde_json::to_value(Effect::between(Some(before), after)).expect("invariant: an effect has text keys");
    for (field, pair) in effect.as_object().into_iter().flatten() {
        if let (false, Some([old, new])) = (field == "connections", pair.as_array().map(Vec::as_slice)) {
            push(field, old.clone(), new.clone());
        }
    }
    for (target, link, old, new) in weights(Some(before), Some(after)) {
        push(&format!("connections.{target}.{link}"), json!(old), json!(new));
    }
    if before.run != after.run {
        push("run", json!(before.run), json!(after.run));
    }
    if before.version != after.version {
        push("version", json!(before.version), json!(after.version));
    }
    lines
}

/// Connections whose weight differs: target, type, weight before and after (`None`: no such connection).
pub fn weights<'a>(
    before: Option<&'a Neuron>,
    after: Option<&'a Neuron>,
) -> Vec<(&'a NeuronId, Link, Option<u16>, Option<u16>)> {
    fn of(neuron: Option<&Neuron>) -> &[crate::model::neuron::Connection] {
        neuron.map_or(&[], |n| &n.connections)
    }
    // Both lists are in order.
    let (mut old, mut new) = (of(before).iter().peekable(), of(after).iter().peekable());
    let mut found = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => (&a.target, a.link).cmp(&(&b.target, b.link)),
        };
        let a = if order.is_le() { old.next() } else { None };
        let b = if order.is_ge() { new.next() } else { None };
        let (was, is) = (a.map(|c| c.weight), b.map(|c| c.weight));
        if let Some(either) = a.or(b).filter(|_| was != is) {
            found.push((&either.target, either.link, was, is));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::strengthen::tests::{id, network, run};
    use super::*;

    fn record(lines: usize) -> SleepRecord {
        let line = |n: usize| Line {
            what: format!("a connections.b{n}.recalls"),
            old: json!(1),
            new: json!(2),
            why: "x".repeat(99),
        };
        SleepRecord {
            format: EVERY_LINE,
            usual: None,
            run: run(),
            at: Stamp::from_unix(0),
            base: "b".into(),
            snapshot: "s".into(),
            left_out: 0,
            learnt_totals: Totals::default(),
            consolidated_totals: Totals::default(),
            totals: Totals::default(),
            further: 0,
            learnt: (0..lines).map(line).collect(),
            consolidated: vec![line(7)],
        }
    }

    #[test]
    fn a_record_is_read_back_in_one_part_or_many() {
        for lines in [0, 3, 2 * limits::SLEEP_RECORD_BYTES / 100] {
            let whole = record(lines);
            let files = whole.encode();
            assert_eq!(files.len() > 1, lines > 3);
            let mut read = SleepRecord::decode(&files[0], "r").unwrap();
            assert_eq!(read.further, files.len() - 1);
            for file in &files[1..] {
                read.append(file, "p").unwrap();
            }
            assert_eq!(SleepRecord { further: 0, ..read }, whole);
        }
    }

    #[test]
    fn record_of_format_2_leaves_out_what_trees_say_and_is_read_back() {
        let mut whole = SleepRecord { format: BY_REFERENCE, usual: Some("why".into()), learnt: vec![], ..record(0) };
        let files = whole.encode();
        let text = String::from_utf8(files[0].clone()).unwrap();
        assert_eq!(SleepRecord::decode(&files[0], "r").unwrap(), whole);
        assert!(["learnt\":", "further", "left_out"].iter().all(|field| !text.contains(field)), "{text}");
        whole.usual = None;
        let line =
            |what: &str, old: Value, new: Value, why: &str| Line { what: what.into(), old, new, why: why.into() };
        let weight = line("a connections.b.recalls", json!(1), json!(2), "why");
        assert!(!whole.is_implied(&weight), "no reason is usual");
        whole.usual = Some("why".into());
        assert!(whole.is_implied(&weight));
        assert!(!whole.is_implied(&Line { why: "because".into(), ..weight.clone() }));
        assert!(whole.is_implied(&line("a run", Value::Null, json!("r"), MARKS)));
        for other in [
            line("a connections.b.recalls", Value::Null, json!(2), "why"),
            line("a connections.b.recalls", json!(2), Value::Null, "why"),
            line("a concept", json!("a"), json!("b"), "why"),
            line("neuron a", json!({}), Value::Null, "why"),
            line("network/flags/calm.json", Value::Null, json!("b"), "why"),
        ] {
            assert!(!whole.is_implied(&other), "{other:?}");
        }
        assert!(!SleepRecord { format: EVERY_LINE, ..whole }.is_implied(&weight));
        let refused =
            |from: &str, to: &str| SleepRecord::decode(text.replacen(from, to, 1).as_bytes(), "r").unwrap_err();
        assert!(refused("\"format\": 2", "\"format\": 3").to_string().contains("from 1 up to 2"));
        assert!(refused("\"format\": 2,", "").to_string().contains("format 2 alone"));
    }

    #[test]
    fn every_change_of_a_neuron_has_its_line() {
        let neurons = network(&[("a", "b", 1000), ("a", "c", 5)]);
        let before = neurons[&id("a")].as_ref();
        let mut after = before.clone();
        after.activate(500, Stamp::from_unix(60));
        after.set_weight(&id("b"), Link::FeedsInto, 1300);
        after.set_weight(&id("d"), Link::Recalls, 9);
        after.connections.retain(|c| c.target != id("c"));
        after.run = Some(run());
        after.version = after.version.toggled(&run());
        after.pinned = true;
        let file = |neuron| Some(FileOf { neuron, blob: &"f00" });
        let found = lines(file(before), file(&after), &|what| format!("why {what}"));
        let whats: Vec<&str> = found.iter().map(|l| l.what.as_str()).collect();
        let expected = [
            "a salience",
            "a activation_count",
            "a last_activated",
            "a pinned",
            "a connections.b.feeds_into",
            "a connections.c.feeds_into",
            "a connections.d.recalls",
            "a run",
            "a version",
        ];
        assert_eq!(whats, expected);
        assert_eq!(
            (&found[4].old, &found[4].new, found[4].why.as_str()),
            (&json!(1000), &json!(1300), "why a connections.b.feeds_into")
        );
        assert_eq!((&found[5].new, &found[6].old), (&Value::Null, &Value::Null));
        let made = lines(None, file(&after), &|_| String::new());
        assert_eq!((made.len(), made[0].what.as_str(), &made[0].new["file"]), (1, "neuron a", &json!("f00")));
        assert!(lines(file(before), file(before), &|_| String::new()).is_empty());
    }

    #[test]
    fn totals_count_neurons_connections_and_weight() {
        let neurons = network(&[("a", "b", 1000), ("a", "c", 500)]);
        let before = neurons[&id("a")].as_ref();
        let mut after = before.clone();
        after.set_weight(&id("b"), Link::FeedsInto, 1300);
        after.set_weight(&id("c"), Link::FeedsInto, 400);
        after.set_weight(&id("d"), Link::FeedsInto, 7);
        let mut totals = Totals::default();
        totals.count(Some(before), Some(&after));
        totals.count(None, Some(before));
        totals.count(Some(before), None);
        totals.count(Some(before), Some(before));
        let expected = Totals {
            neurons_made: 1,
            neurons_changed: 1,
            neurons_removed: 1,
            connections_made: 3,
            connections_removed: 2,
            strengthened: 1,
            weakened: 1,
            weight_gained: 1807,
            weight_lost: 1600,
        };
        assert_eq!(totals, expected);
        assert!(totals.words().starts_with("1 neuron made, 1 neuron changed, 1 neuron removed, 3 connections made"));
    }
}
