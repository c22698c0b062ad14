"""
The memory that a construct accesses in each of its arrays, as addresses that the host computes before it,
for tests of whether arrays overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ..data.sections import TouchedSection, pointer_uses, section_of
from ..kernels.runtime_calls import DataOp, RuntimeCalls
from ..ops.acc_ops import MAPPING_OPS, enclosing_module, is_inside, variable_name
from ..ops.layout import size_of
from ..values.host_scalars import HostScalars
from ..values.region_values import HostEmitter, RegionSymbols


@dataclass(frozen=True)
class ArraySpan:
    """The bytes from address `begin` up to `end` (i64 values), of an array at `base`."""

    base: SSAValue
    begin: SSAValue
    end: SSAValue


class Untestable(Exception):
    """The host cannot test the condition; the message is the reason."""


class ArraySpans:
    """Emits the spans of one construct's arrays, before it."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.symbols = RegionSymbols(construct)
        self.emit = HostEmitter(construct)
        self._spans: dict[tuple[SSAValue, Operation], ArraySpan] = {}

    def span(self, base: SSAValue, code: Operation) -> ArraySpan:
        """
        The span of memory that `code`, the construct or a loop of it, accesses through the data operand
        `base`: what its subscripts span, otherwise the section of the data clause, otherwise (for a GPU)
        all that is mapped there, which a call of the runtime finds. Raises `Untestable` if none of these
        is known.
        """
        if (base, code) not in self._spans:
            name = variable_name(base)
            address = self.emit.value(llvm.PtrToIntOp(base, i64), f"{name}_address")
            try:
                first, past = self.offsets(base, code, name)
            except Untestable:
                entry, calls = base.owner, RuntimeCalls.in_module(enclosing_module(self.construct))
                if not isinstance(entry, DataOp):
                    raise
                begin, end = calls.mapped_extent(self.construct, entry)
            else:
                begin = self.emit.value(arith.AddiOp(address, first), f"{name}_begin")
                end = self.emit.value(arith.AddiOp(address, past), f"{name}_end")
            self._spans[base, code] = ArraySpan(address, begin, end)
        return self._spans[base, code]

    def offsets(self, base: SSAValue, code: Operation, name: str) -> tuple[SSAValue, SSAValue]:
        """
        The bytes from `base` to the beginning and to the end of what `code` accesses through it, without
        a call of the runtime. Raises `Untestable` if they are not known; the message calls the array
        `name`.
        """
        section = self._section(base, code)
        if section is not None:
            size = size_of(section.unit)
            first = self.emit.minimum(tuple(low * size for low in section.bounds.lows))
            past = tuple((high + 1) * size for high in section.bounds.highs)
            return first, self.emit.maximum(past)
        entry = base.owner
        if not isinstance(entry, MAPPING_OPS):
            raise Untestable(f"which part of '{name}' it accesses is not known")
        if not entry.bounds:
            if isinstance(entry, acc.DevicePtrOp | acc.NoCreateOp) or not _is_variable(entry.var):
                raise Untestable(f"which part of '{name}' it accesses is not known")
            return self.emit.i64(0), self.emit.i64(size_of(entry.var_type))
        bounds = entry.bounds[0].owner
        assert isinstance(bounds, acc.DataBoundsOp)
        if bounds.lowerbound is None or bounds.extent is None or bounds.stride is None:
            raise Untestable(f"which part of '{name}' it accesses is not known")
        first = self.emit.value(arith.MuliOp(bounds.lowerbound, bounds.stride))
        length = self.emit.value(arith.MuliOp(bounds.extent, bounds.stride))
        return first, self.emit.value(arith.AddiOp(first, length))

    def _section(self, base: SSAValue, code: Operation) -> TouchedSection | None:
        """The section, in units, that `code` accesses through `base`; None if it is not known."""
        uses = pointer_uses(base, self.construct, self.symbols)
        if code is self.construct and uses.as_variable:
            return None
        inside = replace(uses, accesses=[a for a in uses.accesses if is_inside(a.op, code)])
        section = section_of(inside, self.symbols)
        if not isinstance(section, TouchedSection):
            return None
        bounds = (*section.bounds.lows, *section.bounds.highs)
        return section if HostScalars(self.construct).knows_all(bounds) else None

    def apart(self, left: ArraySpan, right: ArraySpan) -> SSAValue:
        """An i1: one span ends before the other begins."""
        before = self.emit.value(arith.CmpiOp(left.end, right.begin, "ule"))
        after = self.emit.value(arith.CmpiOp(right.end, left.begin, "ule"))
        return self.emit.value(arith.OrIOp(before, after), "apart")


def _is_variable(value: SSAValue) -> bool:
    """Whether a clause's variable is an object of its type."""
    return isinstance(value.owner, llvm.AllocaOp | llvm.AddressOfOp)
