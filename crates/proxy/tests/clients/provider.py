"""A provider on loopback, which answers as a script says."""

import http.server
import json
import threading


class Provider(http.server.ThreadingHTTPServer):
    """`answer` gets the path of a request, and its JSON if it has a body, and returns a status, a media type and the bytes of a body."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client may leave before the end."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The head and the first piece of a body are written apart: the second would wait for the client's word on the first.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        status, kind, body = self.server.answer(self.path, json.loads(body) if body else None)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        # In pieces, so that events do not come as one.
        for at in range(0, len(body), 701):
            self.wfile.write(body[at : at + 701])

    do_POST = do_GET
