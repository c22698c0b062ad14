/* Dimensions of gangs, orphaned loops in routines of each level, reductions of sections of rows. */
#include "check.h"
#include <openacc.h>
#define N 24
static void dims(void) {
  int a[N], m[4][6], i, j, k;
  static int c[3][4][5];
#pragma acc parallel loop gang(dim:2) copyout(a)
  for (i = 0; i < N; i++)
    a[i] = i;
  CHECK_EQ(a[23], 23);
#pragma acc parallel copyout(m)
  {
#pragma acc loop gang(dim:2)
    for (i = 0; i < 4; i++)
#pragma acc loop gang(dim:1) vector
      for (j = 0; j < 6; j++)
        m[i][j] = i * 10 + j;
  }
  CHECK_EQ(m[3][5], 35);
#pragma acc parallel loop gang(dim:3) copyout(c)
  for (i = 0; i < 3; i++)
#pragma acc loop gang(dim:2)
    for (j = 0; j < 4; j++)
#pragma acc loop gang(dim:1)
      for (k = 0; k < 5; k++)
        c[i][j][k] = i * 100 + j * 10 + k;
  CHECK_EQ(c[2][3][4], 234);
#pragma acc parallel num_gangs(4) copyout(m)
  {
#pragma acc loop gang(dim:2)
    for (i = 0; i < 4; i++)
#pragma acc loop gang
      for (j = 0; j < 6; j++)
        m[i][j] = i + j;
  }
  CHECK_EQ(m[3][5], 8);
}

#pragma acc routine gang
static void gsum(const int *a, int n, int *out) {
#pragma acc loop gang
  for (int i = 0; i < n; i++) {
#pragma acc atomic
    *out += a[i];
  }
}

#pragma acc routine gang(dim:2)
static void g2(int *a, int n) {
#pragma acc loop gang(dim:2)
  for (int i = 0; i < n; i++)
#pragma acc loop gang(dim:1)
    for (int j = 0; j < 2; j++)
      a[i * 2 + j] = i;
}

#pragma acc routine worker
static int wsum(const int *a, int n) {
  int s = 0;
#pragma acc loop worker vector reduction(+:s)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

#pragma acc routine vector
static double vmax(const double *a, int n) {
  double m = -1e9;
#pragma acc loop vector reduction(max:m)
  for (int i = 0; i < n; i++)
    m = fmax(m, a[i]);
  return m;
}

#pragma acc routine vector
static void vcopy(double *to, const double *from, int n) {
#pragma acc loop
  for (int i = 0; i < n; i++)
    to[i] = from[i];
}

static void routines(void) {
  int a[N], s = 0, out[3], i;
  double d[N], e[N];
  for (i = 0; i < N; i++)
    a[i] = i, d[i] = -i;
#pragma acc parallel copyin(a) copy(s)
  gsum(a, N, &s);
  CHECK_EQ(s, N * (N - 1) / 2);
#pragma acc parallel num_gangs(2, 3) copyout(a)
  g2(a, N / 2);
  CHECK_EQ(a[23], 11);
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc parallel loop gang copyin(a) copyout(out)
  for (i = 0; i < 3; i++)
    out[i] = wsum(a, N / (i + 1));
  CHECK_EQ(out[0], 276);
  CHECK_EQ(out[1], 66);
  CHECK_EQ(out[2], 28);
#pragma acc parallel loop gang worker copyin(d) copyout(e)
  for (i = 0; i < N; i++)
    e[i] = vmax(d + i, N - i);
  CHECK_NEAR(e[5], -5);
#pragma acc parallel num_gangs(1) copyin(d) copyout(e)
  vcopy(e, d, N);
  CHECK_NEAR(e[9], -9);
#pragma acc serial copyin(d) copyout(e)
  {
    vcopy(e, d, N);
    e[0] = vmax(d, N);
  }
  CHECK_NEAR(e[9], -9);
  CHECK_NEAR(e[0], 0);
}

static void red(int n) {
  int m[3][4] = {{0}}, i, t = 0;
  double *p = calloc(n, 8);
  float f[n];
  for (i = 0; i < n; i++)
    f[i] = 1;
#pragma acc parallel loop reduction(+:m[0:3][0:4])
  for (i = 0; i < 48; i++)
    m[i % 3][i % 4]++;
  for (i = 0; i < 12; i++)
    t += m[i / 4][i % 4];
  CHECK_EQ(t, 48);
#pragma acc parallel loop reduction(+:m[1:2])
  for (i = 0; i < 48; i++)
    m[1 + i % 2][i % 4]++;
  CHECK_EQ(m[0][0], 4);
  t = 0;
  for (i = 0; i < 12; i++)
    t += m[i / 4][i % 4];
  CHECK_EQ(t, 96);
#pragma acc parallel loop reduction(+:p[0:n])
  for (i = 0; i < 10 * n; i++)
    p[i % n] += 0.5;
  CHECK_NEAR(p[n - 1], 5);
#pragma acc parallel loop reduction(*:f)
  for (i = 0; i < 2 * n; i++)
    f[i % n] *= 2;
  CHECK_NEAR(f[n - 1], 4);
#pragma acc parallel loop gang reduction(+:p[1:n-1])
  for (i = 0; i < 4; i++)
#pragma acc loop vector reduction(+:p[1:n-1])
    for (int j = 1; j < n; j++)
      p[j] += 1;
  CHECK_NEAR(p[0], 5);
  CHECK_NEAR(p[n - 1], 9);
#pragma acc parallel num_gangs(1) reduction(+:m)
  m[2][3] += 100;
  CHECK(m[2][3] >= 100);
  free(p);
}

static void misc(void) {
  int i, hits = 0;
  int rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, out[N];
#pragma acc parallel loop firstprivate(rows) copyout(out)
  for (i = 0; i < N; i++)
    out[i] = rows[i % 2][i % 3];
  CHECK_EQ(out[3], 4);
  struct {
    int *p;
  } s;
  s.p = out;
#pragma acc parallel loop copy(s.p[0:N])
  for (i = 0; i < N; i++)
    s.p[i] = i;
  CHECK_EQ(out[7], 7);
#pragma acc parallel loop copyout(out)
  for (i = 0; i < N; i++) {
    int len = i % 4 + 1, t = 0;
    int buf[4];
    for (int j = 0; j < len; j++)
      buf[j] = j + i;
    for (int j = 0; j < len; j++)
      t += buf[j];
    out[i] = t;
  }
  CHECK_EQ(out[5], 11);
#pragma acc parallel loop copyin(rows) reduction(+:hits) vector_length(64)
  for (i = 0; i < N; i++) {
    int (*r)[3] = rows;
    int *q = r[1];
    hits += q[i % 3] == 4;
  }
  CHECK_EQ(hits, 8);
  int lens[3];
#pragma acc parallel loop copyout(lens)
  for (i = 0; i < 3; i++) {
    const char *w = i == 0 ? "zero" : i == 1 ? "one" : "three";
    int k = 0;
    while (w[k])
      k++;
    lens[i] = k;
  }
  CHECK_EQ(lens[2], 5);
  /* host loops with constructs and swapped pointers */
  double *u = malloc(N * 8), *v = malloc(N * 8);
  for (i = 0; i < N; i++)
    u[i] = i, v[i] = 0;
#pragma acc data copy(u[0:N], v[0:N])
  {
    for (int it = 0; it < 3; it++) {
#pragma acc parallel loop present(u[0:N], v[0:N])
      for (i = 1; i < N - 1; i++)
        v[i] = (u[i - 1] + u[i + 1]) / 2;
      double *tt = u;
      u = v;
      v = tt;
    }
  }
  CHECK_NEAR(v[5], 5);
  free(u);
  free(v);
  /* conditional operator with calls, short circuit with side effects on device */
  int cnt = 0;
#pragma acc serial copy(cnt)
  {
    for (i = 0; i < 10; i++)
      if (i % 2 == 0 || cnt++ > 2)
        cnt += 10;
  }
  {
    int c2 = 0;
    for (i = 0; i < 10; i++)
      if (i % 2 == 0 || c2++ > 2)
        c2 += 10;
    CHECK_EQ(cnt, c2);
  }
}

int main(void) {
  dims();
  routines();
  red(9);
  misc();
  return report();
}
