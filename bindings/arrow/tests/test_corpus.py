"""Every case of the corpus as a row: what the crate's own tests want of it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from wiremend_arrow import mend_array

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"


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


def options(case: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: case[name] for name in ("policy", "without") if name in case}
    documents = {"documents": case.get("trailing", "first")}
    return {"scope": case.get("scope", "whole")} | chosen | documents | case.get("limits", {})


def can_be_asked(case: dict[str, Any]) -> bool:
    """Guides, sequences of documents and rare limits are not among the options of Python."""
    return "guide" not in case and case.get("trailing") != "all" and case.get("limits", {}).keys() <= {"depth"}


def test_the_corpus() -> None:
    lines = [line for file in sorted(CORPUS.glob("*.jsonl")) for line in file.read_text().split("\n") if line]
    asked = [case for case in map(json.loads, lines) if can_be_asked(case)]
    assert len(asked) > 1200
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in asked:
        groups[json.dumps(options(case), sort_keys=True)].append(case)
    wrong = []
    for chosen, cases in groups.items():
        mended = mend_array(pa.array([given(case) for case in cases], pa.binary()), **json.loads(chosen))
        for case, row in zip(cases, mended.to_pylist(), strict=True):
            if (row["outcome"], row["json"]) != (case["outcome"], wanted(case)):
                wrong.append((case["name"], row))
            elif row["json"] is not None and "scope" not in case:
                kinds = [repair["kind"] for repair in row["repairs"]]
                if kinds != case.get("kinds", []):
                    wrong.append((case["name"], kinds))
    assert not wrong, wrong[:10]
