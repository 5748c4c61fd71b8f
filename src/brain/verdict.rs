//! A decision about a run that waits, carried out: recorded, landed or thrown away, and learnt from.

use super::answers::{answer_for, lands};
use super::decision::{ReviewReport, ReviewRequest, numbered_as, resolutions};
use super::declined::{SECOND, UNREAD};
use super::replaced::Landing;
use super::{Brain, BrainError, HUMAN, RemarkRequest};
use crate::cycle::commit::{Amends, Draft};
use crate::cycle::merge::Fate;
use crate::cycle::network::TreeNetwork;
use crate::cycle::reject::Decision;
use crate::cycle::reviewing::{GONE, SINCE, WaitingRun};
use crate::cycle::{EVALUATOR, quoted};
use crate::delta::{Applied, Document, Operation, RunRecord};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::{json, plural};
use crate::review::belief::touches;
use crate::review::page::visible;
use crate::review::{REASON, Resolution, ReviewRecord, Take, Verdict};
use crate::store::LockName;

/// Fewest characters that name a commit.
const SHORTEST: usize = 7;

/// The operations of a run that a decision lets land.
struct Meant {
    verdict: Verdict,
    kept: Vec<usize>,
    edited: usize,
    document: Option<Document>,
    resolved: Vec<Resolution>,
    /// What of it does not land, or lands in place of something.
    notes: Vec<String>,
}

impl Brain {
    /// A run's operations as the delta document that a person edits.
    pub fn document_of(&self, name: &str) -> Result<String, BrainError> {
        let waiting = self.need_waiting(name)?;
        let record = self.cycle.waiting_record(&waiting)?;
        let document = Document { agent: None, prediction: None, ops: record.ops };
        Ok(String::from_utf8_lossy(&json::pretty(&document)).into_owned())
    }

    fn need_waiting(&self, name: &str) -> Result<WaitingRun, BrainError> {
        self.cycle.waiting_named(name)?.ok_or_else(|| BrainError::Usage {
            message: format!("{name} is no run that waits"),
            hint: Some("`git brain review` lists the runs that wait".to_owned()),
        })
    }

    /// Carries a decision out: the review is recorded, the run lands or is thrown away, and its pathway learns. Cut off anywhere, the
    /// same decision goes on where it was.
    ///
    /// # Errors
    /// No such run waits (2); the reviewer may not decide, the branch has moved since it was looked at, or it conflicts with wake (3).
    pub fn decide_run(&self, request: &ReviewRequest) -> Result<ReviewReport, BrainError> {
        if request.on_behalf.is_none() && self.cycle.shared.world.in_hook() {
            return Err(BrainError::Refused {
                message: "nothing was decided: git-brain started this program (BRAIN_IN_HOOK is set), and only a person decides".to_owned(),
                hint: Some("`git brain review` in a terminal of yours".to_owned()),
            });
        }
        // One after the other: the second of two sees what the first decided.
        let _alone = self.cycle.store.lock(LockName::Review)?;
        let finished = if request.dry_run { Vec::new() } else { self.finish_begun()? };
        let mut report = self.decide_alone(request, finished)?;
        report.notes.extend(self.take_notes());
        Ok(report)
    }

    /// The same, under the lock of reviews.
    pub(super) fn decide_alone(
        &self,
        request: &ReviewRequest,
        finished: Vec<String>,
    ) -> Result<ReviewReport, BrainError> {
        let Some(waiting) = self.cycle.waiting_named(&request.run)? else {
            return self.finish_decision(request);
        };
        self.refuse_more(request, &waiting)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let second = network.record(&waiting.run)?;
        let first = self.cycle.decision_that_stands(&network, &waiting.run)?;
        let undecided = self.cycle.reviews_of(&waiting.run)?.iter().all(ReviewRecord::is_of_audit);
        let is_landed = self.cycle.store.is_ancestor(waiting.commit.id, self.at(None)?)?;
        // What was approved has landed, and this is a commit that nobody decided on.
        let of_another = second.as_ref().is_some_and(|second| !second.is_left_over())
            && first.is_none_or(|review| review.commit != waiting.commit.id.to_string());
        let record = match self.cycle.waiting_record(&waiting) {
            // Of a run that says nothing there is nothing to judge, and of one that wake has a decision was made: the branch can only go.
            Err(_) if request.verdict == Verdict::Reject => return self.remove_unjudged(request, &waiting, UNREAD),
            Ok(record)
                if undecided
                    && second.as_ref() == Some(&record)
                    && !record.is_left_over()
                    && (is_landed || request.verdict != Verdict::Reject) =>
            {
                return Err(self.has_landed(&waiting.run, is_landed));
            }
            Ok(_) if (undecided && second.is_some() || of_another) && request.verdict == Verdict::Reject => {
                return self.remove_unjudged(request, &waiting, SECOND);
            }
            record => record?,
        };
        let is = |id: crate::store::CommitId, seen: &str| seen.len() >= SHORTEST && id.to_string().starts_with(seen);
        if let Some(seen) = &request.seen
            && !is(waiting.commit.id, seen)
            && !is(waiting.tip, seen)
        {
            return Err(BrainError::Refused {
                message: format!("{} is {} now, and the decision is about {seen}", waiting.branch, waiting.commit.id),
                hint: Some(format!("`git brain review {}` shows what it is now", waiting.branch)),
            });
        }
        let (settings, at) = (self.cycle.review_of_main()?, waiting.commit.id.to_string());
        let newest = self.cycle.reviews_of(&waiting.run)?.into_iter().next_back().filter(|review| review.commit == at);
        let is_counted = match &newest {
            Some(review) => self.cycle.counts(review, &settings, self.cycle.rule_of(&waiting)?.as_deref())?,
            None => false,
        };
        let counted = newest.clone().filter(|review| review.verdict == request.verdict && is_counted);
        // A decision that counts may be carried out by anybody, such as the bot.
        let may = match request.council {
            Some(_) => self.asker(),
            None => self.reviewer(&waiting, request.on_behalf.as_deref()),
        };
        let reviewer = match (may, counted) {
            (Err(_), Some(review)) => review.reviewer,
            (reviewer, _) => reviewer?,
        };
        let answered = self.cycle.answered_meanwhile(&waiting)?;
        let fault = self.cycle.fault_of(&self.cycle.candidate(waiting.branch.as_str())?)?;
        // What cannot land is refused before anything is recorded.
        if let Some(why) = answered.as_ref().or(fault.as_ref()).filter(|_| request.verdict != Verdict::Reject) {
            return Err(BrainError::refused(why.clone()));
        }
        let meant = self.meant(request, &waiting, &record)?;
        // What was decided and is not carried out yet, a person who may decide may decide anew: the newest decision holds.
        if let Some(newest) = newest.as_ref().filter(|review| is_counted && review.verdict != meant.verdict)
            && self.cycle.stands(&network, newest)?
        {
            let (verb, done) =
                (if newest.verdict == Verdict::Reject { "reject" } else { "approve" }, newest.verdict.done());
            return Err(BrainError::Refused {
                message: format!(
                    "{} was {done} by {} at {}, and wake has a part of that",
                    waiting.run, newest.reviewer, newest.at
                ),
                hint: Some(format!("`git brain {verb} {}` carries it out", waiting.run)),
            });
        }
        let why = visible(&self.cycle.shared.secrets.redact(&request.why));
        let begun = newest.filter(|review| {
            let same =
                review.council == request.council && review.verdict == meant.verdict && review.kept == meant.kept;
            same && (review.reviewer == reviewer || is_counted)
        });
        let (review, quoted) = match begun {
            Some(review) => (review, Vec::new()),
            None => {
                let by = self.new_persons_run(&["review", waiting.run.as_str(), meant.verdict.as_str()])?;
                let lands = meant.document.as_ref().map(|_| ReviewRecord::lands_of(&by, &waiting.run, &reviewer));
                let (about, now) = ((waiting.run.clone(), at.clone()), self.cycle.shared.world.now());
                let mut review = self.review_of_council(ReviewRecord {
                    via: match &request.on_behalf {
                        Some(name) => format!("{} by {name}", request.via),
                        None => request.via.clone(),
                    },
                    why,
                    kept: meant.kept.clone(),
                    edited: meant.edited,
                    of: if meant.verdict == Verdict::Amend { record.ops.len() } else { 0 },
                    resolved: meant.resolved.clone(),
                    lands,
                    council: request.council.clone(),
                    ..ReviewRecord::bare(by, about, meant.verdict, reviewer, now)
                })?;
                let about = (&record, &waiting.commit);
                // One of two runs that answer the same says nothing that nobody else says.
                let quoted = match answered {
                    Some(_) => Vec::new(),
                    None => self.quote_declined(about, meant.document.as_ref(), &mut review, request.forget)?,
                };
                (review, quoted)
            }
        };
        if review.council.is_some()
            && !self.cycle.is_by_first_council(&review, &settings, self.cycle.rule_of(&waiting)?.as_deref())?
        {
            return Err(BrainError::refused(format!("{} did not decide that on {}", review.via, review.run)));
        }
        let bytes = review.encode();
        if bytes.len() > limits::REVIEW_BYTES {
            return Err(BrainError::usage(format!(
                "the review is longer than {} bytes: a shorter reason fits",
                limits::REVIEW_BYTES
            )));
        }
        // What cannot land is refused here, also where nothing would be written.
        if let Some(document) = &meant.document {
            let amended = self.amended(&record, &review, document.clone(), &review.reviewer);
            amended.map_err(|error| numbered_as(error, &meant.kept, !request.only.is_empty()))?;
        }
        if request.dry_run {
            let mut report = self.report(&review, &waiting, &record, None, true)?;
            report.notes = self.would_land(&record, meant.document.as_ref(), &review, meant.notes)?;
            report.notes.extend(quoted);
            return Ok(report);
        }
        // One of two runs that answer the same says nothing about what it learnt.
        self.begin_decision(&review, request, answered.is_none())?;
        self.cycle.add_review(&review)?;
        let mut notes: Vec<String> =
            finished.iter().chain(&answered).chain(&meant.notes).chain(&quoted).cloned().collect();
        let by = review.named();
        let everywhere = match meant.verdict {
            Verdict::Approve => self.land_reviewed(&waiting, &by)?,
            Verdict::Amend | Verdict::Reject => {
                if let Some(document) = meant.document {
                    notes.extend(Self::landed_in_part(&document));
                    self.land_amended(&record, &review, document, &by)?;
                }
                let (verb, forget) = (review.verdict.as_str(), request.forget);
                let (review, kept) = (Some(&review.review), &review.kept);
                let decision = Decision { by: by.clone(), verb, review, forget, kept };
                self.cycle.reject_run(waiting.branch.as_str(), Some(decision), false)?.everywhere
            }
        };
        if !everywhere {
            notes.push(format!(
                "the branch is removed here; no other machine could have taken it, and {} learns nothing",
                record.agent
            ));
        }
        let learnt = match everywhere && answered.is_none() {
            true => self.learn_from_review(&record, &review, &mut notes)?,
            false => None,
        };
        self.replaced_by_review(&record, &review, &by, &mut notes)?;
        self.cycle.store.end_decision();
        // What is done is done, whether or not a branch can be read.
        notes.extend(self.waits_as_well(&record, review.verdict).unwrap_or_default());
        // A decision that was begun with its words.
        if request.forget && !review.declined.is_empty() {
            notes.extend(self.remark_alone(&RemarkRequest::forget(&review.run))?.notes);
        }
        let review = self.cycle.with_remarks(review)?;
        let mut report = self.report(&review, &waiting, &record, learnt, false)?;
        (report.everywhere, report.notes) = (everywhere, notes);
        if self.cycle.shared.policy.settings.origins.is_tainted(&record.origin) && meant.verdict != Verdict::Reject {
            let (origin, store) = (&record.origin, &self.cycle.store);
            report.notes.push(format!(
                "it is in {}, marked as from {origin}: `git brain approve --origin {origin}` lets it into {}",
                store.wake(),
                store.main()
            ));
        }
        Ok(report)
    }

    /// Goes on with a decision whose run waits nowhere any more: what is left is to learn from it.
    fn finish_decision(&self, request: &ReviewRequest) -> Result<ReviewReport, BrainError> {
        let last = request.run.rsplit('/').next().unwrap_or(&request.run);
        let unknown = || BrainError::Usage {
            message: format!("{} is no branch of a run or a sleep that waits", request.run),
            hint: Some("`git brain review` lists the runs that wait".to_owned()),
        };
        let run = match RunId::parse(last) {
            Ok(run) => run,
            Err(_) => self.cycle.decided_like(last)?.ok_or_else(unknown)?,
        };
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        let Some(record) = network.record(&run)? else { return Err(unknown()) };
        let Some(review) = self.cycle.reviews_of(&run)?.into_iter().next_back() else {
            return Err(BrainError::Refused {
                message: format!("{run} is in wake already, and waits nowhere"),
                hint: Some(format!("`git brain revert --run {run}` takes back what it did")),
            });
        };
        let said = format!("{run} was {} by {} at {}", review.verdict.done(), review.reviewer, review.at);
        if !self.cycle.counts_for_its_run(&review)? {
            return Err(BrainError::Refused {
                message: format!("{said}, which counts no more: `[review]` names others now"),
                hint: Some(format!(
                    "`git brain log` shows what became of it; `git brain revert {run}` takes it back, and `git brain revert` of that run brings it again"
                )),
            });
        }
        let kept = |number: &usize| review.kept.contains(number);
        let is_same = match review.verdict {
            Verdict::Amend => {
                let amends = !request.only.is_empty() || !request.take.is_empty() || request.document.is_some();
                request.verdict == Verdict::Approve
                    && amends
                    && request.only.iter().all(kept)
                    && (request.take.is_empty() || !review.resolved.is_empty())
            }
            verdict => {
                request.verdict == verdict
                    && request.only.is_empty()
                    && request.take.is_empty()
                    && request.document.is_none()
            }
        };
        // A decision that came second is none that could be carried out.
        if !self.cycle.stands(&network, &review)?
            && let Some(first) = self.cycle.decision_that_stands(&network, &run)?
            && first.review != review.review
            && self.cycle.stands(&network, &first)?
        {
            return Err(BrainError::Refused {
                message: format!(
                    "{said}; it was {} by {} first, and that decision stands",
                    first.verdict.done(),
                    first.reviewer
                ),
                hint: Some(format!("`git brain review --decided` lists both, {}", first.way_back())),
            });
        }
        self.refuse_taken_back(&network, &review, &said)?;
        let told = self.cycle.with_remarks(review.clone())?;
        if let Some(again) = &told.again {
            let message = format!("{said}; that was taken back, and {again} says the same");
            return Err(BrainError::Refused { message, hint: Some(told.way_back()) });
        }
        let is_seen = request.seen.as_deref().is_none_or(|seen| review.commit.starts_with(seen));
        if !is_same || !is_seen {
            return Err(BrainError::Refused {
                message: said,
                hint: Some(format!("`git brain review --decided` lists decisions, {}", told.way_back())),
            });
        }
        // A reason that was left out, and that the words are told nobody, may come later. Nothing is learnt twice.
        let why = Some(request.why.clone()).filter(|why| told.why.is_empty() && !why.trim().is_empty());
        let forget = request.forget && !told.declined.is_empty();
        let mut notes = match why.is_some() || forget {
            true => {
                let (run, dry_run) = (run.to_string(), request.dry_run);
                self.remark_alone(&RemarkRequest { run, why, forget, dry_run, again: None })?.notes
            }
            false => vec![format!(
                "{said}; that decision and its reason stay: `git brain review {run} --why TEXT` changes the reason"
            )],
        };
        let learnt = match request.dry_run {
            true => None,
            false => {
                self.replaced_by_review(&record, &review, &review.reviewer, &mut notes)?;
                self.learn_from_review(&record, &review, &mut notes)?
            }
        };
        let branch = crate::cycle::commit::branch_of(self.cycle.store.wake(), &run)?.to_string();
        let mut report = self.report_of(&review, branch, &record, learnt, request.dry_run)?;
        (report.notes, report.already) = (notes, true);
        Ok(report)
    }

    /// Whether a name is that of a run that waits, or of one that was decided on.
    pub fn is_reviewed(&self, name: &str) -> Result<bool, BrainError> {
        let is_waiting = self.cycle.waiting_named(name)?.is_some();
        Ok(is_waiting || super::is_run(name) || self.cycle.decided_like(name)?.is_some())
    }

    /// Refuses a person who may not decide on a run, before anything is asked of him.
    pub fn check_reviewer(&self, name: &str) -> Result<(), BrainError> {
        self.reviewer(&self.need_waiting(name)?, None).map(|_| ())
    }

    /// Who decides here, if that is a person who may. Whoever writes down a decision that was made elsewhere need not be one.
    pub(super) fn reviewer(&self, waiting: &WaitingRun, on_behalf: Option<&str>) -> Result<String, BrainError> {
        let (_, address) = self.deciding_person()?;
        let review = self.cycle.review_of_main()?;
        let may = review.reviewers_of(self.cycle.rule_of(waiting)?.as_deref());
        if on_behalf.is_some() && !review.bots.contains(&address) {
            return Err(BrainError::Refused {
                message: format!("the word of {address} on decisions elsewhere does not count"),
                hint: Some("`[review] bots` of brain.toml names the bots whose word counts".to_owned()),
            });
        }
        let decides = on_behalf.unwrap_or(&address);
        // On a forge anybody may press a button: there only those decide whom the settings name.
        if (!may.is_empty() || on_behalf.is_some()) && !may.iter().any(|name| name == decides) {
            let others =
                if may.is_empty() { "only reviewers whom the settings name".to_owned() } else { may.join(", ") };
            return Err(BrainError::Refused {
                message: format!("{decides} may not decide on {}: {others} may", waiting.run),
                hint: Some("`[review]` of brain.toml names the reviewers".to_owned()),
            });
        }
        Ok(self.cycle.store.person())
    }

    /// What a request means for this run.
    fn meant(&self, request: &ReviewRequest, waiting: &WaitingRun, record: &RunRecord) -> Result<Meant, BrainError> {
        let nothing = Meant {
            verdict: Verdict::Reject,
            kept: Vec::new(),
            edited: 0,
            document: None,
            resolved: Vec::new(),
            notes: Vec::new(),
        };
        if request.verdict == Verdict::Reject {
            return Ok(nothing);
        }
        let all = record.ops.len();
        if let Some(number) = request.only.iter().find(|number| !(1..=all).contains(*number)) {
            return Err(BrainError::usage(format!("--only {number}: the run has operations 1 to {all}")));
        }
        if let Some(text) = &request.document {
            let text =
                self.cycle.shared.secrets.redact_json(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
            let document = Document::parse(&text, "the edited document").map_err(BrainError::from)?;
            let kept: Vec<usize> = (1..=all).filter(|number| document.ops.contains(&record.ops[number - 1])).collect();
            if !document.ops.iter().any(lands) {
                return Err(BrainError::usage("nothing is left of the run: `git brain reject` throws it away"));
            }
            let edited = document.ops.len().saturating_sub(kept.len());
            let document = Some(document);
            return Ok(Meant { verdict: Verdict::Amend, kept, edited, document, ..nothing });
        }
        let belief = self.cycle.belief(waiting)?;
        let conflicts = belief.conflicts;
        let resolved = resolutions(&request.take, &conflicts)?;
        let lands_here = |number: &usize| request.only.is_empty() || request.only.contains(number);
        let open = conflicts.iter().filter(|conflict| {
            let settled = resolved.iter().any(|one| one.neuron == conflict.neuron && one.field == conflict.field);
            let touched = |number: usize| touches(&record.ops[number - 1], &conflict.neuron, &conflict.field);
            !settled && (request.only.is_empty() || (1..=all).filter(lands_here).any(touched))
        });
        let open = open.count();
        if open > 0 {
            let count = plural(open, "field", "fields");
            return Err(BrainError::Refused {
                message: format!("{} conflicts with wake in {count}", waiting.branch),
                hint: Some(format!(
                    "`git brain review {0}` numbers them; `--take run`, `--take wake` or `--take N=run` settles them",
                    waiting.branch
                )),
            });
        }
        let names_all = (1..=all).all(|number| request.only.contains(&number));
        if (request.only.is_empty() || names_all) && resolved.is_empty() {
            let notes = belief.notes.into_iter().filter(|note| note.contains(SINCE) || note.contains(GONE)).collect();
            return Ok(Meant { verdict: Verdict::Approve, notes, ..nothing });
        }
        let stays =
            |op: &Operation| resolved.iter().any(|one| one.take == Take::Wake && touches(op, &one.neuron, &one.field));
        let kept: Vec<usize> =
            (1..=all).filter(|number| lands_here(number) && !stays(&record.ops[number - 1])).collect();
        let ops: Vec<Operation> = kept.iter().map(|number| record.ops[number - 1].clone()).filter(lands).collect();
        if ops.is_empty() {
            return Err(BrainError::usage("nothing is left of the run: `git brain reject` throws it away"));
        }
        let document = Some(Document { agent: None, prediction: None, ops });
        Ok(Meant { verdict: Verdict::Amend, kept, document, resolved, ..nothing })
    }

    pub(super) fn new_persons_run(&self, words: &[&str]) -> Result<RunId, BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let base = self.at(None)?;
        let newest = self.cycle.newest_run(base)?;
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.cycle.new_run_id(&agent, base, newest.as_ref(), &words, 0)
    }

    /// Merges an approved run as it is.
    fn land_reviewed(&self, waiting: &WaitingRun, by: &str) -> Result<bool, BrainError> {
        let mut candidate = self.cycle.candidate(waiting.branch.as_str())?;
        candidate.reviewed_by = Some(by.to_owned());
        let report = self.cycle.merge_judged(vec![candidate], true, false)?;
        match report.fates.into_iter().next() {
            Some((_, Fate::Merged { .. } | Fate::Already)) => Ok(true),
            Some((_, Fate::Conflict(conflicts))) => Err(BrainError::Refused {
                message: format!(
                    "{} conflicts with wake in {}",
                    waiting.branch,
                    plural(conflicts.len(), "field", "fields")
                ),
                hint: Some(format!("`git brain review {}` shows them, `--take` settles them", waiting.branch)),
            }),
            Some((_, Fate::Refused(why))) => Err(BrainError::refused(why)),
            None => Err(BrainError::refused(format!("{} is gone", waiting.branch))),
        }
    }

    /// What a reviewer made of a run, as a run of that person that comes from where the run came from; nothing is written. `None`: it is in
    /// wake already.
    fn amended(
        &self,
        record: &RunRecord,
        review: &ReviewRecord,
        mut document: Document,
        by: &str,
    ) -> Result<Option<(Draft, Applied)>, BrainError> {
        let Some(run) = review.lands.clone() else { return Ok(None) };
        let (base, store) = (self.at(None)?, &self.cycle.store);
        let network = TreeNetwork::new(store, store.tree_of(base)?);
        if network.record(&run)?.is_some() {
            return Ok(None);
        }
        let shared = &self.cycle.shared;
        document.agent = Some(run.agent());
        // Those that stay as they are lie with what is left of the run itself.
        let answers: Vec<Operation> = document.ops.extract_if(.., |op| !lands(op)).collect();
        let answers: Vec<Operation> = answers.into_iter().filter(|op| !record.ops.contains(op)).collect();
        shared.make_no_doubles(&network, &mut document, &mut Vec::new())?;
        let seen = quoted::by_hand(&document, &network, &shared.policy.settings.origins)?;
        let draft = Draft {
            reason: format!("{REASON}{}", record.run),
            document,
            origin: record.origin.and(&seen),
            roots: record.stimuli.clone(),
            // What it says happened when the run says so, not when it was approved.
            clock: record.at,
            amends: Amends { reviewed_by: Some(by.to_owned()), ..Amends::default() },
            ..Draft::by_hand(shared, base, run, "review")?
        };
        let mut applied = draft.apply(store, shared)?;
        answer_for(&record.agent, &answers, &draft, &network, &mut applied)?;
        Ok(Some((draft, applied)))
    }

    /// Lands what a reviewer made of a run.
    fn land_amended(
        &self,
        record: &RunRecord,
        review: &ReviewRecord,
        document: Document,
        by: &str,
    ) -> Result<(), BrainError> {
        let Some((draft, applied)) = self.amended(record, review, document, by)? else { return Ok(()) };
        let landed = self.land(draft, &applied, false)?;
        if !landed.merged {
            let conflicts: Vec<String> = landed.conflicts.iter().map(ToString::to_string).collect();
            return Err(BrainError::Refused {
                message: format!("{} stays on its branch: {}", landed.run, conflicts.join("; ")),
                hint: Some(format!("`git brain merge {}` once it is settled", landed.branch)),
            });
        }
        Ok(())
    }

    /// Archives the memories that an approved run replaces, and says which runs did.
    pub(super) fn replaced_by_review(
        &self,
        record: &RunRecord,
        review: &ReviewRecord,
        by: &str,
        notes: &mut Vec<String>,
    ) -> Result<(), BrainError> {
        let landing = Landing { record, by: Some(by), is_let_in: false };
        match review.verdict {
            Verdict::Reject => return Ok(()),
            Verdict::Approve => self.archive_approved(&landing)?,
            Verdict::Amend => {}
        }
        self.replace(&landing, notes)
    }

    /// Judges a run by what a person decided about it: its error and the connections that learn.
    pub(super) fn learn_from_review(
        &self,
        record: &RunRecord,
        review: &ReviewRecord,
        notes: &mut Vec<String>,
    ) -> Result<Option<(f64, usize)>, BrainError> {
        if [HUMAN, EVALUATOR].contains(&record.agent.as_str()) || record.did_nothing() {
            return Ok(None);
        }
        // Words that were kept out stay out of wake: readers get them from the decision.
        let text = review.words();
        let with_words = review.lesson();
        let is_its = |known: &str| known == text || known == with_words;
        let learnt = || -> Result<Option<(f64, usize)>, BrainError> {
            let entries = self.entries_of(&record.run)?.into_iter();
            let mut its = entries.filter(|entry| entry.outcome.text.as_deref().is_some_and(is_its));
            Ok(its.next().map(|entry| (entry.error, entry.pathway.len())))
        };
        if let Some(learnt) = learnt()? {
            return Ok(Some(learnt));
        }
        // A decision teaches once, also where its lesson cannot be merged yet.
        if let Some(lesson) = self.waiting_lesson(&record.run, &is_its)? {
            notes.extend(self.merge_lesson(&lesson)?);
            return learnt();
        }
        let value = self.worth(review, record)?;
        let judged = if review.verdict == Verdict::Approve { record.clone() } else { record.clone().without_words() };
        self.credit(&judged, value, &text, notes).map(Some)
    }
}
