// Owns the panel beside the conversation and the network: a neuron with its history, a commit, or a run that waits. The address says which, so that the browser's
// back and forward work and a link can be copied.

import { Failure, get } from "./api.js";
import { review } from "./review.js";
import { el, fact, foreign, shown, stamp } from "./text.js";

const FULL = 65535;
const FIRST = 50;
const short = (commit) => String(commit).slice(0, 10);
const share = (value) => `${Math.round((100 * value) / FULL)} %`;
const place = (kind, id, at) => `#${kind}=${encodeURIComponent(id)}${at ? `&at=${encodeURIComponent(at)}` : ""}`;

export class Panel {
  #opener = null;
  #turn = 0;
  // The run that is shown with its buttons.
  #undecided = null;

  // `onRefused` is told when the token is not right.
  constructor(onRefused) {
    this.onRefused = onRefused;
    this.element = document.getElementById("panel");
    this.title = document.getElementById("panel-title");
    this.body = document.getElementById("panel-body");
    this.narrow = matchMedia("(max-width: 60rem)");
    this.narrow.addEventListener("change", () => this.#cover());
    document.getElementById("panel-close").addEventListener("click", () => this.leave());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing && !this.element.hidden) this.leave();
    });
    addEventListener("hashchange", () => this.follow());
    addEventListener("waiting", ({ detail }) => {
      if (this.#undecided && !detail.includes(this.#undecided)) this.follow();
    });
  }

  // Shows what the address says.
  async follow() {
    const turn = ++this.#turn;
    const said = new URLSearchParams(location.hash.slice(1));
    const [neuron, commit, at, run] = [said.get("neuron"), said.get("commit"), said.get("at"), said.get("review")];
    if (!neuron && !commit && !run) return this.#close();
    if (this.element.hidden) this.#opener = document.activeElement;
    this.#show("…", [el("p", {}, "Reading …")]);
    try {
      const query = at ? `?at=${encodeURIComponent(at)}` : "";
      const path = run ? `/reviews/${encodeURIComponent(run)}` : neuron ? `/neurons/${encodeURIComponent(neuron)}${query}` : `/commits/${encodeURIComponent(commit)}`;
      const found = await get(path);
      if (turn !== this.#turn) return;
      if (run) this.#review(found);
      else if (neuron) this.#neuron(found);
      else this.#commit(found);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (turn !== this.#turn) return;
      this.#show(neuron ?? run ?? `Commit ${short(commit)}`, [foreign("p", error.message, { class: "problem" }), foreign("p", error.hint ?? "")]);
      if (error.status === 401) this.onRefused();
    }
  }

  leave() {
    history.pushState(null, "", location.pathname);
    dispatchEvent(new Event("hashchange"));
  }

  #close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.#cover();
    const back = this.#opener?.isConnected && this.#opener !== document.body;
    const first = ["search-words", "message"].map((id) => document.getElementById(id)).find((one) => one.checkVisibility());
    (back && this.#opener.checkVisibility() ? this.#opener : first)?.focus();
    this.#opener = null;
  }

  // On a narrow screen the panel covers the page, which then cannot be reached.
  #cover() {
    document.getElementById("page").inert = !this.element.hidden && this.narrow.matches;
  }

  #show(title, parts) {
    this.#undecided = null;
    this.title.replaceChildren(foreign("bdi", title));
    this.body.replaceChildren(...parts);
    this.element.hidden = false;
    this.element.scrollTop = 0;
    this.#cover();
    this.title.focus();
  }

  #neuron({ at, path, neuron, salience_now: now, salience_then: then, incoming = [], concepts = {}, history: past }) {
    const facts = [
      ["Neuron", foreign("code", neuron.id)],
      ["Type", neuron.type],
      ["Salience", share(then) === share(now) ? `${share(now)} now` : `${share(then)} then, ${share(now)} now`],
      ["Origin", foreign("bdi", neuron.origin ?? "local")],
      ["Said in", neuron.session ? foreign("bdi", neuron.session) : null],
      ["Source", neuron.source ? foreign("bdi", neuron.source) : null],
      ["Made", stamp(neuron.created_at)],
      ["Last active", neuron.last_activated ? stamp(neuron.last_activated) : "never"],
      ["File", foreign("code", path)],
      ["Read at", el("a", { href: place("commit", at) }, short(at))],
    ];
    const list = el("dl", {}, ...facts.filter(([, value]) => value !== null).flatMap(([term, value]) => fact(term, value)));
    const link = (to) => el("li", {}, foreign("bdi", to.type), " ", el("a", { href: place("neuron", to.target, at) }, foreign("bdi", concepts[to.target] ?? to.target)), ` ${share(to.weight)}`);
    const strongest = [...(neuron.connections ?? [])].sort((a, b) => b.weight - a.weight);
    const from = ({ source, type, weight }) => link({ target: source, type, weight });
    this.#show(neuron.concept, [list, ...section("Connections", strongest, link), ...section("Connections that lead to it", incoming, from), ...section("History", past, change), ...this.#blame(neuron.id, at)]);
  }

  // Who last changed each field: asked for only when somebody wants to know.
  #blame(id, at) {
    const list = el("ul", { class: "entries" });
    const whole = el("details", { class: "blame" }, el("summary", {}, "Who last changed each field"), list);
    whole.addEventListener("toggle", async () => {
      if (!whole.open || list.childElementCount) return;
      try {
        const { fields } = await get(`/neurons/${encodeURIComponent(id)}/blame?at=${at}`);
        const line = ({ field, value, commit, run, at: when }) => el("li", {}, foreign("bdi", `${field}: ${value.slice(0, 120)}`), el("span", { class: "by" }, foreign("bdi", run ?? "a person"), ` · ${stamp(when)} · `, el("a", { href: place("commit", commit) }, short(commit))));
        list.replaceChildren(...fields.map(line));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        list.replaceChildren(foreign("li", error.message, { class: "problem" }));
      }
    });
    return [whole];
  }

  #review(found) {
    const title = found.blocks.find((one) => one.title !== undefined)?.title ?? found.run;
    const done = (what, notes) => {
      this.#show(what, [foreign("p", title), ...notes.map((note) => foreign("p", note, { class: "hint" }))]);
      dispatchEvent(new Event("decided"));
    };
    this.#show(title, review(found, done));
    if (found.waits) this.#undecided = found.run;
  }

  #commit({ commit, subject, author, at, message, parents, changes, left_out: left = 0 }) {
    const links = parents.flatMap((parent) => [el("a", { href: place("commit", parent) }, short(parent)), " "]);
    const facts = [fact("Commit", foreign("code", commit)), fact("Author", foreign("bdi", author)), fact("When", stamp(at))];
    if (links.length) facts.push(fact("After", el("span", {}, ...links)));
    const line = (text) => foreign("li", text);
    const rest = left ? [el("p", {}, `${left} more lines: git brain show ${short(commit)}`)] : [];
    this.#show(subject, [el("dl", {}, ...facts.flat()), ...section("Changes", changes, line, "lines"), ...rest, el("h3", {}, "Message"), shown(message)]);
  }
}

function change({ commit, subject, author, at }) {
  const link = el("a", { href: place("commit", commit) }, foreign("bdi", subject));
  return el("li", {}, link, el("span", { class: "by" }, foreign("bdi", author), ` · ${stamp(at)} · ${short(commit)}`));
}

// A heading and a list: the first entries, the rest on demand.
function section(title, entries, show, kind = "entries") {
  const list = el("ul", { class: kind }, ...entries.slice(0, FIRST).map(show));
  const parts = [el("h3", {}, `${title} (${entries.length})`), entries.length ? list : el("p", {}, "None.")];
  if (entries.length > FIRST) {
    const more = el("button", { type: "button" }, `Show all ${entries.length}`);
    more.addEventListener("click", () => {
      list.append(...entries.slice(FIRST).map(show));
      more.remove();
    });
    parts.push(more);
  }
  return parts;
}
