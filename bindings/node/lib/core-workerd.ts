/** For workers whose host compiles modules that are imported. */

// @ts-expect-error: the host makes a module of the file.
import module from "../wiremend-core.wasm";

import { found } from "./engine.js";

found(() => module, false);

export * from "./core.js";
