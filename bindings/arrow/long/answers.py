"""The rows that are mended on clusters, and what must come of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from wiremend_arrow import mend_array, result_type

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from test_page import PAGE, examples

ROWS = int(os.environ.get("WIREMEND_ROWS", "1000000"))
"""How many rows there are."""

KINDS = [
    ('{"id": %d, "name": "Ada"}', "unchanged"),
    ("{'id': %d, 'name': 'Ada'}", "repaired"),
    ('{"id": %d, "name": "Ad', "closed"),
    ("There is no answer to %d.", "none"),
    ("Here you are: {id: %d, name: 'Ada',}", "repaired"),
]
"""What a row holds, and its outcome."""


def text(row: int) -> str:
    return KINDS[row % len(KINDS)][0] % row


def check(engine: str, rows: Iterable[Mapping[str, Any]], deaths: int) -> None:
    """Each row is there once, with the outcome of its kind, though a worker died."""
    seen = bytearray(ROWS)
    outcomes: dict[str, int] = {}
    for row in rows:
        at, outcome = row["id"], row["outcome"]
        assert seen[at] == 0, f"row {at} came twice"
        seen[at] = 1
        assert outcome == KINDS[at % len(KINDS)][1], (row, text(at))
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert sum(seen) == ROWS, f"{ROWS - sum(seen)} rows were lost"
    assert deaths > 0, "no worker died"
    listed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{engine}: {deaths} killed; {ROWS} rows in, {sum(outcomes.values())} out, each once: {listed}", flush=True)


def first(folder: str) -> bool:
    """Whether nobody has asked before: who is first dies."""
    try:
        (Path(folder) / "died").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def page(part: str, **names: object) -> None:
    """Runs the example of the page. It is of no module, so that it travels to the workers."""
    [(_, line, block)] = [example for example in examples(PAGE.read_text()) if example[0] == part]
    known = {"__name__": "__main__", "pa": pa, "mend_array": mend_array, "result_type": result_type}
    exec(compile("\n" * line + block, str(PAGE), "exec"), known | names)
    print(f"{part}: the example of the page is right", flush=True)
