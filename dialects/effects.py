"""
Effects on memory that xDSL's `acc` leaves out, so that its `cse`, `canonicalize` and `dce` keep what they
must.

An atomic update or capture reads and writes the variable of its directive (OpenACC 3.4, 2.12). Upstream
describes both by what is in their regions alone, which is arithmetic: they would count as unused code.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.irdl import traits_def
from xdsl.traits import MemoryEffect, MemoryReadEffect, MemoryWriteEffect


def complete() -> None:
    """Gives the operations their effects; again has none."""
    for operation in (acc.AtomicUpdateOp, acc.AtomicCaptureOp):
        others = (t for t in operation.traits.traits if not isinstance(t, MemoryEffect))
        operation.traits = traits_def(*others, MemoryReadEffect(), MemoryWriteEffect())
