"""Printing IR: as xDSL does, but so that xDSL (and upstream `mlir-opt`) can always parse it back."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.printer import Printer

_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f]')


class RoundTripPrinter(Printer):
    """
    xDSL's printer with three repairs to what xDSL 0.74 prints and cannot parse. The regions of
    `scf.execute_region` keep their terminators, which are left out of all blocks when the operation
    has no results. Operations with a syntax of their own have their location at their end only; it is
    printed within them too when their syntax contains the operation's type (`scf.while`). Names are
    distinct: the second `%a` is written `%a_1`, so a value with the hint `a_1` is not (it is `%a_1_0`;
    the parser takes one number off).
    """

    def print_ssa_value(self, value: SSAValue) -> str:
        if value not in self._ssa_values and value.name_hint:
            self._ssa_values[value] = _distinct(value.name_hint, self.ssa_names)
        return super().print_ssa_value(value)

    def _populate_block_name(self, block: Block, block_index: int | None = None) -> None:
        if block.name_hint:
            self._blocks[block] = _distinct(block.name_hint, self.block_names)
        else:
            super()._populate_block_name(block, block_index)

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

    def print_string_literal(self, string: str) -> None:
        """Prints text beyond ASCII as it is, as xDSL reads escapes in a string as bytes."""
        if string.isascii():
            super().print_string_literal(string)
        else:
            escaped = _ESCAPED.sub(lambda m: f"\\{ord(m.group()):02X}", string)
            self.print_string(f'"{escaped}"')

    def print_operation_type(self, op: Operation) -> None:
        if self.print_generic_format or type(op).print is Operation.print:
            super().print_operation_type(op)
        else:
            self.print_function_type(op.operand_types, op.result_types)


_NUMBERED = re.compile(r"_\d+$")


def _distinct(hint: str, used: dict[str, int]) -> str:
    """A name for a value with the name hint `hint`, from which the parser gets the same hint."""
    number = used.get(hint, 0)
    used[hint] = number + 1
    return f"{hint}_{number}" if number or _NUMBERED.search(hint) else hint


def print_ir(op: Operation, *, debug_info: bool = False, generic: bool = False) -> str:
    """
    The text of `op`; with `debug_info`, every operation shows its C location. `generic`: in the syntax
    that all operations share, which shows every attribute and needs no dialect to be read.
    """
    out = StringIO()
    printer = RoundTripPrinter(stream=out, print_debuginfo=debug_info, print_generic_format=generic)
    printer.print_op(op)
    return out.getvalue() + "\n"
