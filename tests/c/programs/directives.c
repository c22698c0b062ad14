#include <stdio.h>
#include <stdlib.h>
#include <openacc.h>
#define N 1024
typedef struct { float *x; int n; } vec;
float g[N]; 
#pragma acc declare create(g)
#pragma acc routine seq
float f(float);
float h(float x) { return x; }
#pragma acc routine(h) seq
float f(float x) { return x + 1; }
_Pragma("acc routine vector")
void vv(int n, float *p) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) p[i] = 0;
}
int main(void) {
  int n = N, i, j; float *a = malloc(n*sizeof *a), *b = malloc(n * sizeof *b), sum = 0; double m[N][N]; vec v = {a, n}; vec *pv = &v;
#pragma acc enter data copyin(a[0:n]) create(b[:n]) async(1)
#pragma acc data copyin(a[0:n]) copyout(b[0:n]) present(m, v.x[0:n]) copyin(pv->x[0:pv->n])
  {
#pragma acc parallel loop gang vector reduction(+:sum) num_gangs(n/32+1) vector_length(128) async(acc_async_noval) if(n > 10)
    for (i = 0; i < n; i++) sum += a[i];
#pragma acc parallel copy(m[2:4][0:N]) private(j) \
     firstprivate(n) wait(1,2)
#pragma acc loop independent collapse(2) tile(8,*)
    for (i = 0; i < n; i++) 
      for (int k = 0; k < n; k++) {
        if (k) {
#pragma acc atomic update
          sum += 1;
        }
        float t;
#pragma acc atomic capture
        { t = sum; sum += 1; }
      }
#pragma acc kernels
    {
      int q = 3;
#pragma acc loop
      for (int i = 0; i < n; i++) { 
#pragma acc cache(a[i-1:3])
b[i] = f(a[i]); if (i == q) continue; }
    }
    if (n > 3)
#pragma acc parallel loop
      for (int i = 0; i < n; i++) b[i] = 1;
    else
#pragma acc serial
      { b[0] = 1; }
  }
#pragma acc update self(a[0:n], m[1:2][3:4]) device(g)
#pragma acc host_data use_device(a, b)
  { f(a[0]); }
#pragma acc wait(1) async(2)
#pragma acc exit data delete(a[0:n])
#pragma GCC unroll 4
  for (;;) { break; }
#pragma acc wait
  return 0;
}
