/* Reductions: every operator and type, arrays, sections, nested levels, kernels. Prints what serial C prints. */
#include <stdio.h>
#include <stdbool.h>
#include <limits.h>
#define N 300
int main(void) {
  char c = 0; unsigned char uc = 255; short sh = 5; unsigned short us = 1; long l = 0; unsigned long ul = ~0ul; unsigned u = 0; bool bo = true; long long ll = 1; float f = 1; double d = 1; signed char sc = 100; bool bx = false;
  int land = 1, lor = 0;
#pragma acc parallel loop reduction(+:c) reduction(&:uc) reduction(max:sh) reduction(*:us) reduction(+:l) reduction(&:ul) reduction(|:u) reduction(&&:bo) reduction(^:ll) reduction(*:d) reduction(max:f) reduction(min:sc) reduction(&&:land) reduction(||:lor, bx)
  for (int i = 0; i < N; i++) {
    c += i; uc &= ~(i & 8); if (i > sh) sh = i; us *= (i % 5 == 0 ? 3 : 1); l += i * 100000000L; ul &= ~(1ul << (i % 60)); u |= 1u << (i % 20); bo = bo && i < 1000; ll ^= (long long)i << 30; d *= i % 50 == 1 ? 1.5 : 1; f = f > i * .5f ? f : i * .5f; if (i - 128 < sc) sc = i - 128; land = land && (i != 77); lor = lor || i == 99; bx = bx || i == 500;
  }
  printf("%d %u %d %u %ld %lx %x %d %lld %g %g %d %d %d %d\n", c, uc, sh, us, l, ul, u, bo, ll, d, f, sc, land, lor, bx);
  int arr[7] = {1,2,3,4,5,6,7}; double m[3][4] = {{0}};
#pragma acc parallel loop reduction(+:arr, m)
  for (int i = 0; i < N; i++) { arr[i % 7] += i; m[i % 3][i % 4] += 0.5; }
  for (int i = 0; i < 7; i++) printf("%d ", arr[i]); for (int i = 0; i < 12; i++) printf("%g ", (&m[0][0])[i]); puts("");
  int n = 5; int vla[n]; for (int i = 0; i < n; i++) vla[i] = i; int *p = arr;
#pragma acc parallel loop reduction(+:vla)
  for (int i = 0; i < N; i++) vla[i % n] += 1;
#pragma acc parallel loop reduction(min:p[1:4])
  for (int i = 0; i < N; i++) if (p[1 + i % 4] > 1000 - i) p[1 + i % 4] = 1000 - i;
  for (int i = 0; i < n; i++) printf("%d %d ", vla[i], arr[i]); puts("");
  // nested with gang / worker / vector reductions
  int tot = 0; int rows[10];
#pragma acc parallel loop gang reduction(+:tot) copyout(rows)
  for (int i = 0; i < 10; i++) {
    int rs = 0;
#pragma acc loop worker vector reduction(+:rs)
    for (int j = 0; j < 100; j++) rs += i * j;
    rows[i] = rs; tot += rs;
  }
  printf("%d %d\n", tot, rows[9]);
  int t3 = 0;
#pragma acc parallel loop gang reduction(+:t3)
  for (int i = 0; i < 4; i++)
#pragma acc loop worker reduction(+:t3)
    for (int j = 0; j < 5; j++)
#pragma acc loop vector reduction(+:t3)
      for (int k = 0; k < 6; k++) t3 += i * 100 + j * 10 + k;
  printf("%d\n", t3);
  // kernels reductions inferred
  double s = 0, mx = -1; double a[N]; 
#pragma acc kernels
  {
    for (int i = 0; i < N; i++) a[i] = (i * 37) % 101;
    for (int i = 0; i < N; i++) s += a[i];
    for (int i = 0; i < N; i++) if (a[i] > mx) mx = a[i];
  }
  printf("%g %g\n", s, mx);
  // parallel-level reduction
  int gs = 0;
#pragma acc parallel num_gangs(7) reduction(+:gs)
  { gs += 3; }
  printf("%d\n", gs / 3 > 0);
  return 0;
}
