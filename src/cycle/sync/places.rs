//! Remotes on this machine: git runs the hooks of such a repository, as whoever syncs.
//!
//! A gate is one, and so is a trap: a folder that somebody else made can bring a bare repository along, and name it as its remote. So
//! what the configuration says of a place of this machine counts in a repository that became a brain here, by `init`, where the place lies
//! outside it; else once a person has trusted the place, or at once if the person names it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::cycle::{Cycle, CycleError};
use crate::model::ids::hex_hash;
use crate::model::shell_word;
use crate::store::Remote;
use crate::world::Trust;

/// The entry of the record of trust for a repository that became a brain here.
const MADE_HERE: &str = "made here";

/// A remote of the configuration that leads to places of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearRemote {
    /// As the record of trust calls it.
    pub path: String,
    /// What stands for its places.
    pub mark: String,
    /// The places.
    pub places: Vec<String>,
    /// Whether a person has trusted them.
    pub trusted: bool,
}

impl Cycle {
    /// The remotes that need trust.
    pub fn near_remotes(&self) -> Result<Vec<NearRemote>, CycleError> {
        let mut found = Vec::new();
        for remote in self.store.remotes()? {
            // One that git would run a program for is never asked, trusted or not.
            if let Ok(Some(near)) = self.near_remote(&remote) {
                found.push(near);
            }
        }
        Ok(found)
    }

    fn near_remote(&self, remote: &Remote) -> Result<Option<NearRemote>, CycleError> {
        let places = self.store.places(remote)?;
        if places.is_empty() {
            return Ok(None);
        }
        let trust = Trust::load(&self.shared.world, &self.store.private_dir())?;
        let path = format!("git config remote.{}", remote.name);
        let mark = hex_hash(places.join("\n").as_bytes(), 16);
        let ours = self.identity().is_some_and(|this| trust.covers(MADE_HERE, &this));
        let trusted = trust.covers(&path, &mark) || ours && !places.iter().any(|place| self.brings_along(place));
        Ok(Some(NearRemote { path, mark, places, trusted }))
    }

    /// Notes that this repository became a brain on this machine, at the word of whoever calls. Where no record can be kept, its remotes
    /// ask for trust.
    pub fn note_made_here(&self) {
        let Some(this) = self.identity().filter(|_| !self.shared.world.in_hook()) else { return };
        let noted = Trust::load(&self.shared.world, &self.store.private_dir()).and_then(|mut trust| {
            trust.trusted.insert(MADE_HERE.to_owned(), this);
            trust.save(&self.shared.world)
        });
        if let Err(error) = noted {
            tracing::info!("that this brain was made here is not noted: {error}");
        }
    }

    /// The folder itself, and no copy of it: its file system, its number there, and where that is known when it came to be.
    fn identity(&self) -> Option<String> {
        let of = std::fs::metadata(self.store.common_dir()).ok()?;
        let since = of.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
        Some(format!("{}-{}-{}", of.dev(), of.ino(), since.as_nanos()))
    }

    /// True for a place inside the repository or its work tree.
    fn brings_along(&self, place: &str) -> bool {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let place = whole(Path::new(place));
        let around = self.store.work_dir().into_iter().chain([self.store.common_dir().to_owned()]);
        around.into_iter().any(|folder| place.starts_with(whole(&folder)))
    }

    /// Refuses a remote whose hooks would run here and which nobody has trusted.
    pub(super) fn refuse_untrusted(&self, remote: &Remote) -> Result<(), CycleError> {
        let Some(near) = self.near_remote(remote)?.filter(|near| !near.trusted) else { return Ok(()) };
        let place = near.places.join(" and ");
        Err(CycleError::Refused {
            message: format!(
                "{} is {place}, on this machine: its hooks would run here, and only this repository's configuration says that it \
                 is your remote",
                remote.name
            ),
            hint: Some(format!(
                "if it is yours: `git brain trust` once, or name it: `git brain sync {}`",
                shell_word(&near.places[0])
            )),
        })
    }
}
