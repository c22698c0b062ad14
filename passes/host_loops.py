"""
Lowering of `acc.loop` and private variables for code that one CPU thread runs.

`LoopLowering` rewrites the loops of one function: a gang loop runs the iterations of the gangs the
thread has been given, in contiguous chunks; worker, vector and seq loops run all iterations. Private
variables become stack slots; a loop reduction accumulates into a stack slot that starts at the
identity and is combined with the variable after the loop, or at the end of the kernel for a gang
loop (OpenACC 3.4, 2.9.11: the result is then valid after the region).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, UnitAttr, i32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ..compiler.diagnostics import SourceLoc, error
from ..dialects import llvm_ext
from ..dialects.accx import ACCESS_GROUPS, GANG_DIM, SIMD
from .building import Cursor, constant_value, erase
from .outline import select_device_type
from .private_storage import (
    Extent,
    Storage,
    copy_extent,
    entry_cursor,
    extent_of,
    for_each_element,
    hoist_allocas,
    make_storage,
)
from .reduction_ops import combine, identity, reduction_kind

SIMD_OPERATIONS = (
    *(op for op in arith.Arith.operations if op not in (arith.DivSIOp, arith.RemSIOp)),
    llvm.GEPOp,
    llvm.AddressOfOp,
    scf.YieldOp,
    acc.YieldOp,
)
"""What a loop that LLVM can certainly vectorise consists of, besides loads and stores."""

DEFAULT_TILE = 32
"""The size of a `tile(*)` dimension."""


@dataclass(frozen=True)
class GangRange:
    """The gangs `[begin, end)` of `count` of one gang dimension that this code stands for (i64)."""

    begin: SSAValue
    end: SSAValue
    count: SSAValue


@dataclass(frozen=True)
class Reduction:
    """A reduction's private copy: `extent` of the variable at `target`, copied in `storage`."""

    op: acc.ReductionOp
    kind: acc.ReductionOpKind
    signed: bool
    extent: Extent
    storage: Storage
    target: SSAValue

    def initialise(self, cursor: Cursor) -> None:
        """Sets the private copy to the identity."""

        def store(at: Cursor, scalar: Attribute, offset: SSAValue | None) -> None:
            start = at.constant(identity(self.kind, scalar, self.signed), scalar)
            at.store(start, _address(at, self.storage.memory, offset))

        for_each_element(cursor, self.extent, store)

    def combine_into_target(self, cursor: Cursor, source: SSAValue | None = None) -> None:
        """Folds the private copy (or another at `source`) into the variable."""
        part = self.storage.memory if source is None else source
        start = self.extent.start_at(cursor)
        target = self.target if start is None else cursor.offset(self.target, start)

        def fold(at: Cursor, scalar: Attribute, offset: SSAValue | None) -> None:
            address = _address(at, target, offset)
            old = at.load(address, scalar)
            new = at.load(_address(at, part, offset), scalar)
            at.store(combine(at, self.kind, old, new, self.signed), address)

        for_each_element(cursor, self.extent, fold)

    def save(self, cursor: Cursor, target: SSAValue) -> None:
        """Copies the private copy to memory at `target`."""

        def move(at: Cursor, scalar: Attribute, offset: SSAValue | None) -> None:
            value = at.load(_address(at, self.storage.memory, offset), scalar)
            at.store(value, _address(at, target, offset))

        for_each_element(cursor, self.extent, move)


def _address(cursor: Cursor, base: SSAValue, offset: SSAValue | None) -> SSAValue:
    return base if offset is None else cursor.offset(base, offset)


class GangReductions(Protocol):
    """What a kernel does with reductions over gangs."""

    def add(self, reduction: Reduction) -> None:
        """Takes over initialising and combining `reduction`."""
        ...

    def has(self, reduction: Reduction) -> bool:
        """Whether `reduction` has been taken over."""
        ...


@dataclass(frozen=True)
class Dimension:
    """One loop of a nest: all of one integer type; `upper` is exclusive, `step` positive."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    name: str

    @property
    def type(self) -> IntegerType:
        assert isinstance(self.lower.type, IntegerType)
        return self.lower.type


def _trip_count(cursor: Cursor, dim: Dimension) -> SSAValue:
    """The number of iterations as an i64, at least 0."""
    lower, upper = cursor.to_i64(dim.lower), cursor.to_i64(dim.upper)
    span, zero = cursor.sub(upper, lower), cursor.i64(0)
    if constant_value(dim.step) != 1:
        step = cursor.to_i64(dim.step)
        rounded = cursor.add(span, cursor.sub(step, cursor.i64(1)))
        span = cursor.value(arith.DivSIOp(rounded, step))
    return cursor.value(arith.MaxSIOp(span, zero), "trip_count")


def _bound(cursor: Cursor, dim: Dimension, iteration: SSAValue) -> SSAValue:
    """The loop variable's value at i64 `iteration`, not beyond the upper bound."""
    step = cursor.mul(iteration, cursor.to_i64(dim.step))
    value = cursor.add(cursor.to_i64(dim.lower), step)
    value = cursor.value(arith.MinSIOp(value, cursor.to_i64(dim.upper)))
    return cursor.to_integer(value, dim.type)


@dataclass
class LoopLowering:
    """
    Lowers the loops of `function`. `gangs` maps gang dimensions (1 to 3) to the gangs this code
    stands for; None in host code, where every loop runs all its iterations and reductions work on
    the variable itself. `recipes` are the module's reduction recipes, `groups` gives the numbers of
    access groups, which must differ between loops of a module.
    """

    function: llvm.FuncOp
    recipes: dict[str, acc.ReductionRecipeOp]
    gangs: dict[int, GangRange] | None = None
    gang_reductions: GangReductions | None = None
    groups: Iterator[int] = field(default_factory=count)
    reductions: dict[SSAValue, Reduction] = field(default_factory=dict[SSAValue, "Reduction"])

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
        _erase_clause_operations(region)
        hoist_allocas(self.function, entry_cursor(self.function))

    def privatise(
        self, op: acc.PrivateOp | acc.FirstprivateOp, place: Cursor, start: Cursor
    ) -> None:
        """
        Gives `op` a stack slot and replaces its result. Sizes are computed at `place`;
        `firstprivate` copies the initial value at `start`.
        """
        name = "private" if op.var_name is None else op.var_name.data
        extent = extent_of(op, place)
        storage = make_storage(extent, entry_cursor(self.function), place, name)
        if isinstance(op, acc.FirstprivateOp):
            copy_extent(start, extent, storage.memory, op.var)
        op.acc_var.replace_all_uses_with(storage.visible)

    def reduce(self, op: acc.ReductionOp, place: Cursor) -> Reduction | None:
        """Gives `op` a stack slot (in host code the variable itself) and replaces its result."""
        if self.gangs is None:
            op.acc_var.replace_all_uses_with(op.var)
            return None
        name = "reduction" if op.var_name is None else op.var_name.data
        kind, signed = reduction_kind(op, self.recipes)
        extent = extent_of(op, place)
        storage = make_storage(extent, entry_cursor(self.function), place, name)
        reduction = Reduction(op, kind, signed, extent, storage, op.var)
        self.reductions[storage.visible] = reduction
        op.acc_var.replace_all_uses_with(storage.visible)
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
        dims = _dimensions(loop, before)
        if not dims:
            body, inductions = before, list[SSAValue]()
        else:
            body, inductions = self._nest(loop, dims, gang, before)
        _move_body(loop, body, inductions)
        innermost = body.point.block.parent_op()
        if dims and self.gangs is not None and isinstance(innermost, scf.ForOp):
            mark_simd(loop, innermost, next(self.groups))
        erase(loop)

    def _crosses_gangs(self, reduction: Reduction) -> bool:
        """Whether the variable is shared by gangs (a kernel's argument), not private to one."""
        return isinstance(reduction.target, BlockArgument) or not isinstance(
            _root(reduction.target).owner, llvm.AllocaOp
        )

    def _is_over_gangs(self, reduction: Reduction) -> bool:
        return self.gang_reductions is not None and self.gang_reductions.has(reduction)

    def _over_gangs(self, reduction: Reduction) -> None:
        if self.gang_reductions is None:
            raise error(
                SourceLoc.from_attr(reduction.op.location),
                "a reduction on an orphaned gang loop needs a variable shared by the gangs",
                "put the loop and its reduction into the compute construct",
            )
        self.gang_reductions.add(reduction)

    def _gang_range(self, loop: acc.LoopOp) -> GangRange | None:
        if self.gangs is None or select_device_type(loop.gang) is None:
            return None
        attr = loop.attributes.get(GANG_DIM)
        dim = attr.value.data if isinstance(attr, IntegerAttr) else 1
        gangs = self.gangs.get(dim)
        if gangs is None:
            raise error(
                SourceLoc.from_attr(loop.location),
                f"the loop is partitioned over gang dimension {dim}, which the construct lacks",
                f"give num_gangs {dim} arguments",
            )
        return gangs

    def _nest(
        self, loop: acc.LoopOp, dims: list[Dimension], gang: GangRange | None, at: Cursor
    ) -> tuple[Cursor, list[SSAValue]]:
        """The loops of a nest; gives a cursor in the innermost body and the loop variables."""
        sizes = _tile_sizes(loop, dims, at)
        if sizes is None:
            return _gang_loops(at, dims, gang) if gang is not None else _plain_loops(at, dims)
        outer = [
            Dimension(d.lower, d.upper, _saturating_product(at, d, size), f"{d.name}_tile")
            for d, size in zip(dims, sizes, strict=True)
        ]
        body, tiles = _gang_loops(at, outer, gang) if gang else _plain_loops(at, outer)
        inner: list[Dimension] = []
        for dim, tile, size in zip(dims, tiles, sizes, strict=True):
            end = body.add(body.to_i64(tile), body.mul(body.to_i64(dim.step), size))
            end = body.value(arith.MinSIOp(end, body.to_i64(dim.upper)))
            inner.append(Dimension(tile, body.to_integer(end, dim.type), dim.step, dim.name))
        return _plain_loops(body, inner)


def _root(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, llvm.GEPOp):
        value = value.owner.ptr
    return value


def _dimensions(loop: acc.LoopOp, at: Cursor) -> list[Dimension]:
    """The loop's control, outermost first, with exclusive upper bounds."""
    inclusive: list[bool] = []
    if loop.inclusive_upperbound is not None:
        inclusive = [bool(v) for v in loop.inclusive_upperbound.iter_values()]
    dims: list[Dimension] = []
    names = [arg.name_hint or "i" for arg in loop.region.blocks[0].args] if loop.lowerbound else []
    for position, (lower, upper, step) in enumerate(
        zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)
    ):
        if position < len(inclusive) and inclusive[position]:
            upper = at.add(upper, at.constant(1, upper.type))
        dims.append(Dimension(lower, upper, step, names[position]))
    return dims


def _tile_sizes(loop: acc.LoopOp, dims: Sequence[Dimension], at: Cursor) -> list[SSAValue] | None:
    """The tile sizes as i64, or None without a tile clause."""
    if not loop.tile_operands:
        return None
    sizes = list(loop.tile_operands)[: len(dims)]
    if len(sizes) != len(dims):
        raise error(
            SourceLoc.from_attr(loop.location),
            f"tile has {len(sizes)} sizes for {len(dims)} loops",
            "give one size per loop",
        )
    return [at.i64(DEFAULT_TILE) if (constant_value(s) or 1) < 0 else at.to_i64(s) for s in sizes]


def _saturating_product(at: Cursor, dim: Dimension, size: SSAValue) -> SSAValue:
    """`step * size` in the loop's type, at most a quarter of its range, so that adding it is safe."""
    product = at.mul(at.to_i64(dim.step), size)
    limit = at.i64((1 << (dim.type.width.data - 2)) - 1)
    if constant_value(product) is None:
        product = at.value(arith.MinSIOp(product, limit))
    return at.to_integer(product, dim.type)


def _plain_loops(at: Cursor, dims: Sequence[Dimension]) -> tuple[Cursor, list[SSAValue]]:
    inductions: list[SSAValue] = []
    for dim in dims:
        _, at = at.for_loop(dim.lower, dim.upper, dim.step, dim.name)
        inductions.append(at.point.block.args[0])
    return at, inductions


def _chunk(at: Cursor, gang: GangRange, total: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The iterations `[low, high)` of `total` that the gangs of `gang` run, in equal chunks."""
    rounded = at.add(total, at.sub(gang.count, at.i64(1)))
    chunk = at.value(arith.DivSIOp(rounded, gang.count), "chunk")
    low = at.value(arith.MinSIOp(at.mul(gang.begin, chunk), total), "low")
    high = at.value(arith.MinSIOp(at.mul(gang.end, chunk), total), "high")
    return low, high


def _gang_loops(
    at: Cursor, dims: Sequence[Dimension], gang: GangRange
) -> tuple[Cursor, list[SSAValue]]:
    """
    The gangs' chunk of the iteration space. With several dimensions the space is taken row by row:
    a loop over the rows that the chunk touches, and in it the part of the row.
    """
    trips = [_trip_count(at, dim) for dim in dims]
    inner = dims[-1]
    if len(dims) == 1:
        low, high = _chunk(at, gang, trips[0])
        return _plain_loops(
            at, [Dimension(_bound(at, inner, low), _bound(at, inner, high), inner.step, inner.name)]
        )
    total = trips[0]
    for trip in trips[1:]:
        total = at.mul(total, trip, "iterations")
    low, high = _chunk(at, gang, total)
    one, zero = at.i64(1), at.i64(0)
    row_length = at.value(arith.MaxSIOp(trips[-1], one), "row_length")
    first = at.value(arith.DivSIOp(low, row_length), "first_row")
    last = at.value(arith.DivSIOp(at.add(high, at.sub(row_length, one)), row_length), "last_row")
    last = at.value(arith.SelectOp(at.value(arith.CmpiOp(low, high, "slt")), last, first))
    _, body = at.for_loop(first, last, one, "row")
    row = body.point.block.args[0]
    inductions: list[SSAValue] = []
    rest = row
    for position in range(len(dims) - 2, -1, -1):
        dim, index = dims[position], rest
        if position > 0:
            index = body.value(arith.RemSIOp(rest, trips[position]))
            rest = body.value(arith.DivSIOp(rest, trips[position]))
        scaled = body.mul(body.to_integer(index, dim.type), dim.step)
        inductions.insert(0, body.add(dim.lower, scaled, dim.name))
    start = body.mul(row, row_length, "row_start")
    begin = body.value(arith.MaxSIOp(body.sub(low, start), zero))
    end = body.value(arith.MinSIOp(body.sub(high, start), trips[-1]))
    part = Dimension(_bound(body, inner, begin), _bound(body, inner, end), inner.step, inner.name)
    innermost, last_induction = _plain_loops(body, [part])
    return innermost, inductions + last_induction


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
            op.detach()
            loc = op.location
            body.insert(op)
            op.location = loc
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


def mark_simd(loop: acc.LoopOp, innermost: scf.ForOp, group: int) -> None:
    """
    Tells LLVM that the iterations of the innermost `scf.for` of a partitioned loop are independent
    (access group `group`), if it contains no loop, atomic or call. Private and reduction variables
    are left out of the group: iterations share their stack slots until LLVM makes registers of them.

    LLVM then vectorises where it expects a gain. It is asked to do so regardless (`accx.simd`) only
    for straight-line arithmetic on memory, as it warns users where it cannot follow.
    """
    if all(select_device_type(level) is None for level in (loop.gang, loop.worker, loop.vector)):
        return
    accesses: list[Operation] = []
    simple = not loop.reduction_operands
    for op in innermost.body.walk():
        match op:
            case scf.ForOp() | scf.WhileOp() | acc.LoopOp() | scf.ExecuteRegionOp():
                return
            case llvm.CallOp() | llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                return
            case llvm.LoadOp(ordering=ordering) | llvm.StoreOp(ordering=ordering):
                if ordering is not None and ordering.value.data != 0:
                    return
                if isinstance(_root(op.ptr).owner, llvm.AllocaOp):
                    simple &= isinstance(op.ptr.owner, llvm.AllocaOp)
                else:
                    accesses.append(op)
            case _:
                simple &= isinstance(op, SIMD_OPERATIONS)
    if simple:
        innermost.attributes[SIMD] = UnitAttr()
    groups = ArrayAttr([IntegerAttr(group, i32)])
    for op in (innermost, *accesses):
        op.attributes[ACCESS_GROUPS] = groups


def allow_reassociation(reduction: Reduction) -> None:
    """
    Lets LLVM reorder the floating-point sum or product of `reduction`, which it needs for vectorising
    it; the standard leaves the order open.
    """
    variable = reduction.storage.visible
    if reduction.kind not in (acc.ReductionOpKind.ADD, acc.ReductionOpKind.MUL):
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
    """Erases the privatising, cache and bounds operations of `region`, which nothing uses now."""
    kinds = (acc.PrivateOp, acc.FirstprivateOp, acc.ReductionOp, acc.CacheOp, acc.DataBoundsOp)
    for op in reversed(list(region.walk())):
        if isinstance(op, kinds) and not op.results[0].uses:
            erase(op)


def end_of(block: Block, operation: Operation) -> Cursor:
    """A cursor before the terminator of `block`, with `operation`'s location."""
    last = block.last_op
    assert last is not None
    return Cursor.before(last, operation.location)
