/* Loops as in programs for kernels, each by itself: which are independent, and what they compute, also where
   arrays overlap. Comments say how a loop runs (tests/passes/test_kernels_decisions.py). */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
typedef double T;
#define N 40
#define M 30
T GA[N][M], GB[N][M], GC[N][N], gx[N], gy[N]; int gn = N;
T *gp, *gq;
static T buf[20000], buf2[20000]; static int ibuf[5000];
void p01(T *a, T *b, int n) {
#pragma acc kernels
  for (int i = 0; i < n; i++) a[i] = b[i] * 2; } // tested
void p02(T *a, T *b, T *c, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) { T t = b[i]; c[i] = t * t + a[i]; } } // tested
void p03(T *a, T *b, int n) { T t; int i;
#pragma acc kernels
  for (i = 0; i < n; i++) { t = b[i]; a[i] = t * t; } } // tested
void p04(T *a, T *b, int n, int m) { int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i*m+j] = b[j*n+i]; } // tested
void p05(T a[N][M], T b[N][M]) { int i, j;
#pragma acc kernels
  for (i = 1; i < N-1; i++) for (j = 1; j < M-1; j++) a[i][j] = 0.25*(b[i-1][j]+b[i+1][j]+b[i][j-1]+b[i][j+1]); } // tested
void p06(int n, int m, T a[n][m], T b[n][m]) { int i, j;
#pragma acc kernels
  for (i = 1; i < n-1; i++) for (j = 1; j < m-1; j++) a[i][j] = 0.25*(b[i-1][j]+b[i+1][j]+b[i][j-1]+b[i][j+1]); } // tested
void p07(void) { int i, j;
#pragma acc kernels
  for (i = 0; i < N; i++) for (j = 0; j < M; j++) GA[i][j] = GB[i][j] + i*j; } // parallel
T p08(T *a, int n) { T s = 0; int i;
#pragma acc kernels
  for (i = 0; i < n; i++) s += a[i]; // parallel
  return s; }
T p09(T *a, int n) { T m = a[0]; int i;
#pragma acc kernels
  for (i = 1; i < n; i++) if (a[i] > m) m = a[i]; // parallel
  return m; }
T p10(T *a, int n) { T m = a[0]; int i;
#pragma acc kernels
  for (i = 1; i < n; i++) m = fmax(m, a[i]); // parallel
  return m; }
T p11(T *a, int n) { T m = a[0]; int i;
#pragma acc kernels
  for (i = 1; i < n; i++) m = a[i] < m ? a[i] : m; // parallel
  return m; }
T p12(T *a, int n) { T s = 0; int i;
#pragma acc kernels
  for (i = 1; i < n; i++) if (a[i] > 0.5) s += a[i] * a[i-1]; // parallel
  return s; }
T p13(T *a, T *b, int n) { T s = 0, p = 1; int i;
#pragma acc kernels
  for (i = 0; i < n; i++) { s = s + a[i] + b[i]; p *= i % 3 ? 1 : 2; s -= 0.5; } // parallel
  return s * p; }
int p14(int *a, int n) { int c = 0, i;
#pragma acc kernels
  for (i = 0; i < n; i++) if (a[i] == 3) c++; // parallel
  return c; }
void p15(T *a, T *b, int n) { int i, k = 0;
#pragma acc kernels
  for (i = 0; i < n; i++) { a[k] = b[i]; k += 2; } } // in order
void p17(T *a, T *b, int n) {
#pragma acc kernels
  for (int i = n - 1; i >= 0; i--) a[i] = b[i] + 1; } // tested
void p18(T *a, T *b, int *idx, int n) {
#pragma acc kernels copyin(b[0:n], idx[0:n]) copy(a[0:n])
  for (int i = 0; i < n; i++) a[i] = b[idx[i]]; } // tested
void o19(T *a, T *b, int *idx, int n) {
#pragma acc kernels copyin(b[0:n], idx[0:n]) copy(a[0:n])
  for (int i = 0; i < n; i++) a[idx[i]] = b[i]; } // in order
void p22(int n, T d[n][n]) { int i, j, k;
  for (k = 0; k < n; k++) {
#pragma acc kernels
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) { T t = d[i][k] + d[k][j]; if (t < d[i][j]) d[i][j] = t; } // parallel
  } }
void p23(T *a, T *b, T *c, int n, int m, int l) { int i, j, k;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) { T s = 0; for (k = 0; k < l; k++) s += a[i*l+k]*b[k*m+j]; c[i*m+j] = s; } } // tested
void p24(T *a, T *b, T *c, int n, int m, int l) { int i, j, k;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) { c[i*m+j] = 0; for (k = 0; k < l; k++) c[i*m+j] += a[i*l+k]*b[k*m+j]; } } // tested
void p25(T *a, T *b, int n, int m, int l) { int i, j, k;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < l; k++) a[(i*m+j)*l+k] = b[(i*m+j)*l+k] + 1; } // tested
void p26(T *a, T *b, int n, int ld) { int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i*ld+j] = b[i*n+j]; } // tested
void p27(T *A, int n) { int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = 0; j < i; j++) A[i*n+j] = A[j*n+i]; } // parallel
void p28(int n, T A[n][n]) { int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) for (j = i+1; j < n; j++) A[i][j] = A[j][i]; } // parallel
void p29(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n/2; i++) { T t = a[i]; a[i] = a[n-1-i]; a[n-1-i] = t; } } // tested
void p30(T *a, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n/2; i++) a[2*i] = a[2*i+1]; } // parallel
typedef struct { T x, y, z; int id; } P;
void p31(P *p, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) { p[i].x += p[i].y; p[i].id = i; } } // parallel
void p32(P *p, T *f, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) { T dx = p[i].x; f[i] = sqrt(dx*dx) + p[i].z; } } // tested
typedef struct { int n; T *x, *y; } S;
void p33(S *s) { int i;
#pragma acc kernels copy(s[0:1], s->x[0:s->n], s->y[0:s->n])
  for (i = 0; i < s->n; i++) s->y[i] = s->x[i] * 2; } // tested
void p34(S s) { int i; T *x = s.x, *y = s.y; int n = s.n;
#pragma acc kernels
  for (i = 0; i < n; i++) y[i] += x[i]; } // tested
void p35(int n) { int i;
#pragma acc kernels copyin(gq[0:n]) copy(gp[0:n])
  for (i = 0; i < n; i++) gp[i] = gq[i] + 3; } // tested
void p36(void) { int i;
#pragma acc kernels
  for (i = 0; i < gn; i++) gx[i] = gy[i] + gn; } // parallel
void p37(T *a, T *b, int n) { T w[3]; int i;
#pragma acc kernels
  for (i = 1; i < n-1; i++) { w[0] = b[i-1]; w[1] = b[i]; w[2] = b[i+1]; a[i] = w[0]*w[1]+w[2]; } } // tested
void p38(T *a, T *b, int n) { T w[8]; int i, j;
#pragma acc kernels
  for (i = 0; i < n; i++) { for (j = 0; j < 8; j++) w[j] = b[i] * j; T s = 0; for (j = 0; j < 8; j++) s += w[7-j]*j; a[i] = s; } } // tested
void o39(T *a, int n) { int i;
#pragma acc kernels
  for (i = 1; i < n; i++) a[i] += a[i-1]; } // in order
void o40(T *a, int n, int k) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i+k] = a[i] + 1; } // tested
static T sq(T x) { return x * x; }
#pragma acc routine seq
static T sumto(const T *b, int k) { T s = 0; for (int j = 0; j < k; j++) s += b[j]; return s; } // in order
void p41(T *a, T *b, int n) { int i;
#pragma acc kernels
  for (i = 0; i < n; i++) a[i] = sq(b[i]); } // tested
void p42(T *a, T *b, int n) { int i;
#pragma acc kernels copyin(b[0:n])
  for (i = 0; i < n; i++) a[i] = sumto(b, i); } // tested
int main(void) { int i; int n = N; T *a = buf, *b = buf2, *c = buf + 5000; T z = 0;
  for (i = 0; i < 20000; i++) { buf[i] = (i*37)%101*0.25-12; buf2[i] = (i*29)%97*0.5-20; } for (i = 0; i < 5000; i++) ibuf[i] = (i*7)%n;
  for (i = 0; i < N*M; i++) { (&GA[0][0])[i] = i; (&GB[0][0])[i] = i%7; }
  gp = buf; gq = buf2;
#pragma acc enter data copyin(buf,buf2)
#define D(nm) do { T s = 0; _Pragma("acc update self(buf,buf2)") for (i = 0; i < 20000; i++) s += buf[i]*(i%37) + buf2[i]*(i%13); for (i = 0; i < N*M; i++) s += (&GA[0][0])[i]*(i%11); for (i=0;i<N;i++) s+=gx[i]; printf("%s %.9g\n", nm, s); for (i = 0; i < 20000; i++) { buf[i] = (i*37)%101*0.25-12; buf2[i] = (i*29)%97*0.5-20; } _Pragma("acc update device(buf,buf2)") } while (0)
  p01(a,b,n); D("p01"); p01(a,a+1,n); D("p01b"); p01(a+1,a,n); D("p01c"); p01(a,a,n); D("p01d"); p01(a,a+n,n); D("p01e"); p01(a+3,a,n); D("p01f");
  p02(a,b,c,n); D("p02"); p02(a,a,a+1,n); D("p02b");
  p03(a,b,n); D("p03"); p03(a+1,a,n); D("p03b");
  p04(a,b,n,M); D("p04"); p04(a,a,n,M); D("p04b"); p04(a,a+n*M-1,n,M); D("p04c");
  p05((void*)a,(void*)b); D("p05"); p05((void*)a,(void*)a); D("p05b"); p05((void*)a,(void*)(a+M)); D("p05c");
  p06(N,M,(void*)a,(void*)b); D("p06"); p06(N,M,(void*)a,(void*)a); D("p06b"); p06(N,M,(void*)(a+M),(void*)a); D("p06c");
  p07(); D("p07");
  z = p08(a,n)+p08(b,n); printf("%.9g\n", z); z=p09(a,n); printf("%.9g\n", z); z=p10(a,n); printf("%.9g\n", z); z=p11(a,n); printf("%.9g\n", z);
  z=p12(a,n); printf("%.9g\n", z); z=p13(a,b,n); printf("%.9g\n", z); printf("%d\n", p14(ibuf,n));
  p15(a,b,n); D("p15");  p17(a,b,n); D("p17"); p17(a+1,a,n); D("p17b"); p17(a,a+1,n); D("p17c");
  p18(a,b,ibuf,n); D("p18"); o19(a,b,ibuf,n); D("o19");
  p22(N,(void*)a); D("p22");
  p23(a,b,c,8,9,10); D("p23"); p23(a,a+40,a+60,8,9,10); D("p23b"); p24(a,b,c,8,9,10); D("p24"); p24(a,a+40,a+60,8,9,10); D("p24b");
  p25(a,b,5,6,7); D("p25"); p25(a,a+1,5,6,7); D("p25b"); p26(a,b,n,n+3); D("p26"); p26(a,b,n,n-3); D("p26b");
  p27(a,n); D("p27"); p28(n,(void*)a); D("p28"); p29(a,n); D("p29"); p29(a,n+1); D("p29b"); p30(a,n); D("p30");
  p31((P*)a,n); D("p31"); p32((P*)a,b,n); D("p32"); S s={n,a,b}; p33(&s); D("p33"); p34(s); D("p34"); s.x = b-0; s.y = b; p34(s); D("p34b"); s.x=a; s.y=a+1; p34(s); D("p34c");
  p35(n); D("p35"); p36(); D("p36"); p37(a,b,n); D("p37"); p38(a,b,n); D("p38"); o39(a,n); D("o39"); o40(a,n,3); D("o40"); o40(a,n,n); D("o40b");
  p41(a,b,n); D("p41"); p42(a,b,n); D("p42"); p42(a,a,n); D("p42b");
  return 0; }
