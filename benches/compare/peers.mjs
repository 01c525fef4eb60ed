// Reads {"input": TEXT} a line with a tool for JavaScript; writes {"json": TEXT} or {}.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const load = createRequire(process.env.COMPARE_MODULES + "/");
console.log = console.error = console.warn = () => {};

const readers = {
  jsonrepair: () => load("jsonrepair").jsonrepair,
  "partial-json": () => (text) => JSON.stringify(load("partial-json").parse(text)),
  "best-effort-json-parser": () => (text) => JSON.stringify(load("best-effort-json-parser").parse(text)),
};
const read = readers[process.argv[2]]();

for await (const line of createInterface({ input: process.stdin })) {
  let reply = {};
  try {
    reply = { json: read(JSON.parse(line).input) };
  } catch {}
  process.stdout.write(JSON.stringify(reply) + "\n");
}
