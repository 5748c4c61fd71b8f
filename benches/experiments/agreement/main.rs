//! Agreement of the patterns of `integrity` with people: precision and recall of each label on the utterances of `tests/data/integrity`, by language.
//!
//! ```text
//! cargo bench --bench agreement
//! cargo bench --bench agreement -- --labelled FILE [--text KEY] [--label KEY] [--positive VALUE]
//! ```
//!
//! With `--labelled`: whether a metric separates the texts of another set by a label that is not ours. FILE has a JSON object a line; the defaults are
//! those of `data/general_data.json` of HaluEval (MIT), whose answers of a model people marked as hallucinated or not. Prints the area under
//! the curve of each metric (.5: it tells nothing), with its interval. The set is not part of this project.
//!
//! The utterances were labelled by their meaning before any pattern was written. `looked` is the half that patterns were mended by, `held` the one that
//! nobody who wrote patterns has seen. Prints Markdown; nothing is asserted.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads its data")]

mod separation;
#[path = "../statistics.rs"]
mod statistics;

use std::collections::BTreeMap;

use anyhow::Result;
use git_brain::integrity::lang::Lang;
use git_brain::integrity::lexicon::Label;
use git_brain::integrity::metrics::labels;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    text: String,
    #[serde(flatten)]
    labels: BTreeMap<String, serde_json::Value>,
}

const NAMES: [&str; 7] = ["observation", "self_reference", "apology", "assertion", "hedge", "refusal", "guidance"];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str, usual: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        Some(args.get(at + 1).map_or(usual, String::as_str).to_owned())
    };
    if let Some(file) = value("--labelled", "") {
        let key = |name: &str, usual: &str| value(name, usual).unwrap_or_else(|| usual.to_owned());
        let (text, label) = (key("--text", "chatgpt_response"), key("--label", "hallucination"));
        return separation::table(&file, &text, &label, &key("--positive", "yes"));
    }
    for half in ["held", "looked"] {
        println!("{half}: precision / recall (positives)\n\n| label | en | ja | fr |\n|---|---|---|---|");
        let all = [Lang::En, Lang::Ja, Lang::Fr].map(|lang| table(half, lang));
        let [en, ja, fr] = all;
        for (name, cells) in NAMES.iter().zip(en?.into_iter().zip(ja?).zip(fr?)) {
            let ((en, ja), fr) = cells;
            println!("| {name} | {en} | {ja} | {fr} |");
        }
        println!();
    }
    Ok(())
}

fn table(half: &str, lang: Lang) -> Result<Vec<String>> {
    let file = format!("{}/tests/data/integrity/{half}-{}.jsonl", env!("CARGO_MANIFEST_DIR"), lang.code());
    // Right, too many, missed.
    let mut table = [[0_u32; 3]; 7];
    for line in std::fs::read_to_string(file)?.lines() {
        let row: Row = serde_json::from_str(line)?;
        let found = labels(&row.text, lang);
        for (index, label) in Label::ALL.into_iter().enumerate() {
            let expected = row.labels.get(NAMES[index]).and_then(serde_json::Value::as_bool).unwrap_or_default();
            let cell = match (found.contains(&label), expected) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => continue,
            };
            table[index][cell] += 1;
        }
    }
    let share = |part: u32, whole: u32| if whole == 0 { f64::NAN } else { f64::from(part) / f64::from(whole) };
    let cell = |[hits, extra, missed]: [u32; 3]| {
        format!("{:.2} / {:.2} ({})", share(hits, hits + extra), share(hits, hits + missed), hits + missed)
    };
    Ok(table.into_iter().map(cell).collect())
}
