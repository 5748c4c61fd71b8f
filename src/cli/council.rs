//! `council`.

use super::output::safe_line;
use super::{Done, Session, args};
use crate::brain::council::{Opinion, Tally, Verdict, count};
use crate::limits::DOCUMENT_BYTES;
use crate::model::json::inline;

/// The exit code of a question that a person must decide.
const ESCALATES: u8 = 1;

pub(super) fn council(session: &Session, args: &args::Council) -> Done {
    let verdict = count(&session.text_of(&args.file, DOCUMENT_BYTES)?)?;
    session.out.report(&verdict, told);
    Ok(if verdict.escalates() { ESCALATES } else { 0 })
}

fn told(verdict: &Verdict) -> String {
    let word = |decision: &_| inline(decision).trim_matches('"').to_owned();
    let mut text = format!(
        "{}, confidence {:.2}: {}\n",
        word(&verdict.decision),
        verdict.confidence,
        safe_line(&verdict.question)
    );
    for Tally { decision, members_for, members, families_for, families, minds } in
        [&verdict.quorum.approve, &verdict.quorum.reject]
    {
        text += &format!(
            "  {:<8} {members_for} of {members} members, {families_for} of {families} families, {minds:.2} minds\n",
            word(decision)
        );
    }
    text += &format!("  {} faulty members are tolerated\n", verdict.quorum.tolerated_faults);
    let opinions = |heading: &str, all: &[Opinion]| -> String {
        let line = |one: &Opinion| {
            format!(
                "  {heading:<8} {} ({}, {:.2}): {}\n",
                one.member,
                one.family,
                one.confidence,
                safe_line(&one.reasoning)
            )
        };
        all.iter().map(line).collect()
    };
    text += &opinions("for", &verdict.support);
    text += &opinions("against", &verdict.dissent);
    text += &opinions("abstains", &verdict.abstentions);
    text.extend(verdict.absent.iter().map(|member| format!("  absent   {member}\n")));
    text.extend(
        verdict.refused.iter().map(|vote| format!("  refused  {}: {}\n", vote.member, safe_line(&vote.reason))),
    );
    text.extend(verdict.concerns.iter().map(|concern| format!("a person decides: {}\n", safe_line(&concern.sentence))));
    text
}
