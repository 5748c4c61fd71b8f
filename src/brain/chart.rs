//! Charts: the ledger beside the story, and the days of a brain. All of it is read off a commit, so that the same commit has the same chart.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use super::{Brain, BrainError};
use crate::cycle::count;
use crate::cycle::ledger::newest;
use crate::cycle::trailers::SLEEP_TRAILER;
use crate::delta::LedgerEntry;
use crate::limits;
use crate::model::ids::AgentName;
use crate::model::{Stamp, layout, plural};
use crate::picture::chart::{Chart, Column, Line, Panel, svg};
use crate::store::{CommitId, TreeId};
use crate::world::write_settings;

const DAY_SECONDS: i64 = 86_400;

/// The figures of a day.
#[derive(Default)]
struct Day {
    runs: usize,
    /// Neurons at its end.
    neurons: Option<f64>,
    errors: Vec<f64>,
    /// Mood and confidence as they were told last.
    told: Option<(f64, f64)>,
}

/// Writes a chart to a file as SVG, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write_chart(file: &Path, chart: &Chart) -> Result<(), BrainError> {
    Ok(write_settings(file, &svg(chart))?)
}

impl Brain {
    /// Expectations beside outcomes, a panel for each agent or of one agent, and below them the story.
    ///
    /// # Errors
    /// An entry or a chapter that cannot be read (exit code 5), a revision that names no commit (2).
    pub fn ledger_chart(&self, agent: Option<&str>, at: Option<&str>) -> Result<Chart, BrainError> {
        let wanted = agent.map(AgentName::parse).transpose().map_err(|e| BrainError::usage(e.to_string()))?;
        let commit = self.at(at)?;
        let tree = self.cycle.store.tree_of(commit)?;
        let mut by_agent: BTreeMap<String, Vec<LedgerEntry>> = BTreeMap::new();
        for entry in newest(&self.cycle.store, tree, limits::CHARTED_ENTRIES)?.into_iter().rev() {
            if wanted.as_ref().is_none_or(|wanted| *wanted == entry.agent) {
                by_agent.entry(entry.agent.to_string()).or_default().push(entry);
            }
        }
        let count = by_agent.values().map(Vec::len).sum::<usize>();
        let mut agents: Vec<_> = by_agent.into_iter().collect();
        agents.sort_by_key(|(_, entries)| Reverse(entries.len()));
        let left = agents.len().saturating_sub(limits::CHARTED_AGENTS);
        agents.truncate(limits::CHARTED_AGENTS);
        let mut rows: Vec<Vec<Panel>> = agents.iter().map(|(name, entries)| vec![judged(name, entries)]).collect();
        rows.extend(self.story_panel(tree, limits::CHARTED_CHAPTERS)?.map(|panel| vec![panel]));
        let what = match (plural(count, "judgement", "judgements"), left) {
            _ if count == 0 => "nothing was judged yet".to_owned(),
            (what, 0) => what,
            (what, left) => format!("{what}, without those of {}", plural(left, "other agent", "other agents")),
        };
        Ok(Chart { title: "Ledger beside story".to_owned(), caption: self.of_commit(&what, commit)?, rows })
    }

    /// The days of the brain, as far as history has them: runs and neurons, errors of predictions, mood and confidence.
    ///
    /// # Errors
    /// A commit, an entry or a chapter that cannot be read (exit code 5).
    pub fn status_chart(&self) -> Result<Chart, BrainError> {
        let store = &self.cycle.store;
        let wake = self.at(None)?;
        let tree = store.tree_of(wake)?;
        let last = Stamp::from_unix(store.commit(wake)?.at).day();
        let mut first = last + 1 - limits::CHARTED_DAYS;
        let mut days: BTreeMap<i64, Day> = BTreeMap::new();
        let (mut ends, mut oldest): (Vec<(i64, TreeId)>, i64) = (Vec::new(), last);
        for commit in store.first_parents(wake, None).take(limits::CHARTED_COMMITS) {
            let commit = commit?;
            let day = Stamp::from_unix(commit.at).day();
            if day < first {
                break;
            }
            oldest = oldest.min(day);
            let known = days.entry(day).or_default();
            known.runs += usize::from(commit.parents.len() > 1 && commit.trailer(SLEEP_TRAILER).is_none());
            if ends.last().is_none_or(|(end, _)| day < *end) {
                ends.push((day, commit.tree));
            }
        }
        first = first.max(oldest);
        self.count_back(tree, &ends, &mut days)?;
        for entry in newest(store, tree, limits::LEDGER_ENTRIES)? {
            days.entry(entry.at.day()).or_default().errors.push(entry.error);
        }
        for (day, mood, confidence) in self.told_days(tree, limits::CHARTED_CHAPTERS)? {
            days.entry(day).or_default().told = Some((mood, confidence));
        }
        let what = plural((last - first + 1) as usize, "day", "days");
        let rows = rows(first, last, &days);
        Ok(Chart { title: "Days of the brain".to_owned(), caption: self.of_commit(&what, wake)?, rows })
    }

    /// Neurons at the end of each day, newest first: those of now, less what came since. Older days stay unknown where too much came.
    fn count_back(
        &self,
        tree: TreeId,
        ends: &[(i64, TreeId)],
        days: &mut BTreeMap<i64, Day>,
    ) -> Result<(), BrainError> {
        let store = &self.cycle.store;
        let mut neurons = count::counts(store, tree)?.get("neurons").copied().unwrap_or(0);
        let (mut after, mut room) = (tree, limits::CHARTED_CHANGES);
        for (day, end) in ends {
            let Some(changes) = store.diff_within(Some(*end), Some(after), layout::NEURONS, room)? else { break };
            room -= changes.len();
            let came = changes.iter().filter(|change| change.old.is_none()).count();
            let gone = changes.iter().filter(|change| change.new.is_none()).count();
            neurons = (neurons + gone).saturating_sub(came);
            days.entry(*day).or_default().neurons = Some(neurons as f64);
            after = *end;
        }
        Ok(())
    }

    fn of_commit(&self, what: &str, commit: CommitId) -> Result<String, BrainError> {
        let when = Stamp::from_unix(self.cycle.store.commit(commit)?.at).to_string();
        Ok(format!("{what}, commit {} of {}", &commit.to_string()[..10], &when[..10]))
    }
}

/// An agent's expectations beside outcomes, oldest first.
fn judged(name: &str, entries: &[LedgerEntry]) -> Panel {
    let column = |entry: &LedgerEntry| {
        let at = entry.at.to_string();
        Column { label: at[..10].to_owned(), about: format!("{at}, {}, error {:+.2}", entry.judged, entry.error + 0.0) }
    };
    let of = |figure: fn(&LedgerEntry) -> f64| entries.iter().map(|entry| Some(figure(entry))).collect();
    Panel {
        title: format!("{name}: {}", plural(entries.len(), "judgement", "judgements")),
        scale: (0.0, 1.0),
        columns: entries.iter().map(column).collect(),
        lines: vec![
            Line::new("expected", 0, of(|entry| entry.prediction.value)).dashed(),
            Line::new("came", 1, of(|entry| entry.outcome.value)),
        ],
    }
}

/// Every day between two, those without a commit included.
fn rows(first: i64, last: i64, days: &BTreeMap<i64, Day>) -> Vec<Vec<Panel>> {
    let range: Vec<i64> = (first..=last).collect();
    let name = |day: i64| Column::named(&Stamp::from_unix(day * DAY_SECONDS).to_string()[..10]);
    let of = |figure: &dyn Fn(&Day) -> Option<f64>| range.iter().map(|day| days.get(day).and_then(figure)).collect();
    let panel = |title: &str, lines: Vec<Line>| Panel {
        title: title.to_owned(),
        scale: (0.0, 1.0),
        columns: range.iter().map(|day| name(*day)).collect(),
        lines,
    };
    let runs = range.iter().map(|day| Some(days.get(day).map_or(0.0, |day| day.runs as f64))).collect();
    let signed = |panel: Panel| Panel { scale: (-1.0, 1.0), ..panel };
    let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let size = |day: &Day| mean(&day.errors.iter().map(|error| error.abs()).collect::<Vec<_>>());
    vec![
        vec![
            panel("runs a day", vec![Line::new("runs", 0, runs)]).reaching(1.0),
            panel("neurons", vec![Line::new("neurons", 2, of(&|day| day.neurons))]).reaching(1.0),
        ],
        vec![
            signed(panel(
                "errors of predictions",
                vec![
                    Line::new("mean error", 1, of(&|day| mean(&day.errors))),
                    Line::new("mean absolute error", 7, of(&size)).dashed(),
                ],
            )),
            signed(panel(
                "story",
                vec![
                    Line::new("mood", 3, of(&|day| day.told.map(|told| told.0))),
                    Line::new("confidence", 2, of(&|day| day.told.map(|told| told.1))).dashed(),
                ],
            )),
        ],
    ]
}
