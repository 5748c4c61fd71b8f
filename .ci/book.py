"""Holds a built book against its sources: every page, every command, every link.

    python3 .ci/book.py FOLDER
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
book = pathlib.Path(sys.argv[1])


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.anchors.add(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


pages = {path: Page(path.read_text(encoding="utf-8")) for path in book.rglob("*.html")}
faults, links = [], 0
for path, page in pages.items():
    if path.name in ("print.html", "404.html", "toc.html"):
        continue
    for link in page.links:
        target = urllib.parse.urlsplit(link)
        if target.scheme or link.startswith("//"):
            continue
        place = (path.parent / urllib.parse.unquote(target.path)).resolve() if target.path else path.resolve()
        links += 1
        if not place.exists():
            faults.append(f"{path}: {link} leads nowhere")
        elif target.fragment and place.suffix == ".html":
            there = next((p for p in pages if p.resolve() == place), None)
            if there and urllib.parse.unquote(target.fragment) not in pages[there].anchors:
                faults.append(f"{path}: {link}: no such heading")
summary = (ROOT / "docs/SUMMARY.md").read_text()
for source in re.findall(r"\]\(([^)]+)\.md\)", summary):
    if not (book / f"{source}.html").exists():
        faults.append(f"{source}.md is not in the book")
commands = list((book / "commands").glob("*.html"))
if len(commands) < 40:
    faults.append(f"only {len(commands)} pages of commands")
if faults:
    sys.exit("\n".join(faults[:40]) + f"\n{len(faults)} faults of the book")
print(f"{'book':<14} {len(pages)} pages, {len(commands)} of commands; {links} links lead somewhere")
