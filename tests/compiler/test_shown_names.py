"""Names shown to users are those of the C program, whatever values and symbols are called in IR."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.names import c_name, ptx_name, value_name
from accopt.compiler.c.program import load_program
from accopt.compiler.ir.context import make_context
from accopt.compiler.irgen import generate_module
from accopt.passes.ir.ops.messages import take_messages
from accopt.passes.registry import load_pass
from xdsl.dialects.builtin import i32
from xdsl.ir import Block

NAMES = ("best", "t_1", "_0", "_12", "_0_1", "a_2_3", "t_1_", "t_1__", "_", "x_", "x1", "$x")


@pytest.mark.parametrize("name", NAMES)
def test_hints_are_read_back(name: str) -> None:
    """Through xDSL, too, which takes numbers off."""
    value = Block(arg_types=[i32]).args[0]
    value.name_hint = value_name(name)
    assert value.name_hint is not None
    assert c_name(value.name_hint) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("a", "a"), ("f.best.2", "best"), ("f.t_1.12", "t_1"), ("lost.1", "lost"), ("f.s.1.2", "s")],
)
def test_symbols_are_read_back(symbol: str, name: str) -> None:
    assert c_name(symbol) == name


@pytest.mark.parametrize(
    ("name", "in_ptx"),
    [
        ("WARP_SZ", "WARP_SZ$"),
        ("_", "_$"),
        ("f_param_0", "f_param_0$"),
        ("retval0", "retval0$"),
        ("$L__BB0_1", "$L__BB0_1$"),
        ("call", "call"),
        ("tid", "tid"),
        ("param", "param"),
        ("x$", "x$"),
    ],
)
def test_names_in_ptx_are_read_back(name: str, in_ptx: str) -> None:
    assert ptx_name(name) == in_ptx
    assert c_name(in_ptx) == name


NUMBERED = "t_1", "_0", "a_2_3"
STATIC = "best", "w_9"
FILE = "up_7", "b"


def test_warnings_name_variables_as_c_does(tmp_path: Path) -> None:
    """Locals, static locals, and a static variable of a file that another file has, too."""
    names = (*NUMBERED, *STATIC, *FILE)
    loops = "".join(
        "#pragma acc parallel loop\n"
        f"for (int i = 0; i < 10; i++) {{ {name} += x[i]; x[i] = {name}; }}\n"
        for name in names
    )
    locals_ = (
        f"int {', '.join(f'{name} = 0' for name in NUMBERED)}; static int {', '.join(STATIC)};"
    )
    text = f"static int {', '.join(FILE)};\nint f(int *x) {{ {locals_}\n{loops}return best; }}\n"
    paths = [tmp_path / "one.c", tmp_path / "two.c"]
    paths[0].write_text(text)
    paths[1].write_text(
        "static int b; int g(void) { return b++; }\n" + text.replace("int f(", "static int f(")
    )
    module = generate_module(load_program(paths, None, DiagnosticSink()), DiagnosticSink())
    load_pass("classify-scalars")().apply(make_context(), module)
    said = [m for m in take_messages(module, wall=False) if "depend on each other" in m.message]
    assert [m.message.split("'")[1] for m in said if m.loc.file == str(paths[0])] == list(names)
    assert {m.message.split("'")[1] for m in said} == set(names)
