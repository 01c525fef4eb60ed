"""Daft on Ray: two nodes on this machine, one of whose workers is killed while it mends."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

os.environ["DAFT_ANALYTICS_ENABLED"] = "0"
os.environ["DAFT_PROGRESS_BAR"] = "0"

import answers
import nodes
import daft
import pyarrow as pa
import ray

from wiremend_arrow import mend_array, result_type


def main(folder: str) -> None:
    daft.set_runner_ray()

    answers.page("Daft")
    kind = daft.DataType.from_arrow_type(pa.field(result_type()).type)

    @daft.func.batch(return_dtype=kind)
    def mend(ids: daft.Series) -> pa.Array:
        rows = ids.to_arrow().to_pylist()
        mended = mend_array(pa.array([answers.text(row) for row in rows]), threads=1)
        if rows and rows[0] > answers.ROWS // 3 and answers.first(folder):
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return mended

    start = time.monotonic()
    frame = daft.range(answers.ROWS, partitions=32)
    mended = frame.select(frame["id"], mend(frame["id"]).alias("mended"))
    done = mended.select(mended["id"], mended["mended"]["outcome"].alias("outcome")).to_arrow()
    took = time.monotonic() - start
    rows = ({"id": row, "outcome": outcome} for row, outcome in zip(done["id"].to_pylist(), done["outcome"].to_pylist()))
    answers.check(f"Daft {daft.__version__} on Ray, 2 nodes, {took:.0f} s", rows, int((Path(folder) / "died").exists()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, nodes.cluster():
        main(folder)
