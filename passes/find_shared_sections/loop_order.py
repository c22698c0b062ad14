"""
Swaps two parallel loops if that lets neighbouring lanes write neighbouring elements.

The iterations of both are independent, so either may be the inner loop. Sections are shared by blocks of
both, whose lanes run along the inner loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ..ir.data.cached_accesses import Symbols
from ..ir.loops.product_loads import offset_of
from ..ir.ops.acc_ops import MAPPING_OPS
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure


def _stores(inner: acc.LoopOp) -> Iterator[llvm.StoreOp]:
    for op in inner.region.walk():
        if isinstance(op, llvm.StoreOp):
            yield op


def _moves_along(store: llvm.StoreOp, variable: SSAValue, symbols: Symbols) -> bool | None:
    """Whether neighbouring iterations write neighbouring elements of an array; None for other variables."""
    base, offset = offset_of(store.ptr, symbols)
    if not isinstance(base.owner, MAPPING_OPS):
        return None
    parts = offset.split(variable)
    return parts is not None and parts[1].as_constant == size_of(store.value.type)


def should_swap(outer: acc.LoopOp, inner: acc.LoopOp) -> bool:
    """Whether all stores move along memory with the outer loop, and the loops may be swapped."""
    symbols = Symbols(outer)
    variables = [loop.region.block.args[0] for loop in (outer, inner)]
    along: list[tuple[bool | None, ...]] = [
        tuple(_moves_along(store, variable, symbols) for variable in variables)
        for store in _stores(inner)
    ]
    arrays = [each for each in along if each != (None, None)]
    if not arrays or any(each != (True, False) for each in arrays):
        return False
    return variables[0].type == variables[1].type and _is_tight(outer, inner)


def _is_tight(outer: acc.LoopOp, inner: acc.LoopOp) -> bool:
    """
    Whether, of the operations in `outer`, only those inside `inner` depend on its variable, and the others
    are pure.
    """
    if outer.private_operands or outer.firstprivate_operands:
        return False
    variable = outer.region.block.args[0]
    rest: list[Operation] = [
        op for op in outer.region.block.ops if op is not inner and not isinstance(op, acc.YieldOp)
    ]
    return all(is_pure(op) and not op.regions and variable not in op.operands for op in rest) and (
        variable not in inner.operands
    )


def swap(outer: acc.LoopOp, inner: acc.LoopOp) -> None:
    """Makes the inner loop the outer one."""
    for position in range(3):
        old = outer.operands[position]
        outer.operands[position] = inner.operands[position]
        inner.operands[position] = old
    variables = [loop.region.block.args[0] for loop in (outer, inner)]
    uses = [list(variable.uses) for variable in variables]
    for variable, others in zip(variables, reversed(uses), strict=True):
        for use in others:
            use.operation.operands[use.index] = variable
    names = [variable.name_hint for variable in variables]
    for variable, name in zip(variables, reversed(names), strict=True):
        variable.name_hint = name
