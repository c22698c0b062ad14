"""
Compute pointers and integers that a loop moves in equal steps from the loop's variable.

Takes:  acc level.
Leaves: in compute constructs, no `scf.for` that carries a pointer or an integer to which every iteration
        adds the same amount, known before the loop: later passes see `p[i]` instead of `*p++`. With a step
        other than 1, the amount must be a multiple of the step, and the last value must be unused. Nor one
        that carries a value which no iteration reads and nothing after the loop uses, as of a variable that
        is declared outside the loop and that every iteration sets first.
Fails:  never.

Before:
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!llvm.ptr) : i32 {
    %x = llvm.load %q : !llvm.ptr -> f64
    %next = llvm.getelementptr inbounds %q[1] : (!llvm.ptr) -> !llvm.ptr, f64
    scf.yield %next : !llvm.ptr
  }
After:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = accx.element %p[%i] of f64 : i32
    %x = llvm.load %q : !llvm.ptr -> f64
  }
  %last = accx.element %p[%n, if positive, else 0] of f64 : i64
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx_element import ElementOp, Index
from .ir.ops.acc_ops import is_defined_inside, is_inside
from .ir.ops.building import NSW, Cursor, constant_value, erase, never_wraps
from .ir.ops.fixed_values import computed_before, is_fixed
from .ir.values.addresses import ADDRESS_OPS, AddressOp, steps_of
from .ir.variables.handed_on import drop_carried

_WRAPS = arith.IntegerOverflowAttr("none")
_CONSTRUCTS = (acc.ParallelOp, acc.KernelsOp, acc.SerialOp)


@dataclass(frozen=True)
class Induction:
    """
    The carried value number `position` of `loop` is, in iteration t, `start` plus t times `amount` (minus,
    for a subtraction); `op` is the addition.
    """

    loop: scf.ForOp
    position: int
    op: arith.AddiOp | arith.SubiOp | AddressOp
    amount: int | SSAValue

    @property
    def start(self) -> SSAValue:
        return self.loop.iter_args[self.position]

    @property
    def carried(self) -> SSAValue:
        return self.loop.body.block.args[1 + self.position]

    def after(self, at: Cursor, distance: SSAValue, hint: str | None) -> SSAValue:
        """The value when the loop's variable is `distance` from its first value; placed at `at`."""
        if isinstance(self.op, ADDRESS_OPS):
            rows = self.op.rows if isinstance(self.op, ElementOp) else ()
            index = Index(self._times(at, distance, nsw=True))
            return at.value(ElementOp(self.start, [index], self.op.elem_type, rows), hint)
        first = constant_value(self.start)
        known = first is not None and isinstance(self.amount, int) and min(first, self.amount) >= 0
        nsw = known and never_wraps(self.op)
        assert isinstance(self.start.type, IntegerType)
        total = self._times(at, at.to_integer(distance, self.start.type), nsw=nsw)
        if first == 0:
            return total
        return at.value(arith.AddiOp(self.start, total, overflow=NSW if nsw else _WRAPS), hint)

    def _times(self, at: Cursor, distance: SSAValue, *, nsw: bool) -> SSAValue:
        if self.amount == 1:
            return distance
        if isinstance(self.op, ADDRESS_OPS):
            distance = at.to_i64(distance)
        amount = self.amount
        factor = (
            at.constant(amount, distance.type)
            if isinstance(amount, int)
            else computed_before(amount, self.loop)
        )
        return at.value(arith.MuliOp(distance, factor, overflow=NSW if nsw else _WRAPS))


def _added(op: Operation, carried: SSAValue) -> SSAValue | int | None:
    """
    The amount that `op` adds to `carried`; negative for a constant that it subtracts. None if it does
    neither.
    """
    match op:
        case arith.AddiOp():
            other = op.rhs if op.lhs is carried else op.lhs
            known = constant_value(other)
            return other if known is None else known
        case arith.SubiOp() if op.lhs is carried:
            known = constant_value(op.rhs)
            return None if known is None else -known
        case llvm.GEPOp() | ElementOp() if op.ptr is carried:
            steps = list(steps_of(op))
            index = steps[0].index
            if len(steps) != 1 or isinstance(index, int):
                return index if len(steps) == 1 and isinstance(index, int) else None
            known = constant_value(index.value)
            if known is not None and not index.unsigned:
                return known
            return index.value if index.value.type == i64 else None
        case _:
            return None


def find_induction(loop: scf.ForOp, position: int) -> Induction | None:
    """The induction of the carried value `position`; None if the amount differs between iterations."""
    carried = loop.body.block.args[1 + position]
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    op = end.operands[position].owner
    if not isinstance(op, arith.AddiOp | arith.SubiOp | llvm.GEPOp | ElementOp):
        return None
    if carried not in op.operands or op.parent_block() is not loop.body.block:
        return None
    amount, step = _added(op, carried), constant_value(loop.step)
    if amount is None or amount is carried or (isinstance(op, ElementOp) and _moves(op, loop)):
        return None
    if isinstance(amount, SSAValue) and (step != 1 or not is_fixed(amount, loop)):
        return None
    if isinstance(amount, int):
        if not step or amount % step:
            return None
        amount //= step
    if step != 1 and loop.results[position].uses:
        return None
    return Induction(loop, position, op, amount)


def _moves(op: ElementOp, loop: scf.ForOp) -> bool:
    """Whether the loop computes the lengths of the rows, so that the amount may change."""
    return any(is_defined_inside(length, loop) for length in op.rows)


def rewrite(found: Induction) -> None:
    """Computes the value from the loop's variable, and after the loop if the last value is used."""
    loop, block = found.loop, found.loop.body.block
    result = loop.results[found.position]
    if result.uses:
        last = found.after(Cursor.after(loop), _length(found), result.name_hint)
        result.replace_all_uses_with(last)
    if found.carried.uses:
        first = block.first_op
        assert first is not None
        at = Cursor.before(first, loop.location)
        distance = _difference(at, block.args[0], loop.lb)
        value = found.after(at, distance, found.carried.name_hint)
        found.carried.replace_all_uses_with(value)


def _difference(at: Cursor, upper: SSAValue, lower: SSAValue) -> SSAValue:
    """`upper - lower`, in 64 bits unless `lower` is 0."""
    if constant_value(lower) == 0:
        return upper
    return at.value(arith.SubiOp(at.to_i64(upper), at.to_i64(lower), overflow=NSW))


def _length(found: Induction) -> SSAValue:
    """
    The trip count of the loop, whose step is 1, computed before all enclosing loops in which its bounds are
    invariant.
    """
    loop = found.loop
    around: Operation = loop
    parent = loop.parent_op()
    while isinstance(parent, scf.ForOp) and all(
        constant_value(v) is not None or not is_defined_inside(v, parent)
        for v in (loop.lb, loop.ub)
    ):
        around, parent = parent, parent.parent_op()
    at = Cursor.before(around, loop.location)
    upper = at.to_i64(loop.ub)
    if not _only_inside(found, around):
        upper = at.value(arith.MaxSIOp(upper, at.to_i64(loop.lb)), "past")
    return _difference(at, upper, loop.lb)


def _only_inside(found: Induction, around: Operation) -> bool:
    """
    Whether the last value is unused if the loop does not run: the loop `around`, which directly encloses
    it, carries the value from iteration to iteration and has no other use of it.
    """
    loop, start = found.loop, found.start
    result, parent = loop.results[found.position], loop.parent_op()
    if parent is None or around is loop or not isinstance(parent, scf.ForOp):
        return False
    (use, *others) = result.uses
    if others or not isinstance(start, BlockArgument) or start.owner is not parent.body.block:
        return False
    position = start.index - 1
    carries = isinstance(use.operation, scf.YieldOp) and use.index == position
    return (
        carries
        and use.operation.parent_op() is parent
        and not parent.results[position].uses
        and all(use.operation is loop or is_inside(use.operation, loop) for use in start.uses)
    )


def compute_inductions(loop: scf.ForOp) -> None:
    """Rewrites all induction variables that `loop` carries."""
    inductions = [find_induction(loop, i) for i in range(len(loop.iter_args))]
    found = [induction for induction in inductions if induction is not None]
    for induction in found:
        rewrite(induction)
    if found:
        end = loop.body.block.last_op
        assert end is not None
        positions = {induction.position for induction in found}
        for induction in found:
            end.operands[induction.position] = induction.start
            if not induction.op.results[0].uses:
                erase(induction.op)
        drop_carried(loop, positions)


def _drop_unread(construct: Operation) -> None:
    """
    Removes the carried values that are not used, of outer loops before those inside, and of later ones before
    earlier ones, whose results are the others' first values.
    """
    work = [construct]
    while work:
        parent = work.pop()
        for op in [op for region in parent.regions for block in region.blocks for op in block.ops][
            ::-1
        ]:
            if not isinstance(op, scf.ForOp) or not op.iter_args:
                work += [op] if op.regions else []
                continue
            carried = enumerate(zip(op.body.block.args[1:], op.results, strict=True))
            unread = {k for k, (value, result) in carried if not (value.uses or result.uses)}
            work.append(drop_carried(op, unread) if unread else op)


@dataclass(frozen=True)
class ComputeInductionsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "compute-inductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for construct in [inner for inner in op.walk() if isinstance(inner, _CONSTRUCTS)]:
            _drop_unread(construct)
            loops = [loop for loop in construct.walk() if isinstance(loop, scf.ForOp)]
            for loop in reversed(loops):
                compute_inductions(loop)
