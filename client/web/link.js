/**
 * The line to the server: one WebSocket, kept up, with everything that must survive a cut.
 *
 * Events: "state" ({state, reason, retryMs}), "welcome" (message, with `was`: first, resumed,
 * snapshot, anew), "message", "sound", "lost" (texts that were sent and not answered), "unkept" (too
 * much was said while the server was away), "refused".
 */
import { Outbox } from "./outbox.js";
import { read, unpack } from "./wire.js";

const WELCOME_MS = 5_000;
/** After so long without a word we ask whether the server is there, and give it this much more. */
const QUIET_MS = 5_000;
const STALLED_MS = 12_000;
/** Where there is reason to doubt the line, an answer must come sooner. */
const PROBE_MS = 2_000;
/** A connection that takes longer belongs to a network that is gone. */
const CONNECT_MS = 1_500;
const WAITS_MS = [0, 1_000, 2_000, 5_000, 10_000];
const SPREAD = 0.2;
/** Trying again would not help; the person must do something. */
const FINAL = new Set(["unauthorized", "version_mismatch", "replaced", "forbidden"]);

export class Link extends EventTarget {
  #url;
  #hello;
  #socket = null;
  #outbox = new Outbox();
  #session = null;
  #lastSeq = 0;
  #heardAt = 0;
  #tries = 0;
  #timer = null;
  #watch = null;
  #pings = 0;
  #up = false;
  #closed = false;
  #refusal = null;
  #begunAt = 0;

  constructor(url, hello) {
    super();
    this.#url = url;
    this.#hello = hello;
  }

  get up() {
    return this.#up;
  }

  open() {
    this.#closed = false;
    this.#connect();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#up) this.#socket.send(JSON.stringify({ t: "bye" }));
    this.#socket?.close(1000);
  }

  /** The network has changed, or the page is looked at again: make sure of the line, now. */
  probe() {
    if (this.#closed) return;
    if (!this.#up) {
      this.#hurry();
      return;
    }
    const asked = performance.now();
    const socket = this.#socket;
    this.#ping();
    setTimeout(() => {
      if (socket === this.#socket && this.#up && this.#heardAt < asked) this.lose();
    }, PROBE_MS);
  }

  /** The network is gone; the socket can't know it yet. */
  lose() {
    const lost = this.#socket;
    if (!lost) return;
    lost.onclose = null;
    lost.onmessage = null;
    lost.close();
    this.#cut();
  }

  send(message) {
    if (this.#outbox.put(message)) this.#tell("unkept", null);
    this.#flush();
  }

  sendSound(stream, samples) {
    this.#outbox.putSound(stream, samples);
    this.#flush();
  }

  /** Don't wait for the timer. */
  #hurry() {
    if (this.#socket && performance.now() - this.#begunAt < CONNECT_MS) return;
    this.#tries = 0;
    if (this.#socket) this.lose();
    else {
      clearTimeout(this.#timer);
      this.#connect();
    }
  }

  #ping() {
    this.#pings += 1;
    this.send({ t: "ping", id: this.#pings });
  }

  #connect() {
    this.#begunAt = performance.now();
    this.#tell("state", { state: "connecting" });
    const socket = new WebSocket(this.#url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    const greeting = setTimeout(() => socket.close(), WELCOME_MS);
    socket.onopen = () => {
      const hello = { ...this.#hello };
      if (this.#session) Object.assign(hello, { session: this.#session, last_seq: this.#lastSeq });
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heardAt = performance.now();
      if (typeof data !== "string") {
        const frame = this.#up && unpack(data);
        if (frame) this.#tell("sound", frame);
        return;
      }
      const message = read(data);
      if (!message) return;
      if (this.#up) this.#receive(message);
      else if (message.t === "welcome") {
        clearTimeout(greeting);
        this.#welcome(message);
      } else if (message.t === "error") this.#refusal = message;
    };
    socket.onclose = () => {
      clearTimeout(greeting);
      if (socket === this.#socket) this.#cut();
    };
  }

  #welcome(welcome) {
    const known = this.#session !== null;
    this.#session = welcome.session;
    this.#hello.conversation = welcome.conversation;
    let was = "first";
    let lost = [];
    if (known && (welcome.resume ?? "new") !== "new") {
      this.#outbox.resume(welcome.last_seq ?? 0);
      was = welcome.resume === "ok" ? "resumed" : "snapshot";
    } else if (known) {
      this.#lastSeq = 0;
      lost = this.#outbox.beginAnew();
      was = "anew";
    }
    this.#up = true;
    this.#tries = 0;
    this.#refusal = null;
    this.#watch = setInterval(() => this.#look(), 1_000);
    this.#tell("welcome", { ...welcome, was });
    this.#tell("state", { state: "up" });
    if (lost.length) this.#tell("lost", lost);
    this.#flush();
  }

  #receive(message) {
    if (message.seq && message.seq <= this.#lastSeq) return;
    this.#lastSeq = message.seq ?? this.#lastSeq;
    switch (message.t) {
      case "ping":
        this.send({ t: "pong", id: message.id });
        return;
      case "pong":
        return;
      case "audio.ack":
        this.#outbox.acknowledge(message.stream, message.samples);
        break;
      case "listen.end":
        this.#outbox.ended(message);
        break;
      case "stt.final":
        this.#outbox.understood();
        break;
      case "metrics":
        this.#outbox.answered();
        break;
      case "conversation":
        this.#hello.conversation = message.id;
        break;
      case "error":
        if (message.fatal) this.#refusal = message;
        break;
      default:
    }
    this.#tell("message", message);
  }

  #cut() {
    this.#socket = null;
    this.#up = false;
    clearInterval(this.#watch);
    this.#outbox.cut();
    if (this.#closed) return;
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal && FINAL.has(refusal.code)) {
      this.#closed = true;
      this.#tell("refused", refusal);
      return;
    }
    const spread = 1 + SPREAD * (2 * Math.random() - 1);
    const wait = refusal?.retry_ms ?? WAITS_MS[Math.min(this.#tries, WAITS_MS.length - 1)] * spread;
    this.#tries += 1;
    this.#tell("state", { state: "waiting", reason: refusal?.message, retryMs: wait });
    this.#timer = setTimeout(() => this.#connect(), wait);
  }

  #look() {
    const quiet = performance.now() - this.#heardAt;
    if (quiet > STALLED_MS) this.lose();
    else if (quiet > QUIET_MS) this.#ping();
  }

  #flush() {
    if (!this.#up) return;
    for (let next = this.#outbox.take(); next !== null; next = this.#outbox.take()) {
      this.#socket.send(next);
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
