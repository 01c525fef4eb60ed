"""One line for every SDK that stands on ``httpx``: give it a client that mends what passes.

>>> from wiremend.httpx import Client
>>> client = Client()

``OpenAI(http_client=Client())`` mends each request's history and each answer as the gateway does it, in this process.
The ``extensions["wiremend"]`` of a response says what was done.
"""

import httpx

from ._native import Answer
from ._transport import AsynchronousTransport, Mending, MendingClient, PlainTransport, ToolRule

__all__ = ["Answer", "AsyncClient", "AsyncTransport", "Client", "Mending", "ToolRule", "Transport"]


class Transport(PlainTransport[httpx.BaseTransport], httpx.BaseTransport):
    """Mends what passes through another transport, by default an `httpx.HTTPTransport`."""

    _httpx = httpx


class AsyncTransport(AsynchronousTransport[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport):
    """The same, asynchronous."""

    _httpx = httpx


class Client(MendingClient, httpx.Client):
    """A client whose answers are mended. It takes what `httpx.Client` takes."""

    _around = Transport


class AsyncClient(MendingClient, httpx.AsyncClient):
    """The same, asynchronous."""

    _around = AsyncTransport
