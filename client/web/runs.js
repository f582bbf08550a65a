/** Code that runs: a card for each run, with its code, what it prints and draws, and what became of it. */
import { code, copyButton } from "./code_block.js";
import { button, icon, keep, make, scrolls, words } from "./dom.js";
import { whenNear } from "./near.js";
import { picture } from "./pictures.js";

/** Pixels from its end at which an output is still looked at there: it follows what comes. */
const NEAR = 8;
/** Characters of output that are kept on the screen for one run. */
const MOST_OUTPUT = 200_000;
/** Changed files that are named one by one. */
const MOST_FILES = 12;

/** Of a result in a frame, in pixels; what is higher scrolls in it. */
const HIGHEST_FRAME = 560;
const FRAME_BORDER = 2;

const STATUS = {
  ok: "done", error: "failed", interrupted: "stopped", died: "ended; its variables are lost", refused: "not run",
  unknown: "outcome unknown",
};

export class Runs {
  #runs = new Map();
  /** What goes on and tells how far it is, by its id. */
  #jobs = new Map();
  #server;
  #stop;
  #cancel;
  #grown;

  /** `server` fetches; `stop()` stops what runs; `cancel(job)` stops a job; `grown()` is called when a card has grown. */
  constructor(server, stop, cancel, grown) {
    this.#server = server;
    this.#stop = stop;
    this.#cancel = cancel;
    this.#grown = grown;
  }

  clear() {
    this.#runs.clear();
    for (const { line } of this.#jobs.values()) line.remove();
    this.#jobs.clear();
  }

  begin({ id, language, code: text }, block) {
    const card = make("details", "", "card");
    const summary = make("summary");
    const said = make("span", `${language}: running …`, "running");
    const stop = button("Stop", (event) => {
      event.preventDefault();
      this.#stop();
    });
    summary.append(icon("code"), said);
    const inside = make("div", "", "inside");
    inside.append(code(text, language), copyButton(text));
    card.append(summary, inside);
    const results = make("div", "", "results");
    block.append(card, stop, results);
    this.#runs.set(id, { said, stop, results, language, output: null, size: 0 });
    this.#grown();
  }

  output(message) {
    const run = this.#runs.get(message.id);
    if (!run) return;
    if (message.file) this.#fetched(run, message);
    else if (message.mime === "text/html" && message.text) run.results.append(frame(message.text));
    else this.#print(run, message);
    this.#grown();
  }

  /** How far a job is: a line in the card of its run, or else in `block`. Its words are code's. */
  progress({ id, run = "", state, title = "", text = "", fraction = null, output = "" }, block) {
    if (state !== "running") {
      this.#over((name) => name === id);
      return;
    }
    let job = this.#jobs.get(id);
    if (!job) {
      job = { run, line: make("div", "", "job"), bar: make("progress"), said: words("span", "") };
      job.bar.setAttribute("aria-label", title || "Progress");
      job.stop = button("Stop", () => this.#cancel(id));
      job.stop.setAttribute("aria-label", `Stop the job ${title}`);
      job.output = make("pre", "");
      job.opened = make("details", "");
      job.opened.append(words("summary", "Output"), job.output);
      job.opened.hidden = true;
      job.line.append(job.bar, job.said, job.stop, job.opened);
      const card = this.#runs.get(run);
      job.stop.hidden = Boolean(card?.stop.isConnected);
      if (card) card.results.before(job.line);
      else block.append(job.line);
      this.#jobs.set(id, job);
    }
    if (fraction === null) job.bar.removeAttribute("value");
    else job.bar.value = fraction;
    job.said.textContent = text || title;
    job.output.textContent = output;
    job.opened.hidden = !output;
    this.#grown();
  }

  /** What its run's card could stop until now. */
  #offerStop(id) {
    const job = this.#jobs.get(id);
    if (job) job.stop.hidden = false;
  }

  #over(isIt) {
    for (const [id, job] of this.#jobs) {
      if (!isIt(id, job)) continue;
      job.line.remove();
      this.#jobs.delete(id);
    }
  }

  /** Whatever still runs was interrupted. */
  leave() {
    for (const [id, { stop }] of this.#runs) if (stop.isConnected) this.end({ id, status: "interrupted" });
  }

  /** Returns a sentence for those who don't see it. */
  end({ id, status, seconds = 0, detail = "", changes = null, output = null, job: goesOn = "" }, conversation) {
    const run = this.#runs.get(id);
    if (!run) return "";
    const time = seconds >= 0.1 ? ` in ${seconds.toFixed(1)} s` : "";
    run.said.textContent = `${run.language}: ${goesOn ? "goes on in the background" : `${STATUS[status] ?? status}${time}`}`;
    run.said.className = status === "ok" ? "" : "failed";
    run.stop.remove();
    if (goesOn) this.#offerStop(goesOn);
    else this.#over((_, job) => job.run === id);
    if (detail) run.results.append(words("p", detail, "note"));
    if (output) this.#whole(run, output);
    if (changes) this.#changed(run, changes, conversation);
    this.#grown();
    return `${run.said.textContent}. ${detail}`;
  }

  /** All that a run put out, with the first tap. */
  #whole(run, output) {
    const trouble = words("p", "", "note bad");
    const open = button("", async () => {
      trouble.remove();
      try {
        const text = await (await this.#server.file(output)).text();
        run.output ??= scrolls(make("pre", "", "output"), "Output");
        run.output.replaceChildren(text);
        open.replaceWith(run.output);
      } catch (error) {
        trouble.textContent = `The output can't be fetched. ${error.message}`;
        open.after(trouble);
      }
    }, "file");
    open.append(icon("file"), words("span", "All of the output"));
    run.results.append(open);
  }

  #changed(run, { added = [], changed = [], deleted = [], more = 0, renamed = [], by_products: aside = 0, commits = [] }, conversation) {
    const there = [...added, ...changed, ...renamed.map((one) => one.new)].filter((path) => !path.endsWith("/"));
    const inside = there.filter((path) => !path.startsWith("/"));
    for (const path of inside.slice(0, MOST_FILES)) {
      const name = path.split("/").at(-1);
      const trouble = words("p", "", "note bad");
      const open = button("", async () => {
        trouble.remove();
        try {
          keep(await this.#server.workspaceFile(conversation, path), name);
        } catch (error) {
          trouble.textContent = `${path} can't be fetched. ${error.message}`;
          open.after(trouble);
        }
      }, "file");
      open.append(icon("file"), words("span", path));
      open.setAttribute("aria-label", `Download ${path}`);
      run.results.append(open);
    }
    const rest = there.length - Math.min(inside.length, MOST_FILES) + more;
    const sentences = [];
    if (commits.length) sentences.push(`Committed: ${commits.slice(0, MOST_FILES).map((one) => `“${one}”`).join(", ")}.`);
    if (rest) sentences.push(`${rest} more ${rest === 1 ? "file has" : "files have"} changed.`);
    if (renamed.length) {
      const names = renamed.slice(0, MOST_FILES).map((one) => `${one.old} is now ${one.new}`);
      sentences.push(`Renamed: ${names.join(", ")}.`);
    }
    if (deleted.length) sentences.push(`Deleted: ${deleted.slice(0, MOST_FILES).join(", ")}.`);
    if (aside) sentences.push(`By-products: ${aside} (caches, what git ignores).`);
    if (sentences.length) run.results.append(words("p", sentences.join(" "), "note"));
  }

  #print(run, { text = "", kind }) {
    if (!text || run.size > MOST_OUTPUT) return;
    if (!run.output) {
      run.output = scrolls(make("pre", "", "output"), "Output");
      run.results.append(run.output);
    }
    run.size += text.length;
    const shown = run.output;
    const atEnd = shown.scrollTop + shown.clientHeight >= shown.scrollHeight - NEAR;
    run.output.append(make("span", text, kind === "stderr" || kind === "error" ? "warnings" : ""));
    if (run.size > MOST_OUTPUT) run.output.append("\n… the rest can be opened when the run is over.");
    if (atEnd) shown.scrollTop = shown.scrollHeight;
  }

  /** What lies on the server: fetched when somebody comes near it. */
  #fetched(run, message) {
    const place = make("div", "", "fetched");
    run.output = null;
    run.results.append(place);
    whenNear(place, () => this.#fetch(place, message));
  }

  async #fetch(place, { file, mime = "", text = "" }) {
    place.replaceChildren();
    let content;
    try {
      content = await this.#server.file(file);
    } catch (error) {
      const again = button("Try again", () => this.#fetch(place, { file, mime, text }));
      place.append(words("p", `${text || mime} can't be fetched. ${error.message}`, "note bad"), again);
      return;
    }
    if (mime.startsWith("image/")) place.append(picture(content, text || "A picture that the code made", () => this.#grown()));
    else if (mime === "text/html") place.append(frame(await content.text()));
    else {
      const open = button("", () => keep(content, text || file), "file");
      open.append(icon("file"), words("span", text || "Download the result"));
      place.append(open);
    }
    place.classList.remove("fetched");
    this.#grown();
  }
}

/** Foreign HTML with its own looks, as high as it is: none of its scripts, no links, no forms, nothing loaded or looked
 * up, no access to this page. */
function frame(html) {
  const element = make("iframe", "", "result");
  element.setAttribute("sandbox", "allow-scripts"); // for the one in frame.html: its policy forbids any other
  element.title = "A result of the code";
  element.src = "frame.html";
  element.addEventListener("load", () => element.contentWindow.postMessage(html, "*"), { once: true });
  return element;
}

addEventListener("message", ({ source, data }) => {
  const element = [...document.querySelectorAll("iframe.result")].find(({ contentWindow }) => contentWindow === source);
  const height = Number(data?.height);
  element?.classList.toggle("own", data?.own === true);
  if (element && height > 0) element.style.blockSize = `${Math.min(height, HIGHEST_FRAME) + FRAME_BORDER}px`;
});
