"""What became of a column, in numbers, examples and a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from wiremend_arrow import Summary, mend_array, summarize

TEXTS = ["{'a': 1}", None, "no <JSON> & \"none\"", '{"a": 1}', "{a: [1", "{'b': 'x'}"] * 10
SOURCES = ["m1", "m2", "m1", None, "m2", "m1"] * 10


def table(summary: Summary) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.table(summary.table()).to_pylist()
    return rows


def test_counts() -> None:
    texts = pa.array(TEXTS)
    summary = summarize(mend_array(texts), text=texts)
    assert summary.rows == 60 and repr(summary) == (
        "<Summary of 60 rows: 20 repaired, 10 absent, 10 closed, 10 none, 10 unchanged>"
    )
    found = {(row["what"], row["name"]): row for row in table(summary)}
    assert sum(row["rows"] for (what, _), row in found.items() if what == "outcome") == 60
    assert found["kind", "single-quote"]["rows"] == 20 and found["kind", "single-quote"]["repairs"] == 60
    assert found["outcome", "closed"]["share"] == pytest.approx(1 / 6)
    assert found["risk", "guess"]["rows"] == 10 and found["risk", "none"]["rows"] == 20
    examples = found["outcome", "repaired"]["examples"]
    assert found["outcome", "closed"]["examples"][0]["message"].startswith("the text is cut off")
    assert len(examples) == 20 and examples[1] == {"row": 5, "text": "{'b': 'x'}", "json": '{"b": "x"}', "message": None}


def test_by_source_and_in_parts() -> None:
    summary = Summary(examples=3)
    for start in range(0, 60, 13):
        column = pl.Series(TEXTS[start : start + 13])
        sources = pa.chunked_array([SOURCES[start : start + 13]]).dictionary_encode()
        summary.add(mend_array(column), text=column, source=sources)
    rows = {(row["name"], row["source"]): row for row in table(summary) if row["what"] == "outcome"}
    assert {key: row["rows"] for key, row in rows.items()} == {
        ("repaired", "m1"): 20, ("none", "m1"): 10, ("absent", "m2"): 10, ("closed", "m2"): 10, ("unchanged", None): 10,
    }  # fmt: skip
    assert rows["none", "m1"]["share"] == pytest.approx(1 / 3)
    assert [example["row"] for example in rows["none", "m1"]["examples"]] == [2, 8, 14]
    assert pl.DataFrame(summary.table()).filter(what="risk")["rows"].sum() == 50


def test_columns_that_an_engine_has_made_its_own() -> None:
    mended = pl.DataFrame({"m": mend_array(pl.Series(TEXTS))})["m"]
    large = pa.chunked_array(mended).cast(
        pa.struct([("json", pa.large_string()), ("outcome", pa.string_view()), ("risk", pa.large_string()), ("message", pa.string()),
                   ("repairs", pa.large_list(pa.struct([("kind", pa.string_view()), ("risk", pa.string()), ("count", pa.int64())])))])
    )  # fmt: skip
    assert table(summarize(mended)) == table(summarize(large))


def test_many_sources_are_counted_together() -> None:
    column = pa.array(["{}"] * 3000)
    rows = table(summarize(mend_array(column), source=pa.array(range(3000))))
    outcomes = [row for row in rows if row["what"] == "outcome"]
    assert len(outcomes) == 1001 and sum(row["rows"] for row in outcomes) == 3000
    assert max(outcomes, key=lambda row: row["rows"])["source"] == "(others)"


def test_what_cannot_be_summarised() -> None:
    with pytest.raises(TypeError, match="no \"outcome\""):
        summarize(pa.array(["a"]))
    with pytest.raises(ValueError, match="60 and 3 rows"):
        summarize(mend_array(pa.array(TEXTS)), text=pa.array(["a", "b", "c"]))


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    texts = pa.array([*TEXTS, "<script>alert(1)</script>" * 100])
    summary = summarize(mend_array(texts), text=texts, source=pa.array([*SOURCES, "<b>"]))
    file = tmp_path / "page.html"
    summary.write_html(file, "Answers & <more>")
    page = Page()
    page.feed(file.read_text())
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "b", "iframe"}
    assert not any(name in attrs for _, attrs in page.tags for name in ("src", "href")) and "url(" not in file.read_text()
    assert "Answers & <more>" in page.words and "<script>alert(1)</script>" in "".join(page.words)
    bars = [attrs["style"] for tag, attrs in page.tags if tag == "i"]
    assert len(bars) > 10 and all(re.match(r"width:\d+\.\d\d%;background:#\w{6}$", style or "") for style in bars)
    assert max(len(word) for word in page.words if "alert" in word) == 501
    assert "single-quote" in page.words and summary._repr_html_().count("<details>") == sum(tag == "details" for tag, _ in page.tags)
