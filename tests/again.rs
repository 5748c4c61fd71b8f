//! Feeding again: edited files, corrections, folders, patterns, and texts that are known. Whatever a file was, its live memories
//! are the pieces of what it says now, each once, and each question has one answer: the newest.

use std::collections::{BTreeMap, BTreeSet};

use crate::machines::World as Machines;
use crate::sandbox::{self, Dice, NOW, Sandbox};
use git_brain::brain::{Brain, FeedRequest, RecallRequest, Source, World};
use git_brain::model::{Kind, Neuron, Stamp};
use serde_json::{Value, json};

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} of {value} is no text"))
}

/// The live memories, by text.
fn live(sandbox: &Sandbox) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (id, neuron) in sandbox.neurons("wake") {
        let is_archived = neuron.get("archived").is_some_and(|run| *run == neuron["run"]);
        if neuron["type"] == "episodic" && !is_archived {
            let text = text(&neuron, "concept").to_owned();
            assert!(found.insert(text.clone(), neuron).is_none(), "{text:?} twice, once as {id}");
        }
    }
    found
}

fn texts(sandbox: &Sandbox) -> Vec<String> {
    live(sandbox).into_keys().collect()
}

fn counts(report: &Value) -> Vec<(String, [u64; 4])> {
    let count = |file: &Value, what: &str| file[what].as_u64().unwrap();
    let files = report["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |file: &Value| {
        (text(file, "file").to_owned(), ["new", "changed", "removed", "known"].map(|what| count(file, what)))
    };
    files.iter().map(line).collect()
}

/// What recall answers, best first.
fn asked(sandbox: &Sandbox, question: &str) -> Vec<Value> {
    sandbox.json(&["recall", "--", question])["results"].as_array().unwrap().clone()
}

/// A diary under edit: an entry for each topic, and what a reader knows who has the last text only.
struct Diary {
    dice: Dice,
    /// Topic and value, in order.
    entries: Vec<(&'static str, u64)>,
    spare: Vec<&'static str>,
}

const TOPICS: [&str; 20] = [
    "violin",
    "tractor",
    "lighthouse",
    "orchard",
    "submarine",
    "parrot",
    "cathedral",
    "glacier",
    "accordion",
    "windmill",
    "telescope",
    "bakery",
    "volcano",
    "hammock",
    "sapphire",
    "trumpet",
    "penguin",
    "meadow",
    "compass",
    "lantern",
];

impl Diary {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let entries = TOPICS[..12].iter().map(|topic| (*topic, 100 + dice.below(900))).collect();
        Self { dice, entries, spare: TOPICS[12..].to_vec() }
    }

    fn pieces(&self) -> Vec<String> {
        let line =
            |(topic, value): &(&str, u64)| format!("## The {topic}\n\nAnna paid {value} crowns for the {topic}.");
        self.entries.iter().map(line).collect()
    }

    fn edit(&mut self) {
        for _ in 0..=self.dice.below(4) {
            let at = self.dice.below(self.entries.len() as u64) as usize;
            match self.dice.below(5) {
                0 | 1 => self.entries[at].1 = 100 + self.dice.below(900),
                2 => {
                    let gone = self.entries.remove(at);
                    self.spare.insert(0, gone.0);
                }
                3 => {
                    let topic = self.spare.remove(0);
                    self.entries.insert(at, (topic, 100 + self.dice.below(900)));
                }
                _ => {
                    let moved = self.entries.remove(at);
                    self.entries.push(moved);
                }
            }
        }
    }
}

fn live_of(brain: &Brain) -> Vec<Neuron> {
    let mut neurons = brain.neurons(None).unwrap();
    neurons.retain(|n| n.kind == Kind::Episodic && !n.is_archived());
    neurons
}

/// What the diary says against what is remembered of it.
fn remembers(brain: &Brain, diary: &Diary, seed: u64, turn: u64) {
    let mut expected = diary.pieces();
    let mut found: Vec<String> = live_of(brain).into_iter().map(|n| n.concept).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "seed {seed}, turn {turn}");
    for topic in TOPICS {
        let question = format!("What did Anna pay for the {topic}?");
        let answers = brain.recall(&RecallRequest { query: question, ..RecallRequest::default() }).unwrap().results;
        let said: Vec<&str> =
            answers.iter().map(|answer| answer.text.as_str()).filter(|text| text.contains(topic)).collect();
        let entry = diary.pieces().into_iter().find(|piece| piece.contains(topic));
        assert_eq!(said, entry.iter().map(String::as_str).collect::<Vec<_>>(), "seed {seed}, turn {turn}, {topic}");
        if let Some(entry) = entry {
            assert_eq!(answers[0].text, entry, "seed {seed}, turn {turn}: the best answer");
        }
    }
}

#[test]
fn an_edited_diary_has_one_answer_to_each_question_the_newest() {
    for seed in 1..=3 {
        let sandbox = Sandbox::fixed(NOW, "diary");
        let file = sandbox.beside("diary.md");
        let mut diary = Diary::new(seed);
        let start: Stamp = NOW.parse().unwrap();
        for turn in 0..6 {
            let now = Stamp::from_unix(start.unix() + 3600 * turn as i64);
            let brain = Brain::open(sandbox.dir(), World::fixed(now, "diary"), &[]).unwrap();
            std::fs::write(&file, diary.pieces().join("\n\n")).unwrap();
            let request = FeedRequest {
                sources: vec![Source::File(file.clone())],
                // Now and then the agents run later.
                no_run: turn == 2,
                ..FeedRequest::default()
            };
            let report = brain.feed(&request, &mut |_| {}).unwrap();
            let counted = &report.files[0];
            assert_eq!(counted.new + counted.changed + counted.known, diary.pieces().len(), "seed {seed}, turn {turn}");
            match turn {
                2 => {}
                4 => {
                    brain.sleep(git_brain::brain::SleepRequest::default()).unwrap();
                    remembers(&brain, &diary, seed, turn);
                }
                _ => remembers(&brain, &diary, seed, turn),
            }
            let known = brain.feed(&request, &mut |_| {}).unwrap();
            assert_eq!((known.known, known.stimuli.len(), known.archived.len()), (diary.pieces().len(), 0, 0));
            diary.edit();
        }
    }
}

#[test]
fn what_is_inserted_at_the_top_changes_nothing_else() {
    let sandbox = Sandbox::new();
    let page = "# Walks\n\nThe heron stood in the reeds.\n\nThe kingfisher was faster.\n";
    let file = sandbox.file("walk.md", page);
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [2, 0, 0, 0]);
    sandbox.file("walk.md", format!("Notes of a year.\n\n{page}"));
    let tried = sandbox.json(&["feed", "--dry-run", &file]);
    assert_eq!((counts(&tried)[0].1, texts(&sandbox).len()), ([1, 0, 0, 2], 2), "tried, and nothing is written");
    let report = sandbox.json(&["feed", &file]);
    assert_eq!((counts(&report)[0].1, report["known"].as_u64()), ([1, 0, 0, 2], Some(2)));
    let label = sandbox.path("walk.md");
    for (text, memory) in live(&sandbox) {
        let source = memory["source"].as_str().unwrap();
        assert!(source.starts_with(&format!("{label}#")) && source.len() == label.len() + 9, "{text}: {source}");
        assert_eq!(memory["session"], label);
    }
}

#[test]
fn why_shows_the_old_and_the_new() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n\nIt rained.\n");
    sandbox.json(&["feed", &file]);
    let old = text(&live(&sandbox)["Anna lives in Kyoto with two cats."], "id").to_owned();
    sandbox.file("d.md", "Anna lives in Osaka with two cats.\n\nIt rained.\n");
    let said = sandbox.brain(&["feed", &file]).exits(0).out;
    assert!(said.contains("d.md: 1 changed, 1 known\n"), "{said}");
    let new = text(&live(&sandbox)["Anna lives in Osaka with two cats."], "id").to_owned();
    let answers = asked(&sandbox, "Where does Anna live?");
    assert_eq!((&answers[0]["id"], &answers[0]["older"]), (&json!(new), &json!([old])));
    assert!(answers.iter().all(|answer| answer["id"] != old.as_str()), "{answers:?}");
    let why = sandbox.brain(&["why", &new]).exits(0).out;
    assert!(why.contains(&format!("replaces {old}: Anna lives in Kyoto with two cats.")), "{why}");
    let why = sandbox.brain(&["why", &old]).exits(0).out;
    assert!(why.contains(&format!("archived: replaced by {new}")), "{why}");
    // The night takes the old one away, and who replaced what is known all the same.
    sandbox.brain(&["sleep"]).exits(0);
    assert!(!sandbox.neurons("wake").contains_key(&old));
    assert_eq!(asked(&sandbox, "Where does Anna live?")[0]["older"], json!([old]));
    // And back again.
    sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n\nIt rained.\n");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 1, 0, 1]);
    let answers = asked(&sandbox, "Where does Anna live?");
    assert_eq!(
        (text(&answers[0], "text"), &answers[0]["older"]),
        ("Anna lives in Kyoto with two cats.", &json!([new, old]))
    );
}

#[test]
fn what_a_file_loses_is_archived_and_can_come_back() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "The heron stood in the reeds.\n\nThe dog is called Biscuit.\n");
    sandbox.json(&["feed", &file]);
    let dog = text(&live(&sandbox)["The dog is called Biscuit."], "id").to_owned();
    sandbox.file("d.md", "The heron stood in the reeds.\n");
    let report = sandbox.json(&["feed", &file]);
    assert_eq!(counts(&report)[0].1, [0, 0, 1, 1]);
    assert_eq!(texts(&sandbox), ["The heron stood in the reeds."]);
    // Taken back: it is there again, until the file is fed again.
    sandbox.brain(&["revert", "--run", report["archived"][0].as_str().unwrap()]).exits(0);
    assert!(live(&sandbox).contains_key("The dog is called Biscuit."));
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 1, 1]);
    sandbox.brain(&["restore", &dog]).exits(0);
    assert!(live(&sandbox).contains_key("The dog is called Biscuit."));
    sandbox.json(&["feed", &file]);
    // In the file again, after a night.
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.file("d.md", "The heron stood in the reeds.\n\nThe dog is called Biscuit.\n");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [1, 0, 0, 1]);
    assert_eq!(texts(&sandbox).len(), 2);
    // An empty file loses all.
    sandbox.file("d.md", "");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 2, 0]);
    assert!(sandbox.brain(&["feed", &file]).exits(2).err.contains("empty"));
}

#[test]
fn a_feed_that_was_killed_is_finished_by_the_next() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n\nIt rained.\n\nThe ferry left at nine.\n");
    sandbox.json(&["feed", &file]);
    sandbox.file("d.md", "Anna lives in Osaka with two cats.\n\nIt rained.\n");
    sandbox.json(&["feed", "--no-run", &file]);
    // Killed after the stimuli were durable and before anything was archived.
    let stored = sandbox.lines(&["log", "--first-parent", "--format=%H %s", "wake"]);
    let stored = stored.iter().find(|line| line.contains(" stimulus: ")).unwrap().split(' ').next().unwrap().to_owned();
    sandbox.git(&["update-ref", "refs/heads/wake", &stored]);
    sandbox.git(&["reset", "-q", "--hard", "wake"]);
    assert_eq!(texts(&sandbox).len(), 3);
    let report = sandbox.json(&["feed", &file]);
    assert_eq!((counts(&report)[0].1, &report["stimuli"]), ([0, 1, 1, 2], &json!([])));
    assert_eq!(texts(&sandbox), ["Anna lives in Osaka with two cats.", "It rained."]);
    assert_eq!(asked(&sandbox, "Where does Anna live?")[0]["older"].as_array().unwrap().len(), 1);
    sandbox.fsck();
    assert_eq!(sandbox.json(&["check"])["findings"], json!([]));
}

#[test]
fn what_waits_and_is_outdated_is_never_perceived() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n");
    sandbox.json(&["feed", "--no-run", &file]);
    sandbox.file("d.md", "Anna lives in Osaka with two cats.\n");
    sandbox.json(&["feed", "--no-run", &file]);
    sandbox.json(&["run"]);
    assert_eq!(texts(&sandbox), ["Anna lives in Osaka with two cats."]);
    assert_eq!(sandbox.json(&["status"])["queue"], 0);
}

#[test]
fn a_correction_outranks_what_it_corrects() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "The meeting with Ben is on Tuesday at nine."]);
    let old = text(&asked(&sandbox, "When is the meeting with Ben?")[0], "id").to_owned();
    let correction = "The meeting with Ben is on Thursday at nine.";
    let report = sandbox.json(&["feed", "--corrects", &old, correction]);
    assert_eq!(report["corrected"]["corrects"], json!(old));
    let answers = asked(&sandbox, "When is the meeting with Ben?");
    assert_eq!((text(&answers[0], "text"), &answers[0]["older"]), (correction, &json!([old])));
    assert_eq!(answers[0]["id"], report["corrected"]["by"]);
    assert_eq!(texts(&sandbox), [correction]);
    let again = sandbox.json(&["feed", "--corrects", &old, correction]);
    assert_eq!((&again["stimuli"], &again["known"], &again["archived"]), (&json!([]), &json!(1), &Value::Null));
    assert!(!report["notes"].to_string().contains("has few of them"), "{report}");
    // The later of two corrections stands alone.
    let friday = "The meeting with Ben is on Friday.";
    let other = sandbox.json(&["feed", "--corrects", &old, friday]);
    assert_eq!(texts(&sandbox), [friday]);
    let answers = asked(&sandbox, "When is the meeting with Ben?");
    assert_eq!((text(&answers[0], "text"), answers.len()), (friday, 1), "{answers:?}");
    let older: std::collections::BTreeSet<&str> =
        answers[0]["older"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(older, [old.as_str(), text(&report["corrected"], "by")].into());
    assert_eq!(other["corrected"]["corrects"], json!(old));
    for (args, says) in [
        (vec!["feed", "--corrects", "no-such", "x"], "no-such"),
        (vec!["feed", "--corrects", "n_core_memory", "x"], "no memory"),
        (vec!["feed", "--corrects", &old, "The meeting with Ben is on Tuesday at nine."], "word by word"),
        (vec!["feed", "--corrects", &old, "."], "file"),
    ] {
        let answer = sandbox.brain(&args).exits(2);
        assert!(answer.err.contains(says), "{answer}");
    }
}

#[test]
fn a_correction_in_other_words_is_kept_with_a_note() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "The staging server of the billing team lives on copper-7."]);
    let old = text(&asked(&sandbox, "Where does the staging server live?")[0], "id").to_owned();
    let answer = sandbox.brain(&["feed", "--corrects", &old, "Billing moved to zinc-3."]).exits(0);
    assert!(format!("{answer}").contains(&format!("in the words of {old} does not find")), "{answer}");
    assert_eq!(texts(&sandbox), ["Billing moved to zinc-3."]);
}

#[test]
fn a_correction_of_a_file_stands_until_the_file_changes_there() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n\nIt rained.\n");
    sandbox.json(&["feed", &file]);
    let old = text(&live(&sandbox)["Anna lives in Kyoto with two cats."], "id").to_owned();
    sandbox.json(&["feed", "--corrects", &old, "Anna lives in Nara with two cats."]);
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 0, 2], "the file has not changed");
    assert_eq!(texts(&sandbox), ["Anna lives in Nara with two cats.", "It rained."]);
    sandbox.brain(&["sleep"]).exits(0);
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 0, 2]);
    sandbox.file("d.md", "Anna lives in Osaka with two cats.\n\nIt rained.\n");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 1, 0, 1]);
    assert_eq!(texts(&sandbox), ["Anna lives in Osaka with two cats.", "It rained."]);
}

#[test]
fn what_is_trusted_less_replaces_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("d.md", "Anna lives in Kyoto with two cats.\n");
    sandbox.json(&["feed", &file]);
    let id = text(&live(&sandbox)["Anna lives in Kyoto with two cats."], "id").to_owned();
    sandbox.brain(&["feed", "--origin", "mcp:editor", "--corrects", &id, "Anna lives in Nara."]).exits(3);
    sandbox.file("d.md", "Anna lives in Nara with two cats.\n");
    sandbox.json(&["feed", "--origin", "mcp:editor", &file]);
    assert!(live(&sandbox).contains_key("Anna lives in Kyoto with two cats."));
    sandbox.json(&["feed", "--origin", "mcp:editor", "The ferry left at nine."]);
    let said = sandbox.json(&["feed", "The ferry left at nine."]);
    assert_eq!(said["known"], 0, "what a person says is not what a program said");
}

#[test]
fn folders_and_patterns_are_read_and_equal_names_differ() {
    let sandbox = Sandbox::new();
    for (name, content) in [
        ("notes/a.md", "The heron stood in the reeds."),
        ("notes/deep/a.md", "The kingfisher was faster."),
        ("notes/deep/b.txt", "The ferry left at nine."),
        ("notes/.hidden.md", "Nobody reads this."),
        ("notes/.git/c.md", "Nor this."),
        ("notes/batch.jsonl", "{\"text\": \"The dog is called Biscuit.\", \"source\": \"batch:1\"}\n"),
    ] {
        sandbox.file(name, content);
    }
    sandbox.file("notes/picture.png", b"\x89PNG\x00\x01");
    sandbox.file("notes/latin1.txt", b"caf\xe9");
    let said = sandbox.brain(&["feed", &sandbox.path("notes")]).exits(0).out;
    assert!(said.contains("2 files passed over: no text"), "{said}");
    let expected = [
        "The dog is called Biscuit.",
        "The ferry left at nine.",
        "The heron stood in the reeds.",
        "The kingfisher was faster.",
    ];
    assert_eq!(texts(&sandbox), expected);
    let sources: BTreeSet<String> =
        live(&sandbox).values().map(|memory| text(memory, "source").split('#').next().unwrap().to_owned()).collect();
    assert!(sources.contains(&sandbox.path("notes/a.md")) && sources.contains(&sandbox.path("notes/deep/a.md")));
    let again = sandbox.json(&["feed", &sandbox.path("notes/**/*.md"), &sandbox.path("notes/a.md")]);
    assert_eq!((again["known"].as_u64(), counts(&again).len()), (Some(2), 2), "each file once");
    // A file that cannot be read stops no other, and the exit code tells.
    sandbox.file("notes/a.md", "The heron flew away over the reeds.");
    let args =
        ["--json", "feed", &sandbox.path("notes/a.md"), &sandbox.path("gone.md"), &sandbox.path("notes/latin1.txt")];
    let answer = sandbox.brain(&args).exits(5).document();
    assert_eq!((counts(&answer)[0].1, answer["unread"].as_array().unwrap().len()), ([0, 1, 0, 0], 2));
    assert!(live(&sandbox).contains_key("The heron flew away over the reeds."));
}

#[test]
fn a_brain_does_not_feed_on_itself() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.dir().join("notes.md"), "The heron stood in the reeds.\n").unwrap();
    sandbox.json(&["feed", "."]);
    let memories = live(&sandbox);
    assert_eq!(memories.keys().collect::<Vec<_>>(), ["The heron stood in the reeds."]);
    let source = memories.values().next().unwrap()["source"].as_str().unwrap();
    assert!(source.starts_with("notes.md#"), "{source}");
    let home = sandbox.file("home/diary.md", "It rained.\n");
    sandbox.json(&["feed", &home]);
    assert_eq!(live(&sandbox)["It rained."]["session"], "~/diary.md");
}

#[test]
fn words_are_a_text_and_a_missing_file_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Anna", "likes", "tea"]);
    sandbox.json(&["feed", "--text", "no-such.md"]);
    assert_eq!(texts(&sandbox), ["Anna likes tea", "no-such.md"]);
    for path in ["diary.md", "./diary", "notes/diary", "*.md"] {
        let answer = sandbox.brain(&["feed", path]).exits(2);
        assert!(answer.err.contains(path) && answer.err.contains("--text"), "{answer}");
    }
    let here = sandbox.dir().display().to_string();
    let answer = sandbox.brain(&["feed", &here, "tea"]).exits(2);
    assert!(answer.err.contains("tea is not") || answer.err.contains("and tea is not"), "{answer}");
    assert_eq!(texts(&sandbox).len(), 2);
}

#[test]
fn a_page_on_standard_input_is_split_as_a_file_is() {
    let sandbox = Sandbox::new();
    let page = "# Walk\n\nThe heron stood in the reeds.\n\nThe kingfisher was faster.\n";
    sandbox.brain_with(&["feed", "-"], page.as_bytes()).exits(0);
    assert_eq!(texts(&sandbox), ["# Walk\n\nThe heron stood in the reeds.", "The kingfisher was faster."]);
    let more = format!("{page}\nIt rained.\n");
    let answer = sandbox.brain_with(&["--json", "feed", "-"], more.as_bytes()).exits(0).document();
    assert_eq!((answer["stimuli"].as_array().unwrap().len(), &answer["known"]), (1, &json!(2)));
    for page in [page, more.as_str()] {
        sandbox.brain_with(&["feed", "-", "--source", "walk"], page.as_bytes()).exits(0);
    }
    assert_eq!(live_sources(&sandbox, "walk#"), 3);
}

fn live_sources(sandbox: &Sandbox, start: &str) -> usize {
    let starts = |neuron: &Value| neuron["source"].as_str().is_some_and(|source| source.starts_with(start));
    sandbox.neurons("wake").values().filter(|neuron| neuron["type"] == "episodic" && starts(neuron)).count()
}

#[test]
fn equal_texts_are_known_unless_they_are_said_again() {
    let sandbox = Sandbox::new();
    let feed = |args: &[&str]| {
        let report = sandbox.json(&[&["feed", "The gulls are loud."], args].concat());
        (report["stimuli"].as_array().unwrap().len(), report["known"].as_u64().unwrap())
    };
    assert_eq!(feed(&[]), (1, 0));
    assert_eq!(feed(&[]), (0, 1));
    assert_eq!(feed(&["--session", "harbour"]), (1, 0), "another place");
    assert_eq!(feed(&["--at", "2025-01-01T00:00:00Z"]), (1, 0), "another time");
    assert_eq!(feed(&["--at", "2025-01-01T00:00:00Z"]), (0, 1));
    assert_eq!(feed(&["--again"]), (1, 0));
    assert_eq!(feed(&["--again", "--dry-run"]), (1, 0));
    // What waits is known as well; what is gone is not.
    let other = Sandbox::new();
    for expected in [1, 0] {
        let report = other.json(&["feed", "--no-run", "The gulls are loud."]);
        assert_eq!(report["stimuli"].as_array().unwrap().len(), expected);
    }
    other.json(&["run"]);
    let id = text(&live(&other)["The gulls are loud."], "id").to_owned();
    other.apply(&json!({"ops": [{"op": "archive", "id": id, "reason": "no"}]}), &[]);
    assert_eq!(other.json(&["feed", "The gulls are loud."])["known"], 0);
    assert_eq!(texts(&other), ["The gulls are loud."]);
    let file = other.file("d.md", "It rained.");
    assert!(other.brain(&["feed", "--again", &file]).exits(2).err.contains("--again"));
    let second = other.file("e.md", "It rained.");
    assert!(other.brain(&["feed", "--source", "s", &file, &second]).exits(2).err.contains("--source"));
}

#[test]
fn an_edited_file_travels() {
    let world = Machines::new();
    world.clone("b");
    let file = world.dir("diary.md");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    let path = file.display().to_string();
    write("Anna lives in Kyoto with two cats.\n\nIt rained.\n");
    world.json("a", &["feed", &path]);
    world.sync("a");
    world.sync("b");
    write("Anna lives in Osaka with two cats.\n");
    let report = world.json("b", &["feed", &path]);
    assert_eq!(counts(&report)[0].1, [0, 1, 1, 0]);
    world.sync("b");
    world.sync("a");
    let answers = world.json("a", &["recall", "Where does Anna live?"])["results"].as_array().unwrap().clone();
    assert_eq!(text(&answers[0], "text"), "Anna lives in Osaka with two cats.");
    assert_eq!(answers[0]["older"].as_array().unwrap().len(), 1);
}

fn gone(report: &Value) -> Vec<(String, u64, Option<String>)> {
    let files = report["gone"].as_array().cloned().unwrap_or_default();
    let line = |file: &Value| {
        (
            text(file, "file").to_owned(),
            file["archived"].as_u64().unwrap(),
            file["moved_to"].as_str().map(str::to_owned),
        )
    };
    files.iter().map(line).collect()
}

#[test]
fn a_file_that_a_folder_no_longer_has_is_noticed() {
    let sandbox = Sandbox::new();
    sandbox.file("n/a.md", "The heron stood in the reeds.\n");
    let b = sandbox.file("n/b.md", "The dog is called Biscuit.\n\nIt rained.\n");
    sandbox.file("other/b.md", "The ferry left at nine.\n");
    let folder = sandbox.path("n");
    sandbox.json(&["feed", &folder, &sandbox.path("other")]);
    std::fs::remove_file(&b).unwrap();
    let hint = sandbox.brain(&["feed", &b]).exits(2).err;
    assert!(hint.contains("--gone"), "{hint}");
    let tried = sandbox.json(&["feed", "--dry-run", &folder]);
    assert_eq!((gone(&tried), texts(&sandbox).len()), (vec![(b.clone(), 0, None)], 4), "tried, and nothing is written");
    let origin = sandbox.json(&["feed", "--origin", "mcp:editor", "--gone", &b]);
    assert_eq!((gone(&origin), live(&sandbox).contains_key("It rained.")), (vec![], true), "it is trusted less");
    // Another machine may have it: it is named, and stays until somebody says so.
    let said = sandbox.brain(&["feed", &folder]).exits(0).out;
    assert!(said.contains("b.md is not there: 2 memories of it stay") && said.contains("--gone PATH"), "{said}");
    assert_eq!(texts(&sandbox).len(), 4);
    let said = sandbox.brain(&["feed", "--gone", &folder]).exits(0).out;
    assert!(said.contains("b.md: gone, 2 archived"), "{said}");
    let left = texts(&sandbox);
    assert!(
        !left.contains(&"It rained.".to_owned()) && left.contains(&"The ferry left at nine.".to_owned()),
        "{left:?}"
    );
    assert_eq!(gone(&sandbox.json(&["feed", &folder])), vec![]);
    // And when the file is there again.
    sandbox.file("n/b.md", "The dog is called Biscuit.\n\nIt rained.\n");
    sandbox.json(&["feed", &folder]);
    assert!(texts(&sandbox).contains(&"It rained.".to_owned()));
    assert!(sandbox.brain(&["feed", "--gone", &b]).exits(2).err.contains("still there"));
    std::fs::remove_file(&b).unwrap();
    let report = sandbox.json(&["feed", "--gone", &b]);
    assert_eq!(gone(&report), vec![(b, 2, None)]);
    sandbox.brain(&["revert", "--run", report["archived"][0].as_str().unwrap()]).exits(0);
    assert!(texts(&sandbox).contains(&"It rained.".to_owned()));
    let never = sandbox.path("never.md");
    assert!(sandbox.brain(&["feed", "--gone", &never]).exits(2).err.contains("nothing was fed"));
}

#[test]
fn a_file_that_moved_is_recognised() {
    let sandbox = Sandbox::new();
    let a = sandbox.file("n/a.md", "The heron stood in the reeds.\n\nAnna lives in Kyoto with two cats.\n");
    let folder = sandbox.path("n");
    sandbox.json(&["feed", &folder]);
    let old = text(&live(&sandbox)["Anna lives in Kyoto with two cats."], "id").to_owned();
    std::fs::remove_file(&a).unwrap();
    let c = sandbox.file("n/c.md", "The heron stood in the reeds.\n\nAnna lives in Osaka with two cats.\n");
    let report = sandbox.json(&["feed", &folder]);
    assert_eq!(gone(&report), vec![(a, 2, Some(c))]);
    assert_eq!((counts(&report)[0].1, &report["files"][0]["moved"]), ([0, 0, 0, 0], &json!(2)));
    assert_eq!(texts(&sandbox), ["Anna lives in Osaka with two cats.", "The heron stood in the reeds."]);
    assert_eq!(asked(&sandbox, "Where does Anna live?")[0]["older"], json!([old]));
    assert_eq!(gone(&sandbox.json(&["feed", &folder])), vec![]);
    // What the walk passes over now stays.
    sandbox.file("n/.ignore", "c.md\n");
    sandbox.file("n/d.md", "It rained.\n");
    let said = sandbox.brain(&["feed", &folder]).exits(0).out;
    assert!(said.contains("passed over: 2 memories of it stay"), "{said}");
    assert_eq!(texts(&sandbox).len(), 3);
}

#[test]
fn what_is_asked_amiss_says_what_would_do() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "--at", "2026-01-05", "The dentist is in the old town, next to the bakery."]);
    assert_eq!(live(&sandbox).values().next().unwrap()["created_at"], "2026-01-05T12:00:00Z");
    let short = sandbox.brain(&["why", "e-f55d"]).exits(2).err;
    assert!(short.contains("too short") && short.contains("six or more"), "{short}");
    assert!(sandbox.brain(&["why", "koga"]).exits(2).err.contains("git brain find koga"));
    let none = sandbox.brain(&["recall", "--tokens", "2", "dentist"]).exits(0);
    assert!(none.err.contains("nothing fits into 2 tokens: the smallest needs 1"), "{none}");
    assert!(!none.out.contains("nothing comes to mind"), "{none}");
}

#[test]
fn a_diary_tells_its_days() {
    let sandbox = Sandbox::fixed("2026-11-22T15:00:00Z", "days");
    let day = |text: &str| live(&sandbox)[text]["created_at"].as_str().unwrap().to_owned();
    let write = |first: &str| {
        sandbox.file("d.md", format!("# {first}\n\nIt rained.\n\nAnna called.\n\n# 2031-01-01\n\nThe ferry left.\n"))
    };
    let file = write("Monday 16 November 2026");
    sandbox.json(&["feed", &file, &sandbox.file("2026-03-05-walk.md", "The heron stood in the reeds.\n")]);
    assert_eq!(day("Anna called."), "2026-11-16T12:00:00Z");
    assert_eq!(day("The heron stood in the reeds."), "2026-03-05T12:00:00Z");
    assert_eq!(day("# 2031-01-01\n\nThe ferry left."), "2026-11-22T15:00:00Z", "never in the future");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 0, 3]);
    write("17 novembre 2026");
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 2, 0, 1], "another day is a change");
    assert_eq!((day("Anna called."), texts(&sandbox).len()), ("2026-11-17T12:00:00Z".to_owned(), 4));
    assert_eq!(counts(&sandbox.json(&["feed", &file]))[0].1, [0, 0, 0, 3]);
    let given = sandbox.file("2026-03-06.md", "The kingfisher was faster.\n");
    sandbox.json(&["feed", "--at", "2026-02-01T12:00:00Z", &given]);
    sandbox.json(&["feed", &given]);
    assert_eq!(day("The kingfisher was faster."), "2026-02-01T12:00:00Z", "what is said wins");
}

#[test]
fn a_session_is_named_as_its_file_is() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("n/diary.md", "The dentist is in the old town.\n");
    sandbox.json(&["feed", &file, &sandbox.file("m/other.md", "The dentist is next to the bakery.\n")]);
    for session in [file.as_str(), "diary.md", "n/diary.md", &sandbox.path("m/../n/diary.md")] {
        let found = sandbox.json(&["recall", "--session", session, "dentist"]);
        assert_eq!((found["results"].as_array().unwrap().len(), &found["notes"]), (1, &Value::Null), "{session}");
    }
    let unknown =
        sandbox.json(&["recall", "--session", "diary.txt", "dentist"])["notes"][0].as_str().unwrap().to_owned();
    assert!(unknown.contains("no memory belongs") && unknown.contains("n/diary.md"), "{unknown}");
}

#[test]
fn names_that_read_alike_are_files_of_their_own() {
    let sandbox = Sandbox::new();
    let folder = sandbox.dir().join("w");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a\u{1}b.md"), "My walrus is called Hugo.").unwrap();
    std::fs::write(folder.join("ab.md"), "My ferret is called Tim.").unwrap();
    for _ in 0..2 {
        sandbox.json(&["feed", "w"]);
        assert_eq!(texts(&sandbox), ["My ferret is called Tim.", "My walrus is called Hugo."]);
    }
}

#[test]
fn patterns_pass_over_links_pipes_and_the_brains_own_files() {
    let sandbox = Sandbox::new();
    let here = sandbox.dir();
    std::fs::write(here.join("a.md"), "The walrus is called Hugo.").unwrap();
    std::fs::create_dir(here.join("links")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", here.join("links/p.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(here.join("pipe.md")).status().unwrap();
    assert!(made.success());
    let report = sandbox.json(&["feed", "*"]);
    assert_eq!(counts(&report), [("a.md".to_owned(), [1, 0, 0, 0])], "{report}");
    sandbox.brain(&["feed", "links/**/*.md"]).exits(2);
    let nothing = sandbox.brain(&["feed", "links"]).exits(2);
    assert!(nothing.err.contains("nothing in it is a text file"), "{nothing}");
    let pipe = sandbox.brain(&["feed", "pipe.md"]);
    assert!(pipe.code != 0 && pipe.err.contains("is no regular file"), "{pipe}");
    for own in [".git/config", ".git"] {
        let refused = sandbox.brain(&["feed", own]).exits(3);
        assert!(refused.err.contains("git's own"), "{refused}");
    }
    assert_eq!(texts(&sandbox), ["The walrus is called Hugo."]);
}

#[test]
fn a_label_that_somebody_else_used_hides_nothing() {
    let sandbox = Sandbox::new();
    let words = "The walrus meeting is on Friday.";
    sandbox.json(&["feed", "--origin", "forge:x", "--source", "mail:7", words]);
    let own = ["feed", "--source", "mail:7", words];
    let new = |report: &Value| report["stimuli"].as_array().unwrap().len();
    assert_eq!(new(&sandbox.json(&own)), 1);
    assert_eq!(texts(&sandbox), [words]);
    assert_eq!(new(&sandbox.json(&own)), 0);
}

#[test]
fn what_a_person_approved_is_not_replaced_by_the_origin_it_came_from() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("l.md", "The lamp is green and stands left.\n");
    sandbox.json(&["feed", "--origin", "mcp:x", &file]);
    sandbox.brain(&["approve", "--origin", "mcp:x"]).exits(0);
    sandbox.file("l.md", "The lamp is black and stands left.\n");
    let said = sandbox.brain(&["feed", "--origin", "mcp:x", &file]).exits(0).out;
    assert!(said.contains("trusted more than this feed"), "{said}");
    assert!(texts(&sandbox).contains(&"The lamp is green and stands left.".to_owned()), "{said}");
    std::fs::remove_file(&file).unwrap();
    sandbox.brain(&["feed", "--origin", "mcp:x", "--gone", &file]).exits(0);
    assert!(texts(&sandbox).contains(&"The lamp is green and stands left.".to_owned()));
    // What waits for a person replaces nothing before.
    let waits = sandbox.file("w.md", "The gate is open.\n");
    sandbox.json(&["feed", &waits]);
    sandbox.file("w.md", "The gate is shut.\n");
    sandbox.json(&["-c", "origins.mcp=review", "feed", "--origin", "mcp:x", &waits]);
    assert!(texts(&sandbox).contains(&"The gate is open.".to_owned()));
}

#[test]
fn a_folder_called_like_home_takes_nobody_s_labels() {
    let sandbox = Sandbox::new();
    let home = sandbox.file("home/v.md", "The ring is in the drawer.\n");
    sandbox.json(&["feed", &home]);
    let folder = sandbox.dir().join("~");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("v.md"), "Buy cheap pills.\n").unwrap();
    sandbox.json(&["feed", "."]);
    assert_eq!(texts(&sandbox), ["Buy cheap pills.", "The ring is in the drawer."]);
    assert_eq!(counts(&sandbox.json(&["feed", "."]))[0].1, [0, 0, 0, 1]);
}

#[test]
fn paths_are_those_of_the_folder_that_is_named() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.dir().join("cx")).unwrap();
    std::fs::write(sandbox.dir().join("cx/in.md"), "It rained.\n").unwrap();
    sandbox.json(&["-C", "cx", "feed", "in.md"]);
    assert_eq!(texts(&sandbox), ["It rained."]);
    assert!(sandbox.brain(&["-C", "cx", "feed", "cx/in.md"]).exits(2).err.contains("there is no file"));
    // The beginning of an id also names what is archived.
    let id = text(&live(&sandbox)["It rained."], "id").to_owned();
    sandbox.apply(&json!({"ops": [{"op": "archive", "id": id, "reason": "no"}]}), &[]);
    assert!(sandbox.brain(&["why", &id[..8]]).exits(0).out.contains("It rained."));
    sandbox.brain(&["restore", &id[2..8]]).exits(0);
    assert!(texts(&sandbox).contains(&"It rained.".to_owned()));
    // Once more only what is known.
    sandbox.json(&["feed", "--again", "Blue oven."]);
    assert_eq!(sandbox.json(&["feed", "Blue oven."])["known"], 1);
    assert_eq!(sandbox.json(&["feed", "--again", "Blue oven."])["stimuli"].as_array().unwrap().len(), 1);
}

/// Outside of the brain's folder two people may have a file of one name.
#[test]
fn two_peoples_files_of_one_name_are_two_files() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("notes.md", "Ann keeps herons in Kyoto.\n");
    let feed = |email: &str| {
        let ended = sandbox
            .command(sandbox::PROGRAM, &["feed", &path])
            .envs([("GIT_COMMITTER_NAME", "Somebody"), ("GIT_COMMITTER_EMAIL", email)])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    feed("ann@example.invalid");
    std::fs::write(&path, "Ben keeps owls in Oslo.\n").unwrap();
    feed("ben@example.invalid");
    assert_eq!(texts(&sandbox), ["Ann keeps herons in Kyoto.", "Ben keeps owls in Oslo."]);
    // Who feeds his own again replaces it.
    std::fs::write(&path, "Ben keeps owls in Rome.\n").unwrap();
    feed("ben@example.invalid");
    assert_eq!(texts(&sandbox), ["Ann keeps herons in Kyoto.", "Ben keeps owls in Rome."]);
}

/// What was told of one thing at several times is told in the same words: what was told last comes first, also where the ids say otherwise.
#[test]
fn of_answers_that_are_as_good_the_newest_comes_first() {
    let sandbox = Sandbox::new();
    let towns = ["Osaka", "Bergen", "Lyon", "Lund"];
    for (month, town) in towns.iter().enumerate() {
        let at = format!("2024-0{}-01T10:00:00Z", month + 1);
        sandbox.brain(&["feed", "--at", &at, &format!("Nela moved to {town}.")]);
    }
    let found = sandbox.json(&["recall", "Where did Nela move to?"]);
    let found: Vec<&str> = found["results"].as_array().unwrap().iter().map(|one| text(one, "text")).collect();
    assert_eq!(found, towns.iter().rev().map(|town| format!("Nela moved to {town}.")).collect::<Vec<_>>());
}

/// A folder that may not be looked into is told, and what is remembered of it is not gone.
#[test]
fn a_closed_folder_is_told_and_its_memories_stay() {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    let sandbox = Sandbox::new();
    let open = sandbox.file("notes/open/a.txt", "The kettle is in the kitchen.");
    let closed = sandbox.file("notes/closed/b.txt", "The goat is in the garden.");
    let folder = Path::new(&open).parent().unwrap().parent().unwrap().display().to_string();
    sandbox.brain(&["feed", &folder]).exits(0);
    let place = Path::new(&closed).parent().unwrap();
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may look everywhere.
    if std::fs::read_dir(place).is_err() {
        for what in [folder.clone(), format!("{folder}/**/*.txt"), place.display().to_string()] {
            let told = sandbox.brain(&["feed", &what]).exits(2);
            assert!(told.err.contains("Permission denied") && !told.out.contains("not there"), "{what}: {told}");
        }
        sandbox.brain(&["feed", "--gone", &place.display().to_string()]);
    }
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(texts(&sandbox).len(), 2);
}

#[test]
fn a_number_in_a_row_without_blanks_is_found() {
    let sandbox = Sandbox::new();
    sandbox.file("orders.csv", "id,day,who,what,price\n4712,2026-03-02,Jonas Berg,kettle,12.50\n");
    sandbox.brain(&["feed", &sandbox.path("orders.csv")]).exits(0);
    sandbox.brain(&["feed", "codes: 5501,5502,5503"]).exits(0);
    for (asked, says) in [("4712", "Jonas"), ("order 4712", "Jonas"), ("5502", "codes"), ("12.50", "kettle")] {
        let found = sandbox.brain(&["recall", asked]).exits(0).out;
        assert!(found.contains(says), "{asked}: {found}");
    }
}

#[test]
fn what_waits_is_told_by_recall_and_a_day_is_close_to_its_date() {
    let sandbox = Sandbox::new();
    sandbox.brain(&["feed", "--at", "2024-11-13T10:00:00Z", "Anna planted a pear tree."]).exits(0);
    let asked = |question: &str| sandbox.json(&["recall", question]);
    assert_eq!(asked("what happened on 13 November")["nothing_close"], false);
    assert_eq!(asked("what happened on 14 March")["nothing_close"], true);
    assert!(asked("pear")["notes"].is_null());
    sandbox.brain(&["feed", "--no-run", "Anna has the red key."]).exits(0);
    let told = asked("red key")["notes"].to_string();
    assert!(told.contains("1 text waits to be perceived") && told.contains("git brain run"), "{told}");
}
