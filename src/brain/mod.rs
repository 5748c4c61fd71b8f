//! The façade: everything that a front door can ask of a brain, as functions from plain data to plain data.
//!
//! Front doors (`cli`, `http`) know this room and `model` types, nothing else. Every answer is a value
//! that serialises; how it is printed is the front door's business.

mod answers;
mod approved;
mod ask;
mod audit;
mod bisect;
mod capture;
mod chart;
mod chat;
mod check;
mod checkout;
mod ci;
pub mod client;
mod compared;
mod correction;
pub mod council;
mod council_run;
mod council_view;
mod decide;
mod decision;
mod declined;
mod define;
mod deliberate;
mod doctor;
mod driver;
mod explain;
mod feed;
mod find;
mod fruit;
mod goal;
mod gone;
mod hook;
mod inflow;
mod inputs;
pub mod integrity;
mod ledger;
mod look;
mod loops;
mod make;
mod meeting;
mod models;
mod moment;
mod moving;
mod name;
mod newer;
mod outcome;
mod owed;
mod person;
mod picture;
mod pr;
mod prime;
mod pulse;
mod reading;
mod receive;
mod reconsider;
mod remark;
mod replaced;
mod revert;
mod review;
pub mod schema;
mod serve;
mod setup;
mod signals;
mod sleep;
mod story;
mod subject;
mod sync;
pub mod trade;
mod trust;
mod unapproved;
mod unfinished;
mod unsealed;
mod upgrade;
mod verdict;
mod view;
mod vitals;
mod watch;
mod why;
pub mod wisdom;
mod words;
mod workflow;
mod write;

use std::path::Path;

pub use crate::activation::recall::{Also, Answer};
pub use crate::chemistry::dopamine::{Calibration, LEAST_STATED};
pub use crate::cognition::chain::ToolUse;
pub use crate::cycle::budget::Left;
pub use crate::cycle::chat::{
    Asks, ChainNode, ChatAnswer, ChatEvent, ChatRequest, Citation, Hear, Unanswered, Wanted as ChatMode,
};
pub use crate::cycle::confirm::{Confirmations, Waiting};
pub use crate::cycle::deliberation::Handoff;
pub use crate::cycle::file::{Finding, Level};
pub use crate::cycle::inhibition::Inhibition;
pub use crate::deliberation::classes::Class as LeafClass;
pub use crate::deliberation::events::{Action as DeliberationAction, Event as DeliberationEvent};
pub use crate::deliberation::gates::GateRecord;
pub use crate::deliberation::gates::OUT_OF_SAMPLE;
pub use crate::deliberation::record::Standing;
pub use crate::delta::{Method, Valued};
pub use crate::forge::{Kind as ForgeKind, State as RequestState, Written};
pub use crate::picture::arrays::{bytes as picture_bytes, places as picture_places};
pub use crate::picture::chart::Chart;
pub use crate::picture::{Picture, dot, graphml, mermaid, svg};
pub use crate::review::page::{Block as ReviewBlock, Tone, blocks, html, markdown, plain};
pub use crate::review::{Belief, ReviewRecord, Verdict as ReviewVerdict};
pub use crate::store::{CheckedOut, HookDone, HookState, Notes};
pub use crate::text::{Shared, said_from, shared, states};
pub use crate::vitals::Verdict;
pub use crate::vitals::verdict::{Answer as VerdictAnswer, summed_up};
pub use ask::{Propagated, RecallAnswer, RecallRequest};
pub use audit::{AuditAccepted, AuditFinding, AuditItem, AuditLevel, AuditReport, AuditRule, AuditSample};
pub use bisect::{Answered as BisectAnswer, BisectReport, BisectRequest, Expectation};
pub use chart::write_chart;
pub use check::{BranchCheck, CheckReport, FixReport};
pub use checkout::CheckoutReport;
pub use ci::{CiQueue, CiReport, CiRequest, CiRun};
pub use decide::{DecideReport, DecideRequest};
pub use decision::{ReviewReport, ReviewRequest};
pub use define::Thinker;
pub use deliberate::{CycleLine, DeliberateReport, DeliberateRequest, ExaminedReport, ForestReport, ResultLine};
pub use doctor::{Checkup, DoctorReport, Health};
pub use driver::{DriverFiles, DriverReport};
pub use feed::{Correction, FeedReport, FeedRequest};
pub use find::{Concept, FindAnswer};
pub use goal::{GoalReport, GoalsReport};
pub use gone::GoneFile;
pub use hook::HooksAnswer;
pub use inflow::Window;
pub use inputs::{FedFile, Source, path_in, read_source, sources};
pub use ledger::{AgentCalibration, Judgement, LedgerReport, LedgerView};
pub use look::{BlameLine, Differences, History, LogEntry, Replaced, Shown, Signs, Status, WhyEntry};
pub use loops::AgentLoop;
pub use make::{InitReport, InitRequest};
pub use models::{ModelReport, ModelTest, ModelsReport};
pub use moment::DayEdge;
pub use moving::{ExportRequest, Exported, ImportRequest, Imported, MoveProgress, MovedIn};
pub use outcome::{OutcomeReport, OutcomeRequest};
pub use picture::{NeuronName, PictureRequest};
pub use pr::{PrEntry, PrReport, PrRequest};
pub use prime::{Lesson, Prime, PrimeMemory, PrimeRequest};
pub use pulse::{Moved, Pulse, Touched};
pub use reading::UnreadFile;
pub use receive::HookAnswer;
pub use reconsider::Reconsidered;
pub use remark::{RemarkReport, RemarkRequest};
pub use revert::{AmendReport, Statement, is_run, is_sleep_branch};
pub use review::{Decision, ReviewLine, ReviewList};
pub use serve::{Doors, Ended, Listening, Server, Serving};
pub use setup::{SetupFile, SetupOrder, SetupReport, SetupRequest, SetupState};
pub use signals::{ReplayReport, SignalLine, SignalsReport, SignalsRequest};
pub use sleep::{SleepReport, SleepRequest, SleepState, UndoReport};
pub use story::{NarrativeGap, Story, StoryView, ToldChapter};
pub use subject::{SealReport, SealRequest, SubjectLine, SubjectList, SubjectMemories, SubjectMemory, SubjectReport};
pub use sync::{PushedBranch, SyncReport};
pub use trust::{TrustItem, TrustReport};
pub use unapproved::Unapproved;
pub use upgrade::UpgradeReport;
pub use view::{CommitView, Conversation, NeuronView, Said, Touch};
pub use vitals::{SinceSleep, Vitals};
pub use watch::{WatchEvent, Watched};
pub use words::{COMPLETE, asking_shell};
pub use workflow::Workflow;
pub use write::{ApplyReport, Due, DueReport, MergeReport, MergeTreeReport, RunReport};

use crate::cycle::Cycle;
pub use crate::cycle::{CycleError as BrainError, HUMAN, Progress, RunBounds};
pub use crate::model::settings::Override;
pub use crate::world::progress::show_by as show_progress_by;
pub use crate::world::{World, WorldError};

/// One brain, opened by one command.
pub struct Brain {
    pub(crate) cycle: Cycle,
    confirmations: Confirmations,
}

impl Brain {
    /// Opens the brain that `dir` lies in, with settings from flags.
    pub fn open(dir: &Path, world: World, flags: &[Override]) -> Result<Self, BrainError> {
        Ok(Self::over(Cycle::open(dir, world, flags)?))
    }

    /// Opens the brain of a store that was opened in that folder.
    fn open_store(
        dir: &Path,
        store: crate::store::Store,
        world: World,
        flags: &[Override],
    ) -> Result<Self, BrainError> {
        Ok(Self::over(Cycle::open_store(dir, store, world, flags)?))
    }

    /// Opens it for who only looks: where the settings of main cannot be read, without them, and with what is wrong.
    ///
    /// # Errors
    /// As [`Brain::open`], of anything but those settings.
    pub fn open_to_look(
        dir: &Path,
        world: World,
        flags: &[Override],
    ) -> Result<(Self, Option<BrainError>), BrainError> {
        let (cycle, fault) = Cycle::open_to_look(dir, world, flags)?;
        Ok((Self::over(cycle), fault))
    }

    /// Opens it for its audit: where the settings of main cannot be read, or wake has a newer format, with what is wrong.
    ///
    /// # Errors
    /// As [`Brain::open`], of anything but those.
    pub fn open_to_audit(
        dir: &Path,
        world: World,
        flags: &[Override],
    ) -> Result<(Self, Option<BrainError>), BrainError> {
        let (cycle, fault) = Cycle::open_to_audit(dir, world, flags)?;
        Ok((Self::over(cycle), fault))
    }

    fn over(cycle: Cycle) -> Self {
        Self { cycle, confirmations: Confirmations::default() }
    }

    /// The commit that a revision names; wake's tip by default.
    fn at(&self, revision: Option<&str>) -> Result<crate::store::CommitId, BrainError> {
        let store = &self.cycle.store;
        match revision {
            None => Ok(store.need_tip(store.wake())?),
            Some(text) => store.resolve(text)?.ok_or_else(|| BrainError::Usage {
                message: format!("{text} names no commit"),
                hint: Some("any revision that git understands will do: wake, main, wake~3, an id".to_owned()),
            }),
        }
    }

    /// What whoever commits here should know first, one sentence each: that other machines will not let it in.
    pub fn warnings(&self) -> Result<Vec<String>, BrainError> {
        let mut warnings = Vec::new();
        if !self.cycle.store.has_remote()? {
            return Ok(warnings);
        }
        if self.cycle.shared.world.is_fixed() {
            warnings.push(
                "BRAIN_NOW or BRAIN_SEED is set: other machines refuse at sync what is committed under a fixed clock; unset both, or try it \
                 in a copy without a remote"
                    .to_owned(),
            );
        }
        let unshared = &self.cycle.shared.policy.unshared;
        if !unshared.is_empty() {
            warnings.push(format!(
                "{}: not as brain.toml says. What is committed by settings of your own cannot be done again elsewhere, and other \
                 machines refuse it at sync; put them into brain.toml on main",
                unshared.join(", ")
            ));
        }
        Ok(warnings)
    }

    /// The list of what the store puts right or leaves alone: what a command did not tell of it is told at its end.
    pub fn notes(&self) -> Notes {
        self.cycle.store.notes()
    }

    /// What the store put right on the way, one sentence each.
    pub fn take_notes(&self) -> Vec<String> {
        self.cycle.store.take_notes()
    }
}

/// Carries out what the engine orders for a program of an agent, and returns the exit code of this process. What cannot be
/// done is said on standard error, to the engine.
#[must_use]
pub fn confine(orders: &str, probe: bool) -> u8 {
    crate::cycle::confine::carry_out(orders, probe).unwrap_or_else(|error| {
        eprintln!("{}{error}", crate::cycle::confine::VOICE);
        crate::cycle::confine::CANNOT_START
    })
}
