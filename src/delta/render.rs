//! Effects as people read them: one line a change, the neuron's concept before its id.

use super::ledger::LedgerEntry;
use super::record::{Effect, Vivid};
use crate::model::Neuron;
use crate::model::document::Goal;

/// The lines of one effect. `known` is the neuron after the change, for its concept; lines name the id without it.
pub fn effect(effect: &Effect, known: Option<&Neuron>) -> Vec<String> {
    let Some(id) = &effect.neuron else { return Vec::new() };
    if let Some(made) = &effect.created {
        let mut lines = vec![format!("+ {id}  {} {:?}, salience {}", made.kind, clip(&made.concept), made.salience)];
        lines.extend(made.connections.iter().map(|c| format!("    + {} {}  {}", c.link, c.target, c.weight)));
        return lines;
    }
    let mut lines = Vec::new();
    let mut change = |what: &str, before: String, after: String| lines.push(format!("    {what}  {before} → {after}"));
    if let Some((before, after)) = &effect.concept {
        change("concept", format!("{:?}", clip(&before.value)), format!("{:?}", clip(&after.value)));
    }
    if let Some((before, after)) = &effect.kind {
        change("type", before.value.to_string(), after.value.to_string());
    }
    if let Some((before, after)) = &effect.salience {
        change("salience", vivid(before), vivid(after));
    }
    if let Some((before, after)) = &effect.activation_count {
        change("activations", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.origin {
        change("origin", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.pinned {
        change("pinned", before.to_string(), after.to_string());
    }
    if let Some((before, after)) = &effect.archived {
        let text = |run: &Option<_>| run.as_ref().map_or("no".to_owned(), ToString::to_string);
        change("archived", text(before), text(after));
    }
    for edge in &effect.connections {
        lines.push(format!("    {}", weight(edge)));
    }
    let concept = known.map_or(String::new(), |n| format!("  {:?}", clip(&n.concept)));
    lines.insert(0, format!("~ {id}{concept}"));
    lines
}

/// An entry of the ledger in a line: what was expected, what came, and by how much that was wrong.
pub fn outcome(entry: &LedgerEntry) -> String {
    let text = entry.outcome.text.as_deref().map(|text| format!("  {:?}", clip(text))).unwrap_or_default();
    format!(
        "{}  expected {}, came {}, error {:+} ({}){text}",
        entry.judged,
        short(entry.prediction.value),
        short(entry.outcome.value),
        short(entry.error),
        entry.method.as_str(),
    )
}

/// A goal in a line.
pub fn goal(goal: &Goal) -> String {
    let level = crate::model::json::inline(&goal.level);
    format!("goal {}  {} {}: {:?}", goal.id, level.trim_matches('"'), goal.state.as_str(), clip(&goal.text))
}

/// A number as people read it: three decimals at most, without what decimal fractions lose.
pub fn short(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

fn vivid(v: &Vivid) -> String {
    format!("{} ({})", v.salience, v.at)
}

fn weight(edge: &super::record::WeightEffect) -> String {
    let place = format!("{} {}", edge.link, edge.target);
    match edge.weight {
        (None, Some(after)) => format!("+ {place}  {after}"),
        (Some(before), None) => format!("- {place}  {before}"),
        (before, after) => {
            let (before, after) = (before.unwrap_or(0), after.unwrap_or(0));
            format!("~ {place}  {before} → {after} ({:+})", i32::from(after) - i32::from(before))
        }
    }
}

/// The first 60 characters on one line; what is left out is marked.
pub fn clip(text: &str) -> String {
    clip_to(text, 60)
}

/// The first characters on one line, at most that many; what is left out is marked.
pub fn clip_to(text: &str, most: usize) -> String {
    let mut flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() > most {
        flat = flat.chars().take(most - 1).chain(['…']).collect();
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::{Method, Valued};
    use crate::model::document::{GoalLevel, GoalState};
    use crate::model::ids::{NeuronId, RunId};
    use crate::model::{Kind, Link, Origin, Stamp};

    #[test]
    fn a_change_reads_line_by_line() {
        let id = |t: &str| NeuronId::parse(t).unwrap();
        let before = Neuron::new(id("tea"), "tea", Kind::Semantic, Stamp::from_unix(0));
        let mut after = before.clone();
        after.set_weight(&id("b"), Link::FeedsInto, 300);
        after.concept = "green tea".into();
        let lines = effect(&Effect::between(Some(&before), &after), Some(&after));
        assert_eq!(lines, ["~ tea  \"green tea\"", "    concept  \"tea\" → \"green tea\"", "    + feeds_into b  300",]);
        let made = effect(&Effect::between(None, &after), None);
        assert_eq!(made[0], "+ tea  semantic \"green tea\", salience 0");
    }

    #[test]
    fn every_field_has_its_line() {
        let id = |t: &str| NeuronId::parse(t).unwrap();
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let mut before = Neuron::new(id("tea"), "tea", Kind::Semantic, Stamp::from_unix(0));
        before.set_weight(&id("b"), Link::FeedsInto, 300);
        before.set_weight(&id("c"), Link::Recalls, 7);
        let mut after = before.clone();
        (after.kind, after.salience, after.activation_count, after.pinned) = (Kind::Core, 9, 2, true);
        after.origin = Origin::parse("http").unwrap();
        after.archived = Some(run.clone());
        after.set_weight(&id("b"), Link::FeedsInto, 200);
        after.connections.retain(|c| c.target != id("c"));
        let stamp = Stamp::from_unix(0);
        let expected = [
            "~ tea".to_owned(),
            "    type  semantic → core".to_owned(),
            format!("    salience  0 ({stamp}) → 9 ({stamp})"),
            "    activations  0 → 2".to_owned(),
            "    origin  local → http".to_owned(),
            "    pinned  false → true".to_owned(),
            format!("    archived  no → {run}"),
            "    ~ feeds_into b  300 → 200 (-100)".to_owned(),
            "    - recalls c  7".to_owned(),
        ];
        assert_eq!(effect(&Effect::between(Some(&before), &after), None), expected);
        assert_eq!(
            effect(&Effect::between(None, &before), None)[1..],
            ["    + feeds_into b  300", "    + recalls c  7"]
        );
        assert_eq!(effect(&Effect::default(), None), [""; 0]);
    }

    #[test]
    fn outcomes_and_goals_are_a_line_each() {
        let judged = RunId::parse("20260126t143100123z-abcd2345-decision").unwrap();
        let mut entry = LedgerEntry {
            run: RunId::parse("20260126t143200123z-abcd2345-evaluator").unwrap(),
            agent: judged.agent(),
            judged,
            at: Stamp::from_unix(1000),
            prediction: Valued { text: None, value: 0.7 },
            outcome: Valued { text: Some("it  rained".into()), value: 0.1 + 0.2 },
            error: 0.3 - 0.7,
            method: Method::Number,
            chosen: None,
            pathway: vec![],
        };
        let line = "20260126t143100123z-abcd2345-decision  expected 0.7, came 0.3, error -0.4 (number)";
        assert_eq!(outcome(&entry), format!("{line}  \"it rained\""));
        entry.outcome.text = None;
        assert_eq!(outcome(&entry), line);
        let goal = Goal {
            id: "dry-tea".parse().unwrap(),
            text: "Keep the tea dry".into(),
            level: GoalLevel::Terminal,
            neuron: None,
            parent: None,
            state: GoalState::Reached,
            at: Stamp::from_unix(1000),
            run: None,
        };
        assert_eq!(super::goal(&goal), "goal dry-tea  terminal reached: \"Keep the tea dry\"");
    }

    #[test]
    fn a_clipped_text_says_that_it_is() {
        assert_eq!(clip(" a\n b "), "a b");
        assert_eq!(clip(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(clip(&"x".repeat(61)), "x".repeat(59) + "…");
    }
}
