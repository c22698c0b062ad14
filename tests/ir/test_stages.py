"""IR of every stage can be printed, parsed back, and taken on to PTX."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.base.phases import recording
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.ir.reading import check_saved, parse_ir
from accopt.compiler.pipeline import run_to_stage, stage_names
from accopt.passes.ir.ops.gpu_pass import GpuPass
from accopt.passes.registry import IDLE_ON_HOST, IDLE_WITHOUT_DIRECTIVES, PASS_CLASSES, load_pass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def module_of(name: str) -> ModuleOp:
    return front_end([EXAMPLES / f"{name}.c"], CompileOptions(), DiagnosticSink())


def parse(text: str) -> ModuleOp:
    return parse_ir(make_context(), text, "saved.mlir", check_saved)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.parametrize("name", ["cg", "jacobi"])
def test_every_stage_round_trips_and_is_legal(name: str, target: TargetName) -> None:
    module = module_of(name)
    options = CompileOptions(target=target, verify=True)
    for stage in stage_names(target):
        run_to_stage(make_context(), module, stage, options)
        text = print_ir(module, debug_info=True)
        again = parse(text)
        assert print_ir(again, debug_info=True) == text
        for before, after in zip(module.walk(), again.walk(), strict=True):
            # What has a default value may be left out.
            common = before.properties.keys() & after.properties.keys()
            assert {k: before.properties[k] for k in common} == {
                k: after.properties[k] for k in common
            }, before.name


NVPTX = CompileOptions(target="nvptx")


@pytest.fixture(scope="module")
def saved() -> tuple[dict[str, str], str]:
    """A program at every stage, and its PTX."""
    module, texts = module_of("jacobi"), dict[str, str]()
    for stage in stage_names("nvptx"):
        run_to_stage(make_context(), module, stage, NVPTX)
        texts[stage] = print_ir(module, debug_info=True)
    return texts, emit_text(module, "ptx", NVPTX)


@pytest.mark.parametrize("stage", stage_names("nvptx"))
def test_saved_ir_continues_to_the_same_ptx(stage: str, saved: tuple[dict[str, str], str]) -> None:
    texts, ptx = saved
    module = parse(texts[stage])
    run_to_stage(make_context(), module, "nvvm", NVPTX)
    assert emit_text(module, "ptx", NVPTX) == ptx


PLAIN = Path(__file__).parents[1] / "irgen" / "programs" / "records.c"


@pytest.mark.parametrize("target", ["nvptx", "host"])
def test_passes_of_constructs_change_no_program_without_directives(target: TargetName) -> None:
    """They are left out, unless somebody looks at each pass, which must see the same."""
    options = CompileOptions(target=target)
    assert "#pragma" not in PLAIN.read_text()
    left_out, run = (front_end([PLAIN], options, DiagnosticSink()) for _ in range(2))
    seen: list[str] = []

    def look(ctx: Context, module_pass: ModulePass, module: ModuleOp) -> None:
        seen.append(module_pass.name)
        module_pass.apply(ctx, module)

    with recording() as phases:
        run_to_stage(make_context(), left_out, "nvvm", options)
    done = {phase.name for _, phase in phases.flat()}
    run_to_stage(make_context(), run, "nvvm", options, look, every_pass=True)
    assert print_ir(left_out, debug_info=True) == print_ir(run, debug_info=True)
    assert "schedule-loops" in seen and "schedule-loops" not in done
    later = seen[seen.index("lower-elements") :]
    assert done.intersection(later) == set(later) - IDLE_WITHOUT_DIRECTIVES


def run_watched(source: Path, *, every_pass: bool) -> tuple[str, list[str]]:
    """A program's IR at the host's last stage, and the passes that ran; idle ones must change nothing."""
    seen: list[str] = []

    def look(ctx: Context, module_pass: ModulePass, module: ModuleOp) -> None:
        seen.append(module_pass.name)
        idle = module_pass.name in IDLE_ON_HOST
        before = print_ir(module, debug_info=True) if idle else ""
        module_pass.apply(ctx, module)
        assert not idle or print_ir(module, debug_info=True) == before

    options = CompileOptions(target="host")
    module = front_end([source], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options, look, every_pass=every_pass)
    return print_ir(module, debug_info=True), seen


def test_passes_for_gpus_are_idle_on_the_host() -> None:
    for_gpus = {name for name in PASS_CLASSES if issubclass(load_pass(name), GpuPass)}
    assert for_gpus and for_gpus <= IDLE_ON_HOST


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sections", "combined", "rows"])
def test_passes_idle_on_the_host_change_nothing_there(name: str) -> None:
    """They are left out, unless somebody looks at each pass; what the others make is the same."""
    source = Path(__file__).parents[1] / "passes" / "programs" / f"{name}.c"
    text, ran = run_watched(source, every_pass=True)
    without, others = run_watched(source, every_pass=False)
    assert IDLE_ON_HOST.issubset(ran) and IDLE_ON_HOST.isdisjoint(others)
    assert without == text
