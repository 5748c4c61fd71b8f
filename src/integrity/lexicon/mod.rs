//! Lexicons: one data file of patterns per language, compiled once. Each pattern carries its own examples.
//!
//! A match of `pattern` that overlaps a match of `unless` does not count: the place for known false positives.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::integrity::lang::Lang;
use crate::integrity::split;

/// What a pattern is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// An observing utterance, silence included.
    Observation,
    /// Talk of being a model.
    SelfReference,
    /// An apology.
    Apology,
    /// A statement without reserve.
    Assertive,
    /// A statement with reserve.
    Hedge,
    /// A refusal to do what was asked.
    Refusal,
    /// A way forward that is offered.
    Guidance,
}

impl Label {
    /// All labels, in the order of the data files.
    pub const ALL: [Self; 7] = [
        Self::Observation,
        Self::SelfReference,
        Self::Apology,
        Self::Assertive,
        Self::Hedge,
        Self::Refusal,
        Self::Guidance,
    ];
}

/// A pattern as written in a data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// A regular expression that counts.
    pub pattern: String,
    /// A regular expression that excuses each match it overlaps.
    #[serde(default)]
    pub unless: Option<String>,
    /// Sentences that match.
    pub positive: Vec<String>,
    /// Sentences that do not.
    pub negative: Vec<String>,
}

/// A data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The licence of the patterns.
    pub licence: String,
    /// See [`Label::Observation`].
    pub observation: Vec<Entry>,
    /// See [`Label::SelfReference`].
    pub self_reference: Vec<Entry>,
    /// See [`Label::Apology`].
    pub apology: Vec<Entry>,
    /// See [`Label::Assertive`].
    pub assertive: Vec<Entry>,
    /// See [`Label::Hedge`].
    pub hedge: Vec<Entry>,
    /// See [`Label::Refusal`].
    pub refusal: Vec<Entry>,
    /// See [`Label::Guidance`].
    pub guidance: Vec<Entry>,
    /// Set phrases: thanks, praise, offers of service. They state nothing.
    pub formula: Vec<Entry>,
    /// Orders: behind a refusal they are a way forward.
    pub order: Vec<Entry>,
    /// Ritual sentences, for the similarity to templates.
    pub templates: Vec<String>,
}

impl Source {
    /// Returns the entries of a label.
    pub fn entries(&self, label: Label) -> &[Entry] {
        match label {
            Label::Observation => &self.observation,
            Label::SelfReference => &self.self_reference,
            Label::Apology => &self.apology,
            Label::Assertive => &self.assertive,
            Label::Hedge => &self.hedge,
            Label::Refusal => &self.refusal,
            Label::Guidance => &self.guidance,
        }
    }
}

/// An entry whose expressions are compiled.
#[derive(Debug)]
struct Pattern {
    counts: Regex,
    excuses: Option<Regex>,
}

impl Pattern {
    fn new(entry: &Entry) -> Result<Self, regex::Error> {
        let excuses = entry.unless.as_deref().map(Regex::new).transpose()?;
        Ok(Self { counts: Regex::new(&entry.pattern)?, excuses })
    }

    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans: Vec<_> = self.counts.find_iter(text).map(|found| found.range()).collect();
        if let Some(excuses) = self.excuses.as_ref().filter(|_| !spans.is_empty()) {
            let excused: Vec<_> = excuses.find_iter(text).map(|found| found.range()).collect();
            let mut next = 0;
            spans.retain(|span| {
                next += excused[next..].iter().take_while(|other| other.end <= span.start).count();
                excused.get(next).is_none_or(|other| other.start >= span.end)
            });
        }
        spans
    }
}

/// The compiled patterns of a language.
#[derive(Debug)]
pub struct Lexicon {
    sets: [Vec<Pattern>; 7],
    formulas: Vec<Pattern>,
    orders: Vec<Pattern>,
    templates: Vec<String>,
}

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LexiconError {
    /// The file is no JSON of the expected shape.
    #[error("the lexicon is malformed: {0}")]
    Shape(#[from] serde_json::Error),
    /// A pattern is no regular expression.
    #[error("a pattern of the lexicon does not compile: {0}")]
    Pattern(#[from] regex::Error),
    /// A pattern has no positive or no negative example.
    #[error("pattern {0} lacks a positive or a negative example")]
    Example(String),
}

impl Lexicon {
    /// Reads and compiles a data file.
    pub fn parse(json: &str) -> Result<Self, LexiconError> {
        let source: Source = serde_json::from_str(json)?;
        let compiled = |entries: &[Entry]| -> Result<Vec<Pattern>, LexiconError> {
            let lacking = entries.iter().find(|entry| entry.positive.is_empty() || entry.negative.is_empty());
            match lacking {
                Some(entry) => Err(LexiconError::Example(entry.pattern.clone())),
                None => Ok(entries.iter().map(Pattern::new).collect::<Result<_, _>>()?),
            }
        };
        let mut sets: [Vec<Pattern>; 7] = Default::default();
        for label in Label::ALL {
            sets[label as usize] = compiled(source.entries(label))?;
        }
        let (formulas, orders) = (compiled(&source.formula)?, compiled(&source.order)?);
        Ok(Self { sets, formulas, orders, templates: source.templates })
    }

    /// Returns the spans that are evidence of a label, in order; overlapping ones are one.
    pub fn spans(&self, label: Label, text: &str) -> Vec<Range<usize>> {
        let mut spans: Vec<_> = self.sets[label as usize].iter().flat_map(|pattern| pattern.spans(text)).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        merged
    }

    /// Returns whether a text has evidence of a label.
    pub fn has(&self, label: Label, text: &str) -> bool {
        self.sets[label as usize].iter().any(|pattern| !pattern.spans(text).is_empty())
    }

    /// Returns whether a sentence is a set phrase, which states nothing.
    pub fn is_formula(&self, sentence: &str) -> bool {
        self.formulas.iter().any(|pattern| !pattern.spans(sentence).is_empty())
    }

    /// Returns whether a sentence is an order.
    pub fn is_order(&self, sentence: &str) -> bool {
        self.orders.iter().any(|pattern| !pattern.spans(sentence).is_empty())
    }

    /// Returns whether a text that refuses offers a way forward, in words of guidance or by an order.
    pub fn guides(&self, prose: &str, lang: Lang) -> bool {
        let orders = || split::sentences(prose, lang).into_iter().any(|sentence| self.is_order(sentence));
        self.has(Label::Guidance, prose) || orders()
    }

    /// Returns the ritual sentences.
    pub fn templates(&self) -> &[String] {
        &self.templates
    }
}

const JA: &str = include_str!("ja.json");
const EN: &str = include_str!("en.json");
const FR: &str = include_str!("fr.json");

/// Returns the data file of a language. Chinese has none and gets the English one.
pub fn source_of(lang: Lang) -> &'static str {
    match lang {
        Lang::Ja => JA,
        Lang::En | Lang::Zh => EN,
        Lang::Fr => FR,
    }
}

/// Returns the lexicon of a language, compiled at first use.
pub fn lexicon_of(lang: Lang) -> &'static Lexicon {
    static COMPILED: [OnceLock<Lexicon>; 3] = [const { OnceLock::new() }; 3];
    let index = match lang {
        Lang::Ja => 0,
        Lang::En | Lang::Zh => 1,
        Lang::Fr => 2,
    };
    COMPILED[index].get_or_init(|| {
        Lexicon::parse(source_of(lang)).expect("invariant: the tests parse each data file of the crate")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_agrees_with_its_examples() {
        let mut faults = Vec::new();
        for lang in [Lang::Ja, Lang::En, Lang::Fr] {
            let source: Source = serde_json::from_str(source_of(lang)).unwrap();
            assert!(!source.licence.is_empty() && source.templates.len() >= 10);
            for label in Label::ALL {
                assert!(!source.entries(label).is_empty(), "{lang:?} {label:?}");
            }
            let others = [("formula", &source.formula), ("order", &source.order)];
            let labelled = Label::ALL.map(|label| (format!("{label:?}"), source.entries(label)));
            let others = others.map(|(name, entries)| (name.to_owned(), entries.as_slice()));
            for (label, entries) in labelled.into_iter().chain(others) {
                for entry in entries {
                    let pattern = match Pattern::new(entry) {
                        Ok(pattern) => pattern,
                        Err(error) => {
                            faults.push(format!("{lang:?} {label} {error}"));
                            continue;
                        }
                    };
                    assert!(!entry.positive.is_empty() && !entry.negative.is_empty(), "{}", entry.pattern);
                    assert!(!pattern.counts.is_match(""), "{} matches nothing", entry.pattern);
                    let wrong = |texts: &[String], expected: bool| -> Vec<String> {
                        texts.iter().filter(|text| pattern.spans(text).is_empty() == expected).cloned().collect()
                    };
                    for text in wrong(&entry.positive, true) {
                        faults.push(format!("{lang:?} {label} misses {text}"));
                    }
                    for text in wrong(&entry.negative, false) {
                        faults.push(format!("{lang:?} {label} takes {text}"));
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn known_false_positives_of_the_seed_are_negatives() {
        let cases = [(Lang::Ja, "見ている"), (Lang::Ja, "気づ"), (Lang::En, "I see"), (Lang::En, "notice")];
        for (lang, word) in cases {
            let source: Source = serde_json::from_str(source_of(lang)).unwrap();
            let has = source.observation.iter().flat_map(|entry| &entry.negative).any(|text| text.contains(word));
            assert!(has, "{word}");
        }
    }

    #[test]
    fn overlapping_spans_are_one() {
        let lexicon = lexicon_of(Lang::En);
        assert_eq!(lexicon.spans(Label::Apology, "Oh, I'm so sorry. Sorry, my bad.").len(), 3);
        assert!(Lexicon::parse("{}").is_err());
    }
}
