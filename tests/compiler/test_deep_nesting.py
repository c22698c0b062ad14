"""Programs nest as deeply as C compilers must allow (C11 5.2.4.1), and as generated code does."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from accopt.compiler.base.deep_stack import with_deep_stack
from tools import commands

ELSE_IFS = "if (c == 100) c = 0; " + "".join(
    f"else if (c == {i + 101}) c = {i}; " for i in range(300)
)
PIECES = {
    "else-if": ELSE_IFS + "return c - 1;",
    "sum": f"return {'+'.join(['c'] * 5000)} - 5000;",
    "conditional": "return " + "".join(f"c == {i + 10} ? {i} : " for i in range(300)) + "0;",
    "blocks": "{" * 127 + "c++;" + "}" * 127 + "return c - 2;",
    "parentheses": f"return {'(' * 1000}c{')' * 1000} - 1;",
    "calls": f"return {'f(' * 200}c{')' * 200} - 1;",
    "sums in a region": "int a[4] = {0};\n#pragma acc parallel loop copy(a)\n"
    f"for (int i = 0; i < 4; i++) a[i] = {'+'.join(['i'] * 1000)}; return a[2] != 2000;",
    "region": "int a[4] = {0};\n#pragma acc parallel loop copy(a)\nfor (int i = 0; i < 4; i++) { "
    + ELSE_IFS.replace("c", "a[i]")
    + f"a[i] += {'+'.join(['i'] * 1000)}; }} return a[2] != 2000;",
}
TOO_DEEP = f"int main(int c, char **v)\n{{\nreturn {'(' * 90000}c{')' * 90000}; }}"


def run(path: Path, target: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", f"--target={target}", str(path)]
    return commands.run(command, timeout=300)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "target"), [*((n, "host") for n in PIECES), ("sums in a region", "sim")]
)
def test_deep_programs_run(name: str, target: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.c"
    path.write_text(f"int f(int x) {{ return x; }}\nint main(int c, char **v) {{ {PIECES[name]} }}")
    done = run(path, target)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_nested_too_deeply_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.c"
    path.write_text(TOO_DEEP)
    done = run(path, "host")
    assert done.returncode == 1
    assert f"{path}:3" in done.stderr and "error: the program is nested too deeply" in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") < 6


def test_the_simulator_refuses_what_python_cannot_nest(tmp_path: Path) -> None:
    path = tmp_path / "deep.c"
    path.write_text(f"int main(int c, char **v)\n{{ {PIECES['region']} }}")
    done = run(path, "sim")
    assert done.returncode == 1
    assert "nested too deeply for the simulator" in done.stderr and "internal" not in done.stderr


def test_results_exceptions_and_limits_come_back() -> None:
    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    limit, size = sys.getrecursionlimit(), threading.stack_size()
    assert with_deep_stack(depth)(20_000) == 20_000
    with pytest.raises(RecursionError):
        with_deep_stack(depth)(10_000_000)
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)()
    assert (
        with_deep_stack(lambda: with_deep_stack(threading.current_thread)().name)()
        == "accopt-compiler"
    )
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)
