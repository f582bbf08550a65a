/** In the audio thread: whatever the microphone's rate, out go 320 samples of 16 kHz at a time. */
import { Resampler } from "./resample.js";

const RATE = 16_000;
const FRAME = 320;

class Capture extends AudioWorkletProcessor {
  #resampler = new Resampler(sampleRate, RATE);
  #frame = new Int16Array(FRAME);
  #filled = 0;

  process([input]) {
    if (!input.length) return true;
    for (const sample of this.#resampler.feed(input[0])) {
      this.#frame[this.#filled] = Math.max(-1, Math.min(1, sample)) * 32_767;
      this.#filled += 1;
      if (this.#filled === FRAME) {
        this.port.postMessage(this.#frame, [this.#frame.buffer]);
        this.#frame = new Int16Array(FRAME);
        this.#filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("capture", Capture);
