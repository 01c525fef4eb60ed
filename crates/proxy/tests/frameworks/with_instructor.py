from importlib.metadata import version

from tools import WriteFile, made

VERSIONS = {name: version(name) for name in ("instructor", "openai", "anthropic")}


def run(names, kind, stream):
    client = names["client"]
    question = {"response_model": WriteFile, "messages": [{"role": "user", "content": "Write it."}], "max_retries": 1}
    if stream:
        *_, last = client.create_partial(**question)
        made(last)
    else:
        made(client.create(**question))
