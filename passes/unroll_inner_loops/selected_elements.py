"""
Elements of an iteration's own array at a subscript that is known at run time only, such as those of a pivot's
row: they are selected among the elements at all values that the subscript may have, so that every subscript
is constant once loops are unrolled, and the array is in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.accx import SPECULATIVE
from ...dialects.accx_element import ElementOp, Index
from ...dialects.volatility import is_ordered
from ..decisions.polynomials import Polynomial
from ..decisions.unrolling import MOST_CHOICES
from ..ir.ops.building import Cursor, erase
from ..ir.values.addresses import ADDRESS_OPS, indices_of
from ..ir.values.constant_ranges import interval_of, reach_of
from ..ir.values.value_polynomials import from_value

IsConstant = Callable[[SSAValue], bool]
"""Whether a value is constant once loops are unrolled."""

_TRANSPARENT = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ExtSIOp)


@dataclass(frozen=True)
class SelectedElement:
    """
    The address `op`, whose subscript `position` is `factor * chosen + rest`; `choices` are the values that
    `chosen` may have.
    """

    op: ElementOp
    position: int
    chosen: SSAValue
    factor: int
    rest: Polynomial
    choices: range

    @property
    def accesses(self) -> list[Operation]:
        """The loads and stores at the address."""
        return [use.operation for use in self.op.result.uses]

    def costs(self) -> dict[Operation, int]:
        """The accesses, and the operations that each becomes."""
        return dict.fromkeys(self.accesses, len(self.choices))


def _lengths(op: ElementOp, array: Attribute) -> Iterator[int | None]:
    """The length of the array that each subscript selects in; None if it is not known."""
    for position, container in enumerate(op.containers()):
        inside = container
        if position == 0 and isinstance(array, llvm.LLVMArrayType) and array.type == op.elem_type:
            inside = array
        yield inside.size.data if isinstance(inside, llvm.LLVMArrayType) else None


def _selected(
    op: Operation, pointer: SSAValue, array: Attribute, is_constant: IsConstant
) -> SelectedElement | None:
    """The element at an address with one subscript that is not constant; None if it cannot be selected."""
    if not isinstance(op, ElementOp) or op.ptr is not pointer or op.rows:
        return None
    for use in op.result.uses:
        user = use.operation
        if not isinstance(user, llvm.LoadOp | llvm.StoreOp) or is_ordered(user):
            return None
        if isinstance(user, llvm.StoreOp) and use.index != 1:
            return None
    open_ = [
        (position, step.value, length)
        for position, (step, length) in enumerate(zip(op.steps(), _lengths(op, array), strict=True))
        if isinstance(step, Index) and not (is_constant(step.value) or step.unsigned)
    ]
    if len(open_) != 1:
        return None
    position, value, length = open_[0]
    if length is None:
        return None
    poly = from_value(value, lambda at: None if isinstance(at.owner, _TRANSPARENT) else at)
    if poly is None or poly.degree > 1:
        return None
    symbols = [symbol for symbol in poly.symbols if isinstance(symbol, SSAValue)]
    chosen = [symbol for symbol in symbols if not is_constant(symbol)]
    factor = poly.slope(chosen[0]) if len(chosen) == 1 else None
    if not factor:
        return None
    rest = poly - Polynomial.symbol(chosen[0]) * factor
    choices = _choices(chosen[0], factor, rest, length)
    if choices is None or not 0 < len(choices) <= MOST_CHOICES:
        return None
    return SelectedElement(op, position, chosen[0], factor, rest, choices)


def _choices(chosen: SSAValue, factor: int, rest: Polynomial, length: int) -> range | None:
    """
    The values of `chosen` for which `factor * chosen + rest` is a subscript of an array of `length`
    elements; None if that depends on more. (C has no others: 6.5.6.)
    """
    known = interval_of(rest)
    if known is None or factor < 0:
        return None
    low, high = known
    reach = reach_of(chosen)
    if reach is None:
        if low < 0 or high >= factor or length % factor:
            return None
        reach = 0, length // factor - 1
    first, last = reach
    if factor * first + low < 0 or factor * last + high >= length:
        return None
    return range(first, last + 1)


def selected_elements(
    pointer: SSAValue, array: Attribute, is_constant: IsConstant
) -> list[SelectedElement] | None:
    """
    The elements of an own array to select so that all its subscripts are constant; None if some would not
    be.
    """
    found: list[SelectedElement] = []
    for use in pointer.uses:
        op = use.operation
        if not isinstance(op, ADDRESS_OPS) or use.index != 0:
            continue
        values = [index.value for index in indices_of(op) if isinstance(index, Index)]
        if all(map(is_constant, values)):
            if selected_elements(op.results[0], array, is_constant) != []:
                return None
            continue
        selected = _selected(op, pointer, array, is_constant)
        if selected is None:
            return None
        found.append(selected)
    return found


def select(element: SelectedElement) -> None:
    """Replaces the accesses to an element by accesses to all that it may be."""
    for op in element.accesses:
        at = Cursor.before(op)
        chosen = at.to_i64(element.chosen)
        addresses = [_address(element, choice, at) for choice in element.choices]
        equal = [
            at.value(arith.CmpiOp(chosen, at.i64(choice), "eq"), "chosen")
            for choice in element.choices
        ]
        if isinstance(op, llvm.LoadOp):
            result = op.dereferenced_value
            values = [_load(address, result.type, at) for address in addresses]
            value = values[0]
            for is_this, other in zip(equal[1:], values[1:], strict=True):
                value = at.value(arith.SelectOp(is_this, other, value), result.name_hint)
            result.replace_all_uses_with(value)
        else:
            assert isinstance(op, llvm.StoreOp)
            for is_this, address in zip(equal, addresses, strict=True):
                old = _load(address, op.value.type, at)
                at.store(at.value(arith.SelectOp(is_this, op.value, old)), address)
        erase(op)
    erase(element.op)


def _load(address: SSAValue, type: Attribute, at: Cursor) -> SSAValue:
    """What is at an address, to which nothing may have been written yet if it is not selected."""
    load = at.insert(llvm.LoadOp(address, type), address.name_hint)
    load.attributes[SPECULATIVE] = UnitAttr()
    return load.dereferenced_value


def _address(element: SelectedElement, choice: int, at: Cursor) -> SSAValue:
    op, index = element.op, element.rest + element.factor * choice
    constant = index.as_constant
    path = list(op.steps())
    path[element.position] = Index(_sum(index, at)) if constant is None else constant
    return at.value(ElementOp(op.ptr, path, op.elem_type), op.result.name_hint)


def _sum(index: Polynomial, at: Cursor) -> SSAValue:
    """An i64 with the value of a sum of loop variables."""
    total = at.i64(index.terms.get((), 0))
    for monomial, factor in index.terms.items():
        if monomial:
            (symbol,) = monomial
            assert isinstance(symbol, SSAValue)
            total = at.add(total, at.mul(at.to_i64(symbol), at.constant(factor, i64)))
    return total
