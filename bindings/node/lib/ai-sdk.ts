/** Hooks for the AI SDK (`ai`): `import { repairText, repairToolCall } from "wiremend/ai-sdk"`. */

import { find, mendArguments } from "wiremend";

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
