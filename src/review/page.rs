//! A belief diff as blocks, and the blocks as plain text, Markdown or HTML. One walk says what is shown; printers only say how.

use std::fmt::Write;

use super::belief::{Belief, Change, ChangeKind, Question, Tie};
use super::words::Became;
use crate::delta::render::{clip, short};
use crate::model::ids::is_invisible;
use crate::model::{plural, ranges};

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As any other.
    Plain,
    /// A name or a number that matters.
    Strong,
    /// Ids and other small print.
    Faint,
    /// It comes.
    Added,
    /// It goes.
    Removed,
    /// Words that come into a text.
    Inserted,
    /// Words that go from a text.
    Deleted,
}

/// A piece of text with one tone.
pub type Span = (Tone, String);

/// A piece of a belief diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// The title.
    Title(String),
    /// The heading of a part.
    Heading(String),
    /// A line; the first value is how deep it stands.
    Line(usize, Vec<Span>),
}

/// Most neurons that are shown, unless all are asked for.
pub const SHOWN_NEURONS: usize = 40;
/// Most connections of one neuron that are shown, unless all are asked for.
pub const SHOWN_TIES: usize = 8;
/// Most other lines of a part that are shown, unless all are asked for.
const SHOWN_LINES: usize = 20;
/// Texts of evidence that stand before the beliefs: with more of them nobody would see what is decided on.
const EVIDENCE: usize = 5;

/// The blocks of a belief diff; with `all`, nothing is folded.
pub fn blocks(belief: &Belief, all: bool) -> Vec<Block> {
    let mut blocks = vec![Block::Title(title(belief))];
    let plain = |text: String| vec![(Tone::Plain, text)];
    blocks.push(Block::Line(0, plain(headline(belief))));
    blocks.push(Block::Line(
        0,
        vec![(Tone::Faint, format!("{}  {}  about {}", belief.run, short_id(&belief.commit), belief.at))],
    ));
    let mut expects = belief.expects.as_deref().map(|text| format!("\"{}\"", flat(text.trim()))).unwrap_or_default();
    if let Some(value) = belief.expected {
        let _ = write!(expects, "{}{}", if expects.is_empty() { "" } else { ", " }, short(value));
    }
    if !expects.is_empty() {
        blocks.push(Block::Heading("Prediction at stake".to_owned()));
        blocks.push(Block::Line(1, plain(expects)));
    }
    let mut part = |name: &str, lines: Vec<(usize, Vec<Span>)>, most: usize| {
        if lines.is_empty() {
            return;
        }
        blocks.push(Block::Heading(name.to_owned()));
        let more = if all { 0 } else { lines.len().saturating_sub(most) };
        let shown = lines.len() - more;
        blocks.extend(lines.into_iter().take(shown).map(|(depth, spans)| Block::Line(depth, spans)));
        if more > 0 {
            let text = format!("… and {} more; --all shows them", plural(more, "line", "lines"));
            blocks.push(Block::Line(1, vec![(Tone::Faint, text)]));
        }
    };
    let conflicts = belief.conflicts.iter().enumerate().flat_map(|(number, conflict)| {
        let name = format!("{}. {} {}", number + 1, conflict.neuron, conflict.field);
        let line = |side: &str, of: &serde_json::Value| {
            (2, vec![(Tone::Faint, format!("{side:4}  ")), (Tone::Plain, value(of))])
        };
        // Whole: who takes a side has seen it.
        [
            (1, vec![(Tone::Strong, name)]),
            line("base", &conflict.base),
            line("wake", &conflict.left),
            line("run", &conflict.right),
        ]
    });
    part("Conflicts", conflicts.collect(), usize::MAX);
    part("Notes", belief.notes.iter().map(|note| (1, plain(note.clone()))).collect(), SHOWN_LINES);
    let evidence = belief.evidence.iter().map(|evidence| {
        let source = evidence.source.as_deref().map(|source| format!("  {}", flat(source))).unwrap_or_default();
        let from = if evidence.origin == "local" { String::new() } else { format!("  from {}", evidence.origin) };
        let from = from + &source;
        (1, vec![(Tone::Plain, quoted(&evidence.text)), (Tone::Faint, from)])
    });
    let evidence: Vec<(usize, Vec<Span>)> = evidence.collect();
    // Long evidence stands behind what would be believed.
    let (short, long) = if evidence.len() > EVIDENCE { (Vec::new(), evidence) } else { (evidence, Vec::new()) };
    part("Because of", short, SHOWN_LINES);
    let mut lines = Vec::new();
    let most = if all { usize::MAX } else { SHOWN_NEURONS };
    belief.neurons.iter().take(most).for_each(|change| neuron(change, all, &mut lines));
    let hidden = belief.neurons.len().saturating_sub(most);
    if hidden > 0 {
        let text = format!("… and {} more; --all shows them", plural(hidden, "neuron", "neurons"));
        lines.push((1, vec![(Tone::Faint, text)]));
    }
    part("Beliefs", lines, usize::MAX);
    part("Beside beliefs", belief.further.iter().map(|line| (1, plain(line.clone()))).collect(), usize::MAX);
    let beside = belief.beside.iter().flat_map(|beside| {
        let old =
            vec![(Tone::Plain, quoted(&beside.text)), (Tone::Faint, format!("  {}, {}", beside.id, day(&beside.at)))];
        [(1, vec![(Tone::Strong, quoted(&beside.new))]), (2, old)]
    });
    part("Beside what is remembered", beside.collect(), SHOWN_LINES);
    part("Because of", long, SHOWN_LINES);
    part("Answers that change", belief.questions.iter().flat_map(question).collect(), usize::MAX);
    let operations = belief.operations.iter().enumerate();
    let operations = operations
        .map(|(number, line)| (1, vec![(Tone::Faint, format!("{:>3}  ", number + 1)), (Tone::Plain, line.clone())]));
    part("Operations", operations.collect(), SHOWN_LINES);
    blocks
}

/// One line that says which run it is.
pub fn title(belief: &Belief) -> String {
    format!("{} learnt: {}", belief.agent, summary(belief))
}

/// How many beliefs of each kind change.
pub fn summary(belief: &Belief) -> String {
    let of = |what: ChangeKind| belief.neurons.iter().filter(|change| change.what == what).count();
    let weights: usize = belief.neurons.iter().filter(|c| c.what == ChangeKind::Changed).map(|c| c.ties.len()).sum();
    let parts: Vec<String> = [
        (of(ChangeKind::Born), "new"),
        (of(ChangeKind::Changed), "changed"),
        (of(ChangeKind::Archived), "archived"),
        (of(ChangeKind::Removed), "removed"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let mut text = if parts.is_empty() { "no belief".to_owned() } else { parts.join(", ") };
    if weights > 0 {
        let _ = write!(text, ", {}", plural(weights, "weight moves", "weights move"));
    }
    if !belief.conflicts.is_empty() {
        let _ = write!(text, ", {}", plural(belief.conflicts.len(), "conflict", "conflicts"));
    }
    text
}

fn headline(belief: &Belief) -> String {
    let why = match belief.waits.as_str() {
        "asked" => "waits because its sender asked for review".to_owned(),
        "origin" => format!("waits because of its origin, {}", belief.origin),
        "conflict" => "waits because it conflicts with wake".to_owned(),
        "pending" => "waits to be merged".to_owned(),
        "merged" => "is merged".to_owned(),
        rule if rule.starts_with("rule ") => format!("waits by {rule}"),
        decided => format!("was {}", clip(decided)),
    };
    let tainted = if belief.tainted && belief.waits != "origin" {
        format!(", from {}, which is not trusted", belief.origin)
    } else {
        String::new()
    };
    let woken = match belief.trigger.as_str() {
        "by hand" => "started by hand".to_owned(),
        "by a client" => "proposed by a client".to_owned(),
        trigger => format!("woken by {}", clip(trigger)),
    };
    format!("{why}{tainted}; {woken}, thought by {}", clip(&belief.cognition))
}

fn neuron(change: &Change, all: bool, lines: &mut Vec<(usize, Vec<Span>)>) {
    let (mark, tone) = match change.what {
        ChangeKind::Born => ("+ ", Tone::Added),
        ChangeKind::Changed => ("~ ", Tone::Strong),
        ChangeKind::Archived | ChangeKind::Removed => ("- ", Tone::Removed),
    };
    let mut spans = vec![(tone, mark.to_owned())];
    if change.words.is_empty() {
        // Whole, whatever its length: what is not shown is not approved.
        spans.push((tone, format!("\"{}\"", flat(change.concept.trim()))));
    } else {
        spans.extend(change.words.iter().map(|part| match part.became {
            Became::Kept => (Tone::Plain, flat(&part.text)),
            Became::Added => (Tone::Inserted, flat(&part.text)),
            Became::Removed => (Tone::Deleted, flat(&part.text)),
        }));
    }
    let by = ranges(&change.operations);
    let by = if by.is_empty() { by } else { format!("  [{by}]") };
    spans.push((Tone::Faint, format!("  {}, {}{by}", change.kind, change.id)));
    lines.push((1, spans));
    let what = match change.what {
        ChangeKind::Archived => "archived",
        ChangeKind::Removed => "removed",
        _ => "",
    };
    if !what.is_empty() {
        let why = change.reason.as_deref().map(|reason| format!(": {}", flat(reason.trim()))).unwrap_or_default();
        lines.push((3, vec![(Tone::Plain, format!("{what}{why}"))]));
    }
    for (name, before, after) in change.fields.iter().filter(|(name, ..)| name != "archived" || what.is_empty()) {
        let text = if before.is_empty() { format!("{name}  {after}") } else { format!("{name}  {before} → {after}") };
        lines.push((3, vec![(Tone::Plain, text)]));
    }
    let most = if all { usize::MAX } else { SHOWN_TIES };
    lines.extend(change.ties.iter().take(most).map(|line| (3, tie(line))));
    let hidden = change.ties.len().saturating_sub(most);
    if hidden > 0 {
        lines.push((3, vec![(Tone::Faint, format!("… and {} more", plural(hidden, "connection", "connections")))]));
    }
}

fn tie(tie: &Tie) -> Vec<Span> {
    let target =
        tie.concept.as_deref().map_or_else(|| tie.target.to_string(), |concept| format!("{:?}", clip(concept)));
    let place = format!("{} {target}  ", tie.link);
    let to = |digits: usize, weight: u16| format!("{:.digits$}", f64::from(weight) / f64::from(u16::MAX));
    // Where two digits show no difference, more do.
    let digits = match (tie.before, tie.after) {
        (Some(before), Some(after)) if before != after && to(2, before) == to(2, after) => 4,
        _ => 2,
    };
    let weight = |weight: u16| to(digits, weight);
    match (tie.before, tie.after) {
        (None, after) => vec![(Tone::Added, format!("+ {place}{}", weight(after.unwrap_or(0))))],
        (Some(before), None) => vec![(Tone::Removed, format!("- {place}{}", weight(before)))],
        (Some(before), Some(after)) => {
            let tone = if after >= before { Tone::Added } else { Tone::Removed };
            let by = f64::from(tie.by()) / f64::from(u16::MAX);
            vec![
                (Tone::Plain, format!("~ {place}{} → {} ", weight(before), weight(after))),
                (tone, format!("({by:+.digits$})")),
            ]
        }
    }
}

fn question(question: &Question) -> Vec<(usize, Vec<Span>)> {
    let mut lines = vec![(1, vec![(Tone::Strong, flat(&question.question))])];
    let only = |from: &[super::Answered], other: &[super::Answered]| -> Vec<String> {
        from.iter().filter(|a| !other.contains(a)).map(|a| quoted(&a.text)).collect()
    };
    let gone = only(&question.before, &question.after);
    let came = only(&question.after, &question.before);
    if gone.is_empty() && came.is_empty() {
        let first = |of: &[super::Answered]| of.first().map(|a| quoted(&a.text)).unwrap_or_default();
        lines.push((2, vec![(Tone::Removed, format!("- first: {}", first(&question.before)))]));
        lines.push((2, vec![(Tone::Added, format!("+ first: {}", first(&question.after)))]));
    }
    lines.extend(gone.into_iter().map(|text| (2, vec![(Tone::Removed, format!("- {text}"))])));
    lines.extend(came.into_iter().map(|text| (2, vec![(Tone::Added, format!("+ {text}"))])));
    lines
}

/// The day of a time in RFC 3339.
fn day(at: &str) -> String {
    at.chars().take(10).collect()
}

fn value(value: &serde_json::Value) -> String {
    let value = value.get("salience").unwrap_or(value);
    match value {
        serde_json::Value::String(text) => format!("\"{}\"", flat(text)),
        serde_json::Value::Null => "none".to_owned(),
        other => flat(&other.to_string()),
    }
}

/// A text on one line, in quotation marks, at most [`SHOWN_CHARS`] characters.
fn quoted(text: &str) -> String {
    let flat = flat(text.trim());
    match flat.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("\"{}…\"", &flat[..end]),
        None => format!("\"{flat}\""),
    }
}

/// Characters of a text that are shown.
const SHOWN_CHARS: usize = 200;

/// A text on one line. What controls a terminal or is not seen is written out, so that nobody approves what he cannot see.
fn flat(text: &str) -> String {
    let (mut shown, mut before) = (String::with_capacity(text.len()), None);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => shown.push(' '),
            c if c.is_control() || hides(c, before) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
        before = Some(c);
    }
    shown
}

/// A text of lines without characters that control a terminal or change how others are shown.
pub fn visible(text: &str) -> String {
    text.split('\n').map(flat).collect::<Vec<_>>().join("\n")
}

/// Whether a character is not seen where it stands. Joiners and the selector of emoji belong to a letter of another script or a picture.
fn hides(c: char, before: Option<char>) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}');
    let blank = matches!(c, '\u{2800}' | '\u{fff9}'..='\u{fffc}' | '\u{070f}');
    blank || is_invisible(c) && !(joins && before.is_some_and(|before| !before.is_ascii() && !is_invisible(before)))
}

fn short_id(commit: &str) -> &str {
    &commit[..commit.len().min(10)]
}

/// The blocks as plain text; `style` wraps a span for a terminal.
pub fn plain(blocks: &[Block], style: &dyn Fn(Tone, &str) -> String) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Title(title) => text += &format!("{}\n", style(Tone::Strong, &flat(title))),
            Block::Heading(name) => text += &format!("\n{}\n", style(Tone::Strong, name)),
            Block::Line(depth, spans) => {
                text += &"  ".repeat(*depth);
                text.extend(spans.iter().map(|(tone, span)| match tone {
                    // The marks of git's own word diff: a terminal without colours shows the same.
                    Tone::Inserted => style(*tone, &format!("{{+{}+}}", flat(span))),
                    Tone::Deleted => style(*tone, &format!("[-{}-]", flat(span))),
                    _ => style(*tone, &flat(span)),
                }));
                text.push('\n');
            }
        }
    }
    text
}

/// The blocks as Markdown that every forge shows alike: text of the brain is escaped, so that it is no markup, no mention, no link to
/// another request and no end of a comment.
pub fn markdown(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Title(title) => text += &format!("### {}\n\n", escaped(title)),
            Block::Heading(name) => text += &format!("\n**{}**\n\n", escaped(name)),
            Block::Line(depth, spans) => {
                text += &"  ".repeat(depth.saturating_sub(1));
                text += if *depth == 0 { "" } else { "- " };
                for (tone, span) in spans {
                    let lead = &span[..span.len() - span.trim_start().len()];
                    let trail = &span[span.trim_end().len()..];
                    let body = escaped(span.trim());
                    // Tags: delimiters of Markdown depend on the letters beside them.
                    text += &match tone {
                        _ if body.is_empty() => span.replace('\n', " "),
                        Tone::Plain => format!("{lead}{body}{trail}"),
                        Tone::Strong => format!("{lead}<b>{body}</b>{trail}"),
                        Tone::Added | Tone::Inserted => format!("{lead}<ins>{body}</ins>{trail}"),
                        Tone::Removed | Tone::Deleted => format!("{lead}<del>{body}</del>{trail}"),
                        Tone::Faint => format!("{lead}<sub>{body}</sub>{trail}"),
                    };
                }
                text += if *depth == 0 { "  \n" } else { "\n" };
            }
        }
    }
    text
}

/// A text that no printer of Markdown takes for anything but text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    // A bare `www.` is a link there.
    for c in flat(text).replace("www.", "www\u{200B}.").chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            // Forges look for mentions and references after they have read entities: a space of no width ends the name.
            '@' => out += "&#64;\u{200B}",
            '#' => out += "&#35;\u{200B}",
            '!' => out += "&#33;\u{200B}",
            ':' => out += "&#58;",
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '~' | '|' | '$' | '+' | '=' => {
                out.push('\\');
                out.push(c);
            }
            '-' => out += "&#45;",
            c => out.push(c),
        }
    }
    out
}

/// The blocks as a whole page of HTML, without scripts and without anything from elsewhere.
pub fn html(title: &str, beliefs: &[Vec<Block>]) -> String {
    let mut body = String::new();
    for blocks in beliefs {
        body += "<article>\n";
        let mut is_open = false;
        for (at, block) in blocks.iter().enumerate() {
            match block {
                Block::Title(title) => body += &format!("<h2>{}</h2>\n", marked_up(title)),
                Block::Heading(name) => {
                    let lines = blocks[at + 1..].iter().take_while(|block| matches!(block, Block::Line(..))).count();
                    body += if is_open { "</details>\n" } else { "" };
                    is_open = true;
                    body += &match lines > SHOWN_NEURONS {
                        true => format!("<details><summary>{}, {lines} lines</summary>\n", marked_up(name)),
                        false => format!("<details open><summary>{}</summary>\n", marked_up(name)),
                    };
                }
                Block::Line(depth, spans) => {
                    body += &format!("<p class=\"d{}\">", depth.min(&3));
                    for (tone, span) in spans {
                        let text = marked_up(span);
                        body += &match tone {
                            Tone::Plain => text,
                            Tone::Strong => format!("<strong>{text}</strong>"),
                            Tone::Faint => format!("<small>{text}</small>"),
                            Tone::Added | Tone::Inserted => format!("<ins>{text}</ins>"),
                            Tone::Removed | Tone::Deleted => format!("<del>{text}</del>"),
                        };
                    }
                    body += "</p>\n";
                }
            }
        }
        body += if is_open { "</details>\n</article>\n" } else { "</article>\n" };
    }
    let title = marked_up(title);
    format!(
        "{HEAD}<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

fn marked_up(text: &str) -> String {
    let mut out = String::new();
    for c in flat(text).chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
article{border:1px solid #8886;border-radius:8px;padding:0 1rem 1rem;margin:1rem 0}\
h1{font-size:1.4rem}h2{font-size:1.15rem}summary{font-weight:600;margin:1rem 0 .25rem;cursor:pointer}p{margin:.1rem 0;overflow-wrap:anywhere}\
.d1{margin-left:1rem}.d2{margin-left:2rem}.d3{margin-left:3rem}\
ins{text-decoration:none;background:#2da04433}del{background:#d1242f33}small{opacity:.75}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::{Answered, Evidence};

    /// A belief whose every text is `text`.
    fn of(text: &str) -> Belief {
        let answered = |id: &str| vec![Answered { id: id.to_owned(), text: text.to_owned() }];
        let change = |what, words| Change {
            id: "n".to_owned(),
            what,
            kind: "semantic".to_owned(),
            concept: text.to_owned(),
            words,
            fields: vec![("type".to_owned(), "episodic".to_owned(), "semantic".to_owned())],
            ties: Vec::new(),
            operations: vec![1, 2],
            reason: Some(text.to_owned()),
        };
        Belief {
            branch: "agents/memory/r".to_owned(),
            commit: "0123456789abcdef".to_owned(),
            run: "r".to_owned(),
            agent: "memory".to_owned(),
            at: "2026-01-26T14:32:00Z".to_owned(),
            waits: "asked".to_owned(),
            trigger: text.to_owned(),
            cognition: text.to_owned(),
            origin: "http".to_owned(),
            tainted: true,
            expects: Some(text.to_owned()),
            expected: Some(0.5),
            consequence: 1.0,
            evidence: vec![Evidence {
                stimulus: "s".into(),
                origin: "http".into(),
                source: None,
                text: text.to_owned(),
            }],
            neurons: vec![
                change(ChangeKind::Born, Vec::new()),
                change(ChangeKind::Changed, super::super::words::difference("x", text)),
                change(ChangeKind::Archived, Vec::new()),
            ],
            further: vec![text.to_owned()],
            operations: vec![text.to_owned()],
            conflicts: Vec::new(),
            notes: vec![text.to_owned()],
            beside: Vec::new(),
            questions: vec![Question { question: text.to_owned(), before: answered("a"), after: answered("b") }],
        }
    }

    const HOSTILE: &str = "<script>alert(1)</script> <!-- git-brain --> @admin #1 !2 [x](javascript:y) **b** `c` | d \u{1b}[31m \u{202e}x\n## y\n- z";

    #[test]
    fn text_of_the_brain_is_no_markup() {
        let blocks = blocks(&of(HOSTILE), true);
        let page = html("r", std::slice::from_ref(&blocks));
        assert!(!page.contains("<script") && !page.contains("<!-- git"), "{page}");
        let text = markdown(&blocks);
        for bad in ["<script", "<!--", "@admin", "#1", "!2", "[x](", "`c`", "\n## y", "\u{1b}", "\u{202e}"] {
            assert!(!text.contains(bad), "{bad:?} in {text}");
        }
        let terminal = plain(&blocks, &|_, text| text.to_owned());
        assert!(!terminal.contains(['\u{1b}', '\u{202e}']), "{terminal:?}");
    }

    #[test]
    fn a_long_change_is_folded_unless_all_is_asked_for() {
        let mut belief = of("tea");
        let one = belief.neurons[0].clone();
        belief.neurons = vec![one; SHOWN_NEURONS + 5];
        let lines = |all| plain(&blocks(&belief, all), &|_, text| text.to_owned());
        assert!(lines(false).contains("… and 5 neurons more; --all shows them"), "{}", lines(false));
        assert!(!lines(true).contains("--all"));
    }
}
