#!/usr/bin/env python3
"""Compare wiremend with other tools that read broken JSON: one command, one table.

    python3 benches/compare/run.py [corpus | CASES.jsonl ...]

It builds the command and the tools that are crates, installs the others in benches/target/compare (pip and npm, the
versions below), and reads each text of the corpus with each tool. Case files may be named beside the
corpus or in its place: one case a line, {"input": ..., "expect": {"value": ...} or {"any": [...]} or {"refuse": true}}.

right   the value that the case expects; for a text that holds none, no value
silent  another value, and nothing that says so
told    no value, or one that is marked: as a guess, as lossy, or as cut off
"""
import base64, json, math, os, subprocess, sys, time, venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "benches/target/compare"
HERE = Path(__file__).resolve().parent
PYTHON = ["json-repair==0.64.6", "partial-json-parser==0.2.1.1.post7", "jiter==0.19.0", "demjson3==3.0.6"]
NODE = ["jsonrepair@3.15.0", "partial-json@0.1.7", "best-effort-json-parser@1.5.1", "json5@2.2.3"]

# Each tool: its name, the program that runs it, whether it can tell that a text was cut off, what it says about changes.
TOOLS = [
    ("wiremend", "wiremend", "yes", "each change, with place and risk"),
    ("json_repair (Python)", "python json_repair", "no", "a log, as text"),
    ("jsonrepair (JavaScript)", "node jsonrepair", "no", "nothing"),
    ("jsonrepair (Rust)", "rust jsonrepair", "no", "nothing"),
    ("jsonfix (Rust)", "rust jsonfix", "no", "nothing"),
    ("jsonrepair-rs (Rust)", "rust jsonrepair-rs", "no", "nothing"),
    ("demjson3 (Python)", "python demjson3", "no", "warnings, as text"),
    ("best-effort-json-parser (JavaScript)", "node best-effort-json-parser", "no", "nothing"),
    ("partial-json (JavaScript)", "node partial-json", "no", "nothing"),
    ("partial-json-parser (Python)", "python partial-json-parser", "no", "nothing"),
    ("jiter, partial mode (Python)", "python jiter", "no", "nothing"),
]


def install():
    """The tools, and the command."""
    HOME.mkdir(parents=True, exist_ok=True)
    if not (HOME / "python").exists():
        venv.create(HOME / "python", with_pip=True)
        subprocess.run([HOME / "python/bin/pip", "-q", "install", *PYTHON], check=True)
    if not (HOME / "node_modules").exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", HOME, *NODE], check=True)
    cargo = ["cargo", "build", "--release", "--quiet"]
    subprocess.run([*cargo, "--manifest-path", ROOT / "Cargo.toml"], check=True)
    manifest = ROOT / "benches/Cargo.toml"
    subprocess.run([*cargo, "--manifest-path", manifest, "--example", "compare"], check=True)


def program(tool):
    kind, _, name = tool.partition(" ")
    if kind == "python":
        return [HOME / "python/bin/python", HERE / "peers.py", name]
    if kind == "node":
        return ["node", HERE / "peers.mjs", name]
    if kind == "rust":
        return [ROOT / "benches/target/release/examples/compare", name]
    return [ROOT / "target/release/wiremend", "batch", "--threads", "1"]


class Running:
    """A tool, which answers each line with a line. It is started again where it hangs or dies."""

    def __init__(self, tool):
        self.tool, self.process = tool, None

    def start(self):
        environment = {**os.environ, "NODE_PATH": str(HOME / "node_modules"), "COMPARE_MODULES": str(HOME)}
        self.process = subprocess.Popen(program(self.tool), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)

    def ask(self, data, seconds=10.0):
        """The reply, and how long it took; no reply after so many seconds."""
        import select
        if self.process is None:
            self.start()
        if self.tool == "wiremend":
            line = {"input_base64": base64.b64encode(data).decode()}
        else:
            line = {"input": data.decode("utf-8", "replace")}
        begun = time.perf_counter()
        try:
            self.process.stdin.write(json.dumps(line).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            reply = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            reply = b""
        took = time.perf_counter() - begun
        if not reply:
            self.process.kill()
            self.process.wait()
            self.process = None
            return None, took
        return json.loads(reply), took


def parse(text):
    """The value of a JSON text, or an error. NaN and Infinity are not JSON."""
    def no(word):
        raise ValueError(word)
    return json.loads(text, parse_constant=no)


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=1e-15)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def judge(reply, case):
    wanted, refuse = case
    text, marked = None, False
    if reply:
        text = reply.get("json")
        risks = {repair["risk"] for repair in reply.get("repairs") or []}
        marked = bool(risks & {"guess", "lossy"}) or reply.get("outcome") in ("closed", "cut", "overflow", "invalid")
    try:
        value = parse(text) if text is not None else None
        has = text is not None
    except (ValueError, RecursionError):
        value, has = None, False
    if not has:
        return "right" if refuse else "told"
    if any(same(value, one) for one in wanted):
        return "right"
    return "told" if marked else "silent"


def corpus():
    """The cases of the corpus that are about one text, under the default policy."""
    for file in sorted((ROOT / "tests/corpus").glob("*.jsonl")):
        for line in file.read_text("utf-8").strip().split("\n"):
            row = json.loads(line)
            ours = {"scope", "policy", "without", "limits", "guide", "trailing", "unusable", "bytes", "parts"}
            if ours & row.keys():
                continue
            output = row.get("output", row["input"] if row["outcome"] == "unchanged" else None)
            try:
                yield row["input"].encode(), ([parse(output)] if output is not None else [], output is None)
            except (ValueError, RecursionError):
                continue


def cases(file):
    for line in Path(file).read_text("utf-8").strip().split("\n"):
        row = json.loads(line)
        expect = row.get("expect") or {}
        if row.get("op") not in (None, "repair", "keep") or "input" not in row:
            continue
        wanted = expect.get("any") or ([expect["value"]] if "value" in expect else [])
        if row.get("op") == "keep":
            wanted = [parse(row["input"])]
        if wanted or expect.get("refuse"):
            yield row["input"].encode(), (wanted, bool(expect.get("refuse")))


def duration(tool, text):
    """The shortest of some times, without what an empty text takes in the same program."""
    running = Running(tool)
    def best(data, times):
        found = []
        for _ in range(times):
            reply, took = running.ask(data, 60.0)
            if reply is None:
                return None
            found.append(took)
        return min(found)
    pipe, time_taken = best(b"1", 200), best(text, 200 if len(text) < 1000 else 3)
    if running.process:
        running.process.kill()
    if time_taken is None:
        return "over 60 s"
    seconds = max(time_taken - (pipe or 0), 0)
    if seconds < 0.000_002:
        return "under 2 µs"
    return f"{seconds * 1e6:.0f} µs" if seconds < 0.001 else f"{seconds * 1e3:.0f} ms" if seconds < 10 else f"{seconds:.0f} s"


SMALL = b"{'city': 'Oslo', 'days': 3, 'guests': ['Ada', 'Bo',], note: 'a room with a view', 'late': True, }"
LARGE = b"[" + b",".join(SMALL for _ in range(500_000 // len(SMALL))) + b"]"


def main():
    install()
    files = sys.argv[1:] or ["corpus"]
    suites = [(Path(file).stem, list(corpus() if file == "corpus" else cases(file))) for file in files]
    names = " | ".join(f"{name} ({len(rows)})" for name, rows in suites)
    print(f"| | {names} | 100 B | 0.5 MB | knows a cut | says what it changed |")
    print("|---|" + "---|" * (len(suites) + 4))
    for name, tool, cut, report in TOOLS:
        running, cells = Running(tool), []
        for _, rows in suites:
            counts = {"right": 0, "silent": 0, "told": 0}
            for data, case in rows:
                counts[judge(running.ask(data)[0], case)] += 1
            cells.append(" / ".join(str(count) for count in counts.values()))
        if running.process:
            running.process.kill()
        row = [name, *cells, duration(tool, SMALL), duration(tool, LARGE), cut, report]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
