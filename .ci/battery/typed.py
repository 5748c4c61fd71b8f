"""The typed merge, said once more by docs/merge.md alone: three trees in, one tree and its conflicts out.

Shares no code with the program and none with its tests. A tree is its neurons by id, as `read` has them, and its other
files by path. Where docs/merge.md leaves a question open, `Open` is raised with the question, and nothing is decided.
"""

import dataclasses
import datetime
import decimal
import functools
import hashlib
import itertools
import json
import re

import form

TOP, COUNT, HUMAN = 65535, 2**32 - 1, 2**32 - 1
POLICY = {"weight": "sum", "salience": "sum", "activation_count": "sum", "last_activated": "max", "concept": "priority", "type": "priority"}
CLASSES = ("bootstrap", "local", "approved", "import", "mcp", "http", "clone", "webhook")
METADATA = "network/metadata.json"
NEURON = re.compile(r"network/neurons/../.{1,2}/([^/]+)\.json$")
RECORD = re.compile(r"network/runs/\d{4}/\d\d/\d\d/../([^/.]+)\.json$")
STIMULUS = re.compile(r"network/stimuli/(\d{4}/\d\d)/../([^/]+)\.json$")
QUEUE = re.compile(r"network/stimuli/queue/../([^/]+)$")
ANSWERED = re.compile(r"network/stimuli/\d{4}/|network/signals/.*\.ack\.json$")
SET = re.compile(r"network/(flags|goals)/|network/metadata\.json$")


class Open(Exception):
    """A question that docs/merge.md does not answer."""


def digits(text):
    return hashlib.sha256(text.encode()).hexdigest()


def mark(run):
    """A run's 64 bits of a `version`."""
    return int(digits(run)[:16], 16) if run else 0


def neuron_path(name):
    return f"network/neurons/{digits(name)[:2]}/{digits(name)[2]}/{name}.json"


def is_person(run):
    return run is None or run.split("-", 2)[2] == "human"


def seconds(text):
    return None if text is None else int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def stamp(moment):
    return None if moment is None else datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@functools.lru_cache(None)
def kept_after(elapsed):
    with decimal.localcontext(decimal.Context(prec=40)):
        return decimal.Decimal("0.99") ** (decimal.Decimal(elapsed) / 3600)


def faded(salience, elapsed):
    """docs/glossary.md#formulas: `floor(s · 0.99^hours)`, and nothing where a clock runs backwards."""
    if elapsed <= 0:
        return salience
    with decimal.localcontext(decimal.Context(prec=40)):
        # 0.99^(2/2) is 0.99, whatever the 39th digit says.
        return int(salience * kept_after(elapsed) + decimal.Decimal("1e-25"))


def read(text):
    """A neuron's file as the merge speaks of it."""
    file = form.neuron(json.loads(text))
    by = file["named_by"]
    return {
        "id": file["id"], "concept": (file["concept"], (by["concept"]["rank"], by["concept"]["run"])),
        "type": (file["type"], (by["type"]["rank"], by["type"]["run"])),
        "salience": (file["salience"], seconds(file["last_salience_update"])), "created_at": seconds(file["created_at"]),
        "last_activated": seconds(file["last_activated"]), "activation_count": file["activation_count"], "run": file["run"],
        "version": int(file["version"], 16) if "version" in file else mark(file["run"]), "origin": file["origin"],
        "pinned": file.get("pinned", False), "archived": file.get("archived"),
        **{name: file.get(name) for name in ("source", "session", "stimulus")},
        "links": {(c["target"], c["type"]): c["weight"] for c in file["connections"]},
    }


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def tied(links):
    """Connections by target, as format 2 has them."""
    targets = {}
    for (target, kind), weight in sorted(links.items()):
        targets.setdefault(target, {})[kind] = weight
    both = ("feeds_into", "recalls")
    single = lambda kinds: kinds["recalls"] if tuple(kinds) == both and len(set(kinds.values())) == 1 else kinds
    return {target: single(kinds) for target, kinds in targets.items()}


def naming(n):
    """`named_by` of format 2; absent is ()."""
    concept, kind = n["concept"][1], n["type"][1]
    def one(by):
        if by[1] == n["run"]:
            return () if by[0] == 0 else by[0]
        return None if by == (0, None) else {"rank": by[0], "run": by[1]}
    if concept == kind:
        return one(concept)
    return {"concept": {"rank": concept[0], "run": concept[1]}, "type": {"rank": kind[0], "run": kind[1]}}


def fields(n, format):
    """A neuron's fields in the order of its file."""
    (salience, updated), count, by = n["salience"], n["activation_count"], naming(n)
    usual = updated if count else None
    whole = {which: {"rank": n[which][1][0], "run": n[which][1][1]} for which in ("concept", "type")}
    yield from (("id", n["id"]), ("concept", n["concept"][0]), ("type", n["type"][0]), ("salience", salience))
    stamps = {"last_salience_update": stamp(updated), "created_at": stamp(n["created_at"])}
    if format == 1:
        yield from stamps.items()
        yield from (("last_activated", stamp(n["last_activated"])), ("activation_count", count), ("run", n["run"]))
        yield from (("version", f"{n['version']:016x}"), ("named_by", whole), ("origin", n["origin"]))
    else:
        yield "created_at", stamps["created_at"]
        optional = (("last_salience_update", stamps["last_salience_update"], updated == n["created_at"]),
                    ("last_activated", stamp(n["last_activated"]), n["last_activated"] == usual), ("activation_count", count, not count),
                    ("run", n["run"], n["run"] is None), ("version", f"{n['version']:016x}", n["version"] == mark(n["run"])),
                    ("named_by", by, by == ()), ("origin", n["origin"], n["origin"] == "local"))
        yield from ((name, value) for name, value, absent in optional if not absent)
    if n["pinned"]:
        yield "pinned", True
    yield from ((name, n[name]) for name in ("archived", "source", "session", "stimulus") if n[name] is not None)


def write(n, format):
    """A neuron's file in canonical form."""
    lines = [f"  {compact(name)}: {compact(value)}" for name, value in fields(n, format)]
    links = sorted(n["links"].items())
    if format == 1:
        each = [compact({"target": target, "weight": weight, "type": kind}) for (target, kind), weight in links]
        lines.append('  "connections": [' + (",".join(f"\n    {one}" for one in each) + "\n  ]" if each else "]"))
    elif links:
        each = [f"    {compact(target)}: {compact(kinds)}" for target, kinds in tied(n["links"]).items()]
        lines.append('  "connections": {\n' + ",\n".join(each) + "\n  }")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


@dataclasses.dataclass
class Tree:
    """Neurons by id and other files by path; `formats` is that of each neuron's file."""

    neurons: dict
    files: dict
    formats: dict = dataclasses.field(default_factory=dict)

    def copy(self):
        return Tree({name: {**n, "links": dict(n["links"])} for name, n in self.neurons.items()}, dict(self.files), dict(self.formats))

    def format(self):
        return json.loads(self.files[METADATA])["format"] if METADATA in self.files else 2

    def records(self):
        found = ((RECORD.match(path), text) for path, text in self.files.items())
        return {match.group(1): json.loads(text) for match, text in found if match}

    def written(self):
        """All files by path."""
        return {**self.files, **{neuron_path(name): write(n, self.formats.get(name, 2)) for name, n in self.neurons.items()}}


# One unit


def later_side(left, right):
    if left["run"] == right["run"]:
        raise Open("`priority` of a number or stamp where both sides name the same run")
    return max(left, right, key=lambda side: side["run"] or "")


def number(rule, base, left, right, top, later):
    """A number that both sides changed, or None if it is undecided."""
    if left == right and rule not in ("sum", "review"):
        return left
    if rule == "sum":
        return max(0, min(top, left + right - base))
    if rule == "mean":
        return (left + right + 1) // 2
    return {"max": max(left, right), "left": left, "right": right, "review": None}[rule] if rule != "priority" else later(left, right)


class Neuron:
    """The merge of one neuron."""

    def __init__(self, base, left, right, policy, conflicts):
        self.base, self.left, self.right, self.policy, self.conflicts = base, left, right, policy, conflicts

    def merged(self):
        out = {"id": self.left["id"]}
        for field in ("concept", "type"):
            out[field] = self.unit(field, lambda field=field: self.name(field))
        out["salience"] = self.unit("salience", self.salience)
        out["activation_count"] = self.count()
        out["last_activated"] = self.unit("last_activated", self.last_activated)
        out["created_at"] = self.unit("created_at", lambda: min(self.left["created_at"], self.right["created_at"]))
        out["origin"] = self.origin()
        for field in ("archived", "run"):
            out[field] = self.unit(field, lambda field=field: self.greater(field))
        out["version"] = (self.base["version"] if self.base else 0) ^ self.left["version"] ^ self.right["version"]
        out["pinned"] = self.unit("pinned", lambda: self.left["pinned"] or self.right["pinned"])
        for field in ("source", "session", "stimulus"):
            out[field] = self.unit(field, lambda field=field: self.once(field))
        out["links"] = self.links()
        return out

    def unit(self, field, both):
        """Rule 0, then `both`."""
        left, right = self.left[field], self.right[field]
        if self.base and right == self.base[field]:
            return left
        if self.base and left == self.base[field]:
            return right
        return both()

    def greater(self, field):
        return max(self.left[field], self.right[field], key=lambda run: run or "")

    def once(self, field):
        left, right = self.left[field], self.right[field]
        if self.base and left != right:
            raise Open(f"`{field}` that both sides changed though it is written once")
        return max(left, right, key=lambda text: text or "")

    def undecided(self, field):
        self.conflicts.add((self.left["id"], field))
        return self.left.get(field)

    def later(self, *values):
        return values[0] if later_side(self.left, self.right) is self.left else values[1]

    def count(self):
        base, left, right = (side["activation_count"] if side else 0 for side in (self.base, self.left, self.right))
        if right == base:
            return left
        if left == base:
            return right
        found = number(self.policy["activation_count"], base, left, right, COUNT, self.later)
        return self.undecided("activation_count") if found is None else found

    def salience(self):
        left, right, rule = self.left["salience"], self.right["salience"], self.policy["salience"]
        if rule in ("left", "right"):
            return left if rule == "left" else right
        newest = max(side["salience"][1] for side in (self.base, self.left, self.right) if side)
        then = lambda side: faded(side["salience"][0], newest - side["salience"][1]) if side else 0
        found = number(rule, then(self.base), then(self.left), then(self.right), TOP, self.later)
        return self.undecided("salience") if found is None else (found, newest)

    def last_activated(self):
        left, right, rule = self.left["last_activated"], self.right["last_activated"], self.policy["last_activated"]
        if left == right:
            return left
        if rule in ("sum", "review"):
            return self.undecided("last_activated")
        if rule == "mean":
            if None not in (left, right) and (left + right) % 2:
                raise Open("the mean of two stamps that are an odd number of seconds apart")
            return (left + right) // 2 if None not in (left, right) else left or right
        if rule == "priority":
            return self.later(left, right)
        return {"max": max(left or 0, right or 0), "left": left, "right": right}[rule]

    def hand(self, side, field):
        """Whether a person wrote this name into the file: another text, and still the giver of the old one."""
        return self.base and side[field][0] != self.base[field][0] and side[field][1] == self.base[field][1]

    def name(self, field):
        left, right, rule = self.left[field], self.right[field], self.policy[field]
        said = [(side[field][1][0], side[field][1][1] or "") for side in (self.left, self.right)]
        ranks = [(HUMAN, "") if self.hand(side, field) else rank for side, rank in zip((self.left, self.right), said)]
        if (said[0] > said[1]) != (ranks[0] > ranks[1]) and (rule == "priority" or left[0] == right[0]):
            raise Open("a name that a person wrote by hand, beside another one: whose rank it has")
        stronger = left if ranks[0] > ranks[1] else right
        if left[0] == right[0]:
            return stronger
        if rule in ("left", "right"):
            return left if rule == "left" else right
        if rule == "max":
            return max(left, right, key=lambda name: name[0])
        if rule == "priority" and ranks[0] != ranks[1]:
            return stronger
        return self.undecided(field)

    def origin(self):
        base, left, right = (labels(side["origin"]) if side else set() for side in (self.base, self.left, self.right))
        if not self.base:
            return joined(left | right, self.left["origin"], self.right["origin"])
        # A name is its text with its rank and run: the same text given again is another name.
        renamed = lambda side: any(side[field] != self.base[field] for field in ("concept", "type"))
        gone = {label for label in base if label not in left and not (label in right and renamed(self.right))
                or label not in right and not (label in left and renamed(self.left))}
        return joined((left | right) - gone, self.left["origin"], self.right["origin"])

    def links(self):
        sides = [side["links"] if side else {} for side in (self.base, self.left, self.right)]
        return {key: self.weight(key, *(links.get(key, 0) for links in sides)) for key in {*sides[1], *sides[2]}}

    def weight(self, key, base, left, right):
        if right == base:
            return left
        if left == base:
            return right
        found = number(self.policy["weight"], base, left, right, TOP, self.later)
        return self.undecided(f"connections.{key[0]}.{key[1]}") if found is None else found


def labels(origin):
    return set(origin.split("+")) - {"local", "bootstrap"}


def joined(found, *sides):
    """Labels as a file has them, the least trusted first; of labels alike in trust, the greater text."""
    if not found:
        plain = {side for side in sides if side in ("local", "bootstrap")}
        if len(plain) != 1:
            raise Open("`local` on one side and `bootstrap` on the other")
        return plain.pop()
    trust = lambda label: CLASSES.index(label.partition(":")[0]) if label.partition(":")[0] in CLASSES else len(CLASSES)
    text = "+".join(sorted(found, key=lambda label: (trust(label), label), reverse=True))
    if len(text) > 256:
        raise Open("labels beyond 256 bytes")
    return text


# One run, from its record


def views(effect, n):
    """A neuron as a run's effect says it was before and after, with the rest as `n` has it."""
    before, after = {**n, "links": dict(n["links"])}, {**n, "links": dict(n["links"])}
    shapes = {
        "concept": lambda v: (v["value"], (v["by"]["rank"], v["by"]["run"])), "salience": lambda v: (v["salience"], seconds(v["at"])),
        "last_activated": seconds,
    }
    shapes["type"] = shapes["concept"]
    for field in ("concept", "type", "salience", "activation_count", "last_activated", "archived", "origin"):
        if field in effect:
            before[field], after[field] = map(shapes.get(field, lambda v: v), effect[field])
    for target, kinds in effect.get("connections", {}).items():
        for kind, pair in kinds.items():
            for view, weight in zip((before, after), pair):
                view["links"].pop((target, kind), None)
                if weight is not None:
                    view["links"][target, kind] = weight
    return before, after


def applied(n, record, name):
    """What a recorded run makes of a neuron, None being none."""
    for effect in record.get("effects", []):
        run = record["run"]
        if "created" in effect and effect["created"]["id"] == name:
            made = read(json.dumps(effect["created"]))
            return made if n is None else Neuron(None, n, made, POLICY, set()).merged()
        if effect.get("neuron") == name and n is not None:
            before, after = views(effect, n)
            before.update(version=0, run=None)
            after.update(version=mark(run), run=run)
            return Neuron(before, n, after, POLICY, set()).merged()
    return n


def touches(record, name):
    return any(effect.get("neuron") == name or effect.get("created", {}).get("id") == name for effect in record.get("effects", []))


def ran(tree, record):
    """A tree with a recorded run on it: neurons, flags and goals; its record is the caller's."""
    for effect in record.get("effects", []):
        name = effect.get("neuron") or effect["created"]["id"]
        n = applied(tree.neurons.get(name), record, name)
        if n is not None:
            tree.neurons[name] = n
    for op in record.get("ops", []):
        if op["op"] in ("flag", "goal"):
            path, text = set_by(op, record["at"], record["run"])
            tree.files[path] = text
    return tree


def plain(document):
    """A document of one field a line."""
    return ("{\n" + ",\n".join(f"  {compact(key)}: {compact(value)}" for key, value in document.items()) + "\n}\n").encode()


def set_by(op, at, run):
    """A flag's or goal's path and text."""
    if op["op"] == "flag":
        return f"network/flags/{op['name']}.json", plain({"value": op["value"], "reason": op.get("reason", ""), "at": at, "run": run})
    goal = {"id": op["id"], "text": op["text"], "level": op["level"], "state": op["state"], "at": at, "run": run}
    return f"network/goals/{op['id']}.json", plain(goal)


# Whole trees


class Merge:
    """The merge of three trees: `tree`, `conflicts` as (neuron or path, field), `loose` as neuron to units of rounding."""

    def __init__(self, base, left, right, policy):
        self.base, self.left, self.right, self.policy = base.copy(), left.copy(), right.copy(), policy
        self.alike = {name: left.neurons.get(name) for name in {*left.neurons, *right.neurons, *base.neurons} if left.neurons.get(name) == right.neurons.get(name)}
        self.start = base
        self.conflicts, self.loose, self.tree = set(), {}, Tree({}, {})
        records = [side.records() for side in (base, left, right)]
        self.shared = sorted(run for run in records[1] if run in records[2] and run not in records[0])
        self.only = [{run: record for run, record in records[side].items() if run not in records[0] and run not in records[3 - side]} for side in (1, 2)]
        self.records = records[1]
        if self.shared:
            if policy != POLICY:
                raise Open("runs that both sides have, under another policy than the default one")
            self.share()
        for name in sorted({*self.base.neurons, *self.left.neurons, *self.right.neurons}):
            found = self.neuron(name)
            if found is not None:
                self.tree.neurons[name] = found
        self.point()
        paths = sorted({*self.base.files, *self.left.files, *self.right.files})
        for path in (path for path in paths if path.startswith("network/")):
            found = self.file(path)
            if found is not None:
                self.tree.files[path] = found
        self.tree.files.update(self.entries("", *({p: text for p, text in side.files.items() if not p.startswith("network/")} for side in (self.base, self.left, self.right))))

    def share(self):
        """Applies to the base what both sides have, and takes for unchanged what another order of it gives."""
        start = self.base.copy()
        for run in self.shared:
            ran(self.base, self.records[run])
        for name, n in self.base.neurons.items():
            runs = [self.records[run] for run in self.shared if touches(self.records[run], name)]
            if not runs:
                continue
            if len({moment for run in runs for e in run["effects"] if "salience" in e for moment in (v["at"] for v in e["salience"])}) > 1:
                self.loose[name] = len(runs)
            orders = [functools.reduce(lambda n, run: applied(n, run, name), order, start.neurons.get(name)) for order in itertools.permutations(runs)]
            for side in (self.left, self.right):
                there = side.neurons.get(name)
                if there is None or there["version"] != n["version"]:
                    continue
                for key, weight in there["links"].items():
                    given = {order["links"].get(key, 0) for order in orders if order}
                    if weight in given:
                        there["links"][key] = n["links"].get(key, 0)
                    elif given and min(given) < weight < max(given):
                        # By the text it is a change; the program takes all that lies between for another order. See docs/reliability.md, row 18.
                        raise Open("a weight that no order of shared runs gives, between two that some give")
                if any(order and order["activation_count"] == there["activation_count"] for order in orders):
                    there["activation_count"] = n["activation_count"]
                (salience, at), loose = there["salience"], self.loose.get(name, 0)
                given = {order["salience"][0] for order in orders if order and order["salience"][1] == at}
                if at != n["salience"][1] or not given:
                    continue
                if abs(salience - n["salience"][0]) <= loose or salience in given and not loose:
                    there["salience"] = n["salience"]
                elif min(given) - loose <= salience <= max(given) + loose:
                    # By the text it is another order of theirs, or a change if none gives it; the program looks at bounds. See row 18.
                    raise Open("a salience of shared runs that was held to its range, or lies between two that their orders give")

    def neuron(self, name):
        base, left, right = (side.neurons.get(name) for side in (self.base, self.left, self.right))
        if name in self.alike:
            return self.alike[name]
        if right == base:
            return left
        if left == base:
            return right
        return self.stays(name)

    def stays(self, name):
        """A neuron that is in the result, whichever side has removed it: as the other has it, and what runs had done to it before."""
        base, left, right = (side.neurons.get(name) for side in (self.base, self.left, self.right))
        if left is None or right is None:
            return self.put_back(name, left or right, 0 if left is None else 1)
        return Neuron(base, left, right, self.policy, self.conflicts).merged()

    def put_back(self, name, found, side):
        """What one side has of a neuron, with the runs on it that the side which removed it alone knows."""
        there = {*found["links"]}
        for run, record in sorted(self.only[side].items()):
            if not touches(record, name):
                continue
            # By the text what a run made stays; the program loses connections that the other side has not. See docs/reliability.md, row 18.
            made = {(target, kind) for e in record["effects"] if e.get("neuron") == name for target, kinds in e.get("connections", {}).items() for kind in kinds}
            if made - there:
                raise Open("a connection of a removed neuron that a run had made or moved, and that the other side has not")
            if self.policy != POLICY:
                raise Open("what runs had done to a removed neuron, under another policy than the default one")
            found = applied(found, record, name)
        return found

    def point(self):
        """Keeps removed neurons to which something points."""
        again = True
        while again:
            again = False
            for target in sorted({key[0] for n in self.tree.neurons.values() for key in n["links"]}):
                if target in self.tree.neurons:
                    continue
                if not any(target in side.neurons for side in (self.left, self.right)):
                    raise Open("a connection to a neuron that neither side has")
                self.tree.neurons[target] = self.stays(target)
                again = True

    def file(self, path):
        base, left, right = (side.files.get(path) for side in (self.base, self.left, self.right))
        queued = QUEUE.match(path)
        if queued:
            return self.queue(queued.group(1), path)
        if path == METADATA:
            return metadata(base, left, right)
        if SET.match(path):
            found = setting(base, left, right)
            # By the text they are applied to the base first; the program does so for neurons alone. See docs/reliability.md, row 18.
            if setting(self.start.files.get(path), left, right) != found:
                raise Open("a flag or goal that a run has set which both sides have")
            return found
        if right == base:
            return left
        if left in (base, right):
            return right
        if base is not None:
            raise Open("a file that is written once, and that both sides changed")
        if RECORD.match(path):
            self.conflicts.add((path, "file"))
            return left
        if ANSWERED.match(path):
            return min(left, right)
        raise Open("a signal, ledger entry, chapter or night that two machines wrote differently")

    def entries(self, folder, *sides):
        """Rule 0 for each entry of a tree, else undecided; an entry is a file with its mode, or a folder."""
        out = {}
        for name in sorted({path[len(folder):].split("/")[0] for side in sides for path in side}):
            entry = folder + name
            base, left, right = ({p: text for p, text in side.items() if p == entry or p.startswith(entry + "/")} for side in sides)
            if right == base:
                out.update(left)
            elif left in (base, right):
                out.update(right)
            elif not any(entry in side for side in (base, left, right)) and left and right:
                out.update(self.entries(entry + "/", base, left, right))
            else:
                self.conflicts.add((entry, "file"))
                out.update(left)
        return out

    def queue(self, name, path):
        """Waits unless one side has consumed it."""
        sides = self.base, self.left, self.right
        base, left, right = (side.files.get(path) for side in sides)
        known = [any(STIMULUS.match(p) and STIMULUS.match(p).group(2) == name for p in side.files) for side in sides]
        for here, knows in ((left, known[1]), (right, known[2])):
            if here is None and (base is not None or knows and not known[0]):
                return None
        return left or right


def setting(base, left, right):
    """A flag, a goal or the rest of metadata: a person's change, else that of the larger run id."""
    if right == base:
        return left
    if left in (base, right):
        return right
    # A person's is a removal, a run of a person's, or no run.
    persons = [text is None or is_person(json.loads(text).get("run")) for text in (left, right)]
    if any(not person and base and json.loads(text).get("run") == json.loads(base).get("run") for person, text in zip(persons, (left, right))):
        raise Open("a flag, goal or metadata that a person changed by hand, leaving an agent's run in it")
    if persons[0] != persons[1]:
        return left if persons[0] else right
    key = order_of_people if persons[0] else lambda text: json.loads(text).get("run") or ""
    if key(left) == key(right):
        raise Open("two settings by one run")
    return max(left, right, key=key)


def metadata(*sides):
    """Metadata: its format apart from the rest, the newer of both sides."""
    documents = [json.loads(text) if text is not None else None for text in sides]
    formats = [document.pop("format") for document in documents if document]
    found = setting(*(document and plain(document) for document in documents))
    if found is None:
        return None
    rest, newest = json.loads(found), max(formats[-2:])
    schema = {"$schema": rest.pop("$schema")} if "$schema" in rest else {}
    return plain({**schema, "format": newest, **rest})


def order_of_people(text):
    if text is None:
        return (0,)
    document = json.loads(text)
    return 1, document.get("at", ""), document.get("run") or "", text
