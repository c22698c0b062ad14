"""Loops under a `scan` clause, as `dialects/accx_scan.py` marks them."""

from __future__ import annotations

from xdsl.dialects import acc

from ...dialects.accx_scan import ScanStepOp


def scan_step(loop: acc.LoopOp) -> ScanStepOp | None:
    """What an iteration of a scan computes; None for other loops."""
    if len(loop.region.blocks) != 1:
        return None
    return next((op for op in loop.region.block.ops if isinstance(op, ScanStepOp)), None)
