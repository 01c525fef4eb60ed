// Texts that arrive, responses, items and values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Cut, items, LimitExceeded, Mender, MendTransform, partial, readEvents, Refused, SchemaMismatch } from "wiremend";

import { call, chat, inPieces, text } from "./bodies.js";

const TEXT = "{'title': 'On snäpshots 😀', 'tags': ['a', 'b', None], 'n': 12.5, ok: True, 'deep': {'a': [[], {}, [1, 2]]}, }";
const WANTED = { title: "On snäpshots 😀", tags: ["a", "b", null], n: 12.5, ok: true, deep: { a: [[], {}, [1, 2]] } };

const all = async (source) => {
  const found = [];
  for await (const one of source) found.push(one);
  return found;
};

/** Whether a snapshot takes back what an earlier one showed. */
function contradicts(earlier, later) {
  if (typeof earlier === "string") return typeof later !== "string" || !later.startsWith(earlier);
  if (typeof earlier !== "object" || earlier === null) return earlier !== later;
  if (Array.isArray(earlier) !== Array.isArray(later)) return true;
  return Object.entries(earlier).some(([key, value]) => !(key in later) || contradicts(value, later[key]));
}

test("chunks of any size give the same", () => {
  for (const [size, encoded] of [1, 2, 3, 7, 1000].flatMap((size) => [[size, false], [size, true]])) {
    const whole = encoded ? Buffer.from(TEXT) : TEXT;
    const mender = new Mender();
    let out = "";
    const snapshots = [];
    for (let at = 0; at < whole.length; at += size) {
      out += mender.feed(whole.slice(at, at + size));
      if (mender.completion !== undefined) JSON.parse(out + mender.completion);
      const value = mender.snapshot();
      // As it was when it was taken: later ones must not change it.
      snapshots.push([value, JSON.stringify(value)]);
    }
    const mended = mender.close();
    assert.deepEqual(mended.value, WANTED);
    assert.deepEqual(mender.snapshot(), WANTED);
    assert.equal(mended.outcome, "repaired");
    assert(mended.text.startsWith(out));
    assert.equal(mender.close(), mended);
    assert.deepEqual(mended.repairs.filter(({ kind }) => kind === "python-literal").map(({ path }) => path), ["$.tags[2]", "$.ok"]);
    let last;
    for (const [value, text] of snapshots) {
      assert.equal(JSON.stringify(value), text);
      if (last !== undefined) assert(!contradicts(last, value));
      last = value;
    }
    assert(mender.closed.has("$.tags[2]") && mender.closed.has("$.deep.a[2]") && mender.closed.has("$"));
  }
});

test("a text that was cut off", () => {
  const mender = new Mender();
  assert.equal(mender.snapshot(), undefined);
  mender.feed('{"a": [1, "b');
  assert.deepEqual(mender.snapshot(), { a: [1, "b"] });
  assert.equal(mender.outcome, undefined);
  const mended = mender.close();
  assert.deepEqual([mended.outcome, mended.cutAt, mended.value], ["closed", "$.a[1]", { a: [1, "b"] }]);
  assert(mended.error instanceof Cut);
  const careful = new Mender({ policy: "conservative" });
  careful.feed('{"a": [1, "b');
  assert.deepEqual([careful.close().outcome, careful.outcome], ["cut", "cut"]);
  assert.throws(() => careful.feed("1"), /closed/);
});

test("a transform of a stream", async () => {
  const transform = new MendTransform();
  const source = new ReadableStream({
    start(controller) {
      for (const piece of inPieces(TEXT, 5)) controller.enqueue(piece);
      controller.close();
    },
  });
  const out = (await all(source.pipeThrough(transform))).join("");
  assert.deepEqual(JSON.parse(out), WANTED);
  assert.deepEqual([transform.mended.outcome, transform.mended.text], ["repaired", out]);
});

const tools = [{ type: "function", function: { name: "book", parameters: { properties: { seats: { type: "integer" } } } } }];

test("the events of a response, at every size of chunks", async () => {
  const body = chat([{ content: "Schön" }, { content: "! " }]).replace(/data: \{[^\n]*"stop"[\s\S]*$/, "") + call(["{'seats': ", "'2', 'x': '😀'}"]);
  let wanted;
  for (const size of [1, 2, 3, 7, 64, 1 << 20]) {
    const events = await all(readEvents(inPieces(body, size), { tools }));
    const said = events.filter(({ type }) => type === "text").map(({ text }) => text).join("");
    const fitted = events.find(({ type }) => type === "call-fitted").call;
    const ended = events.find(({ type }) => type === "call-ended").call;
    const fragments = events.filter(({ type }) => type === "call-fragment").map(({ json }) => json).join("");
    assert.deepEqual([said, fitted.name, fitted.isComplete, fitted.value], ["Schön! ", "book", true, { seats: 2, x: "😀" }]);
    assert.deepEqual([ended.value, ended.name, ended.id, ended.text], [{ seats: "2", x: "😀" }, "book", "call_1", fragments]);
    assert.deepEqual(events.at(-1), { type: "ended", outcome: "complete", isComplete: true });
    const kinds = [...new Set(events.map(({ type }) => type))];
    wanted ??= kinds;
    assert.deepEqual(kinds, wanted);
  }
});

test("a call that was cut off may not be run", async () => {
  for (const body of [call(["{'seats': 2"], { finish: "length" }), call(["{'seats': 2"], { finish: null, done: false })]) {
    const events = await all(readEvents(body, { tools }));
    const { call: fitted } = events.find(({ type }) => type === "call-fitted");
    assert.deepEqual([fitted.isComplete, fitted.text, fitted.check], [false, undefined, "incomplete"]);
    assert.throws(() => fitted.value, Cut);
    assert.match(fitted.error.forModel, /^Your JSON was cut off/);
  }
  const [unknown] = (await all(readEvents(call(["{}"], { name: "bok" }), { tools }))).filter(({ type }) => type === "call-fitted");
  assert.deepEqual([unknown.call.check, unknown.call.nearest], ["unknown", "book"]);
  assert(unknown.call.error instanceof Refused);
  assert.match(unknown.call.error.forModel, /Did you mean book\?/);
});

test("objects in a text", async () => {
  const schema = { properties: { days: { type: "integer" } } };
  const events = await all(readEvents(text(["Here: {days: ", "'3'}"]), { schema, objects: "first" }));
  const { object } = events.find(({ type }) => type === "object-ended");
  const { fitted, isComplete } = events.find(({ type }) => type === "object-fitted");
  assert.deepEqual([object.value, fitted.value, isComplete], [{ days: "3" }, { days: 3 }, true]);
});

test("leaving the loop closes the source", async () => {
  let cancelled = false;
  const source = new ReadableStream({
    pull: (controller) => controller.enqueue(Buffer.from(text(["a"], { finish: null, done: false }))),
    cancel: () => void (cancelled = true),
  });
  for await (const event of readEvents(source)) if (event.type === "text") break;
  assert(cancelled);
});

test("values that grow", async () => {
  const snapshots = await all(partial(["{city: 'Os", "lo', days: 3", "}"]));
  assert.deepEqual(snapshots.map(({ value }) => value), [{ city: "Os" }, { city: "Oslo" }, { city: "Oslo", days: 3 }, { city: "Oslo", days: 3 }].slice(0, snapshots.length));
  assert(snapshots.at(-1).closed.has("$.city"));
  assert.deepEqual(snapshots.map(({ isComplete }) => isComplete), [...Array(snapshots.length - 1).fill(false), true]);
  const of = await all(partial(inPieces(call(["{'seats': [1, ", "2]}"]), 9)));
  assert.deepEqual([of.at(-1).value, of.at(-1).isComplete], [{ seats: [1, 2] }, true]);
  const seen = [];
  await assert.rejects(async () => {
    for await (const { value, closed } of partial(["[1, {'a': 'b"])) {
      seen.push(value);
      // What was only closed because the text was cut off has not ended.
      assert.deepEqual([...closed], ["$[0]"]);
    }
  }, Cut);
  assert.deepEqual(seen.at(-1), [1, { a: "b" }]);
  await assert.rejects(all(partial([Buffer.from("no response")])), Refused);
  await assert.rejects(all(partial(["[".repeat(200)])), LimitExceeded);
});

test("items, each as soon as it is whole", async () => {
  const pieces = ["{trips: [{city: 'Oslo'}, {city: 'Ber", "gen', days: '2'}, 1", "2, 'x']}"];
  assert.deepEqual(await all(items(pieces, "/trips")), [{ city: "Oslo" }, { city: "Bergen", days: "2" }, 12, "x"]);
  const split = [...pieces.join("")];
  assert.deepEqual(await all(items(split, "/trips")), [{ city: "Oslo" }, { city: "Bergen", days: "2" }, 12, "x"]);
  const got = [];
  await assert.rejects(async () => {
    for await (const item of items(["[{a: 1}, {a: 2, b: [3], c: 'x"], "")) got.push(item);
  }, Cut);
  assert.deepEqual(got, [{ a: 1 }]);
  const schema = { type: "object", properties: { days: { type: "integer" } } };
  const wrong = [];
  const fits = await all(items(["[{days: '2'}, {days: 'a few'}]"], "", { schema, mismatch: (error) => wrong.push(error.place) }));
  assert.deepEqual([fits, wrong], [[{ days: 2 }], ["$[1].days"]]);
  await assert.rejects(all(items(["[{days: 'a few'}]"], "", { schema })), SchemaMismatch);
  await assert.rejects(all(items([""], "rows")), TypeError);
});
