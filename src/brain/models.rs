//! `models`: which models the settings name, and whether they may be asked and can be reached.

use std::sync::Arc;

use serde::Serialize;

use super::{Brain, BrainError, HUMAN};
use crate::cognition::exchange::{Message, Request, Voice};
use crate::cycle::budget::Payer;
use crate::cycle::models::Models;
use crate::llm::{Endpoint, key_in_environment};
use crate::model::document::Cognition;
use crate::model::ids::AgentName;
use crate::model::models::Model;
use crate::world::World;

/// What a model that is reached is asked.
const QUESTION: &str = "Answer with the one word: yes";
/// Longest answer to that, tokens.
const ANSWER_TOKENS: u32 = 16;

/// The models of the settings.
#[derive(Clone, Debug, Serialize)]
pub struct ModelsReport {
    /// By name.
    pub models: Vec<ModelReport>,
}

/// One model of the settings.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Its name in the settings.
    pub name: String,
    /// Its provider.
    pub provider: String,
    /// The provider's name of it.
    pub model: String,
    /// Its family, if the settings say it.
    pub family: Option<String>,
    /// Where it is asked; null if the settings cannot be used.
    pub place: Option<String>,
    /// Agents that think with it.
    pub agents: Vec<String>,
    /// Why it cannot be asked, before anything is sent; null: it can.
    pub inert: Option<String>,
    /// What came of asking it; null if it was not asked.
    pub test: Option<ModelTest>,
}

/// What came of asking a model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelTest {
    /// Whether it answered.
    pub answers: bool,
    /// How long that took, milliseconds.
    pub ms: u64,
    /// Tokens that it took, in and out.
    pub tokens: u64,
    /// Why it did not answer.
    pub error: Option<String>,
}

impl ModelsReport {
    /// 0, or 4 if one that was asked did not answer.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let failed = self.models.iter().any(|model| model.test.as_ref().is_some_and(|test| !test.answers));
        if failed { 4 } else { 0 }
    }
}

impl Brain {
    /// The models of the settings, all or those named; with `test`, each is asked one short question.
    ///
    /// # Errors
    /// A name that is none (exit code 2).
    pub fn models(&self, names: &[String], test: bool) -> Result<ModelsReport, BrainError> {
        let all = &self.cycle.shared.policy.settings.models;
        if let Some(unknown) = names.iter().find(|name| !all.contains_key(*name)) {
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            return Err(BrainError::Usage {
                message: format!("there is no [models.{unknown}] in the settings"),
                hint: (!known.is_empty()).then(|| format!("there are {}", known.join(", "))),
            });
        }
        let asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
        let mut models: Vec<ModelReport> =
            all.iter().filter(|(name, _)| asked(name)).map(|(name, model)| self.model_report(name, model)).collect();
        if test {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let runtime = runtime.map_err(|e| BrainError::Busy(format!("cannot start threads: {e}")))?;
            let asking = Models::new(Arc::clone(&self.cycle.shared))?;
            runtime.block_on(async {
                for report in &mut models {
                    report.test = Some(asked_once(&asking, &self.cycle.shared.world, &report.name).await);
                }
            });
            runtime.shutdown_background();
        }
        Ok(ModelsReport { models })
    }

    fn model_report(&self, name: &str, model: &Model) -> ModelReport {
        let policy = &self.cycle.shared.policy;
        let is_step = policy.settings.chain.step.iter().any(|step| step.model == name);
        let thinks = |agent: &&crate::cycle::Member| match &agent.agent.cognition {
            Cognition::Llm { model, .. } => model == name,
            Cognition::Chain { .. } => is_step,
            _ => false,
        };
        let agents = policy.agents.values().filter(thinks).map(|member| member.agent.name.to_string()).collect();
        let key = key_in_environment(name, model, &self.cycle.shared.world);
        let place = Endpoint::chat(name, model, None).map(|endpoint| endpoint.address());
        let usable = key.and_then(|key| Endpoint::chat(name, model, key));
        let inert = policy.model(name).map(|_| ()).and_then(|()| Ok(usable.map(|_| ())?)).err();
        ModelReport {
            name: name.to_owned(),
            provider: model.provider.clone(),
            model: model.model.clone(),
            family: model.family.clone(),
            place: place.ok(),
            agents,
            inert: inert.map(|error| error.to_string()),
            test: None,
        }
    }
}

async fn asked_once(models: &Models, world: &World, name: &str) -> ModelTest {
    let request = Request {
        messages: vec![Message::new(Voice::User, QUESTION)],
        max_tokens: ANSWER_TOKENS,
        ..Request::default()
    };
    let human = AgentName::parse(HUMAN).expect("invariant: a name");
    let from = world.now_ms();
    let answered = models.ask(&Payer::new(&human, &[]), name, &request, None).await;
    let ms = u64::try_from(world.now_ms() - from).unwrap_or(0);
    match answered {
        Ok(Ok(reply)) => ModelTest { answers: true, ms, tokens: reply.usage.total(), error: None },
        Ok(Err(exhausted)) => ModelTest { answers: false, ms, tokens: 0, error: Some(exhausted.to_string()) },
        Err(error) => ModelTest { answers: false, ms, tokens: 0, error: Some(error.to_string()) },
    }
}
