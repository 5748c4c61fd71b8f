//! Confinement on Linux: the supervisor, the first process of a namespace, and what becomes the program.

use std::io::{Error, ErrorKind, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, pidfd_open, set_child_subreaper,
    set_parent_process_death_signal, setrlimit, setsid, waitpid,
};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities};

use super::{CANNOT_START, Orders, VOICE, calls, family, system, world};
use crate::limits;

/// The interface of Landlock that is used: scopes of signals and abstract sockets came with it.
const LEVEL: ABI = ABI::V6;

/// The supervisor: starts the program, watches it, and ends all that is left of it. A `probe` makes the program's world and starts
/// nothing in it.
pub fn supervise(orders: &Orders, probe: bool) -> Result<u8, Error> {
    family::pass_on_nothing()?;
    // Nothing could be found that gets away.
    std::fs::read("/proc/self/stat")?;
    set_child_subreaper(Some(getpid()))?;
    let user = world::whoever();
    let (mut told, telling) = std::io::pipe()?;
    let (held, holding) = std::io::pipe()?;
    let namespaces = if orders.namespaces { world::namespaces(orders.network) } else { 0 };
    let Some(first) = family::start(namespaces)? else {
        drop((told, holding));
        die_with(&held)?;
        if !orders.namespaces {
            return Err(become_program(orders));
        }
        world::enter(orders, user)?;
        return if probe { Ok(0) } else { first_process(orders, telling) };
    };
    drop((telling, held));
    let stopped = watch(first, orders)?;
    if stopped.is_some() {
        // It may be about to start what replaces it.
        let _ = kill_process(first, Signal::KILL);
    }
    let ended = waitpid(Some(first), WaitOptions::empty())?.map(|(_, status)| status.as_raw());
    family::end_all();
    // Whoever made the folder may be dead.
    let _ = std::fs::remove_dir_all(&orders.folder);
    if let Some(why) = stopped {
        eprintln!("{VOICE}{why}");
        return Ok(137);
    }
    let mut raw = [0; 4];
    let ended = match told.read_exact(&mut raw) {
        Ok(()) => Some(i32::from_ne_bytes(raw)),
        Err(_) => ended,
    };
    Ok(ended.map_or(CANNOT_START, |raw| relayed(ExitStatus::from_raw(raw))))
}

/// Sees to it that this process dies with the supervisor, which holds the other end of a pipe.
fn die_with(held: &PipeReader) -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut other = [PollFd::new(held, PollFlags::IN)];
    match poll(&mut other, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
        0 => Ok(()),
        // It was dead before that was said.
        _ => Err(Error::from(ErrorKind::BrokenPipe)),
    }
}

/// The first process of a namespace: starts the program, waits for all that ends, and tells how the program did. All the
/// others die with it.
fn first_process(orders: &Orders, mut telling: std::io::PipeWriter) -> Result<u8, Error> {
    setsid()?;
    let Some(program) = family::start(0)? else {
        return Err(become_program(orders));
    };
    loop {
        match waitpid(None, WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                telling.write_all(&status.as_raw().to_ne_bytes())?;
                return Ok(0);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Waits for the program's end; `Some`: why it is to be ended.
fn watch(first: Pid, orders: &Orders) -> Result<Option<String>, Error> {
    let program = pidfd_open(first, PidfdFlags::empty())?;
    let stderr = std::io::stderr();
    let pause = Timespec { tv_sec: 0, tv_nsec: limits::CHILD_LOOK_MS * 1_000_000 };
    let mut folder = Folder { orders, first, room: 0, due: Instant::now() };
    // The engine is first, unless it does not run.
    let deadline =
        Instant::now().checked_add(Duration::from_millis(orders.deadline_ms.saturating_add(limits::CHILD_KILL_MS)));
    loop {
        let mut watched =
            [PollFd::new(&program, PollFlags::IN), PollFd::from_borrowed_fd(stderr.as_fd(), PollFlags::empty())];
        match poll(&mut watched, Some(&pause)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(e) => return Err(e.into()),
        }
        if watched[0].revents().contains(PollFlags::IN) {
            return Ok(None);
        }
        if watched[1].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            return Ok(Some("cancelled: the engine listens no more".to_owned()));
        }
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Ok(Some(format!("it went on beyond its {} ms and was killed", orders.deadline_ms)));
        }
        let mut processes = family::descendants();
        // The first of a namespace is ours.
        processes.retain(|pid| !orders.namespaces || *pid != first);
        if processes.len() > limits::CHILD_PROCESSES {
            return Ok(Some("it started too many processes and was killed".to_owned()));
        }
        let room = folder.room();
        if room > limits::CHILD_FOLDER_BYTES {
            return Ok(Some(format!(
                "its folder has more than {} MiB, and it was killed",
                limits::CHILD_FOLDER_BYTES >> 20
            )));
        }
        let in_memory = if orders.namespaces { room } else { 0 };
        if in_memory + family::memory(&processes, orders.memory_bytes.saturating_sub(in_memory)) > orders.memory_bytes {
            return Ok(Some(format!(
                "its processes took more than {} MiB of memory together and were killed",
                orders.memory_bytes >> 20
            )));
        }
    }
}

/// The program's own folder, as it fills up.
struct Folder<'o> {
    orders: &'o Orders,
    first: Pid,
    room: u64,
    due: Instant,
}

impl Folder<'_> {
    /// The room that it takes, bytes. On a disk it is counted file by file, a tenth of the time at most.
    fn room(&mut self) -> u64 {
        if self.orders.namespaces {
            let inside = Path::new("/proc").join(self.first.to_string()).join("root");
            let folder = inside.join(self.orders.folder.strip_prefix("/").unwrap_or(&self.orders.folder));
            // Until its own is in place, which takes a while on a busy machine, the folder there is that of this machine.
            let device = |path: &Path| rustix::fs::stat(path).map(|about| about.st_dev).ok();
            let own = device(&folder);
            if own.is_none() || [Path::new("/"), &self.orders.folder].iter().any(|path| device(path) == own) {
                return 0;
            }
            let used = rustix::fs::statvfs(&folder).map(|about| (about.f_blocks - about.f_bfree) * about.f_frsize);
            return used.unwrap_or(0);
        }
        let began = Instant::now();
        if began >= self.due {
            self.room = family::room(&self.orders.folder, limits::CHILD_FOLDER_BYTES);
            self.due = Instant::now() + 9 * began.elapsed();
        }
        self.room
    }
}

/// The exit code of the program; of one that a signal killed, the same signal, so that whoever waits sees what happened.
fn relayed(status: ExitStatus) -> u8 {
    let signal = status.signal().and_then(Signal::from_named_raw);
    if let Some(signal) = signal {
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let _ = kill_process(getpid(), signal);
        std::thread::sleep(Duration::from_millis(50));
        return 128_u8.saturating_add(u8::try_from(signal.as_raw()).unwrap_or(0));
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Takes the limits upon this process and becomes the program. Returns only if that failed.
fn become_program(orders: &Orders) -> Error {
    let limited = || -> Result<(), Error> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        family::pass_on_nothing()?;
        for (resource, most) in [
            (Resource::Core, 0),
            (Resource::Cpu, orders.cpu_seconds),
            (Resource::Data, orders.memory_bytes),
            (Resource::Fsize, limits::CHILD_FILE_BYTES),
            (Resource::Nofile, limits::CHILD_FILES),
        ] {
            lower(resource, most)?;
        }
        give_up_powers()?;
        restrict(orders)?;
        calls::allow(orders.namespaces, orders.network)
    };
    if let Err(error) = limited() {
        return Error::other(format!("cannot confine: {error}"));
    }
    let name = orders.argv.first().cloned().unwrap_or_default();
    Command::new(&orders.program).arg0(name).args(orders.argv.iter().skip(1)).exec()
}

/// Lowers a limit; one that is lower already stays.
fn lower(resource: Resource, most: u64) -> Result<(), Error> {
    let hard = rustix::process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?)
}

/// Drops all capabilities, root's own included. None comes back: no program is started with more than this process has.
fn give_up_powers() -> Result<(), Error> {
    rustix::thread::set_no_new_privs(true)?;
    match clear_ambient_capability_set() {
        // A kernel before 4.3.
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(e) => return Err(e.into()),
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Landlock, as far as this kernel has it.
fn restrict(orders: &Orders) -> Result<(), Error> {
    let failed = |e: landlock::RulesetError| Error::other(e.to_string());
    let (all, read) = (AccessFs::from_all(LEVEL), AccessFs::from_read(LEVEL));
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let ruleset =
        Ruleset::default().handle_access(all).map_err(failed)?.scope(Scope::from_all(LEVEL)).map_err(failed)?;
    let ruleset = match orders.network {
        true => ruleset,
        false => ruleset.handle_access(AccessNet::from_all(LEVEL)).map_err(failed)?,
    };
    let network: &[&str] = if orders.network { &system::NETWORK } else { &[] };
    // In namespaces these are the program's own.
    let own: &[&str] = if orders.namespaces { &["/proc"] } else { &[] };
    let listed: &str = if orders.namespaces { "/" } else { "/etc" };
    let (reads, writes) = match orders.namespaces {
        // What is hidden is not there.
        true => (orders.reads.clone(), orders.writes.clone()),
        false => (without(&orders.reads, &orders.hidden), without(&orders.writes, &orders.hidden)),
    };
    let created = ruleset
        .create()
        .and_then(|r| r.add_rules(path_beneath_rules(system::PROGRAMS, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(system::KERNEL, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(system::CONFIGURATION, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(network, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(own, read)))
        .and_then(|r| r.add_rules(path_beneath_rules([listed], AccessFs::ReadDir)))
        .and_then(|r| r.add_rules(path_beneath_rules(system::DEVICES, device)))
        .and_then(|r| r.add_rules(path_beneath_rules(reads, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(writes, all)));
    created.and_then(|r| r.restrict_self()).map(drop).map_err(failed)
}

/// Folders without what is hidden in them: instead of a folder around it, what else is there now.
fn without(folders: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let hidden: Vec<PathBuf> = hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut open: Vec<PathBuf> = folders.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if hidden.iter().any(|hidden| path.starts_with(hidden)) {
            continue;
        }
        match hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            false => found.push(path),
            // A link of a folder leads to where it leads, which is named apart or not at all.
            true => open.extend(
                std::fs::read_dir(&path)
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path())
                    .filter(|path| !path.is_symlink()),
            ),
        }
    }
    found
}

/// The level of Landlock's interface that this kernel has. Asked on a thread of its own, which is restricted by the question.
pub fn landlock_level() -> u32 {
    let ask = || {
        let ruleset = Ruleset::default().handle_access(AccessFs::MakeBlock).ok()?.create().ok()?;
        match ruleset.restrict_self().ok()?.landlock {
            LandlockStatus::Available { effective_abi, kernel_abi, .. } => {
                Some(kernel_abi.map_or(effective_abi as u32, i32::cast_unsigned))
            }
            _ => None,
        }
    };
    std::thread::spawn(ask).join().ok().flatten().unwrap_or(0)
}
