"""Mends the JSON that language models write, with an account of every change.

>>> import wiremend
>>> wiremend.loads("{name: 'Ada', langs: ['en', 'fr',], ok: True}")
{'name': 'Ada', 'langs': ['en', 'fr'], 'ok': True}
"""

from ._errors import Cut, LimitExceeded, MendError, Refused, SchemaMismatch
from ._native import Mended, Mender, Repair, find, loads, mend

__all__ = [
    "Cut",
    "LimitExceeded",
    "MendError",
    "Mended",
    "Mender",
    "Refused",
    "Repair",
    "SchemaMismatch",
    "find",
    "loads",
    "mend",
]
