//! `subject` and `feed --subject`: memories about a subject, sealed under its key, and the key's destruction.
//!
//! Words of sealed memories leave here as reports, for the person that asked, and go into no commit, cache, index or note. So do names.

use std::collections::BTreeSet;

use serde::Serialize;

use super::inputs::{Source, read_source};
use super::write::Given;
use super::{Brain, BrainError, HUMAN, RecallAnswer, RecallRequest};
use crate::activation::Snapshot;
use crate::activation::recall::{Answer, CLOSE, Found, closeness, closeness_of_text};
use crate::delta::{Document, Operation};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, SealedId, SubjectId};
use crate::model::neuron::check_label;
use crate::model::sealed::{SealedMemory, Sealing};
use crate::model::{Kind, Neuron, Stamp, json, plural};
use crate::sealed::rank::Place;
use crate::sealed::{Held, HeldMemory, HeldSubject, SubjectKey, merged, seal_memory, seal_name};
use crate::store::{CommitId, TreeId};
use crate::text;
use crate::world::{SubjectKeys, random_id};

/// The hint of an unknown subject.
const LIST: &str = "`git brain subject list` shows them; a forgotten subject has no name any more, only an id";

/// The subjects of a brain.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectList {
    /// The subjects, by name; those without a key here last.
    pub subjects: Vec<SubjectLine>,
    /// Cards and memories that do not open with the key that is here, one sentence each.
    pub damaged: Vec<String>,
    /// Keys on this machine that open no card of this brain, as one whose commit was cut off.
    pub stray_keys: usize,
    /// The folder that holds the keys of this machine.
    pub folder: String,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// A subject.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectLine {
    /// Its id.
    pub id: String,
    /// Its name; null without its key.
    pub name: Option<String>,
    /// Whether its key is on this machine.
    pub key: bool,
    /// Whether it was forgotten.
    pub forgotten: bool,
    /// Memories that are sealed for it.
    pub memories: usize,
}

/// Memories that are sealed for a subject, in words.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectMemories {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The memories, in the order of their times.
    pub memories: Vec<SubjectMemory>,
    /// Cards and memories of it that do not open, one sentence each.
    pub damaged: Vec<String>,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// A memory of a subject.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectMemory {
    /// Its id.
    pub id: String,
    /// When it happened.
    pub at: Stamp,
    /// Its text.
    pub text: String,
}

/// The outcome of `subject add` and `subject forget`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SubjectReport {
    /// The run; null: nothing was to be committed.
    pub run: Option<String>,
    /// Whether it is in wake.
    pub merged: bool,
    /// The subjects.
    pub subjects: Vec<String>,
    /// Keys of this machine that were destroyed.
    pub destroyed: usize,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
    /// True if nothing was written because nothing was to be.
    pub dry_run: bool,
}

/// A request of `feed --subject`.
#[derive(Clone, Debug, Default)]
pub struct SealRequest {
    /// The subject, by name or id.
    pub subject: String,
    /// Texts, files and standard input.
    pub sources: Vec<Source>,
    /// When it happened; now by default.
    pub at: Option<Stamp>,
    /// Write nothing.
    pub dry_run: bool,
}

/// The outcome of `feed --subject`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SealReport {
    /// The subject.
    pub subject: String,
    /// Ids of the memories that were sealed; of a dry run empty.
    pub memories: Vec<String>,
    /// Memories that are sealed, or would be.
    pub sealed: usize,
    /// Texts that were sealed for that subject already.
    pub known: usize,
    /// The runs.
    pub runs: Vec<String>,
    /// Whether all of them are in wake.
    pub merged: bool,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
    /// True if nothing was written because nothing was to be.
    pub dry_run: bool,
}

impl Brain {
    /// The subjects of wake, as far as keys of this machine open them.
    ///
    /// # Errors
    /// A record or key that cannot be read.
    pub fn subjects(&self) -> Result<SubjectList, BrainError> {
        let notes = self.end_forgotten_keys()?;
        let (held, keys) = (self.cycle.held(self.wake_tree()?)?, self.cycle.subject_keys()?);
        let strays = keys.ids()?.into_iter().filter(|id| !held.subjects.contains_key(id)).count();
        let line = |subject: &HeldSubject| SubjectLine {
            id: subject.id.to_string(),
            name: subject.name.clone(),
            key: subject.has_key,
            forgotten: subject.is_forgotten,
            memories: subject.memories,
        };
        let mut subjects: Vec<SubjectLine> = held.subjects.values().map(line).collect();
        subjects.sort_by(|a, b| (a.name.is_none(), &a.name, &a.id).cmp(&(b.name.is_none(), &b.name, &b.id)));
        let damaged = held.damages.iter().map(ToString::to_string).collect();
        Ok(SubjectList { subjects, damaged, stray_keys: strays, folder: keys.folder().display().to_string(), notes })
    }

    /// All that is sealed for a subject.
    ///
    /// # Errors
    /// No subject of that name or id has its key here (exit code 2 or 3).
    pub fn subject_memories(&self, name: &str) -> Result<SubjectMemories, BrainError> {
        let notes = self.end_forgotten_keys()?;
        let held = self.cycle.held(self.wake_tree()?)?;
        let (subject, _) = self.key_of(name, &held)?;
        let of_it = held.memories.iter().filter(|memory| memory.subject == subject);
        let told =
            |memory: &HeldMemory| SubjectMemory { id: memory.id.to_string(), at: memory.at, text: memory.text.clone() };
        let mut memories: Vec<SubjectMemory> = of_it.map(told).collect();
        memories.sort_by_key(|memory| memory.at);
        let damaged = held.damages.iter().filter(|damage| damage.subject == subject).map(ToString::to_string).collect();
        let name = held.subjects[&subject].name.clone().unwrap_or_default();
        Ok(SubjectMemories { id: subject.to_string(), name, memories, damaged, notes })
    }

    /// Adds a subject with a new key, or takes the key of one that is here.
    ///
    /// # Errors
    /// A name that cannot be one, or a text that is no key (exit code 2); a name that is taken, or the key of no subject here, of another one, or of
    /// one that was forgotten (3).
    pub fn add_subject(&self, name: &str, key: Option<&str>, dry_run: bool) -> Result<SubjectReport, BrainError> {
        self.check_name(name)?;
        let notes = self.end_forgotten_keys()?;
        let tree = self.wake_tree()?;
        let held = self.cycle.held(tree)?;
        if let Some(key) = key {
            return self.take_key(name, key, (tree, &held), notes, dry_run);
        }
        if let Some(known) = held.named(name).first() {
            return Err(BrainError::refused(format!("there is a subject of that name: {}", known.id)));
        }
        let subject = SubjectId::parse(&random_id("subject-")?).expect("invariant: a prefix and 32 digits");
        let key = SubjectKeys::random()?;
        let mut report = SubjectReport { subjects: vec![subject.to_string()], notes, dry_run, ..Default::default() };
        if dry_run {
            return Ok(report);
        }
        let card = seal_name(&key, &subject, name).expect("invariant: the name is short enough");
        // On disk before its first ciphertext is.
        self.cycle.subject_keys()?.keep(&subject, &key)?;
        let sealing = Sealing { subjects: vec![card], ..Sealing::default() };
        self.enter_sealing(sealing, &mut report.notes).map(|(run, merged)| {
            (report.run, report.merged) = (Some(run), merged);
            report
        })
    }

    /// Keeps a key that another machine printed.
    fn take_key(
        &self,
        name: &str,
        key: &str,
        (tree, held): (TreeId, &Held),
        mut notes: Vec<String>,
        dry_run: bool,
    ) -> Result<SubjectReport, BrainError> {
        // The text is not told again: it may be most of a key.
        let Some(key) = SubjectKey::parse(key.trim()) else {
            return Err(BrainError::Usage {
                message: "the key is not 64 lower-case hexadecimal digits".to_owned(),
                hint: Some("`git brain subject key NAME` prints it on a machine that has it".to_owned()),
            });
        };
        let Some((subject, called)) = self.cycle.subject_of(tree, &key)? else {
            return Err(BrainError::Refused {
                message: "no subject of this brain has that key".to_owned(),
                hint: Some("`git brain sync` brings the cards of subjects that other machines added".to_owned()),
            });
        };
        if called != name {
            return Err(BrainError::refused(format!("that key is of another subject: {subject}, {called:?}")));
        }
        if self.cycle.is_subject_forgotten(&subject)? {
            return Err(BrainError::refused(format!("{subject} was forgotten, and its key is not taken again")));
        }
        let has_key = held.subjects.get(&subject).is_some_and(|known| known.has_key);
        if has_key {
            notes.push("its key is on this machine already".to_owned());
        } else if !dry_run {
            self.cycle.subject_keys()?.keep(&subject, &key)?;
        }
        Ok(SubjectReport { subjects: vec![subject.to_string()], notes, dry_run, ..Default::default() })
    }

    /// The key of a subject, in 64 hexadecimal digits, for another machine.
    ///
    /// # Errors
    /// No subject of that name or id has its key here (exit code 2 or 3).
    pub fn subject_key(&self, name: &str) -> Result<String, BrainError> {
        let held = self.cycle.held(self.wake_tree()?)?;
        let (_, key) = self.key_of(name, &held)?;
        Ok(key.text())
    }

    /// Forgets subjects: commits tombstones, then destroys the keys of this machine. Of a subject that was forgotten nothing is left to do.
    ///
    /// # Errors
    /// No subject, or several, of a name (exit code 2).
    pub fn forget_subjects(&self, names: &[String], dry_run: bool) -> Result<SubjectReport, BrainError> {
        let mut notes = if dry_run { Vec::new() } else { self.end_forgotten_keys()? };
        let held = self.cycle.held(self.wake_tree()?)?;
        let keys = self.cycle.subject_keys()?;
        let here = keys.ids()?;
        let mut chosen: BTreeSet<SubjectId> = BTreeSet::new();
        for name in names {
            // A key without a card, whose commit was cut off or taken back.
            let stray = SubjectId::parse(name).ok().filter(|id| here.contains(id) && !held.subjects.contains_key(id));
            if let Some(id) = stray {
                chosen.insert(id);
                continue;
            }
            let subject = one_named(name, &held)?;
            match subject.is_forgotten {
                true => {
                    let is_destroyed = !dry_run && keys.destroy_away(&subject.id)?;
                    notes.push(match is_destroyed {
                        true => format!(
                            "{} was forgotten already; its key of a brain that is not there is destroyed",
                            subject.id
                        ),
                        false => format!("{} was forgotten already", subject.id),
                    });
                }
                false => {
                    chosen.insert(subject.id.clone());
                }
            }
        }
        for name in chosen.iter().filter_map(|id| held.subjects.get(id)?.name.clone()) {
            // What cannot be read holds no forgetting up.
            notes.extend(self.in_the_open(&name).unwrap_or_default());
        }
        let subjects: Vec<String> = chosen.iter().map(ToString::to_string).collect();
        let mut report = SubjectReport { subjects, notes, dry_run, ..Default::default() };
        let chosen: Vec<SubjectId> = chosen.into_iter().collect();
        report.merged = true;
        for part in chosen.chunks(limits::SEALED_AT_ONCE).filter(|_| !dry_run) {
            // First the tombstone: a forgetting that is cut off behind it is ended by the next command, and the name still names it before.
            let sealing = Sealing { forget: part.to_vec(), ..Sealing::default() };
            let (run, merged) = self.enter_sealing(sealing, &mut report.notes)?;
            (report.run, report.merged) = (Some(run), report.merged && merged);
            for subject in part {
                let (own, away) = (keys.destroy(subject)?, keys.destroy_away(subject)?);
                report.destroyed += usize::from(own || away);
                for place in keys.elsewhere(subject)? {
                    report.notes.push(format!(
                        "the brain at {} has the key of {subject} as well, and keeps it until a sync brings it this forgetting: where none does, as between \
                         copies of a folder, `git brain subject forget` there",
                        place.display()
                    ));
                }
            }
        }
        if !chosen.is_empty() {
            report.notes.extend(unreached(!report.merged));
        }
        Ok(report)
    }

    /// Seals texts for a subject. Texts that are sealed for it already are left out, so that a feed that was cut off can be given again.
    ///
    /// # Errors
    /// No subject of that name, or nothing to seal (exit code 2); a subject that was forgotten or whose key is not here (3).
    pub fn seal(&self, request: &SealRequest) -> Result<SealReport, BrainError> {
        let mut notes = if request.dry_run { Vec::new() } else { self.end_forgotten_keys()? };
        let world = &self.cycle.shared.world;
        let at = request.at.unwrap_or(world.now());
        if request.at.is_some() && at.unix() > world.latest_seconds() {
            return Err(BrainError::usage(format!("--at {at} is ahead of the clock")));
        }
        let held = self.cycle.held(self.wake_tree()?)?;
        let (subject, key) = self.key_of(&request.subject, &held)?;
        let mut seen: BTreeSet<&str> =
            held.memories.iter().filter(|known| known.subject == subject).map(|known| known.text.as_str()).collect();
        let texts = self.texts_to_seal(&request.sources, &mut notes)?;
        let new: Vec<&String> = texts.iter().filter(|text| seen.insert(text)).collect();
        let mut report = SealReport {
            subject: subject.to_string(),
            sealed: new.len(),
            known: texts.len() - new.len(),
            merged: true,
            notes,
            dry_run: request.dry_run,
            ..SealReport::default()
        };
        for part in new.chunks(limits::SEALED_AT_ONCE).filter(|_| !request.dry_run) {
            let memories: Vec<SealedMemory> = part
                .iter()
                .map(|text| {
                    let id = SealedId::parse(&random_id("sealed-")?).expect("invariant: a prefix and 32 digits");
                    let memory = seal_memory(&key, &subject, &id, at, text);
                    Ok(memory.expect("invariant: a piece is no longer than a concept"))
                })
                .collect::<Result<_, BrainError>>()?;
            report.memories.extend(memories.iter().map(|memory| memory.memory.to_string()));
            let (run, merged) = self.enter_sealing(Sealing { memories, ..Sealing::default() }, &mut report.notes)?;
            report.runs.push(run);
            report.merged &= merged;
        }
        Ok(report)
    }

    /// The texts of inputs, in pieces, without secrets. All of it stays in memory.
    fn texts_to_seal(&self, sources: &[Source], notes: &mut Vec<String>) -> Result<Vec<String>, BrainError> {
        let secrets = &self.cycle.shared.secrets;
        let (mut texts, mut left, mut redacted) = (Vec::new(), limits::SEALED_INPUT_BYTES, 0);
        for source in sources {
            let is_batch = |path: &std::path::Path| path.extension().is_some_and(|end| end == "jsonl");
            match source {
                Source::Text(_) | Source::Stdin => {}
                Source::File(path) if !is_batch(path) => {}
                _ => return Err(BrainError::usage("--subject goes with texts, text files and standard input")),
            }
            let (bytes, what) = read_source(source, left)?;
            left -= bytes.len();
            let text = String::from_utf8(bytes).map_err(|_| BrainError::usage(format!("{what} is no text")))?;
            redacted += secrets.find(text.as_bytes()).len();
            let clean = secrets.redact(&text);
            texts.extend(if matches!(source, Source::Text(_)) { text::parts(&clean) } else { text::pieces(&clean) });
        }
        if texts.is_empty() {
            return Err(BrainError::usage("there is nothing to seal: the input is empty"));
        }
        if redacted > 0 {
            let secrets = plural(redacted, "secret is", "secrets are");
            notes.push(format!("{secrets} not remembered: the text reads [redacted:KIND] there"));
        }
        Ok(texts)
    }

    /// Puts sealed memories that come close to a question among its answers.
    pub(super) fn add_sealed(
        &self,
        answer: &mut RecallAnswer,
        request: &RecallRequest,
        commit: CommitId,
        snapshot: &Snapshot,
        found: &[Found],
    ) -> Result<(), BrainError> {
        // No key, no cost.
        if self.cycle.subject_keys().and_then(|keys| Ok(keys.ids()?)).map_or(true, |ids| ids.is_empty()) {
            return Ok(());
        }
        answer.notes.extend(self.end_forgotten_keys().unwrap_or_default());
        let held = match self.cycle.held(self.cycle.store.tree_of(commit)?) {
            Ok(held) => held,
            // The other answers stand.
            Err(error) => {
                answer.notes.push(format!("no sealed memory is answered: {error}"));
                return Ok(());
            }
        };
        answer.notes.extend(held.damages.iter().map(ToString::to_string));
        let (index, question) = (snapshot.index(), &request.query);
        let is_asked = |memory: &&HeldMemory| {
            request.since.is_none_or(|since| memory.at >= since) && request.until.is_none_or(|until| memory.at <= until)
        };
        // Asked by the name of its subject, too.
        let named = |memory: &HeldMemory| format!("{}: {}", memory.name, memory.text);
        // Nothing sealed belongs to a session.
        let memories: Vec<&HeldMemory> =
            held.memories.iter().filter(is_asked).filter(|_| request.session.is_none()).collect();
        let sealed: Vec<f64> =
            memories.iter().map(|memory| closeness_of_text(&index, question, &named(memory))).collect();
        let alone = |found: &Found| closeness(&index, question, std::iter::once(found));
        let own: Vec<f64> = found.iter().map(alone).collect();
        let places = merged(&own, &sealed, request.close.unwrap_or(0.0).max(CLOSE));
        if places.len() == own.len() {
            return Ok(());
        }
        let mut before: Vec<Option<Answer>> = std::mem::take(&mut answer.results).into_iter().map(Some).collect();
        let scores: Vec<f64> = before.iter().flatten().map(|answer| answer.activation).collect();
        let mut at = 0;
        for place in places {
            match place {
                Place::Answer(number) => {
                    at = number + 1;
                    answer.results.extend(before[number].take());
                }
                Place::Sealed(number) => {
                    let score = scores.get(at).or(scores.last()).copied().unwrap_or(sealed[number]);
                    answer.results.push(opened(memories[number], score, request.explain));
                }
            }
        }
        answer.results.truncate(self.places(request));
        if let Some(tokens) = request.tokens {
            let mut left = tokens;
            answer.results.retain(|one| {
                let size = text::tokens(&one.text);
                let fits = size <= left;
                left -= if fits { size } else { 0 };
                fits
            });
        }
        let closest = sealed.into_iter().fold(answer.closeness.unwrap_or(0.0), f64::max);
        (answer.closeness, answer.nothing_close) = (Some(closest), closest < CLOSE);
        Ok(())
    }

    /// Answers that a question has at most.
    fn places(&self, request: &RecallRequest) -> usize {
        let settings = self.cycle.shared.policy.settings.recall.top;
        request.top.unwrap_or(if request.tokens.is_some() { usize::MAX } else { settings })
    }

    /// Destroys keys of this machine of subjects that were forgotten, and says which, by id: a name would stand in a log for ever.
    pub(super) fn end_forgotten_keys(&self) -> Result<Vec<String>, BrainError> {
        let ended = self.cycle.end_forgotten_keys()?;
        let destroyed = |id| format!("{id} was forgotten: its key on this machine is destroyed");
        let refused =
            |(id, fault)| format!("{id} is not forgotten, and its key stays: `git brain sync` refuses {fault}");
        let away = |(id, place): (_, std::path::PathBuf)| {
            format!(
                "{id} was forgotten, and {} keeps a key of it for a brain that is not where it lay: where that is gone for good, `git brain subject forget {id}` destroys the key",
                place.display()
            )
        };
        let said = ended.destroyed.into_iter().map(destroyed).chain(ended.refused.into_iter().map(refused));
        Ok(said.chain(ended.away.into_iter().map(away)).collect())
    }

    fn wake_tree(&self) -> Result<TreeId, BrainError> {
        Ok(self.cycle.store.tree_of(self.at(None)?)?)
    }

    /// The subject of a name or id, and its key.
    fn key_of(&self, name: &str, held: &Held) -> Result<(SubjectId, SubjectKey), BrainError> {
        let subject = one_named(name, held)?;
        if subject.is_forgotten {
            return Err(BrainError::refused(format!("{} was forgotten", subject.id)));
        }
        let keys = self.cycle.subject_keys()?.all()?;
        let key = keys.get(&subject.id).ok_or_else(|| BrainError::Refused {
            message: format!("the key of {} is not on this machine", subject.id),
            hint: Some("`git brain subject key NAME` prints it where it is, `git brain subject add NAME --key -` takes it here".to_owned()),
        })?;
        Ok((subject.id.clone(), key.clone()))
    }

    fn check_name(&self, name: &str) -> Result<(), BrainError> {
        check_label(name).map_err(|why| BrainError::usage(format!("the name {why}")))?;
        if name.len() > limits::SUBJECT_NAME_BYTES {
            return Err(BrainError::usage(format!("the name is longer than {} bytes", limits::SUBJECT_NAME_BYTES)));
        }
        if SubjectId::parse(name).is_ok() {
            return Err(BrainError::usage("the name is that of an id"));
        }
        match self.cycle.shared.secrets.find(name.as_bytes()).is_empty() {
            true => Ok(()),
            false => Err(BrainError::usage("the name holds a secret")),
        }
    }

    /// Commits a sealing as a run of the person.
    fn enter_sealing(&self, sealing: Sealing, notes: &mut Vec<String>) -> Result<(String, bool), BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a constant name");
        let document = Document { agent: Some(agent.clone()), prediction: None, ops: vec![Operation::Seal(sealing)] };
        let bytes = json::pretty(&document);
        let cognition = "apply".to_owned();
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: "seal", cognition };
        let report = self.apply_given(given, false, false)?;
        notes.extend(report.notes);
        if !report.merged {
            notes.push(format!("run {} waits for review: until it lands, this brain does not have it", report.run));
        }
        Ok((report.run, report.merged))
    }
}

/// The one subject that a name or id means.
fn one_named<'h>(name: &str, held: &'h Held) -> Result<&'h HeldSubject, BrainError> {
    match held.named(name)[..] {
        [one] => Ok(one),
        [] => Err(BrainError::Usage {
            message: format!("there is no subject {name:?} whose key is on this machine"),
            hint: Some(LIST.to_owned()),
        }),
        ref several => {
            let ids: Vec<&str> = several.iter().map(|subject| subject.id.as_str()).collect();
            Err(BrainError::Usage {
                message: format!("{name:?} is the name of {} subjects: {}", ids.len(), ids.join(", ")),
                hint: Some("name it by its id".to_owned()),
            })
        }
    }
}

/// The limits of a forgetting.
fn unreached(waits: bool) -> Vec<String> {
    let others = match waits {
        true => "other machines destroy their copy of the key once the run has landed and they sync",
        false => "other machines destroy their copy of the key when they sync; one that never does keeps it",
    };
    let copies = "no command reaches copies of a key's file, as in a backup or a snapshot of the disk, nor a key that was written down";
    vec![others.to_owned(), copies.to_owned(), "ciphertext stays in git history, and no key opens it".to_owned()]
}

/// A sealed memory as an answer.
fn opened(memory: &HeldMemory, activation: f64, explains: bool) -> Answer {
    let id = NeuronId::parse(memory.id.as_str()).expect("invariant: the id of a sealed memory is of the grammar");
    let neuron = Neuron::new(id.clone(), memory.text.clone(), Kind::Episodic, memory.at);
    let found = Found { id, activation, salience: 0, context: 0.0, inhibition: 0.0, changes: None, path: Vec::new() };
    let why = explains.then(|| "opened with its subject's key, which is on this machine".to_owned());
    let why = why.into_iter().collect();
    Answer { sealed: Some(memory.name.clone()), why, ..Answer::of(found, &neuron, &[]) }
}
