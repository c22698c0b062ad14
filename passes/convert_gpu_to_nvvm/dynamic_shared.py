"""
Dynamic shared memory: a kernel may declare 48 KiB, and be launched with as much as the GPU has (CUDA C++
Programming Guide, 7.7 "Shared Memory").

The memory added at the launch is one array without a size, which starts after the declared variables;
variables marked `accx.dynamic` are at offsets in it.
"""

from __future__ import annotations

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, i8

from ...dialects import nvvm
from ...dialects.accx import DYNAMIC
from ..ir.ops.building import Cursor, erase, put_first

NAME = "accopt_dynamic_shared"
ALIGNMENT = 16


def place_dynamic_tiles(module: gpu.ModuleOp) -> None:
    """
    Replaces the variables of a `gpu.module` that are marked `accx.dynamic` by their addresses in dynamic
    shared memory.
    """
    offsets: dict[str, int] = {}
    for op in list(module.body.block.ops):
        if isinstance(op, llvm.GlobalOp) and isinstance(
            at := op.attributes.get(DYNAMIC), IntegerAttr
        ):
            offsets[op.sym_name.data] = at.value.data
            erase(op)
    if not offsets:
        return
    array = llvm.GlobalOp(
        llvm.LLVMArrayType(0, i8),
        NAME,
        "external",
        nvvm.ADDRESS_SPACE_SHARED,
        alignment=ALIGNMENT,
    )
    array.location = module.location
    put_first(module.body.block, array)
    for op in list(module.walk()):
        if not isinstance(op, llvm.AddressOfOp):
            continue
        offset = offsets.get(op.global_name.string_value())
        if offset is None:
            continue
        cursor, result = Cursor.before(op), op.result
        start = cursor.value(llvm.AddressOfOp(NAME, result.type), NAME)
        place = cursor.value(
            llvm.GEPOp(start, [offset], i8, result_type=result.type, inbounds=True),
            result.name_hint,
        )
        result.replace_all_uses_with(place)
        erase(op)
