// The small module: all but schemas, and what stands on them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { findCalls, fit, init, loads, mend, mendArguments, mendFetch, Mender, partial, readEvents, Tools } from "wiremend/web";

import { call } from "./bodies.js";

test("the small module", async () => {
  assert.throws(() => loads("[1,]"), /init/);
  await init(readFileSync(new URL("../dist/wiremend-small.wasm", import.meta.url)));
  assert.deepEqual(loads("{a: [1,]}"), { a: [1] });
  assert.equal(mend("{'a': 1}").repairs.length, 2);
  assert.deepEqual(mendArguments("{a: 1}", { finishReason: "tool_calls" }).value, { a: 1 });
  assert(!mendArguments('{"a": 1', { finishReason: "length" }).isComplete);
  assert.equal(findCalls('<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>').calls[0].value.a, 1);
  const ended = [];
  for await (const event of readEvents(call(["{'seats': ", "2}"]))) if (event.type === "call-ended") ended.push(event.call.value);
  assert.deepEqual(ended, [{ seats: 2 }]);
  for await (const { value } of partial(["[1, ", "2]"])) assert(Array.isArray(value));
  const mender = new Mender();
  mender.feed("{'a': 'b");
  assert.deepEqual(mender.snapshot(), { a: "b" });
  for (const run of [() => fit("1", {}), () => new Tools([])]) assert.throws(run, /no part for that/);
  await assert.rejects(mendFetch(async () => new Response("{}"))("http://localhost/v1/chat/completions"), /no part for that/);
});
