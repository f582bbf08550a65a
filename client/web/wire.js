/** The wire: messages and frames of sound. protocol/SPEC.md is the truth. */

export const RATE = 16_000;
export const FRAME_SAMPLES = 320;
const HEADER_BYTES = 12;
const AUDIO = 1;
const LAST = 1;

/** Messages that belong to one attempt at one answer, and die with it. */
const OF_AN_ATTEMPT = new Set([
  "reply.delta", "speech.start", "speech.stop", "code.start", "code.out", "code.end",
  "approval.request", "approval.done", "act.request",
]);

export const isOfAnAttempt = (message) => OF_AN_ATTEMPT.has(message.t);

/** Reads a text frame; null if it is none of ours. */
export function read(text) {
  try {
    const message = JSON.parse(text);
    return message && typeof message.t === "string" ? message : null;
  } catch {
    return null;
  }
}

/** Turn and generation as one number that grows with both. */
export const attemptOf = (message) => (message.turn ?? 0) * 2 ** 20 + (message.gen ?? 0);

/** Writes a frame of sound. `samples` is an Int16Array. */
export function pack(stream, seq, firstSample, samples, last = false) {
  const frame = new ArrayBuffer(HEADER_BYTES + samples.length * 2);
  const view = new DataView(frame);
  view.setUint8(0, AUDIO);
  view.setUint8(1, last ? LAST : 0);
  view.setUint16(2, stream, true);
  view.setUint32(4, seq, true);
  view.setUint32(8, firstSample, true);
  new Int16Array(frame, HEADER_BYTES).set(samples); // no browser runs where this is not little-endian
  return frame;
}

/** Reads a frame of sound; null if it is none, or of a kind that is not known. */
export function unpack(data) {
  const view = new DataView(data);
  if (view.byteLength < HEADER_BYTES || view.getUint8(0) !== AUDIO) return null;
  const samples = new Int16Array(data.slice(HEADER_BYTES, data.byteLength - (data.byteLength % 2)));
  return {
    stream: view.getUint16(2, true),
    seq: view.getUint32(4, true),
    first: view.getUint32(8, true),
    last: Boolean(view.getUint8(1) & LAST),
    samples,
  };
}
