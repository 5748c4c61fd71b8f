//! `deliberate`, `events`.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use super::args;
use super::output::{safe, safe_line, say};
use super::{Done, Session};
use crate::brain::{
    Brain, BrainError, CycleLine, DeliberateReport, DeliberateRequest, DeliberationAction, DeliberationEvent as Event,
    ExaminedReport, ForestReport, OUT_OF_SAMPLE, Standing,
};
use crate::limits::DELTA_BYTES;
use crate::model::json::inline;
use crate::model::plural;

/// How often new events are looked for.
const LOOK: Duration = Duration::from_millis(500);

pub(super) fn deliberate(session: &Session, args: &args::Deliberate) -> Done {
    let brain = session.brain()?;
    if args.handoffs {
        return handoffs(session, &brain);
    }
    if let [id, file] = args.answer.as_slice() {
        brain.answer_handoff(id, &session.text_of(Path::new(file), DELTA_BYTES)?, None)?;
        session.out.say(&format!("Answered {id}."));
        return Ok(0);
    }
    let goal = args.goal.clone().unwrap_or_default();
    if args.show {
        session.out.report(&brain.forest(&goal, None)?, shown);
        return Ok(0);
    }
    if let Some(file) = &args.examine {
        let delta = session.text_of(file, DELTA_BYTES)?;
        let [topic] = args.trees.as_slice() else {
            return Err(BrainError::usage("a delta is examined on one topic: --trees TOPIC"));
        };
        session.out.report(&brain.examine(&goal, topic.trim(), &delta)?, examined);
        return Ok(0);
    }
    let request = DeliberateRequest {
        goal,
        trees: args.trees.iter().map(|tree| tree.trim().to_owned()).filter(|tree| !tree.is_empty()).collect(),
        cycles: args.cycles,
        agent: args.agent.clone(),
        dry_run: args.writer.dry_run,
    };
    let mut print = |line: &CycleLine| {
        if !session.out.is_json() {
            session.out.text(&told(line));
        }
    };
    // A cycle takes a minute: whoever sits before it sees where it is.
    let is_watched = std::io::stderr().is_terminal() && !session.out.is_json();
    if let Some(waits) = brain.deliberation_under_way()? {
        say(&waits);
    }
    let watch = |event: &Event| {
        if event.action == DeliberationAction::HandoffRequest {
            let (to, minutes) = (&event.outputs["to"], &event.outputs["minutes"]);
            say(&format!(
                "  a question to the {} about {} waits for a person, at most {}: git brain deliberate --handoffs",
                to.as_str().unwrap_or_default(),
                safe_line(&event.target),
                plural(minutes.as_u64().unwrap_or_default() as usize, "minute", "minutes")
            ));
        } else if is_watched {
            let action = inline(&event.action);
            say(&format!("  {:<9} {}  {}", event.role.as_str(), action.trim_matches('"'), event.target));
        }
    };
    let report = brain.deliberate(&request, &mut print, &watch)?;
    if session.out.is_json() {
        session.out.document(&report);
    } else {
        session.out.text(&ended(&report));
    }
    Ok(0)
}

fn examined(report: &ExaminedReport) -> String {
    let (record, mut text) = (&report.record, String::new());
    for name in &record.asked {
        let Some(gate) = record.gates.iter().find(|gate| gate.name == *name) else {
            text += &format!("  {:<7} {}\n", "open", safe_line(name));
            continue;
        };
        let figure = gate.figure.map_or("not measured".to_owned(), |figure| figure.to_string());
        let note = if gate.note.is_empty() { String::new() } else { format!("  {}", safe_line(&gate.note)) };
        let state = if gate.passed { "passed" } else { "failed" };
        text += &format!("  {state:<7} {:<17} {figure} against {}{note}\n", safe_line(name), gate.threshold);
    }
    text.extend(report.notes.iter().map(|note| format!("note: {}\n", safe_line(note))));
    text
}

fn told(line: &CycleLine) -> String {
    let mut text = format!("cycle {}\n", line.cycle);
    for (tree, weather) in &line.weather {
        text += &format!("  {weather:<13} {}\n", safe_line(tree));
    }
    for result in &line.results {
        let class = match result.standing {
            Some(Standing::Ensemble) => "ensemble",
            _ => result.class.as_str(),
        };
        text += &format!("  {class:<13} {}  ({})\n", safe_line(&result.name), safe_line(&result.tree));
        let figures: Vec<String> =
            result.gates.iter().filter_map(|gate| Some(format!("{} {}", gate.name, gate.figure?))).collect();
        if result.standing.is_some() {
            text += &format!("                {}\n", safe_line(&figures.join(", ")));
        }
        if !result.failed.is_empty() {
            text += &format!("                failed {}\n", safe_line(&result.failed.join(", ")));
        }
        if !result.risks.is_empty() {
            text +=
                &format!("                the skeptic says, recorded only: {}\n", safe_line(&result.risks.join("; ")));
        }
        if let Some(run) = &result.run {
            let state = if result.landed { "landed" } else { "waits for review: git brain review" };
            text += &format!("                {state} {run}\n");
        }
    }
    if line.results.is_empty() {
        text += "  nothing was examined\n";
    }
    text.extend(line.debates.iter().map(|one| format!("  skeptic       {}\n", safe_line(one))));
    text.extend(line.held.iter().map(|one| format!("  not examined  {}\n", safe_line(one))));
    text.extend(line.amendments.iter().map(|one| format!("  amendment for a person: {}\n", safe_line(one))));
    text + &format!("  {} in the bank\n", plural(line.seeds, "seed", "seeds"))
}

fn ended(report: &DeliberateReport) -> String {
    let results = report.cycles.iter().flat_map(|cycle| &cycle.results);
    let fruits = results.filter(|result| result.class == crate::brain::LeafClass::Fruit).count();
    let notes: String = report.notes.iter().map(|note| format!("note: {}\n", safe_line(note))).collect();
    format!(
        "{}, {}; wake is {}\n{notes}",
        plural(report.cycles.len(), "cycle", "cycles"),
        plural(fruits, "fruit", "fruits"),
        super::output::short(&report.wake)
    )
}

fn shown(report: &ForestReport) -> String {
    let forest = &report.forest;
    let claims = match report.claims.len() {
        0 => String::new(),
        count => format!(" (of which {} not measured here)", plural(count, "claim", "claims")),
    };
    let mut text = format!(
        "{} after {}: {}{claims}, {} closed for good\n",
        report.goal,
        plural(forest.cycle as usize, "cycle", "cycles"),
        plural(forest.fruits.len(), "fruit", "fruits"),
        forest.closed.len()
    );
    for (id, tree) in &forest.trees {
        let frozen = if tree.frozen > 0 { format!(", frozen for {}", tree.frozen) } else { String::new() };
        text += &format!(
            "  {}  {}, {}, {}{frozen}\n",
            safe_line(id),
            plural(tree.attempts as usize, "attempt", "attempts"),
            plural(tree.fruits as usize, "fruit", "fruits"),
            plural(tree.deaths as usize, "dead leaf", "dead leaves")
        );
    }
    // By the effect on the half that nobody mined, where it was measured.
    let effect = |figures: &std::collections::BTreeMap<String, f64>| figures.get(OUT_OF_SAMPLE).copied().unwrap_or(0.0);
    let mut fruits: Vec<_> = forest.fruits.iter().collect();
    fruits.sort_by(|a, b| effect(&b.1.figures).total_cmp(&effect(&a.1.figures)));
    for (key, fruit) in fruits {
        let class = if fruit.standing == Standing::Ensemble { "ensemble" } else { "fruit" };
        let figures: Vec<String> = fruit.figures.iter().map(|(name, figure)| format!("{name} {figure}")).collect();
        text += &format!(
            "  {class:<9} {}  ({})\n            {}\n",
            safe_line(&fruit.proposal.mechanism.name),
            safe_line(&fruit.tree),
            safe_line(&figures.join(", "))
        );
        if report.evidence.as_ref().is_some_and(|evidence| *evidence != fruit.evidence) {
            text += "            measured on other evidence than there is here today\n";
        }
        for run in report.claims.get(key).into_iter().flatten() {
            text += &format!(
                "            a claim of {run}: no gate has measured it here; the next `git brain deliberate {}` does\n",
                report.goal
            );
        }
        for fate in report.became.get(key).into_iter().flatten() {
            text += &format!("            {} {}\n", fate.state, fate.run);
        }
    }
    for one in &report.contested {
        let runs: Vec<&str> = one.runs.iter().map(|run| run.as_str()).collect();
        text += &format!(
            "  contested {}\n            {} say otherwise of it, and did not know of each other: it is measured again where it is proposed\n",
            safe_line(&one.name),
            runs.join(" and ")
        );
        for fate in report.became.get(&one.key).into_iter().flatten() {
            text += &format!("            {} {}\n", fate.state, fate.run);
        }
    }
    text.extend(forest.amendments.iter().map(|one| format!("amendment for a person: {}\n", safe_line(&one.text))));
    text += &format!("{} in the bank\n", plural(forest.seeds.len(), "seed", "seeds"));
    for seed in &forest.seeds {
        text += &format!(
            "  {:.2}  {}  ({})\n",
            seed.score,
            safe_line(&seed.proposal.mechanism.name),
            safe_line(&seed.tree)
        );
    }
    text
}

fn handoffs(session: &Session, brain: &Brain) -> Done {
    let waiting = brain.handoffs()?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({"handoffs": waiting}));
        return Ok(0);
    }
    if waiting.is_empty() {
        session.out.text("No question waits.\n");
    }
    for one in &waiting {
        let about = serde_json::to_string_pretty(&one.about).unwrap_or_default();
        session.out.text(&format!(
            "{}  {}, {} on {}\n{}\nAn answer has the form {}\n",
            one.id,
            one.role.as_str(),
            one.goal,
            safe_line(&one.tree),
            safe(&about),
            safe_line(&one.schema.to_string())
        ));
        session.out.text(&format!("Next: git brain deliberate --answer {} FILE\n", one.id));
    }
    Ok(0)
}

pub(super) fn events(session: &Session, args: &args::Events) -> Done {
    let brain = session.brain()?;
    let (mut after, mut live, mut entered): (Option<String>, Vec<Event>, Vec<Event>) = Default::default();
    loop {
        let (events, last) = brain.events(args.goal.as_deref(), after.as_deref())?;
        for event in &events {
            // What was told while it happened is not told again.
            match live.iter().position(|one| one.is_same(event)) {
                Some(at) => drop(live.swap_remove(at)),
                None => session.out.text(&Brain::events_as_lines(std::slice::from_ref(event))),
            }
        }
        if !events.is_empty() {
            entered = events;
        }
        let under_way = if args.follow { brain.live_events() } else { Vec::new() };
        for event in under_way {
            if !live.contains(&event) && !entered.iter().any(|one| one.is_same(&event)) {
                session.out.text(&Brain::events_as_lines(std::slice::from_ref(&event)));
                live.push(event);
            }
        }
        after = last.or(after);
        if !args.follow {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}
