//! The description of all paths, for programs: made of the types that read and write the documents.

use axum::Json;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::chat::{Answered, Confirmation, HandoffAnswer};
use super::council::CouncilWord;
use super::review::ReviewWord;
use crate::brain::client::{AskRequest, Came, CameRequest, Delta, Kept, Proposal, Recollection, Remembered};
use crate::brain::council::PendingCouncil;
use crate::brain::{
    ChatEvent, ChatRequest, CommitView, Conversation, Handoff, LedgerView, Moved, NeuronName, NeuronView, Pulse,
    RecallAnswer, Waiting,
};

/// `GET /openapi.json`.
pub(super) async fn document() -> Json<Value> {
    Json(described())
}

/// The document, OpenAPI 3.1.
fn described() -> Value {
    let mut schemas =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into()).into_generator();
    let paths = paths(&mut schemas);
    let mut components: Map<String, Value> = schemas.take_definitions(true);
    components.insert("Failure".to_owned(), failure());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "git-brain",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A brain of this machine: feed it, recall, propose changes and report outcomes; chat with it, confirm calls of its tools, read what answers cite."
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}
        }
    })
}

fn paths(schemas: &mut SchemaGenerator) -> Value {
    let request = schemas.subschema_for::<ChatRequest>();
    let answered = schemas.subschema_for::<Answered>();
    let event = schemas.subschema_for::<ChatEvent>();
    let confirmation = schemas.subschema_for::<Confirmation>();
    let waiting = schemas.subschema_for::<Waiting>();
    let (conversation, neuron) = (schemas.subschema_for::<Conversation>(), schemas.subschema_for::<NeuronView>());
    let commit = schemas.subschema_for::<CommitView>();
    let (handoff, handoff_answer) = (schemas.subschema_for::<Handoff>(), schemas.subschema_for::<HandoffAnswer>());
    let handoffs = json!({"type": "object", "required": ["handoffs"], "properties": {"handoffs": {"type": "array", "items": handoff}}});
    let answered_handoff = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    let (council, word) = (schemas.subschema_for::<PendingCouncil>(), schemas.subschema_for::<CouncilWord>());
    let councils = json!({"type": "object", "required": ["councils"], "properties": {"councils": {"type": "array", "items": council}}});
    let closed = json!({"type": "object", "required": ["id", "state"], "properties": {"id": {"type": "string"}, "state": {"enum": ["approved", "rejected"]}}});
    let allowed = json!({"type": "object", "required": ["id", "allowed"], "properties": {"id": {"type": "string"}, "allowed": {"type": "boolean"}}});
    let list = json!({"type": "object", "required": ["waiting"], "properties": {"waiting": {"type": "array", "items": waiting}}});
    let rung = json!({"type": "object", "required": ["rung"], "properties": {"rung": {"enum": ["started", "waits", "known"]}}});
    let look = json!({"type": "object", "required": ["running", "last"], "properties": {"running": {"type": "boolean"}, "last": {"type": ["object", "null"]}}});
    let alive = json!({"type": "object", "required": ["status", "version"], "properties": {"status": {"const": "ok"}, "version": {"type": "string"}}});
    let mut chat = operation(
        "Say something; the brain remembers it and what it answers",
        &[],
        Some(json!(request)),
        json!(answered),
        &[400, 408, 413, 415, 422, 429, 502, 503],
    );
    chat["responses"]["200"]["content"]["text/event-stream"] = json!({"schema": {
        "description": "With `Accept: text/event-stream`: every step as it happens, one event each, `data` as described; the last is `remembered` {notes} or `failed` (a Failure).",
        "anyOf": [event]
    }});
    chat["responses"]["200"]["headers"] = json!({
        "Conversation": {"description": "the conversation, to go on with; percent-encoded", "schema": {"type": "string"}},
        "Link": {"description": "the neurons and commits that the answer cites: rel=\"cite-as\", the title is the number in the answer", "schema": {"type": "string"}}
    });
    let at = json!({"name": "at", "in": "query", "description": "a commit; wake's tip by default", "schema": {"type": "string"}});
    let mut all = json!({
        "/chat": {"post": chat},
        "/confirm": {
            "post": operation("Allow or deny a waiting call", &[], Some(json!(confirmation)), allowed, &[400, 404, 413, 415]),
            "get": operation("Calls that wait for a person", &[], None, list, &[])
        },
        "/handoffs": {
            "post": operation("Answer a question of a deliberation", &[], Some(json!(handoff_answer)), answered_handoff, &[400, 404, 413, 415]),
            "get": operation("Questions of deliberations that wait for a person or an agent", &[], None, handoffs, &[])
        },
        "/councils": {
            "post": operation("Approve or reject a question that a council left to a person", &[], Some(json!(word)), closed, &[400, 404, 413, 415, 422]),
            "get": operation("Councils that left their decision to a person", &[], None, councils, &[])
        },
        "/conversations/{name}": {"get": operation("The turns of a conversation", &[named("name")], None, json!(conversation), &[400])},
        "/neurons/{id}": {"get": operation("A neuron, and the commits that made it", &[named("id"), at], None, json!(neuron), &[400, 404])},
        "/commits/{id}": {"get": operation("A commit and its changes", &[named("id")], None, json!(commit), &[400, 404])},
        "/forge/webhook": {
            "post": open(operation("A forge says that something happened; signed by its secret", &[], Some(json!({"type": "object"})), rung, &[401, 413])),
            "get": operation("The result of the bot's last look", &[], None, look, &[])
        },
        "/healthz": {"get": open(operation("A sign of life", &[], None, alive, &[]))},
        "/openapi.json": {"get": open(operation("This document", &[], None, json!({"type": "object"}), &[]))}
    });
    for more in [network(schemas), memory(schemas)] {
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
    }
    all
}

/// Paths of the view of the network.
fn network(schemas: &mut SchemaGenerator) -> Value {
    let query = |name: &str, about: &str, kind: &str| json!({"name": name, "in": "query", "description": about, "schema": {"type": kind}});
    let at = || query("at", "a commit; wake's tip by default", "string");
    let listed = |name: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": "array", "items": {"type": "object"}}}});
    let mut picture = operation(
        "A part of the network, ranked and laid out, as arrays; see `docs/http.md`",
        &[
            at(),
            query("most", "most neurons; 300 by default", "integer"),
            query("since", "a commit: what differs from it is marked and comes first", "string"),
            query("around", "a neuron in whose neighbourhood to begin", "string"),
        ],
        None,
        json!({}),
        &[400, 404],
    );
    picture["responses"]["200"]["content"] =
        json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}});
    let events = [schemas.subschema_for::<Pulse>(), schemas.subschema_for::<Moved>()];
    let mut changes = operation("Events of the brain as they happen, server-sent", &[], None, json!({}), &[429]);
    changes["responses"]["200"]["content"] = json!({"text/event-stream": {"schema": {
        "description": "`stands` first, `slept` and `waiting`: a Pulse; `moved`: a Moved.", "anyOf": events
    }}});
    let (recalled, ledger) = (schemas.subschema_for::<RecallAnswer>(), schemas.subschema_for::<LedgerView>());
    let word = schemas.subschema_for::<ReviewWord>();
    let belief = json!({"type": "object", "required": ["run", "commit", "waits", "conflicts", "blocks"], "properties": {
        "run": {"type": "string"}, "commit": {"type": "string"}, "waits": {"type": "boolean"}, "conflicts": {"type": "integer"},
        "blocks": {"type": "array", "items": {"type": "object"}}
    }});
    let decided = json!({"type": "object", "required": ["run", "verdict", "wake", "notes"]});
    let ids = json!({"name": "ids", "in": "query", "required": true, "description": "with commas between them, 200 at most", "schema": {"type": "string"}});
    let name = schemas.subschema_for::<NeuronName>();
    let named_neurons =
        json!({"type": "object", "required": ["neurons"], "properties": {"neurons": {"type": "array", "items": name}}});
    let question = json!({"name": "question", "in": "query", "required": true, "schema": {"type": "string"}});
    json!({
        "/network": {"get": picture},
        "/network/names": {"get": operation("Names and origins of neurons that a picture has by their ids alone", &[ids, at()], None, named_neurons, &[400])},
        "/changes": {"get": changes},
        "/history": {"get": operation("The newest entries of the log", &[query("number", "200 at most, the default", "integer"), at()], None, listed("entries"), &[400])},
        "/ledger": {"get": operation("The newest judgements of the ledger beside the newest chapter of the story", &[query("number", "100 at most, 20 by default", "integer"), at()], None, json!(ledger), &[400])},
        "/search": {"get": operation("The best memories for a question", &[question, query("top", "most memories", "integer"), at()], None, json!(recalled), &[400])},
        "/status": {"get": operation("Counts, agents and budgets", &[], None, json!({"type": "object"}), &[])},
        "/reviews": {
            "get": operation("Runs that wait for a person, the most consequential first", &[], None, listed("waiting"), &[]),
            "post": operation("Approve or reject a waiting run", &[], Some(json!(word)), decided, &[400, 413, 415, 422])
        },
        "/reviews/{run}": {"get": operation("A run as a change of belief", &[named("run")], None, belief, &[400])},
        "/neurons/{id}/blame": {"get": operation("The run that last changed each field of a neuron", &[named("id"), at()], None, listed("fields"), &[400, 404])}
    })
}

/// Paths for programs: those of `memory`, and the tool protocol.
fn memory(schemas: &mut SchemaGenerator) -> Value {
    let (texts, kept) = (schemas.subschema_for::<Remembered>(), schemas.subschema_for::<Kept>());
    let (delta, proposal) = (schemas.subschema_for::<Delta>(), schemas.subschema_for::<Proposal>());
    let (came, judged) = (schemas.subschema_for::<CameRequest>(), schemas.subschema_for::<Came>());
    let recollection = schemas.subschema_for::<Recollection>();
    let client = json!({"name": "Client", "in": "header", "description": "The program's name: origins say http:NAME, runs are by the agent http-NAME. `client` by default.", "schema": {"type": "string"}});
    let asked = std::iter::once(client.clone())
        .chain(queried(schemas.root_schema_for::<AskRequest>().as_value()))
        .collect::<Vec<_>>();
    let client = [client];
    let mcp = |summary: &str, body: Option<Value>| {
        let mut operation = operation(summary, &[], body, json!({"type": "object"}), &[400, 413]);
        operation["responses"]["200"]["content"]["text/event-stream"] =
            json!({"schema": {"description": "Messages of JSON-RPC 2.0, one event each."}});
        operation["externalDocs"] = json!({"url": "https://modelcontextprotocol.io/specification"});
        operation
    };
    json!({
        "/feed": {"post": operation("Remember texts; agents perceive them before the answer", &client, Some(json!(texts)), json!(kept), &[400, 408, 413, 415, 422, 503])},
        "/recall": {"get": operation("Memories for a question, best first, page by page", &asked, None, json!(recollection), &[400])},
        "/apply": {"post": operation("Propose a delta, which waits for a person unless the client's definition lets it land", &client, Some(json!(delta)), json!(proposal), &[400, 408, 413, 415, 422, 503])},
        "/outcome": {"post": operation("Report the outcome of a run, or of a memory that was relied on", &client, Some(json!(came)), json!(judged), &[400, 404, 408, 413, 415, 422, 503])},
        "/mcp": {
            "post": mcp("A message of the Model Context Protocol, by streamable HTTP", Some(json!({"type": "object", "description": "A message of JSON-RPC 2.0."}))),
            "get": mcp("Messages of the server to a client that has a session", None),
            "delete": mcp("End a session", None)
        }
    })
}

/// The fields of a request as parameters of a query.
fn queried(schema: &Value) -> Vec<Value> {
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({"name": name, "in": "query", "required": is_required(name), "description": description, "schema": schema})
    };
    schema["properties"].as_object().into_iter().flatten().map(parameter).collect()
}

/// An operation that needs no token.
fn open(mut operation: Value) -> Value {
    operation["security"] = json!([]);
    if let Some(responses) = operation["responses"].as_object_mut() {
        responses.remove("401");
    }
    operation
}

fn named(name: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
}

fn operation(summary: &str, parameters: &[Value], body: Option<Value>, answer: Value, failures: &[u16]) -> Value {
    let fails = |about: &str| json!({"description": about, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}});
    let mut responses = json!({
        "200": {"description": "done", "content": {"application/json": {"schema": answer}}},
        "401": fails("the token is missing, or another"),
        "403": fails("Host or Origin are not this server's")
    });
    for status in failures {
        let about = match status {
            400 => "not what is described here",
            404 => "not there",
            408 => "the body did not come in time",
            413 => "too large",
            415 => "not application/json",
            422 => "well formed, and not allowed",
            429 => "too many answers on their way",
            502 => "no model answered",
            _ => "the budget is spent, or another command holds the brain",
        };
        responses[status.to_string()] = fails(about);
    }
    let mut operation = json!({"summary": summary, "responses": responses});
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(schema) = body {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

fn failure() -> Value {
    json!({
        "type": "object",
        "description": "The failure.",
        "required": ["version", "error", "hint", "code"],
        "properties": {
            "version": {"const": 1},
            "error": {"type": "string"},
            "hint": {"type": ["string", "null"], "description": "The next step."},
            "code": {"type": "integer", "description": "The exit code that a command would have."}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let document = described();
        let text = document.to_string();
        let mut count = 0;
        for reference in text.split("\"$ref\":\"").skip(1) {
            let path = reference.split('"').next().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(path).is_some(), "{path}");
            count += 1;
        }
        assert!(count > 20, "only {count} references");
    }
}
