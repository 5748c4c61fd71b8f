//! Courtesies: words and formulas that say nothing but that somebody is polite, or content.

use super::{Courtesy, Token, english, french, german};

/// Which courtesy some words are, if they are nothing but polite. `only_formulas`: they are one formula as a whole.
pub(super) fn of(tokens: &[Token], only_formulas: bool) -> Option<Courtesy> {
    let all: Vec<&str> = tokens.iter().map(|token| token.low.as_str()).collect();
    if all.is_empty() {
        return Some(Courtesy::Acknowledgement);
    }
    let row = all.join(" ");
    let formula =
        |(courtesy, rows): &(Courtesy, &str)| rows.split('|').any(|formula| row == formula.trim()).then_some(*courtesy);
    let exact = english::FORMULAS.iter().chain(&french::FORMULAS).find_map(formula);
    let exact = exact.or_else(|| formula(&(Courtesy::Acknowledgement, german::FORMULAS)));
    // `Hi, how are you?`
    let after_greeting = || {
        let rest =
            all.split_first().filter(|(first, _)| english::POLITE[0].1.split_whitespace().any(|w| w == **first))?;
        let row = rest.1.join(" ");
        let formula = |(_, rows): &&(Courtesy, &str)| rows.split('|').any(|formula| row == formula.trim());
        english::FORMULAS.iter().find(formula).map(|(courtesy, _)| *courtesy)
    };
    let exact = exact.or_else(after_greeting);
    if exact.is_some() || only_formulas {
        return exact;
    }
    let polite = [english::POLITE, french::POLITE];
    let of = |word: &str| {
        let has = |list: &str| list.split_whitespace().any(|known| known == word);
        polite.iter().flatten().find_map(|(courtesy, list)| has(list).then_some(*courtesy))
    };
    let fills = |word: &str| {
        [english::AROUND, french::AROUND, english::ADDRESSED].iter().any(|l| l.split_whitespace().any(|w| w == word))
    };
    let found: Vec<Courtesy> = all.iter().filter_map(|word| of(word)).collect();
    let first = found.iter().copied().find(|courtesy| *courtesy != Courtesy::Acknowledgement);
    let kind = first.or_else(|| found.first().copied())?;
    if all.iter().all(|word| of(word).is_some() || fills(word)) {
        return Some(kind);
    }
    // `Hello Anna`: what follows a greeting, thanks or farewell is who is meant.
    let greeted = all.len() <= 3 && of(all[0]).is_some_and(|courtesy| courtesy != Courtesy::Acknowledgement);
    (greeted && tokens[1..].iter().all(|token| token.capital || of(&token.low).is_some())).then_some(kind)
}

/// True for a word of courtesy.
pub(super) fn is_polite(low: &str) -> bool {
    let lists = [english::POLITE, french::POLITE];
    lists.into_iter().flatten().any(|(_, words)| words.split_whitespace().any(|word| word == low))
}
