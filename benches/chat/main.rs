//! What a chat costs beside its models: the time between a model's answer and its next question, and the memory of many
//! chats in one process.
//!
//! ```text
//! cargo bench --bench chat -- [--size 10000,100000] [--rounds 100] [--messages 1000] [--commands 21] [--served] [--keep DIR]
//! ```
//!
//! An endpoint inside this process answers at once, by a script: each message is answered by a chain of three in seven turns,
//! of which four call tools. All that lies between its answers and its next requests is ours: reading the answer, the account, the tool, the prompt,
//! two ways through the loopback (see `git_brain::llm`). For brains of each size so many `--rounds`, after three that are not
//! counted; then so many `--messages` to the largest, all in one process, with its memory after every tenth of them, the brain held open, or with `--served`
//! opened anew for each message as `git brain serve` does; and at last whole commands of `git brain chat` without a model. Prints Markdown; nothing is asserted: figures go to `docs/benchmarks.md`.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

#[path = "../endpoint/mod.rs"]
mod endpoint;
#[path = "../snapshot/network.rs"]
#[allow(dead_code, reason = "the snapshot bench uses the rest")]
mod network;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use endpoint::{Does, Endpoint};
use git_brain::brain::{Brain, ChatEvent, ChatMode, ChatRequest, InitRequest, Override, World};
use serde_json::{Value, json};

/// Rounds before the first that counts.
const WARM: usize = 3;
/// A neuron that every brain of this bench has.
const NEURON: &str = "m-0000042";
const NAMES: [&str; 5] = ["Velden", "Oslo", "Karlsen", "Tobias", "Bergen"];
const STEPS: &str = r#"[{name = "OL1", model = "scripted", role = "research", turns = 4},
 {name = "M1", model = "scripted", role = "analysis", turns = 3}, {name = "M2", model = "scripted", role = "review", turns = 2}]"#;

/// Times of one kind, milliseconds.
type Times = BTreeMap<&'static str, Vec<f64>>;

const TURN: &str = "**a turn: from a model's answer to its next request**";
const FIRST: &str = "from the message to the first request";
const LAST: &str = "from the last reply to the answer";
const REMEMBERED: &str = "remembered after the answer";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let flag = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let count = |name: &str, usual: usize| -> Result<usize> {
        flag(name).map_or(Ok(usual), |value| value.parse().with_context(|| format!("{name} {value}")))
    };
    let (rounds, messages, commands) = (count("--rounds", 100)?, count("--messages", 1000)?, count("--commands", 21)?);
    let keep = flag("--keep").map(PathBuf::from);
    let folder = if keep.is_none() { Some(tempfile::tempdir()?) } else { None };
    let place = folder.as_ref().map_or_else(|| keep.clone().unwrap_or_default(), |folder| folder.path().to_owned());
    let sizes: Vec<usize> = flag("--size")
        .map_or("10000,100000", String::as_str)
        .split(',')
        .map(|size| size.parse().with_context(|| format!("--size {size}")))
        .collect::<Result<_>>()?;
    let endpoint = Endpoint::start(scripted)?;
    let mut columns = Vec::new();
    for size in &sizes {
        let dir = brain(&place.join(format!("brain-{size}")), *size)?;
        if rounds > 0 {
            columns.push((*size, chats(&dir, &endpoint, rounds)?));
        }
    }
    print_times(&columns);
    let largest = place.join(format!("brain-{}", sizes.iter().max().context("no size")?));
    if messages > 0 {
        memory(&largest, &endpoint, messages, args.iter().any(|arg| arg == "--served"))?;
    }
    if commands > 0 {
        whole_commands(&largest, commands)?;
    }
    Ok(())
}

/// Makes a brain of so many neurons, or takes the one that was kept.
fn brain(dir: &Path, neurons: usize) -> Result<PathBuf> {
    if !dir.is_dir() {
        eprintln!("… making a brain of {neurons} neurons");
        let request = InitRequest { dir: dir.to_owned(), in_repo: false, program: "git-brain".to_owned() };
        let (brain, _) = Brain::init(&request, World::default())?;
        let file = dir.with_extension("json");
        network::write(&file, neurons)?;
        brain.import(&file, false, &mut |_| {})?;
        fs::remove_file(file)?;
    }
    Ok(dir.to_owned())
}

/// Who is asked stands in the instructions, and how far it has come in the results that it was shown.
fn scripted(body: &Value) -> Does {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told = messages.first().and_then(|first| first["content"].as_str()).unwrap_or_default();
    let given = messages.iter().filter(|message| message["role"] == "tool").count();
    match (told.contains("the first of several"), told.contains("are one of several"), given) {
        (true, _, 0) => Does::Calls("recall", json!({"query": "Velden Harbour and the Quarry"})),
        (true, _, 1) => Does::Calls("query_network", json!({"type": "episodic", "limit": 10})),
        (true, _, 2) => Does::Calls("read_neuron", json!({"id": NEURON})),
        (true, ..) => Does::Says("Velden was at the Harbour [1], and Tobias was not [2].".to_owned()),
        (_, true, 0) => Does::Calls("query_network", json!({"id": NEURON})),
        (_, true, _) => Does::Says("They met once, at the Harbour [1].".to_owned()),
        _ => Does::Says("They met at the Harbour [1]; nothing says when.".to_owned()),
    }
}

fn opened(dir: &Path, endpoint: &Endpoint) -> Result<Brain> {
    let flag = |key: &str, value: String| Override { place: "the bench".to_owned(), key: key.to_owned(), value };
    let model = format!("{{provider = \"openai\", model = \"scripted\", base_url = {:?}}}", endpoint.url());
    let flags = [
        flag("models.scripted", model),
        flag("chain.step", STEPS.replace('\n', "")),
        // A bench may ask more in a day than a person.
        flag("budget.turns_per_day", "0".to_owned()),
    ];
    Ok(Brain::open(dir, World::default(), &flags)?)
}

fn request(round: usize) -> ChatRequest {
    let (one, other) = (NAMES[round % 5], NAMES[(round / 5 + round + 1) % 5]);
    ChatRequest {
        message: format!("When did {one} meet {other}, the Harbour or the Quarry? It is question {round}."),
        conversation: Some(format!("bench-{}", round / 20)),
        mode: ChatMode::Reflexive,
        ..ChatRequest::default()
    }
}

/// One chat; its times are added, its turns are the result.
fn chat(brain: &Brain, endpoint: &Endpoint, round: usize, times: &mut Times) -> Result<u32> {
    drop(endpoint.take());
    let begun = Instant::now();
    let mut shown = None;
    let answer = brain.chat(&request(round), &mut |event| {
        if matches!(event, ChatEvent::Answered { .. }) {
            shown = Some(Instant::now());
        }
        ControlFlow::Continue(())
    })?;
    let ended = Instant::now();
    let shown = shown.context("no answer")?;
    let exchanges = endpoint.take();
    ensure!(
        exchanges.len() == answer.turns as usize && answer.turns == 7,
        "{} turns: {:?}",
        answer.turns,
        answer.notes
    );
    let mut add = |kind, from: Instant, to: Instant| {
        times.entry(kind).or_default().push(to.saturating_duration_since(from).as_secs_f64() * 1e3);
    };
    add(FIRST, begun, exchanges[0].asked);
    for (at, pair) in exchanges.windows(2).enumerate() {
        let after = match (pair[0].called, at) {
            ("recall", _) => "after a call of `recall`",
            ("query_network", 1) => "after a call of `query_network`, the most vivid of all",
            ("query_network", _) => "after a call of `query_network`, of one neuron",
            ("read_neuron", _) => "after a call of `read_neuron`",
            _ => "after a text, to the next step",
        };
        add(TURN, pair[0].answered, pair[1].asked);
        add(after, pair[0].answered, pair[1].asked);
    }
    add(LAST, exchanges[exchanges.len() - 1].answered, shown);
    add(REMEMBERED, shown, ended);
    Ok(answer.turns)
}

fn chats(dir: &Path, endpoint: &Endpoint, rounds: usize) -> Result<Times> {
    eprintln!("… {rounds} chats with {}", dir.display());
    let brain = opened(dir, endpoint)?;
    let mut times = Times::new();
    for round in 0..rounds + WARM {
        if round == WARM {
            times.clear();
        }
        chat(&brain, endpoint, round, &mut times)?;
    }
    Ok(times)
}

fn print_times(columns: &[(usize, Times)]) {
    let Some((_, first)) = columns.first() else { return };
    println!(
        "| ms, median (99 of 100) | {} |",
        columns.iter().map(|(size, _)| format!("{size} neurons")).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|{}", "---:|".repeat(columns.len()));
    let kinds = first.keys().filter(|kind| kind.starts_with("**"));
    for kind in kinds.chain(first.keys().filter(|kind| !kind.starts_with("**"))) {
        let cells = columns.iter().map(|(_, times)| {
            let list = times.get(kind).cloned().unwrap_or_default();
            format!("{:.2} ({:.2})", share(&list, 0.5), share(&list, 0.99))
        });
        println!("| {kind} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
}

/// The value below which so much of the list lies.
fn share(list: &[f64], share: f64) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Many chats in one process, and what it has of the memory after each part of them.
fn memory(dir: &Path, endpoint: &Endpoint, messages: usize, served: bool) -> Result<()> {
    let held = opened(dir, endpoint)?;
    let part = (messages / 10).max(1);
    println!(
        "| messages | turns of models | resident, MB | of it not files, MB | a turn, ms, median (99 of 100) | remembered after, ms | account, KB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let (mut turns, mut points, mut times) = (0, Vec::new(), Times::new());
    for round in 1..=messages {
        let anew = if served { Some(opened(dir, endpoint)?) } else { None };
        turns += chat(anew.as_ref().unwrap_or(&held), endpoint, 1000 + round, &mut times)?;
        if round % part == 0 {
            let (resident, own) = resident()?;
            let account = fs::metadata(dir.join(".git/git-brain/account/spent.json")).map_or(0, |file| file.len());
            let turn = &times[TURN];
            println!(
                "| {round} | {turns} | {resident:.1} | {own:.1} | {:.2} ({:.2}) | {:.0} | {:.0} |",
                share(turn, 0.5),
                share(turn, 0.99),
                share(&times[REMEMBERED], 0.5),
                account as f64 / 1e3
            );
            points.push((round as f64, resident, own));
            times.clear();
        }
    }
    let slope = |of: fn(&(f64, f64, f64)) -> f64| {
        let n = points.len() as f64;
        let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(of).sum::<f64>() / n);
        let above: f64 = points.iter().map(|p| (p.0 - x) * (of(p) - y)).sum();
        above / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>() * 1e3
    };
    println!("\nSlope: {:+.2} KB a message resident, {:+.2} of it not files.\n", slope(|p| p.1), slope(|p| p.2));
    Ok(())
}

/// Resident memory of this process, and what of it is no file's, MB.
fn resident() -> Result<(f64, f64)> {
    let status = fs::read_to_string("/proc/self/status").context("the memory of a process is known on Linux alone")?;
    let of = |name: &str| -> Result<f64> {
        let line = status.lines().find(|line| line.starts_with(name)).with_context(|| format!("no {name}"))?;
        Ok(line.split_whitespace().nth(1).unwrap_or_default().parse::<f64>()? / 1024.0)
    };
    Ok((of("VmRSS:")?, of("RssAnon:")?))
}

/// `git brain chat` as a process, without a model.
fn whole_commands(dir: &Path, commands: usize) -> Result<()> {
    println!("| whole command, no model | ms, median (longest) |\n|---|---:|");
    let question = "Where did Velden Harbour meet Tobias?";
    for (name, arguments) in [
        ("`git brain --version`", vec!["--version"]),
        ("`git brain recall`", vec!["recall", "--json", question]),
        ("`git brain chat --dry-run`: answers, remembers nothing", vec!["chat", "--json", "--dry-run", question]),
        ("`git brain chat`: answers, and remembers both", vec!["chat", "--json", question]),
    ] {
        let mut times = Vec::new();
        for _ in 0..commands {
            let mut command = Command::new(env!("CARGO_BIN_EXE_git-brain"));
            command
                .arg("-C")
                .arg(dir)
                .args(&arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let begun = Instant::now();
            ensure!(command.status()?.success(), "{name} failed");
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        println!("| {name} | {:.1} ({:.1}) |", share(&times, 0.5), share(&times, 1.0));
    }
    Ok(())
}
