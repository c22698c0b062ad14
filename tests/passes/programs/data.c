#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#ifdef _OPENACC
#include <openacc.h>
#endif
#define N 128
typedef struct { int n; double *v; } Vec;
void scale(int n, double *p, double f) {
#pragma acc parallel loop present(p[0:n])
  for (int i = 0; i < n; i++) p[i] *= f;
}
double total(int n, double *p) { double t = 0;
#pragma acc parallel loop reduction(+:t) present(p)
  for (int i = 0; i < n; i++) t += p[i];
  return t; }
void decl(int n, float *out) {
  float tmp[64];
#pragma acc declare create(tmp)
#pragma acc parallel loop
  for (int i = 0; i < 64; i++) tmp[i] = i;
#pragma acc parallel loop copyout(out[0:n])
  for (int i = 0; i < n; i++) out[i] = tmp[i] * 2;
}
void many(int n, int m, int k, float *restrict a, float *restrict b) {
#pragma acc kernels copyin(a[0:n*m*k]) copyout(b[0:n*m*k])
  {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++)
        b[(i*m + j)*k + l] = a[(i*m + j)*k + l] * 2 + (i + j + l);
  }
}
int main() {
  double *p = malloc(N*8); for (int i = 0; i < N; i++) p[i] = i;
#pragma acc data copy(p[0:N])
  {
    scale(N, p, 3);
    printf("%g\n", total(N, p));
#pragma acc parallel loop
    for (int i = 0; i < N; i++) p[i] += 1;
#pragma acc update self(p[0:N])
    printf("%g\n", p[5]);
  }
  Vec v = { N, p };
#pragma acc enter data copyin(v)
#pragma acc enter data copyin(v.v[0:N])
#pragma acc parallel loop present(v)
  for (int i = 0; i < v.n; i++) v.v[i] = i;
#pragma acc exit data copyout(v.v[0:N])
#pragma acc exit data delete(v)
  printf("%g\n", p[100]);
  float out[40]; decl(40, out); printf("%g\n", out[39]);
  float *a = malloc(4*6*8*4), *b = malloc(4*6*8*4);
  for (int i = 0; i < 4*6*8; i++) a[i] = i;
  many(4, 6, 8, a, b);
  double t = 0; for (int i = 0; i < 4*6*8; i++) t += b[i]*(i%13); printf("%g\n", t);
  int rows[N+1], cols[4*N]; double val[4*N], x[N], y[N];
  rows[0] = 0;
  for (int i = 0; i < N; i++) { rows[i+1] = rows[i] + 1 + i % 4; x[i] = i; for (int k = rows[i]; k < rows[i+1]; k++) { cols[k] = (i + k) % N; val[k] = k; } }
#pragma acc parallel loop copyin(cols, val)
  for (int i = 0; i < N; i++) {
    double s = 0;
#pragma acc loop reduction(+:s)
    for (int k = rows[i]; k < rows[i+1]; k++) s += val[k] * x[cols[k]];
    y[i] = s;
  }
  t = 0; for (int i = 0; i < N; i++) t += y[i]; printf("%g\n", t);
  for (int it = 0; it < 3; it++) {
#pragma acc parallel loop async(1)
    for (int i = 0; i < N; i++) y[i] = x[i] + it;
#pragma acc parallel loop async(1)
    for (int i = 1; i < N; i++) x[i] = y[i-1];
  }
#pragma acc wait
  t = 0; for (int i = 0; i < N; i++) t += x[i]*i; printf("%g\n", t);
  double *d = acc_malloc(N*8);
#pragma acc parallel loop deviceptr(d)
  for (int i = 0; i < N; i++) d[i] = i * 2;
#pragma acc parallel loop deviceptr(d)
  for (int i = 0; i < N; i++) x[i] = d[i];
  acc_free(d);
  printf("%g\n", x[7]);
  int found = -1, iters = 0;
#pragma acc parallel copy(found, iters)
  {
#pragma acc loop seq
    for (int i = 0; i < N; i++) { if (x[i] > 20) { found = i; break; } iters++; }
  }
  printf("%d %d\n", found, iters);
  long cnt = 0; unsigned char flag[N]; 
#pragma acc parallel loop reduction(+:cnt)
  for (int i = 0; i < N; i++) {
    int q = i; int c = 0;
    while (q > 1) { q = (q & 1) ? 3*q + 1 : q / 2; c++; }
    flag[i] = c; cnt += c;
  }
  printf("%ld %d\n", cnt, flag[27]);
  float m2[8][16];
#pragma acc parallel loop gang worker vector collapse(2)
  for (int i = 0; i < 8; i++) for (int j = 15; j >= 0; j--) m2[i][j] = i * j;
  t = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) t += m2[i][j]; printf("%g\n", t);
  return 0;
}
