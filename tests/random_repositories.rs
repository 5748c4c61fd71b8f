//! Repositories with random damage: trees, commits, refs, configuration, and the private folder. Every command ends with a code of its own
//! and without a panic, and what is told names a place. `BRAIN_CASES` says how many, `BRAIN_CASE` repeats one of them.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, connect, create, delta};
use serde_json::json;

/// Numbers of a seed: splitmix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound.max(1) as u64).unwrap_or(0)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A text with some bytes changed, cut or put in.
fn damaged(dice: &mut Dice, content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] = dice.below(256) as u8,
            2 => drop(bytes.splice(at..at, b"99999999999999999999".iter().copied())),
            3 => drop(bytes.splice(at..at, b"\n".iter().copied())),
            4 => drop(bytes.splice(at..at, "\u{202e}\u{0}é".bytes())),
            _ => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    bytes[*dice.one(&digits)] = b'-';
                }
            }
        }
    }
    bytes
}

/// What an enemy, or a disk, does to a copy of a brain.
fn damage(sandbox: &Sandbox, dir: &Path, dice: &mut Dice) {
    let branches = ["wake", "main", "agents/memory/20260126t143200000z-abcd2345-memory"];
    for _ in 0..=dice.below(4) {
        match dice.below(8) {
            0..=2 => {
                let branch = dice.below(branches.len());
                plant(sandbox, dir, dice, branches[branch]);
            }
            3 => {
                let lines = [
                    "[brain]\n wake\n",
                    "[brain \"activation\"]\n decay\n max-depth = x\n",
                    "[brain]\n remote = ../../x\n requireSignatures = perhaps\n",
                    "[brain \"MODELS\"]\n a = {\n",
                    "[remote \"a b\"]\n url\n url = ../x\n",
                    "[core]\n autocrlf = ?\n sparseCheckout = 7\n",
                    "[branch \"main\"]\n remote = x\n merge = y\n",
                ];
                let config = dir.join(".git/config");
                let text = std::fs::read_to_string(&config).unwrap() + lines[dice.below(lines.len())];
                std::fs::write(config, text).unwrap();
            }
            4 => {
                let folder = dir.join(".git/git-brain");
                let files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
                    .sort_by_file_name()
                    .into_iter()
                    .flatten()
                    .filter(|e| e.file_type().is_file())
                    .map(|e| e.into_path())
                    .collect();
                if !files.is_empty() {
                    let file = dice.one(&files);
                    std::fs::write(file, damaged(dice, &std::fs::read(file).unwrap())).unwrap();
                }
            }
            5 => {
                let name = *dice.one(&["index", "packed-refs", "info/attributes", "info/sparse-checkout", "logs/HEAD"]);
                let file = dir.join(".git").join(name);
                if let Ok(content) = std::fs::read(&file) {
                    std::fs::write(&file, damaged(dice, &content)).unwrap();
                }
            }
            6 => {
                let file = dir.join("brain.toml");
                std::fs::write(&file, damaged(dice, &std::fs::read(&file).unwrap_or_default())).unwrap();
            }
            _ => {
                let names = ["remotes/x/wake", "rescue/y", "incoming/origin/wake"];
                let file = dir.join(".git/refs/git-brain").join(dice.one(&names));
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                let tip = sandbox.tip("wake");
                std::fs::write(file, damaged(dice, format!("{tip}\n").as_bytes())).unwrap();
            }
        }
    }
}

/// Commits damaged files on a branch, with a message that may claim anything.
fn plant(sandbox: &Sandbox, dir: &Path, dice: &mut Dice, branch: &str) {
    // Asked of the brain that it is a copy of: the copy's configuration may be nothing that git can read.
    let git = |args: &[&str]| sandbox.git(args);
    let paths: Vec<String> = git(&["ls-tree", "-r", "--name-only", "wake"]).lines().map(str::to_owned).collect();
    let trailers = [
        "Run: x",
        "Run: 20260126t143200000z-abcd2345-memory",
        "Agent: memory",
        "Sleep: y",
        "Undoes: z",
        "Policy: 00",
        "Format: 9",
        "Review: conflict",
        "Origin: \u{202e}",
    ];
    let mut message = "damage\n\n".to_owned();
    (0..dice.below(4)).for_each(|_| message += &format!("{}\n", dice.one(&trailers)));
    let mut stream = format!(
        "commit refs/heads/{}\ncommitter {} <a@example.invalid> {} +0000\ndata {}\n{message}from {}\n",
        branch,
        dice.one(&["memory", "Ann", "perception", "x y"]),
        dice.one(&["1769437920", "0", "99999999999", "4102444800"]),
        message.len(),
        git(&["rev-parse", "wake"]),
    )
    .into_bytes();
    if dice.below(3) == 0 {
        stream.extend(format!("merge {}\n", git(&["rev-parse", "main"])).bytes());
    }
    for _ in 0..=dice.below(5) {
        let from = dice.one(&paths).clone();
        let content = sandbox.command("git", &["cat-file", "blob", &format!("wake:{from}")]).output().unwrap().stdout;
        let path = match dice.below(4) {
            0 => dice.one(&paths).clone(),
            1 => format!(
                "network/{}/{}.json",
                dice.one(&["neurons", "runs/2026/01/26/ab", "signals/memory/ab", "x", "stimuli/queue/ab"]),
                dice.below(99)
            ),
            _ => from,
        };
        if dice.below(6) == 0 {
            stream.extend(format!("D {path}\n").bytes());
            continue;
        }
        let content = damaged(dice, &content);
        stream.extend(
            format!(
                "M {} inline {path}\ndata {}\n",
                dice.one(&["100644", "100644", "100755", "120000"]),
                content.len()
            )
            .bytes(),
        );
        stream.extend(content);
        stream.push(b'\n');
    }
    let file = sandbox.beside("stream");
    std::fs::write(&file, stream).unwrap();
    let at = dir.display().to_string();
    let mut command = sandbox.command("git", &["-C", &at, "fast-import", "--quiet", "--force", "--done"]);
    let mut stdin = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    std::io::Write::write_all(&mut stdin, b"done\n").unwrap();
    // What git itself does not take is no repository.
    let _ = command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    let crash = std::fs::read_dir(dir.join(".git")).unwrap().flatten();
    crash
        .filter(|e| e.file_name().to_string_lossy().starts_with("fast_import_crash"))
        .for_each(|e| std::fs::remove_file(e.path()).unwrap());
}

#[test]
fn no_damage_makes_a_command_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("BRAIN_CASES").unwrap_or(6);
    let first = number("BRAIN_CASE");
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ann keeps herons in Kyoto. Is the heron tame?", "--session", "s"]);
    sandbox.apply(&delta(json!([create("tea"), create("cup"), connect("tea", "cup", "feeds_into", 20000)])), &[]);
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.apply(&delta(json!([create("waiting")])), &["--no-merge"]);
    let good = sandbox.path("good.git");
    sandbox.git(&["init", "-q", "--bare", "-b", "main", &good]);
    sandbox.brain(&["sync", &good]).exits(0);
    for case in first.map_or(0..cases, |case| case..case + 1) {
        println!("BRAIN_CASE={case}");
        let dir = sandbox.beside("case");
        let (from, to) = (sandbox.dir().display().to_string(), dir.display().to_string());
        let remote = sandbox.path("case.git");
        for (from, to) in [(&from, &to), (&good, &remote)] {
            assert!(sandbox.command("cp", &["-a", from, to]).status().unwrap().success());
        }
        damage(&sandbox, &dir, &mut Dice(case));
        for args in [
            &["status"][..],
            &["check"],
            &["recall", "heron"],
            &["why", "tea"],
            &["merge"],
            &["run"],
            &["sync", &remote],
            &["sleep"],
            &["doctor"],
            &["feed", "Ben came."],
            &["log"],
        ] {
            // A panic fails inside.
            let answer = sandbox.brain(&[&["-C", to.as_str()], args].concat());
            assert!((0..=6).contains(&answer.code), "case {case}: {answer}");
            assert!(answer.code == 0 || !answer.err.is_empty() || !answer.out.is_empty(), "case {case}: {answer}");
        }
        std::fs::remove_dir_all(dir).unwrap();
        std::fs::remove_dir_all(remote).unwrap();
    }
}
