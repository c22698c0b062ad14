/* Loops: tile, collapse, static, every form of counting, levels, kernels with other code. Prints what serial C prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 48
static long sum2(int (*m)[N]) { long s = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s += (long)m[i][j] * (i * 3 + j + 1); return s; }
int main(void) {
  static int m[N][N], t[N][N], c[4][5][6]; int a[N]; long s;
#pragma acc parallel loop tile(4,8) copyout(m)
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) m[i][j] = i * j;
  printf("%ld\n", sum2(m));
#pragma acc parallel loop tile(*,7) gang vector copy(m)
  for (int i = 1; i < N - 1; i++) for (int j = 2; j < N - 3; j++) m[i][j] += i - j;
  printf("%ld\n", sum2(m));
#pragma acc parallel copy(c)
#pragma acc loop collapse(3) gang vector
  for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 6; k++) c[i][j][k] = i * 100 + j * 10 + k;
  s = 0; for (int i = 0; i < 120; i++) s += (&c[0][0][0])[i] * i; printf("%ld\n", s);
#pragma acc parallel loop collapse(force:2) copy(m)
  for (int i = 0; i < N; i++) { int q = i * 2; for (int j = 0; j < N; j++) { m[i][j] += q; } }
  printf("%ld\n", sum2(m));
#pragma acc parallel loop gang(static:5) copyout(a)
  for (int i = 0; i < N; i++) a[i] = i;
#pragma acc parallel loop gang(static:*) worker vector copy(a)
  for (int i = N - 1; i >= 0; i--) a[i] *= 3;
#pragma acc parallel loop num_gangs(3) num_workers(2) vector_length(32) copy(a)
  for (int i = 0; i != N; i += 2) a[i] += 1;
#pragma acc parallel loop copy(a)
  for (unsigned i = 3; i <= 40u; i += 4) a[i] -= 7;
#pragma acc parallel loop copy(a)
  for (char i = 10; i > 2; i -= 3) a[(int)i] = i;
#pragma acc parallel loop copy(a)
  for (int *p = a + 5; p < a + 20; ++p) *p += 2;
#pragma acc parallel loop copy(a)
  for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++) a[i] += (int)i;
  int lo = 4, hi = 30, st = 3;
#pragma acc parallel loop copy(a)
  for (int i = lo; i < hi; i += st) a[i] = -a[i];
#pragma acc parallel loop copy(a)
  for (int i = hi; i > lo; i -= st) a[i] *= 2;
#pragma acc parallel loop copy(a)
  for (int i = 10; i < 3; i++) a[i] = 999;
  for (int i = 0; i < N; i++) printf("%d ", a[i]); puts("");
  int ii, jj, last = 0;
#pragma acc parallel loop private(jj) copy(m) 
  for (ii = 0; ii < N; ii++) for (jj = 0; jj < ii; jj++) m[ii][jj] = m[jj][ii] > 5 ? 1 : m[ii][jj];
  printf("%d\n", m[20][3]);
#pragma acc parallel num_gangs(8) copy(m)
  {
#pragma acc loop gang
    for (int i = 0; i < N; i++) {
#pragma acc loop worker
      for (int j = 0; j < 6; j++) {
#pragma acc loop vector
        for (int k = 0; k < 8; k++) m[i][j * 8 + k] = i + j * 8 + k;
      }
    }
  }
  printf("%ld\n", sum2(m));
#pragma acc kernels copy(m) copyout(t)
  {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t[j][i] = m[i][j];
    for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) m[i][j] += m[i-1][j];
    int z = 5;
    m[0][0] = z; 
#pragma acc loop independent collapse(2)
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t[i][j] += z;
#pragma acc loop seq
    for (int i = 1; i < N; i++) t[i][0] = t[i-1][0] + 1;
    if (z > 3) { for (int i = 0; i < N; i++) t[i][i] = 7; } else { t[0][0] = 1; }
    while (z-- > 0) { for (int i = 0; i < N; i++) t[i][1] += z; }
  }
  printf("%ld %ld\n", sum2(m), sum2(t));
#pragma acc kernels loop gang(4) worker(2) vector(32) copy(a)
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma acc kernels num_gangs(3) vector_length(64) copy(a)
  {
#pragma acc loop gang
    for (int i = 0; i < N; i++) a[i] += i;
#pragma acc loop auto
    for (int i = 1; i < N; i++) a[i] += a[i - 1];
  }
#pragma acc serial loop copy(a)
  for (int i = 1; i < N; i++) a[i] -= a[i - 1];
#pragma acc serial copy(a)
  { for (int i = 0; i < N; i++) a[i] = a[N - 1 - i] + i;
#pragma acc loop gang vector
    for (int i = 0; i < N; i++) a[i] *= 2; }
  for (int i = 0; i < N; i++) printf("%d ", a[i]); puts("");
  // gang dims
  static int cube[4][6][8];
#pragma acc parallel num_gangs(8,6,4) copyout(cube)
  {
#pragma acc loop gang(dim:3)
    for (int i = 0; i < 4; i++)
#pragma acc loop gang(dim:2)
      for (int j = 0; j < 6; j++)
#pragma acc loop gang(dim:1)
        for (int k = 0; k < 8; k++) cube[i][j][k] = i + 2*j + 3*k;
  }
  s = 0; for (int i = 0; i < 192; i++) s += (&cube[0][0][0])[i] * (i+1); printf("%ld\n", s);
  // inner sequential with break, nested parallel loop w/ inner-dependent bounds
#pragma acc parallel loop copyout(a)
  for (int i = 0; i < N; i++) { int k; for (k = 0; k < 100; k++) { if (k * k > i) break; } a[i] = k; }
  for (int i = 0; i < N; i++) printf("%d ", a[i]); puts("");
  return 0;
}
