// Lets blocks of JavaScript import. V8 evaluates them in the manner of a console, where nobody can be named
// as the one who imports; so the word alone is replaced, by a function that imports in the workspace's name:
//
//     await import("./notes.mjs")              ->  await $import("./notes.mjs")
//     import fs, { join as j } from "node:fs"  ->  const { default: fs, join: j } = await $import("node:fs", …)
//
// Where words stand is told by the parser that node has for its own console; code without imports, and code
// that the parser does not understand, stays as it is, byte for byte.
"use strict";

const Module = require("node:module");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const NAME = "$import";

const acorn = ownParser();

const GRAMMAR = {
  ecmaVersion: "latest",
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowHashBang: true,
};

function ownParser() {
  try {
    return require("internal/deps/acorn/acorn/dist/acorn");
  } catch {
    return null; // a node that keeps it elsewhere: blocks say that they cannot import, and all else works
  }
}

/** Define the function that imports as if from a file in `folder`. */
function prepare(folder) {
  const referrer = path.join(folder, "block.js");
  const here = new Module(referrer);
  here.filename = referrer;
  here.paths = Module._nodeModulePaths(folder);
  here._compile("module.exports = (name, options) => import(name, options);", referrer);

  async function importing(name, options, wanted = []) {
    const found = await here.exports(name, options);
    const missing = wanted.find((each) => !(each in found));
    if (missing !== undefined) {
      throw new SyntaxError(`The requested module '${name}' does not provide an export named '${missing}'`);
    }
    return found;
  }
  importing.meta = { url: pathToFileURL(referrer).href, dirname: folder, filename: referrer };
  Object.defineProperty(globalThis, NAME, { value: importing, enumerable: false });
}

/** The code, with its imports made to work. */
function translated(code) {
  if (!acorn || !/\bimport\b/.test(code)) return code;
  const understood = parsed(code);
  if (!understood) return code; // V8 says better what is wrong with it
  const { tree, attributes } = understood;
  const found = [];
  collect(tree, found);
  found.sort((one, other) => other.start - one.start);
  let text = code;
  for (const each of attributes) {
    each.node = found.find(({ type, source }) => type === "ImportDeclaration" && source.end === each.follows);
    if (!each.node) return code;
    text = blanked(text, each.start, each.end);
  }
  for (const node of found) {
    const end = node.type === "ImportDeclaration" ? node.end : node.start + "import".length;
    const own = attributes.find((each) => each.node === node);
    text = text.slice(0, node.start) + inPlaceOf(node, text, own?.text) + text.slice(end);
  }
  return text;
}

/** The code's tree, and the import attributes that are not in it: Node 18's parser knows none. */
function parsed(code) {
  const attributes = [];
  let plain = code;
  for (;;) {
    try {
      return { tree: acorn.parse(plain, GRAMMAR), attributes };
    } catch (error) {
      const found = attributesAt(plain, error.pos);
      if (!found) return null;
      if (found.text) attributes.push(found);
      plain = blanked(plain, found.start, found.end);
    }
  }
}

/** Where attributes are that the parser stumbled over: behind a name, or in the brackets of `import(…)`. */
function attributesAt(code, position) {
  const [before] = /(\s*with)?\s*$/.exec(code.slice(0, position));
  const follows = position - before.length;
  const clause = /^(\s*with\s*)(\{[^{}]*\})/.exec(code.slice(follows));
  if (clause && /["']/.test(code[follows - 1])) {
    return { follows, start: follows, end: follows + clause[0].length, text: clause[2].replace(/\s+/g, " ") };
  }
  if (code[position] !== ",") return null;
  try {
    return { start: position, end: acorn.parseExpressionAt(code, position + 1, GRAMMAR).end };
  } catch {
    return null;
  }
}

function blanked(code, start, end) {
  return code.slice(0, start) + code.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, " ") + code.slice(end);
}

function collect(node, found) {
  if (node.type === "ImportDeclaration" || node.type === "ImportExpression") found.push(node);
  if (node.type === "MetaProperty" && node.meta.name === "import") found.push(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child.type === "string") collect(child, found);
    }
  }
}

function inPlaceOf(node, code, written) {
  if (node.type !== "ImportDeclaration") return NAME;
  const lines = "\n".repeat(code.slice(node.start, node.end).split("\n").length - 1); // errors name later ones
  const names = [];
  const wanted = [];
  let whole = "";
  for (const { type, local, imported } of node.specifiers) {
    if (type === "ImportNamespaceSpecifier") {
      whole = local.name;
    } else {
      const name = imported ? imported.name ?? imported.value : "default";
      wanted.push(name);
      names.push(`${JSON.stringify(name)}: ${local.name}`);
    }
  }
  const attributes = node.attributes?.map(({ key, value }) => `${JSON.stringify(key.name ?? key.value)}: ${value.raw}`);
  const literal = written ?? (attributes?.length ? `{ ${attributes.join(", ")} }` : "");
  const options = literal ? `{ with: ${literal} }` : "undefined";
  const call = `await ${NAME}(${node.source.raw}, ${options}, ${JSON.stringify(wanted)})`;
  if (!node.specifiers.length) return `void ${call};${lines}`;
  const all = whole || `{ ${names.join(", ")} }`;
  const rest = whole && names.length ? `, { ${names.join(", ")} } = ${whole}` : "";
  return `const ${all} = ${call}${rest};${lines}`;
}

module.exports = { prepare, translated };
