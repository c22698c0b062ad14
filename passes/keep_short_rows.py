"""
Let one thread process each short row: choose at launch between lanes and threads for an innermost loop
without a directive.

`split-kernels` spreads such a loop over lanes, so that they access neighbouring elements together. If it has
few iterations, most lanes are idle, while threads that process one row each access neighbouring elements,
too, if the rows follow one another in memory. The number of iterations is often known only at run time.

Takes:  data level, nests in their final order, bounds of inner loops computed before the construct.
Leaves: a construct that is such a nest (`decisions/short_rows.py`), whose innermost loop is marked
        `accx.plain` and contains no loop, is in an `scf.if` on the number of iterations of that loop. The
        first version, for `FEWEST_FOR_LANES` and more, is unchanged, in the second the innermost loop is
        `seq`. A note on the construct says so. Other constructs are unchanged, also those with several nests,
        or with a queue or wait clause that versions cannot have. No loop is marked `accx.plain`.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%i : i32) = … {
      acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
        … a[%i * %m + %j] …
      } attributes {accx.plain}
  } }
After:
  %long_rows = arith.cmpi sge, %trip, %c8 : i64
  scf.if %long_rows {
    acc.parallel { acc.loop … { acc.loop … } }
  } else {
    acc.parallel { acc.loop … { acc.loop … {seq} } }
  }

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects.accx import PLAIN
from .decisions.polynomials import Polynomial
from .decisions.short_rows import FEWEST_FOR_LANES, RowAccess, slow_when_short
from .ir.dependence.loop_classifier import is_parallel
from .ir.ops.acc_ops import child_loops, is_defined_inside, loops_in, parallel_constructs
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import loop_levels
from .ir.ops.loop_order import make_sequential
from .ir.ops.notes import note
from .ir.ops.versions import (
    can_have_versions,
    copy_construct,
    move_construct,
    queue_outside,
)
from .ir.values.addresses import steps_to
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.trip_counts import Arithmetic, trip_count

_INNER_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give a loop of one variable any level."""
    return is_parallel(loop) and not loop_levels(loop) and len(loop.lowerbound) == 1


def plain_row(construct: acc.ParallelOp) -> acc.LoopOp | None:
    """
    The innermost loop of a construct that is one nest of parallel loops, if it had no directive, its bounds
    are known before the nest, its step is 1, and its body has no loops; else None.
    """
    roots = child_loops(construct)
    loops = list(loops_in(construct))
    marked = [loop for loop in loops if PLAIN in loop.attributes]
    if len(roots) != 1 or not marked or not all(map(_is_open, loops)):
        return None
    row = marked[-1]
    if row is not loops[-1] or any(isinstance(op, _INNER_LOOPS) for op in row.region.walk()):
        return None
    bounds = (*row.lowerbound, *row.upperbound, *row.step)
    if constant_value(row.step[0]) != 1 or any(is_defined_inside(v, roots[0]) for v in bounds):
        return None
    return row


def _slope(address: Polynomial, variable: SSAValue) -> Polynomial | None:
    parts = address.split(variable)
    return None if parts is None else parts[1]


def _row_access(pointer: SSAValue, row: acc.LoopOp, symbols: RegionSymbols) -> RowAccess:
    around = row.parent_op()
    assert isinstance(around, acc.LoopOp)
    address = Polynomial.constant(0)
    for step in steps_to(pointer):
        moved = step.in_bytes(symbols)
        if moved is None:
            return RowAccess(None, None)
        address = address + moved
    inner, outer = row.region.block.args[-1], around.region.block.args[-1]
    return RowAccess(_slope(address, inner), _slope(address, outer))


def is_slow_when_short(row: acc.LoopOp, construct: acc.ParallelOp) -> bool:
    """Whether a version with a thread for each row pays, by the accesses in the body of `row`."""
    if not isinstance(row.parent_op(), acc.LoopOp):
        return False
    symbols = RegionSymbols(construct)
    low, high = (symbols.polynomial(v) for v in (row.lowerbound[0], row.upperbound[0]))
    if low is None or high is None:
        return False
    pointers = [op.ptr for op in row.region.walk() if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    accesses = [_row_access(pointer, row, symbols) for pointer in pointers]
    return slow_when_short(accesses, high - low)


def _has_enough(row: acc.LoopOp, construct: acc.ParallelOp) -> SSAValue | None:
    """Emits the test that `row` has enough iterations for lanes; None if only the device knows them."""
    math = Arithmetic(HostEmitter(construct))
    found = trip_count(row, RegionSymbols(construct), math)
    if found is None:
        return None
    trips = math.value(found[0])
    test = arith.CmpiOp(trips, math.value(FEWEST_FOR_LANES), "sge")
    return math.emit.insert(test, "long_rows")


def keep_short_rows(construct: acc.ParallelOp) -> None:
    """Makes a version of a construct with a thread for each row, if that pays."""
    row = plain_row(construct)
    if row is None or not is_slow_when_short(row, construct):
        return
    if not can_have_versions(construct) or not queue_outside(construct):
        return
    enough = _has_enough(row, construct)
    if enough is None:
        return
    then, otherwise = Cursor.before(construct).if_else(enough)
    copy = copy_construct(construct, otherwise)
    *_, short = loops_in(copy)
    make_sequential(short, "it has too few iterations to give each one a thread")
    move_construct(construct, then)
    name = row.region.block.args[0].name_hint or "…"
    text = f"loop over '{name}': lanes share it if it has {FEWEST_FOR_LANES} iterations or more"
    note(construct, [(row, f"{text} (tested at launch), else a thread runs all of them")])


@dataclass(frozen=True)
class KeepShortRowsPass(GpuPass):
    """See the module's description."""

    name = "keep-short-rows"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            keep_short_rows(construct)
        for op in module.walk():
            op.attributes.pop(PLAIN, None)
