//! `[review]`: which runs of agents wait for a person, and who may decide. What the settings may say of it.

use serde::{Deserialize, Serialize};

use super::capabilities::OPERATIONS;
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
    /// The rules, in order: the first that fits a run decides.
    pub rule: Vec<ReviewRule>,
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
            let mut words = rule.agents.iter().chain(&rule.origins).chain(&rule.neurons).chain(&rule.types);
            if words.any(|word| word.trim().is_empty()) {
                return Err(format!("[[review.rule]] {name}: an empty word fits nothing"));
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

    /// The people who may decide on a run that waits by the rule of that name; empty: everybody.
    pub fn reviewers_of(&self, rule: Option<&str>) -> &[String] {
        let named = rule.and_then(|name| self.rule.iter().find(|rule| rule.name == name));
        match named {
            Some(rule) if !rule.reviewers.is_empty() => &rule.reviewers,
            _ => &self.reviewers,
        }
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
            rule("reviewers = [\"Anna <anna@example.org>\"]"),
            rule("then = \"perhaps\""),
            rule("size = 3"),
            rule("").repeat(2),
            "[[review.rule]]\nname = \"Two words\"\n".to_owned(),
        ] {
            assert!(Settings::read(&text, &[]).is_err(), "{text}");
        }
    }
}
