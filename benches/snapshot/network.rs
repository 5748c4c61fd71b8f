//! Networks of memories and concepts with words as languages have them: few are frequent, most are rare.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

/// Seven of ten neurons are memories.
const MEMORIES: f64 = 0.7;
const VOCABULARY: usize = 30_000;
const CONNECTIONS: usize = 10;
const NAMES: [&str; 10] =
    ["Velden", "Harbour", "Oslo", "Karlsen", "Marin", "Tobias", "Lena", "Quarry", "Bergen", "Ivory"];

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word, by Zipf's law.
    fn word(&mut self) -> String {
        let rank = (VOCABULARY as f64).powf(self.share()) as usize;
        let mut spelt = Dice(rank as u64 * 0x9e37_79b9_7f4a_7c15 + 1);
        let syllable = |spelt: &mut Dice| {
            let (consonant, vowel) = (spelt.below(13), spelt.below(5));
            [&"bcdfglmnprstv"[consonant..=consonant], &"aeiou"[vowel..=vowel]].concat()
        };
        spelt.roll();
        (0..2 + rank % 3).map(|_| syllable(&mut spelt)).collect()
    }
}

fn id(i: usize, neurons: usize) -> String {
    if (i as f64) < neurons as f64 * MEMORIES { format!("m-{i:07}") } else { format!("c-{i:07}") }
}

/// Writes a document of so many neurons, with ten connections each.
pub fn write(file: &Path, neurons: usize) -> Result<()> {
    let dice = &mut Dice(0x1234_5678_9abc_def1);
    let mut out = BufWriter::new(File::create(file)?);
    out.write_all(b"{\"neurons\": [\n")?;
    for i in 0..neurons {
        let own = id(i, neurons);
        let is_memory = own.starts_with('m');
        let words = if is_memory { 8 + dice.below(22) } else { 1 + dice.below(3) };
        let mut text = (0..words).map(|_| dice.word()).collect::<Vec<_>>().join(" ");
        if is_memory && dice.below(3) == 0 {
            text += &format!(" {} {} {}", NAMES[dice.below(10)], NAMES[dice.below(10)], dice.word());
        }
        let connections: Vec<Value> = (0..CONNECTIONS)
            .map(|k| {
                let target =
                    id((i + 1 + dice.below(neurons / CONNECTIONS) + k * (neurons / CONNECTIONS)) % neurons, neurons);
                let link =
                    ["feeds_into", "feeds_into", "feeds_into", "recalls", "influences", "inhibits"][dice.below(6)];
                json!({"target": target, "weight": 1024 + dice.below(60_000), "type": link})
            })
            .collect();
        let mut neuron = json!({
            "id": own, "concept": text, "type": if is_memory { "episodic" } else { "semantic" },
            "salience": dice.below(65_536), "last_salience_update": "2026-01-01T00:00:00Z",
            "created_at": "2026-01-01T00:00:00Z", "connections": connections,
        });
        if is_memory {
            neuron["source"] = json!(format!("T{i}"));
            neuron["session"] = json!(format!("s{}", i / 20));
        }
        writeln!(out, "{}{neuron}", if i > 0 { "," } else { "" })?;
    }
    out.write_all(b"]}\n")?;
    Ok(())
}

/// A delta of twenty operations.
pub fn run(neurons: usize, round: usize) -> Value {
    let dice = &mut Dice(round as u64 + 77);
    let own = format!("new-{round}");
    let mut ops = vec![json!({"op": "create", "id": own, "type": "episodic",
        "concept": format!("{} {} met at the Quarry of {}", NAMES[round % 10], dice.word(), dice.word())})];
    for k in 0..19 {
        let target = id((dice.below(neurons / 20) + k * (neurons / 20)) % neurons, neurons);
        ops.push(if k < 10 {
            json!({"op": "activate", "id": target, "strength": 0.2})
        } else {
            json!({"op": "connect", "from": own, "to": target, "type": "feeds_into", "weight": 20_000})
        });
    }
    json!({"ops": ops})
}
