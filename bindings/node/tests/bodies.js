// Bodies of responses, and a provider on loopback that stops by itself.

import { createServer } from "node:http";

/** A stream in the format of Chat Completions. */
export function chat(deltas, { finish = "stop", done = true } = {}) {
  const choices = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }));
  if (finish !== null) choices.push({ index: 0, delta: {}, finish_reason: finish });
  const frame = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const lines = choices.map((choice) => `data: ${JSON.stringify({ ...frame, choices: [choice] })}\n\n`);
  return lines.join("") + (done ? "data: [DONE]\n\n" : "");
}

export const text = (pieces, rest) => chat(pieces.map((content) => ({ content })), rest);

/** An answer that is a call, its arguments in pieces. */
export function call(pieces, { name = "book", finish = "tool_calls", ...rest } = {}) {
  const start = { role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: "" } }] };
  const deltas = pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
  return chat([start, ...deltas], { finish, ...rest });
}

/** An answer that is not a stream. */
export function whole(args, finish = "tool_calls") {
  const message = { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "book", arguments: args } }] };
  return JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: finish }] });
}

export function* inPieces(body, size) {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Runs something with a provider that answers with what the script says. */
export async function withProvider(use) {
  const script = { body: "", type: "text/event-stream", size: 1 << 20, headers: {}, asked: [], url: "", breakOff: false };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    script.asked.push({ path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(200, { "content-type": script.type, ...script.headers });
    for (const piece of inPieces(script.answer?.(script.asked) ?? script.body, script.size)) {
      response.write(piece);
      await new Promise(setImmediate);
    }
    if (script.breakOff) response.destroy();
    else response.end();
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  script.url = `http://127.0.0.1:${server.address().port}`;
  try {
    return await use(script);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}
