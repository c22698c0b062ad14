"""
Arrays through which iterations of a loop certainly depend on each other, whatever the program says of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..decisions.certain_dependence import EVERY, is_met, iterations_apart
from ..decisions.dependence import Subscripts
from .acc_ops import constant_value, is_defined_inside, variable_name
from .accesses import Unit, is_scalar_variable, root_of, subscripts_of
from .loop_dependence import root_key
from .loop_symbols import LoopSymbols


@dataclass(frozen=True)
class CarriedArray:
    """An array, and a load of an element that another iteration (`EVERY` one, if `every`) stores."""

    name: str
    load: Operation
    store: Operation
    every: bool


@dataclass(frozen=True)
class ArrayAccess:
    """An access to an array from outside of a loop; `key` identifies the array."""

    op: llvm.LoadOp | llvm.StoreOp
    key: Hashable
    root: SSAValue
    subscripts: Subscripts
    units: tuple[Unit, ...]
    type: Attribute


def carried_array(loop: acc.LoopOp) -> CarriedArray | None:
    """
    The first array that iterations of `loop` pass on values of: every iteration loads what another one has
    stored or will store, under no condition, and has not stored to the array itself before.
    """
    symbols = LoopSymbols(loop, None)
    stores: dict[Hashable, list[ArrayAccess]] = {}
    loads: list[ArrayAccess] = []
    for access in array_accesses(loop, symbols):
        if isinstance(access.op, llvm.StoreOp):
            stores.setdefault(access.key, []).append(access)
        elif access.key not in stores:
            loads.append(access)
    for load in loads:
        for store in stores.get(load.key, ()):
            apart = _apart(loop, symbols, store, load)
            if apart is not None:
                return CarriedArray(variable_name(load.root), load.op, store.op, apart == EVERY)
    return None


def array_accesses(loop: acc.LoopOp, symbols: LoopSymbols) -> Iterator[ArrayAccess]:
    """The accesses that every iteration makes, in order, but for what inner loops run."""
    if len(loop.region.blocks) == 1:
        for op in _certain(loop.region.block):
            access = _access(op, loop, symbols)
            if access is not None:
                yield access


def _certain(block: Block) -> Iterator[Operation]:
    """What an iteration executes under no condition but that inner loops run."""
    for op in block.ops:
        if isinstance(op, scf.ForOp | acc.LoopOp):
            (region,) = op.regions
            if len(region.blocks) == 1:
                yield from _certain(region.block)
        elif isinstance(op, llvm.LoadOp | llvm.StoreOp):
            yield op


def _access(op: Operation, loop: acc.LoopOp, symbols: LoopSymbols) -> ArrayAccess | None:
    """A load or store of an array from outside of the loop."""
    assert isinstance(op, llvm.LoadOp | llvm.StoreOp)
    type_ = op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type
    root = root_of(op.ptr)
    own = (*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands)
    if root in own or is_scalar_variable(root):
        return None
    if is_defined_inside(root, loop) and not isinstance(root.owner, llvm.LoadOp | llvm.AddressOfOp):
        return None
    key = root_key(root, loop, symbols)
    if key is None:
        return None
    subscripts, units = subscripts_of(op.ptr, symbols)
    return ArrayAccess(op, key, root, subscripts, units, type_)


def _apart(
    loop: acc.LoopOp, symbols: LoopSymbols, store: ArrayAccess, load: ArrayAccess
) -> int | None:
    if store.units != load.units or store.type != load.type or not store.subscripts:
        return None
    inner = (*symbols.inner_ranges(store.op), *symbols.inner_ranges(load.op))
    if symbols.inner_ranges(store.op) != symbols.inner_ranges(load.op):
        return None

    def invariant(symbol: Hashable) -> bool:
        return isinstance(symbol, SSAValue) and not is_defined_inside(symbol, loop)

    for variable in loop.region.block.args:
        step = constant_value(symbols.step_of(variable))
        if step is None or step <= 0:
            return None
        own, later, earlier = symbols.own_ranges(variable)
        extent = (own.last - own.lower).as_constant
        trip = None if extent is None else extent // step + 1
        ranges = {known.variable: known for known in (*inner, *later, *earlier)}
        apart = iterations_apart(
            store.subscripts, load.subscripts, variable, step, ranges, invariant
        )
        if apart is not None and is_met(apart, trip):
            return apart
    return None
