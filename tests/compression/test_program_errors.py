"""Every message of a program with compressed arrays that cannot be compiled, or that stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_programs import run


def loop(clauses: str, declaration: str = "float a[100]", body: str = "a[i] = a[i] + 1;") -> str:
    return f"""
{declaration};
void f(int n, float lo, float hi) {{
  #pragma acc parallel loop {clauses}
  for (int i = 0; i < 100; i++) {{ {body} }}
}}
int main(void) {{ f(100, 1, -1); }}
"""


COMPILE_ERRORS = {
    "integers": (loop("ccopy(a)", "int a[100]"), "has elements of type 'int'"),
    "members": (
        loop("ccopyin(a)", "struct { float x; int k; } a[100]", "a[i].x += 1;"),
        "elements of type 'int'",
    ),
    "mixed": (
        loop("ccopyin(a)", "struct { float x; double y; } a[100]", "a[i].x += 1;"),
        "has members of float and of double",
    ),
    "no range": (loop("ccopyout(a[0:100])"), "has no range, and the clause copies no data"),
    "no range create": (loop("compression_create(a[0:100])"), "has no range"),
    "min > max": (
        loop("ccopy(a[0:100:1:-1])"),
        "the range's minimum 1 is greater than its maximum -1",
    ),
    "too many bits": (loop("ccopy(bits30: a)"), "cannot keep 30 bits: for float the most is 21"),
    "unknown format": (loop("ccopy(bits7: a)"), "unknown modifier 'bits7'"),
    "two formats": (loop("ccopy(bits9, half: a)"), "has two formats: bits9 and half"),
    "contradiction": (
        loop("ccopy(bits9: a) compression(half: a)"),
        "compressed in two ways on one construct",
    ),
    "soa of numbers": (loop("ccopy(soa: a)"), "is not an array of structures of numbers"),
    "plain alone": (loop("ccopy(plain: a)"), "has the format 'plain'"),
    "soa address": (
        "float *q;\n"
        + loop(
            "ccopy(soa: a)",
            "struct { float x, y; } a[100]",
            "float *p = &a[i].y; while (p[0] > 0) p--; p[0] = 1;",
        ),
        "the compressed array 'a'",
    ),
    "atomic": (
        loop("ccopy(a)", body='_Pragma("acc atomic") a[0] += 1;'),
        "is accessed atomically",
    ),
    "as integers": (loop("ccopy(a)", body="((short *)a)[i] += 1;"), "is used as an array of 'i16'"),
    "passed on": (
        "void g(float *p, int n) { p[0] = 1; if (n) g(p, n - 1); }\n"
        + loop("ccopy(a)", body="g(a + i, 2);"),
        "is passed to 'g'",
    ),
    "pointer kept": (
        loop("ccopy(a)", body="float *p = a; while (*p > 0) p++; *p = 1;"),
        "has its address used by",
    ),
    "scalar": (
        "int main(void) { float s = 1;\n#pragma acc parallel ccopy(s)\n s = 2; }",
        "is not an array",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", COMPILE_ERRORS)
def test_compile_errors(tmp_path: Path, case: str):
    source, message = COMPILE_ERRORS[case]
    done = run(tmp_path, source)
    assert done.returncode == 1
    assert message in done.stderr
    assert "p0.c:" in done.stderr and "internal" not in done.stderr


def test_scan_by_several_threads(tmp_path: Path):
    """A scan by one thread decodes as other loops do."""
    body = (
        "float a[99], b[99];\nint main(void) {\n#pragma acc parallel loop %s ccopyin(a) copy(b)\n"
        "for (int i = 1; i < 99; i++) b[i] = b[i-1] + a[i]; }"
    )
    for levels, status in (("", 1), ("seq ", 0)):
        done = run(tmp_path, body % f"{levels}scan(+: a, b, 0, 99)", target="sim")
        assert done.returncode == status, done.stderr
        assert ("is scanned by several threads" in done.stderr) == (status == 1)


def data(clause: str, kernel: str) -> str:
    return f"""
int main(void) {{
  int n = 100; float a[100]; float lo = 1, hi = -1;
  for (int i = 0; i < n; i++) a[i] = i;
  #pragma acc data {clause}
  {{
    #pragma acc parallel loop present(a) {kernel}
    for (int i = 0; i < n; i++) a[i] += 1;
  }}
}}
"""


RUN_ERRORS = {
    "part of a structure": (
        """
struct p { float x, y; };
int main(void) {
  struct p a[10] = {{1, 2}};
  #pragma acc enter data ccopyin(soa: a)
  acc_update_self(&a[3].y, 4);
}
""",
        "has no whole structures of 8 bytes",
    ),
    "kernel not told": (data("ccopy(a)", ""), "'a' is compressed on the device"),
    "data not compressed": (
        data("copy(a)", "compression(a)"),
        "this construct decodes 'a', which is not compressed on the device",
    ),
    "formats differ": (
        data("ccopy(bits12: a)", "compression(a)"),
        "decodes 'a' as float as 16 bits, but the array on the device has the format float as 12 bits",
    ),
    "not present": (
        data("copyin(lo)", "compression(a)"),
        "is not present on the device",
    ),
    "min > max": (
        data("ccopy(a[0:100:lo:hi])", "compression(a)"),
        "minimum 1 is greater than its maximum -1",
    ),
    "not finite": (data("ccopy(a[0:100:0:1/(hi-hi)])", "compression(a)"), "is not finite"),
    "routine type": (
        'int main(void) { float a[9]; acc_compress_copyin(a, 36, "int", NULL, 1, 0, 0); }',
        "'int' is not a type that can be compressed",
    ),
    "routine scan": (
        'int main(void) { float a[9]; acc_compress_create(a, 36, "float", NULL, 1, 0, 0); }',
        "no data is copied in",
    ),
    "routine copyout": (
        "int main(void) { float a[9]; acc_copyin(a, 36); acc_decompress_copyout(a, 36); }",
        "the data is not compressed",
    ),
}


@pytest.mark.parametrize("case", RUN_ERRORS)
def test_run_time_errors(tmp_path: Path, case: str):
    source, message = RUN_ERRORS[case]
    done = run(tmp_path, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stderr
    assert "internal" not in done.stderr
