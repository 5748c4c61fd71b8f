//! Whether metrics separate the texts of a set by its label: the area under the ROC curve, which is the chance that a text with the label has the
//! greater figure than one without, ties counting half.

use anyhow::{Context, Result, bail};
use git_brain::integrity::lang::{Lang, detect};
use git_brain::integrity::metrics::{Counts, Metrics};
use git_brain::text::tokens;
use serde_json::Value;

use crate::statistics::Interval;

/// A figure of a text by its name; `None`: undefined.
type Figure = (&'static str, fn(&Counts) -> Option<f64>);

/// Metrics as they are defined, then counts of the reply, which short texts have as well.
const FIGURES: [Figure; 9] = [
    ("silence_ratio", |counts| Metrics::from(counts).silence_ratio),
    ("self_reference_rate", |counts| Metrics::from(counts).self_reference_rate),
    ("apology_density", |counts| Metrics::from(counts).apology_density),
    ("assertion_ratio", |counts| Metrics::from(counts).assertion_ratio),
    ("guidance_rate", |counts| Metrics::from(counts).guidance_rate),
    ("hedged sentences", |counts| Some(counts.hedging as f64)),
    ("mentions of being a model", |counts| Some(counts.self_references as f64)),
    ("refuses", |counts| Some(counts.refusals as f64)),
    ("tokens (for comparison)", |counts| Some(counts.tokens as f64)),
];

/// Prints the table of a file.
pub fn table(file: &str, text: &str, label: &str, positive: &str) -> Result<()> {
    let mut rows: Vec<(Counts, bool)> = Vec::new();
    for (number, line) in std::fs::read_to_string(file).with_context(|| file.to_owned())?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Value = serde_json::from_str(line).with_context(|| format!("{file}, line {}", number + 1))?;
        let said = row[text].as_str().with_context(|| format!("{file}, line {}: no text {text:?}", number + 1))?;
        let marked = match &row[label] {
            Value::String(value) => value == positive,
            Value::Bool(value) => value.to_string() == positive,
            _ => bail!("{file}, line {}: no label {label:?}", number + 1),
        };
        rows.push((Counts::of(said, detect(said).unwrap_or(Lang::En), tokens(said) as u64), marked));
    }
    let marked = rows.iter().filter(|(_, marked)| *marked).count();
    println!("{} texts, {marked} with {label} = {positive}\n", rows.len());
    println!(
        "| figure | texts | with label | mean with | mean without | AUC (95 %) | |\n|---|---|---|---|---|---|---|"
    );
    for (name, figure) in FIGURES {
        let mut known: Vec<(f64, bool)> =
            rows.iter().filter_map(|(counts, marked)| Some((figure(counts)?, *marked))).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let of = |wanted: bool| {
            known.iter().filter(|(_, marked)| *marked == wanted).map(|(value, _)| *value).collect::<Vec<_>>()
        };
        let (with, without) = (of(true), of(false));
        if with.is_empty() || without.is_empty() {
            println!("| {name} | {} | {} | | | undefined | |", known.len(), with.len());
            continue;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let area = Interval::of(known.len(), |drawn| area(&known, drawn));
        let told = match (area.low > 0.5, area.high < 0.5) {
            (true, _) => "higher with the label",
            (_, true) => "lower with the label",
            _ => "not told from chance",
        };
        println!(
            "| {name} | {} | {} | {:.3} | {:.3} | {area} | {told} |",
            known.len(),
            with.len(),
            mean(&with),
            mean(&without)
        );
    }
    Ok(())
}

/// The area of the cases that were drawn, of a list that is sorted by the figure.
fn area(sorted: &[(f64, bool)], drawn: &[usize]) -> f64 {
    let mut times = vec![0_u32; sorted.len()];
    drawn.iter().for_each(|case| times[*case] += 1);
    let (mut below, mut wins, mut with, mut at) = (0.0, 0.0, 0.0, 0);
    while at < sorted.len() {
        // All that have one figure are ties of each other.
        let end = at + sorted[at..].iter().take_while(|(value, _)| *value == sorted[at].0).count();
        let count = |wanted: bool| {
            (at..end).filter(|case| sorted[*case].1 == wanted).map(|case| f64::from(times[case])).sum::<f64>()
        };
        let (marked, others) = (count(true), count(false));
        wins += marked * (below + others / 2.0);
        (below, with) = (below + others, with + marked);
        at = end;
    }
    if with * below == 0.0 { 0.5 } else { wins / (with * below) }
}
