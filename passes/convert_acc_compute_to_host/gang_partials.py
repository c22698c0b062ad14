"""
Reductions over the gangs of a host kernel.

The launch's scratch memory holds a header (a counter of finished gangs and a lock, zero between
launches) and a slot per gang. A gang writes its partial results to its slot; the kernel call that completes
the counter folds all slots into the variables in the order of gangs, so that results do not depend on the
scheduling of threads. Each gang folds sections whose size is known only at run time itself, under the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import UnitAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import llvm_ext
from ...dialects.accx import ATOMIC
from ..ir.ops.building import PTR, Cursor, constant_value, erase
from ..ir.variables.host_copies import ReductionCopy

_ALIGN = 16
_HEADER_BYTES = 64
_LOCK_OFFSET = 4


@dataclass
class GangPartials:
    """
    The reductions of one kernel. `args` is the kernel's argument array and `position` the index of
    the scratch address in it; `single_gang` kernels fold directly.
    """

    args: SSAValue
    position: int
    num_gangs: SSAValue
    single_gang: bool
    reductions: list[ReductionCopy] = field(default_factory=list[ReductionCopy])
    gang_start: Cursor | None = None
    _gang_end: Cursor | None = None
    _gang: SSAValue | None = None
    _mark: Operation | None = None
    _offsets: list[int] = field(default_factory=list[int])
    slot_bytes: int = 0
    header_bytes: int = _HEADER_BYTES

    @property
    def used(self) -> bool:
        """Whether the kernel needs scratch memory."""
        return bool(self.reductions) and not self.single_gang

    def enter_gang(self, body: Cursor, gang: SSAValue) -> None:
        """Sets the place of a gang's body: `body` is empty except for its terminator."""
        mark = self._mark = body.insert(arith.ConstantOp.from_int_and_width(0, i1))
        self.gang_start, self._gang_end, self._gang = Cursor.before(mark), body, gang

    def add(self, reduction: ReductionCopy) -> None:
        """
        Takes over `reduction`: stores the neutral value at the gang's start, and saves its partial result
        at the end.
        """
        assert self.gang_start is not None
        if self.has(reduction):
            return
        _check_section(reduction)
        reduction.initialise(self.gang_start)
        self.reductions.append(reduction)
        self._offsets.append(self.slot_bytes)
        size = reduction.extent.constant_bytes or 0
        self.slot_bytes += -(-size // _ALIGN) * _ALIGN

    def has(self, reduction: ReductionCopy) -> bool:
        """Whether `reduction` has been taken over."""
        return any(known is reduction for known in self.reductions)

    def finish(self, at: Cursor, begin: SSAValue, end: SSAValue) -> None:
        """
        Emits the stores to the slot at the end of each gang, and at `at` the folding after the last gang.
        """
        if self._mark is None or self._gang_end is None or self._gang is None:
            return
        erase(self._mark)
        if not self.reductions:
            return
        if self.single_gang:
            for reduction in self.reductions:
                reduction.combine_into_target(self._gang_end)
            return
        entry = self.args.owner
        assert isinstance(entry, Block)
        first = entry.first_op
        assert first is not None
        top = Cursor.before(first, at.loc)
        slot = top.value(llvm.GEPOp(self.args, [self.position], PTR, inbounds=True))
        scratch = top.load(top.load(slot, PTR), PTR, "scratch")
        self._save(self._gang_end, scratch, self._gang)
        self._fold(at, scratch, begin, end)

    def _slot(self, at: Cursor, scratch: SSAValue, gang: SSAValue) -> SSAValue:
        offset = at.mul(gang, at.i64(self.slot_bytes))
        return at.offset(at.field(scratch, _HEADER_BYTES), offset, "partials")

    def _save(self, at: Cursor, scratch: SSAValue, gang: SSAValue) -> None:
        slot = self._slot(at, scratch, gang) if self.slot_bytes else scratch
        locked: list[ReductionCopy] = []
        for reduction, offset in zip(self.reductions, self._offsets, strict=True):
            if reduction.extent.constant_bytes is None:
                locked.append(reduction)
            else:
                reduction.save(at, at.field(slot, offset))
        if locked:
            lock = at.field(scratch, _LOCK_OFFSET, "lock")
            _acquire(at, lock)
            for reduction in locked:
                reduction.combine_into_target(at)
            at.insert(_atomic_store(at.i32(0), lock))

    def _fold(self, at: Cursor, scratch: SSAValue, begin: SSAValue, end: SSAValue) -> None:
        parts = [
            (reduction, offset)
            for reduction, offset in zip(self.reductions, self._offsets, strict=True)
            if reduction.extent.constant_bytes is not None
        ]
        if not parts:
            return
        mine = at.to_integer(at.sub(end, begin), i32)
        rmw = llvm_ext.AtomicRMWOp(llvm_ext.AtomicBinOp.add, scratch, mine, "acq_rel")
        finished = at.add(at.value(rmw), mine, "finished")
        total = at.to_integer(self.num_gangs, i32)
        last = at.value(arith.CmpiOp(finished, total, "eq"), "is_last")
        then = at.if_then(last)
        _, each = then.for_loop(then.i64(0), self.num_gangs, then.i64(1), "part")
        slot = self._slot(each, scratch, each.point.block.args[0])
        for reduction, offset in parts:
            reduction.combine_into_target(each, each.field(slot, offset))
        then.insert(_atomic_store(then.i32(0), scratch))


def _check_section(reduction: ReductionCopy) -> None:
    """Raises `CompileError` if a section's position or size is not known outside the loop over gangs."""
    for value in (reduction.extent.start, reduction.extent.count):
        if value is None or constant_value(value) is not None:
            continue
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
        if block is None or not isinstance(block.parent_op(), llvm.FuncOp):
            raise error(
                SourceLoc.from_attr(reduction.op.location),
                "the section of a reduction over gangs is computed inside the compute construct",
                "put the reduction clause on the compute construct, or use constant bounds",
            )


def _atomic_store(value: SSAValue, pointer: SSAValue) -> llvm.StoreOp:
    ordering = int(llvm_ext.AtomicOrdering.release)
    return llvm.StoreOp(value, pointer, alignment=4, ordering=ordering)


def _acquire(at: Cursor, lock: SSAValue) -> None:
    """Emits a spin lock: repeats until this thread has changed `lock` from 0 to 1."""
    before, after = Block(), Block()
    loop = scf.WhileOp([], [], Region(before), Region(after))
    loop.attributes[ATOMIC] = UnitAttr()
    at.insert(loop)
    test = Cursor.at_end(before, at.loc)
    zero, one = test.i32(0), test.i32(1)
    old = test.value(llvm_ext.AtomicRMWOp(llvm_ext.AtomicBinOp.xchg, lock, one, "acquire"))
    busy = test.value(arith.CmpiOp(old, zero, "ne"), "busy")
    test.insert(scf.ConditionOp(busy))
    Cursor.at_end(after, at.loc).insert(scf.YieldOp())
