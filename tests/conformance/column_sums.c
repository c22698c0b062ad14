/* Sums of columns, few and many, long and short, with code before and after them. */
#include "check.h"
enum { ELEMENTS = 17000 };
static float a[ELEMENTS], out[ELEMENTS];
static int b[ELEMENTS], sums[ELEMENTS], most[ELEMENTS];

/* Each column's sum is added to what was there, and stored twice. */
static void columns(int n, int m) {
  int i, j;
#pragma acc parallel loop copyin(a[0 : n * m]) copy(out[0 : m])
  for (j = 0; j < m; j++) {
    float s = out[j];
#pragma acc loop reduction(+ : s)
    for (i = 1; i < n; i += 2)
      s += a[i * m + j];
    out[j] = s * 2;
  }
  for (j = 0; j < m; j++) {
    float s = j % 5;
    for (i = 1; i < n; i += 2)
      s += a[i * m + j];
    CHECK_NEAR(out[j], 2 * s);
  }
}

/* Two results in a nest of three loops, of integers without a reduction clause, one of them under a condition. */
static void groups(int count, int n, int m) {
  int k, i, j, s, l;
#pragma acc parallel loop collapse(2) private(s, l) copyin(b[0 : count * n * m])                      \
    copyout(sums[0 : count * m], most[0 : count * m])
  for (k = 0; k < count; k++)
    for (j = 0; j < m; j++) {
      s = j;
      l = 0;
      for (i = n - 1; i >= 0; i--) {
        if (b[(k * n + i) * m + j] > 3)
          s += b[(k * n + i) * m + j];
        l ^= b[(k * n + i) * m + j];
      }
      sums[k * m + j] = s;
      if (l != 77)
        most[k * m + j] = l;
    }
  for (k = 0; k < count; k++)
    for (j = 0; j < m; j++) {
      s = j;
      l = 0;
      for (i = 0; i < n; i++) {
        if (b[(k * n + i) * m + j] > 3)
          s += b[(k * n + i) * m + j];
        l ^= b[(k * n + i) * m + j];
      }
      CHECK_EQ(sums[k * m + j], s);
      CHECK_EQ(most[k * m + j], l);
    }
}

int main(void) {
  static const int widths[] = {1, 3, 130, 1100};
  unsigned k;
  int i, j;
  for (i = 0; i < ELEMENTS; i++) {
    a[i] = i % 13 - 3;
    b[i] = i % 11 - 4;
  }
  for (k = 0; k < sizeof widths / sizeof *widths; k++) {
    for (j = 0; j < ELEMENTS; j++)
      out[j] = j % 5;
    columns(ELEMENTS / widths[k], widths[k]);
  }
  groups(2, 2800, 3);
  groups(3, 9, 100);
  return report();
}
