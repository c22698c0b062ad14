"""Compiles C text to the acc-level module, for the tests of IR generation."""

from __future__ import annotations

from pathlib import Path

from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.irgen import generate_module
from xdsl.dialects.builtin import ModuleOp


def generate(tmp_path: Path, *sources: str, sink: DiagnosticSink | None = None) -> ModuleOp:
    """The module of a program whose files have these texts."""
    paths: list[Path] = []
    for i, text in enumerate(sources):
        paths.append(tmp_path / f"unit{i}.c")
        paths[-1].write_text(text)
    sink = sink or DiagnosticSink()
    return generate_module(load_program(paths, None, sink), sink)


def ir_of(tmp_path: Path, *sources: str) -> str:
    """The verified module as text."""
    module = generate(tmp_path, *sources)
    module.verify()
    return print_ir(module)
