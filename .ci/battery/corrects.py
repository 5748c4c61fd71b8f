#!/usr/bin/env python3
"""Random days of a team that corrects one memory: people, and texts from elsewhere that wait for a reviewer. Corrections are approved, rejected, let in
after all, corrected, archived, taken back, and that is taken back, on machines that know of different parts of it, with nights between. After the last
exchange each machine tells one statement of each memory, or none, as a set of events says, which knows nothing of neurons.

Of all that was said in place of a memory the latest stands that landed and was not taken back; if a person archived it, none is told. Of a memory whose
statement somebody archived nothing else is done until that is taken back: what comes back then goes by what was archived first.
"""

import sys
import time

import lab

PEOPLE = ("ann", "ben", "cyn")
RULES = ('[origins]\nwebhook = "trusted"\n\n[review]\nreviewers = [' + ", ".join(f'"{name}@example.invalid"' for name in PEOPLE) + ']\n\n'
         '[[review.rule]]\nname = "mail"\nagents = ["perception"]\norigins = ["webhook"]\n')
SUBJECTS = ("The Birch release happens beside the harbour of {}.", "The Cedar parade starts at noon from the gate of {}.")
PLACES = ("Lyon", "Osaka", "Quito", "Malmo", "Perth", "Delhi", "Turin", "Cork", "Bergen", "Lima", "Hanoi", "Porto", "Tunis", "Graz", "Split", "Bath",
          "Nara", "Riga", "Lund", "Bonn", "Kyiv", "Oulu", "Pisa", "Gent", "Metz", "Agra", "Suva", "Faro", "Brno", "Baku")


class Statement:
    """Something that was said in place of a memory: its family, its neuron, the run that lands it, once it does, and the one that waits."""

    def __init__(self, family, neuron, run, waits, decided):
        self.family, self.neuron, self.run, self.waiting, self.decided = family, neuron, run, waits, decided


class Event:
    """What somebody did; of a statement, or of runs that are taken back."""

    def __init__(self, kind, run, what):
        self.kind, self.run, self.what = kind, run, what


def standing(events):
    """Those that are not taken back, by a walk from the newest."""
    gone = set()
    for event in reversed(events):
        if event.kind == "revert" and event.run not in gone:
            gone.update(event.what)
    return [event for event in events if event.run not in gone]


def told(events, statements, family):
    """The neuron of a family that is told, or none. Statements are in the order in which they were said."""
    stands = standing(events)
    landed = {event.what for event in stands if event.kind == "land"}
    archived = {event.what for event in stands if event.kind == "archive"}
    said = [at for at, statement in enumerate(statements) if statement.family == family and at in landed]
    return statements[said[-1]].neuron if said and said[-1] not in archived else None


class Team:
    """Machines with a gate between them."""

    def __init__(self, root, names):
        self.events, self.statements, self.lines, self.left = [], [], [], list(PLACES)
        # What each machine and the gate know: the number of statements and decisions, by what they are about.
        self.known, self.gate = {name: set() for name in names}, set()
        self.machines = lab.machines(root, names, {"brain.toml": RULES}, lambda _: None)
        for family in range(len(SUBJECTS)):
            self.say(names[0], family, None, False)
        for name in names + names:
            self.exchange(name)

    def say(self, name, family, target, waits):
        """A statement of its own second: the later one of two stays."""
        brain, text = self.machines[name], SUBJECTS[family].format(self.left.pop(0))
        time.sleep(1.01 - time.time() % 1)
        options = (["--corrects", target] if target else []) + (["--origin", "webhook:a"] if waits else [])
        answer = brain.brain("--json", "feed", *options, text)
        if answer.code != 0:
            if "was replaced already" in answer.err:
                return False
            raise lab.Fault(str(answer))
        run = next(run["run"] for run in answer.json()["runs"] if run["agent"] == "perception")
        said = brain.must("review", run)["reviews"][0]["neurons"] if waits else brain.neurons().values()
        neuron = next(neuron["id"] for neuron in said if neuron["concept"] == text)
        number = len(self.statements)
        self.statements.append(Statement(family, neuron, None if waits else run, run if waits else None, not waits))
        self.known[name].add(("said", number))
        if not waits:
            self.add(name, "land", run, number)
        return True

    def add(self, name, kind, run, what):
        self.events.append(Event(kind, run, what))
        self.known[name].add(("did", len(self.events) - 1))

    def seen(self, name):
        return [event for number, event in enumerate(self.events) if ("did", number) in self.known[name]]

    def is_open(self, at):
        """Whether no statement of a family is archived, as far as anybody knows."""
        family = self.statements[at].family
        return not any(event.kind == "archive" and self.statements[event.what].family == family for event in standing(self.events))

    def is_known(self, name, at):
        """Whether a machine knows all that was said and done in a family."""
        family = [number for number, said in enumerate(self.statements) if said.family == self.statements[at].family]
        runs = {self.statements[number].run for number in family}
        about = lambda event: event.what in family if event.kind != "revert" else runs & set(event.what)
        events = [number for number, event in enumerate(self.events) if event.kind == "revert" or about(event)]
        return all(("said", number) in self.known[name] for number in family) and all(("did", number) in self.known[name] for number in events)

    def exchange(self, name):
        self.machines[name].must("sync")
        self.gate |= self.known[name]
        self.known[name] |= self.gate

    def step(self, dice):
        """One thing that somebody does, if it can be done there."""
        name = dice.choice(sorted(self.machines))
        brain, seen = self.machines[name], self.seen(name)
        kind = dice.choice(("correct", "correct", "correct", "decide", "decide", "revert", "revert", "archive", "sync", "sync", "sleep"))
        line = f"{name} {kind}"
        here = [at for at in range(len(self.statements)) if ("said", at) in self.known[name]]
        landed = {event.what for event in standing(seen) if event.kind == "land"}
        if kind == "sync":
            self.exchange(name)
        elif kind == "sleep":
            brain.must("sleep")
        elif kind == "correct":
            neurons = brain.neurons()
            of = [at for at in here if at in landed and self.statements[at].neuron in neurons and self.is_open(at)]
            if not of or not self.left:
                return False
            target, waits = self.statements[dice.choice(of)], dice.random() < 0.5
            line += f" {target.neuron}" + (" from elsewhere" if waits else "")
            if not self.say(name, target.family, target.neuron, waits):
                return False
            line += f" by {self.statements[-1].neuron}"
        elif kind == "decide":
            # One machine decides: which of two decisions stands is judged elsewhere.
            of = [at for at in here if not self.statements[at].decided and self.is_open(at)]
            if not of:
                return False
            at = dice.choice(of)
            statement = self.statements[at]
            statement.decided, how = True, dice.choice(("approve", "approve", "reject", "again"))
            if how == "approve":
                brain.must("approve", statement.waiting)
                statement.run = statement.waiting
            else:
                brain.must("reject", statement.waiting, "--why", "rumour")
            if how == "again":
                statement.run = brain.must("review", statement.waiting, "--again")["again"][0]["again"]["run"]
            if how != "reject":
                self.add(name, "land", statement.run, at)
            line += f" {how} {statement.neuron}"
        elif kind == "archive":
            of = [at for at in here if told(seen, self.statements, self.statements[at].family) == self.statements[at].neuron]
            # Who archives something knows all that was said in its place.
            of = [at for at in of if self.statements[at].neuron in brain.neurons() and self.is_open(at) and self.is_known(name, at)]
            if not of:
                return False
            at = dice.choice(of)
            done = brain.apply({"op": "archive", "id": self.statements[at].neuron, "reason": "wrong"})
            self.add(name, "archive", done["run"], at)
            line += f" {self.statements[at].neuron}"
        else:
            # Who takes something back knows all that was done to it.
            about = lambda event: {event.run, *(event.what if event.kind == "revert" else ())}
            free = [event for event in standing(seen) if all(other in seen for other in self.events if about(event) & about(other))]
            lands = {event.run: event.what for event in self.events if event.kind == "land"}
            free = [event for event in free if all(self.is_open(lands[run]) for run in about(event) if run in lands)]
            if not free:
                return False
            event = dice.choice(free)
            done = brain.must("revert", event.run)
            if event.run not in done["runs"]:
                raise lab.Fault(f"{done}")
            self.add(name, "revert", done["by"][0], done["runs"])
            line += f" {event.kind} {event.run}"
        self.lines.append(line)
        return True

    def judge(self):
        """All exchange until nothing is new; each tells what the events say."""
        for _ in range(3):
            for name in self.machines:
                self.exchange(name)
        trees = {brain.git("rev-parse", "wake^{tree}") for brain in self.machines.values()}
        if len(trees) != 1:
            raise lab.Fault(f"machines differ: {trees}")
        expected = {told(self.events, self.statements, family) for family in range(len(SUBJECTS))} - {None}
        for name, brain in self.machines.items():
            neurons = brain.neurons()
            live = {said.neuron for said in self.statements if said.neuron in neurons and not neurons[said.neuron].get("archived")}
            if live != expected:
                raise lab.Fault(f"{name} tells {sorted(live)}, and {sorted(expected)} stand")
            said = brain.brain("check")
            if said.code != 0:
                raise lab.Fault(str(said))


if __name__ == "__main__":
    sys.exit(lab.random_days(__doc__, 21, "corrects", 14, lambda folder, dice: Team(folder, PEOPLE[:dice.choice((1, 2, 2, 3))])))
