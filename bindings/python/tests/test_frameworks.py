"""Hooks of frameworks, and frameworks with the transport, each where its package is installed.

Every broken call is asked for twice: once mended, and once cut off. What was cut off must not run.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
from typing import Any

import pytest
from bodies import Provider, call, text


BROKEN = call("{'seats': 2, 'row': ", "'B',}")
CUT = call("{'seats': 2, 'row': 'B", finish="length")
SEATS = {"seats": 2, "row": "B"}


def http() -> Any:
    """The module for the client that the installed SDK stands on."""
    if importlib.util.find_spec("httpx2"):
        return importlib.import_module("wiremend.httpx2")
    return importlib.import_module("wiremend.httpx")


def answers(scripted: Provider, *bodies: bytes) -> None:
    """The provider gives these in turn, and the last one from then on."""
    left = list(bodies)
    scripted.size = 11
    scripted.answer = lambda asked: whole(asked, left.pop(0) if len(left) > 1 else left[0])

    def whole(asked: bytes, body: bytes) -> bytes:
        if json.loads(asked).get("stream"):
            scripted.type = "text/event-stream"
            return body
        scripted.type = "application/json"
        return as_whole(body)


def as_whole(body: bytes) -> bytes:
    """The same answer, not as a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish = None
    for line in body.decode().split("\n\n"):
        if not line.startswith("data: {"):
            continue
        choice = json.loads(line.removeprefix("data: "))["choices"][0]
        finish = choice["finish_reason"] or finish
        delta = choice["delta"]
        if "content" in delta:
            message["content"] = (message["content"] or "") + delta["content"]
        for piece in delta.get("tool_calls", []):
            if "id" in piece:
                message["tool_calls"] = [{k: piece[k] for k in ("id", "type", "function")}]
            else:
                message["tool_calls"][0]["function"]["arguments"] += piece["function"]["arguments"]
    frame = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({**frame, "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}).encode()


def test_chunk_objects() -> None:
    openai = pytest.importorskip("openai")
    from wiremend.chunks import amend_chunks, mend_chunks

    Chunk = openai.types.chat.ChatCompletionChunk

    def chunks(body: bytes) -> list[Any]:
        lines = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line.startswith("data: {")]
        return [Chunk.model_validate_json(line) for line in lines]

    def arguments(made: list[Any]) -> str:
        pieces = [piece for chunk in made for piece in chunk.choices[0].delta.tool_calls or []]
        return "".join(piece.function.arguments or "" for piece in pieces)

    came = chunks(BROKEN)
    made = list(mend_chunks(came))
    assert json.loads(arguments(made)) == SEATS and all(isinstance(chunk, Chunk) for chunk in made)
    assert made[-1] is came[-1] and made[0] is came[0]
    valid = chunks(call('{"seats": 2}') + text("Hi"))
    assert [id(chunk) for chunk in mend_chunks(valid)] == [id(chunk) for chunk in valid]
    cut = chunks(CUT)
    assert arguments(list(mend_chunks(cut))) == arguments(cut)

    async def later() -> str:
        async def source() -> Any:
            for chunk in chunks(BROKEN):
                yield chunk

        return arguments([chunk async for chunk in amend_chunks(source())])

    assert json.loads(asyncio.run(later())) == SEATS

    def failing() -> Any:
        yield from came[:-1]
        raise ConnectionError("gone")

    left: list[Any] = []
    with pytest.raises(ConnectionError):
        left.extend(mend_chunks(failing()))
        for chunk in mend_chunks(failing()):
            left.append(chunk)


@pytest.mark.parametrize("transport", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_pydantic_ai(scripted: Provider, transport: bool, stream: bool) -> None:
    ai = pytest.importorskip("pydantic_ai")
    openai = pytest.importorskip("openai")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    ran: list[Any] = []
    if transport:
        client = openai.AsyncOpenAI(api_key="k", base_url=scripted.url, http_client=http().AsyncClient(), max_retries=0)
        more: dict[str, Any] = {}
    else:
        from wiremend.pydantic_ai import MendArguments

        client = openai.AsyncOpenAI(api_key="k", base_url=scripted.url, max_retries=0)
        more = {"capabilities": [MendArguments()]}
    agent = ai.Agent(OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)), retries=2, **more)

    @agent.tool_plain
    def book(seats: int, row: str) -> str:
        ran.append({"seats": seats, "row": row})
        return "done"

    async def run() -> None:
        if stream:
            async with agent.run_stream("Book.") as result:
                await result.get_output()
        else:
            await agent.run("Book.")

    async def both() -> None:
        answers(scripted, BROKEN, text("Done."))
        await run()
        assert ran == [SEATS]
        ran.clear()
        answers(scripted, CUT, text("Sorry."))
        await run()
        assert ran == []

    asyncio.run(both())


def test_langchain_calls(scripted: Provider) -> None:
    pytest.importorskip("langchain_openai")
    from langchain_openai import ChatOpenAI

    from wiremend.langchain import mend_calls

    tool = {"type": "function", "function": {"name": "book", "parameters": {"type": "object", "properties": {}}}}
    model = ChatOpenAI(model="m", api_key="k", base_url=scripted.url, max_retries=0).bind_tools([tool])
    chain = model | mend_calls
    answers(scripted, BROKEN)
    message = chain.invoke("Book.")
    assert [c["args"] for c in message.tool_calls] == [SEATS] and message.invalid_tool_calls == []
    answers(scripted, CUT)
    message = chain.invoke("Book.")
    assert message.tool_calls == [] and "cut off" in (message.invalid_tool_calls[0]["error"] or "")
    answers(scripted, text("Hi"))
    assert chain.invoke("Hi").content == "Hi"


def test_langchain_transport(scripted: Provider) -> None:
    pytest.importorskip("langchain_openai")
    from langchain_openai import ChatOpenAI

    client = http().Client()
    model = ChatOpenAI(model="m", api_key="k", base_url=scripted.url, max_retries=0, http_client=client)
    answers(scripted, BROKEN)
    assert model.invoke("Book.").tool_calls[0]["args"] == SEATS
    whole: Any = None
    for chunk in model.stream("Book."):
        whole = chunk if whole is None else whole + chunk
    assert whole.tool_calls[0]["args"] == SEATS


def test_langchain_parser() -> None:
    core = pytest.importorskip("langchain_core")
    from langchain_core.exceptions import OutputParserException
    from langchain_core.language_models import FakeListChatModel

    from wiremend.langchain import JsonOutputParser

    schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    parser = JsonOutputParser(schema)
    assert parser.parse("Sure: {days: '3'}") == {"days": 3}
    with pytest.raises(OutputParserException) as caught:
        parser.parse("{days: 'a few'}")
    assert "/days: expected integer" in str(caught.value.observation)
    with pytest.raises(OutputParserException):
        JsonOutputParser().parse('{"days": 3')
    chain = FakeListChatModel(responses=["{'days': 3, 'city': 'Oslo'}"]) | JsonOutputParser()
    seen = list(chain.stream("x"))
    assert seen[-1] == {"days": 3, "city": "Oslo"} and len(seen) > 2
    assert core


def test_litellm() -> None:
    pytest.importorskip("litellm")
    from litellm import ModelResponseStream

    from wiremend.litellm import mend

    lines = [line.removeprefix("data: ") for line in BROKEN.decode().split("\n\n") if line.startswith("data: {")]

    async def run() -> str:
        async def source() -> Any:
            for line in lines:
                yield ModelResponseStream(**json.loads(line))

        out = ""
        async for chunk in mend.async_post_call_streaming_iterator_hook(None, source(), {}):
            for piece in chunk.choices[0].delta.tool_calls or []:
                out += piece.function.arguments or ""
        return out

    assert json.loads(asyncio.run(run())) == SEATS


@pytest.mark.parametrize("stream", [False, True])
def test_openai_agents(scripted: Provider, stream: bool) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    ran: list[Any] = []

    @agents.function_tool
    def book(seats: int, row: str) -> str:
        """Books seats."""
        ran.append({"seats": seats, "row": row})
        return "done"

    client = openai.AsyncOpenAI(api_key="k", base_url=scripted.url, http_client=http().AsyncClient(), max_retries=0)
    model = agents.OpenAIChatCompletionsModel("m", openai_client=client)
    agent = agents.Agent("Booker", model=model, tools=[book])

    async def run() -> None:
        if stream:
            result = agents.Runner.run_streamed(agent, "Book.")
            async for _ in result.stream_events():
                pass
        else:
            await agents.Runner.run(agent, "Book.")

    async def both() -> None:
        answers(scripted, BROKEN, text("Done."))
        await run()
        assert ran == [SEATS]
        ran.clear()
        answers(scripted, CUT, text("Sorry."))
        with contextlib.suppress(agents.AgentsException):
            await run()
        assert ran == []

    asyncio.run(both())


def test_instructor(scripted: Provider) -> None:
    instructor = pytest.importorskip("instructor")
    openai = pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    Seats = pydantic.create_model("book", seats=(int, ...), row=(str, ...))
    client = openai.OpenAI(api_key="k", base_url=scripted.url, http_client=http().Client(), max_retries=0)
    patched = instructor.from_openai(client)
    answers(scripted, BROKEN)
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": "Book."}], "max_retries": 0, "response_model": Seats}
    made = patched.chat.completions.create(**ask)
    assert (made.seats, made.row) == (2, "B")
    answers(scripted, CUT)
    with pytest.raises(Exception, match="."):
        patched.chat.completions.create(**ask)


def test_llama_index(scripted: Provider) -> None:
    pytest.importorskip("llama_index.llms.openai")
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai import OpenAI

    def book(seats: int, row: str) -> str:
        """Books seats."""
        return "done"

    llm = OpenAI(model="gpt-4o", api_key="k", api_base=scripted.url, http_client=http().Client(), max_retries=0)
    answers(scripted, BROKEN)
    response = llm.chat_with_tools([FunctionTool.from_defaults(book)], "Book.")
    assert [c.tool_kwargs for c in llm.get_tool_calls_from_response(response)] == [SEATS]


def test_smolagents(scripted: Provider) -> None:
    smolagents = pytest.importorskip("smolagents")
    ran: list[Any] = []

    class Book(smolagents.Tool):  # type: ignore[misc]
        name = "book"
        description = "Books seats."
        inputs = {"seats": {"type": "integer", "description": "how many"}, "row": {"type": "string", "description": "where"}}
        output_type = "string"

        def forward(self, seats: int, row: str) -> str:
            ran.append({"seats": seats, "row": row})
            return "done"

    model = smolagents.OpenAIModel("m", api_base=scripted.url, api_key="k", client_kwargs={"http_client": http().Client()})
    agent = smolagents.ToolCallingAgent(tools=[Book()], model=model, max_steps=2, verbosity_level=0)
    answers(scripted, BROKEN, call('{"answer": "Done."}', name="final_answer"))
    assert agent.run("Book.") == "Done."
    assert ran == [SEATS]


