"""
The footprint of a construct for `compute-borders-first`: what each row of it writes, and what it reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ...compiler.base.abi import ASYNC_ON_DEVICE, BorderArray, BorderRow
from ...dialects.accx_compress import DECODES, PACKED
from ..decisions.inequalities import Facts
from ..decisions.polynomials import Polynomial
from ..decisions.ranges import Extremes, extremes
from ..ir.data.sections import (
    PointerUses,
    SectionAccess,
    TouchedSection,
    pointer_uses,
    refine_by_conditions,
    section_of,
)
from ..ir.kernels.outline import construct_queue
from ..ir.ops.acc_ops import enclosing_function, entry_block, variable_name
from ..ir.ops.building import Cursor
from ..ir.values.host_scalars import HostScalars
from ..ir.values.region_values import HostEmitter, RegionSymbols
from .conditions import Unfit, check_once, only_nest


@dataclass(frozen=True)
class _Array:
    """
    The accessed bytes of an array at `base`. A written array has a `slope`: they are those of the iteration
    whose outermost variable is 0, and those of the next one are so many bytes further. For an array that is
    read, they are those of all iterations.
    """

    base: SSAValue
    bounds: Extremes
    slope: Polynomial | None


@dataclass(frozen=True)
class Footprint:
    """The values of a construct's outermost variable, `lower` up to `upper`, and its arrays."""

    loop: acc.LoopOp
    lower: Polynomial
    upper: Polynomial
    arrays: Sequence[_Array]

    @property
    def trips(self) -> Polynomial:
        return self.upper - self.lower

    def accessed(self) -> int | None:
        """The bytes between the ends of what all iterations access of each array; None if not constant."""
        total = Polynomial.constant(0)
        for array in self.arrays:
            if len(array.bounds.lows) != 1 or len(array.bounds.highs) != 1:
                return None
            total += array.bounds.highs[0] - array.bounds.lows[0] + 1
            if array.slope is not None:
                total += array.slope * (self.trips - 1)
        return total.as_constant


class FootprintReader:
    """Finds the footprint of one construct."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.loop = only_nest(construct)
        self.symbols = RegionSymbols(construct)
        self.variable = self.loop.region.block.args[0]

    def footprint(self) -> Footprint:
        """Raises `Unfit` if it is not known before the construct."""
        lower = self.symbols.polynomial(self.loop.lowerbound[0])
        upper = self.symbols.polynomial(self.loop.upperbound[0])
        if lower is None or upper is None:
            raise Unfit("the bounds of its outermost loop are not known before it")
        arrays = [a for base in self.construct.data_clause_operands for a in self._array(base)]
        if not any(array.slope is not None for array in arrays):
            raise Unfit("it writes no array")
        found = [lower, upper]
        for array in arrays:
            found += [*array.bounds.lows, *array.bounds.highs, array.slope or lower]
        inside = (s for p in found for s in p.symbols if isinstance(s, SSAValue))
        if any(map(self.symbols.is_inside, inside)):
            raise Unfit("the accessed sections are not known before it")
        if not HostScalars(self.construct).knows_all(found):
            raise Unfit("the accessed sections depend on data of the device")
        return Footprint(self.loop, lower, upper, arrays)

    def _array(self, base: SSAValue) -> list[_Array]:
        name = variable_name(base)
        uses = pointer_uses(base, self.construct, self.symbols)
        owner = base.owner
        if isinstance(owner, Operation) and {PACKED, DECODES} & owner.attributes.keys():
            raise Unfit(f"'{name}' is compressed")
        if uses.escapes or uses.as_variable:
            raise Unfit(f"not all accesses to '{name}' are known")
        stores = [access for access in uses.accesses if access.writes]
        if not uses.accesses:
            return []
        if not stores:
            return [self._read(base, uses, name)]
        if len(stores) < len(uses.accesses):
            raise Unfit(f"it reads and writes '{name}'")
        check_once(stores, name, self.construct)
        return [self._written(base, access, name) for access in stores]

    def _read(self, base: SSAValue, uses: PointerUses, name: str) -> _Array:
        section = section_of(
            PointerUses([access.in_bytes() for access in uses.accesses]), self.symbols
        )
        if not isinstance(section, TouchedSection):
            raise Unfit(f"which part of '{name}' it reads is not known before it: {section}")
        return _Array(base, section.bounds, None)

    def _written(self, base: SSAValue, store: SectionAccess, name: str) -> _Array:
        access = store.in_bytes()
        parts = None if access.index is None else access.index.split(self.variable)
        ranges = self.symbols.loop_ranges(access.op)
        if parts is None or ranges is None:
            raise Unfit(f"the subscripts of '{name}' are not linear in its outermost variable")
        rest, slope = parts
        ranges = refine_by_conditions(ranges, access.op, self.symbols)
        inner = [loop for loop in ranges if loop.variable is not self.variable]
        found = extremes(rest, inner, Facts.of_loops(ranges).proves)
        if found is None:
            raise Unfit(f"the subscripts of '{name}' are not linear")
        highs = tuple(high + (access.width - 1) for high in found.highs)
        return _Array(base, Extremes(found.lows, highs), slope)


def emit_footprint(
    footprint: Footprint, construct: acc.ParallelOp, number: int, *, always: bool
) -> tuple[SSAValue, SSAValue]:
    """Stores the footprint of construct `number`, with `BorderRow.always`; returns its address and the number
    of iterations."""
    emit = HostEmitter(construct)
    at = Cursor.before(construct)
    lower, upper = emit.emit(footprint.lower), emit.emit(footprint.upper)
    queue = construct_queue(construct, at, ASYNC_ON_DEVICE)
    arrays = footprint.arrays
    words = [at.i64(number), queue, lower, upper, at.i64(len(arrays)), at.i64(int(always))]
    for array in arrays:
        address = emit.value(llvm.PtrToIntOp(array.base, i64), variable_name(array.base))
        first, last = emit.minimum(array.bounds.lows), emit.maximum(array.bounds.highs)
        slope = emit.i64(0) if array.slope is None else emit.emit(array.slope)
        words += [
            at.add(address, first),
            at.add(at.add(address, last), at.i64(1)),
            slope,
            at.i64(int(array.slope is not None)),
        ]
    assert 8 * len(words) == _footprint_bytes(len(arrays))
    function = enclosing_function(construct)
    assert function is not None
    first_op = entry_block(function).first_op
    assert first_op is not None
    type_ = llvm.LLVMArrayType(len(words), i64)
    memory = Cursor.before(first_op, construct.location).alloca(type_, "footprint")
    for index, word in enumerate(words):
        at.store(word, at.field(memory, 8 * index))
    return memory, at.sub(upper, lower)


def _footprint_bytes(arrays: int) -> int:
    """The bytes of a footprint with so many arrays."""
    return ctypes.sizeof(BorderRow) + arrays * ctypes.sizeof(BorderArray)
