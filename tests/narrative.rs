//! The story beside the ledger: chapters, narrators, alarms; and that nothing that is learnt depends on any of it.

use crate::sandbox::{NOW, Sandbox, connect, create};
use git_brain::chemistry::serotonin::Chapter;
use git_brain::delta::LedgerEntry;
use git_brain::model::ids::RunId;
use git_brain::model::layout;
use serde_json::{Value, json};

/// What tells the story of a life.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Teller {
    /// Nobody: serotonin is off.
    Nobody,
    /// The template.
    Template,
    /// A trusted program that answers with this.
    Program(&'static str),
    /// Whoever can write files: every figure of the chapter is invented, the measured ones too.
    Forger,
}

const LIE: &str = r#"{"text": "I won every time, and I always will.", "confidence": 1, "mood": 1,
    "claims": [{"judged": "20200101t000000000z-aaaaaaaa-glory", "value": 1}, {"value": 1}]}"#;

fn run_id(text: &Value) -> RunId {
    RunId::parse(text.as_str().unwrap_or_else(|| panic!("no run in {text}"))).unwrap()
}

/// Commits one file on wake with plain git; without a file, a commit that changes nothing.
fn commit_on_wake(sandbox: &Sandbox, run: &RunId, file: Option<(String, Vec<u8>)>) {
    let index = sandbox.path("index");
    let git = |args: &[&str]| {
        let output = sandbox.command("git", args).env("GIT_INDEX_FILE", &index).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", "wake"]);
    if let Some((path, bytes)) = file {
        let blob = git(&["hash-object", "-w", &sandbox.file("blob", bytes)]);
        git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
    }
    let tree = git(&["write-tree"]);
    let message = format!("test: {}\n\nRun: {run}\n", run.agent());
    let commit = git(&["commit-tree", &tree, "-p", "wake", "-m", &message]);
    git(&["update-ref", "refs/heads/wake", &commit]);
}

/// Judges a run; returns the corrective run.
fn outcome(sandbox: &Sandbox, judged: &RunId, value: f64) -> RunId {
    run_id(&sandbox.json(&["outcome", judged.as_str(), "--value", &value.to_string()])["run"])
}

/// Ends a day; the chapter, if one is told.
fn sleep(sandbox: &Sandbox, teller: Teller) -> Option<Chapter> {
    let run = run_id(&sandbox.json(&["sleep"])["run"]);
    let (path, _) =
        sandbox.documents("main", "network/narrative").into_iter().find(|(path, _)| path.contains(run.as_str()))?;
    let chapter = Chapter::decode(sandbox.git(&["show", &format!("main:{path}")]).as_bytes(), &path).unwrap();
    if teller != Teller::Forger {
        return Some(chapter);
    }
    let text = "All went as I had foreseen.".to_owned();
    let forged = Chapter { mood: 1.0, measured_mood: 1.0, confidence: 1.0, calibrated: 1.0, text, ..chapter };
    commit_on_wake(sandbox, &run, Some((path, forged.encode())));
    Some(forged)
}

fn narrator(sandbox: &Sandbox, script: &str, timeout_ms: u64) {
    let definition = json!({
        "name": "narrator",
        "role": "Tells the story.",
        "trigger": {"any": []},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script], "timeout_ms": timeout_ms, "writes": [sandbox.path("read")]},
    });
    std::fs::write(sandbox.dir().join("agents/narrator.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "agents/narrator.json"]);
    sandbox.git(&["commit", "-q", "-m", "agents: narrator"]);
}

fn saying(answer: &str) -> String {
    format!("cat > /dev/null; cat <<'END'\n{answer}\nEND")
}

/// Two ways from `a`, to `b` and to `c`.
fn brain(sandbox: Sandbox) -> Sandbox {
    let ops = [
        create("a"),
        create("b"),
        create("c"),
        connect("a", "b", "feeds_into", 40_000),
        connect("a", "c", "feeds_into", 40_000),
    ];
    sandbox.apply(&json!({ "ops": ops }), &[]);
    sandbox
}

/// An attempt: what is expected is committed before the act.
fn attempt(sandbox: &Sandbox, prediction: f64, way: [&str; 2]) -> RunId {
    let activate = json!({"op": "activate", "id": "a", "strength": 0.5});
    let pathway = json!([{"from": way[0], "to": way[1], "type": "feeds_into"}]);
    let document =
        json!({"ops": [activate], "prediction": {"text": "it works", "value": prediction, "pathway": pathway}});
    run_id(&sandbox.apply(&document, &[])["run"])
}

/// Days in the life of a brain whose clock and ids are fixed.
fn live(teller: Teller, days: usize) -> (Sandbox, Vec<Chapter>) {
    let fixed = Sandbox::empty().with("BRAIN_NOW", NOW).with("BRAIN_SEED", "life");
    let fixed = if teller == Teller::Nobody { fixed.with("BRAIN_SEROTONIN_ENABLED", "false") } else { fixed };
    fixed.brain(&["init", "--no-hooks", "."]).exits(0);
    let mut sandbox = brain(fixed);
    if let Teller::Program(answer) = teller {
        narrator(&sandbox, &saying(answer), 20_000);
        sandbox.brain(&["trust", "--yes"]).exits(0);
    }
    let mut chapters = Vec::new();
    for day in 27..27 + days {
        sandbox.at(&format!("2026-01-{day}T09:00:00Z"));
        sandbox.brain(&["feed", &format!("Ann tries the way to Berlin on day {day}. It rains in Kyoto.")]).exits(0);
        let values = [[0.7, 0.2, 0.9], [0.6, 0.1, 0.3]][day % 2];
        for (number, value) in values.into_iter().enumerate() {
            sandbox.at(&format!("2026-01-{day}T1{number}:00:00Z"));
            let judged = attempt(&sandbox, 0.5, [["a", "b"], ["a", "c"]][number % 2]);
            outcome(&sandbox, &judged, value);
        }
        sandbox.at(&format!("2026-01-{day}T22:00:00Z"));
        chapters.extend(sleep(&sandbox, teller));
    }
    (sandbox, chapters)
}

/// What was learnt, and the ids of all that happened.
fn backend(sandbox: &Sandbox) -> (Vec<String>, Vec<String>) {
    let folders = ["ledger", "neurons", "signals", "stimuli", "flags", "metadata.json"].map(|f| format!("network/{f}"));
    let args: Vec<&str> = ["ls-tree", "-r", "wake"].into_iter().chain(folders.iter().map(String::as_str)).collect();
    (sandbox.lines(&args), sandbox.recorded_runs("wake").into_iter().collect())
}

#[test]
fn what_is_learnt_is_the_same_to_the_byte_whatever_story_is_told() {
    let (off, silence) = live(Teller::Nobody, 3);
    let (learnt, runs) = backend(&off);
    assert!(learnt.iter().filter(|line| line.contains("network/ledger/")).count() == 9, "{learnt:#?}");
    assert_eq!(silence, []);
    assert_ne!(off.weight("a", "b", "feeds_into"), Some(40_000));
    let first = off.tip("wake");
    for teller in [Teller::Template, Teller::Program(LIE), Teller::Forger] {
        let (sandbox, chapters) = live(teller, 3);
        assert_eq!(chapters.len(), 3, "{teller:?}");
        let told = sandbox.documents("wake", "network/narrative").len();
        assert!(told == 3 && sandbox.tip("wake") != first, "the story is there, and in the history");
        assert_eq!(backend(&sandbox), (learnt.clone(), runs.clone()), "{teller:?}");
        let alarmed = sandbox.json(&["story"])["chapters"].as_array().unwrap().iter().all(|c| c["alarm"] == true);
        assert_eq!(alarmed, teller == Teller::Program(LIE), "{teller:?}");
        sandbox.brain(&["check"]).exits(0);
        sandbox.fsck();
    }
}

#[test]
fn a_story_goes_from_chapter_to_chapter_and_ends_today() {
    let (mut sandbox, chapters) = live(Teller::Template, 2);
    assert_eq!(chapters.iter().map(|c| c.entries).collect::<Vec<_>>(), [3, 3]);
    assert!(chapters[1].from > chapters[0].until, "{chapters:?}");
    let quiet = sandbox.brain(&["story"]).exits(0);
    assert!(quiet.out.contains("nothing was judged since") && !quiet.out.contains("ALARM"), "{quiet}");
    sandbox.at("2026-01-30T09:00:00Z");
    let judged = attempt(&sandbox, 0.9, ["a", "b"]);
    outcome(&sandbox, &judged, 0.1);
    let before = sandbox.refs();
    let story = sandbox.brain(&["story", "-n", "1"]).exits(0);
    for part in ["2026-01-28", "today so far", "a partial failure, and something learnt", "told by template", "gap"] {
        assert!(story.out.contains(part), "{part:?}: {story}");
    }
    assert!(!story.out.contains("2026-01-27  told"), "{story}");
    assert!(story.out.lines().any(|l| l.starts_with("mood  ") && l.contains("from -1 to 1")), "{story}");
    let document = sandbox.json(&["story"]);
    assert_eq!((document["today"]["entries"].as_u64(), document["today"]["alarm"].as_bool()), (Some(1), Some(false)));
    assert_eq!(document["chapters"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.json(&["story", "--at", "main~1"])["chapters"].as_array().unwrap().len(), 1);
    assert_eq!(sandbox.refs(), before, "looking writes nothing");
    let off = sandbox.brain(&["-c", "serotonin.enabled=false", "story"]).exits(0);
    assert!(off.out.contains("serotonin is off") && off.out.contains("2026-01-28"), "{off}");
    sandbox.brain(&["-c", "serotonin.bias=0.2", "story"]).exits(5);
}

#[test]
fn a_judgement_from_before_a_chapter_that_is_merged_after_it_is_told_in_the_next() {
    let (sandbox, chapters) = live(Teller::Template, 1);
    let paths = sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network/ledger"]);
    let bytes = sandbox.git(&["show", &format!("wake:{}", paths[0])]);
    let mut late = LedgerEntry::decode(bytes.as_bytes(), "l").unwrap();
    late.run = RunId::parse("20260126t150000000z-lateaaaa-evaluator").unwrap();
    assert!(Some(&late.run) < chapters[0].from.as_ref());
    commit_on_wake(&sandbox, &late.run, Some((layout::ledger(&late.run), late.encode())));
    let today = sandbox.json(&["story"])["today"].clone();
    assert_eq!((&today["entries"], &today["from"]), (&json!(1), &json!(late.run)));
}

#[test]
fn a_narrator_tells_and_one_that_fails_is_noted() {
    let sandbox = brain(Sandbox::new());
    let nothing = sandbox.json(&["story"]);
    assert!(nothing["today"].is_null() && nothing["enabled"] == true, "{nothing}");
    assert!(sandbox.brain(&["story"]).exits(0).out.contains("no story yet"));
    let judged = attempt(&sandbox, 0.7, ["a", "b"]);
    let run = outcome(&sandbox, &judged, 0.4);
    for (id, level, state) in [("cook", "terminal", "open"), ("won", "terminal", "reached"), ("salt", "sub", "open")] {
        let goal = json!({"id": id, "text": id, "level": level, "state": state, "at": NOW, "run": null});
        commit_on_wake(&sandbox, &run, Some((format!("network/goals/{id}.json"), goal.to_string().into_bytes())));
    }
    let today = |args: &[&str]| sandbox.json(&[&["story"], args].concat())["today"].clone();
    let template = today(&[]);
    assert_eq!((&template["narrator"], template["notes"].is_null()), (&json!("template"), true));

    std::fs::create_dir(sandbox.beside("read")).unwrap();
    let read = sandbox.path("read/it.json");
    let honest = json!({"text": "I learnt.", "claims": [{"judged": judged, "value": 0.4}], "mood": -0.06});
    narrator(&sandbox, &format!("cat > '{read}'; echo '{honest}'"), 20_000);
    let untrusted = today(&["--narrator"]);
    assert_eq!(untrusted["text"], template["text"]);
    assert!(untrusted["notes"][0].as_str().unwrap().contains("not trusted"), "{untrusted}");
    assert!(!sandbox.beside("read/it.json").exists());

    sandbox.brain(&["trust", "--yes"]).exits(0);
    assert_eq!(today(&[])["narrator"], "template", "no program runs unless it is asked for");
    assert!(!sandbox.beside("read/it.json").exists());
    let told = today(&["--narrator"]);
    assert_eq!((&told["narrator"], &told["text"]), (&json!("narrator"), &json!("I learnt.")));
    assert_eq!((&told["gap"]["told"], &told["alarm"]), (&json!(0.0), &json!(false)), "{told}");
    let brief: Value = serde_json::from_str(&std::fs::read_to_string(read).unwrap()).unwrap();
    assert_eq!((&brief["entries"][0]["judged"], &brief["template"]), (&json!(judged), &template["text"]));
    assert_eq!(brief["goals"], json!(["cook"]));
    assert!(template["text"].as_str().unwrap().starts_with("My aim stays the same: cook."), "{template}");

    for (script, timeout, why) in [
        (saying("what a day"), 20_000, "answer"),
        (saying(r#"{"text": "I won.", "mood": 3}"#), 20_000, "mood"),
        ("exit 3".to_owned(), 20_000, "exit status: 3"),
        ("sleep 600".to_owned(), 200, "did not finish"),
        ("yes".to_owned(), 20_000, "more than"),
    ] {
        narrator(&sandbox, &script, timeout);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        let fallen = today(&["--narrator"]);
        assert_eq!((&fallen["narrator"], &fallen["text"]), (&json!("template"), &template["text"]), "{script}");
        assert!(fallen["notes"][0].as_str().unwrap().contains(why), "{script}: {fallen}");
    }

    narrator(&sandbox, &saying(LIE), 20_000);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let lie = sandbox.brain(&["story", "--narrator"]).exits(0);
    assert!(lie.out.contains("ALARM") && lie.out.contains("no anchor") && lie.out.contains("confidence 1.00"), "{lie}");
}

#[test]
fn check_reads_chapters() {
    let (sandbox, chapters) = live(Teller::Template, 1);
    let other = RunId::parse("20260127t230000000z-sleepaaa-sleep").unwrap();
    commit_on_wake(&sandbox, &other, Some((layout::chapter(&other), chapters[0].encode())));
    let misplaced = sandbox.brain(&["check"]).exits(1);
    assert!(misplaced.out.contains(&format!("it calls itself {}", chapters[0].run)), "{misplaced}");
    let wrong = Chapter { run: other.clone(), mood: 7.0, ..chapters[0].clone() };
    commit_on_wake(&sandbox, &other, Some((layout::chapter(&other), wrong.encode())));
    let damaged = sandbox.brain(&["check"]).exits(1);
    assert!(damaged.out.contains("mood"), "{damaged}");
    let told = sandbox.brain(&["story"]).exits(0);
    assert!(told.err.contains(&layout::chapter(&other)) && told.err.contains("left alone"), "{told}");
}
