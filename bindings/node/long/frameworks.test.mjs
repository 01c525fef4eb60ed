// The agents of frameworks, each with the client that it takes and `mendFetch` below that, or with the hook for it, against a
// scripted provider on loopback: a broken call runs with its mended arguments, and of calls that were cut off, none runs that
// does not run without.
// `WIREMEND_FRAMEWORKS` is the directory where npm has installed them.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { mendFetch } from "wiremend";
import { mendModel } from "wiremend/ai-sdk";
import { mendMessage, wrapModelCall } from "wiremend/langchain";
import { mendModel as mendAgentsModel } from "wiremend/openai-agents";

import { call, text, withProvider } from "../tests/bodies.js";

const folder = process.env.WIREMEND_FRAMEWORKS;
const require = createRequire(join(folder, "package.json"));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const version = (name) => require(join(folder, "node_modules", name, "package.json")).version;
const { z } = await load("zod");

const BROKEN = ["{'seats': 2, 'when': ", "'tomorrow',}"];
const WHOLE = '{"seats": 2, "when": "tomorrow", "note": ""}';

/** Lets an agent answer once with a call, and then with a text. What ran is returned. */
async function ranWith(agent, pieces, finish, options, hooked = false) {
  const ran = [];
  await withProvider(async (script) => {
    Object.assign(script, { size: 7, answer: (asked) => (asked.length === 1 ? call(pieces, { finish, done: finish !== null }) : text(["Done."])) });
    const own = options === undefined ? fetch : mendFetch(fetch, options);
    await agent(`${script.url}/v1`, own, (args) => (ran.push(args), "booked"), hooked).catch(() => {});
  });
  return ran;
}

function framework(name, agent) {
  if (!existsSync(join(folder, "node_modules", name))) return;
  test(`${name} ${version(name)}`, async () => {
    assert.deepEqual(await ranWith(agent, BROKEN, "tool_calls", {}), [{ seats: 2, when: "tomorrow" }]);
    assert.deepEqual(await ranWith(agent, BROKEN, "tool_calls"), []);
    assert.deepEqual(await ranWith(agent, BROKEN, "tool_calls", undefined, true), [{ seats: 2, when: "tomorrow" }]);
    // What is valid and does not fit is made to.
    assert.deepEqual(await ranWith(agent, ['{"seats": "2", "when": "tomorrow"}'], "tool_calls", undefined, true), [{ seats: 2, when: "tomorrow" }]);
    // The agent can run a call at all.
    assert.deepEqual(await ranWith(agent, [WHOLE.replace(', "note": ""', "")], "tool_calls"), [{ seats: 2, when: "tomorrow" }]);
    for (let end = 1; end < WHOLE.length; end += 3) {
      const cut = [WHOLE.slice(0, end)];
      for (const finish of ["length", null]) {
        const [direct, mended] = [await ranWith(agent, cut, finish), await ranWith(agent, cut, finish, {})];
        assert(mended.length <= direct.length, `${cut} ${finish}`);
        assert.deepEqual(mended, direct.slice(0, mended.length));
        assert.deepEqual(await ranWith(agent, cut, finish, { mending: { cut: "withhold" } }), [], `${cut} ${finish}`);
        assert.deepEqual(await ranWith(agent, cut, finish, undefined, true), [], `${cut} ${finish}`);
      }
    }
  });
}

const shape = z.object({ seats: z.number(), when: z.string() });

framework("ai", async (baseURL, fetch, execute, hooked) => {
  const { streamText, stepCountIs, tool } = await load("ai");
  const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
  const model = createOpenAICompatible({ name: "p", baseURL, apiKey: "key", fetch })("m");
  const tools = { book: tool({ description: "Books.", inputSchema: shape, execute }) };
  await streamText({ model: hooked ? mendModel(model) : model, tools, prompt: "Book.", stopWhen: stepCountIs(2), maxRetries: 0, onError() {} }).consumeStream();
});

framework("@openai/agents", async (baseURL, fetch, execute, hooked) => {
  const { Agent, run, tool, OpenAIChatCompletionsModel, setTracingDisabled } = await load("@openai/agents");
  const OpenAI = (await load("openai")).default;
  setTracingDisabled(true);
  const model = new OpenAIChatCompletionsModel(new OpenAI({ apiKey: "key", baseURL, fetch, maxRetries: 0 }), "m");
  const book = tool({ name: "book", description: "Books.", parameters: shape, execute });
  const result = await run(new Agent({ name: "a", model: hooked ? mendAgentsModel(model) : model, tools: [book] }), "Book.", { stream: true, maxTurns: 2 });
  await result.completed;
});

framework("@langchain/openai", async (baseURL, fetch, execute, hooked) => {
  const { ChatOpenAI } = await load("@langchain/openai");
  const { tool } = await load("@langchain/core/tools");
  const book = tool(async (args) => execute(args), { name: "book", description: "Books.", schema: shape });
  const model = new ChatOpenAI({ model: "m", apiKey: "key", maxRetries: 0, configuration: { baseURL, fetch } });
  let message;
  for await (const chunk of await model.bindTools([book]).stream("Book.")) message = message?.concat(chunk) ?? chunk;
  if (hooked) message = mendMessage(message, { tools: [book] });
  for (const one of message.tool_calls) await book.invoke(one);
});

framework("langchain", async (baseURL, fetch, execute, hooked) => {
  const { createAgent, createMiddleware } = await load("langchain");
  const { ChatOpenAI } = await load("@langchain/openai");
  const { tool } = await load("@langchain/core/tools");
  const book = tool(async (args) => execute(args), { name: "book", description: "Books.", schema: shape });
  const model = new ChatOpenAI({ model: "m", apiKey: "key", maxRetries: 0, configuration: { baseURL, fetch } });
  const middleware = hooked ? [createMiddleware({ name: "wiremend", wrapModelCall })] : [];
  const agent = createAgent({ model, tools: [book], middleware });
  const stream = await agent.stream({ messages: [{ role: "user", content: "Book." }] }, { streamMode: "messages", recursionLimit: 6 });
  for await (const _ of stream);
});

framework("@mastra/core", async (baseURL, fetch, execute, hooked) => {
  const { Agent } = await load("@mastra/core/agent");
  const { createTool } = await load("@mastra/core/tools");
  // Mastra 0 takes models of the AI SDK as they were a version before.
  const { createOpenAICompatible } = await load("compatible");
  const model = createOpenAICompatible({ name: "p", baseURL, apiKey: "key", fetch })("m");
  const book = createTool({ id: "book", description: "Books.", inputSchema: shape, execute: async (input) => execute(input.context ?? input) });
  const agent = new Agent({ id: "a", name: "a", instructions: "Book.", model: hooked ? mendModel(model) : model, tools: { book } });
  const stream = await agent.stream("Book.", { maxSteps: 2 });
  await stream.text;
});
