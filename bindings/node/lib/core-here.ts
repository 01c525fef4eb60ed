/** Where the small module of `core` is, as in `here.ts`: a bundler takes along what is named in a file. */

// @ts-ignore: CommonJS has no `import.meta`.
export const coreUrl = (): URL => new URL("../wiremend-core.wasm", import.meta.url);
