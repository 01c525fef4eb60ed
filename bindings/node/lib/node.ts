/** For Node: the module is read from its file when it is first needed. */

import { readFileSync } from "node:fs";

import { found } from "./engine.js";
import { moduleUrl } from "./here.js";

found(() => new WebAssembly.Module(readFileSync(moduleUrl())), true);

export * from "./index.js";
