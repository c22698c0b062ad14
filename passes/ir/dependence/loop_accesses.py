"""
The memory accesses in the body of a loop, which `loop_dependence` compares.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.accx import LAST_VALUE
from ...decisions.polynomials import Polynomial
from ..data.callees import is_harmless, reads_of_call
from ..ops.acc_ops import accessed_type, called, is_defined_inside
from ..ops.loop_bounds import LoopLike, body_of
from ..values.accesses import BYTES, LoopAccess, is_punned, root_of, subscripts_of
from ..values.loop_symbols import Limit, LoopSymbols

_FAR = 1 << 32


@dataclass
class BodyAccesses:
    """
    The accesses of a loop's body, and limits of subscripts that may wrap; `problem` gives the reason if
    they are not all known.
    """

    accesses: list[LoopAccess] = field(default_factory=list[LoopAccess])
    limits: dict[LoopAccess, tuple[Limit, ...]] = field(
        default_factory=dict[LoopAccess, "tuple[Limit, ...]"]
    )
    problem: str | None = None


def loop_accesses(
    loop: LoopLike, symbols: LoopSymbols, own: set[SSAValue], scalars: Container[Operation]
) -> BodyAccesses:
    """The accesses of a loop's body, except those to `scalars`, which are classified separately."""
    body = BodyAccesses()
    for op in body_of(loop).walk():
        if op in scalars or LAST_VALUE in op.attributes:
            continue
        match op:
            case llvm.LoadOp() | llvm.StoreOp():
                writes = isinstance(op, llvm.StoreOp)
                _add(body, op, op.ptr, accessed_type(op), writes, loop, symbols, own)
            case llvm.CallOp():
                if not is_harmless(op) and not _add_reads(body, op, loop, symbols, own):
                    name = called(op)
                    body.problem = f"it calls '{name}', which may have effects"
            case acc.AtomicReadOp():
                _add(body, op, op.x, op.element_type, False, loop, symbols, own)
                _add(body, op, op.v, op.element_type, True, loop, symbols, own)
            case acc.AtomicWriteOp():
                _add(body, op, op.x, op.expr.type, True, loop, symbols, own)
            case acc.AtomicUpdateOp():
                type_ = op.region.block.args[0].type
                _add(body, op, op.x, type_, True, loop, symbols, own)
            case _ if op.name.startswith("llvm.") and _may_write(op):
                body.problem = f"it contains '{op.name}'"
            case _:
                pass
    return body


def _add_reads(
    body: BodyAccesses, call: llvm.CallOp, loop: LoopLike, symbols: LoopSymbols, own: set[SSAValue]
) -> bool:
    """
    Adds the reads of a called function, each of an unknown element of its array; False if it may have other
    effects.
    """
    reads = reads_of_call(call)
    if reads is None:
        return False
    for read in reads:
        if read.parameter is None:
            return False  # a global, for which the construct has no value to compare with
        root = root_of(call.args[read.parameter])
        if root in own:
            continue
        if is_defined_inside(root, loop) and isinstance(root.owner, llvm.AllocaOp):
            continue
        ranges = symbols.inner_ranges(call)
        body.accesses.append(LoopAccess(call, root, (None,), (BYTES,), read.type, False, ranges))
    return True


def _may_write(op: Operation) -> bool:
    return op.name.split(".")[1].startswith(("intr.mem", "atomic", "cmpxchg", "inline_asm"))


def _add(
    body: BodyAccesses,
    op: Operation,
    pointer: SSAValue,
    type_: Attribute,
    writes: bool,
    loop: LoopLike,
    symbols: LoopSymbols,
    own: set[SSAValue],
) -> None:
    root = root_of(pointer)
    while root not in own and is_defined_inside(root, loop):
        if not isinstance(root.owner, acc.ReductionOp):
            break
        root = root_of(root.owner.var)  # the variable that an inner loop's copies are combined into
    own_copy = isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp | acc.FirstprivateOp)
    if root in own or (is_defined_inside(root, loop) and own_copy):
        return
    symbols.limits.clear()
    subscripts, units = subscripts_of(pointer, symbols)
    subscripts = tuple(None if p is None or wraps_at_once(p) else p for p in subscripts)
    limits = tuple(dict.fromkeys(symbols.limits))
    atomic = isinstance(op, acc.AtomicReadOp | acc.AtomicWriteOp | acc.AtomicUpdateOp)
    is_target = not (isinstance(op, acc.AtomicReadOp) and writes)
    body.accesses.append(
        LoopAccess(
            op,
            root,
            subscripts,
            units,
            type_,
            writes,
            symbols.inner_ranges(op),
            atomic and is_target,
            is_punned(pointer),
        )
    )
    if limits:
        body.limits[body.accesses[-1]] = limits


def wraps_at_once(poly: Polynomial) -> bool:
    """
    Whether neighbouring elements lie further apart than any array is long, so that the subscript must wrap.
    """
    return any(abs(coefficient) >= _FAR for monomial, coefficient in poly.terms.items() if monomial)
