//! Settings that people keep in the repository's own git config: `git config brain.activation.max-depth 3`.

use super::{Store, StoreError};
use crate::model::settings::Override;

impl Store {
    /// Every `brain.<section>.<key>` of the local configuration, in the order of the file. A clone, a global file and the
    /// tree have no say.
    pub fn local_settings(&self) -> Result<Vec<Override>, StoreError> {
        let wrap = |e| StoreError::git("local configuration", e);
        let repository = &self.repository;
        let config = repository.config().map_err(wrap)?;
        let local = match config.open_level(git2::ConfigLevel::Local) {
            Ok(local) => local,
            Err(e) if e.code() == git2::ErrorCode::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(wrap(e)),
        };
        let mut found = Vec::new();
        let entries = local.entries(Some("^brain\\..*\\..*")).map_err(wrap)?;
        entries
            .for_each(|entry| {
                // `decay` without `=` is true, as git reads it.
                let value = if entry.has_value() { entry.value() } else { Ok("true") };
                if let (Ok(name), Ok(value)) = (entry.name(), value) {
                    let key = name.strip_prefix("brain.").unwrap_or(name).to_owned();
                    let place = format!("git config {name}");
                    found.push(Override { place, key, value: value.to_owned() });
                }
            })
            .map_err(wrap)?;
        Ok(found)
    }
}
