/* Several sections of one array in the clauses of a data construct. */
#include "check.h"
#include <openacc.h>
#define N 64
int main(void) {
  int a[N], b[N], i;
  for (i = 0; i < N; i++)
    a[i] = i, b[i] = 0;
#pragma acc data copy(a[0:16], a[32:16]) copyin(b[:8]) copyout(b[32:])
  {
    int *hi = a + 32;
#pragma acc parallel loop present(a[0:16])
    for (i = 0; i < 16; i++)
      a[i] = -1;
#pragma acc parallel loop present(a[32:16])
    for (i = 32; i < 48; i++)
      a[i] = -2;
#pragma acc parallel loop present(hi[0:16])
    for (i = 0; i < 16; i++)
      hi[i]--;
#pragma acc update self(a[0:2], a[40:2])
    CHECK_EQ(a[1], -1);
    CHECK_EQ(a[41], -3);
#pragma acc parallel loop
    for (i = 32; i < N; i++)
      b[i] = i;
  }
  CHECK_EQ(a[15], -1);
  CHECK_EQ(a[16], 16);
  CHECK_EQ(a[47], -3);
  CHECK_EQ(a[48], 48);
  CHECK_EQ(b[63], 63);
  CHECK_EQ(b[31], 0);
#pragma acc enter data copyin(a[0:8], a[8:8]) copyin(a[16:8])
#pragma acc parallel loop present(a[8:8])
  for (i = 8; i < 16; i++)
    a[i] = 5;
#pragma acc exit data copyout(a[8:8]) delete(a[0:8], a[16:8])
  CHECK_EQ(a[15], 5);
  return report();
}
