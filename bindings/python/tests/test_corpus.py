"""Every case of the corpus, whole and in chunks: what the crate's own tests want of it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import wiremend

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"


def cases() -> list[dict[str, Any]]:
    lines = [line for file in sorted(CORPUS.glob("*.jsonl")) for line in file.read_text().split("\n") if line]
    return [json.loads(line) for line in lines]


def given(case: dict[str, Any]) -> bytes:
    if "parts" in case:
        return "".join(text * times for text, times in case["parts"]).encode()
    if "bytes" in case:
        pieces = re.split(r"<([0-9A-F]{2})>", case["bytes"])
        return b"".join(bytes([int(p, 16)]) if at % 2 else p.encode() for at, p in enumerate(pieces))
    return str(case["input"]).encode()


def wanted(case: dict[str, Any]) -> str | None:
    if "output_parts" in case:
        return "".join(text * times for text, times in case["output_parts"])
    return case.get("output", given(case).decode() if case["outcome"] == "unchanged" else None)


def can_be_asked(case: dict[str, Any]) -> bool:
    """Guides, sequences of documents and rare limits are not among the options of Python."""
    return "guide" not in case and case.get("trailing") != "all" and case.get("limits", {}).keys() <= {"depth"}


def options(case: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: case[name] for name in ("policy", "without") if name in case}
    return chosen | case.get("limits", {})


def kinds(case: dict[str, Any], mended: wiremend.Mended) -> list[str]:
    """The kinds, each once. They are stated for results that have a text, and not for a search."""
    stated = mended.text is not None and "scope" not in case
    return list(dict.fromkeys(repair.kind for repair in mended.repairs)) if stated else case.get("kinds", [])


CASES = cases()


def test_the_corpus_is_there_and_most_of_it_is_asked() -> None:
    assert len(CASES) > 1300
    assert sum(not can_be_asked(case) for case in CASES) < 90


@pytest.mark.parametrize("case", [c for c in CASES if can_be_asked(c)], ids=lambda case: str(case["name"]))
def test_case(case: dict[str, Any]) -> None:
    data, output, keywords = given(case), wanted(case), options(case)
    documents = case.get("trailing", "first")
    if "scope" in case:
        mended = wiremend.find(data, scope=case["scope"], documents=documents, **keywords)
    else:
        mended = wiremend.mend(data, documents=documents, **keywords)
    assert (mended.outcome, mended.text) == (case["outcome"], output)
    assert kinds(case, mended) == case.get("kinds", [])
    if output is not None and not case.get("unusable"):
        assert mended.value == json.loads(output)
    if "scope" in case:
        return
    if mended.is_complete:
        assert wiremend.loads(data, documents=documents, **keywords) == mended.value
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None:
        of_text = wiremend.mend(text, documents=documents, **keywords)
        assert (of_text.outcome, of_text.text) == (mended.outcome, mended.text)
        out, at = "", 0
        for repair in of_text.repairs:
            assert text[repair.start : repair.end] == repair.before
            out, at = out + text[at : repair.start] + repair.after, repair.end
        assert of_text.text in (None, out + text[at:])
    if case.get("only") != "whole-text" and documents == "first" and len(data) < 5000:
        for cuts in ways_to_cut(len(data)):
            in_chunks(case, [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)])


def ways_to_cut(length: int) -> list[list[int]]:
    chance = random.Random(length)
    some = [sorted(chance.sample(range(length), min(length, 3))) for _ in range(3)]
    return [list(range(length)), [length // 2], *some]


def in_chunks(case: dict[str, Any], chunks: list[bytes]) -> None:
    mender = wiremend.Mender(**options(case))
    text = "".join(map(mender.feed, chunks))
    mended = mender.close()
    assert (mended.outcome, mended.text) == (case["outcome"], wanted(case)), chunks
    assert kinds(case, mended) == case.get("kinds", []), chunks
    if mended.text is not None:
        assert mended.text.startswith(text)
        assert mender.snapshot() == mended.value
