"""A preprocessor of mdBook: a page for each command, as the program says its help, and the pages beside docs/.

mdBook gives it the book as JSON on standard input, and takes what it prints. See book.toml.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Pages of the repository that the book has at its end.
BESIDE = ["SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"]


def program():
    """The program whose help is told."""
    if os.environ.get("GIT_BRAIN"):
        return os.environ["GIT_BRAIN"]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / profile / "git-brain" for profile in ("debug", "release", "dist")) if path.exists()]
    newest = max(built, key=lambda path: path.stat().st_mtime, default=None)
    found = str(newest) if newest else shutil.which("git-brain")
    if not found:
        sys.exit("book: there is no git-brain: build it, or name it by GIT_BRAIN")
    return found


def help_of(words):
    """The long help of a command, as `git brain help` prints it."""
    told = subprocess.run([program(), "help", *words], capture_output=True, text=True, env={**os.environ, "COLUMNS": "90"})
    if told.returncode:
        sys.exit(f"book: git brain help {' '.join(words)}: {told.stderr}")
    return told.stdout.rstrip()


def commands(text):
    """The commands that a help lists."""
    return [name for name in re.findall(r"^  ([a-z][a-z-]*)  +\S", text, re.M) if name != "help"]


def chapter(name, content, path, parents, number=None):
    """A chapter as mdBook wants it."""
    inner = {"name": name, "content": content, "number": number, "sub_items": [], "path": path, "source_path": None,
             "parent_names": parents}
    return {"Chapter": inner}


def page(name):
    """The page of a command, with the commands below it."""
    text = help_of([name])
    parts = [f"# git brain {name}", "", "```text", text, "```"]
    below = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    for sub in commands(below.group(1)) if below else []:
        parts += ["", f"## git brain {name} {sub}", "", "```text", help_of([name, sub]), "```"]
    return "\n".join(parts) + "\n"


def walk(items):
    """All chapters."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from walk(item["Chapter"]["sub_items"])


def mended(content, path):
    """Links that lead out of docs/: pages of the book where they are some, else the file's name alone."""
    up = "../" * path.count("/")

    def link(match):
        text, target = match.group(1), match.group(2)
        if not target.startswith(up + "../"):
            return match.group(0)
        target = target.removeprefix(up + "../")
        file, _, heading = target.partition("#")
        if file in BESIDE:
            return f"[{text}]({up}{file}{'#' + heading if heading else ''})"
        return f"{text} (`{file}`)"

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, content)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "supports":
        return
    _, book = json.load(sys.stdin)
    # mdBook 0.4 says `sections`.
    items = book["items"] if "items" in book else book["sections"]
    for found in walk(items):
        found["content"] = mended(found["content"], found["path"] or "")
        if found["path"] == "commands.md":
            names = commands(help_of([]))
            parents = [*found["parent_names"], found["name"]]
            found["sub_items"] += [chapter(name, page(name), f"commands/{name}.md", parents) for name in names]
    items += [{"PartTitle": "The project"}]
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        title = text.split("\n", 1)[0].lstrip("# ")
        # Their links are relative to the repository.
        text = re.sub(r"\]\(docs/", "](", text)
        items.append(chapter(title, text, name, []))
    json.dump(book, sys.stdout)


main()
