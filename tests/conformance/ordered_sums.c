/* Sums of floating-point numbers without a reduction clause, whose order counts: down columns and along rows. */
#include "check.h"
enum { ELEMENTS = 9000 };
static float a[ELEMENTS], out[ELEMENTS], last[ELEMENTS];

/* What the order of terms changes: a value that is halved before each addition. */
static void columns(int n, int m) {
  int i, j;
  float s;
#pragma acc parallel loop private(s, i) copyin(a[0 : n * m]) copyout(out[0 : m], last[0 : m])
  for (j = 0; j < m; j++) {
    s = j;
    last[j] = -1;
    for (i = n - 1; i > 0; i--)
      s = s / 2 + a[i * m + j] * a[i];
    for (i = 0; i < 3; i++)
      last[j] = a[i] + j;
    out[j] = s;
  }
#pragma acc parallel loop copyin(a[0 : n * m]) copyout(last[0 : m])
  for (j = 0; j < m; j++) {
    float t = 1;
    for (i = n - 1; i > 0; i -= 2) {
      t = t / 2 + a[i * m + j];
    }
    last[j] = t;
  }
  for (j = 0; j < m; j++) {
    float t = j;
    for (i = n - 1; i > 0; i--)
      t = t / 2 + a[i * m + j] * a[i];
    CHECK_NEAR(out[j], t);
    t = 1;
    for (i = n - 1; i > 0; i -= 2)
      t = t / 2 + a[i * m + j];
    CHECK_NEAR(last[j], t);
  }
}

/* Sums in memory, of two groups of rows. */
static void rows(int n, int m) {
  int k, i, j;
#pragma acc parallel loop collapse(2) copyin(a[0 : 2 * n * m]) copyout(out[0 : 2 * n])
  for (k = 0; k < 2; k++)
    for (j = 0; j < n; j++) {
      out[k * n + j] = k;
      for (i = 0; i < m; i++)
        out[k * n + j] = out[k * n + j] / 3 + a[(k * n + j) * m + i];
    }
  for (j = 0; j < 2 * n; j++) {
    float s = j / n;
    for (i = 0; i < m; i++)
      s = s / 3 + a[j * m + i];
    CHECK_NEAR(out[j], s);
  }
}

/* Two sums in memory of one loop, both set before it; between them other elements of them are read or set. */
static void both(int n, int m) {
  int i, j;
#pragma acc parallel loop copyin(a[0 : n * m]) copyout(out[0 : n], last[0 : n])
  for (j = 0; j < n; j++) {
    out[j] = 0;
    last[j] = j;
    for (i = 0; i < m; i++) {
      out[j] += a[j * m + i] * a[i];
      last[j] = last[j] / 2 + a[j * m + i];
    }
    out[j] = 2 * out[j] + last[j];
  }
  for (j = 0; j < n; j++) {
    float s = 0, t = j;
    for (i = 0; i < m; i++)
      s += a[j * m + i] * a[i], t = t / 2 + a[j * m + i];
    CHECK_NEAR(out[j], 2 * s + t);
    CHECK_NEAR(last[j], t);
  }
#pragma acc kernels copyin(a[0 : n * m]) copyout(out[0 : n], last[0 : n + 1])
  for (j = 0; j < n; j++) {
    out[j] = 1;
    last[j + 1] = out[j];
    last[j] = 2;
    for (i = 0; i < m; i++) {
      out[j] += a[j * m + i];
      last[j] += a[j * m + i] * 2;
    }
  }
  for (j = 0; j < n; j++) {
    float s = 1, t = 2;
    for (i = 0; i < m; i++)
      s += a[j * m + i], t += a[j * m + i] * 2;
    CHECK_NEAR(out[j], s);
    CHECK_NEAR(last[j], t);
  }
  CHECK_NEAR(last[n], 1);
}

int main(void) {
  static const int widths[] = {1, 3, 40, 100};
  unsigned k;
  int i;
  for (i = 0; i < ELEMENTS; i++)
    a[i] = i % 17 - i % 5 * .25f;
  for (k = 0; k < sizeof widths / sizeof *widths; k++)
    columns(ELEMENTS / widths[k], widths[k]);
  rows(40, 100);
  rows(3, 1001);
  rows(100, 31);
  both(40, 100);
  both(3, 1001);
  both(20, 0);
  return report();
}
