//! Thinking with a model: a snapshot becomes a prompt and the form of an answer; an answer becomes a delta document.
//!
//! Pure. What is said to the model as an instruction is ours or the template's that a person trusted; everything else goes into
//! delimited and labelled data, after the delimiter was taken out of it. The form is the delta's schema, narrowed to what
//! this agent may do now: its operations, types and connections, and the ids that it was shown. So most of what would be
//! refused cannot be said; the engine checks it all the same.

#[cfg(test)]
mod fixture;
mod form;
mod prompt;

pub use form::form;
pub use prompt::{DEFAULT_TEMPLATE, PromptError, check_template, messages, size, syntax};

/// The JSON document inside an answer: models like to wrap it in words or in a fence. All of it, if there is none.
#[must_use]
pub fn document_in(answer: &str) -> &str {
    match (answer.find('{'), answer.rfind('}')) {
        (Some(from), Some(to)) if from < to => &answer[from..=to],
        _ => answer,
    }
}

/// What a program printed, out of the code fence that coding agents like to put all of it in. Anything else is as it was.
#[must_use]
pub fn unfenced(output: &[u8]) -> &[u8] {
    let inside = || {
        let text = output.trim_ascii().strip_prefix(b"```")?.strip_suffix(b"```")?;
        let line = text.iter().position(|byte| *byte == b'\n')?;
        Some(&text[line + 1..])
    };
    inside().unwrap_or(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_in_words_and_fences() {
        for answer in ["{\"ops\": []}", "```json\n{\"ops\": []}\n```", "Here it is: {\"ops\": []} Good luck."] {
            assert_eq!(document_in(answer), "{\"ops\": []}");
        }
        assert_eq!(document_in("no }{ document"), "no }{ document");
    }

    #[test]
    fn a_fence_around_everything_is_taken_off() {
        for output in ["{}", "```json\n{}```", "\n```\n{}```\n"] {
            assert_eq!(unfenced(output.as_bytes()).trim_ascii(), b"{}", "{output}");
        }
        for output in ["", "```", "``````", "```json {}```", "So: ```\n{}\n```", "```\n{}"] {
            assert_eq!(unfenced(output.as_bytes()), output.as_bytes(), "{output}");
        }
    }
}
