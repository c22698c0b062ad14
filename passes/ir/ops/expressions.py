"""
The values that a value is computed from.

An expression may use one value several times, so that a plain recursion over operands takes exponential
time (`t = t * t + t`, twenty times). Here each value is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Operation, SSAValue


def parts_of(value: SSAValue, is_leaf: Callable[[SSAValue], bool]) -> Iterator[SSAValue]:
    """
    `value` and the values that it is computed from, each once. The walk does not go on to the operands of a
    value for which `is_leaf` holds, or beyond block arguments.
    """
    seen = {value}
    work = [value]
    while work:
        part = work.pop()
        yield part
        if isinstance(part.owner, Operation) and not is_leaf(part):
            new = [operand for operand in part.owner.operands if operand not in seen]
            seen.update(new)
            work += new


def is_arithmetic(value: SSAValue, is_leaf: Callable[[SSAValue], bool]) -> bool:
    """Whether operations of `arith` alone compute `value` from values for which `is_leaf` holds."""
    return all(
        is_leaf(part)
        or (isinstance(part.owner, Operation) and part.owner.name.startswith("arith."))
        for part in parts_of(value, is_leaf)
    )
