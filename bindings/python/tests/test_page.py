"""Every example of the page for users of Python, in order, and those of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import types
from pathlib import Path

import pytest
from bodies import Provider, call

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_examples_of_the_page(scripted: Provider, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("httpx", "openai"):
        pytest.importorskip(module)
    scripted.body = call("{'seats': ", "2}")
    page = types.ModuleType("page")
    page.__dict__["url"] = scripted.url
    monkeypatch.setitem(sys.modules, "page", page)
    text = PAGE.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$(?!\"\"\")", text, re.M | re.S))
    assert len(blocks) >= 14 and len(blocks) == text.count("```python\n")
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), page.__dict__)
        # Who reads the page leaves that to the end of the program.
        if client := page.__dict__.pop("client", None):
            client.close()
    shown = capsys.readouterr().out
    assert "book {'seats': 2}\ncomplete\n" in shown and "Trip(city='Bergen', days=2)" in shown


@pytest.mark.parametrize("name", ["", "._fits", "._streams", ".compat.json_repair", ".compat.partial_json_parser", ".compat.langchain"])
def test_examples_of_the_docstrings(name: str) -> None:
    ran = doctest.testmod(importlib.import_module(f"wiremend{name}"))
    assert ran.attempted > 0 and ran.failed == 0
