/* Programs as validation suites write them: functions that count errors, on random data, several times. */
#include "check.h"
#include <openacc.h>
#define SEED 1234
#define LOOPCOUNT 2
#define PRECISION 1e-8
static int n = 256;
static int test1(void) {
  int err = 0;
  srand(SEED);
  double *a = (double *)malloc(n * sizeof(double)), *b = (double *)malloc(n * sizeof(double)),
      *c = (double *)malloc(n * sizeof(double));
  for (int x = 0; x < n; ++x) {
    a[x] = rand() / (double)(RAND_MAX / 10);
    b[x] = rand() / (double)(RAND_MAX / 10);
    c[x] = 0;
  }
#pragma acc data copyin(a[0:n], b[0:n]) copyout(c[0:n])
  {
#pragma acc parallel
    {
#pragma acc loop
      for (int x = 0; x < n; ++x) {
        c[x] = a[x] + b[x];
      }
    }
  }
  for (int x = 0; x < n; ++x)
    if (fabs(c[x] - (a[x] + b[x])) > PRECISION) {
      err = 1;
      break;
    }
  free(a);
  free(b);
  free(c);
  return err;
}

static int test2(void) {
  int err = 0;
  srand(SEED);
  double *a = (double *)malloc(10 * n * sizeof(double)), *c = (double *)malloc(10 * sizeof(double));
  double total = 0, host = 0;
  for (int x = 0; x < 10 * n; ++x)
    a[x] = rand() / (double)(RAND_MAX);
#pragma acc data copyin(a[0:10*n]) copyout(c[0:10])
  {
#pragma acc parallel loop gang
    for (int x = 0; x < 10; ++x) {
      double temp = 0.0;
#pragma acc loop worker vector reduction(+:temp)
      for (int y = 0; y < n; ++y)
        temp += a[x * n + y];
      c[x] = temp;
    }
  }
  for (int x = 0; x < 10; ++x) {
    double t = 0;
    for (int y = 0; y < n; ++y)
      t += a[x * n + y];
    if (fabs(t - c[x]) > n * PRECISION)
      err++;
  }
#pragma acc parallel loop reduction(+:total) copyin(a[0:10*n])
  for (int x = 0; x < 10 * n; ++x)
    total += a[x];
  for (int x = 0; x < 10 * n; ++x)
    host += a[x];
  if (fabs(total - host) > 1e-6)
    err++;
  free(a);
  free(c);
  return err;
}

static int test3(void) {
  /* async chain */
  int err = 0;
  int *a = malloc(n * 4), *b = malloc(n * 4), *c = malloc(n * 4);
  for (int x = 0; x < n; ++x)
    a[x] = x, b[x] = 0, c[x] = 0;
#pragma acc enter data copyin(a[0:n]) create(b[0:n], c[0:n]) async(1)
#pragma acc parallel async(1) present(a[0:n], b[0:n])
  {
#pragma acc loop
    for (int x = 0; x < n; ++x)
      b[x] = a[x] * 2;
  }
#pragma acc parallel async(2) wait(1) present(b[0:n], c[0:n])
  {
#pragma acc loop
    for (int x = 0; x < n; ++x)
      c[x] = b[x] + 1;
  }
#pragma acc exit data copyout(c[0:n]) delete(a[0:n], b[0:n]) async(3) wait(2)
#pragma acc wait(3)
  for (int x = 0; x < n; ++x)
    if (c[x] != 2 * x + 1)
      err++;
  free(a);
  free(b);
  free(c);
  return err;
}

static int test4(void) {
  /* kernels with non-independent */
  int err = 0;
  unsigned int *a = malloc(n * sizeof(unsigned)), *b = malloc(n * sizeof(unsigned));
  srand(SEED);
  for (int x = 0; x < n; ++x)
    a[x] = b[x] = rand() % 100;
#pragma acc data copy(a[0:n])
  {
#pragma acc kernels
    {
#pragma acc loop auto
      for (int x = 1; x < n; ++x)
        a[x] += a[x - 1];
    }
#pragma acc parallel
    {
#pragma acc loop seq
      for (int x = 1; x < n; ++x)
        a[x] ^= a[x - 1] << 1;
    }
  }
  for (int x = 1; x < n; ++x)
    b[x] += b[x - 1];
  for (int x = 1; x < n; ++x)
    b[x] ^= b[x - 1] << 1;
  for (int x = 0; x < n; ++x)
    err += a[x] != b[x];
  free(a);
  free(b);
  return err;
}

static int test5(void) {
  int err = 0;
  int *a = malloc(n * 4), *tot = malloc((n / 10 + 1) * 4), *cap = malloc(n * 4);
  srand(SEED);
  for (int x = 0; x < n; ++x)
    a[x] = rand() % 2;
  for (int x = 0; x < n / 10 + 1; ++x)
    tot[x] = 0;
#pragma acc data copyin(a[0:n]) copy(tot[0:n/10+1]) copyout(cap[0:n])
  {
#pragma acc parallel
    {
#pragma acc loop
      for (int x = 0; x < n; ++x) {
#pragma acc atomic capture
        {
          cap[x] = tot[x % (n / 10 + 1)];
          tot[x % (n / 10 + 1)] += a[x];
        }
      }
    }
  }
  for (int y = 0; y < n / 10 + 1; ++y) {
    int t = 0;
    for (int x = y; x < n; x += n / 10 + 1) {
      t += a[x];
      err += cap[x] < 0 || cap[x] > tot[y];
    }
    err += t != tot[y];
  }
  free(a);
  free(tot);
  free(cap);
  return err;
}

static int test6(void) {
  /* private in nested levels with reductions of logical */
  int err = 0;
  char *a = malloc(10 * n);
  int r[10];
  srand(SEED);
  for (int x = 0; x < 10 * n; ++x)
    a[x] = (rand() / (double)RAND_MAX) > 1.0 / n;
  char res[10];
  int rf = 1;
#pragma acc parallel loop gang copyin(a[0:10*n]) copyout(res, r)
  for (int x = 0; x < 10; ++x) {
    char t = 1;
    int cnt = 0;
#pragma acc loop vector reduction(&&:t) reduction(+:cnt)
    for (int y = 0; y < n; ++y) {
      t = t && a[x * n + y];
      cnt += a[x * n + y];
    }
    res[x] = t;
    r[x] = cnt;
  }
  for (int x = 0; x < 10; ++x) {
    int c = 0;
    char t = 1;
    for (int y = 0; y < n; ++y) {
      c += a[x * n + y];
      t = t && a[x * n + y];
    }
    err += c != r[x] || t != res[x];
  }
#pragma acc parallel loop reduction(&&:rf) copyin(a[0:10*n])
  for (int x = 0; x < 10 * n; ++x)
    rf = rf && a[x];
  {
    int h = 1;
    for (int x = 0; x < 10 * n; ++x)
      h = h && a[x];
    err += h != rf;
  }
  free(a);
  return err;
}

static int test7(void) {
  int err = 0;
  int dev;
  float *host = malloc(n * 4);
  float *d = acc_malloc(n * sizeof(float));
  for (int x = 0; x < n; ++x)
    host[x] = x;
  acc_map_data(host, d, n * sizeof(float));
#pragma acc update device(host[0:n])
#pragma acc data present(host[0:n])
#pragma acc parallel loop
  for (int x = 0; x < n; ++x)
    host[x] *= 2;
#pragma acc update self(host[0:n])
  for (int x = 0; x < n; ++x)
    err += host[x] != 2 * x;
  acc_unmap_data(host);
  acc_free(d);
  free(host);
  dev = acc_get_device_num(acc_get_device_type());
  err += dev != 0;
  return err;
}

int main(void) {
  int failcode = 0, failed;
#define RUN(i)                                                                                     \
  failed = 0;                                                                                      \
  for (int x = 0; x < LOOPCOUNT; ++x)                                                              \
    failed += test##i();                                                                           \
  failcode |= failed ? 1 << i : 0;

  RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7) CHECK_EQ(failcode, 0);
  return report();
}
