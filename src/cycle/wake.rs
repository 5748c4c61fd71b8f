//! Stage 2, wake: from what happened since each agent last looked to the runs that are due.
//!
//! What an agent has seen is in git: the commit that its newest merged run started from. The marker in the private
//! folder only says from where on to look; without it everything is looked at once. So a killed process wakes nobody
//! twice for the same cause and forgets none.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::inhibition::Waiting;
use super::job::{Job, Window};
use super::jobs::Due;
use super::network::{self, TreeNetwork, latest};
use super::{Cycle, CycleError};
use crate::delta::{Lookup, OUTCOME, RunRecord};
use crate::limits;
use crate::model::document::{Answered, Cognition, Condition};
use crate::model::ids::{AgentName, NeuronId, SignalId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::{Acknowledgement, Agent, Flag, Metadata, Neuron, Signal, Stimulus, json};
use crate::review::LESSON;
use crate::store::{CommitId, File, FileChange, TreeId};
use crate::trigger::{self, EVENING, Woken};

/// The file of the agents that could run here when triggers were evaluated last.
const LIVE: &str = "live";

/// Adds signals that a window does not have.
fn add_unknown(window: &mut Window, signals: Vec<Signal>) {
    let known: HashSet<SignalId> = window.happened.signals.iter().map(|signal| signal.id.clone()).collect();
    window.happened.signals.extend(signals.into_iter().filter(|signal| !known.contains(&signal.id)));
}

/// The flag that puts the most important agents first.
const PRIORITY_OVERRIDE: &str = "priority_override";

/// Stimuli that are not due: tried and failed in this process, so that the next command tries again, or set aside.
pub type Failed = HashSet<StimulusId>;

impl Cycle {
    /// The runs that are due at wake's tip.
    ///
    /// With `evening`, agents that wait for sleep to be due are asked as well: once in a command, because it stays due until the
    /// brain sleeps. With `is_due` it is known to be.
    pub fn due(
        &self,
        tip: CommitId,
        seen: Option<CommitId>,
        failed: &Failed,
        (evening, is_due): (bool, bool),
    ) -> Result<Vec<Job>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let network = TreeNetwork::remembering(&self.store, tree, &self.shared.neurons);
        let looked = self.looked_until(tip, seen)?;
        let queue = self.queue(&network, tree, failed)?;
        let claims = self.claimed_stimuli()?;
        let bootstrap_incomplete = !self.metadata(tree)?.bootstrap_complete;
        let consolidation_due = evening && self.waits_for_sleep() && (is_due || self.sleep_due(false)?.is_some());
        let held = self.held_back();
        let live = self.live_before();
        let mut windows: HashMap<Option<CommitId>, Window> = HashMap::new();
        let mut jobs = Vec::new();
        for member in self.shared.policy.agents.values().filter(|m| m.trusted) {
            let from = looked.get(&member.agent.name).copied().or(seen);
            let mut window = match windows.remove(&from) {
                Some(window) => window,
                None => self.window(from, tip, tree)?,
            };
            let mut queue = self.unclaimed(&queue, &claims, &member.agent.name);
            if let Some(held) = held.get(&member.agent.name) {
                self.add_unseen(&mut queue, held, &network)?;
            }
            window.happened.queue_not_empty = !queue.is_empty();
            window.happened.bootstrap_incomplete = bootstrap_incomplete;
            window.happened.consolidation_due = consolidation_due
                && member.agent.trigger.any.contains(&EVENING)
                && !self.evening_asked(tip, &member.agent.name)?;
            self.add_older_queries(&mut window, &member.agent, tree)?;
            if live.as_ref().is_some_and(|live| live.get(&member.agent.name) != Some(&member.mark())) {
                // Signals that came while it could not run here.
                let missed = self.unanswered_to(tree, &member.agent.name)?;
                add_unknown(&mut window, missed);
            }
            let woken = trigger::wakes(&member.agent, &window.happened);
            if let Some(woken) = self.with_held(woken, &member.agent.name, held.get(&member.agent.name), tree)? {
                let due = Due { cycle: self, network: &network, window: &window, queue: &queue, by_hand: false };
                jobs.extend(due.jobs(&member.agent.name, &woken)?);
            }
            windows.insert(from, window);
        }
        if self.is_overridden(tree)? {
            // The most important first: of what is cut off, held back or beyond the budget it is the rest that waits.
            let priority = |job: &Job| self.shared.policy.agents.get(&job.agent).map_or(0, |m| m.agent.priority);
            jobs.sort_by_key(|job| std::cmp::Reverse(priority(job)));
        }
        Ok(jobs)
    }

    /// The agents that could run here when triggers were evaluated last, each with its definition; `None`: nobody knows.
    fn live_before(&self) -> Option<BTreeMap<AgentName, String>> {
        let live: BTreeMap<AgentName, String> = self.private_document(LIVE);
        (!live.is_empty()).then_some(live)
    }

    /// Keeps which agents can run here.
    pub(super) fn keep_live(&self) -> Result<(), CycleError> {
        let live = self.shared.policy.agents.values().filter(|member| member.trusted);
        let live: BTreeMap<AgentName, String> = live.map(|m| (m.agent.name.clone(), m.mark())).collect();
        match self.live_before().is_some_and(|before| before == live) {
            true => Ok(()),
            false => self.keep_private(LIVE, &live),
        }
    }

    /// Whether the most important runs come first. A flag that cannot be read is off: `check` names it.
    pub(super) fn is_overridden(&self, tree: TreeId) -> Result<bool, CycleError> {
        let name = AgentName::parse(PRIORITY_OVERRIDE).expect("invariant: a constant name");
        let bytes = self.store.read(tree, &layout::flag(&name))?;
        Ok(bytes.is_some_and(|bytes| serde_json::from_slice::<Flag>(&bytes).is_ok_and(|flag| flag.value)))
    }

    /// Whether an agent wakes when sleep is due.
    pub fn waits_for_sleep(&self) -> bool {
        self.shared.policy.agents.values().any(|m| m.trusted && m.agent.trigger.any.contains(&EVENING))
    }

    /// Whether answers are of interest: to agents that wait for them, and to programs and models, which are shown them.
    fn shows_answers(&self) -> bool {
        let waits = |agent: &Agent| agent.trigger.any.iter().any(|c| matches!(c, Condition::Ack(_)));
        let reads = |agent: &Agent| !matches!(agent.cognition, Cognition::Reflex { .. });
        self.shared.policy.agents.values().any(|m| m.trusted && (waits(&m.agent) || reads(&m.agent)))
    }

    /// Adds older unanswered queries to an agent that waits for a neuron to be lit while one is open, where the neuron is lit now.
    fn add_older_queries(&self, window: &mut Window, agent: &Agent, tree: TreeId) -> Result<(), CycleError> {
        let lit = |id: &NeuronId| window.happened.neurons.iter().any(|(_, after)| after.id == *id);
        let waits = |c: &Condition| matches!(c, Condition::Neuron { id, with_query: true, .. } if lit(id));
        if !agent.trigger.any.iter().any(waits) {
            return Ok(());
        }
        let mut older = self.unanswered_to(tree, &agent.name)?;
        older.retain(|signal| signal.payload.get("query").is_some());
        add_unknown(window, older);
        Ok(())
    }

    /// Adds the stimuli that an agent did not see because its run did not start, whoever has taken them out of the queue since.
    fn add_unseen(
        &self,
        queue: &mut Vec<Arc<Stimulus>>,
        held: &Waiting,
        network: &TreeNetwork<'_>,
    ) -> Result<(), CycleError> {
        for id in held.stimuli.iter().take(limits::WINDOW_STIMULI) {
            if queue.iter().any(|waiting| waiting.id == *id) {
                continue;
            }
            queue.extend(self.readable(network.stimulus(id))?.flatten().map(Arc::new));
        }
        Ok(())
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
        let queue = self.unclaimed(&self.queue(&network, tree, &Failed::new())?, &self.claimed_stimuli()?, agent);
        let mut window = self.window(None, tip, tree)?;
        window.happened.neurons.clear();
        let signals = window.happened.signals.iter().filter(|s| s.to == *agent).cloned().collect();
        let woken = Woken { reason: "by hand".to_owned(), signals, ..Woken::default() };
        let due = Due { cycle: self, network: &network, window: &window, queue: &queue, by_hand: true };
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
            let run = self.store.commit(run)?;
            // What a person says in an agent's name has looked at nothing that waits for that agent.
            if run.trailer("Trigger").is_some_and(|trigger| [OUTCOME, LESSON].contains(&trigger)) {
                continue;
            }
            let base = run.parents.first().copied();
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
        let answers = self.shows_answers();
        for change in self.store.diff(old, Some(tree), layout::NETWORK)? {
            if let (true, Place::Acknowledgement(to, id)) = (answers, Place::of(&change.path)) {
                let answered = self.answered(&to, &id, tree, &change);
                window.happened.answers.extend(self.readable(answered)?.flatten());
                continue;
            }
            let happened = self.happened(&mut window, tree, &change);
            self.readable(happened)?;
        }
        let stamps = window.runs.values().map(|cause| cause.at);
        window.happened.clock = latest(stamps, self.shared.world.now());
        Ok(window)
    }

    /// A new answer with its signal.
    fn answered(
        &self,
        to: &AgentName,
        id: &SignalId,
        tree: TreeId,
        change: &FileChange,
    ) -> Result<Option<Answered>, CycleError> {
        let Some(new) = change.new else { return Ok(None) };
        let read = |file: File| -> Result<Acknowledgement, CycleError> {
            Ok(json::strict(&self.store.blob(file.blob)?, &change.path, limits::DOCUMENT_BYTES)?)
        };
        if change.old.map(read).transpose()?.is_some_and(|before| !before.is_stand_in()) {
            return Ok(None);
        }
        let answer = read(new)?;
        let found = TreeNetwork::new(&self.store, tree).signal(to, id)?;
        Ok(found.map(|(signal, _)| Answered { signal, answer }))
    }

    fn happened(&self, window: &mut Window, tree: TreeId, change: &FileChange) -> Result<(), CycleError> {
        let Some(new) = change.new else { return Ok(()) };
        let read = || self.store.blob(new.blob);
        match Place::of(&change.path) {
            Place::Neuron(id) => {
                let neuron = |file| self.shared.neurons.read(&self.store, file, &change.path, &id);
                let (before, after) = (change.old.map(neuron).transpose()?, neuron(new)?);
                // Those of a round are very many, and the connections of a hub take a hundred kilobytes.
                let outline = |neuron: Arc<Neuron>| Arc::new(neuron.outline());
                window.happened.neurons.push((before.map(outline), outline(after)));
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
