// The clients for Node, driven by run.py: `node run.mjs PROVIDER GATEWAY MODE`, with their folder in CLIENTS.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const [provider, gateway, mode] = process.argv.slice(2);
const require = createRequire(`${process.env.CLIENTS}/package.json`);
const load = async (name) => {
  try {
    return await import(pathToFileURL(require.resolve(name)).href);
  } catch (error) {
    console.log(`SKIPPED ${name} in Node: not installed (${error.code ?? error.message})`);
    return null;
  }
};
const parsed = (text) => {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return null;
  }
};

// Each makes a request, and returns the objects and the arguments of the calls.
async function openaiCalls(base, one, { OpenAI }) {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "k", maxRetries: 0, timeout: 20000 });
  const calls = new Map();
  const made = [];
  if (one.format === "openai-chat") {
    const reply = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "x" }], stream: one.stream });
    if (!one.stream) return { made: [reply], calls: (reply.choices[0].message.tool_calls ?? []).map((call) => call.function.arguments) };
    for await (const chunk of reply) {
      made.push(chunk);
      for (const choice of chunk.choices ?? []) {
        for (const call of choice.delta?.tool_calls ?? []) calls.set(call.index, (calls.get(call.index) ?? "") + (call.function?.arguments ?? ""));
      }
    }
  } else {
    const reply = await client.responses.create({ model: "m", input: "x", stream: one.stream });
    if (!one.stream) return { made: [reply], calls: reply.output.filter((item) => item.type === "function_call").map((item) => item.arguments) };
    for await (const event of reply) {
      made.push(event);
      if (event.type === "response.function_call_arguments.delta") calls.set(event.item_id, (calls.get(event.item_id) ?? "") + event.delta);
    }
  }
  return { made, calls: [...calls.values()] };
}

async function aiCalls(base, one, { ai, compatible }) {
  const model = compatible.createOpenAICompatible({ name: "p", baseURL: `${base}/v1`, apiKey: "k" })("m");
  const tools = { search: ai.tool({ description: "x", inputSchema: ai.jsonSchema({ type: "object" }) }) };
  const made = [];
  const options = { model, prompt: "x", tools, maxRetries: 0, onError: () => {} };
  if (!one.stream) {
    const reply = await ai.generateText(options);
    return { made: [reply.toolCalls, reply.text, reply.finishReason], calls: reply.toolCalls.map((call) => (typeof call.input === "string" ? call.input : JSON.stringify(call.input))) };
  }
  const reply = ai.streamText(options);
  for await (const part of reply.fullStream) made.push(JSON.parse(JSON.stringify(part, (key, value) => (["timestamp", "headers", "body", "id", "request", "response", "messageId", "toolCallId", "stack", "performance", "durationMs"].includes(key) ? undefined : value))));
  const calls = made.filter((part) => part.type === "tool-call");
  return { made, calls: calls.map((call) => (typeof call.input === "string" ? call.input : JSON.stringify(call.input))) };
}

async function outcome(make, base, one, loaded) {
  try {
    return await make(base, one, loaded);
  } catch (error) {
    return { error: `${error.constructor.name}: ${error.message}` };
  }
}

function judge(one, direct, through) {
  const withheld = mode === "withhold" && ["cut", "limit"].includes(one.what);
  if (mode === "withhold" && one.what === "clean" && through.calls) {
    // The last call of some recordings was cut off.
    const left = through.calls.length;
    if (left < (direct.calls ?? []).length && isDeepStrictEqual(through.calls, direct.calls.slice(0, left))) return null;
  }
  if (one.what === "clean" || (one.what === "limit" && !withheld)) return isDeepStrictEqual(direct, through) ? null : `differs\n  directly: ${JSON.stringify(direct).slice(0, 600)}\n  through:  ${JSON.stringify(through).slice(0, 600)}`;
  // The client cannot read the rest of a body that was cut off, with or without the gateway.
  if (through.error) return one.what === "cut" && direct.error ? null : through.error;
  const values = through.calls.map(parsed);
  if (withheld) {
    const halves = values.filter((value) => !(one.want ?? []).some((whole) => isDeepStrictEqual(whole, value)));
    return halves.length ? `a call that was cut off is there: ${through.calls}` : null;
  }
  if (one.what === "cut" && one.of !== undefined) {
    // Calls that were whole before may be there, and no others. Of some, nothing has come.
    const known = (value) => value === null || one.want.some((whole) => isDeepStrictEqual(whole, value));
    const halves = through.calls.filter((text, at) => text && !known(values[at]));
    return halves.length ? `a call that was cut off parses: ${halves}` : null;
  }
  if (one.what === "cut") return values.every((value) => value === null) ? null : `a call that was cut off parses: ${through.calls}`;
  return isDeepStrictEqual(values, one.want) ? null : `${through.calls} is not ${JSON.stringify(one.want)}`;
}

let failed = 0;
async function drive(name, formats, make, loaded) {
  const cases = await (await fetch(`${provider}/cases`)).json();
  let [right, all] = [0, 0];
  for (const [index, one] of cases.entries()) {
    if (!formats.includes(one.format)) continue;
    if (one.of !== undefined) {
      // What the calls should be: those of the recording, if it has complete ones.
      await (await fetch(`${provider}/choose/${one.of}`)).text();
      one.want = ((await outcome(make, provider, one, loaded)).calls ?? []).map(parsed);
      if (one.want.length === 0 || one.want.includes(null)) continue;
    }
    all += 1;
    await (await fetch(`${provider}/choose/${index}`)).text();
    const direct = one.what !== "damaged" ? await outcome(make, provider, one, loaded) : null;
    const problem = judge(one, direct, await outcome(make, gateway, one, loaded));
    if (problem) {
      failed += 1;
      console.log(`FAILED ${name} in Node, ${mode}: ${one.name}: ${problem}`);
    } else right += 1;
  }
  console.log(`${name} in Node, ${mode}: ${right} of ${all} right`);
}

const openai = await load("openai");
if (openai) await drive("openai", ["openai-chat", "openai-responses"], openaiCalls, { OpenAI: openai.default });
const [ai, compatible] = [await load("ai"), await load("@ai-sdk/openai-compatible")];
if (ai && compatible) await drive("ai", ["openai-chat"], aiCalls, { ai, compatible });
process.exit(failed > 0 ? 1 : 0);
