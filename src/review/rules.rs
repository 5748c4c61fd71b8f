//! Which runs wait for a person: the first rule of `[review]` that fits.

use crate::delta::{Effect, Operation};
use crate::model::Origin;
pub use crate::model::review::matches;
use crate::model::review::{Review, ReviewRule, Then};

/// What rules judge a run by.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The agent.
    pub agent: &'a str,
    /// Where what it brings comes from.
    pub origin: &'a Origin,
    /// What it does to neurons.
    pub effects: &'a [Effect],
    /// The types of those neurons before and afterwards, as words.
    pub types: &'a [String],
    /// Its operations.
    pub operations: &'a [Operation],
    /// What it does beside: it speaks of no neuron.
    pub beside: bool,
    /// What it expects of itself, 0..=1.
    pub expected: f64,
}

/// The rule by which a run waits; `None`: it lands, as far as rules say.
pub fn held_by<'r>(review: &'r Review, facts: &Facts<'_>) -> Option<&'r ReviewRule> {
    review.rule.iter().find(|rule| fits(rule, facts)).filter(|rule| rule.then == Then::Wait)
}

/// Whether operations do something that no neuron shows. An answer to a signal is kept whatever lands.
pub fn is_beside<'o>(mut ops: impl Iterator<Item = &'o Operation>) -> bool {
    ops.any(|op| {
        matches!(
            op,
            Operation::Signal(_)
                | Operation::Flag(_)
                | Operation::Outcome(_)
                | Operation::Goal(_)
                | Operation::Deliberate(_)
                | Operation::Wisdom(_)
                | Operation::Seal(_)
        )
    })
}

/// A run waits for what any of its neurons is; it lands for what all of them are, so that one of a region lets in no other, and nothing
/// that is no neuron.
fn fits(rule: &ReviewRule, facts: &Facts<'_>) -> bool {
    let of_neurons = !rule.neurons.is_empty() || !rule.types.is_empty();
    if rule.then == Then::Land && of_neurons && (facts.beside || facts.effects.is_empty()) {
        return false;
    }
    let any = |patterns: &[String], mut of: Box<dyn Iterator<Item = &str> + '_>| {
        let mut is_meant = |word: &str| patterns.iter().any(|pattern| matches(pattern, word));
        patterns.is_empty() || if rule.then == Then::Land { of.all(is_meant) } else { of.any(&mut is_meant) }
    };
    let ids = facts.effects.iter().filter_map(|effect| effect.id()).map(|id| id.as_str());
    any(&rule.agents, Box::new(std::iter::once(facts.agent)))
        && any(&rule.origins, Box::new(facts.origin.classes()))
        && any(&rule.neurons, Box::new(ids))
        && any(&rule.types, Box::new(facts.types.iter().map(String::as_str)))
        && any(&rule.operations, Box::new(facts.operations.iter().map(Operation::name)))
        && rule.at_least.is_none_or(|least| facts.effects.len() >= least)
        && rule.below.is_none_or(|below| facts.expected < below)
}

/// Prefixes of the names that people have on forges.
const FORGES: [&str; 4] = ["github:", "gitlab:", "forgejo:", "gitea:"];

/// Whether the settings name a reviewer by a login on a forge: of those alone a bot says that they decided elsewhere.
pub fn is_login(name: &str) -> bool {
    FORGES.iter().any(|forge| name.strip_prefix(forge).is_some_and(|login| !login.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::NeuronId;
    use crate::model::{Kind, Neuron, Stamp};

    fn rule(name: &str) -> ReviewRule {
        ReviewRule { name: name.to_owned(), ..ReviewRule::default() }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let made = Neuron::new(NeuronId::parse("core-anna").unwrap(), "Anna", Kind::Semantic, Stamp::from_unix(0));
        let effects = [Effect::between(None, &made)];
        let types = ["semantic".to_owned()];
        let origin = Origin::parse("http:page+mcp:editor").unwrap();
        let ops = crate::delta::Document::parse(
            b"{\"ops\": [{\"op\": \"create\", \"concept\": \"Anna\", \"type\": \"semantic\"}, {\"op\": \"archive\", \"id\": \"x\", \"reason\": \"y\"}]}",
            "ops",
        )
        .unwrap()
        .ops;
        let facts = Facts {
            agent: "memory",
            origin: &origin,
            effects: &effects,
            types: &types,
            operations: &ops,
            beside: false,
            expected: 0.4,
        };
        let held = |rules: Vec<ReviewRule>| {
            held_by(&Review { rule: rules, ..Review::default() }, &facts).map(|rule| rule.name.clone())
        };
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (rule, fits) in [
            (rule("all"), true),
            (ReviewRule { agents: list(&["mem*"]), ..rule("agent") }, true),
            (ReviewRule { agents: list(&["decision"]), ..rule("other-agent") }, false),
            (ReviewRule { origins: list(&["mcp"]), ..rule("origin") }, true),
            (ReviewRule { origins: list(&["webhook"]), ..rule("other-origin") }, false),
            (ReviewRule { neurons: list(&["x", "core-*"]), ..rule("region") }, true),
            (ReviewRule { neurons: list(&["core"]), ..rule("other-region") }, false),
            (ReviewRule { types: list(&["semantic"]), ..rule("type") }, true),
            (ReviewRule { operations: list(&["archive", "reword"]), ..rule("corrections") }, true),
            (ReviewRule { operations: list(&["reword"]), ..rule("rewordings") }, false),
            (ReviewRule { at_least: Some(2), ..rule("size") }, false),
            (ReviewRule { below: Some(0.5), ..rule("unsure") }, true),
            (ReviewRule { below: Some(0.5), agents: list(&["decision"]), ..rule("both") }, false),
        ] {
            assert_eq!(held(vec![rule.clone()]).is_some(), fits, "{}", rule.name);
        }
        let land = ReviewRule { then: Then::Land, agents: list(&["memory"]), ..rule("trusted") };
        assert_eq!(held(vec![land.clone(), rule("all")]), None);
        // One neuron of the region, or one of the origins, lets in no other.
        let two = [
            effects[0].clone(),
            Effect::between(None, &Neuron { id: NeuronId::parse("evil").unwrap(), ..made.clone() }),
        ];
        let kinds = ["semantic".to_owned(), "episodic".to_owned()];
        let mixed = Facts { effects: &two, types: &kinds, ..facts };
        for narrow in [
            ReviewRule { then: Then::Land, neurons: list(&["core-*"]), ..rule("region") },
            ReviewRule { then: Then::Land, types: list(&["semantic"]), ..rule("type") },
            ReviewRule { then: Then::Land, origins: list(&["mcp"]), ..rule("origin") },
        ] {
            let rules = Review { rule: vec![narrow, rule("all")], ..Review::default() };
            assert!(held_by(&rules, &mixed).is_some());
        }
        assert_eq!(held(vec![rule("all"), land]).as_deref(), Some("all"));
        // A region lets in no goal beside it, and nothing that has no neuron at all.
        let region = ReviewRule { then: Then::Land, neurons: list(&["core-*"]), ..rule("region") };
        let rules = Review { rule: vec![region, rule("all")], ..Review::default() };
        assert!(held_by(&rules, &facts).is_none());
        assert!(held_by(&rules, &Facts { beside: true, ..facts }).is_some());
        assert!(held_by(&rules, &Facts { effects: &[], types: &[], ..facts }).is_some());
        // A neuron that was of a guarded type is guarded.
        let guarded = ReviewRule { types: list(&["schema"]), ..rule("guarded") };
        let rules = Review { rule: vec![guarded], ..Review::default() };
        assert!(held_by(&rules, &Facts { types: &["schema".to_owned(), "semantic".to_owned()], ..facts }).is_some());
    }
}
