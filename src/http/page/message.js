// Owns one message: what a person said, and an answer of the brain on its way from its first step to its last note.

import { confirmation } from "./confirm.js";
import { Step } from "./step.js";
import { el, foreign, plural, seen } from "./text.js";

export function said(text) {
  return el("article", { class: "message person", "aria-label": "You" }, foreign("p", text));
}

// An answer that was given before; who gave it is not kept.
export function remembered(text) {
  return el("article", { class: "message brain", "aria-label": "Brain" }, reply(text, cited().get(text) ?? []));
}

function reply(text, citations) {
  const made = foreign("div", "", { class: "reply" });
  made.append(...withCitations(text, citations));
  return made;
}

// What the last answers cited, by their text: the brain remembers the text alone.
const CITED = "git-brain-citations";
const MOST = 50;
const cited = () => new Map(JSON.parse(sessionStorage.getItem(CITED) ?? "[]"));

function keep(text, citations) {
  const kept = [...cited().set(text, citations)].slice(-MOST);
  sessionStorage.setItem(CITED, JSON.stringify(kept));
}

// The text of a reply, with links where it cites what is listed.
export function withCitations(text, citations) {
  const listed = new Map(citations.map((citation) => [citation.n, citation]));
  return text.split(/(\[[\d, ]+\])/).flatMap((part) => {
    if (!/^\[[\d, ]+\]$/.test(part)) return [seen(part)];
    return part.split(/(\d+)/).map((piece) => {
      const cited = /^\d+$/.test(piece) ? listed.get(Number(piece)) : undefined;
      if (!cited) return piece;
      const href = `#neuron=${encodeURIComponent(cited.id)}&at=${encodeURIComponent(cited.commit)}`;
      return el("a", { class: "citation", href, "aria-label": `Memory ${cited.n}` }, piece);
    });
  });
}

export class Answer {
  constructor(waiting, onStatus) {
    this.steps = [];
    this.waiting = waiting;
    this.onStatus = onStatus;
    this.cards = new Map();
    this.badges = el("div", { class: "badges", role: "group", "aria-label": "Who answered" });
    this.details = el("div", {});
    this.decided = el("div", {});
    this.why = el("p", { class: "why", hidden: true });
    this.live = foreign("p", "");
    const title = el("p", { class: "not-yet" }, "Thinking, not yet the answer");
    this.thinking = el("div", { class: "thinking", hidden: true }, title, this.live);
    const chain = el("div", { class: "chain", "aria-live": "off" }, this.badges, this.why, this.details, this.decided, this.thinking);
    this.element = el("article", { class: "message brain", "aria-label": "Brain" }, chain);
  }

  hear(event) {
    switch (event.event) {
      case "begins":
        this.why.append({ simple: "One step: ", council: "A council: " }[event.mode] ?? "All steps: ", foreign("bdi", event.why));
        this.why.hidden = false;
        return;
      case "step_begins":
        this.#add(event);
        this.live.replaceChildren();
        this.onStatus("thinking", event.node);
        return;
      case "text":
        this.#step(event).says(event.text);
        this.thinking.hidden = false;
        this.live.append(seen(event.text));
        this.thinking.scrollTop = this.thinking.scrollHeight;
        return;
      case "tool_called":
        this.#step(event).calls(event.name, event.args);
        this.live.append("\n");
        return;
      case "tool_gave":
        return this.#step(event).gave(event.name, event.result);
      case "needs_confirm":
        this.cards.set(event.id, confirmation(event, this.waiting, this.decided));
        this.onStatus("waiting", event.node);
        return;
      case "confirmed":
        this.cards.get(event.id)?.over(event.allowed, event.why);
        this.onStatus("thinking", this.steps.at(-1)?.node ?? "");
        return;
      case "step_ends":
        this.thinking.hidden = true;
        return this.#step(event).ends(event);
      case "skipped":
        this.thinking.hidden = true;
        return this.#step(event).skipped(event);
      case "answered":
        this.#answered(event.answer, event.by);
        this.onStatus("remembering", "");
        return;
      case "remembered":
        return this.#notes(event.notes ?? []);
    }
  }

  #add({ node, model }) {
    const step = new Step(node, model);
    this.steps.push(step);
    this.badges.append(step.badge);
    this.details.append(step.detail);
    return step;
  }

  // The step of an event; one that was skipped before it began is new.
  #step(event) {
    const running = this.steps.findLast((step) => step.node === event.node && step.state === "running");
    return running ?? this.#add(event);
  }

  #answered(answer, by) {
    this.answered = true;
    this.settle("not needed");
    this.steps.findLast((step) => step.node === by && step.state === "over")?.wins();
    this.element.append(reply(answer.reply, answer.citations));
    keep(answer.reply, answer.citations);
  }

  #notes(notes) {
    if (!notes.length) return;
    const lines = notes.map((note) => foreign("li", note));
    this.element.append(el("details", { class: "notes" }, el("summary", {}, plural(notes.length, "note", "notes")), el("ul", {}, ...lines)));
  }

  // Nothing more comes for what still runs or waits.
  settle(word) {
    this.thinking.hidden = true;
    this.steps.forEach((step) => step.leave(word));
    this.cards.forEach((card) => card.over(null, word));
  }

  failed(message, hint, again) {
    this.settle("not ended");
    const parts = [foreign("p", message)];
    if (hint) parts.push(foreign("p", `Hint: ${hint}`, { class: "hint" }));
    if (again) parts.push(el("button", { type: "button", on: { click: again } }, "Try again"));
    this.element.append(el("div", { class: "failure", role: "alert" }, ...parts));
  }
}
