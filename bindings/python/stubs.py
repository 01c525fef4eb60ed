"""Writes the documentation of the part in Rust into its stub, because editors read nothing else. The types are written
there by hand: what PyO3 makes of the source knows neither what is in a tuple or a list, nor which words there are.

    python stubs.py            writes it, with the package that is installed
    python stubs.py --check    ends with 1 where it is not up to date
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from wiremend import _native

STUB = Path(__file__).parent / "python/wiremend/_native.pyi"
Documented = ast.ClassDef | ast.FunctionDef


def lines_of(about: object, indent: str) -> list[str]:
    text = inspect.cleandoc(getattr(about, "__doc__", None) or "")
    if not text:
        return []
    lines = f'"""{text}"""'.splitlines()
    if len(lines) > 1:
        lines = [*lines[:-1], lines[-1].removesuffix('"""'), '"""']
    return [f"{indent}{line}".rstrip() for line in lines]


def documented(source: str) -> str:
    lines = source.split("\n")

    def write(node: Documented, about: object) -> None:
        """Works from the end of the file to its beginning, so that the numbers of lines stay right."""
        indent = " " * (node.col_offset + 4)
        if isinstance(node, ast.ClassDef):
            for inner in reversed([part for part in node.body if isinstance(part, ast.FunctionDef)]):
                if not inner.name.startswith("__"):
                    write(inner, getattr(about, inner.name))
        first = node.body[0]
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        text = lines_of(about, indent)
        if is_text:
            lines[first.lineno - 1 : first.end_lineno] = text
        elif isinstance(node, ast.ClassDef):
            lines[node.lineno : node.lineno] = text
        elif text:
            lines[first.lineno - 1] = lines[first.lineno - 1].removesuffix(" ...")
            lines[first.lineno : first.lineno] = text

    for node in reversed([node for node in ast.parse(source).body if isinstance(node, Documented)]):
        write(node, getattr(_native, node.name))
    return "\n".join(lines)


def main() -> None:
    before = STUB.read_text()
    after = documented(before)
    if sys.argv[1:] != ["--check"]:
        STUB.write_text(after)
    elif before != after:
        sys.exit(f"{STUB.name} is not up to date: run {Path(__file__).name}")


if __name__ == "__main__":
    main()
