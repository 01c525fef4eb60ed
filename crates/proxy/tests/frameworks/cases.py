"""What a model says, right, broken, cut off and lost on the way, and what an agent may run of it."""

import ast
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
from bodies import FORMATS, Turn, Unsuited  # noqa: E402

VALUE = {"path": "repo/deploy.sh", "content": "set -e\nrm -rf repo/build", "lines": [1, 2], "force": True}
TEXT = json.dumps(VALUE)
PYTHON = repr(VALUE)

# Texts that mean the value. A call whose arguments are such a text is to run with it, and content is to give it.
BROKEN = {
    "as Python prints it": PYTHON,
    "literals of Python": TEXT.replace("true", "True"),
    "a comma at the end": TEXT.replace("2]", "2,]").replace("true}", "true,}"),
    "in a fence": f"```json\n{TEXT}\n```",
    "bare keys": TEXT.replace('"path"', "path").replace('"lines"', "lines"),
    "a comment": TEXT.replace('"lines"', '/* both */ "lines"'),
    "a raw line end in a string": TEXT.replace("\\n", "\n"),
    "text after it": f"{TEXT}\n\nThat is the call.",
    "a comma is missing": TEXT.replace(', "lines"', ' "lines"'),
    "printed over lines, with literals of Python": json.dumps(VALUE, indent=1).replace("true", "True"),
}

# What a limit of tokens leaves. Nothing may run of it.
HALVES = {
    "in a string": TEXT[: TEXT.index("/build") + 6],
    "in a string, as Python prints it": PYTHON[: PYTHON.index("/build") + 6],
    "after a member": TEXT[: TEXT.index(', "lines"')],
    "after a member and its comma, as Python prints it": PYTHON[: PYTHON.index(" 'lines'")],
    "after a member, as Python prints it": PYTHON[: PYTHON.index(", 'lines'")],
    "in a number": TEXT[: TEXT.index("2]") + 1],
    "after literals of Python": '{"force": True, "path": "repo/deploy.sh", "content": "rm -rf repo',
    "after a bare key": '{path: "repo/deploy.sh", "content": "rm -rf repo',
    "in a fence": f"```json\n{TEXT[:60]}",
}

# Repairs that the default policy forbids, because they guess. Nothing may run of it but what runs of the same bytes.
GUESSES = {
    "a value is missing": TEXT.replace('"set -e\\nrm -rf repo/build"', ""),
    "a value is missing, as Python prints it": PYTHON.replace("[1, 2]", ""),
    "the end is missing": TEXT[:-1],
    "the end is missing, as Python prints it": PYTHON[:-1],
    "two values": '{"path": "repo/a"}{"path": "repo/b"}',
}


def pieces(text, size=9):
    return [text[at : at + size] for at in range(0, len(text), size)]


def one(text):
    return [("write_file", pieces(text))]


def holding(body, text):
    """The events of a stream, and the first that has this text of the model."""
    events = body.split(b"\n\n" if b"\n\n" in body else b"\n")
    return events, next((at for at, event in enumerate(events) if text in event), len(events)), body[len(events[0]) :][: 2 if b"\n\n" in body else 1]


def lose(text):
    """An event was lost on the way."""

    def damage(body):
        events, at, between = holding(body, text)
        return between.join(events[:at] + events[at + 1 :]) if len(events) > 2 and at < len(events) else None

    return damage


def tear(body):
    """A byte of the envelope was lost: the quote before a name."""
    events, at, between = holding(body, b"rm -rf")
    if len(events) < 3 or at == len(events):
        return None
    events[at] = events[at].replace(b'{"', b"{", 1)
    return between.join(events)


def spoil(body):
    """A byte within a text of the model is none of UTF-8."""
    at = body.find(b"loy.sh")
    return None if at < 0 else body[:at] + b"\xff" + body[at + 1 :]


def case(group, name, turn, want, rule, damage=None, left=(), kept=None):
    """`left` is what the bytes mean that are left after a loss which nothing shows, and `kept` the calls before one that
    was cut off, if calls are."""
    return {"group": group, "name": name, "turn": turn, "want": want, "rule": rule, "damage": damage, "left": list(left), "kept": kept}


def answers(kind):
    """The cases for calls of tools, for an object that is asked for by a tool, or for one in content by a schema.

    What runs through the gateway must be, by the rule of a case: `right`: what is wanted, all of it; `may`: that, or
    less; `never`: nothing. What ran without the gateway may run in each case, and if it was all right, it must. The
    first of each group is clean, where a framework may not be able to do what is asked of it.
    """
    say = (lambda text, finish="stop": Turn(text=pieces(text), finish=finish)) if kind == "schema" else lambda text, finish="stop": Turn(calls=one(text), finish=finish)
    value = [["write_file", VALUE]]
    kept = None if kind == "schema" else []
    yield case("clean", "clean", say(TEXT), value, "right")
    yield case("clean", "clean, printed over lines", say(json.dumps(VALUE, indent=2)), value, "right")
    for name, text in BROKEN.items():
        yield case("broken", name, say(text), value, "right")
    yield case("unfit", "JSON in a string", say(TEXT.replace("[1, 2]", '"[\\n 1,\\n 2\\n]"')), value, "may")
    yield case("unfit", "other types", say(TEXT.replace("1, 2", '"1", "2"').replace("true", '"true"')), value, "may")
    for name, text in HALVES.items():
        yield case("cut", f"cut {name}", say(text, "length"), [], "never", kept=kept)
        yield case("cut", f"cut {name}, with a finish that says all is well", say(text), [], "never", kept=kept)
        yield case("cut", f"cut {name}, without an end", say(text, "lost"), [], "never", kept=kept)
    yield case("cut", "whole, with the finish of a limit", say(TEXT, "length"), value, "may", kept=kept)
    yield case("cut", "whole as Python prints it, with the finish of a limit", say(PYTHON, "length"), value, "may", kept=kept)
    yield case("cut", "whole, without an end", say(TEXT, "lost"), value, "may", kept=kept)
    yield case("cut", "whole as Python prints it, without an end", say(PYTHON, "lost"), value, "may", kept=kept)
    for name, text in GUESSES.items():
        yield case("refused", name, say(text), [], "never")
    for text, read, how in ((TEXT, json.loads, ""), (PYTHON, ast.literal_eval, ", as Python prints it")):
        # Most formats do not number their events. Without this one, the text means something else, and is as good as before.
        left = read("".join(piece for piece in pieces(text) if "rm" not in piece))
        yield case("damaged", f"an event within a string was lost{how}", say(text), value, "may", lose(b"rm -rf"), [["write_file", left]])
        yield case("damaged", f"an event between strings was lost{how}", say(text), value, "may", lose(b"line"))
        yield case("damaged", f"an event is torn{how}", say(text), value, "may", tear)
        yield case("damaged", f"bytes are no text{how}", say(text), [], "never", spoil)
    if kind != "calls":
        return
    now = [["now", {"zone": "UTC"}]]
    yield case("empty", "clean, no arguments", Turn(calls=[("now", ["{}"])]), now, "right")
    for name, empty in (("empty", []), ("null", None), ("blank", [" "])):
        yield case("empty", f"{name} arguments", Turn(calls=[("now", empty)]), now, "right")
        yield case("empty", f"{name} arguments, with the finish of a limit", Turn(calls=[("now", empty)], finish="length"), [], "never", kept=[])
    first, last = ("read_file", pieces('{"path": "repo/a"}')), ("now", pieces("{}"))
    several = [["read_file", {"path": "repo/a"}], *value, *now]
    yield case("several", "clean, several calls", Turn(calls=[first, *one(TEXT), last]), several, "right")
    yield case("several", "several calls, one broken", Turn(calls=[first, *one(PYTHON), last]), several, "right")
    broken = [("read_file", pieces("{'path': 'repo/a',}")), *one(BROKEN["in a fence"]), last]
    yield case("several", "several calls, two broken", Turn(calls=broken), several, "right")
    for name in ("in a string, as Python prints it", "after a member, as Python prints it"):
        turn = Turn(calls=[first, *one(HALVES[name])], finish="length")
        yield case("cut", f"the second call cut {name}", turn, several[:1], "may", kept=several[:1])


# What the gateway does not write yet: formats, whether they stream, and cases.
GAPS = []


def body(turn, api, stream, damage=None):
    """The bytes of an answer and their media type. None where the format cannot say it, or there is nothing to damage."""
    _, kind, make = FORMATS[api if stream else f"{api}-whole"]
    try:
        made = make(turn).encode()
    except Unsuited:
        return None
    made = damage(made) if damage else made
    return made and (made, kind)
