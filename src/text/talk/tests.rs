use super::*;

const GREETING: Act = Act::SmallTalk(Courtesy::Greeting);
const THANKS: Act = Act::SmallTalk(Courtesy::Thanks);
const FAREWELL: Act = Act::SmallTalk(Courtesy::Farewell);
const REPLY: Act = Act::SmallTalk(Courtesy::Acknowledgement);

fn all_are(expected: Act, messages: &[&str]) {
    let wrong: Vec<(&&str, Act)> =
        messages.iter().map(|message| (message, act(message))).filter(|(_, act)| *act != expected).collect();
    assert!(wrong.is_empty(), "not {expected:?}: {wrong:#?}");
}

#[test]
fn questions_need_no_mark() {
    all_are(
        Act::Question,
        &[
            "What is the code of the bike lock?",
            "what is the code of the bike lock",
            "whats the wifi password",
            "What's Ida's number.",
            "where are my keys",
            "where did I park the car",
            "who likes green tea",
            "how many cats does Olga have",
            "how old is Ben",
            "when is the dentist",
            "which train goes to Bergen",
            "why did Anna leave",
            "in which town does Ida live",
            "is Anna vegetarian",
            "does the lift work again",
            "do you know where the spare key is",
            "has Olga paid the rent",
            "ok and where is it",
            "Hello, where is the key",
            "I wonder who wrote that letter",
            "I'd like to know when the shop opens",
            "I forgot where I put the passport",
            "I don't remember who gave me the book",
            "When I was in Oslo, what did Anna cook?",
            "passport number",
            "Piano tuner name",
            "Vaillant serial number",
            "MOT date Skoda",
            "Ida passport number",
            "vet",
            "do u remember the router password",
            "won't the landlord repaint the kitchen",
            "Marcus is allergic to what exactly",
            "t'as le code du portail",
            "le boulanger ferme quel jour",
            "il est où le disque dur",
            "asdkjh qwe",
            "Anna?",
            "What do you know about my sister? And about my brother?",
            "Où est la clé ?",
            "où est la clé",
            "ou est la cle du garage",
            "qui aime le thé vert",
            "comment s'appelle le chat de Solène",
            "quel est le code du cadenas",
            "quand part le train",
            "qu'est-ce que Paul a acheté",
            "est-ce que le magasin est ouvert",
            "à quelle heure ferme la poste",
            "Anna habite-t-elle à Lyon",
            "que fait Marie",
            "c'est quoi le mot de passe",
            "je voudrais savoir où est garée la voiture",
            "combien coûte le billet",
            "鍵はどこ",
            "鍵はどこですか",
            "誰が来たの",
            "イダはどこに住んでいますか？",
            "会議は何時から",
            "花子の誕生日はいつ",
            "自転車の鍵の番号は",
            "猫の名前は何だっけ",
            "リフトは直ったかな",
            "パスワードを知りたい",
        ],
    );
}

#[test]
fn orders_ask_for_what_is_known() {
    all_are(
        Act::Order,
        &[
            "Can you show me my appointments?",
            "can you list all birds that I saw",
            "please list my appointments",
            "Could you please summarise what I told you",
            "tell me about Ida",
            "Show me everything about the garden",
            "Summarise the last week.",
            "remind me what the code is",
            "find me the number of the plumber",
            "explain the second point again",
            "I want you to translate that",
            "Hi, give me a summary",
            "résume la semaine",
            "Montre-moi mes rendez-vous",
            "peux-tu me donner le numéro de Paul ?",
            "dis-moi où est la clé",
            "liste mes rendez-vous",
            "s'il te plaît, résume tout",
            "rappelle-moi le code du cadenas",
            "鍵の場所を教えて",
            "鍵の場所を教えてください",
            "予定を見せてくれますか",
            "先週のことをまとめて",
            "庭について",
            "forget the safe code",
            "delete everything about Selin",
            "/quit",
            "check the code of the bike lock",
            "Verify whether Anna is vegetarian",
            "check if the lift works",
            "sort my notes about the garden",
            "Summarise this: Hedda sings bass in the choir.",
            "proofread this: Anna live in Kyoto",
            "Translate into German: the heron stood in the reeds",
            "Write a poem about the sea",
            "draft an email to the landlord",
            "make a list of all birds",
            "suggest a name for the boat",
            "outline the talk",
            "kindly give me the code",
            "let's talk about Pixel",
            "écris un poème sur la mer",
            "Corrige cette phrase : il a manger",
            "この文を要約して：船は九時に出ます。",
            "rédige un mail pour Paul",
            "il faut que tu me donnes le code",
            "ミケの詩を書いて",
            "もう一度言って",
            "パスポートを見つけて",
            "vérifie si Paul est allergique",
            "trie mes rendez-vous",
            "予定を確認して",
            "oublie le code",
            "忘れて",
        ],
    );
}

#[test]
fn a_remark_says_nothing_and_a_lead_in_hides_nothing() {
    all_are(
        REPLY,
        &["You're funny", "that is wrong", "that's strange", "C'est pas grave", "c'est faux", "Tu es drôle"],
    );
    all_are(Act::Order, &["Make it shorter", "Sort them by date", "Summarise it"]);
    all_are(
        Act::Told,
        &[
            "That's Anna in the red coat",
            "Ida's number is 5531",
            "Dentist date Friday 10:30",
            "My name is Olga",
            "Wrong number again, said Ben",
            "New address: Harbour Street 12",
            "You are my brother",
            "C'est une vipère",
            "That is on Friday",
            "Make it to the dentist by 10",
            "Make it a rule that Henrik pays the rent on Fridays.",
            "Can you believe it, Jamal won the chess tournament in Ghent!",
            "You know what, Hedda sings bass",
            "Tu sais quoi, Lucas a été reçu à l'école vétérinaire !",
        ],
    );
    assert_eq!(told("Guess what, Nora moved to Turku."), ["Nora moved to Turku."]);
}

#[test]
fn small_talk_says_nothing() {
    all_are(
        GREETING,
        &[
            "hi",
            "Hello!",
            "Hey there",
            "Good morning",
            "Hello Anna",
            "how are you",
            "How are you?",
            "Hi, how are you?",
            "Good evening",
            "Guten Morgen",
            "Hola",
            "bonjour",
            "Salut !",
            "ça va ?",
            "こんにちは",
            "おはようございます！",
            "お元気ですか？",
            "👋 hi",
        ],
    );
    all_are(
        THANKS,
        &[
            "thanks",
            "Thank you so much!",
            "Thanks a lot for your help",
            "great, thanks",
            "thanks a lot, that helps",
            "ok thank you",
            "merci",
            "Merci beaucoup pour ton aide",
            "ありがとう",
            "ありがとうございました。",
            "はい、ありがとう",
        ],
    );
    all_are(
        FAREWELL,
        &[
            "bye",
            "see you tomorrow",
            "Good night",
            "Have a nice day!",
            "au revoir",
            "à demain",
            "bonne nuit",
            "さようなら",
            "おやすみなさい",
            "またね",
        ],
    );
    all_are(
        REPLY,
        &[
            "ok",
            "yes",
            "Yes, that is right.",
            "no",
            "I see.",
            "got it",
            "That makes sense",
            "I have a question.",
            "lol",
            "👍",
            "…",
            "",
            "oui",
            "d'accord",
            "c'est noté",
            "J'ai une question.",
            "はい",
            "なるほど",
            "わかりました",
            "そうですか",
        ],
    );
}

#[test]
fn what_is_told_is_kept() {
    all_are(
        Act::Told,
        &[
            "I bought a red bicycle in Lyon.",
            "My sister Ida moved to Bergen.",
            "Hi! My sister Ida moved to Bergen. What do you know about her?",
            "My sister Ida moved to Bergen, what do you know about her?",
            "Thanks. The code is 4711.",
            "Yes, he lives in Oslo.",
            "No, Oslo.",
            "Dentist Tuesday 3pm",
            "Buy milk.",
            "Call me Ishmael.",
            "I'm Will.",
            "42",
            "When I was in Oslo, Anna visited me.",
            "Where I live it rains a lot.",
            "What I like most is green tea.",
            "What Anna said is true.",
            "Will is my brother.",
            "May 5 is Olga's birthday",
            "Do the dishes on Friday",
            "Do not forget the milk",
            "Remember that Ida is allergic to nuts.",
            "Please note that I am away on Tuesday",
            "Can you remember that my sister lives in Bergen?",
            "remind me to water the plants on Monday",
            "I know where the key is: under the mat.",
            "List of groceries: milk, bread",
            "Name: Bob Larsen",
            "Send the report to Anna.",
            "See you in Bergen on Friday at nine",
            "J'ai acheté un vélo rouge à Lyon.",
            "Quand j'étais à Lyon, Anna est venue.",
            "Où je vis, il pleut beaucoup.",
            "Bonjour ! Ma sœur habite à Bergen. Que sais-tu d'elle ?",
            "Souviens-toi que Paul est allergique aux noix.",
            "N'oublie pas le lait",
            "rappelle-moi d'arroser les plantes",
            "Liste de courses : lait, pain",
            "妹のアイダがベルゲンに引っ越した。",
            "こんにちは。妹がベルゲンに引っ越しました。彼女について何を知っていますか？",
            "妹のアイダがベルゲンに引っ越したけど、彼女について何を知っていますか",
            "どこかで鍵をなくした",
            "昨日は誰も来なかった",
            "何を食べたか忘れたけど、店は駅前だった。",
            "鍵は赤い箱の中にあると覚えておいて",
            "アンナはナッツのアレルギーだと覚えておいてください",
            "いつも緑茶を飲みます",
            "Der Schlüssel liegt unter der Matte.",
            "Ida lives in Bergen, right?",
            "The wifi password is plover22. can you remember that?",
            "hi! I bought a drone for 900 euros. what did I pay for the bike?",
            "i moved to Utrecht last year. do you know that?",
            "my plumber is Mr Dekker. right?",
            "Meeting with Cas moved to Friday, ok?",
            "ok, and my shirt size is M, what is my shoe size",
            "J'ai vendu la tondeuse 80 euros. combien ai-je gagné ?",
            "mon vélo est rouge. tu savais ?",
            "Did you know that Piet married Saskia?",
            "明日は大阪で会議だよね？",
            "wifi password plover22",
            "dentist 3 May 10:15",
            "Passwort: xyz",
            "Nadia bakes bread",
            "The cat sleeps upstairs",
            "Our neighbour breeds alpacas",
            "Hugo studies law",
            "nadia bakes bread",
            "Jonas répare des vélos",
            "Sofia vend du miel",
            "Mark plays the bagpipes",
            "Will Parker called about the lease",
            "Was in Prague with Dorien last week",
            "Are moving to Lille in May",
            "Write the report on Friday",
            "Make a cake for Anna on Sunday",
            "check the boiler on Friday",
            "Review the contract tomorrow",
            "Open the garage at 8",
            "You know what, Hedda sings bass",
            "Guess what, I got the job!",
            "Q: When does the pool open? A: At nine.",
            "Ida: where is the key?\nBen: under the mat",
            "vérifie la chaudière vendredi",
        ],
    );
    assert_eq!(act("Wo liegt der Schlüssel?"), Act::Question, "other languages by their marks");
}

#[test]
fn talk_is_what_was_said_in_a_chat_and_tells_nothing() {
    let of = |source: &str, text: &str| talk(Some(source), Some("trip"), text);
    assert_eq!(of("chat:trip", "where is the key"), Some(Talk::Question));
    assert_eq!(of("chat:trip", "show me the key"), Some(Talk::Order));
    assert_eq!(of("chat:trip", "hello"), Some(Talk::SmallTalk));
    assert_eq!(of("chat:trip", "The key is red."), None);
    assert_eq!(of("chat:trip#2", "where is the key"), Some(Talk::Question), "a part of a long message");
    assert_eq!(of("answer:trip", "The key is red."), Some(Talk::Answer));
    assert_eq!(of("answer:trip#12", "The key is red."), Some(Talk::Answer));
    // What was fed is never talk, whatever its label looks like.
    assert_eq!(of("notes.md:3", "where is the key"), None);
    assert_eq!(of("chat:other", "where is the key"), None);
    assert_eq!(of("chat:trip#x", "where is the key"), None);
    assert_eq!(talk(Some("chat:trip"), None, "where is the key"), None);
    assert_eq!(talk(None, Some("trip"), "where is the key"), None);
}

#[test]
fn some_questions_are_about_the_conversation_itself() {
    for (message, expected) in [
        ("What did I ask you yesterday?", Some(Said::ByPerson)),
        ("what was my last question", Some(Said::ByPerson)),
        ("What did you answer?", Some(Said::ByBrain)),
        ("What did we talk about last week?", Some(Said::ByBoth)),
        ("Qu'est-ce que je t'ai demandé ?", Some(Said::ByPerson)),
        ("Que m'as-tu répondu hier ?", Some(Said::ByBrain)),
        ("De quoi avons-nous parlé ?", Some(Said::ByBoth)),
        ("昨日、私は何を聞きましたか", Some(Said::ByPerson)),
        ("さっき何と答えましたか", Some(Said::ByBrain)),
        ("前の会話で何を話しましたか", Some(Said::ByBoth)),
        ("What did Anna ask?", None),
        ("Where is the key?", None),
        ("花子は何を聞きましたか", None),
        ("Our conversation was long.", None),
    ] {
        assert_eq!(about_talk(message), expected, "{message}");
    }
}

#[test]
fn only_what_asks_is_asked() {
    for (message, what_is_asked, what_is_told) in [
        ("Hi! My sister moved to Bergen. Where is Ida?", "Where is Ida?", vec!["My sister moved to Bergen."]),
        ("I live in Oslo now, where is my umbrella?", "where is my umbrella?", vec!["I live in Oslo now"]),
        ("Where is Ida, I think she moved to Bergen", "Where is Ida", vec!["I think she moved to Bergen"]),
        ("When I was in Oslo, what did Anna cook?", "When I was in Oslo, what did Anna cook?", vec![]),
        (
            "妹のアイダがベルゲンに引っ越したけど、今どこですか",
            "今どこですか",
            vec!["妹のアイダがベルゲンに引っ越した"],
        ),
    ] {
        assert_eq!(
            (asked(message).as_deref(), told(message)),
            (Some(what_is_asked), what_is_told.iter().map(|t| (*t).to_owned()).collect())
        );
    }
    assert_eq!((asked("The key is red."), told("The key is red.")), (None, vec!["The key is red.".to_owned()]));
    let of = |text| evidence(Some("chat:c"), Some("c"), text).map(Cow::into_owned);
    assert_eq!(of("The key is red. Where is it?").as_deref(), Some("The key is red."));
    assert_eq!(of("Hello. The key is red.").as_deref(), Some("Hello. The key is red."), "nothing is asked");
    assert_eq!(of("Where is it?"), None);
    let fed = evidence(Some("notes.md"), Some("c"), "The key is red. Where is it?");
    assert_eq!(fed.as_deref(), Some("The key is red. Where is it?"));
}

/// Sentences of a list that are taken as its label says: M a memory, R a rule, T a task or an order, S small talk.
fn right(list: &str, label: &str) -> (usize, Vec<String>) {
    let rows = list.lines().filter_map(|line| line.split_once('\t')).filter(|(of, _)| *of == label);
    let (mut count, mut wrong) = (0, Vec::new());
    for (_, sentence) in rows {
        let taken = match act(sentence) {
            Act::SmallTalk(_) => "S",
            _ if is_task(sentence) => "T",
            Act::Told if is_rule(sentence) => "R",
            Act::Told => "M",
            Act::Question => "Q",
            Act::Order => "T",
        };
        count += usize::from(taken == label);
        if taken != label {
            wrong.push(format!("{taken} {sentence}"));
        }
    }
    (count, wrong)
}

#[test]
fn statements_rules_and_tasks_are_told_apart_by_form() {
    // The lists were written before the forms; the forms were chosen on the first alone.
    let (chosen, held_out) =
        (include_str!("../../../tests/data/talk/chosen.txt"), include_str!("../../../tests/data/talk/held-out.txt"));
    let floors = [("M", 63, 59), ("R", 17, 16), ("T", 33, 35), ("S", 9, 9)];
    for (label, of_chosen, of_held_out) in floors {
        for (list, floor) in [(chosen, of_chosen), (held_out, of_held_out)] {
            let (count, wrong) = right(list, label);
            assert!(count >= floor, "{label}: {count} of {floor}: {wrong:#?}");
        }
    }
}

#[test]
fn files_that_are_named_before_a_question_cost_no_more_each() {
    // Each one doubled the time once: a minute for twenty.
    assert_eq!(act(&("@src/a.rs ".repeat(2_000) + "where is the tea?")), Act::Question);
}

#[test]
fn orders_for_good_are_rules_in_other_languages() {
    for rule in [
        "Verwende immer pnpm für das Paket Walrus.",
        "Pushe niemals auf den Zweig Walrus ohne Review.",
        "Push nie direkt auf Walrus.",
        "Verwenden Sie stets Tabs im Paket Walrus.",
        "Nutze für Walrus immer Tabs.",
        "Verwende in den Tests niemals Walrus.",
        "Utilise toujours pnpm pour Walrus.",
        "Ne poussez jamais sur Walrus.",
        "N'utilise jamais Walrus dans les tests.",
        "No uses nunca Walrus en las pruebas.",
    ] {
        assert!(act(rule) == Act::Told && !is_task(rule) && is_rule(rule), "{rule}");
    }
    for told in [
        "Bekomme immer einen Fehler von Walrus.",
        "Läuft immer noch nicht mit Walrus.",
        "Fast immer ist Walrus schuld.",
        "Tests in CI laufen immer zuerst.",
        "Anna nutzt für Walrus immer Tabs.",
        "Il utilise toujours Walrus en production.",
        "N'est jamais parti de Walrus.",
        "Presque toujours la faute de Walrus.",
        "No llega nunca a tiempo a Walrus.",
    ] {
        assert!(!is_rule(told), "{told}");
    }
}

#[test]
fn statement_that_begins_with_a_verb_is_a_memory_and_an_order_a_task() {
    for told in [
        "Merge commits are forbidden on main.",
        "Ben is the release manager.",
        "Lint errors break the build.",
        "Move to Postgres 16 is done.",
        "Teste sind in tests/ und laufen mit tox.",
        "Lance est le chef de projet.",
        "Push a main está prohibido.",
        "I want you to know the SLA is 99.9 %.",
    ] {
        assert!(act(told) == Act::Told && !is_task(told) && !is_rule(told), "{told}");
    }
    for rule in
        ["Write docs in British English.", "Stop using moment.js; date-fns is our library.", "Tabs, not spaces."]
    {
        assert!(act(rule) == Act::Told && !is_task(rule) && is_rule(rule), "{rule}");
    }
    for task in [
        "Write a test for the parser.",
        "fix the test",
        "Fix the bug that breaks the build.",
        "Add the field the API needs.",
        "Rename `is_rule` to `has_rule`.",
        "Merge branches of several runs with `git merge`",
        "Run the tests we have",
    ] {
        assert!(is_task(task) && !is_rule(task), "{task}");
    }
}

#[test]
fn hostile_text_is_classified() {
    let long = "a ".repeat(30_000);
    let messages = [
        "?",
        "，、。",
        "'''",
        "s'il te plaît",
        "-",
        "a-",
        "-je",
        "\u{202e}?",
        "\u{0}",
        "か",
        "は",
        "何",
        long.as_str(),
        "what",
        "who",
        "s",
        "write",
        "Write docs in",
        "stop using",
        "rule:",
        ", not ,",
    ];
    messages.iter().for_each(|message| {
        drop((act(message), asked(message), about_talk(message), is_rule(message), is_task(message)))
    });
}
