"""The tools that an agent has, and the object that it is asked for. They only write down that they ran."""

import pydantic

ran = []


def write_file(path: str, content: str = "", lines: list[int] = [], force: bool = False) -> str:
    """Writes a file."""
    ran.append(["write_file", {"path": path, "content": content, "lines": lines, "force": force}])
    return "written"


def read_file(path: str) -> str:
    """Reads a file."""
    ran.append(["read_file", {"path": path}])
    return "read"


def now(zone: str = "UTC") -> str:
    """Tells the time."""
    ran.append(["now", {"zone": zone}])
    return "12:00"


TOOLS = [write_file, read_file, now]


class WriteFile(pydantic.BaseModel):
    """Writes a file."""

    path: str
    content: str = ""
    lines: list[int] = []
    force: bool = False


def made(value):
    """Writes down an object that a program goes on with."""
    if isinstance(value, pydantic.BaseModel):
        value = value.model_dump()
    if value is not None:
        # A field that was not there is as good as its default, and an object without any is none: LlamaIndex makes one of nothing.
        present = {name: field for name, field in value.items() if field is not None}
        if present:
            ran.append(["write_file", WriteFile.model_construct(**present).model_dump()])
