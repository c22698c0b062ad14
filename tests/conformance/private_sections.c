/* Private, firstprivate and reduction copies of sections and arrays of lengths known at run time. */
#include "check.h"
#include <openacc.h>
#include <stdbool.h>
static int gangp(int n) {
  int err = 0;
  double *a = malloc(10*n*n*8), *d = malloc(10*n*n*8), *temp = malloc(n*n*8);
  int x, y, z;
  for (x = 0; x < 10*n*n; ++x)
    a[x] = x % 17, d[x] = 0;
#pragma acc data copyin(a[0:10*n*n]) copyout(d[0:10*n*n])
  {
#pragma acc parallel loop gang private(temp[0:n*n])
    for (x = 0; x < 10; ++x) {
#pragma acc loop worker vector
      for (y = 0; y < n * n; ++y)
        temp[y] = a[x * n * n + y] * 2;
#pragma acc loop worker
      for (y = 0; y < n; ++y) {
#pragma acc loop vector
        for (z = 0; z < n; ++z)
          d[x * n * n + y * n + z] = temp[z * n + y];
      }
    }
#pragma acc parallel copyout(d[0:10*n*n])
    {
#pragma acc loop gang
      for (x = 0; x < 10; ++x) {
#pragma acc loop worker private(temp[0:n])
        for (y = 0; y < n; ++y) {
#pragma acc loop vector
          for (z = 0; z < n; ++z)
            temp[z] = a[(x * n + y) * n + z];
#pragma acc loop vector
          for (z = 0; z < n; ++z)
            d[(x * n + y) * n + z] += temp[n - 1 - z];
        }
      }
    }
#pragma acc parallel loop private(temp[0:n]) gang worker vector
    for (x = 0; x < 10 * n; ++x) {
      for (y = 0; y < n; ++y)
        temp[y] = a[x * n + y];
      for (y = 0; y < n; ++y)
        d[x * n + y] -= temp[n - 1 - y];
    }
#pragma acc parallel firstprivate(n) private(temp[0:n]) num_gangs(3)
    {
#pragma acc loop vector
      for (z = 0; z < n; ++z)
        temp[z] = z;
#pragma acc loop gang
      for (x = 0; x < 10 * n; ++x)
#pragma acc loop vector
        for (z = 0; z < n; ++z)
          d[x * n + z] += temp[z];
    }
  }
  for (x = 0; x < 10; ++x)
    for (y = 0; y < n; ++y)
      for (z = 0; z < n; ++z)
        err += d[(x*n+y)*n+z] != 2 * a[x*n*n + z*n + y] + z;
  free(a);
  free(d);
  free(temp);
  return err;
}

static int fp(int n) {
  int err = 0, x, y;
  double *c = malloc(n * 8), *a = malloc(n * 8);
  int k[2][3] = {{1,2,3},{4,5,6}};
  bool flag = true;
  for (x = 0; x < n; ++x)
    a[x] = x, c[x] = 0;
#pragma acc parallel loop firstprivate(a[0:n]) copyout(c[0:n]) gang
  for (x = 0; x < n; ++x)
    c[x] = a[x];
  for (x = 0; x < n; ++x)
    err += c[x] != x;
#pragma acc parallel firstprivate(k, flag) copy(c[0:n]) num_gangs(4)
  {
    k[1][2] += 10;
#pragma acc loop gang
    for (x = 0; x < n; ++x)
      c[x] += flag ? k[1][2] : -1;
  }
  for (x = 0; x < n; ++x)
    err += c[x] != x + 16;
  err += k[1][2] != 6;
  double vl[n];
  for (x = 0; x < n; ++x)
    vl[x] = x * 2;
#pragma acc parallel loop firstprivate(vl) copy(c[0:n])
  for (x = 0; x < n; ++x)
    c[x] += vl[x];
  for (x = 0; x < n; ++x)
    err += c[x] != 3 * x + 16;
#pragma acc parallel loop gang private(vl) copy(c[0:n])
  for (x = 0; x < n; ++x) {
#pragma acc loop vector
    for (y = 0; y < n; ++y)
      vl[y] = x + y;
    double s = 0;
#pragma acc loop vector reduction(+:s)
    for (y = 0; y < n; ++y)
      s += vl[n - 1 - y];
    c[x] = s;
  }
  for (x = 0; x < n; ++x)
    err += c[x] != n * x + n * (n - 1) / 2;
  free(a);
  free(c);
  return err;
}

static int redarr(int n) {
  int err = 0;
  float r[4] = {0}, *q = calloc(n, 4);
  int x, y;
#pragma acc parallel loop gang reduction(+:r)
  for (x = 0; x < n; ++x) {
#pragma acc loop vector reduction(+:r)
    for (y = 0; y < n; ++y)
      r[y % 4] += 1;
  }
  for (x = 0; x < 4; ++x) {
    int c = 0;
    for (y = 0; y < n; ++y)
      c += y % 4 == x;
    err += r[x] != c * n;
  }
#pragma acc parallel loop gang copyout(q[0:n])
  for (x = 0; x < n; ++x) {
    float t[3] = {0, 0, 0};
#pragma acc loop worker vector reduction(+:t)
    for (y = 0; y < n; ++y)
      t[y % 3] += y;
    q[x] = t[0] + t[1] + t[2] + x;
  }
  for (x = 0; x < n; ++x)
    err += q[x] != n * (n - 1) / 2 + x;
  int mx[2] = {-1000, -1000};
#pragma acc parallel loop reduction(max:mx)
  for (x = 0; x < n; ++x) {
    mx[0] = x > mx[0] ? x : mx[0];
    mx[1] = -x > mx[1] ? -x : mx[1];
  }
  err += mx[0] != n - 1 || mx[1] != 0;
  free(q);
  return err;
}

int main(void) {
  CHECK_EQ(gangp(9), 0);
  CHECK_EQ(fp(20), 0);
  CHECK_EQ(redarr(13), 0);
  return report();
}
