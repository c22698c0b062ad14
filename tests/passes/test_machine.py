"""What a module is compiled for, as an attribute."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.reading import parse_ir
from accopt.compiler.pipeline import machine_for
from accopt.dialects.accx_machine import FLAGS
from accopt.passes.ir.ops.machine import Machine, machine_of, set_machine
from xdsl.dialects.builtin import ModuleOp

MACHINES = [
    Machine(),
    Machine("host", fast_math=True),
    Machine("nvptx", 90, simulated=True, check_cache=True),
    *(replace(Machine("nvptx", 80), **{flag: True}) for flag in FLAGS),
]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_it_is_kept_in_saved_ir(machine: Machine) -> None:
    module = ModuleOp([])
    assert machine_of(module) == Machine()
    set_machine(module, machine)
    assert machine_of(parse_ir(make_context(), str(module), "m.mlir")) == machine


@pytest.mark.parametrize("text", ["amd, 90", "nvptx, 90, quick", "nvptx, 90, fast_math, simulated"])
def test_what_passes_do_not_know_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match=r"accx\.machine: expected"):
        parse_ir(
            make_context(), f"module attributes {{accx.machine = #accx.machine<{text}>}} {{}}", "m"
        )


def test_options_that_passes_need() -> None:
    options = CompileOptions(
        target="sim", sm=80, fast_math=True, check_cache=True, sizes="as-written"
    )
    assert machine_for(options) == Machine("nvptx", 80, True, True, True, True)
    assert machine_for(CompileOptions(target="host")) == Machine("host")
    assert Machine("nvptx", 80).has_redux and not Machine("nvptx", 75).has_redux
