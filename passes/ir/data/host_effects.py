"""
The effects of host code on memory, and the operations that a data region must not span.

`HostEffects.of` lists the accesses of an operation and everything nested in it, down into functions
of the program, by the roots of `host_memory`. A `Barrier` is an operation about which more than that
must be known: it may look at the device's data, change devices or queues, leave the region, or do
anything at all. Compute constructs are not included: the caller judges them by their clauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import acc, cf, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ....compiler.base.names import c_name
from ....dialects.accx_compress import COMPRESSION_OPS
from ....dialects.accx_devices import EnterDeviceOp, LeaveDeviceOp, UpdatePeerOp
from ...decisions.device_functions import INTEGER, MATH_F32, MATH_F64, MATH_F80, PURE_FUNCTIONS
from ..ops.acc_ops import COMPUTE_OPS, EXIT_OPS, MAPPING_OPS, callee_of
from ..ops.inlining import defined_functions
from ..ops.purity import is_pure
from .host_memory import HostMemory, Root

_NAMES = (
    "printf puts putchar snprintf sprintf strlen strcmp strncmp atoi atol atof clock time"
    " gettimeofday clock_gettime omp_get_wtime rand srand memset memcpy memmove free"
)

_POINTER_ARGUMENTS = frozenset(_NAMES.split()) | MATH_F64 | MATH_F32 | MATH_F80 | INTEGER
"""Library functions that access no memory of the program except through their arguments."""

_STREAM_AT = {"fprintf": 0, "fflush": 0, "fputs": 1, "fputc": 1, "putc": 1}
"""As above; they also change the position of a stream, which is memory of the library."""

_ALLOCATORS = frozenset(("malloc", "calloc"))


def is_library_function(name: str) -> bool:
    """Whether `name` is a known function of the C library, none of which knows of devices or queues."""
    known = (_POINTER_ARGUMENTS, _STREAM_AT, _ALLOCATORS, PURE_FUNCTIONS)
    return any(name in names for names in known)


_STRUCTURE = (
    scf.ForOp,
    scf.WhileOp,
    scf.IfOp,
    scf.ExecuteRegionOp,
    scf.YieldOp,
    scf.ConditionOp,
    cf.BranchOp,
    cf.ConditionalBranchOp,
    cf.SwitchOp,
    acc.LoopOp,
    acc.YieldOp,
    acc.TerminatorOp,
    acc.DataBoundsOp,
    acc.PrivateOp,
    *MAPPING_OPS,
    *EXIT_OPS,
    *COMPRESSION_OPS,
)
"""Operations that access no memory themselves; the caller judges their clauses."""

_BARRIERS: dict[type[Operation], str] = {
    acc.UpdateOp: "an update directive",
    acc.EnterDataOp: "enter data",
    acc.ExitDataOp: "exit data",
    acc.HostDataOp: "host_data",
    acc.WaitOp: "a wait directive",
    acc.InitOp: "an init directive",
    acc.ShutdownOp: "a shutdown directive",
    acc.SetOp: "a set directive",
    EnterDeviceOp: "a construct of another device",
    LeaveDeviceOp: "a construct of another device",
    UpdatePeerOp: "an update between devices",
    acc.DeclareEnterOp: "a declare directive",
    acc.DeclareExitOp: "the end of a declared variable's life",
    llvm.ReturnOp: "a return",
    llvm.UnreachableOp: "a call that does not return",
}


_DIRECTIVES = (*COMPUTE_OPS, acc.DataOp, *MAPPING_OPS)


@dataclass(frozen=True)
class HostAccess:
    """
    A read or write by host code through `root`; `at` is the operation of the span that makes it, such as a
    call.
    """

    root: Root
    writes: bool
    at: Operation


@dataclass(frozen=True)
class Barrier:
    """An operation that no inferred data region may span; `what` describes it for remarks."""

    at: Operation
    what: str


Effect = HostAccess | Barrier


def _is_queued(op: acc.ParallelOp | acc.DataOp) -> bool:
    """Whether a construct runs, or starts, in the order of a queue rather than in program order."""
    return bool(
        op.async_operands
        or op.wait_operands
        or op.async_only is not None
        or op.wait_only is not None
    )


@dataclass
class HostEffects:
    """The effects of operations of one module; those of called functions are computed once."""

    module: ModuleOp
    memory: HostMemory
    _functions: dict[str, llvm.FuncOp] | None = None
    _summaries: dict[str, tuple[Effect, ...]] = field(
        default_factory=dict[str, "tuple[Effect, ...]"]
    )
    _open: set[str] = field(default_factory=set[str])

    def of(self, op: Operation) -> Iterator[Effect]:
        """The effects of `op` and of the operations nested in it, except in regions of compute constructs."""
        yield from self._own(op)
        if isinstance(op, COMPUTE_OPS):
            return
        for region in op.regions:
            for block in region.blocks:
                yield from self._of_block(block)

    def _of_block(self, block: Block) -> Iterator[Effect]:
        for op in block.ops:
            yield from self.of(op)

    def _own(self, op: Operation) -> Iterator[Effect]:
        match op:
            case llvm.LoadOp():
                yield from self._accesses(op.ptr, False, op)
            case llvm.StoreOp():
                yield from self._accesses(op.ptr, True, op)
            case llvm.CallOp():
                yield from self._call(op)
            case acc.FirstprivateOp():
                yield from self._accesses(op.var, False, op)
            case acc.ReductionOp():
                yield from self._accesses(op.var, True, op)
            case acc.ParallelOp() | acc.DataOp():
                if _is_queued(op):
                    yield Barrier(op, "a construct with an async or wait clause")
            case llvm.AllocaOp():
                pass
            case _ if isinstance(op, _STRUCTURE) or is_pure(op):
                pass
            case _:
                yield Barrier(op, _BARRIERS.get(type(op), f"'{op.name}'"))

    def _accesses(self, pointer: SSAValue, writes: bool, at: Operation) -> Iterator[HostAccess]:
        for root in self.memory.roots(pointer):
            yield HostAccess(root, writes, at)

    def _call(self, call: llvm.CallOp) -> Iterator[Effect]:
        name = callee_of(call)
        if name is None:
            yield Barrier(call, "a call through a pointer")
            return
        function = self._bodies().get(name)
        if function is not None:
            yield from self._call_of(call, name, function)
        elif name in _POINTER_ARGUMENTS or name in _STREAM_AT:
            for index, argument in enumerate(call.args):
                if isinstance(argument.type, llvm.LLVMPointerType) and index != _STREAM_AT.get(
                    name
                ):
                    yield from self._accesses(argument, True, call)
        elif not is_library_function(name):
            yield Barrier(call, f"a call of '{c_name(name)}'")

    def _call_of(self, call: llvm.CallOp, name: str, function: llvm.FuncOp) -> Iterator[Effect]:
        """The effects of a function of the program, on what the caller passes to it."""
        entry = function.body.blocks.first
        assert entry is not None
        for effect in self._summary(name, function):
            if isinstance(effect, Barrier):
                yield Barrier(call, f"a call of '{c_name(name)}', which has {effect.what}")
                return
            root = effect.root
            if isinstance(root, BlockArgument) and root in entry.args:
                yield from self._accesses(call.args[root.index], effect.writes, call)
            else:
                yield HostAccess(root, effect.writes, call)

    def _summary(self, name: str, function: llvm.FuncOp) -> tuple[Effect, ...]:
        known = self._summaries.get(name)
        if known is not None:
            return known
        if name in self._open:
            return (Barrier(function, "recursion"),)
        self._open.add(name)
        found: dict[Effect, None] = {}
        for block in function.body.blocks:
            for effect in self._of_block(block):
                if not isinstance(effect, Barrier):
                    # Accesses to one object are equal, wherever they are.
                    if not isinstance(getattr(effect.root, "owner", None), llvm.AllocaOp):
                        found[HostAccess(effect.root, effect.writes, function)] = None
                elif not isinstance(effect.at, llvm.ReturnOp):
                    found = {effect: None}
                    break
            if any(isinstance(effect, Barrier) for effect in found):
                break
            if any(isinstance(op, _DIRECTIVES) for op in block.walk()):
                found = {Barrier(function, "directives"): None}
                break
        self._open.remove(name)
        self._summaries[name] = tuple(found)
        return self._summaries[name]

    def _bodies(self) -> dict[str, llvm.FuncOp]:
        if self._functions is None:
            self._functions = defined_functions(self.module)
        return self._functions
