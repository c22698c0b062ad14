"""
Turn `while` loops into counted loops if the value that ends them changes in equal steps.

Takes:  acc level.
Leaves: in compute constructs, an `scf.for` in place of each `scf.while` whose condition only compares a
        carried integer or pointer, to which every iteration adds the same constant, with a value that is
        known before the loop. The `scf.for` has the same trip count. The value stays carried;
        `compute-inductions` computes it. Signed integers and pointers do not overflow (C11 6.5p5, 6.5.6p8);
        unsigned ones only count up, by 1. A loop that only counts the bits of an integer, of which each
        iteration clears the lowest one until none is left, has as many iterations as the integer has bits.
Fails:  never.

Before:
  %sum, %last = scf.while (%s = %zero, %k = %c0) : (f64, i32) -> (f64, i32) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %s, %k : f64, i32
  } do {
  ^bb0(%s2: f64, %k2: i32):
    …
    %next = arith.addi %k2, %c1 overflow<nsw> : i32
    scf.yield %s3, %next : f64, i32
  }
After:
  %sum, %last = scf.for %turn = %c0 to %n step %c1 iter_args(%s2 = %zero, %k2 = %c0) -> (f64, i32) : i32 {
    …
    %next = arith.addi %k2, %c1 overflow<nsw> : i32
    scf.yield %s3, %next : f64, i32
  }
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from xdsl.context import Context
from xdsl.dialects import arith, llvm, math, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx_element import ElementOp
from .ir.ops.acc_ops import COMPUTE_OPS
from .ir.ops.building import NSW, Cursor, constant_value, erase, never_wraps
from .ir.ops.fixed_values import computed_before, is_fixed
from .ir.ops.layout import size_of
from .ir.ops.purity import is_pure, may_trap
from .ir.values.addresses import steps_of

Relation = Literal["lt", "le", "gt", "ge", "ne"]
_SIGNED: dict[str, Relation] = {"slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge", "ne": "ne"}
_UNSIGNED: dict[str, Relation] = {"ult": "lt", "ne": "ne"}
_SWAPPED: dict[Relation, Relation] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@dataclass(frozen=True)
class CountedWhile:
    """
    A loop that continues while its carried value `position` is in `relation` to `limit`, and adds `amount`
    to it in each iteration. `element`: the type over which a pointer moves; `bits`: instead of an addition,
    each iteration clears the value's lowest bit.
    """

    loop: scf.WhileOp
    position: int
    relation: Relation
    limit: SSAValue
    amount: int
    unsigned: bool = False
    element: Attribute | None = None
    bits: bool = False

    @property
    def start(self) -> SSAValue:
        return self.loop.arguments[self.position]


def find_counted(loop: scf.WhileOp) -> CountedWhile | None:
    """The loop as a counted one, if its condition and its body have the required form; else None."""
    before = loop.before_region.block
    condition = before.last_op
    if not isinstance(condition, scf.ConditionOp) or any(
        not is_pure(op) or may_trap(op) for op in before.ops if op is not condition
    ):
        return None
    if not all(_is_argument(value, before) for value in condition.args):
        return None
    compare = condition.condition.owner
    if not isinstance(compare, arith.CmpiOp):
        return None
    predicate = _PREDICATES[compare.predicate.value.data]
    for mine, limit, swapped in (
        (compare.lhs, compare.rhs, False),
        (compare.rhs, compare.lhs, True),
    ):
        found = _counted(loop, mine, limit, predicate, swapped=swapped)
        if found is not None:
            return found
    return None


def _is_argument(value: SSAValue, block: Block) -> bool:
    return isinstance(value, BlockArgument) and value.block is block


def _counted(
    loop: scf.WhileOp, mine: SSAValue, limit: SSAValue, predicate: str, *, swapped: bool
) -> CountedWhile | None:
    """The loop, if the carried value is one side of its condition and `limit` the other."""
    value, end = mine, limit
    is_pointer = isinstance(mine.owner, llvm.PtrToIntOp)
    if isinstance(mine.owner, llvm.PtrToIntOp) and isinstance(limit.owner, llvm.PtrToIntOp):
        value, end = mine.owner.input, limit.owner.input
    elif is_pointer:
        return None
    before = loop.before_region.block
    if not _is_argument(value, before) or not is_fixed(end, loop):
        return None
    assert isinstance(value, BlockArgument)
    until_zero = predicate in ("ne", "ult" if swapped else "ugt") and constant_value(end) == 0
    if until_zero and _counts_bits(loop, value.index):
        return CountedWhile(loop, value.index, "ne", end, 1, bits=True)
    step = _step(loop, value.index)
    if step is None:
        return None
    amount, element, signed = step
    names = _SIGNED if signed and not is_pointer else _UNSIGNED
    relation = names.get(predicate)
    if relation is None:
        return None
    relation = _SWAPPED[relation] if swapped else relation
    up = relation in ("lt", "le", "ne") and amount > 0
    down = relation in ("gt", "ge", "ne") and amount < 0 and signed
    exact = (
        amount == 1 or (relation != "ne" and (signed or is_pointer)) or (signed and amount == -1)
    )
    if not (up or down) or not exact:
        return None
    return CountedWhile(
        loop, value.index, relation, end, amount, not signed and not is_pointer, element
    )


_COUNTING = (arith.ConstantOp, arith.AddiOp, arith.SubiOp, arith.AndIOp, scf.YieldOp)


def _handed_on(loop: scf.WhileOp, position: int) -> list[BlockArgument]:
    """The body's names of a carried value."""
    condition = loop.before_region.block.last_op
    assert isinstance(condition, scf.ConditionOp)
    value = loop.before_region.block.args[position]
    after = loop.after_region.block.args
    return [after[place] for place, passed in enumerate(condition.args) if passed is value]


def _counts_bits(loop: scf.WhileOp, position: int) -> bool:
    """Whether the body only adds, and hands on the carried value `v` as `v & (v - 1)`."""
    body, carried = loop.after_region.block, _handed_on(loop, position)
    assert body.last_op is not None
    cleared = body.last_op.operands[position].owner
    if not all(isinstance(op, _COUNTING) for op in body.ops):
        return False
    if not isinstance(cleared, arith.AndIOp):
        return False
    for value, less in ((cleared.lhs, cleared.rhs.owner), (cleared.rhs, cleared.lhs.owner)):
        if value not in carried or not isinstance(less, arith.AddiOp | arith.SubiOp):
            continue
        amount = constant_value(less.rhs)
        if less.lhs in carried and amount == (1 if isinstance(less, arith.SubiOp) else -1):
            return True
    return False


def _step(loop: scf.WhileOp, position: int) -> tuple[int, Attribute | None, bool] | None:
    """
    The amount that each iteration adds to a carried value, the type over which a pointer moves, and whether
    the value cannot wrap.
    """
    end = loop.after_region.block.last_op
    assert end is not None
    carried = _handed_on(loop, position)
    op = end.operands[position].owner
    match op:
        case arith.AddiOp() if op.lhs in carried or op.rhs in carried:
            amount = constant_value(op.rhs if op.lhs in carried else op.lhs)
        case arith.SubiOp() if op.lhs in carried:
            amount = constant_value(op.rhs)
            amount = None if amount is None else -amount
        case llvm.GEPOp() | ElementOp() if op.ptr in carried:
            steps = list(steps_of(op))
            if len(steps) != 1:
                return None
            index = steps[0].index
            amount = index if isinstance(index, int) else constant_value(index.value)
            return None if not amount else (amount, op.elem_type, False)
        case _:
            return None
    signed = never_wraps(op)
    return None if not amount else (amount, None, signed)


def _bounds(found: CountedWhile, at: Cursor) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The first value, end and step of a counted loop with the same trip count."""
    limit = computed_before(found.limit, found.loop)
    step = abs(found.amount)
    if found.element is not None:
        return at.i64(0), _distance(found, limit, at), at.i64(step)
    start = found.start
    assert isinstance(start.type, IntegerType)
    if found.bits:
        count = at.value(math.CtPopOp(start), "count")
        return at.constant(0, start.type), count, at.constant(1, start.type)
    if found.unsigned:
        if start.type != i64:
            start, limit = (at.value(arith.ExtUIOp(value, i64)) for value in (start, limit))
        return start, limit, at.i64(1)
    one_more = found.relation in ("le", "ge")
    if found.amount > 0:
        if one_more:
            limit = at.value(arith.AddiOp(limit, at.constant(1, limit.type), overflow=NSW))
        return start, limit, at.constant(step, start.type)
    count = at.value(arith.SubiOp(at.to_i64(start), at.to_i64(limit), overflow=NSW), "count")
    if one_more:
        count = at.value(arith.AddiOp(count, at.i64(1), overflow=NSW), "count")
    return at.i64(0), count, at.i64(step)


def _distance(found: CountedWhile, limit: SSAValue, at: Cursor) -> SSAValue:
    """The number of elements (i64) from a pointer's first value to its limit."""
    index = _index_from(limit, found)
    if index is not None:
        return at.to_i64(index)
    assert found.element is not None
    first, last = (at.value(llvm.PtrToIntOp(p, i64)) for p in (found.start, limit))
    bytes = at.value(arith.SubiOp(last, first, overflow=NSW))
    return at.value(arith.DivSIOp(bytes, at.i64(size_of(found.element))), "count")


def _index_from(limit: SSAValue, found: CountedWhile) -> SSAValue | None:
    """The subscript by which `limit` is computed from the pointer's first value; None if it is not."""
    op = limit.owner
    if not isinstance(op, llvm.GEPOp | ElementOp) or op.ptr is not found.start:
        return None
    steps = list(steps_of(op))
    if len(steps) != 1 or op.elem_type != found.element or isinstance(steps[0].index, int):
        return None
    index = steps[0].index
    return None if index.unsigned else index.value


def rewrite(found: CountedWhile) -> None:
    """Replaces the `scf.while` by the counted loop."""
    loop = found.loop
    at = Cursor.before(loop)
    lower, upper, step = _bounds(found, at)
    before, after = loop.before_region.block, loop.after_region.block
    condition = before.last_op
    assert isinstance(condition, scf.ConditionOp)
    places = [before.args.index(cast(BlockArgument, value)) for value in condition.args]
    body = Block(arg_types=[lower.type, *(argument.type for argument in before.args)])
    for argument, old in zip(body.args[1:], before.args, strict=True):
        argument.name_hint = old.name_hint
    for place, old in zip(places, after.args, strict=True):
        body.args[1 + place].name_hint = old.name_hint
        old.replace_all_uses_with(body.args[1 + place])
    for op in list(after.ops):
        op.detach()
        body.add_op(op)
    counted = at.insert(scf.ForOp(lower, upper, step, list(loop.arguments), Region(body)))
    counted.attributes |= loop.attributes
    for place, result in zip(places, loop.results, strict=True):
        counted.results[place].name_hint = result.name_hint
        last = lower if found.bits and place == found.position else counted.results[place]
        result.replace_all_uses_with(last)
    erase(loop)


@dataclass(frozen=True)
class CountWhileLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "count-while-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constructs = [inner for inner in op.walk() if isinstance(inner, COMPUTE_OPS)]
        loops: list[Operation] = [
            inner
            for construct in constructs
            for inner in construct.walk()
            if isinstance(inner, scf.WhileOp)
        ]
        for loop in reversed(loops):
            assert isinstance(loop, scf.WhileOp)
            found = find_counted(loop)
            if found is not None:
                rewrite(found)
