#include <stdio.h>
#include <stdlib.h>
typedef struct { int n; double *v; float w[4]; } S;
typedef struct { float x, y; } P;
float *gp; int gn;
void stencil(int n, double *restrict a, const double *restrict b) {
#pragma acc parallel loop
  for (int i = 0; i < n; i++) { if (i > 0 && i < n - 1) a[i] = b[i-1] + b[i+1]; else a[i] = b[i]; }
}
void lin(int n, int m, float *a, float *b) {
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) a[i*m+j] = b[j*n+i] + 1;
}
void tri(int n, float a[n][n]) {
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) a[i][j] = a[j][i] * 2;
}
int main() {
  int n = 50, m = 20;
  double *a = malloc(n*8), *b = malloc(n*8);
  for (int i = 0; i < n; i++) b[i] = i*i;
  stencil(n, a, b);
  double t = 0; for (int i = 0; i < n; i++) t += a[i]; printf("%g\n", t);
  float *c = malloc(n*m*4), *d = malloc(n*m*4);
  for (int i = 0; i < n*m; i++) d[i] = i % 7;
  lin(n, m, c, d);
  t = 0; for (int i = 0; i < n*m; i++) t += c[i]*i; printf("%g\n", t);
  float (*q)[50] = malloc(n*n*4);
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) q[i][j] = i - j;
  tri(n, q);
  t = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t += q[i][j] * (i + 2*j); printf("%g\n", t);
  gp = c; gn = n;
#pragma acc parallel loop
  for (int i = gn - 1; i >= 2; i -= 3) gp[i] = i;
  t = 0; for (int i = 0; i < n*m; i++) t += c[i]*i; printf("%g\n", t);
  P *p = malloc(n * sizeof(P));
#pragma acc parallel loop
  for (unsigned i = 0; i < n; i++) { p[i].x = i; p[i].y = 2 * i; }
  t = 0; for (int i = 0; i < n; i++) t += p[i].x*p[i].y; printf("%g\n", t);
  S s = { n, a, {1,2,3,4} };
  int last = -1;
#pragma acc parallel loop copy(last)
  for (int i = 0; i < 4; i++) { s.w[i] += i; if (i == 3) last = i; }
  printf("%g %d\n", s.w[0]+s.w[1]+s.w[2]+s.w[3], last);
  int k = 5;
#pragma acc parallel
  { k = 7; }
  printf("%d\n", k);
#pragma acc kernels
  { k = 7; }
  printf("%d\n", k);
  float buf[m];
  for (int i = 0; i < m; i++) buf[i] = i;
#pragma acc parallel loop
  for (int i = 0; i < m; i++) buf[i] *= 2;
  t = 0; for (int i = 0; i < m; i++) t += buf[i]; printf("%g\n", t);
  double sum = 0, mx = -1;
#pragma acc kernels
  {
    for (int i = 0; i < n; i++) { double v = a[i] * 2; sum += v; b[i] = v; }
    for (int i = 0; i < n; i++) if (b[i] > mx) mx = b[i];
    for (int i = 1; i < n; i++) b[i] += b[i-1];
  }
  printf("%g %g %g\n", sum, mx, b[n-1]);
  return 0;
}
