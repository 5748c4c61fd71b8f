//! The cost of a memory: bytes on disk, processor time and memory, beside the plain alternatives, in one run on one machine.
//!
//! ```text
//! cargo bench --bench lean -- [--files DIR]… [--debian BYTES] [--lines N] [--flat NEURONS,…]
//! ```
//!
//! `--files`: a folder that is fed whole; several make a row each. `--debian`: so many bytes of the documentation that Debian installs below
//! `/usr/share/doc` and `/usr/share/perl`, chosen by a hash of their paths; 5,000,000 unless folders are given. `--lines`: so many one-line feeds, one command each; 100.
//! `--flat`: the same feeds into brains of so many neurons that an import made, and a night in each; none unless given.
//! Brains are as `init` makes them, the program is the one that `cargo` built beside. The peers get the same paragraphs: SQLite's FTS5
//! (python3), one Markdown file a memory in git, and the Model Context Protocol's server-memory (npx); who is not installed is left out.
//! Prints Markdown; nothing is asserted: figures go to `docs/benchmarks.md`.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

#[path = "../snapshot/network.rs"]
#[allow(dead_code, reason = "the network of another benchmark")]
mod network;
#[path = "../room/mod.rs"]
mod room;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use room::Room;

const FTS5: &str = r#"
import json, sqlite3, sys
con = sqlite3.connect("memories.db")
con.execute("create virtual table memories using fts5(text)")
con.executemany("insert into memories values (?)", ((json.loads(line),) for line in sys.stdin))
con.commit()
"#;
/// Speaks the protocol to the server as a client does, a hundred memories a call.
const SERVER_MEMORY: &str = r#"
import json, os, subprocess, sys
env = dict(os.environ, MEMORY_FILE_PATH=os.path.abspath("memory.jsonl"))
server = subprocess.Popen(["npx", "-y", "@modelcontextprotocol/server-memory"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=env, text=True)
def call(method, params, id=None):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **({"id": id} if id else {})}) + "\n")
    server.stdin.flush()
    while id:
        answer = json.loads(server.stdout.readline())
        if answer.get("id") == id:
            return answer
call("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "lean", "version": "1"}}, 1)
call("notifications/initialized", {})
texts = [json.loads(line) for line in sys.stdin]
for at in range(0, len(texts), 100):
    made = [{"name": f"m{at + n}", "entityType": "memory", "observations": [text]} for n, text in enumerate(texts[at:at + 100])]
    answer = call("tools/call", {"name": "create_entities", "arguments": {"entities": made}}, at + 2)
    assert "error" not in answer, answer
server.stdin.close()
server.wait()
"#;
const SUBJECTS: [&str; 12] = [
    "Hedda",
    "Tobias",
    "the old orchestra",
    "Nils",
    "our landlord",
    "Ida's sister",
    "the harbour office",
    "Marit",
    "the baker",
    "Olga",
    "my neighbour",
    "the school",
];
const VERBS: [&str; 10] =
    ["repaired", "sold", "painted", "lent me", "lost", "found", "ordered", "cancelled", "praised", "moved"];
const OBJECTS: [&str; 14] = [
    "a cello",
    "the green boat",
    "two bicycles",
    "the concert in Bergen",
    "a lamp from Lisbon",
    "the kitchen table",
    "my umbrella",
    "the lease",
    "a crate of apples",
    "the piano",
    "some nets",
    "the ticket to Tallinn",
    "an atlas",
    "the spare key",
];

/// The time and memory of a child process.
struct Cost {
    wall: f64,
    cpu: f64,
    memory: f64,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let flags = |name: &'static str| args.windows(2).filter(move |pair| pair[0] == name).map(|pair| pair[1].clone());
    let mut rows: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for folder in flags("--files") {
        rows.push((folder.clone(), texts_of(Path::new(&folder))?));
    }
    let debian = flags("--debian").next().map(|bytes| bytes.parse::<usize>()).transpose().context("--debian BYTES")?;
    if rows.is_empty() || debian.is_some() {
        let bytes = debian.unwrap_or(5_000_000);
        rows.push((format!("{bytes} bytes of Debian's documentation"), documentation(bytes)?));
    }
    let lines = flags("--lines").next().map_or(Ok(100), |lines| lines.parse::<usize>()).context("--lines N")?;
    println!(
        "| text | kept by | bytes of text | on disk | ÷ text | after `git gc` | ÷ text | processor time | KB a second of it | memory |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (name, texts) in &rows {
        ensure!(!texts.is_empty(), "{name}: no text files");
        for who in [brain, fts5, markdown, server_memory] {
            who(name, texts)?;
        }
    }
    println!();
    one_line_feeds(lines)?;
    let sizes = flags("--flat").next().unwrap_or_default();
    let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(str::parse::<usize>);
    flatness(lines, &sizes.collect::<Result<Vec<_>, _>>().context("--flat NEURONS,…")?)
}

/// The text files below a folder, by their paths in it.
fn texts_of(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        let text = entry.file_type().is_file().then(|| fs::read_to_string(entry.path()).ok()).flatten();
        found
            .extend(text.map(|text| (entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned(), text)));
    }
    Ok(found)
}

fn documentation(most: usize) -> Result<Vec<(String, String)>> {
    let mut paths: Vec<(u64, PathBuf)> = Vec::new();
    for entry in ["/usr/share/doc", "/usr/share/perl"].iter().flat_map(walkdir::WalkDir::new).flatten() {
        let name = entry.file_name().to_string_lossy();
        let text = [".md", ".txt", ".pod", ".rst"].iter().any(|end| name.ends_with(end)) || name.starts_with("README");
        let length = entry.metadata().map_or(0, |m| m.len());
        if text && !name.ends_with(".gz") && entry.file_type().is_file() && (1_000..300_000).contains(&length) {
            let mut hash = DefaultHasher::new();
            entry.path().hash(&mut hash);
            paths.push((hash.finish(), entry.into_path()));
        }
    }
    paths.sort();
    let (mut texts, mut sum) = (Vec::new(), 0);
    for (_, path) in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if sum + text.len() <= most {
            sum += text.len();
            texts.push((path.to_string_lossy().trim_start_matches('/').to_owned(), text));
        }
    }
    Ok(texts)
}

fn paragraphs(texts: &[(String, String)]) -> Vec<&str> {
    let parts = texts.iter().flat_map(|(_, text)| text.split("\n\n"));
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn row(name: &str, who: &str, texts: &[(String, String)], disk: u64, collected: Option<u64>, cost: &Cost) {
    let text: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let times = |bytes: u64| format!("{:.1}", bytes as f64 / text as f64);
    let after = collected.map_or_else(|| ("".to_owned(), "".to_owned()), |bytes| (megabytes(bytes), times(bytes)));
    println!(
        "| {name} | {who} | {text} | {} | {} | {} | {} | {:.1} s | {:.0} | {:.0} MB |",
        megabytes(disk),
        times(disk),
        after.0,
        after.1,
        cost.cpu,
        text as f64 / 1e3 / cost.cpu.max(0.01),
        cost.memory,
    );
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

fn brain(name: &str, texts: &[(String, String)]) -> Result<()> {
    let room = Room::new()?;
    let dir = made(&room, "brain")?;
    done(program(&room, &dir).arg("init"))?;
    for (path, text) in texts {
        let path = dir.join("notes").join(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(path, text)?;
    }
    let cost = measured(program(&room, &dir).args(["feed", "notes"]), None)?;
    let git = dir.join(".git");
    let before = size(&git)?;
    done(room.program("git", &dir).args(["gc", "-q"]))?;
    row(name, "git-brain", texts, before, Some(size(&git)?), &cost);
    let night = measured(program(&room, &dir).arg("sleep"), None)?;
    println!(
        "| {name} | git-brain, a night | | {} | | | | {:.1} s ({:.1} s long) | | {:.0} MB |",
        megabytes(size(&git)?),
        night.cpu,
        night.wall,
        night.memory
    );
    Ok(())
}

fn fts5(name: &str, texts: &[(String, String)]) -> Result<()> {
    let room = Room::new()?;
    let dir = made(&room, "fts5")?;
    if let Ok(cost) = measured(room.program("python3", &dir).args(["-c", FTS5]), Some(&json_lines(texts)?)) {
        row(name, "SQLite FTS5", texts, size(&dir)?, None, &cost);
    }
    Ok(())
}

fn markdown(name: &str, texts: &[(String, String)]) -> Result<()> {
    let room = Room::new()?;
    let dir = made(&room, "markdown")?;
    done(room.program("git", &dir).args(["init", "-q"]))?;
    for (n, text) in paragraphs(texts).iter().enumerate() {
        let folder = dir.join(format!("{:02x}", n % 256));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("m{n}.md")), text)?;
    }
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "gc.auto=0"];
    let added = measured(room.program("git", &dir).args(["add", "-A"]), None)?;
    let committed = measured(room.program("git", &dir).args(identity).args(["commit", "-qm", "memories"]), None)?;
    let cost = Cost {
        wall: added.wall + committed.wall,
        cpu: added.cpu + committed.cpu,
        memory: added.memory.max(committed.memory),
    };
    let before = size(&dir.join(".git"))?;
    done(room.program("git", &dir).args(["gc", "-q"]))?;
    row(name, "Markdown in git", texts, before, Some(size(&dir.join(".git"))?), &cost);
    Ok(())
}

fn server_memory(name: &str, texts: &[(String, String)]) -> Result<()> {
    let room = Room::new()?;
    let dir = made(&room, "server")?;
    // What npx installs is not what a memory costs.
    let server = ["-y", "@modelcontextprotocol/server-memory"];
    if room.program("npx", &dir).args(server).stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return Ok(());
    }
    if let Ok(cost) = measured(room.program("python3", &dir).args(["-c", SERVER_MEMORY]), Some(&json_lines(texts)?)) {
        row(name, "server-memory", texts, size(&dir)?, None, &cost);
    }
    Ok(())
}

/// One command a line: in an empty brain, and after the brain has slept.
fn one_line_feeds(lines: usize) -> Result<()> {
    println!(
        "| one-line feeds | `.git`, KB each | processor time each | after a night and `git gc`, KB each | first feed after the night |"
    );
    println!("|---:|---:|---:|---:|---:|");
    let room = Room::new()?;
    let dir = made(&room, "brain")?;
    done(program(&room, &dir).arg("init"))?;
    let git = dir.join(".git");
    let before = size(&git)?;
    let mut cpu = 0.0;
    for n in 0..lines {
        cpu += measured(program(&room, &dir).args(["feed", &line(n)]), None)?.cpu;
    }
    let fed = size(&git)? - before;
    done(program(&room, &dir).arg("sleep"))?;
    let next = measured(program(&room, &dir).args(["feed", &line(lines)]), None)?;
    done(room.program("git", &dir).args(["gc", "-q"]))?;
    let slept = size(&git)?.saturating_sub(before);
    let each = |bytes: u64| bytes as f64 / 1e3 / lines as f64;
    println!(
        "| {lines} | {:.1} | {:.0} ms | {:.1} | {:.0} ms |",
        each(fed),
        cpu / lines as f64 * 1e3,
        each(slept),
        next.wall * 1e3
    );
    Ok(())
}

/// One command a line in brains of several sizes, as `init` makes them and an import fills them, and a night in each.
fn flatness(lines: usize, sizes: &[usize]) -> Result<()> {
    if sizes.is_empty() {
        return Ok(());
    }
    println!();
    println!(
        "| neurons before | one-line feeds | `.git`, KB each | processor time each | first night: processor time | long | memory | `.git` before and after, MB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for neurons in sizes {
        let room = Room::new()?;
        let dir = made(&room, "brain")?;
        done(program(&room, &dir).arg("init"))?;
        let document = room.folder().join("network.json");
        network::write(&document, *neurons)?;
        done(program(&room, &dir).arg("import").arg(&document))?;
        fs::remove_file(&document)?;
        let git = dir.join(".git");
        // The first line meets what the import left to be put in order.
        done(program(&room, &dir).args(["feed", &line(lines)]))?;
        let before = size(&git)?;
        let mut cpu = 0.0;
        for n in 0..lines {
            cpu += measured(program(&room, &dir).args(["feed", &line(n)]), None)?.cpu;
        }
        let fed = size(&git)?;
        let night = measured(program(&room, &dir).arg("sleep"), None)?;
        println!(
            "| {neurons} | {lines} | {:.1} | {:.0} ms | {:.1} s | {:.1} s | {:.0} MB | {:.1}, {:.1} |",
            fed.saturating_sub(before) as f64 / 1e3 / lines as f64,
            cpu / lines as f64 * 1e3,
            night.cpu,
            night.wall,
            night.memory,
            fed as f64 / 1e6,
            size(&git)? as f64 / 1e6,
        );
    }
    Ok(())
}

/// The line of that number.
fn line(n: usize) -> String {
    let pick = |words: &[&str], salt: usize| words[(n * salt + n / 7) % words.len()].to_owned();
    format!("{} {} {} on day {n}", pick(&SUBJECTS, 5), pick(&VERBS, 3), pick(&OBJECTS, 11))
}

fn program(room: &Room, dir: &Path) -> Command {
    room.program(env!("CARGO_BIN_EXE_git-brain"), dir)
}

fn made(room: &Room, name: &str) -> Result<PathBuf> {
    let dir = room.folder().join(name);
    fs::create_dir(&dir)?;
    Ok(dir)
}

fn done(command: &mut Command) -> Result<()> {
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn json_lines(texts: &[(String, String)]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for text in paragraphs(texts) {
        serde_json::to_writer(&mut lines, text)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Runs a command: its time, its processor time with that of its children, the most memory that it had itself.
fn measured(command: &mut Command, input: Option<&[u8]>) -> Result<Cost> {
    let before = children()?;
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let stdin = child.stdin.take();
    let status = format!("/proc/{}/status", child.id());
    let (mut memory, mut ended) = (0.0_f64, None);
    std::thread::scope(|scope| -> Result<()> {
        scope.spawn(move || stdin.zip(input).map(|(mut pipe, input)| pipe.write_all(input)));
        while ended.is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let most =
                text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
            memory = memory.max(most.unwrap_or(0.0));
            std::thread::sleep(Duration::from_millis(2));
            ended = child.try_wait()?;
        }
        Ok(())
    })?;
    let wall = start.elapsed().as_secs_f64();
    ensure!(ended.is_some_and(|status| status.success()), "{command:?} failed");
    Ok(Cost { wall, cpu: children()? - before, memory: memory / 1024.0 })
}

/// Processor time of all children that have ended, seconds.
fn children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().context("no /proc/self/stat")?.split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    // Linux tells these in hundredths of a second on every machine.
    Ok(ticks / 100.0)
}

/// Bytes of the files below a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry?;
        sum += if entry.file_type().is_file() { entry.metadata()?.len() } else { 0 };
    }
    Ok(sum)
}
