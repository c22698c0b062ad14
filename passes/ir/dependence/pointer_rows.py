"""
Accesses to rows through arrays of pointers, `a[i][j]` of `double **a`, as accesses to an array of two
dimensions.

This is correct if the rows do not overlap. The host tests that before the construct with its own pointers,
if a data clause maps the array with its rows (`copy(a[0:n][0:m])`): the device's pointers are then the
images of the host's (OpenACC 3.4, 2.7.1). An array whose rows no clause maps is not handled: the host does
not know its pointers on the device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ....dialects.accx import POINTERS
from ..data.callees import is_harmless, reads_of_call
from ..data.visible_data import has_other_section, is_conditional, visible_entry
from ..ops.acc_ops import MAPPING_OPS, PRIVATIZING_OPS, EntryOp, bit_width, is_inside
from ..values.accesses import LoopAccess, root_of, subscripts_of
from ..values.addresses import ADDRESS_OPS, base_of
from ..values.loop_symbols import LoopSymbols

_LEAVING_ROWS = (acc.NoCreateOp, acc.DevicePtrOp, acc.AttachOp)
"""
Data operations after which the device's pointers may not be images of the host's, because they may find the
data present.
"""

_UNTYPED = ("llvm.intr.mem", "llvm.inline_asm", "llvm.cmpxchg", "llvm.atomic")
"""Operations that write bytes of any type."""


@dataclass(frozen=True)
class ApartArray:
    """
    Memory that must not overlap rows: the rows reached from `root` through `levels` pointers, or, with 0,
    the array with this root. `written`: the loop writes it.
    """

    root: SSAValue
    levels: int
    written: bool


def pointer_levels(entry: EntryOp) -> int:
    """The number of dimensions of a data clause whose elements are pointers to the next dimension."""
    owners = [bound.owner for bound in entry.bounds]
    return sum(isinstance(op, acc.DataBoundsOp) and POINTERS in op.attributes for op in owners)


def rows_clause(base: SSAValue, construct: Operation) -> EntryOp | None:
    """
    The data operation, of the construct or visible around it, that maps the array of pointers `base` with
    its rows, so that the device's pointers are the images of the host's; None if there is none.
    """
    entry = base.owner
    if isinstance(entry, PRIVATIZING_OPS):
        return None
    if not isinstance(entry, MAPPING_OPS):
        entry = visible_entry(construct, base)
        if entry is None or has_other_section(entry) or is_conditional(entry):
            return None
    return None if isinstance(entry, _LEAVING_ROWS) or not pointer_levels(entry) else entry


def row_access(
    access: LoopAccess, symbols: LoopSymbols, construct: Operation
) -> tuple[LoopAccess, int] | None:
    """
    An access to a row as an access to the array of pointers with the subscripts of both, and the number of
    pointers followed; None if it is not one, or if no clause maps the rows.
    """
    subscripts, units, root, levels = access.subscripts, access.units, access.root, 0
    while isinstance(root.owner, llvm.LoadOp) and isinstance(root.owner.ptr.owner, ADDRESS_OPS):
        pointer = root.owner.ptr
        symbols.limits.clear()
        outer, outer_units = subscripts_of(pointer, symbols)
        if symbols.limits:
            return None  # they may wrap around
        subscripts, units = (*outer, *subscripts), (*outer_units, *units)
        root, levels = base_of(pointer), levels + 1
        entry = rows_clause(root, construct)
        if entry is not None:
            found = replace(access, root=root, subscripts=subscripts, units=units)
            return (found, levels) if pointer_levels(entry) == levels else None
    return None


def is_pointed_at(root: SSAValue) -> bool:
    """Whether an access goes through a pointer that is an element of an array."""
    return isinstance(root.owner, llvm.LoadOp) and isinstance(root.owner.ptr.owner, ADDRESS_OPS)


def _fills_own(op: Operation, construct: Operation) -> bool:
    """Whether an operation writes, through its first operand, to a variable of the construct."""
    variable = root_of(op.operands[0]).owner if op.operands else None
    return isinstance(variable, llvm.AllocaOp) and is_inside(variable, construct)


def changes_pointers(construct: Operation, loop: Operation) -> bool:
    """
    Whether a construct may write pointers in memory that `loop` reads. A character may be part of one (C11
    6.5p7): those that `loop` itself writes are compared with its loads of pointers, as accesses like others.
    """
    for op in construct.walk():
        match op:
            case llvm.StoreOp():
                if isinstance(op.value.type, llvm.LLVMPointerType):
                    return True
                if bit_width(op.value.type) == 8 and not is_inside(op, loop):
                    return True
            case llvm.CallOp() if not is_harmless(op) and reads_of_call(op) is None:
                return True
            case acc.AtomicWriteOp() if isinstance(op.expr.type, llvm.LLVMPointerType):
                return True
            case _ if op.name.startswith(_UNTYPED) and not _fills_own(op, construct):
                return True
            case _:
                pass
    return False
