//! The world outside the process: clock, randomness, environment, files that people name. Real ones, or fixed ones for
//! tests and replays.
//!
//! Everything that is not git and not a child process comes in here, so that everything else is a function of its input.

#![allow(clippy::disallowed_methods, reason = "the boundary to clock, environment and files")]

mod chunks;
mod environment;
mod files;
mod hosts;
mod keys;
mod moved;
pub mod progress;
mod settings;
mod spool;
mod subjects;
mod trust;

pub use chunks::{Chunks, NotText};
pub use environment::{COMPLETE, VARIABLES, Variable, asking_shell, environment_table};
pub use files::{
    FilePart, Named, files_below, matching, named, open_input, read_bounded, read_part, read_stdin_bounded, true_path,
};
pub use hosts::is_own_host;
pub use keys::{KeyError, MemberKey, is_signed};
pub use moved::{NewFile, NewFolder, folders_in, is_once, modified, size};
pub use settings::{
    SettingsFile, codex_folder, config_folder, is_program, read_settings, remove_settings, true_command, write_settings,
};
pub use spool::{Spool, Spooled};
pub use subjects::{SubjectKeyError, SubjectKeys, random_id};
pub use trust::{Trust, TrustError};

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::ids::hash_fields;
use crate::model::settings::Override;
use crate::model::{Stamp, ids};

/// Why the world could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A variable with a value that is no use.
    #[error("{name}={value:?}: {message}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is wrong.
        message: String,
    },
    /// A file that could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file beyond its bound.
    #[error("{path} has more than {max} bytes")]
    Large {
        /// Which.
        path: String,
        /// The bound.
        max: usize,
    },
    /// What would be waited for, or never end: a device, a socket, a pipe that has a name.
    #[error("{path} is no regular file")]
    Irregular {
        /// Which.
        path: String,
    },
    /// A settings file that a link leads away from.
    #[error("{path} leads out of its folder, to {to}")]
    Outside {
        /// Which.
        path: String,
        /// Where.
        to: String,
    },
    /// A file that could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// No randomness for a secret.
    #[error("the system gives no random bits: {message}")]
    Random {
        /// Why.
        message: String,
    },
}

/// Clock, randomness and environment of one command.
#[derive(Clone, Debug, Default)]
pub struct World {
    fixed_now: Option<Stamp>,
    seed: Option<String>,
    state_dir: Option<PathBuf>,
}

impl World {
    /// The real world, or the fixed one that `BRAIN_NOW` and `BRAIN_SEED` ask for.
    pub fn from_environment() -> Result<Self, WorldError> {
        let fixed_now = match environment::text("BRAIN_NOW") {
            None => None,
            Some(value) => Some(value.parse::<Stamp>().map_err(|e| WorldError::Variable {
                name: "BRAIN_NOW",
                value: value.clone(),
                message: e.to_string(),
            })?),
        };
        Ok(Self { fixed_now, seed: environment::text("BRAIN_SEED"), state_dir: None })
    }

    /// A fixed world, for tests and demonstrations.
    pub fn fixed(now: Stamp, seed: &str) -> Self {
        Self { fixed_now: Some(now), seed: Some(seed.to_owned()), state_dir: None }
    }

    /// The same with trust recorded elsewhere: for tests in one process, which share an environment.
    #[must_use]
    pub fn with_state_dir(self, folder: PathBuf) -> Self {
        Self { state_dir: Some(folder), ..self }
    }

    /// Now, whole seconds.
    pub fn now(&self) -> Stamp {
        Stamp::from_unix(self.now_ms().div_euclid(1000))
    }

    /// Now, milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        match self.fixed_now {
            Some(now) => now.unix().saturating_mul(1000),
            None => real_ms(),
        }
    }

    /// The last second that a commit or a run from elsewhere may be dated.
    pub fn latest_seconds(&self) -> i64 {
        self.commit_seconds() + crate::limits::FUTURE_SECONDS
    }

    /// The real clock, seconds since the epoch, whatever `BRAIN_NOW` says: commits carry real dates.
    pub fn commit_seconds(&self) -> i64 {
        match self.fixed_now {
            Some(now) => now.unix(),
            None => real_ms().div_euclid(1000),
        }
    }

    /// Whether clock or ids are fixed: commits made so are marked, and other machines refuse them.
    pub fn is_fixed(&self) -> bool {
        self.fixed_now.is_some() || self.seed.is_some()
    }

    /// Whether ids are fixed by a seed.
    pub fn has_seed(&self) -> bool {
        self.seed.is_some()
    }

    /// 64 bits for an id: random, or a hash of the seed and `fields` where `BRAIN_SEED` fixes ids.
    pub fn id_bits(&self, fields: &[&[u8]]) -> u64 {
        match &self.seed {
            Some(seed) => {
                let mut all: Vec<&[u8]> = vec![seed.as_bytes()];
                all.extend(fields);
                hash_fields(&all)
            }
            None => random_bits(),
        }
    }

    /// Settings given as `BRAIN_<SECTION>_<KEY>`.
    pub fn overrides(&self) -> Vec<Override> {
        environment::overrides()
    }

    /// The key that a model's `key_env` names, if it is set.
    pub fn key(&self, variable: &str) -> Option<String> {
        environment::text(variable)
    }

    /// What is done with exchanges with models: `record:FILE` or `replay:FILE`.
    pub fn cassette(&self) -> Option<String> {
        environment::text("BRAIN_CASSETTE")
    }

    /// The token that a server takes, if it was given one.
    pub fn token(&self) -> Option<String> {
        environment::text("BRAIN_TOKEN")
    }

    /// The secret by which forges sign what they send to the webhook; absent: nothing is taken from them.
    pub fn webhook_secret(&self) -> Option<String> {
        environment::text("BRAIN_WEBHOOK_SECRET").filter(|secret| !secret.is_empty())
    }

    /// A new secret that nobody can guess, 32 hexadecimal digits; random whatever `BRAIN_SEED` says.
    ///
    /// # Errors
    /// The system gives no random bits.
    pub fn secret(&self) -> Result<String, WorldError> {
        let mut bits = [0_u8; 16];
        getrandom::fill(&mut bits).map_err(|e| WorldError::Random { message: e.to_string() })?;
        Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Thirty-two bytes that nobody can guess; random whatever `BRAIN_SEED` says.
    ///
    /// # Errors
    /// The system gives no random bits.
    pub fn nonce(&self) -> Result<[u8; 32], WorldError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|e| WorldError::Random { message: e.to_string() })?;
        Ok(bytes)
    }

    /// Where trust is recorded, outside any repository: `$XDG_STATE_HOME/git-brain` or `~/.local/state/git-brain`.
    pub fn state_dir(&self) -> Option<PathBuf> {
        if let Some(folder) = &self.state_dir {
            return Some(folder.clone());
        }
        let base = match environment::text("XDG_STATE_HOME").filter(|p| p.starts_with('/')) {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(environment::text("HOME")?).join(".local/state"),
        };
        Some(base.join("git-brain"))
    }

    /// The home of who runs this.
    pub fn home(&self) -> Option<PathBuf> {
        environment::text("HOME").filter(|path| path.starts_with('/')).map(PathBuf::from)
    }

    /// The machine's load of the last minute per processor, where the system says it; none under a fixed clock.
    pub fn load_per_processor(&self) -> Option<f64> {
        let text = self.fixed_now.is_none().then(|| std::fs::read_to_string("/proc/loadavg").ok())??;
        let load: f64 = text.split_whitespace().next()?.parse().ok()?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Some(load / processors as f64)
    }

    /// True inside a hook that this program was called from: doorbells do not ring doorbells.
    pub fn in_hook(&self) -> bool {
        environment::text("BRAIN_IN_HOOK").is_some()
    }
}

fn real_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_millis() as i64,
        Err(before) => -(before.duration().as_millis() as i64),
    }
}

fn random_bits() -> u64 {
    let mut bytes = [0_u8; 8];
    if getrandom::fill(&mut bytes).is_err() {
        // Without a random source, time and process still differ between any two runs on one machine.
        let text = format!("{}-{}-{:?}", real_ms(), std::process::id(), std::time::Instant::now());
        return ids::hash64(text.as_bytes());
    }
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_world_repeats_itself_and_the_real_one_does_not() {
        let now: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let world = World::fixed(now, "s");
        assert_eq!((world.now(), world.now_ms()), (now, 1_769_437_920_000));
        assert_eq!(world.id_bits(&[b"a"]), world.id_bits(&[b"a"]));
        assert_ne!(world.id_bits(&[b"a"]), world.id_bits(&[b"b"]));
        let real = World::default();
        assert_ne!(real.id_bits(&[b"a"]), real.id_bits(&[b"a"]));
    }
}
