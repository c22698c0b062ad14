"""The predicates of comparisons that passes ask for, as `arith.cmpi` and `arith.cmpf` number them."""

from __future__ import annotations

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

EQ = CMPI_COMPARISON_OPERATIONS.index("eq")
NE = CMPI_COMPARISON_OPERATIONS.index("ne")
UNE = CMPF_COMPARISON_OPERATIONS.index("une")
"""C's `!=` of floating numbers: true if one is no number."""
