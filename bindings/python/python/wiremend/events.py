"""The events of a response, in the order of its bytes. They are frozen, and `match` takes them apart.

The sizes of the pieces of texts and fragments depend on how the body arrived in chunks; what they add up to does not.
"""

from typing import TypeAlias

from ._native import (
    CallBegan,
    CallEnded,
    CallFitted,
    CallFragment,
    CallIssue,
    CallNamed,
    CallRaw,
    CallRestated,
    Citation,
    Doubted,
    Ended,
    EnvelopeMended,
    Error,
    Finish,
    FormatDetected,
    FramingDetected,
    KeepAlive,
    ObjectBegan,
    ObjectEnded,
    ObjectFitted,
    ObjectFragment,
    ObjectIssue,
    ObjectRaw,
    Oversize,
    Reasoning,
    Refusal,
    Text,
    TextWasReasoning,
    Unfinished,
    UnknownTool,
    Usage,
)

Event: TypeAlias = (
    CallBegan
    | CallEnded
    | CallFitted
    | CallFragment
    | CallIssue
    | CallNamed
    | CallRaw
    | CallRestated
    | Citation
    | Doubted
    | Ended
    | EnvelopeMended
    | Error
    | Finish
    | FormatDetected
    | FramingDetected
    | KeepAlive
    | ObjectBegan
    | ObjectEnded
    | ObjectFitted
    | ObjectFragment
    | ObjectIssue
    | ObjectRaw
    | Oversize
    | Reasoning
    | Refusal
    | Text
    | TextWasReasoning
    | Unfinished
    | UnknownTool
    | Usage
)

__all__ = [
    "Event",
    "CallBegan",
    "CallEnded",
    "CallFitted",
    "CallFragment",
    "CallIssue",
    "CallNamed",
    "CallRaw",
    "CallRestated",
    "Citation",
    "Doubted",
    "Ended",
    "EnvelopeMended",
    "Error",
    "Finish",
    "FormatDetected",
    "FramingDetected",
    "KeepAlive",
    "ObjectBegan",
    "ObjectEnded",
    "ObjectFitted",
    "ObjectFragment",
    "ObjectIssue",
    "ObjectRaw",
    "Oversize",
    "Reasoning",
    "Refusal",
    "Text",
    "TextWasReasoning",
    "Unfinished",
    "UnknownTool",
    "Usage",
]
