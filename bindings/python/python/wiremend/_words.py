"""The words that options and results use."""

from typing import Literal, TypeAlias

Text: TypeAlias = str | bytes | bytearray | memoryview
"""A text: bytes are UTF-8."""

Outcome: TypeAlias = Literal["abandoned", "closed", "cut", "invalid", "none", "overflow", "repaired", "unchanged"]
Risk: TypeAlias = Literal["exact", "likely", "lossy", "guess"]
Policy: TypeAlias = Literal["strict", "exact", "likely", "lossy", "guess", "conservative", "permissive"]
"""Which repairs are allowed: those up to a risk; ``"conservative"`` is for calls, ``"permissive"`` allows all."""
Documents: TypeAlias = Literal["array", "first", "last", "error"]
Scope: TypeAlias = Literal["all", "best", "fenced", "first", "last", "whole"]
