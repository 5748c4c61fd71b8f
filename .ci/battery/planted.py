#!/usr/bin/env python3
"""An honest life through the command line, then one violation planted in a copy of it with git's plumbing alone. `git brain audit` must name the
commit and the rule of each, and quarantine nothing of the honest ones.

Nothing here asks the program how a record, a tree or a message looks: bytes of honest objects are altered and written back.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import lab

SCRIBE = {"$schema": "urn:git-brain:schema:agent:1", "name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []},
          "cognition": {"kind": "reflex", "rule": "memory"},
          "capabilities": {"operations": ["create", "connect", "adjust", "activate", "reword", "signal", "flag"],
                           "types": ["semantic", "episodic", "contextual"]}}
ANN = ("Ann", "ann@example.invalid")
MALLORY = ("Mallory", "mallory@example.invalid")
PLANTS = {}


def plants(*rules, brain="plain", warns=False):
    """A violation, the rules by any of which it must be named, and the life that it is planted in."""
    def note(function):
        PLANTS[function.__name__] = (function, set(rules), brain, warns)
        return function
    return note


class Brain:
    """A brain in a folder, by its command line and by git's plumbing."""

    def __init__(self, folder, home):
        self.folder, self.home = pathlib.Path(folder), pathlib.Path(home)
        self.env = lab.environment(home)

    def git(self, *args, given=None, **env):
        done = subprocess.run(["git", *args], cwd=self.folder, env={**self.env, **env}, input=given, capture_output=True)
        if done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode().rstrip("\n")

    def brain(self, *args, given="", codes=(0,), **env):
        done = subprocess.run([lab.PROGRAM, *args], cwd=self.folder, env={**self.env, **env}, input=given.encode(), capture_output=True)
        if done.returncode not in codes:
            raise AssertionError(f"git brain {args} -> {done.returncode}: {done.stdout.decode()} {done.stderr.decode()}")
        return done.stdout.decode()

    def json(self, *args, **more):
        return json.loads(self.brain("--json", *args, **more))

    def apply(self, ops, agent="scribe", *more):
        return self.json("apply", "--agent", agent, *more, "-", given=json.dumps({"ops": ops}))

    def tip(self, name):
        return self.git("rev-parse", name)

    def show(self, revision, path):
        return self.git("show", f"{revision}:{path}") + "\n"

    def paths(self, revision, *folder):
        return self.git("ls-tree", "-r", "--name-only", revision, *folder).splitlines()

    def tree(self, base, files):
        """The tree of `base` with files written otherwise; `None` removes, `("120000", text)` has a mode."""
        index = {"GIT_INDEX_FILE": str(self.home / "index")}
        (self.home / "index").unlink(missing_ok=True)
        if base:
            self.git("read-tree", base, **index)
        for path, content in files.items():
            if content is None:
                self.git("update-index", "--force-remove", "--", path, **index)
                continue
            mode, text = content if isinstance(content, tuple) else ("100644", content)
            if base and path in self.paths(base, path) and self.show(base, path) == text:
                raise AssertionError(f"{path} is written as it was")
            blob = self.git("hash-object", "-w", "--stdin", given=text.encode())
            self.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", **index)
        return self.git("write-tree", **index)

    def commit(self, tree, parents, message, author=ANN, at=None, committer=ANN):
        env = {"GIT_AUTHOR_NAME": author[0], "GIT_AUTHOR_EMAIL": author[1],
               "GIT_COMMITTER_NAME": committer[0], "GIT_COMMITTER_EMAIL": committer[1]}
        if at is not None:
            env.update(GIT_AUTHOR_DATE=f"{at} +0000", GIT_COMMITTER_DATE=f"{at} +0000")
        return self.git("commit-tree", tree, *[part for parent in parents for part in ("-p", parent)], given=message.encode(), **env)

    def field(self, commit, form):
        return self.git("log", "-1", f"--format={form}", commit)

    def again(self, commit, files=None, message=None, author=None, parents=None, at=None):
        """A commit like another one, but for what is said."""
        author = author or (self.field(commit, "%an"), self.field(commit, "%ae"))
        parents = self.field(commit, "%P").split() if parents is None else parents
        at = int(self.field(commit, "%ct")) if at is None else at
        text = self.git("cat-file", "commit", commit).split("\n\n", 1)[1] + "\n" if message is None else message
        return self.commit(self.tree(commit, files or {}), parents, text, author, at)

    def move(self, ref, commit):
        self.git("update-ref", ref, commit)

    def run(self, ops=None):
        """An honest run of scribe that was merged: the run's commit, the merge, the record's path."""
        self.apply(ops or [{"op": "adjust", "from": "tea", "to": "cup", "type": "feeds_into", "by": 100}])
        merge = self.tip("wake")
        return self.tip("wake^2"), merge, self.changed(f"{merge}^2", "network/runs/")[0]

    def changed(self, commit, folder):
        return self.git("diff-tree", "-r", "--name-only", "--no-commit-id", f"{commit}^", commit, "--", folder).splitlines()

    def replant(self, run, merge, files=None, merged=None, **how):
        """Puts an altered run, and its merge, in the place of an honest one at wake's tip. The commit of the run."""
        planted = self.again(run, files, **how)
        parents = [self.field(merge, "%P").split()[0], planted]
        self.move("refs/heads/wake", self.again(merge, merged if merged is not None else files, parents=parents))
        return planted

    def upon(self, files, message="notes: by hand", author=ANN, branch="wake", at=None):
        """A commit on a branch's tip."""
        tip = self.tip(branch)
        made = self.commit(self.tree(tip, files), [tip], message, author, at)
        self.move(f"refs/heads/{branch}", made)
        return made

    def person(self, files, message):
        """An honest commit of a person on main."""
        return self.upon(files, message, branch="main")

    def neuron(self, name):
        return next(path for path in self.paths("wake", "network/neurons") if path.endswith(f"/{name}.json"))


def heavier(text, by=1):
    """The same neuron with its first weight otherwise."""
    found = re.search(r'("feeds_into": )(\d+)', text)
    return text[:found.start(2)] + str(int(found[2]) + by) + text[found.end(2):]


def life(folder, home, reviewers=False):
    """An honest life of some days."""
    folder.mkdir(parents=True)
    brain = Brain(folder, home)
    brain.brain("init", "--no-hooks", ".")
    brain.brain("feed", "Anna moved to Kyoto in May")
    more = {"agents/scribe.json": json.dumps(SCRIBE, indent=2) + "\n"}
    if reviewers:
        more["brain.toml"] = brain.show("main", "brain.toml") + '\n[review]\nreviewers = ["ann@example.invalid"]\n'
    brain.person(more, "settings: who writes, and who reviews")
    brain.brain("trust", "--yes")
    # Who may decide is told by the second.
    time.sleep(2.1 if reviewers else 0)
    create = lambda name: {"op": "create", "id": name, "concept": name, "type": "semantic"}
    tie = lambda a, b, link="feeds_into": {"op": "connect", "from": a, "to": b, "type": link, "weight": 3000}
    brain.apply([create("tea"), create("cup"), create("pot"), tie("tea", "cup"), tie("pot", "tea")])
    brain.brain("feed", "Ben likes green tea. Clara works at the harbour.")
    brain.brain("feed", "Anna drinks coffee", "--origin", "http:example.org")
    decided = brain.json("decide", "what to drink?", "--option", "tea", "--option", "coffee")
    brain.decided = decided["run"]
    brain.brain("outcome", decided["run"], "--value", "0.8")
    brain.brain("sleep")
    brain.brain("goal", "add", "Drink less coffee")
    approved = brain.apply([create("saucer"), tie("saucer", "cup")], "scribe", "--no-merge")
    brain.brain("approve", approved["branch"], "--why", "fine")
    rejected = brain.apply([create("plate")], "scribe", "--no-merge")
    brain.brain("reject", rejected["branch"], "--why", "no plates")
    amended = brain.apply([create("spoon"), create("fork")], "scribe", "--no-merge")
    brain.brain("approve", amended["branch"], "--only", "1", "--why", "no forks")
    brain.brain("council", "Shall we drink tea", codes=(0, 1))
    taken = brain.apply([create("jug")])
    brain.brain("revert", taken["run"])
    brain.brain("feed", "Clara moved to the lake")
    return brain


# --- runs

@plants("record-mismatch")
def rewritten_weight(b):
    run, merge, _ = b.run()
    path = b.neuron("tea")
    return b.replant(run, merge, {path: heavier(b.show(run, path))})


@plants("record-mismatch")
def record_that_lies(b):
    run, merge, record = b.run()
    text = b.show(run, record)
    return b.replant(run, merge, {record: text.replace("3100", "3101")}) if "3100" in text else b.replant(
        run, merge, {record: re.sub(r'(\[\d+, )(\d+)', lambda m: m[1] + str(int(m[2]) + 1), text, count=1)})


@plants("record-mismatch")
def neuron_that_no_record_names(b):
    run, merge, _ = b.run()
    path = b.neuron("pot")
    return b.replant(run, merge, {path: heavier(b.show(run, path))})


@plants("run-mismatch")
def both_rewritten(b):
    run, merge, record = b.run([{"op": "activate", "id": "tea", "strength": 0.3}])
    path = b.neuron("tea")
    salience = re.search(r'"salience": (\d+)', b.show(run, path))[1]
    return b.replant(run, merge, {at: b.show(run, at).replace(salience, str(int(salience) - 1)) for at in (path, record)})


@plants("forged-author")
def author_is_a_person(b):
    run, merge, _ = b.run()
    return b.replant(run, merge, author=MALLORY)


@plants("forged-author")
def author_is_another_agent(b):
    run, merge, _ = b.run()
    return b.replant(run, merge, author=("memory", "memory@git-brain.invalid"))


@plants("forged-author")
def persons_run_in_the_name_of_sleep(b):
    b.brain("goal", "add", "keep owls")
    return b.replant(b.tip("wake^2"), b.tip("wake"), author=("sleep", "sleep@git-brain.invalid"))


@plants("forged-author", "forged-trailer")
def record_of_another_agent(b):
    run, merge, record = b.run()
    return b.replant(run, merge, {record: b.show(run, record).replace('"agent": "scribe"', '"agent": "memory"')})


@plants("forged-trailer")
def trailer_of_another_agent(b):
    run, merge, _ = b.run()
    return b.replant(run, merge, message=b.field(run, "%B").replace("Agent: scribe", "Agent: memory") + "\n")


@plants("forged-trailer")
def trailers_that_are_missing(b):
    run, merge, _ = b.run()
    text = "\n".join(line for line in b.field(run, "%B").splitlines() if not line.startswith("Run: "))
    return b.replant(run, merge, message=text + "\n")


@plants("single-writer")
def second_commit_of_a_run(b):
    run, merge, record = b.run()
    second = b.again(run, message="again\n\n" + b.field(run, "%B") + "\n")
    wake = b.commit(b.tree(merge, {}), [merge, second], "merge: by hand\n")
    b.move("refs/heads/wake", wake)
    # Which of the two is the first, no history says.
    return {run, second}


@plants("single-writer")
def run_in_the_commit_of_another_agent(b):
    run, merge, record = b.run()
    other = next(path for path in b.paths("wake", "network/runs") if path.endswith("-memory.json"))
    fresh = re.sub(r"z-\w{8}-memory", "z-aaaaaaaa-memory", pathlib.Path(other).stem)
    text = b.show("wake", other).replace(pathlib.Path(other).stem, fresh)
    shard = subprocess.run(["sha256sum"], input=fresh.encode(), capture_output=True).stdout.decode()[:2]
    path = str(pathlib.Path(other).parent.parent / shard / f"{fresh}.json")
    return b.replant(run, merge, {path: text})


# Clocks may differ by more than there is between these versions.
@plants("old-authority", warns=True)
def beyond_the_definition_of_then(b):
    strict = json.loads(json.dumps(SCRIBE))
    strict["capabilities"]["operations"] = ["signal"]
    before = b.show("main", "agents/scribe.json")
    pause = lambda: time.sleep(1.1)
    pause()
    b.upon({"agents/scribe.json": json.dumps(strict, indent=2) + "\n"}, "scribe: only signals", branch="main")
    pause()
    b.upon({"notes.txt": "a\n"})
    then = int(time.time())
    pause()
    pause()
    b.upon({"agents/scribe.json": before}, "scribe: as before", branch="main")
    b.brain("trust", "--yes")
    run, merge, _ = b.run()
    return b.replant(run, merge, at=then)


@plants("capability", "run-mismatch")
def operation_that_no_agent_has(b):
    run, merge, record = b.run()
    text = b.show(run, record).replace('"implied": 1', '"ops": [\n    {"op": "archive", "neuron": "cup"}\n  ]')
    return b.replant(run, merge, {record: text})


@plants("run-mismatch")
def origin_that_is_laundered(b):
    run, merge, record = b.run()
    text = b.show(run, record)
    return b.replant(run, merge, {record: text.replace('"implied"', '"origin": "approved",\n  "implied"', 1)})


@plants("policy-by-agent")
def threshold_of_a_gate_changed_by_a_run(b):
    run, merge, _ = b.run()
    return b.replant(run, merge, {"brain.toml": b.show("wake", "brain.toml") + "\n[deliberation]\nquality = 0.1\n"})


@plants("policy-by-agent")
def settings_changed_by_an_agent_on_main(b):
    text = b.show("main", "brain.toml") + "\n# gentler\n"
    return b.upon({"brain.toml": text}, "settings: gentler gates", ("scribe", "scribe@git-brain.invalid"), "main")


@plants("policy-by-agent")
def definition_changed_by_its_agent(b):
    run, merge, _ = b.run()
    wider = b.show("main", "agents/scribe.json").replace('"create"', '"archive",\n      "create"')
    return b.replant(run, merge, {"agents/scribe.json": wider})


@plants("policy-by-agent")
def members_of_a_council_changed_by_an_agent(b):
    text = json.dumps({"members": [{"id": "me", "mind": {"kind": "reflex", "rule": "memories"}}]}, indent=2) + "\n"
    return b.upon({"council.json": text}, "council: me", ("memory", "memory@git-brain.invalid"), "main")


@plants("core-pruned")
def core_neuron_removed_by_a_run(b):
    run, merge, _ = b.run()
    core = next(path for path in b.paths("wake", "network/neurons") if '"type": "core"' in b.show("wake", path))
    return b.replant(run, merge, {core: None})


@plants("metric-forged")
def measures_that_are_made_up(b):
    run, merge, _ = b.run()
    counts = json.dumps({"replies": 1, "tokens": 900, "corrected_tokens": 900.0, "utterances": 9, "observations": 9})
    return b.replant(run, merge, message=b.field(run, "%B") + f"\nIntegrity: {counts}\n")


@plants("metric-drift", warns=True)
def voice_that_drifts(b):
    made = None
    for apologies in (0, 0, 12):
        counts = {"replies": 9, "tokens": 500, "corrected_tokens": 500.0, "utterances": 60, "apologies": apologies, "assertive": 30}
        made = b.upon({"notes.txt": f"{apologies} {made}\n"}, f"notes: said\n\nIntegrity: {json.dumps(counts)}\n")
    return made


@plants("contradiction", warns=True)
def connections_that_contradict(b):
    b.apply([{"op": "connect", "from": "cup", "to": "pot", "type": link, "weight": 900} for link in ("feeds_into", "inhibits")])
    return b.tip("wake^2")


@plants("reviewer")
def reviewer_that_is_claimed(b):
    run, merge, _ = b.run()
    return b.replant(run, merge, message=b.field(run, "%B") + "\nReviewed-by: Ann <ann@example.invalid>\n")


@plants("secret", warns=True)
def secret_in_a_file(b):
    key = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    path = b.neuron("pot")
    return b.upon({path: b.show("wake", path).replace('"concept": "pot"', f'"concept": "{key}"')})


# --- files that are written once

@plants("written-once")
def record_rewritten_later(b):
    path = next(path for path in b.paths("wake", "network/runs") if path.endswith("-scribe.json"))
    return b.upon({path: b.show("wake", path).replace("by hand", "by chance")})


@plants("written-once")
def record_removed_later(b):
    return b.upon({next(path for path in b.paths("wake", "network/runs") if path.endswith("-memory.json")): None})


@plants("written-once")
def stimulus_rewritten(b):
    path = next(path for path in b.paths("wake", "network/stimuli") if "Kyoto" in b.show("wake", path))
    return b.upon({path: b.show("wake", path).replace("Kyoto", "Osaka")})


@plants("written-once")
def ledger_entry_rewritten(b):
    path = b.paths("wake", "network/ledger")[0]
    return b.upon({path: re.sub(r'"value": [0-9.]+', '"value": 0.123', b.show("wake", path))})


@plants("written-once")
def sleep_record_rewritten(b):
    path = b.paths("wake", "network/sleep")[0]
    return b.upon({path: b.show("wake", path).replace('"neurons_made": ', '"neurons_made": 1')})


def renamed_copy(b, folder):
    """A commit of the first file of a folder once more, under the id of a run that never was."""
    path = b.paths("wake", folder)[0]
    own = pathlib.Path(path).stem
    fresh = re.sub(r"z-\w{8}-", "z-aaaaaaaa-", own)
    shard = hashlib.sha256(fresh.encode()).hexdigest()[:2]
    return b.upon({str(pathlib.Path(path).parent.parent / shard / f"{fresh}.json"): b.show("wake", path).replace(own, fresh)})


@plants("ledger-gap")
def ledger_entry_without_a_run(b):
    return renamed_copy(b, "network/ledger")


@plants("signal-gap")
def answer_by_hand_in_the_name_of_a_run(b):
    path = next(path for path in b.paths("wake", "network/signals") if path.endswith(".ack.json"))
    mine = hashlib.sha256(b"forged").hexdigest()[:16]
    name = f"g-{mine}"
    old = pathlib.Path(path)
    shard = hashlib.sha256(name.encode()).hexdigest()[:2]
    return b.upon({str(old.parent.parent / shard / f"{name}.ack.json"): b.show("wake", path).replace(old.name[:-len(".ack.json")], name)})


@plants("narrative-forged")
def chapter_that_nobody_slept(b):
    return renamed_copy(b, "network/narrative")


# --- merges and history

@plants("merge-mismatch")
def merge_with_a_change_of_its_own(b):
    run, merge, _ = b.run()
    path = b.neuron("tea")
    made = b.again(merge, {path: heavier(b.show(merge, path), 7)})
    b.move("refs/heads/wake", made)
    return made


@plants("merge-mismatch")
def merge_by_a_policy_that_never_was(b):
    run, merge, _ = b.run()
    blob = b.git("hash-object", "-w", "--stdin", given=b'[merge]\nconcept = "newest"\n')
    made = b.again(merge, message=re.sub(r"Policy: \w+", f"Policy: {blob}", b.field(merge, "%B")) + "\n")
    b.move("refs/heads/wake", made)
    return made


@plants("foreign-root")
def history_of_another_brain(b):
    root = b.commit(b.tree(None, {"notes/else.txt": "else\n"}), [], "init: else\n")
    wake = b.tip("wake")
    b.move("refs/heads/wake", b.commit(b.tree(wake, {"notes/else.txt": "else\n"}), [wake, root], "merge: else\n"))
    return root


@plants("format")
def merge_of_three(b):
    wake, main = b.tip("wake"), b.tip("main")
    made = b.commit(b.tree(wake, {}), [wake, main, f"{wake}^"], "merge: three\n")
    b.move("refs/heads/wake", made)
    return made


@plants("format")
def link_in_the_network(b):
    return b.upon({"network/neurons/00/0/link.json": ("120000", "/etc/passwd")})


@plants("format")
def neuron_that_cannot_be_read(b):
    return b.upon({b.neuron("pot"): "{\"id\": \"pot\", \"concept\": 7}\n"})


@plants("clock")
def commit_from_the_future(b):
    return b.upon({"notes.txt": "tomorrow\n"}, at=int(time.time()) + 10 * 86400)


@plants("main-line")
def run_merged_into_main(b):
    run, merge, _ = b.run()
    main = b.tip("main")
    b.move("refs/heads/main", merge)
    return merge


@plants("rewritten-history")
def wake_set_back(b):
    b.brain("audit", codes=(0, 3))
    b.move("refs/heads/wake", b.tip("wake~2"))
    return b.tip("wake")


@plants("rewritten-history")
def decisions_set_back(b):
    b.brain("audit", codes=(0, 3))
    b.move("refs/brain/reviews", b.tip("refs/brain/reviews~1"))
    return b.tip("refs/brain/reviews")


# --- sleeps

def slept(b):
    b.brain("feed", "Dora plays the cello")
    b.brain("sleep")
    return b.tip("main"), b.tip("wake")


def resleep(b, night, merge, files=None, **how):
    made = b.again(night, files, **how)
    b.move("refs/heads/main", made)
    b.move("refs/heads/wake", b.again(merge, files, parents=[b.field(merge, "%P").split()[0], made]))
    return made


@plants("sleep-log")
def change_that_the_log_of_a_sleep_hides(b):
    night, merge = slept(b)
    path = b.neuron("cup")
    text = b.show(night, path)
    return resleep(b, night, merge, {path: re.sub(r'"salience": \d+', '"salience": 65535', text)})


@plants("sleep-log")
def weight_that_a_sleep_adds(b):
    night, merge = slept(b)
    path = b.neuron("pot")
    return resleep(b, night, merge, {path: heavier(b.show(night, path), 11)})


@plants("sleep-log")
def message_of_a_sleep_rewritten(b):
    night, merge = slept(b)
    return resleep(b, night, merge, message=b.field(night, "%B").replace("sleep: ", "sleep: a quiet night, ", 1) + "\n")


@plants("core-pruned")
def core_neuron_pruned_by_a_sleep(b):
    night, merge = slept(b)
    core = next(path for path in b.paths("main", "network/neurons") if '"type": "core"' in b.show("main", path))
    return resleep(b, night, merge, {core: None})


@plants("core-pruned")
def pinned_neuron_pruned_by_a_sleep(b):
    path = b.neuron("saucer")
    text = b.show("wake", path)
    pinned = re.sub(r'(\n  "connections")', r'\n  "pinned": true,\1', text, count=1)
    assert pinned != text
    b.upon({path: pinned}, "notes: saucers stay")
    slept(b)
    night, merge = slept(b)
    return resleep(b, night, merge, {path: None})


@plants("undo-mismatch")
def sleep_that_is_undone_otherwise(b):
    slept(b)
    b.brain("sleep", "--undo")
    undo = b.tip("main")
    path = b.neuron("pot")
    made = b.again(undo, {path: heavier(b.show(undo, path), 13)})
    b.move("refs/heads/main", made)
    return made


# --- in the name of an agent, and past main's own line

@plants("forged-trailer")
def weight_rewritten_in_the_name_of_a_run(b):
    run, _, _ = b.run()
    path = b.neuron("tea")
    return b.upon({path: heavier(b.show("wake", path), 900)}, b.field(run, "%B") + "\n")


@plants("single-writer")
def waiting_run_merged_by_its_agent(b):
    waits = b.apply([{"op": "create", "id": "ladle", "concept": "ladle", "type": "semantic"}], "scribe", "--no-merge")
    agent = ("scribe", "scribe@git-brain.invalid")
    made = b.commit(b.tree(waits["commit"], {}), [b.tip("wake"), waits["commit"]], "merge\n", agent, committer=agent)
    b.move("refs/heads/wake", made)
    return made


@plants("policy-by-agent")
def settings_that_an_agent_commits_for_a_person(b):
    text = b.show("main", "brain.toml") + "\n# gentler\n"
    tip = b.tip("main")
    made = b.commit(b.tree(tip, {"brain.toml": text}), [tip], "settings\n", committer=("memory", "memory@git-brain.invalid"))
    b.move("refs/heads/main", made)
    return made


@plants("main-line")
def wake_merged_into_main(b):
    run, _, _ = b.run()
    wake = b.tip("wake")
    b.move("refs/heads/main", b.commit(b.tree(wake, {}), [b.tip("main"), wake], "Merge branch wake\n"))
    return run


@plants("clock")
def run_under_a_fixed_clock(b):
    b.brain("feed", "Nina plays the harp", BRAIN_NOW="2026-01-01T03:00:00Z")
    return b.tip("wake^2")


@plants("clock")
def run_that_is_older_than_its_base(b):
    run, merge, record = b.run()
    own = pathlib.Path(record).stem
    older = f"{int(own[:8]) - 1}{own[8:]}"
    shard = subprocess.run(["sha256sum"], input=older.encode(), capture_output=True).stdout.decode()[:2]
    path = f"network/runs/{older[:4]}/{older[4:6]}/{older[6:8]}/{shard}/{older}.json"
    text = b.show(run, record).replace(own, older)
    return b.replant(run, merge, {record: None, path: text}, message=b.field(run, "%B").replace(own, older) + "\n")


# --- decisions

def decide(b, files, author=ANN, message="approve\n"):
    tip = b.tip("refs/brain/reviews")
    made = b.commit(b.tree(tip, files), [tip], message, author)
    b.move("refs/brain/reviews", made)
    return made


def review_of(b, reviewer):
    path = next(path for path in b.paths("refs/brain/reviews") if not path.startswith("councils/"))
    text = b.show("refs/brain/reviews", path)
    own = pathlib.Path(path).stem
    fresh = re.sub(r"z-\w{8}-", "z-aaaaaaaa-", own)
    text = re.sub(r'"reviewer": "[^"]*"', f'"reviewer": "{reviewer}"', text.replace(own, fresh))
    text = re.sub(r',\n  "lands": "[^"]*"', "", text)
    return {str(pathlib.Path(path).parent / f"{fresh}.json"): text}


@plants("review-forged")
def decision_in_the_name_of_another(b):
    return decide(b, review_of(b, "Ann <ann@example.invalid>"), MALLORY)


@plants("review-forged")
def decision_by_an_agent(b):
    agent = ("scribe", "scribe@git-brain.invalid")
    return decide(b, review_of(b, "scribe <scribe@git-brain.invalid>"), agent)


@plants("review-forged", brain="reviewed")
def decision_by_who_may_not(b):
    return decide(b, review_of(b, "Mallory <mallory@example.invalid>"), MALLORY)


@plants("written-once")
def decision_rewritten(b):
    path = next(path for path in b.paths("refs/brain/reviews") if not path.startswith("councils/"))
    return decide(b, {path: b.show("refs/brain/reviews", path).replace('"why": "', '"why": "not ')})


@plants("unapproved", brain="reviewed")
def run_landed_without_its_approval(b):
    waits = b.apply([{"op": "create", "id": "ladle", "concept": "ladle", "type": "semantic"}], "scribe", "--no-merge")
    run, wake = waits["commit"], b.tip("wake")
    like = b.field("wake~1", "%H")
    policy = b.git("rev-parse", "main:brain.toml")
    name = waits["run"]
    message = f"merge scribe: a ladle\n\nAgent: scribe\nRun: {name}\nPolicy: {policy}\nNewest-Run: {name}\n"
    made = b.commit(b.tree(run, {}), [wake, run], message)
    b.move("refs/heads/wake", made)
    b.git("update-ref", "-d", f"refs/heads/{waits['branch']}")
    return {made, run}


@plants("review-contradiction", warns=True)
def people_that_decide_otherwise(b):
    path = next(path for path in b.paths("refs/brain/reviews")
                if not path.startswith("councils/") and '"approve"' in b.show("refs/brain/reviews", path))
    (where, text), = review_of(b, "Mallory <mallory@example.invalid>").items()
    text = re.sub(r'"verdict": "\w+"', '"verdict": "reject"' if '"verdict": "approve"' in text else '"verdict": "approve"', text)
    text = re.sub(r',\n  "kept": \[[^\]]*\]|,\n  "of": \d+|,\n  "edited": \d+', "", text)
    return decide(b, {where: text}, MALLORY)


# --- councils

def council_of(b):
    path = next(path for path in b.paths("refs/brain/reviews") if path.endswith("/council.json"))
    return path, b.show("refs/brain/reviews", path)


def recouncil(b, change, author=ANN):
    """A council like an honest one, under another thread, with something otherwise."""
    path, text = council_of(b)
    document = json.loads(text)
    parent = b.git("log", "--format=%P", "-1", b.git("log", "--format=%H", "-1", "refs/brain/reviews", "--", path))
    change(document)
    made = b.commit(b.tree(parent, {path: json.dumps(document, indent=2, ensure_ascii=False) + "\n"}), parent.split(), "council\n", author)
    b.move("refs/brain/reviews", made)
    return made


@plants("council-verdict")
def verdict_that_no_votes_carry(b):
    def change(document):
        document["verdict"]["decision"] = "approve"
        document["verdict"]["confidence"] = 0.9
    return recouncil(b, change)


@plants("council-verdict")
def vote_altered_under_its_seal(b):
    def change(document):
        vote = document["votes"][0]["opening"]["vote"]
        vote["decision"] = "reject" if vote["decision"] == "approve" else "approve"
    return recouncil(b, change)


@plants("council-verdict")
def signature_of_another_key(b):
    def change(document):
        signature = document["votes"][0]["message"]["signature"]
        document["votes"][0]["message"]["signature"] = signature[::-1]
    return recouncil(b, change)


@plants("council-members")
def member_that_no_document_seats(b):
    def change(document):
        document["members"].append({**document["members"][0], "id": "friend", "family": "friends"})
    return recouncil(b, change)


@plants("review-forged")
def council_in_the_name_of_another(b):
    # The commit says Mallory, the record Ann.
    return recouncil(b, lambda document: None, MALLORY)


PLANTS["council_in_the_name_of_another"] = (council_in_the_name_of_another, {"review-forged", "council-verdict"}, "plain", False)


@plants("council-bypass")
def run_that_lands_past_its_council(b):
    waits = b.apply([{"op": "create", "id": "ladle", "concept": "ladle", "type": "semantic"}], "scribe", "--no-merge")
    b.brain("council", "--branch", waits["run"], codes=(0, 1))
    run, wake = waits["commit"], b.tip("wake")
    policy = b.git("rev-parse", "main:brain.toml")
    message = f"merge scribe: a ladle\n\nAgent: scribe\nRun: {waits['run']}\nPolicy: {policy}\nNewest-Run: {waits['run']}\n"
    made = b.commit(b.tree(run, {}), [wake, run], message)
    b.move("refs/heads/wake", made)
    b.git("update-ref", "-d", f"refs/heads/{waits['branch']}")
    return made


@plants("signature")
def commit_without_its_signature(b):
    signers = b.home / "signers"
    key = b.home / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signers.write_text(f"* {key.with_suffix('.pub').read_text()}")
    b.git("config", "brain.allowedSigners", str(signers))
    for name in ("main", "wake", "refs/brain/reviews"):
        b.git("config", "--add", "brain.signedSince", b.tip(name))
    b.git("config", "brain.requireSignatures", "true")
    b.git("config", "brain.sign", "true")
    b.git("config", "gpg.format", "ssh")
    b.git("config", "user.signingkey", str(key))
    return b.upon({"notes.txt": "unsigned\n"})


def audited(brain, *args):
    done = subprocess.run([lab.PROGRAM, "--json", "audit", *args], cwd=brain.folder, env=brain.env, capture_output=True)
    if done.returncode not in (0, 3):
        raise AssertionError(f"audit -> {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    if (done.returncode == 3) != (report["level"] == "quarantine"):
        raise AssertionError(f"exit code {done.returncode} and level {report['level']}")
    return report


def copied(brain, folder):
    shutil.copytree(brain.folder, folder / "brain", symlinks=True)
    home = folder / "home"
    shutil.copytree(brain.home, home, symlinks=True)
    copy = Brain(folder / "brain", home)
    copy.brain("trust", "--yes")
    return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="plants whose names hold this text")
    parser.add_argument("--sample", type=int, help="as many, drawn by the seed")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--verbose", action="store_true", help="all failures, not the first eight")
    arguments = parser.parse_args()
    failures, found = [], 0
    with lab.scratch("planted") as root:
        brains = {"plain": life(root / "plain" / "brain", root / "plain-home"),
                  "reviewed": life(root / "reviewed" / "brain", root / "reviewed-home", reviewers=True)}
        for name, brain in brains.items():
            report = audited(brain, "--all")
            bad = [f for f in report["findings"] if f["level"] == "quarantine"]
            if bad:
                failures.append(f"honest life {name}: {json.dumps(bad[:3])}")
        names = [name for name in PLANTS if not arguments.only or arguments.only in name]
        if arguments.sample:
            names = sorted(lab.dice(lab.seed_of(arguments), "planted").sample(names, min(arguments.sample, len(names))))
        for name in names:
            plant, rules, of, warns = PLANTS[name]
            folder = root / name
            folder.mkdir()
            try:
                brain = copied(brains[of], folder)
                planted = plant(brain)
                planted = planted if isinstance(planted, set) else {planted}
                if "rewritten-history" not in rules:
                    # Life goes on upon it, as far as the program lets it.
                    brain.brain("feed", "Greta sells honey at the market", codes=range(256))
                report = audited(brain)
                hits = [f for f in report["findings"] if f["commit"] in planted and f["rule"] in rules]
                level = "warn" if warns else "quarantine"
                if not any(f["level"] == level for f in hits):
                    near = [(f["commit"][:8], f["rule"], f["message"][:100]) for f in report["findings"]]
                    failures.append(f"{name}: {[p[:8] for p in planted]} is not named by {sorted(rules)}: {near}")
                elif warns and report["level"] == "quarantine":
                    failures.append(f"{name}: only a warning is due: {[f for f in report['findings'] if f['level'] == 'quarantine'][:2]}")
                else:
                    found += 1
            except Exception as error:  # A plant that cannot be made is a failure of this row.
                failures.append(f"{name}: {error!r}"[:600])
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.verbose:
        print("\n".join(failures))
    return lab.report("planted", {"planted": len(names), "found": found, "honest lives": len(brains)}, failures)


if __name__ == "__main__":
    sys.exit(main())
