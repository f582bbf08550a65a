/** Elements: text stays text, and nothing is ever parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

export function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** Words of a person, a model or a file: in whatever direction they are written. */
export function words(tag, text, className = "") {
  const element = make(tag, text, className);
  element.dir = "auto";
  return element;
}

export function button(text, act, className = "") {
  const element = make("button", text, className);
  element.type = "button";
  element.onclick = act;
  return element;
}

export function icon(name) {
  const element = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  element.setAttribute("class", "icon");
  element.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `icons.svg#${name}`);
  element.append(use);
  return element;
}

export function list(title, items, className = "") {
  const element = make("div", "", className);
  if (!items.length) return element;
  const entries = make("ul");
  for (const item of items) entries.append(words("li", item));
  element.append(make("p", title, "label"), entries);
  return element;
}

/** What scrolls by itself is reached by keyboard. */
export function scrolls(element, label) {
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  return element;
}

/** A file that was fetched, for the person to keep. */
export function keep(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
