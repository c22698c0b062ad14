"""
Turn a `gang(static:n)` loop into a loop over chunks that gangs take round-robin (OpenACC 3.4, 2.9.2).

The clause fixes which gang runs which iteration: loops of one region with equal trip counts and chunks get
the same assignment, so that a gang may read in the second loop what it wrote in the first without
synchronisation. A loop over chunks has that assignment whatever the other levels are.

Takes:  acc level, after `tile-loops`.
Leaves: no gang loop with a static argument. Each becomes a gang loop over chunks of n iterations around the
        chunk's iterations: an `acc.loop` with the worker and vector levels of the original, or an `scf.for`
        if it had none. Collapsed iterations are numbered together. For `static:*` the chunk is always 32
        iterations, so that all such loops agree. Variables private to iterations move to the inner loop;
        both loops have the reductions. Sequential loops are untouched.
Fails:  never.

Before:
  acc.loop gang({static=%n : i32}) vector control(%i : i32) = (%lb : i32) to (%ub : i32) step (%s : i32)
After:
  acc.loop gang control(%chunk : i32) = (%c0 : i32) to (%chunks : i32) step (%c1 : i32) {
    %first = %chunk * %n
    acc.loop vector control(%k : i32) = (%first : i32) to (min(%first + %n, %trips) : i32) step (%c1 : i32) {
      %i = %lb + %k * %s …
    }
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, ModuleOp, i1, i32, i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from .ir.loops.loop_facts import gang_argument
from .ir.ops.acc_ops import NONE, has_level, set_operand_groups, set_prop
from .ir.ops.building import Cursor, constant_value
from .ir.ops.levels import is_parallel

ANY_CHUNK = 32
"""The chunk of `static:*`: the same for every loop, so that their assignments agree."""


def static_chunk(loop: acc.LoopOp) -> SSAValue | None:
    """The static argument of a loop that is partitioned over gangs."""
    if not is_parallel(loop):
        return None
    return gang_argument(loop, acc.GangArgType.STATIC)


def _trips(cursor: Cursor, loop: acc.LoopOp, type: IntegerType) -> list[SSAValue]:
    """The trip count of each variable of the loop, at least 0."""
    trips: list[SSAValue] = []
    for bounds in zip(loop.lowerbound, loop.upperbound, loop.step, strict=True):
        lower, upper, step = (cursor.to_integer(v, type) for v in bounds)
        distance = cursor.sub(cursor.value(arith.MaxSIOp(upper, lower)), lower)
        rounded = cursor.add(distance, cursor.sub(step, cursor.constant(1, type)))
        one = constant_value(step) == 1
        trips.append(rounded if one else cursor.value(arith.DivUIOp(rounded, step), "trips"))
    return trips


def _set_variables(
    cursor: Cursor, loop: acc.LoopOp, number: SSAValue, trips: list[SSAValue]
) -> None:
    """Replaces the loop's variables by their values in iteration `number`."""
    type: IntegerType = i32 if number.type == i32 else i64
    rest = number
    for position in reversed(range(len(trips))):
        own = rest
        if position > 0:
            own = cursor.value(arith.RemUIOp(rest, trips[position]))
            rest = cursor.value(arith.DivUIOp(rest, trips[position]))
        old = loop.region.block.args[position]
        offset = cursor.mul(own, cursor.to_integer(loop.step[position], type))
        value = cursor.add(cursor.to_integer(loop.lowerbound[position], type), offset)
        value = cursor.to_integer(value, i32 if old.type == i32 else i64)
        old.replace_all_uses_with(value)


def _parallel_inside(
    cursor: Cursor, loop: acc.LoopOp, body: Block, first: SSAValue, past: SSAValue
) -> None:
    """Makes the loop over a chunk's iterations: an `acc.loop` with the levels narrower than gang."""
    reductions: list[SSAValue] = []
    for outer in loop.reduction_operands:
        owner = outer.owner
        assert isinstance(owner, acc.ReductionOp)
        inner = acc.ReductionOp(
            var=outer,
            var_type=owner.var_type,
            bounds=owner.bounds,
            var_name=owner.var_name,
            recipe=owner.recipe,
        )
        reductions.append(cursor.value(inner, outer.name_hint))
        outer.replace_uses_with_if(
            reductions[-1], lambda use: _stands_in(use.operation.parent_block(), body)
        )
    for operand in (*loop.private_operands, *loop.firstprivate_operands):
        owner = operand.owner
        if isinstance(owner, acc.PrivateOp) and owner.parent_block() is loop.parent_block():
            owner.detach()
            cursor.insert(owner)
    cursor.insert(
        acc.LoopOp(
            region=Region(body),
            lowerbound=[first],
            upperbound=[past],
            step=[cursor.constant(1, first.type)],
            inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
            independent=NONE,
            worker=loop.worker,
            worker_num_operands=list(loop.worker_num_operands),
            worker_num_operands_device_type=loop.worker_num_operands_device_type,
            vector=loop.vector,
            vector_operands=list(loop.vector_operands),
            vector_operands_device_type=loop.vector_operands_device_type,
            private_operands=list(loop.private_operands),
            firstprivate_operands=list(loop.firstprivate_operands),
            reduction_operands=reductions,
        )
    )


def _stands_in(block: Block | None, ancestor: Block) -> bool:
    while block is not None and block is not ancestor:
        block = block.parent_block()
    return block is not None


def split(loop: acc.LoopOp, chunk: SSAValue) -> None:
    """Rewrites one loop (see the contract above)."""
    before = Cursor.before(loop)
    narrow = len(loop.lowerbound) == 1 and loop.lowerbound[0].type == i32
    type: IntegerType = i32 if narrow else i64
    trips = _trips(before, loop, type)
    total = trips[0]
    for count in trips[1:]:
        total = before.mul(total, count, "total")
    if constant_value(chunk) == -1:
        size = before.constant(ANY_CHUNK, type)
    else:
        wide = before.to_integer(chunk, type)
        size = before.value(arith.MaxSIOp(wide, before.constant(1, type)), "chunk_size")
    one = before.constant(1, type)
    chunks = before.value(arith.CeilDivSIOp(total, size), "chunks")

    body, around = Block(arg_types=[type]), Block(arg_types=[type])
    body.args[0].name_hint, around.args[0].name_hint = "number", "chunk"
    _set_variables(Cursor.at_end(body, loop.location), loop, body.args[0], trips)
    end = loop.region.block.last_op
    assert end is not None
    for op in list(loop.region.block.ops):
        op.detach()
        if op is not end:
            body.add_op(op)

    cursor = Cursor.at_end(around, loop.location)
    first = cursor.mul(around.args[0], size, "first")
    past = cursor.value(arith.MinSIOp(cursor.add(first, size), total), "past")
    parallel = has_level(loop.worker) or has_level(loop.vector) or bool(loop.worker_num_operands)
    if parallel or loop.vector_operands:
        Cursor.at_end(body, loop.location).insert(acc.YieldOp())
        _parallel_inside(cursor, loop, body, first, past)
        set_operand_groups(loop, private_operands=[], firstprivate_operands=[])
    else:
        Cursor.at_end(body, loop.location).insert(scf.YieldOp())
        cursor.insert(scf.ForOp(first, past, one, [], Region(body)))
    around.add_op(end)
    loop.region.detach_block(0)
    loop.region.add_block(around)
    _keep_gang(loop, before.constant(0, type), chunks, one)


def _keep_gang(loop: acc.LoopOp, zero: SSAValue, chunks: SSAValue, one: SSAValue) -> None:
    """Reduces the loop over chunks to the gang level, with that level's other arguments."""
    types = loop.gang_operands_arg_type
    assert types is not None
    kept = [
        (operand, kind)
        for operand, kind in zip(loop.gang_operands, types, strict=True)
        if kind.data is not acc.GangArgType.STATIC
    ]
    set_operand_groups(
        loop,
        lowerbound=[zero],
        upperbound=[chunks],
        step=[one],
        gang_operands=[operand for operand, _ in kept],
        worker_num_operands=[],
        vector_operands=[],
    )
    for name in (
        "worker",
        "workerNumOperandsDeviceType",
        "vector",
        "vectorOperandsDeviceType",
        "collapse",
        "collapseDeviceType",
    ):
        set_prop(loop, name, None)
    set_prop(loop, "gangOperandsArgType", ArrayAttr([kind for _, kind in kept]) if kept else None)
    segments = DenseArrayBase.from_list(i32, [len(kept)]) if kept else None
    set_prop(loop, "gangOperandsSegments", segments)
    set_prop(loop, "gangOperandsDeviceType", NONE if kept else None)
    set_prop(loop, "gang", None if kept else NONE)
    set_prop(loop, "inclusiveUpperbound", DenseArrayBase.from_list(i1, [0]))


@dataclass(frozen=True)
class SplitStaticGangsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "split-static-gangs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [loop for loop in op.walk() if isinstance(loop, acc.LoopOp)]:
            chunk = static_chunk(loop)
            if chunk is not None:
                split(loop, chunk)
