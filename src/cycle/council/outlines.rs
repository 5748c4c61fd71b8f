//! Councils in outline: a record never changes, so what was read of it once is kept, and its reasonings are not read again to be counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::council::ids::MemberId;
use crate::council::question::topic;
use crate::council::record::{COUNCILS, Council, CouncilRecord};
use crate::cycle::{Cycle, CycleError};
use crate::model::ids::RunId;

/// The document of the cache that outlines are kept in.
const KEPT: &str = "councils.json";

/// A council, by what never changes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CouncilOutline {
    /// The blob of its record.
    blob: String,
    /// Its thread.
    pub council: RunId,
    /// Its id.
    pub id: String,
    /// The run that it is about.
    pub run: Option<RunId>,
    /// The commit of that run.
    pub commit: Option<String>,
    /// Whether its votes are bound to that run, so that people decide on the run where it left the decision to them.
    pub is_bound: bool,
    /// Whether it left its decision to a person.
    pub escalates: bool,
    /// The topic of its question.
    pub topic: String,
    /// The document of members that was asked.
    pub document: String,
    /// Members whose votes were refused because their keys lie elsewhere.
    pub without_kept_key: Vec<MemberId>,
}

impl Cycle {
    /// The councils in outline, oldest first. Records that were read before are not read again; one that cannot be read is left out.
    pub fn council_outlines(&self) -> Result<Vec<CouncilOutline>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(Vec::new()) };
        if let Some((_, outlines)) = self.outlined.borrow().as_ref().filter(|(of, _)| *of == tip) {
            return Ok(outlines.clone());
        }
        let tree = self.store.tree_of(tip)?;
        let Some(folder) = self.store.folder(tree, COUNCILS.trim_end_matches('/'))? else { return Ok(Vec::new()) };
        let known: BTreeMap<String, CouncilOutline> = self.store.cached_document(KEPT).unwrap_or_default();
        let mut kept = BTreeMap::new();
        for (path, file) in self.store.files(folder, "")? {
            let path = format!("{COUNCILS}{path}");
            if !CouncilRecord::is_at(&path) {
                continue;
            }
            let blob = file.blob.to_string();
            let outline = match known.get(&path).filter(|outline| outline.blob == blob) {
                Some(outline) => outline.clone(),
                None => match CouncilRecord::decode(&self.store.read_file(file, &path)?, &path) {
                    Ok(record) => CouncilOutline {
                        blob,
                        is_bound: record.may_decide(),
                        without_kept_key: record.without_kept_key().cloned().collect(),
                        topic: if record.run.is_some() { String::new() } else { topic(&record.question) },
                        id: record.id,
                        run: record.run,
                        commit: record.commit,
                        document: record.document,
                        escalates: record.verdict.escalates(),
                        council: record.council,
                    },
                    Err(_) => continue,
                },
            };
            kept.insert(path, outline);
        }
        if kept != known {
            self.store.keep_document(KEPT, &kept);
        }
        let mut outlines: Vec<CouncilOutline> = kept.into_values().collect();
        outlines.sort_by(|a, b| a.council.cmp(&b.council));
        *self.outlined.borrow_mut() = Some((tip, outlines.clone()));
        Ok(outlines)
    }

    /// The councils of outlines, read whole with what people said of them.
    pub fn councils_of<'o>(
        &self,
        outlines: impl IntoIterator<Item = &'o CouncilOutline>,
    ) -> Result<Vec<Council>, CycleError> {
        let mut councils = Vec::new();
        for outline in outlines {
            councils.extend(self.councils_below(&CouncilRecord::folder(&outline.council))?);
        }
        Ok(councils)
    }

    /// Councils that wait for a person's word, oldest first: of a question that was asked again, the newest. What a council left open of a run is decided where runs are.
    pub fn pending_councils(&self) -> Result<Vec<Council>, CycleError> {
        let outlines = self.council_outlines()?;
        let mut pending = self.councils_of(outlines.iter().filter(|outline| outline.escalates && !outline.is_bound))?;
        pending.retain(|council| council.state() == "pending");
        let mut waiting = Vec::new();
        for council in pending {
            if self.waits_no_more(&council, &outlines)?.is_none() {
                waiting.push(council);
            }
        }
        Ok(waiting)
    }
}
