// The playground in a Chromium, from a file: `node long/playground.mjs DIRECTORY`, where npm has installed `playwright-core`. With
// `SHOTS=DIRECTORY`, it also takes the pictures of the documentation.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(join(process.argv[2], "package.json"))("playwright-core");
const page = new URL("../playground/wiremend.html", import.meta.url).href;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });

async function opened(options = {}, address = page) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  const asked = [];
  const errors = [];
  tab.on("request", (request) => asked.push(request.url().slice(0, 40)));
  tab.on("pageerror", (error) => errors.push(error.message));
  tab.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await tab.goto(address);
  await tab.waitForSelector("html[data-ready]");
  return { tab, asked, errors };
}

const text = (tab, id) => tab.locator(`#${id}`).innerText();

const { tab, asked, errors } = await opened();
const examples = await tab.locator("#example option").allTextContents();
assert(examples.length >= 9);
for (const example of examples) {
  await tab.selectOption("#example", example);
  const length = Number(await tab.getAttribute("#cut", "max"));
  const lefts = await tab.evaluate((length) => {
    const [cut, left] = [document.getElementById("cut"), document.getElementById("left")];
    return Array.from({ length: length + 1 }, (_, place) => {
      cut.value = place;
      cut.dispatchEvent(new Event("input"));
      return [left.firstChild?.textContent ?? "", left.textContent];
    });
  }, length);
  lefts.reduce((before, [left, complete]) => {
    assert(left.startsWith(before), `${example}: ${left} takes back ${before}`);
    if (complete.startsWith("{") || complete.startsWith("[")) JSON.parse(complete);
    return left;
  }, "");
}
assert.equal(await text(tab, "mended"), "there is no JSON in it");

await tab.selectOption("#example", examples[2]);
assert.match(await text(tab, "fitted"), /"days": 3/);
assert.match(await text(tab, "fit"), /repaired/i);
assert((await tab.locator("#marked mark").count()) > 5);

// The next best reading, and what it costs: a dearer one, a cheaper one that is not sure enough, and none.
for (const one of ['{"from": "Oslo, to: "Bergen"}', '{"a": 1, "b", "x", "c": 3}']) {
  await tab.fill("#text", one);
  assert.notDeepEqual(JSON.parse(await text(tab, "reading")), JSON.parse(await text(tab, "mended")));
  // What was taken may be dearer than both.
  const [, own, above = Infinity] = /^It costs (\d+)(?:, and the one above (\d+))?, in/.exec(await text(tab, "costs"));
  assert.equal(/It is not taken/.test(await text(tab, "costs")), Number(own) < Number(above), one);
}
for (const one of ['{"from": "Oslo"}', "no JSON"]) {
  await tab.fill("#text", one);
  assert(await tab.locator("#other").isHidden(), one);
}

// With keys alone: to the slider, and back by one.
await tab.focus("#schema");
await tab.keyboard.press("Tab");
while ((await tab.evaluate(() => document.activeElement.id)) !== "cut") await tab.keyboard.press("Tab");
const before = await text(tab, "at");
await tab.keyboard.press("ArrowLeft");
assert.notEqual(await text(tab, "at"), before);

// What is pasted is text.
await tab.fill("#text", "{'<img src=x onerror=document.title=1>': '<script>document.title=1</script>'}");
assert.equal(await tab.locator("pre img, pre script, table img").count(), 0);
assert.equal(await tab.title(), "wiremend: the playground");

// A link carries all of it, and nothing was asked of anybody.
await tab.fill("#text", "{'ä😀': 1, b: [2");
await tab.fill("#schema", "{}");
await tab.locator("#cut").fill("9");
await tab.click("#link");
const address = await tab.evaluate(() => location.href);
const other = await opened({}, address);
assert.equal(await other.tab.inputValue("#text"), "{'ä😀': 1, b: [2");
assert.match(await text(other.tab, "at"), /^9 of/);
const elsewhere = [...asked, ...other.asked].filter((url) => !url.startsWith("file:") && !url.startsWith("data:"));
assert.deepEqual([elsewhere, errors, other.errors], [[], [], []]);

for (const [name, options] of [["light", { colorScheme: "light" }], ["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]]) {
  const { tab } = await opened(options);
  await tab.selectOption("#example", examples[2]);
  await tab.locator("#cut").fill("74");
  const [wide, has] = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert(wide <= has, `${name}: ${wide} > ${has}`);
  if (process.env.SHOTS && name !== "phone") await tab.screenshot({ path: join(process.env.SHOTS, `playground-${name}.png`) });
  if (process.env.SHOTS && name === "phone") await tab.screenshot({ path: join(process.env.SHOTS, "phone.png"), fullPage: true });
}
console.log(`the playground in Chromium ${browser.version()}: ${examples.length} examples`);
await browser.close();
