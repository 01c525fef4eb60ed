#!/usr/bin/env python3
"""Drives the official clients of providers through a gateway, against a provider that plays a script.

On clean bodies, a client must make the same objects as without the gateway. On damaged ones, each call must parse to
the value that the model meant; one that was cut off must not, and where such calls are withheld, there must be none. A
client that is not installed is skipped, and that is said.

    pip install openai anthropic google-genai ollama
    npm install --prefix DIR openai ai @ai-sdk/openai-compatible
    crates/proxy/tests/clients/run.py --bin target/debug/wiremend [--node DIR] [--recordings DIR] [--require]
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import recorded  # noqa: E402
from bodies import cases  # noqa: E402
from gateway import start_gateway  # noqa: E402
from provider import Provider  # noqa: E402

HERE = pathlib.Path(__file__).parent
SECONDS = 20
# By name, settings of `mending`.
MODES = {"eager": {"mode": "eager"}, "validated": {"mode": "validated"}, "withhold": {"cut": "withhold"}}
KINDS = {".sse": "text/event-stream", ".ndjson": "application/x-ndjson", ".json": "application/json"}


class Script:
    """Answers every request with the body that was chosen, and tells the clients in Node what there is."""

    def __init__(self, cases):
        self.cases, self.current = cases, None

    def answer(self, path, request):
        if request is not None:
            body = self.current["body"]
            return 200, self.current["kind"], body if isinstance(body, bytes) else body.encode()
        if path == "/cases":
            shown = [{key: value for key, value in case.items() if key != "body"} for case in self.cases]
            return 200, "application/json", json.dumps(shown).encode()
        self.current = self.cases[int(path.removeprefix("/choose/"))]
        return 200, "application/json", b"{}"


def openai_calls(base, case):
    import openai

    client = openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0, timeout=SECONDS)
    calls, finish = {}, None
    if case["format"] == "openai-chat":
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=case["stream"])
        made = list(reply) if case["stream"] else [reply]
        for chunk in made:
            for choice in chunk.choices or []:
                finish = choice.finish_reason or finish
                said = choice.delta if case["stream"] else choice.message
                for place, call in enumerate((said and said.tool_calls) or []):
                    key = (choice.index, call.index if case["stream"] else place)
                    calls[key] = calls.get(key, "") + ((call.function and call.function.arguments) or "")
    else:
        reply = client.responses.create(model="m", input="x", stream=case["stream"])
        made = list(reply) if case["stream"] else [reply]
        for event in made if case["stream"] else []:
            if event.type == "response.function_call_arguments.delta":
                calls[event.item_id] = calls.get(event.item_id, "") + event.delta
            if event.type == "response.function_call_arguments.done":
                if calls.get(event.item_id) != event.arguments:
                    raise ValueError("the deltas do not join to the whole")
        if not case["stream"]:
            calls = {item.id: item.arguments for item in reply.output if item.type == "function_call"}
    return [one.model_dump() for one in made], list(calls.values())


def anthropic_calls(base, case):
    import anthropic

    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0, timeout=SECONDS)
    messages = [{"role": "user", "content": "x"}]
    if not case["stream"]:
        reply = client.messages.create(model="m", max_tokens=9, messages=messages)
        return [reply.model_dump()], [json.dumps(block.input) for block in reply.content if block.type == "tool_use"]
    calls, made = {}, []
    for event in client.messages.create(model="m", max_tokens=9, messages=messages, stream=True):
        made.append(event.model_dump())
        # What the provider runs itself is not taken out where it was cut off.
        kinds = ("tool_use",) if case["what"] == "cut" else ("tool_use", "server_tool_use")
        if event.type == "content_block_start" and event.content_block.type in kinds:
            calls[event.index] = ""
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta" and event.index in calls:
            calls[event.index] += event.delta.partial_json
    return made, list(calls.values())


def gemini_calls(base, case):
    from google import genai

    options = genai.types.HttpOptions(base_url=base, timeout=SECONDS * 1000)
    client = genai.Client(api_key="k", http_options=options)
    if case["stream"]:
        made = list(client.models.generate_content_stream(model="m", contents="x"))
    else:
        made = [client.models.generate_content(model="m", contents="x")]
    calls = [json.dumps(call.args or {}) for reply in made for call in reply.function_calls or []]

    def shown(reply):
        # No arguments leave as an empty object.
        for call in reply.function_calls or []:
            call.args = call.args or {}
        # The headers of the answer differ, and are compared elsewhere.
        return reply.model_dump(exclude={"sdk_http_response"})

    return [shown(reply) for reply in made], calls


def ollama_calls(base, case):
    import ollama

    client = ollama.Client(host=base, timeout=SECONDS)
    reply = client.chat(model="m", messages=[{"role": "user", "content": "x"}], stream=case["stream"])
    made = list(reply) if case["stream"] else [reply]
    calls = [json.dumps(call.function.arguments) for one in made for call in one.message.tool_calls or []]
    return [one.model_dump() for one in made], calls


# Name, module, formats, and what makes a request and returns the objects and the arguments of the calls.
CLIENTS = [
    ("openai", "openai", ("openai-chat", "openai-responses"), openai_calls),
    ("anthropic", "anthropic", ("anthropic",), anthropic_calls),
    ("google-genai", "google.genai", ("gemini",), gemini_calls),
    ("ollama", "ollama", ("ollama",), ollama_calls),
]


def outcome(make, base, case):
    """The objects and the calls, or the error."""
    try:
        made, calls = make(base, case)
        return {"made": made, "calls": calls}
    except Exception as error:  # noqa: BLE001, what a client raises differs
        return {"error": f"{type(error).__name__}: {error}"}


def parsed(text):
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None


def judge(case, mode, direct, through):
    """What is wrong, or None."""
    withheld = mode == "withhold" and case["what"] in ("cut", "limit")
    if mode == "withhold" and case["what"] == "clean" and "calls" in through:
        # The last call of some recordings was cut off.
        left, calls = through["calls"], direct.get("calls", [])
        if len(left) < len(calls) and left == calls[: len(left)]:
            return None
    if case["what"] == "clean" or (case["what"] == "limit" and not withheld):
        return None if direct == through else f"differs\n  directly: {str(direct)[:600]}\n  through:  {str(through)[:600]}"
    if "error" in through:
        # The client cannot read the rest of it, with or without the gateway.
        return None if case["what"] == "cut" and "error" in direct else through["error"]
    values = [parsed(call) for call in through["calls"]]
    if withheld:
        whole = case["want"] if "of" in case else []
        halves = [text for text, value in zip(through["calls"], values) if value not in whole]
        return f"a call that was cut off is there: {halves}" if halves else None
    if case["what"] == "cut" and "of" in case:
        # Calls that were whole before may be there, and no others. Of some, nothing has come.
        halves = [text for text, value in zip(through["calls"], values) if text and value is not None and value not in case["want"]]
        return f"a call that was cut off parses: {halves}" if halves else None
    if case["what"] == "cut":
        return None if values == [None] else f"a call that was cut off parses: {through['calls']}"
    return None if values == case["want"] else f"{through['calls']} is not {case['want']}"


def wanted(make, script, url, case):
    """What the calls of a recording that was damaged or cut should be: those of the recording. None if it has no complete one."""
    script.current = script.cases[case["of"]]
    values = [parsed(call) for call in outcome(make, url, script.current).get("calls", [])]
    script.current = case
    return values if any(values) and None not in values else None


def recordings(folder, begin):
    """Recorded bodies, which must make the same objects, and the same ones damaged and cut off."""
    names = [json.loads(line) for line in (folder.parent / "recordings.jsonl").read_text().splitlines()]
    formats = {"openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini", "ollama-chat": "ollama"}
    for row in names:
        path = folder.parent / row["input_file"]
        if row["group"] not in formats or path.suffix not in KINDS:
            continue
        base = {"format": formats[row["group"]], "kind": KINDS[path.suffix], "stream": path.suffix != ".json"}
        body = path.read_bytes()
        clean = begin
        yield {**base, "name": path.name, "what": "clean", "body": body}
        begin += 1
        for damage in recorded.DAMAGES:
            damaged = recorded.damaged(body.decode(errors="replace"), row["group"], damage)
            if damaged:
                yield {**base, "name": f"{path.name}, {damage}", "what": "damaged", "of": clean, "body": damaged}
                begin += 1
        for part in (0.4, 0.7, 0.9):
            cut = body[: int(len(body) * part)]
            yield {**base, "name": f"{path.name}, cut at {part}", "what": "cut", "of": clean, "body": cut}
            begin += 1


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, help="the command wiremend")
    arguments.add_argument("--node", help="a folder with node_modules")
    arguments.add_argument("--recordings", type=pathlib.Path, default=os.environ.get("WIREMEND_RECORDINGS"), help="a folder of recorded bodies")
    arguments.add_argument("--require", action="store_true", help="fail if a client is not installed")
    given = arguments.parse_args()
    # A proxy of the environment is not for loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    script = Script(list(cases()))
    if given.recordings:
        script.cases += recordings(pathlib.Path(given.recordings), len(script.cases))
    provider = Provider(script.answer)
    failed = skipped = 0
    for mode, settings in MODES.items():
        process, gateway = start_gateway(given.bin, provider, **settings)
        try:
            for name, module, formats, make in CLIENTS:
                try:
                    known = importlib.util.find_spec(module)
                except ModuleNotFoundError:
                    known = None
                if not known:
                    print(f"SKIPPED {name}: not installed (pip install {name})")
                    skipped += 1
                    continue
                mine = [case for case in script.cases if case["format"] in formats]
                wrong = 0
                for case in list(mine):
                    if "of" in case:
                        case = {**case, "want": wanted(make, script, provider.url, case)}
                        if case["want"] is None:
                            mine = [other for other in mine if other["name"] != case["name"]]
                            continue
                    script.current = case
                    direct = outcome(make, provider.url, case) if case["what"] != "damaged" else None
                    problem = judge(case, mode, direct, outcome(make, gateway, case))
                    if problem:
                        wrong += 1
                        print(f"FAILED {name}, {mode}: {case['name']}: {problem}")
                kinds = ", ".join(f"{sum(case['what'] == what for case in mine)} {what}" for what in ("clean", "damaged", "cut", "limit"))
                print(f"{name}, {mode}: {len(mine) - wrong} of {len(mine)} right ({kinds})")
                failed += wrong
            node = given.node and subprocess.run(["node", "--version"], capture_output=True).returncode == 0
            if not node:
                print("SKIPPED openai and ai in Node: no --node, or no node")
                skipped += 1
                continue
            command = ["node", str(HERE / "run.mjs"), provider.url, gateway, mode]
            done = subprocess.run(command, env={**os.environ, "CLIENTS": os.path.abspath(given.node)}, timeout=600)
            failed += done.returncode != 0
        finally:
            process.terminate()
            process.wait(10)
    if failed or (given.require and skipped):
        raise SystemExit(f"{failed} failed, {skipped} skipped")
    print(f"all right, {skipped} skipped")


if __name__ == "__main__":
    main()
