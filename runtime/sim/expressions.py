"""
The Python expression for each operation that computes a value from values.

`{0}`, `{1}`… are replaced by the operands; the functions and types in the expressions are those of
`NAMESPACE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation

from ...dialects import llvm_ext
from ...dialects.dense import integers
from . import arithmetic, mathlib
from .types import I128, dtype_of, elements, odd_bytes, sixteen_bytes

NAMESPACE: dict[str, Any] = {
    "np": np,
    "ar": arithmetic,
    "b8": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}

_INTEGER = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "divs": "ar.divs({0}, {1})",
    "divu": "ar.divu({0}, {1})",
    "rems": "ar.rems({0}, {1})",
    "remu": "ar.remu({0}, {1})",
    "shl": "ar.shl({0}, {1})",
    "shru": "ar.shru({0}, {1})",
    "shrs": "ar.shrs({0}, {1})",
    "mins": "np.minimum({0}, {1})",
    "maxs": "np.maximum({0}, {1})",
    "minu": "ar.minu({0}, {1})",
    "maxu": "ar.maxu({0}, {1})",
}

_INTEGER_NAMES = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.divsi": "divs",
    "arith.divui": "divu",
    "arith.remsi": "rems",
    "arith.remui": "remu",
    "arith.shli": "shl",
    "arith.shrui": "shru",
    "arith.shrsi": "shrs",
    "arith.minsi": "mins",
    "arith.maxsi": "maxs",
    "arith.minui": "minu",
    "arith.maxui": "maxu",
    "llvm.add": "add",
    "llvm.sub": "sub",
    "llvm.mul": "mul",
    "llvm.and": "and",
    "llvm.or": "or",
    "llvm.xor": "xor",
    "llvm.sdiv": "divs",
    "llvm.udiv": "divu",
    "llvm.srem": "rems",
    "llvm.urem": "remu",
    "llvm.shl": "shl",
    "llvm.lshr": "shru",
    "llvm.ashr": "shrs",
    "llvm.intr.smin": "mins",
    "llvm.intr.smax": "maxs",
    "llvm.intr.umin": "minu",
    "llvm.intr.umax": "maxu",
}

_ONE_BIT = {
    "add": "{0} ^ {1}",
    "sub": "{0} ^ {1}",
    "mul": "{0} & {1}",
    "minu": "{0} & {1}",
    "maxu": "{0} | {1}",
    "mins": "{0} | {1}",
    "maxs": "{0} & {1}",
}
"""Operations on i1, where -1 is true."""

_UNSIGNED = frozenset(
    ("add", "sub", "mul", "and", "or", "xor", "divu", "remu", "shl", "shru", "minu", "maxu")
)
_TYPELESS = frozenset(("arith.select", "llvm.select", "llvm.freeze", "llvm.intr.expect"))
"""Operations that are possible on integers of an odd number of bytes."""

_SIMPLE = {
    "arith.floordivsi": "ar.floordivs({0}, {1})",
    "arith.ceildivsi": "ar.ceildivs({0}, {1})",
    "arith.ceildivui": "ar.ceildivu({0}, {1})",
    "arith.addf": "{0} + {1}",
    "arith.subf": "{0} - {1}",
    "arith.mulf": "{0} * {1}",
    "arith.divf": "{0} / {1}",
    "arith.remf": "np.fmod({0}, {1})",
    "arith.negf": "-{0}",
    "arith.maxnumf": "np.fmax({0}, {1})",
    "arith.minnumf": "np.fmin({0}, {1})",
    "arith.maximumf": "np.maximum({0}, {1})",
    "arith.minimumf": "np.minimum({0}, {1})",
    "arith.select": "ar.select({0}, {1}, {2})",
    "llvm.fadd": "{0} + {1}",
    "llvm.fsub": "{0} - {1}",
    "llvm.fmul": "{0} * {1}",
    "llvm.fdiv": "{0} / {1}",
    "llvm.frem": "np.fmod({0}, {1})",
    "llvm.fneg": "-{0}",
    "llvm.select": "ar.select({0}, {1}, {2})",
    "llvm.freeze": "{0}",
    "llvm.intr.expect": "{0}",
    "llvm.addrspacecast": "{0}",
    "llvm.intr.maximum": "np.maximum({0}, {1})",
    "llvm.intr.minimum": "np.minimum({0}, {1})",
    "llvm.intr.fmuladd": "{0} * {1} + {2}",
    "llvm.intr.ctpop": "ar.popcount({0})",
    "llvm.intr.ctlz": "ar.ctlz({0})",
    "llvm.intr.cttz": "ar.cttz({0})",
    "llvm.intr.abs": "np.abs({0})",
    "llvm.intr.bswap": "ar.bswap({0})",
    "llvm.intr.bitreverse": "ar.bitreverse({0})",
    "llvm.intr.fshl": "ar.fshl({0}, {1}, {2})",
    "llvm.intr.fshr": "ar.fshr({0}, {1}, {2})",
    "math.ctpop": "ar.popcount({0})",
    "math.ctlz": "ar.ctlz({0})",
    "math.cttz": "ar.cttz({0})",
    "math.absi": "np.abs({0})",
    "math.ipowi": "np.power({0}, {1})",
    "math.roundeven": "np.rint({0})",
    "llvm.intr.roundeven": "np.rint({0})",
}

_MATH_NAMES = {
    "math.absf": "fabs",
    "math.powf": "pow",
    "math.fpowi": "powi",
    "llvm.intr.maxnum": "fmax",
    "llvm.intr.minnum": "fmin",
}

_CONVERSIONS = {
    "arith.extsi": "signed",
    "arith.trunci": "truncate",
    "arith.extui": "unsigned",
    "arith.index_cast": "signed",
    "arith.index_castui": "unsigned",
    "arith.sitofp": "signed",
    "arith.uitofp": "unsigned",
    "arith.fptosi": "float to signed",
    "arith.fptoui": "float to unsigned",
    "arith.extf": "float",
    "arith.truncf": "float",
    "arith.bitcast": "bits",
    "llvm.sext": "signed",
    "llvm.zext": "unsigned",
    "llvm.trunc": "truncate",
    "llvm.sitofp": "signed",
    "llvm.uitofp": "unsigned",
    "llvm.fptosi": "float to signed",
    "llvm.fptoui": "float to unsigned",
    "llvm.fpext": "float",
    "llvm.fptrunc": "float",
    "llvm.bitcast": "bits",
    "llvm.ptrtoint": "truncate",
    "llvm.inttoptr": "unsigned",
}

_COMPARE_INTEGERS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_COMPARE_FLOATS = (
    "ar.select({0} == {0}, b8(False), b8(False))",
    "{0} == {1}",
    "{0} > {1}",
    "{0} >= {1}",
    "{0} < {1}",
    "{0} <= {1}",
    "({0} < {1}) | ({0} > {1})",
    "({0} == {0}) & ({1} == {1})",
    "~(({0} < {1}) | ({0} > {1}))",
    "~({0} <= {1})",
    "~({0} < {1})",
    "~({0} >= {1})",
    "~({0} > {1})",
    "{0} != {1}",
    "({0} != {0}) | ({1} != {1})",
    "ar.select({0} == {0}, b8(True), b8(True))",
)
"""Comparisons by MLIR's predicate number, which is the same in `arith` and `llvm`; unordered ones are true
for NaN."""


def type_name(type: Attribute) -> str | None:
    """The name in `NAMESPACE` of a scalar type's NumPy type."""
    dtype = dtype_of(type)
    return None if dtype is None else f"{dtype.kind}{dtype.itemsize * 8}"


def _kept(template: str | None, type: Attribute) -> str | None:
    """`template`, with bits removed that an integer of an odd number of bytes does not have."""
    size = odd_bytes(type)
    return template if template is None or size is None else f"({template}) & {(1 << 8 * size) - 1}"


def _convert(how: str, source: Attribute, target: Attribute) -> str | None:
    odd = odd_bytes(source), odd_bytes(target)
    if (odd[0] and how not in ("unsigned", "truncate")) or (odd[1] and how.startswith("float")):
        return None
    return _kept(_conversion(how, source, target), target)


def _conversion(how: str, source: Attribute, target: Attribute) -> str | None:
    to = type_name(target)
    frm = type_name(source)
    if to is None or frm is None:
        return None
    if to == frm and how in ("signed", "unsigned", "truncate", "float", "bits"):
        return "{0}"
    if how == "bits":
        return f"ar.bitcast({{0}}, {to})"
    if to == "b8" and not how.startswith("float"):
        return "ar.to_bool({0})"
    if how == "float to signed":
        return f"ar.fptosi({{0}}, {to})" if to != "b8" else "{0} != 0"
    if how == "float to unsigned":
        return f"ar.fptoui({{0}}, {to})" if to != "b8" else "{0} != 0"
    if how == "signed" and frm == "b8":
        return f"ar.extend_bool_signed({{0}}, {to})"
    if how == "unsigned" and frm != "b8":
        return f"ar.ext_unsigned({{0}}, {to})"
    return f"{{0}}.astype({to})"


def _compare(op: Operation, predicate: int) -> str | None:
    type = op.operands[0].type
    name = type_name(type)
    if name is None:
        return None
    if odd_bytes(type) and 2 <= predicate < 6:
        return None
    sign = _COMPARE_INTEGERS[predicate]
    if predicate >= 6:
        return f"ar.unsigned({{0}}) {sign} ar.unsigned({{1}})"
    if name == "b8" and predicate >= 2:
        return f"ar.extend_bool_signed({{0}}, i8) {sign} ar.extend_bool_signed({{1}}, i8)"
    return f"{{0}} {sign} {{1}}"


def _math(op: Operation) -> str | None:
    name = _MATH_NAMES.get(op.name)
    if name is None:
        prefix = "math." if op.name.startswith("math.") else "llvm.intr."
        if not op.name.startswith(prefix):
            return None
        name = op.name.removeprefix(prefix)
    if mathlib.math_function(name) is None:
        return None
    arguments = ", ".join(f"{{{i}}}" for i in range(len(op.operands)))
    return f"math_function({name!r})({arguments})"


def expression(op: Operation) -> str | None:
    """The template for an operation; None if it does more than compute values."""
    name = op.name
    if (kind := _INTEGER_NAMES.get(name)) is not None:
        type = op.operands[0].type
        if isinstance(type, IntegerType) and type.width.data == 1 and kind in _ONE_BIT:
            return _ONE_BIT[kind]
        if odd_bytes(type) and kind not in _UNSIGNED:
            return None
        return _kept(_INTEGER[kind], type) if type_name(type) is not None else None
    if (template := _SIMPLE.get(name)) is not None:
        odd = name not in _TYPELESS and any(odd_bytes(v.type) for v in op.operands)
        return None if odd else template
    if (how := _CONVERSIONS.get(name)) is not None:
        return _convert(how, op.operands[0].type, op.results[0].type)
    match op:
        case arith.CmpiOp() | llvm.ICmpOp():
            return _compare(op, cast("IntegerAttr", op.predicate).value.data)
        case arith.CmpfOp() | llvm.FCmpOp():
            return _COMPARE_FLOATS[cast("IntegerAttr", op.predicate).value.data]
        case llvm_ext.IsFPClassOp():
            mask = cast("IntegerAttr", op.properties["bit"]).value.data
            return f"ar.fpclass({{0}}, {mask})"
        case llvm.ExtractValueOp():
            return "{0}" + "".join(f"[{i}]" for i in integers(op.position))
        case llvm.InsertValueOp():
            return _insert(integers(op.position))
        case _:
            return _math(op)


def _insert(position: Sequence[int], base: str = "{0}") -> str:
    if not position:
        return "{1}"
    index, *rest = position
    inner = _insert(rest, f"{base}[{index}]")
    return f"({base}[:{index}] + ({inner},) + {base}[{index + 1}:])"


def zero(type: Attribute) -> Any:
    """The zero of a type as a value."""
    parts = elements(type)
    if parts is not None:
        return tuple(zero(part) for part, _ in parts)
    if type == I128:
        return sixteen_bytes(0)
    dtype = dtype_of(type)
    if dtype is None:
        raise ValueError(f"the simulator does not support values of type {type}")
    return dtype.type(0)


def constant(value: Attribute, type: Attribute) -> Any:
    """A constant attribute as a value."""
    dtype = dtype_of(type)
    match value:
        case IntegerAttr() if type == I128:
            return sixteen_bytes(value.value.data)
        case IntegerAttr() if dtype is not None:
            number = value.value.data
            if (size := odd_bytes(type)) is not None:
                number &= (1 << 8 * size) - 1
            return (
                dtype.type(number & 1)
                if dtype.kind == "b"
                else arithmetic.const_like(number, dtype)
            )
        case FloatAttr() if dtype is not None:
            with np.errstate(all="ignore"):
                return dtype.type(value.value.data)
        case DenseIntOrFPElementsAttr():
            parts = elements(type)
            values = list(value.get_values())
            if parts is not None and len(parts) == len(values):
                return tuple(
                    arithmetic.const_like(v, dtype_of(part))
                    for v, (part, _) in zip(values, parts, strict=True)
                )
            raise ValueError(f"the simulator does not support constants like {value}")
        case _:
            raise ValueError(f"the simulator does not support constants like {value}")
