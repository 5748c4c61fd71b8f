// Owns the page: the message box, the conversation's name, and which answer is under way. Everything else has a module.

import { chat, Failure, get, keepToken, takeToken } from "./api.js";
import { followCards } from "./cards.js";
import { Panel } from "./cite.js";
import { confirmation } from "./confirm.js";
import { card as council } from "./council.js";
import { card as handoff } from "./handoff.js";
import { NetworkView } from "./network.js";
import { Answer, remembered, said } from "./message.js";
import { seen } from "./text.js";

const CONVERSATION = "git-brain-conversation";
const MODE = "git-brain-mode";
const VIEW = "git-brain-view";
const NEAR = 120;

const [log, empty, status, message, mode, send, stop, entry, token, waiting, name] = [
  "log", "empty", "status", "message", "mode", "send", "stop", "entry", "token", "waiting", "conversation",
].map((id) => document.getElementById(id));

let running = null;
// When a token was typed, and for how long a refusal is about that one.
let typed = 0;
const TYPED_MS = 5000;

// What is done again once there is another token.
const retries = new Set();

function say(text) {
  status.textContent = text;
}

function called(conversation) {
  if (conversation) sessionStorage.setItem(CONVERSATION, conversation);
  else sessionStorage.removeItem(CONVERSATION);
  name.textContent = conversation ? seen(conversation) : "new";
}

// Adds to the log. Whoever reads further up is left there.
function add(...elements) {
  empty.hidden = true;
  log.append(...elements);
  log.scrollTop = log.scrollHeight;
}

function following(change) {
  const near = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
  change();
  if (near) log.scrollTop = log.scrollHeight;
}

// The token is missing or wrong: asks for one, then does `then`. One that was just typed is said to be wrong.
function refused(then) {
  retries.add(then);
  const why = document.getElementById("entry-why");
  if (Date.now() - typed < TYPED_MS) why.textContent = "That is not the token of this brain: it printed another one when it was started.";
  entry.hidden = false;
  token.focus();
}

function renew() {
  entry.hidden = true;
  say("");
  const again = [...retries];
  retries.clear();
  again.forEach((then) => then());
}

function busy(controller) {
  running = controller;
  const held = document.activeElement === stop;
  stop.hidden = !running;
  send.disabled = Boolean(running);
  log.setAttribute("aria-busy", String(Boolean(running)));
  if (held && !running) message.focus();
}

const STATUS = {
  thinking: (node) => `${node} is thinking …`,
  waiting: (node) => `${node} waits for your decision.`,
  remembering: () => "Remembering …",
};

async function ask(text) {
  const controller = new AbortController();
  busy(controller);
  const conversation = sessionStorage.getItem(CONVERSATION);
  const answer = new Answer(waiting, (what, node) => say(STATUS[what](seen(node))));
  const again = () => {
    if (running) return;
    answer.element.querySelector(".failure")?.remove();
    ask(text);
  };
  add(answer.element);
  say("Sent.");
  let ended = false;
  try {
    const request = { message: text, mode: mode.value, ...(conversation ? { conversation } : {}) };
    await chat(request, (event) => {
      ended ||= event.event === "remembered" || event.event === "failed";
      if (event.event === "begins") called(event.conversation);
      following(() => (event.event === "failed" ? answer.failed(event.error, event.hint, again) : answer.hear(event)));
    }, controller.signal);
    if (!ended) throw new Failure(0, "The connection to the brain was lost.");
    say("");
  } catch (error) {
    if (controller.signal.aborted) {
      answer.failed("You stopped it.", answer.answered ? null : "what you said may be remembered all the same", answer.answered ? null : again);
    } else if (error instanceof Failure) {
      const late = answer.answered ? "the answer is there; whether it is remembered is not known" : error.hint;
      const closed = error.status === 401;
      answer.failed(error.message, closed ? null : late, closed || answer.answered ? null : again);
      if (closed) refused(again);
    } else {
      answer.failed(`This page failed: ${error.message}`, null, again);
    }
    say("");
  } finally {
    busy(null);
  }
}

function submit() {
  const text = message.value;
  if (running || !text.trim()) return;
  message.value = "";
  add(said(text));
  ask(text);
}

// What was said in this conversation before, and what waits for a decision since before the page was loaded.
async function restore() {
  const conversation = sessionStorage.getItem(CONVERSATION);
  try {
    const [past, open] = await Promise.all([
      conversation ? get(`/conversations/${encodeURIComponent(conversation)}`) : { turns: [] },
      get("/confirm"),
    ]);
    log.replaceChildren();
    empty.hidden = past.turns.length > 0;
    if (past.turns.length) add(...past.turns.map(({ who, text }) => (who === "person" ? said(text) : remembered(text))));
    open.waiting.forEach((one) => confirmation(one, waiting, log));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 401) refused(restore);
    else if (error.status !== 404) say(seen(error.message));
  }
}

let network = null;
// One of the two views; the other keeps what it has.
function view(name) {
  const isNetwork = name === "network";
  sessionStorage.setItem(VIEW, name);
  for (const part of document.querySelectorAll("#talk, .foot, .where, #fresh")) part.hidden = isNetwork;
  for (const [id, is] of [["to-network", isNetwork], ["to-chat", !isNetwork]]) {
    if (is) document.getElementById(id).setAttribute("aria-current", "page");
    else document.getElementById(id).removeAttribute("aria-current");
  }
  const skip = document.querySelector(".skip");
  skip.setAttribute("href", isNetwork ? "#search-words" : "#message");
  skip.textContent = isNetwork ? "Skip to the search" : "Skip to the message";
  if (isNetwork) (network ??= new NetworkView(() => {
    view("chat");
    refused(() => view("network"));
  })).open();
  else network?.close();
  if (!isNetwork) message.focus();
}

document.getElementById("to-chat").addEventListener("click", () => view("chat"));
document.getElementById("to-network").addEventListener("click", () => view("network"));

const follow = () => panel.follow();
const panel = new Panel(() => refused(follow));

document.getElementById("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
message.addEventListener("keydown", (event) => {
  // While a text is being composed (Japanese, Chinese, accents), Enter belongs to the input method.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  submit();
});
stop.addEventListener("click", () => running?.abort());
document.getElementById("fresh").addEventListener("click", () => {
  running?.abort();
  called(null);
  log.replaceChildren();
  waiting.replaceChildren();
  empty.hidden = false;
  say("");
  message.focus();
});
mode.value = sessionStorage.getItem(MODE) ?? "auto";
mode.addEventListener("change", () => sessionStorage.setItem(MODE, mode.value));
entry.addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(token.value);
  typed = Date.now();
  token.value = "";
  message.focus();
  renew();
});
// Somebody pasted the address with a token into a page that is open.
addEventListener("hashchange", () => {
  if (takeToken()) renew();
});

takeToken();
// `#view=network` opens there; the address does not keep it, so that back and forward are the panel's.
const asked = /^#view=(network|chat)$/.exec(location.hash)?.[1];
if (asked) history.replaceState(history.state, "", location.pathname);
called(sessionStorage.getItem(CONVERSATION));
restore();
follow();
followCards(waiting, "handoffs", handoff);
followCards(waiting, "councils", council);
view(asked ?? sessionStorage.getItem(VIEW) ?? "chat");
