//! Moving out: memories as pages, and neurons as they are, in files of other programs. Place in the flow: a commit → **out** → a file or folder.
//!
//! Owns which memories stand on one page: those of a page that came in, those of a session, and those of a day. What is archived stays.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::trade::ExportReport;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::snapshot::snapshot;
use crate::limits;
use crate::model::ids::{NeuronId, StimulusId, hash64};
use crate::model::{Kind, Link, Neuron, Stamp, Stimulus, layout, plural};
use crate::moving::{
    self, Assembly, Page, Remembered, Writer, Written, graph::Shape, markdown, place::Places, remembered, write,
};
use crate::store::{CommitId, StoreError, TreeId};
use crate::world::{NewFile, NewFolder, Spool, WorldError};

/// What `export` is asked for.
#[derive(Clone, Debug, Default)]
pub struct ExportRequest {
    /// The format; by default the brain's own document.
    pub format: Option<String>,
    /// The commit; by default wake's tip.
    pub at: Option<String>,
    /// The file or folder; by default what is written goes to the output.
    pub to: Option<PathBuf>,
}

/// What was exported.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The format.
    pub format: String,
    /// The commit.
    pub commit: String,
    /// How many neurons or memories were written.
    pub written: usize,
    /// On how many pages memories stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Notes for the person, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A memory that is on its way out.
struct Row {
    page: usize,
    /// Its place on the page, or 0.
    order: u32,
    at: Stamp,
    id: NeuronId,
    of: Option<Remembered>,
}

/// Memories by their pages.
struct Shelf {
    names: Vec<String>,
    rows: Vec<Row>,
}

impl Brain {
    /// Writes the brain in a format, to a file or folder or to `out`.
    ///
    /// # Errors
    /// A format that is not known, one that needs a folder and gets none, and what cannot be written. Nothing half-written stays.
    pub fn export_to(
        &self,
        request: &ExportRequest,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Exported, BrainError> {
        let name = request.format.as_deref().unwrap_or("network");
        let format = moving::named(name, true).map_err(BrainError::usage)?;
        let writer = format.writer.expect("invariant: only formats that are written have such a name");
        let commit = self.at(request.at.as_deref())?;
        if writer == Writer::Notes {
            let Some(to) = &request.to else {
                return Err(BrainError::Usage {
                    message: format!("{} is a folder, and cannot go to the output", format.title),
                    hint: Some(format!("git brain export --format {name} --to FOLDER")),
                });
            };
            let exported = self.write_notes(commit, name, to, progress)?;
            return Ok(Exported { notes: self.of_untrusted_origins(commit)?, ..exported });
        }
        let Some(to) = &request.to else { return self.write_one(commit, name, writer, out, progress) };
        let mut file = NewFile::at(to)?;
        let mut exported = self.write_one(commit, name, writer, &mut file, progress)?;
        file.finish()?;
        exported.to = Some(to.display().to_string());
        Ok(exported)
    }

    fn write_one(
        &self,
        commit: CommitId,
        format: &str,
        writer: Writer,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Exported, BrainError> {
        let mut exported = Exported {
            format: format.to_owned(),
            commit: commit.to_string(),
            written: 0,
            pages: None,
            to: None,
            notes: Vec::new(),
        };
        match writer {
            Writer::Network => {
                let ExportReport { neurons, .. } = self.export(Some(&commit.to_string()), out)?;
                exported.written = neurons;
            }
            Writer::Neurons(shape) => exported.written = self.write_neurons(commit, shape, out)?,
            Writer::Entities => {
                let (pages, written) = self.write_entities(commit, out, progress)?;
                (exported.pages, exported.written) = (Some(pages), written);
                exported.notes = self.of_untrusted_origins(commit)?;
            }
            Writer::Notes => unreachable!("invariant: notes go into a folder"),
        }
        out.flush().map_err(unwritten)?;
        Ok(exported)
    }

    /// Says of formats without a place for origins how many memories of origins that are not trusted are in them.
    fn of_untrusted_origins(&self, commit: CommitId) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(commit)?;
        let (network, snapshot) =
            (TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons), snapshot(store, tree)?);
        let (graph, origins) = (snapshot.graph(), &self.cycle.shared.policy.settings.origins);
        let (mut count, mut classes) = (0, BTreeSet::new());
        for node in graph.nodes().filter(|node| graph.is_foreign(*node) && !graph.is_archived(*node)) {
            let Ok(id) = NeuronId::parse(graph.id(node)) else { continue };
            if let Some(neuron) =
                network.shared(&id)?.filter(|one| one.kind == Kind::Episodic && origins.is_tainted(&one.origin))
            {
                count += 1;
                classes.extend(neuron.origin.classes().map(str::to_owned));
            }
        }
        let classes = classes.into_iter().collect::<Vec<_>>().join(", ");
        Ok((count > 0)
            .then(|| {
                format!(
                    "{} of origins that are not trusted ({classes}): the format has no place for that; an import elsewhere takes `--origin` for it",
                    plural(count, "memory is", "memories are")
                )
            })
            .into_iter()
            .collect())
    }

    fn write_neurons(&self, commit: CommitId, shape: Shape, out: &mut dyn Write) -> Result<usize, BrainError> {
        let mut count = 0;
        out.write_all(shape.begin().as_bytes()).map_err(unwritten)?;
        self.cycle.each_neuron(self.cycle.store.tree_of(commit)?, &mut |neuron| {
            count += 1;
            out.write_all(shape.neuron(&neuron, count - 1).as_bytes()).map_err(unwritten)
        })?;
        out.write_all(shape.end().as_bytes()).map_err(unwritten)?;
        Ok(count)
    }

    /// Entities first, then relations, as the server writes them.
    fn write_entities(
        &self,
        commit: CommitId,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(usize, usize), BrainError> {
        let tree = self.cycle.store.tree_of(commit)?;
        let shelf = self.shelf(tree, false)?;
        let mut spool = Spool::within(&self.cycle.store.private_dir());
        let mut relations = Vec::new();
        let mut pages = 0;
        let mut taken = HashSet::new();
        self.each_page(tree, &shelf, progress, &mut |page, _| {
            // Two notes of one title keep their paths.
            let short = write::entity_name(&page);
            let name = if taken.insert(hash64(short.as_bytes())) { short } else { &page.name };
            let (entity, lines) = write::entity(&page, name);
            if let Some(entity) = entity {
                pages += 1;
                writeln!(out, "{entity}").map_err(unwritten)?;
            }
            for line in lines {
                relations.push(spool.add(&line)?);
            }
            Ok(())
        })?;
        for relation in relations {
            writeln!(out, "{}", spool.text(relation)?).map_err(unwritten)?;
        }
        Ok((pages, shelf.rows.len()))
    }

    fn write_notes(
        &self,
        commit: CommitId,
        format: &str,
        to: &Path,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Exported, BrainError> {
        let folder = NewFolder::at(to).map_err(|error| match error {
            WorldError::Write { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                BrainError::Usage {
                    message: format!("{} is there already, and not empty", to.display()),
                    hint: Some("name a folder that is not there yet".to_owned()),
                }
            }
            other => other.into(),
        })?;
        let tree = self.cycle.store.tree_of(commit)?;
        let shelf = self.shelf(tree, false)?;
        let mut places = Places::default();
        self.each_page(tree, &shelf, progress, &mut |page, names| {
            let path = places.note(&page.name);
            Ok(folder.write(&path, &markdown::exported(&page, &path, names))?)
        })?;
        folder.finish()?;
        Ok(Exported {
            notes: Vec::new(),
            format: format.to_owned(),
            commit: commit.to_string(),
            written: shelf.rows.len(),
            pages: Some(shelf.names.len()),
            to: Some(to.display().to_string()),
        })
    }

    /// Pages as `export` would write them now, and would have written them before memories were archived or came back from its pages. Costs a look at all
    /// memories.
    pub(super) fn written(&self) -> Result<Written, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let mut written = Written::default();
        let mut seen = BTreeSet::new();
        for (with_archived, with_pages) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut shelf = self.shelf(tree, with_archived)?;
            shelf.rows.retain(|row| with_pages || row.of.is_none());
            let rows = shelf.rows.iter().map(|row| hash64(row.id.as_str().as_bytes())).fold(0, u64::wrapping_add);
            if seen.insert(rows) {
                let mut places = Places::default();
                self.each_page(tree, &shelf, &mut |_, _| {}, &mut |page, names| {
                    written.add(&page, &places.note(&page.name), names);
                    Ok(())
                })?;
            }
        }
        Ok(written)
    }

    /// All memories, by pages.
    fn shelf(&self, tree: TreeId, with_archived: bool) -> Result<Shelf, BrainError> {
        let mut shelf = Shelf { names: Vec::new(), rows: Vec::new() };
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut wanted: HashMap<u64, usize> = HashMap::new();
        self.cycle.each_neuron(tree, &mut |neuron| {
            if neuron.kind != Kind::Episodic || neuron.is_archived() && !with_archived {
                return Ok(());
            }
            let of = remembered(neuron.source.as_deref());
            let name = page_name(&neuron, of.as_ref());
            let page = *places.entry(name.clone()).or_insert_with(|| {
                shelf.names.push(name);
                shelf.names.len() - 1
            });
            if let Some(stimulus) = &neuron.stimulus {
                wanted.insert(key(stimulus), shelf.rows.len());
            }
            shelf.rows.push(Row { page, order: 0, at: neuron.created_at, id: neuron.id, of });
            Ok(())
        })?;
        let store = &self.cycle.store;
        let mut failed = None;
        store.each_file(tree, layout::STIMULI, &mut |path, file| {
            let layout::Place::Stimulus(id) = layout::Place::of(path) else { return Ok(()) };
            let Some(row) = wanted.get(&key(&id)) else { return Ok(()) };
            match Stimulus::decode(&store.read_file(file, path)?, path) {
                Ok(stimulus) => shelf.rows[*row].order = stimulus.order,
                Err(error) => failed = Some(error),
            }
            Ok::<(), StoreError>(())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        // By name; on a page, the pieces of it come first, as they came in.
        let names = &shelf.names;
        shelf.rows.sort_by(|a, b| {
            let place = |row: &Row| if row.of.is_some() { (0, row.order, row.at) } else { (1, 0, row.at) };
            (&names[a.page], place(a), a.order, &a.id).cmp(&(&names[b.page], place(b), b.order, &b.id))
        });
        Ok(shelf)
    }

    /// Hands over each page, and the names that its memories are connected with where no page that came in says them.
    #[allow(clippy::type_complexity, reason = "a callback with a page and its names")]
    fn each_page(
        &self,
        tree: TreeId,
        shelf: &Shelf,
        progress: &mut dyn FnMut(usize, usize),
        see: &mut dyn FnMut(Page, &[String]) -> Result<(), BrainError>,
    ) -> Result<(), BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut done = 0;
        for rows in shelf.rows.chunk_by(|a, b| a.page == b.page) {
            let mut assembly = Assembly::default();
            let mut weights: BTreeMap<NeuronId, u32> = BTreeMap::new();
            for row in rows {
                let Some(neuron) = network.neuron(&row.id)? else { continue };
                match &row.of {
                    Some(of) => assembly.add(of, &neuron.concept, row.at),
                    None => {
                        assembly.add_plain(&neuron.concept, row.at);
                        for connection in neuron.connections.iter().filter(|c| c.link == Link::FeedsInto) {
                            *weights.entry(connection.target.clone()).or_default() += u32::from(connection.weight);
                        }
                    }
                }
            }
            done += rows.len();
            see(assembly.finish(shelf.names[rows[0].page].clone()), &names_of(&network, weights)?)?;
            progress(done, shelf.rows.len());
        }
        Ok(())
    }
}

/// The names among neurons, those of most weight first.
fn names_of(network: &TreeNetwork<'_>, weights: BTreeMap<NeuronId, u32>) -> Result<Vec<String>, BrainError> {
    let mut weights: Vec<(NeuronId, u32)> = weights.into_iter().collect();
    weights.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    let mut names = Vec::new();
    for (id, _) in weights {
        if names.len() == limits::MOVED_NAMES {
            break;
        }
        let Some(neuron) = network.neuron(&id)? else { continue };
        let is_plain = !neuron.concept.contains(['[', ']', '|', '#', '^', '"', '\\']) && !neuron.concept.contains('\n');
        if neuron.kind == Kind::Semantic && !neuron.is_archived() && is_plain {
            names.push(neuron.concept);
        }
    }
    Ok(names)
}

/// The page of a memory.
fn page_name(neuron: &Neuron, of: Option<&Remembered>) -> String {
    match (of, &neuron.session) {
        (Some(of), _) => of.name.clone(),
        (None, Some(session)) => session.strip_suffix(".md").unwrap_or(session).to_owned(),
        (None, None) => format!("Days/{}", &neuron.created_at.to_string()[..10]),
    }
}

fn key(id: &StimulusId) -> u64 {
    hash64(id.as_str().as_bytes())
}

fn unwritten(source: std::io::Error) -> BrainError {
    WorldError::Write { path: "the export".to_owned(), source }.into()
}
