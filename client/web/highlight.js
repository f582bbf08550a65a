/** Colours for code: strings, comments, numbers and the words of the usual languages. */

const WORDS = new Set(
  (
    "and as assert async await break case class const continue def del do done elif else esac except export " +
    "false False fi finally for from function global if import in is lambda let local new None nonlocal not null " +
    "or pass raise return self static switch then this throw true True try typeof undefined var while with yield"
  ).split(" "),
);
const TOKEN =
  /("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;

export function highlight(text, language = "") {
  const element = document.createElement("code");
  if (language) element.dataset.language = language;
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, comment, number, word] = match;
    const kind =
      (string && "string") || (comment && "comment") || (number && "number") || (WORDS.has(word) && "word");
    if (!kind || (comment?.startsWith("//") && /^(python|bash|sh|shell)$/.test(language))) continue;
    element.append(text.slice(at, match.index));
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = token;
    element.append(span);
    at = match.index + token.length;
  }
  element.append(text.slice(at));
  return element;
}
