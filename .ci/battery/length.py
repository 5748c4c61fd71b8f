#!/usr/bin/env python3
"""The cost of an audit by the length of a history: a small brain gets honest runs, each with its merge, by `git fast-import`, and is audited.

Each run adjusts one connection of an agent's neurons by a record of its own, as `git brain apply` writes it; the audit says if one differs.
With --taken-back a forged weight and its `git revert` stand below the runs.
All runs are of one day, a millisecond apart: their folders of records are longer than those of a brain that lives for years.
"""

import argparse
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys
import time

import lab
from lab import create, edge

NEURONS, TIES = 200, (1, 7, 31)
SCRIBE = {"name": "scribe", "role": "Writes.", "trigger": {"any": []}, "cognition": {"kind": "reflex", "rule": "memory"},
          "capabilities": {"operations": ["create", "connect", "adjust"], "types": ["semantic"]}}


class Brain:
    """A brain in a folder."""

    def __init__(self, folder, env):
        self.folder, self.env = folder, env

    def git(self, *args, **env):
        done = subprocess.run(["git", *args], cwd=self.folder, env={**self.env, **env}, capture_output=True, check=True)
        return done.stdout.decode().rstrip("\n")

    def brain(self, *args, given=""):
        done = subprocess.run([lab.PROGRAM, *args], cwd=self.folder, env=self.env, input=given.encode(), capture_output=True)
        if done.returncode:
            raise SystemExit(f"git brain {args}: {done.stdout.decode()} {done.stderr.decode()}")

    def audit(self, *args):
        """Seconds by the clock, seconds of the processor, megabytes at most, and the last line."""
        began = time.monotonic()
        child = subprocess.Popen([lab.PROGRAM, "audit", *args], cwd=self.folder, env=self.env, stdout=subprocess.PIPE)
        said = child.stdout.read().decode().strip()
        _, status, used = os.wait4(child.pid, 0)
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"the audit of honest runs says: {said[-2000:]}")
        return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said.splitlines()[-1]


def made(folder, env):
    brain = Brain(folder, env)
    brain.brain("init")
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / "scribe.json").write_text(json.dumps(SCRIBE))
    brain.git("add", "agents")
    brain.git("commit", "-qm", "scribe")
    brain.brain("trust", "--yes")
    ops = [create(f"k{n}") for n in range(NEURONS)]
    ops += [edge("connect", f"k{n}", f"k{(n + tie) % NEURONS}", weight=20000 + n) for n in range(NEURONS) for tie in TIES]
    brain.brain("apply", "--agent", "scribe", "-", given=json.dumps({"ops": ops}))
    return brain


def forge(brain):
    """A weight in an agent's name, and its revert; the range of the first."""
    path = next(path for path in brain.git("ls-tree", "-r", "--name-only", "wake").splitlines() if path.endswith("/k0.json"))
    text = brain.git("show", f"wake:{path}") + "\n"
    for content, message, email in ((text.replace("20000", "60000", 1), "tidy", "scribe@git-brain.invalid"), (text, None, "ann@example.invalid")):
        tip = brain.git("rev-parse", "wake")
        blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=brain.folder, env=brain.env, input=content.encode(),
                              capture_output=True, check=True).stdout.decode().strip()
        index = {"GIT_INDEX_FILE": str(brain.folder / ".git" / "length.index")}
        brain.git("read-tree", tip, **index)
        brain.git("update-index", "--cacheinfo", f"100644,{blob},{path}", **index)
        tree = brain.git("write-tree", **index)
        message = message or f"Revert\n\nThis reverts commit {tip}."
        brain.git("update-ref", "refs/heads/wake", brain.git("commit-tree", tree, "-p", tip, "-m", message, GIT_AUTHOR_EMAIL=email))
    forged = brain.git("rev-parse", "wake~1")
    return f"{forged}~1..{forged}"


def first_half(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def encoded(neuron):
    head = {key: neuron[key] for key in ("id", "concept", "type", "salience", "created_at", "run", "version")}
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in head.items()]
    lines.append('  "named_by": {"rank": 0, "run": "%s"}' % neuron["named_by"]["run"])
    ties = [f'    "{target}": {{"feeds_into": {links["feeds_into"]}}}' for target, links in sorted(neuron["connections"].items())]
    return "{\n" + ",\n".join(lines) + ',\n  "connections": {\n' + ",\n".join(ties) + "\n  }\n}\n"


def live(brain, count, dice):
    """That many runs upon wake."""
    files = brain.git("ls-tree", "-r", "--name-only", "wake", "network/neurons").splitlines()
    paths = {path.rsplit("/", 1)[1][:-5]: path for path in files}
    neurons = {name: json.loads(brain.git("show", f"wake:{paths[name]}")) for name in (f"k{n}" for n in range(NEURONS))}
    policy = brain.git("rev-parse", "main:brain.toml")
    base, begins = brain.git("rev-parse", "wake"), 1000 * (int(brain.git("log", "-1", "--format=%ct", "wake")) + 1)
    child = subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=brain.folder, env=brain.env,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def data(text):
        return b"data %d\n%s\n" % (len(text.encode()), text.encode())

    def commit(mark, who, seconds, message, parents, files):
        lines = [f"commit refs/length\nmark :{mark}\nauthor {who} {seconds} +0000\ncommitter Ann <ann@example.invalid> {seconds} +0000\n".encode(),
                 data(message), "".join(parents).encode()]
        lines += [b"M 100644 inline %s\n%s" % (path.encode(), data(text)) for path, text in files]
        child.stdin.write(b"".join(lines) + b"\n")

    for n in range(count):
        at = begins + n
        when = datetime.datetime.fromtimestamp(at // 1000, datetime.timezone.utc)
        middle = "".join(dice.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))
        run = f"{when:%Y%m%dt%H%M%S}{at % 1000:03d}z-{middle}-scribe"
        name = dice.choice(sorted(neurons))
        neuron = neurons[name]
        target = dice.choice(sorted(neuron["connections"]))
        old, by = neuron["connections"][target]["feeds_into"], dice.choice((-3, -2, -1, 1, 2, 3))
        neuron["connections"][target]["feeds_into"] = old + by
        neuron.setdefault("named_by", {"run": neuron["run"]})
        before = int(neuron["version"], 16) if "version" in neuron else first_half(neuron["run"])
        neuron["version"], neuron["run"] = f"{before ^ first_half(run):016x}", run
        effect = '{"neuron": "%s", "connections": {"%s": {"feeds_into": [%d, %d]}}}' % (name, target, old, old + by)
        fields = {"format": 2, "run": run, "agent": "scribe", "trigger": "by hand", "cognition": "apply",
                  "at": f"{when:%Y-%m-%dT%H:%M:%SZ}", "base": base, "implied": 1}
        record = "{\n" + "".join(f'  "{key}": {json.dumps(value)},\n' for key, value in fields.items())
        record += f'  "effects": [\n    {effect}\n  ]\n}}\n'
        shard = hashlib.sha256(run.encode()).hexdigest()[:2]
        files = [(paths[name], encoded(neuron)), (f"network/runs/{when:%Y/%m/%d}/{shard}/{run}.json", record)]
        said = f'~ {name}  "{neuron["concept"]}"\n    ~ feeds_into {target}  {old} → {old + by} ({by:+d})'
        trailers, tip = f"Agent: scribe\nRun: {run}\n", base if n == 0 else f":{2 * n}"
        commit(2 * n + 1, "scribe <scribe@git-brain.invalid>", at // 1000,
               f"scribe: 1 changed neuron\n\n{said}\n\n{trailers}Trigger: by hand\n", [f"from {tip}\n"], files)
        commit(2 * n + 2, "Ann <ann@example.invalid>", at // 1000,
               f"merge scribe: 1 changed neuron\n\n{trailers}Policy: {policy}\nNewest-Run: {run}\n", [f"from {tip}\n", f"merge :{2 * n + 1}\n"], files)
        child.stdin.write(b"get-mark :%d\n" % (2 * n + 2))
        child.stdin.flush()
        base = child.stdout.readline().decode().strip()
    child.stdin.close()
    if child.wait():
        raise SystemExit("git fast-import failed")
    brain.git("update-ref", "refs/heads/wake", base)
    brain.git("update-ref", "-d", "refs/length")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--taken-back", action="store_true")
    parser.add_argument("--part", type=int, help="audit so many of the newest runs instead of all")
    arguments = parser.parse_args()
    seed = lab.seed_of(arguments)
    print(f"length: seed {seed}, {arguments.runs} runs", flush=True)
    with lab.scratch("length") as root:
        folder = root / "brain"
        folder.mkdir()
        brain = made(folder, lab.environment(root))
        forged = forge(brain) if arguments.taken_back else None
        live(brain, arguments.runs, random.Random(seed))
        parts = [("all", []), ("again", [])]
        if arguments.part:
            parts = [(f"the newest {arguments.part}", [f"wake~{arguments.part}..wake"]), ("the newest", ["wake~1..wake"])]
        if forged:
            parts.append(("what was forged", [forged]))
        for name, args in parts:
            took, busy, most, said = brain.audit(*args)
            print(f"  {name:<16} {took:8.1f} s, of the processor {busy:8.2f} s, {most:6.0f} MB   {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
