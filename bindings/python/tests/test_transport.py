"""The transport that mends what passes, with the clients and SDKs that stand on it."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import json
import os
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from bodies import Provider, call, in_pieces, text

import wiremend
from wiremend import events

BROKEN = call("{'seats': 2, 'when': ", "None,}")
MENDED = {"seats": 2, "when": None}
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Book."}]}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "book", "parameters": {"type": "object", "properties": {"seats": {"type": "integer"}}}},
    }
]


def module_of(name: str) -> Any:
    pytest.importorskip(name)
    return importlib.import_module(f"wiremend.{name}"), importlib.import_module(name)


def of_sdks() -> Any:
    """The module for the client that the SDKs stand on, which was `httpx` before."""
    return module_of("httpx2" if importlib.util.find_spec("httpx2") else "httpx")[0]


def calls_of(body: bytes) -> list[wiremend.Call]:
    return [event.call for event in wiremend.stream(body) if isinstance(event, events.CallEnded)]


def whole(arguments: str, finish: str = "tool_calls") -> bytes:
    """An answer that is not a stream."""
    function = {"name": "book", "arguments": arguments}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    frame = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**frame, "choices": [choice]}).encode()


BOTH = pytest.mark.parametrize("name", ["httpx", "httpx2"])


@BOTH
def test_a_stream_is_mended_while_it_passes(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    scripted.body, scripted.size = BROKEN, 11
    done: list[str] = []
    with ours.Client(on_answer=lambda answer: done.append(answer.line)) as client:
        with client.stream("POST", f"{scripted.url}/v1/chat/completions", json={**ASK, "stream": True}) as response:
            body = b"".join(response.iter_bytes())
            assert response.headers["x-wiremend"] == "streaming"
        answer = response.extensions["wiremend"]
    (ended,) = calls_of(body)
    assert (ended.outcome, ended.value) == ("unchanged", MENDED)
    assert answer.verdict == "repaired" and done == [answer.line]
    assert answer.account["calls"][0]["tool"] == "book"


@BOTH
def test_a_whole_answer_says_what_was_done(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    scripted.body, scripted.type = whole("{'seats': 2}"), "application/json"
    with ours.Client() as client:
        response = client.post(f"{scripted.url}/v1/chat/completions", json=ASK)
    arguments = response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"seats": 2}
    assert response.headers["x-wiremend"].startswith("repaired; calls=1")
    assert int(response.headers["content-length"]) == len(response.content)


@BOTH
def test_what_is_valid_or_something_else_passes_as_it_came(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    with ours.Client() as client:
        for kind, body in [("application/json", whole('{"seats": 2}')), ("text/event-stream", call('{"seats": 2}'))]:
            scripted.type, scripted.body = kind, body
            assert client.post(f"{scripted.url}/v1/chat/completions", json=ASK).content == body
        scripted.type, scripted.body = "text/plain", b"{'not': 'ours'}"
        assert client.get(scripted.url).content == scripted.body
        assert scripted.asked[-1][0] == "/"


@BOTH
def test_a_call_that_was_cut_off_stays_as_it_came(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    body = call("{'seats': 2, 'when': 'tom", finish="length")
    scripted.body = body
    with ours.Client() as client:
        assert client.post(f"{scripted.url}/v1/chat/completions", json={**ASK, "stream": True}).content == body
    with ours.Client(mending={"cut": "withhold"}) as client:
        left = client.post(f"{scripted.url}/v1/chat/completions", json={**ASK, "stream": True}).content
        assert b"when" not in left and not calls_of(left)


@BOTH
def test_the_history_of_a_request_is_mended(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    scripted.body = text("ok")
    function = {"name": "book", "arguments": "{'seats': 2}"}
    history = [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}]
    ask = {**ASK, "messages": [*ASK["messages"], *history, {"role": "tool", "tool_call_id": "c", "content": "done"}]}
    with ours.Client() as client:
        response = client.post(f"{scripted.url}/v1/chat/completions", json=ask, headers={"x-own": "1"})
    _, headers, sent = scripted.asked[-1]
    assert json.loads(sent)["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"seats": 2}'
    assert headers["x-own"] == "1" and headers["accept-encoding"] == "identity"
    assert response.headers["x-wiremend-request"] == "history; mended=1; replaced=0"


@BOTH
def test_settings(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    scripted.body = call('{"seats": "2"}')
    ask = {**ASK, "stream": True, "tools": TOOLS}
    with ours.Client(mending={"mode": "validated"}) as client:
        body = client.post(f"{scripted.url}/v1/chat/completions", json=ask).content
        assert calls_of(body)[0].value == {"seats": 2}
        off = client.post(f"{scripted.url}/v1/chat/completions", json=ask, headers={"x-wiremend-policy": "off"})
        assert off.content == scripted.body and "x-wiremend-policy" not in scripted.asked[-1][1]
        with pytest.raises(ValueError, match="policy"):
            client.post(f"{scripted.url}/v1/chat/completions", json=ask, headers={"x-wiremend-policy": "none such"})
    with pytest.raises(ValueError, match="mending: unknown variant"):
        ours.Client(mending={"mode": "none such"})


@BOTH
def test_a_packed_answer(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    for treated, body in (("streaming; unpacked=gzip", BROKEN), ("repaired", whole("{'seats': 2}"))):
        scripted.body, scripted.headers = gzip.compress(body), {"content-encoding": "gzip"}
        scripted.type = "text/event-stream" if body is BROKEN else "application/json"
        with ours.Client() as client:
            response = client.post(f"{scripted.url}/v1/chat/completions", json={**ASK, "stream": body is BROKEN})
        assert response.headers["x-wiremend"].startswith(treated) and "content-encoding" not in response.headers
        assert b"'seats'" not in response.content


@BOTH
def test_asynchronous_clients(scripted: Provider, name: str) -> None:
    ours, _ = module_of(name)
    scripted.body, scripted.size = BROKEN, 11

    async def ask() -> None:
        async with ours.AsyncClient() as client:
            response = await client.post(f"{scripted.url}/v1/chat/completions", json={**ASK, "stream": True})
            assert calls_of(response.content)[0].value == MENDED
            scripted.body, scripted.type = whole("{'seats': 2}"), "application/json"
            response = await client.post(f"{scripted.url}/v1/chat/completions", json=ASK)
            assert response.extensions["wiremend"].verdict == "repaired"
            scripted.body, scripted.type, scripted.pause = text(*["word "] * 2000), "text/event-stream", 0.005
            url = f"{scripted.url}/v1/chat/completions"
            async with client.stream("POST", url, json={**ASK, "stream": True}) as response:
                async for _ in response.aiter_bytes():
                    break
            assert await asyncio.to_thread(scripted.broken.wait, 5)

    asyncio.run(ask())


@BOTH
def test_a_body_that_breaks_off_or_is_too_long(name: str) -> None:
    ours, module = module_of(name)
    body = BROKEN[: BROKEN.index(b"None")]

    class Breaks(module.SyncByteStream):  # type: ignore[misc]
        closed = False

        def __iter__(self) -> Iterator[bytes]:
            yield from in_pieces(body, 50)
            raise module.ReadError("gone")

        def close(self) -> None:
            Breaks.closed = True

    class Inner(module.BaseTransport):  # type: ignore[misc]
        def __init__(self, stream: Any, kind: str) -> None:
            self.stream, self.kind = stream, kind

        def handle_request(self, request: Any) -> Any:
            request.read()
            return module.Response(200, headers={"content-type": self.kind}, stream=self.stream)

    ask = {**ASK, "stream": True}
    with ours.Client(transport=Inner(Breaks(), "text/event-stream")) as client:
        came = b""
        with pytest.raises(module.ReadError), client.stream("POST", "http://test/v1/chat/completions", json=ask) as response:
            for piece in response.iter_bytes():
                came += piece
        # What waited has left as it came.
        assert came == body and Breaks.closed
        assert response.extensions["wiremend"].verdict == "cut"
    done: list[str] = []
    told = ours.Client(transport=Inner(Breaks(), "application/json"), on_answer=lambda answer: done.append(answer.verdict))
    with told as client, pytest.raises(module.ReadError):
        client.post("http://test/v1/chat/completions", json=ASK)
    assert done == ["cut"]
    long = whole("{'text': '" + "x" * 5000 + "'}")
    inner = Inner(module.ByteStream(long), "application/json")
    with module.Client(transport=ours.Transport(inner, held_bytes=1000)) as client:
        response = client.post("http://test/v1/chat/completions", json=ASK)
        assert response.headers["x-wiremend"] == "streaming"


@BOTH
def test_a_client_keeps_its_own_options(name: str) -> None:
    ours, module = module_of(name)
    client = ours.Client(proxy="http://127.0.0.1:9", timeout=3.0, verify=False)
    assert client.timeout == module.Timeout(3.0)
    assert all(isinstance(inner, ours.Transport) for inner in client._mounts.values() if inner is not None)
    assert isinstance(client, module.Client) and ours.Client().follow_redirects
    given = ours.Transport()
    assert ours.Client(transport=given)._transport is given
    with pytest.raises(ValueError, match="options of the transport"):
        ours.Client(transport=given, mending={"mode": "validated"})


def test_the_sdk_of_openai(scripted: Provider) -> None:
    openai = pytest.importorskip("openai")
    ours = of_sdks()
    done: list[str] = []
    http = ours.Client(on_answer=lambda answer: done.append(answer.verdict))
    with openai.OpenAI(api_key="k", base_url=f"{scripted.url}/v1", http_client=http, max_retries=0) as client:
        scripted.body, scripted.type = whole("{'seats': 2}"), "application/json"
        made = client.chat.completions.create(**ASK).choices[0].message.tool_calls
        assert json.loads(made[0].function.arguments) == {"seats": 2}
        scripted.body, scripted.type, scripted.size = BROKEN, "text/event-stream", 11
        arguments = ""
        for chunk in client.chat.completions.create(**ASK, stream=True):
            for piece in chunk.choices[0].delta.tool_calls or []:
                arguments += piece.function.arguments or ""
        assert json.loads(arguments) == MENDED
        with client.chat.completions.stream(**ASK) as sdk_stream:
            calls = sdk_stream.get_final_completion().choices[0].message.tool_calls
        assert json.loads(calls[0].function.arguments) == MENDED
        # The SDK leaves a stream after its last event.
        assert done == ["repaired"] * 3
        scripted.body = call("{'seats': ", finish=None, done=False)
        for _ in client.chat.completions.create(**ASK, stream=True):
            pass
        assert done[3:] == ["cut"]

    async def ask() -> None:
        scripted.body = BROKEN
        http = ours.AsyncClient(on_answer=lambda answer: done.append(answer.verdict))
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{scripted.url}/v1", http_client=http, max_retries=0) as client:
            arguments = ""
            async for chunk in await client.chat.completions.create(**ASK, stream=True):
                for piece in chunk.choices[0].delta.tool_calls or []:
                    arguments += piece.function.arguments or ""
            assert json.loads(arguments) == MENDED
        assert done[4:] == ["repaired"]

    asyncio.run(ask())


def messages(*pieces: str, stop: str = "tool_use") -> bytes:
    """A stream in the format of Messages."""
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    block = {"type": "tool_use", "id": "t", "name": "book", "input": {}}
    sent: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**start, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in sent).encode()


def test_the_sdk_of_anthropic(scripted: Provider) -> None:
    anthropic = pytest.importorskip("anthropic")
    ours = of_sdks()
    scripted.body, scripted.size = messages("{'seats': ", "2,}"), 13
    ask: Any = {"model": "m", "max_tokens": 100, "messages": ASK["messages"]}
    with anthropic.Anthropic(api_key="k", base_url=scripted.url, http_client=ours.Client(), max_retries=0) as client:
        with client.messages.stream(**ask) as sdk_stream:
            made = sdk_stream.get_final_message()
        assert made.content[0].input == {"seats": 2}


SHARED = Path(os.environ.get("WIREMEND_SHARED", Path(__file__).parents[4] / "shared"))


KINDS = {"sse": "text/event-stream", "json": "application/json", "ndjson": "application/x-ndjson"}
KINDS["aws"] = KINDS["bin"] = "application/vnd.amazon.eventstream"


def kind_of(file: str) -> str:
    return KINDS.get(file.rsplit(".", 1)[-1], "text/event-stream")


def odd_chunks(body: bytes) -> list[bytes]:
    cuts = sorted(random.Random(len(body)).choices(range(len(body) + 1), k=20))
    return [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


def recorded(httpx: Any) -> Any:
    """A transport whose answers are its `chunks`."""

    class Inner(httpx.BaseTransport, httpx.AsyncBaseTransport):  # type: ignore[misc]
        chunks: list[bytes] = []
        kind = ""

        def response(self) -> Any:
            chunks = self.chunks

            class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):  # type: ignore[misc]
                def __iter__(self) -> Iterator[bytes]:
                    return iter(chunks)

                async def __aiter__(self) -> AsyncIterator[bytes]:
                    for chunk in chunks:
                        yield chunk

            return httpx.Response(200, headers={"content-type": self.kind} if self.kind else {}, stream=Stream())

        def handle_request(self, request: Any) -> Any:
            return self.response()

        async def handle_async_request(self, request: Any) -> Any:
            return self.response()

    return Inner()


@pytest.mark.skipif(not (SHARED / "cases/recordings.jsonl").exists(), reason="no recordings beside this clone")
def test_recordings_pass_the_transport() -> None:
    """Whole, in odd chunks, and asynchronously: the same bytes leave, and they have the calls that the reader finds."""
    ours, httpx = module_of("httpx")
    inner = recorded(httpx)

    def shown(body: bytes) -> list[Any]:
        return [(c.name, c.outcome, c.text) for c in calls_of(body)]

    async def run() -> int:
        same = 0
        async with httpx.AsyncClient(transport=ours.AsyncTransport(inner)) as later:
            with httpx.Client(transport=ours.Transport(inner)) as client:
                for line in (SHARED / "cases/recordings.jsonl").read_text().splitlines():
                    case = json.loads(line)
                    body = (SHARED / "cases" / case["input_file"]).read_bytes()
                    inner.kind = kind_of(case["input_file"])
                    url, ask = "http://test/v1/chat/completions", {**ASK, "stream": True}
                    inner.chunks = [body]
                    left = client.post(url, json=ask).content
                    inner.chunks = odd_chunks(body)
                    assert client.post(url, json=ask).content == left, case["id"]
                    assert (await later.post(url, json=ask)).content == left, case["id"]
                    assert [(c.name, c.text) for c in calls_of(left)] == [(c.name, c.text) for c in calls_of(body)], case["id"]
                    same += left == body
                    # Cut off anywhere, no call can be run that could not be run without the transport.
                    for end in (len(body) * part // 4 for part in (1, 2, 3)):
                        inner.chunks = [body[:end]]
                        left = client.post(url, json=ask).content
                        assert shown(left) == shown(body[:end]), (case["id"], end)
        return same

    assert asyncio.run(run()) > 200


@pytest.mark.skipif("WIREMEND_DAMAGED" not in os.environ, reason="no damaged recordings")
def test_damaged_recordings_pass_the_transport() -> None:
    """Those of the example `damaged_bodies` of the testkit: each call leaves as the Rust reader mends it, or as it came."""
    ours, httpx = module_of("httpx")
    inner, counts = recorded(httpx), dict.fromkeys(("as it was meant", "as something else", "not complete"), 0)
    with httpx.Client(transport=ours.Transport(inner)) as client:
        for line in filter(None, Path(os.environ["WIREMEND_DAMAGED"]).read_text().split("\n")):
            case = json.loads(line)
            about, body = (case["name"], case["way"]), case["body"].encode("latin-1")
            inner.kind, inner.chunks = kind_of(case["name"]), odd_chunks(body)
            left = client.post("http://test/v1/chat/completions", json={**ASK, "stream": True}).content
            assert [[c.name, c.text] for c in calls_of(body)] == case["calls"], about
            assert [(c.name, c.text and json.loads(c.text)) for c in calls_of(left)] == [
                (name, arguments and json.loads(arguments)) for name, arguments in case["calls"]
            ], about
            made = [json.loads(call.text) for call in calls_of(left) if call.text]
            meant = json.loads(case["meant"]) in made
            counts["as it was meant" if meant else "as something else" if made else "not complete"] += 1
    print(counts)
    assert counts["as it was meant"] > 150
