/** What comes of a text. */

import { MendError, refusal, Refused, type Refusing } from "./errors.js";

/** How mending ended. Of calls: `whole`, `repaired`, `cut` or `refused`. */
export type Outcome =
  | "unchanged" | "repaired" | "closed" | "cut" | "none" | "invalid" | "overflow" | "abandoned" | "whole" | "refused";

/** What a repair assumes. */
export type Risk = "exact" | "likely" | "lossy" | "guess";

/** One change that it took to make a text valid JSON, and its value fit a schema. */
export interface Repair {
  /** What was wrong: a code of the list of repairs or rules, such as `single-quote`. */
  readonly kind: string;
  readonly risk: Risk;
  /** Where the text that was replaced begins: in a string, as it counts; in bytes, and in what arrived in chunks, bytes. */
  readonly start: number;
  readonly end: number;
  /** The text that was replaced. Missing if it arrived in chunks, which are not kept. */
  readonly before?: string;
  /** The text instead. */
  readonly after: string;
  /** Where in the value, such as `$.a[0]`. */
  readonly path: string;
}

/** One way to read a broken text. */
export interface Reading {
  /** What its repairs cost together, in hundredths of a comment that is dropped. */
  readonly cost: number;
  /** What it makes of the text: JSON. */
  readonly text: string;
  readonly repairs: readonly Repair[];
}

/** What is wrong with a value, and where. */
export interface Issue {
  readonly code: string;
  readonly path: string;
  readonly pointer: string;
  readonly expected: string;
  readonly received: string;
  readonly hint?: string;
  readonly message: string;
}

/** What the module says of a text. */
export interface Said {
  outcome: Outcome;
  json?: number;
  complete: boolean;
  text?: string | null;
  risk?: Risk;
  cutAt?: string | null;
  doubt?: string | null;
  repairs?: Repair[];
  unlisted?: boolean;
  issues?: Issue[];
  rules?: string[];
  forModel?: string;
  raw?: string;
}

/** A JSON text, and its value once that is asked for. */
export class Result<Value = any> implements Refusing {
  /** How it ended. */
  readonly outcome: Outcome;
  /** Whether nothing is missing: then there is no `error`. A call may be run only if it is complete. */
  readonly isComplete: boolean;
  /** The JSON text. `undefined` if there is none, and of a call that may not be run. */
  readonly text: string | undefined;
  /** The highest risk among the repairs. */
  readonly risk: Risk | undefined;
  /** Where in the value it was cut off, such as `$.a[0]`, if it was. */
  readonly cutAt: string | undefined;
  #value: { is: unknown } | undefined;
  #repairs: readonly Repair[] | (() => readonly Repair[]);

  /** @internal */
  constructor(said: Said, text: string | undefined, list?: () => readonly Repair[]) {
    this.outcome = said.outcome;
    this.isComplete = said.complete;
    this.text = text;
    this.#repairs = said.unlisted === true && list !== undefined ? list : (said.repairs ?? []);
    this.risk = said.risk;
    this.cutAt = said.cutAt ?? undefined;
  }

  /** The repairs, in order, listed when they are first asked for. If there is no text, the ones that were needed. */
  get repairs(): readonly Repair[] {
    if (typeof this.#repairs === "function") this.#repairs = this.#repairs();
    return this.#repairs;
  }

  /** The value of the text, built once. Throws `error` if there is no text. */
  get value(): Value {
    if (this.text === undefined) throw this.error;
    this.#value ??= { is: JSON.parse(this.text) };
    return this.#value.is as Value;
  }

  /** The error that says why it is not complete. `undefined` if it is. */
  get error(): MendError | undefined {
    return this.isComplete ? undefined : refusal(this);
  }

  toJSON(): unknown {
    return { outcome: this.outcome, text: this.text, repairs: this.repairs };
  }
}

/** The text of an answer: what came, what follows its JSON, or none. */
export function textOf(said: Said, came: unknown, follows: string | undefined): string | undefined {
  if (said.json === 1 && typeof came === "string") return came;
  return said.json === 0 ? undefined : follows;
}

/** The result of mending a text. */
export class Mended extends Result {}

/** The result of fitting a text to a schema. Its `repairs` are all changes: to the text and to the value. */
export class Fitted<Value = any> extends Result<Value> {
  /** What is wrong with the value. Empty if it fits. */
  readonly issues: readonly Issue[];
  /** The codes of the rules that were applied, or that could have been if the value does not fit. */
  readonly rules: readonly string[];
  /** What is wrong, for the model: one issue a line. */
  readonly forModel: string;

  /** @internal */
  constructor(said: Said, text: string | undefined) {
    super(said, text);
    this.issues = said.issues ?? [];
    this.rules = said.rules ?? [];
    this.forModel = said.forModel ?? "";
  }
}

/** The arguments of a call, mended. Its `repairs` are without what a schema changed. */
export class MendedArguments extends Result {
  /** The arguments as they came. */
  readonly raw: string;
  /** What is wrong with them, if they do not fit the schema. */
  readonly issues: readonly Issue[];
  /** Why they are not complete, although they may look so: a code, such as `unclean-stop`. */
  readonly doubt: string | undefined;

  /** @internal */
  constructor(said: Said, text: string | undefined, list?: () => readonly Repair[]) {
    super(said, text, list);
    this.raw = said.raw ?? "";
    this.issues = said.issues ?? [];
    this.doubt = said.doubt ?? undefined;
  }
}

interface CallSaid extends Said {
  number: number;
  choice: number;
  kind: "function" | "server" | "custom";
  id: string | null;
  name: string;
  dialect: string | null;
  words: boolean;
}

/** A call of a response that has ended. Its repairs are relative to `raw`. */
export class Call extends MendedArguments {
  /** Its number in the response, from 0. */
  readonly number: number;
  /** The choice or message that it belongs to. */
  readonly choice: number;
  /** `function`, `server` for a tool of the provider, or `custom` for one that takes free text. */
  readonly kind: "function" | "server" | "custom";
  readonly id: string | undefined;
  /** The name of the tool. */
  readonly name: string;
  /** The dialect in which it was found in a text. */
  readonly dialect: string | undefined;
  #words: boolean;

  /** @internal */
  constructor(said: CallSaid) {
    super(said, said.text ?? undefined);
    this.number = said.number;
    this.choice = said.choice;
    this.kind = said.kind;
    this.id = said.id ?? undefined;
    this.name = said.name;
    this.dialect = said.dialect ?? undefined;
    this.#words = said.words;
  }

  override get value(): any {
    return this.#words && this.text !== undefined ? this.text : super.value;
  }
}

interface FittedCallSaid {
  call: CallSaid;
  check: FittedCall["check"];
  tool?: string;
  nearest?: string | null;
  fitted?: Said;
}

/** A call of a response, and its arguments as they fit the schema of its tool. */
export class FittedCall {
  /** The call itself. */
  readonly call: Call;
  /** The name of the tool: the declared one, if the call means that. */
  readonly name: string;
  /** What was checked: `unknown` for a tool that does not exist, `unchecked` for one without a schema. */
  readonly check: "fitted" | "incomplete" | "unknown" | "unchecked";
  /** The declared tool with the most similar name, if the tool does not exist. */
  readonly nearest: string | undefined;
  /** The result of fitting the arguments. */
  readonly fitted: Fitted | undefined;

  /** @internal */
  constructor(said: FittedCallSaid) {
    this.call = new Call(said.call);
    this.name = said.tool ?? said.call.name;
    this.check = said.check;
    this.nearest = said.nearest ?? undefined;
    this.fitted = said.fitted && new Fitted(said.fitted, said.fitted.text ?? undefined);
  }

  /** Whether it may be run. */
  get isComplete(): boolean {
    return this.fitted?.isComplete === true;
  }

  /** The arguments as JSON text, if it may be run. */
  get text(): string | undefined {
    return this.isComplete ? this.fitted?.text : undefined;
  }

  /** The arguments. Throws `error` if the call may not be run. */
  get value(): any {
    if (!this.isComplete) throw this.error;
    return this.fitted?.value;
  }

  /** Why it may not be run. */
  get error(): MendError | undefined {
    if (this.isComplete) return undefined;
    if (this.check === "fitted") return this.fitted?.error;
    if (this.check === "incomplete") return this.call.error ?? refusal(this.call);
    if (this.check === "unchecked") {
      return new Refused(`the tool '${this.name}' has no schema`, this.call, undefined, `The tool ${this.name} cannot be called.`);
    }
    const nearest = this.nearest === undefined ? "" : ` Did you mean ${this.nearest}?`;
    const forModel = `There is no tool called ${this.name}.${nearest} Call one of the tools that were declared.`;
    return new Refused(`there is no tool called '${this.name}'`, this.call, undefined, forModel);
  }
}

/** An object in the text of a response. */
export class FoundObject extends Result {
  /** Its number, from 0. */
  readonly number: number;
  /** Why it is not complete, although it may look so. */
  readonly doubt: string | undefined;

  /** @internal */
  constructor(said: Said & { number: number }) {
    super(said, said.text ?? undefined);
    this.number = said.number;
    this.doubt = said.doubt ?? undefined;
  }
}

interface FoundCallSaid extends Said {
  name: string;
  id: string | null;
  raw: string;
  dialect: string;
  known: boolean;
  inReasoning: boolean;
  start: number | null;
  end: number | null;
}

/** A call that was found in a text. */
export class FoundCall extends Result {
  readonly name: string;
  readonly id: string | undefined;
  /** The arguments as the model wrote them. */
  readonly raw: string;
  /** The name of the dialect in which it is written. */
  readonly dialect: string;
  /** Whether the tool is known. `true` if no tools were given. */
  readonly known: boolean;
  /** Whether it is a draft in the reasoning of the model, and no call. */
  readonly inReasoning: boolean;
  /** Where it begins and ends in the text, with its markers. */
  readonly span: readonly [number, number] | undefined;

  /** @internal */
  constructor(said: FoundCallSaid) {
    super({ ...said, complete: said.text !== null }, said.text ?? undefined);
    this.name = said.name;
    this.id = said.id ?? undefined;
    this.raw = said.raw;
    this.dialect = said.dialect;
    this.known = said.known;
    this.inReasoning = said.inReasoning;
    this.span = said.start === null || said.end === null ? undefined : [said.start, said.end];
  }
}

/** What was found in a text: calls, and the text around them. */
export interface FoundCalls {
  /** The calls, in order. */
  readonly calls: readonly FoundCall[];
  /** The text outside of calls and reasoning. */
  readonly text: string;
  /** The content of the blocks of reasoning. */
  readonly reasoning: string;
  /** The names of tools that do not exist, each with the nearest one that does. */
  readonly unknown: readonly (readonly [string, string | null])[];
}
