//! Runs from elsewhere: what their records say is done again on their parents, by what their agents may do.
//!
//! `delta::apply` is a function of operations, author and network, so an honest run gives the same tree here. People's
//! runs are not done again: a person may do anything, and some of theirs (imports, restoring) come of no operations. Their
//! records must say what their commits did.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::author::{forged_author, is_squashed};
use super::squashed::Brought;
use super::{Door, Judge, Kind};
use crate::cycle::commit::edits;
use crate::cycle::merge::edits_of;
use crate::cycle::network::{TreeNetwork, format_of};
use crate::cycle::policy::Policy;
use crate::cycle::trailers::ANSWERS;
use crate::cycle::{Cycle, CycleError, EVALUATOR, HUMAN, bootstrap};
use crate::delta::{self, Applied, ApplyError, Document, Effect, Limits, Operation, RunRecord};
use crate::merge::Options;
use crate::model::document::Goal;
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::settings::{MergePolicy, Settings};
use crate::model::wisdom::{Teaching, WisdomRecord};
use crate::model::{Agent, Metadata, Neuron, json};
use crate::store::{BlobId, Commit, CommitId, FileChange, ObjectWriter, Store, TreeEdit, TreeId};

/// Settings and agents that were in force at a time.
pub(super) struct Grounds {
    pub settings: Settings,
    agents: BTreeMap<AgentName, Agent>,
    /// The blob of `brain.toml`.
    pub blob: Option<BlobId>,
}

impl Grounds {
    /// What is in force here.
    pub fn of_policy(policy: &Policy) -> Self {
        let agents = policy.agents.values().map(|member| (member.agent.name.clone(), member.agent.clone()));
        Self { settings: policy.settings.clone(), agents: agents.collect(), blob: policy.blob }
    }

    /// What a tree of main has. Definitions that cannot be read are none.
    pub fn of_tree(store: &Store, tree: TreeId) -> Result<Self, CycleError> {
        let text = store.read(tree, layout::SETTINGS)?.unwrap_or_default();
        let settings = Settings::read(&String::from_utf8_lossy(&text), &[])?;
        let mut agents = BTreeMap::new();
        for (path, file) in store.files(tree, layout::AGENTS)? {
            let Place::Agent(name) = Place::of(&path) else { continue };
            if let Ok(agent) = Agent::decode(&store.read_file(file, &path)?, &path) {
                agents.insert(name, agent);
            }
        }
        Ok(Self { settings, agents, blob: store.file(tree, layout::SETTINGS)?.map(|file| file.blob) })
    }

    /// The definition of an agent.
    pub fn agent(&self, name: &AgentName) -> Option<&Agent> {
        self.agents.get(name)
    }

    /// Rank and limits of an agent.
    fn authority(&self, agent: &AgentName) -> Option<(u32, Limits)> {
        match self.agents.get(agent) {
            Some(known) => Some((known.priority, Limits::from(known))),
            None if agent.as_str() == EVALUATOR => {
                let own = bootstrap::evaluator();
                Some((own.priority, Limits::from(&own)))
            }
            None => bootstrap::client(agent).map(|own| (own.priority, Limits::from(&own))),
        }
    }
}

impl Cycle {
    /// Settings and agents by which runs are judged first. What goes out is judged without the settings of this machine and this command.
    pub(super) fn grounds_for(&self, door: &Door) -> Result<Grounds, CycleError> {
        if let Door::Out { .. } = door
            && let Some(main) = self.store.tip(self.store.main())?
            && let Ok(grounds) = Grounds::of_tree(&self.store, self.store.tree_of(main)?)
        {
            return Ok(grounds);
        }
        Ok(Grounds::of_policy(&self.shared.policy))
    }
}

/// Whether a record says that its run started at that commit.
pub(super) fn is_in_place(record: &RunRecord, parent: CommitId) -> bool {
    record.base.as_ref().is_none_or(|base| *base == parent.to_string())
}

/// Why a run cannot come from where it says: an origin is at least as far away as those of the stimuli that it consumed or
/// descends from, and runs of the engine inherit it so. What nobody remembers any more says nothing.
fn claims_trust(record: &RunRecord, network: &TreeNetwork<'_>) -> Result<Option<String>, CycleError> {
    for id in &record.stimuli {
        let Some(stimulus) = network.stimulus(id)? else { continue };
        // As the engine passes it on: what a person has approved is not said again.
        if !record.origin.covers(&stimulus.origin.passed_on()) {
            let (said, from) = (&record.origin, &stimulus.origin);
            return Ok(Some(format!(
                "says that it comes from {said}, and the stimulus {id} that it names comes from {from}"
            )));
        }
    }
    let agent = record.run.agent();
    let claimed = record.origin.classes().find(|class| match *class {
        "approved" => agent.as_str() != HUMAN,
        "bootstrap" => agent.as_str() != "bootstrap",
        _ => false,
    });
    if let Some(class) = claimed {
        return Ok(Some(format!("says that it comes from {class}, which no run of {agent} does")));
    }
    Ok(None)
}

/// The trailer of a run's commit that says otherwise than its record, if one does: commands read them instead of the record.
fn says_otherwise(commit: &Commit, record: &RunRecord) -> Option<&'static str> {
    let all = |key, holds: &dyn Fn(&str) -> bool| commit.trailer_values(key).all(holds);
    // A run that is thrown away, and one that a person squashed, need not be named.
    let is_named = |key| commit.trailer(key).is_some() || record.is_left_over() || is_squashed(commit);
    let stimulus = |text: &str| record.stimuli.iter().any(|id| id.as_str() == text);
    let answers = |text: &str| {
        record.ops.iter().any(|op| matches!(op, Operation::Acknowledge(answer) if answer.signal.as_str() == text))
    };
    match () {
        () if !is_named("Run") || !all("Run", &|text| text == record.run.as_str()) => Some("Run"),
        () if !is_named("Agent") || !all("Agent", &|text| text == record.agent.as_str()) => Some("Agent"),
        () if !all("Depth", &|text| text == record.depth.to_string()) => Some("Depth"),
        () if !all("Stimulus", &stimulus) => Some("Stimulus"),
        () if !all(ANSWERS, &answers) => Some(ANSWERS),
        () => None,
    }
}

/// Whether wisdom is what a run taught, at its time. Of an agent's seeds the engine writes the effects.
pub(super) fn is_taught_by(record: &RunRecord, wisdom: &WisdomRecord) -> bool {
    let plain = |teaching: &Teaching| {
        let mut teaching = teaching.clone();
        if record.agent.as_str() != HUMAN {
            teaching.seeds.iter_mut().for_each(|seed| seed.effect.clear());
        }
        teaching
    };
    let says = |op: &Operation| matches!(op, Operation::Wisdom(teaching) if plain(teaching) == plain(&wisdom.teaching));
    record.at == wisdom.at && record.ops.iter().any(says)
}

/// Why a run is not what it says.
enum Wrong {
    /// Those grounds know no such agent.
    Unknown,
    /// It may not, or its operations make no sense there.
    Refused(String),
    /// Its operations do something else.
    Otherwise,
}

impl Judge<'_> {
    /// Where a commit of main changes settings or agents, runs may have been made under them.
    pub(super) fn extend_grounds(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        let concerns = |change: &FileChange| {
            matches!(Place::of(&change.path), Place::Settings | Place::Agent(_) | Place::Prompt(_))
        };
        if changes.iter().any(concerns) {
            // What cannot be read is a fault already, and no ground for anything.
            if let Ok(grounds) = Grounds::of_tree(&self.cycle.store, commit.tree) {
                self.grounds.push(grounds);
            }
        }
        Ok(())
    }

    /// A run's record in a tree, if it can be read.
    pub(super) fn record(&self, tree: TreeId, run: &RunId) -> Result<Option<RunRecord>, CycleError> {
        let path = layout::run(run);
        let bytes = self.cycle.store.read(tree, &path)?;
        // What does not parse was told already.
        Ok(bytes.and_then(|bytes| RunRecord::decode(&bytes, &path).ok()))
    }

    /// The commit of an agent's run, where it was made.
    pub(super) fn run(
        &mut self,
        commit: &Commit,
        record: &RunRecord,
        before: TreeId,
        changes: &[FileChange],
    ) -> Result<(), CycleError> {
        let path = layout::run(&record.run);
        if let Some(key) = says_otherwise(commit, record) {
            let message = format!("is not the run that its commit names ({key})");
            self.fault_of(Kind::Trailer, commit, &path, 1, message);
        }
        // A person leaves the record of a run that is thrown away; whether that person may, is asked where it lands.
        if !record.is_left_over() {
            self.author(commit, record);
        }
        let Some(parent) = commit.parents.first().copied() else { return Ok(()) };
        let wrong = self.done_again(record, (parent, before), |judge, applied| {
            Ok(judge.expected(&judge.cycle.store.writer()?, record, applied, before, changes)? == commit.tree)
        })?;
        if let Some(why) = wrong {
            self.fault(commit, &path, 1, why);
        }
        Ok(())
    }

    /// A record that came otherwise than by its own commit; what an honest run of an agent made where it started, if the commit is a person's.
    pub(super) fn brought(
        &mut self,
        commit: &Commit,
        run: &RunId,
        (writer, before): (&ObjectWriter<'_>, TreeId),
        changes: &[FileChange],
        alone: bool,
    ) -> Result<Option<Brought>, CycleError> {
        let Some(record) = self.record(commit.tree, run)? else { return Ok(None) };
        let path = layout::run(run);
        if record.agent.as_str() == HUMAN {
            self.author(commit, &record);
            self.amends(commit, &record, &path)?;
            self.approves(commit, &record, &path)?;
            self.files_of(commit, &record, &path)?;
            if alone {
                self.goals_of(commit, &record, changes)?;
            }
            for taken in &record.reverts {
                let why = match self.record(before, taken)? {
                    None => Some(format!("takes back {taken}, of which there is no record")),
                    Some(of) => self
                        .left_in_force(&of, before, commit.tree)?
                        .map(|id| format!("takes back {taken}, and leaves {id} as that made it")),
                };
                if let Some(why) = why {
                    self.fault(commit, &path, 1, why);
                }
            }
            if alone && effects_by_neuron(&record) != self.touched(run, before, changes)? {
                self.fault(commit, &path, 1, "does not say what its commit did to the network");
            }
            return Ok(None);
        }
        // Held against where it says that it started: what it did there must be what it says.
        let base = record.base.as_deref().map(|base| self.judged(base)).transpose()?.flatten();
        let Some(base) = base else {
            self.fault(
                commit,
                &path,
                1,
                "was brought without its history, so what it says cannot be held against anything",
            );
            return Ok(None);
        };
        let agent = commit.agents_hand();
        let own = Cell::new(None);
        let wrong = self.done_again(&record, (base.id, base.tree), |judge, applied| {
            let is_it = effects_of(applied) == record.effects;
            if is_it {
                own.set(Some(judge.expected(writer, &record, applied, base.tree, &[])?));
            }
            Ok(is_it)
        })?;
        if let Some(why) = wrong {
            self.fault(commit, &path, 1, why);
        } else if let Some(agent) = agent {
            // In an agent's name a run lands as the typed merge lands it: elsewhere its files would set back what was learnt since it started.
            // Who brings it in a name of their own says no agent's beside it.
            let is_by_it = forged_author(commit, &record).is_none();
            let lands = match own.get().filter(|_| alone && is_by_it) {
                Some(own) => self.lands_as_merged(writer, commit, [base.tree, before, own], changes)?,
                None => false,
            };
            if !lands {
                let message =
                    format!("is by {agent}, and does otherwise than the merge of its run with what was there");
                self.fault_of(Kind::Agent, commit, &path, 1, message);
            }
            return Ok(None);
        } else if alone {
            let said: BTreeSet<NeuronId> = record.effects.iter().filter_map(|e| e.neuron.clone()).collect();
            let other = self.touched(run, before, changes)?.into_keys().find(|id| !said.contains(id));
            if let Some(id) = other {
                self.fault(commit, &path, 1, format!("says nothing of {id}, which its commit changes"));
            }
        }
        let run = run.clone();
        Ok(own.get().map(|own| Brought { run, base: base.tree, own }))
    }

    /// Refuses a run of a person that taught, forgot or sealed by its record alone: what it says would have happened nowhere.
    fn files_of(&mut self, commit: &Commit, record: &RunRecord, path: &str) -> Result<(), CycleError> {
        let has = |is_it: fn(&Operation) -> bool| !record.is_left_over() && record.ops.iter().any(is_it);
        for (says, place, kind) in [
            (has(|op| matches!(op, Operation::Wisdom(_))), layout::wisdom(&record.run), Kind::Wisdom),
            (has(|op| matches!(op, Operation::Seal(_))), layout::sealed(&record.run), Kind::Sealed),
        ] {
            if says && self.cycle.store.file(commit.tree, &place)?.is_none() {
                self.fault_of(kind, commit, path, 1, format!("brings no {place}, which its operations make"));
            }
        }
        Ok(())
    }

    /// Refuses a goal whose file says other words than the run of a person that sets it.
    fn goals_of(&mut self, commit: &Commit, record: &RunRecord, changes: &[FileChange]) -> Result<(), CycleError> {
        let mut said: BTreeMap<String, &str> = BTreeMap::new();
        for op in &record.ops {
            if let Operation::Goal(op) = op {
                said.insert(layout::goal(&op.goal_id()), &op.text);
            }
        }
        for change in changes {
            let (Some(text), Some(new)) = (said.get(&change.path), change.new) else { continue };
            // What does not parse was told already.
            let goal = Goal::decode(&self.cycle.store.content(new.blob)?, &change.path);
            if goal.is_ok_and(|goal| goal.text != *text) {
                let message = format!("says another goal than {}, which sets it", record.run);
                self.fault(commit, &change.path, 1, message);
            }
        }
        Ok(())
    }

    /// Whether a commit makes of the tree before it what the merge of a run's own tree makes of it. Which stimuli it consumed, only the commit says.
    fn lands_as_merged(
        &self,
        writer: &ObjectWriter<'_>,
        commit: &Commit,
        [base, before, own]: [TreeId; 3],
        changes: &[FileChange],
    ) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        let consumed = changes.iter().filter(|change| change.new.is_none());
        let consumed = consumed.filter(|change| matches!(Place::of(&change.path), Place::Queue(_)));
        let consumed: Vec<TreeEdit> = consumed.map(|change| TreeEdit::new(change.path.clone(), None)).collect();
        let default = MergePolicy::default();
        for policy in self.grounds.iter().map(|grounds| &grounds.settings.merge).chain([&default]) {
            let outcome = self.cycle.merge_trees_by(policy, base, before, own, Options::default())?;
            let merged =
                writer.edit(Some(before), edits_of(&outcome).into_iter().chain(consumed.iter().cloned()).collect())?;
            if outcome.conflicts.is_empty()
                && store.folder(merged, layout::NETWORK)? == store.folder(commit.tree, layout::NETWORK)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A neuron that a run touched last, and that is after a commit what it was before: taking that run back would have changed it.
    fn left_in_force(&self, record: &RunRecord, before: TreeId, after: TreeId) -> Result<Option<NeuronId>, CycleError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::remembering(store, before, &self.cycle.shared.neurons);
        for id in record.effects.iter().filter_map(|effect| effect.neuron.clone()) {
            let path = layout::neuron(&id);
            let Some(file) = store.file(before, &path)? else { continue };
            if store.file(after, &path)? == Some(file)
                && network.neuron(&id)?.is_some_and(|neuron| neuron.run.as_ref() == Some(&record.run))
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Does a run's operations again, by every ground that there is, until `same` is content. What is wrong, in words.
    fn done_again(
        &self,
        record: &RunRecord,
        (start, tree): (CommitId, TreeId),
        same: impl Fn(&Self, &Applied) -> Result<bool, CycleError>,
    ) -> Result<Option<String>, CycleError> {
        let network = TreeNetwork::remembering(&self.cycle.store, tree, &self.cycle.shared.neurons);
        if let Some(why) = claims_trust(record, &network)? {
            return Ok(Some(why));
        }
        let mut consumed = record.stimuli.clone();
        for stimulus in &record.stimuli {
            if self.cycle.store.file(tree, &layout::queue_entry(stimulus))?.is_none() {
                consumed.retain(|other| other != stimulus);
            }
        }
        let mut first = None;
        let mut holds = |grounds: &Grounds| -> Result<bool, CycleError> {
            let wrong = match apply(record, &consumed, grounds, &network)? {
                Ok(applied) if same(self, &applied)? => return Ok(true),
                Ok(_) => Wrong::Otherwise,
                Err(wrong) => wrong,
            };
            // An agent that is new in main is none of ours; what the next ground says of it counts.
            if matches!(first, None | Some(Wrong::Unknown)) {
                first = Some(wrong);
            }
            Ok(false)
        };
        for grounds in &self.grounds {
            if holds(grounds)? {
                return Ok(None);
            }
        }
        if let Some(grounds) = self.grounds_at(start)?
            && holds(&grounds)?
        {
            return Ok(None);
        }
        Ok(first.map(|wrong| match wrong {
            Wrong::Unknown => format!("there is no agent {} in this brain", record.agent),
            Wrong::Refused(why) => why,
            Wrong::Otherwise => "its record does not fit its operations".to_owned(),
        }))
    }

    /// Main as it was where a run started: who was offline ran by what he knew. Only what main's own history has.
    fn grounds_at(&self, start: CommitId) -> Result<Option<Grounds>, CycleError> {
        let store = &self.cycle.store;
        let Some(main) = store.tip(store.main())? else { return Ok(None) };
        let Some(then) = store.merge_bases(main, start)?.first().copied() else { return Ok(None) };
        Ok(Grounds::of_tree(store, store.tree_of(then)?).ok())
    }

    /// The tree that an honest run leaves.
    fn expected(
        &self,
        writer: &ObjectWriter<'_>,
        record: &RunRecord,
        applied: &Applied,
        before: TreeId,
        changes: &[FileChange],
    ) -> Result<TreeId, CycleError> {
        let store = &self.cycle.store;
        let record = RunRecord { effects: effects_of(applied), ..record.clone() };
        let format = format_of(store, before)?;
        let mut all = edits(applied, &record, format);
        let written = |(id, (_, after)): (&NeuronId, &(Option<Neuron>, Neuron))| {
            TreeEdit::new(layout::neuron(id), Some(after.encode_as(format)))
        };
        all.extend(applied.neurons.iter().map(written));
        // Which of the stimuli that it descends from it consumed, only its commit says.
        let consumed =
            changes.iter().filter(|change| change.new.is_none()).filter(|change| match Place::of(&change.path) {
                Place::Queue(id) => record.stimuli.contains(&id),
                _ => false,
            });
        all.extend(consumed.map(|change| TreeEdit::new(change.path.clone(), None)));
        if changes.iter().any(|change| change.path == layout::METADATA) {
            all.extend(self.bootstrapped(&record, before)?);
        }
        Ok(writer.edit(Some(before), all)?)
    }

    /// The bootstrap's run completes the bootstrap, once.
    fn bootstrapped(&self, record: &RunRecord, before: TreeId) -> Result<Option<TreeEdit>, CycleError> {
        let Some(bytes) = self.cycle.store.read(before, layout::METADATA)? else { return Ok(None) };
        let mut metadata: Metadata = json::strict(&bytes, layout::METADATA, crate::limits::DOCUMENT_BYTES)?;
        if record.agent.as_str() != "bootstrap" || metadata.bootstrap_complete {
            return Ok(None);
        }
        metadata.bootstrap_complete = true;
        metadata.seed_timestamp = Some(record.at);
        metadata.run = Some(record.run.clone());
        Ok(Some(TreeEdit::new(layout::METADATA, Some(json::pretty(&metadata)))))
    }

    /// What a commit did to neurons, as the record of `run` says it: one that takes runs back also takes neurons away, and
    /// brings others back with the marks that they had.
    fn touched(
        &self,
        run: &RunId,
        before: TreeId,
        changes: &[FileChange],
    ) -> Result<BTreeMap<NeuronId, Effect>, CycleError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::remembering(store, before, &self.cycle.shared.neurons);
        let mut effects = BTreeMap::new();
        for change in changes {
            let Place::Neuron(id) = Place::of(&change.path) else { continue };
            let before = network.neuron(&id)?;
            let effect = match (&before, change.new) {
                (Some(before), None) => Effect::removal(before),
                (None, None) => continue,
                (_, Some(new)) => {
                    match Neuron::decode(&store.read_file(new, &change.path)?, &change.path) {
                        Ok(after) if before.as_ref() == Some(&after) => continue,
                        Ok(after) if after.run.as_ref() == Some(run) => Effect::between(before.as_ref(), &after),
                        Ok(after) => Effect::unmarked(before.as_ref(), &after),
                        // What does not parse was told already.
                        Err(_) => continue,
                    }
                }
            };
            effects.insert(id, effect);
        }
        Ok(effects)
    }
}

fn apply(
    record: &RunRecord,
    consumed: &[StimulusId],
    grounds: &Grounds,
    network: &TreeNetwork<'_>,
) -> Result<Result<Applied, Wrong>, CycleError> {
    let Some((rank, limits)) = grounds.authority(&record.agent) else { return Ok(Err(Wrong::Unknown)) };
    let document =
        Document { agent: Some(record.agent.clone()), prediction: record.prediction.clone(), ops: record.ops.clone() };
    let author = delta::Author {
        run: record.run.clone(),
        agent: record.agent.clone(),
        clock: record.at,
        rank,
        origin: record.origin.clone(),
        consumed: consumed.to_vec(),
    };
    let Settings { learning, activation, .. } = &grounds.settings;
    match delta::apply(&document, &author, Some(&limits), network, learning, activation) {
        Ok(applied) => Ok(Ok(applied)),
        Err(ApplyError::Refused(refusal)) => Ok(Err(Wrong::Refused(refusal.to_string()))),
        Err(ApplyError::Lookup(error)) => Err(error),
    }
}

fn effects_of(applied: &Applied) -> Vec<Effect> {
    applied.neurons.values().map(|(before, after)| Effect::between(before.as_ref(), after)).collect()
}

/// What a record says that it did, as [`Judge::touched`] tells what was done.
fn effects_by_neuron(record: &RunRecord) -> BTreeMap<NeuronId, Effect> {
    record.effects.iter().filter_map(|effect| Some((effect.neuron.clone()?, effect.clone()))).collect()
}
