"""A hook for the proxy of `LiteLLM`_: the chunks of each stream are mended.

``litellm_settings: {callbacks: wiremend.litellm.mend}``

.. _LiteLLM: https://docs.litellm.ai
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from ._transport import Mending
from .chunks import amend_chunks

__all__ = ["Mend", "mend"]


class Mend(CustomLogger):  # type: ignore[misc, unused-ignore]
    """Mends the calls of streams."""

    def __init__(self, mending: Mending | None = None) -> None:
        super().__init__()
        self.mending = mending

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        async for chunk in amend_chunks(response, mending=self.mending):
            yield chunk


mend = Mend()
"""With the default settings."""
