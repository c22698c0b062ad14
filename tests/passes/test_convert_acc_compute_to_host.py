"""Kernels of the host target, executed and compared with NumPy."""

# ruff: noqa: E501

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.diagnostics import CompileError
from host_harness import HostRun, run_passes

INDEPENDENT = "independent = [#acc.device_type<none>]"


def recipe(operator: str, type: str, *, unsigned: bool = False) -> str:
    compare = "%2 = arith.maxui %0, %1 : i32" if unsigned else ""
    loads = "%0 = llvm.load %a : !llvm.ptr -> i32\n%1 = llvm.load %b : !llvm.ptr -> i32"
    return f"""
acc.reduction.recipe @reduction : !llvm.ptr reduction_operator <{operator}> init {{
^bb0(%a: !llvm.ptr):
  acc.yield %a : !llvm.ptr
}} combiner {{
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  {loads if unsigned else ""}
  {compare}
  acc.yield %a : !llvm.ptr
}}
acc.private.recipe @private : !llvm.ptr init {{
^bb0(%a: !llvm.ptr):
  acc.yield %a : !llvm.ptr
}}
acc.firstprivate.recipe @firstprivate : !llvm.ptr init {{
^bb0(%a: !llvm.ptr):
  acc.yield %a : !llvm.ptr
}} copy {{
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  acc.yield
}}
"""


def function(
    params: str,
    body: str,
    *,
    before: str = "",
    data: str = "%dx",
    clauses: str = "",
    gangs: str = "%c8",
    operator: str = "add",
    unsigned: bool = False,
    bytes: str = "%n64",
    element: str = "f64",
    more: str = "",
) -> str:
    """A module whose function `f(n, x, …)` copies `bytes` bytes of x and runs `body` in a construct."""
    types = ", ".join(["!llvm.ptr"] * len(data.split(",")))
    count = len(gangs.split(","))
    gang_operands = ", ".join(f"{g} : i32" for g in gangs.split(","))
    assert count <= 3
    return (
        recipe(operator, element, unsigned=unsigned)
        + more
        + f"""
llvm.func @f(%n: i32, %x: !llvm.ptr{params}) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  %n64 = arith.extsi %n : i32 to i64
  %b = acc.bounds lowerbound(%l0 : i64) extent({bytes} : i64) stride(%l1 : i64) startIdx(%l0 : i64) {{strideInBytes = true}}
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(i8) bounds(%b) -> !llvm.ptr {{name = "x", dataClause = #acc<data_clause acc_copy>}}
  {before}
  acc.parallel dataOperands({data} : {types}) {clauses if "firstprivate" in clauses else ""} num_gangs({{{gang_operands}}}) num_workers(%c1 : i32) {clauses if clauses.startswith("private") else ""} vector_length(%c1 : i32) {clauses if "reduction" in clauses else ""} {{
    {body}
    acc.yield
  }}
  acc.copyout accPtr(%dx : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(i8) {{name = "x", dataClause = #acc<data_clause acc_copy>}}
  llvm.return
}}
"""
    )


def loop(
    levels: str, body: str, *, variables: str = "i", upper: str = "%n", attrs: str = ""
) -> str:
    """An `acc.loop` over `variables` from 0 to `upper` with step 1."""
    names = variables.split()
    uppers = upper.split() * (len(names) if len(upper.split()) == 1 else 1)
    types = ", ".join(["i32"] * len(names))
    control = ", ".join(f"%{v} : i32" for v in names)
    zeros, ones = ", ".join(["%c0"] * len(names)), ", ".join(["%c1"] * len(names))
    inclusive = ", ".join(["false"] * len(names))
    mode = "seq = [#acc.device_type<none>]" if not levels.split("(")[0].strip() else INDEPENDENT
    return f"""
    acc.loop {levels} control({control}) = ({zeros} : {types}) to ({", ".join(uppers)} : {types}) step ({ones} : {types}) {{
      {body}
      acc.yield
    }} attributes {{{mode}, inclusiveUpperbound = array<i1: {inclusive}>{attrs}}}
"""


def element(pointer: str, index: str, name: str, type: str) -> str:
    """Computes the address `%name` of `pointer[index]`, index an i32."""
    return f"""
      %{name}_index = arith.extsi {index} : i32 to i64
      %{name} = llvm.getelementptr {pointer}[%{name}_index] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
"""


INCREMENT = (
    element("%dx", "%i", "p", "i32")
    + """
      %v = llvm.load %p : !llvm.ptr -> i32
      %w = arith.addi %v, %c1 : i32
      llvm.store %w, %p : i32, !llvm.ptr
"""
)


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


def fixed(size: int) -> dict[str, str]:
    """Options of `function` for an x of `size` bytes."""
    return {"bytes": "%size", "prefix": f"%size = arith.constant {size} : i64"}


def module(body: str, size: int, **options: str | bool) -> str:
    text = function("", body, bytes="%size", **options)  # pyright: ignore[reportArgumentType]
    return text.replace(
        "%b = acc.bounds", f"%size = arith.constant {size} : i64\n  %b = acc.bounds", 1
    )


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
        attrs=", accx.gang_dim = 2 : i32",
    )
    run = HostRun(module(body, 11 * 11 * 4, gangs="%c3,%c2"))
    x = np.zeros(121, dtype=np.int32)
    run.call("f", ctypes.c_int32(11), x)
    assert x.tolist() == [1] * 121
    assert run.log[1][:3] == ("launch", "f_0_host", 6)


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
        recipe("max", "f64"), recipe("max", "f64", unsigned=True)
    )
    run = HostRun(text)
    x = np.zeros(21, dtype=np.uint32)
    x[5] = 3_000_000_000
    run.call("f", ctypes.c_int32(20), x)
    assert x[0] == 3_000_000_000


def test_floating_reductions_do_not_depend_on_how_gangs_run():
    run = HostRun(reduction_module("gang", "add", "f32", "addf", "%c8"))
    x = np.random.default_rng(5).uniform(-1e6, 1e6, 21).astype(np.float32)
    parts = [x[1 + 3 * g : min(1 + 3 * g + 3, 21)] for g in range(8)]
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
