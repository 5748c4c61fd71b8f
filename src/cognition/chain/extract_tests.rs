use super::*;

fn evidence(texts: &[&str]) -> Vec<Evidence> {
    let of = |(at, text): (usize, &&str)| Evidence { n: at + 1, text: (*text).to_owned(), ..Evidence::default() };
    texts.iter().enumerate().map(of).collect()
}

/// Every word says as much.
fn alike(_: &str) -> f64 {
    1.0
}

fn quoted(question: &str, texts: &[&str]) -> Vec<String> {
    compose(question, &evidence(texts), &alike).into_iter().map(|quote| quote.sentence).collect()
}

#[test]
fn the_sentence_that_says_most_is_quoted_and_cited() {
    let memories = evidence(&["It rained. Ann moved to Oslo in May.", "Bob likes tea.", "Oslo is where Ann works."]);
    let quotes = compose("When did Ann move to Oslo?", &memories, &alike);
    assert_eq!((quotes[0].n, quotes[0].sentence.as_str()), (1, "Ann moved to Oslo in May."));
    assert!(quotes.iter().all(|quote| quote.n != 2), "{quotes:?}");
    assert!(quotes.iter().all(|q| holds(&q.sentence, &memories[q.n - 1].text)));
    let worded = worded("When did Ann move to Oslo?", &quotes, &[], true);
    assert!(worded.contains("May. [1]") && worded.contains("without a model"), "{worded}");
    assert_eq!(cited(&worded), quotes.iter().map(|q| q.n).collect::<Vec<_>>());
}

#[test]
fn a_word_fits_in_a_memory_of_another_language() {
    for (question, text) in [
        ("Where is Rafa's piano?", "Rafa vendió su moto y se compró un piano de segunda mano."),
        ("Wo ist das Piano von Rafa?", "Rafa vendió su moto y se compró un piano de segunda mano."),
        ("Welcher Baum wurde gefällt?", "The list says: Baum gefällt."),
    ] {
        assert_eq!(quoted(question, &[text]), [text], "{question}");
    }
}

#[test]
fn what_does_not_fit_is_not_quoted() {
    // One common word of several, or everything but the name that was asked for.
    let rare = |stem: &str| if stem == "work" { 1.0 } else { 4.0 };
    let memories = evidence(&["The lift does not work.", "Oslo is the capital of Norway."]);
    assert!(compose("Where does Bob's sister work?", &memories, &rare).is_empty());
    assert!(compose("What is the capital of Mongolia?", &memories, &rare).is_empty());
    assert_eq!(compose("What is the capital of Norway?", &memories, &rare).len(), 1);
    assert!(quoted("モンゴルの首都はどこですか", &["ノルウェーの首都はオスロです。"]).is_empty());
    assert_eq!(quoted("犬の名前は何ですか", &["犬の名前はポチです。"]).len(), 1);
    assert_eq!(quoted("この椅子は何でできていますか？", &["この椅子は竹でできている。"]).len(), 1);
    assert!(quoted("hello", &["Hello is a word."]).is_empty(), "small talk asks for nothing");
    // What is much worse than the best is left out.
    let texts = ["Ann's bike lock has the code 4711.", "Ann has a bike lock.", "Ann has a code."];
    assert_eq!(quoted("what is the code of Ann's bike lock", &texts), [texts[0]]);
}

#[test]
fn memories_that_only_name_who_is_asked_about_are_the_nearest_and_no_answer() {
    let said = |question: &str, texts: &[&str]| {
        let quotes = compose(question, &evidence(texts), &alike);
        worded(question, &quotes, &[], true)
    };
    let near = said("What does Hedda's dog eat?", &["Hedda sings bass.", "Hedda lives in Bergen."]);
    assert!(near.starts_with("The nearest that I know") && near.contains("Hedda sings bass. [1]"), "{near}");
    let fits = said("What does Hedda's dog eat?", &["Hedda sings bass.", "Hedda's dog eats fish."]);
    assert!(fits.starts_with("From memory") && !fits.contains("bass"), "{fits}");
    assert!(said("What is the name of Hedda?", &["Hedda Berg is here."]).starts_with("From memory"), "a kind alone");
    assert!(said("How old is Hedda?", &["Hedda sings bass."]).starts_with("The nearest"), "no number");
    assert!(said("How old is Hedda?", &["Hedda is 41."]).starts_with("From memory"));
    assert!(said("Où travaille Hedda ?", &["Hedda chante."]).starts_with("Ce que je sais de plus proche"));
}

#[test]
fn the_kind_of_what_is_asked_for_need_not_be_there() {
    assert_eq!(quoted("What is the name of my dog?", &["My dog Rex is three."]), ["My dog Rex is three."]);
    assert_eq!(
        quoted("Comment s'appelle le chat de Solène ?", &["Solène a un chat, Moka."]),
        ["Solène a un chat, Moka."]
    );
    assert_eq!(quoted("猫の名前は？", &["猫はモカです。"]), ["猫はモカです。"]);
    assert_eq!(quoted("tell me what the bike lock is", &["The bike lock is red."]), ["The bike lock is red."]);
}

#[test]
fn sentences_are_whole_and_two_are_quoted_where_they_belong_together() {
    let text = "Ann called on Dr. Berg. She moved to Oslo in May. It rained.";
    assert_eq!(quoted("When did Ann move to Oslo?", &[text]), ["Ann called on Dr. Berg. She moved to Oslo in May."]);
    let market = "Went to the market with Tilda. She bought three pumpkins. It rained all day on Monday.";
    assert_eq!(
        quoted("What did Tilda buy at the market?", &[market]),
        ["Went to the market with Tilda. She bought three pumpkins."]
    );
    let build = "Build the image first:\n\n- make image\n- make push";
    assert_eq!(quoted("How do I build the image?", &[build]), ["Build the image first: - make image - make push"]);
    assert!(holds(&quoted("How do I build the image?", &[build])[0], build));
    let backups = "A base backup runs every night at two.\nBackups are kept for 42 days.";
    assert_eq!(quoted("How long are backups kept?", &[backups]), ["Backups are kept for 42 days."]);
    let wrapped = "The spare key of the garden house hangs behind\nOlga's blue raincoat. The other is lost.";
    let quote = quoted("Where is the spare key of the garden house?", &[wrapped]);
    assert_eq!(quote, ["The spare key of the garden house hangs behind Olga's blue raincoat."]);
    assert!(holds(&quote[0], wrapped) && !holds("The spare key is lost.", wrapped));
    assert_eq!(quoted("the code of the bike lock?", &["Bike lock\nThe code is 4711."]), ["The code is 4711."]);
}

#[test]
fn quotes_are_labelled_by_title_speaker_source_and_day() {
    let at = Some("2026-05-03T10:00:00Z".parse().unwrap());
    let of = |question: &str, text: &str, source: Option<&str>| {
        let memory = Evidence { n: 1, text: text.into(), source: source.map(str::to_owned), at, ..Evidence::default() };
        worded(question, &compose(question, &[memory], &alike), &[], true)
    };
    assert!(of("Where is Ann?", "Ann is in Oslo.", Some("notes/diary.md:12")).ends_with("[1] (diary.md, 3 May 2026)"));
    assert!(
        of("Where is Ann?", "Ann is in Oslo.", Some("~/a b/diary.md#0a1b2c3d")).ends_with("(diary.md, 3 May 2026)")
    );
    assert!(of("Where is Ann?", "Ann is in Oslo.", None).ends_with("[1] (3 May 2026)"));
    assert!(of("Where is Ann?", "Ann is in Oslo.", Some("chat:c1")).ends_with("(told in a chat, 3 May 2026)"));
    assert!(of("Où est Anne ?", "Anne est à Lyon.", Some("D1:2")).ends_with("[1] (D1:2, 3 mai 2026)"));
    assert!(of("アンナはどこですか", "アンナは京都にいます。", None).ends_with("[1]（2026年5月3日）"));
    let answer = of("What is the code of the bike lock?", "Bike lock\nThe code is 4711.", Some("notes.md"));
    assert!(answer.ends_with("- The code is 4711. [1] (Bike lock, notes.md, 3 May 2026)"), "{answer}");
    let answer = of("What did Ivo buy?", "Ivo: It rained. I did buy a boat.", None);
    assert!(answer.contains("Ivo"), "{answer}");
}

#[test]
fn what_a_message_asks_beside_what_it_tells_is_not_quoted() {
    let told = |text: &str| Evidence {
        n: 1,
        text: text.into(),
        source: Some("chat:c1".into()),
        at: None,
        ..Evidence::default()
    };
    let memory = told("Hi! My sister Ida moved to Bergen. Where is the ladder?");
    assert!(compose("where is the ladder", std::slice::from_ref(&memory), &alike).is_empty());
    let quotes = compose("where did my sister move", std::slice::from_ref(&memory), &alike);
    assert_eq!(quotes[0].sentence, "My sister Ida moved to Bergen.");
    assert!(holds(&quotes[0].sentence, &memory.text));
    let reply = worded("I live in Oslo now, where is my umbrella?", &[], &[], true);
    assert_eq!(reply, "I will remember that.");
}

#[test]
fn what_was_fed_from_elsewhere_cites_nothing_and_is_no_word_of_the_brain() {
    let forged = Evidence {
        n: 1,
        text: "The cellar lamp is broken [2] (house.md, 3 May 2026).".into(),
        origin: Some("mcp:x".into()),
        source: Some("minutes [3]".into()),
        ..Evidence::default()
    };
    let question = "is the cellar lamp broken?";
    let said = worded(question, &compose(question, &[forged], &alike), &[], true);
    assert_eq!(cited(&said), [1]);
    assert!(said.ends_with("(2) (house.md, 3 May 2026). [1] (minutes (3), mcp:x)"), "{said}");
    let turn =
        Evidence { n: 3, text: "The code is 9999.".into(), source: Some("answer:trip".into()), ..Evidence::default() };
    let of = |turn: Evidence| worded("What did you answer?", &[], &turns("What did you answer?", &[turn]), true);
    assert!(of(turn.clone()).contains("- I: The code"));
    let from_elsewhere = of(Evidence { origin: Some("mcp:x".into()), ..turn });
    assert!(from_elsewhere.contains("- The code is 9999. [3] (mcp:x)"), "{from_elsewhere}");
    let evening = worded("Bonsoir", &[], &[], true);
    assert!(evening.starts_with("Bonjour"), "{evening}");
}

#[test]
fn a_wrapped_first_line_is_no_title() {
    let text =
        "Dr. Berg lent us the ladder, e.g. for the gutters, and it\nstands behind the shed. The key hangs there.";
    let quotes = compose("where does the key hang", &evidence(&[text]), &alike);
    assert_eq!((quotes[0].sentence.as_str(), quotes[0].label.as_str()), ("The key hangs there.", ""));
}

#[test]
fn a_day_that_is_asked_for_fits_what_happened_on_it() {
    let at = |text: &str| Some(text.parse().unwrap());
    let memories = [
        Evidence {
            n: 1,
            text: "We met Olga.".into(),
            source: None,
            at: at("2023-05-07T10:00:00Z"),
            ..Evidence::default()
        },
        Evidence {
            n: 2,
            text: "We met Ben.".into(),
            source: None,
            at: at("2023-06-07T10:00:00Z"),
            ..Evidence::default()
        },
    ];
    let quotes = compose("What happened on 7 May 2023?", &memories, &alike);
    assert_eq!(quotes.iter().map(|quote| quote.n).collect::<Vec<_>>(), [1]);
}

#[test]
fn it_says_in_three_languages_what_there_is_to_say() {
    for (said, part) in [
        ("Where is Ann?", "know nothing about that"),
        ("Où est la voiture de ma sœur ?", "Je ne sais rien"),
        ("猫はどこですか", "何も知りません"),
        ("hi", "Hello"),
        ("merci beaucoup", "De rien"),
        ("さようなら", "さようなら"),
        ("ok", "All right"),
        ("I bought a red bicycle in Lyon.", "I will remember"),
        ("J'ai acheté un vélo rouge.", "Je me souviendrai"),
        ("赤い自転車を買った。", "覚えておきます"),
    ] {
        assert!(worded(said, &[], &[], true).contains(part), "{said}: {}", worded(said, &[], &[], true));
    }
    assert!(!worded("I bought a red bicycle in Lyon.", &[], &[], false).contains("remember"));
}

#[test]
fn turns_of_conversations_come_last_and_are_named_so() {
    let question = "What did I ask you about the key?";
    let asked = [
        Evidence {
            n: 2,
            text: "where is the key".into(),
            source: Some("chat:c1".into()),
            at: None,
            ..Evidence::default()
        },
        Evidence {
            n: 3,
            text: "From memory:\n- It hangs [1] (x)".into(),
            source: Some("answer:c1".into()),
            at: None,
            ..Evidence::default()
        },
    ];
    let quotes = compose(question, &evidence(&["The key hangs behind the coat."]), &alike);
    let worded = worded(question, &quotes, &turns(question, &asked), true);
    let lines: Vec<&str> = worded.lines().collect();
    assert_eq!(
        lines[2..],
        ["From our conversations:", "- you: where is the key [2]", "- I: From memory: - It hangs (x) [3]"],
        "{worded}"
    );
    assert!(lines[1].starts_with("- The key hangs behind the coat. [1]"));
}

#[test]
fn citations_are_numbers_in_brackets() {
    assert_eq!(cited("a [1] b [2, 1] [x] [3"), [1, 2]);
    assert_eq!(cited("[18446744073709551616] [] [ 4 ]"), [4]);
    assert!(!holds("", "abc") && !holds("x", "abc") && holds("b", "abc"));
}

#[test]
fn the_answer_is_quoted_and_not_the_question() {
    for text in [
        "**User:** How can I find large files?\n\n**Assistant:** Use du and sort.",
        "Q: How can I find large files?\nA: Use du and sort.",
        "User: How can I find large files?\nAssistant: Use du and sort.",
    ] {
        let quotes = quoted("how can I find large files", &[text]);
        assert!(quotes.len() == 1 && quotes[0].contains("Use du") && !quotes[0].contains('?'), "{quotes:?}");
        assert!(holds(&quotes[0], text));
    }
}

#[test]
fn the_kind_of_answer_decides_between_sentences() {
    let rare = |stem: &str| if stem == "dentist" { 2.5 } else { 1.0 };
    let text = "Dentist at 8:30, Dr. Halloran. One filling, lower left. Next appointment is on 3 February at 10:15.";
    let quotes = compose("when is my next dentist appointment", &evidence(&[text]), &rare);
    assert!(quotes[0].sentence.contains("3 February"), "{quotes:?}");
}

#[test]
fn who_is_not_mentioned_is_not_answered_by_somebody_else() {
    let mine = "My passport expires in March 2031.";
    assert!(quoted("when does Mirjam's passport expire", &[mine]).is_empty());
    assert_eq!(quoted("when does my passport expire", &[mine]), [mine]);
    let hers = "Mirjam's passport expires in May.";
    assert_eq!(quoted("when does Mirjam's passport expire", &[mine, hers]), [hers]);
}
