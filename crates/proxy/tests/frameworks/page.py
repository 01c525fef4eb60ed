"""The page of frameworks: its snippets are what the run executes, and its matrix is what the run prints."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[4] / "docs" / "frameworks.md"
BASE, MODE = "http://127.0.0.1:8484", '"X-Wiremend-Mode": "validated"'


def snippets():
    """By framework and name. A snippet without the base URL and the header of the page would test nothing."""
    found = re.findall(r"<!-- ([\w-]+), ([\w -]+) -->\n\n```(?:python|js)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for framework, name, text in found:
        if BASE not in text or MODE not in text:
            raise SystemExit(f"{PAGE.name}: the snippet of {framework}, {name} has not the base URL and the header")
    return {(framework, name): text for framework, name, text in found}


def pointed(text, base, header):
    """A snippet for another base URL, and with another header."""
    return text.replace(BASE, base).replace(MODE, header)


def write_matrix(lines):
    text = PAGE.read_text()
    between = re.compile(r"(<!-- matrix -->\n).*?(\n<!-- /matrix -->)", re.DOTALL)
    PAGE.write_text(between.sub(lambda found: found[1] + "\n" + "\n".join(lines) + "\n" + found[2], text))
