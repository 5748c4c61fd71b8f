//! Why recall found a memory, in sentences.
//!
//! Said from what the memory and the question have in common, and from the way of the wave that brought most. Place in the flow:
//! recall's answers → **sentences** → a person.

use std::collections::BTreeSet;

use crate::activation::recall::{Evidence, Way};
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
    sentences.extend(way(&found.path, neuron, &read));
    sentences.extend(found.changes.as_ref().map(|changes| {
        let older =
            read(changes.older.as_str()).map_or_else(|| changes.older.to_string(), |older| quoted(&older.concept));
        match changes.by {
            Evidence::Change => format!("newer than {older}, says that it changed"),
            Evidence::Value => format!("newer than {older}, says the same of something else"),
        }
    }));
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
    // `decided` in a question is a word, and no speaker.
    let is_label = name.starts_with(char::is_uppercase) && !question.contains(name);
    (!is_label && !named.is_empty() && named.is_subset(&keys(question)))
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
fn way(path: &[Way], neuron: &Neuron, read: &impl Fn(&str) -> Option<Neuron>) -> Option<String> {
    let (cue, rest) =
        path.split_first().filter(|(cue, _)| cue.via == "cue").map_or((None, path), |(cue, rest)| (Some(cue), rest));
    let mut said: Vec<String> = Vec::new();
    let session = neuron.session.as_ref().map_or_else(String::new, |session| format!(" in session {session}"));
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
            ("feeds_into" | "recalls", Some(before)) => {
                let turn = if step.via == "recalls" { "comes before" } else { "follows" };
                // Turns are of one session: it is said once.
                let session = if said.is_empty() { session.as_str() } else { "" };
                said.push(format!("{turn} {}{session}", quote(before)));
            }
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
    let chain = said.join(", which ");
    (!chain.is_empty()).then_some(chain)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::recall::Found;
    use crate::model::Stamp;

    fn neuron(id: &str, concept: &str, kind: Kind) -> Neuron {
        Neuron::new(id.parse().unwrap(), concept, kind, Stamp::from_unix(1_714_550_400))
    }

    /// What is said of a memory at the end of a way of (what, via).
    fn said(question: &str, concept: &str, path: &[(&str, &'static str)]) -> Vec<String> {
        let mut memory = neuron("m", concept, Kind::Episodic);
        memory.session = Some("walk".to_owned());
        let path = path.iter().map(|(at, via)| Way { at: (*at).to_owned(), via, weight: 1.0, activation: 1.0 });
        let path = path.collect();
        let found = Found {
            id: memory.id.clone(),
            activation: 1.0,
            salience: 0,
            context: 0.0,
            inhibition: 0.0,
            changes: None,
            path,
        };
        let others = [
            neuron("a", "Where is the tea from? I have never seen such leaves.", Kind::Episodic),
            neuron("b", "From the hills.", Kind::Episodic),
            neuron("k", "Kyoto", Kind::Semantic),
        ];
        let read = |id: &str| others.iter().find(|other| other.id.as_str() == id).cloned();
        why(question, &Recalled { found, neuron: memory, copies: Vec::new() }, read)
    }

    #[test]
    fn each_step_of_a_way_has_its_words() {
        let start = [("tea", "cue"), ("a", "text")];
        let a = "\"Where is the tea from? I have never seen…\", which has \"tea\"";
        for (steps, expected) in [
            (&[("m", "feeds_into")][..], format!("follows {a}").replace("\", which", "\" in session walk, which")),
            (&[("m", "recalls")], format!("comes before {a}").replace("\", which", "\" in session walk, which")),
            (&[("k", "name"), ("m", "name")], format!("shares the name \"Kyoto\" with {a}")),
            (&[("m", "name")], format!("shares a name with {a}")),
            (
                &[("b", "feeds_into"), ("m", "feeds_into")],
                format!("follows \"From the hills.\" in session walk, which follows {a}"),
            ),
        ] {
            assert_eq!(said("tea?", "No.", &[&start, steps].concat()), [expected], "{steps:?}");
        }
        assert_eq!(said("x", "No.", &[("m", "session")]), ["other memories of its session fit the question"]);
        assert_eq!(said("x", "No.", &[("x", "cue"), ("m", "meaning")]), ["means nearly what the question means"]);
    }

    #[test]
    fn words_speaker_and_date_are_one_sentence() {
        let path = [("tea", "cue"), ("m", "text")];
        assert_eq!(said("tea", "Good teas.", &path), ["\"teas\" stands in it"]);
        assert_eq!(
            said("What tea did Ben buy in May 2024?", "Ben: Green tea, good tea.", &path),
            [
                "\"Ben\" and \"tea\" stand in it; Ben says it, and the question names Ben; it dates from 2024-05-01, and the question \
              asks for 2024-05"
            ]
        );
        assert_eq!(
            said("What was in March 2023?", "We drank tea in March 2023.", &path)[0],
            "\"March\" and \"2023\" stand in it; it speaks of 2023-03, which the question asks for"
        );
    }
}
