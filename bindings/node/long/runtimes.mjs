// The package in other runtimes: `node long/runtimes.mjs DIRECTORY`, where npm has installed `node22`, `node24`, `bun`, `deno`
// and `workerd`. Chromium is that of the machine. Each prints its version; what is missing, or answers something else, is an error.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { wanted } from "./program.js";

const own = fileURLToPath(new URL("..", import.meta.url));
const installed = join(process.argv[2], "node_modules");
const folder = mkdtempSync(join(tmpdir(), "runtimes-"));

function ran(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", timeout: 300_000, cwd: own, maxBuffer: 1 << 26, ...options });
  assert.equal(done.status, 0, `${command} ${args.join(" ")}: ${done.error ?? ""}${done.stdout}${done.stderr}`);
  return done.stdout;
}

for (const name of ["node22", "node24"]) {
  const node = join(installed, name, "bin/node");
  const tests = readdirSync(join(own, "tests")).filter((name) => name.endsWith(".test.js")).map((name) => `tests/${name}`);
  const passed = Number(/pass (\d+)/.exec(ran(node, ["--test", "--test-reporter", "tap", ...tests]))[1]);
  assert(passed >= 35, `${passed}`);
  console.log(`node ${ran(node, ["--version"]).trim()}: ${passed} tests`);
}

const script = join(own, "long", `script-${process.pid}.mjs`);
writeFileSync(script, 'import * as wiremend from "wiremend"; import { program } from "./program.js"; console.log(await program(wiremend));');
try {
  for (const [name, args] of [["bun", []], ["deno", ["run", "--no-remote", "--allow-read"]]]) {
    const command = join(installed, ".bin", name);
    assert.equal(ran(command, [...args, script]).trim(), wanted, name);
    console.log(`${name} ${ran(command, ["--version"]).split("\n")[0].replace(/^[a-z]+ /, "")}`);
  }
} finally {
  rmSync(script);
}

const text = async (url) => {
  for (let left = 100; ; left--) {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((later) => setTimeout(later, 100));
    }
  }
};

// A worker whose host compiles the module.
const modules = [
  ["worker.js", "esModule", "", 'import * as wiremend from "./esm/workerd.js"; import { program } from "./program.js"; export default { async fetch() { return new Response(await program(wiremend)); } };'],
  ["program.js", "esModule", join(own, "long/program.js")],
  ["wiremend.wasm", "wasm", join(own, "dist/wiremend.wasm")],
  ...readdirSync(join(own, "dist/esm")).filter((name) => /^[a-z]+\.js$/.test(name) && name !== "node.js" && name !== "ai-sdk.js").map((name) => [`esm/${name}`, "esModule", join(own, "dist/esm", name)]),
];
const listed = modules.map(([name, kind, file, code], at) => {
  writeFileSync(join(folder, `module-${at}`), code ?? readFileSync(file));
  return `(name = "${name}", ${kind} = embed "module-${at}")`;
});
const port = 8_000 + (process.pid % 20_000);
writeFileSync(
  join(folder, "config.capnp"),
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = (compatibilityDate = "2025-01-01", modules = [ ${listed.join(", ")} ])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);`,
);
const worker = spawn(join(installed, ".bin/workerd"), ["serve", join(folder, "config.capnp")], { stdio: "inherit" });
try {
  assert.equal(await text(`http://127.0.0.1:${port}/`), wanted, "workerd");
} finally {
  worker.kill();
}
console.log(ran(join(installed, ".bin/workerd"), ["--version"]).trim());

// A page, which loads the module from beside the script.
const page = '<!doctype html><title>…</title><script type="module">import * as wiremend from "/dist/esm/index.js"; import { program } from "/long/program.js"; await wiremend.init(); await wiremend.init(); document.body.textContent = await program(wiremend);</script><body></body>';
const types = { js: "text/javascript", wasm: "application/wasm" };
const server = createServer((request, response) => {
  try {
    const body = request.url === "/" ? page : readFileSync(join(own, new URL(request.url, "http://localhost").pathname));
    response.writeHead(200, { "content-type": types[request.url.split(".").pop()] ?? "text/html; charset=utf-8" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000", `--user-data-dir=${folder}/browser`];
const browser = spawn("chromium", [...flags, "--dump-dom", `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "pipe", "ignore"], timeout: 120_000 });
let dom = "";
for await (const piece of browser.stdout) dom += piece;
server.close();
assert(dom.includes(wanted), dom);
console.log(ran("chromium", ["--version"]).trim());
rmSync(folder, { recursive: true, force: true });
