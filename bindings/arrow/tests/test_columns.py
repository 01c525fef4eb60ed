"""Columns of each kind, in chunks and slices, with nulls: rows in = rows out."""

from __future__ import annotations

import threading
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from wiremend_arrow import Array, Column, mend_array, result_type

TEXTS = ["{'a': 1}", None, "no JSON", '{"a": 1.10}', "{a: [1, 2", "Here: {b: 'é'}", ""]
OUTCOMES = ["repaired", None, "none", "unchanged", "closed", "repaired", "none"]
JSON = ['{"a": 1}', None, None, '{"a": 1.10}', '{"a": [1, 2]}', '{"b": "é"}', None]


def rows(mended: Any, name: str) -> list[Any]:
    return [row and row[name] for row in mended.to_pylist()]


def as_bytes() -> list[bytes | None]:
    return [text and text.encode() for text in TEXTS]  # type: ignore[misc]


KINDS = {
    "string": pa.array(TEXTS),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "binary": pa.array(as_bytes(), pa.binary()),
    "large_binary": pa.array(as_bytes(), pa.large_binary()),
    "binary_view": pa.array(as_bytes(), pa.binary_view()),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "dictionary of int8": pa.array(TEXTS, pa.dictionary(pa.int8(), pa.large_string())),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_column(kind: str) -> None:
    given = KINDS[kind]
    mended = mend_array(given)
    assert isinstance(mended, pa.StructArray) and len(mended) == len(given)
    assert (rows(mended, "outcome"), rows(mended, "json")) == (OUTCOMES, JSON)
    assert mended.null_count == 1 and not mended[1].is_valid
    text = given.type.value_type if pa.types.is_dictionary(given.type) else given.type
    width = str(text).replace("binary", "string")
    assert mended.type.field("json").type == width
    assert mended.type == pa.field(result_type(width)).type


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", range(len(TEXTS)))
def test_a_slice_is_mended_as_what_it_is(kind: str, start: int) -> None:
    for end in range(start, len(TEXTS) + 1):
        mended = mend_array(KINDS[kind][start:end])
        assert rows(mended, "json") == JSON[start:end] and rows(mended, "outcome") == OUTCOMES[start:end]


def test_chunks_stay() -> None:
    column = pa.chunked_array([TEXTS, [], TEXTS[:2], [None, None]])
    mended = mend_array(column)
    assert isinstance(mended, pa.ChunkedArray)
    assert [len(chunk) for chunk in mended.chunks] == [7, 0, 2, 2]
    assert rows(mended, "outcome") == [*OUTCOMES, *OUTCOMES[:2], None, None]
    dictionaries = pa.chunked_array([KINDS["dictionary"], KINDS["dictionary"][2:4]])
    assert rows(mend_array(dictionaries), "json") == [*JSON, *JSON[2:4]]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary_view(), pa.dictionary(pa.int32(), pa.string()), pa.null()])
def test_nothing_gives_nothing(kind: pa.DataType) -> None:
    assert mend_array(pa.array([], kind)).to_pylist() == []
    assert mend_array(pa.array([None, None], kind)).to_pylist() == [None, None]
    empty = mend_array(pa.chunked_array([], kind))
    assert (empty.num_chunks, len(empty)) == (0, 0)


def test_a_dictionary_with_null_among_its_values() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0], pa.int32()), pa.array(["{a: 1}", None, "{}"]))
    assert rows(mend_array(column), "outcome") == ["repaired", None, None, "unchanged", "repaired"]


def test_the_repairs_of_a_row() -> None:
    row = mend_array(pa.array(["{'a': 'b', n: None,}"]))[0].as_py()
    assert row["repairs"] == [
        {"kind": "single-quote", "risk": "exact", "count": 4},
        {"kind": "unquoted-key", "risk": "exact", "count": 2},
        {"kind": "python-literal", "risk": "exact", "count": 1},
        {"kind": "extra-comma", "risk": "exact", "count": 1},
    ]
    assert (row["risk"], row["message"]) == ("exact", None)


def test_the_edits_of_a_row_make_its_result_of_its_text() -> None:
    column = pa.array([*TEXTS, "ü {'ä': Nöne, b: \"x"] * 3)
    for text, row in zip(column.to_pylist(), mend_array(column, edits=True).to_pylist(), strict=True):
        if row is None or row["json"] is None:
            continue
        made, at, given = b"", 0, text.encode()
        for edit in row["edits"]:
            made += given[at : edit["start"]] + edit["after"].encode()
            at = edit["end"]
        assert (made + given[at:]).decode() == row["json"]
        assert sum(repair["count"] for repair in row["repairs"]) == len(row["edits"])


def test_a_message_says_what_is_wrong() -> None:
    column = pa.array(["{a: [1, 2", "no JSON", "[" * 200 + "]" * 200, '{"a" "b"}'])
    assert rows(mend_array(column), "message")[:3] == ["the text is cut off at $.a[1]", "no JSON found", "a limit was exceeded"]
    strict = mend_array(column, policy="exact")
    assert rows(strict, "outcome") == ["cut", "none", "overflow", "invalid"]
    assert rows(strict, "json") == [None] * 4
    messages = rows(strict, "message")
    assert messages[0] == "the text is cut off at $.a[1]; the policy forbids closing it"
    assert messages[3] == "it needs the repair missing-colon (likely), which the policy forbids"


def test_options_are_those_of_the_package_for_texts() -> None:
    column = pa.array(['{"a": 1}\n{"b": 2}', "Look: {c: 3} and {d: 4}"])
    assert rows(mend_array(column, documents="last"), "json")[0] == '{"b": 2}'
    assert rows(mend_array(column, scope="first"), "json") == ['{"a": 1}', '{"c": 3}']
    searched = pa.array(['{"a": "x," "b": 2}'])
    assert rows(mend_array(searched), "json") == ['{"a": "x", "b": 2}']
    assert rows(mend_array(searched, search=False), "json") == ['{"a": "x,", "b": 2}']
    assert rows(mend_array(pa.array(["{a: 1}"]), without=["unquoted-key"]), "outcome") == ["invalid"]
    assert rows(mend_array(pa.array(["[[1]]"]), depth=1), "outcome") == ["overflow"]
    for wrong in ({"policy": "none"}, {"scope": "all of it"}, {"documents": "some"}, {"without": ["no-kind"]}):
        with pytest.raises(ValueError):
            mend_array(column, **wrong)


def test_bytes_that_are_not_utf_8() -> None:
    mended = mend_array(pa.array([b'{"a": "\xff"}', b"\xff\xfe"]))
    assert rows(mended, "json") == ['{"a": "\ufffd"}', None]


def test_what_is_no_column() -> None:
    for wrong in (["a"], "a", None, pa.array([1]), pa.table({"a": ["b"]}), pa.array([["a"]])):
        with pytest.raises(TypeError, match="a column of"):
            mend_array(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="text must be"):
        result_type("json")


class Bare:
    """What only hands out Arrow."""

    def __init__(self, column: Any) -> None:
        self.column = column
        if hasattr(column, "__arrow_c_array__"):
            self.__class__ = BareArray


class BareStream(Bare):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.column.__arrow_c_stream__(requested_schema)


class BareArray(Bare):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        return self.column.__arrow_c_array__(requested_schema)


def test_a_column_of_no_library_gives_one() -> None:
    mended = mend_array(BareArray(KINDS["string"]))  # type: ignore[arg-type]
    assert isinstance(mended, Array) and mended.chunks == [7] and repr(mended) == "<Array of 7 rows in 1 chunks>"
    assert rows(pa.array(mended), "json") == JSON
    chunked = mend_array(BareStream(pa.chunked_array([TEXTS, TEXTS])))  # type: ignore[arg-type]
    assert type(chunked) is Column and chunked.chunks == [7, 7] and len(chunked) == 14
    assert rows(pa.chunked_array(chunked), "json") == JSON * 2
    assert pl.Series(chunked).struct.field("json").to_list() == JSON * 2
    assert pa.field(chunked).type == pa.field(result_type()).type
    # It can be read again.
    assert rows(pa.chunked_array(chunked), "json") == JSON * 2


def test_a_stream_is_read_chunk_by_chunk() -> None:
    """A reader that makes its chunks in Python, and fails in the end."""

    def chunks() -> Any:
        yield pa.record_batch({"a": TEXTS})
        raise ValueError("the source broke")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.string())]), chunks())
    with pytest.raises(TypeError, match="one column of a table"):
        mend_array(reader)


def test_more_rows_than_a_piece_has_and_any_number_of_threads() -> None:
    """100,000 rows, and as many outcomes."""
    texts = [TEXTS[at % 7] and f"{TEXTS[at % 7]} " + " " * (at % 50) for at in range(100_000)]
    column = pa.chunked_array([texts[:70_001], texts[70_001:]])
    one = mend_array(column, threads=1)
    counts = {value["values"]: value["counts"] for value in one.combine_chunks().field("outcome").value_counts().to_pylist()}
    assert sum(counts.values()) == 100_000 and counts[None] == 14_286 and counts["none"] == 28_571
    for threads in (2, 7, None):
        assert mend_array(column, threads=threads).equals(one)


def test_other_threads_run_meanwhile() -> None:
    column = pa.array(["{'a': [" + "1, " * 2000 + "]}"] * 2000)
    done, ticks = threading.Event(), 0

    def work() -> None:
        mend_array(column, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 5


def test_many_threads_use_one_function() -> None:
    wanted = mend_array(KINDS["string"])
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda: seen.append(mend_array(KINDS["string"]).equals(wanted))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 16
