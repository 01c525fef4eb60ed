"""Spark: two workers on this machine, one of which is killed while it mends."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import answers
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from wiremend_arrow import mend_array, result_type

HERE = str(Path(__file__).parent)


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def main(folder: str) -> None:
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", HERE)
        .config("spark.local.dir", folder)
        .getOrCreate()
    )
    answers.page("Spark", spark=spark)
    fields = [pa.field("id", pa.int64()), *pa.field(result_type()).type]
    schema = from_arrow_schema(pa.schema(fields))

    def mend(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        for batch in batches:
            texts = pa.array([answers.text(row) for row in batch["id"].to_pylist()])
            mended = mend_array(texts, threads=1)
            yield pa.RecordBatch.from_arrays([batch["id"], *mended.flatten()], names=[field.name for field in fields])
            # After rows have left: what a task has done is thrown away with it.
            if task.partitionId() == 5 and answers.first(folder):
                os.kill(parent(parent(os.getpid())), signal.SIGKILL)  # the executor: a machine that is gone
                time.sleep(60)

    start = time.monotonic()
    mended = spark.range(0, answers.ROWS, numPartitions=16).mapInArrow(mend, schema).select("id", "outcome").toArrow()
    took = time.monotonic() - start
    deaths = int((Path(folder) / "died").exists())
    rows = ({"id": row, "outcome": outcome} for row, outcome in zip(mended["id"].to_pylist(), mended["outcome"].to_pylist()))
    answers.check(f"Spark {spark.version}, 2 workers, {took:.0f} s", rows, deaths)
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
