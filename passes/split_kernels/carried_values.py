"""
Values that loops of a kernels region carry because the variables are declared in the region. Where every
iteration only combines them with others by one operator, they are kept in variables, as those that are
declared outside are, so that the loops are judged alike.

Before:
  %s = scf.for %i = … iter_args(%old = %zero) -> (f64) { … %new = arith.addf %old, %x … scf.yield %new }
After:
  llvm.store %zero, %s : f64, !llvm.ptr
  scf.for %i = … { %old = llvm.load %s  … %new = arith.addf %old, %x  llvm.store %new, %s }
  %result = llvm.load %s : !llvm.ptr -> f64
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation, SSAValue

from ..ir.ops.acc_ops import enclosing_function
from ..ir.ops.building import Cursor
from ..ir.ops.layout import layout_of
from ..ir.variables.private_storage import entry_cursor
from ..ir.variables.reduction_forms import Operator, reduction_operator
from .kernel_loops import read_where_used
from .searches import find_search, split_search

LOOPS = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp, acc.LoopOp)


def in_variables(
    loop: scf.ForOp, given: Sequence[llvm.AllocaOp] | None = None
) -> list[llvm.AllocaOp]:
    """
    Keeps the values that `loop` carries in variables (`given`, or new ones), which the body loads first and
    stores last; returns these, of which new ones are in no block. A loop in the body that only goes on with
    these values uses the same variables. The loop carries nothing afterwards; its operands and results are
    left.
    """
    body = loop.body.block
    slots = list(given) if given is not None else [_variable(arg) for arg in body.args[1:]]
    inner = _continued(loop)
    end = body.last_op
    assert isinstance(end, scf.YieldOp)
    if inner is not None:
        in_variables(inner, slots)
        end.operands = ()
        _erase_results(inner)
        for argument in list(body.args[1:]):
            body.erase_arg(argument)
        return slots
    start = Cursor.at_start(body, loop.location)
    for slot, argument in zip(slots, list(body.args[1:]), strict=True):
        argument.replace_all_uses_with(start.load(slot.res, argument.type, argument.name_hint))
        body.erase_arg(argument)
    finish = Cursor.before(end)
    for slot, value in zip(slots, end.operands, strict=True):
        finish.store(value, slot.res)
    finish.insert(scf.YieldOp())
    body.erase_op(end)
    return slots


def _variable(value: SSAValue) -> llvm.AllocaOp:
    one = arith.ConstantOp(IntegerAttr(1, i32)).result
    return llvm.AllocaOp(one, value.type, alignment=layout_of(value.type).align)


def _continued(loop: scf.ForOp) -> scf.ForOp | None:
    """The loop in the body of `loop` that begins with all values it carries, and whose results it yields, if
    nothing else uses these; else None."""
    end = loop.body.block.last_op
    assert end is not None
    inner = end.operands[0].owner if end.operands else None
    if not isinstance(inner, scf.ForOp) or inner.parent_op() is not loop:
        return None
    carried = loop.body.block.args[1:]
    same = tuple(inner.iter_args) == tuple(carried) and tuple(end.operands) == tuple(inner.results)
    once = all(len(list(v.uses)) == 1 for v in (*carried, *inner.results))
    return inner if same and once else None


def _erase_results(loop: scf.ForOp) -> None:
    """Replaces `loop`, whose results nothing uses, and which carries nothing, by one without results."""
    block = loop.parent_block()
    assert block is not None
    body = loop.detach_region(0)
    plain = scf.ForOp(loop.lb, loop.ub, loop.step, (), body)
    plain.attributes.update(loop.attributes)
    plain.location = loop.location
    block.insert_op_before(plain, loop)
    block.erase_op(loop)


def uses_of(slot: llvm.AllocaOp) -> list[Operation]:
    """The operations that use a variable."""
    return [use.operation for use in slot.res.uses]


def operators_of(loop: scf.ForOp) -> list[Operator] | None:
    """The operators by which `loop` combines the values that it carries; None if one is not combined."""
    copy = loop.clone()
    slots = in_variables(copy)
    found = [reduction_operator(uses_of(slot)) for slot in slots]
    copy.erase()  # so that it uses nothing of the program any more
    operators = [operator for operator in found if operator is not None]
    return operators if len(operators) == len(found) else None


def declare(slot: llvm.AllocaOp, at: Cursor, name: str | None) -> None:
    """Inserts a variable of `in_variables` at `at`."""
    slot.operands[0] = at.i32(1)
    at.insert(slot, name)


def keep_in_variables(kernels: acc.KernelsOp, *, in_one: bool) -> list[SSAValue]:
    """
    Keeps what the outermost loops of a kernels region carry in variables of the function, where each such
    value is only combined by one operator; returns the variables, which no other code uses. Loops that search
    are split before, into one loop for value and place if `in_one`.
    """
    kept: list[SSAValue] = []
    if len(kernels.region.blocks) != 1:
        return kept
    entry = entry_cursor(enclosing_function(kernels))
    for op in list(kernels.region.block.ops):
        if isinstance(op, scf.ForOp) and (search := find_search(op)) is not None:
            split_search(search, in_one=in_one)
    for loop in list(kernels.region.block.ops):
        if not isinstance(loop, scf.ForOp) or not loop.iter_args or operators_of(loop) is None:
            continue
        entry.loc = loop.location
        kept += (slot.res for slot in _keep(loop, entry))
    return kept


def _keep(loop: scf.ForOp, declarations: Cursor) -> list[llvm.AllocaOp]:
    """Keeps what `loop` carries in variables declared at `declarations`; returns them."""
    before, block = Cursor.before(loop), loop.parent_block()
    assert block is not None
    initial, others = list(loop.iter_args), set(block.ops)
    slots = in_variables(loop)
    for slot, value, result in zip(slots, initial, loop.results, strict=True):
        declare(slot, declarations, result.name_hint)
        before.store(value, slot.res)
        read_where_used(loop, result, slot.res, others)
    _erase_results(loop)
    return slots
