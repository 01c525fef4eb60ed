"""The page of frameworks: its snippets are what the run executes, and its figures are what the run prints."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[4] / "docs" / "frameworks.md"
BASE, MODE = "http://127.0.0.1:8484", '"X-Wiremend-Mode": "validated"'

# By framework and by what a snippet has, the arguments that put the transport of the package for Python below it, or what
# does it afterwards.
HTTPX, HTTPX2 = ("http_client=wiremend.httpx%s.Client()" % number for number in ("", 2))
TAKES = {
    "langchain": {
        "ChatOpenAI(": f"{HTTPX2}, http_async_client=wiremend.httpx2.AsyncClient()",
        "ChatAnthropic(": f"model._client = model._client.with_options({HTTPX2})",
        "ChatGoogleGenerativeAI(": 'client_args={"transport": wiremend.httpx.Transport()}',
        "ChatOllama(": 'sync_client_kwargs={"transport": wiremend.httpx.Transport()}',
    },
    "llamaindex": {
        **dict.fromkeys(("OpenAI(", "OpenAILike(", "OpenAIResponses("), f"{HTTPX}, async_http_client=wiremend.httpx.AsyncClient()"),
        "Anthropic(": f"model._client = model._client.with_options({HTTPX})\n"
        "model._aclient = model._aclient.with_options(http_client=wiremend.httpx.AsyncClient())",
        "Ollama(": f'import ollama\nmodel._client = ollama.Client("{BASE}", headers={{{MODE}}}, transport=wiremend.httpx.Transport())\n'
        f'model._async_client = ollama.AsyncClient("{BASE}", headers={{{MODE}}}, transport=wiremend.httpx.AsyncTransport())',
    },
    "instructor": dict.fromkeys(("from_provider(", "Anthropic("), HTTPX2),
    "pydantic-ai": {
        "AsyncOpenAI(": "http_client=wiremend.httpx2.AsyncClient()",
        "HttpOptions(": 'async_client_args={"transport": wiremend.httpx2.AsyncTransport()}',
    },
    "openai-agents": {"AsyncOpenAI(": "http_client=wiremend.httpx2.AsyncClient()"},
    "anthropic": {"Anthropic(": HTTPX2},
    "litellm": {
        "openai/": f'import openai\nask = partial(ask, client=openai.OpenAI(base_url="{BASE}/v1", {HTTPX2}))',
        "litellm.completion": f"from litellm.llms.custom_httpx.http_handler import HTTPHandler\nask = partial(ask, client=HTTPHandler({HTTPX[5:]}))",
    },
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
    for taker, ours in TAKES.get(framework, {}).items():
        if re.search(rf"(?<!\w){re.escape(taker)}", text):
            plain = ours.replace("wiremend.", "").replace("Transport()", "HTTPTransport()")
            module = re.search("httpx2?", ours)[0]
            return tuple(f"import {name}{module}\n{with_client(text, given)}" for name, given in (("", plain), ("wiremend.", ours)))
    return None


def with_client(text, given):
    """A snippet with arguments beside its base URL, or with lines after it."""
    if re.match(r"\w+=", given):
        return re.sub(rf'\b(?=\w+="{BASE})', lambda _: f"{given}, ", text)
    return f"{text}{given}\n"


def write(name, lines):
    text = PAGE.read_text()
    between = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    PAGE.write_text(between.sub(lambda found: found[1] + "\n" + "\n".join(lines) + "\n" + found[2], text))
