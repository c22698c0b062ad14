"""Compiles a test program's kernel to PTX, evaluates its launch, and runs it on a GPU."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import numpy as np
from accopt.compiler.backend.ptx import emit_ptx
from accopt.compiler.ir.context import make_context
from accopt.compiler.llvmir import print_llvm_module
from accopt.passes.coarsen_threads import CoarsenThreadsPass
from accopt.passes.convert_acc_compute_to_gpu.convert_acc_compute_to_gpu import (
    ConvertAccComputeToGpuPass,
)
from accopt.passes.registry import load_pass
from gpu_program import Program
from numpy.typing import NDArray
from xdsl.dialects import acc, arith, gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.parser import Parser

_NUMBERS = {
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
_OPERATIONS = {
    "arith.addi": lambda a, b: a + b,
    "arith.muli": lambda a, b: a * b,
    "arith.andi": lambda a, b: a & b,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.divui": lambda a, b: a // b,
    "arith.extsi": lambda a: a,
}


@dataclass(frozen=True)
class Kernel:
    """`args`: ("array", name), ("scratch", bytes) or (type, value)."""

    name: str
    ptx: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: list[tuple[str, str | int | float]]


def lower(text: str, **options: object) -> ModuleOp:
    """The module after coarsen-threads and convert-acc-compute-to-gpu, verified."""
    ctx = make_context()
    module = Parser(ctx, text).parse_module()
    module.verify()
    CoarsenThreadsPass().apply(ctx, module)
    ConvertAccComputeToGpuPass(**options).apply(ctx, module)
    module.verify()
    return module


def device_ptx(module: ModuleOp) -> str:
    """The PTX of the module's kernels, which are removed from the module."""
    device = next(op for op in module.body.ops if isinstance(op, gpu.ModuleOp))
    device.detach()
    kernels = ModuleOp([device])
    for name in ("lower-scf-to-cf", "convert-gpu-to-nvvm", "convert-to-llvm"):
        load_pass(name)().apply(make_context(), kernels)
    return emit_ptx(print_llvm_module(kernels, target="nvptx"), sm=90)


def _evaluate(value: SSAValue, program: Program) -> int | float:
    owner = value.owner
    if isinstance(owner, Block):
        return program.scalars[value.name_hint or ""][1]
    if isinstance(owner, arith.ConstantOp):
        assert isinstance(owner.value, IntegerAttr)
        return owner.value.value.data
    if isinstance(owner, llvm.LoadOp):
        store = next(u.operation for u in owner.ptr.uses if isinstance(u.operation, llvm.StoreOp))
        return _evaluate(store.value, program)
    return _OPERATIONS[owner.name](*(_evaluate(v, program) for v in owner.operands))


def build(program: Program, **options: object) -> Kernel:
    """Lowers a program with the options of convert-acc-compute-to-gpu."""
    module = lower(program.text, **options)
    launch = next(op for op in module.walk() if isinstance(op, gpu.LaunchFuncOp))
    sizes = [int(_evaluate(v, program)) for v in launch.operands[:6]]
    args: list[tuple[str, str | int | float]] = []
    for value in launch.kernelOperands:
        owner = value.owner
        if isinstance(owner, acc.PresentOp):
            assert owner.var_name is not None
            args.append(("array", owner.var_name.data))
        elif isinstance(owner, llvm.CallOp):
            args.append(("scratch", _evaluate(owner.args[1], program)))
        else:
            args.append((str(value.type), _evaluate(value, program)))
    ptx = device_ptx(module)
    match = re.search(r"\.entry (\w+)", ptx)
    assert match is not None
    return Kernel(match[1], ptx, tuple(sizes[:3]), tuple(sizes[3:]), args)


def run(kernel: Kernel, program: Program) -> dict[str, NDArray[np.generic]]:
    """Runs a kernel twice (the second time on fresh data), and returns the arrays."""
    from cuda.bindings import driver

    def check(result):
        assert result[0] == driver.CUresult.CUDA_SUCCESS, result[0]
        return result[1] if len(result) > 1 else None

    check(driver.cuInit(0))
    context = check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))
    check(driver.cuCtxSetCurrent(context))
    module = check(driver.cuModuleLoadData(kernel.ptx.encode() + b"\0"))
    function = check(driver.cuModuleGetFunction(module, kernel.name.encode()))
    device = {
        name: check(driver.cuMemAlloc(max(a.nbytes, 16))) for name, a in program.arrays.items()
    }
    values: list[object] = []
    scratch = None
    for kind, value in kernel.args:
        if kind == "array":
            values.append(ctypes.c_uint64(int(device[value])))
        elif kind == "scratch":
            scratch = check(driver.cuMemAlloc(value))
            check(driver.cuMemsetD8(scratch, 0, value))
            values.append(ctypes.c_uint64(int(scratch)))
        else:
            values.append(_NUMBERS[kind](value))
    pointers = (ctypes.c_void_p * len(values))(
        *[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values]
    )
    for _ in range(2):
        for name, array in program.arrays.items():
            check(driver.cuMemcpyHtoD(device[name], array.ctypes.data, array.nbytes))
        check(
            driver.cuLaunchKernel(
                function, *kernel.grid, *kernel.block, 0, 0, ctypes.addressof(pointers), 0
            )
        )
        check(driver.cuCtxSynchronize())
    out = {name: np.empty_like(array) for name, array in program.arrays.items()}
    for name, array in out.items():
        check(driver.cuMemcpyDtoH(array.ctypes.data, device[name], array.nbytes))
    for pointer in (*device.values(), *([scratch] if scratch is not None else [])):
        check(driver.cuMemFree(pointer))
    check(driver.cuModuleUnload(module))
    return out
