#!/usr/bin/env python3
"""Which folders should neurons lie in? By git alone: brains of so many files, 100 commits that each change some, packed as `git gc` packs.

    python3 benches/lean/fanout.py [NEURONS,…]      (1000,10000,100000,1000000; a million takes some minutes and 2 GB in /dev/shm)

Prints Markdown: what a commit adds to a packed repository, by layout. `256 / 16` is the product's: two letters of a hash, then one.
"""
import hashlib, os, random, shutil, subprocess, sys, tempfile

LAYOUTS = {
    "256 / 16": lambda h: f"{h[:2]}/{h[2]}",
    "256": lambda h: h[:2],
    "4096": lambda h: h[:3],
    "16 / 256": lambda h: f"{h[0]}/{h[1:3]}",
    "256 / 256": lambda h: f"{h[:2]}/{h[2:4]}",
}
COMMITS = 100


def hashed(text):
    return hashlib.sha1(text.encode()).hexdigest()


def git(repo, *args, **more):
    return subprocess.run(["git", "-C", repo, *args], check=True, capture_output=True, text=True, **more).stdout


def make(repo, count, fold, touched):
    """A repository with one commit of all files, and `COMMITS` that change some."""
    draw = random.Random(5)
    names = [f"concept-{i}-{hashed(str(i))[:8]}" for i in range(count)]
    paths = [f"neurons/{fold(hashed(name))}/{name}.json" for name in names]
    subprocess.run(["git", "init", "-q", "--bare", repo], check=True)
    feed = subprocess.Popen(["git", "-C", repo, "fast-import", "--quiet"], stdin=subprocess.PIPE)
    for number in range(COMMITS + 1):
        feed.stdin.write(f"commit refs/heads/wake\ncommitter x <x@y> {1700000000 + number} +0000\ndata 1\nx\n".encode())
        for i in draw.sample(range(count), touched) if number else range(count):
            text = f'{{"id": "{names[i]}", "salience": {draw.randrange(65536)}, "run": "{hashed(f"{i} {number}")[:12]}"}}\n'.encode()
            feed.stdin.write(f"M 100644 inline {paths[i]}\ndata {len(text)}\n".encode() + text + b"\n")
    feed.stdin.close()
    assert feed.wait() == 0


def packed(repo, tip):
    """Bytes of the pack and its index, objects, trees, bytes of trees as they are: of all that a commit reaches."""
    objects = git(repo, "rev-list", "--objects", tip)
    base = os.path.join(repo, "measured")
    pack = git(repo, "pack-objects", "-q", "--delta-base-offset", base, input=objects).strip()
    bytes = sum(os.path.getsize(f"{base}-{pack}.{kind}") for kind in ("pack", "idx"))
    for kind in ("pack", "idx", "rev"):
        if os.path.exists(f"{base}-{pack}.{kind}"):
            os.unlink(f"{base}-{pack}.{kind}")
    ids = "".join(line.split()[0] + "\n" for line in objects.splitlines())
    kinds = git(repo, "cat-file", "--batch-check=%(objecttype) %(objectsize)", input=ids).splitlines()
    trees = [int(line.split()[1]) for line in kinds if line.startswith("tree")]
    return bytes, len(kinds), len(trees), sum(trees)


def main():
    counts = [int(n) for n in (sys.argv[1] if len(sys.argv) > 1 else "1000,10000,100000,1000000").split(",")]
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    print("| neurons | changed by a commit | folders | added by a commit, bytes | objects | of them trees | trees as they are written, bytes |")
    print("|---:|---:|---|---:|---:|---:|---:|")
    for count in counts:
        for touched in [10] if count > 100_000 else [10, min(2000, count // 2)]:
            for name, fold in LAYOUTS.items():
                folder = tempfile.mkdtemp(prefix="git-brain-bench-", dir=where)
                try:
                    make(os.path.join(folder, "r"), count, fold, touched)
                    repo = os.path.join(folder, "r")
                    after, before = packed(repo, "wake"), packed(repo, f"wake~{COMMITS}")
                finally:
                    shutil.rmtree(folder)
                added = [(a - b) / COMMITS for a, b in zip(after, before)]
                print(f"| {count} | {touched} | {name} | {added[0]:.0f} | {added[1]:.1f} | {added[2]:.1f} | {added[3]:.0f} |", flush=True)


main()
