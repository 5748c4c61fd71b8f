//! `demo`: a brain lives a short trilingual day. Nothing is staged: the same feed, agents and merge as always, on input
//! that stands below, with real ids and times. With `--days` it lives many, in `life`.

#![allow(clippy::disallowed_methods, reason = "the demo writes its input file and shows `git log`")]

use std::path::{Path, PathBuf};

use super::output::program;
use super::output::safe;
use super::write::{fed, merged};
use super::{Done, Session, args};
use crate::brain::{Brain, BrainError, FeedRequest, InitRequest, RecallRequest, Source};
use crate::model::{Stamp, plural, shell_word};

/// The day: hours before now, session, source, text. Three conversations that mention the same people and places.
const DAY: [(i64, &str, &str, &str); 9] = [
    (
        9,
        "breakfast",
        "breakfast:1",
        "Anna: Good morning! I arrived in Kyoto last night, the train from Tokyo was lovely.",
    ),
    (9, "breakfast", "breakfast:2", "Ben: Welcome! Would you like some green tea? The matcha in Kyoto is famous."),
    (9, "breakfast", "breakfast:3", "Anna: Yes please, I love green tea. Tomorrow I meet Claire at the temple garden."),
    (6, "déjeuner", "déjeuner:1", "Claire : Bonjour Anna ! Demain à Kyoto, on visite le jardin du temple avec Ben ?"),
    (6, "déjeuner", "déjeuner:2", "Anna : Avec plaisir. J'apporte du thé vert, le matcha de Kyoto est délicieux."),
    (
        6,
        "déjeuner",
        "déjeuner:3",
        "Claire : Attention, c'est urgent : le jardin ferme à midi, il faut réserver tout de suite !",
    ),
    (2, "夕食", "夕食:1", "ベン: アンナさんは京都で抹茶を飲みました。とても美味しかったそうです。"),
    (2, "夕食", "夕食:2", "ゆき: 明日の朝、お寺の庭でクレールさんに会いますか？"),
    (2, "夕食", "夕食:3", "ベン: はい、庭は正午に閉まりますから、九時に行きましょう。"),
];

/// Questions in the languages of the day.
const QUESTIONS: [&str; 4] =
    ["Who loves green tea?", "Quand ferme le jardin ?", "京都で何を飲みましたか？", "Anna Kyoto matcha"];

/// What two people think of the same connection, at the same time.
const OPINIONS: [i32; 2] = [300, -120];

pub(super) fn demo(session: &Session, args: &args::Demo) -> Done {
    let dir = match &args.dir {
        Some(dir) => session.dir.join(dir),
        None => fresh_folder()?,
    };
    if let Some(days) = args.days {
        return super::life::life(session, &dir, days);
    }
    let show = |text: &str| session.out.line(text);
    show("A brain is a git repository. This one lives a short day in three languages.\n");
    show(&format!("$ git brain init {}", shell_word(&dir.display().to_string())));
    let request = InitRequest { dir: dir.clone(), in_repo: false, program: program() };
    let (brain, made) = Brain::init(&request, session.world.clone())?;
    show(&format!(
        "{} introduced themselves, each in a commit of its own\n",
        plural(made.first_runs.runs.len(), "agent", "agents")
    ));

    let report = live(session, &brain)?;
    let collision = collide(session, &brain)?;

    show("What the merges decided, where runs had touched the same neuron:");
    // One line for each neuron tells enough.
    let decisions = report.ran.runs.iter().flat_map(|run| run.decisions.iter());
    let mut told = std::collections::BTreeSet::new();
    for line in decisions.filter(|line| told.insert(line.split(' ').next())).take(6) {
        show(&format!("  {}", safe(line)));
    }
    show("\n$ git log --graph --oneline wake");
    show(&graph(&dir));
    for question in QUESTIONS {
        show(&format!("$ git brain recall {question:?} --top 2"));
        let request = RecallRequest { query: question.to_owned(), top: Some(2), ..RecallRequest::default() };
        show(super::hits::lines(&brain.recall(&request)?, question, session.out.width()).trim_end());
    }
    show(&format!(
        "\nThe brain is in {}. Try there: git log --graph wake; git brain status; git brain recall green tea\n\
         Twenty days with their nights: git brain demo --days 20",
        dir.display()
    ));
    if session.out.is_json() {
        session.out.document(&serde_json::json!({
            "dir": dir, "init": made, "day": report, "collision": collision,
        }));
    }
    Ok(0)
}

fn live(session: &Session, brain: &Brain) -> Result<crate::brain::FeedReport, BrainError> {
    let folder = tempfile::tempdir().map_err(no_folder)?;
    let file = folder.path().join("day.jsonl");
    let now = session.world.now();
    let line = |(hours, session, source, text): &(i64, &str, &str, &str)| {
        let at = Stamp::from_unix(now.unix() - hours * 3600);
        format!("{}\n", serde_json::json!({"text": text, "at": at, "source": source, "session": session}))
    };
    std::fs::write(&file, DAY.iter().map(line).collect::<String>()).map_err(no_folder)?;
    session.out.line("$ git brain feed --file day.jsonl");
    let request = FeedRequest { sources: vec![Source::File(file)], ..FeedRequest::default() };
    let report = brain.feed(&request, &mut |_| {})?;
    session.out.line(&fed(&report, &request));
    Ok(report)
}

/// Two deltas on the same connection, from the same state, on two branches; then the typed merge.
fn collide(session: &Session, brain: &Brain) -> Result<crate::brain::MergeReport, BrainError> {
    session.out.line("Two people disagree about one connection, each on a branch; the merge adds both changes up:");
    let mut branches = Vec::new();
    for by in OPINIONS {
        let delta = format!(
            "{{\"ops\": [{{\"op\": \"adjust\", \"from\": \"n_core_perception\", \"to\": \"n_core_memory\", \
             \"type\": \"feeds_into\", \"by\": {by}}}]}}"
        );
        session.out.line(&format!("$ echo '{delta}' | git brain apply --no-merge -"));
        branches.push(brain.apply(&Source::Text(delta), None, true, false)?.branch);
    }
    session.out.line("$ git brain merge agents/human/…");
    let report = brain.merge(&branches, false)?;
    session.out.line(&merged(&report));
    Ok(report)
}

fn graph(dir: &Path) -> String {
    let log = std::process::Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["log", "--graph", "--oneline", "--no-decorate", "-n", "24", "wake"])
        .output();
    match log {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => "(git is not on the path)\n".to_owned(),
    }
}

fn fresh_folder() -> Result<PathBuf, BrainError> {
    Ok(tempfile::Builder::new().prefix("git-brain-demo-").tempdir().map_err(no_folder)?.keep())
}

fn no_folder(error: std::io::Error) -> BrainError {
    BrainError::usage(format!("cannot make a temporary folder: {error}"))
}
