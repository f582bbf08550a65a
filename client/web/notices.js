/**
 * Told when the page is out of sight: in its title at once, and by the system where the person let it. What is told
 * comes from this page alone: nobody else carries it, so a page that is closed tells nothing.
 */
import { $ } from "./dom.js";

const KEPT = "sayso.notices";
/** Of a line of a notification. */
const MOST_CHARS = 140;
const TITLE = "Sayso";

export class Notices {
  #unseen = 0;

  constructor() {
    $("notices").addEventListener("change", ({ target }) => this.#let(target.checked));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#seen();
    });
    this.#show();
  }

  /** Something that a person wants to know who looks elsewhere. `tag`: a later one takes its place. */
  async tell(text, tag) {
    if (!document.hidden) return;
    this.#unseen += 1;
    document.title = `(${this.#unseen}) ${TITLE}`;
    if (!this.#isOn) return;
    const options = { body: text.slice(0, MOST_CHARS), tag, icon: "icon-192.png" };
    const worker = await navigator.serviceWorker?.getRegistration().catch(() => null);
    if (!document.hidden) return;
    try {
      if (worker) await worker.showNotification(TITLE, options);
      else new Notification(TITLE, options).onclick = () => window.focus();
    } catch {
      // some phones show them for installed pages alone; the title tells it all the same
    }
  }

  #seen() {
    this.#unseen = 0;
    document.title = TITLE;
    navigator.serviceWorker?.getRegistration()
      .then((worker) => worker?.getNotifications())
      .then((shown) => shown?.forEach((one) => one.close()), () => {});
  }

  get #isOn() {
    return globalThis.Notification?.permission === "granted" && localStorage.getItem(KEPT) === "yes";
  }

  async #let(on) {
    const may = on && globalThis.Notification ? await Notification.requestPermission() : "default";
    localStorage.setItem(KEPT, may === "granted" ? "yes" : "");
    this.#show(on && may !== "granted");
  }

  #show(isRefused = false) {
    $("notices").checked = this.#isOn;
    $("notices").disabled = !globalThis.Notification;
    $("notices-said").textContent = isRefused || globalThis.Notification?.permission === "denied"
      ? "This browser does not let the page tell you: allow notifications for it in the browser's settings."
      : "When a job ends, a question waits or a reminder rings while this page is out of sight. Nothing goes through anybody else.";
  }
}
