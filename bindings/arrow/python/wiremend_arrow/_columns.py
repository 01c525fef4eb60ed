"""Columns that any library for Arrow takes, and those of the library that the caller uses."""

from __future__ import annotations

from typing import Any, Protocol

from . import _native


class ArrowArray(Protocol):
    """Anything that hands out an array of Arrow."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Anything that hands out arrays of Arrow, one after the other."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Column:
    """A column in chunks. Any library for Arrow takes it: ``polars.Series(column)``, ``pyarrow.chunked_array(column)``.

    ``chunks`` are the lengths of its chunks.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Results) -> None:
        self._native = native

    @property
    def chunks(self) -> list[int]:
        return self._native.chunks

    def __len__(self) -> int:
        return sum(self.chunks)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.stream().__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows in {len(self.chunks)} chunks>"


class Array(Column):
    """A column in one chunk. ``pyarrow.array(column)`` takes it, too."""

    __slots__ = ()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        array = self._native.array()
        assert array is not None
        return array.__arrow_c_array__(requested_schema)


class Type:
    """A type of Arrow: ``pyarrow.field(kind).type`` for PyArrow."""

    __slots__ = ("_native",)

    def __init__(self, native: ArrowSchema) -> None:
        self._native = native

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()


class ArrowSchema(Protocol):
    """Anything that hands out a type of Arrow."""

    def __arrow_c_schema__(self) -> object: ...


def column_of(native: _native.Results) -> Column:
    return Column(native) if native.array() is None else Array(native)


def like(given: Any, made: Column) -> Any:
    """The column as one of the library that the caller uses. Only what the caller has imported is imported."""
    match type(given).__module__.partition(".")[0]:
        case "polars":
            import polars

            return polars.Series(given.name, made)
        case "pyarrow":
            import pyarrow

            return pyarrow.array(made) if isinstance(made, Array) else pyarrow.chunked_array(made)
        case "pandas":
            import pandas
            import pyarrow

            values = pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array(made))
            return pandas.Series(values, index=given.index, name=given.name)
    return made
