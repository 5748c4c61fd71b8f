//! `status`, `log`, `show`, `diff`, `prime`, `why`, `blame`.

use super::args;
use super::output::short;
use super::output::{safe, safe_line};
use super::vitals;
use super::{Done, Session};
use crate::brain::{AgentLoop, BlameLine, History, PrimeRequest, Shown, Signs, Status, WhyEntry};
use crate::model::plural;

pub(super) fn status(session: &Session, args: &args::Status) -> Done {
    let signs = match (args.quick, args.vitals) {
        (true, _) => Signs::None,
        (_, true) => Signs::Now,
        _ => Signs::AtHand,
    };
    let (brain, fault) = session.look()?;
    let status = brain.status(signs)?;
    if let Some(file) = &args.svg {
        session.chart(file, &brain.status_chart()?)?;
    }
    let signs = vitals::Signs::of(session.out.is_unicode());
    session.out.report(&status, |status| {
        let none = status.vitals.is_none() && status.unread.is_empty() && !args.quick;
        let untaken = if none {
            "vital signs: none were taken yet; `git brain status --vitals` takes them, and so does each night\n"
        } else {
            ""
        };
        described(status, signs) + untaken
    });
    fault.map_or(Ok(0), Err)
}

fn described(s: &Status, signs: vitals::Signs) -> String {
    let mut lines = vec![
        format!("wake  {} {}   main  {} {}", s.wake.0, short(&s.wake.1), s.main.0, short(&s.main.1)),
        format!(
            "{}, {}, {} ({} waiting), {}, {} unanswered",
            plural(s.neurons, "neuron", "neurons"),
            plural(s.runs, "run", "runs"),
            plural(s.stimuli, "stimulus", "stimuli"),
            s.queue,
            plural(s.signals.0, "signal", "signals"),
            s.signals.1
        ),
    ];
    if !s.bootstrap_complete {
        lines.push("the bootstrap is not complete: `git brain run`".to_owned());
    }
    if !s.flags.is_empty() {
        lines.push(format!("flags: {}", s.flags.join(", ")));
    }
    match s.unseen {
        Some(0) => {}
        Some(n) => lines.push(format!(
            "agents have not looked at {} of wake yet; the next `feed` or `git brain run` lets them",
            plural(n, "new commit", "new commits")
        )),
        None => lines.push("triggers were never evaluated here: `git brain run`".to_owned()),
    }
    if s.inhibition.on {
        let held = plural(s.inhibition.held, "run is", "runs are");
        lines.push(format!("inhibition: the cycle is braked, {held} held back: `git brain run`"));
    }
    if s.inhibition.unpaid > 0 {
        let runs = plural(s.inhibition.unpaid, "run waits", "runs wait");
        lines.push(format!("{runs} for the budget, or for what failed on this machine: `git brain run` says which"));
    }
    for left in s.budget.iter().filter(|left| left.spent > 0) {
        lines.push(format!(
            "budget: {} of {} left today ({})",
            left.most.saturating_sub(left.spent),
            left.most,
            safe(&left.bound)
        ));
    }
    let merged = s.pending.iter().filter(|(_, held)| !held);
    lines.extend(merged.map(|(branch, _)| format!("{} waits to be merged", safe(branch))));
    lines.extend(s.held.iter().map(|held| safe_line(held)));
    lines.extend(s.unapproved.iter().take(super::review::ORIGINS).map(super::review::unapproved));
    for standoff in &s.standoffs {
        lines.push(safe_line(&standoff.line()));
        lines.extend(standoff.hint.iter().map(|hint| format!("  hint: {}", safe(hint))));
    }
    let signals = s.aside_signals.iter().map(|(id, reason)| (id.as_str(), reason));
    for (id, reason) in s.aside.iter().map(|(id, reason)| (id.as_str(), reason)).chain(signals) {
        let (why, agent) = (safe_line(&reason.why), &reason.agent);
        lines.push(format!("{id} is set aside: {why}; `git brain run --agent {agent}` tries it again"));
    }
    lines.extend(s.unread.iter().map(|unread| format!("cannot be read: {}", safe_line(unread))));
    lines.push("agents:".to_owned());
    for ((name, role, trusted), alive) in s.agents.iter().zip(&s.loops) {
        let inert = if *trusted { "" } else { "  [inert until `git brain trust`]" };
        lines.push(format!("  {name:<11} {}{inert}", safe_line(role)));
        lines.push(format!("  {:<11} {}", "", activity(alive)));
    }
    lines.extend(s.broken.iter().map(|b| format!("  broken: {}", safe(b))));
    lines.extend(s.vitals.iter().flat_map(|vitals| vitals::described(vitals, signs)));
    lines.join("\n") + "\n"
}

/// An agent's part in the loops, in a line.
fn activity(alive: &AgentLoop) -> String {
    let mut text = match &alive.last_run {
        Some(at) => format!("last ran {at}"),
        None => "has not run among the newest commits of wake".to_owned(),
    };
    match alive.unanswered {
        Some(0) => {}
        Some(n) => {
            text += &format!("; {} unanswered: `git brain signals --unanswered`", plural(n, "signal", "signals"))
        }
        None => text += "; `git brain signals --unanswered` lists signals without an answer",
    }
    if alive.quiet {
        text += &match alive.waits_for.is_empty() {
            true => {
                "; nothing triggers it: `git brain run --agent` and `git brain apply --agent` do its work".to_owned()
            }
            false => {
                let since = if alive.last_run.is_some() { "quiet since then, " } else { "" };
                format!("; {since}it waits for {}", safe_line(&alive.waits_for.join(" or ")))
            }
        };
    }
    for missing in &alive.missing {
        text += &format!("; waits for {missing}, which does not exist");
    }
    text
}

pub(super) fn log(session: &Session, args: &args::Log) -> Done {
    let (brain, fault) = session.look()?;
    let history = brain.log(args.number, args.agent.as_deref(), args.at.as_deref())?;
    if session.out.is_json() {
        session.out.document(&history);
    } else {
        session.out.paged(&told(&history));
    }
    fault.map_or(Ok(0), Err)
}

/// Fields that a merge settled which a person is shown at once.
const SETTLED: usize = 3;

fn told(history: &History) -> String {
    let mut text = String::new();
    for entry in &history.entries {
        text += &format!("{} {}  {}\n", short(&entry.commit), entry.at, safe(&entry.subject));
        if let Some(run) = &entry.run {
            let trigger = entry.trigger.as_deref().map(|t| format!("  ({})", safe_line(t))).unwrap_or_default();
            text += &format!("           {}{trigger}\n", safe_line(run));
        }
        let who = entry.author.iter().map(|name| format!("by {}", safe_line(name)));
        let who = who.chain(entry.reviewers.iter().map(|name| format!("reviewed by {}", safe_line(name))));
        let who = who.collect::<Vec<_>>().join(", ");
        if !who.is_empty() {
            text += &format!("           {who}\n");
        }
        text.extend(entry.decisions.iter().take(SETTLED).map(|d| format!("           merged {}\n", safe(d))));
        if entry.decisions.len() > SETTLED {
            let more = entry.decisions.len() - SETTLED;
            text += &format!("           … and {}; --json has all\n", plural(more, "field merged", "fields merged"));
        }
    }
    text
}

pub(super) fn show(session: &Session, args: &args::Show) -> Done {
    let shown = session.brain()?.show(&args.what, args.at.as_deref())?;
    if session.out.is_json() {
        session.out.document(&shown);
    } else {
        session.out.paged(&displayed(&shown));
    }
    Ok(0)
}

fn displayed(shown: &Shown) -> String {
    let document = serde_json::to_string_pretty(&shown.document).unwrap_or_default();
    let facts: String = shown.facts.iter().map(|fact| format!("{}\n", safe(fact))).collect();
    match shown.kind {
        "run" | "commit" | "sleep" => format!("{}\n{facts}", safe(&head(&shown.document))),
        _ => format!("{}\n{facts}", safe(&document)),
    }
}

/// The short fields of a document, without its lists.
fn head(document: &serde_json::Value) -> String {
    let Some(fields) = document.as_object() else { return document.to_string() };
    let line = |(key, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Null | serde_json::Value::Array(_) => None,
        serde_json::Value::String(text) => Some(format!("{key:<10} {text}")),
        other => Some(format!("{key:<10} {other}")),
    };
    fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn diff(session: &Session, args: &args::Diff) -> Done {
    let found = session.brain()?.diff(args.a.as_deref(), args.b.as_deref())?;
    if session.out.is_json() {
        session.out.document(&found);
    } else {
        let text: String = found.lines.iter().map(|line| format!("{}\n", safe_line(line))).collect();
        session.out.paged(&text);
    }
    Ok(u8::from(!found.lines.is_empty()))
}

pub(super) fn prime(session: &Session, args: &args::Prime) -> Done {
    let request = PrimeRequest {
        tokens: args.tokens,
        agent: args.agent.clone(),
        about: args.about.clone(),
        since: args.since.clone(),
        client: args.client.clone(),
    };
    let prime = session.brain()?.prime(&request)?;
    session.out.report(&prime, |prime| safe(&prime.text));
    Ok(0)
}

pub(super) fn why(session: &Session, args: &args::Neuron) -> Done {
    let brain = session.brain()?;
    let neuron = brain.neuron_named(&args.neuron, args.at.as_deref())?;
    let entries = brain.why(&neuron, args.at.as_deref())?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({"neuron": neuron, "runs": entries}));
    } else {
        session.out.paged(&entries.iter().map(reason).collect::<String>());
    }
    Ok(0)
}

fn reason(entry: &WhyEntry) -> String {
    let who = entry.author.as_deref().or(entry.agent.as_deref()).map_or_else(|| "a person".to_owned(), safe_line);
    let trigger = entry.trigger.as_deref().map(|t| format!(", {}", safe_line(t))).unwrap_or_default();
    let mut text = format!("{} {}  {who}{trigger}\n", short(&entry.commit), entry.at);
    if let Some(run) = &entry.run {
        text += &format!("    run {}\n", safe_line(run));
    }
    if let Some(because) = &entry.because {
        let more = match entry.stimuli.len() {
            0 | 1 => String::new(),
            count => format!(", and {} more", plural(count - 1, "stimulus", "stimuli")),
        };
        text += &format!("    because of: {}{more}\n", safe_line(because));
    }
    if let Some(decision) = &entry.decision {
        text += &format!("    {}\n", safe_line(decision));
    }
    if let Some(reason) = &entry.reason {
        text += &format!("    archived: {}\n", safe_line(reason));
    }
    text.extend(
        entry.replaces.iter().map(|old| format!("    replaces {}: {}\n", safe_line(&old.id), safe_line(&old.text))),
    );
    text.extend(entry.effects.iter().map(|line| format!("  {}\n", safe_line(line))));
    if let Some(says) = &entry.says {
        text += &format!("    says: {}\n", safe_line(says));
    }
    text
}

pub(super) fn blame(session: &Session, args: &args::Neuron) -> Done {
    let brain = session.brain()?;
    let neuron = brain.neuron_named(&args.neuron, args.at.as_deref())?;
    let lines = brain.blame(&neuron, args.at.as_deref())?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({"neuron": neuron, "fields": lines}));
    } else {
        session.out.paged(&lines.iter().map(blamed).collect::<String>());
    }
    Ok(0)
}

fn blamed(line: &BlameLine) -> String {
    let run = line.run.as_deref().map_or_else(|| "(a person)".to_owned(), safe_line);
    let value: String = line.value.chars().take(48).collect();
    format!("{} {} {:<48} {} = {}\n", short(&line.commit), line.at, run, safe_line(&line.field), safe_line(&value))
}
