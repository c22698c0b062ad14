"""
Emits sums of products by matrix instructions, in the loop over the terms of a piece: one turn adds several
terms for the rows and columns of a whole warp (`decisions/cache_matrix.py`).

An instruction adds terms in order, each by a fused multiply-add (verified on an H200 bit for bit, including
infinities and subnormal numbers), so the results are those of the loop.

Before, for R × C outputs of a thread:
  for k { R loads of the left tile, C of the right one, R · C multiplications and additions }
After, with instructions of 8 × 8 results and 4 terms:
  for k, four at a time { R loads for rows g and term k + t, C / 2 for columns g, R · C / 2 warp_products }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import Float64Type, IntegerAttr, IntegerType, i32
from xdsl.ir import Block, SSAValue

from ...dialects.accx import UNROLL
from ...dialects.accx_cache import WarpProductOp
from ..decisions.cache_matrix import GROUP, LANES, PAIR, ROWS, Instruction
from ..decisions.cache_plan import Sharing, followed_axis
from ..ir.data.cached_accesses import Cached, CachedAccess, usual_turns
from ..ir.ops.acc_ops import called
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.purity import is_pure_call
from .nest import CachedNest
from .tile_access import Output, TileAccesses
from .tiles import Block as ThreadBlock
from .uniformity import has_effects, varying_values, written_variables


@dataclass(frozen=True)
class Product:
    """A loop over terms that adds the product of two loads from tiles to a sum, or subtracts it."""

    loop: scf.ForOp
    left: CachedAccess
    right: CachedAccess
    turns: int
    subtracted: bool


def find_product(
    nest: CachedNest, cached: Sequence[Cached], sharing: Sharing, *, fused: bool
) -> Product | None:
    """
    The only loop of a nest that reads tiles, if it is such a sum of doubles which all threads of a block
    run together, with the same trip count except at an edge; else None. `fused`: a multiplication and an
    addition may be fused.
    """
    sides = [followed_axis(each.section, nest.axes, sharing) for each in cached]
    if sorted(side for side in sides if side is not None) != [0, 1] or len(cached) != 2:
        return None
    left, right = (_only_load(cached[sides.index(axis)]) for axis in (0, 1))
    if left is None or right is None:
        return None
    loop = left.op.parent_op()
    if not isinstance(loop, scf.ForOp) or right.op.parent_op() is not loop:
        return None
    if any(each.op.parent_op() is not loop.parent_op() for each in cached):
        return None
    turns = usual_turns(loop, nest.symbols)
    if turns is None or not _runs_together(nest, sharing, loop, (left, right)):
        return None
    subtracted = _adds_product(loop, left, right, fused=fused)
    return None if subtracted is None else Product(loop, left, right, turns, subtracted)


def _only_load(cached: Cached) -> CachedAccess | None:
    """The one access to a section, if it is a load of a double that is proved to lie in it."""
    if len(cached.accesses) != 1 or cached.section.element_bytes != 8:
        return None
    access = cached.accesses[0]
    if access.is_store or not access.certain or access.element is None:
        return None
    return access if isinstance(access.op.results[0].type, Float64Type) else None


def _runs_together(
    nest: CachedNest, sharing: Sharing, loop: scf.ForOp, accesses: Sequence[CachedAccess]
) -> bool:
    """
    Whether the loop's bounds, and the positions in the sections that it reads, are the same for all
    threads.
    """
    mapped = [nest.variables[position] for position in sharing.axes]
    varying = varying_values(nest.operations, mapped, written_variables(nest.construct))
    symbols = {s for access in accesses for delta in access.deltas for s in delta.symbols}
    return not varying & {loop.lb, loop.ub, loop.step, *symbols}


def _adds_product(
    loop: scf.ForOp, left: CachedAccess, right: CachedAccess, *, fused: bool
) -> bool | None:
    """Whether the product is subtracted; None if the loop does anything other than add or subtract it."""
    body = loop.body.block
    if len(loop.iter_args) != 1 or any(op.regions or has_effects(op) for op in body.ops):
        return None
    end = body.last_op
    assert end is not None
    sum_, total = body.args[1], end.operands[0].owner
    factors = {left.op.results[0], right.op.results[0]}
    match total:
        case llvm.CallOp() if is_pure_call(total) and called(total) == "fma":
            a, b, c = total.args
            return False if {a, b} == factors and c is sum_ else None
        case arith.AddfOp() if fused and sum_ in total.operands:
            other = total.lhs if total.rhs is sum_ else total.rhs
        case arith.SubfOp() if fused and total.lhs is sum_:
            other = total.rhs
        case _:
            return None
    product = other.owner
    if not isinstance(product, arith.MulfOp) or set(product.operands) != factors:
        return None
    return isinstance(total, arith.SubfOp)


@dataclass
class Multiplier:
    """Emits a product for the outputs of a thread, listed row by row with `columns` in a row."""

    product: Product
    instruction: Instruction
    block: ThreadBlock
    columns: int

    def emit(self, outputs: Sequence[Output], accesses: TileAccesses, at: Cursor) -> None:
        """Emits the loop for its usual number of turns."""
        loop, first = self.product.loop, outputs[0].values
        lower = first.get(loop.lb, loop.lb)
        step, terms = constant_value(loop.step) or 1, self.instruction.terms
        end = at.add(lower, at.constant(self.product.turns * step, lower.type))
        places = self._columns(at)
        sums = [o.values.get(v, v) for o in outputs for v in loop.iter_args]
        block = Block(arg_types=[lower.type, *(v.type for v in sums)])
        block.args[0].name_hint = loop.body.block.args[0].name_hint
        inside = at.inside(block, loop.location)
        added = self._turn(outputs, places, accesses, list(block.args), inside)
        inside.insert(scf.YieldOp(*added))
        fused = scf.ForOp(lower, end, at.constant(step * terms, lower.type), sums, block)
        fused.attributes |= loop.attributes
        fused.attributes[UNROLL] = IntegerAttr(self.product.turns // terms, i32)
        at.insert(fused)
        for output, result in zip(outputs, fused.results, strict=True):
            result.name_hint = loop.results[0].name_hint
            output.values[loop.results[0]] = result

    def _lane(self, at: Cursor) -> SSAValue:
        """The number t of the lane's term among those added by one instruction."""
        return at.value(arith.AndIOp(self.block.thread, at.i32(LANES - 1)), "term")

    def _columns(self, at: Cursor) -> list[SSAValue]:
        """The coordinates in the block of the columns for which the lane holds right operands: 8 n + g."""
        warp = at.value(arith.ShRUIOp(self.block.thread, at.i32(LANES.bit_length() - 1)))
        own = at.value(arith.AndIOp(warp, at.i32(ROWS - 1)), "column")
        return [at.add(own, at.i32(first)) for first in range(0, LANES * self.columns, GROUP)]

    def _turn(
        self,
        outputs: Sequence[Output],
        places: Sequence[SSAValue],
        accesses: TileAccesses,
        arguments: Sequence[SSAValue],
        at: Cursor,
    ) -> list[SSAValue]:
        """Emits one turn of the loop, whose variable and sums are `arguments`; returns the new sums."""
        step = constant_value(self.product.loop.step) or 1
        counter, sums = arguments[0], list(arguments[1:])
        assert isinstance(counter.type, IntegerType)
        lane = at.to_integer(self._lane(at), counter.type)
        own = at.add(counter, at.mul(lane, at.constant(step, counter.type)))
        heads = outputs[:: self.columns]
        left: list[list[SSAValue]] = [[] for _ in heads]
        right: list[list[SSAValue]] = [[] for _ in places]
        for part in range(self.instruction.parts):
            term = at.add(own, at.constant(part * LANES * step, counter.type))
            variable = self.product.loop.body.block.args[0]
            values = {**outputs[0].values, variable: term}
            for found, head in zip(left, heads, strict=True):
                there = Output({**head.values, variable: term}, head.coordinates, None)
                factor = accesses.element(self.product.left.op, there, at)
                if self.product.subtracted:
                    factor = at.value(arith.NegfOp(factor))
                found.append(factor)
            for found, place in zip(right, places, strict=True):
                there = Output(values, [heads[0].coordinates[0], place], None)
                found.append(accesses.element(self.product.right.op, there, at))
        self._multiply(left, right, sums, at)
        return sums

    def _multiply(
        self,
        left: Sequence[Sequence[SSAValue]],
        right: Sequence[Sequence[SSAValue]],
        sums: list[SSAValue],
        at: Cursor,
    ) -> None:
        """Emits all instructions of a turn; updates `sums`."""
        halves = self.instruction.halves
        for row in range(0, len(left), halves):
            rows = left[row : row + halves]
            factors = [each[part] for part in range(self.instruction.parts) for each in rows]
            for group, others in enumerate(right):
                places = [
                    (row + half) * self.columns + group * PAIR + column
                    for half in range(halves)
                    for column in range(PAIR)
                ]
                op = WarpProductOp(
                    self.instruction.shape, factors, others, [sums[place] for place in places]
                )
                for place, result in zip(places, at.insert(op).results, strict=True):
                    sums[place] = result
