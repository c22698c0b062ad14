"""
Loops that search the greatest or least of some values, and keep what belongs to it: where it is, for example.
Such a loop becomes one that computes the greatest value, one that finds the first (or last) iteration with
that value, and that one iteration of the original loop. The first two only combine values, so that threads
can share them, and the result is that of the original loop to the bit.

Before:
  for (i = low; i < n; i++)
      if (a[i] > most) { most = a[i]; place = i; }
After:
  found = -infinity;
  for (i = low; i < n; i++)
      found = a[i] > found ? a[i] : found;
  first = n - 1;
  for (i = low; i < n; i++)
      first = (a[i] == found ? i : n - 1) < first ? … : first;
  for (i = max(first, low); i < min(first + 1, n); i++)
      if (a[i] > most) { most = a[i]; place = i; }

On GPUs, one loop computes value and place together where they are of 32 bits each: the greatest integer of 64
bits whose upper half orders values, and whose lower half is greater for nearer places.

The bounds of the last loop, which has one iteration or none, say which elements it may read. The comparison
in it leaves the variables alone where no value is greater than the first one. A NaN
is not greater than another number, as in C; if all values are NaNs, the last part does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, f32, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.accx import UNROLL
from ...dialects.volatility import is_ordered
from ..ir.ops.acc_ops import callee_of
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.predicates import EQ, OEQ, OGE, OGT, OLE, OLT, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT
from ..ir.ops.purity import only_computes
from ..ir.ops.same_values import same_value
from ..ir.values.accesses import address_escapes, is_scalar_variable
from ..ir.variables.combiners import ScalarOperator

_ORDERS = {
    arith.CmpfOp: {OGT: (True, True), OGE: (True, False), OLT: (False, True), OLE: (False, False)},
    arith.CmpiOp: {
        SGT: (True, True),
        SGE: (True, False),
        SLT: (False, True),
        SLE: (False, False),
        UGT: (True, True),
        UGE: (True, False),
        ULT: (False, True),
        ULE: (False, False),
    },
}
"""Comparison → predicate → whether the left side is to be greater, and not equal."""
_UNSIGNED = (UGT, UGE, ULT, ULE)
_ROUNDS = (arith.AddfOp, arith.SubfOp, arith.MulfOp)
_EXACT = (
    *(arith.NegfOp, arith.ExtFOp, arith.SIToFPOp, arith.UIToFPOp, arith.ConstantOp),
    *(arith.CmpfOp, arith.SelectOp, llvm.LoadOp, scf.IfOp, scf.YieldOp),
)
_ABSOLUTE = ("fabs", "fabsf")


@dataclass(frozen=True)
class ExtremeSearch:
    """
    `loop` keeps what belongs to its greatest `value` (`greatest`; else the least), of equal ones to the first
    (`first`; else the last). `unsigned`: how integers are compared.
    """

    loop: scf.ForOp
    value: SSAValue
    greatest: bool
    first: bool
    unsigned: bool


def find_search(loop: scf.ForOp) -> ExtremeSearch | None:
    """
    The search that is all that `loop` does, in steps of 1; else None, also if it only keeps the
    greatest value, which is a reduction.
    """
    if constant_value(loop.step) != 1:
        return None
    branches = [op for op in loop.body.block.ops if isinstance(op, scf.IfOp) and _keeps(op)]
    if len(branches) != 1:
        return None
    branch = branches[0]
    others = [op for op in loop.body.block.ops if op is not branch]
    if not all(_only_reads(op) for op in others):
        return None
    kept = _kept_values(loop, branch) if loop.iter_args else _kept_variables(loop, branch)
    comparison = branch.cond.owner
    if len(kept) < 2 or not isinstance(comparison, arith.CmpfOp | arith.CmpiOp):
        return None
    order = _ORDERS[type(comparison)].get(comparison.predicate.value.data)
    if order is None:
        return None
    greatest, first = order
    for value, old in ((comparison.lhs, comparison.rhs), (comparison.rhs, comparison.lhs)):
        new = kept.get(_name(old))
        if new is not None and _is_same(new, value):
            unsigned = comparison.predicate.value.data in _UNSIGNED
            found = ExtremeSearch(
                loop, value, greatest is (value is comparison.lhs), first, unsigned
            )
            operator = _operator(found)
            return found if operator.exists and _is_exact(found) else None
    return None


def _is_same(new: SSAValue, value: SSAValue) -> bool:
    """Whether two values of an iteration are one; the loop stores to nothing that their loads read."""
    one, other = new.owner, value.owner
    if isinstance(one, llvm.LoadOp) and isinstance(other, llvm.LoadOp):
        return same_value(one.ptr, other.ptr)
    return same_value(new, value)


def _keeps(branch: scf.IfOp) -> bool:
    """Whether a conditional has the form of one that keeps values: it stores some, or has several results."""
    stores = any(isinstance(op, llvm.StoreOp) for op in branch.walk())
    parent = branch.parent_op()
    assert isinstance(parent, scf.ForOp)
    end = parent.body.block.last_op
    assert end is not None
    return stores or any(value.owner is branch for value in end.operands)


def _only_reads(op: Operation) -> bool:
    if isinstance(op, scf.IfOp):
        return all(_only_reads(inner) for r in op.regions for b in r.blocks for inner in b.ops)
    if isinstance(op, llvm.LoadOp):
        return not is_ordered(op)
    return op.has_trait(IsTerminator) or only_computes(op)


def _name(old: SSAValue) -> SSAValue:
    """The variable that `old` is loaded from; `old` itself if it is a value that the loop carries."""
    return old.owner.ptr if isinstance(old.owner, llvm.LoadOp) else old


def _blocks(branch: scf.IfOp) -> tuple[Block, Block | None]:
    otherwise = branch.false_region.blocks
    return branch.true_region.block, otherwise[0] if otherwise else None


def _kept_values(loop: scf.ForOp, branch: scf.IfOp) -> dict[SSAValue, SSAValue]:
    """
    The values that `loop` carries, and those by which the first side of `branch` replaces them; empty if the
    branch is more than that, or uses the carried values in another way than by its condition.
    """
    then, otherwise = _blocks(branch)
    end = loop.body.block.last_op
    assert end is not None
    if otherwise is None or not all(_only_reads(op) for op in (*then.ops, *otherwise.ops)):
        return {}
    carried = loop.body.block.args[1:]
    if tuple(end.operands) != tuple(branch.results) or len(branch.results) != len(carried):
        return {}
    new, same = then.last_op, otherwise.last_op
    assert new is not None and same is not None
    if tuple(same.operands) != tuple(carried):
        return {}
    users = {use.operation for value in carried for use in value.uses} - {same, branch.cond.owner}
    return {} if users else dict(zip(carried, new.operands, strict=True))


def _kept_variables(loop: scf.ForOp, branch: scf.IfOp) -> dict[SSAValue, SSAValue]:
    """
    The variables to which the first side of `branch` stores, and the values; empty if the branch is more than
    that, or if the loop reads the variables for anything but the condition.
    """
    then, otherwise = _blocks(branch)
    if branch.results or (otherwise is not None and len(list(otherwise.ops)) > 1):
        return {}
    stores = [op for op in then.ops if isinstance(op, llvm.StoreOp)]
    if not all(isinstance(op, llvm.StoreOp) or _only_reads(op) for op in then.ops):
        return {}
    kept: dict[SSAValue, SSAValue] = {op.ptr: op.value for op in stores}
    if len(kept) != len(stores) or any(is_ordered(op) for op in stores):
        return {}
    for variable in kept:
        if not is_scalar_variable(variable) or address_escapes(variable):
            return {}
        inside = [use.operation for use in variable.uses if loop.is_ancestor(use.operation)]
        loads = [op for op in inside if isinstance(op, llvm.LoadOp)]
        others = {use.operation for op in loads for use in op.dereferenced_value.uses}
        if len(inside) != len(loads) + 1 or others - {branch.cond.owner}:
            return {}
    return kept


def _slice(search: ExtremeSearch) -> list[Operation]:
    """The operations of the body that compute the value, in order."""
    wanted: set[SSAValue] = {search.value}
    found: list[Operation] = []
    for op in reversed(list(search.loop.body.block.ops)):
        if any(result in wanted for result in op.results):
            found.append(op)
            for inner in op.walk():
                wanted.update(inner.operands)
    return found[::-1]


def _is_exact(search: ExtremeSearch) -> bool:
    """
    Whether the value is the same each time that it is computed, however its operations are combined: at most
    one of them rounds; and whether it is independent of what is kept.
    """
    rounds = 0
    for op in (inner for outer in _slice(search) for inner in outer.walk()):
        if any(value in search.loop.body.block.args[1:] for value in op.operands):
            return False
        if isinstance(op, _EXACT) or callee_of(op) in _ABSOLUTE:
            continue
        if any(isinstance(result.type, AnyFloat) for result in op.results):
            rounds += 1
            if not isinstance(op, _ROUNDS):
                return False
    return rounds <= 1


def _operator(search: ExtremeSearch) -> ScalarOperator:
    kind = acc.ReductionOpKind.MAX if search.greatest else acc.ReductionOpKind.MIN
    return ScalarOperator(kind, search.value.type, search.unsigned)


def _combining(
    search: ExtremeSearch, at: Cursor, initial: SSAValue, hint: str
) -> tuple[Cursor, Block]:
    """A loop over the iterations of the search that carries a value; a cursor in its body, and that."""
    loop = search.loop
    block = Block(arg_types=[loop.lb.type, initial.type])
    block.args[0].name_hint = loop.body.block.args[0].name_hint
    at.insert(scf.ForOp(loop.lb, loop.ub, loop.step, [initial], Region(block)), hint)
    return at.inside(block), block


def _value_in(search: ExtremeSearch, body: Cursor, variable: SSAValue) -> SSAValue:
    """The value of the search in the iteration `variable`, computed at `body`."""
    known: dict[SSAValue, SSAValue] = {search.loop.body.block.args[0]: variable}
    body.inline(_slice(search), known)
    return known.get(search.value, search.value)


def _better(
    search: ExtremeSearch, at: Cursor, new: SSAValue, old: SSAValue, *, greatest: bool
) -> SSAValue:
    """Whether `new` is greater (or less) than `old`."""
    if isinstance(new.type, IntegerType):
        unsigned = (UGT if greatest else ULT) if search.unsigned else (SGT if greatest else SLT)
        return at.value(arith.CmpiOp(new, old, unsigned))
    return at.value(arith.CmpfOp(new, old, OGT if greatest else OLT))


def split_search(search: ExtremeSearch, *, in_one: bool) -> list[scf.ForOp]:
    """
    Replaces a search's loop as the module's description shows; returns the loops that combine. `in_one`: one
    loop where that is possible.
    """
    at = Cursor.before(search.loop)
    if in_one and _has_keys(search):
        loops, place = _find_key(search, at)
    else:
        loops, place = _find_value(search, at)
    _finish(search, at, place)
    return loops


def _find_value(search: ExtremeSearch, at: Cursor) -> tuple[list[scf.ForOp], SSAValue]:
    """Emits the loops for the value and for its place; returns these, and the place."""
    body, block = _combining(search, at, _operator(search).neutral(at), "found")
    value = _value_in(search, body, block.args[0])
    better = _better(search, body, value, block.args[1], greatest=search.greatest)
    body.insert(scf.YieldOp(body.value(arith.SelectOp(better, value, block.args[1]))))
    extreme = block.parent_op()
    assert isinstance(extreme, scf.ForOp)

    last = _last(search, at)
    body, block = _combining(search, at, last, "first" if search.first else "last")
    value = _value_in(search, body, block.args[0])
    equal = (
        arith.CmpiOp(value, extreme.results[0], EQ)
        if isinstance(value.type, IntegerType)
        else arith.CmpfOp(value, extreme.results[0], OEQ)
    )
    place = body.value(arith.SelectOp(body.value(equal), block.args[0], last))
    nearer = arith.CmpiOp(place, block.args[1], SLT if search.first else SGT)
    body.insert(scf.YieldOp(body.value(arith.SelectOp(body.value(nearer), place, block.args[1]))))
    nearest = block.parent_op()
    assert isinstance(nearest, scf.ForOp)
    return [extreme, nearest], nearest.results[0]


def _last(search: ExtremeSearch, at: Cursor) -> SSAValue:
    """The iteration that is searched last."""
    loop = search.loop
    return at.sub(loop.ub, at.constant(1, loop.ub.type)) if search.first else loop.lb


# Value and place in one number.


_NONE = -(1 << 63)
"""The key of no value."""
_SIGN = -(1 << 31)


def _has_keys(search: ExtremeSearch) -> bool:
    """Whether the value and the number of an iteration have 32 bits each."""
    loop = search.loop
    of_32 = loop.lb.type == i32 or all(map(_is_of_32_bits, (loop.lb, loop.ub)))
    return of_32 and search.value.type in (i32, f32)


def _is_of_32_bits(bound: SSAValue) -> bool:
    if isinstance(bound.owner, arith.ExtSIOp | arith.ExtUIOp):
        return bound.owner.input.type == i32
    constant = constant_value(bound)
    return constant is not None and _SIGN <= constant < -_SIGN


def _find_key(search: ExtremeSearch, at: Cursor) -> tuple[list[scf.ForOp], SSAValue]:
    """Emits the loop for the greatest key; returns it, and the place that the key contains."""
    loop = search.loop
    body, block = _combining(search, at, at.i64(_NONE), "found")
    value = _value_in(search, body, block.args[0])
    number = body.to_integer(body.sub(block.args[0], loop.lb), i32)
    key = _key(search, body, value, number)
    better = body.value(arith.CmpiOp(key, block.args[1], SGT))
    body.insert(scf.YieldOp(body.value(arith.SelectOp(better, key, block.args[1]))))
    extreme = block.parent_op()
    assert isinstance(extreme, scf.ForOp)
    found = extreme.results[0]
    number = at.to_integer(found, i32)
    if search.first:
        number = at.value(arith.XOrIOp(number, at.i32(-1)))
    assert isinstance(loop.lb.type, IntegerType)
    distance = number if loop.lb.type == i32 else at.value(arith.ExtUIOp(number, loop.lb.type))
    none = at.value(arith.CmpiOp(found, at.i64(_NONE), EQ))
    place = arith.SelectOp(none, _last(search, at), at.value(arith.AddiOp(loop.lb, distance)))
    return [extreme], at.value(place, "first" if search.first else "last")


def _key(search: ExtremeSearch, at: Cursor, value: SSAValue, number: SSAValue) -> SSAValue:
    """
    A number (i64) that is the greater, the better `value` is, and of equal values, the nearer the iteration
    `number` (i32) is. Zeros of both signs are equal; a NaN is no value.
    """
    if value.type == f32:
        zero = at.value(arith.ConstantOp(FloatAttr(0.0, f32)))
        bits = at.value(arith.BitcastOp(at.value(arith.AddfOp(value, zero)), i32))
        flipped = at.value(arith.AndIOp(at.value(arith.ShRSIOp(bits, at.i32(31))), at.i32(~_SIGN)))
        order = at.value(arith.XOrIOp(bits, flipped))
    else:
        order = at.value(arith.XOrIOp(value, at.i32(_SIGN))) if search.unsigned else value
    if not search.greatest:
        order = at.value(arith.XOrIOp(order, at.i32(-1)))
    if search.first:
        number = at.value(arith.XOrIOp(number, at.i32(-1)))
    high = at.value(arith.ShLIOp(at.value(arith.ExtSIOp(order, i64)), at.i64(32)))
    key = at.value(arith.OrIOp(high, at.value(arith.ExtUIOp(number, i64))))
    if value.type != f32:
        return key
    is_number = at.value(arith.CmpfOp(value, value, OEQ))
    return at.value(arith.SelectOp(is_number, key, at.i64(_NONE)))


def _finish(search: ExtremeSearch, at: Cursor, place: SSAValue) -> None:
    """Emits the search's iteration `place` instead of its loop."""
    loop = search.loop
    lower = at.value(arith.MaxSIOp(place, loop.lb))
    behind = at.add(place, at.constant(1, loop.ub.type))
    upper = at.value(arith.MinSIOp(behind, loop.ub))
    once = scf.ForOp(lower, upper, loop.step, loop.iter_args, loop.detach_region(loop.body))
    once.attributes[UNROLL] = IntegerAttr(1, i32)
    at.insert(once)
    for old, new in zip(loop.results, once.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    loop.detach()
    loop.erase()
