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

    def sources(self) -> list[tuple[str | None, int]]:
        """How many rows each source has."""

    def lines(self) -> list[tuple[str, str, str | None, int, float, int, str]]:
        """What is counted, its name, its source, the rows, their share, the repairs, what the name means."""

    def examples(self, what: str, name: str) -> list[tuple[int, str | None, str | None, str | None]]:
        """The first rows: their number, source, text and JSON."""

    def table(self) -> Results:
        """All of it as a table: an array of structs."""
