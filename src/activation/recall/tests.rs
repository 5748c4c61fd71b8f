use std::collections::BTreeMap;

use super::*;
use crate::activation::Snapshot;
use crate::model::Link;
use crate::model::RunId;
use crate::model::ids::{concept_id, speaker_id};

fn at(n: i64) -> Stamp {
    Stamp::from_unix(1_700_000_000 + n * 3600)
}

fn memory(n: i64, session: Option<&str>, text: &str) -> Neuron {
    let mut neuron = Neuron::new(NeuronId::parse(&format!("e-{n:04}")).unwrap(), text, Kind::Episodic, at(n));
    neuron.source = Some(format!("T{n}"));
    neuron.session = session.map(str::to_owned);
    neuron.activate(50_000, at(n));
    neuron
}

fn concept(text: &str) -> Neuron {
    Neuron::new(concept_id(text), text, Kind::Semantic, at(0))
}

fn speaker(name: &str) -> Neuron {
    Neuron::new(speaker_id(name), name, Kind::Contextual, at(0))
}

fn linked(mut neuron: Neuron, edges: &[(&NeuronId, Link, f64)]) -> Neuron {
    for (target, link, weight) in edges {
        neuron.set_weight(target, *link, (weight * 65535.0) as u16);
    }
    neuron
}

fn recall(
    neurons: impl Iterator<Item = Neuron> + Clone,
    question: &str,
    now: Stamp,
    settings: &Settings,
    filters: &Filters,
) -> Vec<Answer> {
    let snapshot = Snapshot::of(neurons.clone());
    let by_id = |id: &NeuronId| neurons.clone().find(|neuron| neuron.id == *id).expect("it was asked");
    let found = answer(&snapshot.index(), question, now, settings, filters);
    found
        .into_iter()
        .map(|found| (by_id(&found.id), found))
        .map(|(neuron, found)| Answer::of(found, &neuron, &[]))
        .collect()
}

fn ask(neurons: &[Neuron], question: &str, filters: Filters) -> Vec<Answer> {
    let answers = recall(neurons.iter().cloned(), question, at(100), &Settings::default(), &filters);
    let backwards = recall(neurons.iter().rev().cloned(), question, at(100), &Settings::default(), &filters);
    assert_eq!(answers, backwards, "the order of neurons does not matter");
    answers
}

fn sources(neurons: &[Neuron], question: &str) -> Vec<String> {
    ask(neurons, question, Filters::default()).into_iter().filter_map(|a| a.source).collect()
}

#[test]
fn words_find_their_memory_in_three_languages() {
    let neurons = [
        memory(1, None, "Anna: I adopted two kittens from the shelter."),
        memory(2, None, "Bob: The tax office closes at noon."),
        memory(3, None, "Marie : Mes études de médecine sont finies."),
        memory(4, None, "Paul : Le marché ouvre à huit heures."),
        memory(5, None, "太郎：京都で抹茶を飲みました。"),
        memory(6, None, "花子：明日は雨が降ります。"),
    ];
    for (question, expected) in [
        ("Who adopts a kitten?", "T1"),
        ("When do tax offices close?", "T2"),
        ("Qui a fini son étude ?", "T3"),
        ("À quelle heure ouvrent les marchés ?", "T4"),
        ("抹茶はどこで飲みましたか？", "T5"),
        ("いつ雨が降りますか", "T6"),
    ] {
        assert_eq!(sources(&neurons, question).first().map(String::as_str), Some(expected), "{question}");
    }
    for neuron in &neurons {
        assert_eq!(sources(&neurons, &neuron.concept)[0], neuron.source.clone().unwrap());
    }
}

#[test]
fn a_word_finds_every_memory_that_has_it_whatever_languages_are_guessed() {
    let texts = [
        "Rafa vendió su moto y se compró un piano de segunda mano.",
        "Los mariachis piden 900 euros por dos horas, demasiado. Rafa tocará el piano.",
        "Embrague nuevo: 640 euros.",
        "Die Wühlmäuse haben unter Parzelle 8 die Wurzeln des Kirschbaums abgenagt, er musste gefällt werden.",
        "Auf Parzelle 41 wurde eingebrochen.",
        "Parzelle 12, Mareike Thoms",
        "L'option rename est locale, et les options sont lues en premier.",
        "option rename locale",
    ];
    let neurons: Vec<Neuron> = (1..).zip(texts).map(|(at, text)| memory(at, None, text)).collect();
    for (question, expected) in [
        ("Rafa", vec!["T1", "T2"]),
        ("euros", vec!["T2", "T3"]),
        ("Parzelle", vec!["T4", "T5", "T6"]),
        ("Welche Parzelle?", vec!["T4", "T5", "T6"]),
        ("Which parzelle is it?", vec!["T4", "T5", "T6"]),
        ("options", vec!["T7", "T8"]),
        ("rename", vec!["T7", "T8"]),
    ] {
        let mut found = sources(&neurons, question);
        found.sort();
        assert_eq!(found, expected, "{question}");
    }
    // A word that has two stems here is one cue: it counts once.
    let found = ask(&neurons, "Rafa", Filters::default());
    assert!(found.iter().all(|answer| answer.path.len() == 2 && answer.path[0].at == found[0].path[0].at));
}

#[test]
fn an_answer_carries_what_the_memory_holds_and_its_way() {
    let neurons = [memory(1, Some("s"), "Anna: tea in Oslo"), memory(2, Some("s"), "Bob: milk")];
    let answers = ask(&neurons, "Oslo?", Filters::default());
    assert_eq!(answers.len(), 1);
    let first = &answers[0];
    assert_eq!(
        (first.text.as_str(), first.session.as_deref(), first.kind),
        ("Anna: tea in Oslo", Some("s"), Kind::Episodic)
    );
    let way: Vec<_> = first.path.iter().map(|step| (step.at.as_str(), step.via)).collect();
    assert_eq!(way, [("oslo", "cue"), ("e-0001", "text")]);
    assert!(first.activation > 0.0);
}

#[test]
fn a_question_brings_its_answer_and_no_other_session() {
    let first = memory(1, Some("a"), "Anna: Which instrument do you play?");
    let second = linked(memory(2, Some("a"), "Bob: The cello."), &[(&first.id, Link::Recalls, 0.8)]);
    let neurons = [first, second, memory(3, None, "Carl: The dog sleeps."), memory(4, None, "Dora: Lunch is ready.")];
    let answers = ask(&neurons, "What instrument is played?", Filters::default());
    let found: Vec<_> = answers.iter().filter_map(|a| a.source.as_deref()).collect();
    assert_eq!(found, ["T1", "T2"]);
    assert_eq!(answers[1].path.last().map(|step| step.via), Some("recalls"));
}

#[test]
fn a_word_before_a_colon_hides_no_other_memory() {
    let said = [(speaker("Canary"), "Canary: one host that gets a release first."), (speaker("Wifi"), "Wifi: bad.")];
    let mut neurons = vec![memory(9, None, "The canary waits for 15 minutes.")];
    for (at, (who, text)) in said.into_iter().enumerate() {
        let turn = memory(at as i64 + 1, None, text);
        neurons.push(linked(who, &[(&turn.id, Link::FeedsInto, 0.5)]));
        neurons.push(turn);
    }
    assert_eq!(sources(&neurons, "How long does the canary wait?"), ["T9", "T1"]);
    assert_eq!(sources(&neurons, "What is a canary?").len(), 2);
}

#[test]
fn a_label_before_a_colon_is_found_in_any_form() {
    let texts = [
        "Decided: a gate stays open for 6 seconds.",
        "Decided: the lamp is blue.",
        "The gate of the yard is painted green.",
        "Legal: the yard needs a second lamp.",
        "Legal: no crane at night.",
        "The crane is yellow.",
    ];
    let mut neurons: Vec<Neuron> = (1..).zip(texts).map(|(at, text)| memory(at, None, text)).collect();
    let of = |name, a: usize, b: usize| {
        linked(speaker(name), &[(&neurons[a].id, Link::FeedsInto, 0.5), (&neurons[b].id, Link::FeedsInto, 0.5)])
    };
    let speakers = [of("Decided", 0, 1), of("Legal", 3, 4)];
    neurons.extend(speakers);
    for (question, expected) in [
        ("decide", vec!["T2", "T1"]),
        ("what did we decide about the gate", vec!["T1", "T3", "T2"]),
        ("what was decided about the gate", vec!["T1", "T3", "T2"]),
        ("who is legal", vec!["T5", "T4"]),
    ] {
        let mut found = sources(&neurons, question);
        let first = found[0].clone();
        found.sort();
        let mut all = expected.clone();
        all.sort_unstable();
        assert_eq!((first.as_str(), found), (expected[0], all.into_iter().map(str::to_owned).collect()), "{question}");
    }
    assert_eq!(sources(&neurons, "What does Legal say of a lamp?")[0], "T4", "with a capital it is a name");
}

#[test]
fn naming_a_speaker_doubles_his_turns() {
    let mut neurons = vec![memory(1, None, "Anna: I ran a race."), memory(2, None, "Bob: I ran a race.")];
    // Each has spoken before.
    let before = [NeuronId::parse("e-0001").unwrap(), NeuronId::parse("e-0002").unwrap()];
    let spoke = |name| linked(speaker(name), &[(&before[0], Link::FeedsInto, 0.5), (&before[1], Link::FeedsInto, 0.5)]);
    neurons.extend([spoke("Anna"), spoke("Bob")]);
    for (question, best) in [("Which race did Bob run?", "T2"), ("Which race did Anna run?", "T1")] {
        let answers = ask(&neurons, question, Filters::default());
        assert_eq!(answers[0].source.as_deref(), Some(best));
        let ratio = answers[0].activation / answers[1].activation;
        assert!((1.9..2.2).contains(&ratio), "{ratio}");
    }
    assert_eq!(sources(&neurons, "Bob").len(), 1, "a name alone brings his turns");
}

#[test]
fn names_that_memories_share_bridge_two_of_them() {
    let mut neurons = vec![
        memory(1, None, "Blue Harvest\nA film that was directed by Ivo Karlsen in spring."),
        memory(2, None, "Ivo Karlsen\nHe grew up near a lake with six sisters."),
        memory(3, None, "Lena Moor\nShe paints boats and bridges."),
    ];
    neurons.extend([concept("blue harvest"), concept("ivo karlsen"), concept("lena moor")]);
    let answers = ask(&neurons, "Who directed Blue Harvest?", Filters::default());
    let found: Vec<_> = answers.iter().filter_map(|a| a.source.as_deref()).collect();
    assert_eq!(found, ["T1", "T2"]);
    assert!(answers[1].path.iter().any(|step| step.at == concept_id("ivo karlsen").as_str()));
}

fn by(neurons: &[Neuron], question: &str, change: impl Fn(&mut Method)) -> BTreeMap<String, f64> {
    let mut method = Method::default();
    change(&mut method);
    let snapshot = Snapshot::of(neurons.iter().cloned());
    let found = answer_by(&snapshot.index(), question, at(100), &Settings::default(), &Filters::default(), &method);
    let source = |id: &NeuronId| neurons.iter().find(|neuron| neuron.id == *id).and_then(|n| n.source.clone());
    found.into_iter().filter_map(|found| Some((source(&found.id)?, found.activation))).collect()
}

#[test]
fn a_title_in_the_question_brings_its_memory() {
    let neurons = [
        memory(1, None, "Market\nA brand is a name for goods. A brand is sold by shops."),
        memory(2, None, "Brand (play)\nIt is a tragedy in verse about a priest."),
        memory(3, None, "Shops\nThey sell goods and every brand."),
    ];
    let answers = ask(&neurons, "Who wrote Brand?", Filters::default());
    assert_eq!(answers[0].source.as_deref(), Some("T2"));
    let way: Vec<_> = answers[0].path.iter().map(|step| (step.at.as_str(), step.via)).collect();
    assert_eq!(way, [("brand", "cue"), ("e-0002", "title")]);
    assert_ne!(sources(&neurons, "Who wrote about a brand?")[0], "T2", "a common word is no title");
    let japanese =
        [memory(1, None, "歴史\n京都は古い町です。京都の寺は多い。"), memory(2, None, "京都\n日本の町です。")];
    assert_eq!(sources(&japanese, "京都はどこですか")[0], "T2", "a script without case");
}

#[test]
fn words_inside_a_name_count_half() {
    let neurons = [
        memory(1, None, "The sky was blue."),
        memory(2, None, "The boats were sold."),
        memory(3, None, "We read about Blue Harvest."),
        concept("blue harvest"),
    ];
    let question = "Which boats are in Blue Harvest?";
    let found = by(&neurons, question, |_| {});
    assert!(found["T2"] > found["T1"] * 1.5, "{found:?}");
    let full = by(&neurons, question, |m| m.inside = 1.0);
    assert_eq!(found["T2"], full["T2"]);
    assert!((full["T1"] / found["T1"] - 2.0).abs() < 1e-9);
}

#[test]
fn a_shared_name_brings_most_what_it_is_the_title_of() {
    let mut neurons = vec![
        memory(1, None, "Blue Harvest\nA film by Ivo Karlsen."),
        memory(2, None, "The prize went to Ivo Karlsen again."),
        memory(3, None, "She never met Ivo Karlsen there."),
        memory(4, None, "Ivo Karlsen (director)\nHe grew up near a lake."),
    ];
    neurons.extend([concept("ivo karlsen"), concept("ivo karlsen director")]);
    let found = by(&neurons, "What is a harvest?", |m| m.followed = 1.0);
    // Four memories share the name: 4^-.75 for those that mention it, half of that exponent for the one that has it as title.
    assert!((found["T4"] / found["T2"] - 4_f64.powf(0.375)).abs() < 0.01, "{found:?}");
    assert!(found["T4"] < found["T1"]);
    let less = by(&neurons, "What is a harvest?", |_| {});
    assert!((less["T2"] / found["T2"] - 0.2).abs() < 0.01, "the best memory leaves nothing open: {less:?}");
    assert_eq!(less["T4"], found["T4"], "what is about the name is exempt");
    let mention = by(&neurons, "What is a harvest?", |m| (m.about, m.followed) = (1.0, 1.0));
    assert!((mention["T4"] / mention["T2"] - 1.0).abs() < 0.01);
}

#[test]
fn no_wave_goes_through_a_name_that_the_question_has() {
    let neurons = [
        memory(1, None, "Saffron is sold in Port Ellen."),
        memory(2, None, "The winters of Port Ellen are mild."),
        memory(3, None, "Lunch is ready."),
        concept("port ellen"),
    ];
    let question = "Where in Port Ellen is saffron?";
    let (found, alone) = (by(&neurons, question, |_| {}), by(&neurons, question, |m| m.spreading = 0));
    assert_eq!(found["T2"], alone["T2"], "it has the name, and nothing to do with saffron");
    assert!(by(&neurons, question, |m| m.asked_names = true)["T2"] > alone["T2"]);
    assert!(by(&neurons, "Where is saffron?", |_| {}).contains_key("T2"), "a name that is not asked for leads on");
}

#[test]
fn a_description_hides_no_name_and_a_name_does() {
    let mut neurons = vec![
        memory(1, None, "Saffron is sold in a city in Iowa."),
        memory(2, None, "Rain falls over Iowa."),
        memory(3, None, "The Iowa Wild lost again to Boston Wings."),
        memory(4, None, "We drove from Boston to the sea."),
    ];
    neurons.extend([concept("city in iowa"), concept("iowa wild"), concept("boston wings")]);
    let found = by(&neurons, "Where is saffron?", |_| {});
    assert!(found.contains_key("T2"), "the description names Iowa: {found:?}");
    assert!(!found.contains_key("T3"), "the club is not Iowa: {found:?}");
    assert!(!by(&neurons, "Who drove to the sea?", |_| {}).contains_key("T3"), "nor is the other one Boston");
}

#[test]
fn a_weak_edge_to_a_name_is_weak_both_ways() {
    let spice = concept("rare spice");
    let neurons = [
        linked(
            memory(1, None, "Saffron was late."),
            &[(&spice.id, Link::FeedsInto, 0.5), (&spice.id, Link::Recalls, 0.5)],
        ),
        memory(2, None, "A rare spice costs much."),
        spice,
    ];
    let (found, one_way) = (by(&neurons, "Saffron?", |_| {}), by(&neurons, "Saffron?", |m| m.both_ways = false));
    assert!((one_way["T2"] / found["T2"] - 2.0).abs() < 0.01, "{found:?} {one_way:?}");
}

#[test]
fn ways_end_where_titles_share_a_name() {
    let mut neurons: Vec<Neuron> =
        (1..=3).map(|n| memory(n, None, &format!("Ivo Karlsen\nSaffron came in year {n}."))).collect();
    neurons.push(concept("ivo karlsen"));
    let answers = ask(&neurons, "saffron", Filters::default());
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|a| a.path.len() <= 3));
}

#[test]
fn what_only_an_edge_tells_is_found() {
    let kittens = concept("pet");
    let neurons = [
        linked(memory(1, None, "Two kittens arrived."), &[(&kittens.id, Link::Recalls, 0.6)]),
        memory(2, None, "The office closes."),
        kittens,
    ];
    assert_eq!(sources(&neurons, "Any pets?"), ["T1"]);
}

#[test]
fn the_old_is_not_silenced() {
    let mut old = memory(1, None, "Anna: The recipe needs saffron and rice.");
    (old.salience, old.last_salience_update) = (50_000, Stamp::from_unix(0));
    let neurons = [old, memory(99, None, "Bob: rice again"), memory(98, None, "Bob: fish today")];
    assert_eq!(sources(&neurons, "What is rice with saffron?")[0], "T1");
    let literal = Settings {
        recall: crate::model::settings::Recall { salience_exponent: 1.0, ..Default::default() },
        ..Settings::default()
    };
    let twins = [memory(1, None, "green tea"), memory(2, None, "green tea"), memory(3, None, "milk")];
    let fresh = recall(twins.into_iter(), "green tea", at(100), &literal, &Filters::default());
    assert_eq!(fresh[0].source.as_deref(), Some("T2"), "the more salient of two alike comes first");
}

#[test]
fn filters_bound_what_is_answered() {
    let neurons: Vec<Neuron> = (0..30).map(|n| memory(n, None, &format!("tea number {n}"))).collect();
    let found = |filters: Filters| ask(&neurons, "tea", filters);
    assert_eq!(found(Filters::default()).len(), Settings::default().recall.top);
    assert_eq!(found(Filters { top: Some(3), ..Filters::default() }).len(), 3);
    let within = found(Filters { since: Some(at(5)), until: Some(at(7)), ..Filters::default() });
    let mut names: Vec<_> = within.into_iter().filter_map(|a| a.source).collect();
    names.sort();
    assert_eq!(names, ["T5", "T6", "T7"]);
}

#[test]
fn a_time_is_counted_from_today_and_weighs_more_than_the_words_that_say_it() {
    // Today is 2023-11-19, 02:13; T80 to T97 are of the day before.
    let neurons = [
        memory(2, None, "Anna: It happened in October, on a Saturday."),
        memory(20, None, "Bob: Yesterday the cello was tuned."),
        memory(82, None, "Bob: The boat was sold."),
        memory(90, None, "Anna: Rice with saffron."),
        memory(99, None, "Bob: Fish."),
    ];
    let of_day = |question: &str| {
        let mut first: Vec<String> = sources(&neurons, question).into_iter().take(2).collect();
        first.sort();
        first
    };
    assert_eq!(at(100).to_string(), "2023-11-19T02:13:20Z");
    for question in
        ["yesterday", "What happened yesterday?", "What happened on 18 November 2023?", "Que s'est-il passé hier ?"]
    {
        assert_eq!(of_day(question), ["T82", "T90"], "{question}");
    }
    assert_eq!(sources(&neurons, "What was sold last week?")[0], "T82");
    // Nothing of that time has the words.
    let since = ask(&neurons, "what happened", Filters { since: Some(at(80)), ..Filters::default() });
    assert_eq!(since.iter().filter_map(|a| a.source.as_deref()).collect::<Vec<_>>(), ["T99", "T90", "T82"]);
}

#[test]
fn a_word_is_found_in_texts_of_no_known_language_beside_some_of_another() {
    // `ben` is a French word for well.
    let neurons = [memory(1, None, "Anna grows tea."), memory(2, None, "Ben drinks coffee.")];
    assert_eq!(sources(&neurons, "tea"), ["T1"]);
}

#[test]
fn concepts_answer_when_asked_or_when_nothing_else_does() {
    let neurons = [concept("green tea"), memory(1, None, "tea with Anna"), concept("cello")];
    assert!(ask(&neurons, "tea", Filters::default()).iter().all(|a| a.kind == Kind::Episodic));
    let both = ask(&neurons, "tea", Filters { concepts: true, ..Filters::default() });
    assert_eq!(both.len(), 2);
    let cello = ask(&neurons, "cellos", Filters::default());
    assert_eq!((cello.len(), cello[0].kind), (1, Kind::Semantic));
}

#[test]
fn a_session_that_fits_lifts_its_turns() {
    let neurons = [
        memory(1, Some("work"), "Anna: we took the ferry"),
        memory(2, Some("work"), "Bob: the meeting was moved"),
        memory(3, Some("trip"), "Anna: we took the ferry"),
        memory(4, Some("trip"), "Bob: the harbour was cold"),
        memory(5, None, "Carl: we took the ferry"),
    ];
    let answers = ask(&neurons, "harbour ferry", Filters::default());
    let activation = |source: &str| answers.iter().find(|a| a.source.as_deref() == Some(source)).unwrap().activation;
    assert!(activation("T3") > activation("T1") * 1.1);
    assert!(activation("T1") > activation("T5"), "its session has a word of the question too");
}

#[test]
fn archived_memories_and_empty_networks_answer_nothing() {
    let mut gone = memory(1, None, "tea");
    gone.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
    gone.archived = gone.run.clone();
    assert_eq!(ask(&[gone], "tea", Filters::default()), []);
    assert_eq!(ask(&[], "tea", Filters::default()), []);
    let one = [memory(1, None, "tea")];
    for nothing in ["", "   ", "?!", "🍵", "\u{202e}\u{200b}", "unheard"] {
        assert_eq!(ask(&one, nothing, Filters::default()), [], "{nothing:?}");
    }
}

#[test]
fn rings_of_turns_end() {
    let ids: Vec<NeuronId> = (1..=4).map(|n| memory(n, Some("s"), "x").id).collect();
    let full = |n: usize, text: &str| {
        let edges = [(&ids[n % 4], Link::FeedsInto, 1.0), (&ids[(n + 2) % 4], Link::Recalls, 1.0)];
        linked(memory(n as i64, Some("s"), text), &edges)
    };
    let neurons = [full(1, "tea"), full(2, "milk"), full(3, "salt"), full(4, "rice")];
    let answers = ask(&neurons, "tea?", Filters::default());
    assert_eq!(answers.len(), 4);
    assert!(answers.iter().all(|a| a.path.len() <= Method::default().turns + 2));
}

#[test]
fn what_is_inhibited_by_an_answer_steps_back_and_what_is_influenced_comes_forward() {
    let old = memory(1, None, "The key is under it.");
    let new = memory(2, None, "The key is in the drawer now.");
    let other = memory(3, None, "The key is made of brass, they say in the shop.");
    let plain = [old.clone(), new.clone(), other.clone()];
    assert!(sources(&plain, "Where is the key?").contains(&"T1".into()));
    let corrected = [old.clone(), linked(new.clone(), &[(&old.id, Link::Inhibits, 0.5)]), other.clone()];
    let answers = ask(&corrected, "Where is the key?", Filters::default());
    assert_eq!(answers.last().unwrap().source.as_deref(), Some("T1"));
    assert!(answers.last().unwrap().inhibition > 0.3 && answers[0].inhibition == 0.0);
    let forgotten = [old.clone(), linked(new.clone(), &[(&old.id, Link::Inhibits, 1.0)]), other.clone()];
    let strong = linked(other.clone(), &[(&old.id, Link::Inhibits, 1.0)]);
    assert!(
        !sources(&[forgotten[0].clone(), forgotten[1].clone(), strong], "Where is the key?").contains(&"T1".into())
    );
    let supported = [old.clone(), linked(new, &[(&other.id, Link::Influences, 0.9)]), other];
    let answers = ask(&supported, "Where is the key?", Filters::default());
    assert_eq!(answers[0].source.as_deref(), Some("T3"));
    assert!(answers[0].context > 0.5);
    let alone = ask(&supported, "Is it brass?", Filters::default());
    assert_eq!((alone[0].source.as_deref(), alone[0].context), (Some("T3"), 0.0), "who is not found has no effect");
}

#[test]
fn of_answers_that_are_as_good_the_newest_comes_first_and_no_other() {
    let told = ["Zan likes plum cake best.", "Zan likes rose jam best.", "Zan bought a cradle for the cake."];
    let neurons: Vec<Neuron> = (1..).zip(told).map(|(n, text)| memory(n, None, text)).collect();
    let snapshot = Snapshot::of(neurons.iter().cloned());
    let asked = |question: &str| -> Vec<String> {
        let found = answer(&snapshot.index(), question, at(100), &Settings::default(), &Filters::default());
        let source = |found: &Found| neurons.iter().find(|n| n.id == found.id).unwrap().source.clone().unwrap();
        found.iter().map(source).collect()
    };
    assert_eq!(asked("What does Zan like best?"), ["T2", "T1", "T3"]);
    assert_eq!(asked("Does Zan like cake best?")[0], "T1", "what says more, however old");
}

#[test]
fn what_means_the_same_is_found_without_a_shared_word() {
    let mut neurons: Vec<Neuron> =
        (0..60).map(|n| memory(n, None, &format!("Ivo: The {n}th parcel arrived at the depot."))).collect();
    neurons.push(memory(90, Some("s"), "Anna: My hound chewed the slippers."));
    neurons.push(memory(91, Some("s"), "Ivo: Oh dear!"));
    let (here, next) = (neurons[60].id.clone(), neurons[61].id.clone());
    neurons[60].set_weight(&next, Link::FeedsInto, 40_000);
    let snapshot = Snapshot::of(neurons.iter().cloned());
    let index = snapshot.index();
    let ask = |question: &str, meaning: Vec<(NodeIx, f64)>, method: &Method| {
        let filters = Filters { meaning, ..Filters::default() };
        answer_by(&index, question, at(100), &Settings::default(), &filters, method)
    };
    let alike = |best: f64| {
        let near = |node: NodeIx| if index.graph.id(node) == here.as_str() { best } else { f64::from(node.0) / 1000.0 };
        index.all_memories().map(|node| (node, near(node))).collect::<Vec<_>>()
    };
    let method = Method::default();
    assert_eq!(ask("Which pets live here?", Vec::new(), &method), [], "no word leads there");
    let found = ask("Which pets live here?", alike(0.7), &method);
    assert_eq!(found[0].id, here);
    let way: Vec<(&str, &str)> = found[0].path.iter().map(|way| (way.at.as_str(), way.via)).collect();
    assert_eq!(way, [("Which pets live here?", "cue"), (here.as_str(), "meaning")]);
    let after = found.iter().find(|found| found.id == next).expect("the wave goes on along turns");
    assert_eq!(after.path.last().map(|way| way.via), Some("feeds_into"));
    // Cosines of another scale, and in another order, say the same.
    let mut scaled: Vec<(NodeIx, f64)> = alike(0.7).into_iter().map(|(node, x)| (node, x * 0.5)).collect();
    scaled.reverse();
    let ids = |found: &[Found]| found.iter().map(|found| found.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&ask("Which pets live here?", scaled, &method)), ids(&found));
    // Where nothing is more alike than anything else, meaning says nothing.
    let flat = index.all_memories().map(|node| (node, 0.3)).collect();
    assert_eq!(ask("parcel", flat, &method), ask("parcel", Vec::new(), &method));
    let off = Method { meaning: 0.0, ..Method::default() };
    assert_eq!(ask("parcel", alike(0.9), &off), ask("parcel", Vec::new(), &method));
}
