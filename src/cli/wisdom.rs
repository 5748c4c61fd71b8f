//! `wisdom`: seeds, their evidence, and bundles.

use serde_json::json;

use super::args::{self, WisdomAction};
use super::output::safe_line;
use super::{Done, Session};
use crate::brain::wisdom::{
    Causal, ExportedWisdom, SeedEvidence, SeedPolarity, SeedStanding, SeedState, TeachReport, WisdomList, WisdomWhy,
    seed_line,
};
use crate::brain::{Source, wisdom};
use crate::model::plural;

pub(super) fn wisdom(session: &Session, args: &args::Wisdom) -> Done {
    let brain = session.brain()?;
    let said = |words: &[String]| Some(words.join(" ")).filter(|text| !text.trim().is_empty());
    match &args.action {
        WisdomAction::List { about, all } => {
            let is_about = said(about).is_some();
            session.out.report(&brain.wisdom(said(about).as_deref(), *all)?, |list| listed(list, is_about));
        }
        WisdomAction::Why { seed } => session.out.report(&brain.wisdom_why(seed)?, explained),
        WisdomAction::Causes { about, effect, number } => {
            let found = brain.causes(said(about).as_deref(), effect, *number)?;
            session.out.report(&json!({"causes": found}), |_| ranked(&found));
        }
        WisdomAction::Teach { when, action, avoid, because, writer } => {
            let polarity = if avoid.is_some() { SeedPolarity::Avoid } else { SeedPolarity::Do };
            let action = action.as_ref().or(avoid.as_ref()).cloned().unwrap_or_default();
            let seed = wisdom::stated(when, &action, because.as_deref(), polarity);
            session.out.report(&brain.teach(seed, writer.dry_run)?, |report| entered(report, "taught"));
        }
        WisdomAction::Forget { seeds, writer } => {
            session.out.report(&brain.forget_seeds(seeds, writer.dry_run)?, |report| entered(report, "forgot"));
        }
        WisdomAction::Distil { writer } => {
            session.out.report(&brain.distil(writer.dry_run)?, |report| entered(report, "distilled"));
        }
        WisdomAction::Export { key: true, .. } => {
            let key = brain.wisdom_public_key()?;
            session.out.report(&json!({"key": key}), |_| format!("{key}\n"));
        }
        WisdomAction::Export { days, .. } => export(session, &brain.export_wisdom(*days)?),
        WisdomAction::Inherit { file, key, writer } => {
            let source = if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file.clone()) };
            let report = brain.inherit(&source, key, writer.dry_run)?;
            session.out.report(&report, |report| entered(report, "inherited"));
        }
    }
    Ok(0)
}

/// The bundle is the file on standard output, with and without `--json`; what was left out is said beside it.
fn export(session: &Session, exported: &ExportedWisdom) {
    session.out.file(&exported.bundle);
    for (seed, kind) in &exported.left_out {
        session.out.say(&format!("left out {seed}: it holds a personal fact ({kind})"));
    }
    exported.notes.iter().for_each(|note| session.out.say(&format!("note: {note}")));
}

fn line(standing: &SeedStanding) -> String {
    let seed = &standing.seed;
    let state = match standing.state {
        SeedState::Active => String::new(),
        state => format!("  {}", state.as_str()),
    };
    let from = if seed.inherited.is_some() { ", inherited" } else { "" };
    format!(
        "{}  {:.2}  {} for, {} against, causal {:.2}{from}{state}\n    {}\n",
        standing.id,
        standing.confidence,
        standing.support,
        standing.contradict,
        standing.causal,
        safe_line(&seed_line(&seed.condition, &seed.action, &seed.effect, seed.polarity)),
    )
}

fn listed(list: &WisdomList, is_about: bool) -> String {
    let mut text: String = list.seeds.iter().map(line).collect();
    if list.seeds.is_empty() {
        text += match is_about {
            true => "No seed applies to these words.\n",
            false => {
                "No seeds. They are distilled at sleep from three outcomes of two sessions or days: `git brain outcome RUN --value V`.\n"
            }
        };
    }
    if list.hidden > 0 {
        let more = if is_about { " WORDS` finds those with any of the words" } else { "`" };
        text += &format!("{} not shown: `git brain wisdom list --all{more}\n", plural(list.hidden, "seed", "seeds"));
    }
    if !list.enabled {
        text += "wisdom.enabled is false: agents are told of none of it.\n";
    }
    text
}

fn explained(why: &WisdomWhy) -> String {
    let mut text = line(&why.seed);
    if let Some(from) = &why.seed.seed.inherited {
        text += &format!("  inherited from the key {}, with {:.2} there\n", from.key, from.confidence);
    }
    text += &format!("  entered by {}\n", why.seed.run);
    text.extend(why.evidence.iter().map(spoken));
    if !why.causes.is_empty() {
        text += "causes of that effect in such cases\n";
        text += &ranked(&why.causes);
    }
    text
}

fn spoken(evidence: &SeedEvidence) -> String {
    let cited = if evidence.cited { "cited" } else { "also" };
    let SeedEvidence { run, karma, session, condition, action, .. } = evidence;
    let [condition, action, session] = [condition, action, session].map(|text| safe_line(text));
    let mut text = format!("  {cited}  {run}  karma {karma:+.2}  ({session})\n    {condition} → {action}");
    if !evidence.effect.is_empty() {
        text += &format!(" → {}", safe_line(&evidence.effect));
    }
    text += &format!("\n    judged by {}\n", evidence.judged_by);
    text.extend(evidence.words.iter().map(|words| format!("    \"{}\"\n", safe_line(words))));
    text
}

fn ranked(causes: &[Causal]) -> String {
    let line = |c: &Causal| {
        let ([with, both], [without, alone]) = (c.with, c.without);
        format!("  {:+.2}  {both} of {with} with, {alone} of {without} without  {}\n", c.strength, safe_line(&c.cause))
    };
    if causes.is_empty() {
        "Nothing to compare: no outcome says that, or no cause was there in some cases and not in others.\n".to_owned()
    } else {
        causes.iter().map(line).collect()
    }
}

fn entered(report: &TeachReport, verb: &str) -> String {
    let would = if report.dry_run { "would have " } else { "" };
    let count = report.seeds.len() + report.forgot.len();
    let mut text = match count {
        0 => "Nothing new.\n".to_owned(),
        count => format!("{would}{verb} {}\n", plural(count, "seed", "seeds")),
    };
    for one in &report.seeds {
        let seed = &one.seed;
        let said = seed_line(&seed.condition, &seed.action, &seed.effect, seed.polarity);
        text += &format!("  {}  {}\n", one.id, safe_line(&said));
    }
    text.extend(report.forgot.iter().map(|id| format!("  {id}\n")));
    text.extend(report.notes.iter().map(|note| format!("note: {}\n", safe_line(note))));
    if let Some(run) = &report.run {
        let held = if report.merged { "" } else { " waits for review" };
        text += &format!("  run {run}{held}\n");
    }
    text
}
