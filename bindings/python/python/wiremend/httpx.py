"""One line for every SDK that stands on ``httpx``: give it a client that mends what passes.

>>> from wiremend.httpx import Client
>>> client = Client()

``OpenAI(http_client=Client())`` mends each request's history and each answer as the gateway does it, in this process.
The ``extensions["wiremend"]`` of a response says what was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from ._native import Answer
from ._transport import Mending, OnAnswer, ToolRule, transports

__all__ = ["Answer", "AsyncClient", "AsyncTransport", "Client", "Mending", "ToolRule", "Transport"]

if TYPE_CHECKING:

    class Client(httpx.Client):
        """A client whose answers are mended. It takes what `httpx.Client` takes."""

        def __init__(
            self, *, mending: Mending | None = None, on_answer: OnAnswer | None = None, **options: Any
        ) -> None: ...

    class AsyncClient(httpx.AsyncClient):
        """The same, asynchronous."""

        def __init__(
            self, *, mending: Mending | None = None, on_answer: OnAnswer | None = None, **options: Any
        ) -> None: ...

    class Transport(httpx.BaseTransport):
        """Mends what passes through another transport, by default an `httpx.HTTPTransport`."""

        def __init__(
            self,
            inner: httpx.BaseTransport | None = None,
            *,
            mending: Mending | None = None,
            held_bytes: int = 8 << 20,
            on_answer: OnAnswer | None = None,
        ) -> None: ...

    class AsyncTransport(httpx.AsyncBaseTransport):
        """The same, asynchronous."""

        def __init__(
            self,
            inner: httpx.AsyncBaseTransport | None = None,
            *,
            mending: Mending | None = None,
            held_bytes: int = 8 << 20,
            on_answer: OnAnswer | None = None,
        ) -> None: ...

else:
    Client, AsyncClient, Transport, AsyncTransport = transports(httpx)
