//! One member, asked: a rule, a model of the settings, or a program.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Deserializer, Value, json};

use super::Material;
use crate::cognition::exchange::{Form, Message, Reply as ModelReply, Usage, Voice};
use crate::council::document::{Mind, Seated};
use crate::council::ids::{MemberId, ThreadId};
use crate::council::message::{AgentMessage, CHAIR};
use crate::council::record::key_elsewhere;
use crate::council::reflex;
use crate::council::roles::prompt;
use crate::council::vote::{Members, Reply};
use crate::cycle::models::Models;
use crate::cycle::one_answer::{Wanted, answer_of};
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::document::Cognition;
use crate::model::ids::{AgentName, RunId};

/// The name under which models and programs of a council are paid for.
const PAYER: &str = "council";
/// Further answers that a model may give after one that is no vote.
const REPAIRS: u32 = 1;
/// The longest reasoning that a model is asked for, characters.
const REASONING: usize = 1000;
/// The longest item of evidence that a model is asked for, characters.
const CITATION: usize = 40;

/// Characters that are kept of an answer that is no vote.
const SAID: usize = 160;

/// What a member said.
pub(super) enum Said {
    /// A vote, from a mind that this program asked.
    Plain(Reply),
    /// A message that a program signed itself.
    Signed(AgentMessage),
}

/// The exchanges of one member that is a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Calls.
    pub turns: u32,
    /// Tokens.
    pub usage: Usage,
    /// From the question to the vote, milliseconds.
    pub duration_ms: u64,
}

/// What all members are asked.
pub(super) struct Wants<'a> {
    pub thread: &'a ThreadId,
    pub members: &'a Members,
    pub material: &'a Material,
    pub timeout_ms: u64,
    /// The run that the votes decide on, and its commit.
    pub run: Option<(&'a RunId, String)>,
    /// The document of members and its blob.
    pub document: &'a str,
    /// Members whose key is kept here.
    pub kept: BTreeSet<MemberId>,
    /// The exchanges of models so far.
    pub spent: &'a RefCell<BTreeMap<MemberId, Spent>>,
}

impl Cycle {
    /// Asks a member. A failure is a reason; a program may say several things, of which the first vote counts.
    pub(super) async fn ask_member(
        &self,
        models: &Models,
        wants: &Wants<'_>,
        place: usize,
        seat: &Seated,
    ) -> Vec<Result<Said, String>> {
        let slice = wants.material.slices.get(place).map_or(&[][..], Vec::as_slice);
        match &seat.mind {
            Mind::Reflex { rule } => {
                let Material { cue, shown, outcomes, .. } = wants.material;
                let shown: Vec<_> = slice.iter().filter_map(|number| shown.get(*number).cloned()).collect();
                vec![Ok(Said::Plain(reflex::reply(*rule, cue, &shown, outcomes)))]
            }
            Mind::Model { model } => vec![self.ask_model_member(models, wants, (model, slice), seat).await],
            Mind::Command { argv, reads } => self.ask_program_member(wants, (argv, reads), slice, seat).await,
        }
    }

    async fn ask_model_member(
        &self,
        models: &Models,
        wants: &Wants<'_>,
        (model, slice): (&str, &[usize]),
        seat: &Seated,
    ) -> Result<Said, String> {
        let Material { question, evidence, .. } = wants.material;
        let room = self.room_for(model).map_err(|error| error.to_string())? as usize;
        let text = |shown: usize| prompt(&seat.role, question, evidence, &slice[..shown]);
        let fits = |shown: &usize| crate::text::tokens(&text(*shown)) <= room;
        let shown = (0..=slice.len()).rev().find(fits).unwrap_or(0);
        let agent = AgentName::parse(PAYER).map_err(|error| error.to_string())?;
        let wanted = Wanted {
            agent: &agent,
            model,
            repairs: REPAIRS,
            roots: &[],
            messages: vec![Message::new(Voice::User, text(shown))],
            form: Form { name: "vote".to_owned(), schema: schema() },
            temperature: Some(seat.role.temperature),
            top_p: Some(seat.role.top_p),
        };
        let mut read = |text: &str| {
            let no_vote = |why: String| CycleError::refused(format!("{why}; {}", beginning(text)));
            let value =
                serde_json::from_str(text).map_err(|error| no_vote(format!("the answer is no vote: {error}")))?;
            let reply = reply_of(value, seat, "the answer is no vote").map_err(no_vote)?;
            let checked = reply.clone().into_vote(&seat.member).check(wants.members);
            checked.map_err(|fault| CycleError::refused(fault.to_string()))?;
            Ok(reply)
        };
        let mut paid = |reply: &ModelReply| {
            let mut spent = wants.spent.borrow_mut();
            let of = spent.entry(seat.member.id.clone()).or_default();
            of.turns += 1;
            of.usage.input = of.usage.input.saturating_add(reply.usage.input);
            of.usage.output = of.usage.output.saturating_add(reply.usage.output);
        };
        let asked = answer_of(models, wanted, &mut read, &mut paid);
        match tokio::time::timeout(Duration::from_millis(wants.timeout_ms), asked).await {
            Err(_) => Err(format!("it did not answer within {} ms", wants.timeout_ms)),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(reply)) => Ok(Said::Plain(self.clean_reply(reply))),
        }
    }

    async fn ask_program_member(
        &self,
        wants: &Wants<'_>,
        (argv, reads): (&[String], &[String]),
        slice: &[usize],
        seat: &Seated,
    ) -> Vec<Result<Said, String>> {
        let program = Cognition::Command {
            argv: argv.to_vec(),
            timeout_ms: wants.timeout_ms,
            environment: Vec::new(),
            reads: reads.to_vec(),
            writes: Vec::new(),
            network: false,
            cpu_seconds: 0,
            memory_mb: limits::CHILD_MEMORY_MB,
        };
        let input = question_of(wants, slice, seat).to_string().into_bytes();
        let Ok(agent) = AgentName::parse(PAYER) else { return Vec::new() };
        let output = match self.shared.ask(&agent, &[], &program, input).await {
            Ok(Ok(output)) => output,
            Ok(Err(exhausted)) => return vec![Err(exhausted.to_string())],
            Err(error) => {
                let said = error.to_string();
                let said = said.strip_prefix(&format!("{agent}: ")).unwrap_or(&said);
                return vec![Err(said.replace("in its definition", "(its `reads` in the document of members)"))];
            }
        };
        self.votes_in(&output, seat, wants.kept.contains(&seat.member.id))
    }

    /// The votes and messages that a program printed.
    fn votes_in(&self, output: &[u8], seat: &Seated, is_kept: bool) -> Vec<Result<Said, String>> {
        let mut said = Vec::new();
        for value in Deserializer::from_slice(output).into_iter::<Value>().take(limits::COUNCIL_REPLIES) {
            match value {
                Ok(value) => said.push(self.vote_in(value, seat, is_kept)),
                Err(error) => {
                    let text = String::from_utf8_lossy(output);
                    said.push(Err(format!("its output is no JSON: {error}; {}", beginning(&text))));
                    break;
                }
            }
        }
        if said.is_empty() {
            said.push(Err("it printed nothing".to_owned()));
        }
        said
    }

    fn vote_in(&self, value: Value, seat: &Seated, is_kept: bool) -> Result<Said, String> {
        if value.get("sender_id").is_some() {
            let message = serde_json::from_value(value).map_err(|error| format!("its message has no form: {error}"));
            return Ok(Said::Signed(message?));
        }
        let said = value.to_string();
        let reply = reply_of(value, seat, "its output is no vote");
        if seat.key.is_some() && !is_kept {
            return Err(key_elsewhere(&seat.member.id));
        }
        let reply = reply.map_err(|why| format!("{why}; {}", beginning(&said)))?;
        Ok(Said::Plain(self.clean_reply(reply)))
    }

    /// A reply without secrets.
    fn clean_reply(&self, reply: Reply) -> Reply {
        let clean = |text: String| self.shared.secrets.redact(&text).into_owned();
        Reply { reasoning: clean(reply.reasoning), evidence: reply.evidence.into_iter().map(clean).collect(), ..reply }
    }
}

/// The vote in an answer of a member, whatever its mind: an object under no other name than the member's. Another answer is a reason, which begins with
/// `no_vote` where it has another form.
pub(super) fn reply_of(value: Value, seat: &Seated, no_vote: &str) -> Result<Reply, String> {
    if !value.is_object() {
        return Err(format!("{no_vote}: it is no object"));
    }
    for (field, own) in [("member", seat.member.id.as_str()), ("family", seat.member.family.as_str())] {
        match value.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::String(claimed)) if claimed.eq_ignore_ascii_case(own) => {}
            Some(claimed) => return Err(format!("its vote claims the {field} {claimed}, and it is {own:?}")),
        }
    }
    serde_json::from_value(value).map_err(|error| format!("{no_vote}: {error}"))
}

/// The beginning of an answer that is no vote, for the reason of its refusal.
fn beginning(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let begun: String = words.chars().take(SAID).collect();
    let more = if begun.len() < words.len() { "…" } else { "" };
    format!("it said: {begun}{more}")
}

/// The standard input of a program.
fn question_of(wants: &Wants<'_>, slice: &[usize], seat: &Seated) -> Value {
    let Material { question, evidence, shown, .. } = wants.material;
    let item = |number: &usize| {
        let memory = shown.get(*number)?;
        Some(json!({"item": number.to_string(), "text": memory.text, "trusted": memory.is_trusted}))
    };
    let mut input = json!({
        "council": wants.thread,
        "recipient": CHAIR,
        "member": seat.member.id,
        "family": seat.member.family,
        "role": seat.role,
        "question": question,
        "evidence": slice.iter().filter_map(item).collect::<Vec<_>>(),
        "prompt": prompt(&seat.role, question, evidence, slice),
        "timeout_ms": wants.timeout_ms,
        "schema": schema(),
    });
    if let Some((run, commit)) = &wants.run {
        input["decides_on"] = json!({"run": run, "commit": commit, "document": wants.document});
    }
    input
}

/// The form of a vote. Its bounds are for models that would ramble; a program may print as much as a vote takes.
fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["decision", "confidence", "reasoning", "evidence"],
        "properties": {
            "decision": {"enum": ["approve", "reject", "abstain"]},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "reasoning": {"type": "string", "minLength": 1, "maxLength": REASONING},
            "evidence": {"type": "array", "items": {"type": "string", "maxLength": CITATION}, "maxItems": limits::COUNCIL_MEMORIES},
        },
    })
}
