/* Sections through arrays of pointers (2.7.1): float **, float *[], pointers to them, members. */
#include "check.h"
#include <openacc.h>

typedef struct { int n, m; double **row; } Grid;

static double **make(int n, int m) {
  double **a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++) {
    a[i] = malloc(m * sizeof **a);
    for (int j = 0; j < m; j++)
      a[i][j] = i * m + j;
  }
  return a;
}

static double total(double **a, int n, int m) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sum += a[i][j] * (i + 1);
  return sum;
}

static void construct(int n, int m) {
  double **a = make(n, m), *fixed[4];
  for (int i = 0; i < 4; i++) {
    fixed[i] = malloc(m * sizeof(double));
    for (int j = 0; j < m; j++)
      fixed[i][j] = i;
  }
#pragma acc parallel loop collapse(2) copy(a[0:n][0:m]) copyin(fixed[0:4][0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = 2 * a[i][j] + fixed[i % 4][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      CHECK_NEAR(a[i][j], 2 * (i * m + j) + i % 4);
  CHECK(!acc_is_present(a, 8) && !acc_is_present(a[0], 8));
}

static void region(int n, int m) {
  double **a = make(n, m), **b = make(n, m);
  double before = total(a, n, m);
#pragma acc data copyin(a[0:n][0:m]) create(b[0:n][0:m])
  {
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        b[i][j] = a[i][j] + 1;
#pragma acc update self(b[1:2][2:3])
    CHECK(b[1][2] == m + 3 && b[2][4] == 2 * m + 5);
    if (separate_memory())
      CHECK(b[0][0] == 0 && b[1][5] == m + 5);
    b[1][2] = -1;
#pragma acc update device(b[1:1][2:1])
#pragma acc serial present(b[0:n][0:m])
    b[0][0] = b[1][2];
#pragma acc update self(b[0:1][0:1])
    CHECK(b[0][0] == -1);
  }
  CHECK(total(a, n, m) == before);
}

static void unstructured(int n, int m) {
  double **a = make(n, m);
  double before = total(a, n, m);
#pragma acc enter data copyin(a[0:n][0:m])
#pragma acc enter data copyin(a[0:n][0:m])
  CHECK(acc_is_present(a[n - 1], m * sizeof(double)));
#pragma acc kernels present(a[0:n][0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += 1;
#pragma acc exit data delete(a[0:n][0:m])
  CHECK(acc_is_present(a[n - 1], m * sizeof(double)));
#pragma acc exit data copyout(a[0:n][0:m])
  if (separate_memory())
    CHECK(!acc_is_present(a[n - 1], m * sizeof(double)) && !acc_is_present(a, 8));
  CHECK_NEAR(total(a, n, m), before + m * n * (n + 1) / 2);
#pragma acc data copyout(a[1:2][0:m])
  {
#pragma acc parallel loop
    for (int j = 0; j < m; j++) {
      a[1][j] = j;
      a[2][j] = 2 * j;
    }
  }
  CHECK(a[1][3] == 3 && a[2][4] == 8 && a[0][1] == 2);
}

static void deep(void) {
  int ***c = malloc(3 * sizeof *c), (**rows)[4] = malloc(2 * sizeof *rows);
  for (int i = 0; i < 3; i++) {
    c[i] = malloc(2 * sizeof **c);
    for (int j = 0; j < 2; j++) {
      c[i][j] = malloc(5 * sizeof ***c);
      for (int k = 0; k < 5; k++)
        c[i][j][k] = 100 * i + 10 * j + k;
    }
  }
#pragma acc parallel loop collapse(3) copy(c[0:3][0:2][0:5])
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 5; k++)
        c[i][j][k] *= -1;
  CHECK(c[2][1][4] == -214 && c[0][1][0] == -10);

  for (int i = 0; i < 2; i++)
    rows[i] = calloc(3, sizeof *rows[i]);
#pragma acc parallel loop collapse(2) copy(rows[0:2][0:3])
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++)
        rows[i][j][k] = i + j + k;
  CHECK(rows[1][2][3] == 6);

  Grid g = {4, 6, make(4, 6)};
#pragma acc parallel loop copy(g.row[0:g.n][0:g.m])
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      g.row[i][j] += 0.5;
  CHECK(g.row[3][5] == 23.5);
}

/* Kernels constructs: sums over rows, whose results are no rows; and rows that are read from the one before. */
static void kernels(int n, int m, double **a, double *restrict sums, float *halves) {
#pragma acc kernels copyin(a[0:n][0:m]) copyout(sums[0:n])
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    sums[i] = s;
  }
#pragma acc kernels copyin(a[0:n][0:m]) copyout(halves[0:n])
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j] / 2;
    halves[i] = s;
  }
#pragma acc kernels copy(a[0:n][0:m])
  for (int i = 1; i < n; i++)
    a[i][0] = a[i - 1][0] + 1;
}

static void rows_in_kernels(int n, int m) {
  double **a = make(n, m), sums[8];
  float halves[8];
  int right = 1;
  kernels(n, m, a, sums, halves);
  for (int i = 0; i < n; i++) {
    double s = i * m * m + m * (m - 1) / 2;
    right &= sums[i] == s && halves[i] == s / 2 && a[i][0] == i;
  }
  CHECK(right);
}

int main(void) {
  construct(6, 9);
  region(5, 8);
  unstructured(4, 7);
  deep();
  rows_in_kernels(8, 6);
  return report();
}
