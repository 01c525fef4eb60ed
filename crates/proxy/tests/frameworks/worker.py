"""Runs the agents of one framework: `worker.py NAME`, with a question in each line of its input and what ran in each line of its output.

A question is a variant of `with_NAME.py`, and a snippet of the page of frameworks with its base URL and its header.
"""

import importlib
import json
import logging
import os
import sys
import warnings

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
sys.dont_write_bytecode = True
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
    os.environ[name] = "k"
os.environ.pop("GEMINI_API_KEY")

import tools  # noqa: E402

framework = importlib.import_module(f"with_{sys.argv[1]}")
snippets = {}


def names(snippet):
    """What a snippet defines. It is run once: a client keeps its connections."""
    if snippet not in snippets:
        snippets[snippet] = {}
        exec(compile(snippet, "snippet", "exec"), snippets[snippet])  # noqa: S102
    return snippets[snippet]


print(json.dumps({"versions": framework.VERSIONS}), file=answers)
for line in sys.stdin:
    question = json.loads(line)
    tools.ran.clear()
    error = None
    try:
        framework.run(names(question["snippet"]), question["kind"], question["stream"])
    except BaseException as raised:  # noqa: BLE001, groups of errors and exits are outcomes, too
        error = f"{type(raised).__name__}: {raised}"[:300]
    print(json.dumps({"ran": tools.ran, "error": error}, default=str), file=answers)
