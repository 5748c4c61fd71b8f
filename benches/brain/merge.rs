//! Merge: a hundred runs that wait, half of them changing the same neurons, brought into wake by one command; and the
//! same branches merged by git one by one, with the merge driver configured as `init` configures it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::commit::{adjust, branch_of, spread};
use crate::figures::{Figure, Table, ratio};
use crate::scene::{Scene, run, timed};
use crate::{Sizes, note};

/// A brain with runs that wait on branches, all from the same tip of wake.
struct Waiting {
    brain: PathBuf,
    clone: PathBuf,
    wake: String,
    /// Branch and commit.
    runs: Vec<(String, String)>,
}

pub fn measure(scene: &Scene, sizes: &Sizes) -> Result<()> {
    let mut figures: [[Figure; 2]; 3] = Default::default();
    let mut brains = Vec::new();
    for (name, neurons, grown) in [("small-merge", sizes.small, false), ("large-merge", sizes.large, true)] {
        brains.push((prepare(scene, name, neurons, grown, sizes.runs)?, Vec::new()));
    }
    for round in 0..=sizes.merges {
        for (column, (waiting, trees)) in brains.iter_mut().enumerate() {
            note("merging: git brain merge, git merge-tree");
            waiting.restore(scene)?;
            let time = waiting.by_brain(scene)?;
            trees.push(waiting.neurons(scene, &waiting.brain, "wake")?);
            // The first round fills caches, and puts together the packs of the runs that wait.
            if round == 0 {
                continue;
            }
            figures[0][column].add(time);
            let (time, tip) = waiting.by_merge_tree(scene)?;
            figures[2][column].add(time);
            trees.push(waiting.neurons(scene, &waiting.clone, &tip)?);
        }
    }
    for (column, (waiting, trees)) in brains.iter_mut().enumerate() {
        note("merging: git merge");
        figures[1][column].add(waiting.by_merge(scene)?);
        trees.push(waiting.neurons(scene, &waiting.clone, "HEAD")?);
    }
    let same: Vec<bool> = brains.iter().map(|(_, trees)| trees.windows(2).all(|pair| pair[0] == pair[1])).collect();
    let title = format!("3. {} runs into wake, half of them on the same neurons", sizes.runs);
    let grown = format!("{} neurons, signals, runs", sizes.large);
    let mut table = Table::new(&title, (format!("{} neurons", sizes.small), grown));
    let names = [
        "git brain merge, one command",
        "git merge in a work tree, one by one",
        "git merge-tree + commit-tree, one by one, no work tree",
    ];
    for (name, [small, large]) in names.iter().zip(&figures) {
        table.row(name, small.clone(), large.clone());
    }
    table.print();
    let equal = |same: bool| if same { "equal" } else { "NOT equal" };
    println!("\nThe neurons that come out are {} (small), {} (large).", equal(same[0]), equal(same[1]));
    println!("large/small of `git brain merge`: {}.", ratio(&figures[0][1], &figures[0][0]));
    Ok(())
}

fn prepare(scene: &Scene, name: &str, neurons: usize, grown: bool, runs: usize) -> Result<Waiting> {
    note(&format!("making a brain of {neurons} neurons with {runs} runs that wait"));
    let brain = scene.make_brain(name, neurons, grown)?;
    let wake = rev(scene, &brain, "wake")?;
    let mut found = Vec::new();
    for i in 0..runs {
        let file = scene.room.path("delta.json");
        std::fs::write(&file, delta(i, neurons))?;
        let args = ["--json", "apply", &file.to_string_lossy(), "--no-merge"];
        let branch = branch_of(&run(&mut scene.brain(&brain, &args))?.1)?;
        let commit = rev(scene, &brain, &branch)?;
        found.push((branch, commit));
    }
    let clone = scene.room.path(&format!("{name}-clone"));
    let (from, to) = (brain.to_string_lossy(), clone.to_string_lossy());
    timed(&mut scene.git(&brain, &["clone", "-q", "--branch", "wake", &from, &to]))?;
    timed(&mut scene.git(&clone, &["fetch", "-q", "origin", "refs/heads/agents/*:refs/heads/agents/*"]))?;
    // The driver asks whether the repository is a brain: the clone must be one.
    timed(&mut scene.git(&clone, &["branch", "-q", "main", "origin/main"]))?;
    for key in ["merge.git-brain.name", "merge.git-brain.driver", "brain.main", "brain.wake"] {
        let value = run(&mut scene.git(&brain, &["config", "--local", key]))?.1;
        timed(&mut scene.git(&clone, &["config", key, value.trim_end()]))?;
    }
    timed(&mut scene.git(&clone, &["config", "gc.auto", "0"]))?;
    std::fs::copy(brain.join(".git/info/attributes"), clone.join(".git/info/attributes"))?;
    Ok(Waiting { brain, clone, wake, runs: found })
}

/// Ten creates and ten adjusts; every second run's adjusts meet on ten neurons, the others' on none.
fn delta(i: usize, neurons: usize) -> String {
    let creates =
        (0..10).map(|k| serde_json::json!({"op": "create", "concept": format!("merge {i} {k}"), "type": "semantic"}));
    let seed = if i.is_multiple_of(2) { 0 } else { i + 1 };
    let adjusts = (0..10).map(|k| adjust(spread(seed % (neurons / 10), k, neurons), i % 10, neurons, 3));
    let ops: Vec<_> = creates.chain(adjusts).collect();
    serde_json::json!({ "ops": ops }).to_string()
}

fn rev(scene: &Scene, dir: &Path, name: &str) -> Result<String> {
    Ok(run(&mut scene.git(dir, &["rev-parse", "--verify", "-q", name]))?.1.trim().to_owned())
}

impl Waiting {
    /// Puts wake and the branches back to where nothing is merged.
    fn restore(&self, scene: &Scene) -> Result<()> {
        timed(&mut scene.git(&self.brain, &["update-ref", "refs/heads/wake", &self.wake]))?;
        for (branch, commit) in &self.runs {
            timed(&mut scene.git(&self.brain, &["update-ref", &format!("refs/heads/{branch}"), commit]))?;
        }
        Ok(())
    }

    fn by_brain(&self, scene: &Scene) -> Result<Duration> {
        let mut args = vec!["--json", "merge"];
        args.extend(self.runs.iter().map(|(branch, _)| branch.as_str()));
        timed(&mut scene.brain(&self.brain, &args))
    }

    fn by_merge(&self, scene: &Scene) -> Result<Duration> {
        let mut all = Duration::ZERO;
        for (branch, _) in &self.runs {
            all += timed(&mut scene.git(&self.clone, &["merge", "-q", "--no-ff", "--no-edit", branch]))?;
        }
        Ok(all)
    }

    /// The same merge without a work tree or an index: three plumbing commands a branch but for the last step.
    fn by_merge_tree(&self, scene: &Scene) -> Result<(Duration, String)> {
        let (mut all, mut tip) = (Duration::ZERO, self.wake.clone());
        let mut step = |args: &[&str]| -> Result<String> {
            let (time, text) = run(&mut scene.git(&self.clone, args))?;
            all += time;
            Ok(text.lines().next().context("an id")?.to_owned())
        };
        for (branch, commit) in &self.runs {
            let tree = step(&["merge-tree", "--write-tree", &tip, commit])?;
            tip = step(&["commit-tree", &tree, "-p", &tip, "-p", commit, "-m", branch])?;
        }
        all += timed(&mut scene.git(&self.clone, &["update-ref", "refs/heads/merged", &tip]))?;
        Ok((all, tip))
    }

    /// The id of the neurons' folder.
    fn neurons(&self, scene: &Scene, dir: &Path, at: &str) -> Result<String> {
        rev(scene, dir, &format!("{at}:network/neurons"))
    }
}
