//! Memories that wait with what replaces them: a run that a person must approve replaces nothing before it lands. Place in the flow: a
//! landing → **replaced** → a run of `human` that archives.

use std::collections::{BTreeMap, BTreeSet};

use super::gone::{Leaving, may_replace};
use super::person::is_of_another;
use super::{Brain, BrainError, HUMAN};
use crate::activation::Snapshot;
use crate::activation::recall::Filters;
use crate::cycle::commit::{Draft, HELD_FOR_ORIGIN};
use crate::cycle::network::TreeNetwork;
use crate::cycle::revert::{BROUGHT_BACK, RESTORE};
use crate::cycle::reviewing::Replaced;
use crate::cycle::snapshot::snapshot_beside;
use crate::delta::{Operation, RunRecord};
use crate::model::ids::{NeuronId, RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::review::Then;
use crate::model::{Kind, Neuron, Origin, Stimulus};
use crate::review::{REASON, Verdict};
use crate::store::CommitId;

/// Memories of a run that are looked after, and answers of recall that are looked at for each.
const LOOKED_AT: usize = 16;

/// Memories that came back at once for which recall is asked what replaces them.
const BROUGHT: usize = 64;

/// Decisions that are looked through for who let a memory in.
const DECISIONS: usize = 100;

/// Words of a memory that recall is asked by.
const WORDS: usize = 24;

/// A correction, to another one of the same memory: its origin, its source, whether it is pinned, whether a person approved it.
pub(super) type Side<'a> = (&'a Origin, Option<&'a str>, bool, bool);

/// Two corrections of one memory, of which the later stays.
pub(super) struct Rival {
    pub earlier: Stimulus,
    pub later: NeuronId,
}

/// That of two corrections of one memory the later stays.
pub(super) fn of_two(earlier: &NeuronId, later: &NeuronId) -> String {
    format!("{earlier} and {later} corrected one memory: the later, {later}, stays")
}

/// Whether a text corrects others; of a file none does, whose newest feed says what it has.
pub(super) fn corrects_text(stimulus: &Stimulus) -> bool {
    !stimulus.supersedes.is_empty() && stimulus.source.as_ref().is_none_or(|source| !source.contains('#'))
}

/// The landing that archives something.
pub(super) struct Landing<'a> {
    /// The run that landed.
    pub record: &'a RunRecord,
    /// Who approved it, as `Name <address>`; `None`: it landed by itself, or what it made was let in since.
    pub by: Option<&'a str>,
    /// Whether a person let in what it made, which then is of that person.
    pub is_let_in: bool,
}

impl Landing<'_> {
    /// The trigger of the run that archives: that of a review is taken back with it.
    pub fn reason(&self) -> String {
        match self.by.is_some() || self.is_let_in {
            true => format!("{REASON}{}", self.record.run),
            false => "feed".to_owned(),
        }
    }
}

impl Brain {
    /// Whether a rule of `[review]` may make the run of a feed wait.
    pub(super) fn rules_may_hold(&self) -> bool {
        self.cycle.shared.policy.settings.review.rule.iter().any(|rule| rule.then == Then::Wait)
    }

    /// Archives what an approved run archives, by a run of the person who approved it: what an agent archived, any later touch brings back, and
    /// between its proposal and its approval something may have touched it.
    pub(super) fn archive_approved(&self, landing: &Landing<'_>) -> Result<(), BrainError> {
        let (store, shared) = (&self.cycle.store, &self.cycle.shared);
        let network = TreeNetwork::remembering(store, store.tree_of(self.at(None)?)?, &shared.neurons);
        let mut ops = Vec::new();
        for op in &landing.record.ops {
            let Operation::Archive(archive) = op else { continue };
            let is_persons = |neuron: &Neuron| neuron.archived.as_ref().is_some_and(RunId::is_a_persons);
            let goes = |neuron: &Neuron| !is_persons(neuron) && !neuron.pinned && neuron.kind != Kind::Core;
            if network.shared(&archive.id)?.is_some_and(|neuron| goes(&neuron)) {
                ops.push(op.clone());
            }
        }
        if ops.is_empty() {
            return Ok(());
        }
        let (base, run) = self.person_run(&[landing.record.run.as_str().as_bytes(), b"archive"])?;
        let mut draft = Draft::by_hand(shared, base, run, "review")?;
        draft.reason = landing.reason();
        draft.origin = landing.record.origin.clone();
        draft.amends.reviewed_by = landing.by.map(str::to_owned);
        draft.document.ops = ops;
        let applied = draft.apply(store, shared)?;
        self.land(draft, &applied, false)?;
        Ok(())
    }

    /// Archives the memories that the stimuli of a landed run replace, where those stimuli are memories now. Returns the runs that archived.
    pub(super) fn archive_replaced(&self, landing: &Landing<'_>) -> Result<Vec<String>, BrainError> {
        for note in self.settle_statements(std::slice::from_ref(landing.record))? {
            self.cycle.store.add_note(note);
        }
        let replaced = {
            let (store, shared) = (&self.cycle.store, &self.cycle.shared);
            let network = TreeNetwork::remembering(store, store.tree_of(self.at(None)?)?, &shared.neurons);
            self.cycle.replaced_by(&network, landing.record, true)?
        };
        // What a person has approved may replace anything: the belief diff says what goes.
        let may = |replaced: &Replaced| {
            let is_wanted = landing.by.is_some() || landing.is_let_in;
            let (by, old) = (&landing.record.origin, &replaced.neuron);
            let of_another = || is_of_another((by, replaced.source.as_deref()), (&old.origin, old.source.as_deref()));
            !replaced.stays && (is_wanted || may_replace(by, &old.origin) && !of_another())
        };
        let leaving: Vec<Leaving> = replaced
            .into_iter()
            .filter(may)
            .map(|Replaced { by, stimulus, .. }| Leaving {
                reason: format!("replaced by {}", episode_id(&by)),
                stimulus,
                is_let_in: true,
            })
            .collect();
        let mut leaving = match landing.by {
            Some(_) => leaving.into_iter().chain(self.overtaken(landing.record)?).collect(),
            None => leaving,
        };
        let is_wanted = landing.by.is_some() || landing.is_let_in;
        for Rival { earlier, later } in self.rivals(landing.record, is_wanted, true)? {
            let reason = format!("replaced by {later}");
            self.cycle.store.add_note(of_two(&episode_id(&earlier.id), &later));
            if leaving.iter().all(|one| one.stimulus.id != earlier.id) {
                leaving.push(Leaving { reason, stimulus: earlier, is_let_in: true });
            }
        }
        self.archive(&leaving, Some(landing))
    }

    /// Other live corrections of the memories that a run corrects: of two the later stays, by when they happened, if it may take the place of the
    /// earlier one. `is_wanted`: a person lets in what the run says; `has_landed`: it is in wake.
    pub(super) fn rivals(
        &self,
        record: &RunRecord,
        is_wanted: bool,
        has_landed: bool,
    ) -> Result<Vec<Rival>, BrainError> {
        let wake = self.at(None)?;
        let tree = self.cycle.store.tree_of(wake)?;
        let network = TreeNetwork::remembering(&self.cycle.store, tree, &self.cycle.shared.neurons);
        let (mut rivals, mut snapshot) = (Vec::<Rival>::new(), None);
        for id in record.stimuli.iter().take(LOOKED_AT) {
            let Some(own) = network.stimulus_ever(id)?.filter(corrects_text) else { continue };
            let memory = network.neuron(&episode_id(id))?;
            if has_landed && memory.as_ref().is_none_or(Neuron::is_archived) {
                continue;
            }
            if snapshot.is_none() {
                snapshot = Some(snapshot_beside(&self.cycle.store, tree)?);
            }
            let Some(snapshot) = &snapshot else { continue };
            let own_origin = memory.map_or_else(|| record.origin.clone(), |memory| memory.origin);
            let older = self.older_than(&network, id)?;
            for old in older.iter().take(LOOKED_AT) {
                for other in self.replacers(wake, &network, snapshot, (&old.id, &old.text))? {
                    let by = other.stimulus.as_ref().map(|by| network.stimulus_ever(by)).transpose()?.flatten();
                    let is_apart = |by: &Stimulus| by.id != own.id && older.iter().all(|older| older.id != by.id);
                    let Some(by) = by.filter(corrects_text).filter(is_apart) else { continue };
                    let one = (&own_origin, own.source.as_deref(), false, is_wanted);
                    let two = (&other.origin, by.source.as_deref(), other.pinned, self.is_approved(&other)?);
                    let is_later = (own.at, &own.id) > (by.at, &by.id);
                    let (later, earlier) = if is_later { (one, two) } else { (two, one) };
                    let (new, old) = if is_later { (&own, &by) } else { (&by, &own) };
                    if self.may_overtake(later, earlier) && rivals.iter().all(|known| known.earlier.id != old.id) {
                        rivals.push(Rival { earlier: old.clone(), later: episode_id(&new.id) });
                    }
                }
            }
        }
        Ok(rivals)
    }

    /// Archives what gives way to a correction among memories that came back, and among others of what they correct. A sentence for each. What a person
    /// brought back by itself stays.
    pub(super) fn settle_rivals(&self, ids: &[String]) -> Result<Vec<String>, BrainError> {
        let (store, wake) = (&self.cycle.store, self.at(None)?);
        let network = TreeNetwork::new(store, store.tree_of(wake)?);
        let (mut notes, mut leaving, mut snapshot) = (Vec::new(), Vec::<Leaving>::new(), None);
        let mut asked = 0;
        for id in ids.iter().filter_map(|id| NeuronId::parse(id).ok()) {
            let Some(memory) = network.neuron(&id)?.filter(|memory| !memory.is_archived()) else { continue };
            let stimulus = memory.stimulus.as_ref().map(|id| network.stimulus_ever(id)).transpose()?.flatten();
            // A night may have removed it before it could be archived for what replaces it.
            if let Some(stimulus) = stimulus.filter(|_| memory.kind == Kind::Episodic && asked < BROUGHT) {
                asked += 1;
                if snapshot.is_none() {
                    snapshot = Some(snapshot_beside(store, store.tree_of(wake)?)?);
                }
                let Some(snapshot) = &snapshot else { continue };
                let by = self.replacers(wake, &network, snapshot, (&stimulus.id, &memory.concept))?.into_iter().next();
                if let Some(by) = by
                    && let Some(source) = by.stimulus.as_ref().map(|id| network.stimulus_ever(id)).transpose()?
                {
                    let source = source.and_then(|stimulus| stimulus.source);
                    let later = (&by.origin, source.as_deref(), by.pinned, self.is_approved(&by)?);
                    let earlier = (&memory.origin, stimulus.source.as_deref(), memory.pinned, false);
                    if self.may_overtake(later, earlier) && !self.is_wanted_back(&memory)? {
                        notes.push(format!("{id} is archived again: {} replaces it", by.id));
                        leaving.push(Leaving { reason: format!("replaced by {}", by.id), stimulus, is_let_in: true });
                        continue;
                    }
                }
            }
            let record = match &memory.stimulus {
                Some(_) if memory.kind == Kind::Episodic => self.brought(&memory)?,
                _ => None,
            };
            let Some(record) = record else { continue };
            for Rival { earlier, later } in self.rivals(&record, self.is_approved(&memory)?, true)? {
                if let Some(memory) = network.neuron(&episode_id(&earlier.id))?
                    && self.is_wanted_back(&memory)?
                {
                    continue;
                }
                if leaving.iter().all(|one| one.stimulus.id != earlier.id) {
                    notes.push(of_two(&episode_id(&earlier.id), &later));
                    leaving.push(Leaving {
                        reason: format!("replaced by {later}"),
                        stimulus: earlier,
                        is_let_in: true,
                    });
                }
            }
        }
        self.archive(&leaving, None)?;
        Ok(notes)
    }

    /// Whether a person brought a memory back that was archived: by `restore`, or by a revert of what archived it. Then it stands beside what replaces it.
    pub(super) fn is_wanted_back(&self, memory: &Neuron) -> Result<bool, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let archives = |record: &RunRecord| {
            record.ops.iter().any(|op| matches!(op, Operation::Archive(archive) if archive.id == memory.id))
        };
        let reverted = self.cycle.reverted(tree)?;
        let records = self.cycle.persons_since(tree, memory.created_at.unix())?.into_iter();
        for record in records.filter(|record| !reverted.contains_key(&record.run)) {
            if archives(&record) {
                return Ok(false);
            }
            if !record.effects.iter().any(|effect| effect.id() == Some(&memory.id)) {
                continue;
            }
            if record.cognition == RESTORE && record.trigger != BROUGHT_BACK {
                return Ok(true);
            }
            // Taking back the archiving alone, and not the run for which it was made.
            let mut is_alone = !record.reverts.is_empty();
            for run in &record.reverts {
                is_alone &= network.record(run)?.is_some_and(|record| archives(&record));
            }
            if is_alone {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a person approved what made a memory, among the newest decisions.
    pub(super) fn is_approved(&self, memory: &Neuron) -> Result<bool, BrainError> {
        let Some(stimulus) = &memory.stimulus else { return Ok(false) };
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        for review in self.cycle.newest_reviews(DECISIONS)? {
            // A rejection that was taken back let it in as well.
            let review = match review.verdict {
                Verdict::Reject => self.cycle.with_remarks(review)?,
                _ => review,
            };
            let landed = review.landed().map(|run| network.record(run)).transpose()?.flatten();
            if landed.is_some_and(|landed| landed.stimuli.contains(stimulus))
                && self.cycle.holds_for_its_run(&review)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether one correction may take the place of an earlier one of the same memory; of both the origin, the source, whether it is pinned, and whether
    /// a person approved it.
    pub(super) fn may_overtake(&self, later: Side<'_>, earlier: Side<'_>) -> bool {
        let origins = &self.cycle.shared.policy.settings.origins;
        let ((new, source, _, is_approved), (old, old_source, is_pinned, _)) = (later, earlier);
        let is_less = origins.is_tainted(new) && !origins.is_tainted(old);
        let may = || may_replace(new, old) && !is_of_another((new, source), (old, old_source));
        !is_pinned && !is_less && (is_approved || may())
    }

    /// Archives what a landed run replaces, and says which runs did and what stays.
    pub(super) fn replace(&self, landing: &Landing<'_>, notes: &mut Vec<String>) -> Result<(), BrainError> {
        let archived = self.archive_replaced(landing)?;
        notes.extend(archived.iter().map(|run| format!("{run} archived the memories that it replaces")));
        notes.extend(self.staying(landing.record)?);
        Ok(())
    }

    /// Memories that stay beside what a landed run says in their place, in words.
    fn staying(&self, record: &RunRecord) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::remembering(store, store.tree_of(self.at(None)?)?, &self.cycle.shared.neurons);
        let replaced = self.cycle.replaced_by(&network, record, true)?;
        let mut words: Vec<String> =
            replaced.iter().filter(|one| one.stays).map(|one| one.words(store.main())).collect();
        words.extend(self.cycle.hidden_by(&network, record, true)?);
        Ok(words)
    }

    /// Archives what memories replace that a person has let in. Returns the runs that did.
    pub(super) fn archive_let_in(&self, let_in: &[Neuron]) -> Result<Vec<String>, BrainError> {
        let mut archived = Vec::new();
        for neuron in let_in {
            archived.extend(self.archive_for(neuron, true)?);
        }
        Ok(archived)
    }

    /// The same of one memory; `is_let_in`: whether a person has.
    pub(super) fn archive_for(&self, memory: &Neuron, is_let_in: bool) -> Result<Vec<String>, BrainError> {
        match self.brought(memory)? {
            Some(record) => self.archive_replaced(&Landing { record: &record, by: None, is_let_in }),
            None => Ok(Vec::new()),
        }
    }

    /// The memories that would go if a person let those in.
    pub(super) fn would_go(&self, let_in: &[Neuron]) -> Result<Vec<NeuronId>, BrainError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let mut going = Vec::new();
        for neuron in let_in {
            if let Some(record) = self.brought(neuron)? {
                going.extend(self.cycle.replaced_by(&network, &record, true)?.into_iter().map(|one| one.neuron.id));
            }
        }
        Ok(going)
    }

    /// The record of the run that touched a memory last, as if it were about that memory alone; `None`: the memory replaces nothing.
    fn brought(&self, neuron: &Neuron) -> Result<Option<RunRecord>, BrainError> {
        let (Some(stimulus), Some(run)) = (&neuron.stimulus, &neuron.run) else { return Ok(None) };
        let store = &self.cycle.store;
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        if network.stimulus_ever(stimulus)?.is_none_or(|fed| fed.supersedes.is_empty()) {
            return Ok(None);
        }
        let record = network.record(run)?;
        Ok(record.map(|record| RunRecord { stimuli: vec![stimulus.clone()], ..record }))
    }

    /// The memories of a run that live ones replace already, which came in later and landed first.
    fn overtaken(&self, record: &RunRecord) -> Result<Vec<Leaving>, BrainError> {
        let wake = self.at(None)?;
        let tree = self.cycle.store.tree_of(wake)?;
        let network = TreeNetwork::remembering(&self.cycle.store, tree, &self.cycle.shared.neurons);
        let (mut overtaken, mut snapshot) = (Vec::new(), None);
        for id in record.stimuli.iter().take(LOOKED_AT) {
            let Some(memory) = network.neuron(&episode_id(id))?.filter(|neuron| !neuron.is_archived()) else {
                continue;
            };
            let Some(stimulus) = network.stimulus_ever(id)? else { continue };
            if snapshot.is_none() {
                snapshot = Some(snapshot_beside(&self.cycle.store, tree)?);
            }
            let Some(snapshot) = &snapshot else { continue };
            if let Some(one) = self.replacers(wake, &network, snapshot, (id, &memory.concept))?.into_iter().next() {
                let reason = format!("replaced by {}", one.id);
                overtaken.push(Leaving { reason, stimulus, is_let_in: true });
            }
        }
        Ok(overtaken)
    }

    /// Live memories that replace one, or what replaced it, among what recall finds by its words: what replaces a text speaks of the same.
    pub(super) fn replacers(
        &self,
        wake: CommitId,
        network: &TreeNetwork<'_>,
        snapshot: &Snapshot,
        (stimulus, text): (&StimulusId, &str),
    ) -> Result<Vec<Neuron>, BrainError> {
        let question: String = text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ");
        let filters = Filters { top: Some(LOOKED_AT), ..Filters::default() };
        let now = self.cycle.shared.world.now();
        let (found, _) = self.cycle.recall(wake, snapshot, &question, filters, now, &mut |_, _| ())?;
        let mut replacers = Vec::new();
        for one in found.into_iter().map(|one| one.neuron) {
            let older = one.stimulus.as_ref().map(|by| self.older_than(network, by)).transpose()?;
            if older.into_iter().flatten().any(|older| older.id == *stimulus) {
                replacers.push(one);
            }
        }
        Ok(replacers)
    }

    /// A memory that a run archived and that a live one replaces which does not come of the runs that go, and that one.
    pub(super) fn replaced_by_another(
        &self,
        archival: &RunRecord,
        going: &[RunRecord],
    ) -> Result<Option<(NeuronId, NeuronId)>, BrainError> {
        let wake = self.at(None)?;
        let tree = self.cycle.store.tree_of(wake)?;
        let network = TreeNetwork::remembering(&self.cycle.store, tree, &self.cycle.shared.neurons);
        let leaves: BTreeSet<&StimulusId> = going.iter().flat_map(|record| &record.stimuli).collect();
        let snapshot = snapshot_beside(&self.cycle.store, tree)?;
        for op in archival.ops.iter().take(LOOKED_AT) {
            let Operation::Archive(archive) = op else { continue };
            let Some(old) = network.neuron(&archive.id)? else { continue };
            let Some(stimulus) = &old.stimulus else { continue };
            let mut by = self.replacers(wake, &network, &snapshot, (stimulus, &old.concept))?.into_iter();
            let stays = |by: &Neuron| by.stimulus.as_ref().is_some_and(|stimulus| !leaves.contains(stimulus));
            if let Some(by) = by.find(stays) {
                return Ok(Some((old.id, by.id)));
            }
        }
        Ok(None)
    }

    /// The same for runs that landed by themselves or by a merge; those that wake does not have are passed over.
    pub(super) fn archive_replaced_by<'r>(
        &self,
        runs: impl Iterator<Item = &'r str>,
    ) -> Result<Vec<String>, BrainError> {
        let mut archived = Vec::new();
        for run in runs.filter_map(|run| RunId::parse(run).ok()) {
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
            if let Some(record) = network.record(&run)? {
                archived.extend(self.archive_replaced(&Landing { record: &record, by: None, is_let_in: false })?);
            }
        }
        Ok(archived)
    }

    /// Those stimuli whose memory is live in wake.
    pub(super) fn live_of(&self, stimuli: &[StimulusId]) -> Result<usize, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let mut live = 0;
        for id in stimuli {
            live += usize::from(network.neuron(&episode_id(id))?.is_some_and(|neuron| !neuron.is_archived()));
        }
        Ok(live)
    }

    /// Proposes to archive memories that a file under review no longer has: runs of `human` from where the file comes, which wait for a person.
    /// Those that a waiting run archives already are not proposed twice. The number of those that a text which waits will replace, and notes on the
    /// others.
    pub(super) fn propose_removal(
        &self,
        removed: Vec<Leaving>,
        origin: &Origin,
    ) -> Result<(usize, Vec<String>), BrainError> {
        if removed.is_empty() {
            return Ok((0, Vec::new()));
        }
        let superseded = self.superseded_by_waiting()?;
        let (corrected, removed): (Vec<Leaving>, Vec<Leaving>) =
            removed.into_iter().partition(|one| superseded.contains(&one.stimulus.id));
        let corrected: Vec<StimulusId> = corrected.into_iter().map(|one| one.stimulus.id).collect();
        let corrected = self.live_of(&corrected)?;
        let mut proposed: BTreeMap<NeuronId, RunId> = BTreeMap::new();
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            if run.agent().as_str() != HUMAN {
                continue;
            }
            let waiting = self.cycle.waiting_run(branch, tip, run)?;
            let Ok(record) = self.cycle.waiting_record(&waiting) else { continue };
            proposed.extend(record.ops.iter().filter_map(|op| match op {
                Operation::Archive(archive) => Some((archive.id.clone(), record.run.clone())),
                _ => None,
            }));
        }
        let (mut new, mut runs, mut count) = (Vec::new(), BTreeSet::new(), 0);
        for one in removed {
            let live = self.live_of(std::slice::from_ref(&one.stimulus.id))?;
            count += live;
            match proposed.get(&episode_id(&one.stimulus.id)) {
                Some(run) if live > 0 => drop(runs.insert(run.to_string())),
                None if live > 0 => new.push(one),
                _ => {}
            }
        }
        runs.extend(self.archive_by(&new, &|draft| {
            draft.reason = "feed".to_owned();
            draft.origin = origin.clone();
            draft.held = Some(HELD_FOR_ORIGIN.to_owned());
        })?);
        if runs.is_empty() {
            return Ok((corrected, Vec::new()));
        }
        let stay = match count {
            1 => "1 memory that the file no longer has stays until a person approves its removal".to_owned(),
            _ => format!("{count} memories that the file no longer has stay until a person approves their removal"),
        };
        let runs: Vec<String> = runs.into_iter().collect();
        Ok((corrected, vec![format!("{stay}: git brain review {}", runs.join(" "))]))
    }

    /// The stimuli that those in the queue replace: a text whose run waits for a person is still in it.
    fn superseded_by_waiting(&self) -> Result<BTreeSet<StimulusId>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(store, tree);
        let mut queue = Vec::new();
        store.each_file(tree, layout::QUEUE, &mut |path, _| {
            if let Place::Queue(id) = Place::of(path) {
                queue.push(id);
            }
            Ok(())
        })?;
        let mut superseded = BTreeSet::new();
        for id in &queue {
            superseded.extend(network.stimulus(id)?.into_iter().flat_map(|stimulus| stimulus.supersedes));
        }
        Ok(superseded)
    }
}
