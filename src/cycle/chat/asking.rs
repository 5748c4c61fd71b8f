//! The models of the settings, for a chat: one runtime for a conversation, so that connections are kept.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use super::{Asks, Unanswered};
use crate::cognition::chain::Why;
use crate::cognition::exchange::{Reply, Request};
use crate::cycle::budget::Payer;
use crate::cycle::models::Models;
use crate::cycle::policy::HUMAN;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::{AgentName, StimulusId};

/// How long a model may be silent before whoever listens is asked whether it still does.
const LOOK: Duration = Duration::from_millis(limits::LISTENER_LOOK_MS);

/// Asks the models of the settings on behalf of the person who chats.
pub struct Asking {
    /// Taken when it is dropped.
    runtime: Option<tokio::runtime::Runtime>,
    models: Arc<Models>,
    payer: Payer,
}

impl Cycle {
    /// What asks the models of the settings. Nothing is reached yet.
    ///
    /// # Errors
    /// No thread can be started, or the cassette that the environment names cannot be used.
    pub fn asking(&self) -> Result<Asking, CycleError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| CycleError::Busy(format!("cannot start threads: {e}")))?;
        let models = Arc::new(Models::new(Arc::clone(&self.shared))?);
        Ok(Asking { runtime: Some(runtime), models, payer: payer(&[]) })
    }
}

impl Asks for Asking {
    fn ask(
        &mut self,
        model: &str,
        request: &Request,
        hear: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Reply, Unanswered> {
        let runtime = self.runtime.as_ref().expect("invariant: taken only when dropped");
        let (sender, heard_there) = mpsc::channel::<String>();
        let (models, payer) = (Arc::clone(&self.models), self.payer.clone());
        let (model, request) = (model.to_owned(), request.clone());
        // The answer is heard here, on the thread that asks, while it comes in over there.
        let mut task = runtime.spawn(async move {
            let mut pass_on = move |text: &str| {
                if sender.send(text.to_owned()).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            models.ask(&payer, &model, &request, Some(&mut pass_on)).await
        });
        let is_left = loop {
            let text = match heard_there.recv_timeout(LOOK) {
                Ok(text) => text,
                Err(mpsc::RecvTimeoutError::Timeout) => String::new(),
                Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            };
            if hear(&text).is_break() {
                break true;
            }
        };
        // Nobody hears what is still sent, and so it ends; and if nothing is sent any more, soon.
        drop(heard_there);
        let ended = runtime.block_on(async {
            if is_left {
                match tokio::time::timeout(LOOK, &mut task).await {
                    Ok(ended) => return ended,
                    Err(_) => task.abort(),
                }
            }
            task.await
        });
        match ended {
            Ok(Ok(Ok(reply))) => Ok(reply),
            Ok(Ok(Err(exhausted))) => Err(Unanswered { why: Why::Busy, message: exhausted.to_string() }),
            Ok(Err(error)) => Err(Unanswered::of(&error)),
            Err(cut_off) => Err(Unanswered { why: Why::Offline, message: cut_off.to_string() }),
        }
    }

    fn caused_by(&mut self, stimuli: &[StimulusId]) {
        self.payer = payer(stimuli);
    }
}

/// One answer to the person who chats.
fn payer(roots: &[StimulusId]) -> Payer {
    Payer::new(&AgentName::parse(HUMAN).expect("invariant: a name"), roots)
}

impl Drop for Asking {
    fn drop(&mut self) {
        // A name that is still being looked up must not hold back the answer.
        self.runtime.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}
