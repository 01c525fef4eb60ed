// Modules in the place of other packages, beside those.

import * as jsonrepairs from "jsonrepair";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import * as partials from "partial-json";

import { jsonrepair, JSONRepairError } from "wiremend/compat/jsonrepair";
import { jsonrepairTransform } from "wiremend/compat/jsonrepair/stream";
import { Allow, MalformedJSON, parse, PartialJSON } from "wiremend/compat/partial-json";

const value = (run) => {
  try {
    return run();
  } catch (error) {
    return error.constructor.name;
  }
};

const page = readFileSync(new URL("../../../docs/node.md", import.meta.url), "utf8");

/** The rows of the table after a mark on the page. */
function rows(mark) {
  const lines = page.split(`<!-- ${mark} -->\n`)[1].split("\n").slice(2);
  const cell = (text) => text.trim().replace(/^`|`$/g, "").replaceAll("\\|", "|");
  return lines.slice(0, lines.indexOf("")).map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map(cell));
}

test("jsonrepair gives what that package gives", () => {
  const texts = [
    "{a: 1}", "{'a': 'b'}", "[1, 2,]", "[1 2]", '{"a": 1 "b": 2}', "{a: True, b: None}", "// c\n{a: 1}", "/* c */ [1]", '{"a": "b', '{"a": [1, 2',
    '"\\"a\\""', "callback({a: 1})", "```json\n{a: 1}\n```", '{"a": undefined}', '{"a":1}\n{"a":2}', "“a”", "{a: ‘b’}", '["a" + "b"]', "\ufeff[1]", "[1,2,...]",
    '{"a": 2.}', '{"a": "c:\\\\users"}', "{\n  a: 1,\n  b: 2\n}", "[\"a\nb\"]", '{"a": ObjectId("123")}',
  ];
  const known = new Map(rows("jsonrepair").map(([text, ...outs]) => [text, outs]));
  for (const one of texts) {
    if (known.has(one)) continue;
    const [ours, theirs] = [value(() => JSON.parse(jsonrepair(one))), value(() => JSON.parse(jsonrepairs.jsonrepair(one)))];
    assert.deepEqual(ours, theirs, one);
  }
  for (const [one, [theirs, ours]] of known) {
    assert.deepEqual([value(() => jsonrepairs.jsonrepair(one)), value(() => jsonrepair(one))], [theirs, ours], one);
  }
  assert.throws(() => jsonrepair(""), (error) => error instanceof JSONRepairError && error.position === 0);
});

test("the stream of jsonrepair", async () => {
  const source = () => Readable.from(["{a: 'b', ", "c: [1, 2,", "], d: 'cut"]);
  assert.equal(await text(source().pipe(jsonrepairTransform())), '{"a": "b", "c": [1, 2], "d": "cut"}');
  await assert.rejects(text(Readable.from(["no JSON"]).compose(jsonrepairTransform())), JSONRepairError);
});

test("partial-json gives what that package gives", () => {
  const whole = '[{"a": 1, "b": "x y"}, [true, null, 2.5], "z", {"c": {"d": []}}]';
  const allowed = [Allow.ALL, Allow.ARR, Allow.COLLECTION, ~Allow.STR, ~Allow.OBJ, ~Allow.NUM, Allow.OBJ | Allow.ARR | Allow.STR, Allow.ATOM];
  const known = rows("partial-json");
  const differ = new Set();
  for (let end = 1; end <= whole.length; end++) {
    for (const allow of allowed) {
      const one = whole.slice(0, end);
      const [ours, theirs] = [value(() => parse(one, allow)), value(() => partials.parse(one, allow))];
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) differ.add(one);
    }
  }
  // Those that the page lists, within this text.
  assert.deepEqual([...differ], ['[{"a": 1, "b": "x ', '[{"a": 1, "b": "x y"}, [true, null, 2.']);
  for (const [one, theirs, ours] of known) {
    assert.deepEqual([value(() => JSON.stringify(partials.parse(one))), value(() => JSON.stringify(parse(one)))], [theirs, ours], one);
  }
  assert.throws(() => parse('{"a', Allow.ARR), PartialJSON);
  assert.throws(() => parse("nothing"), MalformedJSON);
});
