//! Error rates of the gates of a deliberation: how many planted good deltas and how many random ones pass all but the handoff.
//!
//! ```text
//! cargo bench --bench deliberation -- [worlds=10] [first=11] [notes=480] [random=500]
//! cargo bench --bench deliberation -- set=SET.json [cycles=8]
//! cargo bench --bench deliberation -- search=20 [cycles=8]
//! cargo bench --bench deliberation -- models=8 [first=11] [notes=480]
//! ```
//!
//! The second form lives: a set of conversations with questions (`benches/recall/sets.rs` says its form) is fed, cycles of two reflex families
//! deliberate on each, and the questions are asked that no gate has seen, beside brains that merged every proposal, and none. The third is the
//! recipe of docs/recipes/search, with gates in Python, beside random search with as many tries. The fourth counts what cycles of two models cost.
//!
//! Good deltas are planted in two ways among notes without a session, of which a third is planted. `next`: one thing is always followed by another in the
//! next note. `alias`: one thing has two names, and three notes in a row speak of it, four times in five by the other name than before. A good
//! delta ties the first word to three older notes with the second that came soon after one with the first; a random one ties any thing to any three.
//! Where the first gate says of a tie that it rides along, the delta is examined once more without it, as whoever proposed it would, random ones too.
//! The gates' form was chosen on `next`, worlds 1 to 3. Nothing is asserted; prints Markdown.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

#[path = "../../endpoint/mod.rs"]
#[allow(dead_code, reason = "these models call no tools")]
mod endpoint;
mod life;
mod models;
mod search;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Notes after one with the first word, among which the second is looked for.
const SOON: usize = 2;

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn of(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as usize % most
    }

    fn word(&mut self) -> String {
        let parts =
            ["ka", "lo", "mi", "ter", "van", "dor", "sil", "pra", "gon", "bel", "tur", "nim", "os", "ral", "fen"];
        (0..4).map(|_| parts[self.of(parts.len())]).collect()
    }
}

/// Notes in order, and the pairs of words of which the first should bring the second to mind.
fn world(kind: &str, seed: u64, count: usize) -> (Vec<String>, Vec<(String, String)>) {
    let mut draw = Draw(seed);
    let people = ["Anna", "Bob", "Carla", "Dino", "Eva", "Frida", "Gustav", "Hedda"];
    let verbs = ["checked", "moved", "cleaned", "ordered", "painted", "sold", "found", "lost"];
    let words: Vec<String> = (0..40).map(|_| draw.word()).collect();
    let (planted, rest) = words.split_at(6);
    let mut things: Vec<String> = Vec::new();
    while things.len() < count {
        let thing = match (kind, draw.of(100) < 30) {
            (_, false) => vec![rest[draw.of(rest.len())].clone()],
            ("next", true) => {
                let at = 2 * draw.of(3);
                vec![planted[at].clone(), planted[at + 1].clone()]
            }
            (_, true) => {
                let (at, mut name) = (2 * draw.of(3), draw.of(2));
                let mut named = |_| {
                    let said = planted[at + name].clone();
                    name = if draw.of(100) < 80 { 1 - name } else { name };
                    said
                };
                (0..3).map(&mut named).collect()
            }
        };
        things.extend(thing);
    }
    let notes = things.iter().take(count).map(|thing| {
        let (person, verb) = (people[draw.of(people.len())], verbs[draw.of(verbs.len())]);
        format!("{person} {verb} the {thing} near the {}.", rest[draw.of(rest.len())])
    });
    let notes: Vec<String> = notes.collect();
    let pairs = (0..3).map(|n| (planted[2 * n].clone(), planted[2 * n + 1].clone())).collect();
    (notes, pairs)
}

fn brain(dir: &Path, args: &[&str], input: Option<&str>) -> Result<Value> {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_git-brain"))
        .arg("-C")
        .arg(dir)
        .arg("--json")
        .args(args)
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.org")
        .env("GIT_COMMITTER_NAME", "Ann")
        .env("GIT_COMMITTER_EMAIL", "ann@example.org")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("standard input")?.write_all(input.unwrap_or_default().as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("git brain {args:?}: {}", output.status);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The time of a note.
fn moment(n: usize) -> String {
    git_brain::model::Stamp::from_unix(1_760_000_000 + 3600 * n as i64).to_string()
}

/// Notes of which memories are tied: the older half, or of a world that is not measured on whole, whose evidence may lie anywhere in it, a third.
fn older_part(count: usize) -> usize {
    if count <= git_brain::limits::DELIBERATED_WHOLE { count / 2 } else { count / 3 }
}

/// A brain that was fed notes, one an hour.
fn fed(folder: &Path, dir: &Path, notes: &[String]) -> Result<()> {
    brain(Path::new("."), &["init", dir.to_str().context("a path")?], None)?;
    let lines: String =
        notes.iter().enumerate().map(|(n, text)| json!({"at": moment(n), "text": text}).to_string() + "\n").collect();
    let file = folder.join("notes.jsonl");
    std::fs::write(&file, lines)?;
    brain(dir, &["feed", "--file", file.to_str().context("a path")?], None).map(drop)
}

/// The gates but the handoff on a delta.
struct Judged {
    /// Those that it fails as it was proposed.
    failed: Vec<String>,
    /// Those that it fails without the ties of which the first gate says that they ride along.
    at_last: Vec<String>,
}

/// Examines a delta, and again without what rides along.
fn judged(dir: &Path, topic: &str, from: &str, to: &[String]) -> Result<Judged> {
    let mut to = to.to_vec();
    let (failed, mut without) = examined(dir, topic, from, &to)?;
    let mut at_last = failed.clone();
    while let Some(tie) = without.filter(|_| to.len() > 1) {
        to.retain(|one| *one != tie);
        (at_last, without) = examined(dir, topic, from, &to)?;
    }
    Ok(Judged { failed, at_last })
}

/// The gates that a delta fails, and the end of the tie that rides along.
fn examined(dir: &Path, topic: &str, from: &str, to: &[String]) -> Result<(Vec<String>, Option<String>)> {
    let ops: Vec<Value> = to
        .iter()
        .map(|to| json!({"op": "connect", "from": from, "to": to, "type": "feeds_into", "weight": 38778}))
        .collect();
    let delta = json!({"ops": ops}).to_string();
    let record = brain(dir, &["deliberate", "recall", "--trees", topic, "--examine", "-"], Some(&delta))?;
    let gates = record["gates"].as_array().context("gates")?;
    let failed: Vec<String> = gates
        .iter()
        .filter(|gate| gate["passed"] != true)
        .map(|gate| gate["name"].as_str().unwrap_or_default()[..2].to_owned())
        .collect();
    let said = gates.iter().find_map(|gate| gate["note"].as_str().filter(|note| note.contains(" rides along")));
    Ok((failed, said.and_then(|note| to.iter().find(|id| note.contains(&format!(" to {id} rides"))).cloned())))
}

/// Counts what passed at once, what passed at last, and all.
fn count_in(counts: &mut [usize; 3], judged: &Judged) {
    counts[0] += usize::from(judged.failed.is_empty());
    counts[1] += usize::from(judged.at_last.is_empty());
    counts[2] += 1;
}

fn main() -> Result<()> {
    let (mut worlds, mut first, mut count, mut random, mut cycles) = (10, 11, 480, 500, 8);
    let (mut set, mut searches, mut paid) = (None, 0, 0);
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').with_context(|| format!("{argument}: not KEY=NUMBER"))?;
        if key == "set" {
            set = Some(value.to_owned());
            continue;
        }
        let slot = match key {
            "worlds" => &mut worlds,
            "first" => &mut first,
            "notes" => &mut count,
            "random" => &mut random,
            "cycles" => &mut cycles,
            "search" => &mut searches,
            "models" => &mut paid,
            _ => bail!("{key}: worlds, first, notes, random, cycles, set, search, models"),
        };
        *slot = value.parse().with_context(|| argument.clone())?;
    }
    if let Some(set) = set {
        return life::live(Path::new(&set), cycles);
    }
    if searches > 0 {
        return search::search(searches, cycles);
    }
    if paid > 0 {
        return models::pay(paid, first, count);
    }
    println!("{worlds} worlds from seed {first} of {count} notes, for each of two ways of planting.\n");
    println!(
        "| planted | good deltas that pass | without what rides along | random deltas that pass | without what rides along | gates that good ones fail at last | ms a good delta |\n|---|---|---|---|---|---|---|"
    );
    for kind in ["next", "alias"] {
        let (mut good, mut chance, mut fails, mut ms) = ([0; 3], [0; 3], std::collections::BTreeMap::new(), 0.0);
        for seed in first..first + worlds {
            let folder = tempfile::tempdir()?;
            let dir = folder.path().join("brain");
            let (notes, pairs) = world(kind, seed as u64, count);
            fed(folder.path(), &dir, &notes)?;
            let moments: std::collections::BTreeMap<String, usize> = (0..count).map(|n| (moment(n), n)).collect();
            // Of notes that say the same recall tells the newest, so a note is known by its time.
            let found = |words: &str| -> Result<Vec<(String, usize)>> {
                let found = brain(&dir, &["recall", "--top", "200", words], None)?;
                let all = found["results"].as_array().context("results")?.iter();
                let place = |one: &Value| moments.get(one["at"].as_str()?).copied();
                Ok(all.filter_map(|one| Some((one["id"].as_str()?.to_owned(), place(one)?))).collect())
            };
            let concept = |words: &str| -> Result<String> {
                let found = brain(&dir, &["find", words], None)?;
                Ok(found["results"][0]["id"].as_str().context("a concept")?.to_owned())
            };
            for (from, to) in &pairs {
                // Notes that came soon after: a gardener sees no others of what a topic of many notes recalls.
                let is_soon =
                    |at: usize| notes[at.saturating_sub(SOON)..at].iter().any(|note| note.contains(from.as_str()));
                let mut older = found(to)?;
                older.retain(|(_, at)| *at < older_part(count) && notes[*at].contains(to.as_str()) && is_soon(*at));
                let tied: Vec<String> = older.into_iter().map(|(id, _)| id).take(3).collect();
                if tied.is_empty() {
                    continue;
                }
                let start = std::time::Instant::now();
                let judged = judged(&dir, from, &concept(from)?, &tied)?;
                ms += start.elapsed().as_secs_f64() * 1000.0;
                count_in(&mut good, &judged);
                judged.at_last.into_iter().for_each(|gate| *fails.entry(gate).or_insert(0) += 1);
            }
            let mut draw = Draw(seed as u64 ^ 0xFFFF);
            let words: Vec<String> =
                notes.iter().filter_map(|note| note.split(' ').nth(3).map(str::to_owned)).collect();
            let everything: Vec<String> = {
                let mut all = Vec::new();
                for person in ["Anna", "Bob", "Carla", "Dino", "Eva", "Frida", "Gustav", "Hedda"] {
                    let older = found(person)?.into_iter().filter(|(_, at)| *at < older_part(count));
                    all.extend(older.map(|(id, _)| id));
                }
                all
            };
            for _ in 0..random / worlds.max(1) {
                let from = words[draw.of(words.len())].clone();
                let to: Vec<String> = (0..3).map(|_| everything[draw.of(everything.len())].clone()).collect();
                let Ok(id) = concept(&from) else { continue };
                count_in(&mut chance, &judged(&dir, &from, &id, &to)?);
            }
        }
        println!(
            "| `{kind}` | {} of {} | {} | {} of {} | {} | {fails:?} | {:.0} |",
            good[0],
            good[2],
            good[1],
            chance[0],
            chance[2],
            chance[1],
            ms / good[2].max(1) as f64
        );
    }
    Ok(())
}
