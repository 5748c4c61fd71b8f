//! Trust: what of this brain would run a program, name an endpoint, or grant a capability, and whether a person on this
//! machine has accepted exactly that.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::confine::Confinement;
use crate::cycle::council::grants_of;
use crate::cycle::policy::{GIT_CONFIG, GitConfig, Member};
use crate::cycle::{Policy, bootstrap};
use crate::llm::Endpoint;
use crate::model::document::Cognition;
use crate::model::models::Model;
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
    /// Whether it is trusted here.
    pub trusted: bool,
    /// The blob that was trusted at that path before, if its content has changed since.
    pub before: Option<String>,
}

/// What needs trust, and where trust is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustReport {
    /// Everything that needs trust.
    pub items: Vec<TrustItem>,
    /// The record; null if nothing was written.
    pub record: Option<String>,
    /// How far programs are confined on this machine; null where no agent is a program.
    pub confinement: Option<String>,
}

impl Brain {
    /// Everything that needs trust: definitions that are not the bootstrap's own; settings that name endpoints, trust
    /// origins further or let secrets through; the local git configuration, where it does any of that; and remotes on this machine.
    pub fn trust_list(&self) -> Result<TrustReport, BrainError> {
        let cycle = &self.cycle;
        let trust = Trust::load(&cycle.shared.world, &cycle.store.private_dir())?;
        let mut items = Vec::new();
        let wake = cycle.store.tree_of(cycle.store.need_tip(cycle.store.wake())?)?;
        for member in cycle.shared.policy.agents.values() {
            let mut grants = grants(&member.agent, &cycle.shared.policy.settings);
            for missing in self.waits_in_vain(wake, &member.agent)? {
                grants += &format!("; it waits for the neuron {missing}, which does not exist");
            }
            let item = TrustItem {
                path: member.path.clone(),
                blob: member.blob.to_string(),
                grants,
                trusted: member.trusted,
                before: trust.before(&member.path, &member.blob.to_string()),
            };
            let tree = cycle.store.tree_of(cycle.store.need_tip(cycle.store.main())?)?;
            let content = cycle.store.read(tree, &member.path)?.unwrap_or_default();
            if !bootstrap::is_builtin(&member.path, &content) {
                items.push(item);
            }
            if let Some(prompt) = &member.prompt {
                items.push(TrustItem {
                    path: prompt.path.clone(),
                    blob: prompt.blob.to_string(),
                    grants: format!("tell the model of {} what to do", member.agent.name),
                    trusted: prompt.trusted,
                    before: trust.before(&prompt.path, &prompt.blob.to_string()),
                });
            }
        }
        let policy = &cycle.shared.policy;
        let needs_trust = !settings_grants(policy).is_empty();
        if let (Some(blob), true) = (policy.blob, needs_trust) {
            items.push(TrustItem {
                path: layout::SETTINGS.to_owned(),
                trusted: trust.covers(layout::SETTINGS, &blob.to_string()),
                blob: blob.to_string(),
                grants: settings_grants(policy),
                before: trust.before(layout::SETTINGS, &blob.to_string()),
            });
        }
        for found in cycle.council_documents()?.into_iter().filter(|found| found.document.needs_trust()) {
            items.push(TrustItem {
                trusted: trust.covers(&found.path, &found.blob),
                before: trust.before(&found.path, &found.blob),
                grants: grants_of(&found.document),
                path: found.path,
                blob: found.blob,
            });
        }
        if let Some(core) = &policy.core {
            items.push(TrustItem {
                grants: "stand in the prompts of all models that think for agents or answer a chat".to_owned(),
                trusted: core.trusted,
                before: trust.before(&core.path, &core.blob.to_string()),
                blob: core.blob.to_string(),
                path: core.path.clone(),
            });
        }
        if let Some(config) = &cycle.shared.policy.config {
            items.push(TrustItem {
                path: GIT_CONFIG.to_owned(),
                trusted: trust.covers(GIT_CONFIG, &config.mark),
                blob: config.mark.clone(),
                grants: config_grants(config, &cycle.shared.policy.settings),
                before: None,
            });
        }
        for near in cycle.near_remotes()? {
            items.push(TrustItem {
                before: trust.before(&near.path, &near.mark),
                path: near.path,
                blob: near.mark,
                grants: format!("run the hooks of {} here when you sync", near.places.join(" and ")),
                trusted: near.trusted,
            });
        }
        let is_program = |member: &Member| matches!(member.agent.cognition, Cognition::Command { .. });
        let confinement =
            cycle.shared.policy.agents.values().any(is_program).then(|| Confinement::of_machine().to_string());
        Ok(TrustReport { items, record: None, confinement })
    }

    /// Trusts exactly the given items from now on, in addition to what is trusted.
    ///
    /// # Errors
    /// A program of an agent, a doorbell or a hook asks: only a person decides what is trusted.
    pub fn trust(&self, items: &[TrustItem]) -> Result<TrustReport, BrainError> {
        let world = &self.cycle.shared.world;
        if world.in_hook() {
            return Err(BrainError::Refused {
                message: "nothing was trusted: git-brain started this program (BRAIN_IN_HOOK is set), and only a person decides \
                          what is trusted"
                    .to_owned(),
                hint: Some("`git brain trust` in a terminal of yours".to_owned()),
            });
        }
        let mut trust = Trust::load(world, &self.cycle.store.private_dir())?;
        for item in items {
            trust.trusted.insert(item.path.clone(), item.blob.clone());
        }
        let record = trust.save(world)?;
        let items = items.iter().map(|i| TrustItem { trusted: true, before: None, ..i.clone() }).collect();
        Ok(TrustReport { items, record: Some(record.display().to_string()), confinement: None })
    }

    /// Forgets all trust in this brain.
    pub fn revoke_trust(&self) -> Result<TrustReport, BrainError> {
        let world = &self.cycle.shared.world;
        let mut trust = Trust::load(world, &self.cycle.store.private_dir())?;
        trust.trusted.clear();
        let record = trust.save(world)?;
        Ok(TrustReport { items: Vec::new(), record: Some(record.display().to_string()), confinement: None })
    }
}

/// What the settings would be able to do.
fn settings_grants(policy: &Policy) -> String {
    let mut grants = Vec::new();
    if !policy.settings.models.is_empty() {
        grants.push(endpoints(&policy.settings));
    }
    if policy.loosens_origins {
        grants.push("trust origins further than you do without it ([origins])".to_owned());
    }
    grants.extend(roots(&policy.settings));
    grants.extend(programs(&policy.settings));
    if policy.settings.forge.sends() {
        grants.push(forge(&policy.settings));
    }
    let allow = &policy.settings.secrets.allow;
    if !allow.is_empty() {
        grants.push(format!("let through as no secrets: {}", allow.join(", ")));
    }
    grants.join("; ")
}

/// What the git configuration would be able to do.
fn config_grants(config: &GitConfig, settings: &Settings) -> String {
    let mut grants = Vec::new();
    if config.sends && !settings.models.is_empty() {
        grants.push(endpoints(settings));
    }
    grants.extend(roots(settings).filter(|_| config.sends));
    if !config.forge.is_empty() {
        grants.push(format!("{} ({})", forge(settings), config.forge.join(", ")));
    }
    if !config.loosens.is_empty() {
        grants.push(format!("trust origins further than is said without it: {}", config.loosens.join(", ")));
    }
    if !config.lets_through.is_empty() {
        grants.push(format!("let through as no secrets: {}", config.lets_through.join(", ")));
    }
    grants.join("; ")
}

/// The programs that a deliberation would run.
fn programs(settings: &Settings) -> Option<String> {
    let own = Some(settings.deliberation.argv.join(" ")).filter(|argv| !argv.is_empty());
    let gates = settings.deliberation.gate.iter().map(|gate| gate.argv.join(" "));
    let all: Vec<String> = own.into_iter().chain(gates).collect();
    (!all.is_empty()).then(|| format!("run {} in a deliberation, confined", all.join(", ")))
}

/// What the tools of a chat would see and change.
fn roots(settings: &Settings) -> Option<String> {
    let roots = &settings.chain.roots;
    let said = || {
        format!("show the files in {} to the models of a chat, and change them once you confirm it", roots.join(", "))
    };
    (!roots.is_empty()).then(said)
}

/// What goes to the forge of the settings.
fn forge(settings: &Settings) -> String {
    let forge = &settings.forge;
    let kind = if forge.kind.is_empty() { "forge" } else { &forge.kind };
    let place = if forge.url.is_empty() { "the remote's host" } else { &forge.url };
    let repository = if forge.repository.is_empty() { "the remote's repository" } else { &forge.repository };
    format!(
        "send the token for {kind}, and what waits for review, to {place} for {repository} when you ask for requests"
    )
}

/// What goes where by the models of the settings: each with its address, and the key that goes there.
fn endpoints(settings: &Settings) -> String {
    let place = |(name, model): (&String, &Model)| {
        let address = Endpoint::chat(name, model, None).map_or_else(|_| "nowhere".to_owned(), |to| to.address());
        let key = match (&model.key_env, model.key_from_git) {
            (Some(variable), _) => format!(" with the key in {variable}"),
            (None, true) => " with the key that git credential has for it".to_owned(),
            (None, false) => String::new(),
        };
        format!("{name} (at {address}{key})")
    };
    let models: Vec<String> = settings.models.iter().map(place).collect();
    let agents = format!("send what agents see to the models {}", models.join(", "));
    match settings.models.get_key_value(&settings.recall.embeddings).map(place) {
        Some(model) => format!("send the text of every memory and every question to {model} for embeddings; {agents}"),
        None => agents,
    }
}

fn grants(agent: &crate::model::Agent, settings: &Settings) -> String {
    let may = agent.capabilities.operations.join(", ");
    let mut may = if may.is_empty() { "propose nothing".to_owned() } else { format!("propose {may}") };
    match &agent.capabilities.regions {
        Some(regions) => may += &format!(" on {}", crate::model::json::inline(regions)),
        None => may += " on all neurons of its types",
    }
    match &agent.cognition {
        Cognition::Reflex { rule } => format!("think by the reflex {rule:?}, {may}").to_lowercase(),
        Cognition::Llm { model, .. } => format!("ask the model {model}, {may}"),
        Cognition::Chain { .. } => {
            let models: Vec<&str> = settings.chain.step.iter().map(|step| step.model.as_str()).collect();
            format!("ask the models of the chain ({}), which may read the whole network, {may}", models.join(", "))
        }
        Cognition::Council { members, .. } => {
            let members = if members.is_empty() { "council.json, or three rules" } else { members.as_str() };
            format!("convene the council of {members}, {may}")
        }
        Cognition::Deliberation { goal, .. } => {
            let of = &settings.deliberation;
            let minds =
                format!("{} against {}", of.gardener, if of.skeptic.is_empty() { "nobody" } else { &of.skeptic });
            format!("deliberate on {goal}, {minds}, {may}")
        }
        Cognition::Command { argv, environment, reads, writes, network, .. } => {
            let seen = if environment.is_empty() { String::new() } else { format!(" with {}", environment.join(", ")) };
            let list = |what: &str, paths: &[String]| match paths {
                [] => String::new(),
                paths => format!(", {what} {}", paths.join(" ")),
            };
            let (read, write) = (list("read", reads), list("write", writes));
            let reach = if *network { "with the network" } else { "without network" };
            format!("run {}{seen} {reach}{read}{write}, {may}", crate::model::json::inline(argv))
        }
    }
}
