"""Every example of the page, in order, and those of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import types
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "arrow.md"


def examples(text: str) -> list[tuple[str, int, str]]:
    """The part, the line and the text of each example."""
    found, part = [], ""
    for match in re.finditer(r"^#+ ([^\n]*)$|^```python\n(.*?)^```$", text, re.M | re.S):
        part = match[1] or part
        if match[2] is not None:
            found.append((part, text[: match.start()].count("\n") + 1, match[2]))
    assert len(found) == text.count("```python\n")
    return found


def run(parts: list[str], skipped: set[str], names: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    page = types.ModuleType("page")
    page.__dict__.update(names)
    monkeypatch.setitem(sys.modules, "page", page)
    ran = set()
    for part, line, block in examples(PAGE.read_text()):
        if part in parts or not parts and part not in skipped:
            exec(compile("\n" * line + block, str(PAGE), "exec"), page.__dict__)
            ran.add(part)
    assert len(ran) == len(parts) or len(ran) > 7


CLUSTERS = {"Spark", "Ray Data", "Daft"}


def test_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run([], CLUSTERS, {}, monkeypatch)
    assert (tmp_path / "summary.html").stat().st_size > 3000


def test_examples_of_clusters_are_on_the_page() -> None:
    """They are run with their engines, by `long`."""
    assert CLUSTERS < {part for part, _, _ in examples(PAGE.read_text())}


@pytest.mark.parametrize("name", ["", "._mend", "._summary"])
def test_examples_of_the_docstrings(name: str) -> None:
    ran = doctest.testmod(importlib.import_module(f"wiremend_arrow{name}"))
    assert ran.attempted > 0 and ran.failed == 0
