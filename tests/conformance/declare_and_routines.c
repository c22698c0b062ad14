/* declare in every scope and form; routines by name, bound, recursive, of every level. */
#include "check.h"
#include <openacc.h>
#define N 50
/* declares at file scope in all forms, extern, static, struct, 2D, pointers, const */
int c1[N];
#pragma acc declare create(c1)
int c2 = 7, c3[3] = {1, 2, 3};
#pragma acc declare copyin(c2, c3)
static double r1[N], r2;
#pragma acc declare device_resident(r1, r2)
float link1[N];
int link2;
int *lptr;
#pragma acc declare link(link1, link2)
extern int ex1[];
int ex1[N];
#pragma acc declare create(ex1)
struct conf {
  int n;
  float w[4];
};
struct conf cf = {3, {1, 2, 3, 4}};
#pragma acc declare copyin(cf)
int mat[4][5];
#pragma acc declare create(mat)
int *gp;
#pragma acc declare create(gp)
const int ktab[4] = {10, 20, 30, 40};
static const float kf = 2.5f;
unsigned char uc;
short sh;
long long ll;
_Bool bo;
enum en {
  EA, EB = 6
} en;
#pragma acc declare create(uc, sh, ll, bo, en)
#pragma acc routine seq
static int seqf(int i) {
  return c1[i] + c2 + c3[i % 3] + ktab[i % 4];
}

#pragma acc routine
int noLevel(int x);
int later(int);
#pragma acc routine(later) seq
int later(int x) {
  return x + cf.n;
}

int byname(int, int);
#pragma acc routine(byname) seq
int byname(int a, int b) {
  return a * b;
}

int noLevel(int x) {
  return (int)(x * kf);
}

#pragma acc routine worker
static void wk(int *a, int n) {
#pragma acc loop worker vector
  for (int i = 0; i < n; i++)
    a[i] += 1;
}

#pragma acc routine vector
static int vsum(const int *a, int n) {
  int s = 0;
#pragma acc loop vector reduction(+:s)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

#pragma acc routine gang
static void gk(int *a, int n) {
#pragma acc loop gang
  for (int i = 0; i < n; i++) {
    a[i] += 2;
#pragma acc loop vector
    for (int j = 0; j < 1; j++)
      a[i] += 1;
  }
}

#pragma acc routine seq bind(dev_impl)
int host_impl(int x) {
  return x + 1000;
}

#pragma acc routine seq
int dev_impl(int x) {
  return x + 1;
}

#pragma acc routine seq bind("dev_impl2")
int host2(int x);
int host2(int x) {
  return x + 2000;
}

#pragma acc routine seq nohost
int dev_impl2(int x) {
  return x + 2;
}

#pragma acc routine gang device_type(host) seq
static void dt(int *a, int i) {
  a[i] = i;
}

#pragma acc routine seq
static void out3(int *x, double *y, struct conf *c) {
  *x = 1;
  *y = 2.5;
  c->n = 9;
  c->w[2] = 7;
}

#pragma acc routine seq
static struct conf ret(int i) {
  struct conf c = {i, {i, i + 1.f, 0, 0}};
  return c;
}

typedef int (*op)(int, int);
static int rec(int n) {
  return n < 2 ? n : rec(n - 1) + rec(n - 2);
}

static void locals(int n) {
  int a[N], b[N], c[N], p[N], i;
  for (i = 0; i < N; i++)
    a[i] = i, b[i] = 2 * i, p[i] = 5;
#pragma acc enter data copyin(p)
  {
    int la[N];
#pragma acc declare create(la)
#pragma acc parallel loop copyin(a)
    for (i = 0; i < N; i++)
      la[i] = a[i];
#pragma acc parallel loop copyout(c)
    for (i = 0; i < N; i++)
      c[i] = la[i];
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(c[i], i);
#pragma acc exit data delete(p)
}

static int dcl(int *x, int n, const double *ext) {
  int loc[N], in[N], out[N], s = 0, i;
  for (i = 0; i < N; i++)
    in[i] = i, out[i] = -1;
#pragma acc declare create(loc) copyin(in) copyout(out)
#pragma acc declare present(x)
  CHECK(acc_is_present(loc, sizeof loc));
  CHECK(acc_is_present(out, sizeof out));
  for (i = 0; i < N; i++)
    in[i] = 2 * i;
#pragma acc update device(in)
#pragma acc parallel loop
  for (i = 0; i < N; i++) {
    loc[i] = in[i] + x[i];
    out[i] = loc[i];
  }
#pragma acc update self(out)
  for (i = 0; i < N; i++)
    s += out[i];
  return s;
}

static void dptr(float *dp, int n) {
#pragma acc declare deviceptr(dp)
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    dp[i] = i;
}

int main(void) {
  int i, a[N], b[N], s = 0;
  double y[N];
  for (i = 0; i < N; i++)
    c1[i] = i, ex1[i] = 3 * i, link1[i] = i, a[i] = 0;
#pragma acc update device(c1, ex1)
#pragma acc parallel loop copyout(a)
  for (i = 0; i < N; i++)
    a[i] = seqf(i) + noLevel(i) + later(1) + byname(2, i) + ex1[i];
  for (i = 0; i < N; i++)
    CHECK_EQ(a[i], i + 7 + c3[i%3] + ktab[i%4] + (int)(i * 2.5f) + 4 + 2*i + 3*i);
#pragma acc parallel num_gangs(1) num_workers(4) vector_length(32) copy(a)
  wk(a, N);
#pragma acc parallel loop gang copyin(a) reduction(+:s)
  for (i = 0; i < 3; i++)
    s += vsum(a, N);
  {
    int t = 0;
    for (i = 0; i < N; i++)
      t += a[i];
    CHECK_EQ(s, 3 * t);
  }
#pragma acc parallel copy(a)
  gk(a, N);
  {
    int t = 0;
    for (i = 0; i < N; i++)
      t += a[i];
    CHECK_EQ(s + 9 * N, 3 * t);
  }
#pragma acc parallel loop copyout(a, b)
  for (i = 0; i < N; i++) {
    a[i] = host_impl(i);
    b[i] = host2(i);
  }
  CHECK_EQ(a[5], 6);
  CHECK_EQ(b[5], 7);
  CHECK_EQ(host_impl(5), 1005);
  CHECK_EQ(host2(5), 2005);
#pragma acc parallel loop copyout(a, y)
  for (i = 0; i < N; i++) {
    struct conf c = ret(i);
    out3(&a[i], &y[i], &c);
    a[i] += c.n + (int)c.w[2] + (int)c.w[1];
  }
  CHECK_EQ(a[4], 1 + 9 + 7 + 5);
  CHECK_NEAR(y[9], 2.5);
#pragma acc parallel loop copyout(a)
  for (i = 0; i < 12; i++)
    a[i] = rec(i);
  CHECK_EQ(a[11], 89);
  /* scalars of every type in declare create */
  uc = 200;
  sh = -5;
  ll = 1LL << 40;
  bo = 1;
  en = EB;
#pragma acc update device(uc, sh, ll, bo, en)
#pragma acc serial
  {
    uc++;
    sh--;
    ll *= 2;
    bo = !bo;
    en = EA;
    r2 = 1.5;
  }
#pragma acc update self(uc, sh, ll, bo, en)
  CHECK_EQ(uc, 201);
  CHECK_EQ(sh, -6);
  CHECK_EQ(ll, 1LL << 41);
  CHECK_EQ(bo, 0);
  CHECK_EQ(en, EA);
#pragma acc parallel loop
  for (i = 0; i < N; i++)
    r1[i] = i * r2;
#pragma acc parallel loop copyout(y)
  for (i = 0; i < N; i++)
    y[i] = r1[i];
  CHECK_NEAR(y[10], 15);
#pragma acc parallel loop collapse(2)
  for (i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      mat[i][j] = i * 5 + j;
#pragma acc update self(mat[1:2])
  CHECK_EQ(mat[2][4], 14);
#pragma acc data copy(link1)
  {
#pragma acc parallel loop present(link1)
    for (i = 0; i < N; i++)
      link1[i] *= 2;
  }
  CHECK_NEAR(link1[7], 14);
#pragma acc enter data copyin(link2)
#pragma acc serial present(link2)
  link2 = 77;
#pragma acc exit data copyout(link2)
  CHECK_EQ(link2, 77);
  gp = malloc(N * 4);
#pragma acc enter data create(gp[0:N])
#pragma acc parallel loop present(gp[0:N])
  for (i = 0; i < N; i++)
    gp[i] = i * i;
#pragma acc exit data copyout(gp[0:N])
  CHECK_EQ(gp[7], 49);
  int x[N];
  for (i = 0; i < N; i++)
    x[i] = 1;
#pragma acc data copyin(x)
  {
    CHECK_EQ(dcl(x, N, y), N * (N - 1) + N);
    CHECK_EQ(dcl(x, N, y), N * (N - 1) + N);
  }
  locals(N);
  float *dp = acc_malloc(N * 4), hp[N];
  dptr(dp, N);
  acc_memcpy_from_device(hp, dp, N * 4);
  CHECK_NEAR(hp[33], 33);
  CHECK(acc_is_present(c1, sizeof c1));
  CHECK(acc_is_present(&c2, sizeof c2));
  return report();
}
