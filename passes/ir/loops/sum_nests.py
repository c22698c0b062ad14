"""Nests of parallel loops around one loop that computes something for each of their iterations: sums."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.volatility import is_ordered
from ...decisions.declined import Declined
from ..ops.acc_ops import (
    PRIVATIZING_OPS,
    accessed_type,
    has_level,
    is_inside,
    own_copies,
)
from ..ops.layout import size_of
from ..ops.purity import is_pure, is_pure_call
from ..ops.schedules import given_sizes
from ..values.addresses import base_of
from ..values.region_values import RegionSymbols
from ..values.strides import AccessCounts, count_access, flat_steps
from ..variables.recipe_reading import Recipes
from .jamming import body_of

_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


@dataclass(frozen=True)
class SumNest:
    """
    A construct that is one nest: the loops `around`, outermost first, of one variable each, and in them the
    loop `terms`. `before[k]` is what the body of `around[k]` does before the next loop, `after` what follows
    `terms`. What comes before, and `terms`, write only variables of their iteration of `around`; `terms`, and
    what comes directly before it, may also store elsewhere if `read_nest` is told so.
    """

    construct: acc.ParallelOp
    around: tuple[acc.LoopOp, ...]
    terms: acc.LoopOp | scf.ForOp
    before: tuple[tuple[Operation, ...], ...]
    after: tuple[Operation, ...]

    @property
    def bounds(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Lower and upper bound and step of `terms`."""
        if isinstance(self.terms, acc.LoopOp):
            return self.terms.lowerbound[0], self.terms.upperbound[0], self.terms.step[0]
        return self.terms.lb, self.terms.ub, self.terms.step

    @property
    def body(self) -> Block:
        return (
            self.terms.body.block if isinstance(self.terms, scf.ForOp) else self.terms.region.block
        )

    @property
    def variable(self) -> BlockArgument:
        """The variable of `terms`."""
        return self.body.args[0]


def read_nest(construct: acc.ParallelOp, *, stores: bool = False) -> SumNest:
    """
    The nest of `construct`. Raises `Declined` with the reason if it is not such a nest. `stores`: whether the
    loop over terms, and what comes directly before it, may store to any memory, not in branches.
    """
    if given_sizes(construct) or len(construct.region.blocks) != 1 or own_copies(construct):
        raise Declined("the program gives launch sizes, or the construct has variables of its own")
    top = [op for op in construct.region.block.ops if isinstance(op, _LOOPS)]
    rest = [op for op in construct.region.block.ops if not isinstance(op, _LOOPS)]
    if len(top) != 1 or not all(map(_is_harmless, rest)):
        raise Declined("it is not one nest")
    around, before = list[acc.LoopOp](), list[tuple[Operation, ...]]()
    loop, after = top[0], list[Operation]()
    while _is_around(loop):
        assert isinstance(loop, acc.LoopOp)
        if after:
            raise Declined("code follows a loop that is not the innermost parallel one")
        around.append(loop)
        ops = [op for op in body_of(loop).ops if not op.has_trait(IsTerminator)]
        loops = [op for op in ops if isinstance(op, _LOOPS)]
        if len(loops) != 1:
            raise Declined("it is not a nest around one loop")
        loop = loops[0]
        place = ops.index(loop)
        before.append(tuple(ops[:place]))
        after = ops[place + 1 :]
    if not around:
        raise Declined("no parallel loop is around the sum")
    if not isinstance(loop, acc.LoopOp | scf.ForOp):
        raise Declined("the sum is not a counted loop")
    if isinstance(loop, acc.LoopOp):
        _check_terms(loop)
    nest = SumNest(construct, tuple(around), loop, tuple(before), tuple(after))
    for number, ops in enumerate((*before, nest.body.ops), start=1):
        free = stores and number >= len(before)
        own = [op for op in ops if not (op.has_trait(IsTerminator) or (free and is_store(op)))]
        _check_own(own, around[0])
    _check_after(nest)
    return nest


def _check_terms(loop: acc.LoopOp) -> None:
    if has_level(loop.gang) or len(loop.lowerbound) != 1 or len(loop.region.blocks) != 1:
        raise Declined("the sum has several loops, or is over gangs")
    if loop.firstprivate_operands or loop.tile_operands or loop.cache_operands:
        raise Declined("the sum has a tile, a cache, or variables with values from outside")
    _check_private(loop)


def _is_harmless(op: Operation) -> bool:
    return isinstance(op, acc.YieldOp | acc.PrivateOp) or (is_pure(op) and not op.regions)


def _is_around(loop: Operation) -> bool:
    """Whether a loop is parallel, has one variable, and reduces nothing."""
    if not isinstance(loop, acc.LoopOp) or loop.reduction_operands:
        return False
    if len(loop.lowerbound) != 1 or has_level(loop.seq) or not has_level(loop.independent):
        raise Declined("a loop is sequential, or has several variables")
    if loop.firstprivate_operands or loop.tile_operands or loop.cache_operands:
        raise Declined("a loop has a tile, a cache, or variables with values from outside")
    _check_private(loop)
    return True


def _check_private(loop: acc.LoopOp) -> None:
    for value in loop.private_operands:
        entry = value.owner
        if not isinstance(entry, acc.PrivateOp) or entry.bounds:
            raise Declined("a private variable is a section")
        if not is_scalar(entry.var_type) or Recipes.around(loop).copies(entry).has_init:
            raise Declined("a private variable is not a plain scalar")


def is_store(op: Operation) -> TypeGuard[llvm.StoreOp]:
    """Whether `op` is a store that other operations need not keep their order with."""
    return isinstance(op, llvm.StoreOp) and not is_ordered(op)


def is_scalar(type_: Attribute) -> bool:
    whole = isinstance(type_, IntegerType) and type_.width.data in (8, 16, 32, 64)
    return whole or isinstance(type_, Float32Type | Float64Type)


def is_own(pointer: SSAValue, root: Operation) -> bool:
    """Whether an address is in a variable that each iteration of the nest `root` has for itself."""
    owner = base_of(pointer).owner
    if isinstance(owner, llvm.AllocaOp):
        return is_inside(owner, root)
    return isinstance(owner, PRIVATIZING_OPS)


def _check_own(ops: Sequence[Operation], root: Operation) -> None:
    """Raises `Declined` unless `ops` only compute, read, and write variables of an iteration."""
    for top in ops:
        for op in top.walk():
            match op:
                case llvm.AllocaOp() | acc.PrivateOp() | acc.ReductionOp() | scf.IfOp():
                    pass
                case scf.YieldOp():
                    pass
                case llvm.LoadOp() if not is_ordered(op):
                    pass
                case llvm.StoreOp() if not is_ordered(op) and is_own(op.ptr, root):
                    pass
                case _ if isinstance(op, _LOOPS):
                    raise Declined("another loop is in the nest")
                case _ if not (is_pure(op) or is_pure_call(op)):
                    raise Declined(f"the nest holds {op.name}")
                case _:
                    pass


def _check_after(nest: SumNest) -> None:
    for top in nest.after:
        for op in top.walk():
            if op.name.startswith(("acc.", "accx.gang", "cf.")) or isinstance(op, _LOOPS):
                raise Declined(f"{op.name} follows the sum")
            if isinstance(op, llvm.CallOp) and not is_pure_call(op):
                raise Declined("a call follows the sum")


def contains(value: SSAValue, starts: Set[SSAValue]) -> bool:
    """Whether `value` is computed from one of `starts`, in their block or in branches there."""
    work, seen = [value], set[SSAValue]()
    while work:
        current = work.pop()
        if current in starts:
            return True
        op = current.owner
        if current in seen or not isinstance(op, Operation):
            continue
        seen.add(current)
        for inner in op.walk():
            work += inner.operands
    return False


def count_walks(nest: SumNest) -> tuple[int, int]:
    """
    The loads in `terms` that move with it and with all loops around: those of which the iterations of the
    innermost loop around load neighbours, and those of which the terms are neighbours. Loads that do not move
    with another loop around, whose iterations could share them, count against the former.
    """
    symbols = RegionSymbols(nest.construct)
    *outer, column = (loop.region.block.args[0] for loop in nest.around)
    across = along = 0
    for op in nest.body.walk():
        if not isinstance(op, llvm.LoadOp) or is_own(op.ptr, nest.around[0]):
            continue
        around = [walk_of(op, variable, symbols) for variable in (*outer, column)]
        mine, neighbour = walk_of(op, nest.variable, symbols), around[-1]
        weight = 1 if all(walk.strided or walk.contiguous for walk in around) else -1
        across += weight * (mine.strided > 0 and neighbour.contiguous > 0)
        along += weight * (mine.contiguous > 0 and neighbour.strided > 0)
    return max(across, 0), max(along, 0)


def has_neighbours(nest: SumNest) -> bool:
    """Whether some load in `terms` reads neighbouring elements for neighbouring terms."""
    symbols = RegionSymbols(nest.construct)
    loads = (op for op in nest.body.walk() if isinstance(op, llvm.LoadOp))
    return any(walk_of(load, nest.variable, symbols).contiguous for load in loads)


def walk_of(
    load: llvm.LoadOp | llvm.StoreOp, variable: SSAValue, symbols: RegionSymbols
) -> AccessCounts:
    """How a load or a store moves with the variable of a loop."""
    counts = AccessCounts()
    count_access(flat_steps(load.ptr, symbols), size_of(accessed_type(load)), variable, counts)
    return counts
