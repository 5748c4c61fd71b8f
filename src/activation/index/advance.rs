//! From a base and what changed to the rows that lie over it.

use super::assemble::{assemble, flipped};
use super::beneath::Beneath;
use super::part::{Part, Stems};
use super::texts::Texts;
use crate::activation::reading::{Role, Row, WORD_SHIFT};
use crate::activation::sections::Writer;

/// Writes the arrays of all rows that differ from the base: those of `over`, what lay over it so far, and `changed`. Where that makes a name of something or no name any more, also the base's memories that hold it.
///
/// Costs what differs, and the postings of the rarest word of each name that came or went.
pub(super) fn advance<'a>(base: Texts<'a>, over: Option<Texts<'a>>, changed: Part<'a>, writer: &mut Writer) {
    let mut dirty: Vec<u32> = changed.rows.iter().map(|(node, _)| *node).collect();
    dirty.sort_unstable();
    let mut parts = vec![changed];
    if let Some(over) = over {
        let kept = (0..over.len()).filter(|row| dirty.binary_search(&over.node(*row)).is_err());
        let rows: Vec<(u32, Row<'_>)> = kept.map(|row| (over.node(row), over.row(row))).collect();
        dirty.extend(rows.iter().map(|(node, _)| node));
        dirty.sort_unstable();
        parts.push(Part { stems: Stems::Lexicon(over.stems), rows });
    }
    let beneath = Beneath::of(base, dirty.clone());

    let mut held: Vec<u32> = Vec::new();
    for (key, now) in flipped(&parts, &beneath) {
        if now {
            held.extend(memories_with(base, &key));
        } else if let Some(key) = base.keys.find(&key) {
            held.extend(base.key_memories(key));
        }
    }
    held.sort_unstable();
    held.dedup();
    held.retain(|node| dirty.binary_search(node).is_err());
    if held.is_empty() {
        return assemble(&parts, &beneath, None, writer);
    }
    let rows = held.iter().filter_map(|node| Some((*node, base.row(base.find(*node)?)))).collect();
    parts.push(Part { stems: Stems::Lexicon(base.stems), rows });
    dirty.extend(held);
    dirty.sort_unstable();
    assemble(&parts, &Beneath::of(base, dirty), None, writer);
}

/// The memories that have the words of a key one after the other.
fn memories_with(base: Texts<'_>, key: &str) -> Vec<u32> {
    let stems: Option<Vec<usize>> = key.split(' ').map(|stem| base.stems.find(stem)).collect();
    let Some(stems) = stems else { return Vec::new() };
    let Some(rarest) = stems.iter().min_by_key(|stem| base.postings(**stem).0.len()) else { return Vec::new() };
    let holds = |node: &u32| {
        let row = base.find(*node).filter(|row| base.role(*row) == Role::Memory);
        row.is_some_and(|row| {
            let same =
                |window: &[u32]| window.iter().zip(&stems).all(|(word, stem)| (word >> WORD_SHIFT) as usize == *stem);
            base.words(row).windows(stems.len()).any(same)
        })
    };
    base.postings(*rarest).0.iter().copied().filter(holds).collect()
}
