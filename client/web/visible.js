/**
 * Code with all that is in it: what has no look of its own is named where it stands. The rules are those of
 * protocol/visible.py, which the terminal and the server use; a test compares them.
 */
const PICTURES =
  "\\u00a9\\u00ae\\u2122\\u2139\\u2190-\\u21ff\\u2300-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
const MARKS = "\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f";
const HIDDEN =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u2800\\u3000" +
  "\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200c\\u2060-\\u2065\\u3164\\ufe00-\\ufe0e" +
  "\\ufeff\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}" +
  "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u206f\\ud800-\\udfff]" +
  `|(?<![${PICTURES}])\\ufe0f` +
  `|(?<![${PICTURES}])(?<![${PICTURES}]\\ufe0f)\\u200d|\\u200d(?![${PICTURES}])` +
  `|(?<=[${MARKS}]{2})[${MARKS}]`;
const UNSEEN = new RegExp(`(\\n(?:[ \\t]*\\n){5,})|([ \\t]{40,})|${HIDDEN}`, "gu");

export const lines = (code) => code.replaceAll("\r\n", "\n");

/** Where something is not seen, and what is shown there instead; `text` has the line ends of `lines`. */
export function unseen(text) {
  return [...text.matchAll(UNSEEN)].map(({ 0: found, 1: empty, 2: blanks, index }) => ({
    at: index,
    end: index + found.length,
    before: empty ? "\n" : "",
    label: empty
      ? `<${empty.split("\n").length - 2} empty lines>`
      : blanks
        ? `<${blanks.length} blanks>`
        : `<U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
    after: empty ? "\n" : "",
  }));
}

/** The same text, with nothing in it that is not seen. */
export function revealed(code) {
  const text = lines(code);
  let at = 0;
  let shown = "";
  for (const { at: begins, end, before, label, after } of unseen(text)) {
    shown += text.slice(at, begins) + before + label + after;
    at = end;
  }
  return shown + text.slice(at);
}
