//! The cost of a cycle in which models think: calls and tokens by role, and our own time, beside the same cycles of reflexes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use git_brain::text::tokens;
use serde_json::{Value, json};

use crate::endpoint::{Does, Endpoint};
use crate::life::commit;
use crate::{Draw, brain, fed, world};

/// Words of each text that the model says.
const WORDS: usize = 12;

/// Calls, tokens read and tokens written.
type Counts = Arc<Mutex<BTreeMap<String, [usize; 3]>>>;

/// A model that fills each form by chance, within its bounds.
fn filled(schema: &Value, draw: &mut Draw) -> Value {
    if let Some(all) = schema["enum"].as_array() {
        return all[draw.of(all.len().max(1))].clone();
    }
    let bound = |key: &str, other: u64| schema[key].as_u64().unwrap_or(other) as usize;
    match schema["type"].as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, field)| (name.clone(), filled(field, draw))).collect()
        }
        Some("array") => {
            let (least, most) = (bound("minItems", 0), bound("maxItems", 3));
            let count = least.max(1) + draw.of(most.min(3).saturating_sub(least.max(1)) + 1);
            (0..count).map(|_| filled(&schema["items"], draw)).collect()
        }
        Some("integer") => json!(bound("minimum", 0) + draw.of(bound("maximum", 3) - bound("minimum", 0) + 1)),
        Some("number") => json!(0.5),
        _ => json!((0..WORDS).map(|_| draw.word()).collect::<Vec<_>>().join(" ")),
    }
}

fn model(seed: u64, counts: &Counts) -> Result<Endpoint> {
    let (counts, draw) = (Arc::clone(counts), Mutex::new(Draw(seed)));
    Endpoint::start(move |body| {
        let form = &body["response_format"]["json_schema"];
        let said = filled(&form["schema"], &mut draw.lock().unwrap_or_else(PoisonError::into_inner)).to_string();
        let told = body["messages"].as_array().into_iter().flatten();
        let read: usize = told.map(|message| tokens(message["content"].as_str().unwrap_or_default())).sum();
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of = counts.entry(form["name"].as_str().unwrap_or("?").to_owned()).or_default();
        *of = [of[0] + 1, of[1] + read + tokens(&form["schema"].to_string()), of[2] + tokens(&said)];
        Does::Says(said)
    })
}

/// So many cycles of models and of reflexes on the notes of one world; prints two tables.
pub fn pay(cycles: usize, seed: usize, notes: usize) -> Result<()> {
    let counts = Counts::default();
    let ends = [model(1, &counts)?, model(2, &counts)?];
    let mut times = Vec::new();
    for minds in ["models", "reflexes"] {
        let folder = tempfile::tempdir()?;
        let dir = folder.path().join("brain");
        fed(folder.path(), &dir, &world("next", seed as u64, notes).0)?;
        if minds == "models" {
            of_models(&dir, &ends)?;
        }
        let (mut examined, mut waited, start) = (0, Duration::ZERO, Instant::now());
        for _ in 0..cycles {
            let told = brain(&dir, &["deliberate", "recall"], None)?;
            let results = told["cycles"][0]["results"].as_array().context("results")?;
            examined += results.iter().filter(|one| one["gates"].as_array().is_some_and(|all| !all.is_empty())).count();
        }
        let exchanges = ends.iter().flat_map(Endpoint::take);
        exchanges.for_each(|one| waited += one.answered - one.asked);
        times.push((minds, start.elapsed(), waited, examined));
    }
    let each = |count: usize| count as f64 / cycles as f64;
    println!(
        "{cycles} cycles on {notes} notes, by the settings as they are delivered; the models fill each form by chance.\n"
    );
    println!("| role | calls a cycle | tokens read a call | tokens written a call |\n|---|---|---|---|");
    let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    for (role, [calls, read, written]) in counts.iter() {
        println!("| {role} | {:.1} | {} | {} |", each(*calls), read / calls, written / calls);
    }
    let sum = counts.values().fold([0; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
    let [calls, read, written] = sum.map(each);
    println!("| all | {calls:.1} | {read:.0} a cycle | {written:.0} a cycle |\n");
    println!("| minds | examined a cycle | s a cycle | of which the models |\n|---|---|---|---|");
    for (minds, whole, waited, examined) in times {
        let second = |time: Duration| time.as_secs_f64() / cycles as f64;
        println!("| {minds} | {:.1} | {:.2} | {:.3} |", each(examined), second(whole), second(waited));
    }
    Ok(())
}

/// Two models at two addresses as two families, in all roles that a model can have.
fn of_models(dir: &Path, ends: &[Endpoint; 2]) -> Result<()> {
    let mut text = std::fs::read_to_string(dir.join("brain.toml"))?;
    for (name, end) in ["one", "two"].iter().zip(ends) {
        text += &format!(
            "\n[models.{name}]\nprovider = \"openai\"\nmodel = \"{name}\"\nbase_url = \"{}\"\nfamily = \"{name}\"\nstream = true\n",
            end.url()
        );
    }
    text += "\n[deliberation]\ngardener = \"one\"\nskeptic = \"two\"\ninspector = \"one\"\naligner = \"two\"\n";
    std::fs::write(dir.join("brain.toml"), text)?;
    commit(dir, &["brain.toml"])
}
