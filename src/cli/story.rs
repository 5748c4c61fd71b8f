//! `story`: chapters, mood as a line of blocks, and how far the story is from the ledger.

use super::args;
use super::output::safe;
use super::{Done, Session};
use crate::brain::{Brain, BrainError, Story, ToldChapter};
use crate::model::plural;

/// Moods from -1 to 1.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn story(session: &Session, args: &args::Story) -> Done {
    let story = session.brain()?.story(args.number, args.at.as_deref(), args.narrator)?;
    if session.out.is_json() {
        session.out.document(&story);
    } else {
        session.out.paged(&told(&story));
    }
    Ok(0)
}

/// The newest of what was told.
pub(super) fn newest(brain: &Brain) -> Result<String, BrainError> {
    let story = brain.story(1, None, false)?;
    let told = |chapter: &ToldChapter| described(&chapter.chapter.at.to_string()[..10], chapter);
    Ok(story.chapters.last().map_or_else(|| "nothing was judged yet\n".to_owned(), told))
}

fn told(story: &Story) -> String {
    let mut text = String::new();
    for chapter in &story.chapters {
        text += &described(&chapter.chapter.at.to_string()[..10], chapter);
    }
    match &story.today {
        Some(today) => text += &described("today so far", today),
        None if !story.enabled => text += "serotonin is off (serotonin.enabled = false): no chapter is told.\n",
        None if story.chapters.is_empty() => text += "There is no story yet: nothing in the ledger was judged.\n",
        None => text += "today so far: nothing was judged since.\n",
    }
    let moods: Vec<f64> = story.chapters.iter().chain(&story.today).map(|told| told.chapter.mood).collect();
    if moods.len() > 1 {
        text += &format!("\nmood  {}  from -1 to 1\n", sparkline(&moods));
    }
    text
}

fn described(when: &str, told: &ToldChapter) -> String {
    let c = &told.chapter;
    let mut text = format!(
        "{when}  told by {}, of {} \n",
        safe(c.narrator.as_str()),
        plural(c.entries, "judgement", "judgements")
    );
    text.extend(c.text.lines().map(|line| format!("  {}\n", safe(line))));
    text += &format!(
        "  mood {:+.2} {}   confidence {:.2}, the ledger supports {:.2}   gap {:.2}{}\n",
        c.mood + 0.0,
        sparkline(&[c.mood]),
        c.confidence,
        c.calibrated,
        c.gap.total,
        if told.alarm { "  ALARM" } else { "" }
    );
    if told.alarm {
        text += &format!("  ALARM: the story is far from the ledger ({}).\n", parts(told));
    }
    text.extend(c.notes.iter().map(|note| format!("  note: {}\n", safe(note))));
    text + "\n"
}

/// What of the story is far from the ledger, the greatest part first.
fn parts(told: &ToldChapter) -> String {
    let (c, gap) = (&told.chapter, &told.chapter.gap);
    if c.entries == 0 || c.claims.is_empty() || gap.unanchored >= 1.0 {
        return "no claim of it names an entry: a story with no anchor".to_owned();
    }
    let mut parts = [
        (gap.told, "outcomes told otherwise"),
        (gap.confidence, "confidence that is not supported"),
        (gap.mood, "another mood than measured"),
        (gap.unanchored, "claims that name no entry"),
        (gap.left_out, "failures left out"),
    ];
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let said = parts.iter().filter(|(part, _)| *part > 0.0).map(|(part, what)| format!("{what} {part:.2}"));
    said.collect::<Vec<_>>().join(", ")
}

/// A block for each mood.
fn sparkline(moods: &[f64]) -> String {
    let most = (BLOCKS.len() - 1) as f64;
    moods.iter().map(|mood| BLOCKS[((mood.clamp(-1.0, 1.0) + 1.0) / 2.0 * most).round() as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moods_are_blocks_from_low_to_high() {
        assert_eq!(sparkline(&[-1.0, 0.0, 1.0, 7.0]), "▁▅██");
    }
}
