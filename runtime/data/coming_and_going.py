"""
Predicts the effect of data clauses on the present table before they are performed: the entries that they
release, and whether they do anything that native code's tables cannot follow (`native/data.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...compiler.base.abi import DataFlag, DataKind
from .clauses import Request
from .present import Entry, PresentTable

_KINDS = frozenset((*range(DataKind.NO_CREATE + 1), DataKind.DELETE))
_FURTHER = DataFlag.FINALIZE | DataFlag.COMPRESSED | DataFlag.ROWS


def only_counts_or_maps(request: Request) -> bool:
    """
    Whether a clause only counts, maps or unmaps one entry, and at most moves bytes: it has no attachments,
    rows of pointers, compression, or other counters.
    """
    plain = request.kind in _KINDS and not request.flags & _FURTHER
    return plain and request.pointer == 0 and request.packed is None


def leaving(requests: Iterable[Request], table: PresentTable) -> Sequence[Entry]:
    """The entries that the exit from `requests` counts, and may remove from the table."""
    found = (table.at(request.start) for request in requests if request.base != 0)
    return list(dict.fromkeys(entry for entry in found if entry is not None))
