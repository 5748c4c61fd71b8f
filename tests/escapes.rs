//! Escapes: a confined program tries to reach files, processes and sockets outside, by every way that a kernel has. Each is tried in
//! namespaces and without them, and, where the tests run as root, as another user as well.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{PROGRAM, Sandbox};
use serde_json::{Value, json};

const PYTHON: &str = "/usr/bin/python3";
const NOBODY: u32 = 65534;

/// Whoever runs the supervisor, and whether the program has namespaces.
#[derive(Clone, Copy, Debug)]
struct Case {
    user: u32,
    namespaces: bool,
}

struct Cage {
    sandbox: Sandbox,
    case: Case,
}

impl Cage {
    fn new(case: Case) -> Self {
        let sandbox = Sandbox::empty();
        let cage = Self { sandbox, case };
        // The world of the tests is its maker's alone.
        std::fs::set_permissions(cage.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
        cage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.beside(name)
    }

    /// A file or folder of the user that the case is about.
    fn own(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        chown(&path, Some(self.case.user), Some(self.case.user)).unwrap();
        path
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        self.sandbox.file(name, content);
        self.own(name)
    }

    fn folder(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(self.path(name)).unwrap();
        self.own(name)
    }

    /// The program's folder as `mkdtemp` makes it.
    fn orders(&self, argv: &[&str], more: &Value) -> Value {
        // Whoever removes it needs the folder around it.
        self.folder("tmp");
        let folder = self.folder("tmp/folder");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut orders = json!({
            "program": argv[0], "argv": argv, "folder": folder, "reads": [], "writes": [], "hidden": [], "network": false,
            "cpu_seconds": 600, "deadline_ms": 600_000, "memory_bytes": 1_u64 << 30, "namespaces": self.case.namespaces,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            orders[key] = value.clone();
        }
        orders["writes"].as_array_mut().unwrap().push(json!(folder));
        orders
    }

    fn start(&self, orders: &Value) -> Child {
        let as_user = self.case.user != rustix::process::getuid().as_raw();
        let mut command = if as_user { Command::new("setpriv") } else { Command::new(PROGRAM) };
        if as_user {
            let user = self.case.user.to_string();
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups", PROGRAM]);
        }
        command.args(["confine", &orders.to_string()]).current_dir(self.path("tmp/folder")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.path("tmp/folder"));
        // As the engine does: pipes that nobody else has.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn run(&self, argv: &[&str], more: &Value) -> Output {
        self.start(&self.orders(argv, more)).wait_with_output().unwrap()
    }

    /// What a program of Python says.
    fn python(&self, code: &str, more: &Value) -> (i32, String) {
        let output = self.run(&[PYTHON, "-c", code], more);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), said)
    }
}

/// A process outside.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// All cases that this machine has. What it has not is said.
fn cases() -> Vec<Case> {
    if !Path::new(PYTHON).exists() {
        println!("skipped: there is no {PYTHON}");
        return Vec::new();
    }
    let me = rustix::process::getuid().as_raw();
    let others = me == 0 && Command::new("setpriv").arg("--version").output().is_ok();
    let mut cases = Vec::new();
    for user in [Some(me), others.then_some(NOBODY)].into_iter().flatten() {
        for namespaces in [true, false] {
            let case = Case { user, namespaces };
            let cage = Cage::new(case);
            let output = cage.run(&["/bin/true"], &json!({}));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.success() {
                true => cases.push(case),
                false => println!("skipped: {case:?}: {said}"),
            }
            assert!(namespaces || output.status.success(), "{case:?}: {said}");
        }
    }
    cases
}

/// Everything of a file that a system call could change. Its time of change is changed by all of them.
fn state(folder: &Path) -> BTreeMap<PathBuf, String> {
    let of = |entry: walkdir::DirEntry| {
        let about = std::fs::symlink_metadata(entry.path()).unwrap();
        let content = std::fs::read(entry.path()).unwrap_or_default();
        let state = format!(
            "{:o} {}:{} {} links, changed {}.{}, modified {}.{}, {content:?}",
            about.mode(),
            about.uid(),
            about.gid(),
            about.nlink(),
            about.ctime(),
            about.ctime_nsec(),
            about.mtime(),
            about.mtime_nsec(),
        );
        (entry.into_path(), state)
    };
    walkdir::WalkDir::new(folder).into_iter().map(|entry| of(entry.unwrap())).collect()
}

/// Everything of a process that another one could change: bounds, priority, processors, and whether it runs.
fn state_of_process(pid: u32) -> String {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
    let (stat, status) = (read("stat"), read("status"));
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap();
    let traced = status.lines().find(|line| line.starts_with("TracerPid:")).unwrap();
    // Whether it sleeps or is at work is the machine's business.
    let state = if matches!(fields[0], "R" | "S" | "D") { "alive" } else { fields[0] };
    format!("{state} nice {} policy {} {allowed} {traced}\n{}", fields[16], fields[38], read("limits"))
}

#[test]
fn no_system_call_changes_files_processes_or_sockets_outside() {
    for case in cases() {
        let cage = Cage::new(case);
        let outside = cage.folder("outside");
        for name in ["outside/file", "outside/tool", "outside/git/HEAD", "readable"] {
            let file = cage.file(name, "as it was");
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        cage.own("outside/git");
        cage.folder("outside/folder");
        std::fs::set_permissions(cage.path("outside/tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let datagrams = UnixDatagram::bind(outside.join("socket")).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        std::fs::set_permissions(outside.join("socket"), std::fs::Permissions::from_mode(0o777)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let victim = Victim(if case.user == 0 || case.user == rustix::process::getuid().as_raw() {
            Command::new("sleep").arg("600").spawn().unwrap()
        } else {
            let user = case.user.to_string();
            Command::new("setpriv")
                .args(["--reuid", &user, "--regid", &user, "--clear-groups", "sleep", "600"])
                .spawn()
                .unwrap()
        });
        let asleep =
            || std::fs::read_to_string(format!("/proc/{}/cmdline", victim.0.id())).unwrap().starts_with("sleep");
        while !asleep() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let script = cage.file("escapes.py", include_str!("data/escapes.py"));
        let (files, readable, process) =
            (state(&outside), state(&cage.path("readable")), state_of_process(victim.0.id()));
        let null = state(Path::new("/dev/null"));
        let argv = [
            PYTHON,
            script.to_str().unwrap(),
            outside.to_str().unwrap(),
            cage.path("readable").to_str().unwrap(),
            &port,
            &victim.0.id().to_string(),
        ]
        .map(str::to_owned);
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let output = cage.run(&argv, &json!({"reads": [script, cage.path("readable")]}));
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("tried "), "{case:?}: {:?} {said}", output.status);
        assert!(!said.contains("SOCKET"), "{case:?}: {said}");
        assert_eq!(state(&outside), files, "{case:?}");
        assert_eq!(state(&cage.path("readable")), readable, "{case:?}");
        assert_eq!(state(Path::new("/dev/null")), null, "{case:?}");
        assert_eq!(state_of_process(victim.0.id()), process, "{case:?}");
        assert!(listener.accept().is_err() && datagrams.recv(&mut [0; 8]).is_err(), "{case:?}: it got through");
        println!("{case:?}: {}", said.trim());
    }
}

#[test]
fn a_child_whose_first_thread_has_ended_does_not_outlive_the_program() {
    let code = "import ctypes, os, sys, threading, time\n\
        libc = ctypes.CDLL(None)\n\
        def beat():\n  while True:\n    open(sys.argv[1], 'a').write('x'); time.sleep(0.01)\n\
        if os.fork() == 0:\n  os.setsid(); null = os.open('/dev/null', os.O_RDWR)\n  for fd in (0, 1, 2): os.dup2(null, fd)\n\
        \x20 threading.Thread(target=beat, daemon=True).start(); libc.syscall(60, 0)\n\
        time.sleep(1)\n";
    for case in cases() {
        let cage = Cage::new(case);
        let open = cage.folder("open");
        let beats = open.join("beats");
        let output = cage.run(&[PYTHON, "-c", code, beats.to_str().unwrap()], &json!({"writes": [open]}));
        assert!(output.status.success(), "{case:?}: {}", String::from_utf8_lossy(&output.stderr));
        let count = || std::fs::metadata(&beats).map_or(0, |about| about.len());
        let before = count();
        assert!(before > 10, "{case:?}: it did run");
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(count(), before, "{case:?}: it runs on");
    }
}

#[test]
fn memory_of_all_processes_together_is_bounded() {
    let ways = [
        (
            "mappings that are shared",
            "keep = []\nfor n in range(24):\n  m = mmap.mmap(-1, 64 << 20)\n  for at in range(0, 64 << 20, 4096): m[at] = 1\n  keep.append(m)",
        ),
        (
            "files without a name",
            "for n in range(24):\n  fd = os.memfd_create('x')\n  for k in range(64): os.write(fd, bytes(1 << 20))",
        ),
        (
            "children",
            "for n in range(12):\n  if os.fork() == 0:\n    x = bytearray(b'x' * (120 << 20)); time.sleep(600)\ntime.sleep(600)",
        ),
        (
            "pairs of sockets that nobody reads",
            "keep = []\nfor p in range(4):\n  if os.fork() == 0:\n    for n in range(500):\n      a, b = socket.socketpair(); keep += [a, b]\n      for s in (a, b):\n        s.setblocking(False)\n        try:\n          while True: s.send(bytes(65536))\n        except BlockingIOError: pass\n    time.sleep(600)\ntime.sleep(600)",
        ),
        (
            "pairs of datagrams",
            "keep = []\nfor p in range(4):\n  if os.fork() == 0:\n    for n in range(500):\n      a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); keep += [a, b]\n      for s in (a, b):\n        s.setblocking(False)\n        try:\n          while True: s.send(bytes(106000))\n        except BlockingIOError: pass\n    time.sleep(600)\ntime.sleep(600)",
        ),
        (
            "pipes",
            "for p in range(16):\n  if os.fork() == 0:\n    for n in range(480):\n      r, w = os.pipe(); os.set_blocking(w, False)\n      try:\n        while True: os.write(w, bytes(4096))\n      except BlockingIOError: pass\n    time.sleep(600)\ntime.sleep(600)",
        ),
        (
            "larger queues",
            "a, b = socket.socketpair()\nfor name in (7, 8, 32, 33):\n  try: a.setsockopt(1, name, 1 << 24); sys.exit(0)\n  except PermissionError: pass\nprint('is full'); sys.exit(9)",
        ),
        (
            "files on their way",
            "a, b = socket.socketpair()\nfd = os.memfd_create('x')\ntry: socket.send_fds(a, [b'x'], [fd])\nexcept PermissionError: print('is full'); sys.exit(9)",
        ),
        (
            "its own folder",
            "try:\n  for n in range(1536): open(str(n), 'wb').write(bytes(1 << 20))\nexcept OSError: print('is full'); sys.exit(9)",
        ),
    ];
    for case in cases() {
        for (way, code) in ways {
            let cage = Cage::new(case);
            let code = format!("import mmap, os, socket, sys, time\n{code}\nprint('all of it')");
            let (exit, said) = cage.python(&code, &json!({"memory_bytes": 200 << 20}));
            let on_disk = way == "its own folder" && !case.namespaces;
            let bounded = said.contains("of memory together")
                || said.contains("is full")
                || said.contains("its folder has more than");
            assert!(exit != 0 && bounded, "{case:?}: {way}: {exit} {said}");
            assert_eq!(on_disk, said.contains("its folder has more"), "{case:?}: {way}: {said}");
            assert!(!cage.path("tmp/folder").exists(), "{case:?}: {way}: it stayed behind");
        }
    }
}

#[test]
fn a_program_lends_its_rights_to_nobody() {
    let code = "import os, sys\n\
        def tries(what, act):\n  try: act(); print('DID', what)\n  except OSError: pass\n\
        os.chdir(sys.argv[1])\n\
        tries('open', lambda: os.open('a', os.O_CREAT | os.O_WRONLY, 0o6755))\n\
        open('b', 'w').close()\n\
        tries('chmod', lambda: os.chmod('b', 0o4755))\n\
        tries('fchmod', lambda: os.fchmod(os.open('b', os.O_RDONLY), 0o2755))\n\
        tries('mknod', lambda: os.mknod('c', 0o104755))\n\
        print('tried')";
    for case in cases() {
        let cage = Cage::new(case);
        let open = cage.folder("open");
        let output = cage.run(&[PYTHON, "-c", code, open.to_str().unwrap()], &json!({"writes": [open]}));
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("tried") && !said.contains("DID"), "{case:?}: {said}");
        for entry in std::fs::read_dir(&open).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o6000, 0, "{case:?}");
        }
    }
}

#[test]
fn ordinary_programs_run() {
    let programs = [
        (
            "python3",
            "import ssl, subprocess, tempfile, concurrent.futures as c\nassert subprocess.check_output(['echo', 'hi']) == b'hi\\n'\n\
          with tempfile.TemporaryDirectory() as t: open(t + '/x', 'w').write('y')\nprint(sum(c.ThreadPoolExecutor(4).map(int, '123')))",
            "6",
        ),
        (
            "node",
            "const {execSync} = require('child_process'); require('fs').writeFileSync('x', 'y');\
          new (require('worker_threads').Worker)('console.log(6)', {eval: true})",
            "6",
        ),
        (
            "bash",
            "set -e; for i in 1 2 6; do echo $i; done | sort -r | head -1; cat > f <<< here; test -s f; sleep 0.01 & wait",
            "6",
        ),
        ("perl", "print 6", "6"),
        ("awk", "BEGIN { print 2 * 3 }", "6"),
    ];
    let git = "git init -q r && cd r && git config user.email a@b && git config user.name a && echo x > y && git add y && git commit -qm z && \
               chmod +x y && touch t && cp -p y z && tar cf a.tar y && tar xf a.tar && git log --format=%s";
    for case in cases() {
        for (program, code, expected) in programs {
            let found = ["/usr/bin", "/bin"]
                .map(|folder| format!("{folder}/{program}"))
                .into_iter()
                .find(|p| Path::new(p).exists());
            let Some(path) = found else {
                println!("skipped: there is no {program}");
                continue;
            };
            let option = if ["python3", "bash"].contains(&program) { "-c" } else { "-e" };
            let argv = if program == "awk" { vec![path.as_str(), code] } else { vec![path.as_str(), option, code] };
            let output = Cage::new(case).run(&argv, &json!({}));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && said.trim() == expected, "{case:?}: {program}: {said}{err}");
        }
        if case.namespaces {
            let output = Cage::new(case).run(&["/bin/sh", "-c", git], &json!({}));
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "z\n",
                "{case:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn what_is_hidden_is_neither_read_nor_written() {
    for case in cases() {
        let cage = Cage::new(case);
        let root = cage.folder("root");
        cage.folder("root/.git");
        cage.folder("root/sub");
        let (secret, open) = (cage.file("root/.git/config", "canary"), cage.file("root/sub/open", "may be read"));
        let script = format!(
            "cat '{}'; echo x > '{}'; cat '{}'; mv '{r}/.git' '{r}/sub/git'; cat '{r}/sub/git/config'; echo y > '{r}/sub/new'; exit 0",
            secret.display(),
            secret.display(),
            open.display(),
            r = root.display()
        );
        let output = cage.run(&["/bin/sh", "-c", &script], &json!({"writes": [root], "hidden": [root.join(".git")]}));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "may be read",
            "{case:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "canary");
        assert_eq!(std::fs::read_to_string(root.join("sub/new")).unwrap(), "y\n");
    }
}

#[test]
fn a_supervisor_that_is_killed_takes_the_program_along() {
    for case in cases().into_iter().filter(|case| case.namespaces) {
        let cage = Cage::new(case);
        let open = cage.folder("open");
        let script =
            format!("setsid sh -c 'while :; do echo x >> {0}/beats; sleep 0.01; done' & sleep 600", open.display());
        let mut supervisor = cage.start(&cage.orders(&["/bin/sh", "-c", &script], &json!({"writes": [open]})));
        let count = || std::fs::metadata(open.join("beats")).map_or(0, |about| about.len());
        let deadline = Instant::now() + Duration::from_secs(60);
        while count() < 10 {
            assert!(Instant::now() < deadline, "{case:?}: it does not run");
            std::thread::sleep(Duration::from_millis(5));
        }
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let before = count();
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(count(), before, "{case:?}: it runs on");
    }
}
