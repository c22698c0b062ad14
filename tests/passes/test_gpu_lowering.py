"""Decisions visible in lowered kernels: barriers, predication, placement, promises on arguments."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.dialects import llvm_ext, nvvm
from gpu_device import lower
from gpu_ir import Builder
from xdsl.dialects import gpu, llvm, scf
from xdsl.dialects.builtin import ModuleOp

X_AND_N = "%n: i32, %x: !llvm.ptr"


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


def gang_body(workers: int, lanes: int, emit) -> ModuleOp:
    """A gang loop over n whose body `emit` writes, given builder, array and loop variable."""
    b = Builder()
    x = b.data("x", "i32")
    zero, one = b.const(0), b.const(1)
    with b.parallel([x], 4, workers, lanes), b.loop("gang", zero, "%n", one) as (i,):
        emit(b, x, i, zero, one)
    return lower(b.text(X_AND_N))


def store_only(b: Builder, x: str, i: str, zero: str, one: str) -> None:
    b.store(i, x, i, "i32")


def test_nothing_follows_a_store_so_no_barrier() -> None:
    module = gang_body(1, 128, store_only)
    assert count(module, gpu.BarrierOp) == 0
    assert count(module, scf.IfOp) == 1


def test_one_thread_needs_no_predication() -> None:
    assert count(gang_body(1, 1, store_only), scf.IfOp) == 0


def test_read_modify_write_by_all_waits_between_reads_and_the_write() -> None:
    def emit(b: Builder, x: str, i: str, zero: str, one: str) -> None:
        value = b.load(x, i, "i32")
        b.store(b.op("addi", value, one), x, i, "i32")

    assert count(gang_body(1, 128, emit), gpu.BarrierOp) == 1
    warp = gang_body(1, 32, emit)
    assert count(warp, gpu.BarrierOp) == 0
    assert count(warp, nvvm.SyncWarpOp) == 1


def test_stores_in_a_row_share_one_branch() -> None:
    def emit(b: Builder, x: str, i: str, zero: str, one: str) -> None:
        pointer = b.address(x, i, "i32")
        b.store(one, pointer, None, "i32")
        b.store(i, pointer, None, "i32")

    assert count(gang_body(1, 128, emit), scf.IfOp) == 1


def test_vector_loops_in_a_row_wait_for_each_other() -> None:
    def emit(b: Builder, x: str, i: str, zero: str, one: str) -> None:
        for _ in range(2):
            with b.loop("vector", zero, "%n", one) as (j,):
                b.store(j, x, j, "i32")

    assert count(gang_body(1, 128, emit), gpu.BarrierOp) == 1


def test_independent_iterations_of_a_gang_loop_do_not_wait() -> None:
    def emit(b: Builder, x: str, i: str, zero: str, one: str) -> None:
        with b.loop("vector", zero, "%n", one) as (j,):
            b.store(b.load(x, j, "i32"), x, j, "i32")

    assert count(gang_body(1, 128, emit), gpu.BarrierOp) == 0


def test_private_array_of_a_gang_is_reused_after_a_barrier() -> None:
    def emit(b: Builder, x: str, i: str, zero: str, one: str) -> None:
        tmp = b.value(f"llvm.alloca {one} x !llvm.array<64 x i32> : (i32) -> !llvm.ptr")
        with b.loop("vector", zero, "%n", one) as (j,):
            b.store(i, tmp, j, "i32")
        with b.loop("vector", zero, "%n", one) as (j,):
            b.store(b.load(tmp, j, "i32"), x, j, "i32")

    module = gang_body(1, 128, emit)
    assert count(module, gpu.BarrierOp) == 2
    assert [op.addr_space.value.data for op in module.walk() if isinstance(op, llvm.GlobalOp)] == [
        3
    ]


def test_workers_of_several_warps_wait_at_their_own_barrier() -> None:
    b = Builder()
    x = b.data("x", "i32")
    zero, one = b.const(0), b.const(1)
    with b.parallel([x], 4, 4, 64), b.loop("gang worker", zero, "%n", one) as (i,):
        b.store(b.op("addi", b.load(x, i, "i32"), one), x, i, "i32")
    module = lower(b.text(X_AND_N))
    assert count(module, nvvm.BarrierOp) == 1
    assert count(module, gpu.BarrierOp) == 0


def streaming(parameters: str, y: str = "y") -> ModuleOp:
    b = Builder()
    x, out = b.data("x"), b.data(y)
    zero, one = b.const(0), b.const(1)
    with b.parallel([x, out], 4, 1, 128), b.loop("gang vector", zero, "%n", one) as (i,):
        b.store(b.load(x, i, "f32"), out, i, "f32")
    return lower(b.text(parameters))


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("%n: i32, %x: !llvm.ptr, %y: !llvm.ptr", [set(), {"llvm.readonly"}, set()]),
        (
            "%n: i32, %x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}",
            [set(), {"llvm.readonly", "llvm.noalias"}, {"llvm.noalias"}],
        ),
        (
            "%n: i32, %x: !llvm.ptr, %y: !llvm.ptr {llvm.noalias}",
            [set(), {"llvm.readonly"}, {"llvm.noalias"}],
        ),
    ],
)
def test_promises_on_arguments(parameters: str, expected: list[set[str]]) -> None:
    module = streaming(parameters)
    kernel = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    attrs = kernel.attributes["arg_attrs"]
    assert [set(entry.data) for entry in attrs.data] == expected


def grid_sum(gangs: int, **options: object) -> ModuleOp:
    b = Builder()
    x, s = b.data("x"), b.data("s")
    zero, one = b.const(0), b.const(1)
    r = b.reduction(s, "f32", "add")
    with (
        b.parallel([x, s], gangs, 1, 128),
        b.loop("gang vector", zero, "%n", one, reduction=[r]) as (i,),
    ):
        b.add_to(r, b.load(x, i, "f32"), "f32")
    return lower(b.text("%n: i32, %x: !llvm.ptr, %s: !llvm.ptr"), **options)


def test_one_gang_needs_no_scratch_memory() -> None:
    module = grid_sum(1)
    assert count(module, llvm_ext.AtomicRMWOp) == 0
    assert count(module, llvm.CallOp) == 0


def test_strategies_of_a_grid_reduction() -> None:
    last = grid_sum(8)
    assert count(last, nvvm.MemoryBarrierOp) == 2
    assert count(last, llvm.CallOp) == 1
    atomic = grid_sum(8, reduction_strategy="atomic")
    assert count(atomic, nvvm.MemoryBarrierOp) == 0
    assert count(atomic, llvm.CallOp) == 0


def test_interleaving_keeps_a_variable_that_outlives_the_iteration_apart() -> None:
    """Iterations that share a variable must not run side by side: its value would be lost."""
    b = Builder()
    x = b.data("x", "i32")
    zero, one = b.const(0), b.const(1)
    with b.parallel([x], 4, 1, 128):
        t = b.value(f"llvm.alloca {one} x i32 : (i32) -> !llvm.ptr")
        four = "accx.schedule = #accx.schedule<elements = 4>"
        with b.loop("gang vector", zero, "%n", one, attrs=four) as (i,):
            b.store(i, t, None, "i32")
            b.store(b.load(t, None, "i32"), x, i, "i32")
    module = lower(b.text(X_AND_N))
    assert count(module, llvm.StoreOp) == 2


def test_refuses_a_global_without_declare() -> None:
    b = Builder()
    x = b.data("x", "i32")
    with b.parallel([x], 4, 1, 32):
        table = b.value("llvm.mlir.addressof @table : !llvm.ptr")
        b.store(b.load(table, None, "i32"), x, None, "i32")
    with pytest.raises(CompileError, match="global variable 'table'"):
        lower(b.text(X_AND_N, "llvm.mlir.global external @table(1 : i32) : i32"))
