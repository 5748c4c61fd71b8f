//! A hook's input, and its answer, in the form of each client.

use serde_json::{Value, json};

use super::Client;
use super::transcript::{Turn, turn_of, whole_characters};

/// The moment of a session that an event stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It begins, or goes on after a compaction.
    Start,
    /// A person gives a prompt.
    Prompt,
    /// Something was said: an answer ended, or the session, or its context is about to be compacted.
    Said,
}

/// What a client told its hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The session's id.
    pub session: String,
    /// The folder that the session is in.
    pub cwd: Option<String>,
    /// The file that keeps what was said.
    pub transcript: Option<String>,
    /// The person's words.
    pub prompt: Option<String>,
    /// Turns that the client hands over itself, where it keeps no file.
    pub turns: Vec<Turn>,
}

impl Moment {
    /// The moment of a client's event.
    ///
    /// # Errors
    /// The client has no such event.
    pub fn of(client: Client, event: &str) -> Result<Self, String> {
        match event {
            "SessionStart" | "sessionStart" | "start" => Ok(Self::Start),
            "UserPromptSubmit" | "beforeSubmitPrompt" | "BeforeAgent" | "prompt" => Ok(Self::Prompt),
            _ => Ok(Self::Said),
        }
        .and_then(|moment| match client.events().contains(&event) {
            true => Ok(moment),
            false => Err(format!("{} has no event {event:?}; it has {}", client.name(), client.events().join(", "))),
        })
    }
}

impl Call {
    /// Reads a hook's input. Fields that are not known are passed over: clients add some with every version.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        // A byte that is no text, and half a character, cost that character alone.
        let text = String::from_utf8_lossy(bytes);
        let value: Value = serde_json::from_str(&whole_characters(&text)).map_err(|error| error.to_string())?;
        if !value.is_object() {
            return Err("no object".to_owned());
        }
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| value.get(name)?.as_str());
            found.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        let root = || value.get("workspace_roots")?.get(0)?.as_str().map(str::to_owned);
        Ok(Self {
            session: text(&["session_id", "conversation_id", "sessionId"]).unwrap_or_default(),
            cwd: text(&["cwd"]).or_else(root),
            transcript: text(&["transcript_path"]),
            prompt: text(&["prompt"]),
            turns: value.get("messages").and_then(Value::as_array).into_iter().flatten().filter_map(turn_of).collect(),
        })
    }
}

/// A text in the form in which a client takes it into the context of its model, for an event.
pub fn answer(client: Client, event: &str, text: &str) -> String {
    let document = match client {
        // Our own plugin takes it as it is.
        Client::Opencode => return text.to_owned(),
        Client::Cursor if event == "beforeSubmitPrompt" => json!({"continue": true, "additional_context": text}),
        Client::Cursor => json!({"additional_context": text}),
        Client::ClaudeCode | Client::Codex | Client::Vscode | Client::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
        }
    };
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_reads_what_each_client_sends() {
        let claude = br#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"why?"}"#;
        let call = Call::read(claude).unwrap();
        assert_eq!((call.session.as_str(), call.prompt.as_deref()), ("s", Some("why?")));
        assert_eq!((call.cwd.as_deref(), call.transcript.as_deref()), (Some("/p"), Some("/t.jsonl")));
        let cursor = br#"{"conversation_id":"c","workspace_roots":["/w"],"transcript_path":null,"generation_id":"g"}"#;
        let call = Call::read(cursor).unwrap();
        assert_eq!((call.session.as_str(), call.cwd.as_deref(), call.transcript), ("c", Some("/w"), None));
        let opencode =
            br#"{"session_id":"o","messages":[{"role":"user","text":"We use pnpm."},{"role":"tool","text":"x"}]}"#;
        assert_eq!(Call::read(opencode).unwrap().turns.len(), 1);
        assert!(Call::read(b"[]").is_err() && Call::read(b"").is_err() && Call::read(b"{").is_err());
    }

    #[test]
    fn answer_is_what_the_client_injects() {
        let claude: Value = serde_json::from_str(&answer(Client::ClaudeCode, "SessionStart", "a\nb")).unwrap();
        assert_eq!(claude["hookSpecificOutput"]["additionalContext"], "a\nb");
        assert_eq!(claude["hookSpecificOutput"]["hookEventName"], "SessionStart");
        let cursor: Value = serde_json::from_str(&answer(Client::Cursor, "beforeSubmitPrompt", "a")).unwrap();
        assert_eq!((&cursor["additional_context"], &cursor["continue"]), (&json!("a"), &json!(true)));
        assert_eq!(answer(Client::Opencode, "start", "a"), "a");
    }

    #[test]
    fn half_a_character_in_a_prompt_costs_that_one() {
        let call = Call::read(b"{\"prompt\": \"where is \\ud83d the host \xff heron\"}").unwrap();
        assert_eq!(call.prompt.as_deref(), Some("where is \u{fffd} the host \u{fffd} heron"));
    }

    #[test]
    fn moment_knows_the_events_of_each_client_and_no_other() {
        for client in Client::ALL {
            let moments: Vec<Moment> = client.events().iter().map(|event| Moment::of(client, event).unwrap()).collect();
            assert_eq!(moments[..2], [Moment::Start, Moment::Prompt], "{client}");
            assert!(moments[2..].iter().all(|moment| *moment == Moment::Said) && moments.len() > 2, "{client}");
            assert!(Moment::of(client, "pre-commit").is_err());
        }
        assert!(Moment::of(Client::Gemini, "UserPromptSubmit").unwrap_err().contains("BeforeAgent"));
    }
}
