// Bodies of responses, and calls in texts: the package says what the command says.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { findCalls, readEvents } from "wiremend";

import { inPieces } from "./bodies.js";

const command = process.env.WIREMEND_BIN ?? new URL("../../../target/debug/wiremend", import.meta.url).pathname;
const examples = new URL("../../../examples/streams/", import.meta.url);
// Recordings of providers, where they stand beside the clone.
const recordings = new URL(`file://${process.env.WIREMEND_RECORDINGS ?? new URL("../../../../shared/cases/recordings", import.meta.url).pathname}/`);

function replies(requests) {
  const input = requests.map((request) => JSON.stringify(request)).join("\n");
  const done = spawnSync(command, ["batch"], { input, maxBuffer: 1 << 29, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

const kindsOf = (repairs) => repairs.map(({ kind, code = kind, start, end, after, path }) => [code, start, end, after, path]);

test("bodies, whole and in pieces", async () => {
  const files = readdirSync(examples).filter((name) => name.endsWith(".sse")).map((name) => new URL(name, examples));
  assert(files.length >= 6);
  if (existsSync(recordings)) {
    const all = readdirSync(recordings, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    files.push(...all.map((entry) => new URL(`file://${entry.parentPath ?? entry.path}/${entry.name}`)).slice(0, 200));
  }
  const bodies = files.map((file) => readFileSync(file));
  // What is damaged, and what is cut off.
  const cut = bodies.slice(0, 6).flatMap((body) => [1, 2, 3, 4].map((part) => body.subarray(0, (body.length * part) / 5)));
  const given = [...bodies, ...cut];
  const wanted = replies(given.map((body, id) => ({ id, op: "stream", policy: "conservative", input_base64: body.toString("base64") })));
  let calls = 0;
  for (const [at, body] of given.entries()) {
    const name = files[at]?.pathname ?? `cut ${at}`;
    for (const size of body.length > 40_000 ? [4096] : [7, 1 << 20]) {
      const texts = { text: "", reasoning: "", refusal: "" };
      const found = { calls: [], finish: [], outcome: undefined };
      for await (const event of readEvents(inPieces(body, size), { objects: "all" })) {
        if (event.type in texts) texts[event.type] += event.text;
        else if (event.type === "text-was-reasoning") found.moved = true;
        else if (event.type === "call-ended") found.calls.push(event.call);
        else if (event.type === "finish") found.finish.push({ choice: event.choice, reason: event.reason, original: event.original });
        else if (event.type === "ended") found.outcome = event.outcome;
      }
      const reply = wanted[at];
      assert.equal(found.outcome, reply.outcome, name);
      // It tells one, and leaves out what no provider said.
      if (reply.finish) assert.deepEqual(found.finish.filter((one) => one.original === reply.finish.original && one.choice === reply.finish.choice).at(-1), reply.finish, name);
      if (!found.moved) assert.deepEqual([texts.reasoning, texts.refusal], [reply.reasoning, reply.refusal], name);
      assert.deepEqual(found.calls.length, reply.calls.length, name);
      for (const [nth, call] of found.calls.sort((a, b) => a.number - b.number).entries()) {
        const other = reply.calls[nth];
        assert.deepEqual([call.number, call.name, call.id ?? null, call.kind, call.choice, call.outcome], [other.call, other.name, other.id, other.kind, other.choice, other.outcome], name);
        assert.deepEqual([call.doubt, call.cutAt], [other.doubt, other.cut_at], name);
        if (call.isComplete) assert.equal(call.text, other.arguments, name);
        // The command counts bytes, and the package as the string does.
        if (/^[\x00-\x7f]*$/.test(call.raw)) assert.deepEqual(kindsOf(call.repairs), kindsOf(other.repairs), name);
        calls += 1;
      }
    }
  }
  assert(calls > 10, `${calls}`);
});

test("calls in texts, whole and cut", () => {
  const texts = [
    'On it. <tool_call>{"name": "book", "arguments": {"seats": 2}}</tool_call> Done.',
    "<tool_call>{'name': 'book', 'arguments': {'seats': 2,}}</tool_call><tool_call>{\"name\": \"bok\", \"arguments\": {}}</tool_call>",
    "<think>Shall I?</think>[book(seats=2, when='now')]",
    "<function=book>\n<parameter=seats>\n2\n</parameter>\n</function>",
    '<|python_tag|>{"name": "book", "parameters": {"seats": 2}}',
    "[TOOL_CALLS][{'name': 'book', 'arguments': {'seats': 2}}]",
    "No call in here: book(2) is what I would do.",
  ];
  const tools = [{ type: "function", function: { name: "book", parameters: { type: "object", properties: { seats: { type: "integer" }, when: { type: "string" } } } } }];
  const given = texts.flatMap((text) => Array.from({ length: text.length + 1 }, (_, end) => [text.slice(0, end), end < text.length]));
  const wanted = replies(given.map(([input, cut], id) => ({ id, op: "calls", input, tools, eos: !cut, policy: "conservative" })));
  for (const [at, [text, cut]] of given.entries()) {
    const found = findCalls(text, { tools, cut });
    const runs = found.calls.filter((call) => call.isComplete).map((call) => [call.name, call.text, call.outcome, call.dialect, call.span]);
    assert.deepEqual(runs, wanted[at].calls.map((call) => [call.name, call.arguments, call.outcome, call.format, [call.start, call.end]]), text);
    // What the command gives back as content where a call is not complete is the text of that.
    if (wanted[at].incomplete.length > 0) continue;
    assert.deepEqual([found.text, found.reasoning], [wanted[at].content, wanted[at].reasoning], text);
  }
});
