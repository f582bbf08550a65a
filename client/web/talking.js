/**
 * Button, space bar and hands-free: when the microphone is listened to.
 *
 * Hold to talk; a tap latches, and the next one sends. Enter, and the way a screen reader presses,
 * know no letting go: they latch too. What happens goes to the talker; `perform` does its effects.
 */
import { $ } from "./dom.js";
import { showLevel } from "./glance.js";
import { VoiceGate } from "./hands_free.js";
import { SoundRefused } from "./sound.js";

/** A press that is shorter latches: the microphone stays open until the next tap. */
const TAP_SECONDS = 0.4;
/** Hands-free closes the microphone when nobody has spoken for so long. */
const QUIET_MS = 60_000;

const now = () => performance.now() / 1_000;
const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;

export class Talking {
  #talker;
  #sound;
  #perform;
  #refused;
  #changed;
  #gate = new VoiceGate();
  #pressedAt = null;
  #wasBusy = false;
  #along;
  #quiet = null;
  isLatched = false;
  isHandsFree = false;

  /** `perform(effects)`; `refused(sentence)`: there is no microphone; `changed()`: show it; `along()`: the files that
   * go along with what is said, as uploads.js has them. */
  constructor(talker, sound, { perform, refused, changed, along }) {
    this.#along = along;
    this.#talker = talker;
    this.#sound = sound;
    this.#perform = perform;
    this.#refused = refused;
    this.#changed = changed;
    sound.onFrame = (frame) => this.#hear(frame);
    sound.onLost = () => this.#lost();
    this.#listenToButton();
    this.#listenToKeys();
  }

  /** The utterance is over, by whichever end. */
  ended() {
    this.isLatched = false;
    this.#changed();
  }

  /** Stop whatever goes on: listening, speech, thought or code. */
  stop() {
    if (this.#talker.listening) this.#perform(this.#talker.cancel());
    this.#perform(this.#talker.interrupt());
    this.ended();
  }

  /** Truly closes the microphone. */
  mute() {
    if (this.#talker.listening) this.#perform(this.#talker.cancel());
    this.isHandsFree = false;
    this.#sound.mute();
    this.ended();
  }

  async setHandsFree(on) {
    this.isHandsFree = on && (await this.#open());
    this.stirred();
    this.#changed();
  }

  /** Somebody speaks, or is answered: the microphone stays open for another while. */
  stirred() {
    clearTimeout(this.#quiet);
    if (!this.isHandsFree) return;
    this.#quiet = setTimeout(() => {
      const { speaking, listening, turn } = this.#talker;
      if (speaking || listening || turn.work !== "idle") {
        this.stirred();
        return;
      }
      this.mute();
      this.#refused("Nobody spoke for a minute, so the microphone is closed. Press Hands-free to open it again.");
    }, QUIET_MS);
  }

  /** Whether the microphone is open; else the person knows why. */
  async #open() {
    try {
      await this.#sound.listen();
      return true;
    } catch (error) {
      if (!(error instanceof SoundRefused)) throw error;
      this.#refused(error.message);
      return false;
    }
  }

  #hear(frame) {
    const talker = this.#talker;
    if (talker.listening) showLevel(frame);
    if (this.isHandsFree && !talker.listening && this.#gate.hears(frame)) {
      const before = this.#gate.take();
      this.stirred();
      this.#perform(talker.press(now(), "hands_free", before.length * frame.length, this.#along.take()));
      for (const piece of before) this.#perform(talker.frame(piece));
      this.#changed();
      return;
    }
    const listened = talker.listening;
    this.#perform(talker.frame(frame));
    if (listened && !talker.listening) this.ended();
  }

  /** The microphone was unplugged or taken away: what was said until then counts. */
  #lost() {
    if (this.#talker.listening) this.#perform(this.#talker.release(now()));
    this.isHandsFree = false;
    this.#refused("The microphone is gone: plug it in again, or type.");
    this.ended();
  }

  async #press() {
    const talker = this.#talker;
    if (talker.listening && talker.mode === "ptt") return;
    this.#pressedAt = now();
    this.#wasBusy = talker.speaking || talker.turn.work !== "idle";
    const asked = now();
    const isOpen = await this.#open();
    if (!isOpen) this.#pressedAt = null;
    if (this.#pressedAt === null) { // let go while the browser was asking
      if (isOpen && now() - asked > TAP_SECONDS) this.#refused("The microphone is open now: hold the button and speak.");
      return;
    }
    if (talker.listening) this.#perform(talker.cancel());
    this.#perform(talker.press(now()));
    this.#changed();
  }

  #release() {
    if (this.#pressedAt === null) return;
    const seconds = now() - this.#pressedAt;
    this.#pressedAt = null;
    if (seconds < TAP_SECONDS && !this.#wasBusy && this.#talker.listening) {
      this.isLatched = true;
      this.#changed();
      return;
    }
    this.#send();
  }

  /** What was said goes, as soon as the files have arrived that go along. */
  async #send() {
    const effects = this.#talker.release(now());
    this.ended();
    const stop = effects.find(({ message }) => message?.t === "listen.stop");
    if (stop && this.#along.areThere) {
      await this.#along.arrive();
      const files = this.#along.take();
      if (files.length) stop.message.files = files;
    }
    this.#perform(effects);
  }

  async #toggle() {
    if (this.#talker.listening) {
      this.#send();
      return;
    }
    await this.#press();
    this.#pressedAt = null;
    this.isLatched = this.#talker.listening;
    this.#changed();
  }

  #listenToButton() {
    const talk = $("talk");
    talk.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      talk.focus();
      talk.setPointerCapture(event.pointerId);
      if (this.isLatched) this.#toggle();
      else this.#press();
    });
    talk.addEventListener("pointerup", () => this.#release());
    talk.addEventListener("pointercancel", () => this.#release());
    talk.addEventListener("contextmenu", (event) => event.preventDefault());
    talk.addEventListener("click", (event) => {
      if (event.detail === 0) this.#toggle();
    });
    $("stop").addEventListener("click", () => this.stop());
    $("mute").addEventListener("click", () => this.mute());
    $("hands-free").addEventListener("click", () => this.setHandsFree(!this.isHandsFree));
  }

  #listenToKeys() {
    const talk = $("talk");
    const isElsewhere = ({ target }) =>
      isTyping(target) || document.querySelector("dialog:modal") || document.body.classList.contains("unpaired") ||
      (target !== talk && target.closest?.("button, summary, a"));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !document.querySelector("dialog:modal")) this.stop();
      if (event.key !== " " || isElsewhere(event)) return;
      event.preventDefault();
      if (event.repeat) return;
      if (this.isLatched) this.#toggle();
      else this.#press();
    });
    document.addEventListener("keyup", (event) => {
      if (event.key !== " " || isElsewhere(event)) return;
      event.preventDefault();
      this.#release();
    });
  }
}
