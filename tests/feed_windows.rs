//! A feed that comes in windows: what is remembered is what a feed of one window remembers, and memory does not follow the size of a file.

use std::collections::BTreeMap;
use std::process::Stdio;

use git_brain::brain::{Brain, FeedReport, FeedRequest, Source, Window};
use git_brain::world::World;
use serde_json::Value;

use crate::sandbox::{NOW, PROGRAM, Sandbox};

/// Writes a file into the brain's folder, where it has one name in every sandbox.
fn write(sandbox: &Sandbox, name: &str, text: String) {
    std::fs::write(sandbox.dir().join(name), text).unwrap();
}

fn feed(sandbox: &Sandbox, source: &str, stimuli: usize, change: impl FnOnce(&mut FeedRequest)) -> FeedReport {
    let brain = Brain::open(sandbox.dir(), World::fixed(NOW.parse().unwrap(), "windows"), &[]).unwrap();
    let window = Window { stimuli, bytes: usize::MAX };
    let sources = vec![Source::File(sandbox.dir().join(source))];
    let mut request = FeedRequest { sources, window, ..FeedRequest::default() };
    change(&mut request);
    brain.feed(&request, &mut |_| {}).unwrap()
}

/// The texts of memories, and their ids, days and places in the file.
fn remembered(sandbox: &Sandbox) -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let mut memories = sandbox.neurons("wake");
    memories.retain(|_, neuron| neuron["type"] == "episodic");
    for memory in memories.values_mut() {
        let fields = ["concept", "created_at", "source", "session", "archived"];
        let whole = memory.clone();
        *memory = fields.iter().map(|field| ((*field).to_owned(), Value::from(!whole[field].is_null()))).collect();
        for field in &fields[..4] {
            memory[field] = whole[field].clone();
        }
    }
    (memories, sandbox.documents("wake", "network/stimuli/"))
}

fn entry(n: usize) -> String {
    let name = ["Anna", "Ben", "Claire"][n % 3];
    format!("On day {n} of the journey {name} saw {} herons at the lock of Mill {}.", n * 7 % 11, n % 5)
}

/// A page that has a text twice, headings with days, and a list.
fn page(entries: impl Iterator<Item = usize>) -> String {
    let line = |n: usize| match n % 10 {
        0 => format!("## 2024-03-{:02}\n\n{}\n\n", n / 10 % 28 + 1, entry(n)),
        3 => format!("They bought:\n\n- bread {n}\n\n- milk {n}\n\n"),
        7 => format!("{}\n\n", entry(7)),
        _ => format!("{}\n\n", entry(n)),
    };
    entries.map(line).collect()
}

#[test]
fn a_feed_in_windows_remembers_what_one_window_remembers() {
    let (one, many) = (Sandbox::fixed(NOW, "windows"), Sandbox::fixed(NOW, "windows"));
    for sandbox in [&one, &many] {
        write(sandbox, "page.md", page(0..60));
        let lines = (60..110).map(|n| format!("{{\"text\": \"{}\", \"session\": \"s{}\"}}\n", entry(n), n % 4));
        write(sandbox, "batch.jsonl", lines.collect());
    }
    for source in ["page.md", "batch.jsonl", "page.md"] {
        let (whole, parts) = (feed(&one, source, 1_000, |_| {}), feed(&many, source, 7, |_| {}));
        assert_eq!((&whole.stimuli, whole.known), (&parts.stimuli, parts.known), "{source}");
        assert!(whole.ran.failures.is_empty() && parts.ran.failures.is_empty());
        assert_eq!(remembered(&one), remembered(&many), "{source}");
    }
    // A file that has changed everywhere: what is replaced goes with the window that replaces it.
    for sandbox in [&one, &many] {
        write(sandbox, "page.md", page(5..60).replace("herons", "grey herons").replace("bread", "rye bread"));
    }
    let (whole, parts) = (feed(&one, "page.md", 1_000, |_| {}), feed(&many, "page.md", 7, |_| {}));
    let counts = |report: &FeedReport| {
        let file = &report.files[0];
        (file.new, file.changed, file.removed, file.known)
    };
    assert_eq!(counts(&whole), counts(&parts));
    assert!(counts(&whole).1 > 30 && parts.archived.len() > whole.archived.len());
    assert_eq!(remembered(&one), remembered(&many));
    assert_eq!(many.json(&["status"])["queue"], 0);
    many.fsck();
}

#[test]
fn a_window_that_only_waits_is_stored_like_the_others() {
    let sandbox = Sandbox::fixed(NOW, "windows");
    write(&sandbox, "page.md", page(0..30));
    let dry = feed(&sandbox, "page.md", 4, |request| request.dry_run = true);
    let stored = feed(&sandbox, "page.md", 4, |request| request.no_run = true);
    assert_eq!((dry.stimuli.len() > 20, &dry.stimuli), (true, &stored.stimuli));
    assert_eq!(sandbox.json(&["status"])["queue"], stored.stimuli.len());
}

/// The most memory that a command had, KiB, by the kernel's account of it.
#[cfg(target_os = "linux")]
fn peak(sandbox: &Sandbox, args: &[&str], input: &str) -> u64 {
    let file = std::fs::File::open(input).unwrap();
    let mut child = sandbox.command(PROGRAM, args).stdin(file).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        most = most.max(line.trim().split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0));
    }
    assert!(child.wait().unwrap().success());
    most
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_reading_does_not_follow_the_size_of_the_file() {
    let sandbox = Sandbox::new();
    let paragraph = |n: usize| format!("{} {}\n\n", entry(n), "The water was high. ".repeat(180));
    let small: String = (0..400).map(paragraph).collect();
    let large: String = (0..4_000).map(paragraph).collect();
    let line = |n: usize| format!("{{\"text\": \"{} {}\"}}\n", entry(n), "The water was high. ".repeat(180));
    let files =
        [("page.md", small, large), ("batch.jsonl", (0..400).map(line).collect(), (0..4_000).map(line).collect())];
    for (name, small, large) in files {
        let (few, more) = (small.len(), large.len());
        let paths = [sandbox.file(&format!("small-{name}"), small), sandbox.file(&format!("large-{name}"), large)];
        // Without blank lines a batch is one paragraph to standard input, which is held whole.
        for from in ["file", "-"].into_iter().take(if name == "page.md" { 2 } else { 1 }) {
            let of =
                |path: &String| peak(&sandbox, &["feed", "--dry-run", if from == "-" { from } else { path }], path);
            let (of_few, of_more) = (of(&paths[0]), of(&paths[1]));
            println!("{name}, {from}: {few} bytes in {of_few} KiB, {more} bytes in {of_more} KiB");
            let grown = (of_more.saturating_sub(of_few)) as usize * 1024;
            assert!(grown < (more - few) / 2 + (8 << 20), "{name}, {from}: {of_few} KiB, {of_more} KiB");
        }
    }
}
