"""Measures `mend_array` beside loops in Python and beside what DuckDB does with a row that is no JSON.

    python bench.py [rows]

It needs pyarrow, duckdb, json_repair and fast_json_repair, and a release build of this package. It is no part of
the checks.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version

import damaged
import duckdb
import fast_json_repair
import json_repair
import pyarrow as pa

from wiremend_arrow import mend_array, summarize

def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(name: str, rows: int, size: int, work: Callable[[], object]) -> object:
    """By the clock, and by the time of processors, which says more on a machine that others use."""
    start, used = time.perf_counter(), time.process_time()
    done = work()
    took, used = time.perf_counter() - start, time.process_time() - used
    rates = [f"{took:.2f} s {what}: {rows / took:,.0f} rows/s, {size / took / 1e6:.1f} MB/s" for what, took in (("by the clock", took), ("of processors", used))]
    print(f"{name}: {'; '.join(rates)}", flush=True)
    return done


def main(rows: int) -> None:
    given = [damaged.text(row) for row in range(rows)]
    column = pa.chunked_array([given[start : start + 65536] for start in range(0, rows, 65536)])
    size = sum(map(len, given))
    sample = given[: min(rows, 50_000)]
    part = sum(map(len, sample))
    print(f"{rows:,} rows, {size / 1e6:.0f} MB; {memory():.0f} MB before", flush=True)
    mended: pa.ChunkedArray | None = None
    for threads in (1, 2):
        mended = None
        mended = timed(f"mend_array, threads={threads}", rows, size, lambda: mend_array(column, threads=threads))  # type: ignore[assignment]
        assert mended is not None
    summary = timed("summarize", rows, size, lambda: summarize(mended))
    assert summary.rows == rows  # type: ignore[attr-defined]
    print(f"{memory():.0f} MB at most; the results take {mended.nbytes / 1e6:.0f} MB")
    outcomes = Counter(outcome for chunk in mended.chunks for outcome in chunk.field("outcome").to_pylist())
    assert len(mended) == rows == sum(outcomes.values())
    print(f"{rows:,} rows in, {len(mended):,} out: {dict(outcomes)}")
    kinds = {"id": "integer", "name": "string", "score": "number", "notes": "string"}
    members = {name: {"type": kind} for name, kind in kinds.items()} | {"tags": {"type": "array", "items": {"type": "string"}}}
    schema = {"type": "object", "properties": members}
    for threads in (1, 2):
        options = {"schema": schema, "typed": True, "threads": threads}
        timed(f"typed, threads={threads}", rows, size, lambda: mend_array(column, **options))  # type: ignore[arg-type]
    for module, repair in ((json_repair, json_repair.repair_json), (fast_json_repair, fast_json_repair.repair_json)):
        name = module.__name__
        made = timed(f"{name} {version(name)}, a loop", len(sample), part, lambda: [repair(text) for text in sample])
        wanted = [damaged.value(row) for row in range(len(sample))]
        kept = [json.loads(text) if text else None for text in made]  # type: ignore[union-attr,attr-defined]
        right = sum(got == want for got, want in zip(kept, wanted))
        print(f"  {right / len(sample):.1%} of the rows have the value that was damaged")
    wanted = [damaged.value(row) for row in range(len(sample))]
    first = mended.combine_chunks().field("json")[: len(sample)].to_pylist()
    right = sum(text is not None and json.loads(text) == want for text, want in zip(first, wanted))
    print(f"mend_array: {right / len(sample):.1%} of the same rows")
    con = duckdb.connect()
    con.sql("set threads to 2")
    con.register("frame", pa.table({"answer": column}))
    saved = timed("DuckDB, try_cast to JSON", rows, size, lambda: con.sql("select count(try_cast(answer as json)) from frame").fetchall())
    print(f"  keeps {saved[0][0] / rows:.1%} of the rows; the rest are null")  # type: ignore[index]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
