/**
 * Colours for code: strings, numbers, the words of the usual languages, and comments where it is certain that
 * they are some. What is not seen is named where it stands.
 */
import { lines, unseen } from "./visible.js";

const WORDS = new Set(
  (
    "and as assert async await break case class const continue def del do done elif else esac except export " +
    "false False fi finally for from function global if import in is lambda let local new None nonlocal not null " +
    "or pass raise return self static switch then this throw true True try typeof undefined var while with yield"
  ).split(" "),
);
const STRING = /("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')/.source;
const REST = /(\b\d[\w.]*\b)|([A-Za-z_]\w*)/.source;

/**
 * A comment is painted only if it is a whole line, in code that has nothing in which such a line could be anything
 * else: a string of several lines, a here-document, a line that goes on. What looks like a comment behind
 * something else is passed over, so that a quote in it begins no string, and gets no colour.
 */
const KINDS = {
  python: { sign: "#", passed: "#[^\\n]*", doubt: /"""|'''|\\\n|^\s*[%!]/m },
  bash: { sign: "#", passed: "(?<![^\\s;|&()])#[^\\n]*", doubt: /<<|\\\n|\(\(|\$[({']|`/ },
  javascript: { sign: "//", passed: "//[^\\n]*|/\\*[\\s\\S]*?\\*/", doubt: /`|\\\n|\/\*|<\/|<!--/ },
};
const NAMES = {
  py: "python", python3: "python", ipython: "python", sh: "bash", shell: "bash",
  js: "javascript", node: "javascript", ts: "javascript", typescript: "javascript",
};
/** What ends a line somewhere, and is none here. */
const OTHER_LINE_ENDS = /[\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
/** Longer texts, or lines, have no colours: to look for them would take its time. */
const LONGEST = 20_000;
const LONGEST_LINE = 2_000;

export function highlight(code, language = "") {
  const text = lines(code);
  const element = document.createElement("code");
  if (language) element.dataset.language = language;
  const painter = new Painter(element, text);
  if (text.length <= LONGEST && text.split("\n").every(({ length }) => length <= LONGEST_LINE)) {
    colour(painter, text, NAMES[language] ?? language);
  }
  painter.plain(text.length);
  return element;
}

function colour(painter, text, language) {
  const kind = KINDS[language];
  const isSure = kind && !kind.doubt.test(text) && !OTHER_LINE_ENDS.test(text) && !goesOn(text, language);
  const comment = isSure ? `(^[ \\t]*${kind.sign}[^\\n]*)` : "($.^)";
  const tokens = new RegExp(`${comment}|${kind ? kind.passed : "$.^"}|${STRING}|${REST}`, "gm");
  for (const match of text.matchAll(tokens)) {
    const [token, whole, string, number, word] = match;
    if (string && language === "bash" && /`|\$\(/.test(string)) continue;
    const name = (whole && "comment") || (string && "string") || (number && "number") || (WORDS.has(word) && "word");
    if (name) painter.paint(match.index, match.index + token.length, name);
  }
}

/** Whether a string of shell code goes on in the next line, so that a `#` there begins no comment. */
function goesOn(text, language) {
  if (language !== "bash") return false;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (quote && sign === "\n") return true;
    if (sign === "\\" && quote !== "'") at += 1;
    else if (quote) quote = sign === quote ? "" : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === "#" && /(?:^|[\s;|&()])$/.test(text.slice(Math.max(0, at - 1), at))) {
      const end = text.indexOf("\n", at);
      if (end < 0) return false;
      at = end;
    }
  }
  return quote !== "";
}

/** Puts pieces of a text into an element, in their order. */
class Painter {
  #element;
  #text;
  #unseen;
  #next = 0;
  #at = 0;

  constructor(element, text) {
    this.#element = element;
    this.#text = text;
    this.#unseen = unseen(text);
  }

  paint(at, end, name) {
    this.plain(at);
    const span = document.createElement("span");
    span.className = name;
    this.#fill(span, end);
    this.#element.append(span);
  }

  plain(end) {
    this.#fill(this.#element, end);
  }

  #fill(element, end) {
    while (this.#unseen[this.#next]?.at < end) {
      const mark = this.#unseen[this.#next];
      this.#next += 1;
      if (mark.at < this.#at) continue;
      const label = document.createElement("mark");
      label.textContent = mark.label;
      element.append(this.#text.slice(this.#at, mark.at) + mark.before, label, mark.after);
      this.#at = mark.end;
    }
    if (this.#at < end) {
      element.append(this.#text.slice(this.#at, end));
      this.#at = end;
    }
  }
}
