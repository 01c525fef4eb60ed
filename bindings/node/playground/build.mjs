// Puts the page into one file, which works from a disk: `node playground/build.mjs`, which `build.sh` runs; to
// `playground/wiremend.html`.
//
// Scripts are modules at data URLs, which an import map names, and the module is packed and written in base64.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const own = (path) => new URL(path, import.meta.url);
const esm = own("../dist/esm/");
const names = readdirSync(esm).filter((name) => name.endsWith(".js") && !/^(node|workerd|core.*)\.js$/.test(name));
const url = (code) => `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
const imports = Object.fromEntries(
  names.map((name) => [`wiremend/${name.slice(0, -3)}`, url(readFileSync(new URL(name, esm), "utf8").replace(/from "\.\/([a-z]+)\.js"/g, 'from "wiremend/$1"'))]),
);
const module = gzipSync(readFileSync(own("../dist/wiremend.wasm")), { level: 9 }).toString("base64");
const parts = [
  `<script type="importmap">${JSON.stringify({ imports })}</script>`,
  `<script type="text/plain" id="module">${module}</script>`,
  `<script type="module" src="${url(readFileSync(own("play.js"), "utf8"))}"></script>`,
];
const page = readFileSync(own("page.html"), "utf8").replace("<!-- modules -->", () => parts.join("\n"));
writeFileSync(own("wiremend.html"), page);
