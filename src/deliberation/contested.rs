//! Records that contradict one another: the same candidate on the same evidence by the same rules, and a gate decides otherwise. Gates have no luck,
//! so one of the records is a claim.
//!
//! Dates prove nothing, but a cycle names those that it knew. Whoever contradicts what he knew claims against a measurement, and counts for nothing.
//! Of two that did not know of each other neither counts, until somebody who knew all that is said of it has measured again. What the gates here have
//! measured is no claim: what contradicts it counts for nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::gates::{ALIGNMENT, NOVELTY};
use super::record::{CycleRecord, ResultRecord};
use crate::model::ids::RunId;

/// A candidate of which nothing counts, because records contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    /// The candidate's key.
    pub key: String,
    /// Its mechanism's name.
    pub name: String,
    /// The runs whose cycles contradict each other, by id.
    pub runs: Vec<RunId>,
}

/// The decisions of a record: whether each gate that answered let the candidate pass. Without a record: that nobody examined it.
type Decided = BTreeMap<String, bool>;

/// A record of one candidate.
struct Word {
    run: RunId,
    decided: Decided,
}

/// The words on one candidate, on the same evidence by the same rules.
#[derive(Default)]
struct Words {
    stand: Vec<Word>,
    contested: Vec<Word>,
}

/// Which cycles knew which, by what they name.
struct Known(BTreeMap<RunId, BTreeSet<RunId>>);

impl Known {
    fn of(cycles: &[(RunId, CycleRecord)]) -> Self {
        let named: BTreeMap<&RunId, &[RunId]> =
            cycles.iter().map(|(run, cycle)| (run, cycle.after.as_slice())).collect();
        let reach = |run: &RunId| {
            let (mut reached, mut open): (BTreeSet<RunId>, Vec<&RunId>) = (BTreeSet::new(), vec![run]);
            while let Some(next) = open.pop() {
                for before in named.get(next).copied().unwrap_or_default().iter().filter(|before| *before != run) {
                    if reached.insert(before.clone()) {
                        open.push(before);
                    }
                }
            }
            reached
        };
        Self(cycles.iter().map(|(run, _)| (run.clone(), reach(run))).collect())
    }

    /// Whether a cycle knew another.
    fn knew(&self, run: &RunId, other: &RunId) -> bool {
        self.0.get(run).is_some_and(|reached| reached.contains(other))
    }

    fn count(&self, run: &RunId) -> usize {
        self.0.get(run).map_or(0, BTreeSet::len)
    }
}

/// The cycles that no other of them knew, by id: with these a new one names all.
pub fn newest(cycles: &[(RunId, CycleRecord)]) -> Vec<RunId> {
    let known = Known::of(cycles);
    let is_known = |run: &RunId| cycles.iter().any(|(other, _)| other != run && known.knew(other, run));
    cycles.iter().map(|(run, _)| run).filter(|run| !is_known(run)).cloned().collect()
}

/// Puts cycles into an order in which each comes after those that it knew, and takes out the results that do not count. Returns what is contested.
/// Answers that nobody had given before, gates without one, and newness, which follows from other fruit, contradict nothing. `measured`: the results that
/// the gates here gave, by run and key.
pub fn settle(cycles: &mut [(RunId, CycleRecord)], measured: &BTreeSet<(RunId, String)>) -> Vec<Contest> {
    let known = Known::of(cycles);
    let is_measured = |run: &RunId, result: &ResultRecord| measured.contains(&(run.clone(), result.key.clone()));
    let mut firm: BTreeMap<(String, String, String), Vec<Decided>> = BTreeMap::new();
    for (run, cycle) in &*cycles {
        for result in cycle.results.iter().filter(|result| is_measured(run, result)) {
            firm.entry(place_of(cycle, result)).or_default().push(decided(result));
        }
    }
    cycles.sort_by(|(a, _), (b, _)| (known.count(a), a).cmp(&(known.count(b), b)));
    let mut all: BTreeMap<(String, String, String), Words> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (run, cycle) in &*cycles {
        for result in &cycle.results {
            names.insert(result.key.clone(), result.proposal.mechanism.name.clone());
            let (place, word) = (place_of(cycle, result), Word { run: run.clone(), decided: decided(result) });
            let is_refuted = firm.get(&place).into_iter().flatten().any(|firm| contradict(firm, &word.decided));
            if !is_refuted || is_measured(run, result) {
                all.entry(place).or_default().hear(&known, word);
            }
        }
    }
    for (run, cycle) in cycles.iter_mut() {
        let mut results = std::mem::take(&mut cycle.results);
        results.retain(|result| all.get(&place_of(cycle, result)).is_some_and(|words| words.stands(run)));
        cycle.results = results;
    }
    let open = all.into_iter().filter(|(_, words)| words.stand.is_empty());
    open.map(|((key, ..), words)| {
        let runs: BTreeSet<RunId> = words.contested.into_iter().map(|word| word.run).collect();
        Contest { name: names.get(&key).cloned().unwrap_or_default(), key, runs: runs.into_iter().collect() }
    })
    .collect()
}

impl Words {
    fn hear(&mut self, known: &Known, word: Word) {
        let against = |other: &&Word| contradict(&word.decided, &other.decided);
        if self.stand.iter().filter(against).any(|other| known.knew(&word.run, &other.run)) {
            return;
        }
        // Who knew one side alone, or a part of it, is no judge between them.
        let knew = |other: &Word| known.knew(&word.run, &other.run);
        if self.contested.iter().all(knew) && self.stand.iter().filter(against).all(knew) {
            self.stand.push(word);
            return;
        }
        let (gone, stand) = std::mem::take(&mut self.stand).into_iter().partition(|other| against(&other));
        self.stand = stand;
        self.contested.extend::<Vec<Word>>(gone);
        self.contested.push(word);
    }

    fn stands(&self, run: &RunId) -> bool {
        self.stand.iter().any(|word| word.run == *run)
    }
}

/// A candidate, its evidence and the rules.
fn place_of(cycle: &CycleRecord, result: &ResultRecord) -> (String, String, String) {
    let evidence = cycle.evidence.get(&result.tree).cloned().unwrap_or_default();
    (result.key.clone(), cycle.rules.clone(), evidence)
}

fn decided(result: &ResultRecord) -> Decided {
    let gates = result.record.iter().flat_map(|record| &record.gates);
    let counts = gates.filter(|gate| !gate.broken && ![ALIGNMENT, NOVELTY].contains(&gate.name.as_str()));
    counts.map(|gate| (gate.name.clone(), gate.passed)).collect()
}

fn contradict(one: &Decided, other: &Decided) -> bool {
    one.iter().any(|(gate, passed)| other.get(gate).is_some_and(|before| before != passed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cycle of one candidate in words: its letter, those that it names, and whether its gate let the candidate pass.
    fn cycle(letter: char, after: &str, passed: bool) -> (RunId, CycleRecord) {
        let id = |letter: char| {
            let second = u64::from(letter) - u64::from('A') + 10;
            RunId::parse(&format!("20260101t1000{second}000z-abcd2345-human")).unwrap()
        };
        let gate = serde_json::json!({"name": "known", "hard": true, "passed": passed, "figure": 1.0, "threshold": 0.0, "note": ""});
        let record = serde_json::json!({"domain": "d", "candidate": "k", "asked": ["known"], "gates": [gate], "execution_mode": "tool_executed"});
        let mechanism = serde_json::json!({"name": "m", "intuition": "i", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0.0});
        let result = serde_json::json!({
            "key": "k", "tree": "t", "proposal": {"mechanism": mechanism, "payload": {}},
            "nursery": {"fate": "sprout", "checks": []}, "record": record, "class": "fruit",
        });
        let member = serde_json::json!({"mind": "reflex-lexical", "family": "x"});
        let cast = serde_json::json!({"gardener": member, "skeptic": null, "inspector": member, "diverger": null, "aligner": member});
        let told = serde_json::json!({
            "cycle": 1, "after": after.chars().map(id).collect::<Vec<_>>(), "cast": cast, "rules": "r", "evidence": {"t": "e"},
            "forecast": {"monsoon": false, "trees": {}}, "results": [result], "seeds": [], "events": [],
        });
        (id(letter), serde_json::from_value(told).unwrap())
    }

    /// The letters of the cycles that stand, and of those that are contested.
    fn settled(mut cycles: Vec<(RunId, CycleRecord)>) -> (String, String) {
        let letter = |run: &RunId| char::from(b'A' + run.as_str()[13..15].parse::<u8>().unwrap() - 10);
        let contested = settle(&mut cycles, &BTreeSet::new());
        let mut stand: Vec<char> =
            cycles.iter().filter(|(_, cycle)| !cycle.results.is_empty()).map(|(run, _)| letter(run)).collect();
        stand.sort_unstable();
        (stand.into_iter().collect(), contested.iter().flat_map(|one| &one.runs).map(letter).collect())
    }

    #[test]
    fn whoever_contradicts_what_he_knew_counts_for_nothing() {
        let told = |stand: &str, contested: &str| (stand.to_owned(), contested.to_owned());
        assert_eq!(settled(vec![cycle('A', "", true), cycle('B', "A", false)]), told("A", ""));
        assert_eq!(settled(vec![cycle('A', "", true), cycle('B', "A", true)]), told("AB", ""));
        // Nor does it count beside a claim of the same, whose word it did not know.
        let three = || vec![cycle('A', "", true), cycle('B', "", false), cycle('C', "A", false)];
        assert_eq!(settled(three()), told("", "ABC"));
        // And neither against what the gates here have measured, whatever it knew.
        let mut cycles = three();
        cycles.push(cycle('D', "AB", false));
        let here = BTreeSet::from([(cycles[0].0.clone(), "k".to_owned())]);
        assert!(settle(&mut cycles, &here).is_empty());
        let stand: Vec<usize> = cycles.iter().map(|(_, cycle)| cycle.results.len()).collect();
        assert_eq!(stand.iter().sum::<usize>(), 1, "{stand:?}");
        // Through another that he knew.
        assert_eq!(settled(vec![cycle('A', "", true), cycle('B', "A", true), cycle('C', "B", false)]), told("AB", ""));
    }

    #[test]
    fn of_two_that_did_not_know_of_each_other_neither_counts_until_both_were_known() {
        let told = |stand: &str, contested: &str| (stand.to_owned(), contested.to_owned());
        // An earlier date is no knowledge: B is the measurement, A the claim that is dated before it.
        let both = || vec![cycle('A', "", true), cycle('B', "", false)];
        assert_eq!(settled(both()), told("", "AB"));
        // A second claim does not win by number.
        let with = |more: Vec<(RunId, CycleRecord)>| settled(both().into_iter().chain(more).collect());
        assert_eq!(with(vec![cycle('C', "", true)]), told("", "ABC"));
        // Who knew one of them alone is a side, not a judge.
        assert_eq!(with(vec![cycle('C', "A", true)]), told("", "ABC"));
        assert_eq!(with(vec![cycle('C', "AB", false)]), told("C", ""));
        assert_eq!(with(vec![cycle('C', "AB", false), cycle('D', "C", true)]), told("C", ""));
        assert_eq!(with(vec![cycle('C', "AB", false), cycle('D', "A", true)]), told("", "ABCD"));
        assert_eq!(with(vec![cycle('C', "AB", false), cycle('D', "A", true), cycle('E', "CD", false)]), told("E", ""));
    }

    #[test]
    fn cycles_that_name_each_other_end() {
        let mut cycles = vec![cycle('A', "B", true), cycle('B', "A", false)];
        settle(&mut cycles, &BTreeSet::new());
        assert!(newest(&cycles).is_empty());
        assert_eq!(newest(&[cycle('A', "", true), cycle('B', "A", true), cycle('C', "A", true)]).len(), 2);
    }
}
