// Every example of docs/node.md, as one program.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { call, withProvider } from "./bodies.js";

test("the page", () =>
  withProvider(async (script) => {
    script.body = call(["{'seats': ", "2}"]);
    const page = readFileSync(new URL("../../../docs/node.md", import.meta.url), "utf8");
    const examples = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
    assert(examples.length >= 9, `${examples.length}`);
    const program = new URL(`page-${process.pid}.mjs`, import.meta.url);
    const head = `import assert from "node:assert/strict";\nconst url = ${JSON.stringify(`${script.url}/v1/chat/completions`.replace("/chat/completions", ""))};\n`;
    writeFileSync(program, head + examples.join("\n"));
    try {
      await import(program);
    } finally {
      rmSync(program);
    }
  }));
