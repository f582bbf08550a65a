/** The paired devices, for those who may manage them: which there are, turn one out, let another one in. */
import { $, button, make, words } from "./dom.js";
import { scopes } from "./pairing.js";
import { qr } from "./qr.js";

const NOT_HERE = "This device may not manage devices. To let it: sayso pair --may talk,approve,admin, and pair it anew.";
/** Light modules around a code, as readers want them. */
const QUIET = 4;

export class Devices {
  #send;
  #timer = null;

  constructor(send) {
    this.#send = send;
    $("menu").addEventListener("click", () => this.#open());
    $("pair-another").addEventListener("click", () => this.#send({ t: "pairing.open" }));
    $("settings").addEventListener("close", () => this.#close());
  }

  /** True: the message was for this panel. */
  hear(message) {
    switch (message.t) {
      case "devices":
        this.#list(message.devices ?? []);
        return true;
      case "pairing.opened":
        this.#letIn(message);
        return true;
      case "pairing.done":
        this.#done(message);
        return true;
      default:
        return false;
    }
  }

  #open() {
    const may = scopes().includes("admin");
    $("devices-note").textContent = may ? "" : NOT_HERE;
    $("pair-another").hidden = !may;
    if (may) this.#send({ t: "devices.list" });
  }

  #list(devices) {
    $("devices-note").textContent = devices.length ? "" : "No device is paired.";
    $("devices").replaceChildren(...devices.map((device) => this.#line(device)));
  }

  #line({ name, person, scopes: may, paired_at: since, connected }) {
    const line = make("li");
    const about = make("div");
    const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }).format(new Date(1_000 * since));
    const facts = [person, may.join(", "), `since ${day}`, connected ? "connected" : ""].filter(Boolean);
    about.append(words("span", name), document.createElement("br"), words("small", facts.join(" · ")));
    const out = button("Remove", () => {
      if (confirm(`Remove ${name}? It is cut off at once.`)) this.#send({ t: "devices.revoke", device: name });
    }, "no");
    out.setAttribute("aria-label", `Remove ${name}`);
    line.append(about, out);
    return line;
  }

  #letIn({ url, digits, words: known = "", trust = "", expires_s: seconds }) {
    if (!$("settings").open) {
      this.#send({ t: "pairing.close" });
      return;
    }
    const steps = make("ol");
    if (trust) {
      steps.append(step("On a phone or browser that is new here: scan this, and trust the server as the page says.",
        picture(trust, "Code of the page that introduces the server"), words("p", trust, "digest"),
        words("p", `The certificate's SHA-256 fingerprint is ${fingerprint(url)}`, "note")));
    }
    steps.append(step(trust ? "Then scan this to pair." : "In a browser on the server's machine, open this.",
      trust ? picture(url, "Code that pairs") : words("p", url, "digest")));
    const typed = step("Or open the server's address and type", make("p", `${digits.slice(0, 3)} ${digits.slice(3)}`, "code"));
    if (known) typed.append(words("p", `The server is known by the words ${known}.`, "note"));
    steps.append(typed);
    const left = make("p", "", "note");
    left.setAttribute("role", "timer");
    $("letting-in").replaceChildren(steps, left, button("Close pairing", () => this.#close()));
    $("let-in").textContent = "";
    $("pair-another").hidden = true;
    const until = Date.now() + 1_000 * seconds;
    clearInterval(this.#timer);
    const tick = () => {
      const more = Math.round((until - Date.now()) / 1_000);
      left.textContent = more > 0 ? `Open for ${more} s, for one device; longer while one trusts the server.` :
        "Still open, since a device looked at the page that introduces the server.";
    };
    tick();
    this.#timer = setInterval(tick, 1_000);
    $("letting-in").scrollIntoView({ block: "start" });
  }

  /** The line is gone, and with it the window that was opened over it. */
  cut() {
    if (this.#timer === null) return;
    this.#close(); // where the server has not noticed
    this.#over("The connection was lost, which closed pairing: open it again.");
  }

  #done({ outcome, device = "" }) {
    const sentences = {
      paired: `${device} is paired.`, failed: "The code was wrong too often: open pairing again.",
      expired: "Two minutes have passed, and no device came.", closed: "Pairing is closed.",
    };
    this.#over(sentences[outcome] ?? outcome);
    this.#send({ t: "devices.list" });
  }

  /** Whoever looks away from the code wants nobody in any more. */
  #close() {
    if (this.#timer !== null) this.#send({ t: "pairing.close" });
  }

  #over(sentence) {
    const hadFocus = $("letting-in").contains(document.activeElement);
    clearInterval(this.#timer);
    this.#timer = null;
    $("letting-in").replaceChildren();
    $("pair-another").hidden = false;
    if (hadFocus) $("pair-another").focus();
    $("let-in").textContent = sentence;
  }
}

/** What the address says of the authority, as devices show it. */
function fingerprint(url) {
  const digest = new URLSearchParams(new URL(url).hash.slice(1)).get("ca").replace(/-/g, "+").replace(/_/g, "/");
  return [...atob(digest)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()).join(":");
}

function step(sentence, ...parts) {
  const element = make("li");
  element.append(make("span", sentence), ...parts);
  return element;
}

/** A QR code, drawn as one picture. */
function picture(text, title) {
  const rows = qr(text);
  const size = rows.length + 2 * QUIET;
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : [])));
  const element = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  element.setAttribute("class", "qr");
  element.setAttribute("viewBox", `0 0 ${size} ${size}`);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", title);
  path.setAttribute("d", dark.join(""));
  path.setAttribute("fill", "#000");
  path.setAttribute("shape-rendering", "crispEdges");
  element.append(path);
  return element;
}
