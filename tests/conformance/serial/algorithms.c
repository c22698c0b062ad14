/* Small well-known programs: n-body, matrices, Jacobi, sorting, histograms, CSR, Mandelbrot. Prints what serial C prints. */
#include <stdio.h>
#include <stdlib.h>
#define N 100
typedef float real;
struct particle { float x, y, z, m; };
struct cell { struct particle p[4]; int n; };
void nbody(struct particle *p, float (*f)[3], int n) {
#pragma acc parallel loop copyin(p[0:n]) copyout(f[0:n])
  for (int i = 0; i < n; i++) {
    float fx = 0, fy = 0, fz = 0;
#pragma acc loop seq
    for (int j = 0; j < n; j++) { if (i == j) continue; float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z; float r2 = dx*dx + dy*dy + dz*dz + 0.01f; float inv = p[j].m / r2; fx += dx * inv; fy += dy * inv; fz += dz * inv; }
    f[i][0] = fx; f[i][1] = fy; f[i][2] = fz;
  }
}
static void matmul(int n, const double a[n][n], const double b[n][n], double c[n][n]) {
#pragma acc parallel loop collapse(2) copyin(a[0:n][0:n], b[0:n][0:n]) copyout(c[0:n][0:n])
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s = 0;
#pragma acc loop reduction(+:s)
    for (int k = 0; k < n; k++) s += a[i][k] * b[k][j];
    c[i][j] = s; }
}
static void jac(int n, int m, double *restrict A, double *restrict B) {
#pragma acc data copy(A[0:n*m]) create(B[0:n*m])
  for (int it = 0; it < 5; it++) {
    double err = 0;
#pragma acc kernels
    {
#pragma acc loop independent
      for (int j = 1; j < n - 1; j++)
#pragma acc loop independent reduction(max:err)
        for (int i = 1; i < m - 1; i++) { B[j*m+i] = 0.25 * (A[j*m+i+1] + A[j*m+i-1] + A[(j-1)*m+i] + A[(j+1)*m+i]); double e = B[j*m+i] - A[j*m+i]; if (e < 0) e = -e; if (e > err) err = e; }
#pragma acc loop independent
      for (int j = 1; j < n - 1; j++) for (int i = 1; i < m - 1; i++) A[j*m+i] = B[j*m+i];
    }
    printf("%.6f ", err);
  }
  puts("");
}
static int scan(const int *in, int *out, int n) { int tot = 0;
#pragma acc serial loop copyin(in[0:n]) copyout(out[0:n]) copy(tot)
  for (int i = 0; i < n; i++) { tot += in[i]; out[i] = tot; } return tot; }
static void bitonic(int *a, int n) {
#pragma acc data copy(a[0:n])
  for (int k = 2; k <= n; k <<= 1) for (int j = k >> 1; j > 0; j >>= 1) {
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++) { int l = i ^ j; if (l > i) { int up = (i & k) == 0; if ((a[i] > a[l]) == up) { int t = a[i]; a[i] = a[l]; a[l] = t; } } } }
}
static void hist(const unsigned char *d, int n, int *h) {
#pragma acc parallel loop copyin(d[0:n]) copy(h[0:256])
  for (int i = 0; i < n; i++) {
#pragma acc atomic
    h[d[i]]++; }
}
static void csr(int n, const int *rp, const int *ci, const double *v, const double *x, double *y) {
  int nnz = rp[n];
#pragma acc parallel loop gang copyin(rp[0:n+1], ci[0:nnz], v[0:nnz], x[0:n]) copyout(y[0:n])
  for (int r = 0; r < n; r++) { double s = 0;
#pragma acc loop vector reduction(+:s)
    for (int k = rp[r]; k < rp[r+1]; k++) s += v[k] * x[ci[k]];
    y[r] = s; }
}
static void mandel(int w, int h, unsigned char *img) {
#pragma acc parallel loop collapse(2) copyout(img[0:w*h])
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { double cr = -2 + 3. * x / w, ci = -1 + 2. * y / h, zr = 0, zi = 0; int it = 0; while (zr * zr + zi * zi < 4 && it < 100) { double t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; it++; } img[y * w + x] = it; }
}
int main(void) {
  struct particle *p = malloc(N * sizeof *p); float (*f)[3] = malloc(N * sizeof *f);
  for (int i = 0; i < N; i++) p[i] = (struct particle){i % 7, i % 11, i % 13, 1 + i % 3}; nbody(p, f, N);
  double s = 0; for (int i = 0; i < N; i++) s += f[i][0] * i + f[i][1]; printf("%.2f\n", s);
  int n = 20; double (*a)[n] = malloc(sizeof(double[n][n])), (*b)[n] = malloc(sizeof(double[n][n])), (*c)[n] = malloc(sizeof(double[n][n]));
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { a[i][j] = i + j; b[i][j] = i - j; } matmul(n, a, b, c); s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += c[i][j] * (i + 2 * j); printf("%g\n", s);
  double *A = calloc(12 * 15, 8), *B = calloc(12 * 15, 8); for (int i = 0; i < 15; i++) A[i] = 1; jac(12, 15, A, B); printf("%.6f\n", A[15 + 3]);
  int in[N], out[N]; for (int i = 0; i < N; i++) in[i] = i * 7 % 10; printf("%d ", scan(in, out, N)); printf("%d\n", out[50]);
  int so[128]; for (int i = 0; i < 128; i++) so[i] = i * 7919 % 1009; bitonic(so, 128); int ok = 1; for (int i = 1; i < 128; i++) ok &= so[i-1] <= so[i]; printf("%d %d %d\n", ok, so[0], so[127]);
  unsigned char data[1000]; int h[256] = {0}; for (int i = 0; i < 1000; i++) data[i] = i * i; hist(data, 1000, h); for (int i = 0; i < 256; i += 17) printf("%d ", h[i]); puts("");
  int rp[11], ci[40]; double v[40], x[10], y[10]; rp[0] = 0; for (int i = 0; i < 10; i++) { rp[i+1] = rp[i] + i % 4 + 1; x[i] = i; for (int k = rp[i]; k < rp[i+1]; k++) { ci[k] = (i + k) % 10; v[k] = k * 0.5; } } csr(10, rp, ci, v, x, y); for (int i = 0; i < 10; i++) printf("%g ", y[i]); puts("");
  unsigned char *img = malloc(40 * 30); mandel(40, 30, img); int t = 0; for (int i = 0; i < 1200; i++) t += img[i]; printf("%d\n", t);
  struct cell *cells = calloc(10, sizeof *cells); 
#pragma acc parallel loop copy(cells[0:10])
  for (int i = 0; i < 10; i++) { cells[i].n = i % 5; for (int k = 0; k < cells[i].n && k < 4; k++) { struct particle *q = &cells[i].p[k]; q->x += i; q->m = k; } }
  t = 0; for (int i = 0; i < 10; i++) for (int k = 0; k < 4; k++) t += cells[i].p[k].x + cells[i].p[k].m; printf("%d\n", t);
  return 0;
}
