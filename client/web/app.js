/** The page: holds line, talker, sound, view and panels together. What happens goes to the talker; its effects are done here. */
import { Commands } from "./commands.js";
import { Devices } from "./devices.js";
import { $ } from "./dom.js";
import { Drawer } from "./drawer.js";
import { showLatency, showLevel, showPartial, showState, tell } from "./glance.js";
import * as server from "./server.js";
import { Link } from "./link.js";
import { codeFromAddress, deviceName, forget, pair, token } from "./pairing.js";
import { Notices } from "./notices.js";
import { Presence } from "./presence.js";
import { Settings } from "./settings.js";
import { Sound, whyNoSound } from "./sound.js";
import { Talker } from "./talker.js";
import { Talking } from "./talking.js";
import { Typing } from "./typing.js";
import { Uploads } from "./uploads.js";
import { View } from "./view.js";

const ADDRESS = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
const REPORT_MS = 60;
/** So long it is waited whether more comes of which the page knows nothing. */
const PAST_MS = 50;
/** By so many of its first characters what is spoken is known as part of the answer. */
const RECOGNISED_BY = 8;
const AWAY = { connecting: "Connecting …", waiting: "The server is away. What you say is kept." };

let link = null;
let welcome = null;
/** Files that went along with what was said last. */
let along = [];
let pastTimer = null;
let reportedAt = 0;
let reported = 0;
let isAtRest = true;
let spoken = [];

const now = () => performance.now() / 1_000;
const send = (message) => link?.send(message);
const talker = new Talker();
const sound = new Sound();
const commands = new Commands(send);
const view = new View($("conversation"), server, approve, {
  stop: () => perform(talker.interrupt()),
  cancel: (id) => send({ t: "task.cancel", id }),
  say: (words) => perform(talker.say(words)),
  ask: (words) => typing.send(words),
  edit: (words) => typing.edit(words),
  fetchPast,
});
const uploads = new Uploads(send);
const typing = new Typing({
  uploads,
  question: () => talker.question(now()),
  command: (name, text) => commands.typed(name, text),
  ask: (text, files, question) => {
    view.asked(text, files);
    perform(talker.say(text, files, question));
  },
  begins: () => {
    sound.wake();
    return link !== null;
  },
});
const talking = new Talking(talker, sound, {
  perform, changed: showAll, refused: (sentence) => view.note(sentence, true),
  along: {
    get areThere() { return uploads.areThere; },
    arrive: () => uploads.arrive(),
    take: () => (along = uploads.take()),
  },
});
const drawer = new Drawer(server, commands, (sentence) => view.note(sentence, true));
const settings = new Settings(server, commands, (values) => send({ t: "settings", values }));
const devices = new Devices(send);
const notices = new Notices();
const presence = new Presence({
  lost: () => link?.lose(),
  back: () => {
    link?.probe();
    sound.takeUp();
  },
});

/* --- the line --- */

function connect() {
  document.body.classList.remove("unpaired");
  $("pairing").hidden = true;
  $("conversation").hidden = false;
  link = new Link(ADDRESS, {
    t: "hello", protocol: { min: 1, max: 1 }, client: "Sayso page 1", device: deviceName(),
    features: ["screen", "approve", "resume", "tasks"], audio: { echo: "cancelled" }, token: token(),
  });
  const on = (type, act) => link.addEventListener(type, ({ detail }) => act(detail));
  on("state", ({ state, reason = "" }) => {
    if (state === "up") {
      showAll();
      return;
    }
    devices.cut();
    showState(reason || AWAY[state], "away");
  });
  on("welcome", welcomed);
  on("message", hear);
  on("sound", (frame) => perform(talker.hearSound(frame)));
  on("lost", (texts) => texts.forEach(({ text }) => view.note(`Not known whether this was answered: ${text}`, true)));
  on("unkept", () =>
    view.note("The server has been away for long: the first of what you said could not be kept. Say it again later.", true));
  on("refused", refused);
  link.open();
}

function welcomed(told) {
  welcome = told;
  if (told.was === "anew") {
    perform(talker.beginAnew());
    commands.forget();
    view.beginAnew();
    uploads.beginAnew();
  } else if (told.was !== "first") perform(talker.resumed());
  if (told.was === "snapshot" && told.snapshot) {
    view.clear();
    view.recall(told.snapshot);
    for (const request of told.snapshot.approvals ?? []) {
      talker.asked(request.id, now());
      view.show({ ...request, t: "approval.request" });
    }
    for (const job of told.snapshot.tasks ?? []) view.show({ ...job, t: "task.update" });
  }
  const models = Object.entries(told.models ?? {}).map(([part, words]) => `${part}: ${words}`);
  $("about").textContent = [`${deviceName()}, with ${told.server}`, ...models].join(" · ");
  $("hands-free").disabled = !(told.features ?? []).includes("hands_free");
  $("attach").disabled = !(told.features ?? []).includes("uploads");
  if (told.was !== "resumed") entered(told.conversation);
  if (told.was === "first") uploads.takeUp(told.conversation);
  if (Object.keys(settings.wishes).length) send({ t: "settings", values: settings.wishes });
}

/** This device takes part in this conversation: its past is shown, and it is marked in the list. */
async function entered(id, name = "") {
  view.conversation = id;
  drawer.isIn(id, name);
  const past = await server.conversation(id);
  if (!past || view.conversation !== id) return;
  view.recall(past);
  settings.isIn(past);
}

/** Tells the view what it did not see: at most so often. */
async function fetchPast() {
  clearTimeout(pastTimer);
  pastTimer = setTimeout(async () => {
    const id = view.conversation;
    const past = await server.conversation(id);
    if (past && view.conversation === id) view.recall(past);
  }, PAST_MS);
}

const NEEDS_NEW_PAGE = "version_mismatch";

function refused({ code, message }) {
  if (code === "unauthorized") {
    forget();
    askToPair(message);
    return;
  }
  showState("Not connected", "away");
  view.note(code === NEEDS_NEW_PAGE ? `${message} Reload this page to get the server's own.` : message, true);
}

function hear(message) {
  if (devices.hear(message)) return;
  const effects = talker.hear(message, now());
  if (effects === null) return;
  perform(effects);
  const told = worthTelling(message);
  if (told) notices.tell(told, message.t);
  switch (message.t) {
    case "turn.state":
      sound.duck(message.mouth === "ducked");
      view.acts(message.work === "acting");
      rested(message.work === "idle" && message.mouth === "silent");
      showAll();
      break;
    case "stt.partial":
      showPartial(message);
      break;
    case "stt.final":
      showPartial({});
      talking.stirred();
      if (message.text) view.asked(message.text, along.splice(0));
      else if (!talking.isHandsFree) {
        sound.chime();
        view.note("Nothing was understood.");
      }
      break;
    case "listen.end":
      talking.ended();
      break;
    case "speech.start":
      spoken.push(message.text ?? "");
      break;
    case "metrics":
      showLatency(message);
      drawer.refresh();
      break;
    case "file.got":
      uploads.got(message, view.conversation);
      break;
    case "command.done":
      if (!commands.done(message)) view.commanded(message);
      break;
    case "conversation":
      view.clear();
      entered(message.id, message.name);
      break;
    default:
      view.show(message);
  }
}

/** What somebody wants to know who looks elsewhere; empty: nothing. */
function worthTelling({ t, text = "", title = "", priority, state, message = "" }) {
  if (t === "approval.request") return "Something waits for your yes or no.";
  if (t === "announce" && priority !== "low") return text;
  if (t === "task.update" && state !== "running") return `${title || "A job"}: ${state}.`;
  if (t === "error") return message;
  return t === "metrics" ? view.lastWords || "Done." : "";
}

/** Who doesn't see the screen has heard the answer, unless it was not spoken, or only that it is on the screen. */
function rested(isIdle) {
  if (isIdle && !isAtRest) {
    const answer = view.lastWords;
    if (!spoken.some((text) => text && answer.includes(text.slice(0, RECOGNISED_BY)))) tell(answer);
    spoken = [];
    view.rested();
  }
  isAtRest = isIdle;
}

/* --- effects --- */

function perform(effects) {
  for (const effect of effects) DO[effect.do](effect);
}

const DO = {
  send: ({ message }) => send(message),
  sound: ({ stream, samples }) => link.sendSound(stream, samples),
  open: ({ stream, rate }) => sound.open(stream, rate),
  play: ({ frame }) => sound.play(frame),
  finish: ({ stream, samples }) => sound.finish(stream, samples),
  drop: () => sound.flush(),
  over: () => view.isOver(),
  hush: ({ then }) => {
    const heard = sound.flush();
    if (then === "interrupt") send({ t: "interrupt", stream: heard.stream, heard_samples: heard.samples });
    else if (heard.stream !== null) send({ t: "play.state", stream: heard.stream, samples: heard.samples });
  },
};

sound.onPlayed = ({ stream, played, dry, done }) => {
  if (!link?.up) return;
  if (done) {
    talker.played(stream);
    send({ t: "play.state", stream, samples: played, done: true });
    showAll();
  } else if (played && (performance.now() - reportedAt >= REPORT_MS || (dry && played !== reported))) {
    reportedAt = performance.now();
    reported = played;
    send({ t: "play.state", stream, samples: played });
  }
};

function approve({ id, nonce }, decision, code, lasting) {
  const message = { t: "approve", id, nonce, decision };
  if (lasting) message.lasting = true;
  if (decision === "edit") message.code = code;
  send(message);
}

/* --- what is shown --- */

function doing() {
  const { work, mouth } = talker.turn;
  if (talker.listening) return ["Listening", "live"];
  if (work === "awaiting_approval") return ["Waiting for your yes or no", "busy"];
  if (talker.speaking || mouth === "speaking") return ["Speaking", "busy"];
  if (work === "acting") return ["Running code", "busy"];
  if (work === "thinking") return ["Thinking", "busy"];
  return [talking.isHandsFree ? "Hands-free: just speak" : "Ready", "up"];
}

function showAll() {
  const [words, light] = doing();
  if (link?.up) showState(words, light);
  $("talk").setAttribute("aria-pressed", String(talker.listening));
  $("talk-label").textContent = talker.listening ? (talking.isLatched ? "Tap to send" : "Let go to send") : "Hold to talk";
  $("stop").disabled = light === "up";
  $("mute").hidden = !sound.isOn;
  $("hands-free").setAttribute("aria-pressed", String(talking.isHandsFree));
  presence.talks(light !== "up" || talking.isHandsFree);
  if (!talker.listening) showLevel(null);
  view.thinks(talker.turn.work === "thinking" && talker.turn.mouth !== "speaking");
}

for (const close of document.querySelectorAll("[data-closes]")) {
  close.addEventListener("click", () => close.closest("dialog").close());
}
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.matches(":modal") && dialog.close());
}

/* --- pairing --- */

function askToPair(reason = "") {
  document.body.classList.add("unpaired");
  $("pairing").hidden = false;
  $("conversation").hidden = true;
  $("settings").close();
  drawer.hide();
  $("device").value ||= deviceName();
  $("pairing-said").textContent = reason;
  showState("Not paired", "away");
}

async function pairWith(code) {
  $("pairing-said").textContent = "";
  link?.close();
  try {
    await pair(ADDRESS, code, $("device").value || deviceName());
    connect();
  } catch (error) {
    if (!token()) {
      askToPair(error.message);
      return;
    }
    connect(); // an old code was opened again, and this device is known
    view.note(error.message, true);
  }
}
$("pairing-form").addEventListener("submit", (event) => {
  event.preventDefault();
  pairWith($("digits").value.replace(/\D/g, ""));
});
$("forget").addEventListener("click", () => {
  if (!confirm("Forget this pairing? To use Sayso here again, this device must be paired anew.")) return;
  link?.close();
  link = null;
  forget();
  view.clear();
  askToPair();
});

/* --- beginning --- */

const MUTED = "sayso.muted";

/** Whether answers are not heard, on this device from now on. */
function mute(on) {
  sound.setMuted(on);
  $("quiet").setAttribute("aria-pressed", String(on));
  $("quiet").textContent = on ? "Answers are muted" : "Mute answers";
  try {
    localStorage.setItem(MUTED, on ? "yes" : "");
  } catch {
    // private windows keep nothing
  }
}
$("quiet").addEventListener("click", () => mute($("quiet").getAttribute("aria-pressed") !== "true"));
mute(localStorage.getItem(MUTED) === "yes");

$("stuck").remove();
if (navigator.serviceWorker && window.isSecureContext) navigator.serviceWorker.register("sw.js").catch(() => {});
const code = codeFromAddress();
window.addEventListener("hashchange", () => {
  const later = codeFromAddress();
  if (later) pairWith(later);
});
if (code) pairWith(code);
else if (token()) connect();
else askToPair(whyNoSound());
if (whyNoSound()) view.note(whyNoSound());
showAll();

const line = () => link;

/** For those who look at the page from outside: what its screen doesn't tell. */
export { line, sound, talker };
