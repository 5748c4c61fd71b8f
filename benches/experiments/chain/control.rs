//! The control: one model with tools in a loop of fifteen turns, which is ended by failures alone. As the program was before it had a
//! chain, it is not to be had by settings, so that the loop is here; prompt and tools are those of the program.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result};
use git_brain::brain::{Asks, Brain, ChatMode, ChatRequest, RecallRequest, Unanswered};
use git_brain::cognition::chain::{Why, quoted};
use git_brain::cognition::exchange::{Message, Reply, Request, ToolCall, Voice};
use git_brain::model::Origin;
use serde_json::{Value, json};

use super::models::Models;

/// Most turns.
const TURNS: usize = 15;
/// A call that has failed so often ends the loop; one that succeeds never does.
const SAME_FAILURES: usize = 3;

/// Keeps what a chat would ask first, and answers nothing.
#[derive(Default)]
struct Listening(Option<Request>);

impl Asks for Listening {
    fn ask(
        &mut self,
        _model: &str,
        request: &Request,
        _hear: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Reply, Unanswered> {
        self.0.get_or_insert_with(|| request.clone());
        Err(Unanswered { why: Why::Offline, message: "nobody".to_owned() })
    }
}

/// What the program asks a single model first.
pub fn opening(brain: &Brain, question: &str) -> Result<Request> {
    let mut listening = Listening::default();
    let request =
        ChatRequest { message: question.to_owned(), mode: ChatMode::Simple, dry_run: true, ..ChatRequest::default() };
    // Without a model memory answers, or nobody does: either way the question was put.
    let _ = brain.chat_with(&request, &Origin::local(), &mut listening, &mut |_| ControlFlow::Continue(()));
    listening.0.context("nobody was asked")
}

/// The loop; `None`: no answer.
pub fn answer(brain: &Brain, root: &Path, mut request: Request, models: &mut Models<'_>) -> Option<String> {
    let mut failures = HashMap::<String, usize>::new();
    let mut said = None;
    for turn in 0..TURNS {
        let reply = models.ask("small", &request, &mut |_| ControlFlow::Continue(())).ok()?;
        let native = !reply.calls.is_empty();
        let calls = if native { reply.calls.clone() } else { written(&reply.text, turn) };
        if calls.is_empty() {
            return Some(reply.text).filter(|text| text.chars().any(char::is_alphanumeric));
        }
        if !reply.text.is_empty() && native {
            said = Some(reply.text.clone());
        }
        let own = if native { calls.clone() } else { Vec::new() };
        request.messages.push(Message { voice: Voice::Assistant, text: reply.text, calls: own, answers: None });
        for call in calls {
            let given = run(brain, root, &call);
            let failed = given.is_err();
            let text = given.map_or_else(|why| format!("error: {why}"), |value| value.to_string());
            let text = format!("[data: {} gave]\n{}", call.name, quoted(&text));
            request.messages.push(if native { Message::answer(&call, text) } else { Message::new(Voice::User, text) });
            let count = failures.entry(format!("{}{}", call.name, call.arguments)).or_default();
            *count += usize::from(failed);
            if *count >= SAME_FAILURES {
                return said;
            }
        }
    }
    said
}

/// `[TOOL:name:arguments]`, once.
fn written(text: &str, turn: usize) -> Vec<ToolCall> {
    let Some((_, rest)) = text.split_once("[TOOL:") else { return Vec::new() };
    let Some((name, arguments)) = rest.trim_end().trim_end_matches(']').split_once(':') else { return Vec::new() };
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
    vec![ToolCall { id: format!("t{turn}"), name: name.to_owned(), arguments }]
}

fn run(brain: &Brain, root: &Path, call: &ToolCall) -> Result<Value, String> {
    let argument = |name: &str| call.arguments[name].as_str().map(str::to_owned);
    if !call.arguments.is_object() {
        return Err("the arguments are no JSON object".to_owned());
    }
    match call.name.as_str() {
        "list_dir" => {
            let entries =
                std::fs::read_dir(root.join(argument("path").unwrap_or_default())).map_err(|e| e.to_string())?;
            let mut names: Vec<String> =
                entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            Ok(json!({ "entries": names }))
        }
        "read_file" => {
            let path = argument("path").ok_or("no path")?;
            let content = std::fs::read_to_string(root.join(path)).map_err(|e| e.to_string())?;
            Ok(json!({ "content": content }))
        }
        "recall" => {
            let request = RecallRequest { query: argument("query").ok_or("no query")?, ..RecallRequest::default() };
            let answer = brain.recall(&request).map_err(|e| e.to_string())?;
            Ok(json!({ "memories": answer.results.iter().map(|found| &found.text).collect::<Vec<_>>() }))
        }
        other => Err(format!("unknown tool {other}")),
    }
}
