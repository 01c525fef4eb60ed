"""Any input: texts that were changed by chance, and bytes that are nothing."""

from __future__ import annotations

import json
import random

import wiremend
from wiremend import MendError, Mender
from wiremend._native import Growing, Items

SEEDS = [
    '{"a": [1, -2.5e3, true, null, "é\\n\\ud83d\\ude00"], "b": {"c": {}, "d": []}, "": "x"}',
    "{'a': None, b: .5, \"c\": \"say \"hi\"\", // why\n d: [1 2,],}",
    'data: {"choices":[{"delta":{"content":"Hi {\'a\': 1}"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    "Sure: ```json\n[{\"a\": 1}, {\"a\": 2}]\n``` <tool_call>{'name': 'f', 'arguments': {}}</tool_call>",
]
PIECES = ['"', "'", "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "0", "-", ".", "e9", "tru", "null", "\\u", "é", "\x00", "```", "//"]


def changed(chance: random.Random) -> str:
    text = chance.choice(SEEDS)
    for _ in range(chance.randrange(4)):
        at, length = chance.randrange(len(text) + 1), chance.randrange(4)
        text = text[:at] + chance.choice(PIECES) * chance.randrange(3) + text[at + length :]
    return text


def test_the_two_ways_to_a_value_agree() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        text = changed(chance)
        mended = wiremend.mend(text)
        if mended.outcome == "unchanged":
            assert repr(wiremend.loads(text)) == repr(json.loads(text)) == repr(mended.value), text
        elif mended.is_complete:
            assert repr(wiremend.loads(text)) == repr(mended.value), text
            assert repr(mended.value) == repr(json.loads(mended.text or "")), text
        else:
            try:
                wiremend.loads(text)
            except MendError as error:
                assert error.outcome == mended.outcome
            else:
                raise AssertionError(text)


def test_nothing_that_comes_in_chunks_fails() -> None:
    chance = random.Random(2)
    for _ in range(600):
        data = changed(chance).encode()
        if chance.random() < 0.3:
            data = bytes(chance.randrange(256) if chance.random() < 0.1 else byte for byte in data)
        mender, reader = Mender(), wiremend.reader(objects="all", dialect="hermes")
        growing, rows = Growing(), Items(chance.choice(["", "/a", "/b/c", "/0"]))
        for start in range(0, len(data), 5):
            piece = data[start : start + 5]
            text = mender.feed(piece)
            mender.snapshot()
            rows.feed(text)
            growing.feed(text)
            _ = (growing.closed, growing.value)
            for event in reader.feed(piece):
                repr(event)
        for event in reader.close():
            repr(event)
        mended = mender.close()
        _ = (mended.repairs, mended.error)
        wiremend.find_calls(data)
