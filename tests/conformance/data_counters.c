/* Structured and dynamic counters in each other; always; sections of arrays of two and three dimensions. */
#include "check.h"
#include <openacc.h>
#define N 40
/* counters: structured inside unstructured and so on */
static int on_dev(int *a, int i) {
  int v;
#pragma acc serial present(a[0:N]) copyout(v)
  v = a[i];
  return v;
}

static void counters(int sep) {
  int a[N], b[N], i;
  int *p = malloc(N * 4);
  for (i = 0; i < N; i++)
    a[i] = b[i] = p[i] = i;
#pragma acc enter data copyin(a)
  a[3] = 300;
#pragma acc data copyin(a)
  {
    if (sep)
      CHECK_EQ(on_dev(a, 3), 3);
#pragma acc exit data delete(a)
    CHECK(acc_is_present(a, sizeof a));
#pragma acc exit data delete(a)
    CHECK(acc_is_present(a, sizeof a));
#pragma acc exit data delete(a) finalize
    CHECK(acc_is_present(a, sizeof a));
  }
  CHECK(!acc_is_present(a, sizeof a));
#pragma acc data copy(b)
  {
#pragma acc enter data create(b)
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      b[i]++;
  }
  CHECK(acc_is_present(b, sizeof b));
  if (sep)
    CHECK_EQ(b[3], 3);
#pragma acc exit data copyout(b)
  CHECK_EQ(b[3], 4);
  CHECK(!acc_is_present(b, sizeof b));
  /* copy inside: no transfer at inner exit */
#pragma acc data copyin(b)
  {
#pragma acc data copy(b)
    {
#pragma acc parallel loop copy(b)
      for (i = 0; i < N; i++)
        b[i] = -1;
      if (sep)
        CHECK_EQ(b[0], 1);
    }
    if (sep)
      CHECK_EQ(b[0], 1);
#pragma acc data copyout(b)
    {
      ;
    }
    if (sep)
      CHECK_EQ(b[0], 1);
#pragma acc data copy(always: b)
    {
      ;
    }
    if (sep)
      CHECK_EQ(b[0], 1);
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      b[i] = -1;
#pragma acc data copy(alwaysout: b)
    ;
    CHECK_EQ(b[0], -1);
    b[0] = 7;
#pragma acc data copyin(alwaysin: b)
    {
      CHECK_EQ(on_dev(b, 0), 7);
      b[0] = 8;
#pragma acc data copyin(always, readonly: b)
      CHECK_EQ(on_dev(b, 0), 8);
    }
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      b[i] = 50;
#pragma acc data copyout(always: b)
    {
    }
    CHECK_EQ(b[0], 50);
#pragma acc parallel loop copyout(alwaysout, zero: b)
    for (i = 0; i < N; i++)
      b[i] += 1;
    CHECK_EQ(b[1], 51);
  }
  CHECK_EQ(b[0], 51);
  /* dynamic twice */
#pragma acc enter data create(p[0:N])
#pragma acc enter data copyin(p[0:N])
#pragma acc parallel loop present(p[0:N])
  for (i = 0; i < N; i++)
    p[i] = 2 * i;
#pragma acc exit data copyout(p[0:N])
  CHECK(acc_is_present(p, N * 4));
  if (sep)
    CHECK_EQ(p[3], 3);
#pragma acc exit data copyout(p[0:N]) finalize
  CHECK_EQ(p[3], 6);
  CHECK(!acc_is_present(p, N * 4));
  /* API + structured */
  acc_copyin(p, N * 4);
#pragma acc data present(p[0:N])
  {
    acc_delete(p, N * 4);
    CHECK(acc_is_present(p, N * 4));
  }
  CHECK(!acc_is_present(p, N * 4));
#pragma acc data create(p[0:N])
  {
    acc_copyout(p, N * 4);
    CHECK(acc_is_present(p, N * 4));
    acc_create(p, N * 4);
    acc_copyout(p, N*4);
    CHECK(acc_is_present(p, N * 4));
  }
  CHECK(!acc_is_present(p, N * 4));
  /* exit data of absent: nothing */
#pragma acc exit data delete(p[0:N])
#pragma acc exit data copyout(p[0:N])
#pragma acc exit data detach(p)
  /* no_create */
  for (i = 0; i < N; i++)
    p[i] = i;
#pragma acc data no_create(p[0:N])
  CHECK(!acc_is_present(p, N*4));
#pragma acc enter data copyin(p[0:N])
#pragma acc data no_create(p[0:N])
  {
#pragma acc parallel loop no_create(p[0:N])
    for (i = 0; i < N; i++)
      p[i] += 5;
  }
#pragma acc exit data copyout(p[0:N])
  CHECK_EQ(p[3], 8);
  /* if on enter/exit, vars */
  int yes = 1;
  double ratio = 0.5;
#pragma acc enter data copyin(p[0:N]) if(ratio)
  CHECK(acc_is_present(p, N*4));
#pragma acc exit data delete(p[0:N]) if(!yes)
  CHECK(acc_is_present(p, N*4));
#pragma acc exit data delete(p[0:N]) if(yes && ratio > 0.1)
  CHECK(!acc_is_present(p, N*4));
  /* NULL pointers */
  int *null = NULL;
#pragma acc enter data copyin(null[0:0])
#pragma acc exit data delete(null[0:0])
#pragma acc data copy(null[0:N])
  ;
  free(p);
}

static void sections(void) {
  int a[10][20], b[6][7][8], i, j, k;
  int n = 10;
  for (i = 0; i < 10; i++)
    for (j = 0; j < 20; j++)
      a[i][j] = 100 * i + j;
#pragma acc data copy(a[2:3])
  {
    CHECK(acc_is_present(&a[2][0], 3 * 20 * 4));
    CHECK(!acc_is_present(a, 4));
#pragma acc parallel loop present(a[2:3][0:20])
    for (i = 2; i < 5; i++)
      for (j = 0; j < 20; j++)
        a[i][j] = -a[i][j];
  }
  CHECK_EQ(a[2][3], -203);
  CHECK_EQ(a[1][19], 119);
  CHECK_EQ(a[5][0], 500);
#pragma acc data copy(a[4:1][5:10])
  {
#pragma acc parallel loop present(a[4:1][5:10])
    for (j = 5; j < 15; j++)
      a[4][j] = j;
  }
  CHECK_EQ(a[4][4], -404);
  CHECK_EQ(a[4][5], 5);
  CHECK_EQ(a[4][14], 14);
  CHECK_EQ(a[4][15], -415);
  memset(b, 0, sizeof b);
#pragma acc enter data copyin(b[1:4][0:7][0:8])
#pragma acc parallel loop collapse(3) present(b[1:4])
  for (i = 1; i < 5; i++)
    for (j = 0; j < 7; j++)
      for (k = 0; k < 8; k++)
        b[i][j][k] = i * 100 + j * 10 + k;
#pragma acc update self(b[2:2][1:3][4:2])
  for (i = 0; i < 6; i++)
    for (j = 0; j < 7; j++)
      for (k = 0; k < 8; k++)
        if (separate_memory())
          CHECK_EQ(b[i][j][k], (i == 2 || i == 3) && j >= 1 && j < 4 && (k == 4 || k == 5)
              ? i * 100 + j * 10 + k : 0);
  int lo = 3, len = 2;
  memset(b, 0, sizeof b);
#pragma acc update host(b[lo - 2 : len * 2][lo:][:len])
  for (i = 0; i < 6; i++)
    for (j = 0; j < 7; j++)
      for (k = 0; k < 8; k++)
        CHECK_EQ(b[i][j][k], i >= 1 && i < 5 && j >= 3 && k < 2 ? i * 100 + j * 10 + k : 0);
#pragma acc exit data delete(b[1:4])
  /* vla, pointer to vla */
  double v[n][n + 1], (*w)[n] = malloc(sizeof(double) * n * n);
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      v[i][j] = i + j * 0.5;
#pragma acc parallel loop collapse(2) copyin(v[0:n][0:n+1]) copyout(w[0:n][0:n])
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      w[i][j] = v[j][i] * 2;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      CHECK_NEAR(w[i][j], (j + i * 0.5) * 2);
#pragma acc data copy(w[1:2])
#pragma acc parallel loop collapse(2)
  for (i = 1; i < 3; i++)
    for (j = 0; j < n; j++)
      w[i][j] = 0;
  CHECK_NEAR(w[2][9], 0);
  CHECK_NEAR(w[0][9], 1 * 18);
  free(w);
  /* sections with parenthesised/casts/macros/char lengths */
  float *f = malloc(100 * sizeof(float));
  short sn = 50;
  unsigned char cl = 20;
  unsigned long ul = 10;
  enum {
    K = 5
  };
  for (i = 0; i < 100; i++)
    f[i] = i;
#pragma acc parallel loop copy(f[sn:cl])
  for (i = sn; i < sn + cl; i++)
    f[i] = -1;
#pragma acc parallel loop copy(f[(int)ul + K : sizeof(int) * 2])
  for (i = 15; i < 23; i++)
    f[i] = -2;
  CHECK_NEAR(f[49], 49);
  CHECK_NEAR(f[69], -1);
  CHECK_NEAR(f[70], 70);
  CHECK_NEAR(f[14], 14);
  CHECK_NEAR(f[15], -2);
  CHECK_NEAR(f[22], -2);
  CHECK_NEAR(f[23], 23);
  free(f);
}

int main(void) {
  int sep = separate_memory();
  counters(sep);
  sections();
  return report();
}
