from importlib.metadata import version

from langchain.agents import create_agent

from tools import TOOLS, WriteFile, made

VERSIONS = {name: version(name) for name in ("langchain", "langchain-openai", "langchain-anthropic", "langchain-google-genai", "langchain-ollama")}


def run(names, kind, stream):
    model = names["model"]
    if kind == "calls":
        agent = create_agent(model, TOOLS)
        question = {"messages": [{"role": "user", "content": "Write it."}]}
        if stream:
            # A model streams in an agent only if its messages are asked for.
            for _ in agent.stream(question, stream_mode="messages"):
                pass
        else:
            agent.invoke(question)
        return
    asked = model.with_structured_output(WriteFile, method="json_schema" if kind == "schema" else "function_calling")
    if stream:
        *_, last = asked.stream("Write it.")
        made(last)
    else:
        made(asked.invoke("Write it."))
