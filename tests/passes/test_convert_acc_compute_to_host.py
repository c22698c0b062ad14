# ruff: noqa: E501
"""Kernels of the host target, executed and compared with NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.diagnostics import CompileError
from host_harness import HostRun, run_passes
from host_modules import INCREMENT, element, function, loop, module


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("levels", ["gang", "gang vector", "gang worker vector"])
def test_every_iteration_of_a_gang_loop_runs_once(n: int, levels: str):
    run = HostRun(
        function("", loop(levels, INCREMENT), bytes="%bytes", before="", more="").replace(
            "%b = acc.bounds",
            "%l4 = arith.constant 4 : i64\n  %bytes = arith.muli %n64, %l4 : i64\n  %b = acc.bounds",
        )
    )
    x = np.arange(n, dtype=np.int32)
    run.call("f", ctypes.c_int32(n), x)
    np.testing.assert_array_equal(x, np.arange(n) + 1)


def test_code_outside_loops_runs_in_every_gang():
    """Each gang adds one to a counter of its own: an atomic increment counts the gangs."""
    body = """
    acc.atomic.update %dx : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.addi %old, %c1 : i32
      acc.yield %new : i32
    }
""" + loop(
        "gang",
        "%q = llvm.getelementptr %dx[1] : (!llvm.ptr) -> !llvm.ptr, i32\n"
        + """
    acc.atomic.update %q : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.addi %old, %i : i32
      acc.yield %new : i32
    }
""",
    )
    run = HostRun(module(body, 8))
    x = np.zeros(2, dtype=np.int32)
    run.call("f", ctypes.c_int32(20), x)
    assert x.tolist() == [8, sum(range(20))]


@pytest.mark.parametrize("n", [0, 1, 5, 13])
def test_collapsed_gang_loops_cover_the_space_once(n: int):
    body = loop(
        "gang",
        """
      %t = arith.muli %i, %n : i32
      %t2 = arith.addi %t, %j : i32
      %t3 = arith.muli %t2, %c3 : i32
      %k2 = arith.addi %t3, %k : i32
"""
        + INCREMENT.replace("%i :", "%k2 :"),
        variables="i j k",
        upper="%n %n %c3",
    )
    run = HostRun(module(body, max(n * n * 12, 4)))
    x = np.arange(max(n * n * 3, 1), dtype=np.int32)
    run.call("f", ctypes.c_int32(n), x)
    np.testing.assert_array_equal(x[: n * n * 3], np.arange(n * n * 3) + 1)


def test_tiled_loops_cover_the_space_once():
    inner = """
      %t = arith.muli %i, %n : i32
      %k2 = arith.addi %t, %j : i32
""" + INCREMENT.replace("%i :", "%k2 :")
    for levels in ("gang tile({%c3 : i32, %c8 : i32})", "tile({%c2 : i32, %c3 : i32})"):
        if levels.startswith("gang"):
            text, gangs = loop(levels, inner, variables="i j"), "%c8"
        else:
            text, gangs = loop("vector " + levels, inner, variables="i j"), "%c1"
        run = HostRun(module(text, 17 * 17 * 4, gangs=gangs))
        x = np.arange(17 * 17, dtype=np.int32)
        run.call("f", ctypes.c_int32(17), x)
        np.testing.assert_array_equal(x, np.arange(17 * 17) + 1, levels)


def test_gang_dimensions():
    """Dimension 2 around dimension 1: every pair once, however many gangs."""
    body = loop(
        "gang",
        loop(
            "gang",
            """
      %t = arith.muli %i, %n : i32
      %k2 = arith.addi %t, %j : i32
"""
            + INCREMENT.replace("%i :", "%k2 :"),
            variables="j",
        ),
        attrs=", accx.schedule = #accx.schedule<gang_dim = 2>",
    )
    run = HostRun(module(body, 11 * 11 * 4, gangs="%c3,%c2"))
    x = np.zeros(121, dtype=np.int32)
    run.call("f", ctypes.c_int32(11), x)
    assert x.tolist() == [1] * 121
    assert run.log[1][:3] == ("launch", "f_host", 6)


def test_private_array_of_a_loop_and_of_the_construct():
    """Private arrays of constant and of run-time size: every gang and iteration has its own."""
    before = """
  %a = llvm.alloca %c8 x i32 : (i32) -> !llvm.ptr
  %l4 = arith.constant 4 : i64
  %pb = acc.bounds lowerbound(%l0 : i64) extent(%n64 : i64) stride(%l4 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %g = acc.private varPtr(%a : !llvm.ptr) varType(i32) bounds(%pb) recipe(@private) -> !llvm.ptr {name = "a"}
"""
    fill = loop(
        "", element("%g", "%k", "pg", "i32") + "llvm.store %k, %pg : i32, !llvm.ptr", variables="k"
    )
    body = (
        fill
        + """
    %p4 = acc.private varPtr(%a_null : !llvm.ptr) varType(!llvm.array<4 x i32>) recipe(@private) -> !llvm.ptr {name = "t"}
""".replace("%a_null", "%dx")
        + loop(
            "gang private(%p4 : !llvm.ptr)",
            """
      llvm.store %i, %p4 : i32, !llvm.ptr
      %same = llvm.load %p4 : !llvm.ptr -> i32
"""
            + element("%g", "%same", "q", "i32")
            + """
      %from_gang = llvm.load %q : !llvm.ptr -> i32
"""
            + element("%dx", "%i", "p", "i32")
            + """
      llvm.store %from_gang, %p : i32, !llvm.ptr
""",
        )
    )
    run = HostRun(module(body, 400, before=before, clauses="private(%g : !llvm.ptr)"))
    x = np.full(100, -1, dtype=np.int32)
    run.call("f", ctypes.c_int32(100), x)
    np.testing.assert_array_equal(x, np.arange(100))


def test_firstprivate_starts_afresh_in_every_gang():
    """A scalar by value and an array by a device copy; gangs change both."""
    before = """
  %s = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  llvm.store %c8, %s : i32, !llvm.ptr
  %fs = acc.firstprivate varPtr(%s : !llvm.ptr) varType(i32) recipe(@firstprivate) -> !llvm.ptr {name = "s"}
  %a = llvm.alloca %c1 x !llvm.array<2 x i32> : (i32) -> !llvm.ptr
  llvm.store %c3, %a : i32, !llvm.ptr
  %fa = acc.firstprivate varPtr(%a : !llvm.ptr) varType(!llvm.array<2 x i32>) recipe(@firstprivate) -> !llvm.ptr {name = "a"}
"""
    body = """
    %v = llvm.load %fs : !llvm.ptr -> i32
    %w = arith.addi %v, %c1 : i32
    llvm.store %w, %fs : i32, !llvm.ptr
    %va = llvm.load %fa : !llvm.ptr -> i32
    %wa = arith.addi %va, %w : i32
    llvm.store %wa, %fa : i32, !llvm.ptr
""" + loop(
        "gang",
        element("%dx", "%i", "p", "i32")
        + """
      %u = llvm.load %fa : !llvm.ptr -> i32
      llvm.store %u, %p : i32, !llvm.ptr
""",
    )
    run = HostRun(
        module(body, 64, before=before, clauses="firstprivate(%fs, %fa : !llvm.ptr, !llvm.ptr)")
    )
    x = np.zeros(16, dtype=np.int32)
    run.call("f", ctypes.c_int32(16), x)
    assert x.tolist() == [12] * 16


def test_routine_with_a_gang_loop_and_declared_global():
    """The device copy of a routine shares out its gang loop, and sees the device's global."""
    more = (
        """
llvm.mlir.global @factor(7 : i32) {acc.declare = #acc.declare<dataClause = acc_copyin>} : i32
acc.routine @r0 func(@work) gang
llvm.func @work(%x: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = llvm.mlir.addressof @factor : !llvm.ptr
"""
        + loop(
            "gang",
            element("%x", "%i", "p", "i32")
            + """
      %v = llvm.load %p : !llvm.ptr -> i32
      %f = llvm.load %g : !llvm.ptr -> i32
      %w = arith.addi %v, %f : i32
      llvm.store %w, %p : i32, !llvm.ptr
""",
        )
        + """
  llvm.return
}
"""
    )
    body = "llvm.call @work(%dx, %n) : (!llvm.ptr, i32) -> ()"
    run = HostRun(module(body, 400, more=more))
    ctypes.c_int32.from_address(run.program.address("factor.acc_device")).value = 5
    x = np.zeros(100, dtype=np.int32)
    run.call("f", ctypes.c_int32(100), x)
    assert x.tolist() == [5] * 100
    run.call("work", x, ctypes.c_int32(100))
    assert x.tolist() == [12] * 100
    (site,) = [s for s in run.sites if s.kind == "declare"]
    assert [(d.host, d.device, d.bytes) for d in site.declared] == [
        ("factor", "factor.acc_device", 4)
    ]


def test_global_without_declare_is_refused():
    more = """
llvm.mlir.global @factor(7 : i32) : i32
llvm.func @work(%x: !llvm.ptr) {
  %g = llvm.mlir.addressof @factor : !llvm.ptr
  %f = llvm.load %g : !llvm.ptr -> i32
  llvm.store %f, %x : i32, !llvm.ptr
  llvm.return
}
"""
    text = module("llvm.call @work(%dx) : (!llvm.ptr) -> ()", 4, more=more)
    with pytest.raises(CompileError, match="global variable 'factor'"):
        run_passes(text, "convert-acc-compute-to-host")


def test_section_computed_in_the_construct():
    """The place of a section reduced over gangs comes from a value the construct is given."""
    body = """
    %l8 = arith.constant 8 : i64
    %place = arith.extsi %c2 : i32 to i64
    %twice = arith.addi %place, %l1 : i64
    %rb = acc.bounds lowerbound(%twice : i64) extent(%l1 : i64) stride(%l8 : i64) startIdx(%l0 : i64) {strideInBytes = true}
    %r = acc.reduction varPtr(%dx : !llvm.ptr) varType(f64) bounds(%rb) recipe(@reduction) -> !llvm.ptr {name = "x"}
""" + loop(
        "gang reduction(%r : !llvm.ptr)",
        """
      %p = llvm.getelementptr %r[%twice] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %d = arith.sitofp %i : i32 to f64
      %w = arith.addf %v, %d : f64
      llvm.store %w, %p : f64, !llvm.ptr
""",
    )
    run = HostRun(module(body, 40))
    x = np.array([1.0, 1.0, 1.0, 7.0, 1.0])
    run.call("f", ctypes.c_int32(20), x)
    assert x.tolist() == [1.0, 1.0, 1.0, 7.0 + 190, 1.0]
