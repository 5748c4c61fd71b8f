//! The system calls of a confined program: an allow-list, by what they act on. A call that is not on it does not exist (`ENOSYS`); one with
//! other arguments than those listed is denied (`EACCES`). `docs/agents.md` has the same table, and a test compares both.

use std::collections::BTreeMap;
use std::io::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// An argument's place, the bits of it that count, and their value.
type Test = (u8, u32, u32);
/// Tests that hold together.
type Alternative = &'static [Test];

/// When a group of calls is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Always.
    Always,
    /// In namespaces, where nothing outside can be named.
    Namespaces,
    /// Outside of namespaces.
    NoNamespaces,
    /// Where the definition has `network`.
    Network,
    /// The same, in namespaces.
    NetworkInNamespaces,
}

/// Calls that act on one thing.
#[allow(dead_code, reason = "a test compares `about` and `reach` with the documentation")]
struct Group {
    /// The things that they act on.
    about: &'static str,
    /// How far they reach.
    reach: &'static str,
    /// When they are permitted.
    when: When,
    /// Their names and numbers.
    calls: &'static [(&'static str, i64)],
    /// Arguments with which they are permitted; none: with any.
    only: &'static [Alternative],
}

const ALL: u32 = u32::MAX;
/// The bits of a mode that lend one's rights to others.
const SET_ID: u32 = 0o6000;
/// Flags of `open` that make a file: `O_CREAT`, and `O_TMPFILE` without `O_DIRECTORY`.
const MAKES: u32 = 0o100 | 0o20_000_000;
/// Flags of `clone` that make namespaces.
const NAMESPACES: u32 = 0x7e02_0000;

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

macro_rules! group {
    ($about:literal, $reach:literal, $when:ident, $only:expr, $calls:expr) => {
        Group { about: $about, reach: $reach, when: When::$when, calls: $calls, only: $only }
    };
}

/// The policy.
const GROUPS: &[Group] = &[
    group!(
        "open files",
        "those that it opened, and 0 to 2",
        Always,
        &[],
        calls![
            SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2 SYS_pwritev2 SYS_lseek
            SYS_close SYS_dup SYS_dup3 SYS_pipe2 SYS_fcntl SYS_flock SYS_fsync SYS_fdatasync SYS_sync_file_range
            SYS_syncfs SYS_ftruncate SYS_fallocate SYS_fadvise64 SYS_readahead SYS_splice SYS_tee SYS_vmsplice SYS_copy_file_range
            SYS_sendfile SYS_fstat SYS_fstatfs SYS_getdents64
        ]
    ),
    group!("", "", Always, &[], &[("SYS_close_range", 436), ("SYS_cachestat", 451)]),
    group!(
        "files by path",
        "files that it may read and write; by Landlock alone, attributes of other files can be seen",
        Always,
        &[],
        calls![
            SYS_mkdirat SYS_unlinkat SYS_renameat2 SYS_linkat SYS_symlinkat SYS_readlinkat SYS_faccessat SYS_newfstatat
            SYS_statx SYS_statfs SYS_truncate SYS_getcwd SYS_chdir SYS_fchdir SYS_umask SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr
            SYS_llistxattr SYS_flistxattr
        ]
    ),
    group!("", "", Always, &[], &[("SYS_faccessat2", 439)]),
    group!(
        "new files",
        "the same, never with the set-user-ID or set-group-ID bit",
        Always,
        &[&[(2, MAKES, 0)], &[(3, SET_ID, 0)]],
        calls![SYS_openat]
    ),
    group!("", "", Always, &[&[(2, SET_ID, 0)]], calls![SYS_mknodat]),
    group!(
        "modes",
        "files that it may write, never with those bits",
        Namespaces,
        &[&[(2, SET_ID, 0)]],
        calls![SYS_fchmodat]
    ),
    group!("", "", Namespaces, &[&[(2, SET_ID, 0)]], &[("SYS_fchmodat2", 452)]),
    group!("", "", Namespaces, &[&[(1, SET_ID, 0)]], calls![SYS_fchmod]),
    group!(
        "owners, times, extended attributes",
        "files that it may write",
        Namespaces,
        &[],
        calls![
            SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
        ]
    ),
    group!(
        "watches of files",
        "files that it may read",
        Namespaces,
        &[],
        calls![SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch]
    ),
    group!(
        "devices",
        "the state of a terminal, bytes that wait, process group, and copies of blocks",
        Always,
        &[
            &[(1, ALL, 0x5401)],
            &[(1, ALL, 0x5413)],
            &[(1, ALL, 0x541b)],
            &[(1, ALL, 0x5421)],
            &[(1, ALL, 0x5450)],
            &[(1, ALL, 0x5451)],
            &[(1, ALL, 0x540f)],
            &[(1, ALL, 0x802c_542a)],
            &[(1, ALL, 0x4004_9409)],
        ],
        calls![SYS_ioctl]
    ),
    group!(
        "memory",
        "its own",
        Always,
        &[],
        calls![
            SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_madvise SYS_brk SYS_mlock SYS_mlock2 SYS_munlock SYS_mlockall SYS_munlockall
            SYS_mincore SYS_msync SYS_membarrier SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_memfd_create SYS_mbind SYS_get_mempolicy
            SYS_set_mempolicy
        ]
    ),
    group!("", "", Always, &[], &[("SYS_map_shadow_stack", 453), ("SYS_mseal", 462)]),
    group!(
        "processes",
        "itself and those that it starts",
        Always,
        &[],
        calls![
            SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid
            SYS_getsid SYS_setsid SYS_set_tid_address SYS_set_robust_list SYS_getrlimit SYS_setrlimit SYS_getrusage
            SYS_times SYS_getcpu SYS_restart_syscall
        ]
    ),
    group!("", "", Always, &[], &[("SYS_rseq", RSEQ)]),
    group!("new processes", "no namespaces of their own", Always, &[&[(0, NAMESPACES, 0)]], calls![SYS_clone]),
    group!(
        "names and kinds of itself",
        "itself",
        Always,
        &[
            &[(0, ALL, 1)],
            &[(0, ALL, 2)],
            &[(0, ALL, 3)],
            &[(0, ALL, 4)],
            &[(0, ALL, 7)],
            &[(0, ALL, 8)],
            &[(0, ALL, 15)],
            &[(0, ALL, 16)],
            &[(0, ALL, 21)],
            &[(0, ALL, 22)],
            &[(0, ALL, 23)],
            &[(0, ALL, 27)],
            &[(0, ALL, 29)],
            &[(0, ALL, 30)],
            &[(0, ALL, 36)],
            &[(0, ALL, 37)],
            &[(0, ALL, 38)],
            &[(0, ALL, 39)],
            &[(0, ALL, 40)],
            &[(0, ALL, 41)],
            &[(0, ALL, 42)],
            &[(0, ALL, 47)],
            &[(0, ALL, 52)],
            &[(0, ALL, 53)],
            &[(0, ALL, 54)],
            &[(0, ALL, 55)],
            &[(0, ALL, 56)],
            &[(0, ALL, 65)],
            &[(0, ALL, 66)],
            &[(0, ALL, 0x5356_4d41)],
            &[(0, ALL, 0x4155_5856)],
        ],
        calls![SYS_prctl]
    ),
    group!("", "", Always, &[&[(0, ALL, 0)], &[(0, ALL, 0x4_0000)], &[(0, ALL, ALL)]], calls![SYS_personality]),
    group!(
        "users and groups",
        "itself; it has no capability",
        Always,
        &[],
        calls![
            SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups SYS_setuid SYS_setgid SYS_setreuid
            SYS_setregid SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_setgroups SYS_capget SYS_capset
        ]
    ),
    group!("limits", "itself", Always, &[&[(0, ALL, 0)]], calls![SYS_prlimit64]),
    group!("priorities", "itself", Always, &[&[(0, ALL, 0), (1, ALL, 0)]], calls![SYS_setpriority]),
    group!("", "", Always, &[&[(0, ALL, 1), (1, ALL, 0)]], calls![SYS_ioprio_set]),
    group!(
        "scheduling",
        "those that it starts, in namespaces; else itself",
        Namespaces,
        &[],
        calls![
            SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        ]
    ),
    group!(
        "",
        "",
        NoNamespaces,
        &[&[(0, ALL, 0)]],
        calls![
            SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        ]
    ),
    group!(
        "the same, to look at",
        "in namespaces those that it starts; else all processes",
        Always,
        &[],
        calls![
            SYS_sched_getaffinity SYS_sched_getscheduler SYS_sched_getparam SYS_sched_getattr SYS_sched_yield SYS_sched_rr_get_interval
            SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_getpriority SYS_ioprio_get
        ]
    ),
    group!(
        "signals",
        "those that it starts, in namespaces or by Landlock 6",
        Always,
        &[],
        calls![
            SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
            SYS_rt_sigpending SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_sigaltstack SYS_signalfd4
        ]
    ),
    group!("", "", Always, &[], &[("SYS_pidfd_send_signal", 424), ("SYS_pidfd_open", 434)]),
    group!(
        "time",
        "its own timers; no clock is set",
        Always,
        &[],
        calls![
            SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_timer_create SYS_timer_settime
            SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_setitimer SYS_getitimer SYS_timerfd_create SYS_timerfd_settime
            SYS_timerfd_gettime
        ]
    ),
    group!(
        "waiting",
        "its own files and memory",
        Always,
        &[],
        calls![
            SYS_futex SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2
        ]
    ),
    group!(
        "",
        "",
        Always,
        &[],
        &[
            ("SYS_epoll_pwait2", 441),
            ("SYS_futex_waitv", 449),
            ("SYS_futex_wake", 454),
            ("SYS_futex_wait", 455),
            ("SYS_futex_requeue", 456),
        ]
    ),
    group!(
        "the machine",
        "its name, memory and random numbers",
        Always,
        &[],
        calls![SYS_uname SYS_sysinfo SYS_getrandom]
    ),
    group!(
        "bounds of its own",
        "itself; they only take away",
        Always,
        &[],
        &[
            ("SYS_seccomp", libc::SYS_seccomp),
            ("SYS_landlock_create_ruleset", 444),
            ("SYS_landlock_add_rule", 445),
            ("SYS_landlock_restrict_self", 446),
        ]
    ),
    group!(
        "pairs of sockets",
        "the other end; no larger queues, and no messages that carry descriptors",
        Always,
        &[&[(0, ALL, 1), (1, 0xf, 1)], &[(0, ALL, 1), (1, 0xf, 5)],],
        calls![SYS_socketpair]
    ),
    group!(
        "",
        "",
        Always,
        &[],
        calls![
            SYS_sendto SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_shutdown SYS_getsockopt SYS_getsockname SYS_getpeername
        ]
    ),
    // Time limits, lingering and credentials: no queue becomes larger than the kernel's default.
    group!(
        "",
        "",
        Always,
        &[
            &[(1, ALL, 1), (2, ALL, 2)],
            &[(1, ALL, 1), (2, ALL, 9)],
            &[(1, ALL, 1), (2, ALL, 13)],
            &[(1, ALL, 1), (2, ALL, 16)],
            &[(1, ALL, 1), (2, ALL, 20)],
            &[(1, ALL, 1), (2, ALL, 21)],
        ],
        calls![SYS_setsockopt]
    ),
    group!(
        "sockets",
        "the internet, this machine's included, and names of interfaces",
        Network,
        &[&[(0, ALL, 2)], &[(0, ALL, 10)], &[(0, ALL, 16), (2, ALL, 0)],],
        calls![SYS_socket]
    ),
    // A message can carry descriptors, and what is on its way is in no process.
    group!(
        "",
        "",
        Network,
        &[],
        calls![SYS_bind SYS_connect SYS_listen SYS_accept SYS_accept4 SYS_sendmsg SYS_sendmmsg]
    ),
    group!("", "", Network, &[&[(1, 0, 0)]], calls![SYS_setsockopt]),
    group!(
        "Unix sockets",
        "in the folders that it may read",
        NetworkInNamespaces,
        &[&[(0, ALL, 1)]],
        calls![SYS_socket]
    ),
    #[cfg(target_arch = "x86_64")]
    group!(
        "older names of those above",
        "the same",
        Always,
        &[],
        calls![
            SYS_stat SYS_lstat SYS_access SYS_pipe SYS_dup2 SYS_fork SYS_vfork SYS_getdents SYS_mkdir SYS_rmdir SYS_unlink SYS_rename SYS_link
            SYS_symlink SYS_readlink SYS_renameat SYS_getpgrp SYS_arch_prctl SYS_time SYS_alarm SYS_pause SYS_poll SYS_select SYS_epoll_create
            SYS_epoll_wait SYS_eventfd SYS_signalfd
        ]
    ),
    #[cfg(target_arch = "x86_64")]
    group!("", "", Always, &[&[(1, MAKES, 0)], &[(2, SET_ID, 0)]], calls![SYS_open]),
    #[cfg(target_arch = "x86_64")]
    group!("", "", Always, &[&[(1, SET_ID, 0)]], calls![SYS_creat SYS_mknod]),
    #[cfg(target_arch = "x86_64")]
    group!("", "", Namespaces, &[&[(1, SET_ID, 0)]], calls![SYS_chmod]),
    #[cfg(target_arch = "x86_64")]
    group!("", "", Namespaces, &[], calls![SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_inotify_init]),
    #[cfg(target_arch = "aarch64")]
    group!("", "", Always, &[], calls![SYS_renameat]),
];

/// The number of `rseq`, which is older than the numbers that all machines share.
const RSEQ: i64 = if cfg!(target_arch = "x86_64") { 334 } else { 293 };

impl When {
    /// Says whether calls are permitted.
    fn holds(self, namespaces: bool, network: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Namespaces => namespaces,
            Self::NoNamespaces => !namespaces,
            Self::Network => network,
            Self::NetworkInNamespaces => network && namespaces,
        }
    }
}

/// Permits those calls alone, from now on, to this process and all that it starts.
pub fn allow(namespaces: bool, network: bool) -> Result<(), Error> {
    // Of two filters that deny, the newer one says how: a call that is not on the list is unknown, whatever the first says.
    let first = filter(namespaces, network, false, libc::EACCES)?;
    let second = filter(namespaces, network, true, libc::ENOSYS)?;
    for program in [first, second] {
        seccompiler::apply_filter(&program).map_err(|e| Error::other(e.to_string()))?;
    }
    Ok(())
}

/// The filter; `by_name`: whatever the arguments.
fn filter(namespaces: bool, network: bool, by_name: bool, errno: i32) -> Result<BpfProgram, Error> {
    let failed = |e: seccompiler::BackendError| Error::other(e.to_string());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for group in GROUPS {
        let holds = group.when.holds(namespaces, network);
        // A known call whose group does not hold is denied, not unknown: programs say that better.
        if !holds && !by_name {
            continue;
        }
        for (_, number) in group.calls {
            let known = rules.entry(*number).or_default();
            for alternative in group.only.iter().filter(|_| !by_name) {
                known.push(rule(alternative).map_err(failed)?);
            }
        }
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(failed)?;
    let errno = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, errno, SeccompAction::Allow, arch).map_err(failed)?;
    filter.try_into().map_err(failed)
}

fn rule(alternative: Alternative) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = |(place, mask, value): &Test| {
        let op = SeccompCmpOp::MaskedEq(u64::from(*mask));
        SeccompCondition::new(*place, SeccompCmpArgLen::Dword, op, u64::from(*value))
    };
    SeccompRule::new(alternative.iter().map(condition).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the policy, as the documentation has it.
    fn table() -> String {
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        for group in GROUPS {
            if !group.about.is_empty() {
                let when = match group.when {
                    When::Always | When::NoNamespaces => "",
                    When::Namespaces => " (namespaces)",
                    When::Network => " (`network`)",
                    When::NetworkInNamespaces => " (`network`, namespaces)",
                };
                rows.push((format!("| {}{when} | {} |", group.about, group.reach), Vec::new()));
            }
            let row = &mut rows.last_mut().unwrap().1;
            for (name, _) in group.calls {
                let name = name.trim_start_matches("SYS_");
                if !row.contains(&name) {
                    row.push(name);
                }
            }
        }
        rows.into_iter().map(|(row, names)| format!("{row} {} |\n", names.join(", "))).collect()
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn permitted_calls_are_those_of_the_documentation() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agents.md")).unwrap();
        assert!(text.contains(&table()), "docs/agents.md needs this table:\n{}", table());
    }

    #[test]
    fn filters_fit_the_kernel() {
        for (namespaces, network) in [(false, false), (false, true), (true, false), (true, true)] {
            for by_name in [false, true] {
                let program = filter(namespaces, network, by_name, libc::EACCES).unwrap();
                assert!(program.len() <= 4096, "{}", program.len());
            }
        }
    }

    #[test]
    fn calls_that_reach_others_are_not_among_them() {
        let names: Vec<&str> = GROUPS.iter().flat_map(|group| group.calls).map(|(name, _)| *name).collect();
        for never in [
            "ptrace",
            "process_vm_readv",
            "process_vm_writev",
            "pidfd_getfd",
            "kcmp",
            "mount",
            "umount2",
            "unshare",
            "setns",
            "pivot_root",
            "chroot",
            "bpf",
            "perf_event_open",
            "userfaultfd",
            "keyctl",
            "add_key",
            "request_key",
            "io_uring_setup",
            "io_uring_enter",
            "clone3",
            "openat2",
            "shmget",
            "msgget",
            "semget",
            "mq_open",
            "move_pages",
            "migrate_pages",
            "process_madvise",
            "fanotify_init",
            "open_by_handle_at",
            "name_to_handle_at",
            "quotactl",
            "reboot",
            "kexec_load",
            "init_module",
            "swapon",
            "acct",
            "syslog",
            "clock_settime",
            "settimeofday",
            "adjtimex",
            "sethostname",
            "iopl",
            "ioperm",
            "get_robust_list",
        ] {
            assert!(!names.contains(&format!("SYS_{never}").as_str()), "{never}");
        }
    }
}
