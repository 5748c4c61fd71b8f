//! `recall` and `propagate`.

use super::args;
use super::output::{safe, safe_line};
use super::write::time;
use super::{Done, Session};

use crate::brain::{BrainError, Propagated, RecallAnswer, RecallRequest, Way};
use crate::model::NeuronId;

pub(super) fn recall(session: &Session, args: &args::Recall) -> Done {
    let request = RecallRequest {
        query: args.query.clone(),
        top: args.top,
        at: args.at.clone(),
        since: time("since", args.since.as_deref())?,
        until: time("until", args.until.as_deref())?,
        tokens: args.tokens,
        learn: args.learn,
        talk: args.talk,
        session: args.session.clone(),
    };
    let brain = session.brain()?;
    let bar = session.out.bar();
    let answer = brain.recall_showing(&request, &mut |done, of| bar.set("embedding", done as u64, of as u64))?;
    drop(bar);
    session.out.report(&answer, |answer| remembered(answer, args.explain));
    answer.notes.iter().chain(&brain.take_notes()).for_each(|note| session.out.say(&safe(note)));
    Ok(0)
}

fn remembered(answer: &RecallAnswer, explain: bool) -> String {
    if answer.results.is_empty() {
        return "nothing comes to mind\n".to_owned();
    }
    let mut text = String::new();
    for (rank, found) in answer.results.iter().enumerate() {
        let label: Vec<&str> =
            [found.session.as_deref(), found.source.as_deref(), found.talk].into_iter().flatten().collect();
        let label = if label.is_empty() { found.id.to_string() } else { label.join(" ") };
        text += &format!(
            "{:>2}. {:.3}  {}\n      {}\n",
            rank + 1,
            found.activation,
            safe_line(&label),
            safe(&found.text).replace('\n', "\n      ")
        );
        if explain {
            let step = |way: &Way| match way.via {
                "cue" => way.at.clone(),
                via => format!("{} ({via} × {:.3} = {:.3})", way.at, way.weight, way.activation),
            };
            let steps: Vec<String> = found.path.iter().map(step).collect();
            text += &format!("      by {}\n", safe_line(&steps.join(" → ")));
            text += &format!(
                "      salience {}, context {:.3}, inhibition {:.3}\n",
                found.salience, found.context, found.inhibition
            );
        }
    }
    if let Some(run) = &answer.learnt {
        text += &format!("learnt in {run}\n");
    }
    text
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
