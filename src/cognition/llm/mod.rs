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
pub use prompt::{DEFAULT_TEMPLATE, PromptError, check_template, messages, refused};

/// The JSON document inside an answer: models like to wrap it in words or in a fence. All of it, if there is none.
#[must_use]
pub fn document_in(answer: &str) -> &str {
    match (answer.find('{'), answer.rfind('}')) {
        (Some(from), Some(to)) if from < to => &answer[from..=to],
        _ => answer,
    }
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
}
