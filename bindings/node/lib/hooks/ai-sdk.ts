/** Hooks for the AI SDK (`ai`), and for what takes its models, such as Mastra: `import { mendModel } from "wiremend/ai-sdk"`. */

import { find, mendArguments, Mender } from "wiremend";

import { Calls, mendCalls, type Asked, type Part } from "./calls.js";
import { replaced } from "./replaced.js";

/** What the SDK hands to `experimental_repairToolCall`. */
interface Broken<Call> {
  toolCall: Call;
  inputSchema: (options: { toolName: string }) => PromiseLike<object>;
  error: { name?: string };
}

/**
 * Mends the input of a call, and makes it fit the schema of its tool. A call that was cut off stays as it is, and so does not
 * run.
 *
 * ```js
 * streamText({ model, tools, experimental_repairToolCall: repairToolCall, prompt })
 * ```
 */
export async function repairToolCall<Call extends { toolName: string; input: string }>({ toolCall, inputSchema, error }: Broken<Call>): Promise<Call | null> {
  if (error.name === "AI_NoSuchToolError") return null;
  const schema = await inputSchema({ toolName: toolCall.toolName });
  // How the turn ended is not told here. Nothing that is open is closed, so what was cut off is not complete.
  const mended = mendArguments(toolCall.input, { finishReason: "tool_calls", schema });
  return mended.text === undefined ? null : { ...toolCall, input: mended.text };
}

/**
 * Mends the text of an object: `generateObject({ model, schema, experimental_repairText: repairText, prompt })`. A text that was
 * cut off stays as it is.
 */
export async function repairText({ text }: { text: string }): Promise<string | null> {
  const mended = find(text, { policy: "lossy" });
  return mended.isComplete ? (mended.text ?? null) : null;
}

/**
 * A model whose calls are mended before anything else sees them, with how the turn ended and the schemas of the tools:
 * `generateText({ model: mendModel(model), … })`. A call that was cut off stays as it came.
 *
 * In a stream, what needs no mending passes as it comes. From where a call is broken or does not fit, its pieces, and the calls
 * behind it, wait for the end of the turn: what had left of it and the rest are the mended input, because there are frameworks
 * that run what the pieces say. Only if its value is restructured at the end, such as by another name for a key that has left, do
 * the pieces stay as they came.
 */
export function mendModel<Model extends object>(model: Model): Model {
  const inner = model as Record<string, any>;
  return replaced(model, {
    async doGenerate(options: Asked) {
      const answer = await inner.doGenerate(options);
      return { ...answer, content: mendCalls(answer.content, options, answer.finishReason) };
    },
    async doStream(options: Asked) {
      const answer = await inner.doStream(options);
      const calls = new Calls(options);
      const mended = new TransformStream<Part, Part>({
        transform: (part, controller) => calls.read(part).forEach((left) => controller.enqueue(left)),
        flush: (controller) => calls.close().forEach((left) => controller.enqueue(left)),
      });
      return { ...answer, stream: answer.stream.pipeThrough(mended) };
    },
  });
}

/** An `Output` of the SDK. */
interface Output {
  name: string;
  parseCompleteOutput(options: { text: string }, context: any): Promise<any>;
  parsePartialOutput(options: { text: string }): Promise<{ partial: any } | undefined>;
}

/**
 * An output whose text is mended: `streamText({ model, output: mendOutput(Output.object({ schema })), prompt })`. The value of
 * an object while it grows comes from one kept state, where the SDK parses the whole text again for each piece. A text that was
 * cut off stays as it is, so that the SDK refuses it.
 */
export function mendOutput<Out extends Output>(output: Out): Out {
  let state = { mender: new Mender(), read: "", sent: "" };
  return {
    ...output,
    async parsePartialOutput({ text }: { text: string }) {
      if (!text.startsWith(state.read)) {
        state.mender.close();
        state = { mender: new Mender(), read: "", sent: "" };
      }
      state.sent += state.mender.feed(text.slice(state.read.length));
      state.read = text;
      if (output.name !== "object" && output.name !== "json") return output.parsePartialOutput({ text: state.sent + (state.mender.completion ?? "") });
      const partial = state.mender.snapshot();
      return partial === undefined ? undefined : { partial };
    },
    parseCompleteOutput: async ({ text }: { text: string }, context: any) => output.parseCompleteOutput({ text: (output.name !== "text" && (await repairText({ text }))) || text }, context),
  };
}

/**
 * Adds to each piece of a text, and of the input of a call, the value so far, as `partial`:
 * `for await (const part of result.fullStream.pipeThrough(growing()))`. It keeps one state for each, so it costs what has
 * changed. Streams of messages for a page, as of `toUIMessageStream`, can pass, too.
 */
export function growing<Streamed extends { type: string }>(): TransformStream<Streamed, Streamed & { partial?: any }> {
  const open = new Map<string, Mender>();
  return new TransformStream({
    transform(streamed, controller) {
      const part = streamed as Part;
      const [, of, what] = /^(text|tool-input)-(start|delta|end|available|error)$/.exec(part.type) ?? [];
      const key = `${of} ${part.id ?? part.toolCallId}`;
      let partial: any;
      if (what === "start") {
        open.set(key, new Mender());
      } else if (what === "delta") {
        open.get(key)?.feed(part.text ?? part.delta ?? part.inputTextDelta ?? "");
        partial = open.get(key)?.snapshot();
      } else if (what !== undefined) {
        open.get(key)?.close();
        open.delete(key);
      }
      controller.enqueue(partial === undefined ? streamed : { ...streamed, partial });
    },
    flush() {
      for (const mender of open.values()) mender.close();
    },
  });
}
