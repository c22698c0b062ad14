"""
Load data that every thread of a gang reads in a sequential loop through a shared-memory tile.

In `for i: for j: f(a[j], x[i])` all threads read the same a[j] at about the same time. The L1 cache serves
these reads, but each warp waits for every 32 bytes of a separately, and with one output per thread there
are too few warps to hide the latency. After this pass the gang's threads fetch a piece of a together, one
iteration of j each, and all read it from shared memory: one wait for a whole piece.

Takes:  scheduled IR for a GPU, iterations already side by side (jam-strided-iterations).
Leaves: a gang vector loop whose body contains a sequential innermost loop with such loads and without
        stores becomes a gang loop over blocks of iterations with an `accx.gang_threads` in it. The inner
        loop runs over pieces of as many iterations as the gang has threads: an `accx.gang_barrier`; each
        thread stores its iteration's elements to the tile; another barrier; the loop over the piece. All
        threads of a gang must reach a barrier, so a block that is not full runs as before, and so does an
        inner loop shorter than a piece. Other loops are untouched.
Fails:  never.

Before:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %v = load %a[%j]
      … %v, %i …
    }
    store %sum, %b[%i]
  }
After:
  acc.loop gang control(%block : i32) = (%c0 : i32) to (ceil(%n / 128)) step (%c1 : i32) {
    accx.gang_threads [128] {
    ^bb0(%t : i32):
      %tile = accx.shared_tile "a" 512
      scf.if (128 * %block + 128 <= %n) {
        %sum = scf.if (%m >= 128) {
          scf.for %piece = %c0 to %m step %c128 iter_args(%u = %zero) {
            accx.gang_barrier
            scf.if (%piece + %t < %m) { %tile[%t] = %a[%piece + %t] }
            accx.gang_barrier
            scf.for %j = 0 to min(128, %m - %piece) step %c1 iter_args(%s = %u) {
              %v = load %tile[%j]
              … %v, 128 * %block + %t …
        } else { the loop as before }
        store %sum, %b[128 * %block + %t]
      } else { scf.if (128 * %block + %t < %n) { the body as before } }
  } }

Options: `target`: only `nvptx` does anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i8, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx_cache import GangBarrierOp, GangThreadsOp, SharedTileOp
from .decisions.declined import Declined
from .decisions.schedule import Target
from .decisions.shared_work import StagedPiece, choose_piece
from .ir.loops.jamming import body_of, check_body, explain, iteration_value, set_bounds, trip_count
from .ir.ops.acc_ops import PRIVATIZING_OPS, tuned_constructs, variable_name
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.layout import size_of
from .ir.ops.machine import machine_of
from .ir.ops.purity import is_pure, is_pure_call, only_reads
from .ir.ops.schedules import schedule_of
from .ir.values.addresses import base_of

Values = dict[SSAValue, SSAValue]

_LOOPS = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp, acc.LoopOp)


@dataclass(frozen=True)
class Staged:
    """
    A sequential loop in the body: its loads that go through the tile, the operations that compute their
    addresses, and the layout of the tile: a slot per load, in bytes from the start of an iteration's slots.
    """

    loop: scf.ForOp
    loads: tuple[llvm.LoadOp, ...]
    addresses: tuple[Operation, ...]
    piece: StagedPiece


# The loops that qualify
# -------------------------------------------------------------------------------------


def _is_harmless(op: Operation) -> bool:
    if isinstance(op, llvm.StoreOp):
        return _is_own(op)
    return only_reads(op) or is_pure_call(op)


def _is_own(access: llvm.LoadOp | llvm.StoreOp) -> bool:
    """Whether a load or store accesses a thread-private variable."""
    return isinstance(base_of(access.ptr).owner, (*PRIVATIZING_OPS, llvm.AllocaOp))


def _changing(loop: acc.LoopOp) -> set[SSAValue]:
    """The values in the body that may differ between the threads."""
    found: set[SSAValue] = set(body_of(loop).args)
    for op in loop.region.walk():
        own = _is_own(op) if isinstance(op, llvm.LoadOp) else not _is_harmless(op)
        if own or any(v in found for inner in op.walk() for v in inner.operands):
            found.update(op.results)
            blocks = [block for region in op.regions for block in region.blocks]
            fixed = isinstance(op, scf.ForOp) and not found & {op.lb, op.ub, op.step}
            for block in blocks:
                found.update(block.args[1:] if fixed else block.args)
    return found


def _find_loads(
    loop: scf.ForOp, changing: set[SSAValue]
) -> tuple[list[llvm.LoadOp], list[Operation]]:
    """
    The loads whose addresses depend on the variable of `loop` only, and the operations that compute those
    addresses.
    """
    body = loop.body.block
    early: set[SSAValue] = {body.args[0]}
    made = {result for op in body.ops for result in op.results} | set(body.args)
    slices: list[Operation] = []
    loads: list[llvm.LoadOp] = []
    for op in body.ops:
        if not all(v in early or (v not in made and v not in changing) for v in op.operands):
            continue
        if isinstance(op, llvm.LoadOp):
            pointer = isinstance(op.dereferenced_value.type, llvm.LLVMPointerType)
            if op.ptr in early and not pointer and not _is_own(op):
                loads.append(op)
        elif not op.regions and is_pure(op):
            slices.append(op)
            early.update(op.results)
    wanted: set[SSAValue] = {load.ptr for load in loads}
    needed: list[Operation] = []
    for op in reversed(slices):
        if any(result in wanted for result in op.results):
            needed.append(op)
            wanted.update(op.operands)
    return loads, needed[::-1]


def _find(loop: scf.ForOp, changing: set[SSAValue], threads: int) -> Staged | None:
    if changing & {loop.lb, loop.ub, loop.step} or constant_value(loop.step) != 1:
        return None
    if any(isinstance(op, _LOOPS) for op in loop.body.walk()):
        return None
    if not all(_is_harmless(op) for op in loop.body.walk()):
        return None
    loads, addresses = _find_loads(loop, changing)
    sizes = [size_of(load.dereferenced_value.type) for load in loads]
    piece = choose_piece(sizes, threads, _trip(loop))
    return None if piece is None else Staged(loop, tuple(loads), tuple(addresses), piece)


def _trip(loop: scf.ForOp) -> int | None:
    low, high = constant_value(loop.lb), constant_value(loop.ub)
    return None if low is None or high is None else max(0, high - low)


def _threads_of(construct: acc.ParallelOp) -> int:
    lanes = [constant_value(v) for v in construct.vector_length]
    workers = [constant_value(v) for v in construct.num_workers]
    if len(lanes) != 1 or lanes[0] is None or workers not in ([], [1]):
        raise Declined("the number of lanes is not constant")
    return lanes[0]


def _check(loop: acc.LoopOp) -> None:
    if len(body_of(loop).args) != 1:
        raise Declined("the loop has several variables")
    if loop.reduction_operands or loop.private_operands or loop.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    check_body(loop)


# The rewriting --------------------------------------------------------------------------------------


class _GangBlock:
    """Emits the iterations that a gang's threads run."""

    def __init__(self, thread: SSAValue, values: Values):
        self.thread, self.values = thread, values

    def operations(
        self, ops: Sequence[Operation], staged: dict[Operation, Staged], at: Cursor
    ) -> None:
        """Emits all of `ops`; loops in `staged` through tiles."""
        for op in ops:
            if op in staged:
                self._staged(staged[op], at)
            else:
                at.clone(op, self.values)

    def _get(self, value: SSAValue) -> SSAValue:
        return self.values.get(value, value)

    def _staged(self, found: Staged, at: Cursor) -> None:
        loop, size = found.loop, found.piece.iterations
        lower, upper = self._get(loop.lb), self._get(loop.ub)
        assert isinstance(lower.type, IntegerType)
        name = found.loads[0].ptr.name_hint or "shared"
        tile = at.value(SharedTileOp(found.piece.bytes, name), f"{name}_tile")
        least = at.value(arith.AddiOp(lower, at.constant(size, lower.type)))
        most = (
            (1 << (lower.type.width.data - 1)) - 1 - size
        )  # the value after the last step does not overflow either
        fits = at.value(arith.CmpiOp(upper, at.constant(most, lower.type), "sle"))
        many = at.value(arith.AndIOp(fits, at.value(arith.CmpiOp(upper, least, "sge"))), "many")

        then, otherwise = Block(), Block()
        inits = [self._get(v) for v in loop.iter_args]
        pieces = self._pieces(found, tile, inits, Cursor.at_end(then, loop.location))
        Cursor.at_end(then, loop.location).insert(scf.YieldOp(*pieces))
        plain = loop.clone(dict(self.values))
        otherwise.add_op(plain)
        Cursor.at_end(otherwise, loop.location).insert(scf.YieldOp(*plain.results))
        types = [v.type for v in loop.iter_args]
        either = at.insert(scf.IfOp(many, types, Region(then), Region(otherwise)))
        for old, new in zip(loop.results, either.results, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new

    def _pieces(
        self, found: Staged, tile: SSAValue, inits: Sequence[SSAValue], at: Cursor
    ) -> Sequence[SSAValue]:
        """Emits the loop over pieces; returns its results."""
        loop = found.loop
        type, size = loop.lb.type, found.piece.iterations
        assert isinstance(type, IntegerType)
        lower, upper = self._get(loop.lb), self._get(loop.ub)
        width = at.constant(size, type)
        block = Block(arg_types=[type, *(v.type for v in inits)])
        block.args[0].name_hint = "piece"
        _name_as(block.args[1:], loop.iter_args)
        outer = at.insert(scf.ForOp(lower, upper, width, inits, Region(block)))
        inside = Cursor.at_end(block, loop.location)
        first = block.args[0]
        inside.insert(GangBarrierOp())
        self._fill(found, tile, first, upper, inside)
        inside.insert(GangBarrierOp())
        left = inside.value(arith.SubiOp(upper, first, overflow=NSW))
        here = inside.value(arith.MinSIOp(left, width), "here")
        inside.insert(scf.YieldOp(*self._piece(found, tile, first, here, block.args[1:], inside)))
        return outer.results

    def _fill(
        self, found: Staged, tile: SSAValue, first: SSAValue, upper: SSAValue, at: Cursor
    ) -> None:
        """Emits the fetch: every thread stores the elements of one iteration to the tile."""
        assert isinstance(first.type, IntegerType)
        variable = found.loop.body.block.args[0]
        left = at.value(arith.SubiOp(upper, first, overflow=NSW))
        number = at.to_integer(self.thread, first.type)
        place = at.if_then(at.value(arith.CmpiOp(number, left, "slt")))
        mine = place.value(arith.AddiOp(first, number, overflow=NSW), variable.name_hint)
        values = {**self.values, variable: mine}
        for op in found.addresses:
            place.clone(op, values)
        for load in found.loads:
            place.clone(load, values)
        for load, offset in zip(found.loads, found.piece.offsets, strict=True):
            address = self._slot(found, tile, self.thread, offset, place)
            place.insert(llvm.StoreOp(values[load.dereferenced_value], address))

    def _slot(
        self, found: Staged, tile: SSAValue, number: SSAValue, offset: int, at: Cursor
    ) -> SSAValue:
        """The address in the tile of the load with slot `offset`, for iteration `number` of the piece."""
        slot = at.value(
            arith.MuliOp(at.to_i64(number), at.i64(found.piece.slot), overflow=NSW), "slot"
        )
        address = at.value(arith.AddiOp(slot, at.i64(offset), overflow=NSW))
        gep = llvm.GEPOp(
            tile,
            [llvm.GEP_USE_SSA_VAL],
            i8,
            ssa_indices=[address],
            result_type=cast(llvm.LLVMPointerType, tile.type),
            inbounds=True,
        )
        return at.value(gep, "staged")

    def _piece(
        self,
        found: Staged,
        tile: SSAValue,
        first: SSAValue,
        here: SSAValue,
        carried: Sequence[SSAValue],
        at: Cursor,
    ) -> Sequence[SSAValue]:
        """Emits the iterations of one piece, from 0 to `here`; returns the loop's carried values after it."""
        loop = found.loop
        body = loop.body.block
        end = body.last_op
        assert end is not None and isinstance(here.type, IntegerType)
        block = Block(arg_types=[here.type, *(v.type for v in carried)])
        block.args[0].name_hint = "number"
        _name_as(block.args[1:], body.args[1:])
        zero, one = at.constant(0, here.type), at.constant(1, here.type)
        inner = at.insert(scf.ForOp(zero, here, one, list(carried), Region(block)))
        inner.attributes |= loop.attributes
        inside = Cursor.at_end(block, loop.location)
        number = block.args[0]
        variable = inside.value(arith.AddiOp(first, number, overflow=NSW), body.args[0].name_hint)
        values = {**self.values, body.args[0]: variable}
        values.update(zip(body.args[1:], block.args[1:], strict=True))
        slots = dict(zip(found.loads, found.piece.offsets, strict=True))
        for op in body.ops:
            if op is end:
                continue
            if isinstance(op, llvm.LoadOp) and op in slots:
                address = self._slot(found, tile, number, slots[op], inside)
                load = llvm.LoadOp(address, op.dereferenced_value.type)
                if slots[op] % found.piece.alignment == 0:
                    load.properties["alignment"] = IntegerAttr(found.piece.alignment, 64)
                values[op.dereferenced_value] = inside.value(load, op.dereferenced_value.name_hint)
            else:
                inside.clone(op, values)
        inside.insert(scf.YieldOp(*(values.get(v, v) for v in end.operands)))
        return inner.results


def _name_as(values: Sequence[SSAValue], originals: Sequence[SSAValue]) -> None:
    for value, original in zip(values, originals, strict=True):
        value.name_hint = original.name_hint


def stage(loop: acc.LoopOp, threads: int, staged: Sequence[Staged]) -> None:
    """Rewrites the loop (see the contract above)."""
    block = loop.region.block
    variable = block.args[0]
    type = variable.type
    assert isinstance(type, IntegerType)
    originals = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    before = Cursor.before(loop)
    trips = before.value(arith.MaxSIOp(trip_count(before, loop), before.constant(0, type)))
    trips = before.to_i64(trips)
    rounded = before.value(arith.AddiOp(trips, before.i64(threads - 1), overflow=NSW))
    blocks = before.value(arith.DivUIOp(rounded, before.i64(threads)), "blocks")

    body = Block(arg_types=[i32])
    thread = body.args[0]
    thread.name_hint = "thread"
    at = Cursor.at_end(body, loop.location)
    first = at.value(arith.MuliOp(at.to_i64(variable), at.i64(threads), overflow=NSW), "first")
    number = at.value(arith.AddiOp(first, at.to_i64(thread), overflow=NSW), "number")
    past = at.value(arith.AddiOp(first, at.i64(threads), overflow=NSW), "past")
    together, apart = at.if_else(at.value(arith.CmpiOp(past, trips, "sle"), "full"))

    def values(cursor: Cursor) -> Values:
        lower, step = loop.lowerbound[0], loop.step[0]
        return {variable: iteration_value(number, lower, step, variable, cursor)}

    _GangBlock(thread, values(together)).operations(
        originals, {found.loop: found for found in staged}, together
    )
    alone = apart.if_then(apart.value(arith.CmpiOp(number, trips, "slt"), "valid"))
    mine = values(alone)
    for op in originals:
        alone.clone(op, mine)

    end = block.last_op
    assert end is not None
    Cursor.before(end, loop.location).insert(GangThreadsOp((threads,), Region(body)))
    for op in reversed(originals):
        erase(op)
    set_bounds(before, loop, before.to_integer(blocks, type))
    loop.vector = None
    names = dict.fromkeys(variable_name(load.ptr) for f in staged for load in f.loads)
    explain(loop, f"{', '.join(names)} read through tiles in shared memory")


def _candidates(module: ModuleOp) -> Iterator[tuple[acc.ParallelOp, acc.LoopOp]]:
    for construct in tuned_constructs(module):
        if len(construct.region.blocks) != 1:
            continue
        for op in construct.region.block.ops:
            if isinstance(op, acc.LoopOp) and _is_mapped(op) and schedule_of(op).elements == 1:
                yield construct, op


def _is_mapped(loop: acc.LoopOp) -> bool:
    """Whether the iterations are distributed over all lanes of all gangs, with one worker per gang."""
    return loop.gang is not None and loop.vector is not None and loop.worker is None


@dataclass(frozen=True)
class StageSharedLoadsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "stage-shared-loads"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        if target != "nvptx":
            return
        for construct, loop in list(_candidates(op)):
            try:
                _check(loop)
                threads = _threads_of(construct)
            except Declined:
                continue
            changing = _changing(loop)
            found = [
                staged
                for inner in loop.region.block.ops
                if isinstance(inner, scf.ForOp)
                and (staged := _find(inner, changing, threads)) is not None
            ]
            if found:
                stage(loop, threads, found)
