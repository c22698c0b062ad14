/* Directives as people spell them: white space, continued lines, commas, empty bodies; cache in all places. */
#include "check.h"
#include <openacc.h>
#include <stdbool.h>
#define N 128
static int cachef(int n) {
  int err = 0;
  double *a = malloc(n * 8), *c = malloc(n * 8);
  int len = 3;
  for (int x = 0; x < n; ++x)
    a[x] = x, c[x] = 0;
#pragma acc data copyin(a[0:n]) copy(c[0:n])
  {
#pragma acc parallel loop
    for (int x = 1; x < n - 1; ++x) {
#pragma acc cache(a[x-1:3])
      c[x] = (a[x - 1] + a[x] + a[x + 1]) / 3;
    }
#pragma acc parallel
    {
#pragma acc loop gang
      for (int x = 0; x < n / 10; ++x) {
#pragma acc cache(a[x*10:10], c[x*10:10])
#pragma acc loop vector
        for (int y = 0; y < 10; ++y)
          c[x * 10 + y] += a[x * 10 + y];
      }
    }
#pragma acc parallel loop
    for (int x = 0; x < n; ++x) {
#pragma acc cache(a[x])
      c[x] += a[x];
    }
#pragma acc parallel loop
    for (int x = 1; x < n - 1; ++x) {
#pragma acc cache(readonly: a[x-1:len])
      c[x] -= a[x];
    }
#pragma acc kernels loop
    for (int x = 0; x < n; ++x) {
#pragma acc cache(a[0:n])
      c[x] += a[n - 1 - x];
    }
#pragma acc parallel loop
    for (int x = 0; x < n; ++x) {
      int t = 0;
#pragma acc cache(a, c)
#pragma acc loop seq
      for (int y = 0; y < 2; ++y) {
#pragma acc cache(c[x:1])
        t += y;
        c[x] += t - t;
      }
    }
  }
  for (int x = 1; x < n / 10 * 10; ++x) {
    double w = x + x + x - x + (n - 1 - x);
    if (fabs(c[x] - w) > 1e-9)
      err++;
  }
  free(a);
  free(c);
  return err;
}

static void directives(void) {
  int a[N], i;
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc set device_num(acc_get_device_num(acc_get_device_type())) device_type(default)
#pragma acc init device_num(acc_get_device_num(acc_get_device_type()))
#pragma acc set default_async((acc_get_default_async()))
#pragma   acc   parallel   loop   copy ( a [ 0 : N ] )   if ( acc_get_num_devices(acc_device_default) > 0 && a[1] == 1 )
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop copy(a[0:sizeof(a)/sizeof(a[0])]), vector_length(((32))), async(((1+1)*2)), num_gangs((N+31)/32)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc wait ((1+1)*2)
#pragma acc parallel loop \
     copy(a) \
     gang /* comment */ vector // trailing
  for (i = 0; i < N; i++)
    a[i]++;
  CHECK_EQ(a[5], 8);
#pragma acc parallel loop collapse((1)) copy(a)
  for (i = (0); (i) < (N); (i)++)
    a[i]++;
#pragma acc parallel loop copy(a)
  for (i = 0; N > i; i += (1)) {
    {
      a[i]++;
    }
  }
#pragma acc data copy(a[:])
#pragma acc parallel loop present(a[:N])
  for (i = 0; i <= N - 1; i = i + 1)
    a[i]++;
  CHECK_EQ(a[5], 11);
#pragma acc parallel loop copy(a) self(false) if(true)
  for (i = 0; i < N; i++)
    a[i]++;
  int *p = &a[10];
#pragma acc parallel loop copy(p[-5:10])
  for (i = -5; i < 5; i++)
    p[i] = -1;
  CHECK_EQ(a[5], -1);
  CHECK_EQ(a[14], -1);
  CHECK_EQ(a[15], 22);
#pragma acc enter data copyin(a) async(1), wait
#pragma acc exit data delete(a), async(1)
#pragma acc wait(1) async(2)
#pragma acc wait
  ;
}

static void blocks(void) {
  int a[N], b[N], x = 0, i;
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc data copyin(a) copyout(b)
  {
#pragma acc kernels
    {
      int scale = 2;
      for (int k = 0; k < N; k++)
        b[k] = a[k] * scale;
      scale++;
      for (int k = 0; k < N; k++)
        b[k] += scale;
    }
  }
  CHECK_EQ(b[10], 23);
#pragma acc data copy(a)
#pragma acc parallel
#pragma acc loop
  for (i = 0; i < N; i++)
    a[i] = 7;
  CHECK_EQ(a[100], 7);
  if (x == 0) {
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      a[i] = 8;
  }
  else {
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      a[i] = 9;
  }
  CHECK_EQ(a[3], 8);
  do {
#pragma acc serial copy(x)
    x += 3;
  }
  while (x < 10);
  CHECK_EQ(x, 12);
#pragma acc parallel num_gangs(1) copy(x)
  ;
#pragma acc parallel
  {
  }
#pragma acc kernels
  {
    ;
  }
#pragma acc data copy(x)
  {
  }
  int sw = 2;
  switch (sw) {
    case 1: case 2:
#pragma acc serial copy(x)
    {
      x = 100;
    }
    break;
  }
  CHECK_EQ(x, 100);
  label:
#pragma acc serial copy(x)
  x++;
  if (x < 103)
    goto label;
  CHECK_EQ(x, 103);
}

static void ternary(int n) {
  int *a = n > 5 ? malloc(n * sizeof *a) : NULL, i, found = -1, m = 0;
  float best = -1;
  for (i = 0; i < n; i++)
    a[i] = (i * 7919) % 101;
#pragma acc parallel loop reduction(max:m) copyin(a[0:n])
  for (i = 0; i < n; i++)
    m = (a[i] > m) ? a[i] : m;
#pragma acc parallel loop copyin(a[0:n]) copy(found)
  for (i = 0; i < n; i++)
    if (a[i] == m) {
#pragma acc atomic write
      found = i;
    }
  CHECK_EQ(a[found], m);
#pragma acc parallel loop reduction(max:best) copyin(a[0:n])
  for (i = 0; i < n; i++) {
    float v = sqrtf((float)a[i]);
    if (best < v)
      best = v;
  }
  CHECK_NEAR(best, sqrt(m));
  unsigned h = 0;
#pragma acc parallel loop reduction(^:h) copyin(a[0:n])
  for (i = 0; i < n; i++)
    h = h ^ ((unsigned)a[i] * 2654435761u);
  unsigned w = 0;
  for (i = 0; i < n; i++)
    w ^= (unsigned)a[i] * 2654435761u;
  CHECK_EQ(h, w);
  free(a);
}

int main(void) {
  CHECK_EQ(cachef(120), 0);
  directives();
  blocks();
  ternary(50);
  return report();
}
