"""The variables and bounds of counted loops, with and without a directive."""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from .building import constant_value

LoopLike = acc.LoopOp | scf.ForOp

Bounds = tuple[SSAValue, SSAValue, SSAValue, SSAValue]
"""A loop's variable, lower bound, upper bound and step."""


def body_of(loop: LoopLike) -> Region:
    return loop.body if isinstance(loop, scf.ForOp) else loop.region


def bounds_of(loop: Operation) -> list[Bounds]:
    """The variables of a counted loop with their bounds, outermost first; empty for other operations."""
    match loop:
        case scf.ForOp():
            return [(loop.body.block.args[0], loop.lb, loop.ub, loop.step)]
        case acc.LoopOp() if loop.region.blocks.first is not None:
            args = loop.region.blocks.first.args
            return list(zip(args, loop.lowerbound, loop.upperbound, loop.step, strict=True))
        case _:
            return []


def step_of(variable: SSAValue) -> int | None:
    """The step of the counted loop with this variable, if it is constant."""
    block = variable.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    found = [] if loop is None else [step for v, _, _, step in bounds_of(loop) if v is variable]
    return constant_value(found[0]) if found else None


def surely_runs(loop: LoopLike) -> bool:
    """Whether the loop certainly has an iteration, since its bounds are constants."""
    limits = [(constant_value(low), constant_value(high)) for _, low, high, _ in bounds_of(loop)]
    return all(low is not None and high is not None and low < high for low, high in limits)
