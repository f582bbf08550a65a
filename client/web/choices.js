/** Questions that are answered in words while code runs: buttons for the usual ones. */
import { button, make } from "./dom.js";

export class Choices {
  #open = new Map();
  #say;

  /** `say(words)` answers, as if they were typed. */
  constructor(say) {
    this.#say = say;
  }

  /** Offers what may be answered, in the card of the question. */
  offer(question, choices, card) {
    if (!choices.length) return;
    const row = make("div", "", "actions");
    row.append(...choices.map((choice) => button(choice, () => {
      this.settle(question);
      this.#say(choice);
    })));
    card.append(row);
    this.#open.set(question, card);
  }

  /** It was answered, here or elsewhere. */
  settle(question) {
    this.#open.get(question)?.remove();
    this.#open.delete(question);
  }

  /** No code waits for an answer any more. */
  settleAll() {
    for (const question of [...this.#open.keys()]) this.settle(question);
  }
}
