"""
Add `acc.cache` for the array sections that the iterations of a product share.

Takes:  data level, before the schedule. Considers two free parallel loops of one variable, one directly in
        the other, around a sequential loop with the same bounds in all iterations, whose body is
        straight-line code that loads elements which move with one of the parallel loops and the loop over
        terms only.
Leaves: if `decisions/shared_sections.py` finds that it pays, a sequential loop over pieces of 16 terms with
        an `acc.cache` for each such load, around a loop over the terms of a piece; then the original loop
        for the remaining terms. If only the host knows whether there are any, the construct has a version for
        each case; for doubles the first is also the version for full blocks, and in the other one sections
        are marked `accx.edges`. Lengths in structures are loaded before the nest, bounds are computed before
        the construct if the host can do so, and sums that the loop kept in memory are in registers. If that
        is correct only because the parallel loops' iterations are independent (plain pointers, which might
        overlap), there is a version for loops of several iterations, or triangles of several rows, and the
        original for others. An inner loop bounded by the outer one's variable runs over all columns
        (`triangles.py`); a condition on the parallel loops' variables around the loop over terms becomes one
        for blocks (`guards.py`). The parallel loops
        are swapped if the outer one moves along the elements written. `promote-cache-to-shared` then makes
        the tiles. `accx.remarks` of the construct describes the result.
Fails:  never.

Before:
  %sum = scf.for %k = %lb to %ub step %c1 iter_args(%s = %zero) -> (f32) {
    … llvm.load %a[%i * n + %k] … llvm.load %b[%k * n + %j] …
  }
After:
  %part = scf.for %piece = %lb to %whole step %c16 iter_args(%p = %zero) -> (f32) {
    %a_view = acc.cache varPtr(%a) bounds(%i : 1, %piece : 16)
    %b_view = acc.cache varPtr(%b) bounds(%piece : 16, %j : 1)
    scf.for %k = %piece to %piece + 16 step %c1 iter_args(%s = %p) -> (f32) { … %a_view … %b_view … }
  }
  %sum = scf.for %k = %whole to %ub step %c1 iter_args(%s = %part) -> (f32) { … }

Options: `target` (`host`: no change). `enabled`: false turns the pass off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.accx import EDGES, RESTRICT
from ..decisions.shared_sections import PIECE
from ..ir.loops.kept_sums import keep_in_registers
from ..ir.loops.product_triangles import is_fixed
from ..ir.loops.products import Terms, find_terms, free_constructs
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import NSW, Cursor, constant_trips, constant_value
from ..ir.ops.gpu_pass import GpuPass
from ..ir.ops.layout import size_of
from ..ir.ops.loop_bounds import bounds_of
from ..ir.ops.notes import note
from ..ir.ops.versions import (
    copy_construct,
    move_construct,
    ready_for_versions,
)
from ..ir.values.values_outside import ValuesOutside
from .guards import free_guarded
from .loop_order import should_swap, swap
from .member_loads import hoist_members
from .pieces import emit, in_pieces
from .triangles import shared_triangle, square

FULL_SIDE = 64
"""A multiple of the sides of all blocks that multiply doubles (`decisions/cache_shapes.py`)."""


def _terms_in(construct: acc.ParallelOp, *, triangles: bool = False) -> list[Terms]:
    loops = [inner for inner in construct.walk() if isinstance(inner, scf.ForOp)]
    found = (find_terms(loop, triangles=triangles) for loop in loops)
    return [terms for terms in found if terms is not None]


def _cut(construct: acc.ParallelOp, *, whole: bool, edges: bool = False) -> None:
    """
    Splits the products of a construct into pieces; `whole`: no product has remaining terms; `edges`: some
    blocks are not full.
    """
    for terms in _terms_in(construct):
        assert isinstance(terms.loop, scf.ForOp)
        names = dict.fromkeys(factor.name for factor in terms.factors)
        rest = "" if whole else f", terms beyond multiples of {PIECE} separately"
        text = f"iterations share their reads of {', '.join(names)}: cached in pieces{rest}"
        note(construct, [(terms.loop, text)])
        loop = keep_in_registers(terms.loop, terms.sums) if terms.sums else terms.loop
        marks = [RESTRICT] if terms.independent else []
        in_pieces(loop, terms.factors, [*marks, EDGES] if edges else marks, whole=whole)


def _hoist_bounds(terms: Terms, outside: ValuesOutside) -> None:
    """Computes the bounds of a loop over terms before the construct."""
    for position, bound in enumerate(bounds_of(terms.loop)[0][1:3]):
        if constant_value(bound) is None and is_defined_inside(bound, terms.outer):
            terms.loop.operands[position] = outside.value(bound) or bound


def _open_sides(found: Sequence[Terms], construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """
    The parallel loops around products of doubles that may be said to fill blocks: their number of iterations
    is known only to the host. (Products of floats fetch edges through registers, at no cost for the others.)
    """
    if any(size_of(factor.element) <= 4 for terms in found for factor in terms.factors):
        return []
    loops = dict.fromkeys(loop for terms in found for loop in (terms.outer, terms.inner))
    return [
        loop
        for loop in loops
        if constant_value(loop.lowerbound[0]) == 0
        and constant_value(loop.upperbound[0]) is None
        and not is_defined_inside(loop.upperbound[0], construct)
    ]


def _has_edges(found: Sequence[Terms]) -> bool:
    """Whether loops around products of doubles have constant bounds that do not fill blocks."""
    wide = all(size_of(factor.element) > 4 for terms in found for factor in terms.factors)
    loops = (loop for terms in found for loop in (terms.outer, terms.inner))
    sides = (constant_trips(*bounds_of(loop)[0][1:]) for loop in loops)
    return wide and any(side is not None and side % FULL_SIDE for side in sides)


def _fill(construct: acc.ParallelOp) -> None:
    """Writes the ends of such loops as multiples of a block's sides."""
    at = Cursor.before(construct)
    for loop in _open_sides(_terms_in(construct), construct):
        end = loop.upperbound[0]
        side = at.constant(FULL_SIDE, end.type)
        sides = at.value(arith.DivSIOp(end, side))
        loop.operands[1] = at.value(arith.MuliOp(sides, side, overflow=NSW), "filled")


def _has_whole_pieces(
    construct: acc.ParallelOp, found: Sequence[Terms], sides: Sequence[acc.LoopOp]
) -> SSAValue | bool:
    """
    Whether the sums' lengths are multiples of a piece, and those of the loops `sides` of a block's sides: a
    constant, or an i1 before the construct.
    """
    at = Cursor.before(construct)
    total: SSAValue | None = None
    for loop in sides:
        rest = at.value(arith.AndIOp(at.to_i64(loop.upperbound[0]), at.i64(FULL_SIDE - 1)))
        total = at.any_bits(total, rest)
    for terms in found:
        _, lower, upper, step = bounds_of(terms.loop)[0]
        turns = constant_trips(lower, upper, step)
        if turns is not None and turns % PIECE == 0:
            continue
        if turns is not None or any(
            is_defined_inside(v, construct) and constant_value(v) is None for v in (lower, upper)
        ):
            return False
        first, end = at.to_i64(_outside(at, lower)), at.to_i64(_outside(at, upper))
        rest = at.value(arith.AndIOp(at.sub(end, first), at.i64(PIECE - 1)))
        total = at.any_bits(total, rest)
    if total is None:
        return True
    return at.value(arith.CmpiOp(total, at.i64(0), "eq"), "whole_pieces")


def _has_several(construct: acc.ParallelOp, found: Sequence[Terms]) -> SSAValue | bool:
    """Whether all parallel loops have several iterations: a constant, or an i1 before the construct."""
    at = Cursor.before(construct)
    total: SSAValue | None = None
    for loop in dict.fromkeys(loop for terms in found for loop in (terms.outer, terms.inner)):
        _, lower, upper, step = bounds_of(loop)[0]
        turns = constant_trips(lower, upper, step)
        if turns is not None and turns > 1:
            continue
        if any(
            is_defined_inside(v, construct) and constant_value(v) is None for v in (lower, upper)
        ):
            return False
        first, end = at.to_i64(_outside(at, lower)), at.to_i64(_outside(at, upper))
        several = at.value(arith.CmpiOp(at.sub(end, first), at.i64(1), "sgt"))
        total = at.both(total, several, "several")
    return True if total is None else total


def _with_rows(construct: acc.ParallelOp) -> tuple[acc.ParallelOp, bool]:
    """
    The version of a construct in which each `shared_triangle` has two rows, and whether all certainly have:
    the construct itself if no test is needed, or none is possible.
    """
    all_ = (shared_triangle(t, construct) for t in _terms_in(construct, triangles=True))
    rows = [triangle.rows for triangle in all_ if triangle is not None]
    tested = [poly for poly in rows if poly.as_constant is None]
    if any(known is not None and known < 2 for known in (poly.as_constant for poly in rows)):
        return construct, False
    if not tested or not ready_for_versions(construct):
        return construct, not tested
    at = Cursor.before(construct)
    several: SSAValue | None = None
    for poly in tested:
        enough = at.value(arith.CmpiOp(emit(at, poly, {}), at.i64(1), "sgt"), "several")
        several = at.both(several, enough, "several")
    assert several is not None
    then, otherwise = at.if_else(several)
    copy = copy_construct(construct, then)
    move_construct(construct, otherwise)
    return copy, True


def _outside(at: Cursor, value: SSAValue) -> SSAValue:
    """`value`, which is defined before the construct, or a constant, which is made again there."""
    known = constant_value(value)
    return value if known is None else at.constant(known, value.type)


def name_sections(construct: acc.ParallelOp) -> None:
    """
    Adds the sections of the products in a construct: in two versions if only the host knows whether the
    lengths of their sums are multiples of a piece. If sums are kept in arrays that are known not to overlap
    the others only when the loops have several iterations, there is a version for that case.
    """
    hoist_members(construct)
    construct = free_guarded(construct)
    outside = ValuesOutside(construct)
    for terms in _terms_in(construct, triangles=True):
        _hoist_bounds(terms, outside)
    construct, several = _with_rows(construct)
    for terms in _terms_in(construct, triangles=True):
        if not is_fixed(terms) and (several or not terms.independent):
            square(terms, construct)
    found = _terms_in(construct)
    if not found:
        return
    if any(terms.independent for terms in found):
        may_choose = ready_for_versions(construct)
        several = _has_several(construct, found)
        if several is False or (several is not True and not may_choose):
            return
        if several is not True:
            then, otherwise = Cursor.before(construct).if_else(several)
            copy = copy_construct(construct, then)
            move_construct(construct, otherwise)
            construct, found = copy, _terms_in(copy)
    for outer, inner in {terms.inner: (terms.outer, terms.inner) for terms in found}.values():
        if should_swap(outer, inner):
            swap(outer, inner)
            why = "loops swapped: the outer one writes neighbouring elements"
            note(construct, [(outer, why)])
    may_choose = ready_for_versions(construct)
    sides = _open_sides(found, construct)
    whole = _has_whole_pieces(construct, found, sides) if may_choose else False
    if isinstance(whole, bool):
        _cut(construct, whole=whole, edges=_has_edges(found))
        return
    then, otherwise = Cursor.before(construct).if_else(whole)
    copy = copy_construct(construct, then)
    _fill(copy)
    _cut(copy, whole=True)
    move_construct(construct, otherwise)
    _cut(construct, whole=False, edges=bool(sides))


@dataclass(frozen=True)
class FindSharedSectionsPass(GpuPass):
    """See the module's description."""

    name = "find-shared-sections"

    enabled: bool = True

    def rewrite(self, module: ModuleOp) -> None:
        if not self.enabled:
            return
        for construct in free_constructs(module):
            name_sections(construct)
