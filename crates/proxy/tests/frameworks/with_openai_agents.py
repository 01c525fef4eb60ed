import asyncio
from importlib.metadata import version

from agents import Agent, Runner, function_tool, set_tracing_disabled

from tools import TOOLS, WriteFile, made

VERSIONS = {name: version(name) for name in ("openai-agents", "openai")}
set_tracing_disabled(True)
loop = asyncio.new_event_loop()


def run(names, kind, stream):
    tools = [function_tool(tool) for tool in TOOLS] if kind == "calls" else []
    agent = Agent(name="writer", model=names["model"], tools=tools, output_type=None if kind == "calls" else WriteFile)

    async def go():
        if not stream:
            return await Runner.run(agent, "Write it.")
        answer = Runner.run_streamed(agent, "Write it.")
        async for _ in answer.stream_events():
            pass
        return answer

    output = loop.run_until_complete(go()).final_output
    if kind != "calls":
        made(output)
