"""Starts the gateway as its users do."""

import os
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_gateway(binary, provider, **settings):
    """A process and its URL. `settings` are those of `mending`; the others have their defaults."""
    port = free_port()
    # Names of the tests themselves, such as WIREMEND_RECORDINGS, are no settings.
    others = {name: value for name, value in os.environ.items() if not name.startswith("WIREMEND_")}
    mending = {f"WIREMEND_MENDING_{name.upper()}": value for name, value in settings.items()}
    environment = {**others, **mending, "WIREMEND_LISTEN": f"127.0.0.1:{port}", "WIREMEND_ADMIN": "off"}
    process = subprocess.Popen([binary, "serve", "--upstream", provider.url], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"http://127.0.0.1:{port}"
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the gateway did not start")
