#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define N 100
int n = N;
struct cfg { int w, h; float *data; };
static int isprime(int v) { if (v < 2) return 0; for (int d = 2; d * d <= v; d++) if (v % d == 0) return 0; return 1; }
double dot(int n, const double *restrict a, const double *restrict b) {
  double s = 0;
#pragma acc kernels
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
void blur(struct cfg *c, float *out) {
  int w = c->w, h = c->h; float *in = c->data;
#pragma acc parallel loop gang
  for (int y = 1; y < h - 1; y++)
#pragma acc loop vector
    for (int x = 1; x < w - 1; x++) {
      float acc = 0;
      for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) acc += in[(y+dy)*w + x + dx];
      out[y*w + x] = acc / 9;
    }
}
void jacobi(int m, double (*a)[m], double (*b)[m], double *err) {
  double e = 0;
#pragma acc data copy(a[0:m]) create(b[0:m])
  for (int it = 0; it < 5; it++) {
    e = 0;
#pragma acc parallel loop collapse(2) reduction(max:e)
    for (int i = 1; i < m-1; i++) for (int j = 1; j < m-1; j++) {
      b[i][j] = 0.25*(a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1]);
      double d = fabs(b[i][j] - a[i][j]); e = d > e ? d : e;
    }
#pragma acc parallel loop collapse(2)
    for (int i = 1; i < m-1; i++) for (int j = 1; j < m-1; j++) a[i][j] = b[i][j];
  }
  *err = e;
}
int main() {
  int cnt = 0;
#pragma acc parallel loop reduction(+:cnt)
  for (int i = 0; i < 1000; i++) cnt += isprime(i);
  printf("%d\n", cnt);
  double a[N], b[N]; for (int i = 0; i < N; i++) { a[i] = i; b[i] = 1.0 / (i + 1); }
  printf("%.10g\n", dot(N, a, b));
  struct cfg c = { 20, 10, malloc(800) };
  float out[200]; for (int i = 0; i < 200; i++) { c.data[i] = i % 17; out[i] = 0; }
  blur(&c, out);
  double t = 0; for (int i = 0; i < 200; i++) t += out[i] * i; printf("%.5g\n", t);
  double A[16][16], B[16][16], e; for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) A[i][j] = B[i][j] = (i * 7 + j * 3) % 11;
  jacobi(16, A, B, &e); printf("%.8g %.8g\n", e, A[5][5]);
  int x[N]; int prod = 1; unsigned bits = 0; int any = 0, all = 1; float mn = 1e9;
#pragma acc parallel loop reduction(*:prod) reduction(|:bits) reduction(||:any) reduction(&&:all) reduction(min:mn)
  for (int i = 1; i < 9; i++) { prod *= i; bits |= 1u << i; any = any || i == 5; all = all && i < 8; mn = fminf(mn, i - 3.5f); }
  printf("%d %u %d %d %g\n", prod, bits, any, all, mn);
#pragma acc kernels
  {
    int off = 3; 
    for (int i = 0; i < N; i++) x[i] = i + off;
#pragma acc loop independent
    for (int i = 0; i < N / 2; i++) x[2*i] = x[2*i+1];
    for (int i = 0; i < N - 1; i++) x[i] = x[i+1];
  }
  long s = 0; for (int i = 0; i < N; i++) s += (long)x[i] * i; printf("%ld\n", s);
  int lo = 10, hi = 20; 
#pragma acc parallel loop
  for (int i = lo; i <= hi; i += 3) x[i * 2 + 1] = -i;
  s = 0; for (int i = 0; i < N; i++) s += (long)x[i] * i; printf("%ld\n", s);
  double (*m3)[4][5] = malloc(6*4*5*8);
#pragma acc parallel loop gang
  for (int i = 0; i < 6; i++)
#pragma acc loop worker
    for (int j = 0; j < 4; j++)
#pragma acc loop vector
      for (int k = 0; k < 5; k++) m3[i][j][k] = i * 100 + j * 10 + k;
  t = 0; for (int i = 0; i < 6; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) t += m3[i][j][k] * (k+1); printf("%g\n", t);
  int total = 0;
#pragma acc parallel loop gang reduction(+:total)
  for (int i = 0; i < 10; i++) { int sub = 0;
#pragma acc loop vector reduction(+:sub)
    for (int j = 0; j < 20; j++) sub += i * j;
    total += sub; }
  printf("%d\n", total);
  return 0;
}
