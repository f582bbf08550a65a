/** In the audio thread: whatever the microphone's rate, out go 320 samples of 16 kHz at a time. */
import { Resampler } from "./resample.js";

const RATE = 16_000;
const FRAME = 320;
/** Samples of the microphone that make a frame, about: fewer and longer pieces cost less. */
const PIECE = Math.round((sampleRate * FRAME) / RATE);

class Capture extends AudioWorkletProcessor {
  #resampler = new Resampler(sampleRate, RATE);
  #piece = new Float32Array(PIECE);
  #gathered = 0;
  #frame = new Int16Array(FRAME);
  #filled = 0;

  process([input]) {
    if (!input.length) return true;
    for (let at = 0; at < input[0].length; ) {
      const count = Math.min(input[0].length - at, PIECE - this.#gathered);
      this.#piece.set(input[0].subarray(at, at + count), this.#gathered);
      this.#gathered += count;
      at += count;
      if (this.#gathered === PIECE) {
        this.#gathered = 0;
        this.#take(this.#resampler.feed(this.#piece));
      }
    }
    return true;
  }

  #take(samples) {
    for (let at = 0; at < samples.length; at += 1) {
      this.#frame[this.#filled] = Math.max(-1, Math.min(1, samples[at])) * 32_767;
      this.#filled += 1;
      if (this.#filled === FRAME) {
        this.port.postMessage(this.#frame, [this.#frame.buffer]);
        this.#frame = new Int16Array(FRAME);
        this.#filled = 0;
      }
    }
  }
}

registerProcessor("capture", Capture);
