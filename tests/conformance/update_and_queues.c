/* update, host_data, async and wait on every directive. */
#include "check.h"
#include <openacc.h>
#define N 48
struct in {
  int k;
  double v[4];
};
struct S {
  int n;
  double *x;
  int arr[6];
  struct in in;
  struct in *p;
};
static void updates(int sep) {
  int a[N], b[N], i, s = 5, t = 6;
  double *x = malloc(N * sizeof *x);
  int yes = 1, no = 0;
  for (i = 0; i < N; i++)
    a[i] = b[i] = i, x[i] = i;
#pragma acc enter data copyin(a, b, x[0:N], s, t)
#pragma acc parallel loop present(a, b, x[0:N])
  for (i = 0; i < N; i++) {
    a[i] += 100;
    b[i] += 200;
    x[i] += 300;
  }
#pragma acc update self(a[0:4], b[N-1:1]) host(x[2:2])
  CHECK_EQ(a[3], 103);
  CHECK_EQ(b[N-1], N - 1 + 200);
  CHECK_NEAR(x[3], 303);
  if (sep) {
    CHECK_EQ(a[4], 4);
    CHECK_EQ(b[0], 0);
    CHECK_NEAR(x[4], 4);
  }
#pragma acc update self(a) if(no)
  if (sep)
    CHECK_EQ(a[4], 4);
#pragma acc update self(a) if(yes)
  CHECK_EQ(a[4], 104);
  s = 50;
  t = 60;
#pragma acc update device(s, t)
#pragma acc parallel num_gangs(1) present(s, t)
  {
    s += 1;
    t += 2;
  }
#pragma acc update self(s) self(t)
  CHECK_EQ(s, 51);
  CHECK_EQ(t, 62);
#pragma acc update device(a[:10]) self(b[10:])
  CHECK_EQ(b[20], 220);
#pragma acc update self(x[0:N]) async(1)
#pragma acc update self(b) async
#pragma acc wait(1)
#pragma acc wait
  CHECK_NEAR(x[40], 340);
  CHECK_EQ(b[1], 201);
  a[0] = -1;
#pragma acc update device(a[0:1]) async(2) wait(1)
#pragma acc parallel loop present(a) async(3) wait(2)
  for (i = 0; i < N; i++)
    a[i] *= 2;
#pragma acc update self(a) wait(3) async(4)
#pragma acc wait(4)
  CHECK_EQ(a[0], -2);
  CHECK_EQ(a[9], 218);
  int absent[4] = {1,2,3,4};
#pragma acc update self(absent) if_present
#pragma acc update device(absent, a[0:2]) if_present
#pragma acc update self(absent[1:2]) device(a[0:N]) if_present async(1)
#pragma acc wait
#pragma acc update self(a) device_type(nvidia) async(1) device_type(*) async(2)
#pragma acc wait
#pragma acc exit data delete(a, b, x, s, t)
  free(x);
}

static void structs(void) {
  struct S q;
  int i;
  q.n = N;
  q.x = malloc(N * 8);
  q.p = malloc(3 * sizeof(struct in));
  for (i = 0; i < N; i++)
    q.x[i] = i;
  for (i = 0; i < 6; i++)
    q.arr[i] = i;
  for (i = 0; i < 3; i++)
    q.p[i].k = i, q.p[i].v[1] = i;
#pragma acc enter data copyin(q)
#pragma acc enter data copyin(q.x[0:N], q.p[0:3])
  q.n = 7;
  q.arr[2] = 22;
  q.in.k = 9;
  q.in.v[3] = 3.5;
#pragma acc update device(q.n, q.arr, q.in.k, q.in.v[2:2])
  q.x[3] = 33;
  q.p[1].v[2] = 12;
#pragma acc update device(q.x[3:1], q.p[1:1])
#pragma acc parallel num_gangs(1) present(q)
  {
    q.arr[0] = q.n + q.arr[2] + q.in.k + (int)(q.in.v[3] * 2);
    q.x[0] = q.x[3] + 1;
    q.p[0].k = (int)q.p[1].v[2];
  }
#pragma acc update self(q.arr[0:1], q.x[0:1], q.p[0:1])
  CHECK_EQ(q.arr[0], 7 + 22 + 9 + 7);
  CHECK_NEAR(q.x[0], 34);
  CHECK_EQ(q.p[0].k, 12);
  struct S *r = &q;
#pragma acc parallel loop present(r, r->x[0:N])
  for (i = 0; i < N; i++)
    r->x[i] = 2 * i;
#pragma acc update host(r->x[0:r->n])
  CHECK_NEAR(q.x[6], 12);
#pragma acc exit data delete(q.p[0:3]) copyout(r->x[0:N])
#pragma acc exit data copyout(q)
  CHECK_NEAR(q.x[40], 80);
  CHECK_EQ(q.arr[0], 45);
  free(q.x);
  free(q.p);
}

static void host_datas(void) {
  int a[N], *d = 0, *h = a, i, yes = 1;
  float f = 1;
  struct in st = {1};
  static int g[N];
  int m[4][5];
  for (i = 0; i < N; i++)
    a[i] = g[i] = i;
#pragma acc data copyin(a, f, st, g, m)
  {
#pragma acc host_data use_device(a)
    d = a;
    CHECK(d == acc_deviceptr(a));
#pragma acc host_data use_device(a) if(0)
    CHECK(a == h);
#pragma acc host_data use_device(a, g, m) if(yes)
    {
      CHECK(a == acc_deviceptr(h));
      d = &g[3];
      CHECK((void*)m != 0);
#pragma acc parallel loop deviceptr(d)
      for (i = 0; i < 4; i++)
        d[i] = -1;
    }
#pragma acc host_data use_device(f, st)
    {
      float *pf = &f;
      struct in *ps = &st;
#pragma acc parallel num_gangs(1) deviceptr(pf, ps)
      {
        *pf = 2;
        ps->k = 8;
      }
    }
#pragma acc update self(f, st, g)
    CHECK_NEAR(f, 2);
    CHECK_EQ(st.k, 8);
    CHECK_EQ(g[3], -1);
    CHECK_EQ(g[6], -1);
    CHECK_EQ(g[7], 7);
    int *p = a + 5;
#pragma acc host_data use_device(p)
    CHECK(p == (int *)acc_deviceptr(h) + 5);
  }
#pragma acc host_data use_device(a) if_present
  CHECK(a == h);
#pragma acc host_data use_device(a) if_present if(yes)
  {
    CHECK(a == h);
  }
}

static void asyncs(void) {
  enum {
    Q = 5
  };
  static int a[Q][N];
  int i, q, sum = 0, dev = 0;
  for (q = 0; q < Q; q++) {
#pragma acc enter data create(a[q:1]) async(q)
#pragma acc parallel loop present(a[q:1]) async(q)
    for (i = 0; i < N; i++)
      a[q][i] = q * i;
#pragma acc exit data copyout(a[q:1]) async(q)
  }
#pragma acc wait(0, 1)
#pragma acc wait(queues: 2, 3)
#pragma acc wait(devnum: dev : queues : 4)
  for (q = 0; q < Q; q++)
    for (i = 0; i < N; i++)
      CHECK_EQ(a[q][i], q * i);
#pragma acc data copy(a) async(1)
  {
#pragma acc kernels async(1)
    for (q = 0; q < Q; q++)
      for (i = 0; i < N; i++)
        a[q][i]++;
#pragma acc serial async(2) wait(1)
    a[0][0] = 100;
#pragma acc wait(2) async(1)
  }
#pragma acc wait(1)
  CHECK_EQ(a[0][0], 100);
  CHECK_EQ(a[1][1], 2);
  long lq = 7;
  short sq = 8;
#pragma acc parallel loop async(lq) copy(a)
  for (i = 0; i < N; i++)
    a[2][i] = 0;
#pragma acc parallel loop async(sq) wait(lq) copy(a)
  for (i = 0; i < N; i++)
    a[2][i]++;
#pragma acc wait(sq) if(sq == 8)
  CHECK_EQ(a[2][5], 1);
#pragma acc wait(3) if(0)
#pragma acc wait async(2)
#pragma acc wait(1) async if(dev == 0)
#pragma acc wait(acc_async_sync)
#pragma acc wait(acc_async_noval, acc_async_default)
#pragma acc parallel loop reduction(+:sum) async wait(devnum:0:queues:1,2) copyin(a)
  for (i = 0; i < N; i++)
    sum += a[1][i];
#pragma acc wait
  CHECK_EQ(sum, N * (N - 1) / 2 + N);
  while (!acc_async_test_all()) ;
#pragma acc parallel loop async(acc_async_sync) copy(a)
  for (i = 0; i < N; i++)
    a[3][i] = -3;
  CHECK_EQ(a[3][9], -3);
#pragma acc parallel loop async(acc_async_noval) copy(a)
  for (i = 0; i < N; i++)
    a[3][i] = -4;
#pragma acc parallel loop async copy(a)
  for (i = 0; i < N; i++)
    a[3][i] -= 1;
  acc_wait(acc_async_noval);
  CHECK_EQ(a[3][9], -5);
  /* if false + async */
#pragma acc parallel loop if(0) async(5) copy(a)
  for (i = 0; i < N; i++)
    a[3][i] = 9;
#pragma acc wait(5)
  CHECK_EQ(a[3][9], 9);
#pragma acc enter data copyin(a) async(6) wait(5)
#pragma acc update device(a) async(6)
#pragma acc exit data delete(a) wait(6)
  CHECK(!acc_is_present(a, sizeof a));
}

int main(void) {
  updates(separate_memory());
  structs();
  host_datas();
  asyncs();
  return report();
}
