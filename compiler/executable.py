"""
From sources to an executable: LLVM IR for the host, PTX for the device, and the site table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute

from ..dialects.accx import SITES
from .diagnostics import DiagnosticSink
from .emit import emit_text
from .options import CompileOptions
from .pipeline import StageCallback, run_to_stage

PlainValue: TypeAlias = "str | int | list[PlainValue] | dict[str, PlainValue]"


@dataclass(frozen=True)
class Executable:
    """
    A compiled program, ready for `Program`: `host_ir` is LLVM IR text, `ptx` the device code (empty
    on the host target or without constructs), `sites` the site table as plain dictionaries.
    """

    host_ir: str
    ptx: str
    sites: tuple[dict[str, Any], ...]
    options: CompileOptions


def _plain(attr: Attribute) -> PlainValue:
    """An attribute of the site table as a plain Python value."""
    match attr:
        case StringAttr():
            return attr.data
        case IntegerAttr():
            return attr.value.data
        case SymbolRefAttr():
            return attr.string_value()
        case ArrayAttr():
            return [_plain(a) for a in attr.data]
        case DenseArrayBase():
            return [int(v) for v in attr.get_values()]
        case DictionaryAttr():
            return {k: _plain(v) for k, v in attr.data.items()}
        case _:
            raise TypeError(f"{attr} cannot stand in the site table")


def site_table(module: ModuleOp) -> tuple[dict[str, Any], ...]:
    """The module attribute `accx.sites` as plain dictionaries."""
    attr = module.attributes.get(SITES)
    if attr is None:
        return ()
    table = _plain(attr)
    assert isinstance(table, list)
    return tuple(entry for entry in table if isinstance(entry, dict))


def front_end(paths: Sequence[Path], options: CompileOptions, sink: DiagnosticSink) -> ModuleOp:
    """The acc-level module of the C files of one program. Raises `CompileError`."""
    from .c.preprocess import PreprocessOptions
    from .c.program import load_program
    from .irgen import generate_module

    preprocess_options = PreprocessOptions(
        options.include_dirs, options.defines, options.undefines, options.use_system_cpp
    )
    return generate_module(load_program(paths, preprocess_options, sink), sink)


def build(
    paths: Sequence[Path],
    options: CompileOptions,
    sink: DiagnosticSink,
    after_stage: StageCallback | None = None,
) -> Executable:
    """
    Compiles the C files of one program.

    Raises `CompileError` for what is wrong with the program; warnings and remarks go to `sink`.
    """
    from .ir.context import make_context

    module = front_end(paths, options, sink)
    run_to_stage(make_context(), module, "nvvm", options, after_stage=after_stage)
    ptx = emit_text(module, "ptx", options) if options.target == "nvptx" else ""
    return Executable(emit_text(module, "llvm", options), ptx, site_table(module), options)
