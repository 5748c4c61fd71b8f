//! `[review]`: which runs of agents wait for a person, and who may decide. What the settings may say of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::capabilities::OPERATIONS;
use super::models::KnownMind;
use super::neuron::Kind;
use crate::limits;

/// `[review]`: which runs wait for a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Review {
    /// Addresses of people who may decide, where a rule names none, or `github:LOGIN` (`gitlab:`, `forgejo:`, `gitea:`) of those who may on a
    /// forge. Empty: everybody who can write here, and nobody on a forge.
    pub reviewers: Vec<String>,
    /// Addresses of bots whose word on who approved something on a forge counts. Empty: no such word counts.
    pub bots: Vec<String>,
    /// The document of the council that decides on runs that wait, a file of main: `council.json` or `councils/NAME.json`. Empty: people alone decide.
    pub council: String,
    /// The rules, in order: the first that fits a run decides.
    pub rule: Vec<ReviewRule>,
    /// The documents of councils that are named here, as the tree has them that these settings were read from, by path. No part of the settings.
    #[serde(skip)]
    pub seats: BTreeMap<String, CouncilSeats>,
}

/// A document of a council's members, as one state of main has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouncilSeats {
    /// Its path and blob, `council.json@BLOB`.
    pub source: String,
    /// Its text.
    pub text: String,
    /// The models of that state's settings.
    pub models: BTreeMap<String, KnownMind>,
}

/// `[[review.rule]]`: a run that fits all conditions is held, or lands. A condition that is left out fits every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewRule {
    /// The rule's name, as `status` and the trailer `Review:` say it: small letters, digits and `-`.
    pub name: String,
    /// What becomes of the run.
    pub then: Then,
    /// Agents; `*` at the end stands for any ending.
    pub agents: Vec<String>,
    /// Classes of origins, such as `http` or `mcp`.
    pub origins: Vec<String>,
    /// Regions: ids of neurons that the run changes or makes, `*` at the end stands for any ending. One is enough.
    pub neurons: Vec<String>,
    /// Types of neurons that the run changes or makes. One is enough.
    pub types: Vec<String>,
    /// Operations of its delta, such as `reword`, `retype` and `archive`: what corrects instead of adding.
    pub operations: Vec<String>,
    /// The run changes or makes at least so many neurons.
    pub at_least: Option<usize>,
    /// The run expects less than that of itself, 0..=1; one that predicts nothing expects 0.5.
    pub below: Option<f64>,
    /// Addresses of people who may decide; empty: those of `review.reviewers`.
    pub reviewers: Vec<String>,
    /// The council that decides; empty: that of `review.council`, unless the rule names reviewers of its own.
    pub council: String,
}

/// What becomes of a run that a rule fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    /// It waits on its branch for a person.
    #[default]
    Wait,
    /// It lands, unless its origin asks for review.
    Land,
}

impl Review {
    /// Whether a rule asks for types.
    pub fn looks_at_types(&self) -> bool {
        self.rule.iter().any(|rule| !rule.types.is_empty())
    }

    /// Checks names and bounds.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.rule.len() > limits::REVIEW_RULES {
            return Err(format!("[[review.rule]]: more than {} rules", limits::REVIEW_RULES));
        }
        for (index, rule) in self.rule.iter().enumerate() {
            let name = &rule.name;
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || name.len() > limits::ID_BYTES || !name.chars().all(good) {
                return Err(format!(
                    "[[review.rule]] {}: name {name:?} is not of small letters, digits and '-'",
                    index + 1
                ));
            }
            if self.rule[..index].iter().any(|other| other.name == *name) {
                return Err(format!("[[review.rule]]: two rules are called {name:?}"));
            }
            if let Some(below) = rule.below.filter(|below| !(0.0..=1.0).contains(below)) {
                return Err(format!("[[review.rule]] {name}: below = {below} is not between 0 and 1"));
            }
            if let Some(word) = rule.operations.iter().find(|word| !OPERATIONS.contains(&word.as_str())) {
                return Err(format!("[[review.rule]] {name}: there is no operation {word:?}"));
            }
            let is_type = |word: &String| Kind::ALL.iter().any(|kind| matches(word, kind.as_str()));
            if let Some(word) = rule.types.iter().find(|word| !is_type(word)) {
                return Err(format!("[[review.rule]] {name}: there is no type {word:?}"));
            }
            let mut words = rule.agents.iter().chain(&rule.origins).chain(&rule.neurons).chain(&rule.types);
            if words.any(|word| word.trim().is_empty()) {
                return Err(format!("[[review.rule]] {name}: an empty word fits nothing"));
            }
        }
        for path in self.councils() {
            let is_document = path == "council.json" || path.starts_with("councils/") && path.ends_with(".json");
            if !is_document {
                return Err(format!("[review]: council = {path:?} is neither council.json nor councils/NAME.json"));
            }
        }
        // What a council leaves to people, somebody has to decide.
        let names = std::iter::once(None).chain(self.rule.iter().map(|rule| Some(rule.name.as_str())));
        for name in names {
            if self.council_of(name).is_some() && self.reviewers_of(name).is_empty() {
                return Err(
                    "[review]: where a council decides, `reviewers` names the people to whom it leaves the rest"
                        .to_owned(),
                );
            }
        }
        let mut people =
            self.reviewers.iter().chain(&self.bots).chain(self.rule.iter().flat_map(|rule| &rule.reviewers));
        // `anna@example.org`, or `github:anna` on a forge.
        let odd = people.find(|name| !name.contains(['@', ':']) || name.chars().any(|c| c.is_whitespace() || c == '<'));
        odd.map_or(Ok(()), |name| Err(format!("[review]: {name:?} is no address of a person, nor FORGE:LOGIN")))
    }

    /// Whether it names that person as one who may decide on anything.
    pub fn names(&self, address: &str) -> bool {
        let all = self.reviewers.iter().chain(&self.bots).chain(self.rule.iter().flat_map(|rule| &rule.reviewers));
        all.into_iter().any(|name| name == address)
    }

    /// Whether it names anybody who may decide.
    pub fn names_reviewers(&self) -> bool {
        !self.reviewers.is_empty() || self.rule.iter().any(|rule| !rule.reviewers.is_empty())
    }

    /// The people who may decide on some run, by `reviewers` or by a rule, each once in the order of their addresses. They alone say how councils
    /// turned out, and close those that wait; empty: everybody does.
    pub fn deciders(&self) -> Vec<&str> {
        let all: BTreeSet<&str> = self
            .reviewers
            .iter()
            .chain(self.rule.iter().flat_map(|rule| &rule.reviewers))
            .map(String::as_str)
            .collect();
        all.into_iter().collect()
    }

    /// Whether a person may decide on some run, as everybody may where nobody is named.
    pub fn lets_decide(&self, address: &str) -> bool {
        let all = self.deciders();
        all.is_empty() || all.contains(&address)
    }

    /// The documents of councils that are named.
    pub fn councils(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.council).chain(self.rule.iter().map(|rule| &rule.council));
        all.map(String::as_str).filter(|path| !path.is_empty())
    }

    /// The document of the council that decides on a run that waits by the rule of that name; `None`: people alone decide.
    pub fn council_of(&self, rule: Option<&str>) -> Option<&str> {
        let named = rule.and_then(|name| self.rule.iter().find(|rule| rule.name == name));
        let path = match named {
            Some(rule) if !rule.council.is_empty() => &rule.council,
            Some(rule) if !rule.reviewers.is_empty() => return None,
            _ => &self.council,
        };
        Some(path.as_str()).filter(|path| !path.is_empty())
    }

    /// The members of that council, as main has them; `None`: people alone decide, or there is no such file.
    pub fn seats_of(&self, rule: Option<&str>) -> Option<&CouncilSeats> {
        self.council_of(rule).and_then(|path| self.seats.get(path))
    }

    /// The people who may decide on a run that waits by the rule of that name; empty: everybody.
    pub fn reviewers_of(&self, rule: Option<&str>) -> &[String] {
        let named = rule.and_then(|name| self.rule.iter().find(|rule| rule.name == name));
        match named {
            Some(rule) if !rule.reviewers.is_empty() => &rule.reviewers,
            _ => &self.reviewers,
        }
    }
}

/// Whether a word is what a pattern says; `*` at its end stands for any ending.
pub fn matches(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;

    #[test]
    fn a_rule_that_cannot_be_meant_is_refused() {
        let rule = |line: &str| format!("[[review.rule]]\nname = \"core\"\n{line}\n");
        assert!(Settings::read(&rule("agents = [\"mem*\"]\nreviewers = [\"anna@example.org\"]"), &[]).is_ok());
        for text in [
            rule("below = 1.5"),
            rule("agents = [\"\"]"),
            rule("types = [\"sematic\"]"),
            rule("operations = [\"rewrod\"]"),
            rule("reviewers = [\"Anna <anna@example.org>\"]"),
            rule("then = \"perhaps\""),
            rule("size = 3"),
            rule("").repeat(2),
            "[[review.rule]]\nname = \"Two words\"\n".to_owned(),
            "[review]\ncouncil = \"../council.json\"\nreviewers = [\"a@b.c\"]\n".to_owned(),
            "[review]\ncouncil = \"council.json\"\n".to_owned(),
            rule("council = \"council.json\""),
        ] {
            assert!(Settings::read(&text, &[]).is_err(), "{text}");
        }
    }

    #[test]
    fn deciders_are_the_reviewers_of_all_rules() {
        let deciders = |text: &str| {
            let settings = Settings::read(text, &[]).unwrap();
            settings.review.deciders().into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let rule = "[[review.rule]]\nname = \"a\"\nreviewers = [\"nora@b.c\", \"anna@b.c\"]\n";
        assert_eq!(deciders(""), [""; 0]);
        assert_eq!(deciders("[review]\nbots = [\"bot@b.c\"]\n"), [""; 0], "a bot decides nothing");
        assert_eq!(deciders(rule), ["anna@b.c", "nora@b.c"]);
        assert_eq!(
            deciders(&format!("[review]\nreviewers = [\"zoe@b.c\", \"anna@b.c\"]\n{rule}")),
            ["anna@b.c", "nora@b.c", "zoe@b.c"]
        );
    }

    #[test]
    fn council_of_a_rule_with_reviewers_of_its_own_is_none() {
        let text = "[review]\nreviewers = [\"a@b.c\"]\ncouncil = \"council.json\"\n\
                    [[review.rule]]\nname = \"all\"\n\
                    [[review.rule]]\nname = \"people\"\nreviewers = [\"d@e.f\"]\n\
                    [[review.rule]]\nname = \"both\"\nreviewers = [\"d@e.f\"]\ncouncil = \"councils/x.json\"\n";
        let settings = Settings::read(text, &[]).unwrap();
        let of = |rule| settings.review.council_of(rule);
        assert_eq!(of(None), Some("council.json"));
        assert_eq!(of(Some("all")), Some("council.json"));
        assert_eq!(of(Some("people")), None);
        assert_eq!(of(Some("both")), Some("councils/x.json"));
    }
}
