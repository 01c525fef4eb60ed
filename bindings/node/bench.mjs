// Sizes and times beside other packages, in one run: `node bench.mjs`. It is no part of the checks.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { parsePartialJson } from "ai";
import { jsonrepair } from "jsonrepair";
import { parse as river } from "jsonriver";
import { parse } from "partial-json";
import { loads, mend, mendArguments, Mender, partial } from "wiremend";

const CALL = "{'title': 'Review of the north region', 'days': 3, 'remote': True, 'room': None, 'tags': ['a',]}";
const VALID = '{"title": "Review of the north region", "days": 3, "remote": true, "room": null, "tags": ["a"]}';

/** What is missing could stand elsewhere, too: the cheapest reading is searched for. */
const RIVAL = VALID.replace(', "remote"', ' "remote"');

const many = (text, bytes) => `[${Array(Math.ceil(bytes / (text.length + 2))).fill(text).join(", ")}]`;

/** The least time of a call, in microseconds: other programs take less of short runs than of long ones. */
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
  return Math.min(...times);
}

/** The same of a call that waits. */
async function later(run) {
  for (let at = 0; at < 5; at++) await run();
  const times = [];
  for (const end = performance.now() + 1000; performance.now() < end || times.length < 3; ) {
    const begun = performance.now();
    const inner = times.length > 0 && times[0] > 200 ? 1 : 50;
    for (let at = 0; at < inner; at++) await run();
    times.push(((performance.now() - begun) * 1000) / inner);
  }
  return shown(Math.min(...times));
}

const row = (name, ...cells) => console.log(`| ${name} | ${cells.join(" | ")} |`);
const shown = (value) => (value < 100 ? `${value.toPrecision(2)} µs` : value < 1000 ? `${Math.round(value)} µs` : `${Math.round(value / 10) / 100} ms`);
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
  return Number(spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", cwd: new URL(".", import.meta.url) }).stdout);
}).sort((a, b) => a - b);
console.log(`time to start, to the first value, in a new process: ${starts[4].toFixed(0)} ms (median of 9)`);

const texts = [CALL, RIVAL, VALID, many(CALL, 500_000), many(VALID, 500_000)];
row("", `a broken call, ${CALL.length} bytes`, "one with a comma missing", "the same, valid", `${(texts[3].length / 1e6).toFixed(2)} MB of the first, broken`, "valid");
row(...Array(6).fill("---"));
row("`mend`, and its value", ...texts.map((text) => safely(() => mend(text).value)));
row("`mend`, and the list of its repairs", ...texts.map((text) => safely(() => mend(text).repairs)));
row("`loads`", ...texts.map((text) => safely(() => loads(text))));
row("`mendArguments`, and its value", ...texts.map((text) => safely(() => mendArguments(text, { finishReason: "tool_calls" }).value)));
const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
row(`jsonrepair ${version("jsonrepair")}, and JSON.parse`, ...texts.map((text) => safely(() => JSON.parse(jsonrepair(text)))));
row(`partial-json ${version("partial-json")}`, ...texts.map((text) => safely(() => parse(text))));
const state = await Promise.all(texts.map(async (text) => (await parsePartialJson(text)).state));
const sdk = [];
for (const [at, text] of texts.entries()) sdk.push(state[at] === "failed-parse" ? "not read" : await later(() => parsePartialJson(text)));
row(`\`parsePartialJson\` of ai ${version("ai")}`, ...sdk);
async function* pieceOf(text) {
  yield* Array.isArray(text) ? text : [text];
}
const whole = async (text) => {
  for await (const _ of river(pieceOf(text)));
};
const rivers = [];
for (const text of texts) rivers.push(await whole(text).then(() => later(() => whole(text)), () => "not read"));
row(`jsonriver ${version("jsonriver")}`, ...rivers);
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
row(`jsonriver, which gives one value that changes`, await once(async () => {
  for await (const _ of river(pieceOf(pieces)));
}));
row("`parsePartialJson` of the AI SDK on the text so far", await once(async () => {
  let text = "";
  for (const piece of pieces) await parsePartialJson((text += piece));
}));
row("partial-json on the text so far", await once(() => {
  let text = "";
  for (const piece of pieces) parse((text += piece));
}));
