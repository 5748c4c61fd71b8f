//! Confinement on Linux: limits of the kernel's own, Landlock for paths and signals, seccomp for sockets, and a supervisor.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Error;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_process, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setrlimit, waitpid,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use super::{Orders, VOICE};
use crate::limits;

/// What any program may read: where systems keep programs and what these need to start.
const SYSTEM: [&str; 21] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/version",
    "/proc/sys",
    "/proc/filesystems",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/run/systemd/resolve",
];
/// Devices that hold nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// What of `/etc` is nobody's business, should the brain run as root.
const KEPT: [&str; 13] = [
    "shadow",
    "shadow-",
    "gshadow",
    "gshadow-",
    "sudoers",
    "sudoers.d",
    "ssh",
    "krb5.keytab",
    "security",
    "wireguard",
    "NetworkManager",
    "private",
    "openvpn",
];
/// The interface of Landlock that is used: scopes of signals and abstract sockets came with it.
const LEVEL: ABI = ABI::V6;

/// The supervisor: starts the program inside, watches it, and ends all that is left of it.
pub fn supervise(orders: &str) -> Result<u8, Error> {
    // Nothing could be found that gets away.
    std::fs::read("/proc/self/stat")?;
    set_child_subreaper(Some(getpid()))?;
    let mut inside = Command::new("/proc/self/exe");
    let child = inside.args(["confine", "--inside", orders]).spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or_else(|| Error::other("a child without an id"))?;
    let stopped = watch(pid)?;
    if stopped.is_some() {
        // It may be about to start what replaces it.
        let _ = kill_process(pid, Signal::KILL);
    }
    let status = waitpid(Some(pid), WaitOptions::empty())?.map(|(_, status)| status);
    end_all();
    if let Some(why) = stopped {
        eprintln!("{VOICE}{why}");
        return Ok(137);
    }
    Ok(status.map_or(1, relayed))
}

/// Waits for the program's end; `Some`: why it is to be ended.
fn watch(pid: Pid) -> Result<Option<&'static str>, Error> {
    let program = pidfd_open(pid, PidfdFlags::empty())?;
    let stderr = std::io::stderr();
    let pause = Timespec { tv_sec: 0, tv_nsec: limits::CHILD_LOOK_MS * 1_000_000 };
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
            return Ok(Some("nobody listens any more"));
        }
        if descendants().len() > limits::CHILD_PROCESSES {
            return Ok(Some("it started too many processes and was killed"));
        }
    }
}

/// Everything that descends from this process. What lost its parent is this process' own child by then.
fn descendants() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in brackets may hold anything; state and parent follow it.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let (state, parent) = (fields.next(), fields.next().and_then(|parent| parent.parse().ok()));
        if let (Some(parent), false) = (parent, state.is_some_and(|s| s == "Z" || s == "X")) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut from = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = from.pop() {
        for child in children.get(&parent).into_iter().flatten().copied().filter(|child| seen.insert(*child)) {
            from.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

/// Kills all that is left, again and again until there is none: while one is killed, another may be born.
fn end_all() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(limits::CHILD_KILL_MS) {
        let left = descendants();
        for pid in &left {
            let _ = kill_process(*pid, Signal::KILL);
        }
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The exit code of the program; of one that a signal killed, the same signal, so that whoever waits sees what happened.
fn relayed(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().and_then(Signal::from_named_raw);
    if let Some(signal) = signal {
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let _ = kill_process(getpid(), signal);
        std::thread::sleep(Duration::from_millis(50));
        return 128_u8.saturating_add(u8::try_from(signal.as_raw()).unwrap_or(0));
    }
    status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Takes the limits upon this process and becomes the program. Returns only if that failed.
pub fn become_program(orders: &Orders) -> Error {
    let limited = || -> Result<(), Error> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        for (resource, most) in [
            (Resource::Core, 0),
            (Resource::Cpu, orders.cpu_seconds),
            (Resource::Data, orders.memory_bytes),
            (Resource::Fsize, limits::CHILD_FILE_BYTES),
            (Resource::Nofile, limits::CHILD_FILES),
        ] {
            lower(resource, most)?;
        }
        restrict(orders)?;
        if !orders.network {
            without_sockets()?;
        }
        Ok(())
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
    let created = ruleset
        .create()
        .and_then(|r| r.add_rules(path_beneath_rules(SYSTEM, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(configuration(Path::new("/etc")), read)))
        .and_then(|r| r.add_rules(path_beneath_rules(["/etc"], AccessFs::ReadDir)))
        .and_then(|r| r.add_rules(path_beneath_rules(DEVICES, device)))
        .and_then(|r| r.add_rules(path_beneath_rules(&orders.reads, read)))
        .and_then(|r| r.add_rules(path_beneath_rules(&orders.writes, all)));
    created.and_then(|r| r.restrict_self()).map(drop).map_err(failed)
}

/// What of a folder of configuration any program may read: all but what is kept from other users as well.
fn configuration(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if KEPT.iter().any(|kept| name == *kept) {
            continue;
        }
        match name == "ssl" {
            true => found.extend(configuration(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// No sockets of any family, be it by the ring that can make them without a call: Landlock knows TCP alone.
fn without_sockets() -> Result<(), Error> {
    let failed = |e: seccompiler::Error| Error::other(e.to_string());
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| Error::other(e.to_string()))?;
    let denied = [libc::SYS_socket, libc::SYS_io_uring_setup].map(|call| (call, Vec::new()));
    let filter = SeccompFilter::new(
        BTreeMap::from(denied),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.cast_unsigned()),
        arch,
    );
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|e| failed(seccompiler::Error::Backend(e)))?;
    seccompiler::apply_filter(&program).map_err(failed)
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
