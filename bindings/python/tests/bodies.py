"""Bodies of responses, and servers on loopback that send them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def chat(*deltas: dict[str, Any], finish: str | None = "stop", done: bool = True) -> bytes:
    """A stream in the format of Chat Completions."""
    events = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    if finish is not None:
        events.append({"index": 0, "delta": {}, "finish_reason": finish})
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [f"data: {json.dumps({**frame, 'choices': [event]}, ensure_ascii=False)}\n\n" for event in events]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def text(*pieces: str, **rest: Any) -> bytes:
    """An answer of text."""
    return chat(*({"content": piece} for piece in pieces), **rest)


def call(*pieces: str, name: str = "book", finish: str | None = "tool_calls", **rest: Any) -> bytes:
    """An answer that is a call, its arguments in pieces."""
    function = {"name": name, "arguments": ""}
    start = {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    deltas = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    return chat(start, *deltas, finish=finish, **rest)


def in_pieces(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


class Provider:
    """A provider on loopback: what it answers, and what it was asked."""

    def __init__(self) -> None:
        self.body = b""
        self.type = "text/event-stream"
        self.size = 1 << 20
        self.pause = 0.0
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.url = ""
        self.broken = threading.Event()
        """Set when a client went away before the end."""
        self.answer: Callable[[bytes], bytes] | None = None


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that stops by itself."""
    script = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 20

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers.get("content-length", 0)))
            script.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, asked))
            body = script.body if script.answer is None else script.answer(asked)
            self.send_response(200)
            self.send_header("content-type", script.type)
            for name, value in script.headers.items():
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            try:
                for piece in in_pieces(body, script.size):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                    time.sleep(script.pause)
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                script.broken.set()
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
