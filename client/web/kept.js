/**
 * Files that wait to be sent along, kept for a page that is loaded anew: it sends again what was on its way.
 * Which they are is the tab's own (sessionStorage outlives a reload, and nothing else); what is in them lies in
 * IndexedDB until it has arrived.
 */
const LIST = "sayso.uploads";
const FILES = "files";
/** A browser copies what it keeps: what is larger is to be added again. */
const MOST_BYTES = 64 * 2 ** 20;
/** What a tab left behind that was closed is thrown away by the next page. */
const STALE_MS = 3_600_000;

let opening = null;

function open() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("sayso", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(FILES);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

/** What `work` asks of the files; undefined where the browser keeps nothing, as in private windows. */
async function ask(mode, work) {
  try {
    const files = (await open()).transaction(FILES, mode).objectStore(FILES);
    return await new Promise((resolve, reject) => {
      const request = work(files);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } catch {
    return undefined;
  }
}

const listed = () => JSON.parse(sessionStorage.getItem(LIST) ?? "[]");

const list = (uploads) => sessionStorage.setItem(LIST, JSON.stringify(uploads));

/** Of an earlier life of this page. */
const leftBehind = listed();

/** `id` begins with the time. */
export function keep(id, file) {
  list([...listed(), { id, name: file.name }]);
  if (file.size <= MOST_BYTES) ask("readwrite", (files) => files.put(file, id));
}

export function forget(id) {
  if (!listed().some((upload) => upload.id === id)) return;
  list(listed().filter((upload) => upload.id !== id));
  ask("readwrite", (files) => files.delete(id));
}

/** It lies in the folder of this conversation, called so. */
export function hasArrived(id, name, conversation) {
  list(listed().map((upload) => (upload.id === id ? { ...upload, arrived: name, conversation } : upload)));
  ask("readwrite", (files) => files.delete(id));
}

/** What waited when this page was left: [{id, name, arrived}], with `arrived` what it is called if it lies in this
 * conversation's folder; else {name, file}, without `file` where that could not be kept. */
export async function takeLeftBehind(here) {
  const found = [];
  for (const { id, name, arrived, conversation } of leftBehind.splice(0)) {
    if (arrived && conversation === here) {
      found.push({ id, name, arrived });
      continue;
    }
    if (!arrived) found.push({ name, file: await ask("readonly", (files) => files.get(id)) });
    forget(id);
  }
  for (const id of (await ask("readonly", (files) => files.getAllKeys())) ?? []) {
    if (Number.parseInt(id, 10) < Date.now() - STALE_MS) ask("readwrite", (files) => files.delete(id));
  }
  return found;
}
