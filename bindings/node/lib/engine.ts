/** The module, and how it is called. */

/** What the module exports: `src/abi.rs`. */
interface Exports {
  memory: WebAssembly.Memory;
  wiremend_seed(low: number, high: number): void;
  wiremend_room(length: number): number;
  wiremend_call(operation: number, object: number, options: number, text: number): number;
  wiremend_answer(): number;
  wiremend_length(): number;
}

/** What a module can be loaded from. */
export type ModuleSource = WebAssembly.Module | BufferSource | Response | string | URL | Promise<WebAssembly.Module | Response | BufferSource>;

/** The numbers of operations: `src/host.rs`. */
export const enum Op {
  Drop = 0,
  Mend = 1,
  Fit = 2,
  Arguments = 3,
  Calls = 4,
  Schema = 5,
  Tools = 6,
  Mender = 7,
  Growing = 8,
  Reader = 9,
  Exchanges = 10,
  Request = 11,
  Pass = 12,
  Read = 13,
  Answer = 14,
  Readings = 15,
  Arriving = 16,
  Feed = 20,
  Close = 21,
  Changes = 22,
  Stop = 23,
  BeginStream = 24,
  Account = 25,
}

const encoder = new TextEncoder();
// A mark at the beginning of a text is a part of it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

let current: Exports | undefined;
let compiled: WebAssembly.Module | undefined;
let started: Promise<void> | undefined;
let load: (() => WebAssembly.Module) | undefined;
let url: (() => URL) | undefined;
let view = new Uint8Array();

/** Counts instances: objects of an earlier one are gone. */
let generation = 0;

function start(module: WebAssembly.Module): Exports {
  const made = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  const seed = crypto.getRandomValues(new Uint32Array(2));
  made.wiremend_seed(seed[0]!, seed[1]!);
  compiled = module;
  generation += 1;
  view = new Uint8Array(made.memory.buffer);
  current = made;
  return made;
}

/** Says where a module is found when it is first needed. One that is whole is preferred. */
export function found(where: () => WebAssembly.Module, isWhole: boolean): void {
  if (isWhole || load === undefined) load = where;
}

/** The same of its file. */
export function located(where: () => URL, isWhole: boolean): void {
  if (isWhole || url === undefined) url = where;
}

/**
 * Starts the module that is given. Doing so again is harmless.
 *
 * For workers whose host compiles modules: `import module from "wiremend/wiremend.wasm"; initSync(module)`.
 */
export function initSync(module: WebAssembly.Module | BufferSource): void {
  if (current === undefined) {
    start(module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module));
  }
}

/**
 * Loads the module and starts it: from beside this file, or from what is given. Doing so again is harmless.
 *
 * Node needs it only to start at another moment than the first use.
 */
export function init(source?: ModuleSource): Promise<void> {
  if (current !== undefined) return Promise.resolve();
  started ??= fetched(source).then(
    (module) => initSync(module),
    (error: unknown) => {
      started = undefined;
      throw error;
    },
  );
  return started;
}

async function fetched(source?: ModuleSource): Promise<WebAssembly.Module> {
  if (source === undefined && load !== undefined) return load();
  let from = await (source ?? url!());
  if (typeof from === "string" || from instanceof URL) from = await fetch(from);
  if (from instanceof WebAssembly.Module) return from;
  if (!isResponse(from)) return WebAssembly.compile(from);
  if (!from.ok) throw new Error(`the module could not be loaded: ${from.status} ${from.url}`);
  const type = from.headers.get("content-type") ?? "";
  if (type.startsWith("application/wasm") && WebAssembly.compileStreaming !== undefined) return WebAssembly.compileStreaming(from);
  return WebAssembly.compile(await from.arrayBuffer());
}

function isResponse(from: Response | BufferSource): from is Response {
  return typeof Response !== "undefined" && from instanceof Response;
}

function engine(): Exports {
  if (current !== undefined) return current;
  if (compiled !== undefined) return start(compiled);
  if (load !== undefined) return start(load());
  throw new Error("call `await init()` first: the module is not loaded");
}

function memory(from: Exports): Uint8Array {
  if (view.buffer !== from.memory.buffer) view = new Uint8Array(from.memory.buffer);
  return view;
}

/** A text: a string, or its bytes. */
export type Text = string | Uint8Array | ArrayBuffer;

/** The bytes that follow the JSON of an answer. */
export interface Answered {
  json: any;
  bytes: Uint8Array | undefined;
  text: string | undefined;
}

/** Runs an operation. What is answered after the JSON is copied as bytes, or is text. */
export function run(operation: Op, object: number, options: object | undefined, text: Text | undefined, as: "bytes" | "text" = "text"): Answered {
  const own = engine();
  const head = options === undefined ? "" : JSON.stringify(options);
  const source = text instanceof ArrayBuffer ? new Uint8Array(text) : text;
  if (source !== undefined && typeof source !== "string" && !(source instanceof Uint8Array)) {
    throw new TypeError("a text is a string, or bytes");
  }
  // A unit of UTF-16 is at most three bytes.
  const size = source === undefined ? 0 : typeof source === "string" ? source.length * 3 : source.length;
  let length: number;
  let room: number;
  try {
    room = own.wiremend_room(head.length * 3 + size);
    const bytes = memory(own);
    const headed = head === "" ? 0 : encoder.encodeInto(head, bytes.subarray(room, room + head.length * 3)).written;
    const from = room + headed;
    let texted = 0;
    if (typeof source === "string") {
      texted = source === "" ? 0 : encoder.encodeInto(source, bytes.subarray(from, from + size)).written;
    } else if (source !== undefined) {
      bytes.set(source, from);
      texted = size;
    }
    length = own.wiremend_call(operation, object, headed, texted);
  } catch (error) {
    // The instance may be anywhere: the next call begins with another one.
    if (current === own) current = undefined;
    throw error;
  }
  const at = own.wiremend_answer();
  const end = at + own.wiremend_length();
  const bytes = memory(own);
  if (length < 0) throw new TypeError(decoder.decode(bytes.subarray(at, end)));
  const json = length === 0 ? undefined : JSON.parse(decoder.decode(bytes.subarray(at, at + length)));
  const rest = bytes.subarray(at + length, end);
  if (as === "bytes") return { json, bytes: rest.slice(), text: undefined };
  return { json, bytes: undefined, text: decoder.decode(rest) };
}

// Some workers have none: there, what is closed is given back, and what is let go stays.
const kept = typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<{ number: number; of: number }>(drop);

function drop({ number, of }: { number: number; of: number }): void {
  if (of === generation && current !== undefined) run(Op.Drop, number, undefined, undefined);
}

/** An object that the module keeps. */
export class Kept {
  #number: number;
  #of: number;

  constructor(number: number) {
    this.#number = number;
    this.#of = generation;
    kept?.register(this, { number, of: generation }, this);
  }

  get number(): number {
    if (this.#number === 0 || this.#of !== generation) throw new Error("it was closed");
    return this.#number;
  }

  get isOpen(): boolean {
    return this.#number !== 0 && this.#of === generation;
  }

  /** Gives back what it holds. */
  drop(): void {
    if (this.#number === 0) return;
    kept?.unregister(this);
    drop({ number: this.#number, of: this.#of });
    this.#number = 0;
  }

  run(operation: Op, options?: object, text?: Text, as: "bytes" | "text" = "text"): Answered {
    return run(operation, this.number, options, text, as);
  }
}
