//! Stamps: whatever is read later to say when something was, or which run is newer, is not ahead of the clock here.
//!
//! One date years ahead would freeze all fading; one run id years ahead would push the id of every later run behind it.

use serde_json::Value;

use super::{Judge, Kind};
use crate::cycle::file::Content;
use crate::model::ids::RunId;
use crate::model::layout::Place;
use crate::model::{Stamp, json};
use crate::store::Commit;

/// The trailers that name runs.
const RUNS: [&str; 6] = ["Run", "Newest-Run", "Sleep", "Undoes", "Reverts", "Approves"];

/// What a document of ours has at its top under the names by which all of them say dates and runs. Their kinds are others' business.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Dated {
    at: Value,
    created_at: Value,
    seed_timestamp: Value,
    run: Value,
    judged: Value,
    answers: Value,
    reverts: Value,
    approves: Value,
}

/// Whether a commit says that it was made later than that second. Plain git knows no fixed clock.
pub fn is_dated_ahead(commit: &Commit, latest: i64) -> bool {
    commit.at > latest || commit.committed > latest
}

/// Whether a run says that it started later than that second.
fn is_ahead(run: &RunId, latest: i64) -> bool {
    run.unix_ms().div_euclid(1000) > latest
}

/// The run that a commit names and that started later than that second, with its trailer.
pub fn late_run(commit: &Commit, latest: i64) -> Option<(&'static str, RunId)> {
    RUNS.into_iter().find_map(|key| {
        let runs = commit.trailer_values(key).filter_map(|text| RunId::parse(text).ok());
        Some((key, runs.into_iter().find(|run| is_ahead(run, latest))?))
    })
}

/// The fields of a file that say a later second, each with its line.
pub(crate) fn late_fields(path: &str, bytes: &[u8], content: &Content, latest: i64) -> Vec<(usize, &'static str)> {
    let late = match content {
        Content::Neuron(neuron) => late_of(
            [
                ("created_at", Some(neuron.created_at)),
                ("last_salience_update", Some(neuron.last_salience_update)),
                ("last_activated", neuron.last_activated),
            ],
            [("run", neuron.run.as_ref()), ("archived", neuron.archived.as_ref())],
            latest,
        ),
        _ => match Place::of(path) {
            Place::Agent(_) | Place::Prompt(_) | Place::Settings | Place::Other | Place::Queue(_) => Vec::new(),
            // What does not parse was told already.
            _ => serde_json::from_slice::<Dated>(bytes).map(|dated| dated.late(latest)).unwrap_or_default(),
        },
    };
    late.into_iter().map(|what| (json::line_of_key(bytes, what).max(1), what)).collect()
}

impl Dated {
    fn late(&self, latest: i64) -> Vec<&'static str> {
        let Dated { at, created_at, seed_timestamp, run, judged, answers, reverts, approves } = self;
        let stamps = [("at", at), ("created_at", created_at), ("seed_timestamp", seed_timestamp)]
            .map(|(what, value)| (what, value.as_str().and_then(|text| text.parse().ok())));
        let mut runs: Vec<(&'static str, RunId)> = Vec::new();
        for (what, value) in
            [("run", run), ("judged", judged), ("answers", answers), ("reverts", reverts), ("approves", approves)]
        {
            let texts = std::iter::once(value).chain(value.as_array().into_iter().flatten()).filter_map(Value::as_str);
            runs.extend(texts.filter_map(|text| Some((what, RunId::parse(text).ok()?))));
        }
        late_of(stamps, runs.iter().map(|(what, run)| (*what, Some(run))), latest)
    }
}

fn late_of<'r>(
    stamps: impl IntoIterator<Item = (&'static str, Option<Stamp>)>,
    runs: impl IntoIterator<Item = (&'static str, Option<&'r RunId>)>,
    latest: i64,
) -> Vec<&'static str> {
    let stamps = stamps.into_iter().filter(|(_, at)| at.is_some_and(|at| at.unix() > latest));
    let runs = runs.into_iter().filter(|(_, run)| run.is_some_and(|run| is_ahead(run, latest)));
    stamps.map(|(what, _)| what).chain(runs.map(|(what, _)| what)).collect()
}

/// The other trailers by which this program goes.
const OTHERS: [&str; 10] =
    ["Agent", "Depth", "Stimulus", "Policy", "Snapshot", "Review", "Clock", "Trigger", "Format", "Brain"];

impl Judge<'_> {
    /// A message that git reads otherwise than this program: a person would be shown another run than the one that is judged.
    fn message(&mut self, commit: &Commit) {
        if let Some(why) = commit.read_otherwise(RUNS.into_iter().chain(OTHERS)) {
            self.fault(commit, "", 0, why);
        }
    }

    /// Dates, clocks and runs that a commit itself names, as far as git reads them as well.
    pub(super) fn clock(&mut self, commit: &Commit) {
        self.message(commit);
        if commit.trailer("Clock").is_some() && !self.fixed_clock {
            self.fault_of(
                Kind::FixedClock,
                commit,
                "",
                0,
                "was made under a fixed clock (BRAIN_NOW or BRAIN_SEED): its dates and ids are no true ones",
            );
        }
        if is_dated_ahead(commit, self.latest) && !(self.fixed_clock && self.cycle.shared.world.is_fixed()) {
            self.fault_of(Kind::Ahead, commit, "", 0, "is dated ahead of the clock here");
        }
        if let Some((key, run)) = late_run(commit, self.latest) {
            self.fault_of(
                Kind::Ahead,
                commit,
                "",
                0,
                format!("names {run} ({key}), which is dated ahead of the clock here"),
            );
        }
    }

    /// Stamps and runs of a file that are ahead of the clock.
    pub(super) fn dates(&mut self, commit: &Commit, path: &str, bytes: &[u8], content: &Content) {
        for (line, what) in late_fields(path, bytes, content, self.latest) {
            self.fault_of(Kind::Ahead, commit, path, line, format!("{what} is ahead of the clock here"));
        }
    }
}
