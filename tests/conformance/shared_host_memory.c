/* Pointers, rows and members that the host target uses in place, and what must be copied all the same. */
#include "check.h"

enum { N = 40, M = 24 };

typedef struct { int n; double *v; } Vector;

static double *left, *right;

static double **make(void) {
  double **a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++) {
    a[i] = malloc(M * sizeof **a);
    for (int j = 0; j < M; j++)
      a[i][j] = i * M + j;
  }
  return a;
}

static double total(double **a) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      sum += a[i][j] * (i + 1);
  return sum;
}

static void step(double **a, double **b) {
#pragma acc parallel loop collapse(2) copyin(a[0:N][0:M]) copy(b[0:N][0:M])
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++)
      b[i][j] = a[i - 1][j] + a[i + 1][j] - a[i][j - 1];
}

static void rows(void) {
  double **a = make(), **b = make(), **c = make();
  for (int t = 0; t < 4; t++) {
    step(t % 2 ? b : a, t % 2 ? a : b);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        c[i][j] = (t % 2 ? b : a)[i - 1][j] + (t % 2 ? b : a)[i + 1][j] - (t % 2 ? b : a)[i][j - 1];
    CHECK(total(t % 2 ? a : b) == total(c));
  }
  double *first = a[0];
  a[0] = a[1], a[1] = first; /* the same pointers in another order */
  double before = total(a);
  step(a, b);
  CHECK(total(a) == before && b[1][1] == a[0][1] + a[2][1] - a[1][0]);
  /* what a kernel writes to copyin rows stays on the device */
  before = total(b);
#pragma acc parallel loop copyin(b[0:N][0:M]) copy(a[0:N][0:M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      b[i][j] = 2;
      a[i][j] = b[i][j];
    }
  CHECK(total(b) == before && a[3][4] == 2);
  /* rows of which one is present */
  double *row = a[5];
#pragma acc enter data copyin(row[0:M])
  row[2] = -1;
#pragma acc parallel loop copy(a[0:N][0:M])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] += 1;
  CHECK(a[4][2] == 3 && a[5][2] == -1);
#pragma acc exit data copyout(row[0:M])
  CHECK(a[5][2] == 3);
}

static void members(void) {
  Vector x = {M, malloc(M * sizeof(double))}, *y = malloc(sizeof *y);
  *y = (Vector){M, malloc(M * sizeof(double))};
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < M; i++)
      x.v[i] = i + t;
#pragma acc parallel loop copyin(x, x.v[0:M]) copy(y[0:1]) copyout(y->v[0:M])
    for (int i = 0; i < M; i++)
      y->v[i] = x.v[i] + x.n;
    CHECK(y->v[7] == 7 + t + M && y->n == M);
  }
  /* an array after it that needs a copy; the pointer is as it was afterwards */
  double *scratch = malloc(M * sizeof(double)), *old = y->v;
#pragma acc parallel loop copy(y[0:1]) create(scratch[0:M]) copy(y->v[0:M])
  for (int i = 0; i < M; i++) {
    scratch[i] = y->v[i];
    y->v[i] = scratch[i] + y->n;
  }
  CHECK(y->v == old && y->v[7] == 9 + 2 * M);
  /* a pointer that is loaded leads to copyin data: its change does not come back */
#pragma acc parallel loop copyin(y[0:1], y->v[0:M], x.v[0:M])
  for (int i = 0; i < M; i++) {
    Vector *g = y;
    double *p = g->v;
    p[i] = x.v[i];
  }
  CHECK(y->v[7] == 9 + 2 * M);
}

static void globals(void) {
  left = malloc(M * sizeof(double)), right = malloc(M * sizeof(double));
  for (int i = 0; i < M; i++)
    left[i] = i, right[i] = 0;
  for (int t = 0; t < 3; t++) {
#pragma acc parallel loop copyin(left[0:M]) copy(right[0:M])
    for (int i = 0; i < M; i++)
      right[i] += left[i];
    double *swapped = left;
    left = right, right = swapped;
  }
  CHECK(left[5] == 15 && right[5] == 10);
}

int main(void) {
  rows();
  members();
  globals();
  return report();
}
