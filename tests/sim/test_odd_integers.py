"""Integers of three, five, six and seven bytes: their operations, loads and stores, as LLVM has them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from accopt.dialects.layout import size_of
from accopt.runtime.sim import arithmetic
from accopt.runtime.sim.expressions import NAMESPACE, constant, expression
from accopt.runtime.sim.types import dtype_of, odd_bytes
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, f32, i32, i64
from xdsl.dialects.test import TestOp as Opaque
from xdsl.ir import Operation

WIDTHS = (24, 40, 48, 56)
OPERATIONS = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
    arith.MinUIOp: min,
    arith.MaxUIOp: max,
    arith.DivUIOp: lambda a, b: a // max(b, 1),
    arith.ShRUIOp: lambda a, b: a >> b % 8,
    arith.ShLIOp: lambda a, b: a << b % 8,
}


def value(type: IntegerType, number: int) -> Any:
    return constant(IntegerAttr(number, type), type)


def run(op: Operation, *operands: Any) -> Any:
    template = expression(op)
    assert template is not None
    names = {f"v{i}": operand for i, operand in enumerate(operands)}
    with np.errstate(all="ignore"):
        return eval(template.format(*names), {**NAMESPACE, **names})


@pytest.mark.parametrize("width", WIDTHS)
def test_operations_wrap_at_the_width(width: int):
    type, rng = IntegerType(width), random.Random(width)
    op = Opaque(result_types=[type, type])
    for kind, reference in OPERATIONS.items():
        for _ in range(20):
            a, b = rng.getrandbits(width), rng.getrandbits(rng.choice((3, width)))
            if kind is arith.DivUIOp:
                b = b or 1
            if kind in (arith.ShLIOp, arith.ShRUIOp):
                b %= 8
            found = run(kind(*op.results), value(type, a), value(type, b))
            assert int(found) == reference(a, b) % (1 << width), kind.name


@pytest.mark.parametrize("width", WIDTHS)
def test_conversions_and_comparisons(width: int):
    type, rng = IntegerType(width), random.Random(width)
    odd, word = Opaque(result_types=[type, type]), Opaque(result_types=[i64])
    minus = value(type, -1)
    assert int(minus) == (1 << width) - 1
    assert int(run(arith.ExtUIOp(odd.results[0], i64), minus)) == (1 << width) - 1
    for _ in range(20):
        a = rng.getrandbits(64)
        wide = constant(IntegerAttr(a - (a >> 63 << 64), i64), i64)
        assert int(run(arith.TruncIOp(word.results[0], type), wide)) == a % (1 << width)
        x, y = value(type, a % (1 << width)), value(type, rng.getrandbits(width))
        for predicate in ("eq", "ne", "ult", "uge"):
            found = bool(run(arith.CmpiOp(*odd.results, predicate), x, y))
            expected = {"eq": x == y, "ne": x != y, "ult": x < y, "uge": x >= y}[predicate]
            assert found == bool(expected)


def test_what_looks_at_a_sign_is_refused():
    op = Opaque(result_types=[IntegerType(24), IntegerType(24)])
    a, b = op.results
    for refused in (
        arith.CmpiOp(a, b, "slt"),
        arith.DivSIOp(a, b),
        arith.ShRSIOp(a, b),
        arith.MaxSIOp(a, b),
        arith.ExtSIOp(a, i32),
        arith.SIToFPOp(a, f32),
    ):
        assert expression(refused) is None


@pytest.mark.parametrize("width", WIDTHS)
def test_bytes(width: int):
    dtype = dtype_of(IntegerType(width))
    assert dtype is not None and odd_bytes(IntegerType(width)) == width // 8
    assert size_of(IntegerType(width)) == dtype.itemsize
    numbers = np.array([0, 1, (1 << width) - 1, 0x123456 << width - 24], dtype)
    parts = [arithmetic.byte_of(numbers, n) for n in range(width // 8)]
    assert all(part.dtype == np.uint8 for part in parts)
    assert (arithmetic.join_bytes(parts, dtype.type) == numbers).all()
    assert arithmetic.join_bytes([p[2] for p in parts], dtype.type) == numbers[2]


def test_no_other_integer_is_odd():
    assert [w for w in range(1, 129) if odd_bytes(IntegerType(w))] == list(WIDTHS)
    assert odd_bytes(f32) is None
