"""
What data clauses do to the present table, known before they are performed: which entries may go, and
whether the clauses do anything that native code's tables could not follow (`native/data.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...compiler.base.abi import DataFlag, DataKind
from .mapping import Request
from .present import Entry, PresentTable

_KINDS = frozenset((*range(DataKind.NO_CREATE + 1), DataKind.DELETE))
_FURTHER = DataFlag.FINALIZE | DataFlag.COMPRESSED | DataFlag.ROWS


def only_counts_or_maps(request: Request) -> bool:
    """
    Whether a clause counts one entry by one, maps it or takes it away, and moves bytes at most: no
    attachments, no rows behind pointers, no compression, no other counters.
    """
    plain = request.kind in _KINDS and not request.flags & _FURTHER
    return plain and request.pointer == 0 and request.packed is None


def may_go(requests: Iterable[Request], table: PresentTable) -> Sequence[Entry]:
    """
    The entries that the exit from `requests` may take out of the table, by counters that may lack regions
    open in native code.
    """
    found = (table.at(r.start) for r in requests if r.base != 0 and r.bytes > 0)
    leaving = Counter(entry for entry in found if entry is not None)
    return [
        entry
        for entry, count in leaving.items()
        if not entry.pinned
        and (entry.structured + entry.dynamic <= count or entry.structured < count)
    ]
