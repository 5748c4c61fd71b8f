//! What changed: the newer memory stands before the older one that it changes, and no other does. Lives in three languages, told as
//! notes, turns and decisions of a project, none of which the lists of words were written with.

use std::io::Write as _;

use git_brain::brain::{Answer, Brain, FeedRequest, InitRequest, RecallRequest, Source, World};
use git_brain::model::Stamp;
use proptest::prelude::*;

use crate::sandbox::{self, Sandbox};

const DAY: i64 = 24 * 3600;

/// A brain that was told these texts, one a day.
struct Life {
    brain: Brain,
    _folder: tempfile::TempDir,
}

impl Life {
    fn told<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, mut last) = (folder.path().join("life.jsonl"), 1_750_000_000);
        let mut lines = std::fs::File::create(&file).unwrap();
        for text in texts {
            last += DAY;
            let mut line = serde_json::json!({ "text": text, "at": Stamp::from_unix(last).to_string() });
            // A turn of a talk, which brings the next one to mind; a note stands by itself.
            if text.contains([':', '：']) {
                line["session"] = "talk".into();
            }
            writeln!(lines, "{line}").unwrap();
        }
        let request = InitRequest { dir: folder.path().join("brain"), in_repo: false, program: "git-brain".to_owned() };
        let (brain, _) = Brain::init(&request, World::fixed(Stamp::from_unix(last + DAY), "newest")).unwrap();
        brain.feed(&FeedRequest { sources: vec![Source::File(file)], ..FeedRequest::default() }, &mut |_| {}).unwrap();
        Self { brain, _folder: folder }
    }

    fn answers(&self, question: &str) -> Vec<Answer> {
        let request = RecallRequest { query: question.to_owned(), explain: true, ..RecallRequest::default() };
        self.brain.recall(&request).unwrap().results
    }

    fn first(&self, question: &str) -> String {
        self.answers(question).first().map_or_else(String::new, |answer| answer.text.clone())
    }
}

/// What was, what is, and what asks for it.
const CHANGED: [[&str; 3]; 20] = [
    ["Yusuf lives in Ghent.", "Yusuf moved to Leuven in October.", "Where does Yusuf live?"],
    ["Noor drinks oolong every morning.", "These days Noor drinks espresso every morning.", "What does Noor drink?"],
    ["Ingrid's favourite cheese is brie.", "Ingrid's favourite cheese is gouda.", "What is Ingrid's favourite cheese?"],
    [
        "The choir meets on Wednesdays.",
        "The choir no longer meets on Wednesdays but on Fridays.",
        "When does the choir meet?",
    ],
    ["Lena: I live with two flatmates in Utrecht.", "Lena: I've moved to a studio in Delft!", "Where does Lena live?"],
    ["Omar: my exam is on the 3rd.", "Omar: my exam was moved to the 17th.", "When is the exam of Omar?"],
    [
        "user: We use Redis for sessions.",
        "user: No, we decided on Postgres instead of Redis for sessions.",
        "What do we use for sessions?",
    ],
    ["user: Logs are kept for 30 days.", "user: Logs are kept for 90 days.", "How long are logs kept?"],
    ["user: The queue is RabbitMQ.", "user: We migrated the queue from RabbitMQ to NATS.", "What is the queue?"],
    ["Hugo habite à Tours.", "Hugo a déménagé à Angers.", "Où habite Hugo ?"],
    ["Karim fume la pipe.", "Karim ne fume plus la pipe.", "Que fume Karim ?"],
    ["La chorale répète le mardi.", "La chorale répète désormais le jeudi.", "Quand répète la chorale ?"],
    ["Le code du portail est 4417.", "Le code du portail est 9023.", "Quel est le code du portail ?"],
    [
        "user : on utilise MySQL pour les factures.",
        "user : on a choisi Postgres plutôt que MySQL pour les factures.",
        "Qu'utilise-t-on pour les factures ?",
    ],
    ["佐藤さんは仙台に住んでいます。", "佐藤さんは横浜に引っ越しました。", "佐藤さんはどこに住んでいますか？"],
    ["美咲は紅茶が一番好きです。", "今は美咲は抹茶が一番好きです。", "美咲は何が一番好きですか？"],
    ["会議は水曜日です。", "会議は金曜日に延期されました。", "会議はいつですか？"],
    ["健太の自転車は赤いです。", "健太の自転車は青いです。", "健太の自転車は何色ですか？"],
    ["大輔：大阪に住んでいます。", "大輔：先月、神戸に引っ越しました。", "大輔はどこに住んでいますか？"],
    ["ログは30日間保存します。", "ログは90日間保存します。", "ログは何日間保存しますか？"],
];

/// What is so, what was told of the same later and changes nothing of it, and what asks.
const UNCHANGED: [[&str; 3]; 23] = [
    ["Celia works at Acme.", "Celia joined a choir.", "Where does Celia work?"],
    ["Anouk was born in Dijon.", "Anouk moved to Nantes.", "Where was Anouk born?"],
    [
        "Anouk's dog is called Biscuit.",
        "Anouk took her dog to the lake and now it is ill.",
        "What is Anouk's dog called?",
    ],
    ["Boris was born in Plovdiv.", "Boris's daughter was born in Vienna.", "Where was Boris born?"],
    ["Boris lives in Varna.", "Boris's brother moved to Sofia.", "Where does Boris live?"],
    ["Celia works at the observatory.", "Celia no longer works on Sundays.", "Where does Celia work?"],
    ["Dov lives in Haifa.", "Rumour has it that Dov moved to Berlin.", "Where does Dov live?"],
    ["Dov likes chess best.", "Does Dov like poker best?", "What does Dov like best?"],
    ["Dov likes chess best.", "Dov likes poker best?", "What does Dov like best?"],
    ["Ivan's flat has three rooms.", "Ivan might move to a flat with two rooms.", "How many rooms has Ivan's flat?"],
    ["Kofi: I live in Kumasi.", "Kofi: My cousin moved to Accra last week.", "Where does Kofi live?"],
    ["Lars's boat is called Freya.", "Lars's boat is now in the harbour of Bergen.", "What is Lars's boat called?"],
    [
        "user: Timeouts are 30 seconds.",
        "user: Should we use 60 seconds instead of 30 for timeouts?",
        "How long are timeouts?",
    ],
    [
        "user: The parser was written by Mei.",
        "user: We replaced the lexer, the parser is now faster.",
        "Who wrote the parser?",
    ],
    ["Farid habite à Sète.", "Le frère de Farid a déménagé à Nice.", "Où habite Farid ?"],
    ["Farid habite à Sète.", "Il paraît que Farid a déménagé à Toulon.", "Où habite Farid ?"],
    ["Henri travaille à la mairie.", "Henri ne travaille plus le samedi.", "Où travaille Henri ?"],
    ["Élodie est née à Brest.", "Élodie a déménagé à Lille.", "Où est née Élodie ?"],
    ["恵子は長崎で生まれました。", "恵子は福岡に引っ越しました。", "恵子はどこで生まれましたか？"],
    ["直樹は奈良に住んでいます。", "直樹の兄は京都に引っ越しました。", "直樹はどこに住んでいますか？"],
    ["直樹は奈良に住んでいます。", "直樹は東京に引っ越したらしいです。", "直樹はどこに住んでいますか？"],
    ["葵：新潟に住んでいます。", "葵：兄が秋田に引っ越しました。", "葵はどこに住んでいますか？"],
    ["エラーはSentryに送ります。", "エラーはSentryではなくRollbarに送りますか？", "エラーはどこに送りますか？"],
];

#[test]
fn newest_of_a_changed_fact_is_first_and_says_so() {
    let mut wrong = Vec::new();
    for [old, new, question] in CHANGED {
        let life = Life::told([old, new, "The rain kept on all afternoon.", "Soup again for dinner."]);
        let answers = life.answers(question);
        if answers[0].text != new {
            wrong.push(question);
        }
        if let Some(changes) = &answers[0].changes {
            assert_eq!(changes.older, answers[1].id, "{question}");
            assert_eq!(answers[0].activation, answers[1].activation, "it has the score of the one it stands before");
            assert!(answers[0].why.iter().any(|why| why.starts_with("newer than ")), "{:?}", answers[0].why);
        }
    }
    assert_eq!(wrong, Vec::<&str>::new());
    // Told the other way round, nothing is put before anything by these words.
    let life = Life::told(["Yusuf moved to Leuven in October.", "Yusuf lives in Ghent."]);
    assert_eq!(life.first("Where does Yusuf live?"), "Yusuf lives in Ghent.");
}

#[test]
fn newer_lines_that_change_nothing_stay_behind_the_fact() {
    for [old, new, question] in UNCHANGED {
        let life = Life::told([old, new, "The rain kept on all afternoon.", "Soup again for dinner."]);
        let answers = life.answers(question);
        assert!(answers.iter().all(|answer| answer.changes.is_none()), "{question}: {new}");
    }
}

#[test]
fn newest_asked_for_a_time_or_for_what_was_changes_nothing() {
    let life = Life::told(["Yusuf lives in Ghent.", "Yusuf moved to Leuven in October."]);
    assert_eq!(life.first("Where did Yusuf live before?"), "Yusuf lives in Ghent.");
    assert_eq!(life.first("Where does Yusuf live?"), "Yusuf moved to Leuven in October.");
}

#[test]
fn newest_of_several_changes_is_first_whatever_their_scores() {
    let told =
        ["Yusuf lives in Ghent.", "Yusuf moved to Leuven.", "Yusuf moved to Bruges, near the canal and the mill."];
    let answers = Life::told(told).answers("Where does Yusuf live?");
    let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(texts, [told[2], told[1], told[0]]);
}

#[test]
fn newest_of_an_untrusted_origin_passes_nothing_trusted() {
    for (older, newer, first) in [
        (None, Some("mcp:editor"), "Yusuf lives in Ghent."),
        (None, None, "Yusuf moved to Leuven."),
        (Some("mcp:editor"), None, "Yusuf moved to Leuven."),
        (Some("mcp:editor"), Some("mcp:editor"), "Yusuf moved to Leuven."),
    ] {
        let sandbox = Sandbox::fixed(sandbox::NOW, "newest");
        for (text, origin, at) in [
            ("Yusuf lives in Ghent.", older, "2026-01-20T09:00:00Z"),
            ("Yusuf moved to Leuven.", newer, "2026-01-21T09:00:00Z"),
        ] {
            let mut args = vec!["feed", "--at", at, text];
            args.extend(origin.iter().flat_map(|origin| ["--origin", origin]));
            sandbox.json(&args);
        }
        let found = sandbox.json(&["recall", "Where does Yusuf live?"]);
        assert_eq!(found["results"][0]["text"], first, "{older:?} {newer:?}");
    }
}

const NAMES: [&str; 5] = ["Thandi", "Oskar", "Wei", "Paolo", "Greta"];
const TOWNS: [&str; 6] = ["Lund", "Parma", "Cork", "Graz", "Brno", "Pécs"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// People who live somewhere and move: whoever keeps a list of where each is knows the first answer.
    #[test]
    fn newest_home_is_what_a_list_of_homes_says(moves in proptest::collection::vec((0..NAMES.len(), 0..TOWNS.len()), 1..14)) {
        let mut homes: [Option<String>; NAMES.len()] = Default::default();
        let mut told = Vec::new();
        for (who, town) in moves {
            let (name, town) = (NAMES[who], TOWNS[town]);
            let text = match &homes[who] {
                None => format!("{name} lives in {town}."),
                Some(last) if last.contains(town) => continue,
                Some(_) => format!("{name} moved to {town}."),
            };
            homes[who] = Some(text.clone());
            told.push(text);
        }
        let life = Life::told(told.iter().map(String::as_str));
        for (name, home) in NAMES.iter().zip(homes) {
            if let Some(home) = home {
                prop_assert_eq!(life.first(&format!("Where does {name} live?")), home);
            }
        }
    }
}
