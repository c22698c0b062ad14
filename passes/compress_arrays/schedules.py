"""The launch shape of a construct whose loops take groups of iterations."""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import i32

from ..decisions.launch_shape import MAX_GANGS
from ..decisions.polynomials import Polynomial
from ..ir.loops.row_gangs import is_alone, settle_rows
from ..ir.ops.acc_ops import has_level, set_operand_groups
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.schedules import drop_covers, gang_dimension, given_sizes, schedule_of, take_elements
from ..ir.values.region_values import HostEmitter


def settle_schedule(loop: acc.LoopOp, size: int, construct: acc.ParallelOp) -> None:
    """Sets the schedule to one group per thread, and reduces the gangs to the number that groups need."""
    known = take_elements(loop)
    gangs = list(construct.num_gangs)
    at = Cursor.before(construct)
    number = gang_dimension(loop)
    if not is_alone(loop, construct, len(gangs)):
        # Fewer iterations per gang than in the schedule: gangs may need several tiles.
        drop_covers(loop)
    elif schedule_of(loop).covers:
        assert number is not None
        scaled = at.add(at.mul(at.to_i64(gangs[number]), at.i64(known)), at.i64(size - 1))
        fewer = at.value(arith.DivUIOp(scaled, at.i64(size)))
        gangs[number] = at.value(arith.TruncIOp(fewer, i32), "num_gangs")
    outer = loop.parent_op()
    if (
        isinstance(outer, acc.LoopOp)
        and not has_level(outer.vector)
        and schedule_of(outer).elements > 1
    ):
        # Several rows per gang are for threads that would otherwise have too little work.
        set_operand_groups(construct, num_gangs=gangs)
        if is_alone(outer, construct, len(gangs)):
            settle_rows(outer, 1, construct)
        return
    set_operand_groups(construct, num_gangs=gangs)


def narrow_blocks(construct: acc.ParallelOp, lanes: int) -> int:
    """
    Reduces the block to at most `lanes` lanes, for threads that need many registers, so that more blocks
    fit on a multiprocessor. Returns the factor by which the lanes were divided. Nothing changes if the user
    gives the number, or if several loops are distributed over the lanes.
    """
    if "vector_length" in given_sizes(construct):
        return 1
    loops = [op for op in construct.walk() if isinstance(op, acc.LoopOp) and has_level(op.vector)]
    known = [constant_value(value) for value in construct.vector_length]
    if len(loops) != 1 or len(known) != 1 or known[0] is None or known[0] % lanes:
        return 1
    number = Cursor.before(construct).i32(lanes)
    set_operand_groups(construct, vector_length=[number])
    return known[0] // lanes


def scale_gangs(
    construct: acc.ParallelOp,
    loop: acc.LoopOp,
    size: int,
    bounds: tuple[Polynomial | None, Polynomial | None],
    phase: int,
    narrowed: int,
) -> None:
    """
    Sets the number of gangs for the groups of `size` iterations between `bounds` (None: not known before
    the construct); groups begin at iterations j for which j + `phase` is a multiple of `size`. The gangs of
    the original schedule had `narrowed` times the threads.
    """
    known = take_elements(loop) * narrowed
    gangs = list(construct.num_gangs)
    number = gang_dimension(loop)
    if not is_alone(loop, construct, len(gangs)):
        drop_covers(loop)
    if not schedule_of(loop).covers:
        return
    assert number is not None
    at = Cursor.before(construct)
    threads = _threads(construct, loop)
    first, past = bounds
    if first is None or past is None or threads is None:
        # There may be one more group, before the first whole one.
        scaled = at.add(at.mul(at.to_i64(gangs[number]), at.i64(known)), at.i64(2 * size - 1))
        fewer = at.value(arith.DivUIOp(scaled, at.i64(size)))
    else:
        emit = HostEmitter(construct)
        lower, upper = emit.emit(first), emit.emit(past)
        ahead = at.value(arith.AndIOp(at.add(lower, at.i64(phase)), at.i64(size - 1)))
        span = at.add(at.sub(upper, lower), ahead)
        groups = at.value(arith.MaxSIOp(at.add(span, at.i64(size - 1)), at.i64(1)))
        groups = at.value(arith.DivUIOp(groups, at.i64(size)), "groups")
        padded = at.add(groups, at.i64(threads - 1))
        fewer = at.value(arith.DivUIOp(padded, at.i64(threads)))
        fewer = at.value(arith.MaxSIOp(fewer, at.i64(1)))
    limited = at.value(arith.MinSIOp(fewer, at.i64(MAX_GANGS)))
    gangs[number] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    set_operand_groups(construct, num_gangs=gangs)


def _threads(construct: acc.ParallelOp, loop: acc.LoopOp) -> int | None:
    """The number of threads of a gang that share the loop; None if it is not constant."""
    lanes = [constant_value(value) for value in construct.vector_length]
    workers = [constant_value(value) for value in construct.num_workers]
    if len(lanes) != 1 or lanes[0] is None or len(workers) != 1 or workers[0] is None:
        return None
    return lanes[0] * (workers[0] if has_level(loop.worker) else 1)
