"""Draws the example of docs/review.md: a terminal as SVG, and a request as a forge shows it. See .ci/pictures."""

import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from webdriver import Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("GIT_BRAIN") or str(ROOT / "target/debug/git-brain")
SCRIBE = {
    "name": "scribe",
    "role": "Proposes what the team may have learnt.",
    "trigger": {"any": [{"signal": "scribe-work"}]},
    "cognition": {"kind": "command", "argv": ["/usr/bin/true"], "timeout_ms": 10000},
    "capabilities": {
        "operations": ["create", "connect", "reword", "archive"],
        "types": ["semantic", "episodic"],
        "max_weight_delta": 60000,
        "max_operations": 50,
    },
    "priority": 2,
}
# Styles of a terminal, and the classes that they are drawn with.
STYLES = {"1": "b", "2": "f", "31": "r", "32": "g"}
WIDTH, LINE = 1040, 18
PAGE = """<!doctype html><meta charset="utf-8"><style>
body{margin:16px;width:828px;font:14px/1.5 "DejaVu Sans",sans-serif;color:#1f2328;background:#fff}
h1{margin:0 0 8px;font-size:22px;font-weight:400;line-height:1.3}h1 span,.base{color:#59636e}
.base{margin:0 0 14px}.base b{display:inline-block;margin-right:8px;padding:3px 12px;border-radius:14px;background:#1a7f37;color:#fff}
code{padding:2px 5px;border-radius:5px;background:#ddf4ff;color:#0969da;font:12px "DejaVu Sans Mono",monospace}
.box{border:1px solid #d1d9e0;border-radius:6px}.head{padding:8px 16px;border-bottom:1px solid #d1d9e0;border-radius:6px 6px 0 0;background:#f6f8fa;color:#59636e}
.body{padding:14px 16px}.body>:first-child{margin-top:0}.body>:last-child{margin-bottom:0}p{margin:0 0 10px}h3{margin:0 0 10px;font-size:17.5px}ul{margin:0 0 10px;padding-left:28px}
li p{margin:0}ul ul{margin:0}sub{font-size:10.5px;color:#59636e}del{color:#b3261e}ins{color:#1a7f37}
</style><h1>%s <span>#1</span></h1><p class="base"><b>Open</b> <strong>brain-bot</strong> wants to merge 1 commit into <code>wake</code> from
<code>%s</code></p><div class="box"><div class="head"><strong>brain-bot</strong> commented</div><div class="body">%s</div></div>"""


class Team:
    """A brain with an agent that proposes; each command is a second later than the one before."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder, "team")
        self.seconds = 0
        (home := pathlib.Path(folder, "home")).mkdir()
        who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER")
               for field, value in (("NAME", "Anna"), ("EMAIL", "anna@example.org"))}
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LANG": "C.UTF-8", "TZ": "UTC",
            "COLUMNS": "128", "BRAIN_SEED": "review", **who,
        }
        self.brain("init", "--no-hooks", str(self.folder), beside=folder)
        (self.folder / "agents/scribe.json").write_text(json.dumps(SCRIBE))
        self.run("git", "add", "agents")
        self.run("git", "commit", "-q", "-m", "scribe proposes")
        self.brain("trust", "--yes")

    def run(self, *words, beside=None, stdin="", colours=False):
        """What a command prints, both streams as a terminal shows them."""
        self.seconds += 1
        now = f"2026-11-26T09:12:{self.seconds:02}Z"
        told = {"BRAIN_NOW": now, "GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now} | ({"CLICOLOR_FORCE": "1"} if colours else {})
        ended = subprocess.run(words, cwd=beside or self.folder, env=self.environment | told, input=stdin, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ended.returncode:
            sys.exit(f"{' '.join(words)}: {ended.stdout}")
        return ended.stdout

    def brain(self, *words, **more):
        return self.run(PROGRAM, *words, **more)

    def memory(self, question):
        return json.loads(self.brain("recall", question, "--json"))["results"][0]["id"]


def proposal(team):
    """The run that scribe proposes: its id."""
    for text in ("Ben likes coffee.", "Deploys happen on Friday.", "Anna reviews each deploy."):
        team.brain("feed", text)
    coffee, deploys = team.memory("Who likes coffee?"), team.memory("When do deploys happen?")
    document = {
        "prediction": {"text": "the team confirms it", "value": 0.7},
        "ops": [
            {"op": "reword", "id": deploys, "concept": "Deploys happen on Monday morning."},
            {"op": "create", "id": "two-reviewers", "concept": "Monday deploys need two reviewers", "type": "semantic"},
            {"op": "connect", "from": "two-reviewers", "to": deploys, "type": "feeds_into", "weight": 30000},
            {"op": "archive", "id": coffee, "reason": "not ours to keep"},
        ],
    }
    said = team.brain("apply", "--agent", "scribe", "--no-merge", "-", stdin=json.dumps(document))
    return re.search(r"\d{8}t\d{9}z-\w+-scribe", said)[0]


def spans(line):
    """A line of a terminal as pieces of SVG."""
    style, drawn = "", []
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if piece.startswith("\x1b"):
            style = " ".join(STYLES[code] for code in piece[2:-1].split(";") if code != "0")
        elif piece:
            drawn.append(f'<tspan class="{style}">{html.escape(piece)}</tspan>')
    return "".join(drawn)


def terminal(command, text):
    """A terminal in which a command was typed."""
    lines = [f"\x1b[2m$ \x1b[0m\x1b[1m{command}\x1b[0m", *text.rstrip("\n").split("\n")]
    height = 34 + LINE * (len(lines) - 1) + 24
    rows = "\n".join(f'<text x="16" y="{34 + LINE * row}" xml:space="preserve">{spans(line)}</text>' for row, line in enumerate(lines))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" \
aria-label="{html.escape(command)} in a terminal">
<style>text{{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d6dbe1}}.b{{font-weight:700;fill:#fff}}\
.f{{fill:#8b949e}}.g{{fill:#56d364}}.r{{fill:#ff7b72}}</style>
<rect width="{WIDTH}" height="{height}" rx="8" fill="#0d1117"/>
{rows}
</svg>
"""


def request(markdown, branch, folder, picture):
    """A picture of a request: title and text are the program's, which takes the text's heading as the title; the rest is a forge's frame."""
    body = subprocess.run(["cmark-gfm", "--unsafe"], input=markdown, text=True, capture_output=True, check=True).stdout
    title = re.search(r"<h3>(.*?)</h3>", body)[1]
    page = pathlib.Path(folder, "request.html")
    page.write_text(PAGE % (title, html.escape(branch), body))
    browser = Browser(folder)
    try:
        browser.open(page.as_uri())
        height = browser.js("return Math.ceil(document.querySelector('.box').getBoundingClientRect().bottom) + 16")
        browser.cdp("Emulation.setDeviceMetricsOverride", width=860, height=height, deviceScaleFactor=1, mobile=False)
        browser.shot(picture)
    finally:
        browser.quit()


with tempfile.TemporaryDirectory() as folder:
    team = Team(folder)
    run = proposal(team)
    command = f"git brain review {run}"
    (ROOT / "docs/review.svg").write_text(terminal(command, team.brain("review", run, colours=True)))
    request(team.brain("review", run, "--format", "markdown"), f"agents/scribe/{run}", folder, ROOT / "docs/request.png")
    approve = ["approve", run, "--only", "1-3", "--why", "coffee stays"]
    said = team.brain(*approve).rstrip("\n")
    example = f'```text\n$ git brain approve {run} --only 1-3 --why "coffee stays"\n{said}\n```'
    page = ROOT / "docs/review.md"
    text, times = re.subn(r"```text\n\$ git brain approve .*?\n```", lambda _: example, page.read_text(), count=1, flags=re.S)
    if not times:
        sys.exit("docs/review.md has no example of approve")
    page.write_text(text)
    print(example)
