"""What a provider says to a framework: a turn of the script to the first request of a run, and a text to what follows."""

import dataclasses
import json
import re

import cases

PATHS = {
    r"/v1/chat/completions": "openai-chat",
    r"/v1/responses": "openai-responses",
    r"/v1/messages": "anthropic",
    r"/v1(?:beta)?/models/[^/]*:(?:g|streamG)enerateContent": "gemini",
    r"/api/chat": "ollama",
}
END = cases.Turn(text=["Done."])


class Script:
    def say(self, case, wanted):
        """What to answer next, and in which format it is to be asked for."""
        self.case, self.wanted, self.asked = case, wanted, 0
        self.refused = None

    def answer(self, path, request):
        path, _, _ = path.partition("?")
        if request is None:
            # LlamaIndex asks what a model of Gemini can do.
            model = {"name": path.removeprefix("/v1beta/"), "inputTokenLimit": 9000, "outputTokenLimit": 9000}
            return 200, "application/json", json.dumps(model).encode()
        if path == "/api/show":
            # It asks what one of Ollama can do, too.
            return 200, "application/json", b'{"model_info": {}, "capabilities": ["tools"], "details": {}}'
        api = next((api for pattern, api in PATHS.items() if re.fullmatch(pattern, path)), None)
        stream = bool("streamGenerateContent" in path or request.get("stream", api == "ollama"))
        if (api, stream) != self.wanted:
            self.refused = f"{path}, {'streamed' if stream else 'not streamed'}"
            return 404, "application/json", b'{"error": {"message": "not what the script has", "type": "not_found_error"}}'
        self.asked += 1
        turn, damage = (self.case["turn"], self.case["damage"]) if self.asked == 1 else (END, None)
        tools = list(tools_of(request))
        if not {name for name, _ in turn.calls} <= set(tools):
            # A program that asks for an object declares one tool with a name of its own.
            turn = dataclasses.replace(turn, calls=[(tools[0] if tools else "none", pieces) for _, pieces in turn.calls])
        turn = dataclasses.replace(turn, repeated={name: request[name] for name in ("text", "tools") if name in request})
        body, kind = cases.body(turn, api, stream, damage)
        return 200, kind, body


def tools_of(request):
    for tool in request.get("tools") or []:
        for one in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            yield one.get("function", one).get("name")
