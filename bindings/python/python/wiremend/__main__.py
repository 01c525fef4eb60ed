"""``python -m wiremend repair`` and ``stream``: the everyday part of the command ``wiremend``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import BinaryIO

from . import events, find, stream

ABOUT = "Mends the JSON that language models write. The command of the same name, which `cargo install` builds, does more."


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command, and returns its exit code: 0, 3 for what was cut off, 4 for no JSON, 5 for what was refused."""
    parser = argparse.ArgumentParser("python -m wiremend", description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in [
        ("repair", "find the JSON in a text, and print it mended; repairs are listed on standard error"),
        ("stream", "read the body of a provider's response, and print its text and its calls"),
    ]:
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("file", nargs="?", default="-", help="a file; standard input without one")
        command.add_argument("--quiet", action="store_true", help="list no repairs")
    chosen = parser.parse_args(arguments)
    try:
        file = sys.stdin.buffer if chosen.file == "-" else open(chosen.file, "rb")
    except OSError as error:
        parser.error(str(error))
    with file:
        return _repair(file, chosen.quiet) if chosen.command == "repair" else _stream(file, chosen.quiet)


_CODES = {"closed": 3, "cut": 3, "lossy": 3, "none": 4, "unrecognised": 4}


def _code(outcome: str) -> int:
    done = outcome in ("unchanged", "repaired", "complete")
    return 0 if done else _CODES.get(outcome, 5)


def _say(quiet: bool, line: str) -> None:
    if not quiet:
        print(line, file=sys.stderr)


def _repair(file: BinaryIO, quiet: bool) -> int:
    mended = find(file.read())
    for repair in mended.repairs:
        _say(quiet, f"{repair.start}: {repair.kind} ({repair.risk}) at {repair.path}: {repair.before!r} -> {repair.after!r}")
    _say(quiet, mended.outcome)
    if mended.text is not None:
        print(mended.text)
    return _code(mended.outcome)


def _stream(file: BinaryIO, quiet: bool) -> int:
    worst = 0
    for event in stream(file):
        match event:
            case events.Text(text):
                print(text, end="", flush=True)
            case events.CallEnded(call):
                print(f"{call.name}({call.text if call.is_complete else call.raw})", flush=True)
                _say(quiet, f"{call.name}: {call.outcome}")
                worst = max(worst, _code(call.outcome))
            case events.Error(kind, message):
                _say(quiet, f"error: {kind}: {message}")
            case events.Ended(outcome):
                _say(quiet, f"stream: {outcome}")
                worst = max(worst, _code(outcome))
            case _:
                pass
    return worst


if __name__ == "__main__":
    sys.exit(main())
