/** This device's token: asked for once, kept in this browser, shown in the first message alone. */

const KEPT = "sayso.token";
const NAME = "sayso.device";
const SCOPES = "sayso.scopes";
const ANSWER_MS = 10_000;

export const token = () => localStorage.getItem(KEPT);

export const deviceName = () => localStorage.getItem(NAME) ?? guessedName();

/** What this device may do. */
export const scopes = () => (localStorage.getItem(SCOPES) ?? "talk,approve").split(",");

export function forget() {
  localStorage.removeItem(KEPT);
}

/** The code from the QR, which stands in the fragment; it is taken out of the address at once. */
export function codeFromAddress() {
  const code = new URLSearchParams(location.hash.slice(1)).get("pair");
  if (location.hash) history.replaceState(null, "", location.pathname);
  return code;
}

/** Shows the code to the server. Resolves when this device is known; rejects with a sentence. */
export function pair(url, code, name) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const late = setTimeout(() => socket.close(), ANSWER_MS);
    let said = "The server can't be reached: is it on, and is this device in its network?";
    socket.onopen = () => socket.send(JSON.stringify({ t: "pair", code, name }));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.t === "paired") {
        localStorage.setItem(KEPT, message.token);
        localStorage.setItem(NAME, message.device);
        localStorage.setItem(SCOPES, (message.scopes ?? []).join(","));
        resolve(message.device);
      } else if (message.t === "error") said = message.message;
      socket.close();
    };
    socket.onclose = () => {
      clearTimeout(late);
      reject(new Error(said));
    };
  });
}

function guessedName() {
  const agent = navigator.userAgent;
  const kinds = [[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "phone"], [/Macintosh/, "Mac"], [/Linux/, "computer"]];
  return kinds.find(([pattern]) => pattern.test(agent))?.[1] ?? "browser";
}
