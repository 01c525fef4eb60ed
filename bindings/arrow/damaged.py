"""Texts half of which are damaged, the same ones each time: what `bench.py` and `policies.py` measure.

`python damaged.py 1000000 > damaged.jsonl` writes them one a line, for `wiremend repair --lines`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

VALID = '{{"id": {at}, "name": "Ada Lovelace", "tags": ["a", "b", "c"], "score": {at}.5, "notes": "She said \\"yes\\" {at} times."}}'

DAMAGE: dict[str, Callable[[str], str]] = {
    "written by Python": lambda text: repr(json.loads(text)),
    "a comma too many": lambda text: text.replace("}", ",}"),
    "in a fence": lambda text: f"```json\n{text}\n```",
    "after a sentence": lambda text: f"Here is the answer: {text}",
    "names without quotes": lambda text: text.replace('"id"', "id").replace('"name"', "name"),
    "a comma missing": lambda text: text.replace(', "tags"', ' "tags"'),
    "cut off": lambda text: text[:-20],
    "quotes not escaped": lambda text: text.replace('\\"', '"'),
    "no JSON": lambda _: "I am sorry, but I cannot say.",
}
"""Kinds of damage. The last one leaves nothing, and of what is cut off, the end is gone."""


def kind(row: int) -> str | None:
    """How a row is damaged: every other one is not."""
    return None if row % 2 else list(DAMAGE)[row // 2 % len(DAMAGE)]


def text(row: int) -> str:
    damage = kind(row)
    whole = VALID.format(at=row)
    return whole if damage is None else DAMAGE[damage](whole)


def value(row: int) -> object:
    """What the text said before the damage."""
    return json.loads(VALID.format(at=row))


if __name__ == "__main__":
    for row in range(int(sys.argv[1])):
        print(text(row).replace("\n", " "))
