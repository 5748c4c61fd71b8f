//! The processes of a program: starting the first one, in namespaces or not, and finding, measuring and ending all of them.

use std::collections::{HashMap, HashSet};
use std::io::Error;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::limits;

/// The first descriptor that no program is given.
const FIRST_OWN: RawFd = 3;
/// Bytes of a block, as files are measured.
const BLOCK: u64 = 512;

/// Starts a copy of this process with the given namespaces; `None` in the copy.
#[allow(unsafe_code, reason = "a copy of a process has no safe form")]
pub fn start(namespaces: i32) -> Result<Option<Pid>, Error> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(Error::other(format!("this process has {threads} threads, and only one of them would be copied")));
    }
    let flags = i64::from(namespaces | libc::SIGCHLD);
    // SAFETY: no memory is shared (no CLONE_VM) and no stack is given, so that this is `fork`; the only thread is the one
    // that is copied, and no lock is held by another.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_i64, 0_i64, 0_i64, 0_i64) };
    match pid {
        0 => Ok(None),
        _ if pid < 0 => Err(Error::last_os_error()),
        _ => Ok(Pid::from_raw(i32::try_from(pid).unwrap_or(0))),
    }
}

/// Sees to it that no descriptor beyond standard error is passed on to a program, whoever left it open.
#[allow(unsafe_code, reason = "the call has no safe form")]
pub fn pass_on_nothing() -> Result<(), Error> {
    // SAFETY: the call sets a flag on descriptors, and reads no memory.
    let set = unsafe { libc::syscall(libc::SYS_close_range, FIRST_OWN, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if set == 0 {
        return Ok(());
    }
    // A kernel before 5.11.
    let open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd >= FIRST_OWN)
        .collect();
    for fd in open {
        // SAFETY: the call sets a flag, and fails where the descriptor is closed by now.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}

/// Everything that descends from this process, dead ones that nobody has waited for included: threads of theirs may live. Those
/// that lost their parent are this process' own children, or those of the first one in a namespace.
pub fn descendants() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in brackets may hold anything; state and parent follow it.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(1);
        if let Some(parent) = fields.next().and_then(|parent| parent.parse().ok()) {
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
pub fn end_all() {
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

/// Memory that processes hold together and that is no file's on a disk, bytes: what the kernel may hold for their sockets and pipes included.
/// Pages that several of them have are counted once where the cheap sum, which counts them for each, is beyond `most`.
pub fn memory(processes: &[Pid], most: u64) -> u64 {
    let sum = |path: &str, fields: &[&str]| -> u64 {
        let of =
            |pid: &Pid| std::fs::read_to_string(format!("/proc/{pid}/{path}")).map_or(0, |text| kib(&text, fields));
        processes.iter().map(of).sum::<u64>() << 10
    };
    let Held { files, queues } = held(processes);
    let kernel = queues + sum("status", &["VmPTE:"]);
    let cheap = kernel + files + sum("status", &["RssAnon:", "RssShmem:", "VmSwap:"]);
    if cheap <= most {
        return cheap;
    }
    let exact = sum("smaps_rollup", &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]);
    // A kernel that does not tell, or a program that hides it.
    if exact == 0 { cheap } else { kernel + files.max(exact) }
}

/// The sum of fields of a file of `/proc`, KiB.
fn kib(text: &str, fields: &[&str]) -> u64 {
    let value = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().filter(|name| fields.contains(name))?;
        words.next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(value).sum()
}

/// Memory behind open descriptors, bytes.
struct Held {
    /// Files that have no name and lie in memory.
    files: u64,
    /// The most that queues of sockets and pipes can hold.
    queues: u64,
}

/// The memory behind the descriptors of processes, each file, socket and pipe counted once.
fn held(processes: &[Pid]) -> Held {
    let buffer = std::fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    let buffer = buffer.and_then(|text| text.trim().parse().ok()).unwrap_or(limits::CHILD_SOCKET_BYTES);
    let mut seen = HashSet::new();
    let mut held = Held { files: 0, queues: 0 };
    for pid in processes {
        for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(target) = std::fs::read_link(&path) else { continue };
            let target = target.as_os_str().as_encoded_bytes();
            let room = match () {
                // The kernel lets one message more in where a queue is not full yet.
                () if target.starts_with(b"socket:") => 2 * buffer,
                () if target.starts_with(b"pipe:") => limits::CHILD_PIPE_BYTES,
                () if target.starts_with(b"/memfd:") => 0,
                () => continue,
            };
            if let Ok(about) = std::fs::metadata(&path)
                && seen.insert((about.dev(), about.ino()))
            {
                held.queues += room;
                held.files += if room == 0 { about.blocks() * BLOCK } else { 0 };
            }
        }
    }
    held
}

/// Room that a folder takes, bytes; counting ends beyond `most`.
pub fn room(folder: &Path, most: u64) -> u64 {
    let mut room = 0;
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
        room += entry.metadata().map_or(0, |about| about.blocks() * BLOCK);
        if room > most {
            break;
        }
    }
    room
}
