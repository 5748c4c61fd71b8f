//! What lies here already and a person merges: held to what the gate would hold it to, before wake has it and no machine takes wake.

use super::{Door, Kind};
use crate::cycle::merge::{Candidate, Fate, Report};
use crate::cycle::reject::and_remedy;
use crate::cycle::{Cycle, CycleError, signed};
use crate::limits;
use crate::model::ids::RunId;
use crate::store::{Branch, Commit, CommitId};

impl Cycle {
    /// Merges what a person names, or what waits, judged as the gate judges it: all of it where signatures are required or other machines
    /// take part, else what is named. Main is people's own.
    pub fn merge_judged(&self, candidates: Vec<Candidate>, named: bool, dry_run: bool) -> Result<Report, CycleError> {
        let (mut good, mut refused) = (Vec::new(), Vec::new());
        let main = self.store.tip(self.store.main())?;
        for candidate in candidates {
            let asked = main != Some(candidate.commit) && (named || self.is_shared()?);
            let mut why = if asked { self.fault_of(&candidate)? } else { None };
            if why.is_none() {
                why = match (named, dry_run) {
                    (true, _) => self.answered_already(&candidate)?.map(|why| and_remedy(&why, &candidate.name)),
                    (false, true) => self.answered_already(&candidate)?,
                    (false, false) => self.put_answered_aside(&candidate)?,
                };
            }
            let runs = match (&why, &candidate.run) {
                (Some(_), _) => Vec::new(),
                (None, Some(run)) => vec![(self.commit_of_run(candidate.commit, run)?, run.clone())],
                // By whatever name a person calls it, it is the run that waits.
                (None, None) => self.runs_in(candidate.commit, &self.trunks()?)?,
            };
            for (own, run) in runs {
                let lacks = self.lacks_approval(&own, &run)?;
                why = why.or(lacks.map(|why| format!("{why}: `git brain approve {run}`")));
            }
            match why {
                Some(why) => refused.push((candidate, Fate::Refused(why))),
                None => good.push(candidate),
            }
        }
        let mut report = self.merge_each(good, dry_run)?;
        report.fates.extend(refused);
        Ok(report)
    }

    /// The commits of runs that lead to a commit and to none of those others, each with its run.
    pub(super) fn runs_in(&self, commit: CommitId, known: &[CommitId]) -> Result<Vec<(Commit, RunId)>, CycleError> {
        let mut runs = Vec::new();
        for id in self.store.commits_beyond(commit, known)? {
            let commit = self.store.commit(id)?;
            let run = commit.trailer("Run").and_then(|run| RunId::parse(run).ok());
            if let (Some(run), [_]) = (run, &commit.parents[..]) {
                runs.push((commit, run));
            }
        }
        Ok(runs)
    }

    fn trunks(&self) -> Result<Vec<CommitId>, CycleError> {
        let mut trunks = Vec::new();
        for trunk in [self.store.main(), self.store.wake()] {
            trunks.extend(self.store.tip(trunk)?);
        }
        Ok(trunks)
    }

    /// Whether somebody else judges what wake gets.
    fn is_shared(&self) -> Result<bool, CycleError> {
        Ok(self.store.requires_signatures()? || self.store.has_remote()?)
    }

    /// Runs that wait to be merged and, where somebody else judges them too, are good.
    pub(in crate::cycle) fn judged_pending(&self) -> Result<Vec<Candidate>, CycleError> {
        let (is_shared, mut good) = (self.is_shared()?, Vec::new());
        for candidate in self.pending()? {
            if is_shared && self.fault_of(&candidate)?.is_some() {
                continue;
            }
            match self.put_answered_aside(&candidate)? {
                Some(why) => self.tell_once(why),
                None => good.push(candidate),
            }
        }
        Ok(good)
    }

    /// The faults of the commits that a candidate brings to wake, as a sentence.
    pub fn fault_of(&self, candidate: &Candidate) -> Result<Option<String>, CycleError> {
        if let Some(why) = self.other_there(candidate)? {
            return Ok(Some(why));
        }
        let branch = candidate.branch.clone().map_or_else(|| Branch::parse("candidate"), Ok)?;
        let known = self.trunks()?;
        let tips = [(branch, candidate.commit)].into_iter().collect();
        let faults = self.judge(&tips, &known, &Door::Merge)?.faults();
        let said: Vec<String> =
            faults.iter().take(limits::NAMED_FAULTS).map(|fault| format!("{}: {fault}", candidate.name)).collect();
        let unsigned = faults.iter().any(|fault| fault.kind == Kind::Signature);
        let hint = if unsigned {
            format!("; {}", signed::remedy(&self.store, &candidate.commit.to_string()))
        } else {
            String::new()
        };
        Ok((!said.is_empty()).then(|| said.join("\n") + &hint))
    }
}
