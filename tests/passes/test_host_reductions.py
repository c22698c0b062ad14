# ruff: noqa: E501
"""Reductions on the CPU: every operator and type, over gangs and lanes, of arrays and sections."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from host_harness import HostRun
from host_modules import element, loop, module, recipe

INTEGERS = {
    "add": (np.add, 0), "mul": (np.multiply, 1), "max": (np.maximum, -(2**31)),
    "min": (np.minimum, 2**31 - 1), "iand": (np.bitwise_and, -1), "ior": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}  # fmt: skip
_OPS = {
    "add": "addi", "mul": "muli", "max": "maxsi", "min": "minsi", "iand": "andi", "ior": "ori",
    "xor": "xori",
}  # fmt: skip
_FLOAT_OPS = {"add": "addf", "mul": "mulf", "max": "maxnumf", "min": "minnumf"}


def reduction_module(levels: str, operator: str, type: str, operation: str, gangs: str) -> str:
    """x[0] is reduced with x[1 + i]."""
    body = loop(
        f"{levels} reduction(%r : !llvm.ptr)",
        "%i1 = arith.addi %i, %c1 : i32"
        + element("%dx", "%i1", "p", type)
        + f"""
      %v = llvm.load %p : !llvm.ptr -> {type}
      %s = llvm.load %r : !llvm.ptr -> {type}
      %t = arith.{operation} %s, %v : {type}
      llvm.store %t, %r : {type}, !llvm.ptr
""",
    )
    private = f'%r = acc.reduction varPtr(%dx : !llvm.ptr) varType({type}) recipe(@reduction) -> !llvm.ptr {{name = "s"}}'
    return module(
        private + body, 21 * (8 if type in ("f64", "i64") else 4), operator=operator, gangs=gangs
    )


@pytest.mark.parametrize("operator", sorted(INTEGERS))
@pytest.mark.parametrize("gangs", ["%c8", "%c1"])
def test_integer_reductions_over_gangs(operator: str, gangs: str):
    ufunc, _ = INTEGERS[operator]
    run = HostRun(reduction_module("gang vector", operator, "i32", _OPS[operator], gangs))
    x = np.random.default_rng(3).integers(-50, 50, 21).astype(np.int32)
    expected = ufunc.reduce(x, dtype=np.int32)
    for _ in range(2):  # the scratch memory is used again
        y = x.copy()
        run.call("f", ctypes.c_int32(20), y)
        assert y[0] == expected


@pytest.mark.parametrize("operator", sorted(_FLOAT_OPS))
@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("levels", ["gang", "vector"])
def test_float_reductions(operator: str, type: str, levels: str):
    ufunc, _ = INTEGERS[operator]
    gangs = "%c1" if levels == "vector" else "%c8"
    run = HostRun(reduction_module(levels, operator, type, _FLOAT_OPS[operator], gangs))
    dtype = np.float32 if type == "f32" else np.float64
    x = np.random.default_rng(4).uniform(-2, 2, 21).astype(dtype)
    expected = ufunc.reduce(x)
    run.call("f", ctypes.c_int32(20), x)
    assert x[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("land", [5, 1, 2, 3], 1),
        ("land", [5, 0, 2, 3], 0),
        ("lor", [0, 0, 0, 7], 1),
        ("lor", [0, 0, 0, 0], 0),
    ],
)
def test_logical_reductions(operator: str, values: list[int], expected: int):
    body = loop(
        "gang reduction(%r : !llvm.ptr)",
        "%i1 = arith.addi %i, %c1 : i32"
        + element("%dx", "%i1", "p", "i32")
        + """
      %v = llvm.load %p : !llvm.ptr -> i32
      %s = llvm.load %r : !llvm.ptr -> i32
      %tv = arith.cmpi ne, %v, %c0 : i32
      %ts = arith.cmpi ne, %s, %c0 : i32
      %t = arith.OP %ts, %tv : i1
      %u = arith.extui %t : i1 to i32
      llvm.store %u, %r : i32, !llvm.ptr
""".replace("OP", "andi" if operator == "land" else "ori"),
    )
    private = '%r = acc.reduction varPtr(%dx : !llvm.ptr) varType(i32) recipe(@reduction) -> !llvm.ptr {name = "s"}'
    run = HostRun(module(private + body, 16, operator=operator))
    x = np.array(values, dtype=np.int32)
    run.call("f", ctypes.c_int32(3), x)
    assert x[0] == expected


def test_unsigned_maximum_starts_at_zero():
    text = reduction_module("gang", "max", "i32", "maxui", "%c8").replace(
        recipe("max", "i32"), recipe("max", "i32", unsigned=True)
    )
    run = HostRun(text)
    x = np.zeros(21, dtype=np.uint32)
    x[5] = 3_000_000_000
    run.call("f", ctypes.c_int32(20), x)
    assert x[0] == 3_000_000_000


def test_floating_reductions_do_not_depend_on_how_gangs_run():
    run = HostRun(reduction_module("gang", "add", "f32", "addf", "%c8"))
    x = np.random.default_rng(5).uniform(-1e6, 1e6, 21).astype(np.float32)
    parts = np.array_split(x[1:], 8)
    expected = x[0]
    for part in parts:
        total = np.float32(0)
        for value in part:
            total += value
        expected = np.float32(expected + total)
    run.call("f", ctypes.c_int32(20), x)
    assert x[0] == expected


def test_array_reduction_over_gangs():
    """A histogram: r is an array of four, i64, combined elementwise."""
    body = (
        '%r = acc.reduction varPtr(%dx : !llvm.ptr) varType(!llvm.array<4 x i64>) recipe(@reduction) -> !llvm.ptr {name = "h"}'
        + loop(
            "gang vector reduction(%r : !llvm.ptr)",
            """
      %m = arith.andi %i, %c3 : i32
"""
            + element("%r", "%m", "p", "i64")
            + """
      %v = llvm.load %p : !llvm.ptr -> i64
      %w = arith.addi %v, %l1 : i64
      llvm.store %w, %p : i64, !llvm.ptr
""",
        )
    )
    run = HostRun(module(body, 32))
    x = np.array([100, 200, 300, 400], dtype=np.int64)
    run.call("f", ctypes.c_int32(102), x)
    assert x.tolist() == [126, 226, 325, 425]


@pytest.mark.parametrize("extent", ["%l3", "%n64"])
def test_section_reduction_over_gangs(extent: str):
    """r[1:3] of the array at %dx; with a size known at run time only, gangs fold under a lock."""
    before = f"""
  %l3 = arith.constant 3 : i64
  %l8 = arith.constant 8 : i64
  %rb = acc.bounds lowerbound(%l1 : i64) extent({extent} : i64) stride(%l8 : i64) startIdx(%l0 : i64) {{strideInBytes = true}}
  %r = acc.reduction varPtr(%x : !llvm.ptr) varType(f64) bounds(%rb) recipe(@reduction) -> !llvm.ptr {{name = "x"}}
"""
    body = loop(
        "gang vector reduction(%r : !llvm.ptr)",
        loop(
            "",
            "%j1 = arith.addi %j, %c1 : i32"
            + element("%r", "%j1", "p", "f64")
            + """
      %v = llvm.load %p : !llvm.ptr -> f64
      %d = arith.sitofp %j1 : i32 to f64
      %w = arith.addf %v, %d : f64
      llvm.store %w, %p : f64, !llvm.ptr
""",
            variables="j",
            upper="%c3",
        ),
        upper="%c20",
    ).replace("%c20", "%n")
    run = HostRun(module(body, 40, before=before, clauses=""))
    n = 3
    x = np.array([9.0, 1.0, 2.0, 3.0, 9.0])
    run.call("f", ctypes.c_int32(n), x)
    assert x.tolist() == [9.0, 1.0 + n, 2.0 + 2 * n, 3.0 + 3 * n, 9.0]


def test_reduction_of_the_construct():
    """Every gang adds its private copy once."""
    before = '%r = acc.reduction varPtr(%x : !llvm.ptr) varType(i32) recipe(@reduction) -> !llvm.ptr {name = "x"}'
    body = """
    %v = llvm.load %r : !llvm.ptr -> i32
    %w = arith.addi %v, %c3 : i32
    llvm.store %w, %r : i32, !llvm.ptr
"""
    run = HostRun(module(body, 4, before=before, clauses="reduction(%r : !llvm.ptr)"))
    x = np.array([5], dtype=np.int32)
    run.call("f", ctypes.c_int32(0), x)
    assert x[0] == 5 + 8 * 3
