//! Confinement of the programs that agents think with: what they may read, write, reach and use up, and that nothing of
//! them outlives them.
//!
//! The engine does not start such a program itself. It starts this program again, as `git-brain confine` (the supervisor),
//! with an environment that is cleared already. The supervisor makes a copy of itself, where the kernel allows it in namespaces of its
//! own: that one makes the program's world, takes its limits upon itself and becomes the program. The supervisor stays outside and watches: it
//! adopts whatever the program leaves behind, and kills all of it when the program ends, when it uses up too much, or when the other end of
//! its standard error is closed, which is how the engine says stop and also what the engine's own death looks like.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod family;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod world;

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    /// Its own folder, which goes away with it.
    pub folder: PathBuf,
    /// Files and folders that it may read, beside the system's.
    pub reads: Vec<PathBuf>,
    /// Files and folders that it may read and write.
    pub writes: Vec<PathBuf>,
    /// Files and folders that it does not see, wherever they lie.
    pub hidden: Vec<PathBuf>,
    /// True: it may open sockets.
    pub network: bool,
    /// Processor time of each process, seconds.
    pub cpu_seconds: u64,
    /// Memory of all its processes together, bytes.
    pub memory_bytes: u64,
    /// Time that it gets, milliseconds. The engine ends it then; the supervisor does where the engine is stopped itself, by Ctrl-Z.
    pub deadline_ms: u64,
    /// True: it runs in namespaces of its own, or not at all.
    pub namespaces: bool,
}

/// How far this machine can confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// True: programs have namespaces of users, processes, mounts, and, without `network`, of the network.
    pub namespaces: bool,
    /// The level of Landlock's interface; 0: the kernel has none.
    pub landlock: u32,
    /// True: programs make the system calls of a list, and no others.
    pub calls: bool,
}

/// The answer of this machine, which does not change while a process runs.
static OF_MACHINE: OnceLock<Confinement> = OnceLock::new();
/// The newest interface of Landlock that is used.
const LANDLOCK: u32 = 6;

impl Confinement {
    /// Asks the kernel, once.
    #[must_use]
    pub fn of_machine() -> Self {
        *OF_MACHINE.get_or_init(|| {
            #[cfg(target_os = "linux")]
            return Self { namespaces: probe().unwrap_or(false), landlock: linux::landlock_level(), calls: true };
            #[cfg(not(target_os = "linux"))]
            Self { namespaces: false, landlock: 0, calls: false }
        })
    }

    /// What it lacks, in a sentence; `None`: nothing.
    #[must_use]
    pub fn lacks(self) -> Option<String> {
        let lack = match (self.namespaces, self.landlock, self.calls) {
            (_, _, false) => "this system confines no programs: programs of agents can do all that you can",
            (true, LANDLOCK.., _) => return None,
            (true, 0, _) => {
                "this kernel has no Landlock: namespaces alone keep programs of agents from files and processes outside"
            }
            (true, ..) => {
                "this kernel's Landlock is older than 6: namespaces alone keep programs of agents from processes outside"
            }
            (false, 0, _) => {
                "this kernel gives no namespaces to this user and has no Landlock: programs of agents can read and write all files \
                 that you can, and signal your processes"
            }
            (false, 1..LANDLOCK, _) => {
                "this kernel gives no namespaces to this user, and its Landlock is older than 6: programs of agents see names and attributes \
                 of files outside, and can signal your processes"
            }
            (false, ..) => {
                "this kernel gives no namespaces to this user: programs of agents see names of processes, and names and attributes of files, \
                 outside of what they may read"
            }
        };
        Some(lack.to_owned())
    }
}

/// All that holds a program here, and what is missing.
impl std::fmt::Display for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let landlock = (self.landlock > 0).then(|| format!("Landlock {}", self.landlock));
        let namespaces = self.namespaces.then(|| "namespaces".to_owned());
        let calls = self.calls.then(|| "a list of system calls".to_owned());
        let all: Vec<String> = [namespaces, landlock, calls].into_iter().flatten().collect();
        if !all.is_empty() {
            write!(f, "programs of agents are confined by {}", all.join(", "))?;
        }
        match self.lacks() {
            Some(lack) if all.is_empty() => f.write_str(&lack),
            Some(lack) => write!(f, "; {lack}"),
            None => Ok(()),
        }
    }
}

/// Makes a program's world with nothing in it; false: the kernel, or who administers it, does not let this user.
#[cfg(target_os = "linux")]
fn probe() -> Result<bool, Error> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    let orders = Orders { folder, memory_bytes: 1 << 20, namespaces: true, ..Orders::default() };
    let mut supervisor = std::process::Command::new(myself()?);
    supervisor.args(["confine", "--probe", &serde_json::to_string(&orders)?]).env_clear();
    supervisor.stdin(std::process::Stdio::null());
    Ok(supervisor.output()?.status.success())
}

/// This program, whatever has become of its file. A program that only uses the library has nobody to confine others.
///
/// # Errors
/// This process is another program.
pub fn myself() -> Result<PathBuf, Error> {
    let path = std::env::current_exe()?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if !name.starts_with("git-brain") || name.starts_with("git_brain-") {
        return Err(Error::other(format!("{name} is not git-brain, and cannot confine programs")));
    }
    Ok(if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { path })
}

/// Carries orders out, as the supervisor; a `probe` starts no program. Returns the exit code of the process.
///
/// # Errors
/// The program could not be started as ordered; then nothing of it runs.
pub fn carry_out(orders: &str, probe: bool) -> Result<u8, Error> {
    let read: Orders = serde_json::from_str(orders).map_err(|e| Error::new(ErrorKind::InvalidInput, e))?;
    #[cfg(target_os = "linux")]
    return linux::supervise(&read, probe);
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::process::CommandExt;
        let _ = probe;
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

/// Says whether a file lies in one of the folders, or where systems keep programs, links resolved.
#[must_use]
pub fn lies_in(file: &Path, folders: &[PathBuf]) -> bool {
    let system = ["/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"].map(PathBuf::from);
    let Ok(file) = file.canonicalize() else { return false };
    folders.iter().chain(&system).filter_map(|folder| folder.canonicalize().ok()).any(|folder| file.starts_with(folder))
}

/// What a program needs to be able to read to run at all: itself, its folder with what is installed beside it, the folders of
/// `PATH`, and the files in `named`. A folder around `home`, or in or around something `private`, is not among them.
#[must_use]
pub fn needs(
    program: &Path,
    named: &[String],
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
    let named = named.iter().map(PathBuf::from).filter(|file| file.is_absolute() && file.is_file());
    found.extend(named);
    found.sort();
    found.dedup();
    found
}
