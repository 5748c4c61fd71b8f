#!/usr/bin/env python3
"""The conversation page in a headless Chromium, over a real `git brain serve` whose models are scripted. FOLDER gets the screenshots.

Each section is a person who does something; each check says what has to be so. A check that fails does not end the run.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import threading
import traceback
import urllib.request

from brain import MODEL, STEP, Brain
from endpoint import DOWN, Endpoint, calls, says
from network import Network
from webdriver import ENTER, ESCAPE, SHIFT, SPACE, TAB, Browser

LOOK = (pathlib.Path(__file__).parent / "look.js").read_text()
READABLE = 4.5
PHONE = (360, 740)
# A text that would do something anywhere where text is taken for markup, a link or an order to the terminal.
EVIL = ("<img src=x onerror=\"window.ran=1\"><script>window.ran=2</script><svg onload=window.ran=3> [x](javascript:window.ran=4) "
        "javascript:window.ran=5 <a href='javascript:window.ran=6'>link</a> {{ 7*7 }} \u202eevil\u202c \u2066in\u2069 end")
# Of the last one this driver is the cause: it reads the points of the picture.
KNOWN = ("Failed to load resource", "net::ERR_", "willReadFrequently")


class Run(Network):
    def __init__(self, folder, home):
        self.folder, self.home, self.failures, self.count, self.endpoint = folder, home, [], 0, Endpoint()
        settings = "\n[chain]\nroots = [\"FILES\"]\n"
        settings += "".join(MODEL.format(name=name, asked=name, url=self.endpoint.url) for name in ("small", "large", "coder"))
        steps = (("OL1", "small", "research", 4), ("M1", "large", "analysis", 3), ("M2", "coder", "review", 2))
        settings += "".join(STEP.format(node=n, model=json.dumps(m), role=r, turns=t) for n, m, r, t in steps)
        self.brain = Brain(home / "one", settings)
        self.brain.feed("Ann moved to Oslo in May, because of the sea.")
        self.address = self.brain.serve()
        self.browser = Browser(folder)

    def check(self, true, what):
        self.count += 1
        if not true:
            self.failures.append(what)
        print(f"{'ok' if true else 'FAILED'}  {what}", flush=True)

    def equal(self, is_, should, what):
        self.check(is_ == should, what if is_ == should else f"{what}: {is_!r} is not {should!r}")

    def look(self, name):
        return self.browser.js(f"return ({LOOK}).{name}()")

    def section(self, act):
        print(f"\n{act.__doc__}", flush=True)
        try:
            act()
        except Exception:
            self.count += 1
            self.failures.append(act.__doc__)
            traceback.print_exc()
            self.browser.shot(self.folder / f"failed-{act.__name__}.png")
            print(self.browser.js("return document.body.innerText"))

    # What a person does.

    def open(self, address=None):
        """A page as a person who opens it for the first time sees it."""
        browser = self.browser
        browser.open("about:blank")
        browser.open(address or self.address)
        browser.js("const token = sessionStorage.getItem('git-brain-token'); sessionStorage.clear(); sessionStorage.setItem('git-brain-token', token)")
        browser.reload()
        browser.one("#message")
        browser.until(lambda: browser.js("return document.activeElement.id") == "message", "the page to be ready")

    def ask(self, text, mode="reflexive"):
        self.browser.js("document.querySelector('#mode').value = arguments[0]", mode)
        self.browser.click("#message")
        self.browser.type(text)
        self.browser.keys(ENTER)

    def until(self, css, count=1):
        self.browser.until(lambda: len(self.browser.all(css)) >= count, f"{count} of {css}")

    def until_over(self):
        """Until the answer is there and remembered."""
        self.browser.until(lambda: not self.browser.is_shown("#stop"), "the answer to be over")

    def badges(self):
        return self.browser.js("return [...document.querySelectorAll('.message:last-child .badge')].map((b) => b.textContent)")

    def last(self, css):
        return self.browser.js("return [...document.querySelectorAll('.message:last-child ' + arguments[0])].map((e) => e.innerText).join('\\n')", css)

    def focus(self):
        return self.browser.js("const e = document.activeElement; return e.id || e.innerText || e.tagName")

    def lines(self, kind):
        """The lines of the difference that a card shows."""
        return self.browser.js("return [...document.querySelectorAll('#waiting .' + arguments[0])].map((e) => e.textContent)", kind)

    def decide(self, button):
        self.browser.until(lambda: self.browser.js("return !document.querySelector('#waiting button').disabled"), "the buttons to be free")
        self.browser.click(f"#waiting {button}")

    def api(self, path, body=None):
        base, token = self.address.split("/#token=")
        data = json.dumps(body).encode() if body is not None else None
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "accept": "text/event-stream" if body and "message" in body else "application/json"}
        return urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=60)

    # Sections.

    def opens(self):
        """the page opens, takes its token out of sight, and everything on it has a name"""
        browser = self.browser
        self.open()
        self.check("token" not in browser.url() and browser.url().endswith("/"), "the address bar holds no token")
        self.equal(browser.js("return sessionStorage.getItem('git-brain-token')"), self.address.split("#token=")[1], "the token is kept for this tab")
        self.check("token" not in browser.js("return document.body.textContent.replace(/token/i, '') && location.href"), "nor does the page's location")
        self.equal(browser.js("return localStorage.length + document.cookie.length"), 0, "nothing is kept beyond the tab")
        self.equal(browser.js("return ['header', 'main', 'aside', 'h1', '[role=log][aria-live=polite]', '[role=status]'].filter((s) => !document.querySelector(s))"), [], "landmarks and live regions are there")
        self.equal(browser.js("return document.documentElement.lang"), "en", "the language is said")
        self.equal(self.look("nameless"), [], "every control has a name")
        self.equal(self.focus(), "message", "the focus is in the message")
        self.equal(browser.is_shown("#entry"), False, "nobody asks for a token")
        browser.shot(self.folder / "light-empty.png")

    def streams(self):
        """a message is sent, its text streams as thinking, and the answer comes with who gave it"""
        browser, gate = self.browser, threading.Event()
        self.open()
        self.endpoint.script(
            small=[calls("recall", query="Ann Oslo"), says("I found that Ann moved to Oslo. This is a long enough thought to be cut in two.", gate)],
            large=[DOWN], coder=[says("Ann moved to Oslo in May [1].\n\nNobody says when she comes back [9].")])
        browser.js("window.said = []; new MutationObserver(() => window.said.push(document.querySelector('#status').textContent)).observe(document.querySelector('#status'), {childList: true})")
        self.ask("When did Ann move to Oslo?")
        browser.until(lambda: "I found that Ann" in browser.text(".thinking"), "text while the model still speaks")
        self.check("cut in two" not in browser.text(".thinking"), "the half that was not said yet is not shown")
        self.check("not yet the answer" in browser.text(".thinking"), "thinking says that it is not the answer")
        self.equal(len(browser.all(".reply")), 0, "there is no answer yet")
        self.equal(self.badges(), ["OL1 ▸ thinking"], "the badge says who thinks")
        self.check("OL1 is thinking" in browser.text("#status"), "so does the status")
        self.check(browser.is_shown("#stop"), "it can be stopped")
        self.equal(browser.js("return document.querySelector('.chain').getAttribute('aria-live')"), "off", "thinking is not read out")
        browser.shot(self.folder / "light-thinking.png")
        gate.set()
        self.until(".reply")
        self.until_over()
        self.equal(browser.text(".reply"), "Ann moved to Oslo in May [1].\n\nNobody says when she comes back [9].", "the answer stands, line by line")
        self.equal(browser.is_shown(".thinking"), False, "thinking is folded away")
        said = browser.js("return window.said")
        self.check("Remembering …" in said and said[-1] == "", f"the status says when it remembers, and nothing in the end: {said}")
        self.equal(self.badges(), ["OL1 ▸ 2 turns", "M1 ▸ offline", "M2 ▸ 1 turn · answered"], "the badges say who ran, who was not there and who answered")
        self.check("M1" in browser.js("return document.querySelector('.notes').textContent"), "the notes say it as well")
        self.equal(browser.js("return document.querySelector('.notes').open"), False, "and are folded")
        self.equal(len(browser.all(".reply a")), 1, "only what is listed becomes a link")
        self.check(browser.text("#conversation").startswith("c-"), "the conversation has a name")
        browser.shot(self.folder / "light-folded.png")

    def unfolds(self):
        """a badge is unfolded: model, tools, results, time, tokens, cost, why it stopped"""
        browser = self.browser
        badge = ".badge"
        self.equal(browser.js("const b = document.querySelector('.badge'); return [b.tagName, b.getAttribute('aria-expanded'), document.getElementById(b.getAttribute('aria-controls')).checkVisibility()]"), ["BUTTON", "false", False], "a badge is a button, and folded")
        browser.click(badge)
        self.equal(browser.js("return document.querySelector('.badge').getAttribute('aria-expanded')"), "true", "unfolded, it says so")
        shown = browser.js("return [...document.querySelectorAll('.step')].find((s) => s.checkVisibility()).innerText")
        facts = browser.js("return Object.fromEntries([...document.querySelector('.step dl').children].reduce((all, e) => (e.tagName === 'DT' ? all.push([e.textContent]) : all.at(-1).push(e.textContent), all), []))")
        self.equal((facts["Model"], facts["Turns"], facts["Tokens"], facts["Cost"]), ("small", "2", "200 in, 40 out", "0.0012"), "model, turns, tokens and cost")
        self.check(facts["Took"].endswith(" s") or facts["Took"].endswith(" ms"), "the time that it took")
        self.equal(facts.get("Ended"), "it was ready", "why it stopped")
        self.check("recall" in shown and '"query": "Ann Oslo"' in shown, "the tool and its arguments")
        self.check("It gave" in shown and "Ann moved to Oslo in May, because of the sea." in shown, "the tool's result")
        self.check("cut in two" in shown, "what it said")
        browser.shot(self.folder / "light-unfolded.png")
        browser.click(".badges .badge:nth-child(2)")
        self.check("503" in browser.text(".step:nth-child(2)") or "no model here" in browser.text(".step:nth-child(2)"), "why a step was skipped")
        browser.click(".badges .badge:nth-child(2)")
        browser.click(badge)
        self.equal([browser.is_shown(".step"), browser.js("return document.querySelector('.badge').getAttribute('aria-expanded')")], [False, "false"], "it folds again")

    def cites(self):
        """a citation leads to its neuron, that to others and to commits; back goes back"""
        browser = self.browser
        title = lambda: browser.text("#panel-title")
        browser.click(".citation")
        browser.until(lambda: title() == "Ann moved to Oslo in May, because of the sea.", "the neuron")
        panel = browser.text("#panel-body")
        self.check("episodic" in panel and "Origin" in panel and "local" in panel and "Salience" in panel, "type, salience and origin")
        self.check("#neuron=" in browser.url() and "&at=" in browser.url(), "the address can be copied")
        self.equal(self.focus(), "panel-title", "the focus is in the panel")
        copied = browser.url()
        browser.shot(self.folder / "light-panel.png")
        browser.click("#panel .entries a[href^='#neuron']")
        browser.until(lambda: "episodic" not in browser.text("#panel-body") and browser.is_shown("#panel dl"), "a connected neuron")
        self.check(browser.url() != copied, "a connection leads to another neuron")
        browser.back()
        browser.until(lambda: title().startswith("Ann moved"), "the first neuron again")
        self.check(True, "back goes back to the neuron")
        browser.click("#panel .entries a[href^='#commit']")
        browser.until(lambda: "#commit=" in browser.url() and "Author" in browser.text("#panel-body"), "a commit")
        panel = browser.text("#panel-body")
        self.check(all(word in panel for word in ("Commit", "When", "Changes", "Message")), "author, time, changes and message of the commit")
        self.check(len(browser.all("#panel-body .lines li")) > 0, "what it changed is listed")
        browser.shot(self.folder / "light-commit.png")
        browser.back()
        browser.back()
        browser.until(lambda: not browser.is_shown("#panel"), "the panel to be gone")
        self.check(True, "back closes the panel in the end")
        browser.click(".citation")
        self.until("#panel dl")
        browser.keys(ESCAPE)
        self.equal([browser.is_shown("#panel"), "#" in browser.url(), self.browser.js("return document.activeElement.className")], [False, False, "citation"], "Escape closes it, and the focus is where it was")
        browser.open("about:blank")
        browser.open(copied)
        browser.until(lambda: title().startswith("Ann moved"), "the neuron of a copied address")
        self.check(True, "a copied address opens the neuron")
        browser.open(copied.split("#")[0] + "#neuron=nobody")
        browser.reload()
        browser.until(lambda: browser.is_shown("#panel .problem"), "the missing neuron to be told")
        self.check(True, "a neuron that is not there is told")
        browser.click("#panel-close")

    def confirms(self):
        """calls that change something wait for a person, who allows one and refuses others"""
        browser = self.browser
        self.open()
        content = "# Ann\n\nMoved to Oslo.\n"
        self.endpoint.script(small=[calls("write_file", path="ann.md", content=content), says("It is written down.")])
        self.ask("Write a file about Ann.", "simple")
        self.until("#waiting .confirm")
        self.check(browser.js("return document.querySelectorAll('#waiting button:disabled').length") in (0, 2), "both buttons wait alike")
        card = browser.text("#waiting .confirm")
        self.check("OL1 asks to write a file" in card and "ann.md" in card and "Moved to Oslo." in card, "the card says who wants what")
        self.equal(self.lines("added"), ["+ # Ann", "+ ", "+ Moved to Oslo."], "the file's lines are shown as added")
        self.check(self.focus().startswith("confirm-"), "the focus is on the card's title")
        self.check("s" in browser.text("#waiting .countdown") and any(c.isdigit() for c in browser.text("#waiting .countdown")), "seconds are counted")
        browser.until(lambda: browser.js("return !document.querySelector('#waiting button').disabled"), "the buttons")
        browser.keys(ENTER)
        browser.keys(SPACE)
        self.equal([(self.brain.files / "ann.md").exists(), len(browser.all("#waiting .confirm"))], [False, 1], "Enter and Space where the focus lands decide nothing")
        browser.shot(self.folder / "light-confirm.png")
        self.decide(".allow")
        self.until_over()
        self.equal((self.brain.files / "ann.md").read_text(), content, "what was allowed was done")
        self.check("Allowed" in self.last(".confirm.over"), "and stands in the answer")
        self.equal(len(browser.all("#waiting .confirm")), 0, "nothing waits any more")

        self.endpoint.script(small=[calls("write_file", path="no.md", content="x"), says("Then not.")])
        self.ask("Write another one.", "simple")
        self.until("#waiting .confirm")
        self.decide("button:not(.allow)")
        self.until_over()
        self.equal((self.brain.files / "no.md").exists(), False, "what was refused was not done")
        self.equal(self.last(".confirm.over .result"), "Refused: write_file", "and stands as refused")

        self.endpoint.script(small=[calls("edit_file", path="ann.md", find="Moved to Oslo.", replace="Moved to Oslo\nin May."), says("Changed.")])
        self.ask("Change it.", "simple")
        self.until("#waiting .confirm")
        self.equal([self.lines("removed"), self.lines("added")], [["− Moved to Oslo."], ["+ Moved to Oslo", "+ in May."]], "a change is shown as a difference")
        browser.shot(self.folder / "light-confirm-edit.png")
        # By keyboard alone: from the title to Refuse, to Allow, and Space.
        browser.until(lambda: browser.js("return !document.querySelector('#waiting button').disabled"), "the buttons")
        browser.keys(TAB)
        first = self.focus()
        browser.keys(TAB)
        self.equal([first, self.focus()], ["Refuse", "Allow"], "the tab key reaches Refuse before Allow")
        browser.keys(SPACE)
        self.until_over()
        self.equal((self.brain.files / "ann.md").read_text(), "# Ann\n\nMoved to Oslo\nin May.\n", "allowed by keyboard")

        argv = ["touch", "made here", "--no-create", "\u202etxt.exe"]
        self.endpoint.script(small=[calls("exec", argv=argv), says("Not run.")])
        self.ask("Run it.", "simple")
        self.until("#waiting .confirm")
        self.equal(browser.js("return [...document.querySelectorAll('#waiting .argv li')].map((e) => e.textContent)"), [*argv[:3], "⟨U+202E⟩txt.exe"], "each argument of a program stands by itself, and what turns text around is shown")
        self.decide("button:not(.allow)")
        self.until_over()

    def waits_elsewhere(self):
        """what waits for a decision since before the page was loaded is shown"""
        browser = self.browser
        self.open()
        self.endpoint.script(small=[calls("write_file", path="later.md", content="later\n"), says("Written later.")])
        events = self.api("/chat", {"message": "Write a file for later.", "mode": "simple"})
        while b"needs_confirm" not in events.readline():
            pass
        browser.reload()
        self.until("#waiting .confirm")
        self.check("later.md" in browser.text("#waiting"), "the call is shown with its arguments")
        self.decide(".allow")
        said = events.read().decode()
        self.check('"allowed":true' in said and "answered" in said, "whoever asked hears the decision")
        self.equal((self.brain.files / "later.md").read_text(), "later\n", "and it was done")
        browser.until(lambda: browser.is_shown("#log .confirm.over"), "the result")

        self.endpoint.script(small=[calls("write_file", path="own.md", content="own\n"), says("Nobody hears this.")])
        self.ask("Write a file, and I reload.", "simple")
        self.until("#waiting .confirm")
        browser.reload()
        self.until("#waiting .confirm")
        self.decide(".allow")
        browser.until(lambda: "Allowed" in browser.text("#log .confirm.over"), "the decision")
        browser.until((self.brain.files / "own.md").exists, "the file")
        self.check(True, "a call of the page's own that waits is there after a reload, and what is allowed is done")

    def agrees(self):
        """a question of a deliberation is a card until it is answered"""
        browser = self.browser
        folder = self.brain.path / ".git/git-brain/handoffs"
        folder.mkdir(parents=True, exist_ok=True)
        about = {"proposal": {"mechanism": {"name": "tea brings <b>Oslo</b> \u202e"}}}
        question = {"id": "h-7", "role": "aligner", "goal": "recall", "tree": "tea-1", "about": about, "schema": {}}
        (folder / "h-7.json").write_text(json.dumps(question))
        self.open()
        self.until("#waiting .handoff")
        card = browser.text("#waiting .handoff")
        self.check("recall" in card and "tea brings <b>Oslo</b>" in card and "U+202E" in card, "it says what it is about, as text")
        browser.js("const one = document.querySelector('#waiting .handoff select'); one.value = '3'; one.dispatchEvent(new Event('change'))")
        browser.click("#waiting .handoff input")
        browser.type("it does what it says")
        browser.shot(self.folder / "light-handoff.png")
        browser.click("#waiting .handoff button")
        browser.until(lambda: not browser.all("#waiting .handoff"), "the answer")
        answer = json.loads((folder / "h-7.answer.json").read_text())
        self.equal(answer, {"score": 3, "reason": "it does what it says"}, "the answer is where the deliberation looks")
        question.update(id="h-8", role="diverger", about={"proposals": []}, schema={"type": "object"})
        for name in ("h-7.json", "h-7.answer.json"):
            (folder / name).unlink()
        (folder / "h-8.json").write_text(json.dumps(question))
        self.until("#waiting .handoff textarea")
        browser.js("document.querySelector('#waiting .handoff textarea').value = '{'")
        browser.click("#waiting .handoff button")
        browser.until(lambda: browser.text("#waiting .handoff .problem"), "the fault")
        self.check(not (folder / "h-8.answer.json").exists(), "what is no document goes nowhere")
        (folder / "h-8.json").unlink()
        browser.until(lambda: not browser.all("#waiting .handoff"), "the card to go")
        self.check(True, "a question that nobody waits for any more goes")

    def councils(self):
        """a council that leaves its question to a person is a card until somebody says a word"""
        browser = self.browser
        self.brain.run("council", "Shall we paint the <b>hall</b>?", ends=1)
        self.open()
        self.until("#waiting .council")
        card = browser.text("#waiting .council")
        self.check("<b>hall</b>" in card and "copies of one mind" in card, "it says what it is about and why a person decides, as text")
        browser.click("#waiting .council input")
        browser.type("the colour has gone")
        browser.shot(self.folder / "light-council.png")
        browser.until(lambda: browser.js("return !document.querySelector('#waiting .council .approve').disabled"), "the buttons")
        browser.click("#waiting .council .approve")
        browser.until(lambda: not browser.all("#waiting .council"), "the card to go")
        listed = self.brain.run("council", "--list")
        self.check("approved" in listed, "the word is kept")

    def reloads(self):
        """a reload keeps the conversation, and a new one begins empty"""
        browser = self.browser
        self.open()
        self.endpoint.script(small=[says("You said hello.")] * 2)
        self.ask("Hello there,\nbrain.".replace("\n", " "), "simple")
        self.until(".reply")
        self.until_over()
        name = browser.text("#conversation")
        browser.reload()
        self.until(".reply")
        self.equal([browser.text(".person"), browser.text(".reply"), browser.text("#conversation")], ["Hello there, brain.", "You said hello.", name], "what was said is there, under its name")
        self.endpoint.script(small=[calls("recall", query="Ann Oslo"), says("Ann moved [1].")])
        self.ask("Again.", "simple")
        self.until(".reply", 2)
        self.until_over()
        self.equal(browser.text("#conversation"), name, "the conversation goes on")
        browser.reload()
        self.until(".reply", 2)
        self.equal([len(browser.all(".reply a")), len(browser.all(".message"))], [1, 4], "what it cites still leads there after a reload")
        browser.click("#fresh")
        self.equal([len(browser.all(".message")), browser.text("#conversation"), self.focus()], [0, "new", "message"], "a new one begins empty")
        self.endpoint.script(small=[says("constructor")])
        self.ask("Something else.", "simple")
        self.until(".reply")
        self.until_over()
        self.check(browser.text("#conversation") not in (name, "new"), "and has a name of its own")
        browser.js("sessionStorage.removeItem('git-brain-citations')")
        browser.reload()
        self.until(".reply")
        self.equal(browser.text(".reply"), "constructor", "an answer that is a word of the language is an answer like others")

    def types(self):
        """Enter sends, Shift+Enter makes a line, and Enter of an input method does not send"""
        browser = self.browser
        self.open()
        self.endpoint.script(small=[says("Two lines.")])
        browser.js("document.querySelector('#mode').value = 'simple'")
        browser.click("#message")
        browser.type("one")
        browser.keys((SHIFT, ENTER))
        browser.type("two")
        self.equal([browser.js("return document.querySelector('#message').value"), len(browser.all(".person"))], ["one\ntwo", 0], "Shift+Enter makes a line")
        for how in ("isComposing: true", "keyCode: 229"):
            browser.js("document.querySelector('#message').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true, " + how + "}))")
        self.equal(len(browser.all(".person")), 0, "Enter while a text is composed does not send")
        browser.keys(ENTER)
        self.until(".reply")
        self.until_over()
        self.equal(browser.js("return document.querySelector('.person p').innerText"), "one\ntwo", "Enter sends, and lines are kept")
        browser.keys(ENTER)
        self.equal(len(browser.all(".person")), 1, "an empty message is not sent")

    def crowded(self):
        """too many ask at once: that is told, and another try is possible"""
        browser, gate = self.browser, threading.Event()
        self.open()
        self.endpoint.script(small=[says("One of many.", gate)] * 8 + [says("At last.")])
        asked = [self.api("/chat", {"message": f"Number {number}?", "mode": "simple"}) for number in range(8)]
        self.ask("And I?", "simple")
        self.until(".failure")
        self.check("Hint:" in browser.text(".failure") and len(browser.all(".reply")) == 0, "it says that others are first")
        gate.set()
        self.equal(sum(b"event: answered" in answer.read() for answer in asked), 8, "the others are answered")
        browser.until(lambda: not browser.is_shown("#stop"), "the end")
        browser.click(".failure button")
        self.until(".reply")
        self.until_over()
        self.equal(browser.text(".reply"), "At last.", "then this one is")

    def chooses(self):
        """how many steps answer is chosen, kept for the tab, and said"""
        browser = self.browser
        self.open()
        choose = "const m = document.querySelector('#mode'); m.value = arguments[0]; m.dispatchEvent(new Event('change'))"
        for mode, scripts, badges in (("auto", {"small": ["a"]}, 1), ("simple", {"small": ["b"]}, 1), ("reflexive", {"small": ["c"], "large": ["d"], "coder": ["e"]}, 3)):
            self.endpoint.script(**{model: [says(text) for text in texts] for model, texts in scripts.items()})
            browser.js(choose, mode)
            before = len(browser.all(".reply"))
            browser.click("#message")
            browser.type("Hi")
            browser.keys(ENTER)
            self.until(".reply", before + 1)
            self.until_over()
            self.equal(len(self.badges()), badges, f"{mode}: so many steps answer")
        self.check(self.last(".why").startswith("All steps: it was asked for"), "why so many is said")
        browser.reload()
        browser.one("#message")
        self.equal(browser.js("return document.querySelector('#mode').value"), "reflexive", "the choice is kept")

    def fails(self):
        """nobody answers: the error, its hint, and another try"""
        browser = self.browser
        self.open()
        self.endpoint.script()
        self.ask("Xyzzy plugh qwfp?", "reflexive")
        self.until(".failure")
        self.until_over()
        self.check("no model answered" in browser.text(".failure"), "the error is told")
        self.equal(len(browser.all(".reply")), 0, "and nothing stands in for an answer")
        self.equal(browser.js("return document.querySelector('.failure').getAttribute('role')"), "alert", "it is read out")
        self.equal(self.badges()[:3], ["OL1 ▸ offline", "M1 ▸ offline", "M2 ▸ offline"], "badges say that nobody was there")
        browser.shot(self.folder / "light-failure.png")
        self.endpoint.script(small=[says("Now I am here.")], large=[says("Now I am here.")], coder=[says("Now I am here.")])
        browser.click(".failure button")
        self.until(".reply")
        self.until_over()
        self.equal([browser.text(".reply"), len(browser.all(".failure")), len(browser.all(".person"))], ["Now I am here.", 0, 1], "another try answers")

    def without_models(self):
        """where no model answers, memory does, and the badges say so"""
        self.open()
        self.endpoint.script()
        self.ask("When did Ann move to Oslo?", "reflexive")
        self.until(".reply")
        self.until_over()
        badges = self.badges()
        self.equal(badges[3:], ["recall ▸ no model", "compose ▸ no model", "check ▸ no model · answered"], "steps of memory say that no model answered")
        self.equal(badges[:3], ["OL1 ▸ offline", "M1 ▸ offline", "M2 ▸ offline"], "no model is said to have answered")
        self.browser.click(".badge:nth-child(4)")
        self.check("none: words of memory" in self.browser.text(".step:nth-child(4)") and "Cost" not in self.browser.text(".step:nth-child(4)"), "unfolded they say so too")

    def stops(self):
        """an answer under way is stopped"""
        browser, gate = self.browser, threading.Event()
        self.open()
        self.endpoint.script(small=[says("This would be long. It goes on and on for a while yet.", gate)])
        self.ask("Tell me a lot.", "simple")
        browser.until(lambda: "This would" in browser.text(".thinking"), "the beginning")
        browser.click("#stop")
        self.until(".failure")
        gate.set()
        self.check("You stopped it" in browser.text(".failure"), "it says who stopped it")
        self.equal([browser.is_shown("#stop"), browser.js("return document.querySelector('#send').disabled"), browser.is_shown(".thinking")], [False, False, False], "another message can be sent")
        self.equal(self.badges(), ["OL1 ▸ not ended"], "the badge says that it did not end")
        self.check(browser.js("return document.querySelector('.badge').getBoundingClientRect().width < 250"), "and is no wider than that")

    def refuses(self):
        """a wrong token: the page asks for the right one and goes on"""
        browser = self.browser
        self.open()
        browser.js("sessionStorage.setItem('git-brain-token', 'wrong')")
        self.endpoint.script(small=[says("With the right token.")])
        self.ask("May I?", "simple")
        browser.until(lambda: browser.is_shown("#entry"), "the form for a token")
        self.equal([self.focus(), browser.js("return document.activeElement.type")], ["token", "password"], "the focus is in it, and what is typed is not shown")
        browser.shot(self.folder / "light-token.png")
        browser.type(self.address.split("#token=")[1])
        browser.keys(ENTER)
        self.until(".reply")
        self.until_over()
        self.equal([browser.text(".reply"), browser.is_shown("#entry"), len(browser.all(".failure"))], ["With the right token.", False, 0], "the message is sent again with the right one")
        self.check("token" not in browser.url(), "the address stays without it")
        # Nothing at all: as whoever opens a copied link in another tab.
        browser.js("sessionStorage.clear()")
        browser.reload()
        browser.until(lambda: browser.is_shown("#entry"), "the form for a token at once")
        browser.js("location.hash = arguments[0]", self.address.split("#")[1])
        browser.until(lambda: not browser.is_shown("#entry"), "the token of a pasted address to be taken")
        self.check("token" not in browser.url(), "a pasted address is taken, and out of sight again")

    def by_keyboard(self):
        """everything by keyboard alone, from the top of the page"""
        browser = self.browser
        self.open()
        self.endpoint.script(small=[calls("recall", query="Ann Oslo"), says("Ann moved to Oslo in May [1].")])
        browser.js("document.querySelector('#mode').value = 'simple'")
        browser.type("When did Ann move?")
        browser.keys(ENTER)
        self.until(".reply")
        self.until_over()
        browser.js("document.querySelector('.skip').focus()")
        reached, rings = [self.focus()], []
        for _ in range(16):
            browser.keys(TAB)
            reached.append(self.focus())
            rings.append(browser.js("const e = document.activeElement; const of = (x) => getComputedStyle(x).outlineStyle; return of(e) !== 'none' || of(e.closest('form') ?? e) !== 'none'"))
            if reached[-1] == "send":
                break
        self.equal([name for name in ("Skip to the message", "fresh", "log", "message", "mode", "send") if name not in reached], [], "the tab key reaches all controls")
        self.check(any(name.startswith("OL1") for name in reached) and "1" in reached, "badges and citations too")
        self.check(all(rings), "the focus is always seen")
        browser.keys((SHIFT, TAB))
        browser.js("document.querySelector('.badge').focus()")
        browser.keys(ENTER)
        self.equal(browser.js("return document.activeElement.getAttribute('aria-expanded')"), "true", "Enter unfolds a badge, which keeps the focus")
        browser.js("document.querySelector('.citation').focus()")
        browser.keys(ENTER)
        browser.until(lambda: browser.text("#panel-title").startswith("Ann moved"), "the neuron")
        browser.keys(TAB)
        self.equal(self.focus(), "panel-close", "the tab key goes on in the panel")
        browser.keys(ENTER)
        self.equal(self.browser.js("return document.activeElement.className"), "citation", "closed, the focus is back on the citation")

    def frames(self):
        """events are read whatever pieces they come in"""
        self.open()
        script = """
            const [done, text, size] = [arguments[2], arguments[0], arguments[1]];
            import('/assets/api.js').then(async ({ chat }) => {
              const bytes = new TextEncoder().encode(text), heard = [], real = window.fetch;
              const body = new ReadableStream({ start(c) { for (let at = 0; at < bytes.length; at += size) c.enqueue(bytes.slice(at, at + size)); c.close(); } });
              window.fetch = async () => new Response(body);
              try { await chat({}, (event) => heard.push(event)); } finally { window.fetch = real; }
              done(heard);
            }).catch((error) => done(String(error)));"""
        events = [{"event": "text", "text": "né 日本 🧠\n"}, {"event": "remembered", "notes": []}]
        first, second = (json.dumps(event, ensure_ascii=False) for event in events)
        middle = first.index(",") + 1
        for name, end in (("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")):
            stream = f": alive{end}{end}event: text{end}data: {first[:middle]}{end}data:{first[middle:]}{end}{end}:{end}id: 1{end}event: remembered{end}data: {second}{end}{end}event: text{end}data: {first}{end}"
            # An end of a line by CR alone is known once something follows.
            stream += ":" if end == "\r" else ""
            heard = [self.browser.call("POST", "/execute/async", {"script": script, "args": [stream, size]}) for size in (1, 2, 3, 7, 10000)]
            self.equal(heard, [events] * 5, f"lines that end with {name}, in pieces of 1, 2, 3, 7 bytes and whole")

    def phone(self):
        """at the width of a phone nothing is cut off, folded or not"""
        browser = self.browser
        self.open()
        browser.size(*PHONE, mobile=True)
        long = "Averylongwordwithoutanyplacetobreak" * 8
        self.endpoint.script(small=[calls("recall", query=f"Ann Oslo {long}"), says(f"Ann moved to Oslo in May [1]. {long}")])
        self.ask(f"When did Ann move? {long}", "simple")
        self.until(".reply")
        self.until_over()
        self.equal(self.look("overflow"), {"beyond": 0, "what": []}, "folded")
        browser.shot(self.folder / "phone-folded.png")
        browser.click(".badge")
        self.equal(self.look("overflow"), {"beyond": 0, "what": []}, "unfolded")
        browser.shot(self.folder / "phone-unfolded.png")
        browser.js("document.querySelector('.citation').scrollIntoView({block: 'center'})")
        browser.click(".citation")
        self.until("#panel dl")
        self.equal(self.look("overflow"), {"beyond": 0, "what": []}, "the panel")
        self.check(browser.js("return document.getElementById('page').inert"), "what it covers cannot be reached")
        browser.shot(self.folder / "phone-panel.png")
        browser.click("#panel-close")
        self.check(not browser.js("return document.getElementById('page').inert"), "and can be again once it is closed")
        self.endpoint.script(small=[calls("write_file", path="a.md", content=f"{long}\n" * 30), says("No.")])
        self.ask("Write it.", "simple")
        self.until("#waiting .confirm")
        self.equal(self.look("overflow"), {"beyond": 0, "what": []}, "a confirmation")
        self.equal(browser.js("const b = document.querySelector('#waiting').getBoundingClientRect(); return b.bottom <= innerHeight && b.height < innerHeight * 0.6"), True, "which leaves the rest of the page in sight")
        browser.js("document.querySelector('#waiting .allow').scrollIntoView()")
        browser.shot(self.folder / "phone-confirm.png")
        self.decide("button:not(.allow)")
        self.until_over()
        small = browser.js("return [...document.querySelectorAll('button')].filter((b) => b.checkVisibility() && b.getBoundingClientRect().height < 24).map((b) => b.outerHTML)")
        self.equal(small, [], "no button is too small for a finger")
        browser.cdp("Emulation.clearDeviceMetricsOverride")

    def colours(self):
        """text can be read in light and dark, in every state of the page"""
        browser = self.browser
        self.open()
        browser.click("#fresh")
        self.measure("empty")
        self.endpoint.script(small=[calls("recall", query="Ann Oslo"), calls("read_file", path="nowhere.txt"), says("Ann moved [1].")], coder=[says("Ann moved to Oslo in May [1].")])
        self.ask("When did Ann move to Oslo?", "reflexive")
        self.until(".reply")
        self.until_over()
        for number in (1, 2, 3):
            browser.click(f".badge:nth-child({number})")
        browser.click(".notes summary")
        browser.click(".citation")
        self.until("#panel dl")
        self.measure("unfolded")
        browser.scheme("dark")
        browser.js("document.querySelector('#log').scrollTop = 0")
        browser.shot(self.folder / "dark-unfolded.png")
        browser.click("#panel-close")
        for number in (1, 2, 3):
            browser.click(f".badge:nth-child({number})")
        browser.shot(self.folder / "dark-folded.png")
        (self.brain.files / "colours.md").write_text("Moved to Oslo.\n")
        self.endpoint.script(small=[calls("edit_file", path="colours.md", find="Moved to Oslo", replace="Moved to Bergen"), says("No.")])
        self.ask("Change it.", "simple")
        self.until("#waiting .confirm")
        browser.until(lambda: browser.js("return !document.querySelector('#waiting button').disabled"), "the buttons")
        browser.shot(self.folder / "dark-confirm.png")
        self.measure("confirmation")
        self.decide("button:not(.allow)")
        self.until_over()
        self.endpoint.script()
        self.ask("Xyzzy plugh qwfp?", "reflexive")
        self.until(".failure")
        self.until_over()
        browser.js("document.querySelector('#entry').hidden = false")
        self.measure("failure")

    def measure(self, state):
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            least = self.look("contrast")
            self.check(least["ratio"] >= READABLE, f"{state}, {scheme}: least contrast of {least['texts']} texts {least['ratio']:.2f} ({least['where']})")
        dark = self.browser.js("return getComputedStyle(document.body).backgroundColor")
        self.browser.scheme("light")
        self.check(dark != self.browser.js("return getComputedStyle(document.body).backgroundColor"), f"{state}: dark is another ground")

    def rests(self):
        """whoever wants no motion sees none"""
        browser, gate = self.browser, threading.Event()
        self.open()
        self.endpoint.script(small=[says("This is a thought. It takes its time, and some more of it.", gate)])
        self.ask("Think.", "simple")
        browser.until(lambda: "This is" in browser.text(".thinking"), "the beginning")
        moves = "return document.getAnimations().length"
        self.check(browser.js(moves) > 0, "a badge moves while its step thinks")
        browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        self.equal(browser.js(moves), 0, "and does not for who wants none")
        browser.cdp("Emulation.setEmulatedMedia", features=[])
        gate.set()
        self.until_over()

    def hostile(self):
        """memories, tools, models and their names that are written to be obeyed: nothing runs"""
        browser = self.browser
        node, model = "<img src=x onerror='window.ran=7'>", "<b onclick=x>\u202emodel"
        settings = "\n[chain]\nroots = [\"FILES\"]\n" + MODEL.format(name=json.dumps(model), asked="evil", url=self.endpoint.url)
        settings += STEP.format(node=node, model=json.dumps(model), role="research", turns=4)
        brain = Brain(self.home / "two", settings)
        brain.feed(f"Mallory keeps a secret {EVIL}")
        (brain.files / "evil.txt").write_text(EVIL)
        address = brain.serve()
        try:
            self.open(address)
            path = "<img onerror=window.ran=8>\u202e.txt"
            self.endpoint.script(evil=[calls("recall", query="Mallory secret"), calls("read_file", path="evil.txt"),
                                       calls("write_file", path=path, content=EVIL), says(f"Mallory keeps a secret [1] {EVIL} [8] [javascript:x]")])
            self.ask(f"What does Mallory keep? {EVIL[:60]}", "simple")
            self.until("#waiting .confirm")
            self.check("⟨U+202E⟩" in browser.text("#waiting"), "what turns text around is shown as what it is")
            self.equal(self.look("foreign"), [], "a confirmation makes no element of it")
            browser.shot(self.folder / "light-hostile-confirm.png")
            self.decide("button:not(.allow)")
            self.until(".reply")
            self.until_over()
            browser.click(".badge")
            browser.click(".notes summary") if browser.all(".notes summary") else None
            self.check("<img src=x onerror=" in browser.text(".reply") and "<script>" in browser.text(".reply"), "the answer shows what was written")
            self.check("<img src=x onerror=" in browser.text(".step") and "<img src=x" in browser.text(".badge"), "so do the step and its badge")
            self.equal(len(browser.all(".reply a")), 1, "only the citation is a link")
            browser.shot(self.folder / "light-hostile.png")
            browser.click(".citation")
            self.until("#panel dl")
            self.check("<svg onload" in browser.text("#panel-title"), "the neuron's text is text")
            self.equal(self.look("foreign"), [], "no element, listener, style or link was made")
            self.equal(self.look("unseen"), [], "no character turns text around or hides")
            browser.click("#panel .entries a[href^='#commit']")
            browser.until(lambda: "Author" in browser.text("#panel-body"), "the commit")
            self.equal(self.look("foreign"), [], "nor by the commit")
            browser.open(address.split("#")[0] + "#neuron=" + urllib.request.quote("<img src=x onerror=window.ran=9>"))
            browser.until(lambda: browser.is_shown("#panel .problem"), "the missing neuron")
            browser.open(address.split("#")[0] + "#commit=" + urllib.request.quote("../../chat"))
            browser.until(lambda: browser.is_shown("#panel .problem"), "the missing commit")
            self.equal(self.look("foreign"), [], "nor by an address")
            browser.click("#panel-close")
            # Perceiving what was said goes on behind the answer.
            asked = ("const x = new XMLHttpRequest(); x.open('GET', '/conversations/' + sessionStorage.getItem('git-brain-conversation'), false); "
                     "x.setRequestHeader('Authorization', 'Bearer ' + sessionStorage.getItem('git-brain-token')); x.send(); return x.responseText.includes('keeps a secret [1]')")
            browser.until(lambda: browser.js(asked), "the answer to be remembered")
            browser.reload()
            self.until(".reply")
            self.equal([self.look("foreign"), self.look("unseen")], [[], []], "nor by what is shown again after a reload")
            self.equal(browser.js("return window.ran ?? null"), None, "nothing ran")
        finally:
            brain.stop()

    def guarded(self):
        """the page's own policy keeps scripts out, should a text ever become one"""
        browser = self.browser
        self.open()
        browser.console()
        browser.js("const d = document.createElement('div'); d.innerHTML = '<img src=x onerror=\"window.ran=1\">'; document.body.append(d); const s = document.createElement('script'); s.textContent = 'window.ran=2'; document.body.append(s);")
        browser.until(lambda: any("Content Security Policy" in entry["message"] for entry in browser.console()), "the policy to be told of")
        self.equal(browser.js("return window.ran ?? null"), None, "an inline script and a listener in an attribute do not run")

    def loses(self):
        """the brain goes away, in the middle of an answer and before one"""
        browser, gate = self.browser, threading.Event()
        self.open()
        # A stream that ends as if all were well, but says nothing of how.
        begins = json.dumps({"event": "begins", "conversation": "c-1", "mode": "simple", "why": "so"})
        browser.js("window.real = window.fetch; window.fetch = async () => new Response(arguments[0])", f"event: begins\ndata: {begins}\n\n")
        self.ask("Are you there?", "simple")
        self.until(".failure")
        self.check("connection to the brain was lost" in browser.text(".failure"), "an answer that ends without its last event is told")
        browser.js("window.fetch = window.real")
        self.open()
        self.endpoint.script(small=[says("This answer begins. It will never be whole, as nobody is there.", gate)])
        self.ask("Are you there?", "simple")
        browser.until(lambda: "This answer" in browser.text(".thinking"), "the beginning")
        self.brain.stop()
        self.until(".failure")
        gate.set()
        self.check("connection to the brain was lost" in browser.text(".failure"), "a lost connection is told")
        browser.shot(self.folder / "light-lost.png")
        browser.click(".failure button")
        browser.until(lambda: "cannot be reached" in browser.text(".failure"), "the second try to fail")
        self.check("git brain serve" in browser.text(".failure"), "a brain that is not there is told, with what to do")

    def console(self):
        """the console has nothing to say but what was provoked"""
        said = [entry["message"] for entry in self.browser.console()]
        self.equal([m for m in said if "favicon" in m or not any(word in m for word in KNOWN)], [], "no error, no broken policy")


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:]
    home = pathlib.Path(tempfile.mkdtemp(prefix="git-brain-page-"))
    run = None
    try:
        run = Run(folder, home)
        acts = [run.opens, run.streams, run.unfolds, run.cites, run.confirms, run.waits_elsewhere, run.agrees, run.councils, run.reloads, run.types, run.chooses, run.crowded, run.fails,
                run.without_models, run.stops, run.refuses, run.by_keyboard, run.network, run.ledger, run.looks_back, run.network_by_keyboard, run.barriers, run.large, run.reloads_leak_nothing, run.frames, run.phone, run.colours, run.rests, run.hostile, run.console,
                run.guarded, run.loses]
        for act in acts:
            if not wanted or act.__name__ in wanted:
                run.section(act)
    finally:
        if run:
            run.browser.quit()
            run.brain.stop()
        shutil.rmtree(home)
    print(f"\n{run.count - len(run.failures)} of {run.count} checks hold")
    for failure in run.failures:
        print(f"FAILED  {failure}")
    sys.exit(1 if run.failures else 0)


if __name__ == "__main__":
    main()
