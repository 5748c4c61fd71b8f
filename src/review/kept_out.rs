//! The words of a run that a decision does not let in: those that all machines and agents may be told, and of the others a short digest.
//!
//! *Invariant:* words that speak of a secret are told nobody, because a run may be rejected for just that.

use std::collections::BTreeSet;

use super::belief::is_said;
use super::page::visible;
use super::record::Verdict;
use crate::delta::{Operation, RunRecord};
use crate::limits;
use crate::model::Kind;
use crate::model::ids::{NeuronId, RunId, hash_fields, normalise};

/// Longest statement, characters.
const LONGEST: usize = 300;

/// One line, without what steers, cut where it is long.
pub fn clip(text: &str) -> String {
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The words of a run that a decision does not let in, memories first, the longest of them first: all that it states; where it states nothing,
/// the longest name. At most [`limits::REVIEW_DECLINED`].
pub fn kept_out(
    verdict: Verdict,
    kept: &[usize],
    record: &RunRecord,
    words_of: impl Fn(&NeuronId) -> String,
) -> Vec<String> {
    let away = (1..=record.ops.len()).filter(|number| verdict == Verdict::Reject || !kept.contains(number));
    let said = away.filter_map(|number| match &record.ops[number - 1] {
        Operation::Create(create) if !is_said(create.kind, &create.concept) => Some((0, create.concept.clone())),
        Operation::Create(create) => Some((2 + u8::from(create.kind == Kind::Episodic), create.concept.clone())),
        Operation::Reword(reword) => Some((3, reword.concept.clone())),
        Operation::Archive(archive) => Some((2, format!("archives: {}", words_of(&archive.id)))),
        Operation::Retype(retype) => Some((1, format!("{}: {}", retype.kind, words_of(&retype.id)))),
        Operation::Goal(goal) => Some((2, format!("goal: {}", goal.text))),
        Operation::Wisdom(taught) => {
            taught.seeds.first().map(|seed| (2, format!("seed: {}: {}", seed.condition, seed.action)))
        }
        Operation::Flag(flag) => Some((1, format!("flag: {}", flag.name))),
        _ => None,
    });
    let mut said: Vec<(u8, String)> = said.collect();
    said.sort_by_key(|(rank, text)| std::cmp::Reverse((*rank, text.len())));
    let most = if said.first().is_some_and(|(rank, _)| *rank == 0) { 1 } else { limits::REVIEW_DECLINED };
    let mut seen = BTreeSet::new();
    let stated = said.into_iter().filter(|(rank, _)| most == 1 || *rank > 0).map(|(_, text)| text);
    stated.filter(|text| seen.insert(text.clone())).take(most).collect()
}

/// What stays of a statement whose words are not kept: 16 bits, of which the same statement is known again and no other words follow, other in each
/// decision.
pub fn digest(review: &RunId, said: &str) -> String {
    let hash = hash_fields(&[review.as_str().as_bytes(), normalise(said).as_bytes()]);
    format!("{:04x}", hash & 0xffff)
}

/// Whether a text speaks of a password, or names some other key beside a word that looks like one. Wrong in doubt: what it finds is told nobody.
pub fn speaks_of_a_secret(text: &str) -> bool {
    const ALWAYS: [&str; 12] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "passwort",
        "kennwort",
        "mot de passe",
        "mots de passe",
        "credentials",
        "パスワード",
        "暗証番号",
        "contraseña",
    ];
    const BESIDE: [&str; 10] = [
        "token",
        "secret",
        "api key",
        "apikey",
        "access key",
        "private key",
        "schlüssel",
        "jeton",
        "トークン",
        "login",
    ];
    let text = normalise(text);
    let has = |list: &[&str]| list.iter().any(|word| text.contains(word));
    let is_made = |word: &str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        word.len() >= 8 && digits > 0 && word.chars().any(char::is_alphabetic)
    };
    has(&ALWAYS) || has(&BESIDE) && text.split_whitespace().any(is_made)
}

/// Whether a reason says that the words themselves are the fault.
pub fn is_about_a_secret(why: &str) -> bool {
    // A secret of a known form was taken out of the reason already.
    if why.contains("[redacted:") {
        return true;
    }
    let why = normalise(why);
    speaks_of_a_secret(&why) || ["secret", "geheim", "秘密"].iter().any(|word| why.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::record::is_digest;

    #[test]
    fn words_that_speak_of_a_secret_are_known() {
        for text in [
            "The staging password is hunter2-Harbour-2026",
            "Das Passwort von Olga ist Sommer",
            "The api key of Stripe is k2f9a81b77",
            "ステージングのパスワードは夏です",
        ] {
            assert!(speaks_of_a_secret(text), "{text}");
        }
        for text in ["Deploys happen on Monday.", "The deploy token is renewed every 90 days by the platform team."] {
            assert!(!speaks_of_a_secret(text), "{text}");
        }
        assert!(is_about_a_secret("a password") && is_about_a_secret("holds a secret") && !is_about_a_secret("gossip"));
        assert!(is_about_a_secret("it tells the token [redacted:github-token]"));
    }

    #[test]
    fn a_digest_knows_the_same_words_in_its_own_decision_alone() {
        let review = |text: &str| RunId::parse(text).unwrap();
        let (one, other) = (review("20260126t150000000z-abcd2345-human"), review("20260126t150000001z-abcd2345-human"));
        let said = "Olga broke production twice last Friday";
        assert!(is_digest(&digest(&one, said)));
        assert_eq!(digest(&one, said), digest(&one, "olga  broke production twice last friday"));
        assert_ne!(digest(&one, said), digest(&other, said));
        assert_ne!(digest(&one, said), digest(&one, "Olga broke production once last Friday"));
        assert!(!is_digest(said) && !is_digest("00FF") && !is_digest("00ff0"));
    }
}
