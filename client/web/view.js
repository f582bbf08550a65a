/** The conversation on the screen: what a voice can't show. */
import { code, make, markdown } from "./markdown.js";

/** Characters of output that are kept on the screen for one run. */
const MOST_OUTPUT = 200_000;
/** Turns that stay on the page; older ones are with the server. */
const MOST_TURNS = 100;

const STATUS = {
  ok: "done", error: "failed", interrupted: "stopped", died: "ended; its variables are lost", refused: "not run",
  unknown: "outcome unknown",
};

export class View {
  #log;
  #turns = new Map();
  #latest = null;
  #runs = new Map();
  #requests = new Map();
  #fetchFile;
  #approve;

  /** `fetchFile(id)` gives a Blob; `approve(request, decision, code, lasting)` answers a request. */
  constructor(log, fetchFile, approve) {
    this.#log = log;
    this.#fetchFile = fetchFile;
    this.#approve = approve;
  }

  /** Words of a person, spoken or typed: a turn begins. */
  asked(text) {
    const block = make("article", "", "turn");
    const words = make("p", text, "you");
    words.dir = "auto";
    block.append(words);
    this.#latest = { block, number: null, gen: 0, segment: null };
    this.#add(block);
  }

  note(text, isBad = false) {
    const note = make("p", text, isBad ? "note bad" : "note");
    note.dir = "auto";
    (this.#latest?.block ?? this.#log).append(note);
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
        this.#request(message);
        break;
      case "approval.done":
        this.#settled(message);
        break;
      case "code.start":
        this.#run(message);
        break;
      case "code.out":
        this.#output(message);
        break;
      case "code.end":
        this.#ended(message);
        break;
      case "announce":
        this.note(message.text);
        break;
      case "error":
        this.note(message.message, true);
        break;
      case "command.done":
        this.#commanded(message);
        break;
      case "conversation":
        this.clear();
        this.note(`Conversation: ${message.name || message.id}`);
        break;
      default:
    }
  }

  /** The past that the server tells after a long absence. */
  recall(snapshot) {
    this.clear();
    for (const turn of snapshot.turns ?? []) {
      this.asked(turn.said ?? "");
      this.#reply({ turn: turn.turn, text: turn.reply ?? "" });
      for (const run of turn.code ?? []) {
        const id = `past ${turn.turn} ${this.#runs.size}`;
        this.#run({ ...run, id, turn: turn.turn });
        this.#ended({ id, status: run.status });
      }
    }
    for (const request of snapshot.approvals ?? []) this.#request(request);
  }

  clear() {
    this.#log.replaceChildren();
    this.#turns.clear();
    this.#runs.clear();
    this.#requests.clear();
    this.#latest = null;
  }

  #turn({ turn = 0, gen = 0 }) {
    let known = this.#turns.get(turn);
    if (!known) {
      if (this.#latest?.number !== null) this.asked("");
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

  #reply(message) {
    if (!message.text) return;
    const turn = this.#turn(message);
    if (!turn.segment) {
      const element = make("div", "", "answer");
      element.dir = "auto";
      turn.segment = { element, text: "", waiting: false };
      turn.block.append(element);
    }
    const segment = turn.segment;
    segment.text += message.text;
    if (segment.waiting) return;
    segment.waiting = true;
    requestAnimationFrame(() => {
      segment.waiting = false;
      segment.element.replaceChildren(markdown(segment.text));
      this.#follow();
    });
  }

  #request(request) {
    const turn = this.#turn(request);
    const card = make("section", "", "card asks");
    const isAccess = request.kind === "access";
    const title = make("h3", isAccess ? "May Sayso reach further?" : `May this ${request.language} run?`);
    title.id = `request-${request.id}`;
    card.setAttribute("aria-labelledby", title.id);
    card.append(title, make("p", `In ${request.where}`, "note"));
    if (request.code) card.append(code(request.code, request.language));
    if (isAccess && request.why) card.append(make("p", `Because, it says: ${request.why}`));
    card.append(list(isAccess ? "Then it may touch:" : "It may touch:", request.may_touch ?? []));
    if (request.warnings?.length) {
      const warned = list("Mind:", request.warnings.map((w) => (typeof w === "string" ? w : w.text ?? w.what ?? "")));
      warned.className = "warnings";
      card.append(warned);
    }
    const actions = make("div", "", "actions");
    const yes = button("Approve", () => this.#approve(request, "yes"), "yes");
    const no = button("Deny", () => this.#approve(request, "no"));
    actions.append(yes, no);
    if (isAccess) actions.append(button("Approve for good", () => this.#approve(request, "yes", undefined, true)));
    if (!isAccess && request.code) actions.append(button("Edit", () => this.#edit(request, card, actions)));
    card.append(actions, this.#countdown(request, card));
    turn.block.append(card);
    turn.segment = null;
    this.#requests.set(request.id, { card, actions });
    this.#follow();
  }

  #countdown(request, card) {
    const element = make("p", "", "note");
    const until = Date.now() + 1_000 * (request.expires_s ?? 60);
    const tick = () => {
      const left = Math.max(0, Math.round((until - Date.now()) / 1_000));
      element.textContent = `No answer means no: ${left} s left.`;
      if (left && card.isConnected && card.classList.contains("asks")) setTimeout(tick, 1_000);
    };
    queueMicrotask(tick);
    return element;
  }

  #edit(request, card, actions) {
    const editor = make("textarea");
    editor.value = request.code;
    editor.setAttribute("aria-label", "Code to run instead");
    editor.spellcheck = false;
    card.querySelector("pre").replaceWith(editor);
    actions.replaceChildren(
      button("Run this instead", () => {
        const same = editor.value === request.code;
        this.#approve(request, same ? "yes" : "edit", same ? undefined : editor.value);
      }, "yes"),
      button("Deny", () => this.#approve(request, "no")),
    );
    editor.focus();
  }

  #settled({ id, decision, by }) {
    const request = this.#requests.get(id);
    if (!request) return;
    this.#requests.delete(id);
    const words = { yes: "Approved", edit: "Approved with changes", no: "Denied", expired: "Not answered in time",
      cancelled: "Taken back" };
    request.card.replaceChildren(make("p", `${words[decision] ?? decision}${by ? ` on ${by}` : ""}.`, "note"));
    request.card.classList.remove("asks");
  }

  #run(message) {
    const turn = this.#turn(message);
    const card = make("details", "", "card");
    const summary = make("summary", `${message.language}: runs …`);
    const copy = button("Copy", () => navigator.clipboard?.writeText(message.code));
    card.append(summary, code(message.code, message.language), copy);
    const results = make("div", "", "results");
    turn.block.append(card, results);
    turn.segment = null;
    this.#runs.set(message.id, { summary, results, language: message.language, output: null, size: 0 });
    this.#follow();
  }

  #output(message) {
    const run = this.#runs.get(message.id);
    if (!run) return;
    if (message.file) this.#fetched(run, message);
    else if (message.mime === "text/html" && message.text) run.results.append(frame(message.text));
    else this.#print(run, message);
    this.#follow();
  }

  #print(run, { text = "", kind }) {
    if (!text || run.size > MOST_OUTPUT) return;
    if (!run.output) {
      run.output = make("pre", "", "output");
      run.output.tabIndex = 0;
      run.output.setAttribute("aria-label", "Output");
      run.results.append(run.output);
    }
    run.size += text.length;
    const piece = make("span", text);
    if (kind === "stderr" || kind === "error") piece.className = "warnings";
    run.output.append(piece);
    if (run.size > MOST_OUTPUT) run.output.append("\n… the rest is with the server.");
  }

  async #fetched(run, { file, mime = "", text = "" }) {
    let content;
    try {
      content = await this.#fetchFile(file);
    } catch {
      this.#print(run, { text: `${text || mime} (it could not be fetched)\n` });
      return;
    }
    if (mime.startsWith("image/")) {
      const image = make("img", "", "result");
      image.alt = text || "a picture that the code made";
      image.src = URL.createObjectURL(content);
      image.onload = () => this.#follow();
      run.results.append(image);
    } else if (mime === "text/html") run.results.append(frame(await content.text()));
    else {
      const link = make("a", text || `Download ${file}`);
      link.href = URL.createObjectURL(content);
      link.download = text || file;
      run.results.append(link);
    }
    run.output = null;
  }

  #ended({ id, status, seconds = 0, detail = "", changes = null }) {
    const run = this.#runs.get(id);
    if (!run) {
      if (status === "refused" && detail) this.note(`Not run: ${detail}`); // it never started
      return;
    }
    const time = seconds >= 0.1 ? ` in ${seconds.toFixed(1)} s` : "";
    run.summary.textContent = `${run.language}: ${STATUS[status] ?? status}${time}`;
    if (detail) run.results.append(make("p", detail, "note"));
    const names = ["added", "changed", "deleted"].flatMap((what) =>
      (changes?.[what] ?? []).map((path) => `${what} ${path}`));
    if (names.length) run.results.append(list("What it did to files:", names));
  }

  #commanded({ name, ok = true, text = "" }) {
    const note = make("div", "", ok ? "note" : "note bad");
    note.append(markdown(text || `/${name}: done`));
    (this.#latest?.block ?? this.#log).append(note);
    this.#follow();
  }

  #add(block) {
    this.#log.append(block);
    while (this.#log.childElementCount > MOST_TURNS) this.#log.firstElementChild.remove();
    this.#follow();
  }

  /** Stays at the end, unless the person has scrolled up to read. */
  #follow() {
    const log = this.#log;
    if (log.scrollHeight - log.scrollTop - log.clientHeight < 200) log.scrollTop = log.scrollHeight;
  }
}

function list(title, items) {
  const element = make("div");
  if (!items.length) return element;
  const entries = make("ul");
  for (const item of items) entries.append(make("li", item));
  element.append(make("p", title, "note"), entries);
  return element;
}

function button(text, act, className = "") {
  const element = make("button", text, className);
  element.type = "button";
  element.onclick = act;
  return element;
}

/** Foreign HTML: no scripts, no forms, no access to this page. */
function frame(html) {
  const element = make("iframe", "", "result");
  element.setAttribute("sandbox", "");
  element.title = "a result of the code";
  element.srcdoc = html;
  return element;
}
