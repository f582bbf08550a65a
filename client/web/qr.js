/**
 * A QR code (ISO/IEC 18004) of a short text: bytes, error correction L, versions 1 to 9. Pure.
 * Rows of true (dark) and false; the quiet zone around it is the picture's.
 */

/** By version: bytes of data, blocks, bytes of correction in each block, centres of alignment patterns. */
const VERSIONS = [
  null, [19, 1, 7, []], [34, 1, 10, [6, 18]], [55, 1, 15, [6, 22]], [80, 1, 20, [6, 26]], [108, 1, 26, [6, 30]],
  [136, 2, 18, [6, 34]], [156, 2, 20, [6, 22, 38]], [194, 2, 24, [6, 24, 42]], [232, 2, 30, [6, 26, 46]],
];
/** Beside the bytes themselves: four bits of mode, eight of length, four of end. */
const OVERHEAD = 2;
const MASKS = [
  (x, y) => (x + y) % 2, (_x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

export function qr(text) {
  const bytes = new TextEncoder().encode(text);
  const version = VERSIONS.findIndex((known) => known && bytes.length + OVERHEAD <= known[0]);
  if (version < 0) throw new RangeError("too long for this QR code");
  const empty = frame(version);
  const drawn = MASKS.map((mask, number) => {
    const rows = empty.map((row) => row.slice());
    place(rows, codewords(bytes, version), mask);
    sign(rows, number);
    return rows;
  });
  const worth = drawn.map(penalty);
  return drawn[worth.indexOf(Math.min(...worth))];
}

/** What is the same in all codes of a version; null where data goes. */
function frame(version) {
  const size = 17 + 4 * version;
  const rows = Array.from({ length: size }, () => new Array(size).fill(null));
  const set = (x, y, dark) => { if (rows[y]?.[x] !== undefined) rows[y][x] = dark; };
  for (const [left, top] of [[0, 0], [size - 7, 0], [0, size - 7]]) {
    for (let y = -1; y <= 7; y += 1) {
      for (let x = -1; x <= 7; x += 1) {
        const ring = Math.max(Math.abs(x - 3), Math.abs(y - 3));
        set(left + x, top + y, ring !== 2 && ring !== 4);
      }
    }
  }
  const centres = VERSIONS[version][3];
  for (const cy of centres) {
    for (const cx of centres) {
      if (rows[cy][cx] !== null) continue;
      for (let y = -2; y <= 2; y += 1) {
        for (let x = -2; x <= 2; x += 1) set(cx + x, cy + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
      }
    }
  }
  for (let at = 8; at < size - 8; at += 1) {
    rows[6][at] = at % 2 === 0;
    rows[at][6] = at % 2 === 0;
  }
  sign(rows, 0);
  if (version >= 7) {
    const bits = (version << 12) | remainder(version, 12, 0x1f25);
    for (let at = 0; at < 18; at += 1) {
      const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)];
      rows[near][far] = rows[far][near] = Boolean((bits >> at) & 1);
    }
  }
  return rows;
}

/** Says which mask was used, twice. */
function sign(rows, mask) {
  const size = rows.length;
  const level = 0b01 << 3;
  const bits = (((level | mask) << 10) | remainder(level | mask, 10, 0x537)) ^ 0x5412;
  const bit = (at) => Boolean((bits >> at) & 1);
  const along = [0, 1, 2, 3, 4, 5, 7, 8];
  along.forEach((y, at) => { rows[y][8] = bit(at); });
  along.slice(0, 7).reverse().forEach((x, at) => { rows[8][x] = bit(8 + at); });
  for (let at = 0; at < 8; at += 1) rows[8][size - 1 - at] = bit(at);
  for (let at = 8; at < 15; at += 1) rows[size - 15 + at][8] = bit(at);
  rows[size - 8][8] = true;
}

function remainder(value, degree, generator) {
  let rest = value << degree;
  for (let at = 31 - Math.clz32(rest); at >= degree; at = 31 - Math.clz32(rest)) rest ^= generator << (at - degree);
  return rest;
}

function codewords(bytes, version) {
  const [room, blocks, correction] = VERSIONS[version];
  const nibbles = [4, bytes.length >> 4, bytes.length & 15];
  for (const byte of bytes) nibbles.push(byte >> 4, byte & 15);
  nibbles.push(0);
  const data = [];
  for (let at = 0; at < nibbles.length; at += 2) data.push((nibbles[at] << 4) | nibbles[at + 1]);
  for (let fill = 0; data.length < room; fill += 1) data.push(fill % 2 ? 0x11 : 0xec);
  const each = room / blocks;
  const parts = Array.from({ length: blocks }, (_, at) => data.slice(at * each, (at + 1) * each));
  const checks = parts.map((part) => corrections(part, correction));
  return [...woven(parts), ...woven(checks)];
}

const woven = (parts) => parts[0].flatMap((_, at) => parts.map((part) => part[at]));

/** Reed and Solomon's, over the field of 256. */
function corrections(data, count) {
  let generator = [1];
  for (let root = 1, at = 0; at < count; at += 1, root = times(root, 2)) {
    generator = [...generator, 0].map((value, place) => value ^ times(generator[place - 1] ?? 0, root));
  }
  const rest = [...data, ...new Array(count).fill(0)];
  for (let at = 0; at < data.length; at += 1) {
    const factor = rest[at];
    generator.forEach((value, place) => { rest[at + place] ^= times(value, factor); });
  }
  return rest.slice(data.length);
}

function times(one, other) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ (product >> 7 ? 0x11d : 0);
    if ((other >> bit) & 1) product ^= one;
  }
  return product;
}

/** In columns of two, up and down, from the right. */
function place(rows, words, mask) {
  const size = rows.length;
  let at = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1;
    const up = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step += 1) {
      const y = up ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== null) continue;
        const bit = (words[at >> 3] >> (7 - (at & 7))) & 1;
        rows[y][x] = Boolean(bit) !== (mask(x, y) === 0);
        at += 1;
      }
    }
  }
}

/** How hard a code is to read: runs, blocks, what looks like a corner, too much of one colour. */
function penalty(rows) {
  const size = rows.length;
  const lines = [...rows, ...rows[0].map((_, x) => rows.map((row) => row[x]))];
  let worth = 0;
  for (const line of lines) {
    const text = line.map(Number).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) worth += run.length - 2;
    for (let at = 0; at + 7 <= size; at += 1) {
      if (text.slice(at, at + 7) !== "1011101") continue;
      const before = text.slice(Math.max(0, at - 4), at);
      const after = text.slice(at + 7, at + 11);
      if (!before.includes("1") || !after.includes("1")) worth += 40;
    }
  }
  for (let y = 0; y < size - 1; y += 1) {
    for (let x = 0; x < size - 1; x += 1) {
      const dark = rows[y][x] + rows[y][x + 1] + rows[y + 1][x] + rows[y + 1][x + 1];
      if (dark % 4 === 0) worth += 3;
    }
  }
  const share = rows.flat().filter(Boolean).length / size ** 2;
  return worth + 10 * Math.floor(Math.abs(share * 100 - 50) / 5);
}
