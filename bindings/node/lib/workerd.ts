/** For workers whose host compiles modules that are imported. */

// @ts-expect-error: the host makes a module of the file.
import module from "../wiremend.wasm";

import { found } from "./engine.js";

found(() => module, true);

export * from "./index.js";
