// Owns the fold "Ledger and story": expectations beside outcomes, and the newest chapter below them.

import { el, foreign, plural, stamp } from "./text.js";

const figure = (value) => value.toFixed(2);
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
const tone = (value) => (value > 0.005 ? "better" : value < -0.005 ? "worse" : "");

function row({ judged, agent, at, expected, expected_text: hoped, came, came_text: found, error }) {
  const link = el("a", { href: `#review=${encodeURIComponent(judged)}` }, foreign("bdi", agent), ", ", stamp(at));
  const said = (word, text) => (text ? el("span", { class: "by" }, `${word}: `, foreign("bdi", text)) : null);
  const cells = [figure(expected), figure(came)].map((value) => el("td", {}, value));
  return el("tr", {}, el("th", { scope: "row" }, link, said("expected", hoped), said("came", found)), ...cells, el("td", { class: tone(error) }, signed(error)));
}

function chapter({ told, at, narrator, entries, text, mood, confidence, gap, alarm }) {
  const both = ([is_told, measured]) => `${figure(is_told)}, the ledger gives ${figure(measured)}`;
  const of = told ? ["Told by ", foreign("bdi", narrator), ` ${stamp(at)}, of ${plural(entries, "judgement", "judgements")}.`] : [`Not told yet, of ${plural(entries, "judgement", "judgements")}: the next sleep tells it.`];
  const lines = [["Mood", both(mood)], ["Confidence", both(confidence)], ["Gap", figure(gap)]];
  return [
    el("p", { class: "hint" }, ...of),
    foreign("p", text, { class: "story" }),
    el("dl", {}, ...lines.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])),
    alarm ? el("p", { class: "problem" }, "The story is far from the ledger.") : null,
  ].filter(Boolean);
}

// The parts of the fold.
export function ledger({ entries, story }) {
  const heads = ["Run", "Expected", "Came", "Difference"].map((head) => el("th", { scope: "col" }, head));
  const table = el("table", {}, el("caption", { class: "unseen" }, "Newest judgements first"), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...entries.map(row)));
  const none = el("p", { class: "hint" }, "Nothing was judged yet: ", el("code", {}, "git brain outcome RUN"), " says what came of a run.");
  return [entries.length ? table : none, el("h3", {}, "Story"), ...(story ? chapter(story) : [el("p", { class: "hint" }, "There is nothing to tell of.")])];
}
