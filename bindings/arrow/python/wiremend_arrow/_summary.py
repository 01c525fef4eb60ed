"""What became of a column: counts by outcome, risk and kind of repair, with examples."""

from __future__ import annotations

import html
from collections import defaultdict
from os import PathLike
from pathlib import Path
from typing import Any

from ._columns import Array, ArrowArray, ArrowStream
from ._native import Tally

_TITLES = {"outcome": "Outcomes", "risk": "Highest risk of a row", "kind": "Kinds of repair"}

_COLOURS = {
    "unchanged": "#3a8f5c", "repaired": "#3f7fbf", "closed": "#c98a1b", "cut": "#c98a1b", "none": "#b5493f",
    "invalid": "#b5493f", "overflow": "#b5493f", "abandoned": "#b5493f", "absent": "#8a8a8a",
    "exact": "#3f7fbf", "likely": "#5b9bb0", "lossy": "#c98a1b", "guess": "#b5493f",
}  # fmt: skip

_STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem } h3 { margin: 1rem 0 .2rem; font-size: 1rem }
summary, .line { display: grid; grid-template-columns: 12rem 1fr 12rem; gap: .8rem; align-items: center }
summary { cursor: pointer } .count { text-align: right; font-variant-numeric: tabular-nums }
.bar { background: #8882; height: .9rem } .bar i { display: block; height: 100% }
table { border-collapse: collapse; width: 100%; margin: .4rem 0 1rem; table-layout: fixed }
td, th { border: 1px solid #8884; padding: .2rem .4rem; text-align: left; vertical-align: top }
td { font: 12px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
th:first-child { width: 5rem } p { color: #888 }
""".strip()


class Summary:
    """Counts of results, which may come in parts, with so many examples of each outcome, risk and kind.

    >>> import pyarrow as pa
    >>> from wiremend_arrow import mend_array
    >>> texts = pa.array(["{'a': 1}", "{}", "no JSON"])
    >>> summary = Summary()
    >>> summary.add(mend_array(texts), text=texts, source=pa.array(["a", "b", "a"]))
    >>> summary.rows
    3
    >>> pa.table(summary.table()).select(["what", "name", "source", "rows"]).to_pylist()[0]
    {'what': 'outcome', 'name': 'none', 'source': 'a', 'rows': 1}
    """

    def __init__(self, examples: int = 20) -> None:
        self._tally = Tally(examples)

    def add(
        self,
        mended: ArrowArray | ArrowStream,
        *,
        text: ArrowArray | ArrowStream | None = None,
        source: ArrowArray | ArrowStream | None = None,
    ) -> None:
        """Counts a column of results. ``text`` is what was mended, and ``source`` where each row is from, such as a model."""
        self._tally.add(mended, text, source)

    @property
    def rows(self) -> int:
        """How many rows were counted. It is the sum of the outcomes, null (``absent``) among them."""
        return self._tally.rows

    def table(self) -> Array:
        """As a table: a row for each outcome, risk and kind of each source.

        ``pyarrow.table(…)`` and ``polars.DataFrame(…)`` take it.
        """
        return Array(self._tally.table())

    def html(self, title: str = "Mended") -> str:
        """As a page that needs nothing else."""
        head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        return f"{head}<style>{_STYLE}</style><h1>{html.escape(title)}</h1>{self._body()}</html>\n"

    def write_html(self, path: str | PathLike[str], title: str = "Mended") -> None:
        """Writes the page."""
        Path(path).write_text(self.html(title), encoding="utf-8")

    def _repr_html_(self) -> str:
        return f"<style scoped>{_STYLE}</style>{self._body()}"

    def __repr__(self) -> str:
        counts: dict[str, int] = defaultdict(int)
        for what, name, _, rows, *_ in self._tally.lines():
            if what == "outcome":
                counts[name] += rows
        listed = ", ".join(f"{rows} {name}" for name, rows in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
        return f"<Summary of {self.rows} rows: {listed}>"

    def _body(self) -> str:
        lines = self._tally.lines()
        parts = [f"<p>{self.rows:,} rows</p>"]
        for what, title in _TITLES.items():
            total: dict[str, list[Any]] = {}
            for name, rows, repairs, about in (
                (line[1], line[3], line[5], line[6]) for line in lines if line[0] == what
            ):
                known = total.setdefault(name, [0, 0, about])
                known[0] += rows
                known[1] += repairs
            if not total:
                continue
            parts.append(f"<h2>{title}</h2>")
            for name, (rows, repairs, about) in sorted(total.items(), key=lambda pair: -pair[1][0]):
                more = f", {repairs:,} repairs" if what == "kind" else ""
                line = _line(name, rows, rows / max(self.rows, 1), more, about)
                parts.append(f"<details><summary>{line}</summary>{self._examples(what, name)}</details>")
        sources = self._tally.sources()
        if any(source is not None for source, _ in sources):
            parts.append("<h2>By source</h2>")
        for source, rows in sorted(sources, key=lambda pair: -pair[1]) if len(parts) > 1 else ():
            if source is None and len(sources) == 1:
                break
            parts.append(f"<h3>{html.escape('(no source)' if source is None else source)}: {rows:,} rows</h3>")
            for what, name, own, count, share, _, about in lines:
                if own == source and what in ("outcome", "risk"):
                    parts.append(f"<div class=line>{_line(f'{what}: {name}', count, share, '', about)}</div>")
        return "".join(parts)

    def _examples(self, what: str, name: str) -> str:
        found = self._tally.examples(what, name)
        if not found:
            return ""
        cells = ["<table><tr><th>row</th><th>source</th><th>text</th><th>json</th></tr>"]
        for row, *texts in found:
            shown = "".join(f"<td>{html.escape(text or '')}</td>" for text in texts)
            cells.append(f"<tr><td>{row}</td>{shown}</tr>")
        return "".join([*cells, "</table>"])


def _line(name: str, rows: int, share: float, more: str, about: str) -> str:
    colour = _COLOURS.get(name.rpartition(" ")[2], "#6b7a99")
    bar = f"<span class=bar><i style='width:{share:.2%};background:{colour}'></i></span>"
    word = f"<span title='{html.escape(about)}'>{html.escape(name)}</span>"
    return f"{word}{bar}<span class=count>{rows:,} ({share:.1%}){more}</span>"


def summarize(
    mended: ArrowArray | ArrowStream,
    *,
    text: ArrowArray | ArrowStream | None = None,
    source: ArrowArray | ArrowStream | None = None,
    examples: int = 20,
) -> Summary:
    """The summary of one column of results.

    >>> import pyarrow as pa
    >>> from wiremend_arrow import mend_array
    >>> summarize(mend_array(pa.array(["{'a': 1}", "{}", None])))
    <Summary of 3 rows: 1 absent, 1 repaired, 1 unchanged>
    """
    summary = Summary(examples)
    summary.add(mended, text=text, source=source)
    return summary
