use super::*;
use crate::model::{Origin, Stamp};

fn key() -> FileKey {
    FileKey::of("d.md", "d.md", &Origin::local(), "")
}

fn memory(order: u32, text: &str) -> FileMemory {
    let stimulus = Stimulus {
        id: Stimulus::id_in(key(), None, text, None),
        at: Stamp::from_unix(0),
        text: text.to_owned(),
        source: Some(Stimulus::label_in("d.md", text)),
        session: Some("d.md".to_owned()),
        origin: Origin::local(),
        answers: None,
        value: None,
        supersedes: Vec::new(),
        order,
        code: None,
    };
    FileMemory { stimulus, now: Whereabouts::Live, origin: Origin::local() }
}

fn correction(of: &FileMemory, text: &str) -> FileMemory {
    let mut found = memory(0, text);
    found.stimulus.source = None;
    found.stimulus.supersedes = vec![of.stimulus.id.clone()];
    found
}

fn memories(texts: &[&str]) -> Vec<FileMemory> {
    texts.iter().zip(0..).map(|(text, order)| memory(order, text)).collect()
}

fn held_against(
    texts: &[String],
    days: &[Option<Stamp>],
    memories: &[FileMemory],
    may_go: impl Fn(&FileMemory) -> bool,
) -> Comparison {
    let hashes: Vec<TextHash> = texts.iter().map(|text| TextHash::of(text)).collect();
    let pieces = Pieces { hashes: &hashes, days, text: &|at| Ok(texts[at].clone()) };
    compare(&pieces, "d.md", memories, may_go).unwrap()
}

/// New pieces as `new` or `new < old`, then what goes as `- old`.
fn check(pieces: &[&str], memories: &[FileMemory], expected: &[&str], known: usize) {
    let texts: Vec<String> = pieces.iter().map(|text| (*text).to_owned()).collect();
    let found = held_against(&texts, &[], memories, |memory| memory.now != Whereabouts::Pinned);
    let name = |id: &StimulusId| memories.iter().find(|m| m.stimulus.id == *id).unwrap().stimulus.text.clone();
    let mut lines: Vec<String> = Vec::new();
    for new in &found.new {
        let old = new.supersedes.as_ref().map(|id| format!(" < {}", name(id))).unwrap_or_default();
        let again = if new.again { "again " } else { "" };
        lines.push(format!("{again}{}{old}", texts[new.piece]));
    }
    for gone in &found.retired {
        let by = match &gone.by {
            Some(Successor::Memory(id)) => format!(" by {}", name(id)),
            Some(Successor::Piece(_)) => continue,
            None => String::new(),
        };
        lines.push(format!("- {}{by}", gone.memory.stimulus.text));
    }
    lines.sort();
    let mut expected: Vec<&str> = expected.to_vec();
    expected.sort_unstable();
    assert_eq!((lines.iter().map(String::as_str).collect::<Vec<_>>(), found.known), (expected, known), "{pieces:?}");
}

const TEA: &str = "Anna drinks green tea in Kyoto.";
const COFFEE: &str = "Anna drinks green coffee in Kyoto.";
const DOG: &str = "The dog of Ben is called Biscuit.";
const RAIN: &str = "It rained on the canal all day.";

#[test]
fn pieces_that_are_there_are_known_wherever_they_stand() {
    check(&[TEA, DOG, RAIN], &[], &[TEA, DOG, RAIN], 0);
    check(&[RAIN, TEA, DOG, TEA], &memories(&[TEA, DOG, RAIN]), &[], 3);
}

#[test]
fn an_edited_piece_replaces_the_old_one() {
    let changed = format!("{COFFEE} < {TEA}");
    check(&[COFFEE, DOG], &memories(&[TEA, DOG]), &[&changed], 1);
    check(&[RAIN, DOG, COFFEE], &memories(&[TEA, DOG]), &[&changed, RAIN], 1);
}

#[test]
fn what_stands_at_one_place_is_replaced_if_it_has_something_to_do_with_it() {
    let other = "Ben has no dog now, but a parrot.";
    check(&[TEA, other, RAIN], &memories(&[TEA, DOG, RAIN]), &[&format!("{other} < {DOG}")], 2);
    let nothing = "Prices rose again.";
    check(&[TEA, nothing, RAIN], &memories(&[TEA, DOG, RAIN]), &[nothing, &format!("- {DOG}")], 2);
}

#[test]
fn what_the_file_has_no_more_goes_but_not_what_is_pinned() {
    check(&[TEA], &memories(&[TEA, DOG]), &[&format!("- {DOG}")], 1);
    let mut kept = memories(&[TEA, DOG]);
    kept[1].now = Whereabouts::Pinned;
    check(&[TEA], &kept, &[], 1);
}

#[test]
fn what_is_gone_and_in_the_file_again_is_new_again() {
    let mut old = memories(&[TEA, COFFEE]);
    old[0].now = Whereabouts::Gone;
    check(&[TEA], &old, &[&format!("again {TEA} < {COFFEE}")], 0);
}

#[test]
fn what_a_killed_feed_left_is_found() {
    let mut old = memories(&[TEA, DOG]);
    old.push(correction(&old[0], COFFEE));
    old[2].stimulus.source = Some(Stimulus::label_in("d.md", COFFEE));
    old[2].now = Whereabouts::Waits;
    check(&[COFFEE, DOG], &old, &[&format!("- {TEA} by {COFFEE}")], 2);
}

#[test]
fn a_correction_stands_for_what_it_corrects_until_the_file_changes_there() {
    let mut old = memories(&[TEA, DOG]);
    old.push(correction(&old[0], "Anna drinks black tea in Kyoto."));
    old[0].now = Whereabouts::Gone;
    check(&[TEA, DOG], &old, &[], 2);
    check(&[COFFEE, DOG], &old, &[&format!("{COFFEE} < Anna drinks black tea in Kyoto.")], 1);
    check(&[DOG], &old, &["- Anna drinks black tea in Kyoto."], 1);
    check(&["Anna drinks black tea in Kyoto.", DOG], &old, &[], 2);
}

#[test]
fn one_text_is_one_memory() {
    let mut old = memories(&[TEA]);
    old.push(memory(0, TEA));
    old[1].stimulus.id = Stimulus::id_in(key(), None, TEA, Some(7));
    let found = held_against(&[TEA.to_owned()], &[], &old, |_| true);
    assert_eq!((found.known, found.new.len(), found.retired.len()), (1, 0, 1));
}
