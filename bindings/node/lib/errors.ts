/** Why there is no value: one tree of errors. */

import type { Issue, Outcome, Repair } from "./results.js";

/** What an error says of a result. */
export interface Refusing {
  outcome: Outcome;
  cutAt?: string | undefined;
  doubt?: string | undefined;
  repairs: readonly Repair[];
  issues?: readonly Issue[];
  why?: string | undefined;
}

/** There is no value, or not a whole one. The subclasses say why. */
export class MendError extends Error {
  /** How it ended, such as `"cut"`. */
  readonly outcome: Outcome;
  /** Where in the value, such as `$.a[0]`, if that is known. */
  readonly place: string | undefined;
  /** A sentence for the model that wrote the text: what is wrong, and what to send instead. */
  readonly forModel: string;
  /** What it is about. What there is of a value that was cut off is in it. */
  readonly result: unknown;
  /** The repairs that were made, or that were needed. */
  readonly repairs: readonly Repair[];
  /** What is wrong with the value, if it does not fit a schema. */
  readonly issues: readonly Issue[];

  constructor(message: string, result: Refusing, place: string | undefined, forModel: string) {
    super(message);
    this.name = new.target.name;
    this.outcome = result.outcome;
    this.place = place;
    this.forModel = forModel;
    this.result = result;
    this.repairs = result.repairs;
    this.issues = result.issues ?? [];
  }
}

/** It was cut off, or may have been. */
export class Cut extends MendError {}

/** It has no JSON, needs a repair that the policy forbids, or calls a tool that does not exist. */
export class Refused extends MendError {}

/** It is deeper or longer than the limits allow. */
export class LimitExceeded extends MendError {}

/** The value does not fit its schema, and no rule makes it fit. */
export class SchemaMismatch extends MendError {}

/** The error for a result that is not complete. */
export function refusal(result: Refusing): MendError {
  const { outcome, doubt, repairs } = result;
  const issues = result.issues ?? [];
  let place = result.cutAt;
  const only = (code: string) => issues.length > 0 && issues.every((issue) => issue.code === code);
  if (outcome === "closed" || outcome === "cut" || outcome === "abandoned" || doubt !== undefined) {
    const at = place === undefined || place === "$" ? "" : ` at ${place}`;
    const message = doubt === undefined ? `it was cut off${at}` : `it was cut off, or may have been (${doubt})`;
    return new Cut(message, result, place, `Your JSON was cut off${at}. Send all of it again, and make it shorter if it does not fit.`);
  }
  if (outcome === "overflow" || issues.some((issue) => issue.code === "overflow")) {
    const message = "it is deeper or longer than the limits allow";
    return new LimitExceeded(message, result, place, "Your JSON is nested too deeply, or too long. Send less of it.");
  }
  const first = issues[0];
  if (first !== undefined && !only("syntax")) {
    const wrong = issues.slice(0, 8).map((issue) => `\n- ${issue.message}`).join("");
    const more = issues.length > 8 ? `\n+${issues.length - 8} more` : "";
    const message = `it does not fit the schema: ${first.message}`;
    return new SchemaMismatch(message, result, first.path, `Your JSON does not fit the schema. Send all of it again, with this put right:${wrong}${more}`);
  }
  if (outcome === "none") {
    const why = result.why ?? "there is no JSON in it";
    return new Refused(why, result, place, "Your answer has no JSON. Answer with JSON, and nothing else.");
  }
  let message = "it is not JSON, and the policy forbids what would make it so";
  const last = repairs.at(-1);
  if (last !== undefined) {
    place = last.path;
    message += `: ${last.kind} at ${place}`;
  }
  const see = place === undefined || place === "$" ? "" : `: see ${place}`;
  return new Refused(message, result, place, `Your answer is not valid JSON${see}. Send all of it again as strict JSON.`);
}
