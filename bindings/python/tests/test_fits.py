"""Values that fit a schema, arguments, and calls in a text."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import pytest

import wiremend
from wiremend import Cut, LimitExceeded, Refused, Schema, SchemaMismatch, fit, mend_arguments, parse

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


@dataclass
class Tree:
    """A tree of names."""

    name: str
    children: list[Tree] = field(default_factory=list)


class Trip(TypedDict):
    city: str
    days: NotRequired[int]


@dataclass
class All:
    colour: Colour
    points: list[Point]
    pair: tuple[int, str]
    ways: tuple[str, ...]
    names: set[str]
    of: dict[str, Point]
    trip: Trip
    mode: Literal["fast", "slow"]
    maybe: Optional[Point]  # noqa: UP045
    either: Union[int, Point, list[Point]]  # noqa: UP007
    any: Any
    noted: Annotated[int, "a note"]
    rest: Sequence[int] = ()
    inner: int = field(default=7, init=False)


def test_a_dict_is_a_schema() -> None:
    fitted = fit("Here: {days: '3'}", DAYS)
    assert (fitted.outcome, fitted.text, fitted.value) == ("repaired", '{"days": 3}', {"days": 3})
    assert fitted.rules == ("string-to-number",)
    assert [change.kind for change in fitted.changes][-1] == "string-to-number"
    assert fitted.error is None and fitted.issues == ()
    text = "Here: {days: '3'}"
    out, at = "", 0
    for change in fitted.changes:
        assert text[change.start : change.end] == change.before
        out, at = out + text[at : change.start] + change.after, change.end
    assert out + text[at:] == fitted.text


def test_what_does_not_fit_is_said_to_the_model() -> None:
    fitted = fit("{days: 'a few'}", DAYS)
    assert (fitted.outcome, fitted.text, fitted.is_complete) == ("invalid", None, False)
    (issue,) = fitted.issues
    match issue:
        case wiremend.Issue("type", "$.days", expected):
            assert expected == "integer"
        case other:
            pytest.fail(repr(other))
    assert fitted.for_model().startswith("- /days: expected integer")
    with pytest.raises(SchemaMismatch) as caught:
        _ = fitted.value
    assert caught.value.place == "$.days" and caught.value.issues == fitted.issues
    assert "/days: expected integer" in caught.value.for_model
    with pytest.raises(Cut):
        parse('{"days": 3', dict[str, int], policy="conservative")
    with pytest.raises(Refused):
        parse("nothing here", Point)
    with pytest.raises(LimitExceeded):
        parse("[" * 200 + "]" * 200, list[Any])


def test_a_compiled_schema() -> None:
    schema = Schema('{"type": "array", "items": {"type": "integer"}}')
    assert fit('["1", 2]', schema).value == [1, 2]
    assert schema.fit("[1]").outcome == "unchanged"
    for wrong in ("{", '{"type": "no-such-type"}'):
        with pytest.raises(ValueError, match="."):
            Schema(wrong)


def test_dataclasses_and_typed_dicts() -> None:
    assert parse("{x: '1.5'}", Point) == Point(1.5)
    assert parse("{x: 1}", Point) == Point(1.0) and isinstance(parse("{x: 1}", Point).x, float)
    assert parse("[{x: 1}, {x: 2, y: 3}]", list[Point]) == [Point(1), Point(2, 3)]
    trip: Trip = parse("{city: 'Oslo'}", Trip)
    assert trip == {"city": "Oslo"}
    tree = parse("{name: 'a', children: [{name: 'b', children: []}]}", Tree)
    assert tree == Tree("a", [Tree("b")])
    with pytest.raises(SchemaMismatch):
        parse("{y: 1}", Point)
    with pytest.raises(SchemaMismatch):
        parse("{name: 'a', children: [3]}", Tree)


def test_types_of_the_standard_library() -> None:
    text = """{colour: 'RED', points: [{x: 1}], pair: [1, 'a'], ways: ['w'], names: ['n', 'n'], of: {p: {x: 2}},
        trip: {city: 'Oslo', days: 2}, mode: 'fast', maybe: null, either: {x: 3}, any: [1], noted: 4}"""
    wanted = All(
        Colour.RED, [Point(1)], (1, "a"), ("w",), {"n"}, {"p": Point(2)}, {"city": "Oslo", "days": 2}, "fast", None, Point(3), [1], 4
    )
    made = parse(text, All)
    assert made == wanted and made.inner == 7
    assert type(made.pair) is tuple and type(made.names) is set
    assert parse("[5, null, 'x']", list[int | str | None]) == [5, None, "x"]
    assert parse("[1, 'a']", tuple[int, str] | None) == (1, "a")  # type: ignore[arg-type]


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic")
    import datetime

    Model = pydantic.create_model("Model", day=(datetime.date, ...), price=(float, ...))
    made = parse("{day: '2026-01-02', price: '1.50'}", Model)
    assert (made.day, made.price) == (datetime.date(2026, 1, 2), 1.5)
    many = parse("[{day: '2026-01-02', price: 1}]", list[Model])
    assert isinstance(many[0], Model)
    with pytest.raises(SchemaMismatch):
        parse("{day: 1}", Model)
    assert parse("{1: 'a'}", dict[int, str]) == {1: "a"}


@dataclass
class Span:
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError("it ends before it starts")


def test_what_a_type_refuses_is_a_mismatch() -> None:
    assert parse("{start: 1, end: 2}", Span) == Span(1, 2)
    with pytest.raises(SchemaMismatch, match="ends before") as caught:
        parse("{start: 3, end: 2}", Span)
    assert "ends before" in caught.value.for_model and caught.value.result.value == {"start": 3, "end": 2}
    wrong: list[SchemaMismatch] = []
    assert list(wiremend.items(["[{start: 3, end: 2}, {start: 1, end: 2}]"], "", Span, mismatch=wrong.append)) == [Span(1, 2)]
    assert len(wrong) == 1


def test_a_type_without_a_schema() -> None:
    with pytest.raises(TypeError, match="no schema is known|needs pydantic"):
        parse("{}", type("Other", (), {}))
    with pytest.raises(TypeError, match="Schema"):
        fit("{}", '{"type": "object"}')  # type: ignore[arg-type]


def test_arguments() -> None:
    mended = mend_arguments("{'city': 'Oslo', 'days': 3,}", "tool_calls")
    assert (mended.outcome, mended.value, mended.is_complete) == ("repaired", {"city": "Oslo", "days": 3}, True)
    assert len(mended.repairs) == 7 and mended.error is None
    cut = mend_arguments('{"path": "/home/ada', "max_tokens")
    assert (cut.outcome, cut.text, cut.cut_at) == ("cut", None, "$.path")
    with pytest.raises(Cut, match="cut off"):
        _ = cut.value
    assert mend_arguments("", "stop").value == {}
    assert mend_arguments("", "length").is_complete is False
    assert mend_arguments("{'a': 1}", "length").doubt == "unclean-stop"
    assert mend_arguments('{"a": 1}', "length").is_complete


def test_arguments_with_a_schema() -> None:
    assert mend_arguments("{'days': '3'}", "tool_calls", schema=DAYS).value == {"days": 3}
    wrong = mend_arguments("{'days': 'a few'}", "tool_calls", schema=DAYS)
    assert (wrong.outcome, wrong.raw) == ("refused", "{'days': 'a few'}")
    assert isinstance(wrong.error, SchemaMismatch) and wrong.issues
    assert mend_arguments("{'days': 3", "length", schema=DAYS).outcome == "cut"
    assert mend_arguments("{'x': '3'}", "tool_calls", schema=Point).value == {"x": 3}


TOOLS = [{"type": "function", "function": {"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}}}]


def test_calls_in_text() -> None:
    text = "On it. <tool_call>{'name': 'book', 'arguments': {'seats': 2,}}</tool_call> Done."
    found = wiremend.find_calls(text, tools=TOOLS)
    (call,) = found
    assert (call.name, call.value, call.outcome, call.dialect) == ("book", {"seats": 2}, "repaired", "hermes")
    assert found[0].text == call.text == '{"seats": 2}'
    assert found.text == "On it.  Done." and len(found) == 1 and found.unknown == []
    assert call.span is not None and text[slice(*call.span)].startswith("<tool_call>")
    match found.calls:
        case (wiremend.FoundCall("book", '{"seats": 2}'),):
            pass
        case other:
            pytest.fail(repr(other))


def test_calls_in_the_syntax_of_a_dialect_or_a_model() -> None:
    text = "<function=ls>\n<parameter=path>\n/tmp\n</parameter>\n</function>"
    for name in ("qwen3-coder", "Qwen/Qwen3-Coder-30B-A3B-Instruct"):
        assert [(call.name, call.value) for call in wiremend.find_calls(text, dialect=name)] == [("ls", {"path": "/tmp"})]
    with pytest.raises(ValueError, match="no dialect or model"):
        wiremend.find_calls(text, dialect="klingon")


def test_calls_that_may_not_be_run() -> None:
    cut = wiremend.find_calls('<tool_call>{"name": "book", "arguments": {"seats": 2', tools=TOOLS, cut=True)[0]
    assert (cut.outcome, cut.is_complete, cut.text) == ("cut", False, None)
    assert isinstance(cut.error, Cut)
    with pytest.raises(Cut):
        _ = cut.value
    unknown = wiremend.find_calls('<tool_call>{"name": "bok", "arguments": {}}</tool_call>', tools=TOOLS)
    assert unknown.unknown == [("bok", "book")] and len(unknown) == 0
    with pytest.raises(ValueError, match="."):
        wiremend.find_calls("x", tools=[3])
