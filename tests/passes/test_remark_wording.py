"""
What passes write for people decides nothing: code is the same if every pass finds other words in the remarks
of the passes before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.dialects.accx import DATA_REGION, NOTE, REMARKS, WHY
from accopt.dialects.accx_compress import ESTIMATE
from accopt.passes.ir.ops.schedules import schedule_of
from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

ROOT = Path(__file__).parents[2]
GANG_ROWS = Path(__file__).parent / "wording_programs" / "gang_rows.c"
PROGRAMS = [
    GANG_ROWS,
    *(ROOT / "examples" / f"{name}.c" for name in ("matmul", "heat", "histogram", "jacobi")),
    *(ROOT / "benchmarks" / "kernels" / f"{name}.c" for name in ("stencils", "reductions")),
]
PROSE = (WHY, NOTE, DATA_REGION, REMARKS, ESTIMATE)


def _other_words(text: Attribute) -> Attribute:
    """The attribute, with `x` for every text in it that is not the name of a file."""
    match text:
        case StringAttr():
            return StringAttr("x")
        case ArrayAttr():
            return ArrayAttr([_other_words(part) for part in text.data])
        case DictionaryAttr():
            parts = text.data.items()
            return DictionaryAttr({k: v if k == "file" else _other_words(v) for k, v in parts})
        case _:
            return text


def _reword(module: ModuleOp) -> int:
    """Changes all prose in the module; how many texts there were."""
    count = 0
    for op in module.walk():
        for name in PROSE:
            if name in op.attributes:
                op.attributes[name] = _other_words(op.attributes[name])
                count += 1
    return count


def _run(
    path: Path, options: CompileOptions, last: str, after_pass: Callable[[ModuleOp], object]
) -> ModuleOp:
    def run_pass(ctx, module_pass, module: ModuleOp) -> None:
        module_pass.apply(ctx, module)
        after_pass(module)

    module = front_end([path], options, DiagnosticSink())
    run_to_stage(make_context(), module, last, options, run_pass)
    return module


def _options(target: TargetName, q: str) -> CompileOptions:
    return replace(CompileOptions(), target=target, verify=True, defines=(f"Q={q}",))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_wording_of_remarks_decides_nothing(path: Path, target: TargetName):
    options = _options(target, "restrict")
    texts: list[int] = []
    stages = ("llvm",) if target == "host" else ("llvm", "device-llvm")
    plain = _run(path, options, "nvvm", lambda module: None)
    other = _run(path, options, "nvvm", lambda module: texts.append(_reword(module)))
    assert max(texts) > 0
    for stage in stages:
        assert emit_text(plain, stage, options) == emit_text(other, stage, options)


def _shape(path: Path, q: str) -> list[tuple[str, ...]]:
    """Gang loops of the first construct, outermost first, as their dimension of the grid and trip bound."""
    module = _run(path, _options("nvptx", q), "transformed", lambda module: None)
    construct = next(op for op in module.walk() if isinstance(op, acc.ParallelOp))
    loops = [op for op in construct.walk() if isinstance(op, acc.LoopOp) and op.gang]
    sizes = [*construct.num_gangs, *construct.num_workers, *construct.vector_length]
    dims = tuple(str(schedule_of(loop).gang_dim) for loop in loops)
    return [dims, tuple(str(getattr(size.owner, "value", "")) for size in sizes)]


def test_a_gang_clause_holds_with_and_without_a_test_for_overlap():
    """Arrays that may overlap get a note on the loop; that leaves the user's `gang` what it is."""
    assert _shape(GANG_ROWS, "restrict") == _shape(GANG_ROWS, "")
