"""
Programs with directives of OpenMP that check themselves. They do the same under gcc where there is one, so
that what they expect is not only ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import commands

PROGRAMS = Path(__file__).parent / "programs"
PLAIN = [PROGRAMS / f"{name}.c" for name in ("worksharing", "threads", "taskloop")]


def run(program: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", "-fopenmp"]
    return commands.run(
        [*command, *options, str(program)], timeout=300, env={**os.environ, **variables}
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PLAIN, ids=lambda path: path.stem)
@pytest.mark.parametrize("threads", ["1", "5"])
def test_as_expected(program: Path, threads: str) -> None:
    done = run(program, "--target=host", OMP_NUM_THREADS=threads, OMP_SCHEDULE=f"dynamic,{threads}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{program.stem}: as expected\n"
    assert not done.stderr


@pytest.mark.parametrize("program", PLAIN, ids=lambda path: path.stem)
def test_the_same_under_gcc(program: Path, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    out = tmp_path / "program"
    built = subprocess.run(["gcc", "-fopenmp", "-w", str(program), "-o", str(out)], check=False)
    if built.returncode != 0:
        pytest.skip("gcc has no OpenMP here")
    environment = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_MAX_ACTIVE_LEVELS": "1"}
    done = subprocess.run([out], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == f"{program.stem}: as expected\n"


def test_example_by_threads() -> None:
    program = Path(__file__).parents[2] / "examples" / "openmp" / "matmul_threads.c"
    done = run(program, "--target=sim", "--devices", "3")
    assert done.stdout == "product: n = 96, 3 of 3 devices, 0 wrong\n", done.stderr


def test_types() -> None:
    done = run(PROGRAMS / "types.c", "--target=host", OMP_NUM_THREADS="3")
    assert done.stdout == (PROGRAMS / "types.txt").read_text(), done.stderr


@pytest.mark.parametrize(("target", "devices"), [("host", "3"), ("sim", "2")])
def test_a_device_for_each_thread(target: str, devices: str) -> None:
    done = run(PROGRAMS / "devices.c", f"--target={target}", "--devices", devices)
    assert done.stdout == "devices: as expected\n", done.stdout + done.stderr
    assert done.returncode == 0


def _program(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "program.c"
    path.write_text(
        f"#include <stdio.h>\n#include <omp.h>\nint main(int c, char **v) {{\n{body}\n}}\n"
    )
    return path


def test_what_the_environment_says(tmp_path: Path) -> None:
    program = _program(
        tmp_path,
        'omp_sched_t k; int n; omp_get_schedule(&k, &n); printf("%d %d %d %d\\n", omp_get_max_threads(),'
        " omp_get_dynamic(), (int)k, n);",
    )
    variables = {"OMP_NUM_THREADS": "3,2", "OMP_DYNAMIC": "true", "OMP_SCHEDULE": "guided, 8"}
    assert run(program, "--target=host", **variables).stdout == "3 1 3 8\n"
    wrong = {"OMP_NUM_THREADS": "many", "OMP_DYNAMIC": "perhaps", "OMP_SCHEDULE": "static,0"}
    wrong["OMP_WAIT_POLICY"] = "often"
    done = run(program, "--target=host", **wrong)
    assert done.stdout.endswith(" 0 1 0\n")
    for name, value in wrong.items():
        assert f"accopt: {name}={value} is ignored: write " in done.stderr


def test_faults_of_running_programs(tmp_path: Path) -> None:
    """Teams larger than there can be are told of once, and so are those of no thread, which get one."""
    program = _program(
        tmp_path,
        "int n = 0;\nfor (int i = 0; i < 2; i++) {\n#pragma omp parallel num_threads(1000) reduction(+:n)\n"
        "n++;\n}\n"
        'printf("%d\\n", n);\nfor (int i = 0; i < 2; i++)\n'
        '#pragma omp parallel num_threads(c - 1)\nn++;\nprintf("%d\\n", n);',
    )
    done = run(program, "--target=host", OMP_THREAD_LIMIT="9")
    assert done.stdout == "18\n20\n"
    warning = f"{program}:6: warning: a team of 1000 threads is requested but gets 9\n"
    assert warning in done.stderr
    assert f"{program}:11: warning: num_threads(0): a team has at least one thread\n" in done.stderr
    assert done.stderr.count("warning") == 2
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("#pragma omp parallel num_threads(2)\nif (omp_get_thread_num() == 0) meet(n);",
         ":{line}: error: the threads of this region do not reach the same barriers: 1 of 2"),
        ("#pragma omp critical(door)\nenter(n);",
         ":5: error: omp critical (door) inside itself waits forever"),
    ],
)  # fmt: skip
def test_what_would_wait_for_ever_ends_with_a_message(
    body: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.c"
    before = (
        "#include <stdio.h>\n#include <omp.h>\nint n[10];\n"
        "static void enter(int *n) {\n#pragma omp critical(door)\n{ n[0]++; }\n}\n"
        "static void meet(int *n) {\n#pragma omp for\nfor (int i = 0; i < 10; i++) n[i]++;\n}\n"
        'int main(void) {\nputs("before");\n'
    )
    path.write_text(f"{before}{body}\n}}\n")
    done = run(path, "--target=host")
    line = before.count("\n") + 1
    assert done.returncode == 1 and done.stdout == "before\n"
    assert message.format(line=line) in done.stderr


def test_without_the_option_directives_are_comments(tmp_path: Path) -> None:
    body = "int n = 0;\n#pragma omp parallel num_threads(4)\nn++;\n#pragma omp target\nn++;\n"
    program = _program(tmp_path, f'{body}\nprintf("%d\\n", n);')
    command = ["accrun", "--target=host"]
    done = commands.run([*command, program])
    assert done.stdout == "2\n"
    assert done.stderr.count("#pragma omp is ignored, here and further on") == 1


def test_files_and_links(tmp_path: Path) -> None:
    """Objects of `accc` remember which directives are meant; a section's name is one lock in all files."""
    (tmp_path / "a.c").write_text(
        "int n, m;\nvoid add(void) {\n#pragma omp critical(lock)\nn++;\n}\n"
    )
    (tmp_path / "b.c").write_text(
        "#include <stdio.h>\nextern int n, m;\nvoid add(void);\nint main(void) {\n"
        "#pragma omp parallel num_threads(4)\nfor (int i = 0; i < 1000; i++) {\nadd();\n"
        '#pragma omp critical(lock)\nn++;\n}\nprintf("%d\\n", n);\nreturn 0; }\n'
    )
    (tmp_path / "c.c").write_text("void unused(void) {\n#pragma omp nonsense\n;\n}\n")
    accc = ["accc", "--target=host"]
    for options, file in ((["-mp"], "a"), (["-fopenmp"], "b"), ([], "c")):
        done = commands.run([*accc, *options, "-c", f"{file}.c"], cwd=tmp_path)
        assert done.returncode == 0
    commands.run([*accc, "a.o", "b.o", "c.o", "-o", "prog"], cwd=tmp_path, check=True)
    done = subprocess.run(["./prog"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "8000\n"
