/** For Node: the module is read from its file when it is first needed. */

import { readFileSync } from "node:fs";

import { coreUrl } from "./core-here.js";
import { found } from "./engine.js";

found(() => new WebAssembly.Module(readFileSync(coreUrl())), false);

export * from "./core.js";
