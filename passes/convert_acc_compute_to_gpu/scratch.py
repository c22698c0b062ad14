"""
Scratch memory of kernels: device memory of a launch site, with sizes that the host computes before the
launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.ir import Block, SSAValue

from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor, constant_value

HOST_ARITHMETIC = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.DivSIOp,
    arith.MaxSIOp,
    arith.MinSIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
)
"""The operations that the host may repeat on a kernel's arguments to compute the length of an array."""


def recompute(
    cursor: Cursor, value: SSAValue, known: Mapping[SSAValue, SSAValue] | None = None
) -> SSAValue:
    """
    A value, made from a kernel's arguments by `HOST_ARITHMETIC`, computed again at `cursor`; `known` maps
    the arguments to the values there (None: themselves).
    """
    return _recompute(cursor, value, dict(known or {}))


def _recompute(cursor: Cursor, value: SSAValue, made: dict[SSAValue, SSAValue]) -> SSAValue:
    """As `recompute`; `made` caches the values made."""
    owner = value.owner
    if value not in made:
        constant = constant_value(value)
        if isinstance(owner, Block):
            made[value] = value
        elif constant is not None:
            made[value] = cursor.constant(constant, value.type)
        else:
            assert isinstance(owner, HOST_ARITHMETIC)
            again = {operand: _recompute(cursor, operand, made) for operand in owner.operands}
            made[value] = cursor.insert(owner.clone(again)).results[0]
    return made[value]


@dataclass(frozen=True, slots=True)
class ScratchArea:
    """
    Device memory for private copies of a size known only at run time, or too large for shared
    memory: `elements` (a number, or a value of the kernel's arguments) times `element_bytes` for each gang,
    worker or thread (`per`); the kernel's argument `offset` (i64) says where it starts.
    """

    elements: int | SSAValue
    element_bytes: int
    per: Mode
    offset: SSAValue


@dataclass
class ScratchPlan:
    """
    A kernel's use of its site's scratch memory: the ticket, `fixed_bytes` that keep their
    contents from launch to launch, `bytes_per_gang` of partial results, then the areas. `base` is the
    kernel's argument, None if it needs no scratch memory.
    """

    base: SSAValue | None = None
    fixed_bytes: int = 0
    bytes_per_gang: int = 0
    areas: list[ScratchArea] = field(default_factory=list[ScratchArea])
