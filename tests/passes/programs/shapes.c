#include <stdio.h>
#include <stdlib.h>
#define N 40
typedef struct { double x[3]; int id; } Body;
typedef struct { int nx, ny; double *u; } Grid;
static void step(Grid *g, double *restrict out) {
  int nx = g->nx, ny = g->ny; double *u = g->u;
#pragma acc parallel loop num_gangs(4) collapse(2) copyin(u[0:nx*ny]) copyout(out[0:nx*ny])
  for (int j = 0; j < ny; j++) for (int i = 0; i < nx; i++) {
    int k = j*nx + i;
    if (i == 0 || j == 0 || i == nx-1 || j == ny-1) out[k] = u[k];
    else out[k] = 0.25*(u[k-1]+u[k+1]+u[k-nx]+u[k+nx]);
  }
}
int tri[N][N];
int main() {
  Body *b = calloc(N, sizeof *b);
#pragma acc parallel loop
  for (int i = 0; i < N; i++) { b[i].id = i; for (int d = 0; d < 3; d++) b[i].x[d] = i * d; }
  double t = 0; for (int i = 0; i < N; i++) t += b[i].x[2] + b[i].id; printf("%g\n", t);
  Grid g = { 8, 6, malloc(48*8) }; double o[48];
  for (int i = 0; i < 48; i++) g.u[i] = i*i % 19;
  step(&g, o); t = 0; for (int i = 0; i < 48; i++) t += o[i]*i; printf("%g\n", t);
#pragma acc kernels
  for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) tri[i][j] = i + j;
  long s = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s += tri[i][j] * (i - j); printf("%ld\n", s);
  int fib[N];
#pragma acc kernels
  { fib[0] = fib[1] = 1; for (int i = 2; i < 20; i++) fib[i] = fib[i-1] + fib[i-2]; for (int i = 20; i < N; i++) fib[i] = fib[i - 20]; }
  printf("%d %d\n", fib[19], fib[39]);
  int i, j; float w[N], tmp;
#pragma acc parallel loop private(j, tmp)
  for (i = 0; i < N; i++) { tmp = 0; for (j = 0; j < i; j++) tmp += j; w[i] = tmp; }
  printf("%g\n", w[N-1]);
#pragma acc kernels
  for (i = 0; i < N; i++) { tmp = i * 2.0f; if (tmp > 10) tmp = 10; w[i] = tmp; }
  printf("%g %g\n", w[N-1], w[2]);
  int *p = malloc(N * sizeof(int)), *q = p + N / 2;
#pragma acc parallel loop
  for (int i = 0; i < N / 2; i++) { q[i] = i; p[i] = -i; }
  s = 0; for (int i = 0; i < N; i++) s += p[i] * i; printf("%ld\n", s);
  char str[16] = "hello"; 
#pragma acc parallel loop
  for (int i = 0; i < 5; i++) str[i] -= 32;
  puts(str);
  int idx[N], cnt[4] = {0};
  for (int i = 0; i < N; i++) idx[i] = (i * 3) % N;
  float in[N], out[N]; for (int i = 0; i < N; i++) { in[i] = i; out[i] = -1; }
#pragma acc parallel loop
  for (int i = 0; i < N; i++) out[i] = in[idx[i]];
  t = 0; for (int i = 0; i < N; i++) t += out[i] * i; printf("%g\n", t);
  return 0;
}
