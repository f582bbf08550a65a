/** The conversations: which there are, which is open; go on with one, or begin another. */
import { $, button, keep, make, words } from "./dom.js";

const WIDE = window.matchMedia("(min-width: 60rem)");
/** So long after a letter it is searched. */
const SEARCH_MS = 250;
/** Until something was said in a conversation. */
const NAMELESS = "Sayso";

export class Drawer {
  #server;
  #commands;
  #here = "";
  #there = [];
  #refused;
  #searching = null;

  /** `refused(sentence)`: something was not done. */
  constructor(server, commands, refused) {
    this.#server = server;
    this.#commands = commands;
    this.#refused = refused;
    $("open-drawer").addEventListener("click", () => {
      this.refresh();
      $("drawer").showModal();
    });
    $("new").addEventListener("click", () => this.#go("new"));
    $("find").addEventListener("input", () => {
      clearTimeout(this.#searching);
      this.#searching = setTimeout(() => this.#search($("find").value.trim()), SEARCH_MS);
    });
    $("title").addEventListener("click", () => this.#openAbout());
    $("naming").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask("save", $("name").value.trim());
    });
    $("pin").addEventListener("click", () => this.#ask("pin", this.#current()?.pinned ? "off" : "on"));
    $("share").addEventListener("click", () => this.#share());
    $("delete").addEventListener("click", () => {
      if (confirm(`Delete “${$("title").textContent}” for good? What was said, what ran and its files are gone then.`)) {
        this.#ask("forget", "yes");
      }
    });
    WIDE.addEventListener("change", () => this.#fit());
  }

  /** On a wide screen the list is always there. */
  #fit() {
    $("drawer").close();
    $("drawer").toggleAttribute("open", WIDE.matches && this.#here !== ""); // show() would take the focus
  }

  /** The conversation that this device takes part in. */
  isIn(id, name = "") {
    const first = !this.#here;
    this.#here = id;
    $("title").textContent = name || NAMELESS;
    if (first) this.#fit();
    this.refresh();
  }

  /** Nobody is paired here. */
  hide() {
    this.#here = "";
    this.#fit();
  }

  async refresh() {
    let there;
    try {
      there = await this.#server.conversations();
    } catch {
      return; // the server is away, and says so itself
    }
    this.#there = there;
    const here = this.#current();
    if (here) $("title").textContent = here.called === here.id ? NAMELESS : here.called;
    if ($("find").value.trim()) return;
    this.#list([...there.filter(({ pinned }) => pinned), ...there.filter(({ pinned }) => !pinned)]);
  }

  #current() {
    return this.#there.find(({ id }) => id === this.#here);
  }

  /** In all that was said: the latest place in each conversation. */
  async #search(words) {
    if (!words) {
      this.refresh();
      return;
    }
    try {
      const found = await this.#server.found(words);
      if ($("find").value.trim() !== words) return; // more was typed meanwhile
      this.#list(found.map(({ time, ...one }) => ({ ...one, last: time })));
      if (!found.length) $("conversations").append(line("Nothing was found."));
    } catch (error) {
      $("conversations").replaceChildren(line(error.message));
    }
  }

  #list(there) {
    const held = document.activeElement?.dataset.id;
    $("conversations").replaceChildren(...there.map((one) => this.#line(one)));
    if (held) document.querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus();
  }

  #openAbout() {
    const here = this.#current();
    if (!here) return;
    $("about-said").textContent = "";
    $("name").value = here.called === here.id ? "" : here.called;
    this.#showPin(here);
    $("about-conversation").showModal();
  }

  #showPin({ pinned }) {
    $("pin").querySelector("span").textContent = pinned ? "Let go from the top" : "Keep at the top";
  }

  async #ask(command, text) {
    const { ok = true, text: said } = await this.#commands.chosen(command, text);
    await this.refresh();
    if (this.#current()) this.#showPin(this.#current());
    $("about-said").textContent = said;
    if (ok && command !== "pin") $("about-conversation").close();
  }

  /** As a notebook, handed to another program where the browser can, else kept. */
  async #share() {
    const { ok = true, text, file, file_name: name } = await this.#commands.chosen("export");
    if (!ok || !file) {
      $("about-said").textContent = text;
      return;
    }
    try {
      const content = await this.#server.file(file);
      const shared = new File([content], name, { type: "application/x-ipynb+json" });
      if (navigator.canShare?.({ files: [shared] })) await navigator.share({ files: [shared], title: name });
      else keep(content, name);
    } catch (error) {
      if (error.name !== "AbortError") $("about-said").textContent = `It can't be shared. ${error.message}`;
    }
  }

  #line({ id, called, last, pinned = false, excerpt = "" }) {
    const line = make("li");
    const open = button("", () => this.#go("resume", id));
    open.dataset.id = id;
    open.append(words("span", called), make("small", `${pinned ? "kept at the top · " : ""}${when(last)}`));
    if (excerpt) open.append(words("small", excerpt, "excerpt"));
    if (id === this.#here) open.setAttribute("aria-current", "true");
    line.append(open);
    return line;
  }

  async #go(command, text = "") {
    if (!WIDE.matches) $("drawer").close();
    const { ok = true, text: said } = await this.#commands.chosen(command, text);
    if (!ok) this.#refused(said);
  }
}

function when(seconds) {
  const date = new Date(1_000 * seconds);
  const isToday = date.toDateString() === new Date().toDateString();
  const form = isToday ? { hour: "numeric", minute: "2-digit" } : { day: "numeric", month: "short" };
  return new Intl.DateTimeFormat(undefined, form).format(date);
}

const line = (text) => make("li", text, "note");
