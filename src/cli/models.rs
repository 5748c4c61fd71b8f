//! `models`: which models there are, and whether they answer.

use super::args;
use super::output::safe;
use super::{Done, Session};
use crate::brain::{BrainError, ModelsReport, Thinker};

pub(super) fn models(session: &Session, args: &args::Models) -> Done {
    let brain = session.brain()?;
    if let Some(agent) = &args.define {
        let thinker = match (args.preset, args.names.as_slice()) {
            (Some(args::Preset::Claude), _) => Thinker::Claude,
            (Some(args::Preset::Codex), _) => Thinker::Codex,
            (Some(args::Preset::Chain), _) => Thinker::Chain,
            (None, [model]) => Thinker::Model(model.clone()),
            (None, _) => {
                return Err(BrainError::usage("--define AGENT needs the name of one model, or --preset"));
            }
        };
        session.out.text(&brain.definition(agent, &thinker)?);
        return Ok(0);
    }
    let report = brain.models(&args.names, args.test)?;
    session.out.report(&report, told);
    Ok(report.exit_code())
}

fn told(report: &ModelsReport) -> String {
    if report.models.is_empty() {
        return "no models: agents think by rules. docs/models.md says how to name one\n".to_owned();
    }
    let mut lines = Vec::new();
    for model in &report.models {
        let family = model.family.as_deref().map(|family| format!(", family {}", safe(family))).unwrap_or_default();
        let place = model.place.as_deref().unwrap_or("nowhere");
        lines.push(format!(
            "{:<12} {} ({}{family}) at {}",
            safe(&model.name),
            safe(&model.model),
            model.provider,
            safe(place)
        ));
        if !model.agents.is_empty() {
            lines.push(format!("  thinks for {}", model.agents.join(", ")));
        }
        match (&model.inert, &model.test) {
            (Some(why), _) => lines.push(format!("  cannot be asked: {}", safe(why))),
            (None, None) => {}
            (None, Some(test)) => lines.push(match &test.error {
                None => format!("  answers: {} ms, {} tokens", test.ms, test.tokens),
                Some(why) => format!("  does not answer: {}", safe(why)),
            }),
        }
    }
    lines.join("\n") + "\n"
}
