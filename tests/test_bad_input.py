"""
What users see for what they get wrong, through the commands: place, source line and caret, cause,
remedy, exit status, and never a traceback.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from accopt.compiler.drivers import accc_main, accopt_main, accrun_main
from conftest import gpu_missing
from tools import commands

RUN = "accrun"
EMIT = "accopt"


def command(
    main: str, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return commands.run([main, *arguments], timeout=120, env={**os.environ, **environment})


@dataclass(frozen=True)
class Mistake:
    """`text` with one mistake; the message is at the position of `@` (removed), if there is one."""

    text: str
    cause: str
    remedy: str


MISTAKES = {
    "syntax error": Mistake(
        "int main(void)\n{\n    int x = 3@\n    return x;\n}\n", "expected ';'", "write ';'"
    ),
    "undeclared name": Mistake(
        "int main(void)\n{\n    int count = 3;\n    return @conut;\n}\n",
        "'conut' is not declared",
        "count",
    ),
    "undeclared name in a clause": Mistake(
        "int main(void)\n{\n#pragma acc parallel copy(@a)\n    ;\n    return 0;\n}\n",
        "'a' is not declared",
        "declare it",
    ),
    "directive typo": Mistake(
        "int main(void)\n{\n#pragma acc @paralel loop\n    for (int i = 0; i < 3; i++) ;\n}\n",
        "unknown directive 'paralel'; did you mean 'parallel'?",
        "",
    ),
    "clause typo": Mistake(
        "int main(void)\n{\n    int a[3];\n#pragma acc parallel @copyn(a)\n    a[0] = 1;\n}\n",
        "unknown clause 'copyn' on 'parallel'; did you mean 'copyin'?",
        "",
    ),
    "clause on the wrong directive": Mistake(
        "int main(void)\n{\n    int a[3];\n#pragma acc update self(a) @num_gangs(3)\n}\n",
        "clause 'num_gangs' is not allowed on 'update'",
        "it is allowed on 'parallel'",
    ),
    "array of unknown size in a clause": Mistake(
        "extern int a[];\nint main(void)\n{\n#pragma acc parallel copy(@a)\n    a[0] = 1;\n}\n",
        "'a' is an array of unknown size",
        "write a[0:n]",
    ),
    "pointer section without length": Mistake(
        "void f(int *p)\n{\n#pragma acc parallel copy(p@[2:])\n    p[2] = 1;\n}\n"
        "int main(void) { return 0; }\n",
        "'p' has unknown size",
        "write p[2:n]",
    ),
    "loop that cannot be counted": Mistake(
        "int main(void)\n{\n    int a[64];\n#pragma acc parallel loop\n"
        "    @for (int i = 1; i < 64; i *= 2)\n        a[i] = 0;\n}\n",
        "cannot be counted before it starts",
        "loop seq",
    ),
    "default(none)": Mistake(
        "void f(int n)\n{\n    int a[4];\n#pragma acc parallel default(none) copyout(a)\n"
        "    a[0] = @n;\n}\nint main(void) { f(3); }\n",
        "'n'",
        "firstprivate(n)",
    ),
    "call of an unknown function": Mistake(
        "int tell(int);\nint main(void)\n{\n    int a[4];\n#pragma acc parallel copyout(a)\n"
        "    a[0] = @tell(3);\n}\n",
        "'tell' is called in device code",
        "routine seq",
    ),
}


def positioned(text: str) -> tuple[str, int, int]:
    """The text without its mark, and the line and column of the mark."""
    before = text[: text.index("@")]
    return text.replace("@", "", 1), before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


@pytest.mark.parametrize(
    ("name", "main"), [*((name, RUN) for name in MISTAKES), ("syntax error", EMIT)]
)
def test_mistake_in_the_program(name: str, main: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    source = tmp_path / "prog.c"
    text, line, column = positioned(mistake.text)
    source.write_text(text)
    arguments = ("--target=host",) if main == RUN else ("--target=host", "--emit=scheduled")
    done = command(main, *arguments, source)
    assert done.returncode == 1
    assert done.stdout == ""
    shown = done.stderr.splitlines()
    assert shown[0].startswith(f"{source}:{line}:{column}: error: "), done.stderr
    assert mistake.cause in shown[0]
    assert shown[1] == "    " + text.splitlines()[line - 1]
    assert shown[2] == "    " + " " * (column - 1) + "^"
    if mistake.remedy:
        assert shown[3].startswith("    help: ") and mistake.remedy in shown[3]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("main", [RUN, EMIT])
def test_missing_file(main: str, tmp_path: Path) -> None:
    done = command(main, "--target=host", tmp_path / "nothing.c")
    assert done.returncode == 1
    assert "cannot find the C file" in done.stderr and "nothing.c" in done.stderr
    assert "help: " in done.stderr and "Traceback" not in done.stderr


def test_missing_header(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text('#include "missing.h"\nint main(void) { return 0; }\n')
    done = command(RUN, "--target=host", source)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{source}:1:") and "missing.h" in done.stderr
    assert "Traceback" not in done.stderr


def test_file_that_is_no_text(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_bytes(b"\x7fELF\x00\x01\xff\xfe")
    done = command(RUN, "--target=host", source)
    assert done.returncode == 1
    assert "error: " in done.stderr and "Traceback" not in done.stderr


def test_folder_instead_of_a_file(tmp_path: Path) -> None:
    for main in (RUN, EMIT):
        done = command(main, "--target=host", tmp_path)
        assert done.returncode == 1
        assert "error: " in done.stderr and "Traceback" not in done.stderr


def test_absent_data_in_present(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(
        "int main(void)\n{\n    int field[10];\n#pragma acc parallel loop present(field)\n"
        "    for (int i = 0; i < 10; i++)\n        field[i] = i;\n}\n"
    )
    done = command(RUN, "--target=host", source)
    assert done.returncode == 1
    first, *rest = done.stderr.splitlines()
    assert first.startswith(f"{source}:4: error: ")
    assert "'field'" in first and "present" in first and "acc_error_not_present" in first
    assert any(line.startswith("    help: ") and "field" in line for line in rest)
    assert "Traceback" not in done.stderr


def test_array_whose_section_cannot_be_inferred(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(
        "static void f(int n, int *p, int *q)\n{\n#pragma acc parallel loop copyin(p[0:n])\n"
        "    for (int i = 0; i < n; i++)\n        q[p[i]] = i;\n}\n"
        "int main(void) { int p[3] = {0, 2, 1}, q[3]; f(3, p, q); }\n"
    )
    done = command(RUN, "--target=host", source)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{source}:3: error: ")
    assert "'q'" in done.stderr and "help: " in done.stderr and "copy(q[" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_before_a_runtime_error_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(
        '#include <stdio.h>\nint main(void)\n{\n    int a[3];\n    printf("before\\n");\n'
        "#pragma acc update self(a)\n    return 0;\n}\n"
    )
    done = command(RUN, "--target=host", source)
    assert (done.returncode, done.stdout) == (1, "before\n")
    assert done.stderr.startswith(f"{source}:6: error: ")


def test_no_gpu(tmp_path: Path) -> None:
    if gpu_missing() is None:
        pytest.skip("there is a GPU")
    source = tmp_path / "prog.c"
    source.write_text("int main(void) { return 0; }\n")
    done = command(RUN, "--target=nvptx", source)
    assert done.returncode == 1
    assert "no NVIDIA GPU can be used" in done.stderr
    assert "help: run on the CPU with --target=host" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--emit=nothing"], "there is no stage 'nothing'"),
        (["-p", "no-such-pass"], "no-such-pass"),
        (["-p", "schedule-loops{nonsense=3}"], "nonsense"),
        (["-p", "schedule-loops{"], "error: "),
        (["--pass-option", "schedule-loops{strategy=9_9}", "--emit=scheduled"], "error: "),
        (["--pass-option", "schedule-loops{", "--emit=scheduled"], "cannot read --pass-option"),
        (["--pass-option", "nothing{x=1}", "--emit=scheduled"], "'nothing' is not a pass"),
        (["-o", "/no/such/folder/x"], "/no/such/folder"),
        (["-DX=(", "-DY(=1"], "error: "),
    ],
)
def test_faulty_command_lines(arguments: list[str], cause: str, tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(
        "int main(void) { int a[3];\n#pragma acc parallel loop\nfor (int i = 0; i < 3; i++) a[i] = 0;\n}\n"
    )
    done = command(EMIT, *arguments, source)
    assert done.returncode == 1
    assert "error: " in done.stderr and cause in done.stderr
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr


def test_ir_that_does_not_parse(tmp_path: Path) -> None:
    source = tmp_path / "prog.mlir"
    source.write_text("builtin.module { %0 = }\n")
    done = command(EMIT, source)
    assert done.returncode == 1
    assert "cannot parse IR" in done.stderr and "Traceback" not in done.stderr


def test_a_failure_inside_accopt_names_the_place(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text("int main(void)\n{\n    return 1 + 2;\n}\n")
    script = tmp_path / "broken.py"
    script.write_text(
        "import dataclasses\n"
        "import sys\n"
        "from accopt.compiler.drivers import accopt_main\n"
        "from accopt.compiler.irgen import module\n"
        "def broken(fn, s):\n"
        "    raise KeyError('lost')\n"
        "module.RULES = dataclasses.replace(module.RULES, statement=broken)\n"
        f"sys.exit(accopt_main.main([{str(source)!r}]))\n"
    )
    for debug in ("", "1"):
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "ACCOPT_DEBUG": debug},
        )
        assert done.returncode == 1
        assert (
            f"{source}:" in done.stderr
            and "internal error of accopt (KeyError: 'lost')" in done.stderr
        )
        assert "please report this" in done.stderr
        assert ("Traceback" in done.stderr) == bool(debug)


def test_inputs_of_accrun_that_are_no_c(tmp_path: Path):
    (tmp_path / "prog.c").write_text("int main(void) { return 0; }\n")
    run = command(RUN, "--target=host", tmp_path / "prog.c", "mesh.o")
    assert run.returncode == 1
    assert "error: 'mesh.o' is not a C file, but machine code" in run.stderr
    run = command(RUN, "--target=host", tmp_path / "prog.c", tmp_path / "libmesh.so")
    assert "cannot find the library" in run.stderr


def test_a_file_of_another_suffix_is_c_behind_x(tmp_path: Path) -> None:
    (tmp_path / "prog.cpp").write_text("int main(void) { int class = 4; return class; }\n")
    run = command(RUN, "--target=host", tmp_path / "prog.cpp")
    assert run.returncode == 1 and "prog.cpp' is not a C file, but C++" in run.stderr
    assert command(RUN, "--target=host", "-x", "c", tmp_path / "prog.cpp").returncode == 4


@pytest.mark.parametrize("stage", ["acc", "scheduled"])
def test_saved_ir_is_run(stage: str, tmp_path: Path):
    source, saved = tmp_path / "prog.c", tmp_path / "prog.mlir"
    source.write_text(
        "int main(void) { int s = 0;\n#pragma acc parallel loop reduction(+:s)\n"
        "for (int i = 0; i < 10; i++) s += i;\nreturn s; }\n"
    )
    assert accopt_main.main([str(source), f"--emit={stage}", "-o", str(saved)]) == 0
    assert command(RUN, "--target=sim", saved).returncode == 45
    both = command(RUN, "--target=sim", saved, source)
    assert both.returncode == 1 and "IR is a whole program" in both.stderr
    text = saved.read_text()
    saved.write_text(re.sub(r"step \(%\w+ ", "step (%c0 ", text))
    unlawful = command(RUN, "--target=sim", saved)
    assert unlawful.returncode == 1 and "its step is positive, not 0" in unlawful.stderr
    saved.write_text(text.replace("acc.yield\n", "\n"))
    broken = command(RUN, "--target=sim", saved)
    assert broken.returncode == 1 and "error: invalid IR: 'acc." in broken.stderr


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("x.ll", "LLVM IR"),
        ("x.cpp", "C++"),
        ("x.f90", "Fortran"),
        ("x.py", "Python"),
        ("x", "machine code"),
        ("x.c", "binary data"),
        ("program", "a script or a program of accc"),
    ],
)
def test_files_of_other_kinds_are_named(
    name: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / name
    path.write_bytes(
        {"x": b"\x7fELF\x02", "x.c": b"int\0", "program": b"#!/bin/sh\n\0"}.get(name, b"x\n")
    )
    mains = [accrun_main.main]
    if name != "x.c":
        mains += [accopt_main.main, lambda a: accc_main.main(["-c", *a])]
    if name not in ("x", "program"):
        mains.append(accc_main.main)
    for main in mains:
        assert main([str(path)]) == 1
        said = capsys.readouterr().err
        assert f"'{path}' is not " in said and f", but {found}\n    help: " in said, (main, said)


def test_programs_for_another_processor_are_not_run(tmp_path: Path):
    """Commands that start with the variable: it is read once."""
    other = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    accrun = [sys.executable, "-m", "accopt.compiler.drivers.accrun_main", "--target=host"]
    for machine, message in (
        (other, f"programs for {other} cannot be run on this computer"),
        ("vax", "ACCOPT_MACHINE is not the name of a known processor: 'vax'"),
    ):
        done = subprocess.run(
            [*accrun, tmp_path / "prog.c"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "ACCOPT_MACHINE": machine},
        )
        assert message in done.stderr
