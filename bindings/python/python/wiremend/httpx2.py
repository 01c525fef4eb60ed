"""One line for every SDK that stands on ``httpx2``: give it a client that mends what passes.

>>> from wiremend.httpx2 import Client
>>> client = Client()

``OpenAI(http_client=Client())`` mends each request's history and each answer as the gateway does it, in this process.
The ``extensions["wiremend"]`` of a response says what was done.
"""

import httpx2

from ._native import Answer
from ._transport import AsynchronousTransport, Mending, MendingClient, PlainTransport, ToolRule

__all__ = ["Answer", "AsyncClient", "AsyncTransport", "Client", "Mending", "ToolRule", "Transport"]


class Transport(PlainTransport[httpx2.BaseTransport], httpx2.BaseTransport):
    """Mends what passes through another transport, by default an `httpx2.HTTPTransport`."""

    _httpx = httpx2


class AsyncTransport(AsynchronousTransport[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport):
    """The same, asynchronous."""

    _httpx = httpx2


class Client(MendingClient, httpx2.Client):
    """A client whose answers are mended. It takes what `httpx2.Client` takes."""

    _around = Transport


class AsyncClient(MendingClient, httpx2.AsyncClient):
    """The same, asynchronous."""

    _around = AsyncTransport
