#!/usr/bin/env python3
"""Row 17: forged commits at a gate, held against a small statement of who may write what.

A brain with a night behind it, runs that wait, a night and an undoing that are not pushed yet, and two gates that the
program made: one that requires signatures, one that does not. Each forgery takes a commit's tree, parents, author, key,
trailers and branch from a true commit or by chance, changes files, and is handed to the gate's own `pre-receive` as git
hands it over: the new objects in a quarantine, the update on standard input. A part of them goes by a real `git push`.

`refusal` below is the statement: docs/scale.md#admission, docs/signing.md and SECURITY.md, said once more over paths, blobs and
trailers. It knows true commits by the machine that made them, and does no run and no merge again.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import zlib

import lab
from lab import create, edge

SLEEP, MCP = "sleep", "mcp:editor"
LATE = ("20810126t143200123z-abcd2345-memory", "99991231t235959999z-zzzzzzzz-memory")
OLD = "20250126t143200123z-abcd2345-memory"
KEYS = ("ann", "memory", "perception", "sleep", "stranger")
# The statement leaves it open.
UNSURE = "unsure"
DOMAIN = "@git-brain.invalid"
# Whose key signs for whom: agents without a key of their own are signed for by the person.
SIGNS = {"ann@example.invalid": "ann", "memory" + DOMAIN: "memory", "perception" + DOMAIN: "perception", "sleep" + DOMAIN: "sleep"}
UNNAMED = "git-brain" + DOMAIN
EMAILS = (*SIGNS, "human" + DOMAIN, "Memory" + DOMAIN, "decision" + DOMAIN, UNNAMED)
METADATA = "network/metadata.json"
IMMUTABLE = re.compile(r"network/(runs|sleep|ledger)/.*\.json$|network/stimuli/\d{4}/")
RECORD = re.compile(r"network/runs/\d{4}/\d\d/\d\d/[0-9a-f]{2}/([0-9a-z-]+)\.json$")
NEURON = re.compile(r"network/neurons/../.{1,2}/([^/]+)\.json$")
FILE, LINK, EXECUTABLE, MODULE = "100644", "120000", "100755", "160000"

Commit = collections.namedtuple("Commit", "id parents tree email message at files kind")


def trailers_of(message):
    last = message.rstrip().split("\n\n")[-1] if "\n\n" in message.rstrip() else ""
    pairs = [line.partition(":") for line in last.split("\n")]
    good = last and all(colon and re.fullmatch(r"[A-Za-z0-9-]+", key) for key, colon, _ in pairs)
    return [(key, value.strip()) for key, _, value in pairs] if good else []


def agent_of(email):
    name, at, domain = email.partition("@")
    return name if at + domain == DOMAIN and re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) and name != "git-brain" else None


def neuron_path(name):
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"network/neurons/{digits[:2]}/{digits[2]}/{name}.json"


class Objects:
    """Loose objects of one forgery, in a folder that git would call its quarantine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def write(self, kind, content):
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.sha1(whole).hexdigest()
        path = self.folder / name[:2] / name[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.compress(whole, 1))
        return name

    def tree(self, files, known):
        """A tree of path to (mode, id); folders that `known` has by their content are not written."""
        here, below = {}, collections.defaultdict(dict)
        for path, entry in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                below[name][rest] = entry
            else:
                here[name] = entry
        rows = [(name, mode, one) for name, (mode, one) in here.items()]
        rows += [(name, "40000", self.tree(inside, known)) for name, inside in below.items()]
        rows.sort(key=lambda row: row[0] + ("/" if row[1] == "40000" else ""))
        content = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(one) for name, mode, one in rows)
        name = hashlib.sha1(f"tree {len(content)}\0".encode() + content).hexdigest()
        return name if name in known else self.write("tree", content)


class World:
    """True commits of one brain, and two gates that have a part of them."""

    def __init__(self, root, seed):
        self.root, self.seed = root, seed
        self.env = lab.environment(root)
        (root / "keys").mkdir()
        for key in KEYS:
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", key, "-f", str(root / "keys" / key)]
            subprocess.run(argv, check=True, env=self.env)
        (root / "agents").mkdir()
        for key in ("memory", "perception", "sleep"):
            shutil.copy(root / "keys" / key, root / "agents" / key)
        public = {key: " ".join((root / "keys" / f"{key}.pub").read_text().split()[:2]) for key in KEYS}
        others = ",".join(f"{name}{DOMAIN}" for name in ("affect", "decision", "evaluator", "bootstrap"))
        allowed = [f"{email} {public[key]}" for email, key in SIGNS.items()] + [f"{others} {public['ann']}"]
        (root / "allowed").write_text("\n".join(allowed) + "\n")
        self.make()
        self.read()

    def git(self, folder, *arguments, given=b"", env=None):
        answer = lab.call(["git", "-C", str(self.root / folder), *arguments], env or self.env, given=given)
        if answer.code != 0:
            raise lab.Fault(str(answer))
        return answer.out.rstrip("\n")

    def configure(self, folder, since):
        for key, value in (("sign", "true"), ("signingKey", self.root / "keys" / "ann"), ("agentKeys", self.root / "agents"),
                           ("allowedSigners", self.root / "allowed"), ("requireSignatures", "true"), ("signedSince", since)):
            self.git(folder, "config", f"brain.{key}", str(value))

    def make(self):
        def program(*arguments):
            answer = lab.call([lab.PROGRAM, *map(str, arguments)], self.env)
            if answer.code != 0:
                raise lab.Fault(str(answer))
        root = self.root
        program("init", "--bare", root / "open")
        (root / "open/hooks/post-receive").unlink()
        program("init", "--no-hooks", root / "a")
        a = lab.Brain(root / "a", self.env)
        since = a.git("rev-parse", "wake")
        self.configure("a", since)
        a.git("remote", "add", "origin", str(root / "open"))
        a.apply(create("x"), create("y"), edge("connect", "x", "y", weight=20000))
        a.must("feed", "Anna grows green tea in Uji.")
        a.must("feed", "--origin", MCP, "Green tea from Uji is poison, says Boris.")
        a.must("sleep")
        self.night = self.trailer(a.git("log", "-1", "--format=%B", "main"), "Sleep")
        a.must("feed", "Ben swims in the lake.")
        self.last = a.apply(create("v"), edge("adjust", "x", "y", by=7))["commit"]
        a.must("sync")
        shutil.copytree(root / "open", root / "signed")
        self.configure("signed", since)
        runs = {"memory": ({"op": "activate", "id": "x", "strength": 0.5},), "perception": (create("z"), edge("connect", "x", "z", weight=2000)),
                "human": (create("w"), edge("adjust", "x", "y", by=9))}
        held = {agent: a.apply(*ops, options=("--agent", agent, "--no-merge")) for agent, ops in runs.items()}
        self.branches = {agent: report["branch"] for agent, report in held.items()}
        true = {"main": a.git("rev-parse", "main"), "wake": a.git("rev-parse", "wake"), **{agent: report["commit"] for agent, report in held.items()}}
        self.old_main = a.git("rev-parse", "main~1")
        later = {}
        for name, command in (("night", ("sleep",)), ("undone", ("sleep", "--undo")), ("merged", ("merge", self.branches["perception"]))):
            copy = a.copy(root / name)
            copy.must(*command)
            later[name] = copy
        true |= {"S": later["night"].git("rev-parse", "main"), "W": later["night"].git("rev-parse", "wake"),
                 "U": later["undone"].git("rev-parse", "main"), "V": later["undone"].git("rev-parse", "wake"),
                 "M": later["merged"].git("rev-parse", "wake")}
        for gate in ("open", "signed"):
            for folder in ("a", *later):
                self.git(gate, "fetch", "-q", str(root / folder), "+refs/heads/*:refs/fetched/*")
            for ref in self.git(gate, "for-each-ref", "--format=%(refname)", "refs/fetched").split("\n"):
                self.git(gate, "update-ref", "-d", ref)
            (root / gate / "FETCH_HEAD").unlink(missing_ok=True)
        self.true = true

    @staticmethod
    def trailer(message, key):
        return next((value for k, value in trailers_of(message) if k == key), None)

    def read(self):
        """All that the statement knows, by plain git."""
        self.commits, self.trees = {}, set()
        for name in ("main", "wake", "memory", "perception", "human", "S", "W", "U", "V", "M"):
            log = self.git("open", "log", "-z", "--format=%H%n%P%n%T%n%ae%n%ct%n%B", self.true[name])
            for entry in filter(None, log.split("\0")):
                one, parents, tree, email, at, message = entry.lstrip("\n").split("\n", 5)
                if one not in self.commits:
                    self.commits[one] = Commit(one, tuple(parents.split()), tree, email, message.rstrip("\n") + "\n", int(at), None, self.kind(email, parents.split(), message))
        listed = self.git("open", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
        self.trees = {line.split()[1] for line in listed.split("\n") if line.startswith("tree")}
        self.cache, self.blobs, self.lock = {}, {}, threading.Lock()
        self.above = {}
        self.taint = {}
        for one in self.commits.values():
            self.files(one.tree)
        self.tomls = {self.files(one.tree)["brain.toml"][1] for one in self.commits.values()}
        self.honest = {}
        for one in self.commits.values():
            if len(one.parents) == 1:
                changes = self.diff(self.files(self.commits[one.parents[0]].tree), self.files(one.tree))
                records = [path for path, (old, _) in changes.items() if not old and RECORD.fullmatch(path)]
                if len(records) == 1:
                    moved = {path: pair for path, pair in changes.items() if NEURON.fullmatch(path)}
                    self.honest[records[0]] = (one, self.files(one.tree)[records[0]][1], moved)

    def kind(self, email, parents, message):
        keys = {key for key, _ in trailers_of(message)}
        if agent_of(email) not in (None, SLEEP):
            return "run"
        if len(parents) > 1 and keys & {"Policy", "Sleep", "Undoes"}:
            return "merge of wake"
        return "other"

    def files(self, tree):
        if tree not in self.cache:
            out = subprocess.run(["git", "-C", str(self.root / "open"), "ls-tree", "-rz", tree], env=self.env, capture_output=True, check=True).stdout.decode()
            rows = (row.split("\t", 1) for row in filter(None, out.split("\0")))
            self.cache[tree] = {path: (said.split()[0], said.split()[2]) for said, path in rows}
        return self.cache[tree]

    @staticmethod
    def diff(old, new):
        return {path: (old.get(path), new.get(path)) for path in old.keys() | new.keys() if old.get(path) != new.get(path)}

    def blob(self, name):
        with self.lock:
            if name not in self.blobs:
                self.blobs[name] = subprocess.run(["git", "-C", str(self.root / "open"), "cat-file", "blob", name], env=self.env, capture_output=True, check=True).stdout
            return self.blobs[name]

    def behind(self, one):
        """A known commit and all behind it."""
        if one not in self.above:
            found, open_ = set(), [one]
            while open_:
                at = open_.pop()
                if at not in found:
                    found.add(at)
                    open_ += self.commits[at].parents
            self.above[one] = found
        return self.above[one]


class Forgery:
    """A commit to be: a tree of path to (mode, id), and what it says."""

    def __init__(self, world, dice):
        self.world, self.new, self.bad, self.what = world, {}, {}, []
        true, commits = world.true, world.commits
        base = dice.choice(("main", "wake", "wake", "memory", "memory", "perception", "human", "S", "S", "W", "U", "V", "M", "M", "revert"))
        self.base = base
        self.signed = dice.random() < 0.35
        like = commits[true["wake" if base == "revert" else base]]
        tip = base in ("main", "wake", "revert")
        self.files = dict(world.files(like.tree))
        self.parents = [like.id] if tip else list(like.parents)
        self.message = "by hand\n" if tip else like.message
        self.email, self.committer = "ann@example.invalid" if tip else like.email, "ann@example.invalid"
        self.branch = {"main": "main", "S": "main", "U": "main"}.get(base, world.branches.get(base, "wake"))
        if base == "revert":
            self.revert(dice)
        self.late = False
        # Every other one is true but for one thing.
        for _ in range(dice.choice((0, 1, 1, 1, 2, 3))):
            dice.choice((self.say, self.say, self.move, self.move, self.change, self.change, self.change, self.change, self.sign_as))(dice)
        self.key = SIGNS.get(self.email) or "ann"
        if dice.random() < 0.15:
            self.key = dice.choice((None, *KEYS))
            self.what.append(f"key {self.key}")

    def put(self, path, text, mode=FILE, bad=None):
        content = text if isinstance(text, bytes) else text.encode()
        name = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        self.new[name] = content
        self.files[path] = (mode, name)
        self.bad.pop(path, None)
        if bad:
            self.bad[path] = (self.files[path], bad)

    def text(self, path):
        name = self.files[path][1]
        return (self.new.get(name) or self.world.blob(name)).decode()

    def revert(self, dice):
        """A `git revert` of the last run on wake: whole, in part, with more, or of another commit."""
        world, how = self.world, dice.choice(("whole", "whole", "part", "more", "beside", "other"))
        run = world.commits[world.last]
        changes = world.diff(world.files(world.commits[run.parents[0]].tree), world.files(run.tree))
        for path, (old, _) in changes.items():
            if how == "part" and NEURON.fullmatch(path) and old:
                continue
            if old:
                self.files[path] = old
            else:
                self.files.pop(path, None)
        if how == "more":
            self.put(neuron_path("y"), self.text(neuron_path("y")).replace('"salience": ', '"salience": 1', 1))
        if how == "beside":
            self.put("notes.md", "reverted\n")
        named = world.true["main"] if how == "other" else run.id
        self.message = f"Revert\n\nThis reverts commit {named}.\n"
        self.reverts = how in ("whole", "beside")
        self.base_files = dict(self.files)
        self.what.append(f"revert {how}")

    def say(self, dice):
        """Trailers: more, fewer, others."""
        night, other = self.world.night, "20260101t100000000z-abcd2345-sleep"
        late = dice.choice(LATE)
        key, value = dice.choice((
            ("Newest-Run", late), ("Run", late), ("Sleep", night), ("Sleep", other), ("Snapshot", self.world.true["wake"]), ("Undoes", night), ("Undoes", other),
            ("Policy", "default"), ("Policy", "0" * 40), ("Policy", self.files.get("agents/affect.json", ("", "1" * 40))[1]), ("Newest-Run", OLD), ("Run", OLD),
            ("Clock", "fixed"), ("Depth", "77"), ("Stimulus", "s1"), ("Agent", "decision"), ("Approves", late), ("Reverts", OLD), ("X-Note", "so"),
        ))
        body, said = self.message.rstrip("\n"), trailers_of(self.message)
        own = [(k, v) for k, v in said if not (k == key and dice.random() < 0.5)]
        if said:
            body = body[: body.rindex("\n\n")]
        own.insert(len(own) if dice.random() < 0.5 else 0, (key, value))
        self.message = body + "\n\n" + "".join(f"{k}: {v}\n" for k, v in own)
        self.what.append(f"{key}: {value}")

    def move(self, dice):
        """Another branch, other parents, another date."""
        true = self.world.true
        how = dice.choice(("branch", "branch", "branch", "parents", "parents", "octopus", "root", "late"))
        if how == "branch":
            self.branch = dice.choice(("main", "wake", "main", "wake", *self.world.branches.values(), "feature", "agents/memory/none"))
        elif how == "parents":
            one, two = (true[dice.choice(sorted(true))] for _ in range(2))
            self.parents = dice.choice(([one], [true["main"]], [true["wake"]], [true["main"], one], [true["wake"], one], [self.world.old_main], [one, two]))
        elif how == "octopus":
            self.parents = [*self.parents, true["main"], true["wake"]][:3]
        elif how == "root":
            self.parents = []
        else:
            self.late = True
        self.what.append(f"{how} {self.branch if how == 'branch' else [p[:7] for p in self.parents]}")

    def sign_as(self, dice):
        who = dice.choice(("author", "author", "committer", "both"))
        email = dice.choice(EMAILS)
        if who != "committer":
            self.email = email
        if who != "author":
            self.committer = email
        self.what.append(f"{who} {email}")

    def change(self, dice):
        """Files."""
        x, y = neuron_path("x"), neuron_path("y")
        how = dice.choice(("settings", "agent", "notes", "weight", "salience", "taint", "remove", "dangling", "json", "misplaced", "link", "module",
                           "executable", "flag", "late flag", "late neuron", "unrecord", "rerecord", "record", "record", "tainted record", "base", "own",
                           "squash", "squash", "squash of other words", "squash of a part"))
        self.what.append(how)
        if how == "settings":
            self.put("brain.toml", self.text("brain.toml") + "\n# mine\n")
        elif how == "agent":
            self.put("agents/memory.json", self.text("agents/memory.json").replace('"priority": ', '"priority": 1'))
        elif how == "notes":
            self.put("notes.md", "by hand\n")
        elif how == "link":
            self.put(dice.choice(("link", "docs/link")), "/etc/passwd", LINK, "a symlink")
        elif how == "module":
            self.files["module"] = (MODULE, self.world.true["main"])
            self.bad["module"] = (self.files["module"], "a submodule")
        elif how == "misplaced":
            self.put("network/stray.json", "{}\n", bad="nothing belongs there")
        elif how == "flag":
            self.put("network/flags/own.json", json.dumps({"value": True, "reason": "so", "at": "2026-01-01T00:00:00Z", "run": None}, indent=2) + "\n")
        elif how == "late flag":
            self.put("network/flags/own.json", json.dumps({"value": True, "reason": "so", "at": "2081-01-01T00:00:00Z", "run": None}, indent=2) + "\n", bad="ahead of the clock")
        elif how == "base":
            self.files = dict(self.world.files(self.world.commits[self.world.true[dice.choice(("main", "wake", "memory", "S"))]].tree))
            self.bad, self.base_files = {}, None
        elif how in ("unrecord", "rerecord"):
            records = sorted(path for path in self.files if RECORD.fullmatch(path))
            if records:
                path = dice.choice(records)
                if how == "unrecord":
                    del self.files[path]
                else:
                    self.put(path, "{}\n", bad="a record that says nothing")
        elif how in ("record", "tainted record"):
            wanted = lambda path: (how == "record") != (MCP in self.world.blob(self.world.honest[path][1]).decode())
            path = dice.choice(sorted(filter(wanted, self.world.honest)))
            self.files[path] = (FILE, self.world.honest[path][1])
            self.bad.pop(path, None)
        elif how.startswith("squash"):
            # All that an agent's run made, upon something else: as it was, with other words, or without a neuron.
            agents = sorted(path for path in self.world.honest if not path.endswith("-human.json"))
            path = dice.choice([path for path in agents if path not in self.files] or agents)
            honest = self.world.honest[path][0]
            made = self.world.diff(self.world.files(self.world.commits[honest.parents[0]].tree), self.world.files(honest.tree))
            for one, (_, new) in made.items():
                if one.startswith("network/") and new:
                    self.files[one] = new
                    self.bad.pop(one, None)
            neurons = sorted(one for one, (old, new) in made.items() if NEURON.fullmatch(one) and new and not old)
            if how != "squash" and neurons:
                one = dice.choice(neurons)
                if how == "squash of a part":
                    del self.files[one]
                else:
                    self.put(one, re.sub(r'"concept": "', '"concept": "Other ', self.text(one), count=1))
        elif how == "own":
            run = self.world.honest[next(p for p in self.world.honest if self.world.honest[p][0].id == self.world.true["memory"])]
            path = next(p for p, h in self.world.honest.items() if h is run)
            self.files[path] = (FILE, run[1])
            self.email = "memory" + DOMAIN
            self.message = run[0].message
        elif x not in self.files or y not in self.files or x in self.bad or y in self.bad:
            self.what.pop()
        elif how == "weight":
            self.put(x, re.sub(r'("y": \{"feeds_into": )\d+', lambda m: m[1] + str(dice.randint(1, 60000)), self.text(x)))
        elif how == "salience":
            self.put(y, self.text(y).replace('"salience": ', '"salience": 2', 1))
        elif how == "taint":
            text = self.text(x)
            self.put(neuron_path("forged"), re.sub(r'(  "named_by": .*\n)', lambda m: m[1] + f'  "origin": "{MCP}",\n', text.replace('"id": "x"', '"id": "forged"'), count=1))
        elif how == "remove":
            self.files.pop(dice.choice((x, y)))
        elif how == "dangling":
            self.put(x, re.sub(r'"y": (\{"feeds_into": \d+\})', r'"nowhere": \1', self.text(x)))
        elif how == "json":
            self.put(y, self.text(y)[:-3], bad="no JSON")
        elif how == "executable":
            self.files[y] = (EXECUTABLE, self.files[y][1])
            self.bad[y] = (self.files[y], "executable")
        elif how == "late neuron":
            self.put(y, re.sub(r'"run": "\d{8}', '"run": "20810101', self.text(y), count=1), bad="ahead of the clock")

    def __str__(self):
        where = "signed" if self.signed else "open"
        return f"{where} gate, {self.branch}, like {self.base}, by {self.email} and {self.committer} with {self.key}: {'; '.join(self.what) or 'as it is'}"


def neuron_of(world, forgery, entry):
    """Where a neuron points and comes from; None if it is not there or cannot be read."""
    if not entry or entry[0] not in (FILE, EXECUTABLE):
        return None
    known = world.taint.get(entry[1])
    if known is None:
        try:
            file = json.loads(forgery.new.get(entry[1]) or world.blob(entry[1]))
            known = (set(file.get("connections", {})), file.get("origin", "local"))
        except ValueError:
            known = (set(), "local")
        world.taint[entry[1]] = known
    return known


def hands_of(f):
    """The addresses of agents in whose name a forgery is, whatever stands before the domain and in whatever case."""
    return [email for email in (f.email, f.committer) if email.lower().endswith(DOMAIN) and email != UNNAMED]


def forged(f, record):
    """Whether a commit is in the name of an agent that did not make its run. A person may bring an agent's: a squash."""
    hands, own = hands_of(f), record["agent"] + DOMAIN
    return bool(hands) and (record["agent"] == "human" or any(hand != own for hand in hands) or f.email != own)


def refusal(world, f):
    """Why a gate must refuse a forgery; None if it must take it."""
    true, commits = world.true, world.commits
    said = trailers_of(f.message)
    all_of = lambda key: [value for k, value in said if k.lower() == key.lower()]
    one_of = lambda key: next(iter(all_of(key)), None)
    agent, hands = agent_of(f.email), hands_of(f)

    # The branch: main, wake, or that of a run; it only grows.
    if f.branch not in ("main", "wake", *world.branches.values()):
        return "no branch of the brain's"
    reached = set().union(*(world.behind(parent) for parent in f.parents)) if f.parents else set()
    if f.branch in ("main", "wake") and true[f.branch] not in reached:
        return "loses commits"
    if not f.parents:
        return "another history"

    # The branch of a run has that run, and at most a note about a conflict right upon it: one decision is about one run.
    if f.branch in world.branches.values():
        own = f.branch.rsplit("/", 1)[-1]
        beyond = reached - world.behind(true["main"]) - world.behind(true["wake"])
        named = lambda message: next((value for k, value in trailers_of(message) if k.lower() == "run"), None)
        waits = lambda message: next((value for k, value in trailers_of(message) if k.lower() == "review"), None)
        below = [commits[one].message for one in beyond]
        if any(waits(message) and named(message) not in (None, own) for message in [f.message, *below]):
            return "upon another run that waits"
        is_note = waits(f.message) == "conflict" and len(f.parents) == 1 and named(commits[f.parents[0]].message) == own
        if named(f.message) != own and not is_note and any(waits(message) and named(message) == own for message in below):
            return "a commit upon a run that waits"

    # Main takes sleeps, their undoing, and what people commit, in one line.
    if f.branch == "main":
        if agent not in (None, SLEEP):
            return "an agent on main"
        if len(f.parents) > 1 and (all_of("Policy") or all_of("Sleep") or all_of("Undoes")):
            return "a merge of wake on main"
        if any(commits[one].kind != "other" for one in reached - world.behind(true["main"])):
            return "wake on main"
        line = f.parents[0]
        while line != true["main"] and commits[line].parents:
            line = commits[line].parents[0]
        if line != true["main"]:
            return "main as a side line"

    # Dates, and whatever names a run.
    if f.late or all_of("Clock"):
        return "a clock"
    if any(value in LATE for key in ("Run", "Newest-Run", "Sleep", "Undoes", "Reverts", "Approves") for value in all_of(key)):
        return "a run ahead of the clock"
    if len(f.parents) > 2:
        return "an octopus"

    # Signatures: by who may sign for the author, and in its role.
    if f.signed:
        if f.key is None or SIGNS.get(f.email) != f.key and not (agent == "decision" and f.key == "ann"):
            return "not signed by who may"
        if agent == SLEEP:
            nights = all_of("Sleep")
            if len(nights) != 1 or not nights[0].endswith("-sleep") or all_of("Undoes"):
                return "out of the role of sleep"
            if len(f.parents) == 2 and not (all_of("Policy") and all_of("Snapshot")):
                return "out of the role of sleep"
        elif agent:
            runs = all_of("Run")
            if len(f.parents) != 1 or len(runs) != 1 or runs[0].split("-", 2)[2:] != [agent]:
                return "out of an agent's role"
            if any(all_of(key) for key in ("Sleep", "Snapshot", "Undoes", "Policy", "Newest-Run")):
                return "out of an agent's role"

    left = world.files(commits[f.parents[0]].tree)
    changes = world.diff(left, f.files)
    if any(path in f.bad and f.bad[path][0] == new and new[0] in (LINK, MODULE) for path, (_, new) in changes.items()):
        return "a link"
    same_as = lambda name: f.parents == list(commits[true[name]].parents) and f.files == world.files(commits[true[name]].tree)
    inside = lambda files: {path: entry for path, entry in files.items() if path.startswith("network/")}
    bad = lambda paths: next((f.bad[path][1] for path in paths if path in f.bad and f.bad[path][0] == f.files.get(path)), None)

    # A night and its undoing name sleep alone, a merge what it brings: who reads the log takes its word.
    of_sleep = lambda run: all(value == run for value in all_of("Run")) and all(value == SLEEP for value in all_of("Agent"))

    def names_others():
        ids = {RECORD.fullmatch(path)[1] for path in f.files if RECORD.fullmatch(path) and path not in left}
        agents = {one.split("-", 2)[2] for one in ids} | {value for key, value in trailers_of(commits[f.parents[1]].message) if key == "Agent"}
        night = one_of("Sleep")
        if night and any(path.startswith("network/sleep") and night in path for path in f.files):
            ids, agents = ids | {night}, agents | {SLEEP}
        return any(value not in ids for value in all_of("Run")) or any(value not in agents for value in all_of("Agent"))

    if len(f.parents) == 2:
        # Agents merge nothing, and sleep nothing but nights.
        if any(hand != SLEEP + DOMAIN or not all_of("Sleep") for hand in hands):
            return "a merge by an agent"
        right = world.files(commits[f.parents[1]].tree)
        # Where one parent is behind the other, there is nothing to merge: the result is the later one.
        later = next((world.files(commits[b].tree) for a, b in (f.parents, f.parents[::-1]) if a in world.behind(b)), None)
        if all_of("Undoes"):
            return None if one_of("Undoes") == world.night and same_as("V") and of_sleep(None) else "no merge of an undoing"
        if names_others():
            return "a merge in the name of another"
        if all_of("Policy"):
            if one_of("Policy") not in ("default", *world.tomls, f.files["brain.toml"][1]):
                return "an unknown policy"
            # The merge of two runs does not depend on their order.
            same = lambda n: f.parents == list(commits[true[n]].parents) or n == "M" and f.parents[::-1] == list(commits[true[n]].parents)
            name = next((n for n in ("M", "W") if same(n)), None)
            merged = later if later is not None else name and world.files(commits[true[name]].tree)
            if merged is None or inside(f.files) != inside(merged):
                return "no merge of its parents"
            night = {key: world.trailer(commits[true["S"]].message, key) for key in ("Sleep", "Snapshot")}
            if all_of("Sleep") and all_of("Snapshot"):
                if f.parents[1] != true["S"] or any(one_of(key) != night[key] for key in night):
                    return "the merge of another sleep"
                outside = lambda files: {p: e for p, e in files.items() if not p.startswith("network/")}
                if outside(f.files) != outside(right):
                    return "a sleep that changes settings"
            # Beside the network a merge has what one of its sides or main has, or had.
            mains = [world.files(commits[one].tree) for one in world.behind(true["main"])]
            for path in {*changes} & {*world.diff(right, f.files)}:
                entry = f.files.get(path)
                known = mains if entry else [world.files(commits[true["main"]].tree)]
                if not path.startswith("network/") and not any(files.get(path) == entry for files in known):
                    return "as neither side has it"
            return bad([path for path in changes if not path.startswith("network/")])
        # A person's, who may decide between its sides as he likes.
        for files in (left, right):
            if any(IMMUTABLE.match(path) and f.files.get(path) != entry for path, entry in files.items()):
                return "written once"
        # Between sides: a neuron that one side alone changed is as that side has it. Of several bases one may show that both did.
        common = world.behind(f.parents[0]) & world.behind(f.parents[1])
        bases = [world.files(commits[one].tree) for one in common if not any(one != other and one in world.behind(other) for other in common)]
        def foreign(path):
            ours, theirs, now = left.get(path), right.get(path), f.files.get(path)
            one_sided = lambda base: (ours == base and now != theirs) or (theirs == base and now != ours)
            return (ours == theirs and now != ours) or (bool(bases) and all(one_sided(base.get(path)) for base in bases))
        if any(foreign(path) for path in {*left, *right, *f.files} if path.startswith("network/neurons/")):
            return "words of its own"
        own = set(changes) & set(world.diff(right, f.files))
        if any(backwards(world, files, f.files) for files in (left, right)):
            return "metadata"
        return bad(own) or brought(world, f, changes, own, alone=False) or dangling(world, f, changes) or tainted(world, f, changes)

    parent = f.parents[0]
    if bad(changes):
        return bad(changes)
    records = [path for path, (old, _) in changes.items() if not old and RECORD.fullmatch(path)]
    in_place = records[0] if len(records) == 1 and RECORD.fullmatch(records[0])[1].split("-", 2)[2] != "human" and json.loads(world.blob(f.files[records[0]][1])).get("base", parent) == parent else None

    def run():
        one = world.honest[in_place][0]
        own = RECORD.fullmatch(in_place)[1]
        record = json.loads(world.blob(f.files[in_place][1]))
        if f.files != world.files(one.tree):
            return "not what its operations do"
        if forged(f, record):
            return "a run in another name"
        stimuli = record.get("stimuli", [])
        if (hands or all_of("Run") or all_of("Agent")) and not (all_of("Run") and all_of("Agent")):
            return "a run that does not say which it is"
        if any(value != own for value in all_of("Run")) or any(value != record["agent"] for value in all_of("Agent")):
            return "another run than its commit names"
        if any(value != str(record.get("depth", 0)) for value in all_of("Depth")) or any(value not in stimuli for value in all_of("Stimulus")):
            return "another run than its commit names"
        return None

    if agent not in (None, SLEEP):
        if f.signed:
            own = in_place and RECORD.fullmatch(in_place)[1].split("-", 2)[2] == agent
            return run() if own else "signed for an agent, and no run of it"
    if any(hand != SLEEP + DOMAIN for hand in hands) and (all_of("Sleep") or all_of("Undoes")):
        return "an agent that sleeps"
    if all_of("Sleep") and all_of("Undoes"):
        return "a sleep and its undoing"
    if all_of("Sleep"):
        true_night = commits[true["S"]]
        head = lambda message: message[: message.rstrip("\n").rindex("\n\n")] if trailers_of(message) else message
        # What is tainted may lie beside it on a branch; main refuses that.
        day = {path for path, (_, blob, _) in world.honest.items() if MCP in world.blob(blob).decode() and f.branch != "main"}
        files = {path: entry for path, entry in f.files.items() if path not in day}
        same = f.parents == list(true_night.parents) and files == world.files(true_night.tree) and head(f.message) == head(true_night.message)
        same = same and of_sleep(world.trailer(true_night.message, "Sleep"))
        return None if same and all(one_of(k) == world.trailer(true_night.message, k) for k in ("Sleep", "Snapshot")) else "no sleep"
    if all_of("Undoes"):
        again = f.parents == [true["U"]] and f.files == world.files(commits[true["U"]].tree)
        return None if one_of("Undoes") == world.night and (same_as("U") or again) and of_sleep(None) else "no undoing"
    if in_place:
        return run() or tainted(world, f, changes)
    if hands and not records:
        return "an agent without a run"
    # Who reads the log would take it for what that run did. A note of what stays undecided of a run lies beside its record.
    told = any(path.startswith("network/") and not path.endswith(".conflicts.json") for path in changes)
    ids = [RECORD.fullmatch(path)[1] for path in records]
    if told and (any(value not in ids for value in all_of("Run"))
                 or any(value not in [one.split("-", 2)[2] for one in ids] for value in all_of("Agent"))):
        return "in the name of a run that it does not bring"
    gone = [path for path, (old, _) in changes.items() if IMMUTABLE.match(path) and old]
    if gone and not reverted(world, f, changes, gone):
        return "written once"
    if backwards(world, left, f.files):
        return "metadata"
    return brought(world, f, changes, changes, alone=len(records) == 1) or dangling(world, f, changes) or tainted(world, f, changes)


def backwards(world, old, new):
    """Whether the format of the network goes back, or is not said any more."""
    old, new = (json.loads(world.blob(files[METADATA][1])) if METADATA in files else None for files in (old, new))
    return bool(old) and (new is None or new.get("format", 1) < old.get("format", 1))


def reverted(world, f, changes, gone):
    """Whether a commit is the whole revert of a run that it names."""
    named = re.search(r"This reverts commit ([0-9a-f]{40})", f.message)
    one = world.commits.get(named[1]) if named else None
    if not one or one.id not in world.behind(f.parents[0]) or not one.parents:
        return False
    brought = {p: pair for p, pair in world.diff(world.files(world.commits[one.parents[0]].tree), world.files(one.tree)).items() if p.startswith("network/")}
    before = world.files(world.commits[f.parents[0]].tree)
    whole = all(f.files.get(path) == old for path, (old, new) in brought.items() if before.get(path) == new)
    return whole and all(path in brought for path in changes if path.startswith("network/")) and all(
        not brought[path][0] and f.files.get(path) is None for path in gone)


def brought(world, f, changes, own, alone):
    """Records of runs that a person's commit brings: true ones, that say all that it does where there is one, with all that they made."""
    found = None
    for path in own:
        if changes[path][0] or not RECORD.fullmatch(path):
            continue
        honest, blob, moved = world.honest[path]
        now = {p: pair for p, pair in changes.items() if NEURON.fullmatch(p)}
        if RECORD.fullmatch(path)[1].endswith("-human"):
            if hands_of(f):
                return "a person's run by an agent"
            if alone and now != moved:
                return "a person's record that says something else"
            continue
        reached = set().union(*(world.behind(parent) for parent in (*f.parents, world.true["main"], world.true["wake"])))
        if honest.parents[0] not in reached:
            return "a run without its history"
        if hands_of(f):
            if not alone:
                return "an agent that brings several runs"
            return "a run in another name" if forged(f, json.loads(world.blob(blob))) else merged(world, f, changes, honest)
        if alone and not set(now) <= set(moved):
            return "a run that says nothing of a neuron"
        if len(f.parents) == 1:
            found = found or whole(world, f, changes, honest)
            if found not in (None, UNSURE):
                return found
    return found


def whole(world, f, changes, honest):
    """A person's commit that brings a run has all that the run made; where the tree before it has something else as well, only a merge says what."""
    before, unsure = world.files(world.commits[f.parents[0]].tree), False
    made = world.diff(world.files(world.commits[honest.parents[0]].tree), world.files(honest.tree))
    for path, (old, new) in made.items():
        known = before.get(path) in (old, new)
        if not path.startswith("network/") or path.startswith("network/stimuli/queue/") or f.files.get(path) == new and known:
            continue
        # Another run that comes beside it may have changed the same.
        beside = sum(1 for one, (was, _) in changes.items() if not was and RECORD.fullmatch(one)) > 1
        if known and not beside:
            return "a run without what it made"
        unsure = True
    return UNSURE if unsure else None


def merged(world, f, changes, honest):
    """A run that an agent commits elsewhere than where it was made lands as the merge lands it. Where both sides changed a file, only a merge says how."""
    tree = lambda commit: world.files(world.commits[commit].tree)
    run, before, unsure = world.diff(tree(honest.parents[0]), world.files(honest.tree)), tree(f.parents[0]), False
    inside = lambda path: path.startswith("network/")
    queue = lambda path: path.startswith("network/stimuli/queue/")
    for path, (old, new) in run.items():
        if not inside(path) or queue(path):
            continue
        if before.get(path) not in (old, new):
            unsure = True
        elif f.files.get(path) != new:
            return "an agent's run that does otherwise"
    if any(inside(path) and path not in run and not (queue(path) and not new) for path, (_, new) in changes.items()):
        return "an agent's run that does more"
    return UNSURE if unsure else None


def dangling(world, f, changes):
    """New connections to what is not there, and neurons that go although others point to them."""
    there = {NEURON.fullmatch(path)[1] for path in f.files if NEURON.fullmatch(path)}
    gone = {NEURON.fullmatch(path)[1] for path, (_, new) in changes.items() if not new and NEURON.fullmatch(path)}
    for path, entry in f.files.items():
        if not NEURON.fullmatch(path) or not (gone or path in changes):
            continue
        targets = neuron_of(world, f, entry)[0]
        old = neuron_of(world, f, changes[path][0]) if path in changes else None
        fresh = targets - (old[0] if old else set()) if path in changes else set()
        if targets & gone or fresh - there:
            return "a connection dangles"
    return None


def tainted(world, f, changes):
    """What nobody approved, on main."""
    if f.branch != "main":
        return None
    for path, (old, new) in changes.items():
        if NEURON.fullmatch(path) and new and neuron_of(world, f, new)[1].startswith("mcp") and (neuron_of(world, f, old) or (0, ""))[1] != neuron_of(world, f, new)[1]:
            return "a tainted neuron on main"
        if RECORD.fullmatch(path) and new and not old and json.loads(world.blob(new[1])).get("origin", "local").startswith("mcp"):
            return "a tainted run on main"
    return None


def built(world, f, folder):
    """The commit's id, its objects in a folder."""
    objects = Objects(folder)
    for content in f.new.values():
        objects.write("blob", content)
    tree = objects.tree(f.files, world.trees)
    now = int(time.time())
    at = now + 86_400 if f.late else now
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in f.parents), f"author Ann <{f.email}> {at} +0000", f"committer Ann <{f.committer}> {now} +0000"]
    head, body = "\n".join(lines) + "\n", "\n" + f.message
    if f.signed and f.key:
        file = folder / "payload"
        file.write_text(head + body)
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(world.root / "keys" / f.key), str(file)]
        subprocess.run(argv, check=True, env=world.env, capture_output=True)
        signature = (folder / "payload.sig").read_text().strip().replace("\n", "\n ")
        head += f"gpgsig {signature}\n"
        file.unlink()
        (folder / "payload.sig").unlink()
    return objects.write("commit", (head + body).encode())


def judged(world, f, number):
    """Whether the gate takes it, and what it said."""
    gate = world.root / ("signed" if f.signed else "open")
    folder = gate / "objects" / f"tmp_objdir-incoming-{number}"
    folder.mkdir()
    try:
        commit = built(world, f, folder)
        old = world.true[f.branch] if f.branch in ("main", "wake") else "0" * 40
        env = {**world.env, "GIT_DIR": ".", "GIT_QUARANTINE_PATH": str(folder), "GIT_OBJECT_DIRECTORY": str(folder),
               "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(gate / "objects")}
        line = f"{old} {commit} refs/heads/{f.branch}\n".encode()
        answer = lab.call([str(gate / "hooks/pre-receive")], env, cwd=gate, given=line)
        return answer.code == 0, answer
    finally:
        shutil.rmtree(folder)


def pushed(world, f, number):
    """The same by `git push`, which is taken back."""
    gate = "signed" if f.signed else "open"
    folder = world.root / f"pushed-{number}"
    folder.mkdir()
    try:
        commit = built(world, f, folder)
        env = {**world.env, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{folder}:{world.root / gate / 'objects'}"}
        name = f"refs/heads/{f.branch}"
        answer = lab.call(["git", "-C", str(world.root / "a"), "push", "-q", str(world.root / gate), f"{commit}:{name}"], env)
        if answer.code == 0:
            known = world.true[f.branch] if f.branch in ("main", "wake") else None
            world.git(gate, "update-ref", *((name, known) if known else ("-d", name)))
        return answer.code == 0, answer
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=250, help="forgeries")
    parser.add_argument("--pushes", type=int, default=50, help="of every so many one goes by `git push`")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=int, help="stop after so many")
    parser.add_argument("--only", type=int, help="the one of this number")
    arguments = parser.parse_args()
    seed, failures, figures = lab.seed_of(arguments), [], collections.Counter()
    reasons, start = collections.Counter(), time.monotonic()
    with lab.scratch("forge") as root:
        world = World(root, seed)
        def one(number):
            if arguments.seconds and time.monotonic() - start > arguments.seconds:
                return
            forgery = Forgery(world, lab.dice(seed, number))
            why = refusal(world, forgery)
            by_git = number % arguments.pushes == 0
            taken, answer = (pushed if by_git else judged)(world, forgery, number)
            with world.lock:
                figures["tried"] += 1
                figures["pushed"] += by_git
                figures["taken" if taken else "refused"] += 1
                reasons[why] += 1
                if why == UNSURE:
                    figures["left open"] += 1
                elif taken != (why is None) or (not taken and answer.code != 1):
                    figures["accepted wrongly" if taken else "refused wrongly"] += 1
                    failures.append(f"seed {seed} --only {number}: {forgery}\n  the statement: {why or 'allowed'}; {answer}")

        numbers = [arguments.only] if arguments.only is not None else range(arguments.count)
        # A push moves the gate for a moment: one after the other, and nothing beside.
        for number in (n for n in numbers if n % arguments.pushes == 0):
            one(number)
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            list(pool.map(one, (n for n in numbers if n % arguments.pushes)))
    if not figures["tried"] or not figures["taken"] and arguments.only is None:
        failures.append("no forgery was tried, or none was good")
    shown = {name: figures[name] for name in ("tried", "pushed", "taken", "refused", "left open", "accepted wrongly", "refused wrongly")}
    if os.environ.get("GIT_BRAIN_LAB_KEEP"):
        print(reasons.most_common())
    failures.sort(key=lambda failure: "the statement: allowed" in failure)
    return lab.report("17 forge", {"seed": seed, **shown, "reasons": len(reasons)}, failures)


if __name__ == "__main__":
    sys.exit(main())
