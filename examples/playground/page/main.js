// The state of the page, and what changes it.

import {
  MAX_BYTES, SAMPLES, cutsOf, formatLink, formatText, hexes, parseHex, parseLink, parseText, rolesOf, stateOf, textDecoderSteps,
} from "./model.js";
import { CORPORA, race } from "./race.js";
import { $, describe, element, showBars, showErrors, showGrid, showGridStep, showLegend, showLines, showOutput, showSteps } from "./view.js";

/** The modules, `scalar` and `simd128`. The page decodes with the second, or the first without SIMD. */
const modules = [];
let decoder;

let state = parseLink(location.hash.slice(1)) ?? stateOf(SAMPLES[0]);
let derived;
/** The byte that has the keyboard focus, or would have it. */
let focus = 0;
let wide = 8;

/** Decodes the stream of a state. */
function stepsOf(bytes, cuts, settings) {
  return JSON.parse(decoder.trace(bytes, Uint32Array.from(cuts), JSON.stringify(settings)));
}

/** Merges `change` into the state, decodes, and shows the result. */
function update(change = {}, { keepSource = false } = {}) {
  state = { ...state, ...change };
  const { bytes, settings } = state;
  const cuts = cutsOf(state.cuts, bytes.length);
  const steps = stepsOf(bytes, cuts, settings);
  focus = Math.min(focus, Math.max(0, bytes.length - 1));
  const chunkOf = [];
  [...cuts, bytes.length].forEach((end, chunk) => { while (chunkOf.length < end) chunkOf.push(chunk); });
  derived = {
    bytes, settings, cuts, steps, chunkOf, focus, borders: new Set(cuts), roles: rolesOf(bytes, steps),
    theirs: textDecoderSteps(bytes, cuts, settings), total: cuts.length + 1,
  };
  setStep(state.step);
  if (!keepSource) showSource();
  showControls();
  const focused = $("grid").contains(document.activeElement);
  wide = showGrid($("grid"), derived);
  if (focused) $("grid").querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  showLegend($("legend"), derived.roles);
  showStep();
}

/** Shows another step of what has been decoded. */
function go(step) {
  setStep(step);
  showGridStep($("grid"), derived);
  showStep();
}

function setStep(step) {
  state.step = Math.min(Math.max(step, 0), derived.steps.length);
  const now = derived.steps[state.step - 1];
  derived.step = state.step;
  derived.position = now ? now.position : 0;
  derived.heldFrom = now ? now.position - now.held.length : 0;
}

let pendingLink;

function showStep() {
  showDetail();
  showSteps(derived);
  showErrors(derived);
  showLines(derived);
  showOutput(derived);
  // Browsers limit how often the address can change.
  clearTimeout(pendingLink);
  pendingLink = setTimeout(() => history.replaceState(null, "", `#${formatLink(state)}`), 100);
}

function showSource() {
  const { bytes, view, settings } = state;
  const whole = stepsOf(bytes, [], { ...settings, bom: "keep", mode: "replacement", reject: [], midStream: false, lines: "off" });
  $("source").value = view === "hex" ? hexes(bytes) : formatText(bytes, whole.flatMap(({ pieces }) => pieces));
  $("source").classList.toggle("mono", view === "hex");
  $("source-help").textContent = view === "hex" ? "Hex digits; spaces are ignored." : "\\xHH is a byte.";
  $("source-error").textContent = "";
}

function showControls() {
  const { settings, cuts, view } = state;
  document.querySelector(`[name=view][value=${view}]`).checked = true;
  document.querySelector(`[name=cuts][value=${cuts.kind}]`).checked = true;
  $("size-field").hidden = cuts.kind === "at";
  $("size-label").textContent = cuts.kind === "random" ? "Mean bytes" : "Bytes";
  $("seed-field").hidden = $("next-seed").hidden = cuts.kind !== "random";
  if (document.activeElement !== $("size")) $("size").value = cuts.size;
  if (document.activeElement !== $("seed")) $("seed").value = cuts.seed;
  $("mode").value = settings.mode;
  $("bom").value = settings.bom;
  $("bom").disabled = settings.midStream;
  $("line-ends").value = settings.lines;
  $("mid-stream").checked = settings.midStream;
  for (const box of document.querySelectorAll("[name=reject]")) box.checked = settings.reject.includes(box.value);
  const link = formatLink({ ...state, step: 0, view: "text" });
  let note = "";
  for (const sample of SAMPLES) {
    const matches = formatLink({ ...stateOf(sample), step: 0 }) === link;
    document.querySelector(`[data-sample=${sample.id}]`).setAttribute("aria-pressed", matches);
    if (matches) note = sample.note;
  }
  $("note").textContent = note;
}

function showDetail() {
  const { bytes, cuts } = derived;
  $("detail").textContent = bytes.length ? describe(focus, derived) : "";
  $("toggle-cut").disabled = !(focus > 0 && focus < bytes.length);
  $("toggle-cut").textContent = cuts.includes(focus) ? "Join with the byte before" : "Cut before this byte";
}

const cutAt = (at) => update({ cuts: { ...state.cuts, kind: "at", at } });

function toggleCut(index) {
  if (index <= 0 || index >= state.bytes.length) return;
  const { cuts } = derived;
  cutAt(cuts.includes(index) ? cuts.filter((cut) => cut !== index) : [...cuts, index].sort((a, b) => a - b));
}

/** Moves the border `from` to `to`, but not past its neighbours. Returns where it is. */
function moveCut(from, to) {
  const { cuts, bytes } = derived;
  const n = cuts.indexOf(from);
  const at = Math.min(Math.max(to, (cuts[n - 1] ?? 0) + 1), (cuts[n + 1] ?? bytes.length) - 1);
  if (n < 0 || at === from) return from;
  focus = at;
  cutAt(cuts.with(n, at));
  return at;
}

function setFocus(index, scroll = true) {
  focus = Math.min(Math.max(index, 0), Math.max(0, state.bytes.length - 1));
  derived.focus = focus;
  const cells = $("grid").querySelectorAll(".cell");
  $("grid").querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
  cells[focus]?.setAttribute("tabindex", 0);
  cells[focus]?.focus({ preventScroll: !scroll });
  showDetail();
}

const indexOf = (target) => {
  const cell = target.closest?.(".cell");
  return cell ? Number(cell.dataset.index) : -1;
};

function listenToGrid() {
  const grid = $("grid");
  let dragged = null;
  grid.addEventListener("pointerdown", (event) => {
    const index = indexOf(event.target);
    if (event.button !== 0 || index < 0) return;
    if (event.target.classList.contains("handle")) {
      dragged = index;
      grid.setPointerCapture(event.pointerId);
      grid.classList.add("dragging");
      event.preventDefault();
    } else setFocus(index, false);
  });
  grid.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".cell");
    if (!under) return;
    const { left, width } = under.getBoundingClientRect();
    dragged = moveCut(dragged, Number(under.dataset.index) + (event.clientX > left + width / 2 ? 1 : 0));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    grid.addEventListener(name, () => {
      dragged = null;
      grid.classList.remove("dragging");
    });
  }
  grid.addEventListener("dblclick", (event) => toggleCut(indexOf(event.target)));
  grid.addEventListener("focusin", (event) => {
    const index = indexOf(event.target);
    if (index >= 0 && index !== focus) setFocus(index);
  });
  grid.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && move && derived.cuts.includes(focus)) moveCut(focus, focus + move);
    else if (move) setFocus(focus + move);
    else if (event.key === "Home") setFocus(0);
    else if (event.key === "End") setFocus(Infinity);
    else if (event.key === "Enter" || event.key === " ") toggleCut(focus);
    else return;
    event.preventDefault();
  });
  $("toggle-cut").addEventListener("click", () => toggleCut(focus));
  new ResizeObserver(() => { if (derived) wide = showGrid(grid, derived); }).observe(document.body);
}

function listenToInput() {
  $("samples").append(...SAMPLES.map(({ id, name }) => element("button", { type: "button", "data-sample": id, "aria-pressed": "false" }, name)));
  $("samples").addEventListener("click", ({ target }) => {
    const sample = SAMPLES.find(({ id }) => id === target.dataset.sample);
    if (sample) update({ ...stateOf(sample), view: state.view });
  });
  $("source").addEventListener("input", () => {
    const { value } = $("source");
    try {
      const bytes = state.view === "hex" ? parseHex(value) : parseText(value);
      $("source-error").textContent = bytes.length > MAX_BYTES ? `Only the first ${MAX_BYTES} bytes are used.` : "";
      update({ bytes: bytes.slice(0, MAX_BYTES) }, { keepSource: true });
    } catch (error) {
      $("source-error").textContent = error.message;
    }
  });
  for (const radio of document.querySelectorAll("[name=view]")) radio.addEventListener("change", () => update({ view: radio.value }));
  const open = async (file) => {
    if (!file) return;
    const bytes = new Uint8Array(await file.slice(0, MAX_BYTES).arrayBuffer());
    update({ bytes, step: 0 });
    if (file.size > MAX_BYTES) $("source-error").textContent = `Only the first ${MAX_BYTES} bytes of ${file.name} are used.`;
  };
  $("file").addEventListener("change", () => {
    open($("file").files[0]);
    $("file").value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    open(event.dataTransfer.files[0]);
  });
}

function listenToControls() {
  const set = (change) => update({ settings: { ...state.settings, ...change } });
  $("mode").addEventListener("change", () => set({ mode: $("mode").value }));
  $("bom").addEventListener("change", () => set({ bom: $("bom").value }));
  $("line-ends").addEventListener("change", () => set({ lines: $("line-ends").value }));
  $("mid-stream").addEventListener("change", () => set({ midStream: $("mid-stream").checked }));
  for (const box of document.querySelectorAll("[name=reject]")) {
    box.addEventListener("change", () => {
      let reject = [...document.querySelectorAll("[name=reject]:checked")].map(({ value }) => value);
      // One of the two about control characters.
      if (box.checked && box.value.startsWith("controls")) reject = reject.filter((name) => !name.startsWith("controls") || name === box.value);
      set({ reject });
    });
  }
  for (const radio of document.querySelectorAll("[name=cuts]")) {
    radio.addEventListener("change", () => update({ cuts: { ...state.cuts, kind: radio.value, at: derived.cuts } }));
  }
  const number = (input, low, high) => Math.min(Math.max(Math.trunc(Number(input.value)) || low, low), high);
  $("size").addEventListener("input", () => update({ cuts: { ...state.cuts, size: number($("size"), 1, MAX_BYTES) } }));
  $("seed").addEventListener("input", () => update({ cuts: { ...state.cuts, seed: number($("seed"), 0, 2 ** 32 - 1) } }));
  $("next-seed").addEventListener("click", () => update({ cuts: { ...state.cuts, seed: (state.cuts.seed + 1) % 2 ** 32 } }));

  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(state.step - 1));
  $("forward").addEventListener("click", () => go(state.step + 1));
  $("last").addEventListener("click", () => go(Infinity));
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  $("steps").addEventListener("click", ({ target }) => {
    const number = Number(target.closest("tr[data-step]")?.dataset.step);
    if (!number) return;
    go(number);
    $("steps").querySelector(`tr[data-step="${number}"] button`)?.focus({ preventScroll: true });
  });
}

function listenToTools() {
  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(new URL(`#${formatLink(state)}`, location));
      $("copy").textContent = "Copied";
    } catch {
      $("copy").textContent = "Copy it from the address bar";
    }
    setTimeout(() => { $("copy").textContent = "Copy link"; }, 2000);
  });
  const theme = $("theme");
  const apply = () => { document.documentElement.dataset.theme = theme.value; };
  theme.value = localStorage.getItem("theme") ?? "";
  apply();
  theme.addEventListener("change", () => {
    localStorage.setItem("theme", theme.value);
    apply();
  });
  addEventListener("hashchange", () => {
    const linked = parseLink(location.hash.slice(1));
    if (linked && formatLink(linked) !== formatLink(state)) update(linked);
  });
}

function listenToRace() {
  $("corpus").append(...CORPORA.map(({ id, name }) => element("option", { value: id }, name)));
  $("race").addEventListener("click", async () => {
    $("race").disabled = true;
    try {
      await race(modules, $("corpus").value, Number($("race-chunk").value), showBars);
    } finally {
      $("race").disabled = false;
    }
  });
}

try {
  for (const name of ["scalar", "simd128"]) {
    try {
      const module = await import(`./wasm/${name}.js`);
      await module.default();
      modules.push({ name: module.kernel(), module });
    } catch (error) {
      if (name === "scalar") throw error;
      // Without SIMD, the scalar module decodes alone.
    }
  }
  decoder = modules.at(-1).module;
  listenToTools();
  listenToInput();
  listenToGrid();
  listenToControls();
  listenToRace();
  update();
  document.documentElement.dataset.ready = "";
} catch (error) {
  $("failed").hidden = false;
  $("failed").textContent = `The page cannot start: ${error.message}`;
  throw error;
}
