/**
 * The page's place in the world: networks come and go, screens are locked, pages are frozen and taken up
 * again. Whatever comes back, the line is looked after at once; while one talks, the screen stays on.
 */

export class Presence {
  #lock = null;
  #isTalking = false;

  /** `lost()`: the network is gone; `back()`: make sure of the line and the sound. */
  constructor({ lost, back }) {
    window.addEventListener("offline", lost);
    window.addEventListener("online", back);
    window.addEventListener("pageshow", ({ persisted }) => persisted && back());
    document.addEventListener("resume", back);
    navigator.connection?.addEventListener?.("change", back);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      back();
      this.#hold(); // a lock ends when the page is hidden
    });
  }

  /** Whether somebody talks, listens or waits. */
  talks(isTalking) {
    if (isTalking === this.#isTalking) return;
    this.#isTalking = isTalking;
    this.#hold();
  }

  async #hold() {
    if (!this.#isTalking) {
      this.#lock?.release();
      this.#lock = null;
    } else if (!this.#lock || this.#lock.released) {
      this.#lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
      if (!this.#isTalking) this.#hold();
    }
  }
}
