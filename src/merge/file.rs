//! The rule for files that are no neurons: which side's file is the result. Never a blend of two.
//!
//! Scenarios, in order: (1) rule 0, as for neurons; (2) the stimulus queue, and records that gave way: removal wins; (3) flags, goals, metadata: a
//! person's change, the later of two, else the larger run id; (4) what two machines can truly write differently under one id, the same
//! input fed twice or a signal answered twice: the lesser content, so that the first answer stands, before one that stands in for an answer; (5) everything else,
//! immutable files among it: undecided.

use std::cmp::Ordering;

use serde_json::Value;

use super::decision::How;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::json::{self, JsonError};
use crate::model::layout::{self, Place};
use crate::model::{Metadata, Stamp};

/// Which file is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Left's, or none if left has none.
    Left,
    /// Right's, or none if right has none.
    Right,
    /// A person decides.
    Undecided,
}

/// Picks a side by the rule of the place; with the rule's name where one had to decide.
pub(super) fn pick(
    place: &Place,
    path: &str,
    base: Option<&[u8]>,
    left: Option<&[u8]>,
    right: Option<&[u8]>,
) -> Result<(Pick, Option<How>), JsonError> {
    // (1)
    if left == right || right == base {
        return Ok((Pick::Left, None));
    }
    if left == base {
        return Ok((Pick::Right, None));
    }
    Ok(match place {
        // (2)
        Place::Queue(_) if left.is_none() => (Pick::Left, Some(How::RemovalWins)),
        Place::Queue(_) if right.is_none() => (Pick::Right, Some(How::RemovalWins)),
        // A record that is gone gave way to a decision, and one that is not as it was is what a decision made of it.
        Place::Run(_) if base.is_some() && left.is_none() => (Pick::Right, Some(How::ChangedWins)),
        Place::Run(_) if base.is_some() && right.is_none() => (Pick::Left, Some(How::ChangedWins)),
        // (3)
        Place::Flag(_) | Place::Goal | Place::Metadata => {
            let (ours, theirs) = (Said::by(left, path)?, Said::by(right, path)?);
            let how = match (ours.person, theirs.person) {
                (true, true) => How::Later,
                (false, false) => How::LaterRun,
                _ => How::Person,
            };
            (if ours >= theirs { Pick::Left } else { Pick::Right }, Some(how))
        }
        // (4)
        place if place.lesser_stands() || matches!(place, Place::Queue(_)) => match (left, right) {
            (Some(left), Some(right)) if place.order(left, right) == Ordering::Greater => (Pick::Right, Some(How::Min)),
            (Some(_), None) => (Pick::Right, Some(How::Min)),
            _ => (Pick::Left, Some(How::Min)),
        },
        // (5)
        _ => (Pick::Undecided, None),
    })
}

/// Reads `network/metadata.json`.
pub(super) fn metadata(bytes: &[u8]) -> Result<Metadata, JsonError> {
    json::strict(bytes, layout::METADATA, limits::DOCUMENT_BYTES)
}

/// Raises all sides to the newer format where left and right differ in it, and returns whether they did: a format never goes back, and other
/// changes of a side are judged for themselves.
pub(super) fn agree_on_format(
    base: &mut Option<Vec<u8>>,
    left: &mut Option<Vec<u8>>,
    right: &mut Option<Vec<u8>>,
) -> Result<bool, JsonError> {
    let (Some(ours), Some(theirs)) = (&left, &right) else { return Ok(false) };
    let newest = match (metadata(ours)?.format, metadata(theirs)?.format) {
        (one, other) if one == other => return Ok(false),
        (one, other) => one.max(other),
    };
    for side in [base, left, right].into_iter().flatten() {
        *side = json::pretty(&Metadata { format: newest, ..metadata(side)? });
    }
    Ok(true)
}

/// Who changed a file and when: the greater one's stands. A person goes before agents, by command as by hand, and of two people the later;
/// of agents the later run. Where that says nothing, the greater content. No run can remove these files, so that a removal is a
/// person's, from before any other change.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Said<'c> {
    person: bool,
    at: Option<Stamp>,
    run: Option<RunId>,
    content: Option<&'c [u8]>,
}

impl<'c> Said<'c> {
    fn by(content: Option<&'c [u8]>, path: &str) -> Result<Self, JsonError> {
        let Some(bytes) = content else { return Ok(Self { person: true, at: None, run: None, content }) };
        let value: Value = json::strict(bytes, path, limits::DOCUMENT_BYTES)?;
        let text = |field: &str| match value.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(other) => Err(JsonError::at(path, 1, field, format!("{other} is neither a text nor null"))),
        };
        let run =
            text("run")?.map(RunId::parse).transpose().map_err(|e| JsonError::at(path, 1, "run", e.to_string()))?;
        let at = text("at")?
            .map(str::parse::<Stamp>)
            .transpose()
            .map_err(|e| JsonError::at(path, 1, "at", e.to_string()))?;
        let person = run.as_ref().is_none_or(|run| run.is_a_persons());
        // An agent may say any moment; its run's id is in order.
        Ok(Self { person, at: at.filter(|_| person), run, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: &[u8] = br#"{"value": true, "run": "20260126t143200123z-abcd2345-a"}"#;
    const LATE: &[u8] = br#"{"value": true, "run": "20260127t143200123z-abcd2345-a"}"#;
    const PERSON: &[u8] = br#"{"value": false, "run": null}"#;
    const OTHER_PERSON: &[u8] = br#"{"value": true}"#;
    const BY_COMMAND: &[u8] = br#"{"at": "2026-01-26T14:32:00Z", "run": "20260126t143200123z-abcd2345-human"}"#;
    const HOUR_LATER: &[u8] = br#"{"at": "2026-01-26T15:32:00Z", "run": null}"#;

    const STANDS_IN: &[u8] = br#"{"signal": "g-0000000000000001", "by": "a", "run": "20260126t143200123z-abcd2345-a", "created_at": "2026-01-26T14:32:00Z", "payload": {"rejected": "20260126t143200123z-abcd2345-a"}}"#;
    const ANSWER: &[u8] = br#"{"signal": "g-0000000000000001", "by": "a", "run": "20260127t143200123z-abcd2345-a", "created_at": "2026-01-27T14:32:00Z", "payload": {"rejected": "z"}}"#;

    #[test]
    fn every_place_by_its_rule() {
        let answer = Place::Acknowledgement("a".parse().unwrap(), "g-0000000000000001".parse().unwrap());
        let flag = Place::Flag("urgence".parse().unwrap());
        let queue = Place::Queue("s1".parse().unwrap());
        let (a, b): (Option<&[u8]>, Option<&[u8]>) = (Some(b"a"), Some(b"b"));
        let cases = [
            (&flag, a, a, b, Pick::Right),
            (&flag, a, b, a, Pick::Left),
            (&answer, None, Some(STANDS_IN), Some(ANSWER), Pick::Right),
            (&answer, None, Some(ANSWER), Some(STANDS_IN), Pick::Left),
            (&answer, None, b, a, Pick::Right),
            (&Place::Event, a, a, None, Pick::Right),
            (&Place::Event, None, a, a, Pick::Left),
            (&Place::Event, None, a, b, Pick::Undecided),
            (&queue, a, b, None, Pick::Right),
            (&queue, a, None, b, Pick::Left),
            (&queue, None, a, b, Pick::Left),
            (&Place::Stimulus("s1".parse().unwrap()), None, b, a, Pick::Right),
            (&flag, None, Some(EARLY), Some(LATE), Pick::Right),
            (&flag, None, Some(LATE), Some(EARLY), Pick::Left),
            (&flag, Some(EARLY), Some(LATE), Some(PERSON), Pick::Right),
            (&flag, Some(EARLY), Some(PERSON), Some(LATE), Pick::Left),
            (&flag, Some(EARLY), None, Some(LATE), Pick::Left),
            (&flag, Some(EARLY), Some(PERSON), Some(OTHER_PERSON), Pick::Right),
            (&flag, Some(EARLY), Some(OTHER_PERSON), Some(PERSON), Pick::Left),
            (&flag, Some(EARLY), Some(BY_COMMAND), Some(LATE), Pick::Left),
            (&flag, Some(EARLY), Some(LATE), Some(BY_COMMAND), Pick::Right),
            (&flag, Some(EARLY), Some(BY_COMMAND), Some(PERSON), Pick::Left),
            (&flag, Some(EARLY), Some(BY_COMMAND), Some(HOUR_LATER), Pick::Right),
            (&flag, Some(EARLY), Some(BY_COMMAND), None, Pick::Left),
            (&flag, Some(EARLY), None, Some(LATE), Pick::Left),
            (&Place::Settings, a, b, None, Pick::Undecided),
        ];
        for (place, base, left, right, expected) in cases {
            assert_eq!(
                pick(place, "x", base, left, right).unwrap().0,
                expected,
                "{place:?} {base:?} {left:?} {right:?}"
            );
        }
    }

    #[test]
    fn a_removal_from_the_queue_wins_by_its_own_rule() {
        let queue = Place::Queue("s1".parse().unwrap());
        let (a, b): (Option<&[u8]>, Option<&[u8]>) = (Some(b"a"), Some(b"b"));
        let how = |left, right| pick(&queue, "x", a, left, right).unwrap().1;
        assert_eq!((how(b, None), how(None, b)), (Some(How::RemovalWins), Some(How::RemovalWins)));
        assert_eq!(how(b, Some(b"c")), Some(How::Min));
    }

    #[test]
    fn a_flag_that_does_not_parse_is_refused() {
        let error = pick(&Place::Goal, "network/goals/g.json", None, Some(b"{"), Some(EARLY)).unwrap_err();
        assert!(error.to_string().contains("network/goals/g.json"), "{error}");
        assert!(pick(&Place::Goal, "g", None, Some(br#"{"run": 7}"#), Some(EARLY)).is_err());
    }
}
