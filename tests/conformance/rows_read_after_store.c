/* Rows that read again after a store, what they stored or what all rows read: each sees its own values. */
/* A fault is a wrong result: always in the simulator. */
#include <stdio.h>
#include <stdlib.h>

static void centre(int n, int m, double *a, const double *mean, const double *deviation) {
#pragma acc parallel loop copy(a[0:n * m]) copyin(mean[0:m], deviation[0:m])
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) {
      a[i * m + j] -= mean[j];
      a[i * m + j] /= deviation[j];
    }
}

/* The row's own element decides what is stored next; b may be what it reads there. */
static void steps(int n, int m, int *a, int *b, const int *scale) {
#pragma acc parallel loop copy(a[0:n * m], b[0:n * m]) copyin(scale[0:n])
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) {
      a[i * m + j] += scale[i];
      if (a[i * m + j] % 3 == 0) b[i * m + j] = a[i * m + j] * 2;
      a[i * m + j] = b[i * m + j] + a[i * m + j];
      b[i * m + j] = a[i * m + j] - scale[i];
    }
}

/* One array under two names: an iteration reads what it stored through the other. */
static void same(int n, int m, int *a, int *alias) {
#pragma acc parallel loop independent copy(a[0:n * m], alias[0:n * m])
  for (int i = 0; i < n; i++)
#pragma acc loop independent
    for (int j = 0; j < m; j++) {
      a[i * m + j] = i + j;
      alias[i * m + j] += 5;
      a[i * m + j] *= 2;
    }
}

int main(void) {
  int n = 11, m = 70, wrong = 0;
  double *x = malloc(n * m * sizeof *x), *mean = malloc(m * sizeof *mean), *deviation = malloc(m * sizeof *deviation);
  int *a = malloc(n * m * sizeof *a), *b = malloc(n * m * sizeof *b), *scale = malloc(n * sizeof *scale);
  for (int j = 0; j < m; j++) mean[j] = j, deviation[j] = 1 << j % 5;
  for (int i = 0; i < n; i++) scale[i] = i - 4;
  for (int e = 0; e < n * m; e++) x[e] = 3 * e, a[e] = e % 17, b[e] = e % 23;
  centre(n, m, x, mean, deviation);
  for (int e = 0; e < n * m; e++) wrong += x[e] != (3.0 * e - e % m) / (1 << e % m % 5);
  steps(n, m, a, b, scale);
  for (int e = 0; e < n * m; e++) {
    int u = e % 17 + e / m - 4, v = u % 3 == 0 ? u * 2 : e % 23;
    wrong += a[e] != v + u || b[e] != v + u - (e / m - 4);
  }
  same(n, m, a, a);
  for (int e = 0; e < n * m; e++) wrong += a[e] != 2 * (e / m + e % m + 5);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
