// What every runtime must do with the package, as text.

export async function program({ fit, loads, mendArguments, mendFetch, MendTransform, readEvents }) {
  const out = [loads("{a: 1, b: [True,]}")];
  out.push(fit("{days: '3'}", { properties: { days: { type: "integer" } } }).value);
  out.push(mendArguments('{"path": "/home', { finishReason: "length" }).isComplete);
  const body = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  for await (const event of readEvents(body)) if (event.type === "text" || event.type === "ended") out.push(event.type);
  const reader = new Response("{'a': 1,}").body.pipeThrough(new MendTransform()).getReader();
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
  out.push(text);
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{'a': 1}" } };
  const answer = { choices: [{ index: 0, message: { role: "assistant", tool_calls: [call] }, finish_reason: "tool_calls" }] };
  const provider = async () => new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  const mended = await mendFetch(provider)("http://localhost/v1/chat/completions", { method: "POST", body: '{"messages":[]}' });
  out.push((await mended.json()).choices[0].message.tool_calls[0].function.arguments);
  return JSON.stringify(out);
}

export const wanted = JSON.stringify([{ a: 1, b: [true] }, { days: 3 }, false, "text", "ended", '{"a": 1}', '{"a": 1}']);
