"""The comparison predicates that passes use, by their number in `arith.cmpi` and `arith.cmpf`."""

from __future__ import annotations

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

EQ = CMPI_COMPARISON_OPERATIONS.index("eq")
NE = CMPI_COMPARISON_OPERATIONS.index("ne")
UNE = CMPF_COMPARISON_OPERATIONS.index("une")
"""C's `!=` of floating numbers: true if either is a NaN."""
