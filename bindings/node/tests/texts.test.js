// Whole texts, types, and the arguments of calls.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { z } from "zod";

import * as wiremend from "wiremend";
import { Cut, find, findCalls, fit, init, initSync, loads, LimitExceeded, mend, mendArguments, MendError, readings, Refused, Schema, SchemaMismatch } from "wiremend";

test("loads takes the place of JSON.parse", () => {
  assert.deepEqual(loads('{"a": 1}'), { a: 1 });
  assert.deepEqual(loads("{name: 'Ada', langs: ['en', 'fr',], ok: True}"), { name: "Ada", langs: ["en", "fr"], ok: true });
  assert.deepEqual(loads(Buffer.from("[1, 2,]")), [1, 2]);
  assert.deepEqual(loads(new TextEncoder().encode("[1,]").buffer), [1]);
  assert.deepEqual(Object.keys(loads("{'__proto__': 1}")), ["__proto__"]);
  assert.throws(() => loads('{"path": "/home/ada'), (error) => {
    assert(error instanceof Cut && error instanceof MendError && error.name === "Cut");
    assert.equal(error.place, "$.path");
    assert.equal(error.forModel, "Your JSON was cut off at $.path. Send all of it again, and make it shorter if it does not fit.");
    assert.deepEqual(error.result.value, { path: "/home/ada" });
    return true;
  });
  assert.deepEqual(loads('{"path": "/home/ada', { incomplete: true }), { path: "/home/ada" });
  assert.throws(() => loads("no JSON"), Refused);
  assert.throws(() => loads("[1,]", { policy: "strict" }), Refused);
  assert.throws(() => loads("[[[1,]]]", { depth: 2 }), LimitExceeded);
});

test("mend says what was done, in the places of a string", () => {
  const mended = mend("{'a': 'ä😀', 'days': None}");
  assert.deepEqual([mended.outcome, mended.isComplete, mended.risk], ["repaired", true, "exact"]);
  assert.equal(mended.text, '{"a": "ä😀", "days": null}');
  assert.equal(mended.error, undefined);
  const last = mended.repairs.at(-1);
  assert.equal("{'a': 'ä😀', 'days': None}".slice(last.start, last.end), "None");
  assert.deepEqual(last, { kind: "python-literal", risk: "exact", start: 21, end: 25, before: "None", after: "null", path: "$.days" });
  const same = "[1, \ud800]";
  assert.equal(mend("[1, 2]").text, "[1, 2]");
  assert.equal(mend(same.replace("\ud800", '"\ud800"')).outcome, "unchanged");
  assert.equal(mend("[1] [2]", { documents: "first" }).text, "[1]");
  assert.equal(mend('{"a": "x," "b": 2}').text, '{"a": "x", "b": 2}');
  assert.equal(mend('{"a": "x," "b": 2}', { search: false }).text, '{"a": "x,", "b": 2}');
});

test("find looks in prose", () => {
  assert.deepEqual(find("Here you are:\n```json\n{\"city\": \"Oslo\",}\n```").value, { city: "Oslo" });
  assert.equal(find("if (x) { return 1; }").outcome, "none");
});

test("the two best readings, in the places of a string", () => {
  const text = '{"ä😀": "first, b: "second"}';
  const [first, second] = readings(text);
  assert.deepEqual([first.text, second.text], ['{"ä😀": "first", "b": "second"}', '{"ä😀": "first, b: \\"second"}']);
  assert(first.cost < second.cost);
  for (const { text: json, repairs } of [first, second]) {
    const [made, end] = repairs.reduce(([made, at], { start, end, after }) => [made + text.slice(at, start) + after, end], ["", 0]);
    assert.equal(made + text.slice(end), json);
  }
  assert.deepEqual([readings("[1]").length, readings("[[1,]]", { depth: 2 })[0].text], [0, "[[1]]"]);
});

test("options that do not exist are refused, and so is what is no text", () => {
  assert.throws(() => mend("1", { polcy: "strict" }), /unknown field `polcy`/);
  assert.throws(() => mend("1", { policy: "lax" }), /policy must be/);
  assert.throws(() => mend("1", { without: ["nothing"] }), /no repair has the code/);
  assert.throws(() => mend(1), TypeError);
  assert.throws(() => mendArguments("{}", {}), /finishReason/);
  // The next call is not the worse for it.
  assert.equal(mend("[1,]").text, "[1]");
});

const trip = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] };

test("fit makes a value fit a schema", () => {
  const fitted = fit("Sure: {city: 'Oslo', days: '3'}", trip);
  assert.deepEqual([fitted.value, fitted.rules], [{ city: "Oslo", days: 3 }, ["string-to-number"]]);
  const wrong = fit("{city: 'Oslo', days: 'a few'}", trip);
  assert.deepEqual([wrong.outcome, wrong.forModel], ["invalid", '- /days: expected integer, got string "a few"']);
  assert.throws(() => wrong.value, SchemaMismatch);
  assert.equal(wrong.error.place, "$.days");
  const compiled = new Schema(trip);
  assert.equal(fit("{city: 'Oslo', days: '3'}", compiled).value.days, 3);
  assert.equal(fit("1", true).value, 1);
  assert.throws(() => fit("1", { type: "nothing" }), TypeError);
});

test("a schema of zod is one", () => {
  const shape = z.object({ city: z.string(), days: z.number().int() });
  assert.deepEqual(fit("{city: 'Oslo', days: '3'}", shape).value, { city: "Oslo", days: 3 });
  assert.deepEqual(shape.parse(fit("{city: 'Oslo', days: '3'}", z.toJSONSchema(shape)).value), { city: "Oslo", days: 3 });
});

test("the arguments of a call that was cut off are none", () => {
  assert.deepEqual(mendArguments("{'city': 'Oslo', days: 3}", { finishReason: "tool_calls" }).value, { city: "Oslo", days: 3 });
  const cut = mendArguments('{"path": "/home/ada', { finishReason: "length" });
  assert.deepEqual([cut.isComplete, cut.text, cut.outcome, cut.raw], [false, undefined, "cut", '{"path": "/home/ada']);
  assert.throws(() => cut.value, Cut);
  assert(!mendArguments('{"path": "/home"', { finishReason: "stop" }).isComplete);
  const days = { properties: { days: { type: "integer" } } };
  assert.deepEqual(mendArguments("{days: '3'}", { finishReason: "tool_calls", schema: days }).value, { days: 3 });
  const wrong = mendArguments("{days: 'a few'}", { finishReason: "tool_calls", schema: days });
  assert.deepEqual([wrong.outcome, wrong.issues.length, wrong.text], ["refused", 1, undefined]);
});

test("calls in a text", () => {
  const tools = [{ type: "function", function: { name: "book", parameters: { properties: { seats: { type: "integer" } } } } }];
  const text = "Gern ä. <tool_call>{'name': 'book', 'arguments': {'seats': 2}}</tool_call>";
  const found = findCalls(text, { tools });
  assert.deepEqual(found.calls.map((call) => [call.name, call.value, call.isComplete]), [["book", { seats: 2 }, true]]);
  assert.equal(found.text, "Gern ä. ");
  assert.equal(text.slice(...found.calls[0].span), text.slice(8));
  assert(!findCalls("<tool_call>{'name': 'book', 'arguments': {'seats': 2", { cut: true }).calls.some((call) => call.isComplete));
  assert.throws(() => findCalls("", { dialect: "none of them" }), /no dialect/);
});

test("any bytes give an answer", () => {
  for (const data of ["", "\xff\xfe\x00", '{"a": "\xff', "]]]]", "{".repeat(300)]) {
    assert(typeof mend(Buffer.from(data, "latin1")).outcome === "string");
  }
  const long = `[${'{"a": "b", c: 1},'.repeat(20_000)}]`;
  assert.equal(mend(long).value.length, 20_000);
  assert.equal(mend("[1,]").text, "[1]");
});

test("starting twice is harmless, and CommonJS has the same words", async () => {
  await init();
  await init();
  initSync(new Uint8Array());
  assert.equal(mend("[1,]").text, "[1]");
  const required = createRequire(import.meta.url)("wiremend");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(wiremend).sort());
  assert.equal(required.mend("[1,]").text, "[1]");
});
