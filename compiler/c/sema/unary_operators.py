"""Unary operators, increments, `sizeof` and `_Alignof` (C11 6.5.3), and GNU C's `__real__` and `__imag__`."""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import (
    AddressOf,
    Comma,
    Decay,
    Deref,
    Expr,
    FloatConst,
    FunctionRef,
    IncDec,
    IntConst,
    Member,
    SizeofVla,
    UnaryOp,
    VarRef,
)
from ..types import (
    HALF,
    INT,
    SIZE_T,
    ArrayType,
    ComplexType,
    CType,
    FunctionType,
    IntType,
    PointerType,
    RecordType,
    VoidType,
    is_arithmetic,
    is_scalar,
)
from . import complex_numbers
from .casts import bit_field_width, cast, of_type, promote, unrounded
from .constants import constant_value, float_const
from .conversions import (
    decay,
    discard,
    mark_address_taken,
    qualified,
)
from .unit import Unit


class UnaryChecker:
    """Checks unary operators in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._unaries: dict[str, Callable[[Any], Expr]] = {
            "&": self._address_of,
            "*": self._indirection,
            "!": self._not,
            "sizeof": self._sizeof,
            "_Alignof": self._alignof,
            "alignof": self._alignof,
            "__alignof": self._alignof,
            "__real": self._part,
            "__imag": self._part,
        }

    def check(self, node: Any) -> Expr:
        """The typed expression of a pycparser node."""
        op: str = node.op
        special = self._unaries.get(op)
        if special is not None:
            return special(node)
        if op.endswith(("++", "--")):
            return self._increment(node)
        loc = self.unit.loc(node)
        operand = self.unit.expressions.value(node.expr)
        if isinstance(operand.type, ComplexType) and op in ("+", "-", "~"):
            return complex_numbers.unary(op, operand, loc)
        allowed = isinstance(operand.type, IntType) if op == "~" else is_arithmetic(operand.type)
        if not allowed:
            need = "an integer" if op == "~" else "a number"
            raise error(loc, f"unary '{op}' on '{operand.type}'", f"its operand must be {need}")
        t, operand = operand.type, unrounded(promote(operand))
        t = t if t == HALF else operand.type
        if op == "+":
            return of_type(operand, t)
        if op == "-" and isinstance(operand, FloatConst):
            value = constant_value(operand)
            assert isinstance(value, float)
            return of_type(float_const(operand.type, loc, -value), t)
        return of_type(UnaryOp(type=operand.type, loc=loc, op=op, operand=operand), t)

    def _not(self, node: Any) -> Expr:
        operand = self.unit.expressions.condition(node.expr, "the operand of '!'")
        return UnaryOp(type=INT, loc=self.unit.loc(node), op="!", operand=operand)

    def _part(self, node: Any) -> Expr:
        """`__real__ z`, `__imag__ z` (GNU C): an lvalue if `z` is."""
        loc, name = self.unit.loc(node), node.op.removeprefix("__")
        operand = self.unit.expressions.check(node.expr)
        t = operand.type
        if isinstance(t, ComplexType):
            if not operand.is_lvalue:
                return complex_numbers.part(f"c{name}", operand, t, loc)
            assert t.fields is not None
            mark_address_taken(operand)
            field = t.fields[0 if name == "real" else 1]
            return Member(type=field.type.type, loc=loc, record=operand, field=field)
        if not is_arithmetic(t):
            raise error(loc, f"'{node.op}__' of '{t}'", "its operand must be a number")
        if name == "real":
            return operand
        zero: Expr = IntConst(type=INT, loc=loc, value=0)
        return Comma(type=t, loc=loc, lhs=discard(operand), rhs=cast(zero, t))

    def _increment(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        target = self.unit.expressions.operators.modifiable(
            self.unit.expressions.check(node.expr), f"apply '{node.op.lstrip('p')}' to"
        )
        if not is_scalar(target.type):
            raise error(
                loc, f"'{node.op.lstrip('p')}' on '{target.type}'", "use a number or a pointer"
            )
        if isinstance(target.type, PointerType):
            self.unit.expressions.operators.require_complete_pointee(target.type, loc)
        made = IncDec(
            type=target.type,
            loc=loc,
            target=target,
            is_increment=node.op.endswith("++"),
            is_prefix=not node.op.startswith("p"),
            volatile=qualified(target).volatile,
        )
        return (
            self.unit.expressions.operators.atomics.step(made) if qualified(target).atomic else made
        )

    def _address_of(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        operand = self.unit.expressions.check(node.expr)
        if isinstance(operand.type, FunctionType):
            return decay(operand)
        if isinstance(operand, Decay) and isinstance(operand.operand, FunctionRef):
            return operand
        if not operand.is_lvalue:
            raise error(
                loc, "'&' needs an object: this is only a value", "store it in a variable first"
            )
        if bit_field_width(operand) is not None:
            raise error(
                loc,
                "a bit-field has no address",
                "copy it to a variable, or make it a plain member",
            )
        mark_address_taken(operand)
        q = qualified(operand)
        return AddressOf(type=PointerType(q), loc=loc, operand=operand)

    def _indirection(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        pointer = self.unit.expressions.value(node.expr)
        if not isinstance(pointer.type, PointerType):
            raise error(loc, f"'*' on '{pointer.type}', which is not a pointer", "remove the '*'")
        target = pointer.type.pointee.type
        if isinstance(target, FunctionType):
            return pointer
        return Deref(type=target, loc=loc, pointer=pointer)

    def _sizeof(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        if isinstance(node.expr, c_ast.Typename):
            t = self.unit.types.build(node.expr).type
        else:
            operand = self.unit.expressions.check(node.expr)
            if bit_field_width(operand) is not None:
                raise error(loc, "sizeof of a bit-field", "use sizeof of its type")
            t = operand.type
        return self.size_of(t, loc)

    def size_of(self, t: CType, loc: SourceLoc) -> Expr:
        """`sizeof t` as a `size_t` expression."""
        if isinstance(t, ArrayType) and t.is_vla:
            return SizeofVla(type=SIZE_T, loc=loc, of=t)
        if isinstance(t, VoidType | FunctionType):  # GNU: 1, as for pointer arithmetic
            return IntConst(type=SIZE_T, loc=loc, value=1)
        if not t.is_complete:
            raise error(
                loc,
                f"sizeof of incomplete type '{t}'",
                "define the type, or give the array a length",
            )
        return IntConst(type=SIZE_T, loc=loc, value=t.size)

    def _alignof(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        given: int | None = None
        if isinstance(node.expr, c_ast.Typename):
            t = self.unit.types.build(node.expr).type
            given = self.unit.alignments.of_declaration(node.expr)
        else:
            operand = self.unit.expressions.check(node.expr)
            t = operand.type
            given = operand.decl.alignment if isinstance(operand, VarRef) else None
            if isinstance(operand, Member) and isinstance(operand.record.type, RecordType):
                given = 1 if operand.record.type.is_packed else None
        if isinstance(t, VoidType | FunctionType):  # GNU: 1, as for pointer arithmetic
            return IntConst(type=SIZE_T, loc=loc, value=1)
        if not t.is_complete and not isinstance(t, ArrayType):
            raise error(loc, f"_Alignof of incomplete type '{t}'", "define the type first")
        return IntConst(type=SIZE_T, loc=loc, value=given or t.align)
