//! What `recall` and `find` answer, for people: one line a hit, or all of it.

use super::fit::{Cells, label, padded, width};
use super::output::{safe, safe_line};
use crate::brain::{Also, Answer, FindAnswer, RecallAnswer, said_from, shared, states};
use crate::model::{Kind, Origin, plural};

/// Characters of an id that is a hash which name a neuron well enough: `e-` and 32 bits.
const SHORT_ID: usize = 10;
/// Hexadecimal digits of such an id.
const HASH_DIGITS: usize = 16;
/// Characters of the id of a sealed memory that are shown: `sealed-` and 32 bits.
const SHORT_SEALED: usize = 15;
/// Columns that a snippet has at least.
const SNIPPET: usize = 16;
const INDENT: &str = "    ";

/// One line a hit: date, score, source, the words around those that were asked, id. Without a width nothing is left out.
pub(super) fn lines(answer: &RecallAnswer, question: &str, columns: Option<usize>) -> String {
    let most = columns.map_or(usize::MAX, |columns| (columns / 5).clamp(8, 24));
    let rows: Vec<[String; 4]> = (answer.results.iter())
        .map(|hit| {
            let id = if columns.is_some() { short(hit.id.as_str()) } else { hit.id.as_str() };
            [date(hit), format!("{:.2}", hit.activation), label(&source(hit), most), id.to_owned()]
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let [dates, scores, sources, ids] = [0, 1, 2, 3].map(widest);
    let left = columns.map(|columns| columns.saturating_sub(dates + scores + sources + ids + 8).max(SNIPPET));
    let snippets: Vec<(String, usize)> = answer.results.iter().map(|hit| snippet(hit, question, left)).collect();
    let widest_snippet = snippets.iter().map(|(_, width)| *width).max().unwrap_or(0);
    let mut text = String::new();
    for ((hit, [date, score, source, id]), (snippet, wide)) in answer.results.iter().zip(&rows).zip(&snippets) {
        let (date, source) = (padded(date, dates), padded(source, sources));
        // Without a width nobody sees columns, and a long text would push all ids far away.
        let gap = columns.map_or(0, |_| widest_snippet - wide);
        text += &format!("{date}  {score:>scores$}  {source}  {snippet}{}  {id}\n", " ".repeat(gap));
        text += &reasons(hit, columns);
    }
    text + &learnt(answer)
}

/// All of each hit: its facts, its whole text, and those that say the same.
pub(super) fn full(answer: &RecallAnswer, question: &str, columns: Option<usize>) -> String {
    let mut text = String::new();
    for hit in &answer.results {
        let labels = [
            ("sealed:", hit.sealed.as_deref()),
            ("source", hit.source.as_deref()),
            ("session", hit.session.as_deref()),
        ];
        let labels = labels.into_iter().filter_map(|(name, label)| Some(format!(" · {name} {}", safe_line(label?))));
        let facts = format!(
            "{} · {} · score {:.2}{} · origin {} · salience {} %",
            hit.id,
            hit.at,
            hit.activation,
            labels.collect::<String>(),
            hit.origin,
            u32::from(hit.salience) * 100 / 65535
        );
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}{}", block(&facts, &[], "", columns));
        let mut start = 0;
        let marks = marks(question, &hit.text);
        for line in hit.text.split_inclusive('\n') {
            let end = start + line.len();
            let inside = marks.iter().filter(|mark| mark.start >= start && mark.start < end);
            let inside: Vec<_> = inside.map(|mark| mark.start - start..mark.end.min(end) - start).collect();
            text += &block(line, &inside, INDENT, columns);
            start = end;
        }
        for also in &hit.also {
            text += &block(&format!("also {}", copy(also)), &[], INDENT, columns);
        }
        text += &reasons(hit, columns);
    }
    text + &learnt(answer)
}

/// A memory that says the same.
fn copy(also: &Also) -> String {
    let labels = [("said by", &also.speaker), ("source", &also.source), ("session", &also.session)];
    let labels = labels.into_iter().filter_map(|(name, label)| Some(format!(" · {name} {}", label.as_deref()?)));
    format!("{} · {}{}", also.id, also.at, labels.collect::<String>())
}

/// What an answer says first whose memories share little with the question.
pub(super) fn nothing_close(answer: &RecallAnswer) -> String {
    if answer.nothing_close { "nothing close to that; the nearest:\n".to_owned() } else { String::new() }
}

/// Why it was found, what it replaces, and how the code is that it cites.
fn reasons(hit: &Answer, columns: Option<usize>) -> String {
    let shown = |id: &str| if columns.is_some() { short(id).to_owned() } else { id.to_owned() };
    let more = match hit.older.len() {
        0 | 1 => String::new(),
        n => format!(", and {} before", n - 1),
    };
    let older = hit.older.first().map(|id| format!("replaces {}{more}", shown(id.as_str())));
    let code = hit.code.iter().flat_map(|code| code.sentences().into_iter().map(|line| safe_line(&line)));
    hit.why.iter().cloned().chain(older).chain(code).map(|line| block(&line, &[], INDENT, columns)).collect()
}

fn learnt(answer: &RecallAnswer) -> String {
    answer.learnt.as_ref().map_or_else(String::new, |run| format!("learnt in {run}\n"))
}

/// A paragraph, wrapped and indented.
fn block(text: &str, marks: &[std::ops::Range<usize>], indent: &str, columns: Option<usize>) -> String {
    let cells = Cells::of(text, marks);
    let lines = match columns {
        Some(columns) => cells.wrapped(columns.saturating_sub(indent.len()).max(SNIPPET)),
        None => vec![cells.styled()],
    };
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

fn marks(question: &str, text: &str) -> Vec<std::ops::Range<usize>> {
    shared(question, text).into_iter().map(|word| word.range).collect()
}

/// What stands around the words that were asked, with the name of whoever says it, and how wide it is.
fn snippet(hit: &Answer, question: &str, columns: Option<usize>) -> (String, usize) {
    let again = if hit.also.is_empty() { String::new() } else { format!(" ({} times)", hit.also.len() + 1) };
    let marks = marks(question, &hit.text);
    let all = Cells::of(&hit.text, &marks);
    let Some(columns) = columns.map(|columns| columns.saturating_sub(again.len())) else {
        return (format!("{}{again}", all.styled()), all.width() + again.len());
    };
    let said = said_from(&hit.text);
    let who = Cells::of(&hit.text[..said], &marks);
    let shown = if all.width() <= columns || said == 0 || who.width() > columns / 3 {
        all.around_marks(columns)
    } else {
        let rest: Vec<_> =
            marks.iter().filter(|mark| mark.start >= said).map(|mark| mark.start - said..mark.end - said).collect();
        let rest = Cells::of(&hit.text[said..], &rest);
        format!("{} {}", who.styled(), rest.around_marks(columns - who.width() - 1))
    };
    let bare = super::output::STYLES.iter().fold(shown.clone(), |text, style| text.replace(style, ""));
    (format!("{shown}{again}"), width(&bare) + again.len())
}

fn date(hit: &Answer) -> String {
    hit.at.to_string().chars().take(10).collect()
}

/// Where a memory comes from: its label or its session, and its origin where that is not this machine.
fn source(hit: &Answer) -> String {
    if let Some(subject) = &hit.sealed {
        return format!("sealed: {subject}");
    }
    let label = match hit.kind {
        Kind::Semantic if !states(&hit.text) => "concept",
        _ => hit.source.as_deref().or(hit.session.as_deref()).unwrap_or("-"),
    };
    if hit.origin == Origin::default() { label.to_owned() } else { format!("{label} ({})", hit.origin) }
}

/// The beginning of an id that is a hash; other ids are as people made them.
fn short(id: &str) -> &str {
    let digits = id.split_once('-').map_or("", |(_, digits)| digits);
    let is_hash = digits.len() == HASH_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if id.starts_with("sealed-") {
        return id.get(..SHORT_SEALED).unwrap_or(id);
    }
    if is_hash { id.get(..SHORT_ID).unwrap_or(id) } else { id }
}

/// One line a concept: its words, how vivid it is, how many memories recall it, id.
pub(super) fn concepts(answer: &FindAnswer, words: &str, columns: Option<usize>) -> String {
    if answer.results.is_empty() {
        return format!(
            "no concept has the words {:?}; `git brain recall` finds the memories that say them\n",
            safe(words)
        );
    }
    let rows: Vec<[String; 2]> = (answer.results.iter())
        .map(|found| {
            let salience = u32::from(found.salience) * 100 / 65535;
            [plural(found.memories, "memory", "memories"), format!("salience {salience} %")]
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let [memories, saliences] = [0, 1].map(widest);
    let ids = answer.results.iter().map(|found| found.id.as_str().len()).max().unwrap_or(0);
    let most =
        columns.map_or(usize::MAX, |columns| columns.saturating_sub(memories + saliences + ids + 6).max(SNIPPET));
    let shown: Vec<(String, usize)> = (answer.results.iter())
        .map(|found| {
            let cells = Cells::of(&found.concept, &marks(words, &found.concept));
            (cells.around_marks(most), cells.width().min(most))
        })
        .collect();
    let widest = shown.iter().map(|(_, width)| *width).max().unwrap_or(0);
    let mut text = String::new();
    for ((found, [recalls, salience]), (concept, wide)) in answer.results.iter().zip(&rows).zip(&shown) {
        let gap = " ".repeat(widest - wide);
        text += &format!("{concept}{gap}  {recalls:>memories$}  {salience:>saliences$}  {}\n", found.id);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_hashes_are_shortened() {
        assert_eq!(short("e-2eea6eb600126cad"), "e-2eea6eb6");
        assert_eq!(short("n_core_perception"), "n_core_perception");
        assert_eq!(short("tea-of-the-morning"), "tea-of-the-morning");
    }
}
