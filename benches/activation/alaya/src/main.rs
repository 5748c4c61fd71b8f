//! The `alaya` crate with the same memories and connections: `alaya-peer FOLDER QUESTIONS SECONDS`.
//!
//! Memories are stored through its own interface, one by one. That makes only chains of connections, so ours are put into its
//! table, with their weights. A question is its spreading activation (`neighbors`, depth 4) from each of the five cues, added
//! up, best fifty. Prints a line of JSON: milliseconds per question. Stops storing after SECONDS, and says so.

use std::collections::HashMap;
use std::time::Instant;

use alaya::{Alaya, EpisodeContext, NewEpisode, NodeRef, Role};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (folder, questions, seconds) = (&args[1], args[2].parse::<usize>()?, args[3].parse::<u64>()?);
    let numbers = |name: &str| -> std::io::Result<Vec<u32>> {
        let bytes = std::fs::read(format!("{folder}/{name}"))?;
        Ok(bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    };
    let (rows, targets, cues) = (numbers("rows.u32")?, numbers("targets.u32")?, numbers("cues.u32")?);
    let weights = std::fs::read(format!("{folder}/weights.u16"))?;
    let path = format!("{folder}/alaya.db");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{path}{end}"));
    }
    let alaya = Alaya::open(&path)?;
    let start = Instant::now();
    let mut ids = Vec::new();
    for node in 0..rows.len() - 1 {
        if start.elapsed().as_secs() > seconds {
            println!("[]");
            eprintln!("alaya: {node} of {} memories stored after {seconds} s", rows.len() - 1);
            return Ok(());
        }
        ids.push(alaya.episodes().store(&NewEpisode {
            content: format!("neuron n{node:07}"),
            role: Role::User,
            session_id: "bench".into(),
            timestamp: 1_769_437_920,
            context: EpisodeContext::default(),
            embedding: None,
        })?);
    }
    eprintln!("alaya: {} memories stored in {:.1} s", ids.len(), start.elapsed().as_secs_f64());
    let mut database = rusqlite::Connection::open(&path)?;
    let put = database.transaction()?;
    for (node, row) in rows.windows(2).enumerate() {
        for edge in row[0] as usize..row[1] as usize {
            let weight = f64::from(u16::from_le_bytes([weights[2 * edge], weights[2 * edge + 1]])) / 65535.0;
            put.prepare_cached(
                "INSERT OR IGNORE INTO links (source_type, source_id, target_type, target_id, forward_weight, link_type, \
                 created_at, last_activated) VALUES ('episode', ?1, 'episode', ?2, ?3, 'topical', 1769437920, 1769437920)",
            )?
            .execute((ids[node].0, ids[targets[edge] as usize].0, weight))?;
        }
    }
    put.commit()?;
    drop(database);
    let mut times = Vec::new();
    for question in cues.chunks_exact(5).take(questions) {
        let start = Instant::now();
        let mut sums: HashMap<NodeRef, f32> = HashMap::new();
        for cue in question.iter().filter(|cue| **cue != u32::MAX) {
            for (node, activation) in alaya.graph().neighbors(NodeRef::Episode(ids[*cue as usize]), 4)? {
                *sums.entry(node).or_default() += activation;
            }
        }
        let mut best: Vec<(NodeRef, f32)> = sums.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        best.truncate(50);
        times.push(format!("{:.4}", start.elapsed().as_secs_f64() * 1e3));
        if start.elapsed().as_secs() > seconds {
            break;
        }
    }
    println!("[{}]", times.join(","));
    Ok(())
}
