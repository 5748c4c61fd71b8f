//! A run that waits, as the belief diff that a person reads: from its branch, the typed merge that would land it, and the words it rests on.

use std::collections::BTreeSet;

use super::commit::run_of;
use super::merge::{Candidate, edits_of};
use super::network::TreeNetwork;
use super::reject::and_remedy;
use super::sides::TreeSides;
use super::trailers::SHOWN;
use super::{Cycle, CycleError, EVALUATOR, HUMAN};
use crate::delta::{Effect, Operation, REJECTED, RunRecord};
use crate::limits;
use crate::merge::{self, Conflict, Options};
use crate::model::ids::{NeuronId, RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Neuron, Stimulus};
use crate::review::belief::{self, is_of_beliefs, numbered, operation, reasons};
use crate::review::{Belief, Change, Evidence, consequence};
use crate::store::{Branch, Commit, CommitId, FileChange, TreeId};

/// Stimuli whose words are shown.
const EVIDENCE: usize = 50;

/// The word for a run that waits for no person: only to be merged.
pub const PENDING: &str = "pending";

/// What says of a memory that a run rewords that wake has reworded it as well.
pub const SINCE: &str = "was reworded in wake since";
/// What a note says of a memory that is gone where a run rewords it.
pub const GONE: &str = "is archived in wake";

/// A run that waits on its branch.
#[derive(Clone, Debug)]
pub struct WaitingRun {
    /// The branch.
    pub branch: Branch,
    /// Its tip: a note about a conflict may lie above the run's own commit.
    pub tip: CommitId,
    /// The run's own commit.
    pub commit: Commit,
    /// The run.
    pub run: RunId,
    /// Why it waits: `asked`, `origin`, `conflict`, `rule NAME`, `pending`.
    pub waits: String,
}

/// Whether a run would land as it is.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The tree that wake would have with it; `None`: it cannot land.
    pub tree: Option<TreeId>,
    /// Reasons against it, one sentence each.
    pub problems: Vec<String>,
}

/// What is asked of a landing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The neurons that change.
    Changes,
    /// The tree as well, which costs as many objects as there are changes.
    Tree,
}

/// Characters of a memory that are quoted where it stays.
const STAYS_CHARS: usize = 100;

/// A live memory that a stimulus replaces.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The stimulus that replaces it.
    pub by: StimulusId,
    /// The label that one was fed with.
    pub source: Option<String>,
    /// The memory.
    pub neuron: Neuron,
    /// What was fed of it.
    pub stimulus: Stimulus,
    /// True where what replaces it is not trusted and it is: it stays until a person lets that in.
    pub stays: bool,
}

impl Replaced {
    /// That it stays, and what puts the other in its place.
    pub fn words(&self, main: &Branch) -> String {
        format!(
            "{} stays believed, {:?}: what corrects it comes from elsewhere. `git brain approve {}`, once that is in wake, lets it into {main} and puts it in its place",
            self.neuron.id,
            self.neuron.concept.chars().take(STAYS_CHARS).collect::<String>(),
            episode_id(&self.by)
        )
    }
}

/// A run's neurons before and after, and what its merge leaves to a person.
struct Landing {
    tree: Option<TreeId>,
    changes: Vec<(Effect, Option<Neuron>)>,
    conflicts: Vec<Conflict>,
    notes: Vec<String>,
}

/// Commits below a run that are named.
const BELOW: usize = 5;

/// Neurons as they would be; `None`: gone.
pub type After = std::collections::BTreeMap<NeuronId, Option<Neuron>>;

impl Cycle {
    /// The runs that wait on branches of their own, by branch.
    pub fn waiting_runs(&self) -> Result<Vec<WaitingRun>, CycleError> {
        let branches = self.branches_of_runs()?.into_iter();
        branches.map(|(branch, tip, run)| self.waiting_run(branch, tip, run)).collect()
    }

    /// The branches of runs, each with its tip and its run, by branch.
    pub fn branches_of_runs(&self) -> Result<Vec<(Branch, CommitId, RunId)>, CycleError> {
        let prefix = self.store.runs_prefix();
        let of = |(branch, tip)| run_of(&prefix, &branch).map(|run| (branch, tip, run));
        Ok(self.run_branches()?.into_iter().filter_map(of).collect())
    }

    /// The run that waits on a branch.
    pub fn waiting_run(&self, branch: Branch, tip: CommitId, run: RunId) -> Result<WaitingRun, CycleError> {
        let commit = self.commit_of_run(tip, &run)?;
        let above = if commit.id == tip { None } else { Some(self.store.commit(tip)?) };
        // A conflict is noted above the run; of itself no run says it.
        let own = commit.trailer("Review").map(|own| if own == "conflict" { "asked" } else { own });
        let waits = above.as_ref().map_or(own, |above| above.trailer("Review")).unwrap_or(PENDING).to_owned();
        Ok(WaitingRun { branch, tip, commit, run, waits })
    }

    /// The rule by which main says that a run waits now, whatever its own commit says.
    pub fn rule_of(&self, waiting: &WaitingRun) -> Result<Option<String>, CycleError> {
        let waits = self.waits_of(&waiting.commit, &waiting.run)?;
        Ok(waits.and_then(|waits| waits.strip_prefix("rule ").map(str::to_owned)))
    }

    /// The waiting run that a person names by its branch or its id; `None`: nothing of that name waits.
    pub fn waiting_named(&self, name: &str) -> Result<Option<WaitingRun>, CycleError> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let Ok(run) = RunId::parse(last) else { return self.waiting_like(name) };
        let branch = super::commit::branch_of(self.store.wake(), &run)?;
        match self.store.tip(&branch)? {
            Some(tip) => self.waiting_run(branch, tip, run).map(Some),
            None => Ok(None),
        }
    }

    /// The only waiting run whose id has that part, as people shorten ids.
    fn waiting_like(&self, part: &str) -> Result<Option<WaitingRun>, CycleError> {
        let fits = |run: &RunId| part.len() >= limits::RUN_PART && run.as_str().contains(part);
        let found: Vec<_> = self.branches_of_runs()?.into_iter().filter(|(.., run)| fits(run)).collect();
        match <[_; 1]>::try_from(found) {
            Ok([(branch, tip, run)]) => self.waiting_run(branch, tip, run).map(Some),
            Err(found) if found.len() > 1 => Err(CycleError::Usage {
                message: format!("{part:?} is a part of {} runs that wait", found.len()),
                hint: Some(found.iter().take(5).map(|(.., run)| run.to_string()).collect::<Vec<_>>().join(", ")),
            }),
            Err(_) => Ok(None),
        }
    }

    /// The record of a waiting run.
    pub fn waiting_record(&self, waiting: &WaitingRun) -> Result<RunRecord, CycleError> {
        let path = layout::run(&waiting.run);
        match self.store.read(waiting.commit.tree, &path)? {
            Some(bytes) => Ok(RunRecord::decode(&bytes, &path)?),
            None => Err(CycleError::refused(format!("{} has no record of its run", waiting.branch))),
        }
    }

    /// How consequential a waiting run is, and its record: from that and its stimuli alone, whatever the size of the brain.
    fn weighed(&self, waiting: &WaitingRun) -> Result<(f64, RunRecord), CycleError> {
        let record = self.waiting_record(waiting)?;
        let tainted = self.shared.policy.settings.origins.is_tainted(&record.origin);
        let replaces = self.replaces(waiting, &record)?;
        Ok((consequence(&record, replaces, waiting.waits == "conflict", tainted), record))
    }

    /// How many texts the stimuli of a waiting run replace: their memories are archived when it lands.
    pub fn replaces(&self, waiting: &WaitingRun, record: &RunRecord) -> Result<usize, CycleError> {
        let network = TreeNetwork::new(&self.store, waiting.commit.tree);
        let mut replaces = 0;
        for id in &record.stimuli {
            replaces += network.stimulus_ever(id)?.map_or(0, |stimulus| stimulus.supersedes.len());
        }
        Ok(replaces)
    }

    /// What a waiting run would change, as a belief diff without questions.
    pub fn belief(&self, waiting: &WaitingRun) -> Result<Belief, CycleError> {
        self.belief_with(waiting, None)
    }

    /// The same; `after` gets the neurons as they would be once it has landed.
    pub fn belief_with(&self, waiting: &WaitingRun, after: Option<&mut After>) -> Result<Belief, CycleError> {
        let (weight, record) = self.weighed(waiting)?;
        let landing = self.landing(waiting, &record, Wanted::Changes)?;
        let own = TreeNetwork::new(&self.store, waiting.commit.tree);
        let mut becomes = After::new();
        for (effect, merged) in landing.changes.iter().filter(|_| after.is_some()) {
            let Some(id) = effect.id().cloned() else { continue };
            let neuron = match (merged, &effect.removed) {
                (Some(merged), _) => Some(merged.clone()),
                (None, Some(_)) => None,
                (None, None) => own.neuron(&id)?,
            };
            becomes.insert(id, neuron);
        }
        let mut belief = self.belief_of(&record, landing)?;
        (belief.branch, belief.commit) = (waiting.branch.to_string(), waiting.commit.id.to_string());
        (belief.waits, belief.consequence) = (waiting.waits.clone(), weight);
        if ![HUMAN, EVALUATOR].contains(&record.agent.as_str())
            && !self.shared.policy.agents.contains_key(&record.agent)
        {
            belief.notes.insert(0, format!("there is no agent {} in this brain any more", record.agent));
        }
        if let Some(member) = self.shared.policy.agents.get(&record.agent) {
            let may = &member.agent.capabilities.operations;
            let lost: BTreeSet<&str> = record.ops.iter().map(Operation::name).collect();
            let lost: Vec<&str> = lost.into_iter().filter(|name| !may.iter().any(|may| may == name)).collect();
            if !lost.is_empty() && record.agent.as_str() != HUMAN {
                let (agent, lost) = (&record.agent, lost.join(", "));
                belief.notes.insert(
                    0,
                    format!("{agent} may no longer {lost}: it might when the run was made, and that counts"),
                );
            }
        }
        belief.notes.extend(self.shown_words(waiting)?);
        // A decision about it lands what it rests on as well.
        let trunks: Vec<CommitId> = [self.store.main(), self.store.wake()]
            .into_iter()
            .filter_map(|trunk| self.store.tip(trunk).transpose())
            .collect::<Result<_, _>>()?;
        let below = self.store.commits_beyond(waiting.commit.id, &trunks)?;
        for id in below.into_iter().filter(|id| *id != waiting.commit.id).take(BELOW) {
            let commit = self.store.commit(id)?;
            let (author, email) = (&commit.author, &commit.email);
            // Its own words say what its author likes; what it does is read off its files.
            let parent = commit.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
            let changes = self.store.diff(parent, Some(commit.tree), "")?;
            let mut does: Vec<String> = Vec::new();
            for change in changes.iter().filter(|change| change.old.is_none()) {
                let Place::Run(run) = Place::of(&change.path) else { continue };
                let record = self.record_in(commit.tree, &run)?;
                does.extend(record.iter().flat_map(|record| &record.ops).map(operation));
            }
            if does.is_empty() {
                does.extend(changes.iter().map(|change| change.path.clone()));
            }
            does.truncate(BELOW);
            let does = does.join("; ");
            belief.notes.insert(0, format!("it rests on {id} by {author} <{email}>, which lands with it: {does}"));
        }
        if !belief.conflicts.is_empty() {
            belief.waits = "conflict".to_owned();
        }
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::remembering(&self.store, wake, &self.shared.neurons);
        let replaced = self.replaced_by(&network, &record, false)?;
        let (stay, replaced): (Vec<_>, Vec<_>) = replaced.into_iter().partition(|replaced| replaced.stays);
        belief.notes.extend(stay.iter().map(|replaced| replaced.words(self.store.main())));
        belief.notes.extend(self.hidden_by(&network, &record, false)?);
        belief.neurons.extend(replaced.iter().map(|Replaced { neuron, .. }| Change::replaced(neuron)));
        belief.neurons.sort_by_cached_key(belief::order);
        for Replaced { neuron, .. } in replaced {
            let (archived, run) = (Some(record.run.clone()), Some(record.run.clone()));
            becomes.insert(neuron.id.clone(), Some(Neuron { archived, run, ..neuron }));
        }
        if let Some(after) = after {
            *after = becomes;
        }
        Ok(belief)
    }

    /// Memories that a run's agent was shown and whose origin it has by that, in words.
    fn shown_words(&self, waiting: &WaitingRun) -> Result<Vec<String>, CycleError> {
        let network = TreeNetwork::new(&self.store, waiting.commit.tree);
        let mut words = Vec::new();
        for id in waiting.commit.trailer_values(SHOWN).filter_map(|id| NeuronId::parse(id).ok()).take(BELOW) {
            let Some(neuron) = network.neuron(&id)? else { continue };
            let text: String = neuron.concept.chars().take(STAYS_CHARS).collect();
            words.push(format!(
                "its agent was shown {id} from {}, {text:?}: it comes from there as well",
                neuron.origin
            ));
        }
        Ok(words)
    }

    /// Holds a waiting run against all that a merge and a gate ask for: its format, what its agent may, whether its operations do again what
    /// it says, signatures, and the typed merge into wake as it is now.
    pub fn verify(&self, waiting: &WaitingRun) -> Result<Verified, CycleError> {
        let mut problems = Vec::new();
        let candidate = self.candidate(waiting.branch.as_str())?;
        problems.extend(self.fault_of(&candidate)?);
        let record = match self.waiting_record(waiting) {
            Ok(record) => record,
            Err(error) => {
                problems.push(error.to_string());
                return Ok(Verified { tree: None, problems });
            }
        };
        let landing = self.landing(waiting, &record, Wanted::Tree)?;
        problems.extend(landing.conflicts.iter().map(ToString::to_string));
        if landing.tree.is_none() && landing.conflicts.is_empty() {
            problems.extend(landing.notes);
        }
        Ok(Verified { tree: landing.tree.filter(|_| problems.is_empty()), problems })
    }

    /// What a run of wake changed, as a belief diff.
    pub fn belief_of_merged(&self, record: &RunRecord, commit: CommitId) -> Result<Belief, CycleError> {
        let changes = record.effects.iter().map(|effect| (effect.clone(), None)).collect();
        let landing = Landing { tree: None, changes, conflicts: Vec::new(), notes: Vec::new() };
        let mut belief = self.belief_of(record, landing)?;
        belief.commit = commit.to_string();
        Ok(belief)
    }

    fn belief_of(&self, record: &RunRecord, landing: Landing) -> Result<Belief, CycleError> {
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::remembering(&self.store, wake, &self.shared.neurons);
        let born: std::collections::BTreeMap<&NeuronId, &str> = landing
            .changes
            .iter()
            .filter_map(|(effect, _)| effect.created.as_deref().map(|made| (&made.id, made.concept.as_str())))
            .collect();
        let concept_of = |id: &NeuronId| -> Option<String> {
            let known = born.get(id).map(|concept| (*concept).to_owned());
            known.or_else(|| network.shared(id).ok().flatten().map(|neuron| neuron.concept.clone()))
        };
        let (reasons, numbers) = (reasons(record), numbered(record));
        let mut neurons = Vec::with_capacity(landing.changes.len());
        for (effect, after) in &landing.changes {
            let known = match (after, effect.id()) {
                (Some(after), _) => Some(after.clone()),
                (None, Some(id)) if effect.created.is_none() && effect.removed.is_none() => network.neuron(id)?,
                _ => None,
            };
            let change = Change::of(effect, known.as_ref(), &concept_of).filter(Change::shows);
            let Some(mut change) = change else { continue };
            change.reason = effect.id().and_then(|id| reasons.get(id)).cloned();
            change.operations = effect.id().and_then(|id| numbers.get(id)).cloned().unwrap_or_default();
            neurons.push(change);
        }
        neurons.sort_by_cached_key(belief::order);
        let mut evidence = Vec::new();
        for id in record.stimuli.iter().take(EVIDENCE) {
            if let Some(stimulus) = network.stimulus_ever(id)? {
                evidence.push(Evidence {
                    stimulus: id.to_string(),
                    origin: stimulus.origin.to_string(),
                    source: stimulus.source.clone(),
                    text: stimulus.text.clone(),
                });
            }
        }
        let origins = &self.shared.policy.settings.origins;
        let mut notes = landing.notes;
        // Of a run that was decided on, the decision is told.
        let is_decided = !self.reviews_of(&record.run)?.is_empty();
        notes.extend(record.notes.iter().filter(|note| !is_decided || *note != REJECTED).cloned());
        let tainted = origins.is_tainted(&record.origin);
        if tainted {
            notes.push(format!(
                "it comes from {}: it lands in {} alone, and `git brain approve --origin {0}` lets it into {}",
                record.origin,
                self.store.wake(),
                self.store.main()
            ));
        }
        Ok(Belief {
            branch: String::new(),
            commit: String::new(),
            run: record.run.to_string(),
            agent: record.agent.to_string(),
            at: record.at.to_string(),
            waits: "merged".to_owned(),
            trigger: record.trigger.clone(),
            cognition: record.cognition.clone(),
            origin: record.origin.to_string(),
            tainted,
            expects: record.prediction.as_ref().and_then(|prediction| prediction.text.clone()),
            expected: record.prediction.as_ref().and_then(|prediction| prediction.value),
            consequence: 0.0,
            evidence,
            neurons,
            further: record.ops.iter().filter(|op| !is_of_beliefs(op)).map(operation).collect(),
            operations: record.ops.iter().map(operation).collect(),
            conflicts: landing.conflicts,
            notes,
            beside: Vec::new(),
            questions: Vec::new(),
        })
    }

    /// The live memories that the stimuli of a run replace, each with the stimulus that does and what was fed of it. Of a run that has landed
    /// only those count whose own memory is live.
    pub fn replaced_by(
        &self,
        network: &TreeNetwork<'_>,
        record: &RunRecord,
        has_landed: bool,
    ) -> Result<Vec<Replaced>, CycleError> {
        let live = |id: &StimulusId| -> Result<Option<Neuron>, CycleError> {
            Ok(network.neuron(&episode_id(id))?.filter(|neuron| !neuron.is_archived()))
        };
        let origins = &self.shared.policy.settings.origins;
        let mut replaced = Vec::new();
        for id in &record.stimuli {
            let Some(by) = network.stimulus_ever(id)?.filter(|by| !by.supersedes.is_empty()) else { continue };
            let makes = |op: &Operation| matches!(op, Operation::Create(made) if made.id == Some(episode_id(id)));
            let landed = live(id)?;
            // Other agents that wake by a text are no memory of it.
            if landed.is_none() && (has_landed || !record.ops.iter().any(makes)) {
                continue;
            }
            let landed = landed.filter(|_| has_landed);
            let is_tainted = origins.is_tainted(landed.as_ref().map_or(&record.origin, |neuron| &neuron.origin));
            // What it replaces may never have landed: then what that was to replace goes.
            let (mut open, mut seen) = (by.supersedes.clone(), BTreeSet::new());
            while let Some(old) = open.pop() {
                if seen.len() >= limits::REPLACED_CHAIN || !seen.insert(old.clone()) {
                    continue;
                }
                let Some(stimulus) = network.stimulus_ever(&old)? else { continue };
                match live(&old)? {
                    Some(neuron) if !neuron.pinned => {
                        let stays = is_tainted && !origins.is_tainted(&neuron.origin);
                        let (by, source) = (by.id.clone(), by.source.clone());
                        replaced.push(Replaced { by, source, neuron, stimulus, stays });
                    }
                    Some(_) => {}
                    None => open.extend(stimulus.supersedes.iter().cloned()),
                }
            }
        }
        Ok(replaced)
    }

    /// Memories that a run from an origin which is not trusted rewords, in words: agents are told neither what they said nor what they say.
    pub fn hidden_by(
        &self,
        network: &TreeNetwork<'_>,
        record: &RunRecord,
        has_landed: bool,
    ) -> Result<Vec<String>, CycleError> {
        let origins = &self.shared.policy.settings.origins;
        let mut words = Vec::new();
        for op in record.ops.iter().filter(|_| origins.is_tainted(&record.origin)) {
            let Operation::Reword(reword) = op else { continue };
            let id = &reword.id;
            let Some(neuron) = network.neuron(id)?.filter(|neuron| !neuron.is_archived()) else { continue };
            if !has_landed || origins.is_tainted(&neuron.origin) {
                words.push(format!(
                    "agents are told {id} no more, neither as it was nor as {} says it: `git brain approve {id}`, once that is in wake, lets it into {}",
                    record.origin,
                    self.store.main()
                ));
            }
        }
        Ok(words)
    }

    /// That all which a waiting run answers was answered meanwhile.
    pub fn answered_meanwhile(&self, waiting: &WaitingRun) -> Result<Option<String>, CycleError> {
        let why = self.answered_already(&Candidate {
            name: waiting.branch.to_string(),
            commit: waiting.tip,
            branch: Some(waiting.branch.clone()),
            run: Some(waiting.run.clone()),
            reviewed_by: None,
        })?;
        Ok(why.map(|why| match waiting.waits.as_str() {
            PENDING => format!("{why}: `git brain run` puts it aside"),
            _ => and_remedy(&why, waiting.branch.as_str()),
        }))
    }

    /// Whether nothing that a run touches has changed in wake since, and its record names the neurons that its commit touches: then landing
    /// does what the record says. A record that says it wrongly is refused where it lands.
    fn is_apart(&self, record: &RunRecord, base: TreeId, wake: TreeId, own: TreeId) -> Result<bool, CycleError> {
        let store = &self.store;
        let folder = |tree| store.folder(tree, layout::NEURONS);
        let (base, wake, own) = (folder(base)?, folder(wake)?, folder(own)?);
        let Some(since) = store.diff_within(base, wake, "", limits::FOLLOWED_NEURONS)? else { return Ok(false) };
        let named: BTreeSet<&NeuronId> = record.effects.iter().filter_map(Effect::id).collect();
        let neuron = |change: &FileChange| match Place::of(&format!("{}/{}", layout::NEURONS, change.path)) {
            Place::Neuron(id) => Some(id),
            _ => None,
        };
        if since.iter().filter_map(neuron).any(|id| named.contains(&id)) {
            return Ok(false);
        }
        let touched: BTreeSet<NeuronId> = store.diff(base, own, "")?.iter().filter_map(neuron).collect();
        Ok(touched.len() == named.len() && touched.iter().all(|id| named.contains(id)))
    }

    /// What landing would do to wake as it is now.
    fn landing(&self, waiting: &WaitingRun, record: &RunRecord, wanted: Wanted) -> Result<Landing, CycleError> {
        let store = &self.store;
        let wake = store.need_tip(store.wake())?;
        let effects = || record.effects.iter().map(|effect| (effect.clone(), None)).collect();
        let mut notes = Vec::new();
        notes.extend(self.answered_meanwhile(waiting)?);
        let writer = store.writer()?;
        let Some(base) = self.base_of(&writer, wake, waiting.commit.id)? else {
            notes.push("it has no history in common with wake, and cannot land".to_owned());
            return Ok(Landing { tree: None, changes: effects(), conflicts: Vec::new(), notes });
        };
        let left = store.tree_of(wake)?;
        let mut sides = TreeSides::new(self, base, left, waiting.commit.tree)?;
        if let Some(why) = sides.beyond(&waiting.run)? {
            notes.push(format!("{} {why}, and cannot land", waiting.branch));
            return Ok(Landing { tree: None, changes: effects(), conflicts: Vec::new(), notes });
        }
        if wanted == Wanted::Changes && self.is_apart(record, base, left, waiting.commit.tree)? {
            return Ok(Landing { tree: None, changes: effects(), conflicts: Vec::new(), notes });
        }
        let policy = &self.shared.policy.settings.merge;
        let outcome = merge::three_way_with(&mut sides, policy, Options::default())
            .map_err(|error| CycleError::refused(format!("{}: {error}", waiting.branch)))?;
        let network = TreeNetwork::remembering(store, left, &self.shared.neurons);
        let mut changes = Vec::new();
        for edit in &outcome.edits {
            let Place::Neuron(id) = Place::of(&edit.path) else { continue };
            let before = network.neuron(&id)?;
            match (&before, &edit.content) {
                (_, Some(content)) => {
                    let after = Neuron::decode(content, &edit.path)?;
                    changes.push((Effect::between(before.as_ref(), &after), Some(after)));
                }
                (Some(before), None) => changes.push((Effect::removal(before), None)),
                (None, None) => {}
            }
        }
        for effect in &record.effects {
            let (Some((from, meant)), Some(id)) = (&effect.concept, effect.id()) else { continue };
            let now = network.neuron(id)?.map(|neuron| neuron.concept).unwrap_or_default();
            let merged =
                changes.iter().find(|(change, _)| change.id() == Some(id)).and_then(|(_, after)| after.clone());
            let stays = merged.or(network.neuron(id)?).map(|neuron| neuron.concept);
            if let Some(by) = network.neuron(id)?.filter(Neuron::is_archived).and_then(|neuron| neuron.archived) {
                // What an agent archived any later touch brings back.
                let stays = by.is_a_persons();
                notes.push(match stays {
                    true => format!("{id} {GONE}: recall leaves it out, whatever its words become"),
                    false => format!("{id} {GONE} by {by}: these words bring it back"),
                });
                if stays {
                    continue;
                }
            }
            let is_open = outcome.conflicts.iter().any(|conflict| conflict.neuron == id.as_str());
            if stays.as_ref() == Some(&meant.value) && now != from.value && now != meant.value {
                notes.push(format!("{id} {SINCE}: {now:?} goes, and {:?} takes its place", meant.value));
            } else if let Some(stays) = stays.filter(|stays| *stays != meant.value && !is_open) {
                notes.push(format!("{id} {SINCE}: {stays:?} stays, and {:?} does not land", meant.value));
            }
        }
        let tree = match outcome.conflicts.is_empty() && wanted == Wanted::Tree {
            true => Some(writer.edit(Some(left), edits_of(&outcome))?),
            false => None,
        };
        Ok(Landing { tree, changes, conflicts: outcome.conflicts, notes })
    }
}
