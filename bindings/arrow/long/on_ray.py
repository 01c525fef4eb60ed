"""Ray Data: two nodes on this machine, one of which is killed while it mends."""

from __future__ import annotations

import os
import signal
import tempfile
import time

import answers
import nodes
import pyarrow as pa
import ray

from wiremend_arrow import mend_array


def main(folder: str) -> None:
    answers.page("Ray Data")

    def mend(batch: pa.Table) -> pa.Table:
        texts = pa.array([answers.text(row) for row in batch["id"].to_pylist()])
        mended = mend_array(texts, threads=1)
        if batch["id"][0].as_py() > answers.ROWS // 3 and answers.first(folder):
            os.kill(os.getppid(), signal.SIGKILL)  # the node, with all that it holds
            time.sleep(60)
        return pa.table([batch["id"].combine_chunks(), *mended.flatten()], ["id", *(f.name for f in mended.type)])

    start = time.monotonic()
    data = ray.data.range(answers.ROWS, override_num_blocks=32).map_batches(mend, batch_format="pyarrow")
    rows = data.select_columns(["id", "outcome"]).take_all()
    took = time.monotonic() - start
    deaths = sum(not node["Alive"] for node in ray.nodes())
    answers.check(f"Ray {ray.__version__}, 2 nodes, {took:.0f} s", rows, deaths)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, nodes.cluster():
        main(folder)
