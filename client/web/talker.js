/**
 * Who is speaking: the page's own small state machine. Pure: no clock, no socket, no device.
 *
 * Every method takes something that happened and returns what is to be done, as a list of
 * {do: "send" | "sound" | "hush" | "open" | "play" | "finish" | "drop" | "over", …}. "over": what was
 * asked and what ran before counts no more.
 */
import { attemptOf, isOfAnAttempt, RATE } from "./wire.js";

/** A press shorter than this holds no word. */
export const TAP_SECONDS = 0.15;
/** The server ends an utterance there. */
const LONGEST_SAMPLES = 60 * RATE;
const MOST_STREAMS = 65_535;
/** A question that stood for less when words began is not what they are about. */
export const STOOD_SECONDS = 0.6;

export class Talker {
  #utterance = null;
  #streams = 0;
  #speech = null;
  #silenced = new Set();
  #newest = 0;
  #question = "";
  #askedAt = 0;
  turn = { ears: "idle", work: "idle", mouth: "silent" };

  get listening() {
    return this.#utterance !== null;
  }

  get mode() {
    return this.#utterance?.mode ?? null;
  }

  get speaking() {
    return this.#speech !== null;
  }

  /** Id of the approval request that words are about which began then; empty: of none. */
  question(at) {
    return at - this.#askedAt >= STOOD_SECONDS ? this.#question : "";
  }

  /** An approval request stands on the screen from now on. */
  asked(id, now) {
    this.#question = id;
    this.#askedAt = now;
  }

  /** The microphone's stream opens. Hands-free silences nothing by itself: a cough is no request. */
  press(now, mode = "ptt", preRoll = 0, files = []) {
    if (this.#utterance) return [];
    const hush = mode === "ptt" ? this.#hush("play.state") : [];
    this.#streams = (this.#streams % MOST_STREAMS) + 1;
    this.#utterance = { stream: this.#streams, at: now, samples: 0, mode };
    const question = this.question(now - preRoll / RATE);
    const start = { t: "listen.start", mode, stream: this.#streams, question };
    if (preRoll) start.pre_roll = preRoll;
    if (files.length) start.files = files;
    // Over speech and work any voice might be anybody's: then only what asks for something counts.
    if (mode === "hands_free" && (this.#speech !== null || this.turn.work !== "idle")) start.addressed = false;
    return [...hush, { do: "send", message: start }];
  }

  /** The microphone gave 320 samples; unless it is open they go nowhere. */
  frame(samples) {
    const utterance = this.#utterance;
    if (!utterance) return [];
    utterance.samples += samples.length;
    const sound = { do: "sound", stream: utterance.stream, samples };
    if (utterance.samples < LONGEST_SAMPLES) return [sound];
    this.#utterance = null;
    return [sound, this.#stop(utterance)];
  }

  /** The key comes up: what was said is the whole utterance, at once. */
  release(now) {
    const utterance = this.#utterance;
    this.#utterance = null;
    if (!utterance) return [];
    const seconds = Math.max(now - utterance.at, utterance.samples / RATE);
    if (seconds < TAP_SECONDS) {
      return [{ do: "send", message: { t: "listen.cancel", stream: utterance.stream } }];
    }
    return [this.#stop(utterance)];
  }

  cancel() {
    const utterance = this.#utterance;
    this.#utterance = null;
    if (!utterance) return [];
    return [{ do: "send", message: { t: "listen.cancel", stream: utterance.stream } }];
  }

  /** `question`: what it was about when the first letter came; without one it answers none. */
  say(text, files = [], question = "") {
    const message = files.length ? { t: "text", text, files, question } : { t: "text", text, question };
    return [...this.#hush("play.state"), { do: "send", message }];
  }

  /** Stop whatever goes on: speech, thought or code. */
  interrupt() {
    if (this.#speech !== null) return this.#hush("interrupt");
    if (this.turn.work !== "idle" || this.turn.mouth !== "silent") {
      return [{ do: "send", message: { t: "interrupt" } }];
    }
    return [];
  }

  /** A message came. Null: it is stale, and nobody may see it. */
  hear(message, now = 0) {
    const attempt = attemptOf(message);
    if (message.t === "conversation") {
      const moved = this.beginAnew();
      this.#newest = attempt;
      return moved;
    }
    if (isOfAnAttempt(message) && attempt < this.#newest) return null;
    const left = attempt > this.#newest ? [...this.#leaveBehind(), { do: "over" }] : [];
    if (attempt > this.#newest) this.#question = "";
    if (message.t === "approval.request") this.asked(message.id, now);
    if (message.t === "approval.done" && message.id === this.#question) this.#question = "";
    this.#newest = Math.max(this.#newest, attempt);
    return [...left, ...this.#react(message)];
  }

  hearSound(frame) {
    return this.#silenced.has(frame.stream) ? [] : [{ do: "play", frame }];
  }

  /** The player has nothing left of this stream. */
  played(stream) {
    if (this.#speech === stream) this.#speech = null;
  }

  /** The server began a new session: turns and streams count anew. */
  beginAnew() {
    this.#newest = 0;
    this.#question = "";
    this.turn = { ears: "idle", work: "idle", mouth: "silent" };
    const left = this.#leaveBehind();
    this.#silenced.clear();
    return left;
  }

  /** The line is back: what was being played is over. */
  resumed() {
    return this.#leaveBehind();
  }

  #react(message) {
    switch (message.t) {
      case "turn.state":
        this.turn = message;
        return [];
      case "listen.end":
        if (this.#utterance?.stream === message.stream) this.#utterance = null;
        return [];
      case "speech.start":
        if (this.#silenced.has(message.stream)) return [];
        if (this.#utterance?.mode === "ptt") {
          // It was on its way when the key went down. Nobody wants to be talked over.
          this.#silenced.add(message.stream);
          return [];
        }
        this.#speech = message.stream;
        return [{ do: "open", stream: message.stream, rate: message.rate }];
      case "speech.stop":
        if (message.reason === "done") {
          if (this.#silenced.has(message.stream)) return [];
          return [{ do: "finish", stream: message.stream, samples: message.samples ?? null }];
        }
        this.#silenced.add(message.stream);
        this.played(message.stream);
        return [{ do: "drop", stream: message.stream }];
      default:
        return [];
    }
  }

  #stop(utterance) {
    const { stream, samples } = utterance;
    return { do: "send", message: { t: "listen.stop", stream, samples } };
  }

  #leaveBehind() {
    const speech = this.#speech;
    this.#speech = null;
    if (speech === null) return [];
    this.#silenced.add(speech);
    return [{ do: "drop", stream: speech }];
  }

  #hush(then) {
    if (this.#speech === null) return [];
    this.#silenced.add(this.#speech);
    this.#speech = null;
    return [{ do: "hush", then }];
  }
}
