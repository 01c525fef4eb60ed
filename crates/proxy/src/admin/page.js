"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SECONDS = 120;
  const SIGNS = { open: "⇣", unchanged: "✓", repaired: "✎", invalid: "!", refused: "⊘", overflow: "▤", cut: "✂" };
  const STOPPED = new Set(["cut", "refused", "overflow", "invalid"]);
  const RISKS = new Set(["exact", "likely", "lossy", "guess"]);

  const at = (id) => document.getElementById(id);
  const [list, detail, state, filter, only] = ["list", "detail", "state", "filter", "only"].map(at);

  // Everything that others have chosen is set as text, by these two.
  function element(tag, classes, ...children) {
    const made = document.createElement(tag);
    if (classes) made.className = classes;
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }
  function drawn(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // What would not be seen, or would reorder what is seen.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  const seen = (text) => text.replace(HIDDEN, (sign) => {
    const code = sign.codePointAt(0);
    return code < 32 ? String.fromCodePoint(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
  const inMark = (text) => seen(text).replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(/^ +$/, (spaces) => "␣".repeat(spaces.length));
  const shortly = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

  const whole = new Intl.NumberFormat("en");
  const plural = (count, word) => `${whole.format(count)} ${word}${count === 1 ? "" : "s"}`;
  const size = (bytes) => (bytes < 1e4 ? `${whole.format(bytes)} B` : bytes < 1e7 ? `${whole.format(Math.round(bytes / 1e3))} kB` : `${whole.format(Math.round(bytes / 1e6))} MB`);
  const long = (micros) => (micros < 1e3 ? `${Math.round(micros)} µs` : micros < 1e5 ? `${(micros / 1e3).toFixed(1)} ms` : micros < 1e6 ? `${Math.round(micros / 1e3)} ms` : `${(micros / 1e6).toFixed(1)} s`);
  const age = (millis) => {
    const minutes = Math.floor(millis / 6e4);
    return minutes < 1 ? `${Math.floor(millis / 1e3)} s` : minutes < 60 ? `${minutes} min` : minutes < 2880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
  };
  const clock = (seconds) => new Date(seconds * 1e3).toTimeString().slice(0, 8);
  const safe = (risk) => (RISKS.has(risk) ? risk : "guess");

  // What is known. The newest answer is the first one.
  let known = { totals: {}, kinds: [], kept: 100 };
  let answers = new Map();
  const seconds = new Map();
  const passing = [];
  let chosen = null;
  let follows = true;
  let paused = false;
  let fresh = true;
  let queued = false;

  function take(news) {
    if (fresh) {
      fresh = false;
      const last = chosen;
      answers = new Map();
      seconds.clear();
      list.replaceChildren();
      rows.clear();
      if (last !== null && news.started !== known.started) chosen = null;
    }
    known = { ...known, ...news };
    known.drift = Date.now() - news.now;
    for (const second of news.seconds) seconds.set(second.time, second);
    for (const time of seconds.keys()) if (time <= news.now / 1e3 - SECONDS) seconds.delete(time);
    for (const stream of news.streams) {
      const answer = answers.get(stream.id);
      if (!answer || answer.open) answers.set(stream.id, { ...stream, open: true, outcome: "open", version: (answer?.version ?? 0) + 1 });
    }
    for (const answer of news.answers.reverse()) answers.set(answer.id, { ...answer, open: false, version: 1e9 });
    const shown = new Set(news.shown);
    for (const [id, answer] of answers) if (answer.open && !shown.has(id)) answers.delete(id);
    const ended = [...answers.values()].filter((answer) => !answer.open).map((answer) => answer.id).sort((a, b) => b - a);
    for (const id of ended.slice(known.kept)) answers.delete(id);
    draw();
  }

  // At most once a frame, and not while paused.
  function draw() {
    if (queued || paused) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      drawTiles();
      drawKinds();
      drawList();
      drawDetail();
      at("version").textContent = `wiremend ${known.version ?? ""}, up ${age(Date.now() - (known.drift ?? 0) - (known.started ?? Date.now()))}`;
    });
  }

  // Tiles and plots.
  const TILES = [
    ["Passing now", "", (all) => whole.format(known.open ?? 0), () => `${plural(known.connections ?? 0, "client")}, ${size(known.held ?? 0)} held`, "line", (second, index) => passing[index] ?? 0],
    ["Answers", "", (all) => whole.format(all.answers ?? 0), () => (known.errors ? plural(known.errors, "error") : "no errors"), "bars", (second) => second.answers],
    ["Calls", "", (all) => whole.format(all.calls ?? 0), (all) => (all.answers ? `${(all.calls / all.answers).toFixed(1)} an answer` : ""), "bars", (second) => second.calls],
    ["Calls repaired", "good", (all) => whole.format(all.repaired ?? 0), (all) => (all.calls ? `${((100 * all.repaired) / all.calls).toFixed(1)} %` : ""), "bars", (second) => second.repaired],
    ["Cut, refused, invalid", "stop", (all) => whole.format(all.stopped ?? 0), () => "never completed", "bars", (second) => second.stopped],
    ["Own work", "", (all) => mean("overhead_us", "answers"), () => "an answer", "line", (second) => ratio(second.overhead_us, second.answers)],
    ["First bytes", "", (all) => mean("first_us", "streams"), () => "of a stream", "line", (second) => ratio(second.first_us, second.streams)],
  ];
  const ratio = (sum, count) => (count > 0 ? sum / count : null);
  function mean(sum, count) {
    let [total, number] = [0, 0];
    for (const second of seconds.values()) [total, number] = [total + second[sum], number + second[count]];
    return number ? long(total / number) : "–";
  }
  const tiles = TILES.map(([name, kind, value, under, shape, of]) => {
    const number = element("span", "");
    const small = element("div", "under");
    const svg = drawn("svg", { viewBox: "0 0 240 26", preserveAspectRatio: "none", role: "img" });
    const tile = element("div", `tile ${kind}`, element("div", "name", name), element("div", "value", number), small, svg);
    at("tiles").append(tile);
    return { name, value, under, shape, of, number, small, svg };
  });
  function drawTiles() {
    const now = Math.floor((Date.now() - (known.drift ?? 0)) / 1e3);
    const times = Array.from({ length: SECONDS }, (_, index) => now - SECONDS + 1 + index);
    for (const tile of tiles) {
      tile.number.textContent = tile.value(known.totals);
      tile.small.textContent = tile.under(known.totals);
      const none = tile.shape === "bars" ? 0 : null;
      const values = times.map((time, index) => (tile.name === "Passing now" ? tile.of(null, index) : seconds.has(time) ? tile.of(seconds.get(time)) : none));
      const most = Math.max(1e-9, ...values.map((value) => value ?? 0));
      const y = (value) => (25 - (23 * value) / most).toFixed(1);
      const marks = [drawn("line", { class: "base", x1: 0, x2: 240, y1: 25.5, y2: 25.5 })];
      if (tile.shape === "bars") {
        const path = values.map((value, index) => (value > 0 ? `M${index * 2} 25.5V${y(value)}h1.5V25.5z` : "")).join("");
        marks.push(drawn("path", { class: "plot bars", d: path }));
      } else {
        const points = values.map((value, index) => (value === null ? null : `${index * 2 + 1} ${y(value)}`)).filter((point) => point !== null);
        if (points.length === 1) points.unshift(`${Number(points[0].split(" ")[0]) - 3} ${points[0].split(" ")[1]}`);
        if (points.length > 0) {
          const [first, last] = [points[0].split(" ")[0], points[points.length - 1].split(" ")[0]];
          marks.push(drawn("path", { class: "plot area", d: `M${first} 25.5L${points.join("L")}L${last} 25.5z` }));
          marks.push(drawn("path", { class: "plot line", d: `M${points.join("L")}` }));
        }
      }
      tile.svg.replaceChildren(...marks);
      const top = tile.name === "Own work" || tile.name === "First bytes" ? long(most) : whole.format(Math.round(most));
      tile.svg.setAttribute("aria-label", `${tile.name}, each of the last 120 seconds; at most ${top}`);
    }
  }
  setInterval(() => {
    passing.push(known.open ?? 0);
    if (passing.length > SECONDS) passing.shift();
    while (passing.length < SECONDS) passing.unshift(0);
    draw();
  }, 1000);

  let drawnKinds = null;
  function drawKinds() {
    if (known.kinds === drawnKinds) return;
    drawnKinds = known.kinds;
    const top = [...known.kinds].sort((a, b) => b.count - a.count).slice(0, 10);
    const most = top.length ? top[0].count : 1;
    const bars = top.map(({ code, risk, count }) => {
      const fill = element("i", "");
      fill.style.width = `${(100 * count) / most}%`;
      return element("li", safe(risk), element("span", "code", code), element("span", "count", whole.format(count)), element("span", "bar", fill));
    });
    at("bars").replaceChildren(...(bars.length ? bars : [element("li", "", "none so far")]));
  }

  // The list.
  const rows = new Map();
  const badge = (outcome) => {
    const sign = element("span", "", SIGNS[outcome] ?? "·");
    sign.setAttribute("aria-hidden", "true");
    return element("span", `badge ${outcome in SIGNS ? outcome : ""}`, sign, outcome === "open" ? "passing" : outcome);
  };
  // Calls, and content that was to be JSON.
  const parts = (answer) => [...answer.calls, ...(answer.contents ?? [])];
  const order = () => [...answers.values()].sort((a, b) => b.open - a.open || b.id - a.id);
  function fits(answer) {
    const which = only.value;
    if (which === "repaired" && !parts(answer).some((part) => part.repairs?.length)) return false;
    if (which === "stopped" && !STOPPED.has(answer.outcome)) return false;
    if (which === "open" && !answer.open) return false;
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = parts(answer).flatMap((part) => [part.tool ?? "content", part.outcome ?? "", ...(part.repairs ?? []).map((repair) => repair.code)]);
    const text = [answer.model, answer.upstream, answer.format ?? "", answer.outcome, ...shown].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  }
  function drawRow(answer) {
    const kept = rows.get(answer.id);
    if (kept && kept.version === answer.version) return kept.node;
    const node = kept?.node ?? element("div", "row");
    node.id = `answer-${answer.id}`;
    node.setAttribute("role", "option");
    const repairs = parts(answer).reduce((sum, part) => sum + (part.repairs ?? []).reduce((count, repair) => count + repair.count, 0), 0);
    const names = answer.calls.slice(0, 2).map((call) => seen(call.tool)).join(", ");
    const more = answer.calls.length > 2 ? ` +${answer.calls.length - 2}` : "";
    const under = element("span", "under");
    if (names) under.append(element("b", "", names), more);
    else if (answer.contents?.length) under.append("JSON content");
    else under.append(answer.open ? "no call yet" : "no call");
    if (repairs) under.append(` · ${plural(repairs, "repair")}`);
    const when = answer.open ? size(answer.bytes) : clock(answer.unix_time);
    node.replaceChildren(element("span", "model", seen(answer.model) || "unknown model"), badge(answer.outcome), under, element("span", "when", when));
    if (answer.open) node.append(element("span", "flow"));
    rows.set(answer.id, { node, version: answer.version });
    return node;
  }
  let visible = [];
  function drawList() {
    const sorted = order();
    visible = sorted.filter(fits);
    const nodes = visible.map(drawRow);
    for (const id of rows.keys()) if (!answers.has(id)) rows.delete(id);
    // Only what is not in its place is moved, so that scrolling and reading go on.
    nodes.forEach((node, index) => {
      if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
    });
    while (list.children.length > nodes.length) list.lastChild.remove();
    const newest = visible.reduce((best, answer) => (best === null || answer.id > best ? answer.id : best), null);
    if (follows || !visible.some((answer) => answer.id === chosen)) chosen = newest;
    for (const answer of visible) rows.get(answer.id).node.setAttribute("aria-selected", String(answer.id === chosen));
    if (chosen !== null && visible.some((answer) => answer.id === chosen)) list.setAttribute("aria-activedescendant", `answer-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
    at("empty").hidden = answers.size > 0;
    const hidden = answers.size - visible.length;
    const unseen = Math.max(0, (known.open ?? 0) - (known.shown ?? []).length);
    at("count").textContent = `${visible.length}${hidden ? `, ${hidden} filtered out` : ""}${unseen ? `, ${whole.format(unseen)} more passing` : ""}`;
  }

  // One answer.
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  // The text that came in pieces: those that stayed, and those that were changed. Null if that is not known.
  function pieces(call) {
    const bytes = encoder.encode(call.came);
    const found = [];
    let [done, left] = [0, ""];
    for (const edit of call.edits) {
      if (edit.start < done || edit.after === undefined) return null;
      if (edit.end > bytes.length) break;
      const same = decoder.decode(bytes.subarray(done, edit.start));
      if (same) found.push({ same });
      found.push({ edit, before: decoder.decode(bytes.subarray(edit.start, edit.end)) });
      left += same + edit.after;
      done = edit.end;
    }
    const rest = decoder.decode(bytes.subarray(done));
    if (rest) found.push({ same: rest });
    left += rest;
    return left.startsWith(call.left) || call.left.startsWith(left) ? found : null;
  }
  function mark(tag, text, edit, index) {
    const node = element(tag, `mark ${safe(edit.risk)}${text ? "" : " gap"}`, inMark(text));
    node.dataset.index = index;
    return node;
  }
  const said = (edit, before, index, count) => [
    `Repair ${index + 1} of ${count}: `, element("code", "", edit.code), ` (${edit.risk}), `,
    element("code", "", before ? shortly(inMark(before)) : "nothing"), " became ", element("code", "", edit.after ? shortly(inMark(edit.after)) : "nothing"),
  ];
  function side(title, waits, ...content) {
    const pre = element("pre", waits ? "waits" : "", ...content);
    pre.tabIndex = 0;
    pre.setAttribute("aria-label", title);
    return element("div", "side", element("h4", "", title), pre);
  }
  function marked(call, found) {
    const edits = found.filter((piece) => piece.edit);
    const line = element("p", "said");
    line.setAttribute("aria-live", "polite");
    let number = -1;
    const [came, left] = [[], []];
    for (const piece of found) {
      if (!piece.edit) {
        came.push(seen(piece.same));
        left.push(seen(piece.same));
        continue;
      }
      number += 1;
      came.push(mark("del", piece.before, piece.edit, number));
      const inserted = mark("ins", piece.edit.after, piece.edit, number);
      inserted.tabIndex = number === 0 ? 0 : -1;
      inserted.setAttribute("aria-label", `${piece.edit.code}, ${piece.edit.risk}: ${piece.before || "nothing"} became ${piece.edit.after || "nothing"}`);
      left.push(inserted);
    }
    const sides = element("div", "sides", side("As the model wrote it", false, ...came), side("As it left", false, ...left));
    const show = (index) => {
      for (const node of sides.querySelectorAll(".mark")) node.classList.toggle("on", node.dataset.index === String(index));
      if (edits[index]) line.replaceChildren(...said(edits[index].edit, edits[index].before, index, edits.length));
    };
    for (const name of ["focusin", "pointerover"]) {
      sides.addEventListener(name, (event) => {
        const index = event.target.closest(".mark")?.dataset.index;
        if (index !== undefined) show(Number(index));
      });
    }
    if (edits.length) line.append("Point at a repair, or press ", element("kbd", "", "n"), ".");
    return [sides, line];
  }
  function map(call) {
    const svg = drawn("svg", { class: "map", viewBox: "0 0 1000 9", preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", `Where the repairs are in ${plural(call.bytes, "byte")}`);
    svg.append(drawn("rect", { class: "track", x: 0, y: 0.5, width: 1000, height: 8, rx: 4 }));
    const scale = 1000 / Math.max(1, call.bytes);
    for (const edit of call.edits) {
      const width = Math.max(5, (edit.end - edit.start) * scale);
      svg.append(drawn("rect", { class: safe(edit.risk), x: Math.min(1000 - width, edit.start * scale), y: 0.5, width, height: 8 }));
    }
    return svg;
  }
  function drawCall(call, open) {
    const bytes = element("span", "size", plural(call.bytes, "byte"));
    const outcome = call.outcome ?? "open";
    const shown = outcome === "none" || outcome === "closed" ? "cut" : outcome;
    const card = element("article", "call", element("h3", "", call.tool === undefined ? "JSON content" : seen(call.tool) || "a call without a name", badge(shown), bytes));
    if (call.issues) card.append(element("p", "note", `${plural(call.issues, "value")} that the schema of the tool does not allow: it left as it is.`));
    if (STOPPED.has(shown) && !call.issues) card.append(element("p", "note", call.tool === undefined ? "It was not completed." : "It was not completed: it must not be run."));
    if (call.repairs?.length) {
      const chips = call.repairs.map((repair) => element("span", `risk ${safe(repair.risk)}`, `${repair.code}${repair.count > 1 ? ` × ${repair.count}` : ""} · ${repair.risk}`));
      card.append(element("div", "chips", ...chips));
    }
    if (call.edits?.length) card.append(map(call));
    if (call.came !== undefined) {
      const found = !open && call.edits?.length ? pieces(call) : null;
      if (found) card.append(...marked(call, found));
      else card.append(element("div", "sides", side("As the model wrote it", open && !call.outcome, seen(call.came)), side(open && !call.outcome ? "As it leaves" : "As it left", open && !call.outcome, seen(call.left))));
    } else if (call.edits?.length) {
      const places = call.edits.slice(0, 24).map((edit) => element("li", "", `byte ${whole.format(edit.start)}: `, element("code", "", edit.code)));
      if (call.edits.length > 24) places.push(element("li", "", `and ${whole.format(call.edits.length - 24)} more`));
      card.append(element("ol", "places", ...places));
    }
    return card;
  }
  let drawnDetail = [null, 0];
  function drawDetail() {
    const answer = answers.get(chosen);
    const [id, version] = drawnDetail;
    const now = answer?.version ?? 0;
    if (id === (answer?.id ?? null) && version === now) return;
    drawnDetail = [answer?.id ?? null, now];
    if (!answer) {
      detail.replaceChildren(element("p", "note", "No answer is selected."));
      return;
    }
    const facts = [
      ["upstream", answer.upstream],
      ["format", answer.format ?? "not known yet"],
      ["status", answer.status || "none yet"],
      ["took", answer.open ? `since ${clock(answer.began / 1e3)}` : long(answer.milliseconds * 1e3)],
      ["first bytes", typeof answer.first_milliseconds === "number" ? long(answer.first_milliseconds * 1e3) : null],
      ["own work", answer.open ? null : long(answer.overhead_microseconds)],
      ["passed", answer.open ? size(answer.bytes) : null],
    ].filter(([, value]) => value !== null);
    const terms = facts.map(([name, value]) => element("div", "", element("dt", "", name), element("dd", "", seen(String(value)))));
    const content = [
      element("h2", "title", seen(answer.model) || "unknown model", badge(answer.outcome)),
      element("dl", "facts", ...terms),
    ];
    if (answer.account) content.push(element("p", "account", `x-wiremend: ${answer.account}`));
    if (answer.history && (answer.history.mended || answer.history.replaced)) {
      content.push(element("p", "note", `In the history of the request, ${plural(answer.history.mended, "call")} repaired and ${plural(answer.history.replaced, "call")} replaced.`));
    }
    content.push(...parts(answer).map((part) => drawCall(part, answer.open)));
    if (!parts(answer).length) content.push(element("p", "note", answer.open ? "No call has begun." : "It has no call."));
    const kept = answer.begun ?? 0;
    if (kept > answer.calls.length) content.push(element("p", "note", `${plural(kept - answer.calls.length, "call")} more.`));
    if (!known.content && parts(answer).length) {
      content.push(element("p", "note", "The arguments are not kept. With ", element("code", "", "record.content"), " they are shown here, side by side."));
    }
    const top = id === answer.id ? detail.scrollTop : 0;
    detail.replaceChildren(...content);
    detail.scrollTop = top;
  }

  // What a user does.
  function choose(id) {
    setFollow(false);
    chosen = id;
    drawList();
    drawDetail();
    rows.get(id)?.node.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    if (!visible.length) return;
    const place = visible.findIndex((answer) => answer.id === chosen);
    choose(visible[Math.min(visible.length - 1, Math.max(0, place + by))].id);
  }
  function setFollow(yes) {
    follows = yes;
    at("follow").setAttribute("aria-pressed", String(yes));
    if (yes) draw();
  }
  function setPaused(yes) {
    paused = yes;
    at("pause").setAttribute("aria-pressed", String(yes));
    say();
    draw();
  }
  function repair(by) {
    const marks = [...detail.querySelectorAll("ins.mark")];
    if (!marks.length) return;
    setFollow(false);
    const place = marks.indexOf(document.activeElement);
    const next = marks[place < 0 ? (by > 0 ? 0 : marks.length - 1) : (place + by + marks.length) % marks.length];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) choose(Number(row.id.slice("answer-".length)));
  });
  at("follow").addEventListener("click", () => setFollow(!follows));
  at("pause").addEventListener("click", () => setPaused(!paused));
  at("help").addEventListener("click", () => at("keys").showModal());
  filter.addEventListener("input", () => { drawList(); drawDetail(); });
  only.addEventListener("change", () => { drawList(); drawDetail(); });
  const KEYS = {
    ArrowDown: () => step(1), j: () => step(1), ArrowUp: () => step(-1), k: () => step(-1),
    Home: () => step(-Infinity), End: () => step(Infinity), n: () => repair(1), b: () => repair(-1),
    f: () => setFollow(!follows), p: () => setPaused(!paused), "?": () => at("keys").showModal(),
    "/": () => filter.focus(), Escape: () => list.focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || at("keys").open) return;
    const typing = event.target === filter || event.target === only;
    if (typing && event.key !== "Escape") return;
    // Arrows scroll what has the focus, unless that is the list.
    const moves = ["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key);
    if (moves && event.target !== list && event.target !== document.body) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // The connection.
  let connected = "waiting";
  function say(now) {
    connected = now ?? connected;
    state.dataset.state = paused ? "waiting" : connected;
    const words = { waiting: "connecting", live: "live", lost: "connection lost, trying again" };
    state.textContent = paused ? "paused" : words[connected];
  }
  function connect() {
    const source = new EventSource("/live");
    source.addEventListener("open", () => { fresh = true; say("live"); });
    source.addEventListener("message", (event) => take(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      say("lost");
      // Refused, as with too many pages: the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
    });
  }
  connect();
  draw();
})();
