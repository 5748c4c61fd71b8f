//! Commit: `apply` of a delta of twenty neurons in a small and in a large brain, and git doing the same in a work tree.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use git_brain::model::layout;

use crate::figures::{Figure, Table, ratio};
use crate::scene::{self, CONNECTIONS, Scene, timed};
use crate::{Sizes, note};

/// How git is told to write. `committed` is what git-brain does: all objects on disk before a ref names them.
const GITS: [(&str, &[&str]); 3] = [
    ("git add + commit, core.fsync=committed", &["-c", "core.fsync=committed"]),
    (
        "git add + commit, the same, core.fsyncMethod=batch",
        &["-c", "core.fsync=committed", "-c", "core.fsyncMethod=batch"],
    ),
    ("git add + commit, as git comes (loose objects not synced)", &[]),
];

/// A brain and a clone with a work tree.
struct Subject {
    neurons: usize,
    brain: PathBuf,
    clone: PathBuf,
}

pub fn measure(scene: &Scene, sizes: &Sizes) -> Result<()> {
    let mut subjects = Vec::new();
    for (name, neurons, grown) in [("small", sizes.small, false), ("large", sizes.large, true)] {
        note(&format!("making a brain of {neurons} neurons"));
        let brain = scene.make_brain(name, neurons, grown)?;
        let clone = scene.room.path(&format!("{name}-clone"));
        note("checking it out for git");
        let (from, to) = (brain.to_string_lossy(), clone.to_string_lossy());
        timed(&mut scene.git(&brain, &["clone", "-q", "--branch", "wake", &from, &to]))?;
        timed(&mut scene.git(&clone, &["config", "gc.auto", "0"]))?;
        subjects.push(Subject { neurons, brain, clone });
    }
    let mut figures = vec![vec![Figure::default(); subjects.len()]; 2 + GITS.len()];
    note(&format!("{} rounds", sizes.rounds));
    for round in 0..=sizes.rounds {
        for (column, subject) in subjects.iter().enumerate() {
            for (row, figure) in figures.iter_mut().enumerate() {
                let time = match row {
                    0 => apply(scene, subject, round, false)?,
                    1 => apply(scene, subject, round, true)?,
                    row => git_commit(scene, subject, round, row - 2)?,
                };
                // The first round fills caches.
                if round > 0 {
                    figure[column].add(time);
                }
            }
        }
    }
    let grown = format!("{} neurons, signals, runs", sizes.large);
    let mut table = Table::new("1. One delta of 20 neurons", (format!("{} neurons", sizes.small), grown));
    table.row("git brain apply (run commit + merge into wake)", figures[0][0].clone(), figures[0][1].clone());
    table.row("git brain apply --no-merge (one commit)", figures[1][0].clone(), figures[1][1].clone());
    for (row, (name, _)) in GITS.iter().enumerate() {
        table.row(name, figures[row + 2][0].clone(), figures[row + 2][1].clone());
    }
    table.print();
    println!("\nTarget: large/small of `apply` within 2. Measured: {}.", ratio(&figures[0][1], &figures[0][0]));
    Ok(())
}

fn apply(scene: &Scene, subject: &Subject, round: usize, no_merge: bool) -> Result<Duration> {
    let tag = format!("commit-{round}-{no_merge}");
    let file = scene.room.path("delta.json");
    std::fs::write(&file, delta(&tag, round * 2 + usize::from(no_merge), subject.neurons))?;
    let file = file.to_string_lossy();
    let mut args = vec!["--json", "apply", &*file];
    if no_merge {
        args.push("--no-merge");
    }
    let (time, answer) = scene::run(&mut scene.brain(&subject.brain, &args))?;
    if no_merge {
        // Held for review: out of the way of the next round.
        let branch = branch_of(&answer)?;
        timed(&mut scene.git(&subject.brain, &["branch", "-q", "-D", &branch]))?;
    }
    Ok(time)
}

/// The branch in the answer of `apply --json`.
pub fn branch_of(answer: &str) -> Result<String> {
    let answer: serde_json::Value = serde_json::from_str(answer)?;
    let branch = answer.pointer("/branch").and_then(|b| b.as_str());
    Ok(anyhow::Context::context(branch, "apply --json names the branch")?.to_owned())
}

/// Ten creates and ten adjusts of neurons spread over the brain.
pub fn delta(tag: &str, seed: usize, neurons: usize) -> String {
    let creates =
        (0..10).map(|k| serde_json::json!({"op": "create", "concept": format!("{tag} {k}"), "type": "semantic"}));
    let adjusts = (0..10).map(|k| adjust(spread(seed, k, neurons), k % CONNECTIONS, neurons, 7));
    let ops: Vec<_> = creates.chain(adjusts).collect();
    serde_json::json!({ "ops": ops }).to_string()
}

/// A change of one connection.
pub fn adjust(i: usize, k: usize, neurons: usize, by: i32) -> serde_json::Value {
    let (from, to) = (scene::id(i), scene::id(scene::target(i, k, neurons)));
    serde_json::json!({"op": "adjust", "from": from, "to": to, "type": "feeds_into", "by": by})
}

/// Ten different neurons for each seed, far from each other.
pub fn spread(seed: usize, k: usize, neurons: usize) -> usize {
    (seed * 10 + k) * 7919 % neurons
}

/// Ten new files and ten rewritten ones, then `git add` and `git commit`, which alone are timed.
fn git_commit(scene: &Scene, subject: &Subject, round: usize, how: usize) -> Result<Duration> {
    let mut paths = Vec::new();
    for k in 0..20 {
        let rewritten = k >= 10;
        let i = spread(round * GITS.len() + how, k, subject.neurons);
        let mut neuron = scene::neuron(i, subject.neurons)?;
        if !rewritten {
            neuron.id = git_brain::model::NeuronId::parse(&format!("new-{round}-{how}-{k}"))?;
        }
        neuron.salience = (round * 100 + how) as u16;
        let path = layout::neuron(&neuron.id);
        write(&subject.clone.join(&path), &neuron.encode())?;
        paths.push(path);
    }
    let options = GITS[how].1;
    let mut add: Vec<&str> = options.to_vec();
    add.extend(["add", "--"]);
    add.extend(paths.iter().map(String::as_str));
    let mut commit: Vec<&str> = options.to_vec();
    commit.extend(["commit", "-q", "-m", "twenty neurons"]);
    Ok(timed(&mut scene.git(&subject.clone, &add))? + timed(&mut scene.git(&subject.clone, &commit))?)
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, content)?)
}
