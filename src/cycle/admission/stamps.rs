//! Stamps: whatever is read later to say when something was, or which run is newer, is not ahead of the clock here.
//!
//! One date years ahead would freeze all fading; one run id years ahead would push the id of every later run behind it.

use serde_json::Value;

use super::Judge;
use super::file::Content;
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

impl Judge<'_> {
    /// Dates, clocks and runs that a commit itself names.
    pub(super) fn clock(&mut self, commit: &Commit) {
        if commit.trailer("Clock").is_some() {
            self.fault(
                commit,
                "",
                0,
                "was made under a fixed clock (BRAIN_NOW or BRAIN_SEED): its dates and ids are no true ones",
            );
        }
        if commit.at > self.latest || commit.committed > self.latest {
            self.fault(commit, "", 0, "is dated ahead of the clock here");
        }
        for key in RUNS {
            for run in commit.trailer_values(key).filter_map(|text| RunId::parse(text).ok()) {
                if self.is_ahead(&run) {
                    self.fault(commit, "", 0, format!("names {run} ({key}), which is dated ahead of the clock here"));
                }
            }
        }
    }

    /// Whether a run says that it started later than now.
    fn is_ahead(&self, run: &RunId) -> bool {
        run.unix_ms().div_euclid(1000) > self.latest
    }

    /// Stamps and runs of a file that are ahead of the clock.
    pub(super) fn dates(&mut self, commit: &Commit, path: &str, bytes: &[u8], content: &Content) {
        let late = match content {
            Content::Neuron(neuron) => self.late(
                [
                    ("created_at", Some(neuron.created_at)),
                    ("last_salience_update", Some(neuron.last_salience_update)),
                    ("last_activated", neuron.last_activated),
                ],
                [("run", neuron.run.as_ref()), ("archived", neuron.archived.as_ref())],
            ),
            _ => match Place::of(path) {
                Place::Agent(_) | Place::Prompt(_) | Place::Settings | Place::Other | Place::Queue(_) => Vec::new(),
                // What does not parse was told already.
                _ => serde_json::from_slice::<Dated>(bytes).map(|dated| self.late_document(&dated)).unwrap_or_default(),
            },
        };
        for what in late {
            self.fault(
                commit,
                path,
                json::line_of_key(bytes, what).max(1),
                format!("{what} is ahead of the clock here"),
            );
        }
    }

    fn late_document(&self, dated: &Dated) -> Vec<&'static str> {
        let Dated { at, created_at, seed_timestamp, run, judged, answers, reverts, approves } = dated;
        let stamps = [("at", at), ("created_at", created_at), ("seed_timestamp", seed_timestamp)]
            .map(|(what, value)| (what, value.as_str().and_then(|text| text.parse().ok())));
        let mut runs: Vec<(&'static str, RunId)> = Vec::new();
        for (what, value) in
            [("run", run), ("judged", judged), ("answers", answers), ("reverts", reverts), ("approves", approves)]
        {
            let texts = std::iter::once(value).chain(value.as_array().into_iter().flatten()).filter_map(Value::as_str);
            runs.extend(texts.filter_map(|text| Some((what, RunId::parse(text).ok()?))));
        }
        self.late(stamps, runs.iter().map(|(what, run)| (*what, Some(run))))
    }

    fn late<'r>(
        &self,
        stamps: impl IntoIterator<Item = (&'static str, Option<Stamp>)>,
        runs: impl IntoIterator<Item = (&'static str, Option<&'r RunId>)>,
    ) -> Vec<&'static str> {
        let stamps = stamps.into_iter().filter(|(_, at)| at.is_some_and(|at| at.unix() > self.latest));
        let runs = runs.into_iter().filter(|(_, run)| run.is_some_and(|run| self.is_ahead(run)));
        stamps.map(|(what, _)| what).chain(runs.map(|(what, _)| what)).collect()
    }
}
