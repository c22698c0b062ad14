#include <stdio.h>
#include <stdlib.h>
#define N 64
double A[N][N], B[N][N], C[N][N];
float x[N]; int cnt;
float tab[16];
#pragma acc declare create(tab)
static float look(int i) { return tab[i % 16]; }
#pragma acc routine vector
void rowscale(int n, double *r, double f) {
#pragma acc loop vector
  for (int j = 0; j < n; j++) r[j] *= f;
}
int main(int argc, char **argv) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { A[i][j] = i+j; B[i][j] = i-j; }
#pragma acc kernels
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++) s += A[i][k] * B[k][j];
      C[i][j] = s;
    }
  double t = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t += C[i][j]*(i+3*j); printf("%g\n", t);
#pragma acc parallel loop gang
  for (int i = 0; i < N; i++) {
    double s = 0;
#pragma acc loop vector reduction(+:s)
    for (int k = 0; k < N; k++) s += A[i][k];
    C[i][0] = s;
  }
  t = 0; for (int i = 0; i < N; i++) t += C[i][0]; printf("%g\n", t);
  for (int i = 0; i < 16; i++) tab[i] = i;
#pragma acc update device(tab)
#pragma acc parallel loop
  for (int i = 0; i < N; i++) x[i] = look(i);
  t = 0; for (int i = 0; i < N; i++) t += x[i]; printf("%g\n", t);
#pragma acc parallel loop gang
  for (int i = 0; i < N; i++) rowscale(N, A[i], i);
  t = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t += A[i][j]; printf("%g\n", t);
  int c = argc;
#pragma acc parallel loop if(c > 5) 
  for (int i = 0; i < N; i++) x[i] = i;
#pragma acc parallel loop self(c)
  for (int i = 0; i < N; i++) x[i] += i;
  t = 0; for (int i = 0; i < N; i++) t += x[i]; printf("%g\n", t);
  int tmp[4];
#pragma acc parallel loop private(tmp) firstprivate(c)
  for (int i = 0; i < N; i++) { for (int k = 0; k < 4; k++) tmp[k] = i * k + c; x[i] = tmp[3]; }
  t = 0; for (int i = 0; i < N; i++) t += x[i]; printf("%g\n", t);
#pragma acc enter data copyin(A)
#pragma acc parallel loop collapse(2) default(present)
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = i * j;
#pragma acc exit data copyout(A)
  t = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t += A[i][j]; printf("%g\n", t);
  int hist[8] = {0};
#pragma acc parallel loop
  for (int i = 0; i < 1000; i++) {
#pragma acc atomic
    hist[(i * 7) % 8]++;
  }
  for (int i = 0; i < 8; i++) printf("%d ", hist[i]);
  puts("");
#pragma acc parallel loop tile(4,8)
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[j][i];
  t = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) t += B[i][j]*i; printf("%g\n", t);
#pragma acc parallel num_gangs(4) num_workers(2) vector_length(32) reduction(+:c)
  { c += 1; }
  printf("%d\n", c);
  float f = 0; float *px = x + 3;
#pragma acc parallel loop reduction(max:f)
  for (int i = 0; i < N - 3; i++) f = px[i] > f ? px[i] : f;
  printf("%g\n", f);
  return 0;
}
