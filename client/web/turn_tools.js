/** What stands below an answer: how long Sayso thinks, and what one may do with an answer that is over. */
import { button, icon, make } from "./dom.js";

/** Seconds of thought, at the end of the turn. */
export class Thinking {
  #grown;
  #line = null;
  #timer = null;
  #began = 0;

  /** `grown()` is called when something was added. */
  constructor(grown) {
    this.#grown = grown;
  }

  /** In this block; null: nobody thinks. */
  show(block) {
    if (!block) {
      clearInterval(this.#timer);
      this.#line?.remove();
      this.#line = null;
      return;
    }
    if (!this.#line) {
      this.#line = make("p", "Thinking …", "thinking");
      this.#began = performance.now();
      this.#timer = setInterval(() => this.#tick(), 1_000);
    }
    if (this.#line.parentElement === block) return;
    block.append(this.#line);
    this.#grown();
  }

  #tick() {
    const line = this.#line;
    line.textContent = `Thinking … ${Math.round((performance.now() - this.#began) / 1_000)} s`;
    if (line.nextElementSibling) line.parentElement.append(line);
    this.#grown();
  }
}

/** Copy the answers of a turn, ask the same again, or change the question. */
export function offerTools(block, ask, edit) {
  block.querySelector(":scope > .tools")?.remove();
  const answers = [...block.querySelectorAll(":scope > .answer")];
  if (!answers.length) return;
  const asked = block.querySelector(".you").textContent;
  const row = make("div", "", "tools");
  const tool = (name, label, picture, act) => {
    const element = button("", act);
    element.append(icon(picture), make("span", name));
    element.setAttribute("aria-label", label);
    row.append(element);
    return element;
  };
  const copy = tool("Copy", "Copy the answer", "copy", () => {
    const text = answers.map((each) => each.dataset.text).join("\n\n");
    navigator.clipboard?.writeText(text).then(() => {
      copy.querySelector("span").textContent = "Copied";
    }, () => {});
  });
  if (asked) {
    tool("Again", "Ask this again", "again", () => ask(asked));
    tool("Edit", "Edit the question", "edit", () => edit(asked));
  }
  block.append(row);
}
