//! The reviews: who decided what about which run, as files that only ever come, in commits beside the branches.
//!
//! Two machines that decided come together by the union of their files. Each commit is judged where it comes in, here and at the gate:
//! it adds reviews and nothing else, each under the address of its author, who is a person, signed where signatures are required.

use std::collections::BTreeSet;

use super::admission::Fault;
use super::commit::branch_of;
use super::network::TreeNetwork;
use super::{Cycle, CycleError, EVALUATOR, signed};
use crate::council::record::COUNCILS;
use crate::delta::{RunRecord, Valued};
use crate::limits;
use crate::model::ids::{HUMAN, RunId};
use crate::model::review::CouncilSeats;
use crate::model::settings::{self, Settings};
use crate::model::{Level, layout};
use crate::review::rules::{Facts, held_by, is_beside, is_login};
use crate::review::{ReviewRecord, Verdict};
use crate::store::{
    Author, Commit, CommitId, CommitSpec, File, PushOutcome, Remote, StoreError, Trailer, TreeEdit, TreeId,
};

/// The fault of a decision that is not as it was.
pub(super) const WRITTEN_ONCE: &str = "is written once for ever";

impl Cycle {
    /// The reviews of a run, oldest first.
    pub fn reviews_of(&self, run: &RunId) -> Result<Vec<ReviewRecord>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(Vec::new()) };
        self.reviews_below(tip, &ReviewRecord::folder_of(run))
    }

    /// Where each decision lies.
    pub(super) fn review_paths(&self) -> Result<Vec<(RunId, String)>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(Vec::new()) };
        let named = |path: String| {
            let path = Some(path).filter(|path| !path.starts_with(COUNCILS) && !Self::is_remark(path))?;
            let name = path.rsplit('/').next()?.strip_suffix(".json")?;
            Some((RunId::parse(name).ok()?, path))
        };
        let files = self.store.tree_of(tip).and_then(|tree| self.store.files(tree, ""));
        Ok(self.read_or_told(files)?.into_iter().filter_map(|(path, _)| named(path)).collect())
    }

    /// The decision that lies there, if it can be read.
    pub(super) fn review_at(&self, path: &str) -> Result<Option<ReviewRecord>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(None) };
        let bytes = self.store.read(self.store.tree_of(tip)?, path)?;
        Ok(bytes.and_then(|bytes| ReviewRecord::decode(&bytes, path).ok()))
    }

    /// The only run that was decided on whose id has that part.
    pub fn decided_like(&self, part: &str) -> Result<Option<RunId>, CycleError> {
        let Some(tip) = self.store.reviews()?.filter(|_| part.len() >= limits::RUN_PART) else { return Ok(None) };
        let mut found = BTreeSet::new();
        for (path, _) in self.store.files(self.store.tree_of(tip)?, "")? {
            let run = path.split('/').rev().nth(1).and_then(|run| RunId::parse(run).ok());
            found.extend(run.filter(|run| run.as_str().contains(part)));
        }
        Ok(found.pop_first().filter(|_| found.is_empty()))
    }

    /// The newest reviews, newest first, at most `most`.
    pub fn newest_reviews(&self, most: usize) -> Result<Vec<ReviewRecord>, CycleError> {
        let (mut found, mut seen, mut visited) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let Some(tip) = self.store.reviews()? else { return Ok(found) };
        let mut open = vec![tip];
        // Along the commits, which are in the order of deciding on each machine.
        while let Some(id) = open.pop() {
            if found.len() >= most {
                break;
            }
            if !visited.insert(id) {
                continue;
            }
            let commit = self.store.commit(id)?;
            for path in self.added(&commit)? {
                if !path.starts_with(COUNCILS)
                    && !Self::is_remark(&path)
                    && seen.insert(path.clone())
                    && let Some(bytes) = self.store.read(commit.tree, &path)?
                {
                    found.push(ReviewRecord::decode(&bytes, &path)?);
                }
            }
            open.extend(commit.parents.iter().rev());
        }
        found.sort_by(|a, b| b.review.cmp(&a.review));
        found.truncate(most);
        Ok(found)
    }

    /// `[review]` of main, as every machine reads it: neither this command nor this machine says otherwise.
    pub fn review_of_main(&self) -> Result<settings::Review, CycleError> {
        match self.settings_of_main() {
            // What cannot be read stops commands before this one.
            Err(CycleError::Settings(_)) => Ok(settings::Review::default()),
            read => Ok(read?.review),
        }
    }

    /// The settings of main as every machine reads them: without flags, and without what is not committed.
    pub(super) fn settings_of_main(&self) -> Result<Settings, CycleError> {
        match self.store.tip(self.store.main())? {
            Some(main) => self.settings_at(main),
            None => Ok(Settings::default()),
        }
    }

    /// The settings of a version of main. Where they cannot be read, an audit takes those of the newest version before it: the commit since which they
    /// cannot is a finding, and hides no other.
    pub(super) fn settings_at(&self, main: CommitId) -> Result<Settings, CycleError> {
        let read = self.store.tree_of(main).map_err(CycleError::from).and_then(|tree| self.settings_in(tree));
        if !self.is_auditing.get() || !read.as_ref().is_err_and(CycleError::is_of_the_history) {
            return read;
        }
        for commit in self.store.first_parents(main, None).skip(1).take(limits::HISTORY_WALK) {
            let Ok(commit) = commit else { continue };
            match self.settings_in(commit.tree) {
                Err(error) if error.is_of_the_history() => {}
                read => return read,
            }
        }
        Ok(Settings::default())
    }

    /// The settings that a tree has.
    pub(super) fn settings_in(&self, tree: TreeId) -> Result<Settings, CycleError> {
        let text = self.store.read(tree, layout::SETTINGS)?.unwrap_or_default();
        let mut settings = Settings::read(&String::from_utf8_lossy(&text), &[])?;
        self.seat_councils(tree, &mut settings)?;
        Ok(settings)
    }

    /// Reads the documents of councils that settings name, from the tree that they come from.
    fn seat_councils(&self, tree: TreeId, settings: &mut Settings) -> Result<(), CycleError> {
        let paths: BTreeSet<String> = settings.review.councils().map(str::to_owned).collect();
        for path in paths {
            let Some(file) = self.store.file(tree, &path)?.filter(File::is_regular) else { continue };
            let bytes = self.store.read_file(file, &path)?;
            if bytes.len() > limits::COUNCIL_DOCUMENT_BYTES {
                continue;
            }
            let models = settings.models.iter();
            let seats = CouncilSeats {
                source: format!("{path}@{}", file.blob),
                text: String::from_utf8_lossy(&bytes).into_owned(),
                models: models.map(|(name, model)| (name.clone(), model.as_mind())).collect(),
            };
            settings.review.seats.insert(path, seats);
        }
        Ok(())
    }

    /// Why a run that waits may not land: main names who may decide on it, and none of them has approved that commit.
    pub fn lacks_approval(&self, own: &Commit, run: &RunId) -> Result<Option<String>, CycleError> {
        let Some(waits) = self.waits_of(own, run)? else { return Ok(None) };
        let settings = self.review_of_main()?;
        self.lacks_approval_by((run, Some(own.id)), &settings, waits.strip_prefix("rule "), true)
    }

    /// Why a run waits, by its own commit and by what main says now.
    pub(super) fn waits_of(&self, own: &Commit, run: &RunId) -> Result<Option<String>, CycleError> {
        let Some(record) = self.record_in(own.tree, run)? else {
            return Ok(own.trailer("Review").map(str::to_owned));
        };
        let settings = match self.settings_of_main() {
            Err(CycleError::Settings(_)) => Settings::default(),
            read => read?,
        };
        self.waits_by(&record, Some(own), own.tree, &settings)
    }

    /// The run as it waited, and its record: by its branch, else by the commit that a decision says it saw; `None`: neither is known here.
    pub(super) fn commit_decided_on(&self, run: &RunId) -> Result<Option<(Commit, RunRecord)>, CycleError> {
        let branch = branch_of(self.store.wake(), run)?;
        let tip = self.store.tip(&branch)?.map(|tip| self.commit_of_run(tip, run)).transpose()?;
        let reviews = self.reviews_of(run)?;
        let seen = reviews.iter().filter_map(|review| self.store.commit(CommitId::parse(&review.commit).ok()?).ok());
        for commit in tip.into_iter().chain(seen) {
            if let Some(record) = self.record_in(commit.tree, run)?.filter(|record| !record.is_left_over()) {
                return Ok(Some((commit, record)));
            }
        }
        Ok(None)
    }

    /// Why a run waits, if it does: a rule of those settings, its origin, or what its own commit asked for. The rules are asked of the
    /// record: a trailer is a word of whoever made the commit, and one that names a rule which holds no more is given up.
    pub(super) fn waits_by(
        &self,
        record: &RunRecord,
        own: Option<&Commit>,
        tree: TreeId,
        settings: &Settings,
    ) -> Result<Option<String>, CycleError> {
        let asked = own.and_then(|own| own.trailer("Review")).map(str::to_owned);
        if [HUMAN, EVALUATOR, "bootstrap"].contains(&record.agent.as_str()) {
            return Ok(asked);
        }
        let network = TreeNetwork::new(&self.store, tree);
        let mut types = Vec::new();
        for effect in &record.effects {
            let known = effect.created.as_deref().or(effect.removed.as_deref()).map(|neuron| neuron.kind);
            let retyped = effect.kind.iter().flat_map(|(before, after)| [before.value, after.value]);
            let mut kinds: Vec<_> = known.into_iter().chain(retyped).collect();
            // A run that retypes is held to the type of that tree as well: it may come from one where it was another.
            if let (None, true, Some(id)) = (known, settings.review.looks_at_types(), effect.id()) {
                kinds.extend(network.neuron(id)?.map(|neuron| neuron.kind));
            }
            types.extend(kinds.iter().map(ToString::to_string));
        }
        let facts = Facts {
            agent: record.agent.as_str(),
            origin: &record.origin,
            effects: &record.effects,
            types: &types,
            operations: &record.ops,
            beside: is_beside(record.ops.iter()),
            expected: Valued::expected(record.prediction.as_ref()).value,
        };
        if let Some(rule) = held_by(&settings.review, &facts) {
            return Ok(Some(format!("rule {}", rule.name)));
        }
        // A document that a person applies waits for its origin nowhere.
        if settings.origins.level(&record.origin) == Level::Review && record.cognition != "apply" {
            return Ok(Some("origin".to_owned()));
        }
        Ok(asked.filter(|asked| !asked.starts_with("rule ")))
    }

    /// The same by other settings; without its own commit, an approval of the run is enough. Here, and at a gate, the newest decision holds that was
    /// known before. Of what landed elsewhere it is the one that was carried out first, which need not be the newest: there any approval that counts is enough.
    pub(super) fn lacks_approval_by(
        &self,
        (run, commit): (&RunId, Option<CommitId>),
        settings: &settings::Review,
        rule: Option<&str>,
        newest: bool,
    ) -> Result<Option<String>, CycleError> {
        let may = settings.reviewers_of(rule);
        if may.is_empty() {
            return Ok(None);
        }
        // What a person decided holds against what a council decided, whichever is newer.
        let mut reviews = self.reviews_of(run)?;
        reviews.retain(|review| !review.is_of_audit());
        let (councils, people): (Vec<_>, Vec<_>) = reviews.iter().partition(|review| review.council.is_some());
        for review in people.into_iter().rev().chain(councils) {
            if commit.is_none_or(|commit| review.commit == commit.to_string()) && self.counts(review, settings, rule)? {
                match review.verdict {
                    Verdict::Approve => return Ok(None),
                    Verdict::Amend | Verdict::Reject if newest && self.store.knows_review(&review.path())? => break,
                    Verdict::Amend | Verdict::Reject => {}
                }
            }
        }
        let council = settings.council_of(rule).map_or(String::new(), |path| format!(" or of the council of {path}"));
        Ok(Some(format!(
            "{run} waits for a decision of {}{council}, and none of them has approved it",
            may.join(" or ")
        )))
    }

    /// The value that was read; in an audit an empty one, where it cannot be read: the audit says so of the commit that brought it, and goes on.
    pub(super) fn read_or_told<T: Default, E: Into<CycleError>>(&self, read: Result<T, E>) -> Result<T, CycleError> {
        match read.map_err(E::into) {
            Err(error) if self.is_auditing.get() && error.is_of_the_history() => Ok(T::default()),
            read => read,
        }
    }

    fn reviews_below(&self, tip: CommitId, folder: &str) -> Result<Vec<ReviewRecord>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let mut reviews = Vec::new();
        let mut files = self.store.files(tree, folder).map_err(CycleError::from);
        if self.is_auditing.get() && files.as_ref().is_err_and(CycleError::is_of_the_history) {
            // An audit takes what was there before it could be read no more.
            let before = self.store.first_parents(tip, None).skip(1).take(limits::HISTORY_WALK).filter_map(Result::ok);
            let mut readable = before.filter_map(|commit| self.store.files(commit.tree, folder).ok());
            files = readable.next().map_or(files, Ok);
        }
        for (path, file) in self.read_or_told(files)? {
            let read = self.store.read_file(file, &path).map_err(CycleError::from);
            let review = read.and_then(|bytes| Ok(Some(ReviewRecord::decode(&bytes, &path)?)));
            reviews.extend(self.read_or_told(review)?);
        }
        reviews.sort_by(|a, b| a.review.cmp(&b.review));
        Ok(reviews)
    }

    /// Adds a review, durable when this returns. One that is there already, with the same decision about the same commit, stays.
    pub fn add_review(&self, review: &ReviewRecord) -> Result<(), CycleError> {
        let trailers = vec![
            ("Reviewed".to_owned(), review.run.to_string()),
            ("Verdict".to_owned(), review.verdict.as_str().to_owned()),
        ];
        let subject = format!("{} {}", review.verdict.as_str(), review.run);
        // What could not be read again would stand in the way of every decision after it.
        let bytes = review.encode();
        ReviewRecord::decode(&bytes, &review.path())?;
        self.add_decision(review.path(), bytes, (subject, review.why.clone(), trailers))
    }

    /// Adds a file to the decisions, with the subject, body and trailers of its commit. One that is there already stays.
    pub(super) fn add_decision(
        &self,
        path: String,
        bytes: Vec<u8>,
        (subject, body, mut trailers): (String, String, Vec<Trailer>),
    ) -> Result<(), CycleError> {
        let store = &self.store;
        trailers.extend(self.shared.clock_trailer());
        let mut races = store.races(store.wake());
        loop {
            let tip = store.reviews()?;
            let writer = store.writer()?;
            let tree = tip.map(|tip| store.tree_of(tip)).transpose()?;
            // It is there already: whoever carries it out now adds nothing under his own name.
            if let Some(tree) = tree
                && store.file(tree, &path)?.is_some()
            {
                return Ok(());
            }
            let tree = writer.edit(tree, vec![TreeEdit::new(path.clone(), Some(bytes.clone()))])?;
            let commit = writer.commit(&CommitSpec {
                tree,
                parents: tip.into_iter().collect(),
                author: Author::User,
                at: self.shared.world.commit_seconds(),
                subject: subject.clone(),
                body: body.clone(),
                trailers: trailers.clone(),
            })?;
            writer.publish()?;
            // What no machine would take is no decision.
            self.refuse_unsigned(commit)?;
            if store.advance_reviews(tip, commit)? {
                return Ok(());
            }
            races.lost()?;
        }
    }

    /// What is wrong with the commits that lead to `tip` and not to `known`: nothing, if they may come in.
    pub fn judge_reviews(&self, tip: CommitId, known: Option<CommitId>) -> Result<Vec<Fault>, CycleError> {
        let known: Vec<CommitId> = known.into_iter().collect();
        let mut faults = Vec::new();
        let commits = self.store.commits_beyond(tip, &known)?;
        let mut fault = |commit: CommitId, path: &str, message: String| {
            faults.push(Fault { commit: commit.to_string(), path: path.to_owned(), message, ..Fault::default() });
        };
        if commits.len() > limits::REVIEWS_AT_ONCE {
            fault(tip, "", format!("brings more than {} reviews at once", limits::REVIEWS_AT_ONCE));
            return Ok(faults);
        }
        let (signatures, since) = (self.store.requires_signatures()?, self.store.signed_since()?);
        for id in commits {
            for (path, why) in self.faults_of_decision(id, signatures.then_some(&since))? {
                fault(id, &path, why);
            }
        }
        Ok(faults)
    }

    /// The faults of one commit of decisions, each with its path; `since` where signatures are required.
    pub(super) fn faults_of_decision(
        &self,
        id: CommitId,
        since: Option<&Vec<CommitId>>,
    ) -> Result<Vec<(String, String)>, CycleError> {
        let commit = self.store.commit(id)?;
        let mut faults = Vec::new();
        if let Some(hand) = commit.agents_hand() {
            faults.push((String::new(), format!("is by {hand}, and agents review nothing")));
        } else if let Some(since) = since
            && !self.store.leads_to_any(id, since)?
            && let Some(why) = signed::unsigned_commit(&self.store, &commit)?
        {
            faults.push((String::new(), why));
        }
        if commit.committed > self.shared.world.latest_seconds() && !self.shared.world.is_fixed() {
            faults.push((String::new(), "is dated ahead of the clock here".to_owned()));
        }
        faults.extend(self.wrong_reviews(&commit, self.latest_ms())?);
        Ok(faults)
    }

    /// The files that a commit has more than its parents.
    pub(super) fn added(&self, commit: &Commit) -> Result<Vec<String>, StoreError> {
        let parent = commit.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
        let changes = self.store.diff(parent, Some(commit.tree), "")?;
        Ok(changes.into_iter().filter(|change| change.old.is_none()).map(|change| change.path).collect())
    }

    /// Files of one commit of reviews that are not what they should be, each with what is wrong.
    fn wrong_reviews(&self, commit: &Commit, latest: i64) -> Result<Vec<(String, String)>, CycleError> {
        let store = &self.store;
        let mut wrong = Vec::new();
        let mut parents: Vec<_> =
            commit.parents.iter().map(|parent| store.tree_of(*parent).map(Some)).collect::<Result<_, _>>()?;
        if parents.len() > 2 {
            wrong.push((String::new(), "has more than two parents".to_owned()));
        }
        if parents.is_empty() {
            parents.push(None);
        }
        let mut common: Option<BTreeSet<String>> = None;
        for parent in &parents {
            let mut added = BTreeSet::new();
            for change in store.diff(*parent, Some(commit.tree), "")? {
                match change.old {
                    Some(_) => wrong.push((change.path, WRITTEN_ONCE.to_owned())),
                    None => drop(added.insert(change.path)),
                }
            }
            // What only one parent lacks, the other brought.
            common = Some(match common {
                Some(before) => before.intersection(&added).cloned().collect(),
                None => added,
            });
        }
        for path in common.unwrap_or_default() {
            let Some(file) = store.file(commit.tree, &path)? else { continue };
            if !file.is_regular() {
                wrong.push((path, "is no plain file".to_owned()));
                continue;
            }
            let bytes = store.read_file(file, &path)?;
            if path.starts_with(COUNCILS) {
                wrong.extend(self.wrong_of_council(&bytes, &path, commit, latest).map(|why| (path, why)));
                continue;
            }
            if Self::is_remark(&path) {
                wrong.extend(self.wrong_of_remark(&bytes, &path, commit, latest)?.map(|why| (path, why)));
                continue;
            }
            let review = match ReviewRecord::decode(&bytes, &path) {
                Ok(review) => review,
                Err(error) => {
                    wrong.push((path, error.to_string()));
                    continue;
                }
            };
            if review.address() != commit.email {
                let address = review.address();
                wrong.push((path.clone(), format!("is by {address}, and its commit by {}", commit.email)));
            }
            if review.review.unix_ms() > latest || review.run.unix_ms() > latest || review.at.unix() * 1000 > latest {
                wrong.push((path.clone(), "is dated ahead of the clock here".to_owned()));
            }
            if self.shared.secrets.redact(&review.why) != review.why {
                wrong.push((path.clone(), "holds a secret".to_owned()));
            }
            wrong.extend(self.wrong_words(&review)?.map(|why| (path, why)));
        }
        Ok(wrong)
    }

    /// Brings the reviews here and those of a remote to one state; `there` is what the remote has. A note on what did not come or go.
    pub(super) fn sync_reviews(&self, remote: &Remote, there: Option<CommitId>) -> Result<Vec<String>, CycleError> {
        let (mut there, mut notes) = (there, Vec::new());
        for _ in 0..limits::SYNC_ROUNDS {
            let here = self.store.reviews()?;
            if here == there {
                return Ok(Vec::new());
            }
            if let Some(theirs) = self.reviews_to_take(remote, here, there)? {
                let faults = match self.store.commit(theirs) {
                    Ok(_) => {
                        let mut faults = self.judge_reviews(theirs, here)?;
                        faults.extend(self.two_of_one(theirs, here)?);
                        faults
                    }
                    Err(error) => {
                        vec![Fault { commit: theirs.to_string(), message: error.to_string(), ..Fault::default() }]
                    }
                };
                if !faults.is_empty() {
                    let why: Vec<String> = faults.iter().take(5).map(ToString::to_string).collect();
                    return Err(CycleError::Refused {
                        message: format!(
                            "the reviews of {} are not let in; all else is done:\n{}",
                            remote.name,
                            why.join("\n")
                        ),
                        hint: Some(format!(
                            "`git push {0} +refs/brain/reviews:refs/brain/reviews` from a clone whose reviews are right puts those in their place; \
                                 until then decisions of others do not come in, and what landed by them is refused",
                            remote.name
                        )),
                    });
                }
                let joined = self.joined_reviews(here, theirs)?;
                // What the other side lacks is seams alone, and it goes on from there.
                if !self.store.is_ancestor(theirs, joined)? {
                    return Ok(notes);
                }
                if !self.store.advance_reviews(here, joined)? {
                    continue;
                }
                there = Some(theirs);
                notes.extend(self.words_that_came_second(here, joined)?);
            }
            notes.extend(self.keep_words_back(there)?);
            let Some(ours) = self.store.reviews()?.filter(|ours| Some(*ours) != there) else { return Ok(notes) };
            if let Some(why) = self.stay_here(remote, ours, there)? {
                return Ok(vec![why]);
            }
            match self.store.push_reviews(remote, there, ours)? {
                PushOutcome::Done => return Ok(notes),
                PushOutcome::Modified => match self.reviews_blocked(remote, there)? {
                    Some(why) => return Ok(vec![why]),
                    None => there = self.store.remote_tips(remote)?.1,
                },
                PushOutcome::Refused(why) => {
                    let why = why.lines().next().unwrap_or_default().to_owned();
                    return Ok(vec![format!("reviews stay here, {} does not take them: {why}", remote.name)]);
                }
            }
        }
        Err(Self::reviews_busy(remote))
    }

    /// Decisions that a remote has under the name of others here: what is written once has one content, and joined with them it could go nowhere.
    fn two_of_one(&self, theirs: CommitId, here: Option<CommitId>) -> Result<Vec<Fault>, CycleError> {
        let Some(here) = here else { return Ok(Vec::new()) };
        let store = &self.store;
        let changes = store.diff(Some(store.tree_of(here)?), Some(store.tree_of(theirs)?), "")?;
        let two = changes.into_iter().filter(|change| change.old.is_some() && change.new.is_some());
        let fault = |path| Fault {
            commit: theirs.to_string(),
            path,
            line: 1,
            message: "is another decision than the one of that name here".to_owned(),
            ..Fault::default()
        };
        Ok(two.map(|change| fault(change.path)).collect())
    }

    /// What of a remote's reviews is new here.
    fn reviews_to_take(
        &self,
        remote: &Remote,
        here: Option<CommitId>,
        there: Option<CommitId>,
    ) -> Result<Option<CommitId>, CycleError> {
        let Some(there) = there else { return Ok(None) };
        // A commit that is not known here is none of our history.
        let known =
            here.map_or(Ok(false), |here| self.store.is_ancestor(there, here).or(Ok::<bool, StoreError>(false)))?;
        if known {
            return Ok(None);
        }
        Ok(self.store.fetch_reviews(remote)?)
    }
}

/// Whether a review is of one who may decide. Anybody can write that somebody decided elsewhere: the word of a bot of the settings counts.
pub(super) fn is_of_reviewer(review: &ReviewRecord, settings: &settings::Review, rule: Option<&str>) -> bool {
    let may = settings.reviewers_of(rule);
    let is_bot = settings.bots.iter().any(|bot| bot == review.address());
    let elsewhere = review.via.rsplit_once(" by ").map(|(_, name)| name).filter(|name| is_bot && is_login(name));
    may.is_empty() || may.iter().any(|name| name == review.address() || Some(name.as_str()) == elsewhere)
}
