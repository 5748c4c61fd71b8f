#!/usr/bin/env python3
"""Row 16: random lives of a few clones and one gate, with every command that writes, and people with plain git beside them.

A life is a list of lines of shell (`steps.py`), drawn from a seed. Now and then all clones that are there meet: they sync and run
until nothing moves. Then they have the same trees, nothing that was acknowledged is missing, nothing waits without a word, git and
`check` find no fault, and nothing tainted is in main. No command on the way is refused, panics, or takes too long.

A life that fails is made smaller as long as it fails in the same way, and printed as a script that repeats it.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import form
import lab
import steps as drawing

# What a command may take, seconds.
SLOW = 30
# Faults that a life brings about on purpose, by kind of step: what the command says of them.
ON_PURPOSE = {
    "outcome": r"there is no run",
    "undo": r"no sleep|nothing to (undo|take back)",
    "revert": r"taken back already|there is no run",
    "revert-origin": r"nothing|no run",
    "approve": r"nothing|no neuron|no run",
    "house": r'"state":"needs_you"',
    "gone": r"nothing is remembered of files|nothing was fed from",
    "correct": r"was replaced already",
    "plain": r"non-fast-forward|fetch first|stale info|Not possible to fast-forward|failed to push",
}
TRUSTED = {"bootstrap", "local", "approved", "import"}
# Beyond this depth no agent is woken, and beyond these runs of a stimulus.
DEPTH = 3


class Failed(Exception):
    """What must not be: the kind of it, by which lives are compared, and what was seen."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind, self.text = kind, text


class Said:
    """A command of a step, from the log, with what it answered."""

    def __init__(self, root, line):
        step, place, code, took, self.clone, self.called = line.rstrip().split("\t")
        self.step, self.place, self.code, self.took = int(step), int(place), int(code), int(took) / 1000
        self.out = (root / "out" / f"{step}.{place}").read_text(errors="replace")
        self.err = (root / "out" / f"{step}.{place}.err").read_text(errors="replace")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    def command(self):
        """The command after git brain's own options; of plain git, `git` and its command."""
        words = self.called.split()
        return words[4] if words[1] == "--json" else f"git {words[3]}"

    def __str__(self):
        return f"step {self.step}: {self.clone}: {self.command()} exits {self.code} after {self.took:.1f} s: {(self.err or self.out).strip()[:900]}"


def likeness(text):
    """A message without what differs from life to life; of what a gate says, that alone."""
    try:
        text = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        pass
    text = next((line for line in text.split("\n") if line.startswith("remote: ")), text)
    text = re.sub(r"\d{8}t\d{9}z-[a-z2-7]{8}-[a-z]+", "RUN", text)
    text = re.sub(r"\S*/\S+", "PATH", text)
    text = re.sub(r"\b(?=[a-z-]*\d)[a-z0-9-]+\b", "ID", text)
    return text[:160]


class Ledger:
    """What was acknowledged, seen from outside."""

    def __init__(self):
        # What was acknowledged by id, with the step, the clone and the command that said so.
        self.stimuli, self.runs, self.sleeps, self.outcomes, self.goals, self.held, self.files, self.told = ({} for _ in range(8))
        # Nights that were taken back, with the clones that did; files that people took away, and origins that they took back.
        self.undone, self.gone, self.origins = collections.defaultdict(set), set(), set()

    def hear(self, step, said):
        answer, command = said.json(), said.command()
        if said.code != 0 or answer is None:
            return
        here = f"step {said.step}, {said.clone}: {command}"
        for stimulus in answer.get("stimuli", []) if command == "feed" else []:
            self.stimuli[stimulus] = here
        if command == "chat":
            self.told[said.called.split(" --conversation ")[1].split(" ", 1)[1]] = here
        for run in answer.get("runs", []) if command in ("feed", "run") else []:
            if run["merged"]:
                self.runs[run["run"]] = here
            else:
                self.held[run["run"]] = (here, run["agent"])
        if command in ("apply", "outcome", "goal") and answer.get("run"):
            if answer["merged"]:
                self.runs[answer["run"]] = here
            else:
                self.held[answer["run"]] = (here, "human")
            if command == "outcome" and answer["merged"]:
                self.outcomes[answer["run"]] = here
            if command == "goal":
                self.goals[answer["goal"]] = here
        if command in ("revert", "approve") and "by" in answer:
            self.runs.update(dict.fromkeys(answer["by"], here))
            if step.kind == "revert-origin":
                self.origins.add(said.called.split()[-1])
        if command == "feed":
            self.runs.update(dict.fromkeys(answer.get("archived", []), here))
        if command == "import" and answer["merged"]:
            self.runs.update(dict.fromkeys(answer["runs"], here))
        if command in ("sleep", "approve") and answer.get("state") == "slept":
            self.sleeps[answer["run"]] = here
        if command == "sleep" and "undone" in answer:
            self.undone[answer["undone"]].add(said.clone)

    def person(self, step):
        """What a person's step left in main."""
        self.gone.add(step.more.get("old"))
        if "path" in step.more:
            self.files[step.more["path"]] = f"step {step.number}"


class World:
    """A life that is lived."""

    def __init__(self, root, clones, hurried):
        self.root, self.clones = root, list(drawing.NAMES[:clones])
        self.ledger, self.commands, self.heard, self.slowest = Ledger(), collections.Counter(), 0, 0.0
        self.env = {"PATH": os.environ["PATH"], "GIT_BRAIN": lab.PROGRAM, "CLONES": " ".join(self.clones)}
        # What all lives of so many clones begin with is made once. Paths stand in it, so that each life has the same place.
        begun = root.parent / f"begun-{clones}"
        if begun.exists():
            subprocess.run(["cp", "-a", str(begun), str(root)], check=True)
            # A copied folder's remote needs a person's word.
            trusts = 'for place in $CLONES; do "$GIT_BRAIN" -C $place trust --yes >/dev/null 2>&1; done'
            subprocess.run(["bash", "-c", f"{drawing.PRELUDE}\n{trusts}"], cwd=root, env=self.env, check=True)
            self.heard = len((root / "log").read_text().splitlines())
            self.env.update(hurried)
            return
        root.mkdir()
        build_clock(root / "clock.so")
        (root / "log").touch()
        self.live(drawing.Step(0, "setup", None, drawing.setup()))
        subprocess.run(["cp", "-a", str(root), str(begun)], check=True)
        self.env.update(hurried)

    def live(self, step):
        """One step, with all that it leaves running behind it."""
        script = f"{drawing.PRELUDE}\nSTEP={step.number} K=0\n{step.line}\n"
        child = subprocess.Popen(["bash", "-c", script], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said = child.communicate(timeout=20 * SLOW)[0]
        except subprocess.TimeoutExpired as late:
            os.killpg(child.pid, signal.SIGKILL)
            raise Failed("hangs behind a hook", f"step {step.number}: something runs on after {20 * SLOW} s: {step.line}") from late
        if step.number == 0 and child.returncode != 0:
            raise Failed("setup", said)
        self.listen(step, said)

    def listen(self, step, said):
        lines = (self.root / "log").read_text().splitlines()
        new, self.heard = lines[self.heard:], len(lines)
        for line in new:
            one = Said(self.root, line)
            self.commands[one.command()] += one.code == 0
            self.slowest = max(self.slowest, one.took)
            if "panicked" in one.err or one.code >= 124 and not one.command().startswith("git "):
                raise Failed(f"{one.command()} panics or hangs: {likeness(one.err)}", str(one))
            if one.took > SLOW:
                raise Failed(f"{one.command()} is slow", str(one))
            if one.code != 0:
                meant = ON_PURPOSE.get(step.kind)
                if not meant or not re.search(meant, one.err + one.out):
                    raise Failed(f"{one.command()} exits {one.code}: {likeness(one.err or one.out)}", f"{one}\n  {step.line}")
            self.ledger.hear(step, one)
        if not new and step.kind != "later":
            return
        if step.kind in ("note", "move", "unnote") and new:
            self.ledger.person(step)
        if (self.root / "restless").exists():
            raise Failed("restless", (self.root / "restless").read_text())

    def judge(self, step):
        """After all met: what must hold."""
        here, ledger = step.more["here"], self.ledger
        brains = {name: Place(self.root / name, self.env) for name in [*here, "gate"]}
        for branch in ("wake", "main"):
            trees = {name: brain.git("rev-parse", f"{branch}^{{tree}}") for name, brain in brains.items()}
            if len(set(trees.values())) > 1:
                raise Failed(f"{branch} differs", f"step {step.number}: {branch}: {trees}")
        for name, brain in brains.items():
            said = brain.fsck()
            if said:
                raise Failed(f"fsck: {likeness(said)}", f"step {step.number}: {name}: {said[:600]}")
            for branch in ("wake", "main"):
                answer = lab.call([lab.PROGRAM, "-C", str(brain.path), "check", branch], self.clocked(), timeout=60)
                if answer.code != 0:
                    raise Failed(f"check {branch}: {likeness(answer.out)}", f"step {step.number}: {name}: {answer}")
            # Whoever lives honestly is accused of nothing, by what is new and by all of it.
            said = []
            for how in ([], ["--all"]) if name == here[0] else ([],):
                answer = lab.call([lab.PROGRAM, "-C", str(brain.path), "--json", "audit", *how], self.clocked(), timeout=120)
                if answer.code != 0:
                    raise Failed(f"audit: {likeness(answer.out)}", f"step {step.number}: {name}: {answer}")
                said.append(json.loads(answer.out)["findings"])
            if any(findings != said[0] for findings in said):
                raise Failed("audit: what is new and all of it disagree", f"step {step.number}: {name}: {said}")
        first = brains[here[0]]
        # What a clone that is away has acknowledged comes when it is back.
        away = [name for name in self.clones if name not in here]
        missing(step, ledger, first, away)
        tainted(step, first)
        held = {run: stimuli for brain in brains.values() for run, stimuli in brain.held().items()}
        waiting(step, first, self.root, held)
        for run, (where, _) in ledger.held.items():
            if run not in held and run not in first.named("wake", "runs") and not any(f", {clone}: " in where for clone in away):
                raise Failed("a held run is gone", f"step {step.number}: {run}, held at {where}, is on no branch and not in wake")
        sums(step, ledger, first, away)

    def clocked(self):
        env = {**self.env, "HOME": str(self.root / "home"), "XDG_STATE_HOME": str(self.root / "state"), "GIT_CONFIG_GLOBAL": str(self.root / "home" / ".gitconfig"),
               "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        later = self.root / "later"
        return {**env, "LATER": later.read_text().strip(), "LD_PRELOAD": str(self.root / "clock.so")} if later.exists() else env


class Place(lab.Brain):
    """A clone or the gate, read with plain git."""

    def __init__(self, path, env):
        super().__init__(path, {"PATH": env["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"})
        self.cache = {}

    def all(self, branch):
        if branch not in self.cache:
            self.cache[branch] = self.files(branch)
        return self.cache[branch]

    def named(self, branch, folder):
        """Name without `.json` to path, of the files below a folder."""
        return {path.rsplit("/", 1)[1].removesuffix(".json"): path for path in self.all(branch) if path.startswith(f"network/{folder}/")}

    def documents(self, branch, folder):
        files = self.all(branch)
        return {name: json.loads(files[path]) for name, path in self.named(branch, folder).items() if path.endswith(".json")}

    def held(self):
        """Run to the stimuli that it consumed, of runs that wait on branches of their own."""
        found = {}
        for line in self.git("for-each-ref", "--format=%(refname)", "refs/heads/agents").split():
            run = line.rsplit("/", 1)[1]
            path = self.git("ls-tree", "-r", "--name-only", line, "network/runs").split()
            found.update({run: form.record(json.loads(self.git("show", f"{line}:{one}")))["stimuli"] for one in path if one.endswith(f"/{run}.json")})
        return found

    def records(self, branch="wake"):
        return {name: form.record(text) for name, text in self.documents(branch, "runs").items() if not name.endswith(".conflicts")}


def missing(step, ledger, brain, away):
    """Nothing that was acknowledged is missing."""
    kinds = (("stimuli", ledger.stimuli), ("runs", ledger.runs), ("ledger", ledger.outcomes), ("goals", ledger.goals), ("sleep", ledger.sleeps))
    for folder, acknowledged in kinds:
        there = brain.named("wake", folder)
        for name, where in acknowledged.items():
            if name not in there and name not in ledger.undone and not any(f", {clone}: " in where for clone in away):
                raise Failed(f"missing: {folder} of {where.rsplit(' ', 1)[1]}", f"step {step.number}: wake has no {folder} {name}, acknowledged at {where}")
    commits = brain.commits_of_runs()
    for run, count in commits.items():
        if count > 1:
            raise Failed("a run twice", f"step {step.number}: {run} is in wake's history {count} times")
    # What was consumed has a memory, unless a record says where it went.
    neurons, records = brain.documents("wake", "neurons"), brain.records()
    remembered = {neuron.get("stimulus") for neuron in neurons.values()}
    queue = brain.named("wake", "stimuli/queue")
    consumed = {stimulus for record in records.values() for stimulus in record["stimuli"]}
    went = {effect["neuron"] for record in records.values() for effect in record["effects"] if "removed" in effect or "archived" in effect}
    made = {effect["created"]["stimulus"]: effect["neuron"] for record in records.values() for effect in record["effects"] if "stimulus" in effect.get("created", {})}
    dropped = {stimulus for record in records.values() if record.get("reverts") for run in record["reverts"] if run in records for stimulus in records[run]["stimuli"]}
    texts = brain.documents("wake", "stimuli")
    for stimulus, where in ledger.stimuli.items():
        if any(f", {clone}: " in where for clone in away):
            continue
        if stimulus in queue or stimulus in remembered or stimulus in dropped:
            continue
        if stimulus in made and made[stimulus] in went:
            continue
        if stimulus in consumed and stimulus not in made:
            continue
        if any(origin == (of := texts[stimulus].get("origin", "local")) or of.startswith(f"{origin}:") for origin in ledger.origins):
            continue
        raise Failed("a stimulus without a memory", f"step {step.number}: {stimulus} of {where} neither waits nor is remembered; memory {made.get(stimulus)}, consumed {stimulus in consumed}")
    for text, where in ledger.told.items():
        if not any(text in stimulus["text"] for stimulus in texts.values()) and not any(f", {clone}: " in where for clone in away):
            raise Failed("a message is missing", f"step {step.number}: no stimulus has {text!r} of {where}")
    for path, where in ledger.files.items():
        if path not in ledger.gone and path not in brain.all("main") and not any(path.startswith(f"notes/{clone}-") for clone in away):
            raise Failed("a person's file is missing", f"step {step.number}: main has no {path} of {where}")


def trusted(origin):
    """Whether all that an origin names is trusted."""
    return all(part.split(":")[0] in TRUSTED for part in origin.split("+"))


def tainted(step, brain):
    """Main has nothing of what nobody approved."""
    for name, neuron in brain.documents("main", "neurons").items():
        if not trusted(neuron.get("origin", "local")):
            raise Failed("tainted in main", f"step {step.number}: main has {name} of {neuron['origin']}")
    # A run that was approved, or taken back, has nothing left to hold out.
    approved = {run for record in brain.records("main").values() for run in record.get("approves", []) + record.get("reverts", [])}
    for name, record in brain.records("main").items():
        if not trusted(record["origin"]) and name not in approved:
            raise Failed("a tainted run in main", f"step {step.number}: main has the record {name} of {record['origin']}")


def waiting(step, brain, root, held):
    """What waits, and nobody says why."""
    last = [Said(root, line) for line in (root / "log").read_text().splitlines()]
    runs = [said for said in last if said.step == step.number and said.command() == "run"]
    notes = (runs[-1].json() or {}).get("notes", []) if runs else []
    if notes:
        return
    files = brain.all("wake")
    agents = {path.split("/")[1].removesuffix(".json") for path in brain.all("main") if path.startswith("agents/")}
    records = brain.records()
    kept = {stimulus for stimuli in held.values() for stimulus in stimuli}
    for path, text in files.items():
        if path.startswith("network/signals/") and not path.endswith(".ack.json"):
            sent = json.loads(text)
            deep = records.get(sent.get("run"), {}).get("depth", 0) >= DEPTH
            if path.removesuffix(".json") + ".ack.json" not in files and sent["to"] in agents and not deep:
                raise Failed(f"a signal waits: {sent['to']} {sent['payload'].get('kind')}", f"step {step.number}: nobody answers {path}: {text.decode()}, and no note says why")
        if path.startswith("network/stimuli/queue/") and path.rsplit("/", 1)[1] not in kept:
            raise Failed("a stimulus waits", f"step {step.number}: {path} waits, and no note says why")


def sums(step, ledger, brain, away):
    """Each weight between the shared neurons is the sum of what records and nights say."""
    neurons, found, records = brain.neurons("wake"), {}, brain.records()
    back = set()
    for name in sorted(records, reverse=True):
        if name not in back:
            back.update(records[name].get("reverts", []))
    for name, record in records.items():
        # What is taken back counts not at all, however many machines took it back; and taking back is nothing else.
        if name in back or record.get("reverts"):
            continue
        for effect in record["effects"]:
            for source, target in [(a, b) for a in drawing.SHARED for b in drawing.SHARED if a < b]:
                if effect["neuron"] != source:
                    continue
                made = [c for c in effect.get("created", {}).get("connections", []) if (c["target"], c["type"]) == (target, "feeds_into")]
                moved = [c["weight"] for c in effect.get("connections", []) if (c["target"], c["type"]) == (target, "feeds_into")]
                change = sum(c["weight"] for c in made) + sum((after or 0) - (before or 0) for before, after in moved)
                found[source, target] = found.get((source, target), 0) + change
    for name, night in brain.documents("wake", "sleep").items():
        # A clone that is away brings its undoing when it is back.
        if ledger.undone.get(night["run"], set()) - set(away):
            continue
        # The file leaves out what its trees say.
        whole = brain.must("show", night["run"])["document"] if night.get("format") == 2 else night
        for line in whole.get("consolidated", []):
            words = line["what"].split()
            if len(words) == 2 and words[1].startswith("connections.") and words[1].endswith(".feeds_into"):
                target = words[1].split(".")[1]
                if (words[0], target) in found:
                    found[words[0], target] += (line["new"] or 0) - (line["old"] or 0)
    for (source, target), value in found.items():
        here = lab.weight(neurons, source, target)
        if here != value and 0 < value < 60000:
            raise Failed("a sum", f"step {step.number}: {source} -> {target} is {here}; records and nights add up to {value}")


def build_clock(path):
    """A clock that can be put forward, for programs that ask the C library."""
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", str(path), "-ldl"], input=drawing.CLOCK.encode(), check=True)


def lived(folder, how, steps, keep=None):
    """Lives it: the failure or None, with the step, and the world."""
    world, step, root = None, drawing.Step(0, "setup", None, ""), folder / "life"
    try:
        world = World(root, *how)
        for step in steps:
            world.live(step)
            if step.kind == "quiet":
                world.judge(step)
        return None, step, world
    except Failed as failed:
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(root, keep, symlinks=True)
        return failed, step, world
    finally:
        shutil.rmtree(root, ignore_errors=True)


def shrunk(folder, how, steps, failed, last, seconds):
    """The fewest steps that were found within a time and fail in the same way."""
    until = time.monotonic() + seconds
    steps = [step for step in steps if step.number <= last.number]

    def fails(some):
        return time.monotonic() < until and (lived(folder, how, some)[0] or Failed("", "")).kind == failed.kind

    tail = steps[-1:]
    fewer = [step for step in steps[:-1] if step.kind != "quiet"] + tail
    if fails(fewer):
        steps = fewer
    # All steps of a kind, and of a clone, then half of all, and so on to single ones.
    for alike in (lambda step: step.kind, lambda step: step.clone):
        for value in sorted({alike(step) or "" for step in steps[:-1]}):
            fewer = [step for step in steps[:-1] if (alike(step) or "") != value] + steps[-1:]
            if len(fewer) < len(steps) and fails(fewer):
                steps = fewer
    size = max(1, len(steps) // 2)
    while size >= 1 and time.monotonic() < until:
        start = 0
        while start < len(steps) - 1 and time.monotonic() < until:
            fewer = steps[:start] + steps[min(start + size, len(steps) - 1):]
            if len(fewer) < len(steps) and fails(fewer):
                steps = fewer
            else:
                start += size
        size //= 2
    return steps


def script(how, steps):
    """The life as a script that stands alone."""
    clones, hurried = how
    lines = ["#!/usr/bin/env bash", "# In an empty folder, with GIT_BRAIN naming the program.", f"export SHOW=1 CLONES='{' '.join(drawing.NAMES[:clones])}'", drawing.PRELUDE]
    if any(step.kind == "later" for step in steps):
        lines.append(f"cc -shared -fPIC -x c - -o clock.so -ldl <<'CLOCK'{drawing.CLOCK}CLOCK")
    lines.append(f"STEP=0 K=0\n{drawing.setup()}")
    lines += [f"export {name}={value}" for name, value in hurried.items()]
    for step in steps:
        lines.append(f"( STEP={step.number} K=0; {step.line} )   # {step.kind}")
    lines.append('tips; for place in $CLONES gate; do "$GIT_BRAIN" -C $place check; git -C $place fsck --strict --no-dangling --no-progress; done')
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lives", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60, help="of each life")
    parser.add_argument("--every", type=int, default=40, help="steps between two quiet points")
    parser.add_argument("--clones", type=int, choices=(2, 3, 4), help="by the seed unless given")
    parser.add_argument("--seed", type=int, help="the first life's")
    parser.add_argument("--seconds", type=int, default=0, help="no new life after so many; 0: all")
    parser.add_argument("--shrink", type=int, default=120, help="seconds for making a life that fails smaller; 0: as it is")
    parser.add_argument("--scripts", type=pathlib.Path, help="a folder for the scripts of lives that fail; else standard error")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what a failed life left")
    parser.add_argument("--verbose", action="store_true", help="how often each command succeeded")
    arguments = parser.parse_args()
    with lab.scratch("lives") as folder:
        return live(folder, arguments)


def live(folder, arguments):
    """All lives, one after the other; the exit code."""
    first, began, failures = lab.seed_of(arguments), time.monotonic(), []
    lives = done = quiets = 0
    commands = collections.Counter()
    slowest = 0.0
    for seed in range(first, first + arguments.lives):
        if arguments.seconds and time.monotonic() - began > arguments.seconds:
            break
        clones = arguments.clones or lab.dice(seed, "clones").randint(2, 4)
        # Some do not wait for what hooks leave in the background.
        hurried = {"HURRY": "1"} if lab.dice(seed, "hurry").random() < 0.2 else {}
        how = (clones, hurried)
        steps = drawing.life(seed, clones, arguments.steps, arguments.every)
        failed, last, world = lived(folder, how, steps, arguments.keep)
        lives += 1
        done += sum(step.number <= last.number for step in steps)
        quiets += sum(step.kind == "quiet" and step.number <= last.number for step in steps)
        if world:
            commands, slowest = commands + world.commands, max(slowest, world.slowest)
        if not failed:
            continue
        failures.append(f"seed {seed}, {clones} clones{', hurried' if hurried else ''}: {failed.kind}\n  {failed.text}")
        print(failures[-1], file=sys.stderr, flush=True)
        fewer = shrunk(folder, how, steps, failed, last, arguments.shrink) if arguments.shrink else [s for s in steps if s.number <= last.number]
        if arguments.scripts:
            arguments.scripts.mkdir(parents=True, exist_ok=True)
            (arguments.scripts / f"{seed}.sh").write_text(script(how, fewer))
            print(f"seed {seed}: {len(fewer)} steps in {arguments.scripts / f'{seed}.sh'}", file=sys.stderr)
            for step in fewer:
                print(f"  {step.line}", file=sys.stderr, flush=True)
        else:
            print(script(how, fewer), file=sys.stderr, flush=True)
    figures = {"lives": lives, "seeds": f"{first}..{first + max(lives, 1) - 1}", "steps": done, "commands": sum(commands.values()), "quiet points": quiets,
               "slowest command": f"{slowest:.1f} s"}
    if arguments.verbose:
        print(", ".join(f"{name} {count}" for name, count in commands.most_common()), file=sys.stderr)
    if not done:
        failures.append("nothing was done")
    return lab.report("16 lives", figures, failures)


if __name__ == "__main__":
    sys.exit(main())
