// Finds what is to be acted on, acts, and sees what comes of it. It goes on from reading.js.

// --- finding ---

const found = (number) => {
  const kept = elements.get(number);
  const element = kept && kept.element.deref();
  return element && element.isConnected ? element : null;
};
function* everything(root) {
  let nodes = 0;
  const waiting = [root];
  while (waiting.length && ++nodes < NODES_MOST) {
    const element = waiting.pop();
    yield element;
    const inner = [...(element.shadowRoot ? element.shadowRoot.children : []), ...element.children];
    for (let at = inner.length - 1; at >= 0; at--) waiting.push(inner[at]);
  }
}
function locate(words, kind, listeners) {
  clickable = new WeakSet(listeners);
  const wanted = squeezed(words).toLowerCase();
  const ranks = [[], [], []];
  const candidates = (element) => {
    const role = roleOf(element);
    if (kind === "fill") return WRITABLE.has(role);
    if (kind === "select") return role === "combobox" || role === "listbox" || role === "textbox";
    if (kind === "file") return element.type === "file";
    if (role) return true;
    // What holds others that can be pressed is not what words in it mean.
    return (listens(element) || (element.parentElement && getComputedStyle(element).cursor === "pointer")) && !nests(element);
  };
  for (const element of everything(document.documentElement)) {
    if (SILENT.has(element.tagName) || !candidates(element)) continue;
    const name = nameOf(element).toLowerCase();
    const holder = (element.getAttribute("placeholder") || "").toLowerCase();
    const hint = name ? "" : hintOf(element).toLowerCase();
    const rank = name === wanted || holder === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) || (hint && hint.split(" ").includes(wanted)) ? 2 : -1;
    if (rank < 0 || !(element.type === "file" || shown(element))) continue;
    // Of what lies in each other with one name, the inner one is what would be hit.
    const before = ranks[rank].findIndex((each) => within(element, each));
    if (before >= 0 && !roleOf(ranks[rank][before])) ranks[rank].splice(before, 1);
    else if (before >= 0) continue;
    ranks[rank].push(element);
  }
  let hits = ranks.find((rank) => rank.length) || [];
  if (!hits.length && kind === "click") {
    for (const element of everything(document.body || document.documentElement)) {
      if (element.childElementCount || squeezed(element.textContent).toLowerCase() !== wanted || !shown(element)) continue;
      hits.push(element);
      if (hits.length > CANDIDATES_MOST) break;
    }
  }
  return {
    count: hits.length,
    hits: hits.slice(0, CANDIDATES_MOST).map((each) => ({ ref: numberOf(each), said: described(each, roleOf(each)) })),
    exact: ranks[0].length > 0,
  };
}
function search(words, most) {
  const wanted = squeezed(words).toLowerCase();
  const blocks = [];
  const texts = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && blocks.length < most) {
    const holder = texts.currentNode.parentElement;
    if (!holder || SILENT.has(holder.tagName) || !texts.currentNode.data.toLowerCase().includes(wanted)) continue;
    const folded = holder.closest("details:not([open])");
    if (folded && !(holder.closest("summary") || {}).parentElement?.isSameNode(folded)) continue;
    if (!legible(holder, getComputedStyle(holder)) || !drawn(texts.currentNode) || !shown(holder)) continue;
    let block = holder;
    while (block.parentElement && getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    if (!blocks.some((each) => each === block) && shown(block)) blocks.push(block);
  }
  return blocks.map((each) => numberOf(each));
}

// --- acting ---

const deepest = (x, y) => {
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
};
const reaches = (hit, element) => hit && (within(hit, element) || (hit.closest && hit.closest("label") && hit.closest("label").control === element));
const pointOn = (element) => {
  const rects = [...element.getClientRects()].filter((each) => each.width && each.height);
  let covered = null;
  for (const rect of rects) {
    for (const [across, down] of [[0.5, 0.5], [0.5, 0.25], [0.25, 0.5], [0.75, 0.5], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9]]) {
      const [x, y] = [rect.left + rect.width * across, rect.top + rect.height * down];
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const hit = deepest(x, y);
      if (reaches(hit, element)) return { x, y };
      covered ??= hit;
    }
  }
  return { covered };
};
// A form's fields stand in the way of its own properties where they are called `name` or `action`.
const fieldsOf = (form) => [...Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, "elements").get.call(form)];
const goesTo = (form) => {
  try {
    return new URL(form.getAttribute("action") || "", document.baseURI).href;
  } catch {
    return location.href;
  }
};
const formFacts = (form) => {
  if (!form) return null;
  const fields = fieldsOf(form);
  return {
    method: (form.getAttribute("method") || "get").toLowerCase(),
    action: goesTo(form),
    secrets: fields.some((each) => secret(each) && each.value),
    written: fields.some((each) => ["TEXTAREA"].includes(each.tagName) && each.value),
    name: bounded(squeezed(form.getAttribute("aria-label") || form.getAttribute("name")), NAME_CHARS),
    submit: fields.filter((each) => each.type === "submit").map(nameOf).slice(0, 3),
  };
};
const facts = (element) => {
  const real = controlOf(element) || element;
  const form = real.form || element.closest("form");
  const button = element.closest("button, input, [role=button], a, summary, label") || element;
  const control = controlOf(button) || button;
  return {
    role: roleOf(element) || roleOf(button) || "clickable",
    name: nameOf(element) || nameOf(button),
    around: nameOf(button),
    type: control.type || "",
    secret: secret(real),
    file: real.type === "file",
    disabled: !!(real.disabled || element.getAttribute("aria-disabled") === "true"),
    readOnly: !!real.readOnly,
    writable: WRITABLE.has(roleOf(real)) && real.tagName !== "SELECT",
    select: real.tagName === "SELECT",
    atOnce: real.tagName === "INPUT" && SET_AT_ONCE.has(real.type),
    submits: !!form && (control.type === "submit" || control.type === "image") && !control.disabled,
    form: formFacts(form),
    download: element.closest("a[download]") !== null,
    href: (element.closest("a[href]") || {}).href || "",
  };
};
function prepare(number, scroll) {
  const kept = elements.get(number);
  if (!kept) return { problem: "unknown" };
  const element = found(number);
  if (!element) return { problem: "gone" };
  const now = identity(element);
  if (now !== kept.said) return { problem: "changed", was: kept.said, now };
  if (scroll) element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const told = facts(element);
  if (told.file) return { facts: told };
  if (!shown(element)) return { problem: "hidden", facts: told };
  const point = pointOn(element);
  if (point.covered !== undefined) {
    return { problem: "covered", by: point.covered ? bounded(identity(point.covered), 160) : "nothing that can be seen", facts: told };
  }
  return { ...point, facts: told };
}
const focused = () => {
  let active = document.activeElement;
  while (active && active.shadowRoot && active.shadowRoot.activeElement) active = active.shadowRoot.activeElement;
  return active && active !== document.body ? active : null;
};

let watched = { arrived: false, changes: 0, last: 0 };
new MutationObserver((seen) => {
  watched.changes += seen.length;
  watched.last = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
addEventListener(
  "mousemove",
  (event) => {
    if (event.isTrusted && watched.target && event.composedPath().some((each) => each === watched.target)) watched.over = true;
  },
  { capture: true, passive: true },
);
for (const type of ["mousedown", "click"]) {
  addEventListener(
    type,
    (event) => {
      if (event.isTrusted && watched.target && event.composedPath().some((each) => within(each, watched.target) || each === watched.target)) watched.arrived = true;
    },
    { capture: true, passive: true },
  );
}
addEventListener("scroll", () => (watched.last = performance.now()), { capture: true, passive: true });
addEventListener("input", () => { watched.changes += 1; watched.last = performance.now(); }, { capture: true, passive: true });

function watch(number) {
  const target = number ? found(number) : null;
  watched = { arrived: false, changes: 0, last: performance.now(), target, before: target ? [valueOf(target), statesOf(target).join()].join("\n") : "" };
}
async function over(most) {
  const began = performance.now();
  while (!watched.over && performance.now() - began < most) await new Promise((done) => setTimeout(done, 5));
  return !!watched.over;
}
async function settled(quiet, most) {
  const began = performance.now();
  for (;;) {
    const left = Math.min(watched.last + quiet, began + most) - performance.now();
    if (left <= 0) break;
    await new Promise((done) => setTimeout(done, Math.max(left, 4)));
  }
  const target = watched.target;
  const after = target && target.isConnected ? [valueOf(target), statesOf(target).join()].join("\n") : "";
  return { arrived: watched.arrived, changed: watched.changes > 0 || after !== watched.before, there: !!target && target.isConnected };
}

globalThis.sayso = {
  letters: "",
  view,
  locate,
  search,
  prepare,
  watch,
  settled,
  over,
  element: found,
  keep: (element) => numberOf(element),
  focused: () => {
    const active = focused();
    return active ? { ref: numberOf(active), facts: facts(active), frame: ["IFRAME", "FRAME"].includes(active.tagName) } : null;
  },
  ready: (number) => {
    const element = found(number);
    element.focus({ preventScroll: true });
    if (element.select) element.select();
    else if (element.isContentEditable) getSelection().selectAllChildren(element);
    return focused() === element;
  },
  set: (number, value) => {
    const element = found(number);
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    setter.call(element, value);
    for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
    return element.value;
  },
  value: (number) => {
    const element = found(number);
    return element ? { value: valueOf(element), states: statesOf(element) } : null;
  },
  choose: (number, wanted) => {
    const element = found(number);
    const options = [...element.options];
    const given = wanted.map((each) => squeezed(each).toLowerCase());
    const known = (name) => options.some((each) => squeezed(each.label).toLowerCase() === name || each.value.toLowerCase() === name);
    const apart = (text) => text.split(/\s*[\n;,]\s*/).map((each) => squeezed(each).toLowerCase()).filter(Boolean);
    const names = element.multiple ? wanted.flatMap((each, at) => (known(given[at]) ? [given[at]] : apart(each))) : given;
    const picked = names.map((name) => {
      const same = options.filter((each) => !each.disabled && (squeezed(each.label).toLowerCase() === name || each.value.toLowerCase() === name));
      const like = same.length ? same : options.filter((each) => !each.disabled && squeezed(each.label).toLowerCase().includes(name));
      return like.length === 1 || (same.length && new Set(same.map((each) => each.label)).size === 1) ? like[0] : null;
    });
    if (picked.includes(null) || (!element.multiple && picked.length !== 1)) {
      return { problem: true, options: options.slice(0, 60).map((each) => bounded(squeezed(each.label), 60)) };
    }
    for (const each of options) each.selected = picked.includes(each);
    for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
    return { chosen: [...element.selectedOptions].map((each) => squeezed(each.label)) };
  },
  box: (element) => {
    const rect = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return { x: rect.left + element.clientLeft + parseFloat(style.paddingLeft), y: rect.top + element.clientTop + parseFloat(style.paddingTop), width: rect.width, height: rect.height };
  },
  scroll: (number, by) => {
    const element = number ? found(number) : null;
    if (element) element.scrollIntoView({ block: "start", behavior: "instant" });
    else if (by === "top" || by === "bottom") scrollTo({ top: by === "top" ? 0 : document.documentElement.scrollHeight, behavior: "instant" });
    else scrollBy({ top: (by === "up" ? -0.85 : 0.85) * innerHeight, behavior: "instant" });
    return Math.round(scrollY);
  },
};
