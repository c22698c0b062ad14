"""Programs as objects of Python: what a user of the API gets wrong, and what Python expects of objects."""

from __future__ import annotations

import copy
import gc
import pickle
from ctypes import c_double, c_int, c_void_p
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import compile_files
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.base.options import CompileOptions
from accopt.runtime.errors import AccRuntimeError

HOST = CompileOptions(target="host", opt_level=1)
TEXT = """
int total(int n, double *x) {
    double s = 0;
#pragma acc parallel loop reduction(+:s) present(x[0:n])
    for (int i = 0; i < n; i++) s += x[i];
    return s;
}
static int ready;
__attribute__((constructor)) static void begin(void) { ready++; }
static int hidden(void) { return ready; }
int shown(void) { return hidden(); }
"""


def test_programs_are_objects(tmp_path: Path):
    source = tmp_path / "total.c"
    source.write_text(TEXT)
    with compile_files(str(source), HOST) as program:
        assert str(source) in repr(program)
        with pytest.raises(KeyError, match=r"no function 'totl'; did you mean 'total'\?"):
            program.function("totl")
        with pytest.raises(KeyError, match="no function 'hidden' that other files see"):
            program.function("hidden")
        total = program.function("total", c_double, (c_int, c_void_p))
        with pytest.raises(AccRuntimeError) as caught:
            total(3, np.ones(3).ctypes.data)
        said = str(caught.value)
        assert "total.c:4: error: in compute construct: 'x' in present is not present" in said
        assert "help: " in said
        for use in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="compile them there"):
                use(program)
        assert program.function("shown", c_int, ())() == 1
    program.close()
    assert "closed" in repr(program)
    with pytest.raises(ValueError, match="the program is closed"):
        program.function("shown")


def test_mistakes_are_shown_with_their_place(tmp_path: Path):
    source = tmp_path / "bad.c"
    source.write_text("int f(void) { return x; }\n")
    with pytest.raises(CompileError) as caught:
        compile_files([source], HOST)
    assert "bad.c:1:22: error: 'x' is not declared\n" in str(caught.value)
    assert "    int f(void)" in str(caught.value)


def test_targets_that_do_not_exist():
    with pytest.raises(ValueError, match="no target 'gpu'"):
        CompileOptions(target="gpu")  # pyright: ignore[reportArgumentType]


def test_programs_that_are_gone_leave_no_memory_mappings(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text("int f(int n) { return n + 1; }\n")

    def mappings_after(count: int) -> int:
        for number in range(count):
            with compile_files(source, CompileOptions(target="host")) as program:
                assert program.function("f", c_int, (c_int,))(1) == 2
            del program
            if number % 10 == 0:
                gc.collect()
        gc.collect()
        return len(Path("/proc/self/maps").read_text().splitlines())

    before = mappings_after(20)
    assert mappings_after(60) - before < 24
