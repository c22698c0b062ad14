/* Constructs in two versions, of which the launch takes one, give the host what they have reduced. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"
enum { N = 64 };
static int a[N], b[N];

static long in_order(const int *in, int *out, int n, long times) {
  long sum = 5;
#pragma acc data copyin(in[0:N]) copy(out[0:N])
  {
#pragma acc serial loop auto reduction(+:sum)
    for (int i = 0; i < n; i++) {
      for (long k = 0; k < times; k++)
        sum += in[i] ^ (int)k;
      out[i] = in[i] + 1;
    }
  }
  return sum;
}

static long over_gangs(const int *in, int *out, int n, long times) {
  long sum = 3;
#pragma acc parallel copyin(in[0:N]) copy(out[0:N])
  {
#pragma acc loop auto reduction(+:sum)
    for (int i = 0; i < n; i++) {
      for (long k = 0; k < times; k++)
        sum += in[i] ^ (int)k;
      out[i] = in[i] + 1;
    }
  }
  return sum;
}

static int largest(const int *in, int *out, int n) {
  int most = -1;
#pragma acc kernels copyin(in[0:N]) copy(out[0:N])
  for (int i = 0; i < n; i++) {
    out[i] = 2 * in[i];
    if (in[i] > most)
      most = in[i];
  }
  return most;
}

static long counted(const int *in, int n, int where) {
  long sum = 0;
#pragma acc parallel loop reduction(+:sum) copyin(in[0:N]) if (where)
  for (int i = 0; i < n; i++)
    sum += in[i];
  return sum;
}

int main(void) {
  int n = N;
  long times = 64, sum = 0;
  int most = -1;
  for (int i = 0; i < n; i++) {
    a[i] = i * 7 % 1009;
    most = a[i] > most ? a[i] : most;
    for (long k = 0; k < times; k++)
      sum += a[i] ^ (int)k;
  }
  for (int r = 0; r < 3; r++) {
    CHECK_EQ(in_order(a, b, n, times), sum + 5);
    CHECK_EQ(b[n - 1], a[n - 1] + 1);
    CHECK_EQ(over_gangs(a, b, n, times), sum + 3);
    CHECK_EQ(largest(a, b, n), most);
    CHECK_EQ(b[n - 1], 2 * a[n - 1]);
    CHECK_EQ(counted(a, 3, r % 2), a[0] + a[1] + a[2]);
  }
  return report();
}
