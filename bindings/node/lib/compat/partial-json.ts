/**
 * Takes the place of `partial-json` 0.1: `import { Allow, parse } from "wiremend/compat/partial-json"`.
 *
 * JSON that was cut off is closed; `allow` says which types of value may be shown in part. JSON that is broken is mended as
 * well, where that package throws or reads something else.
 */

import { mend, type Mended } from "wiremend";

import { Grown, stepOf } from "../growing.js";

const STR = 1, NUM = 2, ARR = 4, OBJ = 8, NULL = 16, BOOL = 32, NAN = 64, INFINITY = 128, _INFINITY = 256;
const INF = INFINITY | _INFINITY;
const SPECIAL = NULL | BOOL | INF | NAN;
const ATOM = STR | NUM | SPECIAL;
const COLLECTION = ARR | OBJ;
const ALL = ATOM | COLLECTION;

/** The types of value that may be shown in part. */
export const Allow = { STR, NUM, ARR, OBJ, NULL, BOOL, NAN, INFINITY, _INFINITY, INF, SPECIAL, ATOM, COLLECTION, ALL };

/** The value was cut off, and its type may not be shown in part. */
export class PartialJSON extends Error {}

/** There is no JSON. */
export class MalformedJSON extends Error {}

/** The value of a text that may be cut off. */
export function parseJSON(jsonString: string, allowPartial: number = ALL): any {
  if (typeof jsonString !== "string") throw new TypeError(`expecting str, got ${typeof jsonString}`);
  if (jsonString.trim() === "") throw new Error(`${jsonString} is empty`);
  const mended = mend(jsonString, { documents: "first" });
  if (mended.text === undefined) throw new MalformedJSON(mended.error?.message);
  const root = [mended.value];
  if (mended.isComplete || (allowPartial & ALL) === ALL) return root[0];
  const closed = wholeIn(jsonString, mended);
  // What is open is the last of what is around it.
  const open: { around: any; key: string | number; path: string }[] = [];
  for (let around: any = root, key: string | number | undefined = 0, path = "$"; key !== undefined && !closed.has(path); ) {
    open.push({ around, key, path });
    around = around[key];
    const inner: string | number | undefined =
      typeof around !== "object" || around === null ? undefined : Array.isArray(around) ? (around.length > 0 ? around.length - 1 : undefined) : Object.keys(around).at(-1);
    if (inner !== undefined) path += stepOf(inner);
    key = inner;
  }
  for (const { around, key } of open.reverse()) {
    const value = around[key];
    if ((kindOf(value) & allowPartial) !== 0) continue;
    if (Array.isArray(around)) around.pop();
    else delete around[key];
  }
  if (root.length === 0) throw new PartialJSON("the value was cut off, and may not be shown in part");
  return root[0];
}

export const parse = parseJSON;

/** The paths of the values that are whole in the text. */
function wholeIn(text: string, { text: json = "", repairs }: Mended): ReadonlySet<string> {
  // Without what was added at its end.
  let came = json.trimEnd();
  for (const { start, end, after } of [...repairs].reverse()) {
    if (start !== end || !came.endsWith(after) || /[^\s,]/.test(text.slice(start))) break;
    came = came.slice(0, came.length - after.length);
  }
  const grown = new Grown();
  // A word at the end may go on, and a number always.
  const [last, mended] = [text, came].map((text) => /[\w.+-]*$/.exec(text)![0]) as [string, string];
  const goes = mended !== "" && (mended.startsWith(last) || last.startsWith(mended)) && !["true", "false", "null", ""].includes(last);
  const open = goes ? came.slice(0, -mended.length) : came;
  grown.feed(open);
  grown.drop();
  return grown.closed;
}

function kindOf(value: unknown): number {
  if (value === null) return NULL;
  if (Array.isArray(value)) return ARR;
  return { object: OBJ, string: STR, boolean: BOOL }[typeof value as string] ?? NUM;
}
