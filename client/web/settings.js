/** The settings: how this device is spoken to, and what holds in this conversation. */
import { $, make, words } from "./dom.js";

/** What this device wants of speech, kept in the browser and told to the server at each greeting. */
const KEPT = { voice: "sayso.voice", language: "sayso.language", speed: "sayso.speed" };
/** Only at the server's own console; nobody offers it here. */
const CONSOLE_ONLY = "full";

export class Settings {
  #server;
  #commands;
  #tell;
  #mode = "";

  /** `tell(values)` tells the server how this device is to be spoken to. */
  constructor(server, commands, tell) {
    this.#server = server;
    this.#commands = commands;
    this.#tell = tell;
    $("menu").addEventListener("click", () => {
      this.#said({});
      this.#fill();
      $("settings").showModal();
    });
    $("speed").value = localStorage.getItem(KEPT.speed) ?? "1";
    this.#showSpeed();
    $("speed").addEventListener("input", () => this.#showSpeed());
    for (const name of Object.keys(KEPT)) {
      $(name).addEventListener("change", () => {
        localStorage.setItem(KEPT[name], $(name).value);
        this.#tell({ [name]: name === "speed" ? Number($(name).value) : $(name).value });
      });
    }
    $("model-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#choose("model", $("model").value.trim());
    });
    $("modes").addEventListener("change", ({ target }) => this.#choose("mode", target.value));
  }

  /** What was chosen on this device before. */
  get wishes() {
    const values = {};
    for (const [name, key] of Object.entries(KEPT)) {
      const kept = localStorage.getItem(key);
      if (kept) values[name] = name === "speed" ? Number(kept) : kept;
    }
    return values;
  }

  /** How it stands in the conversation that this device takes part in. */
  isIn({ model, mode }) {
    $("model").value = model;
    this.#mode = mode;
    for (const choice of $("modes").querySelectorAll("input")) choice.checked = choice.value === mode;
  }

  async #choose(name, value) {
    if (!value) return;
    const answer = await this.#commands.chosen(name, value);
    this.#said(answer);
    if (name === "mode" && answer.ok === false) this.isIn({ model: $("model").value, mode: this.#mode });
    else if (name === "mode") this.#mode = value;
  }

  #said({ ok = true, text = "" }) {
    $("settings-said").className = ok ? "" : "bad";
    $("settings-said").textContent = text;
  }

  #showSpeed() {
    $("speed-shown").textContent = `${Number($("speed").value).toFixed(1)} ×`;
  }

  async #fill() {
    let there;
    try {
      there = await this.#server.choices();
    } catch {
      this.#said({ ok: false, text: "The server is away: what there is to choose from can't be had now." });
      return;
    }
    const tongues = [...new Set(there.voices.map(({ language }) => language))].sort();
    options("voice", there.voices.map(({ name, language }) => [name, `${plainName(name)}, ${tongue(language)}`]));
    options("language", tongues.map((code) => [code, tongue(code)]));
    $("models").replaceChildren(...there.models.map((name) => Object.assign(make("option"), { value: name })));
    this.#offer(there.modes);
  }

  #offer(modes) {
    const legend = $("modes").querySelector("legend");
    const lines = Object.entries(modes).filter(([name]) => name !== CONSOLE_ONLY || name === this.#mode);
    $("modes").replaceChildren(legend, ...lines.map(([name, meaning]) => {
      const label = make("label");
      const choice = Object.assign(make("input"), { type: "radio", name: "mode", value: name, checked: name === this.#mode });
      const told = make("span", name);
      told.append(words("small", meaning));
      label.append(choice, told);
      return label;
    }));
  }
}

/** Keeps the first choice, which is to leave it to the server. */
function options(id, choices) {
  const chosen = localStorage.getItem(KEPT[id]) ?? "";
  const made = choices.map(([value, text]) => Object.assign(make("option", text), { value }));
  $(id).replaceChildren($(id).firstElementChild, ...made);
  $(id).value = choices.some(([value]) => value === chosen) ? chosen : "";
}

/** en_US-joe-medium is joe. */
const plainName = (name) => name.split("-")[1] ?? name;

function tongue(code) {
  try {
    return new Intl.DisplayNames(undefined, { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}
