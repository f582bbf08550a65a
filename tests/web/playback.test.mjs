// The page's loudspeaker, as node runs its audio thread: what it tells the server it has played.
import assert from "node:assert/strict";
import { test } from "node:test";

const BLOCK = 128;
let told = [];
let Playback;
globalThis.sampleRate = 48_000;
globalThis.AudioWorkletProcessor = class {
  port = { postMessage: (report) => told.push(report) };
};
globalThis.registerProcessor = (_name, processor) => { Playback = processor; };
await import(`${process.env.SAYSO_WEB}/playback.worklet.js`);

function loudspeaker() {
  told = [];
  const playback = new Playback();
  return {
    take: (data) => playback.port.onmessage({ data }),
    play: (seconds) => {
      const heard = [];
      for (let at = 0; at < seconds * sampleRate; at += BLOCK) {
        const output = new Float32Array(BLOCK);
        playback.process([], [[output]]);
        heard.push(...output);
      }
      return heard;
    },
  };
}

const voice = (samples) => new Int16Array(samples).fill(8_000);

for (const rate of [16_000, 22_050, 44_100, 48_000]) {
  test(`a stream of ${rate} a second that stays open is told as heard out when all that came was played`, () => {
    const page = loudspeaker();
    page.take({ open: true, stream: 1, rate });
    page.take({ sound: voice(rate), stream: 1 });
    page.play(1.2);
    assert.deepEqual([told.at(-1).played, told.at(-1).dry, told.at(-1).done], [rate, true, false]);
    page.take({ sound: voice(rate / 2), stream: 1 });
    page.play(0.1);
    assert.ok(told.every((report, at) => at === 0 || report.played >= told[at - 1].played), "it never goes back");
    assert.equal(told.at(-1).dry, false);
    page.play(0.6);
    page.take({ finish: true, stream: 1, samples: rate * 1.5 });
    page.play(0.2);
    assert.deepEqual([told.at(-1).played, told.at(-1).done], [rate * 1.5, true]);
  });
}

test("before a sample was heard nothing is told as heard", () => {
  const page = loudspeaker();
  page.take({ open: true, stream: 1, rate: 22_050 });
  page.play(0.3);
  assert.ok(told.every(({ played, dry }) => played === 0 && !dry));
});
