// What the page does. All text of others is set as text, never as markup.

import { find, fit, initSync, Mender, readings } from "wiremend/index";

const EXAMPLES = {
  "a call with the quotes of Python": ["{'title': 'Review of the \"north\" region', 'attendees': ['mara@example.com', 'tomas@example.com',], 'remote': True, 'room': None}", ""],
  "a call that was cut off": ['{"command": "rsync -a --delete /new/ /srv/app/ --exclude "cache", "data" && echo do', ""],
  "an answer in prose and a fence": ["Sure! Here is your trip:\n```json\n{city: 'Oslo', days: '3', // as asked\n tags: ['sea' 'food']}\n```\nEnjoy.", '{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}'],
  "a value that does not fit": ["{city: 'Oslo', days: 'a few'}", '{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}'],
  "a quote that was lost": ['{"from": "Oslo, to: "Bergen"}', ""],
  "a comma in the place of a colon": ['{"id": 1, "city", "Oslo"}', ""],
  "an answer that was begun twice": ['{"name": "Ada", "langs": ["en", {"name": "Ada", "langs": ["en", "fr"]}', ""],
  "lines of JSON, one of them broken": ['{"id": 1}\n{id: 2,}\n{"id": 3}', ""],
  "no JSON": ["if (x) { return 1; }", ""],
};

const at = (id) => document.getElementById(id);
const [text, schema, cut] = ["text", "schema", "cut"].map(at);

function element(name, content, className) {
  const made = document.createElement(name);
  made.textContent = content;
  if (className) made.className = className;
  return made;
}

const tag = (result) => {
  const kind = result.isComplete ? (result.outcome === "unchanged" ? "good" : (result.risk ?? "good")) : "guess";
  const risk = result.risk === undefined ? "" : `, ${result.risk}`;
  return element("span", `${result.outcome}${risk}${result.isComplete ? "" : ": not complete"}`, `tag ${kind}`);
};

const why = (result) => result.error?.message ?? "";

/** The text with its repairs marked in place. */
function marked(whole, repairs) {
  const parts = [];
  let from = 0;
  for (const { kind, risk, start, end, after, path } of repairs) {
    parts.push(document.createTextNode(whole.slice(from, start)));
    const mark = element("mark", start === end ? after : whole.slice(start, end), start === end ? `${risk} added` : risk);
    mark.title = `${kind} (${risk}) at ${path}: ${start === end ? "insert" : `${whole.slice(start, end)} →`} ${after === "" ? "nothing" : after}`;
    parts.push(mark);
    from = end;
  }
  parts.push(document.createTextNode(whole.slice(from)));
  at("marked").replaceChildren(...parts);
  const head = document.createElement("tr");
  head.append(...["repair", "risk", "from", "to", "where"].map((name) => element("th", name)));
  const rows = repairs.slice(0, 100).map(({ kind, risk, before, after, path }) => {
    const row = document.createElement("tr");
    const badge = document.createElement("td");
    badge.append(element("span", risk, `tag ${risk}`));
    const cells = [before ?? "", after, path].map((content) => {
      const cell = document.createElement("td");
      cell.append(element("code", content));
      return cell;
    });
    row.append(element("td", kind), badge, ...cells);
    return row;
  });
  at("repairs").replaceChildren(...(rows.length > 0 ? [head, ...rows] : []));
}

const shown = (value) => (value === undefined ? "" : JSON.stringify(value, undefined, 2));

/** What has arrived up to the cut. */
function arrives() {
  const whole = text.value;
  const here = Math.min(Number(cut.value), whole.length);
  at("at").textContent = `${here} of ${whole.length} characters`;
  const mender = new Mender();
  const left = mender.feed(whole.slice(0, here));
  at("left").replaceChildren(document.createTextNode(left), element("span", mender.completion ?? "", "later"));
  at("value").textContent = shown(mender.snapshot());
  const ended = mender.close();
  at("ends").replaceChildren(tag(ended));
  at("ended").textContent = ended.text ?? why(ended);
}

/** The cheapest reading that gives another value, and what it costs beside the one that was taken. */
function nextBest(whole, mended) {
  const value = (json) => JSON.stringify(JSON.parse(json));
  const found = mended.text === undefined ? [] : readings(whole);
  const isTaken = (reading) => value(reading.text) === value(mended.text);
  const [taken, other] = [found.find(isTaken), found.find((reading) => !isTaken(reading))];
  at("other").hidden = other === undefined;
  if (other === undefined) return;
  at("reading").textContent = other.text.trim();
  const cheaper = taken === undefined || taken.cost > other.cost;
  const beside = taken === undefined ? "" : `, and the one above ${taken.cost}`;
  const margin = cheaper ? " It is not taken: it would have to be cheaper by a margin, which depends on its risks." : "";
  at("costs").textContent = `It costs ${other.cost}${beside}, in hundredths of a comment that is dropped.${margin}`;
}

function wholly() {
  const whole = text.value;
  const mended = find(whole);
  at("outcome").replaceChildren(tag(mended));
  at("mended").textContent = mended.text ?? why(mended);
  marked(whole, mended.repairs);
  nextBest(whole, mended);
  at("fits").hidden = schema.value.trim() === "";
  if (at("fits").hidden) return;
  try {
    const fitted = fit(whole, JSON.parse(schema.value));
    at("fit").replaceChildren(tag(fitted));
    const rules = fitted.rules.length > 0 ? `\n\nrules: ${fitted.rules.join(", ")}` : "";
    at("fitted").textContent = (fitted.text ?? fitted.forModel) + rules;
  } catch (error) {
    at("fit").replaceChildren();
    at("fitted").textContent = String(error.message);
  }
}

function all() {
  cut.max = String(text.value.length);
  wholly();
  arrives();
}

function show([content, wanted], place = content.length) {
  text.value = content;
  schema.value = wanted;
  cut.max = String(content.length);
  cut.value = String(place);
  all();
}

const encoded = (value) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value)))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const decoded = (fragment) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0))));

function fromLink() {
  try {
    const [content, wanted, place] = decoded(location.hash.slice(1));
    show([String(content), String(wanted)], Number(place));
    return true;
  } catch {
    return false;
  }
}

async function begin() {
  const packed = Uint8Array.from(atob(at("module").textContent.trim()), (unit) => unit.charCodeAt(0));
  const unpacked = new Response(packed).body.pipeThrough(new DecompressionStream("gzip"));
  initSync(await WebAssembly.compile(await new Response(unpacked).arrayBuffer()));
  for (const name of Object.keys(EXAMPLES)) at("example").append(element("option", name));
  at("example").addEventListener("change", () => show(EXAMPLES[at("example").value]));
  text.addEventListener("input", () => {
    cut.max = String(text.value.length);
    cut.value = cut.max;
    all();
  });
  schema.addEventListener("input", all);
  cut.addEventListener("input", arrives);
  at("link").addEventListener("click", async () => {
    location.hash = encoded([text.value, schema.value, Number(cut.value)]);
    try {
      await navigator.clipboard.writeText(location.href);
      at("said").textContent = "Copied. The text is in the link, behind its #, which no server gets.";
    } catch {
      at("said").textContent = "The address of this page is the link now.";
    }
  });
  addEventListener("hashchange", fromLink);
  if (!fromLink()) show(Object.values(EXAMPLES)[0]);
  document.documentElement.dataset.ready = "";
}

begin().catch((error) => (at("said").textContent = `The module could not be started: ${error.message}`));
