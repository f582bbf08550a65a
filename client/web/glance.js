/** The small things that change while one talks: words as they form, how loud, how long it took. */

const $ = (id) => document.getElementById(id);
/** A loud voice, of 32,767. */
const LOUD = 20_000;

/** What was understood so far, and what may still change. */
export function showPartial({ stable = "", tail = "" }) {
  const rest = document.createElement("span");
  rest.className = "tail";
  rest.textContent = tail;
  $("hearing").replaceChildren(stable, rest);
}

export function showLevel(frame) {
  let peak = 0;
  for (const sample of frame ?? []) peak = Math.max(peak, Math.abs(sample));
  $("level").style.width = `${Math.min(100, Math.round((100 * peak) / LOUD))}%`;
}

export function showLatency({ marks = {}, cost = {} }) {
  const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
  const parts = [];
  if (marks.final !== undefined) parts.push(`understood in ${seconds(marks.final)}`);
  if (marks.first_audio_played !== undefined) parts.push(`first word after ${seconds(marks.first_audio_played)}`);
  if (cost.usd) parts.push(`$${cost.usd.toFixed(4)}`);
  $("latency").textContent = parts.join(" · ");
}
