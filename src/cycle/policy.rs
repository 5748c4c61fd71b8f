//! Policy: settings and agents, as the brain's main has them, never as an agent's branch has them; and which agents are
//! trusted to run here.

use std::collections::BTreeMap;

use super::{CycleError, bootstrap};
use crate::cognition::AgentSummary;
use crate::delta::Limits;
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, hash_fields};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::model::secret::{Secrets, is_secret_variable};
use crate::model::settings::{Model, Override, SettingsError};
use crate::model::{Agent, Settings};
use crate::store::{BlobId, CommitId, Store, TreeId};
use crate::world::{Trust, World};

/// The name of the person at this machine: needs no definition and is unrestricted.
pub const HUMAN: &str = "human";

/// The variable that holds the token of whoever may ask a served brain.
const BRAIN_TOKEN: &str = "BRAIN_TOKEN";

/// The name of the agent that judges outcomes. A brain without that file has the bootstrap's own.
pub const EVALUATOR: &str = "evaluator";

/// An agent of the brain.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its definition.
    pub agent: Agent,
    /// The definition's path.
    pub path: String,
    /// The definition's blob.
    pub blob: BlobId,
    /// True if it may run here: it is the bootstrap's own, or a person trusted exactly this blob.
    pub trusted: bool,
}

/// Settings and agents of a brain.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The settings, overlaid.
    pub settings: Settings,
    /// The blob of `brain.toml`, which merge commits name.
    pub blob: Option<BlobId>,
    /// True if the endpoints of `brain.toml` may be used here.
    pub endpoints_trusted: bool,
    /// True if `brain.toml` trusts an origin further than the person here does without it: inert until trusted.
    pub loosens_origins: bool,
    /// The settings without `brain.toml`, if they are whole: what a person at this machine asked for.
    own: Option<Settings>,
    /// A mark of what the repository's git configuration says of endpoints, which needs trust as a file does; `None`: nothing.
    pub config: Option<String>,
    config_trusted: bool,
    /// The agents by name.
    pub agents: BTreeMap<AgentName, Member>,
    /// Definitions that could not be read; their agents do not run.
    pub broken: Vec<JsonError>,
}

/// What trust of the repository's own git configuration is recorded under.
pub const GIT_CONFIG: &str = "git config";

/// A mark of what the git configuration says of endpoints and of their use; `None`: nothing.
fn endpoint_settings(kept: &[Override]) -> Option<String> {
    let names = |o: &&Override| {
        let key = o.key.replace('_', "-");
        key.starts_with("models.") || ["recall.embeddings", "chain.roots"].contains(&key.as_str())
    };
    let fields: Vec<&[u8]> = kept.iter().filter(names).flat_map(|o| [o.key.as_bytes(), o.value.as_bytes()]).collect();
    (!fields.is_empty()).then(|| format!("{:016x}", hash_fields(&fields)))
}

impl Policy {
    /// Reads the policy from main's tip.
    pub fn load(store: &Store, world: &World, flags: &[Override]) -> Result<Self, CycleError> {
        Self::load_at(store, world, flags, store.need_tip(store.main())?)
    }

    /// Reads the policy from a commit, where main is still to come.
    pub fn load_at(store: &Store, world: &World, flags: &[Override], main: CommitId) -> Result<Self, CycleError> {
        let tree = store.tree_of(main)?;
        let settings_file = store.file(tree, layout::SETTINGS)?;
        let text = match store.read(tree, layout::SETTINGS)? {
            None => String::new(),
            Some(bytes) => {
                String::from_utf8(bytes).map_err(|_| JsonError::at(layout::SETTINGS, 1, "", "is not UTF-8"))?
            }
        };
        let kept = store.local_settings()?;
        let config = endpoint_settings(&kept);
        let given: Vec<Override> = world.overrides().into_iter().chain(flags.iter().cloned()).collect();
        let overrides: Vec<Override> = kept.into_iter().chain(given.iter().cloned()).collect();
        // A git folder that was copied brings its configuration along, so that needs trust as well.
        let trust = Trust::load(world, &store.private_dir())?;
        let config_trusted = config.as_ref().is_none_or(|mark| trust.covers(GIT_CONFIG, mark));
        let mut policy = Self {
            settings: Settings::read(&text, &overrides)?,
            blob: settings_file.map(|f| f.blob),
            endpoints_trusted: false,
            loosens_origins: false,
            config_trusted,
            own: Settings::read("", if config_trusted { &overrides } else { &given }).ok(),
            config,
            agents: BTreeMap::new(),
            broken: Vec::new(),
        };
        policy.load_agents(store, &trust, tree)?;
        Ok(policy)
    }

    fn load_agents(&mut self, store: &Store, trust: &Trust, tree: TreeId) -> Result<(), CycleError> {
        self.endpoints_trusted = self.blob.is_some_and(|blob| trust.covers(layout::SETTINGS, &blob.to_string()));
        let here = self.own.as_ref().map(|own| own.origins.clone()).unwrap_or_default();
        let strict = self.settings.origins.stricter(&here);
        self.loosens_origins = strict != self.settings.origins;
        if !self.endpoints_trusted {
            self.settings.origins = strict;
        }
        for (path, file) in store.files(tree, layout::AGENTS)? {
            let Place::Agent(name) = Place::of(&path) else { continue };
            let Some(bytes) = store.read(tree, &path)? else { continue };
            match Agent::decode(&bytes, &path) {
                Ok(agent) if agent.name == name => {
                    let builtin = bootstrap::is_builtin(&path, &bytes);
                    let trusted = builtin || trust.covers(&path, &file.blob.to_string());
                    self.agents.insert(name, Member { agent, path, blob: file.blob, trusted });
                }
                Ok(agent) => {
                    let message = format!("is {}, not the file's {name}", agent.name);
                    self.broken.push(JsonError::at(&path, 1, "name", message));
                }
                Err(error) => self.broken.push(error),
            }
        }
        Ok(())
    }

    /// The agents as agents see each other.
    pub fn summaries(&self) -> Vec<AgentSummary> {
        let summary = |m: &Member| AgentSummary { name: m.agent.name.clone(), role: m.agent.role.clone() };
        self.agents.values().map(summary).collect()
    }

    /// Rank and capabilities of whoever applies a delta by hand.
    pub fn authority(&self, name: &AgentName) -> Result<(u32, Option<Limits>), CycleError> {
        if name.as_str() == HUMAN {
            return Ok((u32::MAX, None));
        }
        let Some(member) = self.agents.get(name) else {
            if name.as_str() == EVALUATOR && !self.broken.iter().any(|error| error.what == layout::agent(name)) {
                let own = bootstrap::evaluator();
                return Ok((own.priority, Some(Limits::from(&own))));
            }
            let known: Vec<&str> = self.agents.keys().map(AgentName::as_str).collect();
            return Err(CycleError::Refused {
                message: format!("there is no agent {name} in this brain"),
                hint: Some(format!("agents are {}, and {HUMAN}, who needs no definition", known.join(", "))),
            });
        };
        self.require_trust(member)?;
        Ok((member.agent.priority, Some(Limits::from(&member.agent))))
    }

    /// The model whose embeddings recall is to use, by its name in the settings; `None` if none is.
    ///
    /// # Errors
    /// It is not there, or `brain.toml` has a say in it and is not trusted here.
    pub fn embeddings(&self) -> Result<Option<(&str, &Model)>, CycleError> {
        let name = self.settings.recall.embeddings.as_str();
        if name.is_empty() {
            return Ok(None);
        }
        let Some(model) = self.settings.models.get(name) else {
            return Err(CycleError::Refused {
                message: format!("recall.embeddings names {name}, and there is no [models.{name}]"),
                hint: None,
            });
        };
        let is_own = |own: &Settings| own.recall.embeddings == name && own.models.get(name) == Some(model);
        let trusted = self.endpoints_trusted && self.config_trusted;
        if !trusted && !self.own.as_ref().is_some_and(is_own) {
            let config = "the repository's git configuration";
            let who = match (self.endpoints_trusted, self.config_trusted) {
                (false, true) => format!("{} is not trusted on this machine", layout::SETTINGS),
                (false, false) => format!("{} is not trusted on this machine, nor is {config}", layout::SETTINGS),
                _ => format!("{config} is not trusted on this machine"),
            };
            return Err(CycleError::Refused {
                message: format!("{who}, so recall.embeddings is inert"),
                hint: Some("look at it, then `git brain trust`".to_owned()),
            });
        }
        Ok(Some((name, model)))
    }

    /// What no object may hold: what the formats of secrets say, and the values of the variables that models and agents name.
    ///
    /// What `brain.toml` lets through counts only if it is trusted here: a clone must not open the gate.
    pub fn secrets(&self, world: &World) -> Result<Secrets, CycleError> {
        let own = self.own.as_ref().map_or(&[][..], |own| &own.secrets.allow);
        let allow = if self.endpoints_trusted { &self.settings.secrets.allow } else { own };
        let mut values = Vec::new();
        let keys = self.settings.models.values().filter_map(|model| model.key_env.as_deref());
        let named = self.settings.secrets.environment.iter().map(String::as_str);
        values.extend(keys.chain(named).chain([BRAIN_TOKEN]).filter_map(|name| world.key(name)));
        for member in self.agents.values() {
            let Cognition::Command { environment, .. } = &member.agent.cognition else { continue };
            let seen = environment.iter().filter_map(|name| Some((name, world.key(name)?)));
            values.extend(seen.filter(|(name, value)| is_secret_variable(name, value)).map(|(_, value)| value));
        }
        Secrets::new(allow, &values)
            .map_err(|message| SettingsError { place: layout::SETTINGS.to_owned(), message }.into())
    }

    /// The folders that tools may see. What `brain.toml`, or the git configuration of a folder that was copied, names counts
    /// only if it is trusted here: a clone must not show files of this machine to a model.
    pub fn chain_roots(&self) -> &[String] {
        let own = self.own.as_ref().map_or(&[][..], |own| &own.chain.roots);
        if self.endpoints_trusted && self.config_trusted { &self.settings.chain.roots } else { own }
    }

    /// Refuses an agent whose definition is not trusted here.
    pub fn require_trust(&self, member: &Member) -> Result<(), CycleError> {
        if member.trusted {
            return Ok(());
        }
        Err(CycleError::Refused {
            message: format!("{} is not trusted on this machine, so the agent is inert", member.path),
            hint: Some(format!("look at it, then `git brain trust`; `git brain show {}`", member.agent.name)),
        })
    }
}
