"""Responses, items and values while they arrive."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import random
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bodies import Provider, call, chat, in_pieces, text

import wiremend
from wiremend import Cut, Refused, SchemaMismatch, events, items, partial, stream

TOOLS = [{"type": "function", "function": {"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}}}]


def joined(found: Iterator[Any] | list[Any]) -> list[Any]:
    """Events as values, with neighbouring pieces of one text or call joined."""
    out: list[Any] = []
    for event in found:
        kind = type(event).__name__
        fields = [getattr(event, name) for name in event.__match_args__]
        match event:
            case events.CallEnded(ended):
                fields = [ended.name, ended.id, ended.outcome, ended.text, ended.raw, len(ended.repairs), ended.doubt]
            case events.CallFitted(fitted):
                fields = [fitted.name, fitted.check, fitted.text]
            case events.ObjectEnded(ended):
                fields = [ended.outcome, ended.text, [r.kind for r in ended.repairs]]
            case events.EnvelopeMended(mended):
                fields = [mended.text]
            case events.KeepAlive():
                continue
            case _:
                pass
        piece = {"Text": 0, "Reasoning": 0, "Refusal": 0, "CallFragment": 1, "ObjectFragment": 1, "CallRaw": 1}.get(kind)
        if piece is not None and out and out[-1][0] == kind:
            last = out[-1][1]
            if last[:piece] + last[piece + 1 :] == fields[:piece] + fields[piece + 1 :]:
                last[piece] += fields[piece]
                continue
        out.append((kind, fields))
    return out


def test_events_match() -> None:
    shown, ran = "", []
    for event in stream(chat({"content": "Hi "}, {"content": "you"}, finish=None) + call("{'seats': ", "2,}")):
        match event:
            case events.Text(piece):
                shown += piece
            case events.CallEnded(ended) if ended.is_complete:
                ran.append((ended.name, ended.value))
            case events.Finish("tool-calls", original=word):
                assert word == "tool_calls"
            case events.Ended(outcome, is_complete):
                assert (outcome, is_complete) == ("complete", True)
            case _:
                pass
    assert (shown, ran) == ("Hi you", [("book", {"seats": 2})])


def test_events_are_values() -> None:
    one, two = ([e for e in stream([text("a", finish=None), text("b")]) if isinstance(e, events.Text)] for _ in range(2))
    assert one == two and one[0] != one[1]
    assert repr(one[0]) == "Text(text='a', choice=0, block=0, part=0)"
    with pytest.raises(AttributeError):
        one[0].text = "c"  # type: ignore[misc]


@pytest.mark.parametrize("size", [1, 3, 17, 4096])
def test_chunks_of_any_size_give_the_same(size: int) -> None:
    body = chat({"content": "Zürich 😀 {'a': 'é"}, {"content": "😀', b: [1,]}"}, finish=None) + call("{'city': 'Zü", "rich 😀', }")
    options: Any = {"objects": "all", "tools": TOOLS}
    whole = joined(stream(body, **options))
    assert joined(stream(in_pieces(body, size), **options)) == whole
    assert ("CallFragment", [0, '{"city": "Zürich 😀" }']) in whole
    shown = "".join(fields[1] for kind, fields in whole if kind == "ObjectFragment")
    assert shown == '{"a": "é😀", "b": [1]}'


def test_a_call_that_was_cut_off_has_no_value() -> None:
    for body in (call('{"seats": 2}', finish="length", done=True)[:-60], call('{"seats": 2', finish="length")):
        (ended,) = [e.call for e in stream(body) if isinstance(e, events.CallEnded)]
        assert (ended.is_complete, ended.text) == (False, None)
        assert isinstance(ended.error, Cut)
        with pytest.raises(Cut):
            _ = ended.value


def test_tools_fit_their_calls() -> None:
    def fitted(body: bytes) -> wiremend.FittedCall:
        (found,) = [e.call for e in stream(body, tools=TOOLS) if isinstance(e, events.CallFitted)]
        return found

    good = fitted(call("{'seats': '2'}"))
    assert (good.is_complete, good.value, good.check) == (True, {"seats": 2}, "fitted")
    wrong = fitted(call('{"seats": "two"}'))
    assert not wrong.is_complete and isinstance(wrong.error, SchemaMismatch)
    assert wrong.fitted is not None and wrong.fitted.issues[0].path == "$.seats"
    unknown = fitted(call("{}", name="bok"))
    assert (unknown.check, unknown.nearest, unknown.is_complete) == ("unknown", "book", False)
    assert isinstance(unknown.error, Refused) and "Did you mean book?" in unknown.error.for_model
    cut = fitted(call('{"seats": 2', finish="length"))
    assert isinstance(cut.error, Cut)
    with pytest.raises(Cut):
        _ = cut.value


def test_a_schema_fits_the_text() -> None:
    schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    (found,) = [e for e in stream(text("So: {days: '3'}"), schema=schema) if isinstance(e, events.ObjectFitted)]
    assert found.is_complete and found.fitted is not None and found.fitted.value == {"days": 3}
    # The text is not kept, so what was there before is not known.
    assert [change.before for change in found.fitted.changes][-1] is None


def test_calls_in_text() -> None:
    body = text("On it. <tool_call>{'name': 'book', ", "'arguments': {'seats': 2,}}</tool_call>")
    for options in ({"calls_in_text": True, "tools": TOOLS}, {"dialect": "hermes"}):
        found = [e.call for e in stream(body, **options) if isinstance(e, events.CallEnded)]  # type: ignore[arg-type]
        assert [(c.name, c.value, c.dialect) for c in found] == [("book", {"seats": 2}, "hermes")]


def test_wrong_options_are_said_at_once() -> None:
    with pytest.raises(ValueError, match="no format"):
        stream(b"", format="no-such-format")
    with pytest.raises(TypeError, match="no chunks"):
        list(stream(3))
    reader = wiremend.reader()
    assert isinstance(reader.close()[-1], events.Ended) and reader.close() == []
    with pytest.raises(RuntimeError, match="closed"):
        reader.feed(b"x")


class Chunks:
    """Chunks, and whether they were closed."""

    def __init__(self, chunks: list[Any], error: Exception | None = None) -> None:
        self.chunks, self.error = chunks, error
        self.closed = 0
        self.taken = 0

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.chunks:
            self.taken += 1
            yield chunk
        if self.error:
            raise self.error

    def close(self) -> None:
        self.closed += 1


class AsyncChunks(Chunks):
    async def __aiter__(self) -> AsyncIterator[Any]:
        for chunk in self.chunks:
            self.taken += 1
            await asyncio.sleep(0)
            yield chunk
        if self.error:
            raise self.error

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


def test_leaving_the_loop_closes_the_source() -> None:
    chunks = Chunks(in_pieces(text("a", "b", "c", "d"), 40))
    for event in stream(chunks):
        if isinstance(event, events.Text):
            break
    assert chunks.closed == 1 and chunks.taken < len(chunks.chunks)
    rest = Chunks([text("a")])
    list(stream(rest))
    assert rest.closed == 1


def test_an_error_of_the_source_is_passed_on() -> None:
    chunks = Chunks([text("a")], error=ConnectionError("gone"))
    with pytest.raises(ConnectionError):
        list(stream(chunks))
    assert chunks.closed == 1


def test_asynchronous_sources() -> None:
    body = call("{'seats': ", "2,}")

    async def read() -> None:
        chunks = AsyncChunks(in_pieces(body, 10))
        assert joined([event async for event in wiremend.astream(chunks)]) == joined(stream(body))
        assert chunks.closed == 1
        left = AsyncChunks(in_pieces(body, 10))
        async with aclosing(wiremend.astream(left)) as found:
            async for _ in found:
                break
        assert left.closed == 1 and left.taken < len(left.chunks)
        dropped = AsyncChunks(in_pieces(body, 10))
        async for _ in wiremend.astream(dropped):
            break
        for _ in range(5):
            await asyncio.sleep(0)
        assert dropped.closed == 1
        failing = AsyncChunks([body], error=ConnectionError("gone"))
        with pytest.raises(ConnectionError):
            async for _ in wiremend.astream(failing):
                pass
        assert failing.closed == 1
        with pytest.raises(TypeError, match="no asynchronous chunks"):
            async for _ in wiremend.astream([b"x"]):
                pass

    asyncio.run(read())


def test_cancelling_closes_the_source() -> None:
    class Endless(AsyncChunks):
        async def __aiter__(self) -> AsyncIterator[Any]:
            yield text("a", done=False)
            await asyncio.sleep(60)

    async def read() -> None:
        chunks = Endless([])

        async def loop() -> None:
            async for _ in wiremend.astream(chunks):
                pass

        task = asyncio.create_task(loop())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert chunks.closed == 1

    asyncio.run(read())


@dataclass
class Row:
    a: int


def test_items_as_they_close() -> None:
    chunks = Chunks(["{note: 'x', rows: [{a: 1}, {a: '2", "'}, {a:", " 3,}], more: [4]}"])
    seen = []
    for row in items(chunks, "/rows", Row):
        seen.append((row, chunks.taken))
    assert seen == [(Row(1), 1), (Row(2), 2), (Row(3), 3)]
    assert chunks.closed == 1


@pytest.mark.parametrize(
    ("pointer", "wanted"),
    [
        ("", [[1, 2], "x"]), ("/0", [1, 2]), ("/a", [1, {"a": [2]}, "b]", None, True, -1.5e3]), ("/b/c", [[]]),
        ("/a~1b/~0", ["ok"]), ("/none", []), ("/b", []), ("/s", []),
    ],
)  # fmt: skip
def test_where_items_are(pointer: str, wanted: list[Any]) -> None:
    document: Any = [[1, 2], "x"] if pointer in ("", "/0") else {
        "s": "a: [1]", "a": [1, {"a": [2]}, "b]", None, True, -1.5e3], "b": {"c": [[]], "a": [9]}, "a/b": {"~": ["ok"]}, "c": [0],
    }  # fmt: skip
    source = json.dumps(document)
    for size in (1, 2, 5, 1000):
        assert list(items([source[i : i + size] for i in range(0, len(source), size)], pointer)) == wanted
    with pytest.raises(ValueError, match="JSON Pointer"):
        items([source], "rows")


def test_items_of_a_response() -> None:
    body = text("Here: ```json\n{'rows': [{a: 1}", ", {a: 2},]}\n``` Enjoy")
    assert list(items(in_pieces(body, 9), "/rows", Row)) == [Row(1), Row(2)]
    body = call("{'rows': [{'a': 1}, ", "{'a': 2}]}")
    assert list(items(in_pieces(body, 9), "/rows", Row)) == [Row(1), Row(2)]


def test_items_of_what_was_cut_off_end_with_an_error() -> None:
    for chunks in (["{rows: [{a: 1}, {a: 2"], [text("{rows: [{a: 1}, {a: 2", done=False, finish=None)]):
        seen = []
        with pytest.raises(Cut):
            for row in items(chunks, "/rows", Row):
                seen.append(row)
        assert seen == [Row(1)]
    for text_ in ("[1, 2", "[1, 2, ", "[[1], [2"):
        seen = []
        with pytest.raises(Cut):
            for row in items([text_], ""):
                seen.append(row)
        assert seen in ([1], [1, 2], [[1]]), text_
    with pytest.raises(Refused):
        list(items([text("no JSON")], "/rows"))


def test_an_item_that_does_not_fit() -> None:
    whole = "[{a: 1}, {a: 'x'}, {a: 3}]"
    for chunks in ([whole], list(whole)):
        seen = []
        with pytest.raises(SchemaMismatch):
            for row in items(chunks, "", Row):
                seen.append(row)
        assert seen == [Row(1)]
    wrong: list[SchemaMismatch] = []
    assert list(items(["[{a: 1}, {a: 'x'}, {a: 3}]"], "", Row, mismatch=wrong.append)) == [Row(1), Row(3)]
    assert [error.place for error in wrong] == ["$[1].a"]


def test_why_a_response_has_no_value() -> None:
    failed = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
    for body, why in ((failed, "reported an error: overloaded"), (b'{"rows": [1]}', "passed as str"), (text("Hi"), "no JSON")):
        with pytest.raises(Refused, match=why):
            list(items([body], "/rows"))


def test_partial_values() -> None:
    chunks = ["{'title': 'On sn", "ap', 'tags': ['a'", ", 'b'], n: 12", "3}"]
    snapshots = list(partial(chunks))
    assert [s.value for s in snapshots] == [
        {"title": "On sn"},
        {"title": "On snap", "tags": ["a"]},
        {"title": "On snap", "tags": ["a", "b"]},
        {"title": "On snap", "tags": ["a", "b"], "n": 123},
        {"title": "On snap", "tags": ["a", "b"], "n": 123},
    ]
    assert [s.closed for s in snapshots[1:3]] == [{"$.title"}, {"$.title", "$.tags", "$.tags[0]", "$.tags[1]"}]
    assert [s.is_complete for s in snapshots] == [False] * 4 + [True]
    # What was only closed because the text was cut off has not ended.
    cut = partial(["{'a': 1, 'b': ['x', 'y"])
    seen = []
    with pytest.raises(Cut):
        seen.extend(cut)
    assert seen and all(s.closed == {"$.a", "$.b[0]"} for s in seen)
    body = text("Sure: {'a': [1, ", "2]} !")
    assert [s.value for s in partial(in_pieces(body, 1))][-1] == {"a": [1, 2]}
    with pytest.raises(Cut):
        list(partial(["[1, 2"]))


def test_asynchronous_items_and_values() -> None:
    async def read() -> None:
        chunks = AsyncChunks(["{rows: [{a: 1}, ", "{a: 2}]}"])
        assert [row async for row in wiremend.aitems(chunks, "/rows", Row)] == [Row(1), Row(2)]
        assert chunks.closed == 1
        last = None
        async for last in wiremend.apartial(AsyncChunks(["{a: 1", ", b: 'x'}"])):
            pass
        assert last is not None and last.is_complete and last.value == {"a": 1, "b": "x"}

    asyncio.run(read())


BODY = call("{'seats': ", "2,}")


def test_files_and_urllib(scripted: Provider) -> None:
    assert joined(stream(io.BytesIO(BODY))) == joined(stream(BODY))
    scripted.body, scripted.size = BODY, 7
    with urllib.request.urlopen(scripted.url) as response:
        assert joined(stream(response)) == joined(stream(BODY))


@pytest.mark.parametrize("module", ["httpx", "httpx2"])
def test_httpx(scripted: Provider, module: str) -> None:
    httpx = pytest.importorskip(module)
    scripted.body, scripted.size = BODY, 7
    with httpx.Client() as client, client.stream("GET", scripted.url) as response:
        assert joined(stream(response)) == joined(stream(BODY))
        assert response.is_closed

    async def read() -> None:
        async with httpx.AsyncClient() as client, client.stream("GET", scripted.url) as response:
            assert joined([e async for e in wiremend.astream(response)]) == joined(stream(BODY))
            assert response.is_closed

    asyncio.run(read())


def test_requests(scripted: Provider) -> None:
    requests = pytest.importorskip("requests")
    scripted.body, scripted.size = BODY, 7
    with requests.get(scripted.url, stream=True, timeout=10) as response:
        assert joined(stream(response)) == joined(stream(BODY))


def test_aiohttp(scripted: Provider) -> None:
    aiohttp = pytest.importorskip("aiohttp")
    scripted.body, scripted.size = BODY, 7

    async def read() -> None:
        async with aiohttp.ClientSession() as session, session.get(scripted.url) as response:
            assert joined([e async for e in wiremend.astream(response)]) == joined(stream(BODY))

    asyncio.run(read())


def test_leaving_the_loop_ends_the_connection(scripted: Provider) -> None:
    httpx = pytest.importorskip("httpx")
    scripted.body, scripted.size, scripted.pause = text(*["word "] * 2000), 200, 0.005
    with httpx.Client() as client, client.stream("GET", scripted.url) as response:
        for event in stream(response):
            if isinstance(event, events.Text):
                break
        assert response.is_closed
    assert scripted.broken.wait(5)


def test_raw_responses_of_the_sdk_of_openai(scripted: Provider) -> None:
    openai = pytest.importorskip("openai")
    scripted.body, scripted.size = BODY, 7
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    with openai.OpenAI(api_key="k", base_url=scripted.url, max_retries=0) as client:
        with client.chat.completions.create(**ask) as sdk_stream:
            assert joined(stream(sdk_stream)) == joined(stream(BODY))
        with client.chat.completions.with_streaming_response.create(**ask) as response:
            assert joined(stream(response)) == joined(stream(BODY))
        response = client.chat.completions.with_raw_response.create(**ask)
        assert joined(stream(response)) == joined(stream(BODY))

    async def read() -> None:
        async with openai.AsyncOpenAI(api_key="k", base_url=scripted.url, max_retries=0) as client:
            async with await client.chat.completions.create(**ask) as sdk_stream:
                assert joined([e async for e in wiremend.astream(sdk_stream)]) == joined(stream(BODY))
            async with client.chat.completions.with_streaming_response.create(**ask) as response:
                assert joined([e async for e in wiremend.astream(response)]) == joined(stream(BODY))

    asyncio.run(read())


def test_the_command(tmp_path: Path) -> None:
    def run(*arguments: str, data: bytes = b"") -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, "-m", "wiremend", *arguments], input=data, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    code, out, err = run("repair", data=b"Here: {'a': 1,}")
    assert (code, out) == (0, '{"a": 1}\n') and "extra-comma" in err
    assert run("repair", "--quiet", data=b"[1")[::2] == (3, "")
    assert run("repair", data=b"nothing")[:2] == (4, "")
    assert run("repair", str(tmp_path / "none"))[0] == 2 and "No such file" in run("repair", str(tmp_path / "none"))[2]
    file = tmp_path / "body.sse"
    file.write_bytes(BODY)
    assert run("stream", str(file))[:2] == (0, 'book({"seats": 2})\n')
    assert run("stream", data=text("Hi", finish=None, done=False))[:2] == (3, "Hi")


SHARED = Path(os.environ.get("WIREMEND_SHARED", Path(__file__).parents[4] / "shared"))


@pytest.mark.skipif(not (SHARED / "cases/recordings.jsonl").exists(), reason="no recordings beside this clone")
def test_recordings() -> None:
    """Every recording, whole and in odd chunks: the same events, and nearly all with what was stated of them."""
    right, cases = 0, (SHARED / "cases/recordings.jsonl").read_text().splitlines()
    for line in cases:
        case = json.loads(line)
        body = (SHARED / "cases" / case["input_file"]).read_bytes()
        whole = joined(stream(body))
        chance = random.Random(len(body))
        cuts = sorted(chance.choices(range(len(body) + 1), k=30))
        odd = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
        for chunks in (odd, in_pieces(body, 1 if len(body) < 20_000 else 101)):
            assert joined(stream(chunks)) == whole, case["id"]
        wanted = case["expect"]
        texts = sorted((fields for kind, fields in whole if kind == "Text"), key=lambda fields: fields[1:])
        good = "".join(fields[0] for fields in texts) == wanted["text"]
        made = [fields for kind, fields in whole if kind == "CallEnded"]
        good &= len(made) == len(wanted["calls"])
        for (name, _, outcome, text_, raw, *_), want in zip(made, wanted["calls"], strict=False):
            # Without arguments, and not ended well: it may not be run, and nothing of it was cut.
            shown = raw if outcome == "none" else text_
            good &= name == want["name"] and (shown is None) == bool(want.get("cut"))
            given = want["arguments"] or "{}"
            good &= shown is None or shown.strip() in ("", given) or json.loads(shown) == json.loads(given)
        right += good
    assert right >= len(cases) - 4, right


def test_open_streams_leave_nothing_behind() -> None:
    def work() -> None:
        for event in stream(in_pieces(BODY, 20), tools=TOOLS):
            _ = repr(event)
        for _ in partial(in_pieces(text("{'a': [1, 2]}"), 10)):
            break

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    work()
    before = objects()
    for _ in range(100):
        work()
    assert objects() - before < 50
