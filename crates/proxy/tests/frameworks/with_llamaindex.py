import asyncio
from importlib.metadata import version

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool

from tools import TOOLS, WriteFile, made

NAMES = ("core", "llms-openai", "llms-openai-like", "llms-anthropic", "llms-google-genai", "llms-ollama")
VERSIONS = {f"llama-index-{name}": version(f"llama-index-{name}") for name in NAMES}
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


def run(names, kind, stream):
    model = names["model"]
    if kind == "calls":
        agent = FunctionAgent(tools=[FunctionTool.from_defaults(tool) for tool in TOOLS], llm=model, streaming=stream)

        async def go():
            await agent.run(user_msg="Write it.")

        loop.run_until_complete(go())
        return
    prompt = PromptTemplate("Write it.")
    if stream:
        *_, last = model.stream_structured_predict(WriteFile, prompt)
        made(last)
    else:
        made(model.structured_predict(WriteFile, prompt))
