"""
Elements of arrays, and members of structures, that iterations of a parallel loop share and assign under a
condition. C leaves them with the value of the last iteration that fulfils it; iterations that run in any
order (OpenACC 3.4, 2.9) leave the value of an arbitrary one.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, cf, llvm, scf
from xdsl.ir import Operation, SSAValue

from ..ops.acc_ops import PRIVATIZING_OPS, source_loc, variable_name
from ..ops.messages import Messages, access_notes
from ..values.accesses import root_of
from ..values.loop_conditions import picks_one
from ..values.loop_symbols import LoopSymbols
from ..values.varying_values import VaryingValues
from .array_accesses import ArrayAccess, conditional_stores, has_conditions
from .loop_dependence import root_key


@dataclass(frozen=True)
class Chosen:
    """An array whose elements several iterations store to; `load` reads the old value if they update it."""

    name: str
    store: Operation
    load: Operation | None


def warn_of_chosen(
    loop: acc.LoopOp, named: Container[str], messages: Messages, *, lanes: bool
) -> None:
    """
    Warns of each such array, except for those in `named`, which already have a warning. `lanes`: threads of
    one gang share the iterations, so they share a gang's private array too.
    """
    for found in chosen_elements(loop, lanes=lanes):
        if found.name in named:
            continue
        if found.load is None:
            text = (
                f"iterations of this loop assign the same elements of '{found.name}' under a condition:"
                " the iteration whose values remain is unspecified"
            )
            remedy = "write 'loop seq', or find the iteration by a reduction"
        else:
            text = f"iterations of this loop may depend on each other through elements of '{found.name}'"
            remedy = (
                "write 'loop seq', or combine the values in a scalar with a reduction clause,"
                " or use atomic"
            )
        messages.warn(source_loc(loop), text, remedy, access_notes(found.load, found.store))


def chosen_elements(loop: acc.LoopOp, *, lanes: bool) -> Iterator[Chosen]:
    """The arrays whose elements iterations of `loop` share and assign under a condition, each array once."""
    if not has_conditions(loop):
        return
    symbols = LoopSymbols(loop, None)
    stores = [
        store
        for store in conditional_stores(loop, symbols)
        if (lanes or not isinstance(store.root.owner, PRIVATIZING_OPS))
        and any(
            _is_common(store, variable, loop, symbols)
            and not of_one_iteration(store.op, variable, loop, symbols)
            for variable in loop.region.blocks[0].args
        )
    ]
    if not stores:
        return
    varying, updates = VaryingValues(loop), _Updates(loop, symbols, {s.key for s in stores})
    told: set[Hashable] = set()
    for store in stores:
        assert isinstance(store.op, llvm.StoreOp)
        load = updates.of.get(store.op.value)
        if store.key not in told and (load is not None or varying.varies(store.op.value)):
            told.add(store.key)
            yield Chosen(variable_name(store.root), store.op, load)


def _is_common(
    store: ArrayAccess, variable: SSAValue, loop: acc.LoopOp, symbols: LoopSymbols
) -> bool:
    """
    Whether iterations over `variable` certainly store to the same elements: the subscripts run over inner
    loops only, or are constant.
    """
    inner = symbols.inner_ranges(store.op)
    others = (other for other in loop.region.blocks[0].args if other is not variable)
    counters = {*others, *(known.variable for known in inner)}
    places = [*store.subscripts, *(end for known in inner for end in (known.lower, known.last))]
    return all(
        poly is not None
        and all(symbol in counters or symbols.is_invariant(symbol) for symbol in poly.symbols)
        for poly in places
    )


def of_one_iteration(
    op: Operation, variable: SSAValue, loop: acc.LoopOp, symbols: LoopSymbols
) -> bool:
    """Whether a condition on a loop variable lets only one iteration of the loop execute `op`."""
    parent = op.parent_op()
    region = op.parent_region()
    while parent is not None and parent is not loop:
        if isinstance(parent, scf.IfOp) and picks_one(
            parent.cond, region is parent.true_region, variable, symbols
        ):
            return True
        if region is not None and len(region.blocks) > 1:
            break
        region, parent = parent.parent_region(), parent.parent_op()
    if region is None or len(region.blocks) == 1:
        return False
    branches = (block.last_op for block in region.blocks)
    conditions = [end.cond for end in branches if isinstance(end, cf.ConditionalBranchOp)]
    return any(
        picks_one(c, holds, variable, symbols) for c in conditions for holds in (True, False)
    )


class _Updates:
    """The values that a loop computes from its loads of arrays that it also stores to."""

    def __init__(self, loop: acc.LoopOp, symbols: LoopSymbols, arrays: Container[Hashable]):
        self.of: dict[SSAValue, llvm.LoadOp] = {}
        """A value → a load that it is computed from."""
        for op in loop.walk():
            if isinstance(op, llvm.LoadOp) and root_key(root_of(op.ptr), loop, symbols) in arrays:
                self._follow(op)

    def _follow(self, load: llvm.LoadOp) -> None:
        work = [load.dereferenced_value]
        while work:
            value = work.pop()
            if value in self.of:
                continue
            self.of[value] = load
            for use in value.uses:
                work += use.operation.results
