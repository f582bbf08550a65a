/**
 * What is to be sent, and what is kept until the server has it. Pure: no socket, no clock.
 *
 * Control goes before sound. `seq` is given when a message is taken to be sent. Nothing that was said
 * gets lost: an utterance is kept whole until its final text has come.
 */
import { FRAME_SAMPLES, pack } from "./wire.js";

/** Messages about the moment: worthless after a cut. */
const PASSING = new Set(["ping", "pong", "play.state", "bye", "error"]);
const UNNUMBERED = new Set(["ping", "pong", "bye"]);
/** A person makes a few messages a minute; more waiting is a fault. */
const MOST_WAITING = 256;
const MOST_REMEMBERED = 256;
/** Each is a minute at most: two megabytes. */
const MOST_UTTERANCES = 8;

export class Outbox {
  #waiting = [];
  #again = [];
  #remembered = [];
  #utterances = new Map();
  #seq = 0;

  /** Returns how many utterances had to give way: a person must be told. */
  put(message) {
    let lost = 0;
    if (message.t === "listen.start") {
      this.#utterances.set(message.stream, {
        start: message, pieces: [], samples: 0, sent: 0, acknowledged: 0, stop: null,
      });
      while (this.#utterances.size > MOST_UTTERANCES) {
        this.#utterances.delete(this.#utterances.keys().next().value);
        lost += 1;
      }
    } else if (message.t === "listen.stop") {
      const utterance = this.#utterances.get(message.stream);
      if (utterance) utterance.stop = message;
    } else if (message.t === "listen.cancel") {
      this.#utterances.delete(message.stream);
    }
    if (this.#waiting.length >= MOST_WAITING) this.#waiting.shift();
    this.#waiting.push(message);
    return lost;
  }

  /** Adds sound, in frames of 320 samples, to an utterance that goes on. */
  putSound(stream, samples) {
    const utterance = this.#utterances.get(stream);
    if (!utterance || utterance.stop) return;
    utterance.pieces.push(samples);
    utterance.samples += samples.length;
  }

  /** What is to be sent next, or null. */
  take() {
    if (this.#again.length) {
      const [seq, message] = this.#again.shift();
      this.#remember(seq, message);
      return JSON.stringify({ ...message, seq });
    }
    if (this.#waiting.length) {
      const message = this.#waiting.shift();
      if (UNNUMBERED.has(message.t)) return JSON.stringify(message);
      this.#seq += 1;
      if (!PASSING.has(message.t)) this.#remember(this.#seq, message);
      return JSON.stringify({ ...message, seq: this.#seq });
    }
    for (const [stream, utterance] of this.#utterances) {
      const frame = utterance.pieces[utterance.sent];
      if (frame) {
        const number = utterance.sent;
        utterance.sent += 1;
        const last = Boolean(utterance.stop) && utterance.sent === utterance.pieces.length;
        return pack(stream, number, number * FRAME_SAMPLES, frame, last);
      }
    }
    return null;
  }

  acknowledge(stream, samples) {
    const utterance = this.#utterances.get(stream);
    if (utterance) {
      const held = Math.min(samples, utterance.samples);
      utterance.acknowledged = Math.max(utterance.acknowledged, held);
    }
  }

  /** The server has found the end of an utterance: nothing after that is sent any more. To a server that starts anew
   * it is said as one that a key has ended. */
  ended({ stream, samples, reason }) {
    const utterance = this.#utterances.get(stream);
    if (!utterance) return;
    if (reason === "timeout") {
      this.#utterances.delete(stream);
    } else if (!utterance.stop) {
      utterance.pieces.length = Math.min(utterance.pieces.length, Math.ceil(samples / FRAME_SAMPLES));
      utterance.samples = utterance.pieces.length * FRAME_SAMPLES;
      utterance.acknowledged = utterance.samples;
      utterance.stop = { t: "listen.stop", stream, samples: utterance.samples };
    }
  }

  /** A final text has come: the oldest utterance that the server holds whole is safe. */
  understood() {
    for (const [stream, utterance] of this.#utterances) {
      if (utterance.stop && utterance.acknowledged >= utterance.samples) {
        this.#utterances.delete(stream);
        return;
      }
    }
  }

  /** A request is done with: the oldest text is not lost, whatever comes. */
  answered() {
    const place = this.#remembered.findIndex(([, { t }]) => t === "text");
    if (place >= 0) this.#remembered.splice(place, 1);
  }

  /** The connection is gone, and what was only about the moment with it. */
  cut() {
    this.#waiting = this.#waiting.filter((message) => !PASSING.has(message.t));
  }

  /** The session goes on; the server has had our messages up to `lastSeq`. */
  resume(lastSeq) {
    this.#again = [...this.#remembered.filter(([seq]) => seq > lastSeq), ...this.#again];
    this.#remembered = [];
    for (const utterance of this.#utterances.values()) {
      utterance.sent = Math.floor(utterance.acknowledged / FRAME_SAMPLES);
    }
  }

  /** The server knows nothing of us. Returns texts that were sent and are not sent again. */
  beginAnew() {
    const sent = [...this.#remembered, ...this.#again].map(([, message]) => message);
    this.#remembered = [];
    this.#again = [];
    this.#seq = 0;
    const listening = [];
    for (const utterance of this.#utterances.values()) {
      utterance.sent = 0;
      utterance.acknowledged = 0;
      if (!this.#waiting.includes(utterance.start)) listening.push(utterance.start);
      if (utterance.stop && !this.#waiting.includes(utterance.stop)) listening.push(utterance.stop);
    }
    // A file that was on its way begins anew, too, by itself.
    this.#waiting = [...listening, ...this.#waiting.filter(({ t }) => t !== "file.put")];
    return sent.filter((message) => message.t === "text");
  }

  #remember(seq, message) {
    this.#remembered.push([seq, message]);
    if (this.#remembered.length > MOST_REMEMBERED) this.#remembered.shift();
  }
}
