//! Conversations: a message to the brain, its answer, and confirmations of what tools would change.

use super::{Brain, BrainError};
use crate::cycle::chat::{Around, Asks, ChatAnswer, ChatRequest, Hear};
use crate::cycle::confirm::{Confirmations, Waiting};
use crate::limits;
use crate::model::Origin;
use crate::model::json::JsonError;
use crate::world;

impl Brain {
    /// Answers a message of the person at this machine, tells what happens while it happens, and remembers both.
    ///
    /// # Errors
    /// An empty message (exit code 2) or one that is too long (3); models that are configured did not answer and nothing comes
    /// to mind (4, or 6 where nothing but the budget stops them); `hear` stopped listening before there was an answer
    /// ([`BrainError::Unheard`]). What was said is remembered then, too.
    pub fn chat(&self, request: &ChatRequest, hear: Hear<'_>) -> Result<ChatAnswer, BrainError> {
        let mut models = self.cycle.asking()?;
        self.chat_with(request, &Origin::local(), &mut models, hear)
    }

    /// The same for a message that comes from elsewhere, with whoever asks the models.
    ///
    /// # Errors
    /// The same, and an origin that is refused here (3).
    pub fn chat_with(
        &self,
        request: &ChatRequest,
        origin: &Origin,
        models: &mut dyn Asks,
        hear: Hear<'_>,
    ) -> Result<ChatAnswer, BrainError> {
        let origin = self.claimed_origin(Some(origin.as_str()))?;
        let answer = self.cycle.chat(request, &origin, Around { models, confirmations: &self.confirmations, hear });
        // Until the next message there may be hours, and after it come a thousand more.
        self.cycle.forget();
        answer
    }

    /// A message from standard input.
    ///
    /// # Errors
    /// It cannot be read, is too long, or is no UTF-8.
    pub fn read_message() -> Result<String, BrainError> {
        let bytes = world::read_stdin_bounded(limits::CHAT_MESSAGE_BYTES)?;
        String::from_utf8(bytes).map_err(|_| JsonError::at("standard input", 1, "", "is not UTF-8").into())
    }

    /// Allows what waits under an id, or does not. False if nothing waits there any more.
    pub fn confirm(&self, id: &str, yes: bool) -> bool {
        self.confirmations.answer(id, yes)
    }

    /// The calls of tools that wait for a person now.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.confirmations.waiting()
    }

    /// What waits for a person, to answer from another thread.
    pub fn confirmations(&self) -> Confirmations {
        self.confirmations.clone()
    }

    /// The same brain with a table that others have too, such as the brain of another request.
    #[must_use]
    pub fn sharing(self, confirmations: Confirmations) -> Self {
        Self { confirmations, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::brain::{InitRequest, World};

    #[test]
    fn between_messages_nothing_that_was_read_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let world = World::fixed("2026-01-26T14:32:00Z".parse().unwrap(), "chat");
        let dir = folder.path().join("brain");
        let (brain, _) = Brain::init(&InitRequest { dir, in_repo: false, program: "git-brain".into() }, world).unwrap();
        let request = ChatRequest { message: "Ann likes green tea.".into(), ..ChatRequest::default() };
        brain.chat(&request, &mut |_| ControlFlow::Continue(())).unwrap();
        let again = ChatRequest { message: "What does Ann like?".into(), ..ChatRequest::default() };
        assert!(brain.chat(&again, &mut |_| ControlFlow::Continue(())).unwrap().reply.contains("green tea"));
        assert!(brain.cycle.shared.neurons.is_empty());
        assert!(!brain.cycle.store.recent().any(|_| true));
    }
}
