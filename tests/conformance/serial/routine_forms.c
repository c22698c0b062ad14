/* Routines: every level, named, implicit, globals, recursion, structures by value. Prints what serial C prints. */
#include <stdio.h>
#include <math.h>
#define N 64
int table[5] = {1, 2, 3, 4, 5};
#pragma acc declare copyin(table)
const double coef[3] = {0.5, 1.5, 2.5};
static float st = 3.f;
#pragma acc declare create(st)
#pragma acc routine seq
extern double poly(double x);
static int vsum(const int *p, int n);
#pragma acc routine(vsum) vector
#pragma acc routine worker
void wfill(int *p, int n, int v) {
#pragma acc loop worker vector
  for (int i = 0; i < n; i++) p[i] = v + i;
}
#pragma acc routine gang
void gfill(int *p, int n) {
#pragma acc loop gang worker vector
  for (int i = 0; i < n; i++) p[i] = 3 * i;
}
#pragma acc routine vector
void vadd(int *p, int n, int k) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) p[i] += k;
}
static int vsum(const int *p, int n) { int s = 0;
#pragma acc loop vector reduction(+:s)
  for (int i = 0; i < n; i++) s += p[i];
  return s; }
double poly(double x) { return coef[0] + coef[1] * x + coef[2] * x * x + st; }
int implicit1(int x) { return table[x % 5] + 1; }
int implicit2(int x) { return implicit1(x) * 2; }
typedef int (*fp)(int);
static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static inline void sort(int *a, int n) { for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) if (a[j] < a[i]) swap(&a[i], &a[j]); }
struct mat { double a[2][2]; };
static struct mat mul(struct mat x, struct mat y) { struct mat r = {{{0}}}; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) for (int k = 0; k < 2; k++) r.a[i][j] += x.a[i][k] * y.a[k][j]; return r; }
int main(void) {
  int a[N], b[N], m[8][N]; double d[N];
#pragma acc update device(st)
#pragma acc parallel loop copyout(d, a)
  for (int i = 0; i < N; i++) { d[i] = poly(i * 0.1); a[i] = implicit2(i) + gcd(i * 6, 36); }
  for (int i = 0; i < N; i++) printf("%.3f %d ", d[i], a[i]); puts("");
#pragma acc parallel copyout(a) num_gangs(4)
  gfill(a, N);
#pragma acc parallel loop gang copyout(m)
  for (int i = 0; i < 8; i++) wfill(m[i], N, i);
#pragma acc parallel loop gang worker copy(m) copyout(b)
  for (int i = 0; i < 8; i++) { vadd(m[i], N, 2); b[i] = vsum(m[i], N); }
  for (int i = 0; i < 8; i++) printf("%d %d %d ", a[i * 7], m[i][9], b[i]); puts("");
#pragma acc parallel loop copyout(b, d)
  for (int i = 0; i < N; i++) { int t[6]; for (int k = 0; k < 6; k++) t[k] = (i * 7 + k * 13) % 11; sort(t, 6); b[i] = t[0] * 100 + t[5]; struct mat x = {{{1, 1}, {1, 0}}}, r = x; for (int k = 0; k < i % 10; k++) r = mul(r, x); d[i] = r.a[0][1]; }
  for (int i = 0; i < N; i++) printf("%d %g ", b[i], d[i]); puts("");
  st = 10; table[0] = 100;
#pragma acc update device(st, table)
#pragma acc serial copyout(d, a)
  { d[0] = poly(0); a[0] = implicit1(0); table[1] = 55; }
#pragma acc update self(table[1:1])
  printf("%g %d %d\n", d[0], a[0], table[1]);
}
