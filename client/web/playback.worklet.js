/**
 * In the audio thread: a jitter buffer with exact positions, and silence at once.
 *
 * In:  {open, stream, rate} {sound} {finish, samples} {flush} {volume}
 * Out: {stream, played, dry, done, gaps}: `played` counts samples of the stream that have left the buffer.
 * `dry`: all that has come was heard. The filter keeps half a millisecond of it until more comes; that
 * counts as heard, or a stream that stays open for a question would never be heard out.
 */
import { Resampler } from "./resample.js";

/** Held back before a stream starts, and after it ran dry: covers 50 ms of jitter. */
const HOLD_SECONDS = 0.06;
const REPORT_SECONDS = 0.05;

class Playback extends AudioWorkletProcessor {
  #queue = [];
  #waiting = 0;
  #stream = null;
  #holding = true;
  #heldFor = 0;
  #sinceReport = 0;
  #gaps = 0;
  #volume = 1;
  #target = 1;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#take(data);
  }

  #take(message) {
    if (message.open) {
      if (this.#stream?.number !== message.stream) {
        this.#clear();
        this.#stream = {
          number: message.stream, rate: message.rate, received: 0, out: 0, played: 0, length: null,
          drained: false, told: false,
        };
        this.#resampler = new Resampler(message.rate, sampleRate);
        this.#gaps = 0;
      }
    } else if (message.sound && this.#stream?.number === message.stream) {
      const piece = new Float32Array(message.sound.length);
      message.sound.forEach((sample, at) => { piece[at] = sample / 32_768; });
      this.#stream.received += piece.length;
      this.#push(this.#resampler.feed(piece));
      if (this.#stream.length !== null) this.#drain();
    } else if (message.finish && this.#stream?.number === message.stream) {
      this.#stream.length = message.samples ?? this.#stream.received;
      this.#drain();
    } else if (message.flush) {
      this.#report();
      this.#clear();
    } else if (message.volume !== undefined) this.#target = message.volume;
  }

  #resampler = null;

  #push(samples) {
    if (samples.length) {
      this.#queue.push({ samples, at: 0 });
      this.#waiting += samples.length;
    }
  }

  /** The filter's tail, when all sound of the stream is here. */
  #drain() {
    if (this.#stream.received >= this.#stream.length && !this.#stream.drained) {
      this.#stream.drained = true;
      if (!this.#resampler.straight) this.#push(this.#resampler.feed(new Float32Array(64)));
    }
  }

  #clear() {
    this.#queue = [];
    this.#waiting = 0;
    this.#stream = null;
    this.#holding = true;
    this.#heldFor = 0;
  }

  process(_inputs, [[output, ...others]]) {
    const stream = this.#stream;
    if (!stream) return true;
    const seconds = output.length / sampleRate;
    if (this.#holding && this.#waiting) {
      this.#heldFor += seconds;
      const enough = this.#waiting >= HOLD_SECONDS * sampleRate || this.#heldFor >= HOLD_SECONDS;
      this.#holding = !(enough || stream.drained);
    }
    if (!this.#holding) this.#play(output, stream);
    for (const channel of others) channel.set(output);
    this.#sinceReport += seconds;
    if (this.#sinceReport >= REPORT_SECONDS) this.#report();
    return true;
  }

  #play(output, stream) {
    let filled = 0;
    while (filled < output.length && this.#queue.length) {
      const piece = this.#queue[0];
      const count = Math.min(output.length - filled, piece.samples.length - piece.at);
      for (let at = 0; at < count; at += 1) {
        this.#volume += (this.#target - this.#volume) * 0.002;
        output[filled + at] = piece.samples[piece.at + at] * this.#volume;
      }
      piece.at += count;
      filled += count;
      if (piece.at === piece.samples.length) this.#queue.shift();
    }
    this.#waiting -= filled;
    stream.out += filled;
    if (filled < output.length) {
      this.#holding = true;
      this.#heldFor = 0;
      if (!stream.drained) this.#gaps += 1;
      this.#report();
    }
  }

  #report() {
    this.#sinceReport = 0;
    const stream = this.#stream;
    if (!stream || stream.told) return;
    const exact = Math.round((stream.out * stream.rate) / sampleRate);
    const dry = stream.out > 0 && !this.#waiting;
    const whole = stream.drained && !this.#waiting;
    if (whole) stream.played = stream.length;
    else stream.played = Math.max(stream.played, dry ? stream.received : Math.min(exact, stream.received));
    stream.told = whole;
    this.port.postMessage({ stream: stream.number, played: stream.played, dry, done: whole, gaps: this.#gaps });
  }
}

registerProcessor("playback", Playback);
