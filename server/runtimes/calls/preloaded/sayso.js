// Functions of Sayso, for the JavaScript that it runs; they are there as `sayso`, without an import.
//
//     sayso.tell("half way", 0.5)                        a line of progress on the screens
//     sayso.ask("Which of the two?", ["red", "blue"])    asks the person, returns the answer
//     prompt("Your name?")                               the same; null if nobody answers
//     await Promise.all([sayso.promises.ask("a"), …])    as promises, so that several go on at once
//
// Each returns when it is done, as `prompt` does in a browser; `await` before it changes nothing. What is
// refused throws `sayso.Refused`, whose message says why. They work in the process of the run, while it lasts.
//
// Wishes and answers go through the driver (calls/node_line.py). Answers are read in a second thread, so that
// a call can wait for its own while the code stands still.
"use strict";

const fs = require("node:fs");
const net = require("node:net");
const { MessageChannel, receiveMessageOnPort } = require("node:worker_threads");

const WISHES = 249;
const ANSWERS = 248;

const WISH_MOST_BYTES = 1024 ** 2; // as long as a call may be

const HEAD_BYTES = 9; // length, id, letter

class Refused extends Error {
  name = "Refused";
}

class NotThereError extends Refused {
  name = "NotThereError";
}

/** Open an end of ours anew: the number that was inherited would be inherited by what code starts. */
function reopened(number, flags) {
  const opened = fs.openSync(`/dev/fd/${number}`, flags);
  fs.closeSync(number);
  return opened;
}

/**
 * Take the line over, and let code find its functions. Returns what the thread that reads answers needs, and
 * a function that forgets all that waits.
 */
function connect() {
  const wishes = reopened(WISHES, fs.constants.O_WRONLY);
  const answers = reopened(ANSWERS, fs.constants.O_RDONLY);
  const { port1: port, port2: theirs } = new MessageChannel();
  const count = new Int32Array(new SharedArrayBuffer(4)); // of answers
  const waiting = new Map(); // by id: what to do with the answer
  let number = 0;

  function send(name, args, after) {
    const id = ++number;
    const wish = Buffer.from(`\n${JSON.stringify({ id, name, args, after })}\n`);
    if (wish.length > WISH_MOST_BYTES) throw new Refused(`A call has ${WISH_MOST_BYTES} bytes of JSON at most.`);
    for (let sent = 0; sent < wish.length; ) sent += fs.writeSync(wishes, wish, sent);
    return id;
  }

  function settle({ id, letter, body }) {
    const take = waiting.get(id);
    waiting.delete(id);
    take?.(letter, Buffer.from(body));
  }

  function drain() {
    for (let each = receiveMessageOnPort(port); each; each = receiveMessageOnPort(port)) settle(each.message);
  }

  function call(name, args = {}, after = false) {
    const id = send(name, args, after);
    let answer = null;
    waiting.set(id, (letter, body) => (answer = { letter, body }));
    try {
      for (;;) {
        const seen = Atomics.load(count, 0);
        drain();
        if (answer) return value(answer.letter, answer.body);
        Atomics.wait(count, 0, seen);
      }
    } finally {
      waiting.delete(id);
    }
  }

  let promised = 0;

  function promise(name, args = {}, after = false) {
    return new Promise((done, fail) => {
      const id = send(name, args, after);
      if (!promised++) port.ref();
      waiting.set(id, (letter, body) => {
        if (!--promised) port.unref();
        try {
          done(value(letter, body));
        } catch (error) {
          fail(error);
        }
      });
    });
  }

  port.on("message", settle);
  port.unref();

  const shared = { Refused, NotThereError };
  const sayso = functions(call, { ...shared, promises: functions(promise, shared) });
  for (const [name, value] of Object.entries({ sayso, prompt: prompting(sayso) })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }

  function forget() {
    waiting.clear();
    promised = 0;
    port.unref();
  }

  return { reading: { answers, port: theirs, count }, forget };
}

/** What code calls: `tell` and `ask` with their own arguments, and each tool by its name. */
function functions(call, others) {
  const own = {
    ...others,
    call: (name, args) => call(name, args),
    tell(text, fraction) {
      const known = fraction !== null && typeof fraction === "object" ? fraction.fraction : fraction;
      return call("tell", known === undefined ? { text: String(text) } : { text: String(text), fraction: known });
    },
    ask(question, choices = []) {
      const among = Array.isArray(choices) ? choices : (choices?.choices ?? []);
      return call("ask", { question: String(question), choices: among.map(String) }, true);
    },
  };
  return new Proxy(own, {
    get(target, name) {
      if (name in target || typeof name === "symbol" || name === "then") return target[name];
      return (...given) => call(name, named(given), true);
    },
  });
}

/** One plain object names its arguments; anything else stands in their order. */
function named(given) {
  const [only] = given;
  const plain = given.length === 1 && only !== null && typeof only === "object" && !Array.isArray(only);
  if (plain) return only;
  return given.length ? { "*": given } : {};
}

function prompting(sayso) {
  return function prompt(question = "") {
    try {
      return sayso.ask(question);
    } catch (error) {
      if (error instanceof Refused && !(error instanceof NotThereError)) return null;
      throw error;
    }
  };
}

function value(letter, body) {
  if (letter === "v") return JSON.parse(body.toString());
  if (letter === "b") return body;
  throw new (letter === "n" ? NotThereError : Refused)(body.toString());
}

/** In the thread that hears orders: pass each answer on to where its call waits. */
function readAnswers({ answers, port, count }) {
  let said = Buffer.alloc(0);
  const line = new net.Socket({ fd: answers, readable: true, writable: false });
  line.on("data", (data) => {
    said = said.length ? Buffer.concat([said, data]) : data;
    while (said.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + said.readUInt32BE(0);
      if (said.length < end) return;
      const body = new Uint8Array(said.subarray(HEAD_BYTES, end));
      port.postMessage({ id: said.readUInt32BE(4), letter: String.fromCharCode(said[8]), body });
      said = said.subarray(end);
      Atomics.add(count, 0, 1);
      Atomics.notify(count, 0);
    }
  });
}

module.exports = { connect, readAnswers };
