//! What an import wants of one neuron, and what that makes of the neuron that is there.
//!
//! The import's value wins where it differs; what it does not say stays. Taint is the exception: it is never washed off.

use crate::model::ids::{NeuronId, RunId};
use crate::model::neuron::Name;
use crate::model::origin::Origins;
use crate::model::portable::PortableNeuron;
use crate::model::{Kind, Link, Neuron, Origin, Stamp};

/// Origin of what a document brings without saying where it is from.
const IMPORT: &str = "import";

/// A wish for one neuron.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Patch {
    /// Where it was asked for, such as `neurons[3]`.
    pub place: String,
    /// On which line of the input, from 1.
    pub line: u64,
    /// The neuron, with what the input says of it.
    pub wish: PortableNeuron,
    /// Connections in it.
    pub links: Vec<Wanted>,
    /// How far the wish goes.
    pub mode: Mode,
}

/// How far a wish for a neuron goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The neuron is to be as the wish says.
    Set,
    /// The neuron is to be there; one that is keeps its concept and type.
    Ensure,
    /// Only a neuron that is there gets connections.
    Link,
}

/// A wish for one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The neuron it points to.
    pub target: NeuronId,
    /// Its type.
    pub link: Link,
    /// Its weight.
    pub weight: u16,
    /// What becomes of one that is there.
    pub rule: WeightRule,
}

/// What becomes of a connection that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightRule {
    /// It gets this weight.
    Set,
    /// It gets this weight if it is weaker.
    AtLeast,
    /// It stays, unless its weight is 0.
    IfAbsent,
}

impl Patch {
    /// The wish of a document's neuron.
    pub fn of_document(mut wish: PortableNeuron, place: String, line: u64) -> Self {
        let connections = wish.connections.take().unwrap_or_default();
        let links = connections
            .into_iter()
            .map(|c| Wanted { target: c.target, link: c.link, weight: c.weight, rule: WeightRule::Set })
            .collect();
        Self { place, line, wish, links, mode: Mode::Set }
    }

    /// The neuron as the import leaves it; `None`: it stays as it is.
    pub fn apply(&self, before: Option<&Neuron>, run: &RunId, now: Stamp) -> Option<Neuron> {
        let mut neuron = match before {
            Some(before) => self.changed(before, run, now),
            None if self.mode == Mode::Link => return None,
            None => self.created(now),
        };
        for wanted in &self.links {
            let there = neuron.connection(&wanted.target, wanted.link).map(|c| c.weight);
            let wins = match (wanted.rule, there) {
                (_, None) => true,
                (WeightRule::Set, Some(weight)) => weight != wanted.weight,
                (WeightRule::AtLeast, Some(weight)) => weight < wanted.weight,
                (WeightRule::IfAbsent, Some(weight)) => weight == 0,
            };
            if wins {
                neuron.set_weight(&wanted.target, wanted.link, wanted.weight);
            }
        }
        let archived = before.is_some_and(Neuron::is_archived);
        let archive = self.wish.is_archived();
        if before == Some(&neuron) && archive.is_none_or(|wanted| wanted == archived) {
            return None;
        }
        match archive {
            Some(true) => neuron.archived = Some(run.clone()),
            Some(false) => neuron.archived = None,
            None => {}
        }
        neuron.version = neuron.version.toggled(run);
        neuron.run = Some(run.clone());
        Some(neuron)
    }

    fn created(&self, now: Stamp) -> Neuron {
        let wish = &self.wish;
        let mut neuron = Neuron::new(wish.id.clone(), wish.concept.clone(), wish.kind, now);
        neuron.salience = wish.salience.unwrap_or(0);
        neuron.last_salience_update = wish.last_salience_update.unwrap_or(now);
        neuron.created_at = wish.created_at.unwrap_or(now);
        neuron.last_activated = wish.last_activated;
        neuron.activation_count = wish.activation_count.unwrap_or(0);
        neuron.origin = self.said_origin().cloned().unwrap_or_else(origin);
        neuron.pinned = wish.pinned.unwrap_or(false);
        neuron.source.clone_from(&wish.source);
        neuron.session.clone_from(&wish.session);
        neuron.stimulus.clone_from(&wish.stimulus);
        neuron
    }

    /// The origin that the wish says. A file can say that it trusts as little as an import is trusted or less, not more: else it says none.
    fn said_origin(&self) -> Option<&Origin> {
        let import = origin();
        self.wish.origin.as_ref().filter(|said| said.covers(&import) || said.is_of(&import))
    }

    fn changed(&self, before: &Neuron, run: &RunId, now: Stamp) -> Neuron {
        let wish = &self.wish;
        let mut neuron = before.clone();
        // As a person's rewording: of the highest rank.
        let name = || Name { rank: u32::MAX, run: Some(run.clone()) };
        if self.mode == Mode::Set && neuron.concept != wish.concept {
            neuron.concept.clone_from(&wish.concept);
            neuron.named_by.concept = name();
        }
        if self.mode == Mode::Set && neuron.kind != wish.kind {
            neuron.kind = wish.kind;
            neuron.named_by.kind = name();
        }
        if let Some(salience) = wish.salience {
            let at = wish.last_salience_update;
            let says = (salience, at.unwrap_or(neuron.last_salience_update));
            // The same number without a stamp is the same, whenever it was stored.
            if says != (neuron.salience, neuron.last_salience_update) {
                neuron.salience = salience;
                neuron.last_salience_update = at.unwrap_or(now);
            }
        }
        neuron.created_at = wish.created_at.unwrap_or(neuron.created_at);
        neuron.last_activated = wish.last_activated.or(neuron.last_activated);
        neuron.activation_count = wish.activation_count.unwrap_or(neuron.activation_count);
        if let Some(origin) = self.said_origin() {
            neuron.origin = neuron.origin.and(origin);
        }
        neuron.pinned = wish.pinned.unwrap_or(neuron.pinned);
        neuron.source = wish.source.clone().or(neuron.source);
        neuron.session = wish.session.clone().or(neuron.session);
        neuron.stimulus = wish.stimulus.clone().or(neuron.stimulus);
        neuron
    }
}

/// A wish that a neuron be there.
pub(super) fn presence(id: NeuronId, concept: &str, kind: Kind) -> PortableNeuron {
    PortableNeuron {
        id,
        concept: concept.to_owned(),
        kind,
        salience: None,
        last_salience_update: None,
        created_at: None,
        last_activated: None,
        activation_count: None,
        run: None,
        version: None,
        named_by: None,
        origin: None,
        pinned: None,
        archived: None,
        source: None,
        session: None,
        stimulus: None,
        connections: None,
    }
}

/// Where an import comes from by itself.
pub(super) fn origin() -> Origin {
    Origin::parse(IMPORT).expect("invariant: a literal origin")
}

/// The origin of a record that has the text of one neuron more: of what it makes, or calls otherwise.
pub(super) fn told(of: Origin, before: Option<&Neuron>, after: &Neuron, origins: &Origins) -> Origin {
    let tells = before.is_none_or(|before| before.concept != after.concept);
    if tells && origins.is_tainted(&after.origin) { of.and(&after.origin) } else { of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::Effect;

    fn run(day: u32) -> RunId {
        RunId::parse(&format!("202601{day:02}t143200123z-abcd2345-human")).unwrap()
    }

    fn patch(json: &str) -> Patch {
        Patch::of_document(PortableNeuron::decode(json.as_bytes(), "x").unwrap(), "neurons[0]".into(), 1)
    }

    const NOW: i64 = 1_769_437_920;

    fn now() -> Stamp {
        Stamp::from_unix(NOW)
    }

    #[test]
    fn missing_fields_are_filled_in() {
        let made =
            patch("{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\"}").apply(None, &run(1), now()).unwrap();
        assert_eq!((made.created_at, made.last_salience_update, made.last_activated), (now(), now(), None));
        assert_eq!((made.salience, made.activation_count, made.origin.as_str()), (0, 0, "import"));
        assert_eq!((made.run, made.version.0), (Some(run(1)), run(1).hash64()));
    }

    #[test]
    fn the_same_again_changes_nothing() {
        let json = "{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"salience\": 45000, \"archived\": true,
            \"connections\": [{\"target\": \"b\", \"weight\": 0, \"type\": \"feeds_into\"}]}";
        let made = patch(json).apply(None, &run(1), now()).unwrap();
        assert!(made.is_archived());
        assert_eq!(patch(json).apply(Some(&made), &run(2), Stamp::from_unix(NOW + 99)), None);
    }

    #[test]
    fn an_origin_of_a_document_is_the_same_the_second_time() {
        let cases = [
            ("local", "import"),
            ("bootstrap", "import"),
            ("approved:webhook", "import"),
            ("import", "import"),
            ("import:obsidian", "import:obsidian"),
            ("clone:x", "clone:x"),
            ("webhook+mcp:editor", "webhook+mcp:editor"),
        ];
        for (said, kept) in cases {
            let json = format!("{{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"origin\": \"{said}\"}}");
            let made = patch(&json).apply(None, &run(1), now()).unwrap();
            assert_eq!(made.origin.as_str(), kept, "{said}");
            assert_eq!(patch(&json).apply(Some(&made), &run(2), now()), None, "{said}");
        }
    }

    #[test]
    fn the_documents_value_wins_and_what_it_does_not_say_stays() {
        let old = "{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"salience\": 7, \"pinned\": true, \"origin\": \"clone:x\",
            \"activation_count\": 3, \"connections\": [{\"target\": \"b\", \"weight\": 5, \"type\": \"recalls\"}]}";
        let before = patch(old).apply(None, &run(1), now()).unwrap();
        let new = "{\"id\": \"a\", \"concept\": \"b\", \"type\": \"core\", \"salience\": 9, \"origin\": \"local\",
            \"connections\": [{\"target\": \"c\", \"weight\": 6, \"type\": \"recalls\"}]}";
        let later = Stamp::from_unix(NOW + 99);
        let after = patch(new).apply(Some(&before), &run(2), later).unwrap();
        assert_eq!((after.concept.as_str(), after.salience, after.last_salience_update), ("b", 9, later));
        assert_eq!((after.pinned, after.activation_count, after.connections.len()), (true, 3, 2));
        assert_eq!(after.origin.as_str(), "clone:x", "taint stays");
        assert_eq!(after.named_by.concept, Name { rank: u32::MAX, run: Some(run(2)) });
        let effect = Effect::between(Some(&before), &after);
        let replayed = effect.set_on(&before, true);
        assert_eq!(Neuron { run: after.run.clone(), version: after.version, ..replayed }, after);
    }

    #[test]
    fn an_archive_is_set_and_lifted() {
        let plain = patch("{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\"}");
        let there = plain.apply(None, &run(1), now()).unwrap();
        let archive = patch("{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"archived\": true}");
        let archived = archive.apply(Some(&there), &run(2), now()).unwrap();
        assert!(archived.is_archived());
        let lift = patch("{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"archived\": false}");
        assert!(!lift.apply(Some(&archived), &run(3), now()).unwrap().is_archived());
        assert_eq!(plain.apply(Some(&archived), &run(3), now()), None);
    }

    #[test]
    fn a_wish_for_presence_keeps_names_and_stronger_weights() {
        let mut before = Neuron::new("a".parse().unwrap(), "reworded", Kind::Contextual, now());
        let b: NeuronId = "b".parse().unwrap();
        before.set_weight(&b, Link::FeedsInto, 500);
        before.set_weight(&b, Link::Recalls, 500);
        let want = |link, weight, rule| Wanted { target: b.clone(), link, weight, rule };
        let mut wish = Patch {
            place: String::new(),
            line: 1,
            wish: presence("a".parse().unwrap(), "a", Kind::Semantic),
            links: vec![
                want(Link::FeedsInto, 400, WeightRule::AtLeast),
                want(Link::Recalls, 900, WeightRule::IfAbsent),
            ],
            mode: Mode::Ensure,
        };
        assert_eq!(wish.apply(Some(&before), &run(1), now()), None);
        wish.links[0].weight = 600;
        let after = wish.apply(Some(&before), &run(1), now()).unwrap();
        assert_eq!((after.weight(&b, Link::FeedsInto), after.weight(&b, Link::Recalls)), (600, 500));
        assert_eq!((after.concept.as_str(), after.kind), ("reworded", Kind::Contextual));
        wish.mode = Mode::Link;
        assert_eq!(wish.apply(None, &run(1), now()), None);
    }
}
