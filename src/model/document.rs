//! The small documents of a brain beside neurons: stimuli, signals, acknowledgements, flags, metadata, and agent
//! definitions. Each is one JSON file.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::capabilities::{Capabilities, Region};
use super::code::Code;
pub use super::cognition::{Cognition, Rule};
use super::ids::{AgentName, GoalId, HUMAN, NeuronId, RunId, SignalId, StimulusId, concept_id, hash_fields};
use super::json::{self, JsonError};
use super::neuron::{Kind, check_concept, check_label};
use super::spending::{Budget, Cost};
use super::{Format, Origin, Stamp, plural};
use crate::limits;

/// One input from outside, immutable, durable before anything acts on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stimulus {
    /// The id.
    pub id: StimulusId,
    /// When it happened: the clock of the runs that it causes.
    pub at: Stamp,
    /// The text, 1 to 4096 bytes.
    pub text: String,
    /// Its label, given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it belongs to, such as a conversation or a document. Turns are linked inside one session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where it ultimately comes from.
    #[serde(default)]
    pub origin: Origin,
    /// The run whose action this answers (action feedback).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<RunId>,
    /// What that run's outcome is worth, 0..=1; absent: nobody has judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The stimuli that this replaces: a correction of theirs, or what the same place of a file says now. Their memories are archived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<StimulusId>,
    /// Its place among the stimuli of one batch, so that turns of one second keep their order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub order: u32,
    /// The checkout of code in which it was said, and the lines of it that it cites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Stimulus {
    /// The id of a stimulus that has a source: a hash of (source, origin, session, at as given, text), so that feeding it
    /// again changes nothing, and what a person says is not what somebody else said. `given_at` is `None` where the user gave no time.
    /// A turn of a session with a coding agent is known by its time and words: who resumes a session writes it again under another name.
    pub fn id_of(
        origin: &Origin,
        source: &str,
        session: Option<&str>,
        given_at: Option<Stamp>,
        text: &str,
    ) -> StimulusId {
        let is_turn = given_at.is_some() && origin.classes().all(|class| class == "hook");
        let (source, session) = if is_turn { ("", None) } else { (source, session) };
        // No label has a control character, so no source reads like an origin.
        let source = if *origin == Origin::local() { source.to_owned() } else { format!("{source}\0{origin}") };
        let at = given_at.map(|t| t.to_string()).unwrap_or_default();
        let fields = [source.as_bytes(), session.unwrap_or("").as_bytes(), at.as_bytes(), text.as_bytes()];
        let id = format!("s-{:016x}", hash_fields(&fields));
        StimulusId::parse(&id).expect("invariant: a prefix and a hash make an id")
    }

    /// The id of a stimulus without a source: one text of one origin, session and given time is known when it is fed again.
    pub fn id_unlabelled(origin: &Origin, session: Option<&str>, given_at: Option<Stamp>, text: &str) -> StimulusId {
        Self::id_of(origin, "", session, given_at, text)
    }

    /// The id of a piece of a file: a hash of the file, by which all of its pieces are found, and one of time and text.
    /// `again` tells it from one that said the same before, and is not remembered any more.
    pub fn id_in(file: FileKey, given_at: Option<Stamp>, text: &str, again: Option<u64>) -> StimulusId {
        let at = given_at.map(|t| t.to_string()).unwrap_or_default();
        let again = again.map(|bits| bits.to_be_bytes().to_vec()).unwrap_or_default();
        let id = format!("f-{file}-{:016x}", hash_fields(&[at.as_bytes(), text.as_bytes(), &again]));
        StimulusId::parse(&id).expect("invariant: a prefix and hashes make an id")
    }

    /// The label of a piece of a file: by its content, so that what is inserted above it changes nothing.
    pub fn label_in(file: &str, text: &str) -> String {
        format!("{file}#{:08x}", hash_fields(&[b"piece", text.as_bytes()]) >> 32)
    }

    /// The canonical bytes of its file.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads and checks a stimulus' file.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let stimulus: Self = json::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        stimulus.check().map_err(|(path, message)| JsonError::at(what, 1, path, message))?;
        Ok(stimulus)
    }

    /// Checks text and labels; the error names the field.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        check_concept(&self.text).map_err(|m| ("text", m))?;
        for (path, label) in [("source", &self.source), ("session", &self.session)] {
            if let Some(label) = label {
                check_label(label).map_err(|m| (path, m))?;
            }
        }
        match self.value {
            Some(value) if !(0.0..=1.0).contains(&value) => {
                return Err(("value", format!("{value} is not between 0 and 1")));
            }
            Some(_) if self.answers.is_none() => {
                return Err(("value", "is that of no run: `answers` names one".to_owned()));
            }
            _ => {}
        }
        let (count, most) = (self.supersedes.len(), limits::SUPERSEDED);
        if count > most {
            return Err(("supersedes", format!("names {count} stimuli, more than {most}")));
        }
        if self.supersedes.contains(&self.id) {
            return Err(("supersedes", "names the stimulus itself".to_owned()));
        }
        self.code.as_ref().map_or(Ok(()), Code::check).map_err(|m| ("code", m))
    }
}

/// What the stimuli of one file have in common: the file's label and session, as the beginning of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey(u64);

impl FileKey {
    /// The key of the file with that label, remembered in that session, as it comes from that origin. `owner`: whose file it is, where
    /// another person may have one of the same name; empty for those that are everybody's.
    pub fn of(label: &str, session: &str, origin: &Origin, owner: &str) -> Self {
        let fields =
            [b"file".as_slice(), label.as_bytes(), session.as_bytes(), origin.as_str().as_bytes(), owner.as_bytes()];
        Self(hash_fields(if owner.is_empty() { &fields[..4] } else { &fields[..] }))
    }

    /// Whether a file of that name lies outside of the repository, and so may be another one for each person.
    pub fn is_personal(name: &str) -> bool {
        name.starts_with("~/") || name.starts_with('/')
    }

    /// The key of the file whose piece, or a correction of it, a stimulus is.
    pub fn in_id(id: &StimulusId) -> Option<Self> {
        let rest = id.as_str().strip_prefix("f-")?;
        let (key, text) = rest.split_once('-')?;
        let hex =
            |part: &str| part.len() == 16 && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (hex(key) && hex(text)).then(|| u64::from_str_radix(key, 16).ok().map(Self)).flatten()
    }
}

impl std::fmt::Display for FileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A message from one agent to another, immutable, kept for replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The id.
    pub id: SignalId,
    /// Always `signal`, as agents read it.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The sender.
    pub from: AgentName,
    /// The receiver.
    pub to: AgentName,
    /// The run that sent it.
    pub run: RunId,
    /// The sender's clock.
    pub created_at: Stamp,
    /// Anything; `kind` inside it names the kind of signal that triggers ask for.
    pub payload: Value,
}

impl Signal {
    /// The id of the `index`-th signal of a run.
    pub fn id_of(run: &RunId, index: usize) -> SignalId {
        let id = format!("g-{:016x}", hash_fields(&[run.as_str().as_bytes(), &(index as u64).to_be_bytes()]));
        SignalId::parse(&id).expect("invariant: a prefix and a hash make an id")
    }

    /// `payload.kind`, if it is a text.
    pub fn payload_kind(&self) -> Option<&str> {
        self.payload.get("kind").and_then(Value::as_str)
    }
}

/// The answer to a signal, immutable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// The signal that is answered.
    pub signal: SignalId,
    /// The agent that answers: the signal's receiver.
    pub by: AgentName,
    /// The run that answered.
    pub run: RunId,
    /// The answering agent's clock.
    pub created_at: Stamp,
    /// Anything.
    pub payload: Value,
}

impl Acknowledgement {
    /// The payload that stands for an answer which stays out with its run.
    pub fn stands_in(run: &RunId) -> Value {
        serde_json::json!({"rejected": run})
    }

    /// Whether it says that a run stayed out, and answers nothing: a real answer takes its place.
    pub fn is_stand_in(&self) -> bool {
        self.payload == Self::stands_in(&self.run)
    }
}

/// A signal with its answer, as whoever asked is shown it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answered {
    /// The signal.
    pub signal: Signal,
    /// The answer.
    pub answer: Acknowledgement,
}

/// A switch that agents and people set and triggers read, such as `urgence`. The larger run id wins a merge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// On or off.
    pub value: bool,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// Since when.
    pub at: Stamp,
    /// The run that set it; null if a person did, whose change wins.
    #[serde(default)]
    pub run: Option<RunId>,
}

/// What the brain is after, `network/goals/<id>.json`. The larger run id wins a merge; a person's change wins over a run's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The id, also the file's name.
    pub id: GoalId,
    /// What is to be reached, 1 to 4096 bytes.
    pub text: String,
    /// Who may set it.
    pub level: GoalLevel,
    /// The neuron that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neuron: Option<NeuronId>,
    /// The goal that it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<GoalId>,
    /// How it stands.
    pub state: GoalState,
    /// Since when.
    pub at: Stamp,
    /// The run that set it; null if a person wrote it by hand.
    pub run: Option<RunId>,
}

/// Who may set a goal. A run's own prediction is the third level, and no file. Source: MagistraAI's technical note, 3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GoalLevel {
    /// A person, and nobody else: what all of it is for.
    Terminal,
    /// The network itself: what serves.
    Sub,
}

/// How a goal stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GoalState {
    /// It is to be reached.
    #[default]
    Open,
    /// It was reached.
    Reached,
    /// It was given up.
    Abandoned,
}

impl GoalState {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Reached => "reached",
            Self::Abandoned => "abandoned",
        }
    }
}

impl Goal {
    /// The id of the goal with that text, the same in whatever spelling a concept's id ignores.
    pub fn id_of(text: &str) -> GoalId {
        GoalId::parse(concept_id(text).as_str()).expect("invariant: ids have one grammar")
    }

    /// The canonical bytes of its file.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads and checks a goal's file; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let goal: Self = json::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        check_concept(&goal.text).map_err(|m| JsonError::at(what, 1, "text", m))?;
        if goal.level == GoalLevel::Terminal && !goal.is_a_persons() {
            return Err(JsonError::at(what, 1, "run", "a terminal goal is a person's, and no agent's"));
        }
        Ok(goal)
    }

    /// Whether a person set it last, by a command or by hand.
    pub fn is_a_persons(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.is_a_persons())
    }
}

/// `network/metadata.json`: nothing that changes per run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Where the schema is described.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Version of the format on disk.
    pub format: u32,
    /// True once the bootstrap agent has introduced the agents.
    pub bootstrap_complete: bool,
    /// When that was.
    pub seed_timestamp: Option<Stamp>,
    /// The run that changed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// The newest format version that this program knows.
pub const FORMAT: u32 = 2;

impl Metadata {
    /// How the brain's files are written.
    pub fn form(&self) -> Format {
        Format::of(self.format)
    }
}

/// An agent's definition, `agents/<name>.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Where the schema is described.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name, the same as the file's.
    pub name: AgentName,
    /// What it is for, in a sentence.
    pub role: String,
    /// What wakes it.
    pub trigger: Trigger,
    /// How it thinks.
    pub cognition: Cognition,
    /// What its deltas may do.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// What its runs may cost, beside what all agents may; nothing said: no bound of its own.
    #[serde(default = "unbounded")]
    pub budget: Budget,
    /// What one run costs at most: reserved before it starts.
    #[serde(default)]
    pub cost: Cost,
    /// Its rank when two runs name a neuron differently.
    #[serde(default)]
    pub priority: u32,
}

fn unbounded() -> Budget {
    Budget::UNBOUNDED
}

/// Names that no definition has: people apply deltas as the one, and nights are commits of the other.
const RESERVED: [&str; 2] = [HUMAN, "sleep"];

impl Agent {
    /// Reads a definition; `what` names it in errors. Its name must be the file's.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let agent: Self = json::strict(bytes, what, limits::DELTA_BYTES)?;
        let fail = |path: &str, message: String| {
            let key = path.rsplit('.').next().unwrap_or(path);
            JsonError::at(what, json::line_of_key(bytes, key), path, message)
        };
        if RESERVED.contains(&agent.name.as_str()) {
            return Err(fail(
                "name",
                format!("{} is no agent: runs of that name are those of people and of nights", agent.name),
            ));
        }
        agent.capabilities.check().map_err(|(path, message)| fail(&format!("capabilities.{path}"), message))?;
        if let Cognition::Command { argv, timeout_ms, reads, writes, memory_mb, .. } = &agent.cognition {
            if argv.first().is_none_or(String::is_empty) {
                return Err(fail("cognition.argv", "needs at least the program".to_owned()));
            }
            if *timeout_ms == 0 || *timeout_ms > limits::COMMAND_TIMEOUT_MAX_MS {
                let message = format!("is not between 1 and {}", limits::COMMAND_TIMEOUT_MAX_MS);
                return Err(fail("cognition.timeout_ms", message));
            }
            for (field, paths) in [("cognition.reads", reads), ("cognition.writes", writes)] {
                if paths.len() > limits::CHILD_PATHS || !paths.iter().all(|p| p.starts_with('/') || p.starts_with("~/"))
                {
                    let message = format!("lists at most {} paths that begin with / or ~/", limits::CHILD_PATHS);
                    return Err(fail(field, message));
                }
            }
            if *memory_mb == 0 || *memory_mb > limits::CHILD_MEMORY_MAX_MB {
                let message = format!("is not between 1 and {}", limits::CHILD_MEMORY_MAX_MB);
                return Err(fail("cognition.memory_mb", message));
            }
        }
        if matches!(&agent.cognition, Cognition::Llm { model, .. } if model.is_empty()) {
            return Err(fail("cognition.model", "is empty".to_owned()));
        }
        if let Cognition::Council { timeout_s, .. } = &agent.cognition
            && (*timeout_s == 0 || *timeout_s > (limits::COMMAND_TIMEOUT_MAX_MS / 1000))
        {
            let message = format!("is not between 1 and {}", (limits::COMMAND_TIMEOUT_MAX_MS / 1000));
            return Err(fail("cognition.timeout_s", message));
        }
        if let Cognition::Llm { repairs, .. } | Cognition::Chain { repairs } = &agent.cognition
            && *repairs > limits::MODEL_REPAIRS_MAX
        {
            return Err(fail("cognition.repairs", format!("is above {}", limits::MODEL_REPAIRS_MAX)));
        }
        Ok(agent)
    }
}

/// What wakes an agent: any one of the conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The conditions; none: the agent runs only by hand.
    pub any: Vec<Condition>,
}

/// One condition on the network's state. Source: MagistraAI's technical note, 5.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// A named state of the network.
    State(State),
    /// A neuron was activated and its salience is now above a bound.
    Neuron {
        /// Which neuron.
        id: NeuronId,
        /// The bound, 0..=65535.
        salience_above: u16,
        /// True: also a signal to this agent must carry a `query` in its payload.
        #[serde(default)]
        with_query: bool,
    },
    /// At least `count` neurons were activated and are above a bound.
    Active {
        /// How many.
        count: u32,
        /// The bound, 0..=65535.
        salience_above: u16,
    },
    /// An unanswered signal to this agent, of that kind (`payload.kind`), or of any kind for `"any"`.
    Signal(String),
    /// A signal of that kind that this agent sent was answered; of any kind for `"any"`.
    Ack(String),
    /// A flag is on.
    Flag(AgentName),
}

/// As the reason of a run has it.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => f.write_str(state.as_str()),
            Self::Neuron { id, salience_above, with_query } => {
                write!(f, "neuron {id} above {salience_above}{}", if *with_query { " with a query" } else { "" })
            }
            Self::Active { count, salience_above } => {
                write!(f, "{} above {salience_above}", plural(*count, "neuron", "neurons"))
            }
            Self::Signal(kind) => write!(f, "signal {kind}"),
            Self::Ack(kind) => write!(f, "ack {kind}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// The named states of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// `network/metadata.json` says that the bootstrap is not complete.
    BootstrapIncomplete,
    /// Stimuli wait in the queue.
    InputQueueNotEmpty,
    /// Sleep is due.
    ConsolidationDue,
    /// An unanswered signal of kind `action_required` to this agent.
    ActionRequired,
    /// The flag `priority_override` is on.
    PriorityOverrideDetected,
}

impl State {
    /// The name in a definition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BootstrapIncomplete => "bootstrap_incomplete",
            Self::InputQueueNotEmpty => "input_queue_not_empty",
            Self::ConsolidationDue => "consolidation_due",
            Self::ActionRequired => "action_required",
            Self::PriorityOverrideDetected => "priority_override_detected",
        }
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
