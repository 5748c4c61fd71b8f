"""The steps of a life: lines of shell, drawn by chance, that stand on nothing but the prelude and the steps before them.

A line names what an earlier step made by that step's number, or by a word that its text alone has, and does nothing where that is
not there. So a life is its own script, and stays one when steps are taken out.
"""

import hashlib
import json
import re
import shlex

import lab

NAMES = "abcd"
SHARED = ["k0", "k1", "k2", "k3"]
PEOPLE = ["Anna", "Ben", "Claire", "Yuki", "Olga"]
THINGS = ["green tea", "the boat", "a heron", "the garden house", "the matcha bowl", "the blue raincoat"]
PLACES = ["Kyoto", "Oslo", "Uji", "Lyon"]
TAINTED = ["mcp:editor", "http", "webhook:forge", "clone:other"]
REVIEWED = ["forum:post"]

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long later(void) { const char *s = getenv("LATER"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, t);
    if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += later();
    return r;
}
int gettimeofday(struct timeval *t, void *z) {
    struct timespec s;
    (void)z;
    clock_gettime(CLOCK_REALTIME, &s);
    t->tv_sec = s.tv_sec; t->tv_usec = s.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *p) {
    struct timespec s;
    clock_gettime(CLOCK_REALTIME, &s);
    if (p) *p = s.tv_sec;
    return s.tv_sec;
}
"""

# What every line stands on. `on` and `person` write a line into `log` for each command: step, place in it, code, milliseconds.
PRELUDE = r"""
export HOME=$PWD/home XDG_STATE_HOME=$PWD/state GIT_CONFIG_GLOBAL=$PWD/home/.gitconfig GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.invalid GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.invalid
export LC_ALL=C.UTF-8 TZ=UTC GIT_EDITOR=true
unset BRAIN_NOW BRAIN_SEED
mkdir -p home state out files
# A command of a clone, with what it answers in a file of the step.
logged() {
    local clone=$1 from=${EPOCHREALTIME/./} code file
    K=$((K + 1)) file=out/$STEP.$K
    shift
    # What its hooks leave behind holds the pipe open, so that it is waited for, unless the life is in a hurry.
    {
        (
            if [ -n "${HURRY:-}" ]; then exec 9>&-; fi
            if [ -f later ]; then export LATER=$(cat later) LD_PRELOAD=$PWD/clock.so; fi
            exec timeout -k 1 60 "$@"
        ) >"$file" 2>"$file.err"
        echo $? >out/code
    } 9>&1 | cat
    code=$(cat out/code)
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$STEP" "$K" "$code" $(((${EPOCHREALTIME/./} - from) / 1000)) "$clone" "$*" | tr '\n' ' ' >>log
    echo >>log
    if [ -n "${SHOW:-}" ]; then
        printf '%s$ %s   # exit %s\n' "$clone" "${*##*/}" "$code"
        if [ "$code" != 0 ]; then cat "$file" "$file.err"; fi
    fi
    return $code
}
on() { local clone=$1; shift; logged "$clone" "$GIT_BRAIN" --json -C "$clone" "$@"; }
person() { local clone=$1; shift; logged "$clone" git -C "$clone" "$@"; }
# The first run that a step made, or nothing.
run_of() { local f; f=$(cat "out/$1".* 2>/dev/null | sed -n 's/.*"run": *"\([^"]*\)".*/\1/p;T;q'); [ -n "$f" ] && echo "$f"; }
# The memory in wake of a clone whose text has a word.
memory_of() { git -C "$1" grep -l -F -w "$2" wake -- network/neurons 2>/dev/null | sed -n 's,.*/\(e-[^/]*\)\.json,\1,p;T;q' | grep .; }
file_of() { git -C "$1" ls-tree -r --name-only "$3" network/neurons | grep "/$2\.json$"; }
tips() { for place in $CLONES gate; do git -C $place rev-parse "wake^{tree}" "main^{tree}"; done; }
# All clones that are here meet, and one lets the agents run, until nothing moves.
quiet() {
    local before round clone
    if [ -n "${HURRY:-}" ]; then sleep 2; unset HURRY; fi
    for round in 1 2 3 4 5 6 7 8 9 10; do
        before=$(tips)
        for clone in "$@"; do on $clone sync; done
        on $1 run
        if [ "$before" = "$(tips)" ]; then return; fi
    done
    echo "$STEP: not quiet after $round rounds" >>restless
}
"""

SETUP = r"""
"$GIT_BRAIN" init --bare gate >out/gate 2>&1
"$GIT_BRAIN" init a >out/init 2>&1
git -C a remote add origin "$PWD/gate"
printf '\n[sleep]\nboost = 100\n' >>a/brain.toml
git -C a commit -qam "brain.toml: gentle nights"
on a apply - <<<'@START@'
on a run
on a sync
for clone in $CLONES; do
    if [ $clone != a ]; then git clone -q gate $clone; on $clone init; fi
done
"""


class Step:
    """A line, what it is, and where it happens."""

    def __init__(self, number, kind, clone, line, **more):
        self.number, self.kind, self.clone, self.line, self.more = number, kind, clone, line, more


def start():
    ops = [lab.create(name) for name in SHARED]
    ops += [{**lab.create(f"p{name}"), "concept": f"place {name}"} for name in NAMES]
    ops += [lab.edge("connect", one, two, weight=20000) for one in SHARED for two in SHARED if one < two]
    ops += [{"op": "activate", "id": op["id"], "strength": 0.3} for op in ops if op["op"] == "create"]
    return {"ops": ops}


def setup():
    return SETUP.replace("@START@", json.dumps(start()))


class Draw:
    """A life that is being drawn: what may be spoken of at the next step."""

    def __init__(self, dice, clones):
        self.dice, self.clones = dice, list(NAMES[:clones])
        self.steps = []
        # Runs by step: kind and the clones that know of them. Texts by word, the same. Commits of people by step and clone.
        self.runs, self.texts, self.commits, self.files, self.reverted, self.origins = {}, {}, [], {}, set(), {}
        self.away, self.later, self.talks, self.goals = {}, 0, [], []

    def here(self):
        return [name for name in self.clones if name not in self.away]

    def add(self, kind, clone, line, **more):
        number = len(self.steps) + 1
        self.steps.append(Step(number, kind, clone, line, **more))
        return number

    def word(self):
        return f"zk{len(self.steps) + 1}"

    def text(self):
        dice = self.dice
        return f"{dice.choice(PEOPLE)} saw {dice.choice(THINGS)} in {dice.choice(PLACES)}, {self.word()}. {dice.choice(['', 'It is urgent.', 'Who knows why?'])}".strip()

    def delta(self, clone, signals=True):
        dice = self.dice
        ops = [lab.create(f"m{len(self.steps) + 1}")]
        for _ in range(dice.randint(1, 4)):
            one, two = sorted(dice.sample(SHARED, 2))
            ops.append(dice.choice([
                lab.edge("adjust", one, two, by=dice.choice([-300, -7, 7, 120, 300])),
                lab.edge("adjust", one, two, by=dice.choice([-300, -7, 7, 120, 300])),
                {"op": "activate", "id": one, "strength": dice.choice([0.1, 0.5, 0.9])},
                lab.edge("connect", ops[0]["id"], two, weight=3000),
                {"op": "reword", "id": ops[0]["id"], "concept": f"m{len(self.steps) + 1} {dice.choice(PLACES)}"},
            ]))
        if signals and dice.random() < 0.35:
            ops.append({"op": "signal", "to": dice.choice(["memory", "affect", "decision"]),
                        "payload": {"kind": dice.choice(["question", "note", "action_required"]), "query": "who saw the heron?"}})
        if dice.random() < 0.1:
            ops.append({"op": "flag", "name": "urgence", "value": dice.random() < 0.5, "reason": "none"})
        document = {"ops": ops}
        if dice.random() < 0.5:
            pathway = [{"from": "k0", "to": "k1", "type": "feeds_into"}]
            document["prediction"] = {"text": "the heron comes", "value": 0.6, "pathway": pathway}
        return document

    def pick(self, pool, clone):
        """Something of a pool, step or word to places, that a clone knows of."""
        found = sorted(key for key, places in pool.items() if clone in places)
        return self.dice.choice(found) if found else None


def quoted(text):
    return shlex.quote(text)


def feed(draw, clone):
    dice, word = draw.dice, draw.word()
    options = []
    if dice.random() < 0.3:
        options += ["--session", dice.choice(["walk", "mail"])]
    if dice.random() < 0.3:
        options += ["--source", dice.choice(["walk", "mail"]) + f":{word}"]
    if dice.random() < 0.15:
        options += ["--at", f"2026-0{dice.randint(1, 9)}-1{dice.randint(0, 9)}"]
    if dice.random() < 0.3:
        options += ["--no-run"]
    number = draw.add("feed", clone, f"on {clone} feed {shlex.join(options)} --text {quoted(draw.text())}")
    draw.texts[word], draw.runs[number] = {clone}, {clone}


def feed_again(draw, clone):
    """A text that is known, at this clone or at another."""
    old = [step for step in draw.steps if step.kind == "feed"]
    if old:
        chosen = draw.dice.choice(old)
        draw.add("again", clone, chosen.line.replace(f"on {chosen.clone} ", f"on {clone} ", 1))


def feed_origin(draw, clone):
    dice, word = draw.dice, draw.word()
    origin = dice.choice(TAINTED * 3 + REVIEWED)
    number = draw.add("feed", clone, f"on {clone} feed --origin {origin} --text {quoted(draw.text())}")
    draw.origins.setdefault(origin, set()).add(clone)
    if origin not in REVIEWED:
        draw.texts[word], draw.runs[number] = {clone}, {clone}


def feed_file(draw, clone):
    """A file of one clone, new or changed, alone or by its folder."""
    dice, word = draw.dice, draw.word()
    name = dice.choice(["one", "two", "three"])
    # What both write is one file to the brain: each feed takes its text for the newest.
    path = f"files/{dice.choice([clone, clone, 'both'])}/{name}.md"
    paragraphs = draw.files.setdefault(path, [])
    if paragraphs and dice.random() < 0.5:
        paragraphs.pop(dice.randrange(len(paragraphs)))
    paragraphs.insert(dice.randint(0, len(paragraphs)), draw.text())
    folder = path.rsplit("/", 1)[0]
    what = dice.choice([path, path, folder])
    lines = "\\n\\n".join(text.replace("'", "") for text in paragraphs)
    number = draw.add("file", clone, f"mkdir -p {folder}; printf '{lines}\\n' >{path}; on {clone} feed \"$PWD/{what}\"")
    draw.texts[word], draw.runs[number] = {clone}, {clone}


def feed_gone(draw, clone):
    mine = [path for path, lines in draw.files.items() if lines and path.split("/")[1] in (clone, "both")]
    if mine:
        path = draw.dice.choice(mine)
        draw.files[path] = []
        number = draw.add("gone", clone, f"[ -f {path} ] || exit 0; rm {path}; on {clone} feed --gone \"$PWD/{path}\"")
        draw.runs[number] = {clone}


def correct(draw, clone):
    word, new = draw.pick(draw.texts, clone), draw.word()
    if word:
        number = draw.add("correct", clone, f"m=$(memory_of {clone} {word}) || exit 0; on {clone} feed --corrects $m --text {quoted(draw.text())}")
        draw.texts[new], draw.runs[number] = {clone}, {clone}
        draw.texts.pop(word)


def run(draw, clone):
    options = draw.dice.choice(["", "", "", " --max-runs 1", " --agent memory"])
    draw.add("run", clone, f"on {clone} run{options}")


def watch(draw, clone):
    draw.add("watch", clone, f"on {clone} watch --once")


def apply(draw, clone):
    document = draw.delta(clone)
    number = draw.add("apply", clone, f"on {clone} apply - <<<{quoted(json.dumps(document))}", predicts="prediction" in document)
    draw.runs[number] = {clone}


def hold(draw, clone):
    draw.add("hold", clone, f"on {clone} apply --no-merge - <<<{quoted(json.dumps(draw.delta(clone)))}")


def merge(draw, clone):
    """What waits, let in: all of it, or one that a step held."""
    held = [step for step in draw.steps if step.kind == "hold"]
    if held and draw.dice.random() < 0.5:
        chosen = draw.dice.choice(held)
        draw.add("merge", clone, f"r=$(run_of {chosen.number}) || exit 0; git -C {clone} cat-file -e agents/human/$r 2>/dev/null || exit 0; "
                                 f"on {clone} merge agents/human/$r")
    else:
        draw.add("merge", clone, f"on {clone} merge")


def sleep(draw, clone):
    dice = draw.dice
    options = dice.choice(["", "", "", "", " --undo", " --if-due", " --dry-run", " --review"])
    if options != " --review":
        draw.add("undo" if "undo" in options else "sleep", clone, f"on {clone} sleep{options}")
        return
    number = draw.add("review", clone, f"on {clone} sleep --review")
    verb = dice.choice(["approve", "reject"])
    branch = f"r=$(run_of {number}) || exit 0; git -C {clone} rev-parse -q --verify refs/heads/sleep/$r >/dev/null || exit 0"
    draw.add(verb, clone, f"{branch}; on {clone} {verb} sleep/$r")


def outcome(draw, clone):
    judged = {step.number: draw.runs[step.number] for step in draw.steps if step.kind == "apply" and step.more["predicts"]}
    chosen = draw.pick(judged, clone)
    if chosen:
        how = draw.dice.choice([f"on {clone} outcome $r --value 0.{draw.dice.randint(0, 9)}", f"on {clone} outcome $r --text 'the heron came'",
                                f"on {clone} feed --answers $r --text {quoted(draw.text())}"])
        number = draw.add("outcome", clone, f"r=$(run_of {chosen}) || exit 0; {how}")
        draw.runs[number] = {clone}


def revert(draw, clone):
    pool = {number: places for number, places in draw.runs.items() if number not in draw.reverted}
    chosen = draw.pick(pool, clone)
    if chosen:
        number = draw.add("revert", clone, f"r=$(run_of {chosen}) || exit 0; on {clone} revert --run $r")
        draw.reverted.add(chosen)
        if draw.dice.random() < 0.3:
            draw.runs[number] = {clone}


def revert_origin(draw, clone):
    origin = draw.pick(draw.origins, clone)
    if origin:
        draw.add("revert-origin", clone, f"on {clone} revert --origin {origin}")


def approve(draw, clone):
    origin = draw.pick(draw.origins, clone)
    if origin and origin not in REVIEWED:
        draw.add("approve", clone, f"on {clone} approve --origin {origin}")


def restore(draw, clone):
    word = draw.pick(draw.texts, clone)
    if word:
        name = json.dumps({"ops": [{"op": "archive", "id": "@", "reason": "none"}]})
        number = draw.add("archive", clone, f"m=$(memory_of {clone} {word}) || exit 0; j={quoted(name)}; on {clone} apply - <<<\"${{j/@/$m}}\"; "
                                            + draw.dice.choice(["", f"on {clone} sleep; "]) + f"on {clone} restore $m")
        draw.runs[number] = {clone}


def archive(draw, clone):
    word = draw.pick(draw.texts, clone)
    if word:
        name = json.dumps({"ops": [{"op": "archive", "id": "@", "reason": "none"}]})
        number = draw.add("archive", clone, f"m=$(memory_of {clone} {word}) || exit 0; j={quoted(name)}; on {clone} apply - <<<\"${{j/@/$m}}\"")
        draw.runs[number] = {clone}
        draw.texts.pop(word)


def goal(draw, clone):
    if draw.goals and draw.dice.random() < 0.4:
        number = draw.dice.choice(draw.goals)
        draw.add("goal", clone, f"g=$(sed -n 's/.*\"goal\": *\"\\([^\"]*\\)\".*/\\1/p;T;q' out/{number}.1 2>/dev/null | grep .) || exit 0; "
                                f"[ -n \"$(git -C {clone} ls-tree wake network/goals/$g.json)\" ] || exit 0; on {clone} goal close $g")
    else:
        draw.goals.append(draw.add("goal", clone, f"on {clone} goal add 'Find the heron {draw.word()}' --neuron k0"))


def chat(draw, clone):
    dice = draw.dice
    talk = dice.choice(["t1", "t2"])
    message = dice.choice([f"Remember that {draw.text()}", "Who saw the heron?", "Where is Anna?"])
    draw.add("chat", clone, f"on {clone} chat --conversation {clone}{talk} {quoted(message)}")


def trade(draw, clone):
    """What another clone exports, imported; or triples."""
    dice, word = draw.dice, draw.word()
    if dice.random() < 0.5:
        other = dice.choice(draw.clones)
        number = draw.add("import", clone, f"on {other} export; on {clone} import \"$PWD/out/{len(draw.steps) + 1}.1\"")
    else:
        lines = "\n".join(json.dumps({"subject": dice.choice(PLACES), "relation": "has", "object": f"{word} {dice.choice(THINGS)}"}) for _ in range(3))
        number = draw.add("import", clone, f"printf '%s\\n' {quoted(lines)} >files/{word}.jsonl; on {clone} import --triples \"$PWD/files/{word}.jsonl\"")


def learn(draw, clone):
    number = draw.add("recall", clone, f"on {clone} recall --learn {draw.dice.choice(['who saw the heron', 'Kyoto', 'green tea'])}")
    draw.runs[number] = {clone}


def house(draw, clone):
    """What looks, and what keeps house."""
    draw.add("house", clone, f"on {clone} " + draw.dice.choice(
        ["checkout", "checkout neurons", "checkout --none", "upgrade", "doctor", "status", "story", "ledger", "hooks install", "run --dry-run", "sync --dry-run"]))


def sync(draw, clone):
    draw.add("sync", clone, f"on {clone} sync")


def note(draw, clone):
    """A file of a person's own, beside the brain's, committed by plain git; by a merge, now and then."""
    number = len(draw.steps) + 1
    path = f"notes/{clone}-{number}.md"
    write = f"mkdir -p {clone}/notes; echo zk{number} >{clone}/{path}; git -C {clone} add {path}; person {clone} commit -qm 'a note {number}'"
    if draw.dice.random() < 0.2:
        write = f"git -C {clone} checkout -q -b topic{number}; {write}; git -C {clone} checkout -q main; person {clone} merge -q --no-ff -m 'topic {number}' topic{number}"
    draw.add("note", clone, f"{write}; git -C {clone} rev-parse HEAD >out/{number}.commit", path=path)
    draw.commits.append((number, clone, path))


def move(draw, clone):
    """A file of a person's own goes elsewhere, or the commit that made it is taken back."""
    mine = [entry for entry in draw.commits if entry[1] == clone]
    if mine:
        entry = draw.dice.choice(mine)
        draw.commits.remove(entry)
        if draw.dice.random() < 0.5:
            new = entry[2].replace(".md", "-moved.md")
            draw.add("move", clone, f"[ -f {clone}/{entry[2]} ] || exit 0; git -C {clone} mv {entry[2]} {new}; person {clone} commit -qm 'move {entry[0]}'", old=entry[2], path=new)
        else:
            draw.add("unnote", clone, f"[ -f {clone}/{entry[2]} ] || exit 0; git -C {clone} rm -q {entry[2]}; person {clone} commit -qm 'no note {entry[0]}'", old=entry[2])


def edit(draw, clone):
    """A neuron by hand, as docs/hooks.md says, on main or on wake; and taken back, now and then."""
    number, own = len(draw.steps) + 1, f"p{clone}"
    change = draw.dice.choice([f"s/\"concept\": .*/\"concept\": \"place {clone} {number}\",/", "s/\"type\": .*/&\\n  \"pinned\": true,/"])
    back = draw.dice.choice(["", f"; person {clone} revert --no-edit ':/^edit {number}'"])
    branch = draw.dice.choice(["main", "main", "wake"])
    # Two names by hand, one on each branch, are left to a person (docs/merge.md): each clone names its place on one of the two.
    if "concept" in change:
        branch = "wake" if clone in "bd" else "main"
    there = f"git -C {clone} checkout -q wake || exit 0; trap 'git -C {clone} checkout -q main' EXIT; " if branch == "wake" else ""
    draw.add("edit", clone, f"f=$(file_of {clone} {own} {branch}) || exit 0; {there}on {clone} checkout neurons; grep -q pinned {clone}/$f && exit 0; "
                            f"sed -i {quoted(change)} {clone}/$f; on {clone} check --fix; person {clone} commit -qam 'edit {number}'{back}")


def stimulus(draw, clone):
    """A stimulus that a person commits on main."""
    number = len(draw.steps) + 1
    name = f"s-{hashlib.sha256(str(number).encode()).hexdigest()[:16]}"
    folder = f"network/stimuli/2026/11/{hashlib.sha256(name.encode()).hexdigest()[:2]}"
    text = json.dumps({"id": name, "at": "2026-11-20T10:00:00Z", "text": draw.text(), "origin": "local"}, indent=2)
    draw.add("stimulus", clone, f"mkdir -p {clone}/{folder}; printf '%s\\n' {quoted(text)} >{clone}/{folder}/{name}.json; "
                                f"git -C {clone} add --sparse {folder}/{name}.json; person {clone} commit -qm 'a stimulus'", stimulus=name)


def settings(draw, clone):
    """Settings and definitions, by the clone that looks after them."""
    number = len(draw.steps) + 1
    if draw.dice.random() < 0.5:
        draw.add("settings", "a", f"sed -i 's/^beam = .*/beam = {draw.dice.randint(900, 1100)}/' a/brain.toml; echo '# {number}' >>a/brain.toml; person a commit -qam 'settings {number}'")
    else:
        agent = {"name": f"notes-{number}", "role": "Notes.", "trigger": {"any": [{"signal": "never"}]}, "cognition": {"kind": "command", "argv": ["/bin/true"]},
                 "capabilities": {"operations": ["create"], "types": ["semantic"]}}
        draw.add("agent", clone, f"printf '%s\\n' {quoted(json.dumps(agent, indent=2))} >{clone}/agents/notes-{number}.json; git -C {clone} add agents; person {clone} commit -qm 'agent {number}'")


def plain(draw, clone):
    """Plain git beside it: a fetch, a push that may be too late."""
    draw.add("plain", clone, f"person {clone} " + draw.dice.choice(["fetch -q origin", "push -q origin main wake", "pull -q --ff-only origin main", "gc -q"]))


def later(draw, clone):
    seconds = draw.dice.choice([60, 3600, 86400, 3 * 86400])
    draw.later += seconds
    draw.add("later", None, f"echo {draw.later} >later")


def leave(draw, clone):
    if len(draw.here()) > 1:
        draw.away[clone] = len(draw.steps) + draw.dice.randint(20, 80)


def twin(draw, clone):
    """One and the same, at two clones that have not met since."""
    other = draw.dice.choice([name for name in draw.clones if name != clone])
    kind = draw.dice.choice([sleep, sleep, revert, approve, correct, archive, outcome, feed, feed_origin, revert_origin, restore, goal, chat, hold, merge])
    known = len(draw.steps)
    kind(draw, clone)
    for step in draw.steps[known:]:
        line = re.sub(rf"\b(on|memory_of|git -C) {step.clone}\b", rf"\1 {other}", step.line)
        number = draw.add(step.kind, other, line, **step.more)
        if step.number in draw.runs and step.kind not in ("feed", "file"):
            draw.runs[number] = {other}


# How often each of them is drawn.
WEIGHTS = {
    feed: 14, feed_again: 3, feed_origin: 6, feed_file: 6, feed_gone: 2, correct: 4, run: 8, watch: 2, apply: 14, hold: 4, merge: 4, sleep: 9,
    outcome: 6, revert: 4, revert_origin: 1, approve: 2, restore: 1, archive: 2, goal: 3, chat: 4, trade: 3, learn: 3, house: 5, sync: 16, note: 3,
    move: 2, edit: 3, stimulus: 2, settings: 1, plain: 2, later: 4, leave: 1, twin: 6,
}


# What some lives are mostly about, beside texts, runs and syncs.
THEMES = [
    {sleep, edit, twin, archive, restore, later}, {feed_origin, revert_origin, approve, sleep, twin, revert}, {feed_file, feed_gone, correct, archive, restore, revert, twin},
    {hold, merge, apply, revert, outcome, twin}, {edit, note, move, stimulus, settings, plain, sleep}, {goal, chat, outcome, learn, trade, later}, set(),
]


def life(seed, clones, count, every):
    """The steps of a life, with a quiet point now and then and at its end."""
    draw = Draw(lab.dice(seed, "life"), clones)
    kinds = list(WEIGHTS)
    theme = draw.dice.choice(THEMES)
    weights = [WEIGHTS[kind] * (4 if kind in theme else 0.4 if theme and kind not in (run, sync) else 1) for kind in kinds]
    last = 0
    while len(draw.steps) < count:
        draw.away = {name: until for name, until in draw.away.items() if until > len(draw.steps)}
        # Whoever is away works there, and does not sync.
        clone = draw.dice.choice(draw.clones)
        kind = draw.dice.choices(kinds, weights)[0]
        if clone in draw.away and kind in (sync, leave, plain):
            continue
        kind(draw, clone)
        if len(draw.steps) - last >= every:
            last = len(draw.steps)
            meet(draw)
    draw.away = {}
    meet(draw)
    return draw.steps


def meet(draw):
    here = draw.here()
    draw.add("quiet", None, f"quiet {' '.join(here)}", here=here)
    for pool in (draw.runs, draw.texts, draw.origins):
        for places in pool.values():
            if places & set(here):
                places |= set(here)
