"""What every row of the battery stands on: a hermetic environment, brains made, copied and read with plain git.

Shares no code with the program under test: what a brain holds is read with `git archive` and `git log`.
"""

import argparse
import contextlib
import datetime
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import form

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GIT_BRAIN", str(ROOT / "target" / "debug" / "git-brain"))
# A command that has not ended after so many seconds hangs.
HANGS = 120


def seed_of(arguments, default=None):
    """The seed: given, or another one each day and for each commit."""
    if arguments.seed is not None:
        return arguments.seed
    if default is not None:
        return default
    head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
    day = datetime.date.today().toordinal()
    return day * 1009 + int(head.stdout.strip() or "0", 16) % 1_000_003


@contextlib.contextmanager
def scratch(name):
    """A folder that goes afterwards, in memory where that is possible: the disk is no part of what is tested."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"git-brain-{name}-", dir=base))
    try:
        yield path
    finally:
        if not os.environ.get("GIT_BRAIN_LAB_KEEP"):
            shutil.rmtree(path, ignore_errors=True)


def environment(home, **more):
    """Nothing of this machine but PATH."""
    home = pathlib.Path(home)
    (home / "home").mkdir(parents=True, exist_ok=True)
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.invalid"))}
    plain = {"PATH": os.environ["PATH"], "HOME": str(home / "home"), "XDG_STATE_HOME": str(home / "state"),
             "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
             "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return {**plain, **person, **{name: str(value) for name, value in more.items()}}


class Answer:
    """What a command said."""

    def __init__(self, called, code, out, err, took):
        self.called, self.code, self.out, self.err, self.took = called, code, out, err, took

    def __str__(self):
        return f"{self.called} -> {self.code} in {self.took:.2f} s\n  out: {self.out[-600:]}\n  err: {self.err[-900:]}"

    def json(self):
        """The one document on standard output, or None if it was not printed whole."""
        try:
            return json.loads(self.out)
        except ValueError:
            return None


def call(argv, env, cwd=None, given=b"", timeout=HANGS, out=None):
    """Runs a program to its end; with `out`, its standard output goes into that file first."""
    start = time.monotonic()
    with open(out, "w+b") if out else contextlib.nullcontext(subprocess.PIPE) as into:
        try:
            done = subprocess.run(argv, env=env, cwd=cwd, input=given, stdout=into, stderr=subprocess.PIPE, timeout=timeout)
            code, said, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, said, err = "hangs", late.stdout or b"", late.stderr or b""
    out = out.read_bytes() if out else said
    text = [part.decode("utf-8", "replace") for part in (out, err)]
    return Answer(" ".join(map(str, argv)), code, *text, time.monotonic() - start)


class Brain:
    """A brain in a folder, looked at from outside."""

    def __init__(self, path, env):
        self.path, self.env = pathlib.Path(path), env

    def brain(self, *arguments, given=b"", timeout=HANGS):
        return call([PROGRAM, "-C", str(self.path), *arguments], self.env, given=given, timeout=timeout)

    def must(self, *arguments, given=b""):
        """A command that has to succeed; its document with --json."""
        answer = self.brain("--json", *arguments, given=given)
        if answer.code != 0:
            raise Fault(f"{answer}")
        return answer.json()

    def apply(self, *ops, options=(), **more):
        return self.must("apply", "-", *options, given=json.dumps({"ops": list(ops), **more}).encode())

    def git(self, *arguments, check=True):
        answer = call(["git", "-C", str(self.path), *arguments], self.env)
        if check and answer.code != 0:
            raise Fault(f"{answer}")
        return answer.out.rstrip("\n")

    def copy(self, path, env=None):
        """The same brain at another place."""
        subprocess.run(["cp", "-a", str(self.path), str(path)], check=True)
        return Brain(path, env or self.env)

    def files(self, revision):
        """Path to bytes of all files of a commit."""
        argv = ["git", "-C", str(self.path), "archive", "--format=tar", revision]
        done = subprocess.run(argv, env=self.env, capture_output=True)
        if done.returncode != 0:
            raise Fault(f"git archive {revision}: {done.stderr.decode()}")
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
            return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}

    def neurons(self, revision="wake"):
        """Id to neuron."""
        files = self.files(revision)
        found = (form.neuron(json.loads(text)) for path, text in files.items() if path.startswith("network/neurons/"))
        return {neuron["id"]: neuron for neuron in found}

    def commits_of_runs(self, revision="wake"):
        """How often each run's own commit is reachable."""
        found = {}
        log = self.git("log", "--no-merges", "--format=%(trailers:key=Run,valueonly,separator=%x2C)", revision)
        for run in filter(None, log.split("\n")):
            found[run] = found.get(run, 0) + 1
        return found

    def records(self, revision="wake"):
        """Run id to record."""
        files = self.files(revision)
        paths = (p for p in files if p.startswith("network/runs/") and not p.endswith(".conflicts.json"))
        found = [form.record(json.loads(files[path])) for path in paths]
        return {record["run"]: record for record in found}

    def fsck(self):
        """What git finds wrong; empty if nothing."""
        answer = call(["git", "-C", str(self.path), "fsck", "--strict", "--no-dangling", "--no-progress"], self.env)
        said = (answer.out + answer.err).strip()
        noise = ("notice: HEAD points to an unborn branch", "notice: No default references")
        said = "\n".join(line for line in said.split("\n") if not line.startswith(noise))
        return said if said or answer.code == 0 else f"exit {answer.code}"

    def remains(self):
        """Lock files of git's, intents, keeps and half-written files that nobody holds any more."""
        git = self.path / ".git"
        endings = (".lock", ".keep", ".intent", ".follow", ".new")
        found = [p for p in git.rglob("*") if p.is_file() and (p.name.endswith(endings) or p.name.startswith("tmp_"))]
        return sorted(str(p.relative_to(git)) for p in found)


def machines(root, names, files, first):
    """Brains of people in folders with a gate between them; the first person commits files, and then does something more."""
    done = call([PROGRAM, "init", "--bare", "gate.git"], environment(root), cwd=root)
    if done.code != 0:
        raise Fault(str(done))
    (root / "gate.git/hooks/post-receive").unlink()
    found = {}
    for name in names:
        env = environment(root)
        for who in ("AUTHOR", "COMMITTER"):
            env.update({f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": f"{name}@example.invalid"})
        brain = found[name] = Brain(root / name, env)
        if name != names[0]:
            call(["git", "clone", "-q", "gate.git", name], env, cwd=root)
        else:
            brain.path.mkdir()
        brain.must("init", "--no-hooks")
        if name == names[0]:
            brain.git("remote", "add", "origin", "../gate.git")
            for path, text in files.items():
                (brain.path / path).write_text(text)
            brain.git("add", *files)
            brain.git("commit", "-qm", "rules")
        brain.brain("trust", "--yes")
        if name == names[0]:
            first(brain)
        brain.must("sync")
    return found


class Fault(Exception):
    """Something that must not be."""


def create(name, kind="semantic"):
    return {"op": "create", "id": name, "concept": name, "type": kind}


def edge(op, source, target, **more):
    return {"op": op, "from": source, "to": target, "type": "feeds_into", **more}


def weight(neurons, source, target, kind="feeds_into"):
    """A connection's weight; None if it is not there."""
    for connection in neurons.get(source, {}).get("connections", []):
        if (connection["target"], connection["type"]) == (target, kind):
            return connection["weight"]
    return None


def random_days(doc, row, name, steps, begin):
    """Teams by seed: `begin(folder, dice)` gives one with `step(dice)`, `judge()` and `lines`. The exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teams", type=int, default=20)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, help="the first team's")
    parser.add_argument("--seconds", type=int, default=0, help="no new team after so many; 0: all")
    arguments = parser.parse_args()
    first, began, failures, teams, taken = seed_of(arguments), time.monotonic(), [], 0, 0
    for seed in range(first, first + arguments.teams):
        if arguments.seconds and time.monotonic() - began > arguments.seconds:
            break
        rolls, team = dice(seed, name), None
        with scratch(name) as folder:
            try:
                team, done = begin(folder, rolls), 0
                # What cannot be done at a moment is drawn again.
                for _ in range(6 * arguments.steps):
                    done += team.step(rolls)
                    if done == arguments.steps:
                        break
                team.judge()
            except Fault as fault:
                said = "\n  ".join(team.lines if team else [])
                failures.append(f"seed {seed}: {fault}\n  {said}")
            taken += len(team.lines) if team else 0
        teams += 1
    if not taken:
        failures.append("nothing was done")
    return report(f"{row} {name}", {"teams": teams, "seeds": f"{first}..{first + max(teams, 1) - 1}", "steps": taken}, failures)


def report(row, figures, failures):
    """The one line of figures, the failures before it, and the exit code."""
    for failure in failures[:8]:
        print(f"FAILED {row}: {failure}", file=sys.stderr)
    if len(failures) > 8:
        print(f"FAILED {row}: and {len(failures) - 8} more", file=sys.stderr)
    said = ", ".join(f"{name} {value}" for name, value in figures.items())
    print(f"battery {row}: {said}, failures {len(failures)}", flush=True)
    return 1 if failures else 0


def dice(seed, *what):
    """A generator of its own for each purpose."""
    return random.Random("/".join(map(str, (seed, *what))))
