/* Directives in odd places; odd sizes; declare of statics; pointers of all kinds. */
#include "check.h"
#include <openacc.h>
#define N 1000
static void fill(int *a) { static int calls; 
#pragma acc declare create(calls)
  calls++; for (int i = 0; i < N; i++) a[i] = i; }
int glob[N];
void ext(void) { extern int other[10];
#pragma acc declare create(other)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) other[i] = i;
#pragma acc update self(other)
}
int other[10];
_Pragma("acc declare create(glob)")
#define P(x) _Pragma(#x)
int main(void) {
  int a[N]; fill(a);
  P(acc parallel loop copy(a))
  for (int i = 0; i < N; i++) a[i]++;
  CHECK(a[5] == 6);
  ext(); CHECK(other[9] == 9);
  if (a[0] == 1)
#pragma acc parallel loop copy(a)
    for (int i = 0; i < N; i++) a[i]++;
  else
#pragma acc parallel loop copy(a)
    for (int i = 0; i < N; i++) a[i]--;
  CHECK(a[0] == 2);
  for (int k = 0; k < 3; k++)
#pragma acc kernels loop copy(a)
    for (int i = 0; i < N; i++) a[i] += k;
  CHECK(a[0] == 5);
  switch (a[0]) { case 5:
#pragma acc parallel copy(a)
    { a[0] = 1; } break; default: a[0] = 3; }
  CHECK(a[0] == 1);
  int x = 5;
#pragma acc parallel firstprivate(x) copy(a)
  { x++; a[0] = x; }
  CHECK(x == 5 && a[0] == 6);
#pragma acc data copy(a) async(1) wait
  {
#pragma acc parallel loop async(1)
  for (int i = 0; i < N; i++) a[i] = i;
  }
#pragma acc wait(1)
  CHECK(a[7] == 7);
  // data with no construct effect; empty loops
#pragma acc parallel loop copy(a[0:0])
  for (int i = 0; i < 0; i++) a[i] = 1;
  int n0 = 0;
#pragma acc parallel loop copy(a[0:n0]) reduction(+:x)
  for (int i = 0; i < n0; i++) { a[i] = 1; x += 1; }
  CHECK(x == 5);
#pragma acc parallel num_gangs(1000000) num_workers(1) vector_length(1) copy(x)
  {
#pragma acc atomic
   x++; }
  CHECK(x > 5);
  // huge workers/vector capped
#pragma acc parallel loop gang worker vector num_workers(64) vector_length(2048) copy(a)
  for (int i = 0; i < N; i++) a[i] = 3 * i;
  CHECK(a[999] == 2997);
#pragma acc parallel loop vector_length(100) num_workers(3) copy(a)
  for (int i = 0; i < N; i++) a[i] += 1;
  CHECK(a[999] == 2998);
  int ng = 4, nw = 2, vl = 32;
#pragma acc parallel loop num_gangs(ng) num_workers(nw) vector_length(vl) copy(a) gang worker vector
  for (int i = 0; i < N; i++) a[i] += 1;
  CHECK(a[999] == 2999);
  // struct array, nested aos update
  struct { int k; double v[3]; } *s = malloc(50 * sizeof *s);
#pragma acc enter data create(s[0:50])
#pragma acc parallel loop present(s[0:50])
  for (int i = 0; i < 50; i++) { s[i].k = i; s[i].v[1] = i * 0.5; }
#pragma acc update host(s[10:5])
  CHECK(s[12].k == 12 && s[14].v[1] == 7);
#pragma acc update self(s[20].v[0:2])
  CHECK(s[20].v[1] == 10);
#pragma acc exit data delete(s[0:50])
  // pointers inside region declared
#pragma acc parallel loop copy(a)
  for (int i = 0; i < N; i++) { int *q = &a[i]; int **pq = &q; **pq = i; }
  CHECK(a[3] == 3);
  float *fp = (float *)malloc(N * 4); void *vp = fp;
#pragma acc enter data create(fp[0:N])
  CHECK(acc_is_present(vp, N * 4));
#pragma acc parallel loop present(fp)
  for (int i = 0; i < N; i++) ((int *)fp)[i] = i;
#pragma acc exit data copyout(fp[0:N])
  CHECK(((int *)vp)[9] == 9);
  // deviceptr param, acc_malloc'ed
  double *dp = acc_malloc(N * 8), hs[N];
#pragma acc parallel loop deviceptr(dp)
  for (int i = 0; i < N; i++) dp[i] = i * 2;
#pragma acc data deviceptr(dp) copyout(hs)
  {
#pragma acc kernels loop
    for (int i = 0; i < N; i++) hs[i] = dp[i];
  }
  CHECK(hs[10] == 20); acc_free(dp);
  // long running: same kernel many times w/ different pointers
  for (int r = 0; r < 20; r++) { int *t = malloc(100 * sizeof(int));
#pragma acc parallel loop copyout(t[0:100])
    for (int i = 0; i < 100; i++) t[i] = i + r;
    CHECK(t[99] == 99 + r); free(t); }
  // variables shadowed
  { int a = 3; int out = 0;
#pragma acc parallel copyout(out)
    { int a2 = a; { int a = 4; out = a + a2; } }
    CHECK(out == 7); }
  CHECK(glob[3] == 0);
  return report();
}
