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

The runtime uses the border only where that is expected to take less time than it saves, from the bytes that
the construct accesses and that are copied (`compiler/base/border_times.py`).

Options: `enabled` (default: yes), `always` (default: no): also where that is not expected; `target` (`host`:
nothing to do).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from ...compiler.base.abi import ASYNC_BORDER, BORDER_SITES, DEVICE_COPIES
from ...compiler.base.border_times import border_limits
from ...dialects.accx_devices import UpdatePeerOp
from ..ir.kernels.runtime_calls import RuntimeCalls
from ..ir.ops.acc_ops import (
    NONE,
    child_loops,
    enclosing_module,
    parallel_constructs,
    set_operand_groups,
    set_prop,
)
from ..ir.ops.building import Cursor
from ..ir.ops.gpu_pass import GpuPass
from ..ir.ops.machine import machine_of
from ..ir.ops.notes import note
from ..ir.ops.versions import copy_construct
from .conditions import Unfit, check_operations, only_nest
from .footprints import Footprint, FootprintReader, emit_footprint


def _window(copy: acc.ParallelOp, low: SSAValue, count: SSAValue, skipped: SSAValue) -> None:
    """
    Lets the outermost loop of `copy` run through its first `low` values and then, having skipped `skipped`
    ones, the rest: `count` in all. The values are i64s of the host.
    """
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


def _offer(construct: acc.ParallelOp, footprint: Footprint, number: int, *, always: bool) -> None:
    """Places the border of a construct, construct `number` of the module, before it."""
    memory, trips = emit_footprint(footprint, construct, number, always=always)
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


def _check_length(footprint: Footprint) -> None:
    """Raises `Unfit` if the construct is known to be too short for a border of one row."""
    total, trips = footprint.accessed(), footprint.trips.as_constant
    if total is not None and trips:
        reason = border_limits(0, 1).why_not(total, total // trips)
        if reason is not None:
            raise Unfit(reason)


def _copies_between_devices(module: ModuleOp) -> bool:
    return any(
        isinstance(op, UpdatePeerOp)
        or (
            isinstance(op, llvm.CallOp)
            and op.callee is not None
            and op.callee.string_value() in DEVICE_COPIES
        )
        for op in module.walk()
    )


@dataclass(frozen=True)
class ComputeBordersFirstPass(GpuPass):
    """See the module's description."""

    name = "compute-borders-first"

    enabled: bool = True
    always: bool = False

    def rewrite(self, module: ModuleOp) -> None:
        if not self.enabled or not _copies_between_devices(module):
            return
        machine = machine_of(module)
        found: list[tuple[acc.ParallelOp, Footprint]] = []
        for construct in parallel_constructs(module):
            try:
                only_nest(construct)
                check_operations(construct, machine)
                footprint = FootprintReader(construct).footprint()
                if not self.always:
                    _check_length(footprint)
                found.append((construct, footprint))
            except Unfit as reason:
                note(construct, [(construct, f"its border is not computed first: {reason}")])
        for number, (construct, footprint) in enumerate(found[:BORDER_SITES]):
            _offer(construct, footprint, number, always=self.always)
            text = "its border may be computed first, for copies to other devices"
            if not self.always and footprint.accessed() is None:
                text += f", when it accesses {border_limits(0, 2).least / 1e6:.0f} MB or more (two devices)"
            note(construct, [(construct, text)])
