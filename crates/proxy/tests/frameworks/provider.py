"""A provider on loopback that answers the first request of a run with a turn of the script, and what follows with a text."""

import dataclasses
import http.server
import json
import re
import threading

import cases

PATHS = {
    r"/v1/chat/completions": "openai-chat",
    r"/v1/responses": "openai-responses",
    r"/v1/messages": "anthropic",
    r"/v1(?:beta)?/models/[^/]*:(?:g|streamG)enerateContent": "gemini",
    r"/api/chat": "ollama",
}


class Provider(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.say(None, None)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def say(self, case, wanted):
        """What to answer next, and in which format it is to be asked for."""
        self.case, self.wanted, self.asked = case, wanted, 0
        self.refused = None

    def handle_error(self, *_):
        pass

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The head and the first piece of a body are written apart: the second would wait for the client's word on the first.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        # In pieces, so that events do not come as one.
        for at in range(0, len(body), 1401):
            self.wfile.write(body[at : at + 1401])

    def do_GET(self):
        # LlamaIndex asks what a model of Gemini can do.
        model = {"name": self.path.removeprefix("/v1beta/"), "inputTokenLimit": 9000, "outputTokenLimit": 9000}
        self.send(200, "application/json", json.dumps(model).encode())

    def do_POST(self):
        server = self.server
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path, _, query = self.path.partition("?")
        if path == "/api/show":
            # It asks what one of Ollama can do, too.
            return self.send(200, "application/json", b'{"model_info": {}, "capabilities": ["tools"], "details": {}}')
        api = next((api for pattern, api in PATHS.items() if re.fullmatch(pattern, path)), None)
        stream = "streamGenerateContent" in path or request.get("stream", api == "ollama")
        if (api, bool(stream)) != server.wanted:
            server.refused = f"{path}, {'streamed' if stream else 'not streamed'}"
            return self.send(404, "application/json", b'{"error": {"message": "not what the script has", "type": "not_found_error"}}')
        server.asked += 1
        case = server.case
        if server.asked > 1:
            case = cases.case("end", "end", cases.Turn(text=["Done."]), [], "never")
        turn = case["turn"]
        if turn.calls and server.asked == 1 and not declared(request, turn):
            # A program that asks for an object declares one tool with a name of its own.
            turn = dataclasses.replace(turn, calls=[(name_of(request), pieces) for _, pieces in turn.calls])
        turn = dataclasses.replace(turn, repeated={name: request[name] for name in ("text", "tools") if name in request})
        body, kind = cases.body(turn, api, bool(stream), case["damage"])
        self.send(200, kind, body)


def tools_of(request):
    for tool in request.get("tools") or []:
        for one in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            yield one.get("function", one).get("name")


def declared(request, turn):
    return {name for name, _ in turn.calls} <= set(tools_of(request))


def name_of(request):
    return next(tools_of(request), "none")
