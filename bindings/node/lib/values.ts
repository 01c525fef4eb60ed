/** Items, and values while they arrive. */

import type { Text } from "./engine.js";
import { refusal, SchemaMismatch, type MendError } from "./errors.js";
import { Reader } from "./events.js";
import { Grown } from "./growing.js";
import { Mender } from "./mender.js";
import type { Outcome } from "./results.js";
import { chunksOf, type Source } from "./sources.js";
import { schemaOf, type MendingOptions, type Schema, type SchemaLike } from "./texts.js";

/**
 * The mended text of the one value of a source. Chunks that are strings are the text of a model; bytes, and a `Response`,
 * are the body of a response, and the value is the first object in its text, or the arguments of its first call.
 */
class Json {
  #mender: Mender | undefined;
  #reader: Reader | undefined;
  #chosen: string | undefined;
  #sent = 0;
  #said: { error: MendError | undefined; cutAt?: string | undefined } | undefined;
  #why: string | undefined;

  constructor(readonly options: MendingOptions) {}

  feed(chunk: Text): string {
    if (this.#mender === undefined && this.#reader === undefined) {
      if (typeof chunk === "string") {
        this.#mender = new Mender(this.options);
      } else {
        const textPolicy = this.options.policy ?? "permissive";
        this.#reader = new Reader({ ...this.options, policy: textPolicy, textPolicy, objects: "first" });
      }
    }
    if (this.#reader !== undefined) return this.#read(this.#reader.feed(chunk));
    const text = this.#mender!.feed(chunk);
    this.#sent += text.length;
    return text;
  }

  close(): string {
    if (this.#reader !== undefined) return this.#read(this.#reader.close());
    const result = (this.#mender ?? new Mender(this.options)).close();
    this.#said = result;
    return result.text?.slice(this.#sent) ?? "";
  }

  #read(events: ReturnType<Reader["feed"]>): string {
    let json = "";
    for (const event of events) {
      switch (event.type) {
        case "call-began":
        case "object-began":
          this.#chosen ??= `${event.type.slice(0, 4)}${event.number}`;
          break;
        case "call-fragment":
        case "object-fragment":
          if (this.#chosen === `${event.type.slice(0, 4)}${event.number}`) json += event.json;
          break;
        case "call-ended":
          if (this.#chosen === `call${event.call.number}`) this.#said = event.call;
          break;
        case "object-ended":
          if (this.#chosen === `obje${event.object.number}`) this.#said = event.object;
          break;
        case "error":
          this.#why =
            event.kind === "provider"
              ? `the provider reported an error: ${event.message.slice(0, 200)}`
              : `the body is no response of a provider (${event.kind}; the text of a model is passed as strings): ${event.message.slice(0, 200)}`;
          break;
        case "ended": {
          const ends: Partial<Record<string, Outcome>> = { cut: "cut", lossy: "cut", overflow: "overflow" };
          this.#said ??= { error: refusal({ outcome: ends[event.outcome] ?? "none", repairs: [], why: this.#why }) };
        }
      }
    }
    return json;
  }

  /** Why the value is not complete. */
  get error(): MendError | undefined {
    return this.#said?.error;
  }

  get cutAt(): string | undefined {
    return this.#said?.cutAt;
  }
}

/** A value that is still arriving. A later snapshot never contradicts it, and never changes it. */
export interface Snapshot {
  /** The value so far. */
  readonly value: any;
  /** The paths of what has ended, such as `$.rows[0]`, and not only because the value was cut off: the same set for all snapshots. */
  readonly closed: ReadonlySet<string>;
  /** Whether it is the whole value: only the last snapshot is. */
  readonly isComplete: boolean;
}

/**
 * The value of a source while it grows: a snapshot for each chunk that changes it, and one that is complete. A `MendError`
 * is thrown after the last one if the value was cut off.
 *
 * ```js
 * for await (const { value, closed } of partial(["{city: 'Os", "lo'}"])) show(value);
 * ```
 */
export async function* partial(source: Source, options: MendingOptions = {}): AsyncGenerator<Snapshot, void, void> {
  const json = new Json(options);
  const grown = new Grown();
  const snapshot = (isComplete: boolean) => ({ value: grown.value, closed: grown.closed, isComplete });
  const feed = (text: string) => {
    const count = grown.closed.size;
    const changed = grown.feed(text);
    if (json.error !== undefined) grown.cutSince(count);
    return changed;
  };
  try {
    for await (const chunk of chunksOf(source)) if (feed(json.feed(chunk))) yield snapshot(false);
    const changed = feed(json.close());
    const error = json.error;
    if (changed || error === undefined) yield snapshot(error === undefined);
    if (error !== undefined) throw error;
  } finally {
    grown.drop();
  }
}

export interface ItemsOptions extends MendingOptions {
  /** What each item should be. One that does not fit throws `SchemaMismatch`. */
  schema?: SchemaLike | Schema;
  /** Called for an item that does not fit, which is left out then. */
  mismatch?: (error: SchemaMismatch) => void;
}

/**
 * The items of one array in the value of a source, each as soon as it is whole. The array is where the JSON Pointer says:
 * `"/rows"`, or `""` for the value itself. After the last item, a `MendError` is thrown if the value was cut off; the item
 * in which it was cut is not handed out.
 *
 * ```js
 * for await (const trip of items(response, "/trips", { schema })) show(trip);
 * ```
 */
export async function* items(source: Source, pointer: string, options: ItemsOptions = {}): AsyncGenerator<any, void, void> {
  if (pointer !== "" && !pointer.startsWith("/")) throw new TypeError(`a JSON Pointer begins with a slash or is empty, not '${pointer}'`);
  const { schema, mismatch, ...rest } = options;
  const fitted = schema === undefined ? undefined : schemaOf(schema);
  const target = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const json = new Json(rest);
  const grown = new Grown();
  let ended: { path: string; value: any }[] = [];
  grown.onWhole = (steps, path, value) => {
    const isItem = steps.length === target.length + 1 && typeof steps.at(-1) === "number";
    if (isItem && target.every((step, at) => String(steps[at]) === step)) ended.push({ path, value });
  };
  function* take(): Generator<any> {
    const taken = ended;
    ended = [];
    const { cutAt } = json;
    for (const { path, value } of taken) {
      // What closed the item in which it was cut is not what the model wrote.
      if (cutAt !== undefined && (cutAt === path || cutAt.startsWith(`${path}.`) || cutAt.startsWith(`${path}[`))) continue;
      if (fitted === undefined) {
        yield value;
        continue;
      }
      const fits = fitted.fit(JSON.stringify(value), { scope: "whole" });
      const error = fits.error;
      if (error === undefined) yield fits.value;
      else if (error instanceof SchemaMismatch) {
        const placed = new SchemaMismatch(error.message, fits, path + (error.place ?? "$").slice(1), error.forModel);
        if (mismatch === undefined) throw placed;
        mismatch(placed);
      } else throw error;
    }
  }
  try {
    for await (const chunk of chunksOf(source)) {
      grown.feed(json.feed(chunk));
      yield* take();
    }
    grown.feed(json.close());
    yield* take();
    if (json.error !== undefined) throw json.error;
  } finally {
    grown.drop();
  }
}
