/** What a response, or the text of a model, can come from. */

import type { Text } from "./engine.js";

/** A response of `fetch`, a stream, or anything that gives chunks. */
export type Source<T = Text> = Response | ReadableStream<T> | AsyncIterable<T> | Iterable<T> | Text;

/** The chunks of a source. Leaving the loop closes it. */
export async function* chunksOf(source: Source): AsyncGenerator<Text, void, void> {
  if (typeof source === "string" || source instanceof Uint8Array || source instanceof ArrayBuffer) {
    yield source;
    return;
  }
  const from = typeof Response !== "undefined" && source instanceof Response ? source.body : source;
  if (from === null) return;
  if (typeof (from as ReadableStream).getReader === "function") {
    const reader = (from as ReadableStream<Text>).getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    } finally {
      // Without effect where the stream has ended.
      reader.cancel().catch(() => {});
    }
    return;
  }
  yield* from as AsyncIterable<Text>;
}
