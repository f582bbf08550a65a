/**
 * A little Markdown, as elements: what a reply may hold. Text stays text; nothing is ever parsed as HTML, and links
 * say where they lead. They have no address until they are followed: a browser looks up the hosts of those that it
 * sees, and what code read could be in a name.
 */
import { code } from "./code_block.js";
import { make, scrolls, words } from "./dom.js";
import { revealed } from "./visible.js";

const INLINE = /(`[^`]+`)|(\*\*[^*]+\*\*)|(\*[^*\s][^*]*\*)|\[([^\]]+)\]\((https?:[^)\s]+)\)/g;

/** What stands between fences is code, whatever is in it: only a fence as long as the first, alone on its line, ends it. */
export function markdown(text) {
  const root = document.createDocumentFragment();
  let fence = null;
  let lines = [];
  const finish = () => {
    if (fence) root.append(code(lines.join("\n"), fence.language));
    else blocks(lines.join("\n"), root);
    lines = [];
  };
  for (const line of text.split("\n")) {
    const [, marks = "", rest = ""] = /^(`{3,})([^`]*)$/.exec(line) ?? [];
    if (marks && !fence) {
      finish();
      fence = { size: marks.length, language: rest.trim() };
    } else if (marks && marks.length >= fence.size && !rest.trim()) {
      finish();
      fence = null;
    } else lines.push(line);
  }
  finish();
  return root;
}

function blocks(text, root) {
  for (const block of text.split(/\n{2,}/)) {
    const lines = block.split("\n").filter((line) => line.trim());
    if (!lines.length) continue;
    if (lines.every((line) => /^\s*([-*]|\d+[.)])\s/.test(line))) {
      const list = words(/^\s*\d/.test(lines[0]) ? "ol" : "ul");
      for (const line of lines) list.append(inline(make("li"), line.replace(/^\s*([-*]|\d+[.)])\s/, "")));
      root.append(list);
    } else if (lines.length > 1 && /^[\s:|-]+$/.test(lines[1]) && lines[1].includes("|", 1)) root.append(table(lines));
    else {
      const heading = /^(#{1,4})\s+(.*)/.exec(lines[0]);
      if (heading) {
        root.append(inline(words("h3"), heading[2]));
        lines.shift();
      }
      if (lines.length) root.append(inline(words("p"), lines.join("\n")));
    }
  }
}

function table(lines) {
  const cells = (line) => line.replace(/^\s*\||\|\s*$/g, "").split("|").map((cell) => cell.trim());
  const element = words("table");
  const head = element.createTHead().insertRow();
  for (const cell of cells(lines[0])) head.append(inline(make("th"), cell));
  const body = element.createTBody();
  for (const line of lines.slice(2)) {
    const row = body.insertRow();
    for (const cell of cells(line)) row.append(inline(make("td"), cell));
  }
  const holder = scrolls(make("div", "", "table"), "Table");
  holder.append(element);
  return holder;
}

function inline(element, text) {
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    element.append(text.slice(at, match.index));
    const [whole, isCode, bold, , label, address] = match;
    if (isCode) element.append(make("code", whole.slice(1, -1)));
    else if (bold) element.append(make("strong", whole.slice(2, -2)));
    else if (address) element.append(...link(label, address));
    else element.append(make("em", whole.slice(1, -1)));
    at = match.index + whole.length;
  }
  element.append(text.slice(at));
  return element;
}

function link(label, address) {
  if (!URL.canParse(address)) return [`${label} (${address})`];
  const { host, href } = new URL(address);
  const element = make("a", label);
  const follow = () => open(href, "_blank", "noreferrer,noopener");
  element.setAttribute("role", "link");
  Object.assign(element, { tabIndex: 0, title: revealed(href), onclick: follow });
  element.onkeydown = ({ key }) => {
    if (key === "Enter") follow();
  };
  return label === host ? [element] : [element, make("small", ` (${host})`)];
}
