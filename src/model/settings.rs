//! Settings: the parameters of `brain.toml`, with their defaults. Every constant of the arithmetic is one of these.
//!
//! Order of precedence: flag (`-c KEY=VALUE`) > `BRAIN_*` environment > local `git config brain.*` > `brain.toml` >
//! default. Reading the sources is the world's; overlaying them is here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::chain::{Chain, ChainStep};
pub use super::deliberation::Deliberation;
pub use super::forge::Forge;
pub use super::integrity::{Integrity, Steer};
pub use super::models::Model;
pub use super::origin::Origins;
pub use super::review::Review;
pub use super::spending::Budget;

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Propagation.
    pub activation: Activation,
    /// How `recall` deviates from it.
    pub recall: Recall,
    /// How weights and salience change.
    pub learning: Learning,
    /// What sleep does, and when it is due.
    pub sleep: Sleep,
    /// The story that the brain tells itself.
    pub serotonin: Serotonin,
    /// What was learnt beside weights.
    pub wisdom: Wisdom,
    /// How the merge decides, field by field.
    pub merge: MergePolicy,
    /// What agents see.
    pub context: Context,
    /// Bounds of the cycle.
    pub cycle: Cycle,
    /// What brakes the cycle.
    pub inhibition: Inhibition,
    /// How far what comes from outside is trusted.
    pub origins: Origins,
    /// What programs and models may cost.
    pub budget: Budget,
    /// What no object may hold.
    pub secrets: Secrets,
    /// Models by name. Inert until trusted.
    pub models: BTreeMap<String, Model>,
    /// The reflexive chain.
    pub chain: Chain,
    /// Which runs wait for a person.
    pub review: Review,
    /// How hypotheses are mined, attacked and judged.
    pub deliberation: Deliberation,
    /// Requests for review on a forge. Inert until trusted.
    pub forge: Forge,
    /// What is done about ritual in what models say.
    pub integrity: Integrity,
}

/// `[activation]`: propagation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Activation {
    /// Factor per hop, 0..=1.
    pub decay: f64,
    /// Smallest activation that counts.
    pub min: f64,
    /// Deepest level that is activated.
    pub max_depth: u32,
    /// Neurons kept per wave and level; 0: all.
    pub beam: u32,
    /// After how many passes re-entrant activation is halved.
    pub pass_count: u32,
    /// How many passes to run at most; 0: until quiet, at most 64.
    pub passes: u32,
    /// Refractory period, levels.
    pub refractory: u32,
    /// Strength of `influences`.
    pub kappa: f64,
    /// Change above which `triggers` fires, 0..=1.
    pub theta: f64,
    /// Least salience that a target counts with, 0..=65535. At 0 a fresh network never lights up.
    pub salience_floor: u16,
    /// Exponent of the fan penalty 1/outdegree^fan.
    pub fan: f64,
    /// How many neurons a run of perception raises at most, of those that the activation of its input reaches, 0..=64; 0: none.
    pub write_back: u32,
}

impl Default for Activation {
    fn default() -> Self {
        Self {
            decay: 0.9,
            min: 0.01,
            max_depth: 4,
            beam: 1024,
            pass_count: 2,
            passes: 1,
            refractory: 0,
            kappa: 1.0,
            theta: 0.5,
            salience_floor: 3277,
            fan: 0.0,
            write_back: 8,
        }
    }
}

/// `[recall]`: answers to questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recall {
    /// Exponent of salience: 1 counts it fully, 0 ignores it.
    pub salience_exponent: f64,
    /// Fan penalty on concepts.
    pub fan: f64,
    /// How many memories to answer.
    pub top: usize,
    /// The `[models.NAME]` whose embeddings bring memories to mind by meaning; empty: none. Inert until trusted.
    pub embeddings: String,
    /// Longest time that an answer waits for embeddings, milliseconds; then it does without.
    pub embeddings_timeout_ms: u64,
}

impl Default for Recall {
    fn default() -> Self {
        let embeddings_timeout_ms = crate::limits::EMBEDDINGS_TIMEOUT_MS;
        Self { salience_exponent: 0.1, fan: 0.75, top: 10, embeddings: String::new(), embeddings_timeout_ms }
    }
}

/// `[learning]`: how weights and salience change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Learning {
    /// Dopamine's learning rate, in weight units.
    pub rate: u32,
    /// Salience that a weight unit of change adds to its target.
    pub salience_boost: f64,
    /// What an activation of strength 1 adds, 0..=65535.
    pub salience_gain: u16,
    /// Hebbian rate, weight units.
    pub hebb: u32,
    /// Least weight at which agents make connections: 0 is absorbing.
    pub connect_floor: u16,
    /// Eligibility trace λ, 0..=1: the part of an error that the runs behind a judged run get, each step back once more.
    pub eligibility: f64,
    /// Discount γ, 0..=1: the part of an error that is left a connection further from the outcome.
    pub discount: f64,
    /// Negative errors in a row after which a pathway is abandoned; 0: never.
    pub abandon_after: u32,
    /// Newest ledger entries that agents look back on.
    pub history: usize,
    /// What an outcome keeps of its weight with each later outcome of the same question, 0..=1; 1: nothing fades.
    pub kept: f64,
    /// Width of the draw by which decision explores, in spreads of the expectation; 0: the greatest expectation always.
    pub exploration: f64,
    /// How much mood narrows that draw, or widens it where it is below 0; 0: not at all.
    pub mood_width: f64,
    /// Negative errors more, at full confidence, after which a pathway is abandoned; 0: none.
    pub patience: f64,
    /// Weight of open goals where decision weighs, 0..=1; 0: none.
    pub goals: f64,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            rate: 3277,
            salience_boost: 1.0,
            salience_gain: 65535,
            hebb: 655,
            connect_floor: 1024,
            eligibility: 0.0,
            discount: 1.0,
            abandon_after: 3,
            history: 256,
            kept: 0.98,
            exploration: 0.5,
            mood_width: 0.0,
            patience: 0.0,
            goals: 0.2,
        }
    }
}

/// `[sleep]`: consolidation, and when it is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sleep {
    /// Salience above which a neuron is consolidated, 0..=65535.
    pub threshold: u16,
    /// How many of the most vivid since the last sleep are consolidated as well.
    pub top: usize,
    /// What a connection between two of them gains, weight units.
    pub boost: u16,
    /// Apply the prediction errors since the last sleep once more, interleaved.
    pub replay: bool,
    /// Share that the other connections lose, 0..=1; 0: none.
    pub downscale: f64,
    /// Neurons that were activated less often than this may be pruned.
    pub prune_below: u32,
    /// Days that nothing must have touched a neuron before it is pruned.
    pub prune_age_days: u32,
    /// Connections weaker than this are pruned, weight units.
    pub prune_weight: u16,
    /// Sleep is due so many hours after the last one; 0: never for that reason.
    pub every_hours: u32,
    /// Sleep is due after so many runs; 0: never for that reason.
    pub after_runs: u32,
    /// Sleep is due when so many neurons are above the threshold; 0: never for that reason.
    pub saturation: u32,
    /// Sleep is due when the machine's load per processor is below this; 0: never for that reason.
    pub idle_load: f64,
}

impl Default for Sleep {
    fn default() -> Self {
        Self {
            threshold: 50_000,
            top: 64,
            boost: 3277,
            replay: false,
            downscale: 0.0,
            prune_below: 2,
            prune_age_days: 365,
            prune_weight: 64,
            every_hours: 24,
            after_runs: 1_000,
            saturation: 2_000,
            idle_load: 0.0,
        }
    }
}

/// `[serotonin]`: the story that the brain tells itself. Nothing that is learnt depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Serotonin {
    /// False: no chapters.
    pub enabled: bool,
    /// Share of a prediction error that mood takes on, above 0, at most 1.
    pub smoothing: f64,
    /// Over-confidence, 0..=0.1: what confidence is told better than the ledger supports.
    pub bias: f64,
    /// Judgements that confidence goes back over, 1..=10000.
    pub memory: u32,
    /// Gap between story and ledger above which an alarm is raised, 0..=1.
    pub alarm: f64,
}

impl Default for Serotonin {
    fn default() -> Self {
        Self { enabled: true, smoothing: 0.2, bias: 0.05, memory: 50, alarm: 0.25 }
    }
}

/// `[wisdom]`: seeds that are distilled from what came of past actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wisdom {
    /// False: nothing is distilled, and agents are told of no seed.
    pub enabled: bool,
}

impl Default for Wisdom {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// What a merge does with a field that both sides changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Add up both changes.
    Sum,
    /// The greater value.
    Max,
    /// The mean, rounded to nearest.
    Mean,
    /// Left's value.
    Left,
    /// Right's value.
    Right,
    /// The greater (rank, run id).
    Priority,
    /// Let a person decide: the branch stays.
    Review,
}

/// `[merge]`: the policy table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MergePolicy {
    /// Connection weights.
    pub weight: Rule,
    /// Salience and its stamp, one unit.
    pub salience: Rule,
    /// Activation counts.
    pub activation_count: Rule,
    /// `last_activated`.
    pub last_activated: Rule,
    /// Concepts.
    pub concept: Rule,
    /// Types.
    #[serde(rename = "type")]
    pub kind: Rule,
}

impl Default for MergePolicy {
    fn default() -> Self {
        Self {
            weight: Rule::Sum,
            salience: Rule::Sum,
            activation_count: Rule::Sum,
            last_activated: Rule::Max,
            concept: Rule::Priority,
            kind: Rule::Priority,
        }
    }
}

impl MergePolicy {
    /// The rules by which a night meets its own day: what a person would have to look at, nobody changed twice, and the default rule adds it up.
    pub fn of_a_night(&self) -> Self {
        let (own, default) = (self.clone(), Self::default());
        let rule = |own, default| if own == Rule::Review { default } else { own };
        Self {
            weight: rule(own.weight, default.weight),
            salience: rule(own.salience, default.salience),
            activation_count: rule(own.activation_count, default.activation_count),
            last_activated: rule(own.last_activated, default.last_activated),
            concept: rule(own.concept, default.concept),
            kind: rule(own.kind, default.kind),
        }
    }
}

/// `[context]`: what an agent sees of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// Tokens of network per run.
    pub tokens: u32,
}

impl Default for Context {
    fn default() -> Self {
        Self { tokens: 5000 }
    }
}

/// `[cycle]`: bounds of the cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cycle {
    /// Causal distance from a stimulus beyond which no agent is woken, at most 3.
    pub max_depth: u32,
    /// Most runs that one stimulus may cause, at most 50.
    pub runs_per_stimulus: u32,
    /// Agents that run side by side.
    pub parallel: usize,
}

impl Default for Cycle {
    fn default() -> Self {
        use crate::limits;
        Self {
            max_depth: limits::SPAWN_DEPTH,
            runs_per_stimulus: limits::RUNS_PER_STIMULUS,
            parallel: limits::PARALLEL_RUNS,
        }
    }
}

/// `[inhibition]`: what brakes the cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inhibition {
    /// Branching ratio above which a round counts as growth: runs that runs caused, over the runs of the round before.
    pub ratio: f64,
    /// Rounds of growth in a row that put the brake on; 0: never.
    pub cycles: u32,
}

impl Default for Inhibition {
    fn default() -> Self {
        Self { ratio: 1.0, cycles: 3 }
    }
}

/// `[secrets]`: what no object of the repository may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// Kinds of secrets, or patterns, that are let through. In `brain.toml`: inert until trusted.
    pub allow: Vec<String>,
    /// Names of environment variables whose values are secrets, beside those that models and agents name.
    pub environment: Vec<String>,
}

/// Why settings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SettingsError {
    /// The file, or the setting that was given.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

/// One setting from a flag, the environment or the git config: where it came from, its dotted key, its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Where it was given, for errors.
    pub place: String,
    /// Dotted key; `-` and `_` are alike, case does not matter.
    pub key: String,
    /// The value as text.
    pub value: String,
}

impl Override {
    /// The key as `brain.toml` writes it.
    pub fn plain_key(&self) -> String {
        self.key.to_lowercase().replace('-', "_")
    }
}

impl Settings {
    /// Reads `brain.toml` and lays `overrides` over it, the last one strongest. Every value is checked.
    pub fn read(text: &str, overrides: &[Override]) -> Result<Self, SettingsError> {
        let place = "brain.toml";
        let fail = |place: &str, message: String| SettingsError { place: place.to_owned(), message };
        // Read once without overrides, so that an error names the file and line.
        let plain: Settings = toml::from_str(text).map_err(|e| fail(place, e.to_string().trim().to_owned()))?;
        plain.check().map_err(|m| fail(place, m))?;
        if overrides.is_empty() {
            return Ok(plain);
        }
        let mut table: toml::Table = toml::from_str(text).map_err(|e| fail(place, e.to_string()))?;
        let mut settings = plain;
        for over in overrides {
            set(&mut table, over).map_err(|m| fail(&over.place, m))?;
            let next: Settings =
                table.clone().try_into().map_err(|e: toml::de::Error| fail(&over.place, e.message().to_owned()))?;
            next.check().map_err(|m| fail(&over.place, m))?;
            settings = next;
        }
        Ok(settings)
    }

    fn check(&self) -> Result<(), String> {
        let unit = |name: &str, x: f64| {
            if (0.0..=1.0).contains(&x) { Ok(()) } else { Err(format!("{name} = {x} is not between 0 and 1")) }
        };
        let a = &self.activation;
        unit("activation.decay", a.decay)?;
        unit("activation.theta", a.theta)?;
        unit("activation.min", a.min)?;
        unit("sleep.downscale", self.sleep.downscale)?;
        unit("learning.eligibility", self.learning.eligibility)?;
        unit("learning.discount", self.learning.discount)?;
        unit("learning.kept", self.learning.kept)?;
        unit("learning.goals", self.learning.goals)?;
        if self.learning.history > crate::limits::LEDGER_ENTRIES {
            return Err(format!("learning.history is at most {}", crate::limits::LEDGER_ENTRIES));
        }
        for (name, x) in [
            ("activation.kappa", a.kappa),
            ("activation.fan", a.fan),
            ("recall.fan", self.recall.fan),
            ("recall.salience_exponent", self.recall.salience_exponent),
            ("learning.exploration", self.learning.exploration),
            ("learning.mood_width", self.learning.mood_width),
            ("learning.patience", self.learning.patience),
            ("learning.salience_boost", self.learning.salience_boost),
            ("sleep.idle_load", self.sleep.idle_load),
        ] {
            if !(0.0..=16.0).contains(&x) {
                return Err(format!("{name} = {x} is not between 0 and 16"));
            }
        }
        if a.min <= 0.0 {
            return Err("activation.min must be above 0, or propagation never ends".to_owned());
        }
        if a.max_depth > 64 || a.passes > 64 || a.write_back as usize > crate::limits::WRITE_BACK {
            return Err("activation.max_depth, activation.passes and activation.write_back are at most 64".to_owned());
        }
        let (wait, longest) = (self.recall.embeddings_timeout_ms, crate::limits::EMBEDDINGS_TIMEOUT_MAX_MS);
        if wait == 0 || wait > longest {
            return Err(format!("recall.embeddings_timeout_ms = {wait} is not between 1 and {longest}"));
        }
        for (name, model) in &self.models {
            model.check().map_err(|(field, message)| format!("models.{name}.{field} {message}"))?;
        }
        self.serotonin.check()?;
        self.deliberation.check().map_err(|(field, message)| format!("deliberation.{field}: {message}"))?;
        let c = &self.cycle;
        let (depth, runs) = (crate::limits::SPAWN_DEPTH, crate::limits::RUNS_PER_STIMULUS);
        if c.max_depth > depth || c.runs_per_stimulus > runs {
            return Err(format!("cycle.max_depth is at most {depth}, cycle.runs_per_stimulus at most {runs}"));
        }
        if c.parallel == 0 || c.parallel > 256 {
            return Err("cycle.parallel is not between 1 and 256".to_owned());
        }
        self.origins.check()?;
        self.chain.check()?;
        self.review.check()?;
        self.forge.check()?;
        self.integrity.check()?;
        self.inhibition.check()
    }
}

impl Inhibition {
    fn check(&self) -> Result<(), String> {
        let ratio = self.ratio;
        if (0.0..=1000.0).contains(&ratio) {
            return Ok(());
        }
        Err(format!("inhibition.ratio = {ratio} is not between 0 and 1000"))
    }
}

impl Serotonin {
    fn check(&self) -> Result<(), String> {
        let Self { smoothing, bias, alarm, .. } = *self;
        for (good, message) in [
            (smoothing > 0.0 && smoothing <= 1.0, format!("smoothing = {smoothing} is not above 0 and at most 1")),
            ((0.0..=0.1).contains(&bias), format!("bias = {bias} is not between 0 and 0.1")),
            ((0.0..=1.0).contains(&alarm), format!("alarm = {alarm} is not between 0 and 1")),
        ] {
            if !good {
                return Err(format!("serotonin.{message}"));
            }
        }
        let most = crate::limits::CONFIDENCE_MEMORY;
        if self.memory == 0 || self.memory > most {
            return Err(format!("serotonin.memory = {} is not between 1 and {most}", self.memory));
        }
        Ok(())
    }
}

/// Sets one dotted key in a table, creating tables on the way.
fn set(table: &mut toml::Table, over: &Override) -> Result<(), String> {
    let key = over.plain_key();
    let parts: Vec<&str> = key.split('.').collect();
    if parts.len() < 2 || parts.iter().any(|p| p.is_empty()) {
        return Err(format!("{:?} is not a setting such as activation.max_depth", over.key));
    }
    let (last, sections) = parts.split_last().expect("invariant: at least two parts");
    let mut here = table;
    for section in sections {
        let entry = here.entry((*section).to_owned()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        here = entry.as_table_mut().ok_or_else(|| format!("{section} is not a section"))?;
    }
    let parsed = toml::from_str::<toml::Table>(&format!("v = {}", over.value)).ok();
    let value = parsed.and_then(|mut t| t.remove("v")).unwrap_or(toml::Value::String(over.value.clone()));
    // `-c activation.min=1` means 1.0.
    let value = match (here.get(*last), value) {
        (Some(toml::Value::Float(_)), toml::Value::Integer(i)) => toml::Value::Float(i as f64),
        (_, value) => value,
    };
    here.insert((*last).to_owned(), value);
    Ok(())
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
