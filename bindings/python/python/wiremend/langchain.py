"""Hooks for `LangChain`_: the calls of a message, and a parser of JSON.

``model.bind_tools(tools) | mend_calls`` and ``model | JsonOutputParser()``

.. _LangChain: https://python.langchain.com
"""

from __future__ import annotations

from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import JsonOutputParser as _JsonOutputParser
from langchain_core.outputs import Generation
from langchain_core.runnables import RunnableLambda

from ._errors import MendError
from ._fits import mend_arguments
from ._native import find
from ._shapes import SchemaLike, shape_of

__all__ = ["JsonOutputParser", "mend_calls", "mended_calls"]


def mended_calls(message: AIMessage) -> AIMessage:
    """The message, with the invalid calls that can be mended among its calls. The others stay where they are, and their
    ``error`` says why."""
    said = message.response_metadata
    finish = said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason") or ""
    calls, invalid = list(message.tool_calls), []
    for call in message.invalid_tool_calls:
        mended = mend_arguments(call["args"] or "", str(finish))
        value = mended.value if mended.is_complete else None
        if isinstance(value, dict):
            calls.append({"name": call["name"] or "", "args": value, "id": call["id"], "type": "tool_call"})
        else:
            invalid.append({**call, "error": str(mended.error or "the arguments are no object")})
    if not message.invalid_tool_calls:
        return message
    # The calls that the provider's own format has are made again from these.
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


mend_calls: RunnableLambda[AIMessage, AIMessage] = RunnableLambda(mended_calls)
"""`mended_calls` as a step of a chain."""


class JsonOutputParser(_JsonOutputParser):
    """LangChain's parser with this engine. With a schema or a type, the value is one that fits.

    A text without a whole value raises `OutputParserException`, whose ``observation`` is a sentence for the model.
    """

    kind: Any = None
    """A JSON Schema, or a type."""

    def __init__(self, kind: SchemaLike | None = None, **options: Any) -> None:
        super().__init__(kind=kind, **options)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        text = result[0].text
        mended = find(text)
        if partial:
            return mended.value if mended.text is not None else None
        try:
            if self.kind is not None:
                shape = shape_of(self.kind)
                return shape.value(shape.schema.fit(text))
            if mended.error is not None:
                raise mended.error
            return mended.value
        except MendError as error:
            raise OutputParserException(str(error), error.for_model, text, send_to_llm=True) from error
