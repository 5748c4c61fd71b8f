//! The pure part of git's merge driver: one file, as plain git hands it over (%O %A %B), decided by the same rules.
//!
//! A driver sees one file and no tree, so it cannot keep what a connection points to, nor apply shared runs to the base.
//! It agrees with the engine on branches of single runs without neuron deletions, which is what runs are.

use super::file::{self, Pick};
use super::neuron::merge_neuron;
use crate::model::Neuron;
use crate::model::ids::RunId;
use crate::model::json::JsonError;
use crate::model::layout::Place;
use crate::model::settings::MergePolicy;

/// One call of the driver.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// %P: the path in the tree.
    pub path: &'a str,
    /// %O; empty where both sides added the file.
    pub base: &'a [u8],
    /// %A.
    pub current: &'a [u8],
    /// %B.
    pub other: &'a [u8],
}

/// What the driver tells git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverAnswer {
    /// Write these bytes, exit 0.
    Take(Vec<u8>),
    /// %A is right as it is, exit 0.
    TakeCurrent,
    /// Exit 1: a person decides.
    Refuse {
        /// What the person should do.
        hint: String,
    },
    /// No file of the network: a merge of texts may try.
    NotOurs,
}

/// Decides one file. `recorded` tells whether HEAD has a run's record.
pub fn drive(
    call: &Drive<'_>,
    policy: &MergePolicy,
    recorded: impl FnOnce(&RunId) -> bool,
) -> Result<DriverAnswer, JsonError> {
    let place = Place::of(call.path);
    let base = (!call.base.is_empty()).then_some(call.base);
    match &place {
        Place::Neuron(_) => drive_neuron(call, base, policy, recorded),
        Place::Agent(_) | Place::Prompt(_) | Place::Settings | Place::Other => Ok(DriverAnswer::NotOurs),
        Place::Misplaced => Ok(refuse(format!("{} lies where nothing belongs; move it first", call.path))),
        place => {
            let (current, other) = (present(call.current, place), present(call.other, place));
            Ok(match file::pick(place, call.path, base, current, other)?.0 {
                Pick::Left => DriverAnswer::TakeCurrent,
                Pick::Right => DriverAnswer::Take(call.other.to_vec()),
                Pick::Undecided => refuse(format!("{} differs on both sides; keep one of them whole", call.path)),
            })
        }
    }
}

/// Git calls a driver only where both sides have the file; a queue entry may itself be empty.
fn present<'a>(content: &'a [u8], place: &Place) -> Option<&'a [u8]> {
    (!content.is_empty() || matches!(place, Place::Queue(_))).then_some(content)
}

fn drive_neuron(
    call: &Drive<'_>,
    base: Option<&[u8]>,
    policy: &MergePolicy,
    recorded: impl FnOnce(&RunId) -> bool,
) -> Result<DriverAnswer, JsonError> {
    let read = |bytes: &[u8], side: &str| Neuron::decode(bytes, &format!("{} ({side})", call.path));
    let base = base.map(|bytes| read(bytes, "base")).transpose()?;
    let current = read(call.current, "current")?;
    let other = read(call.other, "other")?;
    if current.id != other.id || base.as_ref().is_some_and(|b| b.id != current.id) {
        let from = base.as_ref().map_or(&other.id, |b| &b.id);
        return Ok(refuse(format!(
            "git took the removal of one neuron and the creation of another for a rename ({from}, {}, {}); \
             merge with `git brain merge`, or keep both files as they are",
            current.id, other.id
        )));
    }
    let newer = other.run > base.as_ref().and_then(|b| b.run.clone());
    if newer && other.run.as_ref().is_some_and(recorded) {
        return Ok(DriverAnswer::TakeCurrent);
    }
    let merged = merge_neuron(base.as_ref(), Some(&current), Some(&other), policy);
    if !merged.conflicts.is_empty() {
        let lines: Vec<String> = merged.conflicts.iter().map(ToString::to_string).collect();
        return Ok(refuse(format!("the policy leaves this to a person: {}", lines.join("; "))));
    }
    let neuron = merged.neuron.expect("invariant: both sides have the neuron");
    if neuron == current {
        return Ok(DriverAnswer::TakeCurrent);
    }
    let formats = [current.canonical_format(call.current), other.canonical_format(call.other)];
    Ok(DriverAnswer::Take(neuron.encode_as(formats.into_iter().flatten().max().unwrap_or_default())))
}

fn refuse(hint: String) -> DriverAnswer {
    DriverAnswer::Refuse { hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::NeuronId;
    use crate::model::settings::Rule;
    use crate::model::{Kind, Link, Stamp, layout};

    fn run(day: u32) -> RunId {
        RunId::parse(&format!("202601{day:02}t143200123z-abcd2345-memory")).unwrap()
    }

    fn neuron(id: &str, day: u32, weight: u16) -> Neuron {
        let mut neuron = Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, Stamp::from_unix(0));
        neuron.run = Some(run(day));
        neuron.version = neuron.version.toggled(&run(day));
        neuron.set_weight(&NeuronId::parse("b").unwrap(), Link::FeedsInto, weight);
        neuron
    }

    fn call(base: &[u8], current: &[u8], other: &[u8], recorded: bool) -> DriverAnswer {
        let path = layout::neuron(&NeuronId::parse("tea").unwrap());
        let call = Drive { path: &path, base, current, other };
        drive(&call, &MergePolicy::default(), |_| recorded).unwrap()
    }

    fn weight(answer: DriverAnswer) -> u16 {
        let DriverAnswer::Take(bytes) = answer else { panic!("{answer:?}") };
        Neuron::decode(&bytes, "taken").unwrap().connections[0].weight
    }

    #[test]
    fn both_changes_and_both_creations_add_up() {
        let [o, a, b] = [(1, 50), (2, 57), (3, 57)].map(|(day, w)| neuron("tea", day, w).encode());
        assert_eq!(weight(call(&o, &a, &b, false)), 64);
        assert_eq!(weight(call(b"", &a, &b, false)), 114);
    }

    #[test]
    fn a_run_that_is_here_already_is_not_merged_again_but_its_revert_is() {
        let [o, a, b] = [(1, 50), (4, 64), (3, 57)].map(|(day, w)| neuron("tea", day, w).encode());
        assert_eq!(call(&o, &a, &b, true), DriverAnswer::TakeCurrent);
        // A revert of run 3: the base is its tree, the other side the older tree.
        assert_eq!(weight(call(&b, &a, &o, true)), 57);
    }

    #[test]
    fn a_prune_and_a_create_are_no_rename() {
        let [tea, coffee] = ["tea", "coffee"].map(|id| neuron(id, 1, 1).encode());
        let changed = neuron("tea", 2, 9).encode();
        for (o, a, b) in [(&tea, &changed, &coffee), (&tea, &coffee, &changed), (&coffee, &tea, &changed)] {
            let DriverAnswer::Refuse { hint } = call(o, a, b, false) else { panic!("not refused") };
            assert!(hint.contains("rename") && hint.contains("coffee"), "{hint}");
        }
    }

    #[test]
    fn what_policy_leaves_open_is_refused_with_the_field() {
        let [o, a, b] = [(1, 50), (2, 57), (3, 57)].map(|(day, w)| neuron("tea", day, w).encode());
        let policy = MergePolicy { weight: Rule::Review, ..MergePolicy::default() };
        let path = layout::neuron(&NeuronId::parse("tea").unwrap());
        let call = Drive { path: &path, base: &o, current: &a, other: &b };
        let DriverAnswer::Refuse { hint } = drive(&call, &policy, |_| false).unwrap() else { panic!("not refused") };
        assert!(hint.contains("connections.b.feeds_into"), "{hint}");
    }

    #[test]
    fn other_files_follow_their_place() {
        let policy = MergePolicy::default();
        let flag = |day: u32| format!("{{\"value\": true, \"run\": \"{}\"}}", run(day)).into_bytes();
        let ask = |path: &str, o: &[u8], a: &[u8], b: &[u8]| {
            drive(&Drive { path, base: o, current: a, other: b }, &policy, |_| false).unwrap()
        };
        assert_eq!(ask("network/flags/urgence.json", &flag(1), &flag(2), &flag(3)), DriverAnswer::Take(flag(3)));
        assert_eq!(ask("network/flags/urgence.json", &flag(1), &flag(3), &flag(2)), DriverAnswer::TakeCurrent);
        assert_eq!(ask("brain.toml", b"a", b"b", b"c"), DriverAnswer::NotOurs);
        assert_eq!(ask("README.md", b"a", b"b", b"c"), DriverAnswer::NotOurs);
        for path in ["network/wisdom/x.json", "network/neurons/tea.json"] {
            assert!(matches!(ask(path, b"a", b"b", b"c"), DriverAnswer::Refuse { .. }), "{path}");
        }
        let path = layout::neuron(&NeuronId::parse("tea").unwrap());
        let broken = Drive { path: &path, base: b"", current: b"<<<<<<<", other: b"{}" };
        assert!(drive(&broken, &policy, |_| false).unwrap_err().to_string().contains("current"));
    }
}
