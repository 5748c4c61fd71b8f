//! Stage 2, wake: from what happened since each agent last looked to the runs that are due.
//!
//! What an agent has seen is in git: the commit that its newest merged run started from. The marker in the private
//! folder only says from where on to look; without it everything is looked at once. So a killed process wakes nobody
//! twice for the same cause and forgets none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::inhibition::Waiting;
use super::network::{self, TreeNetwork, latest};
use super::policy::EVALUATOR;
use super::{Cycle, CycleError};
use crate::cognition::reflex::{self, perception::Load};
use crate::delta::RunRecord;
use crate::limits;
use crate::model::document::{Condition, Rule, State};
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::{Flag, Metadata, Origin, Signal, Stamp, Stimulus, json};
use crate::store::{CommitId, FileChange, TreeId};
use crate::trigger::{self, Happened, Woken};

/// Signals that lie within so many seconds share a run: activation fades by a hundredth an hour.
const SAME_CLOCK: u64 = 3600;

/// A run that is due.
#[derive(Clone, Debug)]
pub struct Job {
    /// The agent.
    pub agent: AgentName,
    /// What woke it, in words.
    pub reason: String,
    /// Stimuli to consume.
    pub stimuli: Vec<Stimulus>,
    /// Signals to answer.
    pub signals: Vec<Signal>,
    /// Neurons whose activation woke it.
    pub active: Vec<NeuronId>,
    /// The stimuli that it descends from, its own included.
    pub roots: Vec<StimulusId>,
    /// Causal distance from a stimulus.
    pub depth: u32,
    /// The run's clock.
    pub clock: Stamp,
    /// Where what woke it comes from: its stimuli, and those of the runs that sent its signals, set its flags or changed
    /// its neurons last, and of those neurons.
    pub origin: Origin,
}

/// Stimuli that are not due: tried and failed in this process (the next command tries again), or consumed by a run that
/// waits on its branch.
pub type Failed = HashSet<StimulusId>;

impl Cycle {
    /// The runs that are due at wake's tip.
    ///
    /// With `evening`, agents that wait for sleep to be due are asked as well: once in a command, because it stays due until the
    /// brain sleeps.
    pub fn due(
        &self,
        tip: CommitId,
        seen: Option<CommitId>,
        failed: &Failed,
        evening: bool,
    ) -> Result<Vec<Job>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let network = TreeNetwork::remembering(&self.store, tree, &self.shared.neurons);
        let looked = self.looked_until(tip, seen)?;
        let queue = self.queue(&network, tree, failed)?;
        let bootstrap_incomplete = !self.metadata(tree)?.bootstrap_complete;
        let consolidation_due = evening && self.waits_for_sleep() && self.sleep_due(false)?.is_some();
        let held = self.held_back();
        let mut windows: HashMap<Option<CommitId>, Window> = HashMap::new();
        let mut jobs = Vec::new();
        for member in self.shared.policy.agents.values().filter(|m| m.trusted) {
            let from = looked.get(&member.agent.name).copied().or(seen);
            let mut window = match windows.remove(&from) {
                Some(window) => window,
                None => self.window(from, tip, tree)?,
            };
            window.happened.queue_not_empty = !queue.is_empty();
            window.happened.bootstrap_incomplete = bootstrap_incomplete;
            window.happened.consolidation_due = consolidation_due;
            let woken = trigger::wakes(&member.agent, &window.happened);
            if let Some(woken) = self.with_held(woken, &member.agent.name, held.get(&member.agent.name), tree)? {
                let due = Due { cycle: self, network: &network, window: &window, queue: &queue };
                jobs.extend(due.jobs(&member.agent.name, &woken)?);
            }
            windows.insert(from, window);
        }
        Ok(jobs)
    }

    /// True if an agent wakes when sleep is due.
    fn waits_for_sleep(&self) -> bool {
        let asks = |c: &Condition| *c == Condition::State(State::ConsolidationDue);
        self.shared.policy.agents.values().any(|m| m.trusted && m.agent.trigger.any.iter().any(asks))
    }

    /// Adds to what woke an agent what was held back of it and has not been answered since.
    fn with_held(
        &self,
        woken: Option<Woken>,
        agent: &AgentName,
        held: Option<&Waiting>,
        tree: TreeId,
    ) -> Result<Option<Woken>, CycleError> {
        let Some(held) = held else { return Ok(woken) };
        let is_new = woken.is_none();
        let mut woken = woken.unwrap_or_else(|| Woken { reason: held.reason.clone(), ..Woken::default() });
        for id in &held.signals {
            let path = layout::signal(agent, id);
            let answered = self.store.file(tree, &layout::acknowledgement(agent, id))?.is_some();
            let known = woken.signals.iter().any(|signal| signal.id == *id);
            if let (false, Some(bytes)) = (answered || known, self.store.read(tree, &path)?) {
                let signal = json::strict(&bytes, &path, limits::DOCUMENT_BYTES).map_err(Into::into);
                woken.signals.extend(self.readable(signal)?);
            }
        }
        woken.active.extend(held.active.iter().cloned());
        woken.active.sort();
        woken.active.dedup();
        let nothing = is_new && woken.signals.is_empty() && woken.active.is_empty();
        Ok((!nothing).then_some(woken))
    }

    /// One run of an agent by hand: it sees the whole queue and every unanswered signal to it.
    pub fn by_hand(&self, tip: CommitId, agent: &AgentName) -> Result<Vec<Job>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let network = TreeNetwork::remembering(&self.store, tree, &self.shared.neurons);
        let queue = self.queue(&network, tree, &Failed::new())?;
        let mut window = self.window(None, tip, tree)?;
        window.happened.neurons.clear();
        let signals = window.happened.signals.iter().filter(|s| s.to == *agent).cloned().collect();
        let woken = Woken { reason: "by hand".to_owned(), active: Vec::new(), signals };
        let due = Due { cycle: self, network: &network, window: &window, queue: &queue };
        due.jobs(agent, &woken)
    }

    /// Per agent, the commit up to which its newest merged run since `seen` (`None`: ever) had looked.
    fn looked_until(&self, tip: CommitId, seen: Option<CommitId>) -> Result<BTreeMap<AgentName, CommitId>, CycleError> {
        let mut found: BTreeMap<AgentName, CommitId> = BTreeMap::new();
        let mut inside = HashSet::from([tip]);
        let mut bases = Vec::new();
        // Without a marker all of history is asked, once.
        for commit in self.store.first_parents(tip, seen).take(limits::HISTORY_WALK) {
            let commit = commit?;
            inside.insert(commit.id);
            let agent = commit.trailer("Agent").and_then(|a| AgentName::parse(a).ok());
            if let (Some(agent), Some(run)) = (agent, commit.parents.get(1)) {
                bases.push((agent, *run));
            }
        }
        for (agent, run) in bases {
            let base = self.store.commit(run)?.parents.first().copied();
            if let (Some(base), false) = (base.filter(|b| inside.contains(b)), found.contains_key(&agent)) {
                found.insert(agent, base);
            }
        }
        Ok(found)
    }

    /// Stimuli that wait, oldest first. Each is read once, however many rounds it waits.
    fn queue(
        &self,
        network: &TreeNetwork<'_>,
        tree: TreeId,
        failed: &Failed,
    ) -> Result<Vec<Arc<Stimulus>>, CycleError> {
        let mut known = self.waiting.take();
        let mut waiting = Vec::new();
        for (path, file) in self.store.files(tree, layout::QUEUE)? {
            let Place::Queue(id) = Place::of(&path) else { continue };
            let found = match known.remove(&id) {
                Some(found) => Some(found),
                None => {
                    let pointer = self.store.content(file.blob)?;
                    self.readable(network.queued(&id, &pointer))?.flatten().map(Arc::new)
                }
            };
            waiting.extend(found);
        }
        self.waiting.replace(waiting.iter().map(|s| (s.id.clone(), Arc::clone(s))).collect());
        waiting.retain(|s| !failed.contains(&s.id));
        waiting.sort_by(|a, b| (a.at, a.order, &a.id).cmp(&(b.at, b.order, &b.id)));
        self.hold_to_influence(tree, &mut waiting)?;
        Ok(waiting)
    }

    /// `network/metadata.json`.
    pub fn metadata(&self, tree: TreeId) -> Result<Metadata, CycleError> {
        network::metadata_of(&self.store, tree)
    }

    /// What happened between two commits of wake; `None`: since ever.
    fn window(&self, from: Option<CommitId>, tip: CommitId, tree: TreeId) -> Result<Window, CycleError> {
        let old = from.map(|c| self.store.tree_of(c)).transpose()?;
        let mut window = Window::default();
        if from == Some(tip) {
            window.happened.clock = self.shared.world.now();
            return Ok(window);
        }
        for change in self.store.diff(old, Some(tree), layout::NETWORK)? {
            let happened = self.happened(&mut window, tree, &change);
            self.readable(happened)?;
        }
        let stamps = window.runs.values().map(|cause| cause.at);
        window.happened.clock = latest(stamps, self.shared.world.now());
        Ok(window)
    }

    fn happened(&self, window: &mut Window, tree: TreeId, change: &FileChange) -> Result<(), CycleError> {
        let Some(new) = change.new else { return Ok(()) };
        let read = || self.store.blob(new.blob);
        match Place::of(&change.path) {
            Place::Neuron(id) => {
                let neuron = |file| self.shared.neurons.read(&self.store, file, &change.path, &id);
                let (before, after) = (change.old.map(neuron).transpose()?, neuron(new)?);
                window.happened.neurons.push((before, after));
            }
            Place::Signal(to, id) if change.old.is_none() => {
                let answered = self.store.file(tree, &layout::acknowledgement(&to, &id))?.is_some();
                if !answered {
                    let signal: Signal = json::strict(&read()?, &change.path, limits::DOCUMENT_BYTES)?;
                    window.happened.signals.push(signal);
                }
            }
            Place::Flag(name) => {
                let flag: Flag = json::strict(&read()?, &change.path, limits::DOCUMENT_BYTES)?;
                window.happened.flags.push((name, flag));
            }
            Place::Run(run) if change.old.is_none() => {
                let known = self.causes.borrow().get(&run).cloned();
                let cause = match known {
                    Some(cause) => cause,
                    None => RunRecord::decode(&read()?, &change.path)?.into(),
                };
                window.runs.insert(run, cause);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What happened, and the runs that did it.
#[derive(Default)]
struct Window {
    happened: Happened,
    runs: BTreeMap<RunId, Cause>,
}

/// What descends from a run: of its record, what the runs after it need to know.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Its clock.
    pub at: Stamp,
    /// Its causal distance from a stimulus.
    pub depth: u32,
    /// The stimuli that it descends from.
    pub stimuli: Vec<StimulusId>,
    /// Where what it brought comes from.
    pub origin: Origin,
}

impl From<RunRecord> for Cause {
    fn from(record: RunRecord) -> Self {
        Self { at: record.at, depth: record.depth, stimuli: record.stimuli, origin: record.origin }
    }
}

/// Turning a woken agent into runs.
struct Due<'a> {
    cycle: &'a Cycle,
    network: &'a TreeNetwork<'a>,
    window: &'a Window,
    queue: &'a [Arc<Stimulus>],
}

impl Due<'_> {
    fn jobs(&self, agent: &AgentName, woken: &Woken) -> Result<Vec<Job>, CycleError> {
        let consumes = self.cycle.consumes_queue(agent);
        let parallel = self.cycle.shared.policy.settings.cycle.parallel;
        let chunks = if consumes { chunks(self.queue, parallel) } else { Vec::new() };
        if !chunks.is_empty() {
            let mut jobs: Vec<Job> = chunks.into_iter().map(|stimuli| self.on_stimuli(agent, woken, stimuli)).collect();
            if !woken.signals.is_empty() {
                jobs.extend(self.on_signals(agent, woken)?);
            }
            return Ok(jobs);
        }
        self.on_signals(agent, woken)
    }

    /// Runs for signals, as many each as they fit; at least one run, for what else woke the agent.
    fn on_signals(&self, agent: &AgentName, woken: &Woken) -> Result<Vec<Job>, CycleError> {
        let mut jobs = Vec::new();
        // One that comes from too far away would take those with it that share its run.
        let mut signals = Vec::new();
        for signal in &woken.signals {
            if self.is_near(&signal.run)? {
                signals.push(signal.clone());
            }
        }
        let mut active = Vec::new();
        for id in &woken.active {
            let run = self.network.shared(id)?.and_then(|neuron| neuron.run.clone());
            if run.map_or(Ok(true), |run| self.is_near(&run))? {
                active.push(id.clone());
            }
        }
        let causes = woken.signals.len() + woken.active.len();
        if signals.is_empty() && active.is_empty() && causes > 0 {
            tracing::debug!("{agent} is not woken: what wakes it comes from too far away from a stimulus");
            return Ok(jobs);
        }
        // A document holds one outcome.
        let few = if agent.as_str() == EVALUATOR { 1 } else { limits::SIGNALS_PER_RUN };
        let mut signal_chunks = signal_chunks(&signals, self.cycle.reflex(agent), few);
        if signal_chunks.is_empty() {
            signal_chunks.push(Vec::new());
        }
        for (index, signals) in signal_chunks.into_iter().enumerate() {
            let active = if index == 0 { std::mem::take(&mut active) } else { Vec::new() };
            jobs.extend(self.on_causes(agent, woken, signals, active)?);
        }
        Ok(jobs)
    }

    /// True if what a run caused may cause another one.
    fn is_near(&self, run: &RunId) -> Result<bool, CycleError> {
        Ok(self.depth_of(run)? < self.cycle.shared.policy.settings.cycle.max_depth)
    }

    /// A run's causal distance from a stimulus; 0 for a person's, and for one that left no record.
    fn depth_of(&self, run: &RunId) -> Result<u32, CycleError> {
        match self.window.runs.get(run) {
            Some(cause) => Ok(cause.depth),
            None => Ok(self.record(run)?.map_or(0, |record| record.depth)),
        }
    }

    /// A run's record, unless it cannot be read.
    fn record(&self, run: &RunId) -> Result<Option<RunRecord>, CycleError> {
        Ok(self.cycle.readable(self.network.record(run))?.flatten())
    }

    /// A run's clock: that of what caused it, but never further ahead of this machine than a stimulus may be. What another machine
    /// stamped years ahead would freeze all fading.
    fn clock(&self, stamps: impl Iterator<Item = Stamp>) -> Stamp {
        let now = self.cycle.shared.world.now();
        latest(stamps, now).min(Stamp::from_unix(now.unix() + limits::FUTURE_SECONDS))
    }

    fn on_stimuli(&self, agent: &AgentName, woken: &Woken, stimuli: Vec<Stimulus>) -> Job {
        Job {
            agent: agent.clone(),
            reason: woken.reason.clone(),
            signals: Vec::new(),
            active: Vec::new(),
            roots: stimuli.iter().map(|s| s.id.clone()).collect(),
            depth: 1,
            clock: self.clock(stimuli.iter().map(|s| s.at)),
            origin: all_of(stimuli.iter().map(|s| s.origin.clone())),
            stimuli,
        }
    }

    /// A run that descends from other runs: one level deeper than the deepest, unless that is too deep.
    fn on_causes(
        &self,
        agent: &AgentName,
        woken: &Woken,
        signals: Vec<Signal>,
        active: Vec<NeuronId>,
    ) -> Result<Option<Job>, CycleError> {
        let mut runs: BTreeSet<RunId> = signals.iter().map(|s| s.run.clone()).collect();
        let mut origins = Vec::new();
        for id in &active {
            if let Some(neuron) = self.cycle.readable(self.network.shared(id))?.flatten() {
                runs.extend(neuron.run.clone());
                origins.push(neuron.origin.clone());
            }
        }
        if signals.is_empty() && active.is_empty() {
            runs.extend(self.window.happened.flags.iter().filter_map(|(_, flag)| flag.run.clone()));
        }
        let mut causes = Vec::new();
        for run in &runs {
            match self.window.runs.get(run) {
                Some(cause) => causes.push(cause.clone()),
                None => {
                    let record = self.record(run)?;
                    causes.extend(record.map(Cause::from));
                }
            }
        }
        let depth = causes.iter().map(|c| c.depth).max().map_or(1, |deepest| deepest + 1);
        if depth > self.cycle.shared.policy.settings.cycle.max_depth {
            tracing::debug!("{agent} is not woken: {depth} steps from a stimulus");
            return Ok(None);
        }
        let mut roots: Vec<StimulusId> = causes.iter().flat_map(|c| c.stimuli.iter().cloned()).collect();
        roots.sort();
        roots.dedup();
        origins.extend(causes.iter().map(|c| c.origin.clone()));
        Ok(Some(Job {
            agent: agent.clone(),
            reason: woken.reason.clone(),
            origin: all_of(origins),
            stimuli: Vec::new(),
            signals,
            active,
            roots,
            depth,
            clock: self.clock(causes.iter().map(|c| c.at)),
        }))
    }
}

/// The origin of what comes from all these, and from this machine, where all runs are at home.
pub(super) fn all_of(origins: impl IntoIterator<Item = Origin>) -> Origin {
    origins.into_iter().fold(Origin::local(), |all, origin| all.and(&origin.passed_on()))
}

/// Splits an agent's signals into runs, oldest first. A reflex knows how many it can answer; what another agent does with
/// a signal is anybody's guess, and it gets few. A run has one clock, so that what was said on different days is not
/// answered together: by the later clock the earlier day would have faded.
fn signal_chunks(signals: &[Signal], rule: Option<Rule>, few: usize) -> Vec<Vec<Signal>> {
    let mut waiting = signals.to_vec();
    waiting.sort_by(|a, b| (a.created_at, &a.run, &a.id).cmp(&(b.created_at, &b.run, &b.id)));
    let mut chunks = Vec::new();
    while let Some(first) = waiting.first() {
        let start = first.created_at;
        let day = waiting.iter().take_while(|s| s.created_at.seconds_since(start) <= SAME_CLOCK).count();
        let count = rule.map_or(few, |rule| reflex::answerable(rule, &waiting[..day])).clamp(1, day);
        chunks.push(waiting.drain(..count).collect());
    }
    chunks
}

/// Splits the queue into runs that stay within the operation limit. Turns of one session stay in order: what does not
/// fit into its session's run waits for the next round, so that it sees the turns before it. Few sessions get a run each,
/// side by side; where there are more than can run at once, small ones share. Stimuli of two origins never share a run: it would
/// taint all that it brings.
fn chunks(queue: &[Arc<Stimulus>], parallel: usize) -> Vec<Vec<Stimulus>> {
    let mut origins: Vec<&Origin> = queue.iter().map(|s| &s.origin).collect();
    origins.sort_by_key(|origin| (origin.distrust(), origin.as_str()));
    origins.dedup();
    if origins.len() < 2 {
        return chunks_of_one_origin(queue, parallel);
    }
    let mut out = Vec::new();
    for origin in origins {
        let own: Vec<Arc<Stimulus>> = queue.iter().filter(|s| s.origin == *origin).cloned().collect();
        out.extend(chunks_of_one_origin(&own, parallel));
    }
    out.truncate(limits::RUNS_PER_ROUND);
    out
}

fn chunks_of_one_origin(queue: &[Arc<Stimulus>], parallel: usize) -> Vec<Vec<Stimulus>> {
    let mut groups: Vec<Vec<&Stimulus>> = Vec::new();
    let mut by_session: HashMap<&str, usize> = HashMap::new();
    for stimulus in queue {
        let Some(session) = &stimulus.session else {
            groups.push(vec![stimulus]);
            continue;
        };
        let index = *by_session.entry(session).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[index].push(stimulus);
    }
    let share = groups.len() > parallel;
    // What many runs side by side make of the same words is merged word by word, and each merge is another version of each.
    let most = if share { 1 } else { limits::RUNS_PER_ROUND };
    let mut out: Vec<(Load, Vec<Stimulus>)> = Vec::new();
    for group in groups {
        // What comes after a full round waits for the next, and need not be looked at.
        if out.len() > most {
            break;
        }
        let mut load = Load::default();
        let taken = group.into_iter().take_while(|stimulus| load.add(Load::of(stimulus)));
        let taken: Vec<Stimulus> = taken.cloned().collect();
        if share
            && let Some((sum, last)) = out.last_mut()
            && sum.add(load)
        {
            last.extend(taken);
        } else {
            out.push((load, taken));
        }
    }
    out.truncate(most);
    out.into_iter().map(|(_, chunk)| chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::SignalId;

    #[test]
    fn signals_of_one_hour_share_runs_oldest_first_as_many_as_fit() {
        let agent = |name| AgentName::parse(name).unwrap();
        let episodes: Vec<String> = (0..200).map(|n| format!("e{n}")).collect();
        let signal = |number: i64, at: i64| Signal {
            id: SignalId::parse(&format!("g{}", 99 - number)).unwrap(),
            kind: crate::model::Kind::Signal,
            from: agent("perception"),
            to: agent("memory"),
            run: RunId::new(number, 0, &agent("perception")),
            created_at: Stamp::from_unix(at),
            payload: serde_json::json!({"kind": "perceived", "episodes": episodes}),
        };
        let day = |day: i64| (0..9).map(move |n| (day * 100 + n, day * 86_400 + n));
        let signals: Vec<Signal> = day(1).chain(day(0)).map(|(number, at)| signal(number, at)).collect();
        let sizes = |rule| signal_chunks(&signals, rule, 2).iter().map(Vec::len).collect::<Vec<_>>();
        // 2,401 operations a signal, and 50 for what fell silent.
        assert_eq!(sizes(Some(Rule::Memory)), [9, 9]);
        assert_eq!(sizes(Some(Rule::Affect)), [9, 9]);
        assert_eq!(sizes(None), [2, 2, 2, 2, 1, 2, 2, 2, 2, 1]);
        let stamps: Vec<Stamp> = signal_chunks(&signals, None, 2).concat().iter().map(|s| s.created_at).collect();
        assert!(stamps.is_sorted());
    }
}
