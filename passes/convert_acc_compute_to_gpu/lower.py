"""
Lowers the region of a construct or a routine to device code: walks the input once, and decides for each
operation which threads run it.

- Pure operations and loads: every thread, redundantly.
- Stores to thread-private variables: every thread.
- Other stores, atomics, calls with effects: the leader of the group; results are broadcast.
- Control flow: uniform. A structured operation with effects and without collective operations runs in the
  leader as a whole.
- `acc.loop`: `acc_loops.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import SymbolRefAttr, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import accx_bulk, accx_cache, accx_gangs, llvm_ext
from ...dialects.accx import HANDED_OVER
from ...dialects.accx_scan import ScanOp
from ...dialects.volatility import is_ordered
from ..decisions.loop_partition import Mode
from ..ir.kernels.routine_calls import CallKind
from ..ir.ops.acc_ops import PrivatizingOp, callee_of
from ..ir.ops.building import PTR, Cursor
from . import bulk, cache, privatise
from .acc_loops import DeviceLoopLowering
from .barriers import ANY_INTERNAL, UNKNOWN, ObjectAccess, accesses
from .context import Kernel
from .control_flow import dominance_order
from .effects import (
    COPIES,
    Effects,
    Summary,
    repeated,
    slot_of,
    slots,
)
from .leaves import ATOMICS
from .reduction_copies import ReductionCopies
from .routines import device_symbol
from .scans import lower_scan
from .specialise import Specialiser
from .warp import by_leader

_copied: set[type[Operation]] = set()
"""A cache of the operation classes that are cloned unchanged unless they have regions."""


class RegionLowering:
    """Lowers operations of the input into one device function."""

    def __init__(self, k: Kernel, specialiser: Specialiser, construct: Sequence[acc.ReductionOp]):
        """`construct`: the reductions of the compute construct itself."""
        self.k = k
        self.specialiser = specialiser
        self.calls = specialiser.symbols.calls
        k.lower_operation = self._lower_within
        self.reductions = ReductionCopies(k, self.calls, construct)
        self.loops = DeviceLoopLowering(k, self.calls, self.reductions, self._lower_body)

    # Regions and blocks

    def lower_blocks(self, old: Region, new: Region, entry: Block | None = None) -> None:
        """
        Lowers all blocks of `old` into `new`, whose first block is `entry` if it exists already.
        Terminators are lowered like other operations.
        """
        k = self.k
        mapping: dict[Block, Block] = {}
        for number, block in enumerate(old.blocks):
            copy = entry if number == 0 and entry is not None else Block()
            if copy.parent is None:
                new.add_block(copy)
            if copy is not entry:
                for arg in block.args:
                    inner = copy.insert_arg(arg.type, len(copy.args))
                    inner.name_hint = arg.name_hint
            mapping[block] = copy
            for arg, inner in zip(block.args, copy.args, strict=False):
                k.values[arg] = inner
        start: set[ObjectAccess] | None = None
        if len(old.blocks) > 1 and k.mode is not Mode.THREAD:
            effects = Summary(k, self.calls)
            for op in [op for block in old.blocks for op in block.ops]:
                effects.of(op)
            start = k.tracker.pending | set(repeated(effects.effects))
        for block in dominance_order(old):
            if start is not None:
                k.tracker.pending = set(start)
            with k.at(Cursor.at_end(mapping[block], k.loc)):
                for op in block.ops:
                    self.lower(op, mapping)
        if start is not None:
            k.tracker.pending |= start

    def lower_single(self, old: Block) -> None:
        """Lowers the operations of a block, except its terminator, at the current position."""
        for op in old.ops:
            if not op.has_trait(IsTerminator):
                self.lower(op, {})

    def _lower_body(self, region: Region) -> None:
        """Lowers the body of an `acc.loop` once; several blocks go into an `scf.execute_region`."""
        if len(region.blocks) == 1:
            self.lower_single(region.block)
            return
        inner = Region()
        self.k.insert(scf.ExecuteRegionOp([], inner))
        self.lower_blocks(region, inner)

    def _lower_within(self, op: Operation) -> None:
        """Lowers an operation that is not a terminator."""
        self.lower(op, {})

    # Operations

    def lower(self, op: Operation, blocks: dict[Block, Block]) -> None:
        """Lowers one operation at the current position; `blocks` maps successors."""
        k = self.k
        k.loc = op.location
        if op.__class__ in _copied and not op.regions:
            self._copy(op, blocks)
            return
        match op:
            case acc.LoopOp():
                self.loops.lower(op)
            case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp():
                self._privatising(op)
            case acc.DataBoundsOp():
                pass
            case acc.CacheOp():
                k.values[op.acc_var] = k.values[op.var]
            case accx_cache.GangThreadsOp():
                effects = Summary(k, self.calls).of(op)
                cache.gang_threads(k, op, effects, self.lower_single)
            case accx_cache.SharedTileOp():
                cache.shared_tile(k, op)
            case accx_cache.GangBarrierOp():
                cache.barrier(k)
            case accx_cache.GangSumOp():
                cache.gang_sum(k, op)
            case accx_gangs.LaunchMemoryOp():
                cache.launch_memory(k, op)
            case accx_gangs.LastGangOp():
                cache.last_gang(k, op)
            case accx_cache.CopyAsyncOp():
                cache.copy_async(k, op)
            case accx_cache.WaitCopiesOp():
                cache.wait_copies(k)
            case accx_cache.WarpProductOp():
                cache.warp_product(k, op)
            case accx_cache.OpaqueOp():
                cache.opaque(k, op)
            case ScanOp():
                lower_scan(k, op)
            case _ if isinstance(op, accx_bulk.OPERATIONS):
                bulk.lower(k, op)
            case acc.YieldOp():
                k.insert(scf.YieldOp())
            case llvm.AllocaOp():
                k.values[op.res] = privatise.local_variable(k, op)
            case llvm.AddressOfOp():
                self._address_of(op)
            case llvm.StoreOp():
                self._store(op)
            case llvm.LoadOp():
                self._load(op)
            case llvm.CallOp():
                self._call(op)
            case _ if op.name.startswith("acc."):
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"'{op.name}' is not allowed in code for the GPU",
                    "move the directive out of the compute construct",
                )
            case _ if op.regions:
                self._structured(op)
            case _ if isinstance(op, (*ATOMICS, *COPIES, llvm_ext.MemsetOp, llvm.InlineAsmOp)):
                self._once(op)
            case _:
                _copied.add(op.__class__)
                self._copy(op, blocks)

    def _copy(self, op: Operation, blocks: dict[Block, Block] | None = None) -> Operation:
        copy = op.clone_without_regions(self.k.values, blocks)
        self.k.place(copy)
        return copy

    def _load(self, op: llvm.LoadOp) -> None:
        if self.k.mode is Mode.THREAD:
            self._copy(op)
            return
        root = self.k.root(self.k.values[op.ptr])
        if root is not None and is_ordered(op):
            self._once(op)
            return
        if root is not None:
            self.k.access(accesses((root,), (), leader=False))
        self._copy(op)

    def _store(self, op: llvm.StoreOp) -> None:
        if self.k.mode is Mode.THREAD or self.k.root(self.k.values[op.ptr]) is None:
            self._copy(op)
        else:
            self._once(op)

    def _once(self, op: Operation) -> None:
        """Lowers an operation with effects that every thread must not repeat."""
        k = self.k
        if k.mode is Mode.THREAD:
            self._copy(op)
            return
        effects = Summary(k, self.calls).of(op)
        if not effects.writes and not effects.once:
            k.access(accesses(effects.reads, (), leader=False))
            self._copy(op)
            return
        self._in_leader(op, effects)

    def _in_leader(self, op: Operation, effects: Effects) -> None:
        """
        Lowers a whole operation to run in the leader; its results, and the thread-private variables that it
        sets, are broadcast to the other threads.
        """
        k = self.k
        own = slots(k, effects)
        k.access(accesses(effects.reads, effects.writes, leader=True))
        types = [r.type for r in op.results] + [slot.elem_type for slot in own]

        def emit() -> list[SSAValue]:
            with k.running(Mode.THREAD, k.tracker):
                self.lower(op, {})
            results = [k.values[r] for r in op.results]
            loads = [k.insert(llvm.LoadOp(slot.res, slot.elem_type)) for slot in own]
            for load in loads:
                load.attributes[HANDED_OVER] = UnitAttr()
            return results + [load.dereferenced_value for load in loads]

        values = by_leader(k, types, emit)
        for result, value in zip(op.results, values, strict=False):
            value.name_hint = result.name_hint
            k.values[result] = value
        for slot, value in zip(own, values[len(op.results) :], strict=True):
            k.insert(llvm.StoreOp(value, slot.res)).attributes[HANDED_OVER] = UnitAttr()

    def _address_of(self, op: llvm.AddressOfOp) -> None:
        k = self.k
        name = op.global_name.string_value()
        if isinstance(self.calls.symbols.get(name), llvm.FuncOp):
            target = self.specialiser.function(name, k, op)
            k.values[op.result] = k.in_prologue().value(llvm.AddressOfOp(target, PTR), name)
            return
        space, link = self.specialiser.symbols.global_variable(op)
        address = k.in_prologue().value(llvm.AddressOfOp(device_symbol(name), space), name)
        if link:
            k.values[op.result] = k.in_prologue().load(address, PTR, name)
            return
        k.values[op.result] = k.in_prologue().value(
            llvm_ext.AddrSpaceCastOp(address, op.result.type), name
        )

    # Calls

    def _call(self, op: llvm.CallOp) -> None:
        k = self.k
        kind = self.calls.kind(op)
        if k.mode is Mode.THREAD or kind is CallKind.PURE:
            if k.mode is not Mode.THREAD:
                reads = Summary(k, self.calls).of(op).reads
                k.access(accesses(reads, (), leader=False))
            self._direct_call(op)
        elif kind is CallKind.COLLECTIVE:
            k.access(accesses((UNKNOWN, ANY_INTERNAL), (UNKNOWN, ANY_INTERNAL), leader=False))
            self._direct_call(op)
        else:
            self._in_leader(op, Summary(k, self.calls).of(op))

    def _direct_call(self, op: llvm.CallOp) -> None:
        copy = self._copy(op)
        name = callee_of(op)
        if name is not None:
            copy.properties["callee"] = SymbolRefAttr(
                self.specialiser.function(self.calls.bound_name(name), self.k, op)
            )

    # Structured operations

    def _structured(self, op: Operation) -> None:
        k = self.k
        if k.mode is Mode.THREAD:
            self._uniform(op, None)
            return
        effects = Summary(k, self.calls).of(op)
        if effects.collective:
            self._uniform(op, effects)
        elif not effects.writes and not effects.once:
            k.access(accesses(effects.reads, (), leader=False))
            with k.running(Mode.THREAD, k.tracker):
                self._uniform(op, None)
        elif all(slot_of(k.values[v]) is not None for v in effects.own_writes):
            self._in_leader(op, effects)
        else:
            self._uniform(op, effects)

    def _uniform(self, op: Operation, effects: Effects | None) -> None:
        """Lowers control flow that all threads of the group follow together."""
        k = self.k
        copy = op.clone_without_regions(k.values)
        k.place(copy)
        before = set(k.tracker.pending)
        after: set[ObjectAccess] = set(before)
        repeats = not isinstance(op, scf.IfOp | scf.IndexSwitchOp | scf.ExecuteRegionOp)
        for old, new in zip(op.regions, copy.regions, strict=True):
            if effects is not None:
                if repeats:
                    k.tracker.pending |= set(repeated(effects))
                elif not isinstance(op, scf.ExecuteRegionOp):
                    k.tracker.pending = set(before)
            self.lower_blocks(old, new)
            after |= k.tracker.pending
        k.tracker.pending = after if effects is not None else before

    # Private variables

    def _privatising(self, op: PrivatizingOp) -> None:
        """Makes the construct's own copies; those of a loop are made with the loop."""
        if isinstance(op, acc.ReductionOp):
            if op in self.reductions.construct:
                self.reductions.begin_construct(op)
            return
        if all(_is_clause_of_loop(use.operation, op.acc_var) for use in op.acc_var.uses):
            return
        self.k.values[op.acc_var] = privatise.own_copy(self.k, op, self.calls.recipes)


def _is_clause_of_loop(user: Operation, value: SSAValue) -> bool:
    """Whether a use of a private copy is a loop's clause, or inside a loop with that clause."""
    op: Operation | None = user
    while op is not None:
        if isinstance(op, acc.LoopOp) and (
            value in op.private_operands or value in op.firstprivate_operands
        ):
            return True
        op = op.parent_op()
    return False
