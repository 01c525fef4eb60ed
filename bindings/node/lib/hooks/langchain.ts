/** Hooks for LangChain (`@langchain/core`, `langchain`): `import { mendMessage } from "wiremend/langchain"`. */

import { mendArguments, type SchemaLike } from "wiremend";

/** A tool of LangChain, or as a request has it. */
type Tool = { name?: string; schema?: SchemaLike; function?: { name: string; parameters?: SchemaLike } } | object;

/**
 * Mends the calls of an answer, and makes them fit the schemas of the tools: what LangChain could not read becomes a call that
 * runs, and what was cut off, which it closes and runs if it came in a stream, one that does not. A call of no tool here stays.
 *
 * ```js
 * const chain = model.bindTools(tools).pipe((message) => mendMessage(message, { tools }));
 * ```
 */
export function mendMessage<Message extends object>(message: Message, { tools }: { tools: readonly Tool[] }): Message {
  const answer = message as any;
  const said = { ...answer.additional_kwargs, ...answer.response_metadata };
  // Not each model tells how the turn ended. Nothing that is open is closed, so what was cut off is not complete.
  const finishReason: string = said.finish_reason ?? said.stop_reason ?? said.finishReason ?? said.done_reason ?? "tool_calls";
  const pieces = (answer.tool_call_chunks ?? []).filter((piece: any) => piece.name);
  const calls = [...(answer.tool_calls ?? []), ...(answer.invalid_tool_calls ?? [])];
  if (calls.length === 0) return message;
  const [whole, invalid]: [any[], any[]] = [[], []];
  for (const call of calls) {
    const schema = schemaOf(tools, call.name);
    if (schema === undefined) {
      (typeof call.args === "string" ? invalid : whole).push(call);
      continue;
    }
    const arrived = pieces.find((piece: any) => piece.id === call.id)?.args;
    const raw = arrived ?? (typeof call.args === "string" ? call.args : JSON.stringify(call.args));
    const mended = mendArguments(raw, { finishReason, schema });
    const { name, id } = call;
    if (mended.isComplete) whole.push({ name, args: mended.value, id, type: "tool_call" });
    else invalid.push({ name, args: raw, id, error: mended.error?.forModel ?? "Malformed args.", type: "invalid_tool_call" });
  }
  const own = Object.getOwnPropertyDescriptors(message) as PropertyDescriptorMap;
  const value = (value: unknown): PropertyDescriptor => ({ value, writable: true, enumerable: true, configurable: true });
  const lists = { tool_calls: value(whole), invalid_tool_calls: value(invalid) };
  const kwargs = Object.create(null, { ...Object.getOwnPropertyDescriptors(answer.lc_kwargs ?? {}), ...lists });
  return Object.create(Object.getPrototypeOf(message), { ...own, ...lists, lc_kwargs: value({ ...kwargs }) });
}

/**
 * The same for an agent: `createAgent({ model, tools, middleware: [createMiddleware({ name: "wiremend", wrapModelCall })] })`.
 */
export async function wrapModelCall(request: { tools?: readonly Tool[] }, handler: (request: any) => any): Promise<any> {
  return mendMessage(await handler(request), { tools: request.tools ?? [] });
}

function schemaOf(tools: readonly Tool[], name: string): SchemaLike | undefined {
  for (const tool of tools as readonly any[]) {
    if (tool.function?.name === name) return tool.function.parameters;
    if (tool.name === name) return tool.schema;
  }
  return undefined;
}
