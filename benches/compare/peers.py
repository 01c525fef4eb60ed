"""Reads {"input": TEXT} a line with a tool for Python; writes {"json": TEXT} or {}."""
import json
import sys


def reader(name):
    if name == "json_repair":
        import json_repair
        return json_repair.loads
    if name == "partial-json-parser":
        import partial_json_parser
        return partial_json_parser.loads
    if name == "jiter":
        import jiter
        return lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings")
    import demjson3
    return demjson3.decode


def main():
    read = reader(sys.argv[1])
    for line in sys.stdin:
        try:
            text = json.loads(line)["input"]
            reply = {"json": json.dumps(read(text), allow_nan=False)}
        except Exception:
            reply = {}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
