//! Remotes on this machine: git runs the hooks of such a repository, as whoever syncs.
//!
//! A gate is one, and so is a trap: a folder that somebody else made can bring a bare repository along, and name it as its remote. So
//! what the configuration says of a place of this machine counts once a person has trusted it; a place that the person names counts at once.

use crate::cycle::{Cycle, CycleError};
use crate::model::ids::hex_hash;
use crate::store::Remote;
use crate::world::Trust;

/// A remote of the configuration that leads to places of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearRemote {
    /// As the record of trust calls it.
    pub path: String,
    /// What stands for its places.
    pub mark: String,
    /// The places.
    pub places: Vec<String>,
    /// True if a person has trusted them.
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
        let trusted = trust.covers(&path, &mark);
        Ok(Some(NearRemote { path, mark, places, trusted }))
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
                near.places[0]
            )),
        })
    }
}
