/** The page: holds line, talker, sound and view together. What happens goes to the talker; its effects are done here. */
import { VoiceGate } from "./hands_free.js";
import { showLatency, showLevel, showPartial } from "./glance.js";
import { Link } from "./link.js";
import { codeFromAddress, deviceName, forget, pair, token } from "./pairing.js";
import { Sound, SoundRefused, whyNoSound } from "./sound.js";
import { TAP_SECONDS, Talker } from "./talker.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const URL_OF_SOCKET = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
const REPORT_MS = 60;
const SPEED = "sayso.speed";

const talker = new Talker();
const sound = new Sound();
const gate = new VoiceGate();
const view = new View($("conversation"), fetchFile, approve);
let link = null;
let isLatched = false;
let isHandsFree = false;
let pressedAt = null;
let wasBusy = false;
let reportedAt = 0;
let wakeLock = null;

const now = () => performance.now() / 1_000;
const isBusy = () => talker.speaking || talker.turn.work !== "idle";

/* --- the line --- */

function connect() {
  $("pairing").hidden = true;
  $("conversation").hidden = false;
  link = new Link(URL_OF_SOCKET, {
    t: "hello", protocol: { min: 1, max: 1 }, client: "Sayso page 1", device: deviceName(),
    features: ["screen", "approve", "resume"], audio: { echo: "cancelled" }, token: token(),
  });
  link.addEventListener("state", ({ detail }) => say(STATES[detail.state] ?? "", detail.reason));
  link.addEventListener("welcome", ({ detail }) => welcomed(detail));
  link.addEventListener("message", ({ detail }) => hear(detail));
  link.addEventListener("sound", ({ detail }) => perform(talker.hearSound(detail)));
  link.addEventListener("lost", ({ detail }) =>
    detail.forEach(({ text }) => view.note(`Not known whether this was answered: ${text}`, true)));
  link.addEventListener("unkept", () =>
    view.note("The server has been away for long: the first of what you said could not be kept. Say it again later.", true));
  link.addEventListener("refused", ({ detail }) => refused(detail));
  link.open();
}

const STATES = { connecting: "Connecting …", waiting: "The server is away. What you say is kept.", up: "Ready" };

function welcomed(welcome) {
  if (welcome.was === "anew") perform(talker.beginAnew());
  else if (welcome.was !== "first") perform(talker.resumed());
  if (welcome.snapshot && welcome.was !== "resumed") view.recall(welcome.snapshot);
  const models = Object.entries(welcome.models ?? {}).map(([part, words]) => `${part}: ${words}`);
  $("about").textContent = [welcome.server, ...models].join(" · ");
  $("hands-free").disabled = !(welcome.features ?? []).includes("hands_free");
  const speed = Number(localStorage.getItem(SPEED) ?? 1);
  if (speed !== 1 && (welcome.features ?? []).includes("settings")) link.send({ t: "settings", values: { speed } });
}

function refused({ code, message }) {
  say("Not connected", message);
  if (code === "unauthorized") {
    forget();
    askToPair(message);
  } else view.note(message, true);
}

function hear(message) {
  const effects = talker.hear(message);
  if (effects === null) return;
  perform(effects);
  switch (message.t) {
    case "turn.state":
      sound.duck(message.mouth === "ducked");
      showState();
      break;
    case "stt.partial":
      showPartial(message);
      break;
    case "stt.final":
      showPartial({});
      view.show(message);
      break;
    case "listen.end":
      listeningEnded();
      break;
    case "metrics":
      showLatency(message);
      break;
    default:
      view.show(message);
  }
}

/* --- effects --- */

function perform(effects) {
  for (const effect of effects) DO[effect.do](effect);
}

const DO = {
  send: ({ message }) => link.send(message),
  sound: ({ stream, samples }) => link.sendSound(stream, samples),
  open: ({ stream, rate }) => sound.open(stream, rate),
  play: ({ frame }) => sound.play(frame),
  finish: ({ stream, samples }) => sound.finish(stream, samples),
  drop: () => sound.flush(),
  hush: ({ then }) => {
    const heard = sound.flush();
    if (then === "interrupt") link.send({ t: "interrupt", stream: heard.stream, heard_samples: heard.samples });
    else if (heard.stream !== null) link.send({ t: "play.state", stream: heard.stream, samples: heard.samples });
  },
};

sound.onPlayed = ({ stream, played, done }) => {
  if (!link?.up) return;
  if (done) {
    talker.played(stream);
    link.send({ t: "play.state", stream, samples: played, done: true });
    showState();
  } else if (performance.now() - reportedAt >= REPORT_MS && played) {
    reportedAt = performance.now();
    link.send({ t: "play.state", stream, samples: played });
  }
};

sound.onFrame = (frame) => {
  if (talker.listening) showLevel(frame);
  if (isHandsFree && !talker.listening && gate.hears(frame)) {
    const before = gate.take();
    perform(talker.press(now(), "hands_free", before.length * frame.length));
    for (const piece of before) perform(talker.frame(piece));
    showState();
    return;
  }
  const listened = talker.listening;
  perform(talker.frame(frame));
  if (listened && !talker.listening) listeningEnded();
};

/* --- talking --- */

async function press() {
  if (talker.listening && talker.mode === "ptt") return;
  pressedAt = now();
  wasBusy = isBusy();
  try {
    await sound.listen();
  } catch (error) {
    pressedAt = null;
    if (!(error instanceof SoundRefused)) throw error;
    view.note(error.message, true);
    return;
  }
  if (pressedAt === null) return; // let go while the browser was asking
  if (talker.listening) perform(talker.cancel());
  perform(talker.press(now()));
  keepAwake();
  showState();
}

function release() {
  if (pressedAt === null) return;
  const seconds = now() - pressedAt;
  pressedAt = null;
  if (seconds < TAP_SECONDS && !wasBusy && talker.listening) {
    isLatched = true;
    showState();
    return;
  }
  perform(talker.release(now()));
  listeningEnded();
}

async function toggle() {
  if (talker.listening) {
    isLatched = false;
    perform(talker.release(now()));
    listeningEnded();
  } else {
    await press();
    pressedAt = null;
    isLatched = talker.listening;
    showState();
  }
}

function listeningEnded() {
  isLatched = false;
  wakeLock?.release();
  wakeLock = null;
  showState();
}

async function keepAwake() {
  wakeLock = await navigator.wakeLock?.request("screen").catch(() => null);
}

const talk = $("talk");
talk.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  event.preventDefault();
  talk.focus();
  talk.setPointerCapture(event.pointerId);
  if (isLatched) toggle();
  else press();
});
talk.addEventListener("pointerup", release);
talk.addEventListener("pointercancel", release);
talk.addEventListener("contextmenu", (event) => event.preventDefault());
// Enter, and the way a screen reader presses: there is no letting go.
talk.addEventListener("click", (event) => {
  if (event.detail === 0) toggle();
});

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;
const isOtherButton = (target) => target.closest?.("button, summary, a") && target !== talk;
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stop();
  if (event.key !== " " || isTyping(event.target) || isOtherButton(event.target) || !link) return;
  event.preventDefault();
  if (!event.repeat) (isLatched ? toggle : press)();
});
document.addEventListener("keyup", (event) => {
  if (event.key === " " && !isTyping(event.target) && !isOtherButton(event.target)) {
    event.preventDefault();
    release();
  }
});

function stop() {
  if (talker.listening) {
    perform(talker.cancel());
    listeningEnded();
  }
  perform(talker.interrupt());
}
$("stop").addEventListener("click", stop);
$("mute").addEventListener("click", () => {
  if (talker.listening) stop();
  setHandsFree(false);
  sound.mute();
  showState();
});

$("typing").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("words").value.trim();
  if (!text || !link) return;
  $("words").value = "";
  sound.wake();
  const command = /^\/(\w+)\s*(.*)$/s.exec(text);
  if (command) {
    link.send({ t: "command", name: command[1], text: command[2] });
    return;
  }
  view.asked(text);
  perform(talker.say(text));
});

async function setHandsFree(on) {
  isHandsFree = on;
  if (on) {
    try {
      await sound.listen();
    } catch (error) {
      isHandsFree = false;
      view.note(error.message, true);
    }
  }
  $("hands-free").setAttribute("aria-pressed", String(isHandsFree));
  showState();
}
$("hands-free").addEventListener("click", () => setHandsFree(!isHandsFree));

/* --- what is shown --- */

function say(text, reason = "") {
  $("state").textContent = reason ? `${text} ${reason}` : text;
}

function showState() {
  const { work, mouth } = talker.turn;
  const spoken = talker.speaking || mouth === "speaking";
  let words = "Ready";
  if (talker.listening) words = "Listening";
  else if (work === "awaiting_approval") words = "Waiting for your yes or no";
  else if (spoken) words = "Speaking";
  else if (work === "acting") words = "Running code";
  else if (work === "thinking") words = "Thinking";
  else if (isHandsFree) words = "Hands-free: just speak";
  if (link?.up) say(words);
  talk.setAttribute("aria-pressed", String(talker.listening));
  $("talk-label").textContent = talker.listening ? (isLatched ? "Tap to send" : "Let go to send") : "Hold to talk";
  $("stop").disabled = !(talker.listening || spoken || work !== "idle");
  $("mute").disabled = !sound.isOn;
  if (!talker.listening) showLevel(null);
}

async function fetchFile(id) {
  const answer = await fetch(`/files/${encodeURIComponent(id)}`, { headers: { Authorization: `Bearer ${token()}` } });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.blob();
}

function approve({ id, nonce }, decision, code, lasting) {
  const message = { t: "approve", id, nonce, decision };
  if (lasting) message.lasting = true;
  if (decision === "edit") message.code = code;
  link.send(message);
}

/* --- settings and pairing --- */

$("menu").addEventListener("click", () => {
  const isOpen = $("panel").hidden;
  $("panel").hidden = !isOpen;
  $("menu").setAttribute("aria-expanded", String(isOpen));
});
$("speed").value = localStorage.getItem(SPEED) ?? "1";
$("speed-shown").textContent = Number($("speed").value).toFixed(1);
$("speed").addEventListener("input", () => {
  $("speed-shown").textContent = Number($("speed").value).toFixed(1);
});
$("speed").addEventListener("change", () => {
  localStorage.setItem(SPEED, $("speed").value);
  link?.send({ t: "settings", values: { speed: Number($("speed").value) } });
});
$("settings").addEventListener("submit", (event) => event.preventDefault());
$("forget").addEventListener("click", () => {
  link?.close();
  link = null;
  forget();
  askToPair();
});

function askToPair(reason = "") {
  $("pairing").hidden = false;
  $("conversation").hidden = true;
  $("device").value ||= deviceName();
  $("pairing-said").textContent = reason;
  say("Not paired");
}

async function pairWith(code) {
  $("pairing-said").textContent = "";
  try {
    await pair(URL_OF_SOCKET, code, $("device").value || deviceName());
    connect();
  } catch (error) {
    askToPair(error.message);
  }
}
$("pairing-form").addEventListener("submit", (event) => {
  event.preventDefault();
  pairWith($("digits").value.replace(/\D/g, ""));
});

window.addEventListener("online", () => link?.hurry());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") link?.hurry();
});
if (navigator.serviceWorker && window.isSecureContext) navigator.serviceWorker.register("sw.js").catch(() => {});

const code = codeFromAddress();
if (code) pairWith(code);
else if (token()) connect();
else askToPair();
const noSound = whyNoSound();
if (noSound) view.note(noSound);
showState();

const line = () => link;

/** For those who look at the page from outside: what its screen doesn't tell. */
export { line, sound, talker };
