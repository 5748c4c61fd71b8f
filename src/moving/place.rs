//! A page's name as the path of a file that every system can have.

use std::collections::HashSet;

use crate::model::ids::hash_fields;

/// Longest part of a path, bytes, without `.md`.
const PART_BYTES: usize = 120;
/// Names that Windows keeps for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Paths that are given out, so that no two pages get one.
#[derive(Debug, Default)]
pub struct Places {
    taken: HashSet<String>,
}

impl Places {
    /// The path of a page's note, with `/` between its parts, never absolute and never upwards.
    pub fn note(&mut self, name: &str) -> String {
        let parts: Vec<String> = name.split('/').filter(|part| !part.is_empty()).map(part).collect();
        let path = if parts.is_empty() { "untitled".to_owned() } else { parts.join("/") };
        let mut numbered = path.clone();
        let mut number = 1;
        // Some systems do not tell capitals from small letters.
        while !self.taken.insert(numbered.to_lowercase()) {
            number += 1;
            numbered = format!("{path} {number}");
        }
        numbered + ".md"
    }
}

/// The name of the page whose note was written to a path, without `.md`: one that it says and that would be written there, numbered or not.
pub fn named(path: &str, said: &[&str]) -> Option<String> {
    let (folder, stem) = path.rsplit_once('/').map_or(("", path), |(folder, stem)| (folder, stem));
    let unnumbered = stem.rsplit_once(' ').filter(|(_, number)| number.parse::<u32>().is_ok_and(|number| number > 1));
    let inside = |stem: &str| if folder.is_empty() { stem.to_owned() } else { format!("{folder}/{stem}") };
    let places = [Some(path.to_owned()), unnumbered.map(|(stem, _)| inside(stem))];
    let is_there =
        |name: &String| places.iter().flatten().any(|path| Places::default().note(name) == format!("{path}.md"));
    said.iter().flat_map(|name| [(*name).to_owned(), inside(name)]).find(is_there)
}

fn part(part: &str) -> String {
    let mut plain: String =
        part.chars().map(|c| if c.is_control() || "\\:*?\"<>|".contains(c) { '-' } else { c }).collect();
    if plain.starts_with('.') {
        plain.replace_range(..1, "_");
    }
    if plain.ends_with(['.', ' ']) {
        plain.pop();
        plain.push('_');
    }
    let stem = plain.split('.').next().unwrap_or_default().to_lowercase();
    let is_numbered =
        |device: &str| stem.strip_prefix(device).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    if DEVICES.contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt") {
        plain.push('_');
    }
    if plain.len() > PART_BYTES {
        let end = (0..=PART_BYTES - 9).rev().find(|at| plain.is_char_boundary(*at)).unwrap_or(0);
        plain.truncate(end);
        plain = format!("{plain}-{:08x}", hash_fields(&[part.as_bytes()]) >> 32);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_known_by_the_names_that_they_say() {
        for (path, said, name) in [
            ("Boat- Eve", "Boat: Eve", Some("Boat: Eve")),
            ("Boat- Eve 2", "Boat? Eve", Some("Boat? Eve")),
            ("Boat- Eve 2", "Boat: Eve", Some("Boat: Eve")),
            ("people/a- b-", "a: b?", Some("people/a: b?")),
            ("a- b/c", "a: b/c", Some("a: b/c")),
            ("anna 2", "anna", Some("anna")),
            ("Boat", "Anna", None),
            ("Boat 2", "Anna 2", None),
        ] {
            assert_eq!(named(path, &[said]).as_deref(), name, "{path}");
        }
    }

    #[test]
    fn note_paths_are_safe_and_their_own() {
        let mut places = Places::default();
        for (name, path) in [
            ("Anna", "Anna.md"),
            ("anna", "anna 2.md"),
            ("Projects/Plan", "Projects/Plan.md"),
            ("notes/diary.md", "notes/diary.md.md"),
            ("../../etc/passwd", "__/__/etc/passwd.md"),
            ("/home/x/.ssh/id", "home/x/_ssh/id.md"),
            ("a: b?", "a- b-.md"),
            ("NUL", "NUL_.md"),
            ("", "untitled.md"),
            ("x.", "x_.md"),
        ] {
            assert_eq!(places.note(name), path, "{name}");
        }
        assert!(places.note(&"é".repeat(300)).len() <= PART_BYTES + 3);
    }
}
