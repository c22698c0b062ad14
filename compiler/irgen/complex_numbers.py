"""
Complex arithmetic → IR: a complex number is a first-class structure of two floats.

Products and quotients are the textbook formulas (C11 G.5.1 without its recovery of infinities, as
under CX_LIMITED_RANGE but with a scaled division).
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ..c import ast as c
from ..c.types import ComplexType
from . import arithmetic
from .function import FunctionState

Parts = tuple[SSAValue, SSAValue]


def rvalue(fn: FunctionState, e: c.ComplexOp) -> SSAValue:
    """The value of an operation on complex numbers."""
    operands = [fn.rvalue(operand) for operand in e.operands]
    fn.b.at(e.loc)
    match e.op:
        case "make":
            return _make(fn, e.type, (operands[0], operands[1]))
        case "real":
            return _parts(fn, e.operands[0], operands[0])[0]
        case "imag":
            return _parts(fn, e.operands[0], operands[0])[1]
        case _:
            parts = [_parts(fn, x, v) for x, v in zip(e.operands, operands, strict=True)]
            return _arithmetic(fn, e, parts)


def _arithmetic(fn: FunctionState, e: c.ComplexOp, parts: list[Parts]) -> SSAValue:
    b = fn.b
    (re, im) = parts[0]
    match e.op:
        case "neg":
            return _make(fn, e.type, (_neg(fn, re), _neg(fn, im)))
        case "conj":
            return _make(fn, e.type, (re, _neg(fn, im)))
        case "convert":
            source, target = e.operands[0].type, e.type
            assert isinstance(source, ComplexType) and isinstance(target, ComplexType)
            to = [arithmetic.convert(b, x, source.element, target.element) for x in (re, im)]
            return _make(fn, target, (to[0], to[1]))
        case "==" | "!=":
            x, y = parts
            predicate = "oeq" if e.op == "==" else "une"
            re_holds = b.value(arith.CmpfOp(x[0], y[0], predicate))
            im_holds = b.value(arith.CmpfOp(x[1], y[1], predicate))
            join = arith.AndIOp if e.op == "==" else arith.OrIOp
            return b.resize(b.value(join(re_holds, im_holds)), i32, signed=False)
        case _:
            return _make(fn, e.type, _combine(fn, e.op, parts[0], parts[1]))


def _combine(fn: FunctionState, op: str, a: Parts, x: Parts) -> Parts:
    def do(
        kind: type[arith.AddfOp | arith.SubfOp | arith.MulfOp | arith.DivfOp],
        left: SSAValue,
        right: SSAValue,
    ) -> SSAValue:
        return fn.b.value(kind(left, right))

    add, sub, mul, div = arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp
    match op:
        case "+":
            return do(add, a[0], x[0]), do(add, a[1], x[1])
        case "-":
            return do(sub, a[0], x[0]), do(sub, a[1], x[1])
        case "*":
            re = do(sub, do(mul, a[0], x[0]), do(mul, a[1], x[1]))
            return re, do(add, do(mul, a[0], x[1]), do(mul, a[1], x[0]))
        case _:
            # Scaled by the divisor's larger part, so that its square does not overflow.
            sizes = [fn.b.value(math.AbsFOp(v)) for v in x]
            scale = fn.b.value(arith.MaxnumfOp(sizes[0], sizes[1]))
            c, d = do(div, x[0], scale), do(div, x[1], scale)
            square = do(mul, do(add, do(mul, c, c), do(mul, d, d)), scale)
            re = do(add, do(mul, a[0], c), do(mul, a[1], d))
            im = do(sub, do(mul, a[1], c), do(mul, a[0], d))
            return do(div, re, square), do(div, im, square)


def _neg(fn: FunctionState, value: SSAValue) -> SSAValue:
    return fn.b.value(arith.NegfOp(value))


def _parts(fn: FunctionState, e: c.Expr, value: SSAValue) -> Parts:
    t = e.type
    assert isinstance(t, ComplexType)
    element = fn.module.types.convert(t.element)
    re, im = (fn.b.part(value, n, element) for n in (0, 1))
    return re, im


def _make(fn: FunctionState, t: object, parts: Parts) -> SSAValue:
    assert isinstance(t, ComplexType)
    value = fn.b.undef(fn.module.types.convert(t))
    for n, part in enumerate(parts):
        value = fn.b.with_part(value, [n], part)
    return value
