"""
Whole programs with arrays that are kept around the middle of their range, and structures of arrays
whose members have ranges of their own; what cannot be asked for.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .test_program_errors import data, loop
from .test_programs import output, run

STREAM = """
#ifndef REAL
#define REAL float
#endif
void relax(int n, REAL *t, REAL *r) {
  #pragma acc parallel loop compression(FMT: t, r)
  for (int i = 0; i < n; i++) r[i] = t[i] + 0.05 * (333 - t[i]);
}
int main(void) {
  int n = 1003;
  REAL *t = malloc(n * sizeof *t), *r = malloc(n * sizeof *r);
  for (int i = 0; i < n; i++) t[i] = 323 + i % 201 * 0.1, r[i] = 0;
  #pragma acc data ccopyin(FMT: t[0:n]) ccopyout(FMT: r[0:n:323:343])
  relax(n, t, r);
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(r[i] - (t[i] + 0.05 * (333 - t[i]))));
  printf("%.2e\\n", worst);
}
"""


@pytest.mark.parametrize(
    ("real", "modifiers", "step"),
    [
        ("float", "centred", 20.1 / 2**16),
        ("float", "centred, bits12", 20.1 / 2**12),
        ("float", "bits21, centred", 2**-15),
        ("double", "centred", 20.1 / 2**32),
        ("double", "bits16, centred", 20.1 / 2**16),
        ("double", "centred, bits40", 20.1 / 2**40),
    ],
)
@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["host", "nvptx", "sim"])
def test_streams(tmp_path: Path, real: str, modifiers: str, step: float, target: str):
    """Loads, stores and transfers agree; the error is that of 20 degrees, not of 343."""
    define = f"#define REAL {real}\n#define FMT {modifiers}\n"
    schedule = "" if target == "sim" else f"compress-arrays{{target={target} threads=0}}"
    options = ("--pass-option", schedule) if schedule else ()
    found = float(
        output(tmp_path, define + STREAM, *options, target="sim" if target == "sim" else "host")
    )
    assert found <= 1.02 * step


def test_the_default_format(tmp_path: Path):
    """`centred` makes clauses without a format centred, and leaves the others alone."""
    source = """
int main(void) {
  float a[100], b[100], c[100];
  for (int i = 0; i < 100; i++) a[i] = b[i] = c[i] = 300 + i * 0.1;
  #pragma acc parallel loop ccopy(a) ccopy(bits12: b) ccopy(half: c)
  for (int i = 0; i < 100; i++) a[i] = b[i] + c[i];
}
"""
    done = run(
        tmp_path, source, "--compression-report", "--pass-option", "compress-arrays{centred=true}"
    )
    assert done.returncode == 0, done.stderr
    assert "a: float as 16 bits, centred, 400 bytes in 200, range [300, 309.9]" in done.stderr
    assert "b: float as 12 bits, 400" in done.stderr and "c: float as half" in done.stderr


def test_all_numbers_equal(tmp_path: Path):
    source = """
int main(void) {
  float a[100]; double b[100];
  for (int i = 0; i < 100; i++) a[i] = 0.1f, b[i] = -343.15;
  int wrong = 0;
  #pragma acc parallel loop ccopy(centred: a, b) reduction(+:wrong)
  for (int i = 0; i < 100; i++) { wrong += a[i] != 0.1f || b[i] != -343.15; a[i] = b[i] = i; }
  for (int i = 0; i < 100; i++) wrong += a[i] != 0.1f || b[i] != -343.15;
  printf("%d\\n", wrong);
}
"""
    assert output(tmp_path, source) == "0\n"


EMPTY = """
struct p { float x, y; };
int main(int argc, char **argv) {
  int n = argc - 1;
  float *a = NULL; struct p *s = malloc(8);
  #pragma acc data ccopyin(centred: a[0:n]) ccopy(soa: s[0:n])
  #pragma acc parallel loop present(a[0:n], s[0:n]) compression(centred: a) compression(soa: s)
  for (int i = 0; i < n; i++) s[i].x = a[i] + s[i].y;
  printf("%d\\n", n);
}
"""


def test_no_numbers(tmp_path: Path):
    """What has no range has any coefficients."""
    assert output(tmp_path, EMPTY) == "0\n"


MEMBERS = """
struct loc { REAL lat, lon, height; };
void near(int n, struct loc *r, REAL *d) {
  #pragma acc parallel loop present(d[0:n]) compression(FMT: r)
  for (int i = 0; i < n; i++) {
    d[i] = r[i].lat + r[i].lon;
    r[i].height = r[i].height * 0.5f;
  }
}
int main(void) {
  int n = 1003;
  struct loc *r = malloc(n * sizeof *r); REAL *d = malloc(n * sizeof *d);
  for (int i = 0; i < n; i++)
    r[i].lat = 7 + i % 64, r[i].lon = 260 + i % 99, r[i].height = 1e-3f * (i % 100);
  #pragma acc data ccopy(FMT: r[0:n]) copyout(d[0:n])
  near(n, r, d);
  double worst[3] = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    worst[0] = fmax(worst[0], fabs(r[i].lat - (7 + i % 64)));
    worst[1] = fmax(worst[1], fabs(r[i].lon - (260 + i % 99)));
    worst[2] = fmax(worst[2], fabs(r[i].height - 0.5 * (1e-3f * (i % 100))));
  }
  printf("%.2e %.2e %.2e\\n", worst[0], worst[1], worst[2]);
}
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("fmt", "bounds"),
    [
        ("soa", (70 / 2**16, 358 / 2**16, 0.1 / 2**16)),
        ("soa, centred", (32 / 2**16, 50 / 2**16, 0.05 / 2**16)),
        ("soa, centred, bits12", (32 / 2**12, 50 / 2**12, 0.05 / 2**12)),
    ],
)
@pytest.mark.parametrize("target", ["host", "nvptx", "sim"])
@pytest.mark.parametrize("real", ["float", "double"])
def test_a_range_for_each_member(
    tmp_path: Path, real: str, fmt: str, bounds: tuple[float, ...], target: str
):
    """A member of small numbers beside one of large ones keeps its accuracy, stores included."""
    if real == "double" and "bits" not in fmt:
        bounds = tuple(bound / 2**16 for bound in bounds)
    source = f"#define REAL {real}\n#define FMT {fmt}\n{MEMBERS}"
    options = () if target == "sim" else ("--pass-option", f"compress-arrays{{target={target}}}")
    text = output(tmp_path, source, *options, target="sim" if target == "sim" else "host")
    for found, bound in zip(map(float, text.split()), bounds, strict=True):
        # Twice: on the way in, and of the second member in the store.
        assert found <= 2.2 * bound


def test_ranges_of_members_in_the_report(tmp_path: Path):
    source = """
struct p { float x, y; };
int main(void) {
  struct p a[100], b[100];
  for (int i = 0; i < 100; i++) a[i].x = i, a[i].y = -i * 1e-3f, b[i] = a[i];
  #pragma acc data ccopyin(soa, centred: a) ccopyin(soa: b[0:100:-1:99])
  {
    float *c = acc_get_coef(a); double r[6];
    acc_compression_statistics(a, r);
    printf("%.1f %.4f %.2f %.2f\\n", c[1] + 1.5 * c[0], c[4] + 1.5 * c[3], r[0], r[1]);
    c = acc_get_coef(b);
    printf("%d %d\\n", c[0] == c[3], c[1] == c[4]);
  }
}
"""
    done = run(tmp_path, source, "--compression-report")
    assert done.stdout == "49.5 -0.0495 -0.10 99.00\n1 1\n", done.stderr
    assert (
        "a: float as 16 bits, centred, 2 arrays, 800 bytes in 400, ranges [0, 99], [-0.099, 0]"
        in (done.stderr)
    )
    assert "b: float as 16 bits, 2 arrays, 800 bytes in 400, range [-1, 99]" in done.stderr
    # Of the member with the greater numbers.
    assert (match := re.search(r"a: .*largest error (\S+) absolute", done.stderr))
    assert 3e-4 < float(match[1]) < 99.5 * 2**-17 + 5e-6


def test_routines(tmp_path: Path):
    source = """
int main(void) {
  int n = 64;
  float a[64], c[3], e[6]; struct { float x, y; } p[64];
  for (int i = 0; i < n; i++) a[i] = 300 + i * 0.1f, p[i].x = a[i], p[i].y = i;
  acc_compress_copyin(a, n * 4, "float:centred", c, 1, 0, 0);
  acc_compress_copyin(p, n * 8, "float:bits12:centred:soa2", e, 1, 0, 0);
  printf("%.2f %.2f %.1f\\n", c[1] + 1.5f * c[0], e[1] + 1.5f * e[0], e[4] + 1.5f * e[3]);
  #pragma acc parallel loop compression(centred: a) compression(soa, centred, bits12: p)
  for (int i = 0; i < n; i++) a[i] = p[i].x, p[i].y = 1;
  acc_update_self(a, n * 4);
  acc_decompress_copyout(p, n * 8);
  printf("%d %d\\n", fabs(a[9] - 300.9) < 2e-3, fabs(p[9].y - 1) < 1e-2);
}
"""
    assert output(tmp_path, source) == "303.15 303.15 31.5\n1 1\n"


COMPILE_ERRORS = {
    "half": (
        loop("ccopy(centred, half: a)"),
        "'a' in 'ccopy' has the format 'half', which has no range that could be centred",
        "leave out 'centred', or write bits16 for 'half'",
    ),
    "bfloat16": (
        loop("ccopyin(a) compression(bfloat16, centred: a)"),
        "has the format 'bfloat16', which has no range that could be centred",
        "bits16",
    ),
    "plain": (
        loop("ccopy(soa, plain, centred: a)", "struct { float x, y; } a[100]", "a[i].x += 1;"),
        "has the format 'plain', which has no range that could be centred",
        "leave out 'centred'",
    ),
    "American": (loop("ccopy(centered: a)"), "did you mean 'centred'?", ""),
    "twice": (loop("ccopy(centred, centred: a)"), "modifier 'centred' is given twice", "remove"),
    "no range": (
        loop("ccopyout(centred: a[0:100])"),
        "has no range, and the clause copies no data",
        "write",
    ),
    "contradiction": (
        loop("ccopy(a) compression(centred: a)"),
        "compressed in two ways on one construct",
        "give the format in one of the clauses",
    ),
}


@pytest.mark.parametrize("case", COMPILE_ERRORS)
def test_compile_errors(tmp_path: Path, case: str):
    source, message, remedy = COMPILE_ERRORS[case]
    done = run(tmp_path, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stderr and remedy in done.stderr
    assert "internal" not in done.stderr


RUN_ERRORS = {
    "formats differ": (
        data("ccopy(centred: a)", "compression(a)"),
        "but the array on the device has the format float as 16 bits, centred",
    ),
    "routine type": (
        'int main(void) { float a[9]; acc_compress_copyin(a, 36, "float:half:centred", NULL, 1, 0, 0); }',
        "half has no range that could be centred",
    ),
    "too large": (
        data("ccopy(centred: a[0:100:-3e38:3e38])", "compression(centred: a)"),
        "exceeds",
    ),
}


@pytest.mark.parametrize("case", RUN_ERRORS)
def test_run_time_errors(tmp_path: Path, case: str):
    source, message = RUN_ERRORS[case]
    done = run(tmp_path, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stderr
    assert "internal" not in done.stderr
