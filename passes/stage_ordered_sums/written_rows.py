"""
Rows that a sequential loop writes: prefix sums (`s += a[i][j]; b[i][j] = s`), recurrences, greatest of
prefixes.

Threads load the terms of several rows, and store what the loop computes of them, piece by piece, so that
loads of later iterations come before stores of earlier ones. That is allowed if no load can be of an element
that another iteration stores. Iterations of the loops around are independent in any case.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Operation

from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..ir.loops.sum_nests import SumNest, is_own, is_store, walk_of
from ..ir.values.accesses import LoopAccess
from ..ir.values.iteration_accesses import access_of, are_apart, is_fixed_outside, is_same_element
from ..ir.values.region_values import RegionSymbols


def written_rows(nest: SumNest) -> tuple[llvm.StoreOp, ...]:
    """
    The stores in the body of a nest's loop over terms. Raises `Declined` if one is not along the row, or if
    their order with loads and with each other may matter.
    """
    root, symbols = nest.around[0], RegionSymbols(nest.construct)
    stores = [op for op in nest.body.ops if is_store(op) and not is_own(op.ptr, root)]
    if not stores:
        if stores_before(nest):
            raise Declined("it stores before the sum")
        return ()
    written = [access_of(op, symbols) for op in stores]
    for store, access in zip(stores, written, strict=True):
        if not _is_along(store, access, nest, symbols):
            raise Declined("it stores elsewhere than along its row")
    for number, one in enumerate(written):
        if not all(_differ(one, other) for other in written[:number]):
            raise Declined("the order of its stores may matter")
    place = {op: number for number, op in enumerate(nest.body.ops)}
    loads = [op for op in nest.body.walk() if isinstance(op, llvm.LoadOp)]
    for load in (op for op in loads if not is_own(op.ptr, root)):
        if is_ordered(load):
            raise Declined("it loads in order")
        read = access_of(load, symbols)
        for store, access in zip(stores, written, strict=True):
            earlier = load in place and place[load] < place[store]
            if not (_differ(access, read) or (earlier and is_same_element(access, read))):
                raise Declined("it may load what it has stored")
    _check_before(nest, loads, symbols)
    return tuple(stores)


def stores_before(nest: SumNest) -> list[llvm.StoreOp]:
    """The stores to memory of others directly before the loop over terms."""
    return [op for op in nest.before[-1] if is_store(op) and not is_own(op.ptr, nest.around[0])]


def _is_along(
    store: llvm.StoreOp, access: LoopAccess, nest: SumNest, symbols: RegionSymbols
) -> bool:
    """Whether iterations of the loop store to neighbouring elements, each to one of its own."""
    if not is_fixed_outside(access, nest.variable, nest.terms):
        return False
    column = nest.around[-1].region.block.args[0]
    along = walk_of(store, nest.variable, symbols).contiguous > 0
    return along and walk_of(store, column, symbols).strided > 0


def _differ(one: LoopAccess, other: LoopAccess) -> bool:
    """Whether two accesses are of different memory in all iterations of the loop."""
    return one.root is not other.root and are_apart(one, other)


def _check_before(nest: SumNest, loads: list[llvm.LoadOp], symbols: RegionSymbols) -> None:
    """Raises `Declined` if other threads than that of a row may load what is stored before its loop."""
    before = list(nest.before[-1])
    for store in stores_before(nest):
        later: list[Operation] = before[before.index(store) :]
        read = [op for top in later for op in top.walk() if isinstance(op, llvm.LoadOp)]
        access = access_of(store, symbols)
        if not all(_differ(access, access_of(op, symbols)) for op in (*read, *loads)):
            raise Declined("it may load what it has stored before")
