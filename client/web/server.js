/** What is fetched from the server, with this device's token in the header. */
import { token } from "./pairing.js";

/** Browsers tell of a broken line each in words of their own. */
const whole = (coming) => coming.catch(() => {
  throw new Error("The connection broke; try again.");
});

async function get(path) {
  const answer = await whole(fetch(path, { headers: { Authorization: `Bearer ${token()}` } }));
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer;
}

const content = async (path) => whole((await get(path)).blob());

/** A file that was announced by its id. */
export const file = (id) => content(`/files/${encodeURIComponent(id)}`);

/** A file of a conversation's workspace. */
export function workspaceFile(conversation, path) {
  const place = [conversation, ...path.split("/")].map(encodeURIComponent).join("/");
  return content(`/files/${place}`);
}

export const conversations = async () => (await (await get("/conversations")).json()).conversations;

/** Conversations in which all these words were said, each with the latest place. */
export const found = async (words) => (await (await get(`/found/${encodeURIComponent(words)}`)).json()).found;

/** A conversation with its past; null if it can't be had now. */
export async function conversation(id) {
  try {
    return await (await get(`/conversations/${encodeURIComponent(id)}`)).json();
  } catch {
    return null;
  }
}

/** Voices, models, modes. */
export const choices = async () => (await get("/choices")).json();
