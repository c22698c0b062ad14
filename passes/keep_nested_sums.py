"""
Let one thread compute each sum of a nest: a loop that reduces, inside two or more parallel loops.

`loop reduction(+:sum)` on the taps of a filter, or on any innermost loop of a nest, is the innermost parallel
loop, and would get the lanes. If the loops around it have enough iterations for all threads, a thread for
each sum needs no combination of partial sums and leaves no lane idle, and neighbouring threads access
neighbouring elements.

Takes:  data level, nests in their final order, the loops over the terms of products already sequential.
Leaves: `seq`, and on the iteration's own variables, the loops without levels that reduce variables of an
        iteration of a nest of two or more parallel loops, with the loops inside, if
        `decisions/nested_sums.py` says so; with a number of iterations of the loops around from which on that
        pays, as a version of the construct that the host chooses. Other constructs, and those with sizes, a
        `cache` directive, or loops beside the nest are unchanged.
Fails:  never.

Before:
  acc.loop control(%i : i32) = … { acc.loop control(%j : i32) = … {
    acc.loop reduction(%copy : !llvm.ptr) control(%k : i32) = (%c0 : i32) to (%c11 : i32) step (%c1 : i32) {
      … %copy …
    }
  } }
After:
  acc.loop control(%i : i32) = … { acc.loop control(%j : i32) = … {
    acc.loop control(%k : i32) = (%c0 : i32) to (%c11 : i32) step (%c1 : i32) {
      … %sum …
    } attributes {seq = …}
  } }

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from .decisions.device import WARP
from .decisions.nested_sums import threads_from
from .decisions.polynomials import Polynomial
from .decisions.short_rows import RowAccess
from .ir.loops.loop_facts import constant_trip
from .ir.ops.acc_ops import child_loops, hands_on, loops_around, loops_in, parallel_constructs
from .ir.ops.building import Cursor
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.loop_order import make_sequential
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.versions import copy_construct, move_construct, ready_for_versions
from .ir.values.gathered import gathered_slope
from .ir.values.region_values import HostEmitter, RegionSymbols
from .ir.values.stable_loads import distance_from_base
from .ir.values.trip_counts import Arithmetic, trip_count
from .ir.variables.reduction_reads import reduces_own, use_variables

_WHY = "the loops around it have a sum for each thread"


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether the schedule may give a loop any level, and it has no variables of its own."""
    own = loop.private_operands or loop.firstprivate_operands
    fixed = loop.tile_operands or loop.cache_operands or loop_levels(loop) or hands_on(loop)
    return is_parallel(loop) and not own and not fixed and len(loop.region.blocks) == 1


def sums_of(construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """
    The loops in the body of a nest of two or more parallel loops that reduce variables of an iteration; none
    if the construct contains more than the nest, or its mapping is not open.
    """
    if construct.num_gangs or construct.num_workers or construct.vector_length:
        return []
    if any(isinstance(op, acc.CacheOp) for op in construct.walk()):
        return []
    loops, variables = child_loops(construct), 0
    while len(loops) == 1 and child_loops(loops[0]) and not loops[0].reduction_operands:
        if not _is_open(loops[0]):
            return []
        variables += len(loops[0].lowerbound)
        loops = child_loops(loops[0])
    if variables < 2 or not loops:
        return []
    inner = [each for loop in loops for each in loops_in(loop)]
    whole = all(_is_open(loop) and reduces_own(loop) for loop in loops)
    return loops if whole and all(_is_open(each) and _is_part(each) for each in inner) else []


def _is_part(loop: acc.LoopOp) -> bool:
    """Whether a loop reduces variables of the iteration around it only, or that the loop around reduces."""
    parent = loop.parent_op()
    above = parent.reduction_operands if isinstance(parent, acc.LoopOp) else ()
    entries = [value.owner for value in loop.reduction_operands]
    return reduces_own(loop) or all(
        isinstance(entry, acc.ReductionOp) and entry.var in above for entry in entries
    )


def _access(pointer: SSAValue, loop: acc.LoopOp, symbols: RegionSymbols) -> RowAccess:
    address = distance_from_base(pointer, symbols)
    inner, outer = (each.region.block.args[-1] for each in (loop, next(loops_around(loop))))
    if address is None:
        moved = gathered_slope(pointer, outer, symbols)
        return RowAccess(None, None if moved is None else Polynomial.constant(moved))

    def slope(variable: SSAValue) -> Polynomial | None:
        parts = address.split(variable)
        return None if parts is None else parts[1]

    return RowAccess(slope(inner), slope(outer))


def _threads_from(sums: list[acc.LoopOp], construct: acc.ParallelOp) -> int | None:
    """The number of sums of a nest from which on a thread should compute each; None: never."""
    symbols = RegionSymbols(construct)
    accesses = [
        _access(op.ptr, loop, symbols)
        for loop in sums
        for op in loop.walk()
        if isinstance(op, llvm.LoadOp) and not isinstance(op.ptr.owner, acc.ReductionOp)
    ]
    return threads_from(accesses, [constant_trip(loop) for loop in sums])


def _has_enough(sums: list[acc.LoopOp], construct: acc.ParallelOp, least: int) -> SSAValue | None:
    """
    Emits the test that a nest has enough sums; None if only the device knows the numbers of iterations. One
    that only the device knows, as in triangles, counts as a warp's lanes.
    """
    symbols, math = RegionSymbols(construct), Arithmetic(HostEmitter(construct))
    found = [trip_count(loop, symbols, math) for loop in loops_around(sums[0], construct)]
    known = [WARP if count is None else count[0] for count in found]
    if all(count is None for count in found):
        return None
    total = math.value(reduce(math.multiply, known))
    enough = math.emit.value(arith.CmpiOp(total, math.value(least), "sge"))
    enough.name_hint = "many_sums"
    return enough


def _make_sequential(sums: list[acc.LoopOp]) -> None:
    for loop in reversed([each for each in sums for each in (each, *loops_in(each))]):
        use_variables(loop, loop.reduction_operands)
        make_sequential(loop, _WHY)


def keep_nested_sums(construct: acc.ParallelOp) -> None:
    """Gives the sums of a construct's nest to threads, in a version of it where the host must know more."""
    sums = sums_of(construct)
    least = _threads_from(sums, construct) if sums else None
    if least is None:
        return
    if least == 0:
        _make_sequential(sums)
        return
    if not ready_for_versions(construct):
        return
    enough = _has_enough(sums, construct, least)
    if enough is None:
        return
    then, otherwise = Cursor.before(construct).if_else(enough)
    copy_construct(construct, otherwise)
    move_construct(construct, then)
    _make_sequential(sums)
    name = sums[0].region.block.args[0].name_hint or "…"
    text = f"a thread runs all of its iterations if those around it are {least} or more"
    note(
        construct,
        [(sums[0], f"loop over '{name}': {text} (tested at launch), else lanes share it")],
    )


@dataclass(frozen=True)
class KeepNestedSumsPass(GpuPass):
    """See the module's description."""

    name = "keep-nested-sums"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            keep_nested_sums(construct)
