//! The nursery: seven checks of a judged hypothesis, in the order in which the first that fails decides.

use serde::{Deserialize, Serialize};

use super::verdict::{Judgement, Proposal};

/// What becomes of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It is examined.
    Sprout,
    /// It waits in the seed bank.
    Hold,
    /// It waits until there is more to judge it by.
    Dormant,
    /// It never comes back.
    Reject,
    /// It uses what it must not see, and never comes back.
    Quarantine,
}

/// A check: its name, whether it held, and the figure it went by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Whether it held.
    pub passed: bool,
    /// The figure, 0..=1.
    pub figure: f64,
}

/// What the nursery says of a hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What becomes of it.
    pub fate: Fate,
    /// All seven checks.
    pub checks: Vec<Check>,
}

/// Above this a hypothesis leaks.
const LEAKS: f64 = 0.8;
/// From this on it is there already.
const KNOWN: f64 = 0.9;
/// Above this it is there in part, which is too much for one that is not new.
const PARTLY_KNOWN: f64 = 0.7;
/// Below this it is not new.
const NEW: f64 = 0.25;
/// Below this there is too little to judge it by.
const DATA: f64 = 0.3;
/// Above this it costs too much.
const COSTLY: f64 = 0.9;
/// Below this its reasoning does not hold.
const LOGIC: f64 = 0.2;

/// Judges a hypothesis. The order: leakage, an unknown tree, redundancy, data, plan and cost, logic. Source: decisions on deliberation.md.
/// Whatever the inspector says, a hypothesis that `leaks` a memory which judges alone see is quarantined.
pub fn nurse(proposal: &Proposal, judgement: &Judgement, tree_is_known: bool, leaks: bool) -> Report {
    let mechanism = &proposal.mechanism;
    let is_clear = !mechanism.name.trim().is_empty() && !mechanism.intuition.trim().is_empty();
    let measured = if leaks { 1.0 } else { 0.0 };
    let leakage = judgement.leakage.max(mechanism.lookahead_risk).max(measured);
    let is_redundant = judgement.redundancy >= KNOWN || judgement.novelty < NEW && judgement.redundancy > PARTLY_KNOWN;
    let has_plan = !judgement.next_plan.trim().is_empty();
    let as_figure = |held: bool| f64::from(u8::from(held));
    let check = |name: &str, passed, figure| Check { name: name.to_owned(), passed, figure };
    let checks = vec![
        check("hypothesis clear", is_clear, as_figure(is_clear)),
        check("data available", judgement.data >= DATA, judgement.data),
        check("leakage", leakage <= LEAKS, leakage),
        check("redundancy", !is_redundant, judgement.redundancy),
        check("cheap", judgement.cost <= COSTLY, judgement.cost),
        check("local validity", judgement.logic >= LOGIC, judgement.logic),
        check("next plan", has_plan, as_figure(has_plan)),
    ];
    let fate = if leakage > LEAKS {
        Fate::Quarantine
    } else if !tree_is_known {
        Fate::Hold
    } else if is_redundant {
        Fate::Reject
    } else if judgement.data < DATA {
        Fate::Dormant
    } else if !has_plan || judgement.cost > COSTLY || !is_clear || judgement.logic < LOGIC {
        Fate::Hold
    } else {
        Fate::Sprout
    };
    Report { fate, checks }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::verdict::Mechanism;
    use super::*;

    fn sound() -> (Proposal, Judgement) {
        let mechanism = Mechanism { name: "a brings b".into(), intuition: "it did".into(), ..Mechanism::default() };
        let judgement = Judgement {
            logic: 0.8,
            novelty: 0.9,
            leakage: 0.0,
            redundancy: 0.1,
            data: 0.9,
            cost: 0.1,
            next_plan: "examine it".into(),
        };
        (Proposal { mechanism, payload: json!({}) }, judgement)
    }

    #[test]
    fn each_check_stops_a_hypothesis_that_passes_all_others() {
        type Spoil = fn(&mut Proposal, &mut Judgement);
        let cases: [(&str, Spoil, Fate); 8] = [
            ("hypothesis clear", |p, _| p.mechanism.intuition.clear(), Fate::Hold),
            ("data available", |_, j| j.data = 0.29, Fate::Dormant),
            ("leakage", |_, j| j.leakage = 0.81, Fate::Quarantine),
            ("leakage", |p, _| p.mechanism.lookahead_risk = 0.9, Fate::Quarantine),
            ("redundancy", |_, j| j.redundancy = 0.9, Fate::Reject),
            ("cheap", |_, j| j.cost = 0.91, Fate::Hold),
            ("local validity", |_, j| j.logic = 0.19, Fate::Hold),
            ("next plan", |_, j| j.next_plan = " ".into(), Fate::Hold),
        ];
        let (proposal, judgement) = sound();
        assert_eq!(nurse(&proposal, &judgement, true, false).fate, Fate::Sprout);
        assert_eq!(nurse(&proposal, &judgement, false, false).fate, Fate::Hold, "an unknown tree");
        for (name, spoil, fate) in cases {
            let (mut proposal, mut judgement) = sound();
            spoil(&mut proposal, &mut judgement);
            let report = nurse(&proposal, &judgement, true, false);
            assert_eq!(report.fate, fate, "{name}");
            let failed: Vec<&str> = report.checks.iter().filter(|c| !c.passed).map(|c| c.name.as_str()).collect();
            assert_eq!(failed, [name]);
        }
        assert_eq!(nurse(&proposal, &judgement, true, true).fate, Fate::Quarantine, "it names what judges alone see");
        let (proposal, mut judgement) = sound();
        (judgement.redundancy, judgement.novelty) = (0.75, 0.2);
        assert_eq!(nurse(&proposal, &judgement, true, false).fate, Fate::Reject, "little new, and much of it there");
        judgement.novelty = 0.25;
        assert_eq!(nurse(&proposal, &judgement, true, false).fate, Fate::Sprout);
    }
}
