// Owns the card that asks a person whether a call of a tool may be made. It shows all arguments, and allows nothing by itself: the
// focus goes to its title, where Enter does nothing, and its buttons wait a moment, so that no click meant for something else counts.

import { Failure, post } from "./api.js";
import { el, fact, foreign, shown } from "./text.js";

const MOMENT_MS = 500;
// How long after the end of its time a card still hears what came of it.
const LATE_MS = 3000;

// What a tool would do, in words.
const DOES = { write_file: "write a file", edit_file: "change a file", exec: "run a program" };

function lines(text, mark, kind) {
  const ends = String(text).replace(/\n$/, "").split("\n");
  return ends.map((line) => el("div", { class: kind }, el("span", { class: "sign" }, mark), foreign("span", line)));
}

// Every argument, each in the form in which it is read best.
export function readable(name, args) {
  const whole = args !== null && typeof args === "object" && !Array.isArray(args) ? args : { arguments: args };
  const list = el("dl", {});
  for (const [key, value] of Object.entries(whole)) {
    const text = typeof value === "string";
    let part = text && !value.includes("\n") ? foreign("code", value) : shown(value);
    if (text && (key === "content" || key === "replace")) part = el("div", { class: "diff" }, ...lines(value, "+ ", "added"));
    if (text && key === "find") part = el("div", { class: "diff" }, ...lines(value, "− ", "removed"));
    if (name === "exec" && key === "argv" && Array.isArray(value)) {
      const words = value.map((word) => el("li", {}, typeof word === "string" ? foreign("code", word) : shown(word)));
      part = el("ol", { class: "argv", start: "0" }, ...words);
    }
    list.append(...fact(foreign("bdi", key), part));
  }
  return list;
}

// Puts a card at `place`; `over` closes it, and what came of it goes to `record`.
export function confirmation({ id, node, name, args, seconds }, place, record) {
  const title = el("h3", { tabindex: "-1", id: `confirm-${id}` }, foreign("bdi", node), ` asks to ${DOES[name] ?? "call a tool"}: `, foreign("code", name));
  const refuse = el("button", { type: "button", disabled: true }, "Refuse");
  const allow = el("button", { type: "button", disabled: true, class: "allow" }, "Allow");
  const left = el("span", { class: "countdown", role: "timer" });
  const problem = el("p", { class: "problem", role: "alert" });
  const buttons = el("div", { class: "row" }, left, refuse, allow);
  const card = el("section", { class: "confirm", "aria-labelledby": title.id }, title, readable(name, args), problem, buttons);
  const ends = performance.now() + seconds * 1000;
  let [closed, decided] = [false, false];

  const enable = (on) => [refuse, allow].forEach((button) => (button.disabled = !on));
  const tick = () => {
    const rest = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
    left.textContent = rest ? `refused by itself in ${rest} s` : "time is up";
    if (rest) return;
    clearInterval(clock);
    enable(false);
    setTimeout(() => over(null, "nobody decided in time"), LATE_MS);
  };
  const clock = setInterval(tick, 1000);

  // `allowed` is null where nobody is waiting for it any more.
  const over = (allowed, why) => {
    if (closed) return;
    closed = true;
    clearInterval(clock);
    const held = card.contains(document.activeElement);
    const word = allowed === null ? "Not decided" : allowed ? "Allowed" : "Refused";
    const result = el("p", { class: "result", tabindex: "-1" }, `${word}: `, foreign("code", name));
    if (why && !decided) result.append(" (", foreign("bdi", why), ")");
    const folded = el("details", {}, el("summary", {}, "what it asked for"), readable(name, args));
    card.replaceChildren(result, folded);
    card.className = `confirm over ${allowed ? "allowed" : "refused"}`;
    card.removeAttribute("aria-labelledby");
    card.setAttribute("aria-label", `${word}: ${name}`);
    record.append(card);
    if (held) result.focus();
  };
  const decide = async (yes) => {
    enable(false);
    decided = true;
    try {
      const answer = await post("/confirm", { id, allow: yes });
      over(answer.allowed);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      decided = false;
      if (error.status === 404) return over(null, "nobody waits for it any more");
      problem.textContent = error.message;
      enable(true);
    }
  };
  refuse.addEventListener("click", () => decide(false));
  allow.addEventListener("click", () => decide(true));

  tick();
  place.append(card);
  title.focus();
  setTimeout(() => closed || enable(performance.now() < ends), MOMENT_MS);
  return { over };
}
