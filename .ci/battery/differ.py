#!/usr/bin/env python3
"""Row 18: three trees, made by chance, merged by the program and by a second statement of docs/merge.md.

`histories.py` makes them, `git brain merge-tree` merges them, and once more with the sides exchanged, and `typed.py` says what must
come of it: each field of each neuron, each file, each conflict. A case that differs is made smaller, and written to --keep as
folders of files.

Of what docs/merge.md leaves open `typed.py` says so (`Open`): such a case is counted and not compared; --verbose names the questions.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import time

import lab
import typed
from histories import Case, fresh, whole
from typed import Tree

class World:
    """A brain whose trees are ours: objects in by `git fast-import`, out by `git cat-file --batch`."""

    def __init__(self, root):
        self.root, self.count = root, 0
        self.env = lab.environment(root)
        made = lab.call([lab.PROGRAM, "init", "--no-hooks", str(root / "template")], self.env)
        if made.code != 0:
            raise lab.Fault(str(made))
        self.brain = self.batch = None

    def renew(self):
        """A new copy: thousands of merges would leave thousands of packs."""
        self.close()
        self.count += 1
        self.brain = lab.Brain(self.root / "template", self.env).copy(self.root / f"brain-{self.count}")
        self.batch = subprocess.Popen(["git", "-C", str(self.brain.path), "cat-file", "--batch"], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        if self.brain:
            self.batch.stdin.close()
            self.batch.wait()
            self.batch.stdout.close()
            subprocess.run(["rm", "-rf", str(self.brain.path)], check=True)

    def load(self, trees):
        """Their tree ids."""
        lines = []
        for number, tree in enumerate(trees, 1):
            lines.append(f"reset refs/heads/case\ncommit refs/heads/case\nmark :{number}\ncommitter A <a@example.invalid> 0 +0000\ndata 0\n".encode())
            for path, text in tree.written().items():
                mode, content = ("100644", text) if path.startswith("network/") else (text[:6].decode(), text[7:])
                lines.append(f"M {mode} inline {path}\ndata {len(content)}\n".encode() + content + b"\n")
            lines.append(f"\nget-mark :{number}\n".encode())
        lines.append(b"reset refs/heads/case\nfrom 0000000000000000000000000000000000000000\n\ndone\n")
        argv = ["git", "-C", str(self.brain.path), "fast-import", "--quiet", "--force", "--done", "--cat-blob-fd=1"]
        done = subprocess.run(argv, env=self.env, input=b"".join(lines), capture_output=True)
        ids = done.stdout.decode().split()
        if done.returncode != 0 or len(ids) != len(trees):
            raise lab.Fault(done.stderr.decode())
        return ids

    def object(self, name):
        self.batch.stdin.write(f"{name}\n".encode())
        self.batch.stdin.flush()
        head = self.batch.stdout.readline().split()
        if len(head) != 3:
            raise lab.Fault(f"no object {name}: {head}")
        content = self.batch.stdout.read(int(head[2]))
        self.batch.stdout.read(1)
        return content

    def files(self, tree, folder=""):
        """Path to content of a tree; outside the network with the mode before it."""
        found, content = {}, self.object(tree)
        while content:
            head, _, rest = content.partition(b"\0")
            mode, name = head.decode().split(" ", 1)
            entry, content = rest[:20].hex(), rest[20:]
            path = folder + name
            if mode == "40000":
                found.update(self.files(entry, path + "/"))
            else:
                text = self.object(entry)
                found[path] = text if path.startswith("network/") else mode.encode() + b" " + text
        return found

    def merge(self, case, ids):
        """What the program makes of it: files, conflicts, tree id; or an answer that is none."""
        answer = self.brain.brain(*case.settings(), "--json", "merge-tree", *ids)
        said = answer.json()
        if answer.code not in (0, 3) or said is None or (answer.code == 3) != bool(said["conflicts"]):
            raise lab.Fault(str(answer))
        return self.files(said["tree"]), {(c["neuron"], c["field"]) for c in said["conflicts"]}, said["tree"]


def differences(case, got, conflicts):
    """Where the program and the statement differ, a line each."""
    merge = typed.Merge(*case.trees, case.policy)
    wrong = []
    if conflicts != merge.conflicts:
        wrong.append(f"conflicts: {sorted(conflicts)} instead of {sorted(merge.conflicts)}")
    neurons = {typed.NEURON.match(path).group(1): text for path, text in got.items() if typed.NEURON.match(path)}
    newest = merge.tree.format()
    written = [tree.written() for tree in case.trees]
    for name in sorted({*neurons, *merge.tree.neurons}):
        if (name in neurons) != (name in merge.tree.neurons):
            wrong.append(f"{name} is {'there' if name in neurons else 'missing'}")
            continue
        found, wanted, settled = typed.read(neurons[name]), merge.tree.neurons[name], True
        for field in found:
            if (name, field) in merge.conflicts | conflicts:
                settled = False
                continue
            now, then = found[field], wanted[field]
            if field == "links":
                undecided = {f for who, f in merge.conflicts | conflicts if who == name}
                now, then = ({key: weight for key, weight in links.items() if f"connections.{key[0]}.{key[1]}" not in undecided} for links in (now, then))
            if field == "salience" and now[1] == then[1] and abs(now[0] - then[0]) <= merge.loose.get(name, 0):
                continue
            if now != then:
                wrong.append(f"{name} {field}: {now} instead of {then}")
        if settled and neurons[name] not in [tree.get(typed.neuron_path(name)) for tree in written] and neurons[name] != typed.write(found, newest):
            wrong.append(f"{name}: not canonical, or not in format {newest}")
    files = {path: text for path, text in got.items() if not typed.NEURON.match(path)}
    undecided = [path for path, _ in merge.conflicts | conflicts]
    for path in sorted({*files, *merge.tree.files}):
        now, then = files.get(path), merge.tree.files.get(path)
        if now != then and not any(path == one or path.startswith(one + "/") for one in undecided) and not (typed.QUEUE.match(path) and now and then):
            wrong.append(f"{path}: {now} instead of {then}")
    return wrong


def judged(world, case, ids=None):
    """Differences of a case in both orders."""
    ids = ids or world.load(case.trees)
    other = case.swapped()
    # What is open is not compared, and costs no merge.
    for one in (case, other):
        typed.Merge(*one.trees, one.policy)
    first, second = world.merge(case, ids), world.merge(other, [ids[0], ids[2], ids[1]])
    wrong = differences(case, *first[:2]) + [f"exchanged: {what}" for what in differences(other, *second[:2])]
    loose = typed.Merge(*case.trees, case.policy).loose
    if first[2] != second[2] and not wrong and not first[1] and not loose and not {"left", "right"} & set(case.policy.values()):
        wrong.append("the sides exchanged give another tree")
    return wrong, first[0]


def smaller(world, case, seconds):
    """The case with all taken away that the difference does not need."""
    end = time.monotonic() + seconds

    def fails(trees, policy):
        candidate = object.__new__(Case)
        candidate.trees, candidate.policy = trees, policy
        try:
            return bool(judged(world, candidate)[0])
        except (typed.Open, lab.Fault, KeyError):
            return False

    best, policy, again = case.trees, dict(case.policy), True
    while again and time.monotonic() < end:
        again = False
        for change in changes(best):
            if time.monotonic() > end:
                break
            trees = [tree.copy() for tree in best]
            if change(trees) is not False and [t.written() for t in trees] != [t.written() for t in best] and whole(trees) and fails(trees, policy):
                best, again = trees, True
        for field, rule in typed.POLICY.items():
            if policy[field] != rule and fails(best, {**policy, field: rule}):
                policy[field], again = rule, True
    out = object.__new__(Case)
    out.trees, out.policy = best, policy
    return out


def changes(trees):
    """Ways to make three trees smaller."""
    for path in sorted({path for tree in trees for path in tree.files if path != typed.METADATA}):
        yield lambda ts, path=path: [t.files.pop(path, None) for t in ts]
    for name in sorted({name for tree in trees for name in tree.neurons}):
        def drop(ts, name=name):
            for t in ts:
                t.neurons.pop(name, None)
                for n in t.neurons.values():
                    n["links"] = {key: weight for key, weight in n["links"].items() if key[0] != name}
        yield drop
        for side in (1, 2):
            def undo(ts, name=name, side=side):
                if name not in ts[0].neurons:
                    return False
                ts[side].neurons[name] = dict(ts[0].neurons[name])
            yield undo
            for field in fresh(lab.dice(0), name, None, 0, 0):
                def same(ts, name=name, side=side, field=field):
                    if name not in ts[0].neurons or name not in ts[side].neurons:
                        return False
                    ts[side].neurons[name][field] = ts[0].neurons[name][field]
                yield same
        for key in sorted({key for tree in trees for key in tree.neurons.get(name, {}).get("links", {})}):
            def cut(ts, name=name, key=key):
                for t in ts:
                    if name in t.neurons:
                        t.neurons[name]["links"].pop(key, None)
            yield cut


def keep(folder, case, got, wrong, title):
    """A case as folders of files, what was expected, what came, and how to repeat it."""
    merge = typed.Merge(*case.trees, case.policy)
    trees = {**dict(zip(("base", "left", "right"), (tree.written() for tree in case.trees))), "got": got,
             "expected": Tree(merge.tree.neurons, merge.tree.files, dict.fromkeys(merge.tree.neurons, merge.tree.format())).written()}
    for name, files in trees.items():
        for path, text in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if path.startswith("network/") else text[7:])
    (folder / "case.txt").write_text("\n".join([title, "git brain " + " ".join([*case.settings(), "merge-tree BASE LEFT RIGHT"]), *wrong, ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=0, help="no new case after so many; 0: all")
    parser.add_argument("--only", type=int, help="the one of this number")
    parser.add_argument("--shrink", type=float, default=20, help="seconds for making a case that differs smaller; 0: as it is")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the cases that differ")
    parser.add_argument("--verbose", action="store_true", help="the questions that cases were left open for")
    arguments = parser.parse_args()
    with lab.scratch("differ") as root:
        return compare(World(root), arguments)


def compare(world, arguments):
    """All cases, one after the other; the exit code."""
    seed, began, failures = lab.seed_of(arguments), time.monotonic(), []
    numbers = [arguments.only] if arguments.only is not None else range(arguments.cases)
    figures, questions = collections.Counter(compared=0, merges=0, runs=0, undecided=0), collections.Counter()
    late = lambda: arguments.seconds and time.monotonic() - began > arguments.seconds
    for first in range(0, len(numbers), 200):
        if late():
            break
        world.renew()
        for number in numbers[first:first + 200]:
            if late():
                break
            title = f"seed {seed} --only {number}"
            try:
                case = Case(lab.dice(seed, number))
                wrong, got = judged(world, case)
            except typed.Open as question:
                questions[str(question)] += 1
                continue
            except lab.Fault as fault:
                wrong, got = [str(fault)], {}
            figures.update(compared=1, merges=2, runs=len({run for tree in case.trees for run in tree.records()}))
            figures["undecided"] += bool(typed.Merge(*case.trees, case.policy).conflicts)
            if not wrong:
                continue
            failures.append(f"{title}: " + "\n  ".join(wrong))
            print(failures[-1], file=sys.stderr, flush=True)
            if arguments.shrink and len(failures) <= 8 and got:
                case = smaller(world, case, arguments.shrink)
                wrong, got = judged(world, case)
            if arguments.keep:
                keep(arguments.keep / f"{seed}-{number}", case, got, wrong, title)
                print(f"  {arguments.keep / f'{seed}-{number}'}: " + "\n  ".join(wrong), file=sys.stderr, flush=True)
    world.close()
    if arguments.verbose:
        print("\n".join(f"{count} left open: {question}" for question, count in questions.most_common()), file=sys.stderr)
    if not figures["compared"]:
        failures.append("no case was compared")
    return lab.report("18 differ", {"seed": seed, **figures, "left open": sum(questions.values())}, failures)


if __name__ == "__main__":
    sys.exit(main())
