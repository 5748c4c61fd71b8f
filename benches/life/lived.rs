//! Living the days of a world: a brain through the library as a front door uses it, and the plain alternatives.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use git_brain::brain::{
    Brain, ChatMode, ChatRequest, DecideRequest, FeedRequest, InitRequest, OutcomeRequest, Override, RecallRequest,
    ReviewRequest, ReviewVerdict, SignalsRequest, SleepRequest, Source, World as Clock,
};
use git_brain::model::Stamp;
use git_brain::model::ids::{StimulusId, episode_id};

use crate::statistics::Dice;
use crate::world::{Question, Told, World};

/// 2025-01-06T07:00:00Z, a Monday.
const BIRTH: i64 = 1_736_146_800;
/// Answers that are looked at.
const TOP: usize = 5;

/// A life, by the part that it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    Whole,
    WithoutOutcomes,
    WithoutSleep,
    WithoutStory,
    WithoutWriteBack,
    /// A tenth of what is told is false.
    Lied,
    /// The same, each text waits for a reviewer, who rejects what is false.
    Reviewed,
    /// The same, and a random tenth is rejected.
    ReviewedAtRandom,
    /// A list of texts with keyword search, and a running mean of each option.
    Plain,
    /// Any option, and nothing remembered.
    Chance,
}

pub const LIVES: [Life; 10] = [
    Life::Whole,
    Life::WithoutOutcomes,
    Life::WithoutSleep,
    Life::WithoutStory,
    Life::WithoutWriteBack,
    Life::Lied,
    Life::Reviewed,
    Life::ReviewedAtRandom,
    Life::Plain,
    Life::Chance,
];

impl Life {
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::WithoutOutcomes => "without outcomes",
            Self::WithoutSleep => "without sleep",
            Self::WithoutStory => "without story",
            Self::WithoutWriteBack => "without write-back",
            Self::Lied => "lied to",
            Self::Reviewed => "lied to, the false tenth rejected",
            Self::ReviewedAtRandom => "lied to, a random tenth rejected",
            Self::Plain => "keyword search, running mean",
            Self::Chance => "chance",
        }
    }

    fn flags(self) -> Vec<Override> {
        let flag = |key: &str, value: &str| Override {
            place: "the bench".to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        };
        match self {
            Self::WithoutStory => vec![flag("serotonin.enabled", "false")],
            Self::WithoutWriteBack => vec![flag("activation.write_back", "0")],
            _ if self.is_reviewed() => vec![flag("origins.webhook", "review")],
            _ => Vec::new(),
        }
    }

    fn is_lied_to(self) -> bool {
        matches!(self, Self::Lied | Self::Reviewed | Self::ReviewedAtRandom)
    }

    fn is_reviewed(self) -> bool {
        matches!(self, Self::Reviewed | Self::ReviewedAtRandom)
    }
}

/// An answer to a question.
pub struct Answered {
    pub day: usize,
    pub question: usize,
    /// The place of the first good answer, from 1; none among the first five: `None`.
    pub place: Option<usize>,
    /// Whether the first answer is a lie.
    pub lie: bool,
}

/// A decision.
pub struct Decided {
    pub day: usize,
    /// The best option's worth less the chosen one's.
    pub regret: f64,
    /// The distance of the outcome from the expected value; none where nothing was expected.
    pub error: Option<f64>,
}

/// The results of a life.
#[derive(Default)]
pub struct Lived {
    pub answered: Vec<Answered>,
    pub decided: Vec<Decided>,
    /// Signals that nobody had answered at the end of a day, of all days.
    pub unanswered: usize,
    pub signals: usize,
    /// Runs that a reviewer decided on, and those of them that were rejected.
    pub reviewed: (usize, usize),
    pub text_bytes: u64,
    pub disk_bytes: u64,
    /// Seconds, day by day.
    pub seconds: Vec<f64>,
    /// On how many days each agent ran.
    pub agents: BTreeMap<String, usize>,
}

pub fn live(life: Life, world: &World, seed: u64, folder: &Path) -> Result<Lived> {
    match life {
        Life::Plain => Ok(plain(world)),
        Life::Chance => Ok(chance(world, seed)),
        _ => brain(life, world, seed, folder),
    }
}

fn at(day: usize, minute: i64) -> Stamp {
    Stamp::from_unix(BIRTH + day as i64 * 86_400 + minute * 60)
}

fn brain(life: Life, world: &World, seed: u64, folder: &Path) -> Result<Lived> {
    let name = format!("a life {seed}");
    let flags = life.flags();
    let clock = |day, minute| Clock::fixed(at(day, minute), &name);
    let open = |day, minute| Brain::open(folder, clock(day, minute), &flags).context("the brain");
    let program = env!("CARGO_BIN_EXE_git-brain").to_owned();
    let request = InitRequest { dir: folder.to_owned(), in_repo: false, program };
    let (made, _) = Brain::init(&request, clock(0, 0))?;
    made.add_goal(&format!("Find the best of {}", world.choices[0].question), None, false)?;
    drop(made);
    let mut lived = Lived::default();
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    let mut lies: BTreeSet<String> = BTreeSet::new();
    let mut dice = Dice::new(seed ^ 0x5ee);
    for (number, day) in world.days.iter().enumerate() {
        let started = Instant::now();
        let mut ran: Vec<String> = Vec::new();
        let mut minute = 60;
        let today: &[String] = if life.is_lied_to() { &day.lies } else { &[] };
        lies.extend(today.iter().cloned());
        let false_ones = today.iter().map(|text| Told { text: text.clone(), corrects: None });
        for told in day.told.iter().cloned().chain(false_ones) {
            minute += 10;
            let request = FeedRequest {
                sources: vec![Source::Text(told.text.clone())],
                corrects: told.corrects.as_ref().and_then(|text| ids.get(text)).cloned(),
                // In the three lives with a liar all comes from where it may have to wait.
                origin: life.is_lied_to().then(|| "webhook:village".to_owned()),
                ..FeedRequest::default()
            };
            let fed = open(number, minute)?.feed(&request, &mut |_| {})?;
            lived.text_bytes += told.text.len() as u64;
            ran.extend(fed.ran.runs.iter().map(|run| run.agent.clone()));
            if let Some(stimulus) = fed.stimuli.first() {
                ids.insert(told.text.clone(), episode_id(&StimulusId::parse(stimulus)?).to_string());
            }
        }
        if life.is_reviewed() {
            minute += 10;
            let open = open(number, minute)?;
            for line in open.reviews()?.waiting {
                let evidence = open.review(&line.run, false)?.evidence;
                let rests_on_a_lie = evidence.iter().any(|e| lies.contains(&e.text));
                let rejected = match life {
                    Life::Reviewed => rests_on_a_lie,
                    _ => dice.below(10) == 0,
                };
                let verdict = if rejected { ReviewVerdict::Reject } else { ReviewVerdict::Approve };
                open.decide_run(&ReviewRequest::new(&line.run, verdict, "the reviewer of the bench"))?;
                if rejected {
                    evidence.iter().for_each(|e| drop(ids.remove(&e.text)));
                }
                lived.reviewed.0 += 1;
                lived.reviewed.1 += usize::from(rejected);
            }
        }
        for (choice, noise) in &day.choices {
            minute += 20;
            let (asked, worth) = (&world.choices[*choice], world.choices[*choice].worth(number));
            let request = DecideRequest { question: asked.question.clone(), options: asked.options.clone() };
            let decided = open(number, minute)?.decide(&request, &mut |_| {})?;
            ran.extend(decided.ran.runs.iter().map(|run| run.agent.clone()));
            let chosen = asked.options.iter().position(|option| *option == decided.choice).context("an option")?;
            let came = (worth[chosen] + noise).clamp(0.0, 1.0);
            lived.decided.push(scored(number, worth, chosen, decided.expected, came));
            if life != Life::WithoutOutcomes {
                minute += 20;
                let outcome = OutcomeRequest { run: decided.run, value: Some(came), ..OutcomeRequest::default() };
                let judged = open(number, minute)?.outcome(&outcome)?;
                ran.extend(judged.run.rsplit('-').next().map(str::to_owned));
            }
        }
        minute += 20;
        let evening = open(number, minute)?;
        for (index, question) in day.questions.iter().enumerate() {
            let request = RecallRequest { query: question.text.clone(), top: Some(TOP), ..RecallRequest::default() };
            let found = evening.recall(&request)?.results;
            let place = place(question, found.iter().map(|found| found.text.as_str()));
            let lie = found.first().is_some_and(|found| lies.contains(&found.text));
            lived.answered.push(Answered { day: number, question: index, place, lie });
        }
        if let (Some(question), true) = (day.questions.first(), number % 7 == 6) {
            let request =
                ChatRequest { message: question.text.clone(), mode: ChatMode::Simple, ..ChatRequest::default() };
            // Nothing comes to mind: that is an answer.
            let _ = evening.chat(&request, &mut |_| ControlFlow::Continue(()));
        }
        if life != Life::WithoutSleep {
            let slept = open(number, 16 * 60)?.sleep(SleepRequest::default())?;
            ran.extend((slept.state == git_brain::brain::SleepState::Slept).then(|| "sleep".to_owned()));
        }
        lived.seconds.push(started.elapsed().as_secs_f64());
        let signals = evening.signals(&SignalsRequest { number: 0, ..SignalsRequest::default() })?;
        lived.unanswered += signals.unanswered;
        lived.signals = signals.total;
        ran.sort();
        ran.dedup();
        for agent in ran {
            *lived.agents.entry(agent).or_default() += 1;
        }
    }
    lived.disk_bytes = bytes_in(&folder.join(".git"))?;
    Ok(lived)
}

fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.path().symlink_metadata()?;
        bytes += if metadata.is_dir() { bytes_in(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

fn scored(day: usize, worth: &[f64], chosen: usize, expected: Option<f64>, came: f64) -> Decided {
    let best = worth.iter().copied().fold(0.0, f64::max);
    Decided { day, regret: best - worth[chosen], error: expected.map(|expected| (expected - came).abs()) }
}

fn place<'a>(question: &Question, answers: impl Iterator<Item = &'a str>) -> Option<usize> {
    answers.take(TOP).position(|text| text.contains(&question.answer)).map(|at| at + 1)
}

/// A list of texts, of which those that are corrected go; questions are answered by BM25 (k1 = .9, b = .4), of equal scores by the newest.
/// An option is expected to be worth the mean of what came of it; each is tried once, then the one of the greatest mean is taken.
fn plain(world: &World) -> Lived {
    let mut lived = Lived::default();
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    let mut sums: Vec<Vec<(f64, f64)>> = world.choices.iter().map(|c| vec![(0.0, 0.0); c.options.len()]).collect();
    for (number, day) in world.days.iter().enumerate() {
        let started = Instant::now();
        for told in &day.told {
            texts.retain(|(text, _)| Some(text) != told.corrects.as_ref());
            lived.text_bytes += told.text.len() as u64;
            texts.push((told.text.clone(), words(&told.text)));
        }
        for (choice, noise) in &day.choices {
            let worth = world.choices[*choice].worth(number);
            let mean = |(sum, count): (f64, f64)| if count == 0.0 { f64::INFINITY } else { sum / count };
            let means: Vec<f64> = sums[*choice].iter().map(|sum| mean(*sum)).collect();
            let chosen = (0..means.len()).fold(0, |best, at| if means[at] > means[best] { at } else { best });
            let came = (worth[chosen] + noise).clamp(0.0, 1.0);
            let expected = Some(means[chosen]).filter(|mean| mean.is_finite()).or(Some(0.5));
            lived.decided.push(scored(number, worth, chosen, expected, came));
            sums[*choice][chosen].0 += came;
            sums[*choice][chosen].1 += 1.0;
        }
        for (index, question) in day.questions.iter().enumerate() {
            let found = search(&texts, &words(&question.text));
            let place = place(question, found.into_iter());
            lived.answered.push(Answered { day: number, question: index, place, lie: false });
        }
        lived.seconds.push(started.elapsed().as_secs_f64());
    }
    lived.disk_bytes = lived.text_bytes;
    lived
}

fn words(text: &str) -> Vec<String> {
    const STOP: [&str; 24] = [
        "a", "after", "all", "and", "best", "did", "do", "does", "for", "from", "in", "is", "it", "of", "on", "that",
        "the", "they", "to", "was", "what", "where", "who", "with",
    ];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !STOP.contains(word));
    words.map(str::to_owned).collect()
}

fn search<'t>(texts: &'t [(String, Vec<String>)], query: &[String]) -> Vec<&'t str> {
    let mean = texts.iter().map(|(_, words)| words.len()).sum::<usize>() as f64 / texts.len().max(1) as f64;
    let mut found: Vec<(f64, usize)> = Vec::new();
    let idf = |word: &String| {
        let n = texts.iter().filter(|(_, words)| words.contains(word)).count() as f64;
        (1.0 + (texts.len() as f64 - n + 0.5) / (n + 0.5)).ln()
    };
    let idfs: Vec<f64> = query.iter().map(idf).collect();
    for (at, (_, words)) in texts.iter().enumerate() {
        let mut score = 0.0;
        for (word, idf) in query.iter().zip(&idfs) {
            let f = words.iter().filter(|w| *w == word).count() as f64;
            score += idf * f / (f + 0.9 * (0.6 + 0.4 * words.len() as f64 / mean));
        }
        if score > 0.0 {
            found.push((score, at));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    found.into_iter().take(TOP).map(|(_, at)| texts[at].0.as_str()).collect()
}

fn chance(world: &World, seed: u64) -> Lived {
    let mut lived = Lived::default();
    let mut dice = Dice::new(seed ^ 0xc4a9);
    for (number, day) in world.days.iter().enumerate() {
        for (choice, noise) in &day.choices {
            let worth = world.choices[*choice].worth(number);
            let chosen = dice.below(worth.len());
            let came = (worth[chosen] + noise).clamp(0.0, 1.0);
            lived.decided.push(scored(number, worth, chosen, Some(0.5), came));
        }
        lived.seconds.push(0.0);
    }
    lived
}
