#!/usr/bin/env python3
"""Row 2: eight writers of all kinds on one brain, and most of their commands killed at random moments.

What was acknowledged is there, each exactly once; what was not is there once or not at all; weights are the sum of what
landed and of what each sleep that stands says it added. The log of what happened is kept outside the brain.
"""

import argparse
import json
import subprocess
import sys
import threading
import time

import lab
from lab import create, edge

# Sleeps change a weight by a step of its own, so that sums tell who did what.
SETTINGS = ["-c", "sleep.boost=7", "-c", "sleep.threshold=65535", "-c", "sleep.top=4096"]
BASE = 20000


class Storm:
    """One brain, its writers, and the log."""

    def __init__(self, brain, seed, kills, share, ends):
        self.brain, self.seed, self.wanted, self.share = brain, seed, kills, share
        self.lock, self.kills, self.commands, self.wrong = threading.Lock(), 0, 0, []
        self.deltas, self.feeds, self.outcomes, self.sleeps, self.undone, self.codes = {}, {}, [], [], [], {}
        self.usual, self.ends = {}, ends

    def goes_on(self):
        with self.lock:
            return self.kills < self.wanted and len(self.wrong) < 20 and time.monotonic() < self.ends

    def call(self, dice, kind, *arguments, given=b""):
        """Runs a command, or begins it; its document, if it was answered whole."""
        child = subprocess.Popen([lab.PROGRAM, "--json", "-C", str(self.brain.path), *arguments], env=self.brain.env,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        killer = None
        if dice.random() < self.share:
            killer = threading.Timer(dice.random() * self.usual.get(kind, 0.1), child.kill)
            killer.start()
        began = time.monotonic()
        try:
            out, err = child.communicate(given, timeout=lab.HANGS)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            self.wrong.append(f"{arguments} hangs")
        if killer:
            killer.cancel()
        with self.lock:
            self.commands += 1
            self.kills += child.returncode == -9
            self.codes[child.returncode] = self.codes.get(child.returncode, 0) + 1
            if child.returncode == 0:
                self.usual[kind] = 0.8 * self.usual.get(kind, 0.1) + 0.2 * (time.monotonic() - began)
            text = err.decode("utf-8", "replace")
            nothing = kind == "undo" and "there is no sleep" in text or kind == "outcome" and "waits on its branch" in text
            if child.returncode not in (0, -9, 6) and not nothing or "panicked" in text:
                self.wrong.append(f"{arguments}: exit {child.returncode}: {text[-400:]}")
        try:
            return json.loads(out)
        except ValueError:
            return None

    def apply(self, dice, name, n):
        marker, by = f"m-{name}-{n}", dice.randint(-20, 60)
        ops = [create(marker), edge("adjust", "ka", "kb", by=by), *({"op": "activate", "id": i, "strength": 0.1} for i in ("ka", "kb"))]
        pathway = [{"from": "kc", "to": "kb", "type": "feeds_into"}]
        document = {"ops": ops, "prediction": {"text": "x", "value": 0.5, "pathway": pathway}}
        self.deltas[marker] = (by, None)
        held = dice.random() < 0.2
        answer = self.call(dice, "apply", *SETTINGS, "apply", "-", *(["--no-merge"] if held else []), given=json.dumps(document).encode())
        if answer:
            self.deltas[marker] = (by, answer["run"])

    def feed(self, dice, name, n):
        source = f"f-{name}-{n}"
        self.feeds[source] = False
        options = ["--no-run"] if dice.random() < 0.5 else []
        self.feeds[source] = bool(self.call(dice, "feed", *SETTINGS, "feed", f"Thing {n} of {name} about boats.", "--source", source, *options))

    def outcome(self, dice, name, n):
        runs = [run for _, run in list(self.deltas.values()) if run]
        if runs:
            answer = self.call(dice, "outcome", *SETTINGS, "outcome", dice.choice(runs), "--value", dice.choice(["0.2", "0.5", "0.9"]))
            if answer:
                self.outcomes.append(answer["run"])

    def merge(self, dice, name, n):
        self.call(dice, "merge", *SETTINGS, "merge")

    def sleep(self, dice, name, n):
        answer = self.call(dice, "sleep", *SETTINGS, "sleep")
        if answer and answer["state"] == "slept":
            self.sleeps.append(answer["run"])

    def undo(self, dice, name, n):
        answer = self.call(dice, "undo", *SETTINGS, "sleep", "--undo")
        if answer:
            self.undone.append(answer["undone"])

    def writer(self, name, kinds):
        dice, n = lab.dice(self.seed, "writer", name), 0
        while self.goes_on():
            n += 1
            try:
                getattr(self, dice.choice(kinds))(dice, name, n)
            except Exception as error:  # whatever it is, it is told
                self.wrong.append(f"writer {name}: {error!r}")
                return

    def run(self):
        mixes = [["apply"], ["apply", "merge"], ["apply", "outcome"], ["feed"], ["feed", "apply"], ["sleep"], ["sleep", "undo"], ["merge", "outcome", "apply"]]
        threads = [threading.Thread(target=self.writer, args=(n, mix)) for n, mix in enumerate(mixes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def judge(self):
        """What is wrong, once all is quiet."""
        brain, wrong = self.brain, self.wrong
        held = brain.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agents").split()
        for arguments in (("run",), ("merge", *held), ("run",)):
            ended = brain.brain(*SETTINGS, *arguments)
            if ended.code != 0:
                wrong.append(str(ended))
        files, commits, records = brain.files("wake"), brain.commits_of_runs(), brain.records()
        made = {}
        for record in records.values():
            for op in record["ops"]:
                if op["op"] == "create" and str(op.get("id", "")).startswith("m-"):
                    made.setdefault(op["id"], []).append(record["run"])
        once = [run for run in records if commits.get(run) != 1]
        if once:
            wrong.append(f"recorded, and not one commit each: {[(run, commits.get(run)) for run in once[:5]]}")
        moved = {"ka": 0, "kc": 0}
        for marker, (by, run) in self.deltas.items():
            runs = made.get(marker, [])
            if len(runs) > 1 or run and runs != [run]:
                wrong.append(f"{marker} was answered as {run} and is recorded as {runs}")
            moved["ka"] += by if runs else 0
        for run in self.outcomes:
            if run not in records:
                wrong.append(f"outcome {run} was acknowledged and is lost")
        sources = {json.loads(text).get("source") for path, text in files.items() if path.startswith("network/stimuli/") and path.endswith(".json")}
        wrong += [f"{source} was fed and is lost" for source, told in self.feeds.items() if told and source not in sources]
        episodes = [json.loads(text) for path, text in files.items() if path.startswith("network/neurons/") and b'"episodic"' in text]
        remembered = [e.get("source") for e in episodes]
        wrong += [f"{source} is remembered {remembered.count(source)} times" for source in self.feeds if source in sources and remembered.count(source) != 1]
        for record in records.values():
            for effect in record["effects"]:
                for connection in effect.get("connections", []) if effect["neuron"] == "kc" and record["agent"] != "human" else []:
                    before, after = connection["weight"]
                    moved["kc"] += (after or 0) - (before or 0)
        self.judge_sleeps(moved)
        neurons = brain.neurons()
        for name, move in moved.items():
            found = lab.weight(neurons, name, "kb")
            if found != BASE + move:
                wrong.append(f"{name} -> kb is {found}, and {BASE + move} by what landed")
        for branch in ("wake", "main"):
            check = brain.brain("check", branch)
            if check.code != 0:
                wrong.append(str(check))
        said = brain.fsck()
        if said:
            wrong.append(f"git fsck: {said[:500]}")
        if brain.git("status", "--porcelain"):
            wrong.append(f"the work tree is out of step: {brain.git('status', '--porcelain')[:300]}")
        remains = [p for p in brain.remains() if p.endswith((".lock", ".intent", ".follow"))]
        branches = [b for b in brain.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split() if b not in ("main", "wake")]
        if remains or branches:
            wrong.append(f"left behind: {remains} {branches}")
        return wrong

    def judge_sleeps(self, moved):
        """Adds to `moved` what sleeps that stand have added, and finds sleeps that were acknowledged and are lost."""
        brain = self.brain
        template = "%H%x00%(trailers:key=Sleep,valueonly,separator=%x2C)%x00%(trailers:key=Undoes,valueonly,separator=%x2C)"
        nights, undone = {}, set()
        for line in brain.git("log", "--first-parent", f"--format={template}", "main").splitlines():
            commit, sleep, undoes = line.split("\0")
            if sleep:
                nights[sleep] = commit
            if undoes:
                undone.add(undoes)
        self.wrong += [f"sleep {run} was acknowledged and is lost" for run in self.sleeps if run not in nights]
        self.wrong += [f"the undoing of {run} was acknowledged and is lost" for run in self.undone if run not in undone]
        if brain.git("rev-list", "--merges", "main"):
            self.wrong.append("main is not linear")
        for run in nights:
            if run in undone:
                continue
            for line in brain.must("show", run)["document"]["consolidated"]:
                for name in moved:
                    if line["what"] == f"{name} connections.kb.feeds_into":
                        moved[name] += line["new"] - line["old"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="that take effect, in all")
    parser.add_argument("--round", type=int, default=300, help="kills on one brain before a new one is made")
    parser.add_argument("--share", type=float, default=0.7, help="of commands that are aimed at")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no command after so long")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    seed = lab.seed_of(arguments)
    kills, commands, rounds, codes, wrong = 0, 0, 0, {}, []
    began = time.monotonic()
    while kills < arguments.kills and not wrong and time.monotonic() < began + arguments.seconds:
        with lab.scratch("storm") as root:
            brain = lab.Brain(root / "brain", lab.environment(root))
            made = lab.call([lab.PROGRAM, "init", "--no-hooks", str(brain.path)], brain.env)
            if made.code != 0:
                raise lab.Fault(str(made))
            brain.apply(*(create(name) for name in ("ka", "kb", "kc")), *(edge("connect", name, "kb", weight=BASE) for name in ("ka", "kc")))
            storm = Storm(brain, seed + rounds, min(arguments.round, arguments.kills - kills), arguments.share, began + arguments.seconds)
            storm.run()
            wrong += [f"seed {seed + rounds}: {what}" for what in storm.judge()]
        kills, commands, rounds = kills + storm.kills, commands + storm.commands, rounds + 1
        for code, count in storm.codes.items():
            codes[code] = codes.get(code, 0) + count
    if kills == 0:
        wrong.append(f"nothing was killed in {commands} commands")
    figures = {"kills": kills, "commands": commands, "writers": 8, "brains": rounds, "seed": seed,
               "exit codes": dict(sorted(codes.items())), "seconds": round(time.monotonic() - began)}
    return lab.report("2 storm", figures, wrong)


if __name__ == "__main__":
    sys.exit(main())
