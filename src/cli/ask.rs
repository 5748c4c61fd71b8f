//! `recall`, `find` and `propagate`.

use super::args;
use super::output::safe;
use super::{Done, Session, hits};

use crate::brain::{BrainError, DayEdge, Propagated, RecallRequest};
use crate::model::NeuronId;

pub(super) fn recall(session: &Session, args: &args::Recall) -> Done {
    let brain = session.brain()?;
    let moment = |flag, text: Option<&String>, edge| text.map(|text| brain.moment(flag, text, edge)).transpose();
    let request = RecallRequest {
        own: None,
        query: args.query.join(" "),
        top: args.top,
        at: args.at.clone(),
        since: moment("since", args.since.as_ref(), DayEdge::Start)?,
        until: moment("until", args.until.as_ref(), DayEdge::End)?,
        tokens: args.tokens,
        learn: args.learn,
        close: None,
        explain: args.explain,
        talk: args.talk,
        session: args.session.clone(),
        // Beyond a terminal stands a program, and may be a model that runs commands.
        sealed: args.sealed || session.out.is_terminal(),
    };
    let bar = session.out.bar();
    let answer = brain.recall_showing(&request, &mut |done, of| bar.set("embedding", done as u64, of as u64))?;
    drop(bar);
    let columns = session.out.width();
    session.out.report(&answer, |answer| match (answer.results.is_empty(), args.full) {
        (true, _) if args.tokens.is_some() && !answer.notes.is_empty() => String::new(),
        (true, _) => "nothing comes to mind\n".to_owned(),
        (false, true) => hits::nothing_close(answer) + &hits::full(answer, &request.query, columns),
        (false, false) => hits::nothing_close(answer) + &hits::lines(answer, &request.query, columns),
    });
    answer.notes.iter().chain(&brain.take_notes()).for_each(|note| session.out.say(&safe(note)));
    Ok(0)
}

pub(super) fn find(session: &Session, args: &args::Find) -> Done {
    let brain = session.brain()?;
    let words = args.words.join(" ");
    let answer = brain.find(&words, args.top, args.at.as_deref())?;
    let columns = session.out.width();
    session.out.report(&answer, |answer| hits::concepts(answer, &words, columns));
    brain.take_notes().iter().for_each(|note| session.out.say(&safe(note)));
    Ok(0)
}

pub(super) fn propagate(session: &Session, args: &args::Propagate) -> Done {
    let mut from = Vec::new();
    for text in &args.from {
        let (id, strength) = text.split_once('=').unwrap_or((text, "1"));
        let id = NeuronId::parse(id).map_err(|e| BrainError::usage(format!("--from: {e}")))?;
        let strength = strength.parse::<f64>().ok().filter(|s| (0.0..=1.0).contains(s));
        let Some(strength) = strength else {
            return Err(BrainError::usage(format!("--from {text}: the strength is not between 0 and 1")));
        };
        from.push((id, strength));
    }
    let brain = session.brain()?;
    let found = brain.propagate(&from, args.at.as_deref())?;
    session.out.report(&found, spread);
    brain.take_notes().iter().for_each(|note| session.out.say(&safe(note)));
    Ok(0)
}

fn spread(found: &Propagated) -> String {
    let mut rows: Vec<(&String, &f64)> = found.activation.iter().collect();
    rows.sort_by(|a, b| b.1.total_cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let mut text: String = rows.iter().map(|(id, x)| format!("{x:<22} {id}\n")).collect();
    if found.cut > 0 {
        text += &format!("{} cut by the beam or the number of passes\n", found.cut);
    }
    text
}
