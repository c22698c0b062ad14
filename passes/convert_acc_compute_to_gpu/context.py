"""
The state of lowering one device function: the insertion point, the value map, the threads that run the
current code, and the device module's symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from ...compiler.base.diagnostics import SourceLoc, error
from ...compiler.base.names import value_name
from ...dialects import llvm_ext, nvvm
from ..decisions.block_shape import BlockShape
from ..decisions.device import WARP
from ..decisions.loop_partition import Mode, Sharers
from ..decisions.reduction_strategy import ExchangeOption
from ..ir.ops.building import PTR, Cursor
from ..ir.values.addresses import way_to_base
from .barriers import EffectTracker, ObjectAccess, Root, Space
from .device_module import DeviceModule
from .scratch import ScratchArea, ScratchPlan

STATIC_SHARED_LIMIT = 48 * 1024
TICKET_BYTES = 16
"""The bytes at the start of scratch memory for the ticket, a count of gangs that have finished."""
EXCHANGE_RESERVE = 2048
"""The bytes of shared memory that private copies leave free for the exchange of values between threads."""
_DIMENSIONS = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y, gpu.DimensionEnum.Z)


@dataclass
class SharedBuffer:
    """One internal buffer in shared memory, as large as its largest use."""

    name: str
    bytes: int
    op: llvm.GlobalOp


class Kernel(Cursor):
    """
    Lowering state of one device function. As a cursor it places new operations with the location
    `loc` of the operation being lowered.

    values: value of the input → value of the device function.
    prologue: operations that precede everything (thread ids, constants, stack slots).
    setup: code between the prologue and the body.
    first_gangs: dimension of the grid, if it is launched in parts → argument with the first gang of the part.
    """

    def __init__(
        self,
        device: DeviceModule,
        name: str,
        shape: BlockShape,
        mode: Mode,
        body: Block,
        loc: LocationAttr,
    ):
        super().__init__(InsertPoint.at_end(body), loc)
        self.device = device
        self.name = name
        self.shape = shape
        self.mode = mode
        self.entry = body
        self.values: dict[SSAValue, SSAValue] = {}
        self.tracker = EffectTracker()
        self.prologue = Block()
        self.setup = Block()
        self.distinct_args: set[SSAValue] = set()
        self.shared_roots: dict[SSAValue, SSAValue] = {}
        self.own_memory: set[SSAValue] = set()
        self.shared_bytes = 0
        self.dynamic_bytes = 0
        self.is_kernel = True
        self.watch = False
        self.use_redux = False
        self.exchange: ExchangeOption = "shuffle"
        self.gang_dims = 3
        self.first_gangs: dict[int, SSAValue] = {}
        self.scratch = ScratchPlan()
        self.lower_operation: Callable[[Operation], None] = self.place
        self._cache: dict[object, SSAValue] = {}
        self._buffers: dict[str, SharedBuffer] = {}

    # Places

    @contextmanager
    def at(self, place: Cursor) -> Generator[None]:
        """A context in which operations are added at `place`."""
        point, self.point = self.point, place.point
        yield
        self.point = point

    @contextmanager
    def running(self, mode: Mode, tracker: EffectTracker) -> Generator[None]:
        """A context for code that runs in `mode`, with its own record of accesses."""
        saved = self.mode, self.tracker
        self.mode, self.tracker = mode, tracker
        yield
        self.mode, self.tracker = saved

    def place(self, op: Operation) -> None:
        """Places an operation that has its own location."""
        loc, self.loc = self.loc, op.location
        self.insert(op)
        self.loc = loc

    def in_prologue(self) -> Cursor:
        """A cursor at the end of the prologue."""
        return Cursor(InsertPoint.at_end(self.prologue), self.loc)

    def in_setup(self) -> Cursor:
        """A cursor after the whole prologue, whose values code there may use, and before the body."""
        return Cursor(InsertPoint.at_end(self.setup), self.loc)

    def finish(self) -> None:
        """Puts the prologue and the setup before the function's body."""
        ops = [*self.prologue.ops, *self.setup.ops]
        for op in ops:
            op.detach()
        first = self.entry.first_op
        if first is None:
            self.entry.add_ops(ops)
        else:
            self.entry.insert_ops_before(ops, first)

    def _cached(self, key: object, make: Callable[[Cursor], SSAValue]) -> SSAValue:
        if key not in self._cache:
            self._cache[key] = make(self.in_prologue())
        return self._cache[key]

    # Recipes

    def temporary(self, type: Attribute, hint: str) -> SSAValue:
        return self.stack_slot(type, hint)

    def inline(self, operations: Iterable[Operation], known: dict[SSAValue, SSAValue]) -> None:
        """As `Cursor.inline`, with the operations lowered as code that each thread runs for itself."""
        wanted = [
            op
            for op in operations
            if not op.has_trait(IsTerminator) and not any(result in known for result in op.results)
        ]
        self.values.update(known)
        loc = self.loc
        with self.running(Mode.THREAD, self.tracker):
            for op in wanted:
                self.lower_operation(op)
        self.loc = loc
        known.update({result: self.values[result] for op in wanted for result in op.results})

    # Values

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        """A constant in the prologue."""
        if isinstance(type, IntegerType | IndexType):
            attr: Attribute = IntegerAttr(int(value), type, truncate_bits=True)
        else:
            attr = FloatAttr(float(value), type)  # type: ignore[arg-type]
        return self._cached(attr, lambda at: Cursor.constant(at, value, type))

    def compare(self, predicate: str, a: SSAValue, b: SSAValue, hint: str) -> SSAValue:
        return self.value(arith.CmpiOp(a, b, predicate), hint)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.value(arith.SelectOp(condition, a, b), a.name_hint)

    def zero_extend(self, value: SSAValue, type: IntegerType) -> SSAValue:
        """A non-negative integer extended to a type at least as wide."""
        if value.type == type:
            return value
        return self.value(arith.ExtUIOp(value, type), value.name_hint)

    # Threads

    def _index(self, op: type[Operation], dim: int, hint: str) -> SSAValue:
        def make(at: Cursor) -> SSAValue:
            index = at.value(op(gpu.DimensionAttr(_DIMENSIONS[dim])))  # type: ignore[call-arg]
            return at.value(arith.IndexCastOp(index, i32), hint)

        return self._cached((op, dim), make)

    def lane(self) -> SSAValue:
        """The thread's lane within its worker (i32)."""
        if self.shape.lanes == 1:
            return self.i32(0)
        return self._index(gpu.ThreadIdOp, 0, "lane")

    def worker(self) -> SSAValue:
        """The thread's worker within its gang (i32)."""
        if self.shape.workers == 1:
            return self.i32(0)
        return self._index(gpu.ThreadIdOp, 1, "worker")

    def lanes(self) -> SSAValue:
        """The vector length (i32)."""
        if self.shape.lanes is not None:
            return self.i32(self.shape.lanes)
        return self._index(gpu.BlockDimOp, 0, "lanes")

    def workers(self) -> SSAValue:
        """The number of workers (i32)."""
        if self.shape.workers is not None:
            return self.i32(self.shape.workers)
        return self._index(gpu.BlockDimOp, 1, "workers")

    def thread(self) -> SSAValue:
        """The thread's number within the gang (i32)."""
        if self.shape.workers == 1:
            return self.lane()
        if self.shape.lanes == 1:
            return self.worker()

        lane, worker, lanes = self.lane(), self.worker(), self.lanes()
        return self._cached(
            "thread", lambda at: at.add(at.mul(worker, lanes, "first"), lane, "thread")
        )

    def threads(self) -> SSAValue:
        """The number of threads of a gang (i32)."""
        if self.shape.threads is not None:
            return self.i32(self.shape.threads)
        lanes, workers = self.lanes(), self.workers()
        return self._cached("threads", lambda at: at.mul(lanes, workers, "threads"))

    def gang(self, dim: int) -> SSAValue:
        """The gang's number in gang dimension `dim`, 1 to 3 (i32)."""
        number = self._index(gpu.BlockIdOp, dim - 1, "gang")
        first = self.first_gangs.get(dim)
        if first is None:
            return number
        return self._cached(("gang", dim), lambda at: at.add(first, number, "gang"))

    def gangs(self, dim: int) -> SSAValue:
        """The number of gangs in gang dimension `dim`, 1 to 3 (i32), of this part of the launch."""
        return self._index(gpu.GridDimOp, dim - 1, "gangs")

    def gang_number(self) -> SSAValue:
        """The gang's number over all dimensions (i32)."""
        number = self.gang(1)
        if self.gang_dims == 1:
            return number
        upper = self.add(self.mul(self.gang(3), self.gangs(2)), self.gang(2))
        return self.add(self.mul(upper, self.gangs(1)), number, "gang_number")

    def number_of_gangs(self) -> SSAValue:
        """The number of gangs over all dimensions (i32)."""
        number = self.gangs(1)
        if self.gang_dims == 1:
            return number
        return self.mul(self.mul(number, self.gangs(2)), self.gangs(3), "number_of_gangs")

    def add_argument(self, type: Attribute, hint: str) -> SSAValue:
        """Adds an argument to the kernel."""
        argument = self.entry.insert_arg(type, len(self.entry.args))
        argument.name_hint = value_name(hint)
        return argument

    def scratch_base(self) -> SSAValue:
        """The kernel's argument that holds the address of its scratch memory."""
        if self.scratch.base is None:
            self.scratch.base = self.add_argument(PTR, "scratch")
        return self.scratch.base

    def unit(self, unit: Sharers) -> tuple[SSAValue, SSAValue]:
        """The thread's number within the threads of a partition, and their number (i32)."""
        match unit:
            case Sharers.NONE:
                return self.i32(0), self.i32(1)
            case Sharers.WORKERS:
                return self.worker(), self.workers()
            case Sharers.LANES:
                return self.lane(), self.lanes()
            case Sharers.THREADS:
                return self.thread(), self.threads()

    def unit_size(self, unit: Sharers) -> int | None:
        """The number of threads that share a loop partitioned over `unit`; None if it is not constant."""
        match unit:
            case Sharers.NONE:
                return 1
            case Sharers.WORKERS:
                return self.shape.workers
            case Sharers.LANES:
                return self.shape.lanes
            case Sharers.THREADS:
                return self.shape.threads

    def group_size(self, mode: Mode) -> int | None:
        """The number of threads that run the same code redundantly in `mode`; None if it is not constant."""
        if mode is Mode.THREAD:
            return 1
        return self.shape.threads if mode is Mode.GANG else self.shape.lanes

    def is_leader(self) -> SSAValue:
        """An i1: the thread acts for its gang (in worker mode, for its worker)."""
        number = self.thread() if self.mode is Mode.GANG else self.lane()
        zero = self.i32(0)
        return self._cached(
            ("leader", self.mode),
            lambda at: at.value(arith.CmpiOp(number, zero, "eq"), "leader"),
        )

    def lane_in_warp(self) -> SSAValue:
        """The thread's position in its warp (i32)."""
        thread, mask = self.thread(), self.i32(WARP - 1)
        return self._cached(
            "lane_in_warp", lambda at: at.value(arith.AndIOp(thread, mask), "lane_in_warp")
        )

    def warp(self) -> SSAValue:
        """The number of the thread's warp in the gang (i32)."""
        thread, width = self.thread(), self.i32(WARP)
        return self._cached("warp", lambda at: at.value(arith.DivUIOp(thread, width), "warp"))

    def warp_mask(self) -> SSAValue:
        """The lanes of the warp that run the current code together (i32)."""
        size = self.group_size(self.mode)
        if size is None or size >= WARP:
            return self.i32(-1)
        lanes = self.i32((1 << size) - 1)
        if self.mode is Mode.GANG:
            return lanes
        position, first_bits = self.lane_in_warp(), self.i32(~(size - 1))

        def make(at: Cursor) -> SSAValue:
            first = at.value(arith.AndIOp(position, first_bits), "first_lane")
            return at.value(arith.ShLIOp(lanes, first), "lanes_mask")

        return self._cached(("mask", self.mode), make)

    # Memory

    def root(self, pointer: SSAValue) -> Root | None:
        """The object that `pointer` (of the device function) points into; None if it is thread-private."""
        base = pointer
        for base in way_to_base(pointer):
            if base in self.shared_roots:
                return Root(Space.SHARED, self.shared_roots[base], True)
            if base in self.own_memory:
                return None
        owner = base.owner
        if isinstance(owner, Block):
            if owner is self.entry and self.is_kernel:
                return Root(Space.DEVICE, base, base in self.distinct_args)
            return Root(Space.UNKNOWN)
        if isinstance(owner, llvm.AllocaOp):
            return None
        if isinstance(owner, llvm.AddressOfOp):
            return Root(Space.DEVICE, owner.global_name.string_value())
        if isinstance(owner, llvm.LoadOp):
            return Root(Space.DEVICE)
        return Root(Space.UNKNOWN)

    def access(self, new: list[ObjectAccess]) -> None:
        """
        Records accesses by code in the current mode, with a barrier before them if they conflict with
        earlier ones.
        """
        if self.mode is Mode.THREAD:
            return
        if self.tracker.conflicts(new):
            self.barrier()
        self.tracker.add(new)

    def barrier(self) -> None:
        """Emits a barrier of all threads that run the current code redundantly."""
        size = self.group_size(self.mode)
        if size is not None and size <= WARP:
            self.insert(nvvm.SyncWarpOp(self.warp_mask()))
        elif self.mode is Mode.GANG or self.shape.workers == 1:
            self.insert(gpu.BarrierOp())
        else:
            number = self._cached_worker_barrier()
            self.insert(nvvm.BarrierOp(number, self.lanes()))
        self.tracker.clear()

    def _cached_worker_barrier(self) -> SSAValue:
        worker, one = self.worker(), self.i32(1)
        return self._cached("worker_barrier", lambda at: at.add(worker, one, "worker_barrier"))

    def stack_slot(self, type: Attribute, hint: str) -> SSAValue:
        """Thread-private memory, allocated once at the function's entry."""
        size = self.i32(1)
        return self.in_prologue().value(llvm.AllocaOp(size, type, alignment=16), hint)

    def shared_variable(self, type: Attribute, hint: str, key: SSAValue) -> SSAValue:
        """
        The generic address of a new variable in shared memory for the input's value `key`. The caller has
        checked that it fits.
        """
        op = self.device.shared_global(f"{self.name}_{hint}", type, self.loc)
        address = self.in_prologue().value(llvm.AddressOfOp(op.sym_name, nvvm.SHARED_POINTER), hint)
        generic = self.in_prologue().value(llvm_ext.AddrSpaceCastOp(address, PTR), hint)
        self.shared_roots[generic] = key
        return generic

    def buffer(self, purpose: str, bytes: int) -> SSAValue:
        """
        The address of the internal buffer for `purpose`: in shared memory, or in the gang's scratch memory
        if tiles and private arrays leave no room.
        """
        known = self._buffers.get(purpose)
        if known is None:
            if not self._has_room(bytes):
                return self._device_buffer(purpose, bytes)
            type = llvm.LLVMArrayType(bytes, IntegerType(8))
            op = self.device.shared_global(f"{self.name}_{purpose}", type, self.loc)
            known = self._buffers[purpose] = SharedBuffer(purpose, bytes, op)
        elif bytes > known.bytes:
            if not self._has_room(bytes - known.bytes):
                return self._device_buffer(purpose, bytes)
            known.bytes = bytes
            known.op.properties["global_type"] = llvm.LLVMArrayType(bytes, IntegerType(8))
        name = known.op.sym_name
        return self._cached(
            ("buffer", purpose),
            lambda at: at.value(llvm.AddressOfOp(name, nvvm.SHARED_POINTER), purpose),
        )

    def _has_room(self, bytes: int) -> bool:
        internal = sum(buffer.bytes for buffer in self._buffers.values())
        return self.shared_bytes + internal + bytes <= STATIC_SHARED_LIMIT

    def _device_buffer(self, purpose: str, bytes: int) -> SSAValue:
        key = ("device buffer", purpose, bytes)
        if key not in self._cache:
            if not self.is_kernel:
                raise error(
                    SourceLoc.from_attr(self.loc),
                    f"the routine's shared memory has no room for the {bytes} bytes that its "
                    f"threads exchange ({purpose})",
                    "make its private arrays smaller",
                )
            with self.at(self.in_prologue()):
                self._cache[key] = self.gang_scratch(bytes, purpose)
        return self._cache[key]

    def launch_scratch(self, bytes: int, hint: str) -> SSAValue:
        """
        `bytes` bytes of the kernel's scratch memory for all gangs, aligned to 16; zero before the first
        launch, and preserved between launches.
        """
        base = self.scratch_base()
        offset = TICKET_BYTES + self.scratch.fixed_bytes
        self.scratch.fixed_bytes += -(-bytes // 16) * 16
        return self.in_prologue().field(base, offset, hint)

    def gang_scratch(self, bytes: int, hint: str) -> SSAValue:
        """The gang's own `bytes` bytes of the kernel's scratch memory, aligned to 16."""
        size = -(-bytes // 16) * 16
        base, offset = self.scratch_base(), self.add_argument(i64, f"{hint}_offset")
        self.scratch.areas.append(ScratchArea(size, 1, Mode.GANG, offset))
        mine = self.mul(self.to_i64(self.gang_number()), self.constant(size, i64))
        start = self.add(offset, mine)
        return self.value(llvm.GEPOp.from_mixed_indices(base, [start], IntegerType(8)), hint)
