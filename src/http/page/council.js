// Owns the card of a council that left its decision to a person: the question, who said what, and a word. It decides nothing by itself.

import { Failure, post } from "./api.js";
import { el, foreign } from "./text.js";

// A card that appears under a pointer is not pressed by accident.
const ARM_MS = 500;
const SAYS = { approve: "yes", reject: "no", abstain: "abstains" };

function opinion({ member, family, decision, confidence, reasoning }) {
  const head = el("dt", {}, foreign("bdi", member), " (", foreign("bdi", family), `), ${SAYS[decision] ?? decision}, ${confidence.toFixed(2)}`);
  return [head, el("dd", {}, foreign("bdi", reasoning))];
}

export function card({ id, question, by, concerns, opinions, absent }, place) {
  const title = el("h3", { id: `council-${id}`, tabindex: "-1" }, "A council leaves a question to you");
  const asked = el("p", {}, foreign("bdi", question));
  const facts = el("p", { class: "hint" }, `Council ${id}, asked by `, foreign("bdi", by));
  const why = el("ul", {}, ...concerns.map((sentence) => el("li", {}, foreign("bdi", sentence))));
  const said = el("dl", {}, ...opinions.flatMap(opinion));
  const missing = absent.length ? [el("p", {}, "Absent: ", foreign("bdi", absent.join(", ")))] : [];
  const votes = el("details", {}, el("summary", {}, `${opinions.length} opinions`), said, ...missing);
  const reason = el("input", { type: "text", maxlength: "300", "aria-label": "Why" });
  reason.placeholder = "Why";
  const problem = el("p", { class: "problem", role: "alert" });
  const reject = el("button", { type: "button", class: "reject" }, "No");
  const approve = el("button", { type: "button", class: "approve main" }, "Yes");
  const buttons = [reject, approve];
  const element = el("section", { class: "confirm handoff council", "aria-labelledby": title.id }, title, asked, facts, why, votes, reason, problem, el("div", { class: "row" }, ...buttons));
  const arm = (armed) => buttons.forEach((button) => (button.disabled = !armed));
  const decide = async (approves) => {
    arm(false);
    problem.textContent = "";
    try {
      await post("/councils", { id, approve: approves, why: reason.value });
      element.remove();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status === 404) return element.remove();
      problem.textContent = error.message;
      arm(true);
    }
  };
  reject.addEventListener("click", () => decide(false));
  approve.addEventListener("click", () => decide(true));
  arm(false);
  setTimeout(() => arm(true), ARM_MS);
  place.append(element);
  return element;
}
