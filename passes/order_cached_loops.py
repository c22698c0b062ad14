"""
Make a reducing loop under a cache directive sequential in each thread.

`loop reduction(+:sum)` below a cache directive is the inner loop of a matrix product or of a stencil:
the iterations of the enclosing loops share the sections, so these loops need the threads of a block. If the
inner loop got the lanes, the threads would have nothing to share and the outer loops no lanes.

Takes:  data level, before levels are chosen.
Leaves: marked `seq`, with the reason, every loop that reduces, names no level, contains no other loop, and
        is in the scope of cache directives each of whose sections overlaps that of the next iteration of an
        enclosing loop, if no enclosing loop names a level. The pass does nothing for the host, which does
        not cache.
Fails:  never.

Before:
  acc.loop control(%i : i32) = … {
    acc.loop control(%j : i32) = … {
      %a_view = acc.cache varPtr(%a) bounds(%row, %columns) …
      acc.loop reduction(%sum : !llvm.ptr) control(%q : i32) = … { … } attributes {independent = …}
After:
      acc.loop reduction(%sum : !llvm.ptr) control(%q : i32) = … { … } attributes {accx.why = "…", seq = …}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .decisions.cache_plan import Axis, overlaps, section_rates
from .decisions.declined import Declined
from .ir.data.cached_accesses import Symbols, read_section
from .ir.ops.acc_ops import COMPUTE_OPS, has_level, loops_in
from .ir.ops.building import constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.loop_order import make_sequential

_WHY = "the loops around it share what it reads in shared memory"


def _around(loop: acc.LoopOp) -> tuple[list[acc.LoopOp], list[acc.CacheOp], Operation | None]:
    """The loops around a loop, the cache directives in whose scope it is, and its construct."""
    loops: list[acc.LoopOp] = []
    directives: list[acc.CacheOp] = []
    inner: Operation = loop
    while (block := inner.parent_block()) is not None:
        for op in block.ops:
            if op is inner:
                break
            if isinstance(op, acc.CacheOp):
                directives.append(op)
        parent = block.parent_op()
        if parent is None or isinstance(parent, COMPUTE_OPS):
            return loops, directives, parent
        if isinstance(parent, acc.LoopOp):
            loops.append(parent)
        inner = parent
    return loops, directives, None


def _names_level(loop: acc.LoopOp) -> bool:
    return has_level(loop.gang) or has_level(loop.worker) or has_level(loop.vector)


def _is_shared(op: acc.CacheOp, axes: list[Axis], symbols: Symbols) -> bool:
    """Whether the sections of neighbouring iterations of an enclosing loop overlap."""
    try:
        section = read_section(op, symbols)
    except Declined:
        return False
    rates = section_rates(section, axes)
    return rates is not None and any(overlaps(section, rates, axis) for axis in axes)


def becomes_sequential(loop: acc.LoopOp) -> bool:
    """Whether the loop is to become sequential (see the contract above)."""
    if not loop.reduction_operands or _names_level(loop) or has_level(loop.seq):
        return False
    if any(True for _ in loops_in(loop)):
        return False
    loops, directives, construct = _around(loop)
    if construct is None or not directives or any(_names_level(outer) for outer in loops):
        return False
    axes = [
        Axis(variable, variable.name_hint or "i", constant_value(step))
        for outer in loops
        if not has_level(outer.seq)
        for variable, step in zip(outer.region.block.args, outer.step, strict=True)
    ]
    symbols = Symbols(construct)
    return bool(axes) and all(_is_shared(op, axes, symbols) for op in directives)


@dataclass(frozen=True)
class OrderCachedLoopsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "order-cached-loops"

    def rewrite(self, module: ModuleOp) -> None:
        for loop in [inner for inner in module.walk() if isinstance(inner, acc.LoopOp)]:
            if becomes_sequential(loop):
                make_sequential(loop, _WHY)
