//! Inhibition of the loop: how the rounds before branched, read off git; and what the brake holds back.
//!
//! [`crate::trigger::brake`] judges; this counts and remembers. The rounds are those of wake's history: the runs that started
//! from one commit, with the causal distance that their commits name. So a killed process leaves no brake on. What is held
//! back lies in the private folder, beside the marker of how far triggers were evaluated and for the same reason: it is
//! written before the round that leaves it out, and rewritten after that round is merged. A kill between makes some of it
//! start twice unless it was answered, and loses none of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::job::Job;
use super::jobs::REFUSED_STEPS;
use super::{Cycle, CycleError};
use crate::limits;
use crate::model::document::Rule;
use crate::model::ids::{AgentName, NeuronId, SignalId, StimulusId};
use crate::model::plural;
use crate::store::CommitId;
use crate::trigger::brake::{self, Brake, Round};

/// The file of what is held back.
const FILE: &str = "held";

/// What an agent has not been woken for yet, though it was due.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Runs that were due.
    pub runs: usize,
    /// What would have woken it, in words.
    pub reason: String,
    /// Signals to answer.
    pub signals: BTreeSet<SignalId>,
    /// Neurons whose activation woke it.
    pub active: BTreeSet<NeuronId>,
    /// Stimuli that it did not see, and that whoever ran first took out of the queue.
    #[serde(default)]
    pub stimuli: BTreeSet<StimulusId>,
    /// Whether the budget or a failure of the machine keeps it, and not the brake.
    #[serde(default)]
    pub is_unpaid: bool,
}

/// What the brake holds back, by agent.
pub type HeldBack = BTreeMap<AgentName, Waiting>;

/// The brake as it stands between two commands.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Inhibition {
    /// Whether runs are held back, or would be if what is due went on growing.
    pub on: bool,
    /// Runs that wait because of it.
    pub held: usize,
    /// Runs that wait for the budget, or because the machine failed.
    pub unpaid: usize,
    /// Rounds in a row that have grown.
    pub above: u32,
    /// Runs that runs caused, over the runs of the round before, in the newest round that has a ratio.
    pub ratio: Option<f64>,
}

/// The brake while a command turns the loop.
pub(super) struct Braking {
    brake: Brake,
    /// A braked round of a single run was not enough: this command starts no more of what runs have caused.
    spent: bool,
    held: HeldBack,
    /// What did not start because of the budget or was cut off by the machine, in this command.
    unpaid: Vec<Job>,
    told: Option<(f64, u32)>,
}

impl Braking {
    /// Takes out of a round what the brake does not let start.
    pub(super) fn hold_back(&mut self, cycle: &Cycle, jobs: &mut Vec<Job>) {
        self.brake.judge(jobs.iter().filter(|job| is_caused(job)).count());
        let most = self.brake.most().map(|most| if self.spent { 0 } else { most });
        let mut back = Vec::new();
        if let Some(most) = most {
            let priority = |job: &Job| cycle.shared.policy.agents.get(&job.agent).map_or(0, |m| m.agent.priority);
            let priorities: Vec<Option<u32>> = jobs.iter().map(|job| can_wait(job).then(|| priority(job))).collect();
            let mut starts = brake::starting(&priorities, most).into_iter();
            back = jobs.extract_if(.., |_| !starts.next().unwrap_or(true)).collect();
            self.spent |= most <= 1 && !back.is_empty();
            self.told = self.brake.ratio().map(|ratio| (ratio, self.brake.above()));
        }
        self.held = HeldBack::new();
        self.wait(&self.unpaid.clone(), true);
        self.wait(&back, false);
    }

    /// Keeps what was cut off a round for another reason, where it had waited before, and stimuli of whoever does not perceive: nothing else
    /// remembers them.
    pub(super) fn cut_off(&mut self, cycle: &Cycle, jobs: &[Job]) {
        let before = cycle.held_back();
        let waited = jobs.iter().filter(|job| can_wait(job) && before.contains_key(&job.agent));
        self.wait(&waited.cloned().collect::<Vec<_>>(), false);
        let unseen: Vec<Job> = jobs.iter().filter(|job| may_lose(cycle, job)).cloned().collect();
        self.wait(&unseen, true);
    }

    /// Keeps what did not start because of the budget, or ended because the machine failed: nothing else remembers it.
    pub(super) fn unpaid(&mut self, cycle: &Cycle, jobs: &[Job]) {
        let waits = |job: &&Job| !(job.signals.is_empty() && job.active.is_empty()) || may_lose(cycle, job);
        let jobs: Vec<Job> = jobs.iter().filter(waits).cloned().collect();
        self.wait(&jobs, true);
        self.unpaid.extend(jobs);
    }

    fn wait(&mut self, jobs: &[Job], is_unpaid: bool) {
        for job in jobs {
            let waiting = self.held.entry(job.agent.clone()).or_default();
            waiting.is_unpaid = is_unpaid;
            waiting.runs += 1;
            waiting.reason.clone_from(&job.reason);
            waiting.signals.extend(job.signals.iter().map(|s| s.id.clone()));
            waiting.active.extend(job.active.iter().cloned());
            waiting.stimuli.extend(job.stimuli.iter().map(|stimulus| stimulus.id.clone()));
        }
    }

    /// Takes note of what a round starts. Until it is merged, what waited before waits as well.
    pub(super) fn starts(&mut self, cycle: &Cycle, jobs: &[Job]) -> Result<(), CycleError> {
        let bound = cycle.shared.policy.settings.cycle.max_depth;
        self.brake.ran(Round {
            started: jobs.len(),
            caused: jobs.iter().filter(|job| is_caused(job)).count(),
            at_bound: jobs.iter().any(|job| job.depth >= bound),
        });
        let mut all = cycle.held_back();
        for (agent, waiting) in &self.held {
            let known = all.entry(agent.clone()).or_default();
            known.runs = known.runs.max(waiting.runs);
            known.reason.clone_from(&waiting.reason);
            known.is_unpaid = waiting.is_unpaid;
            known.signals.extend(waiting.signals.iter().cloned());
            known.active.extend(waiting.active.iter().cloned());
            known.stimuli.extend(waiting.stimuli.iter().cloned());
        }
        cycle.keep_held_back(&all)
    }

    /// The round is merged, or there was none: only what it left out waits.
    pub(super) fn merged(&self, cycle: &Cycle) -> Result<(), CycleError> {
        cycle.keep_held_back(&self.held)
    }

    /// What to tell people, if it held anything back.
    pub(super) fn note(&self) -> Option<String> {
        let (ratio, rounds) = self.told?;
        let held: usize = self.held.values().map(|waiting| waiting.runs).sum();
        let what =
            format!("inhibition: each round caused more runs than the one before ({ratio:.1} times, {rounds} rounds)");
        Some(match held {
            0 => format!("{what}; the cycle was braked, and all of it has run"),
            _ => format!("{what}; {} held back until the next `git brain run`", plural(held, "run is", "runs are")),
        })
    }
}

/// Whether a run on stimuli is another agent's than perception's, which takes them out of the queue.
fn may_lose(cycle: &Cycle, job: &Job) -> bool {
    !job.stimuli.is_empty() && cycle.reflex(&job.agent) != Some(Rule::Perception)
}

/// True for a run that other runs caused.
fn is_caused(job: &Job) -> bool {
    job.depth >= 2
}

/// True for a run that can be woken later for the same cause. Of a flag nothing is kept but that it is on.
fn can_wait(job: &Job) -> bool {
    is_caused(job) && !(job.signals.is_empty() && job.active.is_empty())
}

impl Cycle {
    /// The brake at the start of a command.
    pub(super) fn braking(&self, tip: CommitId) -> Result<Braking, CycleError> {
        Ok(Braking { brake: self.brake(tip)?, spent: false, held: self.held_back(), unpaid: Vec::new(), told: None })
    }

    /// The brake as the rounds of wake's history leave it.
    pub fn brake(&self, tip: CommitId) -> Result<Brake, CycleError> {
        let settings = &self.shared.policy.settings.inhibition;
        // A third of the rounds at least have a ratio: at the bound of depth, one of two or of three begins anew.
        let rounds = (settings.cycles as usize).saturating_mul(3).saturating_add(2);
        Ok(Brake::after(settings, self.rounds(tip, rounds)?))
    }

    /// The brake as anybody can see it.
    pub fn inhibition(&self, brake: &Brake) -> Inhibition {
        let held = self.held_back();
        let runs = |unpaid| held.values().filter(|of| of.is_unpaid == unpaid).map(|of| of.runs).sum();
        let (held, unpaid) = (runs(false), runs(true));
        Inhibition { on: brake.is_on() || held > 0, held, unpaid, above: brake.above(), ratio: brake.ratio() }
    }

    /// At most so many of the newest rounds of wake's history, oldest first. Costs a look at their commits, and at no more than
    /// [`limits::ROUNDS_WALK`].
    pub fn rounds(&self, tip: CommitId, most: usize) -> Result<Vec<Round>, CycleError> {
        let bound = self.shared.policy.settings.cycle.max_depth;
        let mut rounds: Vec<(CommitId, Round)> = Vec::new();
        for commit in self.store.first_parents(tip, None).take(limits::ROUNDS_WALK) {
            let Some(run) = commit?.parents.get(1).copied() else { continue };
            let run = self.store.commit(run)?;
            let depth = run.trailer("Depth").and_then(|depth| depth.parse::<u32>().ok());
            let depth = depth.filter(|depth| *depth < limits::SPAWN_DEPTH + REFUSED_STEPS);
            let (Some(depth), Some(base)) = (depth, run.parents.first()) else { continue };
            if rounds.last().is_none_or(|(from, _)| from != base) {
                if rounds.len() == most {
                    break;
                }
                rounds.push((*base, Round::default()));
            }
            let Some((_, round)) = rounds.last_mut() else { continue };
            round.started += 1;
            round.caused += usize::from(depth >= 2);
            round.at_bound |= depth >= bound;
        }
        Ok(rounds.into_iter().rev().map(|(_, round)| round).collect())
    }

    /// What the brake holds back.
    pub fn held_back(&self) -> HeldBack {
        self.private_document(FILE)
    }

    fn keep_held_back(&self, held: &HeldBack) -> Result<(), CycleError> {
        if *held == self.held_back() {
            return Ok(());
        }
        self.keep_private(FILE, held)
    }
}
