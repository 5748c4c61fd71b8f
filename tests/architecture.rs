//! The rules of the house, read off the sources: who may import whom, what pure rooms may not know, and how files look.
//!
//! `docs/architecture.md` explains them. The checker is a function from sources to violations, so that the last test can
//! show that it finds each kind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module may import only what stands before it.
const LAYERS: [&str; 28] = [
    "limits",
    "model",
    "text",
    "citation",
    "client",
    "moving",
    "integrity",
    "council",
    "deliberation",
    "delta",
    "merge",
    "activation",
    "chemistry",
    "consolidation",
    "trigger",
    "vitals",
    "picture",
    "review",
    "audit",
    "wisdom",
    "sealed",
    "cognition",
    "world",
    "store",
    "llm",
    "forge",
    "cycle",
    "brain",
];
/// Front doors stand side by side, and know `brain` and the nouns.
const FRONT_DOORS: [&str; 3] = ["cli", "http", "mcp"];
const FRONT_DOORS_MAY: [&str; 3] = ["brain", "model", "limits"];
/// What stands before this one is pure.
const FIRST_IMPURE: &str = "world";
/// Beginnings of paths that no pure room mentions.
const IMPURE_PATHS: [&[&str]; 6] =
    [&["git2"], &["libgit2_sys"], &["std", "fs"], &["std", "env"], &["std", "net"], &["std", "process"]];
/// Words that stand in no path of a pure room.
const IMPURE_WORDS: [&str; 4] = ["SystemTime", "Instant", "tokio", "getrandom"];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "manager", "misc"];
const MOST_LINES: usize = 600;
const MOST_LINES_OF_MAIN: usize = 39;
/// Files that may be longer, and why.
const LONG_FILES: [(&str, &str); 0] = [];

/// What belongs to the story, and the files (or folders, with `/`) that may name it: where it is made, sleep's one call, and
/// what shows or checks it. Nothing that learns, wakes or decides is among them.
const STORY: [(&str, &[&str]); 8] = [
    (
        "serotonin",
        &[
            "src/model/settings.rs",
            "src/chemistry/mod.rs",
            "src/chemistry/serotonin/",
            STAGE,
            "src/brain/story.rs",
            EXAMINE,
            AUDIT,
            SCHEMA,
        ],
    ),
    ("NARRATIVE", &["src/model/layout.rs", STAGE, AUDIT]),
    ("narrative", &["src/cycle/mod.rs", STAGE]),
    // An agent of rules tells somebody else, and from its room the cycle is out of reach.
    ("tell", &[STAGE, "src/cycle/sleep/", "src/cognition/"]),
    ("tell_by", &[STAGE, "src/brain/story.rs"]),
    ("chapters", &[STAGE, "src/brain/story.rs", "src/cli/story.rs"]),
    (
        "chapter",
        &[
            "src/model/layout.rs",
            "src/chemistry/serotonin/",
            STAGE,
            "src/cycle/sleep/",
            "src/brain/story.rs",
            EXAMINE,
            "src/cli/story.rs",
        ],
    ),
    (
        "Chapter",
        &["src/model/layout.rs", "src/chemistry/serotonin/", STAGE, "src/brain/", "src/cycle/sleep/", EXAMINE, AUDIT],
    ),
];
const STAGE: &str = "src/cycle/narrative.rs";
const EXAMINE: &str = "src/cycle/file.rs";
const AUDIT: &str = "src/cycle/audit/story.rs";
const SCHEMA: &str = "src/brain/schema.rs";
/// Files that may spell the folder of the narrative, be it in a comment.
const STORY_FOLDER: [&str; 5] =
    ["src/model/layout.rs", "src/chemistry/serotonin/", STAGE, SCHEMA, "src/cycle/commit.rs"];

#[derive(Clone)]
struct Source {
    /// From the project's folder, with `/`.
    path: String,
    text: String,
}

#[test]
fn the_sources_obey() {
    let found = violations(&sources("src"));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn no_room_has_a_circle_inside() {
    let found = circles(&sources("src"));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn no_name_is_empty_in_the_tests_either() {
    let found: Vec<String> = sources("tests").iter().filter_map(|s| empty_name(&s.path)).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn exceptions_are_still_needed() {
    for (path, _) in LONG_FILES {
        let text = read(&root().join(path));
        assert!(text.lines().count() > MOST_LINES, "{path} is short enough by now; take it off the list");
    }
}

#[test]
fn the_table_of_the_library_has_every_room_in_order() {
    let text = read(&root().join("src/lib.rs"));
    let cell = |line: &str| Some(line.strip_prefix("//! | [`")?.split('`').next()?.to_owned());
    let table: Vec<String> = text.lines().filter_map(cell).collect();
    let order: Vec<&str> =
        LAYERS.iter().chain(&FRONT_DOORS).copied().filter(|m| table.iter().any(|t| t == m)).collect();
    assert_eq!(table, order, "the table's rows are not in the order of the layers");
    let declared = |line: &str| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    let modules: BTreeSet<String> = text.lines().filter_map(declared).collect();
    assert_eq!(modules, table.iter().cloned().collect(), "rooms that are declared, against rooms of the table");
    let page = read(&root().join("docs/architecture.md"));
    let row = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
    let rooms: Vec<String> = page.lines().filter_map(row).filter(|room| !room.contains("::")).collect();
    assert_eq!(rooms.get(..table.len()), Some(&table[..]), "docs/architecture.md has other rooms");
}

/// A dependency of the tests switches this on for every test, and the program that people build has what the manifest
/// says: no test of behaviour sees the difference.
#[test]
fn stored_numbers_are_read_exactly_in_the_program_too() {
    let manifest = read(&root().join("Cargo.toml"));
    let line = manifest.lines().find(|line| line.starts_with("serde_json ")).expect("serde_json is a dependency");
    assert!(line.contains("\"float_roundtrip\""), "a record that is read and written again is another one: {line}");
}

/// Fuzzing builds some rooms alone, as that is quick: with what the product builds them with.
#[test]
fn what_is_fuzzed_is_built_as_the_product_is() {
    let lines = |path: &str| -> Vec<String> {
        let text = read(&root().join(path));
        text.lines()
            .skip_while(|l| *l != "[dependencies]")
            .skip(1)
            .take_while(|l| !l.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (product, rooms) = (lines("Cargo.toml"), lines("fuzz/rooms/Cargo.toml"));
    assert!(rooms.len() > 10, "{rooms:?}");
    let others: Vec<_> = rooms.iter().filter(|line| !product.contains(line)).collect();
    assert!(others.is_empty(), "Cargo.toml has other lines for {others:?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn sources(folder: &str) -> Vec<Source> {
    let files = walkdir::WalkDir::new(root().join(folder)).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|e| e == "rs"));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    files.map(|entry| Source { path: name(entry.path()), text: read(entry.path()) }).collect()
}

/// Every breach of a rule, one line each.
fn violations(sources: &[Source]) -> Vec<String> {
    let tests: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
    let mut found = Vec::new();
    for source in sources {
        let path = &source.path;
        found.extend(empty_name(path));
        found.extend(too_long(source));
        let is_test = tests.contains(path);
        if !is_test && !source.text.starts_with("//!") {
            found.push(format!("{path}: does not open with `//!`: what it owns, what it must not know"));
        }
        let code = without_comments_and_texts(&source.text);
        let inside = module_of(path);
        let room = inside.first().map(String::as_str);
        for (line, target) in imports(&code, &inside, is_test) {
            if let Err(why) = may_import(room, &target) {
                found.push(format!("{path}:{line}: {why}"));
            }
        }
        if !is_test {
            found.extend(story(source, &without_tests(&code)));
        }
        if !is_test && room.is_some_and(is_pure) {
            let code = without_tests(&code);
            found.extend(impurities(&code).map(|(line, what)| format!("{path}:{line}: a pure room mentions {what}")));
        }
    }
    found
}

fn empty_name(path: &str) -> Option<String> {
    let part = path.split('/').map(|part| part.trim_end_matches(".rs")).find(|part| EMPTY_NAMES.contains(part))?;
    Some(format!("{path}: {part:?} says nothing about what is inside"))
}

fn too_long(source: &Source) -> Option<String> {
    let path = source.path.as_str();
    let most = match path {
        "src/main.rs" => MOST_LINES_OF_MAIN,
        _ if LONG_FILES.iter().any(|(long, _)| *long == path) => usize::MAX,
        _ => MOST_LINES,
    };
    let lines = source.text.lines().count();
    (lines > most).then(|| format!("{path}: {lines} lines, more than {most}"))
}

/// Where code that has nothing to do with the story names it.
fn story(source: &Source, code: &str) -> Vec<String> {
    let path = source.path.as_str();
    let among = |places: &[&str]| {
        places.iter().any(|place| if place.ends_with('/') { path.starts_with(place) } else { path == *place })
    };
    let mut found = Vec::new();
    for (line, parts) in paths(code) {
        let named = STORY.iter().find(|(word, places)| parts.iter().any(|part| part == word) && !among(places));
        if let Some((word, _)) = named {
            found.push(format!("{path}:{line}: `{word}` is the story's, and nothing that learns may know of it"));
        }
    }
    if source.text.contains("network/narrative") && !among(&STORY_FOLDER) {
        found.push(format!("{path}: names the folder of the story, and nothing that learns may read it"));
    }
    found
}

fn is_pure(room: &str) -> bool {
    LAYERS.iter().take_while(|layer| **layer != FIRST_IMPURE).any(|layer| *layer == room)
}

/// May code of that room (`None`: lib.rs and main.rs) name that module?
fn may_import(room: Option<&str>, target: &str) -> Result<(), String> {
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let Some(room) = room else { return Ok(()) };
    if room == target {
        return Ok(());
    }
    let allowed = match (place(room), place(target)) {
        _ if !LAYERS.contains(&target) && !FRONT_DOORS.contains(&target) => {
            return Err(format!("`{target}` is no room of this house; give it a place in LAYERS"));
        }
        (None, _) if FRONT_DOORS.contains(&room) => FRONT_DOORS_MAY.contains(&target),
        (None, _) => return Err(format!("`{room}` is no room of this house; give it a place in LAYERS")),
        (Some(here), Some(there)) => there < here,
        (Some(_), None) => false,
    };
    if allowed { Ok(()) } else { Err(format!("`{room}` imports `{target}`, which does not stand above it")) }
}

/// `src/a/b.rs` is `a::b`, `src/a/mod.rs` is `a`, `src/lib.rs` is the root.
fn module_of(path: &str) -> Vec<String> {
    let stem = path.trim_start_matches("src/").trim_end_matches(".rs");
    let parts = stem.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main"));
    parts.map(str::to_owned).collect()
}

/// The modules of the crate that code names, with the line: `crate::x` anywhere, and `super` chains that reach the root.
/// Inside tests, where modules nest, `super` is not followed.
fn imports(code: &str, inside: &[String], is_test: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, path) in paths(code) {
        if path[0] == "crate" && path.len() > 1 {
            found.push((line, path[1].clone()));
        }
    }
    let plain = if is_test { String::new() } else { without_tests(code) };
    for (line, path) in paths(&plain) {
        let ups = path.iter().take_while(|part| *part == "super").count();
        if ups > 0 && ups >= inside.len() && path.get(ups).is_some_and(|part| part != "*") {
            found.push((line, path[ups].clone()));
        }
    }
    found
}

/// The parts of each room that name each other in a circle, one line a circle. A part is a file or folder of the room; its `mod.rs` and what
/// is only called through a type's methods are left out.
fn circles(sources: &[Source]) -> Vec<String> {
    let tests: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
    let inside: Vec<(Vec<String>, &Source)> = sources.iter().map(|source| (module_of(&source.path), source)).collect();
    let parts: BTreeSet<&[String]> = inside.iter().filter_map(|(module, _)| module.get(..2)).collect();
    let mut arrows: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    for (module, source) in &inside {
        let Some(here) = module.get(..2).filter(|_| !tests.contains(&source.path)) else { continue };
        for (_, path) in paths(&without_tests(&without_comments_and_texts(&source.text))) {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let whole: Vec<String> = match path[0].as_str() {
                "crate" => path[1..].to_vec(),
                "super" if ups <= module.len() => [&module[..module.len() - ups], &path[ups..]].concat(),
                _ => continue,
            };
            let there = whole.get(..2).and_then(|part| parts.get(part));
            arrows.entry(here).or_default().extend(there.filter(|there| there[0] == here[0] && **there != here));
        }
    }
    // What nothing but circles holds: whoever names none of the rest is taken away, until nobody is.
    let mut left: BTreeSet<&[String]> = arrows.keys().copied().collect();
    loop {
        let names = |part: &[String], other: &[String]| arrows.get(part).is_some_and(|to| to.contains(other));
        let free = |part: &&[String]| {
            !left.iter().any(|other| names(part, other)) || !left.iter().any(|other| names(other, part))
        };
        let gone: Vec<&[String]> = left.iter().copied().filter(free).collect();
        if gone.is_empty() {
            break;
        }
        left.retain(|part| !gone.contains(part));
    }
    let line = |part: &&[String]| {
        let to = arrows[*part].iter().filter(|there| left.contains(*there)).map(|there| there.join("::"));
        format!("{} names {}", part.join("::"), to.collect::<Vec<_>>().join(", "))
    };
    left.iter().map(line).collect()
}

/// What of the world a pure room mentions, with the line.
fn impurities(code: &str) -> impl Iterator<Item = (usize, String)> {
    paths(code).into_iter().filter_map(|(line, path)| {
        let begins = |start: &&[&str]| path.len() >= start.len() && path.iter().zip(start.iter()).all(|(a, b)| a == b);
        let begins = IMPURE_PATHS.iter().any(begins);
        let word = path.iter().any(|part| IMPURE_WORDS.contains(&part.as_str()));
        (begins || word).then(|| (line, format!("`{}`", path.join("::"))))
    })
}

/// Files that are compiled for tests only: `#[cfg(test)] mod x;`, with its `#[path]` if it has one.
fn test_files(source: &Source) -> Vec<String> {
    let code = without_comments_and_texts(&source.text);
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = name.trim_end_matches(".rs");
    let own = if matches!(stem, "mod" | "lib" | "main") { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut files = Vec::new();
    for (start, end) in test_items(&code) {
        let item = code[start..end].trim_end();
        let declared = item.strip_suffix(';').and_then(|item| item.rsplit_once("mod "));
        let Some((before, module)) = declared else { continue };
        match before.contains("#[path") {
            true => {
                let quoted = source.text[start..end].split('"').nth(1).unwrap_or_default();
                files.push(format!("{folder}/{quoted}"));
            }
            false => files.extend([format!("{own}/{module}.rs"), format!("{own}/{module}/mod.rs")]),
        }
    }
    files
}

/// The same code with the items under `#[cfg(test)]` blanked out.
fn without_tests(code: &str) -> String {
    let mut bytes = code.as_bytes().to_vec();
    for (start, end) in test_items(code) {
        blank(&mut bytes, start, end);
    }
    String::from_utf8(bytes).expect("invariant: whole characters were blanked")
}

/// From each `#[cfg(test)]` to the end of its item: the closing brace, or the semicolon.
fn test_items(code: &str) -> Vec<(usize, usize)> {
    const MARK: &str = "#[cfg(test)]";
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let start = from + found;
        let (mut depth, mut end) = (0_usize, code.len());
        for (at, c) in code[start + MARK.len()..].char_indices() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(c, '}' | ';') {
                end = start + MARK.len() + at + 1;
                break;
            }
        }
        items.push((start, end));
        from = end;
    }
    items
}

/// Every path of the code (`a::b::c`), groups in braces spelt out, with its line. `a::*` ends in `*`.
fn paths(code: &str) -> Vec<(usize, Vec<String>)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = if is_word(&tokens[at].1) { path(&tokens, at, &[], &mut found) } else { at + 1 };
    }
    found
}

/// Reads one path that begins at `at` and goes on from `before`; returns where it ends.
fn path(tokens: &[(usize, String)], mut at: usize, before: &[String], found: &mut Vec<(usize, Vec<String>)>) -> usize {
    let mut parts = before.to_vec();
    let line = tokens[at].0;
    loop {
        parts.push(tokens[at].1.clone());
        at += 1;
        let is = |offset: usize, text: &str| tokens.get(at + offset).is_some_and(|t| t.1 == text);
        if is(0, "::") && is(1, "{") {
            at += 2;
            while at < tokens.len() && tokens[at].1 != "}" {
                at = if is_word(&tokens[at].1) { path(tokens, at, &parts, found) } else { at + 1 };
            }
            return at + 1;
        }
        let goes_on = is(0, "::") && tokens.get(at + 1).is_some_and(|t| is_word(&t.1) || t.1 == "*");
        if !goes_on {
            found.push((line, parts));
            return at;
        }
        at += 1;
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single signs, each with its line.
fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens: Vec<(usize, String)> = Vec::new();
    let mut line = 1;
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' {
            line += 1;
        } else if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(more) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(more);
            }
            tokens.push((line, word));
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push((line, "::".to_owned()));
        } else if !c.is_whitespace() {
            tokens.push((line, c.to_string()));
        }
    }
    tokens
}

/// The same text with comments, texts and characters blanked out; every byte keeps its place.
fn without_comments_and_texts(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        let word_before = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => block_comment(rest),
            [b'"', ..] => quoted(rest),
            [b'r', b'"' | b'#', ..] | [b'b', b'r', b'"' | b'#', ..] if !word_before => raw_text(rest),
            [b'\'', ..] => character(&text[at..]),
            _ => 0,
        };
        blank(&mut bytes, at, at + length);
        at += length.max(1);
    }
    String::from_utf8(bytes).expect("invariant: whole characters were blanked")
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    bytes[start..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// `r"…"`, `r#"…"#`, `br"…"`; 0 for a raw word such as `r#type`.
fn raw_text(rest: &[u8]) -> usize {
    let open = rest.iter().take_while(|b| matches!(b, b'b' | b'r')).count();
    let marks = rest[open..].iter().take_while(|b| **b == b'#').count();
    if rest.get(open + marks) != Some(&b'"') {
        return 0;
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', marks)).collect();
    let body = open + marks + 1;
    rest[body..].windows(end.len()).position(|w| w == end).map_or(rest.len(), |p| body + p + end.len())
}

/// `'x'`, `'\n'`, `'\u{1F600}'`; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => rest[3..].find('\'').map_or(0, |p| 3 + p + 1),
        (Some(_), Some((close, '\''))) => close + 1,
        _ => 0,
    }
}

#[test]
fn the_checker_finds_every_kind_of_breach() {
    let cases = [
        ("src/delta/a.rs", "//! x\nuse crate::store::Store;\n", Some("`delta` imports `store`")),
        ("src/delta/a.rs", "//! x\nuse crate::{model::Stamp, limits};\n", None),
        ("src/delta/a.rs", "//! x\nuse crate::{model::Stamp, cycle::{Cycle}};\n", Some(":2: `delta` imports `cycle`")),
        ("src/delta/a.rs", "//! x\nfn f() -> crate::brain::X { todo!() }\n", Some("`delta` imports `brain`")),
        ("src/delta/a.rs", "//! x\nuse super::super::cycle::Cycle;\n", Some("`delta` imports `cycle`")),
        ("src/delta/a.rs", "//! x\nuse super::Document;\n", None),
        ("src/delta/a.rs", "//! x\n// use crate::store::X;\nconst A: &str = \"crate::store\";\n", None),
        ("src/delta/a.rs", "//! x\nconst A: &str = r#\"\" crate::store\"#; const B: char = '\"';\n", None),
        (
            "src/delta/a.rs",
            "//! x\n#[cfg(test)]\nmod tests { use crate::store::X; }\n",
            Some("`delta` imports `store`"),
        ),
        ("src/delta/a.rs", "//! x\nuse crate::new_room::X;\n", Some("`new_room` is no room")),
        ("src/new_room.rs", "//! x\nuse crate::model::X;\n", Some("`new_room` is no room")),
        ("src/cli/a.rs", "//! x\nuse crate::brain::Brain;\nuse crate::model::Stamp;\nuse super::b;\n", None),
        ("src/cli/a.rs", "//! x\nuse crate::cycle::Cycle;\n", Some("`cli` imports `cycle`")),
        ("src/cli/a.rs", "//! x\nuse crate::http::Server;\n", Some("`cli` imports `http`")),
        ("src/model/a.rs", "//! x\nuse std::fs;\n", Some("a pure room mentions `std::fs`")),
        ("src/model/a.rs", "//! x\nuse std::{fmt, env::{self, var}};\n", Some("mentions `std::env::var`")),
        (
            "src/model/a.rs",
            "//! x\nfn f<'a>(x: &'a str) { let c = 'x'; std::process::exit(1) }\n",
            Some("std::process"),
        ),
        ("src/merge/a.rs", "//! x\nfn f() { git2::Repository::open(\".\"); }\n", Some("mentions `git2")),
        ("src/trigger/a.rs", "//! x\nuse std::time::Instant;\n", Some("mentions `std::time::Instant`")),
        ("src/text/a.rs", "//! x\nfn f() { getrandom::fill(&mut []); }\n", Some("mentions `getrandom::fill`")),
        ("src/model/a.rs", "//! x\nfn f() {}\n#[cfg(test)]\nmod tests { use std::fs; fn g() {} }\n", None),
        ("src/model/a.rs", "//! x\n#[cfg(test)]\nmod tests;\nuse std::fs;\n", Some(":4: a pure room mentions")),
        ("src/world/a.rs", "//! x\nuse std::time::SystemTime;\n", None),
        (
            "src/cycle/wake.rs",
            "//! x\nuse crate::chemistry::serotonin::Feeling;\n",
            Some(":2: `serotonin` is the story's"),
        ),
        (
            "src/cycle/run.rs",
            "//! x\nuse crate::chemistry;\nuse chemistry::{serotonin as s};\n",
            Some(":3: `serotonin`"),
        ),
        ("src/cycle/run.rs", "//! x\nfn f(s: Settings) -> f64 { s.serotonin.bias }\n", Some("`serotonin`")),
        ("src/cycle/run.rs", "//! x\nfn f(c: Cycle) { c.tell(1); }\n", Some("`tell`")),
        ("src/cycle/run.rs", "//! x\nfn f() { read(layout::NARRATIVE); }\n", Some("`NARRATIVE`")),
        ("src/cycle/run.rs", "//! x\nconst A: &str = \"network/narrative/2026\";\n", Some("names the folder")),
        ("src/chemistry/dopamine/a.rs", "//! x\nuse super::super::serotonin::Feeling;\n", Some("`serotonin`")),
        ("src/cycle/sleep/mod.rs", "//! x\nfn f(c: Cycle) { c.tell(1); layout::chapter(r); }\n", None),
        ("src/model/a.rs", "use super::ids;\n", Some("does not open with")),
        ("src/model/utils.rs", "//! x\n", Some("says nothing")),
        ("src/common/a.rs", "//! x\n", Some("says nothing")),
    ];
    for (path, text, expected) in cases {
        let found = violations(&[Source { path: path.into(), text: text.into() }]);
        match expected {
            None => assert!(found.is_empty(), "{path}: {text}\n{found:?}"),
            Some(part) => assert!(found.iter().any(|f| f.contains(part)), "{path}: {text}\n{found:?}"),
        }
    }
    let long = |path: &str, lines: usize| Source { path: path.into(), text: "//! x\n".repeat(lines) };
    assert_eq!(violations(&[long("src/main.rs", 39), long("src/model/a.rs", 600)]), Vec::<String>::new());
    assert_eq!(violations(&[long("src/main.rs", 40), long("src/model/a.rs", 601)]).len(), 2);
}

#[test]
fn files_of_tests_may_read_files() {
    let parent = "//! x\n#[cfg(test)]\nmod sandbox;\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nmod plain;\n";
    let make = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    let impure = "use std::fs;\n";
    let files = [
        make("src/model/mod.rs", parent),
        make("src/model/sandbox.rs", impure),
        make("src/model/a_tests.rs", impure),
        make("src/model/plain.rs", impure),
    ];
    let found = violations(&files);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|f| f.starts_with("src/model/plain.rs")), "{found:?}");
}

#[test]
fn the_checker_finds_a_circle_and_no_other() {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let mut all = vec![
        source("src/cycle/mod.rs", "mod a; mod b; mod c; use a::A;"),
        source("src/cycle/a.rs", "use super::b::B; use super::Cycle;"),
        source("src/cycle/b/mod.rs", "use super::c::C;"),
        source("src/cycle/b/deep.rs", "use super::super::c::C; use super::other::O;"),
        source("src/cycle/c.rs", "// super::a\n#[cfg(test)]\nmod tests { use crate::cycle::a::A; }"),
    ];
    assert_eq!(circles(&all), Vec::<String>::new());
    all[4].text = "use crate::cycle::a::{self, A};".to_owned();
    assert_eq!(circles(&all).len(), 3, "{:?}", circles(&all));
}
