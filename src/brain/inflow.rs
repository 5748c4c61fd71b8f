//! A feed on its way into the brain, window by window: only one window of texts is in memory. Place in the flow: `feed` plans → **inflow** →
//! stimuli. Must not decide what is new.

use std::collections::HashMap;

use super::gone::Leaving;
use super::reading::Reading;
use super::{Brain, BrainError, Progress};
use crate::cycle::edited::NewPiece;
use crate::cycle::stimulus::{self, Input};
use crate::limits;
use crate::model::document::FileKey;
use crate::model::ids::{NeuronId, StimulusId, episode_id, hash_fields};
use crate::model::{Origin, Stamp, Stimulus};
use crate::world::WorldError;

/// The part of a feed that waits before the next one comes in.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Stimuli.
    pub stimuli: usize,
    /// Bytes of their texts.
    pub bytes: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { stimuli: limits::WINDOW_STIMULI, bytes: limits::WINDOW_BYTES }
    }
}

impl Window {
    /// Stimuli that wait while the next part comes in, so that runs are as full as they may be.
    pub(super) fn low(self) -> usize {
        self.stimuli.div_ceil(4)
    }
}

/// What a feed brings, and how much of it is in.
pub(super) struct Planned {
    pub reading: Reading,
    pub origin: Origin,
    now: Stamp,
    size: Window,
    /// What the ids of texts that are remembered once more follow from: the network before the feed, and chance.
    backend: String,
    chance: u64,
    /// The key of the file whose memory is corrected, and what the correction replaces.
    correction: Option<(Option<FileKey>, Vec<StimulusId>)>,
    /// Inputs that are new, by their places, and whether an equal one was fed before.
    inputs: Vec<(usize, bool)>,
    /// What is new in each file.
    pieces: Vec<Vec<NewPiece>>,
    /// Memories on their way out, each with the number of stimuli after which it goes.
    leaving: Vec<(usize, Leaving)>,
    /// Stimuli that were made.
    made: usize,
    /// The file that is next, and the piece of it.
    next: (usize, usize),
}

/// What became of a window: its stimuli, those that are new, and runs that archived what they replace.
type CameIn = (usize, Vec<StimulusId>, Vec<String>);

impl Planned {
    pub fn new(brain: &Brain, reading: Reading, origin: Origin, size: Window) -> Result<Self, BrainError> {
        let world = &brain.cycle.shared.world;
        let (now, chance) = (world.now(), world.id_bits(&[b"feed"]));
        let backend = brain.cycle.backend(brain.at(None)?)?;
        Ok(Self {
            reading,
            origin,
            now,
            size,
            backend,
            chance,
            correction: None,
            inputs: Vec::new(),
            pieces: Vec::new(),
            leaving: Vec::new(),
            made: 0,
            next: (0, 0),
        })
    }

    /// Makes all inputs the correction of a memory.
    pub fn corrects(&mut self, file: Option<FileKey>, replaced: Vec<StimulusId>) {
        self.correction = Some((file, replaced));
    }

    /// Plans inputs and pieces that are new.
    pub fn take(&mut self, inputs: Vec<(usize, bool)>, pieces: Vec<Vec<NewPiece>>) {
        (self.inputs, self.pieces) = (inputs, pieces);
    }

    /// Plans what leaves: after what replaces it, or at the end.
    pub fn leave(&mut self, leaving: Vec<Leaving>, successors: &HashMap<StimulusId, (NeuronId, usize)>) {
        let after = |leaving: &Leaving| successors.get(&leaving.stimulus.id).map_or(self.len(), |(_, at)| *at + 1);
        self.leaving = leaving.into_iter().map(|leaving| (after(&leaving), leaving)).collect();
    }

    fn len(&self) -> usize {
        self.inputs.len() + self.pieces.iter().map(Vec::len).sum::<usize>()
    }

    /// An input by its place.
    pub fn input(&self, place: usize, again: bool) -> Result<Input, WorldError> {
        let mut input = self.reading.inputs.get(place, &self.reading.spool)?;
        input.again = again;
        if let Some((file, replaced)) = &self.correction {
            input.supersedes.clone_from(replaced);
            input.file = file.filter(|_| input.labels.source.is_none());
        }
        Ok(input)
    }

    fn piece(&self, file: usize, at: usize) -> Result<Input, WorldError> {
        self.reading.files[file].input(&self.pieces[file][at], at == 0, &self.origin, &self.reading.spool)
    }

    /// The stimulus of an input that is the `index`th of all that are new.
    fn stimulus(&self, input: Input, index: usize, brain: &Brain) -> Result<Stimulus, BrainError> {
        let world = &brain.cycle.shared.world;
        let random = |input: &Input| {
            let (text, place) = (input.text.as_bytes(), (index as u64).to_be_bytes());
            match world.has_seed() {
                true => world.id_bits(&[self.backend.as_bytes(), text, &place]),
                false => hash_fields(&[&self.chance.to_be_bytes(), text, &place]),
            }
        };
        stimulus::stimulus(input, self.now, &self.origin, random).map_err(|(field, message)| {
            let several = self.reading.files.len() + self.reading.names.len() > 1;
            let place = if several { "of all that is new, input" } else { "input" };
            BrainError::refused(format!("{place} {}, {field}: {message}", index + 1))
        })
    }

    /// Refuses what cannot be remembered before anything is written. The labels of a file's pieces are those of its first.
    pub fn check(&self, brain: &Brain) -> Result<(), BrainError> {
        let mut index = 0;
        for (place, again) in &self.inputs {
            self.stimulus(self.input(*place, *again)?, index, brain)?;
            index += 1;
        }
        for (file, pieces) in self.pieces.iter().enumerate() {
            if !pieces.is_empty() {
                self.stimulus(self.piece(file, 0)?, index, brain)?;
            }
            index += pieces.len();
        }
        Ok(())
    }

    /// What replaces which stimulus, and the place of that among all that is new.
    pub fn successors(&self, brain: &Brain) -> Result<HashMap<StimulusId, (NeuronId, usize)>, BrainError> {
        let mut found = HashMap::new();
        let mut note = |input: Input, index: usize| -> Result<(), BrainError> {
            let stimulus = self.stimulus(input, index, brain)?;
            let by = episode_id(&stimulus.id);
            found.extend(stimulus.supersedes.into_iter().map(|old| (old, (by.clone(), index))));
            Ok(())
        };
        if self.correction.is_some() {
            for (index, (place, again)) in self.inputs.iter().enumerate() {
                note(self.input(*place, *again)?, index)?;
            }
        }
        let mut index = self.inputs.len();
        for (file, pieces) in self.pieces.iter().enumerate() {
            for at in (0..pieces.len()).filter(|at| pieces[*at].supersedes.is_some()) {
                note(self.piece(file, at)?, index + at)?;
            }
            index += pieces.len();
        }
        Ok(found)
    }

    /// The stimuli that come next; `None`: all were made.
    pub fn window(&mut self, brain: &Brain) -> Result<Option<Vec<Stimulus>>, BrainError> {
        let (mut window, mut bytes) = (Vec::new(), 0);
        // Whole commits, so that there are no more of them than of all at once.
        let whole = limits::STIMULI_PER_COMMIT.min(self.size.stimuli).max(1);
        while window.len() % whole != 0 || bytes < self.size.bytes && window.len() < self.size.stimuli {
            let input = if let Some((place, again)) = self.inputs.get(self.made) {
                self.input(*place, *again)?
            } else if let Some(pieces) = self.pieces.get(self.next.0) {
                if self.next.1 == pieces.len() {
                    self.next = (self.next.0 + 1, 0);
                    continue;
                }
                self.next.1 += 1;
                self.piece(self.next.0, self.next.1 - 1)?
            } else {
                break;
            };
            bytes += input.text.len();
            window.push(self.stimulus(input, self.made, brain)?);
            self.made += 1;
        }
        Ok((!window.is_empty()).then_some(window))
    }

    /// What leaves now that so much is in.
    fn left(&mut self) -> Vec<Leaving> {
        let made = self.made;
        self.leaving.extract_if(.., |(after, _)| *after <= made).map(|(_, leaving)| leaving).collect()
    }
}

impl Brain {
    /// Makes the next window durable, then archives what it replaces. `None`: all of it is in.
    pub(super) fn bring_in(
        &self,
        planned: &mut Planned,
        subject: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<CameIn>, BrainError> {
        let (before, all) = (planned.made, planned.len());
        let Some(mut window) = planned.window(self)? else {
            // Where nothing is new, something may be gone.
            let left = planned.left();
            return match left.is_empty() {
                true => Ok(None),
                false => Ok(Some((0, Vec::new(), self.archive(&left, None)?))),
            };
        };
        self.cycle.note_code(&mut window);
        let stored = self.cycle.store_more_stimuli(&window, subject, &[], &mut |stored| match stored {
            Progress::Stored(count, _) => progress(Progress::Stored(before + count, all)),
            other => progress(other),
        })?;
        Ok(Some((window.len(), stored, self.archive(&planned.left(), None)?)))
    }
}
