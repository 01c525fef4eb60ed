"""The modules that take the place of other packages, beside those packages where they are installed."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from wiremend.compat import json_repair, langchain, partial_json_parser
from wiremend.compat.partial_json_parser import Allow

ROOT = Path(__file__).parents[3]

SAME = [
    "", "hello", "[1,", '"a', '{"a":}', '{"é": 1,}', '{"a": 1}\n{"b": 2,}', "NaN", '{"a": NaN,}', "5 apples", "null", "42", '"text"',
    '{"a": "x \n", "b": "y" "c": 1}', '{"a": null, "b": undefined}', "True", "(1, 2)", "{'a': 1}", '{"a": "b\n"}', '{"a": 1, "a": 2,}',
    '{"a": "b\\n",}', '{"a": "b \\u0020",}', 'x = {"a": [1, 2}', "{'name': 'Ada', 'ok': True, 'none': None,}", '{"a": [1, 2, 3', '{"a": "b',
    'Here is it: {"a": 1,} Enjoy!', '```json\n{"a": 1,}\n```', '{"a": 1 /* why */, "b": 2}', '{a: b}', '[1, 2, 3,]', '[1 2 3]',
    '{"a": "he said "no" twice"}', '{"a": 1}}', '[[1, 2], [3, 4]', '{"a": .5}', '{"a": "b", }', "{}", "[]", " ", '{"a": "b\n"\n",}',
    '{"a": {"b": "c" # why }, "d": 1}',
]  # fmt: skip
"""Texts of which both make the same."""

DIFFERENT = {
    "[{]": "an object that was opened is one",
    '[{"key": "b", "key': "a key that was cut off is dropped, whether it was there before or not",
    '{"a", 1,2,': "the words of an object without values are keys without values",
    '{"a": some words, more words. "b": 1}': "words are kept up to the next key",
    '{"a": 1, ["b"] }': "a list in an object is a value without a key: nothing of it is lost",
    "[{5}s ": "no JSON: braces around a number",
    '{"a": "one, b: 2}': "what a string without its end holds is text, and the value is cut off",
    '{"a": "```json {"b": 1}```"}': "JSON in a string is text",
    '{"a": -Infinity,}': "the sign is kept",
    "(1)": "a number in parentheses is no document",
    '{"a": tru': "half of a word is that word",
    "{'a': 'it''s'}": "two quotes in a row are one in the string, or both, but no end of it",
}
"""Texts of which they make something else, and why."""


@pytest.mark.parametrize("text", SAME)
def test_what_is_the_same(text: str) -> None:
    theirs = pytest.importorskip("json_repair")
    assert repr(json_repair.loads(text)) == repr(theirs.loads(text))
    for options in ({}, {"indent": 2}, {"ensure_ascii": False}, {"skip_json_loads": True}):
        assert json_repair.repair_json(text, **options) == theirs.repair_json(text, **options), options


def test_the_list_of_differences() -> None:
    """The table of the page is what the two make of the texts."""
    theirs = pytest.importorskip("json_repair")
    rows = ["| text | json_repair | here | why |", "|---|---|---|---|"]
    for text, why in DIFFERENT.items():
        made, here = theirs.repair_json(text), json_repair.repair_json(text)
        if made != here:
            cells = [f"`` {cell} ``".replace("\n", "\\n") if cell else "nothing" for cell in (text, made, here)]
            rows.append(f"| {' | '.join(cells)} | {why} |")
    page = ROOT / "docs" / "python.md"
    before, rest = page.read_text().split("<!-- differences -->\n")
    written = f"{before}<!-- differences -->\n" + "\n".join(rows) + "\n<!-- /differences -->" + rest.split("<!-- /differences -->")[1]
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(written)
    assert page.read_text() == written, "UPDATE_DOCS=1 writes the table"
    assert len(rows) == 2 + len(DIFFERENT)


SHARED = Path(os.environ.get("WIREMEND_SHARED", ROOT.parent / "shared")) / "cases"


@pytest.mark.skipif(not SHARED.exists(), reason="no cases beside this clone")
def test_the_cases_of_json_repair() -> None:
    theirs = pytest.importorskip("json_repair")
    texts = [json.loads(line)["input"] for line in (SHARED / "json_repair.jsonl").read_text().splitlines()]
    different = [text for text in texts if repr(json_repair.loads(text)) != repr(theirs.loads(text))]
    assert len(texts) > 100 and len(different) <= 18, different


def test_signatures_of_json_repair() -> None:
    import inspect

    theirs = pytest.importorskip("json_repair")
    for name in ("from_file", "load", "loads", "repair_json"):
        wanted, have = (inspect.signature(getattr(module, name)).parameters for module in (theirs, json_repair))
        assert [(p.name, p.kind, p.default) for p in have.values()] == [(p.name, p.kind, p.default) for p in wanted.values()], name


def test_files_logs_and_modes(tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_text("{'a': 1,}")
    assert json_repair.from_file(file) == json_repair.load(io.StringIO("{'a': 1,}")) == {"a": 1}
    assert json_repair.repair_json(json_fd=io.StringIO("[1")) == "[1]"
    value, log = json_repair.loads("{'a': 1}", logging=True)
    assert value == {"a": 1} and set(log[0]) == {"text", "context"}
    assert json_repair.loads('{"a": 1}', logging=True) == ({"a": 1}, [])
    assert json_repair.loads('{"a": 1,}', strict=True) == {"a": 1}
    with pytest.raises(ValueError, match="may be wrong"):
        json_repair.loads('{"a": 1 "b": 2}', strict=True)
    for wrong in ({"schema": {}, "strict": True}, {"schema_repair_mode": "salvage"}):
        with pytest.raises(ValueError, match="schema"):
            json_repair.loads("{}", **wrong)  # type: ignore[arg-type]
    assert json_repair.loads("{'a': 'b\n", stream_stable=True) == {"a": "b\n"}
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert json_repair.loads("{'a': '1'}", schema=schema) == {"a": 1}
    with pytest.raises(ValueError, match="schema"):
        json_repair.loads("{'a': 'x'}", schema=schema)


PARTIAL = [
    '{"a": [1, "tex', '{"a": [1, 23', '{"a": tru', '{"a": nul', '[1, [2, {"x": "y"', '"abc', "12", "[1, ", '{"a":', '{"a', "{", "[", "[[",
    '{"a": -', "[1.", '{"a": "\\u00', "[true, fal", '["a", "b"', '["a\\"', '[{"a": 1}, {"b": 2', '{"a": 1, "b": [', "nul", "t", '{"a": 1}', "",
]  # fmt: skip


@pytest.mark.parametrize("text", PARTIAL)
def test_partial_json_parser(text: str) -> None:
    theirs = pytest.importorskip("partial_json_parser")

    def outcome(module: Any, allow: int) -> str:
        try:
            return repr(module.loads(text, allow))
        except ValueError as error:
            return type(error).__name__

    for allow in (511, 0, 4, 8, 12, 1, 13, 14, 2, 3, 15, 48):
        assert outcome(partial_json_parser, allow) == outcome(theirs, allow), allow
    assert {member.name: member.value for member in Allow} == {member.name: member.value for member in theirs.Allow}


def test_more_of_partial_json_parser() -> None:
    assert partial_json_parser.ensure_json('{"a": [1') == '{"a": [1]}'
    assert partial_json_parser.loads("{'a': [1", parser=json.loads) == {"a": [1]}
    assert json.loads(partial_json_parser.ensure_json('{"a": "b', Allow.OBJ)) == {}
    with pytest.raises(partial_json_parser.MalformedJSON):
        partial_json_parser.loads("no JSON")
    with pytest.raises(TypeError):
        partial_json_parser.loads(3)  # type: ignore[arg-type]


def test_langchain() -> None:
    assert langchain.parse_partial_json('{"a": [1, {"b": "c') == {"a": [1, {"b": "c"}]}
    assert langchain.parse_partial_json('{"a": "b\nc') == {"a": "b\nc"}
    with pytest.raises(json.JSONDecodeError):
        langchain.parse_partial_json('{"a": "b\nc"}', strict=True)
    with pytest.raises(json.JSONDecodeError):
        langchain.parse_partial_json("")
    assert langchain.parse_json_markdown('Here: ```json\n{"a": 1,}\n```') == {"a": 1}
    assert langchain.parse_json_markdown("```\n[1]\n```", parser=json.loads) == [1]
