//! The decision about a run: one immutable file in the tree of `refs/brain/reviews`, `<yyyy>/<mm>/<dd>/<run>/<id>.json`.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::model::ids::{RunId, hash_fields};
use crate::model::json::{self, JsonError};
use crate::model::{Stamp, within};

/// What starts the trigger of a run that a reviewer made of another one, before that run's id.
pub const REASON: &str = "review of ";

/// The beginning of the reason of a rejection that was taken back.
pub const TAKEN_BACK: &str = "taken back by ";

/// What starts `via` of a decision of a council, before its id.
pub const COUNCIL_SAYS: &str = "council ";

/// The trigger of a run that learns from a review.
pub const LESSON: &str = "review";

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The run lands as it is.
    Approve,
    /// A part of it lands, or a changed form, as a run of the reviewer.
    Amend,
    /// It is thrown away.
    Reject,
}

impl Verdict {
    /// What a run is worth of which `kept` of `of` operations land, and `edited` others in another form: all, that share, those for a half
    /// each, nothing.
    pub fn value(self, kept: usize, edited: usize, of: usize) -> f64 {
        let kept = kept.min(of);
        match self {
            Self::Approve => 1.0,
            Self::Reject => 0.0,
            Self::Amend => (kept as f64 + edited.min(of - kept) as f64 / 2.0) / of.max(1) as f64,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Amend => "amend",
            Self::Reject => "reject",
        }
    }

    /// What was done, in a word.
    pub fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Amend => "amended",
            Self::Reject => "rejected",
        }
    }
}

/// The side whose value a reviewer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// Wake's value stays.
    Wake,
    /// The run's value comes.
    Run,
}

/// A conflict that a reviewer settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    /// The neuron's id, or the path of another file.
    pub neuron: String,
    /// The field.
    pub field: String,
    /// Whose value it gets.
    pub take: Take,
}

/// Statements in words; in JSON a text, several a list of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "Written", into = "Written")]
pub struct Said(pub Vec<String>);

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Written {
    One(String),
    Several(Vec<String>),
}

impl From<Written> for Said {
    fn from(written: Written) -> Self {
        match written {
            Written::One(text) if text.is_empty() => Self::default(),
            Written::One(text) => Self(vec![text]),
            Written::Several(texts) => Self(texts),
        }
    }
}

impl From<Said> for Written {
    fn from(said: Said) -> Self {
        match <[String; 1]>::try_from(said.0) {
            Ok([text]) => Self::One(text),
            Err(texts) if texts.is_empty() => Self::One(String::new()),
            Err(texts) => Self::Several(texts),
        }
    }
}

impl Said {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them in quotes.
    pub fn quoted(&self) -> String {
        self.0.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
    }
}

/// A decision about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRecord {
    /// The review: the file's name. Its agent is `human`.
    pub review: RunId,
    /// The run that is decided on.
    pub run: RunId,
    /// The run's commit that the reviewer saw.
    pub commit: String,
    /// What was decided.
    pub verdict: Verdict,
    /// Who decided, as the author of the commit that adds this file: `Name <address>`.
    pub reviewer: String,
    /// Where: `cli`, the address of a request on a forge, or `council ID` where a council decided.
    pub via: String,
    /// The council that decided; absent: the reviewer did. Then the reviewer is the person that asked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub council: Option<RunId>,
    /// When.
    pub at: Stamp,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Of an amendment, the numbers of the run's operations that land, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<usize>,
    /// Of an edited form, how many operations land beside those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edited: usize,
    /// Of an amendment, how many operations the run has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of: usize,
    /// Conflicts that it settles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Resolution>,
    /// Of an amendment, the run that lands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lands: Option<RunId>,
    /// Statements that it does not let in, as the run made them; none: it lets all in, or they come from strangers, whose words teach nobody.
    #[serde(default, skip_serializing_if = "Said::is_empty")]
    pub declined: Said,
    /// Digests of statements that it does not let in and whose words it does not keep, because they speak of a secret or the reviewer said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<String>,
    /// Of an acceptance of the audit, the ids of the findings that it settles. What is found later it does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<String>,
    /// Of a rejection that was taken back, the run that says the same: what was said of it later tells that, not this file.
    #[serde(skip)]
    #[schemars(skip)]
    pub again: Option<RunId>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Where a decision about a finding of the audit is made.
pub const OF_AUDIT: &str = "audit";

impl ReviewRecord {
    /// A decision of a person and no more than that.
    pub fn bare(review: RunId, (run, commit): (RunId, String), verdict: Verdict, reviewer: String, at: Stamp) -> Self {
        Self {
            review,
            run,
            commit,
            verdict,
            reviewer,
            via: String::new(),
            council: None,
            at,
            why: String::new(),
            kept: Vec::new(),
            edited: 0,
            of: 0,
            resolved: Vec::new(),
            lands: None,
            declined: Said::default(),
            forgotten: Vec::new(),
            accepts: Vec::new(),
            again: None,
        }
    }

    /// The path in the tree of the reviews.
    pub fn path(&self) -> String {
        Self::path_of(&self.run, &self.review)
    }

    /// Whether a person accepted a finding of the audit by it, which approves nothing.
    pub fn is_of_audit(&self) -> bool {
        self.via == OF_AUDIT
    }

    /// The path of a decision about a run.
    pub fn path_of(run: &RunId, review: &RunId) -> String {
        format!("{}/{review}.json", Self::folder_of(run))
    }

    /// The run that lands what a reviewer made of a run: its id follows from the decision, so that no record can name a run of somebody else.
    pub fn lands_of(review: &RunId, run: &RunId, reviewer: &str) -> RunId {
        let chance = hash_fields(&[review.as_str().as_bytes(), run.as_str().as_bytes(), reviewer.as_bytes()]);
        RunId::new(review.unix_ms(), chance, &review.agent())
    }

    /// The decision of a council on a commit of a run: its id follows from these, so that one council decides once, and a copy under another
    /// name is none.
    pub fn id_by_council(council: &RunId, run: &RunId, commit: &str) -> RunId {
        let chance = hash_fields(&[council.as_str().as_bytes(), run.as_str().as_bytes(), commit.as_bytes()]);
        RunId::new(council.unix_ms(), chance, &council.agent())
    }

    /// The folder of the reviews of a run.
    pub fn folder_of(run: &RunId) -> String {
        let id = run.as_str();
        format!("{}/{}/{}/{run}", &id[..4], &id[4..6], &id[6..8])
    }

    /// The run that a path in the tree of decisions is about, if it is that of a decision.
    pub fn run_in(path: &str) -> Option<RunId> {
        let parts: Vec<&str> = path.split('/').collect();
        let run = RunId::parse(parts.get(3).filter(|_| parts.len() == 5)?).ok()?;
        path.starts_with(&Self::folder_of(&run)).then_some(run)
    }

    /// The run by which what it let in lands: of a rejection that was taken back, the one that says the same. `None`: it lets nothing in.
    pub fn landed(&self) -> Option<&RunId> {
        match (&self.again, self.verdict) {
            (Some(again), _) => Some(again),
            (None, Verdict::Reject) => None,
            (None, _) => Some(self.lands.as_ref().unwrap_or(&self.run)),
        }
    }

    /// The command that undoes the decision, once it was carried out.
    pub fn way_back(&self) -> String {
        match (&self.again, &self.lands) {
            (Some(again), _) => format!("`git brain revert {again}` takes back what says the same"),
            (None, _) if self.is_of_audit() => {
                "an acceptance stands, and what was accepted by mistake can be taken back itself".to_owned()
            }
            (None, Some(landed)) => format!("`git brain revert {landed}` takes back what landed in its place"),
            (None, None) if self.verdict == Verdict::Reject => {
                format!("`git brain review {} --again` lets it in after all", self.run)
            }
            (None, None) => format!("`git brain revert {}` takes it back", self.run),
        }
    }

    /// The decision and its reason as an outcome is told in words: `rejected by Anna: a rumour`.
    pub fn words(&self) -> String {
        let name = match self.via.as_str() {
            "cli" | "page" => self.reviewer.split(" <").next().unwrap_or_default(),
            // The address of a request, and who decided there.
            via => via.split(" by ").nth(1).unwrap_or(via),
        };
        let mut text = format!("{} by {name}", self.verdict.done());
        if !self.why.is_empty() {
            text = format!("{text}: {}", self.why.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        within(&text, limits::CONCEPT_BYTES).to_owned()
    }

    /// Whether all that the run says lands, also if as a run of the reviewer: one that settles a conflict for the run.
    pub fn keeps_all(&self) -> bool {
        self.verdict == Verdict::Approve
            || self.verdict == Verdict::Amend && self.edited == 0 && self.kept.len() == self.of
    }

    /// The same with what it does not let in, as agents are told of it: `rejected by Anna: a rumour ("Tea is poison.")`.
    pub fn lesson(&self) -> String {
        let words = self.words();
        if self.declined.is_empty() {
            words
        } else {
            within(&format!("{words} ({})", self.declined.quoted()), limits::CONCEPT_BYTES).to_owned()
        }
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads a review that lies at a path.
    ///
    /// # Errors
    /// It is no review, is not canonical, or lies where another belongs.
    pub fn decode(bytes: &[u8], path: &str) -> Result<Self, JsonError> {
        let review: Self = json::strict(bytes, path, limits::REVIEW_BYTES)?;
        let wrong = |field: &str, why: String| Err(JsonError::at(path, 1, field, why));
        if review.path() != path {
            return wrong("review", format!("belongs at {}", review.path()));
        }
        if !review.review.is_a_persons() {
            return wrong("review", "is no run of a person".to_owned());
        }
        if !Self::is_named(&review.reviewer) {
            return wrong("reviewer", "is no name and address".to_owned());
        }
        if review
            .lands
            .as_ref()
            .is_some_and(|run| *run != Self::lands_of(&review.review, &review.run, &review.reviewer))
        {
            return wrong("lands", "is not the run of this decision".to_owned());
        }
        if let Some(council) = &review.council {
            let is_its = review.review == Self::id_by_council(council, &review.run, &review.commit);
            let is_whole = review.verdict != Verdict::Amend
                && review.lands.is_none()
                && review.resolved.is_empty()
                && review.kept.is_empty();
            if !is_its || !is_whole || !review.via.starts_with(COUNCIL_SAYS) {
                return wrong("council", "is not the decision of this council".to_owned());
            }
        }
        if review.declined.0.len() + review.forgotten.len() > limits::REVIEW_DECLINED {
            return wrong("declined", format!("has more than {} statements", limits::REVIEW_DECLINED));
        }
        if !review.forgotten.iter().all(|one| is_digest(one)) {
            return wrong("forgotten", "is no list of digests".to_owned());
        }
        let is_finding = |id: &String| id.len() == 12 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if review.accepts.len() > limits::AUDIT_ACCEPTS || !review.accepts.iter().all(is_finding) {
            return wrong("accepts", format!("is no list of at most {} ids of findings", limits::AUDIT_ACCEPTS));
        }
        if !review.accepts.is_empty() && !review.is_of_audit() {
            return wrong("accepts", "is of acceptances of the audit alone".to_owned());
        }
        if review.encode() != bytes {
            return wrong("", "is not canonical".to_owned());
        }
        Ok(review)
    }

    /// Who decided, as the trailer `Reviewed-by:` says it: a council, somebody elsewhere, by the word of a bot, or the reviewer.
    pub fn named(&self) -> String {
        if self.council.is_some() {
            return format!("{}, asked by {}", self.via, self.reviewer);
        }
        match self.via.rsplit_once(" by ") {
            Some((_, name)) => format!("{name}, by {}", self.reviewer),
            None => self.reviewer.clone(),
        }
    }

    /// The reviewer's address.
    pub fn address(&self) -> &str {
        Self::address_in(&self.reviewer)
    }

    /// The address in `Name <address>`.
    pub fn address_in(name: &str) -> &str {
        name.rsplit_once('<').map_or(name, |(_, rest)| rest).trim_end_matches('>')
    }

    /// Whether a text is a name and one address, at the end: a name that looks like another address is none.
    pub fn is_named(text: &str) -> bool {
        let has_one = text.ends_with('>') && text.matches(['<', '>']).count() == 2;
        has_one && text.len() <= limits::REVIEWER_BYTES && !text.chars().any(char::is_control)
    }
}

/// Whether a text has the form of a digest of words.
pub fn is_digest(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ReviewRecord {
        let run = |text: &str| RunId::parse(text).unwrap();
        ReviewRecord {
            review: run("20260126t150000000z-abcd2345-human"),
            run: run("20260126t143200123z-abcd2345-memory"),
            commit: "0123456789012345678901234567890123456789".to_owned(),
            verdict: Verdict::Amend,
            reviewer: "Anna <anna@example.org>".to_owned(),
            via: "cli".to_owned(),
            council: None,
            at: Stamp::from_unix(1_769_438_000),
            why: "the second is a rumour".to_owned(),
            kept: vec![1],
            edited: 0,
            of: 2,
            resolved: Vec::new(),
            accepts: Vec::new(),
            lands: None,
            declined: Said::default(),
            forgotten: Vec::new(),
            again: None,
        }
    }

    #[test]
    fn a_review_is_read_as_it_was_written_and_nowhere_else() {
        let record = record();
        let path = "2026/01/26/20260126t143200123z-abcd2345-memory/20260126t150000000z-abcd2345-human.json";
        assert_eq!(record.path(), path);
        assert_eq!(ReviewRecord::decode(&record.encode(), path).unwrap(), record);
        assert_eq!(record.address(), "anna@example.org");
        assert!(ReviewRecord::decode(&record.encode(), &path.replace("/26/", "/27/")).is_err());
        let mut agents = record.clone();
        agents.review = RunId::parse("20260126t150000000z-abcd2345-memory").unwrap();
        assert!(ReviewRecord::decode(&agents.encode(), &agents.path()).is_err(), "an agent reviews nothing");
        let council = RunId::parse("20260126t145500000z-abcd2345-human").unwrap();
        let mut by_council = ReviewRecord {
            review: ReviewRecord::id_by_council(&council, &record.run, &record.commit),
            verdict: Verdict::Reject,
            via: "council 0123456789ab".to_owned(),
            council: Some(council),
            kept: Vec::new(),
            of: 0,
            ..record.clone()
        };
        assert!(ReviewRecord::decode(&by_council.encode(), &by_council.path()).is_ok());
        assert_eq!(by_council.named(), "council 0123456789ab, asked by Anna <anna@example.org>");
        by_council.review = RunId::parse("20260126t145500000z-bbcd2345-human").unwrap();
        assert!(ReviewRecord::decode(&by_council.encode(), &by_council.path()).is_err(), "a council decides once");
        for odd in ["a\nb <x>", "Anna <anna@example.org> <mallory@example.org>", "anna@example.org"] {
            let odd = ReviewRecord { reviewer: odd.to_owned(), ..record.clone() };
            assert!(ReviewRecord::decode(&odd.encode(), path).is_err());
        }
    }

    #[test]
    fn a_verdict_is_worth_what_lands() {
        assert_eq!(Verdict::Approve.value(0, 0, 0), 1.0);
        assert_eq!(Verdict::Reject.value(3, 0, 3), 0.0);
        assert_eq!(Verdict::Amend.value(1, 0, 4), 0.25);
        assert_eq!(Verdict::Amend.value(1, 2, 4), 0.5);
        assert_eq!(Verdict::Amend.value(4, 9, 4), 1.0);
    }
}
