/** Texts alone, in a module of an eighth of the size: no calls, responses and schemas. For pages: `await init()` first. */

import { coreUrl } from "./core-here.js";
import { located } from "./engine.js";

located(coreUrl, false);

export { init, initSync, type ModuleSource, type Text } from "./engine.js";
export { Cut, LimitExceeded, MendError, Refused } from "./errors.js";
export { Mender, MendTransform } from "./mender.js";
export { Mended, Result, type Outcome, type Reading, type Repair, type Risk } from "./results.js";
export { find, loads, mend, readings, type FindOptions, type LoadsOptions, type MendingOptions, type MendOptions, type Policy } from "./texts.js";
export { partial, type Snapshot } from "./values.js";
