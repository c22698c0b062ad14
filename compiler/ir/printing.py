"""Printing IR: as xDSL does, but so that xDSL (and upstream `mlir-opt`) can always parse it back."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects import scf
from xdsl.ir import Operation, Region
from xdsl.printer import Printer


class RoundTripPrinter(Printer):
    """
    xDSL's printer with two repairs to what xDSL 0.74 prints and cannot parse. The regions of
    `scf.execute_region` keep their terminators, which are left out of all blocks when the operation
    has no results. Operations with a syntax of their own have their location at their end only; it is
    printed within them too when their syntax contains the operation's type (`scf.while`).
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

    def print_operation_type(self, op: Operation) -> None:
        if self.print_generic_format or type(op).print is Operation.print:
            super().print_operation_type(op)
        else:
            self.print_function_type(op.operand_types, op.result_types)


def print_ir(op: Operation, *, debug_info: bool = False, generic: bool = False) -> str:
    """
    The text of `op`; with `debug_info`, every operation shows its C location. `generic`: in the syntax
    that all operations share, which shows every attribute and needs no dialect to be read.
    """
    out = StringIO()
    printer = RoundTripPrinter(stream=out, print_debuginfo=debug_info, print_generic_format=generic)
    printer.print_op(op)
    return out.getvalue() + "\n"
