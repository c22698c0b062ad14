/* attach and detach of pointers in arrays: by element, through structures and pointers. */
#include "check.h"
#include <openacc.h>
#define N 12
typedef struct {
  int n;
  double *rows[3];
} Rows;

static double sum_of(double **rows, int n) {
  double s = 0;
#pragma acc parallel loop present(rows[0:n]) reduction(+:s)
  for (int i = 0; i < n; i++) s += *rows[i];
  return s;
}

/* An array of pointers into another array, in the opposite order. */
static void into_an_array(void) {
  double values[N], *pointers[N], **alias = pointers, s = 0;
  for (int i = 0; i < N; i++) {
    values[i] = i + 1;
    pointers[i] = &values[N - 1 - i];
  }
#pragma acc enter data copyin(values, pointers)
  for (int i = 0; i < N; i += 2) {
#pragma acc enter data attach(pointers[i], alias[i + 1])
  }
#pragma acc parallel loop present(values, pointers) reduction(+:s)
  for (int i = 0; i < N; i++) s += *pointers[i];
  CHECK_NEAR(s, N * (N + 1) / 2);
  CHECK_NEAR(sum_of(pointers, N), N * (N + 1) / 2);
  for (int i = 0; i < N; i++) {
#pragma acc exit data detach(pointers[i])
  }
#pragma acc exit data copyout(pointers) delete(values)
  for (int i = 0; i < N; i++) CHECK(pointers[i] == &values[N - 1 - i]);
}

/* Rows of a structure, and the clause on a construct. */
static void in_a_structure(void) {
  Rows *r = malloc(sizeof *r);
  double *grid[2][2], t = 0;
  r->n = N;
  for (int k = 0; k < 3; k++) {
    r->rows[k] = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++) r->rows[k][i] = 100 * k + i;
#pragma acc enter data copyin(r->rows[k][0:N])
  }
  for (int k = 0; k < 4; k++) grid[k / 2][k % 2] = r->rows[k % 3];
#pragma acc enter data copyin(r[0:1], grid)
#pragma acc enter data attach(r->rows[0], r->rows[1])
#pragma acc enter data attach(r->rows[2])
#pragma acc parallel loop attach(grid[1][0], grid[0][1]) present(r, grid) reduction(+:t)
  for (int i = 0; i < r->n; i++) {
    t += r->rows[0][i] + r->rows[1][i] + r->rows[2][i];
    t += grid[1][0][i] - grid[0][1][i];
  }
  CHECK_NEAR(t, N * 300 + 3 * N * (N - 1) / 2 + N * 100);
#pragma acc exit data detach(r->rows[0], r->rows[1], r->rows[2])
#pragma acc exit data delete(r[0:1], grid)
  for (int k = 0; k < 3; k++) {
#pragma acc exit data delete(r->rows[k][0:N])
    CHECK_NEAR(r->rows[k][1], 100 * k + 1);
  }
}

int main(void) {
  into_an_array();
  in_a_structure();
  return report();
}
