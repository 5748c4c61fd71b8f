"""What a brain should hold, computed a second time: apply and merge of a few fields, in integers, from docs/merge.md and docs/glossary.md.

It sees a history as a graph of commits and the deltas that were sent, and none of the files that the program wrote.
A state maps ids to neurons; neurons are never changed in place, so states share them.
"""

import math

TOP = 65535
# The defaults of brain.toml that matter here.
RATE, GAIN, BOOST = 3277, 65535, 1


class Refused(Exception):
    """The delta is not allowed on this state."""


def neuron(concept, run):
    return {"concept": concept, "named": run, "archived": None, "run": run, "count": 0, "salience": 0, "links": {}}


def half_away(value):
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def hold(value):
    return max(0, min(TOP, value))


def apply(state, ops, run):
    """The state after a delta, under a clock that stands still."""
    now = {}

    def get(name):
        if name not in now:
            if name not in state:
                raise Refused(name)
            now[name] = {**state[name], "links": dict(state[name]["links"])}
        return now[name]

    def activate(name, added):
        found = get(name)
        found["salience"] = hold(found["salience"] + added)
        found["count"] += 1

    def existing(op):
        links, key = get(op["from"])["links"], (op["to"], op["type"])
        if key not in links:
            raise Refused(f"{op['from']} {key}")
        return links, key

    for op in ops:
        kind = op["op"]
        if kind == "create":
            if op["id"] in state or op["id"] in now:
                if get(op["id"])["concept"] != op["concept"]:
                    raise Refused(op["id"])
            else:
                now[op["id"]] = neuron(op["concept"], run)
        elif kind == "activate":
            activate(op["id"], half_away(op["strength"] * GAIN))
            if (now[op["id"]]["archived"] or "").endswith("-human"):
                now[op["id"]]["archived"] = None
        elif kind == "connect":
            get(op["to"])
            links, key = get(op["from"])["links"], (op["to"], op["type"])
            if links.get(key, 0) == 0:
                links[key] = op["weight"]
        elif kind == "adjust":
            links, key = existing(op)
            links[key] = hold(links[key] + op["by"])
        elif kind == "disconnect":
            links, key = existing(op)
            links[key] = 0
        elif kind == "reinforce":
            for step in op["pathway"]:
                links, key = existing(step)
                change = half_away(op["error"] * RATE * links[key] / TOP)
                if change:
                    links[key] = hold(links[key] + change)
                    activate(step["to"], abs(change) * BOOST)
        elif kind == "reword":
            found = get(op["id"])
            if found["concept"] != op["concept"]:
                found["concept"], found["named"] = op["concept"], run
        elif kind == "archive":
            get(op["id"])["archived"] = run
        else:
            raise ValueError(kind)
    changed = {name: {**after, "run": run} for name, after in now.items() if after != state.get(name)}
    return {**state, **changed}


def merge(base, left, right, touched):
    """Right into left, from base; right differs from base in `touched` at most."""
    merged = dict(left)
    for name in touched:
        was, ours, theirs = base.get(name), left.get(name), right.get(name)
        if ours == was:
            merged[name] = theirs
        elif theirs not in (was, ours):
            merged[name] = merge_neuron(was, ours, theirs)
    return merged


def merge_neuron(base, left, right):
    def three(of):
        return (of(base) if base else None), of(left), of(right)

    def later(of, key=lambda value: value or ""):
        was, ours, theirs = three(of)
        return theirs if ours == was else ours if theirs == was else max(ours, theirs, key=key)

    def total(of, top):
        was, ours, theirs = three(of)
        was = was or 0
        return theirs if ours == was else ours if theirs == was else max(0, min(top, ours + theirs - was))

    concept, named = later(lambda n: (n["concept"], n["named"]), key=lambda name: name[1])
    keys = {*left["links"], *right["links"]}
    return {
        "concept": concept, "named": named,
        "archived": later(lambda n: n["archived"]), "run": later(lambda n: n["run"]),
        "count": total(lambda n: n["count"], 2**32 - 1), "salience": total(lambda n: n["salience"], TOP),
        "links": {key: total(lambda n, key=key: n["links"].get(key, 0), TOP) for key in keys},
    }


def seen(file):
    """A neuron's file as the oracle speaks of it."""
    return {
        "concept": file["concept"], "named": file["named_by"]["concept"]["run"], "archived": file.get("archived"),
        "run": file["run"], "count": file["activation_count"], "salience": file["salience"],
        "links": {(c["target"], c["type"]): c["weight"] for c in file["connections"]},
    }
