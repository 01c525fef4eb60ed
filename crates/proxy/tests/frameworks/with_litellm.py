import json
from importlib.metadata import version

import litellm
import pydantic

from tools import TOOLS, WriteFile, made

VERSIONS = {name: version(name) for name in ("litellm", "openai")}
litellm.suppress_debug_info = True
litellm.num_retries = 0
KNOWN = {tool.__name__: tool for tool in TOOLS}


def run(names, kind, stream):
    question = {"messages": [{"role": "user", "content": "Write it."}], "stream": stream}
    if kind == "calls":
        parameters = {name: pydantic.TypeAdapter(tool).json_schema() for name, tool in KNOWN.items()}
        question["tools"] = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in parameters.items()]
    else:
        question["response_format"] = WriteFile
    answer = names["ask"](**question)
    if stream:
        answer = litellm.stream_chunk_builder(list(answer))
    # As its documentation shows it, because it has no loop of its own.
    message = answer.choices[0].message
    for call in (message.tool_calls or []) if kind == "calls" else []:
        KNOWN[call.function.name](**json.loads(call.function.arguments))
    if kind == "schema":
        made(WriteFile.model_validate_json(message.content))
