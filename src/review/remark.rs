//! What a person says of a decision later: another reason, and words that nobody is to be told any more. Decisions are written once, so it is a file
//! beside them: `remarks/<yyyy>/<mm>/<dd>/<run>/<remark>.json` in the tree of `refs/brain/reviews`.

use serde::{Deserialize, Serialize};

use super::kept_out::digest;
use super::record::{ReviewRecord, Verdict, is_digest};
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::RunId;
use crate::model::json::{self, JsonError};

/// The folder of remarks in the tree of decisions.
pub const REMARKS: &str = "remarks/";

/// A remark on a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The remark: the file's name. Its agent is `human`.
    pub remark: RunId,
    /// The decision that it is about.
    pub review: RunId,
    /// The run that was decided on.
    pub run: RunId,
    /// Who says so, as the author of the commit that adds this file: `Name <address>`.
    pub by: String,
    /// When.
    pub at: Stamp,
    /// The reason from now on; absent: it stays as it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The run by which a rejection was taken back: it says what the rejected one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<RunId>,
    /// Digests of statements of the decision that are told nobody from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgets: Vec<String>,
}

impl Remark {
    /// The path in the tree of the decisions.
    pub fn path(&self) -> String {
        format!("{}/{}.json", Self::folder_of(&self.run), self.remark)
    }

    /// The folder of the remarks on decisions about a run.
    pub fn folder_of(run: &RunId) -> String {
        format!("{REMARKS}{}", ReviewRecord::folder_of(run))
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads a remark that lies at a path.
    ///
    /// # Errors
    /// It is no remark, is not canonical, or lies where another belongs.
    pub fn decode(bytes: &[u8], path: &str) -> Result<Self, JsonError> {
        let remark: Self = json::strict(bytes, path, limits::REVIEW_BYTES)?;
        let wrong = |field: &str, why: String| Err(JsonError::at(path, 1, field, why));
        if remark.path() != path {
            return wrong("remark", format!("belongs at {}", remark.path()));
        }
        if !remark.remark.is_a_persons() {
            return wrong("remark", "is no run of a person".to_owned());
        }
        if !ReviewRecord::is_named(&remark.by) {
            return wrong("by", "is no name and address".to_owned());
        }
        if remark.again.as_ref().is_some_and(|again| !again.is_a_persons()) {
            return wrong("again", "is no run of a person".to_owned());
        }
        if !remark.says_something() {
            return wrong("", "says nothing".to_owned());
        }
        if remark.forgets.len() > limits::REVIEW_DECLINED || !remark.forgets.iter().all(|one| is_digest(one)) {
            return wrong("forgets", format!("is no list of up to {} digests", limits::REVIEW_DECLINED));
        }
        if remark.encode() != bytes {
            return wrong("", "is not canonical".to_owned());
        }
        Ok(remark)
    }

    /// The same without a rejection that it takes back: the words that it forgets, and no other reason.
    #[must_use]
    pub fn without_again(self) -> Self {
        match self.again {
            Some(_) => Self { why: String::new(), again: None, ..self },
            None => self,
        }
    }

    /// Whether it takes back those words.
    pub fn forgets_words(&self, said: &str) -> bool {
        !self.forgets.is_empty() && self.forgets.contains(&digest(&self.review, said))
    }

    /// Whether it says anything.
    pub fn says_something(&self) -> bool {
        !self.why.is_empty() || !self.forgets.is_empty() || self.again.is_some()
    }

    /// The address of who says so.
    pub fn address(&self) -> &str {
        ReviewRecord::address_in(&self.by)
    }
}

impl ReviewRecord {
    /// The decision as people and agents are told of it: with what was said of it later, oldest first.
    #[must_use]
    pub fn with(mut self, remarks: &[Remark]) -> Self {
        for remark in remarks.iter().filter(|remark| remark.review == self.review) {
            if !remark.why.is_empty() {
                self.why.clone_from(&remark.why);
            }
            let is_taken_back = remark.again.is_some() && self.verdict == Verdict::Reject;
            if is_taken_back {
                self.again.clone_from(&remark.again);
            }
            let (review, forgotten) = (&self.review, &mut self.forgotten);
            self.declined.0.retain(|said| {
                let digest = digest(review, said);
                let stays = !is_taken_back && !remark.forgets_words(said);
                forgotten.extend((!stays && !forgotten.contains(&digest)).then_some(digest));
                stays
            });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_read_only_where_it_belongs_and_says_something() {
        let run = |text: &str| RunId::parse(text).unwrap();
        let remark = Remark {
            remark: run("20260127t150000000z-abcd2345-human"),
            review: run("20260126t150000000z-abcd2345-human"),
            run: run("20260126t143200123z-abcd2345-memory"),
            by: "Anna <anna@example.org>".to_owned(),
            at: Stamp::from_unix(1_769_526_000),
            why: String::new(),
            again: None,
            forgets: vec!["00ff".to_owned()],
        };
        let path = remark.path();
        assert_eq!(
            path,
            "remarks/2026/01/26/20260126t143200123z-abcd2345-memory/20260127t150000000z-abcd2345-human.json"
        );
        assert_eq!(Remark::decode(&remark.encode(), &path).unwrap(), remark);
        assert!(Remark::decode(&remark.encode(), &path.replace("/26/", "/27/")).is_err());
        for odd in [
            Remark { forgets: Vec::new(), ..remark.clone() },
            Remark { forgets: vec!["The words".to_owned()], ..remark.clone() },
            Remark { forgets: vec!["00ff".to_owned(); limits::REVIEW_DECLINED + 1], ..remark.clone() },
            Remark { by: "Anna".to_owned(), ..remark.clone() },
            Remark { remark: run("20260127t150000000z-abcd2345-memory"), ..remark.clone() },
        ] {
            assert!(Remark::decode(&odd.encode(), &odd.path()).is_err(), "{odd:?}");
        }
    }
}
