"""Atomics: which updates one instruction does, and the values of all forms when executed."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.diagnostics import CompileError
from host_harness import HostRun, run_passes

TYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}
CTYPES = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def update(operation: str, type: str, *, swap: bool = False) -> str:
    operands = "%e, %old" if swap else "%old, %e"
    return f"""
  acc.atomic.update %x : !llvm.ptr {{
  ^bb0(%old: {type}):
    %new = arith.{operation} {operands} : {type}
    acc.yield %new : {type}
  }}"""


def function(body: str, type: str) -> str:
    return f"""
llvm.func @f(%x: !llvm.ptr, %v: !llvm.ptr, %e: {type}) {{
  {body}
  llvm.return
}}
"""


CASES = [
    ("addi", False, "atomicrmw add"),
    ("subi", False, "atomicrmw sub"),
    ("subi", True, "cmpxchg"),
    ("muli", False, "cmpxchg"),
    ("divsi", False, "cmpxchg"),
    ("divsi", True, "cmpxchg"),
    ("andi", True, "atomicrmw _and"),
    ("ori", False, "atomicrmw _or"),
    ("xori", False, "atomicrmw _xor"),
    ("shli", False, "cmpxchg"),
    ("maxsi", False, "atomicrmw max"),
    ("minui", True, "atomicrmw umin"),
]
FLOAT_CASES = [
    ("addf", False, "atomicrmw fadd"),
    ("subf", False, "atomicrmw fadd"),
    ("subf", True, "cmpxchg"),
    ("mulf", False, "cmpxchg"),
    ("divf", True, "cmpxchg"),
]
_INT = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": lambda a, b: a // b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shli": lambda a, b: a << b,
    "maxsi": max,
    "minui": min,
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
}


@pytest.mark.parametrize(("operation", "swap", "instruction"), CASES + FLOAT_CASES)
@pytest.mark.parametrize("form", ["update", "old", "new"])
def test_update_and_capture(operation: str, swap: bool, instruction: str, form: str):
    type = "f64" if operation.endswith("f") else "i32"
    read = f"acc.atomic.read %v = %x : !llvm.ptr, !llvm.ptr, {type}"
    body = update(operation, type, swap=swap)
    if form == "old":
        body = f"acc.atomic.capture {{\n{read}\n{body}\n}}"
    elif form == "new":
        body = f"acc.atomic.capture {{\n{body}\n{read}\n}}"
    text = function(body, type)
    module = run_passes(text, "lower-acc-atomics")
    assert instruction in str(module)
    assert "acc." not in str(module)
    x, v = np.array([12, 77], dtype=TYPES[type]), np.array([-1], dtype=TYPES[type])
    HostRun(text).call("f", x, v, CTYPES[type](5))
    a, b = (5, 12) if swap else (12, 5)
    expected = _INT[operation](a, b)
    assert x.tolist() == [expected, 77]
    assert v[0] == {"update": -1, "old": 12, "new": expected}[form]


@pytest.mark.parametrize("type", ["i8", "i16", "i64", "f32"])
def test_small_and_large_types(type: str):
    operation = "addf" if type == "f32" else "addi"
    x = np.array([100, 50], dtype=TYPES[type])
    HostRun(function(update(operation, type), type)).call("f", x, x, CTYPES[type](5))
    assert x.tolist() == [105, 50]


@pytest.mark.parametrize("type", ["i8", "i32", "f32", "f64"])
def test_read_write_and_exchange(type: str):
    body = f"""
  acc.atomic.capture {{
    acc.atomic.read %v = %x : !llvm.ptr, !llvm.ptr, {type}
    acc.atomic.write %x = %e : !llvm.ptr, {type}
  }}
"""
    x, v = np.array([3, 9], dtype=TYPES[type]), np.array([0], dtype=TYPES[type])
    HostRun(function(body, type)).call("f", x, v, CTYPES[type](5))
    assert (x.tolist(), v[0]) == ([5, 9], 3)
    body = f"""
  acc.atomic.read %v = %x : !llvm.ptr, !llvm.ptr, {type}
  acc.atomic.write %x = %e : !llvm.ptr, {type}
"""
    HostRun(function(body, type)).call("f", x, v, CTYPES[type](6))
    assert (x.tolist(), v[0]) == ([6, 9], 5)


def test_operand_computed_inside_is_computed_once_before():
    body = """
  acc.atomic.update %x : !llvm.ptr {
  ^bb0(%old: f64):
    %s = arith.mulf %e, %e : f64
    %new = arith.addf %old, %s : f64
    acc.yield %new : f64
  }"""
    module = run_passes(function(body, "f64"), "lower-acc-atomics")
    assert "atomicrmw fadd" in str(module)
    x = np.array([1.0])
    HostRun(function(body, "f64")).call("f", x, x, ctypes.c_double(3))
    assert x[0] == 10


def test_old_value_used_twice_needs_a_loop():
    body = """
  acc.atomic.update %x : !llvm.ptr {
  ^bb0(%old: i32):
    %s = arith.muli %old, %e : i32
    %new = arith.addi %old, %s : i32
    acc.yield %new : i32
  }"""
    assert "cmpxchg" in str(run_passes(function(body, "i32"), "lower-acc-atomics"))
    x = np.array([2], dtype=np.int32)
    HostRun(function(body, "i32")).call("f", x, x, ctypes.c_int32(3))
    assert x[0] == 8


@pytest.mark.parametrize("condition", [0, 1])
def test_condition_selects_the_plain_form(condition: int):
    text = f"""
llvm.func @f(%x: !llvm.ptr, %e: i32, %k: i32) {{
  %z = arith.constant 0 : i32
  %c = arith.cmpi ne, %k, %z : i32
  {update("muli", "i32").replace("update %x", "update if(%c) %x")}
  llvm.return
}}
"""
    x = np.array([7], dtype=np.int32)
    HostRun(text).call("f", x, ctypes.c_int32(3), ctypes.c_int32(condition))
    assert x[0] == 21


def test_long_double_is_refused():
    with pytest.raises(CompileError, match="no atomic operation on values of type f80"):
        run_passes(function(update("addf", "f80"), "f80"), "lower-acc-atomics")
