/* Nests that reduce while neighbouring rows share what they read: every number of rows gives the serial result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void check(const char *name, int n, int m, double got, double expected) {
  if (got == expected) return;
  printf("%s of %d x %d: %g, expected %g\n", name, n, m, got, expected);
  wrong++;
}

static float step(int n, int m, const float *a, float *b) {
  float change = 0;
#pragma acc parallel loop reduction(max : change) copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 1; i < n - 1; i++)
#pragma acc loop reduction(max : change)
    for (int j = 1; j < m - 1; j++) {
      b[i * m + j] = 0.25f * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
      change = fmaxf(change, fabsf(b[i * m + j] - a[i * m + j]));
    }
  return change;
}

static float serial_step(int n, int m, const float *a, float *b) {
  float change = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      b[i * m + j] = 0.25f * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
      change = fmaxf(change, fabsf(b[i * m + j] - a[i * m + j]));
    }
  return change;
}

/* Several variables, of several types and operators. */
static double mixed(int n, int m, const float *a) {
  int rising = 0, all = 1, first = 1 << 30;
  double total = 0;
#pragma acc parallel loop reduction(+ : rising, total) reduction(&& : all) reduction(min : first) copyin(a[0:n * m])
  for (int i = 1; i < n; i++)
#pragma acc loop reduction(+ : rising, total) reduction(&& : all) reduction(min : first)
    for (int j = 0; j < m; j++) {
      if (a[i * m + j] > a[(i - 1) * m + j]) rising++;
      total += (int)(a[i * m + j] - a[(i - 1) * m + j]);
      all = all && a[i * m + j] < 1000;
      if (a[i * m + j] == 7 && i * m + j < first) first = i * m + j;
    }
  return rising + 3.0 * total + 5.0 * all + 7.0 * first;
}

static double serial_mixed(int n, int m, const float *a) {
  int rising = 0, all = 1, first = 1 << 30;
  double total = 0;
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (a[i * m + j] > a[(i - 1) * m + j]) rising++;
      total += (int)(a[i * m + j] - a[(i - 1) * m + j]);
      all = all && a[i * m + j] < 1000;
      if (a[i * m + j] == 7 && i * m + j < first) first = i * m + j;
    }
  return rising + 3.0 * total + 5.0 * all + 7.0 * first;
}

int main(void) {
  int rows[] = {1, 2, 3, 6, 7, 23}, columns[] = {3, 150};
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 2; c++) {
      int n = rows[r], m = columns[c], differ = 0;
      float *a = malloc(n * m * sizeof *a), *b = calloc(n * m, sizeof *b), *d = calloc(n * m, sizeof *d);
      for (int e = 0; e < n * m; e++) a[e] = e * 7919 % 101 - 20;
      check("change", n, m, step(n, m, a, b), serial_step(n, m, a, d));
      for (int e = 0; e < n * m; e++) differ += b[e] != d[e];
      check("elements", n, m, differ, 0);
      check("mixed", n, m, mixed(n, m, a), serial_mixed(n, m, a));
      free(a), free(b), free(d);
    }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
