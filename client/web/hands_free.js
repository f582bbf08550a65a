/**
 * When to open the stream without a key: a voice is louder than the room for a tenth of a second.
 * Nothing is sent before, but for the half second that leads up to it. Pure: no clock, no device.
 */

const FRAMES_BEFORE = 25;
/** So many frames of 20 ms in a row must be loud. */
const LOUD_FRAMES = 5;
/** How much louder than the room a voice is, and the least that counts at all (of full scale). */
const ABOVE = 4;
const LEAST = 0.012;
/** The room's own noise is followed slowly upwards and quickly downwards. */
const UP = 1.01;
const DOWN = 0.9;

export class VoiceGate {
  #before = [];
  #noise = 0.003;
  #loud = 0;

  /** Takes a frame; true when a voice has begun. */
  hears(frame) {
    this.#before.push(frame);
    if (this.#before.length > FRAMES_BEFORE) this.#before.shift();
    let sum = 0;
    for (const sample of frame) sum += sample * sample;
    const level = Math.sqrt(sum / frame.length) / 32_768;
    const isLoud = level > Math.max(LEAST, this.#noise * ABOVE);
    if (!isLoud) this.#noise = level < this.#noise ? this.#noise * DOWN + level * (1 - DOWN) : this.#noise * UP;
    this.#loud = isLoud ? this.#loud + 1 : 0;
    return this.#loud >= LOUD_FRAMES;
  }

  /** What led up to it; forgotten afterwards. */
  take() {
    const before = this.#before;
    this.#before = [];
    this.#loud = 0;
    return before;
  }
}
