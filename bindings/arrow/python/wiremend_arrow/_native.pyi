from typing import final

__all__ = ["Mending", "Results", "Tally"]

from ._columns import ArrowArray, ArrowSchema, ArrowStream

class _Chunked:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Mending:
    """How the texts of columns are mended."""

    def __new__(
        cls,
        schema: str | None,
        typed: bool,
        edits: bool,
        scope: str,
        policy: str,
        without: list[str],
        documents: str,
        depth: int,
        search: bool,
        threads: int | None,
    ) -> Mending: ...
    def mend(self, column: ArrowArray | ArrowStream) -> Results:
        """Mends each text of a column."""

    def kind(self, text: str) -> ArrowSchema:
        """The type of the results for texts of a width, with ``__arrow_c_schema__``."""

@final
class Results:
    """A column of results, in chunks."""

    @property
    def chunks(self) -> list[int]:
        """The lengths of the chunks."""

    def array(self) -> ArrowArray | None:
        """As an array, if it came as one."""

    def stream(self) -> _Chunked:
        """As a stream of arrays."""

@final
class Tally:
    """Counts of outcomes, risks and kinds of repair, by source, with examples."""

    def __new__(cls, examples: int) -> Tally: ...
    def add(
        self,
        results: ArrowArray | ArrowStream,
        text: ArrowArray | ArrowStream | None,
        source: ArrowArray | ArrowStream | None,
    ) -> None:
        """Counts the rows of a column of results. The texts that were mended are for the examples."""

    @property
    def rows(self) -> int:
        """How many rows were counted."""

    def outcomes(self) -> list[tuple[str, int]]:
        """How many rows have each outcome, the most frequent first."""

    def page(self, title: str) -> str:
        """As a page that needs nothing else."""

    def part(self) -> str:
        """The same as a part of another page."""

    def table(self) -> Results:
        """All of it as a table: an array of structs."""
