/* Steps of systems of equations along lines: what a thread loads may be loaded before what it stores, if it is another
   element; elements under two names, chosen ones and those of the next step keep their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 9
#define STEPS 21

struct cell {
  double left, middle, right;
};

static void planes(int n, double a[4][STEPS + 2][n], double r[2][STEPS + 2][n]) {
#pragma acc parallel loop copy(a[0:4][0:STEPS + 2][0:n], r[0:2][0:STEPS + 2][0:n])
  for (int j = 0; j < n; j++)
    for (int i = 0; i < STEPS; i++) {
      double f = 1 / a[2][i][j];
      a[3][i][j] *= f;
      r[0][i][j] = f * r[0][i][j];
      r[1][i][j] = f * r[1][i][j];
      a[2][i + 1][j] -= a[1][i + 1][j] * a[3][i][j];
      r[0][i + 1][j] -= a[1][i + 1][j] * r[0][i][j];
      a[1][i + 2][j] -= a[0][i + 2][j] * a[3][i][j];
      r[1][i + 2][j] -= a[0][i + 2][j] * r[1][i][j];
    }
}

static void cells(int n, struct cell *c) {
#pragma acc parallel loop copy(c[0:n * (STEPS + 1)])
  for (int j = 0; j < n; j++)
    for (int i = 0; i < STEPS; i++) {
      struct cell *p = &c[i * n + j], *next = &c[(i + 1) * n + j];
      p->right /= p->middle;
      next->middle -= next->left * p->right;
      p->left = p->right + next->middle;
    }
}

/* The plane, the step and the pointer may be those of the store. */
static void chosen(int n, const int *at, double *a, double *also) {
#pragma acc parallel loop copyin(at[0:STEPS]) copy(a[0:n * STEPS], also[0:n * STEPS])
  for (int j = 0; j < n; j++)
    for (int i = 0; i < STEPS; i++) {
      a[i * n + j] += 1;
      a[at[i] * n + j] *= 0.5;
      also[i * n + j] += a[i * n + j];
      a[i * n + j] -= also[at[i] * n + j];
    }
}

union number {
  double d;
  unsigned w[2];
};

static void parts(int n, union number *u, unsigned *out) {
#pragma acc parallel loop copy(u[0:n]) copyout(out[0:n])
  for (int j = 0; j < n; j++) {
    unsigned sum = 0;
    for (int i = 0; i < STEPS; i++) {
      u[j].d = i * 1.5;
      sum += u[j].w[1];
      u[j].w[0] = sum;
      sum ^= u[j].d > 3;
    }
    out[j] = sum;
  }
}

static void print(const char *name, const double *values, int count) {
  double sum = 0;
  for (int e = 0; e < count; e++) sum += values[e] * (e % 13 + 1);
  printf("%s %.12g\n", name, sum);
}

int main(void) {
  int n = N, at[STEPS];
  double(*a)[STEPS + 2][n] = malloc(4 * sizeof *a), (*r)[STEPS + 2][n] = malloc(2 * sizeof *r);
  double *flat = &a[0][0][0], *right = &r[0][0][0], both[N * STEPS], also[N * STEPS];
  for (int e = 0; e < 4 * (STEPS + 2) * n; e++) flat[e] = 2 + e * 37 % 19 / 16.0;
  for (int e = 0; e < 2 * (STEPS + 2) * n; e++) right[e] = e * 7 % 23;
  planes(n, a, r);
  print("planes", flat, 4 * (STEPS + 2) * n);
  print("right", right, 2 * (STEPS + 2) * n);
  struct cell c[N * (STEPS + 1)];
  for (int e = 0; e < N * (STEPS + 1); e++) c[e] = (struct cell){e % 5, 3 + e % 7, e % 3};
  cells(n, c);
  print("cells", &c[0].left, 3 * N * (STEPS + 1));
  for (int i = 0; i < STEPS; i++) at[i] = i % 4 ? i : i / 2;
  for (int e = 0; e < N * STEPS; e++) both[e] = e % 11, also[e] = e % 6;
  chosen(n, at, both, also);
  print("chosen", both, N * STEPS);
  print("also", also, N * STEPS);
  chosen(n, at, both, both);
  print("one array", both, N * STEPS);
  union number u[N];
  unsigned out[N];
  memset(u, 0, sizeof u);
  parts(n, u, out);
  double sums[N];
  for (int j = 0; j < n; j++) sums[j] = out[j];
  print("parts", sums, n);
  free(a), free(r);
  return 0;
}
