// The page's pure modules, as node runs them. The folder of the golden transcripts is the first argument.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const web = process.env.SAYSO_WEB;
const golden = process.env.SAYSO_GOLDEN;
const { attemptOf, isOfAnAttempt, pack, read, unpack } = await import(`${web}/wire.js`);
const { Outbox } = await import(`${web}/outbox.js`);
const { Talker } = await import(`${web}/talker.js`);
const { Resampler } = await import(`${web}/resample.js`);
const { VoiceGate } = await import(`${web}/hands_free.js`);

const bytes = ({ hex, zeros = 0 }) => {
  const data = new Uint8Array(hex.length / 2 + zeros);
  hex.match(/../g)?.forEach((pair, at) => { data[at] = parseInt(pair, 16); });
  return data.buffer;
};

for (const file of readdirSync(golden).filter((name) => name.endsWith(".jsonl"))) {
  test(`the page understands ${file}`, () => {
    const talker = new Talker();
    for (const line of readFileSync(`${golden}/${file}`, "utf8").trim().split("\n").map(JSON.parse)) {
      if (line.note || line.wrong || line.close) continue;
      if (line.hex?.startsWith("02")) continue; // a picture, which the page neither sends nor is sent
      if (line.hex) {
        const frame = unpack(bytes(line));
        const again = pack(frame.stream, frame.seq, frame.first, frame.samples, frame.last);
        assert.deepEqual(new Uint8Array(again), new Uint8Array(bytes(line)));
        if (line.dir === "down") talker.hearSound(frame);
      } else if (line.text) {
        const message = read(line.text);
        assert.ok(message, line.text);
        if (line.dir === "down") talker.hear(message);
      }
    }
  });
}

test("garbage is no message and no frame", () => {
  for (const text of ["", "{", "[]", "null", "5", '{"t":5}']) assert.equal(read(text), null);
  assert.equal(unpack(new ArrayBuffer(11)), null);
  assert.equal(unpack(bytes({ hex: "09".repeat(12) })), null);
});

test("what belongs to an older attempt is stale, and its speech is dropped", () => {
  const talker = new Talker();
  talker.hear({ t: "speech.start", turn: 1, gen: 0, stream: 4, rate: 16_000 });
  assert.ok(talker.speaking);
  const effects = talker.hear({ t: "turn.state", turn: 2, gen: 0, ears: "idle", work: "thinking", mouth: "silent" });
  assert.deepEqual(effects, [{ do: "drop", stream: 4 }, { do: "over" }]);
  assert.equal(talker.hear({ t: "reply.delta", turn: 1, gen: 0, text: "old" }), null);
  assert.deepEqual(talker.hearSound({ stream: 4 }), []);
  assert.ok(attemptOf({ turn: 3 }) > attemptOf({ turn: 2, gen: 9 }));
  assert.ok(isOfAnAttempt({ t: "code.out" }));
});

test("a press silences first and tells afterwards; hands-free silences nothing", () => {
  const talker = new Talker();
  talker.hear({ t: "speech.start", turn: 1, stream: 1, rate: 16_000 });
  assert.deepEqual(talker.press(0, "hands_free", 8_000), [
    { do: "send", message: { t: "listen.start", mode: "hands_free", stream: 1, question: "", pre_roll: 8_000, addressed: false } },
  ]);
  talker.cancel();
  const [hush, send] = talker.press(1);
  assert.equal(hush.do, "hush");
  assert.equal(send.message.t, "listen.start");
});

test("words name the question that stood when they began, and typed ones none by themselves", () => {
  const talker = new Talker();
  const named = ([effect]) => effect.message.question;
  talker.hear({ t: "approval.request", turn: 1, gen: 0, id: "1" }, 20);
  assert.equal(talker.question(20.1), "");
  assert.equal(named(talker.press(21)), "1");
  talker.cancel();
  assert.equal(named(talker.press(21, "hands_free", 8_000)), "");
  talker.cancel();
  assert.equal(named(talker.say("yes")), "");
  assert.equal(named(talker.say("yes", [], talker.question(22))), "1");
  talker.hear({ t: "approval.done", turn: 1, gen: 0, id: "1" }, 22);
  assert.equal(talker.question(30), "");
  talker.asked("2", 30);
  talker.hear({ t: "turn.state", turn: 2, gen: 0, ears: "idle", work: "thinking", mouth: "silent" }, 31);
  assert.equal(talker.question(40), "");
});

test("speech that the server gave up is over", () => {
  const talker = new Talker();
  talker.hear({ t: "speech.start", turn: 1, gen: 0, stream: 4, rate: 16_000 });
  const effects = talker.hear({ t: "speech.stop", turn: 1, gen: 0, stream: 4, reason: "failed" });
  assert.deepEqual(effects, [{ do: "drop", stream: 4 }]);
  assert.equal(talker.speaking, false);
});

test("a tap is taken back, and what is longer is sent whole", () => {
  const talker = new Talker();
  talker.press(0);
  assert.equal(talker.release(0.1)[0].message.t, "listen.cancel");
  talker.press(1);
  for (let n = 0; n < 50; n += 1) talker.frame(new Int16Array(320));
  assert.deepEqual(talker.release(2)[0].message, { t: "listen.stop", stream: 2, samples: 16_000 });
});

test("a minute is the end of an utterance", () => {
  const talker = new Talker();
  talker.press(0);
  let effects = [];
  for (let n = 0; n < 3_000; n += 1) effects = talker.frame(new Int16Array(320));
  assert.equal(effects[1].message.samples, 960_000);
  assert.equal(talker.listening, false);
});

const drain = (outbox) => {
  const all = [];
  for (let next = outbox.take(); next !== null; next = outbox.take()) {
    all.push(typeof next === "string" ? JSON.parse(next) : unpack(next));
  }
  return all;
};

test("after a cut what was not safe is sent again under its old numbers", () => {
  const outbox = new Outbox();
  outbox.put({ t: "listen.start", mode: "ptt", stream: 1 });
  for (let n = 0; n < 10; n += 1) outbox.putSound(1, new Int16Array(320));
  assert.equal(drain(outbox).length, 11);
  outbox.acknowledge(1, 1_600);
  outbox.put({ t: "listen.stop", stream: 1, samples: 3_200 });
  outbox.cut();
  outbox.resume(1);
  const again = drain(outbox);
  assert.deepEqual(again.map((m) => m.t ?? m.first), ["listen.stop", 1_600, 1_920, 2_240, 2_560, 2_880]);
  assert.equal(again.at(-1).last, true);
});

test("a server that knows nothing hears the utterance from its beginning, and no text twice", () => {
  const outbox = new Outbox();
  outbox.put({ t: "text", text: "buy it" });
  outbox.put({ t: "listen.start", mode: "ptt", stream: 1 });
  outbox.putSound(1, new Int16Array(320));
  drain(outbox);
  outbox.cut();
  assert.deepEqual(outbox.beginAnew(), [{ t: "text", text: "buy it" }]);
  assert.deepEqual(drain(outbox).map((m) => m.t ?? m.first), ["listen.start", 0]);
});

test("what was answered is not told as lost", () => {
  const outbox = new Outbox();
  for (const text of ["answered", "not yet"]) outbox.put({ t: "text", text });
  drain(outbox);
  outbox.answered();
  assert.deepEqual(outbox.beginAnew(), [{ t: "text", text: "not yet" }]);
});

test("pieces of a file belong to a session, and are not sent in another one", () => {
  const outbox = new Outbox();
  outbox.put({ t: "file.put", id: "1", offset: 0 });
  outbox.beginAnew();
  assert.deepEqual(drain(outbox), []);
});

test("what can't be kept any longer is told", () => {
  const outbox = new Outbox();
  const lost = [];
  for (let n = 1; n <= 9; n += 1) lost.push(outbox.put({ t: "listen.start", mode: "ptt", stream: n }));
  assert.deepEqual(lost, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("an utterance is forgotten when it was understood, and not before", () => {
  const outbox = new Outbox();
  outbox.put({ t: "listen.start", mode: "ptt", stream: 1 });
  outbox.putSound(1, new Int16Array(320));
  outbox.put({ t: "listen.stop", stream: 1, samples: 320 });
  drain(outbox);
  outbox.understood();
  outbox.resume(99);
  assert.equal(drain(outbox).length, 1);
  outbox.acknowledge(1, 320);
  outbox.understood();
  outbox.resume(99);
  assert.equal(drain(outbox).length, 0);
});

test("what the server ended is forgotten when it was understood, and at once if nobody had spoken", () => {
  const outbox = new Outbox();
  const speak = (stream) => {
    const lost = outbox.put({ t: "listen.start", mode: "hands_free", stream });
    outbox.putSound(stream, new Int16Array(320));
    outbox.putSound(stream, new Int16Array(320));
    drain(outbox);
    return lost;
  };
  for (let n = 1; n <= 20; n += 1) {
    assert.equal(speak(n), 0);
    outbox.ended({ stream: n, samples: 320, reason: n % 2 ? "ended" : "timeout" });
    if (n % 2) outbox.understood();
  }
  outbox.beginAnew();
  assert.deepEqual(drain(outbox), []);
  speak(21);
  outbox.ended({ stream: 21, samples: 320, reason: "ended" });
  outbox.beginAnew();
  assert.deepEqual(drain(outbox).map((m) => m.t ?? m.first), ["listen.start", "listen.stop", 0]);
});

for (const rate of [8_000, 22_050, 44_100, 48_000, 96_000]) {
  test(`${rate} samples a second become 16,000 without clicks, in pieces of any length`, () => {
    const tone = Float32Array.from({ length: rate }, (_, n) => Math.sin((2 * Math.PI * 440 * n) / rate));
    const whole = new Resampler(rate, 16_000).feed(tone);
    const pieces = new Resampler(rate, 16_000);
    const joined = [];
    for (let at = 0; at < tone.length; at += 128) joined.push(...pieces.feed(tone.slice(at, at + 128)));
    assert.ok(Math.abs(joined.length - 16_000) < 100, `${joined.length}`);
    const both = Math.min(joined.length, whole.length);
    for (let n = 0; n < both; n += 1) assert.ok(Math.abs(joined[n] - whole[n]) < 1e-6);
    let power = 0;
    for (const sample of joined.slice(1_000, 15_000)) power += sample * sample;
    assert.ok(Math.abs(power / 14_000 - 0.5) < 0.02, `${power / 14_000}`);
  });
}

test("a voice opens the gate and the room's noise does not", () => {
  const noise = () => Int16Array.from({ length: 320 }, () => (Math.random() - 0.5) * 200);
  const voice = () => Int16Array.from({ length: 320 }, (_, n) => 6_000 * Math.sin(n / 8));
  const gate = new VoiceGate();
  for (let n = 0; n < 200; n += 1) assert.equal(gate.hears(noise()), false);
  const heard = Array.from({ length: 6 }, () => gate.hears(voice()));
  assert.deepEqual(heard, [false, false, false, false, true, true]);
  assert.equal(gate.take().length, 25);
});

test("a reply that is nearly a table is shown in a moment, however long it is", async () => {
  const element = () => ({ append() {}, classList: { add() {} } });
  globalThis.document = { createDocumentFragment: element, createElement: element };
  const { markdown } = await import(`${web}/markdown.js`);
  const took = (length) => {
    const began = performance.now();
    markdown(`head\n${"|".repeat(length)}x`);
    return performance.now() - began;
  };
  took(100);
  assert(took(40_000) < 250);
  delete globalThis.document;
});

/** As much of a document as shows code; `painted` gives the texts of the pieces of one kind. */
const paper = () => {
  const element = () => ({
    parts: [], dataset: {}, className: "",
    append(...parts) { this.parts.push(...parts); },
    set textContent(text) { this.parts = [text]; },
    get textContent() { return this.parts.map((part) => part.textContent ?? part).join(""); },
    painted(kind) { return this.parts.filter(({ className }) => className === kind).map(({ textContent }) => textContent); },
  });
  return { createElement: element };
};

test("nothing that stands between fences ends them but their own end", async () => {
  const element = (tag) => ({
    tag, parts: [], dataset: {}, classList: { add() {} }, setAttribute() {},
    append(...parts) { this.parts.push(...parts); },
    set textContent(text) { this.parts = [text]; },
    get textContent() { return this.parts.map((part) => part.textContent ?? part).join(""); },
  });
  globalThis.document = { createDocumentFragment: () => element(""), createElement: element };
  const { markdown } = await import(`${web}/markdown.js`);
  const shown = (text) => markdown(text).parts.map(({ tag, textContent }) => [tag.toLowerCase(), textContent]);
  const hostile = "+a\n```\n**Approve** [x](http://x.example/)\n~~~\n```diff\n# b";
  assert.deepEqual(shown(`\`\`\`\`diff\n${hostile}\n\`\`\`\``), [["pre", hostile]]);
  assert.deepEqual(shown("```python\nx\n```python\ny\n```\nand"), [["pre", "x\n```python\ny"], ["p", "and"]]);
  assert.deepEqual(shown("before\n```\nx"), [["p", "before"], ["pre", "x"]]);
  delete globalThis.document;
});

test("what is not seen in code is named, as the terminal names it", async () => {
  const { revealed } = await import(`${web}/visible.js`);
  for (const [text, shown] of JSON.parse(readFileSync(process.env.SAYSO_REVEALED, "utf8"))) {
    assert.equal(revealed(text), shown, JSON.stringify(text));
  }
});

test("each character is hidden or shown as in the terminal", async () => {
  const { unseen } = await import(`${web}/visible.js`);
  const hidden = [];
  for (let code = 0; code < 0x110000; code += 1) if (unseen(String.fromCodePoint(code)).length) hidden.push(code);
  assert.deepEqual(hidden, JSON.parse(readFileSync(process.env.SAYSO_HIDDEN, "utf8")));
});

const LIVE = [
  ["javascript", "x = 1; # rm()"],
  ["javascript", "class A { #rm = run() }"],
  ["javascript", "`\n// ${rm()}\n`"],
  ["javascript", "x = /[/*]/; rm(); /[*/]/"],
  ["javascript", 'x = "/*"; rm(); y = "*/"'],
  ["javascript", "'a\\\n// '; rm()"],
  ["javascript", "// a\u2028rm()"],
  ["javascript", "a = <b>\n// {rm()}\n</b>"],
  ["bash", "echo a#b; rm"],
  ["bash", "echo ${a/ #/b}; rm"],
  ["bash", "echo $((16 #f)); rm"],
  ["bash", "((a = 16 # 1)); rm"],
  ["bash", 'echo "\n# $(rm)\n"'],
  ["bash", "echo '\n#'; rm"],
  ["bash", "bash <<E\n# a\n#\trm\nE"],
  ["bash", "echo a\\\n# ; rm"],
  ["bash", "# a\rrm"],
  ["bash", "echo $# rm; echo \\# rm"],
  ["bash", "echo x # don't\necho '\n# '; rm"],
  ["python", 'x = f"{0 if 1 else "#"}"; rm()'],
  ["python", "'''\n# '''; rm()"],
  ["python", "# a\rrm()"],
  ["python", "# a\frm()"],
  ["python", "'a\\\n# '; rm()"],
  ["python", "%%bash\necho '\n# '; rm"],
  ["ruby", "x = '\n# '; rm()"],
  ["html", "<!-- a --> # rm()"],
];

test("live code is never painted as a comment, and what is surely one is", async () => {
  globalThis.document = paper();
  const { highlight } = await import(`${web}/highlight.js`);
  for (const [language, code] of LIVE) {
    assert.deepEqual(highlight(code, language).painted("comment").filter((text) => text.includes("rm")), [], code);
  }
  for (const [language, code] of [
    ["python", "x = 1\n  # a look\nrm()"],
    ["bash", "# a look\nrm"],
    ["shell", "echo 'a'\n  # a look"],
    ["javascript", "rm()\n// a look"],
  ]) assert.match(highlight(code, language).painted("comment").join(), /a look$/);
  delete globalThis.document;
});

test("code is shown whole, whatever its colours", async () => {
  globalThis.document = paper();
  const { highlight } = await import(`${web}/highlight.js`);
  const { revealed } = await import(`${web}/visible.js`);
  const pieces = [
    "'", '"', "#", "//", "/*", "*/", "\n", " ".repeat(41), "\u202e", "rm", "1", "if", "\\", "\n".repeat(9), "😀", "\ud800",
  ];
  for (let n = 0; n < 2_000; n += 1) {
    const code = Array.from({ length: 12 }, () => pieces[Math.floor(Math.random() * pieces.length)]).join("");
    for (const language of ["python", "bash", "javascript", "x"]) {
      assert.equal(highlight(code, language).textContent, revealed(code), JSON.stringify(code));
    }
  }
  delete globalThis.document;
});

test("hostile code has its colours in a moment", async () => {
  globalThis.document = paper();
  const { highlight } = await import(`${web}/highlight.js`);
  highlight("x = 1", "python");
  for (const piece of ['\\"', "/*", "'''", " ", "\n", "\u202e", "#", "a\n\n\n\n\n\n\n"]) {
    for (const language of ["python", "bash", "javascript"]) {
      for (const length of [19_000, 60_000]) {
        const began = performance.now();
        highlight(piece.repeat(length / piece.length), language);
        assert(performance.now() - began < 2_000, JSON.stringify(piece));
      }
    }
  }
  delete globalThis.document;
});
