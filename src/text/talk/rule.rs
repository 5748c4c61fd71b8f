//! Rules, tasks and plans: sentences that say how things are to be done from now on, or now, or what somebody is about to do; told apart from
//! sentences that happen to have the same words.

use super::super::surface::fold;
use super::{Act, act, english, french, japanese, tokens};
use crate::limits;
use crate::text::phrase::asks;
use crate::text::sentences;

/// Whether a text has a rule: `Always run the tests first`, `Don't push to main`, `Tests must pass before every merge`, `ne jamais pousser sur main`,
/// `必ずpnpmを使う`. What happened (`we have never seen this`), what things do by themselves (`the queue never blocks`) and what somebody is about
/// to do is none.
pub fn is_rule(text: &str) -> bool {
    text.len() <= limits::RULE_BYTES && has_rule(text)
}

fn has_rule(text: &str) -> bool {
    japanese::STANDING.split(' ').any(|word| text.contains(word)) || sentences(text).into_iter().any(rules)
}

fn rules(sentence: &str) -> bool {
    if asks(sentence) {
        return false;
    }
    let row: Vec<String> = tokens(sentence).into_iter().map(|token| token.low).collect();
    let start = row.iter().position(|word| !has(english::BEFORE_RULE, word) && !has(french::BEFORE_RULE, word));
    let row = &row[start.unwrap_or(row.len())..];
    let Some(first) = row.first() else { return false };
    if says(row, english::FROM_NOW) || says(row, french::FROM_NOW) {
        return true;
    }
    // An order to somebody who is not there: the beginning has no subject.
    let orders = has(english::ORDERS, first) || has(french::ORDERS, first);
    if orders || starts(row, english::FORBIDS) || starts(row, french::FORBIDS) {
        return row.len() > 2;
    }
    row.iter().enumerate().any(|(at, word)| {
        let (before, after) =
            (at.checked_sub(1).map(|at| row[at].as_str()), row.get(at + 1).map_or("", String::as_str));
        if has("always never", word) {
            let told = before.is_none_or(|before| has(english::OF_A_RULE, before));
            return told && !after.is_empty() && !has(english::HAPPENED, after);
        }
        has("must shall", word) && before.is_some_and(|before| !has(english::GUESSED, before)) && !has("have be", after)
    })
}

/// Whether a text does no more than to give tasks to somebody who works on something: `commit this`, `Corrige le test`, `テストを直して`. Among
/// colleagues the same words may be a note of what is to be done.
pub fn is_task(text: &str) -> bool {
    let parts = sentences(text);
    let is_one = |part: &str| {
        let words: Vec<String> = tokens(part).into_iter().map(|token| token.low).collect();
        let first = words.iter().find(|word| !english::BEFORE_TASK.split(' ').any(|before| before == *word));
        // `same for the other file`, `do it like in cart.rs`
        let again = matches!(words.as_slice(), [same, of, ..] if same == "same" && ["for", "with", "in"].contains(&of.as_str()))
            || matches!(words.as_slice(), [d, it, ..] if d == "do" && ["it", "this", "that", "the", "so"].contains(&it.as_str()));
        let is_verb = |verbs: &str| first.is_some_and(|first| verbs.split_whitespace().any(|verb| verb == first));
        let ends = part.trim_end_matches(['。', '！', '.', '!']);
        again
            || is_verb(english::TASKS)
            || is_verb(french::TASKS)
            || japanese::TASKS.split(' ').any(|end| ends.ends_with(end))
    };
    let words: usize = parts.iter().map(|part| tokens(part).len()).sum();
    !parts.is_empty() && words <= TASK_WORDS && !super::is_standing(text) && parts.iter().all(|part| is_one(part))
}

/// Words of a text that only gives tasks, at most: a longer one says why.
const TASK_WORDS: usize = 16;

/// Whether a text says nothing but what its speaker is about to do, and courtesies: `Understood. I will fix that.`
pub fn is_plan(text: &str) -> bool {
    let is_one = |part: &str| {
        let row: Vec<String> = tokens(part).into_iter().map(|token| token.low).collect();
        starts(&row, english::PLANS) || starts(&row, french::PLANS)
    };
    let is_polite = |part: &str| matches!(act(part), Act::SmallTalk(_));
    sentences(text).into_iter().all(|sentence| {
        // `You're right, let me fix that.`
        let after = sentence.split_once(',').filter(|(before, _)| is_polite(before)).map(|(_, after)| after);
        is_polite(sentence) || is_one(sentence) || after.is_some_and(is_one)
    })
}

/// Whether one of some words is that one.
fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

fn says(row: &[String], phrases: &str) -> bool {
    let row = format!(" {} ", row.join(" "));
    phrases.split('|').any(|phrase| row.contains(&format!(" {} ", fold(phrase.trim()))))
}

fn starts(row: &[String], phrases: &str) -> bool {
    let row = format!("{} ", row.join(" "));
    phrases.split('|').any(|phrase| row.starts_with(&format!("{} ", phrase.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_told_from_what_is_known() {
        for plan in [
            "Understood. I will connect to staging on port 5433.",
            "You're right, let me fix that.",
            "Sorry, I will do it differently.",
        ] {
            assert!(is_plan(plan), "{plan}");
        }
        for none in
            ["Staging answers on port 5433.", "I will not, because the lock is held by cron.rs. The job runs at 3 am."]
        {
            assert!(!is_plan(none), "{none}");
        }
    }

    #[test]
    fn rules_are_told_from_what_happens() {
        for rule in [
            "Always run the tests first",
            "please always rebase before you push",
            "We never deploy on Fridays.",
            "Don't push to main.",
            "Use tabs, not spaces.",
            "Tests must pass before every merge.",
            "No force pushes to main.",
            "From now on the invoices are sent on Mondays.",
            "You should never edit the generated files.",
            "Avoid unwrap outside of tests.",
            "Il faut toujours lancer les tests.",
            "Ne jamais pousser sur main.",
            "必ずpnpmを使う",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
        for none in [
            "We have never seen this error before, it always crashes at night",
            "No problem, the queue never blocks.",
            "Root cause: the list is sorted, so the newest job always wins.",
            "Understood. I will connect to staging on port 5433 from that day.",
            "It must have been the cache.",
            "He never came back.",
            "Should we always rebase?",
            "The cat sleeps here.",
            "Nous n'avons jamais vu cela.",
            "use it",
        ] {
            assert!(!is_rule(none), "{none}");
        }
    }
}
