//! Policy: settings and agents, as the brain's main has them, never as an agent's branch has them; and which agents are
//! trusted to run here.

use std::collections::BTreeMap;

use super::{CycleError, bootstrap};
use crate::cognition::{AgentSummary, llm};
use crate::delta::Limits;
use crate::forge::TOKEN_VARIABLES;
use crate::limits;
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, hash_fields};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::model::origin::Origins;
use crate::model::secret::{Secrets, SecretsError, is_secret_variable};
use crate::model::settings::{Forge, Model, Override, SettingsError};
use crate::model::{Agent, Settings};

pub use crate::model::ids::HUMAN;
use crate::store::{BlobId, CommitId, Store, TreeId};
use crate::world::{Trust, World};

/// The variable that holds the token of whoever may ask a served brain.
const BRAIN_TOKEN: &str = "BRAIN_TOKEN";

/// The name of the agent that decides.
pub const DECISION: &str = "decision";
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
    /// Whether it may run here: it is the bootstrap's own, or a person trusted exactly this blob; and its prompt's, if it has one.
    pub trusted: bool,
    /// Whether a person here trusted another definition under that path, or another prompt: it ran here, and is inert since it was changed.
    pub changed: bool,
    /// The template of its prompt, if the brain has one of its own.
    pub prompt: Option<Prompt>,
}

impl Member {
    /// Its definition, and its prompt's.
    pub(super) fn mark(&self) -> String {
        let prompt = self.prompt.as_ref().map(|prompt| format!(" {}", prompt.blob)).unwrap_or_default();
        format!("{}{prompt}", self.blob)
    }
}

/// The template of an agent's prompt.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its path.
    pub path: String,
    /// Its blob.
    pub blob: BlobId,
    /// Its text.
    pub text: String,
    /// Whether a person trusted exactly this blob.
    pub trusted: bool,
}

/// Settings and agents of a brain.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The settings, overlaid.
    pub settings: Settings,
    /// The blob of `brain.toml`, which merge commits name.
    pub blob: Option<BlobId>,
    /// Whether the endpoints of `brain.toml` may be used here.
    pub endpoints_trusted: bool,
    /// Whether `brain.toml` trusts an origin further than the person here does without it: inert until trusted.
    pub loosens_origins: bool,
    /// The settings without `brain.toml`, if they are whole: what a person at this machine asked for.
    own: Option<Settings>,
    /// What the repository's own git configuration says that needs trust as a file does; `None`: nothing.
    pub config: Option<GitConfig>,
    config_trusted: bool,
    /// Settings by which other machines do what is committed here again, and that are not what `brain.toml` says: each with the place
    /// that it was given at.
    pub unshared: Vec<String>,
    /// The file that `integrity.core` names, as main has it; `None`: none is named, or it is not there.
    pub core: Option<Prompt>,
    /// The agents by name.
    pub agents: BTreeMap<AgentName, Member>,
    /// Definitions that could not be read; their agents do not run.
    pub broken: Vec<JsonError>,
}

/// What trust of the repository's own git configuration is recorded under.
pub const GIT_CONFIG: &str = "git config";

/// What the repository's own git configuration says that needs trust: a git folder that was copied brings it along.
#[derive(Clone, Debug)]
pub struct GitConfig {
    /// A mark of it: another one needs trust again.
    pub mark: String,
    /// Whether it names endpoints, or what they are used for.
    pub sends: bool,
    /// What it says of origins, where it trusts one further than is said without it.
    pub loosens: Vec<String>,
    /// What it lets through as no secrets.
    pub lets_through: Vec<String>,
    /// What it says of the forge.
    pub forge: Vec<String>,
}

impl GitConfig {
    /// What needs trust of the settings that are kept there; with what they say of origins if that `loosens`.
    fn of(kept: &[Override], loosens: bool) -> Option<Self> {
        let endpoint = |key: &str| {
            key.starts_with("models.") || ["recall.embeddings", "chain.roots", "deliberation.argv"].contains(&key)
        };
        let needs = |key: &str| endpoint(key) || key == ALLOW || is_forge(key) || (loosens && is_origin(key));
        let found: Vec<(String, &Override)> =
            kept.iter().map(|o| (o.plain_key(), o)).filter(|(key, _)| needs(key)).collect();
        let fields: Vec<&[u8]> = found.iter().flat_map(|(key, o)| [key.as_bytes(), o.value.as_bytes()]).collect();
        let said = |of: fn(&str) -> bool| found.iter().filter(move |(key, _)| of(key));
        (!found.is_empty()).then(|| Self {
            mark: format!("{:016x}", hash_fields(&fields)),
            sends: found.iter().any(|(key, _)| endpoint(key)),
            loosens: said(is_origin).map(|(key, o)| format!("{key} = {}", o.value)).collect(),
            lets_through: said(|key| key == ALLOW).map(|(_, o)| o.value.clone()).collect(),
            forge: said(is_forge).map(|(key, o)| format!("{key} = {}", o.value)).collect(),
        })
    }
}

/// The setting that lets through what is no secret.
const ALLOW: &str = "secrets.allow";

/// The sections by which other machines do again what is committed.
const SHARED: [&str; 5] = ["learning.", "activation.", "merge.", "origins.", "review."];

/// Whether a setting says where tokens of a forge go.
fn is_forge(key: &str) -> bool {
    ["forge.kind", "forge.url", "forge.repository"].contains(&key)
}

fn is_origin(key: &str) -> bool {
    key.starts_with("origins.")
}

/// The settings of some keys alone.
fn only(given: &[Override], of: impl Fn(&str) -> bool) -> Vec<Override> {
    given.iter().filter(|over| of(&over.plain_key())).cloned().collect()
}

/// The forms of secrets but for those that are let through, and the values of variables.
pub(super) fn secrets_of(allow: &[String], values: &[String]) -> Result<Secrets, CycleError> {
    let refused =
        |error: SecretsError| SettingsError { place: layout::SETTINGS.to_owned(), message: error.to_string() };
    Secrets::new(allow, values).map_err(|error| refused(error).into())
}

/// How far origins are trusted, where some settings are laid over what is said of them.
fn overlaid(origins: &Origins, settings: &[&[Override]]) -> Result<Origins, SettingsError> {
    let text = toml::to_string(origins).expect("invariant: levels and numbers are TOML");
    Ok(Settings::read(&format!("[origins]\n{text}"), &only(&settings.concat(), is_origin))?.origins)
}

/// Of the settings that were given here, those that other machines would need and that `file` does not say.
fn unshared(settings: &Settings, file: &Settings, given: &[Override]) -> Vec<String> {
    let [here, there] =
        [settings, file].map(|all| serde_json::to_value(all).expect("invariant: settings have string keys"));
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for over in given {
        let key = over.plain_key();
        let at = format!("/{}", key.replace('.', "/"));
        if SHARED.iter().any(|section| key.starts_with(section)) && here.pointer(&at) != there.pointer(&at) {
            // The last one is the strongest.
            found.insert(key.clone(), format!("{key} ({})", over.place));
        }
    }
    found.into_values().collect()
}

/// A text of main that goes to models.
fn prompt_at(store: &Store, trust: &Trust, tree: TreeId, path: String) -> Result<Option<Prompt>, CycleError> {
    let Some(file) = store.file(tree, &path)?.filter(|file| file.is_regular()) else { return Ok(None) };
    let bytes = store.blob(file.blob)?;
    let bad = |message: String| JsonError::at(&path, 1, "", message);
    if bytes.len() > limits::PROMPT_BYTES {
        return Err(bad(format!("is longer than {} bytes", limits::PROMPT_BYTES)).into());
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("is not UTF-8".to_owned()))?;
    let trusted = trust.covers(&path, &file.blob.to_string());
    Ok(Some(Prompt { blob: file.blob, trusted, text, path }))
}

fn load_prompt(store: &Store, trust: &Trust, tree: TreeId, name: &AgentName) -> Result<Option<Prompt>, CycleError> {
    let prompt = prompt_at(store, trust, tree, layout::prompt(name))?;
    if let Some(Prompt { path, text, .. }) = &prompt {
        llm::check_template(text).map_err(|e| JsonError::at(path, e.line, "", e.message))?;
    }
    Ok(prompt)
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
        Self::of(store, world, flags, (tree, &text, settings_file.map(|f| f.blob)))
    }

    /// The policy of main's tip as if it had no settings, for who looks at a brain whose settings cannot be read.
    pub fn without_settings(store: &Store, world: &World, flags: &[Override]) -> Result<Self, CycleError> {
        let tree = store.tree_of(store.need_tip(store.main())?)?;
        Self::of(store, world, flags, (tree, "", None))
    }

    fn of(
        store: &Store,
        world: &World,
        flags: &[Override],
        (tree, text, blob): (TreeId, &str, Option<BlobId>),
    ) -> Result<Self, CycleError> {
        let kept = store.local_settings()?;
        let given: Vec<Override> = world.overrides().into_iter().chain(flags.iter().cloned()).collect();
        let overrides: Vec<Override> = kept.iter().chain(&given).cloned().collect();
        let trust = Trust::load(world, &store.private_dir())?;
        let endpoints_trusted = blob.is_some_and(|blob| trust.covers(layout::SETTINGS, &blob.to_string()));
        let mut settings = Settings::read(text, &overrides)?;
        let file = Settings::read(text, &[])?;
        // Without the git configuration: what brain.toml says, as far as a person has accepted it, and what was given now.
        let mut plain = overlaid(&file.origins, &[&given])?;
        if !endpoints_trusted {
            plain = plain.stricter(&overlaid(&Origins::default(), &[&given])?);
        }
        let origins = overlaid(&plain, &[&kept, &given])?;
        let config = GitConfig::of(&kept, origins.stricter(&plain) != origins);
        let config_trusted = config.as_ref().is_none_or(|config| trust.covers(GIT_CONFIG, &config.mark));
        let believed: &[Override] = if config_trusted { &kept } else { &[] };
        let own = Settings::read("", &[believed, &given].concat()).ok();
        let asked = overlaid(&file.origins, &[believed, &given])?;
        let here = own.as_ref().map(|own| own.origins.clone()).unwrap_or_default();
        settings.origins = if config_trusted { origins } else { origins.stricter(&plain) };
        if !config_trusted {
            settings.secrets.allow = Settings::read(text, &only(&given, |key| key == ALLOW))?.secrets.allow;
        }
        let mut policy = Self {
            unshared: unshared(&settings, &file, &overrides),
            settings,
            blob,
            endpoints_trusted,
            loosens_origins: asked.stricter(&here) != asked,
            config_trusted,
            own,
            config,
            core: None,
            agents: BTreeMap::new(),
            broken: Vec::new(),
        };
        policy.load_agents(store, &trust, tree)?;
        policy.load_core(store, &trust, tree)?;
        Ok(policy)
    }

    fn load_agents(&mut self, store: &Store, trust: &Trust, tree: TreeId) -> Result<(), CycleError> {
        for (path, file) in store.files(tree, layout::AGENTS)? {
            let Place::Agent(name) = Place::of(&path) else { continue };
            let Some(bytes) = store.read(tree, &path)? else { continue };
            match Agent::decode(&bytes, &path) {
                Ok(agent) if agent.name == name => {
                    let builtin = bootstrap::is_builtin(&path, &bytes);
                    let trusted = builtin || trust.covers(&path, &file.blob.to_string());
                    let prompt = match load_prompt(store, trust, tree, &name) {
                        Ok(prompt) => prompt,
                        Err(CycleError::Json(error)) => {
                            self.broken.push(error);
                            continue;
                        }
                        Err(other) => return Err(other),
                    };
                    let trusted = trusted && prompt.as_ref().is_none_or(|prompt| prompt.trusted);
                    let before = [path.as_str(), &layout::prompt(&name)]
                        .into_iter()
                        .any(|path| trust.trusted.contains_key(path));
                    let changed = !trusted && before;
                    self.agents.insert(name, Member { agent, path, blob: file.blob, trusted, changed, prompt });
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

    fn load_core(&mut self, store: &Store, trust: &Trust, tree: TreeId) -> Result<(), CycleError> {
        if self.settings.integrity.core.is_empty() {
            return Ok(());
        }
        match prompt_at(store, trust, tree, self.settings.integrity.core.clone()) {
            Err(CycleError::Json(error)) => self.broken.push(error),
            core => self.core = core?,
        }
        Ok(())
    }

    /// The text of the core module, where one is named and trusted here.
    ///
    /// # Errors
    /// One is named and stands in no prompt: why, in a sentence.
    pub fn core_module(&self) -> Result<Option<&str>, String> {
        let path = &self.settings.integrity.core;
        match &self.core {
            Some(core) if core.trusted => Ok(Some(&core.text)),
            Some(_) => Err(format!("{path} is not trusted on this machine, so prompts go without it")),
            None if path.is_empty() => Ok(None),
            None if self.broken.iter().any(|error| error.what == *path) => {
                Err(format!("{path} cannot be read, so prompts go without it"))
            }
            None => Err(format!("main has no file {path}, which integrity.core names, so prompts go without it")),
        }
    }

    /// The agents as agents see each other.
    pub fn summaries(&self) -> Vec<AgentSummary> {
        let summary = |m: &Member| AgentSummary { name: m.agent.name.clone(), role: m.agent.role.clone() };
        self.agents.values().map(summary).collect()
    }

    /// Whether the brain has a definition of that name that cannot be read.
    pub fn is_broken(&self, name: &AgentName) -> bool {
        self.broken.iter().any(|error| error.what == layout::agent(name))
    }

    /// Rank and capabilities of whoever applies a delta by hand.
    pub fn authority(&self, name: &AgentName) -> Result<(u32, Option<Limits>), CycleError> {
        if name.as_str() == HUMAN {
            return Ok((u32::MAX, None));
        }
        let Some(member) = self.agents.get(name) else {
            if name.as_str() == EVALUATOR && !self.is_broken(name) {
                let own = bootstrap::evaluator();
                return Ok((own.priority, Some(Limits::from(&own))));
            }
            if let Some(client) = bootstrap::client(name).filter(|_| !self.is_broken(name)) {
                return Ok((client.priority, Some(Limits::from(&client))));
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

    /// The settings `[forge]`.
    ///
    /// # Errors
    /// `brain.toml`, or the configuration of a folder that was copied, has a say in where tokens go, and is not trusted here.
    pub fn forge(&self) -> Result<&Forge, CycleError> {
        let forge = &self.settings.forge;
        let is_own = self.own.as_ref().is_some_and(|own| own.forge == *forge);
        if !forge.sends() || self.endpoints_trusted && self.config_trusted || is_own {
            return Ok(forge);
        }
        Err(CycleError::Refused {
            message: format!("{}, so [forge] is inert", self.untrusted()),
            hint: Some("look at it, then `git brain trust`".to_owned()),
        })
    }

    /// What of the settings is not trusted, in words.
    fn untrusted(&self) -> String {
        let config = "the repository's git configuration";
        match (self.endpoints_trusted, self.config_trusted) {
            (false, true) => format!("{} is not trusted on this machine", layout::SETTINGS),
            (false, false) => format!("{} is not trusted on this machine, nor is {config}", layout::SETTINGS),
            _ => format!("{config} is not trusted on this machine"),
        }
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
        self.usable(name, "recall.embeddings", |own| own.recall.embeddings == name)
    }

    /// A model of the settings that may be asked.
    ///
    /// # Errors
    /// It is not there, or `brain.toml` has a say in it and is not trusted here.
    pub fn model<'p>(&'p self, name: &'p str) -> Result<&'p Model, CycleError> {
        let found = self.usable(name, &format!("the model {name}"), |_| true)?;
        found.map(|(_, model)| model).ok_or_else(|| CycleError::refused(format!("there is no [models.{name}]")))
    }

    fn usable<'p>(
        &'p self,
        name: &'p str,
        what: &str,
        asked_for: impl Fn(&Settings) -> bool,
    ) -> Result<Option<(&'p str, &'p Model)>, CycleError> {
        let Some(model) = self.settings.models.get(name) else {
            let known: Vec<&str> = self.settings.models.keys().map(String::as_str).collect();
            let hint = (!known.is_empty()).then(|| format!("there are {}", known.join(", ")));
            return Err(CycleError::Refused {
                message: format!("{what} is asked for, and there is no [models.{name}]"),
                hint,
            });
        };
        let is_own = |own: &Settings| asked_for(own) && own.models.get(name) == Some(model);
        let trusted = self.endpoints_trusted && self.config_trusted;
        if !trusted && !self.own.as_ref().is_some_and(is_own) {
            let who = self.untrusted();
            return Err(CycleError::Refused {
                message: format!("{who}, so {what} is inert"),
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
        self.secrets_allowing(world, allow)
    }

    /// The same with another list of what is let through.
    pub fn secrets_allowing(&self, world: &World, allow: &[String]) -> Result<Secrets, CycleError> {
        let mut values = Vec::new();
        let keys = self.settings.models.values().filter_map(|model| model.key_env.as_deref());
        let named = self.settings.secrets.environment.iter().map(String::as_str);
        values.extend(keys.chain(named).chain([BRAIN_TOKEN]).chain(TOKEN_VARIABLES).filter_map(|name| world.key(name)));
        for member in self.agents.values() {
            let Cognition::Command { environment, .. } = &member.agent.cognition else { continue };
            let seen = environment.iter().filter_map(|name| Some((name, world.key(name)?)));
            values.extend(seen.filter(|(name, value)| is_secret_variable(name, value)).map(|(_, value)| value));
        }
        secrets_of(allow, &values)
    }

    /// The folders that tools may see. What `brain.toml`, or the git configuration of a folder that was copied, names counts
    /// only if it is trusted here: a clone must not show files of this machine to a model.
    pub fn chain_roots(&self) -> &[String] {
        let own = self.own.as_ref().map_or(&[][..], |own| &own.chain.roots);
        if self.endpoints_trusted && self.config_trusted { &self.settings.chain.roots } else { own }
    }

    /// Refuses the programs that `[deliberation]` names, where `brain.toml` is not trusted here.
    pub fn require_trusted_programs(&self) -> Result<(), CycleError> {
        match self.endpoints_trusted && self.config_trusted {
            true => Ok(()),
            false => Err(CycleError::Refused {
                message: format!("{}, so the programs of [deliberation] are inert", self.untrusted()),
                hint: Some("look at it, then `git brain trust`".to_owned()),
            }),
        }
    }

    /// Refuses an agent whose definition is not trusted here.
    pub fn require_trust(&self, member: &Member) -> Result<(), CycleError> {
        if member.trusted {
            return Ok(());
        }
        Err(CycleError::Refused {
            message: {
                let prompt = member.prompt.as_ref().filter(|prompt| !prompt.trusted).map(|prompt| prompt.path.as_str());
                format!("{} is not trusted on this machine, so the agent is inert", prompt.unwrap_or(&member.path))
            },
            hint: Some(format!("look at it, then `git brain trust`; `git brain show {}`", member.agent.name)),
        })
    }
}
