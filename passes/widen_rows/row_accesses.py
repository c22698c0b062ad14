"""
Reads a loop body as accesses to rows: the row and the element of every load and store.

A row is the part of an address without the element's position in the row: the array and the subscripts of
outer loops. In `a[(i + 1) * n + j - 1]` the row is `a` and `(i + 1) * n`, the element is -1 from the loop's
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..decisions.device import WIDE_BYTES
from ..decisions.polynomials import ZERO, Monomial, Polynomial, product
from ..ir.ops.acc_ops import MAPPING_OPS, accessed_type
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure_call, only_computes
from ..ir.values.addresses import base_of, steps_to
from ..ir.values.region_values import RegionSymbols

_MAY_TRAP = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)


@dataclass(frozen=True)
class Row:
    """
    A row of `array` with elements of `type`, which begins `start` bytes into the array (a polynomial
    without constant term).
    """

    array: SSAValue
    start: Polynomial
    type: Attribute

    @property
    def bytes(self) -> int:
        return size_of(self.type)


@dataclass(frozen=True)
class Tap:
    """A load or store in `row` of the element that is `element` places from the iteration's own."""

    op: llvm.LoadOp | llvm.StoreOp
    row: Row
    element: int


@dataclass
class Survey:
    """
    The accesses of a loop's body that change with its variable, by operation, and the values that change.
    """

    variable: BlockArgument
    symbols: RegionSymbols
    taps: dict[Operation, Tap]
    changing: set[SSAValue]

    def loads(self) -> Iterator[Tap]:
        return (tap for tap in self.taps.values() if isinstance(tap.op, llvm.LoadOp))

    def stores(self) -> Iterator[Tap]:
        return (tap for tap in self.taps.values() if isinstance(tap.op, llvm.StoreOp))


def place_of(pointer: SSAValue, symbols: RegionSymbols) -> tuple[SSAValue, Polynomial] | None:
    """The base pointer of an address, and the distance from it in bytes; None if that is not a polynomial."""
    total = ZERO
    for step in steps_to(pointer):
        offset = step.in_bytes(symbols)
        if offset is None:
            return None
        total = total + offset
    return base_of(pointer), total


def survey(loop: acc.LoopOp, symbols: RegionSymbols) -> Survey:
    """
    The accesses of the loop's body. Raises `Declined` if the body has other operations that cannot be
    widened.
    """
    variable = loop.region.block.args[0]
    found = Survey(variable, symbols, {}, {variable})
    _visit(loop.region.block, found)
    return found


def _visit(block: Block, found: Survey) -> None:
    stored = False
    for op in block.ops:
        reads = any(isinstance(inner, llvm.LoadOp) for inner in op.walk())
        if reads and stored:
            raise Declined("the body reads after it has written")
        stored = stored or any(isinstance(inner, llvm.StoreOp) for inner in op.walk())
        changes = any(operand in found.changing for operand in op.operands)
        if isinstance(op, scf.IfOp | scf.ForOp):
            if changes or op.results:
                raise Declined("control flow in the body changes from column to column")
            for region in op.regions:
                for inner in region.blocks:
                    _visit(inner, found)
        elif isinstance(op, llvm.LoadOp | llvm.StoreOp):
            _access(op, changes, found)
        elif not isinstance(op, acc.YieldOp | scf.YieldOp):
            _check_plain(op, changes)
            if changes:
                found.changing.update(op.results)


def _check_plain(op: Operation, changes: bool) -> None:
    if isinstance(op, llvm.CallOp) and not is_pure_call(op):
        raise Declined("the body calls a function")
    if not only_computes(op):
        raise Declined(f"the body holds {op.name}")
    if changes and isinstance(op, _MAY_TRAP):
        raise Declined("the body divides integers")


def _access(op: llvm.LoadOp | llvm.StoreOp, changes: bool, found: Survey) -> None:
    if is_ordered(op):
        raise Declined("the body has volatile or atomic accesses")
    moves = op.ptr in found.changing
    if not moves and isinstance(op, llvm.LoadOp):
        return
    if not moves:
        raise Declined("the body stores to one place in all columns")
    found.taps[op] = _tap(op, found)
    if changes and isinstance(op, llvm.LoadOp):
        found.changing.add(op.dereferenced_value)


def _tap(op: llvm.LoadOp | llvm.StoreOp, found: Survey) -> Tap:
    type = accessed_type(op)
    whole = isinstance(type, IntegerType) and type.width.data in (32, 64)
    if not whole and not isinstance(type, Float32Type | Float64Type):
        raise Declined("elements are not of four or eight bytes")
    place = place_of(op.ptr, found.symbols)
    parts = None if place is None else place[1].split(found.variable)
    if place is None or parts is None:
        raise Declined("a subscript is not known before it runs")
    array, (rest, factor) = place[0], parts
    if not isinstance(array.owner, MAPPING_OPS) or found.symbols.is_inside(array):
        raise Declined("an array's address is not known before the construct")
    bytes = size_of(type)
    constant = rest.terms.get((), 0)
    if factor.as_constant != bytes or constant % bytes:
        raise Declined("neighbouring columns are not neighbours in memory")
    return Tap(op, Row(array, rest - constant, type), constant // bytes)


def known_part(monomial: Monomial, symbols: RegionSymbols) -> tuple[Monomial, Monomial]:
    """
    The factors of a product that are known before the construct, and the other factors (loop variables).
    """
    inner = product(s for s in monomial if isinstance(s, SSAValue) and symbols.is_inside(s))
    return product(s for s in monomial if s not in inner), inner


def strides(rows: Iterator[Row], symbols: RegionSymbols) -> list[Polynomial]:
    """
    The distances in bytes, known before the construct, that must be multiples of 16 for all rows to begin
    at a multiple of 16. Raises `Declined` if a constant one is not.
    """
    least: dict[Monomial, int] = {}
    for row in rows:
        for monomial, coefficient in row.start.terms.items():
            known, _ = known_part(monomial, symbols)
            power = gcd(coefficient, WIDE_BYTES)
            if power == WIDE_BYTES:
                continue
            if not known:
                raise Declined(f"rows are not multiples of {WIDE_BYTES} bytes apart")
            least[known] = min(power, least.get(known, power))
    return [Polynomial({monomial: power}) for monomial, power in least.items()]
