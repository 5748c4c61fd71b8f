//! What is done again upon a history without what is refused: runs that wait, operations of people, texts that were fed.

use std::borrow::Cow;
use std::collections::HashSet;

use super::ended::{Ended, Records};
use super::owed::Owed;
use crate::cycle::commit::{Committed, Draft, HELD_FOR_ORIGIN, branch_of};
use crate::cycle::merge::{Candidate, Fate};
use crate::cycle::network::{TreeNetwork, format_of};
use crate::cycle::revert::{BROUGHT_BACK, RESTORE};
use crate::cycle::trunk::stimulus_trailers;
use crate::cycle::{Cycle, CycleError, HUMAN, quoted};
use crate::delta::operation::Create;
use crate::delta::{APPLIED, Document, OUTCOME, Operation, RunRecord};
use crate::model::ids::{AgentName, NeuronId, RunId, SubjectId};
use crate::model::layout::{self, Place};
use crate::model::origin::Level;
use crate::model::{Kind, Neuron, Stamp, Stimulus, json, plural};
use crate::review::kept_out::clip;
use crate::review::{REASON, Verdict};
use crate::store::{Author, Branch, Commit, CommitId, CommitSpec, ObjectWriter, TreeEdit};

/// Commits of wake and main that a remote lacks, and that cannot go there.
pub(super) struct Left {
    /// Those that are refused, and those that descend from one, parents before children.
    pub commits: Vec<Commit>,
    pub ids: HashSet<CommitId>,
    /// The other commits that the remote lacks.
    pub good: Vec<CommitId>,
    /// Runs that had to wait, by what the remote's wake has beside them.
    pub unapproved: HashSet<RunId>,
}

/// A history in which nothing is refused, as far as it is made.
pub(super) struct Rebuilt {
    pub main: CommitId,
    pub wake: CommitId,
    pub notes: Vec<String>,
    /// Branches of runs that wait again.
    pub held: Vec<(Branch, CommitId)>,
    /// Branches whose runs wait on other ones now.
    pub gone: Vec<(Branch, CommitId)>,
    /// Decisions that are carried out again, once this is the history here.
    pub owed: Owed,
}

/// The maker of a run.
enum Made {
    /// A decision of the person here that counts, which names it; with who approved it in that form, if it was approved.
    Decision(Option<String>),
    /// A decision that does not count.
    InVain,
    /// An agent, whose run the person here approved.
    Approved,
    Otherwise,
}

/// The first subject that an operation forgets.
fn forgotten(op: &Operation) -> Option<&SubjectId> {
    match op {
        Operation::Seal(sealing) => sealing.forget.first(),
        _ => None,
    }
}

impl Cycle {
    /// The branch of a run that landed here and may not, with its commit as one that waits: who decides finds it there. A run that no rule holds by
    /// what is here was asked for.
    pub(super) fn held_again(
        &self,
        writer: &ObjectWriter<'_>,
        commit: &Commit,
        run: &RunId,
    ) -> Result<Option<(Branch, CommitId)>, CycleError> {
        let branch = branch_of(self.store.wake(), run)?;
        let Some(record) = self.record_in(commit.tree, run)?.filter(|record| !record.is_left_over()) else {
            return Ok(None);
        };
        let waits = self.waits_by(&record, Some(commit), commit.tree, &self.settings_of_main()?)?;
        if self.store.tip(&branch)?.is_some() {
            return Ok(None);
        }
        let waits = waits.unwrap_or_else(|| "asked".to_owned());
        let mut trailers = commit.trailers.clone();
        if trailers.iter().all(|(key, _)| key != "Review") {
            trailers.push(("Review".to_owned(), waits));
        }
        // What stands between the first line and the trailers.
        let (_, rest) = commit.message.split_once("\n\n").unwrap_or_default();
        let body = rest.trim_end().rsplit_once("\n\n").map_or("", |(body, _)| body);
        let held = writer.commit(&CommitSpec {
            tree: commit.tree,
            parents: commit.parents.clone(),
            author: Author::Agent(run.agent()),
            at: commit.at,
            subject: commit.subject().to_owned(),
            body: body.to_owned(),
            trailers,
        })?;
        Ok(Some((branch, held)))
    }

    /// The branch of a run that was thrown away or amended here, as it waited: whoever decides now finds it there, and a decision that counts is carried out
    /// again. `None`: it is there, or its commit is not, or rests on what is left out.
    fn waits_as_before(
        &self,
        run: &RunId,
        left: &Left,
        rebuilt: &Rebuilt,
    ) -> Result<Option<(Branch, CommitId)>, CycleError> {
        let branch = branch_of(self.store.wake(), run)?;
        if self.store.tip(&branch)?.is_some() || rebuilt.held.iter().any(|(known, _)| *known == branch) {
            return Ok(None);
        }
        let Some((own, _)) = self.commit_decided_on(run)? else { return Ok(None) };
        let beyond = self.store.commits_beyond(own.id, &[rebuilt.wake, rebuilt.main])?;
        Ok((!beyond.iter().any(|id| left.ids.contains(id))).then_some((branch, own.id)))
    }

    /// Lets runs wait again that were thrown away or amended by what is left out.
    pub(super) fn thrown_away_again(&self, left: &Left, rebuilt: &mut Rebuilt) -> Result<(), CycleError> {
        let was = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let now = self.store.tree_of(rebuilt.wake)?;
        for change in self.store.diff(Some(now), Some(was), layout::RUNS)? {
            let (Place::Run(run), None) = (Place::of(&change.path), change.old) else { continue };
            if !self.record_in(was, &run)?.is_some_and(|record| record.is_left_over()) {
                continue;
            }
            if let Some(held) = self.waits_as_before(&run, left, rebuilt)? {
                rebuilt.notes.push(format!("run {run} waits again: `git brain review` lists it"));
                rebuilt.held.push(held);
            }
        }
        Ok(())
    }

    /// Does again, as new runs, the operations of people.
    pub(super) fn people_again(
        &self,
        writer: &ObjectWriter<'_>,
        (left, records): (&Left, &Records),
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CycleError> {
        let mut newest = self.newest_run(rebuilt.wake)?;
        let taken_back = self.reverted(self.store.tree_of(self.store.need_tip(self.store.wake())?)?)?;
        let approved = self.approved_of(records, self.store.tree_of(rebuilt.owed.was)?)?;
        for (commit, record) in records.iter().cloned() {
            if approved.contains(&record.run) {
                self.redo(writer, rebuilt, (commit, record, None), Made::Approved, &mut newest)?;
                continue;
            }
            // What a person applied as an agent nothing wakes again.
            let is_applied = record.cognition == APPLIED && !record.is_left_over();
            if record.agent.as_str() != HUMAN && !is_applied && record.trigger != OUTCOME {
                continue;
            }
            let old = record.run.clone();
            // What was taken back stays so.
            if taken_back.contains_key(&old) {
                continue;
            }
            if record.trigger == OUTCOME {
                rebuilt.owed.outcomes.push(record);
                continue;
            }
            if !record.reverts.is_empty() {
                rebuilt.owed.reverts.extend(record.reverts);
                continue;
            }
            if record.cognition == RESTORE {
                if record.trigger == BROUGHT_BACK {
                    continue;
                }
                let restored = record.effects.iter().filter_map(|effect| effect.id().cloned());
                rebuilt.owed.restored.extend(restored);
                continue;
            }
            // What an approved run replaces is archived when that is let in again.
            let about = record.trigger.strip_prefix(REASON).and_then(|about| RunId::parse(about).ok());
            if about.is_some_and(|about| approved.contains(&about)) {
                continue;
            }
            let branch = branch_of(self.store.wake(), &old)?;
            if rebuilt.held.iter().any(|(known, _)| *known == branch) || self.still_waits(&branch, &old, left)? {
                continue;
            }
            // What a decision makes of a run lands with a decision that counts, or not at all.
            let made = match self.made_by(&record)? {
                Made::InVain => {
                    rebuilt.notes.push(format!(
                        "run {old}, {}, is not done again: that decision does not count",
                        record.trigger
                    ));
                    continue;
                }
                made => made,
            };
            let brought = self.store.commit(commit)?;
            // It cannot be taken back, and a refused commit does not show whose run it is.
            if let Some(subject) = record.ops.iter().find_map(forgotten) {
                rebuilt.notes.push(format!(
                    "run {old} of {} is not done again: it forgets a subject; if that is wanted: `git brain subject forget {subject}`",
                    brought.email
                ));
                continue;
            }
            // Whose approval lands it is about the run as it was: under a new id it is decided on again.
            let held = brought.trailer("Review").map(str::to_owned);
            let held = held.or(left.unapproved.contains(&old).then(|| "asked".to_owned()));
            self.redo(writer, rebuilt, (commit, record, held), made, &mut newest)?;
        }
        Ok(())
    }

    /// Whether a run waits on its branch here as it was before somebody merged it, with nothing below it that is left out.
    fn still_waits(&self, branch: &Branch, run: &RunId, left: &Left) -> Result<bool, CycleError> {
        let Some(tip) = self.store.tip(branch)? else { return Ok(false) };
        let own = self.commit_of_run(tip, run)?;
        Ok(own.trailer("Run") == Some(run.as_str())
            && !left.ids.contains(&own.id)
            && !own.parents.iter().any(|parent| left.ids.contains(parent)))
    }

    /// Does again what waits on branches that rest on what is left out: nobody else could take them.
    pub(super) fn waiting_again(
        &self,
        writer: &ObjectWriter<'_>,
        left: &Left,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CycleError> {
        let mut newest = self.newest_run(rebuilt.wake)?;
        for (branch, tip, run) in self.branches_of_runs()? {
            let own = self.commit_of_run(tip, &run)?;
            let beyond = self.store.commits_beyond(own.id, &[rebuilt.wake, rebuilt.main])?;
            let record = self.record_in(own.tree, &run)?;
            let Some(record) = record.filter(|_| beyond.iter().any(|id| left.ids.contains(id))) else { continue };
            if record.cognition != APPLIED {
                // Its texts are fed again, and perceived anew.
                if !record.stimuli.is_empty() {
                    rebuilt.notes.push(format!("run {run} no longer waits: its texts are perceived again"));
                    rebuilt.gone.push((branch, tip));
                }
                continue;
            }
            let held = Some(own.trailer("Review").unwrap_or("asked").to_owned());
            if self.redo(writer, rebuilt, (own.id, record, held), Made::Otherwise, &mut newest)? {
                rebuilt.gone.push((branch, tip));
            }
        }
        Ok(())
    }

    /// Does the operations of one record again, on its branch where it waits, else in wake; whether that could be done. Says so.
    fn redo(
        &self,
        writer: &ObjectWriter<'_>,
        rebuilt: &mut Rebuilt,
        (commit, record, held): (CommitId, RunRecord, Option<String>),
        made: Made,
        newest: &mut Option<RunId>,
    ) -> Result<bool, CycleError> {
        let (old, is_approved) = (record.run.clone(), matches!(made, Made::Approved));
        let done = match made {
            Made::Approved => self.approved_again(writer, rebuilt.wake, &record, newest.as_ref()),
            made => self.person_again(writer, rebuilt.wake, (record, held), made, newest.as_ref()),
        };
        let (again, waits) = match done {
            Ok(Some(again)) => again,
            Ok(None) => {
                rebuilt
                    .notes
                    .push(format!("run {old} is not done again: it is no list of operations (commit {commit})"));
                return Ok(false);
            }
            Err(error @ (CycleError::Refused { .. } | CycleError::Document(_) | CycleError::Usage { .. })) => {
                rebuilt.notes.push(format!("run {old} is not done again: {error} (commit {commit})"));
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let run = again.run.clone();
        if is_approved {
            rebuilt.owed.approved.push((old.clone(), run.clone(), waits));
        }
        if waits {
            rebuilt.notes.push(format!("run {old} waits for review, as {run}"));
            rebuilt.held.push((again.branch, again.commit));
        } else {
            let candidate = Candidate {
                name: again.branch.to_string(),
                commit: again.commit,
                branch: Some(again.branch),
                run: Some(run.clone()),
                reviewed_by: None,
            };
            match self.merge_one(writer, rebuilt.wake, &candidate, newest)? {
                Fate::Merged { commit, .. } => rebuilt.wake = commit,
                Fate::Already | Fate::Conflict(_) | Fate::Refused(_) => {}
            }
            rebuilt.notes.push(match run == old {
                true => format!("run {old} is done again"),
                false => format!("run {old} is done again, as {run}"),
            });
        }
        *newest = std::mem::take(newest).max(Some(run));
        Ok(true)
    }

    /// The maker of a run, as far as it says that it is about a decision on another one.
    fn made_by(&self, record: &RunRecord) -> Result<Made, CycleError> {
        let about = record.trigger.strip_prefix(REASON).and_then(|about| RunId::parse(about).ok());
        let Some(mut about) = about else { return Ok(Made::Otherwise) };
        // What archives for a run by which a rejection was taken back names that run.
        if about.is_a_persons() {
            let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
            let trigger = self.record_in(wake, &about)?.map(|record| record.trigger).unwrap_or_default();
            let Some(first) = trigger.strip_prefix(REASON).and_then(|first| RunId::parse(first).ok()) else {
                return Ok(Made::Otherwise);
            };
            about = first;
        }
        let (_, person) = self.store.user();
        let by = |counts: bool, address: &str, reviewed_by: Option<String>| match counts {
            true if address == person => Made::Decision(reviewed_by),
            true => Made::Otherwise,
            false => Made::InVain,
        };
        let (mut lets_in, reviews) = (false, self.reviews_of(&about)?);
        for review in &reviews {
            let counts = self.counts_for_its_run(review)?;
            if review.lands.as_ref() == Some(&record.run) {
                return Ok(by(counts, review.address(), Some(review.named())));
            }
            lets_in |= counts && review.verdict != Verdict::Reject;
        }
        for remark in self.remarks_of(&about)?.into_iter().filter(|remark| remark.again.is_some()) {
            let Some(review) = reviews.iter().find(|review| review.review == remark.review) else { continue };
            let counts = self.remark_counts(&remark, review)?;
            if remark.again.as_ref() == Some(&record.run) {
                return Ok(by(counts, remark.address(), None));
            }
            lets_in |= counts;
        }
        // What is left archives what a run replaces that was let in.
        Ok(if lets_in { Made::Otherwise } else { Made::InVain })
    }

    /// The operations of a person again, as a new run, and whether it waits for review.
    fn person_again(
        &self,
        writer: &ObjectWriter<'_>,
        base: CommitId,
        (record, held): (RunRecord, Option<String>),
        made: Made,
        newest: Option<&RunId>,
    ) -> Result<Option<(Committed, bool)>, CycleError> {
        if record.ops.is_empty() || !record.reverts.is_empty() || !record.approves.is_empty() {
            return Ok(None);
        }
        let (agent, prediction) = (Some(record.agent.clone()), record.prediction);
        let document = self.without_secrets(Document { agent, prediction, ops: record.ops })?;
        // A decision names what landed by it.
        let run = match made {
            Made::Decision(_) => record.run.clone(),
            _ => self.new_run_id(&record.agent, base, newest, &[record.run.as_str().as_bytes()], 0)?,
        };
        let origins = &self.shared.policy.settings.origins;
        let network = TreeNetwork::new(&self.store, self.store.tree_of(base)?);
        // As little trusted as it was, and as what it takes up.
        let origin = record.origin.and(&quoted::by_hand(&document, &network, origins)?);
        let by_hand = Draft::by_hand(&self.shared, base, run, &record.cognition)?;
        let mut draft = Draft { reason: record.trigger, document, origin, held, ..by_hand };
        if let Made::Decision(reviewed_by) = made {
            // It says when that happened, and of what.
            (draft.clock, draft.roots, draft.amends.reviewed_by) = (record.at, record.stimuli, reviewed_by);
        }
        self.written_again(writer, draft).map(Some)
    }

    /// The operations of an agent's run that the person here had approved, as a run of that person, and whether it waits for review.
    fn approved_again(
        &self,
        writer: &ObjectWriter<'_>,
        base: CommitId,
        record: &RunRecord,
        newest: Option<&RunId>,
    ) -> Result<Option<(Committed, bool)>, CycleError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let run = self.new_run_id(&agent, base, newest, &[record.run.as_str().as_bytes()], 0)?;
        let ops: Vec<Operation> =
            record.ops.iter().filter(|op| !matches!(op, Operation::Acknowledge(_))).cloned().collect();
        if ops.is_empty() {
            return Ok(None);
        }
        let mut document = self.without_secrets(Document { agent: Some(agent), prediction: None, ops })?;
        let network = TreeNetwork::new(&self.store, self.store.tree_of(base)?);
        self.make_what_it_ties(&network, &mut document)?;
        let draft = self.draft_again(&network, base, record, run, document)?;
        self.written_again(writer, draft).map(Some)
    }

    /// A document of the person that says what a run said, as a draft with the origin, the texts and the time of that run; it waits where its origin is
    /// under review.
    pub fn draft_again(
        &self,
        network: &TreeNetwork<'_>,
        base: CommitId,
        record: &RunRecord,
        run: RunId,
        mut document: Document,
    ) -> Result<Draft, CycleError> {
        let shared = &self.shared;
        shared.make_no_doubles(network, &mut document, &mut Vec::new())?;
        let origins = &shared.policy.settings.origins;
        let origin = record.origin.and(&quoted::by_hand(&document, network, origins)?);
        let level = origins.level(&origin);
        if level == Level::Refused {
            let why = format!("origin {origin} is refused here, by [origins] of the settings");
            return Err(CycleError::refused(why));
        }
        Ok(Draft {
            reason: format!("{REASON}{}", record.run),
            document,
            origin,
            roots: record.stimuli.clone(),
            clock: record.at,
            held: (level == Level::Review).then(|| HELD_FOR_ORIGIN.to_owned()),
            ..Draft::by_hand(shared, base, run, "review")?
        })
    }

    fn without_secrets(&self, document: Document) -> Result<Document, CycleError> {
        match self.shared.secrets.redact_json(&json::pretty(&document)) {
            Some(clean) => Ok(Document::parse(&clean, "the document")?),
            None => Ok(document),
        }
    }

    /// Writes a draft, and says whether it waits for review.
    fn written_again(&self, writer: &ObjectWriter<'_>, mut draft: Draft) -> Result<(Committed, bool), CycleError> {
        let applied = draft.apply(&self.store, &self.shared)?;
        draft.origin = draft.origin.and(&quoted::by_effects(&applied, &self.shared.policy.settings.origins));
        draft.hold_by_rules(&applied, &self.review_of_main()?);
        let waits = draft.held.is_some();
        Ok((draft.write(&applied, writer, &self.store, &self.shared)?, waits))
    }

    /// Makes the concepts first that operations tie to and that another text had made, which waits to be perceived again.
    fn make_what_it_ties(&self, network: &TreeNetwork<'_>, document: &mut Document) -> Result<(), CycleError> {
        let was = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let before = TreeNetwork::new(&self.store, was);
        let mut made: Vec<Operation> = Vec::new();
        let mut known: HashSet<NeuronId> = HashSet::new();
        for op in &document.ops {
            let ends = match op {
                Operation::Create(create) => {
                    known.extend(create.id.clone());
                    continue;
                }
                Operation::Connect(op) => vec![&op.from, &op.to],
                Operation::Activate(op) => vec![&op.id],
                _ => continue,
            };
            for id in ends {
                if !known.insert(id.clone()) || network.shared(id)?.is_some() {
                    continue;
                }
                let concept =
                    before.neuron(id)?.filter(|neuron| matches!(neuron.kind, Kind::Semantic | Kind::Contextual));
                made.extend(concept.map(|neuron| {
                    let (source, session, stimulus, at) = (None, None, None, None);
                    let Neuron { concept, kind, .. } = neuron;
                    Operation::Create(Create { id: Some(id.clone()), concept, kind, source, session, stimulus, at })
                }));
            }
        }
        document.ops.splice(0..0, made);
        Ok(())
    }

    /// The records of runs that commits which are left out bring, in their order.
    pub(super) fn records_of(&self, left: &Left) -> Result<Vec<(CommitId, RunRecord)>, CycleError> {
        let (mut records, mut seen) = (Vec::new(), HashSet::new());
        for commit in left.commits.iter().filter(|commit| commit.parents.len() == 1) {
            let before = self.store.tree_of(commit.parents[0])?;
            for change in self.store.diff(Some(before), Some(commit.tree), layout::RUNS)? {
                let (Place::Run(_), None, Some(file)) = (Place::of(&change.path), change.old, change.new) else {
                    continue;
                };
                // What cannot be read is named among the faults. A night has the runs of its day once more.
                if let Ok(record) = RunRecord::decode(&self.store.content(file.blob)?, &change.path)
                    && seen.insert(record.run.clone())
                {
                    records.push((commit.id, record));
                }
            }
        }
        Ok(records)
    }

    /// Queues again the texts that were fed, those of a clock ahead of this one as fed now.
    pub(super) fn texts_again(
        &self,
        writer: &ObjectWriter<'_>,
        records: &Records,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), CycleError> {
        let store = &self.store;
        let (was, tree) = (store.tree_of(rebuilt.owed.was)?, store.tree_of(rebuilt.wake)?);
        let let_in = rebuilt.owed.approved.iter().map(|(run, ..)| run.clone()).collect();
        let ended = self.ended(records, was, &let_in)?;
        let format = format_of(store, tree)?;
        let network = TreeNetwork::new(store, tree);
        let last = Stamp::from_unix(self.shared.world.latest_seconds());
        let (mut edits, mut ids, mut waiting) = (Vec::new(), Vec::new(), 0);
        for change in store.diff(Some(tree), Some(was), layout::STIMULI)? {
            let (Place::Stimulus(id), None, Some(file)) = (Place::of(&change.path), change.old, change.new) else {
                continue;
            };
            let bytes = store.content(file.blob)?;
            let Ok(mut stimulus) = Stimulus::decode(&bytes, &change.path) else {
                rebuilt.notes.push(format!("not fed again: {}, which cannot be read", change.path));
                continue;
            };
            if let Cow::Owned(clean) = self.shared.secrets.redact(&stimulus.text) {
                stimulus.text = clean;
            }
            if stimulus.at > last {
                stimulus.at = self.shared.world.now();
            }
            if let Some(run) = stimulus.answers.clone()
                && network.record(&run)?.is_none()
            {
                (stimulus.answers, stimulus.value) = (None, None);
                rebuilt
                    .notes
                    .push(format!("{id} is fed again without the run that it answers, {run}, which is left out"));
            }
            let path = layout::stimulus(&stimulus.id, stimulus.at);
            if store.file(tree, &path)?.is_some() || network.stimulus(&id)?.is_some() {
                continue;
            }
            match ended.get(&id) {
                Some(Ended::Gone(how)) => {
                    let text = clip(&stimulus.text);
                    rebuilt.notes.push(format!("{text:?} was {how} here, and is not fed again"));
                    continue;
                }
                Some(Ended::LetIn) => {}
                None => {
                    edits.push(TreeEdit::new(layout::queue_entry(&stimulus.id), Some(layout::queued(&path, format))));
                    waiting += 1;
                }
            }
            edits.push(TreeEdit::new(path, Some(stimulus.encode())));
            ids.push(id);
        }
        if ids.is_empty() {
            return Ok(());
        }
        let texts = plural(ids.len(), "text", "texts");
        let mut trailers = stimulus_trailers(&ids);
        trailers.extend(self.newest_run(rebuilt.wake)?.map(|run| ("Newest-Run".to_owned(), run.to_string())));
        rebuilt.wake = writer.commit(&CommitSpec {
            tree: writer.edit(Some(tree), edits)?,
            parents: vec![rebuilt.wake],
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject: format!("stimulus: {texts} again, without what is refused"),
            body: String::new(),
            trailers,
        })?;
        if waiting > 0 {
            let wait = plural(waiting, "text waits", "texts wait");
            rebuilt.notes.push(format!("{wait} to be perceived again, by the next `git brain run`"));
        }
        Ok(())
    }
}
