//! Does use wear memory out? Learning recalls of every second question, again and again, then the quality of the others.
//!
//! In memory and by the same rules: the operations that `recall --learn` would apply, one recall an hour, or all within a
//! moment, the worst case: nothing decays in between.

use std::collections::HashMap;

use anyhow::{Context, Result};
use git_brain::activation::recall::{Filters, Method, answer};
use git_brain::activation::{Snapshot, learn};
use git_brain::brain::{Brain, World};
use git_brain::delta::Operation;
use git_brain::model::{Neuron, NeuronId, Settings, Stamp};

use crate::data::Corpus;
use crate::{Found, score};

/// Prints the quality of questions that were never asked, before and after `times` learning recalls of the others.
pub fn measure(mut corpora: Vec<Corpus>, times: usize) -> Result<()> {
    println!(
        "\n| LoCoMo, questions that are not asked while learning | @5 | @10 | @10, category 1 |\n|---|---:|---:|---:|"
    );
    let settings = Settings::default();
    let variant = (String::new(), Method::default(), settings.clone());
    let (mut before, mut hourly, mut at_once) = (Found::default(), Found::default(), Found::default());
    for corpus in &mut corpora {
        let mut used = Vec::new();
        let mut others = Vec::new();
        for (at, question) in std::mem::take(&mut corpus.questions).into_iter().enumerate() {
            if at % 2 == 0 { used.push(question) } else { others.push(question) }
        }
        corpus.questions = others;
        score(corpus, &variant, [5, 10], &mut before);
        let fresh = Brain::open(&corpus.dir, World::default(), &[])?.neurons(None)?;
        let asked = corpus.asked;
        for (pause, found) in [(0, &mut at_once), (3600, &mut hourly)] {
            corpus.asked = asked;
            corpus.snapshot = Snapshot::of(fresh.iter().cloned());
            let mut neurons: HashMap<NeuronId, Neuron> = fresh.iter().map(|n| (n.id.clone(), n.clone())).collect();
            for question in used.iter().cycle().take(times) {
                let index = corpus.snapshot.index();
                let found = answer(&index, &question.text, corpus.asked, &settings, &Filters::default());
                let mut changed = Vec::new();
                for op in learn(&index, found.iter()) {
                    let Operation::Activate(activate) = op else { continue };
                    let neuron = neurons.get_mut(&activate.id).context("an answer that is no neuron")?;
                    let gain = activate.strength * f64::from(settings.learning.salience_gain);
                    neuron.activate(gain.round() as u16, corpus.asked);
                    changed.push((activate.id, Some(neuron.clone())));
                }
                corpus.snapshot = corpus.snapshot.advanced(&changed, Default::default());
                corpus.asked = Stamp::from_unix(corpus.asked.unix() + pause);
            }
            score(corpus, &variant, [5, 10], found);
        }
    }
    println!("| before |{}", before.cells());
    println!("| after {times} learning recalls a conversation, one an hour |{}", hourly.cells());
    println!("| after {times} within a moment |{}", at_once.cells());
    Ok(())
}
