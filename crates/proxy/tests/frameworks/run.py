#!/usr/bin/env python3
"""Runs the agents of frameworks directly and through a gateway, and compares what they run.

What a model says is played by a script: right, broken, cut off by a limit, lost on the way (`cases.py`). A tool of the
agent writes down that it ran, and with what. Through the gateway, calls of whole and broken texts must run right; of
those that were cut off, damaged or refused, nothing may run that did not run without it; and what was right without it
must be right with it. Each framework is set up by its snippet on the page `docs/frameworks.md`.

    crates/proxy/tests/frameworks/run.py --bin target/debug/wiremend --python DIR --node DIR [--only NAME] [--update]
    crates/proxy/tests/frameworks/run.py --transport DIR --python DIR [--only NAME] [--update]

Below `--python` is a virtual environment for each framework, as `.ci/frameworks` makes them. With `--transport`, those in
Python that take a client run with the transport of the package instead of the gateway.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
import cases  # noqa: E402
import page  # noqa: E402
from gateway import start_gateway  # noqa: E402
from provider import Provider  # noqa: E402
from script import Script  # noqa: E402

HERE = pathlib.Path(__file__).parent
# The first question to a worker also loads what its snippet imports, which takes long on a busy machine.
SECONDS = 120
# By name, the header that a snippet of the page gets in the place of its own. That of the default says what holds anyway.
MODES = {
    "default": '"X-Wiremend-Comment": "off"',
    # What fits no schema is made to fit.
    "validated": '"X-Wiremend-Mode": "validated"',
    # Calls that were cut off are taken out. With what else there is, it is as the default.
    "withhold": '"X-Wiremend-Cut": "withhold"',
}
# By framework: its virtual environment, or None for Node, and by snippet what is asked for: calls of `tools`, an `object`
# by a tool, and content by a `schema`. After a slash are those of streams, where they differ.
FRAMEWORKS = {
    "langchain": ("langchain", {"openai-chat": "cos", "openai-responses": "cos", "anthropic": "cos", "gemini": "cos", "ollama": "/cos"}),
    "llamaindex": ("llamaindex", {"openai-chat": "cs", "openai-chat of others": "co", "openai-responses": "cs/c", "anthropic": "cs/c", "gemini": "cs", "ollama": "cs"}),
    "instructor": ("agents", {"openai-chat": "o", "openai-chat by schema": "s", "openai-responses": "o", "anthropic": "o"}),
    "pydantic-ai": ("agents", {"openai-chat": "cos", "openai-responses": "cos", "gemini": "cs"}),
    "openai-agents": ("agents", {"openai-responses": "cs", "openai-chat": "cs"}),
    "anthropic": ("agents", {"anthropic": "c"}),
    "litellm": ("litellm", {"openai-chat": "cs", "anthropic": "c", "gemini": "c", "ollama": "cs"}),
    "ai": (None, {"openai-responses": "cs", "openai-chat": "cs", "openai-chat of others": "cs", "anthropic": "c", "gemini": "cs"}),
    "langchain-js": (None, {"openai-chat": "cos", "openai-responses": "cos/cs"}),
}
LETTERS = {"c": "calls", "o": "object", "s": "schema"}
KINDS = {"calls": "calls of tools", "object": "an object, by a tool", "schema": "an object, by a schema"}
Variant = collections.namedtuple("Variant", "framework snippet kind stream")


class Worker:
    """A process with one framework, which answers each question with what ran."""

    def __init__(self, framework, given):
        environment, _ = FRAMEWORKS[framework]
        if environment:
            self.command = [str(given.python.absolute() / environment / "bin" / "python"), str(HERE / "worker.py"), framework.replace("-", "_")]
        else:
            self.command = ["node", str(HERE / "worker.mjs"), framework, str(given.node.absolute())]
        self.environment = {**os.environ, **({"PYTHONPATH": str(given.transport.absolute())} if given.transport else {})}
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.said = collections.deque(maxlen=20)
        for source, put in ((self.process.stdout, self.lines.put), (self.process.stderr, self.said.append)):
            threading.Thread(target=lambda source=source, put=put: [put(line) for line in source] and None, daemon=True).start()
        self.versions = self.answer(120)["versions"]

    def answer(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                return json.loads(self.lines.get(timeout=0.5))
            except queue.Empty:
                if self.process.poll() is not None:
                    raise RuntimeError(f"{self.command} ended: {''.join(self.said)}") from None
        raise TimeoutError

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        try:
            return self.answer(SECONDS)
        except TimeoutError:
            self.stop()
            self.start()
            return {"ran": [], "error": f"no end after {SECONDS} s"}

    def stop(self):
        self.process.kill()
        self.process.wait()


def ordered(calls):
    return sorted(calls, key=json.dumps)


def judge(case, mode, direct, through):
    """What is wrong, or None."""
    want, without, ran = ordered(case["want"]), ordered(direct["ran"]), ordered(through["ran"])
    allowed = [*without, *([] if case["rule"] == "never" else want), *case["left"]]
    must = case["rule"] == "right" or (want and without == want)
    if mode == "withhold":
        allowed = case["kept"].copy()
        want, must = [call for call in allowed if call in without], True
    for call in ran:
        if call not in allowed:
            return f"RAN {json.dumps(call)}, and without the gateway {json.dumps(without)}"
        allowed.remove(call)
    if must and ran != want:
        return f"NOT RIGHT {json.dumps(ran)} ({through['error']}), and without the gateway {json.dumps(without)}"
    return None


class Results:
    """What came out, by variant, mode and group of cases."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.wrong, self.versions = [], {}
        self.runs = 0
        # Answers that lost an event, and of which something ran that was not meant and did not run directly.
        self.lost = 0

    def add(self, variant, case, mode, direct, through):
        self.runs += 1
        count = self.counts[variant, mode, case["group"]]
        count["all"] += 1
        for name, outcome in (("direct", direct), ("through", through)):
            right = ordered(outcome["ran"]) == ordered(case["want"])
            count[name] += right
            # What ran of a call that is not whole, or not as it was meant.
            count[f"{name} ran"] += any(call not in case["want"] for call in outcome["ran"])
        self.lost += any(call not in case["want"] and call not in direct["ran"] for call in through["ran"])
        problem = judge(case, mode, direct, through)
        about = f"{', '.join(map(str, variant))}, mode {mode}: {case['name']}"
        if problem:
            self.wrong.append(f"{about}: {problem}")
            print(f"WRONG: {self.wrong[-1]}", flush=True)


def run(framework, given, results, snippets):
    try:
        worker = Worker(framework, given)
    except (OSError, RuntimeError, TimeoutError) as error:
        results.wrong.append(f"{framework} is not installed: {error}")
        return
    results.versions[framework] = worker.versions
    script = Script()
    provider = Provider(script.answer)
    process, gateway = (None, None) if given.transport else start_gateway(given.bin, provider)
    began = time.monotonic()
    try:
        for snippet, kinds in FRAMEWORKS[framework][1].items():
            text = snippets[framework, snippet]
            texts = page.transported(framework, text) if given.transport else (text, text)
            if texts is None:
                continue
            ways = tuple(zip((provider.url, gateway or provider.url), texts))
            whole, _, streamed = kinds.partition("/") if "/" in kinds else (kinds, "", kinds)
            for kind, stream in [*((kind, False) for kind in whole), *((kind, True) for kind in streamed)]:
                variant = Variant(framework, snippet, LETTERS[kind], stream)
                compare(variant, worker, script, ways, results, given)
    except (OSError, RuntimeError, TimeoutError) as error:
        results.wrong.append(f"{framework} did not come to its end: {error}")
    finally:
        worker.stop()
        if process:
            process.terminate()
            process.wait(10)
        provider.shutdown()
    print(f"{framework}: {time.monotonic() - began:.0f} s", flush=True)


def compare(variant, worker, script, ways, results, given):
    api = variant.snippet.split()[0]
    directly, through = ways

    def outcome(case, way, mode):
        base, snippet = way
        script.say(case, (api, variant.stream))
        answer = worker.ask(snippet=page.pointed(snippet, base, MODES[mode]), kind=variant.kind, stream=variant.stream)
        if script.refused or not script.asked:
            answer["error"] = f"asked for {script.refused}: {answer['error']}"
        if given.verbose:
            print(variant, case["name"], mode, "through" if way is through else "direct", json.dumps(answer), flush=True)
        return answer

    unable = set()
    for case in cases.answers(variant.kind):
        if case["group"] in unable or (given.case and given.case not in case["name"]):
            continue
        if cases.body(case["turn"], api, variant.stream, case["damage"]) is None:
            continue
        if (api, variant.stream, case["name"]) in cases.GAPS:
            case["rule"] = "may"
        direct = outcome(case, directly, "validated")
        if case["name"].startswith("clean") and ordered(direct["ran"]) != ordered(case["want"]):
            # Some frameworks cannot do all things, but each must do something.
            unable.add(case["group"])
            print(f"UNABLE: {', '.join(map(str, variant))}: {case['name']}: {direct}", flush=True)
            if case["name"] == "clean":
                results.wrong.append(f"{', '.join(map(str, variant))}: nothing runs without the gateway: {direct}")
                return
            continue
        for mode in given.modes:
            if mode != "withhold" or case["kept"] is not None:
                results.add(variant, case, mode, direct, outcome(case, through, mode))


WHOLE, PART = ("clean", "broken", "unfit", "empty", "several"), ("cut", "damaged", "refused")


def counted(results, key, groups, kinds, mode="default"):
    return sum(count[key] for (variant, at, group), count in results.counts.items() if at == mode and group in groups and variant.kind in kinds)


def totals(results):
    """Over all variants: how many answers came out right, and of how many that are not whole something ran."""
    yield f"| answers | of | without | {' | '.join(MODES)} |"
    yield f"|{'---|' * (3 + len(MODES))}"
    rows = [("whole: right", "", WHOLE, KINDS), ("calls that were cut off: ran", " ran", ("cut",), ("calls", "object")), ("content that was cut off: ran", " ran", ("cut",), ("schema",))]
    rows += [("in need of a guess: ran", " ran", ("refused",), KINDS), ("damaged on their way: ran", " ran", ("damaged",), KINDS)]
    for name, what, groups, kinds in rows:
        of = counted(results, "all", groups, kinds)
        through = (counted(results, f"through{what}", groups, kinds, mode) if counted(results, "all", groups, kinds, mode) == of else "" for mode in MODES)
        yield f"| {' | '.join(map(str, [name, of, counted(results, f'direct{what}', groups, kinds), *through]))} |"


def sentence(results):
    """The same of a run with the transport of the package for Python."""
    def figures(what, groups, kinds=KINDS):
        return [counted(results, f"through{what}", groups, kinds, mode) for mode in MODES] + [counted(results, f"direct{what}", groups, kinds), counted(results, "all", groups, kinds)]

    right, wanted, _, alone, of = figures("", WHOLE)
    ran, _, withheld, cut, cuts = figures(" ran", ("cut",), ("calls", "object"))
    torn, _, _, damaged, damages = figures(" ran", ("damaged",))
    frameworks = ", ".join(sorted({variant.framework for variant, _, _ in results.counts}))
    yield f"With the transport of the [package for Python](python.md#every-sdk-that-stands-on-httpx) in {frameworks} instead of the gateway, on {datetime.date.today()}:"
    yield f"{right} of {of} whole answers are right by default and {wanted} with `validated`, {alone} without it. Of {cuts} calls that were cut off, {ran} ran, {withheld} with `withhold`, and {cut} without it."
    yield f"Of {damages} answers that were damaged on their way, something ran of {torn}, and of {damaged} without it. What does not take a client is not in these figures."


def matrix(results):
    """The same for each variant."""
    yield "| framework | API | asks for | streamed | right without | by default | `validated` | of | ran without | by default | `validated` | of |"
    yield f"|{'---|' * 12}"
    def place(variant):
        return list(FRAMEWORKS).index(variant.framework), list(FRAMEWORKS[variant.framework][1]).index(variant.snippet), variant.stream, list(KINDS).index(variant.kind)

    # They run at the same time.
    known = sorted({variant for variant, _, _ in results.counts}, key=place)
    for variant in known:
        cells = [variant.framework, variant.snippet, KINDS[variant.kind], "yes" if variant.stream else "no"]
        for groups, what in ((WHOLE, ""), (PART, " ran")):
            def total(name, mode="default"):
                return str(sum(results.counts[variant, mode, group][name] for group in groups))

            cells += [total(f"direct{what}"), *(total(f"through{what}", mode) for mode in ("default", "validated")), total("all")]
        yield f"| {' | '.join(cells)} |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", help="the command wiremend")
    arguments.add_argument("--python", required=True, type=pathlib.Path, help="a folder with virtual environments")
    arguments.add_argument("--node", type=pathlib.Path, help="a folder with node_modules")
    arguments.add_argument("--transport", type=pathlib.Path, help="a folder with the package for Python, whose transport is used instead of the gateway")
    arguments.add_argument("--only", action="append", help="a framework")
    arguments.add_argument("--case", help="a part of the name of cases")
    arguments.add_argument("--modes", nargs="*", choices=MODES, default=list(MODES), help="what to compare")
    arguments.add_argument("--update", action="store_true", help="write the matrix into the page")
    arguments.add_argument("--verbose", action="store_true", help="print what ran of each case")
    given = arguments.parse_args()
    if not given.transport and not (given.bin and given.node):
        arguments.error("without --transport, --bin and --node are needed")
    # A proxy of the environment is not for loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    results, snippets = Results(), page.snippets()
    tested = {(framework, snippet) for framework, (_, known) in FRAMEWORKS.items() for snippet in known}
    if tested != set(snippets):
        raise SystemExit(f"the page and the run differ in {tested ^ set(snippets)}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run, name, given, results, snippets) for name in given.only or (page.TAKES if given.transport else FRAMEWORKS)]:
            done.result()
    lines = [*totals(results), "", *matrix(results)]
    print("\n".join(lines))
    if given.transport:
        print("\n".join(sentence(results)))
    if given.update and given.transport:
        page.write("transport", list(sentence(results)))
    elif given.update:
        versions = dict(sorted(pair for versions in results.versions.values() for pair in versions.items()))
        page.write("matrix", [f"On {datetime.date.today()}, with " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ":", "", *lines])
    print(f"{results.runs} combinations")
    if results.wrong or not results.runs:
        raise SystemExit(f"{len(results.wrong)} wrong")
    road = "transport" if given.transport else "gateway"
    print(f"all right; through the {road}, nothing ran that did not run without it, but for {results.lost} answers that lost an event within a string")


if __name__ == "__main__":
    main()
