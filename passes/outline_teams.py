"""
Outline the regions of OpenMP's `parallel` and `task` into functions that a team of threads runs.

Takes:  acc level.
Leaves: no accx.team and accx.task. Each region becomes an internal function `<function>_omp_<line>` of one
        argument, a *frame* with the values that it uses from outside; constants and addresses of symbols
        are cloned into it. A call of OpenMP's runtime (`compiler/c/openmp/runtime.c`) replaces the
        operation.
Fails:  never.

The frame of a team is on the stack of the enclosing function, which outlives the region; the frame of a
task is memory of the task. Inner regions are outlined before outer ones.

Before:
  accx.team threads(%n) several(%one) place(%where : !llvm.ptr) { llvm.store %x, %p ... }
After:
  llvm.store %x, %frame ...
  llvm.store %p, %slot ...
  llvm.call @__accopt_omp_parallel(%function, %frame, %n, %one, %where)

  llvm.func internal @f_omp_12(%frame : !llvm.ptr) { %x = llvm.load %frame ... llvm.store %x, %p ... }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import SourceLoc
from ..dialects.accx_teams import TaskOp, TeamOp
from .ir.kernels.outline import REMADE_OPS, symbol_table
from .ir.kernels.runtime_calls import RuntimeCalls
from .ir.ops.acc_ops import enclosing, enclosing_function, live_ins, replace_inside
from .ir.ops.building import PTR, Cursor, erase
from .ir.ops.layout import layout_of

_INTERNAL = llvm.LinkageAttr("internal")
_VOID = llvm.LLVMVoidType()
_BODY = llvm.LLVMFunctionType([PTR], _VOID)


def frame_offsets(types: list[Attribute]) -> tuple[list[int], int]:
    """The offsets of values of these types in a frame, and the frame's size, in bytes."""
    offsets: list[int] = []
    end = 0
    for type in types:
        layout = layout_of(type)
        end = -(-end // layout.align) * layout.align
        offsets.append(end)
        end += layout.size
    return offsets, max(end, 8)


class _TeamOutliner:
    """Outlines the regions of one module."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.symbols = symbol_table(module)
        self.calls = RuntimeCalls(module, self.symbols)

    def outline(self, op: TeamOp | TaskOp) -> None:
        """Makes the region of `op` a function, and replaces `op` by a call."""
        values = live_ins(op)
        passed = [value for value in values if not isinstance(value.owner, REMADE_OPS)]
        offsets, size = frame_offsets([value.type for value in passed])
        at = Cursor.before(op)
        frame = self._frame(op, at, size)
        for value, offset in zip(passed, offsets, strict=True):
            at.store(value, at.field(frame, offset))
        name = self._define(op, values, dict(zip(passed, offsets, strict=True)))
        function = at.value(llvm.AddressOfOp(name, PTR))
        if isinstance(op, TeamOp):
            arguments = (function, frame, op.threads, op.several, op.place)
            self.calls.call(at, "__accopt_omp_parallel", *arguments)
        else:
            self.calls.call(at, "__accopt_omp_task", function, frame, op.deferred)
        erase(op)

    def _frame(self, op: TeamOp | TaskOp, at: Cursor, size: int) -> SSAValue:
        if isinstance(op, TaskOp):
            frame = self.calls.value(at, "__accopt_omp_task_frame", at.i64(size))
            frame.name_hint = "frame"
            return frame
        around = enclosing(op, llvm.FuncOp, TeamOp, TaskOp)
        assert around is not None
        first = around.regions[0].blocks[0].first_op
        assert first is not None
        entry = Cursor.before(first, op.location)
        return entry.alloca(llvm.LLVMArrayType(-(-size // 8), i64), "frame")

    def _define(
        self,
        op: TeamOp | TaskOp,
        values: list[SSAValue],
        offsets: dict[SSAValue, int],
    ) -> str:
        """
        Defines the function whose body is the region of `op`, and which loads `values` from the frame or
        clones their definitions; returns its name.
        """
        region = op.body
        block = region.blocks[0]
        frame = block.insert_arg(PTR, 0)
        frame.name_hint = "frame"
        end = llvm.ReturnOp()
        end.location = op.location
        block.add_op(end)
        first = block.first_op
        assert first is not None
        at = Cursor.before(first, op.location)
        for value in values:
            inner = self._inner(at, frame, value, offsets)
            replace_inside(op, value, inner)
        around = enclosing_function(op)
        name = self._name(op, around.sym_name.data)
        body = Region()
        region.move_blocks(body)
        function = llvm.FuncOp(name, _BODY, _INTERNAL, body=body)
        function.location = op.location
        self.module.body.block.insert_op_before(function, around)
        self.symbols[name] = function
        return name

    def _inner(
        self, at: Cursor, frame: SSAValue, value: SSAValue, offsets: dict[SSAValue, int]
    ) -> SSAValue:
        if value in offsets:
            return at.load(at.field(frame, offsets[value]), value.type, value.name_hint)
        assert isinstance(value.owner, Operation)
        copy = at.insert(value.owner.clone(), value.name_hint)
        return copy.results[0]

    def _name(self, op: Operation, function: str) -> str:
        stem = f"{function}_omp_{SourceLoc.from_attr(op.location).line}"
        name, count = stem, 1
        while name in self.symbols:
            count += 1
            name = f"{stem}_{count}"
        return name


@dataclass(frozen=True)
class OutlineTeamsPass(ModulePass):
    """See the module's description."""

    name = "outline-teams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [inner for inner in op.walk() if isinstance(inner, TeamOp | TaskOp)]
        if not found:
            return
        outliner = _TeamOutliner(op)
        for inner in reversed(found):  # walks visit outer regions first
            outliner.outline(inner)
