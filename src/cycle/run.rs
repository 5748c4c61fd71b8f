//! Stage 3, run: spawn → cognition. From a job and the tip it starts from to a delta document that may be committed.
//!
//! Agents run side by side, each on its own snapshot with its own view of the repository.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::budget::{Exhausted, Payer};
use super::command::{self, CommandError};
use super::commit::{Committed, Draft};
use super::context::without_raw_input;
use super::deliberation::{Question, told_live};
use super::job::Job;
use super::judging::{Looked, Veil};
use super::knowledge::{Knowledge, name_statements};
use super::models::Models;
use super::network::TreeNetwork;
use super::policy::EVALUATOR;
use super::spawn::{Part, Spawn, Thought, blocking, shown};
use super::wisdom::TOLD;
use super::{Cycle, CycleError, goals, ledger, quoted};
use crate::cognition::{Raised, Snapshot, choice, reflex};
use crate::deliberation::classes::Class;
use crate::deliberation::record::CycleRecord;
use crate::delta::operation::{Acknowledge, Deliberate};
use crate::delta::{Document, DocumentError, LedgerEntry, Operation};
use crate::model::Level;
use crate::model::document::{Cognition, Rule};
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::origin::Origins;
use crate::model::{Flag, Origin, json};
use crate::store::{CommitId, Store, TreeId};
use crate::wisdom::Counsel;

/// Memories that are not trusted and that a run's commit names, of those that its agent was shown.
const SHOWN_IDS: usize = 3;

/// What became of one run.
#[derive(Debug)]
pub enum Ran {
    /// A commit, on its own branch or not published yet.
    Committed(Box<Committed>),
    /// It proposed nothing and consumed nothing: nothing to keep.
    Nothing(Job),
    /// It failed, or its delta was refused: nothing was written.
    Failed(Box<Failure>),
    /// It did not start: nothing but the budget stops it.
    Held(Job, Exhausted),
}

/// A run that came to nothing.
#[derive(Debug)]
pub struct Failure {
    /// What was due.
    pub job: Job,
    /// The run.
    pub run: RunId,
    /// Why.
    pub error: CycleError,
}

impl Cycle {
    /// Runs the jobs side by side, all from the same tip. The order of the answers is the order of the jobs. `tried` counts the runs
    /// of a round: where ids are fixed, they follow from it.
    pub fn run_jobs(&self, tip: CommitId, jobs: Vec<Job>, tried: &mut usize) -> Result<Vec<Ran>, CycleError> {
        let newest = self.newest_run(tip)?;
        let runs: Vec<(RunId, Job)> = jobs
            .into_iter()
            .map(|job| {
                let run = self.new_run_id(&job.agent, tip, newest.as_ref(), &[job.reason.as_bytes()], *tried)?;
                *tried += 1;
                Ok((run, job))
            })
            .collect::<Result<_, CycleError>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            // A chain holds one while it asks, and asking may need one to look up a name.
            .max_blocking_threads(self.shared.policy.settings.cycle.parallel.max(1) * 2)
            .enable_all()
            .build()
            .map_err(|e| CycleError::Busy(format!("cannot start threads: {e}")))?;
        let slots = Arc::new(Semaphore::new(self.shared.policy.settings.cycle.parallel));
        let asks = |(_, job): &(RunId, Job)| {
            let member = self.shared.policy.agents.get(&job.agent);
            member.is_some_and(|m| matches!(m.agent.cognition, Cognition::Llm { .. } | Cognition::Chain { .. }))
        };
        let models = match runs.iter().any(asks) {
            true => Some(Arc::new(Models::new(Arc::clone(&self.shared))?)),
            false => None,
        };
        let is_rule = |agent: &AgentName| {
            let member = self.shared.policy.agents.get(agent);
            member.is_some_and(|member| matches!(member.agent.cognition, Cognition::Reflex { .. }))
        };
        let reminded =
            (runs.iter()).map(|(_, job)| if is_rule(&job.agent) { Ok(Vec::new()) } else { self.reminded(tip, job) });
        let reminded: Vec<Vec<(NeuronId, f64)>> = reminded.collect::<Result<_, CycleError>>()?;
        runtime.block_on(async {
            let mut handles = Vec::new();
            for ((run, job), reminded) in runs.into_iter().zip(reminded) {
                let spawn = Spawn { cycle: self.part(models.clone()), tip, run, job, reminded };
                // Taken here: tasks that are let go at once begin in any order.
                let slot = Arc::clone(&slots).acquire_owned().await;
                handles.push(tokio::spawn(async move {
                    let _slot = slot;
                    spawn.execute().await
                }));
            }
            let mut ran = Vec::new();
            for handle in handles {
                ran.push(handle.await.map_err(|e| CycleError::Busy(format!("a run was cut off: {e}")))?);
            }
            Ok(ran)
        })
    }

    /// What a run on another thread needs.
    fn part(&self, models: Option<Arc<Models>>) -> Part {
        Part { dir: self.dir.clone(), shared: Arc::clone(&self.shared), recent: self.store.recent(), models }
    }
}

impl super::Shared {
    /// Asks the program that an agent thinks with, once its budget is reserved; settled when the program has ended.
    pub async fn ask(
        &self,
        agent: &AgentName,
        roots: &[StimulusId],
        cognition: &Cognition,
        input: Vec<u8>,
    ) -> Result<Result<Vec<u8>, Exhausted>, CycleError> {
        let Some(program) = command::Program::of(cognition) else {
            return Err(CycleError::refused(format!("{agent} does not think with a program")));
        };
        let reservation = match self.reserve(&Payer::new(agent, roots), self.estimate(agent))? {
            Ok(reservation) => reservation,
            Err(exhausted) => return Ok(Err(exhausted)),
        };
        let output = command::think(&program, &self.place, input).await;
        match &output {
            // What did not start cost nothing.
            Err(CommandError::Start { .. }) => self.release(reservation)?,
            // A program does not say what it cost.
            _ => self.settle(reservation, None)?,
        }
        // What a program says goes no further before its secrets are out of it.
        let clean = |output: Vec<u8>| self.secrets.redact_json(&output).unwrap_or(output);
        output.map(|output| Ok(clean(output))).map_err(|error| {
            let said = format!("{agent}: {error}");
            let said = self.secrets.redact(&said);
            match &error {
                CommandError::NoDocument { source, .. } => {
                    CycleError::Json(json::JsonError::at("delta", source.line().max(1), "", said))
                }
                _ => CycleError::refused(said),
            }
        })
    }
}

/// Which runs nobody here trusts, each looked up once.
struct Strangers<'n> {
    network: &'n TreeNetwork<'n>,
    origins: &'n Origins,
    known: RefCell<HashMap<RunId, bool>>,
}

impl<'n> Strangers<'n> {
    fn new(network: &'n TreeNetwork<'n>, origins: &'n Origins) -> Self {
        Self { network, origins, known: RefCell::default() }
    }

    /// Those that no such run wrote.
    fn without<T>(&self, all: Vec<T>, run: impl Fn(&T) -> Option<&RunId>) -> Result<Vec<T>, CycleError> {
        let mut kept = Vec::new();
        for one in all {
            if !run(&one).map_or(Ok(false), |run| self.has(run))? {
                kept.push(one);
            }
        }
        Ok(kept)
    }

    fn has(&self, run: &RunId) -> Result<bool, CycleError> {
        if let Some(known) = self.known.borrow().get(run) {
            return Ok(*known);
        }
        let found = match self.network.origin_of(run) {
            // Of what cannot be read nobody knows where it comes from; `check` names it.
            Err(error) if error.is_of_a_file() => true,
            origin => origin?.is_some_and(|origin| self.origins.is_tainted(&origin)),
        };
        self.known.borrow_mut().insert(run.clone(), found);
        Ok(found)
    }
}

/// The document that enters a cycle, and answers the signals that asked for it.
fn entered(goal: &AgentName, job: &Job, cycle: &CycleRecord) -> Document {
    let value = serde_json::to_value(cycle).expect("invariant: a cycle is JSON");
    let mut ops = vec![Operation::Deliberate(Deliberate { goal: goal.clone(), cycle: value })];
    let fruits = cycle.results.iter().filter(|result| result.class == Class::Fruit).count();
    ops.extend(job.signals.iter().map(|signal| {
        let payload = serde_json::json!({"kind": "deliberated", "goal": goal, "cycle": cycle.cycle, "fruits": fruits});
        Operation::Acknowledge(Acknowledge { signal: signal.id.clone(), payload })
    }));
    Document { agent: None, prediction: None, ops }
}

impl Spawn {
    async fn execute(self) -> Ran {
        let (run, job) = (self.run.clone(), self.job.clone());
        match self.try_execute().await {
            Ok(Thought::Committed(committed)) => Ran::Committed(committed),
            Ok(Thought::Nothing) => Ran::Nothing(job),
            Ok(Thought::Held(exhausted)) => Ran::Held(job, exhausted),
            Err(error) => Ran::Failed(Box::new(Failure { job, run, error })),
        }
    }

    async fn try_execute(self) -> Result<Thought, CycleError> {
        let member = self.cycle.shared.policy.agents.get(&self.job.agent);
        let cognition = member.map(|m| m.agent.cognition.clone());
        let this = Arc::new(self);
        if let Some(document) = this.job.refusals() {
            return blocking(move || this.refuse(document)).await.map(|committed| Thought::of(Some(committed)));
        }
        match cognition {
            None => Err(CycleError::refused(format!("there is no agent {}", this.job.agent))),
            Some(Cognition::Llm { model, repairs }) => this.with_model(&model, repairs).await,
            Some(Cognition::Chain { repairs }) => this.with_chain(repairs).await,
            Some(Cognition::Deliberation { goal, trees }) => blocking(move || {
                let (cycle, store) = (this.cycle.whole()?, this.cycle.store()?);
                let authority = this.cycle.shared.policy.authority(&this.job.agent)?;
                let question = Question {
                    goal: goal.clone(),
                    trees,
                    initiative: this.job.agent.to_string(),
                    run: this.run.clone(),
                    limits: authority.1,
                    waits: false,
                    refused: BTreeSet::new(),
                    writes: true,
                };
                let live = told_live(store.common_dir());
                let record = cycle.deliberate(&question, &live)?;
                let document = entered(&goal, &this.job, &record);
                let Some(draft) = this.draft(document, cycle.origin_of_cycle(&goal, &record)?)? else {
                    return Ok(None);
                };
                let applied = draft.apply(&store, &this.cycle.shared)?;
                let settled = draft.settle(&applied, &store, &this.cycle.shared, true)?;
                cycle.forget_used(&goal, &record)?;
                Ok(Some(settled))
            })
            .await
            .map(Thought::of),
            Some(Cognition::Council { members, timeout_s }) => {
                blocking(move || this.with_council(&members, timeout_s)).await.map(Thought::of)
            }
            Some(Cognition::Reflex { rule }) => blocking(move || {
                let store = this.cycle.store()?;
                let network = TreeNetwork::remembering(&store, store.tree_of(this.tip)?, &this.cycle.shared.neurons);
                let snapshot = this.snapshot(&store, &network)?;
                let knowledge = Knowledge { part: &this.cycle, tip: this.tip, network: &network };
                let document = reflex::think(rule, &snapshot, &knowledge, &this.cycle.shared.policy.settings);
                if let Some(error) = network.take_failure() {
                    return Err(error);
                }
                let quoted = this.quoted(rule, &document, &network)?;
                let Some(draft) = this.draft(document, quoted)? else { return Ok(None) };
                let applied = draft.apply_to(&network, &this.cycle.shared)?;
                draft.settle(&applied, &store, &this.cycle.shared, false).map(Some)
            })
            .await
            .map(Thought::of),
            Some(cognition @ Cognition::Command { .. }) => {
                let spawn = Arc::clone(&this);
                let input = blocking(move || {
                    let store = spawn.cycle.store()?;
                    let network =
                        TreeNetwork::remembering(&store, store.tree_of(spawn.tip)?, &spawn.cycle.shared.neurons);
                    let snapshot = spawn.snapshot(&store, &network)?;
                    let seen = shown(&snapshot);
                    let (snapshot, veil) = match spawn.judges() {
                        true => Veil::over(snapshot, &network).map(|(snapshot, veil)| (snapshot, Some(veil)))?,
                        false => (snapshot, None),
                    };
                    Ok((json::pretty(&snapshot), veil, seen))
                })
                .await?;
                let (input, veil, seen) = input;
                let shared = Arc::clone(&this.cycle.shared);
                let output = match shared.ask(&this.job.agent, &this.job.roots, &cognition, input).await? {
                    Ok(output) => output,
                    Err(exhausted) => return Ok(Thought::Held(exhausted)),
                };
                blocking(move || {
                    let what = format!("the delta of {}", this.job.agent);
                    let document = Document::parse(&output, &what).map_err(|e| match e {
                        DocumentError::Json(e) => CycleError::Json(e),
                        limit => CycleError::Document(limit),
                    })?;
                    let store = this.cycle.store()?;
                    let document = match veil {
                        Some(veil) => this.lifted(&veil, document, &store)?,
                        None => document,
                    };
                    let Some(draft) = this.draft(document, seen)? else { return Ok(None) };
                    let applied = draft.apply(&store, &this.cycle.shared)?;
                    draft.settle(&applied, &store, &this.cycle.shared, true).map(Some)
                })
                .await
                .map(Thought::of)
            }
        }
    }

    /// Commits the engine's own answers.
    fn refuse(&self, document: Document) -> Result<Committed, CycleError> {
        let (store, shared) = (self.cycle.store()?, &self.cycle.shared);
        let network = TreeNetwork::remembering(&store, store.tree_of(self.tip)?, &shared.neurons);
        let mut draft = Draft::of_job(shared, self.tip, self.run.clone(), &self.job, document, Origin::local())?;
        draft.cognition = "refused".to_owned();
        let applied = draft.apply_to(&network, shared)?;
        match draft.held {
            Some(_) => draft.commit(&applied, &store, shared),
            None => draft.commit_unpublished(&applied, &store, shared),
        }
    }

    /// The origin of what a rule quotes of the network. Perception tells of its stimuli alone.
    fn quoted(&self, rule: Rule, document: &Document, network: &TreeNetwork<'_>) -> Result<Origin, CycleError> {
        if matches!(rule, Rule::Perception | Rule::Bootstrap) {
            return Ok(Origin::local());
        }
        let shared = &self.cycle.shared;
        let given = self.job.signals.iter().map(|signal| &signal.payload);
        let named = |words: &str| shared.concept(network, words);
        quoted::by_rule(document, given, network, &shared.policy.settings.origins, &named)
    }

    /// True for the agent that judges others, and sees no names.
    pub fn judges(&self) -> bool {
        self.job.agent.as_str() == EVALUATOR
    }

    /// What a judging program answered, with the names back in their places.
    pub fn lifted(&self, veil: &Veil, document: Document, store: &Store) -> Result<Document, CycleError> {
        let tree = store.tree_of(self.tip)?;
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let learning = &self.cycle.shared.policy.settings.learning;
        let (ledger, goals) = (ledger::newest(store, tree, learning.history)?, goals::open(store, tree)?);
        veil.lift(document, &Looked { network: &network, ledger: &ledger, goals: &goals, learning })
    }

    /// What to apply and commit; nothing if there is nothing to keep.
    pub fn draft(&self, mut document: Document, seen: Origin) -> Result<Option<Draft>, CycleError> {
        let (store, shared) = (self.cycle.store()?, &self.cycle.shared);
        let network = TreeNetwork::remembering(&store, store.tree_of(self.tip)?, &shared.neurons);
        shared.make_no_doubles(&network, &mut document, &mut Vec::new())?;
        let member = shared.policy.agents.get(&self.job.agent);
        let is_rule = member.is_some_and(|member| matches!(member.agent.cognition, Cognition::Reflex { .. }));
        if !is_rule {
            choice::settle(&mut document, &self.job.signals)
                .map_err(|why| CycleError::refused(format!("{}: {why}", self.job.agent)))?;
            name_statements(&mut document);
        }
        let mut draft = Draft::of_job(&self.cycle.shared, self.tip, self.run.clone(), &self.job, document, seen)?;
        if !is_rule && shared.policy.settings.origins.is_tainted(&draft.origin) {
            let shown = self.snapshot(&store, &network)?.neurons.into_iter();
            let tainted = shown.filter(|neuron| shared.policy.settings.origins.is_tainted(&neuron.origin));
            draft.amends.shown = tainted.map(|neuron| neuron.id).take(SHOWN_IDS).collect();
        }
        // An agent that asks for more care than the settings is taken at its word.
        if is_rule && shared.policy.settings.origins.level(&draft.origin) == Level::Review {
            draft.shape_nothing_of_strangers();
        }
        Ok((!draft.document.ops.is_empty() || !self.job.stimuli.is_empty()).then_some(draft))
    }

    /// The entries that runs of trusted origins wrote, and of the others the reviewers' own words: the entry about a run that comes from a
    /// stranger comes from there as well, and the reason of its review does not.
    fn trusted_of(&self, ledger: Vec<LedgerEntry>, strangers: &Strangers<'_>) -> Result<Vec<LedgerEntry>, CycleError> {
        let (mut trusted, mut reviewed) = (Vec::new(), None);
        for mut entry in ledger {
            let is_strange = strangers.has(&entry.run)?;
            if !is_strange && !entry.outcome.text.as_deref().is_some_and(ledger::is_of_review) {
                trusted.push(entry);
                continue;
            }
            if reviewed.is_none() {
                let cycle = self.cycle.whole()?;
                let wake = cycle.store.tree_of(cycle.store.need_tip(cycle.store.wake())?)?;
                let let_in = cycle.let_in(&TreeNetwork::new(&cycle.store, wake))?;
                reviewed = Some((cycle, let_in));
            }
            let Some((cycle, let_in)) = &reviewed else { continue };
            // The words that were kept out are in the decision alone, and what was said of it later.
            let words = cycle.words_of_review(&entry.judged, let_in)?;
            if is_strange {
                let Some(words) = words else { continue };
                entry.outcome.text = Some(words);
                (entry.prediction.text, entry.chosen) = (None, None);
            } else if let Some(words) = words {
                entry.outcome.text = Some(words);
            }
            trusted.push(entry);
        }
        Ok(trusted)
    }

    /// What was learnt about what the run is asked.
    fn counsel(&self, store: &Store, tree: TreeId, most: usize) -> Result<Vec<Counsel>, CycleError> {
        if store.folder(tree, layout::WISDOM)?.is_none() {
            return Ok(Vec::new());
        }
        let stimuli: Vec<&str> = self.job.stimuli.iter().map(|stimulus| stimulus.text.as_str()).collect();
        let payloads = self.job.signals.iter().map(|signal| &signal.payload);
        let queries: Vec<&str> = payloads.filter_map(|payload| payload.get("query")?.as_str()).collect();
        self.cycle.whole()?.counsel_for(tree, &stimuli, &queries, most)
    }

    pub fn snapshot(&self, store: &Store, network: &TreeNetwork<'_>) -> Result<Snapshot, CycleError> {
        let tree = store.tree_of(self.tip)?;
        let shared = &self.cycle.shared;
        let member = shared.policy.agents.get(&self.job.agent).map(|m| &m.agent.cognition);
        let looks_back = !matches!(member, Some(Cognition::Reflex { rule }) if !reflex::looks_back(*rule));
        let (mut ledger, mut goals) = match looks_back {
            true => (ledger::newest(store, tree, shared.policy.settings.learning.history)?, goals::open(store, tree)?),
            false => (Vec::new(), Vec::new()),
        };
        let mut raised = raised_flags(store, tree)?;
        if !matches!(member, Some(Cognition::Reflex { .. })) {
            // As with neurons that nothing asks for: what others of little trust wrote would make the run as little trusted.
            let strangers = Strangers::new(network, &shared.policy.settings.origins);
            ledger = self.trusted_of(ledger, &strangers)?;
            goals = strangers.without(goals, |goal| goal.run.as_ref())?;
            raised = strangers.without(raised, |(_, run)| run.as_ref())?;
        }
        let raised: Vec<Raised> = raised.into_iter().map(|(raised, _)| raised).collect();
        let counsel = match looks_back && !self.judges() && shared.policy.settings.wisdom.enabled {
            // A rule looks for the seeds about each option among all, which costs it no tokens.
            true if matches!(member, Some(Cognition::Reflex { .. })) => self.counsel(store, tree, usize::MAX)?,
            true => self.counsel(store, tree, TOLD)?,
            false => Vec::new(),
        };
        let snapshot = Snapshot {
            run: self.run.clone(),
            agent: self.job.agent.clone(),
            at: self.job.clock,
            trigger: self.job.reason.clone(),
            stimuli: self.job.stimuli.clone(),
            signals: self.job.signals.clone(),
            active: self.job.active.clone(),
            // Whoever judges does not see who was asked.
            answers: if self.judges() { Vec::new() } else { self.job.answers.clone() },
            raised: if self.judges() { Vec::new() } else { raised.clone() },
            flags: raised.into_iter().map(|raised| raised.name).collect(),
            agents: shared.policy.summaries(),
            neurons: self.context(network, shared.policy.settings.context.tokens)?,
            ledger,
            goals,
            counsel,
        };
        Ok(if self.shows_raw_input() { snapshot } else { without_raw_input(snapshot) })
    }
}

/// The flags that are on, and the runs that raised them.
fn raised_flags(store: &Store, tree: TreeId) -> Result<Vec<(Raised, Option<RunId>)>, CycleError> {
    let mut raised = Vec::new();
    for (path, file) in store.files(tree, layout::FLAGS)? {
        let Place::Flag(name) = Place::of(&path) else { continue };
        // One that cannot be read is off, and stops no run: `check` names it.
        let flag = json::strict::<Flag>(&store.blob(file.blob)?, &path, crate::limits::DOCUMENT_BYTES);
        if let Some(flag) = flag.ok().filter(|flag| flag.value) {
            let by = flag.run.as_ref().map(RunId::agent);
            raised.push((Raised { name, by, reason: flag.reason }, flag.run));
        }
    }
    Ok(raised)
}
