// Owns the view of the network: what is shown of it, at which moment, in which colours; what happens to it meanwhile; and the table
// behind the picture. The drawing itself is another module's.

import { Failure, get, getBytes, listen } from "./api.js";
import { Drawing, NONE, label, read } from "./draw.js";
import { drawn, isSleep, lanes } from "./lanes.js";
import { ledger } from "./ledger.js";
import { el, foreign, plural, seen, stamp } from "./text.js";

const FULL = 65535;
const ROWS = 200;
const SETTLE_MS = 350;
const OTHER_MOMENT = "Choose the other moment in the history.";
const LOST = "The connection to the brain was lost; trying again.";
const KEPT = "git-brain-network";
const short = (commit) => String(commit).slice(0, 10);
const share = (value) => `${Math.round((100 * value) / FULL)} %`;

// Shades of salience from faint to vivid, and colours of groups: by name, so that light and dark have their own.
const SHADES = ["--s0", "--s1", "--s2", "--s3", "--s4"];
const GROUPS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];
const OTHER = "--faint";
const MARKED = { none: "--line", born: "--good", changed: "--warm", gone: "--bad", focus: "--accent" };

export class NetworkView {
  #data = null;
  #entries = [];
  #turn = 0;
  #stream = null;
  #due = 0;
  #isOld = false;
  #moved = new Set();
  // The moment that another one is compared with: its commit, time and name.
  #kept = null;
  // What the fold of the ledger shows.
  #told = "";

  // `onRefused` is called where the token is not right.
  constructor(onRefused) {
    this.onRefused = onRefused;
    const at = (id) => document.getElementById(id);
    [this.element, this.canvas, this.caption, this.legend, this.status] = ["network", "picture", "picture-caption", "legend", "network-status"].map(at);
    [this.colours, this.many, this.slider, this.moment, this.runs, this.reviews, this.facts] = ["colours", "many", "moment", "moment-name", "runs", "reviews", "facts"].map(at);
    [this.compare, this.compared, this.ledger, this.ledgerBody, this.budgets, this.noLines] = ["compare", "compared", "ledger", "ledger-body", "budgets", "no-lines"].map(at);
    [this.table, this.rows, this.toggle, this.found, this.words] = ["network-table", "network-rows", "as-table", "found", "search-words"].map(at);
    this.drawing = new Drawing(this.canvas, (i) => this.#open(this.#data.ids[i]), (places) => this.#try(() => this.#name(places)));
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    // A moment to compare with is not kept, so neither are its colours.
    if (kept.colours && kept.colours !== "between") this.colours.value = kept.colours;
    if (kept.many) this.many.value = kept.many;
    const keep = () => sessionStorage.setItem(KEPT, JSON.stringify({ colours: this.colours.value, many: this.many.value }));
    this.colours.addEventListener("change", () => {
      keep();
      // Two moments are compared as long as their colours are shown.
      if ((this.colours.value === "between") !== Boolean(this.#kept)) this.#keepMoment(!this.#kept);
      if (this.#data?.shows === this.#ends().join()) this.#colour();
      else this.load();
    });
    this.compare.addEventListener("click", () => {
      this.#keepMoment(!this.#kept);
      this.colours.value = this.#kept ? "between" : "type";
      keep();
      this.load();
    });
    this.ledger.addEventListener("toggle", () => this.ledger.open && this.#try(() => this.#readLedger()));
    this.many.addEventListener("change", () => {
      keep();
      this.load(true);
    });
    this.slider.addEventListener("input", () => this.#chooseMoment());
    this.toggle.addEventListener("click", () => this.#asTable(this.table.hidden));
    for (const [id, act] of [["zoom-in", () => this.drawing.zoom(1.4)], ["zoom-out", () => this.drawing.zoom(1 / 1.4)], ["zoom-fit", () => this.drawing.fit()]]) at(id).addEventListener("click", act);
    at("whole").addEventListener("click", () => this.#around(null));
    at("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search(this.words.value);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#colour());
    addEventListener("hashchange", () => this.#follow());
    // What a reviewer decided is seen at once, also where no event tells of it.
    addEventListener("decided", () => this.#lists());
  }

  // Starts to show and to listen.
  open() {
    this.element.hidden = false;
    if (this.#stream) return;
    const stream = new AbortController();
    this.#stream = stream;
    this.#try(async () => {
      await Promise.all([this.#lists(), this.load(true)]);
      // The view may have been closed meanwhile.
      if (!stream.signal.aborted) this.#listen(stream);
    });
  }

  close() {
    this.element.hidden = true;
    this.#stream?.abort();
    this.#stream = null;
  }

  async #try(act) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status === 401) {
        this.close();
        this.onRefused();
      } else {
        this.#say(error.message);
      }
    }
  }

  #say(text) {
    this.status.textContent = text;
  }

  // The commit that is looked at; none: wake's tip, wherever it moves.
  #at() {
    const past = this.#entries.length - 1 - Number(this.slider.value);
    return past > 0 ? this.#entries[past]?.commit ?? null : null;
  }

  // The moment of the slider: its entry, and how many steps it lies behind the newest.
  #here() {
    const past = Math.max(this.#entries.length - 1 - Number(this.slider.value), 0);
    return { past, entry: this.#entries[past] };
  }

  // The commit that is shown and the one that it is compared with: of two moments the later one is shown.
  #ends() {
    const { past, entry } = this.#here();
    if (this.colours.value === "slept") return [this.#at(), "slept"];
    if (this.colours.value === "step") return [this.#at(), this.#entries[past + 1]?.commit ?? null];
    if (this.colours.value !== "between" || !this.#kept || !entry || entry.commit === this.#kept.commit) return [this.#at(), null];
    const kept = this.#entries.findIndex(({ commit }) => commit === this.#kept.commit);
    return kept < 0 || kept > past ? [this.#at(), this.#kept.commit] : [this.#kept.commit, entry.commit];
  }

  // Keeps the moment of the slider to compare others with, or lets it go.
  #keepMoment(keeps) {
    const { past, entry } = this.#here();
    this.#kept = keeps && entry ? { commit: entry.commit, name: `${past ? "" : "now, "}${stamp(entry.at)}, ${short(entry.commit)}` } : null;
    this.compare.setAttribute("aria-pressed", String(Boolean(this.#kept)));
    this.compare.textContent = this.#kept ? "Stop comparing" : "Compare with this";
    this.compared.hidden = !this.#kept;
    this.compared.textContent = this.#kept ? `compared with ${this.#kept.name}` : "";
    this.#say(this.#kept ? OTHER_MOMENT : "");
  }

  // Reads the part of the network that is to be shown, and shows it.
  load(fit = false) {
    const turn = ++this.#turn;
    const wanted = new URLSearchParams({ most: this.many.value });
    const [at, since] = this.#ends();
    if (at) wanted.set("at", at);
    if (since) wanted.set("since", since);
    if (this.center) wanted.set("around", this.center);
    this.element.setAttribute("aria-busy", "true");
    return this.#try(async () => {
      try {
        const data = read(await getBytes(`/network?${wanted}`));
        if (turn !== this.#turn) return;
        data.shows = [at, since].join();
        this.#data = data;
        this.caption.textContent = `${seen(data.title)}: ${seen(data.caption)}`;
        this.canvas.setAttribute("aria-label", `Picture of the network: ${this.caption.textContent}. The table has the same.`);
        document.getElementById("whole").hidden = !this.center;
        this.#colour();
        this.drawing.show(data, fit);
        this.#follow();
        if (!this.table.hidden) this.#fill();
        if (this.#moved.size) this.#light();
      } finally {
        if (turn === this.#turn) this.element.setAttribute("aria-busy", "false");
      }
    });
  }

  // Classes and colours by what was chosen, and what they mean.
  #colour() {
    const data = this.#data;
    if (!data) return;
    const style = getComputedStyle(this.element);
    const of = (name) => style.getPropertyValue(name).trim();
    const by = this.colours.value;
    let [classes, words, names] = [null, [], []];
    if (by === "type") {
      classes = Uint16Array.from(data.kind, (kind) => (kind === NONE ? data.kinds.length : kind));
      [words, names] = [[...data.kinds, "other"], [...data.kinds.map((kind) => `--k-${kind}`), OTHER]];
    } else if (by === "salience") {
      classes = Uint16Array.from(data.salience, (s) => Math.min(Math.floor((s * SHADES.length) / (FULL + 1)), SHADES.length - 1));
      [words, names] = [SHADES.map((_, n) => `${n * 20} to ${n * 20 + 20} %`), SHADES];
    } else if (by === "origin") {
      const count = Math.min(data.origins.length, GROUPS.length);
      classes = Uint16Array.from(data.origin, (origin) => Math.min(origin, count));
      [words, names] = [[...data.origins.slice(0, count), "other or not read"], [...GROUPS.slice(0, count), OTHER]];
    } else if (by === "group") {
      const count = Math.min(data.groups, GROUPS.length);
      classes = Uint16Array.from(data.group, (group) => Math.min(group, count));
      [words, names] = [[...Array(count).keys()].map((n) => `community ${n + 1}`).concat("others"), [...GROUPS.slice(0, count), OTHER]];
    } else {
      classes = Uint16Array.from(data.mark);
      words = data.marks.map((mark) => ({ none: "as it was", born: "new", gone: "gone", focus: "subject" })[mark] ?? mark);
      names = data.marks.map((mark) => MARKED[mark] ?? OTHER);
    }
    this.drawing.colour(classes, names.map((name) => of(name) || "#888"));
    const used = new Set(classes);
    const entry = (word, at) => (used.has(at) ? el("li", {}, el("span", { class: "dot", "data-colour": names[at].slice(2) }), foreign("bdi", word)) : null);
    const has = (test) => data.link.some(test);
    const inhibits = data.links.indexOf("inhibits");
    const lines = [
      ["joins", "connection, fainter the weaker", has((link) => link !== inhibits)],
      ["inhibits", "inhibits", has((link) => link === inhibits)],
      ["own", "of the chosen neuron", data.edges > 0],
    ];
    const stroke = ([kind, word]) => el("li", {}, el("span", { class: `stroke ${kind}` }), word);
    this.legend.replaceChildren(...words.map(entry).filter(Boolean), ...lines.filter(([, , shown]) => shown).map(stroke));
  }

  // The history: its list, its slider, what waits, and where the brain stands.
  async #lists() {
    const [{ entries }, reviews, status] = await Promise.all([get("/history?number=100"), get("/reviews"), get("/status")]);
    // The moment that is looked at stays, however many steps come after it; one that is out of the list is now the oldest that is in it.
    const at = this.#at();
    this.#entries = entries;
    this.slider.max = String(Math.max(entries.length - 1, 0));
    const past = at ? entries.findIndex(({ commit }) => commit === at) : 0;
    this.slider.value = String(past < 0 ? 0 : entries.length - 1 - past);
    this.#nameMoment();
    if (past < 0) this.load();
    const { rows, most } = lanes(entries);
    this.runs.dataset.lanes = String(most);
    this.runs.replaceChildren(...entries.map((entry, i) => run(entry, drawn(this.noLines, rows[i], most))));
    this.#queue(reviews);
    const facts = [plural(status.neurons, "neuron", "neurons"), plural(status.runs, "run", "runs"), plural(status.queue, "text waits", "texts wait")];
    this.facts.textContent = facts.join(" · ");
    // The text says what the bar does.
    const bar = ({ bound, spent, most }) => el("li", {}, el("span", {}, foreign("bdi", bound), `: ${spent} of ${most}`), el("meter", { min: 0, max: Math.max(most, 1), value: Math.min(spent, most), "aria-hidden": "true" }));
    this.budgets.replaceChildren(...status.budget.map(bar));
    document.getElementById("budgets-title").hidden = !status.budget.length;
    if (this.ledger.open) await this.#readLedger();
  }

  async #readLedger() {
    const view = await get("/ledger");
    // What is the same stays, and keeps the focus of whoever reads in it.
    const told = JSON.stringify([view.entries, view.story]);
    if (told === this.#told) return;
    this.#told = told;
    this.ledgerBody.replaceChildren(...ledger(view));
  }

  #queue({ waiting, standoffs = [] }) {
    // A run that is open in the panel may have been decided on elsewhere.
    dispatchEvent(new CustomEvent("waiting", { detail: waiting.map(({ run }) => run) }));
    document.getElementById("reviews-title").textContent = `Waiting for review (${waiting.length})`;
    const line = (one) => {
      const link = el("a", { href: `#review=${encodeURIComponent(one.run)}` }, foreign("bdi", one.agent), ": ", foreign("bdi", one.changes || one.broken || "no change"));
      return el("li", {}, link, el("span", { class: "by" }, foreign("bdi", one.waits), one.origin && one.origin !== "local" ? ` · from ${seen(one.origin)}` : "", one.at ? ` · ${stamp(one.at)}` : ""));
    };
    const stopped = standoffs.length ? [el("li", {}, plural(standoffs.length, "disagreement stops", "disagreements stop"), " sync: git brain review")] : [];
    this.reviews.replaceChildren(...stopped, ...waiting.map(line));
    document.getElementById("no-reviews").hidden = waiting.length + stopped.length > 0;
  }

  #nameMoment() {
    const past = this.#entries.length - 1 - Number(this.slider.value);
    const entry = this.#entries[Math.max(past, 0)];
    const text = past > 0 && entry ? `${stamp(entry.at)}, ${entry.subject}` : "now";
    this.moment.textContent = seen(text);
    this.slider.setAttribute("aria-valuetext", seen(text));
  }

  #chooseMoment() {
    this.#nameMoment();
    if (this.status.textContent === OTHER_MOMENT) this.#say("");
    clearTimeout(this.#due);
    this.#due = setTimeout(() => this.load(), 120);
  }

  // Events of the server, for as long as the view is open. A connection that is lost is made again.
  async #listen(stream) {
    while (!stream.signal.aborted) {
      try {
        await listen("/changes", (event) => this.#hear(event), stream.signal);
      } catch (error) {
        if (!(error instanceof Failure) && !stream.signal.aborted) throw error;
        if (error instanceof Failure && error.status === 401) {
          // A server that was started anew has another token.
          this.close();
          this.onRefused();
          return;
        }
      }
      if (stream.signal.aborted) return;
      this.#say(LOST);
      await new Promise((done) => setTimeout(done, 2000));
    }
  }

  #hear(event) {
    if (this.status.textContent === LOST) this.#say("");
    if (event.event === "moved") {
      event.neurons.forEach(({ id }) => this.#moved.add(id));
      const count = event.neurons.length + event.left_out;
      const who = [...new Set(event.entries.map(({ agent }) => agent).filter(Boolean))].slice(0, 3).join(", ");
      this.#say(seen(`${plural(count, "neuron", "neurons")} changed${who ? ` by ${who}` : ""}.`));
    } else if (event.event === "slept") {
      this.#say("The brain slept: main has one commit more.");
    } else if (event.event === "stands" && this.#data?.at === event.wake) {
      return;
    }
    if (this.#moved.size) this.#light(false);
    // Many steps in a row are one look. What came first may be what moved the network.
    this.#isOld ||= event.event !== "waiting";
    clearTimeout(this.#due);
    this.#due = setTimeout(() => this.#try(async () => {
      const isOld = this.#isOld;
      this.#isOld = false;
      await this.#lists();
      if (!this.#at() && isOld) await this.load();
    }), SETTLE_MS);
  }

  #light(whole = true) {
    this.drawing.light(this.#moved);
    if (whole) this.#moved.clear();
  }

  // Asks for the names of neurons that came without; a picture reads those of the first thousands. Each is asked for once.
  async #name(places) {
    const data = this.#data;
    data.asked ??= new Set();
    const wanted = places.filter((i) => data.labels[i] === undefined && !data.asked.has(i)).slice(0, ROWS);
    if (!wanted.length) return;
    wanted.forEach((i) => data.asked.add(i));
    const ids = wanted.map((i) => data.ids[i]).join(",");
    const { neurons } = await get(`/network/names?at=${data.at}&ids=${encodeURIComponent(ids)}`);
    const found = new Map(neurons.map((one) => [one.id, one]));
    for (const i of wanted) {
      const { label: name, origin } = found.get(data.ids[i]) ?? {};
      if (name === undefined) continue;
      data.labels[i] = name;
      if (!data.origins.includes(origin) && data.origins.length < NONE) data.origins.push(origin);
      const at = data.origins.indexOf(origin);
      if (at >= 0) data.origin[i] = at;
    }
    if (data === this.#data) this.drawing.ask();
  }

  // Marks what the panel shows.
  #follow() {
    const said = new URLSearchParams(location.hash.slice(1));
    this.drawing.choose(said.get("neuron") ?? this.center ?? null);
  }

  #open(id) {
    location.hash = `neuron=${encodeURIComponent(id)}&at=${this.#data.at}`;
  }

  // Shows what is around a neuron, or the whole again.
  #around(id) {
    this.center = id;
    this.load(true);
  }

  #search(words) {
    const question = words.trim();
    if (!question) {
      this.found.replaceChildren();
      return;
    }
    return this.#try(async () => {
      const at = this.#at();
      const { results } = await get(`/search?question=${encodeURIComponent(question)}&top=8${at ? `&at=${at}` : ""}`);
      const line = ({ id, concept }) => {
        const around = el("button", { type: "button", class: "around", "aria-label": `Show what is around ${seen(concept).slice(0, 60)}` }, "around");
        around.addEventListener("click", () => this.#around(id));
        return el("li", {}, el("a", { href: `#neuron=${encodeURIComponent(id)}&at=${this.#data.at}` }, foreign("bdi", concept.length > 90 ? `${concept.slice(0, 90)}…` : concept)), " ", around);
      };
      this.found.replaceChildren(...results.map(line));
      const found = results.length ? results.length < 8 ? `${plural(results.length, "memory", "memories")} found.` : "The best 8 memories." : "Nothing comes to mind.";
      this.#say(at ? `${found} As of ${this.moment.textContent}.` : found);
      this.drawing.light(results.map(({ id }) => id));
    });
  }

  #asTable(shown) {
    this.table.hidden = !shown;
    this.canvas.parentElement.hidden = shown;
    this.toggle.setAttribute("aria-pressed", String(shown));
    if (shown) this.#fill();
  }

  // The picture as a table: the same neurons, the most important first.
  #fill(most = ROWS) {
    const data = this.#data;
    if (!data) return;
    const degrees = new Uint32Array(data.nodes);
    for (let e = 0; e < data.edges; e += 1) {
      degrees[data.from[e]] += 1;
      degrees[data.to[e]] += 1;
    }
    const row = (_, i) => {
      const link = el("a", { href: `#neuron=${encodeURIComponent(data.ids[i])}&at=${data.at}` }, foreign("bdi", label(data, i, 120)));
      const mark = data.marks[data.mark[i]];
      const cells = [data.kinds[data.kind[i]] ?? "", share(data.salience[i]), data.origins[data.origin[i]] ?? "not read", String(degrees[i]), String(data.group[i] + 1), mark === "none" ? "" : mark];
      return el("tr", {}, el("th", { scope: "row" }, link), ...cells.map((cell) => foreign("td", cell)));
    };
    const count = Math.min(most, data.nodes);
    const unnamed = Array.from({ length: count }, (_, i) => i).filter((i) => data.labels[i] === undefined && !data.asked?.has(i));
    if (unnamed.length) {
      this.#try(async () => {
        await this.#name(unnamed);
        if (data === this.#data && !this.table.hidden) this.#fill(most);
      });
    }
    this.rows.replaceChildren(...Array.from({ length: count }, row));
    if (count < data.nodes) {
      const more = el("button", { type: "button" }, `Show ${Math.min(ROWS, data.nodes - count)} more of ${data.nodes}`);
      more.addEventListener("click", () => this.#fill(most + ROWS));
      this.rows.append(el("tr", {}, el("td", { colspan: "7" }, more)));
    }
  }
}

// An entry of the log: a merge of a run, a sleep, texts that came in, or a person's commit.
function run(entry, lines) {
  const { commit, at, agent, run: id, subject, author, reviewers = [] } = entry;
  const kind = isSleep(entry) ? "sleep" : id ? "run" : "other";
  const link = el("a", { href: `#commit=${commit}` }, foreign("bdi", subject));
  const who = [agent ?? author, ...reviewers.map((name) => `reviewed by ${name}`)].filter(Boolean).join(", ");
  return el("li", { class: `step-${kind}` }, lines, link, el("span", { class: "by" }, foreign("bdi", who), `${who ? " · " : ""}${stamp(at)} · ${short(commit)}`));
}
