"""
Emits the body of a nest for a block of threads: every thread computes one or more outputs side by side,
tiles are filled at the directives, and accesses go to the tiles.

A thread without an iteration of its own repeats the last iteration, so that all threads reach every
barrier, but writes nothing. Operations whose operands are the same for all outputs of a thread are emitted
once; loops with common bounds run once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.accx import UNROLL
from ...dialects.accx_cache import HoldsInBlockOp
from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..ir.data.cached_accesses import usual_turns
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.purity import is_pure
from . import bulk, emulated, fetch, tiles
from .emulated import Emulated
from .matrix import Multiplier
from .nest import CachedNest
from .pipeline import Ahead
from .range_checks import checked_once, in_sections
from .tile_access import Output, Placed, TileAccesses, guarded
from .tiles import Planned, Tile
from .uniformity import has_effects, may_be_written
from .wanted import BlockConditions

MAX_UNROLLED = 64
"""A loop over a tile with at most this many turns is unrolled completely."""
MAX_UNROLLED_WORK = 1024
"""The most turns times outputs of a thread that unrolling may produce."""


def unroll_factor(turns: int, outputs: int) -> int:
    """The unroll factor of a loop of `turns` that computes `outputs` side by side."""
    if turns <= MAX_UNROLLED and turns * outputs <= MAX_UNROLLED_WORK:
        return turns
    factor = 32
    while factor > 1 and (turns % factor or factor * outputs > MAX_UNROLLED_WORK):
        factor //= 2
    return factor


@dataclass
class Looked:
    """An access and the emulated cache that serves it."""

    op: llvm.LoadOp | llvm.StoreOp
    cache: Emulated


@dataclass
class BlockBody:
    """
    Emits a body for the outputs of a thread. `groups`: the directives that are filled together, by the last
    of them.
    """

    nest: CachedNest
    block: tiles.Block
    outputs: list[Output]
    groups: dict[acc.CacheOp, list[Planned]]
    tiles: dict[acc.CacheOp, Tile]
    emulated: dict[acc.CacheOp, Emulated]
    renewed: set[acc.CacheOp]
    written: list[SSAValue]
    multiplier: Multiplier | None = None
    """The emitter of the loop that uses matrix instructions; None if there is none."""
    counter: bulk.ArrivalCounter | None = None
    """The counter of bytes that arrive by bulk copies; None if there are none."""
    accesses: TileAccesses = field(init=False)
    looked: dict[Operation, Looked] = field(default_factory=dict[Operation, Looked])
    current: list[Output] = field(default_factory=list[Output])
    ahead: dict[Operation, Ahead] = field(default_factory=dict[Operation, Ahead])
    """The tiles that are fetched one turn ahead, by the loop that renews them."""

    def __post_init__(self) -> None:
        self.accesses = TileAccesses(self.block)

    def run(self, ops: Sequence[Operation], at: Cursor) -> None:
        """Emits the whole body."""
        self.current = self.outputs
        for tile in self.tiles.values():
            for access in tile.planned.cached.accesses:
                self.accesses.found[access.op] = Placed(access, tile)
        for cache in self.emulated.values():
            for access in cache.planned.cached.accesses:
                self.looked[access.op] = Looked(access.op, cache)
        for op, group in self.groups.items():
            loop = op.parent_op()
            if isinstance(loop, scf.ForOp) and all(planned.ahead for planned in group):
                found = [self.tiles[planned.cached.op] for planned in group]
                self.ahead[loop] = Ahead(loop, found, self.block)
        self.operations(ops, at)

    @property
    def first(self) -> dict[SSAValue, SSAValue]:
        return self.current[0].values

    @contextmanager
    def _only(self, output: Output) -> Generator[None]:
        saved, self.current = self.current, [output]
        yield
        self.current = saved

    # Operations ---------------------------------------------------------------------------------

    def operations(self, ops: Sequence[Operation], at: Cursor) -> None:
        """
        Emits the operations of one block without the terminator; written tiles are written back at its end.
        """
        filled: list[Tile] = []
        for op in ops:
            if op.has_trait(IsTerminator):
                continue
            saved, at.loc = at.loc, op.location
            if isinstance(op, acc.CacheOp):
                filled += self._cache(op, at)
            else:
                self._operation(op, at)
            at.loc = saved
        for tile in filled:
            if tile.planned.policy != "through":
                fetch.write_back(at, tile, self.block, self.first)

    def _operation(self, op: Operation, at: Cursor) -> None:
        match op:
            case HoldsInBlockOp():
                self._holds_in_block(op, at)
            case acc.DataBoundsOp() | acc.ReductionOp():
                pass  # its reduction has become a variable of each iteration
            case llvm.LoadOp() | llvm.StoreOp() if op in self.looked:
                self._look_up(op, self.looked[op].cache, at)
            case llvm.LoadOp() if op in self.accesses.found:
                self.accesses.load(op, self.accesses.found[op], self.current, at)
            case llvm.StoreOp() if op in self.accesses.found:
                self.accesses.store(op, self.accesses.found[op], self.current, at)
            case scf.ForOp() if self._same(op.lb, op.ub, op.step):
                self._for(op, at)
            case scf.IfOp() if self._same(op.cond):
                self._if(op, at)
            case acc.LoopOp() if self._same(*op.operands):
                self._sequential(op, at)
            case _ if op.regions and not op.name.startswith("acc.atomic"):
                for output in self.current:
                    with self._only(output):
                        self._structured(op, at)
            case llvm.LoadOp() if may_be_written(op.ptr, self.written):
                for output in self.current:
                    self._load_written(op, output, at)
            case _ if self._is_shared(op):
                self._once(op, at)
            case _:
                for output in self.current:
                    self._each(op, output, at)

    def _same(self, *operands: SSAValue) -> bool:
        first = self.first
        return all(
            o.values.get(v, v) is first.get(v, v) for v in operands for o in self.current[1:]
        )

    def _is_shared(self, op: Operation) -> bool:
        """Whether `op` has the same result for all outputs of the thread, so that it is emitted once."""
        if not op.results or not self._same(*op.operands):
            return False
        if isinstance(op, llvm.LoadOp):
            return not is_ordered(op)
        return is_pure(op)

    def _once(self, op: Operation, at: Cursor) -> None:
        new = at.insert(op.clone(self.first))
        for output in self.current:
            for old, result in zip(op.results, new.results, strict=True):
                output.values[old] = result

    def _holds_in_block(self, op: HoldsInBlockOp, at: Cursor) -> None:
        """Emits whether a condition holds for some iteration of the block, or may do."""
        shared: dict[SSAValue, SSAValue] = {
            v: self.first[v] for v in self.nest.variables if v not in self.block.first_values
        }
        condition = BlockConditions(self.nest, self.block, shared, at).may_hold(op.condition)
        result = at.constant(1, i1) if condition is None else condition
        result.name_hint = op.result.name_hint
        for output in self.current:
            output.values[op.result] = result

    def _each(self, op: Operation, output: Output, at: Cursor) -> None:
        """Emits an operation for one output; one with effects is executed only if the output exists."""
        place = at
        if has_effects(op):
            if op.results and output.active is not None:
                raise Declined(f"'{op.name}' has effects and a result")
            place = guarded(output, at)
        place.insert(op.clone(output.values))

    def _load_written(self, op: llvm.LoadOp, output: Output, at: Cursor) -> None:
        """
        Emits a load of memory that another thread's iteration may write, executed only if this thread has
        an iteration.
        """
        if output.active is None:
            at.insert(op.clone(output.values))
            return
        result = op.dereferenced_value

        def load(inside: Cursor) -> SSAValue:
            return inside.insert(op.clone({**output.values})).results[0]

        output.values[result] = self._if_active(output.active, load, result, at)

    # Control flow -------------------------------------------------------------------------------

    def _for(self, loop: scf.ForOp, at: Cursor) -> None:
        """
        Emits one loop that carries the values of all outputs, with its range checks before it, and with a
        version for the constant number of turns that it has except at an edge.
        """
        ready = checked_once(self.accesses, loop)
        if ready is None:
            self._counted(loop, at)
            return

        def trusting(inside: Cursor) -> None:
            added = set(ready) - self.accesses.trusted
            self.accesses.trusted |= added
            self._counted(loop, inside)
            self.accesses.trusted -= added

        condition = in_sections(self.accesses, self.current, loop, ready, at)
        self._versions(loop, condition, trusting, lambda inside: self._rare(loop, inside), at)

    def _counted(self, loop: scf.ForOp, at: Cursor) -> None:
        """Emits the loop, and a copy for its usual number of turns if the end is a minimum."""
        turns = usual_turns(loop, self.nest.symbols) if self._uses_tiles(loop) else None
        if turns is None or turns < 2:
            self._loop(loop, at)
            return
        unroll = unroll_factor(turns, len(self.current))
        step = constant_value(loop.step) or 1
        if (
            self.nest.symbols.polynomial(loop.ub) - self.nest.symbols.polynomial(loop.lb)
        ).as_constant is not None:
            self._usual(loop, at, None, unroll)
            return
        first = self.first
        lower, upper = first.get(loop.lb, loop.lb), first.get(loop.ub, loop.ub)
        end = at.add(lower, at.constant(turns * step, lower.type))
        condition = at.value(arith.CmpiOp(upper, end, "eq"), "all_turns")
        self._versions(
            loop,
            condition,
            lambda inside: self._usual(loop, inside, end, unroll),
            lambda inside: self._rare(loop, inside),
            at,
        )

    def _usual(self, loop: scf.ForOp, at: Cursor, upper: SSAValue | None, unroll: int) -> None:
        """Emits the version for the usual number of turns."""
        if self.multiplier is not None and self.multiplier.product.loop is loop:
            self.multiplier.emit(self.current, self.accesses, at)
        else:
            self._loop(loop, at, upper, unroll)

    def _rare(self, loop: scf.ForOp, at: Cursor) -> None:
        """
        Emits the version for edges, which is not unrolled, as that would cost the other version registers.
        """
        self._loop(loop, at, unroll=1)

    def _uses_tiles(self, loop: scf.ForOp) -> bool:
        inner = list(loop.body.walk())
        return any(op in self.accesses.found for op in inner) and not any(
            isinstance(op, scf.ForOp | scf.WhileOp | acc.LoopOp | acc.CacheOp) for op in inner
        )

    def _versions(
        self,
        loop: scf.ForOp,
        condition: SSAValue,
        then: Callable[[Cursor], None],
        otherwise: Callable[[Cursor], None],
        at: Cursor,
    ) -> None:
        """Emits an `scf.if` with a version of the loop in each branch."""
        types = [v.type for _ in self.current for v in loop.results]
        blocks = Block(), Block()
        for block, emit in zip(blocks, (then, otherwise), strict=True):
            saved = [dict(output.values) for output in self.current]
            inside = at.inside(block)
            emit(inside)
            inside.insert(scf.YieldOp(*(o.values[v] for o in self.current for v in loop.results)))
            for output, old in zip(self.current, saved, strict=True):
                output.values = old
        branch = at.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1])))
        position = 0
        for output in self.current:
            for result in loop.results:
                branch.results[position].name_hint = result.name_hint
                output.values[result] = branch.results[position]
                position += 1

    def _loop(
        self, loop: scf.ForOp, at: Cursor, upper: SSAValue | None = None, unroll: int = 0
    ) -> None:
        first = self.first
        body = loop.body.block
        carried = [o.values.get(v, v) for o in self.current for v in loop.iter_args]
        ahead = self.ahead.get(loop)
        if ahead is not None:
            carried.append(ahead.begin(at, first))
        block = Block(arg_types=[body.args[0].type, *(v.type for v in carried)])
        block.args[0].name_hint = body.args[0].name_hint
        lower, end_, step = (first.get(v, v) for v in (loop.lb, loop.ub, loop.step))
        fused = scf.ForOp(lower, upper or end_, step, carried, Region(block))
        fused.attributes |= loop.attributes
        if unroll:
            fused.attributes[UNROLL] = IntegerAttr(unroll, i32)
        at.insert(fused)
        width = len(loop.iter_args)
        for row, output in enumerate(self.current):
            output.values[body.args[0]] = block.args[0]
            for i, argument in enumerate(body.args[1:]):
                new = block.args[1 + row * width + i]
                new.name_hint = argument.name_hint
                output.values[argument] = new
        inside = at.inside(block, loop.location)
        if ahead is not None:
            ahead.buffer = block.args[-1]
        self.operations(list(body.ops), inside)
        end = body.last_op
        assert end is not None
        yielded = [o.values.get(v, v) for o in self.current for v in end.operands]
        if ahead is not None:
            yielded.append(ahead.end(inside))
        inside.insert(scf.YieldOp(*yielded))
        for row, output in enumerate(self.current):
            for i, result in enumerate(loop.results):
                new = fused.results[row * width + i]
                new.name_hint = result.name_hint
                output.values[result] = new

    def _if(self, op: scf.IfOp, at: Cursor) -> None:
        condition = self.first.get(op.cond, op.cond)
        types = [r.type for _ in self.current for r in op.results]
        regions: list[Region] = []
        for old in op.regions:
            if not old.blocks:
                regions.append(Region())
                continue
            block = Block()
            inside = at.inside(block, op.location)
            self.operations(list(old.block.ops), inside)
            end = old.block.last_op
            values = [] if end is None else list(end.operands)
            inside.insert(scf.YieldOp(*(o.values.get(v, v) for o in self.current for v in values)))
            regions.append(Region(block))
        new = at.insert(scf.IfOp(condition, types, regions[0], regions[1]))
        position = 0
        for output in self.current:
            for result in op.results:
                new.results[position].name_hint = result.name_hint
                output.values[result] = new.results[position]
                position += 1

    def _sequential(self, op: acc.LoopOp, at: Cursor) -> None:
        """Emits a loop directive inside the nest: a sequential loop, once for all outputs."""
        if op.private_operands or op.firstprivate_operands or op.reduction_operands:
            raise Declined("a loop inside has variables of its own")
        copy = op.clone_without_regions(self.first)
        block = Block(arg_types=[arg.type for arg in op.region.block.args])
        for old, new in zip(op.region.block.args, block.args, strict=True):
            new.name_hint = old.name_hint
            for output in self.current:
                output.values[old] = new
        copy.regions[0].add_block(block)
        at.insert(copy)
        inside = at.inside(block, op.location)
        self.operations(list(op.region.block.ops), inside)
        inside.insert(acc.YieldOp())

    def _structured(self, op: Operation, at: Cursor) -> None:
        """Emits any other operation with regions, for one output."""
        output = self.current[0]
        copy = op.clone_without_regions(output.values)
        at.insert(copy)
        blocks: dict[Block, Block] = {}
        for old, new in zip(op.regions, copy.regions, strict=True):
            for block in old.blocks:
                blocks[block] = Block(arg_types=[arg.type for arg in block.args])
                new.add_block(blocks[block])
                for argument, inner in zip(block.args, blocks[block].args, strict=True):
                    inner.name_hint = argument.name_hint
                    output.values[argument] = inner
        for old in op.regions:
            for block in old.blocks:
                inside = at.inside(blocks[block], op.location)
                self.operations(list(block.ops), inside)
                end = block.last_op
                if end is not None and end.has_trait(IsTerminator):
                    inside.insert(end.clone(output.values, blocks))
        for old_result, new_result in zip(op.results, copy.results, strict=True):
            output.values[old_result] = new_result

    # Directives and accesses --------------------------------------------------------------------

    def _cache(self, op: acc.CacheOp, at: Cursor) -> list[Tile]:
        for output in self.current:
            output.values[op.acc_var] = output.values.get(op.var, op.var)
        if op in self.emulated:
            emulated.reset(at, self.emulated[op])
        group = [self.tiles[planned.cached.op] for planned in self.groups.get(op, ())]
        loop = op.parent_op()
        if group and loop is not None and loop in self.ahead:
            self.ahead[loop].turn(at, self.first)
        elif group:
            stored = any(tile.planned.cached.stored_elsewhere for tile in group)
            again = op in self.renewed or stored
            if self.counter is not None and any(tile.planned.bulk for tile in group):
                bulk.fill(at, self.counter, group, self.block, self.first, again=again)
            else:
                fetch.fill(at, group, self.block, self.first, again=again)
        return group

    def _look_up(self, op: llvm.LoadOp | llvm.StoreOp, cache: Emulated, at: Cursor) -> None:
        """Emits an access to an emulated cache, for each output."""
        for output in self.current:
            pointer = output.values.get(op.ptr, op.ptr)
            if isinstance(op, llvm.StoreOp):
                value = output.values.get(op.value, op.value)
                emulated.store(guarded(output, at), cache, pointer, value, output.values)
            else:
                self._emulated_load(op, cache, output, pointer, at)

    def _emulated_load(
        self, op: llvm.LoadOp, cache: Emulated, output: Output, pointer: SSAValue, at: Cursor
    ) -> None:
        """
        Emits a load from an emulated cache; a thread without an iteration does not read memory that others
        may write.
        """
        result = op.dereferenced_value
        written = any(access.is_store for access in cache.planned.cached.accesses)
        if output.active is None or not written:
            hint = result.name_hint
            output.values[result] = emulated.load(at, cache, pointer, output.values, hint)
            return

        def load(inside: Cursor) -> SSAValue:
            return emulated.load(inside, cache, pointer, output.values, result.name_hint)

        output.values[result] = self._if_active(output.active, load, result, at)

    def _if_active(
        self, active: SSAValue, load: Callable[[Cursor], SSAValue], like: SSAValue, at: Cursor
    ) -> SSAValue:
        """The result of `load` if this thread has an iteration, else zero."""
        (value,) = at.either(
            active,
            lambda inside: [load(inside)],
            lambda outside: [outside.zero(like.type)],
            [like.name_hint],
        )
        return value
