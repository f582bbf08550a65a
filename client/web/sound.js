/** Microphone and loudspeaker of the browser. */

/** Why a browser gives no microphone, in words that say what to do. */
const REFUSALS = {
  NotAllowedError: "The microphone is not allowed: allow it for this page in the browser's settings, or type.",
  NotFoundError: "There is no microphone: plug one in, or type.",
  NotReadableError: "Another program holds the microphone: close that and try again, or type.",
};

/** Of full scale: quieter than speech, as on the other clients. */
const CHIME_PEAK = 0.16;

export class SoundRefused extends Error {}

export function whyNoSound() {
  if (!window.isSecureContext) {
    return "Browsers lend a page the microphone only over HTTPS: open the https:// address that `sayso pair` shows, or type.";
  }
  if (!window.AudioWorkletNode || !navigator.mediaDevices?.getUserMedia) {
    return "This browser is too old to talk: update it, or type.";
  }
  return "";
}

export class Sound {
  #context = null;
  #waking = null;
  #opening = null;
  #microphone = null;
  #playback = null;
  #gain = null;
  #isMuted = false;
  #stream = null;
  #played = 0;
  /** Called with 320 samples, fifty times a second, while the microphone is on. */
  onFrame = () => {};
  /** Called when the microphone is taken away. */
  onLost = () => {};
  /** Called with {stream, played, dry, done, gaps}. */
  onPlayed = () => {};

  /** To be called from a tap or a key: browsers are silent before one. */
  async wake() {
    if (whyNoSound()) return;
    this.#waking ??= this.#prepare();
    await this.#waking;
    if (this.#context.state !== "running") await this.#context.resume();
  }

  async #prepare() {
    this.#context = new AudioContext({ latencyHint: "interactive" });
    await this.#context.audioWorklet.addModule("playback.worklet.js");
    await this.#context.audioWorklet.addModule("capture.worklet.js");
    this.#playback = new AudioWorkletNode(this.#context, "playback", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#playback.port.onmessage = ({ data }) => this.#hearPlayed(data);
    this.#gain = new GainNode(this.#context, { gain: this.#isMuted ? 0 : 1 });
    this.#playback.connect(this.#gain).connect(this.#context.destination);
  }

  /** Answers are not heard; how far they are is told all the same. */
  setMuted(on) {
    this.#isMuted = on;
    if (this.#gain) this.#gain.gain.value = on ? 0 : 1;
  }

  get isOn() {
    return this.#microphone !== null;
  }

  /** After a locked screen or a call: what was on goes on. */
  async takeUp() {
    if (this.#context && this.#context.state !== "running") await this.#context.resume().catch(() => {});
  }

  /** Opens the microphone, once. It stays open, so that no first word is lost. */
  async listen() {
    const refusal = whyNoSound();
    if (refusal) throw new SoundRefused(refusal);
    await this.wake();
    if (this.#microphone) return;
    this.#opening ??= this.#openMicrophone().finally(() => { this.#opening = null; });
    await this.#opening;
  }

  async #openMicrophone() {
    let media;
    try {
      media = await navigator.mediaDevices.getUserMedia({
        audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      });
    } catch (error) {
      throw new SoundRefused(REFUSALS[error.name] ?? `The microphone does not open: ${error.message}.`);
    }
    const source = this.#context.createMediaStreamSource(media);
    const capture = new AudioWorkletNode(this.#context, "capture", { numberOfOutputs: 0 });
    capture.port.onmessage = ({ data }) => this.onFrame(data);
    source.connect(capture);
    this.#microphone = { media, source, capture };
    media.getAudioTracks()[0].onended = () => {
      this.mute();
      this.onLost();
    };
  }

  /** Truly closes the microphone: the browser's own light goes out. */
  mute() {
    const microphone = this.#microphone;
    this.#microphone = null;
    microphone?.source.disconnect();
    microphone?.media.getTracks().forEach((track) => track.stop());
  }

  /** What comes while the loudspeaker is being prepared waits for it, in order. */
  #post(message, transfer = []) {
    if (this.#playback) this.#playback.port.postMessage(message, transfer);
    else this.#waking?.then(() => this.#playback.port.postMessage(message, transfer));
  }

  open(stream, rate) {
    if (this.#stream !== stream) this.#played = 0;
    this.#stream = stream;
    this.#post({ open: true, stream, rate });
  }

  play({ stream, samples }) {
    this.#post({ sound: samples, stream }, [samples.buffer]);
  }

  finish(stream, samples) {
    this.#post({ finish: true, stream, samples });
  }

  /** Silent at once. Returns how far the stream was heard. */
  flush() {
    this.#playback?.port.postMessage({ flush: true });
    const heard = { stream: this.#stream, samples: this.#played };
    this.#stream = null;
    return heard;
  }

  duck(isDucked) {
    this.#playback?.port.postMessage({ volume: isDucked ? 0.25 : 1 });
  }

  /** Without words: it is over, and came to nothing. */
  chime() {
    if (!this.#context || this.#stream !== null) return;
    const tone = this.#context.createOscillator();
    const volume = this.#context.createGain();
    const start = this.#context.currentTime;
    tone.frequency.setValueAtTime(880, start);
    tone.frequency.setValueAtTime(659.3, start + 0.07);
    volume.gain.setValueAtTime(0, start);
    volume.gain.linearRampToValueAtTime(CHIME_PEAK, start + 0.01);
    volume.gain.linearRampToValueAtTime(0, start + 0.16);
    tone.connect(volume).connect(this.#context.destination);
    tone.start(start);
    tone.stop(start + 0.16);
  }

  /** For tests and captions: what the page plays, as a stream. */
  tap() {
    const destination = this.#context.createMediaStreamDestination();
    this.#playback.connect(destination);
    return destination.stream;
  }

  #hearPlayed(report) {
    if (report.stream !== this.#stream) return;
    this.#played = report.played;
    if (report.done) this.#stream = null;
    this.onPlayed(report);
  }
}
