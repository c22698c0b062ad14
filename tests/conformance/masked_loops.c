/* Loops that iterations leave at different times: in lanes of vector registers on CPU threads. Every nest runs with
   and without directives; the number of iterations is not a multiple of the lanes. Products are exact, fused or not. */
#include "check.h"
#include <math.h>
#include <string.h>

enum { N = 203, M = 30 };

static float f[M][N], g[M][N], fs[M][N];
static double d[M][N], ds[M][N];
static int n[N], m[N], ns[N], ms[N];

static void fill(void) {
  for (int k = 0; k < M; k++)
    for (int i = 0; i < N; i++)
      f[k][i] = fs[k][i] = ((i * 37 + k * 11) % 101) / 64.0f, d[k][i] = ds[k][i] = ((i * 13 + k * 7) % 97) / 32.0,
      g[k][i] = 0.5f + (i + k) % 3;
  for (int i = 0; i < N; i++)
    n[i] = ns[i] = m[i] = ms[i] = (i * 29) % 17;
}

static int same(void) {
  return !memcmp(f, fs, sizeof f) && !memcmp(d, ds, sizeof d) && !memcmp(n, ns, sizeof n) && !memcmp(m, ms, sizeof m);
}

#define BOTH(NAME, ...)                                              \
  static void NAME##_here(void) {                                    \
    float (*f)[N] = fs; double (*d)[N] = ds; int *n = ns, *m = ms;   \
    (void)f, (void)d, (void)n, (void)m;                              \
    for (int i = 0; i < N; i++) { __VA_ARGS__ }                      \
  }                                                                  \
  static void NAME##_there(void) {                                   \
    _Pragma("acc parallel loop copy(f, d, n, m) copyin(g)")          \
    for (int i = 0; i < N; i++) { __VA_ARGS__ }                      \
  }                                                                  \
  static int NAME(void) { fill(); NAME##_here(); NAME##_there(); return same(); }

BOTH(condition_first, int k = 0; float s = f[0][i]; while (s < 3.0f && k < M) { s += f[k][i]; k++; } f[0][i] = s; n[i] = k;)
BOTH(condition_last, int k = 0; double s = 1; do { s *= 1.5; d[k % M][i] += s; k++; } while (s < 10 * (i % 7)); n[i] = k;)
BOTH(none_at_all, int k = m[i] % 3; while (k > 0) { k -= 2; n[i] += 1; } n[i] += k;)
BOTH(left_by_break, int k; float s = 0; for (k = 0; k < M; k++) { s += f[k][i]; if (s > 4.0f) break; f[k][i] = s; } n[i] = k; f[1][i] = s;)
BOTH(break_with_code, int k; int what = 0; float s = 0; for (k = 0; k < M; k++) {
     s += f[k][i]; if (s > 5.0f) { what = 7; s = -s; break; } if (f[k][i] > 0.9f) { what = 8; break; } f[k][i] *= 2; }
     n[i] = k + 100 * what; f[0][i] = s;)
BOTH(passed_over, int k; double s = 0; for (k = 0; k < M; k++) { if (d[k][i] < 0.5) continue; s += d[k][i]; if (s > 7) break;
     d[k][i] = -d[k][i]; } d[0][i] = s; n[i] = k;)
BOTH(conditions_inside, int k = 0; float s = 0; float t = 1; while (k < n[i] + 5) { if (f[k][i] > 0.5f) { s += f[k][i]; f[k][i] = 0; }
     else if (k % 2) { t *= g[k][i]; n[i] -= 1; } else t = s; k++; } f[0][i] = s; f[2][i] = t; m[i] = k;)
BOTH(by_break, int k; float s = 0, t = f[0][i]; for (k = 0; k < M; k++) { s += t; if (s > 4.0f) break; t *= 1.5f; } n[i] = k; f[1][i] = s;)
BOTH(by_several, int k; int what = 0; float s = f[0][i]; float t = 1; for (k = 0; k < M; k++) {
     s += 0.5f * t; if (s > 5.0f) { what = 7; s = -s; break; } if (t > 3.5f) { what = 8; break; } if (k % 3 == 1) continue; t += 0.25f; }
     n[i] = k + 100 * what; f[0][i] = s; f[1][i] = t;)
BOTH(by_goto, int k = 0; double s = d[0][i]; again: s += 0.25; k++; if (s > 4) goto out; if (k < M && s * k < 40) goto again; k += 1000; out: n[i] = k; d[0][i] = s;)
BOTH(at_the_end, int k = 0; double s = 1; double t = d[1][i]; do { if (s > t + 3) { s *= 1.5; t += 1; } else s += 0.5; k++; } while (s < 10 * (i % 7)); n[i] = k; d[0][i] = s; d[2][i] = t;)
BOTH(of_a_neighbour, int k = 0; float s = f[0][i]; while (s < 2 + g[1][i]) { s += 0.125f + g[2][i] * f[3][i]; f[4][i] += s; if (k > 4) f[5][i] = s; k++; } n[i] = k; f[0][i] = s;)
BOTH(of_another_type, int k = 0; double s = f[0][i]; short h = i; while (s < 9 && h != 3) { s += 0.25 + 0.125 * n[i]; h = h / 2 + 1; k++; } n[i] = k; m[i] = h; d[0][i] = s;)
BOTH(roots, int k = 0; double x = 1 + i; double y = x; while (fabs(y - x / y) > 1e-9 && k < 60) { y = 0.5 * (y + x / y); k++; } d[0][i] = y;
     n[i] = k;)
BOTH(integers, unsigned h = i * 2654435761u; int k = 0; while (h & 0xff) { h = (h >> 1) ^ (h & 1 ? 0xedb88320u : 0); k++; } n[i] = k; m[i] = h >> 8;)
BOTH(collatz, long v = i + 1; int k = 0; while (v != 1) { v = v & 1 ? 3 * v + 1 : v >> 1; k++; } n[i] = k;)
BOTH(inside_a_loop, float s = 0; for (int r = 0; r < 4; r++) { float t = f[r][i]; int k = 0; while (t < r + 1) { t += 0.3f; k++; } s += k; } f[0][i] = s;)
BOTH(divided, int v = n[i] + 50; int k = 0; while (v > 3) { v = v / (k + 2); k++; } m[i] = v; n[i] = k;)
BOTH(jumps, int k = 0; float s = 0; again: s += f[k][i]; k++; if (k < M && s < 3) goto again; n[i] = k; f[0][i] = s;)
BOTH(two_after_another, int k = 0; float s = 0; while (s < 2) { s += 0.1f + f[k][i]; k++; } int j = k; for (; j < M; j++) if (f[j][i] > 0.8f) break;
     n[i] = k; m[i] = j; f[0][i] = s;)

int main(void) {
  CHECK(condition_first());
  CHECK(condition_last());
  CHECK(none_at_all());
  CHECK(left_by_break());
  CHECK(break_with_code());
  CHECK(passed_over());
  CHECK(conditions_inside());
  CHECK(by_break());
  CHECK(by_several());
  CHECK(by_goto());
  CHECK(at_the_end());
  CHECK(of_a_neighbour());
  CHECK(of_another_type());
  CHECK(roots());
  CHECK(integers());
  CHECK(collatz());
  CHECK(inside_a_loop());
  CHECK(divided());
  CHECK(jumps());
  CHECK(two_after_another());
  return report();
}
