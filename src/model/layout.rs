//! Where things lie in a brain's tree. Every path of the product is made or read here.

use std::cmp::Ordering;

use super::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, StimulusId, hex_hash};
use super::{Acknowledgement, Format, Stamp};

/// The network's folder: all that runs may touch.
pub const NETWORK: &str = "network";
/// Format version, bootstrap state.
pub const METADATA: &str = "network/metadata.json";
/// The folder of neurons.
pub const NEURONS: &str = "network/neurons";
/// The folder of stimuli.
pub const STIMULI: &str = "network/stimuli";
/// What is not consumed yet.
pub const QUEUE: &str = "network/stimuli/queue";
/// The folder of signals.
pub const SIGNALS: &str = "network/signals";
/// The folder of run records.
pub const RUNS: &str = "network/runs";
/// The folder of flags.
pub const FLAGS: &str = "network/flags";
/// The folder of goals.
pub const GOALS: &str = "network/goals";
/// The folder of sleep records.
pub const SLEEPS: &str = "network/sleep";
/// The folder of the ledger: predictions against outcomes.
pub const LEDGER: &str = "network/ledger";
/// The folder of the cycles of deliberations.
pub const DELIBERATIONS: &str = "network/deliberations";
/// The folder of wisdom.
pub const WISDOM: &str = "network/wisdom";
/// The folder of sealed memories.
pub const SEALED: &str = "network/sealed";
/// The folder of escalations.
pub const ESCALATIONS: &str = "network/escalations";
/// The folder of the narrative.
pub const NARRATIVE: &str = "network/narrative";
/// The folder of agent definitions.
pub const AGENTS: &str = "agents";
/// Parameters and policies.
pub const SETTINGS: &str = "brain.toml";

/// `network/neurons/ab/c/<id>.json`; `abc` are the first hex digits of SHA-256 of the id.
pub fn neuron(id: &NeuronId) -> String {
    let hash = hex_hash(id.as_str().as_bytes(), 3);
    format!("{NEURONS}/{}/{}/{id}.json", &hash[..2], &hash[2..])
}

/// `network/stimuli/<yyyy>/<mm>/ab/<id>.json`, by the stimulus' own date.
pub fn stimulus(id: &StimulusId, at: Stamp) -> String {
    let (year, month, _) = at.date();
    stimulus_of_month(id, &format!("{year:04}"), &format!("{month:02}"))
}

/// [`stimulus`] in the folder of that year and month.
pub fn stimulus_of_month(id: &StimulusId, year: &str, month: &str) -> String {
    format!("{STIMULI}/{year}/{month}/{}/{id}.json", shard(id.as_str()))
}

/// `network/stimuli/queue/ab/<id>`, fanned out so that a long queue costs no more than a short one.
pub fn queue_entry(id: &StimulusId) -> String {
    format!("{QUEUE}/{}/{id}", shard(id.as_str()))
}

/// What the queue entry of the stimulus at `path` holds: where it is. In format 2 that is the month, which is all that the entry's
/// own name does not say, so that most entries are one file to git.
pub fn queued(path: &str, format: Format) -> Vec<u8> {
    let month = path.strip_prefix(STIMULI).and_then(|rest| rest.get(1..8));
    match (format, month) {
        (Format::Two, Some(month)) => format!("{month}\n"),
        _ => format!("{path}\n"),
    }
    .into_bytes()
}

/// The path of the stimulus that a queue entry names, of any format; `None`: it names no place of its stimulus.
pub fn queued_path(id: &StimulusId, entry: &[u8]) -> Option<String> {
    let named = std::str::from_utf8(entry).ok()?.trim();
    let path = match named.split_once('/') {
        Some((year, month)) if !month.contains('/') => stimulus_of_month(id, year, month),
        _ => named.to_owned(),
    };
    matches!(Place::of(&path), Place::Stimulus(ref found) if found == id).then_some(path)
}

/// `network/signals/<to>/ab/<id>.json`.
pub fn signal(to: &AgentName, id: &SignalId) -> String {
    format!("{SIGNALS}/{to}/{}/{id}.json", shard(id.as_str()))
}

/// `network/signals/<to>/ab/<id>.ack.json`.
pub fn acknowledgement(to: &AgentName, id: &SignalId) -> String {
    format!("{SIGNALS}/{to}/{}/{id}.ack.json", shard(id.as_str()))
}

/// `network/runs/<yyyy>/<mm>/<dd>/ab/<run>.json`, by the run id's date.
pub fn run(id: &RunId) -> String {
    dated(RUNS, id, ".json")
}

/// `network/runs/…/<run>.conflicts.json`: what the policy could not decide when the run was first merged.
pub fn conflicts(id: &RunId) -> String {
    dated(RUNS, id, ".conflicts.json")
}

/// `network/ledger/<yyyy>/<mm>/<dd>/ab/<run>.json`: what the corrective run `id` judged.
pub fn ledger(id: &RunId) -> String {
    dated(LEDGER, id, ".json")
}

/// `network/deliberations/<yyyy>/<mm>/<dd>/ab/<run>.json`: the cycle of a deliberation that the run `id` entered.
pub fn deliberation(id: &RunId) -> String {
    dated(DELIBERATIONS, id, ".json")
}

/// `network/wisdom/<yyyy>/<mm>/<dd>/ab/<run>.json`: what the run `id` taught and forgot.
pub fn wisdom(id: &RunId) -> String {
    dated(WISDOM, id, ".json")
}

/// `network/sealed/<yyyy>/<mm>/<dd>/ab/<run>.json`: the sealed memories that the run `id` entered.
pub fn sealed(id: &RunId) -> String {
    dated(SEALED, id, ".json")
}

/// `network/narrative/<yyyy>/<mm>/<dd>/ab/<run>.json`: the chapter that was told in the sleep `id`.
pub fn chapter(id: &RunId) -> String {
    dated(NARRATIVE, id, ".json")
}

/// `network/sleep/<yyyy>/<mm>/<dd>/ab/<run>.json`: what the sleep `id` learnt and consolidated.
pub fn sleep(id: &RunId) -> String {
    dated(SLEEPS, id, ".json")
}

/// `network/sleep/…/<run>.<part>.json`: a further file of a long record, from 2.
pub fn sleep_part(id: &RunId, part: usize) -> String {
    dated(SLEEPS, id, &format!(".{part}.json"))
}

fn dated(folder: &str, id: &RunId, suffix: &str) -> String {
    let text = id.as_str();
    let shard = shard(text);
    format!("{folder}/{}/{}/{}/{shard}/{text}{suffix}", &text[..4], &text[4..6], &text[6..8])
}

/// `network/flags/<name>.json`.
pub fn flag(name: &AgentName) -> String {
    format!("{FLAGS}/{name}.json")
}

/// `network/goals/<id>.json`.
pub fn goal(id: &GoalId) -> String {
    format!("{GOALS}/{id}.json")
}

/// `agents/<name>.json`.
pub fn agent(name: &AgentName) -> String {
    format!("{AGENTS}/{name}.json")
}

/// `agents/<name>.prompt.md`.
pub fn prompt(name: &AgentName) -> String {
    format!("{AGENTS}/{name}.prompt.md")
}

fn shard(id: &str) -> String {
    hex_hash(id.as_bytes(), 2)
}

/// What a path of the tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `network/metadata.json`.
    Metadata,
    /// A neuron.
    Neuron(NeuronId),
    /// A stimulus.
    Stimulus(StimulusId),
    /// A queue entry.
    Queue(StimulusId),
    /// A signal to an agent.
    Signal(AgentName, SignalId),
    /// An acknowledgement by an agent.
    Acknowledgement(AgentName, SignalId),
    /// A run's record.
    Run(RunId),
    /// A file beside a run's record, immutable as well.
    RunNote(RunId),
    /// A flag.
    Flag(AgentName),
    /// A goal: one small file, rewritten by later runs.
    Goal,
    /// What a corrective run judged.
    Ledger(RunId),
    /// A cycle of a deliberation.
    Deliberation(RunId),
    /// What a run taught and forgot.
    Wisdom(RunId),
    /// The sealed memories that a run entered.
    Sealed(RunId),
    /// A chapter of the narrative.
    Chapter(RunId),
    /// The record of a sleep.
    Sleep(RunId),
    /// Another immutable event (an escalation).
    Event,
    /// An agent's definition.
    Agent(AgentName),
    /// The template of an agent's prompt.
    Prompt(AgentName),
    /// `brain.toml`.
    Settings,
    /// Outside the network: people's files.
    Other,
    /// Inside `network/`, at a place where nothing belongs.
    Misplaced,
}

impl Place {
    /// The name of many such files, for counting them.
    pub fn plural(&self) -> &'static str {
        match self {
            Self::Neuron(_) => "neurons",
            Self::Stimulus(_) => "stimuli",
            Self::Queue(_) => "queue",
            Self::Signal(..) => "signals",
            Self::Acknowledgement(..) => "answers",
            Self::Run(_) => "runs",
            Self::RunNote(_) => "conflicts",
            Self::Flag(_) => "flags",
            Self::Goal => "goals",
            Self::Ledger(_) => "ledger entries",
            Self::Deliberation(_) => "deliberations",
            Self::Wisdom(_) => "wisdom",
            Self::Sealed(_) => "sealed",
            Self::Chapter(_) => "chapters",
            Self::Sleep(_) => "sleeps",
            Self::Event => "events",
            Self::Metadata => "metadata",
            Self::Agent(_) | Self::Prompt(_) => "agents",
            Self::Settings => "settings",
            Self::Other => "other files",
            Self::Misplaced => "misplaced files",
        }
    }

    /// Recognises a path. A path that is nearly right (wrong shard, wrong date) is [`Place::Misplaced`].
    pub fn of(path: &str) -> Place {
        if path == SETTINGS {
            return Place::Settings;
        }
        if let Some(rest) = path.strip_prefix("agents/") {
            let named = |suffix: &str| rest.strip_suffix(suffix).and_then(|n| AgentName::parse(n).ok());
            let prompt = || named(".prompt.md").map(Place::Prompt);
            return named(".json").map(Place::Agent).or_else(prompt).unwrap_or(Place::Other);
        }
        if path == METADATA {
            return Place::Metadata;
        }
        match path.strip_prefix("network/") {
            None => Place::Other,
            Some(rest) => in_network(rest, path).unwrap_or(Place::Misplaced),
        }
    }

    /// True for files that are written once and never changed or removed by a run.
    pub fn is_immutable(&self) -> bool {
        matches!(
            self,
            Place::Stimulus(_)
                | Place::Signal(..)
                | Place::Acknowledgement(..)
                | Place::Run(_)
                | Place::RunNote(_)
                | Place::Ledger(_)
                | Place::Deliberation(_)
                | Place::Wisdom(_)
                | Place::Sealed(_)
                | Place::Chapter(_)
                | Place::Sleep(_)
                | Place::Event
        )
    }

    /// True for files that are written once by each machine that gets there first, and that two can write differently: the same text fed
    /// twice, a signal answered twice. The lesser content stands, wherever the two meet.
    pub fn lesser_stands(&self) -> bool {
        matches!(self, Place::Stimulus(_) | Place::Acknowledgement(..))
    }

    /// Of two contents of such a file, the order: an answer before one that stands in for an answer of a run that stayed out.
    pub fn order(&self, one: &[u8], other: &[u8]) -> Ordering {
        (self.is_stand_in(one), one).cmp(&(self.is_stand_in(other), other))
    }

    /// Whether an answer comes in the place of one that stands in for it: what is written once is not changed by that.
    pub fn is_answered(&self, before: &[u8], after: &[u8]) -> bool {
        self.is_stand_in(before) && !self.is_stand_in(after)
    }

    fn is_stand_in(&self, bytes: &[u8]) -> bool {
        matches!(self, Place::Acknowledgement(..))
            && serde_json::from_slice::<Acknowledgement>(bytes).is_ok_and(|answer| answer.is_stand_in())
    }
}

fn in_network(rest: &str, path: &str) -> Option<Place> {
    let (folder, below) = rest.split_once('/')?;
    let name = below.rsplit('/').next()?;
    match folder {
        "neurons" => {
            let id = NeuronId::parse(name.strip_suffix(".json")?).ok()?;
            (neuron(&id) == path).then_some(Place::Neuron(id))
        }
        "stimuli" => in_stimuli(below, name, path),
        "signals" => {
            let to = AgentName::parse(below.split('/').next()?).ok()?;
            let stem = name.strip_suffix(".json")?;
            if let Some(stem) = stem.strip_suffix(".ack") {
                let id = SignalId::parse(stem).ok()?;
                return (acknowledgement(&to, &id) == path).then_some(Place::Acknowledgement(to, id));
            }
            let id = SignalId::parse(stem).ok()?;
            (signal(&to, &id) == path).then_some(Place::Signal(to, id))
        }
        "runs" => {
            let stem = name.strip_suffix(".json")?;
            let id = RunId::parse(stem.split('.').next()?).ok()?;
            if run(&id) == path {
                return Some(Place::Run(id));
            }
            (conflicts(&id) == path).then_some(Place::RunNote(id))
        }
        "flags" => {
            let flag_name = AgentName::parse(name.strip_suffix(".json")?).ok()?;
            (flag(&flag_name) == path).then_some(Place::Flag(flag_name))
        }
        "goals" => {
            let id = GoalId::parse(name.strip_suffix(".json")?).ok()?;
            (goal(&id) == path).then_some(Place::Goal)
        }
        "ledger" | "deliberations" | "wisdom" | "sealed" | "narrative" | "sleep" => {
            let stem = name.strip_suffix(".json")?;
            let (stem, part) = stem.split_once('.').map_or((stem, None), |(stem, part)| (stem, Some(part)));
            let id = RunId::parse(stem).ok()?;
            let place = match part {
                None if ledger(&id) == path => Place::Ledger,
                None if deliberation(&id) == path => Place::Deliberation,
                None if wisdom(&id) == path => Place::Wisdom,
                None if sealed(&id) == path => Place::Sealed,
                None if chapter(&id) == path => Place::Chapter,
                None if sleep(&id) == path => Place::Sleep,
                Some(part) if sleep_part(&id, part.parse().ok().filter(|n| *n > 1)?) == path => Place::Sleep,
                _ => return None,
            };
            Some(place(id))
        }
        "escalations" => name.ends_with(".json").then_some(Place::Event),
        _ => None,
    }
}

fn in_stimuli(below: &str, name: &str, path: &str) -> Option<Place> {
    if below.starts_with("queue/") {
        let id = StimulusId::parse(name).ok()?;
        return (queue_entry(&id) == path).then_some(Place::Queue(id));
    }
    let id = StimulusId::parse(name.strip_suffix(".json")?).ok()?;
    let parts: Vec<&str> = below.split('/').collect();
    let dated = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    let shaped = parts.len() == 4 && dated(parts[0], 4) && dated(parts[1], 2) && parts[2] == shard(id.as_str());
    shaped.then_some(Place::Stimulus(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_made_path_is_recognised() {
        let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let run_id = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let memory = AgentName::parse("memory").unwrap();
        let (n, s, g) =
            (NeuronId::parse("tea-1f3c").unwrap(), StimulusId::parse("s1").unwrap(), SignalId::parse("g1").unwrap());
        let cases = [
            (neuron(&n), Place::Neuron(n.clone())),
            (stimulus(&s, at), Place::Stimulus(s.clone())),
            (queue_entry(&s), Place::Queue(s.clone())),
            (signal(&memory, &g), Place::Signal(memory.clone(), g.clone())),
            (acknowledgement(&memory, &g), Place::Acknowledgement(memory.clone(), g.clone())),
            (run(&run_id), Place::Run(run_id.clone())),
            (conflicts(&run_id), Place::RunNote(run_id.clone())),
            (ledger(&run_id), Place::Ledger(run_id.clone())),
            (deliberation(&run_id), Place::Deliberation(run_id.clone())),
            (wisdom(&run_id), Place::Wisdom(run_id.clone())),
            (sealed(&run_id), Place::Sealed(run_id.clone())),
            (chapter(&run_id), Place::Chapter(run_id.clone())),
            (sleep(&run_id), Place::Sleep(run_id.clone())),
            (sleep_part(&run_id, 2), Place::Sleep(run_id.clone())),
            (flag(&memory), Place::Flag(memory.clone())),
            (goal(&GoalId::parse("g-1").unwrap()), Place::Goal),
            (agent(&memory), Place::Agent(memory.clone())),
            (prompt(&memory), Place::Prompt(memory.clone())),
            (METADATA.to_owned(), Place::Metadata),
            (SETTINGS.to_owned(), Place::Settings),
        ];
        for (path, place) in cases {
            assert_eq!(Place::of(&path), place, "{path}");
        }
    }

    #[test]
    fn what_is_nearly_right_is_misplaced() {
        for path in [
            "network/neurons/tea-1f3c.json",
            "network/neurons/00/0/tea-1f3c.json",
            "network/neurons/../brain.toml",
            "network/runs/2026/01/26/00/20260127t143200123z-abcd2345-memory.json",
            "network/stimuli/queue/s1",
            "network/new/x.json",
            "network/goals/deep/g-1.json",
            "network/x",
        ] {
            assert_eq!(Place::of(path), Place::Misplaced, "{path}");
        }
        assert_eq!(Place::of("README.md"), Place::Other);
        assert_eq!(Place::of("agents/Bad Name.json"), Place::Other);
    }
}
