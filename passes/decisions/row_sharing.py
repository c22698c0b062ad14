"""
Which bodies gain from several rows side by side in a thread (`jam-outer-iterations`).

Rows of few accesses gain as the loads of all rows are in flight at the same time. Rows of more keep memory
busy alone; they gain only if they share loads, as those of a stencil do, and if what they load fits into a
thread's registers until the last row has used it. Other bodies only get longer: NPB BT (class B, H200), whose
rows load 30 to 110 numbers that they do not share, takes the same 1.95 s with and without rows side by side,
and 2 s more to compile with them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .declined import Declined

MOST_OPERATIONS = 350
"""The most operations of a body: LLVM's time for its copies grows faster than their number."""
FEW_ACCESSES = 16
"""The most elements that a row accesses if rows pay without sharing any."""
MOST_WORDS = 128
"""Half of a thread's registers; the others hold addresses and sums."""


@dataclass(frozen=True)
class RowAccesses:
    """
    The elements that one row accesses, each counted once (`single`), those that `rows` rows access
    (`together`), and the 32-bit words of all that they load.
    """

    rows: int
    single: int
    together: int
    words: int


def check_length(operations: int) -> None:
    """Raises `Declined` if a body of so many operations is too long for copies of it."""
    if operations > MOST_OPERATIONS:
        raise Declined(f"the body has more than {MOST_OPERATIONS} operations")


def check_gain(accesses: RowAccesses) -> None:
    """Raises `Declined` with the reason if rows with these accesses gain nothing side by side."""
    if accesses.single <= FEW_ACCESSES:
        return
    if 4 * accesses.together > 3 * accesses.rows * accesses.single:
        raise Declined(f"they share few of the {accesses.single} elements that each accesses")
    if accesses.words > MOST_WORDS:
        raise Declined(f"the {accesses.words} words that they load do not fit into registers")
