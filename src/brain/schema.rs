//! Schemas: JSON Schemas of the documents, made from the types that read and write them, and other reference tables.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

use super::trade::{ExportReport, ImportReport};
use super::{Brain, BrainError, ChatAnswer, FindAnswer, RecallAnswer};
use crate::chemistry::serotonin::{Brief, Chapter};
use crate::cognition::Snapshot;
use crate::consolidation::SleepRecord;
use crate::cycle::Triple;
use crate::delta::{Document, LedgerEntry, RunRecord};
use crate::limits;
use crate::model::document::Goal;
use crate::model::portable::PortableNetwork;
use crate::model::sealed::SealedRecord;
use crate::model::wisdom::WisdomRecord;
use crate::model::{Acknowledgement, Agent, Flag, Metadata, Neuron, Settings, Signal, Stimulus};
use crate::review::ReviewRecord;
use crate::wisdom::Bundle;
use crate::world;

/// A schema that can be asked for.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SchemaEntry {
    /// Its name.
    pub name: &'static str,
    /// What it describes.
    pub about: &'static str,
    #[serde(skip)]
    make: fn() -> Schema,
}

/// The name under which the table of environment variables is printed.
pub const ENVIRONMENT: &str = "environment";

fn made<T: schemars::JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

const fn entry(name: &'static str, about: &'static str, make: fn() -> Schema) -> SchemaEntry {
    SchemaEntry { name, about, make }
}

/// All schemas, sorted by name.
pub const SCHEMAS: &[SchemaEntry] = &[
    entry("acknowledgement", "the answer to a signal, network/signals/…/ID.ack.json", made::<Acknowledgement>),
    entry("agent", "an agent's definition, agents/NAME.json", made::<Agent>),
    entry("chapter", "a chapter of the story, network/narrative/…/RUN.json", made::<Chapter>),
    entry("chat", "the output of `chat --json`", made::<ChatAnswer>),
    entry("delta", "the proposal of a run: the input of `apply`, the output of a command agent", delta),
    entry(
        "export",
        "the whole network as one document: the output of `export`, the input of `import`",
        made::<PortableNetwork>,
    ),
    entry("export-report", "the report of `export` on standard error with --json", made::<ExportReport>),
    entry("find", "the output of `find --json`", made::<FindAnswer>),
    entry("flag", "a switch of the network, network/flags/NAME.json", made::<Flag>),
    entry("goal", "a goal, network/goals/ID.json", made::<Goal>),
    entry("import-report", "the output of `import --json`", made::<ImportReport>),
    entry("ledger", "a run's expectation beside its outcome, network/ledger/…/RUN.json", made::<LedgerEntry>),
    entry("metadata", "the network's format and bootstrap state, network/metadata.json", made::<Metadata>),
    entry("narration-brief", "the standard input of an agent `narrator`", made::<Brief>),
    entry("neuron", "a neuron, network/neurons/ab/c/ID.json", made::<Neuron>),
    entry("recall", "the output of `recall --json`", made::<RecallAnswer>),
    entry("review", "a decision about a run, YYYY/MM/DD/RUN/REVIEW.json in refs/brain/reviews", made::<ReviewRecord>),
    entry("run", "the record of a run, network/runs/…/RUN.json", made::<RunRecord>),
    entry("sealed", "sealed memories that a run entered, network/sealed/…/RUN.json", made::<SealedRecord>),
    entry("settings", "brain.toml, as JSON", made::<Settings>),
    entry("signal", "a message to an agent, network/signals/…/ID.json", made::<Signal>),
    entry("sleep", "the record of a sleep, network/sleep/…/RUN.json", made::<SleepRecord>),
    entry("snapshot", "the standard input of a command agent", made::<Snapshot>),
    entry("stimulus", "an input from outside, network/stimuli/…/ID.json", made::<Stimulus>),
    entry("triple", "a line of the input of `import --triples`", made::<Triple>),
    entry("wisdom", "seeds that a run taught or forgot, network/wisdom/…/RUN.json", made::<WisdomRecord>),
    entry("wisdom-bundle", "the output of `wisdom export`, the input of `wisdom inherit`", made::<Bundle>),
];

/// A delta may name its schema, and has no fields but its own. Its reader is by hand, so that is said here.
fn delta() -> Schema {
    let mut schema = made::<Document>();
    schema.insert("additionalProperties".to_owned(), json!(false));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let about = "The address of the schema.";
        properties.insert("$schema".to_owned(), json!({"type": ["string", "null"], "description": about}));
        if let Some(ops) = properties.get_mut("ops").and_then(Value::as_object_mut) {
            ops.insert("maxItems".to_owned(), json!(limits::DELTA_OPS));
        }
    }
    schema
}

/// The schema of that name as a document, with its `$id`.
pub fn schema(name: &str) -> Option<Value> {
    let entry = SCHEMAS.iter().find(|entry| entry.name == name)?;
    let made = (entry.make)().to_value();
    let mut document = serde_json::Map::new();
    let Value::Object(fields) = made else { return None };
    document.extend(fields.get("$schema").map(|dialect| ("$schema".to_owned(), dialect.clone())));
    document.insert("$id".to_owned(), json!(format!("urn:git-brain:schema:{name}:1")));
    document.extend(fields.into_iter().filter(|(key, _)| key != "$schema"));
    Some(Value::Object(document))
}

impl Brain {
    /// What `git brain schema [NAME]` prints, which needs no brain: a schema, the table of environment variables, or the
    /// list of names.
    pub fn schema(name: Option<&str>) -> Result<String, BrainError> {
        match name {
            None => {
                let rows = SCHEMAS.iter().map(|entry| (entry.name, entry.about));
                let rows = rows.chain([(ENVIRONMENT, "the variables that the program reads")]);
                Ok(rows.map(|(name, about)| format!("{name:<16} {about}\n")).collect())
            }
            Some(ENVIRONMENT) => Ok(format!("| variable | what it does |\n|---|---|\n{}", world::environment_table())),
            Some(name) => match schema(name) {
                Some(schema) => Ok(format!("{schema:#}\n")),
                None => Err(BrainError::Usage {
                    message: format!("there is no schema {name}"),
                    hint: Some("`git brain schema` lists them".to_owned()),
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::bootstrap;
    use crate::delta::Effect;
    use crate::model::{Kind, Stamp, json as model_json};

    fn errors(name: &str, document: &Value) -> Vec<String> {
        let schema = schema(name).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    fn accepts(name: &str, text: &str) {
        let document = serde_json::from_str(text).unwrap();
        assert_eq!(errors(name, &document), Vec::<String>::new(), "{name}: {text}");
    }

    fn refuses(name: &str, text: &str) {
        let document = serde_json::from_str(text).unwrap();
        assert_ne!(errors(name, &document), Vec::<String>::new(), "{name}: {text}");
    }

    #[test]
    fn the_bootstrap_brain_is_of_its_schemas() {
        for file in bootstrap::FILES.iter().filter(|f| f.path.ends_with(".json")) {
            let name = match file.path.split('/').nth(1) {
                Some("neurons") => "neuron",
                Some("metadata.json") => "metadata",
                _ => "agent",
            };
            accepts(name, file.content);
            refuses(name, &file.content.replacen('{', "{\"speed\": 1,", 1));
        }
        let settings: toml::Value = toml::from_str(include_str!("../../brain.toml")).unwrap();
        accepts("settings", &serde_json::to_string(&settings).unwrap());
        refuses("settings", "{\"activation\": {\"max_dept\": 3}}");
    }

    #[test]
    fn neurons_are_of_their_schema_and_wrong_ones_are_not() {
        let golden = include_str!("../../tests/golden/neuron.json");
        accepts("neuron", golden);
        accepts("neuron", include_str!("../../tests/golden/neuron-1.json"));
        for (good, bad) in [
            ("\"salience\": 45000", "\"salience\": 70000"),
            ("\"type\": \"episodic\"", "\"type\": \"idea\""),
            ("\"id\": \"tea-1f3c\"", "\"id\": \"Tea\""),
            ("\"feeds_into\": 50000", "\"feeds_into\": -1"),
            ("\"feeds_into\": 50000", "\"heavy\": 1"),
            ("\"c\": 300", "\"c\": 70000"),
            ("\"named_by\": null", "\"named_by\": \"me\""),
        ] {
            assert!(golden.contains(good), "{good}");
            refuses("neuron", &golden.replace(good, bad));
        }
    }

    const DELTA: &str = r#"{"$schema": "urn:git-brain:schema:delta:1", "agent": "memory",
 "prediction": {"text": "…", "value": 0.7},
 "ops": [
  {"op": "create", "id": "tea-1f3c", "concept": "tea", "type": "semantic"},
  {"op": "activate", "id": "tea-1f3c", "strength": 0.8},
  {"op": "connect", "from": "a", "to": "b", "type": "feeds_into", "weight": 20000},
  {"op": "adjust", "from": "a", "to": "b", "type": "feeds_into", "by": -120},
  {"op": "disconnect", "from": "a", "to": "b", "type": "feeds_into"},
  {"op": "reinforce", "error": -0.3, "pathway": [{"from": "a", "to": "b", "type": "feeds_into"}]},
  {"op": "reword", "id": "a", "concept": "…"}, {"op": "retype", "id": "a", "type": "core"},
  {"op": "archive", "id": "a", "reason": "…"},
  {"op": "signal", "to": "memory", "payload": {}}, {"op": "acknowledge", "signal": "g1", "payload": {}},
  {"op": "flag", "name": "urgence", "value": true},
  {"op": "outcome", "run": "20260126t143200123z-abcd2345-decision", "value": 0.4, "error": -0.3, "method": "number"},
  {"op": "goal", "text": "…", "level": "sub", "neuron": "a", "state": "open"},
  {"op": "deliberate", "goal": "recall", "cycle": {"cycle": 1, "cast": {"gardener": {"mind": "reflex-lexical", "family": "a"},
    "skeptic": null, "inspector": {"mind": "reflex-lexical", "family": "a"}, "diverger": null,
    "aligner": {"mind": "reflex-lexical", "family": "a"}}, "rules": "0", "evidence": {},
    "forecast": {"monsoon": false, "trees": {}}, "results": [], "seeds": [], "events": []}},
  {"op": "wisdom", "seeds": [{"condition": "…", "action": "…", "effect": "…", "polarity": "do",
    "sources": ["20260126t143200123z-abcd2345-decision"]}], "forget": ["w-0123456789abcdef"]},
  {"op": "seal", "forget": ["subject-0123456789abcdef0123456789abcdef"]}]}"#;

    #[test]
    fn what_the_delta_schema_says_is_what_the_reader_says() {
        let wrong = [
            "{}",
            "{\"ops\": [], \"extra\": 1}",
            "{\"ops\": [{\"op\": \"fly\"}]}",
            "{\"ops\": [{\"op\": \"create\", \"concept\": \"a\", \"type\": \"semantic\", \"speed\": 1}]}",
            "{\"ops\": [{\"op\": \"create\", \"concept\": \"a\"}]}",
            "{\"ops\": [{\"op\": \"connect\", \"from\": \"a\", \"to\": \"b\", \"type\": \"feeds_into\", \"weight\": 70000}]}",
            "{\"ops\": [{\"concept\": \"a\", \"type\": \"semantic\"}]}",
            "{\"agent\": \"A B\", \"ops\": []}",
        ];
        accepts("delta", DELTA);
        assert!(Document::parse(DELTA.as_bytes(), "delta").is_ok());
        for text in wrong {
            refuses("delta", text);
            assert!(Document::parse(text.as_bytes(), "delta").is_err(), "{text}");
        }
    }

    #[test]
    fn documents_that_are_written_are_of_their_schemas() {
        let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let run: crate::model::RunId = "20260126t143200123z-abcd2345-memory".parse().unwrap();
        let before = Neuron::new("a".parse().unwrap(), "a", Kind::Semantic, at);
        let mut after = before.clone();
        after.activate(500, at);
        after.concept = "b".into();
        after.archived = Some(run.clone());
        after.source = Some("D1:1".into());
        after.set_weight(&"b".parse().unwrap(), crate::model::Link::Recalls, 7);
        let record = RunRecord {
            agent: run.agent(),
            run: run.clone(),
            trigger: "by hand".into(),
            cognition: "apply".into(),
            at,
            depth: 0,
            base: None,
            origin: Default::default(),
            stimuli: vec![],
            prediction: None,
            ops: Document::parse(DELTA.as_bytes(), "delta").unwrap().ops,
            effects: vec![Effect::between(None, &after), Effect::between(Some(&before), &after)],
            notes: vec!["x".into()],
            reverts: vec![],
            approves: vec![],
        };
        let text = String::from_utf8(record.encode()).unwrap();
        accepts("run", &text);
        refuses("run", &text.replacen("\"cognition\"", "\"recognition\"", 1));
        let flag = Flag { value: true, reason: String::new(), at, run: Some(run.clone()) };
        accepts("flag", &String::from_utf8(model_json::pretty(&flag)).unwrap());
        let stimulus = Stimulus {
            id: "s-1".parse().unwrap(),
            at,
            text: "tea".into(),
            source: Some("D1:1".into()),
            session: None,
            origin: Default::default(),
            answers: Some(run.clone()),
            value: None,
            supersedes: vec!["s-0".parse().unwrap()],
            order: 1,
            code: None,
        };
        let text = String::from_utf8(stimulus.encode()).unwrap();
        accepts("stimulus", &text);
        refuses("stimulus", &text.replace("\"text\"", "\"txt\""));
        let signal = Signal {
            id: "g-1".parse().unwrap(),
            kind: Kind::Signal,
            from: run.agent(),
            to: run.agent(),
            run: run.clone(),
            created_at: at,
            payload: json!({"kind": "query"}),
        };
        accepts("signal", &String::from_utf8(model_json::pretty(&signal)).unwrap());
        let answer = Acknowledgement {
            signal: signal.id.clone(),
            by: run.agent(),
            run: run.clone(),
            created_at: at,
            payload: Value::Null,
        };
        accepts("acknowledgement", &String::from_utf8(model_json::pretty(&answer)).unwrap());
        let snapshot = Snapshot {
            run: run.clone(),
            agent: run.agent(),
            at,
            trigger: "by hand".into(),
            stimuli: vec![stimulus],
            signals: vec![signal],
            active: vec![],
            flags: vec![],
            answers: Vec::new(),
            raised: Vec::new(),
            agents: vec![],
            neurons: vec![after],
            ledger: vec![],
            goals: vec![],
            counsel: vec![],
        };
        accepts("snapshot", &String::from_utf8(model_json::pretty(&snapshot)).unwrap());
        accepts("triple", "{\"subject\": \"a\", \"relation\": \"r\", \"object\": \"b\", \"source\": null}");
    }

    #[test]
    fn the_list_names_every_schema_and_each_has_its_id() {
        let list = Brain::schema(None).unwrap();
        assert!(SCHEMAS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for entry in SCHEMAS {
            assert!(list.contains(entry.about));
            let text = Brain::schema(Some(entry.name)).unwrap();
            assert!(text.contains(&format!("\"urn:git-brain:schema:{}:1\"", entry.name)));
        }
        assert!(list.contains(ENVIRONMENT));
        assert!(Brain::schema(Some(ENVIRONMENT)).unwrap().contains("BRAIN_SEED"));
        assert_eq!(Brain::schema(Some("speed")).unwrap_err().exit_code(), 2);
    }
}
