//! What goes to a model and what comes back, whoever provides it: one request, one reply.
//!
//! A request is a conversation so far, the tools that may be called, and the form that the answer must have. Pure data: a
//! reply that was recorded is as good as one that has just come.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::tokens;

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Voice {
    /// Instructions: ours, never anybody's text.
    System,
    /// What the model is to answer.
    User,
    /// The model.
    Assistant,
    /// The answer to one of its calls.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub voice: Voice,
    /// What is said; may be empty where tools are called.
    #[serde(default)]
    pub text: String,
    /// The tools that the model calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The id of the call that a tool answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl Message {
    /// A message without calls.
    pub fn new(voice: Voice, text: impl Into<String>) -> Self {
        Self { voice, text: text.into(), calls: Vec::new(), answers: None }
    }

    /// What is said when an answer was refused.
    #[must_use]
    pub fn refused(why: &str) -> Self {
        let text = format!(
            "That answer was refused: {why}\nAnswer once more with one JSON document of the form that was asked for, and nothing else. \
             Leave out what you are not sure of."
        );
        Self::new(Voice::User, text)
    }

    /// What a tool answered to a call.
    pub fn answer(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { answers: Some(call.id.clone()), ..Self::new(Voice::Tool, text) }
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, or one of ours.
    pub id: String,
    /// The tool's name as the model said it; perhaps no tool at all.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
}

/// The form that an answer must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// A name for it, letters and underscores.
    pub name: String,
    /// JSON Schema.
    pub schema: Value,
}

/// One question to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that may be called; none: an answer is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The form of the answer; `None`: any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// Longest answer, tokens; 0: as the model's settings say.
    #[serde(default)]
    pub max_tokens: u32,
    /// How freely the model draws, 0 to 2, in place of its settings' figure; a model whose settings have none is asked without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of the probability that is drawn from, above 0 and at most 1; asked of models that are asked with a temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
}

impl Request {
    /// What there is to read, tokens: an estimate.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let messages: usize = self.messages.iter().map(|message| tokens(&message.text)).sum();
        let form = self.form.as_ref().map_or(0, |form| tokens(&form.schema.to_string()));
        let tools: usize = self.tools.iter().map(|tool| tokens(&tool.parameters.to_string())).sum();
        (messages + form + tools) as u64
    }
}

/// Tokens that an exchange took, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Usage {
    /// Read by the model.
    pub input: u64,
    /// Written by it.
    pub output: u64,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What it took; estimated where the provider does not say.
    #[serde(default)]
    pub usage: Usage,
    /// Whether it stopped because it was too long.
    #[serde(default)]
    pub cut_off: bool,
    /// Why a [guard](super::guard) broke it off; the text is what had come until then, and nobody acts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_off: Option<String>,
}

impl Reply {
    /// The reply as a message of the conversation.
    #[must_use]
    pub fn message(&self) -> Message {
        Message { voice: Voice::Assistant, text: self.text.clone(), calls: self.calls.clone(), answers: None }
    }
}
