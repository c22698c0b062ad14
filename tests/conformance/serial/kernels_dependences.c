/* Loops that depend on themselves in ways that are easily overlooked, and temporaries. Comments say how a loop
   runs (tests/passes/test_kernels_decisions.py). */
#include <stdio.h>
#include <math.h>
typedef double T;
#define N 40
static T buf[4000], buf2[4000], buf3[4000];
/* private arrays, adversarial ones */
void q01(T *a, T *b, int n) { T w[3]; int i;
#pragma acc kernels
  for (i = 1; i < n-1; i++) { w[0] = b[i-1]; w[1] = b[i]; w[2] = b[i+1]; a[i] = w[0]*w[1]+w[2]; } } // tested
T q02(T *a, T *b, int n) { T w[3] = {1,2,3}; int i;  /* live out */
#pragma acc kernels
  for (i = 1; i < n-1; i++) { w[0] = b[i-1]; w[1] = b[i]; w[2] = b[i+1]; a[i] = w[0]*w[1]+w[2]; } // in order
  return w[1]; }
void q03(T *a, T *b, int n) { T w[3] = {1,2,3}; int i;  /* w[2] from before */
#pragma acc kernels
  for (i = 1; i < n-1; i++) { w[0] = b[i-1]; a[i] = w[0]*w[1]+w[2]; w[1] = b[i]; } } // in order
void q04(T *a, T *b, int n) { T w[4]; int i, j; /* conditional write */
  for (j = 0; j < 4; j++) w[j] = j;
#pragma acc kernels
  for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) if (b[i] > 0) w[j] = b[i]; for (j = 0; j < 4; j++) a[i] += w[j]; } } // in order
void q05(T *a, T *b, int n, int m) { T w[8] = {0}; int i, j; /* m may be 0 or less than 8 */
#pragma acc kernels
  for (i = 0; i < n; i++) { for (j = 0; j < m; j++) w[j] = b[i]*j; T s = 0; for (j = 0; j < m; j++) s += w[j]; a[i] = s; } } // tested
void q06(T *a, T *b, int n, int m) { T w[8] = {5}; int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) { for (j = 1; j < m; j++) w[j] = b[i]*j; T s = 0; for (j = 0; j < m; j++) s += w[j]; w[0] = b[i]; a[i] = s; } } // parallel
void q07(T *a, T *b, int n) { T w[4][4]; int i, j, k;
#pragma acc kernels
  for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) for (k = 0; k < 4; k++) w[j][k] = b[i]*j+k; T s = 0; for (j = 0; j < 4; j++) for (k = 0; k <= j; k++) s += w[j][k]*w[k][j]; a[i] = s; } } // tested
void q08(T *a, T *b, int n) { T w[8]; int i, j;
#pragma acc kernels
  { for (i = 0; i < n; i++) { for (j = 0; j < 8; j++) w[j] = b[i] + j; a[i] = w[3] * w[5]; } // tested
    for (i = 0; i < n; i++) { for (j = 0; j < 8; j++) w[j] = a[i] - j; b[i] = w[2] * w[7]; } } } // tested
void q09(T *a, T *b, int n) { T t; int i; /* t used by both loops, conditional */
#pragma acc kernels
  { for (i = 0; i < n; i++) { t = b[i]; a[i] = t * t; } // tested
    for (i = 0; i < n; i++) { if (a[i] > 0.3) t = a[i]; else t = 1; b[i] = t; } } } // tested
T q10(T *a, T *b, int n) { T t = 0; int i; /* live out */
#pragma acc kernels
  for (i = 0; i < n; i++) { t = b[i]; a[i] = t * t; } // tested
  return t; }
T q11(T *a, T *b, int n) { T t = 7; int i; /* conditional */
#pragma acc kernels
  for (i = 0; i < n; i++) { if (b[i] > 0) t = b[i]; a[i] = t; } // in order
  return 0; }
T q12(T *a, int n) { T m = -1; int i, k = -1; /* argmax */
#pragma acc kernels
  for (i = 0; i < n; i++) if (a[i] > m) { m = a[i]; k = i; } // parallel
  return m + k; }
T q13(T *a, T *b, int n) { T m = -1; int i; /* not a max: stores something else */
#pragma acc kernels
  for (i = 0; i < n; i++) if (a[i] > m) m = b[i]; // in order
  return m; }
T q14(T *a, T *b, int n) { T m = -1; int i; /* a changes between compare and store */
#pragma acc kernels
  for (i = 0; i < n; i++) if (a[i] > m) { a[i] = b[i]; m = a[i]; } // in order
  return m; }
T q15(T *a, int n) { T m = 100; int i;
#pragma acc kernels
  for (i = 0; i < n; i++) if (fabs(a[i]) < m) m = fabs(a[i]); // parallel
  return m; }
T q16(T *a, int n) { T m = 0; int i;
#pragma acc kernels
  for (i = 0; i < n; i++) m = fmax(m, fabs(a[i] - 0.5)); // parallel
  return m; }
T q17(T *a, int n) { T m = 0; int i; /* not a max: both sides */
#pragma acc kernels
  for (i = 0; i < n; i++) m = a[i] > m ? m : a[i]; // parallel
  return m; }
T q18(T *a, int n) { T s = 0; int i; /* sum used inside */
#pragma acc kernels
  for (i = 0; i < n; i++) { s += a[i]; a[i] = s; } // in order
  return s; }
T q19(T *a, int n) { T s = 1; int i; /* alternating operators */
#pragma acc kernels
  for (i = 0; i < n; i++) { s += a[i]; s *= 0.5; } // in order
  return s; }
T q20(T *a, int n) { T s = 1; int i; /* reversed subtraction */
#pragma acc kernels
  for (i = 0; i < n; i++) s = a[i] - s; // in order
  return s; }
int q21(int *a, int n) { int ok = 1, i;
#pragma acc kernels
  for (i = 0; i < n; i++) if (a[i] < 0) ok = 0; // parallel
  return ok; }
/* dependences */
void d01(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n - 1; i++) a[i] = a[i+1] * 2; } // in order
void d02(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i/2] += i; } // in order
void d03(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i % 7] += i; } // in order
void d04(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i * i % 11] = i; } // in order
void d05(T *a, int n) { int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i + j] += 1; } // parallel
void d06(T *a, int n, int m) { int i, j; /* rows overlap for m < n */
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i*m + j] = a[i*m + j] * 0.5 + j; } // tested
void d07(T *a, int n) { int i, j; /* inner bound grows: 2i - j */
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = i; j <= i + 1; j++) a[2*i - j + 1] += j; } // parallel
void d08(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[n - 1 - i] = a[i] + 1; } // in order
void d09(T *a, int n) { int i, j;
#pragma acc kernels
  for (i = 1; i < n; i++) for (j = 1; j < n; j++) a[i*n+j] = 0.5*(a[(i-1)*n+j] + a[i*n+j-1]); } // in order
void d10(T *a, int n) { int i, j; /* skewed */
#pragma acc kernels
  for (i = 1; i < n; i++) for (j = 0; j < n-1; j++) a[i*n+j] = a[(i-1)*n+j+1]; } // parallel
void d11(T *a, int n, int s) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i*s] = i; } // tested
void d12(char *c, int n) { T *d = (T *)c; int i; /* bytes and elements */
#pragma acc kernels
  for (i = 0; i < n; i++) { d[i] = i; c[i + 8*2] = 3; } } // tested
void d13(T *a, unsigned n) { unsigned i;
#pragma acc kernels
  for (i = 1; i < n; i++) a[i] = a[i + 4294967295u] + 1; } // in order
void d14(T *a, T *b, unsigned n) { unsigned i;
#pragma acc kernels
  for (i = 1; i < n; i++) a[i] = b[i + 4294967295u] + 1; } // tested
void d15(T *a, int n) { int i; T *p = a;
#pragma acc kernels
  for (i = 1; i < n; i++) { T *q = i % 2 ? p : p + 1; q[i] = q[i-1]; } } // in order
static void addto(T *x) { *x += 1; }
void d16(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) addto(&a[i/2]); } // in order
void d17(T *a, T *b, int n) { int i, t; /* time loop */
#pragma acc kernels
  for (t = 0; t < 5; t++) { for (i = 1; i < n-1; i++) b[i] = a[i-1] + a[i+1]; for (i = 1; i < n-1; i++) a[i] = b[i] * 0.5; } } // tested
void d19(T *a, int n) { int i, k = n; 
#pragma acc kernels
  while (k > 1) { for (i = 0; i < k/2; i++) a[i] += a[k-1-i]; k = (k+1)/2; } } // in order
T d20(T *a, int n) { T s = 0; int i, t;
#pragma acc kernels
  for (t = 0; t < 4; t++) { s = 0; for (i = 0; i < n; i++) s += a[i]; for (i = 0; i < n; i++) a[i] -= s / 64; } // parallel
  return s; }
int main(void) { int i, n = N; T *a = buf + 100, *b = buf2, *c = buf3 + 500; int ia[N];
#pragma acc enter data create(buf, buf2, buf3)
#define R for (i = 0; i < 4000; i++) { buf[i] = (i*37)%101*0.25-12; buf2[i] = (i*29)%97*0.5-20; buf3[i] = i % 17; } _Pragma("acc update device(buf,buf2,buf3)")
#define D(nm, call) R { T z = 0; call; _Pragma("acc update self(buf,buf2,buf3)") T s = 0; for (i = 0; i < 4000; i++) s += buf[i]*(i%37) + buf2[i]*(i%13) + buf3[i]*(i%11); printf("%s %.9g %.9g\n", nm, s, z); }
  for (i = 0; i < n; i++) ia[i] = i;
  D("q01", q01(a,b,n)) D("q01b", q01(a+1,a,n)) D("q02", z = q02(a,b,n)) D("q03", q03(a,b,n)) D("q04", q04(a,b,n)) D("q05", q05(a,b,n,8)) D("q05b", q05(a,b,n,0)) D("q05c", q05(a,b,n,3))
  D("q06", q06(a,b,n,8)) D("q07", q07(a,b,n)) D("q08", q08(a,b,n)) D("q09", q09(a,b,n)) D("q10", z = q10(a,b,n)) D("q11", z = q11(a,b,n)) D("q12", z = q12(a,n)) D("q13", z = q13(a,b,n)) D("q14", z = q14(a,b,n))
  D("q15", z = q15(a,n)) D("q16", z = q16(a,n)) D("q17", z = q17(a,n)) D("q18", z = q18(a,n)) D("q19", z = q19(a,n)) D("q20", z = q20(a,n)) D("q21", z = q21(ia,n)) ia[5] = -1; D("q21b", z = q21(ia,n))
  D("d01", d01(a,n)) D("d02", d02(a,n)) D("d03", d03(a,n)) D("d04", d04(a,n)) D("d05", d05(a,n)) D("d06", d06(a,n,n)) D("d06b", d06(a,n,n-1)) D("d06c", d06(a+200,n,-1)) D("d06d", d06(a,n,0)) D("d06e", d06(a+1700,n,-n)) D("d07", d07(a,n)) D("d08", d08(a,n)) D("d09", d09(a,n)) D("d10", d10(a,n))
  D("d11", d11(a,n,3)) D("d11b", d11(a,n,0)) D("d11c", d11(a+80,n,-2)) D("d12", d12((char*)a,n)) D("d13", d13(a,n)) D("d14", d14(a,b+1,n)) D("d14b", d14(a,a,n)) D("d15", d15(a,n)) D("d16", d16(a,n)) D("d17", d17(a,b,n)) D("d17b", d17(a,a+1,n)) D("d19", d19(a,n)) D("d20", z = d20(c,n))
  return 0; }
