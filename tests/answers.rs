//! What people read when they ask: one line a hit, whole texts, reasons in words, dates in words, concepts.

use crate::sandbox::{NOW, PROGRAM, Sandbox, connect, create, delta};
use serde_json::{Value, json};

const LONG: &str =
    "Anna: Good morning! I went to the market, then to the shop at the corner, and bought rice and green tea.";

/// Three days of a brain at a fixed clock, in three languages, with a text that is said twice.
fn days() -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "answers");
    let rows = [
        ("2026-01-24T09:00:00Z", "notes/market.md:3", "market", LONG),
        ("2026-01-25T09:00:00Z", "mail:7", "mail", "Ben: Green tea is served at noon."),
        ("2026-01-25T18:00:00Z", "mail:9", "mail", "Olga: Green tea is served at noon."),
        (
            "2026-01-26T08:00:00Z",
            "夕食:1",
            "夕食",
            "ベン: アンナさんは京都で抹茶を飲みました。とても美味しかったそうです。",
        ),
        ("2026-01-26T08:01:00Z", "夕食:2", "夕食", "ゆき: 明日の朝、お寺の庭で会いますか？"),
    ];
    let line = |(at, source, session, text): &(&str, &str, &str, &str)| {
        format!("{}\n", json!({"at": at, "source": source, "session": session, "text": text}))
    };
    let file = sandbox.file("days.jsonl", rows.iter().map(line).collect::<String>());
    sandbox.json(&["feed", "--file", &file]);
    sandbox
}

fn results(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"))
}

fn sources(answer: &Value) -> Vec<&str> {
    results(answer).iter().map(|hit| hit["source"].as_str().unwrap_or("-")).collect()
}

/// Without scores and ids, which other parts of the program decide.
fn without_figures(text: &str) -> String {
    let plain = |word: &str| match word {
        word if word.len() == 4 && word.parse::<f64>().is_ok() => "#.##".to_owned(),
        word if word.starts_with("e-") => format!("e-{}", "#".repeat(word.len() - 2)),
        word => word.to_owned(),
    };
    text.split(' ').map(|word| word.split('\n').map(plain).collect::<Vec<_>>().join("\n")).collect::<Vec<_>>().join(" ")
}

#[test]
fn hits_are_one_line_each_as_wide_as_asked() {
    let sandbox = days().with("COLUMNS", "80");
    let shown = sandbox.brain(&["recall", "who", "likes", "green", "tea", "--top", "2"]).exits(0).out;
    assert_eq!(
        without_figures(&shown),
        "2026-01-25  #.##  mail:9            Olga: Green tea is se… (2 times)  e-########\n\
         2026-01-24  #.##  …tes/market.md:3  Anna: …rice and green tea.        e-########\n"
    );
}

#[test]
fn hits_in_japanese_are_as_wide_as_any() {
    for columns in ["60", "80", "140"] {
        let sandbox = days().with("COLUMNS", columns);
        let shown = sandbox.brain(&["recall", "京都で何を飲みましたか？", "お寺の庭"]).exits(0).out;
        let columns: usize = columns.parse().unwrap();
        let wide = |c: char| if ('\u{2e80}'..'\u{ffef}').contains(&c) { 2 } else { 1 };
        let widths: Vec<usize> = shown.lines().map(|line| line.chars().map(wide).sum()).collect();
        assert!(widths.len() >= 2 && widths.iter().all(|width| *width <= columns), "{columns}: {widths:?}\n{shown}");
        let ids: Vec<Option<usize>> =
            (shown.lines()).map(|line| line.rfind("  e-").map(|at| line[..at].chars().map(wide).sum())).collect();
        assert!(ids.iter().all(|at| at.is_some() && *at == ids[0]), "aligned: {ids:?}\n{shown}");
    }
}

#[test]
fn a_pipe_gets_whole_texts_and_whole_ids() {
    let sandbox = days();
    let shown = sandbox.brain(&["recall", "market", "shop", "--top", "1"]).exits(0).out;
    let id = sandbox.json(&["recall", "market shop", "--top", "1"])["results"][0]["id"].as_str().unwrap().to_owned();
    assert!(shown.contains(LONG) && shown.trim_end().ends_with(&id) && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(shown.lines().count(), 1);
}

#[test]
fn an_id_may_be_shortened() {
    let sandbox = days().with("COLUMNS", "80");
    let shown = sandbox.brain(&["recall", "market", "--top", "1"]).exits(0).out;
    let short = shown.split_whitespace().last().unwrap().to_owned();
    assert_eq!(short.len(), 10, "{shown}");
    let long = sandbox.json(&["recall", "market", "--top", "1"])["results"][0]["id"].as_str().unwrap().to_owned();
    assert!(long.starts_with(&short) && long.len() > short.len());
    for command in ["why", "blame", "show"] {
        let [by_short, by_long] = [&short, &long].map(|id| sandbox.json(&[command, id]));
        assert_eq!(by_short, by_long, "{command}");
    }
    sandbox.apply(&delta(json!([create("teatime-one"), create("teatime-two")])), &[]);
    let answer = sandbox.brain(&["why", "teatime-"]).exits(2);
    assert!(answer.err.contains("several ids") && answer.err.contains("teatime-one, teatime-two"), "{answer}");
    // An id in full is meant, though another begins with it; too short a beginning is none.
    sandbox.apply(&delta(json!([create("teatime-one-more")])), &[]);
    assert_eq!(sandbox.json(&["why", "teatime-one"])["neuron"], "teatime-one");
    assert!(sandbox.brain(&["why", "teatime"]).exits(2).err.contains("no neuron teatime"));
}

#[test]
fn full_answers_have_whole_texts_and_all_facts() {
    let sandbox = days().with("COLUMNS", "60");
    let shown = sandbox.brain(&["recall", "--full", "green", "tea", "served", "--top", "1"]).exits(0).out;
    for part in [
        "2026-01-25T18:00:00Z",
        "source mail:9",
        "session mail",
        "origin local",
        "score ",
        "salience ",
        "Olga: Green tea is served at noon.",
        "said by Ben",
    ] {
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    let long = sandbox.brain(&["recall", "--full", "market", "--top", "1"]).exits(0).out;
    let text: Vec<&str> = long.lines().skip(2).map(str::trim).collect();
    assert!(text.join(" ").contains(LONG), "{long}");
}

#[test]
fn equal_texts_are_one_answer() {
    let sandbox = days();
    let answer = sandbox.json(&["recall", "Green tea is served at noon", "--top", "2"]);
    assert_eq!(sources(&answer), ["mail:9", "notes/market.md:3"], "the next one moves up");
    let first = &results(&answer)[0];
    assert_eq!(first["at"], "2026-01-25T18:00:00Z");
    let also = first["also"].as_array().unwrap();
    assert_eq!((also.len(), &also[0]["source"], &also[0]["speaker"]), (1, &json!("mail:7"), &json!("Ben")));
    assert_eq!(also[0]["at"], "2026-01-25T09:00:00Z");
    assert!(results(&answer)[1].get("also").is_none());
    // Who is named is the one who stands for all.
    assert_eq!(sources(&sandbox.json(&["recall", "What did Ben say of green tea?", "--top", "1"])), ["mail:7"]);
}

#[test]
fn many_equal_texts_leave_room_for_others() {
    let sandbox = Sandbox::fixed(NOW, "many");
    let line = |n: usize| format!("{}\n", json!({"source": format!("s:{n}"), "text": "The green tea is gone."}));
    let mut lines: String = (0..40).map(line).collect();
    lines += &format!(
        "{}\n",
        json!({"source": "other", "text": "We like tea, and what else there is to drink in the morning."})
    );
    let file = sandbox.file("many.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    let answer = sandbox.json(&["recall", "green tea", "--top", "2"]);
    assert_eq!((results(&answer).len(), sources(&answer)[1]), (2, "other"), "{answer}");
    assert_eq!(results(&answer)[0]["also"].as_array().unwrap().len(), 7, "as many as are read");
}

#[test]
fn tokens_pass_over_what_does_not_fit_and_know_no_top() {
    let sandbox = Sandbox::fixed(NOW, "tokens");
    let mut lines =
        format!("{}\n", json!({"source": "long", "text": format!("heron heron heron {}", "and so on ".repeat(60))}));
    for n in 0..15 {
        lines += &format!("{}\n", json!({"source": format!("s:{n}"), "text": format!("A heron stood in pond {n}.")}));
    }
    let file = sandbox.file("herons.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    let all = |args: &[&str]| sandbox.json(&[&["recall", "heron", "--tokens"], args].concat());
    assert_eq!(results(&all(&["120"])).len(), 15, "more than recall.top, and not the long one");
    assert!(!sources(&all(&["120"])).contains(&"long"));
    assert_eq!(results(&all(&["100000"])).len(), 16);
    assert_eq!(results(&all(&["120", "--top", "3"])).len(), 3);
    assert_eq!(results(&all(&["0"])).len(), 0);
}

#[test]
fn dates_are_written_as_git_takes_them() {
    let sandbox = days();
    let found = |args: &[&str]| {
        let answer = sandbox.json(&[&["recall", "green tea market 抹茶 お寺"], args].concat());
        let mut found: Vec<String> = (results(&answer).iter())
            .filter(|hit| hit["type"] == "episodic")
            .map(|hit| hit["at"].as_str().unwrap()[..10].to_owned())
            .collect();
        found.sort();
        found.dedup();
        found
    };
    let (saturday, sunday, monday) = ("2026-01-24", "2026-01-25", "2026-01-26");
    assert_eq!(found(&[]), [saturday, sunday, monday]);
    for (args, expected) in [
        (&["--since", "yesterday"][..], &[sunday, monday][..]),
        (&["--until", "yesterday"], &[saturday, sunday]),
        (&["--since", "2026-01-25", "--until", "2026-01-25"], &[sunday]),
        (&["--since", "last saturday", "--until", "last saturday"], &[saturday]),
        (&["--since", "saturday"], &[saturday, sunday, monday]),
        (&["--since", "today"], &[monday]),
        (&["--since", "2 days ago"], &[saturday, sunday, monday]),
        (&["--since", "a week ago", "--until", "2 days ago"], &[saturday]),
        (&["--since", "25 Jan 2026"], &[sunday, monday]),
        (&["--since", "7 hours ago"], &[monday]),
        (&["--since", "2026-01-26T09:00:00+01:00"], &[monday]),
        (&["--since", "1769331600"], &[sunday, monday]),
        (&["--since", "2026-01", "--until", "2026"], &[saturday, sunday, monday]),
    ] {
        assert_eq!(found(args), expected, "{args:?}");
    }
    for (args, says) in [
        (&["--since", "yestreday"][..], "\"yestreday\""),
        (&["--until", "2026-02-30"], "no day 2026-02-30"),
        (&["--since", ""], "--since"),
        (&["--since", "week ago"], "no date"),
        (&["--since", "today", "--until", "yesterday"], "later than"),
    ] {
        let answer = sandbox.brain(&[&["recall", "tea"], args].concat()).exits(2);
        assert!(answer.err.contains(says), "{answer}");
    }
    // Times of day are those of UTC wherever the machine stands.
    for zone in ["UTC", "Asia/Tokyo", "America/Lima"] {
        let sandbox = days().with("TZ", zone);
        let args = ["recall", "market", "--since", "24 Jan 2026 08:30", "--until", "24 Jan 2026 09:30"];
        assert_eq!(sources(&sandbox.json(&args)), ["notes/market.md:3"], "{zone}");
    }
}

#[test]
fn reasons_are_said_in_words() {
    let sandbox = days();
    let why = |args: &[&str]| {
        let answer = sandbox.json(&[&["recall", "--explain"], args].concat());
        let all = results(&answer).iter().map(|hit| hit["why"].as_array().cloned().unwrap_or_default());
        all.map(|why| why.iter().map(|s| s.as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n"))
            .collect::<Vec<_>>()
    };
    let said = why(&["What did Anna buy on 24 January 2026? Green tea?", "--top", "1"]);
    assert!(said[0].contains("\"Anna\", \"green\" and \"tea\" stand in it"), "{said:?}");
    assert!(said[0].contains("Anna says it, and the question names Anna"), "{said:?}");
    assert!(said[0].contains("it dates from 2026-01-24, and the question asks for 2026-01-24"), "{said:?}");
    let said = why(&["京都"]);
    assert!(
        said.iter().any(
            |why| why.contains("follows \"ベン: アンナさんは") || why.contains("comes before \"ベン: アンナさんは")
        ),
        "{said:?}"
    );
    let shown = sandbox.brain(&["recall", "--explain", "京都"]).exits(0).out;
    assert!(shown.contains("\"京都\" stands in it"), "{shown}");
    assert!(sandbox.json(&["recall", "京都"])["results"][0].get("why").is_none());
}

#[test]
fn memories_that_share_a_name_are_explained_by_it() {
    let sandbox = Sandbox::fixed(NOW, "names");
    let text = |text: &str| format!("{}\n", json!({"text": text}));
    let lines = text("We saw the famous temple of Uji Town.") + &text("They say that Uji Town has the best oolong.");
    let file = sandbox.file("names.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    let answer = sandbox.json(&["recall", "--explain", "oolong"]);
    let said = results(&answer)[1]["why"].to_string();
    assert!(said.contains("shares the name") && said.contains("They say that Uji Town"), "{answer}");
}

#[test]
fn find_lists_concepts_with_what_they_bring_to_mind() {
    let sandbox = days();
    let found = sandbox.json(&["find", "mark"]);
    let market = &results(&found)[0];
    assert_eq!((&market["concept"], &market["memories"]), (&json!("market"), &json!(1)), "{found}");
    assert!(market["salience"].as_u64().unwrap() > 0 && market["id"].as_str().unwrap().starts_with("market"));
    let tea = sandbox.json(&["find", "TEAS"]);
    assert_eq!(results(&tea)[0]["concept"], "tea", "{tea}");
    assert_eq!(results(&tea)[0]["memories"], 3);
    assert_eq!(results(&sandbox.json(&["find", "green", "tea", "--top", "1"])).len(), 1);
    let shown = sandbox.brain(&["find", "market"]).exits(0).out;
    assert!(shown.starts_with("market  1 memory  salience "), "{shown}");
    let nothing = sandbox.brain(&["find", "zzyzx\u{1b}"]).exits(0);
    assert!(nothing.out.contains("no concept has the words") && !nothing.out.contains('\u{1b}'), "{nothing}");
    assert!(results(&sandbox.json(&["find", "zzyzx"])).is_empty());
    for args in [&["find"][..], &["find", " "], &["find", "x", "--at", "no-such-branch"]] {
        sandbox.brain(args).exits(2);
    }
    // A concept of this moment that nothing leads to yet.
    sandbox.apply(
        &delta(json!([create("gannet"), create("gannet-two"), connect("gannet", "gannet-two", "feeds_into", 9)])),
        &[],
    );
    assert_eq!(results(&sandbox.json(&["find", "gannet"]))[0]["memories"], 0);
    assert!(results(&sandbox.json(&["find", "gannet", "--at", "wake~1"])).is_empty());
}

#[test]
fn a_question_needs_no_quotes() {
    let sandbox = days();
    let quoted = sandbox.json(&["recall", "who likes green tea"]);
    assert_eq!(sandbox.json(&["recall", "who", "likes", "green", "tea"]), quoted);
    assert_eq!(sandbox.json(&["recall", "--top", "10", "who", "likes", "--", "green", "tea"]), quoted);
    sandbox.brain(&["recall", "--", "--since"]).exits(0);
}

#[test]
fn the_examples_of_help_work() {
    let sandbox = days();
    for file in ["diary.md", "notes/garden.md", "letters/may.txt"] {
        let path = sandbox.dir().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("The roses of {file} are in bloom.\n")).unwrap();
    }
    sandbox.brain(&["subject", "add", "Anna"]).exits(0);
    let dir = std::path::Path::new(PROGRAM).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(dir).chain(std::env::split_paths(&path))).unwrap();
    for command in ["recall", "find", "feed"] {
        let help = sandbox.brain(&[command, "--help"]).exits(0).out;
        let (_, examples) =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("{command} has no examples: {help}"));
        assert!(examples.lines().count() >= 2);
        for example in examples.lines() {
            let id = results(&sandbox.json(&["recall", "green tea"]))[0]["id"].as_str().unwrap().to_owned();
            let example = example.replace("e-6eab17af346303bb", &id);
            let ended = sandbox.command("sh", &["-c", example.trim()]).env("PATH", &path).output().unwrap();
            assert!(ended.status.success(), "{example}: {ended:?}");
        }
    }
}
