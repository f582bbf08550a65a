/** Pictures that code made: a tap shows one as large as the screen, and it can be saved. */
import { $, button, icon, keep, make } from "./dom.js";

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg" };

/** Of this content; `shown()` is called when its size is known. */
export function picture(content, name, shown) {
  const image = make("img", "", "result");
  image.alt = name;
  image.onload = shown;
  image.src = URL.createObjectURL(content);
  const open = button("", () => enlarge(content, image), "picture");
  open.setAttribute("aria-label", `Enlarge: ${name}`);
  open.append(image);
  return open;
}

function enlarge(content, { src, alt }) {
  const dialog = $("enlarged");
  const image = make("img");
  Object.assign(image, { src, alt });
  const save = button("", () => keep(content, `${alt.slice(0, 60)}.${ENDINGS[content.type] ?? "bin"}`));
  save.append(icon("download"), make("span", "Save"));
  const close = button("", () => dialog.close(), "plain");
  close.setAttribute("aria-label", "Close");
  close.append(icon("close"));
  const head = make("div", "", "head");
  head.append(save, close);
  const frame = make("div", "", "large");
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", alt);
  frame.append(image);
  frame.onclick = () => frame.classList.toggle("whole");
  dialog.replaceChildren(head, frame);
  dialog.showModal();
}
