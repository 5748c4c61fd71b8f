//! Memory of code: the checkout that a text was said in, and how the lines that it cites are now. Place in the flow: stimuli that are about
//! to be stored → **code** → the same with branch, commit and citations; memories that were found → **code** → which of them were made on
//! another line of the code, and `current`, `moved` or `stale`. Must not write anything, and costs nothing where no code is.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Cycle;
use crate::citation::{Checked, Seen, State, cite, found_in, is_secret, mentions, place};
use crate::limits;
use crate::model::code::{Cite, Code};
use crate::model::ids::NeuronId;
use crate::model::{Neuron, Stimulus, json, layout};
use crate::store::{Checkout, CommitId, TreeId};

/// The folder whose code is meant where the brain lies in none.
const AROUND: &str = ".";

/// The code that is checked out, for one question.
pub struct Here<'c> {
    cycle: &'c Cycle,
    checkout: Checkout<'c>,
    tree: TreeId,
    /// The code of memories that were read.
    known: RefCell<HashMap<NeuronId, Option<Code>>>,
    /// Whether commits are on the present line.
    lines: RefCell<HashMap<String, bool>>,
}

impl Cycle {
    /// Notes of stimuli in which checkout they were said, and which of its lines they cite.
    pub fn note_code(&self, stimuli: &mut [Stimulus]) {
        let Some(checkout) = self.store.checkout(Path::new(AROUND)) else { return };
        let branch = checkout.branch().map(ToString::to_string);
        let bare = Code { branch, commit: checkout.commit().to_string(), cites: Vec::new() };
        // A branch or a path may look like a secret, and nothing is stored that does.
        let is_plain = |code: &Code| self.shared.secrets.redact_json(&json::pretty(code)).is_none();
        if !is_plain(&bare) {
            return;
        }
        let mut files = HashMap::new();
        for stimulus in stimuli {
            let found = mentions(&stimulus.text);
            let found = found.iter().filter_map(|mention| {
                let path = checkout.path_of(&mention.path, &self.dir).filter(|path| !is_secret(path))?;
                if files.len() >= limits::MENTIONS && !files.contains_key(&path) {
                    files.clear();
                }
                let read = || {
                    let text = checkout.text(&path)?;
                    let blob = checkout.blob_of(&path, &text)?;
                    let clean = self.shared.secrets.redact(&text).into_owned();
                    Some((text, blob, clean))
                };
                let (text, blob, clean) = files.entry(path.clone()).or_insert_with(read).as_ref()?;
                let cited = cite(mention, &path, text, blob)?;
                has_no_secret(&cited, text, clean).then_some(cited)
            });
            let mut cites: Vec<Cite> = Vec::new();
            for cited in found {
                if cites.len() < limits::CITES && !cites.contains(&cited) {
                    cites.push(cited);
                }
            }
            let code = Code { cites, ..bare.clone() };
            stimulus.code = Some(if code.cites.is_empty() || is_plain(&code) { code } else { bare.clone() });
        }
    }

    /// The code that is checked out around here, for memories of a tree; none where no code is.
    pub fn here(&self, tree: TreeId) -> Option<Here<'_>> {
        if self.has_no_code.get() {
            return None;
        }
        let checkout = self.store.checkout(Path::new(AROUND));
        self.has_no_code.set(checkout.is_none());
        let checkout = checkout?;
        Some(Here { cycle: self, checkout, tree, known: RefCell::default(), lines: RefCell::default() })
    }
}

/// Whether the cited lines of a text are in what is left of it without secrets: even a hash of one could be guessed.
fn has_no_secret(cite: &Cite, text: &str, clean: &str) -> bool {
    let kept: HashSet<&str> = clean.lines().collect();
    text.lines().skip(cite.line as usize - 1).take(cite.lines as usize).all(|line| kept.contains(line))
}

impl Here<'_> {
    /// The code that a memory was said about, as its stimulus tells.
    fn code_of(&self, neuron: &Neuron) -> Option<Code> {
        let id = neuron.stimulus.as_ref()?;
        if let Some(known) = self.known.borrow().get(&neuron.id) {
            return known.clone();
        }
        let path = layout::stimulus(id, neuron.created_at);
        let bytes = self.cycle.store.read(self.tree, &path).ok().flatten();
        let code = bytes.and_then(|bytes| Stimulus::decode(&bytes, &path).ok()?.code);
        self.known.borrow_mut().insert(neuron.id.clone(), code.clone());
        code
    }

    /// Whether a memory was made on another line of the code: neither on the branch that is checked out, nor on a commit that is an
    /// ancestor of the present one.
    pub fn is_elsewhere(&self, neuron: &Neuron) -> bool {
        self.code_of(neuron).is_some_and(|code| self.is_of_another_line(&code))
    }

    fn is_of_another_line(&self, code: &Code) -> bool {
        let branch = self.checkout.branch().map(ToString::to_string);
        if branch.is_some() && branch == code.branch {
            return false;
        }
        if let Some(known) = self.lines.borrow().get(&code.commit) {
            return *known;
        }
        let commit = CommitId::parse(&code.commit);
        let is_other = !commit.is_ok_and(|commit| self.checkout.descends_from(commit));
        self.lines.borrow_mut().insert(code.commit.clone(), is_other);
        is_other
    }

    /// The code that a memory was said about, as it is now; none if it was said about none.
    pub fn seen(&self, neuron: &Neuron) -> Option<Seen> {
        let code = self.code_of(neuron)?;
        let is_here = CommitId::parse(&code.commit).is_ok_and(|commit| self.checkout.knows(commit));
        let cites = if is_here { &code.cites[..] } else { &[] };
        let cites =
            cites.iter().map(|cite| Checked { cite: cite.to_string(), state: self.state(&code, cite) }).collect();
        Some(Seen { elsewhere: self.is_of_another_line(&code), branch: code.branch, cites })
    }

    fn state(&self, code: &Code, cite: &Cite) -> State {
        let was = self.checkout.was(&cite.blob);
        let now = self.checkout.text(&cite.path);
        match now.and_then(|now| place(cite, was.as_deref(), &now)) {
            Some(line) if line == cite.line => return State::Current,
            Some(line) => return State::Moved(cite.at(&cite.path, line)),
            None => {}
        }
        for path in self.checkout.came_since(&code.commit, &cite.blob, &cite.path) {
            let Some(now) = self.checkout.text(&path) else { continue };
            if let Some(line) = found_in(cite, &path, was.as_deref(), &now) {
                return State::Moved(cite.at(&path, line));
            }
        }
        State::Stale
    }
}
