"""
Test before a construct whether its arrays overlap, so that loads need not stay behind stores to other
arrays.

Iterations of parallel loops are independent, but within one of them a store through a pointer may change
what another pointer leads to, unless it is declared `restrict`. An iteration that stores several results
then loads its operands again after each store, and computes what it has from them again. Callers know
that arrays do not overlap, and so does the host when it launches the construct.

Takes:  data level, data operations final; constructs with `accx.apart` are left as they are.
Leaves: constructs in which an iteration loads from an array after it has stored to another
        (`decisions/reordered_loads.py`), and that reach memory through data operands only, have
        `accx.apart`. If that is not known before the program runs, this is the first version in an
        `scf.if` on a test of the spans that the construct accesses; the second, for arrays that overlap,
        is unchanged and has `accx.fallback`. A wait clause becomes an `acc.wait` before the data
        operations. Others are unchanged: those with `accx.fallback`, calls of functions with effects and
        branches, loads of pointers, or arrays of which neither subscripts, clauses nor the runtime tell
        the span.
Fails:  never.

Before:
  acc.parallel dataOperands(%x, %y, %z) { … x[i] = z[i]; y[i] = 2 * z[i] … }
After:
  %spans = … addresses of the first and last bytes
  %apart = llvm.call @__accopt_spans_apart(%spans, %written, %count) : (!llvm.ptr, i64, i64) -> i1
  scf.if %apart {
    acc.parallel dataOperands(%x, %y, %z) { … } attributes {accx.apart}
  } else {
    acc.parallel dataOperands(%x, %y, %z) { … } attributes {accx.fallback}
  }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i8
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import APART, FALLBACK, PUNS
from ..dialects.accx_compress import PACKED
from ..dialects.volatility import is_ordered
from .decisions.reordered_loads import OrderedAccess, Repeated, Step, loads_after_stores
from .decisions.short_rows import MOST_SHORT_ITERATIONS
from .ir.data.host_memory import HostMemory
from .ir.data.sections import pointer_uses
from .ir.kernels.outline import symbol_table, wait_ahead
from .ir.loops.array_spans import (
    ArraySpans,
    Untestable,
    define_test,
    test_spans,
    unknown_arrays,
)
from .ir.loops.loop_facts import constant_trip
from .ir.ops.acc_ops import (
    PRIVATIZING_OPS,
    callee_of,
    enclosing,
    enclosing_function,
    is_inside,
    parallel_constructs,
    uses_inside,
)
from .ir.ops.levels import is_parallel
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure, is_pure_call
from .ir.ops.versions import queue_outside, second_version
from .ir.values.accesses import aliased_type, may_alias, root_of
from .ir.values.addresses import base_of

DEEPEST_CALL = 3
"""The functions that call one another whose accesses are read."""
_COPIES = ("llvm.intr.memcpy", "llvm.intr.memmove", "llvm.intr.memset")


class _Unknown(Exception):
    """The construct reaches memory in a way that the host cannot compare."""


@dataclass
class _Reader:
    """
    Reads the accesses of a construct in their order, also those of functions that it calls: `arguments` are
    the pointers that they are called with, by parameter.
    """

    construct: acc.ParallelOp
    symbols: Mapping[str, Operation]
    arguments: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    calls: list[llvm.FuncOp] = field(default_factory=list[llvm.FuncOp])

    def _array(self, pointer: SSAValue) -> SSAValue | None:
        """
        The data operand through which the construct reaches an address; None for a variable of its own.
        Raises `_Unknown` for any other.
        """
        base = base_of(pointer)
        while isinstance(base.owner, acc.CacheOp) or base in self.arguments:
            cached = base.owner.var if isinstance(base.owner, acc.CacheOp) else None
            base = base_of(cached or self.arguments[base])
        if base in self.construct.data_clause_operands:
            return base
        owner = base.owner
        if isinstance(owner, PRIVATIZING_OPS):
            return None
        if isinstance(owner, llvm.AllocaOp) and (
            is_inside(owner, self.construct)
            or enclosing_function(owner) is not enclosing_function(self.construct)
        ):
            return None
        raise _Unknown

    def _call(self, op: llvm.CallOp) -> list[Step]:
        """What a function does that every thread calls on its own."""
        callee = self.symbols.get(callee_of(op) or "")
        if not isinstance(callee, llvm.FuncOp) or len(callee.body.blocks) != 1:
            raise _Unknown
        if len(self.calls) == DEEPEST_CALL or callee in self.calls:
            raise _Unknown
        self.calls.append(callee)
        self.arguments |= dict(zip(callee.body.block.args, op.args, strict=False))
        found = self.steps(callee.body)
        self.calls.pop()
        return found

    def steps(self, region: Region) -> list[Step]:
        return [step for block in region.blocks for op in block.ops for step in self._step(op)]

    def _access(self, pointer: SSAValue, type_: Attribute, *, writes: bool) -> list[Step]:
        array = self._array(pointer)
        return [] if array is None else [OrderedAccess(array, aliased_type(pointer, type_), writes)]

    def _step(self, op: Operation) -> list[Step]:
        match op:
            case llvm.LoadOp():
                if isinstance(op.dereferenced_value.type, llvm.LLVMPointerType) or is_ordered(op):
                    raise _Unknown
                return self._access(op.ptr, op.dereferenced_value.type, writes=False)
            case llvm.StoreOp():
                if isinstance(op.value.type, llvm.LLVMPointerType) or is_ordered(op):
                    raise _Unknown
                return self._access(op.ptr, op.value.type, writes=True)
            case acc.AtomicReadOp() | acc.AtomicWriteOp() | acc.AtomicUpdateOp():
                return self._pointers(op)
            case acc.LoopOp():
                inner = self.steps(op.region)
                return inner if is_parallel(op) and not _is_short(op) else [Repeated(inner)]
            case scf.ForOp() | scf.WhileOp() | scf.ExecuteRegionOp():
                return [Repeated([s for region in op.regions for s in self.steps(region)])]
            case _ if op.name in _COPIES:
                return self._pointers(op)
            case _ if op.regions:
                return [step for region in op.regions for step in self.steps(region)]
            case _ if is_pure(op) or is_pure_call(op) or op.name.startswith("acc."):
                return []
            case llvm.AllocaOp() | llvm.ReturnOp():
                return []
            case llvm.CallOp():
                return self._call(op)
            case _:
                raise _Unknown

    def _pointers(self, op: Operation) -> list[Step]:
        """An operation that may read and write what its operands point to."""
        inner = [step for region in op.regions for step in self.steps(region)]
        for value in op.operands:
            if isinstance(value.type, llvm.LLVMPointerType):
                inner += self._access(value, i8, writes=True)
        return inner


def _is_short(loop: acc.LoopOp) -> bool:
    """Whether one thread may run the iterations of a loop inside another one: there are few."""
    trips = constant_trip(loop)
    around = enclosing(loop, acc.LoopOp)
    return around is not None and trips is not None and trips <= MOST_SHORT_ITERATIONS


def _used_arrays(construct: acc.ParallelOp) -> list[SSAValue]:
    """The data operands through which the construct, or a copy that it makes, reaches memory."""
    copied = {
        value
        for operand in construct.operands
        if isinstance(operand.owner, PRIVATIZING_OPS)
        for value in operand.owner.operands
    }
    return [
        operand
        for operand in dict.fromkeys(construct.data_clause_operands)
        if operand in copied or uses_inside(operand, construct)
    ]


def _attributes(array: SSAValue) -> Mapping[str, Attribute]:
    return array.owner.attributes if isinstance(array.owner, Operation) else {}


@dataclass
class _Arrays:
    """The arrays of a construct, those that it may write first."""

    construct: acc.ParallelOp
    memory: HostMemory

    def __post_init__(self) -> None:
        self.spans = ArraySpans(self.construct)
        arrays = _used_arrays(self.construct)
        self.written = [array for array in arrays if self._is_written(array)]
        self.read = [array for array in arrays if array not in self.written]

    def _is_written(self, array: SSAValue) -> bool:
        uses = pointer_uses(array, self.construct, self.spans.symbols)
        return uses.writes or bool(uses.as_variable) or not uses.accesses

    def tested(self) -> tuple[list[SSAValue], list[SSAValue]]:
        """The arrays to test, written and read ones, each of which may overlap another."""
        return unknown_arrays(self.written, self.read, self.memory)


def _matters(construct: acc.ParallelOp, symbols: dict[str, Operation], *, typed: bool) -> bool:
    """
    Whether loads come after stores. `symbols`: the module's. `typed`: LLVM knows that accesses of different
    types do not overlap.
    """

    def may_overlap(store: OrderedAccess, load: OrderedAccess) -> bool:
        assert isinstance(store.array, SSAValue) and isinstance(load.array, SSAValue)
        assert isinstance(store.type, Attribute) and isinstance(load.type, Attribute)
        types = (store.type, load.type) if typed else (i8, i8)
        return may_alias(root_of(store.array), root_of(load.array), types)

    return loads_after_stores(
        _Reader(construct, symbols).steps(construct.region),
        may_overlap,
    )


def _test(arrays: _Arrays, written: Sequence[SSAValue], read: Sequence[SSAValue]) -> SSAValue:
    """Emits the test before the construct. Raises `Untestable`."""
    construct, spans = arrays.construct, arrays.spans
    first, second = ([spans.span(a, construct) for a in group] for group in (written, read))
    return test_spans(construct, spans.emit, first, second)


def _settle(
    construct: acc.ParallelOp, memory: HostMemory, symbols: dict[str, Operation], *, typed: bool
) -> bool:
    """Marks a construct, or makes its versions; whether the module needs the function of the test."""
    if APART in construct.attributes:
        return False
    try:
        if not _matters(construct, symbols, typed=typed):
            return False
    except _Unknown:
        return False
    if any(PACKED in _attributes(array) for array in construct.data_clause_operands):
        return False
    arrays = _Arrays(construct, memory)
    written, read = arrays.tested()
    if not written:
        construct.attributes[APART] = UnitAttr()
        return False
    if not queue_outside(construct):
        return False
    try:
        condition = _test(arrays, written, read)
    except Untestable as untestable:
        text = f"loads stay behind stores, as arrays may overlap: {untestable}"
        note(construct, [(construct, text)])
        return False
    wait_ahead(construct)
    copy = second_version(construct, condition)
    construct.attributes[APART] = UnitAttr()
    copy.attributes[FALLBACK] = UnitAttr()
    text = (
        "arrays that it writes overlap no others (tested at launch), else loads stay behind stores"
    )
    note(construct, [(construct, text)])
    return True


@dataclass(frozen=True)
class TellArraysApartPass(ModulePass):
    """See the contract at the top of this file."""

    name = "tell-arrays-apart"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        typed = machine_of(op).target == "host" and PUNS not in op.attributes
        memory, symbols = HostMemory(op), symbol_table(op)
        tests = [
            _settle(construct, memory, symbols, typed=typed)
            for construct in parallel_constructs(op)
            if FALLBACK not in construct.attributes
        ]
        if any(tests):
            define_test(op)
