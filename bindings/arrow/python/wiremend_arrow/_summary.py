"""What became of a column: counts by outcome, risk and kind of repair, with examples."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ._columns import Array, ArrowArray, ArrowStream
from ._native import Tally


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
        return self._tally.page(title)

    def write_html(self, path: str | PathLike[str], title: str = "Mended") -> None:
        """Writes the page."""
        Path(path).write_text(self.html(title), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self._tally.part()

    def __repr__(self) -> str:
        listed = ", ".join(f"{rows} {name}" for name, rows in self._tally.outcomes())
        return f"<Summary of {self.rows} rows: {listed}>"


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
