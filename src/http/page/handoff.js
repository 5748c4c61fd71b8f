// Owns the card of a deliberation's question: what it is about, and an answer in the form that it asks for. It answers nothing by itself.

import { Failure, post } from "./api.js";
import { el, foreign, shown } from "./text.js";

const SCORES = ["not at all", "a little", "mostly", "in all"];

const ASKS = {
  aligner: "how far mechanism and evidence agree",
  diverger: "for alternatives",
};

// What an aligner says: a score and why. Everything else is a document of the schema that the question names.
function aligned() {
  const score = el("select", { "aria-label": "Agreement" }, ...SCORES.map((word, n) => el("option", { value: String(n) }, `${n}: ${word}`)));
  const reason = el("input", { type: "text", maxlength: "300", "aria-label": "Why" });
  reason.placeholder = "Why";
  return { fields: [score, reason], read: () => ({ score: Number(score.value), reason: reason.value }) };
}

function written(schema) {
  const text = el("textarea", { rows: "6", spellcheck: "false", "aria-label": "Answer" });
  text.value = JSON.stringify({ proposals: [] }, null, 2);
  const form = el("details", {}, el("summary", {}, "the form of an answer"), shown(schema));
  return { fields: [form, text], read: () => JSON.parse(text.value) };
}

export function card({ id, role, goal, tree, about, schema }, place) {
  const title = el("h3", { id: `handoff-${id}` }, "A deliberation on ", foreign("bdi", goal), ` asks ${ASKS[role] ?? role}`);
  const where = el("p", {}, "Tree: ", foreign("bdi", tree));
  const { fields, read } = role === "aligner" ? aligned() : written(schema);
  const problem = el("p", { class: "problem", role: "alert" });
  const send = el("button", { type: "button", class: "main" }, "Answer");
  const whole = el("details", { open: "" }, el("summary", {}, "what it is about"), shown(about));
  const element = el("section", { class: "confirm handoff", "aria-labelledby": title.id }, title, where, whole, ...fields, problem, el("div", { class: "row" }, send));
  send.addEventListener("click", async () => {
    send.disabled = true;
    problem.textContent = "";
    try {
      await post("/handoffs", { id, answer: read() });
      element.remove();
    } catch (error) {
      if (error instanceof Failure && error.status === 404) return element.remove();
      if (!(error instanceof Failure) && !(error instanceof SyntaxError)) throw error;
      problem.textContent = error.message;
      send.disabled = false;
    }
  });
  place.append(element);
  return element;
}
