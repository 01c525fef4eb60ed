/** Whole texts. */

import { Kept, Op, run, type Answered, type Text } from "./engine.js";
import { Fitted, FoundCall, Mended, MendedArguments, textOf, type FoundCalls, type Reading, type Repair, type Risk, type Said } from "./results.js";

/** Which repairs are allowed: none, those up to a risk, those of calls, or all. */
export type Policy = "strict" | "conservative" | "permissive" | Risk;

/** How repairs are made. */
export interface MendingOptions {
  /** By default `"permissive"`, and of calls `"conservative"`. */
  policy?: Policy;
  /** Codes of repairs that are not allowed. */
  without?: readonly string[];
  /** The deepest nesting: 127 by default. */
  depth?: number;
}

export interface MendOptions extends MendingOptions {
  /** What becomes of several documents: an array of all by default. */
  documents?: "array" | "first" | "last" | "error";
  /** Whether the cheapest reading is searched for where a repair has a rival: `true` by default, as in the command. */
  search?: boolean;
}

export interface FindOptions extends MendOptions {
  /** Where to look: `"best"` by default. */
  scope?: "all" | "best" | "fenced" | "first" | "last" | "whole";
}

export interface CallsOptions extends MendingOptions {
  /** The tools of the request. */
  tools?: ToolsLike;
  /** The name of a dialect, or of a model. */
  dialect?: string;
  /** Whether the text was cut off. */
  cut?: boolean;
}

/** A JSON Schema; or a schema of zod 4 or another library that gives one of itself. */
export type SchemaLike = object | boolean;

/** The type of what fits a schema of zod. Of a JSON Schema it is not known. */
export type ValueOf<Like> = Like extends { readonly _zod: { readonly output: infer Value } } ? Value : any;

/** The tools of a request, in the shape of any provider. */
export type ToolsLike = readonly object[] | Tools;

/** A JSON Schema, compiled. */
export class Schema {
  /** @internal */
  readonly kept: Kept;

  /** Compiles a schema. `fit` does so once for each object that it is given. */
  constructor(schema: SchemaLike) {
    this.kept = new Kept(run(Op.Schema, 0, undefined, JSON.stringify(jsonSchemaOf(schema))).json);
  }

  /** Mends a text, and makes its value fit. */
  fit(text: Text, options?: FindOptions): Fitted {
    const { json, text: follows } = this.kept.run(Op.Fit, { ...options, string: typeof text === "string" }, text);
    return new Fitted(json, textOf(json, text, follows));
  }
}

/** The tools of a request, compiled. */
export class Tools {
  /** @internal */
  readonly kept: Kept;

  constructor(tools: readonly object[]) {
    this.kept = new Kept(run(Op.Tools, 0, undefined, JSON.stringify(tools)).json);
  }
}

function jsonSchemaOf(schema: SchemaLike): unknown {
  if (typeof schema === "boolean") return schema;
  const own = schema as { toJSONSchema?: unknown; "~standard"?: { jsonSchema?: { input?: unknown } } };
  if (typeof own.toJSONSchema === "function") return own.toJSONSchema();
  const input = own["~standard"]?.jsonSchema?.input;
  if (typeof input === "function") return input({ target: "draft-2020-12" });
  if (own["~standard"] !== undefined) {
    throw new TypeError("this schema gives no JSON Schema of itself: pass that, such as z.toJSONSchema(schema)");
  }
  return schema;
}

const schemas = new WeakMap<object, Schema>();
const registries = new WeakMap<object, Tools>();

/** @internal */
export function schemaOf(schema: SchemaLike | Schema): Schema {
  if (schema instanceof Schema) return schema;
  if (typeof schema === "boolean") return new Schema(schema);
  return known(schemas, schema, () => new Schema(schema));
}

/** @internal */
export function toolsOf(tools: ToolsLike): Tools {
  return tools instanceof Tools ? tools : known(registries, tools, () => new Tools(tools));
}

function known<T extends { kept: Kept }>(all: WeakMap<object, T>, key: object, make: () => T): T {
  const made = all.get(key);
  if (made !== undefined && made.kept.isOpen) return made;
  const fresh = make();
  all.set(key, fresh);
  return fresh;
}

/**
 * Mends a text, and says what was done. Never throws for what a text holds.
 *
 * ```js
 * const mended = mend("{'city': 'Oslo', 'days': None}");
 * mended.text      // '{"city": "Oslo", "days": null}'
 * mended.outcome   // "repaired"
 * ```
 */
export function mend(text: Text, options?: MendOptions): Mended {
  return mended(text, options);
}

/** The same where there may be prose, code fences or reasoning around the JSON. */
export function find(text: Text, options?: FindOptions): Mended {
  return mended(text, { scope: "best", ...options });
}

function mended(text: Text, options?: object): Mended {
  const chosen = { ...options, string: typeof text === "string" };
  const { json, text: follows } = run(Op.Mend, 0, chosen, text);
  return new Mended(json, textOf(json, text, follows), listed(json, text, (text) => run(Op.Mend, 0, { ...chosen, list: true }, text)));
}

/**
 * What lists the repairs of a text: it is mended again, which gives the same. Most callers want a value, and a list with
 * places and paths takes longer than to make it.
 */
function listed(json: Said, text: Text, again: (text: Text) => Answered): (() => readonly Repair[]) | undefined {
  if (json.unlisted !== true) return undefined;
  // Bytes may be written to meanwhile.
  const kept = typeof text === "string" ? text : new Uint8Array(text instanceof ArrayBuffer ? text : text.slice());
  return () => again(kept).json.repairs ?? [];
}

/**
 * The two cheapest readings of a broken text that give different values, the cheapest first: the further the second one is, the
 * surer is the first. `mend` takes the first one if it is cheaper than what a stream reads by a margin, and within the policy;
 * here, any repair may be made.
 *
 * There is none if a text is valid, is in a wrapper (a data URL, lines with marks), is cut off at the first byte of its document,
 * or needs more repairs than a search may make; and only one if nothing else comes near, within 1,000. The first 16,384 places
 * where one reading was preferred to another are compared: in a long text with more of them, a reading that differs only near
 * its end may be missed.
 *
 * ```js
 * readings('["red", "green" blue"]').map(({ cost, text }) => [cost, text])
 * // [[908, '["red", "green", "blue"]'], [1180, '["red", "green\\" blue"]']]
 * ```
 */
export function readings(text: Text, options?: Pick<MendingOptions, "depth">): readonly Reading[] {
  return run(Op.Readings, 0, { ...options, string: typeof text === "string" }, text).json;
}

export interface LoadsOptions extends MendOptions {
  /** Whether the value of a text that was cut off is wanted, too. */
  incomplete?: boolean;
}

/**
 * Takes the place of `JSON.parse`: broken JSON gives the value that was meant. Throws a `MendError` where there is no
 * value to trust.
 */
export function loads(text: Text, options: LoadsOptions = {}): any {
  const { incomplete = false, ...rest } = options;
  if (typeof text === "string") {
    try {
      return JSON.parse(text);
    } catch {
      // It is mended.
    }
  }
  const result = mended(text, rest);
  if (!result.isComplete && !(incomplete && result.text !== undefined)) throw result.error;
  return result.value;
}

/**
 * Mends a text, and makes its value fit a schema.
 *
 * ```js
 * fit("{days: '3'}", { properties: { days: { type: "integer" } } }).value   // { days: 3 }
 * ```
 */
export function fit<Like extends SchemaLike | Schema>(text: Text, schema: Like, options?: FindOptions): Fitted<ValueOf<Like>> {
  return schemaOf(schema).fit(text, options);
}

export interface ArgumentsOptions extends MendingOptions {
  /** The provider's word for how the turn ended: `finish_reason`, `stop_reason` … */
  finishReason: string;
  /** The schema of the tool. */
  schema?: SchemaLike | Schema;
}

/**
 * Mends the arguments of a call. Only the value of a call that is complete can be had: `value` of another one throws.
 *
 * ```js
 * mendArguments("{'city': 'Oslo', days: 3}", { finishReason: "tool_calls" }).value   // { city: "Oslo", days: 3 }
 * mendArguments('{"path": "/home/ada', { finishReason: "length" }).isComplete        // false
 * ```
 */
export function mendArguments(raw: Text, options: ArgumentsOptions): MendedArguments {
  const { schema, ...rest } = options;
  if (typeof rest.finishReason !== "string") throw new TypeError("finishReason is needed: the provider's word for how the turn ended");
  const number = () => (schema === undefined ? 0 : schemaOf(schema).kept.number);
  const chosen = { ...rest, string: typeof raw === "string" };
  const { json, text } = run(Op.Arguments, number(), chosen, raw);
  const list = listed(json, raw, (raw) => run(Op.Arguments, number(), { ...chosen, list: true }, raw));
  return new MendedArguments(json, textOf(json, raw, text), list);
}

/** Finds the calls in a text, in the dialect of any model, or in a given one. */
export function findCalls(text: Text, options: CallsOptions = {}): FoundCalls {
  const { tools, ...rest } = options;
  const number = tools === undefined ? 0 : toolsOf(tools).kept.number;
  const { json } = run(Op.Calls, number, { ...rest, string: typeof text === "string" }, text);
  return { ...json, calls: json.calls.map((said: ConstructorParameters<typeof FoundCall>[0]) => new FoundCall(said)) };
}
