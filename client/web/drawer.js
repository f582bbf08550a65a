/** The conversations: which there are, which is open; go on with one, or begin another. */
import { $, button, make, words } from "./dom.js";

const WIDE = window.matchMedia("(min-width: 60rem)");
/** Until something was said in a conversation. */
const NAMELESS = "Sayso";

export class Drawer {
  #server;
  #commands;
  #here = "";
  #refused;

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
    const held = document.activeElement?.dataset.id;
    const here = there.find(({ id }) => id === this.#here);
    if (here) $("title").textContent = here.called === here.id ? NAMELESS : here.called;
    $("conversations").replaceChildren(...there.map((one) => this.#line(one)));
    if (held) document.querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus();
  }

  #line({ id, called, last }) {
    const line = make("li");
    const open = button("", () => this.#go("resume", id));
    open.dataset.id = id;
    open.append(words("span", called), make("small", when(last)));
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
