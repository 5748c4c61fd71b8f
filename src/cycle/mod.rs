//! The loop: stimulus → trigger → run → commit → merge → new triggers, until quiet. One file per stage.
//!
//! `store_stimuli` makes input durable; `due` says which runs are due; `run_jobs` runs them side by side; each commits on
//! its own branch; `merge` brings the branches into wake; [`Cycle::until_quiet`] goes round. Every stage can be
//! restarted from git alone: what waits is in the queue, on branches, or between two commits of wake.
//!
//! `signed` asks who signed what comes from elsewhere. `judging` goes from the outcome of a run to a corrective delta; `ledger` and `goals` read what came of that.
//!
//! The only things here that are not git: the marker of how far triggers were evaluated (a cache; see [`wake`]), and
//! child processes of command agents.

#![allow(clippy::disallowed_methods, reason = "child processes of command agents, and the marker's file")]

pub mod admission;
mod aside;
pub mod audit;
pub mod bootstrap;
pub mod budget;
mod chained;
pub mod chat;
pub mod choices;
mod claims;
mod code;
pub mod command;
pub mod commit;
pub mod confine;
pub mod confirm;
mod context;
mod convened;
pub mod conversation;
pub mod council;
pub mod count;
pub mod deliberation;
pub mod doorbell;
pub mod edited;
mod error;
mod export;
pub mod feeders;
pub mod file;
pub mod goals;
mod group;
mod held;
mod import;
mod influence;
pub mod inhibition;
mod job;
mod jobs;
pub mod judging;
pub mod knowledge;
pub mod ledger;
mod let_in;
pub mod meaning;
pub mod merge;
pub mod models;
pub mod narrative;
pub mod network;
mod one_answer;
pub mod policy;
mod quiet;
pub mod quoted;
pub mod recall;
pub mod reject;
pub mod remarks;
pub mod revert;
mod review_commits;
pub mod reviewing;
pub mod reviews;
pub mod run;
pub mod said;
mod sealed;
mod settled;
mod sides;
pub mod signals;
pub mod signed;
pub mod sleep;
pub mod snapshot;
mod spawn;
pub mod standing;
pub mod statement;
pub mod steering;
pub mod stimulus;
pub mod sync;
mod tally;
pub mod thinking;
mod tombstones;
mod tools;
pub mod trailers;
pub mod trunk;
pub mod upgrade;
pub mod wake;
pub mod wisdom;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

pub use aside::{Aside, Reason};
pub use error::{CycleError, remedy};
pub use export::ExportedFrom;
pub use import::{ImportProgress, Imported, Triple};
pub use meaning::{EmbeddingProgress, Meaning};
pub use policy::{DECISION, EVALUATOR, HUMAN, Member, Policy};
pub use quiet::{Inflow, Progress, RunBounds, RunSummary, Turned};

use crate::limits;
use crate::model::Stimulus;
use crate::model::document::{Cognition, Condition, Rule, State};
use crate::model::ids::{AgentName, RunId, StimulusId};
use crate::model::secret::Secrets;
use crate::model::settings::Override;
use crate::store::{Account, CommitId, Store, Trailer, TreeId};
use crate::world::World;
use command::Place;
use job::Cause;
use knowledge::Concepts;
use network::Neurons;

/// One brain, opened by one command.
pub struct Cycle {
    /// Where the repository was found.
    pub dir: PathBuf,
    /// Whether no code is checked out around here.
    has_no_code: Cell<bool>,
    /// Its repository.
    pub store: Store,
    /// Policy and world, shared with runs on other threads.
    pub shared: Arc<Shared>,
    /// Stimuli of the queue that were read. Stimuli never change.
    waiting: RefCell<HashMap<StimulusId, Arc<Stimulus>>>,
    /// What the runs of this command were, as their records have it: those are long, and never change.
    causes: RefCell<HashMap<RunId, Cause>>,
    /// Stimuli that wait because their origin has brought its share today, by origin.
    held_by_influence: RefCell<BTreeMap<String, usize>>,
    /// Sentences that this command has said already.
    told: RefCell<BTreeSet<String>>,
    /// Which commits brought decisions.
    decisions_walked: RefCell<review_commits::Walk>,
    /// The councils in outline, by the commit of decisions that has them.
    outlined: RefCell<Option<(CommitId, Vec<council::CouncilOutline>)>>,
    /// The runs that are taken back in a tree, and by which run.
    taken_back: RefCell<Option<TakenBack>>,
    /// True while history is audited: a decision that cannot be read is a finding, and stops nothing.
    is_auditing: Cell<bool>,
    /// The decisions that an audit found forged or late: for it they count for nothing.
    void: RefCell<BTreeSet<String>>,
}

/// Of a tree, the runs that are taken back, each with the run that did it.
type TakenBack = (TreeId, Rc<BTreeMap<RunId, RunId>>);

/// What every run of a command shares.
#[derive(Debug)]
pub struct Shared {
    /// Settings and agents.
    pub policy: Policy,
    /// Clock, ids, environment.
    pub world: World,
    /// Neurons that were read lately.
    pub neurons: Neurons,
    /// Concepts by their words.
    pub concepts: Concepts,
    /// What was spent, on all processes of this machine.
    pub account: Account,
    /// Where programs of agents run.
    pub place: Place,
    /// What no object may hold.
    pub secrets: Arc<Secrets>,
}

impl Cycle {
    /// Opens the brain that `dir` lies in, with settings from flags.
    pub fn open(dir: &Path, world: World, flags: &[Override]) -> Result<Self, CycleError> {
        Self::open_store(dir, Store::open(dir)?, world, flags)
    }

    /// Opens the brain of a store that was opened in that folder.
    ///
    /// # Errors
    /// As [`Cycle::open`].
    pub fn open_store(dir: &Path, store: Store, world: World, flags: &[Override]) -> Result<Self, CycleError> {
        upgrade::check_known(&store)?;
        let policy = Policy::load(&store, &world, flags).map_err(|error| error.of_settings(&store))?;
        let cycle = Self::over(dir, store, policy, world)?;
        cycle.settle()?;
        Ok(cycle)
    }

    /// Opens a brain for who only looks: where the settings of main cannot be read, without them, and with what is wrong.
    pub fn open_to_look(
        dir: &Path,
        world: World,
        flags: &[Override],
    ) -> Result<(Self, Option<CycleError>), CycleError> {
        Self::open_in_part(dir, world, flags, |error| matches!(error, CycleError::Broken(_)))
    }

    /// Opens a brain for its audit, which names the commits by which it can be opened for nothing else: settings that cannot be read, a newer format.
    pub fn open_to_audit(
        dir: &Path,
        world: World,
        flags: &[Override],
    ) -> Result<(Self, Option<CycleError>), CycleError> {
        let is_known =
            Store::open(dir).map_err(CycleError::from).and_then(|store| upgrade::check_known(&store)).is_ok();
        Self::open_in_part(dir, world, flags, |error| !is_known || error.is_of_the_history())
    }

    fn open_in_part(
        dir: &Path,
        world: World,
        flags: &[Override],
        goes_on: impl Fn(&CycleError) -> bool,
    ) -> Result<(Self, Option<CycleError>), CycleError> {
        let error = match Self::open(dir, world.clone(), flags) {
            Ok(cycle) => return Ok((cycle, None)),
            Err(error) if goes_on(&error) => error,
            Err(error) => return Err(error),
        };
        let store = Store::open(dir)?;
        let policy = Policy::load(&store, &world, flags).or_else(|_| Policy::without_settings(&store, &world, flags));
        let older = || {
            let main = store.tip(store.main()).ok()??;
            let mut line = store.first_parents(main, None).take(limits::HISTORY_WALK).filter_map(Result::ok);
            line.find_map(|commit| Policy::load_at(&store, &world, flags, commit.id).ok())
        };
        let Some(policy) = policy.ok().or_else(older) else { return Err(error) };
        Ok((Self::over(dir, store, policy, world)?, Some(error)))
    }

    fn over(dir: &Path, mut store: Store, policy: Policy, world: World) -> Result<Self, CycleError> {
        let secrets = Arc::new(policy.secrets(&world)?);
        store.set_secrets(Arc::clone(&secrets));
        let account = Account::at(&store.private_dir());
        let private = [Some(store.common_dir().to_owned()), store.work_dir()].into_iter().flatten().collect();
        let place = Place { home: world.home(), private };
        let shared = Arc::new(Shared {
            policy,
            world,
            neurons: Neurons::default(),
            concepts: Concepts::default(),
            account,
            place,
            secrets,
        });
        Ok(Self {
            dir: dir.to_owned(),
            has_no_code: Cell::new(false),
            store,
            shared,
            waiting: RefCell::default(),
            causes: RefCell::default(),
            held_by_influence: RefCell::default(),
            told: RefCell::default(),
            decisions_walked: RefCell::default(),
            outlined: RefCell::default(),
            taken_back: RefCell::default(),
            is_auditing: Cell::default(),
            void: RefCell::default(),
        })
    }

    /// Opens a repository for what is being pushed to it: objects in git's quarantine are read, and where main is still to
    /// come, the pushed one is the policy.
    pub fn receiving(dir: &Path, world: World, main: Option<CommitId>) -> Result<Self, CycleError> {
        let store = Store::open(dir)?;
        store.read_quarantine()?;
        let main = match (store.tip(store.main())?, main) {
            (Some(here), _) => here,
            (None, Some(pushed)) => pushed,
            (None, None) => {
                return Err(CycleError::refused(format!("there is no {} yet, and none is pushed", store.main())));
            }
        };
        let policy = Policy::load_at(&store, &world, &[], main)?;
        Self::over(dir, store, policy, world)
    }

    /// Forgets what was read of objects, neurons and runs, for a process that stays: rounds of one command have much in common,
    /// and what is answered an hour later has little.
    pub fn forget(&self) {
        self.store.recent().clear();
        self.shared.neurons.clear();
        self.shared.concepts.clear();
        self.causes.borrow_mut().clear();
        self.decisions_walked.take();
        self.outlined.take();
        self.taken_back.take();
    }

    /// Whether the agent consumes stimuli from the queue.
    ///
    /// Never decision, whatever wakes it: it acts on what others made of the input.
    fn consumes_queue(&self, agent: &AgentName) -> bool {
        if agent.as_str() == policy::DECISION {
            return false;
        }
        let asks = |c: &Condition| *c == Condition::State(State::InputQueueNotEmpty);
        self.shared.policy.agents.get(agent).is_some_and(|m| m.agent.trigger.any.iter().any(asks))
    }
}

impl Cycle {
    /// The same brain on another thread, by its own view of the repository.
    fn beside(dir: PathBuf, store: Store, shared: Arc<Shared>) -> Self {
        let (waiting, causes, held_by_influence, told) = Default::default();
        let (decisions_walked, outlined, taken_back, is_auditing, void) = Default::default();
        Self {
            dir,
            has_no_code: Cell::new(false),
            store,
            shared,
            waiting,
            causes,
            held_by_influence,
            told,
            decisions_walked,
            outlined,
            taken_back,
            is_auditing,
            void,
        }
    }

    /// The rule by which an agent thinks, if it is a reflex.
    fn reflex(&self, agent: &AgentName) -> Option<Rule> {
        match self.shared.policy.agents.get(agent)?.agent.cognition {
            Cognition::Reflex { rule } => Some(rule),
            Cognition::Command { .. }
            | Cognition::Llm { .. }
            | Cognition::Chain { .. }
            | Cognition::Council { .. }
            | Cognition::Deliberation { .. } => None,
        }
    }
}

impl Shared {
    /// How an agent thinks, in a word for its records.
    pub fn cognition_name(&self, agent: &AgentName) -> String {
        match self.policy.agents.get(agent).map(|m| &m.agent.cognition) {
            Some(Cognition::Reflex { rule }) => format!("reflex:{rule:?}").to_lowercase(),
            Some(Cognition::Command { argv, .. }) => {
                format!("command:{}", argv.first().map(String::as_str).unwrap_or_default())
            }
            Some(Cognition::Llm { model, .. }) => format!("llm:{model}"),
            Some(Cognition::Chain { .. }) => "chain".to_owned(),
            Some(Cognition::Council { members, .. }) => {
                format!("council:{}", if members.is_empty() { council::DOCUMENT } else { members.as_str() })
            }
            Some(Cognition::Deliberation { goal, .. }) => format!("deliberation:{goal}"),
            None => "apply".to_owned(),
        }
    }

    /// Whether the agent is a reflex whose definition is the bootstrap's own or trusted.
    fn is_builtin_reflex(&self, agent: &AgentName) -> bool {
        let member = self.policy.agents.get(agent);
        member.is_some_and(|m| m.trusted && matches!(m.agent.cognition, Cognition::Reflex { .. }))
    }

    /// Marks commits that were made under a fixed clock or fixed ids.
    pub fn clock_trailer(&self) -> Option<Trailer> {
        self.world.is_fixed().then(|| ("Clock".to_owned(), "fixed".to_owned()))
    }
}
