//! What the documents say is true: examples are read by the program, tables have every field, links lead somewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;
use git_brain::brain::ChatAnswer;
use git_brain::chemistry::serotonin::{Brief, Chapter, Claim, Gap, Narration};
use git_brain::cognition::Snapshot;
use git_brain::consolidation::SleepRecord;
use git_brain::delta::{Document, LedgerEntry, Operation, RunRecord};
use git_brain::merge::{Conflict, merge_neuron};
use git_brain::model::deliberation::DeliberationCycle;
use git_brain::model::document::{Acknowledgement, Agent, Flag, Goal, Metadata, Signal, State, Stimulus};
use git_brain::model::layout::{self, Place};
use git_brain::model::portable::{PortableMetadata, PortableNetwork};
use git_brain::model::sealed::{Card, SealedMemory, SealedRecord, Sealing};
use git_brain::model::settings::Rule;
use git_brain::model::wisdom::{Inherited, Seed, Teaching, WisdomRecord};
use git_brain::model::{Kind, Link, Neuron, Settings, json};
use git_brain::review::{Remark, ReviewRecord};
use git_brain::{cycle, limits, world};
use serde_json::{Map, Value};

/// A fenced block of a document: ```` ```json neuron ````.
struct Block {
    language: String,
    tag: String,
    body: String,
    /// The last line before it that is nothing but a path in backticks, if that belongs to the block.
    path: Option<String>,
    /// The text of its `##` section.
    section: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(str::to_owned).to_vec();
    for folder in ["docs", "docs/recipes"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            pages.push(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    // Pictures are linked and not read, and folders have programs.
    pages.retain(|page| !page.ends_with(".png") && root().join(page).is_file());
    pages.sort();
    pages.into_iter().map(|name| (name.clone(), read(name))).collect()
}

fn sections(text: &str) -> Vec<String> {
    format!("\n{text}").split("\n## ").map(str::to_owned).collect()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    for section in sections(text) {
        let mut lines = section.lines();
        let mut path = None;
        while let Some(line) = lines.next() {
            let alone = line.strip_prefix('`').and_then(|l| l.strip_suffix('`')).filter(|l| !l.contains('`'));
            if let Some(alone) = alone {
                path = Some(alone.to_owned());
            }
            let Some(info) = line.strip_prefix("```") else { continue };
            let mut words = info.split_whitespace().map(str::to_owned);
            let (language, tag) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let body: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
            found.push(Block { language, tag, body, path: path.take(), section: section.clone() });
        }
    }
    found
}

fn blocks_of(page: &str, tag: &str) -> Vec<Block> {
    let found: Vec<Block> = blocks(&read(page)).into_iter().filter(|b| b.tag == tag).collect();
    assert!(!found.is_empty(), "{page} has no example of a {tag}");
    found
}

/// Reads an example and writes it again as the program does; `None` for what people write.
fn rewritten(block: &Block) -> Option<Vec<u8>> {
    let bytes = block.body.as_bytes();
    let most = limits::DOCUMENT_BYTES;
    let what = format!("the example of a {}", block.tag);
    fn both<T: serde::de::DeserializeOwned + serde::Serialize>(bytes: &[u8], what: &str, most: usize) -> Vec<u8> {
        json::pretty(&json::strict::<T>(bytes, what, most).unwrap())
    }
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Conflicts {
        conflicts: Vec<Conflict>,
    }
    Some(match block.tag.as_str() {
        "neuron" => Neuron::decode(bytes, &what).unwrap().encode(),
        "stimulus" => Stimulus::decode(bytes, &what).unwrap().encode(),
        "signal" => both::<Signal>(bytes, &what, most),
        "acknowledgement" => both::<Acknowledgement>(bytes, &what, most),
        "flag" => both::<Flag>(bytes, &what, most),
        "goal" => Goal::decode(bytes, &what).unwrap().encode(),
        "ledger" => LedgerEntry::decode(bytes, &what).unwrap().encode(),
        "deliberation" => both::<DeliberationCycle>(bytes, &what, most),
        "wisdom" => both::<WisdomRecord>(bytes, &what, most),
        "sealed" => both::<SealedRecord>(bytes, &what, most),
        "metadata" => both::<Metadata>(bytes, &what, most),
        "review" => both::<ReviewRecord>(bytes, &what, most),
        "remark" => both::<Remark>(bytes, &what, most),
        "run" => RunRecord::decode(bytes, &what).unwrap().encode(),
        "conflicts" => both::<Conflicts>(bytes, &what, most),
        "sleep" => SleepRecord::decode(bytes, &what).unwrap().encode().remove(0),
        "chapter" => Chapter::decode(bytes, &what).unwrap().encode(),
        "narration" => {
            Narration::parse(bytes, &what).unwrap();
            return None;
        }
        "narration-brief" => {
            let schema = serde_json::to_value(schemars::schema_for!(Brief)).unwrap();
            jsonschema::validate(&schema, &serde_json::from_slice(bytes).unwrap()).unwrap();
            return None;
        }
        "network" => {
            json::strict::<PortableNetwork>(bytes, &what, most).unwrap();
            return None;
        }
        "triple" => {
            json::strict::<cycle::Triple>(bytes, &what, most).unwrap();
            return None;
        }
        "agent" => {
            Agent::decode(bytes, &what).unwrap();
            return None;
        }
        "delta" => {
            Document::parse(bytes, &what).unwrap();
            return None;
        }
        "settings" => {
            Settings::read(&block.body, &[]).unwrap();
            return None;
        }
        "merge" => return None, // see `worked_merges_give_what_they_say`
        "council" => {
            git_brain::brain::council::count(&block.body).unwrap();
            return None;
        }
        "council-members" => {
            git_brain::brain::council::check_members(&block.body).unwrap();
            return None;
        }
        "council-reply" => {
            serde_json::from_str::<git_brain::council::vote::Reply>(&block.body).unwrap();
            return None;
        }
        "chat" => {
            let schema = serde_json::to_value(schemars::schema_for!(ChatAnswer)).unwrap();
            jsonschema::validate(&schema, &serde_json::from_slice(bytes).unwrap()).unwrap();
            return None;
        }
        "snapshot" => {
            let schema = serde_json::to_value(schemars::schema_for!(Snapshot)).unwrap();
            jsonschema::validate(&schema, &serde_json::from_slice(bytes).unwrap()).unwrap();
            return None;
        }
        other => panic!("an example with the unknown tag {other:?}"),
    })
}

#[test]
fn every_tagged_example_is_read_and_written_as_it_stands() {
    let mut seen = 0;
    for (page, text) in pages() {
        for block in blocks(&text).iter().filter(|b| ["json", "toml"].contains(&b.language.as_str())) {
            assert!(!block.tag.is_empty(), "{page}: an example without a tag is checked by nobody:\n{}", block.body);
            if let Some(written) = rewritten(block) {
                assert_eq!(String::from_utf8(written).unwrap(), block.body, "{page}: {}", block.tag);
            }
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} examples were found");
}

#[test]
fn a_wrong_example_would_be_found() {
    let wrong = "## X\n```json flag\n{\"value\": 1}\n```\n";
    let block = blocks(wrong).remove(0);
    assert!(std::panic::catch_unwind(|| rewritten(&block)).is_err());
}

#[test]
fn the_neuron_of_the_page_is_the_golden_one() {
    assert_eq!(blocks_of("docs/format.md", "neuron")[0].body, read("tests/golden/neuron.json"));
}

#[test]
fn examples_lie_where_the_page_says() {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    for block in blocks(&read("docs/format.md")) {
        let Some(path) = &block.path else { continue };
        let value: Value = serde_json::from_str(&block.body).unwrap();
        let expected = match block.tag.as_str() {
            "neuron" => layout::neuron(&text(&value, "id").parse().unwrap()),
            "stimulus" => layout::stimulus(&text(&value, "id").parse().unwrap(), text(&value, "at").parse().unwrap()),
            "signal" => layout::signal(&text(&value, "to").parse().unwrap(), &text(&value, "id").parse().unwrap()),
            "acknowledgement" => {
                layout::acknowledgement(&text(&value, "by").parse().unwrap(), &text(&value, "signal").parse().unwrap())
            }
            "sleep" => layout::sleep(&text(&value, "run").parse().unwrap()),
            "run" => layout::run(&text(&value, "run").parse().unwrap()),
            "chapter" => layout::chapter(&text(&value, "run").parse().unwrap()),
            "wisdom" => layout::wisdom(&text(&value, "run").parse().unwrap()),
            "sealed" => layout::sealed(&text(&value, "run").parse().unwrap()),
            "ledger" => layout::ledger(&text(&value, "run").parse().unwrap()),
            "goal" => {
                assert_eq!(Goal::id_of(&text(&value, "text")).as_str(), text(&value, "id"));
                layout::goal(&text(&value, "id").parse().unwrap())
            }
            "agent" => layout::agent(&text(&value, "name").parse().unwrap()),
            "metadata" => layout::METADATA.to_owned(),
            _ => path.clone(),
        };
        assert_eq!(*path, expected, "{}", block.tag);
        assert!(!matches!(Place::of(path), Place::Misplaced | Place::Other), "{path}");
    }
}

#[test]
fn the_page_has_every_field_of_every_document() {
    macro_rules! fields {
        ($($tag:literal => $type:ty),+ $(,)?) => {
            [$(($tag, serde_json::to_value(schemars::schema_for!($type)).unwrap())),+]
        };
    }
    let documents = fields![
        "neuron" => Neuron, "stimulus" => Stimulus, "signal" => Signal, "acknowledgement" => Acknowledgement,
        "flag" => Flag, "goal" => Goal, "ledger" => LedgerEntry, "metadata" => Metadata, "run" => RunRecord, "sleep" => SleepRecord, "agent" => Agent, "delta" => Document, "chapter" => Chapter, "chapter" => Gap, "chapter" => Claim, "wisdom" => WisdomRecord, "wisdom" => Teaching, "wisdom" => Seed, "wisdom" => Inherited, "sealed" => SealedRecord, "sealed" => Sealing, "sealed" => Card, "sealed" => SealedMemory, "network" => PortableNetwork, "network" => PortableMetadata, "triple" => cycle::Triple,
    ];
    for (tag, schema) in documents {
        let section = &blocks_of("docs/format.md", tag)[0].section;
        for field in schema["properties"].as_object().unwrap().keys() {
            let named = section.contains(&format!("`{field}`")) || section.contains(&format!("\"{field}\""));
            assert!(named, "docs/format.md does not explain {field:?} of a {tag}");
        }
    }
}

#[test]
fn the_pages_have_every_word() {
    let format = read("docs/format.md");
    let delta = &blocks_of("docs/format.md", "delta")[0];
    for op in Operation::NAMES {
        assert!(delta.section.contains(&format!("| `{op}` |")), "no row for {op}");
        assert!(delta.body.contains(&format!("\"op\": \"{op}\"")), "no example of {op}");
    }
    for word in Kind::ALL.iter().map(|k| k.as_str()).chain(Link::ALL.iter().map(|l| l.as_str())) {
        assert!(format.contains(&format!("`{word}`")), "docs/format.md does not name {word}");
    }
    let merge = read("docs/merge.md");
    for rule in [Rule::Sum, Rule::Max, Rule::Mean, Rule::Left, Rule::Right, Rule::Priority, Rule::Review] {
        let word = serde_json::to_value(rule).unwrap();
        assert!(merge.contains(&format!("`{}`", word.as_str().unwrap())), "docs/merge.md does not name {word}");
    }
    let agents = read("docs/agents.md");
    let states = [
        State::BootstrapIncomplete,
        State::InputQueueNotEmpty,
        State::ConsolidationDue,
        State::ActionRequired,
        State::PriorityOverrideDetected,
    ];
    for state in states {
        let word = serde_json::to_value(state).unwrap();
        assert!(agents.contains(&format!("`{}`", word.as_str().unwrap())), "docs/agents.md does not name {word}");
    }
    assert!(format.contains(&world::environment_table()), "docs/format.md has another table of the environment");
}

#[test]
fn the_page_has_every_setting_with_its_default() {
    let page = read("docs/format.md");
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    for (section, values) in defaults.as_object().unwrap() {
        if section == "models" {
            continue;
        }
        for (key, value) in
            values.as_object().unwrap().iter().filter(|(key, _)| (section.as_str(), key.as_str()) != ("chain", "step"))
        {
            let nested = value.as_object().filter(|_| section == "deliberation");
            let rows: Vec<(String, &Value)> = match nested {
                Some(inner) => inner.iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect(),
                None => vec![(key.clone(), value)],
            };
            for (key, value) in rows {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let row = format!("| `{section}.{key}` | {value} |");
                assert!(page.contains(&row), "docs/format.md lacks the row {row}");
            }
        }
    }
}

/// Each example names only the fields that it is about; left and right are made by runs of their own.
#[test]
fn worked_merges_give_what_they_say() {
    for block in blocks_of("docs/merge.md", "merge") {
        let sides: BTreeMap<String, Map<String, Value>> = serde_json::from_str(&block.body).unwrap();
        let neuron = |side: &str, run: Option<&str>| {
            let mut fields = Map::new();
            for (key, value) in [("id", "n"), ("concept", "n"), ("type", "semantic")] {
                fields.insert(key.to_owned(), value.into());
            }
            fields.extend(sides[side].clone());
            let mut neuron = Neuron::decode(Value::Object(fields).to_string().as_bytes(), side).unwrap();
            neuron.run = run.map(|run| run.parse().unwrap());
            neuron.version = neuron.run.as_ref().map_or(neuron.version, |run| neuron.version.toggled(run));
            neuron
        };
        let base = neuron("base", None);
        let left = neuron("left", Some("20260126t120000000z-aaaaaaaa-decision"));
        let right = neuron("right", Some("20260126t130000000z-aaaaaaaa-perception"));
        let policy = Settings::default().merge;
        for (one, other) in [(&left, &right), (&right, &left)] {
            let merged = merge_neuron(Some(&base), Some(one), Some(other), &policy);
            assert_eq!(merged.conflicts, [], "{}", block.body);
            let merged = serde_json::to_value(merged.neuron.unwrap()).unwrap();
            for (key, expected) in &sides["merged"] {
                assert_eq!(merged[key], *expected, "{}", block.body);
            }
        }
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { root().join(&page) } else { root().join(&page).parent().unwrap().join(file) };
            assert!(target.exists(), "{page} links to {link}, which is not there");
            if !heading.is_empty() {
                let anchors: Vec<String> = read(&target).lines().filter(|l| l.starts_with('#')).map(anchor).collect();
                assert!(anchors.iter().any(|a| a == heading), "{page} links to {link}; headings are {anchors:?}");
            }
        }
    }
}

/// The tests that a page names, as `FILE::TEST` or, in the last column of a table, as `FILE` alone: file and test.
fn tests_named(page: &str) -> Vec<(&str, Option<&str>)> {
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c));
    let mut named = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let shown = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for span in shown.split('`').skip(1).step_by(2) {
            match span.split_once("::") {
                Some((file, test)) if is_name(file) && is_name(test) => named.push((file, Some(test))),
                None if is_name(span) => named.push((span, None)),
                _ => {}
            }
        }
    }
    named
}

#[test]
fn every_test_that_shows_a_promise_is_there() {
    for (page, least) in [("SECURITY.md", 40), ("docs/life.md", 20)] {
        let text = read(page);
        let named = tests_named(&text);
        assert!(named.iter().filter(|(_, test)| test.is_some()).count() > least, "{page}: {named:?}");
        let is_there = |(file, test): &(&str, Option<&str>)| {
            let text = std::fs::read_to_string(root().join(format!("tests/{file}.rs"))).unwrap_or_default();
            !text.is_empty() && test.is_none_or(|test| text.contains(&format!("#[test]\nfn {test}(")))
        };
        let missing: Vec<_> = named.iter().filter(|named| !is_there(named)).collect();
        assert!(missing.is_empty(), "{page} names {missing:?}, which no file of tests/ has");
    }
}

/// The name by which forges link to a heading.
fn anchor(line: &str) -> String {
    let text = line.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn readme_and_ci_name_the_same_two_commands() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    for command in ["cargo run --release -- demo", "cargo test"] {
        assert!(readme.lines().any(|line| line.trim() == command), "README.md lacks {command}");
        assert!(ci.lines().any(|line| line.trim().ends_with(command)), ".ci/run does not run {command}");
    }
}

/// The programs of `docs/agents.md` answer a snapshot with a document that the program accepts.
#[test]
fn the_example_programs_work() {
    let snapshot = &blocks_of("docs/agents.md", "snapshot")[0].body;
    let mut ran = 0;
    for block in blocks(&read("docs/agents.md")).iter().filter(|b| b.tag == "program") {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, block.body.as_bytes()).unwrap();
        let program = if block.language == "sh" { "sh" } else { "python3" };
        let mut command = std::process::Command::new(program);
        command.arg(file.path()).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        // Everything here runs with nothing installed; what CI runs on has Python.
        let Ok(mut child) = command.spawn() else {
            assert_ne!(program, "sh");
            continue;
        };
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), snapshot.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{program}: {}", output.status);
        let output = output.stdout;
        let document = Document::parse(&output, program).unwrap();
        assert!(!document.ops.is_empty(), "{program} proposed nothing");
        ran += 1;
    }
    assert!(ran > 0, "docs/agents.md has no example program");
}

#[test]
fn the_day_in_the_readme_is_one_that_demo_prints() {
    let readme = read("README.md");
    let day = readme.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a day in README.md");
    let sandbox = Sandbox::fixed("2026-11-20T16:58:14Z", "readme");
    let printed = sandbox.brain(&["demo"]).exits(0).out;
    // Commits are made by whoever sits there.
    let is_commit = |word: &&str| (7..=10).contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit());
    let said = |line: &str| -> Vec<String> {
        line.split_whitespace().map(|word| if is_commit(&word) { "#".to_owned() } else { word.to_owned() }).collect()
    };
    let mut rest = printed.lines().map(said);
    // Some lines are shortened.
    for line in day.lines().filter(|line| !line.contains('…')) {
        let wanted = said(line);
        assert!(rest.any(|said| said == wanted), "{line:?} is not there, or not after the others:\n{printed}");
    }
}
