//! Echoes: answers that say again what was just said, `Noted: our CI is Jenkins`.

use std::collections::BTreeSet;

use super::{Act, act, courtesy, is_plan, tokens};
use crate::text::{sentences, words};

/// Words by which an answer takes note of something, as a whole before a colon, a comma or a dash.
const NODS: &str = "noted|duly noted|i ve noted|i have noted|noted that|i ve noted that|remembered|i ll remember|i will remember|recorded|saved|\
    good to know|will do|notiert|verstanden|gemerkt|note|c est note|bien note|compris|entendu|anotado|entendido|apuntado";
/// Of how many words of an echo one may be another than was said.
const OTHERS: usize = 5;

/// An answer without the words by which it takes note, and without plans and courtesies.
pub fn beside_nods(answer: &str) -> String {
    let told = sentences(answer).into_iter().map(after_nod);
    told.filter(|bare| !is_plan(bare) && !matches!(act(bare), Act::SmallTalk(_))).collect::<Vec<_>>().join(" ")
}

/// Whether an answer says nothing but what a statement says that it answers.
pub fn is_echo(answer: &str, said: &str) -> bool {
    if act(said) != Act::Told {
        return false;
    }
    let stems = |text: &str| -> BTreeSet<String> {
        words(text).into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
    };
    let bare = beside_nods(answer);
    let (told, known) = (stems(&bare), stems(said));
    let new: Vec<&String> = told.difference(&known).collect();
    // Who takes note may say it in other words, but with no other figure.
    let others = if bare.len() < answer.trim().len() { told.len() / OTHERS } else { 0 };
    new.len() <= others && !new.iter().any(|stem| stem.chars().any(char::is_numeric))
}

fn after_nod(sentence: &str) -> &str {
    let sentence = sentence.trim();
    let is_nod = |before: &str| {
        let row = tokens(before);
        let low = row.iter().map(|token| token.low.as_str()).collect::<Vec<_>>().join(" ");
        NODS.split('|').any(|nod| nod.trim() == low) || courtesy::of(&row, false).is_some()
    };
    let ends = sentence
        .char_indices()
        .filter(|(_, c)| matches!(c, ':' | ',' | ';' | '—' | '–' | '!'))
        .map(|(at, c)| (at, c.len_utf8()));
    let dash = sentence.find(" - ").map(|at| (at, 3));
    let that = sentence.find(" that ").map(|at| (at + 5, 1));
    for (at, length) in ends.chain(dash).chain(that) {
        let (before, after) = (&sentence[..at], &sentence[at + length..]);
        if !before.trim().is_empty() && !after.trim().is_empty() && is_nod(before) {
            return after_nod(after);
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_is_told_from_an_answer() {
        for (answer, said) in [
            ("Noted: CI is Jenkins.", "Our CI is Jenkins."),
            ("Noted, Ben is release manager.", "Ben is the release manager."),
            ("Got it — payments go through Adyen.", "Payments go through Adyen since May."),
            ("Noted: the shop uses Postgres 14 on db1, port 5433.", "We use Postgres 14 on db1, port 5433."),
            ("Noted, memcached on cache1. I'll keep that in mind.", "Our cache is memcached on cache1."),
            ("I've noted that deploys happen on Tuesdays.", "Deploys happen on Tuesdays."),
            ("Compris, la base est MariaDB.", "La base est MariaDB."),
            ("Our CI is Jenkins.", "Our CI is Jenkins."),
        ] {
            assert!(is_echo(answer, said), "{answer}: {:?}", beside_nods(answer));
        }
        for (answer, said) in [
            ("Noted: CI is Jenkins 2.", "Our CI is Jenkins."),
            ("Understood. The export fails because the disk is full.", "The export fails."),
            ("The export fails on the disk.", "Why does the export fail on the disk?"),
            ("Noted. The lock is removed by cron.py after a crash.", "The lock file stays after a crash."),
        ] {
            assert!(!is_echo(answer, said), "{answer}: {:?}", beside_nods(answer));
        }
    }
}
