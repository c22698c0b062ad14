/* The same nest in six spellings, in sizes around the number of iterations from which threads have several rows:
   the launch chooses. In the simulator the number is an option (tests/passes/test_rows_at_launch.py). */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY(i, j) b[(i) * m + (j)] = a[((i) - 1) * m + (j)] + 2 * a[((i) + 1) * m + (j)] + a[(i) * m + (j)]

static void two_loops(int n, int m, const int *a, int *b) {
#pragma acc parallel loop copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 1; i < n - 1; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) BODY(i, j);
}

static void collapsed(int n, int m, const int *a, int *b) {
#pragma acc parallel loop collapse(2) copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = n - 2; i >= 1; i--)
    for (int j = 0; j < m; j++) BODY(i, j);
}

static void clauses(int n, int m, const int *a, int *b) {
#pragma acc parallel num_workers(8) vector_length(32) copyin(a[0:n * m]) copy(b[0:n * m])
#pragma acc loop gang
  for (int i = 1; i < n - 1; i++)
#pragma acc loop worker vector
    for (int j = 0; j < m; j++) BODY(i, j);
}

static void every_other(int n, int m, const int *a, int *b) {
#pragma acc kernels copyin(a[0:n * m]) copy(b[0:n * m])
  {
#pragma acc loop independent
    for (int i = 1; i < n - 1; i += 2)
#pragma acc loop independent
      for (int j = 0; j < m; j++) BODY(i, j);
#pragma acc loop independent
    for (int i = 2; i < n - 1; i += 2)
#pragma acc loop independent
      for (int j = 0; j < m; j++) BODY(i, j);
  }
}

static void planes(int n, int m, const int *a, int *b) {
#pragma acc parallel loop copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 1; i < n - 1; i++)
#pragma acc loop
    for (int half = 0; half < 2; half++)
#pragma acc loop
      for (int j = half * (m / 2); j < (half ? m : m / 2); j++) BODY(i, j);
}

/* Each step of a row needs the one before it. */
static void in_order(int n, int m, const int *a, int *b) {
#pragma acc parallel loop gang copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 1; i < n - 1; i++)
#pragma acc loop vector
    for (int j = 0; j < m; j++) {
      BODY(i, j);
      for (int k = 0; k < 3; k++) b[i * m + j] += a[k * m + j] * b[i * m + j];
    }
}

static int reduced(int n, int m, const int *a, int *b) {
  int sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 1; i < n - 1; i++)
#pragma acc loop reduction(+ : sum)
    for (int j = 0; j < m; j++) {
      BODY(i, j);
      sum += b[i * m + j] % 17;
    }
  return sum;
}

static int wrong;

static void compare(const char *name, int n, int m, int *b, const int *want) {
  if (memcmp(b, want, n * m * sizeof *b) != 0) printf("failed: %s of %d x %d\n", name, n, m), wrong++;
  memset(b, 0, n * m * sizeof *b);
}

static void check(int n, int m) {
  int *a = malloc(n * m * sizeof *a), *b = calloc(n * m, sizeof *b), *want = calloc(n * m, sizeof *want);
  int *later = calloc(n * m, sizeof *later), sum = 0;
  for (int e = 0; e < n * m; e++) a[e] = e * 7919 % 101;
  for (int e = m; e < n * m - m; e++) {
    want[e] = a[e - m] + 2 * a[e + m] + a[e];
    sum += want[e] % 17;
    later[e] = want[e];
    for (int k = 0; k < 3; k++) later[e] = (unsigned)later[e] * (1 + a[k * m + e % m]);
  }
  two_loops(n, m, a, b), compare("two loops", n, m, b, want);
  collapsed(n, m, a, b), compare("collapsed", n, m, b, want);
  clauses(n, m, a, b), compare("clauses", n, m, b, want);
  every_other(n, m, a, b), compare("every other", n, m, b, want);
  planes(n, m, a, b), compare("planes", n, m, b, want);
  in_order(n, m, a, b), compare("in order", n, m, b, later);
  if (reduced(n, m, a, b) != sum) printf("failed: sum of %d x %d\n", n, m), wrong++;
  compare("reduced", n, m, b, want);
  free(a), free(b), free(want), free(later);
}

int main(void) {
  int rows[] = {3, 6, 7, 10, 14}, columns[] = {1, 9, 40};
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 3; c++) check(rows[r], columns[c]);
  if (acc_get_device_type() == acc_device_nvidia) check(1031, 523), check(517, 523), check(519, 1061);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
