//! `[chain]`: the reflexive chain, by which a question is answered in steps. What the settings may say of it.

use serde::{Deserialize, Serialize};

use crate::limits;

/// `[chain]`: the reflexive chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chain {
    /// Most calls of models for one answer, all steps together, 1 to 64. One is always kept for the last step.
    pub turns: u32,
    /// Characters from which on a message is long, and answered by all steps.
    pub long: u32,
    /// Categories of messages that are answered by all steps.
    pub categories: Vec<String>,
    /// Words and phrases that ask for all steps; `*` at the end stands for any ending. Case and accents do not matter.
    pub keywords: Vec<String>,
    /// The same, for what asks for tools.
    pub tools: Vec<String>,
    /// Folders that tools may see, whole paths or `~/…`. None: no tool sees a file. In `brain.toml`: inert until trusted.
    pub roots: Vec<String>,
    /// The steps, in order.
    pub step: Vec<ChainStep>,
}

/// `[[chain.step]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainStep {
    /// The step's name, shown on its badge.
    pub name: String,
    /// The `[models.NAME]` that thinks.
    pub model: String,
    /// What it is to do.
    pub role: Role,
    /// Most calls of the model, 1 to 64. The last of them is made without tools, to say what was found.
    pub turns: u32,
}

/// What a step of the chain is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Gather what is needed, with tools.
    Research,
    /// Put together what was gathered, and conclude.
    Analysis,
    /// Check the answer, and put it right.
    Review,
}

impl Default for Chain {
    fn default() -> Self {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            turns: limits::CHAIN_TURNS,
            long: limits::CHAIN_LONG_CHARS,
            categories: list(&["code", "archi", "data-analyst", "raisonnement", "reasoning"]),
            keywords: list(&KEYWORDS),
            tools: list(&TOOL_WORDS),
            roots: Vec::new(),
            step: Vec::new(),
        }
    }
}

const KEYWORDS: [&str; 16] = [
    "analys*",
    "analyz*",
    "compar*",
    "détail*",
    "cherche et explique",
    "search and explain",
    "find and explain",
    "in depth",
    "en profondeur",
    "step by step",
    "étape par étape",
    "分析",
    "比較",
    "詳し",
    "詳細",
    "調べて説明",
];

const TOOL_WORDS: [&str; 16] = [
    "query_db",
    "query_network",
    "pipeline",
    "list_dir",
    "read_file",
    "write_file",
    "edit_file",
    "read_neuron",
    "file",
    "files",
    "folder",
    "folders",
    "fichier*",
    "dossier*",
    "ファイル",
    "フォルダ",
];

impl Chain {
    /// Checks bounds and names.
    pub(super) fn check(&self) -> Result<(), String> {
        let most = limits::CHAIN_TURNS_MAX;
        let in_bounds = |turns: u32| (1..=most).contains(&turns);
        if !in_bounds(self.turns) {
            return Err(format!("chain.turns = {} is not between 1 and {most}", self.turns));
        }
        if self.step.len() > limits::CHAIN_STEPS {
            return Err(format!("[[chain.step]] has more than {} steps", limits::CHAIN_STEPS));
        }
        for (index, step) in self.step.iter().enumerate() {
            let name = &step.name;
            let good = |c: char| !c.is_control() && !"[]▸".contains(c);
            if name.trim().is_empty() || name.len() > limits::ID_BYTES || !name.chars().all(good) {
                return Err(format!("[[chain.step]] {}: name {name:?} is no name for a badge", index + 1));
            }
            if !in_bounds(step.turns) {
                return Err(format!("[[chain.step]] {name}: turns = {} is not between 1 and {most}", step.turns));
            }
            if self.step[..index].iter().any(|other| other.name == *name) {
                return Err(format!("[[chain.step]]: two steps are called {name:?}"));
            }
        }
        let mut words = self.keywords.iter().chain(&self.tools).chain(&self.categories);
        if words.any(|word| word.trim_end_matches('*').trim().is_empty()) {
            return Err("chain: an empty word would match every message".to_owned());
        }
        let relative = self.roots.iter().find(|root| !root.starts_with('/') && !root.starts_with("~/"));
        relative.map_or(Ok(()), |root| Err(format!("chain.roots: {root:?} is not a whole path, nor ~/…")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;

    #[test]
    fn a_chain_that_could_not_run_is_refused() {
        let step = |name: &str, role: &str, turns: &str| {
            format!("[[chain.step]]\nname = \"{name}\"\nmodel = \"m\"\nrole = \"{role}\"\nturns = {turns}\n")
        };
        assert!(Settings::read(&step("OL1", "research", "4"), &[]).is_ok());
        for text in [
            step("OL1", "cook", "4"),
            step("", "research", "4"),
            step("a]b", "research", "4"),
            step("OL1", "research", "0"),
            step("OL1", "research", "65"),
            step("OL1", "research", "1") + &step("OL1", "review", "1"),
            "[chain]\nturns = 0\n".to_owned(),
            "[chain]\nturns = 65\n".to_owned(),
            "[chain]\nkeywords = [\"*\"]\n".to_owned(),
            "[chain]\nroots = [\"docs\"]\n".to_owned(),
        ] {
            assert!(Settings::read(&text, &[]).is_err(), "{text}");
        }
    }
}
