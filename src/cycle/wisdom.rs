//! From what is in history to wisdom: exchanges off the ledger, councils and trailers, the records of seeds, and how these stand.
//!
//! Nothing of it is stored but seeds. What was read of the ledger is kept in the cache, because entries never change; it may be deleted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::error::left_alone;
use super::ledger::{Settled, is_of_review, newest_files, settled, taken_back};
use super::network::TreeNetwork;
use super::trailers::INTEGRITY;
use super::{Cycle, CycleError};
use crate::council::vote::Decision;
use crate::delta::{LedgerEntry, Operation};
use crate::integrity::metrics::Counts;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::wisdom::{Seed, WisdomRecord};
use crate::model::{json, within};
use crate::store::TreeId;
use crate::wisdom::karma::{self, Karma};
use crate::wisdom::{Counsel, Exchange, SeedStanding, State, applicable, distil, is_kept_out, standings, waiting};

/// The file of the cache.
const CACHE: &str = "wisdom.json";
/// The version of what standings are made by: what an older one kept is made anew.
const VERSION: &str = "3";
/// Seeds that a run is told of.
pub(super) const TOLD: usize = 8;

/// What is kept between commands.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// The settings of origins that exchanges were read by.
    origins: String,
    /// The exchange of each judgement; null: it is none.
    exchanges: BTreeMap<RunId, Option<Exchange>>,
    /// What the standings follow from.
    key: String,
    standings: Vec<SeedStanding>,
}

impl Cycle {
    /// How the seeds of a tree stand, by id.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn standings(&self, tree: TreeId) -> Result<Vec<SeedStanding>, CycleError> {
        if self.store.folder(tree, layout::WISDOM)?.is_none() {
            return Ok(Vec::new());
        }
        let settled = self.settled(tree)?;
        let key = self.key(tree, &settled)?;
        let kept: Kept = self.store.cached_document(CACHE).unwrap_or_default();
        if kept.key == key {
            return Ok(kept.standings);
        }
        let (mut kept, exchanges) = self.read_exchanges(tree, kept)?;
        let (records, waits) = self.records_told(tree, &settled)?;
        kept.standings = standings(&records, &exchanges);
        let waits = waiting(&waits, &kept.standings);
        kept.standings.extend(waits);
        kept.standings.sort_by(|a, b| a.id.cmp(&b.id));
        kept.key = key;
        self.store.keep_document(CACHE, &kept);
        Ok(kept.standings)
    }

    /// What standings follow from.
    fn key(&self, tree: TreeId, settled: &Settled) -> Result<String, CycleError> {
        let id = |folder| Ok::<_, CycleError>(self.store.folder(tree, folder)?.map(|id| id.to_string()));
        let reviews = self.store.reviews()?.map(|tip| tip.to_string());
        let origins = json::inline(&self.shared.policy.settings.origins);
        let list = |runs: &BTreeSet<RunId>| Some(runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(" "));
        let (back, approved) = (list(&settled.back), list(&settled.approved));
        let version = Some(VERSION.to_owned());
        let parts = [version, id(layout::LEDGER)?, id(layout::WISDOM)?, reviews, Some(origins), back, approved];
        Ok(parts.map(Option::unwrap_or_default).join("\n"))
    }

    /// Later words of people about the runs that wisdom rests on: those of the ledger, and those that taught or forgot.
    fn settled(&self, tree: TreeId) -> Result<Settled, CycleError> {
        let files = newest_files(&self.store, tree, limits::WISDOM_ENTRIES)?;
        let mut oldest = files.last().map(|(run, ..)| run.clone());
        if let Some(folder) = self.store.folder(tree, layout::WISDOM)? {
            for (path, _) in self.store.files(folder, "")? {
                if let Place::Wisdom(run) = Place::of(&format!("{}/{path}", layout::WISDOM)) {
                    oldest = Some(oldest.map_or(run.clone(), |oldest| oldest.min(run)));
                }
            }
        }
        settled(&self.store, tree, oldest.as_ref())
    }

    /// The records of wisdom in a tree, but for those that were taken back or come from where nobody here trusts.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn wisdom_records(&self, tree: TreeId) -> Result<Vec<WisdomRecord>, CycleError> {
        Ok(self.records_told(tree, &self.settled(tree)?)?.0)
    }

    /// The records that count, and those of origins that nobody here trusts and nobody has approved; both in the order of their runs.
    fn records_told(
        &self,
        tree: TreeId,
        settled: &Settled,
    ) -> Result<(Vec<WisdomRecord>, Vec<WisdomRecord>), CycleError> {
        let (mut records, mut waits) = (Vec::new(), Vec::new());
        let Some(folder) = self.store.folder(tree, layout::WISDOM)? else { return Ok((records, waits)) };
        let network = TreeNetwork::new(&self.store, tree);
        let origins = &self.shared.policy.settings.origins;
        for (path, file) in self.store.files(folder, "")? {
            let path = format!("{}/{path}", layout::WISDOM);
            let Place::Wisdom(run) = Place::of(&path) else { continue };
            // A file that no run taught, as one by plain git, is told to nobody.
            let taught = |op: &Operation| matches!(op, Operation::Wisdom(_));
            if settled.back.contains(&run)
                || !self.record_in(tree, &run)?.is_some_and(|record| record.ops.iter().any(taught))
            {
                continue;
            }
            let is_tainted = network.origin_of(&run)?.is_some_and(|origin| origins.is_tainted(&origin));
            let record: WisdomRecord =
                json::strict(&self.store.read_file(file, &path)?, &path, limits::DOCUMENT_BYTES)?;
            record.teaching.check().map_err(|(field, why)| json::JsonError::at(&path, 1, field, why))?;
            (if is_tainted && !settled.approved.contains(&run) { &mut waits } else { &mut records }).push(record);
        }
        records.sort_by(|a: &WisdomRecord, b| a.run.cmp(&b.run));
        waits.sort_by(|a: &WisdomRecord, b| a.run.cmp(&b.run));
        Ok((records, waits))
    }

    /// What came of past actions, oldest first: the newest judgements of the ledger, and councils whose outcome is known.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn exchanges(&self, tree: TreeId) -> Result<Vec<Exchange>, CycleError> {
        let kept: Kept = self.store.cached_document(CACHE).unwrap_or_default();
        let (kept, exchanges) = self.read_exchanges(tree, kept)?;
        self.store.keep_document(CACHE, &kept);
        Ok(exchanges)
    }

    fn read_exchanges(&self, tree: TreeId, mut kept: Kept) -> Result<(Kept, Vec<Exchange>), CycleError> {
        let origins = json::inline(&self.shared.policy.settings.origins);
        if kept.origins != origins {
            kept = Kept { origins, ..Kept::default() };
        }
        let files = newest_files(&self.store, tree, limits::WISDOM_ENTRIES)?;
        let back = taken_back(&self.store, tree, files.last().map(|(run, ..)| run))?;
        let network = TreeNetwork::new(&self.store, tree);
        let mut now: BTreeMap<RunId, Option<Exchange>> = BTreeMap::new();
        let mut spoken: BTreeMap<RunId, RunId> = BTreeMap::new();
        for (run, path, file) in files {
            let known = match kept.exchanges.remove(&run) {
                Some(known) => known,
                None => {
                    let entry = LedgerEntry::decode(&self.store.read_file(file, &path)?, &path);
                    let Some(entry) = left_alone(&self.store, entry)? else { continue };
                    let (exchange, by_model) = self.exchange_of(&network, &entry)?;
                    if by_model && exchange.is_some() {
                        spoken.insert(entry.judged.clone(), run.clone());
                    }
                    exchange
                }
            };
            now.insert(run, known);
        }
        self.measure(&spoken, &mut now)?;
        kept.exchanges = now;
        let mut all: Vec<Exchange> = kept
            .exchanges
            .iter()
            .filter(|(run, _)| !back.contains(*run))
            .filter_map(|(_, exchange)| exchange.clone())
            .filter(|exchange| !back.contains(&exchange.run))
            .collect();
        self.add_councils(&mut all)?;
        all.sort_by(|a, b| (&a.judged_by, &a.run).cmp(&(&b.judged_by, &b.run)));
        Ok((kept, all))
    }

    /// The exchange that an entry judges, and whether a model acted. None: nobody said what it is worth, nothing says in which case what was done,
    /// or it comes from where nobody here trusts.
    fn exchange_of(
        &self,
        network: &TreeNetwork<'_>,
        entry: &LedgerEntry,
    ) -> Result<(Option<Exchange>, bool), CycleError> {
        let origins = &self.shared.policy.settings.origins;
        let record = network.record(&entry.judged)?.filter(|record| !origins.is_tainted(&record.origin));
        let judge = network.origin_of(&entry.run)?;
        let Some(record) = record.filter(|_| entry.method.is_value()) else { return Ok((None, false)) };
        if judge.is_none_or(|origin| origins.is_tainted(&origin)) {
            return Ok((None, false));
        }
        let stimulus = record.stimuli.first().map(|id| network.stimulus(id)).transpose()?.flatten();
        let told = match (&entry.chosen, &stimulus, &entry.prediction.text) {
            (Some(chosen), ..) => Some((chosen.question.clone(), chosen.option.clone())),
            (None, Some(stimulus), Some(expected)) => Some((stimulus.text.clone(), expected.clone())),
            _ => None,
        };
        let by_model = ["llm:", "chain:"].iter().any(|kind| record.cognition.starts_with(kind));
        let Some((condition, action)) = told else { return Ok((None, by_model)) };
        // A day of runs, unless it belongs to a conversation.
        let session = stimulus.and_then(|stimulus| stimulus.session);
        let session = session.unwrap_or_else(|| entry.judged.as_str()[..8].to_owned());
        // A reviewer's words can be taken back, and stand in the review alone.
        let effect = entry.outcome.text.clone().filter(|text| !is_of_review(text)).unwrap_or_default();
        let fits = |text: &str| within(text, limits::SEED_TEXT_BYTES).to_owned();
        let exchange = Exchange {
            run: entry.judged.clone(),
            judged_by: entry.run.clone(),
            session,
            condition: fits(&condition),
            action: fits(&action),
            effect: fits(&effect),
            karma: Karma { outcome: Some(karma::signed(entry.outcome.value)), ..Karma::default() },
        };
        Ok((Some(exchange), by_model))
    }

    /// Adds what trailers say of the words of models. Looks through wake's own line until all are found.
    fn measure(
        &self,
        spoken: &BTreeMap<RunId, RunId>,
        exchanges: &mut BTreeMap<RunId, Option<Exchange>>,
    ) -> Result<(), CycleError> {
        let mut left = spoken.len();
        let wake = self.store.need_tip(self.store.wake())?;
        for commit in self.store.first_parents(wake, None).take(limits::HISTORY_WALK) {
            if left == 0 {
                break;
            }
            let mut commit = commit?;
            if let [_, run] = commit.parents[..] {
                commit = self.store.commit(run)?;
            }
            let ran: Vec<RunId> = commit.trailer_values("Run").filter_map(|run| RunId::parse(run).ok()).collect();
            for judged_by in ran.iter().filter_map(|run| spoken.get(run)) {
                left -= 1;
                let counts = commit.trailer(INTEGRITY).and_then(|text| serde_json::from_str::<Counts>(text).ok());
                if let (Some(counts), Some(Some(exchange))) = (counts, exchanges.get_mut(judged_by)) {
                    exchange.karma.sycophancy = Some(karma::sycophancy(&counts));
                }
            }
        }
        Ok(())
    }

    /// What councils thought of runs; and questions whose decision turned out right or wrong, as exchanges of their own.
    fn add_councils(&self, all: &mut Vec<Exchange>) -> Result<(), CycleError> {
        let mut councils = self.councils()?;
        let old = councils.len().saturating_sub(limits::COUNCIL_HISTORY);
        for council in councils.drain(old..) {
            let sign = match council.decision() {
                Decision::Approve => 1.0,
                Decision::Reject => -1.0,
                Decision::Abstain => continue,
            };
            let confidence = council.record.verdict.confidence.clamp(0.0, 1.0);
            if let Some(run) = &council.record.run {
                let about = all.iter_mut().filter(|exchange| exchange.run == *run);
                about.for_each(|exchange| exchange.karma.consensus = Some(sign * confidence));
                continue;
            }
            let (Some(right), Some(last)) = (council.is_right(), council.closings.last()) else { continue };
            all.push(Exchange {
                run: council.record.council.clone(),
                judged_by: last.closing.clone(),
                session: council.record.council.as_str()[..8].to_owned(),
                condition: within(&council.record.question, limits::SEED_TEXT_BYTES).to_owned(),
                action: if sign > 0.0 { "approve" } else { "reject" }.to_owned(),
                effect: String::new(),
                karma: Karma {
                    outcome: Some(if right { 1.0 } else { -1.0 }),
                    consensus: Some(if right { confidence } else { -confidence }),
                    sycophancy: None,
                },
            });
        }
        Ok(())
    }

    /// Seeds that a tree supports, that nobody has entered, and that say nothing near to what was forgotten.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn distilled(&self, tree: TreeId) -> Result<Vec<Seed>, CycleError> {
        if !self.shared.policy.settings.wisdom.enabled {
            return Ok(Vec::new());
        }
        let seeds = distil(&self.exchanges(tree)?);
        let standings = self.standings(tree)?;
        let own = standings.iter().filter(|known| known.seed.inherited.is_none() && known.state != State::Waiting);
        let known: BTreeSet<String> = own.map(|known| known.id.clone()).collect();
        let forgotten: BTreeSet<String> =
            self.wisdom_records(tree)?.into_iter().flat_map(|record| record.teaching.forget).collect();
        let is_new = |seed: &Seed| {
            !known.contains(&seed.id()) && !forgotten.contains(&seed.id()) && !is_kept_out(seed, &standings)
        };
        let network = TreeNetwork::new(&self.store, tree);
        let mut new: Vec<Seed> = seeds.into_iter().filter(is_new).take(limits::TAUGHT_SEEDS).collect();
        // A council is cited where its run of record is: in the ref of decisions. What the engine checks is what the tree has.
        for seed in &mut new {
            let mut here = Vec::new();
            for run in &seed.sources {
                here.extend(network.origin_of(run)?.map(|_| run.clone()));
            }
            seed.sources = here;
        }
        new.retain(|seed| !seed.sources.is_empty());
        Ok(new)
    }

    /// What seeds say about texts, the best first; without a text all active ones. Nothing where wisdom is switched off.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn counsel(&self, tree: TreeId, texts: &[&str], most: usize) -> Result<Vec<Counsel>, CycleError> {
        if !self.shared.policy.settings.wisdom.enabled {
            return Ok(Vec::new());
        }
        let standings = self.standings(tree)?;
        if texts.is_empty() {
            return Ok(applicable(standings.iter(), None, most));
        }
        let mut best: BTreeMap<String, Counsel> = BTreeMap::new();
        for one in texts.iter().flat_map(|text| applicable(standings.iter(), Some(text), most)) {
            let known = best.entry(one.seed.clone()).or_insert_with(|| one.clone());
            if known.rank < one.rank {
                *known = one;
            }
        }
        let mut found: Vec<Counsel> = best.into_values().collect();
        found.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.seed.cmp(&b.seed)));
        found.truncate(most);
        Ok(found)
    }

    /// What a run is told: seeds about the words of its stimuli and of what it is asked.
    pub(super) fn counsel_for(
        &self,
        tree: TreeId,
        stimuli: &[&str],
        queries: &[&str],
        most: usize,
    ) -> Result<Vec<Counsel>, CycleError> {
        let texts: Vec<&str> = queries.iter().chain(stimuli).copied().collect();
        if texts.is_empty() { Ok(Vec::new()) } else { self.counsel(tree, &texts, most) }
    }
}
