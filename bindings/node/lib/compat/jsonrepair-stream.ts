/** Takes the place of `jsonrepair/stream`: `import { jsonrepairTransform } from "wiremend/compat/jsonrepair/stream"`. */

import { Transform } from "node:stream";

import { Mender } from "wiremend";

import { JSONRepairError } from "./jsonrepair.js";

/** Mends a text while it passes. Of several documents, the first; what is written is never taken back. */
export function jsonrepairTransform(_options?: { chunkSize?: number; bufferSize?: number }): Transform {
  const mender = new Mender();
  let sent = 0;
  return new Transform({
    transform(chunk: Buffer | string, _encoding, done) {
      const text = mender.feed(chunk);
      sent += text.length;
      done(null, text === "" ? undefined : text);
    },
    flush(done) {
      const mended = mender.close();
      if (mended.text === undefined) done(new JSONRepairError(mended.error?.message ?? "Unexpected character", mended.repairs.at(-1)?.start ?? 0));
      else done(null, mended.text.slice(sent) || undefined);
    },
  });
}
