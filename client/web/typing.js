/** The line to type in: questions and commands, which go when the files have arrived that go along. */
import { $ } from "./dom.js";

const WAITS = "This goes as soon as the files have arrived.";

export class Typing {
  #uploads;
  #command;
  #ask;
  #begins;
  /** The question that the words in the line are about: what was asked when the first letter came. */
  #about = null;

  /** `question()`: what is asked now; `command(name, text)` and `ask(text, files, question)` send; `begins()`: somebody
   * sends something; whether that can be. */
  constructor({ uploads, question, command, ask, begins }) {
    this.#uploads = uploads;
    this.#command = command;
    this.#ask = ask;
    this.#begins = begins;
    $("words").addEventListener("input", ({ target }) => {
      this.#about = target.value.trim() ? (this.#about ?? question()) : null;
    });
    $("typing").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    $("words").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    for (const example of $("examples").querySelectorAll("button")) {
      example.addEventListener("click", () => this.#begins() && this.send(example.textContent));
    }
  }

  /** To be changed before it is sent. */
  edit(words) {
    $("words").value = words;
    this.#about = null;
    $("words").focus();
  }

  #submit() {
    const text = $("words").value.trim();
    if (!text || !this.#begins()) return;
    $("words").value = "";
    const question = this.#about ?? "";
    this.#about = null;
    const command = /^\/([\w-]+)(?!\S)\s*(.*)$/s.exec(text);
    if (command) this.#command(command[1], command[2]);
    else this.send(text, question);
  }

  async send(text, question = "") {
    if (this.#uploads.areComing) {
      $("latency").textContent = WAITS;
      await this.#uploads.arrive();
      if ($("latency").textContent === WAITS) $("latency").textContent = "";
    }
    this.#ask(text, this.#uploads.take(), question);
  }
}
