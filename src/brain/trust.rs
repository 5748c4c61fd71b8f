//! Trust: what of this brain would run a program, name an endpoint, or grant a capability, and whether a person on this
//! machine has accepted exactly that.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::bootstrap;
use crate::cycle::policy::GIT_CONFIG;
use crate::model::document::Cognition;
use crate::model::{Settings, layout};
use crate::world::Trust;

/// Something that needs trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustItem {
    /// Its file.
    pub path: String,
    /// The file's blob id: what is trusted is this content, no other.
    pub blob: String,
    /// What it would be able to do, in a sentence.
    pub grants: String,
    /// True if it is trusted here.
    pub trusted: bool,
}

/// What needs trust, and where trust is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustReport {
    /// Everything that needs trust.
    pub items: Vec<TrustItem>,
    /// The record; null if nothing was written.
    pub record: Option<String>,
}

impl Brain {
    /// Everything that needs trust: definitions that are not the bootstrap's own, and settings that name endpoints.
    pub fn trust_list(&self) -> Result<TrustReport, BrainError> {
        let cycle = &self.cycle;
        let mut items = Vec::new();
        for member in cycle.shared.policy.agents.values() {
            let item = TrustItem {
                path: member.path.clone(),
                blob: member.blob.to_string(),
                grants: grants(&member.agent),
                trusted: member.trusted,
            };
            let tree = cycle.store.tree_of(cycle.store.need_tip(cycle.store.main())?)?;
            let content = cycle.store.read(tree, &member.path)?.unwrap_or_default();
            if !bootstrap::is_builtin(&member.path, &content) {
                items.push(item);
            }
        }
        let trust = Trust::load(&cycle.shared.world, &cycle.store.private_dir())?;
        let no_models = cycle.shared.policy.settings.models.is_empty();
        if let (Some(blob), false) = (cycle.shared.policy.blob, no_models) {
            items.push(TrustItem {
                path: layout::SETTINGS.to_owned(),
                trusted: trust.covers(layout::SETTINGS, &blob.to_string()),
                blob: blob.to_string(),
                grants: endpoints(&cycle.shared.policy.settings),
            });
        }
        if let Some(mark) = &cycle.shared.policy.config {
            items.push(TrustItem {
                path: GIT_CONFIG.to_owned(),
                trusted: trust.covers(GIT_CONFIG, mark),
                blob: mark.clone(),
                grants: endpoints(&cycle.shared.policy.settings),
            });
        }
        Ok(TrustReport { items, record: None })
    }

    /// Trusts exactly the given items from now on, in addition to what is trusted.
    pub fn trust(&self, items: &[TrustItem]) -> Result<TrustReport, BrainError> {
        let world = &self.cycle.shared.world;
        let mut trust = Trust::load(world, &self.cycle.store.private_dir())?;
        for item in items {
            trust.trusted.insert(item.path.clone(), item.blob.clone());
        }
        let record = trust.save(world)?;
        let items = items.iter().map(|i| TrustItem { trusted: true, ..i.clone() }).collect();
        Ok(TrustReport { items, record: Some(record.display().to_string()) })
    }

    /// Forgets all trust in this brain.
    pub fn revoke_trust(&self) -> Result<TrustReport, BrainError> {
        let world = &self.cycle.shared.world;
        let mut trust = Trust::load(world, &self.cycle.store.private_dir())?;
        trust.trusted.clear();
        let record = trust.save(world)?;
        Ok(TrustReport { items: Vec::new(), record: Some(record.display().to_string()) })
    }
}

/// What goes where by the models of the settings.
fn endpoints(settings: &Settings) -> String {
    let models: Vec<&str> = settings.models.keys().map(String::as_str).collect();
    let agents = format!("send what agents see to the models {}", models.join(", "));
    let Some((name, model)) = settings.models.get_key_value(&settings.recall.embeddings) else { return agents };
    let place = model.base_url.as_deref().unwrap_or(&model.provider);
    let key = model.key_env.as_ref().map_or_else(String::new, |key| format!(", with the key in {key}"));
    format!("send the text of every memory and every question to {name} ({place}){key} for embeddings; {agents}")
}

fn grants(agent: &crate::model::Agent) -> String {
    let may = agent.capabilities.operations.join(", ");
    let may = if may.is_empty() { "propose nothing".to_owned() } else { format!("propose {may}") };
    match &agent.cognition {
        Cognition::Reflex { rule } => format!("think by the reflex {rule:?}, {may}").to_lowercase(),
        Cognition::Command { argv, environment, .. } => {
            let seen = if environment.is_empty() { String::new() } else { format!(" with {}", environment.join(", ")) };
            format!("run {}{seen}, {may}", crate::model::json::inline(argv))
        }
    }
}
