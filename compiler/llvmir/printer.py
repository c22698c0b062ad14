"""Whole modules as LLVM IR text: `print_llvm_module`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from xdsl.dialects import acc, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import FuncOp, GlobalOp
from xdsl.ir import Operation

from ...dialects.nvvm import ADDRESS_SPACE_SHARED
from ..base.diagnostics import SourceLoc, error
from .constants import InitializerEvaluator, attribute_text, zero_text
from .functions import VISIBILITIES, Declarations, FunctionPrinter
from .metadata import LineTables, Metadata
from .symbols import SymbolText
from .types import TypePrinter, identifier

NVPTX_HEADER = """\
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""

_UNNAMED_ADDR = ("", "local_unnamed_addr ", "unnamed_addr ")


def _symbols(module: ModuleOp, *, on_gpu: bool) -> Iterator[Operation]:
    """
    The globals and functions of the host, or with `on_gpu` those in the module's `gpu.module`s (the
    module's own if it has none).
    """
    gpu_modules = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
    if on_gpu and gpu_modules:
        for gpu_module in gpu_modules:
            yield from gpu_module.body.ops
    else:
        yield from (op for op in module.ops if not isinstance(op, gpu.ModuleOp))


def _global(op: GlobalOp, types: TypePrinter, *, on_gpu: bool) -> str:
    linkage = op.linkage.linkage.data
    space = op.addr_space.value.data
    if op.body.blocks:
        value = InitializerEvaluator(types).evaluate(op.body)
    elif op.value is not None:
        value = attribute_text(op.value, op.global_type, types)
    elif linkage in ("external", "extern_weak"):
        value = ""
    elif space == ADDRESS_SPACE_SHARED:
        value = "poison"
    else:
        value = zero_text(op.global_type)
    words = "" if linkage == "external" and value else f"{linkage} "
    if on_gpu and value and linkage == "external":
        words = "internal "
    if op.visibility_ is not None:
        words += VISIBILITIES[op.visibility_.value.data]
    words += "dso_local " if op.dso_local is not None and linkage != "extern_weak" else ""
    words += "thread_local " if op.thread_local_ is not None else ""
    words += _UNNAMED_ADDR[op.unnamed_addr.value.data] if op.unnamed_addr is not None else ""
    words += f"addrspace({space}) " if space else ""
    words += "constant" if op.constant is not None else "global"
    type = types(op.global_type)
    if on_gpu and type == "half":  # LLVM's NVPTX backend cannot print such a constant
        type, value = "i16", _bits_text(value)
    out = f"@{identifier(op.sym_name.data)} = {words} {type}"
    out += f" {value}" if value else ""
    out += f', section "{op.section.data}"' if op.section is not None else ""
    out += f", align {op.alignment.value.data}" if op.alignment is not None else ""
    return out


def _bits_text(half: str) -> str:
    """The constant of type `half` as one of its bits; other texts unchanged."""
    return str(int(half[3:], 16)) if half.startswith("0xH") else half


def module_flag(*, flush_denormals: bool) -> str:
    """The module flag by which libdevice selects its treatment of denormals."""
    return f'!{{i32 4, !"nvvm-reflect-ftz", i32 {int(flush_denormals)}}}'


class _Printed:
    """The printed texts of symbols, with the types and metadata that they name."""

    def __init__(self) -> None:
        self.types, self.metadata = TypePrinter(), Metadata()
        self.globals_: list[str] = []
        self.bodies: list[str] = []

    def symbol(self, op: Operation, functions: FunctionPrinter, *, on_gpu: bool) -> None:
        """Appends the text of a symbol, a function by `functions`, which writes to `bodies`."""
        if isinstance(op, FuncOp):
            functions.function(op)
        elif isinstance(op, GlobalOp):
            self.globals_.append(_global(op, self.types, on_gpu=on_gpu))
        else:
            raise error(
                SourceLoc.from_attr(op.location),
                f"'{op.name}' has no LLVM IR form at the top level of a module",
                "a global variable with acc.declare = #acc.declare<dataClause = …> needs no constructor"
                if isinstance(op, acc.GlobalConstructorOp | acc.GlobalDestructorOp)
                else None,
            )


def print_symbols(
    module: ModuleOp,
    *,
    target: Literal["host", "nvptx"],
    contract: bool,
    contract_sequential: bool,
    relaxed: bool,
    flush_denormals: bool,
) -> list[SymbolText]:
    """
    The symbols of the host's or the GPU's part of `module` as separate texts, in the order of
    `print_llvm_module`, without line tables.
    """
    on_gpu = target == "nvptx"
    symbols = list(_symbols(module, on_gpu=on_gpu))
    names = {op.sym_name.data for op in symbols if isinstance(op, FuncOp)}
    out: list[SymbolText] = []
    for op in symbols:
        printed, declarations = _Printed(), Declarations(names)
        functions = FunctionPrinter(
            printed.bodies,
            printed.types,
            printed.metadata,
            declarations,
            gpu=on_gpu,
            contract=contract,
            contract_sequential=contract_sequential,
            relaxed=relaxed,
            flush_denormals=on_gpu and flush_denormals,
            lines=None,
        )
        printed.symbol(op, functions, on_gpu=on_gpu)
        out.append(
            SymbolText(
                getattr(op, "sym_name").data,  # noqa: B009
                "\n".join(printed.bodies or printed.globals_),
                isinstance(op, FuncOp),
                tuple(printed.types.definitions.items()),
                tuple(declarations.lines),
                printed.metadata.nodes(),
            )
        )
    return out


def print_llvm_module(
    module: ModuleOp,
    *,
    target: Literal["host", "nvptx"],
    contract: bool = True,
    contract_sequential: bool = True,
    relaxed: bool = False,
    flush_denormals: bool = False,
    debug_lines: bool = False,
) -> str:
    """
    The LLVM IR text of the host's or the GPU's part of `module`, which holds `llvm` and `nvvm`
    operations only.

    `contract` lets multiplications and additions fuse, in host code outside of compute constructs only with
    `contract_sequential` too; `relaxed` allows reassociation, reciprocals
    and approximate functions (`--fast-math`); `flush_denormals` lets GPU code treat f32
    denormals as zero: `.ftz` instructions and libdevice's variants; `debug_lines` adds line tables.
    Functions that are called but not declared get a declaration. Raises `CompileError` naming an
    operation or type that has no LLVM form.
    """
    on_gpu = target == "nvptx"
    printed = _Printed()
    symbols = list(_symbols(module, on_gpu=on_gpu))
    declarations = Declarations({op.sym_name.data for op in symbols if isinstance(op, FuncOp)})
    types, metadata = printed.types, printed.metadata
    functions = FunctionPrinter(
        printed.bodies,
        types,
        metadata,
        declarations,
        gpu=on_gpu,
        contract=contract,
        contract_sequential=contract_sequential,
        relaxed=relaxed,
        flush_denormals=on_gpu and flush_denormals,
        lines=LineTables(metadata, directives_only=on_gpu) if debug_lines else None,
    )
    for op in symbols:
        first = len(printed.bodies)
        printed.symbol(op, functions, on_gpu=on_gpu)
        # One string for a function: one for each line takes three times the memory.
        printed.bodies[first:] = (
            ["\n".join(printed.bodies[first:])] if printed.bodies[first:] else []
        )
    if on_gpu:
        flag = metadata.node(module_flag(flush_denormals=flush_denormals))
        metadata.named.setdefault("llvm.module.flags", []).append(flag)
    sections = [
        NVPTX_HEADER if on_gpu else "",
        "\n".join(f"{name} = type {body}" for name, body in types.definitions.items()),
        "\n".join(printed.globals_),
        "\n".join(declarations.lines),
        "\n".join(printed.bodies),
        metadata.text(),
    ]
    return "\n".join(section for section in sections if section) + "\n"
