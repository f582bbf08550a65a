/** A block of code: with its colours, and a button that copies it. */
import { button, make, scrolls } from "./dom.js";
import { highlight } from "./highlight.js";

export function code(text, language) {
  const element = scrolls(make("pre"), language ? `Code in ${language}` : "Code");
  element.append(highlight(text.replace(/\n$/, ""), language));
  return element;
}

export function copyButton(text) {
  const copy = button("Copy", () => {
    navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; }, () => {});
  });
  return copy;
}
