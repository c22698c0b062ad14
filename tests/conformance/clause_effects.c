/* Calls in clauses, conditions at run time, data across functions, structures of vectors, device calls. */
#include "check.h"
#include <openacc.h>
#define N 64
static int calls;
static int next(void) {
  return ++calls;
}

static void sidefx(void) {
  int a[N], i;
  for (i = 0; i < N; i++)
    a[i] = 0;
#pragma acc parallel loop num_gangs(next()) copy(a) if(next() > 0)
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(calls, 2);
  calls = 0;
#pragma acc data copy(a[0:next() * N]) if(next())
  {
    CHECK(acc_is_present(a, sizeof a));
  }
  CHECK_EQ(calls, 2);
  calls = 0;
#pragma acc update self(a[0:next()]) if_present
  CHECK_EQ(calls, 1);
  calls = 0;
#pragma acc enter data copyin(a) async(next())
#pragma acc wait(next() - 1)
#pragma acc exit data delete(a)
  CHECK_EQ(calls, 2);
  CHECK_EQ(a[3], 1);
}

static void inner(int *p, int n) {
#pragma acc data present(p[0:n])
  {
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
      p[i] += 1;
  }
}

static void copies(int *p, int n) {
#pragma acc parallel loop copy(p[0:n])
  for (int i = 0; i < n; i++)
    p[i] *= 2;
}

static void mixed(const int *in, int *restrict out, int n) {
#pragma acc data copyin(in[0:n]) copyout(out[0:n])
  {
#pragma acc parallel loop independent
    for (int i = 0; i < n; i++)
      out[i] = in[i];
    inner(out, n);
    copies(out + 4, n - 8);
  }
}

static double cond(double x, int which) {
  double r[4] = {x, x, x, x};
#pragma acc parallel loop copy(r) if(which == 0)
  for (int i = 0; i < 4; i++)
    r[i] += 1;
#pragma acc kernels copy(r) if(x > 100.0)
  for (int i = 0; i < 4; i++)
    r[i] += 1;
#pragma acc serial copy(r) self(which)
  for (int i = 0; i < 4; i++)
    r[i] += 1;
#pragma acc kernels loop copy(r) self(which && x < 5)
  for (int i = 0; i < 4; i++)
    r[i] += 1;
  return r[3];
}

static float globalv[N];
static int gn = N;
struct vec {
  float *d;
  int n;
};
static void vadd(struct vec *a, const struct vec *b) {
  int n = a->n;
  float *x = a->d;
  const float *y = b->d;
#pragma acc parallel loop copy(x[0:n]) copyin(y[0:n])
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void vadd2(struct vec *a, const struct vec *b) {
#pragma acc parallel loop copyin(a[0:1], b[0:1]) copy(a->d[0:a->n]) copyin(b->d[0:b->n])
  for (int i = 0; i < a->n; i++)
    a->d[i] += b->d[i];
}

static void nested(int n) {
  int **t = malloc(n * sizeof *t), i, j, k;
  for (i = 0; i < n; i++) {
    t[i] = malloc(n * 4);
    for (j = 0; j < n; j++)
      t[i][j] = i - j;
  }
#pragma acc enter data copyin(t[0:n][0:n])
#pragma acc parallel loop gang worker present(t) num_workers(4)
  for (i = 0; i < n; i++)
#pragma acc loop vector
    for (j = 0; j < n; j++) {
      int s = 0;
#pragma acc loop seq
      for (k = 0; k < n; k++)
        s += k;
      t[i][j] += s;
    }
#pragma acc update self(t[1:2][0:n])
  CHECK_EQ(t[1][0], 1 + n * (n - 1) / 2);
#pragma acc exit data copyout(t[0:n][0:n])
  CHECK_EQ(t[n-1][0], n - 1 + n * (n - 1) / 2);
  for (i = 0; i < n; i++)
    free(t[i]);
  free(t);
}

static void device_calls(void) {
  float x[N];
  char s[4][8] = {"a", "bb", "ccc", "dddd"}, t[4][8];
  int len[4], i, eq = 0;
  unsigned long long h[4];
  memset(t, 0, sizeof t);
#pragma acc parallel loop copyin(s) copy(t) copyout(len, h) reduction(+:eq)
  for (i = 0; i < 4; i++) {
    len[i] = 0;
    while (s[i][len[i]])
      len[i]++;
    memcpy(t[i], s[i], 8);
    eq += t[i][0] == s[i][0];
    h[i] = 0;
    for (int j = 0; j < len[i]; j++)
      h[i] = h[i] * 31 + (unsigned char)s[i][j];
  }
  CHECK_EQ(len[3], 4);
  CHECK_EQ(eq, 4);
  CHECK(strcmp(t[2], "ccc") == 0);
  CHECK_EQ(h[1], 98 * 31 + 98);
#pragma acc parallel loop copyout(x)
  for (i = 0; i < N; i++)
    x[i] = fabsf(sinf(i * 0.1f)) + (float)pow(1.01, i) + (float)fmin(i, 3) + abs(-i)
        + (float)floor(i / 3.0);
  CHECK_NEAR(x[10], fabs(sin(1.0)) + pow(1.01, 10) + 3 + 10 + 3);
}

int main(void) {
  sidefx();
  int in[N], out[N], i;
  for (i = 0; i < N; i++)
    in[i] = i;
  mixed(in, out, N);
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], i >= 4 && i < N - 4 ? 2 * (i + 1) : i + 1);
  CHECK_NEAR(cond(1, 0), 5);
  CHECK_NEAR(cond(1, 1), 5);
  CHECK_NEAR(cond(101, 0), 105);
  for (i = 0; i < gn; i++)
    globalv[i] = i;
  float y[N];
  for (i = 0; i < N; i++)
    y[i] = 1;
  struct vec a = {globalv, N}, b = {y, N};
  vadd(&a, &b);
  vadd2(&a, &b);
  CHECK_NEAR(globalv[10], 12);
#pragma acc enter data copyin(a, b)
#pragma acc enter data copyin(a.d[0:N], b.d[0:N])
  vadd2(&a, &b);
  vadd(&a, &b);
#pragma acc exit data copyout(a.d[0:N]) delete(b.d[0:N])
#pragma acc exit data delete(a, b)
  CHECK_NEAR(globalv[10], 14);
  nested(11);
  device_calls();
  return report();
}
