"""
Lowering of `acc.loop` and private variables for code that one CPU thread runs.

`HostLoopLowering` rewrites the loops of one function: a gang loop runs the iterations of the gangs that
the thread executes, in contiguous chunks; worker, vector and seq loops run all iterations. Private
variables become stack slots; a loop reduction accumulates into a stack slot that starts at the identity
and is combined with the variable after the loop, or at the end of the kernel for a gang loop (OpenACC
3.4, 2.9.11: the result is then valid after the region).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, UnitAttr, i32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import BlockArgument, Operation, Region, SSAValue

from ....compiler.base.diagnostics import SourceLoc, error
from ....dialects import llvm_ext
from ....dialects.accx import ACCESS_GROUPS, INDEPENDENT, LANES, SIMD, TYPED
from ..ops.building import Cursor, constant_value, erase
from ..ops.schedules import schedule_of
from ..values.addresses import base_of
from ..values.iteration_order import order_matters
from ..variables.combiners import Kind
from ..variables.host_copies import ReductionCopy, private_copy, reduction_copy
from ..variables.private_storage import entry_cursor, hoist_allocas
from ..variables.recipe_reading import Recipes
from .loop_nests import (
    Dimension,
    GangRange,
    dimensions_of,
    gang_loops,
    plain_loops,
    saturating_product,
    tile_sizes,
)
from .outline import select_device_type

SIMD_OPERATIONS = (
    *(op for op in arith.Arith.operations if op not in (arith.DivSIOp, arith.RemSIOp)),
    llvm.GEPOp,
    llvm.AddressOfOp,
    scf.YieldOp,
    acc.YieldOp,
)
"""The operations, besides loads and stores, of a loop that LLVM can certainly vectorise."""


class GangReductions(Protocol):
    """Interface to the code that a kernel makes for reductions over gangs."""

    def add(self, reduction: ReductionCopy) -> None:
        """Takes over initialising and combining `reduction`."""
        ...

    def has(self, reduction: ReductionCopy) -> bool:
        """Whether `reduction` has been taken over."""
        ...


@dataclass
class HostLoopLowering:
    """
    Lowers the loops of `function`. `gangs` maps gang dimensions (1 to 3) to the gangs that this code
    executes; None in host code, where every loop runs all its iterations and reductions work on the
    variable itself. `recipes` are the module's, `groups` gives the numbers of access groups, which must
    differ between loops of a module.
    """

    function: llvm.FuncOp
    recipes: Recipes
    gangs: dict[int, GangRange] | None = None
    gang_reductions: GangReductions | None = None
    groups: Iterator[int] = field(default_factory=count)
    reductions: dict[SSAValue, ReductionCopy] = field(
        default_factory=dict[SSAValue, "ReductionCopy"]
    )

    def run(self, region: Region) -> None:
        """Lowers everything in `region`, a part of the function."""
        loops: list[acc.LoopOp] = []
        for op in list(region.walk()):
            match op:
                case acc.PrivateOp() | acc.FirstprivateOp():
                    self.privatise(op, Cursor.before(op), Cursor.before(op))
                case acc.ReductionOp():
                    self.reduce(op, Cursor.before(op))
                case acc.CacheOp():
                    op.acc_var.replace_all_uses_with(op.var)
                case acc.LoopOp():
                    loops.append(op)
                case _:
                    pass
        for loop in loops:
            self.lower(loop)
        typed = TYPED in self.function.attributes
        for op in region.walk():
            if op.attributes.pop(INDEPENDENT, None) is not None and isinstance(op, scf.ForOp):
                _tell_independent(op, next(self.groups), typed=typed)
        _erase_clause_operations(region)
        hoist_allocas(self.function, entry_cursor(self.function))

    def privatise(
        self, op: acc.PrivateOp | acc.FirstprivateOp, place: Cursor, start: Cursor
    ) -> None:
        """
        Gives `op` a stack slot and replaces its result. Sizes are computed at `place`;
        `firstprivate` copies the initial value at `start`.
        """
        copy = private_copy(op, self.recipes, entry_cursor(self.function), place, start)
        op.acc_var.replace_all_uses_with(copy)

    def reduce(self, op: acc.ReductionOp, place: Cursor) -> ReductionCopy | None:
        """
        Gives `op` a stack slot and replaces its result. In host code, a reduction by an OpenACC operator
        works on the variable itself and gets no slot (None).
        """
        if self.gangs is None and self.recipes.operator(op) is not None:
            op.acc_var.replace_all_uses_with(op.var)
            return None
        reduction = reduction_copy(op, self.recipes, entry_cursor(self.function), place)
        self.reductions[reduction.storage.visible] = reduction
        op.acc_var.replace_all_uses_with(reduction.storage.visible)
        return reduction

    def lower(self, loop: acc.LoopOp) -> None:
        """Replaces `loop` by a nest of `scf.for`."""
        gang = self._gang_range(loop)
        before, after = Cursor.before(loop), Cursor.after(loop)
        for operand in loop.reduction_operands:
            reduction = self.reductions.get(operand)
            if reduction is not None:
                allow_reassociation(reduction)
            if reduction is None or self._is_over_gangs(reduction):
                continue
            if gang is not None and self._crosses_gangs(reduction):
                self._over_gangs(reduction)
            else:
                reduction.initialise(before)
                reduction.combine_into_target(after)
        dims = dimensions_of(loop, before)
        if not dims:
            body, inductions = before, list[SSAValue]()
        else:
            body, inductions = self._nest(loop, dims, gang, before)
        _move_body(loop, body, inductions)
        innermost = body.point.block.parent_op()
        if dims and self.gangs is not None and isinstance(innermost, scf.ForOp):
            typed = TYPED in self.function.attributes
            mark_simd(loop, innermost, next(self.groups), typed=typed)
        erase(loop)

    def _crosses_gangs(self, reduction: ReductionCopy) -> bool:
        """Whether the variable is shared by gangs (a kernel's argument), not private to one."""
        return isinstance(reduction.target, BlockArgument) or not isinstance(
            base_of(reduction.target).owner, llvm.AllocaOp
        )

    def _is_over_gangs(self, reduction: ReductionCopy) -> bool:
        return self.gang_reductions is not None and self.gang_reductions.has(reduction)

    def _over_gangs(self, reduction: ReductionCopy) -> None:
        if self.gang_reductions is None:
            raise error(
                SourceLoc.from_attr(reduction.op.location),
                "a reduction on an orphaned gang loop needs a variable shared by the gangs",
                "put the loop and its reduction into the compute construct",
            )
        self.gang_reductions.add(reduction)

    def _gang_range(self, loop: acc.LoopOp) -> GangRange | None:
        """
        The gangs of a loop's dimension; None if the construct lacks the dimension, so that one gang runs
        the whole loop.
        """
        if self.gangs is None or select_device_type(loop.gang) is None:
            return None
        return self.gangs.get(schedule_of(loop).gang_dim)

    def _nest(
        self, loop: acc.LoopOp, dims: list[Dimension], gang: GangRange | None, at: Cursor
    ) -> tuple[Cursor, list[SSAValue]]:
        """Builds the loops of a nest; returns a cursor in the innermost body, and the loop variables."""
        sizes = tile_sizes(loop, dims, at)
        if sizes is None:
            return gang_loops(at, dims, gang) if gang is not None else plain_loops(at, dims)
        outer = [
            Dimension(d.lower, d.upper, saturating_product(at, d, size), f"{d.name}_tile")
            for d, size in zip(dims, sizes, strict=True)
        ]
        body, tiles = gang_loops(at, outer, gang) if gang else plain_loops(at, outer)
        inner: list[Dimension] = []
        for dim, tile, size in zip(dims, tiles, sizes, strict=True):
            end = body.add(body.to_i64(tile), body.mul(body.to_i64(dim.step), size))
            end = body.value(arith.MinSIOp(end, body.to_i64(dim.upper)))
            inner.append(Dimension(tile, body.to_integer(end, dim.type), dim.step, dim.name))
        return plain_loops(body, inner)


def _move_body(loop: acc.LoopOp, body: Cursor, inductions: Sequence[SSAValue]) -> None:
    """Moves the loop's operations to `body`; a body of several blocks stays a region."""
    blocks = loop.region.blocks
    first = blocks[0]
    for arg, induction in zip(tuple(first.args), inductions, strict=True):
        arg.replace_all_uses_with(induction)
    while first.args:
        first.erase_arg(first.args[0])
    if len(blocks) == 1:
        for op in list(first.ops):
            if isinstance(op, acc.YieldOp | acc.TerminatorOp):
                continue
            body.move(op)
        return
    region = Region()
    loop.region.move_blocks(region)
    replace_yields(region)
    body.insert(scf.ExecuteRegionOp([], region))


def replace_yields(region: Region) -> None:
    """Turns the `acc.yield` and `acc.terminator` that end blocks of `region` into `scf.yield`."""
    for block in region.blocks:
        last = block.last_op
        if isinstance(last, acc.YieldOp | acc.TerminatorOp):
            end = scf.YieldOp()
            end.location = last.location
            block.insert_op_before(end, last)
            erase(last)


def mark_simd(loop: acc.LoopOp, innermost: scf.ForOp, group: int, *, typed: bool) -> None:
    """
    Tells LLVM that the iterations of the innermost `scf.for` of a partitioned loop are independent
    (access group `group`), if it contains no loop, atomic or call. Private and reduction variables
    are not in the group: iterations share their stack slots until LLVM promotes them to registers.

    LLVM then vectorises where it expects a gain. It is told to vectorise (`accx.simd`) only for
    straight-line arithmetic on memory, because it warns the user where it cannot comply. It is told
    nothing if it might then change the order of accesses within an iteration (`iteration_order.py`;
    `typed` as there).
    """
    if all(select_device_type(level) is None for level in (loop.gang, loop.worker, loop.vector)):
        return
    # LLVM counts the iterations of loops with constant steps only.
    simple = not loop.reduction_operands and constant_value(innermost.step) is not None
    if _has_loops(innermost):
        if not loop.reduction_operands:
            innermost.attributes[LANES] = UnitAttr()  # `interchange-lanes` looks into it
    else:
        _tell_independent(innermost, group, typed=typed, simple=simple)


def _has_loops(loop: scf.ForOp) -> bool:
    """Whether a loop contains another one, before any atomic operation or call."""
    for op in loop.body.walk():
        match op:
            case scf.ForOp() | scf.WhileOp() | acc.LoopOp() | scf.ExecuteRegionOp():
                return True
            case llvm.CallOp() | llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                return False
            case llvm.LoadOp(ordering=ordering) | llvm.StoreOp(ordering=ordering):
                if ordering is not None and ordering.value.data != 0:
                    return False
            case _:
                pass
    return False


def _tell_independent(loop: scf.ForOp, group: int, *, typed: bool, simple: bool = False) -> None:
    """
    Puts the accesses of a loop whose iterations are independent into access group `group`, unless it
    contains a loop, atomic or call, or the order within iterations matters. LLVM is told to vectorise a
    `simple` loop if it is straight-line code.
    """
    accesses: list[Operation] = []
    straight = True
    for op in loop.body.walk():
        match op:
            case scf.ForOp() | scf.WhileOp() | acc.LoopOp() | scf.ExecuteRegionOp():
                return
            case llvm.CallOp() | llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                return
            case llvm.LoadOp(ordering=ordering) | llvm.StoreOp(ordering=ordering):
                if ordering is not None and ordering.value.data != 0:
                    return
                if isinstance(base_of(op.ptr).owner, llvm.AllocaOp):
                    straight &= isinstance(op.ptr.owner, llvm.AllocaOp)
                else:
                    accesses.append(op)
            case _:
                straight &= isinstance(op, SIMD_OPERATIONS)
    if order_matters(loop, accesses, typed=typed):
        return
    if straight and simple:
        loop.attributes[SIMD] = UnitAttr()
    groups = ArrayAttr([IntegerAttr(group, i32)])
    for op in (loop, *accesses):
        op.attributes[ACCESS_GROUPS] = groups


def allow_reassociation(reduction: ReductionCopy) -> None:
    """
    Lets LLVM reorder the floating-point sum or product of `reduction`, which it needs for vectorising
    it; the standard leaves the order open.
    """
    variable = reduction.storage.visible
    operator = reduction.recipe.operator()
    if operator is None or operator.kind not in (Kind.ADD, Kind.MUL):
        return
    for use in list(variable.uses):
        store = use.operation
        if not isinstance(store, llvm.StoreOp) or store.ptr is not variable:
            continue
        update = store.value.owner
        if isinstance(update, arith.AddfOp | arith.SubfOp | arith.MulfOp):
            flags = {*update.fastmath.data, FastMathFlag.REASSOC}
            update.properties["fastmath"] = arith.FastMathFlagsAttr(flags)


def _erase_clause_operations(region: Region) -> None:
    """Erases the privatising, cache and bounds operations of `region`, which are unused now."""
    kinds = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp, acc.CacheOp, acc.DataBoundsOp)
    for op in reversed(list(region.walk())):
        if isinstance(op, kinds) and not op.results[0].uses:
            erase(op)
