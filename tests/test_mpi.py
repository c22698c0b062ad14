"""
Programs of many processes with Open MPI's `mpicc` around `accc`, where it is installed; and what is said of
MPI libraries that do not take device addresses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.message_passing import takes_device_addresses, warning_about_addresses

EXAMPLE = Path(__file__).parent.parent / "examples" / "mpi" / "heat_mpi.c"
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_CC": f"{sys.executable} -m accopt.compiler.drivers.accc_main",
}


def _has_open_mpi() -> bool:
    if shutil.which("mpicc") is None or shutil.which("mpirun") is None:
        return False
    told = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in told.stdout


needs_mpi = pytest.mark.skipif(not _has_open_mpi(), reason="no Open MPI (libopenmpi-dev)")


def build(source: Path, folder: Path) -> Path:
    program = folder / source.stem
    command = ["mpicc", "-O2", "--target=host", str(source), "-o", str(program), "-lm"]
    subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=True)
    return program


def mpirun(program: Path, ranks: int, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **ENVIRONMENT, **variables},
    )


@needs_mpi
def test_halo_exchange(tmp_path: Path) -> None:
    program = build(EXAMPLE, tmp_path)
    for ranks in (1, 2, 4):
        done = mpirun(program, ranks)
        wanted = f"heat: n = 130, steps = 40, ranks = {ranks}, change = 0.041461, 0 wrong\n"
        assert done.stdout == wanted, done.stderr
        assert done.returncode == 0 and not done.stderr
    done = mpirun(program, 2, ACCOPT_DEVICES="2")
    assert "0 wrong" in done.stdout
    for rank in (0, 1):
        assert f"remark: rank {rank} begins with device {rank} of 2" in done.stderr


@needs_mpi
def test_a_rank_that_fails_names_itself(tmp_path: Path) -> None:
    source = tmp_path / "fails.c"
    source.write_text(
        "#include <mpi.h>\nint main(int c, char **v) { int rank; float x[8];\n"
        "MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\nif (rank == 1) {\n"
        "#pragma acc parallel loop present(x)\nfor (int i = 0; i < 8; i++) x[i] = i;\n}\n"
        "MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n"
    )
    done = mpirun(build(source, tmp_path), 2)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "'x'" in line]
    assert line.startswith("rank 1: ") and "fails.c:5" in done.stderr


SITES = (
    {"kind": "data", "file": "a.c", "line": 3},
    {"kind": "host_data", "file": "a.c", "line": 7},
)
CALLS = "declare i32 @MPI_Sendrecv(ptr, i32)\n"


def test_libraries_that_do_not_take_device_addresses() -> None:
    warning = warning_about_addresses(CALLS, SITES, lambda: False)
    assert warning is not None and (warning.loc.file, warning.loc.line) == ("a.c", 7)
    assert warning_about_addresses(CALLS, SITES, lambda: True) is None
    assert warning_about_addresses(CALLS, SITES[:1], lambda: False) is None
    assert warning_about_addresses("declare i32 @puts(ptr)\n", SITES, lambda: False) is None


def test_what_libraries_say() -> None:
    assert not takes_device_addresses({}, lambda name: None)
    assert not takes_device_addresses({"MV2_USE_CUDA": "0"}, lambda name: lambda: 0)
    assert takes_device_addresses({}, lambda name: lambda: 1)
    assert takes_device_addresses({"MPICH_GPU_SUPPORT_ENABLED": "1"}, lambda name: None)
