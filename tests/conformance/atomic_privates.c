/* Atomic operations on variables of a gang or worker, by the workers and lanes of its loops: one object for
   all of them, also if it is a scalar or structure. */
#include "check.h"
#define R 9
#define C 130
typedef struct {
  int n;
  double s;
} Pair;
static int a[R][C];
static int thirds[R], sums[R];

static void of_gangs(void) {
  int counts[R], kept[R], c;
  double halves[R], pairs[R];
#pragma acc parallel loop gang copyin(a) copyout(counts, halves)
  for (int r = 0; r < R; r++) {
    int count = 0;
    double half = 1.5;
#pragma acc loop vector
    for (int j = 0; j < C; j++) {
      if (a[r][j] % 3) {
#pragma acc atomic update
        count++;
      }
#pragma acc atomic
      half += 0.5 * a[r][j];
    }
    counts[r] = count;
    halves[r] = half;
  }
#pragma acc parallel loop gang private(c) copyin(a) copyout(kept, pairs)
  for (int r = 0; r < R; r++) {
    Pair p = {0, 2};
    int taken[C];
    c = 0;
#pragma acc loop worker vector
    for (int j = 0; j < C; j++) {
      int place;
#pragma acc atomic capture
      place = c++;
      taken[place] = a[r][j];
#pragma acc atomic update
      p.s += a[r][j];
    }
    p.n = 0;
#pragma acc loop worker
    for (int j = 0; j < C; j++)
      if (taken[j] % 3) {
#pragma acc atomic update
        p.n += 1;
      }
    kept[r] = p.n;
    pairs[r] = p.s;
  }
  for (int r = 0; r < R; r++) {
    CHECK_EQ(counts[r], thirds[r]);
    CHECK_EQ(kept[r], thirds[r]);
    CHECK_NEAR(halves[r], 1.5 + 0.5 * sums[r]);
    CHECK_NEAR(pairs[r], 2 + sums[r]);
  }
}

static void of_workers_and_regions(void) {
  int counts[R], total = 0, w = 22;
#pragma acc parallel loop worker num_workers(4) copyin(a) copyout(counts)
  for (int r = 0; r < R; r++) {
    int count = -5;
#pragma acc loop vector
    for (int j = 0; j < C; j++)
      if (a[r][j] % 3) {
#pragma acc atomic update
        count++;
      }
    counts[r] = count;
  }
  for (int r = 0; r < R; r++) CHECK_EQ(counts[r], thirds[r] - 5);
#pragma acc parallel num_gangs(7) num_workers(4) vector_length(32) firstprivate(w) reduction(+:total)
  {
    int v = 3;
#pragma acc loop worker
    for (int i = 0; i < 500; i++) {
#pragma acc atomic update
      w++;
    }
#pragma acc loop vector
    for (int i = 0; i < 100; i++) {
#pragma acc atomic update
      v += 2;
    }
    total += (w == 522) + (v == 203);
  }
  CHECK_EQ(total, 14);
}

int main(void) {
  for (int r = 0; r < R; r++)
    for (int j = 0; j < C; j++) {
      a[r][j] = (r * 37 + j * 11) % 97;
      thirds[r] += a[r][j] % 3 != 0;
      sums[r] += a[r][j];
    }
  of_gangs();
  of_workers_and_regions();
  return report();
}
