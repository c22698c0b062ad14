/* always, alwaysin, alwaysout, capture and zero on every directive that takes them. */
#include "check.h"
#include <openacc.h>
#define N 16
int main(void) {
  int a[N], i;
  int sep = separate_memory();
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc enter data copyin(a)
  a[0] = 50;
#pragma acc enter data copyin(always: a)
#pragma acc parallel loop present(a)
  for (i = 0; i < N; i++)
    a[i] += 1;
#pragma acc exit data copyout(alwaysout: a)
  CHECK_EQ(a[0], 51);
  CHECK(acc_is_present(a, sizeof a));
#pragma acc parallel loop present(a)
  for (i = 0; i < N; i++)
    a[i] += 1;
#pragma acc exit data copyout(always: a[0:N]) async(1)
#pragma acc wait(1)
  CHECK_EQ(a[0], 52);
  CHECK(!acc_is_present(a, sizeof a));
#pragma acc enter data create(zero: a)
#pragma acc enter data copyin(alwaysin: a[2:3])
#pragma acc parallel loop present(a)
  for (i = 0; i < N; i++)
    a[i] += 1;
#pragma acc exit data delete(a[2:3])
#pragma acc exit data copyout(a) finalize
  if (sep) {
    CHECK_EQ(a[0], 1);
    CHECK_EQ(a[3], 6);
  }
  /* capture */
  for (i = 0; i < N; i++)
    a[i] = i;
#pragma acc data copy(capture: a)
  {
#pragma acc parallel loop
    for (i = 0; i < N; i++)
      a[i]++;
  }
  CHECK_EQ(a[5], 6);
#pragma acc parallel loop copyin(capture, readonly: a)
  for (i = 0; i < 1; i++)
    (void)a[i];
#pragma acc parallel loop copyout(capture, zero: a)
  for (i = 1; i < N; i++)
    a[i] = i;
  CHECK_EQ(a[0], 0);
  CHECK_EQ(a[15], 15);
#pragma acc parallel loop create(capture: a)
  for (i = 1; i < N; i++)
    a[i] = -i;
  if (sep)
    CHECK_EQ(a[15], 15);
  /* scalars with always */
  int s = 1;
#pragma acc data copyin(s)
  {
    s = 5;
#pragma acc serial copy(always: s)
    s += 2;
    CHECK_EQ(s, 7);
    s = 100;
#pragma acc serial copyin(alwaysin: s) copyout(alwaysout: a)
    {
      a[0] = s;
    }
    CHECK_EQ(a[0], 100);
  }
  /* always in nested async regions, if */
#pragma acc data create(a) async(3)
  {
    for (i = 0; i < N; i++)
      a[i] = 7;
#pragma acc parallel loop copy(always: a) async(3)
    for (i = 0; i < N; i++)
      a[i] *= 2;
#pragma acc wait(3)
    CHECK_EQ(a[4], 14);
#pragma acc parallel loop copyin(always: a) async(3) if(a[4] == 0)
    for (i = 0; i < N; i++)
      a[i] *= 2;
#pragma acc wait(3)
  }
#pragma acc wait(3)
  CHECK(a[4] == 28 || a[4] == 14);
  return report();
}
