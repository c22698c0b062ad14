"""
Rules for kernels and their launches, as docs/design.md promises them (levels gpu, host, runtime and nvvm);
for their form see `loop_rules.py`. `on_device` tells whether an operation is in the module of device code.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from ...dialects.accx import GPU_MODULE_NAME, KERNEL, SITE, SITES, LaunchHostOp
from ...dialects.layout import is_long_double
from ...dialects.nvvm.address_spaces import ADDRESS_SPACE_SHARED

_HOST_ARGUMENTS = 4
_DEVICE_DIALECTS = frozenset(("arith", "math", "scf", "cf", "llvm", "gpu", "nvvm"))


def device_operation(op: Operation) -> Iterator[str]:
    """Device code consists of arith, math, scf, cf, llvm, gpu and nvvm, without `long double`."""
    dialect = op.name.partition(".")[0]
    if dialect not in _DEVICE_DIALECTS and op.name != "accx.watch":
        yield "operations of this dialect are not allowed in device code"
    for value in op.results:
        if is_long_double(value.type):
            yield "f80 and f128 are not allowed in device code (narrow-long-doubles)"


def host_operation(op: Operation) -> Iterator[str]:
    """Host code launches kernels and contains no operations of device threads."""
    dialect = op.name.partition(".")[0]
    if dialect == "nvvm" or (dialect == "gpu" and not isinstance(op, gpu.LaunchFuncOp)):
        yield "it is allowed only in device code"
    if isinstance(op, llvm.GlobalOp) and op.addr_space.value.data == ADDRESS_SPACE_SHARED:
        yield "shared memory is allowed only in device code"


def gpu_module(op: gpu.ModuleOp) -> Iterator[str]:
    """All device code is in one module."""
    if op.sym_name.data != GPU_MODULE_NAME:
        yield f"device code is in @{GPU_MODULE_NAME}, not @{op.sym_name.data}"


def launch(op: gpu.LaunchFuncOp) -> Iterator[str]:
    """A launch names a kernel, with its arguments, a queue and a site."""
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, gpu.FuncOp) or kernel.kernel is None:
        yield f"{op.kernel} is not a kernel"
    else:
        given = [value.type for value in op.kernelOperands]
        wanted = list(kernel.function_type.inputs)
        if given != wanted:
            yield f"{op.kernel} takes {len(wanted)} arguments of other types than the {len(given)} given"
    if op.asyncObject is None or op.asyncObject.type != i64:
        yield "it has no queue (i64)"
    yield from site(op)


def host_launch(op: LaunchHostOp) -> Iterator[str]:
    """A launch on the host names a kernel, and a site."""
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, llvm.FuncOp) or KERNEL not in kernel.attributes:
        yield f"{op.kernel} is not a kernel"
    yield from site(op)


def host_kernel(op: llvm.FuncOp) -> Iterator[str]:
    """A kernel for the host takes a range of gangs, their number, and pointers to its arguments."""
    if KERNEL not in op.attributes:
        return
    inputs = list(op.function_type.inputs)
    pointer = isinstance(inputs[-1], llvm.LLVMPointerType) if inputs else False
    if len(inputs) != _HOST_ARGUMENTS or inputs[:3] != [i64] * 3 or not pointer:
        yield "a kernel takes (i64, i64, i64, !llvm.ptr)"


def site(op: Operation) -> Iterator[str]:
    """A site is an index into the module's table of sites."""
    number, module = op.attributes.get(SITE), op.parent_op()
    while module is not None and SITES not in module.attributes:
        module = module.parent_op()
    table = module.attributes[SITES] if module is not None else None
    known = len(table.data) if isinstance(table, ArrayAttr) else 0
    if not isinstance(number, IntegerAttr) or not 0 <= number.value.data < known:
        yield f"its site is not an index into the {known} sites of the module"
