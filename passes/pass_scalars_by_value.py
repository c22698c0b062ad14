"""
Pass scalars in data clauses of constructs by value, where the program cannot tell the difference.

`copyin(x)` of a local scalar that the construct only reads makes a copy of four bytes for each launch, takes
a load in each iteration, and hides the value from the analyses of the host: bounds read from it are known
only on the device.

Whether `x` is present is decided at run time (OpenACC 3.4, 2.7.4): if it is, the construct reads the device's
copy. Only data clauses, directives and routines that get the address of `x` make it present. So the program
cannot tell the difference if, in the whole function, a local variable is only assigned and read by the host
and named in `copyin` and `copy` of compute constructs that only read it: its address is nowhere else, no
data is present at the construct, and `copy` stores the value that the variable has.

Takes:  the acc level.
Leaves: such a scalar (integers and floating-point numbers) is a value from outside of the construct, loaded
        before it, and has no data operations. The variable becomes a value where its assignments allow that.
        Variables that are volatile, atomic, compressed, assigned in device code or named in other clauses
        are unchanged.
Fails:  never; a remark names the scalars.

Before:
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%x_dev : !llvm.ptr) { … llvm.load %x_dev : !llvm.ptr -> i32 … }
  acc.delete accPtr(%x_dev : !llvm.ptr) {dataClause = #acc<data_clause acc_copyin>, name = "x"}
After:
  %0 = llvm.load %x : !llvm.ptr -> i32
  acc.parallel { … %0 … }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects.accx_compress import PACKED
from ..dialects.volatility import is_ordered
from .ir.ops.acc_ops import (
    COMPUTE_OPS,
    ComputeOp,
    alloca_count,
    drop_operands,
    enclosing,
    exits_of,
    is_inside,
    source_loc,
    variable_name,
)
from .ir.ops.building import Cursor, erase
from .ir.ops.notes import note
from .ir.variables.promotion import promote


def _construct_of(entry: acc.CopyinOp) -> ComputeOp | None:
    """The construct to which `entry` belongs if that only reads the variable; otherwise None."""
    found: ComputeOp | None = None
    exits = exits_of(entry)
    for use in entry.acc_var.uses:
        op = use.operation
        if isinstance(op, COMPUTE_OPS) and found is None:
            found = op
        elif op not in exits and not (isinstance(op, llvm.LoadOp) and not is_ordered(op)):
            return None
    loads = [use.operation for use in entry.acc_var.uses if isinstance(use.operation, llvm.LoadOp)]
    if found is None or PACKED in entry.attributes or entry.var_ptr_ptr is not None:
        return None
    return found if all(is_inside(load, found) for load in loads) else None


def _clauses(variable: llvm.AllocaOp) -> list[tuple[acc.CopyinOp, ComputeOp]]:
    """
    The data operations of a scalar variable with their constructs, if it has no other uses than these and
    assignments and reads by the host; otherwise nothing.
    """
    if not isinstance(variable.elem_type, IntegerType | AnyFloat) or alloca_count(variable) != 1:
        return []
    found: list[tuple[acc.CopyinOp, ComputeOp]] = []
    exits: set[Operation] = set()
    for use in variable.res.uses:
        op = use.operation
        if isinstance(op, acc.CopyinOp) and use.index == 0:
            construct = _construct_of(op)
            if construct is None or op.var_type != variable.elem_type:
                return []
            found.append((op, construct))
            exits.update(exits_of(op))
    for use in variable.res.uses:
        op = use.operation
        match op:
            case llvm.LoadOp() if op.dereferenced_value.type == variable.elem_type:
                permitted = not is_ordered(op)
            case llvm.StoreOp() if use.index == 1 and op.value.type == variable.elem_type:
                permitted = not is_ordered(op) and enclosing(op, *COMPUTE_OPS) is None
            case acc.CopyinOp():
                permitted = use.index == 0
            case _:
                permitted = op in exits
        if not permitted:
            return []
    return found


def _by_value(variable: llvm.AllocaOp, entry: acc.CopyinOp, construct: ComputeOp) -> None:
    """Replaces the device copy that `entry` makes for `construct` by the variable's value."""
    at = Cursor.before(entry, entry.location)
    value = at.value(llvm.LoadOp(variable.res, variable.elem_type), variable.res.name_hint)
    for use in list(entry.acc_var.uses):
        if isinstance(load := use.operation, llvm.LoadOp):
            load.dereferenced_value.replace_all_uses_with(value)
            erase(load)
    for last in exits_of(entry):
        erase(last)
    drop_operands(construct, "data_clause_operands", [entry.acc_var])


@dataclass(frozen=True)
class PassScalarsByValuePass(ModulePass):
    """See the contract at the top of this file."""

    name = "pass-scalars-by-value"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if not isinstance(function, llvm.FuncOp):
                continue
            for variable in [each for each in function.walk() if isinstance(each, llvm.AllocaOp)]:
                clauses = _clauses(variable)
                for entry, construct in reversed(clauses):
                    name = variable_name(entry.acc_var)
                    text = f"'{name}' is only read: passed by value, without a copy on the device"
                    note(function, [(source_loc(construct), text)])
                    _by_value(variable, entry, construct)
                if clauses:
                    promote(variable)
