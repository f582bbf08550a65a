/**
 * Markdown, as elements. marked reads it; its tokens become elements here, one by one. Text stays text, nothing is ever
 * parsed as HTML, no picture is fetched, and links say where they lead. They have no address until they are followed: a
 * browser looks up the hosts of those that it sees, and what code read could be in a name.
 */
import { code } from "./code_block.js";
import { make, scrolls, words } from "./dom.js";
import { formula, MATHS } from "./formulas.js";
import { Marked } from "./vendor/marked.esm.js";
import { revealed } from "./visible.js";

/** A longer answer is shown as it was written: nobody waits for a parser. */
const LONGEST = 200_000;
/** Levels of lists and quotes; what is deeper is shown as text. */
const DEEPEST = 24;
const HIGHEST_HEADING = 2;
const LOWEST_HEADING = 6;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", hellip: "…", mdash: "—", ndash: "–" };

const reader = new Marked({ gfm: true }, { extensions: MATHS });

export function markdown(text) {
  const root = document.createDocumentFragment();
  let tokens;
  try {
    if (text.length > LONGEST) throw new RangeError();
    tokens = reader.lexer(text);
  } catch {
    root.append(words("p", text));
    return root;
  }
  const depths = tokens.filter(({ type }) => type === "heading").map(({ depth }) => depth);
  const state = { highest: Math.min(...depths), level: HIGHEST_HEADING - 1 };
  for (const token of tokens) root.append(...block(token, 0, state));
  return root;
}

function block(token, depth, state) {
  if (depth > DEEPEST) return [words("p", token.raw)];
  const inside = (element, tokens) => {
    for (const each of tokens ?? []) element.append(...block(each, depth + 1, state));
    return element;
  };
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "code":
      return [code(token.text, (token.lang ?? "").split(/\s/, 1)[0])];
    case "heading": {
      // No level is left out, wherever the answer begins.
      state.level = Math.min(state.level + 1, HIGHEST_HEADING + token.depth - state.highest, LOWEST_HEADING);
      return [inline(words(`h${state.level}`), token.tokens)];
    }
    case "paragraph":
      return [inline(words("p"), token.tokens)];
    case "text":
      return [inline(words("p"), token.tokens ?? [token])];
    case "hr":
      return [make("hr")];
    case "blockquote":
      return [inside(words("blockquote"), token.tokens)];
    case "list":
      return [list(token, inside)];
    case "table":
      return [table(token)];
    case "formula":
      return [formula(token.text, true)];
    default:
      return [words("p", token.raw.trimEnd())];
  }
}

function list({ ordered, start, items }, inside) {
  const element = words(ordered ? "ol" : "ul");
  if (ordered && start !== 1) element.start = Number(start);
  for (const { task, checked, loose, tokens } of items) {
    const line = make("li");
    if (task) {
      line.className = "task";
      const mark = make("span", checked ? "☑ " : "☐ ");
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", checked ? "done:" : "to do:");
      line.append(mark);
    }
    for (const token of tokens) {
      if (token.type === "checkbox") continue;
      if (token.type === "text" && !loose) inline(line, token.tokens ?? [token]);
      else inside(line, [token]);
    }
    element.append(line);
  }
  return element;
}

function table({ header, rows }) {
  const element = words("table");
  const fill = (row, cells, tag) => {
    for (const { tokens, align } of cells) {
      const cell = inline(make(tag), tokens);
      if (align) cell.style.textAlign = align;
      row.append(cell);
    }
  };
  fill(element.createTHead().insertRow(), header, "th");
  const body = element.createTBody();
  for (const row of rows) fill(body.insertRow(), row, "td");
  const holder = scrolls(make("div", "", "table"), "Table");
  holder.append(element);
  return holder;
}

function inline(element, tokens, depth = 0) {
  for (const token of tokens ?? []) element.append(...piece(token, depth));
  return element;
}

function piece(token, depth) {
  const wrapped = (tag) => (depth > DEEPEST ? [token.raw] : [inline(make(tag), token.tokens, depth + 1)]);
  switch (token.type) {
    case "text":
      return token.tokens && depth <= DEEPEST ? [...inline(make("span"), token.tokens, depth + 1).childNodes] : [decoded(token.text)];
    case "escape":
      return [token.text];
    case "strong":
      return wrapped("strong");
    case "em":
      return wrapped("em");
    case "del":
      return wrapped("del");
    case "codespan":
      return [make("code", token.text)];
    case "br":
      return [make("br")];
    case "html":
      return [/^<br\s*\/?>$/i.test(token.raw.trim()) ? make("br") : token.raw];
    case "image":
    case "link":
      return link(inline(make("span"), token.tokens, depth + 1).textContent || token.text || token.href, token.href);
    case "formula":
      return [formula(token.text, false)];
    default:
      return [token.raw];
  }
}

/** The few signs that people write as HTML does. */
const decoded = (text) => text.replace(/&(?:#(\d{1,7})|([a-z]{2,6}));/g, (whole, number, name) => {
  if (number) return Number(number) <= 0x10ffff && Number(number) > 0 ? String.fromCodePoint(Number(number)) : whole;
  return ENTITIES[name] ?? whole;
});

function link(label, address) {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return [label === address ? label : `${label} (${address})`];
  const { host, href } = new URL(address);
  const element = make("a", label);
  const follow = () => open(href, "_blank", "noreferrer,noopener");
  element.setAttribute("role", "link");
  Object.assign(element, { tabIndex: 0, title: revealed(href), onclick: follow });
  element.onkeydown = ({ key }) => {
    if (key === "Enter") follow();
  };
  return label === host || label === address || label === href ? [element] : [element, make("small", ` (${host})`)];
}
