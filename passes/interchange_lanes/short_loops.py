"""
Partitioned loops around short loops that LLVM unrolls (the five unknowns of a grid point): once they are
unrolled, the partitioned loop is an innermost one, which LLVM can vectorise also where lanes access memory
anywhere (gathers), if it knows that the iterations do not depend on each other.
"""

from __future__ import annotations

from xdsl.dialects import llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i32
from xdsl.ir import Operation

from ...dialects import llvm_ext
from ...dialects.accx import ACCESS_GROUPS
from ..ir.loops.lane_loops import UNROLLED_TRIPS
from ..ir.ops.building import constant_trips
from ..ir.values.addresses import base_of
from ..ir.values.iteration_order import order_matters


def _accesses(loop: scf.ForOp) -> list[Operation] | None:
    """
    The accesses to memory other than the function's own; None if the loop contains anything but arithmetic,
    accesses and short loops.
    """
    found: list[Operation] = []
    for op in loop.body.walk():
        match op:
            case scf.ForOp(lb=low, ub=high, step=step):
                trips = constant_trips(low, high, step)
                if trips is None or trips > UNROLLED_TRIPS:
                    return None
            case scf.YieldOp():
                pass
            case llvm.LoadOp(ordering=ordering) | llvm.StoreOp(ordering=ordering):
                if ordering is not None and ordering.value.data != 0:
                    return None
                if not isinstance(base_of(op.ptr).owner, llvm.AllocaOp):
                    found.append(op)
            case llvm.CallOp() | llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                return None
            case _ if op.regions and not isinstance(op, scf.IfOp):
                return None
            case _:
                pass
    return found


def mark_around_short_loops(loop: scf.ForOp, group: int, *, typed: bool) -> bool:
    """
    Tells LLVM that the iterations of a partitioned loop are independent (access group `group`), if all loops
    in it are short, and the order of accesses cannot change (`iteration_order.py`; `typed` as there). Returns
    whether they are. Whether it vectorises the loop is left to LLVM.
    """
    accesses = _accesses(loop)
    if accesses is None:
        return False
    if order_matters(loop, accesses, typed=typed):
        return True
    for op in (loop, *accesses):
        known = op.attributes.get(ACCESS_GROUPS)
        others = known.data if isinstance(known, ArrayAttr) else ()
        op.attributes[ACCESS_GROUPS] = ArrayAttr([*others, IntegerAttr(group, i32)])
    return True
