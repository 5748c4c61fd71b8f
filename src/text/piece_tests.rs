use proptest::prelude::*;

use super::*;

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn blank_lines_separate_paragraphs() {
    let text = "\u{feff}One went.\r\nline two\r\n \r\n\r\n\tThree\u{c}four.\n\n\n";
    assert_eq!(pieces(text), ["One went.\nline two", "Three four."]);
    assert!(pieces("").is_empty() && pieces(" \n\n").is_empty() && pieces("---\n\n***\n").is_empty());
}

#[test]
fn a_heading_belongs_to_what_follows_it() {
    for (text, expected) in [
        ("# Diary\n\n## 3 May\n\nIt rained.\n\nWe read.\n", vec!["# Diary\n\n## 3 May\n\nIt rained.", "We read."]),
        ("## 3 May\nIt rained.\n## 4 May\nSun.\n", vec!["## 3 May\n\nIt rained.", "## 4 May\n\nSun."]),
        ("Diary\n=====\nIt rained.\n", vec!["Diary\n=====\n\nIt rained."]),
        ("NAME\n\n    feed - remembers\n    a text\n", vec!["NAME\n\nfeed - remembers\n    a text"]),
        ("A walk\n\nThe heron stood\nin the reeds.\n", vec!["A walk\n\nThe heron stood\nin the reeds."]),
        ("日記\n\n雨が降った。\n\n家にいた。\n", vec!["日記\n\n雨が降った。", "家にいた。"]),
        // Never alone, at the end either, unless nothing else is there.
        ("It rained.\n\n## 4 May\n", vec!["It rained.\n\n## 4 May"]),
        ("# Nothing yet\n", vec!["# Nothing yet"]),
    ] {
        assert_eq!(pieces(text), expected, "{text}");
    }
}

#[test]
fn a_title_is_underlined_with_any_sign_of_its_length() {
    for sign in ["=", "-", "~", "^", "\"", "'", "*", "+", "#", "`"] {
        let line = |n: usize| sign.repeat(n);
        let text = format!("Harbour FAQ\n{}\n\nThe crane is yellow.\n\nThe gate is green.\n", line(11));
        let first = format!("Harbour FAQ\n{}\n\nThe crane is yellow.", line(11));
        assert_eq!(pieces(&text), [first.as_str(), "The gate is green."], "{sign}");
        let overlined = format!("{}\n{text}", line(11));
        let found = pieces(&overlined);
        assert!(found.len() == 2 && found[0].ends_with("yellow.") && found[1] == "The gate is green.", "{found:?}");
    }
    let release = "Harbour FAQ\nRelease 3 May\n~~~~~~~~~~~~~\n\nThe crane is yellow.\n\nThe gate is green.\n";
    assert_eq!(pieces(release).len(), 2);
    // A fence is shorter than what introduces it, or has a word behind it.
    for fence in ["~~~", "```", "~~~~", "~~~ sh"] {
        let code = format!("Run this\n{fence}\ncd x\n\nls\n{}\n", fence.trim_end_matches(" sh"));
        assert_eq!(pieces(&code).len(), 1, "{code}");
    }
    assert_eq!(pieces("~~~\nls -la\n~~~\n\nIt rained.\n"), ["~~~\nls -la\n~~~", "It rained."]);
}

#[test]
fn lines_that_say_something_are_no_headings() {
    let facts = "Anna likes tea\n\nBen likes coffee\n\nClaire likes cocoa\n";
    assert_eq!(pieces(facts), ["Anna likes tea", "Ben likes coffee", "Claire likes cocoa"]);
    assert_eq!(pieces("Anna likes tea\n\nBen likes coffee\n").len(), 2);
    assert_eq!(pieces("Anna: the tea is here\n\nBen: good.\n").len(), 2, "turns");
    assert_eq!(pieces("Milk\n\nEggs\n\nBread\n\nTea\n"), ["Milk\n\nEggs\n\nBread\n\nTea"], "too little each");
}

#[test]
fn lists_and_code_stay_with_what_introduces_them() {
    let readme = "Install it:\n\n```sh\ncargo install brain\n\nbrain init\n```\n\nThen buy:\n\n- milk\n\n- eggs\n\nThat is all.\n";
    let expected =
        ["Install it:\n\n```sh\ncargo install brain\n\nbrain init\n```", "Then buy:\n\n- milk\n- eggs", "That is all."];
    assert_eq!(pieces(readme), expected);
    assert_eq!(pieces("Run this.\n\n```\n# no heading\n```\n"), ["Run this.\n\n```\n# no heading\n```"]);
    let long = (0..30).map(|n| format!("- item number {n} of a list that goes on\n\n")).collect::<String>();
    assert!(pieces(&long).len() > 1 && pieces(&long).iter().all(|p| p.len() <= limits::PIECE_BYTES));
}

#[test]
fn dated_lines_are_entries() {
    let diary = "2026-01-03 It rained.\nAll day.\n2026-01-04 The sun was out.\n";
    assert_eq!(pieces(diary), ["2026-01-03 It rained.\nAll day.", "2026-01-04 The sun was out."]);
    assert_eq!(pieces("It was on\n2026-01-03 that it rained.\n").len(), 1);
}

#[test]
fn one_text_is_whole_up_to_the_bound_and_packed_beyond() {
    let line = "It rained on the canal all day.";
    let page = |bytes: usize| {
        let mut text = format!("{line}\n\n").repeat(bytes / (line.len() + 2) + 1);
        text.truncate(bytes);
        text
    };
    let whole = page(limits::STIMULUS_BYTES - 1) + "x";
    assert_eq!(parts(&whole), [whole.as_str()]);
    let more = parts(&(whole + "y"));
    assert!((5..=8).contains(&more.len()), "{} parts", more.len());
    assert!(more.iter().all(|part| part.len() <= limits::PIECE_BYTES && part.len() > 100));
    assert!(parts(" \n").is_empty());
    assert_eq!(parts("a\u{7}b"), ["a b"]);
}

#[test]
fn long_texts_split_at_sentences_and_lose_nothing() {
    let english = (0..400).map(|i| format!("This is sentence number {i}. ")).collect::<String>();
    let japanese = "猫がお茶を飲む。".repeat(400);
    let spaced = "word ".repeat(3000);
    let mixed = format!("Short. {} End.", "x".repeat(9000));
    let log = (0..400).map(|i| format!("line {i} of a log\n  and what belongs to it\n")).collect::<String>();
    for text in [&english, &japanese, &spaced, &mixed, &log, &"猫".repeat(3000), &"e\u{301}".repeat(4000)] {
        for list in [pieces(text), parts(text)] {
            assert!(list.len() > 1);
            assert!(list.iter().all(|p| p.len() <= limits::STIMULUS_BYTES && !p.trim().is_empty()));
            assert_eq!(squeeze(&list.concat()), squeeze(text));
        }
    }
    assert!(pieces(&english).iter().all(|p| p.ends_with('.') && p.len() <= limits::PIECE_BYTES + REMAINDER));
    assert!(pieces(&japanese).iter().all(|p| p.ends_with('。')));
    assert!(pieces(&log).iter().all(|p| p.starts_with("line ") && p.ends_with("belongs to it")));
}

#[test]
fn an_edit_changes_the_pieces_around_it() {
    let page: Vec<String> = (0..20).map(|n| format!("## Day {n}\n\nOn day {n} it rained.\n\n")).collect();
    let before = pieces(&page.concat());
    let mut edited = page.clone();
    edited.insert(0, "A word before all of it.\n\n".to_owned());
    edited[9] = "## Day 8\n\nThe sun was out.\n\n".to_owned();
    let after = pieces(&edited.concat());
    assert_eq!(after.iter().filter(|piece| !before.contains(piece)).count(), 2);
}

proptest! {
    #[test]
    fn pieces_hold_the_whole_text(lines in proptest::collection::vec("(|# h|- i|one two|It is\\.|```|x:|猫。| y){0,3}", 0..40)) {
        let text = lines.join("\n");
        for list in [pieces(&text), parts(&text)] {
            prop_assert_eq!(squeeze(&list.concat()), squeeze(&text));
            prop_assert!(list.iter().all(|piece| !piece.is_empty() && piece.len() <= limits::STIMULUS_BYTES && piece.trim() == piece));
        }
    }

    #[test]
    fn a_page_in_parts_makes_the_pieces_of_the_whole(
        lines in proptest::collection::vec("(|\u{feff}|# h|- i|one two|It is\\.|```|x:|猫。| y|---|Tea|2026-01-02 a|\u{7}|\r|a{700}|é{3000}){0,3}", 0..40),
        end in "(\n|\r\n|\n\n|\r)",
        sizes in proptest::collection::vec(1..80_usize, 1..40),
    ) {
        let text = lines.join(&end);
        let (mut page, mut found, mut rest) = (Splitter::default(), Vec::new(), text.as_str());
        for size in sizes.iter().cycle() {
            let mut at = rest.len().min(*size);
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            page.add(&rest[..at]);
            found.extend(page.take());
            rest = &rest[at..];
            if rest.is_empty() {
                break;
            }
        }
        found.extend(page.finish());
        prop_assert_eq!(found, pieces(&text));
    }
}
