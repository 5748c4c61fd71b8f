// Owns how text becomes elements: always as text, never as markup. What comes from models, memories, files and programs is shown
// isolated, and its invisible characters are shown as their numbers, so that none can change how what stands around it is read.

// Controls but tab and newline, soft hyphen, zero-width characters but the joiners (emoji and several scripts need those), marks of
// direction, separators of lines, and tags.
const UNSEEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

// Text whose every character can be seen.
export function seen(text) {
  const named = (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return String(text).replaceAll("\r\n", "\n").replace(UNSEEN, named);
}

// An element: attributes as they are named in HTML, `on` with listeners, children that are elements or text.
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value === true) {
      made.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// An element around a text that somebody else wrote.
export function foreign(name, text, attributes = {}) {
  return el(name, { dir: "auto", ...attributes, class: `foreign ${attributes.class ?? ""}`.trim() }, seen(text));
}

// A term and what it is, for a list of descriptions.
export function fact(term, value) {
  return [el("dt", {}, term), el("dd", {}, value)];
}

// A value of JSON, in lines, cut where nobody reads on.
export function shown(value, most = 20000) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
  const rest = text.length - most;
  return foreign("pre", rest > 0 ? `${text.slice(0, most)}\n… ${rest} more characters` : text);
}

export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// "2026-01-26T14:32:00Z" as people read it.
export const stamp = (at) => String(at ?? "").replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
