/**
 * From any rate to any other, as a stream: a windowed-sinc filter at each output sample.
 * It runs inside the audio worklets, so it allocates nothing per call but its output.
 */

/** Half the filter's length in periods of the lower rate: speech needs no more. */
const REACH = 12;

export class Resampler {
  constructor(fromRate, toRate) {
    this.step = fromRate / toRate;
    const cutoff = Math.min(1, toRate / fromRate);
    this.cutoff = cutoff * 0.95;
    this.reach = Math.ceil(REACH / cutoff);
    this.buffer = new Float32Array(2 * this.reach);
    this.at = this.reach;
    this.straight = fromRate === toRate;
  }

  /** Takes the next samples (Float32Array) and returns those that are ready. */
  feed(samples) {
    if (this.straight) return samples;
    const joined = new Float32Array(this.buffer.length + samples.length);
    joined.set(this.buffer);
    joined.set(samples, this.buffer.length);
    const count = Math.max(0, Math.ceil((joined.length - this.reach - this.at) / this.step));
    const out = new Float32Array(count);
    for (let index = 0; index < count; index += 1) {
      out[index] = this.#sample(joined, this.at);
      this.at += this.step;
    }
    const kept = Math.max(0, Math.floor(this.at) - this.reach);
    this.buffer = joined.slice(kept);
    this.at -= kept;
    return out;
  }

  #sample(samples, at) {
    const first = Math.max(0, Math.ceil(at - this.reach));
    const last = Math.min(samples.length - 1, Math.floor(at + this.reach));
    let sum = 0;
    for (let n = first; n <= last; n += 1) {
      const distance = n - at;
      const angle = Math.PI * this.cutoff * distance;
      const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / this.reach);
      sum += samples[n] * sinc * window;
    }
    return sum * this.cutoff;
  }
}
