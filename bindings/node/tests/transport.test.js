// A `fetch` that mends what passes, alone and under the clients of providers.

import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import OpenAI from "openai";

import { mendFetch, readEvents } from "wiremend";

import { call, text, whole, withProvider } from "./bodies.js";

const ask = { model: "m", messages: [{ role: "user", content: "Book." }] };
const tools = [{ type: "function", function: { name: "book", parameters: { type: "object", properties: { seats: { type: "integer" } } } } }];
const request = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

async function callsOf(body) {
  const calls = [];
  for await (const event of readEvents(body)) if (event.type === "call-ended") calls.push(event.call);
  return calls;
}

test("a stream is mended while it passes, at every size of chunks", () =>
  withProvider(async (script) => {
    script.body = call(["{'seats': 2, 'when': ", "None,}"]);
    for (const size of [3, 11, 1 << 20]) {
      script.size = size;
      const told = [];
      const response = await mendFetch(fetch, { onAnswer: (account) => told.push(account) })(`${script.url}/v1/chat/completions`, request({ ...ask, stream: true }));
      assert.equal(response.headers.get("x-wiremend"), "streaming");
      assert.match(response.url, /completions$/);
      const [ended] = await callsOf(await response.text());
      assert.deepEqual([ended.outcome, ended.value], ["unchanged", { seats: 2, when: null }]);
      assert.deepEqual(told.map(({ verdict, account }) => [verdict, account.calls[0].tool]), [["repaired", "book"]]);
    }
  }));

test("a whole answer says what was done", () =>
  withProvider(async (script) => {
    Object.assign(script, { body: whole("{'seats': 2}"), type: "application/json" });
    const response = await mendFetch()(`${script.url}/v1/chat/completions`, request(ask));
    assert.match(response.headers.get("x-wiremend"), /^repaired; calls=1/);
    assert.equal((await response.json()).choices[0].message.tool_calls[0].function.arguments, '{"seats": 2}');
    Object.assign(script, { body: gzipSync(script.body), headers: { "content-encoding": "gzip" } });
    const unpacked = await mendFetch()(`${script.url}/v1/chat/completions`, request(ask));
    assert.equal(unpacked.headers.get("content-encoding"), null);
    assert.equal((await unpacked.json()).choices[0].message.tool_calls[0].function.arguments, '{"seats": 2}');
    // Too long to be kept: it passes as a stream.
    Object.assign(script, { body: whole("{'seats': 2}"), headers: {} });
    const long = await mendFetch(fetch, { heldBytes: 10 })(`${script.url}/v1/chat/completions`, request(ask));
    assert.equal((await long.json()).choices[0].message.tool_calls.length, 1);
  }));

test("what is valid or something else passes as it came", () =>
  withProvider(async (script) => {
    for (const [type, body] of [["application/json", whole('{"seats": 2}')], ["text/event-stream", call(['{"seats": 2}'])]]) {
      Object.assign(script, { type, body });
      const response = await mendFetch()(`${script.url}/v1/chat/completions`, request(ask));
      assert.equal(await response.text(), body);
    }
    Object.assign(script, { type: "text/plain", body: "{'not': 'ours'}" });
    assert.equal(await (await mendFetch()(script.url)).text(), script.body);
    assert.equal(await (await mendFetch()(new Request(new URL("/other", script.url), { method: "POST", body: "x" }))).text(), script.body);
    assert.deepEqual(script.asked.at(-1).body, "x");
  }));

test("a call that was cut off stays as it came", () =>
  withProvider(async (script) => {
    const body = call(["{'seats': 2, 'when': 'tom"], { finish: "length" });
    script.body = body;
    const got = async (options) => (await mendFetch(fetch, options)(`${script.url}/v1/chat/completions`, request({ ...ask, stream: true }))).text();
    assert.equal(await got(), body);
    const withheld = await got({ mending: { cut: "withhold" } });
    assert(!withheld.includes("when"));
    assert.deepEqual(await callsOf(withheld), []);
    // What breaks off breaks off, and what waited leaves as it came.
    Object.assign(script, { body: call(["{'seats': 2"], { finish: null, done: false }), breakOff: true });
    const response = await mendFetch()(`${script.url}/v1/chat/completions`, request({ ...ask, stream: true }));
    let left = "";
    await assert.rejects(async () => {
      for await (const chunk of response.body) left += Buffer.from(chunk);
    });
    assert.equal(left, script.body);
  }));

test("the history of a request is mended", () =>
  withProvider(async (script) => {
    script.body = text(["ok"]);
    const history = { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "book", arguments: "{'seats': 2}" } }] };
    const body = { ...ask, messages: [...ask.messages, history, { role: "tool", tool_call_id: "c", content: "done" }] };
    for (const input of [[`${script.url}/v1/chat/completions`, request(body)], [new Request(`${script.url}/v1/chat/completions`, request(body))]]) {
      await (await mendFetch()(...input)).text();
      const asked = script.asked.at(-1);
      assert.equal(JSON.parse(asked.body).messages[1].tool_calls[0].function.arguments, '{"seats": 2}');
      assert.equal(asked.headers["content-type"], "application/json");
    }
  }));

test("openai", () =>
  withProvider(async (script) => {
    const client = new OpenAI({ apiKey: "key", baseURL: `${script.url}/v1`, fetch: mendFetch(), maxRetries: 0 });
    Object.assign(script, { body: call(["{'seats': 2, 'when': ", "None,}"]), size: 7 });
    let args = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true, tools })) {
      args += chunk.choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? "";
    }
    assert.deepEqual(JSON.parse(args), { seats: 2, when: null });
    Object.assign(script, { body: whole("{'seats': 2}"), type: "application/json" });
    const answer = await client.chat.completions.create({ ...ask, tools });
    assert.equal(answer.choices[0].message.tool_calls[0].function.arguments, '{"seats": 2}');
  }));

test("openai runs no tool whose call was cut off", () =>
  withProvider(async (script) => {
    const ran = [];
    const run = { type: "function", function: { ...tools[0].function, parse: JSON.parse, function: (args) => void ran.push(args) } };
    const client = (own) => new OpenAI({ apiKey: "key", baseURL: `${script.url}/v1`, maxRetries: 0, fetch: own });
    Object.assign(script, { body: call(["{\"seats\": 2, \"path\": \"/home/ada"], { finish: "length" }), size: 7 });
    for (const own of [fetch, mendFetch()]) {
      const runner = client(own).chat.completions.runTools({ ...ask, stream: true, tools: [run] }, { maxChatCompletions: 1 });
      await runner.done().catch(() => {});
    }
    assert.deepEqual(ran, []);
  }));

test("anthropic", () =>
  withProvider(async (script) => {
    const events = [
      ["message_start", { message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } }],
      ["content_block_start", { index: 0, content_block: { type: "tool_use", id: "t", name: "book", input: {} } }],
      ...["{'seats': 2", ", 'when': None}"].map((partial_json) => ["content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } }]),
      ["content_block_stop", { index: 0 }],
      ["message_delta", { delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 9 } }],
      ["message_stop", {}],
    ];
    script.body = events.map(([type, rest]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`).join("");
    const client = new Anthropic({ apiKey: "key", baseURL: script.url, fetch: mendFetch(), maxRetries: 0 });
    const message = await client.messages.stream({ ...ask, max_tokens: 9 }).finalMessage();
    assert.deepEqual(message.content[0].input, { seats: 2, when: null });
  }));
