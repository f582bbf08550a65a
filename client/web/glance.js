/** The small things that change while one talks: words as they form, how loud, how it stands, how long it took. */
import { $, make, words } from "./dom.js";

/** A loud voice, of 32,767. */
const LOUD = 20_000;
/** The meter moves ten times a second: more costs a phone's battery and shows no more. */
const LEVEL_MS = 100;
/** What is shorter is shown as nothing: typed words need no understanding. */
const LEAST_MS = 50;
/** Lines that a screen reader may go back to. */
const MOST_TOLD = 30;

let levelAt = 0;
let loudest = 0;

/** What was understood so far, and what may still change. */
export function showPartial({ stable = "", tail = "" }) {
  $("hearing").hidden = !(stable || tail);
  $("hearing").replaceChildren(stable, make("span", tail, "tail"));
}

/** A frame of the microphone; null: nobody listens. */
export function showLevel(frame) {
  if (!frame) {
    loudest = 0;
    $("level").style.transform = "";
    return;
  }
  for (const sample of frame) loudest = Math.max(loudest, Math.abs(sample));
  if (performance.now() - levelAt < LEVEL_MS) return;
  levelAt = performance.now();
  $("level").style.transform = `scaleX(${Math.min(1, loudest / LOUD).toFixed(2)})`;
  loudest = 0;
}

/** `light`: up, busy, live (the microphone is listened to), away. */
export function showState(text, light) {
  if ($("state").textContent !== text) $("state").textContent = text;
  document.body.dataset.state = light;
}

export function showLatency({ marks = {}, cost = {} }) {
  const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
  const parts = [];
  if (marks.final >= LEAST_MS) parts.push(`understood in ${seconds(marks.final)}`);
  const first = marks.first_audio_played ?? marks.first_audio_sent;
  if (first !== undefined) parts.push(`first word after ${seconds(first)}`);
  if (cost.usd) parts.push(`$${cost.usd.toFixed(4)}`);
  $("latency").textContent = parts.join(" · ");
}

/** For those who don't see the screen: read once, in order. */
export function tell(text) {
  if (!text) return;
  $("told").append(words("p", text));
  while ($("told").childElementCount > MOST_TOLD) $("told").firstElementChild.remove();
}
