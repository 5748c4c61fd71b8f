//! Round and round until all is quiet: evaluate triggers, run, merge; and the durable entry of stimuli.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use super::budget::Exhausted;
use super::commit::Committed;
use super::confine::Confinement;
use super::job::Job;
use super::merge::{Candidate, Fate, in_words, waits_because};
use super::network::format_of;
use super::run::{Failure, Ran};
use super::tally::{Full, Tally};
use super::trunk::stimulus_trailers;
use super::wake::Failed;
use super::{Cycle, CycleError};
use crate::limits;
use crate::merge::Conflict;
use crate::model::document::Rule;
use crate::model::ids::{AgentName, RunId, StimulusId, episode_id};
use crate::model::{Stimulus, layout, plural};
use crate::store::{CommitId, LockName, Trailer, TreeEdit};

/// How far to go.
#[derive(Clone, Debug, Default)]
pub struct RunBounds {
    /// Most runs; no bound if `None`.
    pub max_runs: Option<usize>,
    /// Only this agent, once, whatever its trigger says.
    pub agent: Option<AgentName>,
    /// Whether a night is about to begin: who looks back on the day does so now.
    pub is_evening: bool,
}

/// What a caller is told while the loop turns.
#[derive(Clone, Debug)]
pub enum Progress {
    /// Stimuli that are durable so far, of how many.
    Stored(usize, usize),
    /// Runs are starting: how many, and how many stimuli they consume.
    Running(usize, usize),
    /// Runs were merged; so many stimuli are consumed so far.
    Merged(usize, usize),
}

/// One run of the loop.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// What woke it.
    pub trigger: String,
    /// Its commit.
    pub commit: CommitId,
    /// The merge commit; `None`: it stays on its branch.
    pub merged: Option<CommitId>,
    /// What the policy settled, in lines.
    pub decisions: Vec<String>,
    /// What the policy could not settle.
    pub conflicts: Vec<Conflict>,
}

/// What the loop did.
#[derive(Debug)]
pub struct Turned {
    /// Runs, in the order of merging.
    pub runs: Vec<RunSummary>,
    /// Runs that came to nothing.
    pub failures: Vec<Failure>,
    /// Runs that wait, because nothing but the budget stops them: why, each reason once.
    pub unpaid: Vec<String>,
    /// Wake's tip afterwards.
    pub wake: CommitId,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
}

/// Stores the next of what comes in. Returns the number of stimuli; `None`: all of it is in.
pub type Inflow<'i> = dyn FnMut(&mut dyn FnMut(Progress)) -> Result<Option<usize>, CycleError> + 'i;

/// Runs whose causes are remembered; those of others are read again.
const CAUSES: usize = 4 * limits::RUNS_PER_ROUND;

/// What comes in while the loop turns.
struct Coming {
    /// About so many of its stimuli wait.
    waits: usize,
    low: usize,
    is_over: bool,
}

impl Coming {
    /// Has more stored until enough waits for full runs; true if something was.
    fn fill(&mut self, inflow: &mut Inflow<'_>, progress: &mut dyn FnMut(Progress)) -> Result<bool, CycleError> {
        let mut came = false;
        while !self.is_over && self.waits <= self.low {
            match inflow(progress)? {
                Some(count) => self.waits += count,
                None => self.is_over = true,
            }
            came |= !self.is_over;
        }
        Ok(came)
    }

    /// Whether there is more, where nobody takes what waits.
    fn is_more(&mut self) -> bool {
        self.waits = 0;
        !self.is_over
    }
}

/// Runs of one command that descend from no stimulus: from a person's delta, an evening, a commit.
#[derive(Default)]
struct Rootless {
    /// With how many it began.
    began: u64,
    /// How many started.
    ran: u64,
}

impl Rootless {
    fn begin(&mut self, due: usize) {
        if self.began == 0 {
            self.began = due as u64;
        }
    }

    /// Whether one more may start, which then counts; `each`: how many runs one beginning may cause.
    fn may_start(&mut self, each: u32) -> bool {
        let may = self.ran < self.began * u64::from(each);
        self.ran += u64::from(may);
        may
    }
}

impl Turned {
    fn unpaid(&mut self, why: String) {
        if !self.unpaid.contains(&why) {
            self.unpaid.push(why);
        }
    }
}

impl Cycle {
    /// Evaluates triggers, runs what is due, merges, and goes on until nothing is due.
    pub fn until_quiet(&self, bounds: &RunBounds, progress: &mut dyn FnMut(Progress)) -> Result<Turned, CycleError> {
        self.until_quiet_with(bounds, &mut |_| Ok(None), 0, progress)
    }

    /// The same on what comes in meanwhile: where no more than `low` of it waits, `inflow` stores more.
    pub fn until_quiet_with(
        &self,
        bounds: &RunBounds,
        inflow: &mut Inflow<'_>,
        low: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Turned, CycleError> {
        // What comes first is durable before another process is waited for.
        let mut coming = Coming { waits: 0, low, is_over: false };
        coming.fill(inflow, progress)?;
        let _cycle = self.store.lock(LockName::Cycle)?;
        let waiting = self.merge_judged(self.pending()?, false, false)?;
        let refused = |(candidate, fate): &(Candidate, Fate)| match fate {
            Fate::Refused(why) => Some(format!("{} is not merged: {why}", candidate.name)),
            _ => None,
        };
        let notes = waiting.fates.iter().filter_map(refused).collect();
        let wake = waiting.wake;
        let mut turned = Turned { runs: Vec::new(), failures: Vec::new(), unpaid: Vec::new(), wake, notes };
        let mut seen = self.marker();
        let first = seen;
        let mut failed = Failed::from_iter(self.aside().stimuli.into_keys());
        let mut tally = self.shared.tally()?;
        let mut rootless = Rootless::default();
        let mut refused = HashSet::new();
        let mut thought = false;
        let mut consumed = 0;
        let mut asked = false;
        let mut braking = self.braking(wake)?;
        loop {
            if coming.fill(inflow, progress)? {
                turned.wake = self.store.need_tip(self.store.wake())?;
            }
            let tip = turned.wake;
            let mut jobs = match &bounds.agent {
                Some(agent) => self.by_hand(tip, agent)?,
                None => self.due(tip, seen, &failed, (!asked, bounds.is_evening))?,
            };
            asked = true;
            // What the budget did not let start, or the machine failed, is not asked about again in this command.
            jobs.retain(|job| !refused.contains(&(job.agent.clone(), job.roots.clone())));
            let mut refusals: Vec<Job> = jobs.extract_if(.., |job| job.refusal.is_some()).collect();
            if bounds.agent.is_none() {
                braking.hold_back(self, &mut jobs);
            }
            refusals.extend(self.hold_back(&mut jobs, &mut tally, &mut rootless, &mut turned.notes));
            let room = bounds.max_runs.map_or(usize::MAX, |max| max.saturating_sub(turned.runs.len()));
            if jobs.len() > room {
                self.perception_first(tip, &mut jobs)?;
            }
            let cut = cut(&mut jobs, room);
            braking.cut_off(self, &cut);
            let mut unpaid = self.beyond_day(&mut jobs, &mut turned)?;
            braking.unpaid(self, &unpaid);
            // An answer of the engine says how far its agent has looked; what is left out of the round must not be passed over by it.
            if !cut.is_empty() {
                refusals.clear();
            }
            if jobs.is_empty() && refusals.is_empty() {
                if coming.is_more() {
                    continue;
                }
                braking.merged(self)?;
                break;
            }
            braking.starts(self, &jobs)?;
            self.enter(&jobs)?;
            jobs.extend(refusals);
            thought |= jobs.iter().any(|job| self.reflex(&job.agent).is_none());
            progress(Progress::Running(jobs.len(), jobs.iter().map(|j| j.stimuli.len()).sum()));
            let mut committed = Vec::new();
            for ran in self.run_apart(tip, jobs)? {
                match ran {
                    Ran::Committed(run) => committed.push(*run),
                    Ran::Nothing(job) => self.note_silence(&job, "it proposed nothing")?,
                    Ran::Held(job, exhausted) => {
                        turned.unpaid(exhausted.to_string());
                        braking.unpaid(self, std::slice::from_ref(&job));
                        unpaid.push(job);
                    }
                    Ran::Failed(failure) => {
                        failed.extend(failure.job.stimuli.iter().map(|s| s.id.clone()));
                        turned.notes.extend(self.set_aside(&failure)?);
                        if failure.error.is_passing() || failure.error.is_of_a_file() {
                            // Not the agent's fault: the next command asks it again.
                            braking.unpaid(self, std::slice::from_ref(&failure.job));
                            refused.insert((failure.job.agent.clone(), failure.job.roots.clone()));
                        }
                        turned.failures.push(*failure);
                    }
                }
            }
            for job in unpaid {
                failed.extend(job.stimuli.iter().map(|s| s.id.clone()));
                refused.insert((job.agent, job.roots));
            }
            if self.causes.borrow().len() > CAUSES {
                self.causes.borrow_mut().clear();
            }
            self.causes.borrow_mut().extend(committed.iter().map(|c| (c.run.clone(), c.cause.clone())));
            let perceived = committed.iter().map(|c| c.consumed.len()).sum::<usize>();
            (consumed, coming.waits) = (consumed + perceived, coming.waits.saturating_sub(perceived));
            self.take_in(&mut turned, committed)?;
            braking.merged(self)?;
            progress(Progress::Merged(turned.runs.len(), consumed));
            if bounds.agent.is_some() || !cut.is_empty() {
                break;
            }
            seen = Some(tip);
            self.set_marker(tip)?;
            self.keep_live()?;
        }
        if bounds.agent.is_none() && bounds.max_runs.is_none() {
            self.set_marker(turned.wake)?;
            self.keep_live()?;
        }
        if !turned.runs.is_empty() {
            self.tidy_up();
        }
        turned.notes.extend(braking.note());
        if bounds.agent.is_none() {
            let changed = self.shared.policy.agents.values().filter(|member| member.changed);
            turned.notes.extend(changed.map(|member| {
                format!(
                    "{} does not run here: {} was changed since you trusted it; look at it, then `git brain trust`",
                    member.agent.name, member.path
                )
            }));
        }
        turned.notes.extend(self.influence_notes());
        turned.notes.extend(turned.unpaid.clone());
        turned.notes.extend(self.unanswered_note(first, turned.wake)?);
        if thought && let Some(lack) = Confinement::of_machine().lacks() {
            turned.notes.push(lack);
        }
        turned.notes.extend(self.store.take_notes());
        Ok(turned)
    }

    /// Merges the runs of one round.
    fn take_in(&self, turned: &mut Turned, committed: Vec<Committed>) -> Result<(), CycleError> {
        let (held, committed): (Vec<_>, Vec<_>) = committed.into_iter().partition(|run| run.held);
        for run in held {
            let commit = self.store.commit(run.commit)?;
            let (why, hint) = waits_because(&commit, &run.branch);
            let from = match commit.trailer("Review") {
                Some("origin") => format!(" because it comes from {}", run.cause.origin),
                Some(rule) if rule.starts_with("rule ") => format!(" by {rule}"),
                _ => String::new(),
            };
            turned.notes.push(format!("{} {why}{from}: {hint}", run.branch));
            turned.runs.push(RunSummary {
                run: run.run,
                trigger: run.trigger,
                commit: run.commit,
                merged: None,
                decisions: Vec::new(),
                conflicts: Vec::new(),
            });
        }
        let report = self.merge_round(&committed)?;
        let mut triggers: HashMap<RunId, String> = committed.into_iter().map(|c| (c.run, c.trigger)).collect();
        for (candidate, fate) in &report.fates {
            let Some(run) = candidate.run.clone() else { continue };
            let trigger = triggers.remove(&run).unwrap_or_default();
            let mut summary = RunSummary {
                run,
                trigger,
                commit: candidate.commit,
                merged: None,
                decisions: Vec::new(),
                conflicts: Vec::new(),
            };
            match fate {
                Fate::Merged { commit, decisions } => {
                    summary.merged = Some(*commit);
                    summary.decisions = decisions.iter().map(ToString::to_string).collect();
                }
                Fate::Already => summary.merged = Some(report.wake),
                Fate::Conflict(conflicts) => {
                    turned.notes.push(format!("{} stays on its branch: {}", candidate.name, in_words(conflicts)));
                    summary.conflicts.clone_from(conflicts);
                }
                Fate::Refused(why) => turned.notes.push(format!("{} is not merged: {why}", candidate.name)),
            }
            turned.runs.push(summary);
        }
        turned.notes.extend(report.left.iter().map(|left| format!("left alone: {left}")));
        turned.wake = report.wake;
        Ok(())
    }

    /// Takes out runs whose stimuli have caused as many runs as one stimulus may, in whatever process, and those that no stimulus began, beyond
    /// as many for each with which this command began. Returns the engine's answers to the signals that they would have answered.
    fn hold_back(
        &self,
        jobs: &mut Vec<Job>,
        tally: &mut Tally,
        rootless: &mut Rootless,
        notes: &mut Vec<String>,
    ) -> Vec<Job> {
        let max = self.shared.policy.settings.cycle.runs_per_stimulus;
        rootless.begin(jobs.iter().filter(|job| job.roots.is_empty()).count());
        let mut refusals: Vec<Job> = Vec::new();
        let mut held: BTreeMap<(AgentName, String), usize> = BTreeMap::new();
        let mut may_start = vec![false; jobs.len()];
        for at in self.turns(jobs) {
            let job = &mut jobs[at];
            let sender = job.signals.first().map(|signal| &signal.from);
            let spent = match (&job.roots[..], tally.add(&job.roots, &job.agent, sender, max)) {
                ([], _) if rootless.may_start(max) => None,
                ([], _) => Some(format!("runs without a stimulus have caused {}", plural(rootless.ran, "run", "runs"))),
                (_, Ok(root)) => {
                    job.counts_for = Some(root.clone());
                    None
                }
                (_, Err(Full::Pair)) => sender.map(|from| {
                    format!(
                        "signals of {from} had half of the {} that a stimulus may cause",
                        plural(max, "run", "runs")
                    )
                }),
                ([root], Err(Full::Stimulus)) => {
                    Some(format!("stimulus {root} has caused {}", plural(max, "run", "runs")))
                }
                (roots, Err(Full::Stimulus)) => {
                    let runs = plural(max, "run", "runs");
                    Some(format!("each of the {} stimuli that it descends from has caused {runs}", roots.len()))
                }
            };
            let Some(why) = spent else {
                may_start[at] = true;
                continue;
            };
            *held.entry((job.agent.clone(), why.clone())).or_default() += 1;
            if !job.signals.is_empty() && self.may_answer(&job.agent) {
                let refusal = job.clone().refused(why);
                // One run of the engine answers all of them: a run each would be a run for every signal that nobody thinks about.
                match refusals.iter_mut().find(|other| other.answers_with(&refusal)) {
                    Some(other) => other.signals.extend(refusal.signals),
                    None => refusals.push(refusal),
                }
            }
        }
        let mut may_start = may_start.into_iter();
        jobs.retain(|_| may_start.next().unwrap_or(false));
        notes.extend(held.into_iter().map(|((agent, why), count)| match count {
            1 => format!("{agent} was held back: {why}"),
            _ => format!("{agent} was held back {count} times: {why}"),
        }));
        refusals
    }

    /// The order in which runs are counted, by their places: the first of each agent for each sender before anybody's second, so that one that is due
    /// very often takes nobody's turn; of those whoever perceives, and then the most important.
    fn turns(&self, jobs: &[Job]) -> Vec<usize> {
        let mut before: HashMap<(&AgentName, Option<&AgentName>), usize> = HashMap::new();
        let mut turns: Vec<(usize, bool, Reverse<u32>, usize)> = Vec::with_capacity(jobs.len());
        for (at, job) in jobs.iter().enumerate() {
            let turn = before.entry((&job.agent, job.signals.first().map(|signal| &signal.from))).or_default();
            let priority = self.shared.policy.agents.get(&job.agent).map_or(0, |member| member.agent.priority);
            turns.push((*turn, self.reflex(&job.agent) != Some(Rule::Perception), Reverse(priority), at));
            *turn += 1;
        }
        turns.sort_unstable();
        turns.into_iter().map(|(.., at)| at).collect()
    }

    /// Lets whoever perceives begin, of jobs of which not all may start, unless the most important are to.
    fn perception_first(&self, tip: CommitId, jobs: &mut [Job]) -> Result<(), CycleError> {
        if !self.is_overridden(self.store.tree_of(tip)?)? {
            jobs.sort_by_key(|job| self.reflex(&job.agent) != Some(Rule::Perception));
        }
        Ok(())
    }

    /// Takes out runs beyond those that one day may have.
    fn beyond_day(&self, jobs: &mut Vec<Job>, turned: &mut Turned) -> Result<Vec<Job>, CycleError> {
        let Some(left) = self.shared.runs_left()? else { return Ok(Vec::new()) };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if jobs.len() > left {
            self.perception_first(turned.wake, jobs)?;
        }
        let beyond = jobs.split_off(jobs.len().min(left));
        if let Some(first) = beyond.first() {
            let (agent, bound) = (first.agent.clone(), "budget.runs_per_day".to_owned());
            turned
                .unpaid(Exhausted { agent, bound, most: self.shared.policy.settings.budget.runs_per_day }.to_string());
        }
        Ok(beyond)
    }

    /// Makes known to all processes what a round starts, before it starts.
    pub(super) fn enter(&self, jobs: &[Job]) -> Result<(), CycleError> {
        let reflexes = jobs.iter().filter(|job| self.reflex(&job.agent).is_some()).count();
        self.shared.keep_tally(jobs.iter().filter_map(|job| job.counts_for.as_ref().or(job.roots.first())), reflexes)
    }

    /// Makes stimuli durable: the files and their queue entries, in commits on wake. What is known already is left out.
    /// Returns the ids that are new.
    pub fn store_stimuli(
        &self,
        stimuli: &[Stimulus],
        subject: &str,
        trailers: &[Trailer],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<StimulusId>, CycleError> {
        let stored = self.store_more_stimuli(stimuli, subject, trailers, progress)?;
        self.store.maintain();
        Ok(stored)
    }

    /// The same as a step of what ends with putting packs together.
    pub fn store_more_stimuli(
        &self,
        stimuli: &[Stimulus],
        subject: &str,
        trailers: &[Trailer],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<StimulusId>, CycleError> {
        let trunk = self.store.lock(LockName::Trunk)?;
        let mut stored = Vec::new();
        for (index, batch) in stimuli.chunks(limits::STIMULI_PER_COMMIT).enumerate() {
            stored.extend(self.store_batch(batch, subject, trailers)?);
            progress(Progress::Stored(
                (index * limits::STIMULI_PER_COMMIT + batch.len()).min(stimuli.len()),
                stimuli.len(),
            ));
        }
        drop(trunk);
        self.store.maintain_between();
        Ok(stored)
    }

    fn store_batch(
        &self,
        batch: &[Stimulus],
        subject: &str,
        trailers: &[Trailer],
    ) -> Result<Vec<StimulusId>, CycleError> {
        let mut stored = Vec::new();
        self.change_wake(&format!("stimulus: {subject}"), &mut |tree| {
            let (edits, ids) = self.new_stimuli(tree, batch)?;
            stored = ids;
            Ok((edits, trailers.iter().cloned().chain(stimulus_trailers(&stored)).collect()))
        })?;
        Ok(stored)
    }

    /// The files of stimuli that the brain does not know: neither waiting nor remembered.
    fn new_stimuli(
        &self,
        tree: crate::store::TreeId,
        batch: &[Stimulus],
    ) -> Result<(Vec<TreeEdit>, Vec<StimulusId>), CycleError> {
        let format = format_of(&self.store, tree)?;
        let mut edits = Vec::new();
        let mut ids: Vec<StimulusId> = Vec::new();
        let mut listed = std::collections::HashSet::new();
        for stimulus in batch {
            let (path, queue) = (layout::stimulus(&stimulus.id, stimulus.at), layout::queue_entry(&stimulus.id));
            let remembered = layout::neuron(&episode_id(&stimulus.id));
            let known = [&path, &queue, &remembered].into_iter().try_fold(false, |known, place| {
                Ok::<_, CycleError>(known || self.store.file(tree, place)?.is_some())
            })?;
            if known || !listed.insert(&stimulus.id) {
                continue;
            }
            edits.push(TreeEdit::new(queue, Some(layout::queued(&path, format))));
            edits.push(TreeEdit::new(path, Some(stimulus.encode())));
            ids.push(stimulus.id.clone());
        }
        Ok((edits, ids))
    }

    /// Takes a brain over that has lived elsewhere: what happened before is not news.
    pub fn adopt(&self) -> Result<(), CycleError> {
        let _trunk = self.store.lock(LockName::Trunk)?;
        self.set_marker(self.store.need_tip(self.store.wake())?)
    }

    fn marker_file(&self) -> PathBuf {
        self.store.private_dir().join("seen")
    }

    /// The commit of wake up to which triggers were evaluated, if it is still in wake's history.
    pub fn marker(&self) -> Option<CommitId> {
        let text = std::fs::read_to_string(self.marker_file()).ok()?;
        let commit = CommitId::parse(text.trim()).ok()?;
        let tip = self.store.need_tip(self.store.wake()).ok()?;
        self.store.is_ancestor(commit, tip).ok()?.then_some(commit)
    }

    /// Says that triggers were evaluated up to that commit.
    pub(super) fn set_marker(&self, commit: CommitId) -> Result<(), CycleError> {
        let path = self.marker_file();
        let fail = |source| crate::store::StoreError::File { path: path.clone(), source };
        let folder = self.store.private_dir();
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            writeln!(file, "{commit}")?;
            file.persist(&path).map_err(|e| e.error).map(|_| ())
        };
        write().map_err(fail)?;
        Ok(())
    }
}

/// Cuts a round to `room` runs without splitting an agent's signals over two rounds; returns what was cut off.
fn cut(jobs: &mut Vec<Job>, room: usize) -> Vec<Job> {
    if jobs.len() <= room {
        return Vec::new();
    }
    let fits = |job: &Job, at: usize| !job.stimuli.is_empty() || at < room;
    let mut keep = room.min(jobs.len());
    // The queue can be cut anywhere; an agent without stimuli only before its first run.
    while keep > 0 && keep < jobs.len() && jobs[keep].stimuli.is_empty() && jobs[keep].agent == jobs[keep - 1].agent {
        keep -= 1;
    }
    if keep == 0 && room > 0 {
        let first = jobs[0].agent.clone();
        keep = jobs.iter().position(|j| j.agent != first).unwrap_or(jobs.len());
    }
    debug_assert!(jobs.iter().take(keep).enumerate().all(|(at, job)| fits(job, at) || keep > room));
    jobs.split_off(keep)
}
