"""
The memory that a construct accesses in each of its arrays, as addresses that the host computes before it,
and tests of whether arrays overlap: all are compared in one call of a function of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import SymbolTable

from ....dialects.accx import RESTRICT
from ..data.host_memory import HostMemory
from ..data.sections import TouchedSection, pointer_uses, section_of
from ..data.visible_data import has_other_section, is_conditional, visible_entry
from ..kernels.runtime_calls import DataOp, RuntimeCalls
from ..ops.acc_ops import (
    MAPPING_OPS,
    MappingOp,
    enclosing_function,
    enclosing_module,
    is_inside,
    variable_name,
)
from ..ops.building import PTR, Cursor, put_first
from ..ops.layout import size_of
from ..values.host_scalars import HostScalars
from ..values.region_values import HostEmitter, RegionSymbols, variable_key, variable_of
from ..variables.private_storage import entry_cursor

_SPANS_APART = "__accopt_spans_apart"


@dataclass(frozen=True)
class ArraySpan:
    """The bytes from address `begin` up to `end` (i64 values), of an array at `base`."""

    base: SSAValue
    begin: SSAValue
    end: SSAValue


class Untestable(Exception):
    """The host cannot test the condition; the message is the reason."""


class ArraySpans:
    """
    Emits the spans of one construct's arrays, before it: as device addresses, which its data operations give,
    or, before these are known, as addresses of the host's memory (`on_host`).
    """

    def __init__(self, construct: acc.ParallelOp | acc.KernelsOp, *, on_host: bool = False):
        self.construct = construct
        self.on_host = on_host
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
            pointer = variable_of(base) if self.on_host else base
            address = self.emit.value(llvm.PtrToIntOp(pointer, i64), f"{name}_address")
            try:
                first, past = self.offsets(base, code, name)
            except Untestable:
                entry, calls = base.owner, RuntimeCalls.in_module(enclosing_module(self.construct))
                if self.on_host or not isinstance(entry, DataOp):
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
        entry = base.owner if isinstance(base.owner, MAPPING_OPS) else self._visible(base)
        if entry is None:
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

    def _visible(self, base: SSAValue) -> MappingOp | None:
        """
        The only data operation around the construct that maps what an address of the host points to: not
        one of a pointer variable that may have changed since.
        """
        entry = visible_entry(self.construct, base) if self.on_host else None
        if entry is None or has_other_section(entry) or is_conditional(entry):
            return None
        same = variable_key(entry.acc_var) == variable_key(base)
        return entry if same and isinstance(entry, MAPPING_OPS) else None

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


def _known_apart(one: SSAValue, other: SSAValue, memory: HostMemory) -> bool:
    """
    Whether two arrays, of which the construct writes one, do not overlap in any run of the program.
    """
    owners = [array.owner for array in (one, other)]
    if any(isinstance(owner, Operation) and RESTRICT in owner.attributes for owner in owners):
        return True
    return all(
        memory.distinct(left, right) for left in memory.roots(one) for right in memory.roots(other)
    )


def unknown_arrays(
    written: Sequence[SSAValue], read: Sequence[SSAValue], memory: HostMemory
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The arrays, written and read ones, that may overlap another where one of the two is written."""
    every = [*written, *read]
    unknown: set[SSAValue] = set()
    for place, one in enumerate(written):
        for other in every[place + 1 :]:
            settled = one in unknown and other in unknown
            if not settled and not _known_apart(one, other, memory):
                unknown |= {one, other}
    return [a for a in written if a in unknown], [a for a in read if a in unknown]


def test_spans(
    construct: Operation, emit: HostEmitter, written: Sequence[ArraySpan], read: Sequence[ArraySpan]
) -> SSAValue:
    """Emits the test before `construct`: an i1, whether none of the spans `written` overlaps another one."""
    found = [*written, *read]
    entry = entry_cursor(enclosing_function(construct))
    entry.loc = construct.location
    memory = entry.alloca(llvm.LLVMArrayType(2 * len(found), i64), "spans")
    for index, span in enumerate(found):
        emit.store(span.begin, emit.field(memory, 16 * index))
        emit.store(span.end, emit.field(memory, 16 * index + 8))
    call = llvm.CallOp(
        _SPANS_APART, memory, emit.i64(len(written)), emit.i64(len(found)), return_type=i1
    )
    return emit.value(call, "apart")


def define_test(module: ModuleOp) -> None:
    """Adds the function that the tests call, unless the module has it."""
    if SymbolTable.lookup_symbol(module, _SPANS_APART) is None:
        function = _spans_apart()
        function.location = module.location
        put_first(module.body.block, function)


def _spans_apart() -> llvm.FuncOp:
    """
    The function `i1 __accopt_spans_apart(ptr spans, i64 written, i64 count)`: whether none of the first
    `written` spans, a begin and an end each, overlaps another.
    """
    block = Block(arg_types=[PTR, i64, i64])
    function = llvm.FuncOp(
        _SPANS_APART,
        llvm.LLVMFunctionType([PTR, i64, i64], i1),
        llvm.LinkageAttr("internal"),
        body=Region(block),
        extra_attrs={"no_inline": UnitAttr()},
    )
    spans, written, count = block.args
    at = Cursor(InsertPoint.at_end(block), function.location)
    result = at.alloca(i1, "result")
    at.store(at.constant(1, i1), result)
    one = at.i64(1)
    outer, body = at.for_loop(at.i64(0), written, one, "one")
    first = outer.body.block.args[0]
    begin, end = _bounds(body, spans, first)
    inner, pair = body.for_loop(body.add(first, one), count, one, "other")
    other_begin, other_end = _bounds(pair, spans, inner.body.block.args[0])
    before = pair.value(arith.CmpiOp(end, other_begin, "ugt"))
    after = pair.value(arith.CmpiOp(other_end, begin, "ugt"))
    meets = pair.if_then(pair.value(arith.AndIOp(before, after), "meet"))
    meets.store(meets.constant(0, i1), result)
    at.insert(llvm.ReturnOp(at.load(result, i1)))
    return function


def _bounds(at: Cursor, spans: SSAValue, index: SSAValue) -> tuple[SSAValue, SSAValue]:
    place = at.offset(spans, at.mul(index, at.i64(16)))
    return at.load(place, i64, "begin"), at.load(at.field(place, 8), i64, "end")
