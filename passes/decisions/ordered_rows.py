"""
Whether iterations of a parallel loop should run side by side in SIMD lanes although each accesses a row of
its own, on a CPU: where a sequential loop inside spends its time waiting (`ir/loops/waiting_loops.py`).

Measured on one processor with AVX-512, ns an element: 500 sums in order of 500 doubles .85 one row at a time,
.55 with 4 lanes and .39 with 8; two sums in memory 2.2, 1.8 and 1.2; tridiagonal solvers on rows and columns
of 300² doubles 15.4, 5.7 and 5.4.
"""

from __future__ import annotations

ROWS = 8
"""Rows side by side: as many cache lines of the first-level cache, which may all be in one of its sets, of at
least 8 ways."""

_APART = 1.25
"""The cycles of an access that lanes make one at a time: half of one for it, and a shuffle."""
_GAIN = 0.8


def rows_side_by_side(waiting: int, accesses: int) -> bool:
    """
    Whether lanes shorten a loop whose iterations wait `waiting` cycles for each other and make `accesses`
    accesses to elements of rows, which are far apart for neighbouring lanes.
    """
    return accesses * _APART + waiting / ROWS < _GAIN * waiting
