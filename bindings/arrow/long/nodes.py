"""A cluster of Ray on this machine: a head that does no work, and two nodes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}

import ray

HERE = str(Path(__file__).parent)
PORT = "46379"
COMMAND = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--disable-usage-stats"]
# Loopback, but not 127.0.0.1, for which Ray takes the address of the machine.
HEAD = "127.0.0.2"


@contextlib.contextmanager
def cluster() -> Iterator[list[int]]:
    """Its nodes are processes of this one, which end with it. Gives the processes of the two that work."""
    started: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("out of time"))

    def start(address: str, *options: str) -> int:
        # A group of its own, so that what it starts can be ended with it.
        process = subprocess.Popen(
            [*COMMAND, f"--node-ip-address={address}", f"--object-store-memory={256 << 20}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process.pid

    try:
        start(HEAD, "--head", f"--port={PORT}", "--num-cpus=0", "--include-dashboard=false")
        _wait_for(lambda: socket.create_connection((HEAD, int(PORT)), 1).close())
        ray.init(
            address=f"{HEAD}:{PORT}",
            _node_ip_address=HEAD,
            runtime_env={"env_vars": {"PYTHONPATH": HERE}},
            log_to_driver=False,
        )
        workers = []
        for at in (1, 2):  # one after the other: they choose the same ports
            workers.append(start(f"127.0.0.{2 + at}", f"--address={HEAD}:{PORT}", "--num-cpus=1"))
            _wait_for(lambda at=at: [node for node in ray.nodes() if node["Alive"]][at])
        yield workers
    finally:
        ray.shutdown()
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(there: Callable[[], object]) -> None:
    for _ in range(240):
        with contextlib.suppress(OSError, IndexError):
            there()
            return
        time.sleep(1)
    raise TimeoutError("the cluster did not start")
