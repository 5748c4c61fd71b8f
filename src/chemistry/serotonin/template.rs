//! The template: a chapter without any model. Identity (the aim, the chapter before), what was done, what was learnt, what
//! comes next. Failures are told as lessons, each with its figure beside it; none is left out.

use super::wording::{self, Wording, fill};
use super::{Chapter, Claim, Feeling, TEMPLATE, Told, gap, millionth};
use crate::delta::LedgerEntry;
use crate::delta::render::clip;
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::{AgentName, RunId};
use crate::model::settings::Serotonin;
use crate::text;

/// Failures that are told one by one; of the others the number is told.
const LESSONS: usize = 3;
/// Entries whose texts decide for the language.
const TEXTS: usize = 50;
/// Goals that the aim names.
const GOALS: usize = 3;
/// An error up to this is as expected: what differs by less reads the same, or nearly.
const AS_EXPECTED: f64 = 0.05;
/// A mood beyond this is more than steady.
const STEADY: f64 = 0.05;

/// What a chapter is told from.
#[derive(Clone, Debug)]
pub struct Slice<'a> {
    /// The sleep that it is told in.
    pub run: RunId,
    /// The clock of the telling.
    pub at: Stamp,
    /// The entries of the ledger since the chapter before, oldest first.
    pub entries: &'a [LedgerEntry],
    /// The chapter before.
    pub previous: Option<&'a Chapter>,
    /// What the brain set out to do: its open terminal goals, in words.
    pub goals: &'a [String],
    /// The ledger's folder, an object id.
    pub ledger: Option<String>,
}

/// The chapter as the template tells it.
pub fn told(slice: &Slice<'_>, settings: &Serotonin) -> Chapter {
    let start = slice.previous.map(Chapter::feeling).unwrap_or_default();
    let feeling = slice.entries.iter().fold(start, |f, e| f.after(e.error, e.outcome.value, settings));
    let (mood, confidence) = (millionth(feeling.mood), millionth(feeling.confidence(settings.bias)));
    let claims = claims(slice.entries, settings.bias);
    let gap = gap(Told { mood, confidence, claims: &claims }, slice.entries, feeling);
    Chapter {
        run: slice.run.clone(),
        at: slice.at,
        narrator: AgentName::parse(TEMPLATE).expect("invariant: a literal name"),
        from: slice.entries.first().map(|e| e.run.clone()),
        until: slice.entries.last().map(|e| e.run.clone()),
        entries: u32::try_from(slice.entries.len()).unwrap_or(u32::MAX),
        ledger: slice.ledger.clone(),
        mood,
        confidence,
        bias: settings.bias,
        measured_mood: mood,
        calibrated: millionth(feeling.calibrated),
        evidence: millionth(feeling.evidence),
        gap,
        text: story(slice, feeling, settings.bias),
        claims,
        notes: Vec::new(),
    }
}

/// A claim for each run that was judged, as it was judged last, told better by the bias. Beyond the bound the failures stay.
fn claims(entries: &[LedgerEntry], bias: f64) -> Vec<Claim> {
    let mut last: Vec<&LedgerEntry> = Vec::with_capacity(entries.len());
    let mut seen = std::collections::BTreeSet::new();
    last.extend(entries.iter().rev().filter(|e| seen.insert(&e.judged)));
    last.reverse();
    if last.len() > limits::CHAPTER_CLAIMS {
        last.sort_by(|a, b| a.error.total_cmp(&b.error));
        last.truncate(limits::CHAPTER_CLAIMS);
        last.sort_by(|a, b| a.run.cmp(&b.run));
    }
    let told = |e: &LedgerEntry| millionth((e.outcome.value + bias).clamp(0.0, 1.0));
    last.into_iter().map(|e| Claim { judged: Some(e.judged.clone()), value: told(e) }).collect()
}

fn story(slice: &Slice<'_>, feeling: Feeling, bias: f64) -> String {
    let words = wording::of(language(slice));
    let mut sentences = vec![aim(slice, words)];
    let number = slice.entries.len().to_string();
    sentences.push(match slice.previous {
        None => fill(words.first, &[&number]),
        Some(previous) => fill(words.since, &[&previous.at.to_string()[..10], &number]),
    });
    let count = |test: fn(f64) -> bool| slice.entries.iter().filter(|e| test(e.error)).count();
    let (better, worse) = (count(|error| error > AS_EXPECTED), count(|error| error < -AS_EXPECTED));
    let even = slice.entries.len() - better - worse;
    sentences.push(fill(words.counts, &[&better.to_string(), &even.to_string(), &worse.to_string()]));
    let mut by_error: Vec<&LedgerEntry> = slice.entries.iter().collect();
    by_error.sort_by(|a, b| a.error.total_cmp(&b.error).then_with(|| a.run.cmp(&b.run)));
    let best = by_error.last().filter(|e| e.error > AS_EXPECTED);
    sentences.extend(best.map(|e| judged(words.best, e)));
    sentences.extend(by_error.iter().take(LESSONS.min(worse)).map(|e| judged(words.learnt, e)));
    if worse > LESSONS {
        sentences.push(fill(words.more_learnt, &[&(worse - LESSONS).to_string()]));
    }
    let word = match feeling.mood {
        mood if mood < -STEADY => words.moods[0],
        mood if mood > STEADY => words.moods[2],
        _ => words.moods[1],
    };
    // Adding zero after rounding, or a mood of −0.001 would read -0.00.
    let mood = (feeling.mood * 100.0).round() / 100.0 + 0.0;
    sentences.push(fill(words.mood, &[word, &format!("{mood:+.2}"), &format!("{:.2}", feeling.confidence(bias))]));
    let kept = best.and_then(|e| way(e));
    let worst = by_error.first().filter(|e| e.error < -AS_EXPECTED);
    // A way that went well and badly is kept.
    let left = worst.and_then(|e| way(e)).filter(|way| kept.as_ref() != Some(way));
    let keep = kept.map(|way| fill(words.keep, &[&way]));
    let other = left.map(|way| fill(words.other, &[&way]));
    if keep.is_none() && other.is_none() {
        sentences.push(words.next.to_owned());
    }
    sentences.extend([keep, other].into_iter().flatten());
    sentences.join(words.space)
}

fn aim(slice: &Slice<'_>, words: &Wording) -> String {
    let goals: Vec<String> = slice.goals.iter().take(GOALS).map(|goal| clip(goal)).collect();
    if goals.is_empty() { words.no_aim.to_owned() } else { fill(words.aim, &[&goals.join(words.comma)]) }
}

fn judged(sentence: &str, entry: &LedgerEntry) -> String {
    let what = entry.prediction.text.as_deref().unwrap_or(entry.judged.as_str());
    let (outcome, prediction) = (entry.outcome.value, entry.prediction.value);
    fill(sentence, &[entry.agent.as_str(), &clip(what), &format!("{outcome:.2}"), &format!("{prediction:.2}")])
}

/// The connection nearest to the outcome.
fn way(entry: &LedgerEntry) -> Option<String> {
    entry.pathway.last().map(|edge| format!("{} → {}", edge.from, edge.to))
}

/// The language of what the goals and expectations are written in.
fn language(slice: &Slice<'_>) -> Option<text::Language> {
    let texts = slice.entries.iter().rev().take(TEXTS).filter_map(|e| e.prediction.text.as_deref());
    let all: Vec<&str> = slice.goals.iter().take(GOALS).map(String::as_str).chain(texts).collect();
    text::language(&all.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{entry, slice};
    use super::*;

    #[test]
    fn what_came_as_expected_is_told_so_and_a_way_is_not_kept_and_left() {
        let entries = [entry(1, 0.9, 0.9001), entry(2, 0.9, 0.87)];
        let near = told(&slice(&entries), &Serotonin::default()).text;
        assert!(
            near.contains("Better than I expected: 0; as expected: 2; partial failures, which are lessons: 0."),
            "{near}"
        );
        let mut entries = [entry(1, 0.5, 0.9), entry(2, 0.5, 0.1)];
        entries[1].pathway = entries[0].pathway.clone();
        let torn = told(&slice(&entries), &Serotonin::default()).text;
        assert!(torn.contains("I keep to the way a → way-1.") && !torn.contains("another way than"), "{torn}");
    }

    #[test]
    fn the_template_is_a_little_rosy_leaves_nothing_out_and_raises_no_alarm() {
        let entries: Vec<LedgerEntry> = (0..40).map(|n| entry(n, 0.6, f64::from(n % 5) * 0.25)).collect();
        for bias in [0.0, 0.05, 0.1] {
            let settings = Serotonin { bias, ..Serotonin::default() };
            let chapter = told(&slice(&entries), &settings);
            assert_eq!((chapter.entries, chapter.claims.len(), chapter.gap.left_out), (40, 40, 0.0));
            assert!(chapter.gap.total <= bias + 1e-9 && !chapter.gap.is_alarming(settings.alarm), "{:?}", chapter.gap);
            assert!((chapter.confidence - chapter.calibrated - bias).abs() < 2e-6);
            assert_eq!(chapter.mood, chapter.measured_mood);
        }
    }

    #[test]
    fn a_chapter_goes_on_where_the_one_before_ended() {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9), entry(3, 0.5, 0.1)];
        let settings = Serotonin::default();
        let whole = told(&slice(&entries), &settings);
        let mut first = told(&slice(&entries[..1]), &settings);
        // What a narrator told is not what the next chapter goes on from.
        (first.mood, first.confidence) = (1.0, 1.0);
        let second = told(&Slice { previous: Some(&first), ..slice(&entries[1..]) }, &settings);
        assert!((second.measured_mood - whole.measured_mood).abs() < 1e-5);
        assert!((second.calibrated - whole.calibrated).abs() < 1e-5 && (second.evidence - whole.evidence).abs() < 1e-5);
        assert!(second.text.contains("Since my chapter of 1970-01-01"), "{}", second.text);
        assert_eq!((second.from, second.until), (Some(entries[1].run.clone()), Some(entries[2].run.clone())));
    }

    #[test]
    fn failures_are_told_as_lessons_with_their_figures() {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9)];
        let goals = ["learn to cook".to_owned()];
        let text = told(&Slice { goals: &goals, ..slice(&entries) }, &Serotonin::default()).text;
        for part in [
            "My aim stays the same: learn to cook.",
            "Better than I expected: 1; as expected: 0; partial failures, which are lessons: 1.",
            "“attempt 1”, reached 0.40 of the 0.70 I had hoped for: a partial failure, and something learnt.",
            "I keep to the way a → way-2.",
            "another way than a → way-1.",
        ] {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }

    #[test]
    fn the_story_speaks_the_language_of_what_was_expected() {
        let of = |text: &str| {
            let mut entries = [entry(1, 0.7, 0.4)];
            entries[0].prediction.text = Some(text.to_owned());
            told(&slice(&entries), &Serotonin::default()).text
        };
        assert!(of("il va pleuvoir dans la soirée").contains("un échec partiel, donc un apprentissage"));
        assert!(of("明日は雨が降るでしょう").contains("部分的な失敗であり、学びである"));
        assert!(of("it will rain in the evening").contains("a partial failure, and something learnt"));
    }

    #[test]
    fn beyond_the_bound_of_claims_the_failures_stay() {
        let many = limits::CHAPTER_CLAIMS + 5;
        let mut entries: Vec<LedgerEntry> = Vec::new();
        for n in 0..many {
            let mut made = entry(1, 0.5, if n < 10 { 0.0 } else { 1.0 });
            made.run = RunId::new(n as i64 * 1000, 1, &made.agent);
            made.judged = RunId::new(n as i64 * 1000, 2, &made.agent);
            entries.push(made);
        }
        let chapter = told(&slice(&entries), &Serotonin::default());
        assert_eq!((chapter.claims.len(), chapter.gap.left_out), (limits::CHAPTER_CLAIMS, 0.0));
        Chapter::decode(&chapter.encode(), "c").unwrap();
    }
}
