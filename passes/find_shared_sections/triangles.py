"""
Products that compute only a triangle of their result, turned into rectangles that store the triangle.

`for i: for j < i + 1: c[i][j] = sum of a[i][k] * b[k][j]` is a nest whose blocks are not rectangles. After
the rewriting, the inner loop runs over the columns of all rows, accesses other than those to factors are
guarded by the triangle's condition, and sums outside the triangle are discarded. These exist only in blocks
on the triangle's edge, because blocks entirely outside are skipped (`accx.wanted`). Every element of a
factor that is read is also read by some iteration of the triangle.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx import WANTED
from ..ir.loops.kept_sums import keep_in_registers
from ..ir.loops.product_triangles import (
    Triangle,
    find_triangle,
    is_fixed,
    is_own,
    shares_all,
)
from ..ir.loops.products import Terms
from ..ir.ops.building import Cursor
from ..ir.ops.notes import note
from .pieces import emit


def _zero(value: SSAValue, at: Cursor) -> SSAValue | None:
    if isinstance(value.type, IntegerType | AnyFloat):
        return at.constant(0, value.type)
    return None


def _escaping(ops: Sequence[Operation]) -> list[SSAValue]:
    """Results of `ops` that other operations use."""
    inside = {inner for op in ops for inner in op.walk()}
    return [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]


def _guard(ops: Sequence[Operation], condition: SSAValue) -> None:
    """
    Moves `ops` of a block, at the position of the last one, into an `scf.if` on the condition; otherwise
    their results are 0.
    """
    escaping = _escaping(ops)
    at = Cursor.before(ops[-1])
    then, otherwise = Block(), Block()
    outside = Cursor.at_end(otherwise, ops[0].location)
    zeros = [zero for value in escaping if (zero := _zero(value, outside)) is not None]
    outside.insert(scf.YieldOp(*zeros))
    choice = scf.IfOp(condition, [v.type for v in escaping], Region(then), Region(otherwise))
    at.insert(choice)
    for op in ops:
        op.detach()
        then.add_op(op)
    for old, new in zip(escaping, choice.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_uses_with_if(new, lambda use: use.operation.parent_block() is not then)
    Cursor.at_end(then, ops[0].location).insert(scf.YieldOp(*escaping))


def _wanted_only(ops: Sequence[Operation]) -> list[Operation]:
    """Those of `ops` that access memory other iterations may access, and those that use their results."""
    found: list[Operation] = []
    results: set[SSAValue] = set()
    stores = False  # to variables of the iteration: reads of these depend on it
    for op in ops:
        needs = any(v in results for inner in op.walk() for v in inner.operands)
        waits = stores and isinstance(op, llvm.LoadOp | llvm.StoreOp)
        if needs or waits or not is_own(op):
            found.append(op)
            results.update(op.results)
            stores = stores or isinstance(op, llvm.StoreOp) or bool(op.regions)
    return found


def _parts(terms: Terms, loop: scf.ForOp) -> list[list[Operation]]:
    """The operations of the body, before and after the loop over terms, that must be guarded."""
    ops = [op for op in terms.inner.region.block.ops if not isinstance(op, acc.YieldOp)]
    place = ops.index(loop)
    return [_wanted_only(part) for part in (ops[:place], ops[place + 1 :])]


def _can_guard(ops: Sequence[Operation]) -> bool:
    fits = all(isinstance(v.type, IntegerType | AnyFloat) for v in _escaping(ops))
    return fits and not any(isinstance(op, llvm.AllocaOp) for op in ops)


def shared_triangle(terms: Terms, construct: acc.ParallelOp) -> Triangle | None:
    """
    The triangle around `terms` if its sums, in memory that may overlap the factors, may be delayed only
    because two iterations read each element, for which it needs two rows; None for others.
    """
    if not terms.independent or is_fixed(terms):
        return None
    triangle = find_triangle(terms, construct)
    return triangle if triangle is not None and shares_all(terms, triangle) else None


def square(terms: Terms, construct: acc.ParallelOp) -> None:
    """
    Turns the triangle around `terms` into a rectangle; does nothing if it is not a triangle. A
    `shared_triangle` must have two rows.
    """
    loop = terms.loop
    triangle = find_triangle(terms, construct)
    if triangle is None or not isinstance(loop, scf.ForOp):
        return
    if terms.independent and not shares_all(terms, triangle):
        return
    if terms.sums:
        loop = keep_in_registers(loop, terms.sums)
    if not all(map(_can_guard, _parts(terms, loop))):
        return
    outer, inner = terms.outer, terms.inner
    column = inner.region.block.args[0]
    first = inner.region.block.first_op
    assert first is not None
    at = Cursor.before(first, inner.location)
    bound = inner.upperbound[0] if triangle.below else inner.lowerbound[0]
    inside = at.value(arith.CmpiOp(column, bound, "slt" if triangle.below else "sge"), "wanted")
    inner.attributes[WANTED] = StringAttr("below" if triangle.below else "above")
    for part in _parts(terms, loop):
        if part:
            _guard(part, inside)
    before = Cursor.before(construct)
    for each, (low, high) in ((outer, triangle.outer), (inner, triangle.inner)):
        type_ = each.region.block.args[0].type
        assert isinstance(type_, IntegerType)
        for position, poly in enumerate((low, high)):
            known = poly.as_constant
            new = emit(before, poly, {})
            each.operands[position] = (
                before.to_integer(new, type_) if known is None else before.constant(known, type_)
            )
    why = "a triangle of a product: computed in blocks, those on its edge as a whole"
    note(construct, [(inner, why)])
