//! JSON values of a file of any size, one at a time: one a line, or the elements of the lists of one document.

use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What is done with a value: the key of its list, the value, its number from 1. False ends the reading.
pub type See<'s> = dyn FnMut(&str, Value, usize) -> bool + 's;

/// Reads the lists of a document: elements of a top-level list, or of the lists in a top-level object. Any other value is one itself.
///
/// # Errors
/// The first place where it is no JSON; what stands before was seen.
pub fn document(reader: &mut dyn BufRead, see: &mut See<'_>) -> Result<(), serde_json::Error> {
    let mut read = serde_json::Deserializer::from_reader(reader);
    let mut number = 0;
    let mut ended = false;
    // Usually there is one; lines that were taken for a document are several.
    loop {
        Top { see, number: &mut number, ended: &mut ended }.deserialize(&mut read)?;
        if ended || read.end().is_ok() {
            return Ok(());
        }
    }
}

struct Top<'a, 's> {
    see: &'a mut See<'s>,
    number: &'a mut usize,
    ended: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Top<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list, or an object with lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        let Top { see, number, ended } = self;
        Elements { key: "", see, number, ended }.visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Top { see, number, ended } = self;
        let (mut rest, mut has_list) = (Map::new(), false);
        while let Some(key) = map.next_key::<String>()? {
            if LISTS.contains(&key.as_str()) {
                has_list = true;
                map.next_value_seed(Elements { key: &key, see, number, ended })?;
            } else {
                rest.insert(key, map.next_value()?);
            }
        }
        // An object without such a list is a value.
        if !has_list && !*ended {
            *number += 1;
            *ended = !see("", Value::Object(rest), *number);
        }
        Ok(())
    }
}

/// Keys whose lists have values.
const LISTS: [&str; 5] = ["entities", "relations", "results", "memories", "issues"];

struct Elements<'a, 's> {
    key: &'a str,
    see: &'a mut See<'s>,
    number: &'a mut usize,
    ended: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Elements<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element::<Value>()? {
            *self.number += 1;
            if !*self.ended {
                *self.ended = !(self.see)(self.key, value, *self.number);
            }
        }
        Ok(())
    }
}

/// Whether a beginning is that of a file with one value a line: its first line that is not blank is an object that ends there, and has none of the
/// lists of a document.
pub fn is_lines(head: &str) -> bool {
    let first = head.lines().map(|line| line.trim_start_matches('\u{feff}').trim()).find(|line| !line.is_empty());
    let Some(first) = first else { return true };
    if !head.contains('\n') && serde_json::from_str::<Value>(first).is_err() {
        // Longer than the beginning: a document may be, and a line that breaks it is read as one.
        return false;
    }
    match serde_json::from_str::<Value>(first) {
        Ok(Value::Object(fields)) => !LISTS.iter().any(|key| fields.get(*key).is_some_and(Value::is_array)),
        Ok(_) => false,
        // A broken first line among good ones.
        Err(_) => head.lines().skip(1).take(8).any(|line| serde_json::from_str::<Map<String, Value>>(line).is_ok()),
    }
}
