// The hooks for the AI SDK, with the package itself and a model that is scripted.

import { generateObject, generateText, Output, streamText, tool } from "ai";
import { MockLanguageModelV3, convertArrayToReadableStream } from "ai/test";
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import { mendArguments } from "wiremend";
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

const shape = { type: "object", properties: { seats: { type: "integer" }, when: { type: "string" }, how: { enum: ["bus", "boat"] } }, required: ["seats", "when"], additionalProperties: false };

/** The parts of a turn with one call or several, in pieces of a size, and how many had left when the finish was asked for. */
async function partsOf(inputs, { size = 5, finish = "tool-calls", mended = true } = {}) {
  const ids = inputs.map((_, at) => `c${at}`);
  const parts = inputs.flatMap((input, at) => [
    { type: "tool-input-start", id: ids[at], toolName: "book" },
    ...(input.match(new RegExp(`.{1,${size}}`, "gs")) ?? []).map((delta) => ({ type: "tool-input-delta", id: ids[at], delta })),
    { type: "tool-input-end", id: ids[at] },
    { type: "tool-call", toolCallId: ids[at], toolName: "book", input },
  ]);
  const left = [];
  let early;
  const source = new ReadableStream({
    async pull(controller) {
      const part = parts.shift();
      if (part !== undefined) return controller.enqueue(part);
      await new Promise(setImmediate);
      early ??= left.length;
      if (finish !== null) controller.enqueue({ type: "finish", finishReason: finished(finish), usage });
      controller.close();
    },
  });
  const model = { doStream: async () => ({ stream: source }) };
  const { stream } = await (mended ? mendModel(model) : model).doStream({ tools: [{ type: "function", name: "book", inputSchema: shape }] });
  for await (const part of stream) left.push(part);
  const of = (id) => left.filter((part) => part.id === id && part.type === "tool-input-delta").map((part) => part.delta);
  return { left, early, pieces: ids.map(of), calls: left.filter((part) => part.type === "tool-call").map((part) => part.input) };
}

test("the pieces of a call leave as they come, up to what is to be mended", async () => {
  const valid = '{"seats": 2, "when": "on a morning in May, with \\"friends\\"", "how": "boat"}';
  for (const size of [1, 3, 8, 100]) {
    const { early, left } = await partsOf([valid, valid], { size });
    assert.deepEqual([early, left], [left.length - 1, (await partsOf([valid, valid], { size, mended: false })).left]);
  }
  // What is long leaves before what is broken has come.
  const broken = `{"when": "${"tomorrow, ".repeat(20)}", 'seats': 2,}`;
  const { pieces, calls, early } = await partsOf([broken]);
  assert.deepEqual(calls, [broken.replaceAll("'", '"').replace(",}", "}")]);
  assert.deepEqual([pieces[0].join(""), early > 40], [calls[0], true]);
});

test("the pieces of a call are its input, or what came", async () => {
  const texts = [
    '{"seats": 2, "when": "now"}', "{'seats': 2, 'when': 'now'}", '{"seats": "2", "when": "now"}', '{"when": "say "now" or so", "seats": 2}',
    '{"when": "now", "how": "Boat", "seats": 2}', '{"when": "now", "seats": "2", "how": "bus", "more": [1, 2]}', '{"WHEN": "now", "seats": 2}',
    '{"when": "n\\u00e4\\ud83d\\ude00 ä😀", seats: 0x1F}', '```json\n{"when": "now", "seats": 2}\n```', '{"when": ["now"], "seats": 2}',
    '{"arguments": {"when": "now", "seats": 2}}', '{"when": "now", "seats": 2}}', "", "none",
  ];
  let mended = 0;
  for (const text of texts) {
    const ends = [...Array(text.length + 1).keys()];
    for (const [input, finish] of [[text, "tool-calls"], ...ends.flatMap((end) => [[text.slice(0, end), "length"], [text.slice(0, end), null]])]) {
      for (const size of [1, 4]) {
        const { pieces, calls } = await partsOf([input], { size, finish });
        const joined = pieces[0].join("");
        const wanted = finish === null ? undefined : mendArguments(input, { finishReason: finish, schema: shape }).text;
        assert.deepEqual(calls, [wanted ?? input]);
        // What is restructured at its end, after parts of it have left, is the one that leaves as it came.
        assert(joined === calls[0] || (joined === input && /WHEN|arguments/.test(text)), `${joined} of ${input}`);
        mended += joined !== input;
      }
    }
  }
  assert(mended >= 14, `${mended}`);
  // Behind a call that waits, others do.
  const { calls, pieces } = await partsOf(['{"seats": 1, "when": "now"}', "{'seats': 2, 'when': 'now'}", '{"seats": 3, "when": "now"}']);
  assert.deepEqual(calls, [1, 2, 3].map((seats) => `{"seats": ${seats}, "when": "now"}`));
  assert.deepEqual(pieces.map((own) => own.join("")), calls);
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
