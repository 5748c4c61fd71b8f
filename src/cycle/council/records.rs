//! Councils that were held, and what people said of them: files of the decisions, in `refs/brain/reviews`.

use std::collections::BTreeMap;

use crate::council::record::{COUNCILS, Closing, Council, CouncilRecord, Word, address};
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout;
use crate::store::{Commit, CommitId};
use crate::world::is_signed;

impl Cycle {
    /// Councils, oldest first, with closings of people that may decide.
    pub fn councils(&self) -> Result<Vec<Council>, CycleError> {
        self.councils_below(COUNCILS.trim_end_matches('/'))
    }

    /// The same of one folder of the decisions.
    pub(super) fn councils_below(&self, below: &str) -> Result<Vec<Council>, CycleError> {
        self.store.reviews()?.map_or_else(|| Ok(Vec::new()), |tip| self.councils_at(tip, below))
    }

    /// The councils of a folder in a commit of decisions. Closings are in the order in which they reached the ref, which all clones share; those that
    /// came together are in the order of their ids.
    fn councils_at(&self, tip: CommitId, below: &str) -> Result<Vec<Council>, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let Some(folder) = self.store.folder(tree, below)? else { return Ok(Vec::new()) };
        let (mut records, mut closings) = (Vec::new(), BTreeMap::<RunId, Vec<Closing>>::new());
        for (path, file) in self.store.files(folder, "")? {
            let path = format!("{below}/{path}");
            let bytes = self.store.read_file(file, &path)?;
            if CouncilRecord::is_at(&path) {
                records.push(CouncilRecord::decode(&bytes, &path)?);
                continue;
            }
            let closing = Closing::decode(&bytes, &path)?;
            closings.entry(closing.council.clone()).or_default().push(closing);
        }
        let eras = self.eras()?;
        // Where one word was said under one list of reviewers, its order says nothing.
        let needs_order =
            eras.len() > 1 && !closings.is_empty() || closings.values().any(|closings| closings.len() > 1);
        let arrivals = if needs_order { self.arrivals(tip)? } else { BTreeMap::new() };
        let arrival = |closing: &Closing| arrivals.get(&closing.path()).copied().unwrap_or((usize::MAX, i64::MIN));
        // What was said stands, whoever decides later. It was said no earlier than the decisions that were there when it came: a date is its author's word.
        let may = |closing: &Closing| {
            let named = |at: i64| {
                let era = eras.iter().find(|(since, _)| *since <= at).or(eras.last());
                era.is_none_or(|(_, names)| names.is_empty() || names.iter().any(|name| name == address(&closing.by)))
            };
            let said = closing.closing.unix_ms() / 1000;
            closing.closing.unix_ms() >= closing.council.unix_ms() && named(said) && named(said.max(arrival(closing).1))
        };
        let council = |record: CouncilRecord| {
            let mut closings = closings.remove(&record.council).unwrap_or_default();
            closings.retain(may);
            closings.sort_by_cached_key(|closing| (arrival(closing).0, closing.closing.clone()));
            Council { record, closings, told: None }
        };
        let mut councils: Vec<Council> = records.into_iter().map(council).collect();
        councils.sort_by(|a, b| a.record.council.cmp(&b.record.council));
        Ok(councils)
    }

    /// When closings reached the ref: their place along it, and the newest date of the decisions before them, seconds. A join's last parent is what
    /// the remote had, so last parents are the states of the remote one after the other.
    pub(super) fn arrivals(&self, tip: CommitId) -> Result<BTreeMap<String, (usize, i64)>, CycleError> {
        let (mut line, mut next) = (Vec::new(), Some(tip));
        while let Some(id) = next {
            let commit = self.store.commit(id)?;
            next = commit.parents.last().copied();
            line.push(commit);
        }
        let (mut arrivals, mut before, mut newest) = (BTreeMap::new(), None, i64::MIN);
        for (place, commit) in line.iter().rev().enumerate() {
            let folder = COUNCILS.trim_end_matches('/');
            for change in self.store.diff(before, Some(commit.tree), folder)? {
                arrivals.entry(change.path).or_insert((place, newest));
            }
            before = Some(commit.tree);
            newest = newest.max(commit.committed);
        }
        Ok(arrivals)
    }

    /// Councils that would come before one that was here first: on the same commit of a run the first decides. Each with its path.
    pub(in crate::cycle) fn put_before(&self, known: CommitId, tip: CommitId) -> Result<Vec<String>, CycleError> {
        let below = COUNCILS.trim_end_matches('/');
        let (old, new) = (self.store.tree_of(known)?, self.store.tree_of(tip)?);
        let brought = self.store.diff(Some(old), Some(new), below)?;
        let mut subjects: BTreeMap<(RunId, String), Vec<String>> = BTreeMap::new();
        for path in brought.into_iter().map(|change| change.path).filter(|path| CouncilRecord::is_at(path)) {
            let Some(bytes) = self.store.read(new, &path)? else { continue };
            if let Ok(CouncilRecord { run: Some(run), commit: Some(commit), .. }) = CouncilRecord::decode(&bytes, &path)
            {
                subjects.entry((run, commit)).or_default().push(path);
            }
        }
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let arrivals = self.arrivals(tip)?;
        let place = |path: &String| arrivals.get(path).map_or(usize::MAX, |(place, _)| *place);
        let mut paths = Vec::new();
        for council in self.councils_at(known, below)? {
            let (Some(run), Some(commit)) = (council.record.run.clone(), council.record.commit.clone()) else {
                continue;
            };
            let was_here = place(&council.record.path());
            let others = subjects.get(&(run, commit)).into_iter().flatten();
            paths.extend(others.filter(|other| place(other) <= was_here).cloned());
        }
        Ok(paths)
    }

    /// Closed councils that what comes in would decide by another word, with its path: the one that reached the remote first stands.
    pub(in crate::cycle) fn overturned(&self, known: CommitId, tip: CommitId) -> Result<Vec<String>, CycleError> {
        let (old, new) = (self.store.tree_of(known)?, self.store.tree_of(tip)?);
        let brought = self.store.diff(Some(old), Some(new), COUNCILS.trim_end_matches('/'))?;
        if brought.iter().all(|change| CouncilRecord::is_at(&change.path)) {
            return Ok(Vec::new());
        }
        let after: BTreeMap<RunId, Council> = self
            .councils_at(tip, COUNCILS.trim_end_matches('/'))?
            .into_iter()
            .map(|council| (council.record.council.clone(), council))
            .collect();
        let mut paths = Vec::new();
        for before in self.councils_at(known, COUNCILS.trim_end_matches('/'))? {
            let Some(stood) = before.ruling() else { continue };
            let stands = after.get(&before.record.council).and_then(Council::ruling);
            if stands != Some(stood) {
                paths.push(stands.unwrap_or(stood).path());
            }
        }
        Ok(paths)
    }

    /// Sentences on councils that a word of a person closed here, and that another word closes since decisions of a remote came in.
    pub(in crate::cycle) fn words_that_came_second(
        &self,
        before: Option<CommitId>,
        after: CommitId,
    ) -> Result<Vec<String>, CycleError> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let tree = self.store.tree_of(after)?;
        let mut said = Vec::new();
        for path in self.overturned(before, after)? {
            let Some(bytes) = self.store.read(tree, &path)? else { continue };
            let Ok(closing) = Closing::decode(&bytes, &path) else { continue };
            let answer = if closing.word == Word::Approve { "yes" } else { "no" };
            let id = self.council_record(&closing.council)?.map_or(closing.council.to_string(), |record| record.id);
            said.push(format!(
                "council {id}: the answer is {answer} now, by {}, whose word reached the remote first; the one said here does not count",
                closing.by
            ));
        }
        Ok(said)
    }

    /// The newest councils, from which errors are compared.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn past_councils(&self) -> Result<Vec<Council>, CycleError> {
        let mut councils = self.councils()?;
        let newest = councils.len().saturating_sub(limits::COUNCIL_HISTORY);
        let mut councils = councils.split_off(newest);
        self.tell_outcomes(&mut councils)?;
        Ok(councils)
    }

    /// Whom main named as reviewers, of all runs or of some, and since when, seconds, newest first.
    fn eras(&self) -> Result<Vec<(i64, Vec<String>)>, CycleError> {
        let store = &self.store;
        let Some(main) = store.tip(store.main())? else { return Ok(Vec::new()) };
        let mut eras: Vec<(i64, Vec<String>)> = Vec::new();
        let mut last = None;
        for commit in store.first_parents(main, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            let file = store.file(commit.tree, layout::SETTINGS)?.map(|file| file.blob);
            let newer = eras.last().map(|(_, names)| names).filter(|_| last == Some(file)).cloned();
            let reviewers = match newer {
                Some(names) => names,
                None => match self.settings_in(commit.tree) {
                    Err(CycleError::Settings(_)) => Vec::new(),
                    read => read?.review.deciders().into_iter().map(str::to_owned).collect(),
                },
            };
            // Other settings may have changed with the same reviewers.
            match eras.last_mut().filter(|(_, names)| *names == reviewers) {
                Some((since, _)) => *since = commit.committed,
                None => eras.push((commit.committed, reviewers)),
            }
            last = Some(file);
        }
        Ok(eras)
    }

    /// The people who may speak on councils in the place of this one: those whom main names as reviewers, of all runs or of some. `None`: this person
    /// may, as anybody where main names nobody.
    pub fn speakers_beside(&self, by: &str) -> Result<Option<String>, CycleError> {
        let settings = self.review_of_main()?;
        Ok((!settings.lets_decide(address(by))).then(|| settings.deciders().join(", ")))
    }

    /// Keeps a council, durable when this returns.
    ///
    /// # Errors
    /// The record is too long.
    pub fn keep_council(&self, record: &CouncilRecord) -> Result<(), CycleError> {
        let bytes = record.encode();
        if bytes.len() > limits::COUNCIL_RECORD_BYTES {
            return Err(CycleError::Refused {
                message: format!(
                    "the record of the council has {} bytes, at most {} are kept",
                    bytes.len(),
                    limits::COUNCIL_RECORD_BYTES
                ),
                hint: Some("shorter reasonings or fewer members fit".to_owned()),
            });
        }
        let subject = format!("council {}", record.id);
        let trailers = vec![
            ("Council".to_owned(), record.id.clone()),
            ("Verdict".to_owned(), record.verdict.decision.to_string()),
        ];
        let body = record.question.split_whitespace().collect::<Vec<_>>().join(" ");
        self.add_decision(record.path(), bytes, (subject, body, trailers))
    }

    /// Keeps what a person said of a council.
    pub fn keep_closing(&self, record: &CouncilRecord, closing: &Closing) -> Result<(), CycleError> {
        let id = &record.id;
        let subject = format!("{} council {id}", closing.word.as_str());
        let trailers =
            vec![("Council".to_owned(), id.clone()), ("Verdict".to_owned(), closing.word.as_str().to_owned())];
        let question = record.question.lines().next().unwrap_or_default();
        let body =
            [question, &closing.why].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        self.add_decision(closing.path(), closing.encode(), (subject, body, trailers))
    }

    /// The fault of a file of councils in a commit of decisions that comes in; `None`: it may come in.
    pub(in crate::cycle) fn wrong_of_council(
        &self,
        bytes: &[u8],
        path: &str,
        commit: &Commit,
        latest_ms: i64,
    ) -> Option<String> {
        let (by, at_ms, id, text) = if CouncilRecord::is_at(path) {
            let record = match CouncilRecord::decode(bytes, path) {
                Ok(record) => record,
                Err(error) => return Some(error.to_string()),
            };
            let key = |cast: &crate::council::record::CastVote| {
                let seat = record.members.iter().find(|seat| seat.id == cast.message.sender_id);
                seat.map_or("", |seat| seat.key.as_str()).to_owned()
            };
            let is_forged = record
                .votes
                .iter()
                .find(|cast| !is_signed(&key(cast), &cast.message.canonical_bytes(), &cast.message.signature));
            if let Some(cast) = is_forged {
                return Some(format!("has a vote that {} did not sign", cast.message.sender_id));
            }
            if let Some(field) = record.fault() {
                return Some(format!("does not follow from its members and votes ({field})"));
            }
            // A council hears its members for minutes, and clocks are put right.
            let lasted = record.at_ms - record.council.unix_ms();
            if !(-limits::FUTURE_SECONDS * 1000..=limits::COUNCIL_LASTS_MS).contains(&lasted) {
                return Some("has another time than its name".to_owned());
            }
            (record.by, record.at_ms, record.council, String::from_utf8_lossy(bytes).into_owned())
        } else {
            match Closing::decode(bytes, path) {
                Ok(closing) => (closing.by, closing.at_ms, closing.closing, closing.why),
                Err(error) => return Some(error.to_string()),
            }
        };
        if address(&by) != commit.email {
            return Some(format!("is by {}, and its commit by {}", address(&by), commit.email));
        }
        if at_ms > latest_ms || id.unix_ms() > latest_ms {
            return Some("is dated ahead of the clock here".to_owned());
        }
        (self.shared.secrets.redact(&text) != text).then(|| "holds a secret".to_owned())
    }
}
