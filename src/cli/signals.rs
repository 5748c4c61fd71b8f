//! `signals`.

use super::args;
use super::output::safe_line;
use super::{Done, Session};
use crate::brain::{ReplayReport, SignalLine, SignalsReport, SignalsRequest};
use crate::model::plural;

/// Characters of a payload that a line shows.
const SHOWN: usize = 100;

pub(super) fn signals(session: &Session, args: &args::Signals) -> Done {
    if let Some(run) = &args.replay {
        let bar = session.out.bar();
        let mut total = 0;
        let report = session.brain()?.replay(run, &mut |progress| bar.show(&progress, &mut total))?;
        drop(bar);
        session.out.report(&report, replayed);
        return Ok(if report.ran.failures.is_empty() { 0 } else { 3 });
    }
    let request = SignalsRequest {
        number: args.number,
        agent: args.agent.clone(),
        unanswered: args.unanswered,
        at: args.at.clone(),
    };
    let report = session.brain()?.signals(&request)?;
    session.out.report(&report, |report| listed(report, args.unanswered));
    Ok(0)
}

fn replayed(report: &ReplayReport) -> String {
    let followed = plural(report.ran.runs.len(), "run", "runs");
    let mut text = format!(
        "{} of {} sent again by {}; {followed} followed\n",
        plural(report.count, "signal", "signals"),
        report.replayed,
        report.run
    );
    text.extend(report.ran.failures.iter().map(|f| format!("  {} failed: {}\n", f.agent, safe_line(&f.error))));
    text
}

fn listed(report: &SignalsReport, is_of_unanswered: bool) -> String {
    let mut text: String = report.signals.iter().map(told).collect();
    text += &match report.unanswered {
        all if is_of_unanswered || all == report.total && all > 0 => {
            plural(all, "unanswered signal", "unanswered signals")
        }
        some => format!("{}, {some} unanswered", plural(report.total, "signal", "signals")),
    };
    if report.total > report.signals.len() {
        text += &format!("; the newest {} are shown, -n shows more", report.signals.len());
    }
    text + "\n"
}

fn told(line: &SignalLine) -> String {
    let payload = |value: &serde_json::Value| {
        let text = safe_line(&value.to_string());
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    };
    let mut text = format!("{}  {} → {}  {}\n", line.at, line.from, line.to, line.state);
    text += &format!("    asks    {}  by {}\n", payload(&line.payload), line.run);
    text.extend(line.why.iter().map(|why| format!("    why     {}\n", safe_line(why))));
    if let (Some(answer), Some(run)) = (&line.answer, &line.answered_by) {
        text += &format!("    answer  {}  by {run}\n", payload(answer));
    }
    text
}
