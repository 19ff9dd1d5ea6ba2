// How the page shows a state: the grid, the steps, the errors, the output, the race.

import { diff, emitted, explain, explainHeld, hex, hexes } from "./model.js";

export const $ = (id) => document.getElementById(id);

/** Creates an element. Strings become text, never markup. */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    created.setAttribute(key, value === true ? "" : value);
  }
  created.append(...children);
  return created;
}

export const KINDS = {
  UnexpectedContinuation: ["unexpected continuation", "UC"],
  Overlong: ["overlong", "OL"],
  Surrogate: ["surrogate", "SU"],
  TooLarge: ["too large", "TL"],
  InvalidByte: ["invalid byte", "IB"],
  Truncated: ["truncated", "TR"],
  Incomplete: ["incomplete at the end", "IN"],
  ForbiddenBom: ["forbidden BOM", "FB"],
  MissingBom: ["missing BOM", "MB"],
  Noncharacter: ["noncharacter", "NC"],
  Forbidden: ["forbidden control", "FC"],
};

const ROLES = {
  ascii: "ASCII", leading: "leading byte", continuation: "continuation byte", bom: "BOM", skipped: "skipped byte",
  unread: "not decoded",
};

const name = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

const NAMES = { "\0": "NUL", "\b": "BS", "\t": "HT", "\n": "LF", "\r": "CR", "\x1B": "ESC", " ": "␣", "\x7F": "DEL" };

/** What a grid cell shows below its byte. */
function glyph({ role, kind, char, nth }) {
  if (role === "error") return KINDS[kind][1];
  if (role === "bom") return nth === 0 ? "BOM" : "";
  if (role === "skipped") return "–";
  if (!char || nth > 0) return "";
  if (char in NAMES) return NAMES[char];
  if (char < " ") return `^${String.fromCharCode(0x40 + char.charCodeAt(0))}`;
  if (/[\p{Cc}\p{Cf}\p{Z}\p{Cn}\p{Co}]/u.test(char)) return "·";
  return /\p{M}/u.test(char) ? `◌${char}` : char;
}

/** Describes a byte in words. */
export function describe(index, { bytes, roles, chunkOf, borders, heldFrom, position, step }) {
  const { role, kind, char, of } = roles[index];
  const parts = [`Byte ${index}`, hex(bytes[index])];
  if (role === "error") parts.push(`error: ${KINDS[kind][0]}`);
  else if (char && role !== "ascii") parts.push(`${ROLES[role]} of ${of}: ${char} (${name(char)})`);
  else if (char) parts.push(`${ROLES[role]}: ${/[\x00-\x20\x7F]/.test(char) ? name(char) : char}`);
  else parts.push(ROLES[role]);
  parts.push(`chunk ${chunkOf[index] + 1}`);
  if (step > 0 && index >= heldFrom && index < position) parts.push("held");
  if (index >= position) parts.push("not received yet");
  if (borders.has(index)) parts.push("border before it");
  return parts.join(" · ");
}

/** The number of columns that fit. */
function columns(width) {
  const fit = Math.floor((width - 44) / (width < 640 ? 36 : 44));
  return [32, 24, 16, 12, 8].find((count) => count <= fit) ?? 6;
}

/** The classes of a cell at the current step. */
function classesOf(index, { roles, chunkOf, borders, heldFrom, position, step }) {
  const { role, kind, nth, of } = roles[index];
  const classes = ["cell", role];
  if (role === "error") classes.push(kind);
  if (index >= position) classes.push("future");
  else if (index >= heldFrom) classes.push("held");
  if (step > 0 && chunkOf[index] === step - 1) classes.push("current");
  if (nth > 0) classes.push("joins");
  if (nth < of - 1) classes.push("joined");
  if (borders.has(index)) classes.push("cut");
  return classes.join(" ");
}

/** Shows all bytes. Returns the number of columns. */
export function showGrid(grid, derived) {
  const { bytes, roles, borders, focus } = derived;
  const wide = columns(grid.clientWidth);
  grid.style.setProperty("--columns", wide);
  const rows = [];
  for (let start = 0; start < bytes.length; start += wide) {
    const row = element("div", { role: "row" });
    row.append(element("span", { role: "rowheader", class: "gutter" }, String(start)));
    for (let index = start; index < Math.min(start + wide, bytes.length); index += 1) {
      const cell = element("span", {
        role: "gridcell", class: classesOf(index, derived), tabindex: index === focus ? 0 : -1, "data-index": index,
        "aria-label": describe(index, derived),
      });
      const below = glyph(roles[index]);
      cell.append(element("b", {}, hex(bytes[index])), element("i", { class: /^(\^?[A-Z]+)$/.test(below) && below.length > 1 && "name" }, below));
      if (borders.has(index)) cell.append(element("span", { class: "handle", "aria-hidden": "true" }));
      row.append(cell);
    }
    rows.push(row);
  }
  if (!rows.length) rows.push(element("p", { class: "empty" }, "No bytes."));
  grid.replaceChildren(...rows);
  return wide;
}

/** Shows the step of `derived` in a grid that shows another step of the same bytes. */
export function showGridStep(grid, derived) {
  for (const cell of grid.querySelectorAll(".cell")) {
    const index = Number(cell.dataset.index);
    const classes = classesOf(index, derived);
    if (cell.className === classes) continue;
    cell.className = classes;
    cell.setAttribute("aria-label", describe(index, derived));
  }
}

export function showLegend(list, roles) {
  const entries = [["ascii", "ASCII"], ["leading", "leading byte"], ["continuation", "continuation byte"]];
  const found = new Set(roles.map(({ role }) => role));
  if (found.has("bom")) entries.push(["bom", "BOM"]);
  if (found.has("skipped")) entries.push(["skipped", "skipped"]);
  if (found.has("unread")) entries.push(["unread", "not decoded"]);
  entries.push(["held", "held"], ["future", "not received yet"]);
  for (const kind of Object.keys(KINDS)) {
    if (roles.some((role) => role.kind === kind)) entries.push([`error ${kind}`, KINDS[kind][0], KINDS[kind][1]]);
  }
  list.replaceChildren(...entries.map(([classes, label, code]) =>
    element("li", {}, element("span", { class: `swatch ${classes}`, "aria-hidden": "true" }, code ?? ""), label)));
}

/** Text in which invisible characters are visible and U+FFFD stands out. */
function visible(text) {
  return text.split(/([\uFFFD\uFEFF\0-\x09\x0B-\x1F\x7F-\x9F]|\n)/).filter(Boolean).map((part) => {
    if (part === "\n") return element("span", { class: "newline" }, "\n");
    if (part === "\uFFFD") return element("span", { class: "replaced" }, part);
    if (/^[\uFEFF\0-\x1F\x7F-\x9F]$/.test(part)) return element("span", { class: "tag" }, name(part));
    return part;
  });
}

function coloured(bytes, roles, start, end) {
  const shown = [];
  for (let index = start; index < Math.min(end, start + 24); index += 1) {
    const { role, kind } = roles[index];
    shown.push(element("span", { class: `byte ${role} ${kind ?? ""}` }, hex(bytes[index])), " ");
  }
  if (end - start > 24) shown.push(`… ${end - start} bytes`);
  return shown;
}

/** At most this many rows of the table are shown, around the current one. */
const MAX_ROWS = 120;

export function showSteps({ bytes, roles, steps, step, settings, total }) {
  const now = step > 0 ? steps[step - 1] : null;
  const isEnd = now && now.start === bytes.length && now.end === bytes.length && step > total;
  const of = now === null ? "Nothing has arrived." : isEnd ? "The end of the stream."
    : `Chunk ${step} of ${total}: ${now.end - now.start} bytes, offsets ${now.start} to ${now.end - 1}.`;
  const stopped = now?.stopped ? " The error ends the stream." : "";
  $("status").replaceChildren(element("strong", {}, `Step ${step} of ${steps.length}. `), of + stopped);
  $("slider").max = steps.length;
  $("slider").value = step;
  $("slider").setAttribute("aria-valuetext", `Step ${step} of ${steps.length}. ${of}`);
  for (const id of ["first", "back"]) $(id).disabled = step === 0;
  for (const id of ["forward", "last"]) $(id).disabled = step === steps.length;

  $("chunk").replaceChildren(...(now && !isEnd ? coloured(bytes, roles, now.start, now.end) : ["–"]));
  const text = now ? emitted(now) : "";
  $("emitted").replaceChildren(...(text ? visible(text) : ["–"]));
  $("held").replaceChildren(...(now?.held ?? []).map((byte) => element("span", { class: "byte held" }, hex(byte))));
  $("held-why").textContent = now ? explainHeld(now.held, now.position, settings) : "Nothing.";
  $("offset").textContent = now ? now.position : 0;
  $("count").textContent = now ? now.errorCount : 0;

  const from = Math.max(0, Math.min(step - MAX_ROWS / 2, steps.length - MAX_ROWS));
  $("steps").tBodies[0].replaceChildren(...steps.slice(from, from + MAX_ROWS).map((each, n) => {
    const number = from + n + 1;
    const end = number > total;
    const row = element("tr", { "data-step": number, class: number > step ? "future" : "", "aria-current": number === step && "step" });
    const held = each.held.map((byte) => element("span", { class: "byte held" }, hex(byte), " "));
    row.append(
      element("th", { scope: "row" }, element("button", { type: "button", "aria-label": `Go to step ${number}` }, String(number))),
      element("td", { class: "mono" }, ...(end ? [element("em", {}, "end")] : coloured(bytes, roles, each.start, each.end))),
      element("td", { class: "text" }, ...visible(emitted(each))),
      element("td", { class: "mono" }, ...held),
      element("td", { class: "number" }, String(each.position)),
    );
    return row;
  }));
}

const MAX_ITEMS = 200;

export function showErrors({ steps, step }) {
  const items = [];
  steps.slice(0, step).forEach(({ pieces }, n) => {
    for (const piece of pieces) {
      if (piece.type !== "error") continue;
      const [label, code] = KINDS[piece.kind];
      items.push(element("li", { class: n === step - 1 ? "new" : "" },
        element("span", { class: `swatch error ${piece.kind}`, "aria-hidden": "true" }, code),
        element("div", {},
          element("p", {}, element("strong", {}, label), ` at offset ${piece.offset}`, piece.bytes.length ? ": " : "",
            element("span", { class: "mono" }, hexes(piece.bytes)),
            piece.repair === null ? "" : element("span", { class: "repair" }, " → ", ...(piece.repair ? visible(piece.repair) : ["nothing"]))),
          element("p", { class: "why" }, explain(piece)))));
    }
  });
  const hidden = items.length - MAX_ITEMS;
  if (hidden > 0) items.splice(0, hidden, element("li", { class: "empty" }, `${hidden} earlier errors`));
  if (!items.length) items.push(element("li", { class: "empty" }, "None."));
  $("errors").replaceChildren(...items);
}

export function showLines({ steps, step, settings }) {
  $("lines-card").hidden = settings.lines === "off";
  if (settings.lines === "off") return;
  const items = steps.slice(0, step).flatMap(({ lines }, n) => lines.map((line) =>
    element("li", { class: `${line.error ? "rejected" : ""} ${n === step - 1 ? "new" : ""}` },
      element("span", { class: "number" }, String(line.number)),
      element("span", { class: "text" }, ...(line.error ? [line.error] : visible(line.text)),
        line.delimited ? "" : element("span", { class: "tag" }, "end of stream")))));
  const rest = step > 0 ? steps[step - 1].lineRest : 0;
  if (rest) items.push(element("li", { class: "empty" }, `${rest} bytes of an incomplete line are buffered.`));
  if (!items.length) items.push(element("li", { class: "empty" }, "None."));
  $("lines").replaceChildren(...items.slice(-MAX_ITEMS));
}

export function showOutput({ steps, theirs, step, settings, total }) {
  const ours = steps.slice(0, step).map(emitted);
  const other = theirs.slice(0, step).map(({ text }) => text);
  const runs = diff(ours.join(""), other.join(""));
  const differences = runs.filter(({ same }) => !same);
  const show = (side) => runs.flatMap((run) => {
    if (run.same) return visible(run[side]);
    const shown = run[side] ? visible(run[side]) : [element("span", { class: "gap" }, "∅")];
    return [element("mark", {}, ...shown)];
  });
  $("ours").replaceChildren(...show("ours"));
  $("theirs").replaceChildren(...show("theirs"));
  const failed = theirs.slice(0, step).find(({ error }) => error);
  if (failed) $("theirs").append(element("p", { class: "failure" }, `TypeError: ${failed.error}`));
  if (steps[step - 1]?.stopped) {
    const { message } = steps[step - 1].pieces.at(-1);
    $("ours").append(element("p", { class: "failure" }, `Utf8Error: ${message}`));
  }
  const same = differences.length === 0;
  $("verdict").className = `verdict ${same ? "same" : "different"}`;
  $("verdict").textContent = same ? "✓ identical" : `≠ ${differences.length} difference${differences.length === 1 ? "" : "s"}`;
  $("timing").textContent = sentence(settings, ours, other, same, total);
}

/** Why the outputs differ, or when they were emitted. */
function sentence({ mode, bom, reject, midStream, lines }, ours, theirs, same, total) {
  if (!same) {
    const reasons = [];
    if (mode === "fatal" && lines !== "off") reasons.push("a line decoder rejects lines and continues");
    else if (mode === "fatal") reasons.push("TextDecoder discards the text before an error in the same chunk");
    else if (mode !== "replacement") reasons.push("TextDecoder has no mode but U+FFFD and fatal");
    if (bom === "require" || bom === "forbid") reasons.push("TextDecoder cannot require or forbid a BOM");
    if (reject.length) reasons.push("TextDecoder accepts every well-formed character");
    if (midStream) reasons.push("TextDecoder cannot start in the middle of a stream");
    return reasons.length ? `Differences are marked: ${reasons.join("; ")}.` : "Differences are marked.";
  }
  const late = ours.findIndex((text, n) => text !== theirs[n]);
  if (late >= 0) return `The texts are the same, but TextDecoder emitted some of it at another step: first at step ${late + 1}.`;
  return ours.length > total ? "Every step emitted the same text in both." : "Every step so far emitted the same text in both.";
}

/** `results`: `[{ task, rows: [{ name, speed }] }]`, with speeds in MB/s. */
export function showBars(results, state) {
  const shown = results.map(({ task, rows }) => {
    const most = Math.max(...rows.map(({ speed }) => speed));
    const list = element("dl", { class: "bars" });
    for (const { name: contender, speed } of rows) {
      const bar = element("span", { class: `bar ${contender.split(" ")[0].toLowerCase()}` });
      bar.style.setProperty("--share", most ? speed / most : 0);
      list.append(element("div", {}, element("dt", {}, contender),
        element("dd", {}, element("span", { class: "track", "aria-hidden": "true" }, bar), element("span", { class: "number" }, speedText(speed)))));
    }
    return element("div", {}, element("h3", {}, task), list);
  });
  $("bars").replaceChildren(element("div", { class: "columns" }, ...shown), element("p", { class: "note" }, state));
}

const speedText = (speed) => (speed >= 1000 ? `${(speed / 1000).toFixed(speed >= 10000 ? 1 : 2)} GB/s` : `${speed.toFixed(0)} MB/s`);
