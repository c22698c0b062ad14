"""
Loops of a triangle over an iteration's own array, around which a longer loop stays: those over the nodes of a
tree of prices, of which each step has one less. They run over all subscripts that they may have, those that
they do not have in a step under a condition, so that the array is in registers.

Before:
  scf.for %t = %c0 to %c256 step %c1 { scf.for %j = %c0 to %c256 - %t step %c1 { body } }
After:
  scf.for %t = %c0 to %c256 step %c1 {
    %end = %c256 - %t
    scf.for %first = %c0 to %c256 step %c16 {
      scf.if %first < %end {
        scf.for %number = %c0 to %c16 step %c1 { %j = %first + %number, scf.if %j < %end { body } }
  } } }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from ..decisions.unrolling import part_of
from ..ir.ops.building import NSW, Cursor, constant_value, erase
from ..ir.values.constant_ranges import interval_of
from ..ir.values.value_polynomials import from_value

Values = Sequence[SSAValue]
Emit = Callable[[Cursor, SSAValue, Values], Values]
"""Emits an iteration for its number, and the values that it carries; returns those for the next."""

MOST = 1 << 30
"""Smaller numbers do not wrap around when they are converted to the type of a counter."""


@dataclass(frozen=True)
class BoundedLoop:
    """A loop that begins at a constant, and the values that its variable may have."""

    loop: scf.ForOp
    values: range


def bounded_loop(loop: scf.ForOp) -> BoundedLoop | None:
    """The loop if its end is not a constant, but in a known range; else None."""
    low, step = constant_value(loop.lb), constant_value(loop.step)
    end = from_value(loop.ub, lambda at: at if isinstance(at, BlockArgument) else None)
    if low is None or step is None or step <= 0 or end is None or end.as_constant is not None:
        return None
    reach = interval_of(end)
    if reach is None or reach[1] <= low or max(map(abs, reach)) > MOST:
        return None
    return BoundedLoop(loop, range(low, reach[1], step))


def bound(found: BoundedLoop) -> list[scf.ForOp]:
    """
    Gives a loop constant bounds, with its iterations under a condition, in parts of which those that have
    none are left out together; returns the loops that it is now.
    """
    loop, values = found.loop, found.values
    block, type = loop.body.block, loop.lb.type
    size, count = part_of(len(values)), len(values)
    made: list[scf.ForOp] = []

    def counted(
        at: Cursor, bounds: tuple[int, int, int], carried: Values, hint: str | None, emit: Emit
    ) -> Values:
        """A loop with constant bounds whose iterations `emit` emits, under the condition of the original."""
        body = Block(arg_types=[type, *(value.type for value in carried)])
        variable, *own = body.args
        variable.name_hint = hint
        inside = at.inside(body, loop.location)
        lower, upper, step = (at.constant(value, type) for value in bounds)
        inside.insert(scf.YieldOp(*emit(inside, variable, own)))
        new = at.insert(scf.ForOp(lower, upper, step, list(carried), Region(body)))
        new.location = loop.location
        made.append(new)
        return list(new.results)

    def guarded(at: Cursor, number: SSAValue, carried: Values, emit: Emit) -> Values:
        runs = at.value(arith.CmpiOp(number, loop.ub, "slt"), "runs")
        return at.either(runs, lambda at: emit(at, number, carried), lambda _: carried)

    def iteration(at: Cursor, number: SSAValue, carried: Values) -> Values:
        end = block.last_op
        assert end is not None
        for old, new in zip(block.args, (number, *carried), strict=True):
            old.replace_all_uses_with(new)
        for op in list(block.ops):
            if op is not end:
                at.move(op)
        return list(end.operands)

    def part(at: Cursor, first: SSAValue, carried: Values) -> Values:
        def one(at: Cursor, number: SSAValue, carried: Values) -> Values:
            distance = number
            if values.step != 1:
                factor = at.constant(values.step, type)
                distance = at.value(arith.MuliOp(number, factor, overflow=NSW))
            place = at.value(arith.AddiOp(first, distance, overflow=NSW), block.args[0].name_hint)
            return guarded(at, place, carried, iteration)

        return counted(at, (0, size, 1), carried, "number", one)

    at = Cursor.before(loop, loop.location)
    bounds = values.start, values.start + count * values.step, values.step * size
    results = counted(
        at,
        bounds,
        list(loop.iter_args),
        "first" if size < count else block.args[0].name_hint,
        lambda at, first, carried: guarded(at, first, carried, part if size > 1 else iteration),
    )
    for old, new in zip(loop.results, results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(loop)
    return made
