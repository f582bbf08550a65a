/** The conversation on the screen: what a voice can't show. */
import { copyButton } from "./code_block.js";
import { button, icon, keep, make, words } from "./dom.js";
import { tell } from "./glance.js";
import { markdown } from "./markdown.js";
import { whenNear } from "./near.js";
import { picture } from "./pictures.js";
import { Choices } from "./choices.js";
import { DECIDED, Requests } from "./requests.js";
import { Runs } from "./runs.js";
import { offerTools, Thinking } from "./turn_tools.js";

/** Turns that stay on the page; older ones are with the server. */
const MOST_TURNS = 100;
/** A reader who is this near to the end, in pixels, is taken along. */
const NEAR_END = 80;

/** Pictures that are shown with a request. */
const MOST_THUMBNAILS = 4;
const PICTURE = /\.(?:png|jpe?g|gif|webp)$/i;
const typeOf = (name) => `image/${name.split(".").at(-1).toLowerCase().replace("jpg", "jpeg")}`;
/** Errors of the server's, after which the same may be asked again. */
const TRY_AGAIN = new Set(["model_failed", "store_failed", "ears_failed"]);

export class View {
  #log;
  #server;
  #turns = new Map();
  #before = new Map();
  #latest = null;
  #runs;
  #requests;
  #choices;
  #isAtEnd = true;
  /** The conversation that is shown. */
  conversation = "";

  #fetchPast;
  #ask;
  #edit;
  #thinking = new Thinking(() => this.#follow());

  /** `server` fetches; `approve(request, decision, code, lasting)` answers; `stop()` stops what runs; `cancel(job)` a job;
   * `say(words)` says them; `ask(words)` asks them anew, `edit(words)` lets the person change them first; `fetchPast()`
   * has the server tell what this page did not see. */
  constructor(log, server, approve, { stop, cancel, say, ask, edit, fetchPast }) {
    this.#fetchPast = fetchPast;
    this.#ask = ask;
    this.#edit = edit;
    this.#log = log;
    this.#server = server;
    this.#runs = new Runs(server, stop, cancel, () => this.#follow());
    this.#requests = new Requests(approve, log);
    this.#choices = new Choices(say);
    log.addEventListener("scroll", () => {
      this.#isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
    });
    new ResizeObserver(() => this.#follow()).observe(log);
  }

  /** Words of a person, spoken or typed, and what was sent along with them: a turn begins. */
  asked(text, files = []) {
    const turn = this.#begin(text, files);
    turn.isWhole = true;
    this.#latest = turn;
    this.#log.append(turn.block);
    while (this.#log.childElementCount > MOST_TURNS) this.#log.children[1].remove();
    this.#isAtEnd = true;
    this.#follow();
  }

  note(text, isBad = false) {
    (this.#latest?.block ?? this.#log).append(words("p", text, isBad ? "note bad" : "note"));
    tell(text);
    this.#follow();
  }

  show(message) {
    switch (message.t) {
      case "stt.final":
        if (message.text) this.asked(message.text);
        break;
      case "reply.delta":
        this.#reply(message);
        break;
      case "approval.request":
        tell(this.#requests.ask(message, this.#place(message)));
        if (this.#isAtEnd) {
          this.#follow();
          this.#requests.begin(message.id);
        }
        break;
      case "approval.done":
        tell(this.#requests.settle(message));
        break;
      case "code.start":
        this.#runs.begin(message, this.#place(message));
        break;
      case "code.out":
        this.#runs.output(message);
        break;
      case "code.end":
        tell(this.#runs.end(message, this.conversation));
        break;
      case "task.update":
        this.#runs.progress(message, this.#latest?.block ?? this.#log);
        break;
      case "announce":
        this.#announced(message);
        break;
      case "error":
        this.note(message.message, true);
        this.#offerAgain(message);
        break;
      default:
    }
  }

  /** A newer attempt has begun: older questions and runs count no more. */
  isOver() {
    this.#choices.settleAll();
    this.#requests.takeDown();
    this.#runs.leave();
  }

  /** What was said in this turn, for those who did not hear it; the screen may show it later. */
  get lastWords() {
    return markdown(this.#latest?.segment?.text ?? "").textContent;
  }

  /** The past, before what is here; turns that are here already stay as they are. */
  recall({ turns = [] }) {
    const { scrollTop, scrollHeight } = this.#log;
    const first = this.#log.querySelector(".turn");
    this.#takeUp(turns);
    for (const past of turns) {
      const here = this.#turns.get(past.turn);
      if (here?.isWhole) continue;
      const turn = this.#begin(past.said ?? "");
      turn.number = past.turn;
      turn.gen = here?.gen ?? 0;
      turn.isWhole = Boolean(past.shown) && past !== turns.at(-1);
      this.#turns.set(past.turn, turn);
      for (const message of past.shown ?? plainly(past)) this.#again(message, turn.block);
      this.#offerTools(turn.block);
      if (here) {
        turn.block.append(...here.block.querySelectorAll(".card.asks, .job, .told:has(.actions)"));
        here.block.replaceWith(turn.block);
        if (this.#latest === here) this.#latest = turn;
      } else this.#log.insertBefore(turn.block, first);
      if (!first && past === turns.at(-1)) this.#latest = turn;
    }
    this.#log.scrollTop = scrollTop + this.#log.scrollHeight - scrollHeight;
    this.#follow();
  }

  /** What was shown before. */
  #again(message, block) {
    switch (message.t) {
      case "reply.delta":
        block.append(answer(message.text));
        break;
      case "approval.done":
        block.append(words("p", settled(message), "note"));
        break;
      case "code.start":
        this.#runs.begin(message, block);
        break;
      case "code.out":
        this.#runs.output(message);
        break;
      case "code.end":
        this.#runs.end(message, this.conversation);
        break;
      case "announce":
        block.append(message.priority === "low" ? words("p", message.text, "note") : announcement(message.text));
        break;
      case "error":
        block.append(words("p", message.message, "note bad"));
        break;
      default:
    }
  }

  /** The turn is over: what of it this page did not see is fetched. */
  rested() {
    if (this.#latest) this.#offerTools(this.#latest.block);
    this.#follow();
    if (this.#latest && !this.#latest.isWhole) this.#fetchPast();
  }

  /** What came of a command that was typed. */
  async commanded({ name, ok = true, text = "", file = null, file_name: called = "" }) {
    const block = make("div", "", ok ? "note" : "note bad");
    // What stands below it is the conversation's past, which is on the screen.
    block.append(answer((name === "resume" ? text.split("\n\n", 1)[0] : text) || `/${name}: done`));
    if (file) {
      const open = button("", async () => {
        try {
          keep(await this.#server.file(file), called || file);
        } catch (error) {
          this.note(`${called} can't be fetched. ${error.message}`, true);
        }
      }, "file");
      open.append(icon("file"), words("span", called || "Download"));
      block.append(open);
    }
    (this.#latest?.block ?? this.#log).append(block);
    tell(text);
    this.#follow();
  }

  clear() {
    for (const block of [...this.#log.children]) if (block.id !== "empty") block.remove();
    this.#turns.clear();
    this.#before.clear();
    this.#runs.clear();
    this.#requests.clear();
    this.#choices.settleAll();
    this.#latest = null;
  }

  /** The server may count its turns anew: what is shown stays, and what comes is not mixed with it. */
  beginAnew() {
    this.#before = this.#turns;
    this.#turns = new Map();
  }

  /** Turns that were shown before, and that the server still knows: by their words, since a server that
   * was started again counts anew. */
  #takeUp(turns) {
    const before = [...this.#before.values()];
    for (const { turn: number, said = "" } of [...turns].reverse()) {
      const at = before.findLastIndex(({ block }) => areWordsOf(block.querySelector(".you").textContent, said));
      if (at < 0 || this.#turns.has(number)) continue;
      const [known] = before.splice(at);
      known.number = number;
      this.#turns.set(number, known);
    }
    this.#before.clear();
  }

  #begin(said, sent = []) {
    const { text, files } = sent.length ? { text: said, files: sent } : apart(said);
    const block = make("article", "", "turn");
    block.append(words("p", text, "you"));
    if (files.length) block.append(this.#along(files));
    return { block, number: null, gen: 0, segment: null, isWhole: false };
  }

  /** What was sent along: pictures as pictures. */
  #along(files) {
    const row = make("div", "", "note along");
    row.append(words("span", `With ${files.join(", ")}`));
    for (const name of files.filter((each) => PICTURE.test(each)).slice(0, MOST_THUMBNAILS)) {
      const place = make("span");
      row.append(place);
      whenNear(place, async () => {
        try {
          const content = await this.#server.workspaceFile(this.conversation, name);
          place.append(picture(new Blob([content], { type: typeOf(name) }), name, () => this.#follow()));
          place.querySelector("img").className = "thumbnail";
        } catch {
          place.remove(); // it is gone from the folder; its name stands there
        }
      });
    }
    return row;
  }

  /** A request that failed for no fault of its own. */
  #offerAgain({ code }) {
    const asked = this.#latest?.block.querySelector(".you")?.textContent;
    if (!asked || !TRY_AGAIN.has(code)) return;
    const again = button("Try again", () => {
      again.remove();
      this.#ask(asked);
    });
    this.#latest.block.append(again);
    this.#follow();
  }

  #turn({ turn = 0, gen = 0 }) {
    let known = this.#turns.get(turn);
    if (!known) {
      if (this.#latest?.number !== null) {
        this.asked("");
        this.#latest.isWhole = false; // it was asked elsewhere
        this.#fetchPast();
      }
      known = this.#latest;
      known.number = turn;
      known.gen = gen;
      this.#turns.set(turn, known);
    } else if (gen > known.gen) {
      known.gen = gen;
      known.segment = null;
    }
    return known;
  }

  /** Where something that is no text goes; what is said afterwards comes below it. */
  #place(message) {
    const turn = this.#turn(message);
    turn.segment = null;
    return turn.block;
  }

  #reply(message) {
    if (!message.text) return;
    const turn = this.#turn(message);
    if (!turn.segment) {
      turn.segment = { element: make("div", "", "answer"), text: "", waiting: false };
      turn.block.append(turn.segment.element);
    }
    const segment = turn.segment;
    segment.text += message.text;
    if (segment.waiting) return;
    segment.waiting = true;
    requestAnimationFrame(() => {
      segment.waiting = false;
      segment.element.replaceChildren(...written(segment.text));
      segment.element.dataset.text = segment.text;
      this.#follow();
    });
  }

  /** Sayso speaks up by itself. */
  #announced({ text, priority = "normal", asks = false, choices = [], question = "" }) {
    this.#choices.settle(question);
    if (priority === "low") {
      this.note(text);
      return;
    }
    const card = announcement(text);
    if (asks) this.#choices.offer(question, choices, card);
    (this.#latest?.block ?? this.#log).append(card);
    tell(text);
    this.#follow();
  }

  thinks(isThinking) {
    this.#thinking.show(isThinking ? this.#latest?.block : null);
  }

  #offerTools = (block) => offerTools(block, this.#ask, this.#edit);

  /** Code runs, or does not any more: then nobody waits for an answer. */
  acts(isActing) {
    if (!isActing) this.#choices.settleAll();
  }

  /** Stays at the end, unless the person has scrolled up to read. */
  #follow() {
    if (this.#isAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

/** Of a turn of which the server told only this much. */
function plainly({ turn, reply = "", code = [] }) {
  const runs = code.flatMap((run, at) => {
    const id = `past ${turn} ${at}`;
    const isOver = run.status !== "running";
    return [{ t: "code.start", ...run, id }, ...(isOver ? [{ t: "code.end", id, status: run.status }] : [])];
  });
  return [...(reply ? [{ t: "reply.delta", text: reply }] : []), ...runs];
}

const settled = ({ decision, by }) => `${DECIDED[decision] ?? decision}${by ? ` on ${by}` : ""}.`;

function announcement(text) {
  const card = make("div", "", "told");
  card.append(icon("bell"), words("p", text));
  return card;
}

function answer(text) {
  const element = make("div", "", "answer");
  element.dataset.text = text;
  element.append(...written(text));
  return element;
}

/** An answer's elements. What is copied of its code is what is seen: names stand for what is not. */
function written(text) {
  const elements = markdown(text);
  for (const block of elements.querySelectorAll("pre")) block.after(copyButton(block.textContent));
  return elements.childNodes;
}

/** The server keeps below a person's words which files were sent along with them. */
function apart(said) {
  const found = /\n\n\(Files that I sent along, in the workspace: ([^\n]+)\.\)$/.exec(said);
  return found ? { text: said.slice(0, found.index), files: found[1].split(", ") } : { text: said, files: [] };
}

function areWordsOf(shown, said) {
  return said === shown || said.startsWith(`${shown}\n\n`);
}
