/**
 * Files that wait to be sent along, kept for a page that is loaded anew: it sends again what was on its way.
 * Which they are, the tab knows (sessionStorage outlives a reload; a tab that is opened again has it too, and one
 * that is duplicated a copy of it); what is in them lies in IndexedDB until it has arrived. A page that has a file
 * holds a lock for it, so that no two tabs send the same.
 */
const LIST = "sayso.uploads";
const FILES = "files";
/** A browser copies what it keeps: what is larger is to be added again. */
const MOST_BYTES = 64 * 2 ** 20;
/** What a tab left behind that was closed is thrown away by the next page. */
const STALE_MS = 3_600_000;
/** A page that is left lets go of its files at once. */
const LET_GO_MS = 2_000;

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

/** False where the browser keeps no more: the list is as it was. */
function list(uploads) {
  try {
    sessionStorage.setItem(LIST, JSON.stringify(uploads));
    return true;
  } catch {
    return false;
  }
}

/** Whether this page has the file now, and until it is left; not if another tab has it. */
function claim(id) {
  if (!navigator.locks) return true;
  const waiting = new AbortController();
  setTimeout(() => waiting.abort(), LET_GO_MS);
  return new Promise((claimed) => {
    const hold = () => {
      claimed(true);
      return new Promise(() => {});
    };
    navigator.locks.request(`${LIST}.${id}`, { signal: waiting.signal }, hold).catch(() => claimed(false));
  });
}

const leaveOut = (id) => list(listed().filter((upload) => upload.id !== id));

/** Of an earlier life of this page. */
const leftBehind = listed();

/** `id` begins with the time. */
export function keep(id, file) {
  if (!list([...listed(), { id, name: file.name }])) return;
  claim(id);
  if (file.size <= MOST_BYTES) ask("readwrite", (files) => files.put(file, id));
}

export function forget(id) {
  if (!listed().some((upload) => upload.id === id)) return;
  leaveOut(id);
  ask("readwrite", (files) => files.delete(id));
}

/** It lies in the folder of this conversation, called so. */
export function hasArrived(id, name, conversation) {
  const arrived = (upload) => (upload.id === id ? { ...upload, arrived: name, conversation } : upload);
  if (list(listed().map(arrived))) ask("readwrite", (files) => files.delete(id));
}

/** What waited when this page was left: [{id, name, arrived}], with `arrived` what it is called if it lies in this
 * conversation's folder; else {id, name, file}, without `file` where that could not be kept. They stay kept. */
export async function takeLeftBehind(here) {
  const found = [];
  for (const { id, name, arrived, conversation } of leftBehind.splice(0)) {
    if (!(await claim(id))) leaveOut(id);
    else if (!arrived) found.push({ id, name, file: await ask("readonly", (files) => files.get(id)) });
    else if (conversation === here) found.push({ id, name, arrived });
    else forget(id);
  }
  for (const id of (await ask("readonly", (files) => files.getAllKeys())) ?? []) {
    if (Number.parseInt(id, 10) < Date.now() - STALE_MS) ask("readwrite", (files) => files.delete(id));
  }
  return found;
}
