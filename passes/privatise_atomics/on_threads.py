"""
Private counters on CPU threads: a gang is one thread, so that its copy needs no atomic updates, and gangs are
few, as each initialises and merges a copy.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...dialects.volatility import set_volatile
from ..decisions.private_counters import THREAD_GANGS, WORTHWHILE
from ..ir.ops.acc_ops import enclosing, loops_around, set_operand_groups
from ..ir.ops.building import Cursor, erase
from ..ir.ops.schedules import given_sizes
from ..ir.values.region_values import HostEmitter, RegionSymbols
from ..ir.values.trip_counts import Arithmetic, Count, trip_count


def limit_gangs(
    construct: acc.ParallelOp, elements: list[Count], updates: list[acc.AtomicUpdateOp]
) -> None:
    """
    Limits the gangs, unless the user gives them, to those of which each has several updates for each of the
    counters that it initialises and merges, `elements` of each array, as far as the number of iterations is
    known at launch.
    """
    if "num_gangs" in given_sizes(construct) or len(construct.num_gangs) != 1:
        return
    math = Arithmetic(HostEmitter(construct))
    most: Count = THREAD_GANGS
    iterations = _iterations(construct, updates, math)
    if iterations is not None:
        counters: Count = 0
        for each in elements:
            counters = math.add(counters, each)
        paying = math.multiply(math.maximum(counters, 1), WORTHWHILE)
        most = math.minimum(math.divide(math.maximum(iterations, 0), paying), THREAD_GANGS)
        most = math.maximum(most, 1)
    at = Cursor.before(construct)
    limit = at.to_integer(math.value(most), i32)
    gangs = at.value(arith.MinSIOp(construct.num_gangs[0], limit), "num_gangs")
    set_operand_groups(construct, num_gangs=[gangs])


def _iterations(
    construct: acc.ParallelOp, updates: list[acc.AtomicUpdateOp], math: Arithmetic
) -> Count | None:
    """
    The iterations that update, by the loops around the updates; None if the host cannot know, or some are
    without a directive.
    """
    symbols = RegionSymbols(construct)
    total: Count = 0
    for update in updates:
        each: Count = 1
        if enclosing(update, scf.ForOp) is not None or enclosing(update, scf.WhileOp) is not None:
            return None
        for loop in loops_around(update, construct):
            trips = trip_count(loop, symbols, math)
            if trips is None:
                return None
            each = math.multiply(each, trips[0])
        total = math.add(total, each)
    return total


def update_plainly(update: acc.AtomicUpdateOp, address: SSAValue) -> None:
    """
    Replaces an atomic update by one of a gang's own element at `address`. The accesses are volatile, so that
    iterations, which share elements, stay in order.
    """
    at, block = Cursor.before(update), update.region.block
    old = llvm.LoadOp(address, block.args[0].type)
    set_volatile(old)
    known: dict[SSAValue, SSAValue] = {block.args[0]: at.value(old, "old")}
    at.inline(block.ops, known)
    end = block.last_op
    assert isinstance(end, acc.YieldOp)
    new = known.get(end.operands[0], end.operands[0])
    at.insert(llvm.StoreOp(new, address, volatile=True))
    erase(update)
