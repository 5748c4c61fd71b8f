//! Networks and triples in, the network out, on real repositories.

use std::path::{Path, PathBuf};

use git_brain::brain::trade::ImportReport;
use git_brain::brain::{Brain, BrainError, World};
use git_brain::cycle::{Cycle, bootstrap};
use git_brain::delta::RunRecord;
use git_brain::merge::{Direction, apply_record};
use git_brain::model::ids::{concept_id, episode_id};
use git_brain::model::{Link, Neuron, NeuronId, Stamp, layout};
use git_brain::store::{self, Author, CommitId, FirstCommit, Store, TreeEdit};
use serde_json::{Value, json};

const NOW: i64 = 1_769_437_920;

struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = bootstrap::tree(Stamp::from_unix(NOW)).into_iter();
        let first = FirstCommit {
            author: Author::User,
            at: NOW,
            subject: "init".into(),
            body: String::new(),
            trailers: Vec::new(),
        };
        let files = files.map(|(path, content)| TreeEdit::new(path, Some(content))).collect();
        store::create(&folder.path().join("brain"), files, &first, "git-brain").unwrap();
        Self { folder }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("brain")
    }

    fn brain(&self) -> Brain {
        Brain::open(&self.dir(), World::fixed(Stamp::from_unix(NOW + 100), "trade"), &[]).unwrap()
    }

    fn store(&self) -> Store {
        Store::open(&self.dir()).unwrap()
    }

    fn wake(&self) -> CommitId {
        let store = self.store();
        store.need_tip(store.wake()).unwrap()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn import(&self, text: &str) -> Result<ImportReport, BrainError> {
        self.brain().import(&self.file("in.json", text), false, &mut |_| {})
    }

    fn triples(&self, text: &str) -> ImportReport {
        self.brain().import_triples(&self.file("in.jsonl", text), false, &mut |_| {}).unwrap()
    }

    fn export(&self) -> String {
        let mut out = Vec::new();
        self.brain().export(None, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn neuron(&self, id: &str) -> Option<Neuron> {
        let store = self.store();
        let path = layout::neuron(&id.parse().unwrap());
        let bytes = store.read(store.tree_of(self.wake()).unwrap(), &path).unwrap()?;
        Some(Neuron::decode(&bytes, &path).unwrap())
    }

    /// Files below git's objects folder: what is written at all.
    fn objects(&self) -> usize {
        fn count(dir: &Path) -> usize {
            let entries = std::fs::read_dir(dir).unwrap().flatten();
            entries.map(|e| if e.path().is_dir() { count(&e.path()) } else { 1 }).sum()
        }
        count(&self.dir().join(".git/objects"))
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = std::process::Command::new("git").current_dir(self.dir()).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn neurons(export: &str) -> Value {
    serde_json::from_str::<Value>(export).unwrap()["neurons"].clone()
}

/// The seed's own example (`magistra.md` 1.1), with its targets.
const SEED: &str = r#"{
  "neurons": [
    {
      "id": "n_perception_001",
      "concept": "visual_input_stream",
      "type": "core",
      "salience": 45000,
      "last_salience_update": "2026-01-26T14:32:00Z",
      "connections": [
        {"target": "n_memory_001", "weight": 50000, "type": "feeds_into"},
        {"target": "n_decision_001", "weight": 35000, "type": "influences"}
      ]
    },
    {"id": "n_memory_001", "concept": "memory", "type": "core", "salience": 0, "connections": []},
    {"id": "n_decision_001", "concept": "decision", "type": "core", "salience": 0, "archived": true,
     "connections": [{"target": "n_core_memory", "weight": 0, "type": "inhibits"}]}
  ],
  "metadata": {"version": "1.0", "last_modified": "2026-01-26T14:32:00Z", "active_agents": ["perception"],
    "bootstrap_complete": false, "cycle_count": 0}
}"#;

#[test]
fn a_network_is_imported_as_one_run_and_comes_out_again() {
    let sandbox = Sandbox::new();
    let before = sandbox.wake();
    let report = sandbox.import(SEED).unwrap();
    assert_eq!((report.created, report.changed, report.unchanged, report.connections), (3, 0, 0, 3));
    assert_eq!((report.runs.len(), report.merged), (1, true));
    let store = sandbox.store();
    let merge = store.commit(sandbox.wake()).unwrap();
    assert_eq!(merge.parents[0], before);
    let run = store.commit(merge.parents[1]).unwrap();
    assert_eq!([run.trailer("Agent"), run.trailer("Trigger")], [Some("human"), Some("import")]);
    assert_eq!(run.trailer("Run"), Some(report.runs[0].as_str()));
    assert_eq!(merge.trailer("Newest-Run"), Some(report.runs[0].as_str()));
    assert_eq!(run.tree, merge.tree);
    assert!(store.branches("agents/").unwrap().is_empty());
    let made = sandbox.neuron("n_memory_001").unwrap();
    assert_eq!((made.created_at.unix(), made.activation_count, made.last_activated), (NOW + 100, 0, None));
    assert!(sandbox.neuron("n_decision_001").unwrap().is_archived());
    sandbox.git(&["fsck", "--strict", "--full"]);

    let first = sandbox.export();
    let other = Sandbox::new();
    other.import(&first).unwrap();
    assert_eq!(neurons(&other.export()), neurons(&first));
    let again = sandbox.import(&first).unwrap();
    assert_eq!((again.created, again.changed, again.unchanged, again.runs.len()), (0, 0, 9, 0));
    assert_eq!(sandbox.export(), first, "its own export changes nothing");
    let metadata = serde_json::from_str::<Value>(&first).unwrap()["metadata"].clone();
    assert_eq!((&metadata["cycle_count"], &metadata["version"]), (&json!(1), &json!("1.0")));
    assert_eq!(
        metadata["active_agents"],
        json!(["affect", "bootstrap", "decision", "evaluator", "memory", "perception"])
    );
}

#[test]
fn an_export_is_of_its_schema() {
    let sandbox = Sandbox::new();
    sandbox.import(SEED).unwrap();
    let schema = git_brain::brain::schema::schema("export").unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = |text: &str| validator.iter_errors(&serde_json::from_str(text).unwrap()).count();
    assert_eq!((errors(&sandbox.export()), errors(SEED)), (0, 0));
    assert_ne!(errors(&SEED.replace("\"salience\": 45000", "\"salience\": 450000")), 0);
    assert_ne!(errors(&SEED.replace("\"cycle_count\"", "\"cycles\"")), 0);
}

#[test]
fn what_is_there_is_merged_field_by_field() {
    let sandbox = Sandbox::new();
    sandbox.import(SEED).unwrap();
    let first = sandbox.neuron("n_perception_001").unwrap();
    let report = sandbox
        .import(
            r#"{"neurons": [{"id": "n_perception_001", "concept": "visual_input_stream", "type": "core", "salience": 1,
            "connections": [{"target": "n_memory_001", "weight": 7, "type": "feeds_into"}]},
            {"id": "n_memory_001", "concept": "memory", "type": "core"}]}"#,
        )
        .unwrap();
    assert_eq!((report.created, report.changed, report.unchanged), (0, 1, 1));
    let neuron = sandbox.neuron("n_perception_001").unwrap();
    assert_eq!((neuron.salience, neuron.last_salience_update.unix()), (1, NOW + 100));
    let weights: Vec<u16> = neuron.connections.iter().map(|c| c.weight).collect();
    assert_eq!(weights, [35000, 7], "what the document does not say stays");
    // The record is enough to make the change again, and to take it back.
    let store = sandbox.store();
    let run = report.runs[0].parse().unwrap();
    let path = layout::run(&run);
    let bytes = store.read(store.tree_of(sandbox.wake()).unwrap(), &path).unwrap().unwrap();
    let record = RunRecord::decode(&bytes, &path).unwrap();
    let policy = Default::default();
    let again = apply_record::<()>(&record, Direction::Again, &policy, |_| Ok(Some(first.clone()))).unwrap();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].after, neuron);
}

#[test]
fn wrong_documents_are_refused_with_their_line_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let (tip, objects) = (sandbox.wake(), sandbox.objects());
    let one = |fields: &str| {
        format!("{{\"neurons\": [\n{{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\"{fields}}}]}}")
    };
    let cases: Vec<(String, u8, &str, &str)> = vec![
        (one(", \"speed\": 1"), 5, "line 2, neurons[0]", "speed"),
        (one(", \"salience\": 1, \"salience\": 1"), 5, "line 2, neurons[0]", "salience"),
        (one(",\n\"salience\": 70000"), 5, "line 3, neurons[0].salience", "70000"),
        (one("}, {\"concept\": \"b\", \"type\": \"core\""), 5, "line 2, neurons[1]", "id"),
        (one("},\n{\"id\": \"a\", \"concept\": \"b\", \"type\": \"core\""), 5, "line 3, neurons[1].id", "twice"),
        (
            one(", \"connections\": [{\"target\": \"b\", \"weight\": 1, \"type\": \"feeds_into\"}]"),
            3,
            "line 2, neurons[0]",
            "there is no neuron b",
        ),
        (one(", \"created_at\": \"2099-01-01T00:00:00Z\""), 3, "line 2, neurons[0].created_at", "2099"),
        (one(&format!(", \"origin\": {}", "[".repeat(100))), 5, "line 2", ""),
        (one("}, "), 5, "line 2", ""),
        (SEED.replace("\"cycle_count\"", "\"cycles\""), 5, "line 19, metadata", "cycles"),
        (SEED.replace("\"metadata\"", "\"meta\""), 5, "line 18", "meta"),
        ("{\"neurons\": []".to_owned(), 5, "line 1", "middle"),
        ("[]".to_owned(), 5, "line 1", "'['"),
        (String::new(), 5, "line 1", "middle"),
    ];
    for (text, code, place, part) in &cases {
        let error = sandbox.import(text).unwrap_err();
        let said = error.to_string();
        assert_eq!(error.exit_code(), *code, "{said}");
        assert!(said.contains("in.json") && said.contains(place) && said.contains(part), "{text}: {said}");
        assert_eq!((sandbox.wake(), sandbox.objects()), (tip, objects), "{text}");
    }
    let missing = sandbox.brain().import(Path::new("/nonexistent.json"), false, &mut |_| {}).unwrap_err();
    assert_eq!(missing.exit_code(), 2);
    let dry = sandbox.brain().import(&sandbox.file("seed.json", SEED), true, &mut |_| {}).unwrap();
    assert_eq!((dry.created, dry.merged, dry.runs.len()), (3, false, 1));
    assert_eq!((sandbox.wake(), sandbox.objects()), (tip, objects), "a dry run");
    assert!(sandbox.store().branches("agents/").unwrap().is_empty());
}

/// A document of many neurons, each connected to its neighbours.
fn many(count: usize, links: usize) -> String {
    let rows: Vec<String> = (0..count)
        .map(|i| {
            let connections: Vec<Value> = (1..=links)
                .map(|step| json!({"target": format!("n{}", (i + step * 7) % count), "weight": 1000 + step, "type": "feeds_into"}))
                .collect();
            json!({"id": format!("n{i}"), "concept": format!("concept {i}"), "type": "semantic", "connections": connections})
                .to_string()
        })
        .collect();
    format!("{{\"neurons\": [\n{}\n]}}\n", rows.join(",\n"))
}

#[test]
fn a_large_network_is_a_chain_of_bounded_runs_and_one_merge() {
    let sandbox = Sandbox::new();
    let before = sandbox.wake();
    let text = many(9_000, 2);
    let mut seen = Vec::new();
    let file = sandbox.file("large.json", &text);
    let report = sandbox.brain().import(&file, false, &mut |p| seen.push(p)).unwrap();
    assert_eq!((report.created, report.connections, report.runs.len()), (9_000, 18_000, 2));
    assert!(seen.len() >= 3);
    let store = sandbox.store();
    let merge = store.commit(sandbox.wake()).unwrap();
    assert_eq!(merge.parents[0], before);
    assert_eq!(merge.trailer_values("Run").collect::<Vec<_>>(), report.runs);
    let second = store.commit(merge.parents[1]).unwrap();
    let first = store.commit(second.parents[0]).unwrap();
    assert_eq!((first.parents.as_slice(), second.tree), ([before].as_slice(), merge.tree));
    assert_eq!(store.files(merge.tree, layout::NEURONS).unwrap().len(), 9_006);
    sandbox.git(&["fsck", "--strict", "--full"]);
    // Each record is exactly its own commit's change.
    for (commit, run) in [(first, &report.runs[0]), (second, &report.runs[1])] {
        let path = layout::run(&run.parse().unwrap());
        let record = RunRecord::decode(&store.read(commit.tree, &path).unwrap().unwrap(), &path).unwrap();
        let base = store.tree_of(commit.parents[0]).unwrap();
        let changed = store.diff(Some(base), Some(commit.tree), layout::NEURONS).unwrap();
        let recorded: Vec<NeuronId> = record.effects.iter().filter_map(|e| e.neuron.clone()).collect();
        let mut paths: Vec<String> = recorded.iter().map(layout::neuron).collect();
        paths.sort();
        assert_eq!(paths, changed.into_iter().map(|c| c.path).collect::<Vec<_>>());
        assert!(recorded.is_sorted());
    }
    assert!(report.runs[0] < report.runs[1]);
    let again = sandbox.brain().import(&file, false, &mut |_| {}).unwrap();
    assert_eq!((again.unchanged, again.runs.len(), again.wake), (9_000, 0, report.wake));
}

#[test]
fn import_wakes_no_agent_that_had_seen_everything() {
    let sandbox = Sandbox::new();
    let world = World::fixed(Stamp::from_unix(NOW + 100), "trade");
    let cycle = Cycle::open(&sandbox.dir(), world, &[]).unwrap();
    cycle.until_quiet(&Default::default(), &mut |_| {}).unwrap();
    assert_eq!(cycle.marker(), Some(sandbox.wake()));
    sandbox.import(&SEED.replace("n_perception_001", "n_core_decision")).unwrap();
    assert_eq!(cycle.marker(), Some(sandbox.wake()));
}

#[test]
fn triples_become_concepts_and_lead_to_their_memories() {
    let sandbox = Sandbox::new();
    let episode = episode_id(&"s-1".parse().unwrap());
    let document = json!({"neurons": [
        {"id": episode, "concept": "Tea has caffeine.", "type": "episodic", "source": "D1:1", "stimulus": "s-1"},
        {"id": "x", "concept": "not a memory", "type": "semantic", "source": "D1:1"},
        {"id": concept_id("caffeine"), "concept": "caffeine", "type": "contextual"}
    ]});
    sandbox.import(&document.to_string()).unwrap();
    let text = concat!(
        "{\"subject\": \"Tea\", \"relation\": \"has\", \"object\": \"Caffeine\", \"source\": \"D1:1\"}\n",
        "{\"subject\": \"tea\", \"relation\": \"contains\", \"object\": \"caffeine\", \"source\": \"D9:9\"}\n",
        "{\"subject\": \"Green Tea\", \"relation\": \"is\", \"object\": \"tea\"}\n",
    );
    let report = sandbox.triples(text);
    assert_eq!((report.created, report.changed, report.unchanged, report.runs.len()), (2, 1, 1, 1));
    assert!(report.notes.iter().any(|note| note.contains("D9:9")), "{:?}", report.notes);
    let (tea, caffeine) = (concept_id("tea"), concept_id("caffeine"));
    let stored = sandbox.neuron(tea.as_str()).unwrap();
    assert_eq!((stored.concept.as_str(), stored.weight(&caffeine, Link::FeedsInto)), ("tea", 45197));
    assert_eq!(sandbox.neuron(concept_id("green tea").as_str()).unwrap().weight(&tea, Link::FeedsInto), 34492);
    assert_eq!(sandbox.neuron(caffeine.as_str()).unwrap().kind.as_str(), "contextual", "what is there keeps its type");
    let memory = sandbox.neuron(episode.as_str()).unwrap();
    for concept in [&tea, &caffeine] {
        assert_eq!([Link::Recalls, Link::FeedsInto].map(|link| memory.weight(concept, link)), [34492, 34492]);
    }
    assert_eq!(memory.concept, "Tea has caffeine.");
    assert!(sandbox.neuron("x").unwrap().connections.is_empty());
    let wake = sandbox.wake();
    let again = sandbox.triples(text);
    assert_eq!((again.created, again.changed, again.runs.len(), sandbox.wake()), (0, 0, 0, wake));
}
