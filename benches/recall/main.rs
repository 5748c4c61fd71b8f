//! Recall's quality, part by part: what each part of the method brings, on data that is named on the command line.
//!
//! ```text
//! cargo bench --bench recall -- [--locomo FILE] [--musique QUESTIONS --passages FILE [--triples FILE]]
//!                               [--only SUBSTRING] [--keep DIR] [--asked-after HOURS] [--learn TIMES]
//!                               [--embeddings URL --model NAME]
//! cargo bench --bench recall -- --set SET.json… [--half 0|1] [--with KEY=VALUE,…]… [--log FILE]
//! ```
//!
//! The second form compares recall with keyword search on sets (`sets.rs` says their form), on all questions or every second one, for the
//! method and for changes to it. A set with questions that nothing answers (`gold` is empty) shows how well closeness tells them.
//!
//! Feeds a brain for each conversation, and for the passages, through the library, as `feed` and `import --triples` do;
//! then asks every question once a variant of [`Method`]. Prints a Markdown table: the mean fraction of the evidence
//! that is among the first answers. With `--learn`, what so many learning recalls of other questions do to it. `--keep` keeps the brains in a folder, and takes them from there the next time.
//! With `--embeddings`, rows with the embeddings of that endpoint, which is `base_url` in the settings.
//! Formats: LoCoMo's JSON, and MuSiQue's as the HippoRAG repository has it, one passage and one triple a line.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the files that it is given")]

mod compare;
mod data;
mod learning;
mod sets;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use data::{Corpus, Question};
use git_brain::activation::recall::{Filters, Method, answer_by};
use git_brain::brain::{Brain, Override, World};
use git_brain::model::Settings;

/// What is asked for on the command line.
#[derive(Default)]
pub struct Wanted {
    locomo: Option<PathBuf>,
    musique: Option<PathBuf>,
    passages: Option<PathBuf>,
    triples: Option<PathBuf>,
    keep: Option<PathBuf>,
    only: Option<String>,
    after_hours: Option<i64>,
    learn: Option<usize>,
    embeddings: Option<String>,
    model: Option<String>,
    sets: Vec<PathBuf>,
    half: Option<usize>,
    with: Vec<String>,
    log: Option<PathBuf>,
}

impl Wanted {
    fn read() -> Result<Self> {
        let mut wanted = Self::default();
        // `cargo bench` adds `--bench`.
        let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag}: what?"))?;
            match flag.as_str() {
                "--locomo" => wanted.locomo = Some(value.into()),
                "--musique" => wanted.musique = Some(value.into()),
                "--passages" => wanted.passages = Some(value.into()),
                "--triples" => wanted.triples = Some(value.into()),
                "--keep" => wanted.keep = Some(value.into()),
                "--only" => wanted.only = Some(value),
                "--asked-after" => wanted.after_hours = Some(value.parse().context("--asked-after HOURS")?),
                "--embeddings" => wanted.embeddings = Some(value),
                "--model" => wanted.model = Some(value),
                "--set" => wanted.sets.push(value.into()),
                "--half" => wanted.half = Some(value.parse().context("--half 0|1")?),
                "--with" => wanted.with.push(value),
                "--log" => wanted.log = Some(value.into()),
                "--learn" => wanted.learn = Some(value.parse().context("--learn TIMES")?),
                _ => bail!("{flag}: see the head of benches/recall/main.rs"),
            }
        }
        Ok(wanted)
    }
}

/// One row of the table: a name, and how it differs from the method.
pub type Variant = (String, Method, Settings);

fn variants(meaning: bool) -> Vec<Variant> {
    let whole = Method { meaning: 0.0, ..Method::default() };
    let plain = Settings::default();
    let mut list: Vec<Variant> = vec![("everything".to_owned(), whole.clone(), plain.clone())];
    let mut without = |name: &str, change: &dyn Fn(&mut Method)| {
        let mut method = whole.clone();
        change(&mut method);
        list.push((name.to_owned(), method, plain.clone()));
    };
    without("words alone", &|m| *m = Method::words_alone());
    without("rare words count in proportion", &|m| m.rarity = 1.0);
    without("rare words count squared", &|m| m.rarity = 2.0);
    without("without names in the question", &|m| m.name = 0.0);
    without("without titles in the question", &|m| m.title = 0.0);
    without("words inside names count in full", &|m| m.inside = 1.0);
    without("without names shared", &|m| m.spreading = 0);
    without("names that the question has are shared too", &|m| m.asked_names = true);
    without("edges to names count one way", &|m| m.both_ways = false);
    without("a title counts as a mention", &|m| m.about = 1.0);
    for spreading in [10, 50] {
        without(&format!("from {spreading} memories"), &|m| m.spreading = spreading);
    }
    for beam in [64, 1024] {
        without(&format!("beam {beam}"), &|m| m.beam = beam);
    }
    without("without turns", &|m| m.turns = 0);
    without("without speakers", &|m| m.speaker = 1.0);
    without("without sessions", &|m| m.session = 0.0);
    without("without dates", &|m| m.date = 0.0);
    for fan in [0.0, 0.25, 0.75, 1.0] {
        let mut settings = plain.clone();
        settings.recall.fan = fan;
        list.push((format!("fan {fan}"), whole.clone(), settings));
    }
    for exponent in [0.0, 0.2, 0.5, 1.0] {
        let mut settings = plain.clone();
        settings.recall.salience_exponent = exponent;
        list.push((format!("salience exponent {exponent}"), whole.clone(), settings));
    }
    if meaning {
        list.push(("with embeddings".to_owned(), Method::default(), plain.clone()));
        for meaning in [0.15, 0.5] {
            let method = Method { meaning, ..Method::default() };
            list.push((format!("with embeddings, weight {meaning}"), method, plain.clone()));
        }
        for alike in [50, 200] {
            list.push((
                format!("with embeddings, from {alike} memories"),
                Method { alike, ..Method::default() },
                plain.clone(),
            ));
        }
        let alone = Method { meaning: Method::default().meaning, ..Method::words_alone() };
        list.push(("words alone, with embeddings".to_owned(), alone, plain.clone()));
    }
    list
}

/// Mean recall at some ks, over all questions and over those of category 1.
#[derive(Clone, Default)]
pub struct Found {
    sums: Vec<f64>,
    counts: Vec<usize>,
}

impl Found {
    fn add(&mut self, column: usize, value: f64) {
        if self.sums.len() <= column {
            self.sums.resize(column + 1, 0.0);
            self.counts.resize(column + 1, 0);
        }
        self.sums[column] += value;
        self.counts[column] += 1;
    }

    fn cells(&self) -> String {
        let cell = |(sum, n): (&f64, &usize)| format!(" {:.3} |", sum / (*n).max(1) as f64);
        self.sums.iter().zip(&self.counts).map(cell).collect()
    }
}

/// Asks all questions of a corpus by one variant.
pub fn score(corpus: &Corpus, (_, method, settings): &Variant, ks: [usize; 2], found: &mut Found) {
    for Question { text, gold, category, meaning, .. } in &corpus.questions {
        let filters = Filters { top: Some(ks[1]), meaning: meaning.clone(), ..Filters::default() };
        let answers = answer_by(&corpus.snapshot.index(), text, corpus.asked, settings, &filters, method);
        let mut sources: Vec<&str> = Vec::new();
        for source in answers.iter().filter_map(|found| corpus.sources.get(&found.id).map(String::as_str)) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let share = |k: usize| {
            let hits = sources.iter().take(k).filter(|s| gold.iter().any(|g| g == *s)).count();
            hits as f64 / gold.len() as f64
        };
        found.add(0, share(ks[0]));
        found.add(1, share(ks[1]));
        if *category == Some(1) {
            found.add(2, share(ks[1]));
        }
    }
}

/// What each question means, by the endpoint that was named, if one was.
fn meaning(corpus: &mut Corpus, wanted: &Wanted) -> Result<()> {
    let Some(url) = &wanted.embeddings else { return Ok(()) };
    let model = wanted.model.as_deref().context("--embeddings needs --model")?;
    let flag = |key: &str, value: String| Override { place: "--embeddings".to_owned(), key: key.to_owned(), value };
    let flags = [
        flag("models.asked", format!("{{provider = \"openai\", model = {model:?}, base_url = {url:?}}}")),
        flag("recall.embeddings", "asked".to_owned()),
        flag("recall.embeddings_timeout_ms", "600000".to_owned()),
    ];
    let brain = Brain::open(&corpus.dir, World::default(), &flags)?;
    // A recall brings in so many memories and no more.
    while !brain.meaning(&corpus.snapshot, "all memories")?.notes.iter().all(|note| !note.contains("goes on")) {}
    for question in &mut corpus.questions {
        let found = brain.meaning(&corpus.snapshot, &question.text)?;
        ensure!(found.notes.is_empty(), "{}", found.notes.join("; "));
        question.meaning = found.alike;
    }
    Ok(())
}

fn table(title: &str, heads: &str, corpora: &[Corpus], ks: [usize; 2], only: Option<&str>) {
    let meaning = corpora.iter().flat_map(|corpus| &corpus.questions).any(|question| !question.meaning.is_empty());
    let wanted: Vec<Variant> =
        variants(meaning).into_iter().filter(|(name, ..)| only.is_none_or(|part| name.contains(part))).collect();
    let mut rows: Vec<Option<Found>> = vec![None; wanted.len()];
    let half = wanted.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        for (variants, rows) in wanted.chunks(half).zip(rows.chunks_mut(half)) {
            scope.spawn(move || {
                for (variant, row) in variants.iter().zip(rows) {
                    let mut found = Found::default();
                    corpora.iter().for_each(|corpus| score(corpus, variant, ks, &mut found));
                    *row = Some(found);
                }
            });
        }
    });
    println!("\n| {title} |{heads}\n|---|{}", "---:|".repeat(heads.matches('|').count()));
    for ((name, ..), row) in wanted.iter().zip(rows) {
        println!("| {name} |{}", row.unwrap_or_default().cells());
    }
}

fn main() -> Result<()> {
    let wanted = Wanted::read()?;
    let only = wanted.only.as_deref();
    if !wanted.sets.is_empty() {
        return compare::measure(&wanted, World::default().now());
    }
    if let Some(file) = &wanted.locomo {
        let mut corpora = data::locomo(file, wanted.keep.as_deref(), wanted.after_hours.unwrap_or(24))?;
        corpora.iter_mut().try_for_each(|corpus| meaning(corpus, &wanted))?;
        if let Some(times) = wanted.learn {
            return learning::measure(corpora, times);
        }
        table("LoCoMo", " @5 | @10 | @10, category 1 |", &corpora, [5, 10], only);
    }
    if let Some(file) = &wanted.musique {
        let passages = wanted.passages.as_deref().context("--musique needs --passages")?;
        let keep = wanted.keep.as_deref();
        for triples in [None, wanted.triples.as_deref()].into_iter().take(1 + usize::from(wanted.triples.is_some())) {
            let mut corpus = data::musique(file, passages, triples, keep)?;
            meaning(&mut corpus, &wanted)?;
            let title = if triples.is_some() { "MuSiQue, with triples" } else { "MuSiQue" };
            table(title, " @2 | @5 |", &[corpus], [2, 5], only);
        }
    }
    Ok(())
}
