//! One small combinator per rule: a unit of a neuron on three sides in, a verdict out.
//!
//! A unit is what is decided as a whole: a weight, or a salience with its stamp. Knows no neurons and no policy table.

use std::cmp::Ordering;

use super::decision::How;
use crate::model::neuron::Name;
use crate::model::settings::Rule;
use crate::model::{Stamp, salience};

/// One unit on the three sides. `base` is `None` where the neuron did not exist.
#[derive(Clone, Debug)]
pub(super) struct Unit<T> {
    pub base: Option<T>,
    pub left: T,
    pub right: T,
}

/// What a rule makes of a unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict<T> {
    /// At most one side changed it, or both agree: nothing had to be decided.
    Plain(T),
    /// The rule decided.
    Decided(T, How),
    /// The rule decided, and the result was held to the range of the field.
    Clamped(T, How),
    /// No rule applies.
    Undecided,
}

impl<T: Clone + PartialEq> Unit<T> {
    /// The first two cases of rule 0: the side that changed it, if only one did.
    fn one_sided(&self) -> Option<T> {
        let base = self.base.as_ref()?;
        if &self.left == base {
            return Some(self.right.clone());
        }
        (&self.right == base).then(|| self.left.clone())
    }

    /// Where both changed it to the same value that is right; else `pick` joins the two.
    pub fn join(self, how: How, pick: impl FnOnce(T, T) -> T) -> Verdict<T> {
        match self.one_sided() {
            Some(value) => Verdict::Plain(value),
            None if self.left == self.right => Verdict::Plain(self.left),
            None => Verdict::Decided(pick(self.left, self.right), how),
        }
    }
}

/// A number in `0..=most`; what is absent counts as 0. `later` compares left's run to right's.
pub(super) fn number(unit: &Unit<i64>, rule: Rule, most: i64, later: Ordering) -> Verdict<i64> {
    let base = unit.base.unwrap_or(0);
    let whole = Unit { base: Some(base), ..unit.clone() };
    whole.one_sided().map_or_else(|| both_changed(base, unit.left, unit.right, rule, most, later), Verdict::Plain)
}

fn both_changed(base: i64, left: i64, right: i64, rule: Rule, most: i64, later: Ordering) -> Verdict<i64> {
    if rule != Rule::Sum && rule != Rule::Review && left == right {
        return Verdict::Plain(left);
    }
    match rule {
        Rule::Sum => {
            let exact = base + (left - base) + (right - base);
            let held = exact.clamp(0, most);
            if held == exact { Verdict::Decided(held, How::Sum) } else { Verdict::Clamped(held, How::Sum) }
        }
        Rule::Max => Verdict::Decided(left.max(right), How::Max),
        Rule::Mean => Verdict::Decided((left + right + 1) / 2, How::Mean),
        Rule::Left => Verdict::Decided(left, How::Left),
        Rule::Right => Verdict::Decided(right, How::Right),
        // A number carries no rank, so the later run speaks.
        Rule::Priority => match later {
            Ordering::Greater => Verdict::Decided(left, How::Priority),
            Ordering::Less => Verdict::Decided(right, How::Priority),
            Ordering::Equal => Verdict::Undecided,
        },
        Rule::Review => Verdict::Undecided,
    }
}

/// Salience with its stamp: all three are decayed to the newest of the stamps, then merged as numbers. The base's stamp
/// counts too: after a plain `git revert` it can be the newest.
pub(super) fn vivid(unit: &Unit<(u16, Stamp)>, rule: Rule, later: Ordering) -> Verdict<(u16, Stamp)> {
    if let Some(value) = unit.one_sided() {
        return Verdict::Plain(value);
    }
    match rule {
        Rule::Left => return Verdict::Decided(unit.left, How::Left),
        Rule::Right => return Verdict::Decided(unit.right, How::Right),
        _ => {}
    }
    let newest = unit.base.map_or(unit.left.1, |b| b.1).max(unit.left.1).max(unit.right.1);
    let now = |(stored, at): (u16, Stamp)| i64::from(salience::salience_at(stored, at, newest));
    let (base, left, right) = (unit.base.map_or(0, now), now(unit.left), now(unit.right));
    let stored = |x: i64| (u16::try_from(x).expect("invariant: held to 0..=65535"), newest);
    match both_changed(base, left, right, rule, i64::from(u16::MAX), later) {
        Verdict::Plain(x) => Verdict::Plain(stored(x)),
        Verdict::Decided(x, how) => Verdict::Decided(stored(x), how),
        Verdict::Clamped(x, how) => Verdict::Clamped(stored(x), how),
        Verdict::Undecided => Verdict::Undecided,
    }
}

/// A stamp that may be missing; a missing one is the least.
pub(super) fn stamp(unit: Unit<Option<Stamp>>, rule: Rule, later: Ordering) -> Verdict<Option<Stamp>> {
    match rule {
        Rule::Max => unit.join(How::Max, Option::max),
        Rule::Left => unit.join(How::Left, |left, _| left),
        Rule::Right => unit.join(How::Right, |_, right| right),
        Rule::Mean => unit.join(How::Mean, |left, right| match (left, right) {
            (Some(a), Some(b)) => Some(Stamp::from_unix((a.unix() + b.unix() + 1).div_euclid(2))),
            (one, other) => one.or(other),
        }),
        Rule::Priority if later != Ordering::Equal => {
            unit.join(How::Priority, |left, right| if later == Ordering::Greater { left } else { right })
        }
        Rule::Priority | Rule::Sum | Rule::Review => undecided_if_different(unit),
    }
}

/// A concept or a type with its name. `max` takes the greater text; a sum or mean of texts is undecided.
pub(super) fn named<T: Clone + PartialEq + Ord>(unit: Unit<(T, Name)>, rule: Rule) -> Verdict<(T, Name)> {
    if let Some(value) = unit.one_sided() {
        return Verdict::Plain(value);
    }
    let Unit { left, right, .. } = unit;
    let same = left.0 == right.0;
    let greater_name = left.1.cmp(&right.1);
    let by = |first: bool| if first { left.clone() } else { right.clone() };
    if same {
        return Verdict::Plain(by(greater_name != Ordering::Less));
    }
    match rule {
        Rule::Priority if greater_name != Ordering::Equal => {
            Verdict::Decided(by(greater_name == Ordering::Greater), How::Priority)
        }
        Rule::Max => Verdict::Decided(by(left.0 > right.0), How::Max),
        Rule::Left => Verdict::Decided(left, How::Left),
        Rule::Right => Verdict::Decided(right, How::Right),
        Rule::Priority | Rule::Sum | Rule::Mean | Rule::Review => Verdict::Undecided,
    }
}

fn undecided_if_different<T: Clone + PartialEq>(unit: Unit<T>) -> Verdict<T> {
    match unit.one_sided() {
        Some(value) => Verdict::Plain(value),
        None if unit.left == unit.right => Verdict::Plain(unit.left),
        None => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_every_rule() {
        use Verdict::{Clamped, Decided, Plain, Undecided};
        let cases = [
            // base, left, right, rule, verdict
            (50, 50, 60, Rule::Sum, Plain(60)),
            (50, 60, 50, Rule::Review, Plain(60)),
            (50, 57, 57, Rule::Sum, Decided(64, How::Sum)),
            (50, 40, 0, Rule::Sum, Clamped(0, How::Sum)),
            (50, 90, 70, Rule::Sum, Clamped(100, How::Sum)),
            (50, 60, 40, Rule::Max, Decided(60, How::Max)),
            (50, 60, 41, Rule::Mean, Decided(51, How::Mean)),
            (50, 60, 40, Rule::Left, Decided(60, How::Left)),
            (50, 60, 40, Rule::Right, Decided(40, How::Right)),
            (50, 60, 40, Rule::Priority, Decided(40, How::Priority)),
            (50, 57, 57, Rule::Max, Plain(57)),
            (50, 57, 57, Rule::Review, Undecided),
        ];
        for (base, left, right, rule, expected) in cases {
            let unit = Unit { base: Some(base), left, right };
            assert_eq!(number(&unit, rule, 100, Ordering::Less), expected, "{base} {left} {right} {rule:?}");
        }
        let unit = Unit { base: None, left: 3, right: 4 };
        assert_eq!(number(&unit, Rule::Sum, 100, Ordering::Less), Decided(7, How::Sum));
        assert_eq!(number(&unit, Rule::Priority, 100, Ordering::Greater), Decided(3, How::Priority));
        assert_eq!(number(&unit, Rule::Priority, 100, Ordering::Equal), Undecided);
        // What is absent is 0, so who has 0 as well did not change it.
        assert_eq!(number(&Unit { base: None, left: 0, right: 5 }, Rule::Mean, 100, Ordering::Less), Plain(5));
    }

    #[test]
    fn salience_is_summed_at_the_newest_stamp_even_if_that_is_the_bases() {
        let at = |hours: i64| Stamp::from_unix(hours * 3600);
        let unit = Unit { base: Some((65000, at(1))), left: (65500, at(0)), right: (65000, at(0)) };
        // 65500 and 65000 an hour later are 64845 and 64350: 64845 + 64350 - 65000.
        assert_eq!(vivid(&unit, Rule::Sum, Ordering::Less), Verdict::Decided((64195, at(1)), How::Sum));
        assert_eq!(vivid(&unit, Rule::Max, Ordering::Less), Verdict::Decided((64845, at(1)), How::Max));
        assert_eq!(vivid(&unit, Rule::Left, Ordering::Less), Verdict::Decided((65500, at(0)), How::Left));
    }

    #[test]
    fn names_by_rank_then_run_and_no_rule_for_a_tie() {
        let name = |rank, run: Option<&str>| Name { rank, run: run.map(|r| r.parse().unwrap()) };
        let early = Some("20260126t143200123z-abcd2345-a");
        let late = Some("20260127t143200123z-abcd2345-a");
        let decide = |left: Name, right: Name, rule| {
            named(Unit { base: Some(("o", name(0, None))), left: ("l", left), right: ("r", right) }, rule)
        };
        let winner = |verdict| match verdict {
            Verdict::Decided((value, _), _) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(winner(decide(name(5, early), name(1, late), Rule::Priority)), "l");
        assert_eq!(winner(decide(name(1, early), name(1, late), Rule::Priority)), "r");
        assert_eq!(winner(decide(name(9, early), name(1, late), Rule::Max)), "r");
        assert_eq!(decide(name(0, None), name(0, None), Rule::Priority), Verdict::Undecided);
        assert_eq!(decide(name(9, early), name(1, late), Rule::Mean), Verdict::Undecided);
    }

    #[test]
    fn stamps_by_every_rule() {
        let at = |s| Some(Stamp::from_unix(s));
        let unit = || Unit { base: Some(at(0)), left: at(3), right: at(8) };
        for (rule, expected) in [
            (Rule::Max, Verdict::Decided(at(8), How::Max)),
            (Rule::Mean, Verdict::Decided(at(6), How::Mean)),
            (Rule::Left, Verdict::Decided(at(3), How::Left)),
            (Rule::Right, Verdict::Decided(at(8), How::Right)),
            (Rule::Priority, Verdict::Decided(at(3), How::Priority)),
            (Rule::Sum, Verdict::Undecided),
            (Rule::Review, Verdict::Undecided),
        ] {
            assert_eq!(stamp(unit(), rule, Ordering::Greater), expected, "{rule:?}");
        }
        assert_eq!(stamp(unit(), Rule::Priority, Ordering::Equal), Verdict::Undecided);
        let missing = Unit { base: None, left: None, right: at(8) };
        assert_eq!(stamp(missing, Rule::Max, Ordering::Equal), Verdict::Decided(at(8), How::Max));
    }

    #[test]
    fn salience_by_the_other_rules_and_at_the_top() {
        let at = |hours: i64| Stamp::from_unix(hours * 3600);
        let unit = Unit { base: Some((1000, at(0))), left: (3000, at(0)), right: (2000, at(0)) };
        let decide = |rule, later| vivid(&unit, rule, later);
        assert_eq!(decide(Rule::Right, Ordering::Less), Verdict::Decided((2000, at(0)), How::Right));
        assert_eq!(decide(Rule::Mean, Ordering::Less), Verdict::Decided((2500, at(0)), How::Mean));
        assert_eq!(decide(Rule::Priority, Ordering::Greater), Verdict::Decided((3000, at(0)), How::Priority));
        assert_eq!(decide(Rule::Priority, Ordering::Equal), Verdict::Undecided);
        assert_eq!(decide(Rule::Review, Ordering::Less), Verdict::Undecided);
        let high = Unit { base: None, left: (65000, at(0)), right: (65001, at(0)) };
        assert_eq!(vivid(&high, Rule::Sum, Ordering::Less), Verdict::Clamped((65535, at(0)), How::Sum));
        // The newest stamp is that of any side: an hour makes 990 of 1000.
        for (left, right) in [((1000, at(1)), (1000, at(0))), ((1000, at(0)), (1000, at(1)))] {
            let unit = Unit { base: None, left, right };
            assert_eq!(vivid(&unit, Rule::Sum, Ordering::Less), Verdict::Decided((1990, at(1)), How::Sum));
        }
        let agreed = Unit { base: Some((0, at(0))), left: (1000, at(0)), right: (1000, at(0)) };
        assert_eq!(vivid(&agreed, Rule::Max, Ordering::Less), Verdict::Plain((1000, at(0))));
    }

    #[test]
    fn names_of_the_same_text_and_by_the_other_rules() {
        let name = |rank| Name { rank, run: None };
        let decide = |left: (&'static str, u32), right: (&'static str, u32), rule| {
            named(
                Unit { base: Some(("o", name(0))), left: (left.0, name(left.1)), right: (right.0, name(right.1)) },
                rule,
            )
        };
        for (left, right) in [(1, 2), (2, 1), (2, 2)] {
            assert_eq!(decide(("x", left), ("x", right), Rule::Review), Verdict::Plain(("x", name(2))));
        }
        assert_eq!(decide(("l", 1), ("r", 1), Rule::Left), Verdict::Decided(("l", name(1)), How::Left));
        assert_eq!(decide(("l", 1), ("r", 1), Rule::Right), Verdict::Decided(("r", name(1)), How::Right));
        assert_eq!(decide(("r", 1), ("l", 2), Rule::Max), Verdict::Decided(("r", name(1)), How::Max));
        assert_eq!(decide(("l", 1), ("r", 1), Rule::Priority), Verdict::Undecided);
        assert_eq!(decide(("o", 0), ("r", 1), Rule::Review), Verdict::Plain(("r", name(1))));
        assert_eq!(decide(("l", 1), ("o", 0), Rule::Review), Verdict::Plain(("l", name(1))));
    }

    #[test]
    fn a_missing_stamp_is_the_least_and_has_no_say_in_a_mean() {
        let at = |s| Some(Stamp::from_unix(s));
        let decide = |base, left, right, rule| stamp(Unit { base, left, right }, rule, Ordering::Less);
        assert_eq!(decide(None, at(5), None, Rule::Mean), Verdict::Decided(at(5), How::Mean));
        assert_eq!(decide(None, None, at(5), Rule::Mean), Verdict::Decided(at(5), How::Mean));
        assert_eq!(decide(None, at(-4), at(-1), Rule::Mean), Verdict::Decided(at(-2), How::Mean));
        assert_eq!(decide(Some(at(1)), at(2), at(3), Rule::Priority), Verdict::Decided(at(3), How::Priority));
        assert_eq!(decide(Some(at(1)), at(2), at(2), Rule::Review), Verdict::Plain(at(2)));
        assert_eq!(decide(Some(at(1)), at(1), at(2), Rule::Review), Verdict::Plain(at(2)));
        assert_eq!(decide(Some(at(1)), at(2), at(2), Rule::Max), Verdict::Plain(at(2)));
        assert_eq!(decide(Some(at(1)), at(2), at(1), Rule::Max), Verdict::Plain(at(2)), "only one side changed it");
    }
}
