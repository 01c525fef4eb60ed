/** A hook for openai-agents (`@openai/agents`): `import { mendModel } from "wiremend/openai-agents"`. */

import { mendArguments, type SchemaLike } from "wiremend";

import { replaced } from "./replaced.js";

/** What is read of a request: the tools, and the agents that take over. */
interface Asked {
  tools: readonly { type: string; name?: string; parameters?: SchemaLike }[];
  handoffs: readonly { toolName: string; inputJsonSchema: SchemaLike }[];
}

interface Item {
  type?: string;
  [member: string]: any;
}

/** What is used of a `Model`. */
interface Model {
  getResponse(request: any): Promise<any>;
  getStreamedResponse(request: any): AsyncIterable<any>;
}

/**
 * A model whose calls are mended before the agent runs them, and made to fit the schemas of its tools:
 * `new Agent({ model: mendModel(new OpenAIChatCompletionsModel(client, "m")), … })`. A call that was cut off stays as it came.
 */
export function mendModel<Inner extends Model>(model: Inner): Inner {
  return replaced(model, {
    async getResponse(request: Asked) {
      const response = await model.getResponse(request);
      return { ...response, output: response.output.map((item: Item) => mendItem(item, request, response.providerData)) };
    },
    async *getStreamedResponse(request: Asked) {
      for await (const event of model.getStreamedResponse(request)) {
        if (event.type !== "response_done") yield event;
        else yield { ...event, response: { ...event.response, output: event.response.output.map((item: Item) => mendItem(item, request, event.response.providerData)) } };
      }
    },
  });
}

function mendItem(item: Item, { tools, handoffs }: Asked, raw: any): Item {
  if (item.type !== "function_call") return item;
  const tool = tools.find((tool) => tool.type === "function" && tool.name === item.name)?.parameters;
  const schema = tool ?? handoffs.find((handoff) => handoff.toolName === item.name)?.inputJsonSchema;
  if (schema === undefined) return item;
  // Not each model tells how the turn ended. Nothing that is open is closed, so what was cut off is not complete.
  const finishReason = raw?.choices?.[0]?.finish_reason ?? raw?.incomplete_details?.reason ?? "tool_calls";
  const mended = mendArguments(item.arguments, { finishReason, schema });
  return mended.isComplete ? { ...item, arguments: mended.text } : item;
}
