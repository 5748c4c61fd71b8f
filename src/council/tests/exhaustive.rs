//! Every vote of 3, 4, 6 and 7 members in several family layouts, against an oracle of strings and tables.
//!
//! The oracle shares no code with the room: it looks up the least counts in tables written by hand, and counts by string.

use super::super::verdict::{Opinion, Thresholds, decide};
use super::super::vote::Decision;
use super::{all_decisions, members, votes};

/// The least count of n that is two thirds, by n.
const TWO_THIRDS: [usize; 8] = [1, 1, 2, 2, 3, 4, 4, 5];
/// The least number of cast votes for the printed rule, by members: .67 n, rounded up.
const PRINTED_CAST: [usize; 8] = [1, 1, 2, 3, 3, 4, 5, 5];
/// The least count for a printed decision, by cast votes.
const PRINTED_FOR: [usize; 8] = [9, 1, 2, 3, 3, 4, 5, 5];

const LAYOUTS: [&str; 17] = [
    "xyz", "xxy", "xxx", "wxyz", "xxyz", "xxyy", "xxxy", "xxxx", "uvwxyz", "xxyyzz", "xxxxyz", "xxxyyy", "uvwxyzt",
    "xxyyzzw", "xxxxxyz", "xxxxyyy", "xxxxxxx",
];

fn letters(of: &str) -> Vec<String> {
    let mut letters: Vec<String> = of.chars().map(String::from).collect();
    letters.sort();
    letters.dedup();
    letters
}

/// The votes of a family as a string, absent ones left out.
fn of_family(family: &str, layout: &str, decisions: &str) -> String {
    let pairs: Vec<String> = layout.chars().zip(decisions.chars()).map(|(f, d)| format!("{f}{d}")).collect();
    pairs
        .join(" ")
        .split(' ')
        .filter(|pair| pair.starts_with(family) && !pair.ends_with('.'))
        .map(|p| &p[1..])
        .collect()
}

/// The decision as a letter, by string.
fn oracle(layout: &str, decisions: &str) -> &'static str {
    for letter in ["A", "R"] {
        let members = decisions.matches(letter).count();
        let speaks = |family: &&String| {
            let cast = of_family(family, layout, decisions);
            let against = cast.replace(letter, "");
            cast.len() - against.len() > against.len()
        };
        let all = letters(layout);
        let families = all.iter().filter(speaks).count();
        if members >= TWO_THIRDS[layout.len()] && families >= TWO_THIRDS[all.len()] && families > 1 {
            return if letter == "A" { "A" } else { "R" };
        }
    }
    "-"
}

fn printed_oracle(decisions: &str) -> Option<&'static str> {
    let cast = decisions.replace('.', "");
    (cast.len() >= PRINTED_CAST[decisions.len()]).then(|| match PRINTED_FOR[cast.len()] {
        least if cast.matches('A').count() >= least => "A",
        least if cast.matches('R').count() >= least => "R",
        _ => "-",
    })
}

fn letter(decision: Decision) -> &'static str {
    match decision {
        Decision::Approve => "A",
        Decision::Reject => "R",
        Decision::Abstain => "-",
    }
}

/// Members whose letter is one of those given, as their ids joined.
fn ids_with(of: &str, decisions: &str) -> String {
    "abcdefg".chars().zip(decisions.chars()).filter(|(_, letter)| of.contains(*letter)).map(|(id, _)| id).collect()
}

#[test]
fn exhaustive_votes_match_the_oracle() {
    let mut compared = 0;
    let mut decided = 0;
    for layout in LAYOUTS {
        let members = members(layout);
        for decisions in all_decisions(layout.len()) {
            let case = format!("{layout} {decisions}");
            let votes = votes(&members, &decisions);
            let verdict = decide("q", &members, &votes, &[], &Thresholds::default());
            let expected = oracle(layout, &decisions);
            assert_eq!(letter(verdict.decision), expected, "{case}");
            assert_eq!(verdict.escalates(), expected == "-", "{case}");
            assert_eq!(verdict.confidence, if expected == "-" { 0.0 } else { 0.9 }, "{case}");
            assert_eq!(verdict.printed.decision.map(letter), printed_oracle(&decisions), "{case}");
            assert_eq!(verdict.quorum.tolerated_faults, [0, 0, 0, 0, 1, 1, 1, 2][layout.len()], "{case}");
            let (support, dissent) = match expected {
                "A" => ("A", "R"),
                "R" => ("R", "A"),
                _ => ("", "AR"),
            };
            let ids = |opinions: &[Opinion]| opinions.iter().map(|o| o.member.as_str()).collect::<String>();
            assert_eq!(ids(&verdict.support), ids_with(support, &decisions), "{case}");
            assert_eq!(ids(&verdict.dissent), ids_with(dissent, &decisions), "{case}");
            assert_eq!(ids(&verdict.abstentions), ids_with("-", &decisions), "{case}");
            let absent: String = verdict.absent.iter().map(|id| id.as_str()).collect();
            assert_eq!(absent, ids_with(".", &decisions), "{case}");
            compared += 1;
            decided += usize::from(expected != "-");
        }
    }
    assert_eq!(compared, 3 * 64 + 5 * 256 + 4 * 4096 + 5 * 16384);
    assert!(decided > 2000, "{decided} decisions: the table would show nothing");
}
