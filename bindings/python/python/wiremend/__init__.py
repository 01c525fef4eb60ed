"""Mends the JSON that language models write, with an account of every change.

>>> import wiremend
>>> wiremend.loads("{name: 'Ada', langs: ['en', 'fr',], ok: True}")
{'name': 'Ada', 'langs': ['en', 'fr'], 'ok': True}
"""

from . import events
from ._errors import Cut, LimitExceeded, MendError, Refused, SchemaMismatch
from ._fits import find_calls, fit, mend_arguments, parse
from ._native import (
    Call,
    Change,
    Fitted,
    FittedCall,
    FoundCall,
    FoundCalls,
    Issue,
    Mended,
    MendedArguments,
    Mender,
    Object,
    Reader,
    Reading,
    Repair,
    Result,
    Schema,
    Tools,
    find,
    loads,
    mend,
    readings,
)
from ._streams import Snapshot, aitems, apartial, astream, items, partial, reader, stream

__all__ = [
    "Call",
    "Change",
    "Cut",
    "Fitted",
    "FittedCall",
    "FoundCall",
    "FoundCalls",
    "Issue",
    "LimitExceeded",
    "MendError",
    "Mended",
    "MendedArguments",
    "Mender",
    "Object",
    "Reader",
    "Reading",
    "Refused",
    "Repair",
    "Result",
    "Schema",
    "SchemaMismatch",
    "Snapshot",
    "Tools",
    "aitems",
    "apartial",
    "astream",
    "events",
    "find",
    "find_calls",
    "fit",
    "items",
    "loads",
    "mend",
    "mend_arguments",
    "parse",
    "partial",
    "reader",
    "readings",
    "stream",
]
