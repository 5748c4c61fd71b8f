//! Looking: status, log, show, diff, why, blame. Nothing is written.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Unapproved;
use super::loops::AgentLoop;
use super::{Brain, BrainError, Vitals};
use crate::consolidation::Line;
use crate::cycle::budget::Left;
use crate::cycle::inhibition::Inhibition;
use crate::cycle::merge::waits_because;
use crate::cycle::network::{TreeNetwork, decode_neuron};
use crate::cycle::sync::Standoff;
use crate::cycle::trailers::SLEEP;
use crate::cycle::{Reason, count};
use crate::delta::{Effect, REJECTED, RunRecord, render};
use crate::limits;
use crate::model::ids::{NeuronId, RunId, SignalId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::{AgentName, Flag, Neuron};
use crate::store::{Commit, CommitId};

/// Which vital signs `status` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// None.
    None,
    /// Those of now; of a large brain the last ones, if any were taken.
    AtHand,
    /// Those of now.
    Now,
}

/// The state of the brain.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Branch and tip of consolidated memory.
    pub main: (String, String),
    /// Branch and tip of the waking brain.
    pub wake: (String, String),
    /// True once the bootstrap agent has introduced the agents.
    pub bootstrap_complete: bool,
    /// Neurons in wake.
    pub neurons: usize,
    /// Stimuli ever stored.
    pub stimuli: usize,
    /// Stimuli that wait.
    pub queue: usize,
    /// Runs ever recorded.
    pub runs: usize,
    /// Signals sent, and of those the unanswered.
    pub signals: (usize, usize),
    /// Flags that are on.
    pub flags: Vec<String>,
    /// Runs on branches of their own, and whether they are held for review.
    pub pending: Vec<(String, bool)>,
    /// Those that are held, each with the reason and what to do.
    pub held: Vec<String>,
    /// Statements that wait for a person's approval, by origin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unapproved: Vec<Unapproved>,
    /// What stopped a sync and is not settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standoffs: Vec<Standoff>,
    /// The agents: name, role, whether they may run here.
    pub agents: Vec<(String, String, bool)>,
    /// Whether each agent's loop is alive.
    pub loops: Vec<AgentLoop>,
    /// Definitions that could not be read.
    pub broken: Vec<String>,
    /// Commits of wake whose triggers were not evaluated yet; null if unknown.
    pub unseen: Option<usize>,
    /// Whether the cycle is braked.
    pub inhibition: Inhibition,
    /// Bounds of the budget, and what is spent of them today.
    pub budget: Vec<Left>,
    /// The vital signs, at the moment that they name; null if only counts were asked for, if they cannot be
    /// taken, or if none were taken of a large brain yet: every sleep and `--vitals` do.
    pub vitals: Option<Vitals>,
    /// Stimuli that wait until a person asks for them, because an agent failed at them, with the reasons.
    pub aside: BTreeMap<StimulusId, Reason>,
    /// Signals that stay unanswered for the same cause.
    pub aside_signals: BTreeMap<SignalId, Reason>,
    /// Things that could not be looked at, with what to do, one sentence each.
    pub unread: Vec<String>,
}

/// One entry of the log.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    /// The commit on wake.
    pub commit: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// The agent, for a merged run.
    pub agent: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// What woke it.
    pub trigger: Option<String>,
    /// Stimuli.
    pub stimuli: Vec<String>,
    /// The first line.
    pub subject: String,
    /// What the merge settled, one line each.
    pub decisions: Vec<String>,
    /// The person who made it, as git names the author; absent of agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Who let it in, by its trailers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<String>,
    /// Of a merge, the commit that its other side started from: for a run one of wake, for a sleep the one of main before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

impl LogEntry {
    /// What a merge settled, one line each; nothing of other commits.
    pub(super) fn settled(commit: &Commit) -> impl Iterator<Item = &str> {
        let lines = if commit.parents.len() == 2 { commit.message.as_str() } else { "" };
        lines.lines().skip(2).take_while(|line| !line.is_empty()).filter(|line| line.contains(": base "))
    }
}

/// The log.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// Newest first.
    pub entries: Vec<LogEntry>,
}

/// What `show` found.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// What it is: `neuron`, `run`, `sleep`, `stimulus`, `agent`, `commit`.
    pub kind: &'static str,
    /// The document.
    pub document: Value,
    /// What the document does not say by itself, one line each.
    pub facts: Vec<String>,
}

/// Differences between two states.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// The state before.
    pub a: String,
    /// The state after.
    pub b: String,
    /// Neurons that were made or changed.
    pub effects: Vec<Effect>,
    /// Neurons that are gone.
    pub removed: Vec<String>,
    /// How many other files were added, changed or removed, by place.
    pub others: BTreeMap<String, usize>,
    /// The effects as lines for people.
    pub lines: Vec<String>,
}

/// An older memory that another replaces.
#[derive(Clone, Debug, Serialize)]
pub struct Replaced {
    /// The memory; archived, and gone after the next sleep.
    pub id: String,
    /// What it said.
    pub text: String,
}

/// One run in the life of a neuron.
#[derive(Clone, Debug, Serialize)]
pub struct WhyEntry {
    /// The commit on wake that brought it.
    pub commit: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// The run; null for a person's commit.
    pub run: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The person who made it, as git names the author; absent of agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What woke it.
    pub trigger: Option<String>,
    /// The stimuli that it descends from.
    pub stimuli: Vec<String>,
    /// The text of the one for whose sake the neuron was touched, as far as the record tells.
    pub because: Option<String>,
    /// Who let it in, and why, where a person decided on the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The neuron's words since then, whole, where `effects` cut them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Why it was archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The older memories that it replaces, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<Replaced>,
    /// What happened to the neuron, one line each.
    pub effects: Vec<String>,
}

/// Who last changed a field.
#[derive(Clone, Debug, Serialize)]
pub struct BlameLine {
    /// The field, or the connection.
    pub field: String,
    /// Its value.
    pub value: String,
    /// The commit on wake.
    pub commit: String,
    /// The run; null for a person's commit.
    pub run: Option<String>,
    /// Its time, RFC 3339.
    pub at: String,
}

impl Brain {
    /// The state of the brain. Its counts cost what differs from when they were last asked for; vital signs that are taken now cost some
    /// hundred questions.
    pub fn status(&self, signs: Signs) -> Result<Status, BrainError> {
        let (store, policy) = (&self.cycle.store, &self.cycle.shared.policy);
        let wake = self.at(None)?;
        let tree = store.tree_of(wake)?;
        let counts = count::counts(store, tree)?;
        let mut unread = if signs == Signs::None { Vec::new() } else { self.broken_files()? };
        let mut flags = Vec::new();
        for (path, file) in store.files(tree, layout::FLAGS)? {
            if let Place::Flag(name) = Place::of(&path)
                && serde_json::from_slice::<Flag>(&store.blob(file.blob)?).is_ok_and(|flag| flag.value)
            {
                flags.push(name.to_string());
            }
        }
        let counted = |word: &str| counts.get(word).copied().unwrap_or(0);
        let waiting = self.cycle.pending()?;
        let mut pending: Vec<(String, bool)> = Vec::new();
        let mut held_by = Vec::new();
        for (branch, tip) in self.cycle.run_branches()? {
            let held = !waiting.iter().any(|c| c.branch.as_ref() == Some(&branch));
            if held {
                let (why, hint) = waits_because(&store.commit(tip)?, &branch);
                held_by.push(format!("{branch} {why}: {hint}"));
            }
            pending.push((branch.to_string(), held));
        }
        let budget = self.cycle.shared.budget_left().unwrap_or_else(|error| {
            unread.push(format!("{error}; {}", error.hint().unwrap_or_default()));
            Vec::new()
        });
        let mut told = |error: BrainError| {
            let BrainError::Json(broken) = &error else { return Err(error) };
            if !unread.iter().any(|told: &String| told.contains(&broken.what)) {
                let error = self.cycle.on_branches(error);
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                unread.push(format!("{error}{hint}"));
            }
            Ok(())
        };
        // What cannot be read hides nothing else.
        let metadata =
            self.cycle.metadata(tree).map_or_else(|error| told(error).map(|()| None), |found| Ok(Some(found)))?;
        let vitals = match signs {
            Signs::None => None,
            _ => {
                let taken = self.vitals_at_hand(counted("neurons"), signs == Signs::Now);
                taken.or_else(|error| told(error).map(|()| None))?
            }
        };
        let standoffs = match signs {
            Signs::None => Vec::new(),
            _ => self.cycle.standoffs().or_else(|error| told(error).map(|()| Vec::new()))?,
        };
        let aside = self.cycle.aside_in(tree)?;
        let marker = self.cycle.marker();
        let unseen = marker.map(|seen| store.first_parents(wake, Some(seen)).take(limits::HISTORY_WALK).count());
        Ok(Status {
            main: (store.main().to_string(), store.need_tip(store.main())?.to_string()),
            wake: (store.wake().to_string(), wake.to_string()),
            bootstrap_complete: metadata.is_none_or(|metadata| metadata.bootstrap_complete),
            neurons: counted("neurons"),
            stimuli: counted("stimuli"),
            queue: counted("queue"),
            runs: counted("runs"),
            signals: (counted("signals"), counted("signals").saturating_sub(counted("answers"))),
            flags,
            pending,
            held: held_by,
            unapproved: self.unapproved().or_else(|error| told(error).map(|()| Vec::new()))?,
            standoffs,
            agents: policy
                .agents
                .values()
                .map(|m| (m.agent.name.to_string(), m.agent.role.clone(), m.trusted))
                .collect(),
            loops: self.loops(wake, counted("signals"), counted("signals").saturating_sub(counted("answers")))?,
            broken: policy.broken.iter().map(ToString::to_string).collect(),
            unseen,
            inhibition: self.cycle.inhibition(&self.cycle.brake(wake)?),
            budget,
            vitals,
            aside: aside.stimuli,
            aside_signals: aside.signals,
            unread,
        })
    }

    /// What happened on wake, newest first.
    pub fn log(&self, number: usize, agent: Option<&str>, at: Option<&str>) -> Result<History, BrainError> {
        let from = self.at(at)?;
        let mut entries = Vec::new();
        for commit in self.cycle.store.first_parents(from, None) {
            if entries.len() >= number {
                break;
            }
            let entry = self.entry(&commit?)?;
            if agent.is_none_or(|wanted| entry.agent.as_deref() == Some(wanted)) {
                entries.push(entry);
            }
        }
        Ok(History { entries })
    }

    pub(super) fn entry(&self, commit: &Commit) -> Result<LogEntry, BrainError> {
        // A merge commit's run is its second parent, which knows what woke it.
        let run_commit = match commit.parents.get(1) {
            Some(run) => self.cycle.store.commit(*run)?,
            None => commit.clone(),
        };
        let text = |c: &Commit, key: &str| c.trailer(key).map(str::to_owned);
        let run = text(commit, "Run").or_else(|| text(&run_commit, "Run"));
        let decisions = LogEntry::settled(commit).map(str::to_owned).collect();
        let mut reviewers: Vec<String> = [commit, &run_commit]
            .into_iter()
            .flat_map(|c| c.trailer_values("Reviewed-by"))
            .map(str::to_owned)
            .collect();
        reviewers.dedup();
        let author = (!run_commit.is_of_agents_domain()).then(|| run_commit.author.clone());
        Ok(LogEntry {
            author,
            reviewers,
            base: commit.parents.get(1).and(run_commit.parents.first()).map(ToString::to_string),
            commit: commit.id.to_string(),
            at: crate::model::Stamp::from_unix(commit.at).to_string(),
            agent: text(&run_commit, "Agent"),
            trigger: text(&run_commit, "Trigger"),
            stimuli: run_commit.trailer_values("Stimulus").map(str::to_owned).collect(),
            subject: run_commit.subject().to_owned(),
            run,
            decisions,
        })
    }

    /// A neuron, run, sleep, stimulus, agent or commit.
    pub fn show(&self, what: &str, at: Option<&str>) -> Result<Shown, BrainError> {
        let commit = self.at(at)?;
        let tree = self.cycle.store.tree_of(commit)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        if let Ok(run) = RunId::parse(what)
            && let Some(record) = self.record_of(&network, &run)?
        {
            let mut facts = record_lines(&record);
            // What is left of a run says that a person threw it away; the decision says what of it landed.
            if record.is_left_over()
                && let Some(review) = self.cycle.decision_that_stands(&network, &run)?
            {
                facts.retain(|fact| !fact.ends_with(REJECTED));
                let review = self.cycle.with_remarks(review)?;
                facts.push(format!("note: {}", review.words()));
                facts.extend(
                    review.lands.as_ref().map(|landed| format!("note: landed in part or in another form as {landed}")),
                );
            }
            return Ok(Shown { kind: "run", document: value(&record), facts });
        }
        if let Ok(run) = RunId::parse(what)
            && run.agent().as_str() == SLEEP
            && let Some(night) = self.cycle.night_of(&run)?
            && let Some(record) = self.cycle.sleep_record(night.tree, &run)?
        {
            let line = |line: &Line| format!("{}  {} → {}  ({})", line.what, line.old, line.new, line.why);
            let facts = record.learnt.iter().chain(&record.consolidated).map(line).collect();
            return Ok(Shown { kind: "sleep", document: value(&record), facts });
        }
        if let Ok(id) = NeuronId::parse(what)
            && let Some(neuron) = network.neuron(&id)?
        {
            let now = self.cycle.shared.world.now();
            let mut facts = vec![format!("salience now {}", neuron.salience_at(now))];
            if neuron.is_archived() {
                facts.push("archived: the next sleep removes it".to_owned());
            }
            return Ok(Shown { kind: "neuron", document: value(&neuron), facts });
        }
        if let Ok(id) = StimulusId::parse(what)
            && let Some(stimulus) = TreeNetwork::new(&self.cycle.store, tree).stimulus(&id)?
        {
            return Ok(Shown { kind: "stimulus", document: value(&stimulus), facts: Vec::new() });
        }
        if let Some(member) = AgentName::parse(what).ok().and_then(|n| self.cycle.shared.policy.agents.get(&n)) {
            let trusted = if member.trusted { "may run here" } else { "inert until `git brain trust`" };
            let facts = vec![trusted.to_owned()];
            return Ok(Shown { kind: "agent", document: value(&member.agent), facts });
        }
        let Some(commit) = self.cycle.store.resolve(what)? else {
            if let Some(neuron) = self.neuron_named(what, at).ok().filter(|id| id.as_str() != what) {
                return self.show(neuron.as_str(), at);
            }
            return Err(BrainError::Usage {
                message: format!("{what} is no neuron, run, stimulus, agent or commit here"),
                hint: Some("`git brain log` and `git brain recall` show ids".to_owned()),
            });
        };
        let commit = self.cycle.store.commit(commit)?;
        let facts = match commit.parents.first() {
            Some(parent) => self.differences(*parent, commit.id)?.lines,
            None => Vec::new(),
        };
        Ok(Shown { kind: "commit", document: value(&self.entry(&commit)?), facts })
    }

    /// A run's record, in that tree or on the run's own branch.
    fn record_of(&self, network: &TreeNetwork<'_>, run: &RunId) -> Result<Option<RunRecord>, BrainError> {
        if let Some(record) = network.record(run)? {
            return Ok(Some(record));
        }
        let store = &self.cycle.store;
        match store.tip(&crate::cycle::commit::branch_of(store.wake(), run)?)? {
            Some(commit) => TreeNetwork::new(store, store.tree_of(commit)?).record(run),
            None => Ok(None),
        }
    }

    /// Differences between two states; by default what wake's last commit brought.
    pub fn diff(&self, a: Option<&str>, b: Option<&str>) -> Result<Differences, BrainError> {
        let after = self.at(b)?;
        let before = match a {
            Some(_) => self.at(a)?,
            None => {
                let parent = self.cycle.store.commit(after)?.parents.first().copied();
                parent.ok_or_else(|| BrainError::usage(format!("{after} has no parent to compare with")))?
            }
        };
        self.differences(before, after)
    }

    pub(super) fn differences(&self, a: CommitId, b: CommitId) -> Result<Differences, BrainError> {
        let store = &self.cycle.store;
        let mut found = Differences {
            a: a.to_string(),
            b: b.to_string(),
            effects: Vec::new(),
            removed: Vec::new(),
            others: BTreeMap::new(),
            lines: Vec::new(),
        };
        for change in store.diff(Some(store.tree_of(a)?), Some(store.tree_of(b)?), "")? {
            let Place::Neuron(id) = Place::of(&change.path) else {
                *found.others.entry(count::word(&change.path).to_owned()).or_default() += 1;
                continue;
            };
            let read = |file: Option<crate::store::File>| -> Result<Option<Neuron>, BrainError> {
                let Some(file) = file else { return Ok(None) };
                decode_neuron(&store.blob(file.blob)?, &change.path, &id).map(Some)
            };
            match (read(change.old)?, read(change.new)?) {
                // Laid out anew.
                (Some(before), Some(after)) if before == after => {}
                (before, Some(after)) => {
                    let effect = Effect::between(before.as_ref(), &after);
                    found.lines.extend(render::effect(&effect, Some(&after)));
                    found.effects.push(effect);
                }
                (Some(before), None) => {
                    found.lines.push(format!("- {id}  {} {:?}", before.kind, render::clip(&before.concept)));
                    found.removed.push(id.to_string());
                }
                (None, None) => {}
            }
        }
        for (word, count) in &found.others {
            found.lines.push(format!("  {count} × {word}"));
        }
        Ok(found)
    }
}

fn record_lines(record: &RunRecord) -> Vec<String> {
    let mut lines: Vec<String> = record.effects.iter().flat_map(|e| render::effect(e, None)).collect();
    lines.extend(record.notes.iter().map(|note| format!("note: {note}")));
    lines
}

pub(super) fn value<T: Serialize>(document: &T) -> Value {
    serde_json::to_value(document).expect("invariant: our documents have string keys")
}
