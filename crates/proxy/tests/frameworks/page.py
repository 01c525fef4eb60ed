"""The page of frameworks: its snippets are what the run executes, and its figures are what the run prints."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[4] / "docs" / "frameworks.md"
BASE, MODE = "http://127.0.0.1:8484", '"X-Wiremend-Mode": "validated"'

# By framework and by what a snippet calls, the arguments that put the transport of the package for Python below it.
TAKES = {
    "langchain": {
        "ChatOpenAI": "http_client=wiremend.httpx2.Client(), http_async_client=wiremend.httpx2.AsyncClient()",
        "ChatGoogleGenerativeAI": 'client_args={"transport": wiremend.httpx.Transport()}',
        "ChatOllama": 'sync_client_kwargs={"transport": wiremend.httpx.Transport()}',
    },
    "llamaindex": dict.fromkeys(
        ("OpenAI", "OpenAILike", "OpenAIResponses"), "http_client=wiremend.httpx.Client(), async_http_client=wiremend.httpx.AsyncClient()"
    ),
    "instructor": dict.fromkeys(("from_provider", "Anthropic"), "http_client=wiremend.httpx2.Client()"),
    "pydantic-ai": {
        "AsyncOpenAI": "http_client=wiremend.httpx2.AsyncClient()",
        "HttpOptions": 'async_client_args={"transport": wiremend.httpx2.AsyncTransport()}',
    },
    "openai-agents": {"AsyncOpenAI": "http_client=wiremend.httpx2.AsyncClient()"},
    "anthropic": {"Anthropic": "http_client=wiremend.httpx2.Client()"},
}


def snippets():
    """By framework and name. A snippet without the base URL and the header of the page would test nothing."""
    found = re.findall(r"<!-- ([\w-]+), ([\w -]+) -->\n\n```(?:python|js)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for framework, name, text in found:
        if BASE not in text or MODE not in text:
            raise SystemExit(f"{PAGE.name}: the snippet of {framework}, {name} has not the base URL and the header")
    return {(framework, name): text for framework, name, text in found}


def pointed(text, base, header):
    """A snippet for another base URL, and with another header."""
    return text.replace(BASE, base).replace(MODE, header)


def transported(framework, text):
    """A snippet with a client of its own, plain and with the transport of the package for Python. None where nothing in
    it takes a client. Without one, that of Gemini would use another library, which reads damaged bytes otherwise."""
    for name, ours in TAKES.get(framework, {}).items():
        if re.search(rf"\b{name}\(", text):
            plain = ours.replace("wiremend.", "").replace("Transport()", "HTTPTransport()")
            given = [re.sub(rf'\b(?=\w+="{BASE})', f"{arguments}, ", text) for arguments in (plain, ours)]
            module = re.search("httpx2?", ours)[0]
            return f"import {module}\n{given[0]}", f"import wiremend.{module}\n{given[1]}"
    return None


def write(name, lines):
    text = PAGE.read_text()
    between = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    PAGE.write_text(between.sub(lambda found: found[1] + "\n" + "\n".join(lines) + "\n" + found[2], text))
