"""
Reads the values of a loop nested in a loop as `Spread`s: how they differ between neighbouring copies of its
body.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Operation, SSAValue

from ..decisions import spread
from ..decisions.spread import Spread
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import constant_value, never_wraps
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure
from ..ir.values.addresses import ADDRESS_OPS, AddressOp, AddressStep, steps_of

_BITWISE: dict[type[Operation], str] = {arith.XOrIOp: "xor", arith.AndIOp: "and", arith.OrIOp: "or"}


@dataclass(frozen=True)
class Pair:
    """A parallel loop of one variable and a sequential loop directly in its body."""

    outer: acc.LoopOp
    inner: scf.ForOp

    @property
    def row(self) -> SSAValue:
        return self.outer.region.block.args[0]

    @property
    def step(self) -> SSAValue:
        return self.inner.body.block.args[0]


class Spreads:
    """
    The values that `pair` computes, in copies (r, s) in the order `s * rows + r`. The outer variable is
    a multiple of `rows` plus r; so is the inner one with `steps` if that is more than one. The pointers in
    `aligned`, from outside the nest, are multiples of `alignment` bytes.
    """

    def __init__(
        self,
        pair: Pair,
        rows: int,
        steps: int,
        aligned: frozenset[SSAValue] = frozenset(),
        alignment: int = 1,
    ):
        self.pair, self.rows, self.steps = pair, rows, steps
        self.copies = rows * steps
        self._aligned, self._alignment = aligned, alignment
        row_numbers = tuple(c % rows for c in range(self.copies))
        step_numbers = tuple(c // rows for c in range(self.copies))
        self._known: dict[SSAValue, Spread | None] = {
            pair.row: Spread(rows, row_numbers),
            pair.step: Spread(steps, step_numbers),
        }

    def of(self, value: SSAValue) -> Spread | None:
        """The spread of `value`; None if it is not one."""
        if value not in self._known:
            self._known[value] = self._read(value)
        return self._known[value]

    def _read(self, value: SSAValue) -> Spread | None:
        number = constant_value(value)
        if number is not None:
            return spread.constant(number, self.copies)
        if not is_defined_inside(value, self.pair.outer):
            multiple = self._alignment if value in self._aligned else 1
            return spread.uniform(self.copies, multiple)
        op = value.owner
        if not isinstance(op, Operation) or op.regions:
            return None
        found = self._address(op) if isinstance(op, ADDRESS_OPS) else self._number(op)
        if isinstance(value.type, IntegerType) and found is not None:
            return _of_width(found, value.type.width.data)
        return found

    def _number(self, op: Operation) -> Spread | None:
        operands = [self.of(v) for v in op.operands]
        known = [a for a in operands if a is not None]
        if not operands or len(known) != len(operands):
            return None
        if isinstance(op.results[0].type, IntegerType):
            found = _arithmetic(op, known)
            if found is not None:
                return found
        same = not any(any(a.distances) for a in known)
        reads = isinstance(op, llvm.LoadOp) and op.parent_block() is self.pair.inner.body.block
        return spread.uniform(self.copies) if same and (is_pure(op) or reads) else None

    def _address(self, op: AddressOp) -> Spread | None:
        """The spread of an address, in bytes."""
        address = self.of(op.ptr)
        for step in steps_of(op):
            distance = self._distance(step)
            if address is None or distance is None:
                return None
            address = spread.add(address, distance, no_wrap=False)
        return address

    def _distance(self, step: AddressStep) -> Spread | None:
        """The spread of the distance of one subscript, in bytes."""
        if isinstance(step.index, int):
            count = spread.constant(step.index, self.copies)
        else:
            count = self.of(step.index.value)
            if count is not None and step.index.value.type != i64:
                count = spread.extend(count, signed=not step.index.unsigned)
        if step.member:
            return spread.constant(step.offset, self.copies)
        for length in step.lengths:
            rows = self.of(length)
            if count is None or rows is None:
                return None
            count = spread.multiply(count, rows, no_wrap=True)
        return None if count is None else spread.scale(count, size_of(step.type))


def _of_width(value: Spread, width: int) -> Spread:
    if value.multiple in (spread.ANY, 1) or value.multiple < 1 << width:
        return value
    return Spread(1 << max(width - 1, 0), value.low, value.exact)


def _arithmetic(op: Operation, operands: list[Spread]) -> Spread | None:
    no_wrap = never_wraps(op)
    match op:
        case arith.XOrIOp() | arith.AndIOp() | arith.OrIOp():
            return spread.bitwise(_BITWISE[type(op)], operands[0], operands[1])
        case arith.AddiOp():
            return spread.add(operands[0], operands[1], no_wrap)
        case arith.SubiOp():
            return spread.subtract(operands[0], operands[1], no_wrap)
        case arith.MuliOp():
            return spread.multiply(operands[0], operands[1], no_wrap)
        case arith.ShLIOp() | arith.ShRSIOp() | arith.ShRUIOp():
            bits = operands[1].low[0]
            if not operands[1].is_constant or not 0 <= bits < 63:
                return None
            if isinstance(op, arith.ShLIOp):
                return spread.scale(operands[0], 1 << bits, no_wrap)
            return spread.shift_right(operands[0], bits)
        case arith.ExtSIOp() | arith.ExtUIOp():
            return spread.extend(operands[0], isinstance(op, arith.ExtSIOp))
        case arith.TruncIOp() | llvm.TruncOp():
            result = op.results[0].type
            assert isinstance(result, IntegerType)
            return spread.truncate(operands[0], result.width.data, no_wrap)
        case _:
            return None
