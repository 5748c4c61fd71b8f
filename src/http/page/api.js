// Owns the way to the brain: the token, requests, and answers that come piece by piece (Server-Sent Events over POST).

const KEY = "git-brain-token";

// What went wrong with a request. `status` is 0 where the brain was not reached.
export class Failure extends Error {
  constructor(status, message, hint = null) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

// Takes the token out of the address, so that it stays out of the history, of bookmarks and of sight. True if there was one.
export function takeToken() {
  const found = /^#token=([^&]+)/.exec(location.hash);
  if (!found) return false;
  keepToken(found[1]);
  history.replaceState(history.state, "", location.pathname);
  return true;
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

async function send(path, { body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept, Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    const options = { method: body === undefined ? "GET" : "POST", headers, signal, cache: "no-store" };
    response = await fetch(path, { ...options, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, "The brain cannot be reached.", "see whether `git brain serve` still runs");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Failure(response.status, said.error ?? `The brain answered ${response.status}.`, said.hint ?? null);
}

export const get = async (path) => (await send(path)).json();
export const post = async (path, body) => (await send(path, { body })).json();

// The bytes of an answer.
export const getBytes = async (path) => (await send(path, { accept: "application/octet-stream" })).arrayBuffer();

// Listens to what happens; each event goes to `hear`. Ends when the stream does.
export const listen = async (path, hear, signal) => events(await send(path, { accept: "text/event-stream", signal }), hear, signal);

// Says a message; each event of the answer goes to `hear`. Ends when the stream does.
export async function chat(message, hear, signal) {
  return events(await send("/chat", { body: message, accept: "text/event-stream", signal }), hear, signal);
}

async function events(response, hear, signal) {
  const frames = new Events(hear);
  const reader = response.body.getReader();
  // Characters may be cut between two pieces: the decoder keeps what is incomplete.
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      frames.take(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (signal?.aborted || !(error instanceof TypeError)) throw error;
    throw new Failure(0, "The connection to the brain was lost.");
  }
}

// Frames of an event stream: lines end with CR, LF or both; several lines of data are one; a line that begins with a colon is
// nothing; an event that was not ended by an empty line did not come.
export class Events {
  #rest = "";
  #data = [];
  #hear;

  constructor(hear) {
    this.#hear = hear;
  }

  take(text) {
    this.#rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (!end) return;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      this.#line(line);
    }
  }

  #line(line) {
    if (line === "") {
      const data = this.#data.join("\n");
      this.#data = [];
      if (data) this.#hear(JSON.parse(data));
      return;
    }
    const colon = line.indexOf(":");
    const [field, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    // The name of the event is in its data as well.
    if (field === "data") this.#data.push(value);
  }
}
