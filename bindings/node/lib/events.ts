/** Responses, while they arrive. */

import { Kept, Op, run, type Text } from "./engine.js";
import { Call, FittedCall, Fitted, FoundObject, type Issue, type Outcome, type Repair } from "./results.js";
import { chunksOf, type Source } from "./sources.js";
import { schemaOf, toolsOf, type FindOptions, type MendingOptions, type Policy, type SchemaLike, type Schema, type ToolsLike } from "./texts.js";

interface Placed {
  readonly choice: number;
  readonly block: number;
  readonly part: number;
}

/** The events of a response, in the order of its bytes: `switch (event.type)` tells them apart. */
export type Event =
  /** More text. `choice`, `block` and `part` say which one it belongs to. */
  | ({ readonly type: "text" | "reasoning" | "refusal"; readonly text: string } & Placed)
  /** All text of the block so far was reasoning. */
  | ({ readonly type: "text-was-reasoning" } & Placed)
  /** A source that the provider cites: its own JSON. */
  | ({ readonly type: "citation"; readonly json: string } & Placed)
  /** A call began. Its id and name are there if the stream has sent them yet. */
  | { readonly type: "call-began"; readonly number: number; readonly name: string | null; readonly id: string | null; readonly choice: number; readonly kind: "function" | "server" | "custom" }
  | { readonly type: "call-named"; readonly number: number; readonly name: string }
  /** More of the arguments of a call, mended. For display only: `call-ended` decides. */
  | { readonly type: "call-fragment"; readonly number: number; readonly json: string }
  /** More of a call that is not JSON, as it came. */
  | { readonly type: "call-raw"; readonly number: number; readonly text: string }
  /** A call ended. Run it only if `call.isComplete`; with tools, see `call-fitted`. */
  | { readonly type: "call-ended"; readonly call: Call }
  /** The same call, with the arguments that fit its tool. Only with tools. */
  | { readonly type: "call-fitted"; readonly call: FittedCall }
  /** Something is wrong with a call that no further text can fix. With the standing `lost`, no rule can either. */
  | { readonly type: "call-issue" | "object-issue"; readonly number: number; readonly issue: Issue; readonly standing: string }
  /** A call in the text repeats an earlier one, so it is none. */
  | { readonly type: "call-restated"; readonly number: number; readonly name: string }
  /** A call in the text names a tool that does not exist, so it is text, which follows. */
  | { readonly type: "unknown-tool"; readonly name: string; readonly nearest: string | null }
  | ({ readonly type: "object-began"; readonly number: number } & Placed)
  | { readonly type: "object-fragment"; readonly number: number; readonly json: string }
  | { readonly type: "object-raw"; readonly number: number; readonly text: string }
  | { readonly type: "object-ended"; readonly object: FoundObject }
  /** The result of fitting an object, or a text without one, to the schema. Only with a schema. */
  | { readonly type: "object-fitted"; readonly fitted: Fitted | undefined; readonly number: number | null; readonly isComplete: boolean }
  /** Something was lost, damaged or contradicted: no call that is open here is complete. */
  | { readonly type: "doubted"; readonly doubt: string }
  /** An envelope was broken JSON, and was mended before it was read. */
  | { readonly type: "envelope-mended"; readonly outcome: Outcome; readonly repairs: readonly Repair[] }
  /** An error inside the response. */
  | { readonly type: "error"; readonly kind: string; readonly message: string; readonly code: string | null; readonly errorType: string | null }
  /** A choice or message finished. `original` is the provider's word. */
  | { readonly type: "finish"; readonly reason: string; readonly choice: number; readonly original: string }
  | { readonly type: "usage"; readonly input: number | null; readonly output: number | null; readonly cached: number | null; readonly reasoning: number | null }
  | { readonly type: "format-detected"; readonly format: string }
  | { readonly type: "framing-detected"; readonly framing: string }
  | { readonly type: "keep-alive" }
  | { readonly type: "oversize"; readonly limit: number }
  /** The payload in which the stream was cut off, as it came. */
  | { readonly type: "unfinished"; readonly text: string }
  /** The stream ended: the last event. */
  | { readonly type: "ended"; readonly outcome: "complete" | "cut" | "error" | "lossy" | "overflow" | "unrecognised"; readonly isComplete: boolean };

export interface ReadOptions extends MendingOptions {
  /** The tools of the request: each call is then fitted to its schema (`call-fitted`). */
  tools?: ToolsLike;
  /** What the text of the answer should be: each object in it is then fitted (`object-fitted`). */
  schema?: SchemaLike | Schema;
  /** Where in the text to look for objects. By default they are not looked for. */
  objects?: NonNullable<FindOptions["scope"]>;
  /** Whether to look for calls in the text. Then tools are needed. */
  callsInText?: boolean;
  /** The dialect or model whose calls are looked for in the text. */
  dialect?: string;
  /** The provider's format, if it is not to be recognised. */
  format?: string;
  contentType?: string;
  /** Of objects in the text: `"permissive"` by default. */
  textPolicy?: Policy;
}

/** Reads the body of a response while it arrives, without IO: `feed` each chunk, then `close`. */
export class Reader {
  #kept: Kept;
  // They are compiled, and must live as long as it.
  #uses: unknown[];

  constructor(options: ReadOptions = {}) {
    const { tools, schema, ...rest } = options;
    const own = { tools: tools && toolsOf(tools), schema: schema === undefined ? undefined : schemaOf(schema) };
    const numbers = { tools: own.tools?.kept.number ?? 0, schema: own.schema?.kept.number ?? 0 };
    this.#uses = [own];
    this.#kept = new Kept(run(Op.Reader, 0, { ...rest, ...numbers }, undefined).json);
  }

  /** Reads a chunk of the body. */
  feed(chunk: Text): Event[] {
    return this.#kept.run(Op.Feed, undefined, chunk).json.map(eventOf);
  }

  /** Ends the body. The last event is `ended`. No events when it is called again. */
  close(): Event[] {
    if (!this.#kept.isOpen) return [];
    const events = this.#kept.run(Op.Close).json.map(eventOf);
    this.#kept.drop();
    this.#uses.length = 0;
    return events;
  }
}

function eventOf(said: any): Event {
  switch (said.type) {
    case "call-ended":
      return { type: said.type, call: new Call(said.call) };
    case "call-fitted":
      return { type: said.type, call: new FittedCall(said.call) };
    case "object-ended":
      return { type: said.type, object: new FoundObject(said.object) };
    case "object-fitted":
      return { ...said, fitted: said.fitted === null ? undefined : new Fitted(said.fitted, said.fitted.text ?? undefined) };
    default:
      return said;
  }
}

/**
 * The events of a response, while it arrives. The provider's format is recognised. Leaving the loop closes the source.
 *
 * ```js
 * for await (const event of readEvents(await fetch(url, request), { tools })) {
 *   if (event.type === "text") process.stdout.write(event.text);
 *   if (event.type === "call-fitted" && event.call.isComplete) await run(event.call.name, event.call.value);
 * }
 * ```
 */
export async function* readEvents(source: Source, options?: ReadOptions): AsyncGenerator<Event, void, void> {
  const reader = new Reader(options);
  for await (const chunk of chunksOf(source)) yield* reader.feed(chunk);
  yield* reader.close();
}
