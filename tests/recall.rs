//! Recall in French and Japanese, against keyword search: four invented conversations, written before recall was tuned and
//! never tuned to. Two are between friends, whose turns are short; in two a person talks with an assistant, which answers at
//! length under headings that recur. The controls see the same texts: BM25, and BM25 smoothed over neighbouring turns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git_brain::activation::recall::{Filters, answer};
use git_brain::brain::{Brain, FeedRequest, InitRequest, RecallRequest, Source, World};
use git_brain::model::{Settings, Stamp};
use serde_json::Value;

const K: usize = 10;

struct Talk {
    /// (source, session, text)
    turns: Vec<(String, String, String)>,
    questions: Vec<(String, Vec<String>)>,
    brain: Brain,
    after: Stamp,
    _folder: tempfile::TempDir,
}

fn talk(turns: &str, questions: &str) -> Talk {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = data.join(turns);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows: Vec<Value> =
        std::fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = std::fs::read_to_string(data.join(questions)).unwrap();
    let asked: Vec<Value> = serde_json::from_str(&asked).unwrap();
    let evidence = |q: &Value| q["evidence"].as_array().unwrap().iter().map(text).collect();
    let last: Stamp = rows.iter().map(|row| text(&row["at"]).parse().unwrap()).max().unwrap();
    let after = Stamp::from_unix(last.unix() + 24 * 3600);
    let folder = tempfile::tempdir().unwrap();
    let request = InitRequest { dir: folder.path().join("brain"), in_repo: false, program: "git-brain".to_owned() };
    let (brain, _) = Brain::init(&request, World::fixed(after, turns)).unwrap();
    brain.feed(&FeedRequest { sources: vec![Source::File(file)], ..FeedRequest::default() }, &mut |_| {}).unwrap();
    Talk {
        turns: rows.iter().map(|row| (text(&row["source"]), text(&row["session"]), text(&row["text"]))).collect(),
        questions: asked.iter().map(|q| (text(&q["question"]), evidence(q))).collect(),
        brain,
        after,
        _folder: folder,
    }
}

/// What a keyword search looks for: in Japanese pairs of characters, elsewhere words without their commonest endings.
fn terms(text: &str) -> Vec<String> {
    const STOP: &str = "le la les un une des de du d l et ou où à au aux en dans sur pour par avec que qu qui quoi quel \
        quelle quels quelles ce c cette ces se s il elle ils elles je j tu nous vous on ne n pas est sont a ont été y \
        son sa ses mon ma mes ton ta tes leur m t me te comment quand combien pourquoi fait";
    let stop: BTreeSet<&str> = STOP.split_whitespace().collect();
    let lower = text.to_lowercase();
    let rows = lower.split(|c: char| !c.is_alphanumeric()).filter(|row| !row.is_empty());
    let mut found = Vec::new();
    for row in rows {
        let chars: Vec<char> = row.chars().collect();
        if chars.iter().any(|c| *c >= '\u{3000}') {
            found.extend(chars.windows(2).map(|pair| pair.iter().collect()));
        } else if !stop.contains(row) {
            let ending = ["aient", "ées", "ent", "ées", "és", "ée", "er", "é", "es", "s", "e"];
            let bare = ending.iter().find_map(|end| row.strip_suffix(end).filter(|stem| stem.chars().count() >= 3));
            found.push(bare.unwrap_or(row).to_owned());
        }
    }
    found
}

/// BM25 with k1 1.2 and b .75.
fn bm25(documents: &[Vec<String>], query: &[String]) -> Vec<f64> {
    let (all, words) = (documents.len() as f64, documents.iter().map(Vec::len).sum::<usize>() as f64);
    let query: BTreeSet<&String> = query.iter().collect();
    let mut scores = vec![0.0; documents.len()];
    for term in query {
        let counts: Vec<f64> = documents.iter().map(|d| d.iter().filter(|t| *t == term).count() as f64).collect();
        let found = counts.iter().filter(|n| **n > 0.0).count() as f64;
        let idf = (1.0 + (all - found + 0.5) / (found + 0.5)).ln();
        for ((score, n), document) in scores.iter_mut().zip(counts).zip(documents) {
            *score += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * document.len() as f64 / (words / all)));
        }
    }
    scores
}

fn smoothed(scores: &[f64], turns: &[(String, String, String)]) -> Vec<f64> {
    let near = |at: usize, other: Option<usize>| {
        other.filter(|o| *o < turns.len() && turns[*o].1 == turns[at].1).map_or(0.0, |o| 0.4 * scores[o])
    };
    (0..scores.len()).map(|at| scores[at] + near(at, at.checked_sub(1)) + near(at, Some(at + 1))).collect()
}

fn found<'a>(evidence: &[String], answers: impl Iterator<Item = &'a str>, top: usize) -> f64 {
    let answers: BTreeSet<&str> = answers.take(top).collect();
    evidence.iter().filter(|source| answers.contains(source.as_str())).count() as f64 / evidence.len() as f64
}

/// Mean recall@`top` of recall and of both controls.
fn figures(talk: &Talk, top: usize, ask: impl Fn(&str) -> Vec<String>) -> BTreeMap<&'static str, f64> {
    let documents: Vec<Vec<String>> = talk.turns.iter().map(|(_, _, text)| terms(text)).collect();
    let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (question, evidence) in &talk.questions {
        let plain = bm25(&documents, &terms(question));
        for (name, scores) in [("bm25", plain.clone()), ("neighbours", smoothed(&plain, &talk.turns))] {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
            *sums.entry(name).or_default() += found(evidence, order.iter().map(|at| talk.turns[*at].0.as_str()), top);
        }
        let answers = ask(question);
        *sums.entry("recall").or_default() += found(evidence, answers.iter().map(String::as_str), top);
    }
    sums.values_mut().for_each(|sum| *sum /= talk.questions.len() as f64);
    sums
}

/// The figures among the first answers of each number in `tops`.
fn measured(turns: &str, questions: &str, tops: &[usize]) -> Vec<BTreeMap<&'static str, f64>> {
    let talk = talk(turns, questions);
    assert!(talk.turns.len() >= 60 && talk.questions.len() >= 40);
    let snapshot = talk.brain.snapshot(None).unwrap();
    let neurons = talk.brain.neurons(None).unwrap();
    let sources: BTreeMap<_, _> = neurons.into_iter().filter_map(|neuron| Some((neuron.id, neuron.source?))).collect();
    let filters = Filters { top: Some(K), ..Filters::default() };
    let ask = |question: &str| {
        let found = answer(&snapshot.index(), question, talk.after, &Settings::default(), &filters);
        found.iter().filter_map(|found| sources.get(&found.id).cloned()).collect()
    };
    let figures = tops.iter().map(|top| figures(&talk, *top, ask)).collect();
    println!("{turns} @{tops:?}: {figures:?}");
    figures
}

fn recall_beats_keywords(language: &str) {
    let turns = format!("conversation-{language}.jsonl");
    for figures in measured(&turns, &format!("questions-{language}.json"), &[K]) {
        let recall = figures["recall"];
        assert!(recall > figures["bm25"] && recall > figures["neighbours"], "{figures:?}");
    }
}

#[test]
fn recall_beats_keywords_in_french() {
    recall_beats_keywords("fr");
}

#[test]
fn recall_beats_keywords_in_japanese() {
    recall_beats_keywords("ja");
}

/// Among five answers, too: a session is hardly longer than ten turns, so ten answers from the right session hold most evidence.
fn recall_with_an_assistant_is_not_below_keywords(language: &str) {
    let turns = format!("assistant-{language}.jsonl");
    for figures in measured(&turns, &format!("assistant-questions-{language}.json"), &[5, K]) {
        assert!(figures["recall"] >= figures["bm25"].max(figures["neighbours"]), "{figures:?}");
    }
}

#[test]
fn recall_with_an_assistant_is_not_below_keywords_in_french() {
    recall_with_an_assistant_is_not_below_keywords("fr");
}

#[test]
fn recall_with_an_assistant_is_not_below_keywords_in_japanese() {
    recall_with_an_assistant_is_not_below_keywords("ja");
}

#[test]
fn learning_recalls_are_runs_of_a_person_that_make_answers_more_salient() {
    let talk = talk("conversation-fr.jsonl", "questions-fr.json");
    let ask = |learn| RecallRequest {
        query: "Comment s'appelle le chat de Solène ?".to_owned(),
        top: Some(3),
        learn,
        ..RecallRequest::default()
    };
    let plain = talk.brain.recall(&ask(false)).unwrap();
    assert_eq!(plain.learnt, None);
    let learnt = talk.brain.recall(&ask(true)).unwrap();
    assert_eq!((&learnt.results, &learnt.at), (&plain.results, &plain.at), "it answers as it would without learning");
    let run = learnt.learnt.unwrap();
    assert!(run.ends_with("-human"), "{run}");
    let after = talk.brain.recall(&ask(false)).unwrap();
    assert_ne!(after.at, learnt.at, "wake moved");
    assert_eq!(after.results[0].id, plain.results[0].id);
    assert!(after.results[0].activation > plain.results[0].activation);
    let nothing = RecallRequest { query: "zzyzx".to_owned(), learn: true, ..RecallRequest::default() };
    assert_eq!(talk.brain.recall(&nothing).unwrap().learnt, None, "nothing found, nothing learnt");
    let past = RecallRequest { at: Some("wake~1".to_owned()), ..ask(true) };
    assert_eq!(talk.brain.recall(&past).unwrap_err().exit_code(), 2);
}

#[test]
fn a_month_that_is_asked_for_is_answered_from_it() {
    let talk = talk("conversation-fr.jsonl", "questions-fr.json");
    let ask = |query: &str| {
        talk.brain.recall(&RecallRequest { query: query.to_owned(), top: Some(K), ..RecallRequest::default() }).unwrap()
    };
    let answers = ask("Que s'est-il passé en mars 2024 ?").results;
    assert!(!answers.is_empty() && answers.iter().all(|a| a.session.as_deref() == Some("fuite")), "{answers:?}");
    assert!(answers.iter().any(|a| a.path.iter().any(|way| way.at == "2024-03" || way.via == "date")));
}
