/**
 * Formulas in TeX, which Temml turns into MathML and the browser draws. It is fetched when the first one comes; until
 * then, and where a formula can't be read, what was written is shown.
 */
import { make, scrolls } from "./dom.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
/** A formula that is longer is shown as it was written. */
const LONGEST = 4_000;
/** In elements: a macro may expand to many. */
const MOST_ELEMENTS = 4_000;

/** How marked finds them: `$…$` as Pandoc does, so that "$5 and $10" is money; `\(…\)`; `$$…$$` and `\[…\]` on their own. */
export const MATHS = [
  {
    name: "formula", level: "block",
    start: (text) => text.match(/(?:^|\n)(?:\$\$|\\\[)/)?.index,
    tokenizer: (text) => {
      const found = /^\$\$([^]{1,4000}?)\$\$(?:\n|$)/.exec(text) ?? /^\\\[([^]{1,4000}?)\\\](?:\n|$)/.exec(text);
      return found ? { type: "formula", raw: found[0], text: found[1].trim() } : undefined;
    },
  },
  {
    name: "formula", level: "inline",
    start: (text) => text.match(/\$|\\\(|\\\[/)?.index,
    tokenizer: (text) => {
      const found = /^\$\$([^$]{1,2000})\$\$/.exec(text) ?? /^\$(?![\s$])([^$\n]{0,1000}?[^\s$\\])\$(?!\d)/.exec(text) ??
        /^\\\(([^\n]{1,1000}?)\\\)/.exec(text) ?? /^\\\[([^]{1,2000}?)\\\]/.exec(text);
      return found ? { type: "formula", raw: found[0], text: found[1].trim() } : undefined;
    },
  },
];

let coming = null;

function temml() {
  coming ??= new Promise((resolve, reject) => {
    const script = make("script");
    script.src = "vendor/temml.min.js";
    script.onload = () => resolve(globalThis.temml);
    script.onerror = () => {
      coming = null;
      reject(new Error("Temml can't be fetched."));
    };
    document.head.append(script);
  });
  return coming;
}

export function formula(text, isBlock) {
  const element = make(isBlock ? "div" : "span", text, "formula");
  if (isBlock) scrolls(element, "Formula");
  if (text.length <= LONGEST) {
    if (globalThis.temml) draw(element, text, isBlock);
    else temml().then(() => draw(element, text, isBlock), () => {});
  }
  return element;
}

/** Nothing but MathML that leads nowhere gets onto the page. */
function draw(element, text, isBlock) {
  const made = make("span");
  try {
    globalThis.temml.render(text, made, { displayMode: isBlock, throwOnError: true, trust: false, maxExpand: 500 });
  } catch {
    return;
  }
  const inside = [...made.querySelectorAll("*")];
  const isSafe = inside.length <= MOST_ELEMENTS && inside.every((each) => each.namespaceURI === MATHML &&
    each.localName !== "annotation-xml" && ![...each.attributes].some(({ name }) => /^on|href|src/i.test(name)));
  if (isSafe) element.replaceChildren(...made.childNodes);
}
