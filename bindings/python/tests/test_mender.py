"""Texts that arrive."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from wiremend import Cut, Mender

TEXT = "{'title': 'On snäpshots 😀', 'tags': ['a', 'b', None], 'n': 12.5, ok: True, }"
WANTED = {"title": "On snäpshots 😀", "tags": ["a", "b", None], "n": 12.5, "ok": True}


def contradicts(earlier: Any, later: Any) -> bool:
    """Whether a snapshot takes back what an earlier one showed."""
    match earlier, later:
        case dict(), dict():
            return any(key not in later or contradicts(value, later[key]) for key, value in earlier.items())
        case list(), list():
            pairs = zip(earlier, later, strict=False)
            return len(earlier) > len(later) or any(contradicts(*pair) for pair in pairs)
        case str(), str():
            return not later.startswith(earlier)
        case _:
            return type(earlier) is not type(later) or bool(earlier != later)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("encoded", [False, True])
def test_chunks_of_any_size_give_the_same(size: int, encoded: bool) -> None:
    whole: Any = TEXT.encode() if encoded else TEXT
    mender = Mender()
    text, last = "", None
    for start in range(0, len(whole), size):
        text += mender.feed(whole[start : start + size])
        snapshot = mender.snapshot()
        if last is not None:
            assert not contradicts(last, snapshot)
        last = snapshot
    mended = mender.close()
    assert mended.value == WANTED == mender.snapshot()
    assert (mended.outcome, mended.is_complete) == ("repaired", True)
    assert mended.text is not None and mended.text.startswith(text)
    assert mender.close() is mended
    assert mended.repairs[0].before is None
    assert [r.path for r in mended.repairs if r.kind == "python-literal"] == ["$.tags[2]", "$.ok"]


def test_text_and_completion_are_valid_at_every_moment() -> None:
    import json

    mender, text = Mender(), ""
    for character in TEXT:
        text += mender.feed(character)
        if mender.completion is not None:
            json.loads(text + mender.completion)


def test_a_text_that_was_cut_off() -> None:
    mender = Mender()
    assert mender.snapshot() is None
    mender.feed('{"a": [1, "b')
    assert mender.snapshot() == {"a": [1, "b"]}
    assert mender.outcome is None
    mended = mender.close()
    assert (mended.outcome, mended.cut_at, mended.value) == ("closed", "$.a[1]", {"a": [1, "b"]})
    assert isinstance(mended.error, Cut)
    careful = Mender(policy="conservative")
    careful.feed('{"a": [1, "b')
    assert careful.close().outcome == "cut"
    assert careful.outcome == "cut"


def test_wrong_use() -> None:
    mender = Mender()
    mender.close()
    with pytest.raises(RuntimeError, match="closed"):
        mender.feed("1")
    with pytest.raises(TypeError):
        Mender().feed(1)  # type: ignore[arg-type]


def test_any_bytes() -> None:
    for data in (b"", b"\xff\xfe\x00", b'{"a": "\xff', b"]]]]", b"{" * 300):
        mender = Mender()
        for at in range(len(data)):
            mender.feed(data[at : at + 1])
        mender.close()


def test_threads_may_share_a_mender() -> None:
    mender = Mender()
    mender.feed("[")

    def feed() -> None:
        for _ in range(500):
            mender.feed("1,")
            mender.snapshot()

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mender.feed("1]")
    assert mender.close().value == [1] * 2001
