//! Files that were fed and are not there any more. Place in the flow: a feed compares what it read with what is remembered → **gone** → what
//! leaves. Must not write anything.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::inputs::{FedBefore, FedFile};
use super::person::PROGRAMS;
use crate::cycle::edited::{FileMemory, NewPiece, Whereabouts, moved};
use crate::cycle::stimulus::FileText;
use crate::model::ids::{TextHash, episode_id};
use crate::model::{Origin, Stimulus};
use crate::world::{Spool, WorldError};

/// A file that was fed and is not there any more.
#[derive(Clone, Debug, Serialize)]
pub struct GoneFile {
    /// Its label.
    pub file: String,
    /// Number of its memories that are archived.
    pub archived: usize,
    /// Number of its memories that stay until `--gone` names it.
    pub stay: usize,
    /// The file that says now what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// Of those that are archived, how many each other person fed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, usize>,
}

/// A memory on its way out.
pub(super) struct Leaving {
    pub stimulus: Stimulus,
    pub reason: String,
    /// Whether what replaces it is a memory already.
    pub is_let_in: bool,
}

/// A file and what is new in it.
pub(super) struct Compared<'f> {
    pub file: &'f FileText,
    pub new: Vec<NewPiece>,
    pub count: FedFile,
}

/// Whether what comes from one origin may replace what comes from another: not if it is trusted less.
pub(super) fn may_replace(origin: &Origin, old: &Origin) -> bool {
    // Memories of coding agents and other programs are theirs to put right, whichever way they came.
    let is_theirs = |origin: &Origin| origin.classes().all(|class| PROGRAMS.contains(&class));
    origin.class() == old.class() || origin.distrust() <= old.distrust() || is_theirs(origin) && is_theirs(old)
}

/// Takes leave of a file that is gone: its memories go if somebody said so, or if another file says now what half of them said, which
/// then replaces them. Otherwise they stay: another machine may have the file.
pub(super) fn parted(
    gone: &FedBefore,
    memories: &[&FileMemory],
    origin: &Origin,
    compared: &mut [Compared<'_>],
    leaving: &mut Vec<Leaving>,
    notes: &mut Vec<String>,
    spool: &Spool,
) -> Result<Option<GoneFile>, WorldError> {
    let label = &gone.label;
    let mut going = Vec::new();
    for memory in memories {
        let why = match (memory.now, may_replace(origin, &memory.origin)) {
            (Whereabouts::Pinned, _) => "it is pinned",
            (_, false) => "it is trusted more than this feed",
            _ => {
                going.push(*memory);
                continue;
            }
        };
        notes.push(format!("{} stays, because {why}; {label} is gone", episode_id(&memory.stimulus.id)));
    }
    let enough = if gone.is_said { 1 } else { going.len().div_ceil(2).max(1) };
    // The first of those that have most in common.
    let mut best: Option<(usize, Vec<(usize, usize)>)> = None;
    for (at, Compared { file, new, .. }) in compared.iter().enumerate() {
        let free: Vec<usize> = (0..new.len()).filter(|n| new[*n].supersedes.is_none()).collect();
        let hashes: Vec<TextHash> = free.iter().map(|n| file.pieces[new[*n].piece].hash).collect();
        let text = |at: usize| spool.text(file.pieces[new[free[at]].piece].place);
        let pairs = moved(&hashes, &going, &text)?;
        if pairs.len() >= enough && best.as_ref().is_none_or(|(_, most)| pairs.len() > most.len()) {
            best = Some((at, pairs.into_iter().map(|(n, memory)| (free[n], memory)).collect()));
        }
    }
    if best.is_none() && !gone.is_said {
        let stay = going.len();
        return Ok((stay > 0).then(|| GoneFile {
            file: label.clone(),
            archived: 0,
            stay,
            moved_to: None,
            others: BTreeMap::new(),
        }));
    }
    let moved_to = best.map(|(at, pairs)| {
        let target = &mut compared[at];
        target.count.new -= pairs.len();
        target.count.moved += pairs.len();
        for (new, memory) in pairs {
            target.new[new].supersedes = Some(going[memory].stimulus.id.clone());
        }
        target.file.label.clone()
    });
    let reason = format!("{label} is gone");
    leaving.extend(going.iter().map(|memory| Leaving {
        stimulus: memory.stimulus.clone(),
        reason: reason.clone(),
        is_let_in: false,
    }));
    Ok((!going.is_empty()).then(|| GoneFile {
        file: label.clone(),
        archived: going.len(),
        stay: 0,
        moved_to,
        others: BTreeMap::new(),
    }))
}

/// Notes on memories that a file no longer has and that stay.
pub(super) fn stays(
    label: &str,
    pieces: &[TextHash],
    memories: &[FileMemory],
    trusted: impl Fn(&FileMemory) -> bool,
) -> Vec<String> {
    let live = memories.iter().filter(|memory| memory.now == Whereabouts::Pinned || !trusted(memory));
    let live = live.filter(|memory| memory.now != Whereabouts::Gone);
    let pieces: HashSet<&TextHash> = pieces.iter().collect();
    let gone = live.filter(|memory| !pieces.contains(&TextHash::of(&memory.stimulus.text)));
    let note = |memory: &FileMemory| {
        let id = episode_id(&memory.stimulus.id);
        match (memory.now, trusted(memory)) {
            (Whereabouts::Pinned, _) => Some(format!("{id} stays, because it is pinned; {label} no longer has it")),
            (_, false) => {
                Some(format!("{id} stays, because it is trusted more than this feed; {label} no longer has it"))
            }
            _ => None,
        }
    };
    gone.filter_map(note).collect()
}
