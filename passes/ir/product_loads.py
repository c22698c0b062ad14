"""What the body of a loop over terms loads, and how that moves with the parallel loops around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.accx_compress import DECODES
from ...dialects.volatility import is_ordered
from ..decisions.polynomials import ZERO, Polynomial
from ..decisions.shared_sections import TermPlace, place_of
from .acc_ops import MAPPING_OPS, is_defined_inside, variable_name
from .addresses import base_of, steps_to
from .cached_accesses import Symbols
from .layout import size_of
from .purity import is_pure


@dataclass(frozen=True)
class Factor:
    """A load that moves with one parallel loop and the loop over terms."""

    load: llvm.LoadOp
    base: SSAValue
    place: TermPlace

    @property
    def element(self) -> Attribute:
        return self.load.dereferenced_value.type

    @property
    def name(self) -> str:
        return variable_name(self.base)


@dataclass
class Loads:
    """The factors by the parallel loop they move with, and how many loads move with both loops."""

    outer: list[Factor] = field(default_factory=list[Factor])
    inner: list[Factor] = field(default_factory=list[Factor])
    both: int = 0


def offset_of(pointer: SSAValue, symbols: Symbols) -> tuple[SSAValue, Polynomial]:
    """The array a pointer leads into, and how many bytes from its start."""
    total = ZERO
    for step in steps_to(pointer):
        distance = step.in_bytes(symbols)
        assert distance is not None
        total = total + distance
    return base_of(pointer), total


def read_loads(loop: scf.ForOp | acc.LoopOp, outer: SSAValue, inner: SSAValue) -> Loads | None:
    """The loads in the body of `loop`; None if it does more than load, compute and update variables."""
    symbols = Symbols(loop)
    term = loop.regions[0].block.args[0]
    found = Loads()
    for op in loop.regions[0].block.ops:
        if isinstance(op, llvm.StoreOp):
            continue
        if not isinstance(op, llvm.LoadOp):
            if not is_pure(op) and not isinstance(op, scf.YieldOp | acc.YieldOp):
                return None
            continue
        if is_ordered(op):
            return None
        _classify(op, symbols, loop, (outer, inner, term), found)
    return found


def _classify(
    op: llvm.LoadOp,
    symbols: Symbols,
    loop: Operation,
    variables: tuple[SSAValue, SSAValue, SSAValue],
    found: Loads,
) -> None:
    outer, inner, term = variables
    base, offset = offset_of(op.ptr, symbols)
    moves = [variable in offset.symbols for variable in variables]
    if not isinstance(base.owner, MAPPING_OPS) or DECODES in base.owner.attributes:
        found.both += any(moves[:2]) and moves[2]
        return
    inside = any(
        isinstance(s, SSAValue) and s is not term and is_defined_inside(s, loop)
        for s in offset.symbols
    )
    if inside or all(moves):
        found.both += 1
        return
    if not moves[2] or not any(moves[:2]):
        return
    element = size_of(op.dereferenced_value.type)
    own, other = (outer, inner) if moves[0] else (inner, outer)
    place = place_of(offset, element, own, other, term)
    if place is None:
        found.both += 1
    else:
        (found.outer if moves[0] else found.inner).append(Factor(op, base, place))
