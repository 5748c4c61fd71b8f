//! Does use wear memory out? Learning recalls of every second question, again and again, then the quality of the others.
//!
//! In memory and by the same rules: the operations that `recall --learn` would apply, at the moment of the question. Asked
//! again and again within a moment is the worst case: nothing decays in between.

use std::collections::HashMap;

use anyhow::{Context, Result};
use git_brain::activation::recall::{Filters, Method, answer};
use git_brain::activation::{Index, learn};
use git_brain::brain::{Brain, World};
use git_brain::delta::Operation;
use git_brain::model::{Neuron, NeuronId, Settings};

use crate::data::Corpus;
use crate::{Found, score};

/// Prints the quality of questions that were never asked, before and after `times` learning recalls of the others.
pub fn measure(mut corpora: Vec<Corpus>, times: usize) -> Result<()> {
    println!(
        "\n| LoCoMo, questions that are not asked while learning | @5 | @10 | @10, category 1 |\n|---|---:|---:|---:|"
    );
    let settings = Settings::default();
    let variant = (String::new(), Method::default(), settings.clone());
    let (mut before, mut after) = (Found::default(), Found::default());
    for corpus in &mut corpora {
        let mut used = Vec::new();
        let mut others = Vec::new();
        for (at, question) in std::mem::take(&mut corpus.questions).into_iter().enumerate() {
            if at % 2 == 0 { used.push(question) } else { others.push(question) }
        }
        corpus.questions = others;
        score(corpus, &variant, [5, 10], &mut before);
        let neurons = Brain::open(&corpus.dir, World::default(), &[])?.neurons(None)?;
        let mut neurons: HashMap<NeuronId, Neuron> = neurons.into_iter().map(|n| (n.id.clone(), n)).collect();
        // The index is made anew now and then, not at every recall: that is what makes this bench bearable.
        for round in 0..times.div_ceil(100) {
            for question in used.iter().cycle().skip(round * 100).take(100.min(times - round * 100)) {
                let answers = answer(&corpus.index, &question.text, corpus.asked, &settings, &Filters::default());
                for op in learn(&corpus.index, &answers) {
                    let Operation::Activate(activate) = op else { continue };
                    let neuron = neurons.get_mut(&activate.id).context("an answer that is no neuron")?;
                    let gain = activate.strength * f64::from(settings.learning.salience_gain);
                    neuron.activate(gain.round() as u16, corpus.asked);
                }
            }
            corpus.index = Index::build(neurons.values().cloned());
        }
        score(corpus, &variant, [5, 10], &mut after);
    }
    println!("| before |{}\n| after {times} learning recalls a conversation |{}", before.cells(), after.cells());
    Ok(())
}
