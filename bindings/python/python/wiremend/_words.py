"""The words that options and results use."""

from typing import Literal, TypeAlias

Text: TypeAlias = str | bytes | bytearray | memoryview
"""A text: bytes are UTF-8."""

Outcome: TypeAlias = Literal["abandoned", "closed", "cut", "invalid", "none", "overflow", "repaired", "unchanged"]
"""How mending a text ended."""

CallOutcome: TypeAlias = Literal["cut", "refused", "repaired", "whole"]
"""How the arguments of a call ended."""

Risk: TypeAlias = Literal["exact", "likely", "lossy", "guess"]
"""What a repair assumes, from the lowest risk to the highest."""

Policy: TypeAlias = Literal["strict", "exact", "likely", "lossy", "guess", "conservative", "permissive"]
"""Which repairs are allowed: those up to a risk; ``"conservative"`` is for calls, ``"permissive"`` allows all."""

Documents: TypeAlias = Literal["array", "first", "last", "error"]
"""What becomes of several documents in one text."""

Scope: TypeAlias = Literal["all", "best", "fenced", "first", "last", "whole"]
"""Where in a text to look for JSON."""

Treatment: TypeAlias = Literal["pass", "stream", "whole"]
"""What is done with the body of an answer: where it is mended as a whole, its head leaves after it."""
