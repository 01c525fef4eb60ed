// The hooks for the AI SDK, with the package itself and a model that is scripted.

import { generateObject, generateText, streamText, tool } from "ai";
import { MockLanguageModelV3, convertArrayToReadableStream } from "ai/test";
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import { repairText, repairToolCall } from "wiremend/ai-sdk";

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const finished = (unified) => ({ unified, raw: unified });

function modelOf(content, reason) {
  return new MockLanguageModelV3({
    doGenerate: async () => ({ content, finishReason: finished(reason), usage, warnings: [] }),
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: "stream-start", warnings: [] },
        ...content.flatMap((part) =>
          part.type !== "tool-call"
            ? [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: part.text }, { type: "text-end", id: "t" }]
            : [{ type: "tool-input-start", id: part.toolCallId, toolName: part.toolName }, { type: "tool-input-delta", id: part.toolCallId, delta: part.input }, { type: "tool-input-end", id: part.toolCallId }, part],
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
