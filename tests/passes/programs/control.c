#include <stdio.h>
#include <stdlib.h>
#pragma acc routine seq
extern double helper(double);
double helper(double x) { return x * 3; }
void f(int n, int m, float a[n][m], float s) {
#pragma acc parallel loop default(none) copy(a[0:n][0:m]) firstprivate(n, m, s)
  for (int i = 0; i < n; i++) 
    for (int j = 0; j < m; j++) a[i][j] = s * (i + j);
}
int main() {
  float a[4][5]; f(4, 5, a, 2);
  double t = 0; for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) t += a[i][j]*(j+1);
  printf("%g\n", t);
  double *x = malloc(80), *y = malloc(80), *tmp;
  for (int i = 0; i < 10; i++) { x[i] = i; y[i] = 0; }
#pragma acc data copy(x[0:10], y[0:10])
  for (int it = 0; it < 3; it++) {
#pragma acc parallel loop
    for (int i = 0; i < 10; i++) y[i] = helper(x[i]) + 1;
    tmp = x; x = y; y = tmp;
  }
  t = 0; for (int i = 0; i < 10; i++) t += x[i]; printf("%g\n", t);
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) x[i] = i;
  t = 0; for (int i = 0; i < 10; i++) t += x[i]; printf("%g\n", t);
  int k = 0;
  switch (k) { case 0: {
#pragma acc kernels loop
  for (int i = 0; i < 10; i++) { if (i == 5) continue; x[i] = i * 2; }
  } break; }
  t = 0; for (int i = 0; i < 10; i++) t += x[i]; printf("%g\n", t);
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) { switch (i % 3) { case 0: x[i] = 1; break; case 1: x[i] = 2; default: y[i] = 3; } }
  t = 0; for (int i = 0; i < 10; i++) t += x[i] + y[i]; printf("%g\n", t);
  return 0;
}
