"""
Values of a compute region in terms of values before it: as symbols of polynomials, and as host code.

`RegionSymbols` answers which values are known before the construct (made outside, or loads of
scalar variables the region does not write) and which are loop variables. `HostEmitter` writes the
arithmetic of a polynomial, or a copy of a pure expression, before the construct.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import cast

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType, i1, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ....dialects.accx_element import Index
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import ENTRY_OPS, is_defined_inside, is_inside, operations_around
from ..ops.building import Cursor, constant_value
from ..ops.fixed_values import CopiesBefore
from ..ops.loop_bounds import bounds_of
from ..ops.purity import is_pure
from .addresses import ADDRESS_OPS
from .value_polynomials import from_value, is_manageable

_TRANSPARENT = (
    arith.ConstantOp,
    arith.ExtSIOp,
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
)


def _is_counter(value: SSAValue) -> bool:
    """Whether a value is C's counter of a loop around that counts in 64 bits: an `unsigned` one."""
    owner = value.owner
    if not isinstance(owner, arith.TruncIOp) or not isinstance(owner.input, BlockArgument):
        return False
    return isinstance(owner.input.block.parent_op(), acc.LoopOp | scf.ForOp)


@dataclass(frozen=True)
class HostLoad:
    """The value a scalar variable has before the construct."""

    variable: Hashable
    type: Attribute


@dataclass(frozen=True, eq=False)
class LastIteration:
    """The last value of a loop variable whose step is not 1: `lb + (ub - 1 - lb) / step * step`."""

    lower: Polynomial
    upper: Polynomial
    step: Polynomial


@dataclass(frozen=True)
class HostExpression:
    """A signed operation that is not a polynomial, on values known before the construct."""

    operation: type[Operation]
    operands: tuple[Polynomial, ...]

    @property
    def depth(self) -> int:
        """The depth to which such operations are nested."""
        inner = (s.depth for p in self.operands for s in p.symbols if isinstance(s, HostExpression))
        return 1 + max(inner, default=0)


DEEPEST_EXPRESSION = 6
"""
The greatest depth: expressions are compared as trees, which grow exponentially if a value is used several
times.
"""

_EXPRESSIONS = (
    arith.DivSIOp,
    arith.RemSIOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.ShRSIOp,
    arith.AndIOp,
)
"""Operations that give the same in 64 bits as in fewer bits, sign-extended."""


_READING = (llvm.LoadOp, *ADDRESS_OPS)


def variable_of(pointer: SSAValue) -> SSAValue:
    """The host variable of a data or privatising operation's result; any other pointer itself."""
    owner = pointer.owner
    while isinstance(owner, ENTRY_OPS):
        pointer = owner.var
        owner = pointer.owner
    return pointer


def variable_key(pointer: SSAValue) -> Hashable:
    """A key for a variable: the global's name, or the value that is its address."""
    pointer = variable_of(pointer)
    owner = pointer.owner
    if isinstance(owner, llvm.AddressOfOp):
        return owner.global_name.string_value()
    return pointer


def same_variable(a: SSAValue, b: SSAValue) -> bool:
    """
    Whether two pointer values name one variable: the same value, the same global, or loads of one
    pointer variable (which the caller knows not to change in between).
    """
    if variable_key(a) == variable_key(b):
        return True
    left, right = variable_of(a).owner, variable_of(b).owner
    if isinstance(left, llvm.LoadOp) and isinstance(right, llvm.LoadOp):
        return same_variable(left.ptr, right.ptr)
    if isinstance(left, ADDRESS_OPS) and isinstance(right, ADDRESS_OPS):
        return (
            left.name == right.name
            and left.properties == right.properties
            and left.operands[1:] == right.operands[1:]
            and same_variable(left.ptr, right.ptr)
        )
    return False


class RegionSymbols:
    """Reads values inside one construct as polynomials. Made per construct; the IR must not change."""

    def __init__(self, construct: Operation, *, at_once: bool = True):
        """`at_once`: the variables that the construct writes are found now, not at the first query."""
        self.construct = construct
        self._expressions: dict[Operation, HostExpression | None] = {}
        self._sizes: dict[SSAValue, tuple[int, int]] = {}
        self._polynomials: dict[SSAValue | Index, Polynomial | None] = {}
        self._ranges_in: dict[Block | None, list[LoopRange] | None] = {}
        self._known_ranges_in: dict[Block | None, list[LoopRange]] = {}
        if at_once:
            _ = self.written

    @cached_property
    def written(self) -> set[Hashable]:
        """
        The scalars that the region may write: those stored to, or whose address is used other than by a
        load.
        """
        pointers: set[SSAValue] = set()
        for region in self.construct.regions:
            for op in region.walk():
                if not isinstance(op, _READING):
                    pointers.update(op.operands)
        return {variable_key(p) for p in pointers if isinstance(p.type, llvm.LLVMPointerType)}

    def symbol(self, value: SSAValue) -> Hashable | None:
        """The symbol of a value of this construct (`SymbolOf`)."""
        if not is_defined_inside(value, self.construct):
            known = isinstance(value.type, IntegerType)
            # Short sums and products are expanded, so that n and its extension are one symbol.
            return value if known and not self._is_transparent(value) else None
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            given = parent is self.construct and isinstance(value.type, IntegerType)
            return value if given or isinstance(parent, acc.LoopOp | scf.ForOp) else None
        owner = value.owner
        if isinstance(owner, llvm.LoadOp) and isinstance(value.type, IntegerType):
            key = variable_key(owner.ptr)
            variable = variable_of(owner.ptr)
            known = isinstance(variable.owner, llvm.AllocaOp | llvm.AddressOfOp) and (
                isinstance(variable.owner, llvm.AddressOfOp)
                or not is_defined_inside(variable, self.construct)
            )
            if known and key not in self.written:
                return HostLoad(key, value.type)
        if isinstance(owner, _EXPRESSIONS) and value.type != i1:
            if owner not in self._expressions:
                self._expressions[owner] = self._expression(owner)
            return self._expressions[owner]
        return None

    def _is_transparent(self, value: SSAValue) -> bool:
        if _is_counter(value):
            return True
        return isinstance(value.owner, _TRANSPARENT) and is_manageable(*self._size(value))

    def _size(self, value: SSAValue, depth: int = 64) -> tuple[int, int]:
        """
        Upper bounds for the number of terms and the degree of `value` when expanded; (1, 1) for a symbol.
        """
        owner = value.owner
        if constant_value(value) is not None:
            return 1, 0
        if not isinstance(owner, _TRANSPARENT) or not owner.operands or depth == 0:
            return 1, 1
        if value not in self._sizes:
            sizes = [self._size(operand, depth - 1) for operand in owner.operands]
            sizes = [size if is_manageable(*size) else (1, 1) for size in sizes]
            terms, degrees = zip(*sizes, strict=True)
            if isinstance(owner, arith.MuliOp):
                self._sizes[value] = prod(terms), sum(degrees)
            else:
                self._sizes[value] = sum(terms), max(degrees)
        return self._sizes[value]

    def _expression(self, op: Operation) -> HostExpression | None:
        """`op` as a symbol, if its operands are computed from values known before the construct."""
        operands: list[Polynomial] = []
        for operand in op.operands:
            poly = self.polynomial(operand)
            if poly is None or any(
                isinstance(symbol, SSAValue) and self.is_inside(symbol) for symbol in poly.symbols
            ):
                return None
            operands.append(poly)
        if isinstance(op, arith.DivSIOp | arith.RemSIOp):
            divisor = operands[1].as_constant
            if divisor is None or divisor <= 0:
                return None  # before the region it might divide by zero
        found = HostExpression(type(op), tuple(operands))
        return found if found.depth <= DEEPEST_EXPRESSION else None

    def is_inside(self, value: SSAValue) -> bool:
        """Whether `value` is defined in the region."""
        return is_defined_inside(value, self.construct)

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        if value not in self._polynomials:
            self._polynomials[value] = from_value(value, self.symbol)
        return self._polynomials[value]

    def loop_ranges(self, op: Operation) -> list[LoopRange] | None:
        """
        Ranges of the loops between `op` and the construct, innermost first; None if the bounds of
        one are not known before the construct. All operations of a block get the same list object.
        """
        if op.parent not in self._ranges_in:
            self._ranges_in[op.parent] = self._find_ranges(op)
        return self._ranges_in[op.parent]

    def _find_ranges(self, op: Operation) -> list[LoopRange] | None:
        ranges: list[LoopRange] = []
        for around in operations_around(op, self.construct):
            for bounds in reversed(bounds_of(around)):
                found = self.loop_range(*bounds)
                if found is None:
                    return None
                ranges.append(found)
        return ranges

    def known_loop_ranges(self, op: Operation) -> list[LoopRange]:
        """As `loop_ranges`, without the loops whose bounds are not known before the construct."""
        if op.parent not in self._known_ranges_in:
            found = (
                self.loop_range(*bounds)
                for around in operations_around(op, self.construct)
                for bounds in reversed(bounds_of(around))
            )
            self._known_ranges_in[op.parent] = [loop for loop in found if loop is not None]
        return self._known_ranges_in[op.parent]

    def loop_range(
        self, variable: SSAValue, lower: SSAValue, upper: SSAValue, step: SSAValue
    ) -> LoopRange | None:
        """
        The range of one loop variable; None if it is not known before the construct. That of a loop of one
        iteration among those of another one is that of the other one.
        """
        lower, upper = _all_iterations(lower, upper)
        low, high = self.polynomial(lower), self.polynomial(upper)
        if low is None or high is None:
            return None
        stride = self.polynomial(step)
        if stride is None:
            return None
        if stride.as_constant == 1:
            return LoopRange(variable, low, high - 1)
        # A last value that depends on outer variables is its own upper bound.
        if any(
            isinstance(s, BlockArgument) and self._is_loop_variable(s)
            for s in low.symbols | high.symbols | stride.symbols
        ):
            return LoopRange(variable, low, high - 1)
        return LoopRange(variable, low, Polynomial.symbol(LastIteration(low, high, stride)))

    def _is_loop_variable(self, value: BlockArgument) -> bool:
        return is_inside(value.block.parent_op(), self.construct)


def _all_iterations(lower: SSAValue, upper: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The bounds low and high of a loop from `max(x, low)` to `min(x + 1, high)`; otherwise its own."""
    first, last = lower.owner, upper.owner
    if isinstance(first, arith.MaxSIOp) and isinstance(last, arith.MinSIOp):
        behind = last.lhs.owner
        if (
            isinstance(behind, arith.AddiOp)
            and behind.lhs is first.lhs
            and constant_value(behind.rhs) == 1
        ):
            return first.rhs, last.rhs
    return lower, upper


class HostEmitter(Cursor):
    """
    A cursor immediately before `anchor` that emits polynomials and copies of expressions as i64 arithmetic;
    equal ones, and equal constants (`i64`), are shared.
    """

    def __init__(self, anchor: Operation):
        super().__init__(InsertPoint.before(anchor), anchor.location)
        self.anchor = anchor
        self.values: dict[Hashable, SSAValue] = {}
        self.copies: dict[SSAValue, SSAValue | None] = {}

    def i64(self, value: int) -> SSAValue:
        if ("constant", value) not in self.values:
            self.values["constant", value] = super().i64(value)
        return self.values["constant", value]

    def symbol(self, symbol: Hashable) -> SSAValue:
        """The i64 value of a symbol of `RegionSymbols`."""
        if symbol not in self.values:
            self.values[symbol] = self._symbol(symbol)
        return self.values[symbol]

    def _symbol(self, symbol: Hashable) -> SSAValue:
        match symbol:
            case SSAValue():
                return self._extend(symbol)
            case HostLoad(variable=str() as name):
                address = self.value(llvm.AddressOfOp(name, llvm.LLVMPointerType()), name)
                return self._extend(self.value(llvm.LoadOp(address, symbol.type), name))
            case HostLoad(variable=SSAValue() as pointer):
                return self._extend(
                    self.value(llvm.LoadOp(pointer, symbol.type), pointer.name_hint)
                )
            case HostExpression():
                left, right = (self.emit(operand) for operand in symbol.operands)
                return self.value(
                    symbol.operation.create(operands=[left, right], result_types=[i64])
                )
            case LastIteration():
                lower, step = self.emit(symbol.lower), self.emit(symbol.step)
                # One more step, and one less afterwards, so that the quotient of a loop without iterations is
                # negative, though division truncates.
                span = self.emit(symbol.upper - 1 - symbol.lower)
                further = self.value(arith.AddiOp(span, step))
                count = self.value(arith.DivSIOp(further, step))
                whole = self.value(arith.SubiOp(count, self.i64(1)))
                return self.value(
                    arith.AddiOp(lower, self.value(arith.MuliOp(whole, step))), "last"
                )
            case _:
                raise TypeError(f"not a symbol of a region: {symbol}")

    def _extend(self, value: SSAValue) -> SSAValue:
        width = cast(IntegerType, value.type).width.data
        if width == 64:
            return value
        if width > 64:
            return self.value(arith.TruncIOp(value, i64), value.name_hint)
        return self.value(arith.ExtSIOp(value, i64), value.name_hint)

    def emit(self, poly: Polynomial) -> SSAValue:
        """The i64 value of `poly`."""
        if poly in self.values:
            return self.values[poly]
        total: SSAValue | None = None
        for monomial, coefficient in poly.terms.items():
            term: SSAValue | None = None
            for symbol in monomial:
                value = self.symbol(symbol)
                term = value if term is None else self.value(arith.MuliOp(term, value))
            if term is None:
                term = self.i64(coefficient)
            elif coefficient != 1:
                term = self.value(arith.MuliOp(term, self.i64(coefficient)))
            total = term if total is None else self.value(arith.AddiOp(total, term))
        result = self.i64(0) if total is None else total
        self.values[poly] = result
        return result

    def minimum(self, polys: tuple[Polynomial, ...]) -> SSAValue:
        return self._fold(polys, arith.MinSIOp)

    def maximum(self, polys: tuple[Polynomial, ...]) -> SSAValue:
        return self._fold(polys, arith.MaxSIOp)

    def _fold(
        self, polys: tuple[Polynomial, ...], op: type[arith.MinSIOp] | type[arith.MaxSIOp]
    ) -> SSAValue:
        result = self.emit(polys[0])
        for poly in polys[1:]:
            result = self.value(op(result, self.emit(poly)))
        return result

    def copy_expression(self, value: SSAValue, symbols: RegionSymbols) -> SSAValue | None:
        """
        A copy of the pure integer expression `value` of the region before the construct, in its own type;
        None if it depends on a value that is known only in the region.
        """
        return _HostCopies(symbols, self).value(value)


class _HostCopies(CopiesBefore):
    """
    Copies to the code before the construct of `symbols`; also loads of variables that hold the same value
    there.
    """

    def __init__(self, symbols: RegionSymbols, emit: HostEmitter):
        super().__init__(emit.anchor, is_pure, emit)
        self.known = emit.copies
        self.symbols = symbols

    def copy(self, op: Operation) -> SSAValue | None:
        if not isinstance(op, llvm.LoadOp):
            return super().copy(op)
        value = op.dereferenced_value
        if not isinstance(self.symbols.symbol(value), HostLoad):
            return None
        variable = variable_of(op.ptr)
        if is_defined_inside(variable, self.place):
            assert isinstance(variable.owner, llvm.AddressOfOp)
            variable = self.at.value(variable.owner.clone(), value.name_hint)
        return self.at.value(llvm.LoadOp(variable, value.type), value.name_hint)
