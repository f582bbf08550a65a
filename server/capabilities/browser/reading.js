// Reads a page and finds what is to be acted on, in a world of its own: it shares the document with the page's
// scripts, and no variable. What it finds has numbers, which last as long as the document.

const NAME_CHARS = 100;
const VALUE_CHARS = 200;
const WHOLE_CHARS = 5_000;
const HINT_CHARS = 40;
const OPTIONS_SHOWN = 12;
const CANDIDATES_MOST = 12;
const NODES_MOST = 400_000;
const TINY_PX = 1;
const TINY_FONT_PX = 4;
const FAINT = 0.1;
const LEAST_CONTRAST = 1.12;
const CONTAINER_CHARS = 120;

const ROLES = new Set([
  "button", "link", "checkbox", "radio", "textbox", "combobox", "listbox", "option", "menuitem", "menuitemcheckbox",
  "menuitemradio", "tab", "switch", "slider", "spinbutton", "searchbox", "treeitem", "gridcell",
]);
const WRITABLE = new Set(["textbox", "searchbox", "spinbutton", "combobox", "slider"]);
const SILENT = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "HEAD", "OBJECT", "EMBED"]);
const BUTTONS = new Set(["button", "submit", "reset", "image", "color", "file"]);
const SET_AT_ONCE = new Set(["date", "time", "month", "week", "datetime-local", "range", "color"]);

const elements = new Map();
const numbers = new WeakMap();
let last = 0;
let clickable = new WeakSet();

const squeezed = (text) => (text || "").replace(/\s+/g, " ").trim();
const bounded = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
// What stands on a page must not pass for a name that we gave: "[b2 button".
const plain = (text) => text.replace(/\[(?=\s*[a-z]{1,3}\d+\b)/g, "(");
const quoted = (text) => `"${plain(text).replaceAll('"', "'")}"`;
const parentOf = (node) => node.assignedSlot || node.parentElement || (node.parentNode && node.parentNode.host) || null;
const childrenOf = (element) => {
  if (element.shadowRoot) return element.shadowRoot.childNodes;
  if (element.tagName === "DETAILS" && !element.open) return element.querySelectorAll(":scope > summary");
  if (element.tagName === "SLOT") {
    const given = element.assignedNodes();
    if (given.length) return given;
  }
  return element.childNodes;
};
const within = (inner, outer) => {
  for (let node = inner; node; node = parentOf(node)) if (node === outer) return true;
  return false;
};

// --- what a person could not see ---

const channels = (color) => {
  const found = color.match(/^rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)$/);
  return found ? [+found[1], +found[2], +found[3], found[4] === undefined ? 1 : +found[4]] : null;
};
const luminance = ([red, green, blue]) => {
  const part = (value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
};
const ground = (element) => {
  for (let each = element; each; each = parentOf(each)) {
    const style = getComputedStyle(each);
    if (style.backgroundImage !== "none") return null;
    const color = channels(style.backgroundColor);
    if (!color) return null;
    if (color[3] > 0.95) return color;
    if (color[3] > 0) return null;
  }
  return [255, 255, 255, 1];
};
const legible = (element, style) => {
  if (parseFloat(style.fontSize) < TINY_FONT_PX || parseFloat(style.textIndent) < -500) return false;
  const color = channels(style.webkitTextFillColor || style.color);
  if (!color) return true;
  if (color[3] < FAINT) return false;
  const behind = ground(element);
  if (!behind) return true;
  const [one, other] = [luminance(color), luminance(behind)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) >= LEAST_CONTRAST;
};
const opacityOf = (style) => {
  const filtered = style.filter.match(/opacity\(([\d.]+)(%?)\)/);
  return parseFloat(style.opacity) * (filtered ? filtered[1] / (filtered[2] ? 100 : 1) : 1);
};
// What is folded away, or so small that nothing is drawn, has no place on the screen.
const drawn = (text) => {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()].some((rect) => rect.width > TINY_PX && rect.height > TINY_PX);
};
const clipped = (rect, style) => {
  if (style.clipPath !== "none" && /^(inset\((50|100)%|circle\(0|polygon\(0(px|%)? 0)/.test(style.clipPath)) return true;
  if (style.clip !== "auto" && /^rect\((0px,? 0px,? 0px,? 0px|1px,? 1px,? 1px,? 1px)\)$/.test(style.clip)) return true;
  const cut = style.overflowX !== "visible" || style.overflowY !== "visible";
  return cut && (rect.width <= TINY_PX || rect.height <= TINY_PX);
};
const outside = (rect) => {
  if (!rect.width && !rect.height) return false;
  const root = document.documentElement;
  return rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0 || rect.left + scrollX >= Math.max(root.scrollWidth, innerWidth);
};
const shown = (element) => {
  if (!element.isConnected || !element.checkVisibility()) return false;
  let opacity = 1;
  for (let each = element; each; each = parentOf(each)) {
    const style = getComputedStyle(each);
    opacity *= opacityOf(style);
    if (style.display === "none" || style.contentVisibility === "hidden" || opacity < FAINT) return false;
    if (each === element && style.visibility !== "visible") return false;
    if (clipped(each.getBoundingClientRect(), style)) return false;
  }
  const rect = element.getBoundingClientRect();
  return rect.width > TINY_PX && rect.height > TINY_PX && !outside(rect);
};

// --- what something is, and what it is called ---

const inputRole = (element) => {
  const type = element.type;
  if (type === "checkbox" || type === "radio") return type;
  if (BUTTONS.has(type)) return "button";
  if (type === "range") return "slider";
  if (type === "number") return "spinbutton";
  if (type === "search") return "searchbox";
  return "textbox";
};
const controlOf = (element) => (element.tagName === "LABEL" ? element.control : null);
const roleOf = (element) => {
  const given = (element.getAttribute("role") || "").split(" ")[0].toLowerCase();
  if (ROLES.has(given)) return given;
  switch (element.tagName) {
    case "A":
    case "AREA":
      return element.hasAttribute("href") ? "link" : "";
    case "BUTTON":
    case "SUMMARY":
      return "button";
    case "INPUT":
      return element.type === "hidden" ? "" : inputRole(element);
    case "SELECT":
      return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "TEXTAREA":
      return "textbox";
    case "LABEL": {
      // Where the control itself cannot be seen, its label is what a person presses.
      const control = element.control;
      return control && !shown(control) ? roleOf(control) : "";
    }
    default:
      return element.isContentEditable && !(parentOf(element) || {}).isContentEditable ? "textbox" : "";
  }
};
const wordsIn = (element) => bounded(squeezed(element.innerText ?? element.textContent), 2 * NAME_CHARS);
const nameOf = (element) => {
  const root = element.getRootNode();
  const by = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
  const labelled = squeezed(by.map((id) => (root.getElementById ? root.getElementById(id) : null)).map((each) => (each ? wordsIn(each) : "")).join(" "));
  const own = () => {
    if (element.tagName === "INPUT" && ["submit", "reset", "button"].includes(element.type)) return element.value || element.type;
    if (element.tagName === "IMG" || element.tagName === "AREA" || element.type === "image") return element.alt;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) || element.isContentEditable) return "";
    return wordsIn(element) || squeezed([...element.querySelectorAll("img[alt], svg title")].map((each) => each.alt || each.textContent).join(" "));
  };
  // A label around a list holds the words of its options, too.
  const labels = () => squeezed([...(element.labels || [])].map((each) => (within(element, each) ? wordsIn(each).replace(squeezed(element.innerText), "") : wordsIn(each))).join(" "));
  const rest = () => element.getAttribute("placeholder") || element.getAttribute("title") || (element.type === "image" ? "" : element.getAttribute("name")) || "";
  const found = labelled || element.getAttribute("aria-label") || labels() || own() || rest();
  return bounded(squeezed(found), NAME_CHARS);
};
const listens = (element) => clickable.has(element) || element.hasAttribute("onclick");
const pressable = (element, style) => {
  if (listens(element)) return true;
  if (style.cursor !== "pointer" || !parentOf(element)) return false;
  return getComputedStyle(parentOf(element)).cursor !== "pointer";
};
const secret = (element) => element.type === "password" || /^(cc-|one-time-code|(current|new)-password)/.test(element.autocomplete || "");
const valueOf = (element) => {
  if (secret(element)) return element.value ? "•••" : "";
  if (element.tagName === "SELECT") return [...element.selectedOptions].map((each) => squeezed(each.label)).join(", ");
  if (element.tagName === "INPUT" && ["checkbox", "radio", ...BUTTONS].includes(element.type) && element.type !== "color" && element.type !== "file") return "";
  if ("value" in element && element.tagName !== "BUTTON" && element.tagName !== "LI") return String(element.value);
  return element.isContentEditable ? squeezed(element.innerText) : element.getAttribute("aria-valuenow") || "";
};
const statesOf = (element) => {
  const marks = [];
  const aria = (name) => element.getAttribute(`aria-${name}`);
  const real = controlOf(element) || element;
  if (real.checked || aria("checked") === "true") marks.push("checked");
  if (aria("selected") === "true" || (element.tagName === "OPTION" && element.selected)) marks.push("selected");
  if (aria("pressed") === "true") marks.push("pressed");
  if (aria("expanded")) marks.push(aria("expanded") === "true" ? "open" : "closed");
  if (real.disabled || aria("disabled") === "true") marks.push("disabled");
  if (real.readOnly) marks.push("read-only");
  if (real.required) marks.push("required");
  if (element.tagName === "TEXTAREA") marks.push("several lines");
  if (element.tagName === "SELECT" && element.multiple) marks.push("several at once");
  if (document.activeElement === element || element.getRootNode().activeElement === element) marks.push("focused");
  return marks;
};
// Of what has no name, what its author calls it: letters of an identifier, and no sentence.
const hintOf = (element) => {
  const marks = [element.getAttribute("data-testid"), element.getAttribute("data-icon"), element.id, element.getAttribute("class")];
  const picture = element.tagName === "IMG" || element.tagName === "INPUT" ? element : element.querySelector("img[src], use[href]");
  if (picture) marks.push((picture.getAttribute("href") || picture.getAttribute("src") || "").replace(/^data:.*|\?.*/, "").split(/[/#]/).pop().replace(/\.\w+$/, ""));
  const said = marks.filter(Boolean).join(" ").replace(/[^A-Za-z0-9_ -]/g, "");
  return bounded(squeezed(said), HINT_CHARS);
};
const identity = (element) => `${roleOf(element) || "clickable"} ${nameOf(element)}`;

const numberOf = (element) => {
  let number = numbers.get(element);
  if (!number) {
    number = ++last;
    numbers.set(element, number);
    elements.set(number, { element: new WeakRef(element) });
  }
  elements.get(number).said = identity(element);
  return number;
};
const described = (element, role, whole) => {
  const parts = [`${sayso.letters}${numberOf(element)}`, role || "clickable"];
  const name = nameOf(element);
  if (name) parts.push(quoted(name));
  else if (hintOf(element)) parts.push(`(${hintOf(element)})`);
  const value = bounded(squeezed(valueOf(element)), whole ? WHOLE_CHARS : VALUE_CHARS);
  if (value) parts.push(`= ${quoted(value)}`);
  parts.push(...statesOf(element));
  if (element.tagName === "SELECT") {
    const options = [...element.options].map((each) => squeezed(each.label)).filter(Boolean);
    const more = options.length > OPTIONS_SHOWN ? `, and ${options.length - OPTIONS_SHOWN} more` : "";
    parts.push(`options: ${options.slice(0, OPTIONS_SHOWN).map((each) => plain(bounded(each, 40))).join(", ")}${more}`);
  }
  return `[${parts.join(" ")}]`;
};

// --- reading ---

const HOLDS_OTHERS = "a[href], button, input, select, textarea, [role], [tabindex], [onclick]";
const nests = (element) => element.shadowRoot || element.querySelector(HOLDS_OTHERS) || wordsIn(element).length > CONTAINER_CHARS || [...element.querySelectorAll("*")].slice(0, 200).some((each) => clickable.has(each));

function view(options, frames, listeners) {
  clickable = new WeakSet(listeners);
  const lines = [];
  const top = options.top ?? 0;
  let room = options.room;
  let nodes = 0;
  let line = "";
  let above = 0;
  let full = false;

  const LINE_CHARS = options.whole ? WHOLE_CHARS + 1_000 : 1_000;
  const flush = () => {
    const text = squeezed(line).replace(/^(\||\s)+|(\||\s)+$/g, "");
    line = "";
    if (!text || text === "-" || /^#+$/.test(text)) return;
    lines.push(bounded(text, LINE_CHARS));
    room -= Math.min(text.length, LINE_CHARS) + 1;
    full = room <= 0;
  };
  const walk = (element, around) => {
    if (full || ++nodes > NODES_MOST || SILENT.has(element.tagName)) return;
    const style = getComputedStyle(element);
    const opacity = around * opacityOf(style);
    if (style.display === "none" || style.contentVisibility === "hidden" || opacity < FAINT) return;
    const rect = element.getBoundingClientRect();
    const boxless = style.display === "contents" || (!rect.width && !rect.height);
    if (!boxless && (clipped(rect, style) || outside(rect))) return;
    if (!options.whole && !boxless && rect.bottom < top) {
      above += 1;
      return;
    }
    const inline = style.display.startsWith("inline") || style.display === "contents";
    const tag = element.tagName;
    if (!inline && tag !== "TD" && tag !== "TH") flush();
    if (/^H[1-6]$/.test(tag)) line += `${"#".repeat(+tag[1])} `;
    if (tag === "LI") line += "- ";
    const index = frames.indexOf(element);
    if (index >= 0 || tag === "IFRAME" || tag === "FRAME") {
      flush();
      if (index >= 0) lines.push({ frame: index });
      return;
    }
    const role = roleOf(element);
    if (style.visibility === "visible" && (role || pressable(element, style)) && rect.width > TINY_PX && rect.height > TINY_PX) {
      const container = nests(element) && !["A", "BUTTON", "INPUT", "SELECT", "TEXTAREA"].includes(tag) && role !== "textbox";
      if (!container) {
        line += ` ${described(element, role, options.whole)} `;
        if (!inline) flush();
        return;
      }
      if (role || listens(element)) {
        const hint = hintOf(element);
        line += ` [${sayso.letters}${numberOf(element)} ${role || "clickable"}${hint && ` (${hint})`}] `;
      }
    }
    if (tag === "IMG" && element.alt) line += ` (picture: ${plain(bounded(squeezed(element.alt), NAME_CHARS))}) `;
    if (tag === "BR") flush();
    let readable;
    for (const child of childrenOf(element)) {
      if (full) return;
      if (child.nodeType === Node.TEXT_NODE) {
        if (style.visibility !== "visible" || !child.data.trim()) {
          if (child.data) line += " ";
          continue;
        }
        readable ??= legible(element, style) && (style.display === "contents" || element.checkVisibility());
        if (readable && drawn(child)) line += plain(child.data);
      } else if (child.nodeType === Node.ELEMENT_NODE) {
        walk(child, opacity);
      }
    }
    if (tag === "TD" || tag === "TH") line += " | ";
    if (!inline && tag !== "TD" && tag !== "TH") flush();
  };
  const root = options.root ? found(options.root) : document.body || document.documentElement;
  if (root) walk(root, 1);
  flush();
  return { lines, above, full, title: plain(bounded(squeezed(document.title), 200)), url: location.href };
}
