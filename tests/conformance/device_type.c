/* Clauses behind device_type (2.4), on every directive that takes them; routine bind (2.15.1). */
#include "check.h"
#include <openacc.h>

#define N 96

static int on_gpu(void) { return acc_get_device_type() == acc_device_nvidia; }

static int twice(int x) { return -x; }
#pragma acc routine seq
static int twice_on_device(int x) { return 2 * x; }
#pragma acc routine(twice) seq device_type(nvidia, host) bind(twice_on_device)

int thrice(int x) { return -x; }
int thrice_on_device(int x) { return 3 * x; }
#pragma acc routine(thrice) bind("thrice_on_device") seq

#pragma acc routine device_type(radeon) seq device_type(*) vector
static void add_one(int *row, int n) {
#pragma acc loop vector
  for (int i = 0; i < n; i++)
    row[i] += 1;
}

/* No level: it follows from the loops (3.4, 2.15.1). */
#pragma acc routine
static void add_two(int *row, int n) {
#pragma acc loop worker vector
  for (int i = 0; i < n; i++)
    row[i] += 2;
}

static void sizes(void) {
  int gangs = 0;
#pragma acc parallel copy(gangs) num_gangs(3) device_type(nvidia) num_gangs(5)                    \
    device_type(host, multicore) num_gangs(7)
  {
#pragma acc atomic
    gangs += 1;
  }
  CHECK(gangs == (on_gpu() ? 5 : 7));

  gangs = 0;
#pragma acc parallel copy(gangs) device_type(radeon) num_gangs(9) dtype(*) num_gangs(4)
  {
#pragma acc atomic
    gangs += 1;
  }
  CHECK(gangs == 4);

  gangs = 0;
#pragma acc parallel copy(gangs) num_gangs(6) device_type(RADEON) num_gangs(9)                    \
    device_type(default) num_workers(2) vector_length(32)
  {
#pragma acc atomic
    gangs += 1;
  }
  CHECK(gangs == 6);
}

static void loops(void) {
  int a[N], order[N], next = 0;
#pragma acc parallel loop copyout(a) gang device_type(nvidia) vector device_type(host) worker      \
    device_type(radeon) seq
  for (int i = 0; i < N; i++)
    a[i] = i;
  CHECK(a[0] == 0 && a[N - 1] == N - 1);

  /* seq replaces the levels of the default part. */
#pragma acc parallel loop num_gangs(1) gang vector copyout(order) copy(next) device_type(*) seq
  for (int i = 0; i < N; i++)
    order[i] = next++;
  int sorted = next == N;
  for (int i = 0; i < N; i++)
    sorted &= order[i] == i;
  CHECK(sorted);

  int m[8][12];
#pragma acc kernels copyout(m)
#pragma acc loop independent device_type(nvidia) collapse(2) device_type(host) gang(num : 3)       \
    device_type(radeon) tile(2, 2)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++)
      m[i][j] = i * 12 + j;
  int right = 1;
  for (int i = 0; i < 8 * 12; i++)
    right &= (&m[0][0])[i] == i;
  CHECK(right);

#pragma acc parallel loop copyout(m) device_type(nvidia) tile(4, 4) device_type(host) tile(2, *)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++)
      m[i][j] = i * 12 - j;
  right = 1;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++)
      right &= m[i][j] == i * 12 - j;
  CHECK(right);
}

static void queues(void) {
  int a[N] = {0}, q = 2, r = 3;
#pragma acc data copy(a) async(q) device_type(nvidia, host) async(r)
  {
#pragma acc parallel loop async(q) wait(q) present(a) device_type(*) async(r) wait(q)
    for (int i = 0; i < N; i++)
      a[i] = i;
#pragma acc kernels loop present(a) async device_type(radeon) async(q) device_type(default) async(r)
    for (int i = 0; i < N; i++)
      a[i] += 1;
#pragma acc serial present(a) async(q) dtype(host, nvidia) async(r) wait
    a[0] = 100;
#pragma acc update self(a) async(q) device_type(*) async(r) wait(q)
#pragma acc wait(r)
    CHECK(a[0] == 100 && a[N - 1] == N);
  }
#pragma acc wait
  CHECK(a[0] == 100 && a[N - 1] == N);
}

static void routines(void) {
  int a[N], m[4][N];
  CHECK(twice(4) == -4 && thrice(4) == -4);
#pragma acc parallel loop copyout(a)
  for (int i = 0; i < N; i++)
    a[i] = twice(i) + thrice(1);
  CHECK(a[5] == 13);
  for (int i = 0; i < 4 * N; i++)
    (&m[0][0])[i] = i;
#pragma acc parallel loop gang copy(m)
  for (int i = 0; i < 4; i++) {
    add_one(m[i], N);
    add_two(m[i], N);
  }
  CHECK(m[0][0] == 3 && m[3][N - 1] == 4 * N + 2);
}

static void devices(void) {
#pragma acc init device_type(default) device_num(0)
#pragma acc set device_type(default) device_num(0)
  if (on_gpu()) {
#pragma acc init device_type(nvidia)
#pragma acc set device_type(NVIDIA)
  } else {
#pragma acc init device_type(host)
#pragma acc set device_type(host)
  }
  CHECK(acc_get_device_num(acc_device_default) == 0);
#pragma acc shutdown device_type(default) if (0)
}

int main(void) {
  sizes();
  loops();
  queues();
  routines();
  devices();
  return report();
}
