/* Arrays of pointers without a data clause: the attribute that is inferred names the rows that the nest accesses. */
#include "check.h"
#include <stdlib.h>

typedef struct { float x, y; } Point;
enum { N = 23, M = 31 };
static double *table[N];
static double **everywhere;

static double **matrix(int n, int m, double first) {
  double **a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++) {
    a[i] = malloc(m * sizeof **a);
    for (int j = 0; j < m; j++) a[i][j] = first + i * m + j;
  }
  return a;
}

static void scale(double **a, double *restrict *b, int n, int m) {
#pragma acc parallel loop collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[i][j] = 2 * a[i][j];
}

/* Steps that exchange the arrays, of the inner elements alone; with kernels, and with a row in a variable. */
static void steps(double **a, double **b, int n, int m, int kind) {
  for (int t = 0; t < 3; t++) {
    if (kind == 0) {
#pragma acc parallel loop
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1];
    } else if (kind == 1) {
#pragma acc kernels
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1];
    } else {
#pragma acc parallel loop gang
      for (int i = 1; i < n - 1; i++) {
        double *above = a[i - 1], *below = a[i + 1], *to = b[i];
#pragma acc loop vector
        for (int j = 1; j < m - 1; j++) to[j] = above[j] + below[j] + *(a[i] + j - 1);
      }
    }
    double **c = a;
    a = b;
    b = c;
  }
}

static void steps_on_host(double **a, double **b, int n, int m) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1];
    double **c = a;
    a = b;
    b = c;
  }
}

static int same(double **a, double **b) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (a[i][j] != b[i][j]) return 0;
  return 1;
}

int main(void) {
  double **a = matrix(N, M, 0), **b = matrix(N, M, 0), **c = matrix(N, M, 0), **d = matrix(N, M, 0);
  scale(a, b, N, M);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) CHECK(b[i][j] == 2 * a[i][j]);

  for (int kind = 0; kind < 3; kind++) {
    scale(a, c, N, M), scale(a, d, N, M);
    steps(b, c, N, M, kind);
    scale(a, b, N, M);
    double **e = matrix(N, M, 0), **f = matrix(N, M, 0);
    scale(a, e, N, M), scale(a, f, N, M);
    steps_on_host(e, f, N, M);
    CHECK(same(c, f));
  }

  /* A part of the rows is present, and stays as it is on the host. */
  scale(a, b, N, M);
#pragma acc enter data copyin(b[0:N][0:M])
#pragma acc parallel loop collapse(2)
  for (int i = 2; i < 5; i++)
    for (int j = 3; j < 9; j++) b[i][j] += 1;
  if (separate_memory()) CHECK(b[2][3] == 2 * a[2][3]);
#pragma acc exit data copyout(b[0:N][0:M])
  CHECK(b[2][3] == 2 * a[2][3] + 1 && b[5][3] == 2 * a[5][3]);

  /* Arrays of pointers, also in static memory and with null pointers that the nest does not follow. */
  double *rows[N], sum = 0, want = 0;
  for (int i = 0; i < N; i++) rows[i] = a[i], table[i] = i < 7 ? a[i] : 0;
  everywhere = a;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += rows[i][j] + everywhere[i][j] + (i < 7 ? table[i][j] : 0);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) want += rows[i][j] + everywhere[i][j] + (i < 7 ? table[i][j] : 0);
  CHECK(sum == want);

  /* Null pointers that the construct looks at, with and without a clause. */
  for (int clause = 0; clause < 2; clause++) {
    int empty = 0;
    sum = want = 0;
#pragma acc data copy(table[0:N][0:M]) if (clause)
#pragma acc parallel loop reduction(+ : sum, empty)
    for (int i = 0; i < N; i++) {
      if (table[i])
        for (int j = 0; j < M; j++) sum += table[i][j]++;
      else
        empty++;
    }
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < M; j++) want += table[i][j] - 1;
    CHECK(sum == want && empty == N - 7);
  }

  /* Rows of structures, rows of rows, and a structure for each pointer. */
  Point **points = malloc(N * sizeof *points), **each = malloc(N * sizeof *each);
  double ***cube = malloc(5 * sizeof *cube);
  for (int i = 0; i < N; i++) {
    points[i] = malloc(M * sizeof **points);
    each[i] = malloc(sizeof **each);
    each[i]->y = i;
    for (int j = 0; j < M; j++) points[i][j] = (Point){i, j};
  }
  for (int k = 0; k < 5; k++) cube[k] = matrix(4, 6, 100 * k);
#pragma acc parallel loop
  for (int i = 0; i < N; i++) {
    each[i]->x = each[i]->y + 1;
    for (int j = 0; j < M; j++) points[i][j].y += points[i][j].x;
  }
  for (int i = 0; i < N; i++) {
    CHECK(each[i]->x == i + 1 && each[i]->y == i);
    for (int j = 0; j < M; j++) CHECK(points[i][j].x == i && points[i][j].y == i + j);
  }
#pragma acc parallel loop collapse(3)
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 6; j++) cube[k][i][j] *= 2;
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 6; j++) CHECK(cube[k][i][j] == 2 * (100 * k + i * 6 + j));
  return report();
}
