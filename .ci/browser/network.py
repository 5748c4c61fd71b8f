"""Sections about the view of the network: it opens on what matters, lights up, is decided at, and is reached by keyboard alone."""

import json
import os
import pathlib
import subprocess
import threading
import time

from brain import PROGRAM, Brain
from webdriver import ENTER, ESCAPE, TAB

AXE = pathlib.Path(os.environ.get("AXE", "target/axe/node_modules/axe-core/axe.min.js"))
LARGE = 6000
RELOADS = int(os.environ.get("RELOADS", "200"))
PHONE = (360, 740)

# Which share of the picture's points is not its ground, and how many are of the colour that lights up.
POINTS = """
  const c = document.querySelector('#picture'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  const named = (name) => { const e = document.createElement('i'); e.hidden = true; document.body.append(e); e.style.color = getComputedStyle(document.body).getPropertyValue(name);
    const rgb = getComputedStyle(e).color.match(/\\d+/g).map(Number); e.remove(); return rgb; };
  const [ground, lit] = [named('--ground'), named('--lit')];
  let [drawn, lights] = [0, 0];
  for (let i = 0; i < d.length; i += 4) {
    const far = (to) => Math.abs(d[i] - to[0]) + Math.abs(d[i + 1] - to[1]) + Math.abs(d[i + 2] - to[2]);
    if (far(ground) > 40) drawn += 1;
    if (far(lit) < 60) lights += 1;
  }
  return { share: drawn / (d.length / 4), lights };
"""

# Milliseconds between frames while the picture is zoomed and moved, by the browser's own clock.
FRAMES = """
  const done = arguments[arguments.length - 1], canvas = document.querySelector('#picture'), times = [];
  let last = performance.now(), left = 90;
  const step = (now) => {
    times.push(now - last);
    last = now;
    if (!(left -= 1)) return done(times.slice(10).sort((a, b) => a - b));
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: left % 30 < 15 ? 60 : -60, offsetX: 300, offsetY: 200, cancelable: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
"""


# Names that are drawn in one frame of the picture, and those of them that stand over a dot or over each other.
LABELS = """
  const done = arguments[arguments.length - 1], pen = CanvasRenderingContext2D.prototype, { arc, rect, strokeText, fillRect } = pen;
  const [dots, names] = [[], []];
  // The ground is the beginning of a frame.
  pen.fillRect = function (...area) { dots.length = names.length = 0; return fillRect.apply(this, area); };
  pen.arc = function (x, y, r, ...rest) { dots.push([x - r, y - r, x + r, y + r]); return arc.call(this, x, y, r, ...rest); };
  pen.rect = function (x, y, w, h) { dots.push([x, y, x + w, y + h]); return rect.call(this, x, y, w, h); };
  pen.strokeText = function (text, x, y) { names.push([x, y - 7, x + this.measureText(text).width, y + 7]); return strokeText.call(this, text, x, y); };
  document.querySelector('#zoom-fit').click();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    Object.assign(pen, { arc, rect, strokeText, fillRect });
    const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const bad = names.filter((name, i) => dots.some((dot) => meets(name, dot)) || names.some((other, k) => k < i && meets(name, other)));
    done({ dots: dots.length, names: names.length, bad: bad.length });
  }));
"""


class Network:
    """Mixed into the run of the page's sections."""

    def to_network(self):
        self.browser.click("#to-network")
        self.browser.until(lambda: "neurons" in self.browser.text("#picture-caption"), "the network")

    def points(self):
        return self.browser.js(POINTS)

    def axe(self, state):
        """Nothing that axe-core knows to be a barrier."""
        browser = self.browser
        browser.js(AXE.read_text() + "; window.axe = axe;")
        found = browser.js_later("const done = arguments[arguments.length - 1]; axe.run(document, { resultTypes: ['violations'] }).then((r) => done(r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', '))))")
        self.equal(found, [], f"axe-core finds nothing: {state}")

    def network(self):
        """the network: a feed lights it up, a run waits, is read and approved, and wake moves"""
        browser, brain = self.browser, self.brain
        self.open()
        self.to_network()
        self.check("showing" in browser.text("#picture-caption") or "all" in browser.text("#picture-caption"), "it says how many neurons are shown of how many")
        browser.until(lambda: self.points()["share"] > 0.005, "something to be drawn")
        self.equal([browser.is_shown("#talk"), browser.is_shown("#composer")], [False, False], "the conversation is put away")
        newest = browser.text("#runs li:first-child")
        self.check(len(browser.all("#runs li")) > 1, "the runs are listed")
        browser.shot(self.folder / "light-network.png")
        fed = threading.Thread(target=brain.feed, args=("Claire keeps bees in the garden of Oslo.",))
        fed.start()
        browser.until(lambda: "changed" in browser.text("#network-status"), "the feed to be told")
        browser.until(lambda: self.points()["lights"] > 20, "neurons to light up")
        browser.shot(self.folder / "light-network-lit.png")
        fed.join()
        browser.until(lambda: browser.text("#runs li:first-child") != newest, "the runs of the feed to be listed")
        browser.until(lambda: self.points()["lights"] == 0, "the light to go out")
        wake = brain.done("git", "rev-parse", "brain/wake" if brain.done("git", "branch", "--list", "brain/wake").strip() else "wake").strip()
        delta = {"ops": [{"op": "create", "id": "honey-x", "concept": "Honey of July <b>bold</b>", "type": "semantic"}]}
        brain.done(PROGRAM, "apply", "--no-merge", "-", given=json.dumps(delta))
        browser.until(lambda: "(1)" in browser.text("#reviews-title"), "the run that waits")
        browser.click("#reviews a")
        browser.until(lambda: "Honey of July" in browser.text("#panel-body"), "its belief diff")
        self.check("<b>bold</b>" in browser.text("#panel-body") and not browser.all("#panel b"), "its words are text")
        browser.click("#review-why")
        browser.type("it was good")
        browser.until(lambda: self.browser.js("return !document.querySelector('#panel .approve').disabled"), "the buttons to be free")
        browser.shot(self.folder / "light-network-review.png")
        browser.click("#panel .approve")
        browser.until(lambda: "Approved" in browser.text("#panel-title"), "the approval")
        tip = brain.done("git", "rev-parse", "wake").strip()
        self.check(tip != wake, "wake has moved")
        self.check("it was good" in brain.run("review", "--decided"), "the decision has the reason")
        browser.until(lambda: "(0)" in browser.text("#reviews-title"), "the queue to be empty")
        browser.click("#panel-close")

    def ledger(self):
        """the ledger beside the story, the lines of runs, and what is spent"""
        browser, brain = self.browser, self.brain
        delta = {"prediction": {"text": "<b>rain</b>", "value": 0.75}, "ops": []}
        judged = json.loads(brain.done(PROGRAM, "--json", "apply", "-", given=json.dumps(delta)))["run"]
        brain.done(PROGRAM, "outcome", judged, "--value", "0.25")
        self.open()
        self.to_network()
        browser.until(lambda: browser.all("#runs svg"), "the runs with their lines")
        lines = browser.js("return [...document.querySelectorAll('#runs li')].map((li) => [...li.querySelectorAll('svg[aria-hidden=true] path')].map((path) => path.getAttribute('class')))")
        self.check(all("lane-wake dot" in row for row in lines), "every entry stands on wake's line")
        self.check(any("lane-run dot" in row for row in lines) and int(browser.js("return document.querySelector('#runs').dataset.lanes")) >= 1, "runs have lines of their own")
        self.check(" of " in browser.text("#budgets") and len(browser.all("#budgets li")) == len(browser.all("#budgets meter")), "each bound of the budget has its text and its bar")
        self.check(not browser.is_shown("#ledger-body table"), "the ledger is folded")
        browser.js("document.querySelector('#ledger summary').focus()")
        browser.keys(ENTER)
        self.until("#ledger-body tbody tr")
        told = browser.text("#ledger-body")
        self.check("0.75" in told and "0.25" in told and "−0.50" in told and "<b>rain</b>" in told, "what was expected, what came, and their difference, as text")
        self.check("the next sleep tells it" in told or "Told by" in told, "the story stands below")
        self.equal(self.look("foreign"), [], "no element, listener, style or link was made")
        self.axe("ledger and story")
        least = self.look("contrast")
        self.check(least["ratio"] >= 4.5, f"ledger and story: least contrast {least['ratio']:.2f} ({least['where']})")
        browser.js("document.querySelector('#ledger').scrollIntoView()")
        browser.shot(self.folder / "light-network-ledger.png")
        browser.scheme("dark")
        self.axe("ledger and story, dark")
        browser.shot(self.folder / "dark-network-ledger.png")
        browser.scheme("light")
        brain.done(PROGRAM, "sleep")
        browser.until(lambda: "Told by" in browser.text("#ledger-body"), "the chapter that the sleep told")
        browser.until(lambda: browser.all("#runs .step-sleep .lane-main"), "the sleep on main's line")
        browser.until(lambda: browser.click("#ledger-body tbody a") or True, "the link to be pressed")
        browser.until(lambda: browser.is_shown("#panel") and "Reading" not in browser.text("#panel-body"), "the run that was judged")
        self.check(browser.url().endswith(f"#review={judged}"), "the link leads to the run")
        browser.shot(self.folder / "light-network-judged.png")
        browser.click("#panel-close")

    def looks_back(self):
        """history by the slider, colours, the table, a search and a neuron with its blame"""
        browser = self.browser
        self.open()
        self.to_network()
        now = browser.text("#picture-caption")
        browser.js("const s = document.querySelector('#moment'); s.value = 1; s.dispatchEvent(new Event('input'))")
        browser.until(lambda: browser.text("#picture-caption") != now, "the network of then")
        self.check(browser.text("#moment-name") != "now", "the moment is named")
        browser.js("const s = document.querySelector('#moment'); s.value = s.max; s.dispatchEvent(new Event('input'))")
        browser.until(lambda: browser.text("#picture-caption") == now, "now again")
        for colours in ("salience", "origin", "group", "step", "slept", "type"):
            browser.js("const s = document.querySelector('#colours'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", colours)
            browser.until(lambda: browser.js("return document.querySelector('#network').getAttribute('aria-busy') === 'false' && document.querySelectorAll('#legend li').length > 0"), f"colours by {colours}")
        browser.js("const s = document.querySelector('#moment'); s.value = 1; s.dispatchEvent(new Event('input'))")
        browser.js("document.querySelector('#compare').focus()")
        browser.keys(ENTER)
        self.equal([browser.js("return document.querySelector('#compare').getAttribute('aria-pressed')"), browser.js("return document.querySelector('#colours').value")], ["true", "between"], "the moment of the slider is kept")
        self.check(browser.text("#compared").startswith("compared with "), "it is named")
        browser.js("const s = document.querySelector('#moment'); s.focus(); s.value = s.max - 1; s.dispatchEvent(new Event('input'))")
        browser.keys("\ue014")
        browser.until(lambda: "Changes since" in browser.text("#picture-caption"), "what changed between both")
        self.check("new" in browser.text("#legend"), "the legend explains the colours")
        browser.shot(self.folder / "light-network-compared.png")
        browser.click("#compare")
        browser.until(lambda: "Changes since" not in browser.text("#picture-caption"), "the network by itself")
        self.check(not browser.is_shown("#compared"), "nothing is compared")
        names = browser.js_later(LABELS)
        self.check(names["names"] > 5 and names["bad"] == 0, f"no name stands over a dot or another name: {names}")
        browser.click("#search-words")
        browser.type("Oslo")
        browser.keys(ENTER)
        self.until("#found a")
        browser.click("#found .around")
        browser.until(lambda: "neighbourhood" in browser.text("#picture-caption"), "the neighbourhood")
        browser.click("#whole")
        browser.until(lambda: "most salient" in browser.text("#picture-caption"), "the whole network")
        browser.click("#as-table")
        self.until("#network-rows tr", 5)
        self.equal(browser.js("return document.querySelectorAll('#network-rows tr').length"), int(browser.js("return document.querySelector('#picture-caption').textContent.match(/(?:all|showing) ([\\d,]+)/)[1].replace(',', '')")), "the table has the neurons of the picture")
        browser.shot(self.folder / "light-network-table.png")
        browser.click("#network-rows a")
        self.until("#panel .blame")
        browser.click("#panel .blame summary")
        self.until("#panel .blame li", 3)
        self.equal(self.look("foreign"), [], "no element, listener, style or link was made")
        browser.click("#panel-close")
        browser.click("#as-table")

    def network_by_keyboard(self):
        """the network by keyboard alone: search, table, neuron, decision"""
        browser, brain = self.browser, self.brain
        delta = {"ops": [{"op": "create", "id": "wax-x", "concept": "Wax of the bees", "type": "semantic"}]}
        brain.done(PROGRAM, "apply", "--no-merge", "-", given=json.dumps(delta))
        self.open()

        def go(to, most=60):
            for _ in range(most):
                browser.keys(TAB)
                if self.focus() == to or browser.js("return document.activeElement.matches(arguments[0])", to):
                    return True
            return False
        browser.js("document.querySelector('.skip').focus()")
        self.check(go("#to-network"), "the tab key reaches the other view")
        browser.keys(ENTER)
        browser.until(lambda: "neurons" in browser.text("#picture-caption"), "the network")
        self.check(go("#search-words"), "the search")
        browser.type("Ann")
        browser.keys(ENTER)
        self.until("#found a")
        self.check(go("#as-table"), "the table's button")
        browser.keys(ENTER)
        self.until("#network-rows a")
        self.check(go("#network-rows a"), "a neuron of the table")
        browser.keys(ENTER)
        self.until("#panel .blame")
        browser.keys(ESCAPE)
        browser.until(lambda: not browser.is_shown("#panel"), "the panel to close")
        self.check(browser.js("return document.activeElement.matches('#network-rows a')"), "the focus is back in the table")
        browser.js("document.querySelector('#moment').focus()")
        browser.until(lambda: "(1)" in browser.text("#reviews-title"), "the run that waits")
        self.check(go("#reviews a"), "the run that waits")
        browser.keys(ENTER)
        self.until("#panel .approve")
        browser.until(lambda: browser.js("return !document.querySelector('#panel .approve').disabled"), "the buttons to be free")
        self.check(go("#review-why"), "the reason")
        browser.type("by hand")
        self.check(go("#panel .approve"), "the approval")
        browser.keys(ENTER)
        browser.until(lambda: "Approved" in browser.text("#panel-title"), "the approval to be carried out")
        browser.keys(ESCAPE)
        self.check("by hand" in brain.run("review", "--decided"), "it was decided")

    def barriers(self):
        """axe-core on every view, light, dark and narrow"""
        browser, brain = self.browser, self.brain
        delta = {"ops": [{"op": "create", "id": "comb-x", "concept": "A comb of wax", "type": "semantic"}]}
        brain.done(PROGRAM, "apply", "--no-merge", "-", given=json.dumps(delta))
        self.open()
        self.axe("conversation")
        self.to_network()
        browser.until(lambda: "(1)" in browser.text("#reviews-title"), "the run that waits")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            self.axe(f"network, {scheme}")
            browser.shot(self.folder / f"{scheme}-network-waiting.png")
            least = self.look("contrast")
            self.check(least["ratio"] >= 4.5, f"network, {scheme}: least contrast {least['ratio']:.2f} ({least['where']})")
        browser.click("#reviews a")
        self.until("#panel .approve")
        self.axe("a run that waits, dark")
        browser.shot(self.folder / "dark-network-review.png")
        browser.scheme("light")
        self.axe("a run that waits, light")
        browser.click("#panel .reject")
        browser.until(lambda: "Rejected" in browser.text("#panel-title"), "the rejection")
        browser.click("#panel-close")
        browser.click("#as-table")
        self.axe("the table")
        browser.click("#as-table")
        browser.size(*PHONE, mobile=True)
        self.axe("a phone")
        self.equal(self.look("overflow")["beyond"] > 0, False, f"nothing reaches beyond a phone: {self.look('overflow')['what']}")
        browser.shot(self.folder / "phone-network.png")
        browser.scheme("dark")
        browser.shot(self.folder / "phone-network-dark.png")
        browser.scheme("light")
        browser.cdp("Emulation.clearDeviceMetricsOverride")
        self.equal([self.look("nameless"), self.look("ids")], [[], []], "everything has a name, and every name is there")

    def large(self):
        """a network of thousands: it opens on 300, and 5,000 move"""
        browser, at = self.browser, "2026-01-01T00:00:00Z"
        brain = Brain(self.home / "large")
        count, neurons = int(os.environ.get("LARGE", LARGE)), []
        for n in range(count):
            near = {(n * 7 + 1) % count, (n // 3), (n + 1) % count if n % 40 else (n * 13) % count} - {n}
            ties = [{"target": f"n{to:06}", "weight": 9000 + (n * 31 + to) % 50000, "type": "feeds_into"} for to in sorted(near)]
            neurons.append({"id": f"n{n:06}", "concept": f"thing {n}", "type": "semantic", "salience": (n * 7919) % 65535, "created_at": at, "connections": ties})
        file = self.home / "large.json"
        file.write_text(json.dumps({"neurons": neurons, "metadata": {}}))
        brain.run("import", str(file))
        address = brain.serve()
        try:
            self.open(address)
            began = time.monotonic()
            self.to_network()
            browser.until(lambda: self.points()["share"] > 0.005, "something to be drawn")
            opened = time.monotonic() - began
            # Times are printed and not judged: they are the machine's and its other work's.
            print(f"    {count} neurons: opened in {opened:.2f} s")
            self.check("showing 300 of " in browser.text("#picture-caption"), "it opens on 300")
            for many in ("5000", "100000"):
                began = time.monotonic()
                browser.js("const s = document.querySelector('#many'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", many)
                wanted = f"{int(many):,}" if int(many) <= count else "all "
                browser.until(lambda: wanted in browser.text("#picture-caption"), f"{many} neurons")
                took = time.monotonic() - began
                times = browser.js_later(FRAMES)
                median, slow = times[len(times) // 2], times[len(times) * 95 // 100]
                print(f"    {many} neurons: shown in {took:.2f} s; median frame {median:.1f} ms ({1000 / median:.0f} a second), 19 of 20 within {slow:.1f} ms")
                self.check(self.points()["share"] > 0.005, f"{many} neurons are drawn")
                if int(many) > 5000:
                    self.names_of_all()
                browser.shot(self.folder / f"light-network-{many}.png")
        finally:
            brain.stop()

    def names_of_all(self):
        """Beyond the first 5,000 the picture comes without names: the table asks for those of its rows."""
        browser = self.browser
        browser.click("#as-table")
        browser.js("for (let n = 0; n < 26; n += 1) document.querySelector('#network-rows button').click()")
        browser.until(lambda: browser.js("return document.querySelector('#network-rows tr:nth-child(5150) th').textContent").startswith("thing "), "the name of a row beyond 5,000")
        self.equal(browser.js("return document.querySelector('#network-rows tr:nth-child(5150) td:nth-child(4)').textContent"), "import", "and its origin")
        browser.click("#as-table")

    def reloads_leak_nothing(self):
        """reloads and changes of view leave nothing behind, in the page and in the server"""
        browser, process = self.browser, self.brain.server.pid
        self.open()
        self.to_network()

        def held():
            memory = int([line for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")][0].split()[1])
            return len(os.listdir(f"/proc/{process}/fd")), memory // 1024

        def heap():
            browser.cdp("HeapProfiler.collectGarbage")
            metrics = {m["name"]: m["value"] for m in browser.cdp("Performance.getMetrics")["metrics"]}
            return metrics["JSHeapUsedSize"] / 1e6, metrics["Nodes"], metrics["JSEventListeners"]
        browser.cdp("Performance.enable")
        for _ in range(10):
            browser.reload()
            browser.until(lambda: "neurons" in browser.text("#picture-caption"), "the network")
        before, full = held(), heap()
        for _ in range(RELOADS):
            browser.reload()
            browser.until(lambda: "neurons" in browser.text("#picture-caption"), "the network")
        browser.until(lambda: held()[0] <= before[0] + 4, "the connections of pages that are gone to be closed")
        after = held()
        self.check(after[1] <= before[1] + 30, f"{RELOADS} reloads: {before} open files and MB of the server before, {after} after")
        first = heap()
        self.check(first[0] < full[0] + 5, f"{RELOADS} reloads: MB, nodes and listeners of the page {full} before, {first} after")
        for _ in range(RELOADS):
            browser.click("#to-chat")
            browser.click("#to-network")
        browser.until(lambda: "neurons" in browser.text("#picture-caption"), "the network")
        browser.until(lambda: heap()[1] < first[1] * 1.5 + 500, "what was shown to go")
        last = heap()
        self.check(last[0] < first[0] + 5 and last[2] < first[2] + 200, f"{RELOADS} changes of view: MB, nodes and listeners {first} before, {last} after")
