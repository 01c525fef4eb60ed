"""A hook for `Pydantic AI`_: arguments are mended, and fitted to their tool, before they are validated.

``Agent(model, capabilities=[MendArguments()])``

.. _Pydantic AI: https://ai.pydantic.dev
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.tools import RunContext, ToolDefinition

from ._fits import mend_arguments

__all__ = ["MendArguments"]


class MendArguments(AbstractCapability[Any]):
    """Mends the arguments of calls. What cannot be mended, or was cut off, is asked for again with a sentence that says
    what is wrong; it is never run."""

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: str | dict[str, Any]
    ) -> str | dict[str, Any]:
        if not isinstance(args, str):
            return args
        answer = next((said for said in reversed(ctx.messages) if isinstance(said, ModelResponse)), None)
        finish = "" if answer is None else answer.finish_reason or ""
        mended = mend_arguments(args, finish, schema=tool_def.parameters_json_schema)
        if mended.error is not None:
            raise ModelRetry(mended.error.for_model)
        return mended.text or args
