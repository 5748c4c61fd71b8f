//! Talk is not fact: hundreds of messages to the brain, the same questions among them, change nothing of what it answers, and what was
//! told in a chat is found. In three languages.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::sandbox::{NOW, Sandbox};
use git_brain::brain::{Brain, ChatRequest, FeedRequest, InitRequest, RecallRequest, Source, World};
use serde_json::{Value, json};

/// A fact, and a question that it answers.
const FACTS: [(&str, &str); 44] = [
    ("The bike lock opens with the code 4711.", "what is the code of the bike lock"),
    ("The spare key hangs behind Olga's blue raincoat.", "Where does the spare key hang?"),
    ("Ida moved from Oslo to Bergen in spring.", "where did Ida move"),
    ("Ben is allergic to hazelnuts.", "What is Ben allergic to?"),
    ("The plumber's number is 555 0199.", "number of the plumber?"),
    ("We keep the passports in the green tin box.", "where are the passports"),
    ("Dr. Holm prescribed two drops every evening.", "what did Dr. Holm prescribe"),
    ("The printer jams when the paper is damp.", "why does the printer jam"),
    ("Grandfather sold the sailing boat in 1987.", "who sold the sailing boat"),
    ("The cat next door is called Mortimer.", "What is the cat next door called?"),
    ("Olga paid the deposit for the cabin on Tuesday.", "did Olga pay the deposit for the cabin"),
    ("The ferry to Stord leaves at seven.", "when does the ferry to Stord leave"),
    ("Nils plays the cello in the town orchestra.", "which instrument does Nils play"),
    ("The greenhouse needs a new pane of glass.", "what does the greenhouse need"),
    ("Our wedding rings were made by a smith in Voss.", "who made our wedding rings"),
    ("The router stands on top of the bookshelf.", "where does the router stand"),
    ("Le code du cadenas du vélo est 2580.", "quel est le code du cadenas du vélo"),
    ("La clé de la cave est sous le pot de basilic.", "où est la clé de la cave"),
    ("Solène a déménagé de Nantes à Grenoble.", "où Solène a-t-elle déménagé ?"),
    ("Paul est allergique aux crevettes.", "À quoi Paul est-il allergique ?"),
    ("Le plombier s'appelle monsieur Garnier.", "comment s'appelle le plombier"),
    ("Les passeports sont dans la boîte rouge du bureau.", "où sont les passeports"),
    ("Le docteur Renaud a prescrit un sirop amer.", "qu'a prescrit le docteur Renaud"),
    ("L'imprimante se bloque quand le papier est humide.", "pourquoi l'imprimante se bloque"),
    ("Grand-mère a vendu la ferme en 1974.", "qui a vendu la ferme"),
    ("Le chat du voisin s'appelle Pistache.", "comment s'appelle le chat du voisin"),
    ("Marion joue du hautbois dans l'orchestre.", "de quel instrument joue Marion"),
    ("Le bac pour l'île part à six heures.", "quand part le bac pour l'île"),
    ("La serre a besoin d'une nouvelle vitre.", "de quoi la serre a-t-elle besoin ?"),
    ("Nos alliances viennent d'un bijoutier de Quimper.", "d'où viennent nos alliances"),
    ("自転車の錠の番号は九三一です。", "自転車の錠の番号は何ですか"),
    ("地下室の鍵は植木鉢の下にあります。", "地下室の鍵はどこ"),
    ("美咲は札幌から福岡へ引っ越しました。", "美咲はどこへ引っ越しましたか"),
    ("健太は蕎麦のアレルギーがあります。", "健太は何のアレルギーですか"),
    ("水道屋の電話は夕方だけ通じます。", "水道屋の電話はいつ通じますか"),
    ("旅券は赤い缶の中に入れました。", "旅券はどこに入れましたか"),
    ("山本先生は目薬を出してくれました。", "山本先生は何を出してくれましたか"),
    ("印刷機は湿った紙で止まります。", "印刷機はなぜ止まりますか"),
    ("祖父は漁船を売りました。", "祖父は何を売りましたか"),
    ("隣の猫の名前は小豆です。", "隣の猫の名前は？"),
    ("由紀は管弦楽団で笛を吹きます。", "由紀は管弦楽団で何を吹きますか"),
    ("島への船は六時に出ます。", "島への船は何時に出ますか"),
    ("温室には新しい硝子が必要です。", "温室には何が必要ですか"),
    ("結婚指輪は金沢の職人が作りました。", "結婚指輪は誰が作りましたか"),
];

/// What a person tells in chats, some of it beside a question, and a question that it answers.
const TOLD: [(&str, &str); 7] = [
    ("I bought a red canoe in Lyon.", "what did I buy in Lyon"),
    ("Hi! My cousin Tor opened a bakery. What do you know about bakeries?", "what did Tor open"),
    ("Remember that the alarm code is 8642.", "what is the alarm code"),
    ("J'ai prêté la perceuse à Gaston.", "à qui ai-je prêté la perceuse"),
    ("Bonjour ! Ma filleule Inès apprend le violon. Que sais-tu d'elle ?", "qui apprend le violon"),
    ("姪の葵は弓道を始めました。", "弓道を始めたのは誰ですか"),
    ("会議室の暗証番号は五五二だと覚えておいて", "会議室の暗証番号は何ですか"),
];

const COURTESIES: [&str; 12] = [
    "hi",
    "thanks",
    "ok, thank you!",
    "good morning",
    "see you tomorrow",
    "bonjour",
    "merci beaucoup",
    "au revoir",
    "こんにちは",
    "ありがとうございます",
    "おやすみなさい",
    "yes, that is right",
];

fn brain_of(folder: &tempfile::TempDir, lines: &str) -> Brain {
    let request = InitRequest { dir: folder.path().join("brain"), in_repo: false, program: "git-brain".to_owned() };
    let (brain, _) = Brain::init(&request, World::fixed(NOW.parse().unwrap(), "talk")).unwrap();
    feed(&brain, folder, lines);
    brain
}

fn feed(brain: &Brain, folder: &tempfile::TempDir, lines: &str) {
    let file = folder.path().join("lines.jsonl");
    std::fs::write(&file, lines).unwrap();
    brain.feed(&FeedRequest { sources: vec![Source::File(file)], ..FeedRequest::default() }, &mut |_| {}).unwrap();
}

fn line(text: &str, source: &str, session: Option<&str>) -> String {
    format!("{}\n", json!({"text": text, "source": source, "session": session}))
}

/// At which place each question finds its fact.
fn ranks<'q>(brain: &Brain, asked: impl Iterator<Item = (&'q str, &'q str)>) -> BTreeMap<&'q str, Option<usize>> {
    let rank = |(fact, question): (&'q str, &'q str)| {
        let request = RecallRequest { query: question.to_owned(), top: Some(10), ..RecallRequest::default() };
        let found = brain.recall(&request).unwrap().results;
        (question, found.iter().position(|answer| answer.text == fact))
    };
    asked.map(rank).collect()
}

fn share(ranks: &BTreeMap<&str, Option<usize>>, top: usize) -> f64 {
    let found = ranks.values().filter(|rank| rank.is_some_and(|rank| rank < top)).count();
    found as f64 / ranks.len() as f64
}

/// Five hundred turns as chats leave them: questions, also those with evidence, orders, courtesies, and the brain's answers.
fn chatted() -> String {
    let mut lines = String::new();
    for n in 0..250 {
        let (fact, question) = FACTS[n * 7 % FACTS.len()];
        let name = format!("c{}", n / 25);
        let said = match n % 5 {
            0 => COURTESIES[n % COURTESIES.len()].to_owned(),
            1 if question.is_ascii() => format!("can you tell me {question}"),
            _ => question.to_owned(),
        };
        lines += &line(&said, &format!("chat:{name}"), Some(&name))
            .replace("\"text\"", &format!("\"at\":\"2026-01-25T{:02}:{:02}:00Z\",\"text\"", 8 + n / 60, n % 60));
        let answer = format!("From memory, word for word, without a model:\n- {fact} [1] (26 January 2026)");
        lines += &line(&answer, &format!("answer:{name}"), Some(&name))
            .replace("\"text\"", &format!("\"at\":\"2026-01-25T{:02}:{:02}:30Z\",\"text\"", 8 + n / 60, n % 60));
    }
    lines
}

#[test]
fn five_hundred_turns_of_talk_change_no_answer_and_what_was_told_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let facts: String = FACTS.iter().enumerate().map(|(n, (fact, _))| line(fact, &format!("F{n}"), None)).collect();
    let brain = brain_of(&folder, &facts);
    let before = ranks(&brain, FACTS.into_iter());
    assert!(share(&before, 3) > 0.9, "{before:?}");
    let concepts =
        |brain: &Brain| brain.neurons(None).unwrap().iter().filter(|n| n.kind.as_str() == "semantic").count();
    let made = concepts(&brain);

    feed(&brain, &folder, &chatted());
    assert_eq!(
        brain.neurons(None).unwrap().iter().filter(|n| n.kind.as_str() == "episodic").count(),
        FACTS.len() + 500
    );
    assert_eq!(ranks(&brain, FACTS.into_iter()), before, "not one fact has another place");
    assert_eq!(concepts(&brain), made, "words that were only asked with are no concepts");

    // The same through the chat itself, and what is told in it.
    let say = |message: &str| {
        let request = ChatRequest { message: message.to_owned(), ..ChatRequest::default() };
        brain.chat(&request, &mut |_| ControlFlow::Continue(())).unwrap().reply
    };
    for (fact, question) in [FACTS[0], FACTS[16], FACTS[33]] {
        let reply = say(question);
        assert!(reply.contains(fact) && reply.lines().count() == 2, "{reply}");
    }
    assert!(say("hi").starts_with("Hello") && say("merci").starts_with("De rien"));
    for (told, _) in TOLD {
        let reply = say(told);
        assert!(
            ["I will remember", "Je me souviendrai", "覚えておきます"].iter().any(|kept| reply.contains(kept)),
            "{reply}"
        );
    }
    let told = ranks(&brain, TOLD.into_iter());
    assert!(told.values().all(|rank| rank.is_some_and(|rank| rank < 3)), "{told:?}");
    let after = ranks(&brain, FACTS.into_iter());
    for top in [3, 10] {
        assert!(share(&before, top) - share(&after, top) <= 0.005, "@{top}: {before:?} {after:?}");
    }
}

#[test]
fn conversations_are_found_when_they_are_asked_for() {
    let sandbox = Sandbox::fixed(NOW, "talk");
    sandbox.json(&[
        "feed",
        "The spare key hangs behind Olga's raincoat.",
        "--source",
        "notes.md",
        "--session",
        "house",
    ]);
    sandbox.json(&["feed", "The spare key of the office is lost.", "--session", "office"]);
    sandbox.json(&["chat", "where is the spare key", "--conversation", "trip"]);
    sandbox.json(&["chat", "thanks", "--conversation", "trip"]);
    let texts = |args: &[&str]| -> Vec<String> {
        let answer = sandbox.json(args);
        let results = answer["results"].as_array().unwrap();
        results
            .iter()
            .map(|found| format!("{}: {}", found["talk"].as_str().unwrap_or("-"), found["text"].as_str().unwrap()))
            .collect()
    };
    let evidence = texts(&["recall", "spare key"]);
    assert!(evidence.len() == 2 && evidence.iter().all(|text| text.starts_with("-: ")), "{evidence:?}");
    let talk = texts(&["recall", "spare key", "--talk"]);
    assert_eq!(talk[0], "question: where is the spare key");
    assert!(talk.len() == 2 && talk[1].starts_with("answer: From memory"), "{talk:?}");
    assert_eq!(texts(&["recall", "what did I say", "--talk", "--session", "trip"]).len(), 4, "all of a conversation");
    assert_eq!(texts(&["recall", "spare key", "--session", "office"]), ["-: The spare key of the office is lost."]);
    let none = sandbox.json(&["recall", "spare key", "--session", "nowhere"]);
    assert_eq!(
        (&none["results"], &none["notes"]),
        (&json!([]), &json!(["no memory belongs to the session \"nowhere\""]))
    );
    sandbox.brain(&["recall", "spare key", "--talk", "--learn"]).exits(2);

    // In a chat: evidence first, and talk only where it is asked for, with its own heading.
    let reply = |message: &str| -> String {
        let answer: Value = sandbox.json(&["chat", message, "--conversation", "later"]);
        answer["reply"].as_str().unwrap().to_owned()
    };
    let plain = reply("where does the spare key hang?");
    assert!(plain.contains("raincoat. [1] (notes.md, 26 January 2026)") && !plain.contains("conversations"), "{plain}");
    let about = reply("what did I ask you about the spare key?");
    let (evidence, talk) = about.split_once("From our conversations:").unwrap();
    assert!(evidence.contains("raincoat") && talk.contains("you: where is the spare key ["), "{about}");
    assert!(reply("What did I ask you about submarines?").contains("know nothing about that"));
    let french = reply("qu'est-ce que je t'ai demandé ?");
    assert!(french.starts_with("De nos conversations :\n- toi : "), "{french}");
    sandbox.fsck();
}
