/**
 * Approve lives when the person can have seen what they approve: the code from its first line to its last, and
 * the button itself, standing still in sight. So nothing is approved by a click or a key that was meant for what
 * was there before.
 */
import { button, make } from "./dom.js";

/** How often it is looked. */
const LOOK_MS = 100;
/** So long the button stands still before it counts: nobody means what comes under the pointer sooner. */
const STILL_MS = 600;

export class Sight {
  #code;
  #more;
  #within;
  #guarded = [];
  #begun = false;
  #ended = false;
  #stillSince = Infinity;
  #place = "";

  /** Of `code`, an element or null, in what scrolls it: `within`. */
  constructor(code, within) {
    this.#code = code;
    this.#within = within;
    this.#ended = this.#begun = code === null;
    if (code) {
      code.classList.add("folded");
      this.#more = button("", () => this.#unfold(), "more");
      this.#more.hidden = true;
      code.after(this.#more);
    }
    const looking = setInterval(() => {
      if (!this.#guarded[0]?.isConnected) clearInterval(looking);
      else this.look();
    }, LOOK_MS);
  }

  /** A button for `act` that lives once all was seen. */
  guard(element, act) {
    /** Whether the button lived when it was pressed; null if it was not: screen readers and switches only click. */
    let wasLive = null;
    const press = () => {
      this.look();
      wasLive = this.isLive;
    };
    element.setAttribute("aria-disabled", "true");
    element.addEventListener("pointerdown", press);
    element.addEventListener("keydown", (event) => {
      if (event.repeat) event.preventDefault();
      else press();
    });
    element.onclick = (event) => {
      const isMeant = wasLive ?? event.detail === 0;
      wasLive = null;
      this.look();
      if (event.isTrusted && isMeant && this.isLive) act();
    };
    this.#guarded.push(element);
    return element;
  }

  /** What was guarded until now is gone. */
  release() {
    this.#guarded = [];
  }

  get isLive() {
    return this.#begun && this.#ended && performance.now() - this.#stillSince >= STILL_MS;
  }

  #unfold() {
    this.#code.classList.remove("folded", "cut");
    this.#more.remove();
    this.#more = null;
    this.#code.focus({ preventScroll: true });
  }

  /** Looks what is in sight now. */
  look() {
    const now = performance.now();
    if (this.#code?.isConnected) this.#lookAtCode();
    const [first] = this.#guarded;
    const { left, top, width, height } = first.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    const place = document.visibilityState === "visible" && first.contains(there) ? `${left} ${top} ${width}` : "";
    if (!place || place !== this.#place) this.#stillSince = place ? now : Infinity;
    this.#place = place;
    for (const element of this.#guarded) element.setAttribute("aria-disabled", String(!this.isLive));
  }

  #lookAtCode() {
    const { top, bottom } = this.#code.getBoundingClientRect();
    const seen = this.#within.getBoundingClientRect();
    const isFolded = this.#code.scrollHeight - this.#code.clientHeight > 1;
    if (this.#more) {
      const line = parseFloat(getComputedStyle(this.#code).lineHeight);
      const count = Math.max(1, Math.round((this.#code.scrollHeight - this.#code.clientHeight) / line));
      this.#more.hidden = !isFolded;
      this.#code.classList.toggle("cut", isFolded);
      this.#more.textContent = `Show ${count} more ${count === 1 ? "line" : "lines"}`;
    }
    if (document.visibilityState !== "visible") return;
    const isIn = (at) => at >= seen.top - 1 && at <= seen.bottom + 1;
    this.#begun ||= isIn(top);
    this.#ended ||= !isFolded && isIn(bottom);
  }
}
