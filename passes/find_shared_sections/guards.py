"""
Loops over the terms of products under conditions, moved out of them.

`if (j <= i) for k: …` computes only some of a product's sums. After the rewriting, the loop is under
`accx.holds_in_block` of the condition: a block of iterations that shares tiles runs it if the condition holds
for one of them. The condition stays around everything else: what is before the loop and accesses memory, and
what uses its sums. Where no block shares tiles, `accx.holds_in_block` is the condition itself.

Before:
  %v = scf.if %inside -> (f32) {
    %sum = scf.for %k = … iter_args(%s = %zero) -> (f32) { … }
    … scf.yield %scaled : f32
  } else { scf.yield %masked : f32 }
After:
  %near = accx.holds_in_block %inside
  %sum = scf.if %near -> (f32) {
    scf.for %k = … iter_args(%s = %zero) -> (f32) { … }
  } else { scf.yield %zero : f32 }
  %v = scf.if %inside -> (f32) { … scf.yield %scaled : f32 } else { scf.yield %masked : f32 }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.accx_cache import HoldsInBlockOp
from ..decisions.polynomials import Polynomial
from ..ir.loops.kept_sums import keep_in_registers
from ..ir.loops.product_guards import holds_inside
from ..ir.loops.product_triangles import tests_without_guards
from ..ir.loops.products import Terms, find_terms
from ..ir.ops.building import Cursor
from ..ir.ops.notes import note
from ..ir.ops.purity import is_pure, may_trap
from ..ir.ops.versions import copy_construct, move_construct, ready_for_versions
from .pieces import emit


def _under_condition(ops: Sequence[Operation]) -> list[Operation]:
    """Those of `ops` that must stay under their condition, and those that use their results."""
    found: list[Operation] = []
    results = set[SSAValue]()
    for op in ops:
        free = isinstance(op, llvm.AllocaOp) or (
            is_pure(op) and not op.regions and not may_trap(op)
        )
        if not free or any(v in results for inner in op.walk() for v in inner.operands):
            found.append(op)
            results.update(op.results)
    return found


def _before(op: Operation) -> list[Operation]:
    """The operations before `op` in its block."""
    block = op.parent_block()
    assert block is not None
    ops = list(block.ops)
    return ops[: ops.index(op)]


def _kept(ops: Sequence[Operation]) -> list[SSAValue] | None:
    """Results of `ops` that others use; None if one is not a number."""
    inside = {inner for op in ops for inner in op.walk()}
    found: list[SSAValue] = [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]
    scalars = all(isinstance(value.type, IntegerType | AnyFloat) for value in found)
    return found if scalars else None


def _can_leave(loop: Operation, guards: Sequence[scf.IfOp]) -> bool:
    """Whether what is before a loop over terms, under its conditions, can be separated from it."""
    place = loop
    for guard in guards:
        ops = _under_condition(_before(place))
        if _kept(ops) is None or any(isinstance(op, llvm.AllocaOp) for op in ops):
            return False
        place = guard
    return True


def _branches(guard: scf.IfOp, ops: Sequence[Operation], at: Cursor, *, holds: bool) -> None:
    """
    Moves `ops` into an `scf.if` of their own, on the condition of `guard`, at `at`; otherwise their results
    are 0.
    """
    kept = _kept(ops)
    assert kept is not None
    inside, outside = Block(), Block()
    for op in ops:
        op.detach()
        inside.add_op(op)
    at.inside(inside).insert(scf.YieldOp(*kept))
    zeros = at.inside(outside)
    zeros.insert(scf.YieldOp(*(zeros.zero(value.type) for value in kept)))
    then, otherwise = (inside, outside) if holds else (outside, inside)
    types = [value.type for value in kept]
    choice = at.insert(scf.IfOp(guard.cond, types, Region(then), Region(otherwise)))
    for old, new in zip(kept, choice.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_uses_with_if(new, lambda use: use.operation.parent_block() is not inside)


def _leave(unit: Operation, guard: scf.IfOp) -> Cursor:
    """Moves what is before `unit`, inside `guard`, before it; returns a cursor after that."""
    ops, holds = _before(unit), holds_inside(guard, unit)
    rest = _under_condition(ops)
    at = Cursor.before(guard)
    for op in ops:
        if op not in rest:
            at.move(op)
    if rest:
        _branches(guard, rest, at, holds=holds)
    return at


def _condition(guard: scf.IfOp, at: Cursor, *, holds: bool) -> SSAValue:
    if holds:
        return guard.cond
    return at.value(arith.XOrIOp(guard.cond, at.constant(1, i1)), "otherwise")


def _free(terms: Terms) -> None:
    """Moves the loop over terms out of its conditions."""
    loop = terms.loop
    assert isinstance(loop, scf.ForOp)
    if terms.sums:
        loop = keep_in_registers(loop, terms.sums)
    first, *others = terms.guards
    holds = holds_inside(first, loop)
    at = _leave(loop, first)
    near = at.insert(HoldsInBlockOp(_condition(first, at, holds=holds)))
    near.result.name_hint = "near"
    inside, outside = Block(), Block()
    choice = scf.IfOp(near.result, [v.type for v in loop.results], Region(inside), Region(outside))
    for old, new in zip(loop.results, choice.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    at.inside(outside).insert(scf.YieldOp(*loop.iter_args))
    loop.detach()
    inside.add_op(loop)
    at.inside(inside).insert(scf.YieldOp(*loop.results))
    at.insert(choice)
    for guard in others:
        holds = holds_inside(guard, choice)
        at = _leave(choice, guard)
        total = at.both(_condition(guard, at, holds=holds), near.condition)
        near.operands[0] = total
        at.move(near)
        at.move(choice)


def _guarded(construct: acc.ParallelOp) -> list[tuple[Terms, list[Polynomial]]]:
    """The products under conditions that may be computed without them, and the tests that this needs."""
    found: list[tuple[Terms, list[Polynomial]]] = []
    for loop in [op for op in construct.walk() if isinstance(op, scf.ForOp)]:
        if not isinstance(loop.parent_op(), scf.IfOp):
            continue
        terms = find_terms(loop, guarded=True)
        if terms is None or not terms.guards or not (terms.sums or loop.results):
            continue
        tests = tests_without_guards(terms, construct)
        if tests is not None and _can_leave(loop, terms.guards):
            found.append((terms, tests))
    return found


def free_guarded(construct: acc.ParallelOp) -> acc.ParallelOp:
    """
    Moves the loops over terms of products out of conditions; returns the construct, or its version in which
    that is so, if only the host knows whether all that they read is read in any case.
    """
    found = _guarded(construct)
    tests = list(dict.fromkeys(poly for _, each in found for poly in each))
    if tests:
        if not ready_for_versions(construct):
            return construct
        at = Cursor.before(construct)
        total: SSAValue | None = None
        for poly in tests:
            holds = at.value(arith.CmpiOp(emit(at, poly, {}), at.i64(0), "sge"), "all_read")
            total = at.both(total, holds, "all_read")
        assert total is not None
        then, otherwise = at.if_else(total)
        copy = copy_construct(construct, then)
        move_construct(construct, otherwise)
        construct, found = copy, _guarded(copy)
    for terms, _ in found:
        why = (
            "a product under a condition: blocks in which it holds somewhere compute all their sums"
        )
        note(construct, [(terms.loop, why)])
        _free(terms)
    return construct
