use proptest::prelude::*;

use super::*;

fn id(text: &str) -> NeuronId {
    NeuronId::parse(text).unwrap()
}

fn run(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn sample() -> Neuron {
    let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
    let mut n = Neuron::new(id("tea-1f3c"), "tea \"vert\"", Kind::Episodic, at);
    n.activate(45000, at);
    n.run = Some(run("20260126t143200123z-abcd2345-memory"));
    n.version = Version::default().toggled(n.run.as_ref().unwrap());
    n.source = Some("D1:3".into());
    n.session = Some("session_1".into());
    n.set_weight(&id("b"), Link::Recalls, 7);
    n.set_weight(&id("b"), Link::FeedsInto, 50000);
    n.set_weight(&id("a"), Link::Triggers, 1);
    n.set_weight(&id("c"), Link::FeedsInto, 300);
    n.set_weight(&id("c"), Link::Recalls, 300);
    n
}

#[test]
fn canonical_forms_are_the_golden_files() {
    let files = [
        (Format::One, include_str!("../../tests/golden/neuron-1.json")),
        (Format::Two, include_str!("../../tests/golden/neuron.json")),
    ];
    for (format, golden) in files {
        assert_eq!(String::from_utf8(sample().encode_as(format)).unwrap(), golden);
        assert_eq!(Neuron::decode(golden.as_bytes(), "golden").unwrap(), sample());
        assert_eq!(sample().canonical_format(golden.as_bytes()), Some(format));
    }
    assert_eq!(sample().canonical_format(b"{}"), None);
    assert_eq!(sample().encode(), sample().encode_as(Format::Two));
    assert_eq!((Format::of(0), Format::of(1), Format::of(2)), (Format::One, Format::One, Format::Two));
}

/// The ordinary file, of a neuron that one run has made.
#[test]
fn what_one_run_made_has_no_bookkeeping() {
    let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
    let by = run("20260126t143200123z-abcd2345-memory");
    let name = Name { rank: 3, run: Some(by.clone()) };
    let mut n = Neuron::new(id("tea"), "tea", Kind::Semantic, at);
    n.activate(45000, at);
    n.version = n.version.toggled(&by);
    n.named_by = NamedBy { concept: name.clone(), kind: name };
    n.run = Some(by);
    let text = String::from_utf8(n.encode()).unwrap();
    let keys: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    assert_eq!(keys, ["id", "concept", "type", "salience", "created_at", "activation_count", "run", "named_by"]);
    assert!(text.contains("\"named_by\": 3\n"), "{text}");
    n.named_by = own_name(0, n.run.as_ref());
    assert!(!String::from_utf8(n.encode()).unwrap().contains("named_by"));
}

#[test]
fn other_layouts_read_as_the_same_neuron() {
    for format in [Format::One, Format::Two] {
        let value: serde_json::Value = serde_json::from_slice(&sample().encode_as(format)).unwrap();
        assert_eq!(Neuron::decode(value.to_string().as_bytes(), "x").unwrap(), sample());
    }
    let whole = serde_json::to_vec(&sample()).unwrap();
    assert_eq!(Neuron::decode(&whole, "x").unwrap(), sample());
    let mut inline = String::new();
    sample().write_inline(&mut inline);
    assert_eq!(Neuron::decode(inline.as_bytes(), "x").unwrap(), sample());
    assert!(!inline.contains('\n'));
    let seed = br#"{"id": "n", "concept": "c", "type": "core", "salience": 45000,
            "last_salience_update": "2026-01-26T14:32:00Z", "connections": []}"#;
    assert_eq!(Neuron::decode(seed, "x").unwrap().salience, 45000);
}

#[test]
fn wrong_files_are_refused_with_line_and_path() {
    let head = "{\"id\": \"a\", \"concept\": \"c\", \"type\": \"core\"";
    let cases = [
        ("{\"id\": \"a\",\n\"concept\": \"c\",\n\"type\": \"core\", \"speed\": 1}".to_owned(), 3, "speed"),
        (format!("{head},\n\"salience\": 70000}}"), 2, "salience"),
        ("{\"id\": \"a\", \"id\": \"a\", \"concept\": \"c\", \"type\": \"core\"}".to_owned(), 1, "duplicate"),
        ("{\"id\": \"A\", \"concept\": \"c\", \"type\": \"core\"}".to_owned(), 1, "id"),
        ("{\"id\": \"a\",\n\"concept\": \" \", \"type\": \"core\"}".to_owned(), 2, "concept"),
        (
            format!(
                "{head}, \"connections\": [\n{{\"target\": \"b\", \"weight\": 1, \"type\": \"feeds_into\"}}, {{\"target\": \"b\", \"weight\": 2, \"type\": \"feeds_into\"}}]}}"
            ),
            1,
            "two connections",
        ),
        (format!("{head}, \"connections\": {{\"b\": 1, \"b\": 2}}}}"), 1, "two connections"),
        (format!("{head},\n\"connections\": {{\"b\": 65536}}}}"), 2, "connections"),
        (format!("{head},\n\"connections\": {{\"b\": -1}}}}"), 2, "connections"),
        (format!("{head},\n\"connections\": {{\"b\": {{\"likes\": 1}}}}}}"), 2, "likes"),
        (format!("{head},\n\"connections\": 5}}"), 2, "connections by target"),
        (
            format!("{head},\n\"named_by\": {{\"rank\": 1, \"type\": {{\"rank\": 2, \"run\": null}}}}}}"),
            2,
            "one name for both",
        ),
        (format!("{head},\n\"named_by\": {{\"rank\": 1, \"rank\": 2}}}}"), 2, "duplicate"),
        (format!("{head},\n\"named_by\": 99999999999}}"), 2, "too large"),
    ];
    for (text, line, part) in cases {
        let error = Neuron::decode(text.as_bytes(), "x.json").unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

/// Neurons with every field at its default, near it, or anything else.
fn neurons() -> impl Strategy<Value = Neuron> {
    let runs = || prop::option::of((0..3_u8).prop_map(|n| run(&format!("2026012{n}t143200123z-abcd2345-memory"))));
    let stamps = || (0..3_i64).prop_map(|n| Stamp::from_unix(n * 1000));
    let name = || (0..3_u32, runs()).prop_map(|(rank, run)| Name { rank, run });
    let link = prop::sample::select(Link::ALL);
    let edge = (0..4_u8, link, 0..3_u16);
    (
        (stamps(), stamps(), prop::option::of(stamps()), 0..3_u32, 0..3_u16),
        (runs(), runs(), any::<bool>(), name(), name()),
        (any::<bool>(), any::<bool>(), any::<bool>(), prop::collection::vec(edge, 0..8)),
    )
        .prop_map(
            |(
                (created, updated, activated, count, salience),
                (by, other, same, one, two),
                (pin, label, web, edges),
            )| {
                let mut n = Neuron::new(id("n"), "c\n\"", Kind::Semantic, created);
                (n.last_salience_update, n.last_activated, n.activation_count, n.salience) =
                    (updated, activated, count, salience);
                n.version = [&by, &other].into_iter().flatten().fold(Version::default(), |v, run| v.toggled(run));
                n.named_by = NamedBy { concept: one.clone(), kind: if same { one } else { two } };
                (n.archived, n.pinned, n.run) = (other, pin, by);
                if label {
                    (n.source, n.session) = (Some("a \"b\"".into()), Some("s".into()));
                    n.stimulus = Some(StimulusId::parse("s-1").unwrap());
                }
                if web {
                    n.origin = Origin::parse("web").unwrap();
                }
                for (target, link, weight) in edges {
                    n.set_weight(&id(&format!("t{target}")), link, weight);
                }
                n
            },
        )
}

proptest! {
    #[test]
    fn a_neuron_is_what_its_file_says_in_every_format(neuron in neurons()) {
        for format in [Format::One, Format::Two] {
            let bytes = neuron.encode_as(format);
            let read = Neuron::decode(&bytes, "x").unwrap();
            prop_assert_eq!(&read, &neuron);
            prop_assert_eq!(read.canonical_format(&bytes), Some(format));
        }
        let mut inline = String::new();
        neuron.write_inline(&mut inline);
        prop_assert_eq!(&Neuron::decode(inline.as_bytes(), "x").unwrap(), &neuron);
        prop_assert!(neuron.encode().len() <= neuron.encode_as(Format::One).len());
    }
}
