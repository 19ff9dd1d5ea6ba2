// Tests the page in Chromium: node test.mjs URL CHROMIUM MODULES [SCREENSHOTS]
//
// MODULES is a folder in which playwright-core is installed. With a fourth argument, screenshots are written there.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [url, executablePath, modules, screenshots] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(modules), "node_modules/"))("playwright-core");

/** What the decoder emits for each sample, and its errors: kind, offset, bytes. */
const EXPECTED = {
  tour: ["10 € for a caf\uFFFD, 日本 👋", ["truncated at 16: E9"]],
  mixed: ["Grüße, Κόσμε! Привет, 世界 — สวัสดี שלום 🌍🚀", []],
  latin1: [
    "Ch\uFFFDre Zo\uFFFD, \uFFFD bient\uFFFDt \uFFFD caf\uFFFD \uFFFD",
    ["truncated at 2: E8", "truncated at 8: E9", "truncated at 11: E0", "truncated at 18: F4", "unexpected continuation at 21: AB",
      "truncated at 26: E9", "unexpected continuation at 28: BB"],
  ],
  emoji: ["One 😀, four chunks. Then half: \uFFFD", ["incomplete at the end at 34: F0 9F 98"]],
  overlong: [
    "GET /a\uFFFD\uFFFD..\uFFFD\uFFFD\uFFFDb",
    ["overlong at 6: C0", "unexpected continuation at 7: AF", "overlong at 10: E0", "unexpected continuation at 11: 80",
      "unexpected continuation at 12: AF"],
  ],
  surrogates: [
    "high \uFFFD\uFFFD\uFFFD low \uFFFD\uFFFD\uFFFD next \uD7FF",
    ["surrogate at 5: ED", "unexpected continuation at 6: A0", "unexpected continuation at 7: BD",
      "surrogate at 13: ED", "unexpected continuation at 14: B8", "unexpected continuation at 15: 80"],
  ],
  bom: ["hello", []],
  cesu8: [
    "Java: \uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD UTF-8: 😀",
    ["surrogate at 6: ED", "unexpected continuation at 7: A0", "unexpected continuation at 8: BD",
      "surrogate at 9: ED", "unexpected continuation at 10: B8", "unexpected continuation at 11: 80"],
  ],
  kinds: [
    "a\uFFFD b\uFFFD\uFFFD c\uFFFD\uFFFD\uFFFD d\uFFFD\uFFFD\uFFFD\uFFFD e\uFFFD f\uFFFDg \uFFFD",
    ["unexpected continuation at 1: 80", "overlong at 4: C0", "unexpected continuation at 5: AF", "surrogate at 8: ED",
      "unexpected continuation at 9: A0", "unexpected continuation at 10: 80", "too large at 13: F4",
      "unexpected continuation at 14: 90", "unexpected continuation at 15: 80", "unexpected continuation at 16: 80",
      "invalid byte at 19: FF", "truncated at 22: E2 82", "incomplete at the end at 26: F0 9F 98"],
  ],
  lines: ["GET /café\r\nGET /caf\nGET /tea\nGET /mi", ["truncated at 20: E9"]],
};
const LINES = [
  [1, "GET /café"], [2, "line 2 is not valid UTF-8: truncated character (e9, followed by 0a) at byte 20 of the stream"], [3, "GET /tea"],
  [4, "GET /miend of stream"],
];

const profile = await mkdtemp(join(tmpdir(), "playground-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath, headless: true, chromiumSandbox: false, viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
});
const page = await context.newPage();
let problems = [];
page.on("console", (message) => {
  if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
});
page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
page.on("requestfailed", (request) => problems.push(`request failed: ${request.url()}`));
page.on("request", (request) => {
  if (!request.url().startsWith(url) && !request.url().startsWith("data:")) problems.push(`request to ${request.url()}`);
});

let [passed, failed] = [0, 0];
async function test(name, run) {
  try {
    const said = await run();
    passed += 1;
    console.log(`ok: ${name}${said ? `: ${said}` : ""}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}: ${error.message}`);
  }
}

const ready = async () => {
  await page.waitForFunction(() => document.documentElement.dataset.ready === "" || document.querySelector("#failed:not([hidden])"), null, { timeout: 120_000 });
  if (await page.isVisible("#failed")) throw new Error(await text("failed"));
};
const sample = (id) => page.click(`[data-sample=${id}]`);
const text = (id) => page.$eval(`#${id}`, (element) => element.textContent);
/** Everything that the page shows of the state. */
const shown = () => page.evaluate(() => JSON.stringify([
  ...["grid", "detail", "status", "chunk", "emitted", "held", "held-why", "offset", "count", "steps", "errors", "lines",
    "ours", "theirs", "verdict", "timing"].map((id) => document.getElementById(id).outerHTML),
]));
/** The parts of the link. The page sets it with a delay. */
const linkParts = async () => {
  await page.waitForTimeout(300);
  return page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
};

const response = await page.goto(url);
await ready();

await test("the policy allows the page's own origin only", async () => {
  const policy = response.headers()["content-security-policy"];
  assert.match(policy, /^default-src 'none'; .*connect-src 'self'/);
  const blocked = await page.evaluate(() => new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
    fetch("http://127.0.0.1:9/").catch(() => {});
  }));
  assert.equal(blocked, "connect-src");
  // The browser reports what it blocked as errors. They are not errors of the page.
  await page.waitForTimeout(200);
  problems = problems.filter((problem) => !problem.includes("http://127.0.0.1:9/"));
});

for (const [id, [output, errors]] of Object.entries(EXPECTED)) {
  await test(`sample ${id}`, async () => {
    await sample(id);
    await page.click("#last").catch(() => {});
    assert.equal((await text("ours")).replaceAll("U+000D", "\r"), output);
    const found = await page.$$eval("#errors li:not(.empty)", (items) => items.map((item) => {
      const [what] = item.querySelector("p").textContent.split(" → ");
      if (item.querySelector(".why").textContent.length < 20) throw new Error("no sentence");
      return what.replace(" at offset ", " at ").trim();
    }));
    assert.deepEqual(found, errors);
    if (id !== "lines") assert.match(await text("verdict"), /identical/);
  });
}

await test("lines are split, and a rejected line has its error", async () => {
  await sample("lines");
  await page.click("#last");
  const lines = await page.$$eval("#lines li", (items) => items.map((item) => [...item.children].map((child) => child.textContent)));
  assert.deepEqual(lines.map(([number, line]) => [Number(number), line]), LINES);
});

await test("stepping forward and back ends in the same state", async () => {
  let steps = 0;
  for (const id of Object.keys(EXPECTED)) {
    await sample(id);
    if (!(await page.isDisabled("#first"))) await page.click("#first");
    const states = [await shown()];
    while (!(await page.isDisabled("#forward"))) {
      await page.click("#forward");
      states.push(await shown());
    }
    assert.equal(new Set(states).size, states.length);
    steps += states.length - 1;
    for (const state of states.slice(0, -1).reverse()) {
      await page.click("#back");
      assert.equal(await shown(), state);
    }
  }
  return `${steps} steps`;
});

await test("random inputs and cuts: TextDecoder in replacement mode agrees, and so do both kernels", async () => {
  const result = await page.evaluate(async () => {
    const model = await import("/model.js");
    const modules = await Promise.all(["scalar", "simd128"].map(async (name) => {
      const module = await import(`/wasm/${name}.js`);
      await module.default();
      if ((module.kernel() === "simd128") !== (name === "simd128")) throw new Error(`${name} runs ${module.kernel()}`);
      return module;
    }));
    const parts = ["a", "~\n", "é", "߿", "€", "\uFEFF", "\uD7FF", "\uFFFD", "😀", "\u{10FFFF}", "plain text of some length, "];
    const bad = [[0x80], [0xBF], [0xC0], [0xC1, 0x80], [0xE0], [0xE0, 0x80], [0xE2, 0x82], [0xED, 0xA0], [0xEF, 0xBB], [0xF0, 0x9F],
      [0xF0, 0x9F, 0x98], [0xF0, 0x80], [0xF4, 0x90], [0xF5], [0xFE], [0xFF]];
    const encoder = new TextEncoder();
    const seen = { cases: 0, errors: 0, cutCharacters: 0, differences: [], laterSteps: 0 };
    for (let seed = 1; seed <= 1000; seed += 1) {
      const next = model.random(seed);
      const pick = (list) => list[Math.floor(next() * list.length)];
      const bytes = [];
      for (let count = next() * 40; count > 0; count -= 1) {
        const kind = next();
        if (kind < 0.55) bytes.push(...encoder.encode(pick(parts)));
        else if (kind < 0.85) bytes.push(...pick(bad));
        else bytes.push(Math.floor(next() * 256));
      }
      const input = Uint8Array.from(bytes);
      const cuts = model.cutsOf({ kind: "random", seed, size: 1 + Math.floor(next() * 9) }, input.length);
      const settings = { ...model.DEFAULTS, bom: next() < 0.5 ? "keep" : "strip" };
      const [steps, again] = modules.map((module) => JSON.parse(module.trace(input, Uint32Array.from(cuts), JSON.stringify(settings))));
      const theirs = model.textDecoderSteps(input, cuts, settings);
      const ours = steps.map(model.emitted);
      const [a, b] = [ours.join(""), theirs.map((step) => step.text).join("")];
      if (a !== b || JSON.stringify(steps) !== JSON.stringify(again)) seen.differences.push(seed);
      if (ours.some((each, n) => each !== theirs[n].text)) seen.laterSteps += 1;
      seen.cases += 1;
      seen.errors += steps.at(-1).errorCount;
      seen.cutCharacters += steps.filter((step) => step.held.length).length;

      const whole = JSON.parse(modules[0].trace(input, new Uint32Array(), JSON.stringify(model.DEFAULTS)));
      const source = model.parseText(model.formatText(input, whole.flatMap(({ pieces }) => pieces)));
      if (source.join() !== input.join()) throw new Error(`seed ${seed}: the text of the input is not the input`);
      const state = { bytes: input, cuts: model.parseCuts(["at", ...cuts].join(".")), settings, step: 1, view: "hex" };
      const linked = model.parseLink(model.formatLink(state));
      if (JSON.stringify({ ...linked, bytes: [...linked.bytes] }) !== JSON.stringify({ ...state, bytes: [...input] })) throw new Error(`seed ${seed}: the link differs`);
      const runs = model.diff(a, b.slice(3));
      if (runs.map((run) => run.ours).join("") !== a || runs.map((run) => run.theirs).join("") !== b.slice(3)) throw new Error(`seed ${seed}: the differences lose text`);
    }
    return seen;
  });
  assert.deepEqual(result.differences, []);
  assert.equal(result.cases, 1000);
  assert.ok(result.errors > 1000 && result.cutCharacters > 1000, "the inputs are too tame");
  return `${result.cases} cases, ${result.errors} errors, ${result.cutCharacters} chunks that end inside a character, 0 differences;`
    + ` ${result.laterSteps} cases in which TextDecoder emitted text at another step`;
});

await test("a link restores the whole state", async () => {
  await page.evaluate(() => { location.hash = "bytes=77u_YcOpDUL_Yg&cuts=random.7.2&bom=require&mode=escape&lines=crlf&reject=nul.noncharacters&view=hex&step=3"; });
  await page.waitForFunction(() => document.getElementById("source").value === "EF BB BF 61 C3 A9 0D 42 FF 62");
  const before = await shown();
  assert.equal(await page.inputValue("#bom"), "require");
  assert.equal(await page.inputValue("#mode"), "escape");
  assert.equal(await page.inputValue("#line-ends"), "crlf");
  await page.click("#back");
  const changed = await shown();
  assert.notEqual(changed, before);
  assert.equal((await linkParts()).step, "2");
  await page.reload();
  await ready();
  assert.equal(await shown(), changed);
});

await test("input as text, as hex and from a file", async () => {
  await page.check("[name=view][value=text]", { force: true });
  await page.fill("#source", "h\\xC3\\xA9 \\xFF");
  await page.check("[name=view][value=hex]", { force: true });
  assert.equal(await page.inputValue("#source"), "68 C3 A9 20 FF");
  await page.fill("#source", "68 C3 A");
  assert.match(await text("source-error"), /two hex digits/);
  await page.fill("#source", "C3 A9");
  assert.equal(await text("source-error"), "");
  await page.setInputFiles("#file", { name: "big.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(5000, 0xE2) });
  await page.waitForFunction(() => document.querySelectorAll("#grid .cell").length === 4096);
  assert.match(await text("source-error"), /first 4096 bytes/);
});

await test("borders: dragging, and the keyboard alone", async () => {
  await sample("mixed");
  await page.click("#last");
  const cut = async () => (await linkParts()).cuts;
  const handle = await (await page.$("[data-index='5'] .handle")).boundingBox();
  const target = await (await page.$("[data-index='7']")).boundingBox();
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  await page.mouse.move(target.x + 8, target.y + 20, { steps: 5 });
  await page.mouse.up();
  assert.match(await cut(), /^at\.7\.10\.15\./);
  await page.focus("[data-index='7']");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.match(await cut(), /^at\.6\.10\.15\./);
  await page.keyboard.press("Enter");
  assert.match(await cut(), /^at\.10\.15\./);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.match(await cut(), /^at\.7\.10\.15\./);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Byte 7 · .* · border before it$/);
});

await test("every control has a name, and the keyboard reaches it", async () => {
  await sample("tour");
  const nameless = await page.$$eval("button, select, input, textarea, [tabindex='0']", (all) => all
    .filter((one) => one.offsetParent && !(one.getAttribute("aria-label") || one.labels?.length || one.textContent.trim()))
    .map((one) => one.outerHTML));
  assert.deepEqual(nameless, []);
  const reached = new Set();
  await page.focus("#copy");
  for (let n = 0; n < 90; n += 1) {
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.sample
      || document.activeElement.className.split(" ")[0] || document.activeElement.name || document.activeElement.value));
    await page.keyboard.press("Tab");
  }
  for (const id of ["theme", "tour", "lines", "source", "cell", "toggle-cut", "slider", "back", "mode", "bom", "line-ends", "mid-stream", "corpus", "race"]) {
    assert.ok(reached.has(id), `${id} is not reached by Tab`);
  }
});

await test("the race ends, and all contenders agree", async () => {
  const figures = [];
  for (const [corpus, chunk] of [["ascii", "8192"], ["cyrillic", "8192"], ["cjk", "8192"], ["json", "64"], ["json", "8192"], ["damaged", "8192"], ["damaged-cyrillic", "8192"], ["damaged-cjk", "8192"]]) {
    await page.selectOption("#corpus", corpus);
    await page.selectOption("#race-chunk", chunk);
    await page.click("#race");
    await page.waitForSelector("#race:not(:disabled)", { timeout: 120_000 });
    assert.match(await text("bars"), /15 rounds/);
    figures.push(`${corpus}, ${chunk}: ${await page.$$eval("#bars .columns > div", (tasks) => tasks.map((task) => `${task.querySelector("h3").textContent} ${
      [...task.querySelectorAll("dl > div")].map((row) => `${row.querySelector("dt").textContent} ${row.querySelector(".number").textContent}`).join(", ")}`).join("; "))}`);
  }
  return `${context.browser()?.version() ?? ""}\n  ${figures.join("\n  ")}`;
});

for (const theme of ["light", "dark"]) {
  for (const [name, width, height] of [["desktop", 1280, 900], ["phone", 390, 844]]) {
    await test(`${theme}, ${name}: nothing is wider than the page`, async () => {
      await page.setViewportSize({ width, height });
      await page.selectOption("#theme", theme);
      for (const id of ["lines", "kinds", "tour"]) {
        await sample(id);
        await page.waitForTimeout(300);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `${id}: wider by ${wider} pixels`);
        if (screenshots) await page.screenshot({ path: join(screenshots, `${theme}-${name}-${id}.png`), fullPage: true });
      }
    });
  }
}

await test("no errors or warnings in the console, no request to another origin", () => assert.deepEqual(problems, []));

await context.close();
await rm(profile, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
