//! What people said of decisions later, in `refs/brain/reviews`; and words of a decision, held against the run that it is about.

use std::collections::BTreeSet;

use super::network::TreeNetwork;
use super::{Cycle, CycleError};
use crate::delta::RunRecord;
use crate::limits;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout;
use crate::review::kept_out::{clip, digest, kept_out};
use crate::review::remark::REMARKS;
use crate::review::{Remark, ReviewRecord, Verdict};
use crate::store::{Commit, CommitId};

impl Cycle {
    /// The decision as people and agents are told of it: with what was said of it later by whoever may. A rejection that was taken back takes back every
    /// rejection of that run, as long as the run that says the same waits or is in wake.
    pub fn with_remarks(&self, review: ReviewRecord) -> Result<ReviewRecord, CycleError> {
        let mut remarks = Vec::new();
        for mut remark in self.remarks_of(&review.run)? {
            let is_its = remark.review == review.review;
            // Words that were taken back are told by no decision on the run, also by one that came in later.
            let same: Vec<String> =
                review.declined.0.iter().filter(|said| remark.forgets_words(said)).cloned().collect();
            let takes_back = remark.again.is_some() && review.verdict == Verdict::Reject;
            let about = match is_its {
                true => Some(review.clone()),
                false if !takes_back && same.is_empty() => None,
                false => self.reviews_of(&review.run)?.into_iter().find(|other| other.review == remark.review),
            };
            let counts = about.map(|about| self.remark_holds(&remark, &about)).transpose()?;
            if counts != Some(true) {
                continue;
            }
            if let Some(again) = &remark.again
                && !self.is_said_again(again)?
            {
                remark = remark.without_again();
            }
            if !is_its {
                remark.forgets = same.iter().map(|said| digest(&review.review, said)).collect();
                remark.review = review.review.clone();
                if !takes_back {
                    remark = Remark { why: String::new(), again: None, ..remark };
                }
            }
            remarks.push(remark);
        }
        Ok(review.with(&remarks))
    }

    /// Whether the words that a decision keeps out are told nobody because a person said so or they speak of a secret. Of a run from an origin that is not
    /// trusted no words are kept, whatever a person said.
    pub fn is_untold(&self, told: &ReviewRecord) -> Result<bool, CycleError> {
        Ok(told.declined.is_empty() && self.keeps_back(told)?)
    }

    /// Whether some of those words are.
    pub fn keeps_back(&self, told: &ReviewRecord) -> Result<bool, CycleError> {
        if told.forgotten.is_empty() {
            return Ok(false);
        }
        let commit = CommitId::parse(&told.commit).ok().and_then(|id| self.store.commit(id).ok());
        let record = commit.map(|commit| self.record_in(commit.tree, &told.run)).transpose()?.flatten();
        Ok(record.is_none_or(|record| !self.shared.policy.settings.origins.is_tainted(&record.origin)))
    }

    /// The remarks on decisions about a run, oldest first, whoever made them.
    pub(super) fn remarks_of(&self, run: &RunId) -> Result<Vec<Remark>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(Vec::new()) };
        let (tree, mut remarks) = (self.store.tree_of(tip)?, Vec::new());
        let Some(folder) = self.store.folder(tree, &Remark::folder_of(run))? else { return Ok(remarks) };
        for (name, file) in self.store.files(folder, "")? {
            let path = format!("{}/{name}", Remark::folder_of(run));
            remarks.push(Remark::decode(&self.store.read_file(file, &path)?, &path)?);
        }
        remarks.sort_by(|a, b| a.remark.cmp(&b.remark));
        Ok(remarks)
    }

    /// Whether the run by which a rejection was taken back waits here or is in wake. One that was taken back itself leaves the rejection as it was.
    pub fn is_said_again(&self, again: &RunId) -> Result<bool, CycleError> {
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        Ok(self.lives(&TreeNetwork::new(&self.store, wake), again)? || self.waiting_named(again.as_str())?.is_some())
    }

    /// Whether a remark counts, or did when it was carried out: a rejection that a reviewer took back stays so when he leaves, and words that whoever
    /// ever might take back are told no more.
    fn remark_holds(&self, remark: &Remark, review: &ReviewRecord) -> Result<bool, CycleError> {
        let held = || Ok::<_, CycleError>(self.held_when_it_landed(remark)? || self.might_forget(remark)?);
        Ok(self.remark_counts(remark, review)? || held()? && self.is_added_by(&remark.path(), remark.address())?)
    }

    /// Whether main ever let the author of a remark take back words, which is all that the remark does.
    fn might_forget(&self, remark: &Remark) -> Result<bool, CycleError> {
        let (store, mut seen) = (&self.store, BTreeSet::new());
        let main = store.tip(store.main())?.filter(|_| remark.why.is_empty() && remark.again.is_none());
        for commit in main.into_iter().flat_map(|main| store.first_parents(main, None)).take(limits::HISTORY_WALK) {
            let tree = commit?.tree;
            // What cannot be read let nobody do anything.
            if seen.insert(store.file(tree, layout::SETTINGS)?.map(|file| file.blob))
                && self.settings_in(tree).is_ok_and(|settings| settings.review.lets_decide(remark.address()))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a remark is of one who may make it, and who made the commit that brought it: a reason is given by who decided, and whoever may
    /// decide may take words back, or a rejection; whoever decides no more lets nothing in by taking back what was decided then.
    pub(super) fn remark_counts(&self, remark: &Remark, review: &ReviewRecord) -> Result<bool, CycleError> {
        let is_own = remark.address() == review.address() && remark.again.is_none();
        let takes_back = remark.why.is_empty() || remark.again.is_some();
        let may = is_own || takes_back && self.may_forget(remark.address())?;
        Ok(may && self.is_added_by(&remark.path(), remark.address())?)
    }

    /// Whether main lets somebody decide on any run, and so take back the words of decisions.
    pub fn may_forget(&self, address: &str) -> Result<bool, CycleError> {
        Ok(self.review_of_main()?.lets_decide(address))
    }

    /// The remark that takes a rejection of a run back by another run, with the decision that it is about.
    pub fn taken_back_as(&self, about: &RunId, run: &RunId) -> Result<Option<(Remark, ReviewRecord)>, CycleError> {
        let mut remarks = self.remarks_of(about)?.into_iter();
        let Some(remark) = remarks.find(|remark| remark.again.as_ref() == Some(run)) else { return Ok(None) };
        let review = self.reviews_of(about)?.into_iter().find(|review| review.review == remark.review);
        Ok(review.map(|review| (remark, review)))
    }

    /// Keeps runs no longer whose words were taken back by remarks that came since the decisions were `before`.
    pub(super) fn drop_taken_back(&self, before: Option<CommitId>) -> Result<(), CycleError> {
        let (store, now) = (&self.store, self.store.reviews()?);
        if now == before || store.is_rehearsal() {
            return Ok(());
        }
        let before = before.map(|before| store.tree_of(before)).transpose()?;
        let now = now.map(|now| store.tree_of(now)).transpose()?;
        for change in store.diff(before, now, REMARKS.trim_end_matches('/'))? {
            let Some(file) = change.new.filter(|_| change.old.is_none()) else { continue };
            let Ok(remark) = Remark::decode(&store.read_file(file, &change.path)?, &change.path) else { continue };
            if remark.forgets.is_empty() {
                continue;
            }
            for review in self.reviews_of(&remark.run)?.into_iter().filter(|review| review.review == remark.review) {
                let told = self.with_remarks(review)?;
                if self.is_untold(&told)? {
                    store.drop_refused(&told.commit)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a remark, durable when this returns.
    pub fn add_remark(&self, remark: &Remark) -> Result<(), CycleError> {
        let trailers = vec![("Remarked".to_owned(), remark.review.to_string())];
        self.add_decision(
            remark.path(),
            remark.encode(),
            (format!("remark {}", remark.run), remark.why.clone(), trailers),
        )
    }

    /// Whether a path is that of a remark.
    pub(super) fn is_remark(path: &str) -> bool {
        path.starts_with(REMARKS)
    }

    /// What is wrong with a remark that a commit brings.
    pub(super) fn wrong_of_remark(
        &self,
        bytes: &[u8],
        path: &str,
        commit: &Commit,
        latest: i64,
    ) -> Result<Option<String>, CycleError> {
        let remark = match Remark::decode(bytes, path) {
            Ok(remark) => remark,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let decision = ReviewRecord::path_of(&remark.run, &remark.review);
        Ok(if remark.address() != commit.email {
            Some(format!("is by {}, and its commit by {}", remark.address(), commit.email))
        } else if remark.remark.unix_ms() > latest || remark.at.unix() * 1000 > latest {
            Some("is dated ahead of the clock here".to_owned())
        } else if self.store.file(commit.tree, &decision)?.is_none() {
            Some(format!("is about the decision {}, which is not there", remark.review))
        } else if self.shared.secrets.redact(&remark.why) != remark.why {
            Some("holds a secret".to_owned())
        } else {
            None
        })
    }

    /// What is wrong with the words that a decision says it does not let in: they hold a secret, or its run did not say them. Nothing where the
    /// run is not known here: no machine has what it could be held against.
    pub(super) fn wrong_words(&self, review: &ReviewRecord) -> Result<Option<String>, CycleError> {
        if review.declined.is_empty() {
            return Ok(None);
        }
        if review.declined.0.iter().any(|said| !self.shared.secrets.find(said.as_bytes()).is_empty()) {
            return Ok(Some("holds a secret".to_owned()));
        }
        let known = CommitId::parse(&review.commit).ok().and_then(|id| self.store.commit(id).ok());
        let Some(commit) = known else { return Ok(None) };
        let path = layout::run(&review.run);
        let Some(record) = self.record_in(commit.tree, &review.run)? else {
            return Ok(Some(format!("quotes a run of which its commit {} has no {path}", commit.id)));
        };
        let network = TreeNetwork::new(&self.store, commit.tree);
        // Another machine may trust an origin that this one does not: there it has the words, and here the id.
        let words_of = |id: &NeuronId| network.neuron(id).ok().flatten().map(|neuron| neuron.concept);
        let mut said = BTreeSet::new();
        let kept = if review.verdict == Verdict::Reject { &[][..] } else { &review.kept };
        for (_, op) in (1..).zip(&record.ops).filter(|(number, _)| !kept.contains(number)) {
            let one = RunRecord { ops: vec![op.clone()], ..record.clone() };
            let of = |words: &dyn Fn(&NeuronId) -> String| kept_out(Verdict::Reject, &[], &one, words);
            said.extend(of(&|id| id.to_string()).iter().map(|text| clip(text)));
            said.extend(of(&|id| words_of(id).unwrap_or_else(|| id.to_string())).iter().map(|text| clip(text)));
        }
        let other = review.declined.0.iter().find(|text| !said.contains(*text));
        Ok(other.map(|_| "quotes words that its run does not say, or that it lets in".to_owned()))
    }
}
