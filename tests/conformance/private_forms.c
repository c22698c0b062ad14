/* private, firstprivate and implicit attributes of arrays, structures and sections; sizes as expressions. */
#include "check.h"
#include <openacc.h>
#define N 60
typedef struct {
  int a, b[3];
  double d;
} T;
static void priv(int n) {
  int i, j, t = 9, arr[4] = {9,9,9,9}, out[N], m[2][3] = {{0}};
  T s = {1, {2, 3, 4}, 5};
  int *p = arr, *q = malloc(8 * sizeof(int));
  double vla[n];
  char c = 'a';
  float f = 1.5f;
  for (i = 0; i < 8; i++)
    q[i] = 100 + i;
#pragma acc parallel private(t, arr, s, m) copyout(out) num_gangs(3)
  {
    t = 5;
    arr[0] = 1;
    s.b[1] = 7;
    m[1][2] = 3;
#pragma acc loop gang worker vector
    for (i = 0; i < N; i++)
      out[i] = t + arr[0] + s.b[1] + m[1][2];
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], 16);
  CHECK_EQ(t, 9);
  CHECK_EQ(arr[0], 9);
  CHECK_EQ(s.b[1], 3);
  CHECK_EQ(m[1][2], 0);
#pragma acc parallel firstprivate(t, arr, s, m, c, f) copyout(out) num_gangs(4)
  {
    arr[1] += t;
    s.b[2] += arr[1];
    s.d += 1;
#pragma acc loop
    for (i = 0; i < N; i++)
      out[i] = s.b[2] + m[0][0] + (c == 'a') + (int)(f * 2) + (int)s.d;
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], 4 + 18 + 1 + 3 + 6);
  CHECK_EQ(arr[1], 9);
  CHECK_EQ(s.b[2], 4);
  CHECK_NEAR(s.d, 5);
#pragma acc parallel loop gang private(arr[0:4]) copyout(out)
  for (i = 0; i < N; i++) {
    for (j = 0; j < 4; j++)
      arr[j] = i;
    out[i] = arr[0] + arr[3];
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], 2 * i);
#pragma acc parallel loop private(q[0:8]) copyout(out)
  for (i = 0; i < N; i++) {
    for (j = 0; j < 8; j++)
      q[j] = i * j;
    out[i] = q[7] - q[1];
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], 6 * i);
  CHECK_EQ(q[3], 103);
#pragma acc parallel loop firstprivate(q[0:8]) copyout(out)
  for (i = 0; i < N; i++) {
    out[i] = q[7] + i;
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], 107 + i);
#pragma acc parallel loop private(vla) copyout(out)
  for (i = 0; i < N; i++) {
    for (j = 0; j < n; j++)
      vla[j] = j;
    out[i] = (int)vla[n - 1] + i;
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], n - 1 + i);
  /* loop private at each level */
#pragma acc parallel num_gangs(2) num_workers(2) vector_length(32) copyout(out)
  {
#pragma acc loop gang private(t)
    for (i = 0; i < N / 10; i++) {
      t = i * 10;
#pragma acc loop worker vector
      for (j = 0; j < 10; j++)
        out[i * 10 + j] = t + j;
    }
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], i);
#pragma acc parallel loop gang copyout(out)
  for (i = 0; i < N / 10; i++) {
    int g[10];
#pragma acc loop worker private(t)
    for (j = 0; j < 10; j++) {
      t = i + j;
      g[j] = t * t;
    }
#pragma acc loop vector private(t, f)
    for (j = 0; j < 10; j++) {
      t = g[9 - j];
      f = t;
      out[i * 10 + j] = (int)f;
    }
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(out[i], (i / 10 + 9 - i % 10) * (i / 10 + 9 - i % 10));
#pragma acc parallel loop collapse(2) private(t) copyout(out)
  for (i = 0; i < 6; i++)
    for (j = 0; j < 10; j++) {
      t = i;
      t += j;
      out[i * 10 + j] = t;
    }
  CHECK_EQ(out[59], 14);
#pragma acc kernels copyout(out)
  {
#pragma acc loop private(t, arr)
    for (i = 0; i < N; i++) {
      t = i;
      arr[t % 4] = t;
      out[i] = arr[i % 4];
    }
  }
  CHECK_EQ(out[44], 44);
#pragma acc serial private(t, s) firstprivate(arr) copyout(out)
  {
    t = arr[2];
    s.a = t;
    out[0] = s.a;
  }
  CHECK_EQ(out[0], 9);
#pragma acc serial loop private(t) copyout(out)
  for (i = 0; i < N; i++) {
    t = i;
    out[i] = t;
  }
  CHECK_EQ(out[59], 59);
  (void)p;
  free(q);
}

static void implicit(int n) {
  int i, k = 4, a[N], b[N], sum = 0;
  T s = {1, {2, 3, 4}, 5};
  double *h = malloc(n * 8);
  const int c = 3;
  static int st = 5;
  float f = 2;
  for (i = 0; i < N; i++)
    a[i] = i;
  for (i = 0; i < n; i++)
    h[i] = i;
#pragma acc parallel loop
  for (i = 0; i < N; i++) {
    b[i] = a[i] * k + c + st;
    k = k;
  }
  CHECK_EQ(b[9], 9 * 4 + 8);
#pragma acc parallel
  {
    s.a = 10;
    k = 99;
  }
  CHECK_EQ(s.a, 10);
  CHECK_EQ(k, 4);
#pragma acc serial
  {
    s.b[1]++;
    k = 98;
    f = 7;
  }
  CHECK_EQ(s.b[1], 4);
  CHECK_EQ(k, 4);
  CHECK_NEAR(f, 2);
#pragma acc kernels
  {
    k = 97;
    f = 8;
    s.d = 3;
  }
  CHECK_EQ(k, 97);
  CHECK_NEAR(f, 8);
  CHECK_NEAR(s.d, 3);
#pragma acc parallel loop
  for (i = 0; i < n; i++)
    h[i] *= 2;
  CHECK_NEAR(h[n - 1], 2 * (n - 1));
#pragma acc parallel loop reduction(+:sum)
  for (i = 0; i < n; i++)
    sum += (int)h[i];
  CHECK_EQ(sum, n * (n - 1));
#pragma acc data copyin(h[0:n]) default(present)
  {
#pragma acc parallel loop copy(a)
    for (i = 0; i < n; i++)
      a[i] = (int)h[i];
  }
  CHECK_EQ(a[3], 6);
#pragma acc data copy(a, s) default(none)
  {
#pragma acc parallel loop firstprivate(n) default(none) present(a, s)
    for (i = 0; i < n; i++) {
      int loc = i;
      a[i] = loc + s.a;
    }
#pragma acc parallel loop default(none) copyin(h[0:n]) firstprivate(k, c, n) reduction(+:sum) private(f)
    for (i = 0; i < n; i++) {
      f = k;
      sum += a[i] + (int)h[i] + (int)f * c * 0;
    }
  }
  CHECK_EQ(a[5], 15);
  free(h);
}

static void sizesf(void) {
  int n = 3, w = 2, v = 32, cnt = 0, i, a[N];
  long long lg = 5;
  short sh = 2;
  unsigned char uc = 4;
#pragma acc parallel num_gangs(n) num_workers(w) vector_length(v) reduction(+:cnt)
  cnt++;
  CHECK(cnt >= 1 && cnt <= 3);
  cnt = 0;
#pragma acc parallel num_gangs(lg * 2) num_workers(sh) vector_length(uc * 8) reduction(+:cnt)
  cnt++;
  CHECK(cnt >= 1 && cnt <= 10);
  cnt = 0;
#pragma acc parallel num_gangs(2, 3, 2) copy(cnt)
  {
#pragma acc atomic
    cnt++;
  }
  CHECK(cnt >= 1 && cnt <= 12);
#pragma acc parallel num_gangs(n, n + 1) copyout(a)
  {
#pragma acc loop gang(dim:2)
    for (i = 0; i < 6; i++)
#pragma acc loop gang(dim:1) vector
      for (int j = 0; j < 10; j++)
        a[i * 10 + j] = i + j;
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(a[i], i / 10 + i % 10);
  n = 0;
#pragma acc parallel loop num_gangs(n + 1) vector_length(1) num_workers(1) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(a[0], 1);
#pragma acc kernels num_gangs(n + 2) num_workers(w) vector_length(v) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(a[0], 2);
#pragma acc parallel loop copy(a) device_type(nvidia) num_gangs(4) vector_length(64) device_type(host) num_gangs(1) device_type(*) num_gangs(2) gang vector
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(a[0], 3);
}

int main(void) {
  priv(7);
  implicit(20);
  sizesf();
  return report();
}
