"""
Accesses to rows behind arrays of pointers, `a[i][j]` of `double **a`, as accesses to an array of two
dimensions.

That is what they are where the rows lie apart. The host finds that out before the construct, from its own
pointers, where a data clause names the rows with them (`copy(a[0:n][0:m])`): the device's pointers are their
images then (OpenACC 3.4, 2.7.1). An array whose rows no clause names is left alone: what its pointers are on
the device, the host does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...dialects.accx import POINTERS
from .acc_ops import MAPPING_OPS, PRIVATIZING_OPS, EntryOp, bit_width, is_inside
from .accesses import LoopAccess, root_of, subscripts_of
from .addresses import ADDRESS_OPS, base_of
from .callees import is_harmless, reads_of_call
from .loop_symbols import LoopSymbols
from .visible_data import has_other_section, is_conditional, visible_entry

_LEAVING_ROWS = (acc.NoCreateOp, acc.DevicePtrOp, acc.AttachOp)
"""Data operations that may leave the device's pointers as something else has made them."""

_UNTYPED = ("llvm.intr.mem", "llvm.inline_asm", "llvm.cmpxchg", "llvm.atomic")
"""Operations that write bytes of any type."""


@dataclass(frozen=True)
class ApartArray:
    """
    What must lie apart from rows: the rows themselves, `levels` pointers away from what `root` is the address
    of, or (0) the array with this root. `written`: not only read.
    """

    root: SSAValue
    levels: int
    written: bool


def pointer_levels(entry: EntryOp) -> int:
    """How many of the dimensions of a data clause are of pointers to the next one."""
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
    An access to a row as one to the array of pointers, with the subscripts of both, and how many pointers are
    followed; None if it is none, or if nothing says where the rows are.
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
