"""Times beside other packages, in one run, and the memory of open streams.

``pip install . orjson json_repair fast_json_repair jiter && python bench.py``

Each time is the least of many short runs. A package that cannot read a text, or reads another value, has no time.
"""

from __future__ import annotations

import json
import resource
import timeit
from collections.abc import Callable
from typing import Any

import fast_json_repair
import jiter
import json_repair
import orjson

import wiremend
from wiremend import Mender

CALL = "{city: 'Oslo', days: 3, units: 'metric', tags: ['a', 'b',], deep: {x: 1.5, y: None}, ok: True}"


def rows(count: int) -> list[dict[str, Any]]:
    words = "lorem ipsum dolor sit amet "
    return [
        {"id": i, "name": f"name {i}", "active": i % 2 == 0, "score": i * 1.37, "tags": ["alpha", "beta"], "bio": words * 3}
        for i in range(count)
    ]


def texts() -> dict[str, tuple[str, Any]]:
    """Texts, and the value that each has."""
    many = rows(2600)
    valid = json.dumps(many)
    value = wiremend.loads(CALL)
    unicode_rows = [{"texte": "Ça va très bien 👍 " * 10, "escapes": 'a "quoted" line\n' * 5} for _ in range(700)]
    return {
        "valid call, 96 B": (json.dumps(value), value),
        "valid rows, 0.5 MB": (valid, many),
        "valid, not ASCII": (json.dumps(unicode_rows, ensure_ascii=False), unicode_rows),
        "broken call, 94 B": (CALL, value),
        "a comma missing, 95 B": (json.dumps(value).replace(', "days"', ' "days"'), value),
        "broken rows, 0.5 MB": (valid.replace('"name"', "'name'").replace("false", "False")[:-1] + ",]", many),
        "broken calls, 0.5 MB": ("[" + ", ".join([CALL] * 5000) + "]", [value] * 5000),
    }


READERS: dict[str, Callable[[str], Any]] = {
    "wiremend": wiremend.loads,
    "json": json.loads,
    "orjson": orjson.loads,
    "jiter": lambda text: jiter.from_json(text.encode(), partial_mode=True),
    "json_repair": json_repair.loads,
    "fast_json_repair": fast_json_repair.loads,
}


def best(read: Callable[[str], Any], text: str) -> float:
    """The least time in microseconds, of many short runs: other programs take less of these than of long ones."""
    once = max(timeit.timeit(lambda: read(text), number=1), 1e-7)
    number = max(1, int(0.002 / once))
    repeat = min(100, max(3, int(1 / (number * once))))
    return min(timeit.repeat(lambda: read(text), number=number, repeat=repeat)) / number * 1e6


def shown(time: float) -> str:
    return f"{time:.1f} µs" if time < 1000 else f"{time / 1000:.1f} ms"


def times() -> None:
    print("| text | " + " | ".join(READERS) + " |")
    print("|---|" + "---|" * len(READERS))
    for name, (text, wanted) in texts().items():
        cells = []
        for read in READERS.values():
            try:
                right = read(text) == wanted
            except ValueError:
                right = False
            cells.append(shown(best(read, text)) if right else "–")
        print(f"| {name} | " + " | ".join(cells) + " |")


def memory(count: int) -> None:
    """What open streams take: each has read a call up to its middle."""
    body = 'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":'
    chunk = (body + '"{\'city\': \'Os"}}]}}]}\n\n').encode()

    def resident() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for name, make in (("readers of responses", wiremend.reader), ("menders of texts", Mender)):
        before = resident()
        opened = [make() for _ in range(count)]
        for one in opened:
            one.feed(chunk if make is wiremend.reader else b"{'city': 'Os")
        print(f"{count} open {name}: {(resident() - before) / count:.2f} KiB each")


def soak(count: int) -> None:
    """Whether anything is left behind."""
    start = 0
    for turn in range(count):
        for text in (CALL, "[1, {'a': ", "no JSON", '{"a": 1}'):
            mended = wiremend.find(text)
            _ = (mended.repairs, mended.error, mended.text and mended.value)
        list(wiremend.stream(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'))
        if turn == count // 5:
            start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start
    print(f"{count} turns of five texts: {grown} KiB more than after a fifth of them")


if __name__ == "__main__":
    times()
    print()
    memory(10_000)
    soak(50_000)
