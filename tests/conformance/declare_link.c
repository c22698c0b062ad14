/* declare link (2.13.3): the device has a pointer, which data clauses fill and empty. */
#include "check.h"

#define N 40

float table[N];
#pragma acc declare link(table)
static struct { int n, list[N]; } record;
double scale;
#pragma acc declare link(record, scale)
extern int counts[2][N];
#pragma acc declare link(counts)
int counts[2][N];

#pragma acc routine seq
static double entry(int i) { return table[i] * scale + record.list[i % record.n]; }

#pragma acc routine seq
static void count(int which, int i) {
#pragma acc atomic
  counts[which][i] += i;
}

int main(void) {
  double out[N];
  for (int i = 0; i < N; i++) {
    table[i] = i;
    record.list[i] = 100 * i;
  }
  record.n = 3;
  scale = 0.5;
#pragma acc enter data copyin(table, scale) copyin(record)
#pragma acc parallel loop copyout(out)
  for (int i = 0; i < N; i++)
    out[i] = entry(i);
  for (int i = 0; i < N; i++)
    CHECK_NEAR(out[i], 0.5 * i + 100 * (i % 3));

  /* As any variable: the construct's own use of the name finds the same copy. */
  scale = 2;
#pragma acc update device(scale)
#pragma acc parallel loop copyout(out) present(table, scale)
  for (int i = 0; i < N; i++) {
    table[i] += 1;
    out[i] = entry(i) - table[i] * scale;
  }
  for (int i = 0; i < N; i++)
    CHECK_NEAR(out[i], 100 * (i % 3));
#pragma acc exit data copyout(table) delete(scale, record)
  CHECK(table[7] == 8);

#pragma acc data copy(counts)
  {
#pragma acc parallel loop collapse(2)
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < N; i++) count(k, i);
  }
  CHECK(counts[0][5] == 5 && counts[1][N - 1] == N - 1);

  /* Again, at another place of device memory. */
  for (int i = 0; i < N; i++) table[i] = 1;
  record.n = 1;
  scale = 1;
#pragma acc data copyin(table, scale, record)
#pragma acc parallel loop copyout(out)
  for (int i = 0; i < N; i++)
    out[i] = entry(i);
  CHECK_NEAR(out[3], 1);
  return report();
}
