// Owns one step of the chain: its badge, and what unfolds from it.

import { el, fact, foreign, plural, seen, shown } from "./text.js";

let made = 0;

// Why a step did not run, in the words of a badge.
const ABSENT = { offline: "offline", refused: "not available", busy: "over budget", turns: "no turns left" };

export class Step {
  constructor(node, model) {
    this.node = node;
    this.model = model;
    this.state = "running";
    made += 1;
    this.course = el("div", { class: "course" });
    this.facts = el("dl", {});
    const id = `step-${made}`;
    const label = `Step ${seen(node)}`;
    this.detail = el("div", { class: "step", id, role: "group", "aria-label": label, hidden: true }, this.facts, this.course);
    this.badge = el("button", { type: "button", class: "badge", "aria-expanded": "false", "aria-controls": id });
    this.badge.addEventListener("click", () => this.unfold(this.detail.hidden));
    this.render();
  }

  unfold(open) {
    this.detail.hidden = !open;
    this.badge.setAttribute("aria-expanded", String(open));
    this.render();
  }

  // A model's text as it comes. What is said after a tool was called is a paragraph of its own.
  says(text) {
    if (this.course.lastChild?.dataset.said === undefined) {
      this.course.append(foreign("p", "", { class: "said", "data-said": "" }));
    }
    this.course.lastChild.append(seen(text));
  }

  calls(name, args) {
    const call = el("div", { class: "call" }, el("h4", {}, "Called ", foreign("code", name)), shown(args));
    this.course.append(call);
  }

  gave(name, result) {
    const failed = result !== null && typeof result === "object" && typeof result.error === "string";
    const call = [...this.course.querySelectorAll(".call:not(.over)")].at(-1);
    const part = [el("h4", {}, failed ? "It failed" : "It gave"), shown(failed ? result.error : result)];
    if (call) {
      call.classList.add("over");
      call.classList.toggle("failed", failed);
      call.append(...part);
    } else {
      this.course.append(el("div", { class: "call over" }, el("h4", {}, foreign("code", name)), ...part));
    }
  }

  ends({ model, turns, duration_ms, usage, cost, stopped }) {
    Object.assign(this, { model, turns, duration_ms, usage, cost, stopped, state: "over" });
    this.render();
  }

  skipped({ model, why, cause }) {
    Object.assign(this, { model, why, cause, state: "skipped" });
    this.render();
  }

  // The answer was there before this step was over, or nothing more comes.
  leave(word) {
    if (this.state === "running") Object.assign(this, { state: "left", why: word });
    this.render();
  }

  // This step gave the answer.
  wins() {
    this.won = true;
    this.render();
  }

  #outcome() {
    if (this.state === "running") return "thinking";
    if (this.state === "left") return this.why;
    if (this.state === "skipped") return ABSENT[this.cause] ?? "did not answer";
    return this.turns ? plural(this.turns, "turn", "turns") : "no model";
  }

  render() {
    const mark = this.detail.hidden ? "▸" : "▾";
    const arrow = el("span", { class: "mark", "aria-hidden": "true" }, ` ${mark} `);
    const outcome = el("span", {}, this.#outcome());
    this.badge.replaceChildren(foreign("bdi", this.node), arrow, outcome);
    if (this.won) this.badge.append(el("span", { class: "won" }, " · answered"));
    this.badge.className = `badge ${this.state}${this.won ? " winner" : ""}${this.stopped ? " stopped" : ""}`;

    const facts = [fact("Model", this.turns === 0 ? "none: words of memory" : foreign("code", this.model))];
    if (this.state === "skipped") facts.push(fact("Did not answer", foreign("span", this.why)));
    if (this.state === "over") {
      if (this.turns) facts.push(fact("Turns", String(this.turns)));
      facts.push(this.stopped ? fact("Stopped", foreign("span", this.stopped)) : fact("Ended", "it was ready"));
      facts.push(fact("Took", duration(this.duration_ms)));
      if (this.turns) facts.push(fact("Tokens", `${this.usage?.input ?? 0} in, ${this.usage?.output ?? 0} out`));
      if (this.turns) facts.push(fact("Cost", money(this.cost)));
    }
    this.facts.replaceChildren(...facts.flat());
  }
}

const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

// Millionths of the currency that the prices are in.
const money = (cost) => (cost ? (cost / 1e6).toFixed(6).replace(/0{1,4}$/, "") : "0 (free, or it has no price)");
