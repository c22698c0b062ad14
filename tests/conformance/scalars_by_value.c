/* Scalars in data clauses of constructs: those that are present keep the device's value, others follow the host. */
/* A fault is a wrong result: always in the simulator. */
#include <stdio.h>

static int wrong;

static void check(const char *name, int got, int expected) {
  if (got == expected) return;
  printf("%s: %d, expected %d\n", name, got, expected);
  wrong++;
}

static int sum_of(const int *a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}

/* Assigned between two constructs, in a loop and under a condition. */
static void follows_the_host(int n, int *a, int some) {
  int k = 3;
#pragma acc parallel loop copyin(k) copyout(a[0:n])
  for (int i = 0; i < n; i++) a[i] = k;
  check("first value", sum_of(a, n), 3 * n);
  if (some) k = 5;
#pragma acc parallel loop copy(k) copyout(a[0:n])
  for (int i = 0; i < n; i++) a[i] = k;
  check("value under a condition", sum_of(a, n), (some ? 5 : 3) * n);
  for (int turn = 0; turn < 3; turn++) {
    k += turn;
#pragma acc kernels copyin(k) copyout(a[0:n])
    for (int i = 0; i < n; i++) a[i] = k;
    check("value of a turn", sum_of(a, n), k * n);
  }
}

/* A bound, read before an asynchronous construct starts. */
static void bound(int n, int *a) {
  int count = n / 2;
  double step = 2.0;
#pragma acc parallel loop copyin(count, step) copyout(a[0:n / 2]) async(1)
  for (int i = 0; i < count; i++) a[i] = (int)(i * step);
#pragma acc wait(1)
  check("bound", sum_of(a, n / 2), (n / 2) * (n / 2 - 1));
}

/* Present: the device's copy is what counts, until it is updated. */
static void present_in_region(int n, int *a) {
  int k = 1;
#pragma acc data copyin(k)
  {
    k = 2;
#pragma acc parallel loop copyin(k) copyout(a[0:n])
    for (int i = 0; i < n; i++) a[i] = k;
    check("in a data region", sum_of(a, n), n);
#pragma acc update device(k)
#pragma acc parallel loop copyin(k) copyout(a[0:n])
    for (int i = 0; i < n; i++) a[i] = k;
    check("updated", sum_of(a, n), 2 * n);
  }
}

static void enter(int *p) {
#pragma acc enter data copyin(p[0:1])
}

static void leave(int *p) {
#pragma acc exit data delete(p[0:1])
}

/* Present by another function's directive, which got the address. */
static void present_by_address(int n, int *a) {
  int k = 1;
  enter(&k);
  k = 2;
#pragma acc parallel loop copyin(k) copyout(a[0:n])
  for (int i = 0; i < n; i++) a[i] = k;
  check("entered elsewhere", sum_of(a, n), n);
  leave(&k);
}

/* Written by a construct: a variable as before. */
static void written(int n, int *a) {
  int k = 4;
#pragma acc parallel copy(k)
  k = 6;
#pragma acc parallel loop copyin(k) copyout(a[0:n])
  for (int i = 0; i < n; i++) a[i] = k;
  check("written by a construct", sum_of(a, n), 6 * n);
}

int main(void) {
  int a[100];
  follows_the_host(100, a, 0);
  follows_the_host(100, a, 1);
  bound(100, a);
  present_in_region(100, a);
  present_by_address(100, a);
  written(100, a);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
