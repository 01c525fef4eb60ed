/** The calls of a turn that arrives in parts, as the AI SDK has them. */

import { mendArguments, type SchemaLike } from "wiremend";

import { Kept, Op } from "../engine.js";
import { schemaOf } from "../texts.js";

/** A part of what a model answers, whole or in a stream. */
export interface Part {
  type: string;
  [member: string]: any;
}

export interface Asked {
  tools?: readonly { type: string; name?: string; inputSchema?: SchemaLike }[];
}

const idOf = (part: Part): string => part.toolCallId ?? part.id;

function schemaFor(part: Part, { tools = [] }: Asked): SchemaLike | undefined {
  return part.providerExecuted ? undefined : tools.find((tool) => tool.type === "function" && tool.name === part.toolName)?.inputSchema;
}

/** The arguments of a call, and what may still become of them. */
class Arriving {
  raw = "";
  /** How much of them has left. */
  left = 0;
  readonly #kept: Kept;

  constructor(readonly schema: SchemaLike) {
    this.#kept = new Kept(schemaOf(schema).kept.run(Op.Arriving).json);
  }

  /** Reads more of them. Returns whether all so far stays as it came. */
  feed(piece: string): boolean {
    this.raw += piece;
    return this.#kept.run(Op.Feed, undefined, piece).json;
  }

  /** All so far leaves. */
  leave(): void {
    this.left = this.raw.length;
  }

  drop(): void {
    this.#kept.drop();
  }
}

/**
 * Lets through what needs no mending, as it comes: also of a call, up to what is broken or does not fit. From there on, the calls
 * wait for the end of the turn, which says whether they may be mended.
 */
export class Calls {
  #waiting: Part[] = [];
  #arriving = new Map<string, Arriving>();
  /** Those of the calls that may not stay as they came. */
  #doubtful = new Set<string>();
  #executed = new Set<string>();

  constructor(readonly asked: Asked) {}

  /** Reads a part, and returns what can leave. */
  read(part: Part): Part[] {
    if (part.type === "finish") return [...this.#mend(part.finishReason), part];
    const id = idOf(part);
    if (part.providerExecuted) this.#executed.add(id);
    if (!/^tool-(call|input)/.test(part.type) || this.#executed.has(id)) return [part];
    this.#waiting.push(part);
    if (this.#stays(part)) this.#doubtful.delete(id);
    else this.#doubtful.add(id);
    if (this.#doubtful.size > 0) return [];
    const leaving = this.#waiting.splice(0);
    for (const left of leaving) this.#arriving.get(idOf(left))?.leave();
    return leaving;
  }

  /** Ends the turn. Without a word for the end, it was cut off: what waits leaves as it came. */
  close(): Part[] {
    for (const arriving of this.#arriving.values()) arriving.drop();
    return this.#waiting.splice(0);
  }

  #stays(part: Part): boolean {
    const arriving = this.#arriving.get(idOf(part));
    const schema = arriving?.schema ?? schemaFor(part, this.asked);
    if (schema === undefined) return true;
    if (part.type === "tool-input-start") this.#arriving.set(idOf(part), new Arriving(schema));
    if (part.type === "tool-input-delta") return arriving?.feed(part.delta) ?? true;
    const whole: string | undefined = part.type === "tool-call" ? part.input : part.type === "tool-input-end" ? arriving?.raw : undefined;
    return whole === undefined || mendArguments(whole, { finishReason: "tool_calls", schema }).text === whole;
  }

  /** What waits, with the calls mended: their pieces are what had left and one more. */
  #mend(finish: string | { unified: string }): Part[] {
    const held = mendCalls(this.#waiting.splice(0), this.asked, finish);
    const rests = new Map<string, string>();
    for (const part of held) {
      const arriving = this.#arriving.get(idOf(part));
      if (part.type !== "tool-call" || arriving === undefined || part.input === arriving.raw) continue;
      // What has left cannot be taken back.
      if (part.input.startsWith(arriving.raw.slice(0, arriving.left))) rests.set(idOf(part), part.input.slice(arriving.left));
    }
    return held.flatMap((part) => {
      const rest = rests.get(idOf(part));
      if (rest === undefined || !/^tool-input-(delta|end)$/.test(part.type)) return [part];
      rests.set(idOf(part), "");
      const piece = rest === "" ? [] : [{ type: "tool-input-delta", id: part.id, delta: rest }];
      return part.type === "tool-input-end" ? [...piece, part] : piece;
    });
  }
}

/** The parts, with the input of each call that may run as it should be. */
export function mendCalls(parts: readonly Part[], asked: Asked, finish: string | { unified: string }): Part[] {
  const finishReason = typeof finish === "string" ? finish : finish.unified;
  return parts.map((part) => {
    const schema = part.type === "tool-call" ? schemaFor(part, asked) : undefined;
    if (schema === undefined) return part;
    const mended = mendArguments(part.input, { finishReason, schema });
    return mended.isComplete ? { ...part, input: mended.text } : part;
  });
}
