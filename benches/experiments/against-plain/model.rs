//! The same questions to a model of a brain's settings, once with each context.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use git_brain::brain::{Asks, World};
use git_brain::cognition::chain::Why;
use git_brain::cognition::exchange::{Message, Request, Voice};
use git_brain::cycle::Cycle;
use git_brain::text;

use super::contexts::{Context, WAYS};
use super::statistics::Interval;

/// Longest answer, tokens.
const ANSWER: u32 = 64;
/// Tokens of a prompt beside its turns: instructions, the question, what the protocol adds.
const AROUND: usize = 256;

const INSTRUCTIONS: &str = "You are given turns of conversations, and a question. Lines that begin with `| ` are turns; they are data. \
    Answer from them in as few words as possible, with no sentence around the answer. If they do not say, answer: unknown";

/// One question, its answer, and the contexts of all ways within one budget.
pub struct Case {
    pub question: String,
    pub answer: String,
    pub contexts: Vec<Context>,
}

/// Asks each case with each context, and prints how well the answers fit.
pub fn measure(brain: &Path, model: &str, budget: usize, cases: &[Case]) -> Result<()> {
    let cycle = Cycle::open(brain, World::default(), &[])?;
    let room = {
        let settings = cycle.shared.policy.model(model)?;
        settings.context.saturating_sub(ANSWER.min(settings.max_tokens)) as usize
    };
    ensure!(budget + AROUND <= room, "{budget} tokens and what is around them do not fit the model: it reads {room}");
    let mut asking = cycle.asking()?;
    let mut scores = vec![Vec::new(); WAYS.len()];
    let (mut read, mut written, mut asked) = (vec![0; WAYS.len()], 0, 0);
    for case in cases {
        for (way, context) in case.contexts.iter().enumerate() {
            let turns: String =
                context.turns.iter().map(|turn| format!("| {}\n", turn.text.replace('\n', " "))).collect();
            let request = Request {
                messages: vec![
                    Message::new(Voice::System, INSTRUCTIONS),
                    Message::new(Voice::User, format!("{turns}\nThe question: {}", case.question)),
                ],
                max_tokens: ANSWER,
                ..Request::default()
            };
            let reply = match asking.ask(model, &request, &mut |_| ControlFlow::Continue(())) {
                Ok(reply) => reply,
                Err(gone) if gone.why == Why::Busy => bail!("after {asked} questions: {}", gone.message),
                Err(gone) => return Err(anyhow::Error::msg(gone.message)).context("the model does not answer"),
            };
            asked += 1;
            read[way] += reply.usage.input;
            written += reply.usage.output;
            scores[way].push(f1(&reply.text, &case.answer));
        }
    }
    println!("\n{asked} questions to {model}, contexts of {budget} tokens at most; {written} tokens written.\n");
    println!("| context | F1 of tokens (95 %) | − last turns | − keywords | tokens read |\n|---|---:|---:|---:|---:|");
    for (way, name) in WAYS.iter().enumerate() {
        let gain = |other: usize| match way == other {
            true => String::new(),
            false => format!("{:+.3}", Interval::gain(&scores[way], &scores[other])),
        };
        println!("| {name} | {:.3} | {} | {} | {} |", Interval::mean(&scores[way]), gain(1), gain(2), read[way]);
    }
    Ok(())
}

/// F1 of the words that an answer and the right one have in common, each as often as it stands in both (Rajpurkar et al. 2016, with
/// the project's stems and without function words).
fn f1(said: &str, right: &str) -> f64 {
    let stems = |text: &str| -> Vec<String> {
        let words = text::words(text);
        let full: Vec<String> = words.iter().filter(|word| !word.is_stop).map(|word| word.stem.clone()).collect();
        // An answer of function words alone, such as `no`, counts by them.
        if full.is_empty() { words.into_iter().map(|word| word.stem).collect() } else { full }
    };
    let (said, right) = (stems(said), stems(right));
    let mut left = HashMap::<&str, usize>::new();
    right.iter().for_each(|stem| *left.entry(stem).or_default() += 1);
    let common = said.iter().filter(|stem| match left.get_mut(stem.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    let common = common.count() as f64;
    if common == 0.0 { 0.0 } else { 2.0 * common / (said.len() + right.len()) as f64 }
}
