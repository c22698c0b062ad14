"""
Drop level, size and tile clauses where no program can observe how iterations are mapped.

Programs often have clauses that were tuned for another compiler or device. Which gang, worker or lane runs
an iteration is not observable in a conforming program (OpenACC 3.4, 2.9), so a nest with such clauses is
scheduled by the same decisions as one without them, which take the device and the accesses into account.

Takes:  data level.
Leaves: compute constructs without `num_gangs`, `num_workers`, `vector_length`, and loops without levels and
        tiles, where `decisions/observable_mapping.py` finds that no difference could be observed; `seq`
        stays. A note on the construct (`accx.remarks`) lists the clauses. Other constructs are untouched,
        with a note that gives the reason. Routines keep their levels, on which callers rely.
Fails:  on levels nested against the specification.

Before:
  acc.parallel num_gangs({%g : i32}) vector_length(%v : i32) {
    acc.loop gang control(%i : i32) = … { acc.loop vector control(%j : i32) = … { … } }
  }
After:
  acc.parallel {
    acc.loop control(%i : i32) = … { acc.loop control(%j : i32) = … { … } }
  } attributes {accx.remarks = […]}

Options: `target` (`host`: CPU threads are mapped as the clauses say, except nests with tiles, which keep them
from walking along rows, those that `order-nests` will reorder, collapsed ones that go across memory, and
constructs whose clauses may leave most threads without work: no loop has the gang level, or the number of
gangs is small or computed at run time). `sizes`: `advice`, or `as-written` to keep everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import FROM_KERNELS
from .decisions.levels import LEVEL_NAMES, Level
from .decisions.loop_tree import LoopNode, check_nesting
from .decisions.nest_order import outer_iterations
from .decisions.observable_mapping import GangCode, why_kept
from .decisions.schedule import Target
from .ir.dependence.parallel_nests import is_collapsed_across, is_in_columns
from .ir.loops.loop_facts import gang_argument, loop_forest
from .ir.ops.acc_ops import (
    PRIVATIZING_OPS,
    drop_levels,
    is_defined_inside,
    loops_in,
    parallel_constructs,
    reduces_elements,
    set_operand_groups,
    set_prop,
)
from .ir.ops.building import constant_value
from .ir.ops.levels import loop_levels, routine_level
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure
from .ir.values.accesses import root_of
from .ir.values.addresses import ADDRESS_OPS
from .ir.values.region_values import RegionSymbols
from .ir.values.values_outside import is_known_outside

Sizes = Literal["advice", "as-written"]
_SIZES = ("num_gangs", "num_workers", "vector_length")
_SIZE_PROPERTIES = (
    "numGangsSegments",
    "numGangsDeviceType",
    "numWorkersDeviceType",
    "vectorLengthDeviceType",
)
_TILE_PROPERTIES = ("tileOperandsSegments", "tileOperandsDeviceType")


# The clauses.


def _loop_sizes(loop: acc.LoopOp) -> Iterator[SSAValue]:
    """The sizes in the level clauses of a loop."""
    gangs = gang_argument(loop, acc.GangArgType.NUM)
    yield from [] if gangs is None else [gangs]
    yield from (*loop.worker_num_operands, *loop.vector_operands)


def _size_text(name: str, value: SSAValue) -> str:
    known = constant_value(value)
    return f"{name}({value.name_hint or '…' if known is None else known})"


def asked(construct: acc.ParallelOp) -> list[str]:
    """The mapping clauses of a construct and its loops, as written in C."""
    found = [_size_text(name, value) for name in _SIZES for value in getattr(construct, name)]
    for loop in loops_in(construct):
        levels = sorted(loop_levels(loop), reverse=True)
        found += [LEVEL_NAMES[level] for level in levels]
        if loop.tile_operands:
            found.append("tile")
    return list(dict.fromkeys(found))


# What could make the mapping observable.


def _is_redundant(block: Block) -> bool:
    """Whether code of a construct outside of its loops, which all gangs run, has effects."""
    for op in block.ops:
        if isinstance(op, acc.LoopOp | acc.YieldOp | acc.TerminatorOp | llvm.LoadOp | scf.YieldOp):
            continue
        if isinstance(op, scf.IfOp):
            if any(_is_redundant(inner) for region in op.regions for inner in region.blocks):
                return True
        elif op.regions or not (is_pure(op) or isinstance(op, PRIVATIZING_OPS)):
            return True
    return False


def _is_written(value: SSAValue) -> bool:
    """Whether a pointer, or an address computed from it, has uses other than loads."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, ADDRESS_OPS):
            if any(_is_written(result) for result in op.results):
                return True
        elif not isinstance(op, llvm.LoadOp | acc.ParallelOp | acc.LoopOp):
            return True
    return False


def _has_private(construct: acc.ParallelOp) -> bool:
    """
    Whether gangs have variables of their own. Those that a loop privatises, or its body declares, belong to
    its iterations, which lanes share under any mapping.
    """
    own = bool(construct.private_operands) or reduces_elements(construct)
    return own or any(map(_is_written, construct.firstprivate_operands))


def _shared_by_blocks(op: acc.CacheOp) -> bool:
    """
    Whether a directive belongs to single iterations of several loops whose bounds do not depend on each
    other: then any block can keep the sections that its iterations share. A section that a gang keeps for
    loops shared by its lanes is not of this kind.
    """
    place = op.parent_op()
    if place is None or any(
        inner is not place and isinstance(inner, acc.LoopOp) for inner in place.walk()
    ):
        return False
    loops: list[acc.LoopOp] = []
    while place is not None and not isinstance(place, acc.ParallelOp):
        loops += [place] if isinstance(place, acc.LoopOp) else []
        place = place.parent_op()
    bounds = [v for loop in loops for v in (*loop.lowerbound, *loop.upperbound)]
    variables = sum(len(loop.lowerbound) for loop in loops)
    return variables > 1 and all(is_known_outside(v, loops[-1]) for v in bounds)


def _is_kept_by_gang(op: Operation) -> bool:
    """
    Whether an operation is a directive for a section that a gang keeps for loops inside. An array of an
    iteration's own is not moved by it.
    """
    if not isinstance(op, acc.CacheOp) or _shared_by_blocks(op):
        return False
    return not isinstance(root_of(op.var).owner, (llvm.AllocaOp, *PRIVATIZING_OPS))


def _number_of_gangs(construct: acc.ParallelOp) -> int | None:
    given = list(construct.num_gangs)
    for loop in loops_in(construct):
        value = gang_argument(loop, acc.GangArgType.NUM)
        given += [] if value is None else [value]
    known = [constant_value(value) for value in given]
    if None in known:
        return None
    return max((n for n in known if n is not None), default=0)


def _has_one_thread(construct: acc.ParallelOp) -> bool:
    """Whether a construct has one gang of one worker of one lane."""
    sizes = (construct.num_gangs, construct.num_workers, construct.vector_length)
    return all([constant_value(v) for v in size] == [1] for size in sizes)


def gang_code(construct: acc.ParallelOp) -> GangCode:
    """The properties of a construct that `decisions/observable_mapping.py` decides by."""
    loops = list(loops_in(construct))
    return GangCode(
        gangs=_number_of_gangs(construct),
        redundant=len(construct.region.blocks) != 1 or _is_redundant(construct.region.block),
        private=_has_private(construct),
        cached=any(map(_is_kept_by_gang, construct.walk()))
        or any(loop.cache_operands for loop in loops),
        static=any(gang_argument(loop, acc.GangArgType.STATIC) is not None for loop in loops),
        sized_inside=any(
            is_defined_inside(size, construct) and constant_value(size) is None
            for loop in loops
            for size in _loop_sizes(loop)
        ),
    )


# Rewriting.


def drop_mapping(construct: acc.ParallelOp) -> None:
    """Removes sizes, levels and tiles from a construct and its loops."""
    set_operand_groups(construct, num_gangs=[], num_workers=[], vector_length=[])
    for name in _SIZE_PROPERTIES:
        set_prop(construct, name, None)
    for loop in loops_in(construct):
        drop_levels(loop)
        set_operand_groups(loop, tile_operands=[])
        for name in _TILE_PROPERTIES:
            set_prop(loop, name, None)


def _leaves_threads_idle(construct: acc.ParallelOp) -> bool:
    """
    Whether the clauses may give most of many CPU threads nothing to do, as each runs whole gangs: levels
    without gang, or a number of gangs that is, or at run time may be, below that of the iterations that
    occupy all threads.
    """
    loops = list(loops_in(construct))
    levels = {level for loop in loops for level in loop_levels(loop)}
    gangs = _number_of_gangs(construct)
    few = gangs is None or 0 < gangs < outer_iterations("host")
    return few or (bool(levels) and Level.GANG not in levels)


def _roots(construct: acc.ParallelOp, level_of: Callable[[str], Level]) -> list[LoopNode]:
    symbols = RegionSymbols(construct)
    return loop_forest(construct, symbols, level_of, measured=False).roots


def free(construct: acc.ParallelOp, level_of: Callable[[str], Level]) -> None:
    """
    Drops the mapping of one construct if no difference could be observed, and adds a note in either case.
    """
    clauses = asked(construct)
    if not clauses:
        return
    roots = _roots(construct, level_of)
    for root in roots:
        check_nesting(root)
    if FROM_KERNELS in construct.attributes and _has_one_thread(construct):
        note(
            construct,
            [(construct, "one thread runs this: it has no loop that is known to be parallel")],
        )
        return
    kept = why_kept(gang_code(construct), roots)
    text = ", ".join(clauses)
    if kept is not None:
        note(construct, [(construct, f"mapped as written ({text}): {kept}")])
        return
    drop_mapping(construct)
    text += ": treated as advice, mapped as without these clauses (--sizes=as-written keeps them)"
    note(construct, [(construct, text)])


@dataclass(frozen=True)
class FreeMappingPass(ModulePass):
    """See the module's description."""

    name = "free-mapping"

    target: Target | None = None
    sizes: Sizes | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        as_written = machine.as_written if self.sizes is None else self.sizes == "as-written"
        if as_written:
            return
        target = self.target or machine.target
        levels = {
            inner.func_name.string_value(): routine_level(inner)
            for inner in op.body.block.ops
            if isinstance(inner, acc.RoutineOp)
        }
        for construct in parallel_constructs(op):
            if (
                target != "host"
                or _leaves_threads_idle(construct)
                or is_in_columns(construct, outer_iterations(target))
                or is_collapsed_across(construct)
                or any(loop.tile_operands for loop in loops_in(construct))
            ):
                free(construct, lambda name: levels.get(name, Level.SEQ))
