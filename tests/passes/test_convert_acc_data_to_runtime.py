"""Runtime calls: what the runtime is asked to do when host code runs."""

# ruff: noqa: E501

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag
from accopt.compiler.base.diagnostics import CompileError
from host_harness import HostRun, run_passes

PRELUDE = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  %l2 = arith.constant 2 : i64
  %l4 = arith.constant 4 : i64
  %l8 = arith.constant 8 : i64
  %l80 = arith.constant 80 : i64
  %n64 = arith.extsi %n : i32 to i64
  %cond = arith.cmpi ne, %k, %c0 : i32
"""
BOUNDS = "%b = acc.bounds lowerbound(%l2 : i64) extent(%n64 : i64) stride(%l4 : i64) startIdx(%l0 : i64) {strideInBytes = true}"


def clause(name: str, var: str = "x", *, extra: str = "", bounds: str = "bounds(%b)") -> str:
    return f'%{var}_dev = acc.{name} varPtr(%{var} : !llvm.ptr) varType(i32) {bounds} -> !llvm.ptr {{name = "{var}"{extra}}}'


def leave(name: str, var: str = "x", *, extra: str = "") -> str:
    to = (
        f" to varPtr(%{var} : !llvm.ptr) varType(i32)" if name in ("copyout", "update_host") else ""
    )
    return f'acc.{name} accPtr(%{var}_dev : !llvm.ptr) bounds(%b){to} {{name = "{var}"{extra}}}'


def run(body: str, *, n: int = 5, k: int = 1, x: Any = None) -> HostRun:
    text = f"llvm.func @f(%n: i32, %k: i32, %x: !llvm.ptr, %y: !llvm.ptr) {{{PRELUDE}{BOUNDS}\n{body}\nllvm.return\n}}"
    host = HostRun(text)
    array = np.arange(100, dtype=np.int32) if x is None else x
    host.call("f", ctypes.c_int32(n), ctypes.c_int32(k), array, array)
    return host


@pytest.mark.parametrize(
    ("entry", "exit", "kind"),
    [
        ("copyin", "copyout", "COPY"),
        ("copyin", "delete", "COPYIN"),
        ("create", "copyout", "COPYOUT"),
        ("create", "delete", "CREATE"),
        ("present", "delete", "PRESENT"),
        ("nocreate", "delete", "NO_CREATE"),
        ("attach", "detach", "ATTACH"),
        ("deviceptr", None, "DEVICEPTR"),
    ],
)
def test_clauses_of_a_data_construct(entry: str, exit: str | None, kind: str):
    """The region's code runs between one enter and one exit with the same record."""
    body = f"""
  {clause(entry)}
  acc.data dataOperands(%x_dev : !llvm.ptr) {{
    acc.wait
    acc.terminator
  }}
  {"" if exit is None else leave(exit)}
"""
    host = run(body)
    assert [entry[0] for entry in host.log] == ["enter", "wait", "exit"]
    (name, size) = host.log[0][3][0]
    assert (name, size) == (kind, 20)
    record = host.records[0]
    assert (record.offset, record.bytes, record.var, record.pointer) == (8, 20, 0, 0)
    site = host.sites[host.log[0][1]]
    assert (site.kind, site.function, site.variables[0].name) == ("data", "f", "x")
    assert (site.variables[0].type, site.variables[0].element_bytes) == ("i32", 4)


def test_several_clauses_share_one_call_and_modifiers_become_flags():
    body = f"""
  {clause("copyin", extra=", dataClause = #acc<data_clause acc_copyin_readonly>, modifiers = #acc<data_clause_modifier alwaysin>")}
  {clause("create", "y", extra=", dataClause = #acc<data_clause acc_copyout_zero>, implicit = true")}
  acc.data async(%k : i32) dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) {{
    acc.terminator
  }}
  {leave("copyout", "y", extra=", modifiers = #acc<data_clause_modifier alwaysout>")}
  {leave("delete")}
"""
    host = run(body, k=3)
    assert [(e[0], e[2]) for e in host.log] == [("enter", 3), ("exit", 3)]
    assert [k for k, _ in host.log[0][3]] == ["COPYIN", "COPYOUT"]
    x, y = host.records
    assert x.flags == DataFlag.READONLY | DataFlag.ALWAYS_IN
    assert y.flags == DataFlag.ZERO | DataFlag.IMPLICIT | DataFlag.ALWAYS_OUT
    assert (x.var, y.var) == (0, 1)


@pytest.mark.parametrize("k", [0, 1])
def test_false_if_skips_the_data_actions_but_not_the_region(k: int):
    body = f"""
  {clause("copyin")}
  acc.data if(%cond) dataOperands(%x_dev : !llvm.ptr) {{
    acc.wait(%k : i32) async
    acc.terminator
  }}
  {leave("delete")}
"""
    host = run(body, k=k)
    expected = ["enter", "wait", "exit"] if k else ["wait"]
    assert [e[0] for e in host.log] == expected
    assert ("wait", [k], -1) in host.log


def test_records_of_a_region_in_a_loop_do_not_use_up_the_stack():
    body = f"""
  %many = arith.constant 300000 : i32
  scf.for %i = %c0 to %many step %c1 : i32 {{
    {clause("nocreate")}
    acc.data dataOperands(%x_dev : !llvm.ptr) wait({{%k : i32}}) {{
      acc.terminator
    }}
    {leave("delete")}
  }}
"""
    text = run_passes(
        f"llvm.func @f(%n: i32, %k: i32, %x: !llvm.ptr) {{{PRELUDE}{BOUNDS}{body}\nllvm.return\n}}",
        "convert-acc-data-to-runtime",
    )
    function = next(op for op in text.body.block.ops if str(op.properties.get("sym_name")) == '"f"')
    allocas = [op for op in function.walk() if op.name == "llvm.alloca"]
    entry = function.regions[0].blocks[0]
    assert allocas and all(op.parent_block() is entry for op in allocas)


def test_enter_and_exit_data():
    body = f"""
  {clause("copyin", extra=", structured = false")}
  acc.enter_data async(%k : i32) wait(%n : i32) dataOperands(%x_dev : !llvm.ptr)
  %y_dev = acc.getdeviceptr varPtr(%y : !llvm.ptr) varType(i32) bounds(%b) -> !llvm.ptr {{name = "y", dataClause = #acc<data_clause acc_copyout>, structured = false}}
  acc.exit_data if(%cond) dataOperands(%y_dev : !llvm.ptr) attributes {{finalize}}
  {leave("copyout", "y", extra=", structured = false")}
"""
    host = run(body, k=2)
    assert host.log[0] == ("wait", [5], 2)
    assert host.log[1][:1] + host.log[1][2:] == ("enter", 2, [("COPYIN", 20)])
    assert host.records[0].flags == DataFlag.DYNAMIC
    assert host.log[2][0] == "exit" and host.log[2][2:] == (-2, ["COPYOUT"])
    assert [s.kind for s in host.sites] == ["wait", "enter data", "exit data"]


def test_update_of_a_block_describes_its_shape():
    """a[2:n][1:2] of rows of ten doubles, both directions."""
    bounds = """
  %b0 = acc.bounds lowerbound(%l2 : i64) extent(%n64 : i64) stride(%l80 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %b1 = acc.bounds lowerbound(%l1 : i64) extent(%l2 : i64) stride(%l8 : i64) startIdx(%l0 : i64) {strideInBytes = true}
"""
    both = "bounds(%b0, %b1)"
    body = f"""{bounds}
  %x_dev = acc.update_device varPtr(%x : !llvm.ptr) varType(!llvm.array<10 x f64>) {both} -> !llvm.ptr {{name = "x"}}
  %y_dev = acc.getdeviceptr varPtr(%y : !llvm.ptr) varType(i32) bounds(%b) -> !llvm.ptr {{name = "y"}}
  acc.update dataOperands(%x_dev, %y_dev : !llvm.ptr, !llvm.ptr) attributes {{ifPresent}}
  {leave("update_host", "y")}
"""
    host = run(body)
    (what, _, queue, kinds, shapes) = host.log[0]
    assert (what, queue, kinds) == ("update", -2, ["UPDATE_DEVICE", "UPDATE_SELF"])
    assert shapes == [[2, 5, 80, 1, 2, 8], []]
    assert (host.records[0].offset, host.records[0].bytes) == (168, 4 * 80 + 16)
    assert host.records[0].flags == DataFlag.IF_PRESENT


def test_non_contiguous_section_in_a_data_clause_is_refused():
    body = """
  %b0 = acc.bounds lowerbound(%l2 : i64) extent(%n64 : i64) stride(%l80 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %b1 = acc.bounds lowerbound(%l1 : i64) extent(%l2 : i64) stride(%l8 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(!llvm.array<10 x f64>) bounds(%b0, %b1) -> !llvm.ptr {name = "x"}
  acc.enter_data dataOperands(%x_dev : !llvm.ptr)
"""
    text = f"llvm.func @f(%n: i32, %k: i32, %x: !llvm.ptr) {{{PRELUDE}{body}\nllvm.return\n}}"
    with pytest.raises(CompileError, match="section of 'x' is not contiguous"):
        run_passes(text, "convert-acc-data-to-runtime")


def test_rows_of_run_time_length_are_contiguous_when_they_are_whole():
    """a[0:n][0:m] of double a[n][m]: the row's size in bytes is visibly m * 8."""
    body = """
  %m64 = arith.extsi %k : i32 to i64
  %row = arith.muli %m64, %l8 : i64
  %b0 = acc.bounds lowerbound(%l1 : i64) extent(%n64 : i64) stride(%row : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %b1 = acc.bounds lowerbound(%l0 : i64) extent(%m64 : i64) stride(%l8 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %x_dev = acc.create varPtr(%x : !llvm.ptr) varType(f64) bounds(%b0, %b1) -> !llvm.ptr {name = "x"}
  acc.enter_data dataOperands(%x_dev : !llvm.ptr)
"""
    host = run(body, n=5, k=3)
    record = host.records[0]
    assert (record.offset, record.bytes, record.dims) == (24, 120, 0)


def test_host_data_gives_device_addresses():
    body = """
  %x_dev = acc.use_device varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.host_data if(%cond) dataOperands(%x_dev : !llvm.ptr) {
    llvm.store %k, %x_dev : i32, !llvm.ptr
    acc.terminator
  } attributes {ifPresent}
"""
    for k in (1, 0):
        x = np.full(100, 9, dtype=np.int32)
        host = run(body, k=k, x=x)
        assert x[0] == k  # the harness leaves `device` at the host address
        assert len(host.log) == k


def test_device_directives():
    body = """
  acc.init attributes {device_types = [#acc.device_type<nvidia>]}
  acc.shutdown device_num(%k : i32) if(%cond)
  acc.set default_async(%n : i32)
  acc.set device_num(%k : i32) attributes {device_type = #acc.device_type<host>}
  acc.wait(%k, %n : i32, i32)
  acc.wait async(%n : i32)
"""
    host = run(body, n=5, k=1)
    assert host.log == [
        ("device", 0, 5, -1),
        ("device", 1, -1, 1),
        ("device", 3, -1, 5),
        ("device", 2, 2, 1),
        ("wait", [1, 5], -2),
        ("wait", [], 5),
    ]


def test_gpu_launch_passes_shape_and_arguments():
    text = f"""
builtin.module attributes {{gpu.container_module}} {{
llvm.func @f(%n: i32, %x: !llvm.ptr) {{
  %k = arith.constant 1 : i32
  {PRELUDE}
  {BOUNDS}
  {clause("copyin")}
  %q = arith.constant 4 : i64
  %c128 = arith.constant 128 : i32
  "gpu.launch_func"(%n, %c1, %c1, %c128, %c1, %c1, %x_dev, %n, %q) <{{kernel = @accopt_kernels::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 1>}}> : (i32, i32, i32, i32, i32, i32, !llvm.ptr, i32, i64) -> ()
  {leave("delete")}
  llvm.return
}}
}}
"""
    module = run_passes(text, "convert-acc-data-to-runtime")
    printed = str(module)
    assert "gpu." not in printed.replace("gpu.container_module", "")
    order = [
        name
        for name in printed.split()
        if name.startswith("@__accopt") and "(" in name and "%" in name
    ]
    assert [name.split("(")[0] for name in order] == [
        "@__accopt_data_enter",
        "@__accopt_launch",
        "@__accopt_data_exit",
    ]
    assert 'kernel = "k", arg_bytes = [8 : i64, 4 : i64]' in printed
