"""The site table's form in the IR, and sizes of types against ctypes."""

from __future__ import annotations

import ctypes

import pytest
from accopt.compiler.base.abi import DataKind
from accopt.compiler.base.diagnostics import SourceLoc
from accopt.passes.ir.kernels.sites import DeclaredVariable, SiteTable, SiteVariable
from accopt.passes.ir.ops.layout import Elements, elements_of, layout_of, size_of, type_name
from accopt.runtime.sites import Site as RuntimeSite
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float80Type, ModuleOp, f32, f64, i8, i16, i32, i64

CTYPES = {i8: ctypes.c_int8, i16: ctypes.c_int16, i32: ctypes.c_int32, i64: ctypes.c_int64,
          f32: ctypes.c_float, f64: ctypes.c_double, Float80Type(): ctypes.c_longdouble,
          llvm.LLVMPointerType(): ctypes.c_void_p}  # fmt: skip


def struct(*types):
    return llvm.LLVMStructType.from_type_list(list(types))


@pytest.mark.parametrize("members", [
    (i8, i32), (i32, i8), (i8, f64, i8), (f32, Float80Type(), i16), (i8, llvm.LLVMPointerType()),
    (i64, i8, i16, i32, i8),
])  # fmt: skip
def test_structures_are_laid_out_as_in_c(members):
    fields = [(f"m{i}", CTYPES[t]) for i, t in enumerate(members)]
    reference = type("Reference", (ctypes.Structure,), {"_fields_": fields})
    layout = layout_of(struct(*members))
    assert (layout.size, layout.align) == (ctypes.sizeof(reference), ctypes.alignment(reference))
    offsets = [run.offset for run in elements_of(struct(*members))]
    assert offsets == [getattr(reference, name).offset for name, _ in fields]


def test_elements_of_nested_arrays_are_one_run():
    rows = llvm.LLVMArrayType(3, llvm.LLVMArrayType(5, f32))
    assert elements_of(rows) == [Elements(f32, 0, 15, 4)]
    assert size_of(rows) == 60


def test_elements_of_an_array_of_structures_are_a_run_per_member():
    points = llvm.LLVMArrayType(4, struct(f64, i32))
    assert elements_of(points) == [Elements(f64, 0, 4, 16), Elements(i32, 8, 4, 16)]
    inner = llvm.LLVMArrayType(2, struct(i32, llvm.LLVMArrayType(3, i32)))
    assert elements_of(inner) == [
        Elements(i32, 0, 2, 16), Elements(i32, 4, 3, 4), Elements(i32, 20, 3, 4),
    ]  # fmt: skip


def test_types_without_a_size():
    with pytest.raises(TypeError):
        layout_of(llvm.LLVMVoidType())
    assert type_name(llvm.LLVMArrayType(4, f32)) == "f32"
    assert type_name(llvm.LLVMPointerType()) == "ptr"


def test_site_table_survives_the_ir():
    module = ModuleOp([])
    table = SiteTable.of(module)
    loc = SourceLoc("a.c", 7, 3)
    variable = SiteVariable("x", "f32", 4)
    declared = DeclaredVariable("g", "g.acc_device", 16, DataKind.COPYIN)
    assert table.add("data", loc, "f", [variable]) == 0
    assert table.add("launch", loc.to_attr(), "f", kernel="k", arg_bytes=[8, 4]) == 1
    assert table.add("declare", loc, "", declared=[declared]) == 2
    table.set_arg_bytes(1, (8,))
    table.store(module)
    again = SiteTable.of(module)
    assert again.sites == table.sites
    assert again.sites[1].arg_bytes == (8,)
    assert again.add("wait", loc, "f") == 3
    again.sites.clear()
    again.store(module)
    assert "accx.sites" not in module.attributes


def test_the_runtime_reads_what_the_passes_write():
    fields = {
        "kind": "declare",
        "file": "a.c",
        "line": 1,
        "declare": [["g", "g.acc_device", 16, 1]],
    }
    (declared,) = RuntimeSite.from_dict(fields).declared
    assert (declared.host_symbol, declared.bytes, declared.kind) == ("g", 16, DataKind.COPYIN)
