"""Printing IR: as xDSL does, but so that xDSL (and upstream `mlir-opt`) can always parse it back."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects import scf
from xdsl.ir import Operation, Region
from xdsl.printer import Printer


class RoundTripPrinter(Printer):
    """
    xDSL's printer, except that the regions of `scf.execute_region` keep their terminators: xDSL
    0.74 leaves them out of all blocks when the operation has no results, which loses branches.
    """

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        keep = isinstance(region.parent, scf.ExecuteRegionOp)
        super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators or keep
        )


def print_ir(op: Operation, *, debug_info: bool = False) -> str:
    """The text of `op`; with `debug_info`, every operation shows its C location."""
    out = StringIO()
    printer = RoundTripPrinter(stream=out, print_debuginfo=debug_info)
    printer.print_op(op)
    return out.getvalue() + "\n"
