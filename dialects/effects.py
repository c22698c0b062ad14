"""
Memory effects that xDSL's `acc` lacks, without which its `cse`, `canonicalize` and `dce` would remove
needed operations.

An atomic update or capture reads and writes the variable of its directive (OpenACC 3.4, 2.12). Upstream
derives the effects of both from their regions, which contain arithmetic only, so they would count as unused
code.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.irdl import traits_def
from xdsl.traits import MemoryEffect, MemoryReadEffect, MemoryWriteEffect


def complete() -> None:
    """Adds the effects to the operations' classes. Calling it again has no effect."""
    for operation in (acc.AtomicUpdateOp, acc.AtomicCaptureOp):
        others = (t for t in operation.traits.traits if not isinstance(t, MemoryEffect))
        operation.traits = traits_def(*others, MemoryReadEffect(), MemoryWriteEffect())
