import asyncio
from importlib.metadata import version

from pydantic_ai import Agent, NativeOutput

from tools import TOOLS, WriteFile, made

VERSIONS = {name: version(name) for name in ("pydantic-ai-slim", "openai", "anthropic", "google-genai")}
loop = asyncio.new_event_loop()


def run(names, kind, stream):
    wanted = {"calls": str, "object": WriteFile, "schema": NativeOutput(WriteFile)}[kind]
    agent = Agent(names["model"], output_type=wanted, tools=TOOLS if kind == "calls" else [])

    async def go():
        if not stream:
            return (await agent.run("Write it.")).output
        async with agent.run_stream("Write it.") as answer:
            async for _ in answer.stream_output(debounce_by=None):
                pass
            return await answer.get_output()

    output = loop.run_until_complete(go())
    if kind != "calls":
        made(output)
