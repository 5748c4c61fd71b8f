//! The fields of a file that a commit wrote, held against the file later: whether they were given back, and whether they stand again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::delta::Effect;
use crate::merge::neuron::merge_neuron;
use crate::model::Neuron;
use crate::model::settings::MergePolicy;

/// How a change of a file stands to the fields that an earlier commit wrote there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesBack {
    /// A field holds what the commit wrote, or nobody can tell.
    Nothing,
    /// None does, and this change gave one back.
    Here,
    /// None did before this change.
    Before,
}

/// Fields that follow from use alone.
const OF_USE: [&str; 3] = ["salience", "activation_count", "last_activated"];

/// Whether a change from `found` to `now` gives back each field that a commit changed from `before` to `wrote`.
///
/// A field is given back if it is as before, or as the typed merge takes it back by default: of a weight, what later runs added stays. A word
/// that a later commit wrote may stay as well.
pub fn neuron_gives_back(before: &Neuron, wrote: &Neuron, found: &Neuron, now: &Neuron) -> GivesBack {
    let merged = merge_neuron(Some(wrote), Some(found), Some(before), &MergePolicy::default()).neuron;
    let fields = Effect::between(Some(before), wrote);
    let [before, wrote, found, now] = [before, wrote, found, now].map(|neuron| values(&fields, neuron, true));
    let merged = merged.map(|neuron| values(&fields, &neuron, true)).unwrap_or_default();
    let is_number = |name: &str| name.starts_with("connections.") || OF_USE[..2].contains(&name);
    all(&wrote, &found, &now, |name| {
        let is = now.get(name);
        is == before.get(name)
            || is == merged.get(name)
            || !is_number(name) && is == found.get(name) && is != wrote.get(name)
    })
}

/// The same of a document of settings. Without fields, as a text has none, nobody can tell.
pub fn document_gives_back(path: &str, before: &[u8], wrote: &[u8], found: &[u8], now: &[u8]) -> GivesBack {
    let read = |bytes: &[u8]| leaves(path, bytes);
    let (Some(before), Some(mut wrote), Some(found), Some(now)) = (read(before), read(wrote), read(found), read(now))
    else {
        return GivesBack::Nothing;
    };
    keep_changed(&before, &mut wrote);
    all(&wrote, &found, &now, |name| {
        let is = now.get(name);
        let was = before.get(name).unwrap_or(&Value::Null);
        is.unwrap_or(&Value::Null) == was || is == found.get(name) && is.unwrap_or(&Value::Null) != &wrote[name]
    })
}

fn all(
    wrote: &BTreeMap<String, Value>,
    found: &BTreeMap<String, Value>,
    now: &BTreeMap<String, Value>,
    is_given_back: impl Fn(&str) -> bool,
) -> GivesBack {
    match () {
        () if wrote.is_empty() || !wrote.keys().all(|name| is_given_back(name)) => GivesBack::Nothing,
        () if wrote.keys().any(|name| found.get(name) != now.get(name)) => GivesBack::Here,
        () => GivesBack::Before,
    }
}

/// Whether all fields that a commit wrote hold that; those that follow from use count where there is no other. `before` is `None` for a neuron
/// that it made.
pub fn neuron_stands(before: Option<&Neuron>, wrote: &Neuron, now: &Neuron) -> bool {
    let bare = || {
        let mut bare = wrote.clone();
        bare.concept.clear();
        bare.connections.clear();
        bare
    };
    let fields = Effect::between(Some(&before.cloned().unwrap_or_else(bare)), wrote);
    let (mut wrote, now) = (values(&fields, wrote, false), values(&fields, now, false));
    if wrote.keys().any(|name| !OF_USE.contains(&name.as_str())) {
        wrote.retain(|name, _| !OF_USE.contains(&name.as_str()));
    }
    !wrote.is_empty() && wrote.iter().all(|(name, value)| now.get(name) == Some(value))
}

/// The same of a document of settings.
pub fn document_stands(path: &str, before: &[u8], wrote: &[u8], now: &[u8]) -> bool {
    let (Some(before), Some(mut wrote), Some(now)) = (leaves(path, before), leaves(path, wrote), leaves(path, now))
    else {
        return false;
    };
    keep_changed(&before, &mut wrote);
    !wrote.is_empty() && wrote.iter().all(|(name, value)| now.get(name).unwrap_or(&Value::Null) == value)
}

/// Leaves the fields that differ; one that is gone is null.
fn keep_changed(before: &BTreeMap<String, Value>, wrote: &mut BTreeMap<String, Value>) {
    for name in before.keys() {
        wrote.entry(name.clone()).or_insert(Value::Null);
    }
    wrote.retain(|name, value| before.get(name).unwrap_or(&Value::Null) != value);
}

/// The values of a neuron in the fields that an effect names, with the runs that gave names or without.
fn values(fields: &Effect, neuron: &Neuron, with_names: bool) -> BTreeMap<String, Value> {
    let by = |name: &crate::model::neuron::Name| with_names.then(|| json!(name));
    let value = |name: &str| match name {
        "concept" => json!([neuron.concept, by(&neuron.named_by.concept)]),
        "type" => json!([neuron.kind, by(&neuron.named_by.kind)]),
        "salience" => json!([neuron.salience, neuron.last_salience_update]),
        "activation_count" => json!(neuron.activation_count),
        "last_activated" => json!(neuron.last_activated),
        "origin" => json!(neuron.origin),
        "pinned" => json!(neuron.pinned),
        "archived" => json!(neuron.archived),
        "created_at" => json!(neuron.created_at),
        _ => json!([neuron.source, neuron.session, neuron.stimulus]),
    };
    let mut values: BTreeMap<String, Value> =
        fields.fields().into_iter().map(|name| (name.to_owned(), value(name))).collect();
    values.extend(
        fields.connections.iter().map(|tie| {
            (format!("connections.{}.{}", tie.target, tie.link), json!(neuron.weight(&tie.target, tie.link)))
        }),
    );
    values
}

/// The values of a document by their paths. A list is one value.
fn leaves(path: &str, bytes: &[u8]) -> Option<BTreeMap<String, Value>> {
    let text = std::str::from_utf8(bytes).ok().filter(|_| !path.starts_with("network/"))?;
    let value: Value = match path.rsplit_once('.')?.1 {
        "json" => serde_json::from_str(text).ok()?,
        "toml" => serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()?,
        _ => return None,
    };
    let mut found = BTreeMap::new();
    let mut left = vec![(String::new(), value)];
    while let Some((name, value)) = left.pop() {
        match value {
            Value::Object(fields) => {
                left.extend(fields.into_iter().map(|(key, value)| (format!("{name}/{key}"), value)))
            }
            value => drop(found.insert(name, value)),
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::NeuronId;
    use crate::model::{Kind, Link, Stamp};

    fn tea(weight: u16, concept: &str) -> Neuron {
        let mut tea =
            Neuron::new(NeuronId::parse("tea").unwrap(), concept, Kind::Semantic, Stamp::from_unix(1_700_000_000));
        tea.set_weight(&NeuronId::parse("cup").unwrap(), Link::FeedsInto, weight);
        tea
    }

    #[test]
    fn weight_is_given_back_as_it_was_or_less_what_was_added_and_not_by_another_number() {
        let (before, wrote) = (tea(3000, "tea"), tea(60_000, "tea"));
        for (found, now, gives) in [
            (60_000, 3000, GivesBack::Here),
            (60_010, 3010, GivesBack::Here),
            (60_010, 3000, GivesBack::Here),
            (3000, 3000, GivesBack::Before),
            (60_010, 60_010, GivesBack::Nothing),
            (60_000, 59_999, GivesBack::Nothing),
            (60_010, 3011, GivesBack::Nothing),
        ] {
            let (found, now) = (tea(found, "tea"), tea(now, "tea"));
            assert_eq!(neuron_gives_back(&before, &wrote, &found, &now), gives, "{found:?} {now:?}");
        }
    }

    #[test]
    fn word_of_a_later_commit_may_stay_and_that_of_the_commit_may_not() {
        let (before, wrote, other) = (tea(3000, "tea"), tea(9000, "poison"), tea(9000, "green tea"));
        assert_eq!(neuron_gives_back(&before, &wrote, &other, &tea(3000, "green tea")), GivesBack::Here);
        assert_eq!(neuron_gives_back(&before, &wrote, &other, &other), GivesBack::Nothing);
        assert_eq!(neuron_gives_back(&before, &wrote, &wrote, &tea(3000, "poison")), GivesBack::Nothing);
        assert_eq!(neuron_gives_back(&before, &before, &before, &wrote), GivesBack::Nothing);
    }

    #[test]
    fn fields_stand_again_when_all_of_them_do_whatever_else_changed() {
        let (before, wrote) = (tea(3000, "tea"), tea(60_000, "tea"));
        assert!(neuron_stands(Some(&before), &wrote, &tea(60_000, "green tea")));
        assert!(!neuron_stands(Some(&before), &wrote, &tea(59_999, "tea")));
        assert!(neuron_stands(None, &wrote, &tea(60_000, "tea")));
        assert!(!neuron_stands(None, &wrote, &tea(60_000, "green tea")));
        assert!(!neuron_stands(Some(&before), &before, &before));
    }

    #[test]
    fn settings_are_compared_by_their_keys_and_texts_are_not() {
        let before = b"[review]\nthreshold = 0.9\n";
        let wrote = b"[review]\nthreshold = 0.1\nmore = 1\n";
        let found = b"# why\n[review]\nthreshold = 0.1\nmore = 1\n\n[goals]\nmost = 3\n";
        let back = b"# why\n[review]\nthreshold = 0.9\n\n[goals]\nmost = 3\n";
        assert_eq!(document_gives_back("brain.toml", before, wrote, found, back), GivesBack::Here);
        assert_eq!(document_gives_back("brain.toml", before, wrote, found, found), GivesBack::Nothing);
        assert_eq!(document_gives_back("brain.toml", before, wrote, back, back), GivesBack::Before);
        assert_eq!(document_gives_back("prompts/a.md", before, wrote, found, back), GivesBack::Nothing);
        assert!(
            document_stands("brain.toml", before, wrote, found) && !document_stands("brain.toml", before, wrote, back)
        );
    }
}
