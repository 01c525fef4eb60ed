// Runs the agents of one framework in Node: `node worker.mjs NAME FOLDER`, with a question in each line of its input and
// what ran in each line of its output. FOLDER has node_modules. A question is a variant, and a snippet of the page of
// frameworks with its base URL and its header.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [framework, folder] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const version = (name) => JSON.parse(readFileSync(`${folder}/node_modules/${name}/package.json`)).version;
for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) process.env[name] = "k";
// What a framework prints is not an answer.
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;
process.on("unhandledRejection", () => {});

const { z } = await load("zod");
const ran = [];
const file = z.object({ path: z.string(), content: z.string().default(""), lines: z.array(z.number().int()).default([]), force: z.boolean().default(false) });
// An object without any field is none: LangChain makes one of nothing.
const wrote = (value) => Object.keys(value ?? {}).length && ran.push(["write_file", { content: "", lines: [], force: false, ...value }]);
const tools = [
  { name: "write_file", description: "Writes a file.", schema: file, run: wrote },
  { name: "read_file", description: "Reads a file.", schema: z.object({ path: z.string() }), run: (value) => ran.push(["read_file", value]) },
  { name: "now", description: "Tells the time.", schema: z.object({ zone: z.string().default("UTC") }), run: (value) => ran.push(["now", { zone: "UTC", ...value }]) },
];
// A field that may be missing has no default in a schema that a model must follow.
const asked = z.object({ path: z.string(), content: z.string().optional(), lines: z.array(z.number().int()).optional(), force: z.boolean().optional() });

const frameworks = {
  ai: {
    packages: ["ai", "@ai-sdk/openai", "@ai-sdk/openai-compatible", "@ai-sdk/anthropic", "@ai-sdk/google"],
    async make() {
      const ai = await load("ai");
      const known = Object.fromEntries(tools.map(({ name, description, schema, run }) => [name, ai.tool({ description, inputSchema: schema, execute: async (value) => (run(value), "done") })]));
      return async ({ model }, kind, stream) => {
        const request = { model, prompt: "Write it.", maxRetries: 0, onError: () => {} };
        if (kind === "calls") Object.assign(request, { tools: known, stopWhen: ai.stepCountIs(3) });
        else request.output = ai.Output.object({ schema: asked });
        if (!stream) {
          const answer = await ai.generateText(request);
          if (kind === "schema") wrote(answer.output);
          return;
        }
        const answer = ai.streamText(request);
        let error;
        for await (const part of answer.fullStream) if (part.type === "error") error = part.error;
        if (kind === "schema") wrote(await answer.output);
        if (error) throw error;
      };
    },
  },
  "langchain-js": {
    packages: ["@langchain/core", "@langchain/openai", "@langchain/langgraph"],
    async make() {
      const core = await load("@langchain/core/tools");
      const { ToolNode } = await load("@langchain/langgraph/prebuilt");
      const known = tools.map(({ name, description, schema, run }) => core.tool(async (value) => (run(value), "done"), { name, description, schema }));
      const last = async (answer, stream) => {
        let whole;
        if (!stream) return answer;
        for await (const chunk of answer) whole = whole?.concat ? whole.concat(chunk) : chunk;
        return whole;
      };
      return async ({ model }, kind, stream) => {
        // It asks six times again, with longer and longer pauses.
        for (const one of [model, model.completions, model.responses]) one.caller.maxRetries = 0;
        model.fields.maxRetries = 0;
        const method = stream ? "stream" : "invoke";
        if (kind === "calls") {
          const message = await last(await model.bindTools(known)[method]("Write it."), stream);
          if (message.tool_calls?.length) await new ToolNode(known).invoke({ messages: [message] });
          return;
        }
        const structured = model.withStructuredOutput(asked, { name: "WriteFile", method: kind === "schema" ? "jsonSchema" : "functionCalling" });
        wrote(await last(await structured[method]("Write it."), stream));
      };
    },
  },
};

const snippets = new Map();
// A module of its own below FOLDER, where its imports are found. It is run once: a client keeps its connections.
const names = (snippet) => {
  if (!snippets.has(snippet)) {
    mkdirSync(`${folder}/snippets`, { recursive: true });
    const path = `${folder}/snippets/${process.pid}-${snippets.size}.mjs`;
    writeFileSync(path, `${snippet}\nexport { model };\n`);
    snippets.set(snippet, import(pathToFileURL(path).href));
  }
  return snippets.get(snippet);
};
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const chosen = frameworks[framework];
const run = await chosen.make();
say({ versions: Object.fromEntries(chosen.packages.map((name) => [name, version(name)])) });
for await (const line of createInterface({ input: process.stdin })) {
  const { snippet, kind, stream } = JSON.parse(line);
  ran.length = 0;
  let error = null;
  try {
    await run(await names(snippet), kind, stream);
  } catch (raised) {
    error = `${raised?.constructor?.name}: ${raised?.message}`.slice(0, 300);
  }
  say({ ran, error });
}
