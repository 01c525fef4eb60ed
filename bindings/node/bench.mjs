// Sizes and times beside other packages, in one run: `node bench.mjs`. It is no part of the checks.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

import { jsonrepair } from "jsonrepair";
import { parse } from "partial-json";
import { loads, mend, mendArguments, Mender, partial } from "wiremend";

const CALL = "{'title': 'Review of the north region', 'days': 3, 'remote': True, 'room': None, 'tags': ['a',]}";
const VALID = '{"title": "Review of the north region", "days": 3, "remote": true, "room": null, "tags": ["a"]}';

const many = (text, bytes) => `[${Array(Math.ceil(bytes / (text.length + 2))).fill(text).join(", ")}]`;

/** The median time of a call, in microseconds. */
function micros(run, seconds = 1) {
  const times = [];
  for (let at = 0; at < 20; at++) run();
  const end = performance.now() + seconds * 1000;
  do {
    const begun = performance.now();
    const inner = times.length > 0 && times[0] > 200 ? 1 : 50;
    for (let at = 0; at < inner; at++) run();
    times.push(((performance.now() - begun) * 1000) / inner);
  } while (performance.now() < end || times.length < 3);
  return times.sort((a, b) => a - b)[times.length >> 1];
}

const row = (name, ...cells) => console.log(`| ${name} | ${cells.join(" | ")} |`);
const shown = (value) => (value === undefined ? "" : value < 1000 ? `${value.toPrecision(3)} µs` : `${(value / 1000).toPrecision(3)} ms`);
const safely = (run) => {
  try {
    run();
    return shown(micros(run));
  } catch (error) {
    return `throws ${error.constructor.name}`;
  }
};

const module = readFileSync(new URL("dist/wiremend.wasm", import.meta.url));
console.log(`node ${process.version}; module ${module.length} bytes, ${gzipSync(module, { level: 9 }).length} packed with gzip`);
const starts = Array.from({ length: 9 }, () => {
  const code = "const t = performance.now(); const { loads } = await import('wiremend'); loads('[1,]'); console.log(performance.now() - t)";
  return Number(spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).stdout);
}).sort((a, b) => a - b);
console.log(`time to start, to the first value, in a new process: ${starts[4].toFixed(0)} ms (median of 9)`);

const [broken, valid, large, wide] = [CALL, VALID, many(CALL, 500_000), many(VALID, 500_000)];
row("", `a broken call, ${broken.length} bytes`, "the same, valid", `${(large.length / 1e6).toFixed(2)} MB of them, broken`, "valid");
row("---", "---", "---", "---", "---");
const texts = [broken, valid, large, wide];
row("`mend`, and its value", ...texts.map((text) => safely(() => mend(text).value)));
row("`mend`, and the list of its repairs", ...texts.map((text) => safely(() => mend(text).repairs)));
row("`loads`", ...texts.map((text) => safely(() => loads(text))));
row("`mendArguments`, and its value", ...texts.map((text) => safely(() => mendArguments(text, { finishReason: "tool_calls" }).value)));
const version = (name) => JSON.parse(readFileSync(createRequire(import.meta.url).resolve(name).replace(/(node_modules\/[^/]+)\/.*/, "$1/package.json"))).version;
row(`jsonrepair ${version("jsonrepair")}, and JSON.parse`, ...texts.map((text) => safely(() => JSON.parse(jsonrepair(text)))));
row(`partial-json ${version("partial-json")}`, ...texts.map((text) => safely(() => parse(text))));
row("JSON.parse", ...texts.map((text) => safely(() => JSON.parse(text))));

const long = many(VALID, 100_000);
const pieces = Array.from({ length: Math.ceil(long.length / 8) }, (_, at) => long.slice(at * 8, at * 8 + 8));
const once = async (run) => {
  const begun = performance.now();
  await run();
  return `${((performance.now() - begun) / 1000).toFixed(2)} s`;
};
console.log(`\n${long.length} bytes in ${pieces.length} pieces of 8, with the value after each:`);
row("`Mender`: `feed` and `snapshot`", await once(() => {
  const mender = new Mender();
  for (const piece of pieces) {
    mender.feed(piece);
    mender.snapshot();
  }
  return mender.close().value;
}));
row("`partial`", await once(async () => {
  for await (const _ of partial(pieces));
}));
row("partial-json on the text so far", await once(() => {
  let text = "";
  for (const piece of pieces) parse((text += piece));
}));
