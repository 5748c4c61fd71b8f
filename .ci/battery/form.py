"""Files of a brain with what their format leaves out, by docs/format.md alone: neurons and records of runs, of both formats."""


def edges(connections):
    """Connections one by one, whichever way they are written: target, type and what is said of them."""
    if isinstance(connections, list):
        return [(c["target"], c["type"], c["weight"]) for c in connections]
    both = ("feeds_into", "recalls")
    by_type = lambda value: value if isinstance(value, dict) else {kind: value for kind in both}
    return [(target, kind, value) for target, values in connections.items() for kind, value in by_type(values).items()]


def listed(connections):
    return [{"target": target, "type": kind, "weight": value} for target, kind, value in edges(connections)]


def neuron(file):
    """A neuron with every field, but for a version that its run alone gives."""
    created = file.get("created_at")
    updated = file.get("last_salience_update", created)
    count, run = file.get("activation_count", 0), file.get("run")
    named = file.get("named_by", 0)
    if named is None:
        named = {"rank": 0, "run": None}
    elif isinstance(named, int):
        named = {"rank": named, "run": run}
    if "rank" in named:
        named = {"concept": named, "type": named}
    last = file["last_activated"] if "last_activated" in file else updated if count else None
    return {
        "salience": 0, "origin": "local", **file, "run": run, "created_at": created, "last_salience_update": updated,
        "last_activated": last, "activation_count": count, "named_by": named, "connections": listed(file.get("connections", [])),
    }


def effect(entry):
    """An effect with its neuron's id, and connections one by one."""
    whole = {key: neuron(entry[key]) for key in ("created", "removed") if key in entry}
    own = next((n["id"] for n in whole.values()), None)
    found = {"neuron": own, **entry, **whole}
    if "connections" in entry:
        found["connections"] = listed(entry["connections"])
    return found


def implied(effects, clock):
    """The operations that effects say."""
    made = [e["created"] for e in effects if "created" in e]
    for n in made:
        kept = {key: n[key] for key in ("source", "session", "stimulus") if key in n}
        late = {} if n["created_at"] == clock else {"at": n["created_at"]}
        yield {"op": "create", "id": n["id"], "concept": n["concept"], "type": n["type"], **kept, **late}
    for e in effects:
        new = [(c["target"], c["type"], (None, c["weight"])) for c in e.get("created", {}).get("connections", [])]
        for target, kind, (before, after) in new + edges(e.get("connections", [])):
            edge = {"from": e["neuron"], "to": target, "type": kind}
            if before is None:
                yield {"op": "connect", **edge, "weight": after}
            elif after == 0:
                yield {"op": "disconnect", **edge}
            elif after is not None:
                yield {"op": "adjust", **edge, "by": after - before}


def record(file):
    """A run's record with every operation, and effects with every field."""
    effects = [effect(entry) for entry in file.get("effects", [])]
    said = list(implied(effects, file["at"])) if "implied" in file else []
    if len(said) != file.get("implied", 0):
        raise ValueError(f"{file['run']}: implied is {file['implied']}, and its effects say {len(said)}")
    kept = {"depth": 0, "origin": "local", "stimuli": [], "prediction": None}
    return {**kept, **file, "ops": said + file.get("ops", []), "effects": effects}
