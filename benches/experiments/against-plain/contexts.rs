//! The three contexts of a question, as lists of turns in the order in which they are put in.

use std::collections::HashMap;

use anyhow::Result;
use git_brain::brain::{Brain, RecallRequest};
use git_brain::text;

/// Who chooses the turns.
pub const WAYS: [&str; 3] = ["the brain's recall", "the last turns", "keywords (BM25)"];

/// One turn of a conversation.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The label that evidence is named by, such as `D3:12`.
    pub id: String,
    pub text: String,
    pub tokens: usize,
}

/// What a way puts into a context of a question.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub turns: Vec<Turn>,
}

impl Context {
    pub fn tokens(&self) -> usize {
        self.turns.iter().map(|turn| turn.tokens).sum()
    }

    /// How many of some turns are in it.
    pub fn has(&self, gold: &[String]) -> usize {
        gold.iter().filter(|id| self.turns.iter().any(|turn| turn.id == **id)).count()
    }
}

/// The first of a list that have no more tokens than that together: the rule of `recall --tokens`, for all three.
pub fn fitting<'t>(turns: impl IntoIterator<Item = &'t Turn>, budget: usize) -> Context {
    let mut tokens = 0;
    let fits = turns.into_iter().take_while(|turn| {
        tokens += turn.tokens;
        tokens <= budget
    });
    Context { turns: fits.cloned().collect() }
}

/// A conversation's turns, and what is needed to rank them by keywords.
pub struct Turns {
    /// Oldest first.
    pub all: Vec<Turn>,
    /// How often each stem stands in each turn.
    counts: Vec<HashMap<String, usize>>,
    /// In how many turns each stem stands.
    documents: HashMap<String, usize>,
    mean_length: f64,
}

/// BM25 (Robertson and Zaragoza 2009), with the constants for short texts that recall has as well.
const K1: f64 = 0.9;
const B: f64 = 0.4;

fn stems(text: &str) -> Vec<String> {
    text::words(text).into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
}

impl Turns {
    /// From the labels and texts of a conversation.
    pub fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all: Vec<Turn> =
            texts.into_iter().map(|(id, text)| Turn { tokens: text::tokens(&text), id, text }).collect();
        all.sort_by_key(|turn| place(&turn.id));
        let (mut counts, mut documents, mut length) = (Vec::new(), HashMap::<String, usize>::new(), 0);
        for turn in &all {
            let mut own = HashMap::<String, usize>::new();
            stems(&turn.text).into_iter().for_each(|stem| *own.entry(stem).or_default() += 1);
            length += own.values().sum::<usize>();
            own.keys().for_each(|stem| *documents.entry(stem.clone()).or_default() += 1);
            counts.push(own);
        }
        let mean_length = length as f64 / all.len().max(1) as f64;
        Self { all, counts, documents, mean_length }
    }

    /// The brain's own choice: what recall answers within so many tokens.
    pub fn recalled(&self, brain: &Brain, question: &str, most: usize) -> Result<Vec<Turn>> {
        let request = RecallRequest {
            query: question.to_owned(),
            top: Some(self.all.len()),
            tokens: Some(most),
            ..RecallRequest::default()
        };
        let answers = brain.recall(&request)?.results;
        let turn = |answer: git_brain::activation::recall::Answer| {
            let tokens = text::tokens(&answer.concept);
            Turn { id: answer.source.unwrap_or_default(), text: answer.concept, tokens }
        };
        Ok(answers.into_iter().map(turn).collect())
    }

    /// Newest first.
    pub fn last(&self) -> impl Iterator<Item = &Turn> {
        self.all.iter().rev()
    }

    /// Best first, by BM25 with the words of the project: stems, without function words. What shares no word is left out.
    pub fn by_keywords(&self, question: &str) -> Vec<&Turn> {
        let mut asked = stems(question);
        asked.sort_unstable();
        asked.dedup();
        let all = self.all.len() as f64;
        let score = |counts: &HashMap<String, usize>| -> f64 {
            let length = counts.values().sum::<usize>() as f64;
            let of = |stem: &String| {
                let often = *counts.get(stem)? as f64;
                let with = self.documents[stem] as f64;
                let rare = ((all - with + 0.5) / (with + 0.5) + 1.0).ln();
                Some(rare * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length / self.mean_length)))
            };
            asked.iter().filter_map(of).sum()
        };
        let mut scored: Vec<(f64, &Turn)> = self.counts.iter().map(score).zip(&self.all).collect();
        scored.retain(|(score, _)| *score > 0.0);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().map(|(_, turn)| turn).collect()
    }
}

/// `D3:12` is the twelfth turn of the third session.
fn place(id: &str) -> (u32, u32) {
    let (session, turn) = id.trim_start_matches('D').split_once(':').unwrap_or_default();
    (session.parse().unwrap_or(u32::MAX), turn.parse().unwrap_or(u32::MAX))
}
