"""Whole texts: `loads`, `mend`, `find`."""

from __future__ import annotations

import gc
import json
import math
import pickle
import threading
import weakref
from typing import Any

import pytest
from bodies import call

import wiremend
from wiremend import Cut, LimitExceeded, Mended, MendError, Refused, Repair

VALID = [
    "null", "true", "false", "0", "-0", "12", "-7", "123456789012345678", "1234567890123456789", "9" * 400,
    "0.5", "-1.5e10", "1E-7", "1e400", "-1e400", '""', '"a"', '"\\u00e9\\ud83d\\ude00\\n\\/"', '"é😀"', "[]", "{}", "[[]]",
    ' [ 1 , "2" , { "a" : null } ] ', '{"a": {"b": [1, 2.5, {"c": "d"}]}, "a": 2}', '{"": 0, "é": 1}',
    '{"k": [true, false, null], "long key ' + "x" * 100 + '": "' + "y" * 1000 + '"}',
    json.dumps([{"id": i, "name": f"n{i}", "tags": ["a", "b"], "score": i / 7} for i in range(300)]),
    "[" * 127 + "]" * 127,
]


@pytest.mark.parametrize("text", VALID)
def test_valid_text_has_the_value_that_json_gives_it(text: str) -> None:
    wanted = json.loads(text)
    for given in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        value = wiremend.loads(given)
        assert value == wanted
        assert repr(value) == repr(wanted)
    mended = wiremend.mend(text)
    assert (mended.outcome, mended.value, mended.repairs) == ("unchanged", wanted, ())
    assert mended.text is text


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{", "[1", "01", "1.", ".5", "+1", "- 1", "1e", "tru", "nul", '"a', '"\x01"', '"\\x"', '"\\ud800"', '"\\u12"',
        '"\\ud800\\u0041"', "[1,]", "{'a': 1}", '{"a" 1}', '{"a": 1,}', '{a: 1}', "[1 2]", "1 2", "{}{}", "NaN", "[1]]", "\ufeff1",
        "[" * 128 + "]" * 128, "\x00", "{\"a\": \x0b1}",
    ],
)  # fmt: skip
def test_the_short_way_takes_nothing_that_is_not_valid(text: str) -> None:
    """What `loads` reads without the engine is what the engine leaves unchanged."""
    assert wiremend.mend(text).outcome != "unchanged"
    mended = wiremend.mend(text)
    if mended.is_complete:
        assert wiremend.loads(text) == mended.value
    else:
        with pytest.raises(MendError):
            wiremend.loads(text)


def test_broken_text() -> None:
    assert wiremend.loads("{name: 'Ada', tags: ['x',], ok: True}") == {"name": "Ada", "tags": ["x"], "ok": True}
    assert wiremend.loads(b"{name: 'Ad\xc3\xa4'}") == {"name": "Adä"}
    assert wiremend.loads("```json\n{'a': 1}\n```") == {"a": 1}
    assert wiremend.loads('"\ud800"') == "\ufffd" * 3


def test_several_documents() -> None:
    text = '{"a": 1}\n{"b": 2}'
    assert wiremend.loads(text) == [{"a": 1}, {"b": 2}]
    assert wiremend.loads(text, documents="first") == {"a": 1}
    assert wiremend.loads(text, documents="last") == {"b": 2}
    with pytest.raises(Refused):
        wiremend.loads(text, documents="error")


def test_the_search_can_be_left_out() -> None:
    text = '{"a": "x," "b": 2}'
    schema = {"properties": {"b": {"type": "integer"}}}
    for search, value in ((True, {"a": "x", "b": 2}), (False, {"a": "x,", "b": 2})):
        assert wiremend.loads(text, search=search) == value
        assert wiremend.mend(text, search=search).value == value
        assert wiremend.find(f"Here: {text}", search=search).value == value
        assert wiremend.fit(text, schema, search=search).value == value


def test_the_two_best_readings() -> None:
    text = '{"ä": "first, b: "second"}'
    first, second = wiremend.readings(text)
    assert (first.text, second.text) == ('{"ä": "first", "b": "second"}', '{"ä": "first, b: \\"second"}')
    assert first.cost < second.cost
    for reading in (first, second):
        out, at = "", 0
        for repair in reading.repairs:
            assert repair.before == text[repair.start : repair.end]
            out, at = out + text[at : repair.start] + repair.after, repair.end
        assert out + text[at:] == reading.text
    assert [reading.text for reading in wiremend.readings(text.encode())] == [first.text, second.text]
    assert wiremend.readings("[1]") == ()
    assert wiremend.readings("[[1,]]", depth=2)[0].text == "[[1]]"


def test_repairs_are_values_that_match() -> None:
    text = "{'é': None}"
    mended = wiremend.mend(text)
    assert mended.text == '{"é": null}'
    assert [r.kind for r in mended.repairs] == ["single-quote", "single-quote", "python-literal"]
    match mended.repairs:
        case (Repair("single-quote"), _, Repair("python-literal", before, after, path)):
            assert (before, after, path) == ("None", "null", "$.é")
        case other:
            pytest.fail(f"{other}")
    last = mended.repairs[-1]
    # Characters of a `str`, bytes of anything else.
    assert (last.start, last.end, text[last.start : last.end]) == (6, 10, "None")
    again = wiremend.mend(text.encode()).repairs[-1]
    assert (again.start, again.end) == (7, 11)
    assert last != again and last == wiremend.mend(text).repairs[-1]
    assert len({last, wiremend.mend(text).repairs[-1]}) == 1
    with pytest.raises(AttributeError):
        last.kind = "other"  # type: ignore[misc]


def test_the_repairs_turn_the_text_into_the_mended_one() -> None:
    text = "Sure! {‘a’: [1,, 2 3], 'ö': .5, 'x': 0x1F, // no\n 'y': Tru}"
    mended = wiremend.mend(text)
    out, at = "", 0
    for repair in mended.repairs:
        assert repair.before == text[repair.start : repair.end]
        out += text[at : repair.start] + repair.after
        at = repair.end
    assert out + text[at:] == mended.text


def test_a_text_that_was_cut_off_is_no_value_unless_it_is_asked_for() -> None:
    text = '{"path": "/home/ada'
    with pytest.raises(Cut) as caught:
        wiremend.loads(text)
    assert caught.value.outcome == "closed"
    assert caught.value.place == "$.path"
    assert isinstance(caught.value.result, Mended)
    assert caught.value.result.value == {"path": "/home/ada"}
    assert "cut off at $.path" in caught.value.for_model
    assert wiremend.loads(text, incomplete=True) == {"path": "/home/ada"}
    with pytest.raises(Cut):
        wiremend.loads(text, incomplete=True, policy="conservative")


def test_errors_are_one_tree() -> None:
    for text, kind, outcome in [
        ("[1, 2", Cut, "closed"),
        ("no JSON here", Refused, "none"),
        ("[" * 200 + "]" * 200, LimitExceeded, "overflow"),
    ]:
        with pytest.raises(kind) as caught:
            wiremend.loads(text)
        error = caught.value
        assert isinstance(error, MendError) and isinstance(error, ValueError)
        assert error.outcome == outcome
        assert error.for_model.endswith(".")
    with pytest.raises(Refused) as refused:
        wiremend.loads("{'a': None}", policy="strict")
    assert refused.value.repairs


def test_errors_leave_their_process() -> None:
    with pytest.raises(Cut) as caught:
        wiremend.loads('{"a": 1')
    left = pickle.loads(pickle.dumps(caught.value))
    assert type(left) is Cut and str(left) == str(caught.value)
    assert (left.outcome, left.for_model, left.result, left.repairs) == ("closed", caught.value.for_model, None, ())


def test_mended_never_raises_but_for_a_value_that_is_not_there() -> None:
    mended = wiremend.mend("no JSON here")
    assert (mended.outcome, mended.text, mended.is_complete) == ("none", None, False)
    assert isinstance(mended.error, Refused)
    with pytest.raises(Refused):
        _ = mended.value
    closed = wiremend.mend("[1")
    assert (closed.outcome, closed.value, closed.is_complete, closed.cut_at) == ("closed", [1], False, "$[0]")
    assert isinstance(closed.error, Cut)
    assert wiremend.mend("[1]").error is None
    assert closed.value is closed.value
    assert closed.repairs is closed.repairs
    match wiremend.mend("[1,]"):
        case Mended("repaired", text):
            assert text == "[1]"
        case other:
            pytest.fail(f"{other}")


def test_options() -> None:
    assert wiremend.mend("{'a': 1}", without=["single-quote"]).outcome == "invalid"
    assert wiremend.mend("[1 2]", policy="exact").outcome == "invalid"
    assert wiremend.mend("[" * 200 + "]" * 200, depth=300).outcome == "unchanged"
    for wrong in ({"policy": "lax"}, {"documents": "all"}, {"without": ["no-such-kind"]}):
        for read in (wiremend.mend, wiremend.loads):
            with pytest.raises(ValueError, match=r"must be|no repair"):
                read("[1]", **wrong)  # type: ignore[operator]
    with pytest.raises(TypeError, match="list of codes"):
        wiremend.mend("[1,]", without="comment")
    with pytest.raises(TypeError, match="expected str, bytes"):
        wiremend.loads(3)  # type: ignore[arg-type]


def test_find_leaves_prose_alone() -> None:
    mended = wiremend.find("Here it is: {name: 'Ada'} Enjoy!")
    assert mended.value == {"name": "Ada"}
    assert wiremend.find("if (x) { return 1; }").outcome == "none"
    assert wiremend.find('{"a": 1} and {"b": 2}', scope="all").value == [{"a": 1}, {"b": 2}]


def test_input_of_every_kind() -> None:
    data = b'xx{"a": [1, "\xc3\xa9"]}yy'
    wanted = {"a": [1, "é"]}
    assert wiremend.loads(memoryview(data)[2:-2]) == wanted
    assert wiremend.loads(memoryview(bytearray(data))[2:-2]) == wanted
    assert wiremend.loads(memoryview(b"] 1 , 2 [")[::-1]) == [2, 1]
    with pytest.raises(MendError):
        wiremend.loads(b"\xff\xfe")


def test_numbers_as_json_reads_them() -> None:
    assert wiremend.loads("1e999") == math.inf
    assert isinstance(wiremend.loads("10"), int) and isinstance(wiremend.loads("10.0"), float)
    with pytest.raises(ValueError, match="limit"):
        wiremend.loads("9" * 5000)


def test_equal_keys_are_one_object_in_memory() -> None:
    rows: list[dict[str, Any]] = wiremend.loads('[{"key-one": 1}, {"key-one": 2}]')
    (first,), (second,) = rows
    assert first is second


def test_other_threads_run_while_a_long_text_is_mended() -> None:
    text = "[" + "{'a': 'bcd', }, " * 60_000 + "]"
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.wait(0.0005):
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    wiremend.mend(text)
    done.set()
    other.join()
    assert turns > 2


def test_threads_share_results() -> None:
    mended = wiremend.mend("[" + "{'a': [1, 2, None]}, " * 200 + "]")
    seen: list[Any] = []

    def read() -> None:
        seen.append((mended.value, mended.repairs, mended.text))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(value is seen[0][0] and repairs is seen[0][1] for value, repairs, _ in seen)


def test_no_references_are_left() -> None:
    def work() -> None:
        for text in ("{'a': [1, 'b', None, 2.5]}", '{"a": [1, "b", null, 2.5]}', "{'a': ", "none"):
            mended = wiremend.mend(text)
            _ = (mended.repairs, mended.error, mended.cut_at, mended.text and mended.value)

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    work()
    before = objects()
    for _ in range(200):
        work()
    assert objects() - before < 50


def test_a_result_may_be_kept_in_its_own_value() -> None:
    """The garbage collector finds it there."""

    class Probe:
        pass

    seen = []
    body = call("{}")
    ended = next(event for event in wiremend.stream(body) if isinstance(event, wiremend.events.CallEnded))
    found = wiremend.find_calls('<tool_call>{"name": "a", "arguments": {}}</tool_call>')
    mender = wiremend.Mender()
    mender.feed("{}")
    for owner, result in (
        (None, wiremend.mend("{}")),
        (None, wiremend.mend_arguments("{}", "tool_calls")),
        (None, wiremend.fit("{}", {})),
        (ended, ended.call),
        (found, found[0]),
        (mender, mender.close()),
    ):
        probe = Probe()
        result.value.update(owner=owner or result, probe=probe)
        seen.append(weakref.ref(probe))
    del owner, result, probe, ended, found, mender
    gc.collect()
    assert [kept() for kept in seen] == [None] * 6
