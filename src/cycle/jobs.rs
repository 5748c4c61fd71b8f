//! From a woken agent to its runs: what each looks at, how far it is from a stimulus, and what it is too late for.
//!
//! **Depth counts requests.** A signal that asks takes its run one step further from the stimulus; so does a neuron or a flag that a run
//! changed. An acknowledgement and a reply do not: they end what a request began. No run starts beyond `cycle.max_depth`, but for
//! one that hears a draft of a prediction. A signal beyond it is answered by the engine, as refused: nobody waits for ever.
//!
//! A reply is a signal whose `payload.request` names a request that the sender's run answered, and that goes to whoever had asked. A
//! reply to a reply is none, so every round of a conversation costs a step.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::job::{Cause, Job, Window};
use super::network::{TreeNetwork, latest};
use super::policy::EVALUATOR;
use super::{Cycle, CycleError};
use crate::cognition::reflex::{self, kind, perception::Load};
use crate::delta::operation::Acknowledge;
use crate::delta::{Document, Lookup, Operation, RunRecord};
use crate::limits;
use crate::model::document::{Answered, Rule};
use crate::model::ids::{AgentName, NeuronId, RunId, SignalId, StimulusId};
use crate::model::{Origin, Signal, Stamp, Stimulus, plural};
use crate::trigger::Woken;

/// Signals that lie within so many seconds share a run: activation fades by a hundredth an hour.
const SAME_CLOCK: u64 = 3600;

/// How much further than [`SPAWN_DEPTH`](limits::SPAWN_DEPTH) the engine's own answers are said to be: nothing descends from them, and
/// no round of runs counts them.
pub(super) const REFUSED_STEPS: u32 = 2;

/// Turning a woken agent into runs.
pub(super) struct Due<'a> {
    pub cycle: &'a Cycle,
    pub network: &'a TreeNetwork<'a>,
    pub window: &'a Window,
    pub queue: &'a [Arc<Stimulus>],
    /// A person asks for the runs: nothing is too far for them.
    pub by_hand: bool,
}

/// What runs descend from, beside stimuli.
#[derive(Default)]
struct Causes {
    signals: Vec<Signal>,
    active: Vec<NeuronId>,
    answers: Vec<Answered>,
}

impl Causes {
    /// Whether there is a reason to run; answers are one to whoever waits for them.
    fn wakes(&self, heard: bool) -> bool {
        !self.signals.is_empty() || !self.active.is_empty() || heard && !self.answers.is_empty()
    }
}

impl Due<'_> {
    pub fn jobs(&self, agent: &AgentName, woken: &Woken) -> Result<Vec<Job>, CycleError> {
        let mut woken = woken.clone();
        if !woken.signals.is_empty() {
            // An answer that waits for a person is an answer: asked again, the agent would propose the same twice.
            let claimed = self.cycle.claimed_signals(agent)?;
            woken.signals.retain(|signal| !claimed.contains_key(&signal.id));
            let others = woken.evening || woken.heard || !woken.active.is_empty() || !woken.answers.is_empty();
            let perceives = self.cycle.consumes_queue(agent) && !self.queue.is_empty();
            if woken.signals.is_empty() && !others && !perceives {
                return Ok(Vec::new());
            }
        }
        let woken = &woken;
        let consumes = self.cycle.consumes_queue(agent);
        let parallel = self.cycle.shared.policy.settings.cycle.parallel;
        let chunks = if consumes { chunks(self.queue, parallel) } else { Vec::new() };
        let mut jobs: Vec<Job> = chunks.into_iter().map(|stimuli| self.on_stimuli(agent, woken, stimuli)).collect();
        if woken.evening {
            jobs.push(self.on_evening(agent, woken)?);
        }
        let others = !(woken.signals.is_empty() && woken.active.is_empty() && woken.answers.is_empty());
        match jobs.is_empty() {
            true => jobs.extend(self.on_others(agent, woken)?),
            // What else woke an agent that perceives, or looks back on its day.
            false if woken.evening && others || !woken.signals.is_empty() => jobs.extend(self.on_others(agent, woken)?),
            false => {}
        }
        Ok(jobs)
    }

    /// Runs for signals, as many each as they fit; at least one run, for what else woke the agent.
    fn on_others(&self, agent: &AgentName, woken: &Woken) -> Result<Vec<Job>, CycleError> {
        let bound = self.bound();
        let (mut near, mut drafts, mut late) = (Causes::default(), Vec::new(), Vec::new());
        for signal in &woken.signals {
            // One that comes from too far away would take those with it that share its run.
            match self.depth_by(signal)? {
                depth if self.by_hand || depth <= bound => near.signals.push(signal.clone()),
                depth if depth == bound + 1 && signal.payload_kind() == Some(kind::PREDICTION) => {
                    drafts.push(signal.clone());
                }
                _ => late.push(signal.clone()),
            }
        }
        for id in &woken.active {
            let run = self.network.shared(id)?.and_then(|neuron| neuron.run.clone());
            if run.map_or(Ok(0), |run| self.depth_of(&run))? < bound {
                near.active.push(id.clone());
            }
        }
        for answered in &woken.answers {
            if self.depth_of(&answered.answer.run)? <= bound {
                near.answers.push(answered.clone());
            }
        }
        let mut jobs = Vec::new();
        let nothing_else = woken.signals.is_empty() && woken.active.is_empty() && !woken.heard;
        if near.wakes(woken.heard) || nothing_else {
            self.on_signals(agent, woken, near, &mut jobs)?;
        }
        if !drafts.is_empty() {
            self.on_signals(agent, woken, Causes { signals: drafts, ..Causes::default() }, &mut jobs)?;
        }
        jobs.extend(self.refusal(agent, late)?);
        Ok(jobs)
    }

    fn on_signals(
        &self,
        agent: &AgentName,
        woken: &Woken,
        mut causes: Causes,
        jobs: &mut Vec<Job>,
    ) -> Result<(), CycleError> {
        // A document holds one outcome.
        let few = if agent.as_str() == EVALUATOR { 1 } else { limits::SIGNALS_PER_RUN };
        let mut signal_chunks = signal_chunks(&causes.signals, self.cycle.reflex(agent), few);
        if signal_chunks.is_empty() {
            signal_chunks.push(Vec::new());
        }
        for signals in signal_chunks {
            let (active, answers) = (std::mem::take(&mut causes.active), std::mem::take(&mut causes.answers));
            jobs.extend(self.on_causes(agent, woken, Causes { signals, active, answers })?);
        }
        Ok(())
    }

    /// The engine's answer to signals that come from too far away, if the agent may answer at all.
    fn refusal(&self, agent: &AgentName, signals: Vec<Signal>) -> Result<Option<Job>, CycleError> {
        let why = format!("more than {} from a stimulus", plural(self.bound(), "request", "requests"));
        let woken = Woken { reason: "refused: ".to_owned() + &why, ..Woken::default() };
        if signals.is_empty() || !self.cycle.may_answer(agent) {
            return Ok(None);
        }
        let job = self.on_causes(agent, &woken, Causes { signals, ..Causes::default() })?;
        Ok(job.map(|job| job.refused(why)))
    }

    fn bound(&self) -> u32 {
        self.cycle.shared.policy.settings.cycle.max_depth
    }

    /// The depth of a run that a signal causes.
    fn depth_by(&self, signal: &Signal) -> Result<u32, CycleError> {
        Ok(self.depth_of(&signal.run)? + u32::from(!self.is_reply(signal)?))
    }

    /// Whether a signal tells whoever asked what came of that, and so asks nothing itself.
    fn is_reply(&self, signal: &Signal) -> Result<bool, CycleError> {
        let Some(request) = request_of(signal) else { return Ok(false) };
        let found = self.cycle.readable(Lookup::signal(self.network, &signal.from, &request))?.flatten();
        let Some((asked, true)) = found else { return Ok(false) };
        let answer = self.cycle.readable(self.network.acknowledgement(&signal.from, &request))?.flatten();
        let by_that_run = answer.is_some_and(|answer| answer.run == signal.run);
        Ok(asked.from == signal.to && request_of(&asked).is_none() && by_that_run)
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
            answers: Vec::new(),
            refusal: None,
            roots: stimuli.iter().map(|s| s.id.clone()).collect(),
            counts_for: None,
            depth: 1,
            clock: self.clock(stimuli.iter().map(|s| s.at)),
            origin: all_of(stimuli.iter().map(|s| s.origin.clone())),
            stimuli,
        }
    }

    /// The run of an agent that looks back on its day before the brain sleeps: on what was remembered since the last sleep and is most
    /// vivid. It descends from the evening, and from no stimulus.
    fn on_evening(&self, agent: &AgentName, woken: &Woken) -> Result<Job, CycleError> {
        let clock = self.window.happened.clock;
        let day = self.cycle.vivid_memories(clock)?;
        Ok(Job {
            origin: all_of(day.iter().map(|neuron| neuron.origin.clone())),
            active: day.into_iter().map(|neuron| neuron.id.clone()).collect(),
            clock: self.clock(std::iter::once(clock)),
            ..self.on_stimuli(agent, woken, Vec::new())
        })
    }

    /// A run that descends from other runs, unless it would be too far from a stimulus.
    fn on_causes(&self, agent: &AgentName, woken: &Woken, from: Causes) -> Result<Option<Job>, CycleError> {
        let Causes { signals, active, answers } = from;
        let mut runs: BTreeSet<RunId> = signals.iter().map(|s| s.run.clone()).collect();
        runs.extend(answers.iter().map(|a| a.answer.run.clone()));
        let mut depth = 1;
        for signal in &signals {
            depth = depth.max(self.depth_by(signal)?);
        }
        for answered in &answers {
            depth = depth.max(self.depth_of(&answered.answer.run)?);
        }
        let mut origins = Vec::new();
        let mut changed: BTreeSet<RunId> = BTreeSet::new();
        for id in &active {
            if let Some(neuron) = self.cycle.readable(self.network.shared(id))?.flatten() {
                changed.extend(neuron.run.clone());
                origins.push(neuron.origin.clone());
            }
        }
        if signals.is_empty() && active.is_empty() && answers.is_empty() {
            changed.extend(self.window.happened.flags.iter().filter_map(|(_, flag)| flag.run.clone()));
            for run in &changed {
                if self.depth_of(run)? >= self.bound() && !self.by_hand {
                    tracing::debug!("{agent} is not woken: what wakes it comes from too far away from a stimulus");
                    return Ok(None);
                }
            }
        }
        for run in &changed {
            depth = depth.max(self.depth_of(run)? + 1);
        }
        runs.extend(changed);
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
            answers,
            refusal: None,
            roots,
            counts_for: None,
            depth: if self.by_hand { depth.min(self.bound()) } else { depth },
            clock: self.clock(causes.iter().map(|c| c.at)),
        }))
    }
}

impl Job {
    /// The same signals, answered by the engine with the reason why nobody thinks about them.
    pub(super) fn refused(self, why: String) -> Self {
        let depth = limits::SPAWN_DEPTH + REFUSED_STEPS;
        let reason = format!("refused: {why}");
        Self { reason, refusal: Some(why), active: Vec::new(), answers: Vec::new(), depth, ..self }
    }

    /// Whether one answer of the engine can hold these two: the same agent, reason and origin, and not more than a document may have.
    pub(super) fn answers_with(&self, other: &Job) -> bool {
        let same = (&self.agent, &self.refusal, &self.origin) == (&other.agent, &other.refusal, &other.origin);
        same && self.roots == other.roots && self.signals.len() + other.signals.len() <= limits::DELTA_OPS
    }

    /// The engine's answers, where nobody thinks.
    pub(super) fn refusals(&self) -> Option<Document> {
        let why = self.refusal.as_ref()?;
        let payload = json!({"done": false, "refused": why});
        let answer =
            |s: &Signal| Operation::Acknowledge(Acknowledge { signal: s.id.clone(), payload: payload.clone() });
        let ops = self.signals.iter().map(answer).collect();
        Some(Document { agent: Some(self.agent.clone()), ops, ..Document::default() })
    }
}

impl Cycle {
    /// Whether an agent's runs can answer signals.
    pub fn may_answer(&self, agent: &AgentName) -> bool {
        let member = self.shared.policy.agents.get(agent);
        member.is_some_and(|m| m.agent.capabilities.operations.iter().any(|name| name == "acknowledge"))
    }
}

/// The request that a signal says it replies to.
fn request_of(signal: &Signal) -> Option<SignalId> {
    signal.payload.get("request").and_then(Value::as_str).and_then(|id| SignalId::parse(id).ok())
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
