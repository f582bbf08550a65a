/**
 * From any rate to any other, as a stream: a windowed-sinc filter, worked out once for each place that an
 * output sample can have between two input samples. Positions are whole numbers, so it never drifts.
 */

/** Half the filter's length in periods of the lower rate: speech needs no more. */
const REACH = 12;
/** Of the lower rate's band: the filter's slope lies above. */
const BAND = 0.95;

export class Resampler {
  #up;
  #down;
  #reach;
  #filters;
  #held;
  /** Of the next output sample within what is held, in parts of an input sample. */
  #at;

  constructor(fromRate, toRate) {
    const shared = divisor(fromRate, toRate);
    this.straight = fromRate === toRate;
    this.#up = toRate / shared;
    this.#down = fromRate / shared;
    const cutoff = Math.min(1, toRate / fromRate);
    this.#reach = Math.ceil(REACH / cutoff);
    this.#filters = this.straight ? [] : filters(this.#up, this.#reach, cutoff * BAND);
    this.#held = new Float32Array(this.#reach);
    this.#at = this.#reach * this.#up;
  }

  /** Takes the next samples (Float32Array) and returns those that are ready. */
  feed(samples) {
    if (this.straight) return samples;
    const joined = new Float32Array(this.#held.length + samples.length);
    joined.set(this.#held);
    joined.set(samples, this.#held.length);
    const end = (joined.length - this.#reach) * this.#up;
    const out = new Float32Array(Math.max(0, Math.ceil((end - this.#at) / this.#down)));
    for (let index = 0; index < out.length; index += 1) {
      const whole = Math.floor(this.#at / this.#up);
      const filter = this.#filters[this.#at - whole * this.#up];
      const first = whole - this.#reach + 1;
      let sum = 0;
      for (let tap = 0; tap < filter.length; tap += 1) sum += joined[first + tap] * filter[tap];
      out[index] = sum;
      this.#at += this.#down;
    }
    const past = Math.max(0, Math.floor(this.#at / this.#up) - this.#reach);
    this.#held = joined.slice(past);
    this.#at -= past * this.#up;
    return out;
  }
}

/** For each place between two samples, what each sample around it counts. */
function filters(places, reach, band) {
  return Array.from({ length: places }, (_, place) =>
    Float32Array.from({ length: 2 * reach }, (_unused, tap) => {
      const distance = tap - reach + 1 - place / places;
      const angle = Math.PI * band * distance;
      const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
      return Math.abs(distance) < reach ? sinc * window * band : 0;
    }));
}

function divisor(one, other) {
  return other === 0 ? one : divisor(other, one % other);
}
