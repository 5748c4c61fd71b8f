#!/usr/bin/env python3
"""Row 3: what is on disk, in which order, before the first byte of the answer; and what a loss of power would leave.

A command is traced. From the trace: each file of `objects/` and `refs/` that the command made was synced after its last
byte and before it got its name, its folder was synced after that, packs before their indexes, both before any ref, all of
it before the first byte on standard output.

With --power the command is also killed at points of its way, and what was not synced is then taken away as the worst disk
would: files without their content, names that are not there or still the old ones. Git must find no fault, and the next
command must work.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

import lab
import strike
from cases import CASES, difference, state

CALLS = ("openat,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,"
         "rmdir,ftruncate,close,mmap,sync_file_range,syncfs,sync,symlink,symlinkat")
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) = (-?\d+|\?)(.*)$")
NAMED = re.compile(r"(?:AT_FDCWD(?:<[^>]*>)?|\d+<([^>]*)>), \"([^\"]*)\"|\"([^\"]*)\"")
FILE = re.compile(r"^(\d+)<([^>]*)>")
MAKES = ("rename", "renameat", "renameat2", "link", "linkat", "mkdir", "mkdirat", "symlink", "symlinkat")


class Disk:
    """What a trace says of files: which content and which names are safe."""

    def __init__(self, git, cwd):
        self.git, self.cwd, self.main = str(git), str(cwd), None
        # Links that were made, and where they lead: git works on a folder of ours that has some to the real one.
        self.links = {}
        self.single = [f"{git}/{name}" for name in ("packed-refs", "config", "HEAD")]
        # Path to why it is not safe; names that were made or removed since their folder was synced.
        self.dirty, self.names, self.synced, self.wrong, self.answered, self.refs, self.packs = {}, {}, 0, [], False, 0, 0

    def mine(self, path):
        """What matters: objects and refs. Not logs, caches, locks and scratch files of the private folder."""
        inside = path.startswith(f"{self.git}/objects/") or path.startswith(f"{self.git}/refs/") or path in self.single
        return inside and not path.endswith((".keep", ".lock"))

    def paths(self, arguments):
        found = []
        for folder, name, plain in NAMED.findall(arguments):
            name = name or plain
            path = os.path.normpath(os.path.join(folder or self.cwd, name))
            for link, there in self.links.items():
                if path.startswith(link + "/"):
                    path = there + path[len(link):]
            found.append(path)
        return found

    def take(self, line):
        found = LINE.match(line)
        if not found:
            return
        process, call, arguments, result, _ = found.groups()
        self.main = self.main or process
        if result.startswith("-") or result == "?":
            return
        handle = FILE.match(arguments)
        if call in ("write", "pwrite64", "writev", "pwritev", "ftruncate") and handle:
            number, path = handle.groups()
            # What git says to us is no answer.
            if number == "1" and call == "write" and process == self.main:
                self.answer()
            elif self.git in path:
                self.dirty[path] = "written"
        elif call == "mmap" and "MAP_SHARED" in arguments and "PROT_WRITE" in arguments:
            shared = re.search(r"\d+<([^>]*)>", arguments)
            if shared:
                self.dirty[shared.group(1)] = "mapped"
        elif call == "openat" and ("O_CREAT" in arguments or "O_TRUNC" in arguments):
            path = self.paths(arguments)[0]
            if "O_TRUNC" in arguments:
                self.dirty[path] = "truncated"
            if "O_EXCL" in arguments:
                self.dirty[path] = "made"
                self.names[path] = None
        elif call in ("fsync", "fdatasync") and handle:
            self.sync(handle.group(2))
        elif call in ("symlink", "symlinkat"):
            there = re.match(r'"([^"]*)"', arguments)
            link = self.paths(arguments)[-1]
            if there:
                self.links[link] = os.path.normpath(os.path.join(os.path.dirname(link), there.group(1)))
            self.names[link] = None
        elif call in MAKES:
            self.make(call, self.paths(arguments))
        elif call in ("unlink", "unlinkat", "rmdir"):
            for path in self.paths(arguments):
                self.dirty.pop(path, None)
                self.names.pop(path, None)

    def sync(self, path):
        self.synced += 1
        self.dirty.pop(path, None)
        for name in [name for name in self.names if os.path.dirname(name) == path]:
            del self.names[name]

    def make(self, call, paths):
        if call.startswith("mkdir"):
            self.names[paths[-1]] = None
            return
        if len(paths) < 2:
            return
        old, new = paths
        state = self.dirty.pop(old, None) if call.startswith("rename") else self.dirty.get(old)
        if state:
            self.dirty[new] = state
        self.names.pop(old, None)
        self.names[new] = None
        if self.mine(new):
            # A file of git's own beside the refs need not be safe at once, only when we answer.
            if state and new not in self.single[1:]:
                self.wrong.append(f"{self.short(new)} got its name before its content was synced ({state})")
            if "/refs/" in new or new.endswith("packed-refs"):
                self.refs += 1
                open_packs = [p for p in {**self.names, **self.dirty} if "/objects/" in p and self.mine(p)]
                if open_packs:
                    self.wrong.append(f"{self.short(new)} moved before {self.short(open_packs[0])} was safe")
            if new.endswith(".pack"):
                self.packs += 1
            if new.endswith(".idx") and new[:-4] + ".pack" in self.dirty:
                self.wrong.append(f"{self.short(new)} before its pack")

    def answer(self):
        if self.answered:
            return
        self.answered = True
        self.wrong += [f"answered before {self.short(path)} was synced ({why})" for path, why in self.dirty.items() if self.mine(path)]
        self.wrong += [f"answered before the folder of {self.short(path)} was synced" for path in self.names if self.mine(path)
                       and os.path.exists(path)]

    def short(self, path):
        return path.removeprefix(self.git + "/")


def whole_calls(text):
    """The calls of a log, each where it ended: strace cuts in two what another thread's call comes between."""
    begun = {}
    for line in text.splitlines():
        cut = re.match(r"^(\d+) +(.*) <unfinished \.\.\.>$", line)
        rest = re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", line)
        if cut:
            begun[cut.group(1)] = cut.group(2)
        elif rest and rest.group(1) in begun:
            ended = re.sub(r"\) += ", ") = ", rest.group(2))
            yield f"{rest.group(1)} {begun.pop(rest.group(1))}{ended}"
        else:
            yield line


def trace(case, brain, log, options=()):
    return strike.strace(case, brain, log, ["-y", "-s", "0", "-e", f"trace={','.join('?' + c for c in CALLS.split(','))}", *options])


def ordered(case, root, failures):
    """The order of one undisturbed command."""
    brain = lab.Brain(root / f"template-{case.name}", strike.world(root)).copy(root / f"order-{case.name}")
    log = root / f"order-{case.name}.log"
    answer = trace(case, brain, log)
    if answer.code != 0:
        raise lab.Fault(str(answer))
    disk = Disk(brain.path / ".git", brain.path)
    for line in whole_calls(log.read_text(errors="replace")):
        disk.take(line)
    if not disk.answered:
        # A hook says nothing: its end is its answer.
        disk.answer()
    failures += [f"{case.name}: {what}" for what in dict.fromkeys(disk.wrong)]
    writes = case.name != "pre-commit"
    if writes and (not disk.refs or not disk.packs):
        failures.append(f"{case.name}: the trace shows {disk.packs} packs and {disk.refs} refs: nothing was checked")
    return disk


def snapshot(path):
    """The files of a git folder with their contents, to put old names back."""
    return {p: p.read_bytes() for p in pathlib.Path(path, ".git").rglob("*") if p.is_file() and "/objects/" not in str(p)}


def lose_power(before, brain, log):
    """Takes away what was not synced when the command was killed; how many files that were."""
    disk = Disk(brain.path / ".git", brain.path)
    for line in whole_calls(log.read_text(errors="replace")):
        disk.take(line)
    lost = 0
    for path in sorted({*disk.names, *disk.dirty}, key=len, reverse=True):
        place = pathlib.Path(path)
        if not str(place).startswith(disk.git) or not place.exists():
            continue
        lost += 1
        if place.is_dir():
            if not any(place.iterdir()):
                place.rmdir()
        elif path in disk.names:
            # The name may be there without its folder having been synced: the old one, or none.
            place.unlink()
            if place in before:
                place.write_bytes(before[place])
        else:
            place.chmod(0o644)
            os.truncate(place, 0)
    return lost


def power(row, case, point, root):
    """Kills at a point, loses power, and looks whether all goes on."""
    _, call, n, _, _ = point
    path = root / "power"
    shutil.rmtree(path, ignore_errors=True)
    brain = row.templates[case.name].copy(path)
    acknowledged, before = set(brain.commits_of_runs()), snapshot(path)
    log = root / "power.log"
    answer = trace(case, brain, log, ["-e", f"inject={call}:signal=SIGKILL:when={n}"])
    lost = lose_power(before, brain, log)
    said = brain.fsck()
    if said:
        raise lab.Fault(f"git fsck: {said}")
    took = row.afterwards(case, brain)
    ended, ends = state(brain), row.ends[case.name]
    if ended not in ends:
        raise lab.Fault(f"neither the state before nor after: {difference(ended, ends[-1])}")
    if answer.json() is not None and ended != ends[-1]:
        raise lab.Fault("acknowledged, and lost with the power")
    commits = brain.commits_of_runs()
    missing = [run for run in acknowledged if commits.get(run) != 1]
    if missing or took > strike.SECONDS:
        raise lab.Fault(f"lost {missing}; the next command took {took:.1f} s")
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--power", type=int, help="so many losses of power at points of each command; -1: at all; none unless given")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    if arguments.power == 0:
        parser.error("--power 0: no loss of power would be tried")
    seed, failures, lost, points, synced = lab.seed_of(arguments), [], 0, 0, 0
    names = arguments.cases or [name for name in CASES if name != "pre-commit"]
    with lab.scratch("order") as root:
        row = strike.Row("kill", root)
        for name in names:
            every = row.add(name)
            case = row.cases[name]
            synced += ordered(case, root, failures).synced
            if arguments.power is None or name.startswith("init"):
                continue
            writing = [point for point in every if point[1] in CALLS.split(",") + ["exit_group"]]
            for point in strike.sample("power", writing, arguments.power if arguments.power > 0 else None, seed):
                points += 1
                try:
                    lost += power(row, case, point, root)
                except lab.Fault as fault:
                    failures.append(f"{name} without power at {point[1]} {point[2]}: {fault}")
    figures = {"commands": len(names), "syncs": synced, "losses of power": points, "files lost": lost, "seed": seed}
    return lab.report("3 order", figures, failures)


if __name__ == "__main__":
    sys.exit(main())
