"""
Give every thread several iterations of an outer gang loop, side by side (unroll and jam).

A stencil's neighbouring rows share most of their loads, and the rows of a matrix product share a
whole column: with n rows in one thread the shared values stay in registers. The schedule asks for it by
`accx.elements = n` on a gang loop without lanes; this pass carries it out where it can.

Takes:  scheduled IR.
Leaves: no `accx.elements` on a gang-only loop whose lanes are on a loop below it. Such a loop runs over
        tiles of n iterations; the innermost loop's body holds the n iterations operation by
        operation (loads of all rows before the stores of any), with a second copy, row after row,
        for the tile that is not full. Sequential loops whose bounds are the same for all rows
        are fused. Other loops are untouched.
Fails:  never. A loop that cannot be jammed keeps its iterations one after the other, and says why in
        `accx.why`: its body stores to variables that live outside of it, holds further loop
        directives, or has bounds that change from row to row.

Before:
  acc.loop gang control(%i : i32) = (%lb : i32) to (%ub : i32) step (%c1 : i32) {
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
      body(%i, %j)
    }
  } attributes {accx.elements = 4 : i32}
After:
  acc.loop gang control(%tile : i32) = (%c0 : i32) to (%tiles : i32) step (%c1 : i32) {
    %first = 4 * %tile
    acc.loop vector control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
      scf.if (%first + 4 <= trips) { body of rows %first … %first + 3, jammed }
      else { scf.for %r = %first to trips { body(%lb + %r, %j) } }
    }
  }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from ..dialects.accx import ELEMENTS, VOLATILE, WHY
from .analysis.acc_ops import is_inside
from .analysis.region_values import variable_of
from .building import Cursor, constant_value, erase

NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])


@dataclass(frozen=True)
class Nest:
    """
    A gang loop `outer`, the loop `inner` with the lanes, and the pure operations between them that
    depend on the outer variable (`sunk`), which move into the body.
    """

    outer: acc.LoopOp
    inner: acc.LoopOp
    sunk: tuple[Operation, ...]
    elements: int


class Declined(Exception):
    """Why a nest is left alone."""


def _body(loop: acc.LoopOp) -> Block:
    if len(loop.region.blocks) != 1:
        raise Declined("the loop's body has unstructured control flow")
    return loop.region.block


def _depends(op: Operation, values: set[SSAValue]) -> bool:
    return any(operand in values for inner in op.walk() for operand in inner.operands)


def _between(loop: acc.LoopOp, rows: set[SSAValue], sunk: list[Operation]) -> acc.LoopOp:
    """The one loop directly in `loop`; adds what depends on the rows to `rows` and `sunk`."""
    inner: acc.LoopOp | None = None
    for op in _body(loop).ops:
        if isinstance(op, acc.LoopOp):
            if inner is not None:
                raise Declined("the loop's body has several loops")
            inner = op
            if any(operand in rows for operand in op.operands):
                raise Declined("an inner loop's bounds change from row to row")
        elif not isinstance(op, acc.YieldOp):
            if inner is not None or not _is_pure(op):
                raise Declined("there is other code between the loops")
            if _depends(op, rows):
                rows.update(op.results)
                sunk.append(op)
    if inner is None:
        raise Declined("there is no loop inside")
    return inner


def _check_body(inner: acc.LoopOp) -> None:
    if inner.reduction_operands or inner.private_operands or inner.firstprivate_operands:
        raise Declined("the inner loop has variables of its own")
    for op in _body(inner).walk():
        if isinstance(op, acc.LoopOp):
            raise Declined("the inner loop holds further loop directives")
        if op.name.startswith("acc.") and not isinstance(op, acc.YieldOp):
            raise Declined(f"the inner loop holds {op.name}")
        if isinstance(op, llvm.StoreOp) and _is_private_outside(op.ptr, inner):
            raise Declined("the body stores to a variable that lives outside of it")
        if isinstance(op, llvm.CallOp) and any(
            isinstance(a.type, llvm.LLVMPointerType) and _is_private_outside(a, inner)
            for a in op.args
        ):
            raise Declined("the body passes on a variable that lives outside of it")


def _is_private_outside(pointer: SSAValue, inner: acc.LoopOp) -> bool:
    """Whether `pointer` leads into a variable of one thread that outlives an iteration."""
    while isinstance(pointer.owner, llvm.GEPOp):
        pointer = pointer.owner.ptr
    owner = pointer.owner
    if isinstance(owner, Operation) and is_inside(owner, inner):
        return False
    if isinstance(owner, acc.PrivateOp | acc.FirstprivateOp | acc.ReductionOp):
        return True
    return isinstance(variable_of(pointer).owner, llvm.AllocaOp) and isinstance(
        owner, llvm.AllocaOp
    )


def find_nest(outer: acc.LoopOp) -> Nest:
    """What has to be known to jam `outer`. Raises `Declined` with the reason if it cannot be."""
    count = outer.attributes[ELEMENTS]
    assert isinstance(count, IntegerAttr)
    if outer.reduction_operands or outer.private_operands or outer.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    rows: set[SSAValue] = set(_body(outer).args)
    sunk: list[Operation] = []
    inner = _between(outer, rows, sunk)
    while inner.vector is None:
        inner = _between(inner, rows, sunk)
    _check_body(inner)
    return Nest(outer, inner, tuple(sunk), count.value.data)


class _Jam:
    """Emits several iterations of a block operation by operation."""

    def __init__(self, maps: list[dict[SSAValue, SSAValue]]):
        self.maps = maps

    def operations(self, ops: Sequence[Operation], cursor: Cursor) -> None:
        for op in ops:
            if self._same_for_all(op):
                self._once(op, cursor)
            elif isinstance(op, scf.ForOp) and self._same_bounds(op):
                self._loop(op, cursor)
            else:
                for values in self.maps:
                    _clone(op, values, cursor)

    def _once(self, op: Operation, cursor: Cursor) -> None:
        """An operation on values that all rows share."""
        _clone(op, self.maps[0], cursor)
        for values in self.maps[1:]:
            for result in op.results:
                values[result] = self.maps[0][result]

    def _same_for_all(self, op: Operation) -> bool:
        """
        Whether `op` gives all rows the same: it only computes and reads, from values they share. (What
        several rows read none of them writes: the iterations are independent.)
        """
        return bool(op.results) and all(
            _only_reads(inner) and self._same(inner) for inner in op.walk()
        )

    def _same(self, op: Operation) -> bool:
        """Whether the operands are the same for all rows (those defined inside of what is shared are)."""
        first = self.maps[0]
        return all(
            m.get(operand, operand) is first.get(operand, operand)
            for operand in op.operands
            for m in self.maps
        )

    def _same_bounds(self, loop: scf.ForOp) -> bool:
        first = self.maps[0]
        return all(
            m.get(v, v) is first.get(v, v) for v in (loop.lb, loop.ub, loop.step) for m in self.maps
        )

    def _loop(self, loop: scf.ForOp, cursor: Cursor) -> None:
        """One loop that carries the values of all rows."""
        first = self.maps[0]
        body = loop.body.block
        carried = [m.get(v, v) for m in self.maps for v in loop.iter_args]
        block = Block(arg_types=[body.args[0].type, *(v.type for v in carried)])
        block.args[0].name_hint = body.args[0].name_hint
        bounds = [first.get(v, v) for v in (loop.lb, loop.ub, loop.step)]
        fused = scf.ForOp(*bounds, carried, Region(block))
        fused.attributes |= loop.attributes
        cursor.insert(fused)
        width = len(loop.iter_args)
        for row, values in enumerate(self.maps):
            values[body.args[0]] = block.args[0]
            for i, argument in enumerate(body.args[1:]):
                new = block.args[1 + row * width + i]
                new.name_hint = argument.name_hint
                values[argument] = new
        end = body.last_op
        assert end is not None
        inside = Cursor.at_end(block, loop.location)
        self.operations([op for op in body.ops if op is not end], inside)
        inside.insert(scf.YieldOp(*(m.get(v, v) for m in self.maps for v in end.operands)))
        for row, values in enumerate(self.maps):
            for i, result in enumerate(loop.results):
                new = fused.results[row * width + i]
                new.name_hint = result.name_hint
                values[result] = new


def _only_reads(op: Operation) -> bool:
    if isinstance(op, llvm.LoadOp):
        return op.ordering.value.data == 0 and VOLATILE not in op.attributes
    return _is_pure(op) or isinstance(op, scf.ForOp | scf.IfOp | scf.YieldOp)


def _is_pure(op: Operation) -> bool:
    """Whether `op` only computes. (xDSL does not mark all conversions of `arith` as pure.)"""
    return (
        isinstance(op, llvm.GEPOp)
        or op.name.startswith(("arith.", "math."))
        or is_side_effect_free(op)
    )


def _clone(op: Operation, values: dict[SSAValue, SSAValue], cursor: Cursor) -> None:
    location = cursor.loc
    cursor.loc = op.location
    cursor.insert(op.clone(values))
    cursor.loc = location


def _row_values(nest: Nest, row: SSAValue, cursor: Cursor) -> dict[SSAValue, SSAValue]:
    """Value map of one row: the C variable is `lower + row * step`."""
    variable = nest.outer.region.block.args[0]
    lower, step = nest.outer.lowerbound[0], nest.outer.step[0]
    value = row
    if constant_value(step) != 1:
        value = cursor.value(arith.MuliOp(value, step, overflow=NSW))
    if constant_value(lower) != 0:
        value = cursor.value(arith.AddiOp(lower, value, overflow=NSW), variable.name_hint)
    return {variable: value}


def _row_maps(nest: Nest, first: SSAValue, cursor: Cursor) -> list[dict[SSAValue, SSAValue]]:
    """
    Value maps of the rows of a full tile. Row r is written as row 0 plus a constant, so that LLVM
    sees that row r of one iteration is row r - 1 of the next.
    """
    variable = nest.outer.region.block.args[0]
    step = constant_value(nest.outer.step[0])
    zero = _row_values(nest, first, cursor)
    maps = [zero]
    for r in range(1, nest.elements):
        if step is None:
            row = cursor.value(arith.AddiOp(first, cursor.constant(r, first.type), overflow=NSW))
            maps.append(_row_values(nest, row, cursor))
        else:
            distance = cursor.constant(r * step, first.type)
            value = arith.AddiOp(zero[variable], distance, overflow=NSW)
            maps.append({variable: cursor.value(value, variable.name_hint)})
    return maps


def _if_full(cursor: Cursor, condition: SSAValue) -> tuple[Cursor, Cursor]:
    """An `scf.if` with cursors in both of its branches."""
    blocks = Block(), Block()
    cursors: list[Cursor] = []
    for block in blocks:
        end = Cursor.at_end(block, cursor.loc).insert(scf.YieldOp())
        cursors.append(Cursor.before(end))
    cursor.insert(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1])))
    return cursors[0], cursors[1]


def jam(nest: Nest) -> None:
    """Rewrites `nest` (see the contract above)."""
    outer, inner, count = nest.outer, nest.inner, nest.elements
    type = outer.lowerbound[0].type
    assert isinstance(type, IntegerType)
    body = inner.region.block
    originals = [*nest.sunk, *(op for op in body.ops if not isinstance(op, acc.YieldOp))]

    before = Cursor.before(outer)
    trips = _trips(before, outer)
    one, size = before.constant(1, type), before.constant(count, type)
    rounded = before.value(arith.AddiOp(trips, before.constant(count - 1, type)))
    tiles = before.value(arith.DivUIOp(rounded, size), "tiles")

    end = body.last_op
    assert end is not None
    cursor = Cursor.before(end, inner.location)
    tile = outer.region.block.args[0]
    first = cursor.value(arith.MuliOp(tile, size, overflow=NSW), "first")
    past = cursor.value(arith.AddiOp(first, size, overflow=NSW), "past")
    full = cursor.value(arith.CmpiOp(past, trips, "sle"), "full")
    then, otherwise = _if_full(cursor, full)

    maps = _row_maps(nest, first, then)
    _Jam(maps).operations(originals, then)

    _, each = otherwise.for_loop(first, trips, one, "row")
    values = _row_values(nest, each.point.block.args[0], each)
    for op in originals:
        _clone(op, values, each)

    for op in reversed(originals):
        erase(op)
    _set_bounds(before, outer, tiles)
    del outer.attributes[ELEMENTS]


def _trips(cursor: Cursor, loop: acc.LoopOp) -> SSAValue:
    """The number of iterations of a loop of one variable, at least 0."""
    lower, upper, step = loop.lowerbound[0], loop.upperbound[0], loop.step[0]
    bounded = cursor.value(arith.MaxSIOp(upper, lower))
    distance = cursor.sub(bounded, lower)
    rounded = cursor.add(distance, cursor.sub(step, cursor.constant(1, step.type)))
    return cursor.value(arith.DivUIOp(rounded, step), "trips")


def _set_bounds(cursor: Cursor, loop: acc.LoopOp, tiles: SSAValue) -> None:
    zero, one = cursor.constant(0, tiles.type), cursor.constant(1, tiles.type)
    for old, new in zip(
        (loop.lowerbound, loop.upperbound, loop.step), (zero, tiles, one), strict=True
    ):
        index = list(loop.operands).index(old[0])
        loop.operands[index] = new


@dataclass(frozen=True)
class JamOuterIterationsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "jam-outer-iterations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [
            loop
            for loop in op.walk()
            if isinstance(loop, acc.LoopOp) and ELEMENTS in loop.attributes and loop.vector is None
        ]
        for loop in loops:
            try:
                nest = find_nest(loop)
            except Declined as reason:
                _explain(loop, f"rows not kept side by side: {reason}")
                continue
            _explain(loop, f"{nest.elements} iterations side by side in each thread")
            jam(nest)


def _explain(loop: acc.LoopOp, text: str) -> None:
    why = loop.attributes.get(WHY)
    old = f"{why.data}; " if isinstance(why, StringAttr) else ""
    loop.attributes[WHY] = StringAttr(old + text)
