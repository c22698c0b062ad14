"""
Makes conversions explicit (C11 6.3): lvalue to value, and assignment. Conversions of numbers are in
`casts.py`.

Functions take typed expressions and return typed expressions; none needs a scope.
"""

from __future__ import annotations

from dataclasses import replace

from ...base.diagnostics import DiagnosticSink, SourceLoc, error, warning
from ...base.library_headers import is_library
from ..ast import (
    AddressOf,
    AtomicOp,
    BinaryOp,
    CompoundLiteral,
    Decay,
    Deref,
    Expr,
    FloatConst,
    FunctionRef,
    Initializer,
    IntConst,
    Load,
    Member,
    StringLiteral,
    UnaryOp,
    VarDecl,
    VarRef,
)
from ..types import (
    CHAR,
    VOID,
    ArrayType,
    ComplexType,
    CType,
    FunctionType,
    IntType,
    PointerType,
    QualType,
    RecordType,
    VoidType,
    is_arithmetic,
    is_scalar,
    pointer_to,
)
from .casts import cast, unrounded
from .complex_numbers import convert, is_number, truth
from .constants import constant_value, convert_constant
from .long_doubles import is_finite


def qualified(expr: Expr) -> QualType:
    """The type of `expr` with the qualifiers of the object it designates."""
    match expr:
        case VarRef() | CompoundLiteral():
            q = expr.decl.qual
            return QualType(expr.type, q.const, q.volatile, atomic=q.atomic)
        case Deref(pointer=Expr(type=PointerType(pointee=p))):
            return QualType(expr.type, p.const, p.volatile, atomic=p.atomic)
        case Member():
            outer, inner = qualified(expr.record), expr.field.type
            const, volatile = outer.const or inner.const, outer.volatile or inner.volatile
            return QualType(expr.type, const, volatile, atomic=inner.atomic)
        case _:
            return QualType(expr.type)


def mark_address_taken(place: Expr) -> None:
    """Record that the variable `place` is a part of may be reached through a pointer."""
    while isinstance(place, Member):
        place = place.record
    if isinstance(place, VarRef | CompoundLiteral):
        place.decl.address_taken = True


def decay(expr: Expr) -> Expr:
    """Array to pointer to its first element, function to its address; others unchanged."""
    t = expr.type
    if isinstance(t, FunctionType):
        return Decay(type=pointer_to(t), loc=expr.loc, operand=expr)
    if not isinstance(t, ArrayType):
        return expr
    if not expr.is_lvalue:
        expr = _in_temporary(expr)
    mark_address_taken(expr)
    q, element = qualified(expr), t.element
    pointee = QualType(
        element.type, element.const or q.const, element.volatile or q.volatile, element.restrict
    )
    return Decay(type=PointerType(pointee), loc=expr.loc, operand=expr)


def _in_temporary(expr: Expr) -> Expr:
    """
    An array member of a value, such as `f().a`, as that of an object with temporary lifetime which has it
    (C11 6.2.4p8).
    """
    if isinstance(expr, Member):
        return replace(expr, record=_in_temporary(expr.record))
    return _object(expr.type, expr)


def _object(t: CType, first: Expr) -> CompoundLiteral:
    """An unnamed object of type `t` that begins with the value `first`."""
    init = Initializer(t, [(0, first)], True, first.loc)
    decl = VarDecl("compound literal", QualType(t), first.loc, init=init, address_taken=True)
    return CompoundLiteral(type=t, loc=first.loc, decl=decl)


def atomic_load(place: Expr) -> Expr:
    """The value of an `_Atomic` lvalue."""
    mark_address_taken(place)
    if place.type.size not in (1, 2, 4, 8, 16):
        raise error(
            place.loc,
            f"an atomic object of {place.type.size} bytes is not supported",
            "protect it by a mutex",
        )
    pointer = AddressOf(type=pointer_to(place.type), loc=place.loc, operand=place)
    return AtomicOp(
        type=place.type, loc=place.loc, op="load", of=place.type, pointer=pointer, order=5
    )


def rvalue(expr: Expr) -> Expr:
    """The value of `expr`: `Load` of an object, `Decay` of an array or function (C11 6.3.2.1)."""
    if isinstance(expr.type, ArrayType | FunctionType):
        return decay(expr)
    if not expr.is_lvalue:
        return expr
    if isinstance(expr.type, VoidType):
        raise error(
            expr.loc,
            "a 'void *' cannot be dereferenced",
            "cast it to a pointer to an object type first",
        )
    if isinstance(expr.type, RecordType):
        if not expr.type.is_complete:
            raise error(
                expr.loc,
                f"'{expr.type}' is incomplete: its members are not known here",
                "include or write its definition before this use",
            )
        mark_address_taken(expr)
    if qualified(expr).atomic:
        return atomic_load(expr)
    return Load(type=expr.type, loc=expr.loc, lvalue=expr, volatile=qualified(expr).volatile)


def is_null_constant(expr: Expr) -> bool:
    """Whether `expr` is a null pointer constant (C11 6.3.2.3): 0 or `(void *)0`."""
    if not isinstance(expr, IntConst) or expr.value != 0:
        return False
    t = expr.type
    return isinstance(t, IntType) or (
        isinstance(t, PointerType) and isinstance(t.pointee.type, VoidType)
    )


def compatible(a: CType, b: CType) -> bool:
    """Whether two types are compatible (C11 6.2.7); variable lengths match any length."""
    if a == b:
        return True
    match a, b:
        case PointerType(), PointerType():
            return _same_qualifiers(a.pointee, b.pointee) and compatible(
                a.pointee.type, b.pointee.type
            )
        case ArrayType(), ArrayType():
            known = isinstance(a.length, int) and isinstance(b.length, int)
            return (not known or a.length == b.length) and compatible(
                a.element.type, b.element.type
            )
        case FunctionType(), FunctionType():
            return _compatible_functions(a, b)
        case _:
            return False


def _same_qualifiers(a: QualType, b: QualType) -> bool:
    return a.const == b.const and a.volatile == b.volatile


def _compatible_functions(a: FunctionType, b: FunctionType) -> bool:
    if not compatible(a.result, b.result):
        return False
    if not (a.prototyped or a.params) or not (b.prototyped or b.params):
        return True
    return (
        a.variadic == b.variadic
        and len(a.params) == len(b.params)
        and all(compatible(x, y) for x, y in zip(a.params, b.params, strict=True))
    )


def require_scalar(expr: Expr, what: str) -> Expr:
    """`expr` (a value), checked to be arithmetic or a pointer, as conditions and `!` need."""
    if isinstance(expr.type, ComplexType):
        return truth(expr)
    if not is_scalar(expr.type):
        raise error(
            expr.loc,
            f"{what} has type '{expr.type}', which is neither a number nor a pointer",
            "compare it, or use one of its members",
        )
    return unrounded(expr)


def _check_range(expr: Expr, target: CType, what: str, sink: DiagnosticSink) -> None:
    """Warns of a constant that `target` cannot hold, read as signed or unsigned, as gcc does."""
    if not (isinstance(target, IntType) and target.rank) or target.bits > 64:
        return
    if not isinstance(expr, IntConst | FloatConst | UnaryOp | BinaryOp) or is_library(expr.loc):
        return
    value = constant_value(expr)
    if not isinstance(value, int | float):
        return
    if is_finite(value) and -(1 << (target.bits - 1)) <= value < 1 << target.bits:
        return
    taken = convert_constant(value, target)
    becomes = f", which gets {taken}" if isinstance(value, int) else ""
    message = f"{what}: {value} is beyond the range of '{target}'{becomes}"
    remedy = f"use a wider type, or write the cast '({target})' if that is meant"
    sink.diagnostics.append(warning(expr.loc, message, remedy, option="overflow"))


def convert_assigned(expr: Expr, target: CType, what: str, sink: DiagnosticSink) -> Expr:
    """
    The value `expr` converted as if by assignment to an object of type `target` (C11 6.5.16.1).
    `what` begins messages: "assigning to 'x'". Raises on types that do not convert; incompatible
    pointers are a warning.
    """
    source = expr.type
    loc = expr.loc
    if is_arithmetic(target) and is_arithmetic(source):
        _check_range(expr, target, what, sink)
        return cast(expr, target)
    complex_ones = isinstance(target, ComplexType), isinstance(source, ComplexType)
    if any(complex_ones) and is_number(target) and is_number(source):
        return convert(expr, target)
    if isinstance(target, RecordType) and source is target:
        return expr
    if isinstance(target, RecordType) and target.is_transparent:
        made = as_union(expr, target)
        if made is not None:
            return made
    if isinstance(target, PointerType):
        if is_null_constant(expr):
            return cast(expr, target)
        if isinstance(source, PointerType):
            _check_pointers(source, target, what, loc, sink)
            return cast(expr, target)
        if isinstance(source, IntType):
            raise error(
                loc,
                f"{what}: integer '{source}' does not convert to pointer '{target}'",
                f"take an address with '&', or write the cast '({target})' if the number is an address",
            )
    if isinstance(target, IntType) and isinstance(source, PointerType):
        if target.rank == 0:
            return cast(expr, target)
        raise error(
            loc,
            f"{what}: pointer '{source}' does not convert to integer '{target}'",
            "dereference it with '*' or '[…]', or cast it to 'intptr_t'",
        )
    if isinstance(source, VoidType):
        raise error(
            loc,
            f"{what}: the expression has no value (its type is void)",
            "call a function that returns one",
        )
    raise error(
        loc, f"{what}: '{source}' does not convert to '{target}'", "use a value of that type"
    )


def as_union(expr: Expr, t: RecordType) -> Expr | None:
    """A union whose member of the value's type is `expr` (GNU C); None if it has no such member."""
    for field in t.fields or ():
        own = field.type.type
        null = is_null_constant(expr) and isinstance(own, PointerType)
        if null or compatible(own, expr.type) or _takes(own, expr.type):
            return rvalue(_object(t, cast(expr, own)))
    return None


def _takes(target: CType, source: CType) -> bool:
    """Whether a pointer converts without a cast: to or from `void *`, or to the same type with more
    qualifiers."""
    if not isinstance(target, PointerType) or not isinstance(source, PointerType):
        return False
    to, of = _of_elements(target.pointee), _of_elements(source.pointee)
    more = to.const >= of.const and to.volatile >= of.volatile
    of_void = isinstance(to.type, VoidType) or isinstance(of.type, VoidType)
    return of_void or (more and compatible(to.type, of.type))


def _of_elements(t: QualType) -> QualType:
    """`t` with the qualifiers of an array's elements, which are those of the array (C11 6.7.3p9)."""
    const, volatile, of = t.const, t.volatile, t.type
    while isinstance(of, ArrayType):
        const, volatile, of = (
            const or of.element.const,
            volatile or of.element.volatile,
            of.element.type,
        )
    return replace(t, const=const, volatile=volatile)


def _check_pointers(
    source: PointerType, target: PointerType, what: str, loc: SourceLoc, sink: DiagnosticSink
) -> None:
    s, t = _of_elements(source.pointee), _of_elements(target.pointee)
    to_void = isinstance(s.type, VoidType) or isinstance(t.type, VoidType)
    if not to_void and not compatible(s.type, t.type) and not _char_signs(s.type, t.type):
        sink.warn(
            loc,
            f"{what}: '{source}' and '{target}' are incompatible pointers",
            f"cast with '({target})' if the reinterpretation is meant",
        )
    elif (s.const and not t.const) or (s.volatile and not t.volatile):
        lost = "const" if s.const and not t.const else "volatile"
        sink.warn(
            loc, f"{what}: the conversion drops '{lost}'", f"declare the target '{lost}' as well"
        )


def _char_signs(a: CType, b: CType) -> bool:
    """Whether both types are char, signed char or unsigned char, whose pointers programs mix."""
    return isinstance(a, IntType) and isinstance(b, IntType) and a.rank == b.rank == CHAR.rank


def discard(expr: Expr) -> Expr:
    """`expr` evaluated for its effects: an unused value is not loaded unless volatile."""
    if isinstance(expr, FunctionRef | StringLiteral) or isinstance(expr.type, ArrayType):
        return cast(decay(expr), VOID)
    return expr if isinstance(expr.type, VoidType) else rvalue(expr)
