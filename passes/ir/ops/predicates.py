"""The comparison predicates that passes use, by their number in `arith.cmpi` and `arith.cmpf`."""

from __future__ import annotations

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE = (
    CMPI_COMPARISON_OPERATIONS.index(name)
    for name in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
)
OEQ, OGT, OGE, OLT, OLE, UNE = (
    CMPF_COMPARISON_OPERATIONS.index(name) for name in ("oeq", "ogt", "oge", "olt", "ole", "une")
)
"""Of floating numbers; `une` is C's `!=`: true if either is a NaN."""
