// Every case of the corpus, whole and in chunks: what the crate's own tests want of it, and the same as the command.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { find, loads, mend, Mender, readings } from "wiremend";

const corpus = new URL("../../../tests/corpus/", import.meta.url);
const command = process.env.WIREMEND_BIN ?? new URL("../../../target/debug/wiremend", import.meta.url).pathname;

const cases = readdirSync(corpus)
  .filter((name) => name.endsWith(".jsonl"))
  .sort()
  .flatMap((name) => readFileSync(new URL(name, corpus), "utf8").split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

function given(one) {
  if (one.parts) return Buffer.from(one.parts.map(([text, times]) => text.repeat(times)).join(""));
  if (one.bytes === undefined) return Buffer.from(one.input);
  const pieces = one.bytes.split(/<([0-9A-F]{2})>/);
  return Buffer.concat(pieces.map((piece, at) => (at % 2 ? Buffer.from([parseInt(piece, 16)]) : Buffer.from(piece))));
}

function wanted(one) {
  if (one.output_parts) return one.output_parts.map(([text, times]) => text.repeat(times)).join("");
  return one.output ?? (one.outcome === "unchanged" ? given(one).toString() : undefined);
}

// Guides, sequences of documents and rare limits are not among the options.
const canBeAsked = (one) =>
  one.guide === undefined && one.trailing !== "all" && Object.keys(one.limits ?? {}).every((name) => name === "depth");

const asked = cases.filter(canBeAsked);

const options = ({ policy, without, limits }) => ({ ...(policy && { policy }), ...(without && { without }), ...limits });

// Stated for results that have a text, and not for a search.
const kindsOf = (one, mended) =>
  mended.text === undefined || one.scope ? (one.kinds ?? []) : [...new Set(mended.repairs.map((repair) => repair.kind))];

// A generator of numbers, the same in each run.
function chance(seed) {
  return (below) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % below;
}

test("the corpus is there, and most of it is asked", () => {
  assert(cases.length > 1300, `${cases.length}`);
  assert(cases.length - asked.length < 90);
});

test("whole texts, as bytes and as strings", () => {
  for (const one of asked) {
    const [data, output] = [given(one), wanted(one)];
    const chosen = { ...options(one), documents: one.trailing ?? "first" };
    const run = (text) => (one.scope ? find(text, { ...chosen, scope: one.scope }) : mend(text, chosen));
    const mended = run(data);
    assert.deepEqual([mended.outcome, mended.text, kindsOf(one, mended)], [one.outcome, output, one.kinds ?? []], one.name);
    if (output !== undefined && !one.unusable) assert.deepEqual(mended.value, JSON.parse(output), one.name);
    if (one.scope) continue;
    if (mended.isComplete) assert.deepEqual(loads(data, chosen), mended.value, one.name);
    const text = data.toString();
    if (!Buffer.from(text).equals(data)) continue;
    const again = run(text);
    assert.deepEqual([again.outcome, again.text], [mended.outcome, mended.text], one.name);
    let [out, at] = ["", 0];
    for (const { start, end, before, after } of again.repairs) {
      assert.equal(text.slice(start, end), before, one.name);
      out += text.slice(at, start) + after;
      at = end;
    }
    if (again.text !== undefined) assert.equal(out + text.slice(at), again.text, one.name);
  }
});

test("in chunks", () => {
  let runs = 0;
  for (const one of asked) {
    const data = given(one);
    if (one.only === "whole-text" || one.trailing !== undefined || one.scope || data.length >= 5000) continue;
    const below = chance(data.length);
    const some = () => [0, 0, 0].map(() => below(data.length || 1)).sort((a, b) => a - b);
    for (const cuts of [[...data.keys()], [data.length >> 1], some(), some(), some()]) {
      const mender = new Mender(options(one));
      let text = "";
      [0, ...cuts].forEach((start, at) => (text += mender.feed(data.subarray(start, cuts[at] ?? data.length))));
      const mended = mender.close();
      assert.deepEqual([mended.outcome, mended.text, kindsOf(one, mended)], [one.outcome, wanted(one), one.kinds ?? []], one.name);
      if (mended.text !== undefined) {
        assert(mended.text.startsWith(text), one.name);
        if (!one.unusable) assert.deepEqual(mender.snapshot(), mended.value, one.name);
      }
      runs += 1;
    }
  }
  assert(runs > 4000, `${runs}`);
});

test("the command says the same, byte for byte", () => {
  const requests = cases.map((one, id) => ({
    id,
    input_base64: given(one).toString("base64"),
    scope: one.scope ?? "best",
    ...(["strict", "conservative", "permissive"].includes(one.policy) && { policy: one.policy }),
  }));
  const input = requests.map((request) => JSON.stringify(request)).join("\n");
  const done = spawnSync(command, ["batch"], { input, maxBuffer: 1 << 28, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  const replies = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(replies.length, cases.length);
  for (const [at, reply] of replies.entries()) {
    const { policy = "permissive", scope } = requests[at];
    const mended = find(given(cases[at]), { policy, scope });
    const repairs = mended.repairs.map(({ kind, risk, start, end, after, path }) => ({ code: kind, risk, start, end, after, path }));
    const { outcome, json, repairs: wantedRepairs, cut_at = undefined } = reply;
    assert.deepEqual([mended.outcome, mended.text ?? null, mended.cutAt], [outcome, json, cut_at], cases[at].name);
    assert.deepEqual(repairs, wantedRepairs, cases[at].name);
  }
});

test("the two best readings, as the command shows them", () => {
  let found = 0;
  // A process for each: not all.
  for (const one of cases.filter(({ outcome, limits }, at) => outcome === "repaired" && limits === undefined && at % 4 === 0)) {
    const input = given(one);
    const done = spawnSync(command, ["trace", "--readings", "--json"], { input, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    const lines = done.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    const own = readings(input).map(({ cost, text, repairs }) => {
      const listed = repairs.map(({ kind, risk, start, end, after, path }) => ({ code: kind, risk, start, end, after, path }));
      return { cost, json: text, repairs: listed };
    });
    assert.deepEqual(own, lines, one.name);
    found += own.length;
  }
  assert(found > 200, `${found}`);
});
