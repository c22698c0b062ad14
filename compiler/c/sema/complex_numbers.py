"""
Complex arithmetic (C11 6.2.5p11, 6.3.1.6 to 6.3.1.8, 6.5): conversions and operators of
`float _Complex`, `double _Complex` and `long double _Complex`.

Elsewhere a complex type is a structure of two members; this module makes the operations that only complex
types have, as `ComplexOp` nodes.
"""

from __future__ import annotations

from ...base.diagnostics import SourceLoc, error
from ..ast import Assign, Call, ComplexOp, CompoundAssign, Expr, FloatConst, IncDec, VaArg
from ..types import INT, ComplexType, CType, FloatType, is_arithmetic
from .casts import cast

ARITHMETIC = frozenset(("+", "-", "*", "/"))
PARTS = {"creal": "real", "cimag": "imag", "conj": "conj"}
"""Functions of `<complex.h>` that are operations of the compiler, by their `double` names."""


def part_named(name: str) -> str | None:
    """The `double` name of the function of `PARTS` that `name` spells for some type ("crealf" → "creal");
    None for other names."""
    return next((plain for plain in PARTS if name in (plain, f"{plain}f", f"{plain}l")), None)


def is_number(t: CType) -> bool:
    """Whether `t` is arithmetic, complex types included (C11 6.2.5p18)."""
    return isinstance(t, ComplexType) or is_arithmetic(t)


def element_of(t: CType) -> FloatType | None:
    """The real type of the parts of a complex or real floating type; None for integers."""
    if isinstance(t, ComplexType):
        return t.element
    return t if isinstance(t, FloatType) else None


def convert(value: Expr, target: CType) -> Expr:
    """A number converted to a complex type, or a complex number to a real one (C11 6.3.1.7)."""
    source, loc = value.type, value.loc
    if source is target:
        return value
    if not isinstance(target, ComplexType):
        assert isinstance(source, ComplexType)
        return cast(ComplexOp(type=source.element, loc=loc, op="real", operands=[value]), target)
    if isinstance(source, ComplexType):
        return ComplexOp(type=target, loc=loc, op="convert", operands=[value])
    zero = FloatConst(type=target.element, loc=loc, value=0.0)
    return ComplexOp(type=target, loc=loc, op="make", operands=[cast(value, target.element), zero])


def common(a: CType, b: CType) -> FloatType | None:
    """The real type of the parts of the common type of two numbers of which one is complex; None for other
    types."""
    if not (isinstance(a, ComplexType) or isinstance(b, ComplexType)):
        return None
    if not (is_number(a) and is_number(b)):
        return None
    return max(filter(None, map(element_of, (a, b))), key=lambda t: t.bits)


def operation(op: str, lhs: Expr, rhs: Expr, t: ComplexType, loc: SourceLoc) -> Expr:
    """`lhs op rhs` in the complex type `t`. Raises for operators that complex numbers lack."""
    if op not in ARITHMETIC and op not in ("==", "!="):
        raise error(
            loc,
            f"operator '{op}' does not apply to '{lhs.type}' and '{rhs.type}'",
            "complex numbers have + - * / == and !=; compare their parts or absolute values",
        )
    result: CType = t if op in ARITHMETIC else INT
    operands = [convert(lhs, t), convert(rhs, t)]
    return ComplexOp(type=result, loc=loc, op=op, operands=operands)


def unary(op: str, operand: Expr, loc: SourceLoc) -> Expr:
    """`+`, `-` and (as in GNU C) `~` for the conjugate."""
    if op == "+":
        return operand
    name = "neg" if op == "-" else "conj"
    return ComplexOp(type=operand.type, loc=loc, op=name, operands=[operand])


def part(name: str, operand: Expr, t: ComplexType, loc: SourceLoc) -> Expr:
    """`creal`, `cimag` or `conj` of a number, as `name` says, computed in `t`."""
    op = PARTS[name]
    result: CType = t if op == "conj" else t.element
    return ComplexOp(type=result, loc=loc, op=op, operands=[convert(operand, t)])


def truth(value: Expr) -> Expr:
    """The int that a condition tests: whether a part is not zero."""
    t = value.type
    assert isinstance(t, ComplexType)
    zero = FloatConst(type=t.element, loc=value.loc, value=0.0)
    nothing = ComplexOp(type=t, loc=value.loc, op="make", operands=[zero, zero])
    return ComplexOp(type=INT, loc=value.loc, op="!=", operands=[value, nothing])


def constant_parts(value: Expr) -> tuple[float, float] | None:
    """The parts of a constant complex number; None if it is not constant."""
    if not isinstance(value, ComplexOp):
        return None
    if value.op == "make":
        re, im = value.operands
        if isinstance(re, FloatConst) and isinstance(im, FloatConst):
            return re.value, im.value
        return None
    parts = [constant_parts(operand) for operand in value.operands]
    numbers = [complex(*p) for p in parts if p is not None]
    if len(numbers) < len(parts) or value.op not in ("+", "-", "*", "neg", "conj", "convert"):
        return None
    match value.op:
        case "+":
            result = numbers[0] + numbers[1]
        case "-":
            result = numbers[0] - numbers[1]
        case "*":
            result = numbers[0] * numbers[1]
        case "neg":
            result = -numbers[0]
        case "conj":
            result = numbers[0].conjugate()
        case _:
            result = numbers[0]
    return result.real, result.imag


def require_repeatable(target: Expr, op: str) -> None:
    """Raises `CompileError` if `target` has side effects, as `target op= value` evaluates it twice."""
    stack: list[object] = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, Call | Assign | CompoundAssign | IncDec | VaArg):
            raise error(
                target.loc,
                f"'{op}=' on a complex number whose address has side effects",
                "compute the subscript or pointer in a statement before",
            )
        if isinstance(node, Expr):
            stack += [v for v in vars(node).values() if isinstance(v, Expr)]
