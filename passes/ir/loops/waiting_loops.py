"""
How long each iteration of a sequential loop waits for the one before it, on a CPU.

A sum of floats in the order of the program, or a recurrence such as `p[j] = c / (a * p[j - 1] + b)`, cannot
be vectorised, and its iterations do not overlap: each needs a number that the one before it has computed, in
a register or in memory. Iterations of a parallel loop around it can fill that time (`lane_loops.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith, llvm, math, scf
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import ZERO, Polynomial
from ..data.cached_accesses import Symbols
from ..ops.building import constant_value
from .product_loads import offset_of

SUM = 4
"""The cycles of an addition or multiplication of floats on current processors."""
_DIVISION = 13
"""Those of a division or square root of doubles."""
_MEMORY = 5
"""Those from a store to a load of the same element."""
_DISTANCE = 4
"""Iterations that run at the same time anyway."""
_MOST_ACCESSES = 64
"""Bodies with more accesses have enough to do while they wait."""


def waiting_cycles(loop: scf.ForOp, *, in_order: bool = True) -> int:
    """
    The cycles from the time when an iteration of an innermost loop has its operands to the time when the next
    one has them; 0 if iterations need nothing of each other, or floats that LLVM may compute in any order:
    unless `in_order`, all sums and products are such.
    """
    block = loop.body.block
    end = block.last_op
    assert end is not None
    carried = zip(block.args[1:], end.operands, strict=True)
    lengths = [_path({start}, last, loop) for start, last in carried if _is_float(start)]
    chains = [length for length in lengths if in_order or length != SUM]
    chains += _through_memory(loop, in_order=in_order)
    return max(chains, default=0)


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, AnyFloat)


def _through_memory(loop: scf.ForOp, *, in_order: bool) -> Iterable[int]:
    """The cycles of the chains whose numbers pass from a store to a load of a later iteration."""
    accesses = [op for op in loop.body.block.ops if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    stores = [op for op in accesses if isinstance(op, llvm.StoreOp) and _is_float(op.value)]
    if not stores or len(accesses) > _MOST_ACCESSES:
        return
    symbols = Symbols(loop)
    places = {op: _place(op.ptr, loop, symbols) for op in accesses}
    step = constant_value(loop.step)
    for store in stores:
        loads: set[SSAValue] = set()
        distances: list[int] = []
        apart = False
        for number, load in enumerate(accesses):
            if not isinstance(load, llvm.LoadOp):
                continue
            distance = _distance(places[store], places[load], step)
            if distance == 0 and number > accesses.index(store):
                continue  # what this iteration has stored
            if distance is not None:
                loads.add(load.dereferenced_value)
                distances.append(max(distance, 1))
                apart |= distance > 0
        length = _path(loads, store.value, loop)
        if length and (in_order or apart or length != SUM):
            yield (length + _MEMORY) // min(distances)


_Place = tuple[SSAValue, Polynomial, Polynomial]
"""
The base of an address, and its bytes from there: where the loop's variable is 0, and for each step of 1.
"""


def _place(pointer: SSAValue, loop: scf.ForOp, symbols: Symbols) -> _Place | None:
    base, offset = offset_of(pointer, symbols)
    parts = offset.split(loop.body.block.args[0])
    return None if parts is None else (base, *parts)


def _distance(store: _Place | None, load: _Place | None, step: int | None) -> int | None:
    """
    The iterations from the store of an element to its load: 0 for an element that all iterations access; None
    for another element, or one that is stored long before.
    """
    if store is None or load is None or step is None or store[0] is not load[0]:
        return None
    moves, apart = store[2], store[1] - load[1]
    if moves != load[2]:
        return None
    if moves == ZERO:
        return 0 if apart == ZERO else None
    return next((k for k in range(1, _DISTANCE + 1) if apart == moves * (step * k)), None)


def _path(sources: Iterable[SSAValue], target: SSAValue, loop: scf.ForOp) -> int:
    """
    The cycles of the longest computation from one of `sources` to `target` in the loop's body; 0 if there is
    none, or if its last operation may be reordered.
    """
    lengths = dict.fromkeys(sources, 0)
    for op in () if _is_reordered(target) else loop.body.block.ops:
        before = [lengths[operand] for operand in op.operands if operand in lengths]
        if before and not isinstance(op, llvm.LoadOp):
            length = max(before) + _cycles(op)
            lengths.update((result, length) for result in op.results)
    return lengths.get(target, 0)


def _cycles(op: Operation) -> int:
    match op:
        case arith.DivfOp() | math.SqrtOp():
            return _DIVISION
        case _:
            return SUM if any(map(_is_float, op.results)) else 1


def _is_reordered(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, arith.AddfOp | arith.SubfOp | arith.MulfOp):
        return False
    return FastMathFlag.REASSOC in owner.fastmath.data
