"""IR of every stage can be printed, parsed back, and taken on to PTX; the stage checker finds intruders."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.ir.stages import check_stage
from accopt.compiler.pipeline import run_to_stage, stage_names
from accopt.dialects.accx import CACHE_BLOCKS, CONDITIONAL
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i32
from xdsl.parser import Parser

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def module_of(name: str) -> ModuleOp:
    return front_end([EXAMPLES / f"{name}.c"], CompileOptions(), DiagnosticSink())


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.parametrize("name", ["cg", "jacobi"])
def test_every_stage_round_trips_and_is_legal(name: str, target: TargetName) -> None:
    module = module_of(name)
    options = CompileOptions(target=target, verify=True)
    for stage in stage_names(target):
        run_to_stage(make_context(), module, stage, options)
        text = print_ir(module, debug_info=True)
        assert print_ir(parse(text), debug_info=True) == text


@pytest.mark.parametrize("stage", stage_names("nvptx"))
def test_saved_ir_continues_to_the_same_ptx(stage: str) -> None:
    options = CompileOptions(target="nvptx")
    module = module_of("jacobi")
    run_to_stage(make_context(), module, stage, options)
    saved = parse(print_ir(module, debug_info=True))
    for copy in (module, saved):
        run_to_stage(make_context(), copy, "nvvm", options)
    assert emit_text(saved, "ptx", options) == emit_text(module, "ptx", options)


def test_an_illegal_operation_is_named() -> None:
    module = ModuleOp([test.TestOp(result_types=[i32])])
    with pytest.raises(CompileError, match=r"'test\.op' is not legal at stage 'data'"):
        check_stage(module, "data")


def test_high_level_operations_are_gone_at_the_end() -> None:
    module = ModuleOp([arith.ConstantOp.from_int_and_width(1, 32)])
    check_stage(module, "acc")
    with pytest.raises(CompileError, match=r"arith\.constant.*not legal at stage 'nvvm'"):
        check_stage(module, "nvvm")


@pytest.mark.parametrize("name", [CACHE_BLOCKS, CONDITIONAL])
def test_a_mark_of_loops_elsewhere_is_named(name: str) -> None:
    constant = arith.ConstantOp.from_int_and_width(1, i32)
    constant.attributes[name] = UnitAttr()
    with pytest.raises(CompileError, match=f"'{name}' is a mark of acc.loop"):
        check_stage(ModuleOp([constant]), "scheduled")


def _sizes(gangs: str, workers: str, lanes: str) -> str:
    return (
        "llvm.func @f(%n: i32) { acc.parallel"
        f" {gangs and f'num_gangs({{{gangs}}})'} {workers and f'num_workers({workers})'}"
        f" {lanes and f'vector_length({lanes})'} {{ acc.yield }} llvm.return }}"
    )


PROMISES = {
    ("scheduled", "0 values of num_gangs"): _sizes("", "%n : i32", "%n : i32"),
    ("scheduled", "0 values of num_workers"): _sizes("%n : i32", "", "%n : i32"),
    ("transformed", "0 values of vector_length"): _sizes("%n : i32", "%n : i32", ""),
    ("transformed", "removed by lower-acc-atomics"): (
        "llvm.func @f(%p: !llvm.ptr, %n: i32) {"
        " acc.atomic.write %p = %n : !llvm.ptr, i32 llvm.return }"
    ),
    ("data", "it names no recipe"): (
        "llvm.func @f(%p: !llvm.ptr) {"
        " %x = acc.private varPtr(%p : !llvm.ptr) varType(i32) -> !llvm.ptr llvm.return }"
    ),
}


@pytest.mark.parametrize(("stage", "why"), PROMISES)
def test_a_broken_promise_of_a_level_is_named(stage: str, why: str) -> None:
    with pytest.raises(CompileError, match=why):
        check_stage(parse(PROMISES[stage, why]), stage)


@pytest.mark.parametrize("gangs", ["%n : i32", "%n : i32, %n : i32, %n : i32"])
def test_sizes_of_a_launch(gangs: str) -> None:
    check_stage(parse(_sizes(gangs, "%n : i32", "%n : i32")), "scheduled")
