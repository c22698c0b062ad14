"""
The corpus in `programs/`: its IR verifies, survives printing and parsing, and is upstream's too. The `.out`
files were written by gcc -O0; the programs must print the same when run.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.irgen import generate_module
from tools import commands
from xdsl.parser import Parser

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))
MLIR_OPT = shutil.which("mlir-opt-22")

# mlir-opt 22 crashes on an acc data operation on a pointer to pointers (xDSL leaves out varType).
UPSTREAM_CRASHES = {"acc_programs"}


@pytest.fixture(params=PROGRAMS, ids=lambda p: p.stem)
def program(request: pytest.FixtureRequest) -> Path:
    return request.param


def _text(program: Path) -> str:
    sink = DiagnosticSink()
    module = generate_module(load_program([program], None, sink), sink)
    module.verify()
    return print_ir(module)


def test_round_trip(program: Path):
    text = _text(program)
    again = Parser(make_context(), text).parse_module()
    again.verify()
    assert print_ir(again) == text


@pytest.mark.skipif(MLIR_OPT is None, reason="needs mlir-opt-22")
def test_upstream_parses(program: Path):
    if program.stem in UPSTREAM_CRASHES:
        pytest.skip("mlir-opt 22 crashes on pointers to pointers in data clauses")
    assert MLIR_OPT is not None
    result = subprocess.run(
        [MLIR_OPT, "-o", "/dev/null"], input=_text(program), capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[:2000]


@pytest.mark.sampled(2)
def test_output(program: Path):
    expected = program.with_suffix(".out")
    if not expected.exists():
        pytest.skip("compiled only")
    command = ["accrun", "--target", "host", str(program)]
    result = commands.run(command, timeout=120)
    printed = f"{result.stdout}exit {result.returncode}\n"
    assert printed == expected.read_text(), result.stderr


def test_every_operation_has_a_location(program: Path):
    """Only what no C text stands for (recipes, constants of reductions) may lack one."""
    from xdsl.dialects.builtin import FileLineColLoc

    sink = DiagnosticSink()
    module = generate_module(load_program([program], None, sink), sink)
    for top in module.body.ops:
        if top.name.endswith(".recipe") or top.name == "llvm.mlir.global":
            continue
        for op in top.walk():
            assert isinstance(op.location, FileLineColLoc), op
            assert op.location.line.data > 0, op
