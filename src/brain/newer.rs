//! Newer memories that change what is shown: a hook puts text before an agent unasked, so what is out of date goes with what replaced it.

use super::{Brain, BrainError, RecallRequest};
use crate::activation::recall::{Answer, names_change};

/// Memories for which newer ones are looked for.
const OLDER: usize = 3;
/// Newer memories that are looked at.
const NEWER: usize = 12;
/// Bytes of each older text that newer ones are looked for by.
const ASKED: usize = 300;

impl Brain {
    /// Puts before each of the first memories what is newer and says that it changed. `may_show` says which memories may come in.
    pub(super) fn with_newer(
        &self,
        found: Vec<Answer>,
        may_show: impl Fn(&Answer) -> bool,
    ) -> Result<Vec<Answer>, BrainError> {
        let texts: Vec<&str> = found.iter().take(OLDER).map(|one| crate::model::within(&one.text, ASKED)).collect();
        if texts.is_empty() {
            return Ok(found);
        }
        let request = RecallRequest { query: texts.join(" "), top: Some(NEWER), ..RecallRequest::default() };
        let near = self.recall(&request)?.results;
        let snapshot = self.snapshot_of(self.at(None)?)?;
        let index = snapshot.index();
        let mut order = found;
        for newer in near.into_iter().filter(may_show) {
            let names = |older: &Answer| older.id != newer.id && names_change(&index, &older.id, &newer.id);
            let Some(at) = order.iter().take(OLDER * 2).position(names) else { continue };
            match order.iter().position(|one| one.id == newer.id) {
                Some(from) if from > at => order[at..=from].rotate_right(1),
                Some(_) => {}
                None => order.insert(at, newer),
            }
        }
        Ok(order)
    }
}
