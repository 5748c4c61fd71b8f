// Owns the page of a run that waits: its change of belief, and the decision of the person who reads it.

import { Failure, post } from "./api.js";
import { el, foreign } from "./text.js";

const ARM_MS = 500;
const DEPTHS = 3;

// A block of a belief diff. Tones become classes, and every text stays text.
function block({ heading, depth, spans }) {
  if (heading !== undefined) return el("h3", {}, heading);
  const parts = spans.map(([tone, text]) => {
    const name = { inserted: "ins", deleted: "del" }[tone] ?? "span";
    return foreign(name, text, { class: `tone-${tone}` });
  });
  return el("p", { class: `depth-${Math.min(depth, DEPTHS)}` }, ...parts);
}

// The parts of the panel. `then` is called once a decision was carried out.
export function review({ run, commit, waits, conflicts, blocks }, then) {
  const parts = blocks.filter(({ title }) => title === undefined).map(block);
  if (!waits) return parts;
  const why = el("input", { type: "text", maxlength: "2000", id: "review-why" });
  const problem = el("p", { class: "problem", role: "alert" });
  const reject = el("button", { type: "button", class: "reject" }, "Reject");
  const approve = el("button", { type: "button", class: "approve main" }, "Approve");
  const buttons = conflicts ? [reject] : [reject, approve];
  const arm = (armed) => [reject, approve].forEach((button) => (button.disabled = !armed));
  const decide = async (approves) => {
    arm(false);
    problem.textContent = "";
    try {
      const report = await post("/reviews", { run, commit, approve: approves, why: why.value });
      then(`${approves ? "Approved" : "Rejected"}.`, report.notes ?? []);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problem.replaceChildren(foreign("span", error.message), ...(error.hint ? [" ", foreign("span", error.hint)] : []));
      arm(true);
    }
  };
  reject.addEventListener("click", () => decide(false));
  approve.addEventListener("click", () => decide(true));
  arm(false);
  setTimeout(() => arm(true), ARM_MS);
  const settle = conflicts ? [el("p", { class: "hint" }, "It conflicts with wake. ", el("code", {}, "git brain approve RUN --take run"), " in a terminal settles that.")] : [];
  const form = el("div", { class: "decision", role: "group", "aria-label": "Decision" }, el("label", { for: "review-why" }, "Why"), why, ...settle, problem, el("div", { class: "row" }, ...buttons));
  return [...parts, form];
}
