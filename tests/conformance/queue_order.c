/* Many launches on many queues keep their order; scalars queued keep their values. */
#include "check.h"
#include <openacc.h>
int main(void) {
  enum {
    Q = 8, N = 1 << 12
  };
  static int a[Q][N];
  int q, r, i;
#pragma acc enter data create(a)
  for (r = 0; r < 20; r++)
    for (q = 0; q < Q; q++) {
#pragma acc parallel loop async(q) present(a)
      for (i = 0; i < N; i++)
        a[q][i] = r == 0 ? q : a[q][(i + 0) % N] * 3 + 1;
    }
  for (q = 1; q < Q; q++) {
#pragma acc wait(q) async(0)
  }
#pragma acc parallel loop async(0) present(a)
  for (i = 0; i < N; i++)
    for (int k = 1; k < Q; k++)
      a[0][i] += a[k][i];
#pragma acc exit data copyout(a) async(0)
#pragma acc wait(0)
  unsigned w = 0;
  for (q = 0; q < Q; q++) {
    unsigned v = q;
    for (r = 1; r < 20; r++)
      v = v * 3 + 1;
    w += v;
  }
  CHECK_EQ((unsigned)a[0][77], w);
  for (r = 0; r < 40; r++) {
    int s = 0, x = r;
#pragma acc parallel loop reduction(+:s) async(r % 5) copyin(x)
    for (i = 0; i < 1000; i++)
      s += x;
#pragma acc wait(r % 5)
    CHECK_EQ(s, 1000 * r);
  }
  /* queued firstprivate scalars keep their values */
  int out[16];
#pragma acc enter data create(out)
  for (int k = 0; k < 16; k++) {
    int val = k * 10;
#pragma acc parallel async(1) present(out) firstprivate(val)
    out[k] = val;
  }
#pragma acc exit data copyout(out) async(1)
#pragma acc wait
  for (int k = 0; k < 16; k++)
    CHECK_EQ(out[k], 10 * k);
  return report();
}
