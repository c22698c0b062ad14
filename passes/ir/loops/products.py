"""
Products: nests of two parallel loops around a loop over terms, whose iterations share what they read.

`decisions/shared_sections.py` says which of them are profitable; the passes `order-product-loops` and
`find-shared-sections` rewrite them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects.volatility import is_ordered
from ...decisions.shared_sections import ProductShape, why_not
from ..data.cached_accesses import Symbols
from ..kernels.arguments import distinct_arguments
from ..ops.acc_ops import enclosing, has_level, is_defined_inside, is_restrict, tuned_constructs
from ..ops.building import constant_trips, constant_value
from ..ops.levels import loop_levels
from ..ops.loop_bounds import bounds_of
from ..values.accesses import told_apart
from ..values.values_outside import is_known_outside
from .product_guards import guards_around
from .product_loads import Factor, Loads, offset_of, read_loads

OWN = (llvm.AllocaOp, acc.PrivateOp, acc.ReductionOp)
"""Operations that make a variable private to one iteration."""


def _apart(left: SSAValue, right: SSAValue, loop: Operation) -> bool:
    """Whether two arrays share no element that the loop writes."""
    if isinstance(left.owner, OWN) or is_restrict(left) or is_restrict(right):
        return True
    if told_apart(left, right, loop):
        return True
    return any(distinct_arguments([left, right], loads_pointers=False))


@dataclass
class Accumulators:
    """
    The stores of a loop that may be delayed until the loop is done. `independent`: that relies on the
    enclosing parallel loops being independent: other iterations read the same elements, so none may read
    what this one writes.
    """

    stores: list[llvm.StoreOp] = field(default_factory=list[llvm.StoreOp])
    independent: bool = False


def find_accumulators(
    loop: scf.ForOp | acc.LoopOp, shared: Collection[Operation]
) -> Accumulators | None:
    """
    The stores of a loop that may be delayed until it is done; None if one of them may not. `shared`: its
    loads that several iterations of the enclosing parallel loops make alike, if these loops have several.
    """
    symbols = Symbols(loop)
    ops = list(loop.regions[0].block.ops)
    accesses = [op for op in ops if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    places = {op: offset_of(op.ptr, symbols) for op in accesses}
    found = Accumulators([op for op in accesses if isinstance(op, llvm.StoreOp)])
    for store in found.stores:
        base, offset = places[store]
        fixed = all(isinstance(s, SSAValue) and not _inside(s, loop) for s in offset.symbols)
        scalar = isinstance(store.value.type, IntegerType | AnyFloat)
        if not fixed or not scalar or is_ordered(store):
            return None
        # An element that no iteration reads first cannot be read by another iteration.
        first = next(op for op in accesses if places[op] == (base, offset))
        if not isinstance(first, llvm.LoadOp):
            return None
        for other in accesses:
            if other is store:
                continue
            if places[other] == (base, offset) and isinstance(other, llvm.LoadOp):
                if other.dereferenced_value.type != store.value.type:
                    return None
            elif places[other][0] is base:
                return None
            elif not _apart(base, places[other][0], loop):
                if other not in shared:
                    return None
                found.independent = True
    return found


def _inside(value: SSAValue, loop: Operation) -> bool:
    return is_defined_inside(value, loop) or value in loop.regions[0].block.args


@dataclass(frozen=True)
class Terms:
    """
    A loop over the terms of a product's sums: the enclosing parallel loops, its loads, and the stores of
    sums that it keeps in memory. `independent`: these stores do not overlap the loads because the parallel
    loops' iterations are independent, which holds if they have several. `guards`: the conditions that the
    loop is under, innermost first.
    """

    outer: acc.LoopOp
    inner: acc.LoopOp
    loop: scf.ForOp | acc.LoopOp
    loads: Loads
    sums: Sequence[llvm.StoreOp]
    independent: bool
    guards: tuple[scf.IfOp, ...] = ()

    @property
    def factors(self) -> Sequence[Factor]:
        return (*self.loads.outer, *self.loads.inner)


def _is_free(loop: Operation | None) -> bool:
    """Whether `loop` is a parallel loop of one variable whose mapping is open."""
    return (
        isinstance(loop, acc.LoopOp)
        and len(loop.region.blocks) == 1
        and len(loop.lowerbound) == 1
        and not has_level(loop.seq)
        and not loop_levels(loop)
        and not loop.reduction_operands
        and constant_value(loop.step[0]) == 1
    )


def is_fixed_in(bound: SSAValue, outer: acc.LoopOp) -> bool:
    """Whether a bound is invariant in `outer`: defined before it, or known to the host."""
    if not is_defined_inside(bound, outer):
        return True
    construct = enclosing(outer, acc.ParallelOp)
    return construct is not None and is_known_outside(bound, construct)


def find_terms(
    loop: scf.ForOp | acc.LoopOp, *, triangles: bool = False, guarded: bool = False
) -> Terms | None:
    """
    The product whose terms `loop` runs over; None if the nest is not a profitable product. `triangles`: the
    bounds of the inner parallel loop may depend on the outer one; `guarded`: it may be under conditions.
    """
    inner, guards = guards_around(loop)
    outer = None if inner is None else inner.parent_op()
    if not _is_free(inner) or not _is_free(outer) or (guards and not guarded):
        return None
    assert isinstance(inner, acc.LoopOp) and isinstance(outer, acc.LoopOp)
    (_, lower, upper, step), (_, *inner_ends, _) = bounds_of(loop)[0], bounds_of(inner)[0]
    fixed = (lower, upper) if triangles else (lower, upper, *inner_ends)
    if (
        not all(is_fixed_in(v, outer) for v in fixed)
        or constant_value(step) != 1
        or not isinstance(lower.type, IntegerType)
    ):
        return None
    if any(op.regions for op in loop.regions[0].block.ops):
        return None
    variables = [each.region.block.args[0] for each in (outer, inner)]
    loads = read_loads(loop, variables[0], variables[1])
    if loads is None:
        return None
    sides = [constant_trips(*bounds_of(each)[0][1:]) for each in (outer, inner, loop)]
    product = ProductShape(len(loads.outer), len(loads.inner), loads.both, *sides)
    if why_not(product):
        return None
    shared = {factor.load for factor in (*loads.outer, *loads.inner)}
    sums = find_accumulators(loop, shared)
    if sums is None:
        return None
    return Terms(outer, inner, loop, loads, sums.stores, sums.independent, guards)


def free_constructs(module: ModuleOp) -> list[acc.ParallelOp]:
    """Constructs whose launch sizes the compiler chooses and that have no cache directive of their own."""
    return [
        op
        for op in tuned_constructs(module)
        if not (op.num_gangs or op.num_workers or op.vector_length)
        and not any(isinstance(inner, acc.CacheOp) for inner in op.walk())
    ]
