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
  return report();
}
