"""
Turn loops with a `scan` clause into parallel prefix computations (research extension).

Takes:  scheduled level; an `accx.scan_step` in the body of a loop says what it computes.
Leaves: no `accx.scan_step`. On a GPU, a scan that threads share is one `accx.scan`, of the threads of all
        gangs if the loop has the gang level. Elsewhere it is a sequential loop of one thread.
Fails:  on a scan over gangs inside another loop of the construct, or in a routine, since there is no
        barrier between gangs before the next scan. On long double on a GPU.

Options: `target` (`nvptx` or `host`), set by the pipeline.

Before:
  acc.loop gang vector control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
    … accx.scan_step "add" %out_i, %in_i : i32 to i32 …
  }
After:
  accx.scan "add" %out_0, %in_0 for %steps {gangs} : i32 to i32
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, StringAttr, i1, i8, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import error
from ..dialects.accx import WHY
from ..dialects.accx_scan import ScanOp, ScanStepOp
from ..dialects.layout import is_long_double
from .ir.ops.acc_ops import NONE, has_level, is_inside, source_loc
from .ir.ops.building import Cursor, erase
from .ir.ops.layout import size_of
from .ir.ops.machine import machine_of
from .ir.variables.in_order import scan_in_order


def scan_step(loop: acc.LoopOp) -> ScanStepOp | None:
    """The `accx.scan_step` of a loop with a scan clause; None for other loops."""
    if len(loop.region.blocks) != 1:
        return None
    return next((op for op in loop.region.block.ops if isinstance(op, ScanStepOp)), None)


def _in_first_iteration(at: Cursor, value: SSAValue, loop: acc.LoopOp) -> SSAValue:
    """`value`, which the body computes from the loop's variable, for the first iteration."""
    known: dict[SSAValue, SSAValue] = {loop.region.block.args[0]: loop.lowerbound[0]}

    def copy(wanted: SSAValue) -> SSAValue:
        owner = wanted.owner
        if wanted in known or not isinstance(owner, Operation) or not is_inside(owner, loop):
            return known.get(wanted, wanted)
        again = owner.clone({operand: copy(operand) for operand in owner.operands})
        at.insert(again)
        known.update(zip(owner.results, again.results, strict=True))
        return known[wanted]

    return copy(value)


def _element_before(at: Cursor, pointer: SSAValue, type: Attribute) -> SSAValue:
    return at.value(llvm.GEPOp(pointer, [-size_of(type)], i8), pointer.name_hint)


def whole_scan(loop: acc.LoopOp, step: ScanStepOp) -> ScanOp:
    """Emits, before `loop`, the `accx.scan` that is equivalent to it."""
    at = Cursor.before(loop)
    target = _in_first_iteration(at, step.target, loop)
    source = _in_first_iteration(at, step.source, loop)
    target = _element_before(at, target, step.target_type)
    if step.identity is None:
        source = _element_before(at, source, step.source_type)
    steps = at.sub(at.to_i64(loop.upperbound[0]), at.to_i64(loop.lowerbound[0]), "steps")
    gangs = has_level(loop.gang)
    return at.insert(ScanOp(step, target, source, steps, step.identity, gangs=gangs))


def check_gangs(loop: acc.LoopOp) -> None:
    """Raises `CompileError` if gangs share a scan that they may reach more than once."""
    if has_level(loop.gang) and not isinstance(loop.parent_op(), acc.ParallelOp):
        raise error(
            source_loc(loop),
            "a scan over gangs is inside of another loop or statement of the construct, or of a"
            " routine",
            "give the scan worker and vector, or put it directly into the construct",
        )


def run_sequentially(scan: ScanOp) -> None:
    """Replaces the scan by the sequential loop of one thread, in the first gang if gangs share it."""
    at = Cursor.before(scan)
    if scan.gangs is not None:
        body = Block(arg_types=[i32])
        body.args[0].name_hint = "first"
        zero, one = at.i32(0), at.i32(1)
        loop = acc.LoopOp(
            region=Region(body),
            lowerbound=[zero],
            upperbound=[one],
            step=[one],
            inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
            gang=NONE,
            independent=NONE,
        )
        at.insert(loop)
        loop.attributes[WHY] = StringAttr("one thread computes the prefix")
        at = Cursor.at_end(body, scan.location)
        at.insert(acc.YieldOp())
        end = body.last_op
        assert end is not None
        at = Cursor.before(end, scan.location)
    scan_in_order(at, scan)
    erase(scan)


@dataclass(frozen=True)
class ExpandScansPass(ModulePass):
    """See the contract at the top of this file."""

    name = "expand-scans"

    target: Literal["nvptx", "host"] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        for loop in [inner for inner in op.walk() if isinstance(inner, acc.LoopOp)]:
            step = scan_step(loop)
            if step is None:
                continue
            check_gangs(loop)
            threads = has_level(loop.worker) or has_level(loop.vector)
            shared = threads or has_level(loop.gang)
            if shared and target == "nvptx" and is_long_double(step.target_type):
                raise error(
                    source_loc(loop), "a GPU has no long double, so it cannot scan it", "use double"
                )
            scan = whole_scan(loop, step)
            erase(loop)
            if not shared or target == "host":
                run_sequentially(scan)
