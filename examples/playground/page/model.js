// What the page computes without touching the document: samples, chunks, links, differences, sentences.

/** The longest input that the page shows, in bytes. */
export const MAX_BYTES = 4096;

export const DEFAULTS = { bom: "keep", mode: "replacement", reject: [], midStream: false, lines: "off" };

const CHOICES = {
  bom: ["keep", "strip", "require", "forbid"],
  mode: ["fatal", "replacement", "skip", "escape", "latin1", "windows1252"],
  lines: ["off", "lf", "crlf", "any-newline", "nul"],
};
const REJECTS = ["nul", "controls", "controls-except-whitespace", "noncharacters"];

/** The samples. `input` is text in which `\xHH` is a byte. */
export const SAMPLES = [
  {
    id: "tour", name: "A first look", input: "10 € for a caf\\xE9, 日本 👋", cuts: "at.4.12.17.23.28", step: 4,
    note: "The chunks split €, 本 and 👋. The E9 is Latin-1.",
  },
  {
    id: "mixed", name: "Mixed scripts", input: "Grüße, Κόσμε! Привет, 世界 — สวัสดี שלום 🌍🚀", cuts: "every.5", step: 1,
    note: "Valid text, cut every five bytes: nothing is lost and nothing is replaced.",
  },
  {
    id: "latin1", name: "Latin-1 read as UTF-8", input: "Ch\\xE8re Zo\\xE9, \\xE0 bient\\xF4t \\xAB caf\\xE9 \\xBB", cuts: "every.6", step: 2,
    note: "Each accented letter is one byte, which UTF-8 reads as the beginning of a character. Try the mode Latin-1.",
  },
  {
    id: "emoji", name: "A cut emoji", input: "One 😀, four chunks. Then half: \\xF0\\x9F\\x98", cuts: "at.5.6.7.24", step: 2,
    note: "The first emoji arrives byte by byte and is complete. The stream ends inside the second.",
  },
  {
    id: "overlong", name: "An overlong slash", input: "GET /a\\xC0\\xAF..\\xE0\\x80\\xAFb", cuts: "every.7", step: 1,
    note: "C0 AF and E0 80 AF are longer forms of “/”. A decoder that accepts them lets paths pass a check.",
  },
  {
    id: "surrogates", name: "Surrogates", input: "high \\xED\\xA0\\xBD low \\xED\\xB8\\x80 next \\xED\\x9F\\xBF", cuts: "at.6.14.22", step: 2,
    note: "ED A0 is already ill-formed: the decoder reports it without waiting. ED 9F BF is a valid character.",
  },
  {
    id: "bom", name: "A BOM in three chunks", input: "\\xEF\\xBB\\xBFhello", cuts: "at.1.2.3", settings: { bom: "strip" }, step: 2,
    note: "With the policy “strip”, the decoder holds EF and EF BB, because they can become a BOM.",
  },
  {
    id: "cesu8", name: "CESU-8", input: "Java: \\xED\\xA0\\xBD\\xED\\xB8\\x80 UTF-8: 😀", cuts: "every.4", step: 3,
    note: "CESU-8 writes an emoji as two surrogates of three bytes each. UTF-8 does not.",
  },
  {
    id: "kinds", name: "Every error",
    input: "a\\x80 b\\xC0\\xAF c\\xED\\xA0\\x80 d\\xF4\\x90\\x80\\x80 e\\xFF f\\xE2\\x82g \\xF0\\x9F\\x98", cuts: "random.3.5", step: 99,
    note: "One part of each kind. Every error is one maximal subpart; the byte after it starts a new sequence.",
  },
  {
    id: "lines", name: "Lines of a log", input: "GET /caf\u00E9\\x0D\\x0AGET /caf\\xE9\nGET /tea\nGET /mi", cuts: "every.8",
    settings: { mode: "fatal", lines: "lf" }, step: 5,
    note: "A rejected line is one error, and the next line is not affected.",
  },
];

/** Converts text to bytes. `\xHH` is a byte. An unpaired surrogate becomes U+FFFD. */
export function parseText(text) {
  const encoder = new TextEncoder();
  const bytes = [];
  for (const part of text.split(/(\\x[0-9a-fA-F]{2})/)) {
    if (/^\\x[0-9a-fA-F]{2}$/.test(part)) bytes.push(parseInt(part.slice(2), 16));
    else bytes.push(...encoder.encode(part));
  }
  return Uint8Array.from(bytes);
}

/** Converts bytes to text that `parseText` converts back. `pieces` are those of the decoder. */
export function formatText(bytes, pieces) {
  let text = "";
  const encoder = new TextEncoder();
  const escape = (part) => [...part].map((byte) => `\\x${hex(byte)}`).join("");
  for (const piece of pieces) {
    if (piece.type !== "text") {
      text += escape(bytes.slice(piece.offset, piece.offset + piece.len));
      continue;
    }
    // A backslash that would begin an escape is written as one, and so are characters that a text area changes.
    text += piece.text.replace(/\\(?=x[0-9a-fA-F]{2})|[\0-\x08\x0B-\x1F\x7F-\x9F\uFEFF]/g, (char) => escape(encoder.encode(char)));
  }
  return text;
}

/** Converts hex digits to bytes, or throws an error whose message is a sentence. */
export function parseHex(text) {
  const digits = text.replace(/0x|[\s,]/gi, "");
  const wrong = digits.search(/[^0-9a-f]/i);
  if (wrong >= 0) throw new Error(`“${String.fromCodePoint(digits.codePointAt(wrong))}” is not a hex digit.`);
  if (digits.length % 2) throw new Error("A byte has two hex digits; the last one has one.");
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

export const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");
export const hexes = (bytes) => [...bytes].map(hex).join(" ");

/** Returns numbers in [0, 1) that `seed` determines (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the offsets at which chunks after the first begin, in ascending order. */
export function cutsOf({ kind, at, size, seed }, length) {
  if (kind === "at") return at.filter((cut) => cut > 0 && cut < length);
  const next = random(seed);
  const cuts = [];
  const step = () => (kind === "every" ? size : 1 + Math.floor(next() * (2 * size - 1)));
  for (let cut = step(); cut < length; cut += step()) cuts.push(cut);
  return cuts;
}

export function formatCuts({ kind, at, size, seed }) {
  if (kind === "at") return ["at", ...at].join(".");
  return kind === "every" ? `every.${size}` : `random.${seed}.${size}`;
}

export function parseCuts(text) {
  const [kind, ...rest] = text.split(".");
  const numbers = rest.map(Number).filter((n) => Number.isSafeInteger(n) && n >= 0);
  const within = (n, low, high, otherwise) => (n >= low && n <= high ? n : otherwise);
  const cuts = { kind: "at", at: [], size: 5, seed: 1 };
  if (kind === "every") return { ...cuts, kind, size: within(numbers[0], 1, MAX_BYTES, 5) };
  if (kind === "random") {
    return { ...cuts, kind, seed: within(numbers[0], 0, 2 ** 32 - 1, 1), size: within(numbers[1], 1, MAX_BYTES, 5) };
  }
  return { ...cuts, at: [...new Set(numbers)].filter((cut) => cut > 0).sort((a, b) => a - b).slice(0, MAX_BYTES) };
}

/** The state of a sample. */
export function stateOf(sample) {
  return {
    bytes: parseText(sample.input),
    cuts: parseCuts(sample.cuts),
    settings: { ...DEFAULTS, ...sample.settings },
    step: sample.step ?? 0,
    view: "text",
  };
}

/** The link of a state: the part of the URL after the `#`. */
export function formatLink({ bytes, cuts, settings, step, view }) {
  const base64 = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const link = new URLSearchParams({ bytes: base64, cuts: formatCuts(cuts) });
  for (const name of ["bom", "mode", "lines"]) if (settings[name] !== DEFAULTS[name]) link.set(name, settings[name]);
  if (settings.reject.length) link.set("reject", settings.reject.join("."));
  if (settings.midStream) link.set("start", "mid-stream");
  if (view !== "text") link.set("view", view);
  link.set("step", step);
  return link.toString();
}

/** The state of a link. Parts that are missing or invalid have their defaults. `null` without bytes. */
export function parseLink(text) {
  const link = new URLSearchParams(text);
  if (!link.has("bytes")) return null;
  let bytes;
  try {
    const binary = atob(link.get("bytes").replaceAll("-", "+").replaceAll("_", "/"));
    bytes = Uint8Array.from(binary.slice(0, MAX_BYTES), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
  const choice = (name) => (CHOICES[name].includes(link.get(name)) ? link.get(name) : DEFAULTS[name]);
  return {
    bytes,
    cuts: parseCuts(link.get("cuts") ?? "at"),
    settings: {
      bom: choice("bom"),
      mode: choice("mode"),
      reject: (link.get("reject") ?? "").split(".").filter((name) => REJECTS.includes(name)),
      midStream: link.get("start") === "mid-stream",
      lines: choice("lines"),
    },
    step: Math.min(Math.max(Math.trunc(Number(link.get("step"))) || 0, 0), MAX_BYTES + 1),
    view: link.get("view") === "hex" ? "hex" : "text",
  };
}

/** The text that a step emits. */
export const emitted = (step) => step.pieces.map((piece) => piece.text ?? piece.repair ?? "").join("");

/** Decodes with the browser's TextDecoder. Returns for each step the text, and the message of an error. */
export function textDecoderSteps(bytes, cuts, { bom, mode, midStream }) {
  const ignoreBOM = midStream || bom === "keep" || bom === "forbid";
  const decoder = new TextDecoder("utf-8", { fatal: mode === "fatal", ignoreBOM });
  const borders = [0, ...cuts, bytes.length];
  const steps = [];
  try {
    for (let n = 1; n < borders.length; n += 1) {
      steps.push({ text: decoder.decode(bytes.subarray(borders[n - 1], borders[n]), { stream: true }) });
    }
    steps.push({ text: decoder.decode() });
  } catch (error) {
    steps.push({ text: "", error: error.message });
  }
  return steps;
}

/** Describes each byte: its role, the piece and the character that it belongs to. */
export function rolesOf(bytes, steps) {
  const roles = Array.from(bytes, () => ({ role: "unread" }));
  const encoder = new TextEncoder();
  for (const piece of steps.flatMap((step) => step.pieces)) {
    if (piece.type !== "text") {
      const role = piece.type === "error" ? "error" : piece.type;
      for (let n = 0; n < piece.len; n += 1) {
        roles[piece.offset + n] = { role, kind: piece.kind, piece, nth: n, of: piece.len };
      }
      continue;
    }
    let offset = piece.offset;
    for (const char of piece.text) {
      const { length } = encoder.encode(char);
      for (let n = 0; n < length; n += 1) {
        const isBom = char === "\uFEFF" && offset === 0;
        const role = isBom ? "bom" : length === 1 ? "ascii" : n === 0 ? "leading" : "continuation";
        roles[offset + n] = { role, piece, char, nth: n, of: length };
      }
      offset += length;
    }
  }
  return roles;
}

const BELOW = { 0xE0: ["U+0800", "two bytes"], 0xF0: ["U+10000", "three bytes"] };
const COUNT = { 2: "two", 3: "three", 4: "four" };

/** The length of the character that a leading byte begins. */
export const lengthOf = (byte) => (byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4);

/** A sentence why these bytes are an error. */
export function explain({ kind, bytes, next, offset }) {
  const [first] = bytes;
  const shown = hexes(bytes);
  const after = next === null ? "" : hex(next);
  switch (kind) {
    case "UnexpectedContinuation":
      return `${shown} is a continuation byte (80 to BF), but no leading byte is waiting for one.`;
    case "Overlong":
      if (first < 0xE0) return `${shown} would begin a two-byte form of a character below U+0080, which has one byte. Only the shortest form is valid.`;
      return `${shown} followed by ${after} would encode a character below ${BELOW[first][0]}, which has at most ${BELOW[first][1]}. Only the shortest form is valid.`;
    case "Surrogate":
      return `${shown} followed by ${after} would encode a surrogate (U+D800 to U+DFFF). Surrogates exist only in UTF-16; CESU-8 writes a character above U+FFFF as two of them.`;
    case "TooLarge":
      return `${shown}${after && ` followed by ${after}`} would encode a code point above U+10FFFF, the last one of Unicode.`;
    case "InvalidByte":
      return `${shown} never occurs in UTF-8.${offset === 0 && first >= 0xFE ? " At the start of a stream it can be the BOM of UTF-16." : ""}`;
    case "Truncated":
      return `${shown} begins a ${COUNT[lengthOf(first)]}-byte character, but ${after} does not continue it. ${after} starts the next sequence.`;
    case "Incomplete": {
      const missing = lengthOf(first) - bytes.length;
      return `The stream ends after ${shown}. ${["One more byte was", "Two more bytes were", "Three more bytes were"][missing - 1]} needed.`;
    }
    case "ForbiddenBom":
      return "The stream begins with a BOM, which the policy forbids.";
    case "MissingBom":
      return "The stream does not begin with the BOM that the policy requires.";
    case "Noncharacter":
      return `${shown} is a noncharacter: well-formed, but reserved for internal use, and the settings reject it.`;
    case "Forbidden":
      return `${shown} is a control character: well-formed, but the settings reject it.`;
    default:
      return "";
  }
}

/** A sentence about the bytes that the decoder holds. */
export function explainHeld(held, position, { bom, midStream }) {
  if (!held.length) return "Nothing: every byte so far is decided.";
  if (position === held.length && bom !== "keep" && !midStream && held[0] === 0xEF && (held.length < 2 || held[1] === 0xBB)) {
    return "The beginning of a BOM, or of another character. The next byte decides.";
  }
  const missing = lengthOf(held[0]) - held.length;
  return `The beginning of a ${COUNT[lengthOf(held[0])]}-byte character. ${["One byte is", "Two bytes are", "Three bytes are"][missing - 1]} still to come.`;
}

/** Compares two texts by code points. Returns runs `{ same, ours, theirs }` in order (Myers, "An O(ND) Difference Algorithm"). */
export function diff(ours, theirs) {
  const [a, b] = [[...ours], [...theirs]];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const runs = [];
  const add = (same, x, y) => {
    const last = runs.at(-1);
    if (last && last.same === same) {
      last.ours += x;
      last.theirs += y;
    } else if (x || y) runs.push({ same, ours: x, theirs: y });
  };
  const head = a.slice(0, start).join("");
  const tail = a.slice(a.length - end).join("");
  add(true, head, head);
  for (const edit of edits(a.slice(start, a.length - end), b.slice(start, b.length - end))) add(...edit);
  add(true, tail, tail);
  return runs;
}

const MAX_EDITS = 400;

function edits(a, b) {
  const whole = [[false, a.join(""), b.join("")]];
  if (!a.length || !b.length) return whole;
  const furthest = new Map([[1, 0]]);
  const history = [];
  for (let distance = 0; distance <= MAX_EDITS; distance += 1) {
    history.push(new Map(furthest));
    for (let k = -distance; k <= distance; k += 2) {
      const down = k === -distance || (k !== distance && furthest.get(k - 1) < furthest.get(k + 1));
      let x = down ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, history);
    }
  }
  return whole; // too many differences to find the shortest
}

function backtrack(a, b, history) {
  const found = [];
  let [x, y] = [a.length, b.length];
  for (let distance = history.length - 1; distance >= 0; distance -= 1) {
    const furthest = history[distance];
    const k = x - y;
    const down = k === -distance || (k !== distance && furthest.get(k - 1) < furthest.get(k + 1));
    const fromX = down ? furthest.get(k + 1) : furthest.get(k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && (x > 0 && y > 0)) {
      x -= 1;
      y -= 1;
      found.push([true, a[x], b[y]]);
    }
    if (distance === 0) break;
    if (down) found.push([false, "", b[y - 1]]);
    else found.push([false, a[x - 1], ""]);
    [x, y] = [fromX, fromY];
  }
  return found.reverse();
}
