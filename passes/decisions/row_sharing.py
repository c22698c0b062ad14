"""
How many rows side by side in a thread a body gains from (`jam-outer-iterations`).

Rows that share loads, as those of a stencil do, gain with each row: a sum of 7 x 7 doubles takes 60, 40 and
30 µs on an H200 with 1, 2 and 4 rows. Long rows that share few loads gain from the second, for which a row's
addresses need not be computed again, and little from more: a sum of 24 planes of doubles takes 253, 193 and
193 µs, of 12 planes 102 µs each, of 30 roots of floats 230, 157 and 136 µs. More than four of them were not
timed, and make their code longer.

A loop with branches gains nothing: each row has a branch of its own in each iteration, between which no loads
are in flight. 3 x 3 patches that count if they are alike take 140, 151, 173 and 404 µs with 1, 2, 4 and 8
rows, a bilateral filter that skips empty points 535 and 661 µs with 1 and 2. Where arithmetic takes longer
than the loads, the registers of many rows only leave room for fewer threads: the same filter without the
condition, an exponential function for each of 25 points, takes 281, 272, 295 and 312 µs.

Divisions and roots of doubles are sequences of dependent operations that need registers of their own: a step
of the shallow water equations, 8 divisions to a point, takes 325, 384 and 483 µs with 1, 2 and 4 rows. With
rows that share little, several results and several functions of doubles do so, too: electromagnetic waves,
three components, take 343, 299 and 324 µs, a sum of five arrays 553, 511 and 546, cloud microphysics with
powers 182, 172 and 223.

Rows with several loops that share nothing gain up to the fourth: a maximum of 3 x 3 elements takes 280, 144,
119 and 120 µs with 1, 2, 4 and 8 rows, a convolution of each channel with its own weights 154, 138, 135 and
158, a recurrence along columns 300, 301, 288 and 379. With a single loop they gain up to the eighth: products
of 8 x 8 matrices take 196, 103, 88 and 84 µs.

Stores of rows side by side alternate, so that a record's members are not stored one after the other: three
nests that store records of 16 and 20 bytes take 326, 374 and 578 µs with four rows, in CUDA with one row
159, 191 and 253.
"""

from __future__ import annotations

from dataclasses import dataclass

from .declined import Declined
from .device import MULTIPROCESSORS

MOST_OPERATIONS = 350
"""The most operations of a body: LLVM's time for its copies grows faster than their number."""
FEW_ACCESSES = 16
"""The elements that a row may access for which bodies are short, so that all rows are kept."""
ENOUGH_APART = 4
"""The rows of longer bodies if they share few accesses."""
ENOUGH_LONG = 2
"""The rows of bodies whose arithmetic takes longer, or which have several results."""
SEVERAL_RESULTS = 3
"""
The stores outside of loops from which rows that share little, and read as much as they store, have several
results.
"""
SEVERAL_FUNCTIONS = 4
"""The functions of doubles from which arithmetic counts as long outside of loops, too."""
MANY_DIVISIONS = 8
"""The divisions and roots of doubles of a row from which each thread has one row; fewer were not timed."""

LEAST_THREADS = MULTIPROCESSORS * 512
"""
The threads with several rows each from which a device is busy; with fewer, each thread has one row. Systems
of equations along 10,000 lines, a thread for four of them, would occupy 25 of 132 multiprocessors.
"""


@dataclass(frozen=True)
class RowAccesses:
    """
    The elements that one row accesses, each counted once (`single`), and those that `rows` rows access
    (`together`); whether loops inside have branches that rows take differently (`branches`), or call
    functions (`long_arithmetic`), whether a row stores several elements of a record (`stores_records`), and
    the numbers of `divisions` and roots of doubles and of `functions` of doubles in a row, of `results` that
    it stores outside of loops, and of its `loops`; whether its loops read elements again and again that fit
    into registers (`rereads`).
    """

    rows: int
    single: int
    together: int
    branches: bool = False
    long_arithmetic: bool = False
    stores_records: bool = False
    divisions: int = 0
    functions: int = 0
    results: int = 1
    loops: int = 0
    rereads: bool = False

    @property
    def are_shared(self) -> bool:
        """Whether rows save a quarter of the accesses or more."""
        return 4 * self.together <= 3 * self.rows * self.single

    @property
    def are_apart(self) -> bool:
        """Whether rows share nothing."""
        return self.together == self.rows * self.single


def check_length(operations: int) -> None:
    """Raises `Declined` if a body of so many operations is too long for copies of it."""
    if operations > MOST_OPERATIONS:
        raise Declined(f"the body has more than {MOST_OPERATIONS} operations")


def rows_that_pay(accesses: RowAccesses) -> int:
    """
    The number of rows, at most `accesses.rows`, from which a body with these accesses gains. Raises
    `Declined` for a body that gains from a single one.
    """
    if accesses.branches:
        raise Declined("the loops inside have branches")
    if accesses.rereads and not accesses.long_arithmetic:
        raise Declined("a row reads elements of its own again and again")
    if accesses.stores_records:
        raise Declined("a row stores several elements of a record")
    if accesses.divisions >= MANY_DIVISIONS:
        raise Declined(f"a row has {accesses.divisions} divisions or roots of doubles")
    if accesses.long_arithmetic or accesses.functions >= SEVERAL_FUNCTIONS:
        return min(accesses.rows, ENOUGH_LONG)
    if accesses.are_shared:
        return accesses.rows
    if accesses.results >= SEVERAL_RESULTS and accesses.single >= 2 * accesses.results:
        return min(accesses.rows, ENOUGH_LONG)
    if accesses.single > FEW_ACCESSES or (accesses.are_apart and accesses.loops > 1):
        return min(accesses.rows, ENOUGH_APART)
    return accesses.rows
