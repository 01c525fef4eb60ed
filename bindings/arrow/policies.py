"""Counts the rows that engines keep of the texts of `damaged.py`, by what each does with a row that is no JSON.

    python policies.py

It tries the engines that are installed: pyarrow, polars, duckdb, pandas, datafusion and pyspark (which needs a JVM), and
this package. It is no part of the checks.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import damaged
import pyarrow as pa

ROWS = 18_000
"""A thousand rows of each kind of damage, and as many without any."""

FIELDS = {"id": "BIGINT", "name": "VARCHAR", "tags": "VARCHAR[]", "score": "DOUBLE", "notes": "VARCHAR"}
ARROW = pa.schema({"id": pa.int64(), "name": pa.string(), "tags": pa.list_(pa.string()), "score": pa.float64(), "notes": pa.string()})

Record = Mapping[str, Any] | None
Policy = Callable[[Path, pa.Table], Iterable[Record]]


def pyarrow(path: Path, _: pa.Table) -> Iterable[Record]:
    from pyarrow import json as reader

    return reader.read_json(path, parse_options=reader.ParseOptions(explicit_schema=ARROW)).to_pylist()


def polars(path: Path, _: pa.Table) -> Iterable[Record]:
    import polars as pl

    return pl.read_ndjson(path, schema=pl.from_arrow(ARROW.empty_table()).schema, ignore_errors=True).iter_rows(named=True)


def polars_decode(_: Path, table: pa.Table) -> Iterable[Record]:
    import polars as pl

    kind = pl.Struct(pl.from_arrow(ARROW.empty_table()).schema)
    return pl.Series(table["answer"]).str.json_decode(kind).to_list()


def pandas(path: Path, _: pa.Table) -> Iterable[Record]:
    import pandas as pd

    return pd.read_json(path, lines=True).to_dict("records")


def duckdb(query: str) -> Policy:
    def run(path: Path, table: pa.Table) -> Iterable[Record]:
        import duckdb

        con = duckdb.connect()
        con.register("answers", table)
        return con.sql(query.format(path=path, fields=FIELDS, struct=", ".join(f"{name} {kind}" for name, kind in FIELDS.items()))).to_arrow_table().to_pylist()

    return run


def datafusion(path: Path, _: pa.Table) -> Iterable[Record]:
    from datafusion import SessionContext

    return SessionContext().read_json(str(path), schema=ARROW, file_extension=".jsonl").to_arrow_table().to_pylist()


def spark(mode: str) -> Policy:
    def run(path: Path, _: pa.Table) -> Iterable[Record]:
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        rows = session.read.json(str(path), schema="id long, name string, tags array<string>, score double, notes string", mode=mode)
        return [row.asDict() for row in rows.collect()]

    return run


def wiremend(typed: bool) -> Policy:
    def run(_: Path, table: pa.Table) -> Iterable[Record]:
        from wiremend_arrow import mend_array

        kinds = {"id": "integer", "name": "string", "score": "number", "notes": "string"}
        members = {name: {"type": kind} for name, kind in kinds.items()} | {"tags": {"type": "array", "items": {"type": "string"}}}
        for row in mend_array(table["answer"], schema={"type": "object", "properties": members, "required": list(FIELDS)} if typed else None).to_pylist():
            yield None if row["json"] is None or row["outcome"] == "closed" else json.loads(row["json"])

    return run


POLICIES: list[tuple[str, str, Policy]] = [
    ("wiremend-arrow", "mend_array, without what it had to close", wiremend(False)),
    ("wiremend-arrow", "the same, with a schema", wiremend(True)),
    ("pyarrow", "read_json", pyarrow),
    ("pandas", "read_json(lines=True)", pandas),
    ("datafusion", "read_json", datafusion),
    ("polars", "read_ndjson(ignore_errors=True)", polars),
    ("polars", "str.json_decode", polars_decode),
    ("duckdb", "read_json(ignore_errors=true)", duckdb("from read_json('{path}', format='newline_delimited', columns={fields}, ignore_errors=true)")),
    ("duckdb", "try_cast(answer as json)", duckdb("select unnest(cast(try_cast(answer as json) as struct({struct}))) from answers")),
    ("pyspark", "PERMISSIVE", spark("PERMISSIVE")),
    ("pyspark", "DROPMALFORMED", spark("DROPMALFORMED")),
    ("pyspark", "FAILFAST", spark("FAILFAST")),
]


def count(records: Iterable[Record]) -> str:
    """How many rows have their value, have another one, and are empty or gone."""
    right, wrong = [0] * ROWS, 0
    for record in records:
        at = None if record is None else record.get("id")
        if record is not None and at is not None and dict(record) == damaged.value(int(at)):
            right[int(at)] = 1
        elif record is not None and any(value is not None for value in record.values()):
            wrong += 1
    whole = sum(right)
    kinds = [name for name in damaged.DAMAGE if all(right[row] for row in range(ROWS) if damaged.kind(row) == name)]
    return f"{whole / ROWS:.1%} right, {wrong / ROWS:.1%} with another value, {1 - (whole + wrong) / ROWS:.1%} empty or gone; mends: {', '.join(kinds) or 'nothing'}"


def main(folder: str) -> None:
    texts = [damaged.text(row).replace("\n", " ") for row in range(ROWS)]
    path = Path(folder) / "answers.jsonl"
    path.write_text("\n".join(texts) + "\n")
    table = pa.table({"answer": texts})
    for package, name, policy in POLICIES:
        try:
            importlib.import_module(package.replace("-", "_"))
        except ImportError:
            print(f"{package}: not installed", flush=True)
            continue
        try:
            found = count(policy(path, table))
        except Exception as error:
            found = f"raises, and keeps nothing: {type(error).__name__}: {str(error).splitlines()[0][:80]}"
        print(f"{package} {version(package)}, {name}: {found}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
