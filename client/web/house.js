/** What is fetched from the server, with this device's token in the header. */
import { token } from "./pairing.js";

async function get(path) {
  const answer = await fetch(path, { headers: { Authorization: `Bearer ${token()}` } });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer;
}

/** A file that was announced by its id. */
export const file = async (id) => (await get(`/files/${encodeURIComponent(id)}`)).blob();

/** A file of a conversation's workspace. */
export async function workspaceFile(conversation, path) {
  const place = [conversation, ...path.split("/")].map(encodeURIComponent).join("/");
  return (await get(`/files/${place}`)).blob();
}

export const conversations = async () => (await (await get("/conversations")).json()).conversations;

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
