"""The levels of parallelism that loops and routines name (OpenACC 3.4, 2.9)."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ...decisions.levels import Level
from .acc_ops import NONE, has_level


def loop_levels(loop: acc.LoopOp) -> set[Level]:
    """The levels that the clauses of a loop name; empty for `seq` and for loops without a level."""
    none = acc.DeviceType.NONE
    gang_operands = loop.gang_operands_device_type or ()
    worker_operands = loop.worker_num_operands_device_type or ()
    vector_operands = loop.vector_operands_device_type or ()
    found: set[Level] = set()
    if has_level(loop.gang) or any(dt.data is none for dt in gang_operands):
        found.add(Level.GANG)
    if has_level(loop.worker) or any(dt.data is none for dt in worker_operands):
        found.add(Level.WORKER)
    if has_level(loop.vector) or any(dt.data is none for dt in vector_operands):
        found.add(Level.VECTOR)
    return found


def is_parallel(op: Operation | None) -> bool:
    """Whether `op` is a counted loop that is declared, or found, independent: neither `seq` nor `auto`."""
    return (
        isinstance(op, acc.LoopOp)
        and not has_level(op.seq)
        and not has_level(op.auto_)
        and bool(op.lowerbound)
    )


def routine_level(routine: acc.RoutineOp) -> Level:
    """The level of a routine for every device type; `seq` when none is given."""
    if has_level(routine.gang) or routine.gang_dim is not None:
        return Level.GANG
    if has_level(routine.worker):
        return Level.WORKER
    return Level.VECTOR if has_level(routine.vector) else Level.SEQ


def has_own_level(routine: acc.RoutineOp) -> bool:
    """Whether the directive names a level; otherwise the level follows from the function's body."""
    return routine_level(routine) is not Level.SEQ or has_level(routine.seq)


def set_level(routine: acc.RoutineOp, level: Level) -> None:
    """Sets the level of a routine that has none."""
    names = {Level.GANG: "gang", Level.WORKER: "worker", Level.VECTOR: "vector", Level.SEQ: "seq"}
    routine.properties[names[level]] = NONE


def bound_symbol(routine: acc.RoutineOp) -> str | None:
    """The symbol that device code calls instead of the routine's function (`bind`); else None."""
    if routine.bind_id_name is not None and routine.bind_id_name.data:
        return routine.bind_id_name.data[0].string_value()
    if routine.bind_str_name is not None and routine.bind_str_name.data:
        return routine.bind_str_name.data[0].data
    return None
