"""Mends a column of JSON that language models wrote, with an account of every change.

>>> import pyarrow as pa
>>> from wiremend_arrow import mend_array
>>> mended = mend_array(pa.array(["{'a': 1}", None, "no JSON"]))
>>> mended.field("json").to_pylist(), mended.field("outcome").to_pylist()
(['{"a": 1}', None, None], ['repaired', None, 'none'])
"""

from ._columns import Array, Column, Type
from ._mend import mend_array, result_type
from ._summary import Summary, summarize

__all__ = ["Array", "Column", "Summary", "Type", "mend_array", "result_type", "summarize"]
