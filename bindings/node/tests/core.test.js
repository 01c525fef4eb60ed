// `wiremend/core`: texts alone.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";

import * as core from "wiremend/core";

test("texts alone, in a small module", async () => {
  const { find, loads, mend, Mender, partial, readings } = core;
  assert.deepEqual(loads("{a: [1,]}"), { a: [1] });
  assert.equal(mend("{'a': 1}").repairs.length, 2);
  assert.deepEqual(find("Here: {'a': 1}.").value, { a: 1 });
  assert.equal(readings('["red", "green" blue"]').length, 2);
  const mender = new Mender();
  mender.feed("{'a': 'b");
  assert.deepEqual(mender.snapshot(), { a: "b" });
  for await (const { value } of partial(["[1, ", "2]"])) assert(Array.isArray(value));
  await assert.rejects(partial([new TextEncoder().encode("{}")]).next(), /no part for that/);
  const required = createRequire(import.meta.url)("wiremend/core");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(core).sort());
  assert.deepEqual(required.loads("[1,]"), [1]);
});

test("beside the whole package, the whole module is started, unless the small one was", async () => {
  for (const imports of ['import "wiremend/core"; import { fit } from "wiremend";', 'import { fit } from "wiremend"; import "wiremend/core";']) {
    const code = `${imports} console.log(fit("{a: 1,}", true).text)`;
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", cwd: new URL("..", import.meta.url) });
    assert.equal(done.stdout, '{"a": 1}\n', done.stderr);
  }
  const { Schema } = await import("wiremend");
  core.loads("[1,]");
  assert.throws(() => new Schema({}), /no part for that/);
});
