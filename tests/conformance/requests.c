/* Elements in clauses, data with if, redundant gangs, sizes beyond the device, bounds from calls. */
#include "check.h"
#include <openacc.h>
#define N 40
static int G;
static double GA[4];
static int sfun(int i) {
  return i / 2;
}

static int efun(int i) {
  return i + 3;
}

static void ifdata(void) {
  int a[N], b[N], i, z = 0;
  for (i = 0; i < N; i++)
    a[i] = b[i] = i;
#pragma acc data copy(a) copyin(b) if(z)
  {
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      a[i] += b[i];
  }
  CHECK_EQ(a[3], 6);
#pragma acc data copy(a) copyin(b) if(z)
  {
#pragma acc kernels
    for (i = 0; i < N; i++)
      a[i] += b[i];
  }
  CHECK_EQ(a[3], 9);
}

static void elements(void) {
  int a[N], i, k = 7;
  struct {
    int q;
    int r[5];
    double d;
  } s = {1, {1, 2, 3, 4, 5}, 2.5};
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc parallel num_gangs(1) copy(a[5])
  a[5] = 55;
  CHECK_EQ(a[5], 55);
  CHECK_EQ(a[6], 6);
#pragma acc enter data copyin(a)
#pragma acc parallel loop present(a)
  for (i = 0; i < N; i++)
    a[i] = -i;
#pragma acc update self(a[k])
  CHECK_EQ(a[7], -7);
  a[8] = 80;
#pragma acc update device(a[k + 1])
#pragma acc exit data copyout(a)
  CHECK_EQ(a[8], 80);
  int sum = 0;
#pragma acc parallel loop reduction(+:a[3])
  for (i = 0; i < 10; i++)
    a[3] += i;
  CHECK_EQ(a[3], -3 + 45);
#pragma acc parallel loop reduction(+:G) reduction(+:GA)
  for (i = 0; i < N; i++) {
    G += i;
    GA[i % 4] += 0.5;
  }
  CHECK_EQ(G, N * (N - 1) / 2);
  CHECK_NEAR(GA[2], 5);
#pragma acc parallel num_gangs(1) copy(s.q) copy(s.r[1:2]) copyin(s.d)
  {
    s.q = 9;
    s.r[2] = (int)(s.d * 2);
  }
  CHECK_EQ(s.q, 9);
  CHECK_EQ(s.r[2], 5);
  (void)sum;
}

static void firstp(void) {
  double *d = acc_malloc(N * 8), h[N];
  int i;
#pragma acc parallel loop firstprivate(d)
  for (i = 0; i < N; i++)
    d[i] = i;
  acc_memcpy_from_device(h, d, sizeof h);
  CHECK_NEAR(h[9], 9);
  acc_free(d);
  static int big[8000], out[N];
  for (i = 0; i < 8000; i++)
    big[i] = i;
#pragma acc parallel loop firstprivate(big) copyout(out) num_gangs(4)
  for (i = 0; i < N; i++)
    out[i] = big[i * 200];
  CHECK_EQ(out[39], 7800);
  int work[3000];
#pragma acc parallel loop gang private(work) copyout(out) num_gangs(4)
  for (i = 0; i < N; i++) {
#pragma acc loop vector
    for (int j = 0; j < 3000; j++)
      work[j] = i + j;
    out[i] = work[2999];
  }
  CHECK_EQ(out[39], 3038);
#pragma acc parallel loop private(work) copyout(out) num_gangs(1) vector_length(32)
  for (i = 0; i < N; i++) {
    for (int j = 0; j < 10; j++)
      work[j * 300] = i + j;
    out[i] = work[2700];
  }
  CHECK_EQ(out[39], 48);
}

static void redundant(void) {
  int a[N], x = 0, i;
#pragma acc parallel num_gangs(8) copyout(a)
  {
#pragma acc loop worker
    for (i = 0; i < N; i++)
      a[i] = i;
  }
  CHECK_EQ(a[30], 30);
#pragma acc parallel num_gangs(8) copyout(a)
  {
#pragma acc loop vector
    for (i = 0; i < N; i++)
      a[i] = 2 * i;
  }
  CHECK_EQ(a[30], 60);
#pragma acc parallel num_gangs(10) num_workers(4) vector_length(32) copy(x)
  {
    x = 5;
  }
  CHECK_EQ(x, 5);
#pragma acc parallel num_gangs(4) copy(a)
  {
    for (i = 0; i < N; i++)
      a[i] = 3;
  }
  CHECK_EQ(a[30], 3);
#pragma acc parallel num_gangs(2) copyout(a)
  {
    int t = 4;
#pragma acc loop gang
    for (i = 0; i < N; i++) {
      t = i;
      a[i] = t;
    }
#pragma acc loop gang
    for (i = 0; i < N; i++)
      a[i] += 1;
  }
  CHECK_EQ(a[30], 31);
}

static void limits(void) {
  int a[N], i, c = 0;
  static int big[70000];
#pragma acc parallel num_gangs(1, 70000) copyout(big)
  {
#pragma acc loop gang(dim:2)
    for (i = 0; i < 70000; i++)
      big[i] = i;
  }
  CHECK_EQ(big[69999], 69999);
#pragma acc parallel loop gang worker vector num_workers(64) vector_length(4096) copyout(a)
  for (i = 0; i < N; i++)
    a[i] = i;
  CHECK_EQ(a[39], 39);
#pragma acc parallel loop gang worker vector num_gangs(1) num_workers(1) vector_length(1) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(a[39], 40);
#pragma acc parallel loop gang vector vector_length(33) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop gang worker num_workers(7) copy(a) reduction(+:c)
  for (i = 0; i < N; i++) {
    a[i]++;
    c++;
  }
  CHECK_EQ(a[39], 42);
  CHECK_EQ(c, N);
  int n = -5;
#pragma acc parallel loop copy(a)
  for (i = 0; i < n; i++)
    a[i] = 0;
  CHECK_EQ(a[0], 3);
}

static void bounds(void) {
  int out[N], i, j, lo[N], cnt[N];
  for (i = 0; i < N; i++)
    lo[i] = i, cnt[i] = i % 5;
#pragma acc parallel loop copyout(out)
  for (i = 0; i < N; i++) {
    out[i] = 0;
    for (j = sfun(i); j < efun(i); j++)
      out[i] += j;
  }
  for (i = 0; i < N; i++) {
    int t = 0;
    for (j = i / 2; j < i + 3; j++)
      t += j;
    CHECK_EQ(out[i], t);
  }
#pragma acc parallel loop gang copyout(out) copyin(lo, cnt)
  for (i = 0; i < N; i++) {
    int t = 0;
#pragma acc loop vector reduction(+:t)
    for (j = lo[i]; j < lo[i] + cnt[i]; j++)
      t += j;
    out[i] = t;
  }
  for (i = 0; i < N; i++) {
    int t = 0;
    for (j = i; j < i + i % 5; j++)
      t += j;
    CHECK_EQ(out[i], t);
  }
#pragma acc kernels copyout(out)
  {
    for (i = 0; i < N; i++)
      out[i] = 0;
    i = 0;
    while (i < N) {
      out[i] = i;
      i += 3;
    }
    for (i = 0; i < N && out[i] < 30; i++) ;
    out[1] = i;
  }
  CHECK_EQ(out[1], 30);
#define LOOPIT _Pragma("acc loop seq")
#define CL copy(out) vector_length(32)
#pragma acc parallel loop CL
  for (i = 0; i < 1; i++) {
    LOOPIT for (j = 1; j < N; j++)
      out[j] = out[j - 1] + 1;
  }
  CHECK_EQ(out[39], 39);
}

#define A4(p, i) p##0[i], p##1[i], p##2[i], p##3[i]
static void many(void) {
  int a0[4], a1[4], a2[4], a3[4], a4[4], a5[4], a6[4], a7[4], a8[4], a9[4], b0 = 1, b1 = 2, b2 = 3,
      b3 = 4, b4 = 5, b5 = 6, b6 = 7, b7 = 8, b8 = 9, b9 = 10, i;
  double c0[4], c1[4], c2[4], c3[4], c4[4], c5[4];
#pragma acc parallel loop pcopyout(a0, a1, a2, a3) present_or_copyout(a4, a5, a6, a7, a8, a9) copyout(c0, c1, c2, c3, c4, c5)
  for (i = 0; i < 4; i++) {
    a0[i] = b0;
    a1[i] = b1;
    a2[i] = b2;
    a3[i] = b3;
    a4[i] = b4;
    a5[i] = b5;
    a6[i] = b6;
    a7[i] = b7;
    a8[i] = b8;
    a9[i] = b9;
    c0[i] = b0;
    c1[i] = b1;
    c2[i] = b2;
    c3[i] = b3;
    c4[i] = b4;
    c5[i] = b5;
  }
  CHECK_EQ(a9[3], 10);
  CHECK_NEAR(c5[3], 6);
}

int main(void) {
  ifdata();
  elements();
  firstp();
  redundant();
  limits();
  bounds();
  many();
  return report();
}
