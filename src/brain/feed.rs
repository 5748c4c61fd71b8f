//! `feed`: what people remember, corrections, and files that are fed again.
//!
//! In order: what is fed is read and held against what is remembered; new stimuli are made durable; memories that they replace
//! are archived by a run of `human`; then agents run. Of a large feed one window after the other takes these steps (`inflow`). Killed
//! anywhere, the next `feed` of the same finds what is left to do.

use std::collections::HashSet;

use serde::Serialize;

use super::correction::{Corrected, TWINS};
use super::gone::{GoneFile, Leaving};
use super::inflow::{Planned, Window};
use super::inputs::{FedFile, Source, subject};
use super::outcome::check_value;
use super::reading::UnreadFile;
use super::replaced::Landing;
use super::write::RunReport;
use super::{Brain, BrainError, HUMAN, Progress};
use crate::cycle::EVALUATOR;
use crate::cycle::commit::Draft;
use crate::cycle::edited::Whereabouts;
use crate::cycle::feeders::Feeders;
use crate::cycle::network::TreeNetwork;
use crate::cycle::stimulus::Labels;
use crate::delta::Operation;
use crate::delta::operation::Archive;
use crate::limits;
use crate::model::document::FileKey;
use crate::model::ids::{AgentName, StimulusId, TextHash, episode_id, hash64};
use crate::model::{Kind, Level, Neuron, Origin, Stamp, Stimulus, layout, plural};
use crate::store::TreeId;
use crate::text;

/// Seconds after which a call for help in the same words is another one. Sooner it is one that somebody repeats, or a command that was killed.
const CALLED_AGAIN: u64 = 3_600;

/// What `feed` is asked for.
#[derive(Clone, Debug, Default)]
pub struct FeedRequest {
    /// The inputs, in order.
    pub sources: Vec<Source>,
    /// When it happened.
    pub at: Option<Stamp>,
    /// Its label.
    pub source: Option<String>,
    /// What it belongs to.
    pub session: Option<String>,
    /// The run whose action it answers: what is fed is its outcome as well.
    pub answers: Option<String>,
    /// What that outcome is worth, 0..=1.
    pub value: Option<f64>,
    /// The memory that it corrects: that is archived.
    pub corrects: Option<String>,
    /// A text that may not replace that memory is remembered beside it, for a person to let in, instead of being refused.
    pub or_beside: bool,
    /// Where it ultimately comes from, `class` or `class:detail`; this machine by default.
    pub origin: Option<String>,
    /// Remember texts also if they are remembered already.
    pub again: bool,
    /// Only store it.
    pub no_run: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// How much of it is in memory at a time.
    pub window: Window,
}

/// What `feed` did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FeedReport {
    /// Ids of the stimuli that are new.
    pub stimuli: Vec<String>,
    /// How many were known already.
    pub known: usize,
    /// Text files, in order, with what became of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FedFile>,
    /// Files that were fed before and are not there any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneFile>,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFile>,
    /// The memory that was corrected, and by which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Correction>,
    /// The runs of `human` that archived what was replaced or is gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<String>,
    /// The runs that followed; absent with `--no-run`.
    #[serde(flatten)]
    pub ran: RunReport,
}

/// A memory that was corrected.
#[derive(Clone, Debug, Serialize)]
pub struct Correction {
    /// The old one.
    pub corrects: String,
    /// The new one.
    pub by: String,
    /// Who fed the old one, where that is another person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fed_by: Option<String>,
}

/// A feed that was read and compared, and not written yet.
struct Prepared {
    planned: Planned,
    /// What the commit's subject calls it.
    names: Vec<String>,
    /// What a person should know, one sentence each.
    notes: Vec<String>,
    /// Memories that stay until what replaces them has landed.
    staying: Vec<StimulusId>,
    /// Memories of a file under review that it no longer has: a person decides whether they go.
    removed: Vec<Leaving>,
    /// What can be said of it before it is done.
    report: FeedReport,
}

/// The id of a citation, `ID@COMMIT` or the id alone.
fn cited_id(cite: &str) -> &str {
    cite.split_once('@').map_or(cite, |(id, _)| id)
}

impl Brain {
    /// Stores stimuli durably, archives what they replace, then runs agents until quiet.
    ///
    /// # Errors
    /// What cannot be read or may not be fed; with several files, only if none can be read.
    pub fn feed(&self, request: &FeedRequest, progress: &mut dyn FnMut(Progress)) -> Result<FeedReport, BrainError> {
        self.try_feed(request, progress).map_err(|error| self.cycle.on_branches(error))
    }

    fn try_feed(&self, request: &FeedRequest, progress: &mut dyn FnMut(Progress)) -> Result<FeedReport, BrainError> {
        let Prepared { mut planned, names, mut notes, staying, removed, mut report } = self.prepare(request)?;
        if request.dry_run {
            while let Some(window) = planned.window(self)? {
                report.stimuli.extend(window.iter().map(|s| s.id.to_string()));
            }
            report.ran = RunReport { wake: self.at(None)?.to_string(), notes, ..RunReport::default() };
            return Ok(report);
        }
        let subject = subject(&names);
        let mut inflow = |progress: &mut dyn FnMut(Progress)| {
            let came = self.bring_in(&mut planned, &subject, progress)?;
            let Some((count, stored, archived)) = came else { return Ok(None) };
            report.known += count - stored.len();
            report.stimuli.extend(stored.iter().map(ToString::to_string));
            report.archived.extend(archived);
            Ok(Some(stored.len()))
        };
        let ran = match request.no_run {
            true => {
                while inflow(progress)?.is_some() {}
                RunReport { wake: self.at(None)?.to_string(), ..RunReport::default() }
            }
            false => self.run_on(&mut inflow, request.window.low(), progress)?,
        };
        if ran.runs.is_empty() {
            self.cycle.store.maintain();
        }
        report.ran = ran;
        if self.rules_may_hold() && !staying.is_empty() {
            let merged = report.ran.runs.iter().filter(|run| run.merged.is_some());
            report.archived.extend(self.archive_replaced_by(merged.map(|run| run.run.as_str()))?);
        }
        let (corrected, removal) = self.propose_removal(removed, &planned.origin)?;
        let stay = self.live_of(&staying)? + corrected;
        if stay > 0 {
            let until = match stay {
                1 if request.no_run => "1 memory stays until the text that corrects it is perceived".to_owned(),
                stay if request.no_run => {
                    format!("{stay} memories stay until the texts that correct them are perceived")
                }
                1 => "1 memory stays until a person approves the text that corrects it".to_owned(),
                stay => format!("{stay} memories stay until a person approves the texts that correct them"),
            };
            notes.push(format!("{until}: `git brain {}`", if request.no_run { "run" } else { "review" }));
        }
        notes.extend(removal);
        report.ran.notes.splice(0..0, notes);
        if let Some(run) = &request.answers {
            self.say_what_came(run, request, &mut report)?;
        }
        if let Some(run) = &request.answers
            && !self.cycle.shared.policy.agents.keys().any(|agent| agent.as_str() == EVALUATOR)
        {
            // A brain of before there was one.
            report.ran.notes.push(format!("no agent {EVALUATOR} is here to judge; `git brain outcome {run}` does"));
        }
        Ok(report)
    }

    /// Reads what is fed, and holds it against what is remembered. Nothing is written.
    fn prepare(&self, request: &FeedRequest) -> Result<Prepared, BrainError> {
        check_value("--value", request.value)?;
        let answers = request.answers.as_deref().map(|run| self.judged(run)).transpose()?.map(|record| record.run);
        let origin = self.claimed_origin(request.origin.as_deref())?;
        let is_text = |source: &Source| matches!(source, Source::Text(_) | Source::Stdin);
        if request.corrects.is_some() && !request.sources.iter().all(is_text) {
            return Err(BrainError::usage("--corrects goes with a text, and a file is fed"));
        }
        let corrected = request
            .corrects
            .as_deref()
            .map(cited_id)
            .map(|id| self.corrected(id, &origin, request.source.as_deref(), request.or_beside))
            .transpose()?;
        let clean = |label: &str| self.cycle.shared.secrets.redact(label).into_owned();
        let session = request.session.as_deref().map(clean);
        let session = session.or_else(|| corrected.as_ref().and_then(|old| old.stimulus.session.clone()));
        let labels = Labels {
            at: request.at,
            source: request.source.as_deref().map(clean),
            session,
            answers,
            value: request.value,
        };
        let reading = self.read_inputs(&request.sources, &labels)?;
        for run in reading.answers.iter().filter(|run| Some(*run) != labels.answers.as_ref()) {
            self.judged(run.as_str())?;
        }
        if request.again && !reading.files.is_empty() {
            return Err(BrainError::Usage {
                message: "--again goes with texts: a file is remembered as it is now".to_owned(),
                hint: Some("--source gives it another label, under which it is another file".to_owned()),
            });
        }
        let (mut outdated, mut notes) = (Vec::new(), Vec::new());
        if let Some(Corrected { id, stimulus: old, .. }) = &corrected {
            let mut texts = HashSet::new();
            for input in reading.each_input() {
                let said = input?.text;
                if text::has_few_words_of(&said, &old.text) {
                    notes.push(format!("a question in the words of {id} does not find this one, which has few of them: a sentence that says all of it anew is found by both"));
                }
                texts.insert(TextHash::of(&said));
            }
            outdated = self.corrections_of(id, old, (&origin, request.source.as_deref()), &texts)?;
            if texts.contains(&TextHash::of(&old.text)) {
                return Err(BrainError::usage(format!("{id} says that already, word by word")));
            }
        }
        let mut planned = Planned::new(self, reading, origin.clone(), request.window)?;
        let beside = corrected.as_ref().and_then(|old| Some((old.id.clone(), old.stays?)));
        if let Some(Corrected { stimulus: old, .. }) = &corrected {
            let replaced = std::iter::once(old).chain(&outdated).map(|stimulus| stimulus.id.clone()).collect();
            planned.corrects(FileKey::in_id(&old.id), replaced);
        }
        let reading = &planned.reading;
        if request.origin.is_none()
            && let Some(address) = planned.reading.address()
        {
            notes.push(format!(
                "{address} is an address, and what comes from there is remembered as yours: `--origin web:HOST` says otherwise"
            ));
        }
        if reading.passed > 0 {
            notes.push(format!("{} passed over: no text", plural(reading.passed, "file", "files")));
        }
        if reading.redacted > 0 {
            let secrets = plural(reading.redacted, "secret is", "secrets are");
            notes.push(format!("{secrets} not remembered: the text reads [redacted:KIND] there"));
        }
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let is_told = request.sources.iter().all(is_text);
        let (inputs, same) = self.unknown(&planned, (request.again, is_told), corrected.is_some(), tree)?;
        if let Some(first) = same.first().filter(|_| is_told && corrected.is_none()) {
            notes.extend(self.remembered_at(tree, first)?.map(|at| {
                format!("the same was said on {at}, and is known: `--again` or `--at` remembers it once more")
            }));
        }
        let mut files = Vec::new();
        let (gone, mut leaving, pieces) = self.compared(reading, &origin, tree, &mut files, &mut notes)?;
        let is_empty = reading.files.iter().all(|file| file.pieces.is_empty());
        if is_empty
            && inputs.is_empty()
            && same.is_empty()
            && leaving.is_empty()
            && gone.is_empty()
            && (!reading.has_places() || notes.is_empty())
        {
            return Err(planned.reading.nothing(&request.sources));
        }
        planned.take(inputs, pieces);
        planned.check(self)?;
        let successors = planned.successors(self)?;
        for leaving in &mut leaving {
            if let Some((by, _)) = successors.get(&leaving.stimulus.id) {
                leaving.reason = format!("replaced by {by}");
            }
        }
        let fed = corrected.iter().map(|old| &old.stimulus);
        let fed_by = self.fed_by_others(fed, &mut Feeders::default())?.into_keys().next();
        if let Some(Corrected { id, stimulus: old, .. }) = &corrected {
            notes.extend(self.twins(id, &old.text)?.iter().take(TWINS).map(|twin| {
                format!(
                    "{twin} says what {id} says, and stays: `git brain feed --corrects {twin} …` corrects it as well"
                )
            }));
        }
        let corrected = corrected.map(|Corrected { id, stimulus: old, .. }| {
            let by = successors.get(&old.id).map(|(by, _)| by.clone()).or_else(|| same.first().map(episode_id));
            let by = by.map_or_else(|| "a memory that is known".to_owned(), |by| by.to_string());
            for stimulus in std::iter::once(old).chain(outdated.iter().cloned()) {
                leaving.push(Leaving { stimulus, reason: format!("corrected by {by}"), is_let_in: false });
            }
            Correction { corrects: id.to_string(), by, fed_by }
        });
        // A text that waits for a person replaces nothing before it lands.
        let waits = self.cycle.shared.policy.settings.origins.level(&origin) >= Level::Review;
        let is_corrected = corrected.is_some();
        let may_wait = |leaving: &Leaving| {
            let has_successor = is_corrected || successors.contains_key(&leaving.stimulus.id);
            !leaving.is_let_in && (waits || beside.is_some() || has_successor && self.rules_may_hold())
        };
        let (staying, removed): (Vec<Leaving>, Vec<Leaving>) = leaving
            .extract_if(.., |leaving| may_wait(leaving))
            .partition(|leaving| is_corrected || successors.contains_key(&leaving.stimulus.id));
        let staying: Vec<StimulusId> = staying.into_iter().map(|leaving| leaving.stimulus.id).collect();
        let known = same.len() + files.iter().map(|file| file.known).sum::<usize>();
        let unread = std::mem::take(&mut planned.reading.unread);
        let mut names = std::mem::take(&mut planned.reading.names);
        names.extend(gone.iter().map(|file| file.file.clone()).filter(|_| names.is_empty()).collect::<Vec<_>>());
        planned.leave(leaving, &successors);
        if let (Some((id, why)), Some(correction)) = (&beside, &corrected) {
            notes.push(format!(
                "{id} stays believed: {why}. `git brain approve {}` puts the new text in its place",
                correction.by
            ));
        }
        let report = FeedReport {
            known,
            files,
            gone,
            unread,
            corrected: corrected.filter(|_| beside.is_none()),
            ..FeedReport::default()
        };
        // Of what stays beside the text the note says it.
        let staying = if beside.is_some() { Vec::new() } else { staying };
        Ok(Prepared { planned, names, notes, staying, removed, report })
    }

    /// Where input is said to come from. Nobody can say that it is more than of this machine.
    pub(super) fn claimed_origin(&self, label: Option<&str>) -> Result<Origin, BrainError> {
        let Some(label) = label else { return Ok(Origin::local()) };
        let origin = Origin::parse(label).map_err(BrainError::usage)?;
        // Files that say so stay readable: only whoever names an origin now is asked to name all of it.
        if origin.is_cut_off() {
            return Err(BrainError::usage(format!("the origin {origin} has nothing after the colon")));
        }
        if !origin.may_be_claimed() {
            return Err(BrainError::refused(format!("origin {origin} is reserved")));
        }
        if self.cycle.shared.policy.settings.origins.level(&origin) == Level::Refused {
            return Err(BrainError::refused(format!("origin {origin} is refused here, by [origins] of the settings")));
        }
        Ok(origin)
    }

    /// Those inputs that are not remembered yet, by their places, with whether an equal one was; and the others. One whose memory is gone is
    /// remembered again, unless it has a label of its own and corrects nothing.
    #[allow(clippy::type_complexity, reason = "the two halves of all inputs")]
    fn unknown(
        &self,
        planned: &Planned,
        (again, is_told): (bool, bool),
        corrects: bool,
        tree: TreeId,
    ) -> Result<(Vec<(usize, bool)>, Vec<StimulusId>), BrainError> {
        let now = self.cycle.shared.world.now();
        let origin = &planned.origin;
        let (mut found, mut known) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for place in 0..planned.reading.inputs.len() {
            let input = planned.input(place, false)?;
            let (session, at) = (input.labels.session.as_deref(), input.labels.at);
            let id = match (input.file, &input.labels.source) {
                // A label of its own is known by its stimulus.
                (None, Some(source)) if !again => {
                    let id = Stimulus::id_of(origin, source, session, at, &input.text);
                    // Whoever puts something right by words of before says them anew.
                    let path = layout::stimulus(&id, input.at(now));
                    let is_back = corrects && self.cycle.whereabouts(tree, &id, &path)? == Some(Whereabouts::Gone);
                    found.push((place, is_back || is_told && self.is_called_again(tree, &id, &input.text)?));
                    continue;
                }
                (Some(file), _) => Stimulus::id_in(file, at, &input.text, None),
                (None, Some(source)) => Stimulus::id_of(origin, source, session, at, &input.text),
                (None, None) => Stimulus::id_unlabelled(origin, session, at, &input.text),
            };
            if !seen.insert(hash64(id.as_str().as_bytes())) {
                if again {
                    found.push((place, again))
                } else {
                    known.push(id)
                }
                continue;
            }
            let path = layout::stimulus(&id, input.at(now));
            match self.cycle.whereabouts(tree, &id, &path)? {
                None => found.push((place, false)),
                Some(Whereabouts::Gone) => found.push((place, true)),
                Some(_) if again || is_told && self.is_called_again(tree, &id, &input.text)? => {
                    found.push((place, true))
                }
                Some(_) => known.push(id),
            }
        }
        Ok((found, known))
    }

    /// The time at which a text was remembered, if it was.
    fn remembered_at(&self, tree: TreeId, id: &StimulusId) -> Result<Option<Stamp>, BrainError> {
        let known = TreeNetwork::new(&self.cycle.store, tree).neuron(&episode_id(id))?;
        Ok(known.map(|known| known.created_at))
    }

    /// Whether somebody calls for help in the words of more than an hour ago: that is heard, and not known.
    fn is_called_again(&self, tree: TreeId, id: &StimulusId, text: &str) -> Result<bool, BrainError> {
        let now = self.cycle.shared.world.now();
        let is_old = self.remembered_at(tree, id)?.is_some_and(|at| now.seconds_since(at) >= CALLED_AGAIN);
        Ok(is_old && text::urgency(text).level > 0.0)
    }

    /// Archives memories, and takes out of the queue what waits to become one, by runs of `human`; because of a landing, these come from
    /// where that comes from.
    pub(super) fn archive(
        &self,
        leaving: &[Leaving],
        landing: Option<&Landing<'_>>,
    ) -> Result<Vec<String>, BrainError> {
        self.archive_by(leaving, &|draft| {
            draft.reason = landing.map_or_else(|| "feed".to_owned(), Landing::reason);
            if let Some(landing) = landing.filter(|landing| !landing.is_let_in) {
                draft.origin = landing.record.origin.clone();
                draft.amends.reviewed_by = landing.by.map(str::to_owned);
            }
        })
    }

    /// The same by drafts that are finished by `finish`.
    pub(super) fn archive_by(
        &self,
        leaving: &[Leaving],
        finish: &dyn Fn(&mut Draft),
    ) -> Result<Vec<String>, BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let (store, shared) = (&self.cycle.store, &self.cycle.shared);
        let mut runs = Vec::new();
        for part in leaving.chunks(limits::DELTA_OPS) {
            let base = self.at(None)?;
            let tree = store.tree_of(base)?;
            let network = TreeNetwork::remembering(store, tree, &shared.neurons);
            let (mut ops, mut waiting, mut said) = (Vec::new(), Vec::new(), Vec::new());
            for Leaving { stimulus, reason, .. } in part {
                let id = episode_id(&stimulus.id);
                let goes = |neuron: &Neuron| !neuron.is_archived() && !neuron.pinned && neuron.kind != Kind::Core;
                if network.shared(&id)?.is_some_and(|neuron| goes(&neuron)) {
                    said.extend([id.to_string(), reason.clone()]);
                    ops.push(Operation::Archive(Archive { id, reason: reason.clone() }));
                } else if store.file(tree, &layout::queue_entry(&stimulus.id))?.is_some() {
                    said.push(stimulus.id.to_string());
                    waiting.push(stimulus.clone());
                }
            }
            if ops.is_empty() && waiting.is_empty() {
                continue;
            }
            let newest = self.cycle.newest_run(base)?;
            let fields: Vec<&[u8]> = said.iter().map(String::as_bytes).collect();
            let run = self.cycle.new_run_id(&agent, base, newest.as_ref(), &fields, 0)?;
            let mut draft = Draft::by_hand(shared, base, run, "feed")?;
            finish(&mut draft);
            draft.document.ops = ops;
            draft.roots = waiting.iter().map(|stimulus| stimulus.id.clone()).collect();
            draft.consumed = waiting;
            let applied = draft.apply(store, shared)?;
            runs.push(self.land(draft, &applied, false)?.run);
        }
        Ok(runs)
    }
}
