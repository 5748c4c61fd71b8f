//! Stage 4, commit: from a delta document to one commit on the run's own branch.
//!
//! What a command agent did may have cost money, and is durable on its branch before anything else happens. What a reflex
//! did can be done again: it is published together with its merge, and has a branch only if it is not merged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::job::{Cause, Job};
use super::network::{TreeNetwork, format_of};
use super::policy::HUMAN;
use super::said::{measured, said_by};
use super::trailers::{ANSWERS, SHOWN};
use super::trunk::stimulus_trailers;
use super::{Cycle, CycleError, Shared};
use crate::delta::{self, Applied, ApplyError, Document, Effect, Limits, Operation, RunRecord, render};
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::{Format, Level, Metadata, Neuron, Origin, Stamp, Stimulus, json, layout, plural};
use crate::store::{
    self, Batch, Branch, Change, CommitId, CommitSpec, File, ObjectWriter, RefChange, RefOutcome, Store, Trailer,
    TreeEdit,
};

/// Why a run waits whose input is trusted too little, as the trailer `Review:` has it.
pub const HELD_FOR_ORIGIN: &str = "origin";
/// Why a run waits of which a person asked that.
pub const HELD_AS_ASKED: &str = "asked";

/// Trailer of a commit that takes runs back: each of them, as far as they fit.
pub const REVERTS_TRAILER: &str = "Reverts";

/// Most lines of rendered effects in a commit message.
const MESSAGE_LINES: usize = 40;

/// A delta on its way to a commit.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The commit that it starts from.
    pub base: CommitId,
    /// The run.
    pub run: RunId,
    /// What woke it.
    pub reason: String,
    /// How it thought.
    pub cognition: String,
    /// Its clock.
    pub clock: Stamp,
    /// Causal distance from a stimulus.
    pub depth: u32,
    /// Where what it brings comes from.
    pub origin: Origin,
    /// Stimuli that it consumes.
    pub consumed: Vec<Stimulus>,
    /// Stimuli that it descends from, the consumed ones included.
    pub roots: Vec<StimulusId>,
    /// What it proposes.
    pub document: Document,
    /// The agent's rank and capabilities; people have no limits.
    pub authority: (u32, Option<Limits>),
    /// The line of each operation in the document as it was given, where it was given as text.
    pub lines: Vec<usize>,
    /// What no delta can say.
    pub amends: Amends,
    /// Why the branch should stay for review instead of being merged by whoever comes next, in a word.
    pub held: Option<String>,
}

/// What a person's run does that no delta can say: taking runs back, approving them.
#[derive(Clone, Debug, Default)]
pub struct Amends {
    /// The runs that it takes back.
    pub reverts: Vec<RunId>,
    /// The runs that it approves.
    pub approves: Vec<RunId>,
    /// Neurons that are taken away, as they were.
    pub removed: BTreeMap<NeuronId, Neuron>,
    /// Of the neurons that change, those that become exactly what they were before others, marks included.
    pub unmarked: BTreeSet<NeuronId>,
    /// Other files that change: flags, goals, queue entries.
    pub files: Vec<TreeEdit>,
    /// Who approved it in this form, as `Name <address>`.
    pub reviewed_by: Option<String>,
    /// Memories that its agent was shown and that are not trusted, some of them: its origin has theirs.
    pub shown: Vec<NeuronId>,
}

/// A run, committed.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The run.
    pub run: RunId,
    /// What woke it.
    pub trigger: String,
    /// Its branch.
    pub branch: Branch,
    /// Its commit.
    pub commit: CommitId,
    /// Its objects, if they are not on disk yet; then there is no branch either.
    pub unpublished: Option<Batch>,
    /// The stimuli that it consumed.
    pub consumed: Vec<StimulusId>,
    /// What the runs after it need to know of it.
    pub cause: Cause,
    /// Whether it waits on its branch for a person.
    pub held: bool,
    /// What the engine clamped or raised.
    pub notes: Vec<String>,
}

/// The branch of a run.
pub fn branch_of(wake: &Branch, run: &RunId) -> Result<Branch, CycleError> {
    // `brain/wake` keeps its runs under `brain/agents/`, `wake` under `agents/`.
    let prefix = wake.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Ok(Branch::parse(&format!("{prefix}agents/{}/{run}", run.agent()))?)
}

/// The run that a branch is of: `agents/<name>/<run>` below the brain's folder.
pub fn run_of(prefix: &str, branch: &Branch) -> Option<RunId> {
    let (agent, run) = branch.as_str().strip_prefix(prefix)?.split_once('/')?;
    RunId::parse(run).ok().filter(|run| run.agent().as_str() == agent)
}

impl Draft {
    /// The draft of a job's run.
    pub fn of_job(
        shared: &Shared,
        base: CommitId,
        run: RunId,
        job: &Job,
        document: Document,
        seen: Origin,
    ) -> Result<Self, CycleError> {
        if let Some(named) = document.agent.as_ref().filter(|named| **named != job.agent) {
            return Err(CycleError::refused(format!("the delta of {} says that it is by {named}", job.agent)));
        }
        let origin = job.origin.and(&seen);
        let authority = shared.policy.authority(&job.agent)?;
        let level = shared.policy.settings.origins.level(&origin);
        let level = authority.1.as_ref().map_or(level, |limits| limits.capabilities().level(&origin, level));
        if level == Level::Refused {
            return Err(CycleError::refused(format!("origin {origin} is refused here, by [origins] of the settings")));
        }
        Ok(Self {
            base,
            reason: job.reason.clone(),
            cognition: shared.cognition_name(&job.agent),
            clock: job.clock,
            depth: job.depth,
            origin,
            consumed: job.stimuli.clone(),
            roots: job.roots.clone(),
            authority,
            document,
            lines: Vec::new(),
            amends: Amends::default(),
            held: (level == Level::Review).then(|| HELD_FOR_ORIGIN.to_owned()),
            run,
        })
    }

    /// Of a rule's run that would wait for its origin and states nothing, leaves its answers alone: weights that nobody could judge ask no
    /// person, and what comes from a stranger shapes none before it is trusted.
    pub fn shape_nothing_of_strangers(&mut self) {
        let ops = &mut self.document.ops;
        let shapes = |op: &Operation| {
            matches!(
                op,
                Operation::Activate(_)
                    | Operation::Connect(_)
                    | Operation::Adjust(_)
                    | Operation::Disconnect(_)
                    | Operation::Reinforce(_)
            )
        };
        let answers = |op: &Operation| matches!(op, Operation::Acknowledge(_));
        if self.held.as_deref() == Some(HELD_FOR_ORIGIN)
            && self.consumed.is_empty()
            && ops.iter().all(|op| shapes(op) || answers(op))
        {
            ops.retain(answers);
            self.held = None;
        }
    }

    /// The draft of a run that a person makes by hand: it is of this machine, descends from nothing, and has no operations unless
    /// they are added.
    pub fn by_hand(shared: &Shared, base: CommitId, run: RunId, cognition: &str) -> Result<Self, CycleError> {
        let agent = run.agent();
        Ok(Self {
            base,
            reason: "by hand".to_owned(),
            cognition: cognition.to_owned(),
            clock: shared.world.now(),
            depth: 0,
            origin: Origin::local(),
            consumed: Vec::new(),
            roots: Vec::new(),
            authority: shared.policy.authority(&agent)?,
            lines: Vec::new(),
            document: Document { agent: Some(agent), ..Document::default() },
            amends: Amends::default(),
            held: None,
            run,
        })
    }

    /// Applies the delta to its base. Nothing is written.
    pub fn apply(&self, store: &Store, shared: &Shared) -> Result<Applied, CycleError> {
        let tree = store.tree_of(self.base)?;
        self.apply_to(&TreeNetwork::remembering(store, tree, &shared.neurons), shared)
    }

    /// Applies the delta to the network of its base. Nothing is written.
    pub fn apply_to(&self, network: &TreeNetwork<'_>, shared: &Shared) -> Result<Applied, CycleError> {
        let author = delta::Author {
            run: self.run.clone(),
            agent: self.run.agent(),
            clock: self.clock,
            rank: self.authority.0,
            origin: self.origin.clone(),
            consumed: self.consumed.iter().map(|s| s.id.clone()).collect(),
        };
        let settings = &shared.policy.settings;
        let limits = self.authority.1.as_ref();
        delta::apply(&self.document, &author, limits, network, &settings.learning, &settings.activation).map_err(|e| {
            match e {
                ApplyError::Refused(refusal) => CycleError::refused(match self.lines.get(refusal.index) {
                    Some(line) => format!("line {line}, {refusal}"),
                    None => refusal.to_string(),
                }),
                ApplyError::Lookup(error) => error,
            }
        })
    }

    /// Commits what the delta did: on a branch of its own where it is held, or where it must be `durable` at once; else for whoever merges
    /// it in the same breath.
    pub fn settle(
        mut self,
        applied: &Applied,
        store: &Store,
        shared: &Shared,
        durable: bool,
    ) -> Result<Committed, CycleError> {
        self.hold_by_rules(applied, &shared.policy.settings.review);
        match durable || self.held.is_some() {
            true => self.commit(applied, store, shared),
            false => self.commit_unpublished(applied, store, shared),
        }
    }

    /// Commits what the delta did on a branch of its own, durable when this returns.
    pub fn commit(self, applied: &Applied, store: &Store, shared: &Shared) -> Result<Committed, CycleError> {
        let writer = store.writer()?;
        let committed = self.write(applied, &writer, store, shared)?;
        writer.publish()?;
        create_branch(store, &committed.branch, committed.commit)?;
        Ok(committed)
    }

    /// Commits what the delta did, for whoever merges it in the same breath: without a branch, and not on disk yet.
    pub fn commit_unpublished(
        self,
        applied: &Applied,
        store: &Store,
        shared: &Shared,
    ) -> Result<Committed, CycleError> {
        let writer = store.writer()?;
        let committed = self.write(applied, &writer, store, shared)?;
        Ok(Committed { unpublished: Some(writer.take()), ..committed })
    }

    /// Commits what the delta did in the writer's batch, without a branch.
    pub(super) fn write(
        self,
        applied: &Applied,
        writer: &ObjectWriter<'_>,
        store: &Store,
        shared: &Shared,
    ) -> Result<Committed, CycleError> {
        let record = self.record(applied);
        let base_tree = store.tree_of(self.base)?;
        let format = format_of(store, base_tree)?;
        let mut edits = edits(applied, &record, format);
        edits.extend(neuron_edits(applied, format, writer, shared)?);
        edits.extend(self.amends.removed.keys().map(|id| TreeEdit::new(layout::neuron(id), None)));
        edits.extend(self.amends.files.iter().cloned());
        edits.extend(self.consumed.iter().map(|s| TreeEdit::new(layout::queue_entry(&s.id), None)));
        edits.extend(self.completed_bootstrap(store, base_tree, shared)?);
        let tree = writer.edit(Some(base_tree), edits)?;
        let (subject, body) = message(applied, &record);
        let commit = writer.commit(&CommitSpec {
            tree,
            parents: vec![self.base],
            author: author(&self.run.agent()),
            at: shared.world.commit_seconds(),
            subject,
            body,
            trailers: self.trailers(shared),
        })?;
        Ok(Committed {
            branch: branch_of(store.wake(), &self.run)?,
            run: self.run,
            trigger: self.reason,
            commit,
            unpublished: None,
            held: self.held.is_some(),
            consumed: self.consumed.into_iter().map(|s| s.id).collect(),
            notes: record.notes.clone(),
            cause: record.into(),
        })
    }

    fn record(&self, applied: &Applied) -> RunRecord {
        RunRecord {
            run: self.run.clone(),
            agent: self.run.agent(),
            trigger: self.reason.clone(),
            cognition: self.cognition.clone(),
            at: self.clock,
            depth: self.depth,
            base: Some(self.base.to_string()),
            origin: self.origin.clone(),
            stimuli: self.roots.clone(),
            prediction: self.document.prediction.clone(),
            ops: self.document.ops.clone(),
            effects: self.effects(applied),
            notes: applied.notes.clone(),
            reverts: self.amends.reverts.clone(),
            approves: self.amends.approves.clone(),
        }
    }

    fn effects(&self, applied: &Applied) -> Vec<Effect> {
        let changed = applied.neurons.iter().map(|(id, (before, after))| match self.amends.unmarked.contains(id) {
            true => Effect::unmarked(before.as_ref(), after),
            false => Effect::between(before.as_ref(), after),
        });
        let mut effects: Vec<Effect> = changed.chain(self.amends.removed.values().map(Effect::removal)).collect();
        effects.sort_by(|a, b| a.id().cmp(&b.id()));
        effects
    }

    /// The bootstrap agent's run completes the bootstrap.
    fn completed_bootstrap(
        &self,
        store: &Store,
        tree: store::TreeId,
        shared: &Shared,
    ) -> Result<Option<TreeEdit>, CycleError> {
        if self.run.agent().as_str() != "bootstrap" || !shared.is_builtin_reflex(&self.run.agent()) {
            return Ok(None);
        }
        let Some(bytes) = store.read(tree, layout::METADATA)? else { return Ok(None) };
        let mut metadata: Metadata = json::strict(&bytes, layout::METADATA, crate::limits::DOCUMENT_BYTES)?;
        if metadata.bootstrap_complete {
            return Ok(None);
        }
        metadata.bootstrap_complete = true;
        metadata.seed_timestamp = Some(self.clock);
        metadata.run = Some(self.run.clone());
        Ok(Some(TreeEdit::new(layout::METADATA, Some(json::pretty(&metadata)))))
    }

    fn trailers(&self, shared: &Shared) -> Vec<Trailer> {
        let mut trailers = vec![
            ("Agent".to_owned(), self.run.agent().to_string()),
            ("Run".to_owned(), self.run.to_string()),
            ("Trigger".to_owned(), self.reason.clone()),
        ];
        if self.depth > 0 {
            trailers.push(("Depth".to_owned(), self.depth.to_string()));
        }
        let models = self.cognition.strip_prefix("llm:").or_else(|| self.cognition.strip_prefix("chain:"));
        if let Some(models) = models {
            trailers.push(("Model".to_owned(), models.to_owned()));
        }
        // Coding agents are programs.
        if models.is_some() || self.cognition.starts_with("command:") {
            trailers.extend(measured(&said_by(&self.document)));
        }
        trailers.extend(stimulus_trailers(&self.roots));
        let named = |key: &str, runs: &[RunId]| {
            runs.iter().take(MESSAGE_LINES).map(|run| (key.to_owned(), run.to_string())).collect::<Vec<_>>()
        };
        trailers.extend(named(REVERTS_TRAILER, &self.amends.reverts));
        trailers.extend(named("Approves", &self.amends.approves));
        trailers.extend(self.amends.shown.iter().map(|id| (SHOWN.to_owned(), id.to_string())));
        trailers.extend(self.amends.reviewed_by.iter().map(|by| ("Reviewed-by".to_owned(), by.clone())));
        if let Some(why) = &self.held {
            let answers = self.document.ops.iter().filter_map(|op| match op {
                Operation::Acknowledge(answer) => Some((ANSWERS.to_owned(), answer.signal.to_string())),
                _ => None,
            });
            trailers.extend(answers);
            trailers.push(("Review".to_owned(), why.clone()));
        }
        trailers.extend(shared.clock_trailer());
        trailers
    }
}

/// Makes a run's branch. Its name has the run's own id, so that it can only exist if the clock and chance both repeat.
pub(super) fn create_branch(store: &Store, branch: &Branch, commit: CommitId) -> Result<(), CycleError> {
    match store.update_refs(&[RefChange::create(branch.clone(), commit)], "git-brain: run")? {
        RefOutcome::Done { .. } => Ok(()),
        RefOutcome::Modified { .. } => Err(CycleError::refused(format!("the branch {branch} exists already"))),
    }
}

/// The author of a run's commit: the agent, or the person at this machine.
pub fn author(agent: &AgentName) -> store::Author {
    if agent.as_str() == HUMAN { store::Author::User } else { store::Author::Agent(agent.clone()) }
}

/// The neurons that a delta changes, remembered for the merge of the run and for what it wakes.
fn neuron_edits(
    applied: &Applied,
    format: Format,
    writer: &ObjectWriter<'_>,
    shared: &Shared,
) -> Result<Vec<TreeEdit>, CycleError> {
    let mut edits = Vec::with_capacity(applied.neurons.len());
    for (id, (_, after)) in &applied.neurons {
        let content = after.encode_as(format);
        let blob = writer.blob(&content)?;
        shared.neurons.remember(blob, &Arc::new(after.clone()));
        edits.push(TreeEdit { path: layout::neuron(id), change: Change::Put(File::plain(blob)) });
    }
    Ok(edits)
}

/// The other files that a delta changes, its record included.
pub(super) fn edits(applied: &Applied, record: &RunRecord, format: Format) -> Vec<TreeEdit> {
    let mut edits = vec![TreeEdit::new(layout::run(&record.run), Some(record.encode_as(format)))];
    for signal in &applied.signals {
        edits.push(TreeEdit::new(layout::signal(&signal.to, &signal.id), Some(json::pretty(signal))));
    }
    for ack in &applied.acknowledgements {
        edits.push(TreeEdit::new(layout::acknowledgement(&ack.by, &ack.signal), Some(json::pretty(ack))));
    }
    for (name, flag) in &applied.flags {
        edits.push(TreeEdit::new(layout::flag(name), Some(json::pretty(flag))));
    }
    for (id, goal) in &applied.goals {
        edits.push(TreeEdit::new(layout::goal(id), Some(goal.encode())));
    }
    if let Some(entry) = &applied.outcome {
        edits.push(TreeEdit::new(layout::ledger(&entry.run), Some(entry.encode())));
    }
    if let Some(cycle) = &applied.deliberation {
        edits.push(TreeEdit::new(layout::deliberation(&cycle.run), Some(json::pretty(cycle))));
    }
    if let Some(teaching) = &applied.wisdom {
        edits.push(TreeEdit::new(layout::wisdom(&teaching.run), Some(json::pretty(teaching))));
    }
    if let Some(sealed) = &applied.sealed {
        edits.push(TreeEdit::new(layout::sealed(&sealed.run), Some(json::pretty(sealed))));
    }
    edits
}

/// Subject and body of a run's commit: what it did, in a line and in some.
fn message(applied: &Applied, record: &RunRecord) -> (String, String) {
    let made = applied.neurons.values().filter(|(before, _)| before.is_none()).count();
    let touched = applied.neurons.len() - made;
    let count = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let gone = record.effects.iter().filter(|e| e.removed.is_some()).count();
    let parts: Vec<String> = [
        count(made, "new neuron"),
        count(touched, "changed neuron"),
        (gone > 0).then(|| format!("{} taken away", plural(gone, "neuron", "neurons"))),
        count(applied.signals.len(), "signal"),
        count(applied.acknowledgements.len(), "answer"),
        count(applied.flags.len(), "flag"),
        count(usize::from(applied.outcome.is_some()), "outcome"),
        count(usize::from(applied.deliberation.is_some()), "deliberation"),
        count(applied.wisdom.as_ref().map_or(0, |wisdom| wisdom.teaching.seeds.len()), "seed"),
        count(applied.wisdom.as_ref().map_or(0, |wisdom| wisdom.teaching.forget.len()), "forgotten seed"),
        count(applied.sealed.as_ref().map_or(0, |sealed| sealed.sealing.subjects.len()), "new subject"),
        applied.sealed.as_ref().and_then(|sealed| match sealed.sealing.memories.len() {
            0 => None,
            n => Some(plural(n, "sealed memory", "sealed memories")),
        }),
        count(applied.sealed.as_ref().map_or(0, |sealed| sealed.sealing.forget.len()), "forgotten subject"),
        count(applied.goals.len(), "goal"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    let mut lines: Vec<String> = Vec::new();
    if let Some(prediction) = &record.prediction {
        let text = prediction.text.as_deref().map(render::clip).unwrap_or_default();
        let value = prediction.value.map(|v| format!(" ({v})")).unwrap_or_default();
        lines.push(format!("expects: {text}{value}"));
    }
    lines.extend(applied.outcome.iter().map(render::outcome));
    lines.extend(applied.goals.values().map(render::goal));
    let effects = record.effects.iter().flat_map(|effect| {
        let after = effect.neuron.as_ref().and_then(|id| applied.neurons.get(id)).map(|(_, after)| after);
        render::effect(effect, after)
    });
    lines.extend(effects);
    lines.extend(applied.notes.iter().map(|note| format!("note: {note}")));
    let more = lines.len().saturating_sub(MESSAGE_LINES);
    lines.truncate(MESSAGE_LINES);
    if more > 0 {
        lines.push(format!("… and {} more; `git brain show {}` has all", plural(more, "line", "lines"), record.run));
    }
    (format!("{}: {what}", record.agent), lines.join("\n"))
}

impl Cycle {
    /// The newest run of a history. One that says that it started ahead of the clock here counts for none: other machines refuse it, and
    /// would refuse all that is numbered behind it.
    pub fn newest_run(&self, from: CommitId) -> Result<Option<RunId>, CycleError> {
        Ok(self.store.newest_run(from, self.latest_ms())?)
    }

    /// The last millisecond at which a run may have started; under a fixed clock, which may stand before what is there, there is none.
    pub(super) fn latest_ms(&self) -> i64 {
        match self.shared.world.is_fixed() {
            true => i64::MAX,
            false => self.shared.world.latest_seconds().saturating_add(1).saturating_mul(1000) - 1,
        }
    }

    /// A run id above the newest run in the tip's history, so that ids grow along history.
    ///
    /// Where `BRAIN_SEED` fixes ids, they follow from the newest run and from what the tip's network holds, and not from the
    /// tip's own id: the story (`network/narrative`) must not reach ids, and everything else of the network does. Left
    /// out with it are the records of sleeps, which may tell of it, and those of runs, which name commits and are stood for
    /// by the newest of them.
    pub fn new_run_id(
        &self,
        agent: &AgentName,
        tip: CommitId,
        newest: Option<&RunId>,
        document: &[&[u8]],
        attempt: usize,
    ) -> Result<RunId, CycleError> {
        let floor = newest.map_or(i64::MIN, |run| run.unix_ms() + 1);
        let now = self.shared.world.now_ms().max(floor);
        let (backend, attempt) = (self.backend(tip)?, (attempt as u64).to_be_bytes());
        let newest = newest.map_or("", RunId::as_str);
        let mut fields: Vec<&[u8]> = vec![backend.as_bytes(), newest.as_bytes(), agent.as_str().as_bytes(), &attempt];
        fields.extend(document);
        Ok(RunId::new(now, self.shared.world.id_bits(&fields), agent))
    }

    /// What ids follow from where `BRAIN_SEED` fixes them, empty where it does not: what a commit's network holds, but for
    /// stories and for records of runs and sleeps.
    pub fn backend(&self, commit: CommitId) -> Result<String, CycleError> {
        let mut ids = String::new();
        if !self.shared.world.has_seed() {
            return Ok(ids);
        }
        let tree = self.store.tree_of(commit)?;
        for folder in BACKEND {
            let id = self.store.folder(tree, folder)?.map(|id| id.to_string());
            ids += &format!("{folder} {}\n", id.unwrap_or_default());
        }
        let metadata = self.store.file(tree, layout::METADATA)?.map(|file| file.blob.to_string());
        // Ids are the same as before there were deliberations, as long as there are none.
        let deliberations = self.store.folder(tree, layout::DELIBERATIONS)?.map(|id| id.to_string());
        Ok(ids + &metadata.unwrap_or_default() + &deliberations.unwrap_or_default())
    }
}

/// The folders of the network that ids follow from.
const BACKEND: [&str; 8] = [
    layout::NEURONS,
    layout::STIMULI,
    layout::SIGNALS,
    layout::FLAGS,
    layout::GOALS,
    layout::LEDGER,
    layout::WISDOM,
    layout::ESCALATIONS,
];
