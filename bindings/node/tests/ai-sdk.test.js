// The hooks for the AI SDK, with the package itself and a model that is scripted.

import { generateObject, generateText, Output, streamText, tool } from "ai";
import { MockLanguageModelV3, convertArrayToReadableStream } from "ai/test";
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import { growing, mendModel, mendOutput, repairText, repairToolCall } from "wiremend/ai-sdk";

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const finished = (unified) => ({ unified, raw: unified });

const deltas = (type, id, text) => (text.match(/.{1,5}/gs) ?? []).map((delta) => ({ type, id, delta }));

function modelOf(content, reason) {
  return new MockLanguageModelV3({
    doGenerate: async () => ({ content, finishReason: finished(reason), usage, warnings: [] }),
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: "stream-start", warnings: [] },
        ...content.flatMap((part) =>
          part.type !== "tool-call"
            ? [{ type: "text-start", id: "t" }, ...deltas("text-delta", "t", part.text), { type: "text-end", id: "t" }]
            : [{ type: "tool-input-start", id: part.toolCallId, toolName: part.toolName }, ...deltas("tool-input-delta", part.toolCallId, part.input), { type: "tool-input-end", id: part.toolCallId }, part],
        ),
        { type: "finish", finishReason: finished(reason), usage },
      ]),
    }),
  });
}

async function ranWith(input, reason, hook, { stream = false, name = "book" } = {}) {
  const ran = [];
  const book = tool({ description: "Books.", inputSchema: z.object({ seats: z.number(), when: z.string().nullable() }), execute: async (args) => void ran.push(args) });
  const model = modelOf([{ type: "tool-call", toolCallId: "c", toolName: name, input }], reason);
  const options = { model, tools: { book }, prompt: "Book.", ...(hook && { experimental_repairToolCall: repairToolCall }) };
  if (stream) await streamText(options).consumeStream();
  else await generateText(options);
  return ran;
}

test("a broken call runs with its mended arguments", async () => {
  for (const stream of [false, true]) {
    assert.deepEqual(await ranWith("{'seats': '2', 'when': None,}", "tool-calls", true, { stream }), [{ seats: 2, when: null }]);
    assert.deepEqual(await ranWith("{'seats': '2', 'when': None,}", "tool-calls", false, { stream }), []);
  }
});

test("a call that was cut off does not run, nor does one of a tool that does not exist", async () => {
  const text = '{"seats": 2, "when": "tomorrow"}';
  for (let end = 0; end < text.length; end++) {
    assert.deepEqual(await ranWith(text.slice(0, end), "length", true, { stream: end % 2 === 0 }), [], text.slice(0, end));
  }
  assert.deepEqual(await ranWith("{'seats': 2, 'when': None}", "tool-calls", true, { name: "bok" }), []);
});

test("the text of an object", async () => {
  const schema = z.object({ city: z.string() });
  const of = (text, reason) => generateObject({ model: modelOf([{ type: "text", text }], reason), schema, experimental_repairText: repairText, prompt: "Where?" });
  assert.deepEqual((await of("Here you are:\n```json\n{'city': 'Oslo',}\n```", "stop")).object, { city: "Oslo" });
  await assert.rejects(of("{'city': 'Os", "length"));
});

/** What runs of a call if the model is mended. */
async function ranMended(input, reason, stream) {
  const ran = [];
  const book = tool({ description: "Books.", inputSchema: z.object({ seats: z.number(), when: z.string().nullable() }), execute: async (args) => void ran.push(args) });
  const model = mendModel(modelOf([{ type: "tool-call", toolCallId: "c", toolName: "book", input }], reason));
  if (stream) await streamText({ model, tools: { book }, prompt: "Book.", onError() {} }).consumeStream();
  else await generateText({ model, tools: { book }, prompt: "Book." });
  return ran;
}

test("a model that is mended", async () => {
  for (const stream of [false, true]) {
    assert.deepEqual(await ranMended("{'seats': '2', 'when': None,}", "tool-calls", stream), [{ seats: 2, when: null }]);
    assert.deepEqual(await ranMended('{"seats": 2, "when": null}', "tool-calls", stream), [{ seats: 2, when: null }]);
    // It looks whole, and the turn says that it is not: nothing is mended.
    assert.deepEqual(await ranMended("{'seats': 2, 'when': None}", "length", stream), []);
    const text = '{"seats": 2, "when": "tomorrow"}';
    for (let end = 0; end < text.length; end++) assert.deepEqual(await ranMended(text.slice(0, end), "length", stream), [], text.slice(0, end));
  }
  const model = modelOf([{ type: "tool-call", toolCallId: "c", toolName: "book", input: "{'seats': 2}" }], "tool-calls");
  assert.equal(mendModel(model).modelId, model.modelId);
  // What runs the pieces runs the same.
  const { stream } = await mendModel(model).doStream({ tools: [{ type: "function", name: "book", inputSchema: {} }] });
  const pieces = [];
  for await (const part of stream) if (part.type.startsWith("tool-")) pieces.push(part.delta ?? part.input ?? part.type);
  assert.deepEqual(pieces, ["tool-input-start", '{"seats": 2}', "tool-input-end", '{"seats": 2}']);
});

test("an output that is mended, while it grows and at its end", async () => {
  const output = mendOutput(Output.object({ schema: z.object({ city: z.string(), days: z.array(z.number()) }) }));
  // The second time, the same output reads another text.
  for (const city of ["Oslo", "Bergen"]) {
    const model = modelOf([{ type: "text", text: `\`\`\`json\n{'city': '${city}', days: [1, 2,]}\n\`\`\`` }], "stop");
    const result = streamText({ model, output, prompt: "Where?" });
    const partials = [];
    for await (const partial of result.partialOutputStream) partials.push(partial);
    assert(partials.length > 3, JSON.stringify(partials));
    assert.deepEqual(partials.at(-1), { city, days: [1, 2] });
    assert.deepEqual(await result.output, { city, days: [1, 2] });
  }
  const list = streamText({ model: modelOf([{ type: "text", text: "{elements: ['a', 'b',]}" }], "stop"), output: mendOutput(Output.array({ element: z.string() })), prompt: "Which?" });
  const elements = [];
  for await (const element of list.elementStream) elements.push(element);
  assert.deepEqual([elements, await list.output], [["a", "b"], ["a", "b"]]);
  const cut = streamText({ model: modelOf([{ type: "text", text: "{'city': 'Os" }], "length"), output, prompt: "Where?", onError() {} });
  await assert.rejects(async () => await cut.output);
});

test("the value so far of each piece", async () => {
  const content = [{ type: "text", text: "{'city': 'Oslo'}" }, { type: "tool-call", toolCallId: "c", toolName: "book", input: "{'seats': 2}" }];
  const book = tool({ description: "Books.", inputSchema: z.object({ seats: z.number() }) });
  const stream = () => streamText({ model: modelOf(content, "tool-calls"), tools: { book }, prompt: "Book.", onError() {} });
  for (const parts of [stream().fullStream, stream().toUIMessageStream()]) {
    const last = {};
    let count = 0;
    for await (const part of parts.pipeThrough(growing())) {
      count += 1;
      if ("partial" in part) last[part.type] = part.partial;
    }
    assert(count > 8);
    assert.deepEqual(last, { "text-delta": { city: "Oslo" }, "tool-input-delta": { seats: 2 } });
  }
});
