//! `graph`: pictures without a browser.

use super::args::{self, GraphFormat};
use super::{Done, Session};
use crate::brain::{PictureRequest, dot, graphml, mermaid, svg};

/// Neurons of a flowchart that a reader still follows, unless more are asked for.
const FLOWCHART: usize = 40;

pub(super) fn graph(session: &Session, args: &args::Graph) -> Done {
    let usual = (args.format == GraphFormat::Mermaid && !args.recall).then_some(FLOWCHART);
    let request = PictureRequest {
        about: args.about.join(" "),
        question: args.recall,
        at: args.at.clone(),
        since: args.since.clone(),
        most: args.number.or(usual),
        ..PictureRequest::default()
    };
    let picture = session.brain()?.picture(&request)?;
    if session.out.is_json() {
        session.out.document(&picture);
        return Ok(0);
    }
    session.out.page(&match args.format {
        GraphFormat::Svg => svg(&picture),
        GraphFormat::Mermaid => mermaid(&picture),
        GraphFormat::Graphml => graphml(&picture),
        GraphFormat::Dot => dot(&picture),
    });
    if session.out.is_terminal() && args.format == GraphFormat::Svg {
        session.out.say("hint: `git brain graph … > brain.svg` keeps the picture, and a browser shows it");
    }
    Ok(0)
}
