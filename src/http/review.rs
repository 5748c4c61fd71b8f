//! Runs that wait for a person: the list, one as a belief diff, and the decision, which goes the way of the command's.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use super::chat::body;
use crate::brain::{ReviewBlock, ReviewList, ReviewRequest, ReviewVerdict, Tone, blocks};

/// The decision of the person at the page.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewWord {
    /// The run, or its branch.
    run: String,
    /// The commit that was looked at: another one is not decided on.
    commit: String,
    /// Whether it lands.
    approve: bool,
    /// Why.
    #[serde(default)]
    why: String,
    /// The numbers of the operations that land, from 1; all by default.
    #[serde(default)]
    only: Vec<usize>,
    /// Conflicts that are settled: `run`, `wake`, or `N=run`.
    #[serde(default)]
    take: Vec<String>,
}

/// `GET /reviews`.
pub(super) async fn waiting(State(shared): State<Shared>) -> Result<Json<ReviewList>, Failure> {
    on_a_thread(move || shared.serving.brain()?.reviews()).await.map(Json)
}

/// `GET /reviews/RUN`.
pub(super) async fn one(
    State(shared): State<Shared>,
    run: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Failure> {
    let Path(run) = run?;
    let belief = on_a_thread(move || shared.serving.brain()?.review(&run, true)).await?;
    let page: Vec<Value> = blocks(&belief, true).iter().map(shown).collect();
    let waits = belief.waits.starts_with("rule ")
        || ["asked", "origin", "conflict", "pending"].contains(&belief.waits.as_str());
    Ok(Json(
        json!({"run": belief.run, "commit": belief.commit, "waits": waits, "conflicts": belief.conflicts.len(), "blocks": page}),
    ))
}

/// `POST /reviews`.
pub(super) async fn decide(State(shared): State<Shared>, request: Request) -> Result<Json<Value>, Failure> {
    let ReviewWord { run, commit, approve, why, only, take } = body(request).await?;
    let verdict = if approve { ReviewVerdict::Approve } else { ReviewVerdict::Reject };
    let via = "page".to_owned();
    let request = ReviewRequest { seen: Some(commit), via, only, take, ..ReviewRequest::new(&run, verdict, &why) };
    let report = on_a_thread(move || shared.serving.brain()?.decide_run(&request)).await?;
    serde_json::to_value(report).map(Json).map_err(|_| Failure::broken())
}

/// A block as data: the page makes text nodes of its spans.
fn shown(block: &ReviewBlock) -> Value {
    match block {
        ReviewBlock::Title(text) => json!({"title": text}),
        ReviewBlock::Heading(text) => json!({"heading": text}),
        ReviewBlock::Line(depth, spans) => {
            let spans: Vec<Value> = spans.iter().map(|(tone, text)| json!([word(*tone), text])).collect();
            json!({"depth": depth, "spans": spans})
        }
    }
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Strong => "strong",
        Tone::Faint => "faint",
        Tone::Added => "added",
        Tone::Removed => "removed",
        Tone::Inserted => "inserted",
        Tone::Deleted => "deleted",
    }
}
