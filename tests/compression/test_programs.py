"""
Whole programs with compressed arrays on the host target: what the host sees, and every error's
message. The simulated and the real GPU run the same code (`test_kernels.py`, `test_gpu.py`).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.base.packed import Code, PackedFormat, coefficients
from accopt.runtime.compression.codec import Codec
from tools import commands

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <openacc.h>
"""


def run(
    tmp_path: Path, source: str | list[str], *options: str, target: str = "host"
) -> subprocess.CompletedProcess[str]:
    sources = [source] if isinstance(source, str) else source
    paths: list[str] = []
    for number, text in enumerate(sources):
        path = tmp_path / f"p{number}.c"
        path.write_text(HEAD + text)
        paths.append(str(path))
    command = ["accrun", f"--target={target}"]
    return commands.run(
        [*command, *options, *paths], timeout=120, env={**os.environ, "ACCOPT_DEBUG": "1"}
    )


def output(tmp_path: Path, source: str | list[str], *options: str, target: str = "host") -> str:
    done = run(tmp_path, source, *options, target=target)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LISTING = """
int main(void) {
  int n = 100;
  float *a = malloc(n * n * 4), *b = malloc(n * n * 4), *c = malloc(n * n * 4);
  for (int i = 0; i < n * n; i++) { a[i] = sinf(i); b[i] = cosf(i); }
  #pragma acc data pccopyin(a[0:n*n], b[0:n*n]) pcopyout(c[0:n*n])
  #pragma acc kernels compression(a, b)
  #pragma acc loop independent
  for (int i = 0; i < n; ++i) {
    #pragma acc loop independent
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; l < n; l++) sum += a[i*n+l] * b[l*n+j];
      c[i*n+j] = sum;
    }
  }
  double worst = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int l = 0; l < n; l++) sum += (double)a[i*n+l] * b[l*n+j];
    if (fabs(sum - c[i*n+j]) > worst) worst = fabs(sum - c[i*n+j]);
  }
  printf("%s\\n", worst > 0 && worst < 2e-3 ? "good" : "bad");
}
"""


@pytest.mark.parametrize("target", ["host", "sim"])
def test_the_listing_of_the_thesis(tmp_path: Path, target: str):
    assert output(tmp_path, LISTING, target=target) == "good\n"


def test_kernels_in_several_pieces(tmp_path: Path):
    source = """
int main(void) {
  int n = 1000;
  float a[1000], b[1000];
  for (int i = 0; i < n; i++) { a[i] = i * 0.001f; b[i] = 0; }
  #pragma acc data ccopy(a) copyout(b)
  #pragma acc kernels compression(a)
  {
    for (int i = 0; i < n; i++) b[i] = a[i];
    a[7] = 0.5f;
    for (int i = 0; i < n; i++) a[i] = a[i] * 0.5f;
  }
  printf("%.3f %.3f %.3f\\n", b[500], a[500], a[7]);
}
"""
    assert output(tmp_path, source) == "0.500 0.250 0.250\n"


def test_two_files_and_two_functions(tmp_path: Path):
    one = """
void scale(double *x, int n);
int main(void) {
  int n = 777;
  double *x = malloc(n * sizeof *x);
  for (int i = 0; i < n; i++) x[i] = i;
  #pragma acc enter data ccopyin(x[0:n:-10:2000])
  scale(x, n);
  #pragma acc update self(x[0:10])
  printf("%.5f %.5f\\n", x[9], x[10]);
  x[3] = -7;
  #pragma acc update device(x[3:1])
  scale(x, n);
  #pragma acc exit data copyout(x[0:n])
  printf("%.4f %.4f %.4f\\n", x[3], x[9], x[776]);
}
"""
    two = """
void scale(double *x, int n) {
  #pragma acc parallel loop compression(x)
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.25;
}
"""
    assert output(tmp_path, [one, two]) == "11.25000 10.00000\n-8.7500 14.0625 1212.5000\n"


def test_multidimensional_and_variable_length(tmp_path: Path):
    source = """
void go(int n, int m, float v[n][m], float w[40][30]) {
  #pragma acc parallel loop collapse(2) compression(v, w)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      w[i][j] = v[i][j] + 1.0f;
}
int main(void) {
  int n = 40, m = 30;
  float v[n][m]; static float w[40][30];
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) v[i][j] = (i * m + j) / 1200.0f;
  #pragma acc data ccopyin(v[0:n][0:m]) ccopyout(w[0:40][0:30:0:4])
  go(n, m, v, w);
  int wrong = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    wrong += fabs(w[i][j] - v[i][j] - 1) > 1e-4;
  printf("%d\\n", wrong);
}
"""
    assert output(tmp_path, source) == "0\n"


@pytest.mark.parametrize("first", [0, 1, 5])
def test_sections_and_aliases(tmp_path: Path, first: int):
    """The section begins somewhere in the array, and the kernel uses another base pointer."""
    source = f"""
int main(void) {{
  int n = 200, s = {first};
  float *a = malloc(n * 4), *b = malloc(n * 4);
  for (int i = 0; i < n; i++) a[i] = b[i] = i;
  #pragma acc data ccopy(a[s:n-s])
  {{
    float *p = a + s;
    #pragma acc parallel loop present(p[0:n-s]) compression(p)
    for (int i = 0; i < n - s; i++) p[i] = p[i] - 1;
    #pragma acc parallel loop present(a[s:n-s]) compression(a)
    for (int i = s; i < n; i++) a[i] = a[i] / 2;
  }}
  float worst = 0;
  for (int i = 0; i < n; i++)
    worst = fmaxf(worst, fabsf(a[i] - (i < s ? b[i] : (b[i] - 1) / 2)));
  printf("%d\\n", worst < 8e-3f);
}}
"""
    for options in ((), ("--pass-option", "compress-arrays{target=nvptx}")):
        assert output(tmp_path, source, *options) == "1\n"


def test_structures_globals_and_async(tmp_path: Path):
    source = """
struct point { float x, y, z; };
float grid[500];
int main(void) {
  int n = 300;
  struct point *p = malloc(n * sizeof *p);
  for (int i = 0; i < n; i++) p[i].x = i, p[i].y = -i, p[i].z = 1;
  for (int i = 0; i < 500; i++) grid[i] = 0;
  #pragma acc data ccopy(p[0:n]) compression_copy(bits20: grid[0:500:-300:300])
  {
    #pragma acc parallel loop compression(p) compression(bits20: grid) async(3)
    for (int i = 0; i < n; i++) { p[i].z = p[i].x + p[i].y; grid[i] = p[i].x; }
    #pragma acc wait(3)
  }
  printf("%.2f %.2f %.3f\\n", fabsf(p[20].z), p[299].x, grid[299]);
}
"""
    assert output(tmp_path, source) == "0.00 299.00 299.000\n"


def test_wait_free_async_transfers_keep_their_order(tmp_path: Path):
    source = """
int main(void) {
  int n = 100000;
  float *a = malloc(n * 4);
  for (int i = 0; i < n; i++) a[i] = 1;
  #pragma acc parallel loop ccopy(a[0:n:0:2]) async(1)
  for (int i = 0; i < n; i++) a[i] = a[i] * 1.5f;
  #pragma acc wait
  printf("%.3f %.3f\\n", a[0], a[n - 1]);
}
"""
    assert output(tmp_path, source) == "1.500 1.500\n"


def test_defaults_come_from_the_pass_options(tmp_path: Path):
    source = """
int main(void) {
  float a[256]; double d[256];
  for (int i = 0; i < 256; i++) d[i] = a[i] = i / 256.0f;
  #pragma acc parallel loop ccopy(a, d)
  for (int i = 0; i < 256; i++) { a[i] = a[i] + 0; d[i] = d[i] + 0; }
  acc_compression_report();
}
"""
    done = run(tmp_path, source, "--pass-option", "compress-arrays{float=10 double=20}")
    assert done.returncode == 0
    assert "float as 10 bits, 1024 bytes in 512" in done.stderr
    assert "double as 20 bits, 2048 bytes in 768" in done.stderr


def test_report(tmp_path: Path):
    source = """
int main(void) {
  int n = 1000;
  float a[1000];
  for (int i = 0; i < n; i++) a[i] = i - 500;
  a[0] = 1e6f; a[1] = NAN;
  #pragma acc parallel loop compression_copy(a[0:n:-500:500])
  for (int i = 0; i < n; i++) if (i >= 990) a[i] = 700;
  double r[6];
  printf("%d %d %.1f %.1f\\n", acc_compression_statistics(a, r), a[0] > 500 && a[0] < 510, a[2], a[995]);
}
"""
    done = run(tmp_path, source, "--compression-report")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 1 -498.0 502.5")
    assert "a: float as 16 bits, 4000 bytes in 2000, range [-500, 500]" in done.stderr
    assert "saturated 2 on the way in, 10 in stores" in done.stderr


def test_report_of_all_formats(tmp_path: Path):
    """Sizes, ranges and errors are those of a round trip in the host's codec."""
    formats = ("float bits8", "float bits20", "float half", "double bits12", "double bits40")
    declared, copies = "", ""
    for number, text in enumerate(formats):
        real, code = text.split()
        declared += f"  {real} a{number}[997];\n"
        declared += f"  for (int i = 0; i < 997; i++) a{number}[i] = i / 512.0 - 1;\n"
        copies += f"  #pragma acc data ccopyin({code}: a{number})\n  ;\n"
    source = f"int main(void) {{\n{declared}{copies}}}\n"
    done = run(tmp_path, source, "--compression-report")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("compression: ")]
    assert len(lines) == len(formats)
    for number, (text, line) in enumerate(zip(formats, lines, strict=True)):
        real, code = text.split()
        base, bits = (32 if real == "float" else 64), int(code[4:] or 0) if code != "half" else 16
        fmt = PackedFormat(base, Code.HALF if code == "half" else Code.RANGE, bits)
        x = (np.arange(997) / 512.0 - 1).astype(np.float32 if base == 32 else np.float64)
        coefs = coefficients(fmt, float(x.min()), float(x.max()))
        measured = Codec(fmt).measure(x.ctypes.data, len(x), coefs)
        sizes = f"{x.nbytes} bytes in {997 * fmt.storage_bytes}"
        limits = "" if code == "half" else f", range [{x.min():g}, {x.max():g}]"
        errors = f"{measured.absolute:.3g} absolute, {100 * measured.relative:.3g} % relative"
        assert line == (
            f"compression: a{number}: {fmt}, {sizes}{limits}, largest error {errors},"
            " saturated 0 on the way in, 0 in stores"
        )


def test_host_with_shared_memory(tmp_path: Path):
    """Host memory is plain, so a compressed array has a device copy even there."""
    assert output(tmp_path, LISTING, "--shared-memory") == "good\n"


def test_routines(tmp_path: Path):
    source = """
int main(void) {
  int n = 64;
  float *a = malloc(n * 4), c[3];
  for (int i = 0; i < n; i++) a[i] = i;
  void *d = acc_compress_copyin(a, n * 4, "float", c, 0, 0, 64);
  float *k = acc_get_coef(a + 5);
  printf("%d %d %d\\n", d == acc_deviceptr(a), acc_isComp(a) == d, k[0] == c[0] && k[1] == -1.5f * c[0]);
  printf("%d\\n", (char *)acc_deviceptr(a + 8) - (char *)d == 16);
  printf("%d\\n", acc_hostptr((char *)d + 16) == a + 8);
  #pragma acc parallel loop compression(a)
  for (int i = 0; i < n; i++) a[i] = 63 - i;
  acc_update_self(a, n * 4);
  printf("%.2f ", a[3]);
  acc_decompress_copyout(a, n * 4);
  printf("%.2f %d %d\\n", a[60], acc_is_present(a, 4), acc_get_coef(a) == NULL);
}
"""
    assert output(tmp_path, source) == "1 1 1\n1\n1\n60.00 3.00 0 1\n"


ARRAYS = """
struct loc { float lat, lon; };
#ifndef FMT
#define FMT soa
#endif
void near(int n, struct loc *r, float *d) {
#pragma acc parallel loop present(d[0:n]) compression(FMT: r)
  for (int i = 0; i < n; i++) {
    float a = r[i].lat - 30, b = r[i].lon - 90;
    d[i] = sqrtf(a*a + b*b);
    r[i].lon = -r[i].lat;
  }
}
int main(void) {
  int n = 1003;
  struct loc *r = malloc(n * sizeof *r); float *d = malloc(n * 4);
  for (int i = 0; i < n; i++) r[i].lat = i % 90, r[i].lon = (i * 7) % 90;
  float worst = 0, w2 = 0;
  #pragma acc data ccopy(FMT: r[0:n]) copyout(d[0:n])
  near(n, r, d);
  for (int i = 0; i < n; i++) {
    float e = fabsf(d[i] - hypotf(i % 90 - 30, (i * 7) % 90 - 90)); if (e > worst) worst = e;
    e = fabsf(r[i].lon + i % 90); if (e > w2) w2 = e;
    e = fabsf(r[i].lat - i % 90); if (e > w2) w2 = e;
  }
  #pragma acc enter data ccopyin(FMT: r[10:20])
  r[15].lat = 1;
  #pragma acc update device(r[14:3])
  r[15].lat = r[15].lon = 0;
  #pragma acc update self(r[15:1])
  printf("%d %d %.3f\\n", worst < 3e-3f, w2 < 2e-3f, r[15].lat);
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fmt", ["soa", "soa,plain", "soa,half", "bits20,soa"])
@pytest.mark.parametrize("target", ["host", "nvptx"])
def test_structure_of_arrays(tmp_path: Path, fmt: str, target: str):
    options = f"-DFMT={fmt}", "--pass-option", f"compress-arrays{{target={target}}}"
    assert output(tmp_path, ARRAYS, *options) == "1 1 1.000\n"


CACHED = """
void step(int n, float (*restrict t)[n], float (*restrict r)[n]) {
  #pragma acc parallel loop collapse(2) present(t[0:n], r[0:n]) compression(t, r)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      #pragma acc cache(readonly: t[i-1:3][j-1:3])
      r[i][j] = 0.25f * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]);
    }
}
int main(void) {
  int n = 70;
  float (*t)[n] = malloc(n * n * 4), (*r)[n] = malloc(n * n * 4);
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[i][j] = i * 0.5f + j, r[i][j] = 0;
  #pragma acc data ccopyin(t[0:n]) ccopy(r[0:n:0:200])
  step(n, t, r);
  int wrong = 0;
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    wrong += fabs(r[i][j] - (i * 0.5 + j)) > 1e-2;
  printf("%d\\n", wrong);
}
"""


@pytest.mark.parametrize("fetch", ["registers", "async", "bulk"])
def test_decoding_into_a_cached_tile(tmp_path: Path, fetch: str):
    option = f"promote-cache-to-shared{{promote=always fetch={fetch}}}"
    assert output(tmp_path, CACHED, "--no-checks", "--pass-option", option, target="sim") == "0\n"


CONDITIONS = """
int main(int argc, char **argv) {
  int n = 100; double lo = 0, hi = argc * 200;
  float a[100];
  for (int i = 0; i < n; i++) a[i] = i;
  for (int k = 0; k < 2; k++) {
    #pragma acc parallel loop if(k) ccopy(a[0:n:lo:hi])
    for (int i = 0; i < n; i++) a[i] += 1;
  }
  printf("%.2f\\n", a[9]);
  #pragma acc serial loop ccopy(a[0:n:lo:hi])
  for (int i = 0; i < n; i++) a[i] += 1;
  #pragma acc kernels loop ccopy(a[0:n:lo:hi])
  for (int i = 0; i < n; i++) a[i] += 1;
  #pragma acc kernels ccopy(a[0:n:lo:hi])
  { for (int i = 0; i < n; i++) a[i] += 1;
    for (int i = 0; i < n; i++) a[i] += 1; }
  #pragma acc parallel loop self(argc > 5) ccopy(a[0:n:lo:hi])
  for (int i = 0; i < n; i++) a[i] += 1;
  #pragma acc enter data if(argc > 7) ccopyin(a[0:n:lo:hi])
  #pragma acc exit data if(argc > 7) compression_copyout(a[0:n])
  float s = 0;
  #pragma acc parallel loop ccopyin(a) reduction(+:s)
  for (int i = 0; i < n; i++) s += a[i];
  printf("%.1f %.0f\\n", a[9], s);
}
"""


def test_conditions_and_every_construct(tmp_path: Path):
    assert output(tmp_path, CONDITIONS, "--verify") == "11.00\n16.0 5650\n"


APART = """
int main(void) {
  float a[256], b[256], c[256]; int at[256];
  for (int i = 0; i < 256; i++) { a[i] = i; at[i] = i * 37 % 256; }
  #pragma acc data ccopyin(a) copyin(at) copyout(b, c)
  {
    #pragma acc parallel loop compression(a)
    for (int i = 0; i < 256; i++) b[i] = a[i];
    #pragma acc parallel loop compression(a)
    for (int i = 0; i < 256; i++) c[i] = a[at[i]];
  }
  return b[2] == 74;
}
"""


def test_remarks(tmp_path: Path):
    done = run(tmp_path, LISTING, "--remarks", target="sim")
    assert "'a' is kept as float as 16 bits: compression does not pay here" in done.stderr
    assert "is kept as" not in run(tmp_path, LISTING, "--remarks").stderr


def test_remarks_on_elements_that_lie_apart(tmp_path: Path):
    done = run(tmp_path, APART, "--remarks", target="sim")
    found = [line for line in done.stderr.splitlines() if "is kept as" in line]
    assert len(found) == 2
    assert "compression pays here, about 1.33 times the speed" in found[0]
    assert "does not pay here, about 1.00 times the speed: neighbouring lanes access" in found[1]
