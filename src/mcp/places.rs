//! The same as resources and prompts: what to start with, the state, a question and an id.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role,
};

use super::answer::{refusal, unknown, value};
use crate::brain::BrainError;
use crate::brain::client::{AskRequest, Client, Desk, ReadRequest};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

const PRIME: &str = "brain://prime";
const STATUS: &str = "brain://status";
const RECALL: &str = "brain://recall/";
const READ: &str = "brain://read/";

const START: &str = "start";
const ASK: &str = "recall";

pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource::new(PRIME, "prime")
            .with_description("Goals, lessons, memories and changes to start with")
            .with_mime_type(MARKDOWN),
        Resource::new(STATUS, "status").with_description("State of the brain").with_mime_type(JSON),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{RECALL}{{question}}"), "recall")
            .with_description("Memories for a question")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{READ}{{id}}"), "read")
            .with_description("A neuron, run, stimulus, council or commit")
            .with_mime_type(JSON),
    ]
}

/// What stands at a place.
pub(super) fn read(desk: &Desk, client: &Client, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (kind, text) = match uri {
        PRIME => (MARKDOWN, desk.prime(client, None).map(|prime| prime.text)),
        STATUS => (JSON, desk.status(client).map(|status| value(&status).to_string())),
        _ => {
            let missing =
                || ErrorData::resource_not_found(unknown("resource", uri), Some(serde_json::json!({"uri": uri})));
            let named = |start: &str| uri.strip_prefix(start).filter(|name| !name.is_empty());
            if let Some(question) = named(RECALL) {
                let question = decoded(question).ok_or_else(missing)?;
                let answer = desk.recall(client, &AskRequest { question, ..AskRequest::default() });
                (JSON, answer.map(|answer| value(&answer).to_string()))
            } else if let Some(id) = named(READ) {
                let id = decoded(id).ok_or_else(missing)?;
                let answer = desk.read(client, &ReadRequest { id, ..ReadRequest::default() });
                (JSON, answer.map(|answer| value(&answer).to_string()))
            } else {
                return Err(missing());
            }
        }
    };
    let text = text.map_err(|error| refusal(&error))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

pub(super) fn prompts() -> Vec<Prompt> {
    let about = PromptArgument::new("about").with_description("Topic of the work").with_required(false);
    let question = PromptArgument::new("question").with_description("The question").with_required(true);
    vec![
        Prompt::new(START, Some("Goals, lessons and memories to start with"), Some(vec![about])),
        Prompt::new(ASK, Some("Memories for a question"), Some(vec![question])),
    ]
}

/// A prompt with what the brain has to say.
pub(super) fn prompt(
    desk: &Desk,
    client: &Client,
    name: &str,
    given: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| given.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    let text = match name {
        START => desk.prime(client, argument("about")).map(|prime| prime.text),
        ASK => match argument("question") {
            Some(question) => desk
                .recall(client, &AskRequest { question: question.clone(), ..AskRequest::default() })
                .map(|answer| format!("{question}\n\nThe brain recalls:\n{}", value(&answer))),
            None => Err(BrainError::usage("question is missing")),
        },
        _ => return Err(ErrorData::invalid_params(unknown("prompt", name), None)),
    };
    let text = text.map_err(|error| refusal(&error))?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// A part of an address as the text that it stands for; none if it stands for none.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_addresses_are_texts() {
        assert_eq!(decoded("green%20tea%3F").as_deref(), Some("green tea?"));
        assert_eq!(decoded("%E7%8C%AB").as_deref(), Some("猫"));
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
