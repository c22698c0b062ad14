#include <stdio.h>
#include <stdlib.h>
typedef struct { int n; float *x; struct { int k[4]; } in; } S;
#pragma acc routine vector
static void scalev(int n, float *a, float s) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) a[i] *= s;
}
static int g = 3;
int i;
static float declared(int n, const float *a) {
  float local[8] = {0}, r = 0;
#pragma acc declare copy(local)
#pragma acc parallel loop copyin(a[0:n])
  for (i = 0; i < n; i++) local[i] += a[i] * g;
  if (n > 100) return 0;
#pragma acc update self(local)
  for (int k = 0; k < 8; k++) r += local[k];
  return r;
}
int main(void) {
  float a[8], m[4][8];
  for (int k = 0; k < 8; k++) a[k] = k;
  printf("%g\n", declared(8, a));
  for (int r = 0; r < 4; r++) for (int k = 0; k < 8; k++) m[r][k] = r + k;
#pragma acc parallel loop gang copy(m) vector_length(32)
  for (int r = 0; r < 4; r++) scalev(8, m[r], 2);
  printf("%g\n", m[3][7]);
  S s = {8, a, {{1, 2, 3, 4}}};
#pragma acc parallel loop copy(s.in.k[1:2])
  for (int q = 0; q < 2; q++) s.in.k[q + 1] *= 10;
  printf("%d %d %d\n", s.in.k[0], s.in.k[1], s.in.k[2]);
#pragma acc data copyin(s) 
  {
#pragma acc data copy(s.x[0:s.n])
   {
#pragma acc parallel loop present(s)
    for (int q = 0; q < 8; q++) s.x[q] += s.in.k[0];
   }
  }
  printf("%g\n", a[7]);
  int n = 8, sum = 0, big = -1, v;
  for (int pass = 0; pass < 3; pass++) {
#pragma acc parallel loop copyin(pass) reduction(+:sum) reduction(max:big) async(pass) 
    for (int q = 0; q < n; q++) { int t = q * pass; sum += t; if (t > big) big = t; }
#pragma acc wait
  }
  printf("%d %d\n", sum, big);
  int mat[4][4];
#pragma acc parallel copyout(mat) num_gangs(1)
  {
    int base = 100;
#pragma acc loop
    for (int r = 0; r < 4; r++) {
      int row = base + r;
#pragma acc loop seq
      for (int c = 0; c < 4; c++) { mat[r][c] = row * c; row++; }
    }
  }
  printf("%d %d\n", mat[3][3], mat[0][1]);
#pragma acc serial copyout(v)
  { v = 0; for (int q = 0; q < 10; q++) { if (q == 7) break; v += q; } switch (v) { case 21: v = 1; break; default: v = 2; } goto end; end: v += 5; }
  printf("%d\n", v);
  unsigned um = 0; long lsum = 0; double prod = 1; int all = 1, any = 0; unsigned char bx = 0;
#pragma acc parallel loop reduction(max:um) reduction(+:lsum) reduction(*:prod) reduction(&&:all) reduction(||:any) reduction(^:bx)
  for (int q = 1; q <= 5; q++) { unsigned t = q == 3 ? 0xf0000000u : q; um = um > t ? um : t; lsum += (long)q << 33; prod *= q; all = all && q < 6; any = any || q == 9; bx ^= q; }
  printf("%u %ld %g %d %d %d\n", um, lsum, prod, all, any, bx);
  double vla[n]; 
#pragma acc parallel loop copyout(vla)
  for (int q = n - 1; q >= 0; q--) vla[q] = q * 0.5;
  printf("%g\n", vla[5]);
  int flag = 0;
#pragma acc parallel loop if(flag) copyout(vla[0:n])
  for (long q = 0; q < n; q++) vla[q] = q;
#pragma acc parallel loop self copyout(vla[0:n/2])
  for (size_t q = 0; q < n/2; q++) vla[q] += q;
  printf("%g %g\n", vla[5], vla[3]);
  return 0;
}
