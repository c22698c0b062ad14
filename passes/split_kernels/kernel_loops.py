"""
Sequential loops of a kernels construct around parallel loops.

A time loop, or the elimination steps of a factorisation: such a loop should run on the host and launch a
kernel for each of its pieces. That requires bounds that the host knows, and pieces that share values only
through memory: `keep_values` stores what one piece computes for another in a variable, and
`drop_dead_stores` removes stores of final values of loop variables that are never read.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Operation, SSAValue

from ...dialects.volatility import is_volatile
from ..ir.ops.acc_ops import (
    enclosing_function,
    exits_of,
    has_level,
    is_defined_inside,
    is_inside,
)
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.values.accesses import address_escapes, is_scalar_variable, root_of
from ..ir.values.host_scalars import HostScalars
from ..ir.values.region_values import HostEmitter, HostExpression, HostLoad, RegionSymbols
from ..ir.variables.loop_scalars import is_live_after
from ..ir.variables.private_storage import entry_cursor

FEWEST_ITERATIONS = 64
"""
For parallel nests with fewer iterations than this, a launch per iteration of the sequential loop does not
pay.
"""


def is_parallel_nest(op: Operation) -> bool:
    """Whether `op` is a loop directive with a loop that is not `seq`."""
    return isinstance(op, acc.LoopOp) and any(
        isinstance(inner, acc.LoopOp) and not has_level(inner.seq) for inner in op.walk()
    )


def body_ops(loop: scf.ForOp) -> list[Operation]:
    """The operations of a loop's body, without its terminator."""
    return list(loop.body.block.ops)[:-1]


class HostLoops:
    """The loops of a kernels construct that the host can run, and their bounds there."""

    def __init__(self, kernels: acc.KernelsOp):
        self.kernels = kernels
        self.symbols = RegionSymbols(kernels)
        self.scalars = HostScalars(kernels)

    def __contains__(self, op: Operation) -> bool:
        """Whether the host should run `op`, which is directly in the region or in another such loop."""
        if not isinstance(op, scf.ForOp) or op.iter_args:
            return False
        if not all(self._is_known(value) for value in (op.lb, op.ub, op.step)):
            return False
        return any(_is_worth_it(inner) or inner in self for inner in body_ops(op))

    def _is_known(self, value: SSAValue) -> bool:
        poly = self.symbols.polynomial(value)
        if poly is None or not self.scalars.knows_all([poly]):
            return False
        return all(self._has_value(symbol) for symbol in poly.symbols)

    def _has_value(self, symbol: Hashable) -> bool:
        match symbol:
            case SSAValue():
                if not is_defined_inside(symbol, self.kernels):
                    return True
                return self._is_variable(symbol)
            case HostLoad() | HostExpression():
                return True
            case _:
                return False

    def _is_variable(self, value: SSAValue) -> bool:
        """
        Whether a value is the variable of a loop that is directly in the region or in nested such loops.
        """
        owner = value.owner
        loop = None if isinstance(owner, Operation) else owner.parent_op()
        while isinstance(loop, scf.ForOp):
            loop = loop.parent_op()
        return loop is self.kernels

    def bound(self, value: SSAValue, emit: HostEmitter) -> SSAValue:
        """`value` computed on the host, at `emit`."""
        poly = self.symbols.polynomial(value)
        assert poly is not None and isinstance(value.type, IntegerType)
        found = emit.emit(poly)
        if value.type.width.data == 64:
            return found
        return emit.value(arith.TruncIOp(found, value.type), value.name_hint)


def _is_worth_it(op: Operation) -> bool:
    if not is_parallel_nest(op):
        return False
    iterations = 1
    for loop in op.walk():
        if isinstance(loop, acc.LoopOp) and not has_level(loop.seq):
            for lower, upper in zip(loop.lowerbound, loop.upperbound, strict=True):
                low, high = constant_value(lower), constant_value(upper)
                if low is None or high is None:
                    return True
                iterations *= max(0, high - low)
    return iterations >= FEWEST_ITERATIONS


def drop_dead_stores(kernels: acc.KernelsOp) -> None:
    """Removes stores to local scalars that are not read before the next store."""
    for op in list(kernels.walk()):
        if not isinstance(op, llvm.StoreOp):
            continue
        root = root_of(op.ptr)
        if op.ptr is not root or not isinstance(root.owner, llvm.AllocaOp):
            continue
        if is_volatile(op):
            continue
        if not is_scalar_variable(root) or address_escapes(root):
            continue
        if not is_live_after(op, root):
            erase(op)


def keep_values(ops: Sequence[Operation], movable: Sequence[Operation]) -> list[SSAValue]:
    """
    Puts values that one of `ops` computes and another uses into variables, unless every user can
    compute them itself (`movable`). Returns the variables. Pointers are not kept: what is mapped for a
    construct is known before it, from values that the host has.
    """
    copied = set(movable)
    top = set(ops)
    kept: list[SSAValue] = []
    for op in ops:
        if op in copied:
            continue
        for result in op.results:
            users = [use for use in result.uses if _ancestor(use.operation, top) is not op]
            if users and isinstance(result.type, IntegerType | AnyFloat):
                kept.append(_keep(op, result, top))
    return kept


def keep_on_device(kernels: acc.KernelsOp, variables: Sequence[SSAValue]) -> None:
    """
    Adds `create` data operations for the variables of `keep_values`, which no other code uses, so they are
    never copied.
    """
    block = kernels.parent_block()
    assert block is not None
    for operand in list(kernels.data_clause_operands):
        entry = operand.owner
        if not isinstance(entry, acc.CopyinOp) or entry.var not in variables:
            continue
        create = acc.CreateOp(
            var=entry.var,
            var_type=entry.var_type,
            data_clause=acc.DataClause.ACC_CREATE,
            implicit=True,
            var_name=entry.var_name,
        )
        Cursor.before(entry).insert(create, operand.name_hint)
        for leave in exits_of(entry):
            delete = acc.DeleteOp(
                acc_var=operand,
                data_clause=acc.DataClause.ACC_CREATE,
                implicit=True,
                var_name=entry.var_name,
            )
            Cursor.before(leave).insert(delete)
            erase(leave)
        operand.replace_all_uses_with(create.results[0])
        erase(entry)


def _ancestor(op: Operation, top: set[Operation]) -> Operation | None:
    current: Operation | None = op
    while current is not None and current not in top:
        current = current.parent_op()
    return current


def _keep(op: Operation, value: SSAValue, top: set[Operation]) -> SSAValue:
    """Makes a variable for `value`, written after `op` and read before its other users; returns it."""
    function = enclosing_function(op)
    at = entry_cursor(function)
    at.loc = op.location
    variable = at.value(llvm.AllocaOp(at.i32(1), value.type, alignment=8), value.name_hint)
    read_where_used(op, value, variable, top)
    Cursor.after(op).store(value, variable)
    return variable


def read_where_used(
    op: Operation, value: SSAValue, variable: SSAValue, top: set[Operation]
) -> None:
    """
    Reads `variable` instead of `value`, a result of `op`, before each of the other operations `top` that uses
    it.
    """
    users: dict[Operation, None] = {}
    for use in value.uses:
        user = _ancestor(use.operation, top)
        if user is not None and user is not op:
            users[user] = None
    for user in users:
        load = Cursor.before(user).load(variable, value.type, value.name_hint)
        value.replace_uses_with_if(load, lambda use, user=user: is_inside(use.operation, user))
