//! Import: a document of many neurons, against `git fast-import` (no deltas) of exactly the tree that came out.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use git_brain::store::Store;

use crate::figures::{Figure, ratio};
use crate::scene::{self, Scene, run, timed, write_files};
use crate::{Sizes, note};

/// Options of the two `git fast-import`s: as git comes, and with the compression that `git brain import` has.
const GITS: [&[&str]; 2] = [&[], &["-c", "pack.compression=3"]];

pub fn measure(scene: &Scene, sizes: &Sizes) -> Result<()> {
    let title = format!("2. Import of {} neurons × {} connections", sizes.large, scene::CONNECTIONS);
    println!("\n### {title}\n");
    let document = scene.room.path("network.json");
    write_document(&document, sizes.large)?;
    let bytes = std::fs::metadata(&document)?.len();
    let (mut ours, mut gits): (Figure, [Figure; 2]) = Default::default();
    let mut same = true;
    for round in 0..sizes.imports {
        let dir = scene.room.path(&format!("imported-{round}"));
        timed(&mut scene.brain(&scene.room.path(""), &["init", &dir.to_string_lossy()]))?;
        note("git brain import");
        let mut import = scene.brain(&dir, &["--json", "import", &document.to_string_lossy()]);
        ours.add(timed(&mut import)?);
        let stream = scene.room.path("stream");
        write_stream(&dir, &stream)?;
        let plain = scene.room.path("plain");
        for (figure, options) in gits.iter_mut().zip(GITS) {
            std::fs::remove_dir_all(&plain).or_else(|e| if plain.exists() { Err(e) } else { Ok(()) })?;
            timed(&mut scene.git(&scene.room.path(""), &["init", "-q", "--bare", &plain.to_string_lossy()]))?;
            note("git fast-import");
            let mut import = scene.git(&plain, options);
            import.args(["fast-import", "--quiet", "--depth=0"]);
            figure.add(timed(import.stdin(std::fs::File::open(&stream)?))?);
        }
        let tree = |dir, name| run(&mut scene.git(dir, &["rev-parse", name])).map(|(_, id)| id);
        same &= tree(&dir, "wake^{tree}")? == tree(&plain, "x^{tree}")?;
    }
    let same = if same { "equal" } else { "NOT equal" };
    println!("| | wall time | n |\n|---|---|---|");
    println!("| git brain import ({} MB of JSON) | {} | {} |", bytes / 1_000_000, ours.span(), sizes.imports);
    for (figure, name) in
        gits.iter().zip(["git fast-import --depth=0 of the same tree", "the same, pack.compression=3 as ours"])
    {
        println!("| {name} | {} | {} |", figure.span(), sizes.imports);
    }
    println!("\nimport / fast-import: {}. The trees are {same}.", ratio(&ours, &gits[0]));
    Ok(())
}

/// The single document.
fn write_document(path: &std::path::Path, neurons: usize) -> Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    write!(out, "{{\"neurons\": [")?;
    for i in 0..neurons {
        let neuron = scene::neuron(i, neurons)?;
        let connections: Vec<_> = neuron
            .connections
            .iter()
            .map(|c| serde_json::json!({"target": c.target, "weight": c.weight, "type": c.link}))
            .collect();
        let neuron = serde_json::json!({
            "id": neuron.id, "concept": neuron.concept, "type": neuron.kind, "salience": neuron.salience,
            "last_salience_update": neuron.last_salience_update, "created_at": neuron.created_at,
            "last_activated": neuron.last_activated, "activation_count": neuron.activation_count,
            "connections": connections,
        });
        write!(out, "{}\n{neuron}", if i == 0 { "" } else { "," })?;
    }
    Ok(write!(out, "\n], \"metadata\": {{}}}}\n")?)
}

/// The tree of wake as one commit of a fast-import stream.
fn write_stream(brain: &std::path::Path, stream: &std::path::Path) -> Result<()> {
    let store = Store::open(brain)?;
    let tree = store.tree_of(store.need_tip(store.wake())?)?;
    let mut out = BufWriter::new(std::fs::File::create(stream)?);
    write!(out, "commit refs/heads/x\ncommitter Bench <bench@example.invalid> 1 +0000\ndata 1\nx\n")?;
    for (path, file) in store.files(tree, "").context("the files of wake")? {
        let content = store.blob(file.blob)?;
        match file.is_executable() {
            false => write_files(&mut out, &[(path, content)])?,
            true => {
                write!(out, "M 100755 inline {path}\ndata {}\n", content.len())?;
                out.write_all(&content)?;
                out.write_all(b"\n")?;
            }
        }
    }
    Ok(out.flush()?)
}
