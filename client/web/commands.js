/** Commands to Sayso itself, and which answer belongs to whom. */

export class Commands {
  #send;
  #waiting = [];

  constructor(send) {
    this.#send = send;
  }

  /** What a person typed: the answer goes into the conversation. */
  typed(name, text) {
    this.#waiting.push({ name, answered: null });
    this.#send({ t: "command", name, text });
  }

  /** What a person chose on a panel: resolves with the answer, which is shown there. */
  chosen(name, text = "") {
    return new Promise((resolve) => {
      this.#waiting.push({ name, answered: resolve });
      this.#send({ t: "command", name, text });
    });
  }

  /** An answer came. True: it was for a panel, and nobody else shows it. */
  done(message) {
    const at = this.#waiting.findIndex(({ name }) => name === message.name);
    if (at < 0) return false;
    const [{ answered }] = this.#waiting.splice(at, 1);
    answered?.(message);
    return answered !== null;
  }

  /** The server knows nothing of what was asked. */
  forget() {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { answered } of waiting) answered?.({ ok: false, text: "The server began anew: try again." });
  }
}
