/** Mends JSON from language models. For bundlers and pages: `await init()` first. */

import { located } from "./engine.js";
import { moduleUrl } from "./here.js";

located(moduleUrl, true);

export { init, initSync, type ModuleSource, type Text } from "./engine.js";
export { Cut, LimitExceeded, MendError, Refused, SchemaMismatch } from "./errors.js";
export { Reader, readEvents, type Event, type ReadOptions } from "./events.js";
export { Mender, MendTransform } from "./mender.js";
export { Call, Fitted, FittedCall, FoundCall, FoundObject, Mended, MendedArguments, Result, type FoundCalls, type Issue, type Outcome, type Reading, type Repair, type Risk } from "./results.js";
export type { Source } from "./sources.js";
export { find, findCalls, fit, loads, mend, mendArguments, readings, Schema, Tools, type ArgumentsOptions, type CallsOptions, type FindOptions, type LoadsOptions, type MendingOptions, type MendOptions, type Policy, type SchemaLike, type ToolsLike, type ValueOf } from "./texts.js";
export { mendFetch, type Account, type FetchOptions, type Mending, type ToolRule } from "./transport.js";
export { items, partial, type ItemsOptions, type Snapshot } from "./values.js";
