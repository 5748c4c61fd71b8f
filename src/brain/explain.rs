//! Why recall found a memory, in sentences.
//!
//! Said from what the memory and the question have in common, and from the way of the wave that brought most. Place in the flow:
//! recall's answers → **sentences** → a person.

use std::collections::BTreeSet;

use crate::activation::recall::Way;
use crate::cycle::recall::Recalled;
use crate::model::{Kind, Neuron};
use crate::text::date::{self, Period};
use crate::text::{self, Shared, shared};

/// Most characters of another memory that is quoted.
const QUOTED_CHARS: usize = 40;
/// Most words that are named.
const NAMED_WORDS: usize = 6;

/// Why a question found this. `read` gives the memories on the way.
pub(super) fn why(question: &str, recalled: &Recalled, read: impl Fn(&str) -> Option<Neuron>) -> Vec<String> {
    let (neuron, found) = (&recalled.neuron, &recalled.found);
    let mut reasons = Vec::new();
    reasons.extend(words(question, neuron));
    reasons.extend(speaker(question, neuron));
    reasons.extend(dates(question, neuron));
    let mut sentences = vec![reasons.join("; ")];
    sentences.extend(way(&found.path, neuron, read));
    if found.context > 0.0 {
        sentences.push("another answer supports it".to_owned());
    }
    if found.inhibition > 0.0 {
        sentences.push("another answer speaks against it".to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// `"green" and "tea" stand in it`.
fn words(question: &str, neuron: &Neuron) -> Option<String> {
    let mut named: BTreeSet<String> = BTreeSet::new();
    let mut words: Vec<String> = Vec::new();
    for Shared { range, stem } in shared(question, &neuron.concept) {
        if named.insert(stem) {
            words.push(format!("\"{}\"", &neuron.concept[range]));
        }
    }
    words.truncate(NAMED_WORDS);
    let verb = if words.len() == 1 { "stands" } else { "stand" };
    (!words.is_empty()).then(|| format!("{} {verb} in it", listed(&words)))
}

fn speaker(question: &str, neuron: &Neuron) -> Option<String> {
    let (name, _) = text::speaker(&neuron.concept)?;
    let keys = |text: &str| text::words(text).into_iter().map(|word| word.key).collect::<BTreeSet<_>>();
    let named = keys(name);
    (!named.is_empty() && named.is_subset(&keys(question)))
        .then(|| format!("{name} says it, and the question names {name}"))
}

/// `it dates from 2024-05, as asked`.
fn dates(question: &str, neuron: &Neuron) -> Option<String> {
    let day = date::day_of(neuron.created_at.unix())?;
    let spoken = date::periods(&neuron.concept, day);
    date::asked(question).into_iter().find_map(|asked| {
        if asked.meets(&Period::day(day)) {
            return Some(format!("it dates from {day}, and the question asks for {asked}"));
        }
        let speaks = spoken.iter().any(|period| asked.meets(period));
        speaks.then(|| format!("it speaks of {asked}, which the question asks for"))
    })
}

/// The steps of the strongest wave, from the memory back to the cue.
fn way(path: &[Way], neuron: &Neuron, read: impl Fn(&str) -> Option<Neuron>) -> Option<String> {
    let (cue, rest) =
        path.split_first().filter(|(cue, _)| cue.via == "cue").map_or((None, path), |(cue, rest)| (Some(cue), rest));
    let mut said: Vec<String> = Vec::new();
    let mut steps = rest.iter().enumerate().rev().peekable();
    while let Some((at, step)) = steps.next() {
        let before = at.checked_sub(1).map(|before| &rest[before]);
        let quote = |way: &Way| read(&way.at).map_or_else(|| way.at.clone(), |other| quoted(&other.concept));
        match (step.via, before) {
            ("name", Some(before)) => {
                // A name that has a neuron is a step of its own, with the memory that shares it before it.
                let is_concept = read(&before.at).is_some_and(|neuron| neuron.kind == Kind::Semantic);
                let other = if is_concept { at.checked_sub(2).map(|other| &rest[other]) } else { Some(before) };
                let name = if is_concept { format!("the name {}", quote(before)) } else { "a name".to_owned() };
                said.extend(other.map(|other| format!("shares {name} with {}", quote(other))));
                if is_concept {
                    steps.next();
                }
            }
            ("feeds_into", Some(before)) => said.push(format!("follows {}", quote(before))),
            ("recalls", Some(before)) => said.push(format!("comes before {}", quote(before))),
            ("text", None) if said.is_empty() => {}
            ("session", None) => said.push("other memories of its session fit the question".to_owned()),
            ("meaning", None) => said.push("means nearly what the question means".to_owned()),
            ("title", None) => said.push("has a title that the question names".to_owned()),
            ("speaker", None) => said.push("is said by the person whom the question names".to_owned()),
            ("date", None) => said.extend(cue.map(|cue| format!("belongs to {}", cue.at)).filter(|_| !said.is_empty())),
            (_, None) => said.extend(cue.map(|cue| format!("has \"{}\"", cue.at)).filter(|_| !said.is_empty())),
            (link, Some(before)) => said.push(format!("has the connection {link} from {}", quote(before))),
        }
    }
    let in_session = neuron.session.as_ref().map(|session| format!(" in session {session}"));
    let turned = said.iter().any(|step| step.starts_with("follows ") || step.starts_with("comes before "));
    let chain = said.join(", which ");
    (!chain.is_empty())
        .then(|| format!("{chain}{}", in_session.filter(|_| turned && said.len() == 1).unwrap_or_default()))
}

/// The beginning of a text, in quotation marks.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(QUOTED_CHARS).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("\"{}{cut}\"", short.trim_end())
}

fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}
