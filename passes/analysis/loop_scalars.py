"""
Scalars that a loop assigns: temporaries of one iteration, and what all iterations sum up.

A scalar is a temporary if every iteration writes it before it reads it, and nobody wants its value
afterwards. It is a reduction if iterations do nothing with it but combine it with values that do not
depend on it, always by one operator: `s += e`, `s = e * s`, `s = s - e`, `s = s + e + f`, `m = fmax(m, e)`,
`if (e > m) m = e`, `m = e > m ? e : m`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import cast

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from .acc_ops import constant_value
from .accesses import root_of
from .device_functions import PURE_FUNCTIONS
from .recipes import can_reduce

Kind = acc.ReductionOpKind

# Temporaries.


class Flow(Enum):
    """What code does first with a variable: nothing for sure, write it, or perhaps read it."""

    UNTOUCHED = 0
    WRITES = 1
    READS = 2


def first_use(ops: Iterable[Operation], root: SSAValue) -> Flow:
    """What straight code with nested loops and branches does first with a variable."""
    for op in ops:
        flow = _of_operation(op, root)
        if flow is not Flow.UNTOUCHED:
            return flow
    return Flow.UNTOUCHED


def _of_operation(op: Operation, root: SSAValue) -> Flow:
    match op:
        case llvm.StoreOp() if root_of(op.ptr) is root and op.value is not root:
            return Flow.WRITES
        case scf.IfOp():
            return _of_branches(op, root)
        case scf.ForOp():
            return _of_loop(op.body, [(op.lb, op.ub)], root)
        case acc.LoopOp() if len(op.region.blocks) == 1:
            if root in op.operands:
                return Flow.READS
            bounds = list(zip(op.lowerbound, op.upperbound, strict=True))
            return _of_loop(op.region, bounds, root)
        case acc.PrivateOp():
            return Flow.UNTOUCHED
        case _ if any(_names(inner, root) for inner in op.walk()):
            return Flow.READS
        case _:
            return Flow.UNTOUCHED


def _names(op: Operation, root: SSAValue) -> bool:
    return any(
        isinstance(operand.type, llvm.LLVMPointerType) and root_of(operand) is root
        for operand in op.operands
    )


def _of_branches(op: scf.IfOp, root: SSAValue) -> Flow:
    flows = [
        first_use(region.block.ops, root) if region.blocks else Flow.UNTOUCHED
        for region in (op.true_region, op.false_region)
    ]
    if Flow.READS in flows:
        return Flow.READS
    return Flow.WRITES if flows == [Flow.WRITES, Flow.WRITES] else Flow.UNTOUCHED


def _of_loop(body: Region, bounds: Sequence[tuple[SSAValue, SSAValue]], root: SSAValue) -> Flow:
    flow = first_use(body.block.ops, root)
    if flow is Flow.WRITES and not all(_runs(*bound) for bound in bounds):
        return Flow.UNTOUCHED
    return flow


def _runs(lower: SSAValue, upper: SSAValue) -> bool:
    low, high = constant_value(lower), constant_value(upper)
    return low is not None and high is not None and low < high


def written_first(body: Block, root: SSAValue) -> bool:
    """Whether no iteration reads what it has not written itself."""
    return first_use(body.ops, root) is not Flow.READS


FirstUse = Callable[[Iterable[Operation], SSAValue], Flow]


def wanted_after(op: Operation, root: SSAValue, first: FirstUse = first_use) -> bool:
    """
    Whether code that runs after `op` may read the variable before it is written again; `first` says
    what code does first with it.
    """
    child = op
    parent = op.parent_op()
    while parent is not None:
        block = child.parent_block()
        region = child.parent_region()
        if block is None or region is None:
            return True
        if len(region.blocks) > 1:
            return _read_in(region, child, root, first) or _wanted_outside(parent, root, first)
        rest: list[Operation] = []
        following = child.next_op
        while following is not None:
            rest.append(following)
            following = following.next_op
        flow = first(rest, root)
        if flow is not Flow.UNTOUCHED:
            return flow is Flow.READS
        if isinstance(parent, llvm.FuncOp):
            return not isinstance(root.owner, llvm.AllocaOp)
        if isinstance(parent, acc.LoopOp | acc.ParallelOp) and root in parent.private_operands:
            return False
        again = isinstance(parent, scf.ForOp | acc.LoopOp | scf.WhileOp)
        if again and any(
            first(inner.block.ops, root) is Flow.READS
            for inner in parent.regions
            if len(inner.blocks) == 1
        ):
            return True
        child, parent = parent, parent.parent_op()
    return True


def _read_in(region: Region, except_for: Operation, root: SSAValue, first: FirstUse) -> bool:
    """Whether anything in a region with jumps may read the variable."""
    return any(
        op is not except_for and first([op], root) is Flow.READS
        for block in region.blocks
        for op in block.ops
    )


def _wanted_outside(op: Operation, root: SSAValue, first: FirstUse) -> bool:
    return not isinstance(op, llvm.FuncOp) and wanted_after(op, root, first)


# Reductions.

_OPERATORS: dict[type[Operation], Kind] = {
    arith.AddiOp: Kind.ADD,
    arith.AddfOp: Kind.ADD,
    arith.SubiOp: Kind.ADD,
    arith.SubfOp: Kind.ADD,
    arith.MuliOp: Kind.MUL,
    arith.MulfOp: Kind.MUL,
    arith.MaxSIOp: Kind.MAX,
    arith.MaxnumfOp: Kind.MAX,
    arith.MinSIOp: Kind.MIN,
    arith.MinnumfOp: Kind.MIN,
    arith.AndIOp: Kind.IAND,
    arith.OrIOp: Kind.IOR,
    arith.XOrIOp: Kind.XOR,
}

_LIBRARY = {
    **dict.fromkeys(("fmax", "fmaxf", "llvm.maxnum"), Kind.MAX),
    **dict.fromkeys(("fmin", "fminf", "llvm.minnum"), Kind.MIN),
}


def _operator(op: Operation) -> Kind | None:
    if isinstance(op, llvm.CallOp) and op.callee is not None:
        return _LIBRARY.get(op.callee.string_value())
    return _OPERATORS.get(type(op))


def _chain(load: llvm.LoadOp, stores: Sequence[llvm.StoreOp]) -> Kind | None:
    """The operator if the loaded value goes through uses of one operator into one of the stores."""
    value: SSAValue = load.dereferenced_value
    found: Kind | None = None
    while True:
        uses = list(value.uses)
        if len(uses) != 1 or uses[0].operation.parent_block() is not load.parent_block():
            return None
        op = uses[0].operation
        if isinstance(op, llvm.StoreOp):
            return found if op in stores and uses[0].index == 0 else None
        kind = _operator(op)
        if kind is None or found not in (None, kind):
            return None
        if isinstance(op, arith.SubiOp | arith.SubfOp) and uses[0].index != 0:
            return None
        found = kind
        value = op.results[0]


_LESS, _GREATER = frozenset((2, 3)), frozenset((4, 5))
"""Signed `arith.cmpi` predicates (slt sle and sgt sge)."""
_LESS_F, _GREATER_F = frozenset((4, 5)), frozenset((2, 3))
"""Ordered `arith.cmpf` predicates (olt ole and ogt oge)."""


def _compared(condition: SSAValue) -> tuple[SSAValue, SSAValue, int] | None:
    """`(a, b, sign)` for a comparison `a > b` (sign 1) or `a < b` (-1)."""
    op = condition.owner
    while isinstance(op, arith.CmpiOp) and op.predicate.value.data == 1:
        inner = op.lhs.owner  # C's `(comparison) != 0`
        if constant_value(op.rhs) != 0 or not isinstance(inner, arith.ExtUIOp):
            return None
        op = inner.input.owner
    if not isinstance(op, arith.CmpiOp | arith.CmpfOp):
        return None
    predicate = op.predicate.value.data
    integer = isinstance(op, arith.CmpiOp)
    if predicate in (_GREATER if integer else _GREATER_F):
        return op.lhs, op.rhs, 1
    if predicate in (_LESS if integer else _LESS_F):
        return op.lhs, op.rhs, -1
    return None


def _extreme(
    condition: SSAValue, chosen: SSAValue, is_variable: Sequence[SSAValue], taken: bool
) -> Kind | None:
    """
    MAX or MIN if the variable gets `chosen` where it is `taken` (or not taken) that the one is greater
    (or less) than the other.
    """
    compared = _compared(condition)
    if compared is None:
        return None
    left, right, sign = compared
    if right in is_variable and _same_value(left, chosen):
        pass
    elif left in is_variable and _same_value(right, chosen):
        sign = -sign
    else:
        return None
    if not taken:
        sign = -sign
    return Kind.MAX if sign > 0 else Kind.MIN


def _same_value(left: SSAValue, right: SSAValue) -> bool:
    """Whether two values are one, or computed alike, from loads with nothing written in between."""
    if left is right:
        return True
    one, other = left.owner, right.owner
    if not isinstance(one, Operation) or type(one) is not type(other):
        return False
    assert isinstance(other, Operation)
    if isinstance(one, llvm.LoadOp) and not _quiet_between(one, other):
        return False
    pure = one.name.startswith(("arith.", "math.")) or _is_pure_call(one)
    return (
        (pure or isinstance(one, llvm.LoadOp | llvm.GEPOp))
        and not one.regions
        and one.properties == other.properties
        and len(one.operands) == len(other.operands)
        and all(_same_value(a, b) for a, b in zip(one.operands, other.operands, strict=True))
    )


def _is_pure_call(op: Operation) -> bool:
    return (
        isinstance(op, llvm.CallOp)
        and op.callee is not None
        and op.callee.string_value() in PURE_FUNCTIONS
    )


def _is_quiet(op: Operation) -> bool:
    """Whether an operation writes nothing."""
    if op.regions:
        return all(_is_quiet(inner) for r in op.regions for b in r.blocks for inner in b.ops)
    return (
        isinstance(op, llvm.LoadOp | llvm.GEPOp | llvm.AddressOfOp | scf.YieldOp)
        or op.name.startswith(("arith.", "math."))
        or is_side_effect_free(op)
        or _is_pure_call(op)
    )


def _quiet_between(first: Operation, second: Operation) -> bool:
    """Whether nothing is written between two operations, the second perhaps in a branch after the first."""
    inner = second
    while inner.parent_block() is not first.parent_block():
        around = inner.parent_op()
        if not _quiet_before(inner, None) or not isinstance(around, scf.IfOp):
            return False
        inner = around
    return _quiet_before(inner, first)


def _quiet_before(op: Operation, start: Operation | None) -> bool:
    """Whether the operations of a block from `start` up to `op` write nothing."""
    before = op.prev_op
    while before is not None and before is not start:
        if not _is_quiet(before):
            return False
        before = before.prev_op
    return before is start


def _guarded(loads: Sequence[llvm.LoadOp], stores: Sequence[llvm.StoreOp]) -> Kind | None:
    """`if (e > m) m = e`: compared once, stored where the comparison holds."""
    if len(stores) != 1 or len(loads) != 1:
        return None
    (store,), (load,) = stores, loads
    branch = store.parent_op()
    if not isinstance(branch, scf.IfOp) or branch.parent_block() is not load.parent_block():
        return None
    if len(list(load.dereferenced_value.uses)) != 1:
        return None
    taken = store.parent_region() is branch.true_region
    return _extreme(branch.cond, store.value, [load.dereferenced_value], taken)


def _selected(loads: Sequence[llvm.LoadOp], stores: Sequence[llvm.StoreOp]) -> Kind | None:
    """`m = e > m ? e : m`, as a select or as an `scf.if` that yields."""
    if len(stores) != 1:
        return None
    values: list[SSAValue] = [load.dereferenced_value for load in loads]
    owner = stores[0].value.owner
    match owner:
        case arith.SelectOp():
            condition, yes, no = owner.cond, owner.lhs, owner.rhs
        case scf.IfOp() if len(owner.results) == 1 and owner.false_region.blocks:
            ends = owner.true_region.block.last_op, owner.false_region.block.last_op
            if not all(isinstance(end, scf.YieldOp) for end in ends):
                return None
            yes, no = (cast(scf.YieldOp, end).operands[0] for end in ends)
            condition = owner.cond
        case _:
            return None
    compared = _compared(condition)
    if compared is None or len(list(stores[0].value.uses)) != 1:
        return None
    used = [use.operation for value in values for use in value.uses]
    allowed = [condition.owner, owner, yes.owner, no.owner]
    comparison = compared[0].uses
    allowed += [use.operation for use in comparison]
    if any(
        op not in allowed and not isinstance(op, scf.YieldOp | arith.CmpiOp | arith.CmpfOp)
        for op in used
    ):
        return None
    if no in values and yes not in values:
        return _extreme(condition, yes, values, True)
    if yes in values and no not in values:
        return _extreme(condition, no, values, False)
    return None


def reduction_kind(accesses: Sequence[Operation], variable: SSAValue) -> Kind | None:
    """The operator if all accesses to a scalar in a loop combine it with other values by one."""
    loads = [op for op in accesses if isinstance(op, llvm.LoadOp)]
    stores = [op for op in accesses if isinstance(op, llvm.StoreOp)]
    if not loads or not stores or len(loads) + len(stores) != len(accesses):
        return None
    kind = _guarded(loads, stores) or _selected(loads, stores)
    if kind is None and len(loads) == len(stores):
        kinds = {_chain(load, stores) for load in loads}
        reached = {_stored_by(load) for load in loads}
        if len(kinds) == 1 and reached == set(stores):
            kind = kinds.pop()
    if kind is None or not can_reduce(kind, loads[0].dereferenced_value.type):
        return None
    return kind


def _stored_by(load: llvm.LoadOp) -> Operation | None:
    """The store a chain from `load` ends at."""
    value: SSAValue = load.dereferenced_value
    while True:
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        op = uses[0].operation
        if isinstance(op, llvm.StoreOp):
            return op
        if len(op.results) != 1:
            return None
        value = op.results[0]
