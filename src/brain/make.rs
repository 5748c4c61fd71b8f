//! Making a brain: laying out the bootstrap files, and the first runs.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Brain, BrainError, RunReport, World};
use crate::cycle::{RunBounds, bootstrap};
use crate::store::{self, Author, FirstCommit, TreeEdit};

/// What `init` is asked for.
#[derive(Clone, Debug)]
pub struct InitRequest {
    /// Where.
    pub dir: PathBuf,
    /// Into the repository that is there.
    pub in_repo: bool,
    /// How git shall call this program.
    pub program: String,
}

/// A brain that was made or adopted.
#[derive(Clone, Debug, Serialize)]
pub struct InitReport {
    /// Where.
    pub dir: PathBuf,
    /// The branch of consolidated memory.
    pub main: String,
    /// The branch of the waking brain.
    pub wake: String,
    /// Whether the branches were there already.
    pub adopted: bool,
    /// The first runs: the bootstrap and the answers to its introductions.
    pub first_runs: RunReport,
    /// Notes for the person, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Brain {
    /// Makes a brain and lets it bootstrap itself.
    pub fn init(request: &InitRequest, world: World) -> Result<(Self, InitReport), BrainError> {
        let files = bootstrap::tree(world.now()).into_iter().map(|(path, content)| edit(path, content)).collect();
        // Two brains that are made in one second are two brains, and cannot be merged by mistake.
        let mut trailers = vec![("Brain".to_owned(), format!("{:016x}", world.id_bits(&[b"brain"])))];
        if world.is_fixed() {
            trailers.push(("Clock".to_owned(), "fixed".to_owned()));
        }
        let first = FirstCommit {
            author: Author::User,
            at: world.commit_seconds(),
            subject: "init: a brain".to_owned(),
            body: "The core neurons and their loop, and six reflex agents.".to_owned(),
            trailers,
        };
        let make = if request.in_repo { store::create_in_repo } else { store::create };
        let made = make(&request.dir, files, &first, &request.program)?;
        let brain = Self::open(&request.dir, world, &[])?;
        brain.cycle.note_made_here();
        if made.adopted {
            brain.cycle.adopt()?;
        }
        // What waits for a person at the remote has perceived some of the queue, and is not here yet.
        let first_runs = match made.adopted && brain.cycle.store.has_remote()? {
            true => RunReport { wake: brain.at(None)?.to_string(), ..RunReport::default() },
            false => brain.run(&RunBounds::default(), &mut |_| {})?,
        };
        let mut notes = Vec::new();
        if request.in_repo
            && !made.adopted
            && let Some(note) = brain.unasked(made.unasked.as_deref())?
        {
            notes.push(note);
        }
        let report = InitReport {
            notes,
            dir: absolute(&request.dir),
            main: made.main.to_string(),
            wake: made.wake.to_string(),
            adopted: made.adopted,
            first_runs,
        };
        Ok((brain, report))
    }
}

impl Brain {
    /// The advice where a brain was made and the remote may have one already; `None`: it was asked, or there is none.
    fn unasked(&self, why: Option<&str>) -> Result<Option<String>, BrainError> {
        let store = &self.cycle.store;
        let remotes = store.remotes()?;
        let other = remotes.iter().find(|remote| remote.name != "origin");
        let (name, why) = match (why, other) {
            (Some(why), _) => ("origin", format!("origin could not be asked for a brain: {}", why.trim_end())),
            (None, Some(other)) if remotes.iter().all(|remote| remote.name != "origin") => {
                (other.name.as_str(), format!("only origin is asked for a brain, and not {}", other.name))
            }
            _ => return Ok(None),
        };
        let commands = store.take_commands(name).join(", ");
        Ok(Some(format!("{why}. If your team has one there, take that before this one is fed: {commands}")))
    }
}

/// Hooks are programs; everything else is plain.
fn edit(path: String, content: Vec<u8>) -> TreeEdit {
    let change = match path.starts_with("hooks/") {
        true => store::Change::WriteExecutable(content),
        false => store::Change::Write(content),
    };
    TreeEdit { path, change }
}

fn absolute(dir: &Path) -> PathBuf {
    std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned())
}
