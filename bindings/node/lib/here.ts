/** Where the module is: beside `dist/esm`, from which bundlers take it. `build.sh` writes the same for CommonJS. */

// @ts-ignore: CommonJS has no `import.meta`.
export const moduleUrl = (): URL => new URL("../wiremend.wasm", import.meta.url);
