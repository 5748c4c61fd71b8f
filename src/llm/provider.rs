//! One model of one provider: a request in, a reply out, by the deadline.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatStreamEvent, ContentPart, JsonSpec, MessageContent,
    StopReason, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint as Address};
use genai::{Client, ModelIden, ServiceTarget};

use super::relay::Relay;
use super::{Endpoint, LlmError};
use crate::cognition::exchange::{Message, Reply, Request, Tool, ToolCall, Usage, Voice};
use crate::limits;
use crate::model::models::Model;
use crate::text;

/// First and longest pause between two tries, unless the endpoint asks for another one.
const PAUSE_MS: (u64, u64) = (200, 5_000);

/// A piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    /// What the model says.
    Text(&'p str),
    /// What it thinks before that, where its provider tells the two apart. No part of the reply.
    Thought(&'p str),
}

/// Hears an answer while it comes, or in one piece where it is not streamed, and may end it.
pub type Hear<'h> = &'h mut (dyn FnMut(Piece<'_>) -> ControlFlow<()> + Send);

/// One model, ready to be asked.
pub struct Provider {
    endpoint: Endpoint,
    model: Model,
    kind: AdapterKind,
    client: Client,
    relay: Relay,
    calls: AtomicU64,
}

impl Provider {
    /// Ready to ask; nothing is sent yet. Belongs to the runtime that it is made in.
    ///
    /// # Errors
    /// The model's settings cannot be used, or this process cannot listen to itself.
    pub async fn new(endpoint: Endpoint, model: Model) -> Result<Self, LlmError> {
        let kind = match model.provider.as_str() {
            "anthropic" => AdapterKind::Anthropic,
            "openai-responses" => AdapterKind::OpenAIResp,
            "gemini" => AdapterKind::Gemini,
            "deepseek" => AdapterKind::DeepSeek,
            "ollama" => AdapterKind::Ollama,
            _ => AdapterKind::OpenAI,
        };
        let relay = Relay::start(endpoint.place(), endpoint.url(), endpoint.key().is_some()).await?;
        let local = reqwest::Url::parse("http://127.0.0.1/").expect("invariant: an address");
        let unreachable = |message| LlmError::Unreachable { place: endpoint.place().to_owned(), message };
        let client = super::client::client(&local).map_err(unreachable)?;
        let client = Client::builder().with_reqwest(client).build().map_err(|e| unreachable(e.to_string()))?;
        Ok(Self { endpoint, model, kind, client, relay, calls: AtomicU64::new(0) })
    }

    /// The model's settings.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Asks, again where that may help, as long as there is time. What was heard is asked again only if it `may_repeat` itself.
    ///
    /// # Errors
    /// See [`LlmError`]. Ends by the model's deadline, whatever the endpoint does.
    pub async fn ask(
        &self,
        request: &Request,
        mut hear: Option<Hear<'_>>,
        may_repeat: bool,
    ) -> Result<Reply, LlmError> {
        let within = Duration::from_millis(self.model.timeout_ms);
        let end = Instant::now() + within;
        let tries = async {
            let mut tried = 0;
            loop {
                let mut heard = false;
                let error = match self.once(request, &mut hear, &mut heard).await {
                    Ok(reply) => return Ok(reply),
                    Err(error) => error,
                };
                let usual = (PAUSE_MS.0 << tried.min(16)).min(PAUSE_MS.1);
                let pause = error.pause().unwrap_or(Duration::from_millis(usual));
                // What ends after the deadline anyway need not be waited for.
                let told = heard && !may_repeat;
                if told || !error.may_pass() || tried >= self.model.retries || Instant::now() + pause >= end {
                    return Err(error);
                }
                tried += 1;
                tokio::time::sleep(pause).await;
            }
        };
        let late = |_| LlmError::Timeout { place: self.place(), timeout_ms: within.as_millis() };
        tokio::time::timeout(within, tries).await.map_err(late)?
    }

    fn place(&self) -> String {
        self.endpoint.place().to_owned()
    }

    async fn once(&self, request: &Request, hear: &mut Option<Hear<'_>>, heard: &mut bool) -> Result<Reply, LlmError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let target = ServiceTarget {
            endpoint: Address::from_owned(self.relay.base(call)),
            // Without a key the library wants a word all the same; the relay keeps it to itself.
            auth: AuthData::from_single(self.endpoint.key().unwrap_or("none").to_owned()),
            model: ModelIden::new(self.kind, self.model.model.clone()),
        };
        let asked = chat_request(request, self.model.native_tools);
        let options = self.options(request);
        let answered = if self.model.stream {
            self.streamed(target, asked, &options, hear, heard).await
        } else {
            let answered = self.client.exec_chat(target, asked, Some(&options)).await;
            answered.map_err(|e| self.error(&e)).map(|answer| {
                let usage = usage(&answer.usage);
                let mut reply = reply(answer.content, usage, answer.stop_reason.as_ref());
                if let Some(hear) = hear.as_mut().filter(|_| !reply.text.is_empty()) {
                    reply.cut_off |= hear(Piece::Text(&reply.text)).is_break();
                }
                reply
            })
        };
        let reply = answered.map_err(|error| self.relay.failure(call).unwrap_or(error))?;
        self.checked(request, reply)
    }

    async fn streamed(
        &self,
        target: ServiceTarget,
        asked: ChatRequest,
        options: &ChatOptions,
        hear: &mut Option<Hear<'_>>,
        heard: &mut bool,
    ) -> Result<Reply, LlmError> {
        let answered = self.client.exec_chat_stream(target, asked, Some(options)).await.map_err(|e| self.error(&e))?;
        let mut stream = answered.stream;
        let (mut text, mut thought) = (String::new(), 0);
        while let Some(event) = stream.next().await {
            let event = event.map_err(|e| self.error(&e))?;
            let piece = match &event {
                ChatStreamEvent::Chunk(chunk) => {
                    text.push_str(&chunk.content);
                    Some(Piece::Text(&chunk.content))
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    thought += text::tokens(&chunk.content) as u64;
                    Some(Piece::Thought(&chunk.content))
                }
                _ => None,
            };
            if text.len() > limits::MODEL_TEXT_BYTES {
                return Err(LlmError::Large { place: self.place(), max: limits::MODEL_TEXT_BYTES });
            }
            if let (Some(piece), Some(hear)) = (piece, hear.as_mut()) {
                *heard = true;
                if hear(piece).is_break() {
                    // Nobody says what it cost until here.
                    let usage = Usage { input: 0, output: thought + text::tokens(&text) as u64 };
                    return Ok(Reply { text, usage, cut_off: true, ..Reply::default() });
                }
            }
            if let ChatStreamEvent::End(end) = event {
                let usage = end.captured_usage.as_ref().map_or(Usage::default(), usage);
                let content = end.captured_content.unwrap_or_default();
                let mut reply = reply(content, usage, end.captured_stop_reason.as_ref());
                if reply.text.is_empty() {
                    reply.text = text;
                }
                return Ok(reply);
            }
        }
        Err(LlmError::Shape { place: self.place(), message: "the stream ended before its end".to_owned() })
    }

    fn options(&self, request: &Request) -> ChatOptions {
        let most = if request.max_tokens == 0 { self.model.max_tokens } else { request.max_tokens };
        let mut options = ChatOptions::default()
            .with_max_tokens(most.min(self.model.max_tokens))
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true);
        // Not every model takes one: the settings say which.
        if let Some(usual) = self.model.temperature {
            options = options.with_temperature(request.temperature.unwrap_or(usual));
            if let Some(top_p) = request.top_p {
                options = options.with_top_p(top_p);
            }
        }
        if let Some(form) = request.form.as_ref().filter(|_| self.model.json_schema) {
            options = match has_open_object(&form.schema) {
                true => options.with_response_format(ChatResponseFormat::JsonMode),
                false => options.with_response_format(JsonSpec::new(form.name.clone(), form.schema.clone())),
            };
        }
        options
    }

    /// What a reply must be, whoever gave it; its usage, where the endpoint was silent about it.
    fn checked(&self, request: &Request, mut reply: Reply) -> Result<Reply, LlmError> {
        if reply.text.len() > limits::MODEL_TEXT_BYTES {
            return Err(LlmError::Large { place: self.place(), max: limits::MODEL_TEXT_BYTES });
        }
        if reply.calls.len() > limits::MODEL_CALLS {
            let message = format!("{} calls of tools in one reply", reply.calls.len());
            return Err(LlmError::Shape { place: self.place(), message });
        }
        if reply.usage.output == 0 {
            reply.usage.output = text::tokens(&reply.text) as u64;
        }
        if reply.usage.input == 0 {
            reply.usage.input = request.tokens();
        }
        Ok(reply)
    }

    /// What the library says, without anything that the endpoint said.
    fn error(&self, error: &genai::Error) -> LlmError {
        if let Some(status) = error.status() {
            let none = reqwest::header::HeaderMap::new();
            return LlmError::of_status(&self.place(), status, error.headers().unwrap_or(&none));
        }
        let message = match error {
            genai::Error::WebModelCall { webc_error: genai::webc::Error::ResponseFailedNotJson { .. }, .. } => {
                "it is no JSON"
            }
            genai::Error::WebModelCall { webc_error: genai::webc::Error::ResponseFailedInvalidJson { .. }, .. }
            | genai::Error::StreamParse { .. } => "it is no valid JSON",
            genai::Error::ChatResponse { .. } => "it is an error in the middle of a stream",
            genai::Error::WebStream { .. } => "the stream broke",
            _ => "it is no reply of this protocol",
        };
        LlmError::Shape { place: self.place(), message: message.to_owned() }
    }
}

fn chat_request(request: &Request, native_tools: bool) -> ChatRequest {
    if request.tools.is_empty() || !native_tools {
        // Protocols want calls only where tools are: without tools, what was called is told as text.
        return ChatRequest::new(request.messages.iter().map(|message| chat_message(&told(message))).collect());
    }
    let messages = request.messages.iter().map(chat_message).collect();
    ChatRequest::new(messages).with_tools(request.tools.iter().map(chat_tool))
}

/// A message with its calls, or what it answers, as words.
fn told(message: &Message) -> Message {
    let mut text = message.text.clone();
    for call in &message.calls {
        text.push_str(&format!("[TOOL:{}:{}]", call.name, call.arguments));
    }
    let voice = if message.voice == Voice::Tool { Voice::User } else { message.voice };
    Message::new(voice, text)
}

fn chat_tool(tool: &Tool) -> genai::chat::Tool {
    genai::chat::Tool::new(tool.name.as_str())
        .with_description(tool.description.clone())
        .with_schema(tool.parameters.clone())
}

fn chat_message(message: &Message) -> ChatMessage {
    match (message.voice, &message.answers) {
        (Voice::System, _) => ChatMessage::system(message.text.as_str()),
        (Voice::Tool, Some(id)) => {
            ChatMessage::tool(MessageContent::from_tool_responses(vec![ToolResponse::new(id, message.text.as_str())]))
        }
        (Voice::User | Voice::Tool, _) => ChatMessage::user(message.text.as_str()),
        (Voice::Assistant, _) => {
            let mut parts = Vec::new();
            if !message.text.is_empty() || message.calls.is_empty() {
                parts.push(ContentPart::Text(message.text.clone()));
            }
            parts.extend(message.calls.iter().map(|call| {
                ContentPart::ToolCall(genai::chat::ToolCall {
                    call_id: call.id.clone(),
                    fn_name: call.name.clone(),
                    fn_arguments: call.arguments.clone(),
                    thought_signatures: None,
                })
            }));
            ChatMessage::assistant(MessageContent::from_parts(parts))
        }
    }
}

fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Usage { input: count(usage.prompt_tokens), output: count(usage.completion_tokens) }
}

fn reply(content: MessageContent, usage: Usage, stop: Option<&StopReason>) -> Reply {
    let text = content.joined_texts().unwrap_or_default();
    let call =
        |call: genai::chat::ToolCall| ToolCall { id: call.call_id, name: call.fn_name, arguments: call.fn_arguments };
    let calls = content.into_tool_calls().into_iter().map(call).collect();
    Reply { text, calls, usage, cut_off: stop.is_some_and(StopReason::is_max_tokens), broken_off: None }
}

/// Whether a schema lets some object have any fields. Endpoints hold answers to a schema strictly, and then such an object can be empty alone.
fn has_open_object(schema: &serde_json::Value) -> bool {
    let is_open = schema.get("type").is_some_and(|it| it == "object") && schema.get("properties").is_none();
    let inner: Vec<&serde_json::Value> = match schema {
        serde_json::Value::Object(fields) => fields.values().collect(),
        serde_json::Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    is_open || inner.into_iter().any(has_open_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tools_calls_are_words() {
        let call = ToolCall { id: "1".into(), name: "list_dir".into(), arguments: serde_json::json!({"path": "."}) };
        let asked = Message { calls: vec![call.clone()], ..Message::new(Voice::Assistant, "Look. ") };
        let answered = Message::answer(&call, "a.txt");
        let tool = Tool { name: "list_dir".into(), description: String::new(), parameters: serde_json::json!({}) };
        let mut request = Request { messages: vec![asked, answered], ..Request::default() };
        let texts = |request: &Request, native| {
            let said = chat_request(request, native);
            let calls: usize = said.messages.iter().map(|m| m.content.tool_calls().len()).sum();
            (said.messages[0].content.joined_texts().unwrap(), calls, said.tools.is_some())
        };
        assert_eq!(texts(&request, true), ("Look. [TOOL:list_dir:{\"path\":\".\"}]".to_owned(), 0, false));
        request.tools.push(tool);
        assert_eq!(texts(&request, true), ("Look. ".to_owned(), 1, true));
        assert_eq!(texts(&request, false).1, 0);
    }
}
