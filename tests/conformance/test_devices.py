"""Programs that check themselves for any number of devices, on one and on several."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools import commands

PROGRAMS = [
    *sorted((Path(__file__).parent / "devices").glob("*.c")),
    *sorted((Path(__file__).parent.parent.parent / "examples").glob("*_devices.c")),
]
COUNTS = [
    *[(target, count) for target in ("host", "sim") for count in (1, 2, 3)],
    *[pytest.param("nvptx", count, marks=pytest.mark.gpu) for count in (1, 2, 3)],
]

STORES_OUTSIDE = """
#include <openacc.h>
int main(void) {
  float a[8];
  acc_set_device_num(1, acc_device_default);
#pragma acc parallel loop create(a) num_gangs(1) vector_length(8)
  for (int i = 0; i < 8; i++) a[0] = i;
  return 0;
}
"""

WRONG_DEVICE = """
#include <openacc.h>
int main(void) {
  float *a = acc_malloc(64);
  acc_set_device_num(1, acc_device_default);
#pragma acc parallel loop deviceptr(a)
  for (int i = 0; i < 16; i++) a[i] = i;
  return 0;
}
"""


def accrun(program: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["accrun", *options, str(program)]
    return commands.run(command, timeout=300, env={**os.environ, **environment})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("target", "count"), COUNTS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_on_so_many_devices(program: Path, target: str, count: int) -> None:
    done = accrun(program, f"--target={target}", f"--devices={count}")
    assert done.returncode == 0 and "failed" not in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("target", "count"),
    [
        ("sim", 1),
        ("sim", 3),
        *[pytest.param("nvptx", count, marks=pytest.mark.gpu) for count in (1, 2, 3)],
    ],
)
def test_borders_that_are_computed_first(target: str, count: int) -> None:
    """In the simulator, constructs are performed after all copies that need not wait for them."""
    program = Path(__file__).parent / "devices" / "borders.c"
    first = "--pass-option=compute-borders-first{always=true}"
    late = ["--late"] if target == "sim" else []
    done = accrun(program, f"--target={target}", f"--devices={count}", first, *late)
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


def test_findings_of_every_simulated_device_count(tmp_path: Path) -> None:
    program = tmp_path / "race.c"
    program.write_text(STORES_OUTSIDE)
    done = accrun(program, "--target=sim", "--devices=2")
    assert done.returncode == 1
    assert "on simulated GPU 1: data race" in done.stderr


def test_memory_of_one_device_means_nothing_to_another(tmp_path: Path) -> None:
    program = tmp_path / "wrong.c"
    program.write_text(WRONG_DEVICE)
    done = accrun(program, "--target=sim", "--devices=2")
    assert done.returncode == 1
    assert "memory of device 0" in done.stderr and "simulated GPU 1" in done.stderr


def test_routines_that_fail_name_their_line(tmp_path: Path) -> None:
    program = tmp_path / "far.c"
    program.write_text(
        "#include <openacc.h>\n#include <stdlib.h>\nint main(void) {\n  float a[8];\n"
        "#pragma acc enter data create(a) deviceid(0)\n"
        '  if (getenv("FAR")) acc_set_device_num(7, acc_device_default);\n'
        "  acc_update_peer(a, 1, a, 0, sizeof a);\n  return 0;\n}\n"
    )
    far = accrun(program, "--target=host", "--devices=2", FAR="1")
    assert f"{program}:6: error: in acc_set_device_num: there is no device 7" in far.stderr
    assert "help: use a number below acc_get_num_devices" in far.stderr
    absent = accrun(program, "--target=host", "--devices=2")
    assert f"{program}:7: error: in acc_update_peer: " in absent.stderr


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("#pragma acc update peer to(b[0:n]) to_device(1) from(a[0:n - 1]) from_device(0)",
         "'b' in 'to' has 32 bytes, and 'a' in 'from' has 28"),
        ("#pragma acc update peer to(c[0:n]) to_device(1) from(a[0:n]) from_device(0)",
         "'c' in 'to' is not present on device 1"),
        ("#pragma acc update peer to(b[4:n]) to_device(1) from(a[4:n]) from_device(0)",
         "'b' is only partly present"),
        ("#pragma acc update peer to(a[0:n]) to_device(0) from(a[4:n]) from_device(0)",
         "'a' in 'to' and 'a' in 'from' overlap on device 0, by 16 of 32 bytes"),
        ("acc_memcpy_d2d(b, a, 8, -2, 0);", "there is no device -2: devices 0 to 1 can be used"),
        ("acc_wait_device(1, 2);", "there is no device 2"),
        ("#pragma acc wait(3) device(n)", "there is no device 8"),
        ("#pragma acc init deviceid(n)", "there is no device 8"),
    ],
)  # fmt: skip
def test_what_cannot_be_copied_or_used_is_named(
    tmp_path: Path, statement: str, message: str
) -> None:
    program = tmp_path / "bad.c"
    program.write_text(
        "#include <openacc.h>\nint main(int n, char **v) {\n  float a[16], b[8], c[16];\n  n += 7;\n"
        "#pragma acc enter data create(a) deviceid(0)\n#pragma acc enter data create(b) deviceid(1)\n"
        f"{statement}\n  return 0;\n}}\n"
    )
    done = accrun(program, "--target=host", "--devices=2")
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert f"{program}:7: error: in " in done.stderr and "\n    help: " in done.stderr


def test_no_devices_of_a_type_is_said_once(tmp_path: Path) -> None:
    program = tmp_path / "types.c"
    program.write_text(
        "#include <openacc.h>\nint main(void) {\n  int n = 0;\n  for (int i = 0; i < 3; i++)\n"
        "    n += acc_get_num_devices(acc_device_nvidia) + acc_get_num_devices(acc_device_host);\n"
        "  return n;\n}\n"
    )
    remark = (
        "remark: acc_get_num_devices(acc_device_nvidia) is 0, as the program runs on the host; "
    )
    on_host = accrun(program, "--target=host", "--devices=2")
    assert on_host.returncode == 6 and on_host.stderr.count(remark) == 1
    other_rank = accrun(program, "--target=host", PMI_RANK="1")
    assert other_rank.returncode == 3 and remark not in other_rank.stderr
    simulated = accrun(program, "--target=sim")
    assert simulated.returncode == 6 and not simulated.stderr


def test_what_a_shutdown_has_released_is_said(tmp_path: Path) -> None:
    program = tmp_path / "gone.c"
    program.write_text(
        "#include <openacc.h>\n#include <stdlib.h>\nint main(void) {\n  float a[8];\n"
        "#pragma acc enter data create(a) deviceid(1)\n"
        "  acc_set_device_num(1, acc_device_default);\n  void *p = acc_deviceptr(a);\n"
        "  acc_shutdown(acc_device_default);\n"
        '  if (getenv("COPY")) acc_memcpy_from_device(a, p, sizeof a);\n'
        "  acc_update_self(a, sizeof a);\n  return 0;\n}\n"
    )
    absent = accrun(program, "--target=sim", "--devices=2")
    assert f"{program}:10: error: in acc_update_self: " in absent.stderr
    assert f"help: acc_shutdown at {program}:8 released what the device held; " in absent.stderr
    stale = accrun(program, "--target=sim", "--devices=2", COPY="1")
    assert f"{program}:9: error: in acc_memcpy_from_device: " in stale.stderr
    assert f"help: acc_shutdown at {program}:8 released what the device held; " in stale.stderr


def test_memory_of_acc_malloc_ends_with_a_shutdown(tmp_path: Path) -> None:
    """Uses of its address are errors, mapped or not; `acc_free` has nothing to do."""
    program = tmp_path / "late.c"
    program.write_text(
        "#include <openacc.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n"
        "  float h[8] = {0}, *p = acc_malloc(sizeof h);\n"
        "  acc_map_data(h, p, sizeof h);\n"
        "  acc_shutdown(acc_device_default);\n"
        '  if (getenv("COPY")) acc_memcpy_to_device(p, h, sizeof h);\n'
        '  if (getenv("USE")) {\n'
        "#pragma acc parallel loop deviceptr(p)\n"
        "    for (int i = 0; i < 8; i++) p[i] = i;\n  }\n"
        '  printf("%d\\n", acc_is_present(h, sizeof h));\n  acc_free(p);\n'
        "  float *q = acc_malloc(sizeof h);\n"
        "#pragma acc parallel loop deviceptr(q)\n"
        "  for (int i = 0; i < 8; i++) q[i] = i;\n"
        "  acc_memcpy_from_device(h, q, sizeof h);\n"
        '  acc_free(q);\n  printf("%g\\n", h[7]);\n  return 0;\n}\n'
    )
    cases = (("host", "COPY", 8, "acc_memcpy_to_device"), ("sim", "USE", 10, "'p' in deviceptr"))
    for target, use, line, what in cases:
        done = accrun(program, f"--target={target}")
        assert (done.returncode, done.stdout) == (0, "0\n7\n"), done.stderr
        late = accrun(program, f"--target={target}", **{use: "1"})
        assert late.returncode == 1 and f"{program}:{line}: error: in " in late.stderr
        assert what in late.stderr and "has been released" in late.stderr
        assert f"acc_shutdown at {program}:7 released what the device held" in late.stderr


def test_the_environment_says_how_many(tmp_path: Path) -> None:
    program = tmp_path / "count.c"
    program.write_text(
        "#include <openacc.h>\nint main(void) { return acc_get_num_devices(acc_device_host); }\n"
    )
    assert accrun(program, "--target=host", ACCOPT_DEVICES="3").returncode == 3
    assert accrun(program, "--target=host", "--devices=2", ACCOPT_DEVICES="3").returncode == 2
    wrong = accrun(program, "--target=host", ACCOPT_DEVICES="some")
    assert wrong.returncode == 1 and "ACCOPT_DEVICES is 'some'" in wrong.stderr
    none = accrun(program, "--target=host", "--devices=0")
    assert none.returncode == 2 and "is not a positive number" in none.stderr
    absent = accrun(program, "--target=host", "--devices=2", ACC_DEVICE_NUM="2")
    assert absent.returncode == 1 and "devices 0 to 1 can be used" in absent.stderr
