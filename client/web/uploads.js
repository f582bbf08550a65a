/**
 * Files for the workspace: picked, dropped, pasted or photographed. Each is sent in pieces, the next one when
 * the server has said that it has the one before; their names go along with the next request.
 */
import { $, button, icon, make, words } from "./dom.js";
import { tell } from "./glance.js";
import { forget, hasArrived, keep, takeLeftBehind } from "./kept.js";

/** With base64 two thirds of the longest message that every server takes. */
const PIECE_BYTES = 32_768;
/** The server takes as many at once. */
const MOST = 8;

export class Uploads {
  #send;
  #count = 0;
  #files = new Map();
  #waiting = [];

  /** `send(message)` puts it on the line. */
  constructor(send) {
    this.#send = send;
    $("attach").addEventListener("click", () => $("picked").click());
    $("photograph").addEventListener("click", () => $("photographed").click());
    for (const picker of [$("picked"), $("photographed")]) {
      picker.addEventListener("change", () => {
        this.add(picker.files);
        picker.value = "";
      });
    }
    $("words").addEventListener("paste", (event) => {
      if (!event.clipboardData.files.length) return;
      event.preventDefault();
      this.add(event.clipboardData.files);
    });
    this.#takeDrops(document.body);
  }

  add(files) {
    for (const file of files) {
      const id = this.#newId();
      if (this.#begin(id, file)) keep(id, file);
    }
  }

  /** What was on its way when the page was loaded anew goes again from the beginning; what had arrived in
   * this conversation's folder still waits to be sent along. */
  async takeUp(conversation) {
    for (const { id, name, file, arrived } of await takeLeftBehind(conversation)) {
      if (arrived) {
        const upload = fresh(id, { name });
        this.#files.set(id, upload);
        this.#show(upload);
        this.#waits(upload, arrived);
      } else if (!file) {
        this.#refuse(fresh(id, { name }), `${name} did not arrive, because the page was loaded anew: add it again.`);
      } else if (this.#begin(id, file)) {
        tell(`The page was loaded anew while ${name} was on its way: it is sent again.`);
      }
    }
  }

  /** The server says how much it has, or what it is called in the folder of this conversation. */
  async got({ id, received = 0, name = "", problem = "" }, conversation) {
    const upload = this.#files.get(id);
    if (!upload) return;
    if (problem) this.#refuse(upload, `${upload.file.name} was not taken. ${problem}`);
    else if (name) {
      hasArrived(upload.kept, name, conversation);
      this.#waits(upload, name);
    } else if (received === upload.sent) await this.#sendPiece(upload, received);
    else this.#refuse(upload, `${upload.file.name} did not arrive: add it again.`);
  }

  get areComing() {
    return [...this.#files.values()].some(({ name }) => !name);
  }

  get areThere() {
    return this.#files.size > 0;
  }

  /** Resolves when none is on its way any more: all have arrived, or were left out or refused. */
  async arrive() {
    while (this.areComing) await new Promise((settled) => this.#waiting.push(settled));
  }

  #settled() {
    if (this.areComing) return;
    for (const settled of this.#waiting.splice(0)) settled();
  }

  /** The names of those that are there, for the request that they belong to; the row is empty then. */
  take() {
    const there = [...this.#files.values()].filter(({ name }) => name);
    for (const { id, kept, item } of there) {
      forget(kept);
      this.#files.delete(id);
      item.remove();
    }
    return there.map(({ name }) => name);
  }

  /** The server knows nothing of what was on its way: it goes again from the beginning. */
  beginAnew() {
    const cutOff = [...this.#files.values()].filter(({ name }) => !name);
    for (const upload of cutOff) {
      this.#files.delete(upload.id);
      upload.id = this.#newId();
      this.#files.set(upload.id, upload);
      upload.item.querySelector("span").textContent = `${upload.file.name}, sent again from the beginning`;
      tell(`The server lost what it had of ${upload.file.name}: it is sent again.`);
      this.#sendPiece(upload, 0);
    }
  }

  /** False if it is not taken, which is said. It is kept as `kept`. */
  #begin(kept, file) {
    const upload = fresh(kept, file);
    if (this.#files.size >= MOST) {
      this.#refuse(upload, `Only ${MOST} files go along with one request: send these first.`);
      return false;
    }
    upload.id = this.#newId();
    this.#files.set(upload.id, upload);
    this.#show(upload);
    this.#sendPiece(upload, 0);
    return true;
  }

  #newId() {
    this.#count += 1;
    return `${Date.now()}-${this.#count}`;
  }

  async #sendPiece(upload, offset) {
    const { id } = upload;
    let data;
    try {
      const piece = upload.file.slice(offset, offset + PIECE_BYTES);
      data = base64(new Uint8Array(await piece.arrayBuffer()));
    } catch {
      this.#refuse(upload, `${upload.file.name} can't be read: add it again.`);
      return;
    }
    if (!this.#files.has(id)) return; // left out meanwhile, or begun anew
    upload.sent = Math.min(offset + PIECE_BYTES, upload.file.size);
    upload.bar.value = upload.file.size ? upload.sent / upload.file.size : 1;
    const { name, size } = upload.file;
    this.#send({ t: "file.put", id, name: name || "file", size, offset, data });
  }

  #show(upload) {
    const item = make("li");
    upload.item = item;
    upload.bar.setAttribute("aria-label", `Sending ${upload.file.name}`);
    item.append(thumbnail(upload.file), words("span", upload.file.name), upload.bar, this.#away(upload));
    $("files").append(item);
  }

  #waits(upload, name) {
    upload.name = name;
    upload.bar.remove();
    upload.item.setAttribute("aria-label", `${name}: will be sent along`);
    this.#settled();
  }

  #away(upload) {
    const away = button("", () => {
      this.#files.delete(upload.id);
      forget(upload.kept);
      upload.item.remove();
      this.#settled();
    }, "plain");
    away.append(icon("close"));
    away.setAttribute("aria-label", `Leave out ${upload.file.name}`);
    return away;
  }

  #refuse(upload, sentence) {
    this.#files.delete(upload.id);
    forget(upload.kept);
    upload.item ??= $("files").appendChild(make("li"));
    upload.item.className = "bad";
    const told = words("span", sentence);
    told.setAttribute("role", "alert");
    upload.item.replaceChildren(told, this.#away(upload));
    this.#settled();
  }

  #takeDrops(place) {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    place.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      place.classList.add("drop");
    });
    place.addEventListener("dragleave", () => place.classList.remove("drop"));
    place.addEventListener("drop", (event) => {
      place.classList.remove("drop");
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
    });
  }
}

const fresh = (kept, file) =>
  ({ id: kept, kept, file, sent: 0, name: "", item: null, bar: make("progress") });

/** A picture of it, where it is one that this page has. */
function thumbnail(file) {
  if (!(file instanceof Blob) || !/^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(file.type)) return icon("file");
  const image = make("img", "", "thumbnail");
  image.alt = "";
  image.src = URL.createObjectURL(file);
  image.onload = () => URL.revokeObjectURL(image.src);
  image.onerror = () => image.replaceWith(icon("file"));
  return image;
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4_096) text += String.fromCharCode(...bytes.subarray(at, at + 4_096));
  return btoa(text);
}
