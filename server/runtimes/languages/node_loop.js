// JavaScript as it runs in the sandbox: node, taking code block by block. Node runs this file; the
// driver gives it orders and hears its reports (driver.py tells how).
//
// V8 itself evaluates in the manner of a console: `const` and `let` last and may be declared again,
// `await` stands anywhere. Nothing is added to the code; only imports are said in another way
// (node_imports.js). A block is over when its value is there and nothing is left to happen: timers,
// requests and promises that it started come to their end.
// Whoever gives orders lives in a second thread, so that code which never pauses can be stopped.
"use strict";

const { Worker, isMainThread, workerData, parentPort } = require("node:worker_threads");
const { AsyncResource } = require("node:async_hooks");
const { setImmediate } = require("node:timers");
const { createRequire } = require("node:module");
const fs = require("node:fs");
const inspector = require("node:inspector");
const net = require("node:net");
const util = require("node:util");
const { Writable } = require("node:stream");
const { immediateQueue, timerListMap } = require("internal/timers");
const imports = require("./node_imports.js");
const calls = require("../calls/preloaded/sayso.js");

const STOPPED = 130; // as a shell says that an interrupt ended something

const ORDERS = 250;
const REPORTS = 251;

// How long a block may go on in its timers and requests before it counts as over. What never ends,
// such as a server or an interval, goes on beside the next block.
const SETTLE_MS = 5_000;

// How often to look whether a block's timers and requests have ended.
const LOOK_MS = 20;

// How long the main thread may take to hear of an interrupt before its code is cut off.
const HEAR_MS = 50;

// Characters of a value that are told: the rest of a longer one tells nobody more.
const VALUE_MOST = 64 * 1024;

if (isMainThread) {
  main(process.argv[2]);
} else {
  takeOrders(workerData.heard);
  calls.readAnswers(workerData.reading);
}

function main(file) {
  renewStreams();
  const heard = new Int32Array(new SharedArrayBuffer(4));
  const { reading, forget } = calls.connect();
  const orders = new Worker(__filename, { workerData: { heard, reading }, transferList: [reading.port] });
  const session = new inspector.Session();
  session.connect();
  imports.prepare(process.cwd());
  const show = Symbol("sayso");
  Object.defineProperty(globalThis, show, { value: words, enumerable: false });
  for (const [name, value] of Object.entries({
    require: createRequire(`${process.cwd()}/`),
    module: { exports: {} },
    __dirname: process.cwd(),
  })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }

  let run = null; // the block that is being run

  orders.on("message", (order) => {
    if (order === "interrupt") {
      Atomics.store(heard, 0, 1);
      Atomics.notify(heard, 0);
      if (run) stop(run);
    } else if (order === "run") {
      begin();
    } else if (order === "here") {
      // What was to be cut off, but had ended, is cut off in the loop's next turn.
      setImmediate(() => setImmediate(report, { here: 1 }));
    }
  });

  // The event loop has nothing left to do: what has not happened yet never will.
  process.on("beforeExit", () => {
    orders.ref();
    if (!run) return;
    if (run.stopped) return over(run, STOPPED);
    if (run.waiting) {
      over(run, 13, "It awaits something that never comes.");
    } else {
      over(run);
    }
  });
  process.on("SIGINT", () => {}); // for the programs that code started; we hear of it by order
  process.on("exit", () => session.disconnect()); // or node would wait for it, and say so
  process.on("worker", (worker) => run?.workers.push(worker));
  process.on("uncaughtException", failed);
  process.on("unhandledRejection", failed);

  function begin() {
    const mine = { waiting: true, failed: "", workers: [], first: new AsyncResource("sayso").asyncId() };
    run = mine;
    let code;
    try {
      code = imports.translated(fs.readFileSync(file, "utf8"));
    } catch (error) {
      fail(mine, String(error));
      return over(mine);
    }
    orders.unref(); // so that the loop can run dry
    mine.before = process.getActiveResourcesInfo().length;
    const options = { replMode: true, awaitPromise: true, objectGroup: "block" };
    session.post("Runtime.evaluate", { expression: code, ...options }, (cut, answer) => {
      if (run !== mine || mine.stopped) return;
      mine.waiting = false;
      if (cut) return stop(mine);
      if (answer.exceptionDetails) {
        fail(mine, described(answer.exceptionDetails));
      }
      mine.value = mine.failed ? undefined : answer.result;
      setTimeout(over, SETTLE_MS, mine).unref();
      if (mine.before) setImmediate(look, mine);
    });
  }

  // Where something of an earlier block goes on for ever, the loop never runs dry.
  function look(which) {
    if (run !== which) return;
    if (process.getActiveResourcesInfo().length <= which.before) return over(which);
    setTimeout(look, LOOK_MS, which).unref();
  }

  // A block that is stopped takes along what it has started. Until that is gone, it is not over; what
  // does not go, the driver ends with all of node.
  function stop(which) {
    if (run !== which) return;
    which.stopped = true;
    forget();
    endSince(which.first);
    for (const worker of which.workers) worker.terminate();
    if (process.getActiveResourcesInfo().length <= which.before) return over(which, STOPPED);
    setTimeout(stop, LOOK_MS, which).unref();
  }

  function over(which, code = which.failed ? 1 : 0, detail = which.failed) {
    if (run !== which) return;
    run = null;
    orders.ref();
    if (code === STOPPED) renewStreams();
    if (code === 0) tellValue(which.value);
    session.post("Runtime.releaseObjectGroup", { objectGroup: "block" });
    report({ done: code, detail });
  }

  function tellValue(value) {
    if (!value || value.type === "undefined") return;
    if (value.objectId === undefined) {
      const plain = "value" in value ? util.inspect(value.value) : value.description;
      return report({ result: plain });
    }
    globalThis[show].told = "";
    session.post("Runtime.callFunctionOn", {
      objectId: value.objectId,
      functionDeclaration: `function () {
        const show = Object.getOwnPropertySymbols(globalThis).find((s) => s.description === "sayso");
        globalThis[show](this);
      }`,
    });
    if (words.told) report({ result: words.told });
  }

  function fail(which, text) {
    report({ error: text });
    which.failed ||= text.split("\n", 1)[0];
  }

  function failed(error) {
    const text = error instanceof Error ? error.stack : `Uncaught ${util.inspect(error)}`;
    if (run) {
      fail(run, tidy(text));
    } else {
      console.error(tidy(text));
    }
  }
}

// Ends timers, connections, servers and programs that were made since a moment, as node counts what it
// makes.
function endSince(first) {
  const number = (each) => each[Object.getOwnPropertySymbols(each).find((one) => one.description === "asyncId")];
  const later = (each) => number(each) > first;
  const timers = [];
  for (const list of Object.values(timerListMap)) {
    for (let each = list._idleNext; each !== list; each = each._idleNext) timers.push(each);
  }
  timers.filter(later).forEach((each) => clearTimeout(each));
  const immediates = [];
  for (let each = immediateQueue.head; each; each = each._idleNext) immediates.push(each);
  immediates.filter(later).forEach((each) => clearImmediate(each));
  for (const each of process._getActiveHandles()) {
    if (!(each._handle?.getAsyncId?.() > first)) continue;
    if (each.pid) each.kill("SIGKILL");
    else if (each.destroy) each.destroy();
    else each.close?.();
  }
}

// What a value looks like; promises and timers are what code starts, not what it finds.
function words(value) {
  const started = util.types.isPromise(value) || ["Timeout", "Immediate"].includes(value?.constructor?.name);
  words.told = started ? "" : util.inspect(value).slice(0, VALUE_MOST);
}

function described(details) {
  const { exception } = details;
  if (exception?.className === "SyntaxError" && exception.description.split("\n")[1]?.includes("node:")) {
    return `${tidy(exception.description)}\n    at line ${details.lineNumber + 1}, column ${details.columnNumber + 1}`;
  }
  if (exception?.subtype === "error") return tidy(exception.description);
  const value = exception && "value" in exception ? util.inspect(exception.value) : exception?.description;
  return `Uncaught ${value ?? details.text}`;
}

// Code that is made as it goes, by eval, cannot import: V8 asks who imports, and nobody can be named to it.
const IMPORTS = /Cannot use import statement|dynamic import callback|Invalid host defined options/;

// An error without the places in node's own and in this file, which nobody asked for.
function tidy(stack) {
  const own = (line) => /^\s+at .*(\(|at )(node:|[^(]*node_(loop|imports)\.js)/.test(line);
  const [first, ...rest] = String(stack).split("\n").filter((line) => !own(line));
  return [IMPORTS.test(first) ? `${first}; use require() instead` : first, ...rest].join("\n");
}

// What is printed is written before the code goes on, so it comes before the report that the block is
// over. Code that is cut off in the middle of printing leaves its stream waiting for ever: then it
// gets a new one.
function renewStreams() {
  for (const [name, fd] of [["stdout", 1], ["stderr", 2]]) {
    if (process[name].direct && !process[name].writableLength) continue;
    const stream = new Writable({
      write(chunk, _encoding, done) {
        writeWhole(fd, chunk);
        done();
      },
    });
    Object.assign(stream, { fd, direct: true });
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
    console[`_${name}`] = stream;
  }
}

function report(what) {
  writeWhole(REPORTS, Buffer.from(`\n${JSON.stringify(what)}\n`));
}

function writeWhole(fd, bytes) {
  while (bytes.length) {
    try {
      bytes = bytes.subarray(fs.writeSync(fd, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the pipe is full
    }
  }
}

function takeOrders(heard) {
  let said = "";
  const socket = new net.Socket({ fd: ORDERS, readable: true, writable: false });
  socket.setEncoding("utf8");
  socket.on("end", () => process.kill(process.pid, "SIGKILL")); // nobody is left to work for
  socket.on("data", (text) => {
    const lines = (said + text).split("\n");
    said = lines.pop();
    for (const order of lines) {
      Atomics.store(heard, 0, 0);
      parentPort.postMessage(order);
      if (order === "interrupt") {
        Atomics.wait(heard, 0, 0, HEAR_MS);
        if (!Atomics.load(heard, 0)) cutOff();
      }
    }
  });
}

// Only now a session: one that is open at the end is waited for.
function cutOff() {
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post("Runtime.terminateExecution", () => session.disconnect());
}
