//! Confinement of the programs that agents think with: what they may read, write, reach and use up, and that nothing of
//! them outlives them.
//!
//! The engine does not start such a program itself. It starts this program again, as `git-brain confine` (the supervisor),
//! with an environment that is cleared already. The supervisor starts itself once more, inside: that one takes its limits
//! upon itself and becomes the program. The supervisor stays outside and watches: it adopts whatever the program leaves
//! behind, and kills all of it when the program ends, when there are too many, or when nobody reads its standard error any
//! more, which is how the engine says stop and also what the engine's own death looks like.

#[cfg(target_os = "linux")]
mod linux;

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Exit code of a supervisor whose program could not be started.
pub const CANNOT_START: u8 = 126;
/// What the supervisor's own words begin with.
pub const VOICE: &str = "git-brain confine: ";

/// What a program may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The program, with its whole path.
    pub program: PathBuf,
    /// Its arguments, its own name first.
    pub argv: Vec<String>,
    /// Files and folders that it may read, beside the system's.
    pub reads: Vec<PathBuf>,
    /// Files and folders that it may read and write.
    pub writes: Vec<PathBuf>,
    /// True: it may open sockets.
    pub network: bool,
    /// Processor time of each process, seconds.
    pub cpu_seconds: u64,
    /// Memory of each process, bytes.
    pub memory_bytes: u64,
}

/// How far this machine can confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// The level of Landlock's interface; 0: the kernel has none.
    pub landlock: u32,
}

impl Confinement {
    /// Asks the kernel.
    #[must_use]
    pub fn of_machine() -> Self {
        #[cfg(target_os = "linux")]
        return Self { landlock: linux::landlock_level() };
        #[cfg(not(target_os = "linux"))]
        Self { landlock: 0 }
    }

    /// What it lacks, in a sentence; `None`: nothing.
    #[must_use]
    pub fn lacks(self) -> Option<String> {
        match self.landlock {
            0 => Some("this kernel has no Landlock: programs of agents can read and write all that you can".to_owned()),
            1..=5 => Some(format!(
                "this kernel has Landlock {} of 6: programs of agents can signal processes outside",
                self.landlock
            )),
            _ => None,
        }
    }
}

/// Carries orders out, as the supervisor or, `inside`, as what becomes the program. Returns the exit code of the process.
///
/// # Errors
/// The program could not be started as ordered; then nothing of it runs.
pub fn carry_out(orders: &str, inside: bool) -> Result<u8, Error> {
    let read: Orders = serde_json::from_str(orders).map_err(|e| Error::new(ErrorKind::InvalidInput, e))?;
    #[cfg(target_os = "linux")]
    return if inside { Err(linux::become_program(&read)) } else { linux::supervise(orders) };
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::process::CommandExt;
        let _ = inside;
        let name = read.argv.first().cloned().unwrap_or_default();
        Err(std::process::Command::new(&read.program).arg0(name).args(read.argv.iter().skip(1)).exec())
    }
}

/// Where a program lies: as it is named if that has a slash, else in the first folder of `path` that has it.
///
/// # Errors
/// It is nowhere, or no file that may be run.
pub fn locate(program: &str, path: Option<&std::ffi::OsStr>) -> Result<PathBuf, Error> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |file: &Path| {
        let found = std::fs::metadata(file)?;
        match found.is_file() && found.permissions().mode() & 0o111 != 0 {
            true => Ok(file.to_owned()),
            false => Err(Error::from(ErrorKind::PermissionDenied)),
        }
    };
    if program.contains('/') {
        return runs(Path::new(program));
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let found = folders.filter(|folder| folder.is_absolute()).find_map(|folder| runs(&folder.join(program)).ok());
    found.ok_or_else(|| Error::from(ErrorKind::NotFound))
}

/// What a program needs to be able to read to run at all: itself, its folder with what is installed beside it, the folders of
/// `PATH`, and files that its arguments name. A folder around `home`, or in or around something `private`, is not among them.
#[must_use]
pub fn needs(
    program: &Path,
    argv: &[String],
    path: Option<&std::ffi::OsStr>,
    private: &[PathBuf],
    home: Option<&Path>,
) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let private: Vec<PathBuf> = private.iter().filter_map(|path| real(path)).collect();
    let home = home.and_then(real);
    let open = |folder: &PathBuf| {
        let near = |secret: &PathBuf| secret.starts_with(folder) || folder.starts_with(secret);
        let around_home = home.as_ref().is_some_and(|home| home.starts_with(folder));
        !around_home && !private.iter().any(near) && folder.parent().is_some()
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for file in [Some(program.to_owned()), real(program)].into_iter().flatten() {
        let folder = file.parent().map(Path::to_owned);
        // What is installed in PREFIX/bin has its libraries in PREFIX/lib.
        let beside = folder.as_deref().filter(|f| f.ends_with("bin")).and_then(Path::parent).map(|p| p.join("lib"));
        found.extend([folder, beside].into_iter().flatten().filter_map(|f| real(&f)).filter(open));
        found.push(file);
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten().filter(|folder| folder.is_absolute());
    found.extend(folders.filter_map(|folder| real(&folder)).filter(open));
    let named = argv.iter().skip(1).map(PathBuf::from).filter(|file| file.is_absolute() && file.is_file());
    found.extend(named);
    found.sort();
    found.dedup();
    found
}
