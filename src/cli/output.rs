//! Printing: JSON documents with a version, text for people, progress and errors on standard error.

#![allow(clippy::disallowed_methods, reason = "the boundary to terminal and pager")]

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::Value;

use super::progress::{self, Bar};
use crate::brain::BrainError;
use crate::model::ids::is_invisible;

/// Version of every JSON document that commands print.
const VERSION: u32 = 1;

/// Columns of a terminal that does not say.
const USUAL_WIDTH: usize = 80;

/// How a command prints.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// True for `--json`.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether whoever reads standard output can show more than ASCII, as the locale says; a dumb terminal cannot.
    pub(crate) fn is_unicode(&self) -> bool {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text).unwrap_or_default().to_lowercase();
        let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
        is_utf8 && text("TERM").as_deref() != Some("dumb")
    }

    /// How many columns a line may have: what `COLUMNS` says, or the terminal; `None` where standard output is none, and nothing is to
    /// be lost.
    pub(crate) fn width(&self) -> Option<usize> {
        let said =
            std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let stdout = std::io::stdout();
        let of_terminal = || {
            let size = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
            if size > 0 { size } else { USUAL_WIDTH }
        };
        said.or_else(|| stdout.is_terminal().then(of_terminal))
    }

    /// Prints a report: as one JSON document with `--json`, else as `human` words it.
    pub(crate) fn report<T: Serialize>(&self, report: &T, human: impl FnOnce(&T) -> String) {
        if self.json { self.document(report) } else { self.text(&human(report)) }
    }

    /// Prints one JSON document on one line; an object begins with its version.
    pub(crate) fn document<T: Serialize>(&self, report: &T) {
        let value = serde_json::to_value(report).expect("invariant: our reports have string keys");
        let value = match value {
            Value::Object(fields) => {
                let mut all = serde_json::Map::new();
                all.insert("version".to_owned(), VERSION.into());
                all.extend(fields);
                Value::Object(all)
            }
            other => other,
        };
        write_out(&format!("{}\n", escaped(&value.to_string())));
    }

    /// Prints a document as the file that it is, without a version of the report's own.
    pub(crate) fn file<T: Serialize>(&self, document: &T) {
        let text = serde_json::to_string_pretty(document).expect("invariant: our documents have string keys");
        let lines: Vec<_> = text.lines().map(escaped).collect();
        write_out(&format!("{}\n", lines.join("\n")));
    }

    /// Prints text, tamed once more: what a command forgot to tame does not reach the terminal either. A reader that has
    /// gone away is no error.
    pub(crate) fn text(&self, text: &str) {
        write_out(&tamed(text));
    }

    /// A document whose printer has left nothing in that steers a terminal, as it is.
    pub(crate) fn page(&self, text: &str) {
        write_out(text);
    }

    /// Prints a text that is the product of a command: a terminal is shown it tamed, a file or a program gets it to the byte.
    pub(crate) fn product(&self, text: &str) {
        if self.is_terminal() {
            return self.text(&safe(text));
        }
        progress::clear();
        let mut out = std::io::stdout().lock();
        printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Whether a person looks at standard output.
    pub(crate) fn is_terminal(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Standard output, for what is written as it is made.
    pub(crate) fn stream(&self) -> impl Write {
        progress::clear();
        std::io::BufWriter::with_capacity(1 << 16, Quiet { out: std::io::stdout().lock(), closed: false })
    }

    /// Prints long text through the user's pager, if standard output is a terminal.
    pub(crate) fn paged(&self, text: &str) {
        let tall = text.lines().count() > 24;
        if self.json || !tall || !std::io::stdout().is_terminal() || !through_pager(&tamed(text)) {
            self.text(text);
        }
    }

    /// Prints a line of text; with `--json` nothing.
    pub(crate) fn line(&self, text: &str) {
        if !self.json {
            self.text(&format!("{text}\n"));
        }
    }

    /// Says something beside the data.
    pub(crate) fn say(&self, text: &str) {
        if !self.json {
            say(text);
        }
    }

    /// A bar on standard error, which shows what the command itself knows of how far it is.
    pub(crate) fn bar(&self) -> Bar {
        Bar
    }
}

/// A stream whose reader may go away: what is written then is lost on purpose.
struct Quiet<W> {
    out: W,
    closed: bool,
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.out.write(bytes) {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.closed { Ok(()) } else { self.out.flush() }
    }
}

/// Prints a failure: what happened, then what to do.
pub(crate) fn failure(error: &BrainError, json: bool) {
    progress::clear();
    let hint = error.hint();
    if json {
        return failure_document(&error.to_string(), hint.as_deref(), error.exit_code());
    }
    let mut stderr = anstream::stderr();
    // Errors quote arguments, files and what programs said.
    let _ = writeln!(stderr, "error: {}", safe(&error.to_string()));
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "hint: {}", safe(&hint));
    }
}

/// A failure as one JSON document on standard error.
fn failure_document(error: &str, hint: Option<&str>, code: u8) {
    let document = serde_json::json!({"version": VERSION, "error": error, "hint": hint, "code": code});
    let _ = writeln!(anstream::stderr(), "{}", escaped(&document.to_string()));
}

/// Prints what the parser of arguments says, with its colours; tamed, if it quotes what would steer a terminal. With
/// `--json` what is wrong is a document as any failure is; help, for who asks for it, stays text.
pub(crate) fn usage(error: &clap::Error, json: bool) {
    let plain = error.render().to_string();
    if json && error.use_stderr() {
        let (what, hint) = said_of_usage(error.kind(), &plain);
        return failure_document(&what, Some(&hint), u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let shown = safe(&plain);
    // A closed pipe is no matter.
    let _ = if shown == plain { error.print() } else { anstream::stderr().write_all(shown.as_bytes()) };
}

/// What is wrong with the arguments, and what to do: the parser's first paragraph, and those after it.
fn said_of_usage(kind: clap::error::ErrorKind, plain: &str) -> (String, String) {
    if kind == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // It says nothing but the help.
        return ("a subcommand is missing".to_owned(), "`--help` lists them".to_owned());
    }
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (what, hint) = plain.trim().split_once("\n\n").unwrap_or((plain, "try '--help'"));
    let hint: Vec<String> = hint.split("\n\n").map(joined).collect();
    (joined(what.trim().trim_start_matches("error: ")), hint.join("; "))
}

/// Starts tracing on standard error if `BRAIN_LOG` asks for it.
pub(crate) fn trace() {
    let filter = tracing_subscriber::EnvFilter::builder().with_env_var("BRAIN_LOG").from_env_lossy();
    let wanted = std::env::var_os("BRAIN_LOG").is_some();
    if wanted {
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    }
}

/// True once something could not be printed, by no wish of its reader.
static UNPRINTED: AtomicBool = AtomicBool::new(false);

/// Whether a part of the answer could not be printed: the disk that it goes to is full. What the command was to do is done.
pub(crate) fn is_cut_off() -> bool {
    UNPRINTED.load(Ordering::Relaxed)
}

fn write_out(text: &str) {
    progress::clear();
    let mut out = anstream::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Says once that the output could not be written.
fn printed(written: std::io::Result<()>) {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            let first = !UNPRINTED.swap(true, Ordering::Relaxed);
            let _ = first.then(|| {
                writeln!(anstream::stderr(), "error: the command succeeded, but its output could not be written: {e}")
            });
        }
        _ => {}
    }
}

/// Writes an answer to a program byte by byte: separators that a terminal would not take are kept.
pub(super) fn raw(text: &str) {
    let mut out = std::io::stdout().lock();
    // A shell that went away asked for nothing.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Asks git which pager the user wants, and writes into it; false if there is none. Git is asked outside any repository:
/// `core.pager` of a copied one is the choice of whoever made it.
fn through_pager(text: &str) -> bool {
    progress::clear();
    let mut asking = std::process::Command::new("git");
    asking.args(["var", "GIT_PAGER"]).env("GIT_DIR", "/dev/null").env_remove("GIT_CONFIG_PARAMETERS");
    let asked = asking.current_dir("/").output();
    let Some(pager) = asked.ok().and_then(|o| String::from_utf8(o.stdout).ok()).map(|p| p.trim().to_owned()) else {
        return false;
    };
    if pager.is_empty() || pager == "cat" {
        return false;
    }
    // The user's own setting, run as git runs it.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &pager]).stdin(std::process::Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}

/// Text that came from outside, safe for a terminal: control characters and direction marks are shown, not obeyed.
pub(crate) fn safe(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if steers(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// The same for text on one line of many: its own line breaks cannot pass for ours.
pub(crate) fn safe_line(text: &str) -> String {
    safe(text).replace('\n', "\\n")
}

/// Says something beside the data, from whichever thread.
pub(crate) fn say(text: &str) {
    progress::clear();
    let _ = writeln!(anstream::stderr(), "{}", tamed(text));
}

/// What is printed in the end: as [`safe`], but for the styles that we use ourselves.
fn tamed(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.chars().any(|c| steers(c) && c != '\n' && c != '\t') {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(STYLES[0].chars().next().unwrap_or_default()) {
        let (before, from) = rest.split_at(at);
        shown += &safe(before);
        let style = STYLES.iter().find(|style| from.starts_with(**style));
        let length = style.map_or(1, |style| style.len());
        shown += &style.map_or_else(|| safe(&from[..length]), |style| (*style).to_owned());
        rest = &from[length..];
    }
    (shown + &safe(rest)).into()
}

/// Bold, plain again, faint, green and red.
pub(crate) const STYLES: [&str; 5] = ["\u{1b}[1m", "\u{1b}[0m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[31m"];

/// JSON as before, in which no character steers a terminal: outside strings there is none, and inside there are escapes.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if !steers(c) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            text += &format!("\\u{unit:04x}");
        }
    }
    text
}

/// Control characters, and those that change the direction, hide what is written or are not seen; but for what joins letters and pictures.
fn steers(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || (is_invisible(c) && !joins)
}

/// The command by which git shall call this program: its name where the path leads to it, else by where it is.
#[allow(clippy::disallowed_methods, reason = "the program's own place")]
pub(crate) fn program() -> String {
    const NAME: &str = "git-brain";
    let Ok(own) = std::env::current_exe() else { return NAME.to_owned() };
    let same = |folder: std::path::PathBuf| folder.join(NAME).canonicalize().is_ok_and(|path| path == own);
    let on_path = std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(same));
    if on_path { NAME.to_owned() } else { own.display().to_string() }
}

/// An id as people read it.
pub(super) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        assert_eq!(safe("a\u{1b}[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\n");
        assert_eq!(safe("thé お茶"), "thé お茶");
        assert_eq!(safe_line("a\n2. b"), "a\\n2. b");
    }

    #[test]
    fn what_a_command_forgot_is_tamed_at_the_end() {
        assert_eq!(tamed("plain\n\ttext"), "plain\n\ttext");
        assert_eq!(
            tamed("\u{1b}[1mbold\u{1b}[0m \u{1b}[2J\u{9b}x\u{1b}"),
            "\u{1b}[1mbold\u{1b}[0m \\u{1b}[2J\\u{9b}x\\u{1b}"
        );
    }

    #[test]
    fn json_says_the_same_without_steering() {
        let text = "\u{1b}]0;x\u{7}\u{9b}2J\u{7f}\u{202e}\u{200b}é🫖";
        let json = escaped(&serde_json::json!({ "a": text }).to_string());
        assert!(!json.chars().any(steers), "{json}");
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["a"], text);
    }
}
