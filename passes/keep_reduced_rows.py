"""
Give the rows of a sum over two loops a warp each, if they are short.

Workers take the outer of two loops that reduce variables of an iteration of the loop around them, and lanes
the inner one, whose results are combined after each of its rows: with more lanes than a warp, through shared
memory and a barrier.

Takes:  data level, collapsed loops that reduce split.
Leaves: a construct that is a nest of three loops without levels and sizes, of which the inner two reduce the
        same variables, with 32 workers of a warp, if the innermost one has fewer iterations, and the middle
        one more, than `decisions/short_rows.py` says; as a version that the host chooses where it computes
        their numbers. A note on the construct says so. Other constructs are unchanged.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%k : i32) = … {
      acc.loop reduction(%sum) control(%b : i32) = … {
        acc.loop reduction(%inner) control(%p : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) { … }
  } } }
After:
  %few_or_long_rows = arith.cmpi sge, max(15 - %rows, %trip - 1024), 0
  scf.if %few_or_long_rows {
    acc.parallel { … }
  } else {
    acc.parallel num_workers(%c32 : i32) vector_length(%c32 : i32) { … }
  }

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from .decisions.device import WARP
from .decisions.short_rows import FEWEST_REDUCED, REDUCING_WORKERS, SHORT_REDUCED
from .ir.ops.acc_ops import child_loops, is_defined_inside, loops_in, parallel_constructs
from .ir.ops.building import Cursor, constant_value
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.versions import copy_construct, give_block, move_construct, ready_for_versions
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.trip_counts import Arithmetic, trip_count
from .ir.variables.reduction_reads import reduces_own

_INSIDE = (acc.LoopOp, acc.CacheOp, scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp)


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether a loop of one variable is parallel, and the schedule may give it any level."""
    one = len(loop.lowerbound) == 1 and not loop.tile_operands and not loop.cache_operands
    return one and is_parallel(loop) and not loop_levels(loop)


def rows_of(construct: acc.ParallelOp) -> tuple[acc.LoopOp, acc.LoopOp] | None:
    """The inner two loops of a construct that is such a nest, with bounds known before it; else None."""
    if construct.num_gangs or construct.num_workers or construct.vector_length:
        return None
    loops = list(loops_in(construct))
    if len(loops) != 3 or not all(map(_is_open, loops)):
        return None
    outer, middle, row = loops
    if child_loops(outer) != [middle] or child_loops(middle) != [row] or outer.reduction_operands:
        return None
    if not reduces_own(middle) or not row.reduction_operands or constant_value(row.step[0]) != 1:
        return None
    if any(isinstance(op, _INSIDE) for op in row.region.walk()):
        return None
    bounds = [v for loop in (middle, row) for v in (*loop.lowerbound, *loop.upperbound)]
    return None if any(is_defined_inside(value, outer) for value in bounds) else (middle, row)


def keep_reduced_rows(construct: acc.ParallelOp) -> None:
    """Gives a construct's rows a warp each, if they are short and not few, as a version or at once."""
    loops = rows_of(construct)
    if loops is None or not ready_for_versions(construct):
        return
    symbols, math = RegionSymbols(construct), Arithmetic(HostEmitter(construct))
    rows, trips = (trip_count(loop, symbols, math) for loop in loops)
    if rows is None or trips is None:
        return
    bounds = [math.subtract(FEWEST_REDUCED - 1, rows[0]), math.subtract(trips[0], SHORT_REDUCED)]
    if any(isinstance(bound, int) and bound >= 0 for bound in bounds):
        return
    unknown = [bound for bound in bounds if not isinstance(bound, int)]
    kept = None
    if unknown:
        kept = math.at_least(reduce(math.maximum, unknown), 0, "few_or_long_rows")
    if isinstance(kept, SSAValue):
        then, otherwise = Cursor.before(construct).if_else(kept)
        copy_construct(construct, then)
        move_construct(construct, otherwise)
    give_block(construct, REDUCING_WORKERS, WARP)
    name = loops[1].region.block.args[0].name_hint or "…"
    which = f"a row of fewer than {SHORT_REDUCED} iterations, of at least {FEWEST_REDUCED} rows"
    at_launch = " (tested at launch)" if isinstance(kept, SSAValue) else ""
    note(construct, [(loops[1], f"loop over '{name}': a warp takes {which}{at_launch}")])


@dataclass(frozen=True)
class KeepReducedRowsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-reduced-rows"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            keep_reduced_rows(construct)
