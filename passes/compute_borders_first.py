"""
Offer the border of a construct to copies between devices: a small launch that computes some of its rows
first, on a queue of its own.

A copy of border rows to another device waits for the kernel that writes them, and the next kernel waits for
the copy. If the rows are computed by a small launch as well, the copy can follow that one and run beside the
kernel, which is unchanged and computes the rows once more. The runtime decides at each construct how many
rows, from the copies that came before (`runtime/borders.py`, docs/devices.md).

A construct qualifies if the program cannot distinguish that some iterations of its outermost loop are
repeated at the same time:

- it is one nest of parallel loops, the outermost one with step 1, and writes arrays of its data clauses only,
  each element once, with subscripts that are linear in the outermost variable;
- it reads no array that it writes (the runtime compares the device addresses of different ones);
- no reductions, atomic operations, private variables of gangs, ordered accesses, jumps or calls;
- repeated arithmetic gives the same bits: no product is added or subtracted, as LLVM may fuse the two in one
  of the kernels only (unless fusing is off), no functions whose code might be fused differently, and no fast
  mathematics.

Takes:  data level, data operations final.
Leaves: such constructs of a program that copies between devices are preceded by a call with their footprint:
        the words of `BorderRow` and `BorderArray` (`compiler/base/abi.py`); if its result is not 0, a copy of
        the construct on the queue `ASYNC_BORDER`, for the first rows and the last ones, whose numbers are the
        halves of the result. Another call follows the construct.
Fails:  never. A remark in `accx.note` says why a construct does not qualify.

Before:
  acc.parallel async(%q) { acc.loop control(%i) = (%lb) to (%ub) … { b[i * n + j] = … } }
After:
  %rows = llvm.call @__accopt_border_begin(%footprint)
  scf.if %rows != 0 {
    acc.parallel async(%border) { acc.loop control(%t) = (%c0) to (%count) …
      { %i = %lb + %t + (%t < %low ? 0 : %skipped); b[i * n + j] = … } }
  }
  acc.parallel async(%q) { acc.loop control(%i) = (%lb) to (%ub) … { b[i * n + j] = … } }
  llvm.call @__accopt_border_end(%footprint)

Options: `enabled` (default: no), `target` (`host`: nothing to do).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, math, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp, i64
from xdsl.ir import Operation, SSAValue

from ..compiler.base.abi import ASYNC_BORDER, ASYNC_ON_DEVICE, BORDER_SITES, BorderArray, BorderRow
from ..dialects.accx_compress import DECODES, PACKED
from ..dialects.accx_devices import UpdatePeerOp
from ..dialects.volatility import is_ordered
from .decisions.inequalities import Facts
from .decisions.polynomials import Polynomial
from .decisions.ranges import Extremes, extremes
from .ir.data.sections import (
    PointerUses,
    SectionAccess,
    TouchedSection,
    pointer_uses,
    refine_by_conditions,
    section_of,
)
from .ir.dependence.loop_classifier import is_parallel
from .ir.kernels.outline import construct_queue
from .ir.kernels.runtime_calls import RuntimeCalls
from .ir.ops.acc_ops import (
    NONE,
    child_loops,
    enclosing_function,
    enclosing_module,
    entry_block,
    is_inside,
    parallel_constructs,
    set_operand_groups,
    set_prop,
    variable_name,
)
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.machine import Machine, machine_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure
from .ir.ops.versions import can_have_versions, copy_construct
from .ir.values.addresses import base_of
from .ir.values.host_scalars import HostScalars
from .ir.values.region_values import HostEmitter, RegionSymbols

_COPIES = ("acc_update_peer", "acc_memcpy_d2d", "acc_memcpy_d2d_async", "acc_memcpy_device")
"""Routines of `openacc.h` that may copy rows between devices, or within one."""
_EXACT = (math.SqrtOp, math.AbsFOp, math.CopySignOp, math.FmaOp)
"""Mathematical operations with one correctly rounded result."""
_STRUCTURE = (acc.YieldOp, scf.YieldOp, scf.IfOp, acc.FirstprivateOp, llvm.AllocaOp)


class _Unfit(Exception):
    """A construct does not qualify; the message is the reason."""


@dataclass(frozen=True)
class _Array:
    """The bytes of an array at `base` that are accessed: by the iteration whose outermost variable is 0, with
    those of the next one `slope` bytes further; by all iterations, if `slope` is None."""

    base: SSAValue
    bounds: Extremes
    slope: Polynomial | None


@dataclass(frozen=True)
class _Footprint:
    """The values of a construct's outermost variable, `lower` up to `upper`, and its arrays."""

    loop: acc.LoopOp
    lower: Polynomial
    upper: Polynomial
    arrays: Sequence[_Array]


# What qualifies.


def _only_nest(construct: acc.ParallelOp) -> acc.LoopOp:
    loops = child_loops(construct)
    if len(loops) != 1:
        raise _Unfit("it is not a single nest of loops")
    if construct.private_operands or construct.reduction_operands:
        raise _Unfit("it has private or reduction variables")
    if not can_have_versions(construct):
        raise _Unfit("it has a wait clause")
    (loop,) = loops
    if not is_parallel(loop) or constant_value(loop.step[0]) != 1:
        raise _Unfit("its outermost loop is not parallel with step 1")
    return loop


def _check_operations(construct: acc.ParallelOp, machine: Machine) -> None:
    """Raises `_Unfit` for an operation with effects other than on data, or whose result may differ."""
    if machine.fast_math:
        raise _Unfit("with fast mathematics its results might differ from kernel to kernel")
    for op in construct.region.walk():
        match op:
            case llvm.LoadOp() | llvm.StoreOp():
                _check_access(op, construct)
            case acc.LoopOp():
                if op.reduction_operands or op.private_operands:
                    raise _Unfit("it has private or reduction variables")
            case arith.MulfOp() if not machine.no_fma and _may_be_added(op, construct):
                raise _Unfit("a product may be added, and fused in one kernel only (see --no-fma)")
            case _ if op.name.startswith("math.") and not isinstance(op, _EXACT):
                raise _Unfit(f"the results of '{op.name}' might differ from kernel to kernel")
            case _ if isinstance(op, _STRUCTURE) or is_pure(op):
                pass
            case _:
                raise _Unfit(f"it contains '{op.name}'")


def _may_be_added(product: arith.MulfOp, construct: acc.ParallelOp) -> bool:
    """Whether a product may become an operand of a sum, perhaps by way of variables and conditions."""
    return any(
        not isinstance(use.operation, arith.MulfOp | arith.DivfOp | arith.CmpfOp)
        and not (
            isinstance(use.operation, llvm.StoreOp)
            and base_of(use.operation.ptr) in construct.data_clause_operands
        )
        for use in product.result.uses
    )


def _check_access(op: llvm.LoadOp | llvm.StoreOp, construct: acc.ParallelOp) -> None:
    if is_ordered(op):
        raise _Unfit("an access is volatile or atomic")
    base = base_of(op.ptr)
    mapped = base in construct.data_clause_operands
    owner = base.owner
    if isinstance(owner, llvm.AllocaOp) and is_inside(owner, construct):
        if not isinstance(owner.parent_op(), acc.LoopOp):
            raise _Unfit("a gang has a variable of its own")
    elif isinstance(op, llvm.StoreOp) and not mapped:
        raise _Unfit("it writes memory that no data clause names")
    elif not mapped and not isinstance(owner, acc.FirstprivateOp):
        raise _Unfit("it reads memory that no data clause names")


def _exclusive(a: Operation, b: Operation) -> bool:
    """Whether two operations are in different branches of one `if`."""
    branch: Operation | None = a
    while branch is not None:
        parent = branch.parent_op()
        if isinstance(parent, scf.IfOp) and is_inside(b, parent):
            other: Operation | None = b
            while other is not None and other.parent_op() is not parent:
                other = other.parent_op()
            return other is not None and other.parent_region() is not branch.parent_region()
        branch = parent
    return False


def _check_once(stores: Sequence[SectionAccess], name: str, construct: acc.ParallelOp) -> None:
    """Raises `_Unfit` unless an element is stored once: a copy might otherwise see what is stored first."""
    for index, access in enumerate(stores):
        if not all(_exclusive(access.op, other.op) for other in stores[:index]):
            raise _Unfit(f"elements of '{name}' may be written several times")
        around = access.op.parent_op()
        while around is not None and around is not construct:
            if not isinstance(around, scf.IfOp) and not (
                isinstance(around, acc.LoopOp) and is_parallel(around)
            ):
                raise _Unfit(f"'{name}' is written in a sequential loop")
            around = around.parent_op()


# The footprint.


class _Reader:
    """Finds the footprint of one construct."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.loop = _only_nest(construct)
        self.symbols = RegionSymbols(construct)
        self.variable = self.loop.region.block.args[0]

    def footprint(self) -> _Footprint:
        """Raises `_Unfit` if it is not known before the construct."""
        lower = self.symbols.polynomial(self.loop.lowerbound[0])
        upper = self.symbols.polynomial(self.loop.upperbound[0])
        if lower is None or upper is None:
            raise _Unfit("the bounds of its outermost loop are not known before it")
        arrays = [a for base in self.construct.data_clause_operands for a in self._array(base)]
        if not any(array.slope is not None for array in arrays):
            raise _Unfit("it writes no array")
        found = [lower, upper]
        for array in arrays:
            found += [*array.bounds.lows, *array.bounds.highs, array.slope or lower]
        inside = (s for p in found for s in p.symbols if isinstance(s, SSAValue))
        if any(map(self.symbols.is_inside, inside)):
            raise _Unfit("the accessed sections are not known before it")
        if not HostScalars(self.construct).knows_all(found):
            raise _Unfit("the accessed sections depend on data of the device")
        return _Footprint(self.loop, lower, upper, arrays)

    def _array(self, base: SSAValue) -> list[_Array]:
        name = variable_name(base)
        uses = pointer_uses(base, self.construct, self.symbols)
        owner = base.owner
        if isinstance(owner, Operation) and {PACKED, DECODES} & owner.attributes.keys():
            raise _Unfit(f"'{name}' is compressed")
        if uses.escapes or uses.as_variable:
            raise _Unfit(f"not all accesses to '{name}' are known")
        stores = [access for access in uses.accesses if access.writes]
        if not uses.accesses:
            return []
        if not stores:
            return [self._read(base, uses, name)]
        if len(stores) < len(uses.accesses):
            raise _Unfit(f"it reads and writes '{name}'")
        _check_once(stores, name, self.construct)
        return [self._written(base, access, name) for access in stores]

    def _read(self, base: SSAValue, uses: PointerUses, name: str) -> _Array:
        section = section_of(
            PointerUses([access.in_bytes() for access in uses.accesses]), self.symbols
        )
        if not isinstance(section, TouchedSection):
            raise _Unfit(f"which part of '{name}' it reads is not known before it: {section}")
        return _Array(base, section.bounds, None)

    def _written(self, base: SSAValue, store: SectionAccess, name: str) -> _Array:
        access = store.in_bytes()
        parts = None if access.index is None else access.index.split(self.variable)
        ranges = self.symbols.loop_ranges(access.op)
        if parts is None or ranges is None:
            raise _Unfit(f"the subscripts of '{name}' are not linear in its outermost variable")
        rest, slope = parts
        ranges = refine_by_conditions(ranges, access.op, self.symbols)
        inner = [loop for loop in ranges if loop.variable is not self.variable]
        found = extremes(rest, inner, Facts.of_loops(ranges).proves)
        if found is None:
            raise _Unfit(f"the subscripts of '{name}' are not linear")
        highs = tuple(high + (access.width - 1) for high in found.highs)
        return _Array(base, Extremes(found.lows, highs), slope)


def _emit_footprint(
    footprint: _Footprint, construct: acc.ParallelOp, number: int
) -> tuple[SSAValue, SSAValue]:
    """Stores the footprint of construct `number`; returns its address and the number of iterations."""
    emit = HostEmitter(construct)
    at = Cursor.before(construct)
    lower, upper = emit.emit(footprint.lower), emit.emit(footprint.upper)
    queue = construct_queue(construct, at, ASYNC_ON_DEVICE)
    arrays = footprint.arrays
    words = [at.i64(number), queue, lower, upper, at.i64(len(arrays)), at.i64(0)]
    for array in arrays:
        address = emit.insert(llvm.PtrToIntOp(array.base, i64), variable_name(array.base))
        first, last = emit.minimum(array.bounds.lows), emit.maximum(array.bounds.highs)
        slope = emit.constant(0) if array.slope is None else emit.emit(array.slope)
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


# The copy of the construct.


def _window(copy: acc.ParallelOp, low: SSAValue, count: SSAValue, skipped: SSAValue) -> None:
    """Lets the outermost loop of `copy` run through its first `low` values and then, having skipped some, the
    last ones: `count` in all. The values are i64s of the host."""
    (loop,) = child_loops(copy)
    block = loop.region.block
    variable = block.args[0]
    type_ = variable.type
    assert isinstance(type_, IntegerType)
    at = Cursor.before(loop)
    lower = loop.lowerbound[0]
    first, many, gap = (at.to_integer(value, type_) for value in (low, count, skipped))
    zero = at.constant(0, type_)
    bounds = list(loop.lowerbound), list(loop.upperbound)
    bounds[0][0], bounds[1][0] = zero, many
    set_operand_groups(loop, lowerbound=bounds[0], upperbound=bounds[1])
    start = block.first_op
    assert start is not None
    inside = Cursor.before(start, loop.location)
    beyond = inside.value(arith.CmpiOp(variable, first, "sge"))
    moved = inside.value(arith.SelectOp(beyond, gap, zero))
    shifted = inside.value(arith.AddiOp(variable, lower))
    value = inside.value(arith.AddiOp(shifted, moved), variable.name_hint)
    assert isinstance(value.owner, Operation) and isinstance(shifted.owner, Operation)
    variable.replace_uses_with_if(
        value, lambda use: use.operation not in (beyond.owner, shifted.owner)
    )


def _offer(construct: acc.ParallelOp, footprint: _Footprint, number: int) -> None:
    memory, trips = _emit_footprint(footprint, construct, number)
    calls = RuntimeCalls.in_module(enclosing_module(construct))
    at = Cursor.before(construct)
    rows = calls.value(at, "__accopt_border_begin", memory)
    some = at.value(arith.CmpiOp(rows, at.i64(0), "ne"), "border")
    low = at.value(arith.AndIOp(rows, at.i64(0xFFFFFFFF)), "low")
    count = at.add(low, at.value(arith.ShRUIOp(rows, at.i64(32))), "count")
    skipped = at.sub(trips, count, "skipped")
    copy = copy_construct(construct, at.if_then(some))
    queue = Cursor.before(copy).i64(ASYNC_BORDER)
    set_prop(copy, "asyncOnly", None)
    set_operand_groups(copy, async_operands=[queue])
    set_prop(copy, "asyncOperandsDeviceType", NONE)
    _window(copy, low, count, skipped)
    calls.call(Cursor.after(construct), "__accopt_border_end", memory)


def _copies_between_devices(module: ModuleOp) -> bool:
    return any(
        isinstance(op, UpdatePeerOp)
        or (
            isinstance(op, llvm.CallOp)
            and op.callee is not None
            and op.callee.string_value() in _COPIES
        )
        for op in module.walk()
    )


@dataclass(frozen=True)
class ComputeBordersFirstPass(GpuPass):
    """See the module's description."""

    name = "compute-borders-first"

    enabled: bool = False

    def rewrite(self, module: ModuleOp) -> None:
        if not self.enabled or not _copies_between_devices(module):
            return
        machine = machine_of(module)
        found: list[tuple[acc.ParallelOp, _Footprint]] = []
        for construct in parallel_constructs(module):
            try:
                _only_nest(construct)
                _check_operations(construct, machine)
                found.append((construct, _Reader(construct).footprint()))
            except _Unfit as reason:
                note(construct, [(construct, f"its border is not computed first: {reason}")])
        for number, (construct, footprint) in enumerate(found[:BORDER_SITES]):
            _offer(construct, footprint, number)
            text = "its border may be computed first, for copies to other devices"
            note(construct, [(construct, text)])
