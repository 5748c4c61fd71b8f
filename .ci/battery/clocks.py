#!/usr/bin/env python3
"""Row 7: clocks that are wrong, run backwards, or differ between machines.

No number that is none, no salience that rises without an activation, stamps that only grow, a future that is refused, and
merges that give the same tree whenever they are made, or are put off while what they merge is ahead of the clock.
"""

import argparse
import datetime
import json
import re
import sys

import lab
from lab import create, edge

START = datetime.datetime(2026, 1, 26, 14, 32, tzinfo=datetime.timezone.utc)
NAMES = [f"k{n}" for n in range(4)]


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Clock:
    """A brain whose clock is turned."""

    def __init__(self, root, name, failures):
        self.root, self.name, self.failures, self.commands = root, name, failures, 0
        self.brain = lab.Brain(root / name, lab.environment(root))
        self.at(START)
        made = lab.call([lab.PROGRAM, "init", "--no-hooks", str(self.brain.path)], self.brain.env)
        if made.code != 0:
            raise lab.Fault(str(made))
        self.brain.apply(*(create(name) for name in NAMES),
                         *(edge("connect", a, b, weight=20000) for a in NAMES for b in NAMES if a < b))

    def at(self, moment):
        self.now = moment
        self.brain.env["BRAIN_NOW"] = stamp(moment)
        return self.brain

    def wrong(self, what):
        self.failures.append(f"{self.name} at {stamp(self.now)}: {what}")

    def tell(self, *arguments, given=b""):
        """A command, which must succeed, and in whose answer no number is none."""
        self.commands += 1
        answer = self.brain.brain("--json", *arguments, given=given)
        if answer.code != 0:
            self.wrong(str(answer))
        if re.search(r"\bNaN\b|\binf\b|Infinity", answer.out + answer.err) or "panicked" in answer.err:
            self.wrong(f"a number that is none: {answer}")
        return answer.json()


def wander(clock, dice, steps):
    """Random commands under a clock that jumps up to ten years either way."""
    for step in range(steps):
        before = clock.brain.neurons()
        days = dice.choice([0, 0, 1, -1, 30, -30, 365, -365, 3650, -3650])
        clock.at(START + datetime.timedelta(days=days, seconds=dice.randint(-7000, 7000)))
        name = dice.choice(NAMES)
        kind = dice.choice(["activate", "adjust", "feed", "sleep", "read", "outcome"])
        touched = set()
        # A sleep after years of silence may have pruned what this would speak of.
        needed = {"activate": [name], "adjust": ["k0", "k1"], "outcome": ["k0", "k1"]}.get(kind, [])
        if any(one not in before for one in needed) or "k1" in needed and lab.weight(before, "k0", "k1") is None:
            kind = "feed"
        if kind == "activate":
            touched = {name}
            clock.tell("apply", "-", given=json.dumps({"ops": [{"op": "activate", "id": name, "strength": dice.random()}]}).encode())
        elif kind == "adjust":
            clock.tell("apply", "-", given=json.dumps({"ops": [edge("adjust", "k0", "k1", by=3)]}).encode())
        elif kind == "outcome":
            pathway = [{"from": "k0", "to": "k1", "type": "feeds_into"}]
            document = {"ops": [{"op": "activate", "id": "k0", "strength": 0.1}], "prediction": {"text": "x", "value": 0.5, "pathway": pathway}}
            run = clock.tell("apply", "-", given=json.dumps(document).encode())
            if run:
                clock.tell("outcome", run["run"], "--value", "0.9")
            touched = {"k0", "k1"}
        elif kind == "feed":
            clock.tell("feed", f"A heron, step {step}.", "--source", f"s{step}")
        elif kind == "sleep":
            clock.tell("sleep")
        for command in (["status"], ["recall", "heron"], ["propagate", "--from", "n_core_perception"], ["story"], ["ledger"]):
            clock.tell(*command)
        after = clock.brain.neurons()
        for one, neuron in before.items():
            now = after.get(one)
            if now is None or one in touched or now["activation_count"] > neuron["activation_count"]:
                continue
            if now["salience"] > neuron["salience"]:
                clock.wrong(f"{kind}: {one} rose from {neuron['salience']} to {now['salience']} without an activation")
            if now["last_salience_update"] < neuron["last_salience_update"]:
                clock.wrong(f"{kind}: the stamp of {one} went back")
        if not all(0 <= n["salience"] <= 65535 for n in after.values()):
            clock.wrong("a salience out of its range")


def future(clock):
    """A stamp more than ten minutes ahead is refused, wherever it comes from, and nothing is stored."""
    brain = clock.at(START)
    tip = brain.git("rev-parse", "wake")
    for ahead, refused in ((601, True), (86400 * 3650, True), (599, False)):
        at = stamp(START + datetime.timedelta(seconds=ahead))
        batch = clock.root / "batch.jsonl"
        batch.write_text(json.dumps({"text": f"a boat {ahead}", "at": at}) + "\n")
        document = json.dumps({"ops": [{"op": "activate", "id": "k0", "strength": 0.1, "at": at}]}).encode()
        cases = {"feed --at": brain.brain("feed", "--no-run", f"a boat {ahead}", "--at", at), "a batch": brain.brain("feed", "--no-run", "--file", str(batch))}
        if refused:
            # A delta may not speak of the future at all.
            cases["a delta"] = brain.brain("apply", "-", given=document)
        for what, answer in cases.items():
            clock.commands += 1
            if (answer.code == 3) != refused or (not refused and answer.code != 0):
                clock.wrong(f"{what}, {ahead} s ahead: {answer}")
        moved = brain.git("rev-parse", "wake") != tip
        if refused and moved:
            clock.wrong(f"something {ahead} s ahead was stored")


def two_machines(clock, dice):
    """Runs of two machines two hours apart, merged at different times: always the same tree, or refused until the clock is there."""
    hour = datetime.timedelta(hours=1)
    held = []
    for sign in (1, -1, 1, -1):
        brain = clock.at(START + sign * hour)
        ops = [{"op": "activate", "id": dice.choice(NAMES), "strength": dice.random()} for _ in range(3)] + [edge("adjust", "k0", "k1", by=dice.randint(-9, 9))]
        held.append(brain.apply(*ops, options=("--no-merge",))["branch"])
        clock.commands += 1
    trees = {}
    for when in (START, START + hour, START - hour, START + 87600 * hour, START - 87600 * hour):
        for order in (held, held[::-1]):
            copy = clock.brain.copy(clock.root / f"copy-{len(trees)}-{dice.random()}", {**clock.brain.env, "BRAIN_NOW": stamp(when)})
            merged = copy.brain("merge", *order)
            clock.commands += 1
            if when < START + hour:
                if merged.code != 3 or "ahead of the clock here" not in merged.out + merged.err:
                    clock.wrong(f"merged before its time: {merged}")
                copy.env["BRAIN_NOW"] = stamp(START + hour)
                merged = copy.brain("merge", *order)
                clock.commands += 1
            if merged.code != 0:
                clock.wrong(str(merged))
            trees.setdefault(copy.git("rev-parse", "wake^{tree}"), []).append(stamp(when))
    if len(trees) != 1:
        clock.wrong(f"the merge depends on its time: {trees}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12, help="random commands of each seed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    first, failures, commands = lab.seed_of(arguments), [], 0
    for seed in range(first, first + arguments.seeds):
        with lab.scratch("clocks") as root:
            try:
                clock = Clock(root, f"seed-{seed}", failures)
                future(clock)
                two_machines(clock, lab.dice(seed, "machines"))
                wander(clock, lab.dice(seed, "wander"), arguments.steps)
                clock.at(START + datetime.timedelta(days=3651))
                check, said = clock.brain.brain("check"), clock.brain.fsck()
                if check.code != 0 or said:
                    clock.wrong(f"{check} {said}")
                commands += clock.commands
            except lab.Fault as fault:
                failures.append(f"seed {seed}: {fault}")
    figures = {"seeds": f"{first}..{first + arguments.seeds - 1}", "commands": commands}
    if not commands and not failures:
        failures.append("no command was tried")
    return lab.report("7 clocks", figures, failures)


if __name__ == "__main__":
    sys.exit(main())
