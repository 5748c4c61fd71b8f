//! Answers: documents, and failures that a model can read and mend.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::brain::BrainError;

/// Longest part of a name that an error repeats, characters.
const NAME_CHARS: usize = 64;

/// A document as structured content, and as its text for clients that read no other.
pub(super) fn document(answer: Result<impl Serialize, BrainError>) -> CallToolResult {
    match answer {
        Ok(answer) => CallToolResult::structured(value(&answer)),
        Err(error) => failure(&error),
    }
}

/// What did not work, and what to do about it.
pub(super) fn failure(error: &BrainError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(sentence(error))])
}

/// The same as the failure of a request that no tool carries out.
pub(super) fn refusal(error: &BrainError) -> ErrorData {
    match error.exit_code() {
        2 | 3 => ErrorData::invalid_params(sentence(error), None),
        _ => ErrorData::internal_error(sentence(error), None),
    }
}

fn sentence(error: &BrainError) -> String {
    match error.hint() {
        Some(hint) => format!("error: {error}\nhint: {hint}"),
        None => format!("error: {error}"),
    }
}

/// Arguments as what a tool takes; the error names the field.
pub(super) fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, BrainError> {
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("{path}: ") };
        BrainError::Usage { message: format!("{place}{}", error.inner()), hint: None }
    })
}

/// A sentence about a name that nothing has.
pub(super) fn unknown(what: &str, name: &str) -> String {
    let name: String = name.chars().take(NAME_CHARS).collect();
    format!("there is no {what} {name:?}")
}

pub(super) fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("invariant: our documents have string keys")
}
