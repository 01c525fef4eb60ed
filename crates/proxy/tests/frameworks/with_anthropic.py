from importlib.metadata import version

from anthropic import beta_tool

from tools import TOOLS

VERSIONS = {"anthropic": version("anthropic")}
KNOWN = [beta_tool(tool) for tool in TOOLS]


def run(names, kind, stream):
    question = {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [{"role": "user", "content": "Write it."}]}
    runner = names["client"].beta.messages.tool_runner(**question, tools=KNOWN, stream=stream)
    for message in runner:
        if stream:
            for _ in message:
                pass
