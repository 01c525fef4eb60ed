/** Requests and answers, mended as the gateway mends them. */

import { Kept, Op, run } from "./engine.js";

/** Settings for the tools of a name, which may end or begin with `*`. */
export interface ToolRule {
  name: string;
  arguments?: "pass" | "mend" | "fit";
  policy?: "off" | "exact" | "likely" | "lossy";
}

/** The settings of the gateway's section `mending`. */
export interface Mending {
  /** Which repairs are made: `"likely"` by default. */
  policy?: "off" | "exact" | "likely" | "lossy";
  /** Whether valid arguments leave at once, or a call leaves when it has ended, fitted to its tool. */
  mode?: "eager" | "validated";
  arguments?: "pass" | "mend" | "fit";
  /** Whether the text of an answer is mended as JSON: where the request asks for it, always, or never. */
  content?: "asked" | "json" | "text";
  /** `"auto"`, or a dialect or model, whose calls are looked for in the text. `"off"` by default. */
  calls_in_text?: string;
  /** What becomes of a call that was cut off: it leaves as it came, or not at all. */
  cut?: "pass" | "withhold";
  history?: boolean;
  comment?: boolean;
  tool?: ToolRule[];
}

/** What was done to an answer. */
export interface Account {
  /** In a word: `unchanged`, `repaired`, `cut` and so on. */
  readonly verdict: string;
  /** In a line. */
  readonly line: string;
  /** Call by call. */
  readonly account: any;
}

export interface FetchOptions {
  mending?: Mending;
  /** The longest answer that is mended as a whole, in bytes: 8 MiB by default. */
  heldBytes?: number;
  /** Called once for each answer that is read, when it has ended or was left. */
  onAnswer?: (account: Account) => void;
}

type Fetch = (input: any, init?: any) => Promise<Response>;
type Edits = [name: string, lines: string[]][];

// Of the answer: `fetch` has unpacked it, and its length is another one.
const UNPACKED = ["content-encoding", "content-length"];

/**
 * A `fetch` that mends what passes: the history of a request, the arguments of calls, the text where JSON was asked for.
 * What is valid passes byte for byte, and a call that was cut off leaves as it came.
 *
 * ```js
 * const client = new OpenAI({ fetch: mendFetch(fetch) });
 * ```
 */
export function mendFetch<F extends Fetch = typeof fetch>(inner: F = globalThis.fetch as F, options: FetchOptions = {}): F {
  const { mending = {}, heldBytes, onAnswer } = options;
  const held = heldBytes ?? 8 << 20;
  let exchanges: Kept | undefined;

  const mended = async (input: any, init?: any): Promise<Response> => {
    if (exchanges === undefined || !exchanges.isOpen) {
      exchanges = new Kept(run(Op.Exchanges, 0, { mending, heldBytes: held }, undefined).json);
    }
    const isRequest = typeof Request !== "undefined" && input instanceof Request;
    const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
    const method: string = init?.method ?? (isRequest ? input.method : "GET");
    const path = pathOf(isRequest ? input.url : String(input));
    const [number, readsBody] = exchanges.run(Op.Request, { method, path, headers: [...headers] }).json;
    const request = new Kept(number);
    const body = readsBody ? await bodyOf(input, init, isRequest) : undefined;
    const read = request.run(body === undefined ? Op.Pass : Op.Read, undefined, body?.bytes, "bytes");
    request.drop();
    const [exchanged, edits, hasBody] = read.json as [number, Edits, boolean];
    const exchange = new Kept(exchanged);
    // How an answer may be packed is between `fetch` and the server.
    edit(headers, edits.filter(([name]) => name !== "accept-encoding"));
    headers.delete("content-length");
    const sent = hasBody ? { body: read.bytes } : body?.taken === true ? { body: body.bytes } : {};
    const response = await inner(isRequest && Object.keys(sent).length > 0 ? input.url : input, {
      ...(isRequest && Object.keys(sent).length > 0 ? settingsOf(input) : {}),
      ...init,
      method,
      headers,
      ...sent,
    });
    return answered(exchange, response, held, onAnswer);
  };
  return mended as F;
}

/** What a request has besides its body, which a request with another body needs, too. */
function settingsOf(request: Request): RequestInit {
  const { cache, credentials, integrity, keepalive, mode, redirect, referrer, referrerPolicy, signal } = request;
  return { cache, credentials, integrity, keepalive, redirect, referrer, referrerPolicy, signal, ...(mode === "navigate" ? {} : { mode }) };
}

function pathOf(url: string): string {
  try {
    return new URL(url, "http://localhost").pathname;
  } catch {
    return "/";
  }
}

/** The body of a request, if it is text or bytes. `taken` says that it was read and must be sent again. */
async function bodyOf(input: any, init: any, isRequest: boolean): Promise<{ bytes: Uint8Array; taken: boolean } | undefined> {
  const body = init?.body;
  if (typeof body === "string") return { bytes: new TextEncoder().encode(body), taken: false };
  if (body instanceof Uint8Array) return { bytes: body, taken: false };
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body), taken: false };
  if (body === undefined && isRequest && input.body !== null) return { bytes: new Uint8Array(await input.arrayBuffer()), taken: true };
  // A form or a stream is no request for an answer of a model.
  return undefined;
}

function edit(headers: Headers, edits: Edits): void {
  for (const [name, lines] of edits) {
    headers.delete(name);
    for (const line of lines) headers.append(name, line);
  }
}

async function answered(exchange: Kept, response: Response, held: number, onAnswer: FetchOptions["onAnswer"]): Promise<Response> {
  const heads = [...response.headers].filter(([name]) => !UNPACKED.includes(name));
  const [number, treatment] = exchange.run(Op.Answer, { status: response.status, headers: heads }).json as [number, string];
  exchange.drop();
  const answer = new Kept(number);
  if (treatment === "pass" || response.body === null) {
    answer.drop();
    return response;
  }
  const reader = response.body.getReader();
  const first: Uint8Array[] = [];
  let size = 0;
  let whole = treatment === "whole";
  try {
    while (whole && size <= held) {
      const next = await reader.read();
      if (next.done) {
        const pieces = first.map((chunk) => answer.run(Op.Feed, undefined, chunk, "bytes").bytes!);
        pieces.push(answer.run(Op.Close, undefined, undefined, "bytes").bytes!);
        const { headers } = told(answer, onAnswer);
        return madeOf(response, joined(pieces), headers);
      }
      first.push(next.value);
      size += next.value.length;
    }
  } catch (error) {
    answer.run(Op.Stop);
    told(answer, onAnswer);
    throw error;
  }
  if (whole) answer.run(Op.BeginStream);
  whole = false;
  const { headers } = answer.run(Op.Account).json as { headers: Edits };
  const end = (operation: Op): Uint8Array => {
    if (!answer.isOpen) return new Uint8Array();
    const { bytes } = answer.run(operation, undefined, undefined, "bytes");
    told(answer, onAnswer);
    return bytes!;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Until something leaves, the next chunk is read: nobody pulls again otherwise.
      for (let sent = false; !sent; ) {
        let next: { done: boolean; value?: Uint8Array | undefined };
        try {
          next = first.length > 0 ? { done: false, value: first.shift() } : await reader.read();
        } catch (error) {
          const rest = end(Op.Stop);
          if (rest.length > 0) controller.enqueue(rest);
          controller.error(error);
          return;
        }
        const bytes = next.done ? end(Op.Close) : answer.run(Op.Feed, undefined, next.value, "bytes").bytes!;
        if (bytes.length > 0) {
          controller.enqueue(bytes);
          sent = true;
        }
        if (next.done) {
          controller.close();
          return;
        }
      }
    },
    async cancel(reason) {
      // Whoever reads events leaves after the last one, before the end of the body.
      end(Op.Close);
      await reader.cancel(reason);
    },
  });
  return madeOf(response, body, headers);
}

function told(answer: Kept, onAnswer: FetchOptions["onAnswer"]): { headers: Edits } {
  const { headers, ...account } = answer.run(Op.Account).json as Account & { headers: Edits };
  answer.drop();
  onAnswer?.(account);
  return { headers };
}

function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The answer as the client has it. */
function madeOf(response: Response, body: Uint8Array | ReadableStream<Uint8Array>, edits: Edits): Response {
  const headers = new Headers(response.headers);
  for (const name of UNPACKED) headers.delete(name);
  edit(headers, edits);
  const { status, statusText, url, redirected } = response;
  const made = new Response(body as BodyInit, { status, statusText, headers });
  Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
  return made;
}
