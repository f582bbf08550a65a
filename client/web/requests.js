/** May this run? A card for each question: what, where, what it may touch; and a person's answer. */
import { code } from "./code_block.js";
import { button, icon, list, make, words } from "./dom.js";
import { Sight } from "./sight.js";
import { revealed } from "./visible.js";

export const DECIDED = {
  yes: "Approved", edit: "Approved with changes", no: "Denied", expired: "Not answered in time", cancelled: "Taken back",
};

/** Of tools whose name is no language. */
const OWN_WORDS = {
  patch: "May Sayso change files like this?", rename: "May Sayso change files like this?", tests: "May the tests run?",
  commit: "May Sayso commit this?", helpers: "May helpers do this?", take_over: "May Sayso take this over?",
};

/** As people write them. */
const LANGUAGES = { python: "Python", javascript: "JavaScript", html: "HTML", r: "R", ruby: "Ruby", perl: "Perl", java: "Java" };
const called = (language) => LANGUAGES[language] ?? language;

export class Requests {
  #open = new Map();
  #approve;
  #log;

  /** `approve(request, decision, code, lasting)` answers; `log` is what scrolls. */
  constructor(approve, log) {
    this.#approve = approve;
    this.#log = log;
  }

  clear() {
    this.#open.clear();
  }

  /** Returns a sentence for those who don't see it. */
  ask(request, block) {
    if (this.#open.has(request.id)) return "";
    const card = make("section", "", "card asks");
    const isAccess = request.kind === "access";
    const title = make("h2");
    const usual = isAccess ? "May Sayso reach further?" : OWN_WORDS[request.language] ?? `Run this ${called(request.language)} code?`;
    title.append(icon("shield"), request.question ? revealed(request.question) : usual);
    title.id = `request-${request.id}`;
    card.setAttribute("aria-labelledby", title.id);
    card.append(title);
    const shown = request.code ? code(request.code, request.language) : null;
    if (shown) card.append(shown);
    const sight = new Sight(shown, this.#log);
    if (isAccess && request.why) card.append(words("p", `Because, it says: ${revealed(request.why)}`));
    card.append(list(isAccess ? "Then it may touch" : "It may touch", (request.may_touch ?? []).map(revealed)));
    if (request.warnings?.length) card.append(list("Careful", request.warnings.map(revealed), "warnings"));
    const where = words("p", `In ${revealed(request.where)}`, "note");
    card.append(where, this.#actions(request, card, sight), countdown(request, card));
    block.append(card);
    this.#open.set(request.id, { card, sight });
    return `${title.textContent} ${(request.warnings ?? []).join(" ")}`;
  }

  /** A question that is higher than the screen is read from its beginning. */
  begin(id) {
    const { card, sight } = this.#open.get(id);
    if (card.offsetHeight > this.#log.clientHeight) this.#log.scrollTop = card.offsetTop;
    sight.look();
  }

  /** The first answer of any device counts, and all see it. Returns a sentence. */
  settle({ id, decision, by }) {
    const card = this.#open.get(id)?.card;
    if (!card) return "";
    this.#open.delete(id);
    const missed = decision === "expired" && document.hidden ? ", while this page was out of sight: ask again if you still want it" : "";
    const sentence = `${DECIDED[decision] ?? decision}${by ? ` on ${by}` : ""}${missed}.`;
    const hadFocus = card.contains(document.activeElement);
    card.replaceWith(words("p", sentence, "note"));
    if (hadFocus) this.#log.focus({ preventScroll: true });
    return sentence;
  }

  /** What was asked is no longer wanted. */
  takeDown() {
    for (const id of [...this.#open.keys()]) this.settle({ id, decision: "cancelled" });
  }

  #actions(request, card, sight) {
    const actions = make("div", "", "actions");
    const live = (text, act, className) => sight.guard(button(text, null, className), act);
    actions.append(
      live("Approve", () => this.#approve(request, "yes"), "yes"),
      button("Deny", () => this.#approve(request, "no"), "no"),
    );
    if (request.wider) {
      const more = `Approve, and ${revealed(request.wider)}`;
      actions.append(live(more, () => this.#approve(request, "yes", undefined, true)));
    }
    if (request.kind === "access") {
      actions.append(live("Approve for good", () => this.#approve(request, "yes", undefined, true)));
    } else if (request.kind !== "access" && request.code) {
      actions.append(live("Edit", () => this.#edit(request, card, actions, sight)));
    }
    return actions;
  }

  #edit(request, card, actions, sight) {
    const editor = make("textarea");
    editor.value = request.code;
    editor.setAttribute("aria-label", "Code to run instead");
    editor.spellcheck = false;
    card.querySelector("pre").replaceWith(editor);
    sight.release();
    const act = () => {
      const isSame = editor.value === request.code;
      this.#approve(request, isSame ? "yes" : "edit", isSame ? undefined : editor.value);
    };
    actions.replaceChildren(
      sight.guard(button("Run this instead", null, "yes"), act),
      button("Deny", () => this.#approve(request, "no"), "no"),
    );
    editor.focus();
  }
}

function countdown(request, card) {
  const element = make("p", "", "note");
  const until = Date.now() + 1_000 * (request.expires_s ?? 60);
  const tick = () => {
    const left = Math.max(0, Math.round((until - Date.now()) / 1_000));
    element.textContent = `No answer means no: ${left} s left.`;
    if (!left || !card.isConnected) clearInterval(ticking);
  };
  const ticking = setInterval(tick, 1_000);
  element.textContent = `No answer means no: ${request.expires_s ?? 60} s left.`;
  return element;
}
