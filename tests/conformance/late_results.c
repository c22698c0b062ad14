// Functions that return before their queue is waited for (2.16.1): the compiler makes them wait, so that no
// result is stored where the next function has its variables.
/* A fault is a wrong result: always in the simulator. */
#include <stdio.h>

#define N 20000

static double a[N];

static void sums(void) {
  double s = 0;
#pragma acc parallel loop reduction(+ : s) async(1) copyin(a)
  for (int i = 0; i < N; i++)
    s += a[i];
}

static void fills(int queue) {
  double b[1000];
#pragma acc parallel loop copyout(b) async(queue)
  for (int i = 0; i < 1000; i++)
    b[i] = a[i] + i;
}

static int changed(void) {
  volatile double mine[1200];
  int wrong = 0;
  for (int i = 0; i < 1200; i++)
    mine[i] = 7;
#pragma acc wait
  for (int i = 0; i < 1200; i++)
    wrong += mine[i] != 7;
  return wrong;
}

int main(void) {
  int wrong = 0;
  for (int i = 0; i < N; i++)
    a[i] = 1;
  for (int again = 0; again < 20; again++) {
    sums();
    wrong += changed();
    fills(2);
    wrong += changed();
  }
  printf("%d elements changed\n", wrong);
  return wrong != 0;
}
