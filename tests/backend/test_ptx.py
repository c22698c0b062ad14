# ruff: noqa: E501  (LLVM and MLIR lines do not break)
"""Kernels to PTX and machine code: libdevice, address spaces, all compute capabilities."""

from __future__ import annotations

import re
import subprocess

import pytest
from accopt.compiler.backend import ptx as ptx_module
from accopt.compiler.backend.cache import DiskCache
from accopt.compiler.backend.ptx import emit_ptx, ptx_version
from accopt.compiler.backend.ptxas import assemble, parse_resources
from accopt.compiler.backend.toolkit import find_libdevice, find_ptxas
from accopt.compiler.base.capabilities import PTX_VERSIONS
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.llvmir.printer import NVPTX_HEADER
from accopt.passes.decisions.device_functions import MATH_F32, MATH_F64
from accopt.passes.decisions.device_math import Libdevice, device_function

needs_libdevice = pytest.mark.skipif(find_libdevice() is None, reason="no libdevice")
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")

KERNEL = (
    NVPTX_HEADER
    + """
@tile = internal addrspace(3) global [128 x double] poison
define ptx_kernel void @k(ptr noalias readonly %x, ptr noalias %y, i32 %n) convergent "nvvm.reqntid"="128,1,1" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr double, ptr %x, i32 %t
  %v = load double, ptr %p
  %s = getelementptr double, ptr addrspace(3) @tile, i32 %t
  store double %v, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = xor i32 %t, 1
  %u = getelementptr double, ptr addrspace(3) @tile, i32 %r
  %w = load double, ptr addrspace(3) %u
  %old = atomicrmw fadd ptr %y, double %w syncscope("device") monotonic
  ret void
}
"""
)


@pytest.mark.parametrize("sm", sorted(PTX_VERSIONS))
def test_all_compute_capabilities(sm):
    text = emit_ptx(KERNEL, sm=sm)
    version = ptx_version(sm)
    assert f".version {version // 10}.{version % 10}" in text
    assert f".target sm_{sm}" in text
    assert "ld.global.nc" in text, "read-only noalias arguments go through the read-only cache"
    assert "atom.global" in text or "red.global" in text or "red.relaxed.gpu.global" in text
    assert ".reqntid 128" in text


@pytest.mark.parametrize(
    ("sm", "remedy"),
    [
        (72, "ptxas of CUDA 13 starts at 75"),
        (91, "choose one of 75, .*; PTX for 90 also runs on newer GPUs"),
        (101, "this chip is 110 since CUDA 13"),
        (107, "PTX for 103 also runs"),
        (130, "PTX for 121 also runs"),
    ],
)
def test_unknown_compute_capabilities_are_refused(sm, remedy):
    with pytest.raises(CompileError, match=f"sm_{sm}") as caught:
        emit_ptx(KERNEL, sm=sm)
    assert re.search(remedy, caught.value.diagnostics[0].remedy or "")


@needs_ptxas
def test_ptxas_knows_the_same_compute_capabilities():
    tool = find_ptxas()
    assert tool is not None
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    known = {int(number) for number in re.findall(r"'sm_(\d+)'", text)}
    assert set(PTX_VERSIONS) <= known
    assert {sm for sm in known - set(PTX_VERSIONS) if sm < max(PTX_VERSIONS)} <= {107}, (
        "LLVM 22 does not know 107"
    )


@needs_ptxas
@pytest.mark.parametrize("sm", [75, 80, 88, 90, 103, 110, 121])
def test_assembling_measures_kernels(sm):
    result = assemble(emit_ptx(KERNEL, sm=sm), sm)
    assert result is not None and result.cubin[:4] == b"\x7fELF"
    kernel = result.kernels["k"]
    assert kernel.shared == 1024 and kernel.registers > 0 and kernel.spill_stores == 0


@needs_ptxas
def test_ptxas_errors_show_log_and_command():
    text = emit_ptx(KERNEL).replace("ret;", "rett;")
    with pytest.raises(CompileError, match="rett") as caught:
        assemble(text, 90)
    assert "-arch=sm_90" in (caught.value.diagnostics[0].remedy or "")


def test_resources_of_several_kernels():
    log = """ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
    40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 2048 bytes smem, 368 bytes cmem[0]
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Used 10 registers"""
    kernels = parse_resources(log)
    assert (kernels["a"].spill_loads, kernels["a"].constant, kernels["a"].barriers) == (12, 368, 1)
    assert (kernels["b"].registers, kernels["b"].shared) == (10, 0)


def _libdevice_call(name: str, symbol: str, f32: bool) -> tuple[str, str]:
    """Declaration and a calling function, with C's parameters for `name`."""
    real = "float" if f32 else "double"
    base = name.removesuffix("f") if f32 else name
    parameters, result = {
        "sincos": ([real, "ptr", "ptr"], "void"),
        "frexp": ([real, "ptr"], real),
        "modf": ([real, "ptr"], real),
        "remquo": ([real, real, "ptr"], real),
        "nan": (["ptr"], real),
        "jn": (["i32", real], real),
        "yn": (["i32", real], real),
        "ldexp": ([real, "i32"], real),
        "scalbn": ([real, "i32"], real),
        "scalbln": ([real, "i32"], real),
        "ilogb": ([real], "i32"),
        **{n: ([real], "i64") for n in ("llrint", "llround", "lrint", "lround")},
        **{
            n: ([real, real], real)
            for n in ("atan2", "fdim", "fmod", "hypot", "nextafter", "pow", "remainder")
        },
    }.get(base, ([real], real))
    arguments = ", ".join(f"{type} %a{i}" for i, type in enumerate(parameters))
    declaration = f"declare {result} @{symbol}({', '.join(parameters)})"
    call = f"call {result} @{symbol}({arguments})"
    if result == "void":
        body = f"{call}\n  ret void"
    else:
        body = f"%r = {call}\n  store {result} %r, ptr %out\n  ret void"
    return declaration, f"define ptx_kernel void @{name}({arguments}, ptr %out) {{\n  {body}\n}}"


@needs_libdevice
@needs_ptxas
def test_every_mathematical_function_links():
    declarations: set[str] = set()
    kernels: list[str] = []
    for name in sorted(MATH_F64 | MATH_F32):
        found = device_function(name)
        if isinstance(found, Libdevice):
            declaration, kernel = _libdevice_call(name, found.symbol, name not in MATH_F64)
            declarations.add(declaration)
            kernels.append(kernel)
    ir = NVPTX_HEADER + "\n".join(sorted(declarations)) + "\n" + "\n".join(kernels)
    text = emit_ptx(ir, opt_level=1)
    assert ".extern .func" not in text, "all of them are in libdevice"
    assert "__nvvm_reflect" not in text
    result = assemble(text, 90, opt_level=0)
    assert result is not None and len(result.kernels) == len(kernels)


def test_missing_libdevice_names_the_wheel(monkeypatch):
    monkeypatch.setattr(ptx_module, "find_libdevice", lambda: None)
    ir = (
        NVPTX_HEADER
        + """
declare double @__nv_sin(double)
define ptx_kernel void @k(ptr %p) {
  %s = call double @__nv_sin(double 1.0)
  store double %s, ptr %p
  ret void
}"""
    )
    with pytest.raises(CompileError) as caught:
        emit_ptx(ir)
    assert "nvidia-nvvm" in (caught.value.diagnostics[0].remedy or "")


def test_ptx_comes_from_the_cache(tmp_path, monkeypatch):
    cache = DiskCache(tmp_path)
    first = emit_ptx(KERNEL, cache=cache)
    monkeypatch.setattr(ptx_module, "optimize", None)
    assert emit_ptx(KERNEL, cache=cache) == first


def test_unused_tools_are_not_needed(monkeypatch):
    from accopt.compiler.backend import ptxas

    monkeypatch.setattr(ptxas, "find_ptxas", lambda: None)
    assert assemble("", 90) is None


def _switch(cases: int) -> str:
    """A kernel with a switch of so many cases, each with a division of its own."""
    numbers = range(cases)
    blocks = (f"case{i}:\n  %v{i} = udiv i32 %x, {i + 3}\n  br label %end" for i in numbers)
    lines = (
        "define ptx_kernel void @k(ptr addrspace(1) %a, i32 %c, i32 %x) nounwind {",
        f"  switch i32 %c, label %end [{' '.join(f'i32 {i}, label %case{i}' for i in numbers)}]",
        *blocks,
        "end:",
        f"  %r = phi i32 [ 0, %0 ], {', '.join(f'[ %v{i}, %case{i} ]' for i in numbers)}",
        "  store i32 %r, ptr addrspace(1) %a",
        "  ret void\n}",
    )
    return "\n".join(lines)


def test_a_switch_has_no_indirect_branch():
    ptx = emit_ptx(NVPTX_HEADER + _switch(8), sm=90)
    assert "brx.idx" not in ptx
    assert ptx.count("setp") >= 3


PAIR = """
define ptx_kernel void @k(ptr addrspace(1) noalias align 16 %a, ptr addrspace(1) noalias align 16 %b) {
  %a1 = getelementptr inbounds TYPE, ptr addrspace(1) %a, i64 1
  %b1 = getelementptr inbounds TYPE, ptr addrspace(1) %b, i64 1
  %x0 = load TYPE, ptr addrspace(1) %a, align 16
  %x1 = load TYPE, ptr addrspace(1) %a1, align 2
  %y0 = fadd TYPE %x0, %x0
  %y1 = fadd TYPE %x1, %x1
  store TYPE %y0, ptr addrspace(1) %b, align 16
  store TYPE %y1, ptr addrspace(1) %b1, align 2
  ret void
}
"""


def test_narrow_values_are_combined_to_vectors():
    text = NVPTX_HEADER + PAIR.replace("TYPE", "half")
    assert "add.rn.f16x2" in emit_ptx(text, sm=90)


@pytest.mark.parametrize("type", ["float", "double"])
def test_the_search_for_vectors_is_left_out_where_it_finds_none(type, monkeypatch):
    text = NVPTX_HEADER + PAIR.replace("TYPE", type)
    asked: list[bool] = []
    real = ptx_module.optimize

    def watched(*arguments, vectorize: bool, pack: bool) -> None:
        asked.append(vectorize or pack)
        real(*arguments, vectorize=vectorize, pack=pack)

    monkeypatch.setattr(ptx_module, "optimize", watched)
    left_out = emit_ptx(text, sm=90)
    emit_ptx(text, sm=100)
    monkeypatch.setattr(ptx_module, "_may_have_vectors", lambda *_: True)
    assert emit_ptx(text, sm=90) == left_out
    assert asked == [False, True, True]


@pytest.mark.parametrize(
    ("line", "may"),
    [
        (
            "  %p = getelementptr i8, ptr %q, i64 4\n  %r = getelementptr inbounds i8, ptr %p, i64 4",
            False,
        ),
        ("@t = internal addrspace(3) global [64 x i8] poison", False),
        ("  %x = load i8, ptr %p", True),
        ("  %x = trunc i32 %y to i16", True),
        ("  %x = load <2 x bfloat>, ptr %p", True),
    ],
)
def test_bytes_of_addresses_are_no_values(line: str, may: bool):
    assert ptx_module._may_have_vectors(line, 90) is may
