#!/usr/bin/env python3
"""Rows 1 and 4: a command is killed at, or gets an error from, every system call that it makes.

Each point is a copy of a prepared brain, the command under `strace -e inject` (kill) or `inject.py` (errors), and then, unaided:
git finds no fault, the next command works within five seconds, what was acknowledged is there once, and the brain is in the
state before or after.

A call is counted in each thread and process by itself, so the point N of a call is the first that makes it N times. Errors
strike files of the brain alone, and of the folders for temporary files and state: no kernel says of a pipe or an event descriptor
that the disk is full. The call `any` counts all calls of all threads: from there on nothing works any more.
"""

import argparse
import concurrent.futures
import pathlib
import platform
import re
import shutil
import sys
import threading
import time

import lab
from cases import CASES, NOW, difference, state, template, world

# What changes files, and the calls between which something else could.
KILLS = ("openat read write pwrite64 writev rename renameat renameat2 unlink unlinkat link linkat symlink mkdir mkdirat rmdir "
         "ftruncate fsync fdatasync flock fcntl close mmap munmap msync chmod fchmod utimensat newfstatat getdents64 "
         "clone3 vfork execve pipe2 exit_group").split()
CREATES = "openat mkdir rename renameat renameat2 link linkat"
WRITES = "write pwrite64 writev copy_file_range ftruncate fsync fdatasync"
ERRORS = {
    "ENOSPC": f"{CREATES} {WRITES}",
    # Not close: an injected error leaves the descriptor open, and the standard library takes it for a fault of the program.
    "EIO": f"{CREATES} {WRITES} read pread64 newfstatat statx getdents64 mmap unlink unlinkat rmdir flock",
    "EACCES": f"{CREATES} unlink unlinkat rmdir newfstatat statx execve",
    "EROFS": f"{CREATES} unlink unlinkat rmdir chmod",
    "EMFILE": "openat pipe2 socket dup fcntl epoll_create1 eventfd2",
}
INJECT = [sys.executable, "-I", "-S", str(pathlib.Path(__file__).with_name("inject.py"))]
SECONDS = 5.0
CALL = re.compile(r"^(\d+) +([a-z0-9_]+)\(")


def survey(case, root):
    """How often each call is made at most by one thread, and how often before the command looks at the brain."""
    brain = template(case, root).copy(root / f"survey-{case.name}")
    log = root / f"survey-{case.name}.log"
    answer = strace(case, brain, log, ["-e", f"trace={','.join('?' + n for n in sorted(KILLS))}"])
    if answer.code != 0:
        raise lab.Fault(f"{case.name} undisturbed: {answer}")
    counts, first, early, main = {}, {}, {}, None
    for line in log.read_text(errors="replace").splitlines():
        found = CALL.match(line)
        if not found:
            continue
        pid, name = found.groups()
        main = main or pid
        counts[pid, name] = counts.get((pid, name), 0) + 1
        if pid == main and "begun" not in first:
            if str(brain.path) in line or '"/dev/urandom"' in line:
                first["begun"] = True
            else:
                early[name] = counts[pid, name]
    return {name: (early.get(name, 0), max(n for (_, other), n in counts.items() if other == name))
            for name in {name for _, name in counts}}


def strace(case, brain, log, options):
    argv = ["strace", "-f", "-q", "-o", str(log), *options, lab.PROGRAM, "--json", "-C", str(brain.path)]
    return lab.call([*argv, *case.arguments], brain.env, cwd=brain.path, given=case.given)


def inject(case, brain, log, root, what):
    """The command with errors. Its answer goes into a file of the same disk."""
    if what.startswith("any:"):
        error = what.split(":")[1]
        what = what.replace("any:", f"any={'/'.join(ERRORS[error].split())}:")
    argv = [*INJECT, str(log), str(root), what, "--", lab.PROGRAM, "--json", "-C", str(brain.path), *case.arguments]
    out = pathlib.Path(f"{brain.path}.out")
    return lab.call(argv, brain.env, cwd=brain.path, given=case.given, out=out)


def survey_errors(case, root):
    """How often each call could fail with each error at most in one thread, and in all threads together."""
    brain = template(case, root).copy(root / f"survey-{case.name}")
    log = root / f"survey-{case.name}.log"
    pairs = [f"{name}:{error}" for error, names in ERRORS.items() for name in names.split()]
    answer = inject(case, brain, log, root, ",".join(pairs))
    if answer.code != 0:
        raise lab.Fault(f"{case.name} undisturbed: {answer}")
    found = {}
    for line in log.read_text(errors="replace").splitlines():
        _, name, error, count = line.split(" ")[:4]
        found[name, error] = max(found.get((name, error), 0), int(count))
        found["any", error] = found.get(("any", error), 0) + 1
    return found


def points(case, root, row):
    """Every point of a case: its name, call, n, how, and whether each later call is struck as well."""
    if row == "kill":
        found = survey(case, root)
        for name in KILLS:
            early, last = found.get(name, (0, 0))
            yield from ((case.name, name, n, "signal=SIGKILL", "") for n in range(early + 1, last + 1))
        return
    for (name, error), last in sorted(survey_errors(case, root).items()):
        for n in range(1, last + 1):
            yield from ((case.name, name, n, error, on) for on in (["+"] if name == "any" else ["", "+"]))


# Notes that packs stay as they were, with the file or folder that failed.
PACKS = ("small packs were not put together", "the day's packs were not made smaller")


class Row:
    """All that the points of a row share."""

    def __init__(self, row, root):
        self.row, self.root, self.lock = row, root, threading.Lock()
        self.cases, self.templates, self.ends = {}, {}, {}
        self.failures, self.tried, self.struck, self.acknowledged, self.slowest, self.remains = [], 0, 0, 0, 0.0, {}

    def add(self, name):
        """A case; gives its points."""
        case = CASES[name]()
        every = list(points(case, self.root, self.row))
        self.cases[name], self.templates[name] = case, lab.Brain(self.root / f"template-{name}", self.environment())
        self.ends[name] = self.undisturbed(case)
        return every

    def environment(self):
        return world(self.root)

    def prefix(self, name):
        return "brain/" if name == "init-in-repo" else ""

    def undisturbed(self, case):
        """The states before and after, each with what settles and the next command behind it."""
        ends = []
        for struck in (False, True):
            brain = self.templates[case.name].copy(self.root / f"end-{case.name}-{struck}")
            if struck:
                brain.must(*case.arguments, given=case.given) if case.arguments[0] != "hook" else brain.brain(*case.arguments)
            elif case.always_new:
                continue
            self.afterwards(case, brain)
            ends.append(state(brain, self.prefix(case.name)))
        return ends

    def afterwards(self, case, brain):
        """What a user does next, and what brings the struck command to its end; seconds of the former."""
        if hasattr(case, "before_next"):
            case.before_next(brain)
        following = brain.brain("--json", "apply", "-", given=b'{"ops": [{"op": "create", "id": "next", "concept": "next", "type": "semantic"}]}')
        check = brain.brain("check")
        if following.code != 0 or check.code != 0:
            raise lab.Fault(f"the next command fails: {following if following.code != 0 else check}")
        case.finish(brain)
        return following.took + check.took

    def strike(self, point, worker):
        name, call, n, how, sticky = point
        case = self.cases[name]
        path = self.root / f"at-{worker}"
        shutil.rmtree(path, ignore_errors=True)
        brain = self.templates[name].copy(path)
        acknowledged = set() if case.name.startswith("init") else set(brain.commits_of_runs())
        log = self.root / f"at-{worker}.log"
        what = f"{call}:{how}:when={n}{sticky}"
        if self.row == "kill":
            answer = strace(case, brain, log, ["-y", "-e", f"trace={call}", "-e", f"inject={what}"])
        else:
            answer = inject(case, brain, log, self.root, what)
        trace = log.read_text(errors="replace")
        struck = "killed by SIGKILL" in trace or "(INJECTED)" in trace
        try:
            self.judge(case, brain, answer, acknowledged, trace)
        except lab.Fault as fault:
            with self.lock:
                self.failures.append(f"{name} {what}: {fault}")
        with self.lock:
            self.tried += 1
            self.struck += struck
            self.acknowledged += answer.code == 0

    def judge(self, case, brain, answer, before, trace):
        """Whether all holds after a strike."""
        if self.row == "errors":
            self.judge_answer(case, answer, trace)
        done = answer.code == 0 and (answer.json() is not None or case.arguments[0] == "hook")
        told = self.row == "kill" and answer.code != 0 and answer.json() is not None
        prefix = self.prefix(case.name)
        wrong = brain.fsck() if (brain.path / ".git/HEAD").exists() else ""
        if wrong and not case.name.startswith("init"):
            raise lab.Fault(f"git fsck: {wrong}")
        took = self.afterwards(case, brain)
        if took > SECONDS:
            raise lab.Fault(f"the next command takes {took:.1f} s")
        wrong = brain.fsck()
        if wrong:
            raise lab.Fault(f"git fsck afterwards: {wrong}")
        ended, ends = state(brain, prefix), self.ends[case.name]
        if ended not in ends:
            raise lab.Fault(f"neither the state before nor after: {difference(ended, ends[-1])}")
        if (done or told) and ended != ends[-1]:
            raise lab.Fault("acknowledged, and not there")
        commits = brain.commits_of_runs(f"{prefix}wake")
        lost = [run for run in before if commits.get(run) != 1]
        twice = [run for run, count in commits.items() if count != 1]
        records = set(brain.records(f"{prefix}wake"))
        run = (answer.json() or {}).get("run") if done or told else None
        if lost or twice or (run and case.name in ("apply", "outcome") and run not in records & set(commits)):
            raise lab.Fault(f"lost {lost}, twice {twice}, answered {run}")
        status = brain.git("status", "--porcelain")
        expected = "M  brain.toml" if case.name == "pre-commit" else ""
        if status != expected:
            raise lab.Fault(f"the work tree is out of step: {status!r}")
        remains = brain.remains()
        if any(path.endswith(".lock") for path in remains):
            raise lab.Fault(f"locks that nobody holds: {remains}")
        with self.lock:
            self.slowest = max(self.slowest, took)
            for path in remains:
                kind = path.rsplit("/", 1)[-1]
                kind = kind[:4] if kind.startswith("tmp_") else kind.rsplit(".", 1)[-1]
                self.remains[kind] = self.remains.get(kind, 0) + 1

    def judge_answer(self, case, answer, trace):
        """Whether an error was answered as one."""
        if "panicked" in answer.err or answer.code in (101, 134, -6, -11, "hangs"):
            raise lab.Fault(f"a panic, an abort or a hang: {answer}")
        # Runs that failed beside others are named in the answer itself.
        named = all(failure.get("error") for failure in (answer.json() or {}).get("failures") or [{}])
        if answer.code != 0 and not answer.err.strip() and not named:
            raise lab.Fault(f"fails without a word: {answer}")
        # A doorbell never fails: its log says what did.
        if answer.code == 0 and case.arguments[0] != "hook":
            # A work tree follows later where its index was not synced, which is promised, and attacked by what comes next.
            masked = [line for line in trace.splitlines() if "sync " in line and "INJECTED" in line and "/index.git-brain" not in line]
            # What was acknowledged stands in the packs as they were; that they were not put together is said.
            notes = str((answer.json() or {}).get("notes"))
            if any(said in notes for said in PACKS):
                masked = [line for line in masked if "/objects/pack/tmp_pack_" not in line and line.split()[4] not in notes]
            if masked:
                raise lab.Fault(f"acknowledged although the disk failed: {masked[0]}")
            if answer.json() is None:
                raise lab.Fault(f"acknowledged, and the answer was not printed: {answer}")


def sample(row, every, share, seed):
    """A part of the points that is another one with each seed, as many of each case."""
    if share is None:
        return every
    by_case = {}
    for point in every:
        by_case.setdefault(point[0], []).append(point)
    chosen = []
    for name, of_case in by_case.items():
        step = max(1, len(of_case) // share)
        chosen += of_case[lab.dice(seed, row, name).randrange(step)::step][:share]
    return lab.dice(seed, row).sample(chosen, len(chosen))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("row", choices=["kill", "errors"])
    parser.add_argument("cases", nargs="*", help="these commands alone")
    parser.add_argument("--sample", type=int, help="so many points of each command; all by default")
    parser.add_argument("--seed", type=int, help="which points a sample takes")
    parser.add_argument("--seconds", type=float, help="begin no point after so long")
    parser.add_argument("--only", help="one point again, as the failure names it: CALL:HOW:when=N")
    arguments = parser.parse_args()
    if arguments.row == "errors" and platform.machine() != "x86_64":
        print("battery 4 errors: NOT RUN: inject.py knows the system calls of x86_64 alone", file=sys.stderr)
        return 0
    seed = lab.seed_of(arguments)
    with lab.scratch("strike") as root:
        row = Row(arguments.row, root)
        every = [point for name in arguments.cases or CASES for point in row.add(name)]
        chosen = sample(arguments.row, every, arguments.sample, seed)
        if arguments.only:
            chosen = [p for p in every if f"{p[1]}:{p[3]}:when={p[2]}{p[4]}" == arguments.only]
        workers, ends = ["a", "b"], time.monotonic() + (arguments.seconds or 1e9)

        def strike(worker):
            for point in chosen[workers.index(worker)::len(workers)]:
                if time.monotonic() < ends:
                    row.strike(point, worker)

        with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(strike, workers))
        if row.struck == 0:
            row.failures.append(f"nothing was struck: {row.tried} of {len(every)} points were tried")
        figures = {"commands": len(row.cases), "points": row.tried, "of": len(every), "seed": seed, "struck": row.struck,
                   "slowest next command": f"{row.slowest:.1f} s", "left behind": row.remains or 0}
        return lab.report({"kill": "1 kill", "errors": "4 errors"}[arguments.row], figures, row.failures)


if __name__ == "__main__":
    sys.exit(main())
