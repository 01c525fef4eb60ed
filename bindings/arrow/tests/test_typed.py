"""Values as typed columns: what has no place in them is null, and said."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pyarrow as pa
import pydantic
import pytest

from wiremend_arrow import mend_array, result_type


def kind(schema: Any) -> pa.DataType:
    return pa.field(result_type(schema=schema, typed=True)).type.field("value").type


def typed(schema: Any, *texts: str | None, **options: Any) -> list[Any]:
    mended = mend_array(pa.array(texts, pa.string()), schema=schema, typed=True, **options)
    mended.validate(full=True)
    assert mended.type == pa.field(result_type(schema=schema, typed=True)).type
    found: list[Any] = mended.to_pylist()
    return found


NODE = {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}}

TYPES: list[tuple[Any, pa.DataType]] = [
    ({"type": "string"}, pa.string()),
    ({"type": "string", "format": "date-time"}, pa.string()),
    ({"type": "integer"}, pa.int64()),
    ({"type": "number"}, pa.float64()),
    ({"type": ["integer", "number"]}, pa.float64()),
    ({"type": "boolean"}, pa.bool_()),
    ({"type": ["integer", "null"]}, pa.int64()),
    ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, pa.int64()),
    ({"allOf": [{"type": "integer"}]}, pa.int64()),
    ({"enum": ["a", "b", None]}, pa.string()),
    ({"enum": [1, 2.5]}, pa.float64()),
    ({"const": 3}, pa.int64()),
    ({"type": "array", "items": {"type": "number"}}, pa.list_(pa.float64())),
    ({"type": "object", "properties": {"a": {"type": "boolean"}}}, pa.struct([("a", pa.bool_())])),
    ({"properties": {"a/b": {"type": "boolean"}}}, pa.struct([("a/b", pa.bool_())])),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, pa.map_(pa.string(), pa.int64())),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "integer"}}}, pa.int64()),
    ({"$ref": "#/$defs/A%20b~1c", "$defs": {"A b/c": {"type": "integer"}}}, pa.int64()),
    # What may be of several types, or of any, stays JSON text.
    ({}, pa.string()),
    ("true", pa.string()),
    ({"type": ["integer", "string"]}, pa.string()),
    ({"enum": [1, "a"]}, pa.string()),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, pa.string()),
    ({"anyOf": [{"type": "null"}]}, pa.string()),
    ({"type": "array", "prefixItems": [{"type": "integer"}]}, pa.string()),
    ({"type": "array"}, pa.list_(pa.string())),
    ({"type": "object"}, pa.string()),
    ({"type": "object", "properties": {"a": {}}, "additionalProperties": True}, pa.string()),
    ({"type": "object", "patternProperties": {"^a": {"type": "integer"}}}, pa.string()),
    ({"type": "object", "properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}, pa.string()),
    (NODE, pa.struct([("name", pa.string()), ("children", pa.list_(pa.string()))])),
]


@pytest.mark.parametrize(("schema", "wanted"), TYPES, ids=lambda value: str(value)[:60])
def test_types(schema: Any, wanted: pa.DataType) -> None:
    assert kind(schema) == wanted
    assert isinstance(schema, str) or kind(json.dumps(schema)) == wanted


def test_definitions_that_refer_to_one_another_twice_end() -> None:
    parts = {f"d{at}": {"properties": {x: {"$ref": f"#/$defs/d{at + 1}"} for x in "ab"}} for at in range(40)}
    assert pa.types.is_struct(kind({"$ref": "#/$defs/d0", "$defs": parts | {"d40": {"type": "string"}}}))
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(60):
        deep = {"type": "array", "items": deep}
    texts = ["[" * 60 + "1" + "]" * 60]
    assert '"' not in str(kind(deep)) and typed(deep, *texts)[0]["outcome"] == "unchanged"


TRIP = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "cost": {"type": ["number", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "legs": {"type": "array", "items": {"type": "object", "properties": {"to": {"type": "string"}, "km": {"type": "integer"}}}},
        "notes": {},
        "flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["city"],
}


def test_values() -> None:
    first, null, bare, cut = typed(
        TRIP,
        "{city: 'Oslo', days: '3', cost: 1.5, tags: 'a', legs: [{to: 'x', km: 2}, {}], notes: [1.10, {\"z\": null}], flags: {k: 'true', j: false}}",
        None,
        '{"city": "Oslo", "legs": null}',
        '{"city": "Oslo", "tags": ["a", "b',
    )
    assert null is None
    assert first["value"] == {
        "city": "Oslo", "days": 3, "cost": 1.5, "tags": ["a"], "legs": [{"to": "x", "km": 2}, {"to": None, "km": None}],
        "notes": '[1.10, {"z": null}]', "flags": [("k", True), ("j", False)],
    }  # fmt: skip
    assert bare["value"]["city"] == "Oslo" and bare["value"]["days"] is None and bare["value"]["legs"] is None
    assert (cut["outcome"], cut["value"]["tags"]) == ("closed", ["a", "b"])


def test_what_does_not_fit_is_null_and_says_so() -> None:
    schema = {"type": "object", "properties": {"a/b": {"type": "array", "items": {"type": "integer"}}, "x": {"type": "number"}}}
    texts = [
        '{"a/b": [1, 9223372036854775807]}',
        '{"a/b": [1, 9223372036854775808]}',
        '{"a/b": [3.0, 1e3, -0]}',
        '{"x": 1e400}',
        '{"x": 99999999999999999999}',
        '{"a/b": ["many"]}',
        "none of it",
        "[1]",
        '"text"',
    ]
    found = typed(schema, *texts, scope="whole")
    assert [row["value"] for row in found] == [
        {"a/b": [1, 2**63 - 1], "x": None}, None, {"a/b": [3, 1000, 0], "x": None}, None, {"a/b": None, "x": 1e20}, None, None, None,
        None,
    ]  # fmt: skip
    assert [row["outcome"] for row in found][:6] == ["unchanged", "invalid", "repaired", "invalid", "unchanged", "invalid"]
    assert all(row["outcome"] in ("invalid", "none") and row["message"] for row in found if row["value"] is None)
    assert found[1]["message"] == "/a~1b/1: 9223372036854775808 has no place in a column of int64"
    assert found[3]["message"] == "/x: 1e400 has no place in a column of float64"


def test_a_member_without_a_place_is_dropped_only_as_a_lossy_repair() -> None:
    schema = {"properties": {"a": {"type": "integer"}}}
    dropped = typed(schema, '{"a": 1, "more": [2]}')[0]
    assert (dropped["value"], dropped["outcome"], dropped["risk"]) == ({"a": 1}, "repaired", "lossy")
    assert [repair["kind"] for repair in dropped["repairs"]] == ["drop-unknown"]
    refused = typed(schema, '{"a": 1, "more": [2]}', policy="likely")[0]
    assert (refused["value"], refused["outcome"]) == (None, "invalid") and "more" in refused["message"]
    # As text, nothing has to go.
    kept = mend_array(pa.array(['{"a": 1, "more": [2]}']), schema=schema)[0].as_py()
    assert (kept["json"], kept["outcome"]) == ('{"a": 1, "more": [2]}', "unchanged")


def test_a_name_that_is_there_twice() -> None:
    assert typed({"properties": {"a": {"type": "integer"}}}, '{"a": 1, "a": 2}')[0]["value"] == {"a": 2}
    assert typed({"type": "object", "additionalProperties": {}}, '{"a": 1, "b": 2, "a": 3}')[0]["value"] == [("a", "3"), ("b", "2")]


def test_a_dictionary_and_chunks() -> None:
    column = pa.chunked_array([pa.array(["{days: '3'}", None, "{days: '3'}", "x"]).dictionary_encode()])
    mended = mend_array(column, schema={"properties": {"days": {"type": "integer"}}, "required": ["days"]}, typed=True)
    assert [row and row["value"] for row in mended.to_pylist()] == [{"days": 3}, None, {"days": 3}, None]


class Trip(pydantic.BaseModel):
    city: str
    days: int | None = None


@dataclasses.dataclass
class Leg:
    trip: Trip
    km: float


def test_a_schema_is_a_dict_a_text_or_a_type() -> None:
    assert kind(Leg) == pa.struct([("trip", pa.struct([("city", pa.string()), ("days", pa.int64())])), ("km", pa.float64())])
    assert typed(Leg, "{trip: {city: 'Oslo'}, km: 3}")[0]["value"] == {"trip": {"city": "Oslo", "days": None}, "km": 3.0}
    assert typed(list[Trip], "[{city: 'Oslo'}]")[0]["value"] == [{"city": "Oslo", "days": None}]
    with pytest.raises(ValueError, match="typed columns need a schema"):
        mend_array(pa.array(["{}"]), typed=True)
    for wrong in ("{", '{"type": "no"}'):
        with pytest.raises(ValueError):
            mend_array(pa.array(["{}"]), schema=wrong)
