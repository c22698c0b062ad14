/* Programs in miniature: solvers, histograms, deep structures; run on the device and checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64
static double grid[N][N], next[N][N];
static int limit = 5;
static float table[256];
#pragma acc declare create(table)

#pragma acc routine seq
static float look(int i) { return table[i & 255]; }

#pragma acc routine seq
static int steps(int n) {
  int s = 0;
  while (n != 1) { if (n % 2) n = 3 * n + 1; else n /= 2; s++; if (s > 500) return -1; }
  return s;
}

static int jacobi(double tolerance, int most) {
  int iteration = 0;
  double change = 1;
#pragma acc data copy(grid) create(next)
  {
    while (change > tolerance && iteration < most) {
      change = 0;
#pragma acc parallel loop collapse(2) reduction(max:change)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
          next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
          change = fmax(change, fabs(next[i][j] - grid[i][j]));
        }
#pragma acc parallel loop gang
      for (int i = 1; i < N - 1; i++)
#pragma acc loop vector
        for (int j = 1; j < N - 1; j++) grid[i][j] = next[i][j];
      iteration++;
    }
  }
  return iteration;
}

static long bits(int n, unsigned *out) {
  long total = 0;
#pragma acc parallel loop copyout(out[0:n]) reduction(+:total) firstprivate(limit)
  for (int i = 0; i < n; ++i) {
    unsigned v = i * 2654435761u, c = 0;
    for (; v; v &= v - 1) c++;
    switch (c % 4) {
    case 0: c += limit; break;
    case 1: c *= 2; /* falls through */
    case 2: c ^= 1; break;
    default: if (c > 10) { c = 0; break; } c--;
    }
    out[i] = c;
    total += c;
  }
  return total;
}

typedef struct { int rows, *start, *col; double *val; } csr;

static void spmv(const csr *m, const double *x, double *y) {
  int rows = m->rows, nnz = m->start[m->rows];
#pragma acc parallel loop gang copyin(m[0:1], m->start[0:rows+1], m->col[0:nnz], m->val[0:nnz], x[0:rows]) copyout(y[0:rows])
  for (int i = 0; i < rows; i++) {
    double s = 0;
#pragma acc loop vector reduction(+:s)
    for (int k = m->start[i]; k < m->start[i + 1]; k++) s += m->val[k] * x[m->col[k]];
    y[i] = s;
  }
}

static void window(int n, const float *in, float *out) {
  float w[3] = {0.25f, 0.5f, 0.25f}, scratch[4];
#pragma acc parallel loop copyin(in[0:n], w) copyout(out[0:n]) private(scratch)
  for (int i = 0; i < n; i++) {
    float acc[3];
    for (int k = 0; k < 3; k++) {
      int at = i + k - 1;
      if (at < 0) at = 0;
      if (at >= n) at = n - 1;
      acc[k] = in[at] * w[k];
    }
    scratch[i % 4] = acc[0] + acc[1] + acc[2];
    out[i] = scratch[i % 4];
  }
}

static int unstructured(int n, int *a) {
  int found = -1;
  for (int round = 0; round < 10; round++) {
    int changed = 0;
#pragma acc parallel loop copy(a[0:n]) reduction(||:changed)
    for (int i = 0; i < n; i++) {
      if (a[i] > round) { a[i]--; changed = 1; }
    }
    if (!changed) { found = round; break; }
    if (round == 7) goto out;
  }
out:
  return found;
}

static void rows(int n, int m, float **r) {
#pragma acc enter data create(r[0:n])
  for (int i = 0; i < n; i++) {
#pragma acc enter data copyin(r[i][0:m])
  }
#pragma acc parallel loop collapse(2) present(r[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) r[i][j] += i * m + j;
  for (int i = 0; i < n; i++) {
#pragma acc exit data copyout(r[i][0:m])
  }
#pragma acc exit data delete(r[0:n])
}

static void pointers(int n, double *a) {
#pragma acc parallel copy(a[0:n]) num_gangs(1)
  {
    double *p = a;
    for (int i = 0; i < n; i++) *p++ += i;
    a[0] = -1;
  }
#pragma acc kernels loop copy(a[0:n])
  for (double *q = a + n - 1; q > a; q--) *q *= 2;
}

int main(void) {
  for (int i = 0; i < N; i++) grid[0][i] = 100;
  int iterations = jacobi(0.5, 200);
  printf("%d %.4f\n", iterations, grid[5][N / 2]);
  unsigned out[N];
  printf("%ld ", bits(N, out));
  printf("%u %u\n", out[3], out[63]);
  int start[] = {0, 2, 3, 5}, col[] = {0, 1, 1, 0, 2};
  double val[] = {1, 2, 3, 4, 5}, x[] = {1, 10, 100}, y[3];
  csr m = {3, start, col, val};
  spmv(&m, x, y);
  printf("%g %g %g\n", y[0], y[1], y[2]);
  float f[N], g[N];
  for (int i = 0; i < N; i++) f[i] = i * i;
  window(N, f, g);
  printf("%g %g %g\n", g[0], g[1], g[63]);
  int a[N];
  for (int i = 0; i < N; i++) a[i] = i % 9;
  printf("%d\n", unstructured(N, a));
  float *r[3];
  for (int i = 0; i < 3; i++) { r[i] = malloc(4 * sizeof(float)); for (int j = 0; j < 4; j++) r[i][j] = j; }
  rows(3, 4, r);
  printf("%g %g\n", r[0][1], r[2][3]);
  for (int i = 0; i < 3; i++) free(r[i]);
  double d[10] = {0};
  pointers(10, d);
  printf("%g %g %g\n", d[0], d[1], d[9]);
  for (int i = 0; i < 256; i++) table[i] = i;
#pragma acc update device(table)
  float s = 0;
  int longest = 0;
#pragma acc parallel loop reduction(+:s) reduction(max:longest)
  for (int i = 1; i < 300; i++) { s += look(i); int t = steps(i); if (t > longest) longest = t; }
  printf("%g %d\n", s, longest);
  int hist[8] = {0}, i, n = 1000;
#pragma acc parallel loop reduction(+:hist)
  for (i = 0; i < n; i++) hist[i * 7 % 8] += 1;
  printf("%d %d\n", hist[0], hist[7]);
  double *dev = malloc(n * sizeof *dev);
#pragma acc data create(dev[0:n])
  {
#pragma acc parallel loop present(dev[0:n])
    for (i = 0; i < n; i++) dev[i] = sqrt(i);
    double part = 0;
#pragma acc parallel loop reduction(+:part)
    for (i = 0; i < n; i++) part += dev[i];
    printf("%.3f\n", part);
#pragma acc update self(dev[n/2:n/2])
  }
  printf("%.3f %d\n", dev[n - 1], i == n || 1);
  free(dev);
  return 0;
}
