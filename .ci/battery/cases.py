"""The commands that are struck: how each is prepared, what brings it to its end afterwards, and which states it may end in."""

import hashlib
import json

from lab import Brain, Fault, call, create, edge, environment, PROGRAM

NOW = "2026-01-26T14:32:00Z"
PAIR = [create("ka"), create("kb"), edge("connect", "ka", "kb", weight=20000)]
# What differs from run to run although it means the same.
UNSTABLE = ("run", "version", "named_by")
COUNTED = ("network/sleep/", "network/ledger/", "network/narrative/", "network/deliberations/")


class Case:
    """One command. `prepare` makes what it starts from, `settle` lists the commands that end what it left."""

    name = ""
    arguments = ()
    given = b""
    settle = (("merge",),)
    # True: once it was begun, whatever was cut off is made up for.
    always_new = False
    # Of these commands an exit code of 1 is an answer.
    answers = (0,)

    def prepare(self, brain):
        """Makes a brain ready; `brain.path` does not exist before."""
        fresh(brain)
        brain.apply(*PAIR)

    def finish(self, brain):
        """Runs what settles; raises a fault if that fails."""
        for arguments in self.settle:
            brain.must(*arguments)


def fresh(brain, *options):
    answer = call([PROGRAM, "init", *(options or ["--no-hooks"]), str(brain.path)], brain.env)
    if answer.code != 0:
        raise Fault(f"{answer}")


def document(*ops, **more):
    return json.dumps({"ops": list(ops), **more}).encode()


class Apply(Case):
    name = "apply"
    arguments = ("apply", "-")
    given = document(create("kc"), edge("adjust", "ka", "kb", by=5), edge("connect", "kc", "ka", weight=3000))


class Merge(Case):
    name = "merge"
    arguments = ("merge",)
    always_new = True

    def prepare(self, brain):
        super().prepare(brain)
        held = [brain.apply(create(f"k{by}"), edge("adjust", "ka", "kb", by=by), options=("--no-merge",)) for by in (5, 7)]
        self.arguments = ("merge", *(run["branch"] for run in held))

    def finish(self, brain):
        left = brain.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agents").split()
        if left:
            brain.must("merge", *left)


class Feed(Case):
    name = "feed"
    arguments = ("feed", "The heron at Uji caught a fish with Anna.", "--source", "one", "--session", "s")
    settle = (("run",), ("merge",))


class Run(Case):
    name = "run"
    arguments = ("run",)
    settle = (("run",), ("merge",))
    always_new = True

    def prepare(self, brain):
        super().prepare(brain)
        brain.must("feed", "The heron at Uji caught a fish with Anna.", "--source", "one", "--no-run")


def a_day(brain):
    brain.apply({"op": "activate", "id": "ka", "strength": 1.0}, {"op": "activate", "id": "kb", "strength": 1.0})


class Sleep(Case):
    name = "sleep"
    arguments = ("sleep",)

    def prepare(self, brain):
        super().prepare(brain)
        a_day(brain)


class Undo(Case):
    name = "undo"
    arguments = ("sleep", "--undo")

    def prepare(self, brain):
        super().prepare(brain)
        a_day(brain)
        brain.must("sleep")


class Outcome(Case):
    name = "outcome"

    def prepare(self, brain):
        super().prepare(brain)
        pathway = [{"from": "ka", "to": "kb", "type": "feeds_into"}]
        run = brain.apply({"op": "activate", "id": "ka", "strength": 0.2},
                          prediction={"text": "it rains", "value": 0.5, "pathway": pathway})["run"]
        self.arguments = ("outcome", run, "--value", "0.9")


class Decide(Case):
    """A question with options, of which one has been tried and surprised: decision, evaluator and affect run."""

    name = "decide"
    question = ("decide", "which way?", "--option", "ferry", "--option", "bridge")
    arguments = question
    settle = (("run",), ("merge",))

    def prepare(self, brain):
        super().prepare(brain)
        # The draws of exploration follow from ids, which differ from run to run.
        brain.git("config", "brain.learning.exploration", "0")
        for value in ("0.9", "0.6"):
            run = brain.must(*self.question)["run"]
            brain.must("outcome", run, "--value", value)


class Deliberate(Case):
    """A cycle of a deliberation, on notes of which one thing is followed by another."""

    name = "deliberate"
    arguments = ("deliberate", "recall", "--trees", "turbine")

    def prepare(self, brain):
        fresh(brain)
        with open(brain.path / "brain.toml", "a", encoding="utf-8") as settings:
            settings.write("\n[deliberation]\nslots = 1\nhypotheses = 3\n\n[deliberation.gates]\nrandom = 19\n")
        brain.git("commit", "-q", "-am", "settings")
        things = ("ladder", "window", "kettle", "bucket", "magnet", "turbine", "gasket")
        lines = []
        for n in range(42):
            at = f"2026-01-{1 + n // 24:02}T{n % 24:02}:00:00Z"
            lines.append(json.dumps({"at": at, "text": f"We saw the {things[n % 7]} at place{n * n % 5}.", "session": "log"}))
        notes = brain.path.parent / f"{brain.path.name}.jsonl"
        notes.write_text("\n".join(lines) + "\n")
        brain.must("feed", "--file", str(notes))


class Init(Case):
    """`-C` wants a folder that is there."""

    name = "init"
    arguments = ("init", "--no-hooks", ".")
    settle = (("run",), ("merge",))
    always_new = True

    def prepare(self, brain):
        brain.path.mkdir()

    def before_next(self, brain):
        again = brain.brain(*self.arguments)
        if again.code != 0 and "already is a brain" not in again.err:
            raise Fault(f"init cannot be run again: {again}")


class InRepo(Init):
    """Into a repository of code, which must not change."""

    name = "init-in-repo"
    arguments = ("init", "--in-repo", ".")

    def prepare(self, brain):
        brain.path.mkdir()
        brain.git("init", "-q", "-b", "trunk")
        (brain.path / "code.txt").write_text("code\n")
        brain.git("add", "code.txt")
        brain.git("commit", "-q", "-m", "code")


class Doorbell(Case):
    """A person changed settings and put a stimulus there as a file; the hook that git would call."""

    name = "doorbell"
    arguments = ("hook", "post-commit")
    settle = (("hook", "post-commit"), ("run",), ("merge",))
    always_new = True

    def prepare(self, brain):
        fresh(brain, "--hooks")
        brain.apply(*PAIR)
        with open(brain.path / "brain.toml", "a", encoding="utf-8") as settings:
            settings.write("\n# a person was here\n")
        name = "s-0123456789abcdef"
        folder = brain.path / "network/stimuli/2026/01" / hashlib.sha256(name.encode()).hexdigest()[:2]
        folder.mkdir(parents=True)
        stimulus = {"id": name, "at": NOW, "text": "The boat came in", "origin": "local"}
        (folder / f"{name}.json").write_text(json.dumps(stimulus, indent=2) + "\n")
        # The network is not in the work tree, and git adds there only what it is told to.
        brain.git("add", "--sparse", "-A")
        brain.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "settings and a stimulus")

    def finish(self, brain):
        bell = brain.brain("hook", "post-commit")
        if bell.code != 0:
            raise Fault(f"{bell}")
        # Agents were started in the background: this waits for the lock that they hold.
        brain.must("run")
        brain.must("merge")


class Wake(Doorbell):
    """What the doorbell starts in the background."""

    name = "doorbell-wake"
    arguments = ("hook", "ring", "main")


class Gate(Case):
    """The hook that may refuse a commit. It only reads."""

    name = "pre-commit"
    arguments = ("hook", "pre-commit")
    settle = ()

    def prepare(self, brain):
        super().prepare(brain)
        with open(brain.path / "brain.toml", "a", encoding="utf-8") as settings:
            settings.write("\n# a person was here\n")
        # The network is not in the work tree, and git adds there only what it is told to.
        brain.git("add", "--sparse", "-A")


CASES = {case.name: case for case in (Apply, Merge, Feed, Run, Sleep, Undo, Outcome, Decide, Deliberate, Init, InRepo, Doorbell, Wake, Gate)}


def content(brain, revision):
    """What a commit means, without who did it: comparable between runs."""
    found, counts = {}, {}
    for path, text in brain.files(revision).items():
        if path.startswith("network/neurons/") or path.startswith("network/flags/") or path == "network/metadata.json":
            value = json.loads(text)
            found[path] = {field: value[field] for field in value if field not in UNSTABLE}
        elif path.startswith("network/runs/"):
            agent = path.rsplit("-", 1)[1].split(".")[0]
            counts[f"runs of {agent}"] = counts.get(f"runs of {agent}", 0) + 1
        elif path.startswith(COUNTED):
            kind = path.split("/")[1]
            counts[kind] = counts.get(kind, 0) + 1
        elif not path.startswith("network/signals/"):
            found[path] = text
    return found, counts


def state(brain, prefix=""):
    """Both branches."""
    return tuple(content(brain, prefix + branch) for branch in ("wake", "main"))


def difference(one, other):
    """Where two states differ, in words."""
    said = []
    for branch, (left, left_counts), (right, right_counts) in zip(("wake", "main"), one, other):
        said += [f"{branch}:{path}" for path in sorted({*left, *right}) if left.get(path) != right.get(path)]
        said += [f"{branch}: {what} {left_counts.get(what, 0)} and {right_counts.get(what, 0)}"
                 for what in sorted({*left_counts, *right_counts}) if left_counts.get(what) != right_counts.get(what)]
    return "; ".join(said[:6])


def world(root):
    """The fixed clock makes states comparable."""
    (root / "tmp").mkdir(exist_ok=True)
    return environment(root, BRAIN_NOW=NOW, TMPDIR=root / "tmp")


def template(case, root):
    """The prepared brain of a case."""
    brain = Brain(root / f"template-{case.name}", world(root))
    case.prepare(brain)
    return brain
