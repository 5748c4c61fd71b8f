"""Small histories, made by chance: a base, two sides and a policy, as trees in either format.

On each side runs of agents and people, edits by hand beside them, and runs that both sides have and the base has not. Not drawn,
because docs/merge.md says too little of them to hold a tree against it, or because other rows have them:

- runs taken back (`reverts`, `Undoes:`) and what is put back of them, which row 16 has;
- a label of an origin taken away otherwise than by an approval;
- a stimulus that was consumed and waits again;
- one run with two records whose effects differ;
- a connection to a neuron that is not there.
"""

import json

import typed
from typed import COUNT, HUMAN, TOP, Tree, digits, plain, stamp

START = typed.seconds("2026-01-26T12:00:00Z")
NAMES, MADE = ("a", "b", "c"), ("d", "e")
KINDS, TYPES = ("feeds_into", "recalls", "triggers", "inhibits"), ("semantic", "episodic", "contextual")
RANKS = {"human": HUMAN, "memory": 2, "perception": 3, "decision": 5}
TAINTED = ("webhook", "mcp:editor", "import", "http", "unheard:of")
RULES = {"weight": ("sum", "max", "mean", "left", "right", "priority", "review"), "last_activated": ("max", "mean", "left", "right", "priority", "review", "sum"),
         "concept": ("priority", "max", "left", "right", "review", "sum", "mean")}
# What runs and people do in a case: of everything, or much of one thing.
FOCUS = {
    "everything": ("activate activate activate weight weight weight connect connect cut name type archive origin create create flag goal signal answer consume ledger",
                   "neuron neuron neuron neuron neuron neuron remove flag goal unset metadata feed feed file file forget"),
    "numbers": ("activate activate weight weight weight connect cut", "neuron neuron neuron remove"),
    "names": ("name name type origin create", "neuron"),
    "settings": ("flag flag flag goal", "flag goal unset reset reset metadata"),
    "orders": ("weight weight weight activate cut", "neuron"),
    "events": ("signal answer answer consume consume consume ledger", "feed feed feed feed forget file file"),
}
RULES.update(salience=RULES["weight"], activation_count=RULES["weight"], type=RULES["concept"])


def hold(number, top=TOP):
    return max(0, min(top, number))


def near(dice, top=TOP):
    """A number, often near an end of its range."""
    return dice.choice([0, dice.randint(0, 300), dice.randint(0, top), dice.randint(0, top), top - dice.randint(0, 300), top])


def path_of(kind, run):
    return f"network/{kind}/{run[:4]}/{run[4:6]}/{run[6:8]}/{digits(run)[:2]}/{run}.json"


def stimulus_path(name):
    return f"network/stimuli/2026/01/{digits(name)[:2]}/{name}.json"


def signal_path(name):
    return f"network/signals/memory/{digits(name)[:2]}/{name}.json"


class Side:
    """A tree on which runs and people work."""

    def __init__(self, dice, tree, clock, format, focus, recorded=True):
        self.dice, self.tree, self.clock, self.format, self.recorded = dice, tree, clock, format, recorded
        self.runs, self.people = (words.split() for words in FOCUS[focus])

    def tick(self):
        """A moment later, in milliseconds since the start."""
        self.clock += self.dice.choice([1, 400, 1000, 40_000, 3_600_000, 7_200_000, self.dice.randint(1, 90_000_000)])
        return START + self.clock // 1000

    def run_id(self, agent):
        moment = stamp(START + self.clock // 1000)
        letters = "".join(self.dice.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))
        return f"{moment[:10].replace('-', '')}t{moment[11:19].replace(':', '')}{self.clock % 1000:03}z-{letters}-{agent}"

    def one(self):
        return self.tree.neurons[self.dice.choice(sorted(self.tree.neurons))] if self.tree.neurons else None

    def touched(self, before):
        """Neurons that are not as before, which are written in this side's format."""
        changed = [name for name, n in self.tree.neurons.items() if n != before.neurons.get(name)]
        self.tree.formats.update((name, self.format) for name in changed)
        return sorted(changed)

    def run(self, agent=None):
        """One run; its record."""
        now, agent = self.tick(), agent or self.dice.choice(list(RANKS))
        at = now - self.dice.choice([0, 0, 0, 1, 5000])
        run, before, ops = self.run_id(agent), self.tree.copy(), []
        origin = self.dice.choice(TAINTED) if agent != "human" and self.dice.random() < 0.2 else None
        for _ in range(self.dice.randint(1, 6)):
            self.operation(run, agent, at, origin, ops)
        effects = []
        for name in self.touched(before):
            n, was = self.tree.neurons[name], before.neurons.get(name)
            n["run"], n["version"] = run, (was["version"] if was else 0) ^ typed.mark(run)
            effects.append(effect(was, n))
        record = {"format": 2, "run": run, "agent": agent, "trigger": "by hand", "cognition": "apply", "at": stamp(at)}
        record.update({name: value for name, value in (("origin", origin), ("ops", ops), ("effects", effects)) if value})
        if self.recorded:
            self.tree.files[path_of("runs", run)] = plain(record)
        return record

    def operation(self, run, agent, at, origin, ops):
        dice, n, kind = self.dice, self.one(), self.dice.choice(self.runs)
        files = self.tree.files
        if kind == "create":
            name = dice.choice(MADE)
            if name not in self.tree.neurons:
                made = fresh(dice, name, run, RANKS[agent], at)
                made.update(origin=origin or "local", links=self.edges(dice.randint(0, 2)))
                self.tree.neurons[name] = made
        elif kind in ("flag", "goal"):
            op = {"op": "flag", "name": dice.choice(("f", "g")), "value": dice.random() < 0.5, "reason": f"r{dice.randint(0, 9)}"}
            if kind == "goal":
                state = dice.choice(("open", "reached", "abandoned"))
                op = {"op": "goal", "id": dice.choice(("p", "q")), "text": f"reach {dice.randint(0, 99)}", "level": "sub", "state": state}
            ops.append(op)
            path, text = typed.set_by(op, stamp(at), run)
            files[path] = text
        elif kind in ("signal", "answer", "consume", "ledger"):
            self.event(kind, run, agent, stamp(at))
        elif n is not None:
            self.change(kind, n, run, agent, at, origin)

    def event(self, kind, run, agent, at):
        """What a run writes once, or consumes."""
        dice, files = self.dice, self.tree.files
        if kind == "signal":
            name = f"g-{digits(run)[:16]}"
            said = {"id": name, "type": "signal", "from": agent, "to": "memory", "run": run, "created_at": at, "payload": {"kind": "x"}}
            files[signal_path(name)] = plain(said)
        elif kind == "answer":
            answer = lambda path: path.replace(".json", ".ack.json")
            waiting = [path for path in files if path.startswith("network/signals/") and ".ack." not in path and answer(path) not in files]
            if waiting:
                path = dice.choice(sorted(waiting))
                said = {"signal": json.loads(files[path])["id"], "by": "memory", "run": run, "created_at": at, "payload": {"done": "x"}}
                files[answer(path)] = plain(said)
        elif kind == "consume":
            waiting = sorted(path for path in files if typed.QUEUE.match(path))
            if waiting:
                del files[dice.choice(waiting)]
        else:
            judged = {"run": run, "judged": run, "agent": "decision", "at": at, "prediction": {"value": 0.5}, "outcome": {"value": 0.5}}
            files[path_of("ledger", run)] = plain({**judged, "error": 0.0, "method": "number", "pathway": []})

    def change(self, kind, n, run, agent, at, origin):
        dice = self.dice
        if kind == "activate":
            salience, updated = n["salience"]
            n["salience"] = hold(typed.faded(salience, at - updated) + dice.choice([0, 1, 6554, dice.randint(0, TOP)])), max(at, updated)
            n["activation_count"] = hold(n["activation_count"] + 1, COUNT)
            n["last_activated"] = max(at, n["last_activated"] or 0)
        elif kind == "weight" and n["links"]:
            key = dice.choice(sorted(n["links"]))
            n["links"][key] = hold(n["links"][key] + dice.choice([1, -1, 7, -40, 200, -200, 30000, -30000]))
        elif kind == "connect":
            n["links"].update((key, weight) for key, weight in self.edges(1).items() if not n["links"].get(key))
        elif kind == "cut" and n["links"]:
            n["links"][dice.choice(sorted(n["links"]))] = 0
        elif kind in ("name", "type"):
            field = "concept" if kind == "name" else "type"
            text = dice.choice(["w1", "w2", "w3", "wörter"] if kind == "name" else TYPES)
            if text != n[field][0]:
                n[field] = text, (max(RANKS[agent], n[field][1][0]), run)
                if origin:
                    n["origin"] = typed.joined(typed.labels(n["origin"]) | {origin})
        elif kind == "archive" and not n["pinned"]:
            n["archived"] = run
        elif kind == "origin" and agent == "human":
            found = typed.labels(n["origin"])
            tainted = sorted(label for label in found if not label.startswith("approved"))
            if tainted:
                label = dice.choice(tainted)
                n["origin"] = typed.joined(found - {label} | {f"approved:{label}"})

    def edges(self, count):
        targets = sorted(self.tree.neurons)
        return {(self.dice.choice(targets), self.dice.choice(KINDS)): self.dice.choice([1, 1024, TOP - 20, near(self.dice) or 1]) for _ in range(count)} if targets else {}

    def hand(self):
        """A person's edit, without a run."""
        before, now, n, dice, files = self.tree.copy(), self.tick(), self.one(), self.dice, self.tree.files
        kind = dice.choice(self.people)
        if kind == "neuron" and n is not None:
            self.edit(n, now)
        elif kind == "remove" and n is not None:
            del self.tree.neurons[n["id"]]
            self.tree.formats.pop(n["id"], None)
            for other in self.tree.neurons.values():
                other["links"] = {key: weight for key, weight in other["links"].items() if key[0] != n["id"]}
        elif kind == "flag":
            files[f"network/flags/{dice.choice('fg')}.json"] = plain({"value": dice.random() < 0.5, "reason": f"hand {dice.randint(0, 9)}", "at": stamp(now), "run": None})
        elif kind == "goal":
            name = dice.choice("pq")
            files[f"network/goals/{name}.json"] = plain({"id": name, "text": f"hand {dice.randint(0, 9)}", "level": "terminal", "state": "open", "at": stamp(now), "run": None})
        elif kind == "reset":
            found = sorted(path for path in files if path.startswith(("network/flags/", "network/goals/")))
            if found:
                path = dice.choice(found)
                document = json.loads(files[path])
                document.update({"value": not document["value"]} if "value" in document else {"state": "abandoned"})
                files[path] = plain(document)
        elif kind in ("unset", "forget"):
            kinds = ("network/flags/", "network/goals/") if kind == "unset" else ("network/signals/", "network/ledger/", "network/stimuli/2026/")
            found = sorted(path for path in files if path.startswith(kinds))
            if found:
                path = dice.choice(found)
                del files[path]
                name = path.split("/")[-1].removesuffix(".json")
                files.pop(f"network/stimuli/queue/{digits(name)[:2]}/{name}", None)
                files.pop(path.replace(".json", ".ack.json"), None)
        elif kind == "metadata":
            document = json.loads(files[typed.METADATA])
            document.update(dice.choice([{"format": 2}, {"seed_timestamp": stamp(now)}, {"bootstrap_complete": False, "run": self.run_id("human")}]))
            files[typed.METADATA] = plain(document)
        elif kind == "feed":
            self.feed(now)
        elif kind == "file":
            self.file()
        self.touched(before)

    def edit(self, n, now):
        dice = self.dice
        field = dice.choice(["salience", "activation_count", "weight", "unlink", "concept", "type", "created_at", "last_activated", "pinned", "archived", "source", "format"])
        if field == "salience":
            n["salience"] = near(dice), dice.choice([n["salience"][1], now])
        elif field == "activation_count":
            n[field] = near(dice, COUNT)
        elif field in ("weight", "unlink") and n["links"]:
            key = dice.choice(sorted(n["links"]))
            if field == "weight":
                n["links"][key] = near(dice)
            else:
                del n["links"][key]
        elif field in ("concept", "type"):
            n[field] = dice.choice(["h1", "h2", "h3"] if field == "concept" else TYPES), n[field][1]
        elif field == "created_at":
            n[field] = n[field] - dice.choice([0, 60, -60, 86400])
        elif field == "last_activated":
            n[field] = dice.choice([None, now, n[field]])
        elif field == "pinned":
            n[field] = not n[field]
        elif field == "archived":
            n[field] = None if n[field] else self.run_id("human")
        elif field == "source":
            n[field] = dice.choice([None, "mail:1", "mail:2"])
        elif field == "format":
            self.tree.formats[n["id"]] = 2

    def feed(self, now):
        name = self.dice.choice(("s-1", "s-2", "s-3"))
        path = stimulus_path(name)
        if path not in self.tree.files:
            self.tree.files[path] = plain({"id": name, "at": stamp(self.dice.choice([START, now])), "text": f"text of {name}", "origin": "local"})
            self.tree.files[f"network/stimuli/queue/{digits(name)[:2]}/{name}"] = f"{path if self.format == 1 else '2026/01'}\n".encode()

    def file(self):
        """An entry outside the network: the value is mode and content."""
        files, path = self.tree.files, self.dice.choice(("notes.txt", "wiki", "wiki/page", "wiki/deep/page", "agents/notes.txt", "brain.toml"))
        if path in files and self.dice.random() < 0.3:
            del files[path]
            return
        for other in [p for p in files if p.startswith(path + "/") or path.startswith(p + "/")]:
            del files[other]
        mode = "100644" if path == "brain.toml" else self.dice.choice(["100644"] * 3 + ["100755"])
        files[path] = f"{mode} # {self.dice.randint(1, 3)}\n".encode()


def fresh(dice, name, run, rank, at):
    return {"id": name, "concept": (dice.choice([name, name.upper()]), (rank, run)), "type": (dice.choice(TYPES), (rank, run)), "salience": (0, at), "created_at": at,
            "last_activated": None, "activation_count": 0, "run": run, "version": typed.mark(run), "origin": "local", "pinned": False, "archived": None,
            "source": dice.choice([None, "mail:1", "mail:2"]), "session": dice.choice([None, "mail"]), "stimulus": None, "links": {}}


def effect(before, after):
    """What a run did to a neuron, as its record has it."""
    if before is None:
        return {"created": json.loads(typed.write(after, 2))}
    found = {"neuron": after["id"]}
    shapes = {"salience": lambda v: {"salience": v[0], "at": stamp(v[1])}, "last_activated": stamp}
    shapes["concept"] = shapes["type"] = lambda v: {"value": v[0], "by": {"rank": v[1][0], "run": v[1][1]}}
    for field in ("concept", "type", "salience", "activation_count", "last_activated", "archived", "origin"):
        if before[field] != after[field]:
            found[field] = [shapes.get(field, lambda v: v)(side[field]) for side in (before, after)]
    links = {}
    for target, kind in sorted({*before["links"], *after["links"]}):
        pair = [side["links"].get((target, kind)) for side in (before, after)]
        if pair[0] != pair[1]:
            links.setdefault(target, {})[kind] = pair
    return {**found, **({"connections": links} if links else {})}


def bring(side, before, after, clock):
    """A run that was made elsewhere."""
    merge = typed.Merge(before, side.tree, after, typed.POLICY)
    was, formats = side.tree, side.tree.formats
    side.tree, side.clock = merge.tree, max(side.clock, clock)
    side.tree.formats = {name: formats.get(name, side.format) for name in side.tree.neurons}
    side.touched(was)


def whole(trees):
    """Whether all that is connected is there."""
    return all(key[0] in tree.neurons for tree in trees for n in tree.neurons.values() for key in n["links"])


class Case:
    """A base, two sides and a policy."""

    def __init__(self, dice):
        format, focus = dice.choice([1, 2, 2]), dice.choice(["everything"] * 4 + list(FOCUS)[1:])
        self.policy = dict(typed.POLICY)
        if dice.random() < 0.4:
            self.policy.update((field, dice.choice(rules)) for field, rules in RULES.items() if dice.random() < 0.5)
            focus = dice.choice(["everything", "numbers", "numbers", "names"])
        base = Side(dice, Tree({}, {typed.METADATA: plain({"format": format, "bootstrap_complete": True, "seed_timestamp": None})}), 0, format, focus, dice.random() < 0.9)
        for name in NAMES[:dice.choice([1, 1, 2, 3]) if focus == "everything" else 1]:
            self.settle(dice, base, name)
        for n in base.tree.neurons.values():
            n["links"] = base.edges(dice.randint(0, 3) if focus != "orders" else 1)
        for _ in range(dice.randint(0, 4) if focus != "orders" else 0):
            dice.choice([base.run, base.run, base.hand])()
        sides = [Side(dice, base.tree.copy(), base.clock, dice.choice([format, 2]), focus, dice.random() < 0.9) for _ in range(2)]
        pool = Side(dice, base.tree.copy(), base.clock, format, focus)
        shared = []
        count = dice.choice([0, 0, 1, 2, 3]) if focus != "orders" else dice.randint(2, 4)
        for _ in range(count if self.policy == typed.POLICY else 0):
            if not shared or dice.random() < 0.7:
                pool.tree = base.tree.copy()
                shared.append([])
            before = pool.tree.copy()
            pool.run(dice.choice(["human", "memory", "decision"]))
            shared[-1].append((before, pool.tree.copy(), pool.clock))
        for side in sides:
            steps = [side.run if dice.random() < 0.6 else side.hand for _ in range(dice.choice([0, 1, 2, 3, 4, 6]) if focus != "orders" else dice.choice([0, 0, 1]))]
            # A run is never there before the one it was made upon.
            waiting = [list(chain) for chain in shared]
            steps += [lambda side=side, chain=chain: bring(side, *chain.pop(0)) for chain in waiting for _ in chain]
            dice.shuffle(steps)
            for step in steps:
                step()
        self.trees = [base.tree, *(side.tree for side in sides)]
        if dice.random() < 0.02:
            run = base.run_id("memory")
            for which, side in enumerate(sides):
                side.tree.files[path_of("runs", run)] = plain({"format": 2, "run": run, "agent": "memory", "trigger": f"by {which}", "cognition": "apply", "at": stamp(START)})

    def settle(self, dice, base, name):
        """A neuron of the base."""
        run = base.run_id(dice.choice(list(RANKS))) if dice.random() < 0.8 else None
        base.tick()
        n = fresh(dice, name, run, dice.choice([0, 2, 5, HUMAN]) if run else 0, START - dice.randint(0, 90000))
        n.update(salience=(near(dice), n["created_at"] + dice.randint(0, 90000)), activation_count=dice.choice([0, 1, 5, COUNT - 1]), pinned=dice.random() < 0.2,
                 origin=dice.choice(["local", "local", "bootstrap", *TAINTED, "webhook+mcp:editor"]))
        n["last_activated"] = n["salience"][1] if n["activation_count"] else None
        base.tree.neurons[name], base.tree.formats[name] = n, dice.choice([1, base.format])

    def swapped(self):
        """The same with its sides exchanged, and the policy as it is."""
        other = object.__new__(Case)
        other.trees, other.policy = [self.trees[0], self.trees[2], self.trees[1]], self.policy
        return other

    def settings(self):
        return [word for field, rule in self.policy.items() if rule != typed.POLICY[field] for word in ("-c", f"merge.{field}={rule}")]
