//! The form of an answer: the schema of a delta, narrowed to one run.

use serde_json::{Value, json};

use crate::cognition::Snapshot;
use crate::cognition::choice::asked;
use crate::cognition::exchange::Form;
use crate::model::capabilities::Capabilities;
use crate::model::{Kind, Link};

/// Longest texts, characters: what nobody bounds, a small model goes on with until it is cut off.
const CONCEPT: usize = 200;
const REMARK: usize = 300;
/// The operation that answers a signal.
const ACKNOWLEDGE: &str = "acknowledge";
/// Ids that a schema lists. Providers bound how many words a schema may have.
const IDS: usize = 200;
/// Operations of one answer, whatever more the agent may do.
const OPERATIONS: u32 = 16;
/// Weights that are worth saying: below, no wave follows them for long.
const WEIGHTS: (u32, u32) = (1024, 65_535);

/// Most operations that a run is asked for.
pub(super) fn most(capabilities: &Capabilities) -> u32 {
    capabilities.max_operations.clamp(1, OPERATIONS)
}

/// The form of an agent's answer.
#[must_use]
pub fn form(snapshot: &Snapshot, capabilities: &Capabilities) -> Form {
    let operations: Vec<Value> =
        capabilities.operations.iter().flat_map(|name| operations_named(name, snapshot, capabilities)).collect();
    let items = if operations.is_empty() {
        json!({"type": "object", "properties": {}, "additionalProperties": false, "required": []})
    } else {
        json!({"anyOf": operations})
    };
    let most = if operations.is_empty() { 0 } else { most(capabilities) };
    let schema = object(json!({
        "prediction": object(json!({"text": text(REMARK), "value": {"type": "number", "minimum": 0, "maximum": 1}})),
        "ops": {"type": "array", "items": items, "maxItems": most},
    }));
    Form { name: "delta".to_owned(), schema }
}

/// An object all of whose fields are there, and no others: what every provider understands.
fn object(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn text(most: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": most})
}

/// One of some words; `None`: there are none.
fn one_of<T: ToString>(words: impl IntoIterator<Item = T>) -> Option<Value> {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).take(IDS).collect();
    (!words.is_empty()).then(|| json!({"type": "string", "enum": words}))
}

fn is(name: &str) -> Value {
    json!({"type": "string", "enum": [name]})
}

/// The forms of an operation: one, and of answers one for each question with options beside that of all other signals.
fn operations_named(name: &str, snapshot: &Snapshot, may: &Capabilities) -> Vec<Value> {
    if name != ACKNOWLEDGE {
        return operation(name, snapshot, may).into_iter().collect();
    }
    let answer =
        |signals: Value, payload: Value| object(json!({"op": is(name), "signal": signals, "payload": object(payload)}));
    let signals = || snapshot.signals.iter().take(IDS);
    let others = one_of(signals().filter(|signal| asked(signal).is_none()).map(|signal| &signal.id));
    let chosen = signals().filter_map(|signal| Some((signal, one_of(asked(signal)?.options)?)));
    let chosen = chosen
        .map(|(signal, options)| answer(is(signal.id.as_str()), json!({"choice": options, "text": text(REMARK)})));
    let others = others.map(|signals| answer(signals, json!({"text": text(REMARK)})));
    chosen.chain(others).collect()
}

fn operation(name: &str, snapshot: &Snapshot, may: &Capabilities) -> Option<Value> {
    let ids = || one_of(snapshot.neurons.iter().map(|neuron| &neuron.id));
    let kinds = || one_of(may.types.iter().filter(|kind| **kind != Kind::Core).map(|kind| kind.as_str()));
    let links = || one_of(may.links.as_deref().unwrap_or(Link::ALL).iter().map(|link| link.as_str()));
    let agents = || {
        let allowed = |agent: &&crate::cognition::AgentSummary| {
            agent.name != snapshot.agent && may.signals_to.as_ref().is_none_or(|to| to.contains(&agent.name))
        };
        one_of(snapshot.agents.iter().filter(allowed).map(|agent| &agent.name))
    };
    let step = may.max_weight_delta.clamp(1, WEIGHTS.1);
    let strength = may.max_strength.unwrap_or(1.0);
    let said = || object(json!({"kind": text(40), "text": text(REMARK)}));
    let properties = match name {
        "create" => json!({"op": is(name), "concept": text(CONCEPT), "type": kinds()?}),
        "activate" => {
            json!({"op": is(name), "id": ids()?, "strength": {"type": "number", "minimum": 0, "maximum": strength}})
        }
        "connect" => {
            let weight = json!({"type": "integer", "minimum": WEIGHTS.0.min(step), "maximum": step});
            json!({"op": is(name), "from": ids()?, "to": ids()?, "type": links()?, "weight": weight})
        }
        "adjust" => {
            let by = json!({"type": "integer", "minimum": -i64::from(step), "maximum": step});
            json!({"op": is(name), "from": ids()?, "to": ids()?, "type": links()?, "by": by})
        }
        "disconnect" => json!({"op": is(name), "from": ids()?, "to": ids()?, "type": links()?}),
        "reword" => json!({"op": is(name), "id": ids()?, "concept": text(CONCEPT)}),
        "retype" => json!({"op": is(name), "id": ids()?, "type": kinds()?}),
        "archive" => json!({"op": is(name), "id": ids()?, "reason": text(REMARK)}),
        "signal" => json!({"op": is(name), "to": agents()?, "payload": said()}),
        "flag" => {
            let names = one_of(may.flags.iter().flatten().chain(&snapshot.flags))?;
            json!({"op": is(name), "name": names, "value": {"type": "boolean"}, "reason": text(REMARK)})
        }
        "outcome" => {
            let asked = snapshot.signals.iter().filter(|signal| signal.payload_kind() == Some("outcome"));
            let runs = one_of(asked.filter_map(|signal| signal.payload.get("run")?.as_str()))?;
            let share = |least: i32| json!({"type": "number", "minimum": least, "maximum": 1});
            json!({"op": is(name), "run": runs, "value": share(0), "error": share(-1), "method": is("model")})
        }
        "goal" => json!({"op": is(name), "text": text(CONCEPT), "level": is("sub")}),
        // What a model cannot say well in a schema: it is left to people and rules.
        _ => return None,
    };
    Some(object(properties))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cognition::llm::fixture;

    fn may(operations: &[&str]) -> Capabilities {
        Capabilities {
            operations: operations.iter().map(|name| (*name).to_owned()).collect(),
            types: vec![Kind::Core, Kind::Semantic],
            ..Capabilities::default()
        }
    }

    fn operations_of(form: &Form) -> Vec<String> {
        let variants = form.schema["properties"]["ops"]["items"]["anyOf"].as_array().cloned().unwrap_or_default();
        variants.iter().map(|v| v["properties"]["op"]["enum"][0].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn only_what_an_agent_may_do_now_can_be_said() {
        let mut snapshot = fixture::snapshot("perception");
        let all = may(&["create", "activate", "connect", "acknowledge", "signal"]);
        assert_eq!(operations_of(&form(&snapshot, &all)), ["create"], "no neuron, signal or other agent is shown");
        snapshot.neurons.push(fixture::neuron("tea", "tea"));
        assert_eq!(operations_of(&form(&snapshot, &all)), ["create", "activate", "connect"]);
        assert!(operations_of(&form(&snapshot, &may(&[]))).is_empty());
        let created = &form(&snapshot, &may(&["create"])).schema["properties"]["ops"]["items"]["anyOf"][0];
        assert_eq!(created["properties"]["type"]["enum"], json!(["semantic"]), "core neurons are people's");
    }

    #[test]
    fn what_fits_the_form_is_a_delta() {
        let mut snapshot = fixture::snapshot("perception");
        snapshot.neurons.push(fixture::neuron("tea", "tea"));
        let form = form(&snapshot, &may(&["create", "activate", "connect", "goal"]));
        let validator = jsonschema::validator_for(&form.schema).unwrap();
        let answer = json!({"prediction": {"text": "x", "value": 0.5}, "ops": [
            {"op": "create", "concept": "green tea", "type": "semantic"},
            {"op": "activate", "id": "tea", "strength": 0.5},
            {"op": "connect", "from": "tea", "to": "tea", "type": "feeds_into", "weight": 2000},
            {"op": "goal", "text": "more tea", "level": "sub"},
        ]});
        validator.validate(&answer).unwrap_or_else(|e| panic!("{e}"));
        crate::delta::Document::parse(answer.to_string().as_bytes(), "answer").unwrap();
        let unknown = json!({"prediction": {"text": "x", "value": 0.5}, "ops": [{"op": "activate", "id": "coffee", "strength": 1}]});
        assert!(validator.validate(&unknown).is_err());
    }
}
