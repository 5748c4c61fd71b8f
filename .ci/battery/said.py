#!/usr/bin/env python3
"""Random days of a team in which several say one thing: people and runs that were approved; what is taken back, archived and restored, and what is
taken back of that, on machines that know of different parts of it. After the last exchange each machine tells the memory, or none does: as a set
of events says, which knows nothing of neurons.

Words stand while one of those that said them does. A person who archives them ends them for all who say them until that is taken back, or
somebody who knows of it restores them.
"""

import json
import sys

import lab

WORDS = "The lock keeper sleeps between two and four."
SCRIBE = ('{"name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []}, "cognition": {"kind": "reflex", "rule": "memory"},'
          ' "capabilities": {"operations": ["create", "connect"], "types": ["semantic"]}}')
PEOPLE = ("ann", "ben", "cyn")
RULES = ('[review]\nreviewers = [' + ", ".join(f'"{name}@example.invalid"' for name in PEOPLE) + ']\n\n'
         '[[review.rule]]\nname = "scribe"\nagents = ["scribe"]\n')
SAY = ({"op": "create", "id": "n-lock", "concept": WORDS, "type": "semantic"},
       {"op": "connect", "from": "n-lock", "to": "n-key", "type": "feeds_into", "weight": 20000})


class Event:
    """What somebody did: `kind` is say, archive, restore or revert; `of` are the runs that a revert takes back, `knew` those that whoever
    did it knew of."""

    def __init__(self, kind, run, of, knew):
        self.kind, self.run, self.of, self.knew = kind, run, of, knew


def standing(events):
    """Those that are not taken back, by a walk from the newest."""
    gone = set()
    for event in reversed(events):
        if event.kind == "revert" and event.run not in gone:
            gone.update(event.of)
    return [event for event in events if event.run not in gone]


def told(events):
    """Whether the words are a memory."""
    stands = standing(events)
    restored = set().union(*(event.knew for event in stands if event.kind in ("restore", "say again")))
    archived = any(event.kind == "archive" and event.run not in restored for event in stands)
    return any(event.kind in ("say", "say again") for event in stands) and not archived


class Team:
    """Machines with a gate between them."""

    def __init__(self, root, names, runs):
        self.events, self.lines, self.gate = [], [], set()
        self.known = {name: set() for name in names}

        def first(brain):
            brain.apply(lab.create("n-key"))
            # Runs that wait, none of which knows of the others.
            self.runs = [brain.must("apply", "--agent", "scribe", "-", given=self.document(n))["run"] for n in range(runs)]

        self.machines = lab.machines(root, names, {"agents/scribe.json": SCRIBE, "brain.toml": RULES}, first)

    @staticmethod
    def document(number):
        return json.dumps({"ops": SAY, "prediction": {"text": str(number), "value": 0.5}}).encode()

    def seen(self, name):
        return [event for event in self.events if event.run in self.known[name]]

    def add(self, name, kind, run, of=()):
        self.events.append(Event(kind, run, of, frozenset(self.known[name])))
        self.known[name].add(run)

    def exchange(self, name):
        self.machines[name].must("sync")
        self.gate |= self.known[name]
        self.known[name] |= self.gate

    def step(self, dice):
        """One thing that somebody does, if it can be done there."""
        name = dice.choice(sorted(self.machines))
        brain, seen = self.machines[name], self.seen(name)
        stands = standing(seen)
        kinds = ["approve", "revert", "revert", "sync", "say"] + (["sleep"] if self.nights else ["archive", "restore"])
        kind = dice.choice(kinds)
        if kind == "sync":
            self.exchange(name)
        elif kind == "sleep":
            brain.must("sleep")
        elif kind == "approve":
            free = [run for run in self.runs if all(event.run != run for event in seen)]
            if not free:
                return False
            run = dice.choice(free)
            if any(event.run == run for event in self.events):
                # Approved elsewhere: one run, wherever it lands.
                self.known[name].add(run)
            else:
                self.add(name, "say", run)
            brain.must("approve", run)
        elif kind == "say":
            if told(seen):
                return False
            is_there, stands = "n-lock" in brain.neurons(), any(event.kind.startswith("say") for event in stands)
            self.add(name, ("restore" if stands else "say again") if is_there else "say", brain.apply(*SAY)["run"])
        elif kind == "archive":
            if not told(seen):
                return False
            self.add(name, "archive", brain.apply({"op": "archive", "id": "n-lock", "reason": "old"})["run"])
        elif kind == "restore":
            said = [event for event in stands if event.kind.startswith("say")]
            if not seen or told(seen) or not said and len([event for event in seen if event.kind == "say"]) < 2:
                return False
            self.add(name, "restore" if said else "say again", brain.must("restore", "n-lock")["run"])
        elif kind == "revert":
            free = [event for event in stands]
            if not free:
                return False
            event = dice.choice(free)
            done = brain.must("revert", event.run)
            if event.run not in done["runs"]:
                raise lab.Fault(f"{done}")
            self.add(name, "revert", done["by"][0], done["runs"])
        self.lines.append(f"{name} {kind}" + (f" {event.kind} {event.run}" if kind == "revert" else ""))
        return True

    def judge(self):
        """All exchange until nothing is new; each has the words, or none has."""
        for _ in range(2):
            for name in self.machines:
                self.exchange(name)
        for name in self.machines:
            self.exchange(name)
        expected = told(self.events)
        trees = {brain.git("rev-parse", "wake^{tree}") for brain in self.machines.values()}
        if len(trees) != 1:
            raise lab.Fault(f"machines differ: {trees}")
        for name, brain in self.machines.items():
            neuron = brain.neurons().get("n-lock")
            has = neuron is not None and not neuron.get("archived")
            if has != expected:
                raise lab.Fault(f"{name} {'tells' if has else 'does not tell'} it: {neuron}")
            if has and (neuron["concept"] != WORDS or neuron["origin"] != "local" or not lab.weight(brain.neurons(), "n-lock", "n-key")):
                raise lab.Fault(f"{name}: {neuron}")
            said = brain.brain("check")
            if said.code != 0:
                raise lab.Fault(str(said))


def begin(folder, dice):
    team = Team(folder, PEOPLE[:dice.choice((1, 2, 2, 3))], dice.randint(1, 3))
    team.nights = dice.random() < 0.4
    return team


if __name__ == "__main__":
    sys.exit(lab.random_days(__doc__, 20, "said", 12, begin))
