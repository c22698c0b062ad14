"""
Which loads between the loops of a nest give the same value before, during and after the inner loop.

Threads that share the inner loop, without waiting for each other, each load such a value themselves. If an
iteration stores to it (`w = a[i][0]; for (j …) a[i][j] /= w;`), some of them would read what another one has
stored.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import ZERO, Polynomial
from ..ops.acc_ops import PRIVATIZING_OPS
from ..ops.building import constant_value
from ..ops.layout import size_of
from ..ops.purity import is_pure_call, only_reads
from .accesses import aliased_type, may_alias, root_of
from .addresses import PolynomialReader, base_of, steps_to
from .region_values import RegionSymbols

_HARMLESS = (
    acc.LoopOp,
    acc.YieldOp,
    llvm.AllocaOp,
    scf.WhileOp,
    scf.ConditionOp,
    scf.ExecuteRegionOp,
)
"""Operations that store nothing themselves."""


def distance_from_base(pointer: SSAValue, symbols: PolynomialReader) -> Polynomial | None:
    """The distance of an address from its base in bytes; None if it is not a polynomial."""
    total = ZERO
    for step in steps_to(pointer):
        moved = step.in_bytes(symbols)
        if moved is None:
            return None
        total = total + moved
    return total


def _misses(
    store: llvm.StoreOp, load: llvm.LoadOp, loop: acc.LoopOp, symbols: RegionSymbols
) -> bool:
    """
    Whether a store in `loop` and a load outside of it, of the same array, touch different bytes in all
    iterations: the load's are before the first or after the last of them, or between two.
    """
    stored, loaded = (distance_from_base(op.ptr, symbols) for op in (store, load))
    if base_of(store.ptr) is not base_of(load.ptr) or stored is None or loaded is None:
        return False
    bytes_stored, bytes_loaded = size_of(store.value.type), size_of(load.results[0].type)
    variable = loop.region.block.args[-1]
    parts = (stored - loaded).split(variable)
    step = None if parts is None else parts[1].as_constant
    if parts is None or not step or loop.lowerbound[-1].type != variable.type:
        return False
    rest = parts[0].as_constant
    if rest is not None and constant_value(loop.step[-1]) is not None:
        place = rest % abs(step)
        if bytes_loaded <= place <= abs(step) - bytes_stored:
            return True
    low, high = (symbols.polynomial(bound[-1]) for bound in (loop.lowerbound, loop.upperbound))
    if step < 0 or low is None or high is None or constant_value(loop.step[-1]) != 1:
        return False
    if loop.inclusive_upperbound is not None and any(loop.inclusive_upperbound.get_values()):
        high += 1
    first, past = ((parts[0] + bound * step).as_constant for bound in (low, high))
    after = first is not None and first >= bytes_loaded
    return after or (past is not None and past - step + bytes_stored <= 0)


def _may_store(op: Operation) -> bool:
    """Whether `op` itself, apart from its regions, may store to memory."""
    if isinstance(op, llvm.StoreOp):
        return True
    harmless = isinstance(op, (*_HARMLESS, *PRIVATIZING_OPS))
    return not (harmless or only_reads(op) or is_pure_call(op))


def _is_changed(load: llvm.LoadOp, op: Operation, loop: acc.LoopOp, symbols: RegionSymbols) -> bool:
    """Whether `op`, which is in `loop` and may store, may store to what `load` reads."""
    root = root_of(load.ptr)
    if isinstance(op, llvm.StoreOp):
        target = root_of(op.ptr)
        if target is root:
            return not _misses(op, load, loop, symbols)
        stored = aliased_type(op.ptr, op.value.type)
        types = stored, aliased_type(load.ptr, load.results[0].type)
        return may_alias(target, root, types, op)
    pointers = [value for value in op.operands if isinstance(value.type, llvm.LLVMPointerType)]
    roots = [root_of(pointer) for pointer in pointers]
    return isinstance(op, llvm.CallOp) or any(
        target is root or may_alias(target, root, (i8, i8), op) for target in roots
    )


def are_stable(loads: Iterable[llvm.LoadOp], loop: acc.LoopOp, symbols: RegionSymbols) -> bool:
    """Whether no iteration of `loop` may change what one of `loads`, which are before it, has read."""
    found = list(loads)
    writers = [op for op in loop.region.walk() if _may_store(op)] if found else []
    return not any(_is_changed(load, op, loop, symbols) for load in found for op in writers)
