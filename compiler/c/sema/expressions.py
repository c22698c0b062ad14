"""
Expressions: names, constants, postfix operators, casts, conditionals (C11 6.5).

`check` returns the typed expression as written: an lvalue stays an lvalue. `value` returns its value.
Binary and assignment operators are in `operators`, unary ones in `unary_operators`, calls and built-ins in
`calls`.
"""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc, error
from ..ast import (
    Cast,
    Comma,
    CompoundLiteral,
    Conditional,
    Deref,
    Expr,
    FunctionDecl,
    FunctionRef,
    IntConst,
    Member,
    PtrAdd,
    Storage,
    StringLiteral,
    VarDecl,
    VarRef,
)
from ..gnu_expressions import LabelAddress
from ..known_headers import header_of
from ..types import (
    BOOL,
    CHAR,
    FLOAT,
    HALF,
    VOID,
    ArrayType,
    ComplexType,
    CType,
    IntType,
    PointerType,
    QualType,
    RecordType,
    VoidType,
    is_arithmetic,
    is_scalar,
    pointer_to,
)
from . import complex_numbers
from .calls import CallChecker
from .casts import (
    as_halves,
    bit_field_width,
    cast,
    of_type,
    promote,
    unrounded,
    usual_conversions,
)
from .constants import (
    constant_value,
    float_const,
    integer_value,
)
from .conversions import (
    as_union,
    compatible,
    convert_assigned,
    discard,
    is_null_constant,
    require_scalar,
    rvalue,
)
from .literals import (
    beyond,
    character_literal,
    floating_literal,
    integer_literal,
    string_literal,
)
from .members import member_path
from .operators import OperatorChecker
from .scopes import Enumerator
from .temporaries import Temporary
from .thread_locals import own_object
from .unary_operators import UnaryChecker
from .unit import Unit

_FUNCTION_NAMES = frozenset({"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"})


class ExpressionChecker:
    """Checks expressions in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.calls = CallChecker(unit)
        self.operators = OperatorChecker(unit)
        self.unary = UnaryChecker(unit)
        self._checkers: dict[type[Any], Callable[[Any], Expr]] = {
            c_ast.ID: self._name,
            c_ast.Constant: self._constant,
            c_ast.ArrayRef: self._subscript,
            c_ast.StructRef: self._member,
            c_ast.FuncCall: self.calls.check,
            c_ast.UnaryOp: self.unary.check,
            c_ast.BinaryOp: self.operators.binary,
            c_ast.Assignment: self.operators.assignment,
            c_ast.TernaryOp: self._conditional,
            c_ast.Cast: self._cast,
            c_ast.ExprList: self._comma,
            c_ast.CompoundLiteral: self._compound_literal,
            c_ast.GenericSelection: self._generic,
        }

    def check(self, node: Any) -> Expr:
        """The typed expression of a pycparser node."""
        checker = self._checkers.get(type(node))
        if checker is not None:
            return checker(node)
        loc = self.unit.loc(node)
        if isinstance(node, c_ast.Compound):
            return self.unit.statements.expression(node)
        if isinstance(node, LabelAddress):
            return self.unit.statements.label_address(node)
        if isinstance(node, c_ast.InitList):
            raise error(
                loc, "a braced list is not an expression", "write a compound literal '(type){ … }'"
            )
        if isinstance(node, c_ast.Typename):
            raise error(loc, "expected a value, found a type", "write an expression")
        raise error(
            loc,
            f"this form of expression ({type(node).__name__}) is not supported",
            "rewrite it in C11",
        )

    def value(self, node: Any) -> Expr:
        """The value of an expression: loaded, or decayed to a pointer."""
        return rvalue(self.check(node))

    def integer(self, node: Any) -> int | None:
        """The value of an integer constant expression; None if it is not one."""
        return integer_value(self.value(node))

    def effect(self, node: Any) -> Expr:
        """An expression statement: evaluated for its effects only."""
        return discard(self.check(node))

    def condition(self, node: Any, what: str) -> Expr:
        """The scalar value that an `if`, a loop or a logical operator tests."""
        return require_scalar(self.value(node), what)

    # Primary expressions ----------------------------------------------------------------------

    def _name(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        symbol = self.unit.scope.find(node.name)
        if isinstance(symbol, VarDecl):
            ref = VarRef(type=symbol.type, loc=loc, decl=symbol)
            if symbol.control is not None:
                return own_object(ref)
            return self.unit.openmp.regions.own_copy(ref) if symbol.is_thread_private else ref
        if isinstance(symbol, FunctionDecl):
            return FunctionRef(type=symbol.type, loc=loc, decl=symbol)
        if isinstance(symbol, Enumerator):
            return IntConst(type=symbol.type, loc=loc, value=symbol.value)
        if symbol is not None:
            raise error(
                loc,
                f"'{node.name}' is a type, not a value",
                "write a variable, or '(type)value' for a cast",
            )
        if node.name in _FUNCTION_NAMES and self.unit.function is not None:
            data = self.unit.function.decl.name.encode() + b"\0"
            t = ArrayType(QualType(CHAR, const=True), len(data))
            return StringLiteral(type=t, loc=loc, data=data)
        raise self.undeclared(node.name, loc)

    def undeclared(self, name: str, loc: SourceLoc, kind: str = "") -> CompileError:
        """The error for an unknown name: the header to include, or the name that was meant."""
        header = header_of(name)
        included = header == "openacc.h" and self.unit.file_scope.find("acc_init") is not None
        if header is not None and not included:
            remedy = f"add '#include <{header}>'"
        else:
            remedy = self.unit.scope.did_you_mean(name) or "declare it before this line"
        self.unit.recovery.undeclared(name)
        return error(loc, f"{kind + ' ' if kind else ''}'{name}' is not declared", remedy)

    def _constant(self, node: Any) -> Expr:
        loc, text = self.unit.loc(node), node.value
        if node.type == "string":
            data, unit = string_literal(text, loc)
            return StringLiteral(
                type=ArrayType(QualType(unit), len(data) // unit.size), loc=loc, data=data
            )
        if text.endswith("'"):
            value, t = character_literal(text, loc)
            return IntConst(type=t, loc=loc, value=value)
        if node.type in ("float", "double", "long double"):
            number, f = floating_literal(text, loc)
            if (taken := beyond(text, number)) is not None:
                message = f"'{text}' is beyond the range of '{f}': taken as {taken}"
                self.unit.sink.warn(loc, message, "use a number that the type can represent")
            return of_type(float_const(FLOAT if f == HALF else f, loc, number), f)
        if node.type == "nullptr_t":
            return IntConst(type=pointer_to(VOID), loc=loc, value=0)
        if node.type == "bool":
            return IntConst(type=BOOL, loc=loc, value=int(text == "true"))
        value, t = integer_literal(text, loc)
        return IntConst(type=t, loc=loc, value=value)

    def _compound_literal(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        q = self.unit.types.build(node.type)
        if isinstance(q.type, ArrayType) and q.type.is_vla:
            raise error(
                loc,
                "a compound literal cannot have variable length",
                "declare an array and assign to it",
            )
        is_static = self.unit.function is None
        init = self.unit.initialisers.check(q.type, node.init, "in the compound literal", is_static)
        q = QualType(init.type, q.const, q.volatile)
        decl = VarDecl("compound literal", q, loc, init=init)
        if is_static:
            decl.storage = Storage.STATIC_GLOBAL
            decl.symbol = self.unit.numbered(".compound")
            self.unit.tree.variables.append(decl)
        return CompoundLiteral(type=q.type, loc=loc, decl=decl)

    def _generic(self, node: Any) -> Expr:
        """`_Generic(e, T: a, default: b)` (C11 6.5.1.1): the chosen expression; the others are not
        checked."""
        loc = self.unit.loc(node)
        controlling = self.value(node.expr).type
        fallback: Any = None
        for association in node.associations:
            if association.type is None:
                fallback = association.expr
            elif compatible(self.unit.types.build(association.type).type, controlling):
                return self.check(association.expr)
        if fallback is None:
            raise error(
                loc, f"_Generic has no association for type '{controlling}'", "add 'default: …'"
            )
        return self.check(fallback)

    # Postfix ----------------------------------------------------------------------------------

    def _subscript(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        base, index = self.value(node.name), self.value(node.subscript)
        if isinstance(index.type, PointerType) and isinstance(base.type, IntType):
            base, index = index, base
        if not isinstance(base.type, PointerType):
            raise error(
                loc,
                f"'{base.type}' cannot be subscripted: it is neither an array nor a pointer",
                "remove the '[…]', or declare it as an array",
            )
        if not isinstance(index.type, IntType):
            raise error(
                index.loc,
                f"an array subscript has type '{index.type}'",
                "use an integer; cast with '(int)'",
            )
        self.operators.require_complete_pointee(base.type, loc)
        place = PtrAdd(type=base.type, loc=loc, pointer=base, index=promote(index))
        return Deref(type=base.type.pointee.type, loc=loc, pointer=place)

    def _member(self, node: Any) -> Expr:
        loc = self.unit.loc(node.field)
        record = self.value(node.name) if node.type == "->" else self.check(node.name)
        name: str = node.field.name
        if node.type == "->":
            if isinstance(record.type, RecordType):
                raise error(loc, f"'->{name}' on a structure, not a pointer", f"write '.{name}'")
            if not isinstance(record.type, PointerType):
                raise error(
                    loc,
                    f"'->{name}' on '{record.type}', not a pointer to a structure",
                    "use a pointer",
                )
            record = Deref(type=record.type.pointee.type, loc=record.loc, pointer=record)
        elif isinstance(record.type, PointerType) and isinstance(
            record.type.pointee.type, RecordType
        ):
            raise error(loc, f"'.{name}' on a pointer to a structure", f"write '->{name}'")
        t = record.type
        if not isinstance(t, RecordType):
            raise error(loc, f"'{t}' has no members", "use a structure or union")
        if not t.is_complete:
            raise error(
                loc,
                f"'{t}' is incomplete: its members are not known here",
                "include its definition",
            )
        for field in member_path(t, name, loc):
            record = Member(type=field.type.type, loc=loc, record=record, field=field)
        return record

    # Casts, conditionals, comma ---------------------------------------------------------------

    def _cast(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        target = self.unit.types.build(node.to_type).type
        if isinstance(target, VoidType):
            return cast(self.effect(node.expr), VOID, implicit=False)
        operand = self.value(node.expr)
        source = operand.type
        if isinstance(target, RecordType) and source is target:
            return operand
        if isinstance(target, RecordType) and target.is_union:
            made = as_union(operand, target)
            if made is not None:
                return made
        if isinstance(target, ComplexType) or isinstance(source, ComplexType):
            what = f"cast to '{target}'"
            return convert_assigned(operand, target, what, self.unit.sink)
        if not is_scalar(target) or not is_scalar(source):
            raise error(
                loc,
                f"'{source}' cannot be cast to '{target}'",
                "casts convert numbers and pointers only",
            )
        pointers = isinstance(target, PointerType), isinstance(source, PointerType)
        if any(pointers) and not all(pointers):
            other = source if pointers[0] else target
            if not isinstance(other, IntType):
                raise error(
                    loc,
                    f"'{source}' cannot be cast to '{target}'",
                    "pointers and floating numbers do not mix",
                )
        if bit_field_width(operand) is not None and target == source:
            return Cast(
                type=target, loc=loc, operand=operand, implicit=False
            )  # as wide as its type
        return cast(operand, target, implicit=False)

    def _conditional(self, node: Any) -> Expr:
        loc = self.unit.loc(node)
        if node.iftrue is None:
            return self._otherwise(node)
        condition = self.condition(node.cond, "the condition of '?:'")
        return self._chosen(condition, self.value(node.iftrue), self.value(node.iffalse), loc)

    def _otherwise(self, node: Any) -> Expr:
        """`a ?: c` (GNU C): `a`, evaluated once, unless it is zero."""
        value, what = self.value(node.cond), "the condition of '?:'"
        held = Temporary(self.unit, value.loc)
        if constant_value(value) is None:
            read = held.hold(value)
            chosen = self._chosen(
                require_scalar(read(), what), read(), self.value(node.iffalse), self.unit.loc(node)
            )
            return held.result(chosen)
        return self._chosen(
            require_scalar(value, what), value, self.value(node.iffalse), self.unit.loc(node)
        )

    def _chosen(self, condition: Expr, then: Expr, otherwise: Expr, loc: SourceLoc) -> Expr:
        """`condition ? then : otherwise`, converted to their common type (C11 6.5.15)."""
        t: CType
        if is_arithmetic(then.type) and is_arithmetic(otherwise.type):
            then, otherwise, t = usual_conversions(then, otherwise)
            if t == HALF:
                then, otherwise = as_halves(then, otherwise) or (then, otherwise)
            made = Conditional(
                type=then.type, loc=loc, condition=condition, then=then, otherwise=otherwise
            )
            return of_type(made, t)
        elif (element := complex_numbers.common(then.type, otherwise.type)) is not None:
            t = self.unit.types.complex(element)
            then = complex_numbers.convert(then, t)
            otherwise = complex_numbers.convert(otherwise, t)
        elif isinstance(then.type, VoidType) or isinstance(otherwise.type, VoidType):
            then, otherwise, t = cast(then, VOID), cast(otherwise, VOID), VOID
        elif isinstance(then.type, RecordType) and then.type is otherwise.type:
            t = then.type
        else:
            t = self._common_pointer(then, otherwise, loc)
            then, otherwise = cast(then, t), cast(otherwise, t)
        return Conditional(type=t, loc=loc, condition=condition, then=then, otherwise=otherwise)

    def _common_pointer(self, a: Expr, b: Expr, loc: SourceLoc) -> CType:
        """The type of `c ? a : b` when one is a pointer (C11 6.5.15p6)."""
        if isinstance(a.type, PointerType) and is_null_constant(b):
            return a.type
        if isinstance(b.type, PointerType) and is_null_constant(a):
            return b.type
        if not isinstance(a.type, PointerType) or not isinstance(b.type, PointerType):
            raise error(
                loc,
                f"the branches of '?:' have types '{a.type}' and '{b.type}'",
                "convert one of them",
            )
        p, q = a.type.pointee, b.type.pointee
        target = p.type
        if isinstance(q.type, VoidType):
            target = q.type
        elif not isinstance(p.type, VoidType) and not compatible(p.type, q.type):
            self.unit.sink.warn(
                loc,
                f"the branches of '?:' are incompatible pointers '{a.type}' and '{b.type}'",
                "cast one",
            )
        return PointerType(QualType(target, p.const or q.const, p.volatile or q.volatile))

    def _comma(self, node: Any) -> Expr:
        *firsts, last = node.exprs
        lhs = self.effect(firsts[0])
        for item in firsts[1:]:
            nxt = self.effect(item)
            lhs = Comma(type=nxt.type, loc=lhs.loc, lhs=lhs, rhs=nxt)
        rhs = self.value(last)
        value = unrounded(rhs)
        return of_type(Comma(type=value.type, loc=lhs.loc, lhs=lhs, rhs=value), rhs.type)
