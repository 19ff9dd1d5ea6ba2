// Runs a program for wasm32-wasip1: node run.mjs PROGRAM ARGUMENTS. Cargo calls it for each test binary.
//
// The tests read files of their package. This package is a folder of it: its `tests` and `fuzz` are those of the crate.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WASI } from "node:wasi";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const folders = Object.fromEntries(["tests", "fuzz"].map((name) => [join(here, name), join(root, name)]));
const wasi = new WASI({ version: "preview1", args: process.argv.slice(2), env: process.env, preopens: folders });
const module = await WebAssembly.compile(await readFile(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
