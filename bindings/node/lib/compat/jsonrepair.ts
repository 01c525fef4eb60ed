/**
 * Takes the place of `jsonrepair` 3: `import { jsonrepair } from "wiremend/compat/jsonrepair"`.
 *
 * It closes what was cut off and gives a text without an account, as that package does: `mend` says more.
 */

import { mend } from "wiremend";

/** The text cannot be repaired. */
export class JSONRepairError extends Error {
  /** Where, in the text as a string counts. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(`${message} at position ${position}`);
    this.position = position;
  }
}

/** The text as JSON. Several documents become an array. Throws a `JSONRepairError` where there is none. */
export function jsonrepair(text: string): string {
  const mended = mend(text);
  if (mended.text !== undefined) return mended.text;
  const last = mended.repairs.at(-1);
  if (text.trim() === "") throw new JSONRepairError("Unexpected end of json string", text.length);
  throw new JSONRepairError(mended.error?.message ?? "Unexpected character", last?.start ?? Math.max(0, text.search(/\S/)));
}
