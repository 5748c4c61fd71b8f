#!/usr/bin/env python3
"""Rows 5 and 6: what many processes did, recorded outside the brain, against what the brain says, and a second computation of it.

Each process sends deltas to a few neurons that all share; each delta makes a neuron of its own, by which it is known
whatever became of its run. Some processes are killed. Afterwards: what was answered `ok` is in the history and in the
records exactly once, what failed is not, what is unknown is there at most once, and the neurons are what an oracle makes of
the graph of commits and the deltas that were sent.

With --beside, git's own maintenance runs in loops at the same time. What puts packs together by an index of many packs
(`maintenance`) takes turns there with what removes packs without asking it (`gc`, `repack`): git 2.47 loses objects where these
run at once, also in a repository that only git itself writes. With --clones, three clones of one bare repository
are used by the processes and brought together with `git brain sync`.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import threading
import time

import lab
import oracle
from lab import create, edge

SHARED = [f"k{n}" for n in range(6)]
KINDS = ("feeds_into", "inhibits")
BESIDE = {
    "gc": ["gc", "-q", "--prune=now"], "repack": ["repack", "-adq"], "pack-refs": ["pack-refs", "--all", "--prune"],
    "maintenance": ["maintenance", "run", "--quiet", "--task=gc", "--task=loose-objects", "--task=incremental-repack"],
}
NOW = "2026-01-26T14:32:00Z"


def start_of(marker):
    ops = [create(name) for name in SHARED]
    ops += [edge("connect", a, b, weight=20000) for a in SHARED for b in SHARED if a < b]
    return [create(marker), *ops]


def delta(dice, marker, additive):
    """One to four random operations, and the neuron by which the delta is known."""
    ops = [create(marker)]
    for _ in range(dice.randint(1, 4)):
        one, two = dice.sample(SHARED, 2)
        low, high = sorted((one, two))
        either = [edge("adjust", low, high, by=dice.randint(-90, 90)), {"op": "activate", "id": one, "strength": dice.randint(0, 40) / 4000}]
        other = [
            edge("connect", one, two, weight=dice.randint(1, 4000)), edge("disconnect", one, two),
            edge("adjust", one, two, by=dice.choice([-70000, 70000, 300, -300])),
            {"op": "reinforce", "error": dice.randint(-9, 9) / 10, "pathway": [edge("x", low, high)]},
            {"op": "reword", "id": one, "concept": dice.choice(["heron", "boat", "tea", one])},
            {"op": "archive", "id": one, "reason": "none"},
        ]
        ops.append(dice.choice(either if additive else either * 2 + other))
    for op in ops:
        for step in op.get("pathway", []):
            del step["op"]
        if op["op"] in ("connect", "adjust", "disconnect") and not additive:
            op["type"] = dice.choice(KINDS) if op["op"] != "adjust" else op["type"]
    return ops


class Log:
    """What happened, seen from outside, with real times."""

    def __init__(self):
        self.lock, self.entries = threading.Lock(), {}

    def invoke(self, marker, ops):
        with self.lock:
            self.entries[marker] = {"ops": ops, "from": time.time(), "end": "unknown", "run": None, "code": None}

    def end(self, marker, end, run, code):
        with self.lock:
            self.entries[marker].update(end=end, run=run, code=code, until=time.time())

    def of(self, end):
        return [marker for marker, entry in self.entries.items() if entry["end"] == end]


def process(brain, log, dice, name, count, kills, additive):
    """One of the processes: deltas one after the other."""
    usual = 0.1
    for n in range(count):
        marker = f"m-{name}-{n}"
        ops = delta(dice, marker, additive)
        log.invoke(marker, ops)
        began = time.monotonic()
        child = subprocess.Popen([lab.PROGRAM, "--json", "-C", str(brain.path), "apply", "-"], env=brain.env,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        killer = None
        if dice.random() < kills:
            killer = threading.Timer(dice.random() * usual, child.kill)
            killer.start()
        out, err = child.communicate(json.dumps({"ops": ops}).encode(), timeout=lab.HANGS)
        if killer:
            killer.cancel()
        usual = 0.9 * usual + 0.1 * (time.monotonic() - began)
        try:
            answer = json.loads(out)
        except ValueError:
            answer = None
        if answer and answer["merged"]:
            log.end(marker, "ok", answer["run"], child.returncode)
        elif child.returncode in (3, 5) and b'"conflicts":[{' not in out:
            log.end(marker, "fail", None, child.returncode)
        else:
            log.end(marker, "unknown", (answer or {}).get("run"), child.returncode)
            if child.returncode not in (-9, 6):
                log.entries[marker]["err"] = err.decode("utf-8", "replace")[-300:]


class Turns:
    """`maintenance` alone, or any of the others."""

    def __init__(self):
        self.changed, self.asked, self.alone, self.others = threading.Condition(), False, False, 0

    @contextlib.contextmanager
    def of(self, name):
        with self.changed:
            if name == "maintenance":
                self.asked = True
                self.changed.wait_for(lambda: not self.others)
                self.asked, self.alone = False, True
            else:
                self.changed.wait_for(lambda: not self.alone and not self.asked)
                self.others += 1
        try:
            yield
        finally:
            with self.changed:
                if name == "maintenance":
                    self.alone = False
                else:
                    self.others -= 1
                self.changed.notify_all()
        time.sleep(0.01)


def loop(brain, name, ended, counts, turns):
    while not ended.is_set():
        with turns.of(name):
            answer = brain.git_answer(*BESIDE[name])
        counts[name] = counts.get(name, 0) + (answer.code == 0)
        counts[f"{name} gave up"] = counts.get(f"{name} gave up", 0) + (answer.code != 0)


def expected(brain, log, seed_run):
    """The oracle's states, commit by commit of wake, and in what order runs were merged."""
    by_run = {}
    for record in brain.records().values():
        markers = [op["id"] for op in record["ops"] if op["op"] == "create" and op["id"].startswith("m-")]
        for marker in markers:
            by_run.setdefault(record["run"], []).append(marker)
    lines = brain.git("log", "--first-parent", "--reverse", "--format=%H %P", "wake").splitlines()
    own = dict(line.split(" ", 1) for line in
               brain.git("log", "--no-merges", "--format=%H %P %(trailers:key=Run,valueonly,separator=%x2C)", "wake").splitlines())
    states, tip = {}, {}
    for line in lines:
        commit, *parents = line.split()
        if len(parents) == 2:
            words = own.get(parents[1], "").split()
            if len(words) == 2 and words[1] in by_run:
                base, run = states[words[0]], words[1]
                ops = log.entries[by_run[run][0]]["ops"] if run != seed_run else start_of("m-start")
                right = oracle.apply(base, ops, run)
                touched = {name for name in right if right[name] is not base.get(name)}
                tip = oracle.merge(base, tip, right, touched)
        states[commit] = tip
    return tip, by_run


def judge(brain, log, seed_run, with_oracle, salience, counts=None):
    """What is wrong. A command that gives up beside git's maintenance is counted, and is no loss."""
    wrong = []
    records = brain.records()
    places = {}
    for record in records.values():
        for op in record["ops"]:
            if op["op"] == "create":
                places.setdefault(op["id"], []).append(record["run"])
    commits = brain.commits_of_runs()
    for marker in log.of("ok"):
        run = log.entries[marker]["run"]
        if places.get(marker) != [run] or commits.get(run) != 1:
            wrong.append(f"{marker} was acknowledged as {run}: records {places.get(marker)}, commits {commits.get(run)}")
    for marker in log.of("fail"):
        if marker in places:
            wrong.append(f"{marker} failed and is there")
    for marker in log.of("unknown"):
        runs = places.get(marker, [])
        if len(runs) > 1 or any(commits.get(run) != 1 for run in runs):
            wrong.append(f"{marker} is unknown: records {runs}, commits {[commits.get(run) for run in runs]}")
        error = log.entries[marker].get("err", "")
        if counts is not None and '"code":2' in error:
            counts["commands that gave up"] = counts.get("commands that gave up", 0) + 1
            print(f"gave up: {marker}: {error.strip()}", file=sys.stderr)
        elif error:
            wrong.append(f"{marker}: exit {log.entries[marker]['code']}: {log.entries[marker]['err']}")
    neurons = brain.neurons()
    stray = [name for name in neurons if name.startswith("m-") and name not in places]
    if stray:
        wrong.append(f"neurons without a run: {stray[:3]}")
    if with_oracle:
        tip, _ = expected(brain, log, seed_run)
        for name in tip:
            here = oracle.seen(neurons[name]) if name in neurons else None
            differ = [f for f in tip[name] if (salience or f != "salience") and (here or {}).get(f) != tip[name][f]]
            if differ:
                wrong.append(f"{name}: " + ", ".join(f"{f} {(here or {}).get(f)}, the oracle says {tip[name][f]}" for f in differ))
    return wrong


def sums(brain, log, landed):
    """The oracle for deltas that commute: what they add up to, whatever the order."""
    wrong, neurons = [], brain.neurons()
    weights = {(a, b): 20000 for a in SHARED for b in SHARED if a < b}
    counts = dict.fromkeys(SHARED, 0)
    for marker in landed:
        for op in log.entries[marker]["ops"]:
            if op["op"] == "adjust":
                weights[op["from"], op["to"]] += op["by"]
            elif op["op"] == "activate":
                counts[op["id"]] += 1
    for (a, b), value in weights.items():
        if lab.weight(neurons, a, b) != value:
            wrong.append(f"{a} -> {b} is {lab.weight(neurons, a, b)}, the sum is {value}")
    wrong += [f"{name} was activated {neurons[name]['activation_count']} times, the sum is {count}"
              for name, count in counts.items() if neurons[name]["activation_count"] != count]
    return wrong


def tidy(brain):
    wrong = []
    said = brain.fsck()
    if "failed to load pack" in said:
        # Git's own maintenance, beside another, leaves an index of packs that are gone; the doctor takes it away.
        brain.brain("doctor")
        said = brain.fsck()
    if said:
        wrong.append(f"git fsck: {said[:500]}")
    check = brain.brain("check")
    if check.code != 0:
        wrong.append(str(check))
    # Git's own maintenance goes on in the background, and locks what it writes.
    locks = [path for path in brain.remains() if path.endswith(".lock") and not path.startswith("objects/")]
    if locks:
        wrong.append(f"locks that nobody holds: {locks}")
    return wrong


class Place(lab.Brain):
    def git_answer(self, *arguments):
        return lab.call(["git", "-C", str(self.path), *arguments], self.env)


def one_brain(root, seed, arguments):
    """All processes on one repository."""
    brain = Place(root / f"brain-{seed}", lab.environment(root, BRAIN_NOW=NOW))
    made = lab.call([lab.PROGRAM, "init", "--no-hooks", str(brain.path)], brain.env)
    if made.code != 0:
        raise lab.Fault(str(made))
    seed_run = brain.apply(*start_of("m-start"))["run"]
    log, ended, counts, turns = Log(), threading.Event(), {}, Turns()
    threads = [threading.Thread(target=process, args=(brain, log, lab.dice(seed, "process", n), n, arguments.deltas, arguments.kills, False))
               for n in range(arguments.processes)]
    beside = [threading.Thread(target=loop, args=(brain, name, ended, counts, turns)) for name in arguments.beside]
    for thread in threads + beside:
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    for thread in beside:
        thread.join()
    brain.must("merge")
    return log, tidy(brain) + judge(brain, log, seed_run, True, True, counts if beside else None), counts


def three_clones(root, seed, arguments):
    """The processes spread over three clones, which are brought together again and again."""
    home = root / f"clones-{seed}"
    env = lab.environment(home)
    first = Place(home / "clone-0", env)
    made = lab.call([lab.PROGRAM, "init", "--no-hooks", str(first.path)], env)
    if made.code != 0:
        raise lab.Fault(str(made))
    seed_run = first.apply(*start_of("m-start"))["run"]
    lab.call(["git", "init", "-q", "--bare", "-b", "main", str(home / "remote.git")], env)
    first.git("remote", "add", "origin", str(home / "remote.git"))
    first.git("push", "-q", "origin", "main", "wake")
    clones = [first]
    for n in (1, 2):
        clone = Place(home / f"clone-{n}", env)
        lab.call(["git", "clone", "-q", str(home / "remote.git"), str(clone.path)], env)
        adopted = clone.brain("init", "--in-repo")
        if adopted.code != 0:
            raise lab.Fault(str(adopted))
        clones.append(clone)
    log, ended, counts = Log(), threading.Event(), {}

    def meet(clone, dice):
        while not ended.is_set():
            answer = clone.brain("sync")
            counts["syncs"] = counts.get("syncs", 0) + (answer.code == 0)
            counts[f"syncs with {answer.code}"] = counts.get(f"syncs with {answer.code}", 0) + (answer.code != 0)
            time.sleep(dice.random() * 0.5)

    threads = [threading.Thread(target=process, args=(clones[n % 3], log, lab.dice(seed, "process", n), n, arguments.deltas, arguments.kills, True))
               for n in range(arguments.processes)]
    meeting = [threading.Thread(target=meet, args=(clone, lab.dice(seed, "meet", n))) for n, clone in enumerate(clones)]
    for thread in threads + meeting:
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    for thread in meeting:
        thread.join()
    for clone in clones:
        clone.must("merge")
    for clone in clones * 3:
        clone.must("sync")
    wrong = []
    trees = {clone.git("rev-parse", "wake^{tree}") for clone in clones}
    if len(trees) != 1:
        wrong.append(f"the clones do not meet: {trees}")
    for clone in clones:
        found = {op["id"] for record in clone.records().values() for op in record["ops"] if op["op"] == "create"}
        landed = [marker for marker in log.entries if marker in found]
        wrong += tidy(clone) + judge(clone, log, seed_run, False, False) + sums(clone, log, landed)
    return log, wrong, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--deltas", type=int, default=40, help="of each process")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--kills", type=float, default=0.1, help="the share of commands that are killed")
    parser.add_argument("--beside", nargs="*", default=[], choices=list(BESIDE), help="what else runs in loops")
    parser.add_argument("--clones", action="store_true", help="three clones over one remote")
    arguments = parser.parse_args()
    row = "6 beside " + "+".join(arguments.beside) if arguments.beside else "5 clones" if arguments.clones else "5 history"
    if arguments.clones and lab.call([lab.PROGRAM, "sync", "--help"], lab.environment("/tmp/git-brain-none")).code != 0:
        print("battery 5 clones: NOT RUN, this program has no command `sync`")
        return 0
    first = lab.seed_of(arguments)
    totals, wrong, others = {}, [], {}
    for seed in range(first, first + arguments.seeds):
        with lab.scratch("history") as root:
            try:
                log, found, counts = (three_clones if arguments.clones else one_brain)(root, seed, arguments)
            except lab.Fault as fault:
                wrong.append(f"seed {seed}: {fault}")
                continue
        wrong += [f"seed {seed}: {what}" for what in found]
        for end in ("ok", "fail", "unknown"):
            totals[end] = totals.get(end, 0) + len(log.of(end))
        for name, count in counts.items():
            others[name] = others.get(name, 0) + count
    figures = {"seeds": f"{first}..{first + arguments.seeds - 1}", "processes": arguments.processes, "deltas each": arguments.deltas,
               **totals, **{name: count for name, count in others.items() if count}}
    if not sum(totals.values()):
        wrong.append("no delta was sent")
    return lab.report(row, figures, wrong)


if __name__ == "__main__":
    sys.exit(main())
