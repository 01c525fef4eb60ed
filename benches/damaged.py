#!/usr/bin/env python3
"""How many damaged documents the Python package json_repair mends right.

    cargo run --release -p wiremend-testkit --example damaged -- --seed 2 --write target/damaged.jsonl
    python3 -m venv target/peers && target/peers/bin/pip install json-repair
    target/peers/bin/python benches/damaged.py target/damaged.jsonl

Each line of the file is a sample: its kind, the text, and the value that is right.
"""

import json
import sys
from collections import Counter

import json_repair


def same(one, other):
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def mended(text):
    try:
        return json_repair.loads(text)
    except Exception:
        return None


right, every = Counter(), Counter()
with open(sys.argv[1], encoding="utf-8") as samples:
    for sample in map(json.loads, samples):
        correct = same(mended(sample["input"]), sample["value"])
        for name in (sample["kind"], "all"):
            every[name] += 1
            right[name] += correct

for name, count in every.items():
    print(f"{name:26} {count:6} {100 * right[name] / count:8.1f}")
